//! Contexts.

use std::ffi::c_void;

use opencl_sys::*;

use super::{device_list, property_list, the_device};
use crate::core::callbacks::UserData;
use crate::core::context::{Context, Destructor, Notify, PrintfCallback};
use crate::entry::{made, status};
use crate::error::{Outcome, ensure, fail};
use crate::info::{Answer, Room, unknown};
use crate::object::{self, Object};

const CL_PRINTF_CALLBACK_ARM: cl_context_properties = 0x40B0;
const CL_PRINTF_BUFFERSIZE_ARM: cl_context_properties = 0x40B1;

unsafe fn create(
    properties: *const cl_context_properties,
    notify: Option<Notify>,
    user_data: *mut c_void,
) -> Outcome<*mut c_void> {
    let properties = property_list(properties);
    let data = UserData(user_data);
    let mut context = Context::new(Vec::new(), notify.map(|n| (n, data)));
    let mut seen = Vec::new();
    for pair in properties.chunks_exact(2) {
        let (name, value) = (pair[0], pair[1]);
        ensure(!seen.contains(&name), CL_INVALID_PROPERTY, "a property is there twice")?;
        seen.push(name);
        match name {
            CL_CONTEXT_PLATFORM => super::platform::check_platform(value)?,
            CL_CONTEXT_INTEROP_USER_SYNC => {
                let truth = value == CL_TRUE as isize || value == CL_FALSE as isize;
                ensure(truth, CL_INVALID_PROPERTY, "CL_CONTEXT_INTEROP_USER_SYNC is no truth value")?;
            }
            CL_PRINTF_CALLBACK_ARM => {
                ensure(value != 0, CL_INVALID_PROPERTY, "CL_PRINTF_CALLBACK_ARM is null")?;
                // The property is a function of this type, says the extension.
                let callback = std::mem::transmute::<isize, PrintfCallback>(value);
                context.printf = Some((callback, data));
            }
            CL_PRINTF_BUFFERSIZE_ARM => {
                let room = u32::try_from(value).ok().filter(|n| *n > 0);
                ensure(room.is_some(), CL_INVALID_PROPERTY, "CL_PRINTF_BUFFERSIZE_ARM is no size")?;
                context.printf_room = room;
            }
            _ => return fail(CL_INVALID_PROPERTY, format!("there is no property {name:#x} of contexts here")),
        }
    }
    context.properties = properties;
    Ok(object::give(Object::new(context)))
}

pub unsafe extern "C" fn clCreateContext(
    properties: *const cl_context_properties,
    num_devices: cl_uint,
    devices: *const cl_device_id,
    pfn_notify: Option<Notify>,
    user_data: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_context {
    made("clCreateContext", errcode_ret, || {
        ensure(num_devices > 0 && !devices.is_null(), CL_INVALID_VALUE, "there are no devices in the list")?;
        ensure(pfn_notify.is_some() || user_data.is_null(), CL_INVALID_VALUE, "user_data is for pfn_notify, which is null")?;
        device_list(num_devices, devices)?;
        create(properties, pfn_notify, user_data)
    })
}

pub unsafe extern "C" fn clCreateContextFromType(
    properties: *const cl_context_properties,
    device_type: cl_device_type,
    pfn_notify: Option<Notify>,
    user_data: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_context {
    made("clCreateContextFromType", errcode_ret, || {
        ensure(pfn_notify.is_some() || user_data.is_null(), CL_INVALID_VALUE, "user_data is for pfn_notify, which is null")?;
        let context = create(properties, pfn_notify, user_data)?;
        let found = super::device::check_type(device_type).and_then(|()| {
            ensure(super::device::is_of_type(device_type), CL_DEVICE_NOT_FOUND, "there is no device of this type")
        });
        if let Err(e) = found {
            object::release::<Context>(context)?;
            return Err(e);
        }
        Ok(context)
    })
}

pub unsafe extern "C" fn clRetainContext(context: cl_context) -> cl_int {
    status("clRetainContext", || object::retain::<Context>(context))
}

pub unsafe extern "C" fn clReleaseContext(context: cl_context) -> cl_int {
    status("clReleaseContext", || object::release::<Context>(context).map(drop))
}

pub unsafe extern "C" fn clGetContextInfo(
    context: cl_context,
    param_name: cl_context_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> cl_int {
    status("clGetContextInfo", || {
        let context = object::get::<Context>(context)?;
        let answer = match param_name {
            CL_CONTEXT_REFERENCE_COUNT => Answer::of(context.references()),
            CL_CONTEXT_NUM_DEVICES => Answer::of::<cl_uint>(1),
            CL_CONTEXT_DEVICES => Answer::of(object::handle(the_device()?)),
            CL_CONTEXT_PROPERTIES => Answer::all(&context.properties),
            _ => unknown(param_name)?,
        };
        Room::new(param_value_size, param_value, param_value_size_ret).put(&answer)
    })
}

pub unsafe extern "C" fn clSetContextDestructorCallback(
    context: cl_context,
    pfn_notify: Option<Destructor>,
    user_data: *mut c_void,
) -> cl_int {
    status("clSetContextDestructorCallback", || {
        let context = object::get::<Context>(context)?;
        let Some(notify) = pfn_notify else { return fail(CL_INVALID_VALUE, "pfn_notify is null") };
        context.on_end(notify, UserData(user_data));
        Ok(())
    })
}
