//! How much every independent unit moves every rate.
//!
//! Units are queries where there are queries, of which `query_sums` are kept; examples otherwise. A rate is a ratio
//! A = N / D of what its pairs earned to what they could have earned. Leaving out unit u moves the ratio by exactly
//!
//! ```text
//! ψ_u = (N_u − A D_u) / (D − D_u)
//! ```
//!
//! where N_u and D_u are the unit's pairs, and Σ ψ_u ψ_uᵀ, the jackknife, estimates the covariance of the
//! rates. For two groups of examples with binary labels it is a little above DeLong's: as much as small groups need for
//! their intervals to hold as often as they say.

use super::Settings;
use super::measurement::Arranged;
use super::query_sums::QuerySums;
use super::unit_blocks::{UnitTotals, Units};
use crate::examples::{Examples, ExamplesError};
use crate::pairs::{CellLayout, DrawnOrder, PairIndex, RateSums, Tally, UnitSums, visit_placements};
use crate::rates::{Average, Rate, Ties};

/// Above this number of rates only variances are kept, and a difference is bounded by the sum of its
/// standard errors.
pub(super) const MAX_COVARIANCES: usize = 700;

/// Estimates of all rates with their covariance.
#[derive(Debug, Clone)]
pub(crate) struct Influence {
    /// Number of pairs of each cell.
    pub cell_pairs: Vec<u64>,
    /// Number of pairs of each rate.
    pub pairs: Vec<u64>,
    /// NaN where a rate has no pairs.
    pub values: Vec<f64>,
    /// Row by row; empty if there are too many rates.
    pub(super) covariance: Vec<f64>,
    pub variances: Vec<f64>,
    /// Degrees of freedom of each variance; 0 if it can't be estimated.
    pub freedom: Vec<f64>,
    /// How many units of equal size the rate's units are worth, on the scarcer side of its pairs.
    pub units: Vec<f64>,
}

impl Influence {
    /// Measures all rates of the list, as expected of a mixture.
    pub(super) fn measure(
        examples: &Examples,
        members: &[Arranged],
        rates: &[Rate],
        &Settings { ties, average, .. }: &Settings,
    ) -> Influence {
        let index = &PairIndex::new(examples, rates);
        let keeps = members.len() == 1 && !examples.has_queries();
        let drawn = members.iter().map(|(scores, chances)| {
            let order = index.order(scores).keeping(keeps);
            DrawnOrder { order, chances }
        });
        let members: Vec<DrawnOrder> = drawn.collect();
        if examples.has_queries() {
            let by_query = index.is_by_query(average);
            return QuerySums::count(index, &members, ties, by_query)
                .influence(&CellLayout::of(examples), rates);
        }
        Influence::of_examples(index, &members, ties)
    }

    /// The same where examples are units.
    pub(super) fn of_examples(index: &PairIndex, members: &[DrawnOrder], ties: Ties) -> Influence {
        let rates = index.rates();
        let tally = Tally::expected(index, members, ties);
        let sums = tally.rate_sums(index, false);
        let unit = UnitSums::new(index);
        let start = || Units::new(&sums, &unit, index.layout.codes());
        let mut all = UnitTotals::new(rates.len());
        all.extend(visit_placements(index, members, ties, (start, Units::add_rows, Units::finish)));
        Influence::of_units(all, &sums, &unit, tally.pairs)
    }

    /// What was summed over units, beside the rates and the numbers of pairs of cells.
    pub(super) fn of_units(
        all: UnitTotals,
        sums: &RateSums,
        unit: &UnitSums,
        cell_pairs: Vec<u64>,
    ) -> Influence {
        let all = all.without_rounding(sums);
        let spread = |rate: usize| all.freedom_and_units(rate, sums.totals[rate]);
        let (freedom, units) = (0..sums.totals.len()).map(spread).unzip();
        Influence {
            pairs: unit.pairs(&cell_pairs),
            cell_pairs,
            values: sums.values(),
            covariance: all.covariance,
            variances: all.variances,
            freedom,
            units,
        }
    }

    /// Covariance of two rates; none if there are too many to keep.
    pub(crate) fn covariance(&self, a: usize, b: usize) -> Option<f64> {
        let n = self.values.len();
        self.covariance.get(a.min(b) * n + a.max(b)).copied()
    }
}

/// The values of some rates without intervals, which cost several times as much; none where a rate has
/// no pairs. `scores` are in the order of the rows.
///
/// ```
/// use pairity::examples::{Columns, Examples};
/// use pairity::metrics::{Settings, rate_values};
/// use pairity::rates::Rate;
///
/// let examples = Examples::new(Columns { labels: Some(&[0.0, 1.0, 2.0]), ..Columns::default() })?;
/// let values = rate_values(&examples, &[0.5, 0.4, 0.9], &[Rate::AUC], &Settings::default())?;
/// assert_eq!(values, [Some(2.0 / 3.0)]);
/// # Ok::<(), pairity::examples::ExamplesError>(())
/// ```
pub fn rate_values(
    examples: &Examples,
    scores: &[f64],
    rates: &[Rate],
    settings: &Settings,
) -> Result<Vec<Option<f64>>, ExamplesError> {
    let scores = examples.arrange(scores)?;
    let values = values_in_order(examples, &scores, rates, settings.ties, settings.average);
    Ok(values.into_iter().map(|value| Some(value).filter(|value| !value.is_nan())).collect())
}

/// The same with scores in the order of the examples, and NaN for a rate without pairs.
pub(crate) fn values_in_order(
    examples: &Examples,
    scores: &[f64],
    rates: &[Rate],
    ties: Ties,
    average: Average,
) -> Vec<f64> {
    let index = PairIndex::new(examples, rates);
    Tally::count(&index, &index.order(scores), ties).values(&index, average)
}
