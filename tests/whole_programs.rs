//! Whole OpenCL programs. `heddle exec --checkpoint` and `--restore`: one that was killed goes on from its
//! checkpoints, to the cycle, and one that does not repeat itself is told so. `heddle time`: its recorded launches
//! are timed by themselves and merged.
//!
//! The program is compiled with `cc`. Without it, OpenCL's headers or its loader the tests say that they skip;
//! `cargo xtask setup --peers` installs what is missing.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Launches that use what earlier ones left in memory and in caches. After every third one the host reads a
/// value, which the next launches get, and it prints when launches began and ended.
const HOST: &str = r#"
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
enum { N = 8192 };
static const char *text =
    "kernel void step(global const uint *a, global uint *b, global const uint *zeros, uint add) {\n"
    "  uint i = get_global_id(0), x = a[i * 17u % 8192u] + add;\n"
    "  for (uint k = 0; k < 20u; k++) x = x * 1664525u + a[x >> 19];\n"
    "  b[i] = x + zeros[i];\n"
    "}\n"
    "kernel void gather(global const uint *a, global uint *b) {\n"
    "  uint i = get_global_id(0);\n"
    "  b[i] = a[(a[i] >> 7) % 8192u];\n"
    "  if (i == 5) printf(\"%u\\n\", b[i]);\n"
    "}\n";
static void ok(cl_int code) { if (code) { fprintf(stderr, "code %d\n", code); exit(3); } }
int main(int argc, char **argv) {
  int steps = atoi(argv[1]), noise = argc > 2 && !strcmp(argv[2], "noise");
  cl_platform_id platform; cl_device_id device; cl_int code;
  ok(clGetPlatformIDs(1, &platform, 0)); ok(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, 0));
  cl_context context = clCreateContext(0, 1, &device, 0, 0, &code); ok(code);
  cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code); ok(code);
  cl_program program = clCreateProgramWithSource(context, 1, &text, 0, &code); ok(code);
  ok(clBuildProgram(program, 0, 0, 0, 0, 0));
  static cl_uint data[N];
  for (cl_uint i = 0; i < N; i++) data[i] = i * 2654435761u;
  struct timespec now; clock_gettime(CLOCK_REALTIME, &now);
  if (noise) data[100] = (cl_uint)now.tv_nsec | 1;
  cl_mem a = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof data, data, &code); ok(code);
  cl_mem b = clCreateBuffer(context, 0, sizeof data, 0, &code); ok(code);
  cl_kernel step = clCreateKernel(program, "step", &code), gather = clCreateKernel(program, "gather", &code); ok(code);
  cl_uint add = 1;
  for (int i = 1; i <= steps; i++) {
    /* A buffer for a while: its addresses are used again. */
    cl_mem zeros = clCreateBuffer(context, 0, sizeof data, 0, &code); ok(code);
    cl_kernel kernel = i % 4 == 0 ? gather : step;
    ok(clSetKernelArg(kernel, 0, sizeof a, &a)); ok(clSetKernelArg(kernel, 1, sizeof b, &b));
    if (kernel == step) { ok(clSetKernelArg(kernel, 2, sizeof zeros, &zeros)); ok(clSetKernelArg(kernel, 3, sizeof add, &add)); }
    size_t global = N, local = 128; cl_event event; cl_ulong began, ended;
    code = clEnqueueNDRangeKernel(queue, kernel, 1, 0, &global, &local, 0, 0, &event); ok(code);
    code = clWaitForEvents(1, &event);
    if (code) { printf("launch %d: code %d\n", i, code); return 4; }
    ok(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof began, &began, 0));
    ok(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof ended, &ended, 0));
    ok(clReleaseEvent(event));
    cl_mem other = a; a = b; b = other;
    if (i % 3 == 0) {
      ok(clEnqueueReadBuffer(queue, a, CL_TRUE, 4 * 77, 4, &add, 0, 0, 0));
      printf("%d: %u, from %llu to %llu\n", i, add, (unsigned long long)began, (unsigned long long)ended);
      fflush(stdout);
    }
    ok(clReleaseMemObject(zeros));
  }
  if (argc > 2 && !strcmp(argv[2], "leave")) {
    size_t global = N; cl_event never = clCreateUserEvent(context, &code); ok(code);
    for (int i = 0; i < 2; i++) ok(clEnqueueNDRangeKernel(queue, gather, 1, 0, &global, 0, 1, &never, 0));
    return 0;
  }
  ok(clFinish(queue));
  return 0;
}
"#;

/// A folder with the program.
struct Host {
    folder: TempDir,
}

impl Host {
    /// None where it cannot be built.
    fn build() -> Option<Host> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let host = Host { folder };
        std::fs::write(host.path("host.c"), HOST).expect("a file");
        let mut cc = Command::new("cc");
        cc.args(["-O1", "-o"]).arg(host.path("host")).arg(host.path("host.c")).arg("-lOpenCL").stdin(Stdio::null());
        let why = match cc.output() {
            Ok(output) if output.status.success() => return Some(host),
            Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
            Err(error) => error.to_string(),
        };
        eprintln!("SKIPPED, for OpenCL hosts cannot be built here: {why}");
        None
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `heddle exec` with the program, in a group of its own.
    fn exec(&self, options: &[&str], arguments: &[&str]) -> Command {
        let heddle = PathBuf::from(env!("CARGO_BIN_EXE_heddle"));
        let driver = heddle.with_file_name("libheddle_opencl.so");
        assert!(driver.is_file(), "there is no {}; `cargo build --package heddle-opencl` makes it", driver.display());
        let mut command = Command::new(heddle);
        command.current_dir(self.folder.path()).arg("exec").args(options).args(["--", "./host"]).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        command
    }

    fn run(&self, options: &[&str], arguments: &[&str]) -> Output {
        self.exec(options, arguments).output().expect("heddle starts")
    }

    /// Runs until a file is there, and kills the program with all that belongs to it.
    fn killed(&self, options: &[&str], arguments: &[&str], file: &str) {
        let mut child = self.exec(options, arguments).spawn().expect("heddle starts");
        let (begun, file) = (Instant::now(), self.path(file));
        while !file.exists() {
            assert!(child.try_wait().expect("a status").is_none(), "it ended before {} was there", file.display());
            assert!(begun.elapsed() < Duration::from_secs(600), "{} does not appear", file.display());
            std::thread::sleep(Duration::from_millis(1));
        }
        // SAFETY: sends a signal to the group of a child that has not been waited for.
        assert_eq!(unsafe { libc::kill(-libc::pid_t::try_from(child.id()).expect("a process"), libc::SIGKILL) }, 0);
        assert!(child.wait().expect("a status").code().is_none(), "it was killed, and did not end before");
    }
}

fn words(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

fn launches(path: &Path) -> Vec<Value> {
    let json: Value = serde_json::from_slice(&std::fs::read(path).expect("statistics")).expect("JSON");
    json["launches"].as_array().expect("launches").clone()
}

#[test]
fn a_program_killed_at_three_places_comes_to_the_same_cycles() {
    let Some(host) = Host::build() else { return };
    let timing = ["--mode", "timing", "--json", "whole.json"];
    let whole = host.run(&timing, &["12"]);
    let (printed, errors) = words(&whole);
    assert!(whole.status.success() && printed.lines().count() == 7, "{printed}{errors}");
    let mut from: Option<String> = None;
    for place in ["3", "6", "9"] {
        let mut options = vec!["--mode", "timing", "--checkpoint", "state", "--at", "3,6,9"];
        options.extend(from.iter().flat_map(|from| ["--restore", from.as_str()]));
        let file = format!("state.{place}");
        // More launches than ever run, so that it cannot end before it is killed.
        host.killed(&options, &["1000000"], &file);
        from = Some(file);
    }
    let from = from.expect("the last checkpoint");
    let rest = host.run(&["--mode", "timing", "--json", "rest.json", "--restore", &from], &["12"]);
    let (again, errors) = words(&rest);
    assert!(rest.status.success(), "{errors}");
    assert!(errors.contains("launches before 9 ran functionally, up to the checkpoint"), "{errors}");
    assert_eq!(again, printed, "results, and the times of launches, also of those before the checkpoint");
    let (all, rest) = (launches(&host.path("whole.json")), launches(&host.path("rest.json")));
    assert_eq!((all.len(), rest.len()), (12, 12));
    for (number, (a, b)) in all.iter().zip(&rest).enumerate() {
        assert_eq!(b["mode"], if number < 8 { "functional" } else { "timing" });
        assert_eq!(a["statistics"]["instructions"], b["statistics"]["instructions"]);
        if number >= 8 {
            assert!(a["statistics"]["timing"]["cycles"].as_u64().expect("cycles") > 0);
            assert_eq!(a["statistics"], b["statistics"], "launch {}", number + 1);
        }
    }
    // Caches matter: a launch that finds them cold takes longer than one that goes on.
    let cold = host.run(&["--timing", "#9", "--json", "cold.json"], &["12"]);
    assert!(cold.status.success());
    let cycles = |launch: &Value| launch["statistics"]["timing"]["cycles"].as_u64().expect("cycles");
    assert!(cycles(&launches(&host.path("cold.json"))[8]) > cycles(&rest[8]));
}

#[test]
fn checkpoints_know_which_launches_were_picked_and_what_caches_missed() {
    let Some(host) = Host::build() else { return };
    // Launch 7 finds what 6 left; 10 comes after others that ran functionally, so caches are cold.
    let picks = ["--timing", "#6,7,10,11", "--json"];
    assert!(host.run(&[&picks[..], &["whole.json"]].concat(), &["12"]).status.success());
    for (at, file) in [("7", "seven"), ("step:8", "ten")] {
        let written = host.run(&[&["--timing", "#6,7,10,11", "--checkpoint", file, "--at", at][..]].concat(), &["12"]);
        let (_, errors) = words(&written);
        assert!(
            written.status.success() && errors.contains(&format!("heddle: checkpoint: {}", host.path(file).display())),
            "{errors}"
        );
        let rest = host.run(&[&picks[..], &["rest.json", "--restore", file]].concat(), &["12"]);
        assert!(rest.status.success(), "{}", words(&rest).1);
        let (all, rest) = (launches(&host.path("whole.json")), launches(&host.path("rest.json")));
        for number in if file == "seven" { 7..=12 } else { 10..=12 } {
            assert_eq!(all[number - 1]["statistics"], rest[number - 1]["statistics"], "launch {number} from {file}");
            assert_eq!(all[number - 1]["cold_caches"], rest[number - 1]["cold_caches"]);
        }
        assert_eq!(rest[9]["cold_caches"], true);
    }
}

#[test]
fn what_cannot_go_on_is_told_why() {
    let Some(host) = Host::build() else { return };
    let written = host.run(&["--mode", "timing", "--checkpoint", "state", "--at", "#5"], &["6", "noise"]);
    assert!(written.status.success(), "{}", words(&written).1);
    let restore = ["--mode", "timing", "--restore", "state", "--json", "out.json"];
    let refused = |options: &[&str], arguments: &[&str], status: i32, parts: &[&str]| {
        let output = host.run(options, arguments);
        let (printed, errors) = words(&output);
        assert_eq!(output.status.code(), Some(status), "{printed}{errors}");
        parts.iter().for_each(|part| assert!(errors.contains(part), "{part}: {errors}"));
        assert_eq!(errors.matches("cannot go on from it").count(), usize::from(status == 4), "once: {errors}");
        printed
    };
    // The host writes another number into its buffer each time.
    let parts =
        ["Before launch 5 device memory is not what it was", "buffer `#1` of 32768 bytes", "bytes are not what they were"];
    let printed = refused(&restore, &["6", "noise"], 4, &parts);
    assert!(printed.ends_with("launch 5: code -14\n"), "the launch fails for the program, too: {printed}");
    let json: Value = serde_json::from_slice(&std::fs::read(host.path("out.json")).expect("statistics")).expect("JSON");
    assert!(json["passed"] == false && json["problems"][0].as_str().expect("a sentence").contains("launch 5"), "{json}");
    // It ends too early: what was asked for did not happen.
    refused(&restore, &["4", "noise"], 1, &["the program ended after 4 launches, before launch 5"]);
    let without = "state: the program ended without a launch; nothing went on from there";
    refused(&restore, &["0"], 1, &[without]);
    let mut nothing = Command::new(env!("CARGO_BIN_EXE_heddle"));
    nothing.current_dir(host.folder.path()).arg("exec").args(restore).args(["--", "true"]);
    let output = nothing.output().expect("heddle starts");
    assert!(output.status.code() == Some(1) && words(&output).1.contains(without), "{}", words(&output).1);
    let json: Value = serde_json::from_slice(&std::fs::read(host.path("out.json")).expect("statistics")).expect("JSON");
    assert!(json["passed"] == false && json["problems"][0].as_str().is_some_and(|p| p.contains(without)), "{json}");
    // Nothing is started with a file that cannot be right.
    let other = ["--mode", "timing", "--set", "sm.count=1", "--restore", "state"];
    refused(&other, &["6"], 2, &["state: of another machine, other options of the compiler"]);
    refused(&["--mode", "timing", "--no-rename", "--restore", "state"], &["6"], 2, &["other options of the compiler"]);
    refused(&["--mode", "timing", "--restore", "none"], &["6"], 2, &["checkpoint ", "none: No such file"]);
    refused(&["--mode", "timing", "--restore", "host.c"], &["6"], 2, &["this is no checkpoint"]);
    refused(&["--checkpoint", "no/state", "--at", "1"], &["6"], 2, &["there is no folder"]);
    // Cut short: its first line is whole.
    let bytes = std::fs::read(host.path("state")).expect("the checkpoint");
    std::fs::write(host.path("cut"), &bytes[..bytes.len() / 2]).expect("a file");
    let cut = host.run(&["--mode", "timing", "--restore", "cut"], &["6"]);
    let (printed, errors) = words(&cut);
    assert_eq!(cut.status.code(), Some(4), "{printed}{errors}");
    assert!(errors.contains("cut short or damaged") && printed.starts_with("launch 1: code -14"), "{printed}{errors}");
    // A case's run says whose checkpoint it is.
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-kernels/saxpy/case.json");
    let run = Command::new(env!("CARGO_BIN_EXE_heddle")).arg("run").arg(case).arg("--restore").arg(host.path("state")).output();
    let run = run.expect("heddle starts");
    assert!(run.status.code() == Some(2) && words(&run).1.contains("`heddle exec --restore`"), "{}", words(&run).1);
}

#[test]
fn another_program_is_told_apart() {
    let Some(host) = Host::build() else { return };
    let written = host.run(&["--checkpoint", "state", "--at", "2"], &["3"]);
    assert!(written.status.success(), "{}", words(&written).1);
    // The same host with another kernel text.
    let source = HOST.replace("1664525u", "1664527u");
    std::fs::write(host.path("host.c"), source).expect("a file");
    let built = Command::new("cc").current_dir(host.folder.path()).args(["-o", "host", "host.c", "-lOpenCL"]).status();
    assert!(built.expect("cc").success());
    let output = host.run(&["--mode", "timing", "--restore", "state"], &["3"]);
    let errors = words(&output).1;
    assert!(
        output.status.code() == Some(4) && errors.contains("launch 2, of kernel `step`, are not those that there were"),
        "{errors}"
    );
}

#[test]
fn commands_that_a_program_leaves_are_told() {
    let Some(host) = Host::build() else { return };
    let (left, finished) = (host.run(&[], &["4", "leave"]), host.run(&[], &["4"]));
    let line = "heddle: 2 commands had not ended when the program did, and may not be counted: it did not wait for them";
    let errors = words(&left).1;
    assert!(left.status.success() && errors.contains(line) && errors.contains("heddle: 4 launches of 2 kernels"), "{errors}");
    assert!(finished.status.success() && !words(&finished).1.contains("had not ended"), "{}", words(&finished).1);
    let quiet = words(&host.run(&["--quiet"], &["4", "leave"])).1;
    assert!(!quiet.contains("had not ended"), "{quiet}");
}

/// `heddle time` with the host's recording.
fn time(host: &Host, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.current_dir(host.folder.path()).arg("time").args(options).stdin(Stdio::null());
    command.output().expect("heddle starts")
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
}

fn cycles(launch: &Value) -> u64 {
    launch["statistics"]["timing"]["cycles"].as_u64().expect("cycles")
}

#[test]
fn recorded_launches_are_timed_by_themselves_and_merged() {
    let Some(host) = Host::build() else { return };
    let recorded = host.run(&["--mode", "timing", "--record", "cases", "--json", "one.json"], &["8"]);
    assert!(recorded.status.success(), "{}", words(&recorded).1);
    let merged = time(&host, &["cases", "--jobs", "2", "--threads", "0", "--json", "merged.json", "--report", "page.html"]);
    let (text, errors) = words(&merged);
    assert!(merged.status.success(), "{text}{errors}");
    assert!(text.contains("8 of 8 recorded launches timed"), "{text}");
    assert!(text.contains("L2 as recorded and L1 empty for 7, all empty for 1."), "{text}");
    let (one, all) = (launches(&host.path("one.json")), launches(&host.path("merged.json")));
    assert_eq!(all.iter().map(|l| &l["number"]).collect::<Vec<_>>(), one.iter().map(|l| &l["number"]).collect::<Vec<_>>());
    for (a, b) in one.iter().zip(&all) {
        let part = |l: &Value, name: &str| l[name].clone();
        for name in ["kernel", "occurrence", "global", "local"] {
            assert_eq!(part(a, name), part(b, name));
        }
        assert_eq!(a["statistics"]["instructions"], b["statistics"]["instructions"]);
        assert_eq!((&b["status"], &b["cold_caches"]), (&"passed".into(), &(b["number"] == 1).into()));
    }
    // Code that earlier launches fetched is there.
    let code = |l: &Value| l["statistics"]["timing"]["hierarchy"]["instruction"]["misses"].as_u64().expect("a count");
    assert!(code(&all[0]) > 0 && one.iter().zip(&all).filter(|(a, _)| a["occurrence"] != 1).all(|(a, b)| code(a) == code(b)));
    // A first launch finds nothing, either way: the same cycles, wherever buffers are.
    assert!(cycles(&all[0]).abs_diff(cycles(&one[0])) * 50 < cycles(&one[0]), "{} {}", cycles(&all[0]), cycles(&one[0]));
    // What L2 held makes the others more like those of the program than empty caches do.
    let cold = time(&host, &["cases", "--timing-caches", "cold", "--out", "cold", "--json", "cold.json", "--quiet"]);
    assert!(cold.status.success() && cold.stdout.is_empty());
    let cold = launches(&host.path("cold.json"));
    let off = |launches: &[Value]| one.iter().zip(launches).map(|(a, b)| cycles(a).abs_diff(cycles(b))).sum::<u64>();
    assert!(2 * off(&all) < off(&cold), "off by {} as recorded, by {} cold", off(&all), off(&cold));
    let whole = json(&host.path("merged.json"));
    assert_eq!(whole["total"]["timing"]["cycles"], all.iter().map(cycles).sum::<u64>());
    assert!(std::fs::read_to_string(host.path("page.html")).expect("a page").contains("\"kernel\":1,"));
    // Nothing is timed twice.
    let changed = || std::fs::metadata(host.path("cases/timed/launch-0003.json")).expect("a result").modified().expect("a time");
    let before = changed();
    assert!(time(&host, &["cases", "--json", "again.json"]).status.success());
    assert!(changed() == before && json(&host.path("again.json")) == whole);
}

#[test]
fn parts_are_collected_and_what_does_not_fit_is_told() {
    let Some(host) = Host::build() else { return };
    let recorded = host.run(&["--record", "cases", "--warm", "--record-only", "#1-3,5"], &["5"]);
    assert!(recorded.status.success(), "{}", words(&recorded).1);
    assert!(!host.path("cases/0001-step/caches.json").exists() && host.path("cases/0002-step/caches.json").exists());
    let ended = |options: &[&str], status: i32, parts: &[&str]| {
        let output = time(&host, options);
        let (text, errors) = words(&output);
        assert_eq!(output.status.code(), Some(status), "{options:?}: {text}{errors}");
        parts.iter().for_each(|part| assert!((text.clone() + &errors).contains(part), "{part}: {text}{errors}"));
    };
    ended(&["cases", "--launches", "2-3"], 0, &[]);
    let missing = ["2 of 4 recorded launches timed", "MISSING: 2 not timed yet: 1, 5.", "launches 1, 5 are missing"];
    ended(&["cases", "--collect", "--json", "part.json"], 1, &missing);
    let part = json(&host.path("part.json"));
    assert_eq!((&part["missing"], &part["passed"]), (&serde_json::json!([1, 5]), &false.into()));
    ended(&["cases", "--launches", "4"], 2, &["none of these is a case; there are: 1-3, 5"]);
    ended(&["cases", "--launches", "0"], 2, &["counted from 1"]);
    ended(&["none"], 2, &["heddle exec --record"]);
    ended(&["cases", "--warm"], 2, &["each is timed by itself"]);
    // With other options than the results': which one, and what differs.
    ended(&["cases", "--collect", "--set", "sm.count=1"], 2, &["launch-0002.json: it is of another machine"]);
    ended(&["cases", "--collect", "--no-rename"], 2, &["launch-0002.json: it is of other options"]);
    ended(&["cases", "--collect", "--timing-caches", "cold"], 2, &["launch-0002.json: it is of another --timing-caches"]);
    // The rest, in processes; options come through to them.
    ended(&["cases"], 0, &["4 of 4 recorded launches timed", "Not recorded, and in no total: launches 4."]);
    ended(&["cases", "--set", "sm.count=1", "--out", "small", "--json", "small.json"], 0, &["4 of 4"]);
    let all = json(&host.path("small.json"))["total"]["timing"]["cycles"].as_u64().expect("cycles");
    ended(&["cases", "--collect", "--json", "all.json"], 0, &[]);
    assert!(all > json(&host.path("all.json"))["total"]["timing"]["cycles"].as_u64().expect("cycles"));
    // Another recording's result, and a launch that leaves other bytes.
    let case = host.path("cases/0003-step/case.json");
    let mut value = json(&case);
    value["launches"][0]["args"][3] = serde_json::json!({ "u32": 77 });
    std::fs::write(&case, value.to_string()).expect("a case");
    ended(&["cases", "--collect"], 2, &["launch-0003.json: it is of another recording; time launch 3 again"]);
    ended(&["cases"], 1, &["launch 3, kernel `step`: mismatch: buffer `b`:"]);
    std::fs::write(host.path("cases/timed/launch-0001.json"), "{").expect("a result");
    ended(&["cases", "--collect"], 2, &["launch-0001.json: no result of a launch"]);
}
