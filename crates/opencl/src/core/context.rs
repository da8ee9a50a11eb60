//! Contexts: what programs, memory and queues belong to.

use std::sync::Mutex;

use opencl_sys::{CL_INVALID_CONTEXT, cl_context, cl_context_properties, cl_int};

use super::callbacks::UserData;
use crate::object::{self, Kind, lock};

/// Is told of errors that no call reports: what was wrong, in words.
pub type Notify = unsafe extern "C" fn(*const std::ffi::c_char, *const std::ffi::c_void, usize, *mut std::ffi::c_void);
/// Is called when the context ends.
pub type Destructor = unsafe extern "C" fn(cl_context, *mut std::ffi::c_void);
/// Gets what kernels print: text, its length, whether it is the last piece (`cl_arm_printf`).
pub type PrintfCallback = unsafe extern "C" fn(*const std::ffi::c_char, usize, usize, *mut std::ffi::c_void);

/// A context.
pub struct Context {
    /// The properties as given, with the zero at the end; empty if none were.
    pub properties: Vec<cl_context_properties>,
    /// Who gets what kernels print, instead of standard output.
    pub printf: Option<(PrintfCallback, UserData)>,
    /// Bytes that a launch may print, if not as the device says.
    pub printf_room: Option<u32>,
    notify: Option<(Notify, UserData)>,
    destructors: Mutex<Vec<(Destructor, UserData)>>,
}

impl Kind for Context {
    const NAME: &'static str = "context";
    const INVALID: cl_int = CL_INVALID_CONTEXT;
    const OUTLIVES_REFERENCES: bool = true;
}

impl Context {
    /// A context of the device.
    pub fn new(properties: Vec<cl_context_properties>, notify: Option<(Notify, UserData)>) -> Context {
        Context { properties, printf: None, printf_room: None, notify, destructors: Mutex::default() }
    }

    /// Tells the program what went wrong.
    pub fn notify(&self, message: &str) {
        let Some((notify, data)) = self.notify else { return };
        let text = std::ffi::CString::new(message).unwrap_or_default();
        // SAFETY: the program gave the function for this, and its data; the text lives until it returns.
        unsafe { notify(text.as_ptr(), std::ptr::null(), 0, data.pointer()) };
    }

    /// Calls this when the context ends, the last one added first.
    pub fn on_end(&self, destructor: Destructor, data: UserData) {
        lock(&self.destructors).push((destructor, data));
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let destructors = std::mem::take(self.destructors.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner));
        for (destructor, data) in destructors.into_iter().rev() {
            // SAFETY: the program gave the function for this, and its data. The context has ended: its handle is a
            // name.
            unsafe { destructor(object::handle_of_value(self), data.pointer()) };
        }
    }
}
