//! Reproduced experiments as text for people.

use super::Look;
use crate::reproduction::{Reproduced, Reproduction};

/// The experiments for reading.
pub fn reproduction_text(report: &Reproduction, _look: &Look) -> String {
    let lines = &report.lines;
    let seeds = if report.seeds == 1 { "1 seed".to_owned() } else { format!("{} seeds", report.seeds) };
    let mut out = format!("Means ± standard deviations over {seeds}, on the {}.\n", report.rows);
    out += &worse(lines);
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
    out + "\nA cell agrees if it is as near to the paper's as two standard deviations of one split and its rounding \
           allow.\nMatrices have a row for the group of the better; for a continuous attribute they are A> and A<.\n"
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

/// The cells that are worse than the paper's, before all others.
fn worse(lines: &[Reproduced]) -> String {
    let mut out = String::new();
    for line in lines {
        let Some((objective, violation)) = line.agreement else { continue };
        let cells = [(line.shown, line.objective, objective), ("violation", line.violation, violation)];
        for (what, (mean, std), _) in cells.into_iter().filter(|(.., mark)| *mark == "worse") {
            out += &format!(
                "  {} {}: {what} {mean:.4} ± {std:.4}, the paper's cell is {}\n",
                line.experiment,
                line.method,
                paper(line)
            );
        }
    }
    match out.is_empty() {
        true => out,
        false => format!("\nWorse than the paper beyond noise\n{out}"),
    }
}
