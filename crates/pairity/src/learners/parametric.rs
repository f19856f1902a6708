//! The learner of every architecture: parameters that Adam moves.

use super::{Adam, Architecture, Features, Learner, ScoreSlope, Trace};
use serde::{Deserialize, Serialize};

/// A scorer whose parameters are learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parametric {
    architecture: Architecture,
    #[serde(with = "super::numbers")]
    parameters: Vec<f64>,
    adam: Adam,
    /// Room for the gradient by the parameters.
    #[serde(skip)]
    gradient: Vec<f64>,
}

impl Parametric {
    /// The scorer from which an architecture starts.
    pub fn new(architecture: &Architecture, seed: u64) -> Parametric {
        let parameters = architecture.start(seed);
        let adam = Adam::new(parameters.len());
        Parametric { architecture: architecture.clone(), parameters, adam, gradient: Vec::new() }
    }
}

impl Learner for Parametric {
    fn scores(&self, features: &Features, scores: &mut [f64]) {
        self.architecture.score(&self.parameters, features, scores);
    }

    fn forward(&self, features: &Features, draw: u64, scores: &mut [f64]) -> Trace {
        self.architecture.forward(&self.parameters, features, draw, scores)
    }

    fn step(&mut self, features: &Features, trace: &Trace, slope: ScoreSlope, step_size: f64) {
        let Parametric { architecture, parameters, adam, gradient } = self;
        gradient.resize(parameters.len(), 0.0);
        architecture.pull_back(parameters, features, trace, slope.gradient, gradient);
        adam.descend(parameters, gradient, step_size);
    }

    fn snapshot(&self) -> Vec<f64> {
        let mut parameters = self.parameters.clone();
        self.architecture.round(&mut parameters);
        parameters
    }

    fn restore(&mut self, snapshot: &[f64]) {
        self.parameters.clear();
        self.parameters.extend_from_slice(snapshot);
    }
}
