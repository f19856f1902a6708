//! Which format a file has: by its extension, else by how it starts.

use super::error::TableError;
use super::source::Part;
use super::svmlight;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Text with this byte between the fields.
    Delimited(u8),
    Parquet,
    Svmlight,
}

/// How much of a file is looked at.
const HEAD: u64 = 64 * 1024;

/// Starts of files that people take for tables, what they are, and what to do.
const FOREIGN: [(&[u8], &str, &str); 4] = [
    (b"\x1f\x8b", "compressed with gzip", "Decompress it first, with gunzip"),
    (b"PK\x03\x04", "a zip archive or a spreadsheet", "Save the table as CSV"),
    (b"\xff\xfe", "text in UTF-16", "Save it as UTF-8"),
    (b"\xfe\xff", "text in UTF-16", "Save it as UTF-8"),
];

pub(super) fn detect(part: &Part) -> Result<Format, TableError> {
    let extension = part.extension();
    let extension = extension.as_deref();
    if let Some("parquet" | "pq") = extension {
        return Ok(Format::Parquet);
    }
    let head = part.head(HEAD)?;
    if let Some((_, what, advice)) = FOREIGN.iter().find(|(start, ..)| head.starts_with(start)) {
        return Err(TableError::Foreign { file: part.name().to_owned(), what, advice });
    }
    Ok(match extension {
        Some("tsv" | "tab") => Format::Delimited(b'\t'),
        Some("csv") => Format::Delimited(delimiter(&head)),
        Some("svm" | "svmlight" | "libsvm") => Format::Svmlight,
        _ if head.starts_with(b"PAR1") => Format::Parquet,
        _ if svmlight::looks_like(&head) => Format::Svmlight,
        _ => Format::Delimited(delimiter(&head)),
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Source;

    fn format(name: &str, content: &str) -> Format {
        detect(&Source::from_reader(name, content.as_bytes()).unwrap().parts()[0]).unwrap()
    }

    #[test]
    fn the_extension_decides_where_there_is_one() {
        assert_eq!(format("a.csv", "1 2:3\n"), Format::Delimited(b','));
        assert_eq!(format("a.TSV", "a,b\n"), Format::Delimited(b'\t'));
        assert_eq!(format("a.tab", "a\tb\n"), Format::Delimited(b'\t'));
        assert_eq!(format("a.pq", "a,b\n"), Format::Parquet);
        assert_eq!(format("a.libsvm", "a,b\n"), Format::Svmlight);
    }

    #[test]
    fn the_content_decides_where_there_is_no_extension() {
        assert_eq!(format("standard input", "PAR1abc"), Format::Parquet);
        assert_eq!(format("standard input", "1 2:3 4:5\n"), Format::Svmlight);
        assert_eq!(format("a.txt", "a,b\n1,2\n"), Format::Delimited(b','));
        assert_eq!(format("a.data", "a\tb\n1\t2\n"), Format::Delimited(b'\t'));
    }

    #[test]
    fn a_comma_wins_over_tabs_and_semicolons_unless_it_is_quoted() {
        assert_eq!(delimiter(b"a\tb,c\n"), b',');
        assert_eq!(delimiter(b"\n\r\na;b\n1,2;3\n"), b';');
        assert_eq!(delimiter(b"\"a,b\"\tc\n1,2\n"), b'\t');
        assert_eq!(delimiter(b"a\n1,2\n"), b',');
        assert_eq!(delimiter(b""), b',');
    }

    #[test]
    fn compressed_files_and_spreadsheets_are_named_as_such() {
        let source = Source::from_reader("a.csv", &b"PK\x03\x04..."[..]).unwrap();
        let message = detect(&source.parts()[0]).unwrap_err().to_string();
        assert_eq!(
            message,
            "a.csv is a zip archive or a spreadsheet, which is not read here. Save the table as CSV"
        );
    }
}
