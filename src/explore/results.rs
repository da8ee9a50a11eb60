//! Results as a table: one row a point, in order of their numbers, and its files: CSV, JSON lines, Parquet.
//!
//! Columns: `point`, `id`, `case`, `variant` (if there are any), the axes, `status`, `error`, the headlines,
//! then all statistics by name. A cell that a point does not have is empty (null). A statistic with the name
//! of an axis gets `total.` in front.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
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
    Parquet,
    /// Comma-separated values with a header line.
    Csv,
    /// JSON lines.
    Jsonl,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 3] = [Format::Parquet, Format::Csv, Format::Jsonl];

    /// Extension of a file.
    pub fn extension(self) -> &'static str {
        match self {
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

/// A column's type: the narrowest that holds all its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Integer,
    Number,
    Truth,
    Text,
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
            Format::Parquet => self.parquet().map_err(|e| defect(&e)),
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

    fn kind(&self, column: usize) -> Kind {
        let mut kinds = self.rows.iter().map(|r| &r[column]).filter(|v| !v.is_null()).map(|v| match v {
            Value::Number(n) if n.as_i64().is_some() => Kind::Integer,
            Value::Number(_) => Kind::Number,
            Value::Bool(_) => Kind::Truth,
            _ => Kind::Text,
        });
        let Some(first) = kinds.next() else { return Kind::Text };
        kinds.fold(first, |a, b| match (a, b) {
            (a, b) if a == b => a,
            (Kind::Integer, Kind::Number) | (Kind::Number, Kind::Integer) => Kind::Number,
            _ => Kind::Text,
        })
    }

    fn parquet(&self) -> parquet::errors::Result<Vec<u8>> {
        let kinds: Vec<Kind> = (0..self.columns.len()).map(|c| self.kind(c)).collect();
        let fields = self.columns.iter().zip(&kinds).map(|(name, kind)| {
            let physical = match kind {
                Kind::Integer => Physical::INT64,
                Kind::Number => Physical::DOUBLE,
                Kind::Truth => Physical::BOOLEAN,
                Kind::Text => Physical::BYTE_ARRAY,
            };
            let mut field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
            if *kind == Kind::Text {
                field = field.with_converted_type(ConvertedType::UTF8).with_logical_type(Some(LogicalType::String));
            }
            field.build().map(Arc::new)
        });
        let fields = fields.collect::<Result<Vec<_>, _>>()?;
        let schema = Arc::new(Type::group_type_builder("heddle_sweep").with_fields(fields).build()?);
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(WriterProperties::builder().build()))?;
        let mut group = writer.next_row_group()?;
        for (c, kind) in kinds.iter().enumerate() {
            let cells = self.rows.iter().map(|r| &r[c]);
            match kind {
                Kind::Integer => column::<Int64Type>(&mut group, cells.map(Value::as_i64))?,
                Kind::Number => column::<DoubleType>(&mut group, cells.map(Value::as_f64))?,
                Kind::Truth => column::<BoolType>(&mut group, cells.map(Value::as_bool))?,
                Kind::Text => {
                    let texts = cells.map(|v| (!v.is_null()).then(|| ByteArray::from(text(v).into_bytes())));
                    column::<ByteArrayType>(&mut group, texts)?;
                }
            }
        }
        group.close()?;
        writer.into_inner()
    }
}

/// Variant and axes of a configuration as cells.
pub fn settings(plan: &Plan, configuration: &Configuration) -> Vec<Value> {
    let variant = configuration.variant.map(|v| plan.variants[v].clone().into());
    variant.into_iter().chain(plan.values(configuration).map(|(_, v)| axes::json(v))).collect()
}

/// Writes the next column of a row group; `None` is null.
fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    cells: impl Iterator<Item = Option<T::T>>,
) -> parquet::errors::Result<()> {
    let mut levels = Vec::new();
    let mut values = Vec::new();
    for cell in cells {
        levels.push(i16::from(cell.is_some()));
        values.extend(cell);
    }
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(&values, Some(&levels), None)?;
        column.close()?;
    }
    Ok(())
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
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    use serde_json::json;

    fn table() -> Table {
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
    fn parquet_has_types_and_nulls() {
        let bytes = table().bytes(Format::Parquet).unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let schema = reader.metadata().file_metadata().schema_descr();
        let types: Vec<Physical> = schema.columns().iter().map(|c| c.physical_type()).collect();
        use Physical::{BOOLEAN, BYTE_ARRAY, DOUBLE, INT64};
        assert_eq!(types, [INT64, INT64, DOUBLE, BOOLEAN, BYTE_ARRAY]);
        let rows: Vec<Vec<Field>> = reader
            .get_row_iter(None)
            .unwrap()
            .map(|r| r.unwrap().get_column_iter().map(|(_, field)| field.clone()).collect())
            .collect();
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[0][4], Field::Null);
        assert_eq!(rows[1][1], Field::Null);
        assert_eq!(rows[1][4], Field::Str("a \"b\",\nü".into()));
        assert_eq!(rows[2][1..3], [Field::Long(-5), Field::Double(1e-300)]);
        assert_eq!(rows[2][3], Field::Null);
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
