//! Features that are stored one by one, in double precision or, in half of the room, in single.
//!
//! In single precision are the numbers as a table has them, and each becomes a feature, (x − shift) / scale, in double
//! precision and whenever it is asked for. A number of single precision is one of double precision too, so that features
//! have the same bits either way.

use std::ops::Range;
use std::sync::Arc;

/// What becomes of the numbers of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Standard {
    /// What is subtracted.
    pub(super) shift: f64,
    /// What it is divided by.
    pub(super) scale: f64,
    /// The feature of a missing number.
    pub(super) fill: f64,
}

impl Standard {
    /// What changes nothing.
    pub(super) const NONE: Standard = Standard { shift: 0.0, scale: 1.0, fill: 0.0 };

    #[inline]
    pub(super) fn of(&self, number: f64) -> f64 {
        let value = (number - self.shift) / self.scale;
        if number.is_nan() { self.fill } else { value }
    }
}

/// Features row by row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Dense {
    /// The features.
    Doubles(Vec<f64>),
    /// Numbers, and what becomes of those of each column.
    Singles(Vec<f32>, Arc<[Standard]>),
}

impl Dense {
    /// Some of the features, by their places: those that are stored, or what becomes of them, in some room.
    pub(super) fn get<'a>(&'a self, places: Range<usize>, room: &'a mut Vec<f64>) -> &'a [f64] {
        let (values, standards) = match self {
            Dense::Doubles(values) => return &values[places],
            Dense::Singles(values, standards) => (&values[places.clone()], standards),
        };
        room.clear();
        let (first, width) = (places.start % standards.len().max(1), standards.len());
        // The rest of a row, and rows.
        let (rest, rows) = values.split_at(if first == 0 { 0 } else { values.len().min(width - first) });
        let of = |(&x, own): (&f32, &Standard)| own.of(x.into());
        room.extend(rest.iter().zip(&standards[first..]).map(of));
        rows.chunks(width.max(1)).for_each(|row| room.extend(row.iter().zip(&standards[..]).map(of)));
        room
    }

    /// Some rows, in the order named.
    pub(super) fn select(&self, rows: &[u32], width: usize) -> Dense {
        fn pick<T: Copy>(values: &[T], rows: &[u32], width: usize) -> Vec<T> {
            let mut some = Vec::with_capacity(rows.len() * width);
            rows.iter().for_each(|&row| some.extend_from_slice(&values[row as usize * width..][..width]));
            some
        }
        match self {
            Dense::Doubles(values) => Dense::Doubles(pick(values, rows, width)),
            Dense::Singles(values, standards) => {
                Dense::Singles(pick(values, rows, width), Arc::clone(standards))
            }
        }
    }

    /// What is stored, in bytes.
    pub(super) fn bytes(&self) -> Vec<u8> {
        match self {
            Dense::Doubles(values) => values.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Dense::Singles(values, _) => values.iter().flat_map(|x| x.to_le_bytes()).collect(),
        }
    }

    /// The same for other rows, of their bytes.
    pub(super) fn of_bytes(&self, bytes: &[u8]) -> Dense {
        match self {
            Dense::Doubles(_) => {
                Dense::Doubles(bytes.as_chunks().0.iter().map(|&x| f64::from_le_bytes(x)).collect())
            }
            Dense::Singles(_, standards) => {
                let values = bytes.as_chunks().0.iter().map(|&x| f32::from_le_bytes(x)).collect();
                Dense::Singles(values, Arc::clone(standards))
            }
        }
    }

    /// Bytes of a number.
    pub(super) fn size(&self) -> usize {
        match self {
            Dense::Doubles(_) => size_of::<f64>(),
            Dense::Singles(..) => size_of::<f32>(),
        }
    }
}
