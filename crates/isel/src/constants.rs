//! Constants as operands, and as bits.

use heddle_isa::{Op, Operand, Type};
use heddle_llvm_passes::ir::layout::Layout;
use heddle_llvm_passes::ir::{Value, address_space};
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::LLVMTypeKind::*;
use inkwell::llvm_sys::LLVMValueKind;

use crate::leaf::{Leaf, Parts, leaves, widest_integer};
use crate::{Selector, pointers};

/// Whether a constant expression takes a local pointer to another address space, or makes a number of it.
pub(crate) fn leaves_local(c: Value) -> bool {
    let Some(opcode) = c.constant_opcode() else { return false };
    let leaves = matches!(opcode, LLVMAddrSpaceCast | LLVMPtrToInt) && c.operand(0).address_space() == address_space::LOCAL;
    leaves || c.operands().any(leaves_local)
}

/// Hands on the variables that an operand is, or is made of.
pub(crate) fn variables_of(operand: Value, found: &mut impl FnMut(Value)) {
    if operand.is_global_variable() {
        found(operand);
    } else if operand.is_constant() {
        operand.operands().for_each(|o| variables_of(o, found));
    }
}

/// A constant integer's value, sign-extended from its width.
pub(crate) fn sign_extended(v: Value) -> Option<i64> {
    v.as_constant_int().and(v.as_signed_constant())
}

/// The bits of a scalar constant, zero-extended; undefined and poison values are 0.
pub(crate) fn scalar_bits(c: Value) -> Option<u64> {
    match c.kind() {
        LLVMValueKind::LLVMConstantIntValueKind => c.as_constant_int(),
        LLVMValueKind::LLVMConstantFPValueKind => c.constant_float_bits(),
        LLVMValueKind::LLVMUndefValueValueKind
        | LLVMValueKind::LLVMPoisonValueKind
        | LLVMValueKind::LLVMConstantPointerNullValueKind
        | LLVMValueKind::LLVMConstantAggregateZeroValueKind => Some(0),
        _ => None,
    }
}

/// The bits of a constant float and how many it has; of a vector, if all elements are the same.
pub(crate) fn float_bits(v: Value) -> Option<(u64, u32)> {
    if !v.is_constant() {
        return None;
    }
    let of = v.type_of();
    let (element, elements) = if v.is_vector() { (of.element()?, of.element_count()) } else { (of, 1) };
    let width = match element.kind() {
        LLVMHalfTypeKind => 16,
        LLVMFloatTypeKind => 32,
        LLVMDoubleTypeKind => 64,
        _ => return None,
    };
    let scalar = |c: Value| match c.kind() {
        LLVMValueKind::LLVMConstantFPValueKind => c.constant_float_bits(),
        LLVMValueKind::LLVMConstantAggregateZeroValueKind => Some(0),
        _ => None,
    };
    if !v.is_vector() || v.kind() == LLVMValueKind::LLVMConstantAggregateZeroValueKind {
        return Some((scalar(v)?, width));
    }
    let first = v.aggregate_element(0).and_then(scalar)?;
    let same = (1..elements as u32).all(|k| v.aggregate_element(k).and_then(scalar) == Some(first));
    same.then_some((first, width))
}

/// The leaves of a constant.
pub(crate) fn constant_parts(s: &mut Selector, c: Value) -> Parts {
    let mut parts = Parts::new();
    if computed_parts(s, c, &mut parts) {
        return parts;
    }
    s.report.error(None, format!("unsupported constant: `{}`", c.text()));
    s.cx.leaves(c).iter().map(|leaf| s.out.constant_operand(0, leaf.words())).collect()
}

/// Appends the leaves of a constant, also those that only the machine knows, as they are made of addresses;
/// false if it has something else in it.
fn computed_parts(s: &mut Selector, c: Value, out: &mut Parts) -> bool {
    let mut scalars = Vec::new();
    if flatten(s.cx.layout, c, &mut scalars) {
        let leaves = s.cx.leaves(c);
        out.extend(scalars.iter().zip(leaves.iter()).map(|(bits, leaf)| s.out.constant_operand(*bits, leaf.words())));
        return true;
    }
    if let Some(count) = elements(c) {
        return (0..count).all(|i| c.aggregate_element(i).is_some_and(|element| computed_parts(s, element, out)));
    }
    if c.is_pointer() {
        let address = s.address(c);
        out.push(pointers::pointer_bits(s, &address, c.address_space()));
        return true;
    }
    match computed_integer(s, c) {
        Some(result) => out.push(result),
        None => return false,
    }
    true
}

/// A constant integer that is made of addresses.
fn computed_integer(s: &mut Selector, c: Value) -> Option<Operand> {
    let leaves = s.cx.leaves(c);
    let opcode = c.constant_opcode()?;
    let [leaf] = leaves[..] else { return None };
    if c.integer_bits() == 0 || !matches!(leaf.bits, 8 | 16 | 32 | 64) {
        return None;
    }
    let operands = if matches!(opcode, LLVMPtrToInt | LLVMTrunc) { 1 } else { 2 };
    let mut sources = Parts::new();
    if !(0..operands).all(|i| computed_parts(s, c.operand(i), &mut sources)) {
        return None;
    }
    let words = leaf.words();
    let op = match opcode {
        LLVMPtrToInt | LLVMTrunc => {
            let from = s.cx.leaves(c.operand(0))[0].words();
            return Some(match (from, words) {
                (2, 1) => s.out.halves(sources[0]).0,
                (1, 2) => s.out.pair(sources[0], Operand::Immediate(0)),
                _ => sources[0],
            });
        }
        LLVMAdd => Op::Add,
        LLVMSub => Op::Sub,
        LLVMXor => Op::Xor,
        _ => return None,
    };
    let ty = if words == 2 { Type::B64 } else { Type::B32 };
    Some(s.out.emit_joint(op, ty, words, &sources))
}

/// Whether a constant is an expression that reads another one's bytes as its type. LLVM folds some of them
/// only with a data layout.
pub(crate) fn is_bitcast(c: Value) -> bool {
    c.constant_opcode() == Some(LLVMBitCast) && !c.is_pointer()
}

/// The scalar bits of a bitcast's leaves, from the bytes of what it casts.
fn flatten_bitcast(layout: &Layout, c: Value, out: &mut Vec<u64>) -> bool {
    let inner = c.operand(0);
    let mut bits = Vec::new();
    let whole = |l: &Leaf| l.bits % 8 == 0;
    let (from, to) = (leaves(layout, inner.type_of()), leaves(layout, c.type_of()));
    if !flatten(layout, inner, &mut bits) || !from.iter().chain(&to).all(whole) {
        return false;
    }
    let bytes: Vec<u8> = from.iter().zip(bits).flat_map(|(l, b)| b.to_le_bytes().into_iter().take(l.bytes() as usize)).collect();
    let mut rest = bytes.as_slice();
    for leaf in &to {
        let Some((mine, others)) = rest.split_at_checked(leaf.bytes() as usize) else { return false };
        rest = others;
        out.push(little_endian(mine));
    }
    true
}

/// Appends the scalar bits of a constant's leaves; false if some leaf is no plain constant.
pub(crate) fn flatten(layout: &Layout, c: Value, out: &mut Vec<u64>) -> bool {
    if is_bitcast(c) {
        return flatten_bitcast(layout, c, out);
    }
    let ty = c.type_of();
    if let Some(count) = elements(c) {
        if c.is_undefined() || c.is_null() {
            out.extend(std::iter::repeat_n(0, leaves(layout, ty).len()));
            return true;
        }
        return (0..count).all(|i| c.aggregate_element(i).is_some_and(|element| flatten(layout, element, out)));
    }
    if widest_integer(ty) > 64 {
        return flatten_wide(c, out);
    }
    let bits = scalar_bits(c);
    out.extend(bits);
    bits.is_some()
}

/// The number of elements of a structure, array or vector; `None` for scalars.
fn elements(c: Value) -> Option<u32> {
    let ty = c.type_of();
    match ty.kind() {
        LLVMStructTypeKind => Some(ty.field_count()),
        LLVMArrayTypeKind | LLVMVectorTypeKind => Some(ty.element_count() as u32),
        _ => None,
    }
}

/// The leaves of a constant integer of more than 64 bits. LLVM's C API gives 64 bits of a constant and folds
/// no bitcast of wider ones, so the printed number has them.
fn flatten_wide(c: Value, out: &mut Vec<u64>) -> bool {
    let leaves = c.integer_bits().div_ceil(64) as usize;
    if c.is_undefined() || c.is_null() {
        out.extend(std::iter::repeat_n(0, leaves));
        return true;
    }
    let text = c.text();
    let Some(value) = text.rsplit(' ').next().and_then(|number| number.parse::<num_bigint::BigInt>().ok()) else { return false };
    let sign = if value.sign() == num_bigint::Sign::Minus { u64::MAX } else { 0 };
    let mut bytes = value.to_signed_bytes_le();
    bytes.resize(8 * leaves, sign as u8);
    out.extend(bytes.chunks(8).map(little_endian));
    true
}

/// Up to eight bytes, the lowest first, as a number.
fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b))
}
