//! Copying a table with columns of numbers added.
//!
//! Text files are copied to text files, and Parquet files to Parquet files, row by row and without a look
//! at what the cells mean. Where the formats differ, cells are translated: a Parquet cell becomes the text
//! that reads back as the same, and a text becomes a number if its whole column is one.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use pairity::examples::Column;

use super::delimited::CSV_WRITER;
use super::error::TableError;
use super::format::{TableFormat, Writer, detect, written};
use super::meter::ReadProgress;
use super::selection::{Header, Selection, Want, names, positions, unknown};
use super::source::{Source, SourceFile};
use super::table::Table;

/// A format in which tables are written.
#[derive(Debug, Clone, Copy)]
pub struct Output(&'static Writer);

impl Output {
    /// The format that a file's ending names: `.csv`, `.tsv` (or `.tab`), `.parquet` (or `.pq`).
    ///
    /// # Errors
    /// Any other ending, or none.
    pub fn of(path: &Path) -> Result<Output, TableError> {
        let writer = TableFormat::of(path).and_then(|format| format.writer.as_ref());
        writer.map(Output).ok_or_else(|| {
            let advice = format!("end the name in {}, which are the formats that are written", written());
            TableError::Other(format!("can't write a table to {}: {advice}", path.display()))
        })
    }

    /// Text with commas.
    pub fn csv() -> Output {
        Output(&CSV_WRITER)
    }
}

/// A copy of a table with columns of numbers added at its end, planned before the numbers are known: what
/// can't be done is told by [`plan`](AddColumns::plan).
///
/// ```
/// use pairity_tables::{AddColumns, Output, Source};
///
/// # fn main() -> Result<(), pairity_tables::TableError> {
/// let people = "name,born\n\"Lovelace, Ada\",1815\nBabbage,1791\n";
/// let source = Source::from_reader("people.csv", people.as_bytes())?;
/// let copy = AddColumns::plan(&source, &["score"], Output::csv())?;
///
/// let mut out = Vec::new();
/// copy.write(&[&[0.5, -1e-20]], "scored.csv", &mut out, &|_, _| ())?;
/// assert_eq!(out, b"name,born,score\n\"Lovelace, Ada\",1815,0.5\nBabbage,1791,-1e-20\n");
///
/// let error = AddColumns::plan(&source, &["born"], Output::csv()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "people.csv already has a column \"born\". Choose another name for the new column"
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct AddColumns<'a> {
    source: &'a Source,
    files: Vec<InputFile<'a>>,
    added: Vec<String>,
    writer: &'static Writer,
}

/// One of the files that are copied.
#[derive(Debug)]
pub(crate) struct InputFile<'a> {
    pub(crate) file: &'a SourceFile,
    pub(crate) format: &'static TableFormat,
    headers: Vec<Header>,
}

/// A copy that is being made.
pub(crate) struct Copying<'a> {
    pub(crate) files: &'a [InputFile<'a>],
    pub(crate) added: Added<'a>,
    /// What messages call the output.
    pub(crate) name: &'a str,
    pub(crate) out: &'a mut (dyn Write + Send),
    pub(crate) progress: ReadProgress<'a>,
}

/// The error for an output that the operating system does not take.
pub(crate) fn unwritable(name: &str, cause: io::Error) -> TableError {
    TableError::Write { file: name.to_owned(), cause }
}

impl<'a> AddColumns<'a> {
    /// Plans a copy. Several files become one: their columns are those of the first, by name.
    ///
    /// # Errors
    /// Files that can't be read, a name that is in use, files with different columns or types, or cells that
    /// have no text where a text is to be written.
    pub fn plan(source: &'a Source, added: &[&str], output: Output) -> Result<AddColumns<'a>, TableError> {
        let mut files = Vec::with_capacity(source.files.len());
        for file in &source.files {
            let format = detect(file)?;
            files.push(InputFile { file, format, headers: (format.headers)(file)? });
        }
        check_names(&files, added)?;
        let Output(writer) = output;
        (writer.plan)(&files, added)?;
        Ok(AddColumns { source, files, added: added.iter().map(|&name| name.to_owned()).collect(), writer })
    }

    /// Writes the copy with the numbers of each added column. NaN becomes a missing cell; every other number
    /// is written with the shortest digits that bring back its bits. `name` is what messages call the
    /// output, and `progress` is told of the bytes read, as in [`read`](super::read).
    ///
    /// # Errors
    /// The table can't be read or the output not be written, or a column does not have one number a row.
    pub fn write(
        &self,
        columns: &[&[f64]],
        name: &str,
        out: &mut (dyn Write + Send),
        progress: ReadProgress<'_>,
    ) -> Result<(), TableError> {
        let columns = &columns[..columns.len().min(self.added.len())];
        let rows = columns.first().map_or(0, |column| column.len());
        let added = Added { names: &self.added, columns, rows: 0, source: self.source };
        added.check(rows, |found| found == rows)?;
        (self.writer.write)(Copying { files: &self.files, added, name, out, progress })?;
        // The numbers belong to the rows that were read before.
        self.source.files.iter().try_for_each(|file| file.check_unchanged())
    }
}

/// All columns, each as numbers if that is all it holds and none of it is lost: identifiers can be whole
/// numbers too long for a number.
pub(crate) fn lossless(source: &Source, progress: ReadProgress<'_>) -> Result<Table, TableError> {
    let read = |selection| super::read(source, &selection, progress);
    let table = read(Selection::All { overrides: Vec::new() })?;
    // A copy leaves nothing out: reading it by name tells what is wrong with it.
    if !table.skipped.is_empty() {
        read(Selection::Columns(table.skipped.iter().map(|name| Want::category(name)).collect()))?;
    }
    let suspects = as_categories(&table, is_large);
    if suspects.is_empty() {
        return Ok(table);
    }
    let lossy = |column: &Column| {
        column.categories().is_some_and(|(_, texts)| texts.iter().any(|text| is_rounded(text)))
    };
    let overrides = as_categories(&read(Selection::Columns(suspects))?, lossy);
    if overrides.is_empty() { Ok(table) } else { read(Selection::All { overrides }) }
}

/// Refuses a column that was read as numbers and has a whole number which is no 64-bit floating point number, and so may
/// have been taken for its neighbor.
///
/// # Errors
/// There is one, or the table can't be read again.
pub fn check_rounded(source: &Source, column: &Column) -> Result<(), TableError> {
    if !is_large(column) {
        return Ok(());
    }
    let again = super::read(source, &Selection::Columns(vec![Want::category(&column.name)]), &|_, _| ())?;
    let texts = again.columns().first().and_then(Column::categories).map_or(&[][..], |(_, texts)| texts);
    texts.iter().find(|text| is_rounded(text)).map_or(Ok(()), |number| {
        Err(TableError::Other(format!(
            "column {:?} has whole numbers beyond 2^53, such as {number}, which can't be told from their neighbors: \
             subtract a constant from them, or divide them",
            column.name
        )))
    })
}

fn is_large(column: &Column) -> bool {
    column.numbers().is_some_and(|all| all.iter().any(|x| x.abs() >= EXACT))
}

fn is_rounded(text: &str) -> bool {
    text.parse::<i128>().is_ok_and(|whole| whole as f64 as i128 != whole)
}

/// From here on, not every whole number is a 64-bit floating point number.
const EXACT: f64 = (1_u64 << 53) as f64;

/// Some columns, to be read as categories.
fn as_categories(table: &Table, which: impl Fn(&Column) -> bool) -> Vec<Want> {
    table.columns().iter().filter(|column| which(column)).map(|column| Want::category(&column.name)).collect()
}

/// The columns to add, of which so many rows are written.
pub(crate) struct Added<'a> {
    pub(crate) names: &'a [String],
    pub(crate) columns: &'a [&'a [f64]],
    pub(crate) source: &'a Source,
    rows: usize,
}

impl Added<'_> {
    /// The next so many rows, for which every column has numbers.
    pub(crate) fn next(&mut self, count: usize) -> Result<Range<usize>, TableError> {
        let rows = self.rows..self.rows + count;
        self.rows = rows.end;
        self.check(rows.end, |found| found >= rows.end)?;
        Ok(rows)
    }

    /// Whether all numbers are written.
    pub(crate) fn finish(&self) -> Result<(), TableError> {
        self.check(self.rows, |found| found == self.rows)
    }

    /// Whether the length of every column is right for so many rows.
    pub(crate) fn check(&self, rows: usize, right: impl Fn(usize) -> bool) -> Result<(), TableError> {
        let lengths = self.columns.iter().map(|column| column.len()).chain(std::iter::repeat(0));
        let Some((column, found)) = self.names.iter().zip(lengths).find(|(_, found)| !right(*found)) else {
            return Ok(());
        };
        let file = self.source.files.first().map_or("", |file| &file.name);
        Err(TableError::Other(format!(
            "the new column {column:?} has {found} numbers, but {file} has {rows} rows. Give one number a row; \
             if the file has changed meanwhile, start again"
        )))
    }
}

fn check_names(files: &[InputFile<'_>], added: &[&str]) -> Result<(), TableError> {
    for (at, &name) in added.iter().enumerate() {
        // Spaces around a name are not part of it.
        let has = |file: &&InputFile| file.headers.iter().any(|header| header.name.trim() == name.trim());
        let has_it = files.iter().find(has).map(|file| file.file.name.as_str());
        if let Some(file) = has_it.or_else(|| added[..at].contains(&name).then_some("the output")) {
            return Err(TableError::NameTaken { file: file.to_owned(), column: name.to_owned() });
        }
    }
    Ok(())
}

/// Whether every cell has a text.
pub(crate) fn check_texts(files: &[InputFile<'_>]) -> Result<(), TableError> {
    let mut headers = files.iter().flat_map(|file| file.headers.iter().map(move |header| (file, header)));
    let Some((file, header)) = headers.find(|(_, header)| !header.readable) else { return Ok(()) };
    Err(TableError::Other(format!(
        "{}, column {:?}: a text file has no place for such cells as these, which are lists, structs or bytes. \
         Leave the column out, or write Parquet files alone to a .parquet file",
        file.file.name, header.name
    )))
}

/// Where each column of the first file is in every file.
pub(crate) fn arrange(files: &[InputFile<'_>]) -> Result<Vec<Vec<usize>>, TableError> {
    let Some(first) = files.first() else { return Ok(Vec::new()) };
    let first_names = names(&first.headers);
    let order = |file: &InputFile| {
        let names = names(&file.headers);
        // Files with equal headers may even have a name twice.
        if names == first_names {
            return Ok((0..names.len()).collect());
        }
        if let Some(extra) = names.iter().find(|name| !first_names.contains(name)) {
            return Err(unknown(extra, first_names.clone(), first.file));
        }
        positions(names.iter().map(String::as_str), &first_names, first.file)?;
        positions(first_names.iter().map(String::as_str), &names, file.file)
    };
    files.iter().map(order).collect()
}
