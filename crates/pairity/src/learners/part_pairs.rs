//! Pairs inside parts of the rows, counted by whoever holds their features: then no score has to travel.
//!
//! A rate over the pairs of all parts is Σ earned / Σ total. A part tells its totals once; from then on the weight of a rate
//! in it is the rate's weight times its share of the total, so that losses, and gradients, of parts are added.

use super::{Architecture, Features, Trace};
use crate::examples::Examples;
use crate::pairs::{RateIndex, Surrogate, SurrogateError, SurrogateKind, Wanted, Weights};
use crate::rates::{Average, Rate, Ties};
use serde::{Deserialize, Serialize};

/// What is asked of pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairTask {
    /// The rates, in the order of all lists.
    pub rates: Vec<Rate>,
    /// What equal scores earn.
    pub ties: Ties,
    /// What is descended in place of rates.
    pub surrogate: SurrogateKind,
}

/// What a scorer comes to on the pairs of a part; not numbers where its scores are none.
#[derive(Debug, Clone, PartialEq)]
pub struct PartLoss {
    /// The gradient of the weighted surrogates by the parameters.
    pub gradient: Vec<f64>,
    /// What the pairs of each rate earn.
    pub earned: Vec<f64>,
}

/// The weights of rates in a part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartWeights {
    /// On the error of each rate.
    pub hold_up: Vec<f64>,
    /// On each rate.
    pub hold_down: Vec<f64>,
    /// On the mean squared error.
    pub mse: f64,
}

/// Some parts of the rows.
pub trait PartSource: Send + Sync {
    /// What the pairs of each rate could earn, by part.
    ///
    /// # Errors
    /// What went wrong.
    fn totals(&self) -> Result<Vec<Vec<f64>>, String>;

    /// What a scorer comes to, by part.
    ///
    /// # Errors
    /// What went wrong.
    fn losses(
        &self,
        scorer: &Architecture,
        parameters: &[f64],
        weights: &[PartWeights],
    ) -> Result<Vec<PartLoss>, String>;
}

/// The rows of a part, with their features and what is asked of their pairs.
pub struct PartPairs {
    features: Features,
    index: RateIndex<'static>,
    surrogate: Surrogate,
}

impl PartPairs {
    /// Of examples and the features of the rows that they number.
    ///
    /// # Errors
    /// Never, with the margin that training has.
    pub fn new(
        examples: Examples,
        features: &Features,
        task: &PairTask,
    ) -> Result<PartPairs, SurrogateError> {
        Ok(PartPairs {
            features: features.select(examples.example_rows()),
            index: RateIndex::owning(examples, &task.rates, Average::Pairs).with_ties(task.ties),
            surrogate: Surrogate::new(task.surrogate, 1.0)?,
        })
    }

    /// What the pairs of each rate could earn.
    pub fn totals(&self) -> Vec<f64> {
        self.index.rate_sums(&self.index.order(&vec![0.0; self.features.rows()])).totals
    }

    /// What a scorer comes to.
    pub fn loss(&self, scorer: &Architecture, parameters: &[f64], weights: &PartWeights) -> PartLoss {
        let mut scores = vec![0.0; self.features.rows()];
        scorer.score(parameters, &self.features, &mut scores);
        if !scores.iter().all(|score| score.is_finite()) {
            let nothing = |length: usize| vec![f64::NAN; length];
            return PartLoss {
                gradient: nothing(parameters.len()),
                earned: nothing(self.index.rates().len()),
            };
        }
        let order = self.index.order(&scores);
        let mut slopes = vec![0.0; scores.len()];
        let PartWeights { hold_up, hold_down, mse } = weights;
        let weights = Weights { hold_up, hold_down, mse: *mse };
        self.surrogate.evaluate(&self.index, &order, (weights, Wanted::Slopes), &mut slopes, None);
        PartLoss {
            gradient: scorer.pull_back(parameters, &self.features, &Trace::default(), &slopes),
            earned: self.index.rate_sums(&order).credits,
        }
    }
}
