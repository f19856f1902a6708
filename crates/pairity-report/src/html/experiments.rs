//! The pages of the demo, whose runs for several goals on the same data stand side by side, and of reproduced
//! experiments, whose means over seeds stand beside the paper's values.

use super::chart::SERIES;
use super::frame::{Choice, HtmlPage, Section, Tile, chooser, command, glossary, paragraphs, section};
use super::plane;
use super::scatter::{Scatter, ScatterPoint};
use super::table::{HtmlTable, TableCell, interval};
use super::training::{course, matrices};
use crate::facts::gaps_that_apply;
use crate::outcome::NEXT;
use crate::report::{DemoReport, Reproduced, Reproduction, TrainingReport};
use crate::scale::minus;
use crate::words::{FrontEnd, many, or_dash, plain, rate};
use pairity::metrics::{Audit, Metric};
use pairity::run::Plane;

/// The demo as a page: one file that needs nothing else.
pub fn demo_html(report: &DemoReport) -> String {
    let runs: Vec<Run> = report.runs.iter().filter_map(Run::new).collect();
    let tile = |run: &Run| {
        let gap = run.gap();
        let value = |metric: Option<&Metric>| or_dash(metric.and_then(|metric| metric.value), rate);
        let note = gap.and_then(|gap| interval(gap, rate)).map_or(String::new(), |i| format!("gap {i}"));
        let values = format!("{} / {}", value(Some(&run.test.auc)), value(gap));
        Tile::new(format!("{}: AUC and gap", run.method()), values, note)
    };
    let mut facts = Vec::new();
    facts.extend(report.runs.first().map(|run| run.facts().join(" · ")));
    facts.push("95% confidence intervals".to_owned());
    HtmlPage {
        kind: "pairity demo",
        title: "Three goals, one ranking task".to_owned(),
        facts,
        lead: vec![report.meaning(), report.about()],
        tiles: runs.iter().map(tile).collect(),
        sections: vec![
            side_by_side(&runs),
            trade(&runs),
            report.plane.as_ref().and_then(scorers),
            courses(&runs),
            goals(&runs),
            section("next", "What to run next", "The same for a table of one’s own.", NEXT.map(command)),
            glossary(runs.first().map(|run| run.test), false, false, true),
        ],
        sliders: true,
    }
    .write()
}

/// A run, and how it does on rows that it has not seen.
struct Run<'a> {
    report: &'a TrainingReport,
    test: &'a Audit,
}

impl<'a> Run<'a> {
    fn new(report: &'a TrainingReport) -> Option<Run<'a>> {
        Some(Run { report, test: &report.run.parts.last()?.evaluation.audit })
    }

    fn method(&self) -> &'static str {
        self.report.run.method
    }

    /// The gap that the demo is about.
    fn gap(&self) -> Option<&'a Metric> {
        gaps_that_apply(self.test).first().map(|(_, gap)| *gap)
    }
}

fn side_by_side(runs: &[Run]) -> Option<Section> {
    let audits: Vec<_> = runs.iter().map(|run| (run.method(), run.test)).collect();
    let about = "How often the better of two candidates has the higher score, by the group of each, on searches \
                 that no scorer has seen. Read along a row for the better one’s group.";
    section("accuracy", "Accuracy between groups", about, [matrices(&audits)])
}

fn trade(runs: &[Run]) -> Option<Section> {
    let spots = runs
        .iter()
        .enumerate()
        .filter_map(|(series, run)| Some(ScatterPoint::of(run.method(), run.gap()?, &run.test.auc, series)));
    let scatter = Scatter {
        title: "Overall accuracy against the gap",
        x_title: "gap between groups (cross_group)",
        y_title: "overall accuracy (auc)",
        spots: spots.collect(),
        joined: false,
    };
    let about = "Up is more accurate, left is fairer. Bars are the intervals of both.";
    section("trade", "What fairness costs", about, [scatter.html()])
}

fn scorers(plane: &Plane) -> Option<Section> {
    let about = "The two features of some candidates, and of each run the scorer that is drawn most often. Along a line \
                 all score alike; across it scores grow. What ranks has no threshold, so each line goes through \
                 the middle of the candidates.";
    section("plane", "Candidates and scorers", about, [plane::html(plane)])
}

fn courses(runs: &[Run]) -> Option<Section> {
    let choice = |run: &Run| {
        let section = course(&run.report.run)?;
        let body = [paragraphs(&[section.about])].into_iter().chain(section.body).collect();
        Some(Choice { name: run.method().to_owned(), body })
    };
    let choices: Vec<Choice> = runs.iter().filter_map(choice).collect();
    section("course", "How training went", "", (!choices.is_empty()).then(|| chooser("Run", choices, 1)))
}

fn goals(runs: &[Run]) -> Option<Section> {
    let mut table = HtmlTable::new("The runs", &["Run", "Goal", "Outcome", "#Scorers", "#Seconds"]).quiet();
    for run in runs {
        let outcome = run.report.ending();
        let cells = [
            TableCell::text(plain(&run.report.goal_words())),
            TableCell::text(format!("{}: {}", outcome.word, outcome.words(FrontEnd::CommandLine))),
            TableCell::count(run.report.run.trained.components.len() as u64),
            TableCell::number(format!("{:.1}", run.report.run.seconds)),
        ];
        table.row(TableCell::name(run.method()), cells);
    }
    section("goals", "Goals and outcomes", "", [table.html()])
}

/// The experiments as a page for people: one file that needs nothing else.
pub fn reproduction_html(report: &Reproduction) -> String {
    let experiments = report.lines.chunk_by(|a, b| a.experiment == b.experiment);
    let mut sections: Vec<Option<Section>> = experiments.map(experiment).collect();
    let facts = vec![
        many(sections.len(), "experiment"),
        many(report.seeds as usize, "seed"),
        format!("values of the {}", report.rows),
    ];
    let again = "The same command and version give the same numbers, whatever the number of threads.";
    sections.push(section("again", "How to make it again", again, [command(&report.command)]));
    let cells: Vec<&str> =
        report.lines.iter().filter_map(|line| line.agreement).flat_map(|(a, b)| [a, b]).collect();
    let mut kinds = cells.clone();
    kinds.sort_unstable();
    kinds.dedup();
    let tile = |kind: &str| {
        let number = cells.iter().filter(|cell| **cell == kind).count();
        let note = format!("of {}", many(cells.len(), "cell"));
        Tile::new(format!("Cells that are: {kind}"), number.to_string(), note)
    };
    HtmlPage {
        kind: "Reproduction of published results",
        title: "Pairwise Fairness for Ranking and Regression: the experiments".to_owned(),
        facts,
        lead: vec![
            summary(&report.lines),
            "Values are means over seeds; bars and ± are standard deviations over seeds, not intervals of the mean. A cell \
             agrees with the paper’s if it is as near as the noise of one split (by Student’s t for the number of seeds, at \
             95 %) and the paper’s rounding allow."
                .to_owned(),
        ],
        tiles: kinds.into_iter().map(tile).collect(),
        sections,
        ..HtmlPage::default()
    }
    .write()
}

fn summary(lines: &[Reproduced]) -> String {
    let worse = lines.iter().flat_map(|line| {
        let worse = line.worse().into_iter();
        worse.map(move |(what, _)| format!("{what} of {} ({})", line.method, line.experiment))
    });
    let worse: Vec<String> = worse.collect();
    let are = match worse.len() {
        0 if lines.iter().all(|line| line.agreement.is_none()) => {
            return "Nothing here can be held against the paper’s values: that takes two seeds and its own data."
                .to_owned();
        }
        0 => return "No value is worse than the paper’s beyond noise.".to_owned(),
        1 => "One value is",
        _ => "These values are",
    };
    format!("{are} worse than the paper’s beyond noise: {}.", worse.join(", "))
}

fn experiment(lines: &[Reproduced]) -> Option<Section> {
    let first = lines.first()?;
    let exact = |value: f64| Metric { value: Some(value), ..Metric::default() };
    let spread =
        |(mean, std): (f64, f64)| Metric { low: Some(mean - std), high: Some(mean + std), ..exact(mean) };
    // Filled shapes for ours and hollow ones for theirs: name, violation, objective and series.
    let values: Vec<(String, Metric, Metric, usize)> = lines
        .iter()
        .enumerate()
        .flat_map(|(at, line)| {
            let ours = (line.method.to_owned(), spread(line.violation), spread(line.objective), at % SERIES);
            let theirs = line.paper.map(|(objective, violation)| {
                (format!("{} (paper)", line.method), exact(violation), exact(objective), at % SERIES + SERIES)
            });
            [Some(ours), theirs].into_iter().flatten()
        })
        .collect();
    let spots = values.iter().map(|(name, x, y, series)| ScatterPoint::of(name, x, y, *series));
    let scatter = Scatter {
        title: "Beside the paper",
        x_title: "violation",
        y_title: first.shown,
        spots: spots.collect(),
        joined: false,
    };
    let mut body = Vec::new();
    if lines.iter().any(|line| line.stand_in) {
        let words = "These data are not public: a synthetic stand-in of the same shape takes their place.";
        body.push(paragraphs(&[words.to_owned()]));
    }
    body.extend([
        scatter.html(),
        table(first, lines).html(),
        method_matrices(first, lines).behind("Accuracies by method"),
    ]);
    section(first.experiment, first.title, "", body)
}

fn table(first: &Reproduced, lines: &[Reproduced]) -> HtmlTable {
    let (shown, paper) = (format!("#{}", first.shown), format!("#Paper: {}", first.shown));
    let columns = ["Method", &shown, &paper, "#violation", "#Paper: violation", "Verdict", "#Seconds"];
    // Regions of a page need names that tell them apart.
    let mut table = HtmlTable::new(format!("Ours beside the paper’s: {}", first.title), &columns);
    for line in lines {
        let digits = line.digits();
        let spread = |(mean, std): (f64, f64)| {
            TableCell::number(format!("{mean:.digits$}")).with_note(minus(&format!("± {std:.digits$}")))
        };
        let published = |value: Option<f64>, digits: usize| {
            TableCell::number(or_dash(value, |value| format!("{value:.digits$}")))
        };
        let cells = [
            spread(line.objective),
            published(line.paper.map(|cells| cells.0), digits - 1),
            spread(line.violation),
            published(line.paper.map(|cells| cells.1), 2),
            TableCell::text(line.verdict()),
            TableCell::number(format!("{:.1}", line.seconds)),
        ];
        table.row(TableCell::name(line.method), cells);
    }
    table
}

/// Matrices, one row of the table for each row of a matrix.
fn method_matrices(first: &Reproduced, lines: &[Reproduced]) -> HtmlTable {
    let widest = lines.iter().flat_map(|line| &line.matrix).map(Vec::len).max().unwrap_or(0);
    let caption = format!("Accuracies: {}; in a matrix the row is the group of the better one", first.title);
    let mut table = HtmlTable::new(caption, &["Method"]);
    (0..widest).for_each(|column| table.add_column(format!("{}", column + 1)));
    for line in lines {
        for (at, row) in line.matrix.iter().enumerate() {
            let name = match line.matrix.len() {
                0 | 1 => line.method.to_owned(),
                _ => format!("{}, row {}", line.method, at + 1),
            };
            let cell = |c: usize| row.get(c).map_or(String::new(), |x| format!("{x:.3}"));
            table.row(TableCell::name(&name), (0..widest).map(|c| TableCell::number(cell(c))));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(method: &'static str, worse: bool) -> Reproduced {
        Reproduced {
            experiment: "law",
            title: "Law school",
            method,
            shown: "mse",
            objective: (0.125, 0.5),
            violation: (0.25, 0.0),
            paper: (method == "constrained").then_some((0.1, 0.24)),
            agreement: (method == "constrained")
                .then_some((if worse { "worse" } else { "agrees" }, "agrees")),
            matrix: vec![vec![0.875, 0.75]],
            population: None,
            limit: None,
            seeds: 3,
            seconds: 2.0,
            stand_in: worse,
            sample: false,
            notes: Vec::new(),
        }
    }

    #[test]
    fn means_stand_beside_the_papers_and_what_is_worse_comes_first() {
        let report = |worse| Reproduction {
            lines: vec![line("unconstrained", worse), line("constrained", worse)],
            seeds: 3,
            rows: "test rows",
            command: "pairity reproduce law".to_owned(),
        };
        let page = reproduction_html(&report(true));
        assert!(page.contains("One value is worse than the paper’s beyond noise: mse of constrained (law)."));
        for words in [
            "0.1250 <small>± 0.5000</small>",
            ">0.100<",
            ">0.24<",
            "0.875",
            "stand-in",
            "constrained (paper)",
        ] {
            assert!(page.contains(words), "{words}");
        }
        assert!(page.contains("id=\"law\"") && !page.contains("NaN"));
        assert!(reproduction_html(&report(false)).contains("No value is worse"));
        for lines in [vec![], vec![line("unconstrained", false)]] {
            let page = reproduction_html(&Reproduction { lines, ..report(true) });
            assert!(page.contains("Nothing here can be held against") && !page.contains("NaN"));
        }
    }
}
