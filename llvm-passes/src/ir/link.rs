//! Linking modules, with LLVM's messages as values.

use std::ffi::c_void;

use inkwell::context::AsContextRef;
use inkwell::llvm_sys::core::{
    LLVMContextSetDiagnosticHandler, LLVMDisposeMessage, LLVMGetDiagInfoDescription, LLVMGetDiagInfoSeverity,
};
use inkwell::llvm_sys::linker::LLVMLinkModules2;
use inkwell::llvm_sys::prelude::{LLVMContextRef, LLVMDiagnosticInfoRef};
use inkwell::llvm_sys::{LLVMDiagnosticHandler, LLVMDiagnosticSeverity};
use inkwell::module::Module;

use super::value::copied;

/// Takes errors down; `messages` is a vector of them, or null.
extern "C" fn note(info: LLVMDiagnosticInfoRef, messages: *mut c_void) {
    // SAFETY: LLVM gives a live diagnostic, and `messages` as it was set: null, or the vector that lives
    // while the modules are linked. The description is freed after its last use.
    unsafe {
        let Some(messages) = messages.cast::<Vec<String>>().as_mut() else { return };
        if !matches!(LLVMGetDiagInfoSeverity(info), LLVMDiagnosticSeverity::LLVMDSError) {
            return;
        }
        let text = LLVMGetDiagInfoDescription(info);
        let length = std::ffi::CStr::from_ptr(text).count_bytes();
        messages.push(String::from_utf8_lossy(&copied(text, length)).into_owned());
        LLVMDisposeMessage(text);
    }
}

fn set_handler(context: LLVMContextRef, handler: LLVMDiagnosticHandler, messages: *mut c_void) {
    // SAFETY: a live context, and a function of the type that LLVM calls.
    unsafe { LLVMContextSetDiagnosticHandler(context, handler, messages) }
}

/// From now on LLVM says nothing of a module's context: without a handler it would write to standard error,
/// and end the process after an error. What fails still returns its error.
pub fn be_quiet(module: &Module) {
    set_handler(module.get_context().as_ctx_ref(), Some(note), std::ptr::null_mut());
}

/// Moves what `other` has into `module`. The context is quiet afterwards ([`be_quiet`]).
///
/// # Errors
/// LLVM's messages, one a line.
pub fn link(module: &Module, other: Module) -> Result<(), String> {
    let context = module.get_context().as_ctx_ref();
    let mut messages: Vec<String> = Vec::new();
    set_handler(context, Some(note), (&raw mut messages).cast());
    // SAFETY: two live modules of a context; LLVM frees the second, so it is forgotten here.
    let failed = unsafe {
        let other = std::mem::ManuallyDrop::new(other);
        LLVMLinkModules2(module.as_mut_ptr(), other.as_mut_ptr()) != 0
    };
    set_handler(context, Some(note), std::ptr::null_mut());
    match failed {
        true if messages.is_empty() => Err("LLVM could not link the modules".into()),
        true => Err(messages.join("\n")),
        false => Ok(()),
    }
}
