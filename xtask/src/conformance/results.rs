//! Results of test suites: what a run gave, what is kept of it in a file, and how the two differ.
//!
//! Thousands of tests pass, so of these only the count of each group is kept; every test that does
//! not pass is kept by name, with the reason.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

/// How a test ended, from good to bad.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// As it should.
    Pass,
    /// It did not apply, as it said itself.
    Skip,
    /// It found something wrong.
    Fail,
    /// It did not end in time.
    Timeout,
    /// Its process was ended by a signal.
    Crash,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Outcome::Pass => "pass",
            Outcome::Skip => "skip",
            Outcome::Fail => "fail",
            Outcome::Timeout => "timeout",
            Outcome::Crash => "crash",
        })
    }
}

/// What a run of a suite gave.
pub struct Run {
    /// The suite's version.
    pub version: String,
    /// Its tests by name: the group, and how it ended.
    pub tests: BTreeMap<String, (String, Outcome)>,
}

/// A test that does not pass.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Exception {
    /// How it ends instead.
    pub result: Outcome,
    /// Why.
    pub reason: String,
}

/// What is kept of a suite.
#[derive(Clone, Default, PartialEq, Debug, Deserialize)]
pub struct Kept {
    /// The suite's version.
    pub version: String,
    /// How many tests of each group pass.
    pub passed: BTreeMap<String, usize>,
    /// All others, by name.
    #[serde(default)]
    pub others: BTreeMap<String, Exception>,
}

/// What is kept of an implementation: a file of `tests/conformance`.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct File {
    /// The implementation's name.
    pub implementation: String,
    /// The suites by name.
    #[serde(flatten)]
    pub suites: BTreeMap<String, Kept>,
}

/// How a run differs from what is kept.
#[derive(Default, PartialEq, Debug)]
pub struct Difference {
    /// What is worse, in sentences.
    pub worse: Vec<String>,
    /// What is better or only other.
    pub other: Vec<String>,
}

impl Run {
    /// How many tests ended so.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.tests.values().filter(|(_, o)| *o == outcome).count()
    }

    /// What is to be kept. The reasons are those of what was kept before; new ones are empty, to be
    /// written by hand.
    pub fn keep(&self, before: Option<&Kept>) -> Kept {
        let mut kept = Kept { version: self.version.clone(), ..Kept::default() };
        for (name, (group, outcome)) in &self.tests {
            if *outcome == Outcome::Pass {
                *kept.passed.entry(group.clone()).or_default() += 1;
                continue;
            }
            let known = before.and_then(|b| b.others.get(name));
            let reason = known.map_or(String::new(), |e| e.reason.clone());
            kept.others.insert(name.clone(), Exception { result: *outcome, reason });
        }
        kept
    }

    /// What changed against what is kept.
    pub fn compare(&self, kept: &Kept) -> Difference {
        let mut difference = Difference::default();
        for (name, (_, found)) in &self.tests {
            let expected = kept.others.get(name).map_or(Outcome::Pass, |e| e.result);
            let line = format!("{name}: {found}, and {expected} is expected");
            match found.cmp(&expected) {
                std::cmp::Ordering::Greater => difference.worse.push(line),
                std::cmp::Ordering::Less => difference.other.push(line),
                std::cmp::Ordering::Equal => {}
            }
        }
        for name in kept.others.keys().filter(|name| !self.tests.contains_key(*name)) {
            difference.other.push(format!("{name}: there is no such test any more"));
        }
        // Tests that pass have no names in the file: fewer results in a group show that some are gone.
        let results = |group: &String| self.tests.values().filter(|(g, _)| g == group).count();
        for (group, passed) in &kept.passed {
            if results(group) < *passed {
                difference.worse.push(format!("{group}: {} results, and {passed} passed before", results(group)));
            }
        }
        difference
    }
}

impl File {
    /// Reads a file of results.
    pub fn read(path: &Path) -> Result<File> {
        let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        toml::from_str(&text).with_context(|| path.display().to_string())
    }
}

impl fmt::Display for File {
    /// As TOML, with an exception a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| toml::Value::from(text).to_string();
        writeln!(f, "# Results of conformance tests, for `cargo xtask conformance`, which also writes this file (`--write`).")?;
        writeln!(f, "# Only the reasons are written by hand. A test that is not named passes.\n")?;
        writeln!(f, "implementation = {}", quoted(&self.implementation))?;
        for (name, kept) in &self.suites {
            writeln!(f, "\n[{name}]\nversion = {}\n\n[{name}.passed]", quoted(&kept.version))?;
            for (group, count) in &kept.passed {
                writeln!(f, "{} = {count}", quoted(group))?;
            }
            writeln!(f, "\n[{name}.others]")?;
            for (test, Exception { result, reason }) in &kept.others {
                writeln!(f, "{} = {{ result = \"{result}\", reason = {} }}", quoted(test), quoted(reason))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn run(tests: &[(&str, &str, Outcome)]) -> Run {
        let tests = tests.iter().map(|(name, group, o)| ((*name).into(), ((*group).into(), *o))).collect();
        Run { version: "1".into(), tests }
    }

    #[test]
    fn what_is_kept_is_read_again() {
        let run = run(&[
            ("a@one", "a", Outcome::Pass),
            ("a@two", "a", Outcome::Pass),
            ("b@with \"quotes\"", "b", Outcome::Fail),
            ("b@slow", "b", Outcome::Timeout),
        ]);
        let mut kept = run.keep(None);
        assert_eq!(kept.passed, BTreeMap::from([("a".to_string(), 2)]));
        kept.others.get_mut("b@slow").expect("kept").reason = "it is slow".into();
        let kept = super::Run::keep(&run, Some(&kept));
        assert_eq!(kept.others["b@slow"], Exception { result: Outcome::Timeout, reason: "it is slow".into() });
        let file = File { implementation: "X \\ Y".into(), suites: BTreeMap::from([("s".into(), kept)]) };
        assert_eq!(toml::from_str::<File>(&file.to_string()).expect("TOML"), file);
    }

    #[test]
    fn only_what_is_worse_is_a_regression() {
        let before = run(&[
            ("a@one", "a", Outcome::Pass),
            ("a@two", "a", Outcome::Pass),
            ("a@skips", "a", Outcome::Skip),
            ("a@fails", "a", Outcome::Fail),
            ("b@gone", "b", Outcome::Fail),
        ]);
        let kept = before.keep(None);
        assert_eq!(before.compare(&kept), Difference::default());
        let now = run(&[
            ("a@one", "a", Outcome::Pass),
            ("a@two", "a", Outcome::Skip),
            ("a@skips", "a", Outcome::Crash),
            ("a@fails", "a", Outcome::Pass),
        ]);
        let difference = now.compare(&kept);
        assert_eq!(difference.worse, ["a@skips: crash, and skip is expected", "a@two: skip, and pass is expected"]);
        assert_eq!(difference.other, ["a@fails: pass, and fail is expected", "b@gone: there is no such test any more"]);
    }

    #[test]
    fn tests_that_vanish_are_a_regression() {
        let kept = run(&[("a@one", "a", Outcome::Pass), ("a@two", "a", Outcome::Pass)]).keep(None);
        let difference = run(&[("a@one", "a", Outcome::Pass)]).compare(&kept);
        assert_eq!(difference.worse, ["a: 1 results, and 2 passed before"]);
    }
}
