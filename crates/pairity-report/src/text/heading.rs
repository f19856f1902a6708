//! The first lines: what was read and how it was measured.

use super::TextPage;
use super::words::{flow, many};
use crate::report::AuditReport;

impl TextPage<'_, AuditReport> {
    pub(super) fn heading(&self) -> String {
        let [average, ties] = self.report.how();
        let intervals = format!("{} confidence intervals in [ ]", self.report.confidence());
        let how = vec![average.to_owned(), ties.to_owned(), intervals];
        let mut text = self.paint.title(&self.report.title());
        for pieces in [self.report.read(), how, self.left_out()] {
            if !pieces.is_empty() {
                text += &format!("\n{}", flow(&pieces, self.width));
            }
        }
        text + "\n"
    }

    fn left_out(&self) -> Vec<String> {
        let (audit, notes) = (&self.report.audit, &self.report.notes);
        let mut out = Vec::new();
        if notes.rows_dropped > 0 {
            let why = self.report.missing().join(", ");
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
}
