//! What selection does not know of integers of more than 64 bits.
//!
//! # Problem
//! OpenCL C has no such integers, but LLVM computes with 128 bits how often a loop over `long` goes round (`i <= n; i += 3`),
//! and where it ends: the greater of two numbers, divided by the step.
//!
//! # Algorithm
//! The lesser and the greater of two numbers become a comparison and a choice. A number is divided by a constant below 2³² word
//! by word from above, as on paper: what is left of one word stands before the next, and both together are divided with 64 bits
//! (D. E. Knuth, "The Art of Computer Programming", volume 2, 4.3.1, exercise 16).
//!
//! # Limits
//! Divisions of signed numbers and by other divisors stay, and selection refuses them.
//!
//! May touch: these instructions only. Comes behind LLVM's instcombine, which would make the choice an intrinsic again.

use inkwell::llvm_sys::LLVMIntPredicate::{self, *};
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind;
use inkwell::module::Module;

use crate::ir::build::{Builder, constant, context_of, integer, replace};
use crate::ir::{self, Value, function};

/// Bits of the words that are divided.
const WORD: u32 = 32;

/// Replaces these instructions in all functions of a module.
pub fn lower(module: &Module) {
    let all = function::bodies(module).into_iter().flat_map(ir::blocks).flat_map(|b| b.instructions());
    let wide: Vec<Value> =
        all.filter(|i| i.type_kind() == LLVMIntegerTypeKind && i.integer_bits() > 64 && i.integer_bits() % WORD == 0).collect();
    for instruction in wide {
        let b = Builder::before(context_of(module), instruction);
        b.locate(instruction);
        match instruction.opcode() {
            LLVMUDiv | LLVMURem => {
                if let Some(divisor) = divisor(module, instruction.operand(1)) {
                    let (quotient, rest) = divided(module, &b, instruction.operand(0), divisor);
                    replace(instruction, if instruction.opcode() == LLVMUDiv { quotient } else { rest });
                }
            }
            LLVMCall => {
                if let Some(order) = chosen_by(&instruction.called_name()) {
                    let (x, y) = (instruction.operand(0), instruction.operand(1));
                    replace(instruction, b.select(b.compare(order, x, y), x, y));
                }
            }
            _ => {}
        }
    }
}

/// The order in which the first operand of a minimum or maximum is the result.
fn chosen_by(name: &str) -> Option<LLVMIntPredicate> {
    match name.split('.').nth(1).filter(|_| name.starts_with("llvm."))? {
        "smax" => Some(LLVMIntSGT),
        "smin" => Some(LLVMIntSLT),
        "umax" => Some(LLVMIntUGT),
        "umin" => Some(LLVMIntULT),
        _ => None,
    }
}

/// The number that a constant is, if it is below 2³² and not 0.
fn divisor(module: &Module, v: Value) -> Option<u64> {
    let low = v.as_signed_constant().and_then(|low| u64::try_from(low).ok())?;
    let fits = (1..1 << WORD).contains(&low) && constant(context_of(module), v.integer_bits(), low) == v;
    fits.then_some(low)
}

/// Quotient and rest of a number.
fn divided(module: &Module, b: &Builder, number: Value, divisor: u64) -> (Value, Value) {
    let context = context_of(module);
    let bits = number.integer_bits();
    let (pair, whole) = (integer(context, 2 * WORD), number.ty());
    let of_pair = |n: u64| constant(context, 2 * WORD, n);
    let shift = |n: u32| constant(context, bits, n.into());
    let (mut quotient, mut rest) = (constant(context, bits, 0), of_pair(0));
    for low in (0..bits).step_by(WORD as usize).rev() {
        let word = b.cast(LLVMTrunc, b.binary(LLVMLShr, number, shift(low)), integer(context, WORD));
        let above = b.binary(LLVMShl, rest, of_pair(WORD.into()));
        let both = b.binary(LLVMOr, above, b.cast(LLVMZExt, word, pair));
        let digit = b.binary(LLVMUDiv, both, of_pair(divisor));
        rest = b.binary(LLVMURem, both, of_pair(divisor));
        let placed = b.binary(LLVMShl, b.cast(LLVMZExt, digit, whole), shift(low));
        quotient = b.binary(LLVMOr, quotient, placed);
    }
    (quotient, b.cast(LLVMZExt, rest, whole))
}
