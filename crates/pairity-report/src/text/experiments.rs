//! The demo and reproduced experiments as text for people: methods side by side.

use super::Look;
use crate::facts::gap;
use crate::outcome::{NEXT, goal_words};
use crate::report::{DemoReport, Reproduced, Reproduction};
use crate::words::{fill, many, plain, value_or};
use pairity::goals::Criterion;
use pairity::metrics::{Audit, Metric};

/// The demo for reading.
pub fn demo_text(report: &DemoReport, look: &Look) -> String {
    let line = |name: &str, cells: Vec<String>| {
        let cells: String = cells.iter().map(|cell| format!("{cell:<23}")).collect();
        format!("  {name:<14}{}\n", cells.trim_end())
    };
    let row = |name: &str, pick: &dyn Fn(&Audit) -> Option<&Metric>| {
        let cell =
            |metric: Option<&Metric>| metric.map_or("—".to_owned(), |metric| value_or(metric, 3, "—"));
        line(name, report.tests().iter().map(|test| cell(pick(&test.audit))).collect())
    };
    let mut out = format!("{}\n\n", fill(&report.about(), 0, look.width));
    out += &line("", report.runs.iter().map(|report| report.run.method.to_owned()).collect());
    for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        out += &row(&format!("A[{a} > {b}]"), &|audit| Some(&audit.accuracy[a][b]));
    }
    out += &row("auc", &|audit| Some(&audit.auc));
    out += &row("cross_group", &|audit| gap(audit, Criterion::CrossGroup));
    out += "\nA[a > b] is how often the scorer is right when the better candidate is of group a and the worse of b.\n";
    for run in report.runs.iter().map(|report| &report.run) {
        out += &format!(
            "  {:<14}{}: {}, {}, {:.1} s\n",
            run.method,
            goal_words(&run.goal),
            run.trained.status.name(),
            many(run.trained.components.len(), "scorer"),
            run.seconds,
        );
    }
    out += &format!("\nWhat this means\n{}\n", fill(&report.meaning(), 0, look.width));
    out += &format!("\nThe same with pictures: {}\n\nWhat to run next\n", plain(&report.page));
    NEXT.iter().for_each(|command| out += &format!("  {}\n", command.replace('\n', "\n  ")));
    out
}

/// The experiments for reading.
pub fn reproduction_text(report: &Reproduction, _look: &Look) -> String {
    let lines = &report.lines;
    let seeds = if report.seeds == 1 { "1 seed".to_owned() } else { format!("{} seeds", report.seeds) };
    let mut out = format!("Means ± standard deviations over {seeds}, on the {}.\n", report.rows);
    // The cells that are worse than the paper's come before all others.
    if lines.iter().any(|line| !line.worse().is_empty()) {
        out += "\nWorse than the paper beyond noise\n";
    }
    for line in lines {
        for (what, (mean, std)) in line.worse() {
            let Reproduced { experiment, method, .. } = line;
            let cell = format!("{what} {mean:.4} ± {std:.4}, the paper's cell is {}", paper(line));
            out += &format!("  {experiment} {method}: {cell}\n");
        }
    }
    let name = lines.iter().map(|line| line.method.chars().count()).max().unwrap_or(0) + 2;
    for experiment in lines.chunk_by(|a, b| a.experiment == b.experiment) {
        let Some(first) = experiment.first() else { continue };
        out += &format!("\n{} ({})\n", first.title, first.experiment);
        out += &format!(
            "  {:<name$}{:<17}{:<17}{:<14}{:<16}{:>7}\n",
            "", first.shown, "violation", "paper", "verdict", "seconds"
        );
        experiment.iter().for_each(|line| out += &method_text(line, name));
    }
    let mut told: Vec<&String> = Vec::new();
    for line in lines {
        for note in &line.notes {
            if !told.contains(&note) {
                out += &format!("{}{}: {note}\n", if told.is_empty() { "\n" } else { "" }, line.experiment);
                told.push(note);
            }
        }
    }
    if lines.iter().any(|line| line.stand_in) {
        out += "\nThe business data is not public: a synthetic stand-in of the same shape takes its place.\n";
    }
    out + "\nA cell agrees if it is as near to the paper's as the noise of one split (by Student's t for the number \
           of seeds, at 95 %) and its rounding allow.\nMatrices have a row for the group of the better; for a continuous attribute they are A> and A<.\n"
}

/// The lines of one method, whose name has so much room.
fn method_text(line: &Reproduced, name: usize) -> String {
    let digits = line.digits();
    let spread = |(mean, std): (f64, f64)| format!("{mean:.digits$} ± {std:.digits$}");
    let mut out = format!(
        "  {:<name$}{:<17}{:<17}{:<14}{:<16}{:>7.1}\n",
        line.method,
        spread(line.objective),
        spread(line.violation),
        paper(line),
        line.verdict(),
        line.seconds,
    );
    let mut below = |words: String| out += &format!("  {:<name$}{words}\n", "");
    if let Some((objective, violation)) = line.population {
        below(format!("{objective:.4} ({violation:.4}) over all that the task could draw"));
    }
    if let Some((reached, limit)) = line.limit {
        below(format!("objective {reached:.4} of the limit {limit:.4}"));
    }
    for row in &line.matrix {
        let cells: Vec<String> = row.iter().map(|rate| format!("{rate:.3}")).collect();
        below(format!("[{}]", cells.join(" ")));
    }
    out
}

fn paper(line: &Reproduced) -> String {
    let digits = line.digits() - 1;
    line.paper
        .map_or("–".to_owned(), |(objective, violation)| format!("{objective:.digits$} ({violation:.2})"))
}
