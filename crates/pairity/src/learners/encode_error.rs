//! What can go wrong between columns and features.

use super::MAX_LEVELS;

/// Why columns can't be turned into features.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// Nothing to learn from.
    #[error("there are no {what} to learn the features from: {advice}")]
    Nothing {
        /// What is missing.
        what: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// The same column twice.
    #[error("column {0:?} is among the features twice: name it once")]
    Twice(String),
    /// Another number of rows than the other columns.
    #[error(
        "column {column:?} has {found} rows, but {expected} were expected: all columns need the same length"
    )]
    Length {
        /// The column.
        column: String,
        /// Its rows.
        found: usize,
        /// The rows of the others.
        expected: usize,
    },
    /// A row number beyond the table.
    #[error("row {row} is to be learned from, but column {column:?} ends at row {rows}", row = .row + 1)]
    NoRow {
        /// The column.
        column: String,
        /// Index of the row, from 0.
        row: usize,
        /// How many rows there are.
        rows: usize,
    },
    /// An infinite number, or one that becomes infinite when it is standardized.
    #[error(
        "column {column:?}, row {row}: {value} is too large to be a feature; correct the cell, \
         or leave it empty if the value is missing", row = .row + 1
    )]
    NotFinite {
        /// The column.
        column: String,
        /// Index of the row, from 0.
        row: usize,
        /// The number found.
        value: f64,
    },
    /// Numbers whose differences are beyond floating point.
    #[error("column {0:?} has numbers too far apart to be standardized: bring it to a smaller scale")]
    Spread(String),
    /// Too many levels.
    #[error(
        "column {column:?} has {found} different values; at most {MAX_LEVELS} are encoded: \
         leave it out of the features, or join rare values"
    )]
    TooManyLevels {
        /// The column.
        column: String,
        /// How many levels the training rows have.
        found: usize,
    },
    /// A column that the encoder learned is not in the table.
    #[error("no column {column:?}, which the model was trained with{}", did_you_mean(nearest))]
    NoColumn {
        /// The column.
        column: String,
        /// Up to three names that look like it, the nearest first.
        nearest: Vec<String>,
    },
    /// Text where numbers were learned.
    #[error(
        "column {column:?} holds text such as {example:?}, but the model was trained with numbers there: \
         correct the cells, or leave them empty if the value is missing"
    )]
    Text {
        /// The column.
        column: String,
        /// One of its texts.
        example: String,
    },
    /// Numbers where categories were learned.
    #[error(
        "column {0:?} holds numbers, but the model was trained with categories there: \
         read the column as categories"
    )]
    Numbers(String),
    /// Two columns of texts.
    #[error("column {0:?} is a second text: one text column can be used")]
    SecondText(String),
    /// Texts without words.
    #[error("column {0:?} has no words in the training rows: name a column that holds texts")]
    NoWords(String),
    /// A matrix that does not fit in memory.
    #[error("{rows} rows of {width} features do not fit in memory: use fewer columns, or score in parts")]
    TooLarge {
        /// Rows.
        rows: usize,
        /// Features a row.
        width: usize,
    },
}

fn did_you_mean(nearest: &[String]) -> String {
    match nearest.split_last() {
        None => ": add it to the table".to_owned(),
        Some((last, others)) => {
            let others: Vec<String> = others.iter().map(|name| format!("{name:?}")).collect();
            let or = if others.is_empty() { "" } else { " or " };
            format!("; did you mean {}{or}{last:?}? Rename it, or add the column", others.join(", "))
        }
    }
}
