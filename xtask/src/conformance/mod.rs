//! `cargo xtask conformance`: other people's tests of OpenCL, run on Heddle's driver and compared with the
//! results that are kept in `tests/conformance`.
//!
//! A suite is a row of [`SUITES`]. Its tests run in processes of their own, one per core at a time, each
//! for [`TIMEOUT`] at most. A test that ends worse than `tests/conformance/heddle.toml` says is a
//! regression. `--write` takes over what was found, and writes the tables of `docs/CONFORMANCE.md`,
//! with the results of another implementation (`tests/conformance/reference.toml`) beside them.

mod document;
mod piglit;
mod pyopencl;
mod results;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};

use crate::shell;
use results::{File, Kept, Outcome, Run};

/// How long a test may take.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A suite of tests.
pub struct Suite {
    /// Its name on the command line and in the files of results.
    pub name: &'static str,
    /// What it is, in a line.
    pub is: &'static str,
    /// What is missing to run it.
    missing: fn() -> Option<String>,
    run: fn(&Setup) -> Result<Run>,
}

/// All suites, in the order of the document.
pub const SUITES: &[Suite] = &[
    Suite { name: "piglit", is: "the `cl` profile of piglit", missing: piglit::missing, run: piglit::run },
    Suite { name: "pyopencl", is: "pyopencl's own tests", missing: pyopencl::missing, run: pyopencl::run },
];

/// Options of the task.
#[derive(Args)]
#[command(after_help = "The exit code is 1 if a test ended worse than is kept, or if no suite could run. Debian's \
                        packages piglit, python3-pyopencl, python3-pytest, python3-scipy and python3-pip have what the suites need; \
                        pyopencl's sources are downloaded once.")]
pub struct Options {
    /// Only this suite.
    #[arg(long, value_name = "SUITE", value_parser = names())]
    only: Option<String>,
    /// Another driver instead of Heddle's: its library, or its `.icd` file. Nothing is compared.
    #[arg(long, value_name = "FILE")]
    icd: Option<PathBuf>,
    /// Keep what --icd's driver gives as the other implementation of the document, by this name.
    #[arg(long, value_name = "NAME", requires = "icd")]
    reference: Option<String>,
    /// Keep the results, and write the tables of docs/CONFORMANCE.md.
    #[arg(long, conflicts_with = "icd")]
    write: bool,
    /// Show what tests print that do not pass (pyopencl; piglit's are in target/conformance/piglit).
    #[arg(long)]
    verbose: bool,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(SUITES.iter().map(|s| PossibleValue::new(s.name).help(s.is)))
}

/// What a suite runs with.
pub struct Setup {
    /// Where suites keep sources and results.
    folder: PathBuf,
    /// The folder of the loader's vendors files: there is one. Of this process alone, so that two may
    /// run at a time.
    vendors: tempfile::TempDir,
    /// Whether what failing tests print is shown.
    verbose: bool,
}

impl Setup {
    /// A program that is to see one driver only.
    fn offer<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env("OCL_ICD_VENDORS", self.vendors.path()).env_remove("OCL_ICD_FILENAMES")
    }

    fn new(icd: Option<&Path>, verbose: bool) -> Result<Setup> {
        let folder = shell::root().join("target/conformance");
        std::fs::create_dir_all(&folder)?;
        let vendors = tempfile::tempdir()?;
        let library = match icd {
            None => shell::build_driver()?.display().to_string(),
            Some(path) if path.extension().is_some_and(|e| e == "icd") => {
                std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?
            }
            Some(path) => {
                ensure!(path.is_file(), "there is no driver {}", path.display());
                std::path::absolute(path)?.display().to_string()
            }
        };
        std::fs::write(vendors.path().join("driver.icd"), library.trim().to_string() + "\n")?;
        Ok(Setup { folder, vendors, verbose })
    }
}

impl Options {
    /// Runs. False if something is worse than what is kept.
    pub fn run(&self) -> Result<bool> {
        let setup = Setup::new(self.icd.as_deref(), self.verbose)?;
        let chosen = SUITES.iter().filter(|s| self.only.as_ref().is_none_or(|o| s.name == o));
        let (mut ran, mut good) = (Vec::new(), true);
        for suite in chosen {
            if let Some(missing) = (suite.missing)() {
                let message = format!("{}: {missing}; `cargo xtask conformance --help` names the packages", suite.name);
                ensure!(self.only.is_none(), "{message}");
                println!("SKIPPED {message}");
                continue;
            }
            eprintln!("{}: {}", suite.name, suite.is);
            let started = Instant::now();
            let run = (suite.run)(&setup).with_context(|| suite.name)?;
            println!("{}", summary(suite.name, &run, started.elapsed()));
            if self.icd.is_none() {
                good &= self.compare(suite.name, &run)?;
            } else if self.reference.is_none() {
                for (name, (_, outcome)) in run.tests.iter().filter(|(_, (_, o))| *o != Outcome::Pass) {
                    println!("  {name}: {outcome}");
                }
            }
            ran.push((suite.name, run));
        }
        if ran.is_empty() {
            bail!("no suite could run");
        }
        if let Some(name) = &self.reference {
            keep(&document::reference_path(), name, &ran)?;
        }
        if self.write {
            keep(&document::heddle_path(), "Heddle", &ran)?;
        }
        if self.write || self.reference.is_some() {
            document::write()?;
        }
        Ok(good || self.write)
    }

    /// Says how a run differs from what is kept; false if it is worse.
    fn compare(&self, suite: &str, run: &Run) -> Result<bool> {
        let path = document::heddle_path();
        let kept = if path.exists() { File::read(&path)?.suites.remove(suite) } else { None };
        let Some(kept) = kept else {
            println!("  nothing is kept of {suite} to compare with; --write keeps this");
            return Ok(true);
        };
        if kept.version != run.version {
            println!("  what is kept is of version {}, and this is {}", kept.version, run.version);
        }
        let difference = run.compare(&kept);
        for line in &difference.worse {
            println!("  REGRESSION {line}");
        }
        for line in &difference.other {
            println!("  {line}");
        }
        match (difference.worse.len(), difference.other.len()) {
            (0, 0) => println!("  as kept"),
            (worse, other) => println!("  {worse} worse than kept, {other} better or other; --write keeps this"),
        }
        Ok(difference.worse.is_empty())
    }
}

/// A line with the counts of a run.
fn summary(name: &str, run: &Run, time: Duration) -> String {
    let counts = [Outcome::Pass, Outcome::Skip, Outcome::Fail, Outcome::Timeout, Outcome::Crash];
    let counts = counts.iter().map(|o| (o, run.count(*o))).filter(|(o, n)| **o <= Outcome::Fail || *n > 0);
    let counts: Vec<String> = counts.map(|(o, n)| format!("{n} {o}")).collect();
    format!("{name} {}: {} results, {}, {:.0} s", run.version, run.tests.len(), counts.join(", "), time.as_secs_f64())
}

/// Puts runs into a file of results; suites that did not run stay as they are.
fn keep(path: &Path, implementation: &str, runs: &[(&str, Run)]) -> Result<()> {
    let mut file =
        if path.exists() { File::read(path)? } else { File { implementation: String::new(), suites: Default::default() } };
    if file.implementation != implementation {
        file = File { implementation: implementation.into(), suites: Default::default() };
    }
    for (name, run) in runs {
        let kept: Kept = run.keep(file.suites.get(*name));
        let without = kept.others.iter().filter(|(_, e)| e.reason.is_empty()).count();
        if without > 0 {
            println!("{without} exceptions of {name} have no reason yet: {}", path.display());
        }
        file.suites.insert((*name).to_string(), kept);
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, file.to_string()).with_context(|| format!("writing {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn an_unknown_suite_lists_those_that_there_are() {
        let Err(error) = Line::try_parse_from(["conformance", "--only", "cts"]) else { panic!("there is no suite cts") };
        let text = error.to_string();
        assert_eq!(error.exit_code(), 2);
        assert!(SUITES.iter().all(|s| text.contains(s.name)), "{text}");
    }

    #[test]
    fn results_of_another_driver_are_not_kept_as_heddles() {
        assert!(Line::try_parse_from(["conformance", "--icd", "x", "--write"]).is_err());
        assert!(Line::try_parse_from(["conformance", "--reference", "PoCL"]).is_err());
    }

    #[test]
    fn the_summary_has_the_counts() {
        let run = results::tests::run(&[("a@x", "a", Outcome::Pass), ("a@y", "a", Outcome::Crash)]);
        assert_eq!(summary("a", &run, Duration::from_secs(7)), "a 1: 2 results, 1 pass, 0 skip, 0 fail, 1 crash, 7 s");
    }

    #[test]
    fn suites_that_did_not_run_are_kept_as_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("results/x.toml");
        let run = || results::tests::run(&[("a@x", "a", Outcome::Fail)]);
        keep(&path, "X", &[("one", run()), ("two", run())]).expect("a file");
        keep(&path, "X", &[("two", results::tests::run(&[("b@x", "b", Outcome::Pass)]))]).expect("a file");
        let file = File::read(&path).expect("a file");
        assert_eq!(file.suites["one"], run().keep(None));
        assert_eq!(file.suites["two"].passed["b"], 1);
    }
}
