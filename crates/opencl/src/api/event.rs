//! Events, markers and barriers.

use std::ffi::c_void;
use std::sync::Arc;

use opencl_sys::*;

use super::Waits;
use crate::core::callbacks::UserData;
use crate::core::context::Context;
use crate::core::event::{self, Done, Event, Notify};
use crate::core::platform;
use crate::core::queue::{self, Order, Queue};
use crate::entry::{made, slice, status};
use crate::error::{ensure, fail};
use crate::info::{Answer, Room, unknown};
use crate::object;

pub unsafe extern "C" fn clWaitForEvents(num_events: cl_uint, event_list: *const cl_event) -> cl_int {
    status("clWaitForEvents", || {
        ensure(num_events > 0 && !event_list.is_null(), CL_INVALID_VALUE, "there are no events in the list")?;
        let events = object::get_all::<Event>(slice(event_list, num_events as usize))?;
        let one = events.iter().all(|e| Arc::ptr_eq(&e.context, &events[0].context));
        ensure(one, CL_INVALID_CONTEXT, "the events are of several contexts")?;
        let well = queue::wait_for(super::the_device()?, &events);
        ensure(well, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "one of the events failed")
    })
}

pub unsafe extern "C" fn clGetEventInfo(
    event: cl_event,
    param_name: cl_event_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> cl_int {
    status("clGetEventInfo", || {
        let event = object::get::<Event>(event)?;
        let answer = match param_name {
            CL_EVENT_COMMAND_QUEUE => Answer::of(event.queue.as_ref().map_or(std::ptr::null_mut(), object::queried_handle)),
            CL_EVENT_CONTEXT => Answer::of(object::queried_handle(&event.context)),
            CL_EVENT_COMMAND_TYPE => Answer::of(event.command_type),
            CL_EVENT_COMMAND_EXECUTION_STATUS => {
                let now = event.status();
                // Who asks again and again waits without saying so.
                if let Some(queue) = event.queue.as_ref().filter(|_| now > CL_COMPLETE) {
                    queue.device.scheduler.flush();
                }
                Answer::of(now)
            }
            CL_EVENT_REFERENCE_COUNT => Answer::of(event.references()),
            _ => unknown(param_name)?,
        };
        Room::new(param_value_size, param_value, param_value_size_ret).put(&answer)
    })
}

pub unsafe extern "C" fn clRetainEvent(event: cl_event) -> cl_int {
    status("clRetainEvent", || object::retain::<Event>(event))
}

pub unsafe extern "C" fn clReleaseEvent(event: cl_event) -> cl_int {
    status("clReleaseEvent", || object::release::<Event>(event).map(drop))
}

pub unsafe extern "C" fn clGetEventProfilingInfo(
    event: cl_event,
    param_name: cl_profiling_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> cl_int {
    status("clGetEventProfilingInfo", || {
        let event = object::get::<Event>(event)?;
        let profiled = event.queue.as_ref().is_some_and(|q| q.is_profiling());
        ensure(profiled, CL_PROFILING_INFO_NOT_AVAILABLE, "the event's queue has no CL_QUEUE_PROFILING_ENABLE")?;
        let complete = event.status() == CL_COMPLETE;
        ensure(complete, CL_PROFILING_INFO_NOT_AVAILABLE, "the command is not complete")?;
        let times = event.times();
        let answer = match param_name {
            CL_PROFILING_COMMAND_QUEUED => times.queued,
            CL_PROFILING_COMMAND_SUBMIT => times.submitted,
            CL_PROFILING_COMMAND_START => times.started,
            CL_PROFILING_COMMAND_END | CL_PROFILING_COMMAND_COMPLETE => times.ended,
            _ => return unknown(param_name).map(drop),
        };
        Room::new(param_value_size, param_value, param_value_size_ret).put(&Answer::of(answer))
    })
}

pub unsafe extern "C" fn clCreateUserEvent(context: cl_context, errcode_ret: *mut cl_int) -> cl_event {
    made("clCreateUserEvent", errcode_ret, || Ok(object::give(Event::of_user(object::get::<Context>(context)?))))
}

pub unsafe extern "C" fn clSetUserEventStatus(event: cl_event, execution_status: cl_int) -> cl_int {
    status("clSetUserEventStatus", || {
        let event = object::get::<Event>(event)?;
        ensure(event.queue.is_none(), CL_INVALID_EVENT, "the event is a command's")?;
        ensure(execution_status <= CL_COMPLETE, CL_INVALID_VALUE, "the status is neither CL_COMPLETE nor an error")?;
        let Some(device) = platform::device_if_made() else { return fail(CL_INVALID_EVENT, "there is no device") };
        let first = event::end_user_event(device, event, execution_status);
        ensure(first, CL_INVALID_OPERATION, "the event's status has been set already")
    })
}

pub unsafe extern "C" fn clSetEventCallback(
    event: cl_event,
    command_exec_callback_type: cl_int,
    pfn_notify: Option<Notify>,
    user_data: *mut c_void,
) -> cl_int {
    status("clSetEventCallback", || {
        let event = object::get::<Event>(event)?;
        let Some(notify) = pfn_notify else { return fail(CL_INVALID_VALUE, "pfn_event_notify is null") };
        let known = [CL_SUBMITTED, CL_RUNNING, CL_COMPLETE].contains(&command_exec_callback_type);
        ensure(known, CL_INVALID_VALUE, "callbacks are for CL_SUBMITTED, CL_RUNNING and CL_COMPLETE")?;
        event::on_status(&event, command_exec_callback_type, notify, UserData(user_data));
        Ok(())
    })
}

unsafe fn marker(command_queue: cl_command_queue, kind: cl_command_type, waits: Waits) -> crate::error::Outcome {
    let queue = object::get::<Queue>(command_queue)?;
    let order = match (kind, waits.count) {
        (CL_COMMAND_BARRIER, 0) => Order::Barrier,
        (CL_COMMAND_BARRIER, _) => Order::ListedBarrier,
        (_, 0) => Order::After,
        _ => Order::Queue,
    };
    waits.enqueue(&queue, kind, false, order, Box::new(|| Ok(Done::default())))
}

pub unsafe extern "C" fn clEnqueueMarkerWithWaitList(
    command_queue: cl_command_queue,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    status("clEnqueueMarkerWithWaitList", || marker(command_queue, CL_COMMAND_MARKER, waits))
}

pub unsafe extern "C" fn clEnqueueBarrierWithWaitList(
    command_queue: cl_command_queue,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    status("clEnqueueBarrierWithWaitList", || marker(command_queue, CL_COMMAND_BARRIER, waits))
}

pub unsafe extern "C" fn clEnqueueMarker(command_queue: cl_command_queue, event: *mut cl_event) -> cl_int {
    status("clEnqueueMarker", || {
        object::get::<Queue>(command_queue)?;
        ensure(!event.is_null(), CL_INVALID_VALUE, "event is null")?;
        marker(command_queue, CL_COMMAND_MARKER, Waits { count: 0, list: std::ptr::null(), event })
    })
}

pub unsafe extern "C" fn clEnqueueBarrier(command_queue: cl_command_queue) -> cl_int {
    let waits = Waits { count: 0, list: std::ptr::null(), event: std::ptr::null_mut() };
    status("clEnqueueBarrier", || marker(command_queue, CL_COMMAND_BARRIER, waits))
}

pub unsafe extern "C" fn clEnqueueWaitForEvents(
    command_queue: cl_command_queue,
    num_events: cl_uint,
    event_list: *const cl_event,
) -> cl_int {
    let waits = Waits { count: num_events, list: event_list, event: std::ptr::null_mut() };
    status("clEnqueueWaitForEvents", || {
        object::get::<Queue>(command_queue)?;
        ensure(num_events > 0 && !event_list.is_null(), CL_INVALID_VALUE, "there are no events in the list")?;
        let is_event = |e: &cl_event| object::get::<Event>(*e).is_ok();
        let events = slice(event_list, num_events as usize);
        ensure(events.iter().all(is_event), CL_INVALID_EVENT, "an event of the list is none")?;
        marker(command_queue, CL_COMMAND_BARRIER, waits)
    })
}
