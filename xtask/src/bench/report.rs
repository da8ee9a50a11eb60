//! What a benchmark measured: figures, values of kernels, tables, and what it could not compare.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Result, bail, ensure};
use serde::Serialize;

/// What a benchmark measured.
#[derive(Default, Serialize)]
pub struct Report {
    /// The benchmark's name.
    pub bench: String,
    /// Its results, by dotted names.
    pub figures: BTreeMap<String, f64>,
    /// Values of single kernels.
    pub kernels: BTreeMap<String, BTreeMap<String, f64>>,
    /// What a reader of the tables must know about this run.
    pub notes: Vec<String>,
    /// What a missing program kept it from comparing.
    pub not_compared: Vec<NotCompared>,
    /// What `docs/BENCHMARKS.md` shows.
    #[serde(skip)]
    pub tables: Vec<Table>,
}

/// A comparison that needs what is not installed.
#[derive(Clone, Serialize)]
pub struct NotCompared {
    /// With what.
    pub peer: &'static str,
    /// What was to be compared with it.
    pub what: String,
    /// What is missing.
    pub why: String,
}

impl NotCompared {
    /// All of them in a paragraph that names the command to install what is missing.
    pub fn paragraph<'a>(list: impl IntoIterator<Item = &'a NotCompared>) -> Option<String> {
        let mut peers: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
        for item in list {
            peers.entry((item.peer, &item.why)).or_default().push(&item.what);
        }
        let parts: Vec<String> =
            peers.iter().map(|((peer, why), what)| format!("{} with {peer} ({why})", what.join(", "))).collect();
        let install = "`cargo xtask setup --peers` installs what is missing, or says what to install.";
        (!parts.is_empty()).then(|| format!("Not compared: {}. {install}", parts.join("; ")))
    }
}

impl Report {
    /// An empty one.
    pub fn new(bench: &str) -> Report {
        Report { bench: bench.into(), ..Default::default() }
    }

    /// Takes a figure.
    pub fn figure(&mut self, name: impl Into<String>, value: f64) {
        self.figures.insert(name.into(), value);
    }

    /// Shows the figures as a table.
    pub fn figures_table(&mut self) {
        let mut table = Table::new(["figure", "value"]);
        for (name, value) in &self.figures {
            table.row([format!("`{name}`"), format!("{value:.3}")]);
        }
        table.of_figures = true;
        self.tables.push(table);
    }

    /// An error if there is nothing in it, or something that is no number.
    pub fn check(&self) -> Result<()> {
        let of_kernels = self.kernels.iter().flat_map(|(k, values)| values.iter().map(move |(n, v)| (format!("{k}: {n}"), *v)));
        let all: Vec<(String, f64)> = self.figures.iter().map(|(n, v)| (n.clone(), *v)).chain(of_kernels).collect();
        ensure!(!self.figures.is_empty() && !self.kernels.is_empty(), "nothing was measured");
        if let Some((name, value)) = all.iter().find(|(_, v)| !v.is_finite()) {
            bail!("{name} is {value}");
        }
        ensure!(!self.tables.is_empty() && self.tables.iter().all(|t| !t.rows.is_empty()), "there is an empty table");
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kernel, values) in &self.kernels {
            let values: Vec<String> = values.iter().map(|(k, v)| format!("{k} {v:.4}")).collect();
            writeln!(f, "{kernel:<24} {}", values.join("  "))?;
        }
        writeln!(f)?;
        for (name, value) in &self.figures {
            writeln!(f, "{name:<44} {value:.4}")?;
        }
        for table in self.tables.iter().filter(|t| !t.of_figures) {
            write!(f, "\n{table}")?;
        }
        for note in &self.notes {
            writeln!(f, "\n{note}")?;
        }
        Ok(())
    }
}

/// A table of a document: the first column to the left, the others to the right.
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    /// It repeats the report's figures.
    of_figures: bool,
}

impl Table {
    /// An empty table.
    pub fn new<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Table {
        Table { header: header.into_iter().map(Into::into).collect(), rows: Vec::new(), of_figures: false }
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a row. Missing cells stay empty.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).collect();
        row.resize(self.header.len(), String::new());
        self.rows.push(row);
    }
}

impl fmt::Display for Table {
    /// As Markdown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| {} |", self.header.join(" | "))?;
        writeln!(f, "|---|{}", "--:|".repeat(self.header.len() - 1))?;
        for row in &self.rows {
            writeln!(f, "{}", format!("| {} |", row.join(" | ")).replace("|  |", "| |"))?;
        }
        Ok(())
    }
}

/// A number with a sensible count of places, or a dash for one that there is not.
pub fn cell(value: Option<f64>) -> String {
    match value {
        None => "—".into(),
        Some(v) if v.abs() >= 100.0 => format!("{v:.0}"),
        Some(v) if v.abs() >= 10.0 => format!("{v:.1}"),
        Some(v) if v.abs() >= 1.0 => format!("{v:.2}"),
        Some(v) => format!("{v:.4}"),
    }
}

/// A share in per cent.
pub fn percent(share: f64) -> String {
    let text = format!("{:.1} %", 100.0 * share);
    if text == "-0.0 %" { "0.0 %".into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Report {
        let mut report = Report::new("x");
        report.figure("ratio", 1.5);
        report.kernels.entry("k".into()).or_default().insert("cycles".into(), 3.0);
        report.figures_table();
        report
    }

    #[test]
    fn a_report_without_numbers_is_none() {
        full().check().expect("a measurement");
        assert!(Report::new("x").check().is_err());
        let mut report = full();
        report.figure("ratio", f64::NAN);
        assert_eq!(report.check().unwrap_err().to_string(), "ratio is NaN");
        let mut report = full();
        report.kernels.entry("k".into()).or_default().insert("cycles".into(), f64::INFINITY);
        assert_eq!(report.check().unwrap_err().to_string(), "k: cycles is inf");
        let mut report = full();
        report.tables.push(Table::new(["kernel"]));
        assert!(report.check().is_err());
    }

    #[test]
    fn what_is_missing_is_one_paragraph() {
        assert_eq!(NotCompared::paragraph(&[]), None);
        let item = |what: &str| NotCompared { peer: "PoCL", what: what.into(), why: "no pyopencl".into() };
        assert_eq!(
            NotCompared::paragraph(&[item("sgemm"), item("mandelbrot")]).as_deref(),
            Some(
                "Not compared: sgemm, mandelbrot with PoCL (no pyopencl). `cargo xtask setup --peers` installs what is missing, \
                 or says what to install."
            )
        );
    }

    #[test]
    fn a_table_is_markdown() {
        let mut table = Table::new(["kernel", "s", "aim"]);
        table.row(["sgemm".into(), cell(Some(0.25))]);
        table.row(["scan".into(), cell(None), percent(-0.0001)]);
        assert_eq!(table.to_string(), "| kernel | s | aim |\n|---|--:|--:|\n| sgemm | 0.2500 | |\n| scan | — | 0.0 % |\n");
    }
}
