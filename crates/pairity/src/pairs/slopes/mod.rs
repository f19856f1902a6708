//! Slopes of surrogates by scores, over all pairs of one query.
//!
//! Small queries look at each pair. Large ones take O(n log n) per group, and O(n log² n) with a continuous
//! attribute. Where all slopes are alike and pairs weigh one, [counts] by label are enough, or with few labels
//! [splits] at labels and merges of the halves; in general there are sums by [bands] of labels. By the order of an
//! attribute or of a side column, the halves of splits are split by its ranks too.

mod bands;
mod coefficients;
mod counts;
mod merge;
mod shape;
mod splits;
mod sweeps;

pub(super) use coefficients::{Coefficients, RateWeights, order};
pub use shape::SurrogateKind;
pub(super) use shape::{Active, Hinge, Ramp, Slope, SquaredHinge, number_if};

use super::index::QueryPairs;
use super::mass::Mass;
use super::order::{ScoreOrder, position};

/// One query with its scores, as the sums of slopes see it.
pub(super) struct ScoredPairs<'a, M> {
    pub query: &'a QueryPairs<'a>,
    pub order: &'a ScoreOrder<'a>,
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
        if !self.query.side.is_empty() {
            return self.split_by_side::<S, true>(accuracy, gradient);
        }
        if self.query.is_small() {
            return match has_orders {
                true => self.few::<S, true>(0, gradient, |i, j| self.order(i, j), joint),
                false => self.few::<S, true>(0, gradient, |i, j| self.cell(i, j), accuracy),
            };
        }
        if let (Some(grid), true, true) = (self.query.grid, *has_orders, M::EQUAL && !S::SQUARED) {
            return self.sweep_grid::<S>(grid, coefficients, gradient);
        }
        let mut offset = 0.0;
        if *has_accuracy {
            offset += match (M::EQUAL && !S::SQUARED, counts::is_worth(self.query)) {
                (true, true) => self.sweep_counts::<S>(accuracy, gradient),
                (true, false) => self.split_by_label::<S>(accuracy, gradient),
                (false, _) => self.sweep_bands::<S>(accuracy, gradient),
            };
        }
        if *has_orders {
            offset += match M::EQUAL && !S::SQUARED {
                true => self.count_by_attribute::<S>(orders, gradient),
                false => self.split_by_attribute::<S>(orders, gradient),
            };
        }
        offset
    }

    /// Adds the slopes of all pairs between groups, whatever their labels; returns the offset.
    pub(super) fn unordered<S: Slope>(&self, coefficients: &Coefficients, gradient: &mut [f64]) -> f64 {
        if !self.query.side.is_empty() {
            return self.split_by_side::<S, false>(&coefficients.parity, gradient);
        }
        match self.query.is_small() {
            true => self.few::<S, false>(0, gradient, |i, j| self.cell(i, j), &coefficients.parity),
            false => self.merge_unordered::<S>(&coefficients.parity, gradient),
        }
    }

    /// Adds the slopes of all pairs in a few positions from `base` on, where `gradient` starts, whose coefficients
    /// stand at the `class` of both positions: of the label-ordered pairs, or of each position with every one.
    /// Returns the offset.
    #[inline(always)]
    fn few<S: Slope, const ORDERED: bool>(
        &self,
        base: usize,
        gradient: &mut [f64],
        class: impl Fn(usize, usize) -> usize,
        cells: &[[f64; 2]],
    ) -> f64 {
        let n = gradient.len();
        // Examples of one label, which may be many, have no pairs.
        if ORDERED && self.query.first[base..base + n].last().is_none_or(|&first| first as usize <= base) {
            return 0.0;
        }
        let (scores, masses) = (&self.scores[base..base + n], &self.masses[base..base + n]);
        let mut offset = 0.0;
        for (i, &score) in scores.iter().enumerate() {
            let partners = if ORDERED { self.query.first[base + i] as usize - base } else { n };
            let (mut falls, mut rises) = (0.0, 0.0);
            for j in 0..partners.min(n) {
                let (cell, mass) = (cells[class(base + i, base + j)], masses[i].pair(masses[j]));
                let [fall, rise] = S::both(self.margin, score - scores[j], cell, mass);
                gradient[j] += S::added(fall, rise);
                falls += fall;
                rises += rise;
            }
            gradient[i] += S::added(rises, falls);
            offset += rises + falls;
        }
        self.margin * offset
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
