//! `bench scalar`: how much redundant work the scalar unit takes over (S5–S7), and what it is worth.
//!
//! Every test kernel runs in timing mode: as compiled by default, with `--no-scalarize`, and with run-time scalarizer thresholds 0, 1 and 4. Cycles and
//! energy are those of the simulated machine and do not depend on the host.

use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{Report, geomean, kernels};
use crate::shell::build;

pub fn run(report: &mut Report) -> Result<()> {
    let heddle = build()?;
    let (mut static_shares, mut cycles, mut energies) = (Vec::new(), Vec::new(), Vec::new());
    let mut sums = [0.0; 6];
    for (name, folder) in kernels()? {
        let total = |options: &[&str]| -> Result<Value> {
            let mut command = Command::new(&heddle);
            command.arg("run").arg(folder.join("case.json")).args(["--json", "-"]).args(options);
            let output = command.output().context("cannot run heddle")?;
            anyhow::ensure!(output.status.success(), "{name} {options:?}: {}", String::from_utf8_lossy(&output.stderr));
            let json: Value = serde_json::from_slice(&output.stdout)?;
            Ok(json["total"].clone())
        };
        let energy =
            |v: &Value| -> f64 { v["energy_pj"].as_object().into_iter().flatten().filter_map(|(_, e)| e.as_f64()).sum() };
        let clock = |v: &Value| v["timing"]["cycles"].as_f64().unwrap_or(f64::NAN);
        let with = total(&["--check=marks"])?;
        let without = total(&["--no-scalarize", "--scalar-threshold", "0"])?;
        let entry = report.kernels.entry(name.clone()).or_default();
        for threshold in ["0", "1", "4"] {
            let v = total(&["--scalar-threshold", threshold])?;
            entry.insert(format!("cycles_ratio.threshold_{threshold}"), clock(&v) / clock(&without));
            entry.insert(format!("energy_ratio.threshold_{threshold}"), energy(&v) / energy(&without));
        }
        let form = |k: &str| with["timing"]["forms"][k].as_f64().unwrap_or(0.0);
        let forms = ["scalar", "marked", "one_lane", "few_lanes", "missed", "vector"].map(form);
        let [scalar, marked, one, few, missed, vector] = forms;
        let oracle = scalar + marked + one + few + missed;
        entry.insert("oracle_share".into(), oracle / (oracle + vector));
        entry.insert("scalar_instruction_share".into(), (oracle - missed) / (oracle + vector));
        if oracle > 0.0 {
            entry.insert("oracle_static_share".into(), (scalar + marked) / oracle);
            entry.insert("oracle_caught_share".into(), (oracle - missed) / oracle);
            static_shares.push((scalar + marked) / oracle);
        }
        sums.iter_mut().zip(forms).for_each(|(s, f)| *s += f);
        cycles.push(clock(&with) / clock(&without));
        energies.push(energy(&with) / energy(&without));
    }
    let [scalar, marked, one, few, missed, vector] = sums;
    let oracle = scalar + marked + one + few + missed;
    let figures = &mut report.figures;
    figures.insert("oracle_static_share".into(), static_shares.iter().sum::<f64>() / static_shares.len().max(1) as f64);
    figures.insert("oracle_static_share.of_all_instructions".into(), (scalar + marked) / oracle);
    // What one lane alone executes is redundant by definition and known only at run time.
    figures.insert("oracle_static_share.without_one_lane".into(), (scalar + marked) / (oracle - one));
    figures.insert("oracle_caught_share".into(), (oracle - missed) / oracle);
    figures.insert("scalar_instruction_share".into(), (oracle - missed) / (oracle + vector));
    figures.insert("cycles_ratio.geomean".into(), geomean(&cycles));
    figures.insert("cycles_ratio.max".into(), cycles.iter().copied().fold(0.0, f64::max));
    figures.insert("energy_ratio.geomean".into(), geomean(&energies));
    figures.insert("energy_ratio.max".into(), energies.iter().copied().fold(0.0, f64::max));
    Ok(())
}
