//! From files to the columns of an audit: reads the named columns, leaves out rows that lack something,
//! and remembers where each row came from.

use crate::options::{FitOptions, TableOptions};
use crate::progress::ReadProgress;
use anyhow::{Context, bail};
use pairity::examples::{
    Column, Columns, Examples, ExamplesError, Groups, MAX_GROUPS, MISSING, PairWeight, Values,
};
use pairity::run::{Fold, Rows};
use pairity_report::{Missing, Notes, Role, plain};
use pairity_tables::{self as tables, Selection, Source, Table, TableError, Want};
use std::borrow::Cow;
use std::fs::File;
use std::io::BufReader;

/// The reserved word of `--pair-weight`.
const LABEL_GAP: &str = "label-gap";

/// What the columns of an SVMlight file are called.
const SVMLIGHT: (&str, &str) = ("label", "qid");

/// The most ids of rows left out that a report lists.
const DROPPED_IDS: usize = 10;

/// A scored table, with the rows that lack something still at hand.
pub struct Scored {
    /// Where it came from.
    pub source: Source,
    /// The scores of all rows; NaN where one is missing.
    pub scores: Vec<f64>,
    /// The rows that lack nothing.
    pub kept: Kept,
    /// These rows.
    pub examples: Examples,
    /// What happened on the way.
    pub notes: Notes,
    /// What was read.
    pub read: Read,
    names: Names,
}

impl Scored {
    /// The groups of all rows.
    ///
    /// # Errors
    /// More of them than can be compared.
    pub fn groups(&self) -> anyhow::Result<Option<Groups>> {
        self.read.groups(&self.names, &Kept(None))
    }
}

/// The rows that lack nothing, by their numbers among all that were read; none if all are.
#[derive(Debug, Clone)]
pub struct Kept(Option<Vec<u32>>);

impl Kept {
    /// The values of these rows: borrowed where they are all.
    pub fn of<'v, T: Copy>(&self, values: &'v [T]) -> Cow<'v, [T]> {
        match &self.0 {
            None => Cow::Borrowed(values),
            Some(rows) => Cow::Owned(gather(values, rows)),
        }
    }

    /// The same of values that are owned: moved where they are all.
    pub fn own<T: Copy>(&self, values: Vec<T>) -> Vec<T> {
        match &self.0 {
            None => values,
            Some(rows) => gather(&values, rows),
        }
    }

    /// The groups of these rows.
    pub fn groups<'g>(&self, groups: &'g Groups) -> Cow<'g, Groups> {
        match &self.0 {
            None => Cow::Borrowed(groups),
            Some(rows) => Cow::Owned(groups.select(rows)),
        }
    }

    /// The number that a row had among all.
    fn number(&self, row: usize) -> usize {
        self.0.as_ref().and_then(|rows| rows.get(row)).map_or(row, |&row| row as usize)
    }

    fn column(&self, column: Column) -> Column {
        let values = match column.values {
            Values::Numbers(numbers) => Values::Numbers(self.own(numbers)),
            Values::Categories { codes, levels } => Values::Categories { codes: self.own(codes), levels },
        };
        Column { name: column.name, values }
    }
}

/// The columns as they were named, with the defaults of SVMlight files.
struct Names {
    score: Option<String>,
    columns: TableOptions,
}

/// Reads a table that has scores.
///
/// # Errors
/// Whatever is wrong with files, columns or cells, in words that name the place.
pub fn scored(options: &TableOptions, score: &str, quiet: bool) -> anyhow::Result<Scored> {
    let source = Source::parse_all(&options.tables)?;
    let names = Names::new(options, Some(score), &source)?;
    let wants = Selection::Columns(names.wants());
    let mut read = Read::new(&source, &wants, names.categories_of_numbers(), quiet)?;
    let (kept, notes) = read.keep(&names)?;
    let examples = read.examples(&names, &kept, &[])?;
    let scores = match read.table.take(score).map(|column| column.values) {
        Some(Values::Numbers(numbers)) => numbers,
        _ => Vec::new(),
    };
    Ok(Scored { source, scores, kept, examples, notes, read, names })
}

/// Reads tables to train on; all are one table, whose rows remember what they are for. Queries of different
/// tables are different, even if they have the same name.
///
/// # Errors
/// Whatever is wrong with files, columns or cells, in words that name the place.
pub fn to_train(options: &FitOptions) -> anyhow::Result<Rows> {
    let checked = options.request().check(options.text.is_some(), options.embeddings.is_some());
    checked.map_err(|error| options.explain(error))?;
    let (source, files) = sources(options)?;
    let names = Names::new(&options.table, None, &source)?;
    let (features, text) = (&options.features, options.text.as_deref());
    let label = names.columns.label.as_ref();
    if label.is_none() {
        bail!("training needs labels: name the label column with --label");
    }
    if let Some(name) = features.iter().find(|name| label == Some(name)) {
        bail!("{:?} is the label, so it can't be a feature: leave it out of --features", plain(name));
    }
    if let Some(name) = text.filter(|name| names.is_number(name)) {
        bail!("{:?} can't be the text as well as a number: name another column with --text", plain(name));
    }
    // With a text, other columns are features only if somebody names them.
    let all = features.is_empty() && text.is_none();
    let roles = names.wants();
    let selection = match all {
        true => Selection::All { overrides: roles },
        false => {
            let features = features.iter().map(|name| Want::infer(name));
            Selection::Columns(roles.into_iter().chain(text.map(Want::category)).chain(features).collect())
        }
    };
    let mut read = Read::new(&source, &selection, names.categories_of_numbers(), options.output.quiet)?;
    let (kept, notes) = read.keep(&names)?;
    let folds = kept.own(read.folds(&files));
    let examples = read.examples(&names, &kept, &folds)?;
    let (features, ignored) = match all {
        true => (read.unused(&names, true), read.unused(&names, false)),
        false => (features.clone(), Vec::new()),
    };
    if features.is_empty() && text.is_none() {
        bail!("there is no column of numbers to use as a feature: name the feature columns with --features");
    }
    let mut rows = Rows::new(examples, Vec::new());
    rows.text = text.and_then(|name| read.column(name, features.iter().any(|own| own == name), &kept));
    let protected = names.columns.protected.as_deref().filter(|_| options.group_aware.is_some());
    rows.protected = protected.and_then(|name| read.column(name, true, &kept));
    for (place, name) in features.iter().enumerate() {
        rows.columns.extend(read.column(name, features[place + 1..].contains(name), &kept));
    }
    rows.folds = folds;
    rows.group_columns = names.columns.group;
    rows.query = names.columns.query;
    if let Some(path) = &options.embeddings {
        let file = File::open(path).with_context(|| format!("--embeddings {}", path.display()))?;
        rows.vectors = Some(Box::new(BufReader::new(file)));
    }
    rows.tables = notes.tables;
    if !ignored.is_empty() {
        let ignored: Vec<String> = ignored.iter().map(|name| format!("{:?}", plain(name))).collect();
        let note = "columns of text are no features unless --features names them";
        rows.notes.push(format!("{note}: {}", ignored.join(", ")));
    }
    Ok(rows)
}

/// All tables as one source, and how many files each fold has.
fn sources(options: &FitOptions) -> anyhow::Result<(Source, Vec<(Fold, usize)>)> {
    let tables = [
        (Fold::Split, &options.table.tables),
        (Fold::Validation, &options.validation),
        (Fold::Test, &options.test),
    ];
    let (mut sources, mut files): (Vec<Source>, Vec<(Fold, usize)>) = (Vec::new(), Vec::new());
    for (fold, list) in tables.into_iter().filter(|(_, list)| !list.is_empty()) {
        let source = Source::parse_all(list)?;
        let mut before = sources.iter().flat_map(|source| source.names());
        if let Some(name) = before.find(|name| source.names().contains(name)) {
            bail!(
                "{} is to be used twice, for training and to check it: name other rows there, or split one \
                 table with --split",
                plain(name)
            );
        }
        drop(before);
        files.push((fold, source.names().len()));
        sources.push(source);
    }
    Ok((Source::chain(sources), files))
}

impl Names {
    fn new(options: &TableOptions, score: Option<&str>, source: &Source) -> anyhow::Result<Names> {
        let mut names = Names { score: score.map(str::to_owned), columns: options.clone() };
        if options.label.is_none() || options.query.is_none() {
            names.add_defaults(source)?;
        }
        if names.columns.label.is_none() && options.group.is_empty() && options.protected.is_none() {
            bail!(
                "there is nothing to compare the scores with: name the label column with --label, or a \
                 protected attribute with --group"
            );
        }
        Ok(names)
    }

    /// SVMlight files have a label and may have queries, without anyone saying so.
    fn add_defaults(&mut self, source: &Source) -> Result<(), TableError> {
        let (label, qid) = SVMLIGHT;
        let columns = match tables::column_names(source) {
            // Too many features to list, which only SVMlight files have.
            Err(TableError::TooWide { .. }) => {
                let wanted = Selection::Columns(vec![Want::category(qid)]);
                match tables::read(source, &wanted, &|_, _| ()) {
                    Ok(_) => vec![label.to_owned(), qid.to_owned()],
                    Err(_) => vec![label.to_owned()],
                }
            }
            names => names?,
        };
        if is_svmlight(&columns) {
            self.columns.label.get_or_insert_with(|| label.to_owned());
            if columns.iter().any(|name| name == qid) {
                self.columns.query.get_or_insert_with(|| qid.to_owned());
            }
        }
        Ok(())
    }

    /// Whether pairs count by the difference of their labels.
    fn label_gap(&self) -> bool {
        self.columns.pair_weight.as_deref() == Some(LABEL_GAP)
    }

    /// What is named, with what it is used as.
    fn roles(&self) -> impl Iterator<Item = (Role, &str)> {
        let columns = &self.columns;
        let roles = [
            (Role::Score, self.score.as_slice()),
            (Role::Label, columns.label.as_slice()),
            (Role::Query, columns.query.as_slice()),
            (Role::Group, &columns.group),
            (Role::Protected, columns.protected.as_slice()),
            (Role::Weight, columns.weight.as_slice()),
            (Role::PairWeight, columns.pair_weight.as_slice()),
            (Role::Id, columns.id.as_slice()),
        ];
        roles.into_iter().flat_map(|(role, names)| names.iter().map(move |name| (role, name.as_str())))
    }

    /// Columns that hold numbers, with what they are used as.
    fn numbers(&self) -> impl Iterator<Item = (Role, &str)> {
        let is_column = |role| role != Role::PairWeight || !self.label_gap();
        self.roles().filter(move |(role, _)| !holds_categories(*role) && is_column(*role))
    }

    /// Names of columns that hold categories.
    fn categories(&self) -> impl Iterator<Item = &str> {
        self.roles().filter(|(role, _)| holds_categories(*role)).map(|(_, name)| name)
    }

    fn is_number(&self, name: &str) -> bool {
        self.numbers().any(|(_, number)| number == name)
    }

    fn wants(&self) -> Vec<Want> {
        let categories = self.categories().filter(|name| !self.is_number(name)).map(Want::category);
        self.numbers().map(|(_, name)| Want::number(name)).chain(categories).collect()
    }

    fn categories_of_numbers(&self) -> Vec<Want> {
        self.categories().filter(|name| self.is_number(name)).map(Want::category).collect()
    }
}

fn holds_categories(role: Role) -> bool {
    matches!(role, Role::Query | Role::Group | Role::Id)
}

/// Names as SVMlight files have them: the label, perhaps queries, and numbered features.
fn is_svmlight(columns: &[String]) -> bool {
    let (label, qid) = SVMLIGHT;
    let mut features = columns.iter().map(String::as_str).skip(1).skip_while(|name| *name == qid);
    columns.first().is_some_and(|name| name == label)
        && features.all(|name| name.parse::<u64>().is_ok_and(|number| number.to_string() == name))
}

/// What was read: a column wanted in two kinds is in both tables.
pub struct Read {
    /// The columns, as numbers if they are wanted as both.
    pub table: Table,
    again: Option<Table>,
}

impl Read {
    /// Reads what is selected, and some columns of numbers again as categories: a score can also be the group.
    ///
    /// # Errors
    /// Whatever is wrong with the files.
    pub fn new(
        source: &Source,
        selection: &Selection,
        again: Vec<Want>,
        quiet: bool,
    ) -> Result<Read, TableError> {
        let progress = ReadProgress::new(quiet);
        let show = |done: u64, all: Option<u64>| progress.update(done, all);
        let table = tables::read(source, selection, &show)?;
        let again = match again.is_empty() {
            true => None,
            false => Some(tables::read(source, &Selection::Columns(again), &show)?),
        };
        Ok(Read { table, again })
    }

    /// The names of the files.
    pub fn files(&self) -> Vec<String> {
        self.table.files().iter().map(|(name, _)| name.clone()).collect()
    }

    /// What each row is for, by the file it is from.
    fn folds(&self, files: &[(Fold, usize)]) -> Vec<Fold> {
        let mut counts = self.table.files().iter().map(|(_, rows)| *rows);
        let mut folds = Vec::with_capacity(self.table.rows());
        for &(fold, files) in files {
            let rows: usize = counts.by_ref().take(files).sum();
            folds.resize(folds.len() + rows, fold);
        }
        folds
    }

    /// Columns of numbers, or of categories, that have no use yet.
    fn unused(&self, names: &Names, numbers: bool) -> Vec<String> {
        let unused = |column: &&Column| {
            column.numbers().is_some() == numbers
                && !names.is_number(&column.name)
                && names.categories().all(|name| name != column.name)
        };
        self.table.columns().iter().filter(unused).map(|column| column.name.clone()).collect()
    }

    /// The kept rows of a column, which leaves the table unless it is used again.
    fn column(&mut self, name: &str, again: bool, kept: &Kept) -> Option<Column> {
        let column = if again { self.table.column(name).cloned() } else { self.table.take(name) };
        column.map(|column| kept.column(column))
    }

    fn numbers(&self, name: &str) -> Option<&[f64]> {
        self.table.column(name)?.numbers()
    }

    /// The categories of a column.
    pub fn categories(&self, name: &str) -> Option<(&[u32], &[String])> {
        let column = self.again.as_ref().and_then(|table| table.column(name));
        column.or_else(|| self.table.column(name))?.categories()
    }

    /// The id of a row, where ids were asked for and the row has one.
    fn id(&self, names: &Names, row: usize) -> Option<&str> {
        let (codes, levels) = self.categories(names.columns.id.as_deref()?)?;
        levels.get(codes[row] as usize).map(String::as_str)
    }

    /// The rows that lack nothing, and what was left out.
    fn keep(&self, names: &Names) -> anyhow::Result<(Kept, Notes)> {
        let rows = self.table.rows();
        let mut kept = vec![true; rows];
        let mut missing = Vec::new();
        let mut drop_rows = |role: Role, is_missing: &dyn Fn(usize) -> bool| {
            let mut count = 0;
            for (row, kept) in kept.iter_mut().enumerate() {
                if is_missing(row) {
                    *kept = false;
                    count += 1;
                }
            }
            missing.push(Missing { role, rows: count });
        };
        for (role, name) in names.numbers() {
            if let Some(numbers) = self.numbers(name)
                && role != Role::Protected
            {
                drop_rows(role, &|row| numbers[row].is_nan());
            }
        }
        if let Some((codes, _)) = names.columns.query.as_deref().and_then(|name| self.categories(name)) {
            drop_rows(Role::Query, &|row| codes[row] == MISSING);
        }
        let dropped = (0..rows).filter(|&row| !kept[row]).filter_map(|row| self.id(names, row));
        let dropped_ids: Vec<String> = dropped.take(DROPPED_IDS).map(str::to_owned).collect();
        let kept: Vec<u32> = (0..rows as u32).filter(|&row| kept[row as usize]).collect();
        let notes = Notes {
            tables: self.files(),
            columns: names.roles().map(|(role, name)| (role, name.to_owned())).collect(),
            rows_read: rows,
            rows_dropped: rows - kept.len(),
            dropped_ids,
            missing,
        };
        if kept.is_empty() {
            let why: Vec<String> = notes
                .missing
                .iter()
                .filter(|missing| missing.rows > 0)
                .map(|missing| format!("{} is missing in {}", missing.role.name(), missing.rows))
                .collect();
            bail!("no row is left of the {rows} that were read: {}", why.join(", "));
        }
        Ok((Kept((kept.len() < rows).then_some(kept)), notes))
    }

    /// The examples of the kept rows. Rows of different folds are never in one query.
    fn examples(&self, names: &Names, kept: &Kept, folds: &[Fold]) -> anyhow::Result<Examples> {
        let pick = |name: &Option<String>| Some(kept.of(self.numbers(name.as_deref()?)?));
        let labels = pick(&names.columns.label);
        let weights = pick(&names.columns.weight);
        let factors = pick(&names.columns.pair_weight);
        let protected = pick(&names.columns.protected);
        let query_codes = names.columns.query.as_deref().and_then(|name| self.categories(name));
        let mut queries = query_codes.map(|(codes, _)| kept.of(codes));
        if let (Some(queries), Some((_, levels))) = (&mut queries, query_codes)
            && folds.iter().any(|&fold| fold != Fold::Split)
        {
            let place = |fold: Fold| levels.len() as u32 * fold as u32;
            queries.to_mut().iter_mut().zip(folds).for_each(|(query, &fold)| *query += place(fold));
        }
        let groups = self.groups(names, kept)?;
        let pair_weight = match &factors {
            _ if names.label_gap() => PairWeight::LabelGap,
            Some(values) => PairWeight::Product(values),
            None => PairWeight::One,
        };
        let columns = Columns {
            labels: labels.as_deref(),
            groups: groups.as_ref(),
            protected: protected.as_deref(),
            queries: queries.as_deref(),
            weights: weights.as_deref(),
            pair_weight,
        };
        Examples::new(columns).map_err(|error| self.explain(error, names, kept))
    }

    /// The groups of the kept rows: those of one column, or the intersections of several.
    fn groups(&self, names: &Names, kept: &Kept) -> anyhow::Result<Option<Groups>> {
        let mut all: Option<Groups> = None;
        for name in &names.columns.group {
            let Some((codes, levels)) = self.categories(name) else { continue };
            let column = Groups::from_codes(levels.to_vec(), kept.of(codes).into_owned());
            // Before they are crossed, and not after: two identifiers would give too many to hold.
            few_enough(&column, &format!("column {:?}", plain(name)))?;
            let crossed = match all {
                None => column,
                Some(before) => before.intersect(&column),
            };
            few_enough(&crossed, "the intersection of the --group columns")?;
            all = Some(crossed);
        }
        if let Some(groups) = &all
            && groups.names().is_empty()
        {
            let names: Vec<String> =
                names.columns.group.iter().map(|name| format!("{:?}", plain(name))).collect();
            bail!("no row belongs to a group: {} has no value in any row", names.join(" and "));
        }
        Ok(all)
    }

    /// The engine's error with the file, the row and the column of the user.
    fn explain(&self, error: ExamplesError, names: &Names, kept: &Kept) -> anyhow::Error {
        let place = |column: &str, row: usize| {
            let (what, name) = match column {
                "labels" => ("label", &names.columns.label),
                "weights" => ("weight", &names.columns.weight),
                "pair weights" => ("pair weight", &names.columns.pair_weight),
                _ => ("protected attribute", &names.columns.protected),
            };
            let row = kept.number(row);
            let name = plain(name.as_deref().unwrap_or(column));
            let id = self.id(names, row).map(|id| format!(" (id {:?})", plain(id))).unwrap_or_default();
            format!("{}{id}, column {name:?}: {what}", self.table.locate(row))
        };
        match error {
            ExamplesError::NegativeWeight { column, row, value } => {
                anyhow::anyhow!("{} is {value}; weights are ≥ 0 (0 leaves a row out)", place(column, row))
            }
            ExamplesError::NotFinite { column, row, value } => {
                anyhow::anyhow!("{} is {value}; finite numbers are needed", place(column, row))
            }
            ExamplesError::GapWithoutLabels => {
                anyhow::anyhow!("--pair-weight {LABEL_GAP} needs labels: name the label column with --label")
            }
            ExamplesError::Empty { zero_weights: true } => {
                let name = plain(names.columns.weight.as_deref().unwrap_or_default());
                anyhow::anyhow!("no row counts: every weight in column {name:?} is 0")
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

fn gather<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|&row| values[row as usize]).collect()
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
