//! `bench sim`: the simulator against Oclgrind and PoCL (Debian's packages, both optional) on naive
//! sgemm, mandelbrot and a reduction, and on kernels that are about memory: a stream, a gather, private
//! arrays, atomics, a transposition and a sparse product (with PoCL only).
//!
//! All sides run the same source on the same sizes, and compilation counts for none: of PoCL the
//! best of several launches is taken, of Oclgrind what a single work-item takes is subtracted, and
//! of functional mode the best of several launches, the first of which translates the kernel to the
//! host's instructions (`first_launch_seconds`, with the translation: nothing is kept). Each is measured several times in
//! turns with what it is compared with, and the medians are compared. Oclgrind and PoCL run through `oclgrind-kernel` and
//! pyopencl; where they are missing, their figures are left out, and the report says so.
//!
//! `timing_mwips`: million warp instructions that timing mode does a second on one host thread.
//! `timing_over_functional`: warp instructions a second of timing mode over those of functional
//! mode, each on all cores. `scaling_two_cores`: seconds on one host thread over seconds on two.
//! `scaling_two_processes`: what two runs on one thread each, side by side, get done in the time of
//! one that runs alone: cores that share caches, power or a host give less than two. Both are
//! medians over rounds of runs. `bytes_per_work_item`: host memory of the state of the warps that
//! timing mode keeps (registers, scoreboards, work-group memory, schedulers; caches and device
//! memory are the machine's), as the simulator counts it from its allocations, over the work-items
//! that have room in it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::kernels::number;
use super::report::{NotCompared, Report, Table, cell};
use super::{Progress, Setup, median};
use crate::shell::{find, python, root};

const KERNELS: &[&str] =
    &["mandelbrot", "reduction", "sgemm", "stream", "gather", "private_array", "atomics", "transpose", "sparse_product"];
/// The kernel of the small form.
const SMOKE: &[&str] = &["reduction"];
/// Rounds of runs on one host thread, on two, and of two side by side.
const ROUNDS: usize = 7;
/// Launches of the kernel in one process for the best of them: on Heddle the first few come before the translation.
const LAUNCHES: usize = 24;

/// Figures of a kernel, in the order of the table, and what is aimed at.
const FIGURES: &[(&str, &str)] = &[
    ("functional_over_oclgrind", "500 (mandelbrot, sgemm)"),
    ("functional_over_pocl", "1"),
    ("first_launch_over_oclgrind", ""),
    ("first_launch_over_pocl", ""),
    ("timing_over_oclgrind", "40 (mandelbrot, sgemm), 25 (reduction)"),
    ("timing_mwips", ""),
    ("timing_over_functional", ""),
    ("scaling_two_cores", "1.8 (mandelbrot, sgemm), 1.6 (stream, gather, reduction), 1.2 (atomics)"),
    ("scaling_two_processes", ""),
    ("bytes_per_work_item", ""),
];

/// Seconds on another implementation, or what is missing for it.
enum Peer {
    /// Of each measurement.
    Seconds(Vec<f64>),
    Missing(String),
}

pub fn run(setup: &Setup, report: &mut Report) -> Result<()> {
    let kernels = if setup.smoke { SMOKE } else { KERNELS };
    let progress = Progress::new(kernels.len());
    for name in kernels {
        measure(setup, name, report).with_context(|| (*name).to_string())?;
        progress.step();
    }
    tables(kernels, report);
    Ok(())
}

fn measure(setup: &Setup, name: &str, report: &mut Report) -> Result<()> {
    let folder = root().join("benches").join(name);
    let run = |threads: &str| timing(&setup.heddle, &folder, threads);
    // Each side in turns with what it is compared with, so that a machine whose speed drifts is fair to all.
    let mut case = Launches::new(&folder)?;
    let mut pocl_times = Peer::Seconds(Vec::new());
    for _ in 0..setup.times(5) {
        case.run(&setup.heddle)?;
        pocl_times.add(|| pocl(&folder))?;
    }
    let launches = case.medians();
    let mut times = Vec::new();
    let mut total = Value::Null;
    let mut oclgrind_times = folder.join("share").exists().then(|| Peer::Seconds(Vec::new()));
    for _ in 0..setup.times(3) {
        let (seconds, json) = run("0")?;
        times.push(seconds);
        total = json;
        if let Some(oclgrind_times) = &mut oclgrind_times {
            oclgrind_times.add(|| oclgrind(&folder))?;
        }
    }
    let timing = median(times);
    let mut note = |key: &str, value: f64| {
        report.kernels.entry(name.to_string()).or_default().insert(key.into(), value);
    };
    note("functional_seconds", launches.best);
    note("first_launch_seconds", launches.first);
    note("timing_seconds", timing);
    note("lane_instructions_per_second", launches.lane_instructions / launches.best);
    note("timing_warp_instructions_per_second", number(&total, "instructions") / timing);
    let (mut threads, mut processes, mut alone) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..setup.times(ROUNDS) {
        let one = run("1")?.0;
        alone.push(one);
        threads.push(one / run("2")?.0);
        let beside = std::thread::scope(|scope| {
            let other = scope.spawn(|| run("1").map(|r| r.0));
            let this = run("1")?.0;
            let other = other.join().map_err(|_| anyhow::anyhow!("a run beside another one failed"))??;
            anyhow::Ok((this + other) / 2.0)
        })?;
        processes.push(2.0 * one / beside);
    }
    let host = |what: &str| number(&total, &format!("timing.host.{what}"));
    let mut figure = |key: &str, value: f64| report.figure(format!("{key}.{name}"), value);
    figure("timing_mwips", number(&total, "instructions") / median(alone) / 1e6);
    figure("timing_over_functional", launches.best / timing);
    figure("bytes_per_work_item", host("bytes") / host("work_items").max(1.0));
    figure("scaling_two_cores", median(threads));
    figure("scaling_two_processes", median(processes));
    for (peer, key, result) in [("Oclgrind", "oclgrind", oclgrind_times), ("PoCL", "pocl", Some(pocl_times))] {
        let Some(result) = result else { continue };
        match result {
            Peer::Seconds(times) => {
                let t = median(times);
                report.kernels.entry(name.to_string()).or_default().insert(format!("{key}_seconds"), t);
                report.figure(format!("functional_over_{key}.{name}"), t / launches.best);
                report.figure(format!("first_launch_over_{key}.{name}"), t / launches.first);
                if peer == "Oclgrind" {
                    report.figure(format!("timing_over_{key}.{name}"), t / timing);
                }
            }
            Peer::Missing(why) => report.not_compared.push(NotCompared { peer, what: name.to_string(), why }),
        }
    }
    Ok(())
}

fn tables(kernels: &[&str], report: &mut Report) {
    let mut seconds = Table::new(["kernel", "functional s", "first launch s", "timing s", "Oclgrind s", "PoCL s"]);
    for name in kernels {
        let value = |key: &str| cell(report.kernels.get(*name).and_then(|v| v.get(&format!("{key}_seconds")).copied()));
        let cells = ["functional", "first_launch", "timing", "oclgrind", "pocl"].map(value);
        seconds.row([format!("`{name}`")].into_iter().chain(cells));
    }
    let header = ["figure"].into_iter().chain(kernels.iter().copied()).chain(["aim"]);
    let mut figures = Table::new(header);
    for (figure, aim) in FIGURES {
        let cells = kernels.iter().map(|name| cell(report.figures.get(&format!("{figure}.{name}")).copied()));
        figures.row([format!("`{figure}`")].into_iter().chain(cells).chain([(*aim).to_string()]));
    }
    report.tables.extend([seconds, figures]);
}

/// Runs `heddle run --json -` and returns what it says.
fn run_case(heddle: &Path, case: &Path, options: &[&str]) -> Result<Value> {
    let output = Command::new(heddle)
        .args(["run", "--json", "-"])
        .args(options)
        .arg(case)
        .env("HEDDLE_CACHE", "0")
        .output()
        .context("cannot run heddle")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Timing mode: seconds, and the statistics.
fn timing(heddle: &Path, folder: &Path, threads: &str) -> Result<(f64, Value)> {
    let mut json = run_case(heddle, &folder.join("case.json"), &["--mode", "timing", "--threads", threads])?;
    Ok((number(&json, "host_seconds.simulate"), json["total"].take()))
}

/// Functional mode: processes that launch the kernel several times.
struct Launches {
    /// The case with its launches repeated.
    case: tempfile::NamedTempFile,
    /// Launches of one repetition.
    once: usize,
    /// By process: seconds of the best repetition, and of the first.
    best: Vec<f64>,
    first: Vec<f64>,
    /// Instructions times lanes of one repetition.
    lane_instructions: f64,
}

/// What they took.
struct LaunchTimes {
    /// Seconds of the best of several launches.
    best: f64,
    /// Seconds of the first.
    first: f64,
    /// Instructions times lanes of one.
    lane_instructions: f64,
}

impl Launches {
    fn new(folder: &Path) -> Result<Launches> {
        let text = std::fs::read_to_string(folder.join("case.json"))?;
        let mut case: Value = serde_json::from_str(&text).context("benches/*/case.json")?;
        let once = case["launches"].as_array().context("benches/*/case.json: launches")?.clone();
        case["launches"] = (0..LAUNCHES).flat_map(|_| once.clone()).collect();
        let source = folder.join(case["source"].as_str().context("benches/*/case.json: source")?);
        case["source"] = source.to_str().context("the project's path is no UTF-8")?.into();
        let file = tempfile::Builder::new().suffix(".json").tempfile()?;
        std::fs::write(file.path(), case.to_string())?;
        Ok(Launches { case: file, once: once.len(), best: Vec::new(), first: Vec::new(), lane_instructions: 0.0 })
    }

    /// One process more.
    fn run(&mut self, heddle: &Path) -> Result<()> {
        let json = run_case(heddle, self.case.path(), &["--mode", "functional"])?;
        let seconds: Vec<f64> =
            json["host_seconds"]["launches"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
        ensure!(seconds.len() == self.once * LAUNCHES, "{} launches are reported", seconds.len());
        let repetitions: Vec<f64> = seconds.chunks(self.once).map(|r| r.iter().sum()).collect();
        self.best.push(repetitions.iter().copied().fold(f64::INFINITY, f64::min));
        self.first.push(repetitions[0]);
        self.lane_instructions = number(&json, "total.lane_instructions") / LAUNCHES as f64;
        Ok(())
    }

    fn medians(self) -> LaunchTimes {
        LaunchTimes { best: median(self.best), first: median(self.first), lane_instructions: self.lane_instructions }
    }
}

impl Peer {
    /// Another measurement, unless there is no such peer.
    fn add(&mut self, measure: impl FnOnce() -> Result<Result<f64, String>>) -> Result<()> {
        let Peer::Seconds(times) = self else { return Ok(()) };
        match measure()? {
            Ok(seconds) => times.push(seconds),
            Err(why) => *self = Peer::Missing(why),
        }
        Ok(())
    }
}

/// Seconds Oclgrind takes for the kernel, or why there is none: `oclgrind.sim` runs one part of the range of `share`, less what
/// a single work-item takes (`oclgrind-base.sim`: start and compilation), times `share`.
fn oclgrind(folder: &Path) -> Result<Result<f64, String>> {
    let Some(program) = find("oclgrind-kernel") else { return Ok(Err("oclgrind-kernel is not installed".into())) };
    let share: f64 = std::fs::read_to_string(folder.join("share"))?.trim().parse().context("benches/*/share")?;
    let time = |file: &str| -> Result<f64> {
        let start = Instant::now();
        let output = Command::new(&program).current_dir(folder).arg(file).output()?;
        let seconds = start.elapsed().as_secs_f64();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.success() && errors.trim().is_empty(), "oclgrind-kernel {file}: {errors}");
        Ok(seconds)
    };
    let base = time("oclgrind-base.sim")?;
    Ok(Ok((time("oclgrind.sim")? - base).max(0.0) * share))
}

/// Seconds PoCL takes for the kernel, without compilation (the best of several launches), or why there is none.
fn pocl(folder: &Path) -> Result<Result<f64, String>> {
    let Some(python): Option<PathBuf> = python(&["numpy", "pyopencl"]) else {
        return Ok(Err("no python3 has numpy and pyopencl".into()));
    };
    let script = root().join("benches").join("pocl.py");
    let output = Command::new(python).arg(script).arg(folder.join("case.json")).arg(LAUNCHES.to_string()).output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let last = errors.lines().last().unwrap_or_default();
    match output.status.code() {
        Some(0) => {}
        Some(3) => return Ok(Err(last.into())),
        _ => bail!("pocl.py: {last}"),
    }
    Ok(Ok(String::from_utf8_lossy(&output.stdout).trim().parse().context("pocl.py printed no number")?))
}
