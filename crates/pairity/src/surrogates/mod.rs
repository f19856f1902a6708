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
//! [`Kind`]'s bound of the indicator. Small queries look at each pair. Large ones take O(n log n) per group, and
//! O(n log² n) with a continuous attribute: where all slopes are alike and pairs weigh one, by counts in score
//! order while labels go up and down; in general, by splits at labels and merges of the halves.

mod climb;
mod columns;
mod correlation;
mod counts;
mod every_pair;
mod kind;
mod merge;
mod nested;
mod nested_climb;
mod pairing;
mod scales;
mod sweep;
mod table;
#[cfg(test)]
mod tests;
mod truth;
#[cfg(test)]
mod truth_tests;

pub use correlation::{Correlation, Membership};
pub use kind::Kind;

use crate::examples::{Examples, ExamplesError, SMALL};
use crate::rates::{Average, Rate};
use columns::{Columns, Masses, Query};
use every_pair::{Block, every_pair};
use kind::{Active, Hinge, Ramp, Slope, SquaredHinge};
use pairing::Pairing;
use rayon::prelude::*;
use scales::Scales;
use std::borrow::Cow;
use std::ops::Range;
use table::{Coefficients, Holds};

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

/// What is summed over all pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Slopes,
    Curvature,
}

/// Room for a small query, which every one uses again.
struct Space {
    scores: [f64; SMALL],
    slopes: [f64; SMALL],
}

/// What surrogates of a fixed list of rates need to know about the examples.
pub struct Surrogate<'a> {
    examples: Cow<'a, Examples>,
    rates: Vec<Rate>,
    kind: Kind,
    margin: f64,
    columns: Columns,
    scales: Scales,
    /// Consecutive queries that are one task; they depend on the examples alone.
    tasks: Vec<Range<usize>>,
}

impl<'a> Surrogate<'a> {
    /// Prepares surrogates of `rates`, for any number of evaluations. [`Rate::Mse`] among them counts as
    /// a rate without pairs: its weight is an argument of its own.
    ///
    /// # Errors
    /// A margin that is not a positive number.
    ///
    /// ```
    /// use pairity::examples::{Columns, Examples};
    /// use pairity::rates::{Average, Rate};
    /// use pairity::surrogates::{Kind, Surrogate, Weights};
    ///
    /// let examples = Examples::new(Columns { labels: Some(&[1.0, 0.0]), ..Columns::default() })?;
    /// let surrogate = Surrogate::new(&examples, &[Rate::AUC], Average::Pairs, Kind::Hinge, 1.0)?;
    /// // One pair, at a distance of 0.25: the hinge of its error is 1 − 0.25.
    /// let weights = Weights { hold_up: &[1.0], hold_down: &[0.0], mse: 0.0 };
    /// let (value, gradient) = surrogate.at_rows(&[0.5, 0.25], weights)?;
    /// assert_eq!((value.total, gradient), (0.75, vec![-1.0, 1.0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        examples: &'a Examples,
        rates: &[Rate],
        average: Average,
        kind: Kind,
        margin: f64,
    ) -> Result<Surrogate<'a>, SurrogateError> {
        Surrogate::of(Cow::Borrowed(examples), rates, average, kind, margin)
    }

    /// The same with examples that may be its own, so that it can be kept for as long as one likes.
    pub(crate) fn of(
        examples: Cow<'a, Examples>,
        rates: &[Rate],
        average: Average,
        kind: Kind,
        margin: f64,
    ) -> Result<Surrogate<'a>, SurrogateError> {
        if !(margin > 0.0 && margin.is_finite()) {
            return Err(SurrogateError::Margin { margin });
        }
        Ok(Surrogate {
            rates: rates.to_vec(),
            kind,
            margin,
            columns: Columns::new(&examples, average == Average::Pairs),
            scales: Scales::new(&examples, rates, average),
            tasks: examples.tasks(),
            examples,
        })
    }

    /// The rates, in the order of the weights.
    pub fn rates(&self) -> &[Rate] {
        &self.rates
    }

    /// Whether a rate of the list has pairs; one without adds nothing.
    pub fn has_pairs(&self, rate: usize) -> bool {
        self.scales.has_pairs(rate)
    }

    /// The weighted sum at `scores`, and its gradient; both in the order of the rows, where rows of
    /// weight 0 have no slope.
    ///
    /// # Errors
    /// Scores that are not finite or not as many as rows; weights that are negative or not as many as
    /// rates.
    pub fn at_rows(
        &self,
        scores: &[f64],
        weights: Weights,
    ) -> Result<(SurrogateValue, Vec<f64>), SurrogateError> {
        let given = [weights.hold_up, weights.hold_down].map(<[f64]>::len);
        if given.iter().any(|&given| given != self.rates.len()) {
            return Err(SurrogateError::Weights { rates: self.rates.len() });
        }
        let mut all = weights.hold_up.iter().chain(weights.hold_down).chain([&weights.mse]);
        if !all.all(|weight| *weight >= 0.0 && weight.is_finite()) {
            return Err(SurrogateError::Weights { rates: self.rates.len() });
        }
        let scores = self.examples.arrange(scores)?;
        let mut slopes = vec![0.0; scores.len()];
        let value = self.evaluate(&scores, weights.hold_up, weights.hold_down, weights.mse, &mut slopes);
        let mut gradient = vec![0.0; self.examples.rows()];
        for (&row, &slope) in self.examples.row.iter().zip(&slopes) {
            gradient[row as usize] = slope;
        }
        Ok((value, gradient))
    }

    /// The examples.
    pub(crate) fn examples(&self) -> &Examples {
        &self.examples
    }

    /// A curvature for each example at `scores`, at least 0 and overwritten: Σ weight · curvature over its
    /// active pairs, as if these were quadratic. It is the exact diagonal of second derivatives for the
    /// squared hinge; hinge and ramp, which have none, are given half of that.
    pub(crate) fn curvature(
        &self,
        scores: &[f64],
        hold_up: &[f64],
        hold_down: &[f64],
        mse: f64,
        curvature: &mut [f64],
    ) {
        self.sum(Wanted::Curvature, scores, hold_up, hold_down, mse, curvature);
    }

    /// The weighted sum at `scores`, and its gradient, which is overwritten; both in the order of the
    /// examples. Rate r weighs `hold_up[r]` on its error and `hold_down[r]` on itself; one without
    /// pairs adds nothing. At kinks the gradient is the one-sided derivative where the hinge is flat.
    pub(crate) fn evaluate(
        &self,
        scores: &[f64],
        hold_up: &[f64],
        hold_down: &[f64],
        mse: f64,
        gradient: &mut [f64],
    ) -> SurrogateValue {
        self.sum(Wanted::Slopes, scores, hold_up, hold_down, mse, gradient)
    }

    fn sum(
        &self,
        wanted: Wanted,
        scores: &[f64],
        hold_up: &[f64],
        hold_down: &[f64],
        mse: f64,
        gradient: &mut [f64],
    ) -> SurrogateValue {
        let (kind, unit) = match wanted {
            Wanted::Slopes => (self.kind, self.kind.unit(self.margin)),
            Wanted::Curvature => (Kind::Hinge, self.kind.curvature(self.margin)),
        };
        let holds = Holds { rates: &self.rates, up: hold_up, down: hold_down, kind, unit };
        let continuous = self.examples.is_continuous();
        let pooled = self.scales.pooled().map(|shares| {
            let mut all = Coefficients::default();
            all.fill(holds, shares, &self.columns.all_present, continuous);
            all
        });
        let mut parts = Vec::with_capacity(self.tasks.len());
        let mut rest = gradient;
        for task in &self.tasks {
            let rows: usize = task.clone().map(|query| self.examples.query(query).len()).sum();
            let (own, others) = rest.split_at_mut(rows);
            parts.push((task.clone(), own));
            rest = others;
        }
        let values: Vec<(f64, f64)> = parts
            .into_par_iter()
            .map(|(queries, gradient)| {
                let start = self.examples.query(queries.start).start;
                let mut own = Coefficients::default();
                let mut space = Space { scores: [0.0; SMALL], slopes: [0.0; SMALL] };
                let mut sums = (0.0, 0.0);
                for query in queries {
                    let columns = self.columns.query(query);
                    let coefficients = match &pooled {
                        Some(all) if columns.present.len() == self.columns.all_present.len() => all,
                        Some(all) => {
                            let codes = &self.columns.all_present;
                            let lane = |code: &u16| codes.partition_point(|other| other < code);
                            own.select(all, codes.len(), columns.present.iter().map(lane));
                            &own
                        }
                        None => {
                            own.fill(holds, self.scales.of_query(query), columns.present, continuous);
                            &own
                        }
                    };
                    let range = columns.range.start - start..columns.range.end - start;
                    let gradient = &mut gradient[range];
                    sums.0 += self.pairs(wanted, &columns, coefficients, scores, gradient, &mut space);
                    let examples = &self.examples;
                    match wanted {
                        _ if mse == 0.0 => {}
                        Wanted::Slopes => {
                            sums.1 += self.scales.add_squared_error(examples, query, mse, scores, gradient);
                        }
                        Wanted::Curvature => {
                            self.scales.add_error_curvature(examples, query, mse, gradient);
                        }
                    }
                }
                sums
            })
            .collect();
        let (pairs, error) = values.iter().fold((0.0, 0.0), |sum, value| (sum.0 + value.0, sum.1 + value.1));
        let constant =
            if self.kind == Kind::Ramp { self.scales.constant(&self.rates, hold_down) } else { 0.0 };
        SurrogateValue {
            total: pairs + constant + mse * error,
            mse: (mse != 0.0 && self.examples.has_labels()).then_some(error),
        }
    }

    #[cfg(test)]
    /// The surrogates of each rate: of its error and of itself; none for a rate without pairs. Costs
    /// two evaluations a rate.
    pub(crate) fn each(&self, scores: &[f64]) -> Vec<Option<(f64, f64)>> {
        let mut gradient = vec![0.0; scores.len()];
        let none = vec![0.0; self.rates.len()];
        let mut only = none.clone();
        (0..self.rates.len())
            .map(|rate| {
                self.scales.has_pairs(rate).then(|| {
                    only[rate] = 1.0;
                    let up = self.evaluate(scores, &only, &none, 0.0, &mut gradient).total;
                    let down = self.evaluate(scores, &none, &only, 0.0, &mut gradient).total;
                    only[rate] = 0.0;
                    (up, down)
                })
            })
            .collect()
    }

    /// The pairs of one query: its value; its part of the gradient is overwritten.
    fn pairs(
        &self,
        wanted: Wanted,
        query: &Query,
        coefficients: &Coefficients,
        scores: &[f64],
        gradient: &mut [f64],
        space: &mut Space,
    ) -> f64 {
        let n = query.range.len();
        // Differences alone matter; counted from one of them, scores cost no precision in sums.
        let scores = &scores[query.range.clone()];
        let origin = scores[0];
        let gather = |to: &mut [f64]| {
            to.iter_mut().zip(query.example).for_each(|(to, &e)| *to = scores[e as usize] - origin);
        };
        let mut finish = |scores: &[f64], slopes: &[f64], offset: f64| {
            let mut moment = 0.0;
            for ((&score, &slope), &example) in scores.iter().zip(slopes).zip(query.example) {
                gradient[example as usize] = slope;
                moment += score * slope;
            }
            self.kind.value(offset, moment)
        };
        if n <= SMALL {
            let (ordered, slopes) = (&mut space.scores[..n], &mut space.slopes[..n]);
            gather(ordered);
            slopes.fill(0.0);
            let offset = self.offset(wanted, query, coefficients, ordered, slopes);
            finish(ordered, slopes, offset)
        } else {
            let (mut ordered, mut slopes) = (vec![0.0; n], vec![0.0; n]);
            gather(&mut ordered);
            let offset = self.offset(wanted, query, coefficients, &ordered, &mut slopes);
            finish(&ordered, &slopes, offset)
        }
    }

    /// Adds all slopes of one query, with scores and slopes in label order; returns the offset.
    fn offset(
        &self,
        wanted: Wanted,
        query: &Query,
        coefficients: &Coefficients,
        scores: &[f64],
        slopes: &mut [f64],
    ) -> f64 {
        match self.kind {
            _ if wanted == Wanted::Curvature => self.offset_of::<Active>(query, coefficients, scores, slopes),
            Kind::Hinge => self.offset_of::<Hinge>(query, coefficients, scores, slopes),
            Kind::SquaredHinge => self.offset_of::<SquaredHinge>(query, coefficients, scores, slopes),
            Kind::Ramp => self.offset_of::<Ramp>(query, coefficients, scores, slopes),
        }
    }

    fn offset_of<S: Slope>(
        &self,
        query: &Query,
        coefficients: &Coefficients,
        scores: &[f64],
        slopes: &mut [f64],
    ) -> f64 {
        let range = query.range.clone();
        let mut offset = 0.0;
        if self.examples.has_labels() && (coefficients.has_accuracy || coefficients.has_orders) {
            offset += match &self.columns.label_ordered {
                Masses::Equal(all) => {
                    self.ordered::<S, _>(query, &all[range.clone()], coefficients, scores, slopes)
                }
                Masses::Product(all) => {
                    self.ordered::<S, _>(query, &all[range.clone()], coefficients, scores, slopes)
                }
                Masses::Gap(all) => {
                    self.ordered::<S, _>(query, &all[range.clone()], coefficients, scores, slopes)
                }
            };
        }
        if coefficients.has_parity {
            offset += match &self.columns.unordered {
                Masses::Equal(all) => {
                    self.unordered::<S, _>(query, &all[range], coefficients, scores, slopes)
                }
                Masses::Product(all) => {
                    self.unordered::<S, _>(query, &all[range], coefficients, scores, slopes)
                }
                Masses::Gap(all) => self.unordered::<S, _>(query, &all[range], coefficients, scores, slopes),
            };
        }
        offset
    }

    fn ordered<S: Slope, P: Pairing>(
        &self,
        query: &Query,
        masses: &[P],
        coefficients: &Coefficients,
        scores: &[f64],
        slopes: &mut [f64],
    ) -> f64 {
        let (lane, rank) = (query.lane, query.rank);
        if scores.len() > SMALL {
            let mut offset = 0.0;
            let accuracy = &coefficients.accuracy;
            if coefficients.has_accuracy && P::EQUAL && climb::is_worth::<S>(query) {
                offset += climb::climb::<S>(query, scores, accuracy, self.margin, slopes);
            } else if coefficients.has_accuracy {
                offset += sweep::sweep::<S, P>(query, scores, masses, accuracy, self.margin, slopes);
            }
            let orders = &coefficients.orders;
            if coefficients.has_orders && P::EQUAL && !S::SQUARED {
                offset += nested_climb::nested_climb::<S>(query, scores, orders, self.margin, slopes);
            } else if coefficients.has_orders {
                offset += nested::nested::<S, P>(query, scores, masses, orders, self.margin, slopes);
            }
            return offset;
        }
        let block = Block { scores, masses };
        let worse = |i: usize| query.run[i] as usize;
        if coefficients.has_orders {
            let class = |i: usize, j: usize| nested::order(rank[i], rank[j]);
            return every_pair::<S, P>(block, worse, class, &coefficients.joint, self.margin, slopes);
        }
        let k = query.present.len();
        let class = |i: usize, j: usize| usize::from(lane[i]) * k + usize::from(lane[j]);
        every_pair::<S, P>(block, worse, class, &coefficients.accuracy, self.margin, slopes)
    }

    fn unordered<S: Slope, P: Pairing>(
        &self,
        query: &Query,
        masses: &[P],
        coefficients: &Coefficients,
        scores: &[f64],
        slopes: &mut [f64],
    ) -> f64 {
        let table = &coefficients.parity;
        if scores.len() > SMALL {
            return sweep::unordered::<S, P>(query, scores, masses, table, self.margin, slopes);
        }
        let (n, k, lane) = (scores.len(), query.present.len(), query.lane);
        let class = |i: usize, j: usize| usize::from(lane[i]) * k + usize::from(lane[j]);
        every_pair::<S, P>(Block { scores, masses }, |_| n, class, table, self.margin, slopes)
    }
}
