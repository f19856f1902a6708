//! A training run as text for people.

use super::matrix::Matrix;
use super::paint::Paint;
use super::words::{columns, count, fill, flow, many, number, pad, plain, rate, with_interval};
use super::{Look, MIN_WIDTH};
use crate::training::{TrainingPart, TrainingReport};
use pairity::metrics::Verdict;
use pairity::scorers::Objective;
use pairity::training::Status;

/// More names than this are counted rather than listed.
const MAX_NAMES: usize = 3;

/// The run for reading.
pub fn training_text(report: &TrainingReport, look: &Look) -> String {
    let page =
        Page { report, paint: Paint(look.color), pictures: look.pictures, width: look.width.max(MIN_WIDTH) };
    let sections =
        [page.heading(), page.result(), page.values(), page.accuracy(), page.members(), page.next()];
    sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
}

struct Page<'a> {
    report: &'a TrainingReport,
    paint: Paint,
    pictures: bool,
    width: usize,
}

impl Page<'_> {
    fn heading(&self) -> String {
        let report = self.report;
        let listed: Vec<String> = report.tables.iter().take(MAX_NAMES).map(|name| plain(name)).collect();
        let more = report.tables.len().saturating_sub(MAX_NAMES);
        let more = if more > 0 { format!(" and {more} more files") } else { String::new() };
        let (verb, objective) = match &report.goal.objective {
            Objective::Maximize(text) => ("maximize", text),
            Objective::Minimize(text) => ("minimize", text),
        };
        let mut goal = format!("Goal: {verb} {}", plain(objective));
        for (place, text) in report.goal.subject_to.iter().enumerate() {
            goal += &format!("{}{}", if place == 0 { " subject to " } else { " and " }, plain(text));
        }
        if report.method != "constrained" {
            goal += &format!(" (method: {})", report.method);
        }
        let mut pieces: Vec<String> = report
            .parts
            .iter()
            .map(|part| {
                let audit = &part.evaluation.audit;
                let queries = audit.queries.map(|n| format!(" in {}", many(n, "query"))).unwrap_or_default();
                format!("{} {}{queries}", part.name, many(audit.rows, "row"))
            })
            .collect();
        let kind = match report.model {
            "mlp" => "network",
            "text-cnn" => "text network",
            _ => "linear scorer",
        };
        let aware = if report.group_aware { " that sees the group" } else { "" };
        let features = match &report.features[..] {
            [only] if only.contains(" words of ") => plain(only),
            features => many(features.len(), "feature"),
        };
        pieces.push(format!("{kind} of {features}{aware}"));
        pieces.push(format!("seed {}", report.seed));
        let mut text = self.paint.title(&format!("Training on {}{more}", listed.join(", "))) + "\n";
        text += &format!("{}\n{}\n", fill(&goal, 2, self.width), flow(&pieces, self.width));
        for note in &report.notes {
            text += &format!("{}\n", fill(&format!("Note: {}", plain(note)), 2, self.width));
        }
        text
    }

    fn result(&self) -> String {
        let report = self.report;
        let trained = &report.trained;
        let part = match report.selected_on() {
            "validation" => "the validation rows",
            _ => "the training rows",
        };
        let scorers = many(trained.components.len(), "scorer");
        let worst = trained.violations.iter().copied().fold(0.0, f64::max);
        let constrained = !report.goal.subject_to.is_empty();
        let (word, words) = match (trained.status, trained.meets_goal) {
            (Status::Feasible, _) if !constrained => ("Trained", format!("one scorer, chosen on {part}.")),
            (Status::FeasibleAsMixture, _) if !constrained => {
                ("Trained", format!("a mixture of {scorers}, chosen on {part}."))
            }
            (Status::Feasible, _) => ("Goal met", format!("by one scorer, on {part}.")),
            (Status::FeasibleAsMixture, _) => (
                "Goal met",
                format!(
                    "by a mixture of {scorers}, on {part}. Each query draws one of them; no single one found does as well."
                ),
            ),
            (Status::TimeLimit, true) => (
                "Stopped early",
                format!("the best so far meets the goal on {part}, with {scorers}. --resume goes on."),
            ),
            (Status::TimeLimit, false) => (
                "Stopped early",
                format!(
                    "the best so far misses the goal by {} on {part}. --resume goes on.",
                    number(worst, 4)
                ),
            ),
            (Status::NotConverged, _) => (
                "Goal not met",
                format!(
                    "the best mixture found still misses it by {} on {part}, but was coming nearer: more --iterations may help.",
                    number(worst, 4)
                ),
            ),
            (Status::Infeasible, _) if report.method != "constrained" => (
                "Goal not met",
                format!(
                    "{} misses it by {} on {part}. --method constrained trains for it.",
                    report.method,
                    number(worst, 4)
                ),
            ),
            (Status::Infeasible, _) => (
                "Goal not met",
                format!(
                    "the least violation that any mixture of the scorers found reaches on {part} is {}. Loosen the bound, use a richer --model, or allow --group-aware.",
                    number(worst, 4)
                ),
            ),
        };
        let paint: fn(Paint, &str) -> String = match word {
            "Goal not met" => Paint::bad,
            "Stopped early" => Paint::unsure,
            _ => Paint::good,
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
        rows.push((plain(report.objective_name()), report.parts.iter().map(objective).collect()));
        for (index, text) in report.goal.subject_to.iter().enumerate() {
            let cell = |part: &TrainingPart| {
                let check = &part.evaluation.audit.checks[index];
                with_interval(&check.metric, |x| number(x, 4))
            };
            let slack = |part: &TrainingPart| {
                let verdict = match part.evaluation.audit.checks[index].verdict {
                    Verdict::Pass => "surely holds",
                    Verdict::Fail => "surely missed",
                    Verdict::Undecided => "data can't tell",
                    Verdict::NotEstimable => "not estimable",
                };
                match part.evaluation.violations[index] {
                    Some(miss) if miss <= 1e-6 => format!("met, slack {}; {verdict}", rate(-miss.min(0.0))),
                    Some(miss) => format!("missed by {}; {verdict}", rate(miss)),
                    None => verdict.to_owned(),
                }
            };
            rows.push((plain(text), report.parts.iter().map(cell).collect()));
            rows.push((String::new(), report.parts.iter().map(slack).collect()));
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
        let matrix = Matrix {
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
            let misses = member.violations.iter().copied().map(|miss| match miss {
                Some(miss) if miss <= 1e-6 => "met".to_owned(),
                Some(miss) => format!("missed by {}", rate(miss)),
                None => "not estimable".to_owned(),
            });
            let misses: Vec<String> = misses.collect();
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
        let file = plain(&self.report.file);
        format!("Model written to {file}. To use it: pairity score {file} TABLE -o scored.csv\n")
    }
}
