//! The objective and the constraints, and every measure, part by part of the rows; accuracies before and after
//! the constraints, side by side.

use super::TrainingPage;
use crate::facts::{accuracies, by_value, gaps_that_apply, shown_mse};
use crate::html::frame::{Section, section};
use crate::html::heat::{HeatMap, MAX_MATRIX, side_by_side};
use crate::html::markup::Html;
use crate::html::table::{HtmlTable, TableCell};
use crate::html::whiskers::{Whisker, Whiskers, verdict};
use crate::outcome::{is_constrained, objective_of, slack};
use crate::words::{fine, plain, rate, shorten};
use pairity::metrics::{Audit, Metric};
use pairity::rates::Rate;
use pairity::run::TrainingPart;

/// Of many groups, this many cells are shown.
const LOWEST: usize = 20;

impl TrainingPage<'_> {
    pub(super) fn values(&self) -> Option<Section> {
        let run = self.run;
        let mut table = self.table("Objective and constraints on each part of the rows");
        table.row(
            TableCell::name(&plain(objective_of(&run.goal))).with_note("the objective"),
            run.parts.iter().map(|part| TableCell::metric(&part.evaluation.objective, fine)),
        );
        for (place, text) in run.goal.subject_to.iter().enumerate() {
            let cell = |part: &TrainingPart| {
                let check = &part.evaluation.audit.checks[place];
                let badge = verdict(check.verdict);
                TableCell::metric(&check.metric, fine).with_note(slack(part, place)).with_badge(badge)
            };
            let note = if is_constrained(run) { "a constraint" } else { "measured, not enforced" };
            table.row(TableCell::name(&plain(text)).with_note(note), run.parts.iter().map(cell));
        }
        let about = format!(
            "The scorer was fit to the training rows and chosen on the {} rows; other rows had no part in it. \
             Below each value is its interval. A constraint passes if the whole interval keeps the bound.",
            if run.selected_on() == "train" { "same" } else { "validation" }
        );
        section("values", "Objective and constraints", &about, vec![table.html()])
    }

    /// Every measure that these data have.
    pub(super) fn measures(&self) -> Option<Section> {
        let audits = || self.run.parts.iter().map(|part| &part.evaluation.audit);
        let mut table = self.table("Every measure on each part of the rows");
        let mut add = |name: &str, about: &str, metrics: Vec<Option<&Metric>>, write: fn(f64) -> String| {
            let cell = |metric: Option<&Metric>| match metric {
                Some(metric) => TableCell::metric(metric, write),
                None => TableCell::number("—"),
            };
            table.row(TableCell::name(name).with_note(about), metrics.into_iter().map(cell));
        };
        let first = audits().next()?;
        add("auc", "the better of two scores higher", audits().map(|audit| Some(&audit.auc)).collect(), rate);
        if shown_mse(first).is_some() {
            add("mse", "mean squared error", audits().map(|audit| audit.mse.as_ref()).collect(), fine);
        }
        let gaps: Vec<_> = audits().map(gaps_that_apply).collect();
        for (place, (criterion, _)) in gaps[0].iter().enumerate() {
            let metrics = gaps.iter().map(|gaps| gaps.get(place).map(|(_, metric)| *metric));
            add(criterion.name(), criterion.rates(), metrics.collect(), rate);
        }
        let about =
            "Gaps are the largest differences among rates that should be equal; 0 is perfectly equal.";
        section("measures", "All measures", about, vec![table.html()])
    }

    /// A table with a column for each part.
    fn table(&self, caption: &str) -> HtmlTable {
        let mut table = HtmlTable::new(caption, &["Measure"]).quiet();
        self.run.parts.iter().for_each(|part| table.add_column(part.name.to_owned()));
        table
    }

    pub(super) fn accuracy(&self) -> Option<Section> {
        let audit = self.audit().filter(|audit| audit.groups.len() > 1)?;
        let mut audits: Vec<(String, &Audit)> = Vec::new();
        if let Some(before) = self.aside.before {
            audits.push(("Before: the best scorer whatever the constraints".to_owned(), &before.audit));
            audits.push(("After: the model".to_owned(), audit));
        } else {
            audits.push(("The model".to_owned(), audit));
        }
        let fits = audit.groups.len() <= MAX_MATRIX;
        let body = if fits { matrices(&audits) } else { lowest(&audits, audit) };
        let about = format!(
            "On {}: how often the better of two candidates has the higher score, by the group of each. Read along a \
             row for the better one’s group.",
            self.rows()
        );
        section("accuracy", "Accuracy between groups", &about, [body])
    }

    pub(super) fn continuous(&self) -> Option<Section> {
        let both = self.audit()?.continuous.as_ref()?;
        let before = self.aside.before.and_then(|before| before.audit.continuous.as_ref());
        let mut rows: Vec<Whisker> = Vec::new();
        rows.extend(before.into_iter().flat_map(|both| Whisker::of_continuous(both, "before; ", "z")));
        let after = if before.is_some() { "after; " } else { "" };
        rows.extend(Whisker::of_continuous(both, after, "z"));
        let whiskers = Whiskers::of("Accuracy with its interval", "Accuracy", rows);
        let about = format!("On {}. z is the protected attribute.", self.rows());
        section("continuous", "Accuracy by a continuous attribute", &about, vec![whiskers.html()])
    }
}

/// Matrices side by side, in the colors of one scale.
pub(in crate::html) fn matrices(audits: &[(String, &Audit)]) -> Html {
    let middle = audits.last().and_then(|(_, audit)| audit.auc.value);
    let maps: Vec<HeatMap> =
        audits.iter().map(|(caption, audit)| HeatMap::of_accuracy(caption, audit, middle)).collect();
    side_by_side(&maps)
}

/// The lowest accuracies, where a matrix would have too many.
fn lowest(audits: &[(String, &Audit)], last: &Audit) -> Html {
    let mut table = HtmlTable::new(format!("The {LOWEST} lowest accuracies"), &["Accuracy"]);
    audits.iter().for_each(|(caption, _)| table.add_column(caption.clone()));
    for (a, b) in by_value(&accuracies(last)).iter().take(LOWEST).map(|cell| cell.place) {
        table.row(
            TableCell::name(&shorten(&Rate::accuracy(a, b).name(&last.groups), 80)),
            audits.iter().map(|(_, audit)| TableCell::rate(&audit.accuracy[a][b])),
        );
    }
    table.html()
}
