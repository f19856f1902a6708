//! What can go wrong with a data set, in words that stand alone.

use pairity_tables::TableError;

/// Why a data set can't be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// A file can't be read, or is no table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// Files were looked for, but the data set is generated.
    #[error("the data set {name:?} is generated and has no files: draw it with a seed")]
    Generated {
        /// The data set.
        name: &'static str,
    },
    /// Anything else, in the words that are shown: nobody has to tell these apart.
    #[error("{0}")]
    Other(String),
}
