//! The page of `heddle compare`.

use std::fmt::Write;

use super::{Cell, escape, judge, number, page as whole, ratio, ratio_bars, table};
use crate::explore::compare::Comparison;

/// Counters of which more is better.
const MORE_IS_BETTER: [&str; 2] = ["occupancy", "instructions_per_cycle"];

/// The page.
pub fn page(c: &Comparison) -> String {
    let mut body = String::new();
    let _ = writeln!(body, "<p>A: <code>{}</code><br>B: <code>{}</code></p>", escape(&c.files[0]), escape(&c.files[1]));
    let mut notes: Vec<String> = c.differences.iter().map(|(f, a, b)| format!("{f}: {a} in A, {b} in B")).collect();
    for (which, (lost, failed)) in ["A", "B"].iter().zip(c.unmatched.iter().zip(&c.failed)) {
        notes.extend(lost.iter().map(|p| format!("only in {which}: {p}")));
        notes.extend(failed.iter().map(|f| format!("wrong results in {which}: {f}")));
    }
    if !notes.is_empty() {
        let items: String = notes.iter().map(|n| format!("<li>{}</li>", escape(n))).collect();
        let _ = writeln!(body, "<ul>{items}</ul>");
    }
    let several = c.parts.len() > 1;
    let totals = c.rows.iter().any(|r| r.a.is_some() || r.b.is_some());
    let judged = |name: &str, value: Option<f64>| {
        // Only headlines and energies are good or bad by themselves.
        let known = MORE_IS_BETTER.contains(&name)
            || ["cycles", "dram_bytes"].contains(&name)
            || name.ends_with("_pj")
            || name.starts_with("energy_pj.")
            || name.starts_with("timing.stalls.");
        if known { judge(value, MORE_IS_BETTER.contains(&name)) } else { "" }
    };
    let cell = |v: Option<f64>| (v.map_or_else(|| "–".into(), number), "");
    if several {
        let _ = writeln!(body, "<h2>Cycles of each part, B to A</h2>");
        let rows: Vec<(String, Option<f64>)> =
            c.parts.iter().map(|p| (p.name.clone(), p.rows.iter().find(|r| r.name == "cycles").and_then(|r| r.ratio))).collect();
        body.push_str(&ratio_bars(&rows, false));
    }
    let _ = writeln!(body, "<h2>Counters</h2>");
    let mut columns: Vec<Cell> = vec![("counter".into(), "t")];
    if totals {
        columns.extend(["A", "B", "B/A"].map(|n| (n.to_string(), "")));
    }
    if several {
        columns.push((format!("geometric mean of {}", c.parts.len()), ""));
        columns.push(("parts without a ratio".into(), ""));
    }
    let rows: Vec<Vec<Cell>> = c
        .rows
        .iter()
        .map(|r| {
            let mut row: Vec<Cell> = vec![(r.name.clone(), "t")];
            if totals {
                row.extend([cell(r.a), cell(r.b), (ratio(r.ratio), judged(&r.name, r.ratio))]);
            }
            if several {
                row.push((ratio(r.geomean), judged(&r.name, r.geomean)));
                row.push((if r.without > 0 { r.without.to_string() } else { String::new() }, ""));
            }
            row
        })
        .collect();
    body.push_str(&table(&columns, &rows));
    for part in c.parts.iter().filter(|_| several) {
        let columns: [Cell; 4] = [("counter".into(), "t"), ("A".into(), ""), ("B".into(), ""), ("B/A".into(), "")];
        let rows: Vec<Vec<Cell>> = part
            .rows
            .iter()
            .filter(|r| r.a.is_some_and(|v| v != 0.0) || r.b.is_some_and(|v| v != 0.0))
            .map(|r| vec![(r.name.clone(), "t"), cell(r.a), cell(r.b), (ratio(r.ratio), judged(&r.name, r.ratio))])
            .collect();
        let _ = writeln!(body, "<details><summary>{}</summary>\n{}</details>", escape(&part.name), table(&columns, &rows));
    }
    whole("Comparison of two runs", &body)
}
