//! The objective and the constraints, and every measure, part by part of the rows.

use super::TrainingPage;
use crate::html::frame::{Section, section};
use crate::html::table::{HtmlTable, TableCell};
use crate::html::whiskers::verdict;
use crate::outcome::slack;
use crate::report::{AuditReport, Notes};
use crate::text::words::{number, plain, rate};
use crate::training::objective_of;
use pairity::run::TrainingPart;

impl TrainingPage<'_> {
    pub(super) fn values(&self) -> Option<Section> {
        let report = self.report;
        let write = |x: f64| number(x, 4);
        let mut table = self.table("Objective and constraints on each part of the rows");
        table.row(
            TableCell::name(&plain(objective_of(&report.goal))).with_note("the objective"),
            report.parts.iter().map(|part| TableCell::metric(&part.evaluation.objective, write)),
        );
        for (place, text) in report.goal.subject_to.iter().enumerate() {
            let cell = |part: &TrainingPart| {
                let check = &part.evaluation.audit.checks[place];
                let badge = verdict(check.verdict);
                TableCell::metric(&check.metric, write).with_note(slack(part, place)).with_badge(badge)
            };
            let note = if report.constrained() { "a constraint" } else { "measured, not enforced" };
            table.row(TableCell::name(&plain(text)).with_note(note), report.parts.iter().map(cell));
        }
        let about = format!(
            "The scorer was fit to the training rows and chosen on the {} rows; other rows had no part in it. \
             Below each value is its interval. A constraint passes if the whole interval keeps the bound.",
            if report.selected_on() == "train" { "same" } else { "validation" }
        );
        section("values", "Objective and constraints", &about, vec![table.html()])
    }

    /// Every measure that these data have.
    pub(super) fn measures(&self) -> Option<Section> {
        let parts: Vec<AuditReport> = self
            .report
            .parts
            .iter()
            .map(|part| AuditReport { audit: part.evaluation.audit.clone(), notes: Notes::default() })
            .collect();
        let first = parts.first()?;
        let mut table = self.table("Every measure on each part of the rows");
        table.row(
            TableCell::name("auc").with_note("the better of two scores higher"),
            parts.iter().map(|part| TableCell::metric(&part.audit.auc, rate)),
        );
        if first.shown_mse().is_some() {
            let mut row = vec![TableCell::name("mse").with_note("mean squared error")];
            let cell = |part: &AuditReport| match &part.audit.mse {
                Some(mse) => TableCell::metric(mse, |x| number(x, 4)),
                None => TableCell::number("—"),
            };
            row.extend(parts.iter().map(cell));
            table.push(row);
        }
        let gaps: Vec<_> = parts.iter().map(AuditReport::gaps_that_apply).collect();
        for (place, (criterion, _)) in gaps[0].iter().enumerate() {
            table.row(
                TableCell::name(criterion.name()).with_note(criterion.rates()),
                gaps.iter().map(|gaps| match gaps.get(place) {
                    Some((_, metric)) => TableCell::metric(metric, rate),
                    None => TableCell::number("—"),
                }),
            );
        }
        let about =
            "Gaps are the largest differences among rates that should be equal; 0 is perfectly equal.";
        section("measures", "All measures", about, vec![table.html()])
    }

    /// A table with a column for each part.
    fn table(&self, caption: &str) -> HtmlTable {
        let mut table = HtmlTable::new(caption, &["Measure"]).quiet();
        self.report.parts.iter().for_each(|part| table.add_column(part.name.to_owned()));
        table
    }
}
