//! Adjusted scores, and their JSON document of schema `pairity.adjust/1`.

use crate::json::metric_json;
use pairity::methods::Adjusted;
use pairity::metrics::{Check, Metric};
use pairity::goals::Goal;
use serde_json::{Map, Value, json};

/// Objective and constraints of scores on some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct AdjustedValues {
    /// The objective.
    pub objective: Metric,
    /// The constraints, as they were given.
    pub checks: Vec<Check>,
}

/// A part of the rows, with the scores as they were and as they are after adjusting.
#[derive(Debug, Clone, PartialEq)]
pub struct AdjustedPart {
    /// `tuned` (the map was chosen on it) or `test`.
    pub name: &'static str,
    /// Rows of the part.
    pub rows: usize,
    /// Values of the scores as they were.
    pub before: AdjustedValues,
    /// Values of the adjusted scores.
    pub after: AdjustedValues,
}

/// Everything that is told about adjusted scores.
#[derive(Debug, Clone, PartialEq)]
pub struct AdjustReport {
    /// How scores were adjusted.
    pub method: &'static str,
    /// What for.
    pub goal: Goal,
    /// The map of scores, and by how much it misses the goal.
    pub adjusted: Adjusted,
    /// Measured rows of groups that the map does not know.
    pub unknown: usize,
    /// The parts of the rows; those that are absent are left out.
    pub parts: Vec<AdjustedPart>,
    /// Seed of the split.
    pub seed: u64,
    /// The new column and the file that it was written to, if it was.
    pub written: Option<(String, String)>,
}

/// The adjustment as one JSON document.
pub fn adjust_json(report: &AdjustReport) -> Value {
    let check = |check: &Check| {
        json!({
            "constraint": check.expression,
            "metric": metric_json(&check.metric),
            "verdict": check.verdict.name(),
        })
    };
    let values = |values: &AdjustedValues| {
        let checks: Vec<Value> = values.checks.iter().map(check).collect();
        json!({"objective": metric_json(&values.objective), "constraints": checks})
    };
    let part = |part: &AdjustedPart| {
        let told = json!({"rows": part.rows, "before": values(&part.before), "after": values(&part.after)});
        (part.name.to_owned(), told)
    };
    json!({
        "schema": "pairity.adjust/1",
        "method": report.method,
        "status": if report.adjusted.meets_goal { "feasible" } else { "infeasible" },
        "violations": report.adjusted.violations,
        "adjustment": report.adjusted.adjustment,
        "parts": report.parts.iter().map(part).collect::<Map<_, _>>(),
        "seed": report.seed,
    })
}
