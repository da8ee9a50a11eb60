//! The page of `heddle compare`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::explore::compare::{Comparison, Row};
use crate::explore::metrics::HEADLINES;
use heddle_report::html::blocks::{cell, judge, number, page as whole, ratio};

/// Counters of which more is better.
const MORE_IS_BETTER: [&str; 2] = ["occupancy", "instructions_per_cycle"];
/// Parts that are drawn at most: those that differ most.
const MOST_BARS: usize = 40;
/// Parts with tables of their own at most.
const MOST_PARTS: usize = 24;
/// Components of a stack; the others are one.
const MOST_COMPONENTS: usize = 8;

/// In pictures it would leave nothing to see of the rest.
const STATIC: &str = "energy_pj.static";
/// Ratios nearer to 1 are no difference worth a bar.
const SAME: f64 = 0.0005;

/// Whether a counter is good or bad by itself: 1 if more is better, -1 if less, 0 if neither.
fn good(name: &str) -> i32 {
    if MORE_IS_BETTER.contains(&name) {
        1
    } else if ["cycles", "dram_bytes"].contains(&name)
        || name.ends_with("_pj")
        || name.starts_with("energy_pj.")
        || name.starts_with("static_pj.")
        || name.starts_with("timing.stalls.")
    {
        -1
    } else {
        0
    }
}

fn judged(name: &str, value: Option<f64>) -> &'static str {
    if good(name) == 0 { "" } else { judge(value, good(name) > 0) }
}

/// The page.
pub fn page(c: &Comparison) -> String {
    let mut notes: Vec<String> = c.differences.iter().map(|(f, a, b)| format!("{f}: {a} in A, {b} in B")).collect();
    let mut wrong = false;
    for (which, (lost, failed)) in ["A", "B"].iter().zip(c.unmatched.iter().zip(&c.failed)) {
        notes.extend(lost.iter().map(|p| format!("only in {which}: {p}")));
        notes.extend(failed.iter().map(|f| format!("wrong results in {which}: {f}")));
        wrong |= !failed.is_empty();
    }
    let several = c.parts.len() > 1;
    let all = if several { format!("all {}", c.parts.len()) } else { "everything".into() };
    let mut choices = vec![json!({ "name": all, "blocks": blocks(&c.rows, several, Some(c)) })];
    if several {
        let parts = c.parts.iter().take(MOST_PARTS);
        choices.extend(parts.map(|p| json!({ "name": p.name, "blocks": blocks(&p.rows, false, None) })));
        if c.parts.len() > MOST_PARTS {
            notes.push(format!("{} more parts have no page of their own", c.parts.len() - MOST_PARTS));
        }
    }
    let about = [format!("A: {}", c.files[0]), format!("B: {}", c.files[1]), "Ratios are B to A.".into()];
    whole(&json!({
        "title": "Comparison of two runs", "about": about, "notes": notes, "wrong": wrong,
        "choice": "part", "choices": choices
    }))
}

/// What is shown of counters; of all parts together, if `whole` is there.
fn blocks(rows: &[Row], means: bool, whole: Option<&Comparison>) -> Vec<Value> {
    let mut result = Vec::new();
    let shown = |r: &Row| if means && r.a.is_none() { r.geomean } else { r.ratio };
    let bars: Vec<Value> = HEADLINES
        .iter()
        .filter_map(|h| rows.iter().find(|r| r.name == h.name))
        .filter_map(|r| Some((r, shown(r)?)))
        .map(|(r, v)| json!({ "name": r.name, "ratio": v }))
        .collect();
    // Each has its own direction, so none is coloured.
    let note = if means && rows.iter().all(|r| r.a.is_none()) { "B to A, geometric means of the parts." } else { "B to A." };
    result.push(json!({
        "kind": "ratios", "id": "headlines", "title": "What changed", "note": note, "good": 0, "rows": bars, "wide": true
    }));
    for (id, title, prefix, counter) in [
        ("energy", "Dynamic energy by component", "energy_pj.", "energy_pj"),
        ("stalls", "Cycles in which warps wait, by cause", "timing.stalls.", "warp cycles"),
    ] {
        result.extend(stack(rows, prefix).map(|(series, parts)| {
            let lines = [json!({ "name": "A", "parts": parts[0] }), json!({ "name": "B", "parts": parts[1] })];
            let fixed = rows.iter().find(|r| r.name == STATIC && r.ratio.is_some());
            let note = match fixed.filter(|_| id == "energy").map(|r| r.ratio) {
                Some(r) => format!("Both runs on one scale, without static energy, of which B has {} times that of A.", ratio(r)),
                None => "Both runs on one scale; summed over resident warps.".into(),
            };
            json!({
                "kind": "stack", "id": id, "title": title, "note": note, "counter": counter, "series": series, "rows": lines
            })
        }));
    }
    if let Some(c) = whole.filter(|c| c.parts.len() > 1) {
        for (column, title) in [("cycles", "Cycles of each part"), ("energy_pj", "Energy of each part")] {
            let ratio_of = |rows: &[Row]| rows.iter().find(|r| r.name == column).and_then(|r| r.ratio).filter(|r| *r > 0.0);
            let mut list: Vec<(&str, f64)> = c.parts.iter().filter_map(|p| Some((p.name.as_str(), ratio_of(&p.rows)?))).collect();
            let count = list.len();
            list.retain(|(_, r)| (r - 1.0).abs() > SAME);
            if list.is_empty() {
                continue;
            }
            list.sort_by(|a, b| b.1.ln().abs().total_cmp(&a.1.ln().abs()));
            let note = format!("B to A: {} of {count} parts differ, those that do most first.", list.len());
            list.truncate(MOST_BARS);
            let rows: Vec<Value> = list.iter().map(|(n, r)| json!({ "name": n, "ratio": r })).collect();
            let id = format!("parts-{column}");
            result.push(
                json!({ "kind": "ratios", "id": id, "title": title, "note": note, "good": -1, "rows": rows, "wide": true }),
            );
        }
    }
    result.push(counters(rows, means));
    result
}

/// Names of components and their values in A and B, the largest first and the small ones as one; nothing if
/// no counter has the prefix.
fn stack(rows: &[Row], prefix: &str) -> Option<(Vec<String>, [Vec<f64>; 2])> {
    let values: BTreeMap<&str, [f64; 2]> = rows
        .iter()
        .filter(|r| r.name != STATIC && (r.a.is_some() || r.b.is_some()))
        .filter_map(|r| Some((r.name.strip_prefix(prefix)?, [r.a.unwrap_or(0.0), r.b.unwrap_or(0.0)])))
        .filter(|(_, v)| v[0] + v[1] > 0.0)
        .collect();
    let mut list: Vec<(&str, [f64; 2])> = values.into_iter().collect();
    list.sort_by(|a, b| (b.1[0].max(b.1[1])).total_cmp(&a.1[0].max(a.1[1])));
    let rest = list.split_off(list.len().min(MOST_COMPONENTS));
    if !rest.is_empty() {
        let sum = |i: usize| rest.iter().map(|(_, v)| v[i]).sum();
        list.push(("other", [sum(0), sum(1)]));
    }
    let names: Vec<String> = list.iter().map(|(n, _)| (*n).to_string()).collect();
    let side = |i: usize| list.iter().map(|(_, v)| v[i]).collect();
    (!names.is_empty()).then(|| (names, [side(0), side(1)]))
}

/// All counters as a table.
fn counters(rows: &[Row], means: bool) -> Value {
    let totals = rows.iter().any(|r| r.a.is_some() || r.b.is_some());
    let mut heads: Vec<Value> = vec![cell("counter", "t")];
    if totals {
        heads.extend(["A", "B", "B/A"].map(Value::from));
    }
    if means {
        heads.extend(["geometric mean of the parts", "parts without a ratio"].map(Value::from));
    }
    let value = |v: Option<f64>| cell(v.map_or_else(|| "–".into(), number), "");
    let list: Vec<Value> = rows
        .iter()
        .map(|r| {
            let mut cells: Vec<Value> = vec![cell(&*r.name, "t")];
            if totals {
                cells.extend([value(r.a), value(r.b), cell(ratio(r.ratio), judged(&r.name, r.ratio))]);
            }
            if means {
                cells.push(cell(ratio(r.geomean), judged(&r.name, r.geomean)));
                cells.push(cell(if r.without > 0 { r.without.to_string() } else { String::new() }, ""));
            }
            let same = if totals { r.a == r.b } else { r.geomean == Some(1.0) && r.without == 0 };
            json!({ "cells": cells, "same": same })
        })
        .collect();
    json!({ "kind": "table", "id": "counters", "title": "Counters", "heads": heads, "rows": list, "filter": true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_components_are_one() {
        let row = |i: u32| Row {
            name: format!("energy_pj.c{i:02}"),
            a: Some(f64::from(i)),
            b: Some(1.0),
            ratio: None,
            geomean: None,
            without: 0,
        };
        let rows: Vec<Row> = (0..12).map(row).collect();
        let (names, [a, b]) = stack(&rows, "energy_pj.").unwrap();
        assert_eq!(names.len(), MOST_COMPONENTS + 1);
        assert_eq!((names[0].as_str(), names[MOST_COMPONENTS].as_str()), ("c11", "other"));
        assert_eq!((a.iter().sum::<f64>(), b.iter().sum::<f64>()), (66.0, 12.0));
        assert!(stack(&rows, "timing.").is_none());
    }
}
