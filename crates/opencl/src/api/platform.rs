//! Platforms, and the functions that extensions are found by.

use std::ffi::{CStr, c_char, c_void};

use opencl_sys::*;

use crate::core::platform::{self, Platform};
use crate::entry::status;
use crate::error::{ensure, fail};
use crate::info::{Answer, Room, unknown};
use crate::object;

/// What `CL_PLATFORM_VERSION` and `CL_DEVICE_VERSION` say.
pub const VERSION: &str = concat!("OpenCL 3.0 Heddle ", env!("CARGO_PKG_VERSION"));
/// `CL_MAKE_VERSION(3, 0, 0)`.
pub const VERSION_NUMBER: cl_version = 3 << 22;

/// Extensions of the platform.
pub const PLATFORM_EXTENSIONS: [&str; 2] = ["cl_khr_icd", "cl_khr_extended_versioning"];

pub unsafe extern "C" fn clGetPlatformIDs(
    num_entries: cl_uint,
    platforms: *mut cl_platform_id,
    num_platforms: *mut cl_uint,
) -> cl_int {
    status("clGetPlatformIDs", || {
        ensure(platforms.is_null() || num_entries > 0, CL_INVALID_VALUE, "num_entries is 0")?;
        ensure(!(platforms.is_null() && num_platforms.is_null()), CL_INVALID_VALUE, "nothing is asked for")?;
        if !platforms.is_null() {
            platforms.write_unaligned(object::handle(platform::platform()));
        }
        if !num_platforms.is_null() {
            num_platforms.write_unaligned(1);
        }
        Ok(())
    })
}

pub unsafe extern "C" fn clGetPlatformInfo(
    platform: cl_platform_id,
    param_name: cl_platform_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> cl_int {
    status("clGetPlatformInfo", || {
        if !platform.is_null() {
            object::get::<Platform>(platform)?;
        }
        let answer = match param_name {
            CL_PLATFORM_PROFILE => Answer::text("FULL_PROFILE"),
            CL_PLATFORM_VERSION => Answer::text(VERSION),
            CL_PLATFORM_NUMERIC_VERSION => Answer::of(VERSION_NUMBER),
            CL_PLATFORM_NAME => Answer::text("Heddle"),
            CL_PLATFORM_VENDOR => Answer::text("Heddle"),
            CL_PLATFORM_EXTENSIONS => Answer::text(&super::device::all_extensions().join(" ")),
            CL_PLATFORM_EXTENSIONS_WITH_VERSION => super::device::versioned(&super::device::all_extensions()),
            CL_PLATFORM_ICD_SUFFIX_KHR => Answer::text("HEDDLE"),
            CL_PLATFORM_HOST_TIMER_RESOLUTION => Answer::of::<cl_ulong>(1),
            _ => unknown(param_name)?,
        };
        Room::new(param_value_size, param_value, param_value_size_ret).put(&answer)
    })
}

pub unsafe extern "C" fn clUnloadCompiler() -> cl_int {
    status("clUnloadCompiler", || Ok(()))
}

pub unsafe extern "C" fn clUnloadPlatformCompiler(platform: cl_platform_id) -> cl_int {
    status("clUnloadPlatformCompiler", || object::get::<Platform>(platform).map(drop))
}

pub unsafe extern "C" fn clIcdGetPlatformIDsKHR(
    num_entries: cl_uint,
    platforms: *mut cl_platform_id,
    num_platforms: *mut cl_uint,
) -> cl_int {
    clGetPlatformIDs(num_entries, platforms, num_platforms)
}

/// An entry point as an address.
macro_rules! address {
    ($function:path) => {
        $function as *const () as *mut c_void
    };
}

// What the library exports has names that the loader has as well, and in a process with both the loader's are
// the ones that count, also for calls from here: nothing inside refers to the exported functions.

/// The functions that are found by their names; the loader finds the others through objects' tables.
pub unsafe extern "C" fn clGetExtensionFunctionAddress(name: *const c_char) -> *mut c_void {
    if name.is_null() {
        return std::ptr::null_mut();
    }
    match CStr::from_ptr(name).to_bytes() {
        b"clIcdGetPlatformIDsKHR" => address!(clIcdGetPlatformIDsKHR),
        b"clGetPlatformInfo" => address!(clGetPlatformInfo),
        b"clGetKernelSubGroupInfoKHR" => address!(super::kernel::clGetKernelSubGroupInfo),
        b"clGetKernelSuggestedLocalWorkSizeKHR" => address!(super::launch::clGetKernelSuggestedLocalWorkSize),
        b"clCreateCommandQueueWithPropertiesKHR" => address!(super::queue::clCreateCommandQueueWithProperties),
        _ => std::ptr::null_mut(),
    }
}

pub unsafe extern "C" fn clGetExtensionFunctionAddressForPlatform(platform: cl_platform_id, name: *const c_char) -> *mut c_void {
    match object::get::<Platform>(platform) {
        Ok(_) => clGetExtensionFunctionAddress(name),
        Err(_) => std::ptr::null_mut(),
    }
}

/// What the loader finds the others by.
#[unsafe(export_name = "clGetExtensionFunctionAddress")]
unsafe extern "C" fn exported_address(name: *const c_char) -> *mut c_void {
    clGetExtensionFunctionAddress(name)
}

/// The loader's first call, under the name that some loaders look for.
#[unsafe(export_name = "clIcdGetPlatformIDsKHR")]
unsafe extern "C" fn exported_platforms(n: cl_uint, platforms: *mut cl_platform_id, count: *mut cl_uint) -> cl_int {
    clIcdGetPlatformIDsKHR(n, platforms, count)
}

/// The same for the platform's properties.
#[unsafe(export_name = "clGetPlatformInfo")]
unsafe extern "C" fn exported_information(
    platform: cl_platform_id,
    name: cl_platform_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    clGetPlatformInfo(platform, name, size, value, size_ret)
}

/// Checks a platform that a program names among properties.
pub fn check_platform(handle: isize) -> crate::error::Outcome {
    match object::get::<Platform>(handle as *mut c_void) {
        Ok(_) => Ok(()),
        Err(e) => fail(CL_INVALID_PLATFORM, e.why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_extensions_are_found_by_their_names() {
        let found = |name: &CStr| {
            // SAFETY: the name ends with a zero, and the handle is the platform's.
            unsafe {
                let of_platform = object::handle(platform::platform());
                let address = clGetExtensionFunctionAddress(name.as_ptr());
                assert_eq!(clGetExtensionFunctionAddressForPlatform(of_platform, name.as_ptr()), address);
                assert!(clGetExtensionFunctionAddressForPlatform(std::ptr::null_mut(), name.as_ptr()).is_null());
                !address.is_null()
            }
        };
        assert!(found(c"clIcdGetPlatformIDsKHR"));
        assert!(found(c"clCreateCommandQueueWithPropertiesKHR"));
        assert!(found(c"clGetKernelSuggestedLocalWorkSizeKHR"));
        assert!(!found(c"clCreateNothingKHR"));
    }
}
