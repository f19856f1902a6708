//! The matrices of groups; for many groups, the ends of them.

use super::matrix::{MARK, Matrix};
use super::words::{count, fill, pad, rate, shorten, with_interval};
use super::{Entry, Page};
use pairity::metrics::Metric;
use pairity::rates::Rate;

/// Matrices of more groups than this are not shown whole.
const MAX_MATRIX: usize = 8;

/// Lists of more groups than this are not shown whole.
const MAX_LIST: usize = 20;

/// How many of each end are shown.
const ENDS: usize = 5;

/// The name of all examples together.
const ANYONE: &str = "anyone";

impl Page<'_> {
    pub(super) fn accuracy(&self) -> String {
        let audit = &self.report.audit;
        let groups = &audit.groups;
        if groups.is_empty() || !self.report.has_labels() {
            return String::new();
        }
        let worst = self.report.worst_cell();
        let title = "how often the better of two scores higher, by the group of each";
        let mut text = self.title("Accuracy between groups", title);
        if groups.len() <= MAX_MATRIX {
            let mut cells: Vec<Vec<Option<&Metric>>> = audit
                .accuracy
                .iter()
                .zip(&audit.row_marginals)
                .map(|(row, marginal)| row.iter().chain([marginal]).map(Some).collect())
                .collect();
            cells.push(audit.column_marginals.iter().chain([&audit.auc]).map(Some).collect());
            let names: Vec<String> = groups.iter().cloned().chain([ANYONE.to_owned()]).collect();
            let corner = "better ↓  worse →";
            let matrix = Matrix { corner, rows: names.clone(), columns: names, cells, worst };
            let (table, cut) = matrix.text(self.width, self.paint, self.pictures);
            text += &table;
            if cut {
                text += "  intervals are in --format json, or show in a wider terminal\n";
            }
        } else {
            text += &self.marginals();
            let cells = cells(&audit.accuracy, Rate::accuracy);
            text += &self.ends(&cells);
        }
        if let Some((better, worse)) = worst {
            text += &format!("  {}\n", self.worst_cell(better, worse));
        }
        let marginals = audit.row_marginals.iter().chain(&audit.column_marginals);
        text + &self.reasons(audit.accuracy.iter().flatten().chain(marginals))
    }

    fn worst_cell(&self, better: usize, worse: usize) -> String {
        let audit = &self.report.audit;
        let metric = &audit.accuracy[better][worse];
        let name = |group: usize| format!("{:?}", shorten(&audit.groups[group], 30));
        let words = format!(
            "{MARK} worst: a better {} scores above a worse {} {:.1}% of the time ({} pairs)",
            name(better),
            name(worse),
            metric.value.unwrap_or(f64::NAN) * 100.0,
            count(metric.pairs)
        );
        self.paint.bad(&fill(&words, 4, self.width))
    }

    pub(super) fn symmetric(&self) -> String {
        let audit = &self.report.audit;
        if audit.groups.is_empty() || !self.report.has_labels() || audit.groups.len() > MAX_MATRIX {
            return String::new();
        }
        let list: Vec<Entry> = audit
            .symmetric
            .iter()
            .zip(&audit.groups)
            .map(|(metric, name)| Entry {
                name: shorten(name, 30),
                value: with_interval(metric, rate),
                metric,
                unit: "pairs",
                about: String::new(),
            })
            .collect();
        self.title("Symmetric accuracy", "S[group] = A[group > anyone] + A[anyone > group]; 2 is perfect")
            + &self.list(&list)
    }

    pub(super) fn parity(&self) -> String {
        let audit = &self.report.audit;
        let groups = &audit.groups;
        if groups.len() < 2 {
            return String::new();
        }
        let mut text = self.title(
            "Parity between groups",
            "how often the row's group scores higher than the column's, whatever the labels; 0.5 is parity",
        );
        if groups.len() <= MAX_MATRIX {
            let cells = audit.parity.iter().map(|row| row.iter().map(Option::as_ref).collect()).collect();
            let corner = "higher ↓  lower →";
            let matrix = Matrix { corner, rows: groups.clone(), columns: groups.clone(), cells, worst: None };
            text += &matrix.text(self.width, self.paint, self.pictures).0;
        } else {
            let cells = cells(&audit.parity, |first, second| Rate::Parity { first, second });
            text += &self.ends(&cells);
        }
        text + &self.reasons(audit.parity.iter().flatten().flatten())
    }

    /// Accuracies of every group against all.
    fn marginals(&self) -> String {
        let audit = &self.report.audit;
        let mut order: Vec<usize> = (0..audit.groups.len()).collect();
        let value = |group: &usize| audit.row_marginals[*group].value.unwrap_or(f64::INFINITY);
        order.sort_by(|a, b| value(a).total_cmp(&value(b)));
        let whole = order.len();
        if whole > MAX_LIST {
            order.retain(|&group| audit.row_marginals[group].value.is_some());
        }
        let all = order.len();
        if all > MAX_LIST {
            order.drain(ENDS * 2..all - ENDS);
        }
        let name = |group: usize| shorten(&audit.groups[group], 24);
        let size = order.iter().map(|&g| super::words::columns(&name(g))).max().unwrap_or(0).max(5);
        let room = 22;
        let mut out = format!("  {}  {}", pad("group", size), pad("as the better one", room));
        out = self.paint.faint(&(out + "as the worse one")) + "\n";
        for (at, &group) in order.iter().enumerate() {
            if all > MAX_LIST && at == ENDS * 2 {
                out += &format!("  … {} groups between these; --format json has all\n", all - order.len());
            }
            let row = pad(&with_interval(&audit.row_marginals[group], rate), room);
            let column = with_interval(&audit.column_marginals[group], rate);
            out += &format!("  {}  {row}{column}\n", pad(&name(group), size));
        }
        out
    }

    /// The lowest and the highest of many cells.
    fn ends(&self, cells: &[(Rate, &Metric)]) -> String {
        let groups = &self.report.audit.groups;
        let mut known: Vec<(f64, Entry)> = cells
            .iter()
            .filter_map(|&(cell, metric)| {
                let entry = Entry {
                    name: shorten(&cell.name(groups), 48),
                    value: with_interval(metric, rate),
                    metric,
                    unit: "pairs",
                    about: String::new(),
                };
                Some((metric.value?, entry))
            })
            .collect();
        known.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let known: Vec<Entry> = known.into_iter().map(|(_, entry)| entry).collect();
        if known.len() <= 2 * ENDS {
            return self.list(&known);
        }
        format!(
            "  the lowest of {} cells (--format json has all)\n{}  the highest\n{}",
            count(known.len() as u64),
            self.list(&known[..ENDS]),
            self.list(&known[known.len() - ENDS..])
        )
    }
}

/// The cells of a matrix with their names.
fn cells<T>(matrix: &[Vec<T>], name: impl Fn(usize, usize) -> Rate) -> Vec<(Rate, &Metric)>
where
    T: Cell,
{
    let mut out = Vec::new();
    for (r, row) in matrix.iter().enumerate() {
        for (c, cell) in row.iter().enumerate() {
            out.extend(cell.metric().map(|metric| (name(r, c), metric)));
        }
    }
    out
}

/// A cell that may be empty.
trait Cell {
    fn metric(&self) -> Option<&Metric>;
}

impl Cell for Metric {
    fn metric(&self) -> Option<&Metric> {
        Some(self)
    }
}

impl Cell for Option<Metric> {
    fn metric(&self) -> Option<&Metric> {
        self.as_ref()
    }
}
