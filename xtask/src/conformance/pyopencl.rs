//! pyopencl's own tests: the release's sources are downloaded, and pytest runs each test in a process of
//! its own, so that a crash ends no other test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::results::{Outcome, Run};
use super::{Setup, TIMEOUT};
use crate::parallel::in_parallel;
use crate::shell::{Ended, find, python, within};

/// Modules that the tests need.
const MODULES: [&str; 5] = ["numpy", "scipy", "pyopencl", "pytools", "pytest"];

/// What is missing to run it, if anything is.
pub fn missing() -> Option<String> {
    python(&MODULES).is_none().then(|| format!("no python3 has {}", MODULES.join(", ")))
}

/// Runs all tests.
pub fn run(setup: &Setup) -> Result<Run> {
    let python = python(&MODULES).context("no python3 has pyopencl and pytest")?;
    let version = said_by(Command::new(&python).args(["-c", "import pyopencl; print(pyopencl.VERSION_TEXT)"]))?;
    let sources = sources(&setup.folder, &python, version.trim())?;
    let cache = tempfile::tempdir()?;
    let pytest = |arguments: &[&str]| {
        let mut command = Command::new(&python);
        command.args(["-m", "pytest", "-p", "no:cacheprovider", "-q"]).args(arguments).current_dir(sources.join("test"));
        // What pyopencl and drivers keep on disk between runs is not to be tested.
        setup.offer(&mut command).env("XDG_CACHE_HOME", cache.path()).stdin(Stdio::null());
        command
    };
    let listed = said_by(&mut pytest(&["--collect-only"]))?;
    // pytest names them from the folder of its settings; it is run where the tests are, or they would import
    // the sources of pyopencl instead of what is installed.
    let ids: Vec<&str> = listed.lines().filter(|l| l.contains("::")).map(|l| l.strip_prefix("test/").unwrap_or(l)).collect();
    ensure!(!ids.is_empty(), "pytest found no tests of pyopencl:\n{listed}");
    let outcomes = in_parallel(&ids, |id| {
        let ended = within(&mut pytest(&["-rs", id]), TIMEOUT)?;
        let outcome = outcome(&ended);
        if setup.verbose && outcome != Outcome::Pass {
            eprintln!("{id}: {outcome}\n{}", ended.text);
        }
        Ok(outcome)
    })?;
    let tests: BTreeMap<_, _> = ids.iter().zip(outcomes).map(|(id, outcome)| (name(id), (group(id), outcome))).collect();
    ensure!(tests.len() == ids.len(), "two tests of pyopencl have one name");
    Ok(Run { version: version.trim().into(), tests })
}

/// What a command prints; its failure is an error.
fn said_by(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {:?}", command.get_program()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(output.status.success(), "{command:?}: {}\n{text}{}", output.status, String::from_utf8_lossy(&output.stderr));
    Ok(text)
}

/// The folder of the release's sources, downloaded unless they are there.
fn sources(folder: &Path, python: &Path, version: &str) -> Result<PathBuf> {
    let name = format!("pyopencl-{version}");
    let sources = folder.join(&name);
    if sources.join("test").is_dir() {
        return Ok(sources);
    }
    let advice =
        format!("the sources of pyopencl {version} cannot be downloaded; that needs a network, tar, and pip for {python:?}");
    ensure!(find("tar").is_some(), "{advice}");
    eprintln!("downloading the sources of pyopencl {version}");
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "pyopencl", "--dest"]).arg(folder);
    said_by(pip.arg(format!("pyopencl=={version}")).stdin(Stdio::null())).with_context(|| advice.clone())?;
    said_by(Command::new("tar").arg("-xzf").arg(folder.join(format!("{name}.tar.gz"))).arg("-C").arg(folder)).context(advice)?;
    ensure!(sources.join("test").is_dir(), "the sources of pyopencl {version} have no tests");
    Ok(sources)
}

/// How pytest says that its one test ended: by its code, and by a summary such as
/// `1 skipped, 2 warnings in 74.69s (0:01:14)`.
fn outcome(ended: &Ended) -> Outcome {
    let summary = ended.text.lines().rev().find(|l| l.contains(" in ")).unwrap_or_default();
    match ended.code {
        None if ended.timed_out => Outcome::Timeout,
        None => Outcome::Crash,
        Some(0) if summary.contains("1 passed") => Outcome::Pass,
        Some(0) if summary.contains("1 skipped") || summary.contains("1 xfailed") => Outcome::Skip,
        Some(_) => Outcome::Fail,
    }
}

/// pytest's name of a test without the device, which is another one elsewhere.
fn name(id: &str) -> String {
    let (Some(start), Some(end)) = (id.find("<context factory"), id.find(">>")) else { return id.into() };
    // Parameters are joined by `-`, and some begin with one: only that of the device goes.
    let (before, after) = (&id[..start], &id[end + 2..]);
    match (before.strip_suffix('-'), after.strip_prefix('-')) {
        (_, Some(after)) => format!("{before}{after}"),
        (Some(before), None) => format!("{before}{after}"),
        (None, None) => before.trim_end_matches('[').into(),
    }
}

/// The file of a test.
fn group(id: &str) -> String {
    id.split("::").next().unwrap_or(id).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_device() {
        let device = "<context factory for <pyopencl.Device 'a [b]' on 'c'>>";
        assert_eq!(name(&format!("test_a.py::test_x[{device}]")), "test_a.py::test_x");
        assert_eq!(name(&format!("test_a.py::test_x[{device}-int32]")), "test_a.py::test_x[int32]");
        assert_eq!(name(&format!("test_a.py::test_x[1-{device}]")), "test_a.py::test_x[1]");
        assert_eq!(name(&format!("test_a.py::test_x[1-{device}-2]")), "test_a.py::test_x[1-2]");
        assert_eq!(name(&format!("test_a.py::test_x[{device}--inf]")), "test_a.py::test_x[-inf]");
        assert_eq!(name("test_a.py::test_y"), "test_a.py::test_y");
        assert_eq!(group("test_a.py::test_y[a/b]"), "test_a.py");
    }

    #[test]
    fn the_summary_says_how_a_test_ended() {
        let ended = |code: Option<i32>, timed_out: bool, text: &str| Ended { code, timed_out, text: text.into() };
        let of = |code, text: &str| outcome(&ended(code, false, text));
        assert_eq!(of(Some(0), ".\n1 passed in 0.27s\n"), Outcome::Pass);
        assert_eq!(of(Some(0), ".\n1 passed, 3 warnings in 74.69s (0:01:14)\n"), Outcome::Pass);
        assert_eq!(of(Some(0), "s\nSKIPPED [1] x\n1 skipped, 2 warnings in 0.27s\n"), Outcome::Skip);
        assert_eq!(of(Some(1), "F\n1 failed in 0.27s\n"), Outcome::Fail);
        assert_eq!(of(Some(0), "nothing"), Outcome::Fail);
        assert_eq!(of(None, ""), Outcome::Crash);
        assert_eq!(outcome(&ended(None, true, "")), Outcome::Timeout);
    }
}
