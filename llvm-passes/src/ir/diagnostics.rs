//! LLVM's messages as values. Without a handler LLVM writes them to standard error, and ends the process after an error.

use std::ffi::c_void;

use inkwell::context::AsContextRef;
use inkwell::llvm_sys::LLVMDiagnosticSeverity;
use inkwell::llvm_sys::core::{
    LLVMContextSetDiagnosticHandler, LLVMDisposeMessage, LLVMGetDiagInfoDescription, LLVMGetDiagInfoSeverity,
};
use inkwell::llvm_sys::prelude::LLVMDiagnosticInfoRef;
use inkwell::module::Module;

use super::value::copied;

/// What LLVM has said.
#[derive(Debug, Default)]
pub struct Messages {
    /// What kept it from going on.
    pub errors: Vec<String>,
    /// What it could not do, as `file:line:column: text`.
    pub warnings: Vec<String>,
}

/// Takes a message down; `messages` is null, or some [`Messages`].
extern "C" fn note(info: LLVMDiagnosticInfoRef, messages: *mut c_void) {
    // SAFETY: LLVM gives a live diagnostic, and `messages` as it was set: null, or messages that live as long as they
    // are set. The description is freed after its last use.
    unsafe {
        let Some(messages) = messages.cast::<Messages>().as_mut() else { return };
        let list = match LLVMGetDiagInfoSeverity(info) {
            LLVMDiagnosticSeverity::LLVMDSError => &mut messages.errors,
            LLVMDiagnosticSeverity::LLVMDSWarning => &mut messages.warnings,
            _ => return,
        };
        let text = LLVMGetDiagInfoDescription(info);
        let length = std::ffi::CStr::from_ptr(text).count_bytes();
        list.push(String::from_utf8_lossy(&copied(text, length)).into_owned());
        LLVMDisposeMessage(text);
    }
}

fn set_handler(module: &Module, messages: *mut c_void) {
    // SAFETY: a live context, and a function of the type that LLVM calls.
    unsafe { LLVMContextSetDiagnosticHandler(module.get_context().as_ctx_ref(), Some(note), messages) }
}

/// From now on LLVM says nothing of a module's context. What fails still returns its error.
pub fn be_quiet(module: &Module) {
    set_handler(module, std::ptr::null_mut());
}

/// Does something to a module and gives what LLVM says meanwhile. The context is quiet afterwards ([`be_quiet`]).
pub fn noting<T>(module: &Module, action: impl FnOnce() -> T) -> (T, Messages) {
    let mut messages = Messages::default();
    set_handler(module, (&raw mut messages).cast());
    let result = action();
    be_quiet(module);
    (result, messages)
}
