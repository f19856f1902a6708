//! The page of adjusted scores: values before and after, part by part.

use super::frame::{HtmlPage, Section, cite, section};
use super::table::{HtmlTable, TableCell};
use super::whiskers::verdict;
use crate::adjust::AdjustReport;
use crate::advice::{Advice, FrontEnd};
use crate::outcome::goal_words;
use crate::text::words::{many, number, plain};
use crate::training::objective_of;
use pairity::run::AdjustedPart;

/// The adjustment as a page for people: one file that needs nothing else.
pub fn adjust_html(report: &AdjustReport, front_end: FrontEnd) -> String {
    let met = report.run.adjusted.meets_goal;
    let lead = match met {
        true => format!("Goal met by {} on the rows it was chosen on.", report.run.method),
        false => format!(
            "Goal not met: {} misses it on the rows it was chosen on. {}.",
            report.run.method,
            Advice::Train.words(front_end)
        ),
    };
    let mut sections: Vec<Section> = report.run.parts.iter().filter_map(|own| part(report, own)).collect();
    sections.extend(cite());
    HtmlPage {
        kind: "Scores adjusted by group",
        title: format!("{}: {}", report.run.method, if met { "feasible" } else { "infeasible" }),
        facts: vec![format!("Goal: {}", goal_words(&report.run.goal)), format!("seed {}", report.run.seed)],
        lead: vec![lead],
        sections,
        ..HtmlPage::default()
    }
    .write()
}

fn part(report: &AdjustReport, part: &AdjustedPart) -> Option<Section> {
    let (id, title) = match part.name {
        "tuned" => ("tuned", "Rows it was chosen on"),
        _ => ("test", "Test rows"),
    };
    let write = |x: f64| number(x, 4);
    let mut table = HtmlTable::new(title, &["Measure", "#before", "#after"]).quiet();
    table.push(vec![
        TableCell::name(&plain(objective_of(&report.run.goal))).with_note("the objective"),
        TableCell::metric(&part.before.objective, write),
        TableCell::metric(&part.after.objective, write),
    ]);
    for (before, after) in part.before.checks.iter().zip(&part.after.checks) {
        table.row(
            TableCell::name(&plain(&before.expression)).with_note("a constraint"),
            [before, after]
                .map(|check| TableCell::metric(&check.metric, write).with_badge(verdict(check.verdict))),
        );
    }
    section(id, title, &many(part.rows, "row"), vec![table.html()])
}
