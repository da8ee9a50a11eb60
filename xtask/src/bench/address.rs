//! `bench address`: what addresses of global ids (G5, G6) save against the same kernels compiled
//! with `--no-global-id`.
//!
//! Integer instructions are the warp instructions of the integer unit classes, moves included,
//! wherever they run. Figures are the simulated machine's and do not depend on the host.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::Value;

use super::kernels::{energy, number};
use super::report::{Report, Table, percent};
use super::{Setup, geomean, largest};

/// Kernels whose accesses are mostly affine in the ids: vector, stencil, transpose and image
/// kernels.
const AFFINE: [&str; 5] = ["vectoradd_pitch", "saxpy", "stencil2d", "transpose", "image_filter"];

/// Classes that did not run are not listed.
fn integers(total: &Value) -> f64 {
    ["int32", "int64", "mul32", "mul64", "move"].iter().filter_map(|c| total["classes"][c].as_f64()).fold(0.0, |sum, n| sum + n)
}

pub fn run(setup: &Setup, report: &mut Report) -> Result<()> {
    let all = setup.in_parallel(&setup.workloads()?, |(name, case)| {
        let with = setup.simulate(case, &["--set", "sm.count=2"])?;
        let without = setup.simulate(case, &["--set", "sm.count=2", "--no-global-id"])?;
        let ratio = |path: &str| number(&with, path) / number(&without, path).max(1.0);
        let mut values = BTreeMap::new();
        values.insert("integer".to_string(), integers(&with));
        values.insert("integer_without".to_string(), integers(&without));
        values.insert("instructions_removed".to_string(), 1.0 - ratio("instructions"));
        values.insert("vector_instructions_removed".to_string(), 1.0 - ratio("lane_instructions"));
        values.insert("cycles_ratio".to_string(), ratio("timing.cycles"));
        values.insert("energy_ratio".to_string(), energy(&with) / energy(&without));
        values.insert("main_registers".to_string(), number(&with, "timing.named_registers"));
        values.insert("main_registers_without".to_string(), number(&without, "timing.named_registers"));
        Ok((name.clone(), values))
    })?;
    let column = |key: &str| -> Vec<f64> { all.iter().filter_map(|(_, v)| v.get(key).copied()).collect() };
    let removed = |key: &str| {
        let left: Vec<f64> = all.iter().filter(|(n, _)| AFFINE.contains(&n.as_str())).map(|(_, v)| 1.0 - v[key]).collect();
        1.0 - geomean(&left)
    };
    let vectoradd = all.iter().find(|(n, _)| n == "vectoradd_pitch").map_or(f64::NAN, |(_, v)| v["integer"]);
    report.figure("vectoradd_integer_instructions", vectoradd);
    report.figure("instructions_removed.geomean_affine", removed("instructions_removed"));
    report.figure("vector_instructions_removed.geomean_affine", removed("vector_instructions_removed"));
    for key in ["cycles_ratio", "energy_ratio"] {
        report.figure(format!("{key}.geomean"), geomean(&column(key)));
        report.figure(format!("{key}.max"), largest(&column(key)));
    }
    let mut table = Table::new([
        "kernel",
        "integer instructions",
        "without",
        "all instructions removed",
        "lane instructions removed",
        "cycles",
        "energy",
    ]);
    for (name, v) in &all {
        table.row([
            format!("`{name}`"),
            format!("{:.0}", v["integer"]),
            format!("{:.0}", v["integer_without"]),
            percent(v["instructions_removed"]),
            percent(v["vector_instructions_removed"]),
            format!("{:.3}", v["cycles_ratio"]),
            format!("{:.3}", v["energy_ratio"]),
        ]);
    }
    report.tables.push(table);
    report.figures_table();
    report.kernels.extend(all);
    Ok(())
}
