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

use super::adam::Adam;
use super::players::{Multipliers, Player};
use super::problem::Problem;
use super::shrink::value;
use crate::examples::Examples;
use crate::goals::Linear;
use crate::rates::{Average, Rate};
use crate::scorers::{Architecture, Features, Scorer};
use crate::surrogates::{Kind, Surrogate, SurrogateError};

/// Examples with their features, both in the order of the examples.
pub(crate) struct Sample<'a> {
    pub examples: &'a Examples,
    pub features: Features,
}

/// How one game is played.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rules {
    pub iterations: usize,
    pub snapshots: usize,
    pub player: Player,
    pub surrogate: Kind,
    pub average: Average,
    pub seed: u64,
}

/// A scorer on the way.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Snapshot {
    pub iteration: usize,
    pub parameters: Vec<f64>,
}

/// Plays one game with one step size; `go_on` is asked before each iteration. Returns the snapshots.
pub(crate) fn play(
    problem: &Problem,
    scorer: &Architecture,
    sample: &Sample,
    rules: &Rules,
    step_size: f64,
    go_on: &(dyn Fn(usize) -> bool + Sync),
) -> Result<Vec<Snapshot>, SurrogateError> {
    let surrogate = Surrogate::new(sample.examples, &problem.rates, rules.average, rules.surrogate, 1.0)?;
    let bounds: Vec<&Linear> = problem.game_bounds().collect();
    let slacked = if problem.has_slack() { problem.objective.len() } else { 0 };
    let mut multipliers = Multipliers::new(rules.player, bounds.len());
    // The slack variable, where there is one, is the last parameter.
    let mut parameters = scorer.start(rules.seed);
    let own = parameters.len();
    parameters.resize(own + usize::from(slacked > 0), problem.ideal());
    let mut adam = Adam::new(parameters.len());
    let n = sample.examples.len();
    let (mut scores, mut slopes) = (vec![0.0; n], vec![0.0; n]);
    let mut gradient = vec![0.0; parameters.len()];
    let every = (rules.iterations / rules.snapshots.max(1)).max(1);
    let mut snapshots = Vec::new();
    for iteration in 1..=rules.iterations {
        if !go_on(iteration) {
            break;
        }
        scorer.score(&parameters[..own], &sample.features, &mut scores);
        if !scores.iter().all(|score| score.is_finite()) {
            break;
        }
        let rates = surrogate.true_rates(&scores);
        let violations: Vec<f64> = bounds
            .iter()
            .enumerate()
            .map(|(i, form)| value(problem, form, &rates) - if i < slacked { parameters[own] } else { 0.0 })
            .collect();
        let weights = &multipliers.weights;
        let mut holds = Holds::new(problem.rates.len());
        if slacked == 0 {
            holds.add(problem, &problem.objective[0], weights[0]);
        }
        for (form, &weight) in bounds.iter().zip(&weights[1..]) {
            holds.add(problem, form, weight);
        }
        surrogate.evaluate(&scores, &holds.up, &holds.down, holds.mse, &mut slopes);
        scorer.pull_back(&parameters[..own], &sample.features, &slopes, &mut gradient[..own]);
        if slacked > 0 {
            gradient[own] = weights[0] - weights[1..=slacked].iter().sum::<f64>();
        }
        adam.descend(&mut parameters, &gradient, step_size);
        multipliers.ascend(&violations, step_size);
        if iteration % every == 0 || iteration == rules.iterations {
            snapshots.push(Snapshot { iteration, parameters: parameters[..own].to_vec() });
        }
    }
    Ok(snapshots)
}

/// Weights of the surrogates.
struct Holds {
    up: Vec<f64>,
    down: Vec<f64>,
    mse: f64,
}

impl Holds {
    fn new(rates: usize) -> Holds {
        Holds { up: vec![0.0; rates], down: vec![0.0; rates], mse: 0.0 }
    }

    fn add(&mut self, problem: &Problem, form: &Linear, weight: f64) {
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
