//! LLVM's own passes, run over a module by their names.

use std::ffi::{CStr, CString};

use inkwell::llvm_sys::core::LLVMDisposeMessage;
use inkwell::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use inkwell::llvm_sys::target::{LLVMInitializeNVPTXTarget, LLVMInitializeNVPTXTargetInfo, LLVMInitializeNVPTXTargetMC};
use inkwell::llvm_sys::target_machine::*;
use inkwell::llvm_sys::transforms::pass_builder::LLVMRunPasses;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;

use crate::error::PassError;

/// Runs a pipeline of LLVM's on a module, with the target-independent cost model. The vectorizers
/// stay off: lanes are the vector.
///
/// # Errors
/// LLVM's message.
pub fn run(module: &Module, pipeline: &str) -> Result<(), PassError> {
    // SAFETY: null stands for no target machine.
    unsafe { run_for(module, pipeline, std::ptr::null_mut()) }
}

/// As [`run`], with the cost model and address spaces of a target.
///
/// # Safety
/// `machine` is null or live.
///
/// # Errors
/// LLVM's message.
unsafe fn run_for(module: &Module, pipeline: &str, machine: LLVMTargetMachineRef) -> Result<(), PassError> {
    let options = PassBuilderOptions::create();
    options.set_loop_vectorization(false);
    options.set_loop_slp_vectorization(false);
    options.set_verify_each(cfg!(debug_assertions));
    let text = CString::new(pipeline).map_err(|e| PassError::Llvm(e.to_string()))?;
    // SAFETY: module, options and text are live, the machine by the caller's promise. The message
    // is copied and freed.
    unsafe {
        let error = LLVMRunPasses(module.as_mut_ptr(), text.as_ptr(), machine, options.as_mut_ptr());
        if error.is_null() {
            return Ok(());
        }
        let message = LLVMGetErrorMessage(error);
        let result = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        Err(PassError::Llvm(result))
    }
}

/// Runs LLVM's address-space inference as for the NVPTX target, whose address spaces these are.
///
/// # Errors
/// LLVM's message.
pub fn infer_address_spaces(module: &Module) -> Result<(), PassError> {
    let fail = |what: &str| PassError::Llvm(format!("{what}: LLVM has no NVPTX target, which generic pointers need"));
    // SAFETY: initialisation may be repeated; message and target machine are disposed of after
    // their only use.
    unsafe {
        LLVMInitializeNVPTXTargetInfo();
        LLVMInitializeNVPTXTarget();
        LLVMInitializeNVPTXTargetMC();
        let triple = c"nvptx64--";
        let mut target = std::ptr::null_mut();
        let mut message = std::ptr::null_mut();
        if LLVMGetTargetFromTriple(triple.as_ptr(), &mut target, &mut message) != 0 {
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            LLVMDisposeMessage(message);
            return Err(fail(&text));
        }
        let machine = LLVMCreateTargetMachine(
            target,
            triple.as_ptr(),
            c"".as_ptr(),
            c"".as_ptr(),
            LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
            LLVMRelocMode::LLVMRelocDefault,
            LLVMCodeModel::LLVMCodeModelDefault,
        );
        if machine.is_null() {
            return Err(fail("creating the target machine"));
        }
        let result = run_for(module, "function(infer-address-spaces)", machine);
        LLVMDisposeTargetMachine(machine);
        result
    }
}
