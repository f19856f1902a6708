//! Errors that show the place in the text of a goal.

use std::fmt;
use std::ops::Range;

/// The most characters of a goal that an error shows.
const WINDOW: usize = 100;

/// Why a goal can't be used, and where in its text.
///
/// Displayed on several lines: the message, the text, a row of carets below the place, the help.
///
/// ```
/// use pairity::goals::{Vocabulary, parse_constraint};
/// let error = parse_constraint("auk >= 0.8", &Vocabulary::default()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "unknown name `auk`\n  auk >= 0.8\n  ^^^\nhelp: did you mean `auc`?",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoalError {
    /// The text of the goal (its beginning, if it was too long to be read).
    pub text: String,
    /// The place in `text`, in bytes; empty where something is missing.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl std::error::Error for GoalError {}

impl fmt::Display for GoalError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)?;
        if !self.text.trim().is_empty() {
            let (line, carets) = excerpt(&self.text, &self.span);
            write!(out, "\n  {line}\n  {carets}")?;
        }
        match &self.help {
            Some(help) => write!(out, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

/// An error before it is joined with the text it is about.
pub(super) type Fault = GoalError;

impl Fault {
    pub(super) fn new(span: Range<usize>, message: impl Into<String>) -> Fault {
        Fault { text: String::new(), span, message: message.into(), help: None }
    }

    pub(super) fn help(self, help: impl Into<String>) -> Fault {
        Fault { help: Some(help.into()), ..self }
    }

    pub(super) fn in_text(self, text: &str) -> GoalError {
        GoalError { text: text.to_string(), ..self }
    }
}

/// One line with the text around the span, and the line of carets that goes below it.
fn excerpt(text: &str, span: &Range<usize>) -> (String, String) {
    let first = (text.len() - text.trim_start().len()).min(span.start);
    let last = text.trim_end().len().max(span.end);
    let shown: Vec<(usize, char)> = text
        .char_indices()
        .filter(|(at, _)| (first..last).contains(at))
        .map(|(at, c)| (at, plain(c)))
        .collect();
    let before = shown.iter().filter(|(at, _)| *at < span.start).count();
    let marked = shown.iter().filter(|(at, _)| span.contains(at)).count();

    let window = if shown.len() <= WINDOW {
        0..shown.len()
    } else {
        let room = WINDOW - 2;
        let start = before.saturating_sub(room.saturating_sub(marked) / 2).min(shown.len() - room);
        start..start + room
    };
    let visible = |range: Range<usize>| shown.get(range).unwrap_or_default().iter().map(|(_, c)| *c);
    let width = |range: Range<usize>| visible(range).map(columns).sum::<usize>();

    let cut = |yes: bool| if yes { "…" } else { "" };
    let mut line = cut(window.start > 0).to_string();
    line.extend(visible(window.clone()));
    line += cut(window.end < shown.len());

    let lead = usize::from(window.start > 0) + width(window.start..before);
    let carets = width(before..(before + marked).min(window.end)).max(1);
    (line, " ".repeat(lead) + &"^".repeat(carets))
}

/// Line breaks and tabs as spaces, and nothing that could control a terminal.
fn plain(c: char) -> char {
    match c {
        _ if c.is_whitespace() => ' ',
        _ if c.is_control() => char::REPLACEMENT_CHARACTER,
        _ => c,
    }
}

/// How many columns a terminal gives a character: combining marks none, East Asian wide ones two.
fn columns(c: char) -> usize {
    match u32::from(c) {
        0x0300..=0x036F | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF => 0,
        0x200B..=0x200F | 0x20D0..=0x20FF | 0xFE00..=0xFE0F => 0,
        0x1100..=0x115F | 0x2E80..=0x303E | 0x3041..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF => 2,
        0xFE30..=0xFE6F | 0xFF00..=0xFF60 | 0xFFE0..=0xFFE6 => 2,
        0x1F300..=0x1F64F | 0x1F900..=0x1F9FF | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, part: &str) -> String {
        let start = text.find(part).unwrap();
        Fault::new(start..start + part.len(), "wrong").in_text(text).to_string()
    }

    #[test]
    fn carets_stand_below_the_span() {
        assert_eq!(shown("  auc >=\n 1", ">="), "wrong\n  auc >=  1\n      ^^");
    }

    #[test]
    fn carets_count_columns_and_not_bytes() {
        assert_eq!(shown("A[é > x]", "x"), "wrong\n  A[é > x]\n        ^");
        assert_eq!(shown("A[女 > x]", "x"), "wrong\n  A[女 > x]\n         ^");
        assert_eq!(shown("A[x > 女]", "女"), "wrong\n  A[x > 女]\n        ^^");
        assert_eq!(shown("A[e\u{301} > x]", "x"), "wrong\n  A[e\u{301} > x]\n        ^");
    }

    #[test]
    fn nothing_shown_can_control_a_terminal() {
        assert_eq!(shown("a\u{1b}[2J\tx", "x"), "wrong\n  a\u{fffd}[2J x\n        ^");
    }

    #[test]
    fn a_missing_part_has_one_caret_after_the_end() {
        let error = Fault::new(5..5, "more").in_text("auc +  ");
        assert_eq!(error.to_string(), "more\n  auc +\n       ^");
    }

    #[test]
    fn a_blank_text_is_not_shown() {
        assert_eq!(Fault::new(0..0, "empty").help("write").in_text(" \n").to_string(), "empty\nhelp: write");
    }

    #[test]
    fn long_texts_are_cut_around_the_span() {
        let long = format!("{}HERE{}", "a".repeat(200), "b".repeat(200));
        let text = shown(&long, "HERE");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], format!("  …{}HERE{}…", "a".repeat(47), "b".repeat(47)));
        assert_eq!(lines[2], format!("{}^^^^", " ".repeat(50)));

        let text = shown(&long, "aHERE");
        assert_eq!(text.lines().nth(1).unwrap().chars().count(), 102);
        let start = shown(&format!("HERE{}", "b".repeat(200)), "HERE");
        assert_eq!(start, format!("wrong\n  HERE{}…\n  ^^^^", "b".repeat(94)));
        let end = shown(&format!("{}HERE", "a".repeat(200)), "HERE");
        assert_eq!(end, format!("wrong\n  …{}HERE\n  {}^^^^", "a".repeat(94), " ".repeat(95)));
    }

    #[test]
    fn a_span_longer_than_the_window_is_marked_as_far_as_it_is_shown() {
        let text = "c".repeat(300);
        let error = Fault::new(100..300, "wrong").in_text(&text).to_string();
        let lines: Vec<&str> = error.lines().collect();
        assert_eq!(lines[1], format!("  …{}…", "c".repeat(98)));
        assert_eq!(lines[2], format!("   {}", "^".repeat(98)));
    }
}
