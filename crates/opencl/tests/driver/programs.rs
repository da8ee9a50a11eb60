//! Programs and kernels: logs, linking, binaries, arguments, printing, faults, shapes of launches.

use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::Mutex;

use opencl_sys::*;

use crate::host::{Host, device, number, set, status, text};
use crate::{cl, new, ok};

fn build_status(host: &Host, program: cl_program) -> cl_build_status {
    number(|size, to, got| cl!(clGetProgramBuildInfo(program, host.device, CL_PROGRAM_BUILD_STATUS, size, to, got)))
}

#[test]
fn logs_tell_errors_and_warnings() {
    let host = Host::new();
    let broken = host.source("kernel void f(global int* a) {\n    a[0] = missing;\n}\n");
    assert_eq!(build_status(&host, broken), CL_BUILD_NONE);
    assert_eq!(host.build(broken, c""), CL_BUILD_PROGRAM_FAILURE);
    let log = host.log(broken);
    assert!(log.contains(":2:") && log.contains("error: use of undeclared identifier 'missing'"), "{log}");
    assert_eq!(build_status(&host, broken), CL_BUILD_ERROR);
    let mut code = 0;
    assert!(cl!(clCreateKernel(broken, c"f".as_ptr(), &raw mut code)).is_null());
    assert_eq!(code, CL_INVALID_PROGRAM_EXECUTABLE);
    let warned = host.source("kernel void f(global int* a) { int unused; a[0] = 1; }");
    // The second time it comes from the cache.
    for _ in 0..2 {
        assert_eq!(host.build(warned, c"-Wall"), CL_SUCCESS);
        assert!(host.log(warned).contains("warning: unused variable 'unused'"), "{}", host.log(warned));
    }
    assert_eq!(host.build(warned, c"-no-such-option"), CL_INVALID_BUILD_OPTIONS);
    ok!(clReleaseProgram(broken));
    ok!(clReleaseProgram(warned));
}

#[test]
fn programs_are_compiled_with_headers_and_linked() {
    let host = Host::new();
    let header = host.source("#define ADDED 5\nint add(int);\n");
    let parts = [
        host.source("#include \"inner/add.h\"\nint add(int x) { return x + ADDED; }"),
        host.source("#include \"inner/add.h\"\nkernel void f(global int* a) { a[get_global_id(0)] = add(get_global_id(0)); }"),
    ];
    for part in parts {
        let mut name = c"inner/add.h".as_ptr();
        let (no_options, data) = (c"".as_ptr(), null_mut());
        ok!(clCompileProgram(part, 0, null(), no_options, 1, &raw const header, &raw mut name, None, data));
    }
    let link = |parts: &[cl_program]| {
        let (mut code, count) = (1, parts.len() as cl_uint);
        let options = c"".as_ptr();
        let linked = cl!(clLinkProgram(host.context, 0, null(), options, count, parts.as_ptr(), None, null_mut(), &raw mut code));
        (linked, code)
    };
    let (incomplete, code) = link(&parts[1..]);
    assert_eq!(code, CL_LINK_PROGRAM_FAILURE);
    assert!(incomplete.is_null() || host.log(incomplete).contains("add"));
    let (linked, code) = link(&parts);
    assert_eq!(code, CL_SUCCESS);
    let (kernel, buffer) = (new!(clCreateKernel(linked, c"f".as_ptr())), host.room(40));
    set(kernel, 0, buffer);
    ok!(clReleaseEvent(host.launch(host.queue, kernel, 10, &[])));
    assert_eq!(host.read::<i32>(buffer, 10), (5..15).collect::<Vec<_>>());
    ok!(clReleaseKernel(kernel));
    ok!(clReleaseMemObject(buffer));
    [header, parts[0], parts[1], linked].iter().for_each(|p| ok!(clReleaseProgram(*p)));
    if !incomplete.is_null() {
        ok!(clReleaseProgram(incomplete));
    }
}

/// A program's binary.
fn binary(program: cl_program) -> Vec<u8> {
    let size: usize = number(|size, to, got| cl!(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, size, to, got)));
    let mut bytes = vec![0u8; size];
    let mut place = bytes.as_mut_ptr();
    let to = (&raw mut place).cast();
    ok!(clGetProgramInfo(program, CL_PROGRAM_BINARIES, size_of::<*mut u8>(), to, null_mut()));
    bytes
}

fn from_binary(host: &Host, bytes: &[u8]) -> Result<cl_program, cl_int> {
    let (mut code, mut status, mut data, size) = (1, 1, bytes.as_ptr(), bytes.len());
    let (list, data, status_to) = (&raw const host.device, &raw mut data, &raw mut status);
    let size = &raw const size;
    let made = cl!(clCreateProgramWithBinary(host.context, 1, list, size, data, status_to, &raw mut code));
    assert_eq!(code, status);
    if code == CL_SUCCESS { Ok(made) } else { Err(code) }
}

#[test]
fn binaries_come_back() {
    let host = Host::new();
    let program = host.source("kernel void f(global int* a) { a[get_global_id(0)] = K; }");
    assert_eq!(host.build(program, c"-DK=41"), CL_SUCCESS);
    let bytes = binary(program);
    let again = from_binary(&host, &bytes).unwrap();
    assert_eq!(host.build(again, c""), CL_SUCCESS);
    assert_eq!(binary(again), bytes);
    let (kernel, buffer) = (new!(clCreateKernel(again, c"f".as_ptr())), host.room(16));
    set(kernel, 0, buffer);
    ok!(clReleaseEvent(host.launch(host.queue, kernel, 4, &[])));
    assert_eq!(host.read::<i32>(buffer, 4), [41; 4]);
    // Damaged in any place, it is refused or does what it can, and never harms the process.
    assert_eq!(from_binary(&host, b"no binary").err(), Some(CL_INVALID_BINARY));
    for cut in [1, 9, 100, bytes.len() / 2, bytes.len() - 20] {
        let result = from_binary(&host, &bytes[..bytes.len() - cut]);
        result.map_or_else(|code| assert_eq!(code, CL_INVALID_BINARY), |p| ok!(clReleaseProgram(p)));
    }
    // A driver of another machine or with other techniques has another version, and refuses.
    let mut other = bytes.clone();
    let at = other.windows(12).rposition(|w| w == b"{\"compiler\":").unwrap() + 13;
    other[at] = if other[at] == b'0' { b'1' } else { b'0' };
    assert_eq!(from_binary(&host, &other).err(), Some(CL_INVALID_BINARY));
    ok!(clReleaseKernel(kernel));
    ok!(clReleaseMemObject(buffer));
    ok!(clReleaseProgram(program));
    ok!(clReleaseProgram(again));
}

#[test]
fn arguments_are_described() {
    let host = Host::new();
    let source = "kernel void f(global const float* restrict in, local int* room, read_only image2d_t i, sampler_t s, uint4 v,
                                constant int* c, global volatile int* out) {}";
    let kernel = host.kernel_with(source, c"f", c"-cl-kernel-arg-info");
    assert_eq!(number::<cl_uint>(|size, to, got| cl!(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, size, to, got))), 7);
    let described: Vec<_> = (0..7)
        .map(|i| {
            let word = |what| text(|size, to, got| cl!(clGetKernelArgInfo(kernel, i, what, size, to, got)));
            let code = |what| number::<cl_uint>(|size, to, got| cl!(clGetKernelArgInfo(kernel, i, what, size, to, got)));
            let qualifiers: cl_ulong =
                number(|size, to, got| cl!(clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_QUALIFIER, size, to, got)));
            let space = code(CL_KERNEL_ARG_ADDRESS_QUALIFIER) - CL_KERNEL_ARG_ADDRESS_GLOBAL;
            let access = code(CL_KERNEL_ARG_ACCESS_QUALIFIER) - CL_KERNEL_ARG_ACCESS_READ_ONLY;
            (word(CL_KERNEL_ARG_NAME), word(CL_KERNEL_ARG_TYPE_NAME), space, access, qualifiers)
        })
        .collect();
    let line = |n: &str, t: &str, space, access, q: u32| (n.to_string(), t.to_string(), space, access, cl_ulong::from(q));
    // Spaces: global, local, constant, private; accesses: read only, …, none.
    let (constant, restrict, volatile) = (1, 2, 4);
    let expected = [
        line("in", "float*", 0, 3, constant | restrict),
        line("room", "int*", 1, 3, 0),
        line("i", "image2d_t", 0, 0, 0),
        line("s", "sampler_t", 3, 3, 0),
        line("v", "uint4", 3, 3, 0),
        line("c", "int*", 2, 3, constant),
        line("out", "int*", 0, 3, volatile),
    ];
    assert_eq!(described, expected);
    ok!(clReleaseKernel(kernel));
}

#[test]
fn clones_have_arguments_of_their_own() {
    let host = Host::new();
    let kernel = host.kernel("kernel void f(global int* a, int k) { a[get_global_id(0)] = k; }", c"f");
    let buffers = [host.room(16), host.room(16)];
    set(kernel, 0, buffers[0]);
    set(kernel, 1, 1i32);
    let clone = new!(clCloneKernel(kernel));
    set(clone, 0, buffers[1]);
    set(kernel, 1, 2i32);
    for k in [kernel, clone] {
        ok!(clReleaseEvent(host.launch(host.queue, k, 4, &[])));
        ok!(clReleaseKernel(k));
    }
    assert_eq!((host.read::<i32>(buffers[0], 4), host.read::<i32>(buffers[1], 4)), (vec![2; 4], vec![1; 4]));
    buffers.iter().for_each(|b| ok!(clReleaseMemObject(*b)));
}

static PRINTED: Mutex<Vec<u8>> = Mutex::new(Vec::new());

unsafe extern "C" fn print(text: *const c_char, length: usize, _last: usize, data: *mut c_void) {
    assert_eq!(data as usize, 5);
    PRINTED.lock().unwrap().extend_from_slice(unsafe { std::slice::from_raw_parts(text.cast(), length) });
}

unsafe extern "C" fn note(_message: *const c_char, _private: *const c_void, _bytes: usize, _data: *mut c_void) {}

#[test]
fn what_kernels_print_goes_to_the_callback() {
    let _first = Host::new();
    let platform = crate::host::platform() as isize;
    let callback = print as *const () as isize;
    let properties =
        [CL_CONTEXT_PLATFORM, platform, CL_PRINTF_CALLBACK_ARM as isize, callback, CL_PRINTF_BUFFERSIZE_ARM as isize, 1 << 20, 0];
    let device = device();
    let context = new!(clCreateContext(properties.as_ptr(), 1, &raw const device, Some(note), 5 as *mut c_void));
    let host = Host::of(context);
    let kernel =
        host.kernel("kernel void f(float x) { printf(\"%d of %d: %.1f %s\\n\", (int)get_global_id(0), 3, x, \"done\"); }", c"f");
    set(kernel, 0, 1.5f32);
    ok!(clReleaseEvent(host.launch(host.queue, kernel, 3, &[])));
    host.finish();
    let printed = String::from_utf8(PRINTED.lock().unwrap().clone()).unwrap();
    let mut lines: Vec<&str> = printed.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["0 of 3: 1.5 done", "1 of 3: 1.5 done", "2 of 3: 1.5 done"]);
    ok!(clReleaseKernel(kernel));
}

#[test]
fn a_fault_fails_its_event_and_the_queue_goes_on() {
    let host = Host::new();
    let source = "kernel void bad(global int* a) { a[get_global_id(0) + 100000000] = 1; }
                  kernel void good(global int* a) { a[get_global_id(0)] = 2; }";
    let (bad, good, buffer) = (host.kernel(source, c"bad"), host.kernel(source, c"good"), host.room(16));
    set(bad, 0, buffer);
    set(good, 0, buffer);
    let faulting = host.launch(host.queue, bad, 4, &[]);
    let behind = host.launch(host.queue, good, 4, &[]);
    let listed = host.launch(host.queue, good, 4, &[faulting]);
    host.finish();
    assert!(status(faulting) < 0);
    assert_eq!([status(behind), status(listed)], [CL_COMPLETE, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST]);
    assert_eq!(host.read::<i32>(buffer, 4), [2; 4]);
    assert_eq!(cl!(clWaitForEvents(1, &raw const faulting)), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    [faulting, behind, listed].iter().for_each(|e| ok!(clReleaseEvent(*e)));
    [bad, good].iter().for_each(|k| ok!(clReleaseKernel(*k)));
    ok!(clReleaseMemObject(buffer));
}

#[test]
fn work_groups_need_not_be_whole() {
    let host = Host::new();
    let source = "kernel void f(global int* a) {
                      size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
                      a[i] = get_local_size(0) * 100 + get_local_size(1) * 10 + get_enqueued_local_size(0); }";
    let (kernel, buffer) = (host.kernel(source, c"f"), host.room(7 * 5 * 4));
    set(kernel, 0, buffer);
    let (global, local) = ([7usize, 5], [4usize, 2]);
    ok!(clEnqueueNDRangeKernel(host.queue, kernel, 2, null(), global.as_ptr(), local.as_ptr(), 0, null(), null_mut()));
    let result = host.read::<i32>(buffer, 35);
    for (i, value) in result.iter().enumerate() {
        let size = |at: usize, d: usize| (global[d] - at / local[d] * local[d]).min(local[d]) as i32;
        assert_eq!(*value, size(i % 7, 0) * 100 + size(i / 7, 1) * 10 + 4, "work-item {i}");
    }
    // OpenCL C 1.2 wants whole ones.
    let old = host.kernel_with("kernel void f(global int* a) {}", c"f", c"-cl-std=CL1.2");
    set(old, 0, buffer);
    let code = cl!(clEnqueueNDRangeKernel(host.queue, old, 2, null(), global.as_ptr(), local.as_ptr(), 0, null(), null_mut()));
    assert_eq!(code, CL_INVALID_WORK_GROUP_SIZE);
    // No work-items are a command that does nothing.
    let none = host.launch(host.queue, kernel, 0, &[]);
    host.finish();
    assert_eq!(status(none), CL_COMPLETE);
    assert_eq!(host.read::<i32>(buffer, 35), result);
    ok!(clReleaseEvent(none));
    [kernel, old].iter().for_each(|k| ok!(clReleaseKernel(*k)));
    ok!(clReleaseMemObject(buffer));
}

/// A kernel that keeps ids in `int` is compiled for ids that are not negative there.
#[test]
fn ids_that_do_not_fit_their_int_are_refused() {
    let host = Host::new();
    let kernel = |source| host.kernel(source, c"f");
    let signed = kernel("kernel void f(global int* a) { int i = get_global_id(0); a[i < 5] = 1; }");
    let unsigned = kernel("kernel void f(global int* a) { uint i = get_global_id(0); a[i < 9] = 1; }");
    let (buffer, size) = (host.room(8), 4usize);
    for (kernel, offset, expected) in [
        (signed, (1usize << 31) - 5, CL_SUCCESS),
        (signed, (1 << 31) - 4, CL_INVALID_GLOBAL_OFFSET),
        (unsigned, (1 << 31) - 4, CL_SUCCESS),
    ] {
        set(kernel, 0, buffer);
        let (offset, size) = (&raw const offset, &raw const size);
        let code = cl!(clEnqueueNDRangeKernel(host.queue, kernel, 1, offset, size, null(), 0, null(), null_mut()));
        assert_eq!(code, expected);
    }
    host.finish();
    [signed, unsigned].iter().for_each(|k| ok!(clReleaseKernel(*k)));
    ok!(clReleaseMemObject(buffer));
}

#[test]
fn the_drivers_version_tells_the_machine() {
    let version = text(|size, to, got| cl!(clGetDeviceInfo(device(), CL_DRIVER_VERSION, size, to, got)));
    let (number, rest) = version.split_once('-').unwrap();
    assert_eq!(number, env!("CARGO_PKG_VERSION"));
    assert!(rest.len() == 8 && rest.bytes().all(|b| b.is_ascii_hexdigit()), "{version}");
}

/// `specialised.spvasm` as a binary; nothing, with a word about it, where the programs for SPIR-V are not installed.
fn specialisable() -> Option<Vec<u8>> {
    let (Some(assembler), Some(_)) = (heddle_frontend::translate::assembler(), heddle_frontend::translate::translator()) else {
        eprintln!("skipped: spirv-as or llvm-spirv is not installed");
        return None;
    };
    let text = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/lit/spirv/specialised.spvasm");
    let output = std::process::Command::new(assembler).args(["--target-env", "spv1.2", text, "-o", "-"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(output.stdout)
}

#[test]
fn intermediate_language_is_specialised_and_runs() {
    let host = Host::new();
    let versions = text(|size, to, got| cl!(clGetDeviceInfo(host.device, CL_DEVICE_IL_VERSION, size, to, got)));
    let Some(il) = specialisable() else {
        assert_eq!(versions.is_empty(), heddle_frontend::translate::translator().is_none());
        return;
    };
    assert!(versions.starts_with("SPIR-V_1.0 SPIR-V_1.1"), "{versions}");
    let program = new!(clCreateProgramWithIL(host.context, il.as_ptr().cast(), il.len()));
    let mut back = vec![0u8; il.len()];
    let mut size = 0;
    ok!(clGetProgramInfo(program, CL_PROGRAM_IL, back.len(), back.as_mut_ptr().cast(), &raw mut size));
    assert_eq!((size, &back), (il.len(), &il));
    let run = |program: cl_program| {
        let (kernel, buffer) = (new!(clCreateKernel(program, c"k".as_ptr())), host.room(16));
        set(kernel, 0, buffer);
        ok!(clReleaseEvent(host.launch(host.queue, kernel, 4, &[])));
        let result = host.read::<f32>(buffer, 4);
        ok!(clReleaseKernel(kernel));
        ok!(clReleaseMemObject(buffer));
        result
    };
    assert_eq!(host.build(program, c""), CL_SUCCESS, "{}", host.log(program));
    assert_eq!(run(program), [3.5; 4]);
    // Values count for builds from then on.
    let set_constant =
        |id: cl_uint, value: &[u8]| cl!(clSetProgramSpecializationConstant(program, id, value.len(), value.as_ptr().cast()));
    assert_eq!(set_constant(1, &5u32.to_le_bytes()), CL_SUCCESS);
    assert_eq!(set_constant(2, &[0]), CL_SUCCESS);
    assert_eq!(set_constant(3, &0.25f32.to_le_bytes()), CL_SUCCESS);
    assert_eq!(set_constant(9, &[0]), CL_INVALID_SPEC_ID);
    assert_eq!(set_constant(1, &[0]), CL_INVALID_VALUE);
    assert_eq!(host.build(program, c""), CL_SUCCESS);
    assert_eq!(run(program), [4.75; 4]);
    // Compiled and linked it is the same program, and so is its binary.
    ok!(clCompileProgram(program, 0, null(), c"".as_ptr(), 0, null(), null_mut(), None, null_mut()));
    let linked = new!(clLinkProgram(host.context, 0, null(), c"".as_ptr(), 1, &raw const program, None, null_mut()));
    assert_eq!(run(linked), [4.75; 4]);
    let again = from_binary(&host, &binary(linked)).unwrap();
    assert_eq!(host.build(again, c""), CL_SUCCESS);
    assert_eq!(run(again), [4.75; 4]);
    [program, linked, again].iter().for_each(|p| ok!(clReleaseProgram(*p)));
    // What is none, and what has no constants.
    let mut code = 0;
    for bad in [&il[..il.len() - 5], b"no intermediate language", &[]] {
        assert!(cl!(clCreateProgramWithIL(host.context, bad.as_ptr().cast(), bad.len(), &raw mut code)).is_null());
        assert_eq!(code, CL_INVALID_VALUE);
    }
    let source = host.source("kernel void f() {}");
    assert_eq!(cl!(clSetProgramSpecializationConstant(source, 1, 4, il.as_ptr().cast())), CL_INVALID_PROGRAM);
    ok!(clGetProgramInfo(source, CL_PROGRAM_IL, 0, null_mut(), &raw mut size));
    assert_eq!(size, 0);
    ok!(clReleaseProgram(source));
}
