//! What the pictures of a report show and an audit does not hold: how scores spread by group and label,
//! how the gap differs from query to query, and how accuracy changes with the difference of a continuous
//! attribute. Each is a short summary, exact over all rows and pairs, in O(n log n).

mod bins;
mod differences;
mod gaps;
mod scores;
#[cfg(test)]
mod tests;

pub use bins::Bins;
pub use differences::{DifferenceBin, Differences};
pub use gaps::{QueryGaps, QueryRates};
pub use scores::{Halves, ScoreHistogram, ScoreHistograms};

use super::{Settings, values_in_order};
use crate::examples::{Examples, ExamplesError};
use crate::rates::{Average, Rate, Ties};

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
