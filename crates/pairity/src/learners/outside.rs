//! Scores that somebody else moves: those of a network of another library, or of boosted trees.

use super::{Features, Learner, ScoreSlope, Trace};

/// The last scores that were given, in the order of the examples. A step changes nothing: whoever asked for
/// the slope moves the scores, and gives them anew.
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
        self.scores.clear();
        self.scores.extend_from_slice(snapshot);
    }
}
