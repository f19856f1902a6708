//! A comparison of methods, and its JSON document of schema `pairity.compare/1`.

use crate::json::metric_json;
use pairity::run::{CompareOutcome, ComparisonSetup, MethodResult};
use pairity::solvers::Evaluation;
use serde_json::{Value, json};

/// A document of what methods were compared for, with the entries that are its own.
pub(crate) fn setup_json(setup: &ComparisonSetup, schema: &str, name: &str, entries: Vec<Value>) -> Value {
    let mut document = json!({
        "schema": schema,
        "objective": setup.goal.objective.text(),
        "goal": setup.goal,
        "part": setup.part,
        "rows": setup.rows,
        "model": setup.scorer,
        "seed": setup.seed,
        "confidence": setup.confidence,
    });
    document[name] = Value::from(entries);
    document["tables"] = json!(setup.tables);
    document["notes"] = json!(setup.notes);
    document
}

/// The comparison as one JSON document.
pub fn comparison_json(report: &CompareOutcome) -> Value {
    let results = report.results.iter().map(result_json).collect();
    setup_json(&report.setup, "pairity.compare/1", "results", results)
}

pub(crate) fn result_json(result: &MethodResult) -> Value {
    match &result.outcome {
        Err(reason) => json!({
            "method": result.method, "applies": false, "reason": reason, "status": null, "seconds": null,
            "components": null, "test": null, "dominated": false,
        }),
        Ok(outcome) => json!({
            "method": result.method,
            "applies": true,
            "reason": null,
            "status": outcome.status.name(),
            "seconds": outcome.seconds,
            "components": outcome.components,
            "deterministic": outcome.components == 1,
            "sees_group": outcome.sees_group,
            "verdict": outcome.verdict().name(),
            "test": test_json(&outcome.test),
            "dominated": outcome.dominated,
        }),
    }
}

pub(crate) fn test_json(test: &Evaluation) -> Value {
    let accuracy: Vec<Vec<Value>> =
        test.audit.accuracy.iter().map(|row| row.iter().map(metric_json).collect()).collect();
    let violation = test.violation.as_ref().map_or(Value::Null, metric_json);
    json!({"objective": metric_json(&test.objective), "violation": violation, "accuracy": accuracy})
}
