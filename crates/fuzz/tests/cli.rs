//! The command line of `heddle-fuzz`.

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

fn heddle_fuzz() -> Command {
    Command::cargo_bin("heddle-fuzz").unwrap()
}

/// Help fits its lines on a terminal.
#[test]
fn help_is_not_wrapped_twice() {
    let out = heddle_fuzz().arg("--help").assert().success();
    let text = String::from_utf8_lossy(&out.get_output().stdout).into_owned();
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn fuzz_compares_prints_and_explains() {
    heddle_fuzz().args(["--seeds", "5..6", "--print"]).assert().success().stdout(contains("__kernel void k("));
    heddle_fuzz().args(["--seeds", "0..3", "--opencl", "never"]).assert().success().stdout(contains("3 programs, seeds 0..3, "));
    heddle_fuzz().args(["--seeds", "4..4"]).assert().code(2).stderr(contains("FIRST..END"));
    // With an OpenCL implementation there is no such device, without one there is none at all.
    let none = ["--seeds", "0..1", "--opencl", "require", "--opencl-device", "no such device"];
    heddle_fuzz().args(none).assert().code(2).stderr(contains("OpenCL"));
}

/// Where an OpenCL implementation is installed, programs run on it, and it agrees.
#[test]
fn fuzz_compares_with_the_hosts_opencl() {
    let output = heddle_fuzz().args(["--seeds", "0..2"]).assert().success();
    let stderr = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    let device = stderr.lines().find_map(|l| l.strip_prefix("OpenCL: "));
    match device.and_then(|d| d.split(" (").next()) {
        Some(device) => drop(output.stdout(contains(device).and(contains("OpenCL ")))),
        None => assert!(stderr.contains("no comparison with OpenCL: "), "{stderr}"),
    }
}
