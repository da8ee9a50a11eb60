//! `heddle exec`: how programs are started and how it ends. The programs here use no OpenCL; those that do are
//! tested with the driver.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, starts_with};
use tempfile::TempDir;

/// `heddle exec` with something in the place of the driver's library, in a folder of its own.
fn exec(folder: &TempDir) -> Command {
    let library = folder.path().join("driver.so");
    fs::write(&library, "").unwrap();
    let mut command = Command::cargo_bin("heddle").unwrap();
    command.current_dir(folder.path()).arg("exec").env("HEDDLE_OPENCL_LIBRARY", library);
    ["OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "HEDDLE_MODE", "HEDDLE_SESSION"].iter().for_each(|v| _ = command.env_remove(v));
    command
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn without_the_driver_it_says_how_to_get_it() {
    let folder = folder();
    // A heddle with nothing beside it.
    let own = folder.path().join("heddle");
    let built = assert_cmd::cargo::cargo_bin("heddle");
    if fs::hard_link(&built, &own).is_err() {
        fs::copy(&built, &own).unwrap();
    }
    let alone = || Command::new(&own);
    let message = contains("libheddle_opencl.so").and(contains("cargo build --release -p heddle-opencl"));
    alone().args(["exec", "--", "true"]).env_remove("HEDDLE_OPENCL_LIBRARY").assert().code(2).stderr(message);
    let named = alone().args(["exec", "--", "true"]).env("HEDDLE_OPENCL_LIBRARY", "none.so").assert();
    named.code(2).stderr(contains("HEDDLE_OPENCL_LIBRARY: there is no none.so"));
    // Beside it, or in ../lib.
    fs::write(folder.path().join("libheddle_opencl.so"), "").unwrap();
    let found = alone().args(["exec", "--", "sh", "-c", "echo $OCL_ICD_FILENAMES"]).env_remove("HEDDLE_OPENCL_LIBRARY").assert();
    let wanted = fs::canonicalize(folder.path().join("libheddle_opencl.so")).unwrap();
    found.success().stdout(format!("{}\n", wanted.display()));
}

#[test]
fn a_program_finds_heddle_and_its_options() {
    let folder = folder();
    let script = "cat $OCL_ICD_VENDORS/heddle.icd; ls $OCL_ICD_VENDORS | wc -l; echo $OCL_ICD_FILENAMES; echo $OCL_ICD_VENDORS; \
                  echo \"$HEDDLE_MODE $HEDDLE_JSON $HEDDLE_SET $HEDDLE_NO_RENAME $HEDDLE_CHECK\"; echo \"$@\"";
    let mut command = exec(&folder);
    command.args([
        "--mode",
        "timing",
        "--json",
        "out.json",
        "--set",
        "sm.count=2",
        "--set",
        "warp-size=16",
        "--no-rename",
        "--check",
    ]);
    let output = command.args(["--", "sh", "-c", script, "sh", "--help", "-x"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let library = folder.path().join("driver.so").display().to_string();
    let json = std::path::absolute(folder.path().join("out.json")).unwrap();
    let mut lines = text.lines();
    let mut next = || lines.next().unwrap();
    assert_eq!((next(), next().trim(), next()), (&*library, "1", &*library));
    let vendors = next();
    assert!(!Path::new(vendors).exists(), "{vendors} is left behind");
    assert_eq!((next(), next(), next()), (&*format!("timing {} sm.count=2", json.display()), "warp-size=16 1 all", "--help -x"));
}

#[test]
fn other_platforms_stay_if_they_are_wanted() {
    let folder = folder();
    let vendors = folder.path().join("vendors");
    fs::create_dir(&vendors).unwrap();
    fs::write(vendors.join("other.icd"), "libother.so\n").unwrap();
    fs::write(vendors.join("readme"), "").unwrap();
    let mut command = exec(&folder);
    command.env("OCL_ICD_VENDORS", &vendors).args(["--with-others", "--", "sh", "-c", "cd $OCL_ICD_VENDORS; ls; cat other.icd"]);
    command.assert().success().stdout("heddle.icd\nother.icd\nlibother.so\n");
}

#[test]
fn it_ends_as_the_program_does() {
    let folder = folder();
    let shell = |script: &str| {
        let mut command = exec(&folder);
        command.args(["--quiet", "--", "sh", "-c", script]).assert()
    };
    shell("exit 0").success().stderr("");
    shell("exit 7").code(7).stderr("");
    shell("kill -TERM $$").code(143);
    shell("kill -SEGV $$").code(139);
    let killed = exec(&folder).args(["--", "sh", "-c", "kill -KILL $$"]).assert().code(137);
    killed.stderr(contains("signal 9 ended the program before the driver could say what was launched"));
    exec(&folder).args(["-q", "--", "cat"]).write_stdin("what comes in").assert().success().stdout("what comes in");
    // Without `--`, as `env` and `time` take programs.
    exec(&folder).args(["-q", "sh", "-c", "exit 3"]).assert().code(3);
}

#[test]
fn a_program_that_cannot_be_started_is_bad_usage() {
    let folder = folder();
    let start = |name: &str| exec(&folder).args(["--", name]).assert().code(2);
    start("no-such-program").stderr(contains("cannot start no-such-program").and(contains("PATH")));
    fs::write(folder.path().join("plain"), "echo").unwrap();
    start("./plain").stderr(contains("chmod +x ./plain"));
    start("plain").stderr(contains("./plain is the one in this folder"));
    exec(&folder).assert().code(2).stderr(contains("PROGRAM"));
}

#[test]
fn what_heddle_found_is_the_status_of_a_program_that_ended_well() {
    let folder = folder();
    let with = |arguments: &[&str], results: &str, status: u32| {
        let script = format!("echo '{results}' > $HEDDLE_SESSION/results-1.json; exit {status}");
        exec(&folder).args(arguments).args(["--", "sh", "-c", &script]).assert()
    };
    let kernel = r#""kernels":[{"name":"k","launches":2,"instructions":10,"host_seconds":0.5}]"#;
    let summary = starts_with("heddle: 2 launches of 1 kernel, simulated in 500.00 ms\n").and(contains("100.0%"));
    with(&[], &format!("{{{kernel}}}"), 0).success().stderr(summary);
    with(&[], &format!(r#"{{"faults":1,{kernel}}}"#), 0).code(1).stderr(contains("1 launch ended by a fault"));
    with(&[], &format!(r#"{{"faults":1,{kernel}}}"#), 5).code(5);
    // Leaks only if they are asked for by name.
    with(&["--check"], &format!(r#"{{"leaks":1,{kernel}}}"#), 0).success();
    with(&["--check=leaks"], &format!(r#"{{"leaks":1,{kernel}}}"#), 0).code(1);
}

#[test]
fn signals_go_to_the_program() {
    let folder = folder();
    let script = "trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done";
    let mut command = std_command(&folder);
    let mut child = command.args(["-q", "--", "sh", "-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let killed = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(5));
    out.read_to_string(&mut line).unwrap();
}

/// The same as [`exec`], to be spawned.
fn std_command(folder: &TempDir) -> std::process::Command {
    let library = folder.path().join("driver.so");
    fs::write(&library, "").unwrap();
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("heddle"));
    command.current_dir(folder.path()).arg("exec").env("HEDDLE_OPENCL_LIBRARY", library);
    command
}

#[test]
fn options_that_make_no_sense_start_nothing() {
    let folder = folder();
    fs::create_dir(folder.path().join("full")).unwrap();
    fs::write(folder.path().join("full/x"), "").unwrap();
    for (arguments, part) in [
        (&["--mode", "timing", "--timing", "k"][..], "times all"),
        (&["--timing", "k:0"], "counted from 1"),
        (&["--set", "no.such=1"], "no.such"),
        (&["--target", "none.toml"], "none.toml"),
        (&["--json", "nowhere/out.json"], "there is no folder"),
        (&["--record", "full"], "full is not empty"),
        (&["--record-only", "k"], "there is no --record"),
    ] {
        let mut command = exec(&folder);
        command.args(arguments).args(["--", "touch", "started"]).assert().code(2).stderr(contains(part));
    }
    exec(&folder).env("HEDDLE_MODE", "fast").args(["--", "touch", "started"]).assert().code(2).stderr(contains("HEDDLE_MODE"));
    assert!(!folder.path().join("started").exists());
    // The command line is stronger than what was in the environment.
    let mut command = exec(&folder);
    command.env("HEDDLE_MODE", "timing").args(["-q", "--mode", "functional", "--", "sh", "-c", "echo $HEDDLE_MODE"]);
    command.assert().success().stdout("functional\n");
}

#[test]
fn a_program_without_launches_has_empty_outputs() {
    let folder = folder();
    exec(&folder)
        .args(["--json", "out.json", "--report", "report", "--", "true"])
        .assert()
        .success()
        .stderr(contains("the program launched no kernel on Heddle"));
    let json: serde_json::Value = serde_json::from_slice(&fs::read(folder.path().join("out.json")).unwrap()).unwrap();
    assert_eq!((&json["launches"], &json["passed"]), (&serde_json::json!([]), &true.into()));
    assert!(fs::read_to_string(folder.path().join("report/index.html")).unwrap().contains("<main"));
}

#[test]
fn vendor_files_are_installed_and_removed() {
    let folder = folder();
    let file = |path: &str| -> PathBuf { folder.path().join(path).join("heddle.icd") };
    let library = folder.path().join("driver.so").display().to_string();
    for (arguments, place) in [("--install=own folder", "own folder"), ("--install", "data/heddle/OpenCL/vendors")] {
        let mut command = exec(&folder);
        let said = contains("export OCL_ICD_VENDORS=").and(contains(place));
        command.env("XDG_DATA_HOME", folder.path().join("data")).arg(arguments).assert().success().stdout(said);
        assert_eq!(fs::read_to_string(file(place)).unwrap(), format!("{library}\n"));
        let mut command = exec(&folder);
        command.env("XDG_DATA_HOME", folder.path().join("data")).arg(arguments.replace("--", "--un")).assert().success();
        assert!(!folder.path().join(place).exists());
    }
    exec(&folder).arg("--uninstall=own folder").assert().code(2).stderr(contains("cannot remove"));
    exec(&folder).args(["--install=x", "--", "true"]).assert().code(2).stderr(contains("cannot be used with"));
}
