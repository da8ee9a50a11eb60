//! Divisions of integers that are defined for all numbers.
//!
//! # Problem
//! To LLVM a division by 0 is undefined behaviour: it removes a test for 0 that stands behind the division, and with it what the
//! program does then, and takes a constant one for unreachable. OpenCL C leaves the result open and nothing else (6.3,
//! "Operators"), and the machine divides by 1 then.
//!
//! # Algorithm
//! Before clang's passes ([`define_all`]) each divisor that may be 0 becomes `d == 0 ? 1 : d`, a division by a constant -1 a
//! negation, and what clang has folded to poison while it wrote the code, divisions of constants among it, 0. The same happens to divisors before the passes that
//! Heddle prepares a module with ([`define`]), where IR may come from elsewhere. Behind all passes ([`trust_machine`]) a divisor
//! that is 1 where another one is 0 becomes the other one, for the machine makes no difference; comparisons that nothing else
//! reads go.
//!
//! # Reference
//! PoCL's pass `SanitizeUBofDivRem`, which chooses divisors in the same way.
//!
//! # Limits
//! The least number by -1, which LLVM has for undefined as well, is compared with nothing: where LLVM finds out that the divisor is
//! -1, it may have different opinions of the result, and code where it finds out both for unreachable. A choice that it has turned into something else stays in the code; so does one that also makes a
//! remainder of the quotient.
//!
//! May touch: integer divisions and remainders, their divisors, and constant poison.

use inkwell::llvm_sys::LLVMIntPredicate::*;
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::LLVMTypeKind::*;
use inkwell::llvm_sys::core::*;
use inkwell::module::Module;
use rustc_hash::FxHashSet;

use crate::ir::build::{Builder, context_of, erase, replace, splat};
use crate::ir::{self, Type, Value, function};

/// Conditions within each other, and choices one behind the other, that are followed from a divisor.
const DEPTH: u32 = 4;

/// The beginning of the name of the greater of two numbers, which LLVM makes of `d == 0 ? 1 : d`.
const GREATER: &str = "llvm.umax.";

/// Makes the divisions of a module defined on which no pass of LLVM's has run.
pub fn define_all(module: &Module) {
    for instruction in instructions(module) {
        for (i, operand) in (0..).zip(instruction.operands()) {
            // Vectors and structures that are written element by element begin as poison.
            let begins = match instruction.opcode() {
                LLVMInsertElement | LLVMInsertValue => i == 0,
                LLVMShuffleVector => true,
                _ => false,
            };
            if let Some(number) = Some(operand).filter(|_| !begins).and_then(unfolded) {
                set_operand(instruction, i, number);
            }
        }
    }
    define(module);
}

/// Makes the divisions of a module defined that are not yet, before passes of LLVM's.
pub fn define(module: &Module) {
    let all: Vec<Value> = instructions(module).filter(|i| is_division(*i)).collect();
    all.into_iter().for_each(|division| guard(module, division));
}

/// Takes back what [`define`] added.
pub fn trust_machine(module: &Module) {
    let divisions: Vec<Value> = instructions(module).filter(|i| is_division(*i)).collect();
    for &division in &divisions {
        for _ in 0..DEPTH {
            let Some(choice) = Choice::of(division) else { break };
            let before = division.operand(1);
            set_operand(division, 1, choice.divisor_of(module, division));
            erase_unused(before);
        }
    }
}

fn instructions(module: &Module) -> impl Iterator<Item = Value> {
    function::bodies(module).into_iter().flat_map(ir::blocks).flat_map(|b| b.instructions())
}

/// Whether it is one that selection knows.
fn is_division(instruction: Value) -> bool {
    // Vectors of a length that is not known have none here.
    let bits = scalar(instruction).integer_bits();
    matches!(instruction.opcode(), LLVMSDiv | LLVMSRem | LLVMUDiv | LLVMURem) && (1..=u64::BITS).contains(&bits)
}

/// The type of a number, or of a vector's elements.
fn scalar(v: Value) -> Type {
    v.type_of().element().unwrap_or(v.type_of())
}

/// What stands for a number, pointer or vector that clang has found to be undefined, or of which elements are: 0 for these.
fn unfolded(v: Value) -> Option<Value> {
    let zero = |v: Value| {
        let is_value = scalar(v).integer_bits() > 0
            || matches!(scalar(v).kind(), LLVMHalfTypeKind | LLVMFloatTypeKind | LLVMDoubleTypeKind | LLVMPointerTypeKind);
        // SAFETY: a live value, and its type.
        (is_value && unsafe { LLVMIsPoison(v.0) != 0 }).then(|| Value(unsafe { LLVMConstNull(v.ty()) }))
    };
    // SAFETY: a live value; elements are read of constant vectors only.
    if unsafe { LLVMIsAConstantVector(v.0).is_null() } {
        return zero(v);
    }
    let elements: Vec<Value> = v.operands().collect();
    let mut defined: Vec<_> = elements.iter().map(|e| zero(*e).unwrap_or(*e).0).collect();
    let differs = elements.iter().zip(&defined).any(|(old, new)| old.0 != *new);
    // SAFETY: live constants of one type.
    differs.then(|| Value(unsafe { LLVMConstVector(defined.as_mut_ptr(), defined.len() as u32) }))
}

fn set_operand(instruction: Value, i: u32, to: Value) {
    // SAFETY: live values, of the operand's type.
    unsafe { LLVMSetOperand(instruction.0, i, to.0) };
}

/// Makes a division defined.
fn guard(module: &Module, division: Value) {
    let (number, divisor) = (division.operand(0), division.operand(1));
    let constant = |n: i64| splat(divisor.ty(), n);
    let b = Builder::before(context_of(module), division);
    b.locate(division);
    if divisor == constant(-1) && matches!(division.opcode(), LLVMSDiv | LLVMSRem) {
        replace(division, if division.opcode() == LLVMSDiv { b.binary(LLVMSub, constant(0), number) } else { constant(0) });
    } else if !is_harmless(divisor) && Choice::of(division).is_none() {
        set_operand(division, 1, b.select(b.equal(divisor, constant(0)), constant(1), divisor));
    }
}

/// Whether a divisor is constant and not 0.
fn is_harmless(divisor: Value) -> bool {
    let is = |v: Value| v.as_signed_constant().is_some_and(|n| n != 0);
    if !divisor.is_vector() {
        return is(divisor);
    }
    let count = divisor.type_of().element_count() as u32;
    // SAFETY: a live constant vector that has the element.
    divisor.is_constant() && (0..count).all(|i| is(Value(unsafe { LLVMGetAggregateElement(divisor.0, i) })))
}

/// A value that is 1 wherever a divisor is 0, and else the divisor.
struct Choice {
    /// The instruction that chooses.
    instruction: Value,
    /// The divisor.
    divisor: Value,
}

impl Choice {
    /// That of a division: its own divisor, frozen or made wider.
    fn of(division: Value) -> Option<Choice> {
        let mut instruction = division.operand(1);
        // One bit that is 1 is -1 where its sign is extended.
        let keeps_one = |v: Value| match v.opcode() {
            LLVMFreeze | LLVMZExt => true,
            LLVMSExt => scalar(v.operand(0)).integer_bits() > 1,
            _ => false,
        };
        while instruction.is_instruction() && keeps_one(instruction) {
            instruction = instruction.operand(0);
        }
        if !instruction.is_instruction() {
            return None;
        }
        let is_one = |i: u32| instruction.operand(i) == splat(instruction.ty(), 1);
        let (divisor, condition) = match instruction.opcode() {
            LLVMCall if !instruction.called_name().starts_with(GREATER) => return None,
            LLVMCall if is_one(0) => (instruction.operand(1), None),
            LLVMCall if is_one(1) => (instruction.operand(0), None),
            LLVMSelect if is_one(1) => (instruction.operand(2), Some((instruction.operand(0), true))),
            LLVMSelect if is_one(2) => (instruction.operand(1), Some((instruction.operand(0), false))),
            _ => return None,
        };
        let is_zero = condition.is_none_or(|(condition, when)| is_zero(divisor, condition, when, DEPTH));
        is_zero.then_some(Choice { instruction, divisor })
    }

    /// The divisor in the type of a division.
    fn divisor_of(&self, module: &Module, division: Value) -> Value {
        let b = Builder::before(context_of(module), division);
        b.locate(division);
        let mut v = division.operand(1);
        let mut extensions = Vec::new();
        while v != self.instruction {
            extensions.extend((v.opcode() != LLVMFreeze).then_some((v.opcode(), v.ty())));
            v = v.operand(0);
        }
        extensions.into_iter().rev().fold(self.divisor, |divisor, (extension, ty)| b.cast(extension, divisor, ty))
    }
}

/// Whether a value is 0 for certain where a condition is `when`.
fn is_zero(value: Value, condition: Value, when: bool, depth: u32) -> bool {
    let Some((all, any)) = both(condition, when) else { return says_zero(condition, when, value) };
    let one = |condition| depth > 0 && is_zero(value, condition, when, depth - 1);
    all.is_some_and(|(x, y)| one(x) || one(y)) || any.is_some_and(|(x, y)| one(x) && one(y))
}

/// Two conditions, of which all or any hold.
type Pair = Option<(Value, Value)>;

/// What it means that a condition is `when`: both of two are (first), or one of two at least is (second).
fn both(condition: Value, when: bool) -> Option<(Pair, Pair)> {
    if !condition.is_instruction() {
        return None;
    }
    let is = |v: Value, n: i64| v == splat(v.ty(), n);
    let (operation, x, y) = match condition.opcode() {
        o @ (LLVMAnd | LLVMOr) => (o, condition.operand(0), condition.operand(1)),
        LLVMSelect if is(condition.operand(1), -1) => (LLVMOr, condition.operand(0), condition.operand(2)),
        LLVMSelect if is(condition.operand(2), 0) => (LLVMAnd, condition.operand(0), condition.operand(1)),
        _ => return None,
    };
    let pair = Some((x, y));
    Some(if (operation == LLVMAnd) == when { (pair, None) } else { (None, pair) })
}

/// Whether a comparison that is `when` says that a value is 0.
fn says_zero(comparison: Value, when: bool, value: Value) -> bool {
    if !comparison.is_instruction() || comparison.opcode() != LLVMICmp {
        return false;
    }
    let (x, y) = (comparison.operand(0), comparison.operand(1));
    let below =
        |more: u64| y.as_constant_int().is_some_and(|y| y.checked_add(more).is_some_and(|y| bound_says_zero(x, y, value)));
    match (comparison.integer_predicate(), when) {
        (LLVMIntEQ, true) | (LLVMIntNE, false) => equality_says_zero(x, y, value) || equality_says_zero(y, x, value),
        (LLVMIntULT, true) | (LLVMIntUGE, false) => below(0),
        (LLVMIntULE, true) | (LLVMIntUGT, false) => below(1),
        _ => false,
    }
}

/// Whether it says that a value is 0 that `x` is below a number.
fn bound_says_zero(x: Value, bound: u64, value: Value) -> bool {
    if bound == 1 && equality_says_zero(x, splat(x.ty(), 0), value) {
        return true;
    }
    if !value.is_instruction() || value.operand_count() != 2 || value.operand(0) != x {
        return false;
    }
    let by = value.operand(1).as_constant_int();
    match value.opcode() {
        LLVMLShr => by.is_some_and(|by| bound <= 1 << by.min(63)),
        LLVMUDiv => by.is_some_and(|by| bound <= by),
        _ => false,
    }
}

/// Whether `x == y` says that a value is 0.
fn equality_says_zero(x: Value, y: Value, value: Value) -> bool {
    if scalar(y).integer_bits() == 0 {
        return false;
    }
    let is_zero = y == splat(y.ty(), 0);
    if x == value {
        return is_zero;
    }
    if !value.is_instruction() {
        return false;
    }
    let operand = |i: u32| value.operand(i);
    match value.opcode() {
        LLVMSub => operand(0) == x && operand(1) == y,
        LLVMAdd if operand(0) == x => {
            let sum = y.as_signed_constant().zip(operand(1).as_signed_constant()).map(|(y, step)| y.wrapping_add(step));
            sum.is_some_and(|sum| splat(value.ty(), sum) == splat(value.ty(), 0))
        }
        LLVMMul | LLVMAnd => is_zero && (operand(0) == x || operand(1) == x),
        LLVMShl | LLVMZExt | LLVMSExt => is_zero && operand(0) == x,
        LLVMFreeze => operand(0) == x && is_zero,
        _ => false,
    }
}

/// Removes a choice and what it is made of, as far as nothing reads it.
fn erase_unused(value: Value) {
    let mut waiting = vec![value];
    let mut erased = FxHashSet::default();
    while let Some(v) = waiting.pop() {
        if erased.contains(&v) || !v.is_instruction() || v.has_uses() {
            continue;
        }
        let is_part = match v.opcode() {
            LLVMSelect | LLVMICmp | LLVMAnd | LLVMOr | LLVMFreeze | LLVMZExt | LLVMSExt => true,
            LLVMCall => v.called_name().starts_with(GREATER),
            _ => false,
        };
        if is_part {
            waiting.extend(v.operands());
            erase(v);
            erased.insert(v);
        }
    }
}
