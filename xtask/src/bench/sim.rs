//! `bench sim`: the simulator against Oclgrind and PoCL (Debian's packages, both optional) on naive sgemm, mandelbrot and a reduction.
//!
//! All sides run the same source on the same sizes, and compilation counts for none: of PoCL the best of several launches is taken, of Oclgrind what a
//! single work-item takes is subtracted, and of functional mode the best of several launches, the first of which translates the kernel to the host's
//! instructions (`first_launch_seconds`, with the translation). Oclgrind and PoCL run through `oclgrind-kernel` and pyopencl; where they or their inputs
//! are missing, their figures are left out and a line says why.
//!
//! `timing_over_functional`: warp instructions a second of timing mode over those of functional mode, each on all cores. `scaling_two_cores`: seconds on one
//! host thread over seconds on two. `scaling_two_processes`: what two runs on one thread each, side by side, get done in the time of one that runs alone:
//! cores that share caches, power or a host give less than two. Both are medians over rounds of runs. `bytes_per_work_item`: host memory of the state of
//! the warps that timing mode keeps (registers, scoreboards, work-group memory, schedulers; caches and device memory are the machine's), as the simulator
//! counts it from its allocations, over the work-items that have room in it.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};

use super::{Report, median, number};
use crate::shell::{build, find, root};

const KERNELS: &[&str] = &["sgemm", "mandelbrot", "reduction"];

pub fn run(report: &mut Report) -> Result<()> {
    let heddle = build()?;
    for name in KERNELS {
        let folder = root().join("benches").join(name);
        let run = |mode: &str, threads: &str, runs: usize| -> Result<(f64, serde_json::Value)> {
            let (mut times, mut json) = (Vec::new(), serde_json::Value::Null);
            for _ in 0..runs {
                let output = Command::new(&heddle)
                    .args(["run", "--mode", mode, "--threads", threads, "--json", "-"])
                    .arg(folder.join("case.json"))
                    .output()
                    .context("cannot run heddle")?;
                anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                json = serde_json::from_slice(&output.stdout)?;
                times.push(json["host_seconds"]["simulate"].as_f64().unwrap_or(f64::NAN));
            }
            Ok((median(times), json["total"].take()))
        };
        let (functional, first, lanes) = launches(&heddle, &folder)?;
        let (timing, total) = run("timing", "0", 3)?;
        let entry = report.kernels.entry((*name).to_string()).or_default();
        entry.insert("functional_seconds".into(), functional);
        entry.insert("first_launch_seconds".into(), first);
        entry.insert("timing_seconds".into(), timing);
        entry.insert("lane_instructions_per_second".into(), lanes / functional);
        entry.insert("timing_warp_instructions_per_second".into(), number(&total, "instructions") / timing);
        report.figures.insert(format!("timing_over_functional.{name}"), functional / timing);
        let host = |what: &str| number(&total, &format!("timing.host.{what}"));
        report.figures.insert(format!("bytes_per_work_item.{name}"), host("bytes") / host("work_items").max(1.0));
        // In turns and round by round, so that a machine whose speed drifts is fair to all.
        let (mut threads, mut processes) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let one = run("timing", "1", 1)?.0;
            threads.push(one / run("timing", "2", 1)?.0);
            let beside = std::thread::scope(|scope| {
                let other = scope.spawn(|| run("timing", "1", 1).map(|r| r.0));
                let this = run("timing", "1", 1)?.0;
                let other = other.join().map_err(|_| anyhow::anyhow!("a run beside another one failed"))??;
                anyhow::Ok((this + other) / 2.0)
            })?;
            processes.push(2.0 * one / beside);
        }
        report.figures.insert(format!("scaling_two_cores.{name}"), median(threads));
        report.figures.insert(format!("scaling_two_processes.{name}"), median(processes));
        match oclgrind(&folder) {
            Ok(t) => {
                entry.insert("oclgrind_seconds".into(), t);
                report.figures.insert(format!("functional_over_oclgrind.{name}"), t / functional);
                report.figures.insert(format!("first_launch_over_oclgrind.{name}"), t / first);
                report.figures.insert(format!("timing_over_oclgrind.{name}"), t / timing);
            }
            Err(e) => eprintln!("no comparison with Oclgrind on {name}: {e:#}"),
        }
        match pocl(&folder) {
            Ok(t) => {
                entry.insert("pocl_seconds".into(), t);
                report.figures.insert(format!("functional_over_pocl.{name}"), t / functional);
                report.figures.insert(format!("first_launch_over_pocl.{name}"), t / first);
            }
            Err(e) => eprintln!("no comparison with PoCL on {name}: {e:#}"),
        }
    }
    Ok(())
}

/// Rounds of runs on one host thread, on two, and of two side by side.
const ROUNDS: usize = 7;

/// Launches of the kernel in one process for the best of them.
const LAUNCHES: usize = 6;

/// Functional mode: seconds of the best of several launches and of the first (medians of five processes), and instructions times lanes of one.
fn launches(heddle: &Path, folder: &Path) -> Result<(f64, f64, f64)> {
    let text = std::fs::read_to_string(folder.join("case.json"))?;
    let mut case: serde_json::Value = serde_json::from_str(&text).context("benches/*/case.json")?;
    let once = case["launches"].as_array().context("benches/*/case.json: launches")?.clone();
    case["launches"] = (0..LAUNCHES).flat_map(|_| once.clone()).collect();
    let source = folder.join(case["source"].as_str().context("benches/*/case.json: source")?);
    case["source"] = source.to_str().context("the project's path is no UTF-8")?.into();
    let file = tempfile::Builder::new().suffix(".json").tempfile()?;
    std::fs::write(file.path(), case.to_string())?;
    let (mut best, mut first, mut json) = (Vec::new(), Vec::new(), serde_json::Value::Null);
    for _ in 0..5 {
        let output = Command::new(heddle)
            .args(["run", "--mode", "functional", "--json", "-"])
            .arg(file.path())
            .output()
            .context("cannot run heddle")?;
        anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        json = serde_json::from_slice(&output.stdout)?;
        let seconds: Vec<f64> =
            json["host_seconds"]["launches"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_f64).collect();
        let repetitions: Vec<f64> = seconds.chunks(once.len()).map(|r| r.iter().sum()).collect();
        best.push(repetitions.iter().copied().fold(f64::INFINITY, f64::min));
        first.push(repetitions.first().copied().unwrap_or(f64::NAN));
    }
    Ok((median(best), median(first), number(&json, "total.lane_instructions") / LAUNCHES as f64))
}

/// Seconds Oclgrind takes for the kernel: `oclgrind.sim` runs one part of the range of `share`, less what a single work-item takes
/// (`oclgrind-base.sim`: start and compilation), times `share`; the median of three.
fn oclgrind(folder: &Path) -> Result<f64> {
    let program = find("oclgrind-kernel").context("oclgrind-kernel is not installed (Debian: oclgrind)")?;
    let share: f64 = std::fs::read_to_string(folder.join("share"))?.trim().parse().context("benches/*/share")?;
    let time = |file: &str| -> Result<f64> {
        let start = Instant::now();
        let output = Command::new(&program).current_dir(folder).arg(file).output()?;
        let seconds = start.elapsed().as_secs_f64();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        anyhow::ensure!(output.status.success() && errors.trim().is_empty(), "{errors}");
        Ok(seconds)
    };
    let mut seconds = Vec::new();
    for _ in 0..3 {
        let base = time("oclgrind-base.sim")?;
        seconds.push((time("oclgrind.sim")? - base).max(0.0) * share);
    }
    Ok(median(seconds))
}

/// Seconds PoCL takes for the kernel, without compilation (the second of two runs).
fn pocl(folder: &Path) -> Result<f64> {
    let script = root().join("benches").join("pocl.py");
    let output = Command::new("python3").arg(script).arg(folder.join("case.json")).output()?;
    anyhow::ensure!(
        output.status.success(),
        "pocl.py needs pyopencl and PoCL (Debian: pocl-opencl-icd): {}",
        String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default()
    );
    String::from_utf8_lossy(&output.stdout).trim().parse().context("pocl.py printed no number")
}
