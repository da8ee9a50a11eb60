//! Narrow integers side by side in a word.
//!
//! Elements of 8 and 16 bits live in registers of their own, with undefined upper bits, and lie side by side in
//! memory and in integers that are vectors seen otherwise. A word of them often is one already: elements that
//! were shifted out of it, in their places, or logic on such elements, which is logic on words. Otherwise
//! funnel shifts put it together, lowest first: each shifts what is there to the right and the next element in
//! from the left, so that undefined bits fall off without a mask.
//!
//! May touch: the code being emitted only.

use heddle_isa::{Op, Operand, Type};

use crate::emit::Emitter;

/// An element of a word: what holds it in its low bits, and its width.
#[derive(Clone, Copy)]
pub(crate) struct Element {
    pub op: Operand,
    pub bits: u32,
}

impl Element {
    /// Bits that belong to the element, in the place where it is held.
    fn mask(self) -> u32 {
        if self.bits >= 32 { u32::MAX } else { (1 << self.bits) - 1 }
    }
}

/// Logic upon logic that is looked through; more is rare, and each level may double the work.
const DEPTH: u32 = 4;

/// The word that 32 bits of elements are, the first lowest, if it is there or comes of logic on words that are.
pub(crate) fn whole_word(out: &mut Emitter, elements: &[Element]) -> Option<Operand> {
    whole(out, elements, DEPTH)
}

fn whole(out: &mut Emitter, elements: &[Element], depth: u32) -> Option<Operand> {
    if let Some(constant) = constant(elements) {
        return Some(Operand::Immediate(constant));
    }
    let places: Vec<(Operand, u32)> = elements.iter().map(|e| place(out, *e)).collect();
    let (word, _) = *places.first()?;
    let mut at = 0;
    let in_place = elements.iter().zip(&places).all(|(element, place)| {
        let same = *place == (word, at);
        at += element.bits;
        same
    });
    if in_place && !matches!(word, Operand::Immediate(_)) {
        return Some(word);
    }
    if depth == 0 {
        return None;
    }
    let op = out.bitwise(elements[0].op)?.op;
    let logic: Vec<_> = elements.iter().filter_map(|e| out.bitwise(e.op)).filter(|l| l.op == op && op != Op::Shr).collect();
    if logic.len() != elements.len() {
        return None;
    }
    let mut side = |k: usize| {
        let of: Vec<Element> = elements.iter().zip(&logic).map(|(e, l)| Element { op: l.sources[k], ..*e }).collect();
        whole(out, &of, depth - 1)
    };
    let (a, b) = (side(0)?, side(1)?);
    Some(out.emit_joint(op, Type::B32, 1, &[a, b]))
}

/// The word of elements that are all constants.
fn constant(elements: &[Element]) -> Option<u32> {
    let (mut word, mut at) = (0, 0);
    for element in elements {
        let Operand::Immediate(v) = element.op else { return None };
        word |= (v & element.mask()) << at;
        at += element.bits;
    }
    Some(word)
}

/// The word that an element was shifted out of, and its lowest bit there; masks that keep the element are looked through.
fn place(out: &Emitter, element: Element) -> (Operand, u32) {
    let (mut word, mut bit) = (element.op, 0);
    while let Some(of) = out.bitwise(word) {
        match (of.op, of.sources) {
            (Op::Shr, [source, Operand::Immediate(by)]) if by % 8 == 0 && bit + by + element.bits <= 32 => {
                (word, bit) = (source, bit + by);
            }
            (Op::And, [source, Operand::Immediate(mask)]) if mask >> bit & element.mask() == element.mask() => word = source,
            _ => break,
        }
    }
    (word, bit)
}

/// Elements that lie side by side in a word, from a bit on, or are constants side by side.
#[derive(Clone, Copy)]
struct Group {
    word: Operand,
    bit: u32,
    bits: u32,
}

/// A word made of elements of 32 bits together, the first lowest.
pub(crate) fn pack(out: &mut Emitter, elements: &[Element]) -> Operand {
    let mut packed = Operand::Immediate(0);
    for (k, group) in groups(out, elements).into_iter().enumerate() {
        let left = 32 - group.bits;
        packed = match group.word {
            Operand::Immediate(0) => out.word_shift(Type::U32, packed, group.bits),
            Operand::Immediate(v) if k == 0 => Operand::Immediate(v << left),
            // It is at the upper end already.
            word if k == 0 && group.bit == left => word,
            _ => {
                let low = if group.bit == 0 { group.word } else { out.word_shift(Type::U32, group.word, group.bit) };
                match k {
                    0 => out.emit_joint(Op::Shl, Type::B32, 1, &[low, Operand::Immediate(left)]),
                    _ => out.emit_joint(Op::Fshr, Type::B32, 1, &[low, packed, Operand::Immediate(group.bits)]),
                }
            }
        };
    }
    packed
}

fn groups(out: &Emitter, elements: &[Element]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for element in elements {
        let (word, bit) = match element.op {
            Operand::Immediate(v) => (Operand::Immediate(v & element.mask()), 0),
            _ => place(out, *element),
        };
        match groups.last_mut() {
            Some(Group { word: Operand::Immediate(low), bits, .. }) if matches!(word, Operand::Immediate(_)) => {
                let Operand::Immediate(high) = word else { continue };
                *low |= high << *bits;
                *bits += element.bits;
            }
            Some(last) if last.word == word && bit == last.bit + last.bits => last.bits += element.bits,
            _ => groups.push(Group { word, bit, bits: element.bits }),
        }
    }
    groups
}

/// How many parts of a word have to be moved: constants are not, and what lies side by side moves together.
pub(crate) fn moved(out: &Emitter, elements: &[Element]) -> usize {
    groups(out, elements).iter().filter(|g| !matches!(g.word, Operand::Immediate(_))).count()
}
