//! The demo as text for people: its scorers side by side.

use super::Look;
use super::words::{fill, many, plain, value_or};
use crate::demo::{DemoReport, NEXT};
use crate::outcome::goal_words;
use pairity::goals::Criterion;
use pairity::metrics::Metric;
use pairity::solvers::Evaluation;

/// The demo for reading.
pub fn demo_text(report: &DemoReport, look: &Look) -> String {
    let tests = report.tests();
    let cell = |metric: &Metric| value_or(metric, 3, "—");
    let line = |name: &str, cells: Vec<String>| {
        let cells: String = cells.iter().map(|cell| format!("{cell:<23}")).collect();
        format!("  {name:<14}{}\n", cells.trim_end())
    };
    let row = |name: &str, pick: &dyn Fn(&Evaluation) -> String| {
        line(name, tests.iter().map(|test| pick(test)).collect())
    };
    let gap = |test: &Evaluation| {
        let gap = test.audit.gaps.iter().find(|(criterion, _)| *criterion == Criterion::CrossGroup);
        gap.map_or("—".to_owned(), |(_, metric)| cell(metric))
    };
    let mut out = format!("{}\n\n", fill(&report.about(), 0, look.width));
    out += &line("", report.runs.iter().map(|run| run.method.to_owned()).collect());
    for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        out += &row(&format!("A[{a} > {b}]"), &|test| cell(&test.audit.accuracy[a][b]));
    }
    out += &row("auc", &|test| cell(&test.audit.auc));
    out += &row("cross_group", &gap);
    out += "\nA[a > b] is how often the scorer is right when the better candidate is of group a and the worse of b.\n";
    for run in &report.runs {
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
    for command in NEXT {
        out += &format!("  {}\n", command.replace('\n', "\n  "));
    }
    out
}
