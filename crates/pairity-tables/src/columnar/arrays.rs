//! Arrow arrays, as they come out of a Parquet file, cell by cell into columns.
//!
//! Numbers stay numbers for columns of numbers. For categories, whole numbers are written in decimal,
//! fractions in their shortest form (`0` for 0.0), booleans as `true` and `false`, dates and times as
//! in ISO 8601. Text means what it means in a CSV file.

use std::fmt::{Display, LowerExp, Write};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::DataType::{self, *};

use super::failed;
use crate::builder::ColumnBuilder;
use crate::delimited::number_text;
use crate::error::TableError;
use crate::source::SourceFile;

/// The file of an array, and the number of rows before it.
pub(super) type Start<'a> = (&'a SourceFile, usize);

/// Whether cells of a type can be numbers or categories.
pub(super) fn readable(data_type: &DataType) -> bool {
    match data_type {
        Null | Boolean | Utf8 | LargeUtf8 | Utf8View => true,
        Date32 | Date64 | Timestamp(..) | Time32(_) | Time64(_) => true,
        Dictionary(_, values) => readable(values),
        other => other.is_numeric(),
    }
}

/// Adds all cells of an array to a column.
pub(super) fn append(array: &ArrayRef, column: &mut ColumnBuilder, start: Start) -> Result<(), TableError> {
    let array = &plain(array, start.0)?;
    let cast = |to: &DataType| cast(array, to, start.0);
    let text = |column: &mut ColumnBuilder, cell: &str| column.text(cell.as_bytes());
    match array.data_type() {
        Null => (0..array.len()).for_each(|_| column.missing()),
        Boolean => {
            let cells =
                array.as_boolean().iter().map(|cell| cell.map(|yes| if yes { "true" } else { "false" }));
            each(cells, column, start, text)?;
        }
        Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 => {
            numbers::<Int64Type>(&cast(&Int64)?, column, start, |whole| whole as f64)?;
        }
        UInt64 => numbers::<UInt64Type>(array, column, start, |whole| whole as f64)?,
        Float16 | Float32 => numbers::<Float32Type>(&cast(&Float32)?, column, start, f64::from)?,
        Float64 => numbers::<Float64Type>(array, column, start, |number| number)?,
        Utf8 => each(array.as_string::<i32>().iter(), column, start, text)?,
        LargeUtf8 => each(array.as_string::<i64>().iter(), column, start, text)?,
        Utf8View => each(array.as_string_view().iter(), column, start, text)?,
        other if other.is_decimal() && !column.wants_text() => append(&cast(&Float64)?, column, start)?,
        _ => append(&cast(&Utf8)?, column, start)?,
    }
    Ok(())
}

/// An array without a dictionary, and in UTC: without a database of time zones only an offset can be written
/// out, and UTC is the same instant.
fn plain(array: &ArrayRef, file: &SourceFile) -> Result<ArrayRef, TableError> {
    match array.data_type() {
        Dictionary(_, values) => plain(&cast(array, values, file)?, file),
        Timestamp(unit, Some(_)) => cast(array, &Timestamp(*unit, Some(Arc::from("+00:00"))), file),
        _ => Ok(Arc::clone(array)),
    }
}

fn cast(array: &ArrayRef, to: &DataType, file: &SourceFile) -> Result<ArrayRef, TableError> {
    if array.data_type() == to {
        return Ok(Arc::clone(array));
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array, to, &options).map_err(|error| failed(file, error))
}

fn numbers<T: ArrowPrimitiveType<Native: Display>>(
    array: &ArrayRef,
    column: &mut ColumnBuilder,
    start: Start,
    number: impl Fn(T::Native) -> f64,
) -> Result<(), TableError> {
    let cells = array.as_primitive::<T>().iter();
    if !column.wants_text() {
        return each(cells, column, start, |column, cell| column.number(number(cell)));
    }
    let mut text = String::new();
    let mut written = None;
    each(cells, column, start, |column, cell| {
        // A query or a group often repeats from row to row.
        if written != Some(cell) {
            text.clear();
            // Writing to a string does not fail.
            let _ = write!(text, "{cell}");
            if text == "-0" {
                text.remove(0);
            }
            written = Some(cell);
        }
        column.text(text.as_bytes())
    })
}

fn each<T>(
    cells: impl Iterator<Item = Option<T>>,
    column: &mut ColumnBuilder,
    (file, before): Start,
    mut add: impl FnMut(&mut ColumnBuilder, T) -> Result<(), String>,
) -> Result<(), TableError> {
    for (row, cell) in (before as u64 + 1..).zip(cells) {
        match cell {
            Some(cell) => add(column, cell).map_err(|problem| column.wrong(file, ("row", row), problem))?,
            None => column.missing(),
        }
    }
    Ok(())
}

/// The cells of an array as texts, which mean to a reader of text what the cells mean to a reader of
/// Parquet.
pub(super) fn texts(array: &ArrayRef, file: &SourceFile) -> Result<StringArray, TableError> {
    let array = &plain(array, file)?;
    Ok(match array.data_type() {
        Float16 | Float32 => number_texts::<Float32Type>(&cast(array, &Float32, file)?),
        Float64 => number_texts::<Float64Type>(array),
        _ => cast(array, &Utf8, file)?.as_string::<i32>().clone(),
    })
}

fn number_texts<T: ArrowPrimitiveType<Native: Display + LowerExp + Into<f64>>>(
    array: &ArrayRef,
) -> StringArray {
    array.as_primitive::<T>().iter().map(|cell| cell.map(number_text)).collect()
}
