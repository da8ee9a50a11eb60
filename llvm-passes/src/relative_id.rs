//! Global ids that programs make by hand: `get_group_id(d) * get_local_size(d) + get_local_id(d)`.
//!
//! # Problem
//! Programs that come from CUDA write their global id so, and the machine has it ready in a special
//! register.
//!
//! # Algorithm
//! Every integer sum is taken apart into its terms. If one is a local id and another the product of
//! the work-group id and the work-group's size in the same dimension, the two become one call of
//! `__heddle_relative_id(d)`, which selection reads from `rid`. With the size of this work-group
//! that is what `rid` is, whatever the launch. With the enqueued size, or the number that
//! `reqd_work_group_size` says, it is the global id less the global offset, and `rid`, too, where
//! all work-groups have one size.
//!
//! # Why it is exact
//! Global ids are below 2³² (other launches are refused), and so are the parts of the sum: in 64
//! bits nothing overflows, and in 32 bits the sum is the id's low word. A work-group id that is
//! *sign*-extended on the way is left alone.
//!
//! # Limits
//! A product and an id that an extension of their own separates from each other stay apart.
//!
//! Reads LLVM IR; changes sums only. [`crate::prepare`] runs it twice: before ids get their ranges, and before it puts loops into
//! their form, when more sums stand in one place.

use std::ffi::CStr;

use inkwell::llvm_sys::LLVMAttributeFunctionIndex;
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::module::Module;

use crate::builtins::{self, Builtin, Query};
use crate::error::PassError;
use crate::ir::build::{Builder, UNNAMED, context_of};
use crate::ir::function::{self, attribute_kind, required_work_group_size};
use crate::ir::{self, Value};

/// More terms than a sum has that is worth looking at.
const MOST_TERMS: usize = 8;

const RELATIVE_ID: &CStr = c"__heddle_relative_id";
const GLOBAL_ID: &CStr = c"_Z13get_global_idj";
const GLOBAL_OFFSET: &CStr = c"_Z17get_global_offsetj";

/// Whose size a work-group id is multiplied by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    /// This work-group's.
    Own,
    /// That of all work-groups but the last of a dimension.
    Enqueued,
}

/// Replaces the sums in all functions of a module.
///
/// # Errors
/// LLVM's message, when what is left over is removed.
pub fn rewrite(module: &Module) -> Result<(), PassError> {
    let mut changed = false;
    for function in function::bodies(module) {
        let facts = KernelFacts::of(function);
        let sums: Vec<Value> = ir::blocks(function).into_iter().flat_map(|b| b.instructions()).filter(|i| is_sum(*i)).collect();
        for sum in sums {
            changed |= rewrite_sum(module, sum, &facts);
        }
    }
    if changed {
        ir::llvm_passes::run(module, "function(early-cse,dce)")?;
    }
    Ok(())
}

/// The dimension whose id in the launch a sum is, made by hand, if it is nothing else, and whether that rests on the size of
/// this work-group alone.
pub(crate) fn made_by_hand(function: Value, sum: Value) -> Option<(u32, bool)> {
    let facts = KernelFacts::of(function);
    let mut all = Vec::new();
    if is_sum(sum) {
        terms(sum, &mut all);
    }
    let [x, y] = all[..] else { return None };
    let pair = |id: Value, by: Value| {
        let (d, size) = product(by, &facts)?;
        (query(id)? == (Query::LocalId, d)).then_some((d, facts.whole || size == Size::Own))
    };
    pair(x, y).or_else(|| pair(y, x))
}

/// What a kernel says of its launches.
struct KernelFacts {
    /// `reqd_work_group_size`.
    required: Option<[u32; 3]>,
    /// All work-groups have one size.
    whole: bool,
}

impl KernelFacts {
    fn of(function: Value) -> KernelFacts {
        KernelFacts { required: required_work_group_size(function), whole: function::uniform_work_groups(function) }
    }
}

fn is_sum(i: Value) -> bool {
    let adds = |i: Value| i.opcode() == LLVMAdd || i.is_disjoint();
    i.is_instruction() && matches!(i.integer_bits(), 32 | 64) && adds(i)
}

/// The terms of a sum.
fn terms(sum: Value, found: &mut Vec<Value>) {
    let mut open = vec![sum];
    while let Some(sum) = open.pop() {
        for operand in [sum.operand(0), sum.operand(1)] {
            if found.len() + open.len() < MOST_TERMS && is_sum(operand) {
                open.push(operand);
            } else {
                found.push(operand);
            }
        }
    }
}

/// The query and dimension that an integer is the answer of, in as many bits as it has.
pub(crate) fn query(v: Value) -> Option<(Query, u32)> {
    let narrow = v.integer_bits() == 32;
    let (mut at, mut signed) = (v, false);
    while at.is_instruction() && at.integer_bits() >= 32 {
        match at.opcode() {
            LLVMTrunc | LLVMZExt | LLVMFreeze => {}
            LLVMSExt => signed |= !narrow,
            LLVMCall => {
                let Some(Builtin::Query(q)) = builtins::of_call(at) else { return None };
                let d = at.operand(0).as_constant_int().filter(|d| q.has_dimension() && *d < 3)? as u32;
                return (!signed || matches!(q, Query::LocalId | Query::LocalSize | Query::EnqueuedLocalSize)).then_some((q, d));
            }
            _ => return None,
        }
        at = at.operand(0);
    }
    None
}

/// The dimension whose work-group id an integer has multiplied by the work-group's size.
fn product(v: Value, facts: &KernelFacts) -> Option<(u32, Size)> {
    let mut at = v;
    // The product is below 2³²; its low word, extended by zeros, is itself.
    while at.is_instruction() && (at.opcode() == LLVMZExt || at.opcode() == LLVMTrunc) && at.integer_bits() >= 32 {
        at = at.operand(0);
    }
    if !at.is_instruction() || at.integer_bits() < 32 {
        return None;
    }
    let (a, b) = match at.opcode() {
        LLVMMul | LLVMShl => (at.operand(0), at.operand(1)),
        _ => return None,
    };
    let required = |d: u32, n: u64| facts.required.is_some_and(|r| u64::from(r[d as usize]) == n);
    for (group, size) in [(a, b), (b, a)] {
        let Some((Query::GroupId, d)) = query(group) else { continue };
        let whose = match (at.opcode(), size.as_constant_int()) {
            (LLVMShl, Some(n)) if size == b && n < 32 && required(d, 1 << n) => Size::Enqueued,
            (LLVMMul, Some(n)) if required(d, n) => Size::Enqueued,
            (LLVMMul, None) => match query(size) {
                Some((Query::LocalSize, e)) if d == e => Size::Own,
                Some((Query::EnqueuedLocalSize, e)) if d == e => Size::Enqueued,
                _ => continue,
            },
            _ => continue,
        };
        return Some((d, whose));
    }
    None
}

fn rewrite_sum(module: &Module, sum: Value, facts: &KernelFacts) -> bool {
    let mut all = Vec::new();
    terms(sum, &mut all);
    let products = all.iter().enumerate().filter_map(|(i, v)| Some((i, product(*v, facts)?)));
    let ids: Vec<(usize, u32)> =
        all.iter().enumerate().filter_map(|(i, v)| query(*v).filter(|q| q.0 == Query::LocalId).map(|q| (i, q.1))).collect();
    let mut pairs = products.filter_map(|(i, (d, size))| Some((i, ids.iter().find(|id| id.1 == d)?.0, d, size)));
    let Some((product, id, d, size)) = pairs.next() else { return false };
    let rest = all.iter().enumerate().filter(|(i, _)| *i != product && *i != id).map(|(_, v)| *v);
    replace(module, sum, d, facts.whole || size == Size::Own, rest);
    true
}

/// Puts the id of a dimension and the rest of a sum in the sum's place.
fn replace(module: &Module, sum: Value, d: u32, relative: bool, rest: impl Iterator<Item = Value>) {
    let b = Builder::before(context_of(module), sum);
    // SAFETY: a live instruction of the module, operands of it and of its operands, which stand
    // before it, and types of its context. Nothing uses the instruction when it is erased.
    unsafe {
        let word = LLVMTypeOf(sum.0);
        let call = |name: &CStr| call(module, &b, name, d);
        let id = match relative {
            true => call(RELATIVE_ID),
            false => LLVMBuildSub(b.0, call(GLOBAL_ID), call(GLOBAL_OFFSET), UNNAMED),
        };
        let id = if sum.integer_bits() == 32 { LLVMBuildTrunc(b.0, id, word, UNNAMED) } else { id };
        let new = rest.fold(id, |left, right| LLVMBuildAdd(b.0, left, right.0, UNNAMED));
        if Value(new).is_instruction() {
            LLVMInstructionSetDebugLoc(new, LLVMInstructionGetDebugLoc(sum.0));
        }
        LLVMReplaceAllUsesWith(sum.0, new);
        LLVMInstructionEraseFromParent(sum.0);
    }
}

/// A call of a work-item function for a dimension, which gives 64 bits.
fn call(module: &Module, b: &Builder, name: &CStr, d: u32) -> LLVMValueRef {
    let context = context_of(module);
    // SAFETY: a live module and types of its context; a builder with a place.
    unsafe {
        let word = LLVMInt32TypeInContext(context);
        let ty = LLVMFunctionType(LLVMInt64TypeInContext(context), [word].as_mut_ptr(), 1, 0);
        let mut function = LLVMGetNamedFunction(module.as_mut_ptr(), name.as_ptr());
        if function.is_null() {
            function = LLVMAddFunction(module.as_mut_ptr(), name.as_ptr(), ty);
            // It reads no memory, ends, and does nothing else.
            for attribute in ["memory", "nounwind", "willreturn"] {
                let attribute = LLVMCreateEnumAttribute(context, attribute_kind(attribute), 0);
                LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, attribute);
            }
        }
        LLVMBuildCall2(b.0, ty, function, [LLVMConstInt(word, u64::from(d), 0)].as_mut_ptr(), 1, UNNAMED)
    }
}
