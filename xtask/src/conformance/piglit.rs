//! piglit's `cl` profile: its runner starts the tests, and its file of results is read.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::results::{Outcome, Run};
use super::{Setup, TIMEOUT};
use crate::parallel::{Progress, cores};
use crate::shell::find;

/// What is missing to run it, if anything is.
pub fn missing() -> Option<String> {
    find("piglit").is_none().then(|| "there is no piglit".to_string())
}

/// Runs all tests.
pub fn run(setup: &Setup) -> Result<Run> {
    let folder = setup.folder.join("piglit");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    let mut command = Command::new("piglit");
    command.args(["run", "--all-concurrent", "--log-level", "dummy", "--jobs", &cores().to_string()]);
    command.args(["--timeout", &TIMEOUT.as_secs().to_string(), "cl"]).arg(&folder);
    // Uncompressed, to be read here.
    setup.offer(&mut command).env("PIGLIT_COMPRESSION", "none").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().context("cannot run piglit")?;
    let progress = Progress::open();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        // A file for each test that is done.
        progress.at(std::fs::read_dir(folder.join("tests")).into_iter().flatten().count());
        std::thread::sleep(std::time::Duration::from_millis(200));
    };
    let mut errors = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        std::io::Read::read_to_string(&mut stderr, &mut errors)?;
    }
    ensure!(status.success(), "piglit: {status}\n{errors}");
    let path = folder.join("results.json");
    let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    Ok(Run { version: version()?, tests: tests(&serde_json::from_str(&text)?)? })
}

/// piglit names no version of its own; the package does.
fn version() -> Result<String> {
    let output = Command::new("dpkg-query").args(["--show", "--showformat=${Version}", "piglit"]).output();
    let text = output.ok().filter(|o| o.status.success()).map(|o| String::from_utf8_lossy(&o.stdout).trim().to_string());
    Ok(text.unwrap_or_else(|| "unknown".into()))
}

/// The tests of a file of results. Where a test has parts, each counts, and the test itself does
/// not, as in piglit's own summary.
fn tests(results: &Value) -> Result<BTreeMap<String, (String, Outcome)>> {
    let all = results["tests"].as_object().context("piglit's results have no tests")?;
    let mut tests = BTreeMap::new();
    for (name, test) in all {
        let parts = test["subtests"].as_object().context("piglit's results have no subtests")?;
        let parts: Vec<_> = parts.iter().filter(|(part, _)| *part != "__type__").collect();
        let whole = &test["result"];
        // A test that crashes after some of its parts has not said how the rest ends.
        let ended = parts.is_empty() || matches!(whole.as_str(), Some("crash" | "timeout" | "incomplete"));
        if ended {
            tests.insert(name.clone(), (group(name), outcome(name, whole)?));
        }
        for (part, result) in parts {
            tests.insert(format!("{name} | {part}"), (group(name), outcome(name, result)?));
        }
    }
    Ok(tests)
}

fn outcome(name: &str, result: &Value) -> Result<Outcome> {
    Ok(match result.as_str().unwrap_or_default() {
        "pass" => Outcome::Pass,
        "skip" | "notrun" => Outcome::Skip,
        "fail" | "warn" | "dmesg-fail" | "dmesg-warn" => Outcome::Fail,
        "timeout" => Outcome::Timeout,
        "crash" | "incomplete" => Outcome::Crash,
        _ => bail!("piglit's result of {name} is {result}"),
    })
}

/// The folders of a test's name, three at most.
fn group(name: &str) -> String {
    let parts: Vec<&str> = name.split('@').collect();
    parts[..parts.len().saturating_sub(1).clamp(1, 3)].join("@")
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn parts_count_and_their_test_does_not() {
        let results = serde_json::json!({"tests": {
            "api@one": {"result": "pass", "subtests": {"__type__": "Subtests"}},
            "program@execute@builtin@x": {"result": "fail", "subtests": {"__type__": "Subtests", "1": "pass", "2": "fail"}},
            "program@execute@y": {"result": "crash", "subtests": {"1": "pass"}},
        }});
        let tests = tests(&results).expect("results");
        let shown: Vec<String> = tests.iter().map(|(n, (g, o))| format!("{n} [{g}] {o}")).collect();
        assert_eq!(
            shown,
            [
                "api@one [api] pass",
                "program@execute@builtin@x | 1 [program@execute@builtin] pass",
                "program@execute@builtin@x | 2 [program@execute@builtin] fail",
                "program@execute@y [program@execute] crash",
                "program@execute@y | 1 [program@execute] pass",
            ]
        );
        let unknown = serde_json::json!({"tests": {"a@b": {"result": "good", "subtests": {}}}});
        assert!(super::tests(&unknown).is_err());
    }
}
