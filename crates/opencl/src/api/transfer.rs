//! Commands that read, write, copy and fill buffers, and migrations.

use std::ffi::c_void;

use opencl_sys::*;

use super::buffer::buffer;
use super::{Waits, same_context, wait_list};
use crate::core::clock::Path;
use crate::core::memory::{Memory, overlap};
use crate::core::queue::{Order, Queue};
use crate::core::transfer::{Rows, execute_copy, execute_fill, moved};
use crate::entry::{slice, status};
use crate::error::{Outcome, ensure};
use crate::object::{self, Ref};

/// Which way between the program and the device.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From the device.
    Read,
    /// To the device.
    Write,
}

/// Checks that the host may go this way.
pub fn host_may(memory: &Memory, way: Way) -> Outcome {
    let forbidden = match way {
        Way::Read => CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS,
        Way::Write => CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS,
    };
    ensure(memory.flags & forbidden == 0, CL_INVALID_OPERATION, "the object's flags keep the host from it")
}

/// Checks that a sub-buffer begins where the device can.
pub fn check_alignment(memory: &Memory) -> Outcome {
    let aligned = memory.address % (super::buffer::BASE_ALIGN) == 0;
    ensure(memory.host != 0 || aligned, CL_MISALIGNED_SUB_BUFFER_OFFSET, "the sub-buffer is misaligned for the device")
}

fn inside(memory: &Memory, offset: usize, bytes: usize) -> bool {
    offset.checked_add(bytes).is_some_and(|end| end <= memory.size)
}

/// A copy between the program's memory and an object's, as a command. The object is kept until then.
pub unsafe fn move_rows(
    queue: &Ref<Queue>,
    memory: Ref<Memory>,
    way: Way,
    (device_rows, host_rows): (Rows, Rows),
    region: [usize; 3],
    (kind, blocking): (cl_command_type, cl_bool),
    waits: Waits,
) -> Outcome {
    let device = queue.device;
    let work = Box::new(move || {
        let (from, to) = if way == Way::Read { (device_rows, host_rows) } else { (host_rows, device_rows) };
        // SAFETY: the region is inside the object, which is alive; the program vouches for its own memory.
        let done = unsafe { execute_copy(device, from, to, region, Path::Link, way == Way::Write) };
        drop(memory);
        Ok(done)
    });
    waits.enqueue(queue, kind, blocking != CL_FALSE, Order::Queue, work)
}

unsafe fn linear(
    (command_queue, handle): (cl_command_queue, cl_mem),
    way: Way,
    (offset, size, pointer): (usize, usize, usize),
    blocking: cl_bool,
    waits: Waits,
) -> Outcome {
    let queue = object::get::<Queue>(command_queue)?;
    let memory = buffer(handle)?;
    same_context(&queue.context, &memory.context)?;
    wait_list(&queue.context, waits.count, waits.list)?;
    ensure(inside(&memory, offset, size), CL_INVALID_VALUE, "the bytes are not all inside the buffer")?;
    ensure(pointer != 0, CL_INVALID_VALUE, "ptr is null")?;
    check_alignment(&memory)?;
    host_may(&memory, way)?;
    let kind = if way == Way::Read { CL_COMMAND_READ_BUFFER } else { CL_COMMAND_WRITE_BUFFER };
    let rows = (memory.rows(offset, 0, 0), Rows::bytes(pointer));
    move_rows(&queue, memory, way, rows, [size, 1, 1], (kind, blocking), waits)
}

pub unsafe extern "C" fn clEnqueueReadBuffer(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    blocking_read: cl_bool,
    offset: usize,
    size: usize,
    ptr: *mut c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    status("clEnqueueReadBuffer", || {
        linear((command_queue, buffer), Way::Read, (offset, size, ptr as usize), blocking_read, waits)
    })
}

pub unsafe extern "C" fn clEnqueueWriteBuffer(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    blocking_write: cl_bool,
    offset: usize,
    size: usize,
    ptr: *const c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    status("clEnqueueWriteBuffer", || {
        linear((command_queue, buffer), Way::Write, (offset, size, ptr as usize), blocking_write, waits)
    })
}

/// Three numbers of a program.
pub unsafe fn three(numbers: *const usize) -> Outcome<[usize; 3]> {
    ensure(!numbers.is_null(), CL_INVALID_VALUE, "an origin or region is null")?;
    Ok([numbers.read_unaligned(), numbers.add(1).read_unaligned(), numbers.add(2).read_unaligned()])
}

/// A rectangle's rows from `start`, with pitches of 0 made those of the region. The rows' span goes with it.
fn rectangle(start: usize, origin: [usize; 3], region: [usize; 3], row: usize, slice: usize) -> Outcome<(Rows, usize)> {
    let too_large = || crate::error::error(CL_INVALID_VALUE, "the rectangle is larger than memory");
    let row_pitch = if row == 0 { region[0] } else { row };
    ensure(row_pitch >= region[0], CL_INVALID_VALUE, "a row pitch is below the region's width")?;
    let least = row_pitch.checked_mul(region[1]).ok_or_else(too_large)?;
    let slice_pitch = if slice == 0 { least } else { slice };
    let fits = slice_pitch >= least && (slice == 0 || region[2] == 1 || slice_pitch % row_pitch == 0);
    ensure(fits, CL_INVALID_VALUE, "a slice pitch is below the region's rows, or no multiple of the row pitch")?;
    let at = |[x, y, z]: [usize; 3]| z.checked_mul(slice_pitch)?.checked_add(y.checked_mul(row_pitch)?)?.checked_add(x);
    let offset = at(origin).ok_or_else(too_large)?;
    let last = [region[0], region[1] - 1, region[2] - 1];
    let span = at(last).and_then(|s| s.checked_add(offset)).ok_or_else(too_large)?;
    Ok((Rows { start: start.wrapping_add(offset), row_pitch, slice_pitch }, span))
}

/// A rectangle as a program describes it: origin, row pitch, slice pitch.
type Rectangle = (*const usize, usize, usize);

unsafe fn rectangular(
    (command_queue, handle): (cl_command_queue, cl_mem),
    way: Way,
    (of_buffer, of_host, region): (Rectangle, Rectangle, *const usize),
    pointer: usize,
    blocking: cl_bool,
    waits: Waits,
) -> Outcome {
    let queue = object::get::<Queue>(command_queue)?;
    let memory = buffer(handle)?;
    same_context(&queue.context, &memory.context)?;
    wait_list(&queue.context, waits.count, waits.list)?;
    let region = three(region)?;
    ensure(pointer != 0, CL_INVALID_VALUE, "ptr is null")?;
    ensure(!region.contains(&0), CL_INVALID_VALUE, "the region is empty")?;
    let (device_rows, end) = rectangle(memory.address as usize, three(of_buffer.0)?, region, of_buffer.1, of_buffer.2)?;
    let (host_rows, _) = rectangle(pointer, three(of_host.0)?, region, of_host.1, of_host.2)?;
    ensure(end <= memory.size, CL_INVALID_VALUE, "the region is not all inside the buffer")?;
    check_alignment(&memory)?;
    host_may(&memory, way)?;
    let kind = if way == Way::Read { CL_COMMAND_READ_BUFFER_RECT } else { CL_COMMAND_WRITE_BUFFER_RECT };
    move_rows(&queue, memory, way, (device_rows, host_rows), region, (kind, blocking), waits)
}

pub unsafe extern "C" fn clEnqueueReadBufferRect(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    blocking_read: cl_bool,
    buffer_origin: *const usize,
    host_origin: *const usize,
    region: *const usize,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    ptr: *mut c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    let of_buffer = (buffer_origin, buffer_row_pitch, buffer_slice_pitch);
    let of_host = (host_origin, host_row_pitch, host_slice_pitch);
    status("clEnqueueReadBufferRect", || {
        let rectangles = (of_buffer, of_host, region);
        rectangular((command_queue, buffer), Way::Read, rectangles, ptr as usize, blocking_read, waits)
    })
}

pub unsafe extern "C" fn clEnqueueWriteBufferRect(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    blocking_write: cl_bool,
    buffer_origin: *const usize,
    host_origin: *const usize,
    region: *const usize,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    ptr: *const c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    let of_buffer = (buffer_origin, buffer_row_pitch, buffer_slice_pitch);
    let of_host = (host_origin, host_row_pitch, host_slice_pitch);
    status("clEnqueueWriteBufferRect", || {
        let rectangles = (of_buffer, of_host, region);
        rectangular((command_queue, buffer), Way::Write, rectangles, ptr as usize, blocking_write, waits)
    })
}

/// A copy between two objects, as a command.
pub unsafe fn copy_rows(
    queue: &Ref<Queue>,
    (from, from_rows): (Ref<Memory>, Rows),
    (to, to_rows): (Ref<Memory>, Rows),
    region: [usize; 3],
    kind: cl_command_type,
    waits: Waits,
) -> Outcome {
    let device = queue.device;
    let work = Box::new(move || {
        // SAFETY: both regions are inside their objects, which are alive.
        let done = unsafe { execute_copy(device, from_rows, to_rows, region, Path::Dram, true) };
        drop((from, to));
        Ok(done)
    });
    waits.enqueue(queue, kind, false, Order::Queue, work)
}

pub unsafe extern "C" fn clEnqueueCopyBuffer(
    command_queue: cl_command_queue,
    src_buffer: cl_mem,
    dst_buffer: cl_mem,
    src_offset: usize,
    dst_offset: usize,
    size: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    status("clEnqueueCopyBuffer", || {
        let queue = object::get::<Queue>(command_queue)?;
        let (from, to) = (buffer(src_buffer)?, buffer(dst_buffer)?);
        same_context(&queue.context, &from.context)?;
        same_context(&queue.context, &to.context)?;
        wait_list(&queue.context, waits.count, waits.list)?;
        let fits = inside(&from, src_offset, size) && inside(&to, dst_offset, size);
        ensure(fits, CL_INVALID_VALUE, "the bytes are not all inside the buffers")?;
        check_alignment(&from)?;
        check_alignment(&to)?;
        let (a, b) = (from.address + src_offset as u64, to.address + dst_offset as u64);
        let apart = size == 0 || a.abs_diff(b) >= size as u64;
        ensure(apart, CL_MEM_COPY_OVERLAP, "source and destination overlap")?;
        let rows = (from.rows(src_offset, 0, 0), to.rows(dst_offset, 0, 0));
        copy_rows(&queue, (from, rows.0), (to, rows.1), [size, 1, 1], CL_COMMAND_COPY_BUFFER, waits)
    })
}

pub unsafe extern "C" fn clEnqueueCopyBufferRect(
    command_queue: cl_command_queue,
    src_buffer: cl_mem,
    dst_buffer: cl_mem,
    src_origin: *const usize,
    dst_origin: *const usize,
    region: *const usize,
    src_row_pitch: usize,
    src_slice_pitch: usize,
    dst_row_pitch: usize,
    dst_slice_pitch: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    status("clEnqueueCopyBufferRect", || {
        let queue = object::get::<Queue>(command_queue)?;
        let (from, to) = (buffer(src_buffer)?, buffer(dst_buffer)?);
        same_context(&queue.context, &from.context)?;
        same_context(&queue.context, &to.context)?;
        wait_list(&queue.context, waits.count, waits.list)?;
        let region = three(region)?;
        ensure(!region.contains(&0), CL_INVALID_VALUE, "the region is empty")?;
        let (a, a_end) = rectangle(from.address as usize, three(src_origin)?, region, src_row_pitch, src_slice_pitch)?;
        let (b, b_end) = rectangle(to.address as usize, three(dst_origin)?, region, dst_row_pitch, dst_slice_pitch)?;
        ensure(a_end <= from.size && b_end <= to.size, CL_INVALID_VALUE, "the region is not all inside the buffers")?;
        if overlap(&from, &to) {
            let pitches = (a.row_pitch, a.slice_pitch) == (b.row_pitch, b.slice_pitch);
            ensure(pitches, CL_INVALID_VALUE, "source and destination are one buffer with different pitches")?;
            ensure(!rectangles_meet(a, b, region), CL_MEM_COPY_OVERLAP, "source and destination overlap")?;
        }
        check_alignment(&from)?;
        check_alignment(&to)?;
        copy_rows(&queue, (from, a), (to, b), region, CL_COMMAND_COPY_BUFFER_RECT, waits)
    })
}

/// Whether two rectangles of one size and pitches have a byte in common.
fn rectangles_meet(a: Rows, b: Rows, region: [usize; 3]) -> bool {
    let meet = |a: usize, b: usize| a.abs_diff(b) < region[0];
    let rows = |r: Rows| {
        let row = move |(z, y): (usize, usize)| r.start + z * r.slice_pitch + y * r.row_pitch;
        (0..region[2]).flat_map(move |z| (0..region[1]).map(move |y| (z, y))).map(row)
    };
    let mut starts: Vec<usize> = rows(b).collect();
    starts.sort_unstable();
    rows(a).any(|start| {
        let i = starts.partition_point(|b| *b <= start);
        [i.checked_sub(1), Some(i)].into_iter().flatten().filter_map(|i| starts.get(i)).any(|b| meet(start, *b))
    })
}

pub unsafe extern "C" fn clEnqueueFillBuffer(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    pattern: *const c_void,
    pattern_size: usize,
    offset: usize,
    size: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    status("clEnqueueFillBuffer", || {
        let queue = object::get::<Queue>(command_queue)?;
        let memory = self::buffer(buffer)?;
        same_context(&queue.context, &memory.context)?;
        wait_list(&queue.context, waits.count, waits.list)?;
        ensure(inside(&memory, offset, size), CL_INVALID_VALUE, "the bytes are not all inside the buffer")?;
        ensure(!pattern.is_null(), CL_INVALID_VALUE, "pattern is null")?;
        let one = pattern_size.is_power_of_two() && pattern_size <= 128;
        ensure(one, CL_INVALID_VALUE, "pattern_size is no power of two up to 128")?;
        let whole = offset % pattern_size == 0 && size % pattern_size == 0;
        ensure(whole, CL_INVALID_VALUE, "offset and size are no multiples of pattern_size")?;
        check_alignment(&memory)?;
        let pattern = slice(pattern.cast::<u8>(), pattern_size).to_vec();
        let (device, rows) = (queue.device, memory.rows(offset, 0, 0));
        let work = Box::new(move || {
            // SAFETY: the bytes are inside the buffer, which is alive.
            let done = unsafe { execute_fill(device, rows, [size, 1, 1], &pattern) };
            drop(memory);
            Ok(done)
        });
        waits.enqueue(&queue, CL_COMMAND_FILL_BUFFER, false, Order::Queue, work)
    })
}

pub unsafe extern "C" fn clEnqueueMigrateMemObjects(
    command_queue: cl_command_queue,
    num_mem_objects: cl_uint,
    mem_objects: *const cl_mem,
    flags: cl_mem_migration_flags,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    status("clEnqueueMigrateMemObjects", || {
        let queue = object::get::<Queue>(command_queue)?;
        ensure(num_mem_objects > 0 && !mem_objects.is_null(), CL_INVALID_VALUE, "there are no objects in the list")?;
        let objects = object::get_all::<Memory>(slice(mem_objects, num_mem_objects as usize))?;
        objects.iter().try_for_each(|m| same_context(&queue.context, &m.context))?;
        let known = flags & !(CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED) == 0;
        ensure(known, CL_INVALID_VALUE, "there are no such flags")?;
        // The device keeps its memory; what moves is what the simulated link would carry.
        let keeps = flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED == 0;
        let bytes = if keeps { objects.iter().map(|m| m.size).sum() } else { 0 };
        let device = queue.device;
        let work = Box::new(move || {
            drop(objects);
            Ok(moved(device, Path::Link, [bytes, 1, 1]))
        });
        waits.enqueue(&queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, false, Order::Queue, work)
    })
}
