//! `bench energy`: which gains of the techniques survive where the constants of energy are uncertain.
//!
//! Runs `sweeps/energy-constants.toml`: each group of constants at half and at twice its value, with each
//! technique once left out. A technique's gain is the energy with it over the energy without it, as the
//! geometric mean over the kernels; it survives if it is on the same side of 1 for all values of all
//! constants. Energies are those of the simulated machine and do not depend on the host.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::report::{Report, Table};
use super::{Setup, geomean};
use crate::shell;

/// A technique: the column of the sweep that leaves it out, with the value that does, and what it is.
const TECHNIQUES: [(&str, &str, &str); 4] = [
    ("regfile", "single", "local register files"),
    ("no-scalarize", "true", "scalar code"),
    ("no-global-id", "true", "addresses of global ids"),
    ("no-rename", "true", "register renaming"),
];

/// Columns that are compared.
const ENERGIES: [(&str, &str); 2] = [("dynamic_pj", "dynamic"), ("energy_pj", "all")];

/// Gains nearer to 1 than this are none: the technique does not touch what was measured.
const NOTHING: f64 = 5e-4;

/// A finished point of the sweep.
struct Point {
    case: String,
    variant: String,
    /// The technique that is left out.
    without: Option<&'static str>,
    energy: [f64; 2],
}

impl Point {
    fn of(row: &Value) -> Result<Point> {
        let text = |name: &str| match &row[name] {
            Value::String(s) => s.clone(),
            other => other.to_string(),
        };
        if text("status") != "passed" {
            bail!("{} with {}: {} {}", text("case"), text("variant"), text("status"), text("error"));
        }
        let without = TECHNIQUES.iter().find(|(column, off, _)| text(column) == *off).map(|(column, ..)| *column);
        let number = |name: &str| row[name].as_f64().with_context(|| format!("{} has no {name}", text("case")));
        let energy = [number(ENERGIES[0].0)?, number(ENERGIES[1].0)?];
        Ok(Point { case: text("case"), variant: text("variant"), without, energy })
    }
}

/// How a technique's gain moves with the constants.
struct Range {
    /// With the constants as described.
    described: f64,
    /// Smallest and largest, and for which constants.
    least: (f64, String),
    most: (f64, String),
}

impl Range {
    /// Of gains by variant; the first variant has the constants as described.
    fn of(gains: &[(String, f64)]) -> Result<Range> {
        let (first, rest) = gains.split_first().context("the sweep has no variants")?;
        let mut range = Range { described: first.1, least: (first.1, first.0.clone()), most: (first.1, first.0.clone()) };
        for (variant, gain) in rest {
            if *gain < range.least.0 {
                range.least = (*gain, variant.clone());
            }
            if *gain > range.most.0 {
                range.most = (*gain, variant.clone());
            }
        }
        Ok(range)
    }

    /// Whether the conclusion is the same everywhere: saves, costs, or neither.
    fn verdict(&self) -> &'static str {
        let side = |gain: f64| if (gain - 1.0).abs() <= NOTHING { 0 } else { (gain > 1.0) as i32 * 2 - 1 };
        match (side(self.least.0), side(self.most.0)) {
            (-1, -1) => "saves: survives",
            (1, 1) => "costs: survives",
            (0, 0) => "no effect",
            (-1, 0) => "saves or nothing",
            (0, 1) => "costs or nothing",
            _ => "depends on the constants",
        }
    }
}

/// The gains of a technique by variant, in the sweep's order: the geometric mean over the cases.
fn gains(points: &[Point], technique: &str, energy: usize) -> Result<Vec<(String, f64)>> {
    let mut variants: Vec<&str> = Vec::new();
    let mut at: BTreeMap<(&str, &str, bool), f64> = BTreeMap::new();
    for p in points.iter().filter(|p| p.without.is_none_or(|w| w == technique)) {
        if !variants.contains(&p.variant.as_str()) {
            variants.push(&p.variant);
        }
        at.insert((&p.variant, &p.case, p.without.is_some()), p.energy[energy]);
    }
    let of = |variant: &str| {
        let with = at.iter().filter(|((v, _, without), _)| *v == variant && !without);
        let ratios: Option<Vec<f64>> = with.map(|((v, case, _), e)| Some(e / at.get(&(*v, *case, true))?)).collect();
        let ratios = ratios.with_context(|| format!("{variant}: a case without {technique} is missing"))?;
        ensure!(!ratios.is_empty(), "{variant}: no case");
        Ok((variant.to_string(), geomean(&ratios)))
    };
    variants.into_iter().map(of).collect()
}

pub fn run(setup: &Setup, report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let sweep = sweep(setup.smoke)?;
    let (file, out) = (folder.path().join("energy.toml"), folder.path().join("out"));
    std::fs::write(&file, sweep)?;
    let (file, out) = (file.display().to_string(), out.display().to_string());
    shell::run(&setup.heddle, &["sweep", &file, "-o", &out, "--format", "jsonl"])?;
    let rows = std::fs::read_to_string(format!("{out}/results.jsonl"))?;
    let points: Result<Vec<Point>> = rows.lines().map(|l| Point::of(&serde_json::from_str(l)?)).collect();
    let points = points?;
    let mut table = Table::new(["technique, energy", "as described", "least", "with", "most", "with", "conclusion"]);
    for (technique, _, what) in TECHNIQUES {
        for (energy, (column, kind)) in ENERGIES.iter().enumerate() {
            let gains = gains(&points, technique, energy)?;
            let range = Range::of(&gains)?;
            for (name, value) in [("described", range.described), ("least", range.least.0), ("most", range.most.0)] {
                report.figure(format!("{technique}.{column}.{name}"), value);
            }
            for (variant, gain) in &gains {
                report.kernels.entry(variant.clone()).or_default().insert(format!("{technique}.{column}"), *gain);
            }
            let three = |x: f64| format!("{x:.3}");
            table.row([
                format!("{what}, {kind}"),
                three(range.described),
                three(range.least.0),
                range.least.1.clone(),
                three(range.most.0),
                range.most.1.clone(),
                range.verdict().into(),
            ]);
        }
    }
    report.tables.push(table);
    Ok(())
}

/// The sweep with absolute paths; in the small form one case and two groups of constants.
fn sweep(smoke: bool) -> Result<String> {
    let path = shell::root().join("sweeps/energy-constants.toml");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let mut table: toml::Table = toml::from_str(&text)?;
    let cases = table.get_mut("cases").and_then(toml::Value::as_array_mut).context("the sweep has no cases")?;
    cases.truncate(if smoke { 1 } else { cases.len() });
    for case in cases {
        let relative = case.as_str().context("a case is no text")?;
        *case = shell::root().join("sweeps").join(relative).display().to_string().into();
    }
    let variants = table.get_mut("variants").and_then(toml::Value::as_array_mut).context("the sweep has no variants")?;
    variants.truncate(if smoke { 5 } else { variants.len() });
    Ok(toml::to_string(&table)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(case: &str, variant: &str, without: Option<&'static str>, dynamic: f64) -> Point {
        Point { case: case.into(), variant: variant.into(), without, energy: [dynamic, 10.0 * dynamic] }
    }

    #[test]
    fn a_gain_is_the_mean_over_cases_of_with_over_without() {
        let points = [
            point("a", "described", None, 1.0),
            point("a", "described", Some("regfile"), 2.0),
            point("b", "described", None, 4.0),
            point("b", "described", Some("regfile"), 32.0),
            point("b", "described", Some("no-rename"), 1.0),
            point("a", "twice", None, 3.0),
            point("a", "twice", Some("regfile"), 2.0),
        ];
        let gains = gains(&points, "regfile", 0).unwrap();
        assert_eq!(gains.iter().map(|g| g.0.as_str()).collect::<Vec<_>>(), ["described", "twice"]);
        assert!((gains[0].1 - 0.25).abs() < 1e-12 && (gains[1].1 - 1.5).abs() < 1e-12, "{gains:?}");
        assert_eq!(Range::of(&gains).unwrap().verdict(), "depends on the constants");
        assert!(super::gains(&points, "no-rename", 0).is_err(), "case a has no run without renaming");
    }

    #[test]
    fn a_conclusion_survives_on_one_side_of_1() {
        let verdict = |gains: &[f64]| {
            let gains: Vec<(String, f64)> = gains.iter().enumerate().map(|(i, g)| (i.to_string(), *g)).collect();
            Range::of(&gains).unwrap().verdict()
        };
        assert_eq!(verdict(&[0.8, 0.7, 0.99]), "saves: survives");
        assert_eq!(verdict(&[1.1, 1.2]), "costs: survives");
        assert_eq!(verdict(&[1.0, 0.9999, 1.0001]), "no effect");
        assert_eq!(verdict(&[0.9, 1.0]), "saves or nothing");
        assert_eq!(verdict(&[0.9, 1.01]), "depends on the constants");
    }

    #[test]
    fn a_failed_point_is_an_error_that_names_it() {
        let row = serde_json::json!({"case": "k", "variant": "v", "status": "failed", "error": "no", "regfile": "single"});
        let message = Point::of(&row).err().unwrap().to_string();
        assert!(message.contains("k with v: failed no"), "{message}");
    }

    /// The value of a dotted path.
    fn at<'a>(table: &'a toml::Table, path: &str) -> Option<&'a toml::Value> {
        let (first, rest) = path.split_once('.').map_or((path, None), |(a, b)| (a, Some(b)));
        match rest {
            None => table.get(first),
            Some(rest) => at(table.get(first)?.as_table()?, rest),
        }
    }

    fn numbers(value: &toml::Value) -> Vec<f64> {
        match value {
            toml::Value::Array(list) => list.iter().flat_map(numbers).collect(),
            other => other.as_float().into_iter().collect(),
        }
    }

    /// The sweep with each constant computed from the machine again.
    fn renewed(sweep: &str, machine: &toml::Table) -> String {
        let (mut factor, mut out) = (1.0, String::new());
        for line in sweep.lines() {
            if let Some(name) = line.strip_prefix("name = ") {
                factor = if name.ends_with(", half\"") { 0.5 } else { 2.0 };
            }
            let path = line.strip_prefix("set.").and_then(|l| l.split_once(" = ")).map(|(path, _)| path);
            match path.and_then(|p| Some((p, at(machine, p)?))) {
                Some((path, value)) => {
                    let text: Vec<String> = numbers(value).iter().map(|n| format!("{:?}", round(n * factor))).collect();
                    let list = if value.is_array() { format!("[{}]", text.join(", ")) } else { text.join("") };
                    out += &format!("set.{path} = {list}\n");
                }
                None => out += &format!("{line}\n"),
            }
        }
        out
    }

    /// To six digits behind the point.
    fn round(n: f64) -> f64 {
        (n * 1e6).round() / 1e6
    }

    #[test]
    fn the_sweep_s_constants_are_half_and_twice_those_of_the_default_machine() {
        let path = shell::root().join("sweeps/energy-constants.toml");
        let text = std::fs::read_to_string(&path).unwrap();
        let machine: toml::Table = toml::from_str(&std::fs::read_to_string(shell::root().join("heddle.toml")).unwrap()).unwrap();
        let renewed = renewed(&text, &machine);
        if std::env::var_os("HEDDLE_BLESS").is_some() {
            std::fs::write(&path, &renewed).unwrap();
            return;
        }
        assert!(text.lines().filter(|l| l.starts_with("set.")).count() > 40);
        for (line, wanted) in text.lines().zip(renewed.lines()) {
            assert_eq!(line, wanted, "run HEDDLE_BLESS=1 cargo test -p xtask energy");
        }
    }
}
