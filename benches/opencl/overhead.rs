//! What a launch and a copy cost the host, for `cargo xtask bench opencl`: prints seconds as JSON.
//!
//!     opencl_overhead library LAUNCHES     an empty kernel by Heddle as a library, functional mode
//!     opencl_overhead opencl LAUNCHES      the same by the OpenCL loader's first platform, and a copy
//!
//! Each launch is waited for, and times are medians. The loader is opened at run time.

use std::error::Error;
use std::time::Instant;

use heddle::{Device, Mode, NdRange, Program};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::CL_DEVICE_TYPE_ALL;
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
use opencl3::platform::get_platforms;
use opencl3::program::Program as ClProgram;
use opencl3::types::CL_BLOCKING;

const SOURCE: &str = "__kernel void empty(void) {}";
/// Work-items of a launch: one group.
const ITEMS: usize = 64;
/// Bytes of the copy.
const BYTES: usize = 64 << 20;
/// Copies; the first ones find the memory untouched.
const COPIES: usize = 9;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let launches = arguments.get(1).and_then(|n| n.parse().ok()).filter(|n| *n > 0);
    match (arguments.first().map(String::as_str), launches) {
        (Some("library"), Some(launches)) => library(launches),
        (Some("opencl"), Some(launches)) => opencl(launches),
        _ => Err("usage: opencl_overhead library|opencl LAUNCHES".into()),
    }
}

/// Median seconds of some work. The first time, which may prepare something, does not count.
fn measure(times: usize, mut work: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    work()?;
    let mut seconds = Vec::with_capacity(times);
    for _ in 0..times {
        let started = Instant::now();
        work()?;
        seconds.push(started.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    Ok(seconds[times / 2])
}

fn library(launches: usize) -> Result<(), Box<dyn Error>> {
    let mut device = Device::default().with_mode(Mode::Functional);
    let program = Program::compile(&device, SOURCE)?;
    let kernel = program.kernel("empty")?;
    let launch = measure(launches, || {
        kernel.launch(&mut device, NdRange::new(&[ITEMS as u64]).local(&[ITEMS as u64]), &[])?;
        Ok(())
    })?;
    println!("{{\"launch\": {launch:e}}}");
    Ok(())
}

fn opencl(launches: usize) -> Result<(), Box<dyn Error>> {
    let platform = get_platforms()?.into_iter().next().ok_or("the OpenCL loader has no platform")?;
    let device = platform.get_devices(CL_DEVICE_TYPE_ALL)?.into_iter().next().ok_or("the platform has no device")?;
    let context = Context::from_device(&opencl3::device::Device::new(device))?;
    #[allow(deprecated, reason = "it is what a queue is made with on every version")]
    let queue = CommandQueue::create_default(&context, 0)?;
    let program = ClProgram::create_and_build_from_source(&context, SOURCE, "")?;
    let kernel = Kernel::create(&program, "empty")?;
    let launch = measure(launches, || {
        // SAFETY: the kernel has no arguments and touches nothing.
        unsafe { ExecuteKernel::new(&kernel).set_global_work_size(ITEMS).set_local_work_size(ITEMS).enqueue_nd_range(&queue)? };
        queue.finish()?;
        Ok(())
    })?;
    let (from, mut to) = (vec![1u8; BYTES], vec![0u8; BYTES]);
    // SAFETY: no memory of the host is handed over.
    let mut buffer = unsafe { Buffer::<u8>::create(&context, CL_MEM_READ_WRITE, BYTES, std::ptr::null_mut())? };
    let write = measure(COPIES, || {
        // SAFETY: the call blocks, so the memory outlives it, and it has the buffer's length.
        unsafe { queue.enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, &from, &[])? };
        Ok(())
    })?;
    let copy = measure(COPIES, || {
        to.copy_from_slice(std::hint::black_box(&from));
        std::hint::black_box(&mut to);
        Ok(())
    })?;
    println!("{{\"launch\": {launch:e}, \"write\": {write:e}, \"memcpy\": {copy:e}, \"platform\": {:?}}}", platform.name()?);
    Ok(())
}
