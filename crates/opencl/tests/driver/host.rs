//! A host: the driver's library as a loader sees it, and short ways to its entry points.

use std::ffi::{CStr, CString, c_void};
use std::path::PathBuf;
use std::ptr::{null, null_mut};
use std::sync::{OnceLock, RwLock, RwLockReadGuard};

use opencl_sys::cl_icd::cl_icd_dispatch;
use opencl_sys::*;

/// The library of the same profile: `cargo build` puts it beside the tests, or one folder up.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let places = test.ancestors().skip(1).take(2).map(|f| f.join("libheddle_opencl.so"));
    places.into_iter().find(|p| p.exists()).unwrap_or_else(|| panic!("no libheddle_opencl.so beside {}", test.display()))
}

/// The function of the library with a name.
pub fn exported(name: &CStr) -> *mut c_void {
    static LIBRARY: OnceLock<usize> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| {
        let path = CString::new(library().into_os_string().into_encoded_bytes()).unwrap();
        // SAFETY: the library is ours; it stays until the process ends.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!library.is_null(), "{path:?} cannot be loaded");
        library as usize
    });
    // SAFETY: the handle is a library's, the name a string.
    unsafe { libc::dlsym(*library as *mut c_void, name.as_ptr()) }
}

/// The address of an extension's function, as the library tells it.
pub fn extension(name: &CStr) -> *mut c_void {
    type Get = unsafe extern "C" fn(*const std::ffi::c_char) -> *mut c_void;
    let get = exported(c"clGetExtensionFunctionAddress");
    assert!(!get.is_null());
    // SAFETY: the function has this type.
    unsafe { std::mem::transmute::<*mut c_void, Get>(get)(name.as_ptr()) }
}

/// The platform.
pub fn platform() -> cl_platform_id {
    type Get = unsafe extern "C" fn(cl_uint, *mut cl_platform_id, *mut cl_uint) -> cl_int;
    let get = extension(c"clIcdGetPlatformIDsKHR");
    let (mut platform, mut count) = (null_mut(), 0);
    // SAFETY: the function has this type; there is room for one platform.
    let code = unsafe { std::mem::transmute::<*mut c_void, Get>(get)(1, &raw mut platform, &raw mut count) };
    assert_eq!((code, count), (CL_SUCCESS, 1));
    platform
}

/// The table of entry points, which handles begin with.
pub fn table() -> &'static cl_icd_dispatch {
    // SAFETY: the specification of `cl_khr_icd`: what a handle points to begins with a pointer to the table.
    unsafe { &**platform().cast::<*const cl_icd_dispatch>() }
}

/// Calls an entry point through the table. What a test passes are handles that it has, null, or pointers to what
/// lives at least until the call returns; commands that do not block get memory that lives until they end.
#[macro_export]
macro_rules! cl {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        let function = $crate::host::table().$function.expect(stringify!($function));
        // SAFETY: see the macro.
        #[allow(unused_unsafe)]
        unsafe { function($($argument),*) }
    }};
}

/// Calls an entry point that must succeed.
#[macro_export]
macro_rules! ok {
    ($function:ident($($argument:expr),* $(,)?)) => {
        assert_eq!($crate::cl!($function($($argument),*)), opencl_sys::CL_SUCCESS, stringify!($function))
    };
}

/// Calls an entry point that makes something; its status is the last argument.
#[macro_export]
macro_rules! new {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        let mut code = 1;
        let made = $crate::cl!($function($($argument,)* &raw mut code));
        assert_eq!(code, opencl_sys::CL_SUCCESS, stringify!($function));
        assert!(!made.is_null(), stringify!($function));
        made
    }};
}

/// Tests that look at dead handles run alone: other tests' new objects could stand in the same place.
static ALONE: RwLock<()> = RwLock::new(());

/// A context with a queue.
pub struct Host {
    pub device: cl_device_id,
    pub context: cl_context,
    pub queue: cl_command_queue,
    _shared: Option<RwLockReadGuard<'static, ()>>,
}

// SAFETY: OpenCL's objects may be used from any thread.
unsafe impl Sync for Host {}

pub fn device() -> cl_device_id {
    let mut device = null_mut();
    ok!(clGetDeviceIDs(platform(), CL_DEVICE_TYPE_ALL, 1, &raw mut device, null_mut()));
    device
}

impl Host {
    pub fn new() -> Host {
        let shared = ALONE.read().unwrap_or_else(|e| e.into_inner());
        let mut host = Host::another();
        host._shared = Some(shared);
        host
    }

    /// One more in a test that has one, or runs alone.
    pub fn another() -> Host {
        let device = device();
        Host::of(new!(clCreateContext(null(), 1, &raw const device, None, null_mut())))
    }

    /// With a context that it will release.
    pub fn of(context: cl_context) -> Host {
        let device = device();
        let mut host = Host { device, context, queue: null_mut(), _shared: None };
        host.queue = host.queue_with(0);
        host
    }

    /// A host while no other test runs.
    pub fn alone(test: impl FnOnce(&Host)) {
        let _alone = ALONE.write().unwrap_or_else(|e| e.into_inner());
        test(&Host::another());
    }

    pub fn queue_with(&self, properties: cl_command_queue_properties) -> cl_command_queue {
        let list = [cl_queue_properties::from(CL_QUEUE_PROPERTIES as u32), properties as cl_queue_properties, 0];
        new!(clCreateCommandQueueWithProperties(self.context, self.device, list.as_ptr()))
    }

    pub fn out_of_order(&self) -> cl_command_queue {
        self.queue_with(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
    }

    /// A buffer of bytes.
    pub fn room(&self, bytes: usize) -> cl_mem {
        new!(clCreateBuffer(self.context, CL_MEM_READ_WRITE, bytes, null_mut()))
    }

    /// A buffer with contents.
    pub fn buffer<T: Copy>(&self, contents: &[T]) -> cl_mem {
        let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
        new!(clCreateBuffer(self.context, flags, size_of_val(contents), contents.as_ptr().cast_mut().cast()))
    }

    /// What a buffer has, after what is in the queue.
    pub fn read<T: Copy + Default>(&self, buffer: cl_mem, count: usize) -> Vec<T> {
        let mut result = vec![T::default(); count];
        let to = result.as_mut_ptr().cast();
        ok!(clEnqueueReadBuffer(self.queue, buffer, CL_TRUE, 0, size_of_val(&result[..]), to, 0, null(), null_mut()));
        result
    }

    pub fn source(&self, text: &str) -> cl_program {
        let (mut pointer, length) = (text.as_ptr().cast(), text.len());
        new!(clCreateProgramWithSource(self.context, 1, &raw mut pointer, &raw const length))
    }

    pub fn build(&self, program: cl_program, options: &CStr) -> cl_int {
        cl!(clBuildProgram(program, 1, &raw const self.device, options.as_ptr(), None, null_mut()))
    }

    pub fn log(&self, program: cl_program) -> String {
        text(|size, to, got| cl!(clGetProgramBuildInfo(program, self.device, CL_PROGRAM_BUILD_LOG, size, to, got)))
    }

    pub fn kernel_with(&self, source: &str, name: &CStr, options: &CStr) -> cl_kernel {
        let program = self.source(source);
        assert_eq!(self.build(program, options), CL_SUCCESS, "{}", self.log(program));
        let kernel = new!(clCreateKernel(program, name.as_ptr()));
        ok!(clReleaseProgram(program));
        kernel
    }

    /// A kernel of OpenCL C 3.0.
    pub fn kernel(&self, source: &str, name: &CStr) -> cl_kernel {
        self.kernel_with(source, name, c"-cl-std=CL3.0")
    }

    /// Enqueues a kernel of one dimension.
    pub fn launch(&self, queue: cl_command_queue, kernel: cl_kernel, global: usize, waits: &[cl_event]) -> cl_event {
        let (mut event, list) = (null_mut(), if waits.is_empty() { null() } else { waits.as_ptr() });
        let (global, waits) = (&raw const global, waits.len() as cl_uint);
        ok!(clEnqueueNDRangeKernel(queue, kernel, 1, null(), global, null(), waits, list, &raw mut event));
        event
    }

    pub fn user_event(&self) -> cl_event {
        new!(clCreateUserEvent(self.context))
    }

    pub fn marker(&self, queue: cl_command_queue, waits: &[cl_event]) -> cl_event {
        let (mut event, list) = (null_mut(), if waits.is_empty() { null() } else { waits.as_ptr() });
        ok!(clEnqueueMarkerWithWaitList(queue, waits.len() as cl_uint, list, &raw mut event));
        event
    }

    pub fn finish(&self) {
        ok!(clFinish(self.queue));
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            ok!(clReleaseCommandQueue(self.queue));
            ok!(clReleaseContext(self.context));
        }
    }
}

/// Sets a kernel's argument to a value or handle.
pub fn set<T: Copy>(kernel: cl_kernel, index: cl_uint, value: T) {
    ok!(clSetKernelArg(kernel, index, size_of::<T>(), (&raw const value).cast()));
}

/// How far an event is.
pub fn status(event: cl_event) -> cl_int {
    number(|size, to, got| cl!(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, size, to, got)))
}

/// A number that a question has for an answer.
pub fn number<T: Default>(ask: impl FnOnce(usize, *mut c_void, *mut usize) -> cl_int) -> T {
    let (mut result, mut got) = (T::default(), 0);
    assert_eq!(ask(size_of::<T>(), (&raw mut result).cast(), &raw mut got), CL_SUCCESS);
    assert_eq!(got, size_of::<T>());
    result
}

/// A text.
pub fn text(ask: impl Fn(usize, *mut c_void, *mut usize) -> cl_int) -> String {
    let mut length = 0;
    assert_eq!(ask(0, null_mut(), &raw mut length), CL_SUCCESS);
    let mut bytes = vec![0u8; length];
    assert_eq!(ask(length, bytes.as_mut_ptr().cast(), null_mut()), CL_SUCCESS);
    assert_eq!(bytes.pop(), Some(0), "texts end with a zero");
    String::from_utf8(bytes).unwrap()
}
