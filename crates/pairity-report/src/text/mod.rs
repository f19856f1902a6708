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

use crate::facts::about;
use crate::report::{Report, Role};
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
}

/// The audit for reading.
///
/// ```
/// use pairity::examples::{Columns, Examples};
/// use pairity::metrics::{Audit, Settings};
/// use pairity_report::{Look, Notes, Report, audit_text};
///
/// let labels = [0.0, 0.0, 1.0, 1.0];
/// let examples = Examples::new(Columns { labels: Some(&labels), ..Columns::default() })?;
/// let audit = Audit::run(&examples, &[0.1, 0.4, 0.3, 0.8], &[], &Settings::default())?;
/// let look = Look { color: false, pictures: false, width: 80 };
/// let text = audit_text(&Report { audit, notes: Notes::default() }, &look);
/// assert!(text.contains("auc  0.750"), "{text}");
/// # Ok::<(), pairity::examples::ExamplesError>(())
/// ```
pub fn audit_text(report: &Report, look: &Look) -> String {
    let page =
        Page { report, paint: Paint(look.color), pictures: look.pictures, width: look.width.max(MIN_WIDTH) };
    let sections = [
        page.heading(),
        page.overall(),
        page.accuracy(),
        page.symmetric(),
        page.parity(),
        page.continuous(),
        page.gaps(),
        page.checks(),
    ];
    sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
}

/// What every section needs.
struct Page<'a> {
    report: &'a Report,
    paint: Paint,
    pictures: bool,
    width: usize,
}

impl Page<'_> {
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
            let words = "No labels, so only scores can be compared: name the label column with --label for \
                         accuracies and the gaps made of them.";
            return fill(words, 0, self.width) + "\n";
        }
        let mut rows = vec![("auc", &audit.auc, "pairs")];
        // Scores that rank within queries are on no scale that labels could be compared with.
        if let (Some(mse), None) = (&audit.mse, audit.queries) {
            rows.push(("mse", mse, "rows"));
        }
        let list: Vec<Entry> = rows
            .into_iter()
            .map(|(name, metric, unit)| Entry {
                name: name.to_owned(),
                value: with_interval(metric, |x| if name == "mse" { number(x, 4) } else { rate(x) }),
                metric,
                unit,
                about: if name == "auc" { "the better of two scores higher" } else { "mean squared error" }
                    .to_owned(),
            })
            .collect();
        self.title("Overall", "") + &self.list(&list)
    }

    fn continuous(&self) -> String {
        let Some((greater, less)) = &self.report.audit.continuous else { return String::new() };
        if !self.report.has_labels() {
            return String::new();
        }
        let z = self.report.column(Role::Protected).map_or("the protected attribute".to_owned(), plain);
        let entry = |name: &str, metric, order| Entry {
            name: name.to_owned(),
            value: with_interval(metric, rate),
            metric,
            unit: "pairs",
            about: format!("the better one has {order} z"),
        };
        self.title("Accuracy by a continuous attribute", &format!("z is {z}"))
            + &self
                .pictured(&[entry("A[z > z']", greater, "the higher"), entry("A[z < z']", less, "the lower")])
    }

    fn gaps(&self) -> String {
        let audit = &self.report.audit;
        let continuous = audit.continuous.is_some();
        if audit.groups.is_empty() && !continuous {
            return fill("No groups to compare: name a column with --group or --protected.", 0, self.width)
                + "\n";
        }
        if let [only] = audit.groups.as_slice() {
            let words = format!("No gaps: {:?} is the only group.", shorten(only, 30));
            return fill(&words, 0, self.width) + "\n";
        }
        let list: Vec<Entry> = self
            .report
            .gaps_that_apply()
            .into_iter()
            .map(|(criterion, metric)| Entry {
                name: criterion.name().to_owned(),
                value: with_interval(metric, rate),
                metric,
                unit: "pairs",
                about: about(criterion).to_owned(),
            })
            .collect();
        if list.is_empty() {
            return String::new();
        }
        self.title("Gaps", "the largest difference among rates that should be equal; 0 is perfectly equal")
            + &self.pictured(&list)
    }

    /// Metrics one below the other, with whiskers where there is room for them.
    fn pictured(&self, entries: &[Entry]) -> String {
        let ends = |entry: &Entry| [entry.metric.value, entry.metric.low, entry.metric.high];
        let scale = Scale::over(entries.iter().flat_map(ends).flatten().chain([0.0]));
        let numbers = Columns::of(entries).numbers;
        let fits = self.pictures && numbers + 2 + WHISKER <= self.width;
        if !fits || entries.iter().all(|entry| entry.metric.value.is_none()) {
            return self.list(entries);
        }
        let axis = format!("{}{}", " ".repeat(numbers + 2), axis(&scale));
        format!("{}\n{}", self.paint.faint(&axis), self.lines(entries, Some(&scale)))
    }

    /// Metrics one below the other, and below them why some can't be estimated.
    fn list(&self, entries: &[Entry]) -> String {
        self.lines(entries, None)
    }

    fn lines(&self, entries: &[Entry], scale: Option<&Scale>) -> String {
        let columns = Columns::of(entries);
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
                    let about = if words::columns(&entry.about) <= room { entry.about.as_str() } else { "" };
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
            out += &format!("    and {} more like this; --format json has all\n", reasons.len() - shown);
        }
        out
    }
}

/// A line of a list.
struct Entry<'a> {
    name: String,
    value: String,
    metric: &'a Metric,
    unit: &'static str,
    about: String,
}

/// The widths of a list's columns, and of all of them together.
struct Columns {
    names: usize,
    values: usize,
    counts: usize,
    numbers: usize,
}

impl Columns {
    fn of(entries: &[Entry]) -> Columns {
        let size =
            |text: fn(&Entry) -> String| entries.iter().map(|e| words::columns(&text(e))).max().unwrap_or(0);
        let names = size(|e| e.name.clone());
        let values = size(|e| e.value.clone());
        let counts = size(|e| count(e.metric.pairs));
        Columns { names, values, counts, numbers: 2 + names + 2 + values + 2 + counts + 1 + 5 }
    }
}

#[cfg(test)]
mod tests;
