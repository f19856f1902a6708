//! Tables, each in a region of its own that scrolls where the page is narrow.

use super::markup::{Html, render};
use crate::scale::minus;
use crate::words::{count, fine, or_dash, rate, shorten};
use minijinja::context;
use minijinja::value::Serde;
use pairity::metrics::Metric;
use serde::Serialize;

/// Longer names are cut in their middle.
const LONGEST_NAME: usize = 60;

/// And longer ones are cut where a name is kept whole, so that no name can fill a page.
const LONGEST_WHOLE: usize = 400;

/// A reason, which may hold names, cut where it is very long.
pub(crate) fn short_reason(reason: &str) -> String {
    shorten(reason, LONGEST_WHOLE)
}

/// A name from a table, fit to be read: cut if it is very long, without anything that turns letters around.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Name {
    /// What is shown.
    text: String,
    /// All of it, where it was cut.
    whole: Option<String>,
}

impl Name {
    pub(crate) fn new(name: &str) -> Name {
        let text = shorten(name, LONGEST_NAME);
        let whole = Some(shorten(name, LONGEST_WHOLE)).filter(|whole| *whole != text);
        Name { text, whole }
    }
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct TableCell {
    kind: &'static str,
    text: String,
    whole: Option<String>,
    /// Smaller, below.
    notes: Vec<String>,
    badge: Option<Html>,
}

impl TableCell {
    fn new(kind: &'static str, text: String) -> TableCell {
        TableCell { kind, text, whole: None, notes: Vec::new(), badge: None }
    }

    /// What the row is about; the first cell of each row.
    pub(crate) fn name(name: &str) -> TableCell {
        let Name { text, whole } = Name::new(name);
        TableCell { whole, ..TableCell::new("name", text) }
    }

    /// Words.
    pub(crate) fn text(text: impl Into<String>) -> TableCell {
        TableCell::new("text", text.into())
    }

    /// A number that was written already.
    pub(crate) fn number(text: impl AsRef<str>) -> TableCell {
        TableCell::new("number", minus(text.as_ref()))
    }

    /// A whole number.
    pub(crate) fn count(number: u64) -> TableCell {
        TableCell::number(count(number))
    }

    /// A rate with its interval below.
    pub(crate) fn rate(metric: &Metric) -> TableCell {
        TableCell::metric(metric, rate)
    }

    /// A number with its interval below.
    pub(crate) fn metric(metric: &Metric, write: fn(f64) -> String) -> TableCell {
        let mut cell = TableCell::number(or_dash(metric.value, write));
        cell.notes.extend(interval(metric, write));
        cell
    }

    /// The same of a metric that may be absent.
    pub(crate) fn known(metric: Option<&Metric>, write: fn(f64) -> String) -> TableCell {
        metric.map_or(TableCell::number("—"), |metric| TableCell::metric(metric, write))
    }

    /// The same with a badge below it all.
    pub(crate) fn with_badge(mut self, badge: Html) -> TableCell {
        self.badge = Some(badge);
        self
    }

    /// The same with a smaller line below where that applies.
    pub(crate) fn with_note_if(self, applies: bool, note: &str) -> TableCell {
        if applies { self.with_note(note) } else { self }
    }

    /// The same with a smaller line below.
    pub(crate) fn with_note(mut self, note: impl Into<String>) -> TableCell {
        self.notes.push(note.into());
        self
    }
}

/// The interval of a metric in words, where it has a value.
pub(crate) fn interval(metric: &Metric, write: impl Fn(f64) -> String) -> Option<String> {
    metric.value?;
    Some(match (metric.low, metric.high) {
        (Some(low), Some(high)) => minus(&format!("{} to {}", write(low), write(high))),
        _ => "no interval".to_owned(),
    })
}

/// A value and its interval in a sentence, with other words where there is no value.
pub(crate) fn with_interval(metric: &Metric, missing: &str) -> String {
    let value = metric.value.map_or(missing.to_owned(), |x| minus(&fine(x)));
    match interval(metric, fine) {
        Some(interval) => format!("{value} ({interval})"),
        None => value,
    }
}

/// A table whose first column names the rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct HtmlTable {
    caption: String,
    /// Whether the caption is for screen readers only.
    quiet: bool,
    /// Titles, and which columns hold numbers.
    columns: Vec<(String, bool)>,
    rows: Vec<Vec<TableCell>>,
}

impl HtmlTable {
    /// Columns that start with `#` hold numbers.
    pub(crate) fn new(caption: impl Into<String>, columns: &[&str]) -> HtmlTable {
        let column = |title: &&str| match title.strip_prefix('#') {
            Some(title) => (title.to_owned(), true),
            None => ((*title).to_owned(), false),
        };
        let columns = columns.iter().map(column).collect();
        HtmlTable { caption: caption.into(), quiet: false, columns, rows: Vec::new() }
    }

    /// The same with its caption for screen readers only, where a heading says as much.
    pub(crate) fn quiet(mut self) -> HtmlTable {
        self.quiet = true;
        self
    }

    /// One more column of numbers.
    pub(crate) fn add_column(&mut self, title: String) {
        self.columns.push((title, true));
    }

    /// A row of a name and other cells.
    pub(crate) fn row(&mut self, name: TableCell, cells: impl IntoIterator<Item = TableCell>) {
        self.rows.push([name].into_iter().chain(cells).collect());
    }

    pub(crate) fn html(&self) -> Html {
        render("table.html", Serde(self))
    }

    /// The table behind a line that opens it.
    pub(crate) fn behind(&self, summary: &str) -> Html {
        render("details.html", context! { summary, body => self.html() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_cell_holds_is_escaped() {
        let nasty = "</td><script>alert('x')</script>&\"";
        let mut table = HtmlTable::new(nasty, &[nasty, "#n"]);
        table.row(TableCell::name(nasty), [TableCell::text(nasty).with_note(nasty)]);
        table.add_column(nasty.to_owned());
        let html = table.behind(nasty).into_text();
        assert!(!html.contains("<script") && !html.contains("alert('"), "{html}");
        assert_eq!(html.matches("&lt;script&gt;").count(), 8, "{html}");
    }

    #[test]
    fn long_names_are_cut_and_kept_whole_beside() {
        let name = Name::new(&"ab".repeat(100));
        assert!(name.text.chars().count() <= LONGEST_NAME);
        assert_eq!(name.whole, Some("ab".repeat(100)));
        assert_eq!(Name::new("short").whole, None);
        assert!(
            Name::new(&"ab".repeat(100_000))
                .whole
                .is_some_and(|whole| whole.chars().count() <= LONGEST_WHOLE)
        );
    }
}
