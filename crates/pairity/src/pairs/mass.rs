//! What one pair counts: 1, a product of example weights, or that times the label gap.
//!
//! A sweep never looks at pairs one by one. It keeps, per group, the sum of what the examples seen so far bring
//! along, and asks what all pairs of one example with that sum count together:
//!
//! | mass           | an example brings | pairs of a better i with a sum of worse j             |
//! |----------------|-------------------|-------------------------------------------------------|
//! | [`EqualMass`]  | 1                 | n                                                     |
//! | [`WeightMass`] | w                 | w_i Σ w_j                                             |
//! | [`GapMass`]    | (w, w·y)          | Σ w_i w_j (y_i − y_j) = w_i y_i Σ w_j − w_i Σ w_j y_j |
//!
//! Slopes add what examples bring times the coefficients c of cells, so that their sums are never whole numbers.

use std::ops::{AddAssign, Mul, Sub};

/// What an example brings to its pairs.
pub(crate) trait Mass: Copy + Default + Send + Sync + 'static {
    /// A sum over examples, and the worth of pairs made with it.
    type Sum: Copy + Default + Send + Sync + AddAssign + 'static;
    /// What pairs are worth: an exact count, or a weight.
    type Worth: Copy
        + Default
        + Send
        + Sync
        + AddAssign
        + Sub<Output = Self::Worth>
        + Mul<Output = Self::Worth>
        + From<u32>
        + 'static;
    /// A sum over examples, each times a coefficient.
    type Scaled: Copy + Default + Send + Sync + AddAssign + Mul<f64, Output = Self::Scaled>;
    /// Every pair counts one, so that a group is all there is to know of an example.
    const EQUAL: bool = false;
    /// A worse example with a scaled sum of better ones is this times what [`Mass::meet`] returns.
    const MIRROR: f64 = 1.0;
    /// The numbers of a scaled sum.
    const PARTS: usize = 1;

    /// The mass of an example of weight `weight` and label `label`.
    fn new(weight: f64, label: f64) -> Self;
    /// This example alone as a sum.
    fn alone(self) -> Self::Sum;
    /// All pairs of this example, the better one, with the worse ones in `sum`.
    fn above(self, sum: Self::Sum) -> Self::Worth;
    /// All pairs of this example, the worse one, with the better ones in `sum`.
    #[inline(always)]
    fn below(self, sum: Self::Sum) -> Self::Worth {
        self.above(sum)
    }
    /// The worth as a plain number.
    fn number(worth: Self::Worth) -> f64;
    /// Puts the worths as numbers of pairs, where that is what they are; returns whether it is.
    fn put_counts(_worths: &[Self::Worth], _to: &mut [u64]) -> bool {
        false
    }
    /// What so many pairs are worth that count one each.
    fn of_count(count: u64) -> Self::Worth;
    /// What the pair with a worse example weighs.
    #[inline(always)]
    fn pair(self, worse: Self) -> f64 {
        self.meet(worse.times(1.0))
    }
    /// What this example adds to a scaled sum.
    fn times(self, coefficient: f64) -> Self::Scaled;
    /// All pairs of this example, the better one, with the worse ones in a scaled sum.
    fn meet(self, sum: Self::Scaled) -> f64;
    /// What this example adds to a sum, as numbers.
    fn parts(self) -> [f64; 2];
    /// The same as [`Mass::meet`], with a sum as numbers.
    fn meet_parts(self, sum: &[f64]) -> f64;
}

/// Every pair counts one, exactly.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EqualMass;

impl Mass for EqualMass {
    type Sum = u64;
    type Worth = u64;
    type Scaled = f64;
    const EQUAL: bool = true;

    fn new(_weight: f64, _label: f64) -> Self {
        EqualMass
    }
    #[inline(always)]
    fn alone(self) -> u64 {
        1
    }
    #[inline(always)]
    fn above(self, sum: u64) -> u64 {
        sum
    }
    fn number(worth: u64) -> f64 {
        worth as f64
    }
    fn of_count(count: u64) -> u64 {
        count
    }
    fn put_counts(worths: &[u64], to: &mut [u64]) -> bool {
        to.copy_from_slice(worths);
        true
    }
    #[inline(always)]
    fn times(self, coefficient: f64) -> f64 {
        coefficient
    }
    #[inline(always)]
    fn meet(self, sum: f64) -> f64 {
        sum
    }
    #[inline(always)]
    fn parts(self) -> [f64; 2] {
        [1.0, 0.0]
    }
    #[inline(always)]
    fn meet_parts(self, sum: &[f64]) -> f64 {
        sum[0]
    }
}

/// A pair counts the product of its examples' weights.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WeightMass(f64);

impl Mass for WeightMass {
    type Sum = f64;
    type Worth = f64;
    type Scaled = f64;

    fn new(weight: f64, _label: f64) -> Self {
        WeightMass(weight)
    }
    #[inline(always)]
    fn alone(self) -> f64 {
        self.0
    }
    #[inline(always)]
    fn above(self, sum: f64) -> f64 {
        self.0 * sum
    }
    fn number(worth: f64) -> f64 {
        worth
    }
    fn of_count(count: u64) -> f64 {
        count as f64
    }
    #[inline(always)]
    fn times(self, coefficient: f64) -> f64 {
        self.0 * coefficient
    }
    #[inline(always)]
    fn meet(self, sum: f64) -> f64 {
        self.0 * sum
    }
    #[inline(always)]
    fn parts(self) -> [f64; 2] {
        [self.0, 0.0]
    }
    #[inline(always)]
    fn meet_parts(self, sum: &[f64]) -> f64 {
        self.0 * sum[0]
    }
}

/// A pair counts the product of weights times the difference of labels.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct GapMass {
    pub weight: f64,
    pub label: f64,
}

/// Sums of weights, and of weights times labels.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct GapSum {
    pub weight: f64,
    moment: f64,
}

impl GapSum {
    /// This sum without another one.
    pub(super) fn less(self, other: GapSum) -> GapSum {
        GapSum { weight: self.weight - other.weight, moment: self.moment - other.moment }
    }
}

impl AddAssign for GapSum {
    #[inline(always)]
    fn add_assign(&mut self, other: GapSum) {
        self.weight += other.weight;
        self.moment += other.moment;
    }
}

impl Mul<f64> for GapSum {
    type Output = GapSum;
    #[inline(always)]
    fn mul(self, by: f64) -> GapSum {
        GapSum { weight: self.weight * by, moment: self.moment * by }
    }
}

impl Mass for GapMass {
    type Sum = GapSum;
    type Worth = f64;
    type Scaled = GapSum;
    const MIRROR: f64 = -1.0;
    const PARTS: usize = 2;

    fn new(weight: f64, label: f64) -> Self {
        GapMass { weight, label }
    }
    #[inline(always)]
    fn alone(self) -> GapSum {
        self.times(1.0)
    }
    #[inline(always)]
    fn above(self, sum: GapSum) -> f64 {
        self.weight * self.label * sum.weight - self.weight * sum.moment
    }
    #[inline(always)]
    fn below(self, sum: GapSum) -> f64 {
        -self.above(sum)
    }
    fn number(worth: f64) -> f64 {
        worth
    }
    fn of_count(count: u64) -> f64 {
        count as f64
    }
    #[inline(always)]
    fn pair(self, worse: GapMass) -> f64 {
        self.weight * worse.weight * (self.label - worse.label)
    }
    #[inline(always)]
    fn times(self, coefficient: f64) -> GapSum {
        let weight = self.weight * coefficient;
        GapSum { weight, moment: weight * self.label }
    }
    #[inline(always)]
    fn meet(self, sum: GapSum) -> f64 {
        self.weight * (self.label * sum.weight - sum.moment)
    }
    #[inline(always)]
    fn parts(self) -> [f64; 2] {
        [self.weight, self.weight * self.label]
    }
    #[inline(always)]
    fn meet_parts(self, sum: &[f64]) -> f64 {
        self.weight * (self.label * sum[0] - sum[1])
    }
}
