//! `bench regfile`: what local register files save (C1–C12) against the same kernels compiled with `--regfile=single`, and how many main registers and
//! spills kernels need beside LLVM's AMDGPU back end on the same IR.
//!
//! Energies and cycles are the simulated machine's and do not depend on the host. Register-file energy is that of all files, scalar and predicate included.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::compile::{for_amdgpu, large};
use super::{Report, geomean, kernels};
use crate::shell::{build, find};

pub fn run(report: &mut Report) -> Result<()> {
    let heddle = build()?;
    let llc = find("llc-19");
    let folder = tempfolder()?;
    let (mut energies, mut cycles) = (Vec::new(), Vec::new());
    let (mut local, mut main) = ([0.0; 2], [0.0; 2]);
    let (mut copies, mut instructions) = (0.0, 0.0);
    for (name, path) in kernels()? {
        let total = |options: &[&str]| -> Result<Value> {
            let mut command = Command::new(&heddle);
            command.arg("run").arg(path.join("case.json")).args(["--json", "-"]).args(options);
            let output = command.output().context("cannot run heddle")?;
            anyhow::ensure!(output.status.success(), "{name} {options:?}: {}", String::from_utf8_lossy(&output.stderr));
            let json: Value = serde_json::from_slice(&output.stdout)?;
            Ok(json["total"].clone())
        };
        let with = total(&[])?;
        let without = total(&["--regfile", "single"])?;
        let files = |v: &Value| -> f64 {
            let parts = v["energy_pj"].as_object().into_iter().flatten();
            parts.filter(|(k, _)| k.starts_with("register-file")).filter_map(|(_, e)| e.as_f64()).sum()
        };
        let clock = |v: &Value| v["timing"]["cycles"].as_f64().unwrap_or(f64::NAN);
        let count = |v: &Value, k: &str| v[k].as_f64().unwrap_or(0.0);
        let sum = |v: &Value, k: &str| -> f64 {
            v["registers"]["local"].as_array().into_iter().flatten().filter_map(|a| a[k].as_f64()).sum()
        };
        let entry = report.kernels.entry(name).or_default();
        let (energy, cycle) = (files(&with) / files(&without), clock(&with) / clock(&without));
        entry.insert("energy_saved".into(), 1.0 - energy);
        entry.insert("cycles_ratio".into(), cycle);
        for (i, k) in ["reads", "writes"].into_iter().enumerate() {
            let (l, m) = (sum(&with, k), with["registers"]["main"][k].as_f64().unwrap_or(0.0));
            entry.insert(format!("local_{k}_share"), if l + m > 0.0 { l / (l + m) } else { 0.0 });
            local[i] += l;
            main[i] += m;
        }
        entry.insert("copies_per_100".into(), 100.0 * count(&with, "copies") / count(&with, "instructions"));
        entry.insert("copies_per_100_single".into(), 100.0 * count(&without, "copies") / count(&without, "instructions"));
        copies += count(&with, "copies");
        instructions += count(&with, "instructions");
        energies.push(energy);
        cycles.push(cycle);
        registers(entry, &heddle, llc.as_deref(), &path, &folder)?;
    }
    let figures = &mut report.figures;
    figures.insert("energy_saved.geomean".into(), 1.0 - geomean(&energies));
    figures.insert("energy_saved.min".into(), 1.0 - energies.iter().copied().fold(0.0, f64::max));
    figures.insert("cycles_ratio.geomean".into(), geomean(&cycles));
    figures.insert("cycles_ratio.max".into(), cycles.iter().copied().fold(0.0, f64::max));
    figures.insert("local_read_share".into(), local[0] / (local[0] + main[0]));
    figures.insert("local_write_share".into(), local[1] / (local[1] + main[1]));
    figures.insert("copies_per_100".into(), 100.0 * copies / instructions);
    large(report, &heddle, &folder)?;
    std::fs::remove_dir_all(&folder).context("removing the temporary folder")
}

fn tempfolder() -> Result<std::path::PathBuf> {
    let folder = std::env::temp_dir().join(format!("heddle-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Registers of the largest kernel of a source: ours with either register file, and llc's VGPRs and scratch bytes.
fn registers(
    entry: &mut std::collections::BTreeMap<String, f64>,
    heddle: &Path,
    llc: Option<&Path>,
    path: &Path,
    folder: &Path,
) -> Result<()> {
    let source = path.join("kernel.cl");
    for (name, files) in [("main_registers", "multilevel"), ("main_registers_single", "single")] {
        let output = Command::new(heddle)
            .args(["build", "--emit", "asm", "--regfile", files, "-o", "-", "-I"])
            .arg(path)
            .arg(&source)
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let headers = text.lines().filter_map(|l| serde_json::from_str::<Value>(l.strip_prefix(".kernel ")?).ok());
        entry.insert(name.into(), headers.filter_map(|h| h["main_registers"].as_f64()).fold(0.0, f64::max));
    }
    let Some(llc) = llc else { return Ok(()) };
    let ir = Command::new(heddle).args(["build", "--emit", "ir", "-o", "-", "-I"]).arg(path).arg(&source).output()?;
    let file = folder.join("k.ll");
    std::fs::write(&file, for_amdgpu(&String::from_utf8_lossy(&ir.stdout)))?;
    let output = Command::new(llc)
        .args(["-mtriple=amdgcn", "-mcpu=gfx1030", "-O2", "-o", "-"])
        .arg(&file)
        .output()
        .context("running llc")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let most = |key: &str| -> f64 {
        text.lines().filter_map(|l| l.trim().strip_prefix(key)?.trim().parse::<f64>().ok()).fold(0.0, f64::max)
    };
    entry.insert("llc_vgprs".into(), most("; NumVgprs:"));
    entry.insert("llc_scratch_bytes".into(), most("; ScratchSize:"));
    Ok(())
}
