//! Training: a run for each step size, and the best mixture of the snapshots of all runs.

use super::checkpoint::fingerprint;
use super::evaluation::handed_out;
use super::executor::{Executor, RunEnd, RunEnding, Snapshot, Watch};
use super::loss::{LossTerm, Sample};
use super::players::Player;
use super::selection::{Answer, Candidate, CandidateSet, Chosen, PassedOver, Selector};
use super::shrink::{Mixture, shrink};
use super::solver::{Executed, Search, SolverKind, SolverTask, Training};
use super::within::Within;
use crate::examples::{Examples, ExamplesError};
use crate::goals::{Problem, ProblemError};
use crate::learners::{Architecture, Features, ScorerError};
use crate::metrics::Settings;
use crate::model::{Component, ModelError};
use crate::names::names;
use crate::pairs::{SurrogateError, SurrogateKind};
use crate::rates::{Average, Ties};
use std::time::Duration;

/// How training is done.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainSettings {
    /// Steps of each run.
    pub iterations: usize,
    /// Scorers kept of each run, at regular intervals.
    pub snapshots: usize,
    /// Step sizes to try, each in a run of its own.
    pub step_sizes: Vec<f64>,
    /// What moves the scorer toward the goal.
    pub solver: SolverKind,
    /// Who weighs the constraints.
    pub player: Player,
    /// What the scorer descends in place of rates.
    pub surrogate: SurrogateKind,
    /// How rates of queries become one.
    pub average: Average,
    /// What equal scores earn in true rates.
    pub ties: Ties,
    /// Queries, or rows without queries, that each step looks at; all if none is given.
    pub batch: Option<usize>,
    /// Pairs that count in a step, where those inside parts of the rows do; whoever holds the features counts them.
    pub within: Option<Within>,
    /// Of the scorer's start, the order of batches and dropout.
    pub seed: u64,
    /// Snapshots in a row that are no better on the examples of the selection, neither in the objective nor in the
    /// violation, after which a run of the game ends; it makes all its iterations if none is given.
    pub patience: Option<usize>,
    /// When to stop with the best so far.
    pub time_limit: Option<Duration>,
    /// Which answer is wanted.
    pub answer: Answer,
    /// What answers are selected on.
    pub select: Select,
    /// Weight decay on standardized features, for solvers that have one; found by itself if none is given.
    pub l2: Option<f64>,
    /// Parameters to start from, such as those of a scorer for a similar goal.
    pub start: Option<Vec<f64>>,
    /// Parameters of scorers from elsewhere that take part in the selection.
    pub also: Vec<Vec<f64>>,
}

impl Default for TrainSettings {
    /// The paper's: 2,500 iterations, 100 snapshots, step sizes 0.001 to 10, all examples at once.
    fn default() -> TrainSettings {
        TrainSettings {
            iterations: 2_500,
            snapshots: 100,
            step_sizes: vec![1e-3, 1e-2, 0.1, 1.0, 10.0],
            solver: SolverKind::Paper,
            player: Player::Swap,
            surrogate: SurrogateKind::Hinge,
            average: Average::Pairs,
            ties: Ties::Half,
            batch: None,
            within: None,
            seed: 0,
            patience: None,
            time_limit: None,
            answer: Answer::Auto,
            select: Select::Validation,
            l2: None,
            start: None,
            also: Vec::new(),
        }
    }
}

/// What answers are selected on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Select {
    /// The validation part, or without one the rows that scorers are fit to.
    #[default]
    Validation,
    /// All rows but those of the test part, each scored by scorers that were fit to the others.
    CrossFit,
}

names! { Select:
    "validation" => Validation, "On the validation part, or else on the training part";
    "cross-fit" => CrossFit, "On all rows but the test part, each scored by scorers fit to the others";
}

impl TrainSettings {
    /// How rates are measured.
    pub(crate) fn measure(&self) -> Settings {
        Settings { average: self.average, ties: self.ties, ..Settings::default() }
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
    /// What the answer is selected on; without it the examples of the multipliers, or else the training examples.
    pub validation: Option<&'a Examples>,
}

// What errors call the parts.
const TRAINING_PART: &str = "the training part";
const MULTIPLIERS_PART: &str = "the multipliers' share of the training part";
const VALIDATION_PART: &str = "the validation part";

impl<'a> Data<'a> {
    /// The examples that a model is selected on, and what errors call them: the validation part, or what the
    /// scorer was held to, or what it was fit to.
    pub(crate) fn selection(&self) -> (&'a Examples, &'static str) {
        let validation = self.validation.map(|examples| (examples, VALIDATION_PART));
        validation
            .or(self.multipliers.map(|examples| (examples, MULTIPLIERS_PART)))
            .unwrap_or((self.train, TRAINING_PART))
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
    /// The model can't score the examples.
    #[error(transparent)]
    Model(#[from] ModelError),
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
    /// Every step size led to scores that are not numbers.
    #[error(
        "no step size led to a scorer: scores became infinite; try smaller step sizes, or standardize the features"
    )]
    Nothing,
    /// A checkpoint can't be read.
    #[error("this is no checkpoint of a training run: {0}")]
    Checkpoint(String),
    /// A checkpoint of another run.
    #[error(
        "the checkpoint is of a run with other data, another goal or other settings: give those again, or move it away and \
         start anew"
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
    /// The answer misses a constraint, and the least violation found was no longer falling.
    Infeasible,
    /// Time ran out, or somebody stopped it.
    TimeLimit,
    /// The answer misses a constraint, but the least violation found was still falling.
    NotConverged,
}

// As it is written in reports.
names! { Status:
    "feasible" => Feasible, "One scorer meets every constraint";
    "feasible_as_mixture" => FeasibleAsMixture, "A mixture of scorers does";
    "infeasible" => Infeasible, "A constraint is missed, and the least violation found was no longer falling";
    "time_limit" => TimeLimit, "Time ran out, or somebody stopped it";
    "not_converged" => NotConverged, "A constraint is missed, but the least violation found was still falling";
}

/// A point on the way of a run.
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

/// What a model is far below of, as stated objectives on the examples it was selected on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FarBelow {
    /// Of the best scorer, whatever the constraints.
    pub unbound: f64,
    /// Of a constant score.
    pub constant: f64,
}

/// How near an answer is to the best there is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// The stated objective of the answer.
    pub objective: f64,
    /// No mixture of scorers of the same shape that meets the constraints on the same rows is better than this.
    pub bound: f64,
    /// How far they are apart.
    pub gap: f64,
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
    /// The step size of the run that each comes from; not a number where runs have none.
    pub step_sizes: Vec<f64>,
    /// The stated objective at the expected rates.
    pub objective: f64,
    /// By how much each constraint is missed at the expected rates; 0 or less where it is met.
    pub violations: Vec<f64>,
    /// The snapshot of all runs with the best objective, whatever the constraints: beside it one sees what
    /// they cost. None where there are no constraints.
    pub unbound: Option<Component>,
    /// Its stated objective and that of a constant score, where the model keeps less than half of what lies
    /// between them.
    pub far_below: Option<FarBelow>,
    /// What misses the constraints by less, but only inside of their noise and with an objective that is far
    /// worse.
    pub passed_over: Option<PassedOver>,
    /// Whether objective and violations are those of scorers on rows that they were not fit to, in place of the model's.
    pub cross_fit: bool,
    /// Whether they are of all pairs of the rows, whatever their queries, as queries are alike.
    pub across_queries: bool,
    /// Of an answer that is the best on the rows it was fit to and selected on, but for a gap.
    pub certificate: Option<Certificate>,
    /// How many answers were tried in vain after the last that was better, where that is how training ended.
    pub tries: Option<usize>,
    /// How the run of each step size ended.
    pub endings: Vec<RunEnding>,
    /// The way of the run that the likeliest scorer comes from.
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
/// use pairity::learners::{Architecture, Features, GroupUse, Linear};
/// use pairity::solvers::{Data, Status, TrainSettings, Watch, train};
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
    architecture: &Architecture,
    data: &Data,
    settings: &TrainSettings,
    watch: Watch,
) -> Result<Trained, TrainError> {
    train_with(None, problem, architecture, data, settings, watch)
}

/// The same with a term that is added to the loss of the scorer, and to the loss that the answer is
/// selected by: then it is the snapshot of the lowest loss.
///
/// # Errors
/// Those of [`train`]; examples that the term can't be taken over.
pub fn train_with(
    term: Option<&dyn LossTerm>,
    problem: &Problem,
    architecture: &Architecture,
    data: &Data,
    settings: &TrainSettings,
    watch: Watch,
) -> Result<Trained, TrainError> {
    check(settings, architecture, term)?;
    if settings.within.is_some() {
        let name = "the rows whose pairs are those inside parts";
        ensure(!data.train.has_queries(), name, "with queries", "without queries")?;
        ensure(data.features.is_elsewhere(), name, "in this memory", "held by workers")?;
    }
    let training = Training { problem, architecture, features: data.features, settings, term };
    let on = |part| move |examples| Sample::new(&training, examples, part);
    let sample = on(TRAINING_PART)(data.train)?;
    let multipliers = data.multipliers.map(on(MULTIPLIERS_PART)).transpose()?;
    let validation = data.validation.map(on(VALIDATION_PART)).transpose()?;
    let validated = data.validation.is_some() || data.multipliers.is_some();
    // What the scorer was fit to is seen by selection if there is nothing else, and what it was held to.
    let selected_on = validation.as_ref().or(multipliers.as_ref()).unwrap_or(&sample);
    let (multipliers, selection) = (multipliers.as_ref(), selected_on);
    let task = SolverTask { training, sample: &sample, multipliers, selection, validated };
    let executor = Executor { task: &task, fingerprint: fingerprint(&training, data) };
    let solver = if term.is_some() { SolverKind::Paper } else { settings.solver };
    let Executed { runs, endings, completed, search } = solver.run(&executor, watch)?;
    let room =
        search.as_ref().map_or_else(|| vec![0.0; problem.constraints.len()], |search| search.room.clone());
    let tight = problem.tightened(&room);
    let measure = settings.measure();
    let selector = Selector { problem: &tight, architecture, sample: selected_on, measure };
    let of_run = |(run, (_, snapshots)): (usize, (f64, Vec<Snapshot>))| {
        let count = snapshots.len();
        let candidate = move |(t, snapshot)| Candidate {
            run,
            late: t >= count - count / 10,
            last: t + 1 == count,
            snapshot,
        };
        snapshots.into_iter().enumerate().map(candidate)
    };
    let none = |size: f64| if size > 0.0 { size } else { f64::NAN };
    let step_sizes: Vec<f64> = runs.iter().map(|run| none(run.0)).collect();
    let also = settings.also.iter().map(|parameters| Candidate {
        run: 0,
        late: false,
        last: false,
        snapshot: Snapshot::of(parameters.clone()),
    });
    let mut candidates = selector.rated(runs.into_iter().enumerate().flat_map(of_run).chain(also).collect());
    let chosen = match term {
        None => selector.choose(&mut candidates, settings.answer),
        Some(_) => selector.least_loss(&candidates),
    };
    let Chosen { mixture, passed_over } = chosen.ok_or(TrainError::Nothing)?;
    let Mixture { members, assessment } = Mixture::new(problem, &candidates.rates, mixture.members);
    let queries = selected_on.examples().has_queries();
    let alone = || members.iter().map(|&(place, _)| problem.assess(&candidates.rates[place]));
    let found = if queries { assessment } else { handed_out(assessment, alone()) };
    let mixes = settings.answer.mixes(queries);
    let improving = || still_improving(problem, &candidates, mixes, found.violation);
    let status = match (found.met, members.len()) {
        _ if !completed => Status::TimeLimit,
        (true, 1) => Status::Feasible,
        (true, _) => Status::FeasibleAsMixture,
        (false, _) if passed_over.is_none() && improving() => Status::NotConverged,
        (false, _) => Status::Infeasible,
    };
    let point = |snapshot: &Snapshot| TracePoint {
        iteration: snapshot.iteration,
        objective: problem.stated_objective(snapshot.cost),
        violation: snapshot.violation,
        weights: problem.weights_by_constraint(&snapshot.weights),
    };
    let run = |&(place, _): &(usize, f64)| candidates.scorers[place].run;
    let likeliest = members.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(run);
    let on_the_way = |own: &&Candidate| Some(own.run) == likeliest && own.snapshot.iteration > 0;
    let unbound = if problem.constraints.is_empty() { None } else { selector.unbound(&candidates) };
    let stated = |cost: f64| problem.stated_objective(cost);
    let far_below = selector.far_below(&candidates, found.cost);
    let mut components: Vec<Component> = members.iter().map(|&member| candidates.component(member)).collect();
    if !queries && components.len() > 1 {
        selector.bring_to_one_scale(&mut components);
    }
    let certified = |search: &Search| {
        let (objective, bound) = (stated(found.cost), stated(search.bound?));
        let applies =
            found.met && !validated && passed_over.is_none() && settings.select == Select::Validation;
        applies.then(|| Certificate { objective, bound, gap: (bound - objective).abs() })
    };
    Ok(Trained {
        status,
        cross_fit: search.as_ref().is_some_and(|search| search.cross_fit),
        across_queries: search.as_ref().is_some_and(|search| search.across_queries),
        certificate: search.as_ref().and_then(certified),
        tries: search.and_then(|search| search.tries),
        meets_goal: found.met,
        objective: stated(found.cost),
        components,
        step_sizes: members.iter().map(|member| step_sizes[run(member)]).collect(),
        violations: found.misses,
        unbound: unbound.map(|place| candidates.component((place, 1.0))),
        far_below: far_below
            .map(|far| FarBelow { unbound: stated(far.cost), constant: stated(far.constant) }),
        passed_over,
        endings,
        trace: candidates.scorers.iter().filter(on_the_way).map(|own| point(&own.snapshot)).collect(),
    })
}

impl Trained {
    /// Whether a run ended since snapshots in a row were no better.
    pub fn ended_early(&self) -> bool {
        self.endings.iter().any(|ending| ending.end == RunEnd::NoBetter)
    }

    /// The step size of the run that the likeliest scorer comes from, whose way is traced.
    pub fn step_size(&self) -> f64 {
        let sizes = self.components.iter().zip(&self.step_sizes);
        sizes.max_by(|a, b| a.0.probability.total_cmp(&b.0.probability)).map_or(f64::NAN, |(_, &size)| size)
    }
}

fn check(
    settings: &TrainSettings,
    architecture: &Architecture,
    term: Option<&dyn LossTerm>,
) -> Result<(), TrainError> {
    let TrainSettings { iterations, snapshots, batch, ref step_sizes, ref start, .. } = *settings;
    ensure(iterations > 0, "iterations", 0, "at least 1")?;
    let some = snapshots > 0 && snapshots <= iterations;
    ensure(some, "snapshots", snapshots, "between 1 and the number of iterations")?;
    ensure(batch != Some(0), "the batch", 0, "at least 1 query or row")?;
    ensure(settings.patience != Some(0), "the patience", 0, "at least 1 snapshot, or left out")?;
    term.map_or(Ok(()), LossTerm::check)?;
    if let Some(Within { parts, steps }) = settings.within {
        ensure(parts > 0, "the number of parts", parts, "at least 1")?;
        ensure(steps > 0, "the number of steps with the same parts", steps, "at least 1")?;
        let name = "what is set beside pairs inside parts of the rows";
        ensure(batch.is_none(), name, "a batch", "left out")?;
        ensure(term.is_none(), name, "a method with a term of its own in the loss", "left out")?;
        ensure(settings.solver == SolverKind::Paper, name, settings.solver.name(), "the solver paper")?;
    }
    ensure(!step_sizes.is_empty(), "step sizes", "no number", "at least one")?;
    step_sizes.iter().try_for_each(|&size| check_step_size(size))?;
    if settings.solver == SolverKind::Paper {
        let (name, select) = ("the selection of the solver paper", settings.select);
        ensure(select == Select::Validation, name, select.name(), "validation")?;
        let l2 = settings.l2.unwrap_or_default();
        ensure(settings.l2.is_none(), "the weight decay of the solver paper", l2, "left out")?;
    }
    let l2 = settings.l2.unwrap_or_default();
    ensure(l2 >= 0.0 && l2.is_finite(), "the weight decay", l2, "a number of at least 0")?;
    let given = settings.also.iter().map(|own| ("a scorer from elsewhere", own.len()));
    for (name, found) in start.iter().map(|own| ("the start", own.len())).chain(given) {
        let (fits, found) = (found == architecture.len(), format!("{found} parameters"));
        ensure(fits, name, found, "as many parameters as the scorer has")?;
    }
    Ok(())
}

pub(super) fn check_step_size(size: f64) -> Result<(), TrainError> {
    ensure(size > 0.0 && size.is_finite(), "the step size", size, "a number above 0")
}

fn ensure(
    fits: bool,
    name: &'static str,
    found: impl ToString,
    allowed: &'static str,
) -> Result<(), TrainError> {
    if fits { Ok(()) } else { Err(TrainError::Setting { name, found: found.to_string(), allowed }) }
}

/// Whether the last tenth of each run's snapshots brought the least violation of a mixture, or of a scorer, down
/// by more than a tenth.
fn still_improving(problem: &Problem, candidates: &CandidateSet, mixes: bool, violation: f64) -> bool {
    let both = candidates.scorers.iter().zip(&candidates.rates);
    let early: Vec<Vec<f64>> = both.filter(|(own, _)| !own.late).map(|(_, rates)| rates.clone()).collect();
    let earlier = match mixes {
        true => shrink(problem, &early).map(|earlier| earlier.assessment.violation),
        false => early.iter().map(|rates| problem.assess(rates).violation).reduce(f64::min),
    };
    earlier.is_none_or(|earlier| violation < 0.9 * earlier)
}
