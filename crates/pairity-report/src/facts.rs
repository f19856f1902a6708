//! What was read and how it was measured, in words that text and pages share.

use crate::advice::{Advice, FrontEnd};
use crate::outcome::file_names;
use crate::report::{AuditReport, Role};
use crate::text::words::{many, plain};
use pairity::goals::{Criterion, Sense};
use pairity::metrics::{Audit, Check, Metric, Verdict};
use pairity::rates::{Average, Rate, Ties};

impl AuditReport {
    /// What was audited: "Audit of people.csv".
    pub(crate) fn title(&self) -> String {
        let tables = &self.notes.tables;
        if tables.is_empty() { "Audit".to_owned() } else { format!("Audit of {}", file_names(tables)) }
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
    pub(crate) fn why(&self, check: &Check, front_end: FrontEnd) -> String {
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
                let reason = plain(check.metric.reason.as_deref().unwrap_or("there is no value"));
                match self.has_labels() {
                    true => reason,
                    false => format!("{reason}; {}", Advice::Labels.words(front_end)),
                }
            }
        }
    }

    /// The gaps that these data can have, in the order in which they are documented.
    pub(crate) fn gaps_that_apply(&self) -> Vec<(Criterion, &Metric)> {
        if self.audit.groups.len() < 2 && self.audit.continuous.is_none() {
            return Vec::new();
        }
        let applies = |criterion: Criterion| {
            let kind = criterion.is_continuous() == self.audit.continuous.is_some();
            kind && (self.has_labels() || !criterion.needs_labels())
        };
        self.gaps().into_iter().filter(|(criterion, _)| applies(*criterion)).collect()
    }

    /// The accuracies between groups.
    pub(crate) fn accuracies(&self) -> Vec<(Rate, &Metric)> {
        let cells = self.audit.accuracy.iter().enumerate();
        let cells = cells.flat_map(|(i, row)| row.iter().enumerate().map(move |(j, cell)| (i, j, cell)));
        cells.map(|(better, worse, metric)| (Rate::accuracy(better, worse), metric)).collect()
    }

    /// How often one group scores above another.
    pub(crate) fn parities(&self) -> Vec<(Rate, &Metric)> {
        let cells = self.audit.parity.iter().enumerate();
        let cells = cells.flat_map(|(i, row)| row.iter().enumerate().map(move |(j, cell)| (i, j, cell)));
        cells
            .filter_map(|(first, second, metric)| Some((Rate::Parity { first, second }, metric.as_ref()?)))
            .collect()
    }

    /// The cell of the lowest accuracy, unless all are equal.
    pub(crate) fn worst_cell(&self) -> Option<(usize, usize)> {
        worst_cell(&self.audit.accuracy)
    }
}

/// The accuracies between groups, with those of each group against anyone in a last row and column.
pub(crate) fn with_marginals(audit: &Audit) -> Vec<Vec<Option<&Metric>>> {
    let rows = audit.accuracy.iter().zip(&audit.row_marginals);
    let last = audit.column_marginals.iter().chain([&audit.auc]).map(Some).collect();
    rows.map(|(row, marginal)| row.iter().chain([marginal]).map(Some).collect()).chain([last]).collect()
}

/// The cells that have a value, from the lowest to the highest.
pub(crate) fn by_value(cells: Vec<(Rate, &Metric)>) -> Vec<(Rate, &Metric)> {
    let mut known: Vec<(f64, (Rate, &Metric))> =
        cells.into_iter().filter_map(|cell| Some((cell.1.value?, cell))).collect();
    known.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    known.into_iter().map(|(_, cell)| cell).collect()
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
