//! A table that was scored, and its JSON document of schema `pairity.score/1`.

use pairity::learners::Note;
use pairity::run::ScoreOutcome;
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
    /// The column of queries, if draws depend on one.
    pub query: Option<String>,
    /// What came out.
    pub run: ScoreOutcome,
}

/// The report as one JSON document.
pub fn scoring_json(report: &ScoringReport) -> Value {
    let run = &report.run;
    json!({
        "schema": "pairity.score/1",
        "model": report.model,
        "tables": report.tables,
        "output": report.output,
        "columns": report.columns,
        "rows": run.scores.len(),
        "seed": run.seed,
        "query": report.query,
        "queries": run.queries(),
        "rows_without_query": run.rows_without_query,
        "components": run.components,
        "rows_with_unknown_group": run.rows_with_unknown_group,
        "notes": run.notes.iter().map(note).collect::<Vec<_>>(),
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
