//! The page of a training run.

mod course;
#[cfg(test)]
mod tests;
mod values;

pub(super) use course::course;
pub(super) use values::matrices;

use super::audit::{gaps_of, result_of};
use super::frame::{HtmlPage, Section, Tile, command, glossary, notes, paragraphs, section};
use super::plane;
use super::table::with_interval;
use crate::facts::{gaps_that_apply, percent};
use crate::outcome::{Tone, objective_of, slack};
use crate::report::TrainingReport;
use crate::words::{FrontEnd, fine, plain, rate, shorten};
use pairity::metrics::Audit;
use pairity::run::{Plane, TrainOutcome, TrainingPart};
use pairity::solvers::{Answer, Evaluation};

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
    let page = TrainingPage { report, run: &report.run, aside, last: report.run.parts.last() };
    let mut facts = vec![format!("Goal: {}", report.goal_words())];
    facts.extend(report.facts());
    if let Some(audit) = page.audit() {
        facts.push(format!("{} confidence intervals", percent(audit.settings.confidence)));
    }
    HtmlPage {
        kind: "Pairwise fairness training",
        title: report.title(),
        facts,
        lead: page.lead(),
        tiles: page.tiles(),
        sections: vec![
            page.values(),
            page.accuracy(),
            page.continuous(),
            page.gaps(),
            course(&report.run),
            page.members(),
            page.plane(),
            page.measures(),
            notes(&report.run.notes),
            page.again(),
            glossary(page.audit(), false, false, true),
        ],
        ..HtmlPage::default()
    }
    .write()
}

/// What every section needs.
struct TrainingPage<'a> {
    report: &'a TrainingReport,
    run: &'a TrainOutcome,
    aside: &'a PageAside<'a>,
    /// The last part, which no choice depended on.
    last: Option<&'a TrainingPart>,
}

impl<'a> TrainingPage<'a> {
    /// What was measured on the last part.
    fn audit(&self) -> Option<&'a Audit> {
        self.last.map(|part| &part.evaluation.audit)
    }

    /// The rows of the last part: "the test rows".
    fn rows(&self) -> String {
        let name = self.last.map_or("train", |part| part.name);
        format!("the {} rows", if name == "train" { "training" } else { name })
    }

    fn lead(&self) -> Vec<String> {
        let outcome = self.report.ending();
        let mut lead = vec![format!("{}: {}", outcome.word, outcome.words(self.aside.front_end))];
        lead.extend(self.report.guarantee().map(|(word, words)| format!("{word}: {words}")));
        lead.extend(self.report.harm(self.aside.front_end));
        lead.extend(self.report.far_below());
        lead.extend(self.report.optimality());
        if let Some(part) = self.last {
            let mut words = format!(
                "On {}, {} is {}",
                self.rows(),
                plain(objective_of(&self.run.goal)),
                with_interval(&part.evaluation.objective, "not estimable")
            );
            for (place, text) in self.run.goal.subject_to.iter().enumerate() {
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
        let audit = self.audit().filter(|audit| audit.groups.len() > 1);
        lead.extend(audit.map(|audit| result_of(audit, None)));
        if self.run.answer == Answer::Deterministic && self.run.trained.components.len() > 1 {
            let words =
                "One scorer was asked for, but none was found that meets the goal: this is a mixture.";
            lead.push(words.to_owned());
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
        let trained = &self.run.trained;
        let status = trained.status.name().replace('_', " ");
        let mut tiles = vec![Tile::new("Outcome", format!("{sign} {}", outcome.word), status)];
        if let Some(guarantee) = &self.run.guarantee {
            let word = if guarantee.given { "✓ Guaranteed" } else { "✕ No guarantee" };
            let note = format!("{} confidence", percent(guarantee.confidence));
            tiles.push(Tile::new("On new data", word.to_owned(), note));
        }
        if let Some(TrainingPart { name, evaluation }) = self.last {
            let title = format!("{} ({name} rows)", shorten(objective_of(&self.run.goal), 24));
            tiles.push(Tile::of(&title, &evaluation.objective, fine));
            if let Some((criterion, gap)) = gaps_that_apply(&evaluation.audit).first() {
                tiles.push(Tile::of(&format!("Gap ({}, {name} rows)", criterion.name()), gap, rate));
            }
        }
        let seconds = format!("{:.1} s", self.run.seconds);
        let note = match trained.step_size() {
            size if size.is_finite() => format!("step size {size}, {seconds}"),
            _ => seconds,
        };
        tiles.push(Tile::new("Scorers", trained.components.len().to_string(), note));
        tiles
    }

    fn gaps(&self) -> Option<Section> {
        Some(Section { title: format!("Gaps on {}", self.rows()), ..gaps_of(self.audit()?)? })
    }

    fn plane(&self) -> Option<Section> {
        let plane = self.aside.plane?;
        let about = "Some rows by their two features, as the scorer sees them. Along a line all score alike; \
                     across it scores grow. What ranks has no threshold, so each line goes through the middle of \
                     the rows.";
        section("plane", "Rows and scorers", about, vec![plane::html(plane)])
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
