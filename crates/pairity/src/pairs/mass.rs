//! What one pair counts: 1, a product of example weights, or that times the label gap.
//!
//! A sweep never looks at pairs one by one. It keeps, per group, the sum of what the examples seen so
//! far bring along, and asks what all pairs of one example with that sum count together:
//!
//! | mass       | an example brings | pairs of a better i with a sum of worse j        |
//! |------------|-------------------|--------------------------------------------------|
//! | [`Unit`]   | 1                 | n                                                |
//! | [`Weight`] | w                 | w_i Σ w_j                                        |
//! | [`Gap`]    | (w, w·y)          | Σ w_i w_j (y_i − y_j) = w_i y_i Σ w_j − w_i Σ w_j y_j |

use std::ops::{Add, AddAssign};

/// What an example brings to its pairs.
pub(crate) trait Mass: Copy + Default + Send + Sync {
    /// A sum over examples, and the worth of pairs made with it.
    type Sum: Copy + Default + Send + Sync + AddAssign + Add<Output = Self::Sum>;
    /// What pairs are worth: an exact count, or a weight.
    type Worth: Copy + Default + Send + Sync + AddAssign + PartialEq;
    /// All examples bring the same, so that a group is all there is to know of one.
    const PLAIN: bool = false;

    /// The mass of an example of weight `weight` and label `label`.
    fn new(weight: f64, label: f64) -> Self;
    /// This example alone as a sum.
    fn alone(self) -> Self::Sum;
    /// All pairs of this example, the better one, with the worse ones in `sum`.
    fn above(self, sum: Self::Sum) -> Self::Worth;
    /// All pairs of this example, the worse one, with the better ones in `sum`.
    fn below(self, sum: Self::Sum) -> Self::Worth;
    /// The worth as a plain number.
    fn number(worth: Self::Worth) -> f64;
    /// The worths as numbers of pairs, where that is what they are.
    fn counts(_worths: &[Self::Worth]) -> Option<Vec<u64>> {
        None
    }
    /// A faster split of elements than that for any mass, where there is one.
    fn split_alike<const G: usize>(
        _elements: &mut [u64],
        _scratch: &mut [u64],
        _bit: u32,
        _rows: &mut [[Self::Worth; G]],
    ) -> Option<(usize, usize)> {
        None
    }
}

/// Every pair counts one, exactly.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Unit;

impl Mass for Unit {
    type Sum = u64;
    type Worth = u64;
    const PLAIN: bool = true;

    fn new(_weight: f64, _label: f64) -> Self {
        Unit
    }
    #[inline(always)]
    fn alone(self) -> u64 {
        1
    }
    #[inline(always)]
    fn above(self, sum: u64) -> u64 {
        sum
    }
    #[inline(always)]
    fn below(self, sum: u64) -> u64 {
        sum
    }
    fn number(worth: u64) -> f64 {
        worth as f64
    }
    fn counts(worths: &[u64]) -> Option<Vec<u64>> {
        Some(worths.to_vec())
    }
    #[inline(always)]
    fn split_alike<const G: usize>(
        elements: &mut [u64],
        scratch: &mut [u64],
        bit: u32,
        rows: &mut [[u64; G]],
    ) -> Option<(usize, usize)> {
        (rows.len() <= G).then(|| super::discrete::split_alike(elements, scratch, bit, rows))
    }
}

/// A pair counts the product of its examples' weights.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Weight(f64);

impl Mass for Weight {
    type Sum = f64;
    type Worth = f64;

    fn new(weight: f64, _label: f64) -> Self {
        Weight(weight)
    }
    #[inline(always)]
    fn alone(self) -> f64 {
        self.0
    }
    #[inline(always)]
    fn above(self, sum: f64) -> f64 {
        self.0 * sum
    }
    #[inline(always)]
    fn below(self, sum: f64) -> f64 {
        self.0 * sum
    }
    fn number(worth: f64) -> f64 {
        worth
    }
}

/// A pair counts the product of weights times the difference of labels.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Gap {
    weight: f64,
    moment: f64,
}

impl Add for Gap {
    type Output = Gap;
    #[inline(always)]
    fn add(self, other: Gap) -> Gap {
        Gap { weight: self.weight + other.weight, moment: self.moment + other.moment }
    }
}

impl AddAssign for Gap {
    #[inline(always)]
    fn add_assign(&mut self, other: Gap) {
        *self = *self + other;
    }
}

impl Mass for Gap {
    type Sum = Gap;
    type Worth = f64;

    fn new(weight: f64, label: f64) -> Self {
        Gap { weight, moment: weight * label }
    }
    #[inline(always)]
    fn alone(self) -> Gap {
        self
    }
    #[inline(always)]
    fn above(self, sum: Gap) -> f64 {
        self.moment * sum.weight - self.weight * sum.moment
    }
    #[inline(always)]
    fn below(self, sum: Gap) -> f64 {
        self.weight * sum.moment - self.moment * sum.weight
    }
    fn number(worth: f64) -> f64 {
        worth
    }
}
