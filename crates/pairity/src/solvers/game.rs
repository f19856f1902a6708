//! The proxy-Lagrangian game (Cotter et al. 2019): one player moves the scorer down a weighted sum of
//! surrogates, the other moves the weights up the true violations.
//!
//! ```text
//! θ ← θ − Adam( λ₀ ∇objective + Σ λᵢ ∇proxyᵢ )        λ ← up the true violations
//! ```
//!
//! Both players step at the same point with the same step size, but for a player whose steps are in proportion to
//! violations, which has a step size of its own. Where a slack variable ξ stands for the
//! objective, it is descended as the scorer is: its slope is λ₀ less the weights of the forms below it. The
//! centers of spreads need no steps: they are always best in the middle of the true values around them.
//!
//! The multipliers may look at other examples than the scorer: what a scorer with many parameters fits
//! to the training examples would otherwise look as if it held everywhere. Of mini-batches they look at running rates: what
//! the pairs of the last batches earned over what they could have earned, older ones counting less. A single batch may
//! have few pairs of a rate, or none. Of [parts](super::within) both players look at the pairs inside them.

use super::executor::Snapshot;
use super::loss::{Batches, Sample, SurrogateWeights};
use super::players::{Multipliers, Player};
use super::solver::{Found, Solver, SolverTask, Training};
use super::train::TrainSettings;
use super::within::Partition;
use crate::goals::Problem;
use crate::learners::{Adam, Learner, Parametric, ScoreSlope, Trace};
use crate::pairs::{RateSums, Wanted};
use serde::{Deserialize, Serialize};

/// Both players.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Game<L> {
    /// Of the scorer and of the slack.
    step_size: f64,
    pub learner: L,
    pub multipliers: Multipliers,
    multiplier_step: f64,
    /// Stands for the objective where that has several forms.
    slack: Option<(f64, Adam)>,
    /// What the pairs of the last batches earned.
    seen: RateSums,
}

/// Room that every iteration uses again, and what it found.
#[derive(Default)]
pub(crate) struct Buffers {
    scores: Vec<f64>,
    multiplier_scores: Vec<f64>,
    centers: Vec<f64>,
    violations: Vec<f64>,
    weights: SurrogateWeights,
    /// Whether steps ask for slopes alone.
    slopes_only: bool,
    batches: Option<Batches>,
    partition: Option<Partition>,
    seen: RateSums,
    /// The loss, where it is asked for.
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
    /// Where the sample is a batch, how much counts what others showed before.
    pub memory: Option<f64>,
}

/// Whether all numbers are finite: only then all of them times 0 sum to 0. In lanes, without a way out.
fn are_finite(numbers: &[f64]) -> bool {
    let (numbers, last) = numbers.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for eight in numbers {
        sums.iter_mut().zip(eight).for_each(|(sum, number)| *sum += number * 0.0);
    }
    sums == [0.0; 8] && last.iter().all(|number| number.is_finite())
}

impl<L: Learner> Game<L> {
    pub(crate) fn new(problem: &Problem, learner: L, player: Player, step_size: f64) -> Game<L> {
        Game {
            step_size,
            learner,
            multipliers: Multipliers::new(player, problem.game_bounds().count()),
            multiplier_step: step_size,
            slack: problem.has_slack().then(|| (problem.ideal(), Adam::new(1))),
            seen: RateSums::default(),
        }
    }

    /// Finds scores, true rates, loss and slopes, and moves nothing. None if scores are not finite.
    pub(crate) fn look(&self, view: &GameView, room: &mut Buffers) -> Option<Trace> {
        let GameView { problem, sample, .. } = *view;
        let n = sample.examples().len();
        room.scores.resize(n, 0.0);
        room.slopes.resize(n, 0.0);
        let trace = self.learner.forward(&sample.features, view.draw, &mut room.scores);
        if !are_finite(&room.scores) {
            return None;
        }
        let order = sample.order(&room.scores);
        self.weigh(problem, &mut room.weights);
        let wanted = if room.slopes_only { Wanted::Slopes } else { Wanted::Value };
        let Buffers { weights, slopes, rates, .. } = room;
        let own = (view.multipliers.is_none() && view.memory.is_none()).then_some(&mut *rates);
        room.value = sample.loss(&order, weights, slopes, wanted, own);
        match (view.multipliers, view.memory) {
            (None, None) => {}
            (None, Some(memory)) => {
                room.seen = sample.rate_sums(&order);
                room.seen.add(&self.seen, memory);
                *rates = room.seen.values();
            }
            (Some(other), _) => self.rate(other, &mut room.multiplier_scores, rates),
        }
        if self.learner.uses_curvature() {
            room.curvature.resize(n, 0.0);
            sample.curvature(&order, &room.weights, &mut room.curvature);
        }
        Some(trace)
    }

    /// Sets the weights of surrogates to what the multipliers say.
    fn weigh(&self, problem: &Problem, to: &mut SurrogateWeights) {
        let weights = &self.multipliers.weights;
        let objective = self.slack.is_none().then_some((&problem.objective[0], weights[0]));
        let bounds = problem.game_bounds().zip(weights[1..].iter().copied());
        to.set(problem, objective.into_iter().chain(bounds));
    }

    /// The true rates on the examples of the multipliers.
    fn rate(&self, other: &Sample, scores: &mut Vec<f64>, rates: &mut Vec<f64>) {
        scores.resize(other.examples().len(), 0.0);
        self.learner.scores(&other.features, scores);
        other.fill_rates(&other.order(scores), rates);
    }

    /// One step of both players. None if scores are not finite.
    pub(crate) fn step(&mut self, view: &GameView, room: &mut Buffers) -> Option<Found> {
        let trace = self.look(view, room)?;
        std::mem::swap(&mut self.seen, &mut room.seen);
        let curvature = self.learner.uses_curvature().then_some(&room.curvature[..]);
        let slope = ScoreSlope { gradient: &room.slopes, curvature };
        self.learner.step(&view.sample.features, &trace, slope, self.step_size);
        Some(self.answer(view.problem, room))
    }

    /// The step of the multipliers, and of the slack, at the rates that were found.
    fn answer(&mut self, problem: &Problem, room: &mut Buffers) -> Found {
        let Game { step_size, multipliers, multiplier_step, slack, .. } = self;
        let Buffers { rates, centers, violations, .. } = room;
        problem.put_centers(rates, centers);
        let slacked = if slack.is_some() { problem.objective.len() } else { 0 };
        let below = slack.as_ref().map_or(0.0, |(slack, _)| *slack);
        let misses = problem.game_bounds().enumerate().map(|(at, form)| {
            let miss = problem.value(form, rates, centers) - if at < slacked { below } else { 0.0 };
            // The first batches may lack the pairs of a rate: then they say nothing about the constraint.
            if miss.is_nan() { 0.0 } else { miss }
        });
        violations.clear();
        violations.extend(misses);
        if let Some((slack, adam)) = slack {
            let weights = &multipliers.weights;
            let slope = weights[0] - weights[1..=slacked].iter().sum::<f64>();
            adam.descend(std::slice::from_mut(slack), &[slope], *step_size);
        }
        multipliers.ascend(violations, *multiplier_step);
        Found::at(problem, rates, centers)
    }
}

impl Game<Parametric> {
    /// The same where pairs are those inside parts of the rows. None if scores are not finite.
    fn step_within(&mut self, view: &GameView, partition: &Partition, room: &mut Buffers) -> Option<Found> {
        self.weigh(view.problem, &mut room.weights);
        let (gradient, sums) = partition.loss(&view.problem.rates, self.learner.scorer(), &room.weights)?;
        match view.multipliers {
            None => room.rates = sums.values(),
            Some(other) => self.rate(other, &mut room.multiplier_scores, &mut room.rates),
        }
        self.learner.descend(&gradient, self.step_size);
        Some(self.answer(view.problem, room))
    }
}

impl Solver for Game<Parametric> {
    type Buffers = Buffers;

    fn runs(settings: &TrainSettings) -> Vec<f64> {
        settings.step_sizes.clone()
    }

    fn iterations(settings: &TrainSettings) -> usize {
        settings.iterations
    }

    fn start(task: &SolverTask, step_size: f64) -> Self {
        let Training { problem, architecture, settings, .. } = task.training;
        let mut learner = Parametric::new(architecture, settings.seed);
        if let Some(start) = &settings.start {
            learner.restore(start);
        }
        let multiplier_step = settings.player.step_beside(step_size);
        Game { multiplier_step, ..Game::new(problem, learner, settings.player, step_size) }
    }

    fn buffers(task: &SolverTask) -> Buffers {
        let Training { problem, settings, .. } = task.training;
        let batches = Batches::new(task.sample.examples(), settings.batch, settings.seed);
        Buffers { batches, slopes_only: true, ..Buffers::new(problem) }
    }

    fn next_iteration(&mut self, task: &SolverTask, iteration: usize, room: &mut Buffers) -> Option<Found> {
        let SolverTask { training, sample, multipliers, .. } = *task;
        // Another draw for each step, the same when a run is resumed.
        let draw = training.settings.seed.rotate_left(32) ^ iteration as u64;
        let view = GameView { problem: training.problem, sample, multipliers, draw, memory: None };
        if let Some(within) = training.settings.within {
            let partition = match room.partition.take().filter(|own| own.holds(within, iteration)) {
                Some(partition) => partition,
                None => Partition::of(&training, sample.examples(), within, iteration)?,
            };
            let found = self.step_within(&view, &partition, room);
            room.partition = Some(partition);
            return found;
        }
        let Some(batches) = &mut room.batches else { return self.step(&view, room) };
        let examples = sample.examples().part(batches.units(iteration)).ok()?;
        let batch = sample.batch(&training, &examples, batches.counts);
        let memory = Some(batches.memory);
        self.step(&GameView { sample: &batch, memory, ..view }, room)
    }

    fn kept(&mut self, task: &SolverTask, iteration: usize, found: Found, last: bool) -> Vec<Snapshot> {
        let &TrainSettings { iterations, snapshots, .. } = task.training.settings;
        if !(last || iteration.is_multiple_of(iterations / snapshots)) {
            return Vec::new();
        }
        let (parameters, weights) = (self.learner.snapshot(), self.multipliers.weights.clone());
        vec![Snapshot::new(iteration, parameters, found, weights)]
    }
}

#[cfg(test)]
mod tests {
    use super::are_finite;

    #[test]
    fn one_number_that_is_not_finite_is_found_wherever_it_is() {
        let numbers: Vec<f64> = (0..37).map(|i| if i % 2 == 0 { -f64::MAX } else { 5e-324 }).collect();
        assert!(are_finite(&numbers) && are_finite(&[]));
        for (at, wrong) in
            (0..37).flat_map(|at| [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(|x| (at, x)))
        {
            let mut numbers = numbers.clone();
            numbers[at] = wrong;
            assert!(!are_finite(&numbers), "{wrong} at {at}");
        }
    }
}
