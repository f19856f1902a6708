//! Applying an encoder to a table, which may hold what training never saw, and what can go wrong in between.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use rayon::prelude::*;

use super::dense::Standard;
use super::text::{self, Terms};
use super::{Encoder, Encoding, Features, FeaturesError, MAX_LEVELS, Sparse};
use crate::examples::{Column, MISSING, SparseNumbers, Values, is_single};
use crate::similar::nearest;

/// Rows that are written, and texts that are read, together.
const PART: usize = 1024;

/// Levels named in a note.
const NAMED: usize = 3;

/// Features, and what was not as in training.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoded {
    /// The features.
    pub features: Features,
    /// What training never saw, in the order of the columns.
    pub notes: Vec<Note>,
}

/// Something in a column that training never saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// Levels that no training row has.
    Unseen {
        /// The column.
        column: String,
        /// How many rows have such a level.
        rows: usize,
        /// How many such levels there are.
        different: usize,
        /// The first of these levels, at most three.
        levels: Vec<String>,
    },
    /// Missing values in a column that had none.
    Missing {
        /// The column.
        column: String,
        /// How many rows have none.
        rows: usize,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = |rows: &usize| if *rows == 1 { "" } else { "s" };
        match self {
            Note::Unseen { column, rows, different, levels } => {
                let named: Vec<String> = levels.iter().map(|level| format!("{level:?}")).collect();
                let (s, named) = (s(rows), named.join(", "));
                let more = if *different > levels.len() { ", …" } else { "" };
                write!(f, "column {column:?}: {rows} row{s} with values not seen in training ({named}{more})")
            }
            Note::Missing { column, rows } => {
                let s = s(rows);
                write!(f, "column {column:?}: {rows} row{s} without a value, of which training had none")
            }
        }
    }
}

/// The cells of a column that fits what was learned.
enum Cells<'a> {
    Numbers(Cow<'a, [f64]>),
    Singles(&'a [f32]),
    Sparse(Cow<'a, SparseNumbers>),
    /// `places`: which feature of the column a code becomes, or [`MISSING`].
    Codes {
        codes: &'a [u32],
        places: Vec<u32>,
    },
    Words(Sparse),
}

impl Encoder {
    /// The features of columns. Those that the encoder does not know are ignored.
    ///
    /// A level that training never saw gets zeros in all features of its column. A value that is missing,
    /// in a column where none was missing in training, becomes the mean of the training rows in a column of
    /// numbers, and zeros in a column of categories. Both are counted in the notes.
    ///
    /// # Errors
    /// A column that is absent or of another kind, columns of different lengths, or a number too large to be
    /// a feature.
    pub fn encode(&self, columns: &[Column]) -> Result<Encoded, EncodeError> {
        let mut notes = Vec::new();
        let (mut dense, mut sparse) = (Vec::with_capacity(self.columns.len()), Vec::new());
        let (mut rows, mut words) = (None, None);
        // The first of a name.
        let by_name: HashMap<&str, &Column> =
            columns.iter().rev().map(|column| (column.name.as_str(), column)).collect();
        for encoding in &self.columns {
            let name = encoding.name();
            let Some(&column) = by_name.get(name) else {
                let nearest = nearest(name, columns.iter().map(|column| column.name.as_str()));
                let nearest = nearest.into_iter().map(str::to_owned).collect();
                return Err(EncodeError::NoColumn { column: name.to_owned(), nearest });
            };
            let (found, expected) = (column.values.len(), *rows.get_or_insert(column.values.len()));
            if found != expected {
                return Err(EncodeError::Length { column: name.to_owned(), found, expected });
            }
            match fit(encoding, column, &mut notes)? {
                Cells::Words(found) => words = Some(found),
                Cells::Sparse(numbers) => sparse.push((encoding, numbers)),
                cells => dense.push((encoding, cells)),
            }
        }
        let (rows, width) = (rows.unwrap_or(0), dense.iter().map(|(encoding, _)| encoding.width()).sum());
        let too_large = EncodeError::TooLarge { rows, width };
        let features = || -> Result<Features, FeaturesError> {
            let numbers = if sparse.is_empty() { None } else { Some(sparse_features(rows, &sparse)?) };
            let mut blocks = numbers.into_iter().chain(words);
            let first = match width {
                0 => blocks.next().map(Features::of_sparse).ok_or(FeaturesError::NoWidth)?,
                // Numbers of single precision stay so, if no others lose by it.
                _ if fits_singles(&dense) => {
                    let values = written(&dense, rows, width, |_, number| number as f32);
                    Features::of_singles(
                        rows,
                        values.ok_or(FeaturesError::TooMany(rows))?,
                        standards(&dense),
                    )?
                }
                _ => {
                    let values = written(&dense, rows, width, |standard, number| standard.of(number));
                    Features::new(rows, width, values.ok_or(FeaturesError::TooMany(rows))?)?
                }
            };
            blocks.try_fold(first, Features::with_sparse)
        };
        Ok(Encoded { features: features().map_err(|_| too_large)?, notes })
    }
}

/// Columns that are mostly 0 as features. What an absent 0 becomes, (0 − shift) / scale, is stored once a column; a
/// number x is above it by x / scale.
fn sparse_features(
    rows: usize,
    columns: &[(&Encoding, Cow<SparseNumbers>)],
) -> Result<Sparse, FeaturesError> {
    let mut absent = Vec::new();
    let mut features: Vec<(&Encoding, &SparseNumbers, u32)> = Vec::new();
    for (encoding, numbers) in columns {
        let Encoding::Number { shift, scale, indicator, .. } = encoding else { continue };
        features.push((encoding, numbers, absent.len() as u32));
        absent.push(-shift / scale);
        absent.extend(indicator.then_some(0.0));
    }
    let each_cell = |each: &mut dyn FnMut(usize, u32, f64)| {
        for &(encoding, numbers, column) in &features {
            let &Encoding::Number { scale, fill, indicator, .. } = encoding else { continue };
            let zero = absent[column as usize];
            for (row, number) in numbers.iter() {
                let missing = number.is_nan();
                each(row, column, if missing { fill - zero } else { number / scale });
                if indicator && missing {
                    each(row, column + 1, 1.0);
                }
            }
        }
    };
    Sparse::by_column(rows, absent.clone(), &each_cell)
}

/// A column that fits what was learned, with notes on what is new in it.
fn fit<'a>(encoding: &Encoding, column: &'a Column, notes: &mut Vec<Note>) -> Result<Cells<'a>, EncodeError> {
    let name = || column.name.clone();
    match (encoding, &column.values) {
        (&Encoding::Number { sparse, .. }, Values::Numbers(numbers)) => {
            check_numbers(encoding, column, numbers.iter().copied().enumerate(), notes)?;
            Ok(match sparse {
                true => Cells::Sparse(Cow::Owned(numbers.iter().copied().collect())),
                false => Cells::Numbers(numbers.into()),
            })
        }
        (&Encoding::Number { sparse, .. }, Values::Singles(numbers)) => {
            let cells = numbers.iter().map(|&number| f64::from(number));
            check_numbers(encoding, column, cells.clone().enumerate(), notes)?;
            Ok(if sparse { Cells::Sparse(Cow::Owned(cells.collect())) } else { Cells::Singles(numbers) })
        }
        (&Encoding::Number { sparse, .. }, Values::Sparse(numbers)) => {
            check_numbers(encoding, column, numbers.iter(), notes)?;
            Ok(match sparse {
                true => Cells::Sparse(Cow::Borrowed(numbers)),
                false => Cells::Numbers(numbers.to_dense().into()),
            })
        }
        (Encoding::Number { .. }, Values::Categories { levels, .. }) => {
            let example = levels.iter().find(|level| level.parse::<f64>().is_err()).or(levels.first());
            Err(EncodeError::Text { column: name(), example: example.cloned().unwrap_or_default() })
        }
        (_, Values::Numbers(_) | Values::Singles(_) | Values::Sparse(_)) => Err(EncodeError::Numbers(name())),
        (Encoding::Terms { kinds, .. }, Values::Categories { codes, levels }) => {
            terms(kinds, codes, levels).map(Cells::Words).map_err(|_| EncodeError::NoWords(name()))
        }
        (Encoding::Text { words, length, .. }, Values::Categories { codes, levels }) => {
            let places: HashMap<&str, u32> = words.iter().map(String::as_str).zip(0..).collect();
            let texts: Vec<Vec<u32>> =
                levels.par_iter().map(|text| text::codes(text, &places, *length)).collect();
            let row = |&code: &u32| texts.get(code as usize).map_or(&[][..], Vec::as_slice);
            let found = Sparse::of_ones(words.len(), codes.iter().map(row));
            found.map(Cells::Words).map_err(|_| EncodeError::NoWords(name()))
        }
        (Encoding::Category { levels: known, missing, .. }, Values::Categories { codes, levels }) => {
            let place = |level: &String| known.binary_search(level).map_or(MISSING, |place| place as u32);
            let places: Vec<u32> = levels.iter().map(place).collect();
            let (mut absent, mut unseen, mut new) = (0, 0, Vec::new());
            let mut noticed = vec![false; levels.len()];
            for &code in codes {
                match places.get(code as usize) {
                    None => absent += 1,
                    Some(&MISSING) => {
                        unseen += 1;
                        if !std::mem::replace(&mut noticed[code as usize], true) {
                            new.push(&levels[code as usize]);
                        }
                    }
                    Some(_) => {}
                }
            }
            if unseen > 0 {
                let levels = new.iter().take(NAMED).map(|&level| level.clone()).collect();
                notes.push(Note::Unseen { column: name(), rows: unseen, different: new.len(), levels });
            }
            if absent > 0 && !missing {
                notes.push(Note::Missing { column: name(), rows: absent });
            }
            Ok(Cells::Codes { codes, places })
        }
    }
}

/// The weighted terms of the text of each row.
fn terms(kinds: &[Terms], codes: &[u32], levels: &[String]) -> Result<Sparse, FeaturesError> {
    let mut width = 0;
    let mut known = Vec::new();
    for kind in kinds {
        known.push((kind, kind.places(), width as u32));
        width += kind.terms.len();
    }
    let row = |&code: &u32| {
        let mut features = Vec::new();
        if let Some(text) = levels.get(code as usize) {
            known.iter().for_each(|(kind, places, first)| kind.add(text, places, *first, &mut features));
        }
        features
    };
    Sparse::new(width, codes.chunks(PART).flat_map(|some| some.par_iter().map(row).collect::<Vec<_>>()))
}

/// Refuses a number that is too large to be a feature, and notes those that are missing.
fn check_numbers(
    encoding: &Encoding,
    column: &Column,
    cells: impl Iterator<Item = (usize, f64)> + Clone,
    notes: &mut Vec<Note>,
) -> Result<(), EncodeError> {
    let &Encoding::Number { shift, scale, indicator, .. } = encoding else { return Ok(()) };
    let too_large = |(_, x): &(usize, f64)| !x.is_nan() && !((x - shift) / scale).is_finite();
    if let Some((row, value)) = cells.clone().find(too_large) {
        return Err(EncodeError::NotFinite { column: column.name.clone(), row, value });
    }
    let missing = cells.filter(|(_, number)| number.is_nan()).count();
    if missing > 0 && !indicator {
        notes.push(Note::Missing { column: column.name.clone(), rows: missing });
    }
    Ok(())
}

/// Whether some numbers are of single precision, and no others lose anything by it.
fn fits_singles(columns: &[(&Encoding, Cells)]) -> bool {
    let fits = |(_, cells): &(&Encoding, Cells)| match cells {
        Cells::Numbers(numbers) => is_single(numbers),
        _ => true,
    };
    columns.iter().any(|(_, cells)| matches!(cells, Cells::Singles(_))) && columns.iter().all(fits)
}

/// What becomes of each number in a row.
fn standards(columns: &[(&Encoding, Cells)]) -> Vec<Standard> {
    let mut all = Vec::new();
    for (encoding, _) in columns {
        let end = all.len() + encoding.width();
        all.extend(standard(encoding));
        all.resize(end, Standard::NONE);
    }
    all
}

fn standard(encoding: &Encoding) -> Option<Standard> {
    match *encoding {
        Encoding::Number { shift, scale, fill, .. } => Some(Standard { shift, scale, fill }),
        _ => None,
    }
}

/// Rows of what a function makes of each number, and of 1 or 0 where something is so or not; none if there is no memory
/// for them.
fn written<T: Copy + Default + Send + From<bool>>(
    columns: &[(&Encoding, Cells)],
    rows: usize,
    width: usize,
    number: impl Fn(&Standard, f64) -> T + Copy + Sync,
) -> Option<Vec<T>> {
    let (mut values, cells) = (Vec::new(), rows.checked_mul(width)?);
    values.try_reserve_exact(cells).ok()?;
    values.resize(cells, T::default());
    let parts = values.par_chunks_mut(PART * width).enumerate();
    parts.for_each(|(part, values)| write(columns, part * PART, width, values, number));
    Some(values)
}

/// Writes the features of the rows from `start` on into zeros.
fn write<T: Copy + From<bool>>(
    columns: &[(&Encoding, Cells)],
    start: usize,
    width: usize,
    values: &mut [T],
    number: impl Fn(&Standard, f64) -> T + Copy,
) {
    let mut first = 0;
    for (encoding, cells) in columns {
        let rows = values.chunks_exact_mut(width).map(|row| &mut row[first..]);
        match (encoding, cells) {
            (Encoding::Number { indicator, .. }, Cells::Numbers(numbers)) => {
                let of = standard(encoding).unwrap_or(Standard::NONE);
                write_numbers(rows.zip(numbers[start..].iter().copied()), *indicator, |x| number(&of, x));
            }
            (Encoding::Number { indicator, .. }, Cells::Singles(numbers)) => {
                let of = standard(encoding).unwrap_or(Standard::NONE);
                let numbers = numbers[start..].iter().map(|&number| f64::from(number));
                write_numbers(rows.zip(numbers), *indicator, |x| number(&of, x));
            }
            (Encoding::Category { levels, missing, .. }, Cells::Codes { codes, places }) => {
                let missing = if *missing { levels.len() as u32 } else { MISSING };
                for (row, &code) in rows.zip(&codes[start..]) {
                    let place = *places.get(code as usize).unwrap_or(&missing);
                    if place != MISSING {
                        row[place as usize] = T::from(true);
                    }
                }
            }
            // No other cells fit.
            _ => {}
        }
        first += encoding.width();
    }
}

fn write_numbers<'a, T: From<bool> + 'a>(
    cells: impl Iterator<Item = (&'a mut [T], f64)>,
    indicator: bool,
    number: impl Fn(f64) -> T,
) {
    for (row, x) in cells {
        row[0] = number(x);
        if indicator {
            row[1] = T::from(x.is_nan());
        }
    }
}

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
