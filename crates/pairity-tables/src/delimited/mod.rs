//! CSV and TSV: text with a header line and a delimiter.
//!
//! Only the wanted fields are looked at. Lines are counted when an error needs one, from the bytes of
//! the file, so that quoted line breaks, blank lines and every kind of line ending count as they do in
//! an editor.

mod batches;
mod writer;

pub(crate) use writer::number_text;

use std::cell::Cell;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::Path;
use std::rc::Rc;

use csv::{ByteRecord, Reader, ReaderBuilder};

use crate::builder::ColumnBuilder;
use crate::error::TableError;
use crate::format::{BATCH, Drain, Row, TableFormat, Writer};
use crate::meter::Meter;
use crate::selection::{Header, all_positions};
use crate::source::{LONGEST_ROW, SourceFile};

/// Text with commas, or with tabs or semicolons where the header has these alone.
pub(crate) static CSV: TableFormat = TEXT;

const TEXT: TableFormat = TableFormat {
    endings: &["csv"],
    other_endings: &[],
    is_text: true,
    recognizes: |_| false,
    headers: |file| {
        let names = names(&Records::open(file)?.header);
        Ok(names.into_iter().map(|name| Header { name, readable: true }).collect())
    },
    read,
    texts: Some(texts),
    place,
    writer: Some(CSV_WRITER),
};

/// Text with tabs.
pub(crate) static TSV: TableFormat = TableFormat {
    endings: &["tsv"],
    other_endings: &["tab"],
    writer: Some(Writer { plan: writer::plan, write: |copy| writer::write(copy, b'\t') }),
    ..TEXT
};

/// What writes text with commas.
pub(crate) const CSV_WRITER: Writer = Writer { plan: writer::plan, write: |copy| writer::write(copy, b',') };

/// Adds the rows of a file to the columns and returns their number.
fn read(
    file: &SourceFile,
    columns: &mut [ColumnBuilder],
    meter: &mut Meter<'_>,
    mut drain: Drain<'_>,
) -> Result<usize, TableError> {
    let mut records = Records::open(file)?;
    let names = names(&records.header);
    let places = all_positions(columns.iter().map(|column| column.name.as_str()), &names, file)?;
    let fields: Vec<usize> = places.iter().map(|places| places[0]).collect();
    // Which columns have others of their name, and where these are.
    let mut twins: Vec<(usize, &[usize])> = Vec::new();
    for (at, places) in places.iter().enumerate().filter(|(_, places)| places.len() > 1) {
        columns[at].has_twins(file, places.len(), None);
        twins.push((at, &places[1..]));
    }
    if rayon::current_num_threads() > 1 && twins.is_empty() {
        return batches::read(&mut records, &fields, columns, meter, drain);
    }
    let mut rows = 0;
    while let Some((start, record)) = records.next()? {
        let text = |field: usize| record[field].trim_ascii();
        let differ =
            |(at, places): &(usize, &[usize])| places.iter().any(|&place| text(place) != text(fields[*at]));
        while let Some(found) = twins.iter().position(differ) {
            let (at, others) = twins.swap_remove(found);
            let line = ("on line", line_of(file, start)?);
            columns[at].has_twins(file, 1 + others.len(), Some(line));
        }
        for (column, &field) in columns.iter_mut().zip(&fields) {
            if let Err(problem) = column.text(&record[field]) {
                let line = line_of_field(file, start, field)?;
                return Err(column.wrong(file, ("line", line), problem));
            }
        }
        meter.at(start);
        rows += 1;
        if let Some(drain) = drain.as_mut().filter(|_| rows % BATCH == 0) {
            drain(columns)?;
        }
    }
    Ok(rows)
}

/// The rows of a file after its header.
struct Records<'a> {
    file: &'a SourceFile,
    reader: Reader<LimitedBytes<Box<dyn Read>>>,
    length: RowLength,
    header: ByteRecord,
    record: ByteRecord,
    /// Where the last row starts, if there is one.
    last: Option<u64>,
}

impl<'a> Records<'a> {
    /// Reads the header.
    fn open(file: &'a SourceFile) -> Result<Records<'a>, TableError> {
        let length = RowLength::default();
        let bytes = LimitedBytes { bytes: file.open_at(0)?, row: length.clone() };
        let mut reader = reader(bytes, delimiter_of(file)?);
        let mut header = ByteRecord::new();
        match reader.read_byte_record(&mut header).map_err(|error| failed(file, error))? {
            true => Ok(Records { file, reader, length, header, record: ByteRecord::new(), last: None }),
            false => Err(TableError::NoHeader(file.name.clone())),
        }
    }

    /// The next row, which has as many fields as the header, and where it starts.
    fn next(&mut self) -> Result<Option<(u64, &ByteRecord)>, TableError> {
        let (file, start) = (self.file, self.reader.position().byte());
        self.length.set(0);
        if !self.reader.read_byte_record(&mut self.record).map_err(|error| failed(file, error))? {
            return match self.last {
                Some(last) if ends_in_quotes(file, last)? => {
                    Err(TableError::OpenQuote { file: file.name.clone(), line: line_of(file, last)? })
                }
                _ => Ok(None),
            };
        }
        self.last = Some(start);
        let (found, expected) = (self.record.len(), self.header.len());
        if found != expected {
            let line = line_of(file, start)?;
            let last_line = line + breaks(self.record.iter());
            return Err(TableError::Ragged { file: file.name.clone(), line, last_line, found, expected });
        }
        Ok(Some((start, &self.record)))
    }
}

/// The line of a field of the row that starts at a position.
fn line_of_field(file: &SourceFile, start: u64, field: usize) -> Result<u64, TableError> {
    let mut record = ByteRecord::new();
    let mut reader = reader(file.open_at(start)?, delimiter_of(file)?);
    reader.read_byte_record(&mut record).map_err(|error| failed(file, error))?;
    Ok(line_of(file, start)? + breaks(record.iter().take(field)))
}

/// Calls a function with the header and with each row, as they are written.
fn texts(
    file: &SourceFile,
    order: &[usize],
    meter: &mut Meter<'_>,
    row: Row<'_>,
) -> Result<usize, TableError> {
    let mut row = |record: &ByteRecord| row(&mut order.iter().map(|&at| record.get(at).unwrap_or_default()));
    let mut records = Records::open(file)?;
    row(&records.header)?;
    let mut rows = 0;
    while let Some((start, record)) = records.next()? {
        row(record)?;
        meter.at(start);
        rows += 1;
    }
    Ok(rows)
}

/// The line on which a row starts.
fn place(file: &SourceFile, row: usize) -> Result<(&'static str, u64), TableError> {
    let mut records = Records::open(file)?;
    for _ in 0..row {
        records.next()?;
    }
    Ok(("line", line_of(file, records.reader.position().byte())?))
}

/// How many bytes of the current row were read.
type RowLength = Rc<Cell<u64>>;

/// Bytes of which no row may have too many: a file without line breaks, or with a quotation mark that is never
/// closed, would be read into memory as one row.
struct LimitedBytes<R> {
    bytes: R,
    row: RowLength,
}

impl<R: Read> Read for LimitedBytes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        self.row.set(self.row.get() + count as u64);
        if self.row.get() > LONGEST_ROW { Err(ErrorKind::FileTooLarge.into()) } else { Ok(count) }
    }
}

fn delimiter_of(file: &SourceFile) -> Result<u8, TableError> {
    match TableFormat::of(Path::new(&file.name)) {
        Some(format) if std::ptr::eq(format, &TSV) => Ok(b'\t'),
        _ => Ok(delimiter(&file.head()?)),
    }
}

/// A comma, unless the header has none but has tabs or semicolons.
fn delimiter(head: &[u8]) -> u8 {
    let ends = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let mut quoted = false;
    let bare = head.iter().skip_while(|byte| ends(byte)).filter(|byte| {
        quoted ^= **byte == b'"';
        !quoted
    });
    let header: Vec<&u8> = bare.take_while(|byte| !ends(byte)).collect();
    *b",\t;".iter().find(|delimiter| header.contains(delimiter)).unwrap_or(&b',')
}

fn reader<R: Read>(bytes: R, delimiter: u8) -> Reader<R> {
    let mut builder = ReaderBuilder::new();
    builder.has_headers(false).flexible(true).delimiter(delimiter).buffer_capacity(1 << 17).from_reader(bytes)
}

fn names(header: &ByteRecord) -> Vec<String> {
    header.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect()
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
    let mut result = Ok(());
    let bytes = BufReader::new(file.open_at(0)?).bytes();
    let bytes = bytes.map_while(|byte| byte.map_err(|cause| result = Err(file.failed(cause))).ok());
    // Between the end of the last record and the start of this one there may be line breaks.
    let before = (0..).zip(bytes).take_while(|(at, byte)| *at < position || matches!(byte, b'\n' | b'\r'));
    let lines = line_breaks(before.map(|(_, byte)| byte));
    result.map(|()| 1 + lines)
}

/// How many line breaks there are within some fields.
fn breaks<'a>(fields: impl Iterator<Item = &'a [u8]>) -> u64 {
    fields.map(|field| line_breaks(field.iter().copied())).sum()
}

/// Counts `\n`, `\r\n` and a lone `\r` as one line break each.
fn line_breaks(bytes: impl Iterator<Item = u8>) -> u64 {
    let mut before = 0;
    let is_break = |&byte: &u8| {
        let last = std::mem::replace(&mut before, byte);
        byte == b'\r' || (byte == b'\n' && last != b'\r')
    };
    bytes.filter(is_break).count() as u64
}

/// Whether the file's last record, at a position, ends within a quoted field. The parser takes the end
/// of the file for the closing quotation mark, and all rows after a stray one for a single cell.
fn ends_in_quotes(file: &SourceFile, position: u64) -> Result<bool, TableError> {
    // One more record is seen as one only from outside of quotation marks.
    let with_another = file.open_at(position)?.chain(&b"\nanother\n"[..]);
    let mut reader = reader(with_another, delimiter_of(file)?);
    let records = reader.byte_records().take(2).collect::<Result<Vec<_>, _>>();
    Ok(records.map_err(|error| failed(file, error))?.len() < 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Selection, Source, Want};

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
        let line = |position: u64| line_of(&source.files[0], position).unwrap();
        assert_eq!(line(0), 1);
        // From anywhere in the break before a record, to the line of that record.
        assert_eq!((line(2), line(3), line(5)), (3, 3, 3));
        assert_eq!(line(6), 5);
        assert_eq!(line(10), 6);
        assert_eq!(line(text.len() as u64 - 1), 8);
        assert_eq!(line(1000), 8);
    }

    proptest::proptest! {
        /// Rows of more than one batch, with quoted line breaks, missing cells, texts among numbers, rows that are too long
        /// and an open quotation mark.
        #[test]
        fn several_threads_read_the_same_cells_and_the_same_errors(
            seldom in proptest::collection::vec((0..3 * BATCH, 0..7_usize), 0..4),
            rows in 1..3 * BATCH,
            infer: bool,
        ) {
            let mut text = String::from("a,b,c\n");
            for row in 0..rows {
                let odd = seldom.iter().find(|(at, _)| *at == row).map_or(usize::MAX, |(_, odd)| *odd);
                text += &match odd {
                    0 => format!("{row},x,NA\n"),
                    1 => format!("y,{row},z\n"),
                    2 => format!("\"{row}\n\",1,\"u\r\nv\"\n"),
                    3 => "1,2\n".to_owned(),
                    4 => "1,2,3,4\n".to_owned(),
                    5 => format!("{row},1,\"open"),
                    6 => "\n\ninf,,\n".to_owned(),
                    _ => format!("{row},{}.5,g{}\n", row % 7, row % 5),
                };
            }
            let source = Source::from_reader("x.csv", text.as_bytes()).unwrap();
            let want = if infer { Want::infer } else { Want::number };
            let wanted = Selection::Columns(vec![want("b"), want("a"), Want::category("c")]);
            let read = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let table = pool.install(|| crate::read(&source, &wanted, &|_, _| ()));
                table.map_err(|error| error.to_string())
            };
            // Missing numbers are NaN, which equal nothing.
            proptest::prop_assert_eq!(format!("{:?}", read(1)), format!("{:?}", read(3)));
        }
    }

    #[test]
    fn a_file_that_ends_in_quotes_is_noticed_and_a_closed_or_stray_mark_is_not() {
        let ends_in_quotes = |text: &str| {
            let source = Source::from_reader("x.csv", text.as_bytes()).unwrap();
            super::ends_in_quotes(&source.files[0], 0).unwrap()
        };
        for text in ["1,\"abc", "1,\"abc\n2,def\n", "\"a\"\"", "1,\""] {
            assert!(ends_in_quotes(text), "{text:?}");
        }
        for text in ["1,abc", "1,\"abc\"\n", "1,\"a\nb\"\r\n", "5\" pipe,\"a\nb\"", "\"a\"\"\"", "1,\"\""] {
            assert!(!ends_in_quotes(text), "{text:?}");
        }
    }
}
