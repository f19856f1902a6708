//! The page of a comparison.

use super::{Frame, NO_MISS, accuracies, applied, sure, words};
use crate::html::chooser::{Choice, chooser};
use crate::html::frame::{HtmlPage, Section, Tile, paragraphs, section};
use crate::html::scatter::ScatterPoint;
use crate::outcome::on_files;
use crate::text::words::{many, plain};
use pairity::metrics::Verdict;
use pairity::run::{CompareOutcome, MethodOutcome};

/// The comparison as a page for people: one file that needs nothing else. `command` makes it again.
pub fn comparison_html(report: &CompareOutcome, command: Option<&str>) -> String {
    let frame = Frame { setup: &report.setup, command };
    let results: Vec<(&str, &MethodOutcome)> =
        report.results.iter().filter_map(|result| Some((result.method.as_str(), applied(result)?))).collect();
    let refused: Vec<(&str, &str)> = report
        .results
        .iter()
        .filter_map(|result| Some((result.method.as_str(), result.outcome.as_ref().err()?.as_str())))
        .collect();
    let mut sections: Vec<Section> =
        [picture(&frame, &results), table(&frame, &results), matrices(&frame, &results)]
            .into_iter()
            .flatten()
            .collect();
    sections.extend(frame.closing(&refused, results.first().map(|(_, outcome)| &outcome.test.audit)));
    let tiles = [Verdict::Pass, Verdict::Undecided, Verdict::Fail].map(|wanted| Tile {
        title: match wanted {
            Verdict::Pass => "Surely meet the goal",
            Verdict::Undecided => "May meet it",
            _ => "Surely miss it",
        }
        .to_owned(),
        value: results.iter().filter(|(_, outcome)| outcome.verdict() == wanted).count().to_string(),
        note: format!("of {}", many(results.len(), "method")),
    });
    HtmlPage {
        kind: "Comparison of methods",
        title: on_files("Comparison", &report.setup.tables),
        facts: frame.facts(),
        lead: lead(&frame, &results),
        tiles: tiles.into(),
        sections,
        sliders: true,
    }
    .write()
}

fn lead(frame: &Frame, results: &[(&str, &MethodOutcome)]) -> Vec<String> {
    let Some((name, best)) = results.first() else {
        return vec!["No method applies to these data and this goal.".to_owned()];
    };
    let mut lead = vec![format!("{}: it {}.", words(frame, name, best), sure(best))];
    lead.push(
        "Methods that surely meet the goal come first, then those of which the rows can’t tell, both by objective; the \
         rest by violation. All were trained and tuned on the same parts of the rows."
            .to_owned(),
    );
    lead
}

fn picture(frame: &Frame, results: &[(&str, &MethodOutcome)]) -> Option<Section> {
    let spots = results.iter().enumerate().map(|(series, (name, outcome))| ScatterPoint {
        name,
        x: outcome.violation().unwrap_or(&NO_MISS),
        y: &outcome.test.objective,
        dominated: outcome.dominated,
        series,
        about: sure(outcome).to_owned(),
    });
    let about = "Left is fairer. Bars are the intervals of both values. Gray methods are dominated: another one is at \
                 least as good in both values, though differences inside the intervals may be noise.";
    frame.picture(spots.collect(), false, about)
}

fn table(frame: &Frame, results: &[(&str, &MethodOutcome)]) -> Option<Section> {
    let rows: Vec<(String, &MethodOutcome)> =
        results.iter().map(|(name, outcome)| (plain(name), *outcome)).collect();
    let about = "A model passes if the whole interval of every constraint keeps its bound, fails if none of one does, and \
                 is undecided otherwise. “Drawn” scorers differ from query to query; “by group” means that the group \
                 of whom is scored has to be known.";
    section("methods", "Methods", about, vec![frame.table("Methods with their values", &rows).html()])
}

fn matrices(frame: &Frame, results: &[(&str, &MethodOutcome)]) -> Option<Section> {
    let middle = results.first().and_then(|(_, outcome)| outcome.test.audit.auc.value);
    let choice = |(name, outcome): &(&str, &MethodOutcome)| {
        let html = accuracies("Accuracy with its interval and number of pairs", &outcome.test.audit, middle)?;
        let words = format!("{}; it {}.", words(frame, name, outcome), sure(outcome));
        Some(Choice { name: plain(name), body: vec![paragraphs(&[words]), html] })
    };
    let choices: Vec<Choice> = results.iter().filter_map(choice).collect();
    let body = (!choices.is_empty()).then(|| chooser("Method", choices, 0));
    let about = "How often the better of two candidates has the higher score. The slider goes from one method to the next.";
    section("accuracy", "Accuracy of each method", about, body)
}
