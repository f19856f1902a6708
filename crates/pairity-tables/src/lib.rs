//! Reading tables: CSV, TSV, Parquet and SVMlight files become named columns of numbers or categories.
//! And copying them with columns added.
//!
//! A [`Source`] says where the table is, a [`Selection`] which columns are wanted, and [`read`] gives a
//! [`Table`]. Several files are one table: their rows follow each other, and their categories are
//! merged. Missing cells are empty, `?` or `NA`, and nulls in Parquet; spaces around a cell are not part
//! of it. A cell that does not fit its column is an error that names the file, the line and the column.
//! [`read_in_parts`] reads a table that is larger than memory, some queries at a time.
//! [`AddColumns`] copies a table, with all its cells as they are, and adds columns of numbers.

mod adding;
mod builder;
mod cell;
mod columnar;
mod delimited;
mod error;
mod filter;
mod format;
mod identity;
mod meter;
mod parts;
mod records;
mod selection;
mod source;
mod stored;
mod svmlight;
mod table;
mod waiting;
mod whole_file;

pub use adding::{AddColumns, Output, check_rounded};
pub use error::TableError;
pub use filter::Filter;
pub use identity::FileId;
pub use meter::ReadProgress;
pub use parts::{TableParts, read_in_parts};
pub use records::{RecordBlocks, RecordRuns};
pub use selection::{ColumnKind, Selection, Want};
pub use source::Source;
pub use stored::StoredColumns;
pub use table::Table;
pub use whole_file::WholeFile;

use pairity::examples::Column;

use builder::ColumnBuilder;
use format::detect;
use meter::Meter;

/// The names of a table's columns, of which only the header or the schema is read (an SVMlight file has
/// neither and is read whole). Several files give each name once, in order of first appearance.
pub fn column_names(source: &Source) -> Result<Vec<String>, TableError> {
    let mut seen = std::collections::HashSet::new();
    let mut names = Vec::new();
    for file in &source.files {
        let headers = (detect(file)?.headers)(file)?;
        // A name that one file has twice stays twice.
        names.extend(selection::names(&headers).into_iter().filter(|name| !seen.contains(name)));
        seen.extend(headers.into_iter().map(|header| header.name));
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
/// use pairity::examples::MISSING;
/// use pairity_tables::{self as tables, Selection, Source, Want};
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
/// assert_eq!(source.locate(&table, 2), "people.csv, line 4");
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
pub fn read(source: &Source, selection: &Selection, progress: ReadProgress<'_>) -> Result<Table, TableError> {
    let files = &source.files[..];
    let formats = files.iter().map(detect).collect::<Result<Vec<_>, _>>()?;
    let (wants, mut skipped) = match selection {
        Selection::Columns(wants) => (selection::distinct(wants)?, Vec::new()),
        Selection::All { overrides } | Selection::Features { overrides } => {
            let headers = files.iter().zip(&formats).map(|(file, format)| (format.headers)(file));
            let features = matches!(selection, Selection::Features { .. });
            selection::all(files, &headers.collect::<Result<Vec<_>, _>>()?, overrides, features)?
        }
    };

    let mut meter = Meter::new(progress);
    let mut pass = |columns: &mut [ColumnBuilder]| {
        meter.pass(files, |at, meter| (formats[at].read)(&files[at], columns, meter, None))
    };
    let mut first: Vec<ColumnBuilder> = wants.iter().map(ColumnBuilder::new).collect();
    let counts = pass(&mut first)?;
    let rows = counts.iter().sum();
    if rows == 0 {
        return Err(no_rows(source));
    }
    let twins: Vec<Option<(String, bool)>> = first.iter_mut().map(|column| column.twins.take()).collect();
    let first: Vec<Result<Column, Want>> = first.into_iter().map(ColumnBuilder::finish).collect();
    let again = first.iter().filter_map(|column| column.as_ref().err());
    let mut second: Vec<ColumnBuilder> = again.map(ColumnBuilder::new).collect();
    if !second.is_empty() {
        let again = pass(&mut second)?;
        if let Some(at) = (0..files.len()).find(|&at| again[at] != counts[at]) {
            return Err(files[at].changed());
        }
    }
    meter.end();
    files.iter().try_for_each(|file| file.check_unchanged())?;

    // The second pass has decided kinds, so that all of it is done.
    let mut second = second.into_iter().filter_map(|column| column.finish().ok());
    let mut columns: Vec<Column> =
        first.into_iter().filter_map(|column| column.ok().or_else(|| second.next())).collect();
    let mut warnings = Vec::new();
    for (at, (twins, want)) in twins.into_iter().zip(&wants).enumerate().rev() {
        let named = want.kind != ColumnKind::Infer || matches!(selection, Selection::Columns(_));
        match twins {
            // Texts that nobody named are used by few.
            Some((_, true)) if !named && columns[at].categories().is_some() => {
                skipped.push(columns.remove(at).name);
            }
            Some((words, true)) => return Err(TableError::Other(words)),
            Some((words, false)) => warnings.push(words),
            None => {}
        }
    }
    let files = files.iter().map(|file| file.name.clone()).zip(counts).collect();
    Ok(Table { rows, columns, skipped, warnings, files, kept: None })
}

/// The error for files with headers alone.
fn no_rows(source: &Source) -> TableError {
    TableError::NoRows(match source.names()[..] {
        [only] => only.to_owned(),
        [first, ref others @ ..] => format!("{first} (and {} more)", others.len()),
        [] => "the list of files".to_owned(),
    })
}
