//! What the pictures of a report show and an audit does not hold: how scores spread by group and label,
//! how the gap differs from query to query, and how accuracy changes with the difference of a continuous
//! attribute. Each is a short summary, exact over all rows and pairs, in O(n log n). The bins of their histograms are
//! at round numbers, few enough to draw.

mod differences;
mod gaps;
mod scores;
#[cfg(test)]
mod tests;

pub use differences::{DifferenceBin, Differences};
pub use gaps::{QueryGaps, QueryRates};
pub use scores::{Halves, ScoreHistogram, ScoreHistograms};

use super::{Settings, values_in_order};
use crate::examples::{Examples, ExamplesError};
use crate::rates::{Average, Rate, Ties};

/// Round steps, times a power of ten.
const STEPS: [f64; 3] = [1.0, 2.0, 5.0];

/// Summaries of a scored table, beside its [`Audit`](super::Audit).
#[derive(Debug, Clone, PartialEq)]
pub struct Distributions {
    /// Scores by group and label.
    pub scores: ScoreHistograms,
    /// Gaps query by query; none without queries, labels or at least two groups to compare.
    pub gaps: Option<QueryGaps>,
    /// Accuracy by the difference of the continuous attribute; none without labels or attribute.
    pub differences: Option<Differences>,
    /// Share of the label-ordered pairs whose scores are equal, by weight; none without such pairs.
    pub tied: Option<f64>,
}

impl Distributions {
    /// Summarizes a scored table; `scores` are in the order of the rows.
    ///
    /// # Errors
    /// Scores that are not finite, or not as many as rows.
    ///
    /// ```
    /// use pairity::examples::{Columns, Examples, Groups};
    /// use pairity::metrics::{Distributions, Settings};
    ///
    /// let groups = Groups::from_names(&["a", "b", "a", "b"]);
    /// let labels = [1.0, 0.0, 0.0, 1.0];
    /// let columns = Columns { labels: Some(&labels), groups: Some(&groups), ..Columns::default() };
    /// let examples = Examples::new(columns)?;
    /// let pictures = Distributions::run(&examples, &[0.9, 0.2, 0.4, 0.4], &Settings::default())?;
    /// assert_eq!(pictures.tied, Some(0.25)); // the better 0.4 against the worse 0.4, of four pairs
    /// # Ok::<(), pairity::examples::ExamplesError>(())
    /// ```
    pub fn run(
        examples: &Examples,
        scores: &[f64],
        settings: &Settings,
    ) -> Result<Distributions, ExamplesError> {
        let scores = examples.arrange(scores)?;
        Ok(Distributions {
            scores: scores::by_group_and_label(examples, &scores),
            gaps: gaps::by_query(examples, &scores, settings),
            differences: differences::by_difference(examples, &scores, settings.ties),
            tied: tied(examples, &scores),
        })
    }
}

/// Equal scores are what half a win and no win differ by.
fn tied(examples: &Examples, scores: &[f64]) -> Option<f64> {
    if !examples.has_labels() {
        return None;
    }
    let auc = |ties| values_in_order(examples, scores, &[Rate::AUC], ties, Average::Pairs)[0];
    let share = 2.0 * (auc(Ties::Half) - auc(Ties::Strict));
    (!share.is_nan()).then_some(share)
}

/// Intervals that lie side by side: `edges[i] <= value < edges[i + 1]`, the last with its upper edge. What
/// lies beyond the edges belongs to the first or the last one.
#[derive(Debug, Clone, PartialEq)]
pub struct Bins {
    /// One more than bins, ascending.
    pub edges: Vec<f64>,
}

impl Bins {
    /// At most so many bins that cover two numbers and all between, with edges at multiples of a round
    /// number. If there is no round number so small or so large, one bin.
    ///
    /// ```
    /// use pairity::metrics::Bins;
    /// assert_eq!(Bins::round(0.02, 0.97, 5).edges, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
    /// ```
    pub fn round(low: f64, high: f64, most: usize) -> Bins {
        let most = most.max(2) as f64;
        // Differences of halves: that of the ends themselves may overflow.
        let width = (high / 2.0 - low / 2.0) / (most / 2.0);
        let start = width.log10().floor();
        let rounds = if width.is_normal() && (-290.0..=300.0).contains(&start) { 3 } else { 0 };
        let mut steps = (0..rounds).flat_map(|power| STEPS.map(|step| (step, start as i32 + power)));
        let found = steps.find_map(|(step, power)| {
            // Dividing by 10 rounds 3 · 0.1 to the number that is written 0.3.
            let tens = 10f64.powi(power.abs());
            let edge = |k: f64| if power < 0 { k * step / tens } else { k * step * tens };
            let place = |value: f64| if power < 0 { value * tens / step } else { value / tens / step };
            let (first, last) = (place(low).floor(), place(high).ceil());
            let count = (last - first <= most).then_some((last - first) as usize)?;
            Some((0..=count).map(|i| edge(first + i as f64).clamp(f64::MIN, f64::MAX)).collect())
        });
        let mut edges: Vec<f64> = found.unwrap_or_default();
        // Next to very large numbers several multiples may be one number.
        edges.dedup();
        Bins { edges: if edges.len() > 1 { edges } else { vec![low, high] } }
    }

    /// `count` bins around equally spaced middles from `low` to `high`.
    fn around(low: f64, high: f64, count: usize) -> Bins {
        // Edges as whole numbers over a whole number, so that symmetric ones are symmetric.
        let gaps = 2.0 * (count as f64 - 1.0);
        let edge = |i: usize| (low * (gaps - 2.0 * i as f64 + 1.0) + high * (2.0 * i as f64 - 1.0)) / gaps;
        Bins { edges: (0..=count).map(edge).collect() }
    }

    /// Number of bins.
    pub fn len(&self) -> usize {
        self.edges.len().saturating_sub(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bin that holds a value.
    fn place(&self, value: f64) -> usize {
        let passed = self.edges.partition_point(|&edge| edge <= value);
        passed.saturating_sub(1).min(self.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod bin_tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edges_are_round_numbers() {
        let bins = Bins::round(0.013, 0.987, 40);
        assert_eq!((bins.len(), bins.edges[0], bins.edges[6], bins.edges[20]), (20, 0.0, 0.3, 1.0));
        assert_eq!(Bins::round(-3.0, 4e3, 40).edges[..3], [-200.0, 0.0, 200.0]);
    }

    #[test]
    fn a_value_on_an_edge_belongs_to_the_bin_above_but_at_the_end() {
        let bins = Bins { edges: vec![0.0, 0.5, 1.0] };
        assert_eq!([-9.0, 0.0, 0.4, 0.5, 1.0, 9.0].map(|value| bins.place(value)), [0, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn bins_around_middles_hold_their_middles() {
        let bins = Bins::around(-1.0, 1.0, 21);
        assert_eq!((bins.len(), bins.edges[0], bins.edges[21]), (21, -1.05, 1.05));
        assert_eq!([-1.0, 0.0, 0.3, 1.0].map(|value| bins.place(value)), [0, 10, 13, 20]);
        let mirrored: Vec<f64> = bins.edges.iter().rev().map(|edge| -edge).collect();
        assert_eq!(bins.edges, mirrored);
    }

    proptest! {
        #[test]
        fn any_two_numbers_have_bins(a in any::<f64>(), b in any::<f64>(), most in 2usize..50) {
            prop_assume!(a.is_finite() && b.is_finite());
            let bins = Bins::round(a.min(b), a.max(b), most);
            prop_assert!((1..=most).contains(&bins.len()), "{}", bins.len());
            prop_assert!(bins.edges.iter().all(|edge| edge.is_finite()));
            prop_assert!(bins.edges.is_sorted());
            // The ends are inside, but for the rounding of an edge.
            let slack = 1e-9 * (bins.edges[bins.len()] / 2.0 - bins.edges[0] / 2.0).abs();
            prop_assert!(bins.edges[0] <= a.min(b) + slack && a.max(b) <= bins.edges[bins.len()] + slack);
        }

        #[test]
        fn numbers_near_each_other_have_bins(a in -1e17..1e17f64, steps in 0u64..5000, most in 2usize..50) {
            let b = f64::from_bits(a.to_bits() + steps);
            let bins = Bins::round(a.min(b), a.max(b), most);
            prop_assert!((1..=most).contains(&bins.len()) && bins.edges.is_sorted());
        }
    }
}
