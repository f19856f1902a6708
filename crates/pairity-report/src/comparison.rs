//! A comparison of methods, and its JSON document of schema `pairity.compare/1`.

use crate::json::metric_json;
use crate::training::objective_of;
use pairity::goals::{Goal, Objective};
use pairity::methods::{After, Fitted};
use pairity::metrics::{Metric, Verdict};
use pairity::scorers::Architecture;
use pairity::training::{Evaluation, Status};
use serde_json::{Value, json};

/// How one method did.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodResult {
    /// Its name.
    pub method: String,
    /// What came out, or why the method does not apply.
    pub outcome: Result<MethodOutcome, String>,
}

/// What came out of a method.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodOutcome {
    /// Whether the goal is met where the model was selected.
    pub status: Status,
    /// Time that it took, with that of the scorer it starts from.
    pub seconds: f64,
    /// Scorers, or rankings of a query, that are drawn from.
    pub components: usize,
    /// Whether the model needs the protected attribute of whom it scores.
    pub sees_group: bool,
    /// On the test rows, or on those it was selected on if there are none.
    pub test: Evaluation,
    /// Whether another method is at least as good in both values, and better in one.
    pub dominated: bool,
}

impl MethodOutcome {
    /// That of a model, from what it does on some rows of so many groups.
    pub fn of(
        fitted: &Fitted,
        scorer: &Architecture,
        groups: usize,
        seconds: f64,
        test: Evaluation,
    ) -> MethodOutcome {
        let components = match &fitted.after {
            Some(After::Ranked(_)) => groups,
            _ => fitted.trained.components.len(),
        };
        let sees_group = fitted.after.is_some() || scorer.groups().groups().is_some();
        MethodOutcome {
            status: fitted.trained.status,
            seconds,
            components,
            sees_group,
            test,
            dominated: false,
        }
    }

    /// The violation; none without constraints.
    pub fn violation(&self) -> Option<&Metric> {
        self.test.violation.as_ref()
    }

    /// Whether the rows that are shown say that the goal is met: the worst verdict of a constraint.
    pub fn verdict(&self) -> Verdict {
        let checks = &self.test.audit.checks;
        let has = |verdict: Verdict| checks.iter().any(|check| check.verdict == verdict);
        [Verdict::Fail, Verdict::NotEstimable, Verdict::Undecided]
            .into_iter()
            .find(|&verdict| has(verdict))
            .unwrap_or(Verdict::Pass)
    }
}

/// What methods were compared for, and on what.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonSetup {
    /// The goal; a frontier replaces its bounds.
    pub goal: Goal,
    /// The part that values are of.
    pub part: &'static str,
    /// Rows of that part.
    pub rows: usize,
    /// The kind of scorer.
    pub model: &'static str,
    /// Seed of every random choice.
    pub seed: u64,
    /// Probability of the intervals.
    pub confidence: f64,
    /// Names of the files.
    pub tables: Vec<String>,
    /// What happened to the data on the way.
    pub notes: Vec<String>,
}

impl ComparisonSetup {
    /// The objective as it was stated.
    pub fn objective(&self) -> &str {
        objective_of(&self.goal)
    }

    /// The document with the entries that are its own.
    pub(crate) fn json(&self, schema: &str, name: &str, entries: Vec<Value>) -> Value {
        let mut document = json!({
            "schema": schema,
            "objective": self.objective(),
            "goal": self.goal,
            "part": self.part,
            "rows": self.rows,
            "model": self.model,
            "seed": self.seed,
            "confidence": self.confidence,
        });
        document[name] = Value::from(entries);
        document["tables"] = json!(self.tables);
        document["notes"] = json!(self.notes);
        document
    }
}

/// All methods on one split of the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonReport {
    /// What they were compared for, and on what.
    pub setup: ComparisonSetup,
    /// Best first; those that do not apply last.
    pub results: Vec<MethodResult>,
}

impl ComparisonReport {
    /// Sorts the results and marks those that are dominated. Those that surely meet the goal come first,
    /// then those of which the rows can't tell, both by objective; the rest by violation.
    pub fn new(setup: ComparisonSetup, mut results: Vec<MethodResult>) -> ComparisonReport {
        let sign = match setup.goal.objective {
            Objective::Maximize(_) => -1.0,
            Objective::Minimize(_) => 1.0,
        };
        // Smaller is better in both; a value that is not there is worst.
        let values = |outcome: &MethodOutcome| {
            let known = |metric: Option<&Metric>| metric.and_then(|m| m.value).unwrap_or(f64::INFINITY);
            let violation = outcome.violation().map_or(0.0, |metric| known(Some(metric)));
            (outcome.test.objective.value.map_or(f64::INFINITY, |value| sign * value), violation)
        };
        let all: Vec<(f64, f64)> =
            results.iter().filter_map(|result| result.outcome.as_ref().ok()).map(values).collect();
        for outcome in results.iter_mut().filter_map(|result| result.outcome.as_mut().ok()) {
            let own = values(outcome);
            outcome.dominated = all.iter().any(|other| other.0 <= own.0 && other.1 <= own.1 && *other != own);
        }
        let order = |result: &MethodResult| {
            let Ok(outcome) = &result.outcome else { return (3, 0.0, 0.0) };
            let (cost, violation) = values(outcome);
            match outcome.verdict() {
                Verdict::Pass => (0, cost, violation),
                Verdict::Undecided => (1, cost, violation),
                Verdict::Fail | Verdict::NotEstimable => (2, violation, cost),
            }
        };
        results.sort_by(|a, b| {
            let (a, b) = (order(a), order(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2))
        });
        ComparisonReport { setup, results }
    }
}

/// The comparison as one JSON document.
pub fn comparison_json(report: &ComparisonReport) -> Value {
    let results = report.results.iter().map(result_json).collect();
    report.setup.json("pairity.compare/1", "results", results)
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
