//! NVIDIA's driver library, loaded at run time.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};

use anyhow::{Context, Result, bail};
use libloading::Library;

use super::device::{Device, Launching};

/// Names of the library.
const LIBRARIES: [&str; 3] = ["libcuda.so.1", "libcuda.so", "nvcuda.dll"];

type Status = c_int;
type Handle = *mut c_void;
type Address = u64;

/// Attributes of a device (CUdevice_attribute).
const CLOCK_KHZ: c_int = 13;
const PROCESSORS: c_int = 16;
const MAJOR: c_int = 75;
const MINOR: c_int = 76;

/// Functions of the library, and what they are called there.
macro_rules! functions {
    ($($(#[doc = $doc:literal])+ $field:ident = $symbol:literal: fn($($type:ty),*);)+) => {
        struct Functions {
            $($(#[doc = $doc])+ $field: unsafe extern "C" fn($($type),*) -> Status,)+
        }

        impl Functions {
            /// # Safety
            /// The library is NVIDIA's driver: its functions have these types.
            unsafe fn load(library: &Library) -> Result<Functions> {
                Ok(Functions {
                    $($field: {
                        // SAFETY: the caller says whose library it is.
                        let symbol = unsafe { library.get(concat!($symbol, "\0").as_bytes()) };
                        *symbol.with_context(|| concat!("the driver library has no ", $symbol))?
                    },)+
                })
            }
        }
    };
}

functions! {
    /// Starts the library.
    init = "cuInit": fn(c_uint);
    /// A number's device.
    device = "cuDeviceGet": fn(*mut c_int, c_int);
    /// How many devices there are.
    count = "cuDeviceGetCount": fn(*mut c_int);
    /// Its name.
    name = "cuDeviceGetName": fn(*mut c_char, c_int, c_int);
    /// One of its attributes.
    attribute = "cuDeviceGetAttribute": fn(*mut c_int, c_int, c_int);
    /// The driver's version.
    version = "cuDriverGetVersion": fn(*mut c_int);
    /// The context that programs share.
    retain = "cuDevicePrimaryCtxRetain": fn(*mut Handle, c_int);
    /// Makes it this thread's.
    current = "cuCtxSetCurrent": fn(Handle);
    /// Waits for all work.
    synchronize = "cuCtxSynchronize": fn();
    /// Compiles PTX.
    module = "cuModuleLoadData": fn(*mut Handle, *const c_void);
    /// Forgets a module.
    unload = "cuModuleUnload": fn(Handle);
    /// A kernel of a module.
    function = "cuModuleGetFunction": fn(*mut Handle, Handle, *const c_char);
    /// A variable of a module.
    global = "cuModuleGetGlobal_v2": fn(*mut Address, *mut usize, Handle, *const c_char);
    /// Device memory.
    allocate = "cuMemAlloc_v2": fn(*mut Address, usize);
    /// Gives it back.
    free = "cuMemFree_v2": fn(Address);
    /// Copies to the device.
    upload = "cuMemcpyHtoD_v2": fn(Address, *const c_void, usize);
    /// Copies from the device.
    download = "cuMemcpyDtoH_v2": fn(*mut c_void, Address, usize);
    /// Launches a kernel.
    launch = "cuLaunchKernel": fn(Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void);
    /// A point in time.
    event = "cuEventCreate": fn(*mut Handle, c_uint);
    /// Records it behind the work before.
    record = "cuEventRecord": fn(Handle, Handle);
    /// Milliseconds between two.
    elapsed = "cuEventElapsedTime": fn(*mut f32, Handle, Handle);
    /// A message of a status.
    message = "cuGetErrorString": fn(Status, *mut *const c_char);
}

/// A GPU by its driver.
pub struct Driver {
    functions: Functions,
    /// Two events, before and behind a launch.
    events: [Handle; 2],
    device: c_int,
    /// The functions are in it.
    _library: Library,
}

impl Driver {
    /// The first GPU.
    ///
    /// # Errors
    /// There is no driver library, or no GPU that works.
    pub fn open() -> Result<Driver> {
        // SAFETY: the names are those of NVIDIA's driver library, whose start-up code may run.
        let found = LIBRARIES.iter().find_map(|name| unsafe { Library::new(name) }.ok());
        let library = found.with_context(|| {
            format!("there is no CUDA driver library ({}): no NVIDIA GPU, or no driver for it", LIBRARIES.join(", "))
        })?;
        // SAFETY: it is NVIDIA's driver library.
        let functions = unsafe { Functions::load(&library) }?;
        let mut driver = Driver { functions, events: [std::ptr::null_mut(); 2], device: 0, _library: library };
        let (mut count, mut device, mut context, mut events) = (0, 0, std::ptr::null_mut(), driver.events);
        let f = &driver.functions;
        // SAFETY: pointers are to variables of the types that the driver writes.
        unsafe {
            driver.check((f.init)(0), "starting the driver")?;
            driver.check((f.count)(&mut count), "counting GPUs")?;
            if count < 1 {
                bail!("the driver knows no GPU");
            }
            driver.check((f.device)(&mut device, 0), "taking the first GPU")?;
            driver.check((f.retain)(&mut context, device), "taking the GPU's context")?;
            driver.check((f.current)(context), "taking the GPU's context")?;
            for event in &mut events {
                driver.check((f.event)(event, 0), "making an event")?;
            }
        }
        (driver.device, driver.events) = (device, events);
        Ok(driver)
    }

    fn check(&self, status: Status, doing: &str) -> Result<()> {
        if status == 0 {
            return Ok(());
        }
        let mut text: *const c_char = std::ptr::null();
        // SAFETY: the driver's message is a constant string, if there is one.
        let known = unsafe { (self.functions.message)(status, &mut text) } == 0 && !text.is_null();
        // SAFETY: as above.
        let message = if known { unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned() } else { "unknown".into() };
        bail!("{doing}: {message} (CUDA error {status})")
    }

    fn attribute(&self, which: c_int) -> Result<u32> {
        let mut value = 0;
        // SAFETY: the driver writes one number.
        let status = unsafe { (self.functions.attribute)(&mut value, which, self.device) };
        self.check(status, "asking for an attribute")?;
        Ok(u32::try_from(value)?)
    }
}

impl Device for Driver {
    fn name(&self) -> Result<String> {
        let mut text = [0 as c_char; 256];
        // SAFETY: the driver writes at most so many bytes and ends them with 0.
        let status = unsafe { (self.functions.name)(text.as_mut_ptr(), 256, self.device) };
        self.check(status, "asking for the GPU's name")?;
        // SAFETY: it ends with 0.
        Ok(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned())
    }

    fn driver(&self) -> Result<String> {
        let mut version = 0;
        // SAFETY: the driver writes one number.
        self.check(unsafe { (self.functions.version)(&mut version) }, "asking for the driver's version")?;
        Ok(format!("CUDA {}.{}", version / 1000, version % 1000 / 10))
    }

    fn compute_capability(&self) -> Result<u32> {
        Ok(self.attribute(MAJOR)? * 10 + self.attribute(MINOR)?)
    }

    fn clock_mhz(&self) -> Result<f64> {
        Ok(f64::from(self.attribute(CLOCK_KHZ)?) / 1e3)
    }

    fn processors(&self) -> Result<u32> {
        self.attribute(PROCESSORS)
    }

    fn load(&mut self, ptx: &str) -> Result<u64> {
        let text = CString::new(ptx)?;
        let mut module = std::ptr::null_mut();
        // SAFETY: the text ends with 0, and the driver copies what it needs.
        let status = unsafe { (self.functions.module)(&mut module, text.as_ptr().cast()) };
        self.check(status, "compiling PTX")?;
        Ok(module as u64)
    }

    fn unload(&mut self, module: u64) -> Result<()> {
        // SAFETY: the module is one that `load` made.
        self.check(unsafe { (self.functions.unload)(module as Handle) }, "forgetting a module")
    }

    fn allocate(&mut self, bytes: usize) -> Result<u64> {
        let mut address = 0;
        // SAFETY: the driver writes an address.
        self.check(unsafe { (self.functions.allocate)(&mut address, bytes.max(1)) }, "allocating device memory")?;
        Ok(address)
    }

    fn free(&mut self, address: u64) -> Result<()> {
        // SAFETY: the address is one that `allocate` gave.
        self.check(unsafe { (self.functions.free)(address) }, "freeing device memory")
    }

    fn upload(&mut self, address: u64, bytes: &[u8]) -> Result<()> {
        // SAFETY: the driver reads so many bytes.
        self.check(unsafe { (self.functions.upload)(address, bytes.as_ptr().cast(), bytes.len()) }, "copying to the GPU")
    }

    fn download(&mut self, address: u64, bytes: &mut [u8]) -> Result<()> {
        // SAFETY: the driver writes so many bytes.
        let status = unsafe { (self.functions.download)(bytes.as_mut_ptr().cast(), address, bytes.len()) };
        self.check(status, "copying from the GPU")
    }

    fn set(&mut self, module: u64, variable: &str, bytes: &[u8]) -> Result<()> {
        let name = CString::new(variable)?;
        let (mut address, mut size) = (0, 0);
        // SAFETY: the name ends with 0; the driver writes an address and a size.
        let status = unsafe { (self.functions.global)(&mut address, &mut size, module as Handle, name.as_ptr()) };
        self.check(status, &format!("looking for {variable}"))?;
        if size != bytes.len() {
            bail!("{variable} has {size} bytes, not {}", bytes.len());
        }
        self.upload(address, bytes)
    }

    fn launch(&mut self, launching: &Launching<'_>) -> Result<f64> {
        let f = &self.functions;
        let name = CString::new(launching.kernel)?;
        let (mut function, mut milliseconds) = (std::ptr::null_mut(), 0.0);
        // Copies, because the driver takes pointers that it may write through as far as its types say.
        let mut values = launching.arguments.to_vec();
        let mut arguments: Vec<*mut c_void> = values.iter_mut().map(|v| v.as_mut_ptr().cast()).collect();
        let ([gx, gy, gz], [x, y, z]) = (launching.groups, launching.items);
        let stream = std::ptr::null_mut();
        // SAFETY: the module is one that `load` made; the kernel has as many arguments as the case gives it, each
        // as long as its type, or PTX of it would not have been made with this signature; events are the driver's.
        unsafe {
            self.check(
                (f.function)(&mut function, launching.module as Handle, name.as_ptr()),
                &format!("looking for {}", launching.kernel),
            )?;
            self.check((f.record)(self.events[0], stream), "recording an event")?;
            let status =
                (f.launch)(function, gx, gy, gz, x, y, z, launching.shared, stream, arguments.as_mut_ptr(), std::ptr::null_mut());
            self.check(status, &format!("launching {}", launching.kernel))?;
            self.check((f.record)(self.events[1], stream), "recording an event")?;
            self.check((f.synchronize)(), &format!("running {}", launching.kernel))?;
            self.check((f.elapsed)(&mut milliseconds, self.events[0], self.events[1]), "reading the time")?;
        }
        Ok(f64::from(milliseconds) * 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_driver_is_said_by_name() {
        match Driver::open() {
            Ok(driver) => assert!(!driver.name().unwrap().is_empty()),
            Err(e) => {
                let text = format!("{e:#}");
                let known = ["no CUDA driver library (libcuda.so.1", "the driver knows no GPU", "CUDA error"];
                assert!(known.iter().any(|k| text.contains(k)), "{text}");
            }
        }
    }
}
