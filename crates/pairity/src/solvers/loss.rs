//! What is evaluated on one sample of examples: the true rates of scores, and the loss that they descend.

use super::train::TrainError;
use crate::examples::Examples;
use crate::goals::{LinearForm, Problem, ProblemError};
use crate::learners::{Architecture, Features};
use crate::model::ModelError;
use crate::pairs::{RateIndex, ScoreOrder, Surrogate, SurrogateError, SurrogateKind, Weights};
use crate::rates::{Average, Rate};
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

/// What stands for rates in the loss, and what is added to it.
#[derive(Clone, Copy)]
pub(crate) struct LossSettings<'a> {
    pub surrogate: SurrogateKind,
    pub average: Average,
    pub term: Option<&'a dyn LossTerm>,
}

/// Examples with their features, both in the order of the examples.
pub(crate) struct Sample<'a> {
    pub features: Features,
    index: RateIndex<'a>,
    surrogate: Surrogate,
    term: Option<ScoreTerm<'a>>,
}

impl<'a> Sample<'a> {
    /// Picks the features of the examples out of those of all rows, and checks that all fits.
    pub(crate) fn new(
        problem: &Problem,
        architecture: &Architecture,
        examples: &'a Examples,
        features: &Features,
        loss: LossSettings,
    ) -> Result<Sample<'a>, TrainError> {
        if features.rows() != examples.rows() {
            return Err(ModelError::Rows { features: features.rows(), rows: examples.rows() }.into());
        }
        architecture.check(features)?;
        let sample = Sample::prepared(problem, examples, features.select(&examples.row), loss)?;
        check_pairs(&sample.index)?;
        Ok(sample)
    }

    /// A mini-batch, which may lack the pairs that a term is taken over: then that adds nothing.
    pub(crate) fn batch(
        problem: &Problem,
        examples: &'a Examples,
        features: &Features,
        loss: LossSettings,
    ) -> Option<Sample<'a>> {
        let features = || features.select(&examples.row);
        let plain = LossSettings { term: None, ..loss };
        let whole = Sample::prepared(problem, examples, features(), loss);
        whole.or_else(|_| Sample::prepared(problem, examples, features(), plain)).ok()
    }

    /// Examples of their own, for scores from outside.
    pub(crate) fn of_scores(
        problem: &Problem,
        examples: Examples,
        loss: LossSettings,
        margin: f64,
    ) -> Result<Sample<'static>, TrainError> {
        let features = Features::none(examples.len());
        let index = RateIndex::owning(examples, &problem.rates, loss.average);
        check_pairs(&index)?;
        Ok(Sample { features, index, surrogate: Surrogate::new(loss.surrogate, margin)?, term: None })
    }

    fn prepared(
        problem: &Problem,
        examples: &'a Examples,
        features: Features,
        loss: LossSettings,
    ) -> Result<Sample<'a>, SurrogateError> {
        let index = RateIndex::new(examples, &problem.rates, loss.average);
        let surrogate = Surrogate::new(loss.surrogate, 1.0)?;
        let term = loss.term.map(|term| term.on(examples)).transpose()?;
        Ok(Sample { features, index, surrogate, term })
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
fn check_pairs(index: &RateIndex) -> Result<(), TrainError> {
    let labels = index.examples().has_labels();
    let has_value = |at: usize| if index.rates()[at] == Rate::Mse { labels } else { index.has_pairs(at) };
    match (0..index.rates().len()).find(|&at| !has_value(at)) {
        None => Ok(()),
        Some(rate) => {
            let rate = index.rates()[rate].name(index.examples().groups());
            Err(ProblemError::NoPairs { what: "the goal".to_owned(), rate }.into())
        }
    }
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
