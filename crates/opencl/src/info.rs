//! Answers to `clGet…Info`: values written the way all of these entry points give them.

use std::ffi::{CString, c_void};

use opencl_sys::{CL_INVALID_VALUE, cl_bool, cl_uint};

use crate::error::{Outcome, fail};

/// Where an answer goes: a room of some bytes, and the place for the answer's size.
#[derive(Clone, Copy)]
pub struct Room {
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
}

/// An answer's bytes.
pub struct Answer(Vec<u8>);

/// A number or structure without padding that an answer may have.
///
/// # Safety
/// Every byte of a value is initialised.
pub unsafe trait Plain: Copy {}
macro_rules! plain {
    ($($t:ty),*) => {$(
        // SAFETY: a number, or an array or structure of numbers of one size: without padding.
        unsafe impl Plain for $t {}
    )*};
}
plain!(u8, u32, i32, u64, usize, isize, [usize; 3], opencl_sys::cl_image_format);
// SAFETY: a pointer has no padding.
unsafe impl Plain for *mut c_void {}
// SAFETY: four bytes, then 64, without padding.
unsafe impl Plain for opencl_sys::cl_name_version {}

impl Answer {
    /// A value.
    pub fn of<T: Plain>(value: T) -> Answer {
        Answer::all(&[value])
    }

    /// Several values.
    pub fn all<T: Plain>(values: &[T]) -> Answer {
        // SAFETY: the bytes of a slice of `Plain` values are all initialised.
        let bytes = unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) };
        Answer(bytes.to_vec())
    }

    /// A `cl_bool`.
    pub fn truth(value: bool) -> Answer {
        Answer::of(cl_bool::from(value))
    }

    /// A `cl_uint` of a number that fits it, else the largest.
    pub fn uint(value: usize) -> Answer {
        Answer::of(cl_uint::try_from(value).unwrap_or(cl_uint::MAX))
    }

    /// A text, with the zero behind it. A zero inside ends it.
    pub fn text(text: &str) -> Answer {
        let bytes = text.as_bytes();
        let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
        let text = CString::new(&bytes[..end]).unwrap_or_default();
        Answer(text.into_bytes_with_nul())
    }

    /// Nothing.
    pub fn empty() -> Answer {
        Answer(Vec::new())
    }
}

impl Room {
    /// What an entry point was given.
    ///
    /// # Safety
    /// `value` is null or has room for `size` bytes; `size_ret` is null or a place for a number.
    pub unsafe fn new(size: usize, value: *mut c_void, size_ret: *mut usize) -> Room {
        Room { size, value, size_ret }
    }

    /// Writes an answer.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE`: the room is too small.
    pub fn put(self, answer: &Answer) -> Outcome {
        let bytes = &answer.0;
        if !self.value.is_null() {
            if self.size < bytes.len() {
                let why = format!("the answer has {} bytes, param_value_size is {}", bytes.len(), self.size);
                return fail(CL_INVALID_VALUE, why);
            }
            // SAFETY: `new` says that there are as many bytes, and the answer is ours alone.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.value.cast(), bytes.len()) };
        }
        if !self.size_ret.is_null() {
            // SAFETY: `new` says that it is a place for a number; the program may have it unaligned.
            unsafe { self.size_ret.write_unaligned(bytes.len()) };
        }
        Ok(())
    }
}

/// The error for a question that there is not.
///
/// # Errors
/// Always.
pub fn unknown(param_name: u32) -> Outcome<Answer> {
    fail(CL_INVALID_VALUE, format!("there is no param_name {param_name:#x} here"))
}
