//! From the snapshots of all runs to the answer: a mixture, or one scorer.
//!
//! It is the one that misses the constraints by the least and, at that, has the best objective. On few rows
//! chance alone lets a scorer that is no better than a constant meet any bound, so noise is weighed: where
//! another one misses each constraint by at most a standard error more, has an objective that is better by more
//! than its own, and gains more than twice as much over a constant score, that one is taken.

use super::executor::Snapshot;
use super::loss::{Sample, SurrogateWeights};
use super::shrink::{Mixture, finite, shrink, shrink_within};
use super::train::TrainError;
use crate::examples::{Examples, ExamplesError};
use crate::goals::{Assessment, Expression, Problem, TOLERANCE};
use crate::learners::Architecture;
use crate::metrics::{Measurement, Settings, values_in_order};
use crate::model::Component;
use crate::names::names;
use crate::pairs::Wanted;
use crate::rates::{Average, Rate, Ties};
use crate::threads;

/// Scores that are held at once.
const SCORES: usize = 1 << 23;

/// Steps from one scorer of a pair to the other, when combinations are tried.
const STEPS: usize = 64;

/// Which answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Answer {
    /// The best mixture where there are queries, each of which draws one of its scorers; without queries, where
    /// one draw would serve the whole table, the best single scorer: a snapshot, or a combination of the weights
    /// of linear scorers.
    #[default]
    Auto,
    /// The best mixture of the snapshots of all runs.
    Mixture,
    /// The best single scorer if it meets the goal, or if there are no queries. Otherwise the mixture.
    Deterministic,
    /// The best single snapshot, even if only a mixture meets the goal.
    Best,
    /// The best of the last snapshots of all runs.
    Last,
}

names! { Answer:
    "auto" => Auto, "The best mixture, or one scorer if there are no queries";
    "mixture" => Mixture, "The best mixture";
    "deterministic" => Deterministic, "One scorer if one meets the goal";
    "best" => Best, "The best single snapshot";
    "last" => Last, "The last snapshot";
}

impl Answer {
    /// Whether mixtures are looked at, on examples with or without queries.
    pub fn mixes(self, queries: bool) -> bool {
        match self {
            Answer::Auto | Answer::Deterministic => queries,
            Answer::Mixture => true,
            Answer::Best | Answer::Last => false,
        }
    }
}

/// How a model does on the rows it was chosen on, beside which another was chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PassedOver {
    /// The stated objective.
    pub objective: f64,
    /// The largest violation, at least 0.
    pub violation: f64,
}

/// What was chosen.
pub(crate) struct Chosen {
    pub mixture: Mixture,
    /// What misses the constraints by less, but only inside of their noise.
    pub passed_over: Option<PassedOver>,
}

/// A scorer that may be chosen.
pub(crate) struct Candidate {
    /// The run it comes from.
    pub run: usize,
    /// Whether it is among the last tenth of its run.
    pub late: bool,
    /// Whether it is the last one.
    pub last: bool,
    pub snapshot: Snapshot,
}

/// The snapshots of all runs with their rates on the examples that selection looks at.
pub(crate) struct CandidateSet {
    pub scorers: Vec<Candidate>,
    pub rates: Vec<Vec<f64>>,
}

impl CandidateSet {
    /// A scorer as a part of a model.
    pub(crate) fn component(&self, (place, probability): (usize, f64)) -> Component {
        let Snapshot { iteration, parameters, .. } = &self.scorers[place].snapshot;
        Component { probability, snapshot: *iteration, parameters: parameters.clone() }
    }
}

/// Selects on a sample.
pub(crate) struct Selector<'a> {
    pub problem: &'a Problem,
    pub architecture: &'a Architecture,
    pub sample: &'a Sample<'a>,
    pub measure: Settings,
}

impl Selector<'_> {
    /// The scores of a scorer; none if they are not finite.
    fn scores(&self, parameters: &[f64]) -> Option<Vec<f64>> {
        let mut scores = vec![0.0; self.sample.examples().len()];
        self.architecture.score(parameters, &self.sample.features, &mut scores);
        scores.iter().all(|score| score.is_finite()).then_some(scores)
    }

    /// The scorers of some runs with their rates: NaN where scores are not numbers.
    pub(crate) fn rated(&self, scorers: Vec<Candidate>) -> CandidateSet {
        let none = || vec![f64::NAN; self.problem.rates.len()];
        let rates = |scores: &Vec<f64>| match scores.iter().all(|score| score.is_finite()) {
            true => self.sample.true_rates(&self.sample.order(scores)),
            false => none(),
        };
        // Many at a time, as features may be far away, but not all their scores at once.
        let at_once = (SCORES / self.sample.examples().len().max(1)).max(1);
        let mut all = Vec::with_capacity(scorers.len());
        for some in scorers.chunks(at_once) {
            let unknown = some.iter().filter(|own| own.snapshot.rates.is_none());
            let unknown: Vec<&[f64]> = unknown.map(|own| &own.snapshot.parameters[..]).collect();
            let scores = self.architecture.scores(&unknown, &self.sample.features);
            let mut found = threads::map(&scores, &rates).into_iter();
            let known = |own: &Candidate| own.snapshot.rates.clone().or_else(|| found.next());
            all.extend(some.iter().map(known).map(|rates| rates.unwrap_or_else(none)));
        }
        CandidateSet { rates: all, scorers }
    }

    /// The answer; none if no snapshot gives numbers. Combinations of weights that are tried join the
    /// candidates.
    pub(crate) fn choose(&self, candidates: &mut CandidateSet, answer: Answer) -> Option<Chosen> {
        match answer {
            Answer::Best => return self.best_single(candidates, |_| true),
            Answer::Last => return self.best_single(candidates, |own| own.last),
            Answer::Auto | Answer::Mixture | Answer::Deterministic => {}
        }
        let mixture = self.best_mixture(candidates)?;
        let queries = self.sample.examples().has_queries();
        if answer != Answer::Deterministic && answer.mixes(queries) {
            return Some(mixture);
        }
        self.combine(candidates, &mixture.mixture);
        let single = self.best_single(candidates, |_| true)?;
        Some(if single.mixture.assessment.met || !queries { single } else { mixture })
    }

    /// The snapshot of the lowest loss, with the sample's term in it; none if no snapshot gives numbers.
    pub(crate) fn least_loss(&self, candidates: &CandidateSet) -> Option<Chosen> {
        let problem = self.problem;
        let mut weights = SurrogateWeights::default();
        weights.set(problem, problem.objective.iter().map(|form| (form, 1.0)));
        let loss = |own: &Candidate| {
            let Some(scores) = self.scores(&own.snapshot.parameters) else { return f64::INFINITY };
            let order = self.sample.order(&scores);
            self.sample.loss(&order, &weights, &mut vec![0.0; scores.len()], Wanted::Value, None)
        };
        let losses: Vec<f64> = threads::map(&candidates.scorers, &loss);
        let best = least((0..losses.len()).filter(|&t| losses[t].is_finite()), |&t| losses[t])?;
        let mixture = Mixture::new(problem, &candidates.rates, vec![(best, 1.0)]);
        Some(Chosen { mixture, passed_over: None })
    }

    fn best_mixture(&self, candidates: &CandidateSet) -> Option<Chosen> {
        self.weighed(candidates, |room| shrink_within(self.problem, &candidates.rates, room))
    }

    /// The best of the scorers that are accepted.
    fn best_single(&self, candidates: &CandidateSet, accepts: fn(&Candidate) -> bool) -> Option<Chosen> {
        let accepted = finite(&candidates.rates).filter(|&t| accepts(&candidates.scorers[t]));
        let single = |t: usize| Mixture::new(self.problem, &candidates.rates, vec![(t, 1.0)]);
        let singles: Vec<Mixture> = accepted.map(single).collect();
        // Firm constraints first: the others are met as well as these allow.
        let worst = |own: &Mixture, firm: bool| {
            let misses = own.assessment.misses.iter().enumerate();
            let own = misses.filter(|(at, _)| self.problem.is_firm(*at) == firm).map(|(_, &miss)| miss);
            own.filter(|&miss| miss > TOLERANCE).fold(0.0, f64::max)
        };
        let firm = worst(least(singles.iter(), |own| worst(own, true))?, true);
        let held = singles.iter().filter(|own| worst(own, true) <= firm + TOLERANCE);
        let soft = worst(least(held, |own| worst(own, false))?, false);
        self.weighed(candidates, |room| {
            let fits = |own: &&Mixture| {
                let mut misses = own.assessment.misses.iter().zip(room).enumerate();
                let most = |at| if self.problem.is_firm(at) { firm } else { soft };
                misses.all(|(at, (miss, room))| *miss <= most(at) + room + TOLERANCE)
            };
            least(singles.iter().filter(fits), |own| own.assessment.cost).cloned()
        })
    }

    /// The best of what misses the constraints by the least, unless that is garbage: `best` gives the answer where
    /// each constraint may be missed by so much more.
    fn weighed(&self, candidates: &CandidateSet, best: impl Fn(&[f64]) -> Option<Mixture>) -> Option<Chosen> {
        let strict = best(&vec![0.0; self.problem.constraints.len()])?;
        let taken = self.loose(candidates, &strict, best).map(|mixture| {
            let Assessment { cost, violation, .. } = strict.assessment;
            let passed_over = PassedOver { objective: self.problem.stated_objective(cost), violation };
            Chosen { mixture, passed_over: Some(passed_over) }
        });
        Some(taken.unwrap_or(Chosen { mixture: strict, passed_over: None }))
    }

    /// What is better than the strict answer by so much that the noise of the constraints is a small price.
    fn loose(
        &self,
        candidates: &CandidateSet,
        strict: &Mixture,
        best: impl Fn(&[f64]) -> Option<Mixture>,
    ) -> Option<Mixture> {
        let Assessment { cost, violation, .. } = strict.assessment;
        let unbound = self.far_below(candidates, cost)?;
        let noise = self.noise(&candidates.scorers[unbound.place].snapshot.parameters)?;
        let loose = best(&noise.constraints)?;
        let better = cost - loose.assessment.cost > noise.objective && loose.assessment.violation > violation;
        (better && is_far(cost, loose.assessment.cost, unbound.constant)).then_some(loose)
    }

    /// The scorer with the best objective, whatever the constraints, if it gains more than twice as much over a
    /// constant score as an answer of some cost does.
    pub(crate) fn far_below(&self, candidates: &CandidateSet, cost: f64) -> Option<Unbound> {
        if self.problem.constraints.is_empty() {
            return None;
        }
        let place = self.unbound(candidates)?;
        let labels = self.sample.examples().labels.as_deref().unwrap_or_default();
        let mean = labels.iter().sum::<f64>() / labels.len().max(1) as f64;
        let scores = vec![mean; self.sample.examples().len()];
        // It stands for any order at random, so that equal scores earn a half whatever they earn elsewhere.
        let (examples, average) = (self.sample.examples(), self.measure.average);
        let constant = values_in_order(examples, &scores, &self.problem.rates, Ties::Half, average);
        let constant = self.problem.cost(&constant);
        let unbound = Unbound { place, cost: self.problem.cost(&candidates.rates[place]), constant };
        is_far(cost, unbound.cost, constant).then_some(unbound)
    }

    /// The standard errors of the objective and of each constraint at a scorer; 0 where there is none. They are
    /// taken as half of the way from a value to the farther end of its 95% interval.
    pub(crate) fn noise(&self, parameters: &[f64]) -> Option<Noise> {
        let examples = self.sample.examples();
        let scores = examples.by_row(&self.scores(parameters)?);
        let measured = Measurement::new(examples, &scores, &self.measure).ok()?;
        let error = |expression: &Expression| {
            let metric = measured.expression(expression);
            let (value, low, high) = (metric.value?, metric.low?, metric.high?);
            Some((high - value).max(value - low) / 2.0)
        };
        let constraints = self.problem.constraints.iter();
        Some(Noise {
            objective: error(&self.problem.stated)?,
            constraints: constraints.map(|own| error(&own.expression).unwrap_or(0.0)).collect(),
        })
    }

    /// The snapshot with the best objective, whatever the constraints.
    pub(crate) fn unbound(&self, candidates: &CandidateSet) -> Option<usize> {
        let costs: Vec<f64> = candidates.rates.iter().map(|rates| self.problem.cost(rates)).collect();
        least((0..costs.len()).filter(|&t| costs[t].is_finite()), |&t| costs[t])
    }

    /// Gives the scores of every scorer of a ranking the same spread, a standard deviation of 1 over these
    /// examples, so that they can be averaged, and scores of different draws be shown side by side.
    pub(crate) fn bring_to_one_scale(&self, components: &mut [Component]) {
        if self.problem.uses(Rate::Mse) {
            return;
        }
        for Component { parameters, .. } in components {
            let Some(scores) = self.scores(parameters) else { continue };
            let mean = scores.iter().sum::<f64>() / scores.len() as f64;
            let spread =
                (scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / scores.len() as f64).sqrt();
            if spread > 0.0 {
                self.architecture.scale(parameters, spread.recip());
            }
        }
    }

    /// Adds linear scorers on the way from one scorer of a mixture to another: weights of length 1 are
    /// averaged, as the length of weights does not change an order.
    fn combine(&self, candidates: &mut CandidateSet, mixture: &Mixture) {
        // Where rates are not those of the scorers here, those of combinations can't be told here either.
        let told = |&(t, _): &(usize, f64)| candidates.scorers[t].snapshot.rates.is_some();
        if !matches!(self.architecture, Architecture::Linear(_)) || mixture.members.iter().any(told) {
            return;
        }
        let ranks_only = !self.problem.uses(Rate::Mse);
        let directions: Vec<(usize, Vec<f64>)> = mixture
            .members
            .iter()
            .map(|&(t, _)| {
                let Candidate { run, snapshot, .. } = &candidates.scorers[t];
                (*run, direction(&snapshot.parameters, ranks_only))
            })
            .collect();
        let mut tried = Vec::new();
        for (a, (run, from)) in directions.iter().enumerate() {
            for (_, to) in &directions[a + 1..] {
                tried.extend((1..STEPS).map(|step| {
                    let share = step as f64 / STEPS as f64;
                    let parameters =
                        from.iter().zip(to).map(|(x, y)| (1.0 - share) * x + share * y).collect();
                    let snapshot = Snapshot::of(parameters);
                    Candidate { run: *run, late: true, last: false, snapshot }
                }));
            }
        }
        let CandidateSet { scorers, rates } = self.rated(tried);
        candidates.scorers.extend(scorers);
        candidates.rates.extend(rates);
    }
}

/// The best scorer whatever the constraints.
pub(crate) struct Unbound {
    place: usize,
    pub cost: f64,
    /// The cost of a constant score.
    pub constant: f64,
}

/// Standard errors.
pub(crate) struct Noise {
    objective: f64,
    pub constraints: Vec<f64>,
}

/// Whether a cost is less than half as far below that of a constant score as a better one is.
fn is_far(cost: f64, better: f64, constant: f64) -> bool {
    constant - better > 2.0 * (constant - cost).max(0.0)
}

/// The first of the least.
fn least<T>(all: impl Iterator<Item = T>, key: impl Fn(&T) -> f64) -> Option<T> {
    all.min_by(|a, b| key(a).total_cmp(&key(b)))
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
    let rates: Vec<Vec<f64>> =
        threads::map(scorers, &rates).into_iter().collect::<Result<_, ExamplesError>>()?;
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
