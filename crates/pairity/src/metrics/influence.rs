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
        let drawn =
            members.iter().map(|(scores, chances)| DrawnOrder { order: index.order(scores), chances });
        let members: Vec<DrawnOrder> = drawn.collect();
        if examples.has_queries() {
            let by_query = index.is_by_query(average);
            return QuerySums::count(index, &members, ties, by_query)
                .influence(&CellLayout::of(examples), rates);
        }
        let tally = Tally::expected(index, &members, ties);
        let sums = tally.rate_sums(index, false);
        let start = || (Units::new(index.rates().len()), UnitSums::new(index));
        let states = visit_placements(index, &members, ties, start, |(state, unit), _, placements| {
            unit.collect(placements, false);
            state.add(unit, &sums, 1.0);
        });
        let mut all = Units::new(rates.len());
        states.iter().for_each(|(state, _)| all.merge(state));
        Influence::of_units(&all, &sums, &UnitSums::new(index), tally.pairs)
    }

    /// What was summed over units, beside the rates and the numbers of pairs of cells.
    pub(super) fn of_units(all: &Units, sums: &RateSums, unit: &UnitSums, cell_pairs: Vec<u64>) -> Influence {
        let spread = |rate: usize| all.freedom_and_units(rate, sums.totals[rate]);
        let (freedom, units) = (0..sums.totals.len()).map(spread).unzip();
        Influence {
            pairs: unit.pairs(&cell_pairs),
            cell_pairs,
            values: sums.values(),
            covariance: all.covariance.clone(),
            variances: all.variances.clone(),
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

/// Sums over units for one side of the pairs of a rate.
#[derive(Clone, Copy, Default)]
struct SideSum {
    /// Number of units that have pairs.
    units: u64,
    /// Sum of squared totals.
    squares: f64,
    /// The side's part in the variance.
    variance: f64,
}

/// Sums over units.
pub(super) struct Units {
    /// Upper triangle; empty if there are too many rates.
    covariance: Vec<f64>,
    variances: Vec<f64>,
    /// By side and rate.
    sides: [Vec<SideSum>; 2],
    moves: Vec<(u32, f64)>,
}

impl Units {
    pub(super) fn new(rates: usize) -> Units {
        Units {
            covariance: vec![0.0; if rates <= MAX_COVARIANCES { rates * rates } else { 0 }],
            variances: vec![0.0; rates],
            sides: [vec![SideSum::default(); rates], vec![SideSum::default(); rates]],
            moves: Vec::new(),
        }
    }

    /// Adds a unit so many times.
    pub(super) fn add(&mut self, unit: &UnitSums, sums: &RateSums, times: f64) {
        self.moves.clear();
        for &rate in &unit.touched {
            let r = rate as usize;
            let all = sums.totals[r];
            let (credits, totals) = (unit.credits[r], unit.totals[r]);
            let rest = all - totals[0] - totals[1];
            let mut total = 0.0;
            for (side, own) in self.sides.iter_mut().enumerate() {
                if totals[side] > 0.0 {
                    let moved = (credits[side] - sums.value(r) * totals[side]) / rest;
                    // With all pairs in one unit the rest is empty; such a rate gets no interval.
                    let moved = if moved.is_finite() { moved } else { 0.0 };
                    own[r].units += times as u64;
                    own[r].squares += times * (totals[side] * totals[side]);
                    own[r].variance += times * (moved * moved);
                    total += moved;
                }
            }
            self.moves.push((rate, total));
            self.variances[r] += times * (total * total);
        }
        if self.covariance.is_empty() {
            return;
        }
        let n = self.variances.len();
        self.moves.sort_unstable_by_key(|&(rate, _)| rate);
        for (i, &(rate, moved)) in self.moves.iter().enumerate() {
            let row = &mut self.covariance[rate as usize * n..][..n];
            for &(other, also) in &self.moves[i..] {
                row[other as usize] += times * (moved * also);
            }
        }
    }

    /// Degrees of freedom of a rate's variance, and how many units of equal size its units are worth; 0 if
    /// they are too few.
    fn freedom_and_units(&self, r: usize, total: f64) -> (f64, f64) {
        let both = [self.sides[0][r], self.sides[1][r]];
        let sides = if both[1].squares == 0.0 { &both[..1] } else { &both };
        if total == 0.0 || sides.iter().any(|side| side.units < 2) {
            return (0.0, 0.0);
        }
        // D² / Σ D_u² units of equal size would have the same total and the same sum of squares.
        let size = |side: &SideSum| total.powi(2) / side.squares;
        let units = sides.iter().map(size).fold(f64::INFINITY, f64::min);
        // Satterthwaite: the two sides of pairs are two samples.
        let variance: f64 = sides.iter().map(|side| side.variance).sum();
        let parts = sides.iter().map(|side| side.variance.powi(2) / (size(side) - 1.0));
        let df = variance * variance / parts.sum::<f64>();
        (if df.is_finite() && df > 0.0 { df } else { (units - 1.0).max(0.5) }, units)
    }

    pub(super) fn merge(&mut self, other: &Units) {
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        add(&mut self.covariance, &other.covariance);
        add(&mut self.variances, &other.variances);
        for (to, from) in self.sides.iter_mut().flatten().zip(other.sides.iter().flatten()) {
            to.units += from.units;
            to.squares += from.squares;
            to.variance += from.variance;
        }
    }
}
