//! Kernels: making them, their arguments, and what they answer.

use std::ffi::{CStr, c_char, c_void};

use opencl_sys::*;

use crate::core::device::Device;
use crate::core::kernel::{Kernel, Setting, is_pointer};
use crate::core::program::Program;
use crate::core::sampler::Sampler;
use crate::entry::{made, slice, status};
use crate::error::{Outcome, ensure, fail};
use crate::info::{Answer, Room, unknown};
use crate::object::{self, Object};
use heddle_object::metadata::{Access, ArgumentKind, KernelArgument};

pub unsafe extern "C" fn clCreateKernel(program: cl_program, kernel_name: *const c_char, errcode_ret: *mut cl_int) -> cl_kernel {
    made("clCreateKernel", errcode_ret, || {
        let program = object::get::<Program>(program)?;
        let Some(loaded) = program.executable() else {
            return fail(CL_INVALID_PROGRAM_EXECUTABLE, "the program is not built");
        };
        ensure(!kernel_name.is_null(), CL_INVALID_VALUE, "kernel_name is null")?;
        let name = CStr::from_ptr(kernel_name).to_string_lossy();
        match loaded.image.kernel(&name) {
            Some(number) => Ok(object::give(Object::new(Kernel::new(program, loaded, number)))),
            None => fail(CL_INVALID_KERNEL_NAME, format!("the program has no kernel `{name}`")),
        }
    })
}

pub unsafe extern "C" fn clCreateKernelsInProgram(
    program: cl_program,
    num_kernels: cl_uint,
    kernels: *mut cl_kernel,
    num_kernels_ret: *mut cl_uint,
) -> cl_int {
    status("clCreateKernelsInProgram", || {
        let program = object::get::<Program>(program)?;
        let Some(loaded) = program.executable() else {
            return fail(CL_INVALID_PROGRAM_EXECUTABLE, "the program is not built");
        };
        let all = loaded.image.metadata.kernels.iter().enumerate();
        let numbers: Vec<usize> = all.filter(|(_, k)| k.is_launchable()).map(|(number, _)| number).collect();
        let count = numbers.len();
        if !kernels.is_null() {
            ensure(num_kernels as usize >= count, CL_INVALID_VALUE, "num_kernels is below the program's kernels")?;
            for number in numbers {
                let kernel = Kernel::new(program.clone(), loaded.clone(), number);
                kernels.add(number).write_unaligned(object::give(Object::new(kernel)));
            }
        }
        if !num_kernels_ret.is_null() {
            num_kernels_ret.write_unaligned(count as cl_uint);
        }
        Ok(())
    })
}

pub unsafe extern "C" fn clCloneKernel(source_kernel: cl_kernel, errcode_ret: *mut cl_int) -> cl_kernel {
    made("clCloneKernel", errcode_ret, || Ok(object::give(Object::new(object::get::<Kernel>(source_kernel)?.copy()))))
}

pub unsafe extern "C" fn clRetainKernel(kernel: cl_kernel) -> cl_int {
    status("clRetainKernel", || object::retain::<Kernel>(kernel))
}

pub unsafe extern "C" fn clReleaseKernel(kernel: cl_kernel) -> cl_int {
    status("clReleaseKernel", || object::release::<Kernel>(kernel).map(drop))
}

/// A handle where an argument's value points.
unsafe fn handle_at(value: *const c_void) -> *mut c_void {
    if value.is_null() { std::ptr::null_mut() } else { value.cast::<*mut c_void>().read_unaligned() }
}

const HANDLE: usize = size_of::<*mut c_void>();

/// What an argument is set to.
unsafe fn setting(kernel: &Kernel, parameter: &KernelArgument, size: usize, value: *const c_void) -> Outcome<Setting> {
    let size_is = |wanted: usize| ensure(size == wanted, CL_INVALID_ARG_SIZE, "arg_size is not the size of the parameter's type");
    match parameter.kind {
        ArgumentKind::Local => {
            ensure(value.is_null(), CL_INVALID_ARG_VALUE, "arg_value of a local pointer is not null")?;
            let bytes = u32::try_from(size).ok().filter(|n| *n > 0);
            match bytes {
                Some(bytes) => Ok(Setting::Local(bytes)),
                None => fail(CL_INVALID_ARG_SIZE, "arg_size of a local pointer is 0, or above what a work-group has"),
            }
        }
        ArgumentKind::Global | ArgumentKind::Constant => {
            let handle = handle_at(value);
            size_is(HANDLE)?;
            if handle.is_null() {
                return Ok(Setting::Pointer(0));
            }
            let memory = super::buffer::buffer(handle)?;
            super::same_context(&kernel.program.context, &memory.context).or_else(|e| fail(CL_INVALID_MEM_OBJECT, e.why))?;
            Ok(Setting::Memory(memory))
        }
        ArgumentKind::Image => {
            ensure(!value.is_null(), CL_INVALID_ARG_VALUE, "arg_value of an image is null")?;
            size_is(HANDLE)?;
            image_setting(parameter, handle_at(value))
        }
        ArgumentKind::Sampler => {
            ensure(!value.is_null(), CL_INVALID_SAMPLER, "arg_value of a sampler is null")?;
            size_is(HANDLE)?;
            let sampler = object::get::<Sampler>(handle_at(value))?;
            Ok(Setting::Value(sampler.bits().to_le_bytes().to_vec()))
        }
        ArgumentKind::Value => {
            ensure(!value.is_null(), CL_INVALID_ARG_VALUE, "arg_value is null")?;
            size_is(parameter.size as usize)?;
            Ok(Setting::Value(slice(value.cast::<u8>(), size).to_vec()))
        }
        ArgumentKind::PrintfBuffer => fail(CL_INVALID_ARG_INDEX, "the kernel has no such argument"),
    }
}

/// An image, which must be of the parameter's type and may be used as it says.
fn image_setting(parameter: &KernelArgument, handle: *mut c_void) -> Outcome<Setting> {
    let (memory, shape) = super::image::image(handle)?;
    let wanted = match parameter.type_name.as_str() {
        name if name.starts_with("image1d_buffer") => CL_MEM_OBJECT_IMAGE1D_BUFFER,
        name if name.starts_with("image1d_array") => CL_MEM_OBJECT_IMAGE1D_ARRAY,
        name if name.starts_with("image1d") => CL_MEM_OBJECT_IMAGE1D,
        name if name.starts_with("image2d_array") => CL_MEM_OBJECT_IMAGE2D_ARRAY,
        name if name.starts_with("image2d") => CL_MEM_OBJECT_IMAGE2D,
        _ => CL_MEM_OBJECT_IMAGE3D,
    };
    let is_wanted = shape.image_type == wanted;
    ensure(is_wanted, CL_INVALID_ARG_VALUE, "the image is of another type than the parameter")?;
    let forbidden = match parameter.access {
        Access::ReadOnly | Access::None => CL_MEM_WRITE_ONLY,
        Access::WriteOnly => CL_MEM_READ_ONLY,
        Access::ReadWrite => CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
    };
    let allowed = memory.flags & forbidden == 0;
    ensure(allowed, CL_INVALID_ARG_VALUE, "the image's flags forbid what the parameter's access qualifier says")?;
    Ok(Setting::Memory(memory))
}

pub unsafe extern "C" fn clSetKernelArg(
    kernel: cl_kernel,
    arg_index: cl_uint,
    arg_size: usize,
    arg_value: *const c_void,
) -> cl_int {
    status("clSetKernelArg", || {
        let kernel = object::get::<Kernel>(kernel)?;
        let Some(parameter) = kernel.parameter(arg_index) else {
            return fail(CL_INVALID_ARG_INDEX, "the kernel has no such argument");
        };
        let setting = setting(&kernel, parameter, arg_size, arg_value)?;
        kernel.set(arg_index, &setting);
        Ok(())
    })
}

pub unsafe extern "C" fn clSetKernelArgSVMPointer(kernel: cl_kernel, arg_index: cl_uint, arg_value: *const c_void) -> cl_int {
    status("clSetKernelArgSVMPointer", || {
        let kernel = object::get::<Kernel>(kernel)?;
        let Some(parameter) = kernel.parameter(arg_index) else {
            return fail(CL_INVALID_ARG_INDEX, "the kernel has no such argument");
        };
        ensure(is_pointer(parameter), CL_INVALID_ARG_VALUE, "the parameter is no pointer to global or constant memory")?;
        kernel.set(arg_index, &Setting::Pointer(arg_value as u64));
        Ok(())
    })
}

pub unsafe extern "C" fn clSetKernelExecInfo(
    kernel: cl_kernel,
    param_name: cl_kernel_exec_info,
    param_value_size: usize,
    param_value: *const c_void,
) -> cl_int {
    status("clSetKernelExecInfo", || {
        let kernel = object::get::<Kernel>(kernel)?;
        let none = param_name == CL_KERNEL_EXEC_INFO_SVM_PTRS && param_value_size == 0;
        ensure(none || !param_value.is_null(), CL_INVALID_VALUE, "param_value is null")?;
        match param_name {
            // No pointers take back those that were set.
            CL_KERNEL_EXEC_INFO_SVM_PTRS if none => {
                kernel.set_indirect(Vec::new());
                Ok(())
            }
            CL_KERNEL_EXEC_INFO_SVM_PTRS => {
                let whole = param_value_size > 0 && param_value_size % HANDLE == 0;
                ensure(whole, CL_INVALID_VALUE, "param_value_size is no multiple of a pointer's")?;
                let pointers = param_value.cast::<*mut c_void>();
                let addresses = (0..param_value_size / HANDLE).map(|i| pointers.add(i).read_unaligned() as u64);
                kernel.set_indirect(addresses.collect());
                Ok(())
            }
            CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM => {
                ensure(param_value_size == size_of::<cl_bool>(), CL_INVALID_VALUE, "param_value_size is not a cl_bool's")?;
                let wanted = param_value.cast::<cl_bool>().read_unaligned() != CL_FALSE;
                ensure(!wanted, CL_INVALID_OPERATION, "the device has no fine-grained shared virtual memory")
            }
            _ => unknown(param_name).map(drop),
        }
    })
}

pub unsafe extern "C" fn clGetKernelInfo(
    kernel: cl_kernel,
    param_name: cl_kernel_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> cl_int {
    status("clGetKernelInfo", || {
        let kernel = object::get::<Kernel>(kernel)?;
        let header = kernel.header();
        let answer = match param_name {
            CL_KERNEL_FUNCTION_NAME => Answer::text(&header.name),
            CL_KERNEL_NUM_ARGS => Answer::uint(header.visible_args().len()),
            CL_KERNEL_REFERENCE_COUNT => Answer::of(kernel.references()),
            CL_KERNEL_CONTEXT => Answer::of(object::queried_handle(&kernel.program.context)),
            CL_KERNEL_PROGRAM => Answer::of(object::queried_handle(&kernel.program)),
            CL_KERNEL_ATTRIBUTES => Answer::text(&header.attributes()),
            _ => unknown(param_name)?,
        };
        Room::new(param_value_size, param_value, param_value_size_ret).put(&answer)
    })
}

pub unsafe extern "C" fn clGetKernelArgInfo(
    kernel: cl_kernel,
    arg_index: cl_uint,
    param_name: cl_kernel_arg_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> cl_int {
    status("clGetKernelArgInfo", || {
        let kernel = object::get::<Kernel>(kernel)?;
        let Some(parameter) = kernel.parameter(arg_index) else {
            return fail(CL_INVALID_ARG_INDEX, "the kernel has no such argument");
        };
        let known = kernel.loaded.argument_info;
        ensure(known, CL_KERNEL_ARG_INFO_NOT_AVAILABLE, "the program is not built with -cl-kernel-arg-info")?;
        let q = parameter.qualifiers;
        let answer = match param_name {
            CL_KERNEL_ARG_ADDRESS_QUALIFIER => Answer::of(match parameter.kind {
                // Images are in global memory.
                ArgumentKind::Global | ArgumentKind::Image => CL_KERNEL_ARG_ADDRESS_GLOBAL,
                ArgumentKind::Constant => CL_KERNEL_ARG_ADDRESS_CONSTANT,
                ArgumentKind::Local => CL_KERNEL_ARG_ADDRESS_LOCAL,
                ArgumentKind::Value | ArgumentKind::Sampler | ArgumentKind::PrintfBuffer => CL_KERNEL_ARG_ADDRESS_PRIVATE,
            }),
            CL_KERNEL_ARG_ACCESS_QUALIFIER => Answer::of(match parameter.access {
                Access::None => CL_KERNEL_ARG_ACCESS_NONE,
                Access::ReadOnly => CL_KERNEL_ARG_ACCESS_READ_ONLY,
                Access::WriteOnly => CL_KERNEL_ARG_ACCESS_WRITE_ONLY,
                Access::ReadWrite => CL_KERNEL_ARG_ACCESS_READ_WRITE,
            }),
            CL_KERNEL_ARG_TYPE_NAME => Answer::text(&parameter.type_name),
            CL_KERNEL_ARG_TYPE_QUALIFIER => {
                let bits = [
                    (q.constant, CL_KERNEL_ARG_TYPE_CONST),
                    (q.restrict, CL_KERNEL_ARG_TYPE_RESTRICT),
                    (q.volatile, CL_KERNEL_ARG_TYPE_VOLATILE),
                    (q.pipe, CL_KERNEL_ARG_TYPE_PIPE),
                ];
                let bits = bits.iter().filter(|(holds, _)| *holds).fold(CL_KERNEL_ARG_TYPE_NONE, |a, (_, bit)| a | bit);
                // In C it is a bit field of 64 bits.
                Answer::of::<cl_ulong>(bits.into())
            }
            CL_KERNEL_ARG_NAME => Answer::text(&parameter.name),
            _ => unknown(param_name)?,
        };
        Room::new(param_value_size, param_value, param_value_size_ret).put(&answer)
    })
}

/// Checks a device that a kernel is asked about: null is the one that there is.
fn check_device(device: cl_device_id) -> Outcome {
    if device.is_null() { Ok(()) } else { object::get::<Device>(device).map(drop) }
}

pub unsafe extern "C" fn clGetKernelWorkGroupInfo(
    kernel: cl_kernel,
    device: cl_device_id,
    param_name: cl_kernel_work_group_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> cl_int {
    status("clGetKernelWorkGroupInfo", || {
        let kernel = object::get::<Kernel>(kernel)?;
        check_device(device)?;
        let (header, machine) = (kernel.header(), &kernel.program.device.machine);
        let answer = match param_name {
            CL_KERNEL_GLOBAL_WORK_SIZE => {
                return fail(CL_INVALID_VALUE, "CL_KERNEL_GLOBAL_WORK_SIZE is for built-in kernels and custom devices");
            }
            CL_KERNEL_WORK_GROUP_SIZE => Answer::of(kernel.largest_work_group() as usize),
            CL_KERNEL_COMPILE_WORK_GROUP_SIZE => Answer::of(header.required_work_group.unwrap_or_default().map(|n| n as usize)),
            CL_KERNEL_LOCAL_MEM_SIZE => Answer::of(kernel.local_bytes()),
            CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => Answer::of(machine.warp_size as usize),
            CL_KERNEL_PRIVATE_MEM_SIZE => Answer::of(u64::from(header.private_bytes)),
            _ => unknown(param_name)?,
        };
        Room::new(param_value_size, param_value, param_value_size_ret).put(&answer)
    })
}

pub unsafe extern "C" fn clGetKernelSubGroupInfo(
    kernel: cl_kernel,
    device: cl_device_id,
    param_name: cl_kernel_sub_group_info,
    input_value_size: usize,
    input_value: *const c_void,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> cl_int {
    status("clGetKernelSubGroupInfo", || {
        let kernel = object::get::<Kernel>(kernel)?;
        check_device(device)?;
        let (header, machine) = (kernel.header(), &kernel.program.device.machine);
        let warp = machine.warp_size as usize;
        let most = kernel.largest_work_group() as usize;
        let inputs = || {
            let count = input_value_size / size_of::<usize>();
            let whole = !input_value.is_null() && input_value_size % size_of::<usize>() == 0 && (1..=3).contains(&count);
            ensure(whole, CL_INVALID_VALUE, "input_value has no one to three sizes")?;
            let values = input_value.cast::<usize>();
            Ok((0..count).map(|i| values.add(i).read_unaligned()).collect::<Vec<usize>>())
        };
        let answer = match param_name {
            CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE => {
                Answer::of(inputs()?.iter().fold(1usize, |a, n| a.saturating_mul(*n)).min(warp))
            }
            CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE => {
                Answer::of(inputs()?.iter().fold(1usize, |a, n| a.saturating_mul(*n)).div_ceil(warp))
            }
            CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT => {
                let count = inputs()?.first().copied().unwrap_or(0);
                let dimensions = param_value_size / size_of::<usize>();
                let room = param_value.is_null() || (1..=3).contains(&dimensions);
                ensure(room, CL_INVALID_VALUE, "param_value has no room for one to three sizes")?;
                Answer::all(&local_size(count, dimensions.clamp(1, 3), warp, most, header.required_work_group))
            }
            CL_KERNEL_MAX_NUM_SUB_GROUPS => Answer::of(most.div_ceil(warp)),
            CL_KERNEL_COMPILE_NUM_SUB_GROUPS => Answer::of::<usize>(0),
            _ => unknown(param_name)?,
        };
        Room::new(param_value_size, param_value, param_value_size_ret).put(&answer)
    })
}

/// A work-group size with so many sub-groups, all in the first dimension; zeros if there is none.
fn local_size(count: usize, dimensions: usize, warp: usize, most: usize, required: Option<[u32; 3]>) -> Vec<usize> {
    let mut size = vec![1; dimensions];
    size[0] = count.saturating_mul(warp);
    let required = required.map(|r| r.map(|n| n as usize));
    let possible = match required {
        Some(r) => {
            size.copy_from_slice(&r[..dimensions]);
            r[dimensions..].iter().all(|n| *n == 1) && r.iter().product::<usize>().div_ceil(warp) == count
        }
        None => size[0] <= most,
    };
    if count == 0 || !possible {
        size.fill(0);
    }
    size
}
