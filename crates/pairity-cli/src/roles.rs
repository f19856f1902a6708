//! What the columns of a table are used as.

use crate::options::TableOptions;
use anyhow::{anyhow, bail};
use pairity_report::{Role, plain};
use pairity_tables::{self as tables, Selection, Source, TableError, Want};

/// The reserved word of `--pair-weight`.
pub const LABEL_GAP: &str = "label-gap";

/// What the columns of an SVMlight file are called.
const SVMLIGHT: (&str, &str) = ("label", "qid");

/// Names in quotes.
pub fn quoted<'a>(names: impl Iterator<Item = &'a String>, between: &str) -> String {
    names.map(|name| format!("{:?}", plain(name))).collect::<Vec<_>>().join(between)
}

/// The names of columns, with what each is used as.
#[derive(Clone)]
pub struct Roles(pub Vec<(Role, String)>);

impl Roles {
    /// As they were named, with the defaults of SVMlight files.
    pub fn named(options: &TableOptions, score: &[String], source: &Source) -> anyhow::Result<Roles> {
        let TableOptions {
            label, query, within, group, protected, weight, pair_weight, pairs_where, id, ..
        } = options;
        let defaults = match (label, &query[..]) {
            (Some(_), [_, ..]) => (None, None),
            _ => svmlight_columns(source)?,
        };
        let label = label.clone().or(defaults.0);
        let query = if query.is_empty() { defaults.1.as_slice() } else { query };
        if label.is_none() && group.is_empty() && protected.is_none() {
            bail!(
                "there is nothing to compare the scores with: name the label column with --label, or a \
                 protected attribute with --group or --protected"
            );
        }
        let side =
            if pairs_where.as_ref().is_some_and(|(higher, _)| *higher) { Role::Higher } else { Role::Lower };
        let roles = [
            (Role::Score, score),
            (Role::Label, label.as_slice()),
            (Role::Query, query),
            (Role::Within, within.as_slice()),
            (Role::Group, group.as_slice()),
            (Role::Protected, protected.as_slice()),
            (Role::Weight, weight.as_slice()),
            (Role::PairWeight, pair_weight.as_slice()),
            (side, pairs_where.as_ref().map_or(&[][..], |(_, name)| std::slice::from_ref(name))),
            (Role::Id, id.as_slice()),
        ];
        let each =
            roles.into_iter().flat_map(|(role, names)| names.iter().map(move |name| (role, name.clone())));
        Ok(Roles(each.collect()))
    }

    /// That no row has a group.
    pub fn no_groups(&self) -> anyhow::Error {
        let names = self.0.iter().filter(|(role, _)| *role == Role::Group).map(|(_, name)| name);
        anyhow!("no row belongs to a group: {} has no value in any row", quoted(names, " and "))
    }

    /// Whether pairs count by the difference of their labels.
    pub fn label_gap(&self) -> bool {
        self.0.iter().any(|(role, name)| *role == Role::PairWeight && name == LABEL_GAP)
    }

    /// Those that are columns: a reserved word is none.
    pub fn columns(&self) -> impl Iterator<Item = (Role, &str)> {
        let is_column = |role| role != Role::PairWeight || !self.label_gap();
        let columns = self.0.iter().filter(move |(role, _)| is_column(*role));
        columns.map(|(role, name)| (*role, name.as_str()))
    }

    /// The columns of a role.
    pub fn columns_of(&self, role: Role) -> impl Iterator<Item = &str> {
        self.columns().filter(move |(own, _)| *own == role).map(|(_, name)| name)
    }

    /// The first column of a role.
    pub fn column(&self, role: Role) -> Option<&str> {
        self.columns_of(role).next()
    }

    /// Columns of numbers, or of categories.
    pub fn of_kind(&self, categories: bool) -> impl Iterator<Item = &str> {
        let of_kind = move |(role, _): &(Role, &str)| holds_categories(*role) == categories;
        self.columns().filter(of_kind).map(|(_, name)| name)
    }
}

pub fn holds_categories(role: Role) -> bool {
    matches!(role, Role::Query | Role::Within | Role::Group | Role::Id)
}

/// SVMlight files have a label and may have queries, without anyone saying so.
fn svmlight_columns(source: &Source) -> Result<(Option<String>, Option<String>), TableError> {
    let (label, qid) = SVMLIGHT;
    let columns = match tables::column_names(source) {
        // Too many features to list, which only SVMlight files have.
        Err(TableError::TooWide { .. }) => {
            let wanted = Selection::Columns(vec![Want::category(qid)]);
            let queries = tables::read(source, &wanted, &|_, _| ()).is_ok().then_some(qid);
            [label].into_iter().chain(queries).map(str::to_owned).collect()
        }
        names => names?,
    };
    let columns = if is_svmlight(&columns) { columns } else { Vec::new() };
    let own = |name: &str| columns.iter().find(|own| *own == name).cloned();
    Ok((own(label), own(qid)))
}

/// Names as SVMlight files have them: the label, perhaps queries, and numbered features.
fn is_svmlight(columns: &[String]) -> bool {
    let (label, qid) = SVMLIGHT;
    let mut features = columns.iter().map(String::as_str).skip(1).skip_while(|name| *name == qid);
    columns.first().is_some_and(|name| name == label)
        && features.all(|name| name.parse::<u64>().is_ok_and(|number| number.to_string() == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn svmlight_is_told_by_its_column_names() {
        let names = |list: &[&str]| list.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        assert!(is_svmlight(&names(&["label", "qid", "1", "2"])));
        assert!(is_svmlight(&names(&["label", "0", "1"])));
        assert!(!is_svmlight(&names(&["label", "score", "gender"])));
        assert!(!is_svmlight(&names(&["qid", "label", "1"])));
        assert!(!is_svmlight(&names(&["label", "01"])));
    }
}
