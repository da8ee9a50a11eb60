//! Commands that run kernels, the device's and the program's own.

use std::ffi::c_void;

use opencl_sys::*;

use heddle_runtime::run::suggested_local;

use super::{Waits, same_context, wait_list};
use crate::core::clock::Path;
use crate::core::kernel::{Kernel, Setting};
use crate::core::launch::{self, Range};
use crate::core::memory::Memory;
use crate::core::queue::{Order, Queue};
use crate::core::transfer::moved;
use crate::entry::{slice, status};
use crate::error::{Outcome, ensure, fail};
use crate::object::{self, Ref};

/// Sizes of a program: `dimensions` numbers; none for null.
unsafe fn sizes(numbers: *const usize, dimensions: usize) -> Option<Vec<u64>> {
    (!numbers.is_null()).then(|| (0..dimensions).map(|d| numbers.add(d).read_unaligned() as u64).collect())
}

/// Checks sizes, and that the device counts as far.
unsafe fn range(
    kernel: &Kernel,
    dimensions: cl_uint,
    (offset, global, local): (*const usize, *const usize, *const usize),
) -> Outcome<Range> {
    ensure((1..=3).contains(&dimensions), CL_INVALID_WORK_DIMENSION, "work_dim is not from 1 to 3")?;
    let dimensions = dimensions as usize;
    // Since OpenCL 2.1 a launch without sizes is one of no work-items.
    let global = sizes(global, dimensions).unwrap_or_else(|| vec![0; dimensions]);
    let offset = sizes(offset, dimensions);
    let local = sizes(local, dimensions);
    let fits = |d: usize| offset.as_ref().map_or(0, |o| o[d]).checked_add(global[d]).is_some_and(|end| end <= 1 << 32);
    let small = global.iter().all(|n| *n < 1 << 32);
    ensure(small, CL_INVALID_GLOBAL_WORK_SIZE, "the device counts work-items of a dimension in 32 bits")?;
    ensure((0..dimensions).all(fits), CL_INVALID_GLOBAL_OFFSET, "the device counts global ids in 32 bits")?;
    let most = if kernel.header().short_ids { 1u64 << 31 } else { u64::MAX };
    const LARGE: &str = "the kernel keeps ids in signed integers of 32 bits and is compiled for launches of less than 2^31 work-items \
                         a dimension, the offset included; `heddle exec --wide-ids` compiles it for larger ones";
    ensure(global.iter().all(|n| *n < most), CL_INVALID_GLOBAL_WORK_SIZE, LARGE)?;
    let short = |d: usize| offset.as_ref().map_or(0, |o| o[d]) + global[d] < most;
    ensure((0..dimensions).all(short), CL_INVALID_GLOBAL_OFFSET, LARGE)?;
    launch::check_work_group(kernel, &global, local.as_deref())?;
    Ok(Range { global, local, offset })
}

/// Checks that all arguments are set.
fn check_arguments(kernel: &Kernel, settings: &[Option<Setting>]) -> Outcome {
    match settings.iter().position(Option::is_none) {
        None => Ok(()),
        Some(i) => {
            let name = kernel.parameter(i as u32).map(|p| p.name.clone()).unwrap_or_default();
            let kernel = &kernel.header().name;
            let why = format!("argument {i} (`{name}`) of kernel `{kernel}` is not set, or its memory has been released");
            fail(CL_INVALID_KERNEL_ARGS, why)
        }
    }
}

unsafe fn enqueue(
    (command_queue, kernel): (cl_command_queue, cl_kernel),
    kind: cl_command_type,
    dimensions: cl_uint,
    sizes: (*const usize, *const usize, *const usize),
    waits: Waits,
) -> Outcome {
    let queue = object::get::<Queue>(command_queue)?;
    let kernel = object::get::<Kernel>(kernel)?;
    same_context(&queue.context, &kernel.program.context)?;
    let listed = wait_list(&queue.context, waits.count, waits.list)?;
    let settings = kernel.settings();
    check_arguments(&kernel, &settings.arguments)?;
    let range = range(&kernel, dimensions, sizes)?;
    let work = launch::work(&queue, &kernel, settings, range)?;
    waits.enqueue_checked(&queue, kind, &listed, false, Order::Queue, work)
}

pub unsafe extern "C" fn clEnqueueNDRangeKernel(
    command_queue: cl_command_queue,
    kernel: cl_kernel,
    work_dim: cl_uint,
    global_work_offset: *const usize,
    global_work_size: *const usize,
    local_work_size: *const usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    let sizes = (global_work_offset, global_work_size, local_work_size);
    status("clEnqueueNDRangeKernel", || enqueue((command_queue, kernel), CL_COMMAND_NDRANGE_KERNEL, work_dim, sizes, waits))
}

pub unsafe extern "C" fn clEnqueueTask(
    command_queue: cl_command_queue,
    kernel: cl_kernel,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    let one = 1usize;
    let sizes = (std::ptr::null(), &raw const one, &raw const one);
    status("clEnqueueTask", || enqueue((command_queue, kernel), CL_COMMAND_TASK, 1, sizes, waits))
}

pub unsafe extern "C" fn clEnqueueNativeKernel(
    command_queue: cl_command_queue,
    user_func: Option<unsafe extern "C" fn(*mut c_void)>,
    args: *mut c_void,
    cb_args: usize,
    num_mem_objects: cl_uint,
    mem_list: *const cl_mem,
    args_mem_loc: *mut *const c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    status("clEnqueueNativeKernel", || {
        let queue = object::get::<Queue>(command_queue)?;
        let Some(function) = user_func else { return fail(CL_INVALID_VALUE, "user_func is null") };
        let none = num_mem_objects == 0;
        let together = (args.is_null() == (cb_args == 0))
            && none == mem_list.is_null()
            && none == args_mem_loc.is_null()
            && (none || !args.is_null());
        ensure(together, CL_INVALID_VALUE, "args, cb_args, mem_list and args_mem_loc do not go together")?;
        let count = num_mem_objects as usize;
        // The list may have null instead of a buffer, which the function then finds in its place.
        let buffer = |m: &cl_mem| if m.is_null() { Ok(None) } else { super::buffer::buffer(*m).map(Some) };
        let memories: Vec<Option<Ref<Memory>>> = slice(mem_list, count).iter().map(buffer).collect::<Outcome<_>>()?;
        memories.iter().flatten().try_for_each(|m| same_context(&queue.context, &m.context))?;
        let mut bytes = slice(args.cast_const().cast::<u8>(), cb_args).to_vec();
        for (memory, place) in memories.iter().zip(slice(args_mem_loc.cast_const(), count)) {
            let at = (*place as usize).wrapping_sub(args as usize);
            let inside = at.checked_add(size_of::<usize>()).is_some_and(|end| end <= cb_args);
            ensure(inside, CL_INVALID_VALUE, "a place for a memory object is not inside args")?;
            let address = memory.as_ref().map_or(0, |m| m.address);
            bytes[at..at + size_of::<usize>()].copy_from_slice(&address.to_ne_bytes());
        }
        let device = queue.device;
        let work = Box::new(move || {
            // Numbers inside are to be aligned as malloc aligns.
            let mut aligned = vec![0u128; bytes.len().div_ceil(16)];
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), aligned.as_mut_ptr().cast(), bytes.len());
            let args = if bytes.is_empty() { std::ptr::null_mut() } else { aligned.as_mut_ptr().cast() };
            // The program gave the function for this.
            function(args);
            let mut state = device.state();
            memories.iter().flatten().for_each(|m| state.host_wrote(m.address, m.size as u64));
            drop(state);
            drop(memories);
            Ok(moved(device, Path::Link, [0; 3]))
        });
        waits.enqueue(&queue, CL_COMMAND_NATIVE_KERNEL, false, Order::Queue, work)
    })
}

pub unsafe extern "C" fn clGetKernelSuggestedLocalWorkSize(
    command_queue: cl_command_queue,
    kernel: cl_kernel,
    work_dim: cl_uint,
    global_work_offset: *const usize,
    global_work_size: *const usize,
    suggested_local_work_size: *mut usize,
) -> cl_int {
    status("clGetKernelSuggestedLocalWorkSize", || {
        let queue = object::get::<Queue>(command_queue)?;
        let kernel = object::get::<Kernel>(kernel)?;
        same_context(&queue.context, &kernel.program.context)?;
        check_arguments(&kernel, &kernel.settings().arguments)?;
        ensure(!suggested_local_work_size.is_null(), CL_INVALID_VALUE, "suggested_local_work_size is null")?;
        let range = range(&kernel, work_dim, (global_work_offset, global_work_size, std::ptr::null()))?;
        ensure(!range.global.contains(&0), CL_INVALID_GLOBAL_WORK_SIZE, "a global size is 0")?;
        let global = std::array::from_fn(|d| range.global.get(d).map_or(1, |n| *n as u32));
        let local = suggested_local(kernel.header(), global, &queue.device.machine);
        for (d, n) in local.iter().enumerate().take(work_dim as usize) {
            suggested_local_work_size.add(d).write_unaligned(*n as usize);
        }
        Ok(())
    })
}
