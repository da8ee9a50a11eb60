//! `heddle fuzz`.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;

use super::{Failure, Outcome};
use crate::fuzz::{self, Finding, generate};

/// Compile and run random OpenCL C kernels in many ways and compare the results.
///
/// Each seed gives one program. What differs between two ways is shrunk and written as a case to the output folder; exit status 1.
///
///   heddle fuzz --seeds 0..1000
///   heddle fuzz --minutes 10 --out findings
///   heddle fuzz --seeds 42..43 --print
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Fuzz {
    /// Seeds: FIRST..END (END not included).
    #[arg(long, value_name = "FIRST..END", default_value = "0..100")]
    seeds: String,
    /// Stop after this time, finished or not.
    #[arg(long, value_name = "N")]
    minutes: Option<f64>,
    /// Where failing programs go.
    #[arg(long, value_name = "FOLDER", default_value = "fuzz-findings")]
    out: PathBuf,
    /// Write failing programs as they are, not shrunk.
    #[arg(long)]
    no_reduce: bool,
    /// Print the programs and do nothing else.
    #[arg(long)]
    print: bool,
}

impl Fuzz {
    /// Runs the subcommand.
    pub fn run(self) -> Outcome {
        let parse = |s: &str| s.trim().parse::<u64>().ok();
        let range = self.seeds.split_once("..").and_then(|(a, b)| Some(parse(a)?..parse(b)?));
        let Some(range) = range.filter(|r| !r.is_empty()) else {
            return Err(Failure::input(format!("--seeds {}: give FIRST..END, as 0..100", self.seeds)));
        };
        if self.print {
            let text: String = range.map(|s| generate::program(s).text()).collect();
            return super::write_output(None, text.as_bytes());
        }
        if let Some(m) = self.minutes.filter(|m| m.is_nan() || *m < 0.0) {
            return Err(Failure::input(format!("--minutes {m}: give a number of minutes from 0")));
        }
        let setups = fuzz::setups();
        // A time beyond what the clock can say never comes.
        let limit = self.minutes.and_then(|m| Duration::try_from_secs_f64(m * 60.0).ok());
        let end = limit.and_then(|l| Instant::now().checked_add(l));
        let total = range.end - range.start;
        let bar = if std::io::stderr().is_terminal() { ProgressBar::new(total) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("[{bar:40}] {pos}/{len} programs, {eta} left {msg}") {
            bar.set_style(style);
        }
        let findings: Mutex<Vec<(u64, Finding)>> = Mutex::new(Vec::new());
        let done = AtomicU64::new(0);
        let error: Mutex<Option<String>> = Mutex::new(None);
        // The last seed may lie below earlier ones when time runs out: rayon splits ranges, so blocks are handed out in order instead.
        let next = AtomicU64::new(range.start);
        (0..rayon::current_num_threads()).into_par_iter().for_each(|_| {
            let folder = match tempfile::tempdir() {
                Ok(f) => f,
                Err(e) => {
                    *error.lock().unwrap_or_else(|p| p.into_inner()) = Some(e.to_string());
                    return;
                }
            };
            loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= range.end || end.is_some_and(|e| Instant::now() >= e) {
                    return;
                }
                let program = generate::program(seed);
                if let Err(finding) = fuzz::check(&program, &setups, folder.path()) {
                    let shrunk = if self.no_reduce { program } else { fuzz::reduce(&program, &finding, &setups, folder.path()) };
                    let at = self.out.join(format!("seed-{seed}"));
                    let text = format!(
                        "// Seed {seed}, setup `{}`, {}: {}\n",
                        finding.setup,
                        finding.kind,
                        finding.message.replace('\n', "\n// ")
                    );
                    let written = std::fs::create_dir_all(&at)
                        .and_then(|()| std::fs::write(at.join("kernel.cl"), text + &shrunk.text()))
                        .and_then(|()| std::fs::write(at.join("case.json"), fuzz::case_json(&shrunk, "kernel.cl").to_string()));
                    if let Err(e) = written {
                        *error.lock().unwrap_or_else(|p| p.into_inner()) = Some(format!("{}: {e}", at.display()));
                    }
                    bar.set_message(format!("— seed {seed} failed"));
                    findings.lock().unwrap_or_else(|p| p.into_inner()).push((seed, finding));
                }
                done.fetch_add(1, Ordering::Relaxed);
                bar.inc(1);
            }
        });
        bar.finish_and_clear();
        if let Some(e) = error.into_inner().unwrap_or_else(|p| p.into_inner()) {
            return Err(Failure::input(e));
        }
        let mut findings = findings.into_inner().unwrap_or_else(|p| p.into_inner());
        findings.sort_by_key(|f| f.0);
        let done = done.into_inner();
        let line = format!("{done} programs, {} setups each: {} failed\n", setups.len(), findings.len());
        super::write_output(None, line.as_bytes())?;
        if findings.is_empty() {
            return Ok(());
        }
        let list: Vec<String> = findings
            .iter()
            .map(|(s, f)| format!("seed {s}: {} ({}): {}", f.kind, f.setup, f.message.lines().next().unwrap_or("")))
            .collect();
        Err(Failure::check(format!("{}\nprograms and cases are in {}", list.join("\n"), self.out.display())))
    }
}
