//! Comparisons and frontiers as text for people.

use super::{FAINT, Look, TextPage};
use crate::outcome::{comparison_facts, goal_words, on_files, reasons};
use crate::words::{columns, fill, fine, pad, plain, with_interval};
use pairity::metrics::Verdict;
use pairity::run::{CompareOutcome, ComparisonSetup, FrontierOutcome, MethodOutcome, MethodResult};
use pairity::solvers::Evaluation;

/// The comparison for reading.
pub fn comparison_text(report: &CompareOutcome, look: &Look) -> String {
    let page = TextPage::new(&report.setup, look);
    let outcomes =
        report.results.iter().filter_map(|result| Some((&result.method, result.outcome.as_ref().ok()?)));
    let rows: Vec<[String; 6]> =
        outcomes.clone().map(|(method, outcome)| cells(method, outcome, true)).collect();
    let mut text = page.heading("Comparison") + &page.table("method", &rows);
    if outcomes.clone().any(|(_, outcome)| outcome.dominated) {
        let words = "* another method is at least as good in both values; differences inside the intervals may be noise.";
        text += &(page.paint(FAINT, &fill(words, 2, page.look.width)) + "\n");
    }
    text + &page.reasons(outcomes.map(|(_, outcome)| &outcome.test)) + &page.refused(report.results.iter())
}

/// The frontier for reading.
pub fn frontier_text(report: &FrontierOutcome, look: &Look) -> String {
    let page = TextPage::new(&report.setup, look);
    let points = report.curves.iter().flat_map(|curve| &curve.points);
    let rows = points.filter_map(|point| {
        let bound = point.bound.map_or(String::new(), |bound| format!(" <= {}", fine(bound)));
        let name = format!("{}{bound}", point.result.method);
        Some(cells(&name, point.result.outcome.as_ref().ok()?, point.bound.is_some()))
    });
    let rows: Vec<[String; 6]> = rows.collect();
    let outcomes = report
        .curves
        .iter()
        .flat_map(|curve| &curve.points)
        .filter_map(|own| own.result.outcome.as_ref().ok());
    let firsts = report.curves.iter().filter_map(|curve| curve.points.first());
    page.heading("Frontier")
        + &page.table("method and bound", &rows)
        + &page.reasons(outcomes.map(|outcome| &outcome.test))
        + &page.refused(firsts.map(|point| &point.result))
}

/// A line of the table; without a bound there is nothing to meet or miss.
fn cells(name: &str, outcome: &MethodOutcome, has_bound: bool) -> [String; 6] {
    let goal = match outcome.verdict() {
        _ if !has_bound => "",
        Verdict::Pass => "met",
        Verdict::Fail => "missed",
        Verdict::Undecided => "can't tell",
        Verdict::NotEstimable => "not estimable",
    };
    let drawn = if outcome.components != 1 { ", drawn" } else { "" };
    let by_group = if outcome.sees_group { ", by group" } else { "" };
    [
        format!("{}{}", plain(name), if outcome.dominated { " *" } else { "" }),
        with_interval(&outcome.test.objective, fine),
        outcome.violation().map_or("—".to_owned(), |metric| with_interval(metric, fine)),
        goal.to_owned(),
        format!("{}{drawn}{by_group}", outcome.components),
        format!("{:.1} s", outcome.seconds),
    ]
}

impl TextPage<'_, ComparisonSetup> {
    fn heading(&self, title: &str) -> String {
        let setup = self.report;
        let title = on_files(title, &setup.tables);
        self.heading_of(&title, &goal_words(&setup.goal), &comparison_facts(setup), &setup.notes) + "\n"
    }

    fn table(&self, first: &str, rows: &[[String; 6]]) -> String {
        let objective = plain(self.report.goal.objective.text());
        let head = [first, &objective, "violation", "goal", "scorers", "time"].map(str::to_owned);
        let mut room = [0; 6];
        for row in rows.iter().chain([&head]) {
            for (room, cell) in room.iter_mut().zip(row) {
                *room = (columns(cell) + 2).max(*room);
            }
        }
        // Where the terminal is too narrow, what can be looked up in the JSON document goes first.
        let mut shown = 6;
        while shown > 4 && 2 + room[..shown].iter().sum::<usize>() > self.look.width {
            shown -= 1;
        }
        let line = |cells: &[String; 6]| {
            let cells: String =
                cells.iter().zip(room).take(shown).map(|(cell, room)| pad(cell, room)).collect();
            format!("  {}", cells.trim_end())
        };
        let rows: String = rows.iter().map(|row| line(row) + "\n").collect();
        self.paint(FAINT, &line(&head)) + "\n" + &rows
    }

    /// Why values are missing, or their intervals.
    fn reasons<'a>(&self, evaluations: impl Iterator<Item = &'a Evaluation>) -> String {
        reasons(evaluations).iter().map(|reason| self.sentence(&format!("—: {reason}."), 4)).collect()
    }

    /// Methods that do not apply, with their reasons.
    fn refused<'a>(&self, results: impl Iterator<Item = &'a MethodResult>) -> String {
        let mut text = String::new();
        for result in results {
            if let Err(reason) = &result.outcome {
                let words = format!("{}: {}", result.method, plain(reason));
                text += &format!("  {}\n", fill(&words, 4, self.look.width.saturating_sub(2)));
            }
        }
        if text.is_empty() { text } else { format!("\n{}{text}", self.title("Does not apply", "")) }
    }
}
