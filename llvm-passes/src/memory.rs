//! What pointers point to, and what instructions do to the memory of a kernel.
//!
//! # Problem
//! Whether a load gives all work-items the same depends on where its pointer comes from and on
//! whether anything writes there while the kernel runs. LLVM's C API has no alias analysis; what is
//! here follows address arithmetic only.
//!
//! # Limits
//! A pointer that was chosen by a phi or select has no single origin, and a pointer that is stored,
//! converted to an integer or passed on counts as written through. Every answer is the safe one
//! where that ends.

use inkwell::llvm_sys::LLVMOpcode::*;
use rustc_hash::FxHashSet;

use crate::builtins;
use crate::ir::address_space::{CONSTANT, GENERIC, GLOBAL, LOCAL};
use crate::ir::{Value, function, metadata};
use crate::printf;

/// More steps of address arithmetic than any real pointer has.
const MOST_STEPS: usize = 64;

/// What a pointer is computed from by address arithmetic and casts.
pub fn underlying(mut pointer: Value) -> Value {
    for _ in 0..MOST_STEPS {
        if pointer.is_instruction() && matches!(pointer.opcode(), LLVMGetElementPtr | LLVMBitCast | LLVMAddrSpaceCast) {
            pointer = pointer.operand(0);
        } else {
            break;
        }
    }
    pointer
}

/// Whether a pointer is into a private variable.
fn is_private(pointer: Value) -> bool {
    let root = underlying(pointer);
    root.is_instruction() && root.opcode() == LLVMAlloca
}

/// Whether a pointer is into a by-value structure argument that stays in the constant bank: the
/// same for all work-items.
pub fn is_by_value_argument(pointer: Value) -> bool {
    let root = underlying(pointer);
    root.is_argument() && root.address_space() == GENERIC && only_loaded(root)
}

/// Whether nothing but loads and copies use a by-value structure argument. Otherwise each work-item
/// has a copy of it in private memory.
pub fn only_loaded(pointer: Value) -> bool {
    pointer.users().all(|user| {
        user.is_instruction()
            && match user.opcode() {
                LLVMLoad => true,
                LLVMGetElementPtr | LLVMBitCast => only_loaded(user),
                LLVMCall => {
                    let name = user.called_name();
                    name.starts_with("llvm.lifetime") || name.starts_with("llvm.memcpy") && user.operand(1) == pointer
                }
                _ => false,
            }
    })
}

/// Whether nothing writes what a load reads while the kernel runs; `writes_global`: whether the
/// kernel may write global memory at all.
pub fn reads_constant(load: Value, writes_global: bool) -> bool {
    let pointer = load.operand(0);
    match pointer.address_space() {
        CONSTANT => true,
        GLOBAL => !writes_global || is_restrict_read_only(pointer) || metadata::is_attached(load, "invariant.load"),
        GENERIC => is_by_value_argument(pointer),
        _ => false,
    }
}

/// Whether an instruction may write global memory that a kernel reads: all but the buffer of
/// `printf`.
pub fn may_write_global(instruction: Value) -> bool {
    let writes = |p: Value| matches!(p.address_space(), GENERIC | GLOBAL) && !is_private(p);
    match instruction.opcode() {
        LLVMStore => writes(instruction.operand(1)) && !printf::is_buffer(instruction.operand(1)),
        LLVMAtomicRMW | LLVMAtomicCmpXchg => {
            let pointer = instruction.operand(0);
            pointer.address_space() != LOCAL && !printf::is_buffer(pointer)
        }
        LLVMCall => {
            let name = instruction.called_name();
            if ["llvm.memcpy", "llvm.memmove", "llvm.memset"].iter().any(|start| name.starts_with(start)) {
                return writes(instruction.operand(0));
            }
            !name.starts_with("llvm.") && builtins::by_name(&name).is_none() && !builtins::is_image_query(&name)
        }
        _ => false,
    }
}

/// Whether a pointer is into a `restrict` (noalias) argument through which this function provably
/// never writes.
fn is_restrict_read_only(pointer: Value) -> bool {
    let root = underlying(pointer);
    if !root.is_argument() {
        return false;
    }
    let has = |name| function::has_attribute(root, name);
    has("noalias") && (has("readonly") || has("readnone") || never_written_through(root))
}

/// Whether no store or atomic goes through the pointer or anything derived from it (and it does not
/// escape).
fn never_written_through(root: Value) -> bool {
    let mut seen = FxHashSet::default();
    let mut stack = vec![root];
    while let Some(pointer) = stack.pop() {
        if !seen.insert(pointer) {
            continue;
        }
        for user in pointer.users() {
            if !user.is_instruction() {
                return false;
            }
            match user.opcode() {
                LLVMLoad | LLVMICmp => {}
                LLVMGetElementPtr | LLVMBitCast | LLVMAddrSpaceCast | LLVMPHI | LLVMSelect => stack.push(user),
                _ => return false,
            }
        }
    }
    true
}
