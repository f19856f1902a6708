//! Requests that train nothing: scores are measured, adjusted, or made by a model.

use super::{Fold, RunError};
use crate::examples::{Column, Examples, ExamplesError, Groups, Values};
use crate::goals::{Constraint, Goal, Problem, Vocabulary, parse_check};
use crate::learners::{Architecture, Encoder, GroupUse, Linear, Note};
use crate::methods::{self, Adjusted, Method, MethodOptions, Tuning};
use crate::metrics::{Audit, Check, Distributions, Measurement, Metric, Partial, PlainTable, Settings};
use crate::model::{Adjustment, After, Component, ComponentUse, Model, ModelError, ModelGroups};
use crate::solvers::Status;

/// What is measured.
#[derive(Debug, Clone, Copy)]
pub struct AuditRequest<'a> {
    /// The rows.
    pub examples: &'a Examples,
    /// Their scores, by row.
    pub scores: &'a [f64],
    /// Bounds that must hold, in the goal language.
    pub checks: &'a [String],
    /// Groups of the table that are not compared: a check that names one can't be estimated.
    pub left_out: &'a [String],
    /// How rates are measured.
    pub measure: Settings,
    /// Whether there will be pictures.
    pub pictures: bool,
    /// Whether it will be merged with audits of other queries.
    pub partial: bool,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditOutcome {
    /// Every metric, and the checks.
    pub audit: Audit,
    /// The scores by group, for pictures.
    pub distributions: Option<Distributions>,
    /// What can be merged.
    pub partial: Option<Partial>,
}

/// Measures scores.
///
/// # Errors
/// A check that can't be read; scores that are not finite; no queries where a partial audit is asked for.
pub fn audit(request: &AuditRequest) -> Result<AuditOutcome, RunError> {
    let AuditRequest { examples, scores, checks, left_out, measure, pictures, partial } = *request;
    let checks = parse_checks(checks, &examples.vocabulary(), left_out)?;
    let (audit, partial) = match partial {
        true => {
            let partial = Partial::new(examples, scores, &measure)?;
            (Audit::checked(&Measurement::of_partial(&partial, &measure), &checks), Some(partial))
        }
        false => (Audit::run(examples, scores, &checks, &measure)?, None),
    };
    let distributions = match pictures {
        true => Some(Distributions::run(examples, scores, &measure)?),
        false => None,
    };
    Ok(AuditOutcome { audit, distributions, partial })
}

fn parse_checks(
    checks: &[String],
    words: &Vocabulary,
    left_out: &[String],
) -> Result<Vec<Constraint>, RunError> {
    Ok(checks.iter().map(|text| parse_check(text, words, left_out)).collect::<Result<_, _>>()?)
}

/// One audit of many partial ones, in any order. How ties and queries count was settled when they were made.
///
/// # Errors
/// A check that can't be read; no parts, or parts that were made in different ways.
pub fn merge(
    parts: impl IntoIterator<Item = Partial>,
    checks: &[String],
    measure: &Settings,
) -> Result<AuditOutcome, RunError> {
    let partial = Partial::merge(parts)?;
    let checks = parse_checks(checks, &partial.vocabulary(), &[])?;
    let audit = Audit::checked(&Measurement::of_partial(&partial, measure), &checks);
    Ok(AuditOutcome { audit, distributions: None, partial: Some(partial) })
}

/// The audit of a table without queries that is larger than memory, as `make` measures it.
///
/// # Errors
/// A check that can't be read, which is told before anything is measured; those of `make`.
pub fn audit_plain<E: From<RunError>>(
    table: &PlainTable,
    checks: &[String],
    make: impl FnOnce() -> Result<Measurement, E>,
) -> Result<AuditOutcome, E> {
    let checks = parse_checks(checks, &table.vocabulary(), &[])?;
    let audit = Audit::checked(&make()?, &checks);
    Ok(AuditOutcome { audit, distributions: None, partial: None })
}

/// What scores are adjusted for, and how.
#[derive(Debug, Clone, Copy)]
pub struct AdjustRequest<'a> {
    /// The rows.
    pub examples: &'a Examples,
    /// Their scores, by row.
    pub scores: &'a [f64],
    /// Their groups, by row.
    pub groups: Option<&'a Groups>,
    /// What each row is for, where rows of their own are given: the map is chosen on validation rows, or else on
    /// those to split, and tested on test rows, or else on those to split. All rows are split where this is empty.
    pub folds: &'a [Fold],
    /// How scores are adjusted; a method that can.
    pub method: &'static Method,
    /// What for.
    pub goal: &'a Goal,
    /// What is set of the method; a strength is one of quantile-match alone.
    pub options: MethodOptions,
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

/// Chooses an adjustment: scores that can't be trained anew are mapped group by group. The map is chosen on a
/// part of the rows and tested on the others.
///
/// # Errors
/// A goal, settings or scores that don't fit; a method that does not apply.
pub fn adjust(request: &AdjustRequest) -> Result<AdjustOutcome, RunError> {
    let AdjustRequest { examples, scores, groups, method, goal, options, tune, measure, .. } = *request;
    if options.strength.is_some() && method.name != "quantile-match" {
        return Err(RunError::StrengthUnused(method.name));
    }
    if !(tune > 0.0 && tune <= 1.0) {
        return Err(RunError::Tune(tune));
    }
    let problem = Problem::of_goal(goal, &examples.vocabulary())?;
    let (tuned, test) = request.parts()?;
    let tuned = tuned.as_ref().unwrap_or(examples);
    let tuning =
        Tuning { examples: tuned, scores, problem: &problem, average: measure.average, ties: measure.ties };
    let adjusted = methods::adjust(method, &options, &tuning)?;
    let attribute = examples.is_continuous().then(|| examples.continuous_by_row());
    let applied = adjusted.adjustment.apply_by(scores, groups, attribute.as_deref())?;
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
    let (goal, unknown) = (goal.clone(), applied.unknown);
    Ok(AdjustOutcome { method: method.name, goal, adjusted, unknown, parts, seed: measure.seed })
}

impl AdjustRequest<'_> {
    /// The examples that the map is chosen on, and those that it is tested on.
    fn parts(&self) -> Result<(Option<Examples>, Option<Examples>), RunError> {
        let AdjustRequest { examples, folds, tune, measure, .. } = *self;
        let has = |fold: Fold| folds.contains(&fold);
        let of = |fold: Fold| examples.part(&examples.units_where(|row| folds.get(row) == Some(&fold)));
        Ok(match (has(Fold::Validation), has(Fold::Test)) {
            (true, true) => (Some(of(Fold::Validation)?), Some(of(Fold::Test)?)),
            (true, false) => (Some(of(Fold::Validation)?), Some(of(Fold::Split)?)),
            (false, true) => (Some(of(Fold::Split)?), Some(of(Fold::Test)?)),
            (false, false) => {
                let mut parts = examples.split(&[tune, 1.0 - tune], measure.seed)?.into_iter();
                (parts.next().flatten(), parts.next().flatten())
            }
        })
    }
}

impl AdjustOutcome {
    /// The map as a model, which adjusts the scores of new rows: of the column of scores, and of those of the
    /// groups or of the continuous attribute that the map goes by.
    ///
    /// # Errors
    /// A map that a model can't have.
    pub fn model(
        &self,
        score: &str,
        group_columns: &[String],
        protected: Option<&str>,
    ) -> Result<Model, RunError> {
        // The scorer is the score itself, less a multiple of the attribute.
        let (mut names, mut parameters, mut after) = (vec![score], vec![1.0], None);
        match (&self.adjusted.adjustment, protected) {
            (Adjustment::Attribute { slope }, Some(protected)) => {
                names.push(protected);
                parameters.push(-slope);
            }
            (adjustment, _) => after = Some(After::Adjusted(adjustment.clone())),
        }
        let column = |name: &&str| Column { name: (*name).to_owned(), values: Values::Numbers(vec![0.0]) };
        let features: Vec<Column> = names.iter().map(column).collect();
        let by_attribute = protected.filter(|_| self.adjusted.adjustment.is_by_attribute());
        let columns = by_attribute.map_or_else(|| group_columns.to_vec(), |name| vec![name.to_owned()]);
        let groups = self.adjusted.adjustment.groups().into_iter().map(str::to_owned).collect();
        let linear = Linear { width: names.len(), intercept: false, start: 1.0, groups: GroupUse::Blind };
        Ok(Model {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            architecture: Architecture::Linear(linear),
            encoder: Encoder::learn(&features.iter().collect::<Vec<_>>(), None, false)?,
            groups: after.is_some().then_some(ModelGroups { columns, names: groups }),
            query: Vec::new(),
            components: vec![Component { probability: 1.0, snapshot: 0, parameters }],
            goal: self.goal.clone(),
            seed: self.seed,
            status: if self.adjusted.meets_goal { Status::Feasible } else { Status::Infeasible }
                .name()
                .to_owned(),
            after,
        })
    }
}

/// What is scored.
#[derive(Debug, Clone, Copy)]
pub struct ScoreRequest<'a> {
    /// The model.
    pub model: &'a Model,
    /// The columns that its encoder needs, and perhaps others.
    pub columns: &'a [Column],
    /// The groups of the rows, of the columns that the model names.
    pub groups: Option<&'a Groups>,
    /// The query of each row, and the queries' names.
    pub queries: Option<(&'a [u32], &'a [String])>,
    /// Seed of the draws; that of the training if none is given.
    pub seed: Option<u64>,
    /// Whether scores on average over all draws are wanted too.
    pub expected: bool,
}

/// Scores, and what is told of them.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreOutcome {
    /// One for each row.
    pub scores: Vec<f64>,
    /// On average over all draws, if that was asked for.
    pub expected: Option<Vec<f64>>,
    /// Seed of the draws.
    pub seed: u64,
    /// Rows without a query, which draw by an empty text.
    pub rows_without_query: usize,
    /// The scorers of the model, in its order.
    pub components: Vec<ComponentUse>,
    /// Rows whose group the model does not know, which count as rows of no group; for models that use groups.
    pub rows_with_unknown_group: Option<usize>,
    /// What training never saw.
    pub notes: Vec<Note>,
}

impl ScoreOutcome {
    /// How many queries there are.
    pub fn queries(&self) -> Option<usize> {
        self.components.iter().map(|component| component.queries).sum()
    }
}

/// Scores rows.
///
/// # Errors
/// Columns that don't fit the model; scores that are not finite; expected scores of a model that ranks.
pub fn score(request: &ScoreRequest) -> Result<ScoreOutcome, RunError> {
    let ScoreRequest { model, queries, .. } = *request;
    let seed = request.seed.unwrap_or(model.seed);
    let rows = model.rows(request.columns, request.groups, queries)?;
    let scores = finite(model.score(&rows, seed), "score")?;
    let expected = match request.expected {
        true => Some(finite(model.expected(&rows), "expected score")?),
        false => None,
    };
    let without =
        |(codes, names): (&[u32], &[String])| codes.iter().filter(|&&c| c as usize >= names.len()).count();
    Ok(ScoreOutcome {
        components: model.component_uses(&rows, seed)?,
        scores,
        expected,
        seed,
        rows_without_query: queries.map_or(0, without),
        rows_with_unknown_group: rows.unknown_groups,
        notes: rows.notes,
    })
}

/// Scores, if they are finite numbers; an error tells where one is not.
fn finite(scores: Result<Vec<f64>, ModelError>, what: &'static str) -> Result<Vec<f64>, RunError> {
    let (row, value) = match scores {
        Ok(scores) => match scores.iter().position(|score| !score.is_finite()) {
            None => return Ok(scores),
            Some(row) => (row, scores[row]),
        },
        Err(ModelError::Examples(ExamplesError::NotFinite { row, value, .. })) => (row, value),
        Err(error) => return Err(error.into()),
    };
    Err(RunError::NotFinite { what, row, value })
}
