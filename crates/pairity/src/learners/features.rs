//! Features: a dense matrix, one row an example; sparse columns such as the words of each row's text; and the group of
//! each row for scorers that may see it.

use super::dense::{Dense, Standard};
use super::elsewhere::{Elsewhere, FeatureSource, PartsElsewhere};
use super::{Architecture, PairTask, Sparse};
use crate::examples::{Examples, Groups};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Rows are counted with 31 bits, as in the examples.
const MAX_ROWS: usize = (1 << 31) - 1;

/// Rows that are looked at together where one after the other would do.
const TILE: usize = 1024;

/// Why numbers make no features.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FeaturesError {
    /// The number of values is not rows × width.
    #[error("{found} values do not fill {rows} rows of {width} features: give one value for each cell")]
    Length {
        /// Rows announced.
        rows: usize,
        /// Features a row.
        width: usize,
        /// Values given.
        found: usize,
    },
    /// No features at all.
    #[error("there are no features: a scorer needs at least one")]
    NoWidth,
    /// More rows than row numbers.
    #[error("{0} rows are more than the {MAX_ROWS} that one table may have: work on it in parts")]
    TooMany(usize),
    /// NaN or an infinity.
    #[error(
        "feature {feature} in row {row} is {value}; finite numbers are needed: fill in or drop the row",
        row = .row + 1,
        feature = .feature + 1
    )]
    NotFinite {
        /// Index of the row, from 0.
        row: usize,
        /// Index of the feature, from 0.
        feature: usize,
        /// The number found.
        value: f64,
    },
    /// A word that the vocabulary does not have, or a feature beyond the last.
    #[error(
        "row {row} has a cell in column {column}, but there are {width} columns, counted from 0: encode texts \
         with the vocabulary that they are to be scored with",
        row = .row + 1
    )]
    Beyond {
        /// Index of the row, from 0.
        row: usize,
        /// The column, or the code of the word.
        column: u32,
        /// Columns, or words of the vocabulary.
        width: usize,
    },
    /// Another number of texts or groups than of rows.
    #[error("{what} are given for {found} rows, but the features have {rows}: give one {one} a row")]
    Rows {
        /// What is given.
        what: &'static str,
        /// What each row needs.
        one: &'static str,
        /// Rows of what is given.
        found: usize,
        /// Rows of the features.
        rows: usize,
    },
}

/// A matrix of features, row by row, whose last columns may be [`Sparse`].
///
/// Numbers are stored one by one, in single precision where the table has them so. Of words, of which a vocabulary has thousands and a text has few, only
/// those are stored that a row has; and of columns that are mostly 0 only the other cells.
///
/// ```
/// use pairity::learners::Features;
///
/// // K = 2 groups; a code of 2 or more means no group.
/// let features = Features::new(3, 2, vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0])?.with_codes(vec![1, 0, 2])?;
/// assert_eq!(features.row(1)[..], [2.0, 3.0]);
/// let some = features.select(&[2, 0]);
/// assert_eq!(some.values()[..], [4.0, 5.0, 0.0, 1.0]);
/// assert_eq!(some.codes(), Some(&[2, 1][..]));
/// # Ok::<(), pairity::learners::FeaturesError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    rows: usize,
    /// Features that are stored one by one.
    dense: usize,
    values: Dense,
    sparse: Option<Sparse>,
    groups: Option<ByGroup>,
    elsewhere: Option<Elsewhere>,
}

/// The group of each row, and the rows of each group.
#[derive(Debug, Clone, PartialEq)]
struct ByGroup {
    codes: Vec<u16>,
    /// Rows by code, then by number.
    order: Vec<u32>,
}

impl Features {
    /// Features from rows × width values.
    ///
    /// # Errors
    /// A number of values that does not fit, no width, NaN or infinite values.
    pub fn new(rows: usize, width: usize, values: Vec<f64>) -> Result<Features, FeaturesError> {
        if width == 0 {
            return Err(FeaturesError::NoWidth);
        }
        if rows > MAX_ROWS {
            return Err(FeaturesError::TooMany(rows));
        }
        if rows.checked_mul(width) != Some(values.len()) {
            return Err(FeaturesError::Length { rows, width, found: values.len() });
        }
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(Features { dense: width, values: Dense::Doubles(values), ..Features::none(rows) }),
            Some(at) => {
                let (row, feature) = (at / width, at % width);
                Err(FeaturesError::NotFinite { row, feature, value: values[at] })
            }
        }
    }

    /// Rows without features, whose scores come from outside.
    pub(crate) fn none(rows: usize) -> Features {
        let values = Dense::Doubles(Vec::new());
        Features { rows, dense: 0, values, sparse: None, groups: None, elsewhere: None }
    }

    /// Features of numbers in single precision, and of what becomes of those of each column, which is finite.
    pub(super) fn of_singles(
        rows: usize,
        values: Vec<f32>,
        standards: Vec<Standard>,
    ) -> Result<Features, FeaturesError> {
        if rows > MAX_ROWS {
            return Err(FeaturesError::TooMany(rows));
        }
        let (dense, values) = (standards.len(), Dense::Singles(values, standards.into()));
        Ok(Features { dense, values, ..Features::none(rows) })
    }

    /// Features that somebody else holds, who gives scores and gradients of so many rows.
    pub fn elsewhere(source: Arc<dyn FeatureSource>, rows: usize, width: usize) -> Features {
        Features { elsewhere: Some(Elsewhere::new(source, rows, width)), ..Features::none(rows) }
    }

    /// Sparse features alone.
    pub fn of_sparse(sparse: Sparse) -> Features {
        Features { rows: sparse.rows(), sparse: Some(sparse), ..Features::none(0) }
    }

    /// The same features and, behind them, sparse ones; beside those that there are already.
    ///
    /// # Errors
    /// Another number of rows.
    pub fn with_sparse(mut self, sparse: Sparse) -> Result<Features, FeaturesError> {
        self.check_rows("words or sparse numbers", "list", sparse.rows())?;
        self.sparse = Some(match self.sparse {
            None => sparse,
            Some(own) => own.beside(&sparse),
        });
        Ok(self)
    }

    /// The same features with the code of each row's group. Codes of K groups are 0 to K − 1; K and
    /// above mean no group.
    ///
    /// # Errors
    /// Another number of codes than of rows.
    pub fn with_codes(mut self, codes: Vec<u16>) -> Result<Features, FeaturesError> {
        self.check_rows("groups", "group", codes.len())?;
        self.groups = Some(ByGroup::new(codes));
        Ok(self)
    }

    /// The same features with groups, whose codes are positions among their names.
    ///
    /// # Errors
    /// Another number of rows.
    pub fn with_groups(self, groups: &Groups) -> Result<Features, FeaturesError> {
        let none = groups.names().len();
        let code = |row| u16::try_from(groups.code(row).unwrap_or(none)).unwrap_or(u16::MAX);
        self.with_codes((0..groups.len()).map(code).collect())
    }

    fn check_rows(&self, what: &'static str, one: &'static str, found: usize) -> Result<(), FeaturesError> {
        let rows = self.rows;
        if found == rows { Ok(()) } else { Err(FeaturesError::Rows { what, one, found, rows }) }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of features, sparse ones included.
    pub fn width(&self) -> usize {
        let sparse = self.sparse.as_ref().map_or(0, Sparse::width);
        self.dense + sparse + self.elsewhere.as_ref().map_or(0, |elsewhere| elsewhere.width)
    }

    /// Number of features that are stored one by one: all but sparse ones.
    pub fn dense_width(&self) -> usize {
        self.dense
    }

    /// All values but sparse ones, row by row.
    pub fn values(&self) -> Cow<'_, [f64]> {
        self.values_of(0..self.rows)
    }

    /// The same of some rows.
    fn values_of(&self, rows: Range<usize>) -> Cow<'_, [f64]> {
        let places = rows.start * self.dense..rows.end * self.dense;
        match &self.values {
            Dense::Doubles(values) => values[places].into(),
            singles => {
                let mut room = Vec::with_capacity(places.len());
                singles.get(places, &mut room);
                room.into()
            }
        }
    }

    /// The same in some room, unless they are stored as they are.
    pub(super) fn values_in<'a>(&'a self, rows: Range<usize>, room: &'a mut Vec<f64>) -> &'a [f64] {
        self.values.get(rows.start * self.dense..rows.end * self.dense, room)
    }

    /// The same of all rows, some at a time: those that are stored in single precision are never all there in double.
    pub(crate) fn tiles(&self) -> impl Iterator<Item = Cow<'_, [f64]>> {
        (0..self.rows).step_by(TILE).map(|first| self.values_of(first..(first + TILE).min(self.rows)))
    }

    /// The features of one row, without sparse ones.
    pub fn row(&self, row: usize) -> Cow<'_, [f64]> {
        self.values_of(row..row + 1)
    }

    /// One of them.
    pub(crate) fn value(&self, row: usize, feature: usize) -> f64 {
        let place = row * self.dense + feature;
        self.values.get(place..place + 1, &mut Vec::new())[0]
    }

    /// What is stored of them one by one, in bytes, row by row: for a file. Each number has
    /// [`number_size`](Features::number_size) of them.
    pub fn bytes(&self) -> Vec<u8> {
        self.values.bytes()
    }

    /// The features of other rows, of the bytes that they were stored as, in the way of these.
    ///
    /// ```
    /// use pairity::learners::Features;
    ///
    /// let features = Features::new(2, 2, vec![0.0, 1.0, 2.0, 3.0])?;
    /// let bytes = features.bytes();
    /// assert_eq!(features.of_bytes(&bytes[2 * features.number_size()..])?, features.select(&[1]));
    /// # Ok::<(), pairity::learners::FeaturesError>(())
    /// ```
    ///
    /// # Errors
    /// Bytes that are not those of whole rows.
    pub fn of_bytes(&self, bytes: &[u8]) -> Result<Features, FeaturesError> {
        let (width, found) = (self.dense, bytes.len() / self.number_size());
        let rows = found / width.max(1);
        match rows * width * self.number_size() == bytes.len() {
            true => {
                Ok(Features { dense: width, values: self.values.of_bytes(bytes), ..Features::none(rows) })
            }
            false => Err(FeaturesError::Length { rows, width, found }),
        }
    }

    /// Bytes of each number that is stored: 8, or 4 in single precision.
    pub fn number_size(&self) -> usize {
        self.values.size()
    }

    /// The sparse features, if there are any.
    pub fn sparse(&self) -> Option<&Sparse> {
        self.sparse.as_ref()
    }

    /// The words of each row, if there are texts and no sparse numbers.
    pub fn words(&self) -> Option<&Sparse> {
        self.sparse.as_ref().filter(|sparse| sparse.is_of_ones())
    }

    /// The code of each row's group, if groups were given.
    pub fn codes(&self) -> Option<&[u16]> {
        self.groups.as_ref().map(|groups| &groups.codes[..])
    }

    /// The features of some rows, in the order named; a row may be named several times.
    pub fn select(&self, rows: &[u32]) -> Features {
        let codes = |groups: &ByGroup| rows.iter().map(|&row| groups.codes[row as usize]).collect();
        let groups = self.groups.as_ref().map(|groups| ByGroup::new(codes(groups)));
        Features { groups, ..self.pick(rows) }
    }

    /// The features of a batch of rows, in memory where whoever holds them gives them.
    pub(crate) fn batch(&self, rows: &[u32]) -> Features {
        let some = self.select(rows);
        some.elsewhere.as_ref().and_then(Elsewhere::batch).unwrap_or(some)
    }

    /// Whether somebody else holds them.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.elsewhere.is_some()
    }

    /// Parts of the rows whose pairs are counted by whoever holds the features; none if nobody else does, or if something
    /// went wrong.
    pub(crate) fn parts_elsewhere(&self, task: &PairTask, parts: &[Examples]) -> Option<PartsElsewhere> {
        self.elsewhere.as_ref()?.parts(task, parts)
    }

    /// A number that changes with features elsewhere, where it is known.
    pub(crate) fn fingerprint_elsewhere(&self) -> Option<u64> {
        self.elsewhere.as_ref()?.fingerprint()
    }

    /// What went wrong elsewhere, if anything did: then scores are NaN.
    pub fn failure(&self) -> Option<String> {
        self.elsewhere.as_ref()?.failure()
    }

    /// The scores of each of some scorers, if the features are elsewhere.
    pub(super) fn scores_elsewhere(&self, scorer: &Architecture, all: &[&[f64]]) -> Option<Vec<Vec<f64>>> {
        self.elsewhere.as_ref().map(|elsewhere| elsewhere.scores(scorer, all))
    }

    /// The gradient by the parameters, if the features are elsewhere.
    pub(super) fn gradient_elsewhere(
        &self,
        scorer: &Architecture,
        parameters: &[f64],
        slopes: &[f64],
    ) -> Option<Vec<f64>> {
        self.elsewhere.as_ref().map(|elsewhere| elsewhere.gradient(scorer, parameters, slopes))
    }

    /// The same without groups.
    pub(super) fn pick(&self, rows: &[u32]) -> Features {
        let values = self.values.select(rows, self.dense);
        let sparse = self.sparse.as_ref().map(|sparse| sparse.select(rows));
        let elsewhere = self.elsewhere.as_ref().map(|elsewhere| elsewhere.select(rows));
        Features { rows: rows.len(), dense: self.dense, values, sparse, groups: None, elsewhere }
    }

    /// Adds the offset of each row's group to its score, if the rows have groups.
    pub(super) fn add_offsets(&self, offsets: &[f64], scores: &mut [f64]) {
        for (score, &code) in scores.iter_mut().zip(self.codes().unwrap_or(&[])) {
            *score += offsets.get(code as usize).unwrap_or(&0.0);
        }
    }

    /// Adds the slope of each row's score to that of its group's offset, if the rows have groups.
    pub(super) fn add_to_offsets(&self, slopes: &[f64], offsets: &mut [f64]) {
        for (g, &code) in slopes.iter().zip(self.codes().unwrap_or(&[])) {
            if let Some(offset) = offsets.get_mut(code as usize) {
                *offset += g;
            }
        }
    }

    /// The rows of each of K groups and, last, the rows without a group; nothing without groups.
    pub(super) fn rows_by_group(&self, groups: usize) -> Option<Vec<&[u32]>> {
        let ByGroup { codes, order } = self.groups.as_ref()?;
        let start = |code: usize| order.partition_point(|&row| usize::from(codes[row as usize]) < code);
        let mut rows: Vec<&[u32]> = (0..groups).map(|code| &order[start(code)..start(code + 1)]).collect();
        rows.push(&order[start(groups)..]);
        Some(rows)
    }
}

impl ByGroup {
    fn new(codes: Vec<u16>) -> ByGroup {
        let mut order: Vec<u32> = (0..codes.len() as u32).collect();
        order.sort_by_key(|&row| codes[row as usize]);
        ByGroup { codes, order }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_must_fill_the_rows_with_finite_numbers() {
        let error = Features::new(2, 2, vec![0.0; 3]).unwrap_err();
        assert_eq!(error, FeaturesError::Length { rows: 2, width: 2, found: 3 });
        assert_eq!(Features::new(0, 0, Vec::new()), Err(FeaturesError::NoWidth));
        assert!(matches!(Features::new(usize::MAX, 2, Vec::new()), Err(FeaturesError::TooMany(_))));
        let error = Features::new(2, 2, vec![0.0, 1.0, f64::INFINITY, 2.0]).unwrap_err();
        assert!(error.to_string().starts_with("feature 1 in row 2 is inf"), "{error}");
        let features = Features::new(1, 1, vec![0.0]).unwrap();
        assert_eq!(
            features.with_codes(vec![0, 1]),
            Err(FeaturesError::Rows { what: "groups", one: "group", found: 2, rows: 1 })
        );
    }

    #[test]
    fn rows_are_listed_by_group_and_codes_beyond_the_groups_come_last() {
        let features = Features::new(6, 1, vec![0.0; 6]).unwrap().with_codes(vec![2, 0, 5, 0, 2, 9]).unwrap();
        let rows = features.rows_by_group(3).unwrap();
        assert_eq!(rows, [&[1, 3][..], &[], &[0, 4], &[2, 5]]);
        let rows = features.rows_by_group(40).unwrap();
        assert_eq!((rows[9], rows[10], rows[40]), (&[5][..], &[][..], &[][..]));
    }

    #[test]
    fn groups_become_codes_and_no_group_becomes_their_number() {
        let groups = Groups::from_names(&["m", "", "f"]);
        let features = Features::new(3, 1, vec![0.0; 3]).unwrap().with_groups(&groups).unwrap();
        assert_eq!(features.codes(), Some(&[1, 2, 0][..]));
    }
}
