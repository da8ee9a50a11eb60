//! Linking modules, with LLVM's messages as values.

use inkwell::llvm_sys::linker::LLVMLinkModules2;
use inkwell::module::Module;

use super::diagnostics;

/// Moves what `other` has into `module`. The context is quiet afterwards ([`diagnostics::be_quiet`]).
///
/// # Errors
/// LLVM's messages, one a line.
pub fn link(module: &Module, other: Module) -> Result<(), String> {
    let (failed, messages) = diagnostics::noting(module, || {
        let other = std::mem::ManuallyDrop::new(other);
        // SAFETY: two live modules of a context; LLVM frees the second, so it is forgotten here.
        unsafe { LLVMLinkModules2(module.as_mut_ptr(), other.as_mut_ptr()) != 0 }
    });
    match failed {
        true if messages.errors.is_empty() => Err("LLVM could not link the modules".into()),
        true => Err(messages.errors.join("\n")),
        false => Ok(()),
    }
}
