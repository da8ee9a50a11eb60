//! Platforms, and the functions that extensions are found by.

use std::ffi::{CStr, c_char, c_void};

use opencl_sys::*;

use super::version::{VERSION, VERSION_NUMBER, all_extensions, versioned};
use crate::core::platform::{self, Platform};
use crate::entry::status;
use crate::error::{ensure, fail};
use crate::info::{Answer, Room, unknown};
use crate::object;

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
            CL_PLATFORM_EXTENSIONS => Answer::text(&all_extensions().join(" ")),
            CL_PLATFORM_EXTENSIONS_WITH_VERSION => versioned(&all_extensions()),
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
        b"clCreateProgramWithILKHR" => address!(super::program::clCreateProgramWithIL),
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
        assert!(found(c"clCreateProgramWithILKHR"));
        assert!(found(c"clCreateCommandQueueWithPropertiesKHR"));
        assert!(found(c"clGetKernelSuggestedLocalWorkSizeKHR"));
        assert!(!found(c"clCreateNothingKHR"));
    }
}
