//! What a pair weighs in a surrogate: 1, a product of weights, or that times the label gap.
//!
//! As in counting, a better example meets the *sum* of many worse ones. Here the sums carry the
//! coefficients of the pairs' cells, so they are plain numbers even where every pair weighs 1:
//!
//! | pairing     | an example brings | a better i with the sum of worse j               |
//! |-------------|-------------------|--------------------------------------------------|
//! | [`Equal`]   | c                 | Σ c_j                                            |
//! | [`Product`] | c w               | w_i Σ c_j w_j                                    |
//! | [`Gap`]     | (c w, c w y)      | w_i (y_i Σ c_j w_j − Σ c_j w_j y_j)              |

use std::ops::{AddAssign, Mul};

/// The part of one example in the weight of its pairs.
pub(super) trait Pairing: Copy + Send + Sync {
    /// A sum over examples, each times a coefficient.
    type Sum: Copy + Default + Send + Sync + AddAssign + Mul<f64, Output = Self::Sum>;
    /// A worse example with a sum of better ones is this times what [`Pairing::meet`] returns.
    const MIRROR: f64;
    /// Every pair weighs one.
    const EQUAL: bool = false;

    /// What the pair with a worse example weighs.
    fn pair(self, worse: Self) -> f64;
    /// What this example adds to a sum.
    fn times(self, coefficient: f64) -> Self::Sum;
    /// All pairs of this example, the better one, with the worse ones in the sum.
    fn meet(self, sum: Self::Sum) -> f64;
}

/// Every pair weighs one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Equal;

impl Pairing for Equal {
    type Sum = f64;
    const MIRROR: f64 = 1.0;
    const EQUAL: bool = true;

    #[inline(always)]
    fn pair(self, _worse: Equal) -> f64 {
        1.0
    }
    #[inline(always)]
    fn times(self, coefficient: f64) -> f64 {
        coefficient
    }
    #[inline(always)]
    fn meet(self, sum: f64) -> f64 {
        sum
    }
}

/// A pair weighs the product of its examples' factors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Product(pub f64);

impl Pairing for Product {
    type Sum = f64;
    const MIRROR: f64 = 1.0;

    #[inline(always)]
    fn pair(self, worse: Product) -> f64 {
        self.0 * worse.0
    }
    #[inline(always)]
    fn times(self, coefficient: f64) -> f64 {
        self.0 * coefficient
    }
    #[inline(always)]
    fn meet(self, sum: f64) -> f64 {
        self.0 * sum
    }
}

/// A pair weighs the product of factors times the difference of labels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap {
    pub factor: f64,
    pub label: f64,
}

/// Sums of factors, and of factors times labels.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct GapSum {
    factors: f64,
    labels: f64,
}

impl AddAssign for GapSum {
    #[inline(always)]
    fn add_assign(&mut self, other: GapSum) {
        self.factors += other.factors;
        self.labels += other.labels;
    }
}

impl Mul<f64> for GapSum {
    type Output = GapSum;
    #[inline(always)]
    fn mul(self, by: f64) -> GapSum {
        GapSum { factors: self.factors * by, labels: self.labels * by }
    }
}

impl Pairing for Gap {
    type Sum = GapSum;
    const MIRROR: f64 = -1.0;

    #[inline(always)]
    fn pair(self, worse: Gap) -> f64 {
        self.factor * worse.factor * (self.label - worse.label)
    }
    #[inline(always)]
    fn times(self, coefficient: f64) -> GapSum {
        let factors = self.factor * coefficient;
        GapSum { factors, labels: factors * self.label }
    }
    #[inline(always)]
    fn meet(self, sum: GapSum) -> f64 {
        self.factor * (self.label * sum.factors - sum.labels)
    }
}
