//! What was read of tables: columns by their roles, which rows and groups are looked at, and what was left out.

use crate::options::TableOptions;
use crate::output::complain;
use crate::progress::reading;
use crate::roles::{LABEL_GAP, Roles, holds_categories, quoted};
use anyhow::{anyhow, bail};
use pairity::examples::{
    Categories, Column, Columns, Examples, ExamplesError, Groups, MAX_GROUPS, NO_GROUP, PairWeight,
    PairsWhere, RowRecord, Values, cross,
};
use pairity::metrics::{PartialError, PlainTable};
use pairity::run::{Fold, Rows};
use pairity::similar;
use pairity_report::{Missing, Notes, Role, plain};
use pairity_tables::{self as tables, ColumnKind, Filter, Selection, Source, Table, TableError, Want};
use std::collections::{BTreeSet, HashSet};

/// The most ids of rows left out that a report lists.
const DROPPED_IDS: usize = 10;

/// What was read: a column wanted in two kinds is in both tables.
pub struct Read {
    /// The columns, as numbers if they are wanted as both.
    pub table: Table,
    again: Option<Table>,
    /// What columns are for.
    pub roles: Roles,
    source: Source,
    choice: RowChoice,
}

/// Which of the rows and groups are looked at.
#[derive(Default)]
struct RowChoice {
    filter: Option<String>,
    /// Whether each row meets the filter.
    passing: Option<Vec<bool>>,
    groups: Vec<String>,
    min_rows: usize,
    /// The rows are some of many, so that they may lack what all together have.
    part: bool,
}

impl Read {
    /// Reads the columns of some roles and others, or all; and columns of numbers that are wanted as categories
    /// too again: a score can also be the group.
    ///
    /// # Errors
    /// Whatever is wrong with the files.
    pub fn new(
        source: &Source,
        roles: Roles,
        others: Option<Vec<Want>>,
        quiet: bool,
    ) -> Result<Read, TableError> {
        let numbers: Vec<Want> = roles.of_kind(false).map(Want::number).collect();
        let is_number = |want: &Want| {
            let is_same = |own: &Want| own.kind == ColumnKind::Number && own.name == want.name;
            numbers.iter().chain(others.iter().flatten()).any(is_same)
        };
        let categories = roles.of_kind(true).map(Want::category);
        let (again, categories): (Vec<Want>, Vec<Want>) = categories.partition(is_number);
        let wants = [numbers, categories].concat();
        let selection = match others {
            Some(others) => Selection::Columns([wants, others].concat()),
            None => Selection::Features { overrides: wants },
        };
        let show = reading(quiet);
        let table = tables::read(source, &selection, &show)?;
        let again = match again.is_empty() {
            true => None,
            false => Some(tables::read(source, &Selection::Columns(again), &show)?),
        };
        // Once, where a column is read again.
        let warnings: BTreeSet<&String> =
            [Some(&table), again.as_ref()].into_iter().flatten().flat_map(Table::warnings).collect();
        warnings.iter().for_each(|warning| complain(&format!("warning: {warning}")));
        let read = Read { table, again, roles, source: source.clone(), choice: RowChoice::default() };
        read.check_rounded()?;
        Ok(read)
    }

    /// Rows that were read as some of many.
    pub fn part(table: Table, roles: &Roles, source: &Source) -> Read {
        let choice = RowChoice { part: true, ..RowChoice::default() };
        Read { table, again: None, roles: roles.clone(), source: source.clone(), choice }
    }

    /// Refuses labels and scores of which two may be taken for one, which would be a tie.
    pub fn check_rounded(&self) -> Result<(), TableError> {
        let mut columns = [Role::Label, Role::Score].into_iter().filter_map(|role| self.column(role));
        columns.try_for_each(|column| tables::check_rounded(&self.source, column))
    }

    /// Rows with their columns of queries, and what happened on the way.
    pub fn described(&self, mut rows: Rows, notes: Notes) -> Rows {
        rows.query = self.roles.columns_of(Role::Query).map(str::to_owned).collect();
        rows.notes.extend(notes.filter.map(|filter| format!("only rows where {}", plain(&filter))));
        if !notes.groups_left_out.is_empty() {
            rows.notes.push(format!("groups not compared: {}", plain(&notes.groups_left_out.join(", "))));
        }
        rows.tables = notes.tables;
        rows
    }

    /// Where a row came from.
    pub fn locate(&self, row: usize) -> String {
        self.source.locate(&self.table, row)
    }

    /// The same, of which only some rows and groups are looked at.
    pub fn choosing(mut self, options: &TableOptions, source: &Source, quiet: bool) -> anyhow::Result<Read> {
        let TableOptions { filter, groups, min_rows, .. } = options;
        let mut passing = None;
        if let Some(text) = filter {
            let filter = Filter::parse(text, "--where")?;
            let table = tables::read(source, &Selection::Columns(filter.wants()), &reading(quiet))?;
            let found = filter.passing(&table);
            if !found.contains(&true) {
                bail!("no row of {} meets --where {:?}", table.rows(), plain(text));
            }
            passing = Some(found);
        }
        if (!groups.is_empty() || *min_rows > 0) && self.roles.column(Role::Group).is_none() {
            bail!("--groups and --min-rows choose among groups: name the column of the groups with --group");
        }
        self.choice = RowChoice {
            filter: filter.clone(),
            passing,
            groups: groups.clone(),
            min_rows: *min_rows,
            part: false,
        };
        Ok(self)
    }

    /// What each row is for, by the file it is from.
    pub fn folds(&self, files: &[(Fold, usize)]) -> Vec<Fold> {
        let mut counts = self.table.files().iter().map(|(_, rows)| *rows);
        let mut folds = Vec::new();
        for &(fold, files) in files {
            let rows: usize = counts.by_ref().take(files).sum();
            folds.resize(folds.len() + rows, fold);
        }
        let of_row = |row: usize| folds.get(self.table.number(row)).copied().unwrap_or(Fold::Split);
        (0..self.table.rows()).map(of_row).collect()
    }

    /// A column, which leaves the table unless it is used again.
    pub fn take(&mut self, name: &str, again: bool) -> Option<Column> {
        if again { self.table.column(name).cloned() } else { self.table.take(name) }
    }

    /// The columns of a role.
    fn columns(&self, role: Role) -> Vec<&Column> {
        let again = self.again.as_ref().filter(|_| holds_categories(role));
        let column = |name| again.and_then(|table| table.column(name)).or_else(|| self.table.column(name));
        self.roles.columns_of(role).filter_map(column).collect()
    }

    /// The first column of a role.
    fn column(&self, role: Role) -> Option<&Column> {
        self.columns(role).first().copied()
    }

    /// The combinations of the columns of a role; none if it has none.
    pub fn crossed(&self, role: Role) -> Option<Categories<'_>> {
        let columns: Vec<_> = self.columns(role).into_iter().filter_map(Column::categories).collect();
        cross(&columns)
    }

    /// The categories of a column.
    pub fn categories(&self, name: &str) -> Option<(&[u32], &[String])> {
        let column = self.again.as_ref().and_then(|table| table.column(name));
        column.or_else(|| self.table.column(name))?.categories()
    }

    pub fn numbers(&self, role: Role) -> Option<&[f64]> {
        self.column(role)?.numbers()
    }

    /// The scores; NaN where one is missing.
    pub fn scores(&self) -> &[f64] {
        self.numbers(Role::Score).unwrap_or_default()
    }

    /// The id of a row, where ids were asked for and the row has one.
    fn id(&self, row: usize) -> Option<&str> {
        let (codes, levels) = self.column(Role::Id)?.categories()?;
        levels.get(codes[row] as usize).map(String::as_str)
    }

    /// The values of the continuous attribute; NaN where one is missing.
    pub fn protected(&self) -> Option<&[f64]> {
        self.numbers(Role::Protected)
    }

    /// Leaves the rows that lack nothing: as examples, with their scores, and what was left out. Rows of files of
    /// different folds are never in one query.
    ///
    /// # Errors
    /// No row is left, or values are wrong.
    pub fn scored_rows(&mut self, files: &[(Fold, usize)]) -> anyhow::Result<(Examples, Vec<f64>, Notes)> {
        let notes = self.keep()?;
        let folds = if files.is_empty() { Vec::new() } else { self.folds(files) };
        let examples = self.examples(&folds)?;
        let column = self.table.take(self.roles.column(Role::Score).unwrap_or_default());
        let scores = match column.map(|column| column.values) {
            Some(Values::Numbers(numbers)) => numbers,
            _ => Vec::new(),
        };
        Ok((examples, scores, notes))
    }

    /// Leaves the rows that lack nothing, and tells what was left out.
    pub fn keep(&mut self) -> anyhow::Result<Notes> {
        let rows = self.table.rows();
        let mut kept = self.choice.passing.take().unwrap_or_else(|| vec![true; rows]);
        let passing: Vec<u32> = (0..rows as u32).filter(|&row| kept[row as usize]).collect();
        let mut missing = Vec::new();
        for (role, columns) in Role::NEEDED.map(|role| (role, self.columns(role))) {
            if columns.is_empty() {
                continue;
            }
            let is_lacking = |row: &usize| columns.iter().any(|column| column.is_missing(*row));
            let lacking: Vec<usize> = passing.iter().map(|&row| row as usize).filter(is_lacking).collect();
            lacking.iter().for_each(|&row| kept[row] = false);
            missing.push(Missing { role, rows: lacking.len() });
        }
        let dropped = passing.iter().map(|&row| row as usize).filter(|&row| !kept[row]);
        let dropped = dropped.filter_map(|row| self.id(row));
        let dropped_ids: Vec<String> = dropped.take(DROPPED_IDS).map(str::to_owned).collect();
        let kept: Vec<u32> = (0..rows as u32).filter(|&row| kept[row as usize]).collect();
        let notes = Notes {
            filter: self.choice.filter.clone(),
            groups_left_out: Vec::new(),
            tables: self.table.files().iter().map(|(name, _)| name.clone()).collect(),
            columns: self.roles.0.clone(),
            rows_read: passing.len(),
            rows_dropped: passing.len() - kept.len(),
            dropped_ids,
            missing,
        };
        if kept.is_empty() && !self.choice.part {
            return Err(none_left(&notes));
        }
        if kept.len() < rows {
            [Some(&mut self.table), self.again.as_mut()].into_iter().flatten().for_each(|t| t.keep(&kept));
        }
        Ok(Notes { groups_left_out: self.chosen_groups()?.1, ..notes })
    }

    /// The rows as examples. Those of different folds are never in one query.
    ///
    /// # Errors
    /// Values are wrong.
    pub fn examples(&self, folds: &[Fold]) -> anyhow::Result<Examples> {
        let mut queries = self.crossed(Role::Query);
        if let Some((queries, levels)) = &mut queries
            && folds.iter().any(|&fold| fold != Fold::Split)
        {
            let place = |fold: Fold| levels.len() as u32 * fold as u32;
            queries.to_mut().iter_mut().zip(folds).for_each(|(query, &fold)| *query += place(fold));
        }
        let (groups, within) = (self.groups()?, self.crossed(Role::Within));
        let columns = self.columns_of_rows(groups.as_ref(), queries.as_ref(), within.as_ref());
        Examples::new(columns).map_err(|error| self.explain(error))
    }

    /// Adds the rows to a table without queries; returns their records.
    ///
    /// # Errors
    /// Values are wrong.
    pub fn add_to(&self, table: &mut PlainTable) -> anyhow::Result<Vec<RowRecord>> {
        let groups = self.groups()?;
        let added = table.add(&self.columns_of_rows(groups.as_ref(), None, None), self.scores());
        added.map_err(|error| match error {
            PartialError::Examples(error) => self.explain(error),
            other => other.into(),
        })
    }

    fn columns_of_rows<'a>(
        &'a self,
        groups: Option<&'a Groups>,
        queries: Option<&'a Categories>,
        within: Option<&'a Categories>,
    ) -> Columns<'a> {
        Columns {
            labels: self.numbers(Role::Label),
            groups,
            protected: self.numbers(Role::Protected),
            queries: queries.map(|(codes, _)| &codes[..]),
            within: within.map(|(codes, _)| &codes[..]),
            weights: self.numbers(Role::Weight),
            pair_weight: match self.numbers(Role::PairWeight) {
                Some(values) => PairWeight::Product(values),
                None if self.roles.label_gap() => PairWeight::LabelGap,
                None => PairWeight::One,
            },
            pairs_where: match (self.numbers(Role::Higher), self.numbers(Role::Lower)) {
                (Some(values), _) => PairsWhere::Higher(values),
                (_, Some(values)) => PairsWhere::Lower(values),
                _ => PairsWhere::Any,
            },
        }
    }

    /// The groups of the rows: those of one column, or the intersections of several.
    ///
    /// # Errors
    /// More of them than can be compared, or none.
    pub fn groups(&self) -> anyhow::Result<Option<Groups>> {
        Ok(self.chosen_groups()?.0)
    }

    /// The names of the groups that are not compared.
    ///
    /// # Errors
    /// Those of [`groups`](Self::groups).
    pub fn left_out(&self) -> anyhow::Result<Vec<String>> {
        let (Some(all), Some(chosen)) = (self.all_groups()?, self.groups()?) else { return Ok(Vec::new()) };
        Ok(all.names().iter().filter(|name| !chosen.names().contains(name)).cloned().collect())
    }

    /// The groups that are compared, and those that are not, with what they have.
    fn chosen_groups(&self) -> anyhow::Result<(Option<Groups>, Vec<String>)> {
        let RowChoice { groups: chosen, min_rows, .. } = &self.choice;
        let all = match self.all_groups()? {
            Some(all) if !chosen.is_empty() || *min_rows > 0 => all,
            all => return Ok((all, Vec::new())),
        };
        let names = all.names();
        if let Some(unknown) = chosen.iter().find(|name| !names.contains(name)) {
            let near = similar::nearest(unknown, names.iter().map(String::as_str));
            let near =
                near.first().map_or(String::new(), |near| format!("; did you mean {:?}?", plain(near)));
            bail!(
                "--groups: no row is of the group {:?}; the groups are {}{near}",
                plain(unknown),
                quoted(names.iter().take(DROPPED_IDS), ", ")
            );
        }
        // Queries are what is independent, where there are queries.
        let queries = self.column(Role::Query).and_then(Column::categories);
        let mut units = HashSet::new();
        let mut counts = vec![0; names.len()];
        for row in 0..self.table.rows() {
            let unit = queries.map_or(row, |(codes, _)| codes[row] as usize);
            if let Some(group) = all.code(row).filter(|&group| units.insert((group, unit))) {
                counts[group] += 1;
            }
        }
        let unit = |count: usize| match (queries.is_some(), count) {
            (true, 1) => "query",
            (true, _) => "queries",
            (false, 1) => "row",
            (false, _) => "rows",
        };
        let is_kept = |group: usize| {
            (chosen.is_empty() || chosen.contains(&names[group])) && counts[group] >= *min_rows
        };
        let tell = |group: usize| format!("{:?} ({} {})", names[group], counts[group], unit(counts[group]));
        let left_out: Vec<String> = (0..names.len()).filter(|&group| !is_kept(group)).map(tell).collect();
        if left_out.len() == names.len() {
            let found = plain(&left_out.join(", "));
            bail!("no group has the {min_rows} {} that --min-rows asks for: {found}", unit(*min_rows));
        }
        let code = |row| all.code(row).filter(|&group| is_kept(group)).map_or(NO_GROUP, |group| group as u32);
        let codes = (0..self.table.rows()).map(code).collect();
        Ok((Some(Groups::in_order(names.to_vec(), codes)), left_out))
    }

    /// The groups of all rows.
    fn all_groups(&self) -> anyhow::Result<Option<Groups>> {
        let names = || self.roles.0.iter().filter(|(role, _)| *role == Role::Group).map(|(_, name)| name);
        let mut all: Option<Groups> = None;
        for name in names() {
            let Some((codes, levels)) = self.categories(name) else { continue };
            let column = Groups::from_codes(levels.to_vec(), codes.to_vec());
            // Before they are crossed, and not after: two identifiers would give too many to hold.
            few_enough(&column, &format!("column {:?}", plain(name)))?;
            let crossed = match all {
                None => column,
                Some(before) => before.intersect(&column),
            };
            few_enough(&crossed, "the intersection of the --group columns")?;
            all = Some(crossed);
        }
        if all.as_ref().is_some_and(|groups| groups.names().is_empty()) && !self.choice.part {
            return Err(self.roles.no_groups());
        }
        Ok(all)
    }

    /// The engine's error with the file, the row and the column of the user.
    fn explain(&self, error: ExamplesError) -> anyhow::Error {
        let place = |column: &str, row: usize| {
            let (what, role) = match column {
                "labels" => ("label", Role::Label),
                "weights" => ("weight", Role::Weight),
                "pair weights" => ("pair weight", Role::PairWeight),
                _ => ("protected attribute", Role::Protected),
            };
            let name = plain(self.roles.column(role).unwrap_or(column));
            let id = self.id(row).map(|id| format!(" (id {:?})", plain(id))).unwrap_or_default();
            format!("{}{id}, column {name:?}: {what}", self.locate(row))
        };
        match error {
            ExamplesError::NegativeWeight { column, row, value } => {
                anyhow!("{} is {value}; weights are ≥ 0 (0 leaves a row out)", place(column, row))
            }
            ExamplesError::NotFinite { column, row, value } => {
                anyhow!("{} is {value}; finite numbers are needed", place(column, row))
            }
            ExamplesError::GapWithoutLabels => {
                anyhow!("--pair-weight {LABEL_GAP} needs labels: name the label column with --label")
            }
            ExamplesError::Empty { zero_weights: true } => {
                let name = plain(self.roles.column(Role::Weight).unwrap_or_default());
                anyhow!("no row counts: every weight in column {name:?} is 0")
            }
            other => other.into(),
        }
    }
}

fn few_enough(groups: &Groups, what: &str) -> anyhow::Result<()> {
    let found = groups.names().len();
    if found > MAX_GROUPS {
        bail!(
            "{what} has {found} groups, more than the {MAX_GROUPS} that can be compared: is it an \
             identifier or a number? Join rare groups, or name a number with --protected"
        );
    }
    Ok(())
}

pub fn none_left(notes: &Notes) -> anyhow::Error {
    let missing = notes.missing.iter().filter(|missing| missing.rows > 0);
    let why: Vec<String> = missing.map(|m| format!("{} is missing in {}", m.role.name(), m.rows)).collect();
    anyhow!("no row is left of the {} that were read: {}", notes.rows_read, why.join(", "))
}
