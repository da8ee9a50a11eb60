//! What selection does not know of integers of more than 64 bits.
//!
//! # Problem
//! OpenCL C has no such integers, but LLVM computes with 128 bits how often a loop over `long` goes round (`i <= n; i += 3`),
//! and where it ends: the greater of two numbers, divided by the step. A `mul_hi` by a power of two that is not known becomes a
//! shift of 128 bits.
//!
//! # Algorithm
//! The lesser and the greater of two numbers become a comparison and a choice. A number is divided by a constant below 2³² word
//! by word from above, as on paper: what is left of one word stands before the next, and both together are divided with 64 bits
//! (D. E. Knuth, "The Art of Computer Programming", volume 2, 4.3.1, exercise 16). A shift by a number that is not known is one by
//! whole words of 64 bits, for each bit of their count one or none, and then each word takes bits of its neighbour.
//!
//! # Limits
//! Divisions of signed numbers and by other divisors stay, and so do such shifts of what is not whole words of 64 bits, and funnel
//! shifts by numbers that are not known; selection refuses them.
//!
//! May touch: these instructions only. Comes behind LLVM's instcombine, which would make the choice an intrinsic again.

use inkwell::llvm_sys::LLVMIntPredicate::{self, *};
use inkwell::llvm_sys::LLVMOpcode::{self, *};
use inkwell::llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind;
use inkwell::llvm_sys::prelude::LLVMContextRef;
use inkwell::module::Module;

use crate::ir::build::{Builder, constant, context_of, integer, replace};
use crate::ir::{self, Value, function};

/// Bits of the words that are divided.
const WORD: u32 = 32;

/// Bits of the words that are shifted.
const LONG_WORD: u32 = 64;

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
            LLVMShl | LLVMLShr | LLVMAShr => {
                let amount = instruction.operand(1);
                if !amount.is_constant() && instruction.integer_bits().is_multiple_of(LONG_WORD) {
                    let shift = Shift { b: &b, context: context_of(module), operation: instruction.opcode() };
                    replace(instruction, shift.by(instruction.operand(0), amount));
                }
            }
            _ => {}
        }
    }
}

/// Shifts by numbers that are not known.
struct Shift<'a> {
    b: &'a Builder,
    context: LLVMContextRef,
    operation: LLVMOpcode,
}

impl Shift<'_> {
    /// A number of several long words, shifted by another one below its bits.
    fn by(&self, number: Value, amount: Value) -> Value {
        let b = self.b;
        let long = |n: u32| constant(self.context, LONG_WORD, n.into());
        let bits = number.integer_bits();
        let amount = b.cast(LLVMTrunc, amount, integer(self.context, LONG_WORD));
        let mut shifted = number;
        let mut distance = LONG_WORD;
        while distance < bits {
            let stays = b.equal(b.binary(LLVMAnd, amount, long(distance)), long(0));
            shifted = b.select(stays, shifted, b.binary(self.operation, shifted, constant(self.context, bits, distance.into())));
            distance *= 2;
        }
        let rest = b.binary(LLVMAnd, amount, long(LONG_WORD - 1));
        self.within_words(shifted, rest, b.binary(LLVMXor, rest, long(LONG_WORD - 1)))
    }

    /// A number shifted by less than a long word; `others`: what is missing to a long word, less 1.
    fn within_words(&self, number: Value, rest: Value, others: Value) -> Value {
        let b = self.b;
        let (bits, whole) = (number.integer_bits(), number.ty());
        let one = constant(self.context, LONG_WORD, 1);
        let at = |n: u32| constant(self.context, bits, n.into());
        let long = |low: u32| b.cast(LLVMTrunc, b.binary(LLVMLShr, number, at(low)), integer(self.context, LONG_WORD));
        let mut result = at(0);
        for low in (0..bits).step_by(LONG_WORD as usize) {
            // Bits come from the word below, or from the one above, in two steps: the distance may be a whole word.
            let (own, neighbour) = match self.operation {
                LLVMShl => (LLVMShl, low.checked_sub(LONG_WORD)),
                operation if low + LONG_WORD == bits => (operation, None),
                _ => (LLVMLShr, Some(low + LONG_WORD)),
            };
            let mut word = b.binary(own, long(low), rest);
            if let Some(neighbour) = neighbour {
                let away = if own == LLVMShl { LLVMLShr } else { LLVMShl };
                let bits = b.binary(away, b.binary(away, long(neighbour), one), others);
                word = b.binary(LLVMOr, word, bits);
            }
            result = b.binary(LLVMOr, result, b.binary(LLVMShl, b.cast(LLVMZExt, word, whole), at(low)));
        }
        result
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
