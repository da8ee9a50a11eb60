//! `bench opencl`: what the OpenCL driver costs the host beyond what it drives.
//!
//! `benches/opencl/overhead.rs` launches an empty kernel, one work-group of 64 work-items, and waits for it: by
//! Heddle as a library, and through the OpenCL loader with one driver, Heddle's or PoCL's. Each
//! process gives the median of its launches, and processes take turns, so that a machine whose
//! speed drifts is fair to all; the figures are medians of them.
//!
//! `launch_overhead_us`: microseconds through the loader less those by the library.
//! `launch_over_pocl`: time through the loader on Heddle over that on PoCL. `copy_over_memcpy`:
//! time of a blocking `clEnqueueWriteBuffer` of 64 MiB over that of a copy within the host.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::kernels::number;
use super::report::{NotCompared, Report, Table, cell};
use super::{Progress, Setup, median};
use crate::shell::{build_driver, cargo, check, release};

/// Launches of a process, and in the small form.
const LAUNCHES: [usize; 2] = [2000, 50];
/// Processes of each kind.
const ROUNDS: usize = 9;
/// What is aimed at.
const AIM: &str = "20";

/// Runs the benchmark.
pub fn run(setup: &Setup, report: &mut Report) -> Result<()> {
    let program = program(setup)?;
    let folder = tempfile::tempdir()?;
    let heddle = vendors(folder.path(), "heddle", &driver(setup)?.display().to_string())?;
    let pocl = pocl().map(|text| vendors(folder.path(), "pocl", &text)).transpose()?;
    let launches = LAUNCHES[usize::from(setup.smoke)].to_string();
    let measure = |kind: &str, vendors: Option<&Path>| -> Result<Value> {
        let mut command = Command::new(&program);
        command.args([kind, &launches]).env_remove("OCL_ICD_FILENAMES");
        vendors.map(|folder| command.env("OCL_ICD_VENDORS", folder));
        let output = command.output().with_context(|| format!("cannot run {}", program.display()))?;
        ensure!(output.status.success(), "{kind}: {}", String::from_utf8_lossy(&output.stderr).trim());
        serde_json::from_slice(&output.stdout).context("opencl_overhead printed no JSON")
    };
    let rounds = setup.times(ROUNDS);
    let progress = Progress::new(rounds);
    let (mut library, mut driver, mut write, mut memcpy, mut other) = (vec![], vec![], vec![], vec![], vec![]);
    for _ in 0..rounds {
        library.push(number(&measure("library", None)?, "launch"));
        let json = measure("opencl", Some(&heddle))?;
        ensure!(json["platform"].as_str().is_some_and(|p| p.starts_with("Heddle")), "the loader took {}", json["platform"]);
        driver.push(number(&json, "launch"));
        write.push(number(&json, "write"));
        memcpy.push(number(&json, "memcpy"));
        if let Some(pocl) = &pocl {
            let json = measure("opencl", Some(pocl))?;
            other.push((number(&json, "launch"), number(&json, "write")));
        }
        progress.step();
    }
    if other.is_empty() {
        report.not_compared.push(NotCompared { peer: "PoCL", what: "launches".into(), why: "it is not installed".into() });
    }
    let micro = |seconds: &[f64]| 1e6 * median(seconds.to_vec());
    let copies = |seconds: &[f64]| 1e3 * median(seconds.to_vec());
    let mut kernel = |name: &str, values: &[(&str, f64)]| {
        let row = report.kernels.entry(name.into()).or_default();
        row.extend(values.iter().map(|(key, value)| ((*key).to_string(), *value)));
    };
    kernel("empty", &[("library_us", micro(&library)), ("driver_us", micro(&driver))]);
    kernel("copy", &[("write_ms", copies(&write)), ("memcpy_ms", copies(&memcpy))]);
    report.figure("launch_overhead_us", micro(&driver) - micro(&library));
    report.figure("copy_over_memcpy", copies(&write) / copies(&memcpy));
    if !other.is_empty() {
        let (launches, writes): (Vec<f64>, Vec<f64>) = other.into_iter().unzip();
        let row = [("empty", "pocl_us", micro(&launches)), ("copy", "pocl_ms", copies(&writes))];
        for (name, key, value) in row {
            report.kernels.entry(name.into()).or_default().insert(key.into(), value);
        }
        report.figure("launch_over_pocl", micro(&driver) / micro(&launches));
    }
    tables(report);
    Ok(())
}

fn tables(report: &mut Report) {
    let value = |name: &str, key: &str| cell(report.kernels.get(name).and_then(|row| row.get(key)).copied());
    let mut times = Table::new(["what", "library", "driver", "PoCL", "memcpy"]);
    let of = |name: &str, keys: [&str; 4]| keys.map(|key| value(name, key));
    let launch = of("empty", ["library_us", "driver_us", "pocl_us", ""]);
    let copy = of("copy", ["", "write_ms", "pocl_ms", "memcpy_ms"]);
    times.row(["empty launch, µs".to_string()].into_iter().chain(launch));
    times.row(["64 MiB to a buffer, ms".to_string()].into_iter().chain(copy));
    let mut figures = Table::new(["figure", "value", "aim"]);
    for (name, aim) in [("launch_overhead_us", AIM), ("launch_over_pocl", ""), ("copy_over_memcpy", "")] {
        figures.row([format!("`{name}`"), cell(report.figures.get(name).copied()), aim.into()]);
    }
    report.tables.extend([times, figures]);
}

/// The program that measures. The small form runs where everything is built already.
fn program(setup: &Setup) -> Result<PathBuf> {
    let path = release().join("examples").join(format!("opencl_overhead{}", std::env::consts::EXE_SUFFIX));
    if !(setup.smoke && path.is_file()) {
        check(cargo().args(["build", "--release", "--package", "heddle", "--example", "opencl_overhead"]))?;
    }
    Ok(path)
}

/// The driver that is measured. The small form runs where everything is built already.
fn driver(setup: &Setup) -> Result<PathBuf> {
    let name = format!("{}heddle_opencl{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let beside = setup.heddle.with_file_name(name);
    if setup.smoke && beside.is_file() { Ok(beside) } else { build_driver() }
}

/// A folder of vendors files with one driver.
fn vendors(folder: &Path, name: &str, library: &str) -> Result<PathBuf> {
    let folder = folder.join(name);
    std::fs::create_dir(&folder)?;
    std::fs::write(folder.join("driver.icd"), library.trim().to_string() + "\n")?;
    Ok(folder)
}

/// What PoCL's vendors file says.
fn pocl() -> Option<String> {
    let folders = ["/etc/OpenCL/vendors", "/usr/local/etc/OpenCL/vendors", "/opt/homebrew/etc/OpenCL/vendors"];
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten());
    let file = files.map(|e| e.path()).find(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with("pocl")))?;
    std::fs::read_to_string(file).ok()
}
