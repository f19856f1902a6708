//! Copying a table with columns of numbers added.
//!
//! Text files are copied to text files, and Parquet files to Parquet files, row by row and without a look
//! at what the cells mean. Where the kinds of files differ, cells are translated: a Parquet cell becomes
//! the text that reads back as the same, and a text becomes a number if its whole column is one.

mod batches;
mod texts;
mod typed;

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use arrow_schema::SchemaRef;

use super::error::TableError;
use super::format::Format;
use super::meter::{Meter, Progress};
use super::selection::{Header, positions, unknown};
use super::source::{Part, Source};
use super::{detect, headers};

/// The formats in which tables are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Text with commas.
    Csv,
    /// Text with tabs.
    Tsv,
    /// Parquet.
    Parquet,
}

impl Output {
    /// The format that a file's extension names: `.csv`, `.tsv` (or `.tab`), `.parquet` (or `.pq`).
    ///
    /// # Errors
    /// Any other extension, or none.
    pub fn of(path: &Path) -> Result<Output, TableError> {
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        match extension.as_deref() {
            Some("csv") => Ok(Output::Csv),
            Some("tsv" | "tab") => Ok(Output::Tsv),
            Some("parquet" | "pq") => Ok(Output::Parquet),
            _ => Err(TableError::OutputFormat { file: path.display().to_string() }),
        }
    }

    /// The byte between fields, in a text.
    fn delimiter(self) -> Option<u8> {
        match self {
            Output::Csv => Some(b','),
            Output::Tsv => Some(b'\t'),
            Output::Parquet => None,
        }
    }
}

/// A copy of a table with columns of numbers added at its end, planned before the numbers are known: what
/// can't be done is told by [`plan`](AddColumns::plan).
///
/// ```
/// use pairity::tables::{AddColumns, Output, Source};
///
/// # fn main() -> Result<(), pairity::tables::TableError> {
/// let people = "name,born\n\"Lovelace, Ada\",1815\nBabbage,1791\n";
/// let source = Source::from_reader("people.csv", people.as_bytes())?;
/// let copy = AddColumns::plan(&source, &["score"], Output::Csv)?;
///
/// let mut out = Vec::new();
/// copy.write(&[&[0.5, -1e-20]], "scored.csv", &mut out, &|_, _| ())?;
/// assert_eq!(out, b"name,born,score\n\"Lovelace, Ada\",1815,0.5\nBabbage,1791,-1e-20\n");
///
/// let error = AddColumns::plan(&source, &["born"], Output::Csv).unwrap_err();
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
    added: Vec<String>,
    route: Route,
}

/// How cells come from one file to the other.
#[derive(Debug)]
enum Route {
    /// As texts.
    Texts { delimiter: u8, files: Vec<File> },
    /// As Arrow arrays of these types.
    Batches { schema: SchemaRef, files: Vec<File> },
    /// As the columns of a table that is read into memory.
    Typed { output: Output },
}

/// One of the files.
#[derive(Debug)]
struct File {
    format: Format,
    /// Where in it each column of the first file is.
    order: Vec<usize>,
}

impl<'a> AddColumns<'a> {
    /// Plans a copy. Several files become one: their columns are those of the first, by name.
    ///
    /// # Errors
    /// Files that can't be read, a name that is in use, files with different columns or types, or cells that
    /// have no text where a text is to be written.
    pub fn plan(source: &'a Source, added: &[&str], output: Output) -> Result<AddColumns<'a>, TableError> {
        let parts = source.parts();
        let mut formats = Vec::with_capacity(parts.len());
        let mut columns = Vec::with_capacity(parts.len());
        for part in parts {
            let format = detect(part)?;
            formats.push(format);
            columns.push(headers(part, format)?);
        }
        check_names(parts, &columns, added)?;
        let all = |wanted: Format| formats.iter().all(|format| *format == wanted);
        let route = match output.delimiter() {
            Some(delimiter) if !formats.contains(&Format::Svmlight) => {
                check_texts(parts, &columns)?;
                Route::Texts { delimiter, files: arrange(parts, &formats, &columns)? }
            }
            None if all(Format::Parquet) => {
                let files = arrange(parts, &formats, &columns)?;
                Route::Batches { schema: batches::schema(parts, &files, added)?, files }
            }
            _ => {
                check_texts(parts, &columns)?;
                Route::Typed { output }
            }
        };
        Ok(AddColumns { source, added: added.iter().map(|&name| name.to_owned()).collect(), route })
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
        progress: Progress<'_>,
    ) -> Result<(), TableError> {
        let failed = |cause: io::Error| TableError::Write { file: name.to_owned(), cause };
        let columns = &columns[..columns.len().min(self.added.len())];
        let mut added = Added { names: &self.added, columns, rows: 0, source: self.source };
        added.check()?;
        let parts = self.source.parts();
        let mut meter = Meter::new(progress);
        meter.expect(parts.iter().map(Part::size).sum());
        match &self.route {
            Route::Texts { delimiter, files } => {
                texts::write(parts, files, *delimiter, &mut added, out, &failed, &mut meter)?;
            }
            Route::Batches { schema, files } => {
                batches::write(parts, files, schema, &mut added, out, &failed, &mut meter)?;
            }
            Route::Typed { output } => {
                return typed::write(self.source, *output, &mut added, out, &failed, progress);
            }
        }
        meter.end();
        Ok(())
    }
}

/// The columns to add, of which so many rows are written.
struct Added<'a> {
    names: &'a [String],
    columns: &'a [&'a [f64]],
    rows: usize,
    source: &'a Source,
}

impl Added<'_> {
    fn check(&self) -> Result<(), TableError> {
        let first = self.columns.first().map_or(0, |column| column.len());
        for (at, name) in self.names.iter().enumerate() {
            let found = self.columns.get(at).map_or(0, |column| column.len());
            if found != first {
                return Err(self.wrong_length(name, found, first));
            }
        }
        Ok(())
    }

    /// The next so many rows, for which every column has numbers.
    fn next(&mut self, count: usize) -> Result<Range<usize>, TableError> {
        let rows = self.rows..self.rows + count;
        self.rows = rows.end;
        // All columns are of one length.
        match (self.names.first(), self.columns.first()) {
            (Some(name), Some(column)) if column.len() < rows.end => {
                Err(self.wrong_length(name, column.len(), rows.end))
            }
            _ => Ok(rows),
        }
    }

    /// Whether all numbers are written.
    fn finish(&self) -> Result<(), TableError> {
        match (self.names.first(), self.columns.first()) {
            (Some(name), Some(column)) if column.len() != self.rows => {
                Err(self.wrong_length(name, column.len(), self.rows))
            }
            _ => Ok(()),
        }
    }

    fn wrong_length(&self, column: &str, found: usize, rows: usize) -> TableError {
        let file = self.source.names().first().map_or_else(String::new, |name| (*name).to_owned());
        TableError::AddedLength { column: column.to_owned(), found, file, rows }
    }
}

fn check_names(parts: &[Part], columns: &[Vec<Header>], added: &[&str]) -> Result<(), TableError> {
    for (at, &name) in added.iter().enumerate() {
        let taken = |file: &str| TableError::NameTaken { file: file.to_owned(), column: name.to_owned() };
        for (part, headers) in parts.iter().zip(columns) {
            // Spaces around a name are not part of it.
            if headers.iter().any(|header| header.name.trim() == name.trim()) {
                return Err(taken(part.name()));
            }
        }
        if added[..at].contains(&name) {
            return Err(taken("the output"));
        }
    }
    Ok(())
}

/// Whether every cell has a text.
fn check_texts(parts: &[Part], columns: &[Vec<Header>]) -> Result<(), TableError> {
    for (part, headers) in parts.iter().zip(columns) {
        if let Some(header) = headers.iter().find(|header| !header.readable) {
            return Err(TableError::NoText { file: part.name().to_owned(), column: header.name.clone() });
        }
    }
    Ok(())
}

/// Where each column of the first file is in every file.
fn arrange(parts: &[Part], formats: &[Format], columns: &[Vec<Header>]) -> Result<Vec<File>, TableError> {
    let names: Vec<Vec<String>> =
        columns.iter().map(|headers| headers.iter().map(|header| header.name.clone()).collect()).collect();
    let (Some(first), Some(first_part)) = (names.first(), parts.first()) else { return Ok(Vec::new()) };
    let mut files = Vec::with_capacity(parts.len());
    for ((part, &format), names) in parts.iter().zip(formats).zip(&names) {
        // Files with equal headers may even have a name twice.
        let order = if names == first {
            (0..first.len()).collect()
        } else {
            if let Some(extra) = names.iter().find(|name| !first.contains(name)) {
                return Err(unknown(extra, first.clone(), first_part.name()));
            }
            positions(names.iter().map(String::as_str), first, first_part.name())?;
            positions(first.iter().map(String::as_str), names, part.name())?
        };
        files.push(File { format, order });
    }
    Ok(files)
}
