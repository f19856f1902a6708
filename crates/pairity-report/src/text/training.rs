//! A training run as text for people.

use super::matrix::TextMatrix;
use super::paint::Paint;
use super::words::{columns, count, fill, flow, number, pad, plain, with_interval};
use super::{Look, TextPage, joined};
use crate::outcome::{Tone, miss, slack};
use crate::training::{TrainingReport, objective_of};
use pairity::run::TrainingPart;

/// The run for reading.
pub fn training_text(report: &TrainingReport, look: &Look) -> String {
    let page = TextPage::new(report, look);
    let heading = page.heading_of(&report.title(), &report.goal_words(), &report.facts(), &report.notes);
    joined([heading, page.result(), page.values(), page.accuracy(), page.members(), page.next()])
}

impl<R> TextPage<'_, R> {
    /// What was done for which goal, with facts and notes on the data.
    pub(super) fn heading_of(&self, title: &str, goal: &str, facts: &[String], notes: &[String]) -> String {
        let goal = fill(&format!("Goal: {goal}"), 2, self.width);
        let mut text = self.paint.title(title) + "\n";
        text += &format!("{goal}\n{}\n", flow(facts, self.width));
        for note in notes {
            text += &format!("{}\n", fill(&format!("Note: {}", plain(note)), 2, self.width));
        }
        text
    }
}

impl TextPage<'_, TrainingReport> {
    fn result(&self) -> String {
        let report = self.report;
        let trained = &report.trained;
        let ending = report.ending();
        let (word, words) = (ending.word, ending.words(self.front_end));
        let paint: fn(Paint, &str) -> String = match ending.tone {
            Tone::Bad => Paint::bad,
            Tone::Unsure => Paint::unsure,
            Tone::Good => Paint::good,
        };
        let line = fill(&format!("{word}: {words}"), 2, self.width);
        let rest = line.strip_prefix(word).unwrap_or(&line);
        let mut text = format!("{}{rest}\n", paint(self.paint, word));
        if report.deterministic && trained.components.len() > 1 {
            let words = "No single scorer was found that meets the goal, so this one is still a mixture: a query always \
                         draws the same scorer, by a hash of its id.";
            text += &format!("{}\n", fill(words, 2, self.width));
        }
        let steps = format!("step size {}", trained.step_size);
        let pieces = [trained.status.name().to_owned(), steps, format!("{:.1} s", report.seconds)];
        text + &format!("{}\n", self.paint.faint(&flow(&pieces, self.width)))
    }

    /// The objective and every constraint, part by part.
    fn values(&self) -> String {
        let report = self.report;
        let mut rows: Vec<(String, Vec<String>)> = Vec::new();
        let objective = |part: &TrainingPart| with_interval(&part.evaluation.objective, |x| number(x, 4));
        rows.push((plain(objective_of(&report.goal)), report.parts.iter().map(objective).collect()));
        for (index, text) in report.goal.subject_to.iter().enumerate() {
            let cell = |part: &TrainingPart| {
                let check = &part.evaluation.audit.checks[index];
                with_interval(&check.metric, |x| number(x, 4))
            };
            rows.push((plain(text), report.parts.iter().map(cell).collect()));
            rows.push((String::new(), report.parts.iter().map(|part| slack(part, index)).collect()));
        }
        let names = rows.iter().map(|row| columns(&row.0)).max().unwrap_or(0);
        let cells = rows.iter().flat_map(|row| &row.1).map(|cell| columns(cell)).max().unwrap_or(0);
        let fits = 2 + names + report.parts.len() * (cells + 2) <= self.width;
        let mut text = self.paint.title("Values") + "\n";
        if fits {
            let head: String = report.parts.iter().map(|part| pad(part.name, cells + 2)).collect();
            text += &(self.paint.faint(format!("  {}  {head}", " ".repeat(names)).trim_end()) + "\n");
            for (name, values) in &rows {
                let line: String = values.iter().map(|value| pad(value, cells + 2)).collect();
                let line = format!("  {}  {line}", pad(name, names));
                let line = line.trim_end();
                text += &(if name.is_empty() { self.paint.faint(line) } else { line.to_owned() } + "\n");
            }
            return text;
        }
        // Too wide for columns: one part below the other.
        for (place, part) in report.parts.iter().enumerate() {
            text += &format!("  {}\n", self.paint.faint(part.name));
            for (name, values) in &rows {
                text += format!("    {}  {}\n", pad(name, names), values[place]).as_str();
            }
        }
        text
    }

    /// The matrix of the last part, which no choice depended on.
    fn accuracy(&self) -> String {
        let Some(part) = self.report.parts.last() else { return String::new() };
        let audit = &part.evaluation.audit;
        let groups: Vec<String> = audit.groups.iter().map(|name| plain(name)).collect();
        if groups.len() < 2 {
            return String::new();
        }
        let title = self.paint.title(&format!("Pairwise accuracy ({} rows)", part.name));
        let matrix = TextMatrix {
            corner: "better \\ worse",
            rows: groups.clone(),
            columns: groups,
            cells: audit.accuracy.iter().map(|row| row.iter().map(Some).collect()).collect(),
            worst: None,
        };
        format!("{title}\n{}", matrix.text(self.width, self.paint, self.pictures).0)
    }

    /// The scorers of a mixture, one by one.
    fn members(&self) -> String {
        let Some(part) = self.report.parts.last() else { return String::new() };
        if part.evaluation.members.len() < 2 {
            return String::new();
        }
        let mut text =
            self.paint.title(&format!("Scorers of the mixture, each alone ({} rows)", part.name)) + "\n";
        for (member, component) in part.evaluation.members.iter().zip(&self.report.trained.components) {
            let value = |x: Option<f64>| x.map_or("—".to_owned(), |x| number(x, 4));
            let places = 0..member.assessment.misses.len();
            let misses: Vec<String> = places.map(|place| miss(&member.assessment, place)).collect();
            let goals = if misses.is_empty() {
                String::new()
            } else {
                format!("  constraints {}", misses.join(", "))
            };
            text += &format!(
                "  {:>5.1}%  snapshot {:>6}  objective {}{goals}\n",
                100.0 * component.probability,
                count(component.snapshot as u64),
                value(member.objective)
            );
        }
        text
    }

    fn next(&self) -> String {
        self.report.file.as_deref().map(plain).map_or(String::new(), |file| {
            format!("Model written to {file}. To use it: pairity score {file} TABLE -o scored.csv\n")
        })
    }
}
