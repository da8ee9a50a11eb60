//! The command line: every subcommand, exit statuses, and messages on bad input.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

fn heddle() -> Command {
    let mut c = Command::cargo_bin("heddle").unwrap();
    c.current_dir(env!("CARGO_MANIFEST_DIR"));
    c
}

fn case_in(folder: &Path, kernel: &str, case: &str) -> std::path::PathBuf {
    fs::write(folder.join("kernel.cl"), kernel).unwrap();
    let path = folder.join("case.json");
    fs::write(&path, case).unwrap();
    path
}

const COPY: &str = "__kernel void k(__global int *a, int n) { int i = get_global_id(0); if (i < n) a[i] = i; }";

#[test]
fn a_case_passes_and_reports() {
    heddle().args(["run", "test-kernels/saxpy/case.json"]).assert().success().stdout(contains("PASS").and(contains("cycles")));
}

#[test]
fn statistics_are_json() {
    let out = heddle().args(["run", "test-kernels/saxpy/case.json", "--json", "-"]).assert().success();
    let json: serde_json::Value = serde_json::from_slice(&out.get_output().stdout).unwrap();
    assert_eq!(json["passed"], true);
    assert!(json["total"]["timing"]["cycles"].as_u64().unwrap() > 0);
}

#[test]
fn a_mismatch_is_status_1_with_both_values() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = r#"{"source":"kernel.cl","buffers":{"a":{"zeros":[4],"dtype":"int32","expect":"e.npy"}},
        "launches":[{"kernel":"k","global":[4],"args":[{"buffer":"a"},{"i32":4}]}]}"#;
    let path = case_in(folder.path(), COPY, wrong);
    heddle::runtime::array::Array::zeros(heddle::runtime::array::DType::Int32, vec![4])
        .write(&folder.path().join("e.npy"))
        .unwrap();
    heddle().arg("run").arg(path).assert().code(1).stderr(contains("[1]: 1 instead of 0"));
}

#[test]
fn object_text_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let p = |n: &str| folder.path().join(n).display().to_string();
    heddle().args(["build", "test-kernels/transpose/kernel.cl", "-o", &p("k.o")]).assert().success();
    heddle().args(["objdump", &p("k.o"), "-o", &p("k.s")]).assert().success();
    heddle().args(["as", &p("k.s"), "-o", &p("k2.o")]).assert().success();
    assert_eq!(fs::read(p("k.o")).unwrap(), fs::read(p("k2.o")).unwrap());
}

#[test]
fn build_stands_in_for_clang() {
    let folder = tempfile::tempdir().unwrap();
    let object = folder.path().join("k.o").display().to_string();
    heddle()
        .args(["build", "-c", "-O3", "-g", "-Wall", "-DX=1", "-MD", "test-kernels/saxpy/kernel.cl", "-o", &object])
        .assert()
        .success();
    let rule = fs::read_to_string(folder.path().join("k.d")).unwrap();
    assert!(rule.starts_with(&object) && rule.contains("kernel.cl"), "{rule}");
    heddle()
        .args(["build", "test-kernels/saxpy/kernel.cl", "-o", "-", "--emit", "asm"])
        .assert()
        .success()
        .stdout(contains("fma.f32"));
}

#[test]
fn several_sources_make_one_object() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.cl"), "float f(float x); __kernel void a(__global float *p) { *p = f(*p); }").unwrap();
    fs::write(folder.path().join("b.cl"), "float f(float x) { return x + 1; } __kernel void b(__global float *p) { *p = 2; }")
        .unwrap();
    let out = heddle().current_dir(folder.path()).args(["build", "a.cl", "b.cl", "--emit", "asm", "-o", "-"]).assert().success();
    let text = String::from_utf8_lossy(&out.get_output().stdout).into_owned();
    assert!(text.contains("\"name\":\"a\"") && text.contains("\"name\":\"b\""), "{text}");
}

#[test]
fn clang_diagnostics_are_shown_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = case_in(
        folder.path(),
        "__kernel void k() { undeclared = 1; }",
        r#"{"source":"kernel.cl","launches":[{"kernel":"k","global":[1]}]}"#,
    );
    heddle()
        .arg("run")
        .arg(path)
        .assert()
        .code(2)
        .stderr(contains("use of undeclared identifier 'undeclared'").and(contains("^")));
}

#[test]
fn recursion_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let source =
        "int f(int n) {\n  return n < 2 ? n : f(n - 1) + f(n - 2);\n}\n__kernel void k(__global int *a) { *a = f(*a); }\n";
    fs::write(folder.path().join("k.cl"), source).unwrap();
    heddle()
        .current_dir(folder.path())
        .args(["build", "k.cl", "-O1"])
        .assert()
        .code(2)
        .stderr(contains("k.cl:2").and(contains("recursion")));
}

fn fault(kernel: &str, args: &str, extra: &[&str]) -> assert_cmd::assert::Assert {
    let folder = tempfile::tempdir().unwrap();
    let case = format!(
        r#"{{"source":"kernel.cl","buffers":{{"a":{{"zeros":[64],"dtype":"int32"}}}},"launches":[{{"kernel":"k","global":[64],"local":[64],"args":[{{"buffer":"a"}}{args}]}}]}}"#
    );
    let path = case_in(folder.path(), kernel, &case);
    heddle().arg("run").arg(path).args(extra).assert().code(1)
}

#[test]
fn out_of_bounds_names_everything() {
    let kernel = "__kernel void k(__global int *a) {\n  int i = get_global_id(0);\n  a[i + 8] = i;\n}";
    for mode in ["functional", "timing"] {
        fault(kernel, "", &["--mode", mode]).stderr(
            contains("kernel.cl:3")
                .and(contains("store of 4 bytes out of bounds in global memory"))
                .and(contains("offset 256 of surface `a`, which has 256 bytes"))
                .and(contains("work-item global (56, 0, 0)")),
        );
    }
}

#[test]
fn a_divergent_barrier_is_a_fault() {
    let kernel =
        "__kernel void k(__global int *a) {\n  if (get_local_id(0) < 5)\n    barrier(CLK_LOCAL_MEM_FENCE);\n  a[0] = 1;\n}";
    fault(kernel, "", &[]).stderr(contains("divergent barrier: 5 of the warp's 32").and(contains("kernel.cl:3")));
}

#[test]
fn a_kernel_that_never_ends_is_stopped() {
    let kernel = "__kernel void k(__global volatile int *a) {\n  while (a[0] == 0)\n    ;\n}";
    for mode in ["functional", "timing"] {
        fault(kernel, "", &["--max-instructions", "10000", "--mode", mode]).stderr(contains("more than 10000 instructions"));
    }
}

#[test]
fn too_few_registers_is_a_clear_error() {
    heddle()
        .args(["build", "test-kernels/sgemm_tiled/kernel.cl", "-o", "-", "--regfile=single", "--max-registers", "2"])
        .assert()
        .code(2)
        .stderr(contains("too few"));
}

#[test]
fn bad_cases_are_refused_with_a_reason() {
    let launch = r#""launches":[{"kernel":"k","global":[4],"args":[{"buffer":"a"},{"i32":4}]}]"#;
    let buffers = r#""buffers":{"a":{"zeros":[4],"dtype":"int32"}}"#;
    let with = |b: &str, l: &str| format!(r#"{{"source":"kernel.cl",{b},{l}}}"#);
    let table = [
        ("{".to_string(), "EOF"),
        (r#"{"source":"kernel.cl"}"#.into(), "missing field `launches`"),
        (r#"{"source":"kernel.cl","launches":[]}"#.into(), "there is none"),
        (with(buffers, launch).replace("source", "sauce"), "unknown field `sauce`"),
        (with(buffers, launch).replace("kernel.cl", "none.cl"), "no such file"),
        (with(buffers, launch).replace("\"k\"", "\"q\""), "no kernel `q`; there are: k"),
        (with(buffers, launch).replace("[4],\"args\"", "[],\"args\""), "0 dimensions"),
        (with(buffers, launch).replace("[4],\"args\"", "[4],\"local\":[0],\"args\""), "local size 0: must be 1 or more"),
        (with(buffers, launch).replace("[4],\"args\"", "[4],\"local\":[2,2],\"args\""), "as many dimensions"),
        (with(buffers, launch).replace("[4],\"args\"", "[4],\"local\":[4000],\"args\""), "the machine allows 1024"),
        (with(buffers, launch).replace("[4],\"args\"", "[4294967297],\"args\""), "beyond 2^32"),
        (with(buffers, launch).replace("{\"i32\":4}", "{\"i32\":4.5}"), "whole number"),
        (with(buffers, launch).replace("{\"i32\":4}", "{\"i32\":9999999999}"), "does not fit i32"),
        (with(buffers, launch).replace("{\"i32\":4}", "{\"i64\":4}"), "has 4 bytes, 8 are given"),
        (with(buffers, launch).replace("{\"i32\":4}", "{\"int\":4}"), "unknown kind `int`"),
        (with(buffers, launch).replace(",{\"i32\":4}", ""), "takes 2 arguments (int* a, int n), 1 are given"),
        (with(buffers, launch).replace("{\"buffer\":\"a\"}", "{\"buffer\":\"b\"}"), "no buffer `b`; there are: a"),
        (with(buffers, launch).replace("{\"buffer\":\"a\"}", "{\"i32\":1}"), "is a pointer"),
        (with(buffers, launch).replace("int32", "int33"), "dtype `int33` is unknown"),
        (with(buffers, launch).replace("\"zeros\":[4],", ""), "exactly one of npy, zeros and random"),
        (with(buffers, launch).replace("\"zeros\":[4]", "\"npy\":\"none.npy\""), "none.npy"),
        (with(buffers, launch).replace("\"dtype\":\"int32\"", "\"dtype\":\"int32\",\"rtol\":-1"), "rtol must be"),
        (with(buffers, launch).replace("[4],\"dtype\"", "4,\"dtype\""), "buffers.a.zeros: invalid type"),
        (with(buffers, launch).replace("kernel.cl\"", "kernel.cl\",\"options\":[\"--nonsense\"]"), "unknown option"),
    ];
    for (case, message) in table {
        let folder = tempfile::tempdir().unwrap();
        let path = case_in(folder.path(), COPY, &case);
        heddle().arg("run").arg(path).assert().code(2).stderr(contains(message));
    }
}

#[test]
fn a_launch_fits_on_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("k.cl");
    std::fs::write(&source, "kernel void k(global float *a, float f) { a[get_global_id(0)] += f; }").unwrap();
    let save = folder.path().join("out.npy");
    let run = |args: &[&str]| heddle().arg("run").arg(&source).args(args).assert();
    let buffer = format!("a=zeros:float32:100,save={}", save.display());
    run(&["--kernel", "k", "--global", "100", "--arg", &buffer, "--arg", "f32=2.5"]).success();
    let written = std::fs::read(&save).unwrap();
    assert!(written[written.len() - 400..].chunks(4).all(|c| c == 2.5f32.to_le_bytes()));
    // The one kernel of a source need not be named.
    run(&["--global", "100", "--arg", &buffer, "--arg", "f32=2.5"]).success();
    run(&["--global", "100"]).code(2).stderr(contains("kernel `k` takes 2 arguments"));
    run(&[]).code(2).stderr(contains("a source needs --global SIZES"));
    run(&["--kernel", "k", "--global", "1o0"]).code(2).stderr(contains("`1o0` is no size"));
    let wrong = ["--kernel", "k", "--global", "100", "--arg", &buffer, "--arg", "i32=2"];
    run(&wrong).code(2).stderr(contains("gets integer bits"));
    let case = ["run", "test-kernels/saxpy/case.json", "--kernel", "k"];
    heddle().args(case).assert().code(2).stderr(contains("go with a source"));
}

/// S8: a mark that is wrong is found when checking is on, and named.
#[test]
fn a_wrong_u_bit_is_a_fault() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"kernel @k stage lowered local 0 private 0 {
  arg global "a" "int*" offset 8 size 8 align 8
  registers v1 v1
bb0: frequency 1
  shl.b32 %0, gid.x, 2
  add.b32.u %1, lid.x, 1
  st.global.b32 [c[0x8] + u32 %0], %1
  exit
}
"#;
    std::fs::write(folder.path().join("k.mir"), text).unwrap();
    let case = r#"{"source":"k.mir","buffers":{"a":{"zeros":[64],"dtype":"int32"}},
        "launches":[{"kernel":"k","global":[64],"local":[32],"args":[{"buffer":"a"}]}]}"#;
    let path = folder.path().join("case.json");
    std::fs::write(&path, case).unwrap();
    for mode in ["functional", "timing"] {
        heddle().args(["run", "--mode", mode]).arg(&path).assert().success();
        heddle()
            .args(["run", "--check=marks", "--mode", mode])
            .arg(&path)
            .assert()
            .code(1)
            .stderr(contains("wrong u bit").and(contains("first active lane (0)")).and(contains("local (1, 0, 0)")));
    }
}

/// Half of a warp's lanes write a scalar register that all of them read then. The interpreter and timing mode see it; compiled
/// code does not look.
#[test]
fn a_scalar_register_of_other_lanes_is_a_fault() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"kernel @k stage allocated local 0 private 0 fixed 4 demand 0 {
  arg global "a" "int*" offset 8 size 8 align 8
bb0: frequency 1
  mov.b32 s0, VALUE
  shl.b32 m0, gid.x, 2
  cmp.lt.s32 p0, lid.x, 16
  @p0 brad bb2, bb2
  bra bb1
bb1: frequency 1
  mov.b32 s0, 2
  bra bb2
bb2: frequency 1
  mov.b32 m1, s0
  c1 st.global.b32 [c[0x8] + u32 m0], m1
  exit
}
"#;
    let case = r#"{"source":"k.mir","buffers":{"a":{"zeros":[64],"dtype":"int32"}},
        "launches":[{"kernel":"k","global":[64],"local":[32],"args":[{"buffer":"a"}]}]}"#;
    let path = folder.path().join("case.json");
    std::fs::write(&path, case).unwrap();
    // The value that the other lanes write is there already: it is that of all.
    for (value, right) in [("1", false), ("2", true)] {
        std::fs::write(folder.path().join("k.mir"), text.replace("VALUE", value)).unwrap();
        for how in [&["--mode", "functional", "--jit", "never"][..], &["--mode", "timing"]] {
            heddle().arg("run").args(how).arg(&path).assert().success();
            let checked = heddle().args(["run", "--check=marks"]).args(how).arg(&path).assert();
            if right {
                checked.success();
            } else {
                checked.code(1).stderr(contains("read of scalar register s0").and(contains("local (0, 0, 0)")));
            }
        }
    }
}

/// A kernel over hand-made allocated code with four fixed registers and four shared names, of which a warp
/// needs two at once; work-groups of two warps.
const SHARED: &str = r#"kernel @k stage allocated local 256 private 0 fixed 4 demand 0 {
  arg global "a" "int*" offset 8 size 8 align 8
bb0: frequency 1
  shl.b32 m0, lid.x, 2
  shl.b32 m1, gid.x, 2
  mov.b32 m4, lid.x
  c3 st.local.b32 [u32 m0], m4
  bar 1
  c3 ld.local.b32 m5, [u32 m0]
  add.b32 m6, m5, 1
  mov.b32 m7, m6
  c3 st.global.b32 [c[0x8] + u32 m1], m7
  exit
}
"#;

/// Assembles [`SHARED`] after a change to its text, and runs it with `registers` main registers of a warp in
/// the one SM.
fn run_shared(change: impl Fn(String) -> String, registers: u32) -> assert_cmd::assert::Assert {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("k.mir"), SHARED).unwrap();
    let text = heddle()
        .args(["build", "--target", "machines/mixed.toml", "--emit", "asm", "-o", "-"])
        .arg(path("k.mir"))
        .assert()
        .success();
    let text = String::from_utf8_lossy(&text.get_output().stdout).into_owned();
    std::fs::write(path("k.s"), change(text)).unwrap();
    heddle().arg("as").arg(path("k.s")).arg("-o").arg(path("k.o")).assert().success();
    let expect = r#"{"source":"k.mir","buffers":{"a":{"zeros":[512],"dtype":"int32","save":"out.npy"}},
        "launches":[{"kernel":"k","global":[512],"local":[64],"args":[{"buffer":"a"}]}]}"#;
    std::fs::write(path("case.json"), expect).unwrap();
    let machine = ["--target", "machines/mixed.toml", "--set", "sm.count=1", "--set", "sm.max-main-registers=8"];
    let result = heddle()
        .arg("run")
        .arg(path("case.json"))
        .arg("--object")
        .arg(path("k.o"))
        .args(machine)
        .args(["--set", &format!("sm.main-registers={}", 32 * registers), "--check=renames", "--json", "-"])
        .assert();
    if result.get_output().status.success() {
        let bytes = std::fs::read(path("out.npy")).unwrap();
        let values: Vec<i32> = bytes[bytes.len() - 2048..].chunks(4).map(|c| i32::from_le_bytes(c.try_into().unwrap())).collect();
        assert!((0..512).all(|i| values[i] == i as i32 % 64 + 1));
    }
    result
}

/// REN-2, REN-3, REN-8: with the pool at its minimum the barrier kernel runs, and stalls; with one register
/// fewer the launch is refused with the numbers.
#[test]
fn the_smallest_pool_works_and_a_smaller_one_is_refused() {
    // Two warps need 4 fixed registers each and 2 shared ones at once, although they name 8.
    let run = run_shared(|t| t, 12).success();
    let json: serde_json::Value = serde_json::from_slice(&run.get_output().stdout).unwrap();
    let pool = &json["total"]["timing"]["pool"];
    assert_eq!((&pool["size"], &pool["fixed"], &pool["demand"]), (&12.into(), &4.into(), &2.into()), "{pool}");
    run_shared(|t| t, 11).code(2).stderr(contains("needs 4 fixed and up to 2 shared registers at once, 2 warps; the SM has 11"));
    // Where the names of all warps fit, nothing is renamed.
    let run = run_shared(|t| t, 400).success();
    let json: serde_json::Value = serde_json::from_slice(&run.get_output().stdout).unwrap();
    assert_eq!(json["total"]["timing"]["pool"]["size"], 0);
}

/// REN-9: bad releases in hand-assembled code are faults in checking mode.
#[test]
fn bad_releases_are_faults() {
    run_shared(|t| t.replace("m7!", "m7"), 12).code(1).stderr(contains("m7 is still mapped when the warp ends"));
    let early = |t: String| t.replace("mov.b32 m4, lid.x", "mov.b32 m4, lid.x\n  release.b32 m4, 0");
    run_shared(early, 12).code(1).stderr(contains("m4, which is not mapped"));
}

#[test]
fn machines_are_printed_changed_and_checked() {
    heddle().arg("target").assert().success().stdout(contains("[[clusters]]"));
    heddle().args(["target", "--set", "warp-size=16"]).assert().success().stdout(contains("warp-size = 16"));
    heddle().args(["target", "--target", "machines/small.toml", "--check"]).assert().success();
    heddle().args(["target", "--set", "warp-size=12"]).assert().code(2).stderr(contains("must be 8, 16, 32 or 64"));
    heddle().args(["target", "--target", "none.toml"]).assert().code(2).stderr(contains("none.toml"));
}

#[test]
fn reference_and_help() {
    heddle().arg("isa").assert().success().stdout(contains("# Instruction set"));
    heddle().arg("--help").assert().success().stdout(contains("objdump"));
    heddle().arg("frobnicate").assert().code(2);
    heddle().args(["objdump", "Cargo.toml"]).assert().code(2).stderr(contains("no ELF file"));
}

/// Help fits its lines on a terminal, and the sample of a sweep can be copied.
#[test]
fn help_is_not_wrapped_twice() {
    for command in ["build", "run", "opt", "as", "objdump", "target", "compare", "ablate", "sweep", "time"] {
        let out = heddle().args([command, "--help"]).assert().success();
        let text = String::from_utf8_lossy(&out.get_output().stdout).into_owned();
        for line in text.lines() {
            assert!(line.chars().count() <= 100, "{command}: {line}");
        }
        if command == "sweep" {
            let sample = text.split("cases = ").nth(1).unwrap().split("\n\n").next().unwrap();
            toml::from_str::<toml::Table>(&format!("cases = {sample}")).unwrap_or_else(|e| panic!("{e}\n{text}"));
        }
    }
}

/// A reader that has gone away is no reason to panic, and no error of what is written.
#[test]
fn closed_pipes_are_survived() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("k.cl"), COPY).unwrap();
    let closed = || std::io::pipe().unwrap().1;
    let run = |args: &[&str]| {
        let mut c = std::process::Command::new(env!("CARGO_BIN_EXE_heddle"));
        let words = ["run", "k.cl", "--kernel", "k", "--global", "64", "--arg", "a=zeros:int32:64", "--arg", "i32=64"];
        c.current_dir(folder.path()).args(words).args(args).stdout(closed()).stderr(closed()).status().unwrap().code()
    };
    assert_eq!(run(&["--arg", "i32=1"]), Some(2));
    for output in ["--json", "--report", "--trace"] {
        assert_eq!(run(&[output, "-", "--quiet"]), Some(0), "{output}");
    }
    assert_eq!(run(&[]), Some(0));
}

/// A launch whose warps lie in rows takes the version of the kernel that rests on it, others the general one; all give
/// the same bytes.
#[test]
fn a_launch_takes_the_version_for_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let text = "kernel void k(global const int *restrict a, global int *c, int n) {
  int x = get_global_id(0), y = get_global_id(1), sum = get_local_id(0) / 32 + get_local_id(1);
  for (int i = 0; i < n; i++) sum += a[y * n + i] * (x + i);
  if (y & 1) sum = -sum;
  c[y * get_global_size(0) + x] = sum; }";
    fs::write(folder.path().join("k.cl"), text).unwrap();
    let run = |mode: &str, global: &str, local: &str, more: &[&str]| {
        let words = ["run", "k.cl", "--kernel", "k", "--quiet", "--json", "s.json", "--mode", mode];
        let arguments =
            ["--arg", "a=random:int32:4096,low=0,high=99", "--arg", "c=zeros:int32:8192,save=c.npy", "--arg", "i32=17"];
        let sizes = ["--global", global, "--local", local];
        heddle().current_dir(folder.path()).args(words).args(arguments).args(sizes).args(more).assert().success();
        let statistics: serde_json::Value = serde_json::from_slice(&fs::read(folder.path().join("s.json")).unwrap()).unwrap();
        let scalar = statistics["total"]["scalar_instructions"].as_u64().unwrap();
        (fs::read(folder.path().join("c.npy")).unwrap(), scalar)
    };
    for mode in ["functional", "timing"] {
        for (global, local, version) in [
            ("96,10", "32,4", true),
            ("128,6", "64,2", true),
            ("100,6", "32,2", false),
            ("96,10", "16,4", false),
            ("100,6", "33,1", true),
            ("40,3,2", "8,1,1", true),
            ("64,3,2", "16,1,2", false),
        ] {
            let (bytes, scalar) = run(mode, global, local, &[]);
            let (wanted, general) = run(mode, global, local, &["--no-versions"]);
            assert!(bytes == wanted, "{mode} {global} {local}");
            assert_eq!(scalar > general, version, "{mode} {global} {local}: {scalar} and {general} scalar instructions");
        }
    }
}

/// Caches that hold a kernel's code hold that of the version that runs.
#[test]
fn code_is_cached_in_the_version_that_runs() {
    let folder = tempfile::tempdir().unwrap();
    let text = "kernel void k(global const int *restrict a, global int *c, int n) {
  int x = get_global_id(0), y = get_global_id(1), sum = 0;
  for (int i = 0; i < n; i++) sum += a[y * n + i] * (x + i);
  c[y * get_global_size(0) + x] = sum; }";
    fs::write(folder.path().join("k.cl"), text).unwrap();
    fs::write(folder.path().join("caches.json"), r#"{"heddle_caches":1,"buffers":[],"runs":[],"code":true}"#).unwrap();
    let misses = |more: &[&str]| {
        let words =
            ["run", "k.cl", "--quiet", "--json", "-", "--global", "64,8", "--local", "32,4", "--arg", "a=zeros:int32:4096"];
        let arguments = ["--arg", "c=zeros:int32:512", "--arg", "i32=17"];
        let out = heddle().current_dir(folder.path()).args(words).args(arguments).args(more).assert().success();
        let statistics: serde_json::Value = serde_json::from_slice(&out.get_output().stdout).unwrap();
        statistics["total"]["timing"]["hierarchy"]["instruction"]["misses"].as_u64().unwrap()
    };
    for version in [&[][..], &["--no-versions"]] {
        assert!(misses(version) > 0);
        assert_eq!(misses(&[&["--caches", "caches.json"], version].concat()), 0, "{version:?}");
    }
}

/// What limits occupancy: the launch, where it has too few work-groups; of several launches that of the one
/// with the most warps.
#[test]
fn small_launches_limit_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let launch = |groups: u32| {
        format!(r#"{{"kernel":"k","global":[{}],"local":[64],"args":[{{"buffer":"a"}},{{"i32":64}}]}}"#, groups * 64)
    };
    let timing = |launches: &str| {
        let case =
            format!(r#"{{"source":"kernel.cl","buffers":{{"a":{{"zeros":[64],"dtype":"int32"}}}},"launches":[{launches}]}}"#);
        let path = case_in(folder.path(), COPY, &case);
        let out = heddle().arg("run").arg(path).args(["--set", "sm.count=2", "--json", "-"]).assert().success();
        let json: serde_json::Value = serde_json::from_slice(&out.get_output().stdout).unwrap();
        let timing = &json["total"]["timing"];
        (timing["resident_warps"].as_u64().unwrap(), timing["residency_limit"].as_str().unwrap().to_string())
    };
    assert_eq!(timing(&launch(1)), (2, "the launch, which has only 1 work-group".into()));
    assert_eq!(timing(&launch(5)), (6, "the launch, which has only 5 work-groups".into()));
    let (most, limit) = timing(&launch(100));
    assert!(most > 6 && !limit.contains("launch"), "{most} {limit}");
    for order in [[100, 1], [1, 100]] {
        assert_eq!(timing(&order.map(launch).join(",")), (most, limit.clone()));
    }
}

/// What nothing was compared with is no success of a comparison, and a NaN has no difference.
#[test]
fn comparisons_say_what_they_compared() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("k.cl"), COPY).unwrap();
    let words = ["run", "k.cl", "--kernel", "k", "--global", "64", "--arg", "a=zeros:int32:64", "--arg", "i32=64"];
    let nothing = contains("nothing was compared").and(contains("PASS").not());
    heddle().current_dir(folder.path()).args(words).assert().success().stdout(nothing);
    use heddle::runtime::array::{Array, DType, Number};
    let zeros = Array::zeros(DType::Float32, vec![2]);
    let array = |a: f64, b: f64| {
        let data = [a, b].into_iter().flat_map(|v| DType::Float32.encode(Number::Float(v))).collect();
        Array { data, ..zeros.clone() }
    };
    let message = |a| zeros.compare(&a, 0.0, 0.0).unwrap_err();
    assert!(message(array(f64::NAN, f64::NAN)).contains("atol 0; NaN against a number)"));
    assert!(message(array(f64::NAN, 3.0)).contains("atol 0; largest difference 3, and 1 times NaN against a number)"));
    assert!(message(array(0.0, 3.0)).contains("atol 0; largest difference 3)"));
}

/// Images: what is wrong with a shape, a format or a place is said (G2).
#[test]
fn images_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let source = "__kernel void k(write_only image2d_t o, int x) { write_imagef(o, (int2)(x, 1), (float4)(1.0f)); }\n";
    fs::write(folder.path().join("k.cl"), source).unwrap();
    let run = |image: &str, x: i32| {
        let case = format!(
            r#"{{"source": "k.cl", "buffers": {{"o": {{"zeros": [64], "dtype": "uint8"{image}}}}},
                "launches": [{{"kernel": "k", "global": [1], "args": [{{"buffer": "o"}}, {{"i32": {x}}}]}}]}}"#
        );
        fs::write(folder.path().join("case.json"), case).unwrap();
        heddle().arg("run").arg(folder.path().join("case.json")).arg("-q").assert()
    };
    let good = r#", "image": {"width": 4, "height": 4, "format": "RGBA_UNORM8"}"#;
    run(good, 3).success();
    run(good, 4).code(1).stderr(contains("a write of image `o` at (4, 1), outside its 4 x 4 x 1 texels"));
    run("", 3).code(2).stderr(contains("is an image; say the shape of buffer `o`"));
    run(r#", "image": {"width": 4, "height": 4, "format": "RGB_UNORM8"}"#, 3).code(2).stderr(contains("is no image format"));
    run(r#", "image": {"width": 5, "height": 4, "format": "RGBA_UNORM8"}"#, 3)
        .code(2)
        .stderr(contains("80 bytes in a buffer of 64"));
    run(r#", "image": {"width": 2, "height": 2, "depth": 2, "format": "RGBA_UNORM8"}"#, 3)
        .code(2)
        .stderr(contains("has 2 dimensions"));
}

#[test]
fn opt_prints_uniformity_and_names_unknown_passes() {
    let folder = tempfile::tempdir().unwrap();
    let ir = folder.path().join("k.ll");
    fs::write(&ir, "define spir_kernel void @k(i32 %n) {\n  %x = add i32 %n, 1\n  ret void\n}\n").unwrap();
    heddle()
        .args(["opt", "--passes=print<uniformity>", "--disable-output"])
        .arg(&ir)
        .assert()
        .success()
        .stdout(contains("uniform: %x"));
    heddle().args(["opt", "--passes=nonsense"]).arg(&ir).assert().code(2).stderr(contains("unknown pass `nonsense`"));
}

#[test]
fn odd_sizes_and_empty_launches() {
    for n in [0u32, 1, 31, 33, 1_000_003] {
        let folder = tempfile::tempdir().unwrap();
        let case = format!(
            r#"{{"source":"kernel.cl","buffers":{{"a":{{"zeros":[{n}],"dtype":"int32","save":"out.npy"}}}},"launches":[{{"kernel":"k","global":[{n}],"args":[{{"buffer":"a"}},{{"i32":{n}}}]}}]}}"#
        );
        let path = case_in(folder.path(), COPY, &case);
        heddle().args(["run", "--mode", "functional"]).arg(path).assert().success();
        let out = heddle::runtime::array::Array::read(&folder.path().join("out.npy")).unwrap();
        let right = out.data.chunks_exact(4).enumerate().all(|(i, c)| c == (i as i32).to_le_bytes());
        assert!(right && out.len() == n as usize, "{n}");
    }
}

/// Runs `heddle run` in a folder and reads what the kernel left in `a`.
fn values(folder: &Path, words: &[&str]) -> Vec<i64> {
    let out = folder.join("a.npy");
    heddle().current_dir(folder).arg("run").args(words).arg("-q").assert().success();
    let array = heddle::runtime::array::Array::read(&out).unwrap();
    fs::remove_file(&out).unwrap();
    array.data.chunks_exact(4).map(|b| i64::from(i32::from_le_bytes(b.try_into().unwrap()))).collect()
}

/// `heddle run` takes clang's options as `heddle build` does, before and behind the input, after those of a
/// case.
#[test]
fn run_takes_clangs_options() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::create_dir_all(path.join("mine")).unwrap();
    fs::write(path.join("mine/more.h"), "#define M 20\n").unwrap();
    let kernel = "#ifdef HEADER\n#include HEADER\n#else\n#define M 0\n#endif\n\
                  __kernel void k(__global int *a) { a[get_global_id(0)] = N + M; }";
    let sub = path.join("case");
    fs::create_dir_all(&sub).unwrap();
    let case = r#"{"source":"kernel.cl","options":["-DN=1"],"buffers":{"a":{"zeros":[2],"dtype":"int32","save":"../a.npy"}},
        "launches":[{"kernel":"k","global":[2],"args":[{"buffer":"a"}]}]}"#;
    case_in(&sub, kernel, case);
    fs::write(path.join("kernel.cl"), kernel).unwrap();
    let quick = ["kernel.cl", "--global", "2", "--arg", "a=zeros:int32:2,save=a.npy"];
    assert_eq!(values(path, &[&quick[..], &["-DN=4"]].concat()), [4, 4]);
    assert_eq!(values(path, &[&["-D", "N=5", "-O0"], &quick[..], &["-Wall", "-cl-fast-relaxed-math"]].concat()), [5, 5]);
    assert_eq!(values(path, &[&quick[..], &["--option=-DN=6"]].concat()), [6, 6]);
    // Behind the case's own options, which they may undo; folders are the user's.
    assert_eq!(values(path, &["case/case.json"]), [1, 1]);
    assert_eq!(values(path, &["case/case.json", "-UN", "-DN=7"]), [7, 7]);
    let header = "-DHEADER=\"more.h\"";
    assert_eq!(values(path, &["case/case.json", "-I", "mine", header]), [21, 21]);
    assert_eq!(values(path, &["case/case.json", "-Imine", header]), [21, 21]);
}

/// Heddle's own options of `build` are read the same before and behind the source; the last of two counts, as
/// in clang.
#[test]
fn builds_options_may_stand_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("k.cl"), COPY).unwrap();
    let build = |line: &str| {
        let out = heddle().current_dir(folder.path()).arg("build").args(line.split(' ')).assert().success();
        String::from_utf8(out.get_output().stdout.clone()).unwrap()
    };
    let expected = build("--regfile=single --no-global-id --emit=asm k.cl -o -");
    assert_ne!(expected, build("--emit asm k.cl -o -"));
    for line in [
        "k.cl -o - --emit=asm --no-global-id --regfile single",
        "--no-global-id k.cl --regfile=single -o - --emit asm",
        "--regfile=multilevel k.cl --emit obj -o - --emit asm --regfile=single --no-global-id",
    ] {
        assert_eq!(build(line), expected, "{line}");
    }
    let both = heddle().current_dir(folder.path()).args(["build", "--rename", "k.cl", "--no-rename"]).assert();
    both.code(2).stderr(contains("'--rename' cannot be used with '--no-rename'"));
}

/// Every file that a subcommand reads may hold anything: a message and status 2, and no panic.
#[test]
fn garbage_is_refused_with_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let deep = "[".repeat(100_000);
    let garbage: [(&str, &[u8]); 8] = [
        ("empty", b""),
        ("zeros", &[0; 4096]),
        ("bytes", &[0xff, 0xfe, 0x80, 0x7f, b'E', b'L', b'F']),
        ("elf", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x01\0\xf3\0\x01\0\0\0"),
        ("deep", deep.as_bytes()),
        ("text", "kernel @\u{1F600} stage ssa {".as_bytes()),
        ("object", b"{\"source\": 1, \"launches\": {}}"),
        ("numbers", b"[sm]\ncount = 99999999999999999999999999999999\n"),
    ];
    let lines = [
        "run F.json",
        "run F.cl --global 64",
        "run F.ll --global 64",
        "run F.bc --global 64",
        "run F.mir --global 64",
        "run test-kernels/saxpy/case.json --object F.o",
        "run test-kernels/saxpy/kernel.cl --global 64 --arg a=F.npy --arg a --arg f32=1",
        "build F.ll -o F.out",
        "build F.bc -o F.out",
        "build F.mir -o F.out",
        "build F.mir --start-before finish -o F.out",
        "opt --passes=uniformity F.ll",
        "objdump F.o",
        "as F.s -o F.out",
        "target --target F.toml --check",
        "sweep F.toml --dry-run",
        "ablate F.json",
        "compare F.json F.json",
    ];
    for (name, bytes) in garbage {
        for line in lines {
            let path = folder.path().join(name).display().to_string();
            for word in line.split(' ').filter(|w| w.starts_with("F.")) {
                fs::write(word.replacen('F', &path, 1), bytes).unwrap();
            }
            let words = line.split(' ').map(|w| w.replace("F.", &format!("{path}.")));
            // An empty text is a module without kernels, for LLVM also one of zeros.
            let harmless = name == "empty" && line.starts_with("build F.mir")
                || ["empty", "zeros"].contains(&name) && line.starts_with("opt ");
            let assert = heddle().args(words).assert();
            let output = assert.get_output();
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!text.contains("panicked"), "{line} with {name}: {text}");
            let code = output.status.code();
            assert!(
                code == Some(2) && text.contains("error: ") || harmless && code == Some(0),
                "{line} with {name}: {code:?} {text}"
            );
        }
    }
}

/// By file of the cache: its number, which another file in its place would not have, and when it was used.
fn kept(folder: &Path) -> std::collections::BTreeMap<std::path::PathBuf, (u64, std::time::SystemTime)> {
    use std::os::unix::fs::MetadataExt;
    let folders = fs::read_dir(folder.join("builds")).into_iter().flatten().flatten();
    let files = folders.filter_map(|f| fs::read_dir(f.path()).ok()).flatten().flatten().map(|f| f.path());
    files
        .map(|f| {
            let data = f.metadata().unwrap();
            (f, (data.ino(), data.modified().unwrap()))
        })
        .collect()
}

#[test]
fn what_one_run_has_translated_the_next_one_finds() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let run = |name: &str, jit: &str, more: &[(&str, &str)]| {
        let result = folder.path().join(name);
        let mut command = heddle();
        command.args(["run", "test-kernels/saxpy/kernel.cl", "--kernel", "saxpy", "--mode", "functional", "--global", "65536"]);
        command.args(["--arg", "x=random:float32:65536"]);
        command.args(["--arg", &format!("y=random:float32:65536,save={}", result.display())]);
        command.args(["--arg", "f32=2.5", "--arg", "u32=65536", "--jit", jit]);
        command.env("HEDDLE_CACHE_DIR", &cache).envs(more.iter().copied());
        command.assert().success();
        fs::read(result).unwrap()
    };
    let expected = run("never.npy", "never", &[]);
    assert!(kept(&cache).is_empty(), "the interpreter keeps nothing");
    assert_eq!(run("none.npy", "always", &[("HEDDLE_CACHE", "0")]), expected);
    assert!(kept(&cache).is_empty(), "there is no cache");
    assert_eq!(run("cold.npy", "always", &[]), expected);
    let cold = kept(&cache);
    assert_eq!(cold.len(), 1);
    assert_eq!(run("warm.npy", "always", &[]), expected);
    let warm = kept(&cache);
    for (path, (number, used)) in &warm {
        let before = cold[path];
        assert!(*number == before.0 && *used > before.1, "the entry was read, and not written anew");
    }
    assert_eq!(cold.len(), warm.len());
    // What is damaged is made anew.
    let path = cold.keys().next().unwrap();
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, &bytes).unwrap();
    assert_eq!(run("damaged.npy", "always", &[]), expected);
    assert_ne!(fs::read(path).unwrap(), bytes);
}

#[test]
fn a_run_says_what_is_wrong_with_the_variables_of_the_cache() {
    let mut command = heddle();
    command.args(["run", "test-kernels/saxpy/case.json"]).env("HEDDLE_CACHE", "maybe");
    command.assert().code(2).stderr(contains("HEDDLE_CACHE=maybe: 0 or 1"));
}
