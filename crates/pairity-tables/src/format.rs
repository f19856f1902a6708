//! The formats of tables: how a file's format is known, and what a format has to be able to do.
//!
//! A format is a module with a [`TableFormat`] and a line in [`FORMATS`].

use std::path::Path;

use super::adding::{Copying, InputFile};
use super::builder::ColumnBuilder;
use super::error::{TableError, any_of};
use super::meter::Meter;
use super::selection::Header;
use super::source::SourceFile;
use super::{columnar, delimited, svmlight};

/// All formats, in the order in which messages name them.
static FORMATS: [&TableFormat; 4] =
    [&delimited::CSV, &delimited::TSV, &columnar::PARQUET, &svmlight::SVMLIGHT];

/// Finds what a row is counted by, and its number.
type FindPlace = fn(&SourceFile, usize) -> Result<(&'static str, u64), TableError>;

/// How files of a format are known, read and written.
#[derive(Debug)]
pub(crate) struct TableFormat {
    /// How names of its files end, in lower case and without the point. A folder is searched for these.
    pub(crate) endings: &'static [&'static str],
    /// Other endings of files that are named one by one.
    pub(crate) other_endings: &'static [&'static str],
    /// Whether it is text, which something else may be taken for.
    pub(crate) is_text: bool,
    /// Whether a file whose name does not tell its format starts like one of this format.
    pub(crate) recognizes: fn(&[u8]) -> bool,
    /// The columns of a file.
    pub(crate) headers: fn(&SourceFile) -> Result<Vec<Header>, TableError>,
    /// Adds the rows of a file to the columns and returns their number.
    pub(crate) read: ReadRows,
    /// Calls a function with the cells of some columns as texts, row after row, the first of which are the
    /// names of the columns. Nothing where a text depends on the other cells of the column.
    pub(crate) texts: Option<EachRow>,
    /// Where a row (from 0) is: what is counted, from 1, and which it is.
    pub(crate) place: FindPlace,
    /// What writes such files, if anything does.
    pub(crate) writer: Option<Writer>,
}

pub(crate) type ReadRows =
    fn(&SourceFile, &mut [ColumnBuilder], &mut Meter<'_>, Drain<'_>) -> Result<usize, TableError>;
/// What empties the columns each time that a batch of rows was added; nothing where all rows stay.
pub(crate) type Drain<'a> = Option<&'a mut dyn FnMut(&mut [ColumnBuilder]) -> Result<(), TableError>>;

/// Rows of a batch, at most.
pub(crate) const BATCH: usize = 8192;

pub(crate) type EachRow = fn(&SourceFile, &[usize], &mut Meter<'_>, Row<'_>) -> Result<usize, TableError>;
pub(crate) type Row<'a> = &'a mut dyn FnMut(&mut dyn Iterator<Item = &[u8]>) -> Result<(), TableError>;

/// What writes copies of tables.
#[derive(Debug)]
pub(crate) struct Writer {
    /// Finds out whether files can be written with added columns of these names.
    pub(crate) plan: fn(&[InputFile<'_>], &[&str]) -> Result<(), TableError>,
    /// Writes a copy.
    pub(crate) write: fn(Copying<'_>) -> Result<(), TableError>,
}

impl TableFormat {
    /// The format that a name tells.
    pub(crate) fn of(path: &Path) -> Option<&'static TableFormat> {
        let ending = ending(path)?;
        let has =
            |format: &&&TableFormat| [format.endings, format.other_endings].concat().contains(&&*ending);
        FORMATS.iter().find(has).copied()
    }
}

/// The format that the name of a file tells, or else its start.
pub(crate) fn detect(file: &SourceFile) -> Result<&'static TableFormat, TableError> {
    if file.size == 0 {
        return Err(TableError::NoHeader(file.name.clone()));
    }
    let named = TableFormat::of(Path::new(&file.name));
    if let Some(format) = named.filter(|format| !format.is_text) {
        return Ok(format);
    }
    let head = file.head()?;
    let recognized = || FORMATS.iter().find(|format| (format.recognizes)(&head)).copied();
    Ok(named.or_else(recognized).unwrap_or(&delimited::CSV))
}

/// Whether a file of a folder is a table.
pub(crate) fn is_table(path: &Path) -> bool {
    ending(path).is_some_and(|ending| FORMATS.iter().any(|format| format.endings.contains(&&*ending)))
}

/// The endings of names that a folder is searched for, as in a sentence.
pub(crate) fn searched() -> String {
    listed(FORMATS.iter().flat_map(|format| format.endings))
}

/// The endings of names that can be written, as in a sentence.
pub(crate) fn written() -> String {
    let formats = FORMATS.iter().filter(|format| format.writer.is_some());
    listed(formats.filter_map(|format| format.endings.first()))
}

fn listed<'a>(endings: impl Iterator<Item = &'a &'a str>) -> String {
    any_of(&endings.map(|ending| format!(".{ending}")).collect::<Vec<_>>())
}

/// The lower-case ending of a name, without the point.
fn ending(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    #[track_caller]
    fn assert_format(name: &str, content: &str, expected: &TableFormat) {
        let source = Source::from_reader(name, content.as_bytes()).unwrap();
        assert!(std::ptr::eq(detect(&source.files[0]).unwrap(), expected));
    }

    #[test]
    fn the_ending_decides_where_there_is_one() {
        assert_format("a.csv", "1 2:3\n", &delimited::CSV);
        assert_format("a.TSV", "a,b\n", &delimited::TSV);
        assert_format("a.tab", "a\tb\n", &delimited::TSV);
        assert_format("a.pq", "a,b\n", &columnar::PARQUET);
        assert_format("a.libsvm", "a,b\n", &svmlight::SVMLIGHT);
    }

    #[test]
    fn the_content_decides_where_there_is_no_known_ending() {
        assert_format("standard input", "PAR1abc", &columnar::PARQUET);
        assert_format("standard input", "1 2:3 4:5\n", &svmlight::SVMLIGHT);
        assert_format("a.txt", "a,b\n1,2\n", &delimited::CSV);
    }

    #[test]
    fn endings_are_listed_as_in_a_sentence() {
        assert_eq!(searched(), ".csv, .tsv, .parquet or .pq");
        assert_eq!(written(), ".csv, .tsv or .parquet");
        assert_eq!(listed([&"csv"].into_iter()), ".csv");
    }
}
