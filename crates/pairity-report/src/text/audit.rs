//! An audit as text: what was read, lists of metrics, gaps and checks.

use super::matrix::{WHISKER, axis, whisker};
use super::{BAD, FAINT, GOOD, Look, TITLE, TextPage, UNSURE, joined};
use crate::facts::{gaps_that_apply, has_labels, joint_checks, percent, shown_mse};
use crate::report::{AuditReport, Role};
use crate::scale::{Scale, ends};
use crate::words::{
    Advice, columns, count, fill, fine, flow, many, pad, pad_left, plain, rate, shorten, with_interval,
};
use pairity::metrics::{Metric, Verdict};

/// Columns of the verdicts.
const VERDICT: usize = 15;

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
        page.continuous_parity(),
        page.gaps(),
        page.checks(),
    ])
}

impl TextPage<'_, AuditReport> {
    /// What was read and how it was measured.
    fn heading(&self) -> String {
        let [average, ties] = self.report.how();
        let confidence = percent(self.report.audit.settings.confidence);
        let intervals = format!("{confidence} confidence intervals in [ ]");
        let mut how = vec![average.to_owned(), ties.to_owned(), intervals];
        how.extend(self.report.estimate());
        let mut text = self.paint(TITLE, &self.report.title());
        for pieces in [self.report.read(), how, self.left_out()] {
            if !pieces.is_empty() {
                text += &format!("\n{}", flow(&pieces, self.look.width));
            }
        }
        text + "\n"
    }

    fn left_out(&self) -> Vec<String> {
        let (audit, notes) = (&self.report.audit, &self.report.notes);
        let mut out = Vec::new();
        out.extend(notes.filter.as_ref().map(|filter| format!("only rows where {}", plain(filter))));
        if !notes.groups_left_out.is_empty() {
            out.push(format!("groups not compared: {}", plain(&notes.groups_left_out.join(", "))));
        }
        if notes.rows_dropped > 0 {
            let why = self.report.missing();
            out.push(format!("{} of {} rows left out: {why}", notes.rows_dropped, notes.rows_read));
            out.extend(self.report.dropped_ids().map(|ids| format!("left out: {ids}")));
        }
        if self.report.rows_of_no_weight() > 0 {
            out.push(format!("{} of weight 0 left out", many(self.report.rows_of_no_weight(), "row")));
        }
        if audit.without_attribute > 0 {
            let rows = many(audit.without_attribute, "row");
            if audit.continuous.is_some() {
                out.push(format!("{rows} without the protected attribute"));
            } else if !audit.groups.is_empty() {
                out.push(format!("{rows} of no group, part of \"anyone\" only"));
            }
        }
        out
    }

    fn overall(&self) -> String {
        let audit = &self.report.audit;
        if !has_labels(audit) {
            let advice = Advice::LABELS.words(self.look.front_end);
            let words = "No labels, so only scores can be compared";
            return self.sentence(&format!("{words}: {advice} for accuracies and the gaps made of them."), 0);
        }
        let mut list = vec![ListEntry::of("auc", &audit.auc, "the better of two scores higher")];
        if let Some(mse) = shown_mse(audit) {
            let value = with_interval(mse, fine);
            list.push(ListEntry { value, unit: "rows", ..ListEntry::of("mse", mse, "mean squared error") });
        }
        self.title("Overall", "") + &self.list(&list)
    }

    fn continuous(&self) -> String {
        let audit = &self.report.audit;
        let Some(rates) = audit.continuous.as_ref().filter(|_| has_labels(audit)) else {
            return String::new();
        };
        self.title("Accuracy by a continuous attribute", &format!("z is {}", self.attribute()))
            + &self.pictured(&[
                ListEntry::of("A[z > z']", &rates.greater, "the better one has the higher z"),
                ListEntry::of("A[z < z']", &rates.less, "the better one has the lower z"),
            ])
    }

    fn continuous_parity(&self) -> String {
        let Some(rates) = &self.report.audit.continuous else { return String::new() };
        let about = format!("z is {}; whatever the labels; 0.5 is parity", self.attribute());
        self.title("Parity by a continuous attribute", &about)
            + &self.pictured(&[
                ListEntry::of("P[z > z']", &rates.parity_greater, "the one with the higher z scores higher"),
                ListEntry::of("P[z < z']", &rates.parity_less, "the one with the lower z scores higher"),
            ])
    }

    /// What the protected attribute is called.
    fn attribute(&self) -> String {
        self.report.column(Role::Protected).map_or("the protected attribute".to_owned(), plain)
    }

    fn gaps(&self) -> String {
        let audit = &self.report.audit;
        if audit.groups.is_empty() && audit.continuous.is_none() {
            let advice = Advice::GROUPS.words(self.look.front_end);
            return self.sentence(&format!("No groups to compare: {advice}."), 0);
        }
        if let [only] = audit.groups.as_slice() {
            return self.sentence(&format!("No gaps: {:?} is the only group.", shorten(only, 30)), 0);
        }
        let gaps = gaps_that_apply(audit).into_iter();
        let list: Vec<ListEntry> =
            gaps.map(|(gap, metric)| ListEntry::of(gap.name(), metric, gap.rates())).collect();
        if list.is_empty() {
            return String::new();
        }
        self.title("Gaps", "the largest difference among rates that should be equal; 0 is perfectly equal")
            + &self.pictured(&list)
    }

    /// The checks, each with its verdict and why.
    fn checks(&self) -> String {
        let checks = &self.report.audit.checks;
        if checks.is_empty() {
            return String::new();
        }
        let mut text = self.title("Checks", &joint_checks(&self.report.audit).unwrap_or_default());
        for check in checks {
            let (word, color) = match check.verdict {
                Verdict::Pass => ("pass", GOOD),
                Verdict::Fail => ("FAIL", BAD),
                Verdict::Undecided => ("undecided", UNSURE),
                Verdict::NotEstimable => ("not estimable", UNSURE),
            };
            text += &format!("  {}{}\n", self.paint(color, &pad(word, VERDICT)), plain(&check.expression));
            let mut why = self.report.why(check, self.look.front_end);
            if check.metric.value.is_some() {
                why = format!("{}: {why}", with_interval(&check.metric, fine));
            }
            text += &(" ".repeat(2 + VERDICT) + &self.sentence(&why, 2 + VERDICT));
        }
        text
    }

    /// Metrics one below the other, with whiskers where there is room for them.
    fn pictured(&self, entries: &[ListEntry]) -> String {
        let numbers = 12 + widths(entries).iter().sum::<usize>();
        let fits = self.look.pictures && numbers + 2 + WHISKER <= self.look.width;
        if !fits || entries.iter().all(|entry| entry.metric.value.is_none()) {
            return self.list(entries);
        }
        let scale = Scale::over(entries.iter().flat_map(|entry| ends(entry.metric)).chain([0.0]));
        let axis = format!("{}{}", " ".repeat(numbers + 2), axis(&scale));
        format!("{}\n{}", self.paint(FAINT, &axis), self.lines(entries, Some(&scale)))
    }

    /// Metrics one below the other, and below them why some can't be estimated.
    pub(super) fn list(&self, entries: &[ListEntry]) -> String {
        self.lines(entries, None)
    }

    fn lines(&self, entries: &[ListEntry], scale: Option<&Scale>) -> String {
        let [names, values, counts] = widths(entries);
        let indent = 2 + names + 2;
        let mut out = String::new();
        for ListEntry { name, value, metric, unit, about } in entries {
            let (name, reason) = (pad(name, names), metric.reason.as_deref());
            if metric.value.is_none() {
                let words = format!("not estimable: {}", plain(reason.unwrap_or("there is no value")));
                let words = self.paint(UNSURE, &fill(&words, indent, self.look.width));
                out += &format!("  {name}  {words}\n");
                continue;
            }
            let (value, pairs) = (pad(value, values), pad_left(&count(metric.pairs), counts));
            let mut line = format!("  {name}  {value}  {pairs} {unit:5}");
            if let Some(scale) = scale {
                line += &format!("  {}", whisker(metric, scale));
            }
            if columns(&line) + 2 + columns(about) <= self.look.width {
                line += &format!("  {}", self.paint(FAINT, about));
            }
            out += &format!("{}\n", line.trim_end());
            for words in [reason, metric.few.as_deref()].into_iter().flatten() {
                out += &(" ".repeat(indent) + &self.sentence(&plain(words), indent));
            }
        }
        out
    }

    /// The reasons why some metrics have no value or no interval, each once.
    pub(super) fn reasons<'m>(&self, metrics: impl Iterator<Item = &'m Metric>) -> String {
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
            out += &format!("  — {}", self.sentence(&plain(reason), 4));
        }
        if reasons.len() > shown {
            let advice = Advice::ALL_VALUES.words(self.look.front_end);
            out += &format!("    and {} more like this; {advice}\n", reasons.len() - shown);
        }
        out
    }
}

/// A line of a list.
pub(super) struct ListEntry<'a> {
    name: String,
    value: String,
    metric: &'a Metric,
    unit: &'static str,
    about: &'a str,
}

impl<'a> ListEntry<'a> {
    /// A rate of pairs.
    pub(super) fn of(name: impl Into<String>, metric: &'a Metric, about: &'a str) -> ListEntry<'a> {
        ListEntry { name: name.into(), value: with_interval(metric, rate), metric, unit: "pairs", about }
    }
}

/// The widths of a list's names, values and numbers of pairs.
fn widths(entries: &[ListEntry]) -> [usize; 3] {
    let widest = |size: fn(&ListEntry) -> usize| entries.iter().map(size).max().unwrap_or(0);
    [widest(|e| columns(&e.name)), widest(|e| columns(&e.value)), widest(|e| columns(&count(e.metric.pairs)))]
}
