//! Loaders of the published data sets: from files as their publishers have them to a [`Dataset`].
//!
//! [`Dataset`]: crate::dataset::Dataset

pub mod crime;
mod headerless;
pub mod law;
pub mod w3c;
pub mod wiki;

use crate::error::DataError;
use pairity::examples::Column;
use pairity_tables::{Source, Table};
use std::fs::File;
use std::path::Path;

/// A file as a source of tables.
fn open(path: &Path) -> Result<Source, DataError> {
    Ok(Source::from_reader(&name(path), file(path)?)?)
}

fn file(path: &Path) -> Result<File, DataError> {
    let failed = |cause| pairity_tables::TableError::Read { file: name(path), cause };
    Ok(File::open(path).map_err(failed)?)
}

/// A path as it stands in messages.
fn name(path: &Path) -> String {
    path.display().to_string()
}

/// A column that was asked for as numbers.
fn numbers(table: &Table, name: &str) -> Vec<f64> {
    table.column(name).and_then(Column::numbers).map(<[f64]>::to_vec).unwrap_or_default()
}

/// A column of numbers, each of which must be there.
fn present(table: &Table, name: &str) -> Result<Vec<f64>, DataError> {
    let numbers = numbers(table, name);
    match numbers.iter().position(|number| number.is_nan()) {
        None => Ok(numbers),
        Some(row) => Err(wrong(table, row, name, "the value is missing", "Give the row one, or remove it")),
    }
}

/// A column of numbers that are 0 or 1.
fn binary(table: &Table, name: &str) -> Result<Vec<f64>, DataError> {
    let numbers = present(table, name)?;
    match numbers.iter().position(|&number| number != 0.0 && number != 1.0) {
        None => Ok(numbers),
        Some(row) => {
            let problem = format!("{} is neither 0 nor 1", numbers[row]);
            Err(wrong(table, row, name, &problem, "Write 0 and 1, or False and True"))
        }
    }
}

/// The error for a file that is not what it should be as a whole.
fn wrong_file(path: &Path, problem: &str, advice: &str) -> DataError {
    DataError::Other(format!("{}: {problem}. {advice}", path.display()))
}

/// The error for a cell of a table.
fn wrong(table: &Table, row: usize, column: &str, problem: &str, advice: &str) -> DataError {
    DataError::Other(format!("{}, column {column:?}: {problem}. {advice}", table.locate(row)))
}
