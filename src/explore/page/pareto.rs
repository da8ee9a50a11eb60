//! The page of a sweep: its configurations in the plane of two objectives with the Pareto front, what each
//! value of each axis does, and the front as a table.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::explore::engine::Status;
use crate::explore::geometric_mean;
use crate::explore::pareto::{Candidate, Front, merged};
use crate::explore::plan::Plan;
use crate::explore::results::settings;
use heddle_report::html::blocks::{cell, number, page as whole, row};

/// Configurations off the front that are drawn at most; of more every n-th is.
const MOST_DOTS: usize = 3000;
/// Cases with a plot of their own at most.
const MOST_CASES: usize = 24;

/// The page.
pub fn page(plan: &Plan, fronts: &[Front]) -> String {
    let axes: Vec<String> = plan.axes.iter().map(|a| format!("{} ({} values)", a.name, a.values.len())).collect();
    let count = plan.cases.len();
    let cases = if count == 1 { "case" } else { "cases" };
    let points = format!("{} points: {} configurations of {count} {cases}.", plan.len(), plan.configurations.len());
    let mut about = vec![points];
    if !axes.is_empty() {
        about.push(format!("Axes: {}.", axes.join(", ")));
    }
    let mut notes = Vec::new();
    if fronts.len() > MOST_CASES + 1 {
        notes.push(format!("{} more cases are in the result files only", fronts.len() - MOST_CASES - 1));
    }
    let choices: Vec<Value> = fronts
        .iter()
        .take(MOST_CASES + 1)
        .map(|front| {
            let name = match (front.case, count) {
                (Some(case), _) => case.to_string(),
                (None, 1) => plan.cases[0].name.clone(),
                (None, n) => format!("all {n} (geometric means)"),
            };
            json!({ "name": name, "blocks": blocks(plan, front) })
        })
        .collect();
    let variant = (!plan.variants.is_empty()).then_some("variant");
    let names: Vec<&str> = variant.into_iter().chain(plan.axes.iter().map(|a| a.name.as_str())).collect();
    let words = |v: Value| v.as_str().map_or_else(|| v.to_string(), String::from);
    let configurations: Vec<Vec<String>> =
        plan.configurations.iter().map(|c| settings(plan, c).into_iter().map(words).collect()).collect();
    let objectives: Vec<Value> = plan.objectives.iter().map(|o| json!({ "name": o.name, "maximise": o.maximise })).collect();
    whole(&json!({
        "title": format!("Sweep {}", plan.name), "about": about, "notes": notes, "choice": "case", "choices": choices,
        "objectives": objectives, "settings": names, "configurations": configurations,
    }))
}

fn blocks(plan: &Plan, front: &Front) -> Vec<Value> {
    let mut result = Vec::new();
    let best: Vec<&Candidate> = front.candidates.iter().filter(|c| c.optimal).collect();
    if plan.objectives.len() >= 2 {
        let dots: Vec<&Candidate> = front.candidates.iter().filter(|c| !c.optimal).collect();
        let stride = dots.len().div_ceil(MOST_DOTS).max(1);
        let mut note =
            format!("{} of {} configurations are Pareto-optimal, and drawn larger.", best.len(), front.candidates.len());
        if stride > 1 {
            note += &format!(" Of the others one in {stride} is drawn.");
        }
        if front.left_out > 0 {
            note += &format!(
                " Not shown: {} in which a case did not end as “{}” or an objective has no value.",
                front.left_out,
                Status::Passed
            );
        }
        let number = |c: &Candidate| plan.configurations.iter().position(|k| std::ptr::eq(k, c.configuration));
        let shown = dots.into_iter().step_by(stride).chain(best.iter().copied());
        let points: Vec<Value> = shown.filter_map(|c| Some(json!([number(c)?, u8::from(c.optimal), c.values]))).collect();
        result.push(json!({ "kind": "plane", "id": "plane", "title": "Configurations", "note": note, "points": points }));
    }
    let of: Vec<Value> = (0..plan.objectives.len()).map(|o| effects(plan, front, o).into()).collect();
    let note = "Pairs of configurations that differ in this setting only, to the first value of the axis: \
                geometric mean of the ratios as a bar, the least and the most as a line. To the left of 1 is less.";
    result.push(json!({ "kind": "effects", "id": "effects", "title": "What each setting does", "note": note, "of": of }));
    result.push(table(plan, best));
    result
}

/// For each value of each setting the ratios of an objective to the setting's first value, over
/// configurations that are the same otherwise.
fn effects(plan: &Plan, front: &Front, objective: usize) -> Vec<Value> {
    let keys: Vec<Vec<usize>> = front
        .candidates
        .iter()
        .map(|c| c.configuration.variant.into_iter().chain(c.configuration.values.iter().copied()).collect())
        .collect();
    let value: BTreeMap<&[usize], f64> =
        keys.iter().zip(&front.candidates).map(|(k, c)| (k.as_slice(), c.values[objective])).collect();
    let variants = (!plan.variants.is_empty()).then(|| ("variant".to_string(), plan.variants.clone()));
    let text = |v: &toml::Value| v.as_str().map_or_else(|| v.to_string(), String::from);
    let axes = plan.axes.iter().map(|a| (a.name.clone(), a.values.iter().map(text).collect()));
    let mut rows = Vec::new();
    for (s, (name, values)) in variants.into_iter().chain(axes).enumerate() {
        if values.len() < 2 || name == plan.objectives[objective].name {
            continue;
        }
        let mut of = Vec::new();
        for (i, text) in values.iter().enumerate() {
            let ratios: Vec<f64> = keys
                .iter()
                .filter(|k| k[s] == i)
                .filter_map(|k| {
                    let mut first = k.clone();
                    first[s] = 0;
                    Some((*value.get(first.as_slice())?, *value.get(k.as_slice())?))
                })
                .filter(|(a, b)| *a > 0.0 && *b > 0.0)
                .map(|(a, b)| b / a)
                .collect();
            if i == 0 {
                of.push(json!({ "name": text, "ratio": 1, "text": "reference" }));
                continue;
            }
            let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
            let high = ratios.iter().copied().fold(0.0, f64::max);
            // Without pairs the limits are no numbers and become null.
            of.push(json!({ "name": text, "ratio": geometric_mean(&ratios), "low": low, "high": high, "pairs": ratios.len() }));
        }
        rows.push(json!({ "name": name, "rows": of }));
    }
    rows
}

/// The front, in order of its first objective; configurations of the same values are one row where they are
/// all combinations of some settings.
fn table(plan: &Plan, mut best: Vec<&Candidate>) -> Value {
    best.sort_by(|a, b| {
        let pairs = a.values.iter().zip(&b.values).map(|(x, y)| x.total_cmp(y));
        pairs.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    let variant = (!plan.variants.is_empty()).then(|| cell("variant", "t"));
    let heads: Vec<Value> = (plan.objectives.iter().map(|o| o.name.as_str().into()))
        .chain(variant)
        .chain(plan.axes.iter().map(|a| a.name.as_str().into()))
        .collect();
    let words = |v: Value| v.as_str().map_or_else(|| v.to_string(), String::from);
    let rows: Vec<Value> = best
        .chunk_by(|a, b| a.values == b.values)
        .flat_map(|same| {
            let all: Vec<Vec<String>> =
                same.iter().map(|c| settings(plan, c.configuration).into_iter().map(words).collect()).collect();
            let numbers: Vec<Value> = same[0].values.iter().map(|v| cell(number(*v), "")).collect();
            let one: Option<Vec<String>> = merged(&all).map(|one| one.iter().map(|v| v.join(", ")).collect());
            let lines = one.map_or(all, |one| vec![one]);
            lines.into_iter().map(move |l| row(numbers.iter().cloned().chain(l.into_iter().map(|t| cell(t, ""))).collect()))
        })
        .collect();
    let goals: Vec<String> =
        plan.objectives.iter().map(|o| format!("{} {}", if o.maximise { "maximise" } else { "minimise" }, o.name)).collect();
    let note = format!(
        "No configuration is at least as good in all and better in one of: {}. Several values in a \
         cell: all combinations are as good.",
        goals.join(", ")
    );
    let title = if plan.objectives.len() == 1 { "The best" } else { "Pareto-optimal configurations" };
    json!({ "kind": "table", "id": "front", "title": title, "note": note, "heads": heads, "rows": rows })
}
