//! A training run, and its JSON document of schema `pairity.train/1`.

use crate::json::{check_entries, number_or_null};
use pairity::goals::Goal;
use pairity::metrics::Metric;
use pairity::run::TrainOutcome;
use pairity::solvers::Evaluation;
use serde_json::{Value, json};
use std::ops::Deref;

/// A training run, and where its model is.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingReport {
    /// What came out.
    pub run: TrainOutcome,
    /// Where the model was written, if it was.
    pub file: Option<String>,
}

impl Deref for TrainingReport {
    type Target = TrainOutcome;

    fn deref(&self) -> &TrainOutcome {
        &self.run
    }
}

/// The objective as it was stated.
pub(crate) fn objective_of(goal: &Goal) -> &str {
    goal.objective.text()
}

/// The run as one JSON document. Numbers are in full precision.
pub fn training_json(report: &TrainingReport) -> Value {
    let part = |name: &str| {
        let found = report.parts.iter().find(|part| part.name == name);
        found.map_or(Value::Null, |part| evaluation(&part.evaluation))
    };
    let components = report.trained.components.iter();
    json!({
        "schema": "pairity.train/1",
        "method": report.method,
        "model": report.scorer,
        "goal": report.goal,
        "seed": report.seed,
        "iterations": report.iterations,
        "step_size": report.trained.step_size,
        "seconds": report.seconds,
        "status": report.trained.status.name(),
        "meets_goal": report.trained.meets_goal,
        "selected_on": report.selected_on(),
        "components": components
            .map(|c| json!({"probability": c.probability, "snapshot": c.snapshot}))
            .collect::<Vec<_>>(),
        "train": part("train"),
        "validation": part("validation"),
        "test": part("test"),
        "features": report.features,
        "group_aware": report.group_aware,
        "notes": report.notes,
    })
}

fn evaluation(evaluation: &Evaluation) -> Value {
    let audit = &evaluation.audit;
    let value = |metric: &Metric| metric.value;
    let violations: Vec<Value> = audit
        .checks
        .iter()
        .enumerate()
        .map(|(place, check)| {
            let violation = evaluation.assessment.miss(place);
            let mut entry =
                json!({"constraint": check.expression, "value": check.metric.value, "violation": violation});
            check_entries(&mut entry, check);
            entry
        })
        .collect();
    let members: Vec<Value> = evaluation
        .members
        .iter()
        .map(|m| {
            let misses: Vec<Option<f64>> = (0..audit.checks.len()).map(|c| m.assessment.miss(c)).collect();
            json!({"probability": m.probability, "objective": m.objective, "violations": misses})
        })
        .collect();
    json!({
        "rows": audit.rows,
        "queries": audit.queries,
        "objective": evaluation.objective.value,
        "objective_low": evaluation.objective.low,
        "objective_high": evaluation.objective.high,
        "auc": value(&audit.auc),
        "mse": audit.mse.as_ref().and_then(value),
        "violations": violations,
        "groups": audit.groups,
        "accuracy": audit.accuracy.iter().map(|row| row.iter().map(number_or_null).collect()).collect::<Vec<Vec<Value>>>(),
        "continuous": audit.continuous.as_ref().map(|(greater, less)| json!({"greater": greater.value, "less": less.value})),
        "members": members,
    })
}
