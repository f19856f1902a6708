//! The pages of comparisons and frontiers: methods as points with intervals, and the matrix of each.

mod compared;
mod frontier;
#[cfg(test)]
mod tests;

pub use compared::comparison_html;
pub use frontier::frontier_html;

use super::frame::{Section, Terms, cite, command, glossary, paragraphs, section};
use super::heat::{HeatMap, MAX_MATRIX};
use super::markup::Html;
use super::table::{Cell, Table, interval};
use super::whiskers::{Whisker, Whiskers, verdict};
use crate::comparison::{MethodResult, Outcome, Setup};
use crate::outcome::{goal_words, scorer_words};
use crate::scale::minus;
use crate::text::words::{many, number, plain, rate, shorten};
use pairity::goals::Objective;
use pairity::metrics::{Audit, Metric, Verdict};

/// What both kinds of report say of themselves.
struct Frame<'a> {
    setup: &'a Setup,
    command: Option<&'a str>,
}

impl Frame<'_> {
    fn facts(&self) -> Vec<String> {
        vec![
            format!("Goal: {}", goal_words(&self.setup.goal)),
            format!("values of the {} part, {}", self.setup.part, many(self.setup.rows, "row")),
            scorer_words(self.setup.model).to_owned(),
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
        let mut table = Table::new("Methods that do not apply", &["Method", "Reason"]).quiet();
        refused.iter().for_each(|(method, reason)| {
            table.push(vec![Cell::name(&plain(method)), Cell::text(shorten(reason, 400))]);
        });
        let refused = if refused.is_empty() { vec![] } else { vec![table.html()] };
        let notes: Vec<String> = self.setup.notes.iter().map(|note| shorten(note, 400)).collect();
        let notes = if notes.is_empty() { vec![] } else { vec![paragraphs(&notes)] };
        let about =
            "The same command, version and seed give the same numbers, whatever the number of threads.";
        [
            section("refused", "Methods that do not apply", "", refused),
            section("notes", "Notes on the data", "", notes),
            section("again", "How to make it again", about, self.command.map(command).into_iter().collect()),
            Some(glossary(Terms {
                labels: true,
                groups: audit.is_some_and(|audit| !audit.groups.is_empty()),
                continuous: audit.is_some_and(|audit| audit.continuous.is_some()),
                queries: audit.is_some_and(|audit| audit.queries.is_some()),
                weights: false,
                checks: true,
                training: true,
            })),
            Some(cite()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Methods with their values, one below the other.
    fn table(&self, caption: &str, results: &[(String, &Outcome)]) -> Table {
        let objective = format!("#{}", plain(self.setup.objective()));
        let columns = ["Method", &objective, "#Violation", "Goal", "#Scorers", "#Seconds"];
        let mut table = Table::new(caption, &columns).quiet();
        let write = |x: f64| number(x, 4);
        for (name, outcome) in results {
            let violation =
                outcome.violation().map_or(Cell::number("—"), |metric| Cell::metric(metric, write));
            let mut name = Cell::name(name);
            if outcome.dominated {
                name = name.with_note("dominated");
            }
            let mut scorers = Cell::count(outcome.components as u64);
            for (applies, word) in [(outcome.components > 1, "drawn"), (outcome.sees_group, "by group")] {
                if applies {
                    scorers = scorers.with_note(word);
                }
            }
            table.push(vec![
                name,
                Cell::metric(&outcome.test.objective, write),
                violation,
                Cell::markup(verdict(outcome.verdict())),
                scorers,
                Cell::number(format!("{:.1}", outcome.seconds)),
            ]);
        }
        table
    }
}

/// A result with its values, if it has them.
fn applied(result: &MethodResult) -> Option<&Outcome> {
    result.outcome.as_ref().ok()
}

/// The accuracies of a model: a matrix, or those of a continuous attribute. Colors are distances from
/// `middle`, so that they mean the same on all of them.
fn accuracies(caption: &str, audit: &Audit, middle: Option<f64>) -> Option<Html> {
    if let Some((greater, less)) = &audit.continuous {
        let row = |name, metric, order| Whisker {
            name,
            about: format!("the better one has {order} z"),
            metric,
            unit: "pairs",
            bounds: vec![],
        };
        let whiskers = Whiskers {
            caption,
            title: "Accuracy",
            rows: vec![row("A[z > z']", greater, "the higher"), row("A[z < z']", less, "the lower")],
            // One scale for all of them.
            holds: vec![0.0, 1.0],
            rule: None,
            write: rate,
        };
        return Some(whiskers.html());
    }
    let fits = (2..=MAX_MATRIX).contains(&audit.groups.len());
    fits.then(|| HeatMap::of_accuracy(caption, audit, middle).html())
}

/// Values of a model in words.
fn words(frame: &Frame, name: &str, outcome: &Outcome) -> String {
    let write = |metric: &Metric| {
        let value = metric.value.map_or("not estimable".to_owned(), |x| minus(&number(x, 4)));
        interval(metric, |x| number(x, 4)).map_or(value.clone(), |interval| format!("{value} ({interval})"))
    };
    let violation = outcome.violation().map(|metric| format!(" and a violation of {}", write(metric)));
    let objective = plain(frame.setup.objective());
    format!(
        "{} has {objective} {}{}",
        shorten(name, 60),
        write(&outcome.test.objective),
        violation.unwrap_or_default()
    )
}

/// How sure it is that a model meets the goal.
fn sure(outcome: &Outcome) -> &'static str {
    match outcome.verdict() {
        Verdict::Pass => "surely meets the goal",
        Verdict::Fail => "surely misses the goal",
        Verdict::Undecided => "may meet the goal: these rows can’t tell",
        Verdict::NotEstimable => "can’t be judged on these rows",
    }
}
