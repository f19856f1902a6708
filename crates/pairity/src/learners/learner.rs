//! The learners that solvers know: parameters that Adam moves, and scores that somebody else moves.

use serde::{Deserialize, Serialize};

use super::text::Pass;
use super::{Adam, Architecture, Features, Scratch};

/// What a way forward leaves for the way back, so that nothing costly is done twice.
#[derive(Default)]
pub struct Trace {
    /// The weights of a text network in single precision, and its passes.
    pub(super) text: Option<(Vec<f32>, Vec<Pass>)>,
    /// The units of a network's hidden layers; none where there were too many.
    pub(super) units: Vec<f64>,
}

/// The slope of what is descended, by each score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreSlope<'a> {
    /// The first derivative.
    pub gradient: &'a [f64],
    /// A second derivative, at least 0, where the learner [uses](Learner::uses_curvature) it.
    pub curvature: Option<&'a [f64]>,
}

/// What gives scores and takes steps along a gradient by them.
pub trait Learner {
    /// The score of every row, as the finished scorer gives it.
    fn scores(&self, features: &Features, scores: &mut [f64]);

    /// The scores as a step of training sees them. Where a scorer leaves out units at random, they follow
    /// from `draw`. What is returned is for the [`step`](Self::step) from there.
    fn forward(&self, features: &Features, draw: u64, scores: &mut [f64]) -> Trace {
        let _ = draw;
        self.scores(features, scores);
        Trace::default()
    }

    /// Whether steps need a curvature by each score, as those of boosters do.
    fn uses_curvature(&self) -> bool {
        false
    }

    /// A step down the slope at the scores that [`forward`](Self::forward) gave.
    fn step(&mut self, features: &Features, trace: &Trace, slope: ScoreSlope, step_size: f64);

    /// The scorer as it is now, in numbers.
    fn snapshot(&self) -> Vec<f64>;

    /// Goes on from a snapshot.
    fn restore(&mut self, snapshot: &[f64]);
}

/// The learner of every architecture: a scorer whose parameters are learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parametric {
    architecture: Architecture,
    #[serde(with = "crate::numbers")]
    parameters: Vec<f64>,
    adam: Adam,
    #[serde(skip)]
    gradient: Scratch,
}

impl Parametric {
    /// The scorer from which an architecture starts.
    pub fn new(architecture: &Architecture, seed: u64) -> Parametric {
        let parameters = architecture.start(seed);
        let adam = Adam::new(parameters.len());
        Parametric { architecture: architecture.clone(), parameters, adam, gradient: Scratch::default() }
    }

    /// Its shape and its parameters.
    pub(crate) fn scorer(&self) -> (&Architecture, &[f64]) {
        (&self.architecture, &self.parameters)
    }

    /// A step down a gradient by the parameters.
    pub(crate) fn descend(&mut self, gradient: &[f64], step_size: f64) {
        self.adam.descend(&mut self.parameters, gradient, step_size);
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
        architecture.put_back(parameters, features, trace, slope.gradient, &mut gradient.0);
        adam.descend(parameters, &gradient.0, step_size);
    }

    fn snapshot(&self) -> Vec<f64> {
        let mut parameters = self.parameters.clone();
        self.architecture.round(&mut parameters);
        parameters
    }

    fn restore(&mut self, snapshot: &[f64]) {
        snapshot.clone_into(&mut self.parameters);
    }
}

/// Scores that somebody else moves, such as a network of another library or boosted trees: the last that were
/// given, in the order of the examples. A step changes nothing: whoever asked for the slope moves the scores, and
/// gives them anew.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OutsideScores {
    scores: Vec<f64>,
}

impl Learner for OutsideScores {
    fn scores(&self, _features: &Features, scores: &mut [f64]) {
        scores.copy_from_slice(&self.scores);
    }

    fn uses_curvature(&self) -> bool {
        true
    }

    fn step(&mut self, _features: &Features, _trace: &Trace, _slope: ScoreSlope, _step_size: f64) {}

    fn snapshot(&self) -> Vec<f64> {
        self.scores.clone()
    }

    fn restore(&mut self, snapshot: &[f64]) {
        snapshot.clone_into(&mut self.scores);
    }
}
