//! What can be wrong with examples, and the checks that find it.

use super::{Columns, Groups, MAX_GROUPS, PairWeight, PairsWhere};
use crate::threads;

/// The most rows that a table may have: places in an order take 31 bits.
const MAX_ROWS: usize = (1 << 31) - 1;

/// What is wrong with the examples, in which row and column.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ExamplesError {
    /// A number is NaN or infinite.
    #[error("{column} in row {row} is {value}; finite numbers are needed: drop or repair the row", row = .row + 1)]
    NotFinite {
        /// What the column holds.
        column: &'static str,
        /// Index of the row, from 0.
        row: usize,
        /// The number found.
        value: f64,
    },
    /// A weight is below zero.
    #[error("{column} in row {row} is {value}; weights are ≥ 0 (0 leaves a row out)", row = .row + 1)]
    NegativeWeight {
        /// What the column holds.
        column: &'static str,
        /// Index of the row, from 0.
        row: usize,
        /// The number found.
        value: f64,
    },
    /// Two columns differ in length.
    #[error("{column} has {found} rows, but {expected} were expected: all columns need the same length")]
    Length {
        /// What the column holds.
        column: &'static str,
        /// Its length.
        found: usize,
        /// The length of the others.
        expected: usize,
    },
    /// Scores alone have nothing to be compared with.
    #[error("there is nothing to compare scores with: give labels, groups or a protected attribute")]
    NoColumns,
    /// No rows, or none with a weight above zero.
    #[error("there are no examples{why}", why = if *.zero_weights { ": every weight is 0" } else { "" })]
    Empty {
        /// There were rows, each of weight 0.
        zero_weights: bool,
    },
    /// So many rows, more than row numbers.
    #[error("{0} rows are more than the {MAX_ROWS} that one table may have: audit it in parts")]
    TooMany(usize),
    /// So many groups, more than a matrix can show.
    #[error(
        "the protected attribute has {0} groups; at most {MAX_GROUPS} are allowed: \
         is it an identifier or a number? Join rare groups, or use it as a continuous attribute"
    )]
    TooManyGroups(usize),
    /// Both kinds of protected attribute were given.
    #[error("groups and a continuous protected attribute exclude each other: give one of them")]
    TwoAttributes,
    /// A chance of a mixture's scorers, or a sum of chances, is no probability.
    #[error(
        "the chances of a mixture's scorers have to lie in 0 to 1 and add up to 1 in every query; {0} is wrong"
    )]
    Chances(f64),
    /// Four orders at once: labels, scores, the attribute and the side column.
    #[error(
        "pairs can't be chosen by a side column and told apart by a continuous protected attribute at once: no fast \
         exact count of both is known. Give groups instead, such as bands of the attribute"
    )]
    SideOfContinuous,
    /// Pairs can't be weighted by a difference of labels that are not there.
    #[error("the label-gap weight needs labels: name the label column")]
    GapWithoutLabels,
}

/// Checks lengths and values; returns the number of rows.
pub(super) fn check(columns: &Columns) -> Result<usize, ExamplesError> {
    if columns.groups.is_some() && columns.protected.is_some() {
        return Err(ExamplesError::TwoAttributes);
    }
    if columns.protected.is_some() && columns.pairs_where != PairsWhere::Any {
        return Err(ExamplesError::SideOfContinuous);
    }
    if columns.pair_weight == PairWeight::LabelGap && columns.labels.is_none() {
        return Err(ExamplesError::GapWithoutLabels);
    }
    let factors = match columns.pair_weight {
        PairWeight::Product(values) => Some(values),
        _ => None,
    };
    let lengths = [
        columns.labels.map(<[f64]>::len),
        columns.groups.map(Groups::len),
        columns.protected.map(<[f64]>::len),
        columns.queries.map(<[u32]>::len),
        columns.within.map(<[u32]>::len),
        columns.weights.map(<[f64]>::len),
        factors.map(<[f64]>::len),
        columns.pairs_where.values().map(<[f64]>::len),
    ];
    let Some(rows) = lengths.iter().flatten().next().copied() else {
        return Err(ExamplesError::NoColumns);
    };
    if rows == 0 {
        return Err(ExamplesError::Empty { zero_weights: false });
    }
    if rows > MAX_ROWS {
        return Err(ExamplesError::TooMany(rows));
    }
    if let Some(groups) = columns.groups {
        check_length("groups", groups.len(), rows)?;
        if groups.names().len() > MAX_GROUPS {
            return Err(ExamplesError::TooManyGroups(groups.names().len()));
        }
    }
    check_length("queries", columns.queries.map_or(rows, <[u32]>::len), rows)?;
    check_length("within", columns.within.map_or(rows, <[u32]>::len), rows)?;
    for (column, values) in [
        ("labels", columns.labels),
        ("weights", columns.weights),
        ("pair weights", factors),
        ("side", columns.pairs_where.values()),
    ] {
        check_column(column, values, rows, f64::is_finite)?;
    }
    check_column("protected attribute", columns.protected, rows, |z| !z.is_infinite())?;
    for (column, values) in [("weights", columns.weights), ("pair weights", factors)] {
        let values = values.unwrap_or_default();
        if let Some(row) = values.iter().position(|&w| w < 0.0) {
            return Err(ExamplesError::NegativeWeight { column, row, value: values[row] });
        }
    }
    Ok(rows)
}

pub(crate) fn check_length(column: &'static str, found: usize, expected: usize) -> Result<(), ExamplesError> {
    if found != expected {
        return Err(ExamplesError::Length { column, found, expected });
    }
    Ok(())
}

/// Whether a column, where there is one, has so many numbers that are allowed.
pub(crate) fn check_column(
    column: &'static str,
    values: Option<&[f64]>,
    rows: usize,
    allows: impl Fn(f64) -> bool + Sync,
) -> Result<(), ExamplesError> {
    let Some(values) = values else { return Ok(()) };
    check_length(column, values.len(), rows)?;
    // All of a part, without a way out before its end, as most are.
    if threads::all(values, &|part| part.iter().fold(true, |all, &value| all & allows(value))) {
        return Ok(());
    }
    match values.iter().position(|&v| !allows(v)) {
        Some(row) => Err(ExamplesError::NotFinite { column, row, value: values[row] }),
        None => Ok(()),
    }
}
