//! Rows as Arrow arrays: Parquet files to a Parquet file, with the types that they have.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::super::columnar;
use super::super::error::TableError;
use super::super::meter::Meter;
use super::super::source::Part;
use super::texts::Failed;
use super::{Added, File};

/// The columns of the first file and the added ones.
///
/// # Errors
/// A column that has another type in another file.
pub(super) fn schema(parts: &[Part], files: &[File], added: &[&str]) -> Result<SchemaRef, TableError> {
    let mut fields: Vec<FieldRef> = Vec::new();
    let mut metadata = Default::default();
    let mut first = None;
    for (part, file) in parts.iter().zip(files) {
        let schema = Arc::clone(columnar::metadata(part)?.schema());
        let Some(first) = first else {
            first = Some(part.name());
            metadata = schema.metadata().clone();
            fields = schema.fields().iter().cloned().collect();
            continue;
        };
        for (field, &at) in fields.iter_mut().zip(&file.order) {
            let other = schema.field(at);
            if field.data_type() != other.data_type() {
                return Err(TableError::TypesDiffer {
                    file: part.name().to_owned(),
                    column: field.name().clone(),
                    found: other.data_type().to_string(),
                    first: first.to_owned(),
                    expected: field.data_type().to_string(),
                });
            }
            if other.is_nullable() && !field.is_nullable() {
                *field = Arc::new(field.as_ref().clone().with_nullable(true));
            }
        }
    }
    fields.extend(added.iter().map(|name| number_field(name)));
    Ok(Arc::new(Schema::new_with_metadata(fields, metadata)))
}

/// Copies all files.
pub(super) fn write(
    parts: &[Part],
    files: &[File],
    schema: &SchemaRef,
    added: &mut Added<'_>,
    out: &mut (dyn Write + Send),
    failed: Failed<'_>,
    meter: &mut Meter<'_>,
) -> Result<(), TableError> {
    let mut writer = writer(out, schema, failed)?;
    for (part, file) in parts.iter().zip(files) {
        let metadata = columnar::metadata(part)?;
        columnar::each_batch(part, metadata, &file.order, meter, |_, arrays| {
            let count = arrays.first().map_or(0, |array| array.len());
            let mut arrays = arrays.to_vec();
            let rows = added.next(count)?;
            arrays.extend(added.columns.iter().map(|column| number_array(&column[rows.clone()])));
            let batch = RecordBatch::try_new(Arc::clone(schema), arrays)
                .map_err(|error| columnar::failed(part, error))?;
            writer.write(&batch).map_err(|error| failed(cause(error)))
        })?;
        meter.finished(part.size());
    }
    added.finish()?;
    writer.close().map_err(|error| failed(cause(error)))?;
    Ok(())
}

/// A writer of record batches.
pub(super) fn writer<'a>(
    out: &'a mut (dyn Write + Send),
    schema: &SchemaRef,
    failed: Failed<'_>,
) -> Result<ArrowWriter<&'a mut (dyn Write + Send)>, TableError> {
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    ArrowWriter::try_new(out, Arc::clone(schema), Some(properties)).map_err(|error| failed(cause(error)))
}

/// A column of numbers.
pub(super) fn number_field(name: &str) -> FieldRef {
    Arc::new(Field::new(name, DataType::Float64, true))
}

/// Numbers, with NaN as null.
pub(super) fn number_array(numbers: &[f64]) -> ArrayRef {
    Arc::new(numbers.iter().map(|number| (!number.is_nan()).then_some(*number)).collect::<Float64Array>())
}

/// What went wrong, as the operating system said it if it did.
pub(super) fn cause(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(cause) => io::Error::other(cause),
        },
        other => io::Error::other(other),
    }
}
