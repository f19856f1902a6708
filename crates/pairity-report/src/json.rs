//! The audit as a JSON document of schema `pairity.audit/1`.

use crate::report::{AuditReport, Role};
use pairity::goals::Sense;
use pairity::metrics::{Check, Metric};
use pairity::rates::{Average, Ties};
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
    let list = |metrics: &[Metric]| metrics.iter().map(metric_json).collect::<Vec<_>>();
    let parity = |row: &Vec<Option<Metric>>| row.iter().map(optional).collect::<Vec<_>>();
    let continuous = match &audit.continuous {
        Some((greater, less)) => json!({ "greater": metric_json(greater), "less": metric_json(less) }),
        None => Value::Null,
    };
    let gaps = report.gaps().into_iter().map(|(c, gap)| (c.name().to_owned(), metric_json(gap)));
    json!({
        "schema": "pairity.audit/1",
        "rows": audit.rows,
        "queries": audit.queries.unwrap_or(1),
        "average": average,
        "ties": ties,
        "confidence": audit.settings.confidence,
        "auc": metric_json(&audit.auc),
        "mse": optional(&audit.mse),
        "groups": audit.groups,
        "accuracy": audit.accuracy.iter().map(|row| list(row)).collect::<Vec<_>>(),
        "row_marginals": list(&audit.row_marginals),
        "column_marginals": list(&audit.column_marginals),
        "parity": audit.parity.iter().map(parity).collect::<Vec<_>>(),
        "symmetric": list(&audit.symmetric),
        "continuous": continuous,
        "gaps": gaps.collect::<Map<_, _>>(),
        "checks": audit.checks.iter().map(check).collect::<Vec<_>>(),
        "notes": notes(report),
    })
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
    let mut object = json!({
        "value": metric.value,
        "low": metric.low,
        "high": metric.high,
        "pairs": count(metric.pairs),
    });
    add_reason(&mut object, metric);
    object
}

fn optional(value: &Option<Metric>) -> Value {
    value.as_ref().map_or(Value::Null, metric_json)
}

/// What a report of constraints adds to one of them: the interval, the bound and the verdict.
pub(crate) fn check_entries(entry: &mut Value, own: &Check) {
    if let (Value::Object(entries), Value::Object(all)) = (entry, check(own)) {
        all.into_iter().filter(|(key, _)| key != "expression").for_each(|(key, value)| {
            entries.insert(key, value);
        });
    }
}

/// The value alone.
pub(crate) fn number_or_null(metric: &Metric) -> Value {
    metric.value.map_or(Value::Null, Value::from)
}

fn check(check: &Check) -> Value {
    let sense = match check.sense {
        Sense::AtMost => "<=",
        Sense::AtLeast => ">=",
    };
    let mut object = json!({
        "expression": check.expression,
        "value": check.metric.value,
        "low": check.metric.low,
        "high": check.metric.high,
        "bound": check.bound,
        "verdict": check.verdict.name(),
        "sense": sense,
        "pairs": count(check.metric.pairs),
    });
    add_reason(&mut object, &check.metric);
    object
}

fn add_reason(object: &mut Value, metric: &Metric) {
    if let (Value::Object(entries), Some(reason)) = (object, &metric.reason) {
        entries.insert("reason".to_owned(), Value::from(reason.as_str()));
    }
}

fn count(pairs: u64) -> Value {
    if pairs <= MAX_EXACT { Value::from(pairs) } else { Value::from(pairs.to_string()) }
}

fn notes(report: &AuditReport) -> Value {
    let notes = &report.notes;
    let columns = notes.columns.iter();
    let groups: Vec<&str> =
        columns.clone().filter(|(role, _)| *role == Role::Group).map(|(_, name)| name.as_str()).collect();
    let mut names: Map<String, Value> = columns
        .filter(|(role, _)| *role != Role::Group)
        .map(|(role, name)| (role.name().to_owned(), Value::from(name.as_str())))
        .collect();
    if !groups.is_empty() {
        names.insert(Role::Group.name().to_owned(), Value::from(groups));
    }
    let missing: Map<String, Value> =
        notes.missing.iter().map(|m| (m.role.name().to_owned(), Value::from(m.rows))).collect();
    json!({
        "tables": notes.tables,
        "columns": names,
        "rows_read": notes.rows_read,
        "rows_dropped": notes.rows_dropped,
        "dropped_ids": notes.dropped_ids,
        "missing": missing,
        "rows_of_no_weight": report.rows_of_no_weight(),
        "rows_without_attribute": report.audit.without_attribute,
    })
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
