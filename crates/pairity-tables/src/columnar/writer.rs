//! Writing Parquet: the arrays of Parquet files with the types that they have, and the columns of a table
//! elsewhere.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use pairity::examples::{Column, Values};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::{BATCH, PARQUET, each_batch, failed, metadata};
use crate::adding::{Added, Copying, InputFile, arrange, check_texts, each_file, lossless, unwritable};
use crate::error::TableError;

/// Checks that arrays go together, or that everything has a text.
pub(super) fn plan(files: &mut [InputFile<'_>], added: &[&str]) -> Result<(), TableError> {
    if !all_parquet(files) {
        return check_texts(files);
    }
    arrange(files)?;
    schema(files, added.iter().copied()).map(drop)
}

/// Writes a copy.
pub(super) fn write(copy: Copying<'_>) -> Result<(), TableError> {
    let Copying { files, mut added, name, out, progress } = copy;
    let names = added.names.iter().map(String::as_str);
    if all_parquet(files) {
        let mut batches = RowBatches::new(out, name, schema(files, names)?)?;
        each_file(files, progress, |_, &InputFile { file, ref order, .. }, meter| {
            each_batch(file, metadata(file)?, order, meter, |_, arrays| {
                batches.write(arrays.to_vec(), &mut added, |error| failed(file, error))
            })
        })?;
        return batches.finish(&added);
    }
    let table = lossless(added.source, progress)?;
    let fields: Vec<FieldRef> = table.columns().iter().map(field).chain(names.map(number_field)).collect();
    let mut batches = RowBatches::new(out, name, Arc::new(Schema::new(fields)))?;
    for start in (0..table.rows()).step_by(BATCH) {
        let end = table.rows().min(start + BATCH);
        let arrays = table.columns().iter().map(|column| array(column, start, end)).collect();
        batches.write(arrays, &mut added, |error| unwritable(name, cause(error.into())))?;
    }
    batches.finish(&added)
}

fn all_parquet(files: &[InputFile<'_>]) -> bool {
    files.iter().all(|file| std::ptr::eq(file.format, &PARQUET))
}

/// The columns of the first file and the added ones.
///
/// # Errors
/// A column that has another type in another file.
fn schema<'n>(
    files: &[InputFile<'_>],
    added: impl Iterator<Item = &'n str>,
) -> Result<SchemaRef, TableError> {
    let mut fields: Vec<FieldRef> = Vec::new();
    let mut about = Default::default();
    let mut first = None;
    for file in files {
        let schema = Arc::clone(metadata(file.file)?.schema());
        let Some(first) = first else {
            first = Some(file.file.name());
            about = schema.metadata().clone();
            fields = schema.fields().iter().cloned().collect();
            continue;
        };
        for (field, &at) in fields.iter_mut().zip(&file.order) {
            let other = schema.field(at);
            if field.data_type() != other.data_type() {
                return Err(TableError::Other(format!(
                    "{}, column {:?}: the type is {}, but in {first} it is {}. \
                     Give the files the same types, or choose a .csv file as the output",
                    file.file.name(),
                    field.name(),
                    other.data_type(),
                    field.data_type()
                )));
            }
            if other.is_nullable() && !field.is_nullable() {
                *field = Arc::new(field.as_ref().clone().with_nullable(true));
            }
        }
    }
    fields.extend(added.map(number_field));
    Ok(Arc::new(Schema::new_with_metadata(fields, about)))
}

/// Writes record batches.
struct RowBatches<'a> {
    writer: ArrowWriter<&'a mut (dyn Write + Send)>,
    schema: SchemaRef,
    /// What messages call the output.
    name: &'a str,
}

impl<'a> RowBatches<'a> {
    fn new(
        out: &'a mut (dyn Write + Send),
        name: &'a str,
        schema: SchemaRef,
    ) -> Result<RowBatches<'a>, TableError> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties))
            .map_err(|error| unwritable(name, cause(error)))?;
        Ok(RowBatches { writer, schema, name })
    }

    /// Some rows with the added numbers. `mismatch` makes an error of arrays that do not fit together.
    fn write(
        &mut self,
        mut arrays: Vec<ArrayRef>,
        added: &mut Added<'_>,
        mismatch: impl FnOnce(ArrowError) -> TableError,
    ) -> Result<(), TableError> {
        let rows = added.next(arrays.first().map_or(0, |array| array.len()))?;
        arrays.extend(added.columns.iter().map(|column| number_array(&column[rows.clone()])));
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(mismatch)?;
        self.writer.write(&batch).map_err(|error| unwritable(self.name, cause(error)))
    }

    fn finish(self, added: &Added<'_>) -> Result<(), TableError> {
        added.finish()?;
        self.writer.close().map_err(|error| unwritable(self.name, cause(error)))?;
        Ok(())
    }
}

/// A column of numbers.
fn number_field(name: &str) -> FieldRef {
    Arc::new(Field::new(name, DataType::Float64, true))
}

fn field(column: &Column) -> FieldRef {
    match &column.values {
        Values::Numbers(_) => number_field(&column.name),
        Values::Categories { .. } => Arc::new(Field::new(&column.name, DataType::Utf8, true)),
    }
}

/// Numbers, with NaN as null.
fn number_array(numbers: &[f64]) -> ArrayRef {
    Arc::new(numbers.iter().map(|number| (!number.is_nan()).then_some(*number)).collect::<Float64Array>())
}

/// Some rows of a column.
fn array(column: &Column, start: usize, end: usize) -> ArrayRef {
    match &column.values {
        Values::Numbers(numbers) => number_array(&numbers[start..end]),
        Values::Categories { codes, levels } => {
            let text = |code: &u32| levels.get(*code as usize);
            Arc::new(codes[start..end].iter().map(text).collect::<StringArray>())
        }
    }
}

/// What went wrong, as the operating system said it if it did.
fn cause(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(cause) => io::Error::other(cause),
        },
        other => io::Error::other(other),
    }
}
