//! Tables, each in a region of its own that scrolls where the page is narrow.

use super::markup::{Html, render};
use crate::scale::minus;
use crate::text::words::{count, rate, shorten};
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
pub(crate) struct Cell {
    kind: &'static str,
    text: String,
    whole: Option<String>,
    /// Smaller, below.
    notes: Vec<String>,
    html: Option<Html>,
    badge: Option<Html>,
}

impl Cell {
    fn new(kind: &'static str, text: String) -> Cell {
        Cell { kind, text, whole: None, notes: Vec::new(), html: None, badge: None }
    }

    /// What the row is about; the first cell of each row.
    pub(crate) fn name(name: &str) -> Cell {
        let Name { text, whole } = Name::new(name);
        Cell { whole, ..Cell::new("name", text) }
    }

    /// Words.
    pub(crate) fn text(text: impl Into<String>) -> Cell {
        Cell::new("text", text.into())
    }

    /// A number that was written already.
    pub(crate) fn number(text: impl AsRef<str>) -> Cell {
        Cell::new("number", minus(text.as_ref()))
    }

    /// A whole number.
    pub(crate) fn count(number: u64) -> Cell {
        Cell::number(count(number))
    }

    /// A rate with its interval below.
    pub(crate) fn rate(metric: &Metric) -> Cell {
        Cell::metric(metric, rate)
    }

    /// A number with its interval below.
    pub(crate) fn metric(metric: &Metric, write: fn(f64) -> String) -> Cell {
        let mut cell = Cell::number(metric.value.map_or("—".to_owned(), write));
        cell.notes.extend(interval(metric, write));
        cell
    }

    /// The same with a badge below it all.
    pub(crate) fn with_badge(mut self, badge: Html) -> Cell {
        self.badge = Some(badge);
        self
    }

    /// Markup.
    pub(crate) fn markup(html: Html) -> Cell {
        Cell { html: Some(html), ..Cell::new("markup", String::new()) }
    }

    /// The same with a smaller line below.
    pub(crate) fn with_note(mut self, note: impl Into<String>) -> Cell {
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

/// A column's title, and whether it holds numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Column {
    title: String,
    numeric: bool,
}

/// A table whose first column names the rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Table {
    caption: String,
    /// Whether the caption is for screen readers only.
    quiet: bool,
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Columns that start with `#` hold numbers.
    pub(crate) fn new(caption: impl Into<String>, columns: &[&str]) -> Table {
        let column = |title: &&str| match title.strip_prefix('#') {
            Some(title) => Column { title: title.to_owned(), numeric: true },
            None => Column { title: (*title).to_owned(), numeric: false },
        };
        Table {
            caption: caption.into(),
            quiet: false,
            columns: columns.iter().map(column).collect(),
            rows: Vec::new(),
        }
    }

    /// The same with its caption for screen readers only, where a heading says as much.
    pub(crate) fn quiet(mut self) -> Table {
        self.quiet = true;
        self
    }

    /// One more column of numbers.
    pub(crate) fn add_column(&mut self, title: String) {
        self.columns.push(Column { title, numeric: true });
    }

    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        self.rows.push(row);
    }

    pub(crate) fn html(&self) -> Html {
        render("table.html", self)
    }

    /// The table behind a line that opens it.
    pub(crate) fn behind(&self, summary: &str) -> Html {
        #[derive(Serialize)]
        struct Details<'a> {
            summary: &'a str,
            body: Html,
        }
        render("details.html", &Details { summary, body: self.html() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_cell_holds_is_escaped() {
        let nasty = "</td><script>alert('x')</script>&\"";
        let mut table = Table::new(nasty, &[nasty, "#n"]);
        table.push(vec![Cell::name(nasty), Cell::text(nasty).with_note(nasty)]);
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
