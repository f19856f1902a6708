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
use crate::threads::{self, WORTH};

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

/// What is asked of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Slopes and the value.
    Value,
    /// Slopes alone: the value is then no number.
    Slopes,
}

/// What an evaluation uses again.
#[derive(Default)]
struct SurrogateRoom {
    /// Those of all queries, where they are the same.
    coefficients: Coefficients,
    flat: FlatRoom,
    /// Value and squared error of each task.
    values: Vec<(f64, f64)>,
}

/// What a task uses again.
#[derive(Default)]
struct TaskRoom {
    coefficients: Coefficients,
    scores: Vec<f64>,
    slopes: Vec<f64>,
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
        let mut gradient = vec![0.0; index.examples().rows()];
        let value = self.put_at_rows(index, scores, weights, &mut gradient)?;
        Ok((value, gradient))
    }

    /// The same with the gradient in place of other numbers, as many as rows: where one evaluation follows another, none
    /// takes memory of its own.
    ///
    /// # Errors
    /// Those of [`at_rows`](Self::at_rows).
    ///
    /// # Panics
    /// If the gradient has not as many numbers as there are rows.
    pub fn put_at_rows(
        &self,
        index: &RateIndex,
        scores: &[f64],
        weights: Weights,
        gradient: &mut [f64],
    ) -> Result<SurrogateValue, SurrogateError> {
        let rates = index.rates().len();
        let mut all = weights.hold_up.iter().chain(weights.hold_down).chain([&weights.mse]);
        let usable = all.all(|weight| *weight >= 0.0 && weight.is_finite());
        if !usable || [weights.hold_up.len(), weights.hold_down.len()] != [rates; 2] {
            return Err(SurrogateError::Weights { rates });
        }
        let (examples, rooms) = (index.examples(), &index.pairs.rooms);
        let (mut arranged, mut slopes) = (rooms.list(examples.len()), rooms.list(examples.len()));
        examples.put_arranged(scores, &mut arranged)?;
        let value =
            self.evaluate(index, &index.order(&arranged), (weights, Wanted::Value), &mut slopes, None);
        examples.put_by_row(&slopes, gradient);
        Ok(value)
    }

    /// The weighted sum at scores, and its gradient, which is overwritten; in the order of the
    /// examples. Rate r weighs `hold_up[r]` on its error and `hold_down[r]` on itself; one without
    /// pairs adds nothing. At kinks the gradient is the one-sided derivative where the hinge is flat.
    /// The true rates are put in place of others, if they are asked for: in the same pass where all queries are tiny.
    pub(crate) fn evaluate(
        &self,
        index: &RateIndex,
        order: &ScoreOrder,
        (weights, wanted): (Weights, Wanted),
        gradient: &mut [f64],
        mut rates: Option<&mut Vec<f64>>,
    ) -> SurrogateValue {
        let flat = index.flat.as_ref().filter(|_| !index.pairs.kinds.mse);
        if let (Some(rates), None) = (&mut rates, flat) {
            index.fill_rates(order, rates);
        }
        let room = &mut *index.pairs.rooms.lend::<SurrogateRoom>();
        let asked = (weights, wanted);
        let value = match self.kind {
            SurrogateKind::Hinge => self.sum::<Hinge>(index, order, asked, gradient, room),
            SurrogateKind::SquaredHinge => self.sum::<SquaredHinge>(index, order, asked, gradient, room),
            SurrogateKind::Ramp => self.sum::<Ramp>(index, order, asked, gradient, room),
        };
        if let (Some(rates), Some(flat)) = (rates, flat) {
            flat.read_rates(index, &room.flat, rates);
        }
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
    ) {
        let room = &mut index.pairs.rooms.lend();
        self.sum::<Active>(index, order, (weights, Wanted::Slopes), curvature, room);
    }

    fn sum<S: Slope>(
        &self,
        index: &RateIndex,
        order: &ScoreOrder,
        (weights, wanted): (Weights, Wanted),
        gradient: &mut [f64],
        room: &mut SurrogateRoom,
    ) -> SurrogateValue {
        let (pairs, mse) = (&index.pairs, weights.mse);
        let (kind, unit) = match S::UNSIGNED {
            false => (self.kind, self.kind.unit(self.margin)),
            true => (SurrogateKind::Hinge, self.kind.curvature(self.margin)),
        };
        let chosen = pairs.examples.side.is_some();
        let rate_weights = RateWeights { rates: index.rates(), weights, kind, unit, chosen };
        let SurrogateRoom { coefficients, flat, values } = room;
        let wants_value = wanted == Wanted::Value;
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
            let room = &mut *pairs.rooms.lend::<TaskRoom>();
            let mut sums = (0.0, 0.0);
            for block in blocks {
                let query = pairs.query(block);
                let TaskRoom { coefficients: own, scores, slopes } = &mut *room;
                let coefficients = match pooled {
                    Some(all) if query.present.len() == pairs.codes.len() => all,
                    Some(all) => own.select(all, pairs.codes.len(), query.present),
                    None => {
                        let fractions = index.fractions.of_query(pairs.examples.query_of(block));
                        own.fill(rate_weights, fractions, query.present)
                    }
                };
                let gradient = &mut gradient[query.range.start - start..query.range.end - start];
                sums.0 += self.sum_query::<S>(index, &query, order, coefficients, gradient, [scores, slopes]);
                if mse != 0.0 {
                    sums.1 += index.add_squared_error::<S>(block, mse, order.scores, gradient);
                }
            }
            sums
        };
        values.clear();
        values.resize(pairs.tasks.len(), (0.0, 0.0));
        pairs.each_task(gradient, values, &sums_of_task);
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
        [scores, slopes]: [&mut Vec<f64>; 2],
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
        let entries = order.entries_of_slopes(query);
        let (scores, range, margin) = (&scores[..], query.range.clone(), self.margin);
        let mut offset = 0.0;
        if index.pairs.layout.labels && (coefficients.has_accuracy || coefficients.has_orders) {
            offset += with_masses!(&index.pairs.label_ordered, masses => {
                let masses = &masses[range.clone()];
                ScoredPairs { query, order, entries: &entries, scores, masses, margin }
                    .label_ordered::<S>(coefficients, slopes)
            });
        }
        if coefficients.has_parity {
            let by_attribute = index.pairs.kinds.continuous_parity.then(|| query.by_attribute());
            let query = by_attribute.as_ref().unwrap_or(query);
            offset += with_masses!(index.pairs.unordered(), masses => {
                let masses = &masses[range];
                ScoredPairs { query, order, entries: &entries, scores, masses, margin }
                    .unordered::<S>(coefficients, slopes)
            });
        }
        let slopes = &slopes[..];
        let (moment, ()) = threads::both(
            slopes.len() > WORTH,
            || scores.iter().zip(slopes).fold(0.0, |sum, (score, slope)| sum + score * slope),
            || query.put_by_example(slopes, gradient),
        );
        self.kind.value(offset, moment)
    }
}
