//! Integers of more than 64 bits, which LLVM's optimiser makes where a vector is read as another one
//! (`bitcast <16 x i32>` to `<4 x i128>`, an element of it, a `bitcast` to `<16 x i8>`).
//!
//! Such an integer is the list of its 64-bit leaves ([`crate::leaf::leaves`]), lowest first, so whatever only
//! moves values (phi, load, store, select, vector and aggregate elements, bitcast) needs no code of its own.
//! Here is what works on their words: widening, truncation, shifts by constants, `and`, `or`, `xor`, sums,
//! differences, products of 128 bits and comparisons. Other arithmetic is refused; OpenCL C has no type that asks for it.

use crate::emit::Emitter;
use crate::leaf::{Leaf, Parts, widest_integer};
use crate::lower::floats::plain;
use crate::lower::{casts, vectors};
use crate::{Selector, constants};
use heddle_isa::{Cond, Op, Operand, Type};
use heddle_llvm_passes::ir::Value;
use inkwell::llvm_sys::LLVMOpcode::*;

use inkwell::llvm_sys::LLVMIntPredicate::*;

/// Whether an instruction has something to do with integers of more than 64 bits that moving leaves does not
/// do.
pub(crate) fn needed(i: Value) -> bool {
    if matches!(i.opcode(), LLVMPHI | LLVMLoad | LLVMStore | LLVMFreeze | LLVMSelect | LLVMBitCast | LLVMRet | LLVMExtractElement)
        || matches!(i.opcode(), LLVMInsertElement | LLVMShuffleVector | LLVMExtractValue | LLVMInsertValue)
    {
        return false;
    }
    let is_wide = widest_integer(i.type_of()) > 64 || i.operands().any(|v| widest_integer(v.type_of()) > 64);
    is_wide && !(i.opcode() == LLVMCall && vectors::arranges(&i.called_name()))
}

/// The bits that a shift takes: of its operand with zeros or copies of the sign above it, or (`left`) with
/// zeros below; of a funnel shift with its second operand below.
#[derive(Clone, Copy, Default)]
struct Shift {
    left: bool,
    signed: bool,
    funnel: bool,
}

/// Selects an instruction for which [`needed`] holds.
pub(crate) fn wide_instruction(s: &mut Selector, i: Value) {
    let source = i.operand(0);
    let (from, to) = (widest_integer(source.type_of()), widest_integer(i.type_of()));
    let plain = |v: Value| !v.is_vector();
    let whole = |bits: u32| bits % 32 == 0 || bits < 32;
    let words = match i.opcode() {
        _ if !plain(i) || !plain(source) || !whole(from) || !whole(to) => None,
        LLVMTrunc => Some(words(s, source)),
        LLVMZExt | LLVMSExt => widened_words(s, source, from, to, i.opcode() == LLVMSExt),
        LLVMAnd | LLVMOr | LLVMXor => {
            let op = match i.opcode() {
                LLVMAnd => Op::And,
                LLVMOr => Op::Or,
                _ => Op::Xor,
            };
            let (a, b) = (words(s, source), words(s, i.operand(1)));
            Some(a.into_iter().zip(b).map(|(a, b)| s.out.combine(op, a, b)).collect())
        }
        LLVMShl => shifted_words(s, i, to, Shift { left: true, ..Shift::default() }),
        LLVMLShr => shifted_words(s, i, to, Shift::default()),
        LLVMAShr => shifted_words(s, i, to, Shift { signed: true, ..Shift::default() }),
        LLVMCall => match i.called_function().map(|f| f.name()).as_deref().and_then(|name| name.get(..9)) {
            Some("llvm.fshl") => shifted_words(s, i, to, Shift { left: true, funnel: true, ..Shift::default() }),
            Some("llvm.fshr") => shifted_words(s, i, to, Shift { funnel: true, ..Shift::default() }),
            _ => None,
        },
        LLVMAdd | LLVMSub => {
            let (a, b) = (words(s, source), words(s, i.operand(1)));
            Some(if i.opcode() == LLVMAdd { wide_sum(&mut s.out, &a, &b) } else { wide_difference(&mut s.out, &a, &b).0 })
        }
        LLVMMul if to == 128 => Some(wide_product(s, i)),
        LLVMICmp => {
            let bit = wide_comparison(s, i);
            return s.values.set1(i, bit);
        }
        _ => None,
    };
    match words {
        Some(words) => set_words(s, i, &words),
        None => refuse_wide(s, i, from.max(to)),
    }
}

fn refuse_wide(s: &mut Selector, i: Value, bits: u32) {
    s.report.error(Some(i), format!("this operation on integers of {bits} bits is not supported"));
    let nothing = s.cx.leaves(i).iter().map(|_| Operand::Immediate(0)).collect();
    s.values.set(i, nothing);
}

/// The 32-bit words of an integer, lowest first.
fn words(s: &mut Selector, v: Value) -> Vec<Operand> {
    let parts = s.parts(v);
    let mut words = Vec::new();
    for (leaf, part) in s.cx.leaves(v).iter().zip(parts) {
        if leaf.words() == 2 {
            let (low, high) = s.out.halves(part);
            words.extend([low, high]);
        } else {
            words.push(part);
        }
    }
    words
}

/// Gives an integer its words; the upper ones may be too many.
fn set_words(s: &mut Selector, i: Value, words: &[Operand]) {
    let leaves = s.cx.leaves(i);
    let word = |k: usize| words.get(k).copied().unwrap_or(Operand::Immediate(0));
    let mut parts = Parts::new();
    for leaf in &leaves {
        let first = leaf.offset as usize / 4;
        parts.push(match leaf.bits {
            1 => s.out.bit_of_word(word(first), 0),
            0..=32 => word(first),
            _ => s.out.join_halves(word(first), word(first + 1)),
        });
    }
    s.values.set(i, parts);
}

fn widened_words(s: &mut Selector, source: Value, from: u32, to: u32, signed: bool) -> Option<Vec<Operand>> {
    let mut words = if from < 32 {
        let (leaf, part) = (s.leaf(source), s.operand(source));
        vec![casts::widen(s, Some(source), part, leaf, Leaf::WORD, signed)]
    } else {
        words(s, source)
    };
    let top = *words.last()?;
    let fill = if signed { s.out.word_shift(Type::S32, top, 31) } else { Operand::Immediate(0) };
    words.resize(to as usize / 32, fill);
    Some(words)
}

/// A shift or a funnel shift by a constant.
fn shifted_words(s: &mut Selector, i: Value, bits: u32, shift: Shift) -> Option<Vec<Operand>> {
    let amount = constant_words(s, i.operand(if shift.funnel { 2 } else { 1 }))?;
    let mut by = amount.first().copied()?;
    let far = by >= bits || amount.iter().skip(1).any(|w| *w != 0);
    if far && shift.funnel && bits.is_power_of_two() {
        by %= bits;
    } else if far {
        // Poison; for a funnel shift of another width the remainder of the whole amount would be needed,
        // which LLVM takes itself.
        return (!shift.funnel).then(Vec::new);
    }
    let upper = words(s, i.operand(0));
    let count = upper.len();
    let below = match shift {
        Shift { funnel: true, .. } => words(s, i.operand(1)),
        Shift { left: true, .. } => vec![Operand::Immediate(0); count],
        _ => Vec::new(),
    };
    let fill = match (shift.signed, upper.last()) {
        (true, Some(top)) => s.out.word_shift(Type::S32, *top, 31),
        _ => Operand::Immediate(0),
    };
    let words = [below, upper].concat();
    let first = if shift.left { bits - by } else { by };
    let (whole, rest) = ((first / 32) as usize, first % 32);
    let at = |k: usize| words.get(k).copied().unwrap_or(fill);
    Some((whole..whole + count).map(|k| if rest == 0 { at(k) } else { across(&mut s.out, at(k), at(k + 1), rest) }).collect())
}

/// The words of a product of 128 bits. Of operands that are extended from 64 bits or less the upper halves need no products.
fn wide_product(s: &mut Selector, i: Value) -> Vec<Operand> {
    let (x, y) = (i.operand(0), i.operand(1));
    let narrow = |v: &Value| v.operand(0).integer_bits() <= 64;
    let extended = |opcode| [x, y].iter().all(|v| v.is_instruction() && v.opcode() == opcode && narrow(v));
    let (zeros, signs) = (extended(LLVMZExt), extended(LLVMSExt));
    let (a, b) = (words(s, x), words(s, y));
    let half = |out: &mut Emitter, words: &[Operand], k: usize| out.join_halves(words[2 * k], words[2 * k + 1]);
    let out = &mut s.out;
    let (low_a, low_b) = (half(out, &a, 0), half(out, &b, 0));
    let low = out.emit_joint(Op::Mul, Type::B64, 2, &[low_a, low_b]);
    let mut high = out.emit_joint(Op::MulHi, if signs { Type::S64 } else { Type::U64 }, 2, &[low_a, low_b]);
    if !zeros && !signs {
        let (high_a, high_b) = (half(out, &a, 1), half(out, &b, 1));
        high = out.emit_joint(Op::Mad, Type::B64, 2, &[low_a, high_b, high]);
        high = out.emit_joint(Op::Mad, Type::B64, 2, &[high_a, low_b, high]);
    }
    let halves = [low, high].map(|half| out.halves(half));
    halves.into_iter().flat_map(|(low, high)| [low, high]).collect()
}

/// The bit of an `icmp`.
fn wide_comparison(s: &mut Selector, i: Value) -> Operand {
    let (a, b) = (i.operand(0), i.operand(1));
    let (mut a, mut b) = (words(s, a), words(s, b));
    let predicate = i.integer_predicate();
    // With the signs flipped, signed order is unsigned order.
    if matches!(predicate, LLVMIntSGT | LLVMIntSGE | LLVMIntSLT | LLVMIntSLE) {
        for words in [&mut a, &mut b] {
            if let Some(top) = words.last_mut() {
                *top = s.out.combine(Op::Xor, *top, Operand::Immediate(1 << 31));
            }
        }
    }
    let (word, cond) = match predicate {
        LLVMIntEQ | LLVMIntNE => {
            let mut differing = Operand::Immediate(0);
            for (a, b) in a.into_iter().zip(b) {
                let bits = s.out.combine(Op::Xor, a, b);
                differing = s.out.combine(Op::Or, differing, bits);
            }
            (differing, if predicate == LLVMIntEQ { Cond::Eq } else { Cond::Ne })
        }
        LLVMIntULT | LLVMIntSLT => (wide_difference(&mut s.out, &a, &b).1, Cond::Ne),
        LLVMIntUGE | LLVMIntSGE => (wide_difference(&mut s.out, &a, &b).1, Cond::Eq),
        LLVMIntUGT | LLVMIntSGT => (wide_difference(&mut s.out, &b, &a).1, Cond::Ne),
        LLVMIntULE | LLVMIntSLE => (wide_difference(&mut s.out, &b, &a).1, Cond::Eq),
    };
    match word {
        Operand::Immediate(v) => Operand::Immediate(u32::from((v == 0) == (cond == Cond::Eq))),
        word => s.out.compare(cond, Type::B32, plain(word), plain(Operand::Immediate(0))),
    }
}

/// Bits `by..by + 32` of two words, `0 < by < 32`.
fn across(out: &mut Emitter, low: Operand, high: Operand, by: u32) -> Operand {
    let low = out.word_shift(Type::U32, low, by);
    let high = match high {
        Operand::Immediate(v) => Operand::Immediate(v << (32 - by)),
        _ => out.emit_joint(Op::Shl, Type::B32, 1, &[high, Operand::Immediate(32 - by)]),
    };
    out.combine(Op::Or, low, high)
}

fn wide_sum(out: &mut Emitter, a: &[Operand], b: &[Operand]) -> Vec<Operand> {
    let mut carry = Operand::Immediate(0);
    let mut sum = Vec::new();
    for (&a, &b) in a.iter().zip(b) {
        let partial = out.add32(a, b);
        let over = out.less(partial, a);
        let word = out.add32(partial, carry);
        let again = out.less(word, partial);
        carry = out.combine(Op::Or, over, again);
        sum.push(word);
    }
    sum
}

/// The difference of two integers, and 1 if the first is less (unsigned), else 0.
fn wide_difference(out: &mut Emitter, a: &[Operand], b: &[Operand]) -> (Vec<Operand>, Operand) {
    let mut borrow = Operand::Immediate(0);
    let mut difference = Vec::new();
    for (&a, &b) in a.iter().zip(b) {
        let partial = out.sub32(a, b);
        let under = out.less(a, b);
        let again = out.less(partial, borrow);
        difference.push(out.sub32(partial, borrow));
        borrow = out.combine(Op::Or, under, again);
    }
    (difference, borrow)
}

/// The words of a constant integer.
fn constant_words(s: &Selector, v: Value) -> Option<Vec<u32>> {
    let mut leaves = Vec::new();
    (v.is_constant() && constants::flatten(s.cx.layout, v, &mut leaves))
        .then(|| leaves.iter().flat_map(|bits| [*bits as u32, (*bits >> 32) as u32]).collect())
}
