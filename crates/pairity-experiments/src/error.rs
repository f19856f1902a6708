//! What can go wrong with a data set, in words that stand alone.

use pairity_tables::TableError;
use std::path::PathBuf;

/// Why a data set can't be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// A file can't be read, or is no table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A row of a file without a header has too few or too many fields.
    #[error("{file}, line {line}: found {found} fields, expected {expected}. Is it the file as published?")]
    Fields {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// How many fields the line has.
        found: usize,
        /// How many the data set has.
        expected: usize,
    },
    /// A cell that is read but makes no sense.
    #[error("{place}, column {column:?}: {problem}. {advice}")]
    Cell {
        /// File and row.
        place: String,
        /// The column.
        column: String,
        /// What is wrong with it.
        problem: String,
        /// What to do.
        advice: &'static str,
    },
    /// A file that is not what it should be as a whole.
    #[error("{file}: {problem}. {advice}")]
    File {
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: String,
        /// What to do.
        advice: &'static str,
    },
    /// No data set of that name.
    #[error("there is no data set {name:?}; there are: {}", known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<&'static str>,
    },
    /// The files of a data set are in none of the folders.
    #[error(
        "the data set {name:?} is not here: looked for {} in {}. {advice}",
        files.join(", or "),
        places(looked)
    )]
    NotFound {
        /// The data set.
        name: &'static str,
        /// The files that were looked for, each text one way to have the data set.
        files: Vec<String>,
        /// The folders they were looked for in.
        looked: Vec<PathBuf>,
        /// How to get it.
        advice: String,
    },
    /// Files were looked for, but the data set is generated.
    #[error("the data set {name:?} is generated and has no files: draw it with a seed")]
    Generated {
        /// The data set.
        name: &'static str,
    },
}

fn places(folders: &[PathBuf]) -> String {
    match folders {
        [] => "no folder (set PAIRITY_DATA, or name one)".to_owned(),
        folders => folders.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "),
    }
}
