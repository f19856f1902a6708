//! Training: a game for each step size, the best mixture of each game's snapshots, the best of these.

use super::game::{Rules, Sample, Snapshot, play};
use super::players::Player;
use super::problem::{Problem, ProblemError};
use super::shrink::{Mixture, expected, shrink, value};
use crate::examples::Examples;
use crate::metrics::values_in_order;
use crate::rates::{Average, Ties};
use crate::scorers::{Architecture, Component, Features, Scorer, ScorerError};
use crate::surrogates::{Kind, Surrogate, SurrogateError};
use std::time::{Duration, Instant};

/// How training is done.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainSettings {
    /// Steps of each game.
    pub iterations: usize,
    /// Scorers kept of each game, at regular intervals.
    pub snapshots: usize,
    /// Step sizes to try, each in a game of its own.
    pub step_sizes: Vec<f64>,
    /// Who weighs the constraints.
    pub player: Player,
    /// What the scorer descends in place of rates.
    pub surrogate: Kind,
    /// How rates of queries become one.
    pub average: Average,
    /// Of the scorer's start.
    pub seed: u64,
    /// When to stop with the best so far.
    pub time_limit: Option<Duration>,
}

impl Default for TrainSettings {
    /// The paper's: 2,500 iterations, 100 snapshots, step sizes 0.001 to 10.
    fn default() -> TrainSettings {
        TrainSettings {
            iterations: 2_500,
            snapshots: 100,
            step_sizes: vec![1e-3, 1e-2, 0.1, 1.0, 10.0],
            player: Player::Swap,
            surrogate: Kind::Hinge,
            average: Average::Pairs,
            seed: 0,
            time_limit: None,
        }
    }
}

/// Why training could not start.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TrainError {
    /// The goal can't be trained for on these examples.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The scorer does not fit the features.
    #[error(transparent)]
    Scorer(#[from] ScorerError),
    /// The surrogates can't be made.
    #[error(transparent)]
    Surrogate(#[from] SurrogateError),
    /// A setting is out of its range.
    #[error("{name} is {found}; it has to be {allowed}")]
    Setting {
        /// Which setting.
        name: &'static str,
        /// What it is.
        found: String,
        /// What it may be.
        allowed: &'static str,
    },
    /// Examples and features are of different lengths.
    #[error(
        "there are {features} rows of features for {rows} rows of examples: they have to be the same rows"
    )]
    Rows {
        /// Rows of features.
        features: usize,
        /// Rows of examples.
        rows: usize,
    },
    /// Every step size led to scores that are not numbers.
    #[error(
        "no step size led to a scorer: scores became infinite or time ran out; try smaller step sizes, or standardize the features"
    )]
    Nothing,
}

/// How training ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// One scorer meets every constraint.
    Feasible,
    /// A mixture of scorers does.
    FeasibleAsMixture,
    /// The best mixture found misses a constraint, and no longer came nearer.
    Infeasible,
    /// Time ran out.
    TimeLimit,
    /// The best mixture found misses a constraint, but was still coming nearer.
    NotConverged,
}

impl Status {
    /// The status as it is written in reports.
    pub fn name(self) -> &'static str {
        match self {
            Status::Feasible => "feasible",
            Status::FeasibleAsMixture => "feasible_as_mixture",
            Status::Infeasible => "infeasible",
            Status::TimeLimit => "time_limit",
            Status::NotConverged => "not_converged",
        }
    }
}

/// A stochastic model and how well it does on the examples it was selected on.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// How training ended.
    pub status: Status,
    /// Scorers and the probabilities they are drawn with.
    pub components: Vec<Component>,
    /// The step size whose game they come from.
    pub step_size: f64,
    /// The stated objective at the expected rates.
    pub objective: f64,
    /// By how much each constraint is missed at the expected rates; 0 or less where it is met.
    pub violations: Vec<f64>,
}

/// Trains a scorer for a problem. Rows of `features` are those of `train`; mixtures are selected on
/// `validation`, or on the training examples without one.
///
/// # Errors
/// Settings out of range, features that don't fit, rates without pairs in the training examples.
pub fn train(
    problem: &Problem,
    scorer: &Architecture,
    train: (&Examples, &Features),
    validation: Option<(&Examples, &Features)>,
    settings: &TrainSettings,
) -> Result<Trained, TrainError> {
    check(settings)?;
    let sample = arrange(scorer, train)?;
    let selection = match validation {
        Some(validation) => arrange(scorer, validation)?,
        None => Sample { examples: sample.examples, features: sample.features.clone() },
    };
    for part in [&sample, &selection] {
        check_pairs(problem, part, settings)?;
    }
    let rules = Rules {
        iterations: settings.iterations,
        snapshots: settings.snapshots,
        player: settings.player,
        surrogate: settings.surrogate,
        average: settings.average,
        seed: settings.seed,
    };
    let start = Instant::now();
    let in_time = || settings.time_limit.is_none_or(|limit| start.elapsed() < limit);
    let mut games = Vec::new();
    for &step_size in &settings.step_sizes {
        // The first game is played however little time there is, so that there is a model.
        let first = games.is_empty();
        let go_on =
            |iteration: usize| in_time() || (first && iteration <= settings.iterations / settings.snapshots);
        let snapshots = play(problem, scorer, &sample, &rules, step_size, &go_on)?;
        games.extend(Played::new(problem, scorer, &selection, snapshots, step_size, settings.average));
    }
    let timed_out = !in_time();
    let best = pick(&games).ok_or(TrainError::Nothing)?;
    Ok(games.swap_remove(best).result(problem, timed_out))
}

/// Examples and features in one order.
fn arrange<'a>(
    scorer: &Architecture,
    (examples, features): (&'a Examples, &Features),
) -> Result<Sample<'a>, TrainError> {
    if features.rows() != examples.rows() {
        return Err(TrainError::Rows { features: features.rows(), rows: examples.rows() });
    }
    scorer.check(features)?;
    Ok(Sample { examples, features: features.select(&examples.row) })
}

fn check(settings: &TrainSettings) -> Result<(), TrainError> {
    let wrong = |name, found: String, allowed| Err(TrainError::Setting { name, found, allowed });
    if settings.iterations == 0 {
        return wrong("iterations", "0".into(), "at least 1");
    }
    if settings.snapshots == 0 || settings.snapshots > settings.iterations {
        return wrong("snapshots", settings.snapshots.to_string(), "between 1 and the number of iterations");
    }
    match settings.step_sizes.iter().find(|size| !(**size > 0.0 && size.is_finite())) {
        Some(size) => wrong("the step size", size.to_string(), "a number above 0"),
        None if settings.step_sizes.is_empty() => wrong("step sizes", "no number".into(), "at least one"),
        None => Ok(()),
    }
}

/// Every rate of the problem needs pairs, in training and in selection.
fn check_pairs(problem: &Problem, sample: &Sample, settings: &TrainSettings) -> Result<(), TrainError> {
    let scores = vec![0.0; sample.examples.len()];
    let rates = values_in_order(sample.examples, &scores, &problem.rates, Ties::Half, settings.average);
    match problem.rates.iter().zip(&rates).find(|(_, value)| value.is_nan()) {
        None => Ok(()),
        Some((rate, _)) => {
            let rate = rate.name(sample.examples.groups());
            Err(ProblemError::NoPairs { what: "the goal".to_owned(), rate }.into())
        }
    }
}

/// A game with its best mixture.
struct Played {
    step_size: f64,
    snapshots: Vec<Snapshot>,
    rates: Vec<Vec<f64>>,
    mixture: Mixture,
}

impl Played {
    fn new(
        problem: &Problem,
        scorer: &Architecture,
        selection: &Sample,
        snapshots: Vec<Snapshot>,
        step_size: f64,
        average: Average,
    ) -> Option<Played> {
        let surrogate = Surrogate::new(selection.examples, &problem.rates, average, Kind::Hinge, 1.0).ok()?;
        let mut scores = vec![0.0; selection.examples.len()];
        let rates: Vec<Vec<f64>> = snapshots
            .iter()
            .map(|snapshot| {
                scorer.score(&snapshot.parameters, &selection.features, &mut scores);
                match scores.iter().all(|score| score.is_finite()) {
                    true => surrogate.true_rates(&scores),
                    false => vec![f64::NAN; problem.rates.len()],
                }
            })
            .collect();
        let mixture = shrink(problem, &rates)?;
        Some(Played { step_size, snapshots, rates, mixture })
    }

    fn result(self, problem: &Problem, timed_out: bool) -> Trained {
        let members = &self.mixture.members;
        let rates = expected(&self.rates, members);
        let mut violations = vec![f64::NEG_INFINITY; problem.constraints.len()];
        for bound in &problem.bounds {
            let miss = value(problem, &bound.form, &rates);
            violations[bound.constraint] = violations[bound.constraint].max(miss);
        }
        let met = self.mixture.violation == 0.0;
        let status = match (met, members.len()) {
            _ if timed_out => Status::TimeLimit,
            (true, 1) => Status::Feasible,
            (true, _) => Status::FeasibleAsMixture,
            (false, _) if self.still_improving(problem) => Status::NotConverged,
            (false, _) => Status::Infeasible,
        };
        let component = |&(t, probability): &(usize, f64)| Component {
            probability,
            snapshot: self.snapshots[t].iteration,
            parameters: self.snapshots[t].parameters.clone(),
        };
        Trained {
            status,
            components: members.iter().map(component).collect(),
            step_size: self.step_size,
            objective: if problem.maximize { -self.mixture.cost } else { self.mixture.cost },
            violations,
        }
    }

    /// Whether the last tenth of the snapshots brought the least violation down by more than a tenth.
    fn still_improving(&self, problem: &Problem) -> bool {
        let before = self.rates.len() - self.rates.len() / 10;
        shrink(problem, &self.rates[..before])
            .is_none_or(|earlier| self.mixture.violation < 0.9 * earlier.violation)
    }
}

/// The game whose worse of two ranks, by objective and by violation, is lowest; ties by objective. A game
/// that meets the goal goes before any that does not.
fn pick(games: &[Played]) -> Option<usize> {
    let rank = |key: &dyn Fn(&Played) -> f64, own: &Played| {
        games.iter().filter(|other| key(other) < key(own)).count()
    };
    let cost = |game: &Played| game.mixture.cost;
    let violation = |game: &Played| game.mixture.violation;
    (0..games.len()).min_by(|&a, &b| {
        let order = |i: usize| {
            let game = &games[i];
            (violation(game) > 0.0, rank(&cost, game).max(rank(&violation, game)))
        };
        order(a).cmp(&order(b)).then(cost(&games[a]).total_cmp(&cost(&games[b])))
    })
}
