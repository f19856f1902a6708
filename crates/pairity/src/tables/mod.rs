//! Reading tables: CSV, TSV, Parquet and SVMlight files become named columns of numbers or categories.
//! And copying them with columns added.
//!
//! A [`Source`] says where the table is, a [`Selection`] which columns are wanted, and [`read`] gives a
//! [`Table`]. Several files are one table: their rows follow each other, and their categories are
//! merged. Missing cells are empty, `?` or `NA`, and nulls in Parquet; spaces around a cell are not part
//! of it. A cell that does not fit its column is an error that names the file, the line and the column.
//! [`AddColumns`] copies a table, with all its cells as they are, and adds columns of numbers.

mod adding;
mod arrays;
mod cell;
mod columnar;
mod delimited;
mod error;
mod format;
mod gather;
mod levels;
mod meter;
mod selection;
mod source;
mod svmlight;
mod table;
mod whole_file;

pub use adding::{AddColumns, Output};
pub use error::{CellProblem, Place, TableError};
pub use selection::{Kind, Selection, Want};
pub use source::Source;
pub use table::{Column, MISSING, Table, Values};
pub use whole_file::WholeFile;

use format::Format;
use gather::{Gather, Gathered};
use meter::Meter;
use selection::Header;
use source::Part;

/// The names of a table's columns, of which only the header or the schema is read (an SVMlight file has
/// neither and is read whole). Several files give each name once, in order of first appearance.
pub fn column_names(source: &Source) -> Result<Vec<String>, TableError> {
    let mut seen = std::collections::HashSet::new();
    let mut names = Vec::new();
    for part in source.parts() {
        let headers = headers(part, detect(part)?)?;
        // A name that one file has twice stays twice.
        let new: Vec<String> =
            headers.into_iter().map(|header| header.name).filter(|name| !seen.contains(name)).collect();
        seen.extend(new.iter().cloned());
        names.extend(new);
    }
    Ok(names)
}

/// Reads the selected columns of a table.
///
/// `progress` is called about once a mebibyte with the bytes read so far and, if known, in all. Both only
/// grow; the second does if a column turns out to need a second pass, which is one whose kind is to be
/// inferred and that has a text after some numbers.
///
/// ```
/// use pairity::tables::{self, MISSING, Selection, Source, Want};
///
/// # fn main() -> Result<(), tables::TableError> {
/// let people = "name,score,group\nAda,0.5,a\nBob,0.25,b\nCleo,1,\n";
/// let source = Source::from_reader("people.csv", people.as_bytes())?;
/// let wanted = Selection::Columns(vec![Want::number("score"), Want::category("group")]);
///
/// let table = tables::read(&source, &wanted, &|_, _| ())?;
/// assert_eq!(table.rows(), 3);
/// assert_eq!(table.columns()[0].numbers(), Some(&[0.5, 0.25, 1.0][..]));
/// let (codes, levels) = table.columns()[1].categories().unwrap();
/// assert_eq!(codes, [0, 1, MISSING]);
/// assert_eq!(levels, ["a", "b"]);
/// assert_eq!(table.locate(2), "people.csv, data row 3");
///
/// let wanted = Selection::Columns(vec![Want::number("group")]);
/// let error = tables::read(&source, &wanted, &|_, _| ()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "people.csv, line 2, column \"group\": expected a number, found \"a\". \
///      Correct the cell, or leave it empty if the value is missing"
/// );
/// # Ok(())
/// # }
/// ```
pub fn read(
    source: &Source,
    selection: &Selection,
    progress: &(dyn Fn(u64, Option<u64>) + Sync),
) -> Result<Table, TableError> {
    let parts: Vec<(&Part, Format)> =
        source.parts().iter().map(|part| Ok((part, detect(part)?))).collect::<Result<_, TableError>>()?;
    let (wants, skipped) = match selection {
        Selection::Columns(wants) => (selection::distinct(wants)?, Vec::new()),
        Selection::All { overrides } => {
            let mut files = Vec::with_capacity(parts.len());
            for &(part, format) in &parts {
                files.push((part.name(), headers(part, format)?));
            }
            selection::all(&files, overrides)?
        }
    };

    let mut meter = Meter::new(progress);
    let mut first: Vec<Gather> = wants.iter().map(Gather::new).collect();
    let counts = pass(&parts, &mut first, &mut meter)?;
    let rows = counts.iter().sum();
    if rows == 0 {
        return Err(no_rows(source));
    }
    let gathered: Vec<Gathered> = first.into_iter().map(Gather::finish).collect();
    let mut second: Vec<Gather> = gathered.iter().filter_map(Gathered::again).map(Gather::new).collect();
    if !second.is_empty() {
        let again = pass(&parts, &mut second, &mut meter)?;
        if let Some(at) = (0..parts.len()).find(|&at| again[at] != counts[at]) {
            return Err(parts[at].0.failed(std::io::Error::other("it changed while it was read")));
        }
    }
    meter.end();

    let mut second = second.into_iter().map(Gather::finish);
    let mut columns = Vec::with_capacity(gathered.len());
    for gathered in gathered {
        let column = match gathered {
            Gathered::Again(_) => second.next(),
            done => Some(done),
        };
        // The second pass has decided kinds, so that all of it is done.
        if let Some(Gathered::Done(column)) = column {
            columns.push(column);
        }
    }
    let parts = parts.iter().map(|(part, _)| part.name().to_owned()).zip(counts).collect();
    Ok(Table { rows, columns, skipped, parts })
}

/// Reads every file once, and returns their numbers of rows.
fn pass(
    parts: &[(&Part, Format)],
    columns: &mut [Gather],
    meter: &mut Meter<'_>,
) -> Result<Vec<usize>, TableError> {
    meter.expect(parts.iter().map(|(part, _)| part.size()).sum());
    let mut counts = Vec::with_capacity(parts.len());
    for &(part, format) in parts {
        counts.push(match format {
            Format::Delimited(delimiter) => delimited::read(part, delimiter, columns, meter)?,
            Format::Parquet => columnar::read(part, columns, meter)?,
            Format::Svmlight => svmlight::read(part, columns, meter)?,
        });
        meter.finished(part.size());
    }
    Ok(counts)
}

fn headers(part: &Part, format: Format) -> Result<Vec<Header>, TableError> {
    match format {
        Format::Delimited(delimiter) => delimited::headers(part, delimiter),
        Format::Parquet => columnar::headers(part),
        Format::Svmlight => svmlight::headers(part),
    }
}

fn no_rows(source: &Source) -> TableError {
    let file = match source.names()[..] {
        [only] => only.to_owned(),
        [first, ref others @ ..] => format!("{first} (and {} more)", others.len()),
        [] => "the list of files".to_owned(),
    };
    TableError::NoRows { file }
}

fn detect(part: &Part) -> Result<Format, TableError> {
    if part.size() == 0 {
        return Err(TableError::NoHeader { file: part.name().to_owned() });
    }
    format::detect(part)
}
