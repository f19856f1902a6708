//! The audit as text for people.

mod adjust;
mod checks;
mod comparison;
mod demo;
mod groups;
mod heading;
mod matrix;
mod paint;
mod pictures;
mod reproduction;
mod scoring;
mod training;
pub(crate) mod words;

pub use adjust::adjust_text;
pub use comparison::{comparison_text, frontier_text};
pub use demo::demo_text;
pub use reproduction::reproduction_text;
pub use scoring::scoring_text;
pub use training::training_text;
pub use words::plain;

use crate::advice::{Advice, FrontEnd};
use crate::report::{AuditReport, Role};
use crate::scale::Scale;
use paint::Paint;
use pairity::metrics::Metric;
use pictures::{WHISKER, axis, whisker};
use words::{count, fill, number, pad, pad_left, rate, shorten, with_interval};

/// The fewest columns that a report is written for.
const MIN_WIDTH: usize = 60;

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

/// The audit for reading.
///
/// ```
/// use pairity::examples::{Columns, Examples};
/// use pairity::metrics::{Audit, Settings};
/// use pairity_report::{AuditReport, FrontEnd, Look, Notes, audit_text};
///
/// let labels = [0.0, 0.0, 1.0, 1.0];
/// let examples = Examples::new(Columns { labels: Some(&labels), ..Columns::default() })?;
/// let audit = Audit::run(&examples, &[0.1, 0.4, 0.3, 0.8], &[], &Settings::default())?;
/// let look = Look { color: false, pictures: false, width: 80, front_end: FrontEnd::CommandLine };
/// let text = audit_text(&AuditReport { audit, notes: Notes::default() }, &look);
/// assert!(text.contains("auc  0.750"), "{text}");
/// # Ok::<(), pairity::examples::ExamplesError>(())
/// ```
pub fn audit_text(report: &AuditReport, look: &Look) -> String {
    let page = TextPage::new(report, look);
    joined([
        page.heading(),
        page.overall(),
        page.accuracy(),
        page.symmetric(),
        page.parity(),
        page.continuous(),
        page.gaps(),
        page.checks(),
    ])
}

/// Sections with a line between them; those that are empty are left out.
fn joined<const N: usize>(sections: [String; N]) -> String {
    sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
}

/// A report and how its text looks: what every section needs.
struct TextPage<'a, R> {
    report: &'a R,
    paint: Paint,
    pictures: bool,
    width: usize,
    front_end: FrontEnd,
}

impl<'a, R> TextPage<'a, R> {
    fn new(report: &'a R, look: &Look) -> TextPage<'a, R> {
        let &Look { color, pictures, width, front_end } = look;
        TextPage { report, paint: Paint(color), pictures, width: width.max(MIN_WIDTH), front_end }
    }

    /// A sentence on lines of its own.
    fn sentence(&self, words: &str) -> String {
        fill(words, 0, self.width) + "\n"
    }
}

impl TextPage<'_, AuditReport> {
    /// A section's title, and in plain words what it shows.
    fn title(&self, title: &str, explanation: &str) -> String {
        let words = fill(explanation, 0, self.width);
        let title = self.paint.title(title);
        if explanation.is_empty() {
            format!("{title}\n")
        } else {
            format!("{title}\n{}\n", self.paint.faint(&words))
        }
    }

    fn overall(&self) -> String {
        let audit = &self.report.audit;
        if !self.report.has_labels() {
            return self.sentence(&format!(
                "No labels, so only scores can be compared: {} for accuracies and the gaps made of them.",
                Advice::Labels.words(self.front_end)
            ));
        }
        let mut list = vec![ListEntry::of("auc", &audit.auc, "the better of two scores higher")];
        if let Some(mse) = self.report.shown_mse() {
            let value = with_interval(mse, |x| number(x, 4));
            list.push(ListEntry { value, unit: "rows", ..ListEntry::of("mse", mse, "mean squared error") });
        }
        self.title("Overall", "") + &self.list(&list)
    }

    fn continuous(&self) -> String {
        let Some((greater, less)) = &self.report.audit.continuous else { return String::new() };
        if !self.report.has_labels() {
            return String::new();
        }
        let z = self.report.column(Role::Protected).map_or("the protected attribute".to_owned(), plain);
        self.title("Accuracy by a continuous attribute", &format!("z is {z}"))
            + &self.pictured(&[
                ListEntry::of("A[z > z']", greater, "the better one has the higher z"),
                ListEntry::of("A[z < z']", less, "the better one has the lower z"),
            ])
    }

    fn gaps(&self) -> String {
        let audit = &self.report.audit;
        let continuous = audit.continuous.is_some();
        if audit.groups.is_empty() && !continuous {
            let advice = Advice::Groups.words(self.front_end);
            return self.sentence(&format!("No groups to compare: {advice}."));
        }
        if let [only] = audit.groups.as_slice() {
            return self.sentence(&format!("No gaps: {:?} is the only group.", shorten(only, 30)));
        }
        let list: Vec<ListEntry> = self
            .report
            .gaps_that_apply()
            .into_iter()
            .map(|(criterion, metric)| ListEntry::of(criterion.name(), metric, criterion.rates()))
            .collect();
        if list.is_empty() {
            return String::new();
        }
        self.title("Gaps", "the largest difference among rates that should be equal; 0 is perfectly equal")
            + &self.pictured(&list)
    }

    /// Metrics one below the other, with whiskers where there is room for them.
    fn pictured(&self, entries: &[ListEntry]) -> String {
        let ends = |entry: &ListEntry| [entry.metric.value, entry.metric.low, entry.metric.high];
        let scale = Scale::over(entries.iter().flat_map(ends).flatten().chain([0.0]));
        let numbers = ListWidths::of(entries).numbers;
        let fits = self.pictures && numbers + 2 + WHISKER <= self.width;
        if !fits || entries.iter().all(|entry| entry.metric.value.is_none()) {
            return self.list(entries);
        }
        let axis = format!("{}{}", " ".repeat(numbers + 2), axis(&scale));
        format!("{}\n{}", self.paint.faint(&axis), self.lines(entries, Some(&scale)))
    }

    /// Metrics one below the other, and below them why some can't be estimated.
    fn list(&self, entries: &[ListEntry]) -> String {
        self.lines(entries, None)
    }

    fn lines(&self, entries: &[ListEntry], scale: Option<&Scale>) -> String {
        let columns = ListWidths::of(entries);
        let mut out = String::new();
        for entry in entries {
            let (name, value) = (pad(&entry.name, columns.names), pad(&entry.value, columns.values));
            let line = match entry.metric.value {
                None => {
                    let indent = 2 + columns.names + 2;
                    let reason = entry.metric.reason.as_deref().unwrap_or("there is no value");
                    let words = fill(&format!("not estimable: {}", plain(reason)), indent, self.width);
                    format!("  {name}  {}", self.paint.unsure(&words))
                }
                Some(_) => {
                    let pairs = pad_left(&count(entry.metric.pairs), columns.counts);
                    let mut numbers = format!("  {name}  {value}  {pairs} {:5}", entry.unit);
                    if let Some(scale) = scale {
                        numbers = format!("{numbers}  {}", whisker(entry.metric, scale));
                    }
                    let room = self.width.saturating_sub(words::columns(&numbers) + 2);
                    let about = if words::columns(entry.about) <= room { entry.about } else { "" };
                    format!("{numbers}  {}", self.paint.faint(about))
                }
            };
            out += line.trim_end();
            out.push('\n');
            if let (Some(_), Some(reason)) = (entry.metric.value, &entry.metric.reason) {
                let indent = 2 + columns.names + 2;
                out += &format!("{}{}\n", " ".repeat(indent), fill(&plain(reason), indent, self.width));
            }
        }
        out
    }

    /// The reasons why some metrics have no value or no interval, each once.
    fn reasons<'m>(&self, metrics: impl Iterator<Item = &'m Metric>) -> String {
        const MOST: usize = 4;
        let mut reasons: Vec<&str> = Vec::new();
        for reason in metrics.filter_map(|metric| metric.reason.as_deref()) {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        let shown = if reasons.len() > MOST { 1 } else { MOST };
        let mut out = String::new();
        for reason in reasons.iter().take(shown) {
            out += &format!("  — {}\n", fill(&plain(reason), 4, self.width));
        }
        if reasons.len() > shown {
            let advice = Advice::AllValues.words(self.front_end);
            out += &format!("    and {} more like this; {advice}\n", reasons.len() - shown);
        }
        out
    }
}

/// A line of a list.
struct ListEntry<'a> {
    name: String,
    value: String,
    metric: &'a Metric,
    unit: &'static str,
    about: &'a str,
}

impl<'a> ListEntry<'a> {
    /// A rate of pairs.
    fn of(name: impl Into<String>, metric: &'a Metric, about: &'a str) -> ListEntry<'a> {
        ListEntry { name: name.into(), value: with_interval(metric, rate), metric, unit: "pairs", about }
    }
}

/// The widths of a list's columns, and of all of them together.
struct ListWidths {
    names: usize,
    values: usize,
    counts: usize,
    numbers: usize,
}

impl ListWidths {
    fn of(entries: &[ListEntry]) -> ListWidths {
        let size = |text: fn(&ListEntry) -> String| {
            entries.iter().map(|e| words::columns(&text(e))).max().unwrap_or(0)
        };
        let names = size(|e| e.name.clone());
        let values = size(|e| e.value.clone());
        let counts = size(|e| count(e.metric.pairs));
        ListWidths { names, values, counts, numbers: 2 + names + 2 + values + 2 + counts + 1 + 5 }
    }
}

#[cfg(test)]
mod tests;
