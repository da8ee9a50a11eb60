//! The OpenCL hosts of `examples/` on Heddle's driver, found by the loader as any host finds it. Each host
//! verifies its own result; with a kernel that is made wrong it must say so.
//!
//! They are compiled with `cc` and `c++` into a folder that all tests share. Without a compiler, OpenCL's
//! headers or its loader the tests say that they skip; `cargo xtask setup --peers` installs what is missing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// The driver, which lies beside the program.
fn driver() -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_heddle")).parent().expect("a program is in a folder").to_path_buf();
    let name = format!("{}heddle_opencl{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let path = folder.join(name);
    assert!(path.is_file(), "there is no {}; `cargo build --package heddle-opencl` makes it", path.display());
    path
}

/// A folder with the hosts' sources, what was built of them, and a vendors file for the loader.
struct Hosts {
    folder: TempDir,
}

impl Hosts {
    /// The hosts as they are, built once; none if they cannot be built here.
    fn get() -> Option<&'static Hosts> {
        static HOSTS: OnceLock<Option<Hosts>> = OnceLock::new();
        HOSTS.get_or_init(|| Some(Hosts::copied()).filter(Hosts::can_build)).as_ref()
    }

    fn copied() -> Hosts {
        let folder = TempDir::new().expect("a temporary folder");
        let hosts = Hosts { folder };
        fs::create_dir_all(hosts.path("opencl")).expect("a folder");
        for place in ["", "opencl"] {
            for entry in fs::read_dir(examples().join(place)).expect("examples") {
                let path = entry.expect("an entry").path();
                if path.extension().is_some_and(|e| ["c", "cpp", "h", "cl", "py"].contains(&e.to_string_lossy().as_ref())) {
                    fs::copy(&path, hosts.path(place).join(path.file_name().expect("a file"))).expect("a copy");
                }
            }
        }
        fs::create_dir(hosts.path("vendors")).expect("a folder");
        fs::write(hosts.path("vendors/heddle.icd"), driver().display().to_string()).expect("a vendors file");
        hosts
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Whether there are compilers, headers and the loader.
    fn can_build(&self) -> bool {
        let text = "#define CL_TARGET_OPENCL_VERSION 120\n#include <CL/cl.h>\nint main(void) { return clGetPlatformIDs(0, 0, 0) == 1; }\n";
        fs::write(self.path("probe.c"), text).expect("a file");
        fs::write(self.path("probe.cpp"), "#include <CL/opencl.hpp>\nint main() { return 0; }\n").expect("a file");
        let missing: Vec<String> = ["probe.c", "probe.cpp"].iter().filter_map(|f| self.compile(f).err()).collect();
        for error in &missing {
            eprintln!("SKIPPED, for OpenCL hosts cannot be built here: {error}");
        }
        missing.is_empty()
    }

    /// Builds the program of a source file.
    fn compile(&self, source: &str) -> Result<PathBuf, String> {
        let (compiler, program) = match source.strip_suffix(".cpp") {
            Some(stem) => ("c++", format!("{stem}.cpp.out")),
            None => ("cc", format!("{source}.out")),
        };
        let mut command = Command::new(compiler);
        command.args(["-O1", "-Wall", "-Wextra", "-Wno-deprecated-declarations", "-o"]).arg(self.path(&program));
        command.arg(self.path(source)).args(["-lOpenCL", "-lm", "-lpthread"]);
        match command.stdin(Stdio::null()).output() {
            Err(error) => Err(format!("{compiler}: {error}")),
            Ok(output) if !output.status.success() => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
            Ok(_) => Ok(self.path(&program)),
        }
    }

    /// Builds a host and runs it.
    fn run(&self, source: &str, arguments: &[&str]) -> Output {
        let program = self.compile(source).unwrap_or_else(|error| panic!("{source}:\n{error}"));
        self.start(Command::new(program).args(arguments))
    }

    /// Runs a program that sees no platform but Heddle's.
    fn start(&self, command: &mut Command) -> Output {
        command.env("OCL_ICD_VENDORS", self.path("vendors")).env_remove("OCL_ICD_FILENAMES").stdin(Stdio::null());
        command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
    }
}

/// What a host that ended well has printed. It ran on Heddle and on nothing else.
fn printed(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}\n{text}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    assert!(text.starts_with("Heddle"), "{text}");
    text
}

/// Runs a host with a part of its kernels replaced; it must end with exit code 1 and say what is wrong.
fn must_find(host: &str, kernels: &str, right: &str, wrong: &str, message: &str) {
    if Hosts::get().is_none() {
        return;
    }
    let hosts = Hosts::copied();
    let path = hosts.path(kernels);
    let text = fs::read_to_string(&path).expect("kernels");
    assert_eq!(text.matches(right).count(), 1, "{kernels}: {right}");
    fs::write(&path, text.replace(right, wrong)).expect("a file");
    let output = hosts.run(host, &[]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{}\n{errors}", String::from_utf8_lossy(&output.stdout));
    assert!(errors.contains(message), "{errors}");
}

#[test]
fn the_image_filter_is_right() {
    let Some(hosts) = Hosts::get() else { return };
    let picture = hosts.path("filtered.ppm");
    let output = hosts.run("opencl/image_filter.c", &["--out", &picture.display().to_string()]);
    assert!(printed(&output).ends_with("right\n"));
    let bytes = fs::read(picture).expect("a picture");
    assert!(bytes.starts_with(b"P6\n140 101\n255\n"));
    assert_eq!(bytes.len(), b"P6\n140 101\n255\n".len() + 3 * 140 * 101);
}

#[test]
fn a_platform_that_is_not_there_is_an_error() {
    let Some(hosts) = Hosts::get() else { return };
    for host in ["racy_host.c", "opencl/solver.cpp"] {
        let output = hosts.run(host, &["--platform", "Jacquard"]);
        assert_eq!(output.status.code(), Some(1));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(errors, "error: no OpenCL device of a platform named like Jacquard\n");
    }
}

#[test]
fn the_solver_is_right() {
    let Some(hosts) = Hosts::get() else { return };
    let text = printed(&hosts.run("opencl/solver.cpp", &["--size", "30"]));
    assert!(text.contains("900 equations") && text.ends_with("right\n"), "{text}");
}

#[test]
fn the_bodies_attract_each_other_rightly() {
    let Some(hosts) = Hosts::get() else { return };
    let text = printed(&hosts.run("opencl/nbody.c", &["--bodies", "500", "--steps", "3"]));
    assert!(text.ends_with("512 bodies, 3 steps: right\n"), "{text}");
}

#[test]
fn producer_and_consumer_keep_their_order() {
    let Some(hosts) = Hosts::get() else { return };
    let text = printed(&hosts.run("opencl/pipeline.c", &["--blocks", "25"]));
    assert!(text.contains("25 blocks") && text.ends_with("right\n"), "{text}");
}

#[test]
fn the_racy_host_ends_well_without_a_check() {
    let Some(hosts) = Hosts::get() else { return };
    let text = printed(&hosts.run("racy_host.c", &[]));
    assert!(text.ends_with("all numbers are within the input's range\n"), "{text}");
}

#[test]
fn the_check_names_both_lines_of_the_race() {
    let Some(hosts) = Hosts::get() else { return };
    let program = hosts.compile("racy_host.c").unwrap_or_else(|error| panic!("{error}"));
    let mut heddle = Command::new(env!("CARGO_BIN_EXE_heddle"));
    let output = hosts.start(heddle.args(["exec", "--check", "--"]).arg(program));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    let kernels = fs::read_to_string(examples().join("racy_host.cl")).expect("kernels");
    let line = |text: &str| 1 + kernels.lines().position(|l| l.contains(text)).unwrap_or_else(|| panic!("{text}"));
    let (reads, writes) = (line("row[i + 1 < n"), line("row[i] ="));
    let race = errors.lines().find(|l| l.contains("data race")).unwrap_or_else(|| panic!("{errors}"));
    assert!(race.contains(&format!(".cl:{reads},")) && race.contains(&format!(".cl:{writes}: ")), "{race}");
}

#[test]
fn sgemm_by_pyopencl_is_right_and_shows_every_event() {
    let Some(hosts) = Hosts::get() else { return };
    let modules = ["python3", "/usr/bin/python3"].into_iter().find(|python| {
        let mut command = Command::new(python);
        command.args(["-c", "import numpy, pyopencl"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|s| s.success())
    });
    let Some(python) = modules else {
        eprintln!("SKIPPED, for no python3 has numpy and pyopencl");
        return;
    };
    let script = hosts.path("sgemm.py");
    let text = printed(&hosts.start(Command::new(python).arg(script).args(["--size", "50", "--repeat", "2"])));
    let words = |line: &str| line.split_whitespace().next().map(str::to_string);
    let commands: Vec<String> = text.lines().skip(2).filter_map(words).collect();
    assert_eq!(commands, ["write", "write", "sgemm", "sgemm", "read", "right:"], "{text}");
}

#[test]
fn hosts_find_wrong_kernels() {
    must_find("opencl/image_filter.c", "opencl/image_filter.cl", "(int2)(x, y)", "(int2)(x + 1, y)", "pixel");
    must_find("opencl/solver.cpp", "opencl/solver.cl", "sum = 4.0f * x[at]", "sum = 4.25f * x[at]", "the bounds are");
    must_find("opencl/nbody.c", "opencl/nbody.cl", "near * near * near", "near * near", "acceleration of body");
    must_find("opencl/nbody.c", "opencl/nbody.cl", "velocity[i] = v;", "velocity[i] = v + 0.1f;", "move off");
    must_find("opencl/pipeline.c", "opencl/pipeline.cl", "first + (uint)i", "first + (uint)i + (i == 77)", "numbers end in");
}

#[test]
fn a_kernel_that_does_not_build_shows_the_compilers_words() {
    must_find(
        "opencl/pipeline.c",
        "opencl/pipeline.cl",
        "size_t i = get_global_id(0);\n    block",
        "block",
        "undeclared identifier 'i'",
    );
}
