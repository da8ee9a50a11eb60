//! Intrinsics that a few instructions do the work of, or a pass of LLVM's.
//!
//! # Problem
//! Front ends write `llvm.masked.load` for vectors of which some elements are not there, `llvm.matrix.multiply`, and what clang
//! makes of `__builtin_object_size`, `__builtin_align_down` and `__builtin_readcyclecounter`. Selection knows none of them.
//!
//! # Algorithm
//! LLVM's own passes take masked accesses apart into branches, matrices into vectors, and say what is known of objects' sizes; each
//! runs where there is something for it. `llvm.ptrmask` becomes an offset from its pointer, as the result is of the same
//! object; the cycle counter a call of Heddle's.
//!
//! # Reference
//! LLVM Language Reference, "Masked Vector Load and Store Intrinsics", "Matrix Intrinsics", "llvm.ptrmask".

use inkwell::llvm_sys::LLVMOpcode::LLVMCall;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::module::Module;

use crate::error::PassError;
use crate::ir::build::{Builder, UNNAMED, context_of, replace};
use crate::ir::{self, Value, function, llvm_passes};

/// Beginnings of names, and the pass that replaces those intrinsics.
const PASSES: [(&str, &str); 4] = [
    ("llvm.masked.", "scalarize-masked-mem-intrin"),
    ("llvm.matrix.", "lower-matrix-intrinsics<minimal>"),
    ("llvm.objectsize.", "lower-constant-intrinsics"),
    ("llvm.is.constant.", "lower-constant-intrinsics"),
];

/// Replaces the intrinsics of a module.
///
/// # Errors
/// LLVM's message.
pub fn expand(module: &Module) -> Result<(), PassError> {
    let declared: Vec<String> = module
        .get_functions()
        .filter(|f| f.count_basic_blocks() == 0)
        .map(|f| f.get_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("llvm."))
        .collect();
    let mut passes: Vec<&str> = Vec::new();
    for (start, pass) in PASSES {
        if !passes.contains(&pass) && declared.iter().any(|name| name.starts_with(start)) {
            passes.push(pass);
        }
    }
    if !passes.is_empty() {
        llvm_passes::run(module, &format!("function({})", passes.join(",")))?;
    }
    if declared.iter().any(|name| name.starts_with("llvm.ptrmask.") || name == "llvm.readcyclecounter") {
        expand_calls(module);
    }
    Ok(())
}

fn expand_calls(module: &Module) {
    let all = function::bodies(module).into_iter().flat_map(ir::blocks).flat_map(|b| b.instructions());
    let calls: Vec<Value> = all.filter(|i| i.opcode() == LLVMCall).collect();
    for call in calls {
        let b = Builder::before(context_of(module), call);
        match call.called_name() {
            name if name.starts_with("llvm.ptrmask.") => replace(call, masked(module, &b, call)),
            name if name == "llvm.readcyclecounter" => replace(call, cycles(module, &b, call)),
            _ => {}
        }
    }
}

/// `pointer + ((address & mask) - address)`.
fn masked(module: &Module, b: &Builder, call: Value) -> Value {
    let (pointer, mask) = (call.operand(0), call.operand(1));
    // SAFETY: live values of the call: a pointer, and an integer of its size.
    unsafe {
        let address = LLVMBuildPtrToInt(b.0, pointer.0, mask.ty(), UNNAMED);
        let rounded = LLVMBuildAnd(b.0, address, mask.0, UNNAMED);
        let mut offset = LLVMBuildSub(b.0, rounded, address, UNNAMED);
        let byte = LLVMInt8TypeInContext(context_of(module));
        Value(LLVMBuildGEP2(b.0, byte, pointer.0, &mut offset, 1, UNNAMED))
    }
}

/// The SM's cycle counter, of which the machine reads the low 32 bits.
fn cycles(module: &Module, b: &Builder, call: Value) -> Value {
    const NAME: &std::ffi::CStr = c"__heddle_clock";
    // SAFETY: a live module; the function takes nothing and returns 32 bits.
    unsafe {
        let word = LLVMInt32TypeInContext(context_of(module));
        let ty = LLVMFunctionType(word, std::ptr::null_mut(), 0, 0);
        let function: LLVMValueRef = match LLVMGetNamedFunction(module.as_mut_ptr(), NAME.as_ptr()) {
            none if none.is_null() => LLVMAddFunction(module.as_mut_ptr(), NAME.as_ptr(), ty),
            known => known,
        };
        let low = LLVMBuildCall2(b.0, ty, function, std::ptr::null_mut(), 0, UNNAMED);
        Value(LLVMBuildZExt(b.0, low, call.ty(), UNNAMED))
    }
}
