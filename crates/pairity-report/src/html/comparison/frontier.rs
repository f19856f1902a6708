//! The page of a frontier.

use super::{Frame, NO_MISS, accuracies, words};
use crate::html::chooser::{Choice, chooser};
use crate::html::frame::{HtmlPage, Section, paragraphs, remarks, section};
use crate::html::scatter::ScatterPoint;
use crate::outcome::on_files;
use crate::text::words::{number, plain};
use pairity::run::{FrontierOutcome, MethodOutcome};

/// A model on the frontier.
struct FrontierModel<'a> {
    method: &'a str,
    series: usize,
    bound: Option<f64>,
    outcome: &'a MethodOutcome,
}

impl FrontierModel<'_> {
    /// Objective and violation, where both are known.
    fn values(&self) -> Option<(f64, f64)> {
        let violation = self.outcome.violation().map_or(Some(0.0), |metric| metric.value)?;
        Some((self.outcome.test.objective.value?, violation))
    }

    fn name(&self) -> String {
        match self.bound {
            Some(bound) => format!("{} at {}", plain(self.method), number(bound, 4)),
            None => plain(self.method),
        }
    }
}

/// The frontier as a page for people: one file that needs nothing else. `command` makes it again.
pub fn frontier_html(report: &FrontierOutcome, command: Option<&str>) -> String {
    let frame = Frame { setup: &report.setup, command };
    let mut found = Vec::new();
    let mut refused: Vec<(&str, &str)> = Vec::new();
    let mut series = 0;
    for curve in &report.curves {
        let before = found.len();
        for point in &curve.points {
            match &point.result.outcome {
                Ok(outcome) => {
                    found.push(FrontierModel { method: &curve.method, series, bound: point.bound, outcome });
                }
                Err(reason) if refused.iter().all(|(method, _)| *method != curve.method) => {
                    refused.push((&curve.method, reason));
                }
                Err(_) => {}
            }
        }
        series += usize::from(found.len() > before);
    }
    let mut sections: Vec<Section> =
        [picture(&frame, &found), choices(&frame, &found), table(&frame, &found)]
            .into_iter()
            .flatten()
            .collect();
    sections.extend(frame.closing(&refused, found.first().map(|found| &found.outcome.test.audit)));
    HtmlPage {
        kind: "Frontier of accuracy and fairness",
        title: on_files("Frontier", &report.setup.tables),
        facts: frame.facts(),
        lead: lead(&frame, &found),
        tiles: Vec::new(),
        sections,
        sliders: true,
    }
    .write()
}

/// The bounds, from the loosest to the tightest.
fn bounds(found: &[FrontierModel]) -> Vec<f64> {
    let mut bounds: Vec<f64> = found.iter().filter_map(|found| found.bound).collect();
    bounds.sort_by(|a, b| b.total_cmp(a));
    bounds.dedup();
    bounds
}

/// The models of a bound, and those that look at none.
fn at<'a, 'f>(found: &'f [FrontierModel<'a>], bound: f64) -> Vec<&'f FrontierModel<'a>> {
    found.iter().filter(|found| found.bound.is_none_or(|own| own == bound)).collect()
}

/// Of the models whose violation keeps a bound the one with the best objective; if none does, that of the
/// least violation.
fn chosen<'a, 'f>(
    frame: &Frame,
    models: &[&'f FrontierModel<'a>],
    bound: f64,
) -> Option<&'f FrontierModel<'a>> {
    let known = || models.iter().filter_map(|found| Some((*found, found.values()?)));
    let keeps = known().filter(|(_, (_, violation))| *violation <= bound);
    let best = keeps.reduce(|best, other| if frame.better(other.1.0, best.1.0) { other } else { best });
    let least = || known().min_by(|a, b| a.1.1.total_cmp(&b.1.1));
    best.or_else(least).map(|(found, _)| found)
}

fn lead(frame: &Frame, found: &[FrontierModel]) -> Vec<String> {
    let bounds = bounds(found);
    let ends = [bounds.first(), bounds.last()].into_iter().flatten();
    let mut lead: Vec<String> = ends
        .filter_map(|&bound| {
            let model = chosen(frame, &at(found, bound), bound)?;
            let words = words(frame, model.method, model.outcome);
            Some(format!("With a bound of {}, {words}.", number(bound, 4)))
        })
        .collect();
    lead.dedup();
    if lead.is_empty() {
        lead.push("No method gave a model for any bound.".to_owned());
    }
    lead
}

fn picture(frame: &Frame, found: &[FrontierModel]) -> Option<Section> {
    let all: Vec<(f64, f64)> = found.iter().filter_map(FrontierModel::values).collect();
    let dominated = |own: Option<(f64, f64)>| {
        own.is_some_and(|own| {
            all.iter().any(|other| !frame.better(own.0, other.0) && other.1 <= own.1 && *other != own)
        })
    };
    let spots = found.iter().map(|found| ScatterPoint {
        name: found.method,
        x: found.outcome.violation().unwrap_or(&NO_MISS),
        y: &found.outcome.test.objective,
        dominated: dominated(found.values()),
        series: found.series,
        about: found.bound.map_or(String::new(), |bound| format!("bound {}", number(bound, 4))),
    });
    let about = "Left is fairer. A line follows a method from the loosest bound to the tightest; bars are the intervals of \
                 both values. Gray points are dominated: another model is at least as good in both values.";
    frame.picture(spots.collect(), true, about)
}

fn choices(frame: &Frame, found: &[FrontierModel]) -> Option<Section> {
    let bounds = bounds(found);
    let middle = found.first().and_then(|found| found.outcome.test.audit.auc.value);
    let choice = |&bound: &f64| {
        let models = at(found, bound);
        let model = chosen(frame, &models, bound)?;
        let rows: Vec<(String, &MethodOutcome)> =
            models.iter().map(|found| (plain(found.method), found.outcome)).collect();
        let mut body = vec![paragraphs(&[format!("{}.", words(frame, model.method, model.outcome))])];
        body.extend(accuracies(
            "Accuracy of this model, with its interval",
            &model.outcome.test.audit,
            middle,
        ));
        body.push(frame.table("Methods at this bound", &rows).behind("All methods at this bound"));
        Some(Choice { name: number(bound, 4), body })
    };
    let choices: Vec<Choice> = bounds.iter().filter_map(choice).collect();
    let start = choices.len() / 2;
    let body = if choices.is_empty() {
        vec![]
    } else {
        let remark = "Of the models whose violation on these rows is at most the bound, the one with the best objective is \
                      shown; if there is none, that of the least violation. As the same rows choose and show, this is a \
                      little optimistic.";
        vec![chooser("Bound ε", choices, start), remarks(&[remark.to_owned()])]
    };
    section(
        "bounds",
        "The model for each bound",
        "The slider goes from the loosest bound to the tightest.",
        body,
    )
}

fn table(frame: &Frame, found: &[FrontierModel]) -> Option<Section> {
    let rows: Vec<(String, &MethodOutcome)> =
        found.iter().map(|found| (found.name(), found.outcome)).collect();
    let body = (!rows.is_empty()).then(|| frame.table("All models", &rows).behind("All models as a table"));
    section("models", "All models", "Every method at every bound.", body)
}
