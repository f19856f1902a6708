//! From the snapshots of all runs to the answer: a mixture, or one scorer.

use super::executor::Snapshot;
use super::loss::{Sample, SurrogateWeights};
use super::shrink::{Mixture, finite, shrink};
use super::train::TrainError;
use crate::examples::{Examples, ExamplesError};
use crate::goals::Problem;
use crate::learners::Architecture;
use crate::metrics::values_in_order;
use crate::model::Component;
use crate::names::names;
use crate::rates::{Average, Rate, Ties};
use rayon::prelude::*;

/// Steps from one scorer of a pair to the other, when combinations are tried.
const STEPS: usize = 64;

/// Which answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Answer {
    /// The best mixture of the snapshots of one run.
    #[default]
    Mixture,
    /// One scorer if one meets the goal: a snapshot, or a combination of the weights of linear scorers.
    /// Otherwise the mixture.
    Deterministic,
    /// The best single snapshot, even if only a mixture meets the goal.
    Best,
    /// The last snapshot of a run.
    Last,
}

names! { Answer:
    "mixture" => Mixture, "The best mixture";
    "deterministic" => Deterministic, "One scorer if one meets the goal";
    "best" => Best, "The best single snapshot";
    "last" => Last, "The last snapshot";
}

/// The snapshots of a run with their rates on the examples that selection looks at.
pub(crate) struct RunSnapshots {
    pub step_size: f64,
    pub snapshots: Vec<Snapshot>,
    pub rates: Vec<Vec<f64>>,
}

/// What was chosen.
pub(crate) struct Chosen {
    /// The run it comes from.
    pub run: usize,
    pub components: Vec<Component>,
    /// How it does on the selection examples.
    pub mixture: Mixture,
}

/// Selects on a sample.
pub(crate) struct Selector<'a> {
    pub problem: &'a Problem,
    pub architecture: &'a Architecture,
    pub sample: &'a Sample<'a>,
}

impl Selector<'_> {
    /// The scores of a scorer; none if they are not finite.
    fn scores(&self, parameters: &[f64]) -> Option<Vec<f64>> {
        let mut scores = vec![0.0; self.sample.examples().len()];
        self.architecture.score(parameters, &self.sample.features, &mut scores);
        scores.iter().all(|score| score.is_finite()).then_some(scores)
    }

    /// The rates of scorers, by their parameters; NaN where scores are not numbers.
    fn rates<'p>(&self, scorers: impl IndexedParallelIterator<Item = &'p Vec<f64>>) -> Vec<Vec<f64>> {
        let none = || vec![f64::NAN; self.problem.rates.len()];
        let rates = |scores: Vec<f64>| self.sample.true_rates(&self.sample.order(&scores));
        scorers.map(|parameters| self.scores(parameters).map_or_else(none, rates)).collect()
    }

    /// The snapshots of a run with their rates.
    pub(crate) fn rated(&self, (step_size, snapshots): (f64, Vec<Snapshot>)) -> RunSnapshots {
        let rates = self.rates(snapshots.par_iter().map(|snapshot| &snapshot.parameters));
        RunSnapshots { step_size, snapshots, rates }
    }

    /// The answer; none if no snapshot gives numbers.
    pub(crate) fn choose(&self, runs: &[RunSnapshots], answer: Answer) -> Option<Chosen> {
        match answer {
            Answer::Mixture => self.best_mixture(runs),
            Answer::Best => self.best_single(runs, |_| true),
            Answer::Last => self.best_single(runs, |left| left == 0),
            Answer::Deterministic => {
                let single = self.best_single(runs, |_| true)?;
                if single.mixture.assessment.violation == 0.0 {
                    return Some(single);
                }
                let mixture = self.best_mixture(runs)?;
                Some(self.combined(&mixture).unwrap_or(mixture))
            }
        }
    }

    /// The snapshot of the lowest loss, with the sample's term in it; none if no snapshot gives numbers.
    pub(crate) fn least_loss(&self, runs: &[RunSnapshots]) -> Option<Chosen> {
        let problem = self.problem;
        let mut weights = SurrogateWeights::default();
        weights.set(problem, problem.objective.iter().map(|form| (form, 1.0)));
        let loss = |parameters: &[f64]| {
            let Some(scores) = self.scores(parameters) else { return f64::INFINITY };
            let order = self.sample.order(&scores);
            self.sample.loss(&order, &weights, &mut vec![0.0; scores.len()], &mut Vec::new())
        };
        let of_run = |(run, own): (usize, &RunSnapshots)| (0..own.snapshots.len()).map(move |t| (run, t));
        let all: Vec<(usize, usize)> = runs.iter().enumerate().flat_map(of_run).collect();
        let losses = all.par_iter().map(|&(run, t)| (loss(&runs[run].snapshots[t].parameters), run, t));
        let losses: Vec<_> = losses.filter(|(loss, ..)| loss.is_finite()).collect();
        let (_, run, t) = losses.into_iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(chosen(run, &runs[run], Mixture::new(problem, &runs[run].rates, vec![(t, 1.0)])))
    }

    /// The best of the runs' best mixtures.
    fn best_mixture(&self, runs: &[RunSnapshots]) -> Option<Chosen> {
        let mixtures = runs.iter().enumerate();
        let mixtures = mixtures.filter_map(|(run, own)| Some((run, shrink(self.problem, &own.rates)?)));
        best_of(runs, mixtures.collect())
    }

    /// The best snapshot among those whose number of snapshots after them is accepted.
    fn best_single(&self, runs: &[RunSnapshots], accepts: fn(usize) -> bool) -> Option<Chosen> {
        let of_run = |(run, RunSnapshots { rates, .. }): (usize, &RunSnapshots)| {
            let accepted = self.singles(rates, |t| accepts(rates.len() - 1 - t));
            accepted.map(|single| (run, single)).collect::<Vec<_>>()
        };
        best_of(runs, runs.iter().enumerate().flat_map(of_run).collect())
    }

    /// Each accepted scorer by itself, if its rates are numbers.
    fn singles(&self, rates: &[Vec<f64>], accepts: impl Fn(usize) -> bool) -> impl Iterator<Item = Mixture> {
        let accepted = finite(rates).filter(move |&t| accepts(t));
        accepted.map(move |t| Mixture::new(self.problem, rates, vec![(t, 1.0)]))
    }

    /// The snapshot with the best objective, whatever the constraints.
    pub(crate) fn unbound(&self, runs: &[RunSnapshots]) -> Option<Component> {
        let all = runs.iter().flat_map(|run| run.rates.iter().zip(&run.snapshots));
        let costs = all.map(|(rates, snapshot)| (self.problem.cost(rates), snapshot));
        let best = costs.filter(|(cost, _)| cost.is_finite()).min_by(|a, b| a.0.total_cmp(&b.0));
        best.map(|(_, snapshot)| component(snapshot, 1.0))
    }

    /// One linear scorer that meets the goal, on the way from one scorer of a mixture to another: weights
    /// of length 1 are averaged, as the length of weights does not change an order.
    fn combined(&self, mixture: &Chosen) -> Option<Chosen> {
        if !matches!(self.architecture, Architecture::Linear(_)) {
            return None;
        }
        let ranks_only = !self.problem.uses(Rate::Mse);
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
        let rates = self.rates(tried.par_iter());
        let feasible = self.singles(&rates, |_| true).filter(|single| single.assessment.violation == 0.0);
        let best = feasible.min_by(|a, b| a.assessment.cost.total_cmp(&b.assessment.cost))?;
        let parameters = tried.swap_remove(best.members.first()?.0);
        let components = vec![Component { probability: 1.0, snapshot: 0, parameters }];
        Some(Chosen { run: mixture.run, components, mixture: best })
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
/// use pairity::solvers::reach;
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
    Reach::of(problem, &rates)
}

impl Reach {
    /// The best mixture of scorers whose rates stand in the order of the problem's.
    pub(super) fn of(problem: &Problem, rates: &[Vec<f64>]) -> Result<Reach, TrainError> {
        let Mixture { members, assessment } = shrink(problem, rates).ok_or(TrainError::Nothing)?;
        let objective = problem.stated_objective(assessment.cost);
        Ok(Reach { members, objective, violation: assessment.violation })
    }
}

fn direction(parameters: &[f64], ranks_only: bool) -> Vec<f64> {
    let length = parameters.iter().map(|x| x * x).sum::<f64>().sqrt();
    match ranks_only && length > 0.0 {
        true => parameters.iter().map(|x| x / length).collect(),
        false => parameters.to_vec(),
    }
}

/// The best of some mixtures, given with the runs that they come from.
fn best_of(runs: &[RunSnapshots], mixtures: Vec<(usize, Mixture)>) -> Option<Chosen> {
    let values: Vec<(f64, f64)> =
        mixtures.iter().map(|(_, own)| (own.assessment.cost, own.assessment.violation)).collect();
    let (run, mixture) = mixtures.into_iter().nth(pick(&values)?)?;
    Some(chosen(run, &runs[run], mixture))
}

fn chosen(run: usize, own: &RunSnapshots, mixture: Mixture) -> Chosen {
    let members = mixture.members.iter();
    let components = members.map(|&(t, probability)| component(&own.snapshots[t], probability)).collect();
    Chosen { run, components, mixture }
}

fn component(snapshot: &Snapshot, probability: f64) -> Component {
    let Snapshot { iteration, parameters, .. } = snapshot;
    Component { probability, snapshot: *iteration, parameters: parameters.clone() }
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
