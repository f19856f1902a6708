//! Scoring new rows by a model.

use super::RunError;
use crate::examples::{Column, ExamplesError, Groups};
use crate::learners::Note;
use crate::model::{ComponentUse, Model, ModelError};

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
    let rows = model.rows(request.columns, request.groups, queries).map_err(|error| match error {
        ModelError::Encode(error) => RunError::Encode(error),
        other => other.into(),
    })?;
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
        Err(ModelError::NoExpected) => return Err(RunError::NoExpected),
        Err(error) => return Err(error.into()),
    };
    Err(RunError::NotFinite { what, row, value })
}
