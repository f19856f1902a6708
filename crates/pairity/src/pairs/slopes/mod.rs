//! Slopes of surrogates by scores, over all pairs of one query.
//!
//! Small queries look at each pair. Large ones take O(n log n) per group, and O(n log² n) with a continuous
//! attribute: where all slopes are alike and pairs weigh one, by counts in score order while labels go up and
//! down; in general, by splits at labels and merges of the halves.

mod by_attribute;
mod by_attribute_counted;
mod by_label;
mod by_label_counted;
mod coefficients;
mod every_pair;
mod merge;
mod rank_tree;
mod shape;

pub(super) use coefficients::{Coefficients, RateWeights};
pub use shape::SurrogateKind;
pub(super) use shape::{Active, Hinge, Ramp, Slope, SquaredHinge};

use super::index::QueryPairs;
use super::mass::Mass;
use super::order::position;
use coefficients::CellCoefficients;
use every_pair::every_pair;

/// One query with its scores, as the sums of slopes see it.
pub(super) struct ScoredPairs<'a, M> {
    pub query: &'a QueryPairs<'a>,
    /// Positions by ascending score, equal scores by position; none if the query is small.
    pub entries: &'a [u32],
    /// At each position, the score less that of the query's first example.
    pub scores: &'a [f64],
    pub masses: &'a [M],
    pub margin: f64,
}

impl<M: Mass> ScoredPairs<'_, M> {
    /// Scores and positions by ascending score.
    fn by_score(&self) -> impl Iterator<Item = (f64, u32)> {
        self.entries.iter().map(|&entry| (self.scores[position(entry)], position(entry) as u32))
    }

    /// Adds the slopes of all label-ordered pairs; returns the offset.
    pub(super) fn label_ordered<S: Slope>(&self, coefficients: &Coefficients, gradient: &mut [f64]) -> f64 {
        let Coefficients { accuracy, orders, joint, has_accuracy, has_orders, .. } = coefficients;
        if self.query.is_small() {
            return match has_orders {
                true => self.few::<S>(0, gradient, |i, j| self.order(i, j), joint),
                false => self.few::<S>(0, gradient, |i, j| self.cell(i, j), accuracy),
            };
        }
        let mut offset = 0.0;
        if *has_accuracy {
            offset += match M::EQUAL && by_label_counted::is_worth::<S>(self.query) {
                true => by_label_counted::add_slopes::<S, M>(self, accuracy, gradient),
                false => by_label::add_slopes::<S, M>(self, accuracy, gradient),
            };
        }
        if *has_orders {
            offset += match M::EQUAL && !S::SQUARED {
                true => by_attribute_counted::add_slopes::<S, M>(self, orders, gradient),
                false => by_attribute::add_slopes::<S, M>(self, orders, gradient),
            };
        }
        offset
    }

    /// Adds the slopes of all pairs between groups, whatever their labels; returns the offset.
    pub(super) fn unordered<S: Slope>(&self, coefficients: &Coefficients, gradient: &mut [f64]) -> f64 {
        let (n, cells) = (self.scores.len(), &coefficients.parity);
        if !self.query.is_small() {
            return by_label::add_unordered::<S, M>(self, cells, gradient);
        }
        let class = |i: usize, j: usize| self.cell(i, j);
        every_pair::<S, M>(self.scores, self.masses, |_| n, class, cells, self.margin, gradient)
    }

    /// Adds the slopes of all label-ordered pairs in a few positions from `base` on, where `gradient` starts.
    #[inline(always)]
    fn few<S: Slope>(
        &self,
        base: usize,
        gradient: &mut [f64],
        class: impl Fn(usize, usize) -> usize,
        cells: &CellCoefficients,
    ) -> f64 {
        let range = base..base + gradient.len();
        let (first, scores) = (&self.query.first[range.clone()], &self.scores[range.clone()]);
        let (worse, class) = (|i: usize| first[i] as usize - base, |i, j| class(base + i, base + j));
        every_pair::<S, M>(scores, &self.masses[range], worse, class, cells, self.margin, gradient)
    }

    /// The cell of a pair by the groups of its examples.
    #[inline(always)]
    fn cell(&self, better: usize, worse: usize) -> usize {
        let group = self.query.group;
        usize::from(group[better]) * self.query.present.len() + usize::from(group[worse])
    }

    /// The class of a pair by the order of its attributes.
    #[inline(always)]
    fn order(&self, better: usize, worse: usize) -> usize {
        coefficients::order(self.query.attribute[better], self.query.attribute[worse])
    }
}
