//! What can go wrong with a table, in words that stand alone: what, where, and what to do.

use std::fmt;
use std::io;

use thiserror::Error;

/// Why a table could not be read or written. Each message can be shown to a person as it is.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TableError {
    /// The file, folder or stream can't be opened or read.
    #[error("can't read {file}: {cause}. Check the path and that you may read it")]
    Read {
        /// The file, as the user wrote it.
        file: String,
        /// What the operating system said.
        cause: io::Error,
    },
    /// A file without a header, hence without columns.
    #[error("empty table: {0} holds nothing. It needs a header with the column names, then the rows")]
    NoHeader(String),
    /// A file, or the first of several, with a header or a schema but without rows.
    #[error("empty table: {0} has columns but no rows. Check that it was written to the end")]
    NoRows(String),
    /// A column that was asked for is not there.
    #[error("no column {column:?} in {file}{}", did_you_mean(nearest, names))]
    UnknownColumn {
        /// The column asked for.
        column: String,
        /// The file that lacks it.
        file: String,
        /// Up to three names that look like it, the nearest first.
        nearest: Vec<String>,
        /// All names of the file.
        names: Vec<String>,
    },
    /// A row with too few or too many fields.
    #[error("{file}, line {line}: found {found} fields, expected {expected} as in the header. {}",
        ragged_advice(*line, *last_line, *found, *expected))]
    Ragged {
        /// The file.
        file: String,
        /// The line on which the row starts.
        line: u64,
        /// The line on which the row ends: another one if a quoted field holds line breaks.
        last_line: u64,
        /// How many fields the row has.
        found: usize,
        /// How many fields the header has.
        expected: usize,
    },
    /// The file ends within a quoted field.
    #[error(
        "{file}, line {line}: a quotation mark opened in this row is never closed. Close it, or remove it"
    )]
    OpenQuote {
        /// The file.
        file: String,
        /// The line on which the row starts.
        line: u64,
    },
    /// A cell that does not fit its column.
    #[error("{file}, {place}, column {column:?}: {problem}")]
    Cell {
        /// The file.
        file: String,
        /// Where in the file.
        place: Place,
        /// The column's name.
        column: String,
        /// What is wrong with the cell.
        problem: CellProblem,
    },
    /// So many SVMlight features that the full table would not fit in memory.
    #[error(
        "{file} has {rows} rows and feature numbers up to {largest}: too large to hold every column. \
         Name the columns to read"
    )]
    TooWide {
        /// The file.
        file: String,
        /// How many rows it has.
        rows: u64,
        /// The largest feature number.
        largest: u64,
    },
    /// The output can't be written.
    #[error("can't write {file}: {cause}. Check that the folder exists and that you may write there")]
    Write {
        /// The file, as the user wrote it.
        file: String,
        /// What the operating system said.
        cause: io::Error,
    },
    /// An output, as the user wrote it, that is one of the files it is made of.
    #[error("{0} is read as a table, so that it can't be the output too. Choose another name for the output")]
    OutputIsInput(String),
    /// A column to be added whose name is in use.
    #[error("{file} already has a column {column:?}. Choose another name for the new column")]
    NameTaken {
        /// The file.
        file: String,
        /// The name.
        column: String,
    },
    /// Anything else, in the words that are shown: nobody has to tell these apart.
    #[error("{0}")]
    Other(String),
}

/// Where a cell is: text files have lines, Parquet files have rows. Both count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The line of a text file.
    Line(u64),
    /// The row of a Parquet file.
    Row(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Row(row) => write!(f, "row {row}"),
        }
    }
}

/// What is wrong with a single cell.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CellProblem {
    /// Not a number in a column of numbers: the cell's text, shortened if long.
    #[error("expected a number, found {0:?}. {advice}", advice = number_advice(.0))]
    NotANumber(String),
    /// NaN, an infinity, or a number beyond the range of 64-bit floating point: the cell's text.
    #[error(
        "expected a finite number, found {0:?}. \
         If the value is missing, leave the cell empty (in Parquet: null)"
    )]
    NotFinite(String),
    /// Bytes that are not UTF-8: the cell's text, shortened if long, with U+FFFD in place of what can't be
    /// read.
    #[error("the cell is not UTF-8 text (it reads {0:?}). Save the file in the UTF-8 encoding")]
    NotUtf8(String),
    /// More different categories than 32 bits can number.
    #[error("more than 4 billion different values. Read the column as numbers, or leave it out")]
    TooManyLevels,
}

/// A cell's bytes as they can be shown in a message.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    const LONGEST: usize = 40;
    // Four bytes a character at most: a long text is not decoded to its end.
    let start = &bytes[..bytes.len().min(4 * LONGEST + 4)];
    let text = String::from_utf8_lossy(start);
    if text.chars().nth(LONGEST).is_none() {
        return text.into_owned();
    }
    let mut short: String = text.chars().take(LONGEST).collect();
    short.push('…');
    short
}

fn number_advice(text: &str) -> &'static str {
    let decimal_comma = text.contains(',')
        && text.bytes().any(|b| b.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b',' | b'.' | b'-' | b'+'));
    if decimal_comma {
        "Write decimals with a point and without thousands separators"
    } else {
        "Correct the cell, or leave it empty if the value is missing"
    }
}

fn ragged_advice(line: u64, last_line: u64, found: usize, expected: usize) -> String {
    if last_line > line {
        format!("The row runs on to line {last_line}: look for a quotation mark that is not closed")
    } else if found > expected {
        "Put quotation marks around fields that contain the separator".to_owned()
    } else {
        "Give the row all its fields; a field may be empty".to_owned()
    }
}

fn did_you_mean(nearest: &[String], names: &[String]) -> String {
    const LISTED: usize = 20;
    let mut text = String::new();
    if let Some((last, others)) = nearest.split_last() {
        let others: Vec<String> = others.iter().map(|name| format!("{name:?}")).collect();
        let or = if others.is_empty() { "" } else { " or " };
        text = format!("; did you mean {}{or}{last:?}?", others.join(", "));
    } else {
        text.push('.');
    }
    text.push_str(" The columns are: ");
    text.push_str(&names[..names.len().min(LISTED)].join(", "));
    if names.len() > LISTED {
        text.push_str(&format!(", … and {} more", names.len() - LISTED));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_column_lists_the_nearest_names_and_then_the_columns() {
        let names: Vec<String> = ["score", "scope", "age"].map(String::from).to_vec();
        let message = |nearest: &[&str]| {
            TableError::UnknownColumn {
                column: "scroe".into(),
                file: "people.csv".into(),
                nearest: nearest.iter().map(|name| name.to_string()).collect(),
                names: names.clone(),
            }
            .to_string()
        };
        assert_eq!(
            message(&["score"]),
            r#"no column "scroe" in people.csv; did you mean "score"? The columns are: score, scope, age"#
        );
        assert_eq!(
            message(&["score", "scope", "age"]),
            r#"no column "scroe" in people.csv; did you mean "score", "scope" or "age"? The columns are: score, scope, age"#
        );
        assert_eq!(message(&[]), r#"no column "scroe" in people.csv. The columns are: score, scope, age"#);
    }

    #[test]
    fn a_long_list_of_columns_is_cut() {
        let names: Vec<String> = (1..=45).map(|i| i.to_string()).collect();
        let text = did_you_mean(&[], &names);
        assert!(text.ends_with("19, 20, … and 25 more"), "{text}");
    }

    #[test]
    fn a_long_cell_is_cut_and_stays_readable() {
        assert_eq!(excerpt(b"short"), "short");
        assert_eq!(excerpt("é".repeat(1000).as_bytes()), format!("{}…", "é".repeat(40)));
        assert_eq!(excerpt(b"a\xffb"), "a\u{fffd}b");
    }

    #[test]
    fn a_decimal_comma_gets_its_own_advice() {
        let message = CellProblem::NotANumber("0,5".into()).to_string();
        assert!(message.contains("decimals with a point"), "{message}");
    }
}
