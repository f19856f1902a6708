//! Loaders of the published data sets: from files as their publishers have them to a [`Dataset`].
//!
//! [`Dataset`]: crate::dataset::Dataset

pub mod crime;
pub mod law;
pub mod w3c;
pub mod wiki;

use crate::data::DataError;
use pairity::examples::Column;
use pairity_tables::{self as tables, Selection, Source, Table, TableError, Want};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A file as a source of tables, with a header in front of it or without.
fn open(path: &Path, header: &str) -> Result<Source, TableError> {
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => Source::from_reader(&name, header.as_bytes().chain(file)),
        Err(cause) => Err(TableError::Read { file: name, cause }),
    }
}

/// Reads columns of a table.
fn read(source: &Source, wants: Vec<Want>) -> Result<Table, TableError> {
    tables::read(source, &Selection::Columns(wants), &|_, _| ())
}

/// Reads columns of a comma-separated file that has these columns, but no header: its first line is already a
/// row.
///
/// The reader of tables gets a header in front of the file, and the lines in its errors are counted without
/// it.
fn read_headerless(path: &Path, columns: &[&str], wants: Vec<Want>) -> Result<Table, DataError> {
    let source = open(path, &format!("{}\n", columns.join(",")))?;
    read(&source, wants).map_err(|mut error| {
        match &mut error {
            TableError::Ragged { file, line, found, expected, .. } => {
                return DataError::Other(format!(
                    "{file}, line {}: found {found} fields, expected {expected}. Is it the file as published?",
                    *line - 1
                ));
            }
            TableError::NoRows(file) => error = TableError::NoHeader(std::mem::take(file)),
            TableError::Cell { at: (_, line), .. } | TableError::OpenQuote { line, .. } => *line -= 1,
            _ => {}
        }
        error.into()
    })
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

/// A column of numbers, each of which must be there and be right.
fn right(
    table: &Table,
    name: &str,
    is_right: impl Fn(f64) -> bool,
    [problem, advice]: [&str; 2],
) -> Result<Vec<f64>, DataError> {
    let numbers = present(table, name)?;
    match numbers.iter().position(|&number| !is_right(number)) {
        None => Ok(numbers),
        Some(row) => Err(wrong(table, row, name, &format!("{} {problem}", numbers[row]), advice)),
    }
}

/// A column of numbers that are 0 or 1.
fn binary(table: &Table, name: &str) -> Result<Vec<f64>, DataError> {
    let words = ["is neither 0 nor 1", "Write 0 and 1, or False and True"];
    right(table, name, |number| number == 0.0 || number == 1.0, words)
}

/// The error for a file that is not what it should be as a whole.
fn wrong_file(path: &Path, problem: &str, advice: &str) -> DataError {
    DataError::Other(format!("{}: {problem}. {advice}", path.display()))
}

/// The error for a cell of a table.
fn wrong(table: &Table, row: usize, column: &str, problem: &str, advice: &str) -> DataError {
    DataError::Other(format!("{}, column {column:?}: {problem}. {advice}", table.locate(row)))
}
