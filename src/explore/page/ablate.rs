//! The page of `heddle ablate`.

use serde_json::{Value, json};

use crate::explore::ablate::{Ablation, COLUMNS, CaseTable};
use crate::explore::engine::Status;
use heddle_report::html::blocks::{cell, judge, number, page as whole, ratio, row};

/// Columns with a picture: name, and what it is called.
const PICTURES: [(&str, &str); 4] = [
    ("cycles", "Cycles"),
    ("energy_pj", "Energy"),
    ("register_file_pj", "Energy of the register files"),
    ("dram_bytes", "Bytes from and to device memory"),
];
const NOTE: &str = "To the right of 1, turning the technique off costs.";

/// More of it is better.
fn more_is_better(column: &str) -> bool {
    column == "occupancy"
}

/// The page.
pub fn page(a: &Ablation, machine: &str) -> String {
    let failures = a.failures();
    let mut choices = Vec::new();
    if !a.means.is_empty() {
        choices.push(json!({ "name": format!("all {} (geometric means)", a.cases.len()), "blocks": means(a) }));
    }
    choices.extend(a.cases.iter().map(|t| json!({ "name": t.case, "blocks": case(t) })));
    let verdict = match failures.len() {
        0 => ("✓ same results in all runs".to_string(), "good"),
        n => (format!("✕ {n} runs with other results"), "bad"),
    };
    let about = format!(
        "Machine {machine}. Each technique off in turn, all off, all on; ratios are to all techniques on. \
         The bytes of all buffers are compared with those of all on; floating-point results may differ within \
         the tolerance of their expectation."
    );
    whole(&json!({
        "title": "Techniques off in turn", "about": [about], "verdict": verdict, "notes": failures, "wrong": !failures.is_empty(),
        "choice": "case", "choices": choices,
    }))
}

/// Geometric means over the cases, with the cases as dots.
fn means(a: &Ablation) -> Vec<Value> {
    let mut blocks = Vec::new();
    for (column, title) in PICTURES {
        let bars: Vec<Value> = a
            .means
            .iter()
            .enumerate()
            .skip(1)
            .map(|(i, m)| {
                let dots: Vec<Value> =
                    a.cases.iter().filter_map(|t| Some(json!([t.case, t.rows.get(i)?.ratios[column]?]))).collect();
                json!({ "name": m.setup, "ratio": m.ratios[column], "dots": dots })
            })
            .collect();
        let note = format!("{NOTE} Bars: geometric means over the cases; dots: cases.");
        blocks.push(json!({ "kind": "ratios", "id": column, "title": title, "note": note, "good": -1, "rows": bars }));
    }
    let heads: Vec<Value> = std::iter::once(cell("", "t")).chain(COLUMNS.map(Value::from)).chain(["cases".into()]).collect();
    let rows: Vec<Value> = a
        .means
        .iter()
        .map(|m| {
            let cells = COLUMNS.iter().map(|c| cell(ratio(m.ratios[c]), judge(m.ratios[c], more_is_better(c))));
            row(std::iter::once(cell(&*m.setup, "t")).chain(cells).chain([cell(m.cases.to_string(), "")]).collect())
        })
        .collect();
    blocks
        .push(json!({ "kind": "table", "id": "table", "title": "Geometric means of the ratios", "heads": heads, "rows": rows }));
    blocks
}

/// A case: its ratios, and its values.
fn case(t: &CaseTable) -> Vec<Value> {
    let mut blocks = Vec::new();
    for (column, title) in PICTURES {
        let bars: Vec<Value> = t.rows.iter().skip(1).map(|r| json!({ "name": r.setup, "ratio": r.ratios[column] })).collect();
        blocks.push(json!({ "kind": "ratios", "id": column, "title": title, "note": NOTE, "good": -1, "rows": bars }));
    }
    let heads: Vec<Value> = std::iter::once(cell("", "t"))
        .chain(COLUMNS.iter().flat_map(|c| [cell(*c, ""), cell("ratio", "")]))
        .chain([cell("result", "t")])
        .collect();
    let rows: Vec<Value> = t
        .rows
        .iter()
        .map(|r| {
            let cells = COLUMNS.iter().flat_map(|c| {
                let value = r.values[c].map_or_else(|| "–".into(), number);
                let half = r.intervals.get(c).copied().flatten();
                let ratio = ratio(r.ratios[c]) + &half.map_or_else(String::new, |h| format!(" ±{h:.3}"));
                [cell(value, ""), cell(ratio, judge(r.ratios[c], more_is_better(c)))]
            });
            let result = match (&r.status, r.differ.as_slice(), r.within_tolerance.as_slice()) {
                (Status::Passed, [], []) => cell("same bytes", "t"),
                (Status::Passed, [], list) => cell(format!("within tolerance: {}", list.join(", ")), "t"),
                (Status::Passed, list, _) => cell(format!("other bytes: {}", list.join(", ")), "t bad"),
                (status, ..) => cell(format!("{status}: {}", r.error.as_deref().unwrap_or_default()), "t bad wrap"),
            };
            row(std::iter::once(cell(&*r.setup, "t")).chain(cells).chain([result]).collect())
        })
        .collect();
    blocks.push(json!({ "kind": "table", "id": "table", "title": "Values", "heads": heads, "rows": rows }));
    blocks
}
