//! Comparing methods: every one on the same split and by the same rules.

use super::prepare::Prepared;
use super::{FitRequest, Rows, RunError};
use crate::examples::Examples;
use crate::goals::{Goal, Objective};
use crate::methods::{
    Fitted, Method, MethodError, MethodOptions, Stage, Task, fit, fit_from, unconstrained::Unconstrained,
};
use crate::metrics::{Metric, Verdict};
use crate::model::After;
use crate::solvers::{Answer, Evaluation, RunProgress, Status, Trained, Watch};
use rayon::prelude::*;
use std::time::Instant;

/// What is compared.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareRequest {
    /// What is trained, for what, and how.
    pub fit: FitRequest,
    /// The methods.
    pub methods: Vec<&'static dyn Method>,
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

impl ComparisonSetup {
    /// The objective as it was stated.
    pub fn objective(&self) -> &str {
        match &self.goal.objective {
            Objective::Maximize(text) | Objective::Minimize(text) => text,
        }
    }
}

/// All methods on one split of the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareOutcome {
    /// What they were compared for, and on what.
    pub setup: ComparisonSetup,
    /// Best first; those that do not apply last.
    pub results: Vec<MethodResult>,
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
    let contest = Contest::new(&prepared, request.fit.options, watch)?;
    (watch.runs)(request.methods.len());
    let results = each(&request.methods, watch.side_by_side, |method| {
        let result = contest.run(method, &contest.task)?.0;
        (watch.done)(&result.method);
        Ok(result)
    })?;
    Ok(CompareOutcome::new(contest.setup(&request.fit), results))
}

/// What is compared is prepared; a comparison without constraints has nothing to compare.
pub(super) fn prepare(rows: Rows, request: &FitRequest) -> Result<Prepared, RunError> {
    match request.subject_to.is_empty() {
        true => Err(RunError::NoConstraints),
        false => Prepared::new(rows, request, Answer::Mixture),
    }
}

/// What work makes of each of some methods.
pub(super) fn each<T: Send>(
    methods: &[&'static dyn Method],
    side_by_side: bool,
    work: impl Fn(&'static dyn Method) -> Result<T, MethodError> + Sync + Send,
) -> Result<Vec<T>, MethodError> {
    match side_by_side {
        true => methods.par_iter().copied().map(work).collect(),
        false => methods.iter().copied().map(work).collect(),
    }
}

/// Where methods are compared. All post-processing starts from one unconstrained scorer.
pub(super) struct Contest<'a> {
    prepared: &'a Prepared,
    options: MethodOptions,
    pub task: Task<'a>,
    part: &'static str,
    examples: &'a Examples,
    progress: &'a (dyn Fn(&RunProgress) -> bool + Sync),
    pub base: Trained,
    base_seconds: f64,
}

impl<'a> Contest<'a> {
    /// Trains the unconstrained scorer. Values are of the last part there is.
    pub fn new(
        prepared: &'a Prepared,
        options: MethodOptions,
        watch: CompareWatch<'a>,
    ) -> Result<Contest<'a>, MethodError> {
        let (part, examples) = prepared.last();
        let task = prepared.task();
        let progress = watch.progress;
        let started = Instant::now();
        let base = fit(&Unconstrained, &options, &task, watching(progress))?.trained;
        let base_seconds = started.elapsed().as_secs_f64();
        Ok(Contest { prepared, options, task, part, examples, progress, base, base_seconds })
    }

    /// One method, with its model if there is one. That it does not apply is a result; anything else is an
    /// error.
    pub fn run(
        &self,
        method: &dyn Method,
        task: &Task,
    ) -> Result<(MethodResult, Option<Fitted>), MethodError> {
        let started = Instant::now();
        let fitted = fit_from(method, &self.options, task, Some(&self.base), watching(self.progress));
        let based = matches!(method.stage(), Stage::Unconstrained | Stage::Scores);
        let seconds = started.elapsed().as_secs_f64() + if based { self.base_seconds } else { 0.0 };
        let outcome = fitted.and_then(|fitted| Ok((self.outcome(&fitted, task, seconds)?, fitted)));
        let (outcome, fitted) = match outcome {
            Ok((outcome, fitted)) => (Ok(outcome), Some(fitted)),
            Err(MethodError::DoesNotApply { reason, .. }) => (Err(reason), None),
            Err(error @ MethodError::NoPairs { .. }) => (Err(error.to_string()), None),
            Err(error) => return Err(error),
        };
        Ok((MethodResult { method: method.full_name().to_owned(), outcome }, fitted))
    }

    fn outcome(&self, fitted: &Fitted, task: &Task, seconds: f64) -> Result<MethodOutcome, MethodError> {
        let Prepared { scorer, features, measure, .. } = self.prepared;
        let components = match &fitted.after {
            Some(After::Ranked(_)) => self.examples.groups().len(),
            _ => fitted.trained.components.len(),
        };
        Ok(MethodOutcome {
            status: fitted.trained.status,
            seconds,
            components,
            sees_group: fitted.after.is_some() || scorer.groups().groups().is_some(),
            test: fitted.evaluate(task.problem, scorer, self.examples, features, measure)?,
            dominated: false,
        })
    }

    /// What reports say of it.
    pub fn setup(&self, request: &FitRequest) -> ComparisonSetup {
        ComparisonSetup {
            goal: self.prepared.goal.clone(),
            part: self.part,
            rows: self.examples.len(),
            scorer: request.scorer.name(),
            seed: request.seed,
            confidence: request.measure.confidence,
            tables: self.prepared.tables.clone(),
            notes: self.prepared.notes.clone(),
        }
    }
}

fn watching<'a>(progress: &'a (dyn Fn(&RunProgress) -> bool + Sync)) -> Watch<'a> {
    Watch { progress, ..Watch::default() }
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
