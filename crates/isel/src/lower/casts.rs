//! Casts between integers, floats and pointers.

use crate::emit::Emitter;
use crate::leaf::{Leaf, Parts, is_wide};
use crate::lower::floats::plain;
use crate::lower::{bitcast, float_intrinsics};
use crate::values::Extension;
use crate::{Selector, pointers};
use heddle_isa::{Cond, Op, Operand, Rounding, Type};
use heddle_llvm_passes::ir::{Value, address_space};
use heddle_mir::Bank;
use inkwell::llvm_sys::LLVMOpcode::*;

/// The integer type of a width and sign for conversions.
fn integer_type(bits: u32, signed: bool) -> Type {
    match (bits, signed) {
        (0..=8, true) => Type::S8,
        (0..=8, false) => Type::U8,
        (9..=16, true) => Type::S16,
        (9..=16, false) => Type::U16,
        (17..=32, true) => Type::S32,
        (17..=32, false) => Type::U32,
        (_, true) => Type::S64,
        (_, false) => Type::U64,
    }
}

/// Selects a cast.
pub(crate) fn cast(s: &mut Selector, i: Value) {
    let source = i.operand(0);
    match i.opcode() {
        LLVMBitCast if i.is_pointer() => {
            let a = s.address(source);
            s.addresses.set(i, a);
            return;
        }
        LLVMBitCast => return bitcast::bitcast(s, i),
        LLVMAddrSpaceCast => return address_space_cast(s, i),
        LLVMIntToPtr => {
            let op = s.operand(source);
            let bits = s.leaf(source).bits;
            let op = match (is_wide(i.address_space()), bits > 32) {
                (true, true) | (false, false) => op,
                (true, false) => s.extend_to_64(source, op, bits, false),
                (false, true) => s.out.halves(op).0,
            };
            s.values.set1(i, op);
            return;
        }
        _ => {}
    }
    let (parts, rounding) = match i.opcode() {
        LLVMFPToUI | LLVMFPToSI => rounded_source(s, source),
        _ => (s.parts(source), Rounding::Rz),
    };
    let (from, to) = (s.cx.leaves(source), s.cx.leaves(i));
    let single = from.len() == 1;
    let mut result = Parts::new();
    for (k, (f, t)) in from.iter().zip(to.iter()).enumerate() {
        let known = single.then_some(source);
        result.push(match i.opcode() {
            LLVMTrunc => truncate(s, known, parts[k], *f, *t),
            LLVMZExt => widen(s, known, parts[k], *f, *t, false),
            LLVMSExt => widen(s, known, parts[k], *f, *t, true),
            LLVMPtrToInt => pointer_to_integer(&mut s.out, parts[k], *f, *t),
            LLVMFPToUI => float_to_integer(&mut s.out, parts[k], *f, *t, false, rounding),
            LLVMFPToSI => float_to_integer(&mut s.out, parts[k], *f, *t, true, rounding),
            LLVMUIToFP => integer_to_float(s, known, parts[k], *f, *t, false),
            LLVMSIToFP => integer_to_float(s, known, parts[k], *f, *t, true),
            _ => s.out.convert(parts[k], f.float_type(), t.float_type(), Rounding::Rn),
        });
    }
    if single {
        note_extension(s, i, source, from[0], to[0]);
    }
    s.values.set(i, result);
}

/// Records what is known of the result's upper bits and low word.
fn note_extension(s: &mut Selector, i: Value, source: Value, from: Leaf, to: Leaf) {
    match i.opcode() {
        LLVMZExt if to.bits < 32 => {
            s.values.extended.insert(i, Extension::Zero);
        }
        LLVMSExt if to.bits < 32 => {
            s.values.extended.insert(i, Extension::Sign);
        }
        LLVMZExt | LLVMSExt if to.words() == 2 && from.words() == 1 => {
            let op = s.operand(source);
            let low = s.extend(source, op, from.bits, i.opcode() == LLVMSExt);
            s.values.low.insert(i, low);
        }
        _ => {}
    }
}

/// The low bits of an integer.
fn truncate(s: &mut Selector, known: Option<Value>, op: Operand, from: Leaf, to: Leaf) -> Operand {
    if to.words() == 2 {
        return op;
    }
    let low = match (from.words(), known) {
        (2, Some(v)) => s.low_word(v),
        (2, None) => s.out.halves(op).0,
        _ => op,
    };
    if to.bits != 1 {
        return low;
    }
    if let Operand::Immediate(v) = low {
        return Operand::Immediate(v & 1);
    }
    let bit = s.out.and32(low, 1);
    if s.out.joint_bank(&[bit]) == Bank::Scalar { bit } else { s.out.test_not_zero(bit) }
}

/// An integer extended to a wider type; `known`: the value, if what is known of its bits is its only leaf's.
pub(crate) fn widen(s: &mut Selector, known: Option<Value>, op: Operand, from: Leaf, to: Leaf, signed: bool) -> Operand {
    if from.bits == 1 {
        return s.out.widen_bit(op, to, signed);
    }
    if to.words() == 1 {
        return match known {
            Some(v) => s.extend(v, op, from.bits, signed),
            None => s.out.extend(op, from.bits, signed),
        };
    }
    if from.words() == 2 {
        return s.out.extend_wide(op, from.bits, signed);
    }
    let low = match known {
        Some(v) => s.extend(v, op, from.bits, signed),
        None => s.out.extend(op, from.bits, signed),
    };
    s.out.word_to_pair(low, signed)
}

/// To and from generic pointers ([`address_space`]).
fn address_space_cast(s: &mut Selector, i: Value) {
    let source = i.operand(0);
    let (from, to) = (source.address_space(), i.address_space());
    let op = s.operand(source);
    let result = match (from, to) {
        _ if is_wide(from) && is_wide(to) || from == to => op,
        (address_space::GENERIC, _) => s.out.halves(op).0,
        (address_space::LOCAL | address_space::PRIVATE, address_space::GENERIC) => {
            let local = from == address_space::LOCAL;
            let aperture = if local { address_space::LOCAL_APERTURE } else { address_space::PRIVATE_APERTURE };
            let pointer = s.out.pair(op, Operand::Immediate(aperture));
            // The null pointer stays one; variables and arguments are none.
            let known = pointers::root(s, source).is_some_and(|r| r.is_argument() || r.is_global_variable());
            if known {
                pointer
            } else {
                let null = s.out.compare(Cond::Eq, Type::B32, plain(op), plain(Operand::Immediate(0)));
                let leaf = Leaf { bits: 64, float: false, pointer: None, offset: 0 };
                s.out.choose(null, leaf, Operand::Immediate(0), pointer)
            }
        }
        // Left of a branch that is never taken, or undefined: there is no such pointer.
        _ if is_wide(to) => s.out.materialize(0, 2),
        _ => Operand::Immediate(0),
    };
    s.values.set1(i, result);
}

fn integer_to_float(s: &mut Selector, known: Option<Value>, op: Operand, from: Leaf, to: Leaf, signed: bool) -> Operand {
    let op = if from.bits == 1 {
        let word = Leaf { bits: 32, ..from };
        s.out.widen_bit(op, word, signed)
    } else if from.words() == 2 {
        s.out.extend_wide(op, from.bits, signed)
    } else if matches!(from.bits, 8 | 16) && !matches!(op, Operand::Immediate(_)) {
        // The conversion reads the low bits alone.
        return s.out.convert(op, integer_type(from.bits, signed), to.float_type(), Rounding::Rn);
    } else {
        match known {
            Some(v) => s.extend(v, op, from.bits, signed),
            None => s.out.extend(op, from.bits, signed),
        }
    };
    let ty = integer_type(if from.words() == 2 { 64 } else { 32 }, signed);
    s.out.convert(op, ty, to.float_type(), Rounding::Rn)
}

fn pointer_to_integer(out: &mut Emitter, op: Operand, from: Leaf, to: Leaf) -> Operand {
    match (from.words(), to.words()) {
        (2, 2) | (1, 1) => op,
        (2, _) => out.halves(op).0,
        _ => out.pair(op, Operand::Immediate(0)),
    }
}

/// What a conversion to an integer converts, and how it rounds: a rounding before it is part of it.
pub(crate) fn rounded_source(s: &mut Selector, source: Value) -> (Parts, Rounding) {
    let name = if source.is_instruction() && source.opcode() == LLVMCall { source.called_name() } else { String::new() };
    let rounding = match name.strip_prefix("llvm.").and_then(|n| n.split('.').next()) {
        Some("rint" | "nearbyint" | "roundeven") => Rounding::Rn,
        Some("floor") => Rounding::Rm,
        Some("ceil") => Rounding::Rp,
        Some("trunc") => Rounding::Rz,
        Some("round") => {
            let parts = s.parts(source.operand(0));
            let leaves = s.cx.leaves(source);
            let sums = leaves.iter().zip(parts).map(|(leaf, x)| float_intrinsics::with_half_added(&mut s.out, *leaf, x));
            return (sums.collect(), Rounding::Rz);
        }
        _ => return (s.parts(source), Rounding::Rz),
    };
    (s.parts(source.operand(0)), rounding)
}

/// Conversion of a float that fits when it is rounded.
pub(crate) fn float_to_integer(
    out: &mut Emitter,
    op: Operand,
    from: Leaf,
    to: Leaf,
    signed: bool,
    rounding: Rounding,
) -> Operand {
    if to.bits == 1 {
        let word = out.convert(op, from.float_type(), Type::S32, rounding);
        let bit = out.and32(word, 1);
        return if out.joint_bank(&[bit]) == Bank::Scalar { bit } else { out.test_not_zero(bit) };
    }
    // Out-of-range inputs are undefined in LLVM; a conversion at the full register width has the most defined
    // results.
    let ty = if to.words() == 2 { integer_type(64, signed) } else { integer_type(32, signed) };
    out.convert(op, from.float_type(), ty, rounding)
}

/// Conversion that clamps to the width (`llvm.fpto[su]i.sat`).
pub(crate) fn float_to_integer_saturating(
    out: &mut Emitter,
    op: Operand,
    from: Leaf,
    to: Leaf,
    signed: bool,
    rounding: Rounding,
) -> Operand {
    let bits = to.bits;
    if matches!(bits, 8 | 16 | 32 | 64) {
        return out.convert(op, from.float_type(), integer_type(bits, signed), rounding);
    }
    // Of an odd width: as the next that the machine has, held to what fits.
    let (width, words) = if bits > 32 { (64, 2) } else { (32, 1) };
    let ty = integer_type(width, signed);
    let (low, high) = if signed { (-1i64 << (bits - 1), !(-1i64 << (bits - 1))) } else { (0, !(-1i64 << bits)) };
    let mut held = out.convert(op, from.float_type(), ty, rounding);
    if signed {
        let low = out.constant_operand(low as u64, words);
        held = out.emit_joint(Op::Max, ty, words, &[held, low]);
    }
    let high = out.constant_operand(high as u64, words);
    held = out.emit_joint(Op::Min, ty, words, &[held, high]);
    match bits {
        1 => out.compare(Cond::Ne, Type::B32, plain(held), plain(Operand::Immediate(0))),
        _ => held,
    }
}
