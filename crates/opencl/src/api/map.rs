//! Mapping and unmapping of buffers and images.

use std::ffi::c_void;

use opencl_sys::*;

use super::buffer::buffer;
use super::transfer::{Way, check_alignment, host_may, three};
use super::{Waits, same_context, wait_list};
use crate::core::clock::Path;
use crate::core::memory::{Mapping, Memory};
use crate::core::queue::{Order, Queue};
use crate::core::transfer::{self, Rows, moved};
use crate::entry::{made, status};
use crate::error::{Outcome, ensure};
use crate::object::{self, Ref};

fn check_map_flags(memory: &Memory, flags: cl_map_flags) -> Outcome {
    let known = flags & !(CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION) == 0;
    ensure(known, CL_INVALID_VALUE, "there are no such map_flags")?;
    let both = flags & CL_MAP_WRITE_INVALIDATE_REGION != 0 && flags & (CL_MAP_READ | CL_MAP_WRITE) != 0;
    ensure(!both, CL_INVALID_VALUE, "CL_MAP_WRITE_INVALIDATE_REGION goes with no other flag")?;
    if flags & CL_MAP_READ != 0 {
        host_may(memory, Way::Read)?;
    }
    if flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION) != 0 {
        host_may(memory, Way::Write)?;
    }
    Ok(())
}

/// Maps a region that the program sees at `host`: in device memory itself, or in memory of its own.
unsafe fn map(
    queue: &Ref<Queue>,
    memory: Ref<Memory>,
    (device_rows, host): (Rows, Rows),
    region: [usize; 3],
    flags: cl_map_flags,
    (kind, blocking): (cl_command_type, cl_bool),
    waits: Waits,
) -> Outcome<*mut c_void> {
    let writes = flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION) != 0;
    let pointer = host.start;
    let mapping = Mapping { pointer, writes, device: device_rows, host, region };
    memory.map(mapping);
    let (device, mapped) = (queue.device, memory.clone());
    let fills = flags & CL_MAP_WRITE_INVALIDATE_REGION == 0;
    let work = Box::new(move || {
        if fills && host.start != device_rows.start {
            let state = device.state();
            // SAFETY: the region is inside the object, which is alive, and inside the memory that the program gave it.
            unsafe { transfer::copy(device_rows, host, region) };
            drop(state);
        }
        drop(mapped);
        Ok(if fills { moved(device, Path::Link, region) } else { moved(device, Path::Link, [0; 3]) })
    });
    if let Err(e) = waits.enqueue(queue, kind, blocking != CL_FALSE, Order::Queue, work) {
        memory.unmap(pointer);
        return Err(e);
    }
    Ok(pointer as *mut c_void)
}

pub unsafe extern "C" fn clEnqueueMapBuffer(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    blocking_map: cl_bool,
    map_flags: cl_map_flags,
    offset: usize,
    size: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
    errcode_ret: *mut cl_int,
) -> *mut c_void {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    made("clEnqueueMapBuffer", errcode_ret, || {
        let queue = object::get::<Queue>(command_queue)?;
        let memory = self::buffer(buffer)?;
        same_context(&queue.context, &memory.context)?;
        wait_list(&queue.context, waits.count, waits.list)?;
        let inside = offset.checked_add(size).is_some_and(|end| end <= memory.size);
        ensure(inside && size > 0, CL_INVALID_VALUE, "the bytes are not all inside the buffer, or there are none")?;
        check_map_flags(&memory, map_flags)?;
        check_alignment(&memory)?;
        let device_rows = memory.rows(offset, 0, 0);
        let host = if memory.host == 0 { device_rows } else { Rows::bytes(memory.host + offset) };
        map(&queue, memory, (device_rows, host), [size, 1, 1], map_flags, (CL_COMMAND_MAP_BUFFER, blocking_map), waits)
    })
}

pub unsafe extern "C" fn clEnqueueMapImage(
    command_queue: cl_command_queue,
    image: cl_mem,
    blocking_map: cl_bool,
    map_flags: cl_map_flags,
    origin: *const usize,
    region: *const usize,
    image_row_pitch: *mut usize,
    image_slice_pitch: *mut usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
    errcode_ret: *mut cl_int,
) -> *mut c_void {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    made("clEnqueueMapImage", errcode_ret, || {
        let queue = object::get::<Queue>(command_queue)?;
        let (memory, shape) = super::image::image(image)?;
        same_context(&queue.context, &memory.context)?;
        wait_list(&queue.context, waits.count, waits.list)?;
        let (origin, region) = (three(origin)?, three(region)?);
        super::image::check_region(&shape, origin, region)?;
        ensure(!image_row_pitch.is_null(), CL_INVALID_VALUE, "image_row_pitch is null")?;
        let sliced =
            [CL_MEM_OBJECT_IMAGE3D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D_ARRAY].contains(&shape.image_type);
        ensure(!sliced || !image_slice_pitch.is_null(), CL_INVALID_VALUE, "image_slice_pitch is null")?;
        check_map_flags(&memory, map_flags)?;
        let device_rows = shape.rows(memory.address, origin);
        let (row, slices) = match memory.host {
            0 => (shape.row_pitch(), shape.slice_pitch()),
            _ => shape.host_pitches,
        };
        let host = match memory.host {
            0 => device_rows,
            start => shape.rows_in(start, origin, row, slices),
        };
        let region = shape.region(region);
        let kind = (CL_COMMAND_MAP_IMAGE, blocking_map);
        let pointer = map(&queue, memory, (device_rows, host), region, map_flags, kind, waits)?;
        image_row_pitch.write_unaligned(row);
        if !image_slice_pitch.is_null() {
            image_slice_pitch.write_unaligned(if sliced { slices } else { 0 });
        }
        Ok(pointer)
    })
}

pub unsafe extern "C" fn clEnqueueUnmapMemObject(
    command_queue: cl_command_queue,
    memobj: cl_mem,
    mapped_ptr: *mut c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    status("clEnqueueUnmapMemObject", || {
        let queue = object::get::<Queue>(command_queue)?;
        let memory = object::get::<Memory>(memobj)?;
        same_context(&queue.context, &memory.context)?;
        wait_list(&queue.context, waits.count, waits.list)?;
        let mapping = memory.unmap(mapped_ptr as usize);
        ensure(mapping.is_some(), CL_INVALID_VALUE, "mapped_ptr is no pointer that mapping the object gave")?;
        let device = queue.device;
        let work = Box::new(move || {
            let Some(Mapping { writes: true, device: rows, host, region, .. }) = mapping else {
                return Ok(moved(device, Path::Link, [0; 3]));
            };
            let mut state = device.state();
            if host.start != rows.start {
                // SAFETY: the region is inside the object, which is alive, and inside the memory that the program gave it.
                unsafe { transfer::copy(host, rows, region) };
            }
            state.host_wrote(rows.start as u64, rows.span(region) as u64);
            drop(state);
            drop(memory);
            Ok(moved(device, Path::Link, region))
        });
        waits.enqueue(&queue, CL_COMMAND_UNMAP_MEM_OBJECT, false, Order::Queue, work)
    })
}
