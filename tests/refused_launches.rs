//! Launches that a kernel's code does not allow: what objects know of it, and what `heddle run` does about it.

use std::fs;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

const COPY: &str = "__kernel void k(__global int *a, int n) { int i = get_global_id(0); if (i < n) a[i] = i; }";

fn heddle() -> Command {
    let mut c = Command::cargo_bin("heddle").unwrap();
    c.current_dir(env!("CARGO_MANIFEST_DIR"));
    c
}

/// Kernels that keep ids in `int` are compiled for ids that are not negative there; objects know it, and a launch with larger
/// ones compiles its kernel for them.
#[test]
fn kernels_with_ids_in_int_are_not_launched_beyond_them() {
    let folder = tempfile::tempdir().unwrap();
    let source = "kernel void k() { int i = get_global_id(0); printf(i < 5 ? \"below\\n\" : \"above\\n\"); }\n\
                  kernel void u() { uint i = get_global_id(0); if (i >= 0x80000000) printf(\"large\\n\"); }\n";
    fs::write(folder.path().join("k.cl"), source).unwrap();
    let run = |kernel: &str, offset: u64, more: &[&str]| {
        let offset = offset.to_string();
        let words = ["run", "k.cl", "--kernel", kernel, "--global", "8"];
        heddle().current_dir(folder.path()).args(words).args(["--offset", &offset]).args(more).assert()
    };
    let refused = contains("less than 2^31 work-items a dimension");
    let wide = (1u64 << 31) - 4;
    heddle().current_dir(folder.path()).args(["build", "k.cl", "-o", "k.o"]).assert().success();
    run("k", wide - 5, &["--object", "k.o"]).success().stdout(contains("above").and(contains("below").not()));
    run("k", wide, &["--object", "k.o"]).code(2).stderr(refused.clone());
    run("u", wide, &["--object", "k.o"]).success().stdout(contains("large"));
    run("k", wide, &[]).success().stdout(contains("above").and(contains("below")));
    heddle().current_dir(folder.path()).args(["build", "--wide-ids", "k.cl", "-o", "w.o"]).assert().success();
    run("k", wide, &["--object", "w.o"]).success().stdout(contains("above").and(contains("below")));
}

/// OpenCL C before 2.0 has no work-groups of different sizes; objects know it, too.
#[test]
fn old_kernels_take_whole_work_groups_only() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("k.cl"), COPY).unwrap();
    let object = folder.path().join("k.o").display().to_string();
    let run = |global: &str, local: &str, more: &[&str]| {
        let words = ["run", "k.cl", "--kernel", "k", "--arg", "a=zeros:int32:2048", "--arg", "i32=64"];
        let sizes = ["--global", global, "--local", local];
        heddle()
            .current_dir(folder.path())
            .args(words)
            .args(if local.is_empty() { &sizes[..2] } else { &sizes[..] })
            .args(more)
            .assert()
    };
    let refused = contains("global size [100, 1, 1] is no multiple of the local size [64, 1, 1]");
    for option in ["-cl-std=CL1.2", "-cl-std=CL1.0", "-cl-uniform-work-group-size"] {
        let more = format!("--option={option}");
        run("100", "64", &[&more]).code(2).stderr(refused.clone());
        run("128", "64", &[&more]).success();
        // A prime: the runtime chooses a divisor.
        run("1009", "", &[&more]).success();
        heddle().current_dir(folder.path()).args(["build", option, "k.cl", "-o", &object]).assert().success();
        run("100", "64", &["--object", &object]).code(2).stderr(refused.clone());
    }
    run("100", "64", &[]).success();
    run("100", "64", &["--option=-cl-std=CL2.0"]).success();
}
