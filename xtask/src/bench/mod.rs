//! Benchmarks with a contract: `{"bench": NAME, "figures": {"dotted.name": number}, "kernels": {…}}`.

mod address;
mod cache;
mod compile;
mod regfile;
mod rename;
mod scalar;
mod sim;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde_json::Value;

/// What a benchmark measured.
#[derive(Default, Serialize)]
pub struct Report {
    bench: String,
    figures: BTreeMap<String, f64>,
    kernels: BTreeMap<String, BTreeMap<String, f64>>,
}

/// Runs a benchmark.
pub fn run(name: &str, json: Option<&Path>) -> Result<()> {
    let mut report = Report { bench: name.into(), ..Default::default() };
    match name {
        "address" => address::run(&mut report)?,
        "cache" => cache::run(&mut report)?,
        "rename" => rename::run(&mut report)?,
        "regfile" => regfile::run(&mut report)?,
        "scalar" => scalar::run(&mut report)?,
        "sim" => sim::run(&mut report)?,
        "compile" => compile::run(&mut report)?,
        other => bail!("no benchmark `{other}`; there are: sim, compile, scalar, regfile, rename, address, cache"),
    }
    for (kernel, values) in &report.kernels {
        let values: Vec<String> = values.iter().map(|(k, v)| format!("{k} {v:.4}")).collect();
        println!("{kernel:<24} {}", values.join("  "));
    }
    println!();
    for (name, value) in &report.figures {
        println!("{name:<44} {value:.4}");
    }
    if let Some(path) = json {
        let text = serde_json::to_string_pretty(&report)?;
        std::fs::write(path, text + "\n").with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

/// The median; 0 of nothing.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

/// The geometric mean; 1 of nothing.
pub fn geomean(values: &[f64]) -> f64 {
    (values.iter().map(|v| v.ln()).sum::<f64>() / values.len().max(1) as f64).exp()
}

/// The test kernels: name and folder.
pub fn kernels() -> Result<Vec<(String, PathBuf)>> {
    let mut result = Vec::new();
    for entry in std::fs::read_dir(crate::shell::root().join("test-kernels"))? {
        let path = entry?.path();
        if path.join("kernel.cl").is_file() {
            result.push((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), path));
        }
    }
    result.sort();
    Ok(result)
}

/// The workloads: the test kernels on launches that fill SMs several times. Name and case file.
pub fn workloads() -> Result<Vec<(String, PathBuf)>> {
    let mut result = Vec::new();
    for entry in std::fs::read_dir(crate::shell::root().join("benches/workloads"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "json") {
            result.push((path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), path));
        }
    }
    result.sort();
    Ok(result)
}

/// Runs a case and returns the statistics of all its launches together.
pub fn simulate(heddle: &Path, case: &Path, options: &[String]) -> Result<Value> {
    let mut command = Command::new(heddle);
    command.arg("run").arg(case).args(["--json", "-"]).args(options);
    let output = command.output().context("cannot run heddle")?;
    anyhow::ensure!(
        output.status.success(),
        "{} {}: {}",
        case.display(),
        options.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
    let json: Value = serde_json::from_slice(&output.stdout)?;
    Ok(json["total"].clone())
}

/// A number of a JSON value by its path; 0 if it is not there.
pub fn number(value: &Value, path: &str) -> f64 {
    path.split('.').try_fold(value, |v, key| v.get(key)).and_then(Value::as_f64).unwrap_or(0.0)
}

/// Applies `work` to all items, on two threads (simulated figures do not depend on the host's load), and keeps their order.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>> {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<R>>>> = items.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(i) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|i| *i < items.len()) {
                    let result = work(&items[i]);
                    *results[i].lock().unwrap_or_else(|e| e.into_inner()) = Some(result);
                }
            });
        }
    });
    let taken = results.into_iter().map(|r| r.into_inner().unwrap_or_else(|e| e.into_inner()));
    taken.map(|r| r.unwrap_or_else(|| bail!("a worker stopped"))).collect()
}
