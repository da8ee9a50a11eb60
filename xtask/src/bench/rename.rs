//! `bench rename`: what register renaming (REN-1 … REN-8) is worth where registers are scarce.
//!
//! Every workload runs on two SMs with 100, 75, 50 and 40 % of the machine's physical main
//! registers, with and without renaming; all ratios are against the whole file without renaming.
//! Since local files hold most values, the kernels name few main registers; so there are two more
//! series with the main file alone (`--regfile=single`), as the publication has it: `single_…` with
//! the same files, and `named_…`, whose whole file is only what the kernel names at full residency,
//! so that every kernel is short of registers at 50 %, whatever it needs. A second table shows half of
//! the file on the workloads that hold many registers for short times between long waits, and on
//! others that it slows down: cycles against the whole file without renaming, and occupancy. Figures
//! are the simulated machine's and do not depend on the host.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::Value;

use super::kernels::number;
use super::report::{Report, Table};
use super::{Setup, geomean, largest};

/// Main registers of an SM of the default machine, warps and lanes.
const FILE: f64 = 65536.0;
const WARPS: f64 = 32.0;
const LANES: f64 = 32.0;

/// Parts of the file, in per cent, and what their figures are called.
const PARTS: [(u32, &str); 4] =
    [(100, "slowdown_at_100"), (75, "slowdown_at_75"), (50, "slowdown_at_half"), (40, "slowdown_at_40")];
/// What limits the registers: prefix of the figures, and words for the table.
const SERIES: [(&str, &str); 3] =
    [("", "default machine"), ("single_", "main file alone"), ("named_", "only what the kernel names")];
/// How they are shared: prefix of the values, suffix of the figures, and words for the table.
const HOW: [(&str, &str, &str); 3] =
    [("rename", "", "renaming"), ("without", "_without", "without"), ("by_name", "_by_name", "`--release=name`")];

/// Workloads that hold many registers for a short time between long waits.
const PHASES: &str = "_phases";

/// Values of one workload, each against a base.
struct Values(BTreeMap<String, f64>);

impl Values {
    fn note(&mut self, name: &str, base: &Value, v: &Value) {
        let ratio = |path: &str| number(v, path) / number(base, path).max(1e-9);
        self.0.insert(format!("{name}.slowdown"), ratio("timing.cycles"));
        self.0.insert(format!("{name}.residency"), ratio("timing.occupancy"));
        self.0.insert(format!("{name}.stalls"), number(v, "timing.stalls.rename") / number(v, "timing.cycles").max(1.0));
    }
}

pub fn run(setup: &Setup, report: &mut Report) -> Result<()> {
    let all = setup.in_parallel(&setup.workloads()?, |(name, case)| {
        let run = |registers: f64, more: &[&str]| {
            let rows = (registers / LANES).floor();
            let mut options: Vec<String> = vec!["--set".into(), "sm.count=2".into()];
            let limits = [("main-registers", rows * LANES), ("max-main-registers", rows.min(256.0))];
            options.extend(limits.iter().flat_map(|(field, n)| ["--set".into(), format!("sm.{field}={n}")]));
            options.extend(more.iter().map(|o| (*o).to_string()));
            setup.simulate(case, &options)
        };
        let mut values = Values(BTreeMap::new());
        let base = run(FILE, &["--no-rename"])?;
        for (percent, _) in PARTS {
            let part = FILE * f64::from(percent) / 100.0;
            values.note(&format!("rename_{percent}"), &base, &run(part, &[])?);
            values.note(&format!("without_{percent}"), &base, &run(part, &["--no-rename"])?);
        }
        values.note("by_name_50", &base, &run(FILE * 0.5, &["--release", "name"])?);
        // With the main file alone, as in the publication: all of it, and what the kernel names at
        // full residency.
        let single = ["--regfile", "single"];
        let without = ["--regfile", "single", "--no-rename"];
        let base = run(FILE, &without)?;
        for (percent, _) in PARTS {
            let part = FILE * f64::from(percent) / 100.0;
            values.note(&format!("single_rename_{percent}"), &base, &run(part, &single)?);
            values.note(&format!("single_without_{percent}"), &base, &run(part, &without)?);
        }
        let full = (number(&base, "timing.named_registers").max(1.0) * WARPS * LANES).min(FILE);
        let base = run(full, &without)?;
        for (percent, _) in &PARTS[1..] {
            let part = full * f64::from(*percent) / 100.0;
            values.note(&format!("named_rename_{percent}"), &base, &run(part, &single)?);
            values.note(&format!("named_without_{percent}"), &base, &run(part, &without)?);
        }
        let by_name = ["--regfile", "single", "--release", "name"];
        values.note("named_by_name_50", &base, &run(full * 0.5, &by_name)?);
        Ok((name.clone(), values.0))
    })?;
    summary(&all, report);
    half(&all, report);
    report.kernels.extend(all);
    Ok(())
}

/// Half of the file, with renaming and without: the workloads that are there to need it, and others that half of the file
/// slows down by more than 2 %.
fn half(all: &[(String, BTreeMap<String, f64>)], report: &mut Report) {
    let header = ["kernel", "limits", "cycles, renaming", "cycles, without", "occupancy, renaming", "occupancy, without"];
    let (mut table, mut gains) = (Table::new(header), Vec::new());
    for (name, values) in all {
        for (series, limits) in &SERIES[..2] {
            let of = |how: &str, what: &str| values.get(&format!("{series}{how}_50.{what}")).copied().unwrap_or(f64::NAN);
            let [with, without] = ["rename", "without"].map(|how| of(how, "slowdown"));
            let needs = name.ends_with(PHASES);
            if needs {
                gains.push(without / with);
            }
            if needs || with.max(without) > 1.02 {
                let numbers = [with, without, of("rename", "residency"), of("without", "residency")];
                let cells = [format!("`{name}`"), (*limits).to_string()].into_iter();
                table.row(cells.chain(numbers.map(|n| format!("{n:.3}"))));
            }
        }
    }
    if !gains.is_empty() {
        report.figure("phases_gain_at_half.geomean", geomean(&gains));
        report.figure("phases_gain_at_half.worst", gains.iter().copied().fold(f64::INFINITY, f64::min));
        report.tables.push(table);
    }
}

/// Means and worst cases over the workloads.
fn summary(all: &[(String, BTreeMap<String, f64>)], report: &mut Report) {
    let column = |key: &str| -> Vec<f64> { all.iter().filter_map(|(_, v)| v.get(key).copied()).collect() };
    let mut table = Table::new(["series", "100 %", "75 %", "50 %", "40 %"]);
    for (series, limits) in SERIES {
        for (how, suffix, words) in HOW {
            let (mut row, mut any) = (vec![format!("{limits}, {words}")], false);
            for (percent, figure) in PARTS {
                let slowdowns = column(&format!("{series}{how}_{percent}.slowdown"));
                if slowdowns.is_empty() {
                    row.push("—".into());
                    continue;
                }
                any = true;
                let residency = geomean(&column(&format!("{series}{how}_{percent}.residency")));
                report.figure(format!("{series}{figure}{suffix}.geomean"), geomean(&slowdowns));
                report.figure(format!("{series}{figure}{suffix}.max"), largest(&slowdowns));
                report.figure(format!("{series}{figure}{suffix}.residency"), residency);
                row.push(format!("{:.3} / {:.2} / {residency:.2}", geomean(&slowdowns), largest(&slowdowns)));
            }
            if any {
                table.row(row);
            }
        }
    }
    report.tables.push(table);
}
