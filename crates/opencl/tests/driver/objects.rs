//! Handles: the table, counts, wrong and dead handles, ends of objects.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering};

use opencl_sys::cl_icd::cl_icd_dispatch;
use opencl_sys::*;

use crate::host::{Host, exported, extension, number, set, status, table};
use crate::{cl, new, ok};

#[test]
fn every_place_of_the_table_has_a_function() {
    const PLACES: usize = size_of::<cl_icd_dispatch>() / size_of::<usize>();
    let places = unsafe { &*std::ptr::from_ref(table()).cast::<[usize; PLACES]>() };
    const { assert!(PLACES > 140) };
    let empty: Vec<usize> = (0..PLACES).filter(|i| places[*i] == 0).collect();
    assert_eq!(empty, Vec::<usize>::new());
}

#[test]
fn the_library_exports_what_loaders_look_for() {
    for name in [c"clGetExtensionFunctionAddress", c"clIcdGetPlatformIDsKHR", c"clGetPlatformInfo"] {
        assert!(!exported(name).is_null(), "{name:?}");
    }
    // A program linked against the loader must not find the driver's entry points by their names.
    assert!(exported(c"clCreateBuffer").is_null());
    assert!(extension(c"clNoSuchFunction").is_null());
    assert!(!extension(c"clIcdGetPlatformIDsKHR").is_null());
}

/// A type of objects: how to retain and release one, how many references it has, and its code for a wrong handle.
struct Kind {
    name: &'static str,
    make: fn(&Host) -> *mut c_void,
    retain: fn(*mut c_void) -> cl_int,
    release: fn(*mut c_void) -> cl_int,
    references: fn(*mut c_void) -> cl_uint,
    invalid: cl_int,
}

const KINDS: [Kind; 7] = [
    Kind {
        name: "context",
        make: |h| new!(clCreateContext(null(), 1, &raw const h.device, None, null_mut())),
        retain: |o| cl!(clRetainContext(o)),
        release: |o| cl!(clReleaseContext(o)),
        references: |o| number(|size, to, got| cl!(clGetContextInfo(o, CL_CONTEXT_REFERENCE_COUNT, size, to, got))),
        invalid: CL_INVALID_CONTEXT,
    },
    Kind {
        name: "queue",
        make: |h| h.queue_with(0),
        retain: |o| cl!(clRetainCommandQueue(o)),
        release: |o| cl!(clReleaseCommandQueue(o)),
        references: |o| number(|size, to, got| cl!(clGetCommandQueueInfo(o, CL_QUEUE_REFERENCE_COUNT, size, to, got))),
        invalid: CL_INVALID_COMMAND_QUEUE,
    },
    Kind {
        name: "buffer",
        make: |h| h.room(64),
        retain: |o| cl!(clRetainMemObject(o)),
        release: |o| cl!(clReleaseMemObject(o)),
        references: |o| number(|size, to, got| cl!(clGetMemObjectInfo(o, CL_MEM_REFERENCE_COUNT, size, to, got))),
        invalid: CL_INVALID_MEM_OBJECT,
    },
    Kind {
        name: "sampler",
        make: |h| new!(clCreateSamplerWithProperties(h.context, null())),
        retain: |o| cl!(clRetainSampler(o)),
        release: |o| cl!(clReleaseSampler(o)),
        references: |o| number(|size, to, got| cl!(clGetSamplerInfo(o, CL_SAMPLER_REFERENCE_COUNT, size, to, got))),
        invalid: CL_INVALID_SAMPLER,
    },
    Kind {
        name: "program",
        make: |h| h.source("kernel void f() {}"),
        retain: |o| cl!(clRetainProgram(o)),
        release: |o| cl!(clReleaseProgram(o)),
        references: |o| number(|size, to, got| cl!(clGetProgramInfo(o, CL_PROGRAM_REFERENCE_COUNT, size, to, got))),
        invalid: CL_INVALID_PROGRAM,
    },
    Kind {
        name: "kernel",
        make: |h| h.kernel("kernel void f() {}", c"f"),
        retain: |o| cl!(clRetainKernel(o)),
        release: |o| cl!(clReleaseKernel(o)),
        references: |o| number(|size, to, got| cl!(clGetKernelInfo(o, CL_KERNEL_REFERENCE_COUNT, size, to, got))),
        invalid: CL_INVALID_KERNEL,
    },
    Kind {
        name: "event",
        make: |h| h.user_event(),
        retain: |o| cl!(clRetainEvent(o)),
        release: |o| cl!(clReleaseEvent(o)),
        references: |o| number(|size, to, got| cl!(clGetEventInfo(o, CL_EVENT_REFERENCE_COUNT, size, to, got))),
        invalid: CL_INVALID_EVENT,
    },
];

#[test]
fn references_are_counted_and_dead_handles_refused() {
    Host::alone(|host| {
        for kind in KINDS {
            let object = (kind.make)(host);
            assert_eq!((kind.references)(object), 1, "{}", kind.name);
            assert_eq!((kind.retain)(object), CL_SUCCESS);
            assert_eq!((kind.references)(object), 2, "{}", kind.name);
            assert_eq!(((kind.release)(object), (kind.references)(object)), (CL_SUCCESS, 1));
            assert_eq!((kind.release)(object), CL_SUCCESS);
            assert_eq!(((kind.release)(object), (kind.retain)(object)), (kind.invalid, kind.invalid), "{}", kind.name);
        }
    });
}

#[test]
fn handles_of_other_types_are_refused() {
    let host = Host::new();
    for made in &KINDS {
        let object = (made.make)(&host);
        for asked in KINDS.iter().filter(|k| k.name != made.name) {
            assert_eq!((asked.retain)(object), asked.invalid, "a {} as a {}", made.name, asked.name);
        }
        assert_eq!((made.release)(object), CL_SUCCESS);
    }
    for kind in KINDS {
        assert_eq!((kind.release)(null_mut()), kind.invalid);
        assert_eq!((kind.release)((&raw const host).cast_mut().cast()), kind.invalid);
    }
}

/// A handle that a query answers.
fn queried(ask: impl Fn(usize, *mut c_void, *mut usize) -> cl_int) -> *mut c_void {
    let mut handle = null_mut::<c_void>();
    assert_eq!(ask(size_of_val(&handle), (&raw mut handle).cast(), null_mut()), CL_SUCCESS);
    handle
}

#[test]
fn what_others_need_can_be_asked_for_and_used_after_its_release() {
    Host::alone(|host| {
        // The program's own reference to the program is gone, as to the context of `inner` below.
        let kernel = host.kernel("kernel void f() {} kernel void g() {}", c"f");
        let program = queried(|size, to, got| cl!(clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, size, to, got)));
        ok!(clRetainProgram(program));
        assert_eq!(
            number::<cl_uint>(|size, to, got| cl!(clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, size, to, got))),
            1
        );
        ok!(clReleaseKernel(kernel));
        let other = new!(clCreateKernel(program, c"g".as_ptr()));
        ok!(clReleaseProgram(program));
        assert_eq!(cl!(clReleaseProgram(program)), CL_INVALID_PROGRAM, "there is no reference to release");
        ok!(clReleaseKernel(other));
        assert_eq!(cl!(clRetainProgram(program)), CL_INVALID_PROGRAM, "nothing needs it any more");

        let inner = Host::another();
        let queue = inner.out_of_order();
        let buffer = inner.room(4096);
        let region = cl_buffer_region { origin: 0, size: 64 };
        let kind = CL_BUFFER_CREATE_TYPE_REGION;
        let part = new!(clCreateSubBuffer(buffer, CL_MEM_READ_WRITE, kind, (&raw const region).cast()));
        let marker = inner.user_event();
        let mut event = null_mut();
        ok!(clEnqueueMarkerWithWaitList(queue, 1, &raw const marker, &raw mut event));
        ok!(clReleaseMemObject(buffer));
        ok!(clReleaseCommandQueue(queue));
        let context = inner.context;
        drop(inner);
        assert_eq!(cl!(clRetainMemObject(buffer)), CL_INVALID_MEM_OBJECT, "nobody has asked for it");
        let parent = |size, to, got: *mut usize| cl!(clGetMemObjectInfo(part, CL_MEM_ASSOCIATED_MEMOBJECT, size, to, got));
        assert_eq!(queried(parent), buffer);
        ok!(clRetainMemObject(buffer));
        ok!(clReleaseMemObject(buffer));
        let of_event = |size, to, got: *mut usize| cl!(clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, size, to, got));
        assert_eq!(queried(of_event), queue);
        ok!(clSetUserEventStatus(marker, CL_COMPLETE));
        ok!(clFinish(queue));
        let room = new!(clCreateBuffer(context, CL_MEM_READ_WRITE, 64, null_mut()));
        for object in [room, part] {
            ok!(clReleaseMemObject(object));
        }
        for object in [marker, event] {
            ok!(clReleaseEvent(object));
        }
        // The device's thread may still have the marker in its hands.
        let count = || cl!(clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, 0, null_mut(), null_mut()));
        assert!(soon(|| count() == CL_INVALID_CONTEXT), "nothing needs it any more");
    });
}

/// Whether something is so within seconds.
fn soon(mut is_so: impl FnMut() -> bool) -> bool {
    (0..5000).any(|_| {
        is_so() || {
            std::thread::sleep(std::time::Duration::from_millis(1));
            false
        }
    })
}

/// What a query said in a callback.
static IN_CALLBACK: AtomicI32 = AtomicI32::new(1);

unsafe extern "C" fn asks(event: cl_event, _status: cl_int, _data: *mut c_void) {
    let kind = CL_EVENT_COMMAND_EXECUTION_STATUS;
    IN_CALLBACK.store(cl!(clGetEventInfo(event, kind, 0, null_mut(), null_mut())), Ordering::SeqCst);
}

#[test]
fn a_callback_may_ask_its_event_which_the_program_has_released() {
    let host = Host::new();
    let gate = host.user_event();
    let mut event = null_mut();
    ok!(clEnqueueMarkerWithWaitList(host.queue, 1, &raw const gate, &raw mut event));
    ok!(clSetEventCallback(event, CL_COMPLETE, Some(asks), null_mut()));
    ok!(clReleaseEvent(event));
    ok!(clSetUserEventStatus(gate, CL_COMPLETE));
    assert!(soon(|| IN_CALLBACK.load(Ordering::SeqCst) != 1));
    assert_eq!(IN_CALLBACK.load(Ordering::SeqCst), CL_SUCCESS);
    ok!(clReleaseEvent(gate));
}

/// Notes which objects end.
static ENDED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

unsafe extern "C" fn ended(_object: *mut c_void, data: *mut c_void) {
    ENDED.lock().unwrap().push(data as usize);
}

#[test]
fn objects_end_when_nothing_needs_them() {
    let host = Host::new();
    let context = new!(clCreateContext(null(), 1, &raw const host.device, None, null_mut()));
    let inner = Host::of(context);
    let queue = inner.out_of_order();
    let mut values = [0i32; 64];
    let buffer = inner.buffer(&[7i32; 64]);
    let kernel = inner.kernel("kernel void f(global int* a) { a[get_global_id(0)] += 1; }", c"f");
    set(kernel, 0, buffer);
    for i in 0..3usize {
        ok!(clSetMemObjectDestructorCallback(buffer, Some(ended), (10 + i) as *mut c_void));
        ok!(clSetContextDestructorCallback(context, Some(ended), (20 + i) as *mut c_void));
    }
    let gate = inner.user_event();
    let launched = inner.launch(queue, kernel, 64, &[gate]);
    let to = values.as_mut_ptr().cast();
    let mut read = null_mut();
    ok!(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, 256, to, 1, &raw const launched, &raw mut read));
    // The program has nothing any more but two events; its commands keep all they need.
    for code in [cl!(clReleaseKernel(kernel)), cl!(clReleaseMemObject(buffer))] {
        assert_eq!(code, CL_SUCCESS);
    }
    ok!(clReleaseEvent(launched));
    drop(inner);
    assert!(ENDED.lock().unwrap().is_empty());
    ok!(clSetUserEventStatus(gate, CL_COMPLETE));
    ok!(clWaitForEvents(1, &raw const read));
    assert_eq!(status(read), CL_COMPLETE);
    assert_eq!(values, [8; 64]);
    assert_eq!(*ENDED.lock().unwrap(), [12, 11, 10], "the last one registered is called first");
    ok!(clReleaseEvent(gate));
    ok!(clReleaseEvent(read));
    ok!(clReleaseCommandQueue(queue));
    assert_eq!(*ENDED.lock().unwrap(), [12, 11, 10, 22, 21, 20]);
}

#[test]
fn objects_of_two_contexts_do_not_mix() {
    let (one, other) = (Host::new(), Host::another());
    let (buffer, own) = (one.room(64), other.room(64));
    let code = cl!(clEnqueueFillBuffer(other.queue, buffer, [0u8].as_ptr().cast(), 1, 0, 64, 0, null(), null_mut()));
    assert_eq!(code, CL_INVALID_CONTEXT);
    let kernel = one.kernel("kernel void f(global int* a) { a[0] = 1; }", c"f");
    set(kernel, 0, buffer);
    let size = 1usize;
    let code = cl!(clEnqueueNDRangeKernel(other.queue, kernel, 1, null(), &raw const size, null(), 0, null(), null_mut()));
    assert_eq!(code, CL_INVALID_CONTEXT);
    let gate = one.user_event();
    let code = cl!(clEnqueueMarkerWithWaitList(other.queue, 1, &raw const gate, null_mut()));
    assert_eq!(code, CL_INVALID_CONTEXT);
    // Both work.
    ok!(clReleaseEvent(one.launch(one.queue, kernel, 1, &[])));
    assert_eq!(one.read::<i32>(buffer, 1), [1]);
    ok!(clEnqueueFillBuffer(other.queue, own, [3u8].as_ptr().cast(), 1, 0, 64, 0, null(), null_mut()));
    assert_eq!(other.read::<u8>(own, 64), [3; 64]);
    ok!(clReleaseEvent(gate));
    ok!(clReleaseKernel(kernel));
    ok!(clReleaseMemObject(buffer));
    ok!(clReleaseMemObject(own));
}
