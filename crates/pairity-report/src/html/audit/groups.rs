//! Accuracies and parity between groups.

use super::AuditPage;
use crate::facts::by_value;
use crate::html::frame::{Section, paragraphs, remarks, section};
use crate::html::heat::{HeatMap, MAX_MATRIX};
use crate::html::markup::Html;
use crate::html::table::{HtmlTable, TableCell};
use crate::html::whiskers::{Whisker, Whiskers};
use crate::text::words::{count, many, plain, shorten};
use pairity::metrics::Metric;
use pairity::rates::Rate;

/// How many cells of each end are shown instead.
const ENDS: usize = 10;

impl AuditPage<'_> {
    pub(super) fn accuracy(&self) -> Option<Section> {
        let audit = &self.report.audit;
        if audit.groups.is_empty() || !self.report.has_labels() {
            return None;
        }
        let mut body = Vec::new();
        if audit.groups.len() <= MAX_MATRIX {
            let caption = "Accuracy with its interval and number of pairs";
            body.push(HeatMap::of_accuracy(caption, audit, audit.auc.value).html());
        } else {
            body.extend(self.ends(self.report.accuracies(), "accuracies"));
        }
        if let Some((better, worse)) = self.report.worst_cell() {
            let metric = &audit.accuracy[better][worse];
            let name = |group: usize| format!("“{}”", shorten(&audit.groups[group], 40));
            let words = format!(
                "The lowest: a better {} scores above a worse {} {:.1}% of the time ({}).",
                name(better),
                name(worse),
                metric.value.unwrap_or(f64::NAN) * 100.0,
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
        if audit.groups.is_empty() || !self.report.has_labels() {
            return None;
        }
        // One scale for both.
        let metrics = audit.row_marginals.iter().chain(&audit.column_marginals);
        let both: Vec<f64> = metrics.flat_map(|m| [m.value, m.low, m.high]).flatten().collect();
        let whiskers = |caption, metrics: &[Metric]| {
            let rows = audit.groups.iter().zip(metrics);
            let rows = rows.map(|(name, metric)| Whisker::of(name, metric, String::new()));
            Whiskers::of(caption, "Group", rows).holding(both.clone()).beside(&audit.auc).html()
        };
        let mut table =
            HtmlTable::new("Symmetric accuracy: the sum of both; 2 is perfect", &["Group", "#S", "#Pairs"]);
        for (name, metric) in audit.groups.iter().zip(&audit.symmetric) {
            table.push(vec![TableCell::name(name), TableCell::rate(metric), TableCell::count(metric.pairs)]);
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
                cells: audit.parity.iter().map(|row| row.iter().map(Option::as_ref).collect()).collect(),
                middle: Some((0.5, "parity")),
                marked: None,
                totals: false,
            };
            body.push(heat.html());
        } else {
            body.extend(self.ends(self.report.parities(), "shares"));
        }
        body.push(remarks(&self.reasons(audit.parity.iter().flatten().flatten())));
        let about = "How often someone of one group scores above someone of another, whatever their labels; 0.5 \
                     is parity. Groups whose labels differ will differ here too.";
        section("parity", "Statistical parity", about, body)
    }

    /// The lowest and the highest of many cells.
    fn ends(&self, cells: Vec<(Rate, &Metric)>, what: &str) -> Vec<Html> {
        let known = by_value(cells);
        let table = |caption: String, cells: &mut dyn Iterator<Item = &(Rate, &Metric)>| {
            let mut table = HtmlTable::new(caption, &["Rate", "#Value", "#Pairs"]);
            for (rate, metric) in cells {
                let name = plain(&rate.name(&self.report.audit.groups));
                table.push(vec![
                    TableCell::name(&name),
                    TableCell::rate(metric),
                    TableCell::count(metric.pairs),
                ]);
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
