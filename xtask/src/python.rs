//! The Python package in `cargo xtask test`: an environment of its own under `target`, the extension that the workspace's
//! build made, and pytest, which runs tests side by side (pytest-xdist), and one that fails once more (pytest-rerunfailures), and says so.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::shell::{check, python, release, root};

/// What the environment has: maturin builds wheels, the others are what the tests and the notebooks use.
const PACKAGES: [&str; 14] = [
    "maturin",
    "numpy",
    "pandas",
    "pyarrow",
    "matplotlib",
    "tqdm",
    "joblib",
    "dask",
    "pytest",
    "pytest-rerunfailures",
    "pytest-xdist",
    "nbconvert",
    "ipykernel",
    "pyopencl",
];

/// What the library that cargo builds is called where Python looks for it.
const EXTENSION: &str = "python/heddle/_native.abi3.so";

/// The environment's folder.
fn folder() -> PathBuf {
    release().with_file_name("python")
}

/// The environment's interpreter, if it is complete.
pub fn interpreter() -> Option<PathBuf> {
    let complete = std::fs::read_to_string(folder().join("packages")).is_ok_and(|t| t == PACKAGES.join("\n"));
    Some(folder().join("bin/python")).filter(|p| complete && p.is_file())
}

/// Makes the environment, unless it is there. `install`: installs a package of Debian's.
///
/// # Errors
/// There is no Python 3.10, or the packages cannot be had.
pub fn set_up(install: impl Fn(&str) -> Result<()>) -> Result<()> {
    if interpreter().is_some() {
        return Ok(());
    }
    let program = python(&["sys; assert sys.version_info >= (3, 10)"]).context("there is no python3 of version 3.10 or later")?;
    let make = || check(Command::new(&program).args(["-m", "venv", "--clear"]).arg(folder()));
    if make().is_err() {
        install("python3-venv")?;
        make()?;
    }
    let mut pip = Command::new(folder().join("bin/python"));
    // What is imported is compiled then; that is a small part.
    check(pip.args(["-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"]).args(PACKAGES))?;
    std::fs::write(folder().join("packages"), PACKAGES.join("\n"))?;
    Ok(())
}

/// How pytest ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that did not.
    pub failed: u64,
    /// Tests that were left out.
    pub skipped: u64,
    /// A line for each that failed.
    pub failures: Vec<String>,
    /// A line for each that failed once and then passed.
    pub unstable: Vec<String>,
}

/// Runs the package's tests with the extension that the workspace's build made.
///
/// # Errors
/// The extension is not there, or pytest did not come to its end.
pub fn test(interpreter: &Path, heddle: &Path) -> Result<Counts> {
    let built = release().join(format!("{}heddle_python{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX));
    let extension = root().join(EXTENSION);
    // A running interpreter may have the old one mapped.
    let _there = std::fs::remove_file(&extension);
    std::fs::copy(&built, &extension).with_context(|| format!("cannot copy {} to {EXTENSION}", built.display()))?;
    let workers = std::thread::available_parallelism().map_or(1, NonZero::get).to_string();
    let mut command = Command::new(interpreter);
    command
        .args(["-m", "pytest", "--numprocesses", &workers, "-rsfER", "--reruns", "1", "--tb=short", "-p", "no:cacheprovider"])
        .current_dir(root().join("python"));
    command.env("PYTHONPATH", root().join("python")).env("HEDDLE_BIN", heddle).stderr(Stdio::inherit());
    let output = command.output().context("cannot run pytest")?;
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    let mut counts = text.lines().rev().find_map(counts).unwrap_or_default();
    let bad = |l: &&str| ["FAILED ", "ERROR "].iter().any(|b| l.starts_with(b));
    counts.failures = text.lines().filter(bad).map(|l| format!("FAIL: {l}")).collect();
    counts.unstable = text.lines().filter(|l| l.starts_with("RERUN ")).map(|l| format!("UNSTABLE: {l}")).collect();
    if !output.status.success() && counts.failed == 0 {
        bail!("pytest failed before it could count its tests ({})", output.status);
    }
    Ok(counts)
}

/// Reads pytest's last line: `1 failed, 220 passed, 2 skipped in 100.00s`.
fn counts(line: &str) -> Option<Counts> {
    let (all, _) = line.trim_matches(['=', ' ']).rsplit_once(" in ")?;
    let mut counts = Counts::default();
    for part in all.split(", ") {
        let (number, what) = part.split_once(' ')?;
        let number: u64 = number.parse().ok()?;
        match what {
            "passed" => counts.passed += number,
            "failed" | "error" | "errors" => counts.failed += number,
            "skipped" => counts.skipped += number,
            _ => {}
        }
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pytest_is_understood() {
        let read = |line| counts(line).map(|c| (c.passed, c.failed, c.skipped));
        assert_eq!(read("220 passed in 100.00s (0:01:40)"), Some((220, 0, 0)));
        assert_eq!(read("== 1 failed, 2 passed, 3 skipped, 1 warning, 1 error in 0.1s =="), Some((2, 2, 3)));
        assert_eq!(read("tests/test_kernels.py: something in between"), None);
        assert_eq!(read(""), None);
    }
}
