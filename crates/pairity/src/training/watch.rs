//! Watching a training run: its progress, its checkpoints, and stopping it.

use super::checkpoint::Checkpoint;
use std::time::Duration;

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Iterations made, over all games.
    pub done: usize,
    /// Iterations to make.
    pub iterations: usize,
    /// The stated objective of the game that stands best.
    pub objective: f64,
    /// Its largest violation, at least 0.
    pub violation: f64,
}

/// What a run tells while it goes on; by default nobody listens.
pub struct Watch<'a> {
    /// Hears of the progress several times a second; false stops the run with the best so far.
    pub progress: &'a dyn Fn(&Progress) -> bool,
    /// Is given checkpoints.
    pub save: &'a dyn Fn(&Checkpoint),
    /// Time from one checkpoint to the next; there is always one when the run is stopped.
    pub save_every: Duration,
    /// Where to go on from.
    pub resume: Option<Checkpoint>,
}

impl Default for Watch<'_> {
    fn default() -> Self {
        Watch { progress: &|_| true, save: &|_| (), save_every: Duration::MAX, resume: None }
    }
}
