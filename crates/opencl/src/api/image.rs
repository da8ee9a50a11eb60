//! Images: making them, what they answer, and commands that read, write, copy and fill them.

use std::ffi::c_void;

use opencl_sys::*;

use heddle_sim::image::{ChannelOrder, ChannelType, Format, Image};

use super::buffer::{BUFFER_ALIGN, buffer, check_flags, check_kinds, inherited_flags, whole_flags};
use super::transfer::{Way, check_alignment, copy_rows, host_may, move_rows, three};
use super::{Waits, property_list, same_context, the_device, wait_list};
use crate::core::context::Context;
use crate::core::memory::{ImageShape, Memory, Shape, Uses, overlap};
use crate::core::queue::{Order, Queue};
use crate::core::transfer::{self, Rows, execute_fill};
use crate::entry::{made, slice, status};
use crate::error::{Outcome, ensure, fail};
use crate::info::{Answer, Room, unknown};
use crate::object::{self, Object, Ref};

/// Texels that an image may have in a dimension (`CL_DEVICE_IMAGE2D_MAX_WIDTH` …).
pub const MAX_SIDE: usize = 16384;
/// The same in three dimensions.
pub const MAX_SIDE_3D: usize = 2048;
/// Layers of an array.
pub const MAX_LAYERS: usize = 2048;

/// Texels of an image of a buffer at most.
pub fn max_buffer_texels(device: &crate::core::device::Device) -> usize {
    usize::try_from(device.max_allocation() / 16).unwrap_or(usize::MAX).min(1 << 27)
}

const ORDERS: [(cl_channel_order, ChannelOrder); 4] =
    [(CL_R, ChannelOrder::R), (CL_RG, ChannelOrder::Rg), (CL_RGBA, ChannelOrder::Rgba), (CL_BGRA, ChannelOrder::Bgra)];

const TYPES: [(cl_channel_type, ChannelType); 12] = [
    (CL_SNORM_INT8, ChannelType::Snorm8),
    (CL_SNORM_INT16, ChannelType::Snorm16),
    (CL_UNORM_INT8, ChannelType::Unorm8),
    (CL_UNORM_INT16, ChannelType::Unorm16),
    (CL_SIGNED_INT8, ChannelType::Int8),
    (CL_SIGNED_INT16, ChannelType::Int16),
    (CL_SIGNED_INT32, ChannelType::Int32),
    (CL_UNSIGNED_INT8, ChannelType::Uint8),
    (CL_UNSIGNED_INT16, ChannelType::Uint16),
    (CL_UNSIGNED_INT32, ChannelType::Uint32),
    (CL_HALF_FLOAT, ChannelType::Half),
    (CL_FLOAT, ChannelType::Float),
];

/// The formats that there are: every order with every type, but BGRA with eight bits a channel alone.
fn formats() -> impl Iterator<Item = (cl_image_format, Format)> {
    ORDERS
        .iter()
        .flat_map(|(code, order)| {
            TYPES.iter().map(move |(data, ty)| {
                let format = cl_image_format { image_channel_order: *code, image_channel_data_type: *data };
                (format, Format { order: *order, ty: *ty })
            })
        })
        .filter(|(_, f)| f.order != ChannelOrder::Bgra || f.bytes() == 4)
}

/// The format that a program describes.
unsafe fn format_of(description: *const cl_image_format) -> Outcome<(cl_image_format, Format)> {
    ensure(!description.is_null(), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "image_format is null")?;
    let wanted = description.read_unaligned();
    let (order, data) = (wanted.image_channel_order, wanted.image_channel_data_type);
    let known_order = (CL_R..=CL_ABGR).contains(&order);
    let known_type = (CL_SNORM_INT8..=CL_UNORM_INT_101010_2).contains(&data);
    let packed = [CL_UNORM_SHORT_565, CL_UNORM_SHORT_555, CL_UNORM_INT_101010];
    let rgb = order == CL_RGB || order == CL_RGBx;
    let goes = known_order && known_type && (!rgb || packed.contains(&data)) && (!packed.contains(&data) || rgb);
    ensure(goes, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "there is no such image format")?;
    match formats().find(|(f, _)| (f.image_channel_order, f.image_channel_data_type) == (order, data)) {
        Some(found) => Ok(found),
        None => fail(CL_IMAGE_FORMAT_NOT_SUPPORTED, "the device has no images of this format"),
    }
}

/// Sizes of an image as the simulator has them, checked.
fn sizes(description: &cl_image_desc, device: &crate::core::device::Device) -> Outcome<([usize; 3], usize, u32, bool)> {
    let d = description;
    let (width, height, depth, layers) = (d.image_width, d.image_height, d.image_depth, d.image_array_size);
    let (size, layers, dimensions, array, most) = match d.image_type {
        CL_MEM_OBJECT_IMAGE1D => ([width, 1, 1], 1, 1, false, MAX_SIDE),
        CL_MEM_OBJECT_IMAGE1D_BUFFER => ([width, 1, 1], 1, 1, false, max_buffer_texels(device)),
        CL_MEM_OBJECT_IMAGE1D_ARRAY => ([width, 1, 1], layers, 1, true, MAX_SIDE),
        CL_MEM_OBJECT_IMAGE2D => ([width, height, 1], 1, 2, false, MAX_SIDE),
        CL_MEM_OBJECT_IMAGE2D_ARRAY => ([width, height, 1], layers, 2, true, MAX_SIDE),
        CL_MEM_OBJECT_IMAGE3D => ([width, height, depth], 1, 3, false, MAX_SIDE_3D),
        _ => return fail(CL_INVALID_IMAGE_DESCRIPTOR, "there is no such image type"),
    };
    let there = !size.contains(&0) && layers > 0;
    ensure(there, CL_INVALID_IMAGE_DESCRIPTOR, "an image has at least one texel in each dimension, and one layer")?;
    let fits = size.iter().all(|n| *n <= most) && layers <= MAX_LAYERS;
    ensure(fits, CL_INVALID_IMAGE_SIZE, "the image is larger than the device's images")?;
    Ok((size, layers, dimensions, array))
}

/// The pitches of the program's memory for an image, checked: what is 0 is that of texels without padding.
fn pitches(description: &cl_image_desc, shape: &ImageShape, given: bool) -> Outcome<(usize, usize)> {
    let (row, slices) = (description.image_row_pitch, description.image_slice_pitch);
    let wrong = |why| fail(CL_INVALID_IMAGE_DESCRIPTOR, why);
    if !given {
        return if row == 0 && slices == 0 { Ok((0, 0)) } else { wrong("pitches are for host_ptr, which is null") };
    }
    let least = shape.row_pitch();
    if row != 0 && (row < least || row % shape.texel_bytes() != 0) {
        return wrong("image_row_pitch is below a row's bytes, or no multiple of a texel's");
    }
    let row = if row == 0 { least } else { row };
    let one = if shape.image.dimensions == 1 { row } else { row * shape.image.size[1] as usize };
    let sliced = shape.image.array || shape.image.dimensions == 3;
    if !sliced {
        return Ok((row, 0));
    }
    if slices != 0 && (slices < one || slices % row != 0) {
        return wrong("image_slice_pitch is below a slice's bytes, or no multiple of image_row_pitch");
    }
    Ok((row, if slices == 0 { one } else { slices }))
}

/// What an image is made of.
struct Parts {
    context: Ref<Context>,
    array: Option<Vec<cl_mem_properties>>,
    flags: cl_mem_flags,
    host_ptr: *mut c_void,
}

unsafe fn create(parts: Parts, format: *const cl_image_format, description: *const cl_image_desc) -> Outcome<*mut c_void> {
    let Parts { context, array, flags, host_ptr } = parts;
    if let Some([name, ..]) = array.as_deref() {
        ensure(*name == 0, CL_INVALID_PROPERTY, "there are no properties of images here")?;
    }
    let device = the_device()?;
    let (code, format) = format_of(format)?;
    ensure(!description.is_null(), CL_INVALID_IMAGE_DESCRIPTOR, "image_desc is null")?;
    let description = description.read_unaligned();
    let plain = description.num_mip_levels == 0 && description.num_samples == 0;
    ensure(plain, CL_INVALID_IMAGE_DESCRIPTOR, "the device has no images with levels or samples")?;
    let of_buffer = description.image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
    let handle = description.buffer;
    if !of_buffer && !handle.is_null() {
        object::get::<Memory>(handle).or_else(|_| fail(CL_INVALID_IMAGE_DESCRIPTOR, "image_desc's buffer is none"))?;
        return fail(CL_INVALID_OPERATION, "images of this type are not made of buffers or other images here");
    }
    let (size, layers, dimensions, is_array) = sizes(&description, device)?;
    let image =
        Image { format, size: size.map(|n| n as u32), layers: layers as u32, dimensions: dimensions as _, array: is_array };
    let image_type = description.image_type;
    let mut shape = ImageShape { image, image_type, host_pitches: (0, 0), format: code };
    let bytes = image.bytes() as usize;
    if of_buffer {
        let parent = buffer(handle).or_else(|_| fail(CL_INVALID_IMAGE_DESCRIPTOR, "image_desc's buffer is none"))?;
        same_context(&context, &parent.context)?;
        let flags = inherited_flags(flags, parent.flags)?;
        ensure(bytes <= parent.size, CL_INVALID_IMAGE_SIZE, "the buffer is smaller than the image")?;
        let memory = Memory {
            context,
            device,
            flags,
            size: bytes,
            address: parent.address,
            host: parent.host,
            shape: Shape::Image(Box::new(shape)),
            parent: Some((parent, 0)),
            array,
            owns: false,
            uses: Uses::default(),
        };
        return Ok(object::give(Object::new(memory)));
    }
    check_flags(flags, host_ptr)?;
    let (row, slices) = pitches(&description, &shape, !host_ptr.is_null())?;
    ensure(bytes as u64 <= device.max_allocation(), CL_INVALID_IMAGE_SIZE, "the image is larger than one allocation may be")?;
    let address = device.allocate("image", bytes as u64, BUFFER_ALIGN)?;
    let uses_host = flags & CL_MEM_USE_HOST_PTR != 0;
    if !host_ptr.is_null() {
        let extent = shape.region(shape.extent());
        let from = shape.rows_in(host_ptr as usize, [0; 3], row, slices);
        let mut state = device.state();
        transfer::copy(from, shape.rows(address, [0; 3]), extent);
        state.host_wrote(address, bytes as u64);
    }
    if uses_host {
        shape.host_pitches = (row, slices);
    }
    Ok(object::give(Object::new(Memory {
        context,
        device,
        flags: whole_flags(flags),
        size: bytes,
        address,
        shape: Shape::Image(Box::new(shape)),
        parent: None,
        host: if uses_host { host_ptr as usize } else { 0 },
        array,
        owns: true,
        uses: Uses::default(),
    })))
}

pub unsafe extern "C" fn clCreateImage(
    context: cl_context,
    flags: cl_mem_flags,
    image_format: *const cl_image_format,
    image_desc: *const cl_image_desc,
    host_ptr: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    made("clCreateImage", errcode_ret, || {
        let context = object::get::<Context>(context)?;
        create(Parts { context, array: None, flags, host_ptr }, image_format, image_desc)
    })
}

pub unsafe extern "C" fn clCreateImageWithProperties(
    context: cl_context,
    properties: *const cl_mem_properties,
    flags: cl_mem_flags,
    image_format: *const cl_image_format,
    image_desc: *const cl_image_desc,
    host_ptr: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    made("clCreateImageWithProperties", errcode_ret, || {
        let context = object::get::<Context>(context)?;
        let array = (!properties.is_null()).then(|| property_list(properties));
        create(Parts { context, array, flags, host_ptr }, image_format, image_desc)
    })
}

fn old_description(image_type: cl_mem_object_type, [width, height, depth]: [usize; 3], pitches: [usize; 2]) -> cl_image_desc {
    // SAFETY: numbers that are zero and null pointers are a description.
    let mut description: cl_image_desc = unsafe { std::mem::zeroed() };
    description.image_type = image_type;
    description.image_width = width;
    description.image_height = height;
    description.image_depth = depth;
    [description.image_row_pitch, description.image_slice_pitch] = pitches;
    description
}

pub unsafe extern "C" fn clCreateImage2D(
    context: cl_context,
    flags: cl_mem_flags,
    image_format: *const cl_image_format,
    image_width: usize,
    image_height: usize,
    image_row_pitch: usize,
    host_ptr: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    made("clCreateImage2D", errcode_ret, || {
        let context = object::get::<Context>(context)?;
        let there = image_width > 0 && image_height > 0;
        ensure(there, CL_INVALID_IMAGE_SIZE, "an image has at least one texel in each dimension")?;
        let size = [image_width, image_height, 1];
        let description = old_description(CL_MEM_OBJECT_IMAGE2D, size, [image_row_pitch, 0]);
        create(Parts { context, array: None, flags, host_ptr }, image_format, &description).map_err(old_error)
    })
}

pub unsafe extern "C" fn clCreateImage3D(
    context: cl_context,
    flags: cl_mem_flags,
    image_format: *const cl_image_format,
    image_width: usize,
    image_height: usize,
    image_depth: usize,
    image_row_pitch: usize,
    image_slice_pitch: usize,
    host_ptr: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    made("clCreateImage3D", errcode_ret, || {
        let context = object::get::<Context>(context)?;
        let there = image_width > 0 && image_height > 0 && image_depth > 1;
        ensure(there, CL_INVALID_IMAGE_SIZE, "an image has at least one texel in each dimension, and two slices")?;
        let size = [image_width, image_height, image_depth];
        let description = old_description(CL_MEM_OBJECT_IMAGE3D, size, [image_row_pitch, image_slice_pitch]);
        create(Parts { context, array: None, flags, host_ptr }, image_format, &description).map_err(old_error)
    })
}

/// The older calls know no descriptor: what is wrong with it is the size.
fn old_error(error: crate::error::ApiError) -> crate::error::ApiError {
    let code = if error.code == CL_INVALID_IMAGE_DESCRIPTOR { CL_INVALID_IMAGE_SIZE } else { error.code };
    crate::error::ApiError { code, ..error }
}

pub unsafe extern "C" fn clGetSupportedImageFormats(
    context: cl_context,
    flags: cl_mem_flags,
    image_type: cl_mem_object_type,
    num_entries: cl_uint,
    image_formats: *mut cl_image_format,
    num_image_formats: *mut cl_uint,
) -> cl_int {
    status("clGetSupportedImageFormats", || {
        object::get::<Context>(context)?;
        check_kinds(flags)?;
        let types = [
            CL_MEM_OBJECT_IMAGE1D,
            CL_MEM_OBJECT_IMAGE1D_BUFFER,
            CL_MEM_OBJECT_IMAGE1D_ARRAY,
            CL_MEM_OBJECT_IMAGE2D,
            CL_MEM_OBJECT_IMAGE2D_ARRAY,
            CL_MEM_OBJECT_IMAGE3D,
        ];
        ensure(types.contains(&image_type), CL_INVALID_VALUE, "there is no such image type")?;
        ensure(image_formats.is_null() || num_entries > 0, CL_INVALID_VALUE, "num_entries is 0")?;
        let all: Vec<cl_image_format> = formats().map(|(f, _)| f).collect();
        if !image_formats.is_null() {
            for (i, format) in all.iter().take(num_entries as usize).enumerate() {
                image_formats.add(i).write_unaligned(*format);
            }
        }
        if !num_image_formats.is_null() {
            num_image_formats.write_unaligned(all.len() as cl_uint);
        }
        Ok(())
    })
}

/// An image among memory objects, with its shape.
pub fn image(handle: cl_mem) -> Outcome<(Ref<Memory>, ImageShape)> {
    let memory = object::get::<Memory>(handle)?;
    match memory.image().copied() {
        Some(shape) => Ok((memory, shape)),
        None => fail(CL_INVALID_MEM_OBJECT, "it is a buffer, not an image"),
    }
}

pub unsafe extern "C" fn clGetImageInfo(
    image: cl_mem,
    param_name: cl_image_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> cl_int {
    status("clGetImageInfo", || {
        let (memory, shape) = self::image(image)?;
        let kind = shape.image_type;
        let sliced = shape.image.array || kind == CL_MEM_OBJECT_IMAGE3D;
        let (row, slices) = match memory.host {
            0 => (shape.row_pitch(), shape.slice_pitch()),
            _ if kind == CL_MEM_OBJECT_IMAGE1D_BUFFER => (shape.row_pitch(), 0),
            _ => shape.host_pitches,
        };
        let dimensions = shape.image.dimensions as usize;
        let side = |d: usize| if d < dimensions { shape.image.size[d] as usize } else { 0 };
        let of_buffer = memory.parent.as_ref().filter(|_| kind == CL_MEM_OBJECT_IMAGE1D_BUFFER);
        let answer = match param_name {
            CL_IMAGE_FORMAT => Answer::of(shape.format),
            CL_IMAGE_ELEMENT_SIZE => Answer::of(shape.texel_bytes()),
            CL_IMAGE_ROW_PITCH => Answer::of(row),
            CL_IMAGE_SLICE_PITCH => Answer::of(if sliced { slices } else { 0 }),
            CL_IMAGE_WIDTH => Answer::of(side(0)),
            CL_IMAGE_HEIGHT => Answer::of(side(1)),
            CL_IMAGE_DEPTH => Answer::of(side(2)),
            CL_IMAGE_ARRAY_SIZE => Answer::of(if shape.image.array { shape.image.layers as usize } else { 0 }),
            CL_IMAGE_BUFFER => Answer::of(of_buffer.map_or(std::ptr::null_mut(), |(parent, _)| object::queried_handle(parent))),
            CL_IMAGE_NUM_MIP_LEVELS | CL_IMAGE_NUM_SAMPLES => Answer::of::<cl_uint>(0),
            _ => unknown(param_name)?,
        };
        Room::new(param_value_size, param_value, param_value_size_ret).put(&answer)
    })
}

/// Checks that a region is inside an image, and flat where the image is.
pub fn check_region(shape: &ImageShape, origin: [usize; 3], region: [usize; 3]) -> Outcome {
    let extent = shape.extent();
    ensure(!region.contains(&0), CL_INVALID_VALUE, "the region is empty")?;
    let inside = (0..3).all(|d| origin[d].checked_add(region[d]).is_some_and(|end| end <= extent[d]));
    ensure(inside, CL_INVALID_VALUE, "the region is not all inside the image")
}

/// The program's memory for a region, with pitches of 0 made those of the region.
fn host_rows(shape: &ImageShape, region: [usize; 3], pointer: usize, row: usize, slices: usize) -> Outcome<Rows> {
    let least = region[0] * shape.texel_bytes();
    let row_pitch = if row == 0 { least } else { row };
    ensure(row_pitch >= least, CL_INVALID_VALUE, "row_pitch is below the region's width")?;
    let lines = shape.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    let one = if lines { row_pitch } else { row_pitch * region[1] };
    let slice_pitch = if slices == 0 { one } else { slices };
    ensure(slice_pitch >= one, CL_INVALID_VALUE, "slice_pitch is below the region's rows")?;
    Ok(shape.rows_in(pointer, [0; 3], row_pitch, slice_pitch))
}

unsafe fn transfer_image(
    (command_queue, handle): (cl_command_queue, cl_mem),
    way: Way,
    (origin, region): (*const usize, *const usize),
    (pointer, row, slices): (usize, usize, usize),
    blocking: cl_bool,
    waits: Waits,
) -> Outcome {
    let queue = object::get::<Queue>(command_queue)?;
    let (memory, shape) = image(handle)?;
    same_context(&queue.context, &memory.context)?;
    wait_list(&queue.context, waits.count, waits.list)?;
    let (origin, region) = (three(origin)?, three(region)?);
    check_region(&shape, origin, region)?;
    ensure(pointer != 0, CL_INVALID_VALUE, "ptr is null")?;
    let host = host_rows(&shape, region, pointer, row, slices)?;
    host_may(&memory, way)?;
    let kind = if way == Way::Read { CL_COMMAND_READ_IMAGE } else { CL_COMMAND_WRITE_IMAGE };
    let rows = (shape.rows(memory.address, origin), host);
    move_rows(&queue, memory, way, rows, shape.region(region), (kind, blocking), waits)
}

pub unsafe extern "C" fn clEnqueueReadImage(
    command_queue: cl_command_queue,
    image: cl_mem,
    blocking_read: cl_bool,
    origin: *const usize,
    region: *const usize,
    row_pitch: usize,
    slice_pitch: usize,
    ptr: *mut c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    let host = (ptr as usize, row_pitch, slice_pitch);
    status("clEnqueueReadImage", || {
        transfer_image((command_queue, image), Way::Read, (origin, region), host, blocking_read, waits)
    })
}

pub unsafe extern "C" fn clEnqueueWriteImage(
    command_queue: cl_command_queue,
    image: cl_mem,
    blocking_write: cl_bool,
    origin: *const usize,
    region: *const usize,
    input_row_pitch: usize,
    input_slice_pitch: usize,
    ptr: *const c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    let host = (ptr as usize, input_row_pitch, input_slice_pitch);
    status("clEnqueueWriteImage", || {
        transfer_image((command_queue, image), Way::Write, (origin, region), host, blocking_write, waits)
    })
}

pub unsafe extern "C" fn clEnqueueCopyImage(
    command_queue: cl_command_queue,
    src_image: cl_mem,
    dst_image: cl_mem,
    src_origin: *const usize,
    dst_origin: *const usize,
    region: *const usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    status("clEnqueueCopyImage", || {
        let queue = object::get::<Queue>(command_queue)?;
        let ((from, a), (to, b)) = (image(src_image)?, image(dst_image)?);
        same_context(&queue.context, &from.context)?;
        same_context(&queue.context, &to.context)?;
        wait_list(&queue.context, waits.count, waits.list)?;
        ensure(a.image.format == b.image.format, CL_IMAGE_FORMAT_MISMATCH, "the images have different formats")?;
        let (src, dst, region) = (three(src_origin)?, three(dst_origin)?, three(region)?);
        check_region(&a, src, region)?;
        check_region(&b, dst, region)?;
        if overlap(&from, &to) {
            let meet = (0..3).all(|d| src[d].abs_diff(dst[d]) < region[d]);
            ensure(!meet, CL_MEM_COPY_OVERLAP, "source and destination overlap")?;
        }
        let rows = (a.rows(from.address, src), b.rows(to.address, dst));
        copy_rows(&queue, (from, rows.0), (to, rows.1), a.region(region), CL_COMMAND_COPY_IMAGE, waits)
    })
}

/// The bytes of a buffer that a region of an image is copied from or to.
fn buffer_rows(memory: &Memory, shape: &ImageShape, offset: usize, region: [usize; 3]) -> Outcome<Rows> {
    let row = region[0] * shape.texel_bytes();
    let bytes = row * region[1] * region[2];
    let inside = offset.checked_add(bytes).is_some_and(|end| end <= memory.size);
    ensure(inside, CL_INVALID_VALUE, "the bytes are not all inside the buffer")?;
    Ok(memory.rows(offset, row, row * region[1]))
}

pub unsafe extern "C" fn clEnqueueCopyImageToBuffer(
    command_queue: cl_command_queue,
    src_image: cl_mem,
    dst_buffer: cl_mem,
    src_origin: *const usize,
    region: *const usize,
    dst_offset: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    status("clEnqueueCopyImageToBuffer", || {
        let queue = object::get::<Queue>(command_queue)?;
        let ((from, shape), to) = (image(src_image)?, buffer(dst_buffer)?);
        same_context(&queue.context, &from.context)?;
        same_context(&queue.context, &to.context)?;
        wait_list(&queue.context, waits.count, waits.list)?;
        let (origin, region) = (three(src_origin)?, three(region)?);
        check_region(&shape, origin, region)?;
        let target = buffer_rows(&to, &shape, dst_offset, region)?;
        check_alignment(&to)?;
        let source = shape.rows(from.address, origin);
        copy_rows(&queue, (from, source), (to, target), shape.region(region), CL_COMMAND_COPY_IMAGE_TO_BUFFER, waits)
    })
}

pub unsafe extern "C" fn clEnqueueCopyBufferToImage(
    command_queue: cl_command_queue,
    src_buffer: cl_mem,
    dst_image: cl_mem,
    src_offset: usize,
    dst_origin: *const usize,
    region: *const usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    status("clEnqueueCopyBufferToImage", || {
        let queue = object::get::<Queue>(command_queue)?;
        let (from, (to, shape)) = (buffer(src_buffer)?, image(dst_image)?);
        same_context(&queue.context, &from.context)?;
        same_context(&queue.context, &to.context)?;
        wait_list(&queue.context, waits.count, waits.list)?;
        let (origin, region) = (three(dst_origin)?, three(region)?);
        check_region(&shape, origin, region)?;
        let source = buffer_rows(&from, &shape, src_offset, region)?;
        check_alignment(&from)?;
        let target = shape.rows(to.address, origin);
        copy_rows(&queue, (from, source), (to, target), shape.region(region), CL_COMMAND_COPY_BUFFER_TO_IMAGE, waits)
    })
}

pub unsafe extern "C" fn clEnqueueFillImage(
    command_queue: cl_command_queue,
    image: cl_mem,
    fill_color: *const c_void,
    origin: *const usize,
    region: *const usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let waits = Waits { count: num_events_in_wait_list, list: event_wait_list, event };
    status("clEnqueueFillImage", || {
        let queue = object::get::<Queue>(command_queue)?;
        let (memory, shape) = self::image(image)?;
        same_context(&queue.context, &memory.context)?;
        wait_list(&queue.context, waits.count, waits.list)?;
        ensure(!fill_color.is_null(), CL_INVALID_VALUE, "fill_color is null")?;
        let (origin, region) = (three(origin)?, three(region)?);
        check_region(&shape, origin, region)?;
        // Four floats, or four integers for formats of integers: 16 bytes in any case.
        let color: Vec<u32> = slice(fill_color.cast::<[u8; 4]>(), 4).iter().map(|b| u32::from_le_bytes(*b)).collect();
        let format = shape.image.format;
        let (texel, bytes) = format.encode([color[0], color[1], color[2], color[3]]);
        let pattern = texel[..bytes].to_vec();
        let (device, rows, region) = (queue.device, shape.rows(memory.address, origin), shape.region(region));
        let work = Box::new(move || {
            // The region is inside the image, which is alive.
            let done = execute_fill(device, rows, region, &pattern);
            drop(memory);
            Ok(done)
        });
        waits.enqueue(&queue, CL_COMMAND_FILL_IMAGE, false, Order::Queue, work)
    })
}
