//! Buffers, sub-buffers, and what all memory objects answer.

use std::ffi::c_void;

use opencl_sys::*;

use super::{property_list, the_device};
use crate::core::callbacks::UserData;
use crate::core::context::Context;
use crate::core::memory::{Destructor, Memory, Shape, Uses};
use crate::core::transfer::{self, Rows};
use crate::entry::{made, status};
use crate::error::{Outcome, ensure, fail};
use crate::info::{Answer, Room, unknown};
use crate::object::{self, Object, Ref};

const DEVICE_ACCESS: cl_mem_flags = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY | CL_MEM_KERNEL_READ_AND_WRITE;
const HOST_ACCESS: cl_mem_flags = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
const HOST_POINTER: cl_mem_flags = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;
/// Bytes of which sub-buffers' first bytes are multiples, as `CL_DEVICE_MEM_BASE_ADDR_ALIGN` says: those of the largest type.
pub const BASE_ALIGN: u64 = 128;
/// Bytes of which buffers' addresses are multiples: no cache line has bytes of two.
pub const BUFFER_ALIGN: u64 = 256;

/// Checks flags of a new object, and that they go with a host pointer.
pub fn check_flags(flags: cl_mem_flags, host_ptr: *const c_void) -> Outcome {
    check_kinds(flags)?;
    let wants = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0;
    ensure(wants != host_ptr.is_null(), CL_INVALID_HOST_PTR, "host_ptr and the flags do not go together")
}

/// Checks that there are such flags and that they do not contradict each other.
pub fn check_kinds(flags: cl_mem_flags) -> Outcome {
    ensure(flags & !(DEVICE_ACCESS | HOST_ACCESS | HOST_POINTER) == 0, CL_INVALID_VALUE, "there are no such flags")?;
    let rw = flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY);
    ensure(rw.count_ones() <= 1, CL_INVALID_VALUE, "the flags say several ways in which kernels access it")?;
    let host = flags & HOST_ACCESS;
    ensure(host.count_ones() <= 1, CL_INVALID_VALUE, "the flags say several ways in which the host accesses it")?;
    let both = CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;
    let contradicts = flags & CL_MEM_USE_HOST_PTR != 0 && flags & both != 0;
    ensure(!contradicts, CL_INVALID_VALUE, "CL_MEM_USE_HOST_PTR does not go with the other host pointer flags")
}

/// The flags that an object has: kernels may read and write it unless they say otherwise.
pub fn whole_flags(flags: cl_mem_flags) -> cl_mem_flags {
    let said = flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY) != 0;
    if said { flags } else { flags | CL_MEM_READ_WRITE }
}

/// Flags of an object that is made of another's memory: what they do not say is the parent's.
pub fn inherited_flags(flags: cl_mem_flags, parent: cl_mem_flags) -> Outcome<cl_mem_flags> {
    let device = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
    let wrong = (parent & CL_MEM_WRITE_ONLY != 0 && flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY) != 0)
        || (parent & CL_MEM_READ_ONLY != 0 && flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY) != 0)
        || (parent & CL_MEM_HOST_WRITE_ONLY != 0 && flags & CL_MEM_HOST_READ_ONLY != 0)
        || (parent & CL_MEM_HOST_READ_ONLY != 0 && flags & CL_MEM_HOST_WRITE_ONLY != 0)
        || (parent & CL_MEM_HOST_NO_ACCESS != 0 && flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY) != 0);
    ensure(!wrong, CL_INVALID_VALUE, "the flags allow what the buffer's do not")?;
    let mut result = flags;
    if flags & device == 0 {
        result |= parent & device;
    }
    if flags & HOST_ACCESS == 0 {
        result |= parent & HOST_ACCESS;
    }
    Ok(result | parent & HOST_POINTER)
}

unsafe fn create(
    context: cl_context,
    array: Option<Vec<cl_mem_properties>>,
    flags: cl_mem_flags,
    size: usize,
    host_ptr: *mut c_void,
) -> Outcome<*mut c_void> {
    let context = object::get::<Context>(context)?;
    let device = the_device()?;
    if let Some([name, ..]) = array.as_deref() {
        ensure(*name == 0, CL_INVALID_PROPERTY, "there are no properties of buffers here")?;
    }
    // The pointer's errors come after the size's.
    let early = check_flags(flags, host_ptr);
    if let Err(e) = &early {
        ensure(e.code != CL_INVALID_VALUE, CL_INVALID_VALUE, "the flags contradict each other, or there are no such flags")?;
    }
    ensure(size > 0, CL_INVALID_BUFFER_SIZE, "size is 0")?;
    let most = device.max_allocation();
    if size as u64 > most {
        return fail(CL_INVALID_BUFFER_SIZE, format!("{size} bytes; CL_DEVICE_MAX_MEM_ALLOC_SIZE is {most}"));
    }
    early?;
    let svm = device.svm_at(host_ptr as u64).filter(|_| flags & CL_MEM_USE_HOST_PTR != 0);
    if let Some((start, allocation)) = svm {
        let fits = host_ptr as u64 - start + size as u64 <= allocation.bytes;
        ensure(fits, CL_INVALID_BUFFER_SIZE, "the buffer is larger than the shared virtual memory that it is to use")?;
    }
    let (address, owns) = match svm {
        Some(_) => (host_ptr as u64, false),
        None => (device.allocate("", size as u64, BUFFER_ALIGN)?, true),
    };
    if owns && !host_ptr.is_null() {
        let (from, to) = (Rows::bytes(host_ptr as usize), Rows::bytes(address as usize));
        let mut state = device.state();
        transfer::copy(from, to, [size, 1, 1]);
        state.host_wrote(address, size as u64);
    }
    let host = if flags & CL_MEM_USE_HOST_PTR != 0 { host_ptr as usize } else { 0 };
    Ok(object::give(Object::new(Memory {
        context,
        device,
        flags: whole_flags(flags),
        size,
        address,
        shape: Shape::Buffer,
        parent: None,
        host,
        array,
        owns,
        uses: Uses::default(),
    })))
}

pub unsafe extern "C" fn clCreateBuffer(
    context: cl_context,
    flags: cl_mem_flags,
    size: usize,
    host_ptr: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    made("clCreateBuffer", errcode_ret, || create(context, None, flags, size, host_ptr))
}

pub unsafe extern "C" fn clCreateBufferWithProperties(
    context: cl_context,
    properties: *const cl_mem_properties,
    flags: cl_mem_flags,
    size: usize,
    host_ptr: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    made("clCreateBufferWithProperties", errcode_ret, || {
        let array = property_list(properties);
        create(context, (!properties.is_null()).then_some(array), flags, size, host_ptr)
    })
}

/// A buffer among memory objects.
pub fn buffer(handle: cl_mem) -> Outcome<Ref<Memory>> {
    let memory = object::get::<Memory>(handle)?;
    ensure(memory.image().is_none(), CL_INVALID_MEM_OBJECT, "it is an image, not a buffer")?;
    Ok(memory)
}

pub unsafe extern "C" fn clCreateSubBuffer(
    buffer: cl_mem,
    flags: cl_mem_flags,
    buffer_create_type: cl_buffer_create_type,
    buffer_create_info: *const c_void,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    made("clCreateSubBuffer", errcode_ret, || {
        let parent = self::buffer(buffer)?;
        ensure(parent.parent.is_none(), CL_INVALID_MEM_OBJECT, "the buffer is a sub-buffer itself")?;
        ensure(flags & !(DEVICE_ACCESS | HOST_ACCESS) == 0, CL_INVALID_VALUE, "a sub-buffer has no such flags")?;
        let flags = inherited_flags(flags, parent.flags)?;
        ensure(buffer_create_type == CL_BUFFER_CREATE_TYPE_REGION, CL_INVALID_VALUE, "there is no such type of sub-buffers")?;
        ensure(!buffer_create_info.is_null(), CL_INVALID_VALUE, "buffer_create_info is null")?;
        let cl_buffer_region { origin, size } = buffer_create_info.cast::<cl_buffer_region>().read_unaligned();
        ensure(size > 0, CL_INVALID_BUFFER_SIZE, "size is 0")?;
        let inside = origin.checked_add(size).is_some_and(|end| end <= parent.size);
        ensure(inside, CL_INVALID_VALUE, "the region is not inside the buffer")?;
        let aligned = origin as u64 % (BASE_ALIGN) == 0;
        ensure(aligned, CL_MISALIGNED_SUB_BUFFER_OFFSET, "origin is no multiple of CL_DEVICE_MEM_BASE_ADDR_ALIGN")?;
        Ok(object::give(Object::new(Memory {
            context: parent.context.clone(),
            device: parent.device,
            flags,
            size,
            address: parent.address + origin as u64,
            shape: Shape::Buffer,
            host: if parent.host == 0 { 0 } else { parent.host + origin },
            parent: Some((parent, origin)),
            array: None,
            owns: false,
            uses: Uses::default(),
        })))
    })
}

pub unsafe extern "C" fn clRetainMemObject(memobj: cl_mem) -> cl_int {
    status("clRetainMemObject", || object::retain::<Memory>(memobj))
}

pub unsafe extern "C" fn clReleaseMemObject(memobj: cl_mem) -> cl_int {
    status("clReleaseMemObject", || object::release::<Memory>(memobj).map(drop))
}

pub unsafe extern "C" fn clSetMemObjectDestructorCallback(
    memobj: cl_mem,
    pfn_notify: Option<Destructor>,
    user_data: *mut c_void,
) -> cl_int {
    status("clSetMemObjectDestructorCallback", || {
        let memory = object::get::<Memory>(memobj)?;
        let Some(notify) = pfn_notify else { return fail(CL_INVALID_VALUE, "pfn_notify is null") };
        memory.on_end(notify, UserData(user_data));
        Ok(())
    })
}

pub unsafe extern "C" fn clGetMemObjectInfo(
    memobj: cl_mem,
    param_name: cl_mem_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> cl_int {
    status("clGetMemObjectInfo", || {
        let memory = object::get::<Memory>(memobj)?;
        let parent = memory.parent.as_ref();
        let answer = match param_name {
            CL_MEM_TYPE => Answer::of(memory.object_type()),
            CL_MEM_FLAGS => Answer::of(memory.flags),
            CL_MEM_SIZE => Answer::of(memory.size),
            CL_MEM_HOST_PTR => Answer::of(memory.host),
            CL_MEM_MAP_COUNT => Answer::uint(memory.mapped()),
            CL_MEM_REFERENCE_COUNT => Answer::of(memory.references()),
            CL_MEM_CONTEXT => Answer::of(object::queried_handle(&memory.context)),
            CL_MEM_ASSOCIATED_MEMOBJECT => {
                Answer::of(parent.map_or(std::ptr::null_mut(), |(parent, _)| object::queried_handle(parent)))
            }
            CL_MEM_OFFSET => Answer::of(parent.map_or(0, |(_, offset)| *offset)),
            CL_MEM_USES_SVM_POINTER => {
                let root = crate::core::memory::root(&memory);
                Answer::truth(root.host != 0 && root.device.svm_at(root.host as u64).is_some())
            }
            CL_MEM_PROPERTIES => memory.array.as_ref().map_or_else(Answer::empty, |a| Answer::all(a)),
            _ => unknown(param_name)?,
        };
        Room::new(param_value_size, param_value, param_value_size_ret).put(&answer)
    })
}

pub unsafe extern "C" fn clCreatePipe(
    context: cl_context,
    _flags: cl_mem_flags,
    _pipe_packet_size: cl_uint,
    _pipe_max_packets: cl_uint,
    _properties: *const cl_pipe_properties,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    made("clCreatePipe", errcode_ret, || {
        object::get::<Context>(context)?;
        fail(CL_INVALID_OPERATION, "the device has no pipes")
    })
}

pub unsafe extern "C" fn clGetPipeInfo(
    pipe: cl_mem,
    _param_name: cl_pipe_info,
    _param_value_size: usize,
    _param_value: *mut c_void,
    _param_value_size_ret: *mut usize,
) -> cl_int {
    status("clGetPipeInfo", || {
        object::get::<Memory>(pipe)?;
        fail(CL_INVALID_MEM_OBJECT, "it is no pipe")
    })
}
