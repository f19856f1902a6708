//! Scored and adjusted tables as text for people.

use super::{Look, TextPage};
use crate::outcome::{file_names, map_words, objective_of, worst_of};
use crate::report::{AdjustReport, ScoringReport};
use crate::words::{Advice, flow, many, pad_left, plain, rate, value_or};
use pairity::metrics::Metric;
use pairity::run::{AdjustOutcome, AdjustedPart};

/// What was scored, for reading.
pub fn scoring_text(report: &ScoringReport, look: &Look) -> String {
    let (page, run) = (TextPage::new(report, look), &report.run);
    let title = format!("Scores of {} by {}", file_names(&report.tables), plain(&report.model));
    let added: Vec<String> = report.columns.iter().map(|name| format!("{:?}", plain(name))).collect();
    let to = match report.output.as_str() {
        "-" => "standard output".to_owned(),
        file => plain(file),
    };
    let pieces = [
        many(run.scores.len(), "row"),
        format!("added: {}", added.join(" and ")),
        format!("written to {to}"),
    ];
    let mut text = page.title(&title, "") + &flow(&pieces, page.look.width) + "\n" + &page.drawn();
    let mut notes: Vec<String> = run.notes.iter().map(ToString::to_string).collect();
    if run.rows_without_query > 0 {
        let rows = many(run.rows_without_query, "row");
        notes.push(format!("{rows} without a query; such rows count as one query"));
    }
    if let Some(rows) = run.rows_with_unknown_group.filter(|&rows| rows > 0) {
        let rows = many(rows, "row");
        notes.push(format!(
            "{rows} with a group not seen in training; such rows are scored as without a group"
        ));
    }
    notes.iter().for_each(|note| text += &page.sentence(&format!("Note: {}", plain(note)), 2));
    text
}

impl TextPage<'_, ScoringReport> {
    /// Who scored what, for a mixture.
    fn drawn(&self) -> String {
        let run = &self.report.run;
        let scorers = run.components.len();
        if scorers < 2 {
            return String::new();
        }
        let draw = match run.queries() {
            Some(queries) if !self.report.query.is_empty() => {
                let columns = self.report.query.iter().map(|name| format!("{:?}", plain(name)));
                let columns: Vec<String> = columns.collect();
                format!("each of {} in {} drew one", many(queries, "query"), columns.join(" & "))
            }
            _ => "there are no queries, so that one was drawn for all rows".to_owned(),
        };
        let pieces = [format!("a mixture of {scorers} scorers: {draw}"), format!("seed {}", run.seed)];
        let mut text = flow(&pieces, self.look.width) + "\n";
        for component in &run.components {
            let queries = component.queries.map(|queries| pad_left(&many(queries, "query"), 18));
            text += &format!(
                "  snapshot {:>5} with probability {}:{}{}\n",
                component.snapshot,
                rate(component.probability),
                queries.unwrap_or_default(),
                pad_left(&many(component.rows, "row"), 15),
            );
        }
        text
    }
}

/// The adjustment for reading.
pub fn adjust_text(report: &AdjustReport, look: &Look) -> String {
    let AdjustReport { run, written, model } = report;
    let (adjusted, method) = (&run.adjusted, run.method);
    let mut out = match adjusted.meets_goal {
        true => format!("Goal met by {method} on the rows it was chosen on.\n"),
        false => format!(
            "Goal not met: {method} misses it by {:.4} at least on the rows it was chosen on. {}.\n",
            worst_of(&adjusted.violations),
            Advice::TRAIN.words(look.front_end)
        ),
    };
    map_words(&adjusted.adjustment).iter().for_each(|line| out += &format!("  {}\n", plain(line)));
    run.parts.iter().for_each(|part| out += &part_text(run, part));
    if run.unknown > 0 {
        out += &format!("\n{} rows of groups that were not seen keep their scores.\n", run.unknown);
    }
    if let Some((column, file)) = written {
        out += &format!("\nAdjusted scores are in column {:?} of {file}.\n", plain(column));
    }
    if let Some((column, file)) = model {
        let (column, file) = (plain(column), plain(file));
        out += &format!(
            "\nThe map is saved: pairity score {file} NEW.csv --score {column} -o OUT.csv adjusts new rows.\n"
        );
    }
    out
}

fn part_text(run: &AdjustOutcome, part: &AdjustedPart) -> String {
    let objective = objective_of(&run.goal);
    let texts = run.goal.subject_to.iter().map(String::as_str).chain([objective]);
    let width = texts.map(|text| text.chars().count()).max().unwrap_or(0) + 2;
    let line = |name: &str, before: &Metric, after: &Metric| {
        let cell = |metric: &Metric| value_or(metric, 4, "not estimable");
        let line = format!("  {:<width$}{:<26}{}", plain(name), cell(before), cell(after));
        line.trim_end().to_owned() + "\n"
    };
    let title = if part.name == "tuned" { "Rows it was chosen on" } else { "Test rows" };
    let mut out = format!("\n{title} ({})\n  {:<width$}{:<26}{:<25}\n", part.rows, "", "before", "after");
    out += &line(objective, &part.before.objective, &part.after.objective);
    for (before, after) in part.before.checks.iter().zip(&part.after.checks) {
        out += &line(&before.expression, &before.metric, &after.metric);
    }
    out
}
