//! `bench rename`: what register renaming (REN-1 … REN-8) is worth where registers are scarce.
//!
//! Every workload runs on two SMs with 100, 75, 50 and 40 % of the machine's physical main registers, with and without renaming; all ratios are against
//! the whole file without renaming. Since local files hold most values, the kernels name few main registers; so there are two more series with the main
//! file alone (`--regfile=single`), as the publication has it: `single_…` with the same files, and `named_…`, whose whole file is only what the
//! kernel names at full residency, so that every kernel is short of registers at 50 %, whatever it needs. Figures are the simulated
//! machine's and do not depend on the host.

use anyhow::Result;

use super::{Report, geomean, in_parallel, number, simulate, workloads};
use crate::shell::build;

/// Main registers of an SM of the default machine, warps and lanes.
const FILE: f64 = 65536.0;
const WARPS: f64 = 48.0;
const LANES: f64 = 32.0;

pub fn run(report: &mut Report) -> Result<()> {
    let heddle = build()?;
    let all = in_parallel(&workloads()?, |(name, case)| {
        let run = |registers: f64, more: &[&str]| {
            let rows = (registers / LANES).floor();
            let mut options: Vec<String> = vec!["--set".into(), "sm.count=2".into()];
            let limits = [("main-registers", rows * LANES), ("max-main-registers", rows.min(256.0))];
            options.extend(limits.iter().flat_map(|(field, n)| ["--set".into(), format!("sm.{field}={n}")]));
            options.extend(more.iter().map(|o| (*o).to_string()));
            simulate(&heddle, case, &options)
        };
        let base = run(FILE, &["--no-rename"])?;
        let mut values = std::collections::BTreeMap::new();
        let mut note = |name: String, base: &serde_json::Value, v: &serde_json::Value| {
            let ratio = |path: &str| number(v, path) / number(base, path).max(1e-9);
            values.insert(format!("{name}.slowdown"), ratio("timing.cycles"));
            values.insert(format!("{name}.residency"), ratio("timing.occupancy"));
            values.insert(format!("{name}.stalls"), number(v, "timing.stalls.rename") / number(v, "timing.cycles").max(1.0));
        };
        for percent in [100.0, 75.0, 50.0, 40.0] {
            for (how, options) in [("rename", &[][..]), ("without", &["--no-rename"])] {
                note(format!("{how}_{percent}"), &base, &run(FILE * percent / 100.0, options)?);
            }
        }
        note("by_name_50".into(), &base, &run(FILE * 0.5, &["--release", "name"])?);
        // With the main file alone, as in the publication: all of it, and what the kernel names at full residency.
        let single = ["--regfile", "single"];
        let without = ["--regfile", "single", "--no-rename"];
        let base = run(FILE, &without)?;
        for percent in [100.0, 75.0, 50.0, 40.0] {
            note(format!("single_rename_{percent}"), &base, &run(FILE * percent / 100.0, &single)?);
            note(format!("single_without_{percent}"), &base, &run(FILE * percent / 100.0, &without)?);
        }
        let full = (number(&base, "timing.named_registers").max(1.0) * WARPS * LANES).min(FILE);
        let base = run(full, &without)?;
        for percent in [75.0, 50.0, 40.0] {
            if percent == 50.0 {
                let by_name = ["--regfile", "single", "--release", "name"];
                note("named_by_name_50".into(), &base, &run(full * percent / 100.0, &by_name)?);
            }
            note(format!("named_rename_{percent}"), &base, &run(full * percent / 100.0, &single)?);
            note(format!("named_without_{percent}"), &base, &run(full * percent / 100.0, &without)?);
        }
        Ok((name.clone(), values))
    })?;
    let column = |key: &str| -> Vec<f64> { all.iter().filter_map(|(_, v)| v.get(key).copied()).collect() };
    let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let figures = &mut report.figures;
    for (series, key) in [("", ""), ("single_", "single_"), ("named_", "named_")] {
        for (figure, percent) in
            [("slowdown_at_100", 100), ("slowdown_at_75", 75), ("slowdown_at_half", 50), ("slowdown_at_40", 40)]
        {
            for (suffix, how) in [("", "rename"), ("_without", "without"), ("_by_name", "by_name")] {
                let slowdowns = column(&format!("{key}{how}_{percent}.slowdown"));
                if slowdowns.is_empty() {
                    continue;
                }
                let residency = geomean(&column(&format!("{key}{how}_{percent}.residency")));
                figures.insert(format!("{series}{figure}{suffix}.geomean"), geomean(&slowdowns));
                figures.insert(format!("{series}{figure}{suffix}.max"), most(&slowdowns));
                figures.insert(format!("{series}{figure}{suffix}.residency"), residency);
            }
        }
    }
    report.kernels.extend(all);
    Ok(())
}
