//! The encoder: learned from the columns of the training rows, it turns the columns of any table into
//! features.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::EncodeError;
use super::text::{self, Terms, TextLayout};
use crate::examples::{Column, SparseNumbers, Values};

/// The most levels of a column of categories.
pub const MAX_LEVELS: usize = 1000;

/// What one column becomes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Encoding {
    /// (x − shift) / scale.
    Number {
        /// The column.
        name: String,
        /// What is subtracted.
        shift: f64,
        /// What it is divided by, above 0.
        scale: f64,
        /// The feature of a missing number.
        fill: f64,
        /// Whether another feature says that the number is missing.
        indicator: bool,
        /// Whether it was mostly 0 in training, so that of its features only the other cells are stored.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        sparse: bool,
    },
    /// One feature for each level.
    Category {
        /// The column.
        name: String,
        /// The levels, sorted.
        levels: Vec<String>,
        /// Whether a missing value is a level too, the last.
        missing: bool,
    },
    /// Words of a text in their order, one feature for each word of a vocabulary; always the last column.
    Text {
        /// The column.
        name: String,
        /// The vocabulary, the most frequent word first.
        words: Vec<String>,
        /// The most words of a text that are kept.
        length: usize,
    },
    /// Terms of a text, weighted by how much each tells, one feature for each; always the last column.
    Terms {
        /// The column.
        name: String,
        /// The terms of each kind.
        kinds: Vec<Terms>,
    },
}

impl Encoding {
    /// The column.
    pub fn name(&self) -> &str {
        match self {
            Encoding::Number { name, .. }
            | Encoding::Category { name, .. }
            | Encoding::Text { name, .. }
            | Encoding::Terms { name, .. } => name,
        }
    }

    /// Number of features.
    pub fn width(&self) -> usize {
        match self {
            Encoding::Number { indicator, .. } => 1 + usize::from(*indicator),
            Encoding::Category { levels, missing, .. } => levels.len() + usize::from(*missing),
            Encoding::Text { words, .. } => words.len(),
            Encoding::Terms { kinds, .. } => kinds.iter().map(|kind| kind.terms.len()).sum(),
        }
    }

    /// Whether it is a text.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self, Encoding::Text { .. } | Encoding::Terms { .. })
    }

    /// The name of each feature; those of a text are told by their number.
    pub(crate) fn short_names(&self) -> Vec<String> {
        let numbers = match self {
            Encoding::Text { words, .. } => format!("{} words", words.len()),
            Encoding::Terms { kinds, .. } => {
                kinds.iter().map(Terms::summary).collect::<Vec<String>>().join(" and ")
            }
            Encoding::Number { .. } | Encoding::Category { .. } => return self.names(),
        };
        vec![format!("{numbers} of {}", self.name())]
    }

    /// The name of each feature.
    fn names(&self) -> Vec<String> {
        let name = self.name();
        let (mut names, missing): (Vec<String>, bool) = match self {
            Encoding::Number { indicator, .. } => (vec![name.to_owned()], *indicator),
            Encoding::Category { levels, missing, .. } => {
                (levels.iter().map(|level| format!("{name} = {level}")).collect(), *missing)
            }
            Encoding::Text { words, .. } => {
                (words.iter().map(|word| format!("{name} has {word}")).collect(), false)
            }
            Encoding::Terms { kinds, .. } => {
                let terms = kinds.iter().flat_map(|kind| &kind.terms);
                (terms.map(|term| format!("{name} has {term:?}")).collect(), false)
            }
        };
        names.extend(missing.then(|| format!("{name} is missing")));
        names
    }
}

/// What columns become.
///
/// | column | features |
/// |---|---|
/// | numbers | one: (x − shift) / scale. Standardized: shift is the mean and scale the standard deviation (that of the rows themselves, divided by n), or 1 in a constant column. Otherwise 0 and 1 |
/// | numbers, some missing in training | one more, named `… is missing`: 1 where the number is missing, which itself becomes the mean if standardized (0) and 0 if not |
/// | categories | one for each level seen in training, in the order of their texts: 1 where the row has it |
/// | categories, some missing in training | one more, named `… is missing` |
/// | a text | one for each of the [`Terms`], or of the most frequent words, of the training texts. A missing text has none |
///
/// Means, deviations and levels are those of the training rows. Columns of [`SparseNumbers`] become [`Sparse`](super::Sparse) features
/// with the same values, behind the others.
///
/// ```
/// use pairity::examples::{Column, Values};
/// use pairity::learners::Encoder;
///
/// let levels = vec!["red".into(), "blue".into()];
/// let columns = [
///     Column { name: "age".into(), values: Values::Numbers(vec![20.0, 40.0, f64::NAN]) },
///     Column { name: "color".into(), values: Values::Categories { codes: vec![0, 1, 0], levels } },
/// ];
/// let encoder = Encoder::learn(&columns.each_ref(), None, true)?;
/// assert_eq!(encoder.names(), ["age", "age is missing", "color = blue", "color = red"]);
/// let encoded = encoder.encode(&columns)?;
/// assert_eq!(encoded.features.row(0)[..], [-1.0, 0.0, 0.0, 1.0]);
/// assert_eq!(encoded.features.row(2)[..], [0.0, 1.0, 0.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Encoder {
    pub(super) columns: Vec<Encoding>,
}

impl Encoder {
    /// Learns from some rows of some columns, or from all rows.
    ///
    /// # Errors
    /// No columns or rows, columns that don't belong together, a column with more than [`MAX_LEVELS`]
    /// levels among these rows, or with numbers too large to standardize.
    pub fn learn(
        columns: &[&Column],
        rows: Option<&[u32]>,
        standardize: bool,
    ) -> Result<Encoder, EncodeError> {
        let Some(first) = columns.first() else {
            return Err(EncodeError::Nothing { what: "columns", advice: "name a feature column" });
        };
        let expected = first.values.len();
        if rows.map_or(expected, <[u32]>::len) == 0 {
            return Err(EncodeError::Nothing { what: "rows", advice: "give the training part some" });
        }
        let mut seen = HashSet::new();
        let mut learned = Vec::with_capacity(columns.len());
        let (sparse, dense): (Vec<&Column>, Vec<&Column>) =
            columns.iter().partition(|column| matches!(column.values, Values::Sparse(_)));
        let mask = match rows {
            Some(rows) if !sparse.is_empty() => Some(mask(rows, expected)),
            _ => None,
        };
        for column in dense.into_iter().chain(sparse) {
            let name = column.name.clone();
            if !seen.insert(&column.name) {
                return Err(EncodeError::Twice(name));
            }
            let found = column.values.len();
            if found != expected {
                return Err(EncodeError::Length { column: name, found, expected });
            }
            let places = places(&name, rows, found)?;
            learned.push(match &column.values {
                Values::Numbers(numbers) => {
                    let cells = places.map(|row| (row, numbers[row]));
                    number(name, cells, 0, standardize)?
                }
                Values::Singles(numbers) => {
                    let cells = places.map(|row| (row, f64::from(numbers[row])));
                    number(name, cells, 0, standardize)?
                }
                Values::Sparse(numbers) => {
                    let learned = (mask.as_deref(), rows.map_or(found, <[u32]>::len));
                    sparse_number(name, numbers, learned, standardize)?
                }
                Values::Categories { codes, levels } => category(name, places.map(|row| codes[row]), levels)?,
            });
        }
        Ok(Encoder { columns: learned })
    }

    /// The encoder of the columns of several, which were learned from the same rows.
    pub(crate) fn join(encoders: Vec<Encoder>) -> Encoder {
        let mut columns: Vec<Encoding> = encoders.into_iter().flat_map(|encoder| encoder.columns).collect();
        // Sparse ones come last, as in an encoder that is learned from all.
        columns.sort_by_key(|column| matches!(column, Encoding::Number { sparse: true, .. }));
        Encoder { columns }
    }

    /// Adds a text, whose vocabulary is learned from some rows, or from all rows. The encoder of a text alone
    /// starts from the empty one, `Encoder::default()`.
    ///
    /// ```
    /// use pairity::learners::{Encoder, text::{Ngrams, TextLayout}};
    /// use pairity::examples::{Column, Values};
    ///
    /// let levels = vec!["A good day".into(), "good, good!".into()];
    /// let column = Column { name: "comment".into(), values: Values::Categories { codes: vec![0, 1], levels } };
    /// let encoder = Encoder::default().with_text(&column, None, 2, TextLayout::Terms(Ngrams::Words))?;
    /// assert_eq!(encoder.names(), ["comment has \"good\""]); // the one word that two texts have
    /// let features = encoder.encode(&[column])?.features;
    /// assert_eq!(features.sparse().map(|terms| terms.dense_row(1)), Some(vec![10.0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A column of numbers or one that is a feature already, a second text, rows beyond the last, or texts
    /// without a single word.
    pub fn with_text(
        mut self,
        column: &Column,
        rows: Option<&[u32]>,
        vocabulary: usize,
        layout: TextLayout,
    ) -> Result<Encoder, EncodeError> {
        let name = column.name.clone();
        if self.columns.iter().any(|known| known.name() == name) {
            return Err(EncodeError::Twice(name));
        }
        if self.columns.iter().any(Encoding::is_text) {
            return Err(EncodeError::SecondText(name));
        }
        let Some((codes, levels)) = column.categories() else {
            return Err(EncodeError::Numbers(name));
        };
        let places = places(&name, rows, codes.len())?;
        let encoding = match layout {
            TextLayout::Sequence { length } => {
                let text = |row: usize| levels.get(codes[row] as usize).map_or("", String::as_str);
                Encoding::Text { name, words: text::learn(places.map(text), vocabulary), length }
            }
            TextLayout::Terms(ngrams) => {
                let mut times = vec![0; levels.len()];
                let mut missing = 0;
                for row in places {
                    *times.get_mut(codes[row] as usize).unwrap_or(&mut missing) += 1;
                }
                let texts = levels.iter().map(String::as_str).zip(times).chain([("", missing)]);
                let texts: Vec<(&str, u64)> = texts.filter(|(_, times)| *times > 0).collect();
                let learned = ngrams.kinds().iter().map(|&kind| Terms::learn(kind, &texts, vocabulary));
                Encoding::Terms { name, kinds: learned.collect() }
            }
        };
        if encoding.width() == 0 {
            return Err(EncodeError::NoWords(encoding.name().to_owned()));
        }
        self.columns.push(encoding);
        Ok(self)
    }

    /// The words of a text that are told apart, where they are kept in their order.
    pub fn words(&self) -> &[String] {
        let words = self.columns.iter().find_map(|column| match column {
            Encoding::Text { words, .. } => Some(&words[..]),
            _ => None,
        });
        words.unwrap_or_default()
    }

    /// What each column becomes, in the order of the features.
    pub fn columns(&self) -> &[Encoding] {
        &self.columns
    }

    /// Number of features.
    pub fn width(&self) -> usize {
        self.columns.iter().map(Encoding::width).sum()
    }

    /// The name of each feature.
    pub fn names(&self) -> Vec<String> {
        self.columns.iter().flat_map(Encoding::names).collect()
    }
}

/// How often each row is learned from.
fn mask(rows: &[u32], length: usize) -> Vec<u32> {
    let mut mask = vec![0; length];
    for &row in rows {
        if let Some(times) = mask.get_mut(row as usize) {
            *times += 1;
        }
    }
    mask
}

/// The rows to learn from, which a column has to have; all if none are given.
fn places<'a>(
    name: &str,
    rows: Option<&'a [u32]>,
    length: usize,
) -> Result<impl Iterator<Item = usize> + Clone + use<'a>, EncodeError> {
    if let Some(&row) = rows.unwrap_or_default().iter().find(|&&row| row as usize >= length) {
        return Err(EncodeError::NoRow { column: name.to_owned(), row: row as usize, rows: length });
    }
    let all = 0..if rows.is_none() { length } else { 0 };
    Ok(all.chain(rows.unwrap_or_default().iter().map(|&row| row as usize)))
}

/// The encoding of numbers that are mostly 0: only the others are looked at. It is learned from so many rows, each as
/// often as the mask says.
fn sparse_number(
    name: String,
    numbers: &SparseNumbers,
    (mask, all): (Option<&[u32]>, usize),
    standardize: bool,
) -> Result<Encoding, EncodeError> {
    let times = |row: usize| mask.map_or(1, |mask| mask[row] as usize);
    let cells = numbers.iter().flat_map(|cell| std::iter::repeat_n(cell, times(cell.0)));
    let mut encoding = number(name, cells.clone(), all - cells.count(), standardize)?;
    if let Encoding::Number { sparse, .. } = &mut encoding {
        *sparse = true;
    }
    Ok(encoding)
}

/// The encoding of numbers, each given with its row, and of so many zeros.
fn number(
    name: String,
    cells: impl Iterator<Item = (usize, f64)> + Clone,
    zeros: usize,
    standardize: bool,
) -> Result<Encoding, EncodeError> {
    if let Some((row, value)) = cells.clone().find(|(_, number)| number.is_infinite()) {
        return Err(EncodeError::NotFinite { column: name, row, value });
    }
    let indicator = cells.clone().any(|(_, number)| number.is_nan());
    let known = cells.map(|(_, number)| number).filter(|number| !number.is_nan());
    let Some((mean, deviation)) = mean_and_deviation(known, zeros) else {
        return Err(EncodeError::Spread(name));
    };
    let scale = if standardize && deviation > 0.0 { deviation } else { 1.0 };
    let shift = if standardize { mean } else { 0.0 };
    // With an indicator any number will do; without one the mean is the least surprising.
    let fill = if standardize || indicator { 0.0 } else { mean };
    Ok(Encoding::Number { name, shift, scale, fill, indicator, sparse: false })
}

/// The mean and the standard deviation of numbers and so many zeros, unless the numbers are so far apart that these
/// overflow. Equal numbers have a deviation of exactly 0, and no numbers have both 0.
fn mean_and_deviation(numbers: impl Iterator<Item = f64> + Clone, zeros: usize) -> Option<(f64, f64)> {
    let ends = if zeros > 0 { (0.0, 0.0) } else { (f64::INFINITY, f64::NEG_INFINITY) };
    let (low, high) = numbers.clone().fold(ends, |(low, high): (f64, f64), x| (x.min(low), x.max(high)));
    if low >= high {
        return Some((if low == high { low } else { 0.0 }, 0.0));
    }
    // Relative to the lowest number, and in units of the range: neither sum can overflow.
    let range = high - low;
    if !range.is_finite() {
        return None;
    }
    let count = (numbers.clone().count() + zeros) as f64;
    let (zeros, zero) = (zeros as f64, -low / range);
    // Without zeros there is nothing to add, not even a rounding error.
    let with_zeros = |sum: f64, each: f64| if zeros > 0.0 { sum + zeros * each } else { sum };
    let share = with_zeros(numbers.clone().map(|x| (x - low) / range).sum(), zero) / count;
    let squares = numbers.map(|x| ((x - low) / range - share).powi(2)).sum();
    let square = with_zeros(squares, (zero - share).powi(2)) / count;
    Some((low + share * range, square.sqrt() * range))
}

fn category(
    name: String,
    codes: impl Iterator<Item = u32>,
    texts: &[String],
) -> Result<Encoding, EncodeError> {
    let mut used = vec![false; texts.len()];
    let mut missing = false;
    for code in codes {
        match used.get_mut(code as usize) {
            Some(used) => *used = true,
            None => missing = true,
        }
    }
    let mut levels: Vec<String> =
        texts.iter().zip(used).filter(|(_, used)| *used).map(|(text, _)| text.clone()).collect();
    levels.sort_unstable();
    levels.dedup();
    match levels.len() {
        found if found > MAX_LEVELS => Err(EncodeError::TooManyLevels { column: name, found }),
        _ => Ok(Encoding::Category { name, levels, missing }),
    }
}
