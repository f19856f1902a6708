//! Results as JSON documents, each with its schema: `pairity.audit/1` and so on. Numbers are in full precision.

use crate::facts::gaps;
use crate::report::{
    AdjustReport, AuditReport, DemoReport, Reproduced, Reproduction, Role, ScoringReport, TrainingReport,
};
use pairity::goals::Sense;
use pairity::learners::Note;
use pairity::metrics::{Audit, Check, Metric};
use pairity::rates::{Average, Ties};
use pairity::run::{
    AdjustedPart, AdjustedValues, CompareOutcome, ComparisonSetup, ConstraintLimit, FrontierCurve,
    FrontierOutcome, FrontierPoint, Guarantee, HarmedRate, MethodResult,
};
use pairity::solvers::{Evaluation, RunEnding};
use serde_json::{Map, Value, json};

/// Larger integers are not exact in programs that hold every number as 64-bit floating point.
const MAX_EXACT: u64 = 1 << 53;

/// The audit as one JSON document. Numbers are in full precision.
///
/// ```
/// use pairity::examples::{Columns, Examples};
/// use pairity::metrics::{Audit, Settings};
/// use pairity_report::{Notes, AuditReport, audit_json};
///
/// let labels = [0.0, 0.0, 1.0, 1.0];
/// let examples = Examples::new(Columns { labels: Some(&labels), ..Columns::default() })?;
/// let audit = Audit::run(&examples, &[0.1, 0.4, 0.3, 0.8], &[], &Settings::default())?;
/// let json = audit_json(&AuditReport { audit, notes: Notes::default() });
/// assert_eq!(json["auc"]["value"], 0.75);
/// assert_eq!(json["auc"]["pairs"], 4);
/// # Ok::<(), pairity::examples::ExamplesError>(())
/// ```
pub fn audit_json(report: &AuditReport) -> Value {
    let audit = &report.audit;
    let average = match audit.settings.average {
        Average::Pairs => "pairs",
        Average::Queries => "queries",
    };
    let ties = match audit.settings.ties {
        Ties::Half => "half",
        Ties::Strict => "strict",
    };
    let check = |check: &Check| {
        let told = json!({"expression": check.expression, "value": check.metric.value});
        let mut told = check_json(told, check);
        told["confidence"] = json!(check.confidence);
        told
    };
    let mut document = json!({
        "schema": "pairity.audit/1",
        "rows": audit.rows,
        "queries": audit.queries.unwrap_or(1),
        "average": average,
        "ties": ties,
        "confidence": audit.settings.confidence,
        "auc": metric_json(&audit.auc),
        "mse": audit.mse.as_ref().map(metric_json),
        "groups": audit.groups,
        "accuracy": audit.accuracy.iter().map(list).collect::<Value>(),
        "row_marginals": list(&audit.row_marginals),
        "column_marginals": list(&audit.column_marginals),
        "parity": audit.parity.iter().map(list).collect::<Value>(),
        "symmetric": list(&audit.symmetric),
        "continuous": continuous(audit, metric_json),
        "gaps": gaps(audit).map(|(c, gap)| (c.name().to_owned(), metric_json(gap))).collect::<Map<_, _>>(),
        "checks": audit.checks.iter().map(check).collect::<Vec<_>>(),
        "notes": notes(report),
    });
    if let Some(estimate) = &audit.estimate {
        let number =
            |pairs: u128| u64::try_from(pairs).map_or_else(|_| json!(pairs.to_string()), |n| json!(count(n)));
        document["estimate"] = json!({
            "share": estimate.share(),
            "pairs_compared": number(estimate.compared),
            "pairs": number(estimate.all),
        });
    }
    document
}

/// The rates of a continuous attribute, each written in some way.
fn continuous(audit: &Audit, write: impl Fn(&Metric) -> Value) -> Value {
    let Some(rates) = &audit.continuous else { return Value::Null };
    json!({
        "greater": write(&rates.greater),
        "less": write(&rates.less),
        "parity_greater": write(&rates.parity_greater),
        "parity_less": write(&rates.parity_less),
    })
}

fn notes(report: &AuditReport) -> Value {
    let notes = &report.notes;
    let named = |columns: &[(Role, String)]| {
        let (role, names) =
            (columns[0].0, columns.iter().map(|(role, name)| role.column(name)).collect::<Vec<_>>());
        let is_list = matches!(role, Role::Group | Role::Within);
        (role.name().to_owned(), if is_list { Value::from(names) } else { one_or_list(&names) })
    };
    let (groups, others): (Vec<_>, Vec<_>) =
        notes.columns.chunk_by(|a, b| a.0 == b.0).partition(|columns| columns[0].0 == Role::Group);
    let names: Map<String, Value> = others.into_iter().chain(groups).map(named).collect();
    let missing: Map<String, Value> =
        notes.missing.iter().map(|m| (m.role.name().to_owned(), Value::from(m.rows))).collect();
    let mut told = json!({
        "tables": notes.tables,
        "columns": names,
        "rows_read": notes.rows_read,
        "rows_dropped": notes.rows_dropped,
        "dropped_ids": notes.dropped_ids,
        "missing": missing,
        "rows_of_no_weight": report.rows_of_no_weight(),
        "rows_without_attribute": report.audit.without_attribute,
    });
    // Where something was asked for.
    if let Some(filter) = &notes.filter {
        told["where"] = json!(filter);
    }
    if !notes.groups_left_out.is_empty() {
        told["groups_left_out"] = json!(notes.groups_left_out);
    }
    told
}

/// One name as it is, several as a list; null for none.
fn one_or_list(names: &[String]) -> Value {
    match names {
        [] => Value::Null,
        [name] => Value::from(name.as_str()),
        names => Value::from(names),
    }
}

/// The run as one JSON document. Numbers are in full precision.
pub fn training_json(report: &TrainingReport) -> Value {
    let run = &report.run;
    let components = run.trained.components.iter().zip(&run.trained.step_sizes);
    let mut document = json!({
        "schema": "pairity.train/1",
        "method": run.method,
        "model": run.scorer,
        "goal": run.goal,
        "seed": run.seed,
        "solver": run.solver.name(),
        "select": run.select.name(),
        "iterations": run.iterations,
        "step_size": run.trained.step_size(),
        "seconds": run.seconds,
        "status": run.trained.status.name(),
        "meets_goal": run.trained.meets_goal,
        "selected_on": if run.trained.cross_fit { "cross_fit" } else { run.selected_on() },
        "across_queries": run.trained.across_queries,
        "certificate": run.trained.certificate.map(
            |own| json!({"objective": own.objective, "bound": own.bound, "gap": own.gap})
        ),
        "tries": run.trained.tries,
        "components": components
            .map(|(c, size)| json!({"probability": c.probability, "snapshot": c.snapshot, "step_size": size}))
            .collect::<Vec<_>>(),
        "train": run.part("train").map(evaluation),
        "validation": run.part("validation").map(evaluation),
        "test": run.part("test").map(evaluation),
        "features": run.features,
        "group_aware": run.group_aware,
        "notes": run.notes,
    });
    if run.trained.ended_early() {
        let ending = |own: &RunEnding| json!({"step_size": own.step_size, "iterations": own.iterations, "end": own.end.name()});
        document["runs"] = run.trained.endings.iter().map(ending).collect();
    }
    if let Some(guarantee) = &run.guarantee {
        document["safety"] = json!(run.part("safety").map(evaluation));
        document["guarantee"] = guarantee_json(guarantee, run.has_queries());
    }
    if let Some(harm) = &run.harm {
        let rate = |own: &HarmedRate| json!({"rate": own.rate, "unconstrained": own.unconstrained, "value": own.value, "least": own.least});
        document["harm"] = harm.rates.iter().map(rate).collect();
    }
    document
}

fn guarantee_json(guarantee: &Guarantee, queries: bool) -> Value {
    let limit =
        |own: &ConstraintLimit| json!({"constraint": own.constraint, "high": own.limit, "bound": own.bound});
    json!({
        "confidence": guarantee.confidence,
        "given": guarantee.given,
        "limits": guarantee.limits.iter().map(limit).collect::<Vec<_>>(),
        "rows_needed": guarantee.units_needed,
        "rows": guarantee.units,
        "unit": if queries { "query" } else { "row" },
    })
}

fn evaluation(evaluation: &Evaluation) -> Value {
    let audit = &evaluation.audit;
    let value = |metric: &Metric| metric.value;
    let violation = |(place, check): (usize, &Check)| {
        let violation = evaluation.assessment.miss(place);
        let told =
            json!({"constraint": check.expression, "value": check.metric.value, "violation": violation});
        check_json(told, check)
    };
    let members = evaluation.members.iter().map(|m| {
        let misses: Vec<Option<f64>> = (0..audit.checks.len()).map(|c| m.assessment.miss(c)).collect();
        json!({"probability": m.probability, "objective": m.objective, "violations": misses})
    });
    let accuracy = audit.accuracy.iter().map(|row| row.iter().map(value).collect::<Vec<_>>());
    json!({
        "rows": audit.rows,
        "queries": audit.queries,
        "objective": evaluation.objective.value,
        "objective_low": evaluation.objective.low,
        "objective_high": evaluation.objective.high,
        "auc": audit.auc.value,
        "mse": audit.mse.as_ref().and_then(value),
        "violations": audit.checks.iter().enumerate().map(violation).collect::<Vec<_>>(),
        "groups": audit.groups,
        "accuracy": accuracy.collect::<Vec<_>>(),
        "continuous": continuous(audit, |metric| json!(metric.value)),
        "members": members.collect::<Vec<_>>(),
    })
}

/// The comparison as one JSON document.
pub fn comparison_json(report: &CompareOutcome) -> Value {
    let results = report.results.iter().map(result_json).collect();
    setup_json(&report.setup, "pairity.compare/1", "results", results)
}

/// The frontier, objective against violation for a range of bounds, as one JSON document.
pub fn frontier_json(report: &FrontierOutcome) -> Value {
    let point = |point: &FrontierPoint| {
        let mut value = result_json(&point.result);
        value["bound"] = json!(point.bound);
        value["keeps"] = json!(point.keeps);
        value
    };
    let curve = |curve: &FrontierCurve| json!({"method": curve.method, "points": curve.points.iter().map(point).collect::<Vec<_>>()});
    let curves = report.curves.iter().map(curve).collect();
    setup_json(&report.setup, "pairity.frontier/1", "curves", curves)
}

/// A document of what methods were compared for, with the entries that are its own.
fn setup_json(setup: &ComparisonSetup, schema: &str, name: &str, entries: Vec<Value>) -> Value {
    json!({
        "schema": schema,
        "objective": setup.goal.objective.text(),
        "goal": setup.goal,
        "violation": setup.violation.name(),
        "part": setup.part,
        "rows": setup.rows,
        "model": setup.scorer,
        "features": setup.features,
        "seed": setup.seed,
        "confidence": setup.confidence,
        name: entries,
        "tables": setup.tables,
        "notes": setup.notes,
    })
}

fn result_json(result: &MethodResult) -> Value {
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
            "test": {
                "objective": metric_json(&outcome.test.objective),
                "violation": outcome.violation().map(metric_json),
                "accuracy": outcome.test.audit.accuracy.iter().map(list).collect::<Value>(),
            },
            "dominated": outcome.dominated,
        }),
    }
}

/// The adjustment as one JSON document.
pub fn adjust_json(report: &AdjustReport) -> Value {
    let run = &report.run;
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
        "method": run.method,
        "status": if run.adjusted.meets_goal { "feasible" } else { "infeasible" },
        "violations": run.adjusted.violations,
        "adjustment": run.adjusted.adjustment,
        "parts": run.parts.iter().map(part).collect::<Map<_, _>>(),
        "seed": run.seed,
    })
}

/// The report of a scored table as one JSON document.
pub fn scoring_json(report: &ScoringReport) -> Value {
    let run = &report.run;
    let note = |note: &Note| match note {
        Note::Unseen { column, rows, different, levels } => json!({
            "kind": "unseen_values", "column": column, "rows": rows, "different": different, "values": levels,
        }),
        Note::Missing { column, rows } => json!({ "kind": "missing_values", "column": column, "rows": rows }),
    };
    json!({
        "schema": "pairity.score/1",
        "model": report.model,
        "tables": report.tables,
        "output": report.output,
        "columns": report.columns,
        "rows": run.scores.len(),
        "seed": run.seed,
        "query": one_or_list(&report.query),
        "queries": run.queries(),
        "rows_without_query": run.rows_without_query,
        "components": run.components,
        "rows_with_unknown_group": run.rows_with_unknown_group,
        "notes": run.notes.iter().map(note).collect::<Vec<_>>(),
    })
}

/// The demo as one JSON document.
pub fn demo_json(report: &DemoReport) -> Value {
    let runs: Vec<Value> = report.runs.iter().map(training_json).collect();
    json!({"schema": "pairity.demo/1", "queries": report.queries, "runs": runs})
}

/// The experiments as one JSON document: a list of lines.
pub fn reproduction_json(report: &Reproduction) -> Value {
    let spread = |(mean, std): (f64, f64)| json!({"mean": mean, "std": std});
    let both = |(a, b): (f64, f64)| json!({"objective": a, "violation": b});
    let line = |line: &Reproduced| {
        json!({
            "experiment": line.experiment,
            "method": line.method,
            "objective": spread(line.objective),
            "violation": spread(line.violation),
            "matrix": line.matrix,
            "population": line.population.map(both),
            "agreement": line.agreement.map(|(a, b)| json!({"objective": a, "violation": b})),
            "paper": line.paper.map(both),
            "limit": line.limit.map(|(reached, limit)| json!({"reached": reached, "limit": limit})),
            "seeds": line.seeds,
            "seconds": line.seconds,
            "stand_in": line.stand_in,
            "sample": line.sample,
            "notes": line.notes,
        })
    };
    report.lines.iter().map(line).collect()
}

/// A document on several lines: one for each key of the outermost object, or a list as it is usually indented.
///
/// ```
/// let document = serde_json::json!({ "a": [1, 2], "b": { "c": null } });
/// assert_eq!(pairity_report::json_lines(&document), "{\n\"a\": [1,2],\n\"b\": {\"c\":null}\n}\n");
/// ```
pub fn json_lines(document: &Value) -> String {
    match document {
        Value::Object(entries) => {
            let line = |(key, value): (&String, &Value)| format!("{}: {value}", Value::from(key.as_str()));
            format!("{{\n{}\n}}\n", entries.iter().map(line).collect::<Vec<_>>().join(",\n"))
        }
        other => format!("{other:#}\n"),
    }
}

/// A metric as documents have it: value, interval and number of pairs, and the reason for what is missing.
pub fn metric_json(metric: &Metric) -> Value {
    let pairs = count(metric.pairs);
    with_reason(
        json!({"value": metric.value, "low": metric.low, "high": metric.high, "pairs": pairs}),
        metric,
    )
}

/// Metrics, some of which may be absent.
fn list<'a>(metrics: impl IntoIterator<Item = impl Into<Option<&'a Metric>>>) -> Value {
    metrics.into_iter().map(|metric| json!(metric.into().map(metric_json))).collect()
}

/// A constraint: behind what is told of it already come its interval, its bound and its verdict.
fn check_json(mut told: Value, check: &Check) -> Value {
    let sense = match check.sense {
        Sense::AtMost => "<=",
        Sense::AtLeast => ">=",
    };
    told["low"] = json!(check.metric.low);
    told["high"] = json!(check.metric.high);
    told["bound"] = json!(check.bound);
    told["verdict"] = json!(check.verdict.name());
    told["sense"] = json!(sense);
    told["pairs"] = count(check.metric.pairs);
    with_reason(told, &check.metric)
}

fn with_reason(mut told: Value, metric: &Metric) -> Value {
    if let Some(reason) = &metric.reason {
        told["reason"] = json!(reason);
    }
    if let Some(few) = &metric.few {
        told["few"] = json!(few);
    }
    told
}

fn count(pairs: u64) -> Value {
    if pairs <= MAX_EXACT { Value::from(pairs) } else { Value::from(pairs.to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_beyond_exact_floating_point_are_strings() {
        assert_eq!(count(MAX_EXACT), json!(9_007_199_254_740_992_u64));
        assert_eq!(count(MAX_EXACT + 1), json!("9007199254740993"));
    }

    #[test]
    fn a_missing_value_is_null_with_a_reason() {
        let missing = metric_json(&Metric::missing("no pairs"));
        assert_eq!(
            missing,
            json!({"value": null, "low": null, "high": null, "pairs": 0, "reason": "no pairs"})
        );
    }
}
