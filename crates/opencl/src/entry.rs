//! What every entry point does around its work: a panic stays inside, an error becomes its code, and those who
//! watch the program (`--trace`, `--check=api`) learn of it.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use opencl_sys::{CL_OUT_OF_HOST_MEMORY, CL_SUCCESS, cl_int};

use crate::core::platform;
use crate::error::{Outcome, error};

/// Runs the work of an entry point.
fn run<T>(function: &'static str, work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    let watch = platform::watch(function);
    let result = catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(error(CL_OUT_OF_HOST_MEMORY, "the driver failed inside; its message is above")));
    watch.ended(result.as_ref().err());
    result
}

/// An entry point that returns a status.
pub fn status(function: &'static str, work: impl FnOnce() -> Outcome) -> cl_int {
    run(function, work).map_or_else(|e| e.code, |()| CL_SUCCESS)
}

/// An entry point that returns a handle or pointer, null if it fails, and its status through a pointer.
///
/// # Safety
/// `errcode_ret` is null or a place for a status.
pub unsafe fn made(function: &'static str, errcode_ret: *mut cl_int, work: impl FnOnce() -> Outcome<*mut c_void>) -> *mut c_void {
    let (handle, code) = match run(function, work) {
        Ok(handle) => (handle, CL_SUCCESS),
        Err(e) => (std::ptr::null_mut(), e.code),
    };
    if !errcode_ret.is_null() {
        // SAFETY: the caller says so.
        unsafe { errcode_ret.write_unaligned(code) };
    }
    handle
}

/// A slice of what a program passes as a pointer and a number; empty for null.
///
/// # Safety
/// The pointer is null or to as many initialised elements, which nobody changes meanwhile.
pub unsafe fn slice<'a, T>(pointer: *const T, count: usize) -> &'a [T] {
    if pointer.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller says so; C gives arrays of handles and numbers at their alignment.
    unsafe { std::slice::from_raw_parts(pointer, count) }
}
