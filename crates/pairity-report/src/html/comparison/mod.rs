//! The pages of comparisons and frontiers: methods as points with intervals, and the matrix of each.

mod compared;
mod frontier;
#[cfg(test)]
mod tests;

pub use compared::comparison_html;
pub use frontier::frontier_html;

use super::frame::{Section, Terms, cite, command, paragraphs, section};
use super::heat::{HeatMap, MAX_MATRIX};
use super::markup::Html;
use super::scatter::{Scatter, ScatterPoint};
use super::table::{HtmlTable, TableCell, with_interval};
use super::whiskers::{Whisker, Whiskers, verdict};
use crate::outcome::{goal_words, scorer_words};
use crate::text::words::{many, number, plain, shorten};
use pairity::goals::Objective;
use pairity::metrics::{Audit, Metric, Verdict};
use pairity::run::{ComparisonSetup, MethodOutcome, MethodResult};

/// What both kinds of report say of themselves.
struct Frame<'a> {
    setup: &'a ComparisonSetup,
    command: Option<&'a str>,
}

impl Frame<'_> {
    fn facts(&self) -> Vec<String> {
        vec![
            format!("Goal: {}", goal_words(&self.setup.goal)),
            format!("values of the {} part, {}", self.setup.part, many(self.setup.rows, "row")),
            scorer_words(self.setup.scorer).to_owned(),
            format!("seed {}", self.setup.seed),
            format!("{}% confidence intervals", (self.setup.confidence * 1e8).round() / 1e6),
        ]
    }

    /// Whether one objective is better than another.
    fn better(&self, one: f64, other: f64) -> bool {
        match self.setup.goal.objective {
            Objective::Maximize(_) => one > other,
            Objective::Minimize(_) => one < other,
        }
    }

    /// What comes after the results on both pages.
    fn closing(&self, refused: &[(&str, &str)], audit: Option<&Audit>) -> Vec<Section> {
        let mut table = HtmlTable::new("Methods that do not apply", &["Method", "Reason"]).quiet();
        refused.iter().for_each(|(method, reason)| {
            table.push(vec![TableCell::name(&plain(method)), TableCell::text(shorten(reason, 400))]);
        });
        let refused = (!refused.is_empty()).then(|| table.html());
        let notes: Vec<String> = self.setup.notes.iter().map(|note| shorten(note, 400)).collect();
        let notes = (!notes.is_empty()).then(|| paragraphs(&notes));
        let about =
            "The same command, version and seed give the same numbers, whatever the number of threads.";
        [
            section("refused", "Methods that do not apply", "", refused),
            section("notes", "Notes on the data", "", notes),
            section("again", "How to make it again", about, self.command.map(command)),
            Terms { checks: true, ..Terms::of_training(audit) }.glossary(),
            cite(),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Models as points, with a section about them.
    fn picture(&self, spots: Vec<ScatterPoint>, joined: bool, about: &str) -> Option<Section> {
        let title = "Objective against violation";
        let objective = plain(self.setup.goal.objective.text());
        let scatter = Scatter { title, x_title: "violation", y_title: &objective, spots, joined };
        section("picture", title, about, [scatter.html()])
    }

    /// Methods with their values, one below the other.
    fn table(&self, caption: &str, results: &[(String, &MethodOutcome)]) -> HtmlTable {
        let objective = format!("#{}", plain(self.setup.goal.objective.text()));
        let columns = ["Method", &objective, "#Violation", "Goal", "#Scorers", "#Seconds"];
        let mut table = HtmlTable::new(caption, &columns).quiet();
        let write = |x: f64| number(x, 4);
        for (name, outcome) in results {
            let violation = outcome
                .violation()
                .map_or(TableCell::number("—"), |metric| TableCell::metric(metric, write));
            let mut name = TableCell::name(name);
            if outcome.dominated {
                name = name.with_note("dominated");
            }
            let mut scorers = TableCell::count(outcome.components as u64);
            for (applies, word) in [(outcome.components > 1, "drawn"), (outcome.sees_group, "by group")] {
                if applies {
                    scorers = scorers.with_note(word);
                }
            }
            table.push(vec![
                name,
                TableCell::metric(&outcome.test.objective, write),
                violation,
                TableCell::markup(verdict(outcome.verdict())),
                scorers,
                TableCell::number(format!("{:.1}", outcome.seconds)),
            ]);
        }
        table
    }
}

/// What models without a constraint miss.
const NO_MISS: Metric = Metric { value: Some(0.0), low: None, high: None, pairs: 0, reason: None };

/// A result with its values, if it has them.
fn applied(result: &MethodResult) -> Option<&MethodOutcome> {
    result.outcome.as_ref().ok()
}

/// The accuracies of a model: a matrix, or those of a continuous attribute. Colors are distances from
/// `middle`, so that they mean the same on all of them.
fn accuracies(caption: &str, audit: &Audit, middle: Option<f64>) -> Option<Html> {
    if let Some(both) = &audit.continuous {
        // One scale for all of them.
        let rows = Whisker::of_continuous(both, "", "z");
        return Some(Whiskers::of(caption, "Accuracy", rows).holding([0.0, 1.0]).html());
    }
    let fits = (2..=MAX_MATRIX).contains(&audit.groups.len());
    fits.then(|| HeatMap::of_accuracy(caption, audit, middle).html())
}

/// Values of a model in words.
fn words(frame: &Frame, name: &str, outcome: &MethodOutcome) -> String {
    let write = |metric: &Metric| with_interval(metric, "not estimable");
    let violation = outcome.violation().map(|metric| format!(" and a violation of {}", write(metric)));
    let objective = plain(frame.setup.goal.objective.text());
    format!(
        "{} has {objective} {}{}",
        shorten(name, 60),
        write(&outcome.test.objective),
        violation.unwrap_or_default()
    )
}

/// How sure it is that a model meets the goal.
fn sure(outcome: &MethodOutcome) -> &'static str {
    match outcome.verdict() {
        Verdict::Pass => "surely meets the goal",
        Verdict::Fail => "surely misses the goal",
        Verdict::Undecided => "may meet the goal: these rows can’t tell",
        Verdict::NotEstimable => "can’t be judged on these rows",
    }
}
