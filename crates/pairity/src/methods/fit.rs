//! Fitting a model by any method.

use super::{Adjusted, Method, MethodError, MethodOptions, Stage, Tuning};
use crate::examples::Examples;
use crate::goals::Problem;
use crate::learners::Architecture;
use crate::model::{After, Ranked, StochasticScorer};
use crate::rates::Rate;
use crate::solvers::{Data, Status, TrainSettings, Trained, Watch, evaluate, train};

/// What a method is asked for.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The goal, with its constraints, whether or not the method enforces them.
    pub problem: &'a Problem,
    /// The shape of the scorer.
    pub scorer: &'a Architecture,
    /// The examples.
    pub data: Data<'a>,
    /// How scorers are trained.
    pub settings: &'a TrainSettings,
    /// Whether the scorer may use the protected attribute.
    pub aware: bool,
    /// An unconstrained scorer that was trained for the task before, if there is one.
    pub base: Option<&'a Trained>,
}

/// A model.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The scorers, and whether they (with what is done after) meet the goal where it was selected.
    pub trained: Trained,
    /// What is done with their scores.
    pub after: Option<After>,
}

impl Task<'_> {
    /// The examples that a model is selected on.
    pub fn selection(&self) -> &Examples {
        self.data.selection().0
    }

    /// Trains a scorer for a problem of its own.
    pub(super) fn train(&self, problem: &Problem, watch: Watch) -> Result<Trained, MethodError> {
        Ok(train(problem, self.scorer, &self.data, self.settings, watch)?)
    }

    /// The unconstrained scorer: the one there is, or else it is trained.
    pub(super) fn unconstrained(&self, watch: Watch) -> Result<Trained, MethodError> {
        match self.base {
            Some(base) => Ok(base.clone()),
            None => self.train(&self.problem.unconstrained(), watch),
        }
    }

    /// What is tuned on scores of all rows.
    pub(super) fn tuning<'b>(&'b self, scores: &'b [f64]) -> Tuning<'b> {
        let TrainSettings { average, ties, .. } = *self.settings;
        Tuning { examples: self.selection(), scores, problem: self.problem, average, ties }
    }
}

/// Fits a model. Post-processing starts from an unconstrained scorer, which is trained first; where one is
/// given that was trained for the task before, it is that method's model, and post-processing starts from it.
///
/// # Errors
/// The method does not apply to such data or such a goal, with the reason; or training can't start.
pub fn fit(
    method: &Method,
    options: &MethodOptions,
    task: &Task,
    unconstrained: Option<&Trained>,
    watch: Watch,
) -> Result<Fitted, MethodError> {
    let task = &Task { base: unconstrained.or(task.base), ..*task };
    check(method, task)?;
    let trained = (method.train)(task, options, watch)?;
    let after = after(method, options, task, &trained)?;
    let fitted = Fitted { trained, after };
    match method.stage {
        Stage::Constraints => Ok(fitted),
        Stage::Unconstrained | Stage::Training | Stage::Scores => judge(task, fitted),
    }
}

/// Whether a method applies, which is known before anything is trained.
///
/// # Errors
/// It does not, with the reason.
pub(crate) fn check(method: &Method, task: &Task) -> Result<(), MethodError> {
    if let Some((name, reason)) = method.ranks_only
        && task.problem.uses(Rate::Mse)
    {
        return Err(MethodError::does_not_apply(name, reason));
    }
    if let Some(reason) = method.given_only {
        return Err(MethodError::does_not_apply(method.name, reason));
    }
    let scores = vec![0.0; task.data.features.rows()];
    let checked = (method.check)(&task.tuning(&scores));
    checked.map_err(|error| named_part(error, task))
}

/// The error with the name of the part that a method is tuned on.
fn named_part(error: MethodError, task: &Task) -> MethodError {
    match error {
        MethodError::NoPairs { method, rate, .. } => {
            MethodError::NoPairs { method, rate, part: task.data.selection().1 }
        }
        error => error,
    }
}

/// Tunes what is done with the scores of the scorer, if anything.
fn after(
    method: &Method,
    options: &MethodOptions,
    task: &Task,
    trained: &Trained,
) -> Result<Option<After>, MethodError> {
    let examples = task.selection();
    if let Some(exposure) = method.exposure {
        return Ok(Some(After::Ranked(Ranked { exposure, utilities: options.utilities })));
    }
    let Some(adjust) = method.adjuster else { return Ok(None) };
    let members =
        StochasticScorer::new(task.scorer, &trained.components).members(examples, task.data.features)?;
    let [member] = &members[..] else {
        return Err(MethodError::does_not_apply(method.name, "the scorer to adjust is a mixture"));
    };
    let adjusted = adjust(&task.tuning(&member.scores), options).map_err(|error| named_part(error, task))?;
    Ok(Some(After::Adjusted(adjusted.adjustment)))
}

/// Tunes an adjustment of given scores.
///
/// # Errors
/// The method adjusts no scores, or does not apply to such data, with the reason; options out of their range.
pub fn adjust(method: &Method, options: &MethodOptions, tuning: &Tuning) -> Result<Adjusted, MethodError> {
    match method.adjuster {
        Some(adjust) => adjust(tuning, options),
        None => Err(MethodError::does_not_apply(method.name, "it does not adjust scores that are given")),
    }
}

/// Whether a model that was trained for something else meets the goal.
pub(crate) fn judge(task: &Task, mut fitted: Fitted) -> Result<Fitted, MethodError> {
    let Task { problem, scorer, data, settings, .. } = *task;
    let measure = settings.measure();
    let found = evaluate(problem, fitted.scorer(scorer), task.selection(), data.features, &measure)?;
    let trained = &mut fitted.trained;
    trained.meets_goal = found.assessment.met;
    trained.violations = found.assessment.misses;
    trained.objective = found.objective.value.unwrap_or(f64::NAN);
    trained.status = match (trained.meets_goal, &fitted.after) {
        _ if trained.status == Status::TimeLimit => Status::TimeLimit,
        (true, Some(After::Ranked(_))) => Status::FeasibleAsMixture,
        (true, _) if trained.components.len() > 1 => Status::FeasibleAsMixture,
        (true, _) => Status::Feasible,
        (false, _) => Status::Infeasible,
    };
    Ok(fitted)
}

impl Fitted {
    /// Its scorers, which are of this shape, with what is done with their scores.
    pub fn scorer<'a>(&'a self, architecture: &'a Architecture) -> StochasticScorer<'a> {
        let after = self.after.as_ref();
        StochasticScorer { after, ..StochasticScorer::new(architecture, &self.trained.components) }
    }
}
