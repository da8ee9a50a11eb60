//! Each technique off in turn: what it is worth, and that it changes no result.
//!
//! A case runs with all techniques on, with each one off, and with all off. All its buffers must hold the same
//! bytes each time (of repeated runs, below, after the first). A buffer whose expectation has a tolerance may
//! differ within it: the order of floating-point atomics is such a case, and is told. So may a buffer without
//! expectation where others have one: in which order atomics filled a list need not be the same.
//!
//! With several runs each of them has small random delays ([`Machine`]'s `perturbation`), drawn from another seed, and
//! ratios of means come with their intervals of confidence: how much of a difference is chance (Alameldeen and Wood,
//! Variability in Architectural Simulations of Multi-Threaded Workloads, HPCA 2003).

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Serialize;
use serde_json::Value;

use super::engine::{self, Compiler, Failure, Status};
use super::identity::LoadedCase;
use super::metrics::{self, Metrics};
use super::options::PointOptions;
use super::progress::Progress;
use super::{ExploreError, geometric_mean};
use heddle_runtime::array::Array;
use heddle_runtime::run::{Mode, Outcome};
use heddle_sim::statistics::student;
use heddle_sim::{Interrupt, Options};
use heddle_target::{Machine, Perturbation};

/// A technique that can be turned off.
pub struct Technique {
    /// Name.
    pub name: &'static str,
    /// The option of `heddle run` that turns it off, with its value.
    pub off: (&'static str, &'static str),
}

/// The techniques.
pub const TECHNIQUES: &[Technique] = &[
    Technique { name: "scalar unit", off: ("no-scalarize", "true") },
    Technique { name: "run-time scalarizer", off: ("scalar-threshold", "0") },
    Technique { name: "local register files", off: ("regfile", "\"single\"") },
    Technique { name: "register renaming", off: ("no-rename", "true") },
    Technique { name: "addresses of global ids", off: ("no-global-id", "true") },
    Technique { name: "cache policies", off: ("no-cache-hints", "true") },
    Technique { name: "list scheduling", off: ("no-schedule", "true") },
];

/// Columns of the table.
pub const COLUMNS: [&str; 6] = ["cycles", "energy_pj", "register_file_pj", "dram_bytes", "instructions", "occupancy"];

/// Most cycles of the random delays of repeated runs, where the machine's description names none: about 4 % of the way to
/// device memory, as in the publication.
const DELAYS: u32 = 16;

/// What cases are run on.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// Runs of each case in each setup. One is the machine as it is described; more have random delays.
    pub runs: u32,
    /// Runs at the same time; 0: as many as there are cores.
    pub threads: usize,
    /// What ends it early.
    pub interrupt: Option<Interrupt>,
}

impl Plan<'_> {
    /// The machines of the runs of a setup.
    fn machines(&self) -> Vec<Machine> {
        let of_seed = |seed| {
            let mut machine = self.machine.clone();
            let cycles = if machine.perturbation.cycles == 0 { DELAYS } else { machine.perturbation.cycles };
            machine.perturbation = Perturbation { cycles, seed };
            machine
        };
        if self.runs <= 1 { vec![self.machine.clone()] } else { (1..=self.runs).map(of_seed).collect() }
    }
}

/// One way to run a case.
struct Setup {
    name: String,
    options: PointOptions,
}

/// All on, each off, all off.
fn setups() -> Result<Vec<Setup>, ExploreError> {
    let defect = |m: String| ExploreError::Check(format!("a technique's switch is no option: {m}"));
    let value = |text: &str| {
        let table: Result<toml::Table, _> = format!("v = {text}").parse();
        table.ok().and_then(|mut t| t.remove("v")).ok_or_else(|| defect(text.into()))
    };
    let settings: Vec<(&str, toml::Value)> =
        TECHNIQUES.iter().map(|t| Ok((t.off.0, value(t.off.1)?))).collect::<Result<_, ExploreError>>()?;
    let options = |chosen: &[(&str, toml::Value)]| PointOptions::new(chosen.iter().map(|(n, v)| (*n, v))).map_err(defect);
    let mut result = vec![Setup { name: "all on".into(), options: options(&[])? }];
    for (technique, setting) in TECHNIQUES.iter().zip(&settings) {
        let options = options(std::slice::from_ref(setting))?;
        result.push(Setup { name: format!("no {}", technique.name), options });
    }
    result.push(Setup { name: "all off".into(), options: options(&settings)? });
    Ok(result)
}

/// A case in one setup.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The setup.
    pub setup: String,
    /// How it ended.
    pub status: Status,
    /// Why it did not pass.
    pub error: Option<String>,
    /// Values of [`COLUMNS`], in the mean of the runs.
    pub values: BTreeMap<&'static str, Option<f64>>,
    /// Their ratios to all on.
    pub ratios: BTreeMap<&'static str, Option<f64>>,
    /// Half of the 95 % intervals of the ratios; empty of one run.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub intervals: BTreeMap<&'static str, Option<f64>>,
    /// Buffers whose bytes are not those of all on although they must be.
    pub differ: Vec<String>,
    /// Buffers whose bytes are not those of all on, within the tolerance of their expectation, or without one
    /// where others have one.
    pub within_tolerance: Vec<String>,
    /// All statistics of the (first) run by the names of sweeps' columns; empty if it did not end.
    pub statistics: Metrics,
}

/// A case in all setups.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseTable {
    /// The case.
    pub case: String,
    /// All on first, all off last.
    pub rows: Vec<Row>,
}

/// All cases.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ablation {
    /// Each case.
    pub cases: Vec<CaseTable>,
    /// For each setup the geometric means of the ratios over the cases that have one, and how many have none;
    /// empty with one case.
    pub means: Vec<Mean>,
}

/// A setup over all cases.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mean {
    /// The setup.
    pub setup: String,
    /// Geometric means of the ratios to all on.
    pub ratios: BTreeMap<&'static str, Option<f64>>,
    /// Cases that are in the mean of the cycles.
    pub cases: usize,
}

/// Runs everything, unless the host interrupts it.
///
/// # Errors
/// A thread that cannot start; the interruption. What fails in a case is in its rows.
pub fn run(cases: &[LoadedCase], plan: &Plan) -> Result<Ablation, ExploreError> {
    let (setups, machines, interrupt) = (setups()?, plan.machines(), plan.interrupt);
    let compiler = Compiler::default();
    let of_case = setups.len() * machines.len();
    let results: Vec<OnceLock<Result<Ended, Failure>>> = vec![OnceLock::new(); cases.len() * of_case];
    let progress = Progress::new(results.len(), "runs");
    engine::in_parallel(results.len(), plan.threads, |i| {
        let (case, setup) = (&cases[i / of_case], &setups[i % of_case / machines.len()]);
        let number = i % machines.len();
        let simulation = Options { interrupt, ..setup.options.simulation() };
        let outcome = engine::run_with(&compiler, case, Ok(&machines[number]), &setup.options, (Mode::Timing, &simulation));
        if interrupt.is_some_and(|i| i.requested()) {
            return Err(ExploreError::Check("interrupted".into()));
        }
        let _once = results[i].set(match outcome {
            Ok(outcome) => Ok(Ended::of(outcome, &machines[number], number == 0)),
            Err((status, error)) => Err((status, of_seed(error, &machines[number]))),
        });
        progress.step();
        Ok(())
    })?;
    drop(progress);
    let missing = || Err((Status::InternalError, "did not run".into()));
    let mut results = results.into_iter().map(|r| r.into_inner().unwrap_or_else(missing));
    let mut tables = Vec::new();
    for case in cases {
        let ended: Vec<_> = setups.iter().map(|_| together(results.by_ref().take(machines.len()))).collect();
        tables.push(CaseTable { case: case.name.clone(), rows: rows(case, &setups, &ended) });
    }
    let means = if tables.len() > 1 { means(&tables) } else { Vec::new() };
    Ok(Ablation { cases: tables, means })
}

/// What is kept of the runs of a case in a setup.
#[derive(Clone)]
struct Ended {
    /// Statistics of the first run.
    metrics: Metrics,
    /// Values of [`COLUMNS`] of all runs.
    values: Vec<BTreeMap<&'static str, Option<f64>>>,
    mismatches: Vec<String>,
    /// Of the first run.
    buffers: BTreeMap<String, Array>,
}

impl Ended {
    fn of(outcome: Outcome, machine: &Machine, first: bool) -> Ended {
        let metrics = metrics::of(&outcome.total, machine);
        Ended {
            values: vec![COLUMNS.map(|c| (c, metrics.get(c).and_then(Value::as_f64))).into()],
            metrics: if first { metrics } else { Metrics::new() },
            mismatches: outcome.mismatches.iter().map(|(b, m)| of_seed(format!("buffer `{b}`: {m}"), machine)).collect(),
            buffers: if first { outcome.buffers } else { BTreeMap::new() },
        }
    }

    /// A column's values in all runs, if all have it, and their mean.
    fn mean(&self, column: &str) -> Option<(Vec<f64>, f64)> {
        let values: Vec<f64> = self.values.iter().map(|v| v[column]).collect::<Option<_>>()?;
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Some((values, mean))
    }

    /// Half of the 95 % interval of the ratio of a column's mean to another setup's, linearised. Runs of the same seed are
    /// pairs: what their delays do to both is no difference.
    fn interval(&self, other: &Ended, column: &str) -> Option<f64> {
        let ((own, mean), (others, other_mean)) = (self.mean(column)?, other.mean(column)?);
        let differences = own.iter().zip(&others).map(|(a, b)| a / mean - b / other_mean);
        let n = own.len().min(others.len());
        let variance = differences.map(|d| d * d).sum::<f64>() / n.saturating_sub(1) as f64;
        let half = student(n - 1) * (variance / n as f64).sqrt() * mean / other_mean;
        half.is_finite().then_some(half)
    }
}

/// A message with what repeats the run, if its delays are random.
fn of_seed(message: String, machine: &Machine) -> String {
    match machine.perturbation {
        Perturbation { cycles: 0, .. } => message,
        Perturbation { cycles, seed } => format!("{message} (with perturbation.cycles={cycles}, perturbation.seed={seed})"),
    }
}

/// Runs of one setup as one: the first that failed, or what all gave.
fn together(mut runs: impl Iterator<Item = Result<Ended, Failure>>) -> Result<Ended, Failure> {
    let first = runs.next().unwrap_or_else(|| Err((Status::InternalError, "did not run".into())));
    // All are taken, whatever comes first.
    runs.fold(first, |all, run| {
        let (mut all, run) = (all?, run?);
        all.values.extend(run.values);
        if all.mismatches.is_empty() {
            all.mismatches = run.mismatches;
        }
        Ok(all)
    })
}

fn rows(case: &LoadedCase, setups: &[Setup], ended: &[Result<Ended, Failure>]) -> Vec<Row> {
    let reference = ended.first().and_then(|e| e.as_ref().ok());
    let value = |e: &Ended, column: &str| e.mean(column).map(|m| m.1);
    let row = |(setup, ended): (&Setup, &Result<Ended, Failure>)| {
        let empty = || COLUMNS.map(|c| (c, None)).into();
        let mut row = Row {
            setup: setup.name.clone(),
            status: Status::Passed,
            error: None,
            values: empty(),
            ratios: empty(),
            intervals: BTreeMap::new(),
            differ: Vec::new(),
            within_tolerance: Vec::new(),
            statistics: Metrics::new(),
        };
        let e = match ended {
            Ok(e) => e,
            Err((status, error)) => {
                (row.status, row.error) = (*status, Some(error.clone()));
                return row;
            }
        };
        if !e.mismatches.is_empty() {
            (row.status, row.error) = (Status::Mismatch, Some(e.mismatches.join("; ")));
        }
        for column in COLUMNS {
            let own = value(e, column);
            let ratio = || match (reference.and_then(|r| value(r, column))?, own?) {
                (0.0, 0.0) => Some(1.0),
                (0.0, _) => None,
                (a, b) => Some(b / a),
            };
            row.ratios.insert(column, ratio());
            if e.values.len() > 1 {
                let others = reference.filter(|r| !std::ptr::eq(*r, e));
                row.intervals.insert(column, others.and_then(|r| e.interval(r, column)));
            }
            row.values.insert(column, own);
        }
        row.statistics.clone_from(&e.metrics);
        let different =
            reference.iter().flat_map(|r| &r.buffers).filter(|(n, a)| e.buffers.get(*n).map(|b| &b.data) != Some(&a.data));
        for (name, _) in different {
            let buffer = case.case.buffers.get(name);
            let tolerant = buffer.is_some_and(|b| match b.expect {
                Some(_) => b.rtol.unwrap_or(0.0) > 0.0 || b.atol.unwrap_or(0.0) > 0.0,
                None => case.case.buffers.values().any(|b| b.expect.is_some()),
            });
            let list = if tolerant { &mut row.within_tolerance } else { &mut row.differ };
            list.push(name.clone());
        }
        row
    };
    setups.iter().zip(ended).map(row).collect()
}

fn means(tables: &[CaseTable]) -> Vec<Mean> {
    let setups = tables.first().map_or(0, |t| t.rows.len());
    let mean = |i: usize| {
        let ratios =
            |column: &str| -> Vec<f64> { tables.iter().filter_map(|t| t.rows[i].ratios[column]).filter(|r| *r > 0.0).collect() };
        Mean {
            setup: tables[0].rows[i].setup.clone(),
            ratios: COLUMNS.map(|c| (c, geometric_mean(&ratios(c)))).into(),
            cases: ratios("cycles").len(),
        }
    };
    (0..setups).map(mean).collect()
}

impl Ablation {
    /// What is wrong: a run that did not pass, bytes that differ.
    pub fn failures(&self) -> Vec<String> {
        let mut result = Vec::new();
        for table in &self.cases {
            for row in &table.rows {
                if row.status != Status::Passed {
                    let error = row.error.as_deref().unwrap_or_default();
                    result.push(format!("{}, {}: {}: {error}", table.case, row.setup, row.status));
                } else if !row.differ.is_empty() {
                    let buffers = row.differ.join(", ");
                    result.push(format!("{}, {}: other bytes than with all on in {buffers}", table.case, row.setup));
                }
            }
        }
        result
    }

    /// The tables as text.
    pub fn text(&self) -> String {
        use heddle_report::html::blocks::{number, ratio};
        use std::fmt::Write;
        let mut out = String::new();
        let setups = self.cases.iter().flat_map(|t| &t.rows).map(|r| r.setup.chars().count());
        let width = setups.max().unwrap_or(0) + 2;
        let repeated = self.cases.iter().flat_map(|t| &t.rows).any(|r| !r.intervals.is_empty());
        let header = |out: &mut String, title: &str, cell: usize| {
            let columns: String = COLUMNS.iter().map(|c| format!("{c:>cell$}")).collect();
            let _ = writeln!(out, "{title}\n{:<width$}{columns}", "");
        };
        for table in &self.cases {
            header(&mut out, &table.case, if repeated { 30 } else { 23 });
            for row in &table.rows {
                let mut cells = String::new();
                for c in COLUMNS {
                    let value = row.values[c].map_or_else(|| "–".into(), number);
                    cells += &format!("{value:>15} {:>7}", ratio(row.ratios[c]));
                    if repeated {
                        let half = row.intervals.get(c).copied().flatten();
                        cells += &format!("{:>7}", half.map_or_else(String::new, |h| format!("±{h:.3}")));
                    }
                }
                let _ = writeln!(out, "{:<width$}{cells}", row.setup);
                if let Some(error) = &row.error {
                    let _ = writeln!(out, "{:<width$}  {}: {error}", "", row.status);
                }
                for (list, what) in [(&row.differ, "DIFFERENT BYTES"), (&row.within_tolerance, "other bytes, within tolerance")] {
                    if !list.is_empty() {
                        let _ = writeln!(out, "{:<width$}  {what}: {}", "", list.join(", "));
                    }
                }
            }
            out.push('\n');
        }
        if !self.means.is_empty() {
            header(&mut out, &format!("geometric means of the ratios over {} cases", self.cases.len()), 23);
            for mean in &self.means {
                let cells: String = COLUMNS.iter().map(|c| format!("{:>23}", ratio(mean.ratios[c]))).collect();
                let note = if mean.cases < self.cases.len() { format!("   of {} cases", mean.cases) } else { String::new() };
                let _ = writeln!(out, "{:<width$}{cells}{note}", mean.setup);
            }
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_runtime::array::DType;

    #[test]
    fn every_switch_is_an_option_and_changes_something() {
        let setups = setups().unwrap();
        assert_eq!(setups.len(), TECHNIQUES.len() + 2);
        for (i, s) in setups.iter().enumerate() {
            assert!(!setups[..i].iter().any(|t| t.options.text() == s.options.text()), "{}", s.name);
        }
    }

    #[test]
    fn bytes_are_compared_with_all_on() {
        let case = serde_json::from_str(
            r#"{"source": "k.cl", "launches": [{"kernel": "k", "global": [1]}],
                "buffers": {"a": {"zeros": [1]}, "b": {"zeros": [1], "expect": "b.npy", "rtol": 0.1},
                         "c": {"zeros": [1], "expect": "c.npy"}}}"#,
        )
        .unwrap();
        let hash = crate::explore::identity::Hasher::default().finish();
        let mut case = LoadedCase { name: "k".into(), case, hash };
        let ended = |changed: &str, cycles: f64| {
            let mut buffers: BTreeMap<String, Array> =
                ["a", "b", "c"].map(|n| (n.to_string(), Array::zeros(DType::Float32, vec![1]))).into();
            if let Some(b) = buffers.get_mut(changed) {
                b.data[0] = 1;
            }
            let values = COLUMNS.map(|c| (c, (c == "cycles").then_some(cycles))).into();
            let metrics = [("cycles".to_string(), cycles.into())].into();
            Ok(Ended { metrics, values: vec![values], mismatches: Vec::new(), buffers })
        };
        let setups: Vec<Setup> =
            ["on", "a", "b", "c", "fails"].map(|n| Setup { name: n.into(), options: PointOptions::new([]).unwrap() }).into();
        let failed = Err((Status::Fault, "boom".to_string()));
        let rows = rows(&case, &setups, &[ended("", 10.0), ended("a", 20.0), ended("b", 5.0), ended("c", 10.0), failed]);
        let differ: Vec<_> = rows.iter().map(|r| (r.differ.join(","), r.within_tolerance.join(","))).collect();
        assert_eq!(differ[..4], [("", ""), ("", "a"), ("", "b"), ("c", "")].map(|(a, b)| (a.to_string(), b.to_string())));
        assert_eq!([rows[1].ratios["cycles"], rows[2].ratios["cycles"]], [Some(2.0), Some(0.5)]);
        let table = CaseTable { case: "k".into(), rows };
        let ablation = Ablation { means: means(&[table.clone(), table.clone()]), cases: vec![table] };
        assert_eq!(ablation.means[1].ratios["cycles"].map(|r| (r * 1e9).round()), Some(2e9));
        assert_eq!(ablation.failures().len(), 2);
        assert!(ablation.text().contains("DIFFERENT BYTES: c"));
        // Where nothing is said of any buffer all are compared.
        case.case.buffers.values_mut().for_each(|b| b.expect = None);
        let rows = super::rows(&case, &setups[..2], &[ended("", 10.0), ended("a", 20.0)]);
        assert_eq!(rows[1].differ, ["a"]);
    }
}
