//! Comparing methods, every one on the same split and by the same rules: for one goal, or as the bound on the
//! violation is tightened.

use super::prepare::Prepared;
use super::{FitRequest, Rows, RunError};
use crate::goals::{Goal, Objective, Problem};
use crate::methods::{Fitted, Method, MethodError, Stage, Task, UNCONSTRAINED, fit};
use crate::metrics::{Metric, Verdict};
use crate::model::{After, Component};
use crate::solvers::{Answer, Evaluation, RunProgress, Status, Trained, Watch, evaluate};
use rayon::prelude::*;
use std::time::Instant;

/// What is compared.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareRequest {
    /// What is trained, for what, and how.
    pub fit: FitRequest,
    /// The methods.
    pub methods: Vec<&'static Method>,
}

/// What is traced.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontierRequest {
    /// What is compared at every bound.
    pub compared: CompareRequest,
    /// Bounds that take the place of those of the constraints, in any order.
    pub bounds: Vec<f64>,
}

/// Who looks on while methods run.
#[derive(Clone, Copy)]
pub struct CompareWatch<'a> {
    /// Whether methods run side by side. Otherwise they run one after the other on the calling thread, and
    /// so do the calls below.
    pub side_by_side: bool,
    /// Hears of the progress of each training; false ends it.
    pub progress: &'a (dyn Fn(&RunProgress) -> bool + Sync),
    /// Is told once how many runs there are.
    pub runs: &'a (dyn Fn(usize) + Sync),
    /// Hears the name of each method that is done.
    pub done: &'a (dyn Fn(&str) + Sync),
}

impl Default for CompareWatch<'_> {
    fn default() -> Self {
        CompareWatch { side_by_side: true, progress: &|_| true, runs: &|_| (), done: &|_| () }
    }
}

/// How one method did.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodResult {
    /// Its name.
    pub method: String,
    /// What came out, or why the method does not apply.
    pub outcome: Result<MethodOutcome, String>,
}

/// What came out of a method.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodOutcome {
    /// Whether the goal is met where the model was selected.
    pub status: Status,
    /// Time that it took, with that of the scorer it starts from.
    pub seconds: f64,
    /// Scorers, or rankings of a query, that are drawn from.
    pub components: usize,
    /// Whether the model needs the protected attribute of whom it scores.
    pub sees_group: bool,
    /// On the test rows, or on those it was selected on if there are none.
    pub test: Evaluation,
    /// Whether another method is at least as good in both values, and better in one.
    pub dominated: bool,
}

impl MethodOutcome {
    /// The violation; none without constraints.
    pub fn violation(&self) -> Option<&Metric> {
        self.test.violation.as_ref()
    }

    /// Whether the rows that are shown say that the goal is met: the worst verdict of a constraint.
    pub fn verdict(&self) -> Verdict {
        let checks = &self.test.audit.checks;
        let has = |verdict: Verdict| checks.iter().any(|check| check.verdict == verdict);
        [Verdict::Fail, Verdict::NotEstimable, Verdict::Undecided]
            .into_iter()
            .find(|&verdict| has(verdict))
            .unwrap_or(Verdict::Pass)
    }
}

/// What methods were compared for, and on what.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonSetup {
    /// The goal; a frontier replaces its bounds.
    pub goal: Goal,
    /// The part that values are of.
    pub part: &'static str,
    /// Rows of that part.
    pub rows: usize,
    /// The kind of scorer.
    pub scorer: &'static str,
    /// Seed of every random choice.
    pub seed: u64,
    /// Probability of the intervals.
    pub confidence: f64,
    /// What the tables are called that the rows come from.
    pub tables: Vec<String>,
    /// What happened to the data on the way.
    pub notes: Vec<String>,
}

/// All methods on one split of the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareOutcome {
    /// What they were compared for, and on what.
    pub setup: ComparisonSetup,
    /// Best first; those that do not apply last.
    pub results: Vec<MethodResult>,
}

/// What one method reaches at one bound.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontierPoint {
    /// The bound of the constraints; none for a method that does not look at it.
    pub bound: Option<f64>,
    /// What came out.
    pub result: MethodResult,
}

/// The points of one method, from the loosest bound to the tightest.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontierCurve {
    /// The method.
    pub method: String,
    /// One for each bound, or a single one.
    pub points: Vec<FrontierPoint>,
}

/// What is reached for a range of bounds, by every method.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontierOutcome {
    /// What they were compared for, and on what.
    pub setup: ComparisonSetup,
    /// The methods.
    pub curves: Vec<FrontierCurve>,
}

/// Compares methods.
///
/// # Errors
/// No constraint to compare for; rows, goals or settings that don't fit together.
pub fn compare(
    rows: Rows,
    request: &CompareRequest,
    watch: CompareWatch,
) -> Result<CompareOutcome, RunError> {
    let prepared = prepare(rows, &request.fit)?;
    let contest = Contest::new(&prepared, watch)?;
    (watch.runs)(request.methods.len());
    let results = contest.each(&request.methods, |method| Ok(contest.run(method, &prepared.task())?.0))?;
    let mut setup = contest.setup();
    setup.notes.extend(cut_off(results.iter()));
    Ok(CompareOutcome::new(setup, results))
}

/// Runs methods for a range of bounds. Constrained training at a bound starts from what was found for the one
/// before.
///
/// # Errors
/// Constraints without a bound to replace; those of [`compare`].
pub fn frontier(
    rows: Rows,
    request: &FrontierRequest,
    watch: CompareWatch,
) -> Result<FrontierOutcome, RunError> {
    let CompareRequest { fit, methods } = &request.compared;
    let prepared = prepare(rows, fit)?;
    let problems = problems(&prepared.problem, &request.bounds)?;
    let contest = Contest::new(&prepared, watch)?;
    let bounds = |method: &Method| &problems[..if method.follows_bound() { problems.len() } else { 1 }];
    (watch.runs)(methods.iter().map(|&method| bounds(method).len()).sum());
    let curves = contest.each(methods, |method| {
        let mut settings = prepared.settings.clone();
        let mut start = likeliest(&contest.base);
        let mut points = Vec::new();
        for (bound, problem) in bounds(method) {
            let mut task = Task { problem, ..prepared.task() };
            if method.stage == Stage::Constraints {
                settings.start = start.take();
                task.settings = &settings;
            }
            let (result, fitted) = contest.run(method, &task)?;
            start = fitted.and_then(|fitted| likeliest(&fitted.trained));
            points.push(FrontierPoint { bound: method.follows_bound().then_some(*bound), result });
        }
        Ok(FrontierCurve { method: method.full_name.to_owned(), points })
    })?;
    let mut setup = contest.setup();
    setup.notes.extend(cut_off(curves.iter().flat_map(|curve| &curve.points).map(|point| &point.result)));
    Ok(FrontierOutcome { setup, curves })
}

/// That time ran out before some methods were trained to their end, if it did.
fn cut_off<'a>(results: impl Iterator<Item = &'a MethodResult>) -> Option<String> {
    let is_cut = |result: &&MethodResult| {
        result.outcome.as_ref().is_ok_and(|outcome| outcome.status == Status::TimeLimit)
    };
    let mut names: Vec<&str> = results.filter(is_cut).map(|result| result.method.as_str()).collect();
    names.dedup();
    let note = "time ran out before these were trained to their end, so that their order may mean little";
    (!names.is_empty()).then(|| format!("{note}: {}", names.join(", ")))
}

/// The likeliest scorer of a mixture, which is a start as good as any.
fn likeliest(trained: &Trained) -> Option<Vec<f64>> {
    let likely = |a: &&Component, b: &&Component| a.probability.total_cmp(&b.probability);
    trained.components.iter().max_by(likely).map(|component| component.parameters.clone())
}

/// The goal for each bound, from the loosest to the tightest.
fn problems(problem: &Problem, bounds: &[f64]) -> Result<Vec<(f64, Problem)>, RunError> {
    if let Some(&found) = bounds.iter().find(|bound| !(**bound >= 0.0 && bound.is_finite())) {
        return Err(RunError::Bound(found));
    }
    let mut bounds = bounds.to_vec();
    bounds.sort_by(|a, b| b.total_cmp(a));
    bounds.dedup();
    let at = |&bound: &f64| Ok((bound, problem.with_bound(bound)?));
    bounds.iter().map(at).collect()
}

/// What is compared is prepared; a comparison without constraints has nothing to compare.
fn prepare(rows: Rows, request: &FitRequest) -> Result<Prepared<'_>, RunError> {
    match request.goal.subject_to.is_empty() {
        true => Err(RunError::NoConstraints),
        false => Prepared::new(rows, request, Answer::Mixture),
    }
}

/// Where methods are compared. All post-processing starts from one unconstrained scorer.
struct Contest<'a> {
    prepared: &'a Prepared<'a>,
    watch: CompareWatch<'a>,
    base: Trained,
    base_seconds: f64,
}

impl<'a> Contest<'a> {
    /// Trains the unconstrained scorer. Values are of the last part there is.
    fn new(prepared: &'a Prepared, watch: CompareWatch<'a>) -> Result<Contest<'a>, MethodError> {
        let started = Instant::now();
        let training = Watch { progress: watch.progress, ..Watch::default() };
        let base = fit(&UNCONSTRAINED, &prepared.request.options, &prepared.task(), None, training)?.trained;
        Ok(Contest { prepared, watch, base, base_seconds: started.elapsed().as_secs_f64() })
    }

    /// What work makes of each of some methods.
    fn each<T: Send>(
        &self,
        methods: &[&'static Method],
        work: impl Fn(&'static Method) -> Result<T, MethodError> + Sync + Send,
    ) -> Result<Vec<T>, MethodError> {
        match self.watch.side_by_side {
            true => methods.par_iter().copied().map(work).collect(),
            false => methods.iter().copied().map(work).collect(),
        }
    }

    /// One method, with its model if there is one. That it does not apply is a result; anything else is an
    /// error.
    fn run(&self, method: &Method, task: &Task) -> Result<(MethodResult, Option<Fitted>), MethodError> {
        let started = Instant::now();
        let training = Watch { progress: self.watch.progress, ..Watch::default() };
        let fitted = fit(method, &self.prepared.request.options, task, Some(&self.base), training);
        let based = matches!(method.stage, Stage::Unconstrained | Stage::Scores);
        let seconds = started.elapsed().as_secs_f64() + if based { self.base_seconds } else { 0.0 };
        let outcome = fitted.and_then(|fitted| Ok((self.outcome(&fitted, task, seconds)?, fitted)));
        let (outcome, fitted) = match outcome {
            Ok((outcome, fitted)) => (Ok(outcome), Some(fitted)),
            Err(MethodError::DoesNotApply { reason, .. }) => (Err(reason), None),
            Err(error @ MethodError::NoPairs { .. }) => (Err(error.to_string()), None),
            Err(error) => return Err(error),
        };
        (self.watch.done)(method.full_name);
        Ok((MethodResult { method: method.full_name.to_owned(), outcome }, fitted))
    }

    fn outcome(&self, fitted: &Fitted, task: &Task, seconds: f64) -> Result<MethodOutcome, MethodError> {
        let Prepared { scorer, features, request, .. } = self.prepared;
        let (_, examples) = self.prepared.last();
        let components = match &fitted.after {
            Some(After::Ranked(_)) => examples.groups().len(),
            _ => fitted.trained.components.len(),
        };
        let sees_group = fitted.after.is_some() || scorer.groups().groups().is_some();
        let test = evaluate(task.problem, fitted.scorer(scorer), examples, features, &request.measure)?;
        let status = fitted.trained.status;
        Ok(MethodOutcome { status, seconds, components, sees_group, test, dominated: false })
    }

    /// What reports say of it.
    fn setup(&self) -> ComparisonSetup {
        let Prepared { request, tables, notes, .. } = self.prepared;
        let (part, examples) = self.prepared.last();
        ComparisonSetup {
            goal: request.goal.clone(),
            part,
            rows: examples.len(),
            scorer: request.scorer.name(),
            seed: request.seed,
            confidence: request.measure.confidence,
            tables: tables.clone(),
            notes: notes.clone(),
        }
    }
}

impl CompareOutcome {
    /// Sorts the results and marks those that are dominated. Those that surely meet the goal come first,
    /// then those of which the rows can't tell, both by objective; the rest by violation.
    pub fn new(setup: ComparisonSetup, mut results: Vec<MethodResult>) -> CompareOutcome {
        let sign = match setup.goal.objective {
            Objective::Maximize(_) => -1.0,
            Objective::Minimize(_) => 1.0,
        };
        // Smaller is better in both; a value that is not there is worst.
        let values = |outcome: &MethodOutcome| {
            let violation = outcome.violation().map_or(0.0, |gap| gap.value.unwrap_or(f64::INFINITY));
            (outcome.test.objective.value.map_or(f64::INFINITY, |value| sign * value), violation)
        };
        let all: Vec<(f64, f64)> =
            results.iter().filter_map(|result| result.outcome.as_ref().ok()).map(values).collect();
        for outcome in results.iter_mut().filter_map(|result| result.outcome.as_mut().ok()) {
            let own = values(outcome);
            outcome.dominated = all.iter().any(|other| other.0 <= own.0 && other.1 <= own.1 && *other != own);
        }
        let order = |result: &MethodResult| {
            let Ok(outcome) = &result.outcome else { return (3, 0.0, 0.0) };
            let (cost, violation) = values(outcome);
            match outcome.verdict() {
                Verdict::Pass => (0, cost, violation),
                Verdict::Undecided => (1, cost, violation),
                Verdict::Fail | Verdict::NotEstimable => (2, violation, cost),
            }
        };
        results.sort_by(|a, b| {
            let (a, b) = (order(a), order(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2))
        });
        CompareOutcome { setup, results }
    }
}
