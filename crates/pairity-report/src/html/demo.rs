//! The page of the demo: runs for several goals on the same data, side by side.

use super::chooser::{Choice, chooser};
use super::frame::{HtmlPage, Section, Terms, Tile, cite, command, paragraphs, section};
use super::plane;
use super::scatter::{Scatter, ScatterPoint};
use super::table::{HtmlTable, TableCell, interval};
use super::training::{course_of, matrices};
use crate::advice::FrontEnd;
use crate::demo::{DemoReport, NEXT};
use crate::report::{AuditReport, Notes};
use crate::text::words::{plain, rate};
use crate::training::TrainingReport;
use pairity::metrics::Metric;
use pairity::run::Plane;
use pairity::solvers::Evaluation;

/// The demo as a page: one file that needs nothing else.
pub fn demo_html(report: &DemoReport) -> String {
    let runs: Vec<Run> = report.runs.iter().filter_map(Run::new).collect();
    let sections = [
        side_by_side(&runs),
        trade(&runs),
        report.plane.as_ref().and_then(scorers),
        course(&runs),
        goals(&runs),
        next(),
        Terms::of_training(runs.first().map(|run| &run.test.audit)).glossary(),
        cite(),
    ];
    let tile = |run: &Run| Tile {
        title: format!("{}: AUC and gap", run.report.method),
        value: format!("{} / {}", value(&run.test.audit.auc), run.gap().map_or("—".to_owned(), value)),
        note: run.gap().and_then(|gap| interval(gap, rate)).map_or(String::new(), |i| format!("gap {i}")),
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
        sections: sections.into_iter().flatten().collect(),
        sliders: true,
    }
    .write()
}

/// A run, and how it does on rows that it has not seen.
struct Run<'a> {
    report: &'a TrainingReport,
    test: &'a Evaluation,
    audit: AuditReport,
}

impl<'a> Run<'a> {
    fn new(report: &'a TrainingReport) -> Option<Run<'a>> {
        let test = &report.parts.last()?.evaluation;
        Some(Run { report, test, audit: AuditReport { audit: test.audit.clone(), notes: Notes::default() } })
    }

    /// The gap that the demo is about.
    fn gap(&self) -> Option<&Metric> {
        self.audit.gaps_that_apply().first().map(|(_, gap)| *gap)
    }
}

fn value(metric: &Metric) -> String {
    metric.value.map_or("—".to_owned(), rate)
}

fn side_by_side(runs: &[Run]) -> Option<Section> {
    let audits: Vec<_> = runs.iter().map(|run| (run.report.method.to_owned(), &run.test.audit)).collect();
    let about = "How often the better of two candidates has the higher score, by the group of each, on searches \
                 that no scorer has seen. Read along a row for the better one’s group.";
    section("accuracy", "Accuracy between groups", about, vec![matrices(&audits)])
}

fn trade(runs: &[Run]) -> Option<Section> {
    let spots = runs.iter().enumerate().filter_map(|(series, run)| {
        Some(ScatterPoint {
            name: run.report.method,
            x: run.gap()?,
            y: &run.test.audit.auc,
            dominated: false,
            series,
            about: String::new(),
        })
    });
    let scatter = Scatter {
        title: "Overall accuracy against the gap",
        x_title: "gap between groups (cross_group)",
        y_title: "overall accuracy (auc)",
        spots: spots.collect(),
        joined: false,
    };
    let about = "Up is more accurate, left is fairer. Bars are the intervals of both.";
    section("trade", "What fairness costs", about, vec![scatter.html()])
}

fn scorers(plane: &Plane) -> Option<Section> {
    let about = "The two features of some candidates, and of each run the scorer that is drawn most often. Along a line \
                 all score alike; across it scores grow. What ranks has no threshold, so each line goes through \
                 the middle of the candidates.";
    section("plane", "Candidates and scorers", about, vec![plane::html(plane)])
}

fn course(runs: &[Run]) -> Option<Section> {
    let choices: Vec<Choice> = runs
        .iter()
        .filter_map(|run| {
            let section = course_of(run.report)?;
            let mut body = vec![paragraphs(&[section.about])];
            body.extend(section.body);
            Some(Choice { name: run.report.method.to_owned(), body })
        })
        .collect();
    section("course", "How training went", "", (!choices.is_empty()).then(|| chooser("Run", choices, 1)))
}

fn goals(runs: &[Run]) -> Option<Section> {
    let mut table = HtmlTable::new("The runs", &["Run", "Goal", "Outcome", "#Scorers", "#Seconds"]).quiet();
    for run in runs {
        let outcome = run.report.ending();
        table.push(vec![
            TableCell::name(run.report.method),
            TableCell::text(plain(&run.report.goal_words())),
            TableCell::text(format!("{}: {}", outcome.word, outcome.words(FrontEnd::CommandLine))),
            TableCell::count(run.report.trained.components.len() as u64),
            TableCell::number(format!("{:.1}", run.report.seconds)),
        ]);
    }
    section("goals", "Goals and outcomes", "", vec![table.html()])
}

fn next() -> Option<Section> {
    section("next", "What to run next", "The same for a table of one’s own.", NEXT.map(command))
}
