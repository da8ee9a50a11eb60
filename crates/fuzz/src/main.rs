//! The `heddle-fuzz` command.
//!
//! Exit status: 0 no difference, 1 findings, 2 bad usage.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;

use heddle_fuzz::{Checker, Finding, generate, opencl};

/// Compile and run random OpenCL C kernels in many ways and compare the results.
///
/// Each seed gives one program. It is compiled with every technique on and off for several machines
/// and simulated in both modes; where the host has an OpenCL implementation (PoCL or another behind
/// the ICD loader), it also runs there. What differs between two ways is shrunk and written as a
/// case to the output folder; exit status 1. A difference on the OpenCL device only may be a defect
/// of that implementation: then all setups of Heddle agree, and the message says so.
///
///   heddle-fuzz --seeds 0..1000
///   heddle-fuzz --minutes 10 --out findings
///   heddle-fuzz --seeds 42..43 --print
#[derive(Parser)]
#[command(name = "heddle-fuzz", version, verbatim_doc_comment, max_term_width = 110)]
struct Fuzz {
    /// Seeds: FIRST..END (END not included).
    #[arg(long, value_name = "FIRST..END", default_value = "0..100")]
    seeds: String,
    /// Stop after this time, finished or not.
    #[arg(long, value_name = "N")]
    minutes: Option<f64>,
    /// Where failing programs go.
    #[arg(long, value_name = "FOLDER", default_value = "fuzz-findings")]
    out: PathBuf,
    /// Setups a program is compiled and run in: the first, and others in turn; 0: all.
    #[arg(long, value_name = "N", default_value_t = 0)]
    ways: usize,
    /// Write failing programs as they are, not shrunk.
    #[arg(long)]
    no_reduce: bool,
    /// Compare with an OpenCL implementation of the host: auto (if there is one), never, require (no device is an error).
    #[arg(long, value_enum, default_value_t = UseOpenCl::Auto, hide_possible_values = true)]
    opencl: UseOpenCl,
    /// The OpenCL device to take: the first whose platform, driver version and name contain this.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    opencl_device: String,
    /// Print the programs and do nothing else.
    #[arg(long)]
    print: bool,
    /// Be the process that holds the OpenCL device, with what --opencl-device says.
    #[arg(long, value_name = "TEXT", hide = true)]
    opencl_child: Option<String>,
}

/// Whether to compare with an OpenCL implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum UseOpenCl {
    /// If there is one.
    Auto,
    /// No.
    Never,
    /// It is an error if there is none.
    Require,
}

impl Fuzz {
    /// Runs the command.
    fn run(self) -> Result<(), Failure> {
        if let Some(wanted) = &self.opencl_child {
            return opencl::serve(wanted).map_err(|e| Failure::Input(e.to_string()));
        }
        let parse = |s: &str| s.trim().parse::<u64>().ok();
        let range = self.seeds.split_once("..").and_then(|(a, b)| Some(parse(a)?..parse(b)?));
        let Some(range) = range.filter(|r| !r.is_empty()) else {
            return Err(Failure::Input(format!("--seeds {}: give FIRST..END, as 0..100", self.seeds)));
        };
        if self.print {
            let text: String = range.map(|s| generate::program(s).text()).collect();
            return print(&text);
        }
        if let Some(m) = self.minutes.filter(|m| m.is_nan() || *m < 0.0) {
            return Err(Failure::Input(format!("--minutes {m}: give a number of minutes from 0")));
        }
        // Before hours of work, of which nothing could be written.
        let nearest = self.out.ancestors().find(|a| a.symlink_metadata().is_ok());
        if let Some(file) = nearest.filter(|a| !a.is_dir()) {
            return Err(Failure::Input(format!("--out {}: {} is no folder", self.out.display(), file.display())));
        }
        let device = match self.opencl {
            UseOpenCl::Never => None,
            how => match opencl::Client::start(&self.opencl_device) {
                Ok(client) => {
                    let d = client.description();
                    let note =
                        if d.non_uniform { "" } else { " (which runs whole work-groups only: launches are rounded up for it)" };
                    heddle_report::say!("OpenCL: {}{note}", d.name);
                    Some(d.name.clone())
                }
                Err(m) if how == UseOpenCl::Require || !self.opencl_device.is_empty() => return Err(Failure::Input(m)),
                Err(m) => {
                    heddle_report::say!("no comparison with OpenCL: {m}");
                    None
                }
            },
        };
        let started = Instant::now();
        // A time beyond what the clock can say never comes.
        let limit = self.minutes.and_then(|m| Duration::try_from_secs_f64(m * 60.0).ok());
        let end = limit.and_then(|l| Instant::now().checked_add(l));
        let total = range.end - range.start;
        let bar = if std::io::stderr().is_terminal() { ProgressBar::new(total) } else { ProgressBar::hidden() };
        let template =
            if end.is_some() { "{spinner} {pos} programs {msg}" } else { "[{bar:40}] {pos}/{len} programs, {eta} left {msg}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let findings: Mutex<Vec<(u64, Finding)>> = Mutex::new(Vec::new());
        let done = AtomicU64::new(0);
        let error: Mutex<Option<String>> = Mutex::new(None);
        let times: Mutex<BTreeMap<&'static str, Duration>> = Mutex::new(BTreeMap::new());
        let no_witness: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());
        // Seeds are handed out in order, so that those done are a range when time runs out.
        let next = AtomicU64::new(range.start);
        let work = || -> Result<(), String> {
            let client = device.as_ref().map(|_| opencl::Client::start(&self.opencl_device)).transpose()?;
            let mut checker = Checker::new(heddle_fuzz::setups(), self.ways, client)?;
            while end.is_none_or(|e| Instant::now() < e) {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= range.end {
                    break;
                }
                let program = generate::program(seed);
                if let Err(finding) = checker.check(&program) {
                    let shrunk = if self.no_reduce { program } else { checker.reduce(&program, &finding) };
                    self.write(seed, &finding, &shrunk)?;
                    bar.set_message(format!("— seed {seed} failed"));
                    locked(&findings).push((seed, finding));
                }
                done.fetch_add(1, Ordering::Relaxed);
                bar.inc(1);
            }
            locked(&no_witness).append(&mut checker.no_witness);
            let mut all = locked(&times);
            checker.times.iter().for_each(|(part, t)| *all.entry(part).or_default() += *t);
            Ok(())
        };
        (0..rayon::current_num_threads()).into_par_iter().for_each(|_| {
            if let Err(m) = work() {
                *locked(&error) = Some(m);
            }
        });
        bar.finish_and_clear();
        if let Some(e) = locked(&error).take() {
            return Err(Failure::Input(e));
        }
        let mut findings = std::mem::take(&mut *locked(&findings));
        findings.sort_by_key(|f| f.0);
        let done = done.into_inner();
        let seconds = started.elapsed().as_secs_f64();
        let times = locked(&times);
        let sum = times.values().sum::<Duration>().as_secs_f64().max(1e-9);
        let parts: Vec<String> = times.iter().map(|(part, t)| format!("{part} {:.0} %", 100.0 * t.as_secs_f64() / sum)).collect();
        let foreign = findings.iter().filter(|(_, f)| f.only_opencl).count();
        let line = format!(
            "{done} programs, seeds {}..{}, {} of Heddle's setups each{}: {} failed{}\n{seconds:.1} s, {:.2} programs/s; {}\n",
            range.start,
            range.start + done,
            if self.ways == 0 { heddle_fuzz::setups().len() } else { self.ways.min(heddle_fuzz::setups().len()) },
            device.map_or(String::new(), |d| format!(" and {d}")),
            findings.len(),
            if foreign > 0 { format!(" ({foreign} of them only in OpenCL)") } else { String::new() },
            done as f64 / seconds.max(1e-9),
            parts.join(", "),
        );
        print(&line)?;
        let no_witness: Vec<String> = locked(&no_witness).iter().map(u64::to_string).collect();
        if !no_witness.is_empty() {
            let line = format!(
                "The OpenCL device has other results with its optimisation than without, so that it says nothing about seeds {}\n",
                no_witness.join(", ")
            );
            print(&line)?;
        }
        if findings.is_empty() {
            return Ok(());
        }
        let list: Vec<String> = findings
            .iter()
            .map(|(s, f)| format!("seed {s}: {} ({}): {}", f.kind, f.setup, f.message.lines().next().unwrap_or("")))
            .collect();
        Err(Failure::Findings(format!("{}\nprograms and cases are in {}", list.join("\n"), self.out.display())))
    }
    /// Writes a failing program as a case.
    fn write(&self, seed: u64, finding: &Finding, program: &generate::Program) -> Result<(), String> {
        let at = self.out.join(format!("seed-{seed}"));
        let message = finding.message.replace('\n', "\n// ");
        let text = format!("// Seed {seed}, setup `{}`, {}: {message}\n", finding.setup, finding.kind);
        std::fs::create_dir_all(&at)
            .and_then(|()| std::fs::write(at.join("kernel.cl"), text + &program.text()))
            .and_then(|()| std::fs::write(at.join("case.json"), heddle_fuzz::case_json(program, "kernel.cl").to_string()))
            .map_err(|e| format!("{}: {e}", at.display()))
    }
}

/// A mutex's contents, whatever became of the thread that had it.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|p| p.into_inner())
}

/// Why the command does not end with 0.
enum Failure {
    /// Bad usage, or a host on which it cannot work: status 2.
    Input(String),
    /// Programs with different results: status 1.
    Findings(String),
}

/// Prints to standard output; a reader that has seen enough is no error.
fn print(text: &str) -> Result<(), Failure> {
    use std::io::Write;
    match std::io::stdout().write_all(text.as_bytes()).and_then(|()| std::io::stdout().flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::Input(format!("standard output: {e}"))),
        _ => Ok(()),
    }
}

fn main() -> ExitCode {
    let (status, message) = match Fuzz::parse().run() {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Input(message)) => (2, message),
        Err(Failure::Findings(message)) => (1, message),
    };
    heddle_report::say!("error: {message}");
    ExitCode::from(status)
}
