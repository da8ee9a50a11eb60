//! The page of `heddle ablate`.

use std::fmt::Write;

use super::{Cell, escape, judge, number, page as whole, ratio, ratio_bars, table};
use crate::explore::ablate::{Ablation, COLUMNS};
use crate::explore::engine::Status;

/// More of it is better.
fn more_is_better(column: &str) -> bool {
    column == "occupancy"
}

/// The page.
pub fn page(a: &Ablation, machine: &str) -> String {
    let mut body = String::new();
    let _ = writeln!(
        body,
        "<p>Machine <code>{}</code>. Ratios are to all techniques on: above 1 in cycles or energy, turning a technique off costs.</p>",
        escape(machine)
    );
    let failures = a.failures();
    if failures.is_empty() {
        let _ = writeln!(
            body,
            "<p class=\"good\">All buffers hold the same bytes in all runs, or are within the tolerance of their expectation.</p>"
        );
    } else {
        let items: String = failures.iter().map(|f| format!("<li>{}</li>", escape(f))).collect();
        let _ = writeln!(body, "<ul class=\"bad\">{items}</ul>");
    }
    if !a.means.is_empty() {
        let _ = writeln!(body, "<h2>Geometric means over {} cases</h2>", a.cases.len());
        for column in ["cycles", "energy_pj"] {
            let bars: Vec<_> = a.means.iter().skip(1).map(|m| (m.setup.clone(), m.ratios[column])).collect();
            let _ = writeln!(body, "<h3>{column}</h3>\n{}", ratio_bars(&bars, false));
        }
        let columns: Vec<Cell> = [("".to_string(), "t")]
            .into_iter()
            .chain(COLUMNS.map(|c| (c.to_string(), "")))
            .chain([("cases".into(), "")])
            .collect();
        let rows: Vec<Vec<Cell>> = a
            .means
            .iter()
            .map(|m| {
                let cells = COLUMNS.iter().map(|c| (ratio(m.ratios[c]), judge(m.ratios[c], more_is_better(c))));
                [(m.setup.clone(), "t")].into_iter().chain(cells).chain([(m.cases.to_string(), "")]).collect()
            })
            .collect();
        body.push_str(&table(&columns, &rows));
    }
    for t in &a.cases {
        let mut inner = String::new();
        if a.cases.len() == 1 {
            for column in ["cycles", "energy_pj"] {
                let bars: Vec<_> = t.rows.iter().skip(1).map(|r| (r.setup.clone(), r.ratios[column])).collect();
                let _ = writeln!(inner, "<h3>{column}</h3>\n{}", ratio_bars(&bars, false));
            }
        }
        let mut columns: Vec<Cell> = vec![("".into(), "t")];
        columns.extend(COLUMNS.iter().flat_map(|c| [((*c).to_string(), ""), ("ratio".into(), "")]));
        columns.push(("result".into(), "t"));
        let rows: Vec<Vec<Cell>> = t
            .rows
            .iter()
            .map(|r| {
                let cells = COLUMNS.iter().flat_map(|c| {
                    let value = r.values[c].map_or_else(|| "–".into(), number);
                    [(value, ""), (ratio(r.ratios[c]), judge(r.ratios[c], more_is_better(c)))]
                });
                let result = match (&r.status, r.differ.as_slice(), r.within_tolerance.as_slice()) {
                    (Status::Passed, [], []) => ("same bytes".to_string(), "t"),
                    (Status::Passed, [], list) => (format!("within tolerance: {}", list.join(", ")), "t"),
                    (Status::Passed, list, _) => (format!("other bytes: {}", list.join(", ")), "t bad"),
                    (status, ..) => (format!("{status}: {}", r.error.as_deref().unwrap_or_default()), "t bad"),
                };
                [(r.setup.clone(), "t")].into_iter().chain(cells).chain([result]).collect()
            })
            .collect();
        inner.push_str(&table(&columns, &rows));
        let name = escape(&t.case);
        if a.cases.len() == 1 {
            let _ = writeln!(body, "<h2>{name}</h2>\n{inner}");
        } else {
            let _ = writeln!(body, "<details><summary>{name}</summary>\n{inner}</details>");
        }
    }
    whole("Techniques off in turn", &body)
}
