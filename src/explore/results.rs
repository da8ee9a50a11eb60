//! Results as a table: one row a point, in order of their numbers, and its files: CSV, JSON lines, Parquet.
//!
//! Columns: `point`, `id`, `case`, `variant` (if there are any), the axes, `status`, `error`, the headlines,
//! then all statistics by name. A cell that a point does not have is empty (null). A statistic with the name
//! of an axis gets `total.` in front.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use serde_json::Value;

use super::ExploreError;
use super::axes;
use super::journal::Finished;
use super::metrics::HEADLINES;
use super::plan::{Configuration, Plan, Point};

/// A format of the result file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Apache Parquet, uncompressed.
    #[cfg(feature = "parquet")]
    Parquet,
    /// Comma-separated values with a header line.
    Csv,
    /// JSON lines.
    Jsonl,
}

impl Format {
    /// All that this build writes.
    pub const ALL: &[Format] = &[
        #[cfg(feature = "parquet")]
        Format::Parquet,
        Format::Csv,
        Format::Jsonl,
    ];

    /// Extension of a file.
    pub fn extension(self) -> &'static str {
        match self {
            #[cfg(feature = "parquet")]
            Format::Parquet => "parquet",
            Format::Csv => "csv",
            Format::Jsonl => "jsonl",
        }
    }
}

/// A table of cells.
#[derive(Debug, Default, PartialEq)]
pub struct Table {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows, each with a cell for each column.
    pub rows: Vec<Vec<Value>>,
}

impl Table {
    /// The finished points of a plan.
    pub fn new(plan: &Plan, finished: &Finished) -> Table {
        let rows: Vec<(Point, _)> = plan.points().filter_map(|p| Some((finished.get(p.id)?, p))).map(|(e, p)| (p, e)).collect();
        let names: BTreeSet<&str> = rows.iter().flat_map(|(_, e)| e.result.metrics.keys().map(String::as_str)).collect();
        let headlines: Vec<&str> = HEADLINES.iter().map(|h| h.name).filter(|n| names.contains(n)).collect();
        let others = names.iter().filter(|n| !headlines.contains(n));
        let metrics: Vec<&str> = headlines.iter().chain(others).copied().collect();
        let mut columns: Vec<String> = ["point", "id", "case"].map(String::from).to_vec();
        columns.extend((!plan.variants.is_empty()).then(|| "variant".to_string()));
        columns.extend(plan.axes.iter().map(|a| a.name.clone()));
        columns.extend(["status", "error"].map(String::from));
        // `memory.constant.bytes` is a field of the machine, and traffic.
        let axis = |name: &str| plan.axes.iter().any(|a| a.name == name);
        columns.extend(metrics.iter().map(|m| if axis(m) { format!("total.{m}") } else { m.to_string() }));
        let rows = rows
            .iter()
            .map(|(point, entry)| {
                let mut row: Vec<Value> = vec![point.number.into(), point.id.to_string().into(), point.case.name.clone().into()];
                row.extend(settings(plan, point.configuration));
                row.push(entry.result.status.to_string().into());
                row.push(entry.result.error.clone().into());
                row.extend(metrics.iter().map(|m| entry.result.metrics.get(*m).cloned().unwrap_or_default()));
                row
            })
            .collect();
        Table { columns, rows }
    }

    /// The table as a file's bytes.
    ///
    /// # Errors
    /// A defect of Heddle.
    pub fn bytes(&self, format: Format) -> Result<Vec<u8>, ExploreError> {
        let defect = |e: &dyn std::fmt::Display| ExploreError::Check(format!("the results cannot be written: {e}"));
        match format {
            Format::Csv => self.csv().map_err(|e| defect(&e)),
            Format::Jsonl => Ok(self.json_lines()),
            #[cfg(feature = "parquet")]
            Format::Parquet => super::parquet_file::bytes(&self.columns, &self.rows, text).map_err(|e| defect(&e)),
        }
    }

    fn csv(&self) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&self.columns)?;
        for row in &self.rows {
            writer.write_record(row.iter().map(text))?;
        }
        Ok(writer.into_inner()?)
    }

    fn json_lines(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for row in &self.rows {
            // By hand, in order of the columns: a map would sort them.
            let cells = self.columns.iter().zip(row);
            let fields: Vec<String> = cells.map(|(c, v)| format!("{}: {v}", Value::String(c.clone()))).collect();
            let _in_memory = writeln!(out, "{{{}}}", fields.join(", "));
        }
        out
    }
}

/// Variant and axes of a configuration as cells.
pub fn settings(plan: &Plan, configuration: &Configuration) -> Vec<Value> {
    let variant = configuration.variant.map(|v| plan.variants[v].clone().into());
    variant.into_iter().chain(plan.values(configuration).map(|(_, v)| axes::json(v))).collect()
}

/// A cell without quotes; null is empty.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}

/// Writes a file that is there whole or not at all.
///
/// # Errors
/// The file system's.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), ExploreError> {
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let io = |e: &dyn std::fmt::Display| ExploreError::Input(format!("cannot write {}: {e}", path.display()));
    std::fs::create_dir_all(folder).map_err(|e| io(&e))?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|e| io(&e))?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_data()).map_err(|e| io(&e))?;
    // Temporary files are for their owner only; results are for whoever may read the folder's other files.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)).map_err(|e| io(&e))?;
    }
    file.persist(path).map(drop).map_err(|e| io(&e.error))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    pub fn table() -> Table {
        Table {
            columns: ["point", "sm.count", "share", "on", "error, or \"none\""].map(String::from).to_vec(),
            rows: vec![
                vec![json!(1), json!(4), json!(0.5), json!(true), Value::Null],
                vec![json!(2), Value::Null, json!(3), json!(false), json!("a \"b\",\nü")],
                vec![json!(3), json!(-5), json!(1e-300), Value::Null, json!("")],
            ],
        }
    }

    #[test]
    fn csv_quotes_what_needs_it() {
        let bytes = table().bytes(Format::Csv).unwrap();
        let mut reader = csv::Reader::from_reader(&bytes[..]);
        assert_eq!(reader.headers().unwrap().iter().next_back(), Some("error, or \"none\""));
        let rows: Vec<Vec<String>> = reader.records().map(|r| r.unwrap().iter().map(String::from).collect()).collect();
        assert_eq!(rows[1], ["2", "", "3", "false", "a \"b\",\nü"]);
        assert_eq!(rows[2][2], "1e-300");
    }

    #[test]
    fn json_lines_keep_the_order_of_columns() {
        let text = String::from_utf8(table().bytes(Format::Jsonl).unwrap()).unwrap();
        assert_eq!(text.lines().count(), 3);
        assert!(text.starts_with("{\"point\": 1, \"sm.count\": 4, \"share\": 0.5, \"on\": true, "), "{text}");
        for (line, row) in text.lines().zip(&table().rows) {
            let value: Value = serde_json::from_str(line).unwrap();
            assert_eq!(value["share"].as_f64(), row[2].as_f64());
        }
    }

    #[test]
    fn a_file_is_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/r.csv");
        write_whole(&path, b"one").unwrap();
        write_whole(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(folder.path().join("new")).unwrap().count(), 1);
    }
}
