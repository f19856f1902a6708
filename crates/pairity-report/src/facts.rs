//! What was read, how it was measured and what stands out, in words and orders that text and pages share.

use crate::outcome::file_names;
use crate::report::{AuditReport, Role};
use crate::words::{Advice, FrontEnd, many, plain};
use pairity::goals::{Criterion, Sense};
use pairity::metrics::{Audit, Check, Metric, Verdict};
use pairity::rates::{Average, Ties};

impl Role {
    /// The role in words.
    pub(crate) fn words(self) -> String {
        self.name().replace('_', " ")
    }
}

impl AuditReport {
    /// What was audited: "Audit of people.csv".
    pub(crate) fn title(&self) -> String {
        let tables = &self.notes.tables;
        let what = if self.audit.estimate.is_some() { "Estimated audit" } else { "Audit" };
        if tables.is_empty() { what.to_owned() } else { format!("{what} of {}", file_names(tables)) }
    }

    /// That it is an estimate, if it is one.
    pub(crate) fn estimate(&self) -> Option<String> {
        let share = 100.0 * self.audit.estimate?.share();
        // Two digits that are not 0.
        let digits = (1.0 - share.log10().floor()).clamp(0.0, 12.0) as usize;
        Some(format!(
            "an estimate from {share:.digits$}% of the pairs, chosen at random; intervals include that"
        ))
    }

    /// The column used as something.
    pub(crate) fn column(&self, role: Role) -> Option<&str> {
        self.notes.columns.iter().find(|(own, _)| *own == role).map(|(_, name)| name.as_str())
    }

    /// How much was read, and which columns are used as what.
    pub(crate) fn read(&self) -> Vec<String> {
        let (audit, notes) = (&self.audit, &self.notes);
        let mut read = vec![many(audit.rows, "row")];
        read.extend(audit.queries.map(|queries| many(queries, "query")));
        read.extend((!audit.groups.is_empty()).then(|| many(audit.groups.len(), "group")));
        for columns in notes.columns.chunk_by(|a, b| a.0 == b.0) {
            let (role, name) = &columns[0];
            let names: Vec<String> = columns.iter().map(|(_, name)| format!("{:?}", plain(name))).collect();
            read.push(match (role, name.as_str()) {
                (Role::PairWeight, "label-gap") => "pairs weighted by label-gap".to_owned(),
                (Role::Higher | Role::Lower, name) => {
                    format!("{} {}", role.words(), plain(&role.column(name)))
                }
                (Role::Within, _) => format!("pairs within {}", names.join(" & ")),
                _ => format!("{} {}", role.words(), names.join(" & ")),
            });
        }
        read
    }

    /// What counts alike, and what ties count.
    pub(crate) fn how(&self) -> [&'static str; 2] {
        let average = match self.audit.settings.average {
            Average::Pairs => "every pair counts alike",
            Average::Queries => "every query counts alike",
        };
        let ties = match self.audit.settings.ties {
            Ties::Half => "equal scores count half",
            Ties::Strict => "equal scores count as wrong",
        };
        [average, ties]
    }

    /// Rows left out because their weight is 0.
    pub fn rows_of_no_weight(&self) -> usize {
        self.notes.rows_read.saturating_sub(self.notes.rows_dropped + self.audit.rows)
    }

    /// Why rows were left out, where some were: "score missing in 3".
    pub(crate) fn missing(&self) -> String {
        let some = self.notes.missing.iter().filter(|missing| missing.rows > 0);
        let words = some.map(|missing| format!("{} missing in {}", missing.role.words(), missing.rows));
        words.collect::<Vec<_>>().join(", ")
    }

    /// The ids of rows left out, as far as they are known.
    pub(crate) fn dropped_ids(&self) -> Option<String> {
        let ids: Vec<String> = self.notes.dropped_ids.iter().map(|id| plain(id)).collect();
        let more = if ids.len() < self.notes.rows_dropped { ", …" } else { "" };
        (!ids.is_empty()).then(|| format!("{}{more}", ids.join(", ")))
    }

    /// Why a check has its verdict.
    pub(crate) fn why(&self, check: &Check, front_end: FrontEnd) -> String {
        let bound = check.bound;
        let (within, beyond) = match check.sense {
            Sense::AtMost => ("at most", "above"),
            Sense::AtLeast => ("at least", "below"),
        };
        let why = match check.verdict {
            Verdict::Pass => format!("all of the interval is {within} {bound}"),
            Verdict::Fail => format!("all of the interval is {beyond} {bound}"),
            Verdict::Undecided => {
                format!("{bound} is inside the interval, so these data can't tell; more would")
            }
            Verdict::NotEstimable => {
                let reason = plain(check.metric.reason.as_deref().unwrap_or("there is no value"));
                match has_labels(&self.audit) {
                    true => reason,
                    false => format!("{reason}; {}", Advice::LABELS.words(front_end)),
                }
            }
        };
        let why = if self.audit.estimate.is_some() { format!("an estimate: {why}") } else { why };
        check.metric.few.iter().fold(why, |why, few| format!("{why}; {}", plain(few)))
    }
}

/// What the intervals of several checks are.
pub(crate) fn joint_checks(audit: &Audit) -> Option<String> {
    let [first, _, ..] = audit.checks.as_slice() else { return None };
    // Rounded down, so that no more is said than is so.
    let (each, all) = ((first.confidence * 1e4).floor() / 1e4, percent(audit.settings.confidence));
    let each = percent(each);
    Some(format!("intervals of {each} each, so that all {} hold together with {all}", audit.checks.len()))
}

/// A confidence in percent, with its sign.
pub(crate) fn percent(confidence: f64) -> String {
    format!("{}%", (confidence * 100.0 * 1e6).round() / 1e6)
}

/// Whether accuracies could be measured.
pub(crate) fn has_labels(audit: &Audit) -> bool {
    audit.has_labels
}

/// The mean squared error, where scores are to be the labels. Those that rank within queries are not.
pub(crate) fn shown_mse(audit: &Audit) -> Option<&Metric> {
    audit.mse.as_ref().filter(|_| audit.queries.is_none())
}

/// The gaps in the order in which they are documented.
pub(crate) fn gaps(audit: &Audit) -> impl Iterator<Item = (Criterion, &Metric)> {
    Criterion::documented().into_iter().filter_map(|criterion| Some((criterion, gap(audit, criterion)?)))
}

/// The gap of a criterion.
pub(crate) fn gap(audit: &Audit, criterion: Criterion) -> Option<&Metric> {
    audit.gaps.iter().find(|(own, _)| *own == criterion).map(|(_, metric)| metric)
}

/// The gaps that these data can have, in the order in which they are documented.
pub(crate) fn gaps_that_apply(audit: &Audit) -> Vec<(Criterion, &Metric)> {
    if audit.groups.len() < 2 && audit.continuous.is_none() {
        return Vec::new();
    }
    let applies = |criterion: Criterion| {
        let kind = criterion.is_continuous() == audit.continuous.is_some();
        kind && (has_labels(audit) || !criterion.needs_labels())
    };
    gaps(audit).filter(|(criterion, _)| applies(*criterion)).collect()
}

/// Metrics by row and column; what is absent is blank.
pub(crate) type Matrix<'a> = Vec<Vec<Option<&'a Metric>>>;

/// The accuracies between groups.
pub(crate) fn accuracies(audit: &Audit) -> Matrix<'_> {
    audit.accuracy.iter().map(|row| row.iter().map(Some).collect()).collect()
}

/// The same with those of each group against anyone in a last row and column.
pub(crate) fn with_marginals(audit: &Audit) -> Matrix<'_> {
    let rows = audit.accuracy.iter().zip(&audit.row_marginals);
    let last = audit.column_marginals.iter().chain([&audit.auc]).map(Some).collect();
    rows.map(|(row, marginal)| row.iter().chain([marginal]).map(Some).collect()).chain([last]).collect()
}

/// How often one group scores above another.
pub(crate) fn parities(audit: &Audit) -> Matrix<'_> {
    audit.parity.iter().map(|row| row.iter().map(Option::as_ref).collect()).collect()
}

/// A cell that has a value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'a> {
    /// Row and column.
    pub(crate) place: (usize, usize),
    pub(crate) value: f64,
    pub(crate) metric: &'a Metric,
}

/// The cells that have a value, from the lowest to the highest; equal ones row by row.
pub(crate) fn by_value<'a>(matrix: &Matrix<'a>) -> Vec<Known<'a>> {
    let mut known = Vec::new();
    for (r, row) in matrix.iter().enumerate() {
        for (c, metric) in row.iter().enumerate() {
            if let Some((metric, value)) = metric.and_then(|metric| Some((metric, metric.value?))) {
                known.push(Known { place: (r, c), value, metric });
            }
        }
    }
    known.sort_by(|a, b| a.value.total_cmp(&b.value));
    known
}

/// The cell of the lowest accuracy, unless all are equal.
pub(crate) fn worst_cell(audit: &Audit) -> Option<Known<'_>> {
    let known = by_value(&accuracies(audit));
    known.first().copied().filter(|worst| known.iter().any(|cell| cell.value > worst.value))
}
