//! Integer arithmetic in one word and in two.
//!
//! Narrow integers have undefined upper bits; an operation extends its operands where these bits matter.
//! Beside a 64-bit result its low word is computed from the operands' low words for addresses
//! ([`crate::address`]); what nothing uses of it is removed later.

use crate::emit::Emitter;
use crate::leaf::{Leaf, Parts};
use crate::lower::comparisons::zero_extended;
use crate::values::Extension;
use crate::{Selector, constants, division};
use heddle_isa::{Op, Operand, Type};
use heddle_llvm_passes::ir::Value;
use heddle_mir::{Bank, RegClass};
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::LLVMOpcode::*;

/// Selects an operation of two integers.
pub(crate) fn integer_binary(s: &mut Selector, i: Value) {
    let leaves = s.cx.leaves(i);
    let (a, b) = (i.operand(0), i.operand(1));
    let (pa, pb) = (s.parts(a), s.parts(b));
    let mut parts = Parts::new();
    for (k, leaf) in leaves.iter().enumerate() {
        let part = if leaf.bits == 1 {
            bit_operation(s, i, pa[k], pb[k])
        } else if leaf.words() == 2 {
            wide_integer(s, i, *leaf, pa[k], pb[k])
        } else {
            word_integer(s, i, *leaf, pa[k], pb[k])
        };
        parts.push(part);
    }
    if let [leaf] = leaves[..]
        && leaf.words() == 2
    {
        low_version(s, i);
    }
    s.values.set(i, parts);
}

/// Arithmetic on `i1`.
fn bit_operation(s: &mut Selector, i: Value, a: Operand, b: Operand) -> Operand {
    let op = match i.opcode() {
        LLVMAnd | LLVMMul => Op::And,
        LLVMOr => Op::Or,
        LLVMXor | LLVMAdd | LLVMSub => Op::Xor,
        // Defined only by 0, or by 1 or -1.
        LLVMShl | LLVMLShr | LLVMAShr | LLVMUDiv | LLVMSDiv => return a,
        LLVMURem | LLVMSRem => return Operand::Immediate(0),
        _ => {
            s.report.error(Some(i), "this operation of an `i1` is not supported");
            return Operand::Immediate(0);
        }
    };
    if s.out.joint_bank(&[a, b]) == Bank::Scalar {
        let word = |o: Operand| if let Operand::Immediate(v) = o { Operand::Immediate(v & 1) } else { o };
        return s.out.emit(op, Type::B32, RegClass::scalar(1), [word(a), word(b)]);
    }
    // xor with true is the common negation.
    match (op, a, b) {
        (Op::Xor, x, Operand::Immediate(v)) | (Op::Xor, Operand::Immediate(v), x) if v & 1 == 1 => {
            let x = s.out.predicate(x);
            s.out.emit(Op::Not, Type::Pred, RegClass::PREDICATE, [x])
        }
        _ => {
            let (a, b) = (s.out.predicate(a), s.out.predicate(b));
            s.out.emit(op, Type::Pred, RegClass::PREDICATE, [a, b])
        }
    }
}

/// Arithmetic in one word. Narrow operands are extended where their upper bits matter.
fn word_integer(s: &mut Selector, i: Value, leaf: Leaf, a: Operand, b: Operand) -> Operand {
    let (va, vb) = (i.operand(0), i.operand(1));
    let bits = leaf.bits;
    let scalar_value = s.cx.leaves(i).len() == 1;
    let ext = |s: &mut Selector, v: Value, o: Operand, signed: bool| {
        if scalar_value { s.extend(v, o, bits, signed) } else { s.out.extend(o, bits, signed) }
    };
    let (op, ty, a, b) = match i.opcode() {
        LLVMAdd => {
            if let Some(mad) = multiply_add(s, i) {
                return mad;
            }
            if let Some(sum) = uniform_terms_first(s, i) {
                return sum;
            }
            (Op::Add, Type::B32, a, b)
        }
        LLVMSub => (Op::Sub, Type::B32, a, b),
        LLVMMul => (Op::Mul, Type::B32, a, b),
        LLVMAnd => (Op::And, Type::B32, a, b),
        // A sum, which addresses take apart.
        LLVMOr if i.is_disjoint() => (Op::Add, Type::B32, a, b),
        LLVMOr => (Op::Or, Type::B32, a, b),
        LLVMXor => (Op::Xor, Type::B32, a, b),
        LLVMShl => (Op::Shl, Type::B32, a, ext(s, vb, b, false)),
        LLVMLShr => (Op::Shr, Type::U32, ext(s, va, a, false), ext(s, vb, b, false)),
        LLVMAShr => (Op::Shr, Type::S32, ext(s, va, a, true), ext(s, vb, b, false)),
        LLVMUDiv => (Op::Div, Type::U32, ext(s, va, a, false), ext(s, vb, b, false)),
        LLVMURem => (Op::Rem, Type::U32, ext(s, va, a, false), ext(s, vb, b, false)),
        LLVMSDiv => (Op::Div, Type::S32, ext(s, va, a, true), ext(s, vb, b, true)),
        _ => (Op::Rem, Type::S32, ext(s, va, a, true), ext(s, vb, b, true)),
    };
    let by_constant = match (op, b) {
        (Op::Div | Op::Rem, Operand::Immediate(d)) => {
            division::by_constant(&mut s.out, s.cx.options.division, (op, ty), if ty == Type::U32 { bits } else { 32 }, a, d)
        }
        _ => None,
    };
    if scalar_value && bits < 32 {
        match i.opcode() {
            LLVMLShr | LLVMUDiv | LLVMURem => {
                s.values.extended.insert(i, Extension::Zero);
            }
            LLVMAShr | LLVMSRem => {
                s.values.extended.insert(i, Extension::Sign);
            }
            _ => {}
        }
    }
    by_constant.unwrap_or_else(|| s.out.emit_joint(op, ty, 1, &[a, b]))
}

/// `add(mul(a, b), c)` as one instruction where the product has no other use.
fn multiply_add(s: &mut Selector, add: Value) -> Option<Operand> {
    if s.cx.leaves(add).len() != 1 {
        return None;
    }
    for (m, c) in [(0, 1), (1, 0)] {
        let (product, other) = (add.operand(m), add.operand(c));
        if is_part(add, product, LLVMMul) {
            let (x, y, z) = (s.operand(product.operand(0)), s.operand(product.operand(1)), s.operand(other));
            return Some(s.out.emit_joint(Op::Mad, Type::B32, 1, &[x, y, z]));
        }
    }
    None
}

/// Whether an operand is an operation in the same block that has no other user.
fn is_part(user: Value, operand: Value, op: LLVMOpcode) -> bool {
    operand.is_instruction() && operand.opcode() == op && operand.users().nth(1).is_none() && operand.parent() == user.parent()
}

/// `(x + c) + u` as `x + (c + u)` where `c` and `u` are uniform and `x` is not: one sum for all lanes in place of one
/// in each.
fn uniform_terms_first(s: &mut Selector, add: Value) -> Option<Operand> {
    if s.cx.leaves(add).len() != 1 {
        return None;
    }
    for (inner, outer) in [(0, 1), (1, 0)] {
        let inner = add.operand(inner);
        if !is_part(add, inner, LLVMAdd) {
            continue;
        }
        let u = s.operand(add.operand(outer));
        for (x, c) in [(0, 1), (1, 0)] {
            let x = inner.operand(x);
            let (term, c) = (s.operand(x), s.operand(inner.operand(c)));
            let constant = matches!((c, u), (Operand::Immediate(_), Operand::Immediate(_)));
            let scalar = s.out.joint_bank(&[c, u]) == Bank::Scalar && s.out.joint_bank(&[term]) != Bank::Scalar;
            if constant || !scalar {
                continue;
            }
            let uniform = s.out.emit_joint(Op::Add, Type::B32, 1, &[c, u]);
            if is_part(inner, x, LLVMMul) {
                let (a, b) = (s.operand(x.operand(0)), s.operand(x.operand(1)));
                return Some(s.out.emit_joint(Op::Mad, Type::B32, 1, &[a, b, uniform]));
            }
            return Some(s.out.emit_joint(Op::Add, Type::B32, 1, &[term, uniform]));
        }
    }
    None
}

/// Moving and masking whole words costs no arithmetic.
fn moved_words(out: &mut Emitter, i: Value, a: Operand) -> Option<Operand> {
    let (low, high) = out.halves(a);
    let zero = Operand::Immediate(0);
    match (i.opcode(), constants::sign_extended(i.operand(1))) {
        (LLVMAnd, Some(0xffff_ffff)) => Some(out.pair(low, zero)),
        (LLVMLShr, Some(32)) => Some(out.pair(high, zero)),
        (LLVMShl, Some(32)) => Some(out.pair(zero, low)),
        _ => None,
    }
}

/// Arithmetic in two words. Integers of 33 to 63 bits have undefined upper bits, too.
fn wide_integer(s: &mut Selector, i: Value, leaf: Leaf, a: Operand, b: Operand) -> Operand {
    let bits = leaf.bits;
    let ext = |s: &mut Selector, o: Operand, signed: bool| s.out.extend_wide(o, bits, signed);
    let amount = |s: &mut Selector, o: Operand| s.out.halves(o).0;
    if bits == 64
        && let Some(moved) = moved_words(&mut s.out, i, a)
    {
        return moved;
    }
    if let Some(result) = division_of_low_words(s, i) {
        return result;
    }
    if bits == 64
        && let Some(high) = word_above_zeros(s, i, 4)
    {
        return s.out.pair(Operand::Immediate(0), high);
    }
    if bits == 64
        && let Some(joined) = joined_words(s, i)
    {
        return joined;
    }
    let (op, ty, a, b) = match i.opcode() {
        LLVMAdd => (Op::Add, Type::B64, a, b),
        LLVMSub => (Op::Sub, Type::B64, a, b),
        LLVMMul => {
            if let Some(product) = widening_multiply(s, i) {
                return product;
            }
            (Op::Mul, Type::B64, a, b)
        }
        LLVMAnd => (Op::And, Type::B64, a, b),
        LLVMOr => (Op::Or, Type::B64, a, b),
        LLVMXor => (Op::Xor, Type::B64, a, b),
        LLVMShl => (Op::Shl, Type::B64, a, amount(s, b)),
        LLVMLShr => (Op::Shr, Type::U64, ext(s, a, false), amount(s, b)),
        LLVMAShr => (Op::Shr, Type::S64, ext(s, a, true), amount(s, b)),
        LLVMUDiv => (Op::Div, Type::U64, ext(s, a, false), ext(s, b, false)),
        LLVMURem => (Op::Rem, Type::U64, ext(s, a, false), ext(s, b, false)),
        LLVMSDiv => (Op::Div, Type::S64, ext(s, a, true), ext(s, b, true)),
        _ => (Op::Rem, Type::S64, ext(s, a, true), ext(s, b, true)),
    };
    s.out.emit_joint(op, ty, 2, &[a, b])
}

/// Two words drawn together: `high << 32 | low`, as programs join them.
fn joined_words(s: &mut Selector, i: Value) -> Option<Operand> {
    if !matches!(i.opcode(), LLVMOr | LLVMXor | LLVMAdd) {
        return None;
    }
    let (a, b) = (i.operand(0), i.operand(1));
    for (upper, lower) in [(a, b), (b, a)] {
        if let Some(low) = zero_extended(s, lower)
            && let Some(high) = word_above_zeros(s, upper, 4)
        {
            return Some(s.out.pair(low, high));
        }
    }
    None
}

/// An unsigned division, or its remainder, of operands whose high words are 0, such as ids and sizes.
fn division_of_low_words(s: &mut Selector, i: Value) -> Option<Operand> {
    let op = match i.opcode() {
        LLVMUDiv => Op::Div,
        LLVMURem => Op::Rem,
        _ => return None,
    };
    let (a, b) = (zero_extended(s, i.operand(0))?, zero_extended(s, i.operand(1))?);
    let by_constant = match b {
        Operand::Immediate(d) => division::by_constant(&mut s.out, s.cx.options.division, (op, Type::U32), 32, a, d),
        _ => None,
    };
    let low = by_constant.unwrap_or_else(|| s.out.emit_joint(op, Type::U32, 1, &[a, b]));
    Some(s.out.pair(low, Operand::Immediate(0)))
}

/// A 64-bit product of two extended 32-bit values.
fn widening_multiply(s: &mut Selector, i: Value) -> Option<Operand> {
    let (a, b) = (i.operand(0), i.operand(1));
    if let (Some(x), Some(y)) = (zero_extended(s, a), zero_extended(s, b)) {
        return Some(s.out.emit_joint(Op::MulWide, Type::U32, 2, &[x, y]));
    }
    let narrow = |v: Value| {
        (v.is_instruction() && v.opcode() == LLVMSExt).then(|| v.operand(0)).filter(|source| source.integer_bits() == 32)
    };
    let x = narrow(a)?;
    let y = match (narrow(b), constants::sign_extended(b)) {
        (Some(y), _) => s.operand(y),
        (None, Some(c)) => Operand::Immediate(i32::try_from(c).ok()? as u32),
        _ => return None,
    };
    let x = s.operand(x);
    Some(s.out.emit_joint(Op::MulWide, Type::S32, 2, &[x, y]))
}

/// The high word of an integer of 64 bits of which the low one is 0, made of low words; `depth`: operations to look
/// through.
fn word_above_zeros(s: &mut Selector, v: Value, depth: u32) -> Option<Operand> {
    if let Some(c) = constants::sign_extended(v) {
        return (c as u32 == 0).then_some(Operand::Immediate((c >> 32) as u32));
    }
    if depth == 0 || !v.is_instruction() || v.integer_bits() != 64 {
        return None;
    }
    let (a, b) = (v.operand(0), v.operand(1));
    let op = match v.opcode() {
        LLVMShl => {
            let by @ 32..64 = constants::sign_extended(b)? else { return None };
            let (low, amount) = (s.low_word(a), Operand::Immediate(by as u32 - 32));
            return Some(if by == 32 { low } else { s.out.emit_joint(Op::Shl, Type::B32, 1, &[low, amount]) });
        }
        // LLVM draws a factor and the shift together.
        LLVMMul => {
            let factor = constants::sign_extended(b).filter(|c| *c as u32 == 0)?;
            let low = s.low_word(a);
            return Some(s.out.mad32(low, (factor >> 32) as u32, None));
        }
        LLVMAdd => Op::Add,
        LLVMSub => Op::Sub,
        LLVMAnd => Op::And,
        LLVMOr => Op::Or,
        LLVMXor => Op::Xor,
        _ => return None,
    };
    let (x, y) = (word_above_zeros(s, a, depth - 1)?, word_above_zeros(s, b, depth - 1)?);
    Some(s.out.emit_joint(op, Type::B32, 1, &[x, y]))
}

/// The low 32 bits of 64-bit arithmetic from the low words of its operands, for addresses. Unused copies are
/// removed later.
fn low_version(s: &mut Selector, i: Value) {
    let (a, b) = (i.operand(0), i.operand(1));
    let op = match i.opcode() {
        LLVMAdd => Op::Add,
        LLVMSub => Op::Sub,
        LLVMMul => Op::Mul,
        LLVMAnd => Op::And,
        LLVMOr if i.is_disjoint() => Op::Add,
        LLVMOr => Op::Or,
        LLVMXor => Op::Xor,
        LLVMShl if constants::sign_extended(b).is_some_and(|s| (0..32).contains(&s)) => Op::Shl,
        // What is shifted out at the bottom is 0: the way LLVM extends signs, ashr(shl(x, 32), 32), and indexes with what it
        // has extended, ashr(shl(x, 32) + (c << 32), 30).
        LLVMAShr | LLVMLShr => {
            let Some(by @ 1..=32) = constants::sign_extended(b) else { return };
            let Some(high) = word_above_zeros(s, a, 4) else { return };
            let amount = Operand::Immediate(32 - by as u32);
            let low = if by == 32 { high } else { s.out.emit_joint(Op::Shl, Type::B32, 1, &[high, amount]) };
            s.values.low.insert(i, low);
            return;
        }
        _ => return,
    };
    let (x, y) = (s.low_word(a), s.low_word(b));
    let low = match (op, y) {
        (Op::Add, _) => s.out.add32(x, y),
        (Op::Mul, Operand::Immediate(c)) => s.out.mad32(x, c, None),
        _ => s.out.emit_joint(op, Type::B32, 1, &[x, y]),
    };
    s.values.low.insert(i, low);
}
