//! What was read and how it was measured, in words that text and pages share.

use crate::report::{Report, Role};
use crate::text::words::{many, plain};
use pairity::goals::{Criterion, Sense};
use pairity::metrics::{Check, Metric, Verdict};
use pairity::rates::{Average, Ties};

/// More file names than this are counted rather than listed.
const MAX_NAMES: usize = 3;

impl Report {
    /// What was audited: "Audit of people.csv".
    pub(crate) fn title(&self) -> String {
        let tables = &self.notes.tables;
        let names: Vec<String> = tables.iter().take(MAX_NAMES).map(|name| plain(name)).collect();
        let more = match tables.len() {
            0..=MAX_NAMES => String::new(),
            all => format!(" and {} more files", all - MAX_NAMES),
        };
        if names.is_empty() { "Audit".to_owned() } else { format!("Audit of {}{more}", names.join(", ")) }
    }

    /// How much was read, and which columns are used as what.
    pub(crate) fn read(&self) -> Vec<String> {
        let (audit, notes) = (&self.audit, &self.notes);
        let mut read = vec![many(audit.rows, "row")];
        read.extend(audit.queries.map(|queries| many(queries, "query")));
        read.extend((!audit.groups.is_empty()).then(|| many(audit.groups.len(), "group")));
        let groups = notes.columns.iter().filter(|(role, _)| *role == Role::Group);
        let groups: Vec<String> = groups.map(|(_, name)| format!("{:?}", plain(name))).collect();
        let mut grouped = false;
        for (role, name) in &notes.columns {
            match (role, name.as_str()) {
                (Role::PairWeight, "label-gap") => read.push("pairs weighted by label-gap".to_owned()),
                (Role::Group, _) if std::mem::replace(&mut grouped, true) => {}
                (Role::Group, _) => read.push(format!("group {}", groups.join(" & "))),
                (role, name) => read.push(format!("{} {:?}", role.words(), plain(name))),
            }
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

    /// The confidence in percent, with its sign.
    pub(crate) fn confidence(&self) -> String {
        format!("{}%", (self.audit.settings.confidence * 100.0 * 1e6).round() / 1e6)
    }

    /// Why rows were left out, where some were: "score missing in 3".
    pub(crate) fn missing(&self) -> Vec<String> {
        let some = self.notes.missing.iter().filter(|missing| missing.rows > 0);
        some.map(|missing| format!("{} missing in {}", missing.role.words(), missing.rows)).collect()
    }

    /// The ids of rows left out, as far as they are known.
    pub(crate) fn dropped_ids(&self) -> Option<String> {
        let ids: Vec<String> = self.notes.dropped_ids.iter().map(|id| plain(id)).collect();
        let more = if ids.len() < self.notes.rows_dropped { ", …" } else { "" };
        (!ids.is_empty()).then(|| format!("{}{more}", ids.join(", ")))
    }

    /// Why a check has its verdict.
    pub(crate) fn why(&self, check: &Check) -> String {
        let bound = check.bound;
        let (within, beyond) = match check.sense {
            Sense::AtMost => ("at most", "above"),
            Sense::AtLeast => ("at least", "below"),
        };
        match check.verdict {
            Verdict::Pass => format!("all of the interval is {within} {bound}"),
            Verdict::Fail => format!("all of the interval is {beyond} {bound}"),
            Verdict::Undecided => {
                format!("{bound} is inside the interval, so these data can't tell; more would")
            }
            Verdict::NotEstimable => {
                let hint = if self.has_labels() { "" } else { "; name the label column with --label" };
                let reason = plain(check.metric.reason.as_deref().unwrap_or("there is no value"));
                format!("{reason}{hint}")
            }
        }
    }

    /// The gaps that these data can have, in the order in which they are documented.
    pub(crate) fn gaps_that_apply(&self) -> Vec<(Criterion, &Metric)> {
        if self.audit.groups.len() < 2 && self.audit.continuous.is_none() {
            return Vec::new();
        }
        let applies = |criterion: Criterion| {
            let kind = (criterion == Criterion::Continuous) == self.audit.continuous.is_some();
            kind && (self.has_labels() || criterion == Criterion::StatisticalParity)
        };
        self.gaps().into_iter().filter(|(criterion, _)| applies(*criterion)).collect()
    }

    /// The cell of the lowest accuracy, unless all are equal.
    pub(crate) fn worst_cell(&self) -> Option<(usize, usize)> {
        worst_cell(&self.audit.accuracy)
    }
}

/// The cell of the lowest value, unless all are equal.
pub(crate) fn worst_cell(cells: &[Vec<Metric>]) -> Option<(usize, usize)> {
    let values = || {
        let row = |(r, row): (usize, &Vec<Metric>)| {
            row.iter().enumerate().filter_map(move |(c, m)| Some(((r, c), m.value?))).collect::<Vec<_>>()
        };
        cells.iter().enumerate().flat_map(row)
    };
    let (place, low) = values().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    values().any(|(_, value)| value > low).then_some(place)
}

/// The rates that a criterion wants equal.
pub(crate) fn about(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::CrossGroup => "A[i > j], i ≠ j",
        Criterion::WithinGroup => "A[i > i]",
        Criterion::Marginal => "A[i > anyone]",
        Criterion::EqualOpportunity => "all A[i > j]",
        Criterion::StatisticalParity => "P[i > j]",
        Criterion::Symmetric => "S[i]",
        Criterion::Continuous => "A[z > z'] and A[z < z']",
    }
}
