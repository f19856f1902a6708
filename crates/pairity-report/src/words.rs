//! Names, numbers and advice as they stand in texts and on pages.

use pairity::metrics::Metric;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A text without anything that could control a terminal or turn its letters around: such characters
/// are written as escapes.
///
/// ```
/// assert_eq!(pairity_report::plain("a\u{1b}[31mb\n"), "a\\u{1b}[31mb\\n");
/// assert_eq!(pairity_report::plain("søren & <b>"), "søren & <b>");
/// ```
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let hidden = matches!(u32::from(c), 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFEFF);
        if c.is_control() || hidden {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// Who shows a report to people: it decides the words of advice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FrontEnd {
    /// Options of commands.
    #[default]
    CommandLine,
    /// Parameters and methods of the Python package.
    Python,
}

/// What a reader could do next, as a part of a sentence: for the command line, and for Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Advice(&'static str, &'static str);

impl Advice {
    /// Say what the labels are.
    pub(crate) const LABELS: Advice = Advice("name the label column with --label", "pass labels");
    /// Say what the groups are.
    pub(crate) const GROUPS: Advice =
        Advice("name a column with --group or --protected", "pass groups or protected");
    /// Look at all values, of which some are shown.
    pub(crate) const ALL_VALUES: Advice = Advice("--format json has all", "to_dict() has all");
    /// Look at the intervals, for which there was no room.
    pub(crate) const INTERVALS: Advice = Advice(
        "intervals are in --format json, or show in a wider terminal",
        "intervals are in to_dict() and to_frame()",
    );
    /// Go on with a training that was stopped.
    pub(crate) const RESUME: Advice = Advice("--resume goes on", "a larger time_limit= lets it finish");
    /// Train longer.
    pub(crate) const ITERATIONS: Advice = Advice("more --iterations may help", "more iterations= may help");
    /// Use the method that trains for constraints.
    pub(crate) const CONSTRAINED: Advice =
        Advice("--method constrained trains for it", "method=\"constrained\" trains for it");
    /// Ask for less, or allow more.
    pub(crate) const LOOSEN: Advice = Advice(
        "Loosen the bound, use a richer --model, or allow --group-aware",
        "Loosen the bound, use a richer model=, or allow group_aware=True",
    );
    /// Forbid that fairness harms.
    pub(crate) const NO_HARM: Advice = Advice(
        "--no-harm 0.02 allows no accuracy to fall by more than that",
        "no_harm=0.02 allows no accuracy to fall by more than that",
    );
    /// Let one scorer be found where there are no queries.
    pub(crate) const ONE: Advice =
        Advice("--answer auto gives one scorer", "deterministic=True gives one scorer");
    /// Choose on more rows.
    pub(crate) const ROWS: Advice = Advice(
        "More rows to choose on would tell: give more, or a larger second share in --split",
        "More rows to choose on would tell: give more, or a larger validation_fraction=",
    );
    /// Choose on more queries.
    pub(crate) const UNITS: Advice = Advice(
        "Give that part more queries or rows (--split has the shares), or choose on the training rows with \
         --split 1,0,0",
        "Give that part more queries or rows (validation_fraction= is its share), or choose on the training rows \
         with validation_fraction=0",
    );
    /// Train instead of adjusting.
    pub(crate) const TRAIN: Advice = Advice(
        "Loosen the bound, or train a scorer for it (pairity train)",
        "Loosen the bound, or train a scorer for it (pairity.FairRanker)",
    );

    /// The advice in the words of a front end.
    pub(crate) fn words(self, front_end: FrontEnd) -> &'static str {
        match front_end {
            FrontEnd::CommandLine => self.0,
            FrontEnd::Python => self.1,
        }
    }
}

/// The number of terminal columns of a text.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// A name cut to a number of columns in its middle, since names often differ at either end.
pub(crate) fn shorten(name: &str, room: usize) -> String {
    let name = plain(name);
    if columns(&name) <= room || room == 0 {
        return name;
    }
    let tail_room = (room - 1) / 2;
    let head = take(name.chars(), room - 1 - tail_room);
    let tail: Vec<char> = take(name.chars().rev(), tail_room);
    head.into_iter().chain(['…']).chain(tail.into_iter().rev()).collect()
}

fn take(chars: impl Iterator<Item = char>, room: usize) -> Vec<char> {
    let mut used = 0;
    chars
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= room
        })
        .collect()
}

/// A text with spaces behind it, up to a number of columns.
pub(crate) fn pad(text: &str, room: usize) -> String {
    format!("{text}{}", " ".repeat(room.saturating_sub(columns(text))))
}

/// A text with spaces before it, up to a number of columns.
pub(crate) fn pad_left(text: &str, room: usize) -> String {
    format!("{}{text}", " ".repeat(room.saturating_sub(columns(text))))
}

/// A whole number with its thousands apart.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun.
pub(crate) fn many(number: usize, noun: &str) -> String {
    let plural = match (number, noun) {
        (1, _) => noun.to_owned(),
        (_, "query") => "queries".to_owned(),
        _ => format!("{noun}s"),
    };
    format!("{} {plural}", count(number as u64))
}

/// A number with so many decimals (one if it is large), or in scientific notation where they would not
/// show it.
pub(crate) fn number(value: f64, decimals: usize) -> String {
    let size = value.abs();
    if size >= 1e6 || (size > 0.0 && size < 0.5 * 0.1_f64.powi(decimals as i32)) {
        return format!("{value:.2e}");
    }
    let decimals = if size >= 1e3 { decimals.min(1) } else { decimals };
    format!("{value:.decimals$}")
}

/// A value that need not be a rate: four decimals, as far as they show it.
pub(crate) fn fine(value: f64) -> String {
    number(value, 4)
}

/// How often a scorer of a mixture is drawn, in percent.
pub(crate) fn drawn(probability: f64) -> String {
    if probability > 0.0 && probability < 0.0005 {
        return "<0.1%".to_owned();
    }
    format!("{:.1}%", 100.0 * probability)
}

/// A number as it is written, or a dash where there is none.
pub(crate) fn or_dash(value: Option<f64>, write: impl FnOnce(f64) -> String) -> String {
    value.map_or("—".to_owned(), write)
}

/// A rate: three decimals always.
pub(crate) fn rate(value: f64) -> String {
    // No minus before a zero.
    let text = format!("{value:.3}");
    if text == "-0.000" { "0.000".to_owned() } else { text }
}

/// A value and its interval on one line.
pub(crate) fn with_interval(metric: &Metric, write: impl Fn(f64) -> String) -> String {
    match (metric.value, metric.low, metric.high) {
        (None, ..) => "—".to_owned(),
        (Some(value), Some(low), Some(high)) => format!("{} [{}, {}]", write(value), write(low), write(high)),
        (Some(value), ..) => format!("{} [no interval]", write(value)),
    }
}

/// A value of so many decimals, with its interval where there is one; other words where there is no value.
pub(crate) fn value_or(metric: &Metric, decimals: usize, missing: &str) -> String {
    match (metric.value, metric.low, metric.high) {
        (Some(value), Some(low), Some(high)) => {
            format!("{value:.decimals$} [{low:.decimals$}, {high:.decimals$}]")
        }
        (Some(value), ..) => format!("{value:.decimals$}"),
        _ => missing.to_owned(),
    }
}

/// Pieces joined by a middle dot, on as many lines as they need.
pub(crate) fn flow(pieces: &[String], width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for piece in pieces {
        match lines.last_mut() {
            Some(line) if columns(line) + 3 + columns(piece) <= width => {
                line.push_str(" · ");
                line.push_str(piece);
            }
            _ => lines.push(piece.clone()),
        }
    }
    lines.join("\n")
}

/// A sentence on as many lines as it needs, each after the first behind an indent.
pub(crate) fn fill(text: &str, indent: usize, width: usize) -> String {
    let mut out = String::new();
    let mut used = indent;
    for word in text.split(' ') {
        let size = columns(word);
        if used > indent && used + 1 + size > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            used = indent;
        } else if used > indent {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += size;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_both_ends_and_their_width() {
        assert_eq!(shorten("female & under 30", 9), "fema…r 30");
        assert_eq!(shorten("short", 9), "short");
        assert!(columns(&shorten("日本語日本語日本語", 7)) <= 7);
        assert_eq!(shorten("ab", 1), "…");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(999), "999");
        assert_eq!(number(0.25, 4), "0.2500");
        assert_eq!(number(1.5e-9, 4), "1.50e-9");
        assert_eq!(number(330_855.15, 4), "330855.2");
        assert_eq!(rate(-0.0001), "0.000");
        assert_eq!(many(1, "query"), "1 query");
        assert_eq!(many(2000, "query"), "2,000 queries");
    }

    #[test]
    fn text_that_turns_letters_around_is_escaped() {
        assert_eq!(plain("a\u{202e}b"), "a\\u{202e}b");
    }
}
