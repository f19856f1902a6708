//! A report: an audit, and what happened to the data on the way to it.

use pairity::goals::Criterion;
use pairity::metrics::{Audit, Metric};

/// What a column is used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Higher scores rank higher.
    Score,
    /// Higher labels should rank higher.
    Label,
    /// Categorical protected attribute; there may be several.
    Group,
    /// Continuous protected attribute.
    Protected,
    /// Pairs are formed inside a query.
    Query,
    /// Weight of an example.
    Weight,
    /// What a pair counts.
    PairWeight,
    /// Names the rows.
    Id,
}

impl Role {
    /// The role as it is written in reports.
    pub fn name(self) -> &'static str {
        match self {
            Role::Score => "score",
            Role::Label => "label",
            Role::Group => "group",
            Role::Protected => "protected",
            Role::Query => "query",
            Role::Weight => "weight",
            Role::PairWeight => "pair_weight",
            Role::Id => "id",
        }
    }

    /// The role in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Role::PairWeight => "pair weight",
            role => role.name(),
        }
    }
}

/// Rows that were dropped because they lack something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// What they lack.
    pub role: Role,
    /// How many do; a row that lacks two things counts in both.
    pub rows: usize,
}

/// Where the examples came from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Notes {
    /// Names of the files.
    pub tables: Vec<String>,
    /// Columns by what they were used as.
    pub columns: Vec<(Role, String)>,
    /// Number of rows in the files.
    pub rows_read: usize,
    /// Number of rows left out because something was missing.
    pub rows_dropped: usize,
    /// The first of them by id, where rows have ids.
    pub dropped_ids: Vec<String>,
    /// Why they were left out.
    pub missing: Vec<Missing>,
}

/// An audit with the notes on its data.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditReport {
    /// What was measured.
    pub audit: Audit,
    /// What it was measured on.
    pub notes: Notes,
}

impl AuditReport {
    /// Whether accuracies could be measured.
    pub(crate) fn has_labels(&self) -> bool {
        self.audit.mse.is_some()
    }

    /// The mean squared error, where scores are on the scale of labels. Those that rank within queries are not.
    pub(crate) fn shown_mse(&self) -> Option<&Metric> {
        self.audit.mse.as_ref().filter(|_| self.audit.queries.is_none())
    }

    /// The column used as something.
    pub(crate) fn column(&self, role: Role) -> Option<&str> {
        self.notes.columns.iter().find(|(r, _)| *r == role).map(|(_, name)| name.as_str())
    }

    /// The gaps in the order in which they are documented.
    pub(crate) fn gaps(&self) -> Vec<(Criterion, &Metric)> {
        let gap = |criterion| self.audit.gaps.iter().find(|(own, _)| *own == criterion);
        let gaps = Criterion::documented().into_iter().filter_map(gap);
        gaps.map(|(criterion, metric)| (*criterion, metric)).collect()
    }

    /// Rows left out because their weight is 0.
    pub fn rows_of_no_weight(&self) -> usize {
        self.notes.rows_read.saturating_sub(self.notes.rows_dropped + self.audit.rows)
    }
}
