//! The page of adjusted scores: values before and after, part by part.

use super::frame::{HtmlPage, Section, section};
use super::table::{HtmlTable, TableCell};
use super::whiskers::verdict;
use crate::outcome::{goal_words, map_words, objective_of};
use crate::report::AdjustReport;
use crate::words::{Advice, FrontEnd, fine, many, plain};
use pairity::run::{AdjustOutcome, AdjustedPart};

/// The adjustment as a page for people: one file that needs nothing else.
pub fn adjust_html(report: &AdjustReport, front_end: FrontEnd) -> String {
    let run = &report.run;
    let (method, advice) = (run.method, Advice::TRAIN.words(front_end));
    let (word, lead) = match run.adjusted.meets_goal {
        true => ("feasible", format!("Goal met by {method} on the rows it was chosen on.")),
        false => {
            let words = format!("Goal not met: {method} misses it on the rows it was chosen on. {advice}.");
            ("infeasible", words)
        }
    };
    HtmlPage {
        kind: "Scores adjusted by group",
        title: format!("{method}: {word}"),
        facts: vec![format!("Goal: {}", goal_words(&run.goal)), format!("seed {}", run.seed)],
        lead: vec![lead].into_iter().chain(map_words(&run.adjusted.adjustment)).collect(),
        sections: run.parts.iter().map(|own| part(run, own)).collect(),
        ..HtmlPage::default()
    }
    .write()
}

fn part(run: &AdjustOutcome, part: &AdjustedPart) -> Option<Section> {
    let (id, title) = match part.name {
        "tuned" => ("tuned", "Rows it was chosen on"),
        _ => ("test", "Test rows"),
    };
    let mut table = HtmlTable::new(title, &["Measure", "#before", "#after"]).quiet();
    table.row(
        TableCell::name(&plain(objective_of(&run.goal))).with_note("the objective"),
        [&part.before, &part.after].map(|values| TableCell::metric(&values.objective, fine)),
    );
    for (before, after) in part.before.checks.iter().zip(&part.after.checks) {
        table.row(
            TableCell::name(&plain(&before.expression)).with_note("a constraint"),
            [before, after]
                .map(|check| TableCell::metric(&check.metric, fine).with_badge(verdict(check.verdict))),
        );
    }
    section(id, title, &many(part.rows, "row"), [table.html()])
}
