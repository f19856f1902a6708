//! CSV and TSV: text with a header line and a delimiter.
//!
//! Only the wanted fields are looked at. Lines are counted when an error needs one, from the bytes of
//! the file, so that quoted line breaks, blank lines and every kind of line ending count as they do in
//! an editor.

mod writer;

pub(crate) use writer::write_number;

use std::io::{BufRead, BufReader, Read};

use csv::{ByteRecord, Reader, ReaderBuilder};

use crate::builder::ColumnBuilder;
use crate::error::{Place, TableError};
use crate::format::{Row, TableFormat, Writer};
use crate::meter::Meter;
use crate::selection::{Header, positions};
use crate::source::SourceFile;

/// Text with commas, or with tabs or semicolons where the header has these alone.
pub(crate) static CSV: TableFormat = TableFormat {
    endings: &["csv"],
    other_endings: &[],
    is_text: true,
    recognizes: |_| false,
    headers: |file| headers(file, delimiter(&file.head()?)),
    read: |file, columns, meter| read(file, delimiter(&file.head()?), columns, meter),
    texts: Some(|file, order, meter, row| texts(file, delimiter(&file.head()?), order, meter, row)),
    writer: Some(CSV_WRITER),
};

/// Text with tabs.
pub(crate) static TSV: TableFormat = TableFormat {
    endings: &["tsv"],
    other_endings: &["tab"],
    is_text: true,
    recognizes: |_| false,
    headers: |file| headers(file, b'\t'),
    read: |file, columns, meter| read(file, b'\t', columns, meter),
    texts: Some(|file, order, meter, row| texts(file, b'\t', order, meter, row)),
    writer: Some(Writer { plan: writer::plan, write: |copy| writer::write(copy, b'\t') }),
};

/// Writes text with commas.
pub(crate) const CSV_WRITER: Writer = Writer { plan: writer::plan, write: |copy| writer::write(copy, b',') };

/// The columns of a file.
fn headers(file: &SourceFile, delimiter: u8) -> Result<Vec<Header>, TableError> {
    let names = names(&header(file, delimiter)?);
    Ok(names.into_iter().map(|name| Header { name, readable: true }).collect())
}

/// The header as it is written.
fn header(file: &SourceFile, delimiter: u8) -> Result<ByteRecord, TableError> {
    first(&mut reader(file.open_at(0)?, delimiter), file)
}

/// Adds the rows of a file to the columns and returns their number.
fn read(
    file: &SourceFile,
    delimiter: u8,
    columns: &mut [ColumnBuilder],
    meter: &mut Meter<'_>,
) -> Result<usize, TableError> {
    let names = names(&header(file, delimiter)?);
    let fields = positions(columns.iter().map(ColumnBuilder::name), &names, file.name())?;
    each_record(file, delimiter, meter, |start, record| {
        for (column, &field) in columns.iter_mut().zip(&fields) {
            if let Err(problem) = column.text(&record[field]) {
                return Err(TableError::Cell {
                    file: file.name().to_owned(),
                    place: Place::Line(line_of(file, start)? + breaks(record.iter().take(field))),
                    column: column.name().to_owned(),
                    problem,
                });
            }
        }
        Ok(())
    })
}

/// Calls a function with each row, which has as many fields as the header, and with the position where
/// it starts. Returns the number of rows.
fn each_record(
    file: &SourceFile,
    delimiter: u8,
    meter: &mut Meter<'_>,
    mut each: impl FnMut(u64, &ByteRecord) -> Result<(), TableError>,
) -> Result<usize, TableError> {
    let mut reader = reader(file.open_at(0)?, delimiter);
    let expected = first(&mut reader, file)?.len();
    let mut record = ByteRecord::new();
    let mut rows = 0;
    let mut start = 0;
    loop {
        let next = reader.position().byte();
        if !reader.read_byte_record(&mut record).map_err(|error| failed(file, error))? {
            break;
        }
        start = next;
        if record.len() != expected {
            return Err(ragged(file, start, &record, expected));
        }
        each(start, &record)?;
        rows += 1;
        meter.at(next);
    }
    if rows > 0 && ends_in_quotes(file, start, delimiter)? {
        return Err(TableError::OpenQuote { file: file.name().to_owned(), line: line_of(file, start)? });
    }
    Ok(rows)
}

/// Calls a function with the header and with each row, as they are written.
fn texts(
    file: &SourceFile,
    delimiter: u8,
    order: &[usize],
    meter: &mut Meter<'_>,
    row: Row<'_>,
) -> Result<usize, TableError> {
    let mut row = |record: &ByteRecord| row(&mut order.iter().map(|&at| record.get(at).unwrap_or_default()));
    row(&header(file, delimiter)?)?;
    each_record(file, delimiter, meter, |_, record| row(record))
}

/// A comma, unless the header has none but has tabs or semicolons.
fn delimiter(head: &[u8]) -> u8 {
    let mut quoted = false;
    let mut found = [false; 3];
    let mut any = false;
    for &byte in head {
        match byte {
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'\n' | b'\r' if any => break,
            b',' => found[0] = true,
            b'\t' => found[1] = true,
            b';' => found[2] = true,
            _ => {}
        }
        any |= !matches!(byte, b'\n' | b'\r');
    }
    match found {
        [true, ..] => b',',
        [_, true, _] => b'\t',
        [_, _, true] => b';',
        _ => b',',
    }
}

fn reader(bytes: impl Read, delimiter: u8) -> Reader<impl Read> {
    ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .buffer_capacity(1 << 17)
        .from_reader(bytes)
}

fn first(reader: &mut Reader<impl Read>, file: &SourceFile) -> Result<ByteRecord, TableError> {
    let mut record = ByteRecord::new();
    if !reader.read_byte_record(&mut record).map_err(|error| failed(file, error))? {
        return Err(TableError::NoHeader(file.name().to_owned()));
    }
    Ok(record)
}

fn names(header: &ByteRecord) -> Vec<String> {
    header.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect()
}

fn ragged(file: &SourceFile, start: u64, record: &ByteRecord, expected: usize) -> TableError {
    match line_of(file, start) {
        Ok(line) => TableError::Ragged {
            file: file.name().to_owned(),
            line,
            last_line: line + breaks(record.iter()),
            found: record.len(),
            expected,
        },
        Err(error) => error,
    }
}

fn failed(file: &SourceFile, error: csv::Error) -> TableError {
    file.failed(cause(error))
}

/// What went wrong, as the operating system said it if it did.
fn cause(error: csv::Error) -> std::io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(cause) => cause,
        other => std::io::Error::other(format!("{other:?}")),
    }
}

/// The line on which the record at a position starts, counted from 1.
fn line_of(file: &SourceFile, position: u64) -> Result<u64, TableError> {
    let mut reader = BufReader::new(file.open_at(0)?);
    let mut lines = LineBreaks::default();
    let mut left = position;
    loop {
        let bytes = reader.fill_buf().map_err(|cause| file.failed(cause))?;
        let before = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
        lines.add(&bytes[..before]);
        left -= before as u64;
        // Between the end of the last record and the start of this one there may be line breaks.
        let blank = if left > 0 {
            0
        } else {
            let rest = &bytes[before..];
            rest.iter().position(|byte| !matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len())
        };
        lines.add(&bytes[before..before + blank]);
        let used = before + blank;
        if used == 0 || used < bytes.len() {
            return Ok(1 + lines.count);
        }
        reader.consume(used);
    }
}

/// How many line breaks there are within some fields.
fn breaks<'a>(fields: impl Iterator<Item = &'a [u8]>) -> u64 {
    let mut count = 0;
    for field in fields {
        let mut lines = LineBreaks::default();
        lines.add(field);
        count += lines.count;
    }
    count
}

/// Counts `\n`, `\r\n` and a lone `\r` as one line break each.
#[derive(Default)]
struct LineBreaks {
    count: u64,
    after_return: bool,
}

impl LineBreaks {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.count += u64::from(byte == b'\r' || (byte == b'\n' && !self.after_return));
            self.after_return = byte == b'\r';
        }
    }
}

/// Whether the file's last record, at a position, ends within a quoted field. The parser takes the end
/// of the file for the closing quotation mark, and all rows after a stray one for a single cell.
fn ends_in_quotes(file: &SourceFile, position: u64, delimiter: u8) -> Result<bool, TableError> {
    // One more record is seen as one only from outside of quotation marks.
    let with_another = file.open_at(position)?.chain(&b"\nanother\n"[..]);
    let mut reader = reader(with_another, delimiter);
    let mut record = ByteRecord::new();
    let mut records = 0;
    while records < 2 && reader.read_byte_record(&mut record).map_err(|error| failed(file, error))? {
        records += 1;
    }
    Ok(records < 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    #[test]
    fn a_comma_wins_over_tabs_and_semicolons_unless_it_is_quoted() {
        assert_eq!(delimiter(b"a\tb,c\n"), b',');
        assert_eq!(delimiter(b"\n\r\na;b\n1,2;3\n"), b';');
        assert_eq!(delimiter(b"\"a,b\"\tc\n1,2\n"), b'\t');
        assert_eq!(delimiter(b"a\n1,2\n"), b',');
        assert_eq!(delimiter(b""), b',');
    }

    #[test]
    fn every_kind_of_line_ending_counts_as_in_an_editor() {
        let text = b"a\r\n\r\nb\n\nc\rd\n\r\ne";
        let source = Source::from_reader("x.csv", &text[..]).unwrap();
        let line = |position: u64| line_of(&source.files()[0], position).unwrap();
        assert_eq!(line(0), 1);
        // From anywhere in the break before a record, to the line of that record.
        assert_eq!((line(2), line(3), line(5)), (3, 3, 3));
        assert_eq!(line(6), 5);
        assert_eq!(line(10), 6);
        assert_eq!(line(text.len() as u64 - 1), 8);
        assert_eq!(line(1000), 8);
    }

    #[test]
    fn a_file_that_ends_in_quotes_is_noticed_and_a_closed_or_stray_mark_is_not() {
        let ends_in_quotes = |text: &str| {
            let source = Source::from_reader("x.csv", text.as_bytes()).unwrap();
            super::ends_in_quotes(&source.files()[0], 0, b',').unwrap()
        };
        for text in ["1,\"abc", "1,\"abc\n2,def\n", "\"a\"\"", "1,\""] {
            assert!(ends_in_quotes(text), "{text:?}");
        }
        for text in ["1,abc", "1,\"abc\"\n", "1,\"a\nb\"\r\n", "5\" pipe,\"a\nb\"", "\"a\"\"\"", "1,\"\""] {
            assert!(!ends_in_quotes(text), "{text:?}");
        }
    }
}
