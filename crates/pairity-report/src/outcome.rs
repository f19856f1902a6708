//! What a training run was for and how it ended, in words that text and pages share.

use crate::advice::{Advice, FrontEnd};
use crate::text::words::{many, number, plain, rate};
use crate::training::TrainingReport;
use pairity::goals::{Assessment, Goal, Objective};
use pairity::metrics::Verdict;
use pairity::run::TrainingPart;
use pairity::solvers::Status;

/// More names than this are counted rather than listed.
const MAX_NAMES: usize = 3;

/// How good an end is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Unsure,
    Bad,
}

/// How training ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) tone: Tone,
    /// In a word or two.
    pub(crate) word: &'static str,
    /// And in a sentence that goes on after a colon, and may end with advice.
    words: String,
    advice: Option<Advice>,
}

impl Ending {
    /// The whole sentence.
    pub(crate) fn words(&self, front_end: FrontEnd) -> String {
        match self.advice {
            Some(advice) => format!("{} {}.", self.words, advice.words(front_end)),
            None => self.words.clone(),
        }
    }
}

impl TrainingReport {
    /// What was trained on: "Training on people.csv".
    pub(crate) fn title(&self) -> String {
        on_files("Training", &self.tables)
    }

    /// The goal as it was stated: "maximize auc subject to cross_group <= 0.01".
    pub(crate) fn goal_words(&self) -> String {
        let mut goal = goal_words(&self.goal);
        if self.method != "constrained" {
            goal += &format!(" (method: {})", self.method);
        }
        goal
    }

    /// Whether training enforced constraints.
    pub(crate) fn constrained(&self) -> bool {
        !self.goal.subject_to.is_empty() && self.method == "constrained"
    }

    /// How much data there was, and what was trained.
    pub(crate) fn facts(&self) -> Vec<String> {
        let part = |part: &TrainingPart| {
            let audit = &part.evaluation.audit;
            let queries = audit.queries.map(|n| format!(" in {}", many(n, "query"))).unwrap_or_default();
            format!("{} {}{queries}", part.name, many(audit.rows, "row"))
        };
        let mut facts: Vec<String> = self.parts.iter().map(part).collect();
        let kind = scorer_words(self.scorer);
        let aware = if self.group_aware { " that sees the group" } else { "" };
        let features = match &self.features[..] {
            [only] if only.contains(" words of ") => plain(only),
            features => many(features.len(), "feature"),
        };
        facts.push(format!("{kind} of {features}{aware}"));
        facts.push(format!("seed {}", self.seed));
        facts
    }

    /// How training ended.
    pub(crate) fn ending(&self) -> Ending {
        let trained = &self.trained;
        let part = match self.selected_on() {
            "validation" => "the validation rows",
            _ => "the training rows",
        };
        let scorers = many(trained.components.len(), "scorer");
        let worst = number(trained.violations.iter().copied().fold(0.0, f64::max), 4);
        let constrained = !self.goal.subject_to.is_empty();
        let (tone, word) = match trained.status {
            Status::Feasible | Status::FeasibleAsMixture if !constrained => (Tone::Good, "Trained"),
            Status::Feasible | Status::FeasibleAsMixture => (Tone::Good, "Goal met"),
            Status::TimeLimit => (Tone::Unsure, "Stopped early"),
            Status::NotConverged | Status::Infeasible => (Tone::Bad, "Goal not met"),
        };
        let (words, advice) = match trained.status {
            Status::Feasible if !constrained => (format!("one scorer, chosen on {part}."), None),
            Status::FeasibleAsMixture if !constrained => {
                (format!("a mixture of {scorers}, chosen on {part}."), None)
            }
            Status::Feasible => (format!("by one scorer, on {part}."), None),
            Status::FeasibleAsMixture => {
                let drawn = "Each query draws one of them; no single one found does as well.";
                (format!("by a mixture of {scorers}, on {part}. {drawn}"), None)
            }
            Status::TimeLimit if trained.meets_goal => {
                (format!("the best so far meets the goal on {part}, with {scorers}."), Some(Advice::Resume))
            }
            Status::TimeLimit => {
                (format!("the best so far misses the goal by {worst} on {part}."), Some(Advice::Resume))
            }
            Status::NotConverged => {
                let words = format!("the best mixture found still misses it by {worst} on {part}");
                (format!("{words}, but was coming nearer:"), Some(Advice::Iterations))
            }
            Status::Infeasible if self.method != "constrained" => {
                (format!("{} misses it by {worst} on {part}.", self.method), Some(Advice::Constrained))
            }
            Status::Infeasible => {
                let words = "the least violation that any mixture of the scorers found reaches";
                (format!("{words} on {part} is {worst}."), Some(Advice::Loosen))
            }
        };
        Ending { tone, word, words, advice }
    }
}

/// A goal as it was stated.
pub(crate) fn goal_words(goal: &Goal) -> String {
    let (verb, objective) = match &goal.objective {
        Objective::Maximize(text) => ("maximize", text),
        Objective::Minimize(text) => ("minimize", text),
    };
    let mut words = format!("{verb} {}", plain(objective));
    for (place, text) in goal.subject_to.iter().enumerate() {
        words += &format!("{}{}", if place == 0 { " subject to " } else { " and " }, plain(text));
    }
    words
}

/// What was done on which files, if on any: "Training on people.csv".
pub(crate) fn on_files(title: &str, tables: &[String]) -> String {
    if tables.is_empty() { title.to_owned() } else { format!("{title} on {}", file_names(tables)) }
}

/// Names of files, of which many are counted.
pub(crate) fn file_names(tables: &[String]) -> String {
    let listed: Vec<String> = tables.iter().take(MAX_NAMES).map(|name| plain(name)).collect();
    let more = tables.len().saturating_sub(MAX_NAMES);
    let more = if more > 0 { format!(" and {more} more files") } else { String::new() };
    format!("{}{more}", listed.join(", "))
}

/// Whether a part of the rows meets a constraint, by how much, and how sure that is.
pub(crate) fn slack(part: &TrainingPart, constraint: usize) -> String {
    let verdict = match part.evaluation.audit.checks[constraint].verdict {
        Verdict::Pass => "surely holds",
        Verdict::Fail => "surely missed",
        Verdict::Undecided => "data can't tell",
        Verdict::NotEstimable => "not estimable",
    };
    let assessment = &part.evaluation.assessment;
    match assessment.miss(constraint) {
        Some(miss) if assessment.meets(constraint) => {
            format!("met, slack {}; {verdict}", rate(-miss.min(0.0)))
        }
        Some(miss) => format!("missed by {}; {verdict}", rate(miss)),
        None => verdict.to_owned(),
    }
}

/// The same of a scorer alone, of which no interval is known.
pub(crate) fn miss(assessment: &Assessment, constraint: usize) -> String {
    match assessment.miss(constraint) {
        Some(_) if assessment.meets(constraint) => "met".to_owned(),
        Some(miss) => format!("missed by {}", rate(miss)),
        None => "not estimable".to_owned(),
    }
}

/// The kind of scorer in words.
pub(crate) fn scorer_words(model: &str) -> &'static str {
    match model {
        "mlp" => "network",
        "text-cnn" => "text network",
        _ => "linear scorer",
    }
}
