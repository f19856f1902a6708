//! Adjusted scores as text for people.

use super::Look;
use super::words::{plain, value_or};
use crate::adjust::AdjustReport;
use crate::advice::Advice;
use crate::training::objective_of;
use pairity::metrics::Metric;
use pairity::run::{AdjustOutcome, AdjustedPart};

/// The adjustment for reading.
pub fn adjust_text(report: &AdjustReport, look: &Look) -> String {
    let AdjustReport { run, written } = report;
    let (adjusted, method) = (&run.adjusted, run.method);
    let mut out = match adjusted.meets_goal {
        true => format!("Goal met by {method} on the rows it was chosen on.\n"),
        false => {
            let worst = adjusted.violations.iter().copied().fold(0.0, f64::max);
            format!(
                "Goal not met: {method} misses it by {worst:.4} at least on the rows it was chosen on. {}.\n",
                Advice::Train.words(look.front_end)
            )
        }
    };
    run.parts.iter().for_each(|part| out += &part_text(run, part));
    if run.unknown > 0 {
        out += &format!("\n{} rows of groups that were not seen keep their scores.\n", run.unknown);
    }
    if let Some((column, file)) = written {
        out += &format!("\nAdjusted scores are in column {:?} of {file}.\n", plain(column));
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
