//! Integers of more than 64 bits, which LLVM's optimiser makes where a vector is read as another one (`bitcast <16 x i32>` to
//! `<4 x i128>`, an element of it, a `bitcast` to `<16 x i8>`).
//!
//! Such an integer is the list of its 64-bit leaves ([`super::types::leaves`]), lowest first, so whatever only moves values (phi, load,
//! store, select, vector and aggregate elements, bitcast) needs no code of its own. Here is what works on their words: widening,
//! truncation, shifts by constants, `and`, `or`, `xor`, sums, differences and comparisons. Other arithmetic is refused; OpenCL C has no
//! type that asks for it.

use heddle_llvm_passes::ir::Value;
use inkwell::llvm_sys::LLVMIntPredicate::*;
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::core::LLVMGetICmpPredicate;

use super::types::{self, Leaf, leaves};
use super::{Parts, Selector, constants};
use heddle_isa::{Cond, Op, Operand, Type};

/// Whether an instruction has something to do with integers of more than 64 bits that moving leaves does not do.
pub(super) fn needed(i: Value) -> bool {
    if matches!(i.opcode(), LLVMPHI | LLVMLoad | LLVMStore | LLVMFreeze | LLVMSelect | LLVMBitCast | LLVMRet | LLVMExtractElement)
        || matches!(i.opcode(), LLVMInsertElement | LLVMShuffleVector | LLVMExtractValue | LLVMInsertValue)
    {
        return false;
    }
    types::widest_integer(i.ty()) > 64 || i.operands().any(|v| types::widest_integer(v.ty()) > 64)
}

/// The bits that a shift takes: of its operand with zeros or copies of the sign above it, or (`left`) with zeros below; of a funnel
/// shift with its second operand below.
#[derive(Clone, Copy, Default)]
struct Shift {
    left: bool,
    signed: bool,
    funnel: bool,
}

impl Selector<'_> {
    /// Selects an instruction for which [`needed`] holds.
    pub(super) fn wide_instruction(&mut self, i: Value) {
        let source = i.operand(0);
        let (from, to) = (types::widest_integer(source.ty()), types::widest_integer(i.ty()));
        let plain = |v: Value| !types::is_vector(v.ty());
        let whole = |bits: u32| bits % 32 == 0 || bits < 32;
        let words = match i.opcode() {
            _ if !plain(i) || !plain(source) || !whole(from) || !whole(to) => None,
            LLVMTrunc => Some(self.words(source)),
            LLVMZExt | LLVMSExt => self.widened_words(source, from, to, i.opcode() == LLVMSExt),
            LLVMAnd | LLVMOr | LLVMXor => {
                let op = match i.opcode() {
                    LLVMAnd => Op::And,
                    LLVMOr => Op::Or,
                    _ => Op::Xor,
                };
                let (a, b) = (self.words(source), self.words(i.operand(1)));
                Some(a.into_iter().zip(b).map(|(a, b)| self.combine(op, a, b)).collect())
            }
            LLVMShl => self.shifted_words(i, to, Shift { left: true, ..Shift::default() }),
            LLVMLShr => self.shifted_words(i, to, Shift::default()),
            LLVMAShr => self.shifted_words(i, to, Shift { signed: true, ..Shift::default() }),
            LLVMCall => match i.called_function().map(|f| f.name()).as_deref().and_then(|name| name.get(..9)) {
                Some("llvm.fshl") => self.shifted_words(i, to, Shift { left: true, funnel: true, ..Shift::default() }),
                Some("llvm.fshr") => self.shifted_words(i, to, Shift { funnel: true, ..Shift::default() }),
                _ => None,
            },
            LLVMAdd | LLVMSub => {
                let (a, b) = (self.words(source), self.words(i.operand(1)));
                Some(if i.opcode() == LLVMAdd { self.wide_sum(&a, &b) } else { self.wide_difference(&a, &b).0 })
            }
            LLVMICmp => {
                let bit = self.wide_comparison(i);
                return self.set1(i, bit);
            }
            _ => None,
        };
        match words {
            Some(words) => self.set_words(i, &words),
            None => self.refuse_wide(i, from.max(to)),
        }
    }

    fn refuse_wide(&mut self, i: Value, bits: u32) {
        self.error(Some(i), format!("this operation on integers of {bits} bits is not supported"));
        let nothing = leaves(i.ty()).iter().map(|_| Operand::Immediate(0)).collect();
        self.set(i, nothing);
    }

    /// The 32-bit words of an integer, lowest first.
    fn words(&mut self, v: Value) -> Vec<Operand> {
        let parts = self.parts(v);
        let mut words = Vec::new();
        for (leaf, part) in leaves(v.ty()).iter().zip(parts) {
            if leaf.words() == 2 {
                let (low, high) = self.halves(part);
                words.extend([low, high]);
            } else {
                words.push(part);
            }
        }
        words
    }

    /// Gives an integer its words; the upper ones may be too many.
    fn set_words(&mut self, i: Value, words: &[Operand]) {
        let leaves = leaves(i.ty());
        let word = |k: usize| words.get(k).copied().unwrap_or(Operand::Immediate(0));
        let mut parts = Parts::new();
        for leaf in &leaves {
            let first = leaf.offset as usize / 4;
            parts.push(match leaf.bits {
                1 => self.bit_of_word(word(first), 0),
                0..=32 => word(first),
                _ => self.join_halves(word(first), word(first + 1)),
            });
        }
        self.set(i, parts);
    }

    fn widened_words(&mut self, source: Value, from: u32, to: u32, signed: bool) -> Option<Vec<Operand>> {
        let mut words = if from < 32 {
            let (leaf, part) = (self.leaf(source), self.operand(source));
            let word = Leaf { bits: 32, float: false, pointer: None, offset: 0 };
            vec![self.widen(Some(source), part, leaf, word, signed)]
        } else {
            self.words(source)
        };
        let top = *words.last()?;
        let fill = if signed { self.word_shift(Type::S32, top, 31) } else { Operand::Immediate(0) };
        words.resize(to as usize / 32, fill);
        Some(words)
    }

    /// A shift or a funnel shift by a constant.
    fn shifted_words(&mut self, i: Value, bits: u32, shift: Shift) -> Option<Vec<Operand>> {
        let amount = self.constant_words(i.operand(if shift.funnel { 2 } else { 1 }))?;
        let mut by = amount.first().copied()?;
        let far = by >= bits || amount.iter().skip(1).any(|w| *w != 0);
        if far && shift.funnel && bits.is_power_of_two() {
            by %= bits;
        } else if far {
            // Poison; for a funnel shift of another width the remainder of the whole amount would be needed, which LLVM takes itself.
            return (!shift.funnel).then(Vec::new);
        }
        let upper = self.words(i.operand(0));
        let count = upper.len();
        let below = match shift {
            Shift { funnel: true, .. } => self.words(i.operand(1)),
            Shift { left: true, .. } => vec![Operand::Immediate(0); count],
            _ => Vec::new(),
        };
        let fill = match (shift.signed, upper.last()) {
            (true, Some(top)) => self.word_shift(Type::S32, *top, 31),
            _ => Operand::Immediate(0),
        };
        let words = [below, upper].concat();
        let first = if shift.left { bits - by } else { by };
        let (whole, rest) = ((first / 32) as usize, first % 32);
        let at = |k: usize| words.get(k).copied().unwrap_or(fill);
        Some((whole..whole + count).map(|k| if rest == 0 { at(k) } else { self.across(at(k), at(k + 1), rest) }).collect())
    }

    /// Bits `by..by + 32` of two words, `0 < by < 32`.
    fn across(&mut self, low: Operand, high: Operand, by: u32) -> Operand {
        let low = self.word_shift(Type::U32, low, by);
        let high = match high {
            Operand::Immediate(v) => Operand::Immediate(v << (32 - by)),
            _ => self.emit_joint(Op::Shl, Type::B32, 1, &[high, Operand::Immediate(32 - by)]),
        };
        self.combine(Op::Or, low, high)
    }

    fn word_shift(&mut self, ty: Type, op: Operand, by: u32) -> Operand {
        match op {
            Operand::Immediate(v) if ty == Type::S32 => Operand::Immediate((v as i32 >> by) as u32),
            Operand::Immediate(v) => Operand::Immediate(v >> by),
            _ => self.emit_joint(Op::Shr, ty, 1, &[op, Operand::Immediate(by)]),
        }
    }

    /// `and`, `or` or `xor` of two words, at most one of them an immediate afterwards.
    fn combine(&mut self, op: Op, a: Operand, b: Operand) -> Operand {
        match (op, a, b) {
            (Op::And, Operand::Immediate(x), Operand::Immediate(y)) => Operand::Immediate(x & y),
            (Op::Or, Operand::Immediate(x), Operand::Immediate(y)) => Operand::Immediate(x | y),
            (_, Operand::Immediate(x), Operand::Immediate(y)) => Operand::Immediate(x ^ y),
            (Op::And, Operand::Immediate(0), _) | (Op::And, _, Operand::Immediate(0)) => Operand::Immediate(0),
            (Op::And, Operand::Immediate(u32::MAX), x) | (Op::And, x, Operand::Immediate(u32::MAX)) => x,
            (Op::Or | Op::Xor, Operand::Immediate(0), x) | (Op::Or | Op::Xor, x, Operand::Immediate(0)) => x,
            (_, Operand::Immediate(_), _) => self.emit_joint(op, Type::B32, 1, &[b, a]),
            _ => self.emit_joint(op, Type::B32, 1, &[a, b]),
        }
    }

    fn wide_sum(&mut self, a: &[Operand], b: &[Operand]) -> Vec<Operand> {
        let mut carry = Operand::Immediate(0);
        let mut sum = Vec::new();
        for (&a, &b) in a.iter().zip(b) {
            let partial = self.add32(a, b);
            let over = self.less(partial, a);
            let word = self.add32(partial, carry);
            let again = self.less(word, partial);
            carry = self.combine(Op::Or, over, again);
            sum.push(word);
        }
        sum
    }

    /// The difference of two integers, and 1 if the first is less (unsigned), else 0.
    fn wide_difference(&mut self, a: &[Operand], b: &[Operand]) -> (Vec<Operand>, Operand) {
        let mut borrow = Operand::Immediate(0);
        let mut difference = Vec::new();
        for (&a, &b) in a.iter().zip(b) {
            let partial = self.sub32(a, b);
            let under = self.less(a, b);
            let again = self.less(partial, borrow);
            difference.push(self.sub32(partial, borrow));
            borrow = self.combine(Op::Or, under, again);
        }
        (difference, borrow)
    }

    fn sub32(&mut self, a: Operand, b: Operand) -> Operand {
        match (a, b) {
            (Operand::Immediate(x), Operand::Immediate(y)) => Operand::Immediate(x.wrapping_sub(y)),
            (_, Operand::Immediate(0)) => a,
            _ => self.emit_joint(Op::Sub, Type::B32, 1, &[a, b]),
        }
    }

    /// A word: 1 if a word is less than another (unsigned), else 0.
    fn less(&mut self, a: Operand, b: Operand) -> Operand {
        match (a, b) {
            (Operand::Immediate(x), Operand::Immediate(y)) => Operand::Immediate(u32::from(x < y)),
            (_, Operand::Immediate(0)) => Operand::Immediate(0),
            _ if a == b => Operand::Immediate(0),
            _ => {
                let bit = self.compare(Cond::Lt, Type::U32, Self::plain(a), Self::plain(b));
                let word = Leaf { bits: 32, float: false, pointer: None, offset: 0 };
                self.widen_bit(bit, word, false)
            }
        }
    }

    /// The bit of an `icmp`.
    fn wide_comparison(&mut self, i: Value) -> Operand {
        let (a, b) = (i.operand(0), i.operand(1));
        let (mut a, mut b) = (self.words(a), self.words(b));
        // SAFETY: predicate of a live icmp.
        let predicate = unsafe { LLVMGetICmpPredicate(i.0) };
        // With the signs flipped, signed order is unsigned order.
        if matches!(predicate, LLVMIntSGT | LLVMIntSGE | LLVMIntSLT | LLVMIntSLE) {
            for words in [&mut a, &mut b] {
                if let Some(top) = words.last_mut() {
                    *top = self.combine(Op::Xor, *top, Operand::Immediate(1 << 31));
                }
            }
        }
        let (word, cond) = match predicate {
            LLVMIntEQ | LLVMIntNE => {
                let mut differing = Operand::Immediate(0);
                for (a, b) in a.into_iter().zip(b) {
                    let bits = self.combine(Op::Xor, a, b);
                    differing = self.combine(Op::Or, differing, bits);
                }
                (differing, if predicate == LLVMIntEQ { Cond::Eq } else { Cond::Ne })
            }
            LLVMIntULT | LLVMIntSLT => (self.wide_difference(&a, &b).1, Cond::Ne),
            LLVMIntUGE | LLVMIntSGE => (self.wide_difference(&a, &b).1, Cond::Eq),
            LLVMIntUGT | LLVMIntSGT => (self.wide_difference(&b, &a).1, Cond::Ne),
            LLVMIntULE | LLVMIntSLE => (self.wide_difference(&b, &a).1, Cond::Eq),
        };
        match word {
            Operand::Immediate(v) => Operand::Immediate(u32::from((v == 0) == (cond == Cond::Eq))),
            word => self.compare(cond, Type::B32, Self::plain(word), Self::plain(Operand::Immediate(0))),
        }
    }

    /// The words of a constant integer.
    fn constant_words(&self, v: Value) -> Option<Vec<u32>> {
        let mut leaves = Vec::new();
        (v.is_constant() && constants::flatten(v, &mut leaves))
            .then(|| leaves.iter().flat_map(|bits| [*bits as u32, (*bits >> 32) as u32]).collect())
    }
}
