//! Programs: making, building, compiling, linking, and what they answer.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use opencl_sys::*;

use heddle::build::Unit;

use super::{device_list, the_device};
use crate::core::binary;
use crate::core::callbacks::{UserData, soon};
use crate::core::context::Context;
use crate::core::device::Device;
use crate::core::program::{Content, Failed, Il, Notify, Program, load};
use crate::entry::{made, slice, status};
use crate::error::{Outcome, ensure, fail};
use crate::info::{Answer, Room, unknown};
use crate::object::{self, Object, Ref};

pub unsafe extern "C" fn clCreateProgramWithSource(
    context: cl_context,
    count: cl_uint,
    strings: *mut *const c_char,
    lengths: *const usize,
    errcode_ret: *mut cl_int,
) -> cl_program {
    made("clCreateProgramWithSource", errcode_ret, || {
        let context = object::get::<Context>(context)?;
        let strings = slice(strings.cast_const(), count as usize);
        let there = !strings.is_empty() && strings.iter().all(|s| !s.is_null());
        ensure(there, CL_INVALID_VALUE, "there are no strings, or one of them is null")?;
        let lengths = slice(lengths, count as usize);
        let mut source = Vec::new();
        for (i, string) in strings.iter().enumerate() {
            match lengths.get(i).copied().filter(|n| *n > 0) {
                Some(length) => source.extend_from_slice(slice(string.cast::<u8>(), length)),
                None => source.extend_from_slice(CStr::from_ptr(*string).to_bytes()),
            }
        }
        // Programs pass the zero behind the text as part of it.
        while source.last() == Some(&0) {
            source.pop();
        }
        Ok(object::give(Object::new(Program::new(context, the_device()?, Some(source), Content::Nothing))))
    })
}

/// The content of a binary.
fn binary_content(bytes: &[u8]) -> Outcome<Content> {
    if Unit::begins(bytes) {
        return match Unit::from_bytes(bytes) {
            Ok(unit) => Ok(Content::Unit(Arc::new(unit))),
            Err(e) => fail(CL_INVALID_BINARY, e.to_string()),
        };
    }
    let device = the_device()?;
    let loaded = binary::read(bytes, &device.builder.fingerprint()).and_then(|(object, source)| load(device, object, source));
    match loaded {
        Ok(loaded) => Ok(Content::Executable(Arc::new(loaded))),
        Err(why) => fail(CL_INVALID_BINARY, why),
    }
}

pub unsafe extern "C" fn clCreateProgramWithBinary(
    context: cl_context,
    num_devices: cl_uint,
    device_list: *const cl_device_id,
    lengths: *const usize,
    binaries: *mut *const u8,
    binary_status: *mut cl_int,
    errcode_ret: *mut cl_int,
) -> cl_program {
    made("clCreateProgramWithBinary", errcode_ret, || {
        let context = object::get::<Context>(context)?;
        ensure(num_devices > 0 && !device_list.is_null(), CL_INVALID_VALUE, "there are no devices in the list")?;
        super::device_list(num_devices, device_list)?;
        let count = num_devices as usize;
        let (lengths, binaries) = (slice(lengths, count), slice(binaries.cast_const(), count));
        let mut results = Vec::new();
        for i in 0..count {
            let (length, binary) = (lengths.get(i).copied().unwrap_or(0), binaries.get(i).copied());
            results.push(match binary.filter(|b| !b.is_null() && length > 0) {
                Some(binary) => binary_content(slice(binary, length)),
                None => fail(CL_INVALID_VALUE, "a binary is null or empty"),
            });
        }
        if !binary_status.is_null() {
            for (i, result) in results.iter().enumerate() {
                binary_status.add(i).write_unaligned(result.as_ref().map_or_else(|e| e.code, |_| CL_SUCCESS));
            }
        }
        let mut contents = results.into_iter().collect::<Outcome<Vec<_>>>()?;
        let content = contents.pop().unwrap_or_default();
        Ok(object::give(Object::new(Program::new(context, the_device()?, None, content))))
    })
}

pub unsafe extern "C" fn clCreateProgramWithBuiltInKernels(
    context: cl_context,
    num_devices: cl_uint,
    device_list: *const cl_device_id,
    kernel_names: *const c_char,
    errcode_ret: *mut cl_int,
) -> cl_program {
    made("clCreateProgramWithBuiltInKernels", errcode_ret, || {
        object::get::<Context>(context)?;
        ensure(num_devices > 0 && !device_list.is_null(), CL_INVALID_VALUE, "there are no devices in the list")?;
        super::device_list(num_devices, device_list)?;
        ensure(!kernel_names.is_null(), CL_INVALID_VALUE, "kernel_names is null")?;
        fail(CL_INVALID_VALUE, "the device has no built-in kernels")
    })
}

pub unsafe extern "C" fn clCreateProgramWithIL(
    context: cl_context,
    il: *const c_void,
    length: usize,
    errcode_ret: *mut cl_int,
) -> cl_program {
    made("clCreateProgramWithIL", errcode_ret, || {
        let context = object::get::<Context>(context)?;
        ensure(!il.is_null() && length > 0, CL_INVALID_VALUE, "il is null or empty")?;
        let missing = "SPIR-V needs Khronos' translator llvm-spirv, which is not installed";
        ensure(heddle_frontend::translate::translator().is_some(), CL_INVALID_OPERATION, missing)?;
        match Il::new(slice(il.cast::<u8>(), length)) {
            Ok(il) => Ok(object::give(Object::new(Program::of_il(context, the_device()?, il)))),
            Err(why) => fail(CL_INVALID_VALUE, why),
        }
    })
}

pub unsafe extern "C" fn clRetainProgram(program: cl_program) -> cl_int {
    status("clRetainProgram", || object::retain::<Program>(program))
}

pub unsafe extern "C" fn clReleaseProgram(program: cl_program) -> cl_int {
    status("clReleaseProgram", || object::release::<Program>(program).map(drop))
}

pub unsafe extern "C" fn clSetProgramReleaseCallback(
    program: cl_program,
    pfn_notify: Option<Notify>,
    user_data: *mut c_void,
) -> cl_int {
    status("clSetProgramReleaseCallback", || {
        object::get::<Program>(program)?;
        let _ = (pfn_notify, user_data);
        fail(CL_INVALID_OPERATION, "no program here has destructors of program-scope variables")
    })
}

pub unsafe extern "C" fn clSetProgramSpecializationConstant(
    program: cl_program,
    spec_id: cl_uint,
    spec_size: usize,
    spec_value: *const c_void,
) -> cl_int {
    status("clSetProgramSpecializationConstant", || {
        let program = object::get::<Program>(program)?;
        let Some(il) = &program.il else { return fail(CL_INVALID_PROGRAM, "the program is not of intermediate language") };
        ensure(!spec_value.is_null(), CL_INVALID_VALUE, "spec_value is null")?;
        match il.size_of(spec_id) {
            None => fail(CL_INVALID_SPEC_ID, format!("the program has no specialisation constant {spec_id}")),
            Some(size) if size != spec_size => {
                fail(CL_INVALID_VALUE, format!("specialisation constant {spec_id} has {size} bytes, not {spec_size}"))
            }
            Some(size) => {
                il.set(spec_id, slice(spec_value.cast::<u8>(), size));
                Ok(())
            }
        }
    })
}

unsafe fn text(pointer: *const c_char) -> String {
    if pointer.is_null() { String::new() } else { CStr::from_ptr(pointer).to_string_lossy().into_owned() }
}

/// Calls the program when a build has ended.
fn notify_end(program: &Ref<Program>, notify: Option<Notify>, data: UserData) {
    let Some(notify) = notify else { return };
    let program = program.clone();
    soon(move || {
        // SAFETY: the program gave the function for this, and its data.
        unsafe { notify(object::handle(&program), data.pointer()) };
    });
}

/// Checks what building and compiling are given.
unsafe fn check_build(
    program: &Program,
    (count, devices): (cl_uint, *const cl_device_id),
    notify: Option<Notify>,
    user_data: *mut c_void,
) -> Outcome {
    ensure((count == 0) == devices.is_null(), CL_INVALID_VALUE, "num_devices and device_list do not go together")?;
    ensure(notify.is_some() || user_data.is_null(), CL_INVALID_VALUE, "user_data is for pfn_notify, which is null")?;
    device_list(count, devices)?;
    let free = program.kernels.load(Ordering::Relaxed) == 0;
    ensure(free, CL_INVALID_OPERATION, "the program has kernel objects")
}

pub unsafe extern "C" fn clBuildProgram(
    program: cl_program,
    num_devices: cl_uint,
    device_list: *const cl_device_id,
    options: *const c_char,
    pfn_notify: Option<Notify>,
    user_data: *mut c_void,
) -> cl_int {
    status("clBuildProgram", || {
        let program = object::get::<Program>(program)?;
        check_build(&program, (num_devices, device_list), pfn_notify, user_data)?;
        if program.source.is_none() && program.il.is_none() && !matches!(program.state().content, Content::Executable(_)) {
            return fail(CL_INVALID_BINARY, "the program was made of no executable binary");
        }
        let built = program.build(&text(options));
        notify_end(&program, pfn_notify, UserData(user_data));
        match built {
            Ok(()) => Ok(()),
            Err(Failed::Options) => fail(CL_INVALID_BUILD_OPTIONS, program.state().log),
            Err(Failed::Program) => fail(CL_BUILD_PROGRAM_FAILURE, "the program does not build; its log says why"),
        }
    })
}

pub unsafe extern "C" fn clCompileProgram(
    program: cl_program,
    num_devices: cl_uint,
    device_list: *const cl_device_id,
    options: *const c_char,
    num_input_headers: cl_uint,
    input_headers: *const cl_program,
    header_include_names: *mut *const c_char,
    pfn_notify: Option<Notify>,
    user_data: *mut c_void,
) -> cl_int {
    status("clCompileProgram", || {
        let program = object::get::<Program>(program)?;
        let none = num_input_headers == 0;
        let together = none == input_headers.is_null() && none == header_include_names.is_null();
        ensure(together, CL_INVALID_VALUE, "the number, the programs and the names of headers do not go together")?;
        check_build(&program, (num_devices, device_list), pfn_notify, user_data)?;
        let there = program.source.is_some() || program.il.is_some();
        ensure(there, CL_INVALID_OPERATION, "the program has neither source nor intermediate language")?;
        let plain = program.il.is_none() || num_input_headers == 0;
        ensure(plain, CL_INVALID_OPERATION, "intermediate language has no headers")?;
        let count = num_input_headers as usize;
        let mut headers = Vec::new();
        let names = slice(header_include_names.cast_const(), count);
        for (handle, name) in slice(input_headers, count).iter().zip(names) {
            let header = object::get::<Program>(*handle)?;
            ensure(header.source.is_some(), CL_INVALID_OPERATION, "a header's program has no source")?;
            ensure(!name.is_null(), CL_INVALID_VALUE, "a header's name is null")?;
            headers.push((text(*name), header));
        }
        let compiled = program.compile(&text(options), &headers);
        notify_end(&program, pfn_notify, UserData(user_data));
        match compiled {
            Ok(()) => Ok(()),
            Err(Failed::Options) => fail(CL_INVALID_COMPILER_OPTIONS, program.state().log),
            Err(Failed::Program) => fail(CL_COMPILE_PROGRAM_FAILURE, "the program does not compile; its log says why"),
        }
    })
}

pub unsafe extern "C" fn clLinkProgram(
    context: cl_context,
    num_devices: cl_uint,
    device_list: *const cl_device_id,
    options: *const c_char,
    num_input_programs: cl_uint,
    input_programs: *const cl_program,
    pfn_notify: Option<Notify>,
    user_data: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_program {
    let mut failed = None;
    let program = made("clLinkProgram", errcode_ret, || {
        let context = object::get::<Context>(context)?;
        ensure((num_devices == 0) == device_list.is_null(), CL_INVALID_VALUE, "num_devices and device_list do not go together")?;
        let there = num_input_programs > 0 && !input_programs.is_null();
        ensure(there, CL_INVALID_VALUE, "there are no programs in the list")?;
        ensure(pfn_notify.is_some() || user_data.is_null(), CL_INVALID_VALUE, "user_data is for pfn_notify, which is null")?;
        super::device_list(num_devices, device_list)?;
        let inputs = object::get_all::<Program>(slice(input_programs, num_input_programs as usize))?;
        let mut units = Vec::new();
        let mut argument_info = false;
        for input in &inputs {
            let state = input.state();
            argument_info |= state.argument_info;
            match state.content {
                Content::Unit(unit) => units.push(unit),
                _ => return fail(CL_INVALID_OPERATION, "a program of the list is neither compiled nor a library"),
            }
        }
        let program = Object::new(Program::new(context, the_device()?, None, Content::Nothing));
        let linked = program.link(&text(options), &units, argument_info);
        if linked == Err(Failed::Options) {
            return fail(CL_INVALID_LINKER_OPTIONS, program.state().log);
        }
        notify_end(&program, pfn_notify, UserData(user_data));
        // The program is made also if it does not link: it has the log.
        failed = linked.err();
        Ok(object::give(program))
    });
    if failed.is_some() && !errcode_ret.is_null() {
        errcode_ret.write_unaligned(CL_LINK_PROGRAM_FAILURE);
    }
    program
}

pub unsafe extern "C" fn clGetProgramInfo(
    program: cl_program,
    param_name: cl_program_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> cl_int {
    status("clGetProgramInfo", || {
        let program = object::get::<Program>(program)?;
        let room = Room::new(param_value_size, param_value, param_value_size_ret);
        let state = program.state();
        let executable = || match program.executable() {
            Some(loaded) => Ok(loaded),
            None => fail(CL_INVALID_PROGRAM_EXECUTABLE, "the program is not built"),
        };
        let answer = match param_name {
            CL_PROGRAM_REFERENCE_COUNT => Answer::of(program.references()),
            CL_PROGRAM_CONTEXT => Answer::of(object::queried_handle(&program.context)),
            CL_PROGRAM_NUM_DEVICES => Answer::of::<cl_uint>(1),
            CL_PROGRAM_DEVICES => Answer::of(object::handle(the_device()?)),
            CL_PROGRAM_SOURCE => Answer::text(&String::from_utf8_lossy(program.source.as_deref().unwrap_or_default())),
            CL_PROGRAM_IL => Answer::all(program.il.as_ref().map_or(&[][..], |il| &il.bytes)),
            CL_PROGRAM_BINARY_SIZES => Answer::of(binary(&state.content).len()),
            CL_PROGRAM_BINARIES => return put_binaries(&binary(&state.content), param_value_size, param_value, room),
            CL_PROGRAM_NUM_KERNELS => Answer::of(executable()?.image.metadata.launchable().count()),
            CL_PROGRAM_KERNEL_NAMES => {
                let loaded = executable()?;
                let names: Vec<&str> = loaded.image.metadata.launchable().map(|k| k.name.as_str()).collect();
                Answer::text(&names.join(";"))
            }
            CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT | CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT => Answer::truth(false),
            _ => unknown(param_name)?,
        };
        room.put(&answer)
    })
}

fn binary(content: &Content) -> Vec<u8> {
    match content {
        Content::Nothing => Vec::new(),
        Content::Unit(unit) => unit.to_bytes(),
        Content::Executable(loaded) => binary::write(&loaded.object, &loaded.source, &loaded.device.builder.fingerprint()),
    }
}

/// Binaries go where pointers in the answer's room point, one a device.
unsafe fn put_binaries(binary: &[u8], size: usize, value: *mut c_void, room: Room) -> Outcome {
    if value.is_null() {
        return room.put(&Answer::of::<*mut c_void>(std::ptr::null_mut()));
    }
    ensure(size >= size_of::<*mut u8>(), CL_INVALID_VALUE, "param_value_size is below a pointer's")?;
    let place = value.cast::<*mut u8>().read_unaligned();
    if !place.is_null() {
        std::ptr::copy_nonoverlapping(binary.as_ptr(), place, binary.len());
    }
    room.put(&Answer::of(place.cast::<c_void>()))
}

pub unsafe extern "C" fn clGetProgramBuildInfo(
    program: cl_program,
    device: cl_device_id,
    param_name: cl_program_build_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> cl_int {
    status("clGetProgramBuildInfo", || {
        let program = object::get::<Program>(program)?;
        object::get::<Device>(device)?;
        let state = program.state();
        let answer = match param_name {
            CL_PROGRAM_BUILD_STATUS => Answer::of(state.status),
            CL_PROGRAM_BUILD_OPTIONS => Answer::text(&state.options),
            CL_PROGRAM_BUILD_LOG => Answer::text(&state.log),
            CL_PROGRAM_BINARY_TYPE => Answer::of(match &state.content {
                Content::Nothing => CL_PROGRAM_BINARY_TYPE_NONE,
                Content::Unit(unit) if unit.is_library() => CL_PROGRAM_BINARY_TYPE_LIBRARY,
                Content::Unit(_) => CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
                Content::Executable(_) => CL_PROGRAM_BINARY_TYPE_EXECUTABLE,
            }),
            CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE => {
                Answer::of(program.executable().map_or(0, |loaded| loaded.image.data.len()))
            }
            _ => unknown(param_name)?,
        };
        Room::new(param_value_size, param_value, param_value_size_ret).put(&answer)
    })
}
