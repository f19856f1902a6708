//! The matrices of groups; for many groups, the ends of them.

use super::audit::ListEntry;
use super::matrix::{MARK, TextMatrix};
use super::{BAD, FAINT, TextPage};
use crate::facts::{Known, Matrix, accuracies, by_value, has_labels, parities, with_marginals, worst_cell};
use crate::report::AuditReport;
use crate::words::{Advice, columns, count, fill, pad, rate, shorten, with_interval};
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
        if groups.is_empty() || !has_labels(audit) {
            return String::new();
        }
        let worst = worst_cell(audit);
        let title = "how often the better of two scores higher, by the group of each";
        let mut text = self.title("Accuracy between groups", title);
        if groups.len() <= MAX_MATRIX {
            let cells = with_marginals(audit);
            let names: Vec<String> = groups.iter().cloned().chain([ANYONE.to_owned()]).collect();
            let corner = "better ↓  worse →";
            let matrix = TextMatrix { corner, names, cells, worst: worst.map(|worst| worst.place) };
            let (table, cut) = self.matrix(&matrix);
            text += &table;
            if cut {
                text += &format!("  {}\n", Advice::INTERVALS.words(self.look.front_end));
            }
        } else {
            text += &self.marginals();
            text += &self.ends(&accuracies(audit), Rate::accuracy);
        }
        if let Some(Known { place: (better, worse), value, metric }) = worst {
            let name = |group: usize| format!("{:?}", shorten(&groups[group], 30));
            let words = format!(
                "{MARK} worst: a better {} scores above a worse {} {:.1}% of the time ({} pairs)",
                name(better),
                name(worse),
                value * 100.0,
                count(metric.pairs)
            );
            text += &format!("  {}\n", self.paint(BAD, &fill(&words, 4, self.look.width)));
        }
        let marginals = audit.row_marginals.iter().chain(&audit.column_marginals);
        text + &self.reasons(audit.accuracy.iter().flatten().chain(marginals))
    }

    pub(super) fn symmetric(&self) -> String {
        let audit = &self.report.audit;
        if audit.groups.is_empty() || !has_labels(audit) || audit.groups.len() > MAX_MATRIX {
            return String::new();
        }
        let rows = audit.symmetric.iter().zip(&audit.groups);
        let list: Vec<ListEntry> =
            rows.map(|(metric, name)| ListEntry::of(shorten(name, 30), metric, "")).collect();
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
            let (corner, names) = ("higher ↓  lower →", groups.clone());
            text += &self.matrix(&TextMatrix { corner, names, cells: parities(audit), worst: None }).0;
        } else {
            text += &self.ends(&parities(audit), |first, second| Rate::Parity { first, second });
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
        let size = order.iter().map(|&g| columns(&name(g))).max().unwrap_or(0).max(5);
        let room = 22;
        let head = format!("  {}  {}as the worse one", pad("group", size), pad("as the better one", room));
        let mut out = self.paint(FAINT, &head) + "\n";
        for (at, &group) in order.iter().enumerate() {
            if all > MAX_LIST && at == ENDS * 2 {
                let advice = Advice::ALL_VALUES.words(self.look.front_end);
                out += &format!("  … {} groups between these; {advice}\n", all - order.len());
            }
            let row = pad(&with_interval(&audit.row_marginals[group], rate), room);
            let column = with_interval(&audit.column_marginals[group], rate);
            out += &format!("  {}  {row}{column}\n", pad(&name(group), size));
        }
        out
    }

    /// The lowest and the highest of many cells.
    fn ends(&self, cells: &Matrix, rate: fn(usize, usize) -> Rate) -> String {
        let entry = |Known { place: (row, column), metric, .. }| {
            ListEntry::of(shorten(&rate(row, column).name(&self.report.audit.groups), 48), metric, "")
        };
        let known: Vec<ListEntry> = by_value(cells).into_iter().map(entry).collect();
        if known.len() <= 2 * ENDS {
            return self.list(&known);
        }
        format!(
            "  the lowest of {} cells ({})\n{}  the highest\n{}",
            count(known.len() as u64),
            Advice::ALL_VALUES.words(self.look.front_end),
            self.list(&known[..ENDS]),
            self.list(&known[known.len() - ENDS..])
        )
    }
}
