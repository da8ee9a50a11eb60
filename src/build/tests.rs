use super::*;
use crate::{Device, Program};

fn builder() -> Builder {
    Builder::new(Machine::default_machine())
}

fn source<'a>(name: &'a str, text: &'a str) -> Source<'a> {
    Source { name, text: text.as_bytes(), headers: &[] }
}

fn compiled(name: &str, text: &str) -> Unit {
    builder().compile_source(&source(name, text), &BuildOptions::default()).unwrap()
}

/// What a kernel `k(__global int *)` makes of one number.
fn run(object: &[u8], input: i32) -> i32 {
    let mut device = Device::default();
    let program = Program::from_object(object).unwrap();
    let a = device.buffer(&[input]).unwrap();
    program.kernel("k").unwrap().launch(&mut device, 1, &[&a]).unwrap();
    device.read(&a).unwrap()[0]
}

fn linked(units: &[&Unit]) -> Executable {
    match builder().link(units, &LinkOptions::default()) {
        Ok(Linked::Executable(program)) => program,
        other => panic!("{other:?}"),
    }
}

fn link_log(units: &[&Unit]) -> String {
    match builder().link(units, &LinkOptions::default()) {
        Err(BuildFailure::Program { log }) => log,
        other => panic!("{other:?}"),
    }
}

fn log(text: &str, options: &str) -> String {
    match builder().build(&source("p.cl", text), &BuildOptions::parse(options).unwrap()) {
        Err(BuildFailure::Program { log }) => log,
        other => panic!("{other:?}"),
    }
}

const MAIN: &str = "int twice(int);\nkernel void k(global int *a) { *a = twice(*a) + 1; }\n";
const TWICE: &str = "int twice(int x) { return 2 * x; }\n";

#[test]
fn a_program_is_compiled_linked_and_run() {
    let program = linked(&[&compiled("main.cl", MAIN), &compiled("twice.cl", TWICE)]);
    assert_eq!(run(&program.object, 20), 41);
}

#[test]
fn libraries_can_be_linked_further_and_kept_as_bytes() {
    let link = |units: &[&Unit]| match builder().link(units, &LinkOptions { create_library: true }) {
        Ok(Linked::Library(unit)) => unit,
        other => panic!("{other:?}"),
    };
    let more = "int more(int x) { return x + 5; }\n";
    let library = link(&[&compiled("twice.cl", TWICE), &compiled("more.cl", more)]);
    assert!(library.is_library() && library.name() == "twice.cl, more.cl");
    // A library may lack what it needs, and have kernels.
    let open = link(&[&compiled("main.cl", MAIN)]);
    let library = Unit::from_bytes(&library.to_bytes()).unwrap();
    assert_eq!(run(&linked(&[&open, &library]).object, 3), 7);
    assert!(link_log(&[&open]).contains("main.cl:2:37: error: call of `twice`, which no source defines"));
}

#[test]
fn passes_of_large_sources_wait_for_the_link() {
    let large = |text: &str| format!("{text}// {}\nint unused(int x) {{ return x / 7; }}\n", "-".repeat(1 << 16));
    let with = |name: &str, text: &str, options: &str| {
        builder().compile_source(&source(name, text), &BuildOptions::parse(options).unwrap()).unwrap()
    };
    let (main, twice) = (with("main.cl", &large(MAIN), "-Werror"), with("twice.cl", TWICE, ""));
    assert!(main.header.passes_left.as_ref().is_some_and(Vec::is_empty) && twice.header.passes_left.is_none());
    let main = Unit::from_bytes(&main.to_bytes()).unwrap();
    assert_eq!(run(&linked(&[&main, &twice]).object, 20), 41);
    // Nobody else will call what no kernel does; as a library it stays.
    let functions =
        |units: &[&Unit]| String::from_utf8_lossy(&builder().linked_bitcode(units).unwrap()).matches("unused").count();
    assert_eq!(functions(&[&main, &twice]), 0);
    let library = match builder().link(&[&main], &LinkOptions { create_library: true }) {
        Ok(Linked::Library(unit)) => unit,
        other => panic!("{other:?}"),
    };
    let library = Unit::from_bytes(&library.to_bytes()).unwrap();
    assert!(library.header.passes_left.is_some());
    assert_eq!(run(&linked(&[&library, &twice]).object, 4), 9);
    // What is not to be optimised is not.
    let plain = with("twice.cl", TWICE, "-cl-opt-disable");
    assert_eq!(run(&linked(&[&main, &plain]).object, 5), 11);
    assert!(functions(&[&main, &plain]) > 0);
    assert!(link_log(&[&main]).contains("main.cl:2:37: error: call of `twice`"));
}

#[test]
fn parts_that_do_not_fit_are_errors_with_a_log() {
    let main = compiled("main.cl", MAIN);
    let log = link_log(&[&main]);
    assert_eq!(log, "main.cl:2:37: error: call of `twice`, which no source defines and the built-in library does not have\n");
    let twice = compiled("a.cl", TWICE);
    let log = link_log(&[&twice, &main, &compiled("b.cl", TWICE.replace('2', "3").as_str())]);
    assert_eq!(log, "error: b.cl: `twice` is defined in a.cl already\n");
    let table = "constant int table[1] = {1};\nkernel void KERNEL(global int *a) { *a = table[*a]; }\n";
    let units = ["k", "l"].map(|k| compiled(&format!("{k}.cl"), &table.replace("KERNEL", k)));
    let log = link_log(&[&units[0], &units[1]]);
    assert!(log.starts_with("error: linking l.cl: ") && log.contains("table"), "{log}");
    assert!(link_log(&[]).contains("no input"));
}

#[test]
fn programs_without_kernels_are_programs() {
    let program = builder().build(&source("p.cl", TWICE), &BuildOptions::default()).unwrap();
    assert_eq!(Program::from_object(&program.object).unwrap().kernels().count(), 0);
    let empty = builder().build(&source("p.cl", ""), &BuildOptions::default()).unwrap();
    assert_eq!(Program::from_object(&empty.object).unwrap().kernels().count(), 0);
}

#[test]
fn the_log_has_warnings_also_of_what_compiles() {
    let text = "kernel void k(global int *a) { int unused; *a = 1; }";
    let program = builder().build(&source("p.cl", text), &BuildOptions::parse("-Wall").unwrap()).unwrap();
    assert!(program.log.starts_with("p.cl:1:36: warning: unused variable 'unused'"), "{}", program.log);
    assert_eq!(builder().build(&source("p.cl", text), &BuildOptions::default()).unwrap().log, "");
    assert!(log(text, "-Wall -Werror").contains("p.cl:1:36: error: unused variable"));
}

#[test]
fn failures_are_of_the_options_the_program_or_neither() {
    assert!(log("kernel void k() { x; }", "").starts_with("p.cl:1:19: error: use of undeclared identifier 'x'"));
    // What Heddle does not compile comes behind clang's warnings.
    let recursive =
        "int f(int n) { int u; return n < 2 ? n : f(n - 1) + f(n - 2); }\nkernel void k(global int *a) { *a = f(*a); }";
    let text = log(recursive, "-Wall");
    assert!(text.starts_with("p.cl:1:20: warning") && text.contains("\np.cl:2:37: error: call of `f`"), "{text}");
    let options = BuildOptions::parse("-Wall -ffp-contract=perhaps").unwrap();
    let result = builder().build(&source("p.cl", ""), &options);
    assert!(matches!(result, Err(BuildFailure::Options(_))), "{result:?}");
}

#[test]
fn older_versions_have_the_devices_extensions() {
    let text = "#if __OPENCL_C_VERSION__ != VERSION\n#error version\n#endif\n\
        #if __OPENCL_VERSION__ != 300\n#error device\n#endif\n\
        #if !defined(cl_khr_fp64) || !defined(cl_khr_fp16) || !defined(cl_khr_3d_image_writes) || \\\n\
            !defined(cl_khr_int64_base_atomics) || !defined(cl_khr_int64_extended_atomics) || \\\n\
            !defined(cl_khr_byte_addressable_store) || !defined(cl_khr_global_int32_base_atomics)\n#error extension\n#endif\n\
        #pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n\
        #pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n\
        kernel void k(global int *a) { double d = *a; half h = d; *a = (int)(d * 2 + h); }";
    for (options, version) in
        [("", 120), ("-cl-std=CL1.2", 120), ("-cl-std=CL1.1", 110), ("-cl-std=CL1.0", 100), ("-cl-std=CL3.0", 300)]
    {
        let options = BuildOptions::parse(&format!("{options} -D VERSION={version}")).unwrap();
        let program = builder().build(&source("p.cl", text), &options).unwrap_or_else(|e| panic!("{options:?}: {e}"));
        assert_eq!(program.log, "", "{options:?}");
        assert_eq!(run(&program.object, 5), 15, "{options:?}");
    }
}

#[test]
fn newer_versions() {
    let text = "kernel void k(global int *a) { int x = *a; int *p = x > 3 ? &x : (int *)a; *p += 2; *a = x + work_group_reduce_add(1); }";
    for standard in ["CL2.0", "CL3.0"] {
        let options = BuildOptions::parse(&format!("-cl-std={standard}")).unwrap();
        let program = builder().build(&source("p.cl", text), &options).unwrap_or_else(|e| panic!("{standard}: {e}"));
        assert_eq!(run(&program.object, 5), 8, "{standard}");
    }
    let text = "template <typename T> T twice(T x) { return x + x; }\nkernel void k(global int *a) { *a = twice(*a); }";
    for standard in ["CLC++", "clc++1.0", "CLC++2021"] {
        let options = BuildOptions::parse(&format!("-cl-std={standard}")).unwrap();
        let program = builder().build(&source("p.cl", text), &options).unwrap_or_else(|e| panic!("{standard}: {e}"));
        assert_eq!(run(&program.object, 5), 10, "{standard}");
    }
}

#[test]
fn unoptimised_programs_and_debug_information() {
    let text = "int f(int x) { int y[2] = {x, 3}; return y[x & 1] + y[0]; }\nkernel void k(global int *a) { *a = f(*a); }";
    for options in ["-cl-opt-disable", "-g", "-cl-opt-disable -g"] {
        let options = BuildOptions::parse(options).unwrap();
        let program = builder().build(&source("p.cl", text), &options).unwrap();
        assert_eq!(run(&program.object, 5), 8, "{options:?}");
    }
}

/// A recorded launch of linked programs is built as they were.
#[test]
fn linked_code_stays_unoptimised() {
    let unit = |options: &str| {
        let text = "kernel void k(global int *a) { *a += 1; }";
        builder().compile_source(&source("p.cl", text), &BuildOptions::parse(options).unwrap()).unwrap()
    };
    assert_eq!(Builder::linked_options(&[&unit("-cl-opt-disable")]), ["-O0"]);
    assert_eq!(Builder::linked_options(&[&unit("")]), [""; 0]);
}

#[test]
fn checked_programs() {
    let options = CompileOptions { checked: true, ..Default::default() };
    let builder = builder().with_options(options);
    let text = "kernel void k(global int *a) { local int x[8]; x[*a] = *a; barrier(1); *a = x[*a & 7] + 1; }";
    let program = builder.build(&source("p.cl", text), &BuildOptions::default()).unwrap();
    assert_eq!(run(&program.object, 5), 6);
    let image = heddle_object::read::parse(&program.object).unwrap();
    assert!(!image.metadata.kernels[0].redzones.is_empty());
}

#[test]
fn lines_have_the_name_given_and_objects_no_folder() {
    let headers: [(&str, &[u8]); 1] = [("inc/f.h", b"inline int f(global int *a) { return a[1 << 20]; }\n")];
    let text = b"#include \"inc/f.h\"\nkernel void k(global int *a) { *a = f(a); }";
    let source = Source { name: "app/program 1.cl", text, headers: &headers };
    let object = || builder().build(&source, &BuildOptions::default()).unwrap().object;
    let first = object();
    assert_eq!(first, object());
    let image = heddle_object::read::parse(&first).unwrap();
    assert!(image.files.iter().any(|f| f == "app/program 1.cl"), "{:?}", image.files);
    assert!(image.files.iter().any(|f| f.ends_with("inc/f.h")), "{:?}", image.files);
    let folder = std::env::temp_dir().display().to_string().into_bytes();
    assert!(!first.windows(folder.len()).any(|w| w == folder));
}

#[test]
fn hosts_can_ask_for_what_the_source_says() {
    let text = "typedef struct { int a; } pair; typedef image2d_t picture;\n\
        __attribute__((reqd_work_group_size(8,1,1), vec_type_hint(float4)))\n\
        kernel void k(global float4 *restrict out, constant uint *c, local unsigned char *l, read_only picture im,\n\
            write_only image3d_t w, sampler_t s, unsigned int n, pair p, global const volatile int *v) {}\n\
        __attribute__((work_group_size_hint(16,2,1), vec_type_hint(uchar16), intel_reqd_sub_group_size(32)))\n\
        kernel void l(read_write image1d_t x) {}";
    let options = BuildOptions::parse("-cl-std=CL3.0").unwrap();
    let program = builder().build(&source("p.cl", text), &options).unwrap();
    let image = heddle_object::read::parse(&program.object).unwrap();
    let seen: Vec<String> = image.metadata.kernels[0]
        .args
        .iter()
        .map(|a| {
            let qualifiers: Vec<&str> = a.qualifiers.words().collect();
            format!("{} {} {} [{}]", a.name, a.type_name, a.access, qualifiers.join(" "))
        })
        .collect();
    assert_eq!(
        seen,
        [
            "out float4* none [restrict]",
            "c uint* none [const]",
            "l uchar* none []",
            "im image2d_t read_only []",
            "w image3d_t write_only []",
            "s sampler_t none []",
            "n uint none []",
            "p pair none []",
            "v int* none [const volatile]",
        ]
    );
    let kernels = &image.metadata.kernels;
    assert_eq!(kernels[0].attributes(), "reqd_work_group_size(8,1,1) vec_type_hint(float4)");
    assert_eq!(kernels[1].attributes(), "work_group_size_hint(16,2,1) vec_type_hint(uchar16) intel_reqd_sub_group_size(32)");
    assert_eq!(kernels[1].args[0].access.to_string(), "read_write");
    // As assembly, too.
    let again = heddle_object::asm::assemble(&heddle_object::asm::disassemble(&image).unwrap()).unwrap();
    assert_eq!(again.metadata, image.metadata);
}

#[test]
fn many_programs_at_once_on_small_stacks() {
    let build = |n: i32| {
        let sum = (0..300).map(|i| format!("+ {i} * a[{i}]")).collect::<String>();
        let text = format!("kernel void k(global int *a) {{ if (*a < 0) *a = 0 {sum}; else *a += {n}; }}");
        let program = builder().build(&source("p.cl", &text), &BuildOptions::default()).unwrap();
        assert_eq!(run(&program.object, 1), n + 1);
    };
    std::thread::scope(|scope| {
        for n in 0..4 {
            std::thread::Builder::new().stack_size(256 << 10).spawn_scoped(scope, move || build(n)).unwrap();
        }
    });
}

/// In a process that ignores the end of its children, stands in a folder that is gone, has no standard
/// streams, and preloads what is not for clang; twice, with the same bytes.
#[cfg(unix)]
#[test]
fn in_a_foreign_process() {
    const OUTPUT: &str = "HEDDLE_TEST_OUTPUT";
    let make = || {
        let text = "kernel void k(global int *a) { *a = 6 * *a; }";
        let program = builder().build(&source("p.cl", text), &BuildOptions::parse("-g").unwrap()).unwrap();
        assert_eq!(program.log, "");
        program.object
    };
    if let Some(path) = std::env::var_os(OUTPUT) {
        for stream in 0..3 {
            // SAFETY: nobody else reads or writes in this process; closing is what is wanted.
            drop(unsafe { <std::os::fd::OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(stream) });
        }
        let failed = builder().build(&source("p.cl", "x"), &BuildOptions::default());
        assert!(matches!(&failed, Err(BuildFailure::Program { log }) if log.contains("p.cl:1:1: error")), "{failed:?}");
        std::fs::write(path, make()).unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script =
        "trap '' CHLD; mkdir \"$1\" && cd \"$1\" && rmdir \"$1\" && export LD_PRELOAD=/no/such.so && exec \"$2\" --exact \"$3\"";
    let objects = ["a", "b"].map(|name| {
        let output = folder.path().join(name);
        let status = std::process::Command::new("sh")
            .args(["-c", script, "sh"])
            .arg(folder.path().join(format!("gone-{name}")))
            .arg(std::env::current_exe().unwrap())
            .arg("build::tests::in_a_foreign_process")
            .env(OUTPUT, &output)
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap();
        assert!(status.success(), "{status}");
        std::fs::read(output).unwrap()
    });
    assert_eq!(run(&objects[0], 7), 42);
    assert!(objects[0] == objects[1] && objects[0] == make());
}
