//! `bench spirv`: all test kernels as SPIR-V.
//!
//! Each `kernel.cl` becomes a SPIR-V binary by clang 15 (for `spir64`, before any of its passes) and `llvm-spirv-15`, and
//! runs with its case in the place of the source, in timing mode. Counted are the kernels that give what the case expects,
//! those that leave the same bytes in all buffers as OpenCL C, and those that take the same number of cycles. Figures are
//! the simulated machine's and do not depend on the host.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::kernels::{Kernel, number};
use super::report::{NotCompared, Report, Table, cell};
use super::{Setup, geomean};
use crate::shell::{find, root};

/// Programs that make SPIR-V of OpenCL C. They must be of one version: one writes bitcode, the other reads it.
const MAKERS: [&str; 2] = ["clang-15", "llvm-spirv-15"];

/// How a kernel fared.
enum Fared {
    /// As its case expects: cycles of OpenCL C and of SPIR-V, and whether all buffers have the same bytes.
    Well { cycles: [f64; 2], same_bytes: bool },
    /// Not: what the program said that failed.
    Failed(String),
}

pub fn run(setup: &Setup, report: &mut Report) -> Result<()> {
    let missing: Vec<&str> = MAKERS.iter().copied().filter(|m| find(m).is_none()).collect();
    let kernels = setup.kernels()?;
    if !missing.is_empty() {
        let why = format!("no {}", missing.join(", no "));
        report.not_compared.push(NotCompared { peer: "SPIR-V", what: "the test kernels".into(), why });
        return alone(setup, &kernels, report);
    }
    let all = setup.in_parallel(&kernels, |kernel| Ok((kernel.name.clone(), measure(setup, kernel)?)))?;
    let mut table = Table::new(["kernel", "cycles, OpenCL C", "cycles, SPIR-V", "ratio", "failed"]);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut ratios = Vec::new();
    for (name, fared) in &all {
        match fared {
            Fared::Well { cycles: [source, binary], same_bytes } => {
                *counts.entry("as_expected").or_default() += 1;
                *counts.entry("same_bytes").or_default() += usize::from(*same_bytes);
                *counts.entry("same_cycles").or_default() += usize::from(source == binary);
                let ratio = binary / source.max(1.0);
                ratios.push(ratio);
                report.kernels.entry(name.clone()).or_default().insert("cycles_ratio".into(), ratio);
                if !same_bytes || (ratio - 1.0).abs() > WORTH_A_ROW {
                    let note = if *same_bytes { "" } else { "other bytes" };
                    table.row([format!("`{name}`"), cell(Some(*source)), cell(Some(*binary)), cell(Some(ratio)), note.into()]);
                }
            }
            Fared::Failed(why) => {
                table.row([format!("`{name}`"), String::new(), String::new(), String::new(), why.clone()]);
            }
        }
    }
    report.figure("kernels", all.len() as f64);
    for name in ["as_expected", "same_bytes", "same_cycles"] {
        report.figure(name, counts.get(name).copied().unwrap_or(0) as f64);
    }
    report.figure("cycles_geomean", geomean(&ratios));
    report.figures_table();
    if !table.is_empty() {
        report.tables.push(table);
    }
    Ok(())
}

/// The kernels in OpenCL C, where there is nothing to make SPIR-V of them.
fn alone(setup: &Setup, kernels: &[Kernel], report: &mut Report) -> Result<()> {
    let all = setup.in_parallel(kernels, |kernel| Ok((kernel.name.clone(), setup.simulate::<&str>(&kernel.case(), &[])?)))?;
    for (name, total) in all {
        report.kernels.entry(name).or_default().insert("cycles".into(), number(&total, "timing.cycles"));
    }
    report.figure("kernels", kernels.len() as f64);
    report.figures_table();
    Ok(())
}

/// Compiles a kernel to SPIR-V, and runs it in both languages.
fn measure(setup: &Setup, kernel: &Kernel) -> Result<Fared> {
    let folder = tempfile::tempdir()?;
    let (bitcode, binary) = (folder.path().join("kernel.bc"), folder.path().join("kernel.spv"));
    let mut clang = Command::new(MAKERS[0]);
    clang.args(["--target=spir64", "-x", "cl", "-Xclang", "-finclude-default-header", "-O2", "-Xclang", "-disable-llvm-passes"]);
    clang.args(["-fgnu89-inline", "-cl-kernel-arg-info", "-gline-tables-only", "-w", "-D__OPENCL_VERSION__=300"]);
    if !kernel.options.iter().any(|o| o.starts_with("-cl-std=")) {
        clang.arg("-cl-std=CL3.0");
    }
    clang.arg("-I").arg(&kernel.folder).arg("-I").arg(root().join("builtins")).args(&kernel.options);
    clang.args(["-emit-llvm", "-c"]).arg(kernel.folder.join("kernel.cl")).arg("-o").arg(&bitcode);
    if let Some(why) = failure(clang)? {
        return Ok(Fared::Failed(format!("{}: {why}", MAKERS[0])));
    }
    let mut translator = Command::new(MAKERS[1]);
    translator.arg("--spirv-ext=+all").arg(&bitcode).arg("-o").arg(&binary);
    if let Some(why) = failure(translator)? {
        return Ok(Fared::Failed(format!("{}: {why}", MAKERS[1])));
    }
    let source = run_case(setup, kernel, &kernel.folder.join("kernel.cl"), &folder.path().join("source"))?;
    let source = source.map_err(|why| anyhow::anyhow!("{}: {why}", kernel.name))?;
    let ours = match run_case(setup, kernel, &binary, &folder.path().join("binary"))? {
        Ok(ours) => ours,
        Err(why) => return Ok(Fared::Failed(why)),
    };
    let cycles = [&source, &ours].map(|r| number(&r.total, "timing.cycles"));
    Ok(Fared::Well { cycles, same_bytes: source.buffers == ours.buffers })
}

/// What a program complains of first, if it fails.
fn failure(mut command: Command) -> Result<Option<String>> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    Ok((!output.status.success()).then(|| complaint(&output.stderr)))
}

/// The first line that says what is wrong, without the path in front of it.
fn complaint(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let line = text.lines().find(|l| l.contains("error:")).or_else(|| text.lines().next()).unwrap_or("it says nothing");
    line.split_once("error: ").map_or(line, |(_, what)| what).replace('|', "/")
}

/// What a run left.
struct Ran {
    total: Value,
    /// The contents of all buffers.
    buffers: BTreeMap<String, Vec<u8>>,
}

/// Runs a kernel's case with another source; the error is what Heddle says.
fn run_case(setup: &Setup, kernel: &Kernel, source: &Path, folder: &Path) -> Result<Result<Ran, String>> {
    std::fs::create_dir_all(folder)?;
    let mut case: Value = serde_json::from_str(&std::fs::read_to_string(kernel.case())?)?;
    case["source"] = json!(source);
    let mut saved: Vec<(String, PathBuf)> = Vec::new();
    for (name, buffer) in case["buffers"].as_object_mut().into_iter().flatten() {
        for field in ["npy", "expect"] {
            if let Some(path) = buffer[field].as_str() {
                buffer[field] = json!(kernel.folder.join(path));
            }
        }
        let path = folder.join(format!("{name}.npy"));
        buffer["save"] = json!(path);
        saved.push((name.clone(), path));
    }
    // Options may name folders beside the case.
    let mut words = vec![json!(format!("-I{}", kernel.folder.display()))];
    words.extend(kernel.options.iter().map(|o| json!(o)));
    case["options"] = Value::Array(words);
    let (file, stats) = (folder.join("case.json"), folder.join("stats.json"));
    std::fs::write(&file, case.to_string())?;
    let output = Command::new(&setup.heddle).arg("run").arg(&file).arg("-q").arg("--json").arg(&stats).output()?;
    if !output.status.success() {
        return Ok(Err(complaint(&output.stderr)));
    }
    let mut json: Value = serde_json::from_str(&std::fs::read_to_string(&stats)?)?;
    let mut buffers = BTreeMap::new();
    for (name, path) in saved {
        buffers.insert(name, std::fs::read(&path).with_context(|| format!("reading {}", path.display()))?);
    }
    ensure!(!buffers.is_empty(), "{} has no buffers", kernel.name);
    Ok(Ok(Ran { total: json["total"].take(), buffers }))
}

/// Relative differences of cycles that the table shows.
const WORTH_A_ROW: f64 = 0.02;
