//! What can go wrong with a table, in words that stand alone: what, where, and what to do.

use std::io;

use pairity::similar::nearest;
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
    #[error("no column {column:?} in {file}{}", did_you_mean(column, names))]
    UnknownColumn {
        /// The column asked for.
        column: String,
        /// The file that lacks it.
        file: String,
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
    #[error("{file}, {} {}, column {column:?}: {problem}", at.0, at.1)]
    Cell {
        /// The file.
        file: String,
        /// What is counted, from 1, and which it is: the `line` of a text file, the `row` of a Parquet file.
        at: (&'static str, u64),
        /// The column's name.
        column: String,
        /// What is wrong with the cell, and what to do.
        problem: String,
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

/// A name without characters that would move a terminal's cursor or color what follows.
pub(crate) fn shown(name: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_default().collect() } else { String::from(c) };
    name.chars().map(shown).collect()
}

/// A cell's bytes as they can be shown in a message.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    const LONGEST: usize = 40;
    // Four bytes a character at most: a long text is not decoded to its end.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * LONGEST + 4)]);
    match text.char_indices().nth(LONGEST) {
        None => text.into_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// What is wrong with a cell that is NaN, an infinity, or beyond the range of 64-bit floating point.
pub(crate) fn not_finite(text: &str) -> String {
    let advice = "If the value is missing, leave the cell empty (in Parquet: null)";
    format!("expected a finite number, found {text:?}. {advice}")
}

/// What is wrong with a cell that is no number in a column of numbers.
pub(crate) fn not_a_number(text: &str) -> String {
    let decimal_comma = text.contains(',')
        && text.contains(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || ",.-+".contains(c));
    let advice = match decimal_comma {
        true => "Write decimals with a point and without thousands separators",
        false => "Correct the cell, or leave it empty if the value is missing",
    };
    format!("expected a number, found {text:?}. {advice}")
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

/// The names most like one that is not there, and all that are.
fn did_you_mean(column: &str, names: &[String]) -> String {
    let near = nearest(column, names.iter().map(String::as_str)).into_iter();
    advice(&near.map(|name| format!("{name:?}")).collect::<Vec<_>>(), names)
}

fn advice(nearest: &[String], names: &[String]) -> String {
    const LISTED: usize = 20;
    let near = match nearest {
        [] => ".".to_owned(),
        near => format!("; did you mean {}?", any_of(near)),
    };
    let more = match names.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(", … and {more} more"),
    };
    let listed: Vec<String> =
        names.iter().take(LISTED).map(|name| shown(&excerpt(name.as_bytes()))).collect();
    format!("{near} The columns are: {}{more}", listed.join(", "))
}

/// Names as in a sentence: `a, b or c`.
pub(crate) fn any_of(names: &[String]) -> String {
    match names {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_column_lists_the_nearest_names_and_then_the_columns() {
        let names: Vec<String> = ["score", "scope", "age"].map(String::from).to_vec();
        let message = |nearest: &[&str]| {
            let nearest: Vec<String> = nearest.iter().map(|name| format!("{name:?}")).collect();
            format!("no column \"scroe\" in people.csv{}", advice(&nearest, &names))
        };
        let (column, file) = ("scroe".to_owned(), "people.csv".to_owned());
        let unknown = TableError::UnknownColumn { column, file, names: names.clone() };
        assert_eq!(unknown.to_string(), message(&["score", "scope"]));
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
        let text = advice(&[], &names);
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
        let message = not_a_number("0,5");
        assert!(message.contains("decimals with a point"), "{message}");
    }
}
