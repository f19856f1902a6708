//! Writing Parquet: the arrays of Parquet files with the types that they have, and the columns of a table
//! elsewhere.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use pairity::examples::{Column, Values};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::{BATCH, PARQUET, each_batch, failed, metadata};
use crate::adding::{Copying, InputFile, arrange, check_texts, lossless, unwritable};
use crate::error::TableError;
use crate::meter::Meter;

/// Checks that arrays go together, or that everything has a text.
pub(super) fn plan(files: &[InputFile<'_>], added: &[&str]) -> Result<(), TableError> {
    match all_parquet(files) {
        true => schema(files, &arrange(files)?, added.iter().copied()).map(drop),
        false => check_texts(files),
    }
}

/// Writes a copy.
pub(super) fn write(copy: Copying<'_>) -> Result<(), TableError> {
    let Copying { files, mut added, name, out, progress } = copy;
    let (source, names) = (added.source, added.names.iter().map(String::as_str));
    let table = if all_parquet(files) { None } else { Some(lossless(source, progress)?) };
    let orders = if table.is_none() { arrange(files)? } else { Vec::new() };
    let schema = match &table {
        None => schema(files, &orders, names)?,
        Some(table) => {
            let fields = table.columns().iter().map(field).chain(names.map(number_field));
            Arc::new(Schema::new(fields.collect::<Vec<FieldRef>>()))
        }
    };
    let unwritten = |error| unwritable(name, cause(error));
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties)).map_err(unwritten)?;
    // Some rows with the added numbers. `mismatch` makes an error of arrays that do not fit together.
    let mut write = |mut arrays: Vec<ArrayRef>, mismatch: &dyn Fn(ArrowError) -> TableError| {
        let rows = added.next(arrays.first().map_or(0, |array| array.len()))?;
        arrays.extend(added.columns.iter().map(|column| number_array(&column[rows.clone()])));
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(mismatch)?;
        writer.write(&batch).map_err(unwritten)
    };
    match table {
        None => {
            let mut meter = Meter::new(progress);
            meter.pass(&source.files, |at, meter| {
                let file = &source.files[at];
                each_batch(file, metadata(file)?, &orders[at], meter, |_, arrays| {
                    write(arrays.to_vec(), &|error| failed(file, error))
                })
            })?;
            meter.end();
        }
        Some(table) => {
            for start in (0..table.rows()).step_by(BATCH) {
                let rows = start..table.rows().min(start + BATCH);
                let arrays = table.columns().iter().map(|column| array(column, rows.clone())).collect();
                write(arrays, &|error| unwritten(error.into()))?;
            }
        }
    }
    added.finish()?;
    writer.close().map(drop).map_err(unwritten)
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
    orders: &[Vec<usize>],
    added: impl Iterator<Item = &'n str>,
) -> Result<SchemaRef, TableError> {
    let mut fields: Vec<FieldRef> = Vec::new();
    let mut about = Default::default();
    for (at, (file, order)) in files.iter().zip(orders).enumerate() {
        let schema = Arc::clone(metadata(file.file)?.schema());
        if at == 0 {
            about = schema.metadata().clone();
            fields = schema.fields().iter().cloned().collect();
        }
        for (field, &at) in fields.iter_mut().zip(order) {
            let (own, other) = (field.data_type(), schema.field(at));
            if own != other.data_type() {
                let (file, first) = (&file.file.name, &files[0].file.name);
                return Err(TableError::Other(format!(
                    "{file}, column {:?}: the type is {}, but in {first} it is {own}. \
                     Give the files the same types, or choose a .csv file as the output",
                    field.name(),
                    other.data_type()
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

/// A column of numbers.
fn number_field(name: &str) -> FieldRef {
    Arc::new(Field::new(name, DataType::Float64, true))
}

fn field(column: &Column) -> FieldRef {
    match &column.values {
        Values::Numbers(_) | Values::Singles(_) | Values::Sparse(_) => number_field(&column.name),
        Values::Categories { .. } => Arc::new(Field::new(&column.name, DataType::Utf8, true)),
    }
}

/// Numbers, with NaN as null.
fn number_array(numbers: &[f64]) -> ArrayRef {
    Arc::new(numbers.iter().map(|number| (!number.is_nan()).then_some(*number)).collect::<Float64Array>())
}

/// Some rows of a column.
fn array(column: &Column, rows: Range<usize>) -> ArrayRef {
    match &column.values {
        Values::Numbers(numbers) => number_array(&numbers[rows]),
        Values::Singles(numbers) => {
            number_array(&numbers[rows].iter().map(|&number| number.into()).collect::<Vec<_>>())
        }
        Values::Sparse(numbers) => number_array(&rows.map(|row| numbers.get(row)).collect::<Vec<_>>()),
        Values::Categories { codes, levels } => {
            let text = |code: &u32| levels.get(*code as usize);
            Arc::new(codes[rows].iter().map(text).collect::<StringArray>())
        }
    }
}

/// What went wrong, as the operating system said it if it did.
fn cause(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => cause.downcast().map_or_else(io::Error::other, |cause| *cause),
        other => io::Error::other(other),
    }
}
