//! Rows as typed columns, where neither texts nor arrays go all the way: text files to Parquet, SVMlight
//! to anything.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, FieldRef, Schema};

use super::super::error::TableError;
use super::super::meter::Progress;
use super::super::selection::{Selection, Want};
use super::super::source::Source;
use super::super::table::{Column, Table, Values};
use super::batches::{cause, number_array, number_field, writer};
use super::texts::{Failed, Rows};
use super::{Added, Output};

/// Rows written at a time.
const BATCH: usize = 8192;

/// From here on, not every whole number is a 64-bit floating point number.
const EXACT: f64 = (1_u64 << 53) as f64;

/// Copies a table.
pub(super) fn write(
    source: &Source,
    output: Output,
    added: &mut Added<'_>,
    out: &mut (dyn Write + Send),
    failed: Failed<'_>,
    progress: Progress<'_>,
) -> Result<(), TableError> {
    let table = read(source, progress)?;
    match output.delimiter() {
        Some(delimiter) => write_texts(&table, delimiter, added, out, failed),
        None => write_parquet(&table, added, out, failed),
    }
}

/// All columns, each as numbers if that is all it holds and none of it is lost: identifiers can be whole
/// numbers too long for a number.
fn read(source: &Source, progress: Progress<'_>) -> Result<Table, TableError> {
    let table = super::super::read(source, &Selection::All { overrides: Vec::new() }, progress)?;
    let large =
        |column: &&Column| column.numbers().is_some_and(|numbers| numbers.iter().any(|x| x.abs() >= EXACT));
    let suspects: Vec<Want> =
        table.columns().iter().filter(large).map(|column| Want::category(&column.name)).collect();
    if suspects.is_empty() {
        return Ok(table);
    }
    let texts = super::super::read(source, &Selection::Columns(suspects), progress)?;
    let lossy = |column: &&Column| {
        column.categories().is_some_and(|(_, texts)| texts.iter().any(|text| rounded(text)))
    };
    let overrides: Vec<Want> =
        texts.columns().iter().filter(lossy).map(|column| Want::category(&column.name)).collect();
    match overrides.is_empty() {
        true => Ok(table),
        false => super::super::read(source, &Selection::All { overrides }, progress),
    }
}

/// Whether a whole number is not the same as a 64-bit floating point number.
fn rounded(text: &str) -> bool {
    text.parse::<i128>().is_ok_and(|whole| whole as f64 as i128 != whole)
}

fn write_texts(
    table: &Table,
    delimiter: u8,
    added: &mut Added<'_>,
    out: &mut (dyn Write + Send),
    failed: Failed<'_>,
) -> Result<(), TableError> {
    let mut rows = Rows::new(out, delimiter, failed);
    rows.header(table.columns().iter().map(|column| column.name.as_bytes()), added.names)?;
    added.next(table.rows())?;
    added.finish()?;
    for row in 0..table.rows() {
        for column in table.columns() {
            match &column.values {
                Values::Numbers(numbers) => rows.number(numbers[row])?,
                Values::Categories { codes, levels } => {
                    rows.field(levels.get(codes[row] as usize).map_or(b"", |text| text.as_bytes()))?;
                }
            }
        }
        rows.end(added.columns, row)?;
    }
    rows.finish()
}

fn write_parquet(
    table: &Table,
    added: &mut Added<'_>,
    out: &mut (dyn Write + Send),
    failed: Failed<'_>,
) -> Result<(), TableError> {
    let mut fields: Vec<FieldRef> = table.columns().iter().map(field).collect();
    fields.extend(added.names.iter().map(|name| number_field(name)));
    let schema = Arc::new(Schema::new(fields));
    let mut writer = writer(out, &schema, failed)?;
    for start in (0..table.rows()).step_by(BATCH) {
        let end = table.rows().min(start + BATCH);
        let mut arrays: Vec<ArrayRef> =
            table.columns().iter().map(|column| array(column, start, end)).collect();
        let rows = added.next(end - start)?;
        arrays.extend(added.columns.iter().map(|column| number_array(&column[rows.clone()])));
        let batch =
            RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(|error| failed(cause(error.into())))?;
        writer.write(&batch).map_err(|error| failed(cause(error)))?;
    }
    added.finish()?;
    writer.close().map_err(|error| failed(cause(error)))?;
    Ok(())
}

fn field(column: &Column) -> FieldRef {
    match &column.values {
        Values::Numbers(_) => number_field(&column.name),
        Values::Categories { .. } => Arc::new(Field::new(&column.name, DataType::Utf8, true)),
    }
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
