//! The rows of a training run.

use crate::examples::{Column, Examples, ExamplesError};
use std::io::BufRead;

/// What a row is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// It is split by the shares of the request.
    Split,
    /// It is one that models are chosen on.
    Validation,
    /// It is one that they are tested on.
    Test,
}

/// What a scorer is trained on. Row i of every column is row i of the examples.
pub struct Rows {
    /// Labels, groups, queries and weights.
    pub examples: Examples,
    /// The feature columns, in order.
    pub columns: Vec<Column>,
    /// A column of texts, whose words are features.
    pub text: Option<Column>,
    /// The continuous protected attribute: a feature too if the scorer may use it.
    pub protected: Option<Column>,
    /// What each row is for; all rows are split where this is empty.
    pub folds: Vec<Fold>,
    /// What the column of queries is called.
    pub query: Option<String>,
    /// What the columns of the groups are called.
    pub group_columns: Vec<String>,
    /// Word vectors in GloVe's text format, for a network that starts from them.
    pub vectors: Option<Box<dyn BufRead + Send>>,
    /// What the tables are called that they come from, for reports.
    pub tables: Vec<String>,
    /// What happened to them on the way, for reports.
    pub notes: Vec<String>,
}

impl Rows {
    /// Rows with some features, all of which are split.
    pub fn new(examples: Examples, columns: Vec<Column>) -> Rows {
        Rows {
            examples,
            columns,
            text: None,
            protected: None,
            folds: Vec::new(),
            query: None,
            group_columns: Vec::new(),
            vectors: None,
            tables: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The examples of a fold.
    pub(super) fn fold(&self, fold: Fold) -> Result<Examples, ExamplesError> {
        let of_row = |row: usize| self.folds.get(row).copied().unwrap_or(Fold::Split);
        self.examples.part(&self.examples.units_where(|row| of_row(row) == fold))
    }
}
