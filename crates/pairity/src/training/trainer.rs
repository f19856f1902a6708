//! Training: a game for each step size, the best mixture of each game's snapshots, the best of these.

use super::answer::{Answer, Played, Selection};
use super::checkpoint::{Checkpoint, fingerprint};
use super::game::{Arena, Game, Rules};
use super::players::Player;
use super::sample::Sample;
use super::shrink::shrink;
use super::watch::{Progress, Watch};
use crate::examples::{Examples, ExamplesError};
use crate::goals::{Problem, ProblemError};
use crate::metrics::values_in_order;
use crate::pairs::{Membership, SurrogateError, SurrogateKind};
use crate::rates::{Average, Ties};
use crate::scorers::{Architecture, Component, Features, Scorer, ScorerError};
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Games pause this often at least, for progress, checkpoints and whoever wants to stop them. When they
/// pause has no influence on how they go on.
const PAUSE: Duration = Duration::from_millis(200);

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
    pub surrogate: SurrogateKind,
    /// How rates of queries become one.
    pub average: Average,
    /// Queries, or rows without queries, that each step looks at; all if none is given.
    pub batch: Option<usize>,
    /// Of the scorer's start, the order of batches and dropout.
    pub seed: u64,
    /// When to stop with the best so far.
    pub time_limit: Option<Duration>,
    /// Which answer is wanted.
    pub answer: Answer,
    /// What is added to the loss of the scorer.
    pub penalty: Option<Penalty>,
    /// Parameters to start from, such as those of a scorer for a similar goal.
    pub start: Option<Vec<f64>>,
}

/// A penalty on the correlation between the residuals of pairs and the protected attribute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Penalty {
    /// What the correlation weighs beside the loss.
    pub weight: f64,
    /// Which pairs it is taken over.
    pub membership: Membership,
}

impl Default for TrainSettings {
    /// The paper's: 2,500 iterations, 100 snapshots, step sizes 0.001 to 10, all examples at once.
    fn default() -> TrainSettings {
        TrainSettings {
            iterations: 2_500,
            snapshots: 100,
            step_sizes: vec![1e-3, 1e-2, 0.1, 1.0, 10.0],
            player: Player::Swap,
            surrogate: SurrogateKind::Hinge,
            average: Average::Pairs,
            batch: None,
            seed: 0,
            time_limit: None,
            answer: Answer::Mixture,
            penalty: None,
            start: None,
        }
    }
}

/// What is trained on. All examples are parts of one table, whose rows the features are of.
#[derive(Clone, Copy)]
pub struct Data<'a> {
    /// The features of all rows.
    pub features: &'a Features,
    /// What the scorer is fit to.
    pub train: &'a Examples,
    /// What the multipliers look at, if that is something else: constraints that are enforced on
    /// examples which the scorer does not see carry over to new data.
    pub multipliers: Option<&'a Examples>,
    /// What the answer is selected on; the training examples (and those of the multipliers) without it.
    pub validation: Option<&'a Examples>,
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
    /// The scores can't be measured.
    #[error(transparent)]
    Examples(#[from] ExamplesError),
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
        "no step size led to a scorer: scores became infinite; try smaller step sizes, or standardize the features"
    )]
    Nothing,
    /// A checkpoint can't be read.
    #[error("this is no checkpoint of a training run: {cause}")]
    Checkpoint {
        /// What is wrong with it.
        cause: String,
    },
    /// A checkpoint of another run.
    #[error(
        "the checkpoint is of a run with other data, another goal or other settings: give those again, or start anew without it"
    )]
    OtherRun,
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
    /// Time ran out, or somebody stopped it.
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

/// A point on the way of a game.
#[derive(Debug, Clone, PartialEq)]
pub struct TracePoint {
    /// Steps made.
    pub iteration: usize,
    /// The stated objective.
    pub objective: f64,
    /// The largest violation, at least 0.
    pub violation: f64,
    /// What the objective and then each constraint of the problem weighed.
    pub weights: Vec<f64>,
}

/// A stochastic model and how well it does on the examples it was selected on.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// How training ended.
    pub status: Status,
    /// Whether every constraint is met on the examples of the selection.
    pub meets_goal: bool,
    /// Scorers and the probabilities they are drawn with.
    pub components: Vec<Component>,
    /// The step size whose game they come from.
    pub step_size: f64,
    /// The stated objective at the expected rates.
    pub objective: f64,
    /// By how much each constraint is missed at the expected rates; 0 or less where it is met.
    pub violations: Vec<f64>,
    /// The snapshot of all games with the best objective, whatever the constraints: beside it one sees what
    /// they cost. None where there are no constraints.
    pub unbound: Option<Component>,
    /// The way of that game.
    pub trace: Vec<TracePoint>,
}

/// Trains a scorer for a problem.
///
/// # Errors
/// Settings out of range, features that don't fit, rates without pairs in the examples.
///
/// ```
/// use pairity::examples::{Columns, Examples};
/// use pairity::goals::{Problem, parse_maximize};
/// use pairity::scorers::{Architecture, Features, GroupUse, Linear};
/// use pairity::training::{Data, Status, TrainSettings, Watch, train};
///
/// let examples = Examples::new(Columns { labels: Some(&[0.0, 1.0, 2.0]), ..Columns::default() })?;
/// let features = Features::new(3, 1, vec![5.0, 3.0, 1.0])?;
/// let scorer = Architecture::Linear(Linear { width: 1, intercept: false, start: 1.0, groups: GroupUse::Blind });
/// let problem = Problem::new(&parse_maximize("auc", &examples.vocabulary())?, true, &[])?;
/// let data = Data { features: &features, train: &examples, multipliers: None, validation: None };
/// let trained = train(&problem, &scorer, &data, &TrainSettings::default(), Watch::default())?;
/// assert_eq!((trained.status, trained.objective), (Status::Feasible, 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn train(
    problem: &Problem,
    scorer: &Architecture,
    data: &Data,
    settings: &TrainSettings,
    mut watch: Watch,
) -> Result<Trained, TrainError> {
    check(settings)?;
    if let Some(found) = settings.start.as_ref().map(Vec::len).filter(|&found| found != scorer.len()) {
        let (name, allowed) = ("the start", "as many parameters as the scorer has");
        return Err(TrainError::Setting { name, found: format!("{found} parameters"), allowed });
    }
    let sample = Sample::new(scorer, data.train, data.features)?;
    let arrange = |examples| Sample::new(scorer, examples, data.features);
    let multipliers = data.multipliers.map(arrange).transpose()?;
    let validation = data.validation.map(arrange).transpose()?;
    for part in [Some(&sample), multipliers.as_ref(), validation.as_ref()].into_iter().flatten() {
        check_pairs(problem, part.examples, settings.average)?;
    }
    let rules = Rules {
        iterations: settings.iterations,
        every: settings.iterations / settings.snapshots,
        player: settings.player,
        surrogate: settings.surrogate,
        average: settings.average,
        batch: settings.batch,
        seed: settings.seed,
        penalty: settings.penalty,
        start: settings.start.clone(),
    };
    let arena = Arena::new(problem, scorer, rules, data.features, &sample, multipliers.as_ref())?;
    let own = fingerprint(problem, scorer, data, settings);
    let mut games = match watch.resume.take() {
        Some(checkpoint) => checkpoint.resume(own)?,
        None => settings.step_sizes.iter().map(|&step_size| arena.start(step_size)).collect(),
    };
    let stopped = play(&arena, &mut games, settings, &watch, own);
    // What the scorer was fit to is seen by selection if there is nothing else, and what it was held to.
    let selection = validation.as_ref().or(multipliers.as_ref()).unwrap_or(&sample);
    let selection = Selection { problem, scorer, sample: selection, average: settings.average };
    let played: Vec<Played> = games
        .into_iter()
        .map(|game| {
            let last = (stopped && !arena.is_over(&game)).then(|| arena.current(&game));
            let mut snapshots = game.snapshots;
            snapshots.extend(last);
            let parameters: Vec<&[f64]> = snapshots.iter().map(|s| s.parameters.as_slice()).collect();
            let rates = selection.rates(&parameters);
            Played { step_size: game.step_size, snapshots, rates }
        })
        .collect();
    let chosen = match settings.penalty {
        None => selection.choose(&played, settings.answer),
        Some(penalty) => selection.least_loss(&played, settings.surrogate, penalty)?,
    };
    let chosen = chosen.ok_or(TrainError::Nothing)?;
    let game = &played[chosen.game];
    let found = problem.assess(&chosen.rates);
    let (violations, meets_goal) = (found.misses, found.met);
    let status = match (meets_goal, chosen.components.len()) {
        _ if stopped => Status::TimeLimit,
        (true, 1) => Status::Feasible,
        (true, _) => Status::FeasibleAsMixture,
        (false, _) if still_improving(problem, game, chosen.mixture.violation) => Status::NotConverged,
        (false, _) => Status::Infeasible,
    };
    let point = |snapshot: &super::game::Snapshot| TracePoint {
        iteration: snapshot.iteration,
        objective: problem.stated_objective(snapshot.standing.cost),
        violation: snapshot.standing.violation,
        weights: problem.weights_by_constraint(&snapshot.weights),
    };
    Ok(Trained {
        status,
        meets_goal,
        objective: problem.stated_objective(chosen.mixture.cost),
        components: chosen.components,
        step_size: game.step_size,
        violations,
        unbound: if problem.constraints.is_empty() { None } else { selection.unbound(&played) },
        trace: game.snapshots.iter().map(point).collect(),
    })
}

/// Plays all games side by side, pausing for progress and checkpoints. Returns whether they were stopped
/// before their end.
fn play(arena: &Arena, games: &mut [Game], settings: &TrainSettings, watch: &Watch, own: u64) -> bool {
    let start = Instant::now();
    let in_time = || settings.time_limit.is_none_or(|limit| start.elapsed() < limit);
    let (mut saved, mut took) = (Instant::now(), Duration::ZERO);
    while games.iter().any(|game| !arena.is_over(game)) {
        let pause = Instant::now();
        // However little time there is, every game makes a step, so that there is a model. The scope makes
        // even a single game run on one of the pool's own threads: from outside, each of its steps would
        // wait for another thread to wake up, several times.
        rayon::scope(|_| {
            games.par_iter_mut().for_each(|game| {
                let to = game.iteration + settings.iterations / settings.snapshots;
                arena.play(game, &|game| game.iteration < to && pause.elapsed() < PAUSE && in_time());
            });
        });
        let over = games.iter().all(|game| arena.is_over(game));
        let stop = !(watch.progress)(&progress(arena, games, settings)) || !in_time();
        // Large games take long to write: no more than a tenth of the time goes there.
        if (stop && !over) || saved.elapsed() >= watch.save_every.max(10 * took) {
            let started = Instant::now();
            (watch.save)(&Checkpoint::new(own, games));
            took = started.elapsed();
            saved = Instant::now();
        }
        if stop && !over {
            return true;
        }
    }
    false
}

/// How far all games have come, and the best standing among them.
fn progress(arena: &Arena, games: &[Game], settings: &TrainSettings) -> Progress {
    let done = |game: &Game| if arena.is_over(game) { settings.iterations } else { game.iteration };
    let playing = games.iter().filter(|game| !game.broken);
    let best = playing
        .map(|game| game.standing)
        .min_by(|a, b| a.violation.total_cmp(&b.violation).then(a.cost.total_cmp(&b.cost)));
    let best = best.unwrap_or_default();
    Progress {
        done: games.iter().map(done).sum(),
        iterations: games.len() * settings.iterations,
        objective: arena.problem.stated_objective(best.cost),
        violation: best.violation,
    }
}

fn check(settings: &TrainSettings) -> Result<(), TrainError> {
    let wrong = |name, found: String, allowed| Err(TrainError::Setting { name, found, allowed });
    if settings.iterations == 0 {
        return wrong("iterations", "0".into(), "at least 1");
    }
    if settings.snapshots == 0 || settings.snapshots > settings.iterations {
        return wrong("snapshots", settings.snapshots.to_string(), "between 1 and the number of iterations");
    }
    if settings.batch == Some(0) {
        return wrong("the batch", "0".into(), "at least 1 query or row");
    }
    if let Some(penalty) = settings.penalty.filter(|p| !(p.weight >= 0.0 && p.weight.is_finite())) {
        return wrong("the weight of the penalty", penalty.weight.to_string(), "a number of at least 0");
    }
    match settings.step_sizes.iter().find(|size| !(**size > 0.0 && size.is_finite())) {
        Some(size) => wrong("the step size", size.to_string(), "a number above 0"),
        None if settings.step_sizes.is_empty() => wrong("step sizes", "no number".into(), "at least one"),
        None => Ok(()),
    }
}

/// Every rate of the problem needs pairs, in training and in selection.
pub(super) fn check_pairs(
    problem: &Problem,
    examples: &Examples,
    average: Average,
) -> Result<(), TrainError> {
    let scores = vec![0.0; examples.len()];
    let rates = values_in_order(examples, &scores, &problem.rates, Ties::Half, average);
    match problem.rates.iter().zip(&rates).find(|(_, value)| value.is_nan()) {
        None => Ok(()),
        Some((rate, _)) => {
            let rate = rate.name(examples.groups());
            Err(ProblemError::NoPairs { what: "the goal".to_owned(), rate }.into())
        }
    }
}

/// Whether the last tenth of the snapshots brought the least violation down by more than a tenth.
fn still_improving(problem: &Problem, game: &Played, violation: f64) -> bool {
    let before = game.rates.len() - game.rates.len() / 10;
    shrink(problem, &game.rates[..before]).is_none_or(|earlier| violation < 0.9 * earlier.violation)
}
