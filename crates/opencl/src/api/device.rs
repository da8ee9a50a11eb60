//! The device: what it says of itself.

use std::ffi::c_void;

use opencl_sys::*;

use heddle_frontend::features::FEATURES;
use heddle_object::metadata::{IMAGE_WORDS, MOST_ARGUMENT_BYTES, PRINTF_ROOM};

use super::buffer::BASE_ALIGN;
use super::image::{MAX_LAYERS, MAX_SIDE, MAX_SIDE_3D, max_buffer_texels};
use super::version::{VERSION, VERSION_NUMBER, all_extensions, il_minors, named, versioned};
use crate::core::clock::host_nanoseconds;
use crate::core::device::Device;
use crate::core::platform::{self, Platform};
use crate::entry::status;
use crate::error::{Outcome, ensure, fail};
use crate::info::{Answer, Room, unknown};
use crate::object::{self, Ref};

/// Bytes of arguments that a launch takes.
pub const PARAMETER_BYTES: u32 = MOST_ARGUMENT_BYTES;

/// The versions of OpenCL C that programs may be in.
fn language_versions() -> Vec<cl_name_version> {
    [(1, 0), (1, 1), (1, 2), (3, 0)].map(|(major, minor)| named("OpenCL C", major << 22 | minor << 12)).to_vec()
}

fn language_features() -> Vec<cl_name_version> {
    let listed = FEATURES.iter().map(|f| f.name).filter(|n| n.starts_with("__opencl_c_"));
    listed.chain(["__opencl_c_int64"]).map(|n| named(n, VERSION_NUMBER)).collect()
}

/// Whether the device is among those of a type.
pub fn is_of_type(device_type: cl_device_type) -> bool {
    let wanted = |d: &'static Ref<Device>| device_type & (d.device_type | CL_DEVICE_TYPE_DEFAULT) != 0;
    platform::device().is_some_and(wanted)
}

/// Checks a device type.
pub fn check_type(device_type: cl_device_type) -> Outcome {
    let all =
        CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;
    let known = device_type == CL_DEVICE_TYPE_ALL || (device_type != 0 && device_type & !all == 0);
    ensure(known, CL_INVALID_DEVICE_TYPE, "there is no such device type")
}

pub unsafe extern "C" fn clGetDeviceIDs(
    platform: cl_platform_id,
    device_type: cl_device_type,
    num_entries: cl_uint,
    devices: *mut cl_device_id,
    num_devices: *mut cl_uint,
) -> cl_int {
    status("clGetDeviceIDs", || {
        if !platform.is_null() {
            object::get::<Platform>(platform)?;
        }
        check_type(device_type)?;
        ensure(devices.is_null() || num_entries > 0, CL_INVALID_VALUE, "num_entries is 0")?;
        ensure(!(devices.is_null() && num_devices.is_null()), CL_INVALID_VALUE, "nothing is asked for")?;
        let found = platform::device().filter(|_| is_of_type(device_type));
        if !num_devices.is_null() {
            num_devices.write_unaligned(cl_uint::from(found.is_some()));
        }
        let Some(device) = found else { return fail(CL_DEVICE_NOT_FOUND, "there is no device of this type") };
        if !devices.is_null() {
            devices.write_unaligned(object::handle(device));
        }
        Ok(())
    })
}

pub unsafe extern "C" fn clGetDeviceInfo(
    device: cl_device_id,
    param_name: cl_device_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> cl_int {
    status("clGetDeviceInfo", || {
        let device = object::get::<Device>(device)?;
        let answer = identity(&device, param_name)
            .or_else(|| execution(&device, param_name))
            .or_else(|| numbers(param_name))
            .or_else(|| memory(&device, param_name))
            .or_else(|| images(&device, param_name))
            .or_else(|| features(param_name));
        let answer = answer.map_or_else(|| unknown(param_name), Ok)?;
        Room::new(param_value_size, param_value, param_value_size_ret).put(&answer)
    })
}

/// The version with what else code depends on, machine and techniques: programs that keep binaries go by it.
fn driver_version(device: &Device) -> Answer {
    let fingerprint = device.builder.fingerprint();
    Answer::text(&format!("{}-{}", env!("CARGO_PKG_VERSION"), fingerprint.get(..8).unwrap_or_default()))
}

/// Names, versions, what there is at all.
fn identity(device: &Ref<Device>, name: cl_device_info) -> Option<Answer> {
    let machine = &device.machine;
    Some(match name {
        CL_DEVICE_TYPE => Answer::of(device.device_type),
        CL_DEVICE_VENDOR_ID => Answer::of::<cl_uint>(u32::from(heddle_object::MACHINE)),
        CL_DEVICE_NAME if machine.name == "heddle" => Answer::text("Heddle"),
        CL_DEVICE_NAME => Answer::text(&format!("Heddle {}", machine.name)),
        CL_DEVICE_VENDOR => Answer::text("Heddle"),
        CL_DRIVER_VERSION => driver_version(device),
        CL_DEVICE_PROFILE => Answer::text("FULL_PROFILE"),
        CL_DEVICE_VERSION => Answer::text(VERSION),
        CL_DEVICE_NUMERIC_VERSION => Answer::of(VERSION_NUMBER),
        // Programs in this version need not ask for features.
        CL_DEVICE_OPENCL_C_VERSION => Answer::text("OpenCL C 1.2 Heddle"),
        CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR => Answer::of::<cl_version>(1 << 22 | 2 << 12),
        CL_DEVICE_OPENCL_C_ALL_VERSIONS => Answer::all(&language_versions()),
        CL_DEVICE_OPENCL_C_FEATURES => Answer::all(&language_features()),
        CL_DEVICE_EXTENSIONS => Answer::text(&all_extensions().join(" ")),
        CL_DEVICE_EXTENSIONS_WITH_VERSION => versioned(&all_extensions()),
        CL_DEVICE_IL_VERSION => {
            let names: Vec<String> = il_minors().map(|minor| format!("SPIR-V_1.{minor}")).collect();
            Answer::text(&names.join(" "))
        }
        CL_DEVICE_ILS_WITH_VERSION => {
            Answer::all(&il_minors().map(|minor| named("SPIR-V", 1 << 22 | minor << 12)).collect::<Vec<_>>())
        }
        CL_DEVICE_BUILT_IN_KERNELS => Answer::text(""),
        CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION => Answer::empty(),
        // None: the year says so, and the rest is a date, as programs that read it want.
        CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED => Answer::text("v0000-01-01-00"),
        CL_DEVICE_PLATFORM => Answer::of(object::handle(platform::platform())),
        CL_DEVICE_AVAILABLE | CL_DEVICE_COMPILER_AVAILABLE | CL_DEVICE_LINKER_AVAILABLE => Answer::truth(true),
        CL_DEVICE_ENDIAN_LITTLE => Answer::truth(true),
        CL_DEVICE_ADDRESS_BITS => Answer::of::<cl_uint>(64),
        CL_DEVICE_REFERENCE_COUNT => Answer::of::<cl_uint>(1),
        CL_DEVICE_PARENT_DEVICE => Answer::of::<*mut c_void>(std::ptr::null_mut()),
        CL_DEVICE_PARTITION_MAX_SUB_DEVICES => Answer::of::<cl_uint>(0),
        CL_DEVICE_PARTITION_PROPERTIES => Answer::of::<isize>(0),
        CL_DEVICE_PARTITION_AFFINITY_DOMAIN => Answer::of::<cl_ulong>(0),
        CL_DEVICE_PARTITION_TYPE => Answer::empty(),
        CL_DEVICE_PREFERRED_INTEROP_USER_SYNC => Answer::truth(true),
        _ => return None,
    })
}

/// Work-groups, queues, time.
fn execution(device: &Device, name: cl_device_info) -> Option<Answer> {
    let sm = &device.machine.sm;
    let warp = device.machine.warp_size as usize;
    let most = (sm.max_work_group_size as usize).min(sm.max_warps as usize * warp);
    let on_host = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
    Some(match name {
        CL_DEVICE_MAX_COMPUTE_UNITS => Answer::of(sm.count),
        CL_DEVICE_MAX_CLOCK_FREQUENCY => Answer::of(device.machine.clock_mhz.round() as cl_uint),
        CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS => Answer::of::<cl_uint>(3),
        CL_DEVICE_MAX_WORK_GROUP_SIZE => Answer::of(most),
        CL_DEVICE_MAX_WORK_ITEM_SIZES => Answer::of([most; 3]),
        CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => Answer::of(warp),
        CL_DEVICE_MAX_NUM_SUB_GROUPS => Answer::uint(most.div_ceil(warp)),
        CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS => Answer::truth(false),
        CL_DEVICE_EXECUTION_CAPABILITIES => Answer::of(CL_EXEC_KERNEL | CL_EXEC_NATIVE_KERNEL),
        // The older name CL_DEVICE_QUEUE_PROPERTIES is the same.
        CL_DEVICE_QUEUE_ON_HOST_PROPERTIES => Answer::of(on_host),
        CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES => Answer::of::<cl_command_queue_properties>(0),
        CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE | CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE => Answer::of::<cl_uint>(0),
        CL_DEVICE_MAX_ON_DEVICE_QUEUES | CL_DEVICE_MAX_ON_DEVICE_EVENTS => Answer::of::<cl_uint>(0),
        CL_DEVICE_PROFILING_TIMER_RESOLUTION => Answer::of::<usize>(1),
        CL_DEVICE_PRINTF_BUFFER_SIZE => Answer::of(PRINTF_ROOM as usize),
        CL_DEVICE_ERROR_CORRECTION_SUPPORT => Answer::truth(false),
        _ => return None,
    })
}

/// Widths of vectors and what floating-point numbers can do.
fn numbers(name: cl_device_info) -> Option<Answer> {
    const DOT_PRODUCTS_OF_BYTES: cl_device_info = CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT;
    const DOT_PRODUCTS_OF_WORDS: cl_device_info = CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED;
    let rounding = CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN | CL_FP_DENORM | CL_FP_FMA;
    Some(match name {
        // Lanes are scalar.
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_INT
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF => Answer::of::<cl_uint>(1),
        CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES => {
            Answer::of(CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED | CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT)
        }
        // There is no instruction for any: signed, unsigned and mixed inputs, and the same with a sum that saturates.
        DOT_PRODUCTS_OF_BYTES | DOT_PRODUCTS_OF_WORDS => Answer::all(&[CL_FALSE; 6]),
        CL_DEVICE_SINGLE_FP_CONFIG => Answer::of(rounding),
        CL_DEVICE_HALF_FP_CONFIG => Answer::of(rounding),
        CL_DEVICE_DOUBLE_FP_CONFIG => Answer::of(rounding | CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF),
        _ => return None,
    })
}

/// Memory and caches.
fn memory(device: &Device, name: cl_device_info) -> Option<Answer> {
    let machine = &device.machine;
    Some(match name {
        CL_DEVICE_GLOBAL_MEM_SIZE => Answer::of(machine.memory.device_bytes),
        CL_DEVICE_MAX_MEM_ALLOC_SIZE | CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE => Answer::of(device.max_allocation()),
        CL_DEVICE_GLOBAL_MEM_CACHE_TYPE => Answer::of(CL_READ_WRITE_CACHE),
        CL_DEVICE_GLOBAL_MEM_CACHE_SIZE => Answer::of(u64::from(machine.memory.l2.bytes)),
        CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE => Answer::of(machine.memory.line_bytes),
        CL_DEVICE_LOCAL_MEM_TYPE => Answer::of(CL_LOCAL),
        CL_DEVICE_LOCAL_MEM_SIZE => Answer::of(u64::from(machine.sm.local_memory)),
        CL_DEVICE_MAX_CONSTANT_ARGS => Answer::of(PARAMETER_BYTES / 8),
        CL_DEVICE_MAX_PARAMETER_SIZE => Answer::of(PARAMETER_BYTES as usize),
        CL_DEVICE_MEM_BASE_ADDR_ALIGN => Answer::of(8 * BASE_ALIGN as cl_uint),
        CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE => Answer::of(BASE_ALIGN as cl_uint),
        CL_DEVICE_HOST_UNIFIED_MEMORY => Answer::truth(false),
        CL_DEVICE_SVM_CAPABILITIES => Answer::of(CL_DEVICE_SVM_COARSE_GRAIN_BUFFER),
        CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE => Answer::of::<usize>(1 << 20),
        CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE => Answer::of::<usize>(1 << 20),
        CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT
        | CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT
        | CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT => Answer::of::<cl_uint>(0),
        _ => return None,
    })
}

/// Images and samplers.
fn images(device: &Device, name: cl_device_info) -> Option<Answer> {
    let arguments = PARAMETER_BYTES / (4 * IMAGE_WORDS);
    Some(match name {
        CL_DEVICE_IMAGE_SUPPORT => Answer::truth(true),
        CL_DEVICE_MAX_READ_IMAGE_ARGS | CL_DEVICE_MAX_WRITE_IMAGE_ARGS | CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS => {
            Answer::of(arguments)
        }
        CL_DEVICE_IMAGE2D_MAX_WIDTH | CL_DEVICE_IMAGE2D_MAX_HEIGHT => Answer::of(MAX_SIDE),
        CL_DEVICE_IMAGE3D_MAX_WIDTH | CL_DEVICE_IMAGE3D_MAX_HEIGHT | CL_DEVICE_IMAGE3D_MAX_DEPTH => Answer::of(MAX_SIDE_3D),
        CL_DEVICE_IMAGE_MAX_BUFFER_SIZE => Answer::of(max_buffer_texels(device)),
        CL_DEVICE_IMAGE_MAX_ARRAY_SIZE => Answer::of(MAX_LAYERS),
        CL_DEVICE_IMAGE_PITCH_ALIGNMENT | CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT => Answer::of::<cl_uint>(0),
        CL_DEVICE_MAX_SAMPLERS => Answer::of::<cl_uint>(16),
        _ => return None,
    })
}

/// What of OpenCL 2.0 and later there is.
fn features(name: cl_device_info) -> Option<Answer> {
    let orders = CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL | CL_DEVICE_ATOMIC_ORDER_SEQ_CST;
    let scopes = CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP | CL_DEVICE_ATOMIC_SCOPE_DEVICE;
    Some(match name {
        CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES => Answer::of(orders | scopes),
        CL_DEVICE_ATOMIC_FENCE_CAPABILITIES => Answer::of(orders | scopes | CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM),
        CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT
        | CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT
        | CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT => Answer::truth(true),
        CL_DEVICE_PIPE_SUPPORT => Answer::truth(false),
        CL_DEVICE_MAX_PIPE_ARGS | CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS | CL_DEVICE_PIPE_MAX_PACKET_SIZE => {
            Answer::of::<cl_uint>(0)
        }
        CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES => Answer::of::<cl_ulong>(0),
        _ => return None,
    })
}

pub unsafe extern "C" fn clCreateSubDevices(
    in_device: cl_device_id,
    _properties: *const cl_device_partition_property,
    _num_devices: cl_uint,
    _out_devices: *mut cl_device_id,
    _num_devices_ret: *mut cl_uint,
) -> cl_int {
    status("clCreateSubDevices", || {
        object::get::<Device>(in_device)?;
        fail(CL_INVALID_VALUE, "the device cannot be partitioned")
    })
}

pub unsafe extern "C" fn clCreateSubDevicesEXT(
    in_device: cl_device_id,
    _properties: *const cl_device_partition_property_ext,
    _num_entries: cl_uint,
    _out_devices: *mut cl_device_id,
    _num_devices: *mut cl_uint,
) -> cl_int {
    status("clCreateSubDevicesEXT", || {
        object::get::<Device>(in_device)?;
        fail(CL_INVALID_VALUE, "the device cannot be partitioned")
    })
}

// The device is no sub-device: it is there as long as the process.

pub unsafe extern "C" fn clRetainDevice(device: cl_device_id) -> cl_int {
    status("clRetainDevice", || object::get::<Device>(device).map(drop))
}

pub unsafe extern "C" fn clReleaseDevice(device: cl_device_id) -> cl_int {
    status("clReleaseDevice", || object::get::<Device>(device).map(drop))
}

pub unsafe extern "C" fn clGetDeviceAndHostTimer(
    device: cl_device_id,
    device_timestamp: *mut cl_ulong,
    host_timestamp: *mut cl_ulong,
) -> cl_int {
    status("clGetDeviceAndHostTimer", || {
        let device = object::get::<Device>(device)?;
        let both = !device_timestamp.is_null() && !host_timestamp.is_null();
        ensure(both, CL_INVALID_VALUE, "a place for a timestamp is null")?;
        let host = host_nanoseconds();
        device_timestamp.write_unaligned(if device.clock.is_simulated() { device.clock.now() } else { host });
        host_timestamp.write_unaligned(host);
        Ok(())
    })
}

pub unsafe extern "C" fn clGetHostTimer(device: cl_device_id, host_timestamp: *mut cl_ulong) -> cl_int {
    status("clGetHostTimer", || {
        object::get::<Device>(device)?;
        ensure(!host_timestamp.is_null(), CL_INVALID_VALUE, "host_timestamp is null")?;
        host_timestamp.write_unaligned(host_nanoseconds());
        Ok(())
    })
}
