//! Results as an Apache Parquet file, uncompressed: one row group, one column of the narrowest type for each column of the table.
//!
//! In builds with the feature `parquet` (the default).

use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use serde_json::Value;

/// A column's type: the narrowest that holds all its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Integer,
    Number,
    Truth,
    Text,
}

/// A table as the bytes of a file; `text`: a cell of a column of texts.
///
/// # Errors
/// What the writer says: a defect of Heddle.
pub fn bytes(columns: &[String], rows: &[Vec<Value>], text: impl Fn(&Value) -> String) -> parquet::errors::Result<Vec<u8>> {
    let kinds: Vec<Kind> = (0..columns.len()).map(|c| kind(rows, c)).collect();
    let fields = columns.iter().zip(&kinds).map(|(name, kind)| {
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
        let cells = rows.iter().map(|r| &r[c]);
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

fn kind(rows: &[Vec<Value>], column: usize) -> Kind {
    let mut kinds = rows.iter().map(|r| &r[column]).filter(|v| !v.is_null()).map(|v| match v {
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::results::{Format, tests::table};
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

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
}
