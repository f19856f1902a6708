//! A table that was scored, and its JSON document of schema `pairity.score/1`.

use pairity::scorers::Note;
use serde::Serialize;
use serde_json::{Value, json};

/// Everything that is told about a scored table.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoringReport {
    /// Names of the files that were scored.
    pub tables: Vec<String>,
    /// The model's file.
    pub model: String,
    /// Where the scored table was written; `-` is standard output.
    pub output: String,
    /// The columns that were added.
    pub columns: Vec<String>,
    /// Rows scored.
    pub rows: usize,
    /// Seed of the draws.
    pub seed: u64,
    /// The column of queries, if draws depend on one.
    pub query: Option<String>,
    /// Rows without a query, which draw by an empty text.
    pub rows_without_query: usize,
    /// The scorers of the model, in its order.
    pub components: Vec<ScoringComponent>,
    /// Rows whose group the model does not know, which count as rows of no group; for models that use groups.
    pub rows_with_unknown_group: Option<usize>,
    /// What training never saw.
    pub notes: Vec<Note>,
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

impl ScoringReport {
    /// How many queries there are.
    pub fn queries(&self) -> Option<usize> {
        self.components.iter().map(|component| component.queries).sum()
    }
}

/// The report as one JSON document.
pub fn scoring_json(report: &ScoringReport) -> Value {
    json!({
        "schema": "pairity.score/1",
        "model": report.model,
        "tables": report.tables,
        "output": report.output,
        "columns": report.columns,
        "rows": report.rows,
        "seed": report.seed,
        "query": report.query,
        "queries": report.queries(),
        "rows_without_query": report.rows_without_query,
        "components": report.components,
        "rows_with_unknown_group": report.rows_with_unknown_group,
        "notes": report.notes.iter().map(note).collect::<Vec<_>>(),
    })
}

fn note(note: &Note) -> Value {
    match note {
        Note::Unseen { column, rows, different, levels } => json!({
            "kind": "unseen_values", "column": column, "rows": rows, "different": different, "values": levels,
        }),
        Note::Missing { column, rows } => json!({ "kind": "missing_values", "column": column, "rows": rows }),
    }
}
