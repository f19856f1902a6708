//! A training run as text for people.

use super::matrix::TextMatrix;
use super::{BAD, FAINT, GOOD, Look, TextPage, UNSURE, joined};
use crate::facts::accuracies;
use crate::outcome::{Tone, miss, objective_of, part_words, reasons, slack};
use crate::report::TrainingReport;
use crate::words::{columns, count, drawn, fill, fine, flow, or_dash, pad, plain, with_interval};
use pairity::metrics::Metric;
use pairity::run::TrainingPart;
use pairity::solvers::Answer;

/// The run for reading.
pub fn training_text(report: &TrainingReport, look: &Look) -> String {
    let page = TextPage::new(report, look);
    let heading = page.heading_of(&report.title(), &report.goal_words(), &report.facts(), &report.run.notes);
    joined([heading, page.result(), page.values(), page.accuracy(), page.members(), page.next()])
}

impl TextPage<'_, TrainingReport> {
    fn result(&self) -> String {
        let run = &self.report.run;
        let ending = self.report.ending();
        let color = match ending.tone {
            Tone::Bad => BAD,
            Tone::Unsure => UNSURE,
            Tone::Good => GOOD,
        };
        let word = ending.word;
        let line = fill(&format!("{word}: {}", ending.words(self.look.front_end)), 2, self.look.width);
        let rest = line.strip_prefix(word).unwrap_or(&line);
        let mut text = format!("{}{rest}\n", self.paint(color, word));
        if let Some((word, words)) = self.report.guarantee() {
            let color = if run.guarantee.as_ref().is_some_and(|own| own.given) { GOOD } else { BAD };
            let line = fill(&format!("{word}: {words}"), 2, self.look.width);
            text += &format!("{}{}\n", self.paint(color, word), line.strip_prefix(word).unwrap_or(&line));
        }
        text += &self
            .report
            .harm(self.look.front_end)
            .iter()
            .map(|own| self.sentence(own, 2))
            .collect::<String>();
        text += &self.report.far_below().map_or(String::new(), |words| self.sentence(&words, 2));
        if run.answer == Answer::Deterministic && run.trained.components.len() > 1 {
            let words = "No single scorer was found that meets the goal, so this one is still a mixture: a query always \
                         draws the same scorer, by a hash of its id.";
            text += &self.sentence(words, 2);
        }
        text += &self.report.optimality().map_or(String::new(), |words| self.sentence(&words, 2));
        let status = Some(run.trained.status.name().to_owned());
        let (sizes, steps) = (self.report.step_sizes(), self.report.steps_made());
        let pieces = [status, sizes, steps, Some(format!("{:.1} s", run.seconds))];
        let pieces: Vec<String> = pieces.into_iter().flatten().collect();
        text + &self.paint(FAINT, &flow(&pieces, self.look.width)) + "\n"
    }

    /// The objective and every constraint, part by part.
    fn values(&self) -> String {
        let run = &self.report.run;
        let parts = |cell: &dyn Fn(&TrainingPart) -> String| run.parts.iter().map(cell).collect::<Vec<_>>();
        let value = |metric: &Metric| with_interval(metric, fine);
        let objective = parts(&|part| value(&part.evaluation.objective));
        let mut rows = vec![(plain(objective_of(&run.goal)), objective)];
        for (index, text) in run.goal.subject_to.iter().enumerate() {
            rows.push((plain(text), parts(&|part| value(&part.evaluation.audit.checks[index].metric))));
            rows.push((String::new(), parts(&|part| slack(part, index))));
        }
        let names = rows.iter().map(|row| columns(&row.0)).max().unwrap_or(0);
        let heads = run.parts.iter().map(|part| columns(part_words(run, part)));
        let cells =
            rows.iter().flat_map(|row| &row.1).map(|cell| columns(cell)).chain(heads).max().unwrap_or(0);
        let mut text = self.title("Values", "");
        if 2 + names + run.parts.len() * (cells + 2) <= self.look.width {
            rows.insert(0, (String::new(), parts(&|part| part_words(run, part).to_owned())));
            for (name, values) in &rows {
                let values: String = values.iter().map(|value| pad(value, cells + 2)).collect();
                let line = format!("  {}  {values}", pad(name, names));
                let line = line.trim_end();
                text += &(if name.is_empty() { self.paint(FAINT, line) } else { line.to_owned() } + "\n");
            }
            return text + &self.reasons();
        }
        // Too wide for columns: one part below the other.
        for (place, part) in run.parts.iter().enumerate() {
            text += &format!("  {}\n", self.paint(FAINT, part_words(run, part)));
            for (name, values) in &rows {
                text += &format!("    {}  {}\n", pad(name, names), values[place]);
            }
        }
        text + &self.reasons()
    }

    /// Why values are missing, or their intervals.
    fn reasons(&self) -> String {
        let of_part = |part: &TrainingPart| {
            let reasons = reasons(std::iter::once(&part.evaluation)).into_iter();
            reasons.map(|reason| self.sentence(&format!("{}: {reason}.", part.name), 4)).collect::<String>()
        };
        self.report.run.parts.iter().map(of_part).collect()
    }

    /// The matrix of the last part, which no choice depended on.
    fn accuracy(&self) -> String {
        let Some(part) = self.report.run.parts.last() else { return String::new() };
        let audit = &part.evaluation.audit;
        if audit.groups.len() < 2 {
            return String::new();
        }
        let names = audit.groups.iter().map(|name| plain(name)).collect();
        let cells = accuracies(audit);
        let matrix = TextMatrix { corner: "better \\ worse", names, cells, worst: None };
        self.title(&format!("Pairwise accuracy ({} rows)", part.name), "") + &self.matrix(&matrix).0
    }

    /// The scorers of a mixture, one by one.
    fn members(&self) -> String {
        let run = &self.report.run;
        let Some(part) = run.parts.last().filter(|part| part.evaluation.members.len() > 1) else {
            return String::new();
        };
        let mut text = self.title(&format!("Scorers of the mixture, each alone ({} rows)", part.name), "");
        let sizes: Vec<String> = run.trained.step_sizes.iter().map(f64::to_string).collect();
        let room = sizes.iter().map(|size| columns(size)).max().unwrap_or(0);
        let several = sizes.iter().any(|size| *size != sizes[0]);
        let components = run.trained.components.iter().zip(&sizes);
        for (member, (component, size)) in part.evaluation.members.iter().zip(components) {
            let size = if several { format!("step size {}  ", pad(size, room)) } else { String::new() };
            let places = 0..member.assessment.misses.len();
            let misses: Vec<String> = places.map(|place| miss(&member.assessment, place)).collect();
            let goals = if misses.is_empty() { "" } else { "  constraints " };
            text += &format!(
                "  {:>6}  {size}snapshot {:>6}  objective {}{goals}{}\n",
                drawn(component.probability),
                count(component.snapshot as u64),
                or_dash(member.objective, fine),
                misses.join(", ")
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
