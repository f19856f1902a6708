//! Adjusted scores, and their JSON document of schema `pairity.adjust/1`.

use crate::json::metric_json;
use pairity::metrics::Check;
use pairity::run::{AdjustOutcome, AdjustedPart, AdjustedValues};
use serde_json::{Map, Value, json};

/// Adjusted scores, and where they are.
#[derive(Debug, Clone, PartialEq)]
pub struct AdjustReport {
    /// What came out.
    pub run: AdjustOutcome,
    /// The new column and the file that it was written to, if it was.
    pub written: Option<(String, String)>,
}

/// The adjustment as one JSON document.
pub fn adjust_json(report: &AdjustReport) -> Value {
    let report = &report.run;
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
