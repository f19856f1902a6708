//! The proxy-Lagrangian game (Cotter et al. 2019): one player moves the scorer down a weighted sum of
//! surrogates, the other moves the weights up the true violations.
//!
//! ```text
//! θ ← θ − Adam( λ₀ ∇objective + Σ λᵢ ∇proxyᵢ )        λ ← up the true violations
//! ```
//!
//! Both players step at the same point with the same step size. Where a slack variable ξ stands for the
//! objective, it is descended as the scorer is: its slope is λ₀ less the weights of the forms below it.
//!
//! The multipliers may look at other examples than the scorer: what a scorer with many parameters fits
//! to the training examples would otherwise look as if it held everywhere.

use super::batches::Batches;
use super::executor::Solver;
use super::loss::{LossSettings, Sample, SurrogateWeights};
use super::players::{Multipliers, Player};
use crate::goals::{Assessment, Problem};
use crate::learners::{Adam, Architecture, Features, Learner, Parametric, ScoreSlope, Trace};
use serde::{Deserialize, Serialize};

/// The game of a scorer with parameters.
pub(crate) struct Game<'a> {
    pub problem: &'a Problem,
    pub architecture: &'a Architecture,
    pub player: Player,
    pub seed: u64,
    /// Parameters to start from, if not the architecture's own.
    pub start: Option<&'a [f64]>,
    pub batch: Option<usize>,
    pub loss: LossSettings<'a>,
    /// The features of all rows, which batches are picked from.
    pub features: &'a Features,
    pub sample: &'a Sample<'a>,
    /// What the multipliers look at, if that is something else.
    pub multipliers: Option<&'a Sample<'a>>,
}

/// Both players: all that a later iteration depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct GameState<L> {
    pub step_size: f64,
    pub learner: L,
    pub multipliers: Multipliers,
    /// Stands for the objective where that has several forms.
    slack: Option<(f64, Adam)>,
}

impl<L: Learner> GameState<L> {
    pub(crate) fn new(problem: &Problem, learner: L, player: Player, step_size: f64) -> GameState<L> {
        GameState {
            step_size,
            learner,
            multipliers: Multipliers::new(player, problem.game_bounds().count()),
            slack: problem.has_slack().then(|| (problem.ideal(), Adam::new(1))),
        }
    }
}

/// Room that every iteration uses again, and what it found.
#[derive(Default)]
pub(crate) struct Buffers {
    scores: Vec<f64>,
    multiplier_scores: Vec<f64>,
    violations: Vec<f64>,
    weights: SurrogateWeights,
    term: Vec<f64>,
    batches: Option<Batches>,
    /// The loss.
    pub value: f64,
    /// Its slope by each score.
    pub slopes: Vec<f64>,
    /// A curvature by each score, where the learner uses one.
    pub curvature: Vec<f64>,
    /// The true rates that the multipliers see.
    pub rates: Vec<f64>,
}

impl Buffers {
    /// Room in which no rate has a value yet.
    pub(crate) fn new(problem: &Problem) -> Buffers {
        Buffers { rates: vec![f64::NAN; problem.rates.len()], ..Buffers::default() }
    }
}

/// What both players look at in one iteration.
pub(crate) struct GameView<'a> {
    pub problem: &'a Problem,
    pub sample: &'a Sample<'a>,
    pub multipliers: Option<&'a Sample<'a>>,
    /// What is left out at random in this iteration follows from it.
    pub draw: u64,
}

impl GameView<'_> {
    /// Finds scores, true rates, loss and slopes, and moves nothing. None if scores are not finite.
    pub(crate) fn look<L: Learner>(&self, state: &GameState<L>, room: &mut Buffers) -> Option<Trace> {
        let GameView { problem, sample, .. } = *self;
        let n = sample.examples().len();
        room.scores.resize(n, 0.0);
        room.slopes.resize(n, 0.0);
        let trace = state.learner.forward(&sample.features, self.draw, &mut room.scores);
        if !room.scores.iter().all(|score| score.is_finite()) {
            return None;
        }
        let order = sample.order(&room.scores);
        room.rates = match self.multipliers {
            None => sample.true_rates(&order),
            Some(other) => {
                room.multiplier_scores.resize(other.examples().len(), 0.0);
                state.learner.scores(&other.features, &mut room.multiplier_scores);
                other.true_rates(&other.order(&room.multiplier_scores))
            }
        };
        let weights = &state.multipliers.weights;
        let objective = state.slack.is_none().then_some((&problem.objective[0], weights[0]));
        let bounds = problem.game_bounds().zip(weights[1..].iter().copied());
        room.weights.set(problem, objective.into_iter().chain(bounds));
        room.value = sample.loss(&order, &room.weights, &mut room.slopes, &mut room.term);
        if state.learner.uses_curvature() {
            room.curvature.resize(n, 0.0);
            sample.curvature(&order, &room.weights, &mut room.curvature);
        }
        Some(trace)
    }

    /// One step of both players. None if scores are not finite.
    pub(crate) fn step<L: Learner>(
        &self,
        state: &mut GameState<L>,
        room: &mut Buffers,
    ) -> Option<Assessment> {
        let trace = self.look(state, room)?;
        let GameState { step_size, learner, multipliers, slack } = state;
        let slacked = if slack.is_some() { self.problem.objective.len() } else { 0 };
        let below = slack.as_ref().map_or(0.0, |(slack, _)| *slack);
        let violations = self.problem.game_bounds().enumerate().map(|(at, form)| {
            let miss = self.problem.value(form, &room.rates) - if at < slacked { below } else { 0.0 };
            // A batch may lack the pairs of a rate: then it says nothing about the constraint.
            if miss.is_nan() { 0.0 } else { miss }
        });
        room.violations.clear();
        room.violations.extend(violations);
        let curvature = learner.uses_curvature().then_some(&room.curvature[..]);
        let slope = ScoreSlope { gradient: &room.slopes, curvature };
        learner.step(&self.sample.features, &trace, slope, *step_size);
        if let Some((slack, adam)) = slack {
            let weights = &multipliers.weights;
            let slope = weights[0] - weights[1..=slacked].iter().sum::<f64>();
            adam.descend(std::slice::from_mut(slack), &[slope], *step_size);
        }
        multipliers.ascend(&room.violations, *step_size);
        Some(self.problem.assess(&room.rates))
    }
}

impl Solver for Game<'_> {
    type State = GameState<Parametric>;
    type Buffers = Buffers;

    fn start(&self, step_size: f64) -> Self::State {
        let mut learner = Parametric::new(self.architecture, self.seed);
        if let Some(start) = self.start {
            learner.restore(start);
        }
        GameState::new(self.problem, learner, self.player, step_size)
    }

    fn buffers(&self) -> Buffers {
        let batches = Batches::new(self.sample.examples(), self.batch, self.seed);
        Buffers { batches, ..Buffers::new(self.problem) }
    }

    fn next_iteration(
        &self,
        iteration: usize,
        state: &mut Self::State,
        room: &mut Buffers,
    ) -> Option<Assessment> {
        // Another draw for each step, the same when a run is resumed.
        let draw = self.seed.rotate_left(32) ^ iteration as u64;
        let view =
            GameView { problem: self.problem, sample: self.sample, multipliers: self.multipliers, draw };
        let Some(batches) = &mut room.batches else { return view.step(state, room) };
        let examples = self.sample.examples().part(batches.units(iteration)).ok()?;
        let sample = Sample::batch(self.problem, &examples, self.features, self.loss)?;
        GameView { sample: &sample, ..view }.step(state, room)
    }

    fn snapshot(&self, state: &Self::State) -> (Vec<f64>, Vec<f64>) {
        (state.learner.snapshot(), state.multipliers.weights.clone())
    }
}
