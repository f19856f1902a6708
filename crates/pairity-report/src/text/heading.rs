//! The first lines: what was read and how it was measured.

use super::Page;
use super::words::{flow, many, plain};
use crate::report::Role;
use pairity::rates::{Average, Ties};

/// More file names than this are counted rather than listed.
const MAX_NAMES: usize = 3;

impl Page<'_> {
    pub(super) fn heading(&self) -> String {
        let (audit, notes) = (&self.report.audit, &self.report.notes);
        let names: Vec<String> = notes.tables.iter().take(MAX_NAMES).map(|name| plain(name)).collect();
        let more = match notes.tables.len() {
            0..=MAX_NAMES => String::new(),
            all => format!(" and {} more files", all - MAX_NAMES),
        };
        let of = if names.is_empty() { String::new() } else { format!(" of {}{more}", names.join(", ")) };

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

        let settings = &audit.settings;
        let average = match settings.average {
            Average::Pairs => "every pair counts alike",
            Average::Queries => "every query counts alike",
        };
        let ties = match settings.ties {
            Ties::Half => "equal scores count half",
            Ties::Strict => "equal scores count as wrong",
        };
        let percent = settings.confidence * 100.0;
        let how = vec![
            average.to_owned(),
            ties.to_owned(),
            format!("{}% confidence intervals in [ ]", (percent * 1e6).round() / 1e6),
        ];

        let mut text = self.paint.title(&format!("Audit{of}"));
        for pieces in [read, how, self.left_out()] {
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
            let why: Vec<String> = notes
                .missing
                .iter()
                .filter(|missing| missing.rows > 0)
                .map(|missing| format!("{} missing in {}", missing.role.words(), missing.rows))
                .collect();
            out.push(format!(
                "{} of {} rows left out: {}",
                notes.rows_dropped,
                notes.rows_read,
                why.join(", ")
            ));
            if !notes.dropped_ids.is_empty() {
                let ids: Vec<String> = notes.dropped_ids.iter().map(|id| plain(id)).collect();
                let more = if ids.len() < notes.rows_dropped { ", …" } else { "" };
                out.push(format!("left out: {}{more}", ids.join(", ")));
            }
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
