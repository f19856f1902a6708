//! Surrogates of rates: bounds that can be descended, with exact values and gradients over all pairs.
//!
//! A rate is piecewise constant in the scores. To hold it *up*, descend a bound of its error 1 − A from
//! above; to hold it *down*, descend a bound of A itself. With weights u_r and v_r of both, for all
//! rates r at once,
//!
//! ```text
//! F(s) = Σ_r ( u_r mean φ(−t) + v_r mean φ(t) ) + mse · mean (s − y)²,     t = (s_i − s_j) / margin
//! ```
//!
//! where a mean goes over the pairs of the rate, weighted as the rate itself is, and φ is the
//! [`SurrogateKind`]'s bound of the indicator.

use super::flat::{FlatQuestion, FlatRoom};
use super::index::{QueryPairs, with_masses};
use super::order::ScoreOrder;
use super::rate_index::RateIndex;
use super::slopes::{
    Active, Coefficients, Hinge, Ramp, RateWeights, ScoredPairs, Slope, SquaredHinge, SurrogateKind,
};
use crate::examples::ExamplesError;
use crate::threads;
use rayon::prelude::*;

/// What is wrong with a surrogate's settings.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SurrogateError {
    /// The margin is not a positive number.
    #[error("the margin is {margin}; it has to be a number above 0, such as 1")]
    Margin {
        /// The margin given.
        margin: f64,
    },
    /// Weights are negative, not numbers, or too few or many.
    #[error("weights are {rates} numbers ≥ 0, one for each rate")]
    Weights {
        /// The number of rates.
        rates: usize,
    },
    /// There are no residuals, or no membership that they could go with.
    #[error("there is no correlation between residuals and the protected attribute: {reason}")]
    NoCorrelation {
        /// What is missing.
        reason: String,
    },
    /// The scores are wrong.
    #[error(transparent)]
    Scores(#[from] ExamplesError),
}

/// How much each rate weighs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights<'a> {
    /// On the bound of each rate's error: descending it raises the rate.
    pub hold_up: &'a [f64],
    /// On the bound of each rate itself: descending it lowers the rate.
    pub hold_down: &'a [f64],
    /// On the mean squared error.
    pub mse: f64,
}

/// The value of a weighted sum of surrogates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurrogateValue {
    /// The sum, with the mean squared error in it.
    pub total: f64,
    /// The mean squared error; none without labels or weight on it.
    pub mse: Option<f64>,
}

/// Room that evaluations use again.
#[derive(Default)]
pub(crate) struct StepRoom {
    /// Whether slopes alone are wanted: values are then no numbers.
    slopes_only: bool,
    coefficients: Coefficients,
    pub(super) flat: FlatRoom,
}

impl StepRoom {
    /// For evaluations whose slopes alone are wanted: their values are no numbers.
    pub(crate) fn of_slopes() -> StepRoom {
        StepRoom { slopes_only: true, ..StepRoom::default() }
    }
}

/// A bound of rates and of their errors: its shape, and the difference of scores from which a pair counts as ordered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Surrogate {
    kind: SurrogateKind,
    margin: f64,
}

impl Surrogate {
    /// A surrogate of a shape and a margin.
    ///
    /// # Errors
    /// A margin that is not a positive number.
    ///
    /// ```
    /// use pairity::examples::{Columns, Examples};
    /// use pairity::pairs::{RateIndex, Surrogate, SurrogateKind, Weights};
    /// use pairity::rates::{Average, Rate};
    ///
    /// let examples = Examples::new(Columns { labels: Some(&[1.0, 0.0]), ..Columns::default() })?;
    /// let index = RateIndex::new(&examples, &[Rate::AUC], Average::Pairs);
    /// let surrogate = Surrogate::new(SurrogateKind::Hinge, 1.0)?;
    /// // One pair, at a distance of 0.25: the hinge of its error is 1 − 0.25.
    /// let weights = Weights { hold_up: &[1.0], hold_down: &[0.0], mse: 0.0 };
    /// let (value, gradient) = surrogate.at_rows(&index, &[0.5, 0.25], weights)?;
    /// assert_eq!((value.total, gradient), (0.75, vec![-1.0, 1.0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(kind: SurrogateKind, margin: f64) -> Result<Surrogate, SurrogateError> {
        match margin > 0.0 && margin.is_finite() {
            true => Ok(Surrogate { kind, margin }),
            false => Err(SurrogateError::Margin { margin }),
        }
    }

    /// The weighted sum at `scores`, and its gradient; both in the order of the rows, where rows of
    /// weight 0 have no slope.
    ///
    /// # Errors
    /// Scores that are not finite or not as many as rows; weights that are negative or not as many as
    /// rates.
    pub fn at_rows(
        &self,
        index: &RateIndex,
        scores: &[f64],
        weights: Weights,
    ) -> Result<(SurrogateValue, Vec<f64>), SurrogateError> {
        let rates = index.rates().len();
        let mut all = weights.hold_up.iter().chain(weights.hold_down).chain([&weights.mse]);
        let usable = all.all(|weight| *weight >= 0.0 && weight.is_finite());
        if !usable || [weights.hold_up.len(), weights.hold_down.len()] != [rates; 2] {
            return Err(SurrogateError::Weights { rates });
        }
        let scores = index.examples().arrange(scores)?;
        let mut slopes = vec![0.0; scores.len()];
        let order = index.order(&scores);
        let value = self.evaluate(index, &order, weights, &mut slopes, &mut StepRoom::default());
        Ok((value, index.examples().by_row(&slopes)))
    }

    /// The weighted sum at scores, and its gradient, which is overwritten; in the order of the
    /// examples. Rate r weighs `hold_up[r]` on its error and `hold_down[r]` on itself; one without
    /// pairs adds nothing. At kinks the gradient is the one-sided derivative where the hinge is flat.
    pub(crate) fn evaluate(
        &self,
        index: &RateIndex,
        order: &ScoreOrder,
        weights: Weights,
        gradient: &mut [f64],
        room: &mut StepRoom,
    ) -> SurrogateValue {
        match self.kind {
            SurrogateKind::Hinge => self.sum::<Hinge>(index, order, weights, gradient, room),
            SurrogateKind::SquaredHinge => self.sum::<SquaredHinge>(index, order, weights, gradient, room),
            SurrogateKind::Ramp => self.sum::<Ramp>(index, order, weights, gradient, room),
        }
    }

    /// The same with the true rates, which are put in place of others: in one pass where all queries are tiny.
    pub(crate) fn evaluate_with_rates(
        &self,
        index: &RateIndex,
        order: &ScoreOrder,
        weights: Weights,
        gradient: &mut [f64],
        room: &mut StepRoom,
        rates: &mut Vec<f64>,
    ) -> SurrogateValue {
        let Some(flat) = index.flat.as_ref().filter(|_| !index.pairs.kinds.mse) else {
            index.fill_rates(order, room, rates);
            return self.evaluate(index, order, weights, gradient, room);
        };
        let value = self.evaluate(index, order, weights, gradient, room);
        flat.read_rates(index, &room.flat, rates);
        value
    }

    /// A curvature for each example, at least 0 and overwritten: Σ weight · curvature over its
    /// active pairs, as if these were quadratic. It is the exact diagonal of second derivatives for the
    /// squared hinge; hinge and ramp, which have none, are given half of that.
    pub(crate) fn curvature(
        &self,
        index: &RateIndex,
        order: &ScoreOrder,
        weights: Weights,
        curvature: &mut [f64],
        room: &mut StepRoom,
    ) {
        self.sum::<Active>(index, order, weights, curvature, room);
    }

    fn sum<S: Slope>(
        &self,
        index: &RateIndex,
        order: &ScoreOrder,
        weights: Weights,
        gradient: &mut [f64],
        room: &mut StepRoom,
    ) -> SurrogateValue {
        let (pairs, mse) = (&index.pairs, weights.mse);
        let (kind, unit) = match S::UNSIGNED {
            false => (self.kind, self.kind.unit(self.margin)),
            true => (SurrogateKind::Hinge, self.kind.curvature(self.margin)),
        };
        let chosen = pairs.examples.side.is_some();
        let rate_weights = RateWeights { rates: index.rates(), weights, kind, unit, chosen };
        let StepRoom { slopes_only, coefficients, flat } = room;
        let wants_value = !*slopes_only;
        let pooled = index.fractions.pooled();
        let pooled = pooled.map(|fractions| coefficients.fill(rate_weights, fractions, &pairs.codes));
        if let (Some(pairs), Some(coefficients)) = (&index.flat, pooled) {
            let (scores, margin) = (order.scores, self.margin);
            let question = FlatQuestion { index, scores, coefficients, margin, mse, value: wants_value };
            let [offset, moment, error] = pairs.slopes::<S>(question, flat, gradient);
            let sum = if wants_value { self.kind.value(offset, moment) } else { f64::NAN };
            return self.value(index, weights, sum, error);
        }
        let sums_of_task = |blocks: std::ops::Range<usize>, gradient: &mut [f64]| {
            let start = pairs.examples.block(blocks.start).start;
            let mut own = Coefficients::default();
            let mut scratch = (Vec::new(), Vec::new());
            let mut sums = (0.0, 0.0);
            for block in blocks {
                let query = pairs.query(block);
                let coefficients = match pooled {
                    Some(all) if query.present.len() == pairs.codes.len() => all,
                    Some(all) => own.select(all, pairs.codes.len(), query.present),
                    None => {
                        let fractions = index.fractions.of_query(pairs.examples.query_of(block));
                        own.fill(rate_weights, fractions, query.present)
                    }
                };
                let gradient = &mut gradient[query.range.start - start..query.range.end - start];
                sums.0 += self.sum_query::<S>(index, &query, order, coefficients, gradient, &mut scratch);
                if mse != 0.0 {
                    sums.1 += index.add_squared_error::<S>(block, mse, order.scores, gradient);
                }
            }
            sums
        };
        let tasks = pairs.by_task(gradient).into_par_iter();
        let values: Vec<(f64, f64)> = tasks.map(|(blocks, own)| sums_of_task(blocks, own)).collect();
        let (sum, error) = values.iter().fold((0.0, 0.0), |sum, value| (sum.0 + value.0, sum.1 + value.1));
        self.value(index, weights, sum, error)
    }

    /// The value of all pairs and squared errors together.
    fn value(&self, index: &RateIndex, weights: Weights, sum: f64, error: f64) -> SurrogateValue {
        let (constant, mse) =
            (if self.kind == SurrogateKind::Ramp { index.constant(weights) } else { 0.0 }, weights.mse);
        SurrogateValue {
            total: sum + constant + mse * error,
            mse: (mse != 0.0 && index.pairs.layout.labels).then_some(error),
        }
    }

    /// The pairs of one query: its value; its part of the gradient is overwritten.
    fn sum_query<S: Slope>(
        &self,
        index: &RateIndex,
        query: &QueryPairs,
        order: &ScoreOrder,
        coefficients: &Coefficients,
        gradient: &mut [f64],
        (scores, slopes): &mut (Vec<f64>, Vec<f64>),
    ) -> f64 {
        // Differences alone matter; counted from one of them, scores cost no precision in sums.
        let own = order.scores(query);
        scores.resize(query.len(), 0.0);
        threads::fill(scores, &|from, part| {
            let examples = &query.example[from..];
            part.iter_mut().zip(examples).for_each(|(to, &e)| *to = own[e as usize] - own[0]);
        });
        slopes.clear();
        slopes.resize(scores.len(), 0.0);
        let entries = if query.is_small() { Default::default() } else { order.entries_by(query, |at| at) };
        let (scores, range, margin) = (&scores[..], query.range.clone(), self.margin);
        let mut offset = 0.0;
        if index.pairs.layout.labels && (coefficients.has_accuracy || coefficients.has_orders) {
            offset += with_masses!(&index.pairs.label_ordered, masses => {
                let masses = &masses[range.clone()];
                ScoredPairs { query, entries: &entries, scores, masses, margin }
                    .label_ordered::<S>(coefficients, slopes)
            });
        }
        if coefficients.has_parity {
            let by_attribute = index.pairs.kinds.continuous_parity.then(|| query.by_attribute());
            let query = by_attribute.as_ref().unwrap_or(query);
            offset += with_masses!(index.pairs.unordered(), masses => {
                let masses = &masses[range];
                ScoredPairs { query, entries: &entries, scores, masses, margin }
                    .unordered::<S>(coefficients, slopes)
            });
        }
        let places = || query.example.iter().map(|&example| example as usize);
        threads::scatter(gradient, || places().zip(slopes.iter().copied()), |to, slope| *to = slope);
        let moment = scores.iter().zip(&*slopes).fold(0.0, |sum, (score, slope)| sum + score * slope);
        self.kind.value(offset, moment)
    }
}
