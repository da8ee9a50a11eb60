//! `bench sampling`: sampled launches (`heddle run --sample`) against timing every work-group, on the
//! workloads of `benches/sampling`, launches of hundreds of waves of work-groups.
//!
//! `error`: sampled cycles over those of timing everything, less one, in percent. `interval`: half of
//! the interval that the sample states, in percent of its cycles. `timed`: warp instructions that were
//! timed, of all; what a quiet machine's speed-up follows from. `speed`: seconds of timing everything
//! over seconds of the sample, each on one host thread, one after the other.
//!
//! Of all: `mean_error`, `worst_error` (of their absolute values), `within_interval` (share of the
//! workloads whose interval holds the true value), and the smallest and the geometric mean of the
//! speeds of launches of 10⁸ warp instructions and more.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::kernels::number;
use super::report::{Report, Table};
use super::{Progress, Setup, geomean, largest};
use crate::shell::root;

/// The workload of the small form.
const SMOKE: &str = "table_rows";
/// Warp instructions from which on a launch is a large one.
const LARGE: f64 = 1e8;

/// Runs the benchmark.
pub fn run(setup: &Setup, report: &mut Report) -> Result<()> {
    let cases = cases(setup)?;
    let progress = Progress::new(cases.len());
    let mut table = Table::new(["workload", "warp instructions", "cycles", "error, %", "± interval, %", "timed, %", "speed"]);
    let (mut errors, mut held, mut large) = (Vec::new(), 0, Vec::new());
    for (name, case) in &cases {
        let whole = simulate(&setup.heddle, case, &[])?;
        let sampled = simulate(&setup.heddle, case, &["--sample"])?;
        progress.step();
        let of = |json: &Value, key: &str| number(json, &format!("total.{key}"));
        ensure!(of(&whole, "instructions") == of(&sampled, "instructions"), "{name}: a sample has executed something else");
        let (cycles, estimate) = (of(&whole, "timing.cycles"), of(&sampled, "timing.cycles"));
        let sampling = &sampled["total"]["timing"]["sampling"];
        ensure!(sampling.is_object(), "{name}: the launch is too small for a sample");
        let half = number(sampling, "spread") + number(sampling, "allowance");
        let timed = 100.0 * number(sampling, "timed_instructions") / number(sampling, "instructions");
        let seconds = |json: &Value| number(json, "host_seconds.simulate").max(1e-9);
        let speed = seconds(&whole) / seconds(&sampled);
        let error = 100.0 * (estimate / cycles - 1.0);
        let interval = 100.0 * half / estimate;
        errors.push(error.abs());
        held += usize::from((estimate - cycles).abs() <= half);
        if of(&whole, "instructions") >= LARGE {
            large.push(speed);
            report.figure(format!("speed.{name}"), speed);
        }
        let values = report.kernels.entry(name.clone()).or_default();
        for (key, value) in [("error", error), ("interval", interval), ("timed", timed), ("speed", speed)] {
            values.insert(key.into(), value);
        }
        values.insert("instructions".into(), of(&whole, "instructions"));
        values.insert("cycles".into(), cycles);
        table.row([
            format!("`{name}`"),
            format!("{:.2} M", of(&whole, "instructions") / 1e6),
            format!("{:.2} M", cycles / 1e6),
            format!("{error:+.2}"),
            format!("{interval:.2}"),
            format!("{timed:.1}"),
            format!("{speed:.1}"),
        ]);
    }
    let n = errors.len().max(1) as f64;
    report.figure("mean_error", errors.iter().sum::<f64>() / n);
    report.figure("worst_error", largest(&errors));
    report.figure("within_interval", f64::from(u32::try_from(held)?) / n);
    if !large.is_empty() {
        report.figure("speed_of_large_ones", geomean(&large));
        report.figure("least_speed_of_large_ones", large.iter().copied().fold(f64::INFINITY, f64::min));
    }
    report.tables.push(table);
    report.figures_table();
    Ok(())
}

/// The workloads: name and case file.
fn cases(setup: &Setup) -> Result<Vec<(String, PathBuf)>> {
    let mut result = Vec::new();
    for entry in std::fs::read_dir(root().join("benches/sampling"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "json") {
            result.push((path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), path));
        }
    }
    result.sort();
    if setup.smoke {
        result.retain(|(name, _)| name == SMOKE);
    }
    Ok(result.into_iter().step_by(setup.every).collect())
}

/// Runs a case on one host thread.
fn simulate(heddle: &Path, case: &Path, options: &[&str]) -> Result<Value> {
    let mut command = Command::new(heddle);
    command.args(["run", "--json", "-", "--mode", "timing", "--threads", "1"]).args(options).arg(case);
    // What a sample translates counts.
    command.env("HEDDLE_CACHE", "0");
    let output = command.output().context("cannot run heddle")?;
    ensure!(output.status.success(), "{}: {}", case.display(), String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}
