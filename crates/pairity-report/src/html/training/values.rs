//! The objective and the constraints, and every measure, part by part of the rows; accuracies before and after
//! the constraints, side by side; and the scorers of a mixture, one by one, with what linear ones weigh.

use super::TrainingPage;
use crate::facts::{accuracies, by_value, gaps_that_apply, shown_mse};
use crate::html::frame::{Section, section};
use crate::html::heat::{HeatMap, MAX_MATRIX, side_by_side};
use crate::html::markup::Html;
use crate::html::table::{HtmlTable, TableCell};
use crate::html::whiskers::{Whisker, Whiskers, verdict};
use crate::outcome::{is_constrained, miss, objective_of, slack};
use crate::words::{count, drawn, fine, or_dash, plain, rate, shorten};
use pairity::metrics::{Audit, Metric};
use pairity::rates::Rate;
use pairity::run::TrainingPart;

/// Of many groups, this many cells are shown.
const LOWEST: usize = 20;

/// More features than this are not listed.
const MAX_FEATURES: usize = 60;

/// Nor are weights of more scorers than this.
const MAX_SCORERS: usize = 12;

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
                let cell = TableCell::metric(&check.metric, fine).with_note(slack(part, place));
                if part.name == "test" { cell.with_badge(verdict(check.verdict)) } else { cell }
            };
            let note = if is_constrained(run) { "a constraint" } else { "measured, not enforced" };
            table.row(TableCell::name(&plain(text)).with_note(note), run.parts.iter().map(cell));
        }
        let about = format!(
            "The scorer was fit to the training rows and chosen on the {} rows; other rows had no part in it. \
             Below each value is its interval. On test rows a constraint passes if the whole interval keeps the bound; \
             on rows that the model was fit to or chosen on intervals are no such proof.",
            if run.selected_on() == "train" { "same" } else { "validation" }
        );
        section("values", "Objective and constraints", &about, [table.html()])
    }

    /// Every measure that these data have.
    pub(super) fn measures(&self) -> Option<Section> {
        let audits = || self.run.parts.iter().map(|part| &part.evaluation.audit);
        let mut table = self.table("Every measure on each part of the rows");
        let mut add = |name: &str, about: &str, metrics: Vec<Option<&Metric>>, write: fn(f64) -> String| {
            let cells = metrics.into_iter().map(|metric| TableCell::known(metric, write));
            table.row(TableCell::name(name).with_note(about), cells);
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
        section("measures", "All measures", about, [table.html()])
    }

    /// A table with a column for each part.
    fn table(&self, caption: &str) -> HtmlTable {
        let mut table = HtmlTable::new(caption, &["Measure"]).quiet();
        self.run.parts.iter().for_each(|part| table.add_column(part.name.to_owned()));
        table
    }

    pub(super) fn accuracy(&self) -> Option<Section> {
        let audit = self.audit().filter(|audit| audit.groups.len() > 1)?;
        let before = "Before: the best scorer whatever the constraints";
        let audits = match self.aside.before {
            Some(own) => vec![(before, &own.audit), ("After: the model", audit)],
            None => vec![("The model", audit)],
        };
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
        let rates = self.audit()?.continuous.as_ref()?;
        let before = self.aside.before.and_then(|before| before.audit.continuous.as_ref());
        let after = (if before.is_some() { "after; " } else { "" }, rates);
        let steps = || before.map(|before| ("before; ", before)).into_iter().chain([after]);
        let accuracies = steps().flat_map(|(when, rates)| Whisker::of_continuous(rates, when, "z"));
        let parities = steps().flat_map(|(when, rates)| Whisker::of_continuous_parity(rates, when, "z"));
        let accuracies = Whiskers::of("Accuracy with its interval", "Accuracy", accuracies).html();
        let parities = Whiskers::of("Parity with its interval", "Parity", parities).holding([0.5]).html();
        let about = format!("On {}. z is the protected attribute.", self.rows());
        section("continuous", "Accuracy and parity by a continuous attribute", &about, [accuracies, parities])
    }

    pub(super) fn members(&self) -> Option<Section> {
        let run = self.run;
        let members = &self.last?.evaluation.members;
        let mut table =
            HtmlTable::new(format!("Each scorer alone, on {}", self.rows()), &["Scorer", "#Drawn"]);
        table.add_column(plain(objective_of(&run.goal)));
        run.goal.subject_to.iter().for_each(|text| table.add_column(plain(text)));
        for (place, (member, component)) in members.iter().zip(&run.trained.components).enumerate() {
            let often = drawn(component.probability);
            let places = 0..member.assessment.misses.len();
            let misses = places.map(|place| miss(&member.assessment, place));
            let numbers = [often, or_dash(member.objective, fine)].into_iter().chain(misses);
            table.row(TableCell::name(&name(place, component.snapshot)), numbers.map(TableCell::number));
        }
        let mut body = vec![table.html()];
        body.extend(self.weights_table().map(|table| table.behind("What each feature weighs")));
        let (title, about) = match members.len() {
            1 => ("The scorer", ""),
            _ => (
                "Scorers of the mixture",
                match self.run.has_queries() {
                    true => {
                        "Every query draws one of them, always the same, by a hash of its id: the goal holds on average \
                         over queries, not for each scorer."
                    }
                    false => {
                        "There are no queries, so one of them is drawn for the whole table: the goal is met if each \
                         meets it. Their scores have one scale."
                    }
                },
            ),
        };
        section("scorers", title, about, body)
    }

    /// The weights of linear scorers that have one for each feature.
    fn weights_table(&self) -> Option<HtmlTable> {
        let (features, components) = (&self.run.features, &self.run.trained.components);
        // Beside them there may be a constant.
        let fits =
            components.iter().all(|c| matches!(c.parameters.len().checked_sub(features.len()), Some(0 | 1)));
        let few = features.len() <= MAX_FEATURES && components.len() <= MAX_SCORERS;
        if self.run.scorer != "linear" || self.run.group_aware || !fits || !few {
            return None;
        }
        let mut table = HtmlTable::new("Weights", &["Feature"]).quiet();
        for (place, component) in components.iter().enumerate() {
            table.add_column(name(place, component.snapshot));
        }
        let constant = components.iter().all(|c| c.parameters.len() > features.len());
        let names = features.iter().map(|name| plain(name)).chain(constant.then(|| "constant".to_owned()));
        for (place, name) in names.enumerate() {
            let weights = components.iter().map(|c| or_dash(c.parameters.get(place).copied(), fine));
            table.row(TableCell::name(&name), weights.map(TableCell::number));
        }
        Some(table)
    }
}

/// Matrices side by side, in the colors of one scale.
pub(in crate::html) fn matrices(audits: &[(&str, &Audit)]) -> Html {
    let middle = audits.last().and_then(|(_, audit)| audit.auc.value);
    let maps: Vec<HeatMap> =
        audits.iter().map(|(caption, audit)| HeatMap::of_accuracy(caption, audit, middle)).collect();
    side_by_side(&maps)
}

/// The lowest accuracies, where a matrix would have too many.
fn lowest(audits: &[(&str, &Audit)], last: &Audit) -> Html {
    let mut table = HtmlTable::new(format!("The {LOWEST} lowest accuracies"), &["Accuracy"]);
    audits.iter().for_each(|(caption, _)| table.add_column((*caption).to_owned()));
    for (a, b) in by_value(&accuracies(last)).iter().take(LOWEST).map(|cell| cell.place) {
        table.row(
            TableCell::name(&shorten(&Rate::accuracy(a, b).name(&last.groups), 80)),
            audits.iter().map(|(_, audit)| TableCell::rate(&audit.accuracy[a][b])),
        );
    }
    table.html()
}

fn name(place: usize, snapshot: usize) -> String {
    match snapshot {
        0 => format!("{}", place + 1),
        _ => format!("{} (iteration {})", place + 1, count(snapshot as u64)),
    }
}
