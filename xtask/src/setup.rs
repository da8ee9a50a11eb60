//! System packages: LLVM 19, clang 19 and libclc 19. Installed where apt can do it, named exactly everywhere else.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::shell::{check, find};

/// Debian's packages and what shows that each is there.
const PACKAGES: &[(&str, fn() -> bool)] = &[
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

/// Installs what is missing.
pub fn run() -> Result<()> {
    let missing: Vec<&str> = PACKAGES.iter().filter(|(_, there)| !there()).map(|(name, _)| *name).collect();
    if missing.is_empty() {
        return Ok(());
    }
    eprintln!("missing system packages: {}", missing.join(" "));
    if !is_debian() || find("apt-get").is_none() {
        bail!("{}", advice(&missing));
    }
    let mut args = vec!["install", "-y", "--no-install-recommends"];
    args.extend(&missing);
    // The package lists of a fresh machine are empty or old: try without, then with fresh ones.
    if apt(&args).is_err() {
        apt(&["update"])?;
        if apt(&args).is_err() {
            bail!("{}", advice(&missing));
        }
    }
    Ok(())
}

/// Chromium, in which the tests load reports. Installed on Debian only (elsewhere, and if it cannot be installed, those tests say that they skip).
pub fn browser() {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let there = std::env::var_os("HEDDLE_CHROMIUM").is_some() || names.iter().any(|n| find(n).is_some());
    let ubuntu = std::fs::read_to_string("/etc/os-release").is_ok_and(|t| t.contains("ID=ubuntu"));
    if there || !is_debian() || ubuntu || find("apt-get").is_none() {
        return;
    }
    let args = ["install", "-y", "--no-install-recommends", "chromium"];
    if apt(&args).is_err() && (apt(&["update"]).is_err() || apt(&args).is_err()) {
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
and, where they are not in the PATH, set LLVM_SYS_191_PREFIX, HEDDLE_CLANG, HEDDLE_LLVM_EXTRACT, HEDDLE_LLVM_LINK, HEDDLE_OPT and HEDDLE_LIBCLC.",
        missing.join(" ")
    )
}
