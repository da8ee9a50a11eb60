//! Benchmarks with a contract: `{"bench": NAME, "figures": {"dotted.name": number}, "kernels": {…}}`.

mod compile;
mod regfile;
mod scalar;
mod sim;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Serialize;

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
        "regfile" => regfile::run(&mut report)?,
        "scalar" => scalar::run(&mut report)?,
        "sim" => sim::run(&mut report)?,
        "compile" => compile::run(&mut report)?,
        other => bail!("no benchmark `{other}`; there are: sim, compile, scalar, regfile"),
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
