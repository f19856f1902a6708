//! The page of a training run.

mod course;
mod matrices;
mod members;
#[cfg(test)]
mod tests;
mod values;

pub(super) use matrices::matrices;

use super::audit::{gaps_of, result_of};
use super::frame::{HtmlPage, Section, Terms, Tile, cite, command, paragraphs, section, tile};
use super::plane;
use super::table::with_interval;
use crate::advice::FrontEnd;
use crate::outcome::{Tone, slack};
use crate::report::{AuditReport, Notes};
use crate::text::words::{number, plain, rate, shorten};
use crate::training::{TrainingReport, objective_of};
use pairity::run::{Plane, TrainingPart};
use pairity::solvers::Evaluation;

/// What a page shows beside a training run.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageAside<'a> {
    /// The command that makes the run again.
    pub command: Option<&'a str>,
    /// The scorer with the best objective whatever the constraints, on the last part of the rows.
    pub before: Option<&'a Evaluation>,
    /// The rows and the scorers, where there are two features.
    pub plane: Option<&'a Plane>,
    /// Whose words advice is in.
    pub front_end: FrontEnd,
}

/// The run as a page for people: one file that needs nothing else.
pub fn training_html(report: &TrainingReport, aside: &PageAside) -> String {
    let page = TrainingPage::new(report, *aside);
    let mut facts = vec![format!("Goal: {}", report.goal_words())];
    facts.extend(report.facts());
    if let Some(last) = &page.last {
        facts.push(format!("{} confidence intervals", last.confidence()));
    }
    let sections = [
        page.values(),
        page.matrices(),
        page.continuous(),
        page.gaps(),
        page.course(),
        page.members(),
        page.plane(),
        page.measures(),
        page.notes(),
        page.again(),
        Terms::of_training(page.last.as_ref().map(|last| &last.audit)).glossary(),
        cite(),
    ];
    HtmlPage {
        kind: "Pairwise fairness training",
        title: report.title(),
        facts,
        lead: page.lead(),
        tiles: page.tiles(),
        sections: sections.into_iter().flatten().collect(),
        ..HtmlPage::default()
    }
    .write()
}

/// How a run went, as a section.
pub(super) fn course_of(report: &TrainingReport) -> Option<Section> {
    TrainingPage::new(report, PageAside::default()).course()
}

/// What every section needs.
struct TrainingPage<'a> {
    report: &'a TrainingReport,
    aside: PageAside<'a>,
    /// The last part, which no choice depended on, as an audit.
    last: Option<AuditReport>,
}

impl<'a> TrainingPage<'a> {
    fn new(report: &'a TrainingReport, aside: PageAside<'a>) -> TrainingPage<'a> {
        let audit = |part: &TrainingPart| AuditReport {
            audit: part.evaluation.audit.clone(),
            notes: Notes { tables: report.tables.clone(), ..Notes::default() },
        };
        TrainingPage { report, aside, last: report.parts.last().map(audit) }
    }

    /// The rows of the last part: "the test rows".
    fn rows(&self) -> String {
        let name = self.report.parts.last().map_or("train", |part| part.name);
        format!("the {} rows", if name == "train" { "training" } else { name })
    }

    fn lead(&self) -> Vec<String> {
        let outcome = self.report.ending();
        let mut lead = vec![format!("{}: {}", outcome.word, outcome.words(self.aside.front_end))];
        if let Some(part) = self.report.parts.last() {
            let evaluation = &part.evaluation;
            let mut words = format!(
                "On {}, {} is {}",
                self.rows(),
                plain(objective_of(&self.report.goal)),
                with_interval(&evaluation.objective, "not estimable")
            );
            for (place, text) in self.report.goal.subject_to.iter().enumerate() {
                words += &format!("; {} is {}", plain(text), slack(part, place));
            }
            lead.push(words + ".");
            if let Some(before) = self.aside.before {
                let mut words = format!(
                    "Whatever the constraints, the best scorer of this run reaches {}",
                    with_interval(&before.objective, "not estimable")
                );
                let worst = before.assessment.violation;
                if worst > 0.0 {
                    words += &format!(" and misses the constraints by {}", rate(worst));
                }
                lead.push(words + ".");
            }
        }
        lead.extend(self.last.as_ref().filter(|last| last.audit.groups.len() > 1).map(result_of));
        if self.report.deterministic && self.report.trained.components.len() > 1 {
            lead.push(
                "One scorer was asked for, but none was found that meets the goal: this is a mixture."
                    .to_owned(),
            );
        }
        lead
    }

    fn tiles(&self) -> Vec<Tile> {
        let outcome = self.report.ending();
        let sign = match outcome.tone {
            Tone::Good => "✓",
            Tone::Unsure => "?",
            Tone::Bad => "✕",
        };
        let mut tiles = vec![Tile {
            title: "Outcome".to_owned(),
            value: format!("{sign} {}", outcome.word),
            note: self.report.trained.status.name().replace('_', " "),
        }];
        if let Some(part) = self.report.parts.last() {
            let title = format!("{} ({} rows)", shorten(objective_of(&self.report.goal), 24), part.name);
            tiles.push(tile(&title, &part.evaluation.objective, |x| number(x, 4)));
        }
        if let Some((criterion, gap)) =
            self.last.as_ref().and_then(|last| last.gaps_that_apply().into_iter().next())
        {
            let title = format!(
                "Gap ({}, {} rows)",
                criterion.name(),
                self.report.parts.last().map_or("", |p| p.name)
            );
            tiles.push(tile(&title, gap, rate));
        }
        tiles.push(Tile {
            title: "Scorers".to_owned(),
            value: self.report.trained.components.len().to_string(),
            note: format!("step size {}, {:.1} s", self.report.trained.step_size, self.report.seconds),
        });
        tiles
    }

    fn gaps(&self) -> Option<Section> {
        let mut section = gaps_of(self.last.as_ref()?)?;
        section.title = format!("Gaps on {}", self.rows());
        Some(section)
    }

    fn plane(&self) -> Option<Section> {
        let plane = self.aside.plane?;
        let about = "Some rows by their two features, as the scorer sees them. Along a line all score alike; \
                     across it scores grow. What ranks has no threshold, so each line goes through the middle of \
                     the rows.";
        section("plane", "Rows and scorers", about, vec![plane::html(plane)])
    }

    fn notes(&self) -> Option<Section> {
        let notes: Vec<String> = self.report.notes.iter().map(|note| shorten(note, 400)).collect();
        section("notes", "Notes on the data", "", (!notes.is_empty()).then(|| paragraphs(&notes)))
    }

    fn again(&self) -> Option<Section> {
        let mut body = Vec::new();
        body.extend(self.aside.command.map(command));
        if let Some(file) = &self.report.file {
            let file = shorten(file, 200);
            body.push(paragraphs(&[format!("The model is in {file}. To use it:")]));
            body.push(command(&format!("pairity score {file} TABLE -o scored.csv")));
        }
        let about = "The same command, version and seed make the same model, whatever the number of threads.";
        section("again", "How to make it again", about, body)
    }
}
