//! Choices between two floats by their order, `a > b ? a : b`, as minima and maxima of the machine.
//!
//! # What differs
//! A choice gives its second operand where one is NaN (or the first, if the comparison is unordered), and of a zero and a negative
//! one that which stands there; the machine gives the operand that is a number, and takes the negative zero for less. So the
//! choice is one instruction only where that cannot be, or nobody can see it: one operand is a constant, is a number for certain,
//! or all that is made of the result are integers, for //! or all that is made of the result are integers, for which a NaN that comes as far is poison.//!
//! May look at the users of values; selects nothing but the one instruction.

use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::LLVMRealPredicate::*;

use crate::lower::floats;
use crate::{Selector, constants};
use heddle_isa::Op;
use heddle_llvm_passes::ir::Value;

/// Values to look through.
const DEPTH: u32 = 4;

/// A choice by order: `first` where it is the greater (or less) one, else `second`.
#[derive(Clone, Copy)]
struct Choice {
    op: Op,
    first: Value,
    second: Value,
    /// Where the operands are equal the first is taken.
    first_if_equal: bool,
    /// Where one is NaN the first is taken.
    first_if_unordered: bool,
}

impl Choice {
    /// Of a `select` of floats by a comparison of the same two.
    fn of(select: Value) -> Option<Self> {
        let (condition, first, second) = (select.operand(0), select.operand(1), select.operand(2));
        if !condition.is_instruction() || condition.opcode() != LLVMFCmp {
            return None;
        }
        let (a, b) = (condition.operand(0), condition.operand(1));
        let in_order = (a, b) == (first, second);
        if !in_order && (a, b) != (second, first) {
            return None;
        }
        let (greater, equal, unordered) = match condition.float_predicate() {
            LLVMRealOGT => (true, false, false),
            LLVMRealOGE => (true, true, false),
            LLVMRealUGT => (true, false, true),
            LLVMRealUGE => (true, true, true),
            LLVMRealOLT => (false, false, false),
            LLVMRealOLE => (false, true, false),
            LLVMRealULT => (false, false, true),
            LLVMRealULE => (false, true, true),
            _ => return None,
        };
        let op = if greater == in_order { Op::Max } else { Op::Min };
        Some(Choice { op, first, second, first_if_equal: equal, first_if_unordered: unordered })
    }

    /// The operand that a NaN in the other one, or in itself, leaves.
    fn if_unordered(&self) -> Value {
        if self.first_if_unordered { self.first } else { self.second }
    }

    /// Whether the machine's operation gives the same zero. Which one is taken matters only where one is zero and the other one
    /// zero of the other sign.
    fn same_zeros(&self) -> bool {
        let (taken, other) = if self.first_if_equal { (self.first, self.second) } else { (self.second, self.first) };
        // The machine takes the positive zero for a maximum.
        let positive = self.op == Op::Max;
        let zero = |v: Value| bits(v).map(|b| (b << 1 == 0, b >> 63 == 0));
        match (zero(taken), zero(other)) {
            (Some((false, _)), _) | (_, Some((false, _))) => true,
            (Some((true, is_positive)), _) => is_positive == positive,
            // The one taken has the other sign than the constant.
            (_, Some((true, is_positive))) => is_positive != positive,
            _ => false,
        }
    }

    /// Whether the machine's operation may stand for the choice that `select` makes.
    fn holds(&self, select: Value) -> bool {
        let (flags, compared) = (select.fast_math(), select.operand(0).fast_math());
        let same_nans = flags.no_nans || compared.no_nans || is_number(self.if_unordered(), DEPTH);
        same_nans && (flags.no_signed_zeros || self.same_zeros()) || becomes_integer(select, DEPTH)
    }
}

/// The bits of a constant float, with its sign in the highest bit. Of a vector, if all elements have the same.
fn bits(v: Value) -> Option<u64> {
    let (of, width) = constants::float_bits(v)?;
    Some(of << (64 - width))
}

/// Whether a constant is not NaN.
fn is_constant_number(v: Value) -> Option<bool> {
    let (bits, width) = constants::float_bits(v)?;
    let (magnitude, infinity) = match width {
        16 => (bits & 0x7fff, 0x7c00),
        32 => (bits & 0x7fff_ffff, 0x7f80_0000),
        _ => (bits & !(1 << 63), 0x7ff0_0000_0000_0000),
    };
    Some(magnitude <= infinity)
}

/// Whether a value is never NaN; `depth`: values to look through.
fn is_number(v: Value, depth: u32) -> bool {
    if let Some(number) = is_constant_number(v) {
        return number;
    }
    if depth == 0 || !v.is_instruction() {
        return false;
    }
    match v.opcode() {
        LLVMSIToFP | LLVMUIToFP => true,
        LLVMFPExt => is_number(v.operand(0), depth - 1),
        LLVMSelect => {
            let one = Choice::of(v).is_some_and(|c| is_number(c.if_unordered(), depth - 1));
            one || is_number(v.operand(1), depth - 1) && is_number(v.operand(2), depth - 1)
        }
        LLVMCall => {
            let name = v.called_name();
            let extreme = name.starts_with("llvm.minnum.") || name.starts_with("llvm.maxnum.");
            extreme && (is_number(v.operand(0), depth - 1) || is_number(v.operand(1), depth - 1))
        }
        _ => false,
    }
}

/// Whether all that is made of a value are integers, of which a NaN makes poison and either zero 0. Choices by order may stand
/// between if a NaN passes through them.
fn becomes_integer(v: Value, depth: u32) -> bool {
    let to_integer = |user: Value| matches!(user.opcode(), LLVMFPToSI | LLVMFPToUI);
    let by_order = |user: Value| {
        let passes = |choice: Choice| choice.if_unordered() == v;
        Choice::of(user).is_some_and(passes) && becomes_integer(user, depth - 1)
    };
    depth > 0
        && v.users().all(|user| {
            to_integer(user)
                || user.opcode() == LLVMSelect && user.operand(0) != v && by_order(user)
                || user.opcode() == LLVMFCmp && user.users().all(|s| s.opcode() == LLVMSelect && takes(s, v) && by_order(s))
        })
}

/// Whether a choice is between a value and another one.
fn takes(select: Value, v: Value) -> bool {
    select.operand(1) == v || select.operand(2) == v
}

/// Selects a choice between floats that is a minimum or maximum; false if it is another one.
pub(crate) fn select(s: &mut Selector, i: Value) -> bool {
    let leaves = s.cx.leaves(i);
    if leaves.iter().any(|leaf| !leaf.float) {
        return false;
    }
    let Some(choice) = Choice::of(i).filter(|c| c.holds(i)) else { return false };
    let (a, b) = (choice.first, choice.second);
    let result = if let [leaf] = leaves[..] {
        let sources = [a, b].map(|v| floats::float_source(s, v));
        smallvec::smallvec![s.out.emit_float(choice.op, leaf.float_type(), &sources)]
    } else {
        let (a, b) = (s.parts(a), s.parts(b));
        let of = |(k, leaf): (usize, &crate::leaf::Leaf)| {
            s.out.emit_float(choice.op, leaf.float_type(), &[floats::plain(a[k]), floats::plain(b[k])])
        };
        leaves.iter().enumerate().map(of).collect()
    };
    s.values.set(i, result);
    true
}
