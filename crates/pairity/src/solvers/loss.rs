//! What is evaluated on one sample of examples: the true rates of scores, and the loss that they descend. A sample
//! may be a mini-batch.

use super::score_player::ScoreSettings;
use super::solver::Training;
use super::train::TrainError;
use crate::examples::{Examples, shuffled};
use crate::goals::{LinearForm, Problem, ProblemError};
use crate::learners::Features;
use crate::model::ModelError;
use crate::pairs::{RateIndex, ScoreOrder, Surrogate, SurrogateError, Weights};
use crate::rates::Rate;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::fmt::Debug;

/// A term on given examples: its value at scores, and its gradient, which is overwritten.
pub type ScoreTerm<'a> = Box<dyn Fn(&[f64], &mut [f64]) -> f64 + Send + Sync + 'a>;

/// A term that a method adds to the loss of the scorer.
pub trait LossTerm: Debug + Sync {
    /// Checks its settings.
    ///
    /// # Errors
    /// A setting that is out of its range.
    fn check(&self) -> Result<(), TrainError>;

    /// The term on some examples, prepared for any number of evaluations.
    ///
    /// # Errors
    /// Examples that it can't be taken over.
    fn on<'a>(&self, examples: &'a Examples) -> Result<ScoreTerm<'a>, SurrogateError>;
}

/// Examples with their features, both in the order of the examples.
pub(crate) struct Sample<'a> {
    pub features: Features,
    index: RateIndex<'a>,
    surrogate: Surrogate,
    term: Option<ScoreTerm<'a>>,
}

impl<'a> Sample<'a> {
    /// Picks the features of the examples, which are a part, out of those of all rows, and checks that all fits.
    pub(crate) fn new(
        training: &Training,
        examples: &'a Examples,
        part: &'static str,
    ) -> Result<Sample<'a>, TrainError> {
        let Training { architecture, features, .. } = *training;
        if features.rows() != examples.rows() {
            return Err(ModelError::Rows { features: features.rows(), rows: examples.rows() }.into());
        }
        architecture.check(features)?;
        let sample = Sample::prepared(training, examples)?;
        check_pairs(&sample.index, part)?;
        Ok(sample)
    }

    /// A mini-batch, which may lack the pairs that a term is taken over: then that adds nothing.
    pub(crate) fn batch(training: &Training, examples: &'a Examples) -> Option<Sample<'a>> {
        let plain = Training { term: None, ..*training };
        Sample::prepared(training, examples).or_else(|_| Sample::prepared(&plain, examples)).ok()
    }

    fn prepared(training: &Training, examples: &'a Examples) -> Result<Sample<'a>, SurrogateError> {
        let Training { problem, features, settings, term, .. } = *training;
        Ok(Sample {
            features: features.select(&examples.row),
            index: RateIndex::new(examples, &problem.rates, settings.average).with_ties(settings.ties),
            surrogate: Surrogate::new(settings.surrogate, 1.0)?,
            term: term.map(|term| term.on(examples)).transpose()?,
        })
    }

    /// Examples of their own, for scores from outside.
    pub(crate) fn of_scores(
        problem: &Problem,
        examples: Examples,
        settings: &ScoreSettings,
    ) -> Result<Sample<'static>, TrainError> {
        let features = Features::none(examples.len());
        let index = RateIndex::owning(examples, &problem.rates, settings.average);
        check_pairs(&index, "the examples")?;
        let surrogate = Surrogate::new(settings.surrogate, settings.margin)?;
        Ok(Sample { features, index, surrogate, term: None })
    }

    pub(crate) fn examples(&self) -> &Examples {
        self.index.examples()
    }

    /// The order of scores, which everything below is evaluated on.
    pub(crate) fn order<'s>(&self, scores: &'s [f64]) -> ScoreOrder<'s> {
        self.index.order(scores)
    }

    /// The rates of scores, in the order of the problem's.
    pub(crate) fn true_rates(&self, order: &ScoreOrder) -> Vec<f64> {
        self.index.true_rates(order)
    }

    /// The weighted sum of surrogates with the term, and its slope by each score, which is overwritten; so
    /// is `room`.
    pub(crate) fn loss(
        &self,
        order: &ScoreOrder,
        weights: &SurrogateWeights,
        slopes: &mut [f64],
        room: &mut Vec<f64>,
    ) -> f64 {
        let value = self.surrogate.evaluate(&self.index, order, weights.given(), slopes).total;
        let Some(term) = &self.term else { return value };
        room.resize(slopes.len(), 0.0);
        let added = term(order.scores, room);
        slopes.iter_mut().zip(room).for_each(|(slope, own)| *slope += *own);
        value + added
    }

    /// A curvature of the weighted sum of surrogates by each score, at least 0 and overwritten.
    pub(crate) fn curvature(&self, order: &ScoreOrder, weights: &SurrogateWeights, curvature: &mut [f64]) {
        self.surrogate.curvature(&self.index, order, weights.given(), curvature);
    }
}

/// Every rate of the problem needs pairs, in training and in selection.
fn check_pairs(index: &RateIndex, part: &'static str) -> Result<(), TrainError> {
    let labels = index.examples().has_labels();
    let has_value = |at: usize| if index.rates()[at] == Rate::Mse { labels } else { index.has_pairs(at) };
    let Some(rate) = (0..index.rates().len()).find(|&at| !has_value(at)) else { return Ok(()) };
    let rate = index.rates()[rate].name(index.examples().groups());
    Err(ProblemError::NoPairs { rate, part }.into())
}

/// Weights of the surrogates: of the error of each rate, of the rate itself, and of the squared error.
///
/// The proxy of a linear form Σ c_r A_r bounds each term by itself: a rate with c > 0 by its surrogate from
/// above, one with c < 0 by the surrogate of its error, as c A = |c| (1 − A) − |c|.
#[derive(Default)]
pub(crate) struct SurrogateWeights {
    up: Vec<f64>,
    down: Vec<f64>,
    mse: f64,
}

impl SurrogateWeights {
    fn given(&self) -> Weights<'_> {
        Weights { hold_up: &self.up, hold_down: &self.down, mse: self.mse }
    }

    /// Sets them to those of some weighted forms.
    pub(crate) fn set<'f>(&mut self, problem: &Problem, forms: impl Iterator<Item = (&'f LinearForm, f64)>) {
        for weights in [&mut self.up, &mut self.down] {
            weights.clear();
            weights.resize(problem.rates.len(), 0.0);
        }
        self.mse = 0.0;
        for (form, weight) in forms {
            for &(rate, factor) in &form.terms {
                match problem.rates.binary_search(&rate) {
                    _ if rate == Rate::Mse => self.mse += weight * factor,
                    Ok(at) if factor > 0.0 => self.down[at] += weight * factor,
                    Ok(at) => self.up[at] -= weight * factor,
                    Err(_) => {}
                }
            }
        }
    }
}

/// Mini-batches: queries, or rows without queries, in an order that is drawn anew when all were used.
///
/// The order follows from the seed and the number of the round alone, so that a run which is resumed
/// sees the same batches as one that was never interrupted.
pub(crate) struct Batches {
    size: usize,
    units: usize,
    seed: u64,
    round: Option<(usize, Vec<u32>)>,
}

impl Batches {
    /// None if one batch holds everything.
    pub(crate) fn new(examples: &Examples, size: Option<usize>, seed: u64) -> Option<Batches> {
        let units = examples.units();
        let size = size.filter(|&size| size < units)?.max(1);
        Some(Batches { size, units, seed, round: None })
    }

    /// The units of an iteration, counted from 0.
    pub(crate) fn units(&mut self, iteration: usize) -> &[u32] {
        let a_round = self.units.div_ceil(self.size);
        let (round, place) = (iteration / a_round, iteration % a_round);
        if self.round.as_ref().is_none_or(|(current, _)| *current != round) {
            let mut random = ChaCha8Rng::seed_from_u64(self.seed);
            random.set_stream(round as u64 + 1);
            self.round = Some((round, shuffled(self.units, &mut random)));
        }
        let order = self.round.as_ref().map_or(&[][..], |(_, order)| order);
        &order[place * self.size..((place + 1) * self.size).min(self.units)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::Columns;

    #[test]
    fn a_round_of_batches_holds_every_unit_once_and_rounds_differ() {
        let labels: Vec<f64> = (0..10).map(f64::from).collect();
        let examples = Examples::new(Columns { labels: Some(&labels), ..Columns::default() }).unwrap();
        let mut batches = Batches::new(&examples, Some(4), 7).unwrap();
        let mut round = |first: usize| -> Vec<u32> {
            (first..first + 3).flat_map(|iteration| batches.units(iteration).to_vec()).collect()
        };
        let (first, second, again) = (round(0), round(3), round(0));
        assert_eq!(first, again);
        assert_ne!(first, second);
        for mut order in [first, second] {
            order.sort_unstable();
            assert_eq!(order, (0..10).collect::<Vec<_>>());
        }
        assert!(Batches::new(&examples, Some(10), 7).is_none());
        assert!(Batches::new(&examples, None, 7).is_none());
    }
}
