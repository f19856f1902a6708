//! A scored table as text for people.

use super::paint::Paint;
use super::words::{fill, flow, many, pad_left, plain, rate};
use super::{Look, MIN_WIDTH};
use crate::outcome::file_names;
use crate::scoring::ScoringReport;

/// What was scored, for reading.
pub fn scoring_text(report: &ScoringReport, look: &Look) -> String {
    let width = look.width.max(MIN_WIDTH);
    let title = format!("Scores of {} by {}", file_names(&report.tables), plain(&report.model));
    let added: Vec<String> = report.columns.iter().map(|name| format!("{:?}", plain(name))).collect();
    let to = match report.output.as_str() {
        "-" => "standard output".to_owned(),
        file => plain(file),
    };
    let pieces = [
        many(report.run.scores.len(), "row"),
        format!("added: {}", added.join(" and ")),
        format!("written to {to}"),
    ];
    let mut text = Paint(look.color).title(&title) + "\n" + &flow(&pieces, width) + "\n";
    text += &drawn(report, width);
    let mut notes: Vec<String> = report.run.notes.iter().map(ToString::to_string).collect();
    if report.run.rows_without_query > 0 {
        notes.push(format!(
            "{} without a query; such rows count as one query",
            many(report.run.rows_without_query, "row")
        ));
    }
    if let Some(rows) = report.run.rows_with_unknown_group.filter(|&rows| rows > 0) {
        notes.push(format!(
            "{} with a group not seen in training; such rows are scored as without a group",
            many(rows, "row")
        ));
    }
    for note in notes {
        text += &(fill(&format!("Note: {}", plain(&note)), 2, width) + "\n");
    }
    text
}

/// Who scored what, for a mixture.
fn drawn(report: &ScoringReport, width: usize) -> String {
    let scorers = report.run.components.len();
    if scorers < 2 {
        return String::new();
    }
    let draw = match (&report.query, report.run.queries()) {
        (Some(query), Some(queries)) => {
            format!("each of {} in {:?} drew one", many(queries, "query"), plain(query))
        }
        _ => "there are no queries, so that one was drawn for all rows".to_owned(),
    };
    let pieces = [format!("a mixture of {scorers} scorers: {draw}"), format!("seed {}", report.run.seed)];
    let mut text = flow(&pieces, width) + "\n";
    for component in &report.run.components {
        let (snapshot, probability) = (component.snapshot.to_string(), rate(component.probability));
        let queries = component.queries.map(|queries| pad_left(&many(queries, "query"), 18));
        text += &format!(
            "  snapshot {} with probability {probability}:{}{}\n",
            pad_left(&snapshot, 5),
            queries.unwrap_or_default(),
            pad_left(&many(component.rows, "row"), 15),
        );
    }
    text
}
