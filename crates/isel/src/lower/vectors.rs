//! Elements of vectors and aggregates: nothing moves, the operands of the leaves are arranged anew. Only where an element's number
//! is no constant it is chosen, among the elements or the words that they are packed in.

use heddle_isa::{Op, Operand};
use heddle_llvm_passes::ir::{Type, Value};

use crate::leaf::{self, Leaf, Parts};
use crate::lower::packing::{self, Element};
use crate::{Selector, constants};

/// `extractelement`.
pub(crate) fn extract_element(s: &mut Selector, i: Value) {
    let parts = s.parts(i.operand(0));
    let index = i.operand(1);
    let leaves = s.cx.leaves(i);
    if constants::sign_extended(index).is_none() {
        if let Some(packed) = dynamic_extract_packed(s, i) {
            s.values.set1(i, packed);
            return;
        }
    }
    let mut element = Parts::new();
    // Of an element of several leaves, the leaves one after the other.
    for (at, leaf) in leaves.iter().enumerate() {
        let parts: Parts = parts.iter().skip(at).step_by(leaves.len()).copied().collect();
        element.push(match constants::sign_extended(index) {
            Some(k) => parts.get(k as usize).copied().unwrap_or(Operand::Immediate(0)),
            None => dynamic_extract(s, &parts, index, *leaf),
        });
    }
    s.values.set(i, element);
}

/// Elements from which on the bits of a number choose in fewer instructions than comparisons with each number.
const BY_BITS: usize = 8;

/// An element whose number is no constant. Few are compared with it one after the other; of many its bits choose, the lowest between
/// neighbours first. (A number beyond the last element gives any value.)
fn dynamic_extract(s: &mut Selector, parts: &[Operand], index: Value, leaf: Leaf) -> Operand {
    let index = s.low_word(index);
    if parts.len() < BY_BITS {
        let mut result = parts[0];
        for (k, part) in parts.iter().enumerate().skip(1) {
            let hit = s.out.is_index(index, k);
            result = s.out.choose(hit, leaf, *part, result);
        }
        return result;
    }
    choose_by_bits(s, parts.into(), index, leaf, 1)
}

/// An element of 8 or 16 bits whose number is no constant, of a vector whose words are there: the word is chosen by bits of the number,
/// the element is shifted out of it.
fn dynamic_extract_packed(s: &mut Selector, i: Value) -> Option<Operand> {
    let [leaf] = s.cx.leaves(i)[..] else { return None };
    let vector = s.parts(i.operand(0));
    if !matches!(leaf.bits, 8 | 16) || vector.len() as u32 * leaf.bits % 32 != 0 {
        return None;
    }
    let per_word = 32 / leaf.bits;
    let mut words = Parts::new();
    for elements in vector.chunks(per_word as usize) {
        let elements: Vec<Element> = elements.iter().map(|op| Element { op: *op, bits: leaf.bits }).collect();
        words.push(packing::whole_word(&mut s.out, &elements)?);
    }
    let index = s.low_word(i.operand(1));
    let word = choose_by_bits(s, words, index, Leaf::WORD, per_word);
    let by = s.out.emit_joint(Op::Shl, heddle_isa::Type::B32, 1, &[index, Operand::Immediate(leaf.bits.trailing_zeros())]);
    // Shifts take the amount modulo 32, which is the place within the word.
    Some(s.out.emit_joint(Op::Shr, heddle_isa::Type::U32, 1, &[word, by]))
}

/// One of several operands by bits of its number, the lowest of which is the value `bit`, between neighbours first. (A number
/// beyond the last gives any value.)
fn choose_by_bits(s: &mut Selector, mut left: Parts, index: Operand, leaf: Leaf, mut bit: u32) -> Operand {
    while left.len() > 1 {
        // The highest bit is set in all numbers from it on.
        let set = if left.len() > 2 { s.out.has_bit(index, bit) } else { s.out.at_least(index, bit) };
        let choose = |pair: &[Operand]| match pair {
            [low, high] => s.out.choose(set, leaf, *high, *low),
            pair => pair[0],
        };
        left = left.chunks(2).map(choose).collect();
        bit *= 2;
    }
    left[0]
}

/// `insertelement`.
pub(crate) fn insert_element(s: &mut Selector, i: Value) {
    let mut parts = s.parts(i.operand(0));
    let element = s.parts(i.operand(1));
    let index = i.operand(2);
    let leaves = s.cx.leaves(i.operand(1));
    if let Some(k) = constants::sign_extended(index) {
        let mine = parts.iter_mut().skip((k as usize).saturating_mul(leaves.len()));
        mine.zip(element).for_each(|(part, new)| *part = new);
    } else {
        let index = s.low_word(index);
        for (k, slots) in parts.chunks_mut(leaves.len()).enumerate() {
            let hit = s.out.is_index(index, k);
            for (at, part) in slots.iter_mut().enumerate() {
                *part = s.out.choose(hit, leaves[at], element[at], *part);
            }
        }
    }
    s.values.set(i, parts);
}

/// `shufflevector`.
pub(crate) fn shuffle(s: &mut Selector, i: Value) {
    let mut all = s.parts(i.operand(0));
    all.extend(s.parts(i.operand(1)));
    let mask = i.shuffle_mask();
    let leaves = s.cx.leaves(i).len() / mask.len().max(1);
    let mut parts = Parts::new();
    for element in mask {
        let part = |at| element.and_then(|m| all.get(m * leaves + at).copied()).unwrap_or(Operand::Immediate(0));
        parts.extend((0..leaves).map(part));
    }
    s.values.set(i, parts);
}

/// Whether an intrinsic of a name puts elements of vectors in another order.
pub(crate) fn arranges(name: &str) -> bool {
    let base = name.strip_prefix("llvm.vector.").and_then(|rest| rest.split('.').next());
    matches!(base, Some("reverse" | "splice" | "interleave2" | "deinterleave2" | "insert" | "extract"))
}

/// Selects an intrinsic that arranges the elements of vectors anew, by its name without types; false if it is another one.
pub(crate) fn arrange(s: &mut Selector, i: Value, base: &str) -> bool {
    if !base.starts_with("vector.") {
        return false;
    }
    let number = |k: u32| constants::sign_extended(i.operand(k)).unwrap_or(0);
    let mut elements = s.parts(i.operand(0));
    // An element may have several leaves.
    let leaves = elements.len() / (i.operand(0).type_of().element_count() as usize).max(1);
    let place = |at: i64| usize::try_from(at).unwrap_or(0) * leaves;
    let parts: Parts = match base {
        "vector.reverse" => elements.chunks(leaves).rev().flatten().copied().collect(),
        "vector.splice" => {
            let length = elements.len();
            elements.extend(s.parts(i.operand(1)));
            let from = if number(2) < 0 { length.saturating_sub(place(-number(2))) } else { place(number(2)) };
            elements.iter().skip(from).take(length).copied().collect()
        }
        "vector.interleave2" => {
            let others = s.parts(i.operand(1));
            elements.chunks(leaves).zip(others.chunks(leaves)).flat_map(|(a, b)| [a, b]).flatten().copied().collect()
        }
        "vector.deinterleave2" => {
            let every_other = |first: usize| elements.chunks(leaves).skip(first).step_by(2).flatten().copied();
            every_other(0).chain(every_other(1)).collect()
        }
        "vector.insert" => {
            for (to, part) in elements.iter_mut().skip(place(number(2))).zip(s.parts(i.operand(1))) {
                *to = part;
            }
            elements
        }
        "vector.extract" => elements.iter().skip(place(number(1))).take(s.cx.leaves(i).len()).copied().collect(),
        _ => return false,
    };
    s.values.set(i, parts);
    true
}

/// `extractvalue`.
pub(crate) fn extract_value(s: &mut Selector, i: Value) {
    let parts = s.parts(i.operand(0));
    let (first, count) = slice(s, i, i.operand(0).type_of());
    s.values.set(i, parts[first..first + count].into());
}

/// `insertvalue`.
pub(crate) fn insert_value(s: &mut Selector, i: Value) {
    let mut parts = s.parts(i.operand(0));
    let inserted = s.parts(i.operand(1));
    let (first, count) = slice(s, i, i.type_of());
    parts[first..first + count].copy_from_slice(&inserted[..count]);
    s.values.set(i, parts);
}

/// First leaf and number of leaves that `extractvalue` or `insertvalue` names in an aggregate.
fn slice(s: &Selector, i: Value, aggregate: Type) -> (usize, usize) {
    let count = |ty: Type| leaf::leaves(s.cx.layout, ty).len();
    let (mut first, mut ty) = (0, aggregate);
    for index in i.indices() {
        match ty.element() {
            Some(element) => {
                first += index as usize * count(element);
                ty = element;
            }
            None => {
                first += ty.fields().take(index as usize).map(count).sum::<usize>();
                ty = ty.field(index).unwrap_or(ty);
            }
        }
    }
    (first, count(ty))
}
