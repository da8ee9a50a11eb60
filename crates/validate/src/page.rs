//! The results as one page that needs no network: a table of all comparisons, and the curves.

use serde_json::{Value, json};

use crate::{Check, Plot, Report};
use heddle_report::html::blocks::{cell, number, page as whole, row};

/// The page.
pub fn page(report: &Report) -> String {
    let failures: Vec<String> = report.failures().map(sentence).collect();
    let verdict = match failures.len() {
        0 => ("✓ all within their bounds".to_string(), "good"),
        n => (format!("✕ {n} beyond their bounds"), "bad"),
    };
    let groups = ["latency", "throughput", "multiprocessor", "laws"];
    let mut blocks: Vec<Value> = report.plots.iter().map(plot).collect();
    blocks.extend(groups.map(|g| table(report, g)));
    let about = format!(
        "Machine {}: micro-kernels in assembly, {} launches of {} cycles together. What is expected is computed from the \
         machine's description, and moves with it.",
        report.machine,
        report.launches,
        number(report.cycles as f64)
    );
    whole(&json!({
        "title": "Validation", "about": [about], "verdict": verdict, "notes": failures, "wrong": verdict.1 == "bad",
        "choice": "show", "choices": [{ "name": "all", "blocks": blocks }],
    }))
}

/// A failed check in words.
pub fn sentence(c: &Check) -> String {
    let Check { group, name, unit, expected, simulated, bound, .. } = c;
    let limit = if c.at_most { "at most " } else { "" };
    let (expected, simulated) = (number(*expected), number(*simulated));
    format!("{group}: {name}: expected {limit}{expected} {unit}, simulated {simulated} (bound {})", percent(*bound))
}

/// A share as per cent.
pub fn percent(share: f64) -> String {
    if share.abs() < 1e-6 { "0 %".into() } else { format!("{:.2} %", 100.0 * share) }
}

fn plot(p: &Plot) -> Value {
    let curve = |of: fn(&(f64, f64, f64)) -> f64| p.points.iter().map(|q| json!([q.0, of(q)])).collect::<Vec<_>>();
    json!({
        "kind": "curves", "id": p.id, "title": p.title, "note": p.note, "across": p.across, "up": p.up,
        "curves": [
            { "name": "expected", "line": true, "points": curve(|q| q.1) },
            { "name": "simulated", "line": false, "points": curve(|q| q.2) },
        ],
    })
}

fn table(report: &Report, group: &str) -> Value {
    let heads =
        ["check", "expected", "simulated", "unit", "error", "bound", ""].map(|h| cell(h, if h == "check" { "t" } else { "" }));
    let rows: Vec<Value> = report.checks.iter().filter(|c| c.group == group).map(cells).collect();
    let title = format!("{}{}", group[..1].to_uppercase(), &group[1..]);
    json!({ "kind": "table", "id": group, "title": title, "heads": heads.to_vec(), "rows": rows })
}

fn cells(c: &Check) -> Value {
    if let Some(reason) = &c.not_applicable {
        let text = format!("not applicable: {reason}");
        let none = || cell("–", "");
        return row(vec![cell(&*c.name, "t"), none(), none(), none(), none(), none(), cell(text, "t wrap")]);
    }
    let limit = if c.at_most { "≤ " } else { "" };
    let verdict = if c.failed() { cell("beyond", "t bad") } else { cell("✓", "t good") };
    row(vec![
        cell(&*c.name, "t"),
        cell(format!("{limit}{}", number(c.expected)), ""),
        cell(number(c.simulated), ""),
        cell(c.unit, ""),
        cell(percent(c.error), ""),
        cell(percent(c.bound), ""),
        verdict,
    ])
}
