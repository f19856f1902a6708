//! Results as text for people, with colors and pictures where a terminal can show them.

mod audit;
mod comparison;
mod experiments;
mod groups;
mod matrix;
mod scores;
mod training;

pub use audit::audit_text;
pub use comparison::{comparison_text, frontier_text};
pub use experiments::{demo_text, reproduction_text};
pub use scores::{adjust_text, scoring_text};
pub use training::training_text;

use crate::words::{FrontEnd, fill, flow, plain};

/// The fewest columns that a report is written for.
const MIN_WIDTH: usize = 60;

/// What terminals take for colors and strong letters.
const TITLE: &str = "1";
const FAINT: &str = "2";
const GOOD: &str = "32";
const UNSURE: &str = "33";
const BAD: &str = "1;31";

/// How a text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Whether words are colored.
    pub color: bool,
    /// Whether numbers have pictures beside them, made of letters that terminals can show.
    pub pictures: bool,
    /// Columns to fill: no more, where names allow it, and 60 at least.
    pub width: usize,
    /// Whose words advice is in.
    pub front_end: FrontEnd,
}

/// A report and how its text looks: what every section needs.
struct TextPage<'a, R> {
    report: &'a R,
    look: Look,
}

impl<'a, R> TextPage<'a, R> {
    fn new(report: &'a R, look: &Look) -> TextPage<'a, R> {
        TextPage { report, look: Look { width: look.width.max(MIN_WIDTH), ..*look } }
    }

    /// Words in a color, or as they are.
    fn paint(&self, color: &str, text: &str) -> String {
        match self.look.color && !text.trim().is_empty() {
            true => format!("\x1b[{color}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }

    /// A sentence on lines of its own, each after the first behind an indent.
    fn sentence(&self, words: &str, indent: usize) -> String {
        fill(words, indent, self.look.width) + "\n"
    }

    /// A section's title, and in plain words what it shows.
    fn title(&self, title: &str, explanation: &str) -> String {
        let title = self.paint(TITLE, title) + "\n";
        match explanation {
            "" => title,
            words => format!("{title}{}\n", self.paint(FAINT, &fill(words, 0, self.look.width))),
        }
    }

    /// What was done for which goal, with facts and notes on the data.
    fn heading_of(&self, title: &str, goal: &str, facts: &[String], notes: &[String]) -> String {
        let goal = self.sentence(&format!("Goal: {goal}"), 2);
        let mut text = self.title(title, "") + &goal + &flow(facts, self.look.width) + "\n";
        for note in notes {
            text += &self.sentence(&format!("Note: {}", plain(note)), 2);
        }
        text
    }
}

/// Sections with a line between them; those that are empty are left out.
fn joined<const N: usize>(sections: [String; N]) -> String {
    sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
