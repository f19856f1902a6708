//! Examples: everything about the rows that does not depend on the scores, validated once and sorted
//! by query once.
//!
//! ```
//! use pairity::examples::{Columns, Examples, Groups};
//!
//! let groups = Groups::from_names(&["a", "b", "a", "b"]);
//! let examples = Examples::new(Columns {
//!     labels: Some(&[1.0, 0.0, 0.0, 1.0]),
//!     groups: Some(&groups),
//!     queries: Some(&[7, 7, 8, 8]),
//!     ..Columns::default()
//! })?;
//! assert_eq!(examples.len(), 4);
//! assert_eq!(examples.queries(), 2);
//! # Ok::<(), pairity::examples::ExamplesError>(())
//! ```

mod check;
mod columns;
mod document;
mod order;
mod parts;
mod plain;
mod strata;

pub use check::ExamplesError;
pub(crate) use check::{check_column, check_length};
pub use columns::{Categories, Column, Groups, MAX_GROUPS, MISSING, NO_GROUP, SparseNumbers, Values, cross};
pub(crate) use columns::{compare_names, is_single};
pub use document::DocumentError;
pub(crate) use order::{LabelOrder, TIED, sort_by_value, sort_values};
pub use parts::SplitError;
pub(crate) use parts::shuffled;
pub(crate) use plain::PlainRow;
pub use plain::{RECORD, RowRecord, join_records};

use crate::threads;
use check::check;
use std::ops::Range;

/// Queries of at most this many examples are compared pair by pair: below this size the double loop
/// is faster than sorting and sweeping.
pub(crate) const SMALL: usize = 48;

/// Rows of consecutive blocks that make one task.
const TASK: usize = 4096;

/// What a pair counts, beside the product of its examples' weights.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum PairWeight<'a> {
    /// One.
    #[default]
    One,
    /// The difference of the two labels.
    LabelGap,
    /// The product of a column's values at the two examples, such as the position they were shown at.
    Product(&'a [f64]),
}

/// Which pairs count, by the values of a side column, such as the position that rows were shown at. The first example of
/// a pair is the better one, or the one that a rate of statistical parity speaks of.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum PairsWhere<'a> {
    /// All.
    #[default]
    Any,
    /// Those whose first example has the higher value.
    Higher(&'a [f64]),
    /// Those whose first example has the lower value.
    Lower(&'a [f64]),
}

impl<'a> PairsWhere<'a> {
    /// The side column, if there is one.
    fn values(self) -> Option<&'a [f64]> {
        match self {
            PairsWhere::Any => None,
            PairsWhere::Higher(values) | PairsWhere::Lower(values) => Some(values),
        }
    }
}

/// The columns that examples are made of; all but one may be absent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Columns<'a> {
    /// Higher labels should score higher.
    pub labels: Option<&'a [f64]>,
    /// The group of each row, or none.
    pub groups: Option<&'a Groups>,
    /// A continuous protected attribute; NaN where a row has none.
    pub protected: Option<&'a [f64]>,
    /// Pairs are formed inside a query only. Equal numbers are one query.
    pub queries: Option<&'a [u32]>,
    /// Pairs are formed only between rows of equal numbers, inside queries where there are queries. Units stay
    /// what they are.
    pub within: Option<&'a [u32]>,
    /// Example weights.
    pub weights: Option<&'a [f64]>,
    /// What a pair counts beside the product of example weights.
    pub pair_weight: PairWeight<'a>,
    /// Which pairs count by a side column.
    pub pairs_where: PairsWhere<'a>,
}

/// The protected attribute of the examples, in their order.
#[derive(Debug, Clone)]
pub(crate) enum Attribute {
    None,
    /// Codes below the number of names; that number itself means "no group".
    Groups {
        names: Vec<String>,
        codes: Vec<u16>,
    },
    /// NaN where an example has none.
    Continuous(Vec<f64>),
}

/// Rows that were validated and sorted by query, and inside it by block: the rows that are compared with each other.
#[derive(Debug, Clone)]
pub struct Examples {
    rows: usize,
    /// The row of each example.
    pub(crate) row: Vec<u32>,
    /// Where each block starts, and the end.
    starts: Vec<u32>,
    /// The first block of each query, and the end; empty if each query is one block.
    first_blocks: Vec<u32>,
    has_queries: bool,
    pub(crate) labels: Option<Vec<f64>>,
    /// Label ranks of the queries larger than [`SMALL`].
    pub(crate) label_order: LabelOrder,
    pub(crate) attribute: Attribute,
    /// Example weights; absent when all are 1.
    pub(crate) weights: Option<Vec<f64>>,
    /// Weights are in units of their largest.
    pub(crate) rescaled: bool,
    /// Factors of pairs: example weight times the pair-weight column; absent when all are 1.
    pub(crate) factors: Option<Vec<f64>>,
    pub(crate) label_gap: bool,
    /// Only pairs whose first example is higher here count.
    pub(crate) side: Option<Vec<f64>>,
}

impl Examples {
    /// Checks the columns and sorts them by query. Rows of weight 0 are left out.
    ///
    /// # Errors
    /// Columns of different lengths, NaN or infinite numbers, negative weights, no rows at all.
    pub fn new(columns: Columns) -> Result<Examples, ExamplesError> {
        Examples::ordered_above(SMALL, columns)
    }

    /// The same, with the labels of all queries of more than `small` examples in order.
    pub(crate) fn ordered_above(small: usize, columns: Columns) -> Result<Examples, ExamplesError> {
        let rows = check(&columns)?;
        let mut row: Vec<u32> = match columns.weights {
            None => threads::list(rows, |row| row as u32),
            Some(weights) => (0..rows as u32).filter(|&r| weights[r as usize] > 0.0).collect(),
        };
        if row.is_empty() {
            return Err(ExamplesError::Empty { zero_weights: rows > 0 });
        }
        let at = |column: Option<&[u32]>, row: u32| column.map_or(0, |column| column[row as usize]);
        let block = |row: &u32| (at(columns.queries, *row), at(columns.within, *row));
        let has_blocks = columns.queries.is_some() || columns.within.is_some();
        if has_blocks && !row.is_sorted_by_key(block) {
            row.sort_by_key(block);
        }
        let (starts, first_blocks) = match has_blocks {
            true => starts(row.iter().map(block), columns.within.is_some()),
            false => (vec![0, row.len() as u32], Vec::new()),
        };
        let gather = |values: &[f64]| -> Vec<f64> { threads::list(row.len(), |i| values[row[i] as usize]) };

        let labels = columns.labels.map(gather);
        let mut rescaled = false;
        let mut in_range = |weights: Vec<f64>| {
            let (weights, changed) = in_range(weights);
            rescaled |= changed;
            weights
        };
        let weights = columns.weights.map(|w| in_range(gather(w))).filter(|w| w.iter().any(|&w| w != 1.0));
        let factors = match columns.pair_weight {
            PairWeight::Product(values) => {
                let mut factors = in_range(gather(values));
                factors.iter_mut().zip(weights.iter().flatten()).for_each(|(f, w)| *f *= w);
                Some(factors)
            }
            _ => weights.clone(),
        };
        let attribute = match (columns.groups, columns.protected) {
            (Some(groups), _) => {
                let names = groups.names().to_vec();
                let code = |i: usize| groups.code(row[i] as usize).unwrap_or(names.len()) as u16;
                Attribute::Groups { codes: threads::list(row.len(), code), names }
            }
            (None, Some(values)) => Attribute::Continuous(gather(values)),
            (None, None) => Attribute::None,
        };
        let side = match columns.pairs_where {
            PairsWhere::Lower(values) => Some(gather(values).into_iter().map(|value| -value).collect()),
            other => other.values().map(gather),
        };
        // Without queries each example is a unit of its own, whose placements are found in label order.
        let small = if columns.queries.is_some() { small } else { 0 };
        let label_order = LabelOrder::new(labels.as_deref(), &starts, small);
        Ok(Examples {
            rows,
            row,
            starts,
            first_blocks,
            has_queries: columns.queries.is_some(),
            labels,
            label_order,
            attribute,
            weights,
            factors,
            rescaled,
            label_gap: columns.pair_weight == PairWeight::LabelGap,
            side,
        })
    }

    /// Number of rows given.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of examples: rows of weight above 0.
    pub fn len(&self) -> usize {
        self.row.len()
    }

    /// Never true: examples without rows can't be built.
    pub fn is_empty(&self) -> bool {
        self.row.is_empty()
    }

    /// Number of queries; 1 without a query column.
    pub fn queries(&self) -> usize {
        if self.first_blocks.is_empty() { self.blocks() } else { self.first_blocks.len() - 1 }
    }

    /// Whether queries were given, so that they are the independent units.
    pub fn has_queries(&self) -> bool {
        self.has_queries
    }

    /// Whether labels were given.
    pub fn has_labels(&self) -> bool {
        self.labels.is_some()
    }

    /// Names of the groups; empty without groups.
    pub fn groups(&self) -> &[String] {
        match &self.attribute {
            Attribute::Groups { names, .. } => names,
            _ => &[],
        }
    }

    /// Whether the protected attribute is continuous.
    pub fn is_continuous(&self) -> bool {
        matches!(self.attribute, Attribute::Continuous(_))
    }

    /// The continuous attribute of each example, NaN where it has none; nothing where it is not continuous.
    pub(crate) fn continuous(&self) -> Option<&[f64]> {
        match &self.attribute {
            Attribute::Continuous(values) => Some(values),
            _ => None,
        }
    }

    /// Number of examples that belong to no group, or have no value of the continuous attribute.
    pub fn without_attribute(&self) -> usize {
        match &self.attribute {
            Attribute::None => self.len(),
            Attribute::Groups { names, codes } => {
                codes.iter().filter(|&&code| code as usize == names.len()).count()
            }
            Attribute::Continuous(values) => values.iter().filter(|z| z.is_nan()).count(),
        }
    }

    /// The groups' names and the code of each example, beyond the last for none; or what is there instead.
    pub(crate) fn coded_groups(&self) -> Result<(&[String], &[u16]), &'static str> {
        match &self.attribute {
            Attribute::Groups { names, codes } => Ok((names, codes)),
            Attribute::Continuous(_) => Err("the protected attribute is continuous"),
            Attribute::None => Err("there are none"),
        }
    }

    /// The protected attribute as numbers, in the order of the examples: the continuous one, with its mean where it is
    /// missing, or for each group but the first 1 in it and 0 elsewhere. None if there is none.
    pub(crate) fn attribute_numbers(&self) -> Vec<Vec<f64>> {
        match &self.attribute {
            Attribute::Continuous(values) => {
                let known = || values.iter().filter(|value| value.is_finite());
                let mean = known().sum::<f64>() / known().count().max(1) as f64;
                vec![values.iter().map(|&value| if value.is_finite() { value } else { mean }).collect()]
            }
            Attribute::Groups { names, codes } => {
                let of = |group| {
                    codes.iter().map(|&code| f64::from(u8::from(usize::from(code) == group))).collect()
                };
                (1..names.len()).map(of).collect()
            }
            Attribute::None => Vec::new(),
        }
    }

    /// Whether pairs of a query count one each, whatever else is known of their rows.
    pub(crate) fn is_plain(&self) -> bool {
        self.first_blocks.is_empty() && self.factors.is_none() && !self.label_gap && self.side.is_none()
    }

    /// The weight of an example.
    pub(crate) fn weight(&self, example: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[example])
    }

    /// The factor of an example's pairs.
    pub(crate) fn factor(&self, example: usize) -> f64 {
        self.factors.as_ref().map_or(1.0, |factors| factors[example])
    }

    /// The scores in the order of the examples, checked.
    pub(crate) fn arrange(&self, scores: &[f64]) -> Result<Vec<f64>, ExamplesError> {
        let mut arranged = vec![0.0; self.len()];
        self.put_arranged(scores, &mut arranged)?;
        Ok(arranged)
    }

    /// The same in place of other numbers, as many as examples.
    pub(crate) fn put_arranged(&self, scores: &[f64], to: &mut [f64]) -> Result<(), ExamplesError> {
        check_column("scores", Some(scores), self.rows, f64::is_finite)?;
        threads::fill(to, &|from, own| {
            own.iter_mut().zip(&self.row[from..]).for_each(|(to, &row)| *to = scores[row as usize]);
        });
        Ok(())
    }

    /// Values in the order of the examples by row; 0 in rows that are no examples.
    pub(crate) fn by_row(&self, values: &[f64]) -> Vec<f64> {
        let mut by_row = vec![0.0; self.rows];
        self.put_by_row(values, &mut by_row);
        by_row
    }

    /// The same in place of other numbers, as many as rows.
    pub(crate) fn put_by_row(&self, values: &[f64], by_row: &mut [f64]) {
        if self.row.len() == by_row.len() && self.row.iter().zip(0..).all(|(&row, at)| row == at) {
            return threads::fill(by_row, &|from, own| own.copy_from_slice(&values[from..][..own.len()]));
        }
        let rows = || self.row.iter().map(|&row| row as usize);
        by_row.fill(0.0);
        threads::scatter(by_row, || rows().zip(values.iter().copied()), |to, value| *to = value);
    }

    /// The examples of one query.
    pub(crate) fn query(&self, query: usize) -> Range<usize> {
        let blocks = self.blocks_of(query);
        self.starts[blocks.start] as usize..self.starts[blocks.end] as usize
    }

    /// Number of blocks: pairs are formed inside one.
    pub(crate) fn blocks(&self) -> usize {
        self.starts.len() - 1
    }

    /// The examples of one block.
    pub(crate) fn block(&self, block: usize) -> Range<usize> {
        self.starts[block] as usize..self.starts[block + 1] as usize
    }

    /// The blocks of one query, which are consecutive.
    pub(crate) fn blocks_of(&self, query: usize) -> Range<usize> {
        match self.first_blocks.get(query..query + 2) {
            Some(firsts) => firsts[0] as usize..firsts[1] as usize,
            None => query..query + 1,
        }
    }

    /// The query of a block.
    pub(crate) fn query_of(&self, block: usize) -> usize {
        match &self.first_blocks[..] {
            [] => block,
            firsts => firsts.partition_point(|&first| first as usize <= block) - 1,
        }
    }
}

/// Weights, of which only ratios matter; where they are huge or tiny, in units of the largest, so that products and
/// squares of their sums neither overflow nor vanish.
fn in_range(mut weights: Vec<f64>) -> (Vec<f64>, bool) {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let extreme = largest > 0.0 && !(1e-30..=1e30).contains(&largest);
    if extreme {
        weights.iter_mut().for_each(|weight| *weight /= largest);
    }
    (weights, extreme)
}

/// Where each block starts, and the end; and the first block of each query, and the end, if a query may have
/// several: from the query and the block of each example.
fn starts(examples: impl Iterator<Item = (u32, u32)>, several: bool) -> (Vec<u32>, Vec<u32>) {
    let (mut starts, mut first_blocks) = (Vec::new(), Vec::new());
    let (mut last, mut end) = (None, 0);
    for (query, block) in examples {
        if last.is_none_or(|(last, _)| last != query) {
            first_blocks.push(starts.len() as u32);
        }
        if last != Some((query, block)) {
            starts.push(end);
        }
        last = Some((query, block));
        end += 1;
    }
    first_blocks.push(starts.len() as u32);
    starts.push(end);
    (starts, if several { first_blocks } else { Vec::new() })
}

/// Consecutive blocks that are one task, by about so many rows, from the size of each: where tasks end
/// depends on the data alone, never on the number of threads.
pub(crate) fn tasks(sizes: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut tasks: Vec<Range<usize>> = Vec::new();
    let mut rows = 0;
    for (block, size) in sizes.enumerate() {
        match tasks.last_mut() {
            Some(task) if rows < TASK => task.end = block + 1,
            _ => {
                tasks.push(block..block + 1);
                rows = 0;
            }
        }
        rows += size;
    }
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nan_is_named_by_row_and_column() {
        let error = Examples::new(Columns { labels: Some(&[0.0, f64::NAN]), ..Columns::default() });
        let message = error.err().map(|e| e.to_string()).unwrap_or_default();
        assert!(message.starts_with("labels in row 2 is NaN"), "{message}");
    }

    #[test]
    fn lengths_must_agree() {
        let error =
            Examples::new(Columns { labels: Some(&[0.0, 1.0]), weights: Some(&[1.0]), ..Columns::default() });
        assert_eq!(error.err(), Some(ExamplesError::Length { column: "weights", found: 1, expected: 2 }));
    }

    #[test]
    fn negative_weights_are_refused_and_zero_weights_leave_rows_out() {
        let columns = |weights| Columns { labels: Some(&[0.0, 1.0, 2.0]), weights, ..Columns::default() };
        assert!(matches!(
            Examples::new(columns(Some(&[1.0, -0.5, 1.0]))),
            Err(ExamplesError::NegativeWeight { row: 1, .. })
        ));
        let examples = Examples::new(columns(Some(&[1.0, 0.0, 1.0]))).unwrap();
        assert_eq!((examples.rows(), examples.len()), (3, 2));
        assert_eq!(examples.row, [0, 2]);
        assert_eq!(
            Examples::new(columns(Some(&[0.0; 3]))).err(),
            Some(ExamplesError::Empty { zero_weights: true })
        );
    }

    #[test]
    fn scattered_queries_are_gathered_in_a_stable_order() {
        let examples = Examples::new(Columns {
            labels: Some(&[0.0, 1.0, 2.0, 3.0]),
            queries: Some(&[5, 1, 5, 1]),
            ..Columns::default()
        })
        .unwrap();
        assert_eq!(examples.row, [1, 3, 0, 2]);
        assert_eq!((examples.query(0), examples.query(1)), (0..2, 2..4));
        assert_eq!(examples.arrange(&[10.0, 11.0, 12.0, 13.0]).unwrap(), [11.0, 13.0, 10.0, 12.0]);
    }

    #[test]
    fn no_column_at_all_is_refused() {
        assert_eq!(Examples::new(Columns::default()).err(), Some(ExamplesError::NoColumns));
    }

    #[test]
    fn a_side_column_beside_a_continuous_attribute_is_refused() {
        let z = [1.0, 2.0];
        let columns =
            Columns { protected: Some(&z), pairs_where: PairsWhere::Lower(&z), ..Columns::default() };
        assert_eq!(Examples::new(columns).err(), Some(ExamplesError::SideOfContinuous));
    }

    #[test]
    fn both_kinds_of_attribute_at_once_are_refused() {
        let groups = Groups::from_names(&["a"]);
        let error =
            Examples::new(Columns { groups: Some(&groups), protected: Some(&[1.0]), ..Columns::default() });
        assert_eq!(error.err(), Some(ExamplesError::TwoAttributes));
    }
}
