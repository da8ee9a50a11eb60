//! System packages: LLVM 19, clang 19 and libclc 19, and on request what comparisons need.
//! Installed where apt can do it, named exactly everywhere else.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::shell::{check, find, python};

/// Shows whether a package is there.
type IsThere = fn() -> bool;

/// Debian's packages and what shows that each is there.
const PACKAGES: &[(&str, IsThere)] = &[
    ("llvm-19-dev", || find("llvm-config-19").is_some() || find_prefixed("llvm-config")),
    ("clang-19", || find("clang-19").is_some() || std::env::var_os("HEDDLE_CLANG").is_some() || find_prefixed("clang")),
    ("llvm-19-tools", || Path::new("/usr/lib/llvm-19/build/utils/lit/lit.py").is_file() || find_prefixed("FileCheck")),
    ("libclc-19", || {
        std::env::var_os("HEDDLE_LIBCLC").is_some()
            || ["/usr/lib/clc", "/usr/share/clc", "/usr/lib64/clc", "/opt/homebrew/share/clc", "/usr/local/share/clc"]
                .iter()
                .any(|f| Path::new(f).join("nvptx64--.bc").is_file())
    }),
    ("libclc-19-dev", || Path::new("/usr/include/clc").is_dir() || !is_debian()),
    ("libpolly-19-dev", || Path::new("/usr/lib/llvm-19/lib/libPolly.a").is_file() || !is_debian()),
    ("zlib1g-dev", || Path::new("/usr/include/zlib.h").is_file() || !is_debian()),
    ("libzstd-dev", || Path::new("/usr/include/zstd.h").is_file() || !is_debian()),
];

fn is_debian() -> bool {
    Path::new("/etc/debian_version").is_file()
}

/// A program of an LLVM 19 that is installed under its own prefix.
fn find_prefixed(name: &str) -> bool {
    ["/opt/homebrew/opt/llvm@19/bin", "/usr/local/opt/llvm@19/bin", "/usr/lib64/llvm19/bin", "/usr/lib/llvm19/bin"]
        .iter()
        .any(|p| Path::new(p).join(name).is_file())
}

/// What comparisons and generators need beyond a build: Debian's package, what needs it, and what
/// shows that it is there.
const PEERS: &[(&str, &str, IsThere)] = &[
    ("pocl-opencl-icd", "`bench sim`, `fuzz` and test-kernels/crosscheck.py compare with it", || has_pocl()),
    ("ocl-icd-libopencl1", "how PoCL is found", || has_library("libOpenCL.so.1") || has_library("libOpenCL.dylib")),
    ("oclgrind", "`bench sim` compares with it", || find("oclgrind-kernel").is_some()),
    ("python3-numpy", "generators of inputs and goldens; `test` checks them", || python(&["numpy"]).is_some()),
    ("python3-pyopencl", "how scripts run kernels on PoCL", || python(&["numpy", "pyopencl"]).is_some()),
    ("ocl-icd-opencl-dev", "tests/examples.rs and examples/Makefile build OpenCL hosts", || {
        has_header("CL/cl.h") && (has_library("libOpenCL.so") || has_library("libOpenCL.dylib"))
    }),
    ("opencl-clhpp-headers", "examples/opencl/solver.cpp includes CL/opencl.hpp", || has_header("CL/opencl.hpp")),
    ("piglit", "`conformance` runs its tests", || find("piglit").is_some()),
    ("python3-pytest", "`conformance` runs pyopencl's tests with it", || python(&["pyopencl", "pytest"]).is_some()),
    ("python3-scipy", "pyopencl's tests of Bessel functions compare with it", || python(&["pyopencl", "scipy"]).is_some()),
    ("python3-pip", "how `conformance` gets pyopencl's tests", || python(&["pyopencl", "pip"]).is_some()),
    ("python3-mpmath", "tests/ulp/generate.py", || python(&["numpy", "mpmath"]).is_some()),
    ("clang-15", "`bench spirv` and test-kernels/spirv.py make SPIR-V with it", || find("clang-15").is_some()),
    ("llvm-spirv-15", "the same", || find("llvm-spirv-15").is_some()),
    ("llvm-19", "`bench compile` and `bench regfile` compare with its llc-19", || find("llc-19").is_some()),
];

/// Whether PoCL is registered with the ICD loader.
fn has_pocl() -> bool {
    let folders = ["/etc/OpenCL/vendors", "/usr/local/etc/OpenCL/vendors", "/opt/homebrew/etc/OpenCL/vendors"];
    let vendors = std::env::var_os("OCL_ICD_VENDORS").map(PathBuf::from);
    let registered = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.into_iter().any(|e| e.file_name().to_string_lossy().starts_with("pocl"))
    };
    vendors.iter().any(|v| registered(v)) || folders.iter().any(|f| registered(Path::new(f)))
}

/// Whether the loader would find a library.
fn has_library(name: &str) -> bool {
    let multiarch = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/opt/homebrew/lib", &multiarch].iter().any(|f| Path::new(f).join(name).exists())
}

/// Whether a compiler would find a header.
fn has_header(name: &str) -> bool {
    ["/usr/include", "/usr/local/include", "/opt/homebrew/include"].iter().any(|f| Path::new(f).join(name).is_file())
}

/// Installs what a build lacks.
pub fn run() -> Result<()> {
    let missing: Vec<&str> = PACKAGES.iter().filter(|(_, there)| !there()).map(|(name, _)| *name).collect();
    install(&missing, &advice(&missing))
}

/// Installs what comparisons lack.
pub fn peers() -> Result<()> {
    let missing: Vec<_> = PEERS.iter().filter(|(_, _, there)| !there()).collect();
    for (name, used, _) in &missing {
        println!("{name}: {used}");
    }
    let names: Vec<&str> = missing.iter().map(|(name, ..)| *name).collect();
    install(&names, &peers_advice(&names))?;
    let still: Vec<&str> = PEERS.iter().filter(|(_, _, there)| !there()).map(|(name, ..)| *name).collect();
    if !still.is_empty() {
        bail!("installed, and still not found: {}", still.join(" "));
    }
    println!("everything that comparisons need is installed");
    Ok(())
}

/// Installs Debian's packages, or fails with advice.
fn install(missing: &[&str], advice: &str) -> Result<()> {
    if missing.is_empty() {
        return Ok(());
    }
    eprintln!("missing system packages: {}", missing.join(" "));
    if !is_debian() || find("apt-get").is_none() || apt_install(missing).is_err() {
        bail!("{advice}");
    }
    Ok(())
}

/// Installs packages by apt. Its lists may be empty, as on a fresh machine, or old: then they are
/// read anew.
fn apt_install(packages: &[&str]) -> Result<()> {
    let mut args = vec!["install", "-y", "--no-install-recommends"];
    args.extend(packages);
    if has_lists() && apt(&args).is_ok() {
        return Ok(());
    }
    apt(&["update"])?;
    apt(&args)
}

/// Whether apt has read which packages there are.
fn has_lists() -> bool {
    let files = std::fs::read_dir("/var/lib/apt/lists").into_iter().flatten().flatten();
    files.into_iter().any(|f| f.file_name().to_string_lossy().contains("_Packages"))
}

/// What `cargo xtask test` uses where it can have it, and does without elsewhere: Chromium, in
/// which the tests load reports, numpy, with which the generators of the test kernels are checked,
/// OpenCL's loader and headers, for the examples, the translator of SPIR-V, and an environment for the Python package. Tests
/// that lack them say that they skip.
pub fn for_tests() {
    if is_debian() && find("apt-get").is_some() && python(&["numpy"]).is_none() && apt_install(&["python3-numpy"]).is_err() {
        eprintln!("python3-numpy cannot be installed: the generators of the test kernels will not be checked");
    }
    opencl_hosts();
    spirv();
    browser();
    if let Err(e) = crate::python::set_up(|package| match is_debian() && find("apt-get").is_some() {
        true => apt_install(&[package]),
        false => bail!("there is no {package}"),
    }) {
        eprintln!("no environment for the Python package, whose tests will be skipped: {e:#}");
    }
}

/// OpenCL's loader and headers, with which the examples in C and C++ are built.
fn opencl_hosts() {
    let missing: Vec<&str> = [("ocl-icd-opencl-dev", "CL/cl.h"), ("opencl-clhpp-headers", "CL/opencl.hpp")]
        .into_iter()
        .filter_map(|(package, header)| (!has_header(header)).then_some(package))
        .collect();
    if !missing.is_empty() && is_debian() && find("apt-get").is_some() && apt_install(&missing).is_err() {
        eprintln!("{} cannot be installed: the tests of OpenCL hosts will be skipped", missing.join(" and "));
    }
}

/// What translates SPIR-V.
fn spirv() {
    let named = |variable: &str| std::env::var_os(variable).is_some();
    let translators = ["llvm-spirv-19", "llvm-spirv-18", "llvm-spirv-17", "llvm-spirv-16", "llvm-spirv-15", "llvm-spirv"];
    let mut missing = Vec::new();
    if !named("HEDDLE_LLVM_SPIRV") && !translators.iter().any(|n| find(n).is_some()) {
        missing.push("llvm-spirv-15");
    }
    if !named("HEDDLE_SPIRV_AS") && find("spirv-as").is_none() {
        missing.push("spirv-tools");
    }
    let can = is_debian() && find("apt-get").is_some();
    if !missing.is_empty() && (!can || apt_install(&missing).is_err()) {
        eprintln!("no {}: the tests of SPIR-V will be skipped; docs/spirv.md says what to install", missing.join(", no "));
    }
}

/// Chromium. Installed on Debian only (Ubuntu's is no package of apt's).
fn browser() {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let there = std::env::var_os("HEDDLE_CHROMIUM").is_some() || names.iter().any(|n| find(n).is_some());
    let ubuntu = std::fs::read_to_string("/etc/os-release").is_ok_and(|t| t.contains("ID=ubuntu"));
    if there || !is_debian() || ubuntu || find("apt-get").is_none() {
        return;
    }
    if apt_install(&["chromium"]).is_err() {
        eprintln!("chromium cannot be installed: the tests that load reports in a browser will be skipped");
    }
}

/// Runs apt-get, as root.
fn apt(args: &[&str]) -> Result<()> {
    // SAFETY: no arguments, cannot fail.
    let root = unsafe { libc_geteuid() } == 0;
    let mut command = if root { Command::new("apt-get") } else { Command::new("sudo") };
    if !root {
        command.arg("apt-get");
    }
    command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
    check(&mut command)
}

unsafe extern "C" {
    #[link_name = "geteuid"]
    fn libc_geteuid() -> u32;
}

fn advice(missing: &[&str]) -> String {
    format!(
        "Heddle needs LLVM 19, clang 19 and libclc 19; missing here (Debian's names): {}

  Debian/Ubuntu: apt-get install llvm-19-dev clang-19 llvm-19-tools libclc-19 libclc-19-dev libpolly-19-dev zlib1g-dev libzstd-dev
                 (older releases: add https://apt.llvm.org first)
  Fedora:        dnf install llvm19-devel clang19 llvm19 libclc lld zlib-devel libzstd-devel
  Arch:          pacman -S llvm19 clang19 libclc zstd
  macOS:         brew install llvm@19 libclc zstd
and, where they are not in the PATH, set LLVM_SYS_191_PREFIX, HEDDLE_CLANG, HEDDLE_LLVM_EXTRACT,
HEDDLE_LLVM_LINK, HEDDLE_LLVM_NM, HEDDLE_OPT and HEDDLE_LIBCLC.",
        missing.join(" ")
    )
}

fn peers_advice(missing: &[&str]) -> String {
    format!(
        "comparisons need PoCL, Oclgrind, OpenCL's headers, piglit, numpy, pyopencl and mpmath; missing here (Debian's names): {}

  Debian/Ubuntu: apt-get install {}
  Fedora:        dnf install pocl ocl-icd-devel opencl-headers piglit python3-numpy python3-pyopencl python3-pytest python3-scipy python3-pip python3-mpmath
  Arch:          pacman -S pocl ocl-icd opencl-headers opencl-clhpp python-numpy python-pyopencl python-pytest python-scipy python-pip python-mpmath
  macOS:         brew install pocl opencl-icd-loader opencl-headers opencl-clhpp-headers numpy && python3 -m pip install pyopencl pytest scipy mpmath
Oclgrind is a package of Debian and Ubuntu; elsewhere build https://github.com/jrprice/Oclgrind and
put oclgrind-kernel into the PATH.
Without them everything builds and all tests pass; benchmarks say at their end what they did not compare.",
        missing.join(" "),
        PEERS.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_names_every_package() {
        let text = peers_advice(&["oclgrind"]);
        assert!(text.contains("missing here (Debian's names): oclgrind\n"));
        assert!(PEERS.iter().all(|(name, ..)| text.contains(name)));
        let text = advice(&["clang-19"]);
        assert!(PACKAGES.iter().all(|(name, _)| text.contains(name)), "{text}");
    }
}
