//! Arrow arrays, as they come out of a Parquet file, cell by cell into columns.
//!
//! Numbers stay numbers for columns of numbers. For categories, whole numbers are written in decimal,
//! fractions in their shortest form (`0` for 0.0), booleans as `true` and `false`, dates and times as
//! in ISO 8601. Text means what it means in a CSV file.

use std::fmt::{Display, Write};

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions::{as_date, as_datetime, as_time};
use arrow_array::types::{ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type};
use arrow_array::types::{DecimalType, Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, Float32Array, PrimitiveArray, StringArray};
use arrow_array::{downcast_integer_array, downcast_temporal_array};
use arrow_schema::{ArrowError, DataType};
use arrow_select::take::take;

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
pub(crate) fn append(array: &dyn Array, column: &mut ColumnBuilder) -> Result<(), ArrayProblem> {
    use DataType::*;
    downcast_integer_array!(
        array => numbers(array, column, |whole| whole as f64),
        Float16 => numbers(&single(array), column, f64::from),
        Float32 => numbers(array.as_primitive::<Float32Type>(), column, f64::from),
        Float64 => numbers(array.as_primitive::<Float64Type>(), column, |number| number),
        Null => Ok((0..array.len()).for_each(|_| column.missing())),
        Utf8 => each(array.as_string::<i32>(), column, |column, cell| column.text(cell.as_bytes())),
        LargeUtf8 => each(array.as_string::<i64>(), column, |column, cell| column.text(cell.as_bytes())),
        Utf8View => each(array.as_string_view(), column, |column, cell| column.text(cell.as_bytes())),
        Dictionary(..) => append(&spread(array)?, column),
        _ => append(&texts(array)?, column),
    )
}

/// A dictionary's values, cell by cell.
fn spread(array: &dyn Array) -> Result<ArrayRef, ArrowError> {
    let dictionary = array.as_any_dictionary();
    take(dictionary.values(), dictionary.keys(), None)
}

fn single(array: &dyn Array) -> Float32Array {
    array.as_primitive::<Float16Type>().unary(f32::from)
}

fn numbers<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    column: &mut ColumnBuilder,
    number: impl Fn(T::Native) -> f64,
) -> Result<(), ArrayProblem>
where
    T::Native: Display,
{
    if !column.wants_text() {
        return each(array, column, |column, cell| column.number(number(cell)));
    }
    let mut text = String::new();
    let mut written = None;
    each(array, column, |column, cell| {
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
    mut add: impl FnMut(&mut ColumnBuilder, T) -> Result<(), CellProblem>,
) -> Result<(), ArrayProblem> {
    for (row, cell) in cells.into_iter().enumerate() {
        match cell {
            Some(cell) => add(column, cell).map_err(|problem| ArrayProblem::Cell(row, problem))?,
            None => column.missing(),
        }
    }
    Ok(())
}

/// The cells of an array as texts, which mean to a reader of text what the cells mean to a reader of
/// Parquet.
pub(crate) fn texts(array: &dyn Array) -> Result<StringArray, ArrowError> {
    use DataType::*;
    Ok(downcast_integer_array!(
        array => written(array, display),
        Boolean => written(array.as_boolean(), display),
        Float16 => written(&single(array), write_number),
        Float32 => written(array.as_primitive::<Float32Type>(), write_number),
        Float64 => written(array.as_primitive::<Float64Type>(), write_number),
        Utf8 => array.as_string::<i32>().clone(),
        LargeUtf8 => written(array.as_string::<i64>(), display),
        Utf8View => written(array.as_string_view(), display),
        Dictionary(..) => texts(&spread(array)?)?,
        Decimal32(..) => decimal_texts::<Decimal32Type>(array),
        Decimal64(..) => decimal_texts::<Decimal64Type>(array),
        Decimal128(..) => decimal_texts::<Decimal128Type>(array),
        Decimal256(..) => decimal_texts::<Decimal256Type>(array),
        _ => time_texts(array)?
    ))
}

/// Dates and times as in ISO 8601; those with a zone in UTC, the same instant, as names of zones ask for a
/// database of them.
fn time_texts(array: &dyn Array) -> Result<StringArray, ArrowError> {
    let kind = array.data_type();
    let failed =
        |cell: i64| ArrowError::CastError(format!("{cell} is beyond the times that {kind} can hold"));
    downcast_temporal_array!(
        array => array.iter().map(|cell| cell.map(|cell| {
            let cell = i64::from(cell);
            time_text(array, kind, cell).ok_or_else(|| failed(cell))
        }).transpose()).collect(),
        _ => Err(ArrowError::NotYetImplemented(format!("texts of {kind}")))
    )
}

fn time_text<T: ArrowPrimitiveType>(_: &PrimitiveArray<T>, kind: &DataType, cell: i64) -> Option<String> {
    use DataType::*;
    Some(match kind {
        Date32 => format!("{:?}", as_date::<T>(cell)?),
        Time32(_) | Time64(_) => format!("{:?}", as_time::<T>(cell)?),
        Timestamp(_, Some(_)) => format!("{:?}Z", as_datetime::<T>(cell)?),
        _ => format!("{:?}", as_datetime::<T>(cell)?),
    })
}

fn decimal_texts<T: DecimalType>(array: &dyn Array) -> StringArray {
    let array = array.as_primitive::<T>();
    (0..array.len()).map(|at| array.is_valid(at).then(|| array.value_as_string(at))).collect()
}

fn display<T: Display>(text: &mut String, cell: T) {
    // Writing to a string does not fail.
    let _ = write!(text, "{cell}");
}

fn written<T>(cells: impl IntoIterator<Item = Option<T>>, write: fn(&mut String, T)) -> StringArray {
    let mut text = String::new();
    let mut texts = StringBuilder::new();
    for cell in cells {
        texts.append_option(cell.map(|cell| {
            text.clear();
            write(&mut text, cell);
            &text
        }));
    }
    texts.finish()
}
