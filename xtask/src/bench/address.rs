//! `bench address`: what addresses of global ids (G5, G6) save against the same kernels compiled with `--no-global-id`.
//!
//! Integer instructions are the warp instructions of the integer unit classes, moves included, wherever they run. Figures are the simulated machine's and do not
//! depend on the host.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::Value;

use super::{Report, geomean, in_parallel, number, simulate, workloads};
use crate::shell::build;

/// Kernels whose accesses are mostly affine in the ids: vector, stencil, transpose and image kernels.
const AFFINE: [&str; 5] = ["vectoradd_pitch", "saxpy", "stencil2d", "transpose", "image_filter"];

fn integers(v: &Value) -> f64 {
    ["int32", "int64", "mul32", "mul64", "move"].iter().map(|c| number(v, &format!("classes.{c}"))).sum()
}

fn energy(v: &Value) -> f64 {
    v["energy_pj"].as_object().into_iter().flatten().filter_map(|(_, e)| e.as_f64()).sum()
}

pub fn run(report: &mut Report) -> Result<()> {
    let heddle = build()?;
    let all = in_parallel(&workloads()?, |(name, case)| {
        let run = |more: &[&str]| {
            let options = ["--set", "sm.count=2"].iter().chain(more).map(|o| (*o).to_string()).collect::<Vec<_>>();
            simulate(&heddle, case, &options)
        };
        let (with, without) = (run(&[])?, run(&["--no-global-id"])?);
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
    let most = |key: &str| column(key).into_iter().fold(0.0, f64::max);
    let figures = &mut report.figures;
    let vectoradd = all.iter().find(|(n, _)| n == "vectoradd_pitch").map_or(f64::NAN, |(_, v)| v["integer"]);
    figures.insert("vectoradd_integer_instructions".into(), vectoradd);
    figures.insert("instructions_removed.geomean_affine".into(), removed("instructions_removed"));
    figures.insert("vector_instructions_removed.geomean_affine".into(), removed("vector_instructions_removed"));
    for key in ["cycles_ratio", "energy_ratio"] {
        figures.insert(format!("{key}.geomean"), geomean(&column(key)));
        figures.insert(format!("{key}.max"), most(key));
    }
    report.kernels.extend(all);
    Ok(())
}
