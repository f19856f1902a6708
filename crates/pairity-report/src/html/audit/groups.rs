//! Accuracies and parity between groups.

use super::AuditPage;
use crate::facts::{Known, Matrix, accuracies, by_value, has_labels, parities, worst_cell};
use crate::html::frame::{Section, paragraphs, remarks, section};
use crate::html::heat::{HeatMap, MAX_MATRIX};
use crate::html::markup::Html;
use crate::html::table::{HtmlTable, TableCell};
use crate::html::whiskers::{Whisker, Whiskers};
use crate::scale::ends;
use crate::words::{count, many, plain, shorten};
use pairity::metrics::Metric;
use pairity::rates::Rate;

/// How many cells of each end are shown instead.
const ENDS: usize = 10;

impl AuditPage<'_> {
    pub(super) fn accuracy(&self) -> Option<Section> {
        let audit = &self.report.audit;
        if audit.groups.is_empty() || !has_labels(audit) {
            return None;
        }
        let mut body = Vec::new();
        if audit.groups.len() <= MAX_MATRIX {
            let caption = "Accuracy with its interval and number of pairs";
            body.push(HeatMap::of_accuracy(caption, audit, audit.auc.value).html());
        } else {
            body.extend(self.ends(&accuracies(audit), Rate::accuracy, "accuracies"));
        }
        if let Some(Known { place: (better, worse), value, metric }) = worst_cell(audit) {
            let name = |group: usize| format!("“{}”", shorten(&audit.groups[group], 40));
            let words = format!(
                "The lowest: a better {} scores above a worse {} {:.1}% of the time ({}).",
                name(better),
                name(worse),
                value * 100.0,
                many(metric.pairs as usize, "pair")
            );
            body.push(paragraphs(&[words]));
        }
        body.push(remarks(&self.reasons(audit.accuracy.iter().flatten())));
        let about = "How often the better of two candidates has the higher score, by the group of each: read \
                     along a row for the better one’s group.";
        section("accuracy", "Accuracy between groups", about, body)
    }

    pub(super) fn marginals(&self) -> Option<Section> {
        let audit = &self.report.audit;
        if audit.groups.is_empty() || !has_labels(audit) {
            return None;
        }
        // One scale for both.
        let metrics = audit.row_marginals.iter().chain(&audit.column_marginals);
        let both: Vec<f64> = metrics.flat_map(ends).collect();
        let whiskers = |caption, metrics: &[Metric]| {
            let rows = audit.groups.iter().zip(metrics);
            let rows = rows.map(|(name, metric)| Whisker::of(name, metric, String::new()));
            Whiskers::of(caption, "Group", rows).holding(both.clone()).beside(&audit.auc).html()
        };
        let mut table =
            HtmlTable::new("Symmetric accuracy: the sum of both; 2 is perfect", &["Group", "#S", "#Pairs"]);
        for (name, metric) in audit.groups.iter().zip(&audit.symmetric) {
            table.row(TableCell::name(name), [TableCell::rate(metric), TableCell::count(metric.pairs)]);
        }
        let body = vec![
            whiskers("As the better one, against anyone: A[group > *]", &audit.row_marginals),
            whiskers("As the worse one, against anyone: A[* > group]", &audit.column_marginals),
            table.html(),
        ];
        section("marginals", "Accuracy of each group", "Each group’s members against all others.", body)
    }

    pub(super) fn parity(&self) -> Option<Section> {
        let audit = &self.report.audit;
        if audit.groups.len() < 2 {
            return None;
        }
        let mut body = Vec::new();
        if audit.groups.len() <= MAX_MATRIX {
            let heat = HeatMap {
                caption: "How often the row’s group scores above the column’s",
                corner: ["higher", "lower"],
                names: audit.groups.iter().map(String::as_str).collect(),
                cells: parities(audit),
                middle: Some((0.5, "parity")),
                lowest: None,
                totals: false,
            };
            body.push(heat.html());
        } else {
            let rate = |first, second| Rate::Parity { first, second };
            body.extend(self.ends(&parities(audit), rate, "shares"));
        }
        body.push(remarks(&self.reasons(audit.parity.iter().flatten().flatten())));
        let about = "How often someone of one group scores above someone of another, whatever their labels; 0.5 \
                     is parity. Groups whose labels differ will differ here too.";
        section("parity", "Statistical parity", about, body)
    }

    /// The lowest and the highest of many cells.
    fn ends(&self, cells: &Matrix, rate: fn(usize, usize) -> Rate, what: &str) -> Vec<Html> {
        let known = by_value(cells);
        let table = |caption: String, cells: &mut dyn Iterator<Item = &Known>| {
            let mut table = HtmlTable::new(caption, &["Rate", "#Value", "#Pairs"]);
            for Known { place: (row, column), metric, .. } in cells {
                let name = plain(&rate(*row, *column).name(&self.report.audit.groups));
                table.row(TableCell::name(&name), [TableCell::rate(metric), TableCell::count(metric.pairs)]);
            }
            table.html()
        };
        if known.len() <= 2 * ENDS {
            return vec![table(format!("All {what}"), &mut known.iter())];
        }
        let all = count(known.len() as u64);
        vec![
            table(format!("The {ENDS} lowest of {all} {what}; JSON has all"), &mut known.iter().take(ENDS)),
            table(format!("The {ENDS} highest {what}"), &mut known.iter().rev().take(ENDS)),
        ]
    }
}
