//! Order: queues, wait lists, markers, barriers, user events, callbacks.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use opencl_sys::*;

use crate::host::{Host, set, status};
use crate::{cl, ok};

const STEP: &str = "kernel void step(global int* a, int k) { a[get_global_id(0)] = a[get_global_id(0)] * 3 + k; }";

fn release(events: &[cl_event]) {
    events.iter().for_each(|e| ok!(clReleaseEvent(*e)));
}

#[test]
fn an_in_order_queue_keeps_the_order() {
    let host = Host::new();
    let (kernel, buffer) = (host.kernel(STEP, c"step"), host.buffer(&[1u32; 40]));
    set(kernel, 0, buffer);
    let mut expected = 1u32;
    for k in 0..500 {
        // The value is the one at the time of the call.
        set(kernel, 1, k);
        release(&[host.launch(host.queue, kernel, 40, &[])]);
        expected = expected.wrapping_mul(3).wrapping_add(k);
    }
    assert_eq!(host.read::<u32>(buffer, 40), [expected; 40]);
    ok!(clReleaseKernel(kernel));
    ok!(clReleaseMemObject(buffer));
}

#[test]
fn an_out_of_order_queue_waits_for_lists_and_barriers_only() {
    let host = Host::new();
    let queue = host.out_of_order();
    let gate = host.user_event();
    let held = host.marker(queue, &[gate]);
    let free = host.user_event();
    ok!(clSetUserEventStatus(free, CL_COMPLETE));
    let passes = host.marker(queue, &[free]);
    ok!(clWaitForEvents(1, &raw const passes));
    assert!(status(held) > CL_COMPLETE && status(passes) == CL_COMPLETE);
    // A marker without a list waits for all before it and holds nothing up.
    let all = host.marker(queue, &[]);
    let beside = host.marker(queue, &[free]);
    ok!(clWaitForEvents(1, &raw const beside));
    assert!(status(all) > CL_COMPLETE);
    // A barrier holds up what comes behind it, whatever its list.
    let mut barrier = null_mut();
    ok!(clEnqueueBarrierWithWaitList(queue, 0, null(), &raw mut barrier));
    let behind = host.marker(queue, &[free]);
    let elsewhere = host.marker(host.queue, &[passes]);
    ok!(clWaitForEvents(1, &raw const elsewhere));
    ok!(clFlush(queue));
    std::thread::sleep(Duration::from_millis(20));
    assert!(status(behind) > CL_COMPLETE && status(barrier) > CL_COMPLETE);
    ok!(clSetUserEventStatus(gate, CL_COMPLETE));
    ok!(clFinish(queue));
    assert!([held, all, barrier, behind].iter().all(|e| status(*e) == CL_COMPLETE));
    release(&[gate, held, free, passes, all, beside, barrier, behind, elsewhere]);
    ok!(clReleaseCommandQueue(queue));
}

#[test]
fn a_failed_event_fails_what_waits_for_it_and_nothing_else() {
    let host = Host::new();
    let (kernel, buffer) = (host.kernel(STEP, c"step"), host.buffer(&[1i32; 8]));
    set(kernel, 0, buffer);
    set(kernel, 1, 1i32);
    let queue = host.out_of_order();
    let gate = host.user_event();
    let first = host.launch(queue, kernel, 8, &[gate]);
    let second = host.launch(queue, kernel, 8, &[first]);
    let other = host.launch(queue, kernel, 8, &[]);
    ok!(clSetUserEventStatus(gate, -7));
    assert_eq!(cl!(clSetUserEventStatus(gate, CL_COMPLETE)), CL_INVALID_OPERATION);
    ok!(clFinish(queue));
    let failed = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    assert_eq!([gate, first, second, other].map(status), [-7, failed, failed, CL_COMPLETE]);
    assert_eq!(cl!(clWaitForEvents(1, &raw const second)), failed);
    let mut bytes = [0u8; 4];
    let to = bytes.as_mut_ptr().cast();
    assert_eq!(cl!(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 4, to, 1, &raw const gate, null_mut())), failed);
    assert_eq!(host.read::<i32>(buffer, 8), [4; 8], "one of three launches ran");
    release(&[gate, first, second, other]);
    ok!(clReleaseKernel(kernel));
    ok!(clReleaseMemObject(buffer));
    ok!(clReleaseCommandQueue(queue));
}

#[test]
fn a_user_event_that_nobody_ends_does_not_hang_others() {
    let host = Host::new();
    let gate = host.user_event();
    let held = host.marker(host.queue, &[gate]);
    let behind = host.marker(host.queue, &[]);
    release(&[gate]);
    host.finish();
    assert!(status(held) < 0 && status(behind) <= CL_COMPLETE);
    release(&[held, behind]);
}

#[test]
fn long_chains_end_without_a_deep_stack() {
    const LINKS: usize = 100_000;
    for in_order in [true, false] {
        for end in [Some(CL_COMPLETE), Some(-5), None] {
            let thread = std::thread::Builder::new().stack_size(2 << 20);
            let chain = move || {
                let host = Host::new();
                let queue = if in_order { host.queue_with(0) } else { host.out_of_order() };
                let gate = host.user_event();
                let mut last = host.marker(queue, &[gate]);
                for _ in 1..LINKS {
                    let next = host.marker(queue, if in_order { &[] } else { std::slice::from_ref(&last) });
                    release(&[std::mem::replace(&mut last, next)]);
                }
                if let Some(status) = end {
                    ok!(clSetUserEventStatus(gate, status));
                }
                release(&[gate]);
                ok!(clFinish(queue));
                let expected = match (in_order, end) {
                    (_, Some(CL_COMPLETE)) => CL_COMPLETE,
                    (false, _) => CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
                    // Only the first one names the failed event.
                    (true, _) => CL_COMPLETE,
                };
                assert_eq!(status(last), expected, "in order: {in_order}, ends with {end:?}");
                release(&[last]);
                ok!(clReleaseCommandQueue(queue));
            };
            thread.spawn(chain).unwrap().join().unwrap();
        }
    }
}

unsafe extern "C" fn send(_event: cl_event, status: cl_int, data: *mut c_void) {
    let sender = unsafe { &*data.cast::<Sender<cl_int>>() };
    sender.send(status).unwrap();
}

/// The sender is never dropped: the last report is there a moment before its callback has ended.
fn reports() -> (&'static Sender<cl_int>, Receiver<cl_int>) {
    let (sender, receiver) = channel();
    (Box::leak(Box::new(sender)), receiver)
}

fn next(receiver: &Receiver<cl_int>) -> cl_int {
    receiver.recv_timeout(Duration::from_secs(300)).expect("a callback is missing")
}

#[test]
fn callbacks_come_in_order() {
    let host = Host::new();
    let (sender, receiver) = reports();
    let data: *mut c_void = std::ptr::from_ref(sender).cast_mut().cast();
    let gate = host.user_event();
    let event = host.marker(host.queue, &[gate]);
    for at in [CL_COMPLETE, CL_RUNNING, CL_SUBMITTED] {
        ok!(clSetEventCallback(event, at, Some(send), data));
    }
    assert!(receiver.recv_timeout(Duration::from_millis(20)).is_err());
    ok!(clSetUserEventStatus(gate, CL_COMPLETE));
    ok!(clFlush(host.queue));
    assert_eq!([next(&receiver), next(&receiver), next(&receiver)], [CL_SUBMITTED, CL_RUNNING, CL_COMPLETE]);
    // What has ended calls at once; what has failed says so.
    ok!(clSetEventCallback(event, CL_COMPLETE, Some(send), data));
    assert_eq!(next(&receiver), CL_COMPLETE);
    let broken = host.user_event();
    let event_of_broken = host.marker(host.queue, &[broken]);
    ok!(clSetEventCallback(event_of_broken, CL_COMPLETE, Some(send), data));
    ok!(clSetUserEventStatus(broken, -9));
    assert_eq!(next(&receiver), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    release(&[gate, event, broken, event_of_broken]);
}

struct Again {
    host: Host,
    gate: cl_event,
    sender: &'static Sender<cl_int>,
}

/// A callback that uses the driver.
unsafe extern "C" fn again(event: cl_event, status: cl_int, data: *mut c_void) {
    let Again { host, gate, sender } = unsafe { &*data.cast::<Again>() };
    let buffer = host.room(64);
    ok!(clReleaseEvent(host.marker(host.queue, &[event])));
    host.finish();
    ok!(clReleaseMemObject(buffer));
    ok!(clSetUserEventStatus(*gate, CL_COMPLETE));
    sender.send(status).unwrap();
}

#[test]
fn callbacks_may_call_the_driver() {
    let (sender, receiver) = reports();
    let host = Host::new();
    let gate = host.user_event();
    let mut again_data = Again { host, gate, sender };
    let data = (&raw mut again_data).cast();
    let host = &again_data.host;
    let queue = host.out_of_order();
    let event = host.marker(queue, &[]);
    let held = host.marker(queue, &[gate]);
    ok!(clSetEventCallback(event, CL_COMPLETE, Some(again), data));
    // Here the main thread waits for what only the callback lets go.
    ok!(clWaitForEvents(1, &raw const held));
    assert_eq!(next(&receiver), CL_COMPLETE);
    release(&[gate, event, held]);
    ok!(clReleaseCommandQueue(queue));
}

unsafe extern "C" fn add(data: *mut c_void) {
    #[repr(C, packed)]
    struct Arguments {
        memory: *mut i32,
        count: usize,
        sum: *mut i32,
    }
    let Arguments { memory, count, sum } = unsafe { data.cast::<Arguments>().read_unaligned() };
    let values = unsafe { std::slice::from_raw_parts_mut(memory, count) };
    unsafe { *sum = values.iter().sum() };
    values.reverse();
}

#[test]
fn native_kernels_get_memory_and_a_copy_of_their_arguments() {
    let host = Host::new();
    let values: Vec<i32> = (0..100).collect();
    let (buffer, mut sum) = (host.buffer(&values), 0i32);
    let gate = host.user_event();
    let mut arguments = [0usize, values.len(), &raw mut sum as usize];
    let (place, mut event) = (arguments.as_ptr().cast::<c_void>(), null_mut());
    let data = arguments.as_mut_ptr().cast();
    let mut place = place;
    ok!(clEnqueueNativeKernel(
        host.queue,
        Some(add),
        data,
        24,
        1,
        &raw const buffer,
        &raw mut place,
        1,
        &raw const gate,
        &raw mut event
    ));
    arguments.fill(1);
    ok!(clSetUserEventStatus(gate, CL_COMPLETE));
    let reversed: Vec<i32> = (0..100).rev().collect();
    assert_eq!(host.read::<i32>(buffer, 100), reversed);
    assert_eq!((sum, status(event)), (4950, CL_COMPLETE));
    release(&[gate, event]);
    ok!(clReleaseMemObject(buffer));
}

#[test]
fn queues_can_be_released_with_commands_in_them() {
    let host = Host::new();
    let (kernel, buffer) = (host.kernel(STEP, c"step"), host.buffer(&[1i32; 8]));
    set(kernel, 0, buffer);
    set(kernel, 1, 0i32);
    let queue = host.queue_with(0);
    let events: Vec<cl_event> = (0..10).map(|_| host.launch(queue, kernel, 8, &[])).collect();
    ok!(clReleaseCommandQueue(queue));
    ok!(clWaitForEvents(1, &raw const events[9]));
    assert_eq!(host.read::<i32>(buffer, 8), [59049; 8]);
    release(&events);
    ok!(clReleaseKernel(kernel));
    ok!(clReleaseMemObject(buffer));
}
