//! The pairs of a list of rates, and how much each rate weighs in one of its pairs.
//!
//! A rate is a mean over its pairs, so one of total weight D has 1 / D in a pair of weight 1; where queries count
//! alike it has 1 / (Q D_q) in each of the Q queries that have such pairs. In a batch D and Q are those of the whole
//! sample over what the pairs of a batch have to count for: then slopes of batches are on average those of the whole,
//! where a batch that counted its own pairs would make little of rates that many batches have no pairs of.

use super::flat::FlatPairs;
use super::index::{PairIndex, Sizes, with_masses};
use super::mass::Mass;
use super::order::ScoreOrder;
use super::slopes::Slope;
use super::surrogate::Weights;
use super::tally::{RateSums, Tally, TallyRoom, UnitSums};
use crate::examples::{Examples, ExamplesError};
use crate::rates::{Average, Rate, Ties};
use crate::rooms::Rooms;
use crate::threads;
use std::borrow::Cow;

/// The pairs of fixed examples and a fixed list of rates, for any number of evaluations of true rates, or of
/// surrogates with their slopes.
///
/// ```
/// use pairity::examples::{Columns, Examples};
/// use pairity::pairs::RateIndex;
/// use pairity::rates::{Average, Rate};
///
/// let examples = Examples::new(Columns { labels: Some(&[0.0, 1.0, 2.0]), ..Columns::default() })?;
/// let index = RateIndex::new(&examples, &[Rate::AUC], Average::Pairs);
/// assert_eq!(index.rates_at_rows(&[0.5, 0.4, 0.9])?, [Some(2.0 / 3.0)]);
/// # Ok::<(), pairity::examples::ExamplesError>(())
/// ```
pub struct RateIndex<'a> {
    pub(super) pairs: PairIndex<'a>,
    pub(super) average: Average,
    pub(super) ties: Ties,
    /// Whether a rate has pairs.
    estimable: Vec<bool>,
    pub(super) fractions: Fractions,
    /// The pairs of tiny queries, where all are.
    pub(super) flat: Option<FlatPairs>,
    /// That of an example of weight 1 in the mean squared error.
    errors: Fractions,
    /// What fractions are over: D or Q of each rate, and of the mean squared error.
    denominators: [Vec<f64>; 2],
}

/// A list of rates with the fraction of each in one of its pairs.
pub(super) struct Fractions {
    all: Vec<(u32, f64)>,
    /// Where those of each query end; empty if they are the same for all queries.
    ends: Vec<usize>,
}

impl Fractions {
    /// From the totals of each rate in each query, which ends at a place of the list, and what they are over.
    fn new(totals: &[(u32, f64)], ends: Vec<usize>, denominators: &[f64], by_query: bool) -> Fractions {
        if by_query {
            let fraction = |&(rate, total): &(u32, f64)| (rate, 1.0 / (denominators[rate as usize] * total));
            return Fractions { all: totals.iter().map(fraction).collect(), ends };
        }
        let fraction = |(rate, &sum): (u32, &f64)| (sum > 0.0).then(|| (rate, 1.0 / sum));
        Fractions { all: (0..).zip(denominators).filter_map(fraction).collect(), ends: Vec::new() }
    }

    /// Those in all queries, if they are the same.
    pub(super) fn pooled(&self) -> Option<&[(u32, f64)]> {
        self.ends.is_empty().then_some(&self.all[..])
    }

    /// Those in one query.
    pub(super) fn of_query(&self, query: usize) -> &[(u32, f64)] {
        let Some(&end) = self.ends.get(query) else { return &self.all };
        &self.all[if query == 0 { 0 } else { self.ends[query - 1] }..end]
    }
}

impl<'a> RateIndex<'a> {
    /// Prepares rates of examples. [`Rate::Mse`] among them counts as a rate without pairs in surrogates: there its
    /// weight is an argument of its own.
    pub fn new(examples: &'a Examples, rates: &[Rate], average: Average) -> RateIndex<'a> {
        RateIndex::sized(Cow::Borrowed(examples), rates, average, Sizes::default())
    }

    /// The same with examples of its own, so that it can be kept for as long as one likes.
    pub(crate) fn owning(examples: Examples, rates: &[Rate], average: Average) -> RateIndex<'static> {
        RateIndex::sized(Cow::Owned(examples), rates, average, Sizes::default())
    }

    pub(super) fn sized(
        examples: Cow<'a, Examples>,
        rates: &[Rate],
        average: Average,
        sizes: Sizes,
    ) -> RateIndex<'a> {
        RateIndex::over(PairIndex::build(examples, rates, sizes, Some(average)), average, None)
    }

    /// The index of a batch of these examples, whose pairs, and whose examples, count for so many in slopes; what
    /// pairs of the batch itself earn is in their [sums](Self::rate_sums).
    pub(crate) fn batch<'b>(&self, examples: &'b Examples, counts: [f64; 2]) -> RateIndex<'b> {
        // A grid that is used once is not worth its making.
        let sizes = Sizes { grid_examples: 0, ..self.pairs.sizes };
        let pairs = PairIndex::build(Cow::Borrowed(examples), self.rates(), sizes, Some(self.average));
        let over = |at: usize| self.denominators[at].iter().map(|all| all / counts[at]).collect();
        RateIndex::over(pairs, self.average, Some([over(0), over(1)])).with_ties(self.ties)
    }

    /// With fractions over given denominators, or over those of the pairs themselves.
    fn over(pairs: PairIndex<'a>, average: Average, given: Option<[Vec<f64>; 2]>) -> RateIndex<'a> {
        let (rates, by_query) = (pairs.rates(), pairs.is_by_query(average));
        let mut unit = UnitSums::new(&pairs);
        let (mut totals, mut ends) = (Vec::new(), Vec::new());
        for placements in Tally::totals(&pairs).queries() {
            unit.collect(placements, false);
            unit.touched.sort_unstable();
            let with_pairs = unit.touched.iter().filter(|&&rate| rates[rate as usize] != Rate::Mse);
            totals.extend(with_pairs.map(|&rate| (rate, unit.totals[rate as usize][0])));
            ends.push(totals.len());
        }
        let mut estimable = vec![false; rates.len()];
        totals.iter().for_each(|&(rate, _)| estimable[rate as usize] = true);
        let weight = |query| pairs.examples.query(query).fold(0.0, |sum, i| sum + pairs.examples.weight(i));
        let weights: Vec<(u32, f64)> =
            (0..pairs.examples.queries()).map(|query| (0, weight(query))).collect();
        let sums = |totals: &[(u32, f64)], rates: usize| {
            let mut sums = vec![0.0; rates];
            for &(rate, total) in totals {
                sums[rate as usize] += if by_query { 1.0 } else { total };
            }
            sums
        };
        let denominators = given.unwrap_or_else(|| [sums(&totals, rates.len()), sums(&weights, 1)]);
        let fractions = Fractions::new(&totals, ends, &denominators[0], by_query);
        let ends = (1..=weights.len()).collect();
        let errors = Fractions::new(&weights, ends, &denominators[1], by_query);
        let flat = fractions.pooled().and_then(|fractions| FlatPairs::new(&pairs, fractions));
        RateIndex { pairs, average, ties: Ties::Half, estimable, fractions, flat, errors, denominators }
    }

    /// The same where equal scores earn something else than a half in true rates.
    pub fn with_ties(self, ties: Ties) -> RateIndex<'a> {
        RateIndex { ties, ..self }
    }

    /// The rates, in the order of their weights.
    pub fn rates(&self) -> &[Rate] {
        self.pairs.rates()
    }

    /// Whether a rate of the list has pairs; one without adds nothing.
    pub fn has_pairs(&self, rate: usize) -> bool {
        self.estimable.get(rate).copied().unwrap_or(false)
    }

    /// The true rates at scores in the order of the rows; none for one without pairs.
    ///
    /// # Errors
    /// Scores that are not finite, or not as many as rows.
    pub fn rates_at_rows(&self, scores: &[f64]) -> Result<Vec<Option<f64>>, ExamplesError> {
        let mut arranged = self.pairs.rooms.list(self.examples().len());
        self.examples().put_arranged(scores, &mut arranged)?;
        let rates = self.true_rates(&self.order(&arranged));
        Ok(rates.into_iter().map(|rate| Some(rate).filter(|rate| !rate.is_nan())).collect())
    }

    /// The examples.
    pub(crate) fn examples(&self) -> &Examples {
        self.pairs.examples()
    }

    /// What evaluations use again.
    pub(crate) fn rooms(&self) -> &Rooms {
        &self.pairs.rooms
    }

    /// Sorts scores, which are in the order of the examples.
    pub(crate) fn order<'s>(&self, scores: &'s [f64]) -> ScoreOrder<'s> {
        self.pairs.order(scores)
    }

    /// The value of each rate; NaN for one without pairs. Small queries whose pairs all
    /// count alike are compared in label order, with nothing to collect by query; anything else is counted as an
    /// audit counts it.
    pub(crate) fn true_rates(&self, order: &ScoreOrder) -> Vec<f64> {
        let mut rates = Vec::new();
        self.fill_rates(order, &mut rates);
        rates
    }

    /// The same, put in place of others.
    pub(crate) fn fill_rates(&self, order: &ScoreOrder, rates: &mut Vec<f64>) {
        match &self.flat {
            // The mean squared error has no pairs.
            Some(flat) if !self.pairs.kinds.mse => flat.rates(self, order.scores, rates),
            _ => self.count_rates(order, rates),
        }
    }

    fn count_rates(&self, order: &ScoreOrder, rates: &mut Vec<f64>) {
        let examples = self.examples();
        let small = (0..examples.blocks()).all(|block| examples.block(block).len() <= self.pairs.sizes.small);
        let simple = self.rates().iter().all(|rate| matches!(rate, Rate::Accuracy { .. }));
        let mut room = self.pairs.rooms.lend::<TallyRoom>();
        match self.fractions.pooled() {
            Some(fractions) if examples.has_labels() && small && simple && examples.side.is_none() => {
                let unit = room.unit(&self.pairs);
                with_masses!(&self.pairs.label_ordered, masses => {
                    self.put_pooled_rates(order, masses, fractions, unit, rates);
                });
            }
            _ => room.put_values(&self.pairs, order, (self.ties, self.average), rates),
        }
    }

    /// What the pairs of each rate earned, and what they could have earned.
    pub(crate) fn rate_sums(&self, order: &ScoreOrder) -> RateSums {
        let by_query = self.pairs.is_by_query(self.average);
        Tally::count(&self.pairs, order, self.ties).rate_sums(&self.pairs, by_query)
    }

    fn put_pooled_rates<M: Mass>(
        &self,
        order: &ScoreOrder,
        masses: &[M],
        fractions: &[(u32, f64)],
        unit: &UnitSums,
        rates: &mut Vec<f64>,
    ) {
        let (codes, rooms) = (self.pairs.layout.codes(), &self.pairs.rooms);
        let tie = u8::from(self.ties == Ties::Half);
        // Half wins by better and worse group. The parts are added in order: the same bits for any number
        // of threads.
        let mut parts = rooms.filled(self.pairs.tasks.len() * codes * codes, 0.0);
        threads::each_chunk(&mut parts, codes * codes, &|task, halves| {
            let mut ordered = rooms.list::<f64>(self.pairs.sizes.small);
            for block in self.pairs.tasks[task].clone() {
                let query = self.pairs.query(block);
                let (own, masses) = (order.scores(&query), &masses[query.range.clone()]);
                for (to, &e) in ordered.iter_mut().zip(query.example) {
                    *to = own[e as usize];
                }
                let code = |at: usize| usize::from(query.present[usize::from(query.group[at])]);
                for (i, &worse) in query.first.iter().enumerate().filter(|(_, worse)| **worse > 0) {
                    let row = code(i) * codes;
                    for (j, &score) in ordered[..worse as usize].iter().enumerate() {
                        let won = (2 - tie) * u8::from(ordered[i] > score);
                        let half = won + tie * u8::from(ordered[i] >= score);
                        halves[row + code(j)] += f64::from(half) * masses[i].pair(masses[j]);
                    }
                }
            }
        });
        let mut sums = rooms.filled(self.rates().len(), 0.0);
        for part in parts.chunks(codes * codes) {
            for (cell, halves) in (0..).zip(part) {
                unit.rates_of(cell).iter().for_each(|&rate| sums[rate as usize] += halves);
            }
        }
        rates.clear();
        rates.resize(sums.len(), f64::NAN);
        for &(rate, fraction) in fractions {
            rates[rate as usize] = sums[rate as usize] * 0.5 * fraction;
        }
    }

    /// What ramps lack: a win's ramp is taken as 1 less that of the error, except for parity between groups, where
    /// the pair's mirror image stands for it. A win of `P[z < z']` is an error of `P[z > z']`.
    pub(super) fn constant(&self, weights: Weights) -> f64 {
        let rates = self.rates().iter().enumerate().filter(|&(r, _)| self.estimable[r]);
        let lacks = |(r, rate): (usize, &Rate)| match rate {
            Rate::Parity { .. } if self.examples().side.is_none() => 0.0,
            Rate::ParityLess => weights.hold_up[r],
            _ => weights.hold_down[r],
        };
        rates.map(lacks).sum()
    }

    /// The part of one block in the mean squared error; adds `weight` times its gradient, or times its second
    /// derivatives where curvatures are summed.
    pub(super) fn add_squared_error<S: Slope>(
        &self,
        block: usize,
        weight: f64,
        scores: &[f64],
        gradient: &mut [f64],
    ) -> f64 {
        let (examples, fraction) =
            (self.examples(), self.errors.of_query(self.examples().query_of(block)).first());
        let (Some(labels), Some(&(_, fraction))) = (&examples.labels, fraction) else { return 0.0 };
        let mut sum = 0.0;
        for (i, slope) in examples.block(block).zip(gradient) {
            let (part, error) = (fraction * examples.weight(i), scores[i] - labels[i]);
            sum += part * error * error;
            *slope += 2.0 * weight * part * if S::UNSIGNED { 1.0 } else { error };
        }
        sum
    }
}
