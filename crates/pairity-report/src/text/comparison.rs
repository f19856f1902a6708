//! Comparisons and frontiers as text for people.

use super::words::{columns, fill, many, number, pad, plain, with_interval};
use super::{Look, TextPage};
use crate::outcome::{goal_words, on_files, scorer_words};
use pairity::metrics::Verdict;
use pairity::run::{
    CompareOutcome, ComparisonSetup, FrontierCurve, FrontierOutcome, MethodOutcome, MethodResult,
};

/// The comparison for reading.
pub fn comparison_text(report: &CompareOutcome, look: &Look) -> String {
    let page = TextPage::new(&report.setup, look);
    let mut text = page.heading("Comparison");
    let applied: Vec<MethodRow> = report
        .results
        .iter()
        .filter(|result| result.outcome.is_ok())
        .map(|result| MethodRow { name: result.method.clone(), result, has_bound: true })
        .collect();
    text += &page.table("method", &applied);
    let dominated = |result: &MethodResult| result.outcome.as_ref().is_ok_and(|outcome| outcome.dominated);
    if report.results.iter().any(dominated) {
        let words = "* another method is at least as good in both values; differences inside the intervals may be noise.";
        text += &format!("{}\n", page.paint.faint(&fill(words, 2, page.width)));
    }
    text + &page.refused(report.results.iter())
}

/// The frontier for reading.
pub fn frontier_text(report: &FrontierOutcome, look: &Look) -> String {
    let page = TextPage::new(&report.setup, look);
    let mut text = page.heading("Frontier");
    let rows = report.curves.iter().flat_map(|curve| &curve.points);
    let rows: Vec<MethodRow> = rows
        .filter(|point| point.result.outcome.is_ok())
        .map(|point| {
            let bound = point.bound.map_or(String::new(), |bound| format!(" <= {}", number(bound, 4)));
            let name = format!("{}{bound}", point.result.method);
            MethodRow { name, result: &point.result, has_bound: point.bound.is_some() }
        })
        .collect();
    text += &page.table("method and bound", &rows);
    let first = |curve: &'_ FrontierCurve| curve.points.first().map(|point| point.result.clone());
    let firsts: Vec<MethodResult> = report.curves.iter().filter_map(first).collect();
    text + &page.refused(firsts.iter())
}

/// A line of the table.
struct MethodRow<'a> {
    name: String,
    result: &'a MethodResult,
    /// Whether there is a bound that it can meet or miss.
    has_bound: bool,
}

impl TextPage<'_, ComparisonSetup> {
    fn heading(&self, title: &str) -> String {
        let setup = self.report;
        let facts = [
            format!("values of the {} part, {}", setup.part, many(setup.rows, "row")),
            scorer_words(setup.scorer).to_owned(),
            format!("seed {}", setup.seed),
        ];
        let title = on_files(title, &setup.tables);
        self.heading_of(&title, &goal_words(&setup.goal), &facts, &setup.notes) + "\n"
    }

    fn table(&self, first: &str, results: &[MethodRow]) -> String {
        let head = [first, &plain(self.report.goal.objective.text()), "violation", "goal", "scorers", "time"]
            .map(str::to_owned);
        let cells = |row: &MethodRow, outcome: &MethodOutcome| {
            let mark = if outcome.dominated { " *" } else { "" };
            let violation = outcome.violation();
            [
                format!("{}{mark}", plain(&row.name)),
                with_interval(&outcome.test.objective, |x| number(x, 4)),
                violation.map_or("—".to_owned(), |metric| with_interval(metric, |x| number(x, 4))),
                match outcome.verdict() {
                    _ if !row.has_bound => "",
                    Verdict::Pass => "met",
                    Verdict::Fail => "missed",
                    Verdict::Undecided => "can't tell",
                    Verdict::NotEstimable => "not estimable",
                }
                .to_owned(),
                match (outcome.components, outcome.sees_group) {
                    (1, false) => "1".to_owned(),
                    (1, true) => "1, by group".to_owned(),
                    (n, false) => format!("{n}, drawn"),
                    (n, true) => format!("{n}, drawn, by group"),
                },
                format!("{:.1} s", outcome.seconds),
            ]
        };
        let rows: Vec<[String; 6]> =
            results.iter().filter_map(|row| Some(cells(row, row.result.outcome.as_ref().ok()?))).collect();
        let mut room = [0; 6];
        for row in rows.iter().chain([&head]) {
            for (room, cell) in room.iter_mut().zip(row) {
                *room = columns(cell).max(*room);
            }
        }
        // Where the terminal is too narrow, what can be looked up in the JSON document goes first.
        let mut shown = vec![0, 1, 2, 3, 4, 5];
        while shown.len() > 4 && 2 + shown.iter().map(|&at| room[at] + 2).sum::<usize>() > self.width {
            shown.pop();
        }
        let line = |cells: &[String; 6]| {
            let cells: String = shown.iter().map(|&at| pad(&cells[at], room[at] + 2)).collect();
            format!("  {}", cells.trim_end())
        };
        let mut text = self.paint.faint(&line(&head)) + "\n";
        for row in &rows {
            text += &(line(row) + "\n");
        }
        text
    }

    /// Methods that do not apply, with their reasons.
    fn refused<'a>(&self, results: impl Iterator<Item = &'a MethodResult>) -> String {
        let refused: Vec<(&String, &String)> =
            results.filter_map(|result| Some((&result.method, result.outcome.as_ref().err()?))).collect();
        if refused.is_empty() {
            return String::new();
        }
        let mut text = format!("\n{}\n", self.paint.title("Does not apply"));
        for (method, reason) in refused {
            let words = fill(&format!("{method}: {}", plain(reason)), 4, self.width.saturating_sub(2));
            text += &format!("  {words}\n");
        }
        text
    }
}
