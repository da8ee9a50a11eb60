//! `heddle compare`.

use std::path::PathBuf;

use clap::Args;

use super::{Failure, Outcome, write_output};
use heddle::explore::compare::{Limit, check, compare, read, text};
use heddle::explore::page::compare::page;

/// Compare two runs: every counter, ratios of the second to the first, geometric means over the kernels.
///
/// Each file is the statistics of a run (`heddle run CASE --json FILE`) or the results of a sweep
/// (results.jsonl). Kernels (points of a sweep) are matched by name; what only one run has is told.
///
///   heddle run case.json --json a.json
///   heddle run case.json --regfile=single --json b.json
///   heddle compare a.json b.json
///   heddle compare a.json b.json --all --html comparison.html
///   heddle compare before.json after.json --fail-if 'cycles>1.02' --fail-if 'occupancy<0.98'
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Compare {
    /// The first run: what ratios are to.
    #[arg(value_name = "A")]
    a: PathBuf,
    /// The second run.
    #[arg(value_name = "B")]
    b: PathBuf,
    /// All counters that are not 0 in both runs, not only those that one looks at first.
    #[arg(long)]
    all: bool,
    /// Fail (exit status 1) if the ratio of a counter's total is beyond a bound: cycles>1.02, occupancy<0.9.
    /// For sweeps the geometric mean counts. May be repeated.
    #[arg(long, value_name = "COUNTER>RATIO")]
    fail_if: Vec<Limit>,
    /// The same for each kernel, or point, by itself.
    #[arg(long, value_name = "COUNTER>RATIO")]
    fail_if_any: Vec<Limit>,
    /// Write a page.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the comparison as JSON (`-`: standard output, instead of the table).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Compare {
    /// Runs the subcommand.
    pub fn run(self) -> Outcome {
        let (a, b) = (read(&self.a)?, read(&self.b)?);
        let comparison = compare(&a, &b, self.all);
        if let Some(path) = &self.json {
            let json = serde_json::to_string_pretty(&comparison).map_err(Failure::check)?;
            write_output(Some(path), (json + "\n").as_bytes())?;
        }
        if self.json.as_ref().is_none_or(|p| p.as_os_str() != "-") {
            write_output(None, text(&comparison).as_bytes())?;
        }
        if let Some(path) = &self.html {
            write_output(Some(path), page(&comparison).as_bytes())?;
        }
        let broken = check(&a, &b, &self.fail_if, &self.fail_if_any)?;
        if broken.is_empty() { Ok(()) } else { Err(Failure::check(broken.join("\n"))) }
    }
}
