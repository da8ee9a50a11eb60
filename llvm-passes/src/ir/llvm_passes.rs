//! LLVM's own passes, run over a module by their names.

use std::ffi::{CStr, CString};
use std::sync::Once;

use inkwell::llvm_sys::core::LLVMDisposeMessage;
use inkwell::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use inkwell::llvm_sys::support::LLVMParseCommandLineOptions;
use inkwell::llvm_sys::target::{LLVMInitializeNVPTXTarget, LLVMInitializeNVPTXTargetInfo, LLVMInitializeNVPTXTargetMC};
use inkwell::llvm_sys::target_machine::*;
use inkwell::llvm_sys::transforms::pass_builder::LLVMRunPasses;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;

use crate::error::PassError;

/// What LLVM's passes are told beside their names. Lanes are the vector. Loops whose number of iterations only a launch knows are
/// not unrolled: the cost model of clang's target wants it, but Heddle does it by itself ([`crate::unroll`]). LLVM has these options
/// for a whole process only; of the vectorizers' switches that a pipeline may have LLVM 19 takes no notice.
const OPTIONS: [&CStr; 3] = [c"-unroll-runtime=false", c"-vectorize-loops=false", c"-vectorize-slp=false"];

/// Whether they have been said.
static SAID: Once = Once::new();

/// Runs a pipeline of LLVM's on a module, with the target-independent cost model.
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
    options.set_verify_each(cfg!(debug_assertions));
    let text = CString::new(pipeline).map_err(|e| PassError::Llvm(e.to_string()))?;
    SAID.call_once(|| {
        let words: Vec<_> = [c"heddle"].iter().chain(&OPTIONS).map(|word| word.as_ptr()).collect();
        // SAFETY: as many texts as are said, each with its end.
        unsafe { LLVMParseCommandLineOptions(words.len() as i32, words.as_ptr(), std::ptr::null()) };
    });
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
    run_for_target(module, "function(infer-address-spaces)")
}

/// Runs a pipeline as for the NVPTX target, for which clang compiles: with its cost model and its address spaces.
///
/// # Errors
/// LLVM's message.
pub fn run_for_target(module: &Module, pipeline: &str) -> Result<(), PassError> {
    let fail = |what: &str| PassError::Llvm(format!("{what}: LLVM has no NVPTX target, which IR is compiled for"));
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
        let result = run_for(module, pipeline, machine);
        LLVMDisposeTargetMachine(machine);
        result
    }
}
