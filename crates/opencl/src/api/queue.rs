//! Command queues.

use std::ffi::c_void;

use opencl_sys::*;

use super::{property_list, the_device};
use crate::core::context::Context;
use crate::core::device::Device;
use crate::core::queue::{self, Queue};
use crate::entry::{made, status};
use crate::error::{Outcome, ensure, fail};
use crate::info::{Answer, Room, unknown};
use crate::object::{self, Object};

const ON_HOST: cl_command_queue_properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
const ON_DEVICE: cl_command_queue_properties = CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;

unsafe fn create(
    context: cl_context,
    device: cl_device_id,
    properties: cl_command_queue_properties,
    array: Option<Vec<cl_queue_properties>>,
) -> Outcome<*mut c_void> {
    let context = object::get::<Context>(context)?;
    object::get::<Device>(device)?;
    let known = properties & !(ON_HOST | ON_DEVICE) == 0;
    ensure(known, CL_INVALID_VALUE, "there are no such queue properties")?;
    ensure(properties & ON_DEVICE == 0, CL_INVALID_QUEUE_PROPERTIES, "the device has no queues of its own")?;
    Ok(object::give(Object::new(Queue::new(context, the_device()?, properties, array))))
}

pub unsafe extern "C" fn clCreateCommandQueue(
    context: cl_context,
    device: cl_device_id,
    properties: cl_command_queue_properties,
    errcode_ret: *mut cl_int,
) -> cl_command_queue {
    made("clCreateCommandQueue", errcode_ret, || create(context, device, properties, None))
}

pub unsafe extern "C" fn clCreateCommandQueueWithProperties(
    context: cl_context,
    device: cl_device_id,
    properties: *const cl_queue_properties,
    errcode_ret: *mut cl_int,
) -> cl_command_queue {
    made("clCreateCommandQueueWithProperties", errcode_ret, || {
        object::get::<Context>(context)?;
        object::get::<Device>(device)?;
        let array = property_list(properties);
        let mut bits = 0;
        let mut seen = Vec::new();
        for pair in array.chunks_exact(2) {
            ensure(!seen.contains(&pair[0]), CL_INVALID_VALUE, "a property is there twice")?;
            seen.push(pair[0]);
            match pair[0] as cl_uint {
                CL_QUEUE_PROPERTIES => bits = pair[1],
                CL_QUEUE_SIZE => return fail(CL_INVALID_QUEUE_PROPERTIES, "the device has no queues of its own"),
                name => return fail(CL_INVALID_VALUE, format!("there is no property {name:#x} of queues here")),
            }
        }
        create(context, device, bits, Some(array))
    })
}

pub unsafe extern "C" fn clSetDefaultDeviceCommandQueue(
    context: cl_context,
    device: cl_device_id,
    command_queue: cl_command_queue,
) -> cl_int {
    status("clSetDefaultDeviceCommandQueue", || {
        object::get::<Context>(context)?;
        object::get::<Device>(device)?;
        // What the device does not have comes before what is wrong with the queue.
        let _ = command_queue;
        fail(CL_INVALID_OPERATION, "the device has no queues of its own")
    })
}

pub unsafe extern "C" fn clRetainCommandQueue(command_queue: cl_command_queue) -> cl_int {
    status("clRetainCommandQueue", || object::retain::<Queue>(command_queue))
}

pub unsafe extern "C" fn clReleaseCommandQueue(command_queue: cl_command_queue) -> cl_int {
    status("clReleaseCommandQueue", || {
        let (queue, left) = object::release::<Queue>(command_queue)?;
        if left == 0 {
            queue.device.scheduler.flush();
        }
        Ok(())
    })
}

pub unsafe extern "C" fn clSetCommandQueueProperty(
    command_queue: cl_command_queue,
    properties: cl_command_queue_properties,
    enable: cl_bool,
    old_properties: *mut cl_command_queue_properties,
) -> cl_int {
    status("clSetCommandQueueProperty", || {
        let queue = object::get::<Queue>(command_queue)?;
        ensure(properties & !ON_HOST == 0, CL_INVALID_VALUE, "there are no such queue properties")?;
        let before = queue.set_properties(properties, enable != CL_FALSE);
        if !old_properties.is_null() {
            old_properties.write_unaligned(before);
        }
        Ok(())
    })
}

pub unsafe extern "C" fn clGetCommandQueueInfo(
    command_queue: cl_command_queue,
    param_name: cl_command_queue_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> cl_int {
    status("clGetCommandQueueInfo", || {
        let queue = object::get::<Queue>(command_queue)?;
        let answer = match param_name {
            CL_QUEUE_CONTEXT => Answer::of(object::queried_handle(&queue.context)),
            CL_QUEUE_DEVICE => Answer::of(object::handle(the_device()?)),
            CL_QUEUE_REFERENCE_COUNT => Answer::of(queue.references()),
            CL_QUEUE_PROPERTIES => Answer::of(queue.properties()),
            CL_QUEUE_PROPERTIES_ARRAY => queue.array.as_ref().map_or_else(Answer::empty, |a| Answer::all(a)),
            CL_QUEUE_SIZE => return fail(CL_INVALID_COMMAND_QUEUE, "it is no queue of the device's own"),
            CL_QUEUE_DEVICE_DEFAULT => Answer::of::<*mut c_void>(std::ptr::null_mut()),
            _ => unknown(param_name)?,
        };
        Room::new(param_value_size, param_value, param_value_size_ret).put(&answer)
    })
}

pub unsafe extern "C" fn clFlush(command_queue: cl_command_queue) -> cl_int {
    status("clFlush", || {
        object::get::<Queue>(command_queue)?.device.scheduler.flush();
        Ok(())
    })
}

pub unsafe extern "C" fn clFinish(command_queue: cl_command_queue) -> cl_int {
    status("clFinish", || {
        queue::finish(&object::get::<Queue>(command_queue)?);
        Ok(())
    })
}
