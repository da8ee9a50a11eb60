//! `bench techniques`: what each technique is worth on every program, and who pays for it.
//!
//! `heddle ablate` runs each test kernel (small launches) and each workload (large ones) with all
//! techniques on, each off in turn, and all off, on two machines, and compares their bytes. The
//! ratio of a technique is cycles without it over cycles with it: more than 1 is a gain. A program
//! that loses more than 1 % is listed with its cause ([`super::cause`]). All runs are repeated with
//! random delays, and means are compared, since the cycles of one run depend on chance. Figures are
//! those of the simulated machine and do not depend on the host.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::report::{Report, Table};
use super::{Setup, cause, geomean};
use crate::shell::root;

/// The machines: what they are called in figures, and their description; `None` is the default.
const MACHINES: [(&str, Option<&str>); 2] = [("default", None), ("mixed", Some("machines/mixed.toml"))];
/// What large launches run on: two SMs with a quarter of the L2 cache and of the DRAM channels of
/// the eight, which the workloads fill.
const QUARTER: [&str; 4] = ["sm.count=2", "memory.l2.bytes=524288", "memory.l2.slices=2", "memory.dram.channels=2"];
/// Runs of each program in each setup, with random delays.
const RUNS: &str = "5";
/// A ratio below this is a loss.
const LOSS: f64 = 0.99;

/// A program with the launches it has here.
struct Program {
    name: String,
    case: PathBuf,
    launches: &'static str,
}

/// What one technique does to one program.
struct Effect {
    technique: String,
    cycles: f64,
    /// Half of the 95 % interval of that.
    half: f64,
    register_energy: f64,
    /// Why the technique costs cycles, if it does.
    cause: Option<String>,
}

pub fn run(setup: &Setup, report: &mut Report) -> Result<()> {
    let small = setup.kernels()?.into_iter().map(|k| Program { case: k.case(), name: k.name, launches: "small" });
    let large = setup.workloads()?.into_iter().map(|(name, case)| Program { name, case, launches: "large" });
    let programs: Vec<Program> = small.chain(large).collect();
    let runs: Vec<_> = MACHINES.iter().flat_map(|machine| programs.iter().map(move |p| (machine, p))).collect();
    let results = setup.in_parallel(&runs, |((_, description), program)| effects(&setup.heddle, program, *description))?;

    let mut losers = Table::new(["technique", "machine, launches", "kernel", "off over on", "± (95 %)", "cause"]);
    let mut rows: Vec<(String, f64, [String; 6])> = Vec::new();
    let mut all: BTreeMap<(&str, &str), Vec<(&str, Effect)>> = BTreeMap::new();
    for (((machine, _), program), effects) in runs.iter().zip(results) {
        for effect in effects {
            let Effect { technique, cycles, half, .. } = &effect;
            let name = format!("{machine}.{}.{}", program.launches, key(technique));
            report.kernels.entry(program.name.clone()).or_default().insert(name, *cycles);
            if let Some(cause) = &effect.cause {
                let place = format!("{machine}, {}", program.launches);
                let (name, ratio) = (format!("`{}`", program.name), format!("{cycles:.3}"));
                let cells = [technique.clone(), place, name, ratio, format!("{half:.3}"), cause.clone()];
                rows.push((technique.clone(), *cycles, cells));
            }
            all.entry((machine, program.launches)).or_default().push((&program.name, effect));
        }
    }
    for (machine, _) in MACHINES {
        for launches in ["small", "large"] {
            let effects = all.get(&(machine, launches)).map_or(&[][..], Vec::as_slice);
            report.tables.push(summary(&format!("{machine}, {launches} launches"), effects));
        }
        let of_machine: Vec<&(&str, Effect)> = all.iter().filter(|((m, _), _)| *m == machine).flat_map(|(_, e)| e).collect();
        for technique in techniques(of_machine.iter().copied()) {
            let ratios = Ratios::of(of_machine.iter().copied(), &technique);
            let figure = |what: &str| format!("{machine}.{}.{what}", key(&technique));
            report.figure(figure("geomean"), ratios.geomean());
            report.figure(figure("best"), ratios.best().1);
            report.figure(figure("worst"), ratios.worst().1);
            report.figure(figure("losers_share"), ratios.losers() as f64 / ratios.0.len().max(1) as f64);
        }
    }
    rows.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    if rows.is_empty() {
        report.notes.push("No kernel loses more than 1 % to any technique.".into());
    } else {
        rows.into_iter().for_each(|(_, _, cells)| losers.row(cells));
        report.tables.push(losers);
    }
    Ok(())
}

/// The table of a machine and its launches.
fn summary(title: &str, effects: &[(&str, Effect)]) -> Table {
    let header = ["geometric mean", "best", "worst", "lose more than 1 %", "register-file energy"];
    let mut table = Table::new([title.to_string()].into_iter().chain(header.map(String::from)));
    for technique in techniques(effects) {
        let ratios = Ratios::of(effects, &technique);
        let energies: Vec<f64> =
            effects.iter().filter(|(_, e)| e.technique == technique).map(|(_, e)| e.register_energy).collect();
        let named = |(name, ratio): (&str, f64)| format!("{ratio:.3} `{name}`");
        table.row([
            technique,
            format!("{:.4}", ratios.geomean()),
            named(ratios.best()),
            named(ratios.worst()),
            format!("{} of {}", ratios.losers(), ratios.0.len()),
            format!("{:.3}", geomean(&energies)),
        ]);
    }
    table
}

/// The techniques of some effects, in the order of `heddle ablate`.
fn techniques<'a, 'b: 'a>(effects: impl IntoIterator<Item = &'a (&'b str, Effect)>) -> Vec<String> {
    let mut result: Vec<String> = Vec::new();
    for (_, effect) in effects {
        if !result.contains(&effect.technique) {
            result.push(effect.technique.clone());
        }
    }
    result
}

/// Ratios of one technique by program.
struct Ratios<'a>(Vec<(&'a str, f64)>);

impl<'a> Ratios<'a> {
    fn of(effects: impl IntoIterator<Item = &'a (&'a str, Effect)>, technique: &str) -> Ratios<'a> {
        let of_technique = effects.into_iter().filter(|(_, e)| e.technique == technique);
        Ratios(of_technique.map(|(name, e)| (*name, e.cycles)).collect())
    }

    fn geomean(&self) -> f64 {
        geomean(&self.0.iter().map(|r| r.1).collect::<Vec<_>>())
    }

    fn best(&self) -> (&'a str, f64) {
        self.0.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(("", f64::NAN))
    }

    fn worst(&self) -> (&'a str, f64) {
        self.0.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(("", f64::NAN))
    }

    fn losers(&self) -> usize {
        self.0.iter().filter(|r| r.1 < LOSS).count()
    }
}

/// A technique's name in figures.
fn key(technique: &str) -> String {
    technique.replace([' ', '-'], "_")
}

/// Runs a program with each technique off in turn.
fn effects(heddle: &Path, program: &Program, description: Option<&str>) -> Result<Vec<Effect>> {
    let mut command = Command::new(heddle);
    command.arg("ablate").arg(&program.case).args(["--threads", "1", "--runs", RUNS, "--json", "-"]);
    if let Some(file) = description {
        command.arg("--target").arg(root().join(file));
    }
    if program.launches == "large" {
        command.args(QUARTER.iter().flat_map(|field| ["--set", field]));
    }
    let output = command.output().context("cannot run heddle")?;
    let words = || format!("ablate {} {}", program.case.display(), description.unwrap_or_default());
    ensure!(output.status.success(), "{}: {}", words(), String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).with_context(words)?;
    of_rows(json["cases"][0]["rows"].as_array().map_or(&[], Vec::as_slice)).with_context(words)
}

/// The effects that an ablation's rows show: the first has all techniques on.
fn of_rows(rows: &[Value]) -> Result<Vec<Effect>> {
    let (on, others) = rows.split_first().context("the ablation has no rows")?;
    let effect = |off: &Value| {
        let setup = off["setup"].as_str().context("a row without a name")?;
        let ratio = |column: &str| off["ratios"][column].as_f64().with_context(|| format!("{setup} has no ratio of {column}"));
        let cycles = ratio("cycles")?;
        Ok(Effect {
            technique: setup.strip_prefix("no ").unwrap_or(setup).to_string(),
            cycles,
            half: off["intervals"]["cycles"].as_f64().unwrap_or(f64::NAN),
            // Nothing at all in a kernel that uses no register.
            register_energy: off["ratios"]["register_file_pj"].as_f64().unwrap_or(1.0),
            cause: (cycles < LOSS).then(|| cause::of(&on["statistics"], &off["statistics"])),
        })
    };
    others.iter().map(effect).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_become_effects_and_losses_have_causes() {
        let row = |setup: &str, cycles: u64| {
            json!({ "setup": setup, "ratios": { "cycles": cycles as f64 / 1000.0, "register_file_pj": 2.0 },
                    "intervals": { "cycles": 0.25 },
                    "statistics": { "timing.cycles": cycles, "timing.sm_cycles": cycles, "instructions": cycles } })
        };
        let effects = of_rows(&[row("all on", 1000), row("no list scheduling", 1500), row("all off", 900)]).expect("effects");
        let shown: Vec<_> = effects.iter().map(|e| (e.technique.as_str(), e.cycles, e.half, e.cause.as_deref())).collect();
        assert_eq!(shown, [("list scheduling", 1.5, 0.25, None), ("all off", 0.9, 0.25, Some("more instructions"))]);
        assert!(of_rows(&[]).is_err());
        assert!(of_rows(&[row("all on", 1), json!({ "setup": "no x", "ratios": {} })]).is_err());
    }

    #[test]
    fn a_summary_names_the_best_the_worst_and_counts_losers() {
        let effect = |cycles| Effect { technique: "scalar unit".into(), cycles, half: 0.0, register_energy: 1.0, cause: None };
        let effects = [("a", effect(2.0)), ("b", effect(0.5)), ("c", effect(0.995))];
        let text = summary("default, small launches", &effects).to_string();
        let row = "| scalar unit | 0.9983 | 2.000 `a` | 0.500 `b` | 1 of 3 | 1.000 |";
        assert!(text.contains(row), "{text}");
        assert_eq!(key("run-time scalarizer"), "run_time_scalarizer");
    }
}
