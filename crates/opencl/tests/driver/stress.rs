//! Many threads, and many calls.

use std::ptr::{null, null_mut};
use std::time::Instant;

use opencl_sys::*;

use crate::host::{Host, set, status};
use crate::{cl, new, ok};

const ADD: &str = "kernel void add(global uint* a, uint k) { atomic_add(&a[get_global_id(0)], k); }";

#[test]
fn eight_threads_on_four_queues_lose_nothing() {
    const ROUNDS: u32 = 150;
    let host = Host::new();
    let host = &host;
    let queues: Vec<usize> = (0..4).map(|i| if i < 2 { host.queue_with(0) } else { host.out_of_order() } as usize).collect();
    let (shared, kernel) = (host.buffer(&[0u32; 96]) as usize, host.kernel(ADD, c"add") as usize);
    std::thread::scope(|scope| {
        for thread in 0..8u32 {
            let queue = queues[thread as usize % 4];
            let clone = new!(clCloneKernel(kernel as cl_kernel)) as usize;
            scope.spawn(move || {
                let (kernel, queue) = (clone as cl_kernel, queue as cl_command_queue);
                for round in 1..=ROUNDS {
                    // A buffer of this thread, through writes, a launch and a read that wait for each other.
                    let own = host.buffer(&[round; 96]);
                    set(kernel, 0, own);
                    set(kernel, 1, thread);
                    let first = host.launch(queue, kernel, 96, &[]);
                    set(kernel, 0, shared as cl_mem);
                    set(kernel, 1, round);
                    let second = host.launch(queue, kernel, 96, &[first]);
                    let mut seen = [0u32; 96];
                    let to = seen.as_mut_ptr().cast();
                    let mut read = null_mut();
                    ok!(clEnqueueReadBuffer(queue, own, CL_FALSE, 0, 384, to, 1, &raw const first, &raw mut read));
                    if round % 3 == 0 {
                        ok!(clFlush(queue));
                    }
                    ok!(clWaitForEvents(1, &raw const read));
                    assert_eq!(seen, [round + thread; 96]);
                    ok!(clReleaseMemObject(own));
                    if round % 16 == 0 {
                        ok!(clFinish(queue));
                        assert_eq!(status(second), CL_COMPLETE);
                    }
                    [first, second, read].iter().for_each(|e| ok!(clReleaseEvent(*e)));
                }
                ok!(clReleaseKernel(kernel));
            });
        }
    });
    for queue in queues {
        ok!(clFinish(queue as cl_command_queue));
        ok!(clReleaseCommandQueue(queue as cl_command_queue));
    }
    let all = 8 * ROUNDS * (ROUNDS + 1) / 2;
    assert_eq!(host.read::<u32>(shared as cl_mem, 96), [all; 96]);
    ok!(clReleaseMemObject(shared as cl_mem));
    ok!(clReleaseKernel(kernel as cl_kernel));
}

#[test]
fn threads_build_at_the_same_time() {
    let host = Host::new();
    let host = &host;
    std::thread::scope(|scope| {
        for thread in 0..6 {
            scope.spawn(move || {
                let source = format!("kernel void f(global int* a) {{ a[get_global_id(0)] = {} * 11; }}", thread / 2);
                let (kernel, buffer) = (host.kernel(&source, c"f"), host.room(64));
                set(kernel, 0, buffer);
                ok!(clReleaseEvent(host.launch(host.queue, kernel, 16, &[])));
                assert_eq!(host.read::<i32>(buffer, 16), [thread / 2 * 11; 16]);
                ok!(clReleaseMemObject(buffer));
                ok!(clReleaseKernel(kernel));
            });
        }
    });
}

/// Bytes of the process in memory.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// A tenth, then all of a number of calls, between which memory may not have grown. What is made once, such as a kernel's
/// translation when it has run long enough, does not come again in every further round; what leaks does.
fn soak(what: &str, count: u64, mut call: impl FnMut(u64)) {
    (0..count / 10).for_each(&mut call);
    let mut round = || {
        let (before, began) = (resident(), Instant::now());
        (0..count).for_each(&mut call);
        let each = began.elapsed().as_secs_f64() * 1e6 / count as f64;
        let after = resident();
        println!("{count} {what}: {each:.2} µs each, {} kB before, {} kB after", before / 1024, after / 1024);
        after < before + (8 << 20)
    };
    assert!((0..4).any(|_| round()), "{what}: memory grew in each of four rounds");
}

/// `HEDDLE_SOAK=100` makes it a million launches and ten million buffers. Alone, so that its memory is its own.
#[test]
fn memory_does_not_grow() {
    let factor: u64 = std::env::var("HEDDLE_SOAK").map_or(1, |v| v.parse().unwrap());
    Host::alone(|host| {
        let kernel = host.kernel("kernel void nothing() {}", c"nothing");
        soak("launches", 10_000 * factor, |i| {
            ok!(clReleaseEvent(host.launch(host.queue, kernel, 1, &[])));
            if i % 1000 == 999 {
                host.finish();
            }
        });
        host.finish();
        soak("buffers", 100_000 * factor, |i| {
            let size = 64 + (i * 2_654_435_761 % 65536) as usize;
            ok!(clReleaseMemObject(host.room(size)));
        });
        let buffer = host.room(4096);
        let mut bytes = [0u8; 64];
        soak("reads", 10_000 * factor, |_| {
            let to = bytes.as_mut_ptr().cast();
            ok!(clEnqueueReadBuffer(host.queue, buffer, CL_TRUE, 0, 64, to, 0, null(), null_mut()));
        });
        let program = host.source("kernel void f(global int* a) { a[0] = 1; }");
        soak("builds", 20 * factor, |_| assert_eq!(host.build(program, c""), CL_SUCCESS));
        assert_eq!(cl!(clReleaseProgram(program)), CL_SUCCESS);
        ok!(clReleaseMemObject(buffer));
        ok!(clReleaseKernel(kernel));
    });
}
