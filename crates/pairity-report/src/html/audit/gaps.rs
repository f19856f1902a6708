//! Gaps against their bounds, and checks with their verdicts.

use super::AuditPage;
use crate::html::frame::{Section, section};
use crate::html::table::{HtmlTable, TableCell};
use crate::html::whiskers::{DrawnBound, Whisker, Whiskers, verdict};
use crate::report::AuditReport;
use crate::scale::minus;
use crate::text::words::{number, plain};
use pairity::goals::{Criterion, Sense};

/// The gaps of an audit with their intervals and the bounds that were asked for.
pub(in crate::html) fn gaps_of(report: &AuditReport) -> Option<Section> {
    let gaps = report.gaps_that_apply();
    let row = |(criterion, metric): (Criterion, _)| Whisker {
        bounds: bounds(report, criterion),
        ..Whisker::of(criterion.name(), metric, criterion.rates().to_owned())
    };
    if gaps.is_empty() {
        return None;
    }
    let caption = "Each gap with its interval; a thick line is a bound that was asked for";
    let whiskers = Whiskers::of(caption, "Gap", gaps.into_iter().map(row)).holding([0.0]);
    let about = "The largest difference among rates that should be equal; 0 is perfectly equal.";
    section("gaps", "Gaps", about, vec![whiskers.html()])
}

/// The bounds that checks set for a criterion by itself.
fn bounds(report: &AuditReport, criterion: Criterion) -> Vec<DrawnBound> {
    let alone = |expression: &str| match expression.split_once("<=") {
        Some((left, right)) => left.trim() == criterion.name() && right.trim().parse::<f64>().is_ok(),
        None => false,
    };
    let checks = report.audit.checks.iter().filter(|check| alone(&check.expression));
    checks
        .map(|check| DrawnBound { value: check.bound, sense: Sense::AtMost, verdict: check.verdict })
        .collect()
}

impl AuditPage<'_> {
    pub(super) fn checks(&self) -> Option<Section> {
        let mut table = HtmlTable::new("Checks", &["Check", "Verdict", "#Value"]).quiet();
        for check in &self.report.audit.checks {
            let write = |value: f64| minus(&number(value, 4));
            let interval = check.metric.low.zip(check.metric.high);
            let interval = interval.map(|(low, high)| format!("{} to {}", write(low), write(high)));
            let value = TableCell::number(check.metric.value.map_or("—".to_owned(), write));
            table.push(vec![
                TableCell::name(&plain(&check.expression)).with_note(self.report.why(check, self.front_end)),
                TableCell::markup(verdict(check.verdict)),
                match interval {
                    Some(interval) => value.with_note(interval),
                    None => value,
                },
            ]);
        }
        let about = "Bounds that were asked for. A check passes if the whole interval keeps the bound, fails if \
                     none of it does, and is undecided otherwise.";
        let body = (!self.report.audit.checks.is_empty()).then(|| table.html());
        section("checks", "Checks", about, body)
    }
}
