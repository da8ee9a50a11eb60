//! `bench regfile`: what local register files save (C1–C12) against the same kernels compiled with
//! `--regfile=single`, and how many main registers and spills kernels need beside LLVM's AMDGPU
//! back end on the same IR.
//!
//! Energies and cycles are the simulated machine's and do not depend on the host. Register-file
//! energy is that of all files, scalar and predicate included.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use super::compile::{Llc, large};
use super::kernels::{Kernel, number, sum_of};
use super::report::{NotCompared, Report, Table, percent};
use super::{Setup, geomean, largest};

/// Kernels that the table shows of those that save least and of those that lose most cycles,
/// besides those with a workload.
const WORST: usize = 6;

/// Reads and writes of the local files and of the main file, copies and instructions.
#[derive(Clone, Copy, Default)]
struct Counts {
    local: [f64; 2],
    main: [f64; 2],
    copies: f64,
    instructions: f64,
}

impl Counts {
    fn of(total: &Value) -> Counts {
        let mut counts =
            Counts { copies: number(total, "copies"), instructions: number(total, "instructions"), ..Default::default() };
        for (i, what) in ["reads", "writes"].into_iter().enumerate() {
            let files = total["registers"]["local"].as_array().into_iter().flatten();
            counts.local[i] = files.map(|file| number(file, what)).sum();
            counts.main[i] = number(total, &format!("registers.main.{what}"));
        }
        counts
    }

    fn add(&mut self, other: &Counts) {
        for i in 0..2 {
            self.local[i] += other.local[i];
            self.main[i] += other.main[i];
        }
        self.copies += other.copies;
        self.instructions += other.instructions;
    }

    /// The part of the reads (0) or writes (1) that the local files serve.
    fn local_share(&self, i: usize) -> f64 {
        let all = self.local[i] + self.main[i];
        if all > 0.0 { self.local[i] / all } else { 0.0 }
    }

    fn copies_per_100(&self) -> f64 {
        100.0 * self.copies / self.instructions
    }
}

pub fn run(setup: &Setup, report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let llc = Llc::find();
    let kernels = setup.kernels()?;
    let measured = setup.in_parallel(&kernels, |kernel| {
        let with = setup.simulate::<&str>(&kernel.case(), &[])?;
        let without = setup.simulate(&kernel.case(), &["--regfile", "single"])?;
        let files = |v: &Value| sum_of(v, |part| part.starts_with("register-file"));
        let (counts, single) = (Counts::of(&with), Counts::of(&without));
        let mut values = BTreeMap::new();
        let mut note = |name: &str, value: f64| values.insert(name.to_string(), value);
        note("energy_saved", 1.0 - files(&with) / files(&without));
        note("cycles_ratio", number(&with, "timing.cycles") / number(&without, "timing.cycles"));
        note("local_reads_share", counts.local_share(0));
        note("local_writes_share", counts.local_share(1));
        note("copies_per_100", counts.copies_per_100());
        note("copies_per_100_single", single.copies_per_100());
        note("main_registers", main_registers(kernel, &setup.heddle, "multilevel")?);
        note("main_registers_single", main_registers(kernel, &setup.heddle, "single")?);
        let refused = match &llc {
            Some(llc) => match llc.assembly(kernel, &setup.heddle, folder.path())? {
                Ok(text) => {
                    note("llc_vgprs", most(&text, "; NumVgprs:"));
                    note("llc_scratch_bytes", most(&text, "; ScratchSize:"));
                    None
                }
                Err(reason) => Some((kernel.name.clone(), reason)),
            },
            None => None,
        };
        Ok((values, counts, refused))
    })?;
    let (mut sum, mut refused) = (Counts::default(), Vec::new());
    for (kernel, (values, counts, reason)) in kernels.iter().zip(measured) {
        sum.add(&counts);
        refused.extend(reason);
        report.kernels.insert(kernel.name.clone(), values);
    }
    let column = |key: &str| -> Vec<f64> { report.kernels.values().map(|v| v[key]).collect() };
    let left: Vec<f64> = column("energy_saved").iter().map(|saved| 1.0 - saved).collect();
    let cycles = column("cycles_ratio");
    report.figure("energy_saved.geomean", 1.0 - geomean(&left));
    report.figure("energy_saved.min", 1.0 - largest(&left));
    report.figure("cycles_ratio.geomean", geomean(&cycles));
    report.figure("cycles_ratio.max", largest(&cycles));
    report.figure("local_read_share", sum.local_share(0));
    report.figure("local_write_share", sum.local_share(1));
    report.figure("copies_per_100", sum.copies_per_100());
    large(setup, report, folder.path())?;
    report.figures_table();
    table(setup, report)?;
    report.notes.extend(Llc::note(kernels.len(), &refused));
    if llc.is_none() {
        let (what, why) = ("registers".to_string(), "llc-19 is not installed".to_string());
        report.not_compared.push(NotCompared { peer: "LLVM's AMDGPU back end", what, why });
    }
    Ok(())
}

/// Main registers of the largest kernel of a source.
fn main_registers(kernel: &Kernel, heddle: &Path, files: &str) -> Result<f64> {
    let text = kernel.text(heddle, &["--emit", "asm", "--regfile", files])?;
    let headers = text.lines().filter_map(|l| serde_json::from_str::<Value>(l.strip_prefix(".kernel ")?).ok());
    Ok(headers.map(|h| number(&h, "main_registers")).reduce(f64::max).unwrap_or(f64::NAN))
}

/// The largest number behind a comment of llc's.
fn most(assembly: &str, key: &str) -> f64 {
    let numbers = assembly.lines().filter_map(|l| l.trim().strip_prefix(key)?.trim().parse::<f64>().ok());
    numbers.reduce(f64::max).unwrap_or(f64::NAN)
}

/// The kernels that have a workload, and the worst ones.
fn table(setup: &Setup, report: &mut Report) -> Result<()> {
    let mut shown: Vec<String> = setup.workloads()?.into_iter().map(|(name, _)| name).collect();
    let mut by = |key: &str, sign: f64| {
        let mut names: Vec<&String> = report.kernels.keys().collect();
        names.sort_by(|a, b| (sign * report.kernels[*a][key]).total_cmp(&(sign * report.kernels[*b][key])));
        shown.extend(names.into_iter().take(WORST).cloned());
    };
    by("energy_saved", 1.0);
    by("cycles_ratio", -1.0);
    shown.sort();
    shown.dedup();
    let mut table = Table::new([
        "kernel",
        "energy saved",
        "cycles",
        "reads local",
        "writes local",
        "copies per 100 (single)",
        "main registers",
        "single file",
        "llc VGPRs",
    ]);
    for (name, v) in shown.iter().filter_map(|name| report.kernels.get_key_value(name)) {
        table.row([
            format!("`{name}`"),
            percent(v["energy_saved"]),
            format!("{:.3}", v["cycles_ratio"]),
            percent(v["local_reads_share"]),
            percent(v["local_writes_share"]),
            format!("{:.1} ({:.1})", v["copies_per_100"], v["copies_per_100_single"]),
            format!("{:.0}", v["main_registers"]),
            format!("{:.0}", v["main_registers_single"]),
            v.get("llc_vgprs").map_or("—".into(), |n| format!("{n:.0}")),
        ]);
    }
    report.tables.push(table);
    Ok(())
}
