//! Tables whose first line is already a row.

use super::{file, name};
use crate::error::DataError;
use pairity_tables::{self as tables, Place, Selection, Source, Table, TableError, Want};
use std::io::Read;
use std::path::Path;

/// Reads columns of a comma-separated file that has these columns, but no header.
///
/// The reader of tables gets a header in front of the file, and the lines in its errors are counted without
/// it.
pub(super) fn read(path: &Path, columns: &[&str], wants: Vec<Want>) -> Result<Table, DataError> {
    let header = format!("{}\n", columns.join(","));
    let source = Source::from_reader(&name(path), header.as_bytes().chain(file(path)?))?;
    tables::read(&source, &Selection::Columns(wants), &|_, _| ()).map_err(without_header)
}

fn without_header(error: TableError) -> DataError {
    let up = |line: u64| line.saturating_sub(1);
    DataError::Table(match error {
        TableError::Ragged { file, line, found, expected, .. } => {
            return DataError::Other(format!(
                "{file}, line {}: found {found} fields, expected {expected}. Is it the file as published?",
                up(line)
            ));
        }
        TableError::Cell { file, place: Place::Line(line), column, problem } => {
            TableError::Cell { file, place: Place::Line(up(line)), column, problem }
        }
        TableError::OpenQuote { file, line } => TableError::OpenQuote { file, line: up(line) },
        TableError::NoRows(file) => TableError::NoHeader(file),
        other => other,
    })
}
