//! Scoring new rows by a model.

use super::RunError;
use crate::examples::{Column, Groups};
use crate::methods::After;
use crate::scorers::{Draw, Model, Note};
use serde::Serialize;

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

/// A scorer of the model, and what it scored.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoringComponent {
    /// How likely it is drawn.
    pub probability: f64,
    /// Which snapshot of the training it is.
    pub snapshot: usize,
    /// Queries that drew it; nothing if there are no queries.
    pub queries: Option<usize>,
    /// Rows that it scored.
    pub rows: usize,
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
    pub components: Vec<ScoringComponent>,
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
    if request.expected && matches!(model.after, Some(After::Ranked(_))) {
        return Err(RunError::NoExpected);
    }
    let encoded = model.encoder.encode(request.columns)?;
    let mut features = encoded.features;
    let (nobody, mut unknown) = (Groups::default(), None);
    let groups = request.groups.unwrap_or(&nobody);
    if let Some(known) = &model.groups {
        let (codes, rows) = known.codes(groups);
        if model.architecture.groups().groups().is_some() {
            features = features.with_codes(codes)?;
        }
        unknown = Some(rows);
    }
    let finish = |scores: Vec<f64>, what: &'static str| -> Result<Vec<f64>, RunError> {
        if let Some(row) = scores.iter().position(|score| !score.is_finite()) {
            return Err(RunError::NotFinite { what, row, value: scores[row] });
        }
        Ok(match &model.after {
            None => scores,
            Some(after) => after.apply(&scores, groups, queries, seed)?.0,
        })
    };
    let draw = queries.map_or(Draw::Whole, |(codes, names)| Draw::ByQuery { codes, names });
    let scores = finish(model.score(&features, draw, seed)?, "score")?;
    let expected = match request.expected {
        true => Some(finish(model.expected_scores(&features)?, "expected score")?),
        false => None,
    };
    let without =
        |(codes, names): (&[u32], &[String])| codes.iter().filter(|&&c| c as usize >= names.len()).count();
    Ok(ScoreOutcome {
        components: components(model, seed, queries, scores.len()),
        scores,
        expected,
        seed,
        rows_without_query: queries.map_or(0, without),
        rows_with_unknown_group: unknown,
        notes: encoded.notes,
    })
}

/// What each scorer of the model was drawn for.
fn components(
    model: &Model,
    seed: u64,
    queries: Option<(&[u32], &[String])>,
    rows: usize,
) -> Vec<ScoringComponent> {
    let own = model.components.iter().map(|component| ScoringComponent {
        probability: component.probability,
        snapshot: component.snapshot,
        queries: queries.map(|_| 0),
        rows: 0,
    });
    let mut components: Vec<ScoringComponent> = own.collect();
    let without = model.drawn(seed, "");
    match queries {
        None => components[without].rows = rows,
        Some((codes, names)) => {
            let drawn: Vec<usize> = names.iter().map(|name| model.drawn(seed, name)).collect();
            for &component in &drawn {
                components[component].queries = components[component].queries.map(|count| count + 1);
            }
            for &code in codes {
                components[*drawn.get(code as usize).unwrap_or(&without)].rows += 1;
            }
        }
    }
    components
}
