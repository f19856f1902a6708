//! The proxy-Lagrangian game (Cotter et al. 2019): one player moves the scorer down a weighted sum of
//! surrogates, the other moves the weights up the true violations.
//!
//! ```text
//! θ ← θ − Adam( λ₀ ∇objective + Σ λᵢ ∇proxyᵢ )        λ ← up the true violations
//! ```
//!
//! The proxy of a linear form Σ c_r A_r bounds each term by itself: a rate with c > 0 by its surrogate
//! from above, one with c < 0 by the surrogate of its error, as c A = |c| (1 − A) − |c|. Both players step
//! at the same point with the same step size.
//!
//! The multipliers may look at other examples than the scorer: what a scorer with many parameters fits
//! to the training examples would otherwise look as if it held everywhere.

use super::adam::Adam;
use super::players::{Multipliers, Player};
use super::sample::{Batches, Sample};
use super::trainer::Penalty;
use crate::examples::Examples;
use crate::goals::Linear;
use crate::goals::Problem;
use crate::pairs::{Correlation, RateIndex, Surrogate, SurrogateError, SurrogateKind, Weights};
use crate::rates::{Average, Rate};
use crate::scorers::{Architecture, Features, Scorer};
use serde::{Deserialize, Serialize};

/// How games are played.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rules {
    pub iterations: usize,
    /// Iterations from one snapshot to the next.
    pub every: usize,
    pub player: Player,
    pub surrogate: SurrogateKind,
    pub average: Average,
    pub batch: Option<usize>,
    pub seed: u64,
    pub penalty: Option<Penalty>,
    /// Of the right length.
    pub start: Option<Vec<f64>>,
}

/// A scorer on the way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Snapshot {
    pub iteration: usize,
    #[serde(with = "crate::scorers::numbers")]
    pub parameters: Vec<f64>,
    /// How the game stood when it was taken.
    pub standing: Standing,
    /// What objective and bounds weighed.
    pub weights: Vec<f64>,
}

/// How the scorer does just now, on the examples that the multipliers look at.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Standing {
    /// The value to be minimized.
    pub cost: f64,
    /// The largest violation, at least 0.
    pub violation: f64,
}

/// What all games share.
pub(crate) struct Arena<'a> {
    pub problem: &'a Problem,
    scorer: &'a Architecture,
    rules: Rules,
    /// The features of all rows, which batches are picked from.
    features: &'a Features,
    sample: &'a Sample<'a>,
    loss: Loss<'a>,
    multipliers: Option<(&'a Sample<'a>, RateIndex<'a>)>,
}

/// What the scorer descends on some examples.
struct Loss<'a> {
    index: RateIndex<'a>,
    surrogate: Surrogate,
    /// The penalty, with its weight.
    correlation: Option<(Correlation<'a>, f64)>,
}

impl<'a> Loss<'a> {
    fn new(problem: &Problem, rules: &Rules, examples: &'a Examples) -> Result<Loss<'a>, SurrogateError> {
        let index = RateIndex::new(examples, &problem.rates, rules.average);
        let surrogate = Surrogate::new(rules.surrogate, 1.0)?;
        let correlation = match rules.penalty {
            Some(Penalty { weight, membership }) => Some((Correlation::new(examples, membership)?, weight)),
            None => None,
        };
        Ok(Loss { index, surrogate, correlation })
    }
}

/// The state of one game: all that a later iteration depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Game {
    pub step_size: f64,
    /// Iterations played.
    pub iteration: usize,
    /// Those of the scorer and, where there is a slack variable, that one.
    #[serde(with = "crate::scorers::numbers")]
    parameters: Vec<f64>,
    adam: Adam,
    multipliers: Multipliers,
    /// In the last iteration.
    pub standing: Standing,
    pub snapshots: Vec<Snapshot>,
    /// Scores became infinite: there is nothing more to play.
    pub broken: bool,
}

impl<'a> Arena<'a> {
    pub(crate) fn new(
        problem: &'a Problem,
        scorer: &'a Architecture,
        rules: Rules,
        features: &'a Features,
        sample: &'a Sample<'a>,
        multipliers: Option<&'a Sample<'a>>,
    ) -> Result<Arena<'a>, SurrogateError> {
        let loss = Loss::new(problem, &rules, sample.examples)?;
        let truth = |sample: &'a Sample| RateIndex::new(sample.examples, &problem.rates, rules.average);
        let multipliers = multipliers.map(|sample| (sample, truth(sample)));
        Ok(Arena { problem, scorer, rules, features, sample, loss, multipliers })
    }

    /// A game at its start.
    pub(crate) fn start(&self, step_size: f64) -> Game {
        let own = || self.scorer.start(self.rules.seed);
        let mut parameters = self.rules.start.clone().unwrap_or_else(own);
        let slack = usize::from(self.problem.has_slack());
        parameters.resize(parameters.len() + slack, self.problem.ideal());
        Game {
            step_size,
            iteration: 0,
            adam: Adam::new(parameters.len()),
            parameters,
            multipliers: Multipliers::new(self.rules.player, self.problem.game_bounds().count()),
            standing: Standing::default(),
            snapshots: Vec::new(),
            broken: false,
        }
    }

    pub(crate) fn is_over(&self, game: &Game) -> bool {
        game.broken || game.iteration >= self.rules.iterations
    }

    /// Plays on while `go_on` agrees, which is asked after each iteration.
    pub(crate) fn play(&self, game: &mut Game, go_on: &dyn Fn(&Game) -> bool) {
        let mut batches = Batches::new(self.sample.examples, self.rules.batch, self.rules.seed);
        let n = self.sample.examples.len();
        let mut space = Space {
            scores: vec![0.0; n],
            slopes: vec![0.0; n],
            penalty: vec![0.0; if self.rules.penalty.is_some() { n } else { 0 }],
            gradient: Vec::new(),
        };
        while !self.is_over(game) {
            match &mut batches {
                None => self.step(game, self.sample, &self.loss, &mut space),
                Some(batches) => self.step_on_batch(game, batches.units(game.iteration), &mut space),
            }
            if !go_on(game) {
                break;
            }
        }
    }

    /// The scorer as it is now.
    pub(crate) fn current(&self, game: &Game) -> Snapshot {
        let mut parameters: Vec<f64> = game.parameters.iter().copied().take(self.scorer.len()).collect();
        self.scorer.round(&mut parameters);
        Snapshot {
            iteration: game.iteration,
            parameters,
            standing: game.standing,
            weights: game.multipliers.weights.clone(),
        }
    }

    fn step_on_batch(&self, game: &mut Game, units: &[u32], space: &mut Space) {
        let Ok(examples) = self.sample.examples.part(units) else { return };
        let sample = Sample { features: self.features.select(&examples.row), examples: &examples };
        let plain = Rules { penalty: None, ..self.rules.clone() };
        // A batch may lack the pairs that a correlation is taken over.
        let loss = Loss::new(self.problem, &self.rules, &examples);
        if let Ok(loss) = loss.or_else(|_| Loss::new(self.problem, &plain, &examples)) {
            self.step(game, &sample, &loss, space);
        }
    }

    /// One step of both players.
    fn step(&self, game: &mut Game, sample: &Sample, loss: &Loss, space: &mut Space) {
        let problem = self.problem;
        let slacked = if problem.has_slack() { problem.objective.len() } else { 0 };
        let own = game.parameters.len() - usize::from(slacked > 0);
        let n = sample.examples.len();
        let (scores, slopes) = (&mut space.scores[..n], &mut space.slopes[..n]);
        // Another draw for each step, the same when a run is resumed.
        let draw = self.rules.seed.rotate_left(32) ^ game.iteration as u64;
        let trace = self.scorer.forward(&game.parameters[..own], &sample.features, draw, scores);
        if !scores.iter().all(|score| score.is_finite()) {
            game.broken = true;
            game.parameters.clear();
            return;
        }
        let order = loss.index.order(scores);
        let rates = match &self.multipliers {
            None => loss.index.true_rates(&order),
            Some((other, index)) => {
                let mut scores = vec![0.0; other.examples.len()];
                self.scorer.score(&game.parameters[..own], &other.features, &mut scores);
                index.true_rates(&index.order(&scores))
            }
        };
        let slack = |bound: usize| if bound < slacked { game.parameters[own] } else { 0.0 };
        // A batch may lack the pairs of a rate: then it says nothing about the constraint.
        let known = |miss: f64| if miss.is_nan() { 0.0 } else { miss };
        let violations: Vec<f64> = problem
            .game_bounds()
            .enumerate()
            .map(|(i, form)| known(problem.value(form, &rates) - slack(i)))
            .collect();
        let weights = &game.multipliers.weights;
        let mut holds = Holds::new(problem.rates.len());
        if slacked == 0 {
            holds.add(problem, &problem.objective[0], weights[0]);
        }
        for (form, &weight) in problem.game_bounds().zip(&weights[1..]) {
            holds.add(problem, form, weight);
        }
        loss.surrogate.evaluate(&loss.index, &order, holds.weights(), slopes);
        if let Some((correlation, weight)) = &loss.correlation {
            let penalty = &mut space.penalty[..n];
            correlation.value_and_gradient(scores, penalty);
            slopes.iter_mut().zip(penalty).for_each(|(slope, own)| *slope += weight * *own);
        }
        let gradient = &mut space.gradient;
        gradient.resize(game.parameters.len(), 0.0);
        let (parameters, features) = (&game.parameters[..own], &sample.features);
        self.scorer.backward(parameters, features, &trace, slopes, &mut gradient[..own]);
        if slacked > 0 {
            gradient[own] = weights[0] - weights[1..=slacked].iter().sum::<f64>();
        }
        let found = problem.assess(&rates);
        game.standing = Standing { cost: known(found.cost), violation: found.violation };
        game.adam.descend(&mut game.parameters, gradient, game.step_size);
        game.multipliers.ascend(&violations, game.step_size);
        game.iteration += 1;
        if game.iteration.is_multiple_of(self.rules.every) || game.iteration == self.rules.iterations {
            game.snapshots.push(self.current(game));
        }
    }
}

/// Room that every iteration uses again.
struct Space {
    scores: Vec<f64>,
    slopes: Vec<f64>,
    penalty: Vec<f64>,
    gradient: Vec<f64>,
}

/// Weights of the surrogates.
pub(super) struct Holds {
    pub(super) up: Vec<f64>,
    pub(super) down: Vec<f64>,
    pub(super) mse: f64,
}

impl Holds {
    pub(super) fn new(rates: usize) -> Holds {
        Holds { up: vec![0.0; rates], down: vec![0.0; rates], mse: 0.0 }
    }

    pub(super) fn weights(&self) -> Weights<'_> {
        Weights { hold_up: &self.up, hold_down: &self.down, mse: self.mse }
    }

    pub(super) fn add(&mut self, problem: &Problem, form: &Linear, weight: f64) {
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
