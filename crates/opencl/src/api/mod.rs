//! The entry points: C signatures, and checks in the order of the specification's errors.
//!
//! Each is unsafe as all of C is: pointers are what the specification of the call says, which is the contract
//! of every function here. Handles are checked (see [`crate::object`]), pointers for null where the
//! specification lets a program pass it.

#![allow(non_snake_case, clippy::missing_safety_doc, unsafe_op_in_unsafe_fn, clippy::too_many_arguments)]

pub mod buffer;
pub mod context;
pub mod device;
pub mod event;
pub mod image;
pub mod kernel;
pub mod launch;
pub mod map;
pub mod platform;
pub mod program;
pub mod queue;
pub mod sampler;
pub mod svm;
pub mod transfer;
pub mod unsupported;
pub mod version;

use opencl_sys::*;

use crate::core::device::Device;
use crate::core::event::{Event, Work};
use crate::core::queue::{Order, Queue};
use crate::core::{self, context::Context};
use crate::entry::slice;
use crate::error::{Outcome, ensure, fail};
use crate::object::{self, Ref};

/// The device, which is there if a program has any object of it.
fn the_device() -> Outcome<&'static Ref<Device>> {
    core::platform::device().ok_or_else(|| crate::error::error(CL_DEVICE_NOT_AVAILABLE, "there is no device"))
}

/// Checks a list of devices: each is the one that there is.
unsafe fn device_list(count: cl_uint, list: *const cl_device_id) -> Outcome {
    ensure((count == 0) == list.is_null(), CL_INVALID_VALUE, "num_devices and device_list do not go together")?;
    for device in slice(list, count as usize) {
        object::get::<Device>(*device)?;
    }
    Ok(())
}

/// A list of properties, names and values in turn, with the zero at its end. Null is none.
unsafe fn property_list<T: Copy + PartialEq + Default>(list: *const T) -> Vec<T> {
    let mut properties = Vec::new();
    if list.is_null() {
        return properties;
    }
    let mut at = list;
    while at.read_unaligned() != T::default() {
        properties.push(at.read_unaligned());
        properties.push(at.add(1).read_unaligned());
        at = at.add(2);
    }
    properties.push(T::default());
    properties
}

/// A wait list.
unsafe fn wait_list(context: &Ref<Context>, count: cl_uint, list: *const cl_event) -> Outcome<Vec<Ref<Event>>> {
    let together = (count == 0) == list.is_null();
    ensure(together, CL_INVALID_EVENT_WAIT_LIST, "num_events_in_wait_list and event_wait_list do not go together")?;
    let mut events = Vec::with_capacity(count as usize);
    for handle in slice(list, count as usize) {
        let Ok(event) = object::get::<Event>(*handle) else {
            return fail(CL_INVALID_EVENT_WAIT_LIST, "an event of the wait list is none");
        };
        same_context(context, &event.context)?;
        events.push(event);
    }
    Ok(events)
}

/// Checks that two objects are of one context.
fn same_context(a: &Ref<Context>, b: &Ref<Context>) -> Outcome {
    ensure(std::sync::Arc::ptr_eq(a, b), CL_INVALID_CONTEXT, "the queue, the objects and the events are of several contexts")
}

/// What all commands have: wait list, place for an event.
#[derive(Clone, Copy)]
pub struct Waits {
    count: cl_uint,
    list: *const cl_event,
    event: *mut cl_event,
}

impl Waits {
    /// Enqueues a command and gives the program its event. `blocking`: first waits until it has ended.
    unsafe fn enqueue(
        self,
        queue: &Ref<Queue>,
        command_type: cl_command_type,
        blocking: bool,
        order: Order,
        work: Work,
    ) -> Outcome {
        let listed = wait_list(&queue.context, self.count, self.list)?;
        self.enqueue_checked(queue, command_type, &listed, blocking, order, work)
    }

    /// The same with a wait list that has been checked.
    unsafe fn enqueue_checked(
        self,
        queue: &Ref<Queue>,
        command_type: cl_command_type,
        listed: &[Ref<Event>],
        blocking: bool,
        order: Order,
        work: Work,
    ) -> Outcome {
        let event = core::queue::enqueue(queue, command_type, listed, order, work);
        if blocking {
            core::queue::wait_for(queue.device, std::slice::from_ref(&event));
            let status = event.status();
            if status < 0 {
                return fail(status, "the blocking command failed");
            }
        }
        if !self.event.is_null() {
            self.event.write_unaligned(object::give(event));
        }
        Ok(())
    }
}
