//! Methods side by side, each trained as [`train`](super::train) does it.

use super::compare::{CompareRequest, CompareWatch, ComparisonSetup, MethodOutcome, MethodResult};
use super::prepare::Prepared;
use super::{FitRequest, Rows, RunError};
use crate::methods::{Fitted, Method, MethodError, Stage, Task, UNCONSTRAINED, check, fit};
use crate::model::After;
use crate::solvers::{Answer, Select, SolverKind, Trained, Watch, evaluate};
use rayon::prelude::*;
use std::time::Instant;

/// How each method is trained.
pub(super) fn fits(request: &CompareRequest) -> Result<Vec<FitRequest>, RunError> {
    let mut shared = request.fit.clone();
    if shared.goal.subject_to.is_empty() {
        return Err(RunError::NoConstraints);
    }
    if !(shared.own_test || shared.shares()?[2] > 0.0) {
        shared.select = Some(Select::Validation);
    }
    let fit = |method: &&'static Method| {
        let mut fit = shared.clone();
        // What is set for the others, and one of them can't have.
        if method.solver == Some(SolverKind::Paper) || method.stage == Stage::Scores {
            fit.select = None;
        }
        if method.solver == Some(SolverKind::Paper) {
            fit.l2 = None;
        }
        fit.by(method, false)
    };
    Ok(if request.methods.is_empty() { vec![shared] } else { request.methods.iter().map(fit).collect() })
}

/// Whether a method is, or starts from, an unconstrained scorer.
fn starts_unconstrained(method: &Method) -> bool {
    matches!(method.stage, Stage::Unconstrained | Stage::Scores)
}

/// What work makes of each of the methods, and what reports say of all of them. Methods that are trained alike share the
/// parts of the rows; what others share is made after these are gone.
pub(super) fn contest<T: Send>(
    rows: Rows,
    fits: &[FitRequest],
    methods: &[&'static Method],
    watch: CompareWatch,
    work: impl Fn(&ContestWay, &'static Method) -> Result<T, MethodError> + Sync + Send,
) -> Result<(ComparisonSetup, Vec<T>), RunError> {
    let mut different: Vec<&FitRequest> = Vec::new();
    for fit in fits {
        if !different.contains(&fit) {
            different.push(fit);
        }
    }
    let (mut rows, mut setup) = (Some(rows), None);
    let mut found: Vec<(usize, T)> = Vec::new();
    for (at, fit) in different.iter().enumerate() {
        let own = match at + 1 == different.len() {
            true => rows.take(),
            false => rows.as_mut().map(Rows::copy).transpose()?,
        };
        let Some(own) = own else { break };
        let entered: Vec<(usize, &'static Method)> =
            methods.iter().copied().enumerate().filter(|(place, _)| fits[*place] == **fit).collect();
        let way = ContestWay::new(Prepared::new(own, fit, Answer::Auto, 0.0)?, &entered, watch)?;
        let work = |&(place, method): &(usize, &'static Method)| Ok((place, work(&way, method)?));
        let results: Result<Vec<(usize, T)>, MethodError> = match watch.side_by_side {
            true => entered.par_iter().map(work).collect(),
            false => entered.iter().map(work).collect(),
        };
        found.extend(results?);
        way.tell(setup.get_or_insert_with(|| way.setup()));
    }
    found.sort_by_key(|&(place, _)| place);
    let setup = setup.ok_or(RunError::NoConstraints)?;
    Ok((setup, found.into_iter().map(|(_, result)| result).collect()))
}

/// The methods that are trained alike: on the same parts of the rows, by the same solver. Those of them that start from an
/// unconstrained scorer start from the same one.
pub(super) struct ContestWay<'a> {
    pub prepared: Prepared<'a>,
    /// Nothing where no method that applies starts from it.
    base: Option<Trained>,
    base_seconds: f64,
}

impl<'a> ContestWay<'a> {
    /// Trains the unconstrained scorer, if a method that applies starts from it.
    fn new(
        prepared: Prepared<'a>,
        methods: &[(usize, &Method)],
        watch: CompareWatch,
    ) -> Result<ContestWay<'a>, MethodError> {
        let started = Instant::now();
        let training = Watch { progress: watch.progress, ..Watch::default() };
        let task = prepared.task();
        let starts =
            |&(_, method): &(usize, &Method)| starts_unconstrained(method) && check(method, &task).is_ok();
        let base = match methods.iter().any(starts) {
            true => Some(fit(&UNCONSTRAINED, &prepared.request.options, &task, None, training)?.trained),
            false => None,
        };
        Ok(ContestWay { prepared, base, base_seconds: started.elapsed().as_secs_f64() })
    }

    /// What reports say of it.
    fn setup(&self) -> ComparisonSetup {
        let Prepared { request, tables, .. } = &self.prepared;
        let (part, examples) = self.prepared.last();
        ComparisonSetup {
            goal: request.goal.clone(),
            violation: self.prepared.problem.violation_kind(),
            part,
            rows: examples.len(),
            scorer: request.scorer.name(),
            features: self.prepared.feature_names(),
            seed: request.seed,
            confidence: request.measure.confidence,
            tables: tables.clone(),
            notes: Vec::new(),
        }
    }

    /// Adds the notes that are not there yet.
    fn tell(&self, setup: &mut ComparisonSetup) {
        for note in &self.prepared.notes {
            if !setup.notes.contains(note) {
                setup.notes.push(note.clone());
            }
        }
    }

    /// One method. That it does not apply is a result; anything else is an error.
    pub fn run(
        &self,
        method: &Method,
        task: &Task,
        watch: CompareWatch,
    ) -> Result<MethodResult, MethodError> {
        let started = Instant::now();
        let training = Watch { progress: watch.progress, ..Watch::default() };
        let fitted = fit(method, &self.prepared.request.options, task, self.base.as_ref(), training);
        let based = if starts_unconstrained(method) { self.base_seconds } else { 0.0 };
        let seconds = started.elapsed().as_secs_f64() + based;
        let outcome = match fitted.and_then(|fitted| self.outcome(&fitted, task, seconds)) {
            Ok(outcome) => Ok(outcome),
            Err(MethodError::DoesNotApply { reason, .. }) => Err(reason),
            Err(error @ MethodError::NoPairs { .. }) => Err(error.to_string()),
            Err(error) => return Err(error),
        };
        (watch.done)(method.full_name);
        Ok(MethodResult { method: method.full_name.to_owned(), outcome })
    }

    fn outcome(&self, fitted: &Fitted, task: &Task, seconds: f64) -> Result<MethodOutcome, MethodError> {
        let Prepared { scorer, features, request, .. } = &self.prepared;
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
}
