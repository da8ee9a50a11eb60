//! Shared virtual memory, coarse-grained: pointers are device addresses, which are the host's.

use std::ffi::c_void;

use opencl_sys::*;

use super::{Waits, the_device};
use crate::core::callbacks::{UserData, soon};
use crate::core::clock::Path;
use crate::core::context::Context;
use crate::core::device::Device;
use crate::core::queue::{Order, Queue};
use crate::core::svm;
use crate::core::transfer::{Rows, execute_copy, execute_fill, moved};
use crate::entry::{slice, status};
use crate::error::{ensure, fail};
use crate::object;

/// Alignment of the largest type.
const DEFAULT_ALIGN: u64 = 128;

pub unsafe extern "C" fn clSVMAlloc(
    context: cl_context,
    flags: cl_svm_mem_flags,
    size: usize,
    alignment: cl_uint,
) -> *mut c_void {
    let mut pointer = std::ptr::null_mut();
    status("clSVMAlloc", || {
        object::get::<Context>(context)?;
        let access = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
        let known = flags & !access == 0 && (flags & access).count_ones() <= 1;
        ensure(known, CL_INVALID_VALUE, "the flags ask for fine-grained memory, or contradict each other")?;
        let device = the_device()?;
        let fits = size > 0 && size as u64 <= device.max_allocation();
        ensure(fits, CL_INVALID_VALUE, "size is 0, or above CL_DEVICE_MAX_MEM_ALLOC_SIZE")?;
        let align = if alignment == 0 { DEFAULT_ALIGN } else { u64::from(alignment) };
        let possible = align.is_power_of_two() && align <= DEFAULT_ALIGN;
        ensure(possible, CL_INVALID_VALUE, "alignment is no power of two, or above that of the largest type")?;
        pointer = svm::allocate(device, size as u64, align)? as *mut c_void;
        Ok(())
    });
    pointer
}

pub unsafe extern "C" fn clSVMFree(context: cl_context, svm_pointer: *mut c_void) {
    status("clSVMFree", || {
        object::get::<Context>(context)?;
        if !svm_pointer.is_null() {
            svm::free(the_device()?, svm_pointer as u64);
        }
        Ok(())
    });
}

type FreeFunction = unsafe extern "C" fn(cl_command_queue, cl_uint, *mut *mut c_void, *mut c_void);

pub unsafe extern "C" fn clEnqueueSVMFree(
    command_queue: cl_command_queue,
    num_svm_pointers: cl_uint,
    svm_pointers: *mut *mut c_void,
    pfn_free_func: Option<FreeFunction>,
    user_data: *mut c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    status("clEnqueueSVMFree", || {
        let queue = object::get::<Queue>(command_queue)?;
        let pointers: Vec<usize> =
            slice(svm_pointers.cast_const(), num_svm_pointers as usize).iter().map(|p| *p as usize).collect();
        // Nothing may be freed: then the command only waits.
        let together = (num_svm_pointers == 0) == svm_pointers.is_null();
        ensure(together, CL_INVALID_VALUE, "num_svm_pointers and svm_pointers do not go together")?;
        ensure(!pointers.contains(&0), CL_INVALID_VALUE, "a pointer of the list is null")?;
        let (device, data, free_queue) = (queue.device, UserData(user_data), queue.clone());
        let work = Box::new(move || {
            match pfn_free_func {
                None => pointers.iter().for_each(|p| svm::free(device, *p as u64)),
                Some(free) => soon(move || {
                    let mut pointers: Vec<*mut c_void> = pointers.iter().map(|p| *p as *mut c_void).collect();
                    let count = pointers.len() as cl_uint;
                    free(object::queried_handle(&free_queue), count, pointers.as_mut_ptr(), data.pointer());
                }),
            }
            Ok(moved(device, Path::Link, [0; 3]))
        });
        waits.enqueue(&queue, CL_COMMAND_SVM_FREE, false, Order::Queue, work)
    })
}

/// Whether bytes end inside an allocation of so many bytes from `start`.
fn ends_inside(pointer: u64, size: u64, start: u64, bytes: u64) -> bool {
    pointer.checked_add(size).is_some_and(|end| end <= start + bytes)
}

/// Whether all of some bytes are one allocation's, or none is any's. `None`: they leave an allocation.
fn place(device: &Device, pointer: usize, size: usize) -> Option<bool> {
    match device.svm_at(pointer as u64) {
        Some((start, allocation)) => ends_inside(pointer as u64, size as u64, start, allocation.bytes).then_some(true),
        None => Some(false),
    }
}

pub unsafe extern "C" fn clEnqueueSVMMemcpy(
    command_queue: cl_command_queue,
    blocking_copy: cl_bool,
    dst_ptr: *mut c_void,
    src_ptr: *const c_void,
    size: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    status("clEnqueueSVMMemcpy", || {
        let queue = object::get::<Queue>(command_queue)?;
        let (to, from) = (dst_ptr as usize, src_ptr as usize);
        ensure(size == 0 || (to != 0 && from != 0), CL_INVALID_VALUE, "a pointer is null")?;
        ensure(size == 0 || to.abs_diff(from) >= size, CL_MEM_COPY_OVERLAP, "source and destination overlap")?;
        let device = queue.device;
        let (Some(to_device), Some(from_device)) = (place(device, to, size), place(device, from, size)) else {
            return fail(CL_INVALID_VALUE, "the bytes are not all inside one allocation");
        };
        let path = if to_device && from_device { Path::Dram } else { Path::Link };
        let work = Box::new(move || {
            // The program vouches for its own memory, the checks above for the device's.
            Ok(execute_copy(device, Rows::bytes(from), Rows::bytes(to), [size, 1, 1], path, to_device))
        });
        waits.enqueue(&queue, CL_COMMAND_SVM_MEMCPY, blocking_copy != CL_FALSE, Order::Queue, work)
    })
}

pub unsafe extern "C" fn clEnqueueSVMMemFill(
    command_queue: cl_command_queue,
    svm_ptr: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    size: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    status("clEnqueueSVMMemFill", || {
        let queue = object::get::<Queue>(command_queue)?;
        let pointer = svm_ptr as usize;
        let one = pattern_size.is_power_of_two() && pattern_size <= 128;
        ensure(one && !pattern.is_null(), CL_INVALID_VALUE, "pattern is null, or its size no power of two up to 128")?;
        let whole = pointer != 0 && pointer % pattern_size == 0 && size % pattern_size == 0;
        ensure(whole, CL_INVALID_VALUE, "pointer and size are no multiples of pattern_size")?;
        let device = queue.device;
        let inside = place(device, pointer, size);
        ensure(inside.is_some(), CL_INVALID_VALUE, "the bytes are not all inside one allocation")?;
        let pattern = slice(pattern.cast::<u8>(), pattern_size).to_vec();
        let work = Box::new(move || {
            // The program vouches for its own memory, the checks above for the device's.
            Ok(execute_fill(device, Rows::bytes(pointer), [size, 1, 1], &pattern))
        });
        waits.enqueue(&queue, CL_COMMAND_SVM_MEMFILL, false, Order::Queue, work)
    })
}

pub unsafe extern "C" fn clEnqueueSVMMap(
    command_queue: cl_command_queue,
    blocking_map: cl_bool,
    flags: cl_map_flags,
    svm_ptr: *mut c_void,
    size: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    status("clEnqueueSVMMap", || {
        let queue = object::get::<Queue>(command_queue)?;
        ensure(!svm_ptr.is_null() && size > 0, CL_INVALID_VALUE, "svm_ptr is null, or size 0")?;
        let known = flags & !(CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION) == 0;
        let both = flags & CL_MAP_WRITE_INVALIDATE_REGION != 0 && flags & (CL_MAP_READ | CL_MAP_WRITE) != 0;
        ensure(known && !both, CL_INVALID_VALUE, "there are no such map flags, or they contradict each other")?;
        let (device, pointer) = (queue.device, svm_ptr as u64);
        if flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION) != 0 {
            svm::note_mapped_for_writing(pointer, size as u64);
        }
        let carried = if flags & CL_MAP_WRITE_INVALIDATE_REGION == 0 { size } else { 0 };
        let work = Box::new(move || Ok(moved(device, Path::Link, [carried, 1, 1])));
        waits.enqueue(&queue, CL_COMMAND_SVM_MAP, blocking_map != CL_FALSE, Order::Queue, work)
    })
}

pub unsafe extern "C" fn clEnqueueSVMUnmap(
    command_queue: cl_command_queue,
    svm_ptr: *mut c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    status("clEnqueueSVMUnmap", || {
        let queue = object::get::<Queue>(command_queue)?;
        ensure(!svm_ptr.is_null(), CL_INVALID_VALUE, "svm_ptr is null")?;
        let (device, pointer) = (queue.device, svm_ptr as u64);
        let work = Box::new(move || {
            let bytes = svm::take_mapped(pointer);
            device.state().host_wrote(pointer, bytes);
            Ok(moved(device, Path::Link, [bytes as usize, 1, 1]))
        });
        waits.enqueue(&queue, CL_COMMAND_SVM_UNMAP, false, Order::Queue, work)
    })
}

pub unsafe extern "C" fn clEnqueueSVMMigrateMem(
    command_queue: cl_command_queue,
    num_svm_pointers: cl_uint,
    svm_pointers: *mut *const c_void,
    sizes: *const usize,
    flags: cl_mem_migration_flags,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    status("clEnqueueSVMMigrateMem", || {
        let queue = object::get::<Queue>(command_queue)?;
        let count = num_svm_pointers as usize;
        ensure(count > 0 && !svm_pointers.is_null(), CL_INVALID_VALUE, "there are no pointers in the list")?;
        let known = flags & !(CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED) == 0;
        ensure(known, CL_INVALID_VALUE, "there are no such flags")?;
        let device = queue.device;
        let sizes = slice(sizes, count);
        let mut bytes = 0;
        for (i, pointer) in slice(svm_pointers.cast_const(), count).iter().enumerate() {
            let Some((start, allocation)) = device.svm_at(*pointer as u64) else {
                return fail(CL_INVALID_VALUE, "a pointer is not into shared virtual memory");
            };
            // Without a size it is the whole allocation, wherever the pointer is in it.
            let whole = allocation.bytes as usize;
            bytes += match sizes.get(i).copied().filter(|n| *n > 0) {
                Some(size) => {
                    let inside = ends_inside(*pointer as u64, size as u64, start, allocation.bytes);
                    ensure(inside, CL_INVALID_VALUE, "the bytes are not all inside one allocation")?;
                    size
                }
                None => whole,
            };
        }
        let carried = if flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED == 0 { bytes } else { 0 };
        let work = Box::new(move || Ok(moved(device, Path::Link, [carried, 1, 1])));
        waits.enqueue(&queue, CL_COMMAND_SVM_MIGRATE_MEM, false, Order::Queue, work)
    })
}

#[cfg(test)]
mod tests {
    use super::ends_inside;

    #[test]
    fn bytes_that_go_around_the_end_of_all_addresses_are_not_inside() {
        assert!(ends_inside(120, 8, 64, 64) && ends_inside(128, 0, 64, 64));
        assert!(!ends_inside(121, 8, 64, 64));
        assert!(!ends_inside(120, u64::MAX - 8, 64, 64));
    }
}
