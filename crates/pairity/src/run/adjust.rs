//! Scores that can't be trained anew are mapped group by group: the map is chosen on a part of the rows and
//! tested on the others.

use super::RunError;
use crate::examples::{Examples, ExamplesError, Groups};
use crate::goals::{Goal, Objective, Problem};
use crate::methods::{self, Adjusted, Method, MethodOptions, Tuning};
use crate::metrics::{Check, Measurement, Metric, Settings};

/// What scores are adjusted for, and how.
#[derive(Debug, Clone, Copy)]
pub struct AdjustRequest<'a> {
    /// The rows.
    pub examples: &'a Examples,
    /// Their scores, by row.
    pub scores: &'a [f64],
    /// Their groups, by row.
    pub groups: Option<&'a Groups>,
    /// How scores are adjusted; a method that can.
    pub method: &'static dyn Method,
    /// What is to be large.
    pub maximize: &'a str,
    /// What has to hold.
    pub subject_to: &'a [String],
    /// How far quantiles are matched, from 0 to 1; by default as far as the goal needs.
    pub strength: Option<f64>,
    /// Share of the queries that the map is chosen on.
    pub tune: f64,
    /// How rates are measured; its seed is that of the split.
    pub measure: Settings,
}

/// Objective and constraints on some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct AdjustedValues {
    /// The objective.
    pub objective: Metric,
    /// The constraints.
    pub checks: Vec<Check>,
}

/// A part of the rows, before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct AdjustedPart {
    /// `tuned` or `test`.
    pub name: &'static str,
    /// Number of its rows.
    pub rows: usize,
    /// With the scores as they were.
    pub before: AdjustedValues,
    /// With the adjusted scores.
    pub after: AdjustedValues,
}

/// An adjustment, and what it does.
#[derive(Debug, Clone, PartialEq)]
pub struct AdjustOutcome {
    /// How.
    pub method: &'static str,
    /// What for.
    pub goal: Goal,
    /// The map, and whether it meets the goal where it was chosen.
    pub adjusted: Adjusted,
    /// Rows of groups that it does not know.
    pub unknown: usize,
    /// The parts that are there.
    pub parts: Vec<AdjustedPart>,
    /// Seed of the split.
    pub seed: u64,
}

/// Chooses an adjustment.
///
/// # Errors
/// A goal, settings or scores that don't fit; a method that does not apply.
pub fn adjust(request: &AdjustRequest) -> Result<AdjustOutcome, RunError> {
    let &AdjustRequest { examples, scores, groups, method, strength, tune, measure, .. } = request;
    if strength.is_some() && method.name() != "quantile-match" {
        return Err(RunError::StrengthUnused(method.name()));
    }
    if !(tune > 0.0 && tune <= 1.0) {
        return Err(RunError::Tune(tune));
    }
    let goal = Goal {
        objective: Objective::Maximize(request.maximize.to_owned()),
        subject_to: request.subject_to.to_vec(),
    };
    let problem = Problem::of_goal(&goal, &examples.vocabulary())?;
    let mut parts = examples.split(&[tune, 1.0 - tune], measure.seed)?.into_iter();
    let tuned = parts.next().flatten();
    let (tuned, test) = (tuned.as_ref().unwrap_or(examples), parts.next().flatten());
    let tuning = Tuning { examples: tuned, scores, problem: &problem, average: measure.average };
    let options = MethodOptions { strength, ..MethodOptions::default() };
    let adjusted = methods::adjust(method, &options, &tuning)?;
    let applied = adjusted.adjustment.apply(scores, groups)?;
    let values = |part: &Examples, scores: &[f64]| -> Result<AdjustedValues, ExamplesError> {
        let measured = Measurement::new(part, scores, &measure)?;
        Ok(AdjustedValues {
            objective: measured.expression(&problem.stated),
            checks: problem.constraints.iter().map(|constraint| measured.check(constraint)).collect(),
        })
    };
    let mut parts = Vec::new();
    for (name, part) in [("tuned", Some(tuned)), ("test", test.as_ref())] {
        if let Some(part) = part {
            let (before, after) = (values(part, scores)?, values(part, &applied.scores)?);
            parts.push(AdjustedPart { name, rows: part.len(), before, after });
        }
    }
    let unknown = applied.unknown;
    Ok(AdjustOutcome { method: method.name(), goal, adjusted, unknown, parts, seed: measure.seed })
}
