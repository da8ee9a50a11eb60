//! Objects that LLVM has compiled, brought into memory and linked with this process.
//!
//! Code that was compiled just now and code that was kept take the same way: an object in memory, LLVM's JITLink
//! by way of ORC's C API. Sections of an object lie side by side, wherever the host has room for them, and calls
//! of the host's functions go through a table there, so that addresses of any width reach all of it. Every object
//! has a linker of its own (an `LLJIT`: a third of a millisecond), so that host threads share nothing and the memory goes with
//! it.
//!
//! Code that refers to a function that this process lacks is refused here; the kernel is then interpreted.

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

use inkwell::llvm_sys::core::LLVMCreateMemoryBufferWithMemoryRangeCopy;
use inkwell::llvm_sys::error::{LLVMConsumeError, LLVMErrorRef};
use inkwell::llvm_sys::orc2::lljit::*;
use inkwell::llvm_sys::orc2::{LLVMOrcExecutionSessionSetErrorReporter, LLVMOrcExecutorAddress};

use super::Frame;

/// The name of the function in every object.
pub(super) const NAME: &CStr = c"warp";

/// What compiled code is, seen from its caller.
pub(super) type Function = extern "C" fn(*mut Frame) -> u32;

/// An object in memory, ready to run.
pub(super) struct Loaded {
    /// Its function. It may be called while this lives.
    pub function: Function,
    _linker: Linker,
}

// SAFETY: after it is built, only the function pointer is used, and the code it points to does not change; the linker is
// touched once more, by the one who drops it.
unsafe impl Send for Loaded {}
// SAFETY: as above.
unsafe impl Sync for Loaded {}

/// A linker that has no code yet; goes with all that was loaded.
struct Linker(LLVMOrcLLJITRef);

impl Drop for Linker {
    fn drop(&mut self) {
        // SAFETY: it was created by `Linker::new`, and nobody else has it.
        unsafe { ignore(LLVMOrcDisposeLLJIT(self.0)) };
    }
}

/// Whether a call of LLVM's has worked.
///
/// # Safety
/// The error is one that nobody has taken.
unsafe fn ignore(error: LLVMErrorRef) -> bool {
    if error.is_null() {
        return true;
    }
    // SAFETY: the caller's error, which is taken here.
    unsafe { LLVMConsumeError(error) };
    false
}

/// What the linker says goes nowhere: whoever asked is told that it has not worked.
extern "C" fn say_nothing(_: *mut c_void, error: LLVMErrorRef) {
    // SAFETY: a reporter takes the error.
    unsafe { ignore(error) };
}

impl Linker {
    fn new() -> Option<Linker> {
        let mut jit = null_mut();
        // SAFETY: no builder means the usual one: for this host, with the functions of this process.
        unsafe {
            if !ignore(LLVMOrcCreateLLJIT(&raw mut jit, null_mut())) || jit.is_null() {
                return None;
            }
            LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(jit), say_nothing, null_mut());
        }
        Some(Linker(jit))
    }
}

impl Loaded {
    /// Links an object. LLVM's target for the host must have been initialised.
    ///
    /// # Safety
    /// The object is one that `compile` made in this build of Heddle for this host's processor: what is in it will be run.
    pub unsafe fn new(object: &[u8]) -> Option<Loaded> {
        let linker = Linker::new()?;
        let mut address: LLVMOrcExecutorAddress = 0;
        // SAFETY: the buffer is a copy, which the linker takes over, whether it works or not.
        unsafe {
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(object.as_ptr().cast(), object.len(), NAME.as_ptr());
            if buffer.is_null() {
                return None;
            }
            let library = LLVMOrcLLJITGetMainJITDylib(linker.0);
            if !ignore(LLVMOrcLLJITAddObjectFile(linker.0, library, buffer)) {
                return None;
            }
            if !ignore(LLVMOrcLLJITLookup(linker.0, &raw mut address, NAME.as_ptr())) || address == 0 {
                return None;
            }
        }
        // SAFETY: the function has this type (`Build::function`).
        let function = unsafe { std::mem::transmute::<usize, Function>(address as usize) };
        Some(Loaded { function, _linker: linker })
    }
}
