//! `bench scalar`: how much redundant work the scalar unit takes over (S5–S7), and what it is
//! worth.
//!
//! Every test kernel runs in timing mode: as compiled by default, with `--no-scalarize`, and with
//! run-time scalarizer thresholds 0, 1 and 4. Cycles and energy are those of the simulated machine
//! and do not depend on the host.

use anyhow::Result;
use serde_json::Value;

use super::kernels::{energy, number};
use super::report::Report;
use super::{Setup, geomean, largest};

/// How the instructions of a kernel ran that the scalar unit could have run: forms of
/// `timing.forms`, and those that need all lanes.
struct Forms {
    scalar: f64,
    marked: f64,
    one_lane: f64,
    few_lanes: f64,
    missed: f64,
    vector: f64,
}

impl Forms {
    fn of(total: &Value) -> Forms {
        let form = |name: &str| number(total, &format!("timing.forms.{name}"));
        Forms {
            scalar: form("scalar"),
            marked: form("marked"),
            one_lane: form("one_lane"),
            few_lanes: form("few_lanes"),
            missed: form("missed"),
            vector: form("vector"),
        }
    }

    fn sum(all: &[Forms]) -> Forms {
        let sum = |part: fn(&Forms) -> f64| all.iter().map(part).sum();
        Forms {
            scalar: sum(|f| f.scalar),
            marked: sum(|f| f.marked),
            one_lane: sum(|f| f.one_lane),
            few_lanes: sum(|f| f.few_lanes),
            missed: sum(|f| f.missed),
            vector: sum(|f| f.vector),
        }
    }

    /// All that the scalar unit could run.
    fn oracle(&self) -> f64 {
        self.scalar + self.marked + self.one_lane + self.few_lanes + self.missed
    }

    /// The part of it that the compiler found.
    fn found(&self) -> f64 {
        self.scalar + self.marked
    }
}

pub fn run(setup: &Setup, report: &mut Report) -> Result<()> {
    let kernels = setup.kernels()?;
    let measured = setup.in_parallel(&kernels, |kernel| {
        let total = |options: &[&str]| setup.simulate(&kernel.case(), options);
        let with = total(&["--check=marks"])?;
        let without = total(&["--no-scalarize", "--scalar-threshold", "0"])?;
        let clock = |v: &Value| number(v, "timing.cycles") / number(&without, "timing.cycles");
        let power = |v: &Value| energy(v) / energy(&without);
        let mut ratios = Vec::new();
        for threshold in ["0", "1", "4"] {
            let v = total(&["--scalar-threshold", threshold])?;
            ratios.push((format!("cycles_ratio.threshold_{threshold}"), clock(&v)));
            ratios.push((format!("energy_ratio.threshold_{threshold}"), power(&v)));
        }
        Ok((Forms::of(&with), ratios, clock(&with), power(&with)))
    })?;
    let (mut static_shares, mut cycles, mut energies, mut all) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (kernel, (forms, ratios, cycle, energy)) in kernels.iter().zip(measured) {
        let entry = report.kernels.entry(kernel.name.clone()).or_default();
        entry.extend(ratios);
        let oracle = forms.oracle();
        entry.insert("oracle_share".into(), oracle / (oracle + forms.vector));
        entry.insert("scalar_instruction_share".into(), (oracle - forms.missed) / (oracle + forms.vector));
        if oracle > 0.0 {
            entry.insert("oracle_static_share".into(), forms.found() / oracle);
            entry.insert("oracle_caught_share".into(), (oracle - forms.missed) / oracle);
            static_shares.push(forms.found() / oracle);
        }
        all.push(forms);
        cycles.push(cycle);
        energies.push(energy);
    }
    let sum = Forms::sum(&all);
    let oracle = sum.oracle();
    report.figure("oracle_static_share", static_shares.iter().sum::<f64>() / static_shares.len().max(1) as f64);
    report.figure("oracle_static_share.of_all_instructions", sum.found() / oracle);
    // What one lane alone executes is redundant by definition and known only at run time.
    report.figure("oracle_static_share.without_one_lane", sum.found() / (oracle - sum.one_lane));
    report.figure("oracle_caught_share", (oracle - sum.missed) / oracle);
    report.figure("scalar_instruction_share", (oracle - sum.missed) / (oracle + sum.vector));
    report.figure("cycles_ratio.geomean", geomean(&cycles));
    report.figure("cycles_ratio.max", largest(&cycles));
    report.figure("energy_ratio.geomean", geomean(&energies));
    report.figure("energy_ratio.max", largest(&energies));
    report.figures_table();
    Ok(())
}
