//! From the snapshots of all games to the answer: a mixture, or one scorer.

use super::game::{Holds, Snapshot};
use super::sample::Sample;
use super::shrink::{Mixture, evaluate, shrink};
use super::trainer::{Penalty, TrainError};
use crate::examples::{Examples, ExamplesError};
use crate::goals::Problem;
use crate::metrics::values_in_order;
use crate::names::names;
use crate::pairs::{Correlation, RateIndex, Surrogate, SurrogateError, SurrogateKind};
use crate::rates::{Average, Ties};
use crate::scorers::{Architecture, Component, Scorer};
use rayon::prelude::*;

/// Steps from one scorer of a pair to the other, when combinations are tried.
const STEPS: usize = 64;

/// Which answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Answer {
    /// The best mixture of the snapshots of one game.
    #[default]
    Mixture,
    /// One scorer if one meets the goal: a snapshot, or a combination of the weights of linear scorers.
    /// Otherwise the mixture.
    Deterministic,
    /// The best single snapshot, even if only a mixture meets the goal.
    Best,
    /// The last snapshot of a game.
    Last,
}

names! { Answer:
    "mixture" => Mixture, "The best mixture";
    "deterministic" => Deterministic, "One scorer if one meets the goal";
    "best" => Best, "The best single snapshot";
    "last" => Last, "The last snapshot";
}

/// The snapshots of a game with their rates on the examples that selection looks at.
pub(crate) struct Played {
    pub step_size: f64,
    pub snapshots: Vec<Snapshot>,
    pub rates: Vec<Vec<f64>>,
}

/// What was chosen.
pub(crate) struct Chosen {
    /// The game it comes from.
    pub game: usize,
    pub components: Vec<Component>,
    /// Cost, violation and rates on the selection examples.
    pub mixture: Mixture,
    pub rates: Vec<f64>,
}

/// The examples that selection looks at.
pub(crate) struct Selection<'a> {
    pub problem: &'a Problem,
    pub scorer: &'a Architecture,
    pub sample: &'a Sample<'a>,
    pub average: Average,
}

impl Selection<'_> {
    /// The rates of scorers, by their parameters; NaN where scores are not numbers.
    pub(crate) fn rates(&self, scorers: &[&[f64]]) -> Vec<Vec<f64>> {
        let rates = &self.problem.rates;
        let index = RateIndex::new(self.sample.examples, rates, self.average);
        scorers
            .par_iter()
            .map(|parameters| {
                let mut scores = vec![0.0; self.sample.examples.len()];
                self.scorer.score(parameters, &self.sample.features, &mut scores);
                match scores.iter().all(|score| score.is_finite()) {
                    true => index.true_rates(&index.order(&scores)),
                    false => vec![f64::NAN; rates.len()],
                }
            })
            .collect()
    }

    /// The answer; none if no snapshot gives numbers.
    pub(crate) fn choose(&self, games: &[Played], answer: Answer) -> Option<Chosen> {
        match answer {
            Answer::Mixture => self.best_mixture(games),
            Answer::Best => self.best_single(games, |_| true),
            Answer::Last => self.best_single(games, |left| left == 0),
            Answer::Deterministic => {
                let single = self.best_single(games, |_| true)?;
                if single.mixture.violation == 0.0 {
                    return Some(single);
                }
                let mixture = self.best_mixture(games)?;
                Some(self.combined(&mixture).unwrap_or(mixture))
            }
        }
    }

    /// The snapshot of the lowest loss with the penalty in it; none if no snapshot gives numbers.
    pub(crate) fn least_loss(
        &self,
        games: &[Played],
        kind: SurrogateKind,
        penalty: Penalty,
    ) -> Result<Option<Chosen>, SurrogateError> {
        let (problem, examples) = (self.problem, self.sample.examples);
        let index = RateIndex::new(examples, &problem.rates, self.average);
        let surrogate = Surrogate::new(kind, 1.0)?;
        let correlation = Correlation::new(examples, penalty.membership)?;
        let mut holds = Holds::new(problem.rates.len());
        problem.objective.iter().for_each(|form| holds.add(problem, form, 1.0));
        let loss = |parameters: &[f64]| {
            let mut scores = vec![0.0; examples.len()];
            let mut slopes = vec![0.0; examples.len()];
            self.scorer.score(parameters, &self.sample.features, &mut scores);
            if !scores.iter().all(|score| score.is_finite()) {
                return f64::INFINITY;
            }
            let order = index.order(&scores);
            let value = surrogate.evaluate(&index, &order, holds.weights(), &mut slopes).total;
            value + penalty.weight * correlation.value_and_gradient(&scores, &mut slopes)
        };
        let all: Vec<(usize, usize)> = games
            .iter()
            .enumerate()
            .flat_map(|(game, played)| (0..played.snapshots.len()).map(move |t| (game, t)))
            .collect();
        let losses: Vec<f64> =
            all.par_iter().map(|&(game, t)| loss(&games[game].snapshots[t].parameters)).collect();
        let best = (0..all.len()).filter(|&at| losses[at].is_finite());
        let best = best.min_by(|&a, &b| losses[a].total_cmp(&losses[b]));
        Ok(best.map(|at| {
            let (game, t) = all[at];
            chosen(game, &games[game], evaluate(problem, &games[game].rates, vec![(t, 1.0)]))
        }))
    }

    /// The best of the games' best mixtures.
    fn best_mixture(&self, games: &[Played]) -> Option<Chosen> {
        let mixtures: Vec<(usize, Mixture)> = games
            .iter()
            .enumerate()
            .filter_map(|(game, played)| Some((game, shrink(self.problem, &played.rates)?)))
            .collect();
        let standings: Vec<(f64, f64)> = mixtures.iter().map(|(_, m)| (m.cost, m.violation)).collect();
        let (game, mixture) = mixtures.into_iter().nth(pick(&standings)?)?;
        Some(chosen(game, &games[game], mixture))
    }

    /// The best snapshot among those whose number of snapshots after them is accepted.
    fn best_single(&self, games: &[Played], accepts: fn(usize) -> bool) -> Option<Chosen> {
        let mut singles = Vec::new();
        for (game, played) in games.iter().enumerate() {
            let numbers = |t: &usize| played.rates[*t].iter().all(|rate| rate.is_finite());
            for t in (0..played.rates.len()).filter(|t| accepts(played.rates.len() - 1 - t)).filter(numbers) {
                singles.push((game, evaluate(self.problem, &played.rates, vec![(t, 1.0)])));
            }
        }
        let standings: Vec<(f64, f64)> = singles.iter().map(|(_, m)| (m.cost, m.violation)).collect();
        let (game, mixture) = singles.into_iter().nth(pick(&standings)?)?;
        Some(chosen(game, &games[game], mixture))
    }

    /// The snapshot with the best objective, whatever the constraints.
    pub(crate) fn unbound(&self, games: &[Played]) -> Option<Component> {
        let mut best: Option<(f64, &Snapshot)> = None;
        for played in games {
            for (rates, snapshot) in played.rates.iter().zip(&played.snapshots) {
                let cost = self.problem.cost(rates);
                if cost.is_finite() && best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, snapshot));
                }
            }
        }
        best.map(|(_, snapshot)| Component {
            probability: 1.0,
            snapshot: snapshot.iteration,
            parameters: snapshot.parameters.clone(),
        })
    }

    /// One linear scorer that meets the goal, on the way from one scorer of a mixture to another: weights
    /// of length 1 are averaged, as the length of weights does not change an order.
    fn combined(&self, mixture: &Chosen) -> Option<Chosen> {
        if !matches!(self.scorer, Architecture::Linear(_)) {
            return None;
        }
        let ranks_only = !self.problem.rates.contains(&crate::rates::Rate::Mse);
        let directions: Vec<Vec<f64>> =
            mixture.components.iter().map(|c| direction(&c.parameters, ranks_only)).collect();
        let mut tried = Vec::new();
        for (a, from) in directions.iter().enumerate() {
            for to in &directions[a + 1..] {
                tried.extend((1..STEPS).map(|step| {
                    let share = step as f64 / STEPS as f64;
                    from.iter().zip(to).map(|(x, y)| (1.0 - share) * x + share * y).collect::<Vec<f64>>()
                }));
            }
        }
        let parameters: Vec<&[f64]> = tried.iter().map(Vec::as_slice).collect();
        let rates = self.rates(&parameters);
        let numbers = |t: &usize| rates[*t].iter().all(|rate| rate.is_finite());
        let candidates: Vec<Mixture> = (0..rates.len())
            .filter(numbers)
            .map(|t| evaluate(self.problem, &rates, vec![(t, 1.0)]))
            .filter(|candidate| candidate.violation == 0.0)
            .collect();
        let best = candidates.into_iter().min_by(|a, b| a.cost.total_cmp(&b.cost))?;
        let t = best.members.first()?.0;
        let parameters = tried.swap_remove(t);
        let components = vec![Component { probability: 1.0, snapshot: 0, parameters }];
        Some(Chosen { game: mixture.game, components, rates: rates[t].clone(), mixture: best })
    }
}

/// The best mixture of scorers that are known by their scores alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Reach {
    /// The scorers in it, by their places, and the probabilities they are drawn with.
    pub members: Vec<(usize, f64)>,
    /// The stated objective.
    pub objective: f64,
    /// The largest violation, at least 0.
    pub violation: f64,
}

/// The best mixture of scorers that live elsewhere, each given by its scores in the order of the rows.
/// With scorers that cover all there are, it is the limit of what training can reach.
///
/// # Errors
/// Scores that are not finite or not as many as rows; no scorer for which all rates have pairs.
///
/// ```
/// use pairity::examples::{Columns, Examples, Groups};
/// use pairity::goals::{Problem, parse_maximize};
/// use pairity::rates::Average;
/// use pairity::training::reach;
///
/// let groups = Groups::from_names(&["a", "b", "b", "a"]);
/// let labels = [1.0, 0.0, 1.0, 0.0];
/// let examples = Examples::new(Columns {
///     labels: Some(&labels), groups: Some(&groups), queries: Some(&[0, 0, 1, 1]), ..Columns::default()
/// })?;
/// // One scorer gets the first query right, the other one the second.
/// let goal = parse_maximize("min(A[a > b], A[b > a])", &examples.vocabulary())?;
/// let scorers = [vec![1.0, 0.0, 0.0, 1.0], vec![0.0, 1.0, 1.0, 0.0]];
/// let reach = reach(&Problem::new(&goal, true, &[])?, &examples, &scorers, Average::Pairs)?;
/// assert_eq!((reach.members.len(), reach.objective), (2, 0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn reach(
    problem: &Problem,
    examples: &Examples,
    scorers: &[Vec<f64>],
    average: Average,
) -> Result<Reach, TrainError> {
    let rates = |scores: &Vec<f64>| {
        let scores = examples.arrange(scores)?;
        Ok(values_in_order(examples, &scores, &problem.rates, Ties::Half, average))
    };
    let rates: Vec<Vec<f64>> = scorers.par_iter().map(rates).collect::<Result<_, ExamplesError>>()?;
    let Mixture { members, cost, violation } = shrink(problem, &rates).ok_or(TrainError::Nothing)?;
    Ok(Reach { members, objective: problem.stated_objective(cost), violation })
}

fn direction(parameters: &[f64], ranks_only: bool) -> Vec<f64> {
    let length = parameters.iter().map(|x| x * x).sum::<f64>().sqrt();
    match ranks_only && length > 0.0 {
        true => parameters.iter().map(|x| x / length).collect(),
        false => parameters.to_vec(),
    }
}

fn chosen(game: usize, played: &Played, mixture: Mixture) -> Chosen {
    let component = |&(t, probability): &(usize, f64)| Component {
        probability,
        snapshot: played.snapshots[t].iteration,
        parameters: played.snapshots[t].parameters.clone(),
    };
    let components = mixture.members.iter().map(component).collect();
    let rates = super::shrink::expected(&played.rates, &mixture.members);
    Chosen { game, components, mixture, rates }
}

/// The candidate (cost, violation) whose worse of two ranks is lowest; ties by cost. One that meets the
/// goal goes before any that does not, unlike in the reference solver.
fn pick(candidates: &[(f64, f64)]) -> Option<usize> {
    let ranks = |key: fn(&(f64, f64)) -> f64| -> Vec<usize> {
        let mut sorted: Vec<f64> = candidates.iter().map(key).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        candidates.iter().map(|own| sorted.partition_point(|other| *other < key(own))).collect()
    };
    let (by_cost, by_violation) = (ranks(|c| c.0), ranks(|c| c.1));
    let order = |i: usize| (candidates[i].1 > 0.0, by_cost[i].max(by_violation[i]));
    (0..candidates.len())
        .min_by(|&a, &b| order(a).cmp(&order(b)).then(candidates[a].0.total_cmp(&candidates[b].0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pick_meets_the_goal_if_one_does_and_balances_ranks_otherwise() {
        assert_eq!(pick(&[]), None);
        assert_eq!(pick(&[(-0.9, 0.1), (-0.8, 0.0), (-0.7, 0.0)]), Some(1));
        // Ranks by cost 0, 1, 2 and by violation 2, 1, 0: the one in the middle has no bad rank.
        assert_eq!(pick(&[(-0.9, 0.3), (-0.8, 0.2), (-0.7, 0.1)]), Some(1));
    }
}
