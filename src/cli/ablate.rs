//! `heddle ablate`.

use std::path::PathBuf;

use clap::Args;

use super::{Failure, MachineArgs, Outcome, write_output};
use heddle::explore::page::ablate::page;
use heddle::explore::{ablate, identity};

/// Run cases with all techniques on, each one off in turn, and all off; check that all give the same bytes.
///
/// The table has cycles, energy, register-file energy, bytes of device memory, instructions and
/// occupancy, with ratios to all on, and over several cases their geometric means. Exit status 1 if
/// a run fails or bytes differ (floating-point buffers may differ within their expectation's
/// tolerance).
///
///   heddle ablate test-kernels/sgemm_tiled/case.json
///   heddle ablate test-kernels/*/case.json --html techniques.html
///   heddle ablate case.json --set warp-size=64
///   heddle ablate case.json --runs 6                # which differences are more than chance?
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Ablate {
    /// Case files.
    #[arg(value_name = "CASE", required = true)]
    cases: Vec<PathBuf>,
    #[command(flatten)]
    machine: MachineArgs,
    /// Runs of each setup. More than one have small random delays of work-groups and of device memory (of up to 16
    /// cycles, or perturbation.cycles), each from another seed; then values are means, and ratios come with half of their
    /// 95 % interval (±): a difference within it may be chance
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// Runs at the same time; 0: as many as there are cores.
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    /// Write the tables as JSON (`-`: standard output, instead of the text).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a page.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl Ablate {
    /// Runs the subcommand.
    pub fn run(self) -> Outcome {
        let machine = super::load_machine(&self.machine)?;
        let mut cases = Vec::new();
        for path in &self.cases {
            cases.push(identity::load_case(path, path.display().to_string())?);
        }
        let plan = ablate::Plan { machine: &machine, runs: self.runs, threads: self.threads, interrupt: None };
        let ablation = ablate::run(&cases, &plan)?;
        if let Some(path) = &self.json {
            let json = serde_json::to_string_pretty(&ablation).map_err(Failure::check)?;
            write_output(Some(path), (json + "\n").as_bytes())?;
        }
        if self.json.as_ref().is_none_or(|p| p.as_os_str() != "-") {
            write_output(None, ablation.text().as_bytes())?;
        }
        if let Some(path) = &self.html {
            write_output(Some(path), page(&ablation, &machine.name).as_bytes())?;
        }
        let failures = ablation.failures();
        if failures.is_empty() { Ok(()) } else { Err(Failure::check(failures.join("\n"))) }
    }
}
