//! Benchmarks: what each measures, how they are run, and where their tables go.
//!
//! A benchmark is a row of [`BENCHES`]. It fills a [`Report`] with figures, values of kernels and
//! tables, and tells it what it could not compare. `--json` writes `{"bench": NAME, "figures":
//! {"dotted.name": number}, "kernels": {…}, …}`; `--write` puts the tables into
//! `docs/BENCHMARKS.md`. The small form (`--smoke`) is the same code on one kernel; `cargo xtask
//! test` runs it.

mod address;
mod cache;
mod cause;
mod compile;
mod document;
mod energy;
mod kernels;
mod opencl;
mod regfile;
mod rename;
mod report;
mod sampling;
mod scalar;
mod sim;
mod spirv;
mod techniques;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};

use crate::parallel::{Progress, in_parallel};
use crate::shell;
use report::{NotCompared, Report};

/// A benchmark.
pub struct Bench {
    /// Its name on the command line and in `docs/BENCHMARKS.md`.
    pub name: &'static str,
    /// What it measures, in a line.
    pub measures: &'static str,
    run: fn(&Setup, &mut Report) -> Result<()>,
}

/// All benchmarks, in the order of the document. Help, `all`, the tests and the document's regions
/// follow from this list.
pub const BENCHES: &[Bench] = &[
    Bench { name: "sim", measures: "speed of the simulator, beside Oclgrind and PoCL", run: sim::run },
    Bench { name: "sampling", measures: "error, interval and speed of sampled launches", run: sampling::run },
    Bench { name: "compile", measures: "compile time, beside clang and llc's AMDGPU back end", run: compile::run },
    Bench { name: "scalar", measures: "redundant work that the scalar unit takes over", run: scalar::run },
    Bench { name: "regfile", measures: "energy and cycles with local register files", run: regfile::run },
    Bench { name: "rename", measures: "cycles where registers are scarce, with and without renaming", run: rename::run },
    Bench { name: "address", measures: "work that the address-generation unit saves", run: address::run },
    Bench { name: "cache", measures: "cache policies of the analysis against fixed ones", run: cache::run },
    Bench { name: "techniques", measures: "each technique off in turn: who gains, who loses, and why", run: techniques::run },
    Bench { name: "energy", measures: "which gains survive uncertain constants of energy", run: energy::run },
    Bench { name: "spirv", measures: "how many test kernels do the same as SPIR-V", run: spirv::run },
    Bench { name: "opencl", measures: "what the OpenCL driver adds to a launch and a copy, beside PoCL", run: opencl::run },
];

/// Options of `cargo xtask bench`.
#[derive(Args)]
#[command(after_help = "What a comparison needs is installed by `cargo xtask setup --peers`; without it a \
                  benchmark measures the rest and says at the end what was not compared. \
                  HEDDLE_BIN=PATH measures that binary instead of building this tree's.\n\n\
                  The exit code is 1 if a benchmark failed, 2 for a name that there is not.")]
pub struct Options {
    /// Which one, or all of them.
    #[arg(value_parser = names())]
    name: String,
    /// The small form: one kernel, seconds. Says whether the benchmark works; its figures mean
    /// nothing.
    #[arg(long)]
    smoke: bool,
    /// Only every Nth test kernel and workload, to see sooner what a change does.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    every: u16,
    /// Put the tables into docs/BENCHMARKS.md, with commit, date and machine. Nothing else should
    /// run meanwhile.
    #[arg(long, conflicts_with_all = ["smoke", "every"])]
    write: bool,
    /// Where the figures go, as JSON (of `all`: an array).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn names() -> PossibleValuesParser {
    let all = PossibleValue::new("all").help("all of them, one after the other");
    PossibleValuesParser::new(BENCHES.iter().map(|b| PossibleValue::new(b.name).help(b.measures)).chain([all]))
}

/// What a benchmark runs with.
pub struct Setup {
    /// The binary that is measured.
    heddle: PathBuf,
    /// Whether it runs in its small form.
    smoke: bool,
    /// Of the test kernels and workloads, every how many are measured.
    every: usize,
}

impl Options {
    /// Runs. False if a benchmark failed.
    pub fn run(&self) -> Result<bool> {
        if self.write && std::env::var_os("HEDDLE_BIN").is_some() {
            let message = "--write states the commit of this tree, and HEDDLE_BIN measures something else\n";
            clap::Error::raw(clap::error::ErrorKind::ArgumentConflict, message).exit();
        }
        // Named before the build: what is measured is what stood there when it began.
        let place = if self.write { Some(document::Place::here()?) } else { None };
        let setup = Setup { heddle: shell::build()?, smoke: self.smoke, every: self.every.into() };
        let chosen: Vec<&Bench> = BENCHES.iter().filter(|b| self.name == "all" || b.name == self.name).collect();
        let (mut reports, mut failed) = (Vec::new(), Vec::new());
        for (i, bench) in chosen.iter().enumerate() {
            eprintln!("bench {} ({} of {}): {}", bench.name, i + 1, chosen.len(), bench.measures);
            let started = Instant::now();
            match bench.measure(&setup) {
                Ok(report) => {
                    if self.smoke {
                        println!("bench {}: works, {:.1} s", bench.name, started.elapsed().as_secs_f64());
                    } else {
                        println!("{report}");
                    }
                    if let Some(place) = &place {
                        document::write(&report, place)?;
                    }
                    reports.push(report);
                }
                Err(e) => {
                    eprintln!("bench {} failed: {e:#}", bench.name);
                    failed.push(bench.name);
                }
            }
        }
        self.write_json(&reports)?;
        if let Some(paragraph) = NotCompared::paragraph(reports.iter().flat_map(|r| &r.not_compared)) {
            println!("{paragraph}\n");
        }
        if chosen.len() > 1 || !failed.is_empty() {
            let names = if failed.is_empty() { String::new() } else { format!(": {}", failed.join(", ")) };
            println!("{} benchmarks ran, {} failed{names}", chosen.len() - failed.len(), failed.len());
        }
        Ok(failed.is_empty())
    }

    fn write_json(&self, reports: &[Report]) -> Result<()> {
        let Some(path) = &self.json else { return Ok(()) };
        let text = match reports {
            [one] if self.name != "all" => serde_json::to_string_pretty(one)?,
            all => serde_json::to_string_pretty(all)?,
        };
        std::fs::write(path, text + "\n").with_context(|| format!("writing {}", path.display()))
    }
}

impl Bench {
    /// Runs and checks that what came out is a measurement.
    fn measure(&self, setup: &Setup) -> Result<Report> {
        let mut report = Report::new(self.name);
        (self.run)(setup, &mut report)?;
        report.check()?;
        Ok(report)
    }
}

/// Runs the small form of a benchmark; returns what was not compared.
pub fn smoke(bench: &Bench, heddle: &Path) -> Result<Vec<NotCompared>> {
    bench.measure(&Setup { heddle: heddle.to_path_buf(), smoke: true, every: 1 }).map(|r| r.not_compared)
}

/// The paragraph that ends a run whose comparisons lack something.
pub fn not_compared(list: &[NotCompared]) -> Option<String> {
    NotCompared::paragraph(list)
}

impl Setup {
    /// How often something is measured: once in the small form.
    fn times(&self, full: usize) -> usize {
        if self.smoke { 1 } else { full }
    }

    /// Applies `work` to all items, one per core at a time. Simulated figures do not depend on the
    /// host's load.
    fn in_parallel<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>> {
        in_parallel(items, work)
    }
}

/// The median; 0 of nothing.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

/// The geometric mean; 1 of nothing.
fn geomean(values: &[f64]) -> f64 {
    (values.iter().map(|v| v.ln()).sum::<f64>() / values.len().max(1) as f64).exp()
}

/// The largest; 0 of nothing.
fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
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
    fn an_unknown_name_lists_the_benchmarks_and_is_bad_usage() {
        let Err(error) = Line::try_parse_from(["bench", "speed"]) else { panic!("there is no benchmark `speed`") };
        assert_eq!(error.exit_code(), 2);
        let text = error.to_string();
        assert!(BENCHES.iter().all(|b| text.contains(b.name)), "{text}");
    }

    #[test]
    fn tables_are_not_written_from_a_part() {
        for part in [&["--smoke"][..], &["--every", "3"]] {
            let line = ["bench", "all", "--write"].iter().chain(part);
            let Err(error) = Line::try_parse_from(line) else { panic!("{part:?} and --write exclude each other") };
            assert_eq!(error.exit_code(), 2);
        }
    }

    #[test]
    fn help_says_what_each_benchmark_measures() {
        use clap::CommandFactory;
        let help = Line::command().render_long_help().to_string();
        for bench in BENCHES {
            assert!(help.contains(bench.name) && help.contains(bench.measures), "{} is not in the help:\n{help}", bench.name);
        }
    }

    #[test]
    fn means() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!((geomean(&[1.0, 4.0]) - 2.0).abs() < 1e-12);
        assert_eq!(largest(&[0.5, 2.0, 1.0]), 2.0);
    }
}
