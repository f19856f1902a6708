//! What happened to the data.

use super::AuditPage;
use crate::html::frame::Section;
use crate::html::table::{HtmlTable, TableCell};
use crate::report::Role;
use crate::text::words::{count, many, plain};

impl AuditPage<'_> {
    pub(super) fn notes(&self) -> Section {
        let (audit, notes) = (&self.report.audit, &self.report.notes);
        let mut table = HtmlTable::new("Data", &["Fact", "Value"]).quiet();
        let mut add =
            |name: &str, value: String| table.push(vec![TableCell::name(name), TableCell::text(value)]);
        for name in &notes.tables {
            add("Table", plain(name));
        }
        for (role, name) in &notes.columns {
            let role = if *role == Role::Protected { "protected attribute" } else { role.words() };
            add(&format!("Column of the {role}"), plain(name));
        }
        add("Rows read", count(notes.rows_read as u64));
        add(
            "Rows left out",
            match notes.rows_dropped {
                0 => "none".to_owned(),
                rows => format!("{}: {}", count(rows as u64), self.report.missing().join(", ")),
            },
        );
        if let Some(ids) = self.report.dropped_ids() {
            add("Left out", ids);
        }
        if self.report.rows_of_no_weight() > 0 {
            add("Rows of weight 0, left out", count(self.report.rows_of_no_weight() as u64));
        }
        add("Rows audited", count(audit.rows as u64));
        if let Some(queries) = audit.queries {
            add("Queries", count(queries as u64));
        }
        if !audit.groups.is_empty() {
            add("Groups", count(audit.groups.len() as u64));
            add("Rows of no group, part of “anyone” only", count(audit.without_attribute as u64));
        } else if audit.continuous.is_some() {
            add("Rows without the protected attribute", count(audit.without_attribute as u64));
        }
        if let Some(tied) = self.distributions.and_then(|found| found.tied) {
            let [_, ties] = self.report.how();
            let share = if tied == 0.0 { "none".to_owned() } else { format!("{:.2}%", tied * 100.0) };
            add("Pairs with equal scores", format!("{share}; {ties}"));
        }
        add("Averages", self.report.how()[0].to_owned());
        add("Confidence of intervals", self.report.confidence());
        if audit.settings.min_pairs > 1 {
            let pairs = many(usize::try_from(audit.settings.min_pairs).unwrap_or(usize::MAX), "pair");
            add("Not estimated below", pairs);
        }
        add("Seed", audit.settings.seed.to_string());
        Section {
            id: "data",
            title: "Data".to_owned(),
            about: "What was read, and what happened to it.".to_owned(),
            body: vec![table.html()],
        }
    }
}
