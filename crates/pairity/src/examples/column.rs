//! Columns in memory: numbers or categories, under a name.

/// The code of a missing cell in a column of categories.
pub const MISSING: u32 = u32::MAX;

/// The cells of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// One number a row; NaN where the cell is missing, finite everywhere else.
    Numbers(Vec<f64>),
    /// One of a list of texts a row.
    Categories {
        /// A position in `levels` for each row, or [`MISSING`].
        codes: Vec<u32>,
        /// The different texts, in order of first appearance.
        levels: Vec<String>,
    },
}

/// A named column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name in the header.
    pub name: String,
    /// The cells.
    pub values: Values,
}

impl Column {
    /// The numbers, unless the column holds categories.
    pub fn numbers(&self) -> Option<&[f64]> {
        match &self.values {
            Values::Numbers(numbers) => Some(numbers),
            Values::Categories { .. } => None,
        }
    }

    /// The codes and the levels, unless the column holds numbers.
    pub fn categories(&self) -> Option<(&[u32], &[String])> {
        match &self.values {
            Values::Numbers(_) => None,
            Values::Categories { codes, levels } => Some((codes, levels)),
        }
    }

    /// Whether the cell of a row is missing.
    pub fn is_missing(&self, row: usize) -> bool {
        match &self.values {
            Values::Numbers(numbers) => numbers.get(row).is_some_and(|number| number.is_nan()),
            Values::Categories { codes, .. } => codes.get(row) == Some(&MISSING),
        }
    }
}
