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
use arrow_schema::{ArrowError, DataType};

use crate::builder::ColumnBuilder;
use crate::delimited::write_number;
use crate::error::CellProblem;

/// Why an array could not be added.
pub(crate) enum ArrayProblem {
    /// A cell, by its row in the array.
    Cell(usize, CellProblem),
    /// The array as a whole.
    Array(ArrowError),
}

impl From<ArrowError> for ArrayProblem {
    fn from(error: ArrowError) -> ArrayProblem {
        ArrayProblem::Array(error)
    }
}

/// Whether cells of a type can be numbers or categories.
pub(crate) fn readable(data_type: &DataType) -> bool {
    use DataType::*;
    match data_type {
        Null | Boolean | Utf8 | LargeUtf8 | Utf8View => true,
        Date32 | Date64 | Timestamp(..) | Time32(_) | Time64(_) => true,
        Dictionary(_, values) => readable(values),
        other => other.is_numeric(),
    }
}

/// Adds all cells of an array to a column.
pub(crate) fn append(array: &ArrayRef, column: &mut ColumnBuilder) -> Result<(), ArrayProblem> {
    use DataType::*;
    match array.data_type() {
        Null => (0..array.len()).for_each(|_| column.missing()),
        Boolean => {
            let cells = array.as_boolean().iter();
            each(cells, column, |column, cell| column.text(if cell { b"true" } else { b"false" }))?;
        }
        Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 => {
            numbers::<Int64Type>(&cast(array, &Int64)?, column, |whole| whole as f64)?;
        }
        UInt64 => numbers::<UInt64Type>(array, column, |whole| whole as f64)?,
        Float16 | Float32 => numbers::<Float32Type>(&cast(array, &Float32)?, column, f64::from)?,
        Float64 => numbers::<Float64Type>(array, column, |number| number)?,
        Utf8 => each(array.as_string::<i32>().iter(), column, |column, cell| column.text(cell.as_bytes()))?,
        LargeUtf8 => {
            each(array.as_string::<i64>().iter(), column, |column, cell| column.text(cell.as_bytes()))?;
        }
        Utf8View => each(array.as_string_view().iter(), column, |column, cell| column.text(cell.as_bytes()))?,
        Dictionary(_, values) => append(&cast(array, values)?, column)?,
        // Without a database of time zones only an offset can be written out: UTC is the same instant.
        Timestamp(unit, Some(zone)) if zone.as_ref() != "+00:00" => {
            let utc = Timestamp(*unit, Some(Arc::from("+00:00")));
            append(&cast(array, &utc)?, column)?;
        }
        other if other.is_decimal() && !column.wants_text() => append(&cast(array, &Float64)?, column)?,
        _ => append(&cast(array, &Utf8)?, column)?,
    }
    Ok(())
}

pub(crate) fn cast(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    if array.data_type() == to {
        return Ok(Arc::clone(array));
    }
    cast_with_options(array, to, &CastOptions { safe: false, ..CastOptions::default() })
}

fn numbers<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    column: &mut ColumnBuilder,
    number: impl Fn(T::Native) -> f64,
) -> Result<(), ArrayProblem>
where
    T::Native: Display,
{
    let cells = array.as_primitive::<T>().iter();
    if !column.wants_text() {
        return each(cells, column, |column, cell| column.number(number(cell)));
    }
    let mut text = String::new();
    let mut written = None;
    each(cells, column, |column, cell| {
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
    mut add: impl FnMut(&mut ColumnBuilder, T) -> Result<(), CellProblem>,
) -> Result<(), ArrayProblem> {
    for (row, cell) in cells.enumerate() {
        match cell {
            Some(cell) => add(column, cell).map_err(|problem| ArrayProblem::Cell(row, problem))?,
            None => column.missing(),
        }
    }
    Ok(())
}

/// The cells of an array as texts, which mean to a reader of text what the cells mean to a reader of
/// Parquet.
pub(crate) fn texts(array: &ArrayRef) -> Result<StringArray, ArrowError> {
    use DataType::*;
    match array.data_type() {
        Float16 | Float32 => Ok(number_texts::<Float32Type>(&cast(array, &Float32)?)),
        Float64 => Ok(number_texts::<Float64Type>(array)),
        Dictionary(_, values) => texts(&cast(array, values)?),
        // As where they are read: in UTC.
        Timestamp(unit, Some(zone)) if zone.as_ref() != "+00:00" => {
            texts(&cast(array, &Timestamp(*unit, Some(Arc::from("+00:00"))))?)
        }
        _ => Ok(cast(array, &Utf8)?.as_string::<i32>().clone()),
    }
}

fn number_texts<T: ArrowPrimitiveType>(array: &ArrayRef) -> StringArray
where
    T::Native: Display + LowerExp + Into<f64>,
{
    let mut text = String::new();
    let mut texts = arrow_array::builder::StringBuilder::new();
    for cell in array.as_primitive::<T>().iter() {
        texts.append_option(cell.map(|number| {
            text.clear();
            write_number(&mut text, number);
            &text
        }));
    }
    texts.finish()
}
