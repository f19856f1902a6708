//! Applying an encoder to a table, which may hold what training never saw.

use crate::similar::nearest;
use std::collections::HashMap;
use std::fmt;

use rayon::prelude::*;

use super::encoder::length;
use super::text::{self, Words};
use super::{EncodeError, Encoder, Encoding, Features};
use crate::examples::{Column, MISSING, Values};

/// Rows that are written together.
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
                write!(
                    f,
                    "column {column:?}: {rows} row{} without a value, of which training had none",
                    s(rows)
                )
            }
        }
    }
}

/// A column of the table, beside what it becomes.
enum FeatureSource<'a> {
    Number {
        numbers: &'a [f64],
        shift: f64,
        scale: f64,
        fill: f64,
        indicator: bool,
    },
    /// `places`: which feature of the column a code becomes, or [`MISSING`].
    Category {
        codes: &'a [u32],
        places: Vec<u32>,
        missing: u32,
        width: usize,
    },
}

/// A column that fits what was learned.
enum Fit<'a> {
    Dense(FeatureSource<'a>),
    Text(Words),
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
        let mut sources = Vec::with_capacity(self.columns.len());
        let (mut rows, mut words) = (None, None);
        for encoding in &self.columns {
            let name = encoding.name();
            let Some(column) = columns.iter().find(|column| column.name == name) else {
                return Err(EncodeError::NoColumn {
                    column: name.to_owned(),
                    nearest: nearest(name, columns.iter().map(|column| column.name.as_str()))
                        .into_iter()
                        .map(str::to_owned)
                        .collect(),
                });
            };
            let (found, expected) = (length(column), *rows.get_or_insert(length(column)));
            if found != expected {
                return Err(EncodeError::Length { column: name.to_owned(), found, expected });
            }
            match fit(encoding, column, &mut notes)? {
                Fit::Dense(source) => sources.push(source),
                Fit::Text(found) => words = Some(found),
            }
        }
        let (rows, width) = (rows.unwrap_or(0), self.dense_width());
        let too_large = EncodeError::TooLarge { rows, width };
        let mut values = Vec::new();
        match rows.checked_mul(width) {
            Some(cells) if values.try_reserve_exact(cells).is_ok() => values.resize(cells, 0.0),
            _ => return Err(too_large),
        }
        if width > 0 {
            values.par_chunks_mut(PART * width).enumerate().for_each(|(part, values)| {
                write(&sources, part * PART, width, values);
            });
        }
        let features = match words {
            None => Features::new(rows, width, values),
            Some(words) if width == 0 => Ok(Features::of_words(words)),
            Some(words) => Features::new(rows, width, values).and_then(|dense| dense.with_words(words)),
        };
        Ok(Encoded { features: features.map_err(|_| too_large)?, notes })
    }
}

/// A column that fits what was learned, with notes on what is new in it.
fn fit<'a>(encoding: &Encoding, column: &'a Column, notes: &mut Vec<Note>) -> Result<Fit<'a>, EncodeError> {
    let name = || column.name.clone();
    match (encoding, &column.values) {
        (&Encoding::Number { shift, scale, fill, indicator, .. }, Values::Numbers(numbers)) => {
            let too_large = |x: &f64| !x.is_nan() && !((x - shift) / scale).is_finite();
            if let Some(row) = numbers.iter().position(too_large) {
                return Err(EncodeError::NotFinite { column: name(), row, value: numbers[row] });
            }
            let missing = numbers.iter().filter(|number| number.is_nan()).count();
            if missing > 0 && !indicator {
                notes.push(Note::Missing { column: name(), rows: missing });
            }
            Ok(Fit::Dense(FeatureSource::Number { numbers, shift, scale, fill, indicator }))
        }
        (Encoding::Number { .. }, Values::Categories { levels, .. }) => {
            let example = levels.iter().find(|level| level.parse::<f64>().is_err()).or(levels.first());
            Err(EncodeError::Text { column: name(), example: example.cloned().unwrap_or_default() })
        }
        (Encoding::Category { .. } | Encoding::Text { .. }, Values::Numbers(_)) => {
            Err(EncodeError::Numbers(name()))
        }
        (Encoding::Text { words, layout, .. }, Values::Categories { codes, levels }) => {
            let places: HashMap<&str, u32> = words.iter().map(String::as_str).zip(0..).collect();
            let texts: Vec<Vec<u32>> =
                levels.par_iter().map(|text| text::codes(text, &places, *layout)).collect();
            let row = |&code: &u32| texts.get(code as usize).map_or(&[][..], Vec::as_slice);
            let found = Words::new(words.len(), codes.iter().map(row));
            found.map(Fit::Text).map_err(|_| EncodeError::NoWords(name()))
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
            let last = if *missing { known.len() as u32 } else { MISSING };
            Ok(Fit::Dense(FeatureSource::Category { codes, places, missing: last, width: encoding.width() }))
        }
    }
}

/// Writes the features of the rows from `start` on into zeros.
fn write(sources: &[FeatureSource], start: usize, width: usize, values: &mut [f64]) {
    let mut first = 0;
    for source in sources {
        let rows = values.chunks_exact_mut(width).map(|row| &mut row[first..]);
        match source {
            FeatureSource::Number { numbers, shift, scale, fill, indicator } => {
                for (row, &number) in rows.zip(&numbers[start..]) {
                    let missing = number.is_nan();
                    row[0] = if missing { *fill } else { (number - shift) / scale };
                    if *indicator {
                        row[1] = f64::from(missing);
                    }
                }
                first += 1 + usize::from(*indicator);
            }
            FeatureSource::Category { codes, places, missing, width } => {
                for (row, &code) in rows.zip(&codes[start..]) {
                    let place = *places.get(code as usize).unwrap_or(missing);
                    if place != MISSING {
                        row[place as usize] = 1.0;
                    }
                }
                first += width;
            }
        }
    }
}
