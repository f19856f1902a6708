//! The matrices of groups; for many groups, the ends of them.

use super::matrix::{MARK, TextMatrix};
use super::words::{count, fill, pad, rate, shorten, with_interval};
use super::{ListEntry, TextPage};
use crate::advice::Advice;
use crate::facts::{by_value, with_marginals};
use crate::report::AuditReport;
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

impl TextPage<'_, AuditReport> {
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
            let cells = with_marginals(audit);
            let names: Vec<String> = groups.iter().cloned().chain([ANYONE.to_owned()]).collect();
            let corner = "better ↓  worse →";
            let matrix = TextMatrix { corner, rows: names.clone(), columns: names, cells, worst };
            let (table, cut) = matrix.text(self.width, self.paint, self.pictures);
            text += &table;
            if cut {
                text += &format!("  {}\n", Advice::Intervals.words(self.front_end));
            }
        } else {
            text += &self.marginals();
            text += &self.ends(self.report.accuracies());
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
        let list: Vec<ListEntry> = audit
            .symmetric
            .iter()
            .zip(&audit.groups)
            .map(|(metric, name)| ListEntry::of(shorten(name, 30), metric, ""))
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
            let matrix =
                TextMatrix { corner, rows: groups.clone(), columns: groups.clone(), cells, worst: None };
            text += &matrix.text(self.width, self.paint, self.pictures).0;
        } else {
            text += &self.ends(self.report.parities());
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
                let advice = Advice::AllValues.words(self.front_end);
                out += &format!("  … {} groups between these; {advice}\n", all - order.len());
            }
            let row = pad(&with_interval(&audit.row_marginals[group], rate), room);
            let column = with_interval(&audit.column_marginals[group], rate);
            out += &format!("  {}  {row}{column}\n", pad(&name(group), size));
        }
        out
    }

    /// The lowest and the highest of many cells.
    fn ends(&self, cells: Vec<(Rate, &Metric)>) -> String {
        let groups = &self.report.audit.groups;
        let known: Vec<ListEntry> = by_value(cells)
            .into_iter()
            .map(|(cell, metric)| ListEntry::of(shorten(&cell.name(groups), 48), metric, ""))
            .collect();
        if known.len() <= 2 * ENDS {
            return self.list(&known);
        }
        format!(
            "  the lowest of {} cells ({})\n{}  the highest\n{}",
            count(known.len() as u64),
            Advice::AllValues.words(self.front_end),
            self.list(&known[..ENDS]),
            self.list(&known[known.len() - ENDS..])
        )
    }
}
