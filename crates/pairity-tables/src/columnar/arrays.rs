//! Arrow arrays, as they come out of a Parquet file, cell by cell into columns.
//!
//! Numbers stay numbers for columns of numbers. For categories, whole numbers are written in decimal,
//! fractions in their shortest form (`0` for 0.0), booleans as `true` and `false`, dates and times as
//! in ISO 8601. Text means what it means in a CSV file.

use std::fmt::{Display, Write};

use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions::{as_date, as_datetime, as_time};
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, Float32Array, PrimitiveArray, StringArray};
use arrow_array::{downcast_integer_array, downcast_temporal_array};
use arrow_schema::DataType::{self, *};
use arrow_select::take::take;

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
pub(super) fn append(array: &dyn Array, column: &mut ColumnBuilder, start: Start) -> Result<(), TableError> {
    let text = |column: &mut ColumnBuilder, cell: &str| column.text(cell.as_bytes());
    downcast_integer_array!(
        array => numbers(array, column, start, |whole| whole as f64),
        Float16 => numbers(&single(array), column, start, f64::from),
        Float32 => numbers(array.as_primitive::<Float32Type>(), column, start, f64::from),
        Float64 => numbers(array.as_primitive::<Float64Type>(), column, start, |number| number),
        Null => each((0..array.len()).map(|_| None::<&str>), column, start, text),
        Utf8 => each(array.as_string::<i32>(), column, start, text),
        LargeUtf8 => each(array.as_string::<i64>(), column, start, text),
        Utf8View => each(array.as_string_view(), column, start, text),
        Dictionary(..) => append(&spread(array, start.0)?, column, start),
        _ => append(&texts(array, start.0)?, column, start),
    )
}

/// A dictionary's values, cell by cell.
fn spread(array: &dyn Array, file: &SourceFile) -> Result<ArrayRef, TableError> {
    let dictionary = array.as_any_dictionary();
    take(dictionary.values(), dictionary.keys(), None).map_err(|error| failed(file, error))
}

fn single(array: &dyn Array) -> Float32Array {
    array.as_primitive::<Float16Type>().unary(f32::from)
}

fn numbers<T: ArrowPrimitiveType<Native: Display>>(
    array: &PrimitiveArray<T>,
    column: &mut ColumnBuilder,
    start: Start,
    number: impl Fn(T::Native) -> f64,
) -> Result<(), TableError> {
    if !column.wants_text() {
        return each(array, column, start, |column, cell| column.number(number(cell)));
    }
    let mut text = String::new();
    let mut written = None;
    each(array, column, start, |column, cell| {
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
    cells: impl IntoIterator<Item = Option<T>>,
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
pub(super) fn texts(array: &dyn Array, file: &SourceFile) -> Result<StringArray, TableError> {
    Ok(downcast_integer_array!(
        array => written(array, |cell| cell.to_string()),
        Boolean => written(array.as_boolean(), |cell| cell.to_string()),
        Float16 => written(&single(array), number_text),
        Float32 => written(array.as_primitive::<Float32Type>(), number_text),
        Float64 => written(array.as_primitive::<Float64Type>(), number_text),
        Utf8 => array.as_string::<i32>().clone(),
        LargeUtf8 => array.as_string::<i64>().iter().collect(),
        Utf8View => array.as_string_view().iter().collect(),
        Dictionary(..) => texts(&spread(array, file)?, file)?,
        Decimal32(..) => decimal_texts::<Decimal32Type>(array),
        Decimal64(..) => decimal_texts::<Decimal64Type>(array),
        Decimal128(..) => decimal_texts::<Decimal128Type>(array),
        Decimal256(..) => decimal_texts::<Decimal256Type>(array),
        _ => downcast_temporal_array!(
            array => time_texts(array, file)?,
            Null => StringArray::new_null(array.len()),
            other => return Err(failed(file, format!("cells of type {other} have no text"))),
        )
    ))
}

fn written<T>(cells: impl IntoIterator<Item = Option<T>>, text: fn(T) -> String) -> StringArray {
    cells.into_iter().map(|cell| cell.map(text)).collect()
}

fn decimal_texts<T: DecimalType>(array: &dyn Array) -> StringArray {
    let array = array.as_primitive::<T>();
    (0..array.len()).map(|at| array.is_valid(at).then(|| array.value_as_string(at))).collect()
}

/// Dates and times as in ISO 8601; those with a zone in UTC, the same instant, as names of zones would ask for
/// a database of them.
fn time_texts<T: ArrowPrimitiveType<Native: Into<i64>>>(
    array: &PrimitiveArray<T>,
    file: &SourceFile,
) -> Result<StringArray, TableError> {
    let kind = array.data_type();
    let text = |cell: i64| {
        Some(match kind {
            Date32 => format!("{:?}", as_date::<T>(cell)?),
            Time32(_) | Time64(_) => format!("{:?}", as_time::<T>(cell)?),
            Timestamp(_, Some(_)) => format!("{:?}Z", as_datetime::<T>(cell)?),
            _ => format!("{:?}", as_datetime::<T>(cell)?),
        })
    };
    let unknown = |cell| failed(file, format!("{cell} is beyond the times that {kind} can hold"));
    let cells = array.iter().map(|cell| cell.map(Into::into));
    cells.map(|cell| cell.map(|cell| text(cell).ok_or_else(|| unknown(cell))).transpose()).collect()
}
