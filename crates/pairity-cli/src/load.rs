//! From files to the columns of an audit: reads the named columns, leaves out rows that lack something,
//! and remembers where each row came from.

use crate::arguments::{AuditArguments, TableArguments};
use crate::progress::Progress;
use anyhow::bail;
use pairity::examples::{Columns, Examples, ExamplesError, Groups, MAX_GROUPS, PairWeight};
use pairity::tables::{self, MISSING, Selection, Source, Table, TableError, Want};
use pairity_report::{Missing, Notes, Role, plain};

/// The reserved word of `--pair-weight`.
const LABEL_GAP: &str = "label-gap";

/// What the columns of an SVMlight file are called.
const SVMLIGHT: (&str, &str) = ("label", "qid");

/// The most ids of rows left out that a report lists.
const DROPPED_IDS: usize = 10;

/// A loaded table: rows that lack nothing, ready for the engine.
#[derive(Debug)]
pub struct Loaded {
    /// The scores of the rows.
    pub scores: Vec<f64>,
    /// The rows.
    pub examples: Examples,
    /// What happened on the way.
    pub notes: Notes,
}

/// A table to train on: rows that lack nothing, and all columns.
#[derive(Debug)]
pub struct Rows {
    /// The rows that are used.
    pub examples: Examples,
    /// The number of each of them among all rows that were read.
    pub kept: Vec<u32>,
    /// Which of the tables each of them is from, by its place in the list.
    pub origin: Vec<u8>,
    /// Everything that was read.
    pub table: Table,
    /// The columns to use, in order.
    pub features: Vec<String>,
    /// Columns of text that nobody asked for.
    pub ignored: Vec<String>,
    /// The column of queries, if there is one.
    pub query: Option<String>,
    /// What happened on the way.
    pub notes: Notes,
}

/// The columns as they were named, with the defaults of SVMlight files.
#[derive(Debug, Clone, PartialEq)]
struct Names {
    score: Option<String>,
    label: Option<String>,
    groups: Vec<String>,
    protected: Option<String>,
    query: Option<String>,
    weight: Option<String>,
    pair_weight: Option<String>,
    id: Option<String>,
    label_gap: bool,
}

/// Reads the scored table that the arguments name.
///
/// # Errors
/// Whatever is wrong with files, columns or cells, in words that name the place.
pub fn load(arguments: &AuditArguments) -> anyhow::Result<Loaded> {
    let (_, names, read) = read_scored(&arguments.table, &arguments.score, arguments.output.quiet)?;
    let (kept, notes) = read.keep(&names)?;
    let examples = read.examples(&names, &kept, None)?;
    let scores = gather(read.numbers(&arguments.score).unwrap_or_default(), &kept);
    Ok(Loaded { scores, examples, notes })
}

fn read_scored(
    arguments: &TableArguments,
    score: &str,
    quiet: bool,
) -> anyhow::Result<(Source, Names, Read)> {
    let texts: Vec<&str> = arguments.tables.iter().map(String::as_str).collect();
    let source = Source::parse_all(&texts)?;
    let names = Names::new(arguments, Some(score), &source)?;
    let read = Read::new(&source, &names, Selection::Columns(names.wants()), quiet)?;
    Ok((source, names, read))
}

/// A scored table, with the rows that lack something still at hand.
pub struct Scored {
    /// Where it came from.
    pub source: Source,
    /// The scores of the rows that lack nothing.
    pub scores: Vec<f64>,
    /// These rows.
    pub examples: Examples,
    /// All rows.
    pub every: Every,
}

/// All rows of a scored table.
pub struct Every {
    /// Their scores; NaN where one is missing.
    pub scores: Vec<f64>,
    /// Their groups.
    pub groups: Option<Groups>,
    /// The groups of the rows that lack nothing.
    pub kept_groups: Option<Groups>,
    /// What was read.
    pub table: Table,
}

/// Reads a scored table.
///
/// # Errors
/// Whatever is wrong with files, columns or cells, in words that name the place.
pub fn load_scored(arguments: &TableArguments, score: &str, quiet: bool) -> anyhow::Result<Scored> {
    let (source, names, read) = read_scored(arguments, score, quiet)?;
    let (kept, _) = read.keep(&names)?;
    let examples = read.examples(&names, &kept, None)?;
    let all: Vec<u32> = (0..read.table.rows() as u32).collect();
    let (groups, kept_groups) = (read.groups(&names, &all)?, read.groups(&names, &kept)?);
    let every_score = read.numbers(score).unwrap_or_default().to_vec();
    let scores = gather(&every_score, &kept);
    let every = Every { scores: every_score, groups, kept_groups, table: read.table };
    Ok(Scored { source, scores, examples, every })
}

/// Reads tables to train on; all are one table, whose rows remember where they are from. Queries of
/// different tables are different, even if they have the same name.
///
/// # Errors
/// Whatever is wrong with files, columns or cells, in words that name the place.
pub fn load_rows(
    tables: &[&[String]],
    arguments: &TableArguments,
    features: &[String],
    text: Option<&str>,
    quiet: bool,
) -> anyhow::Result<Rows> {
    let mut sources: Vec<Source> = Vec::new();
    for list in tables.iter().filter(|list| !list.is_empty()) {
        let texts: Vec<&str> = list.iter().map(String::as_str).collect();
        let source = Source::parse_all(&texts)?;
        let before = sources.iter().flat_map(|source| source.names());
        if let Some(name) = before.clone().find(|name| source.names().contains(name)) {
            bail!(
                "{} is to be used twice, for training and to check it: name other rows there, or split one \
                 table with --split",
                plain(name)
            );
        }
        sources.push(source);
    }
    let files: Vec<usize> = sources.iter().map(|source| source.names().len()).collect();
    let source = Source::chain(sources);
    let names = Names::new(arguments, None, &source)?;
    if names.label.is_none() {
        bail!("training needs labels: name the label column with --label");
    }
    let roles = names.wants();
    if let Some(name) = features.iter().find(|name| names.label.as_ref() == Some(name)) {
        bail!("{:?} is the label, so it can't be a feature: leave it out of --features", plain(name));
    }
    if let Some(name) = text.filter(|&name| names.is_number(name)) {
        bail!("{:?} can't be the text as well as a number: name another column with --text", plain(name));
    }
    // With a text, other columns are features only if somebody names them.
    let all = features.is_empty() && text.is_none();
    let selection = match all {
        true => Selection::All { overrides: roles },
        false => {
            let features = features.iter().map(|name| Want::infer(name));
            Selection::Columns(roles.into_iter().chain(text.map(Want::category)).chain(features).collect())
        }
    };
    let read = Read::new(&source, &names, selection, quiet)?;
    let (kept, notes) = read.keep(&names)?;
    let origin = read.origin(&files, &kept);
    let examples = read.examples(&names, &kept, Some(&origin))?;
    let taken: Vec<&str> =
        names.numbers().into_iter().chain(names.categories()).map(|(_, name)| name).collect();
    let others = || read.table.columns().iter().filter(|column| !taken.contains(&column.name.as_str()));
    let names_of = |numbers: bool| -> Vec<String> {
        others()
            .filter(|column| column.numbers().is_some() == numbers)
            .map(|column| column.name.clone())
            .collect()
    };
    let (features, ignored) = match all {
        true => (names_of(true), names_of(false)),
        false => (features.to_vec(), Vec::new()),
    };
    if features.is_empty() && text.is_none() {
        bail!("there is no column of numbers to use as a feature: name the feature columns with --features");
    }
    Ok(Rows { examples, kept, origin, query: names.query, table: read.table, features, ignored, notes })
}

impl Names {
    fn new(arguments: &TableArguments, score: Option<&str>, source: &Source) -> anyhow::Result<Names> {
        let (label_gap, pair_weight) = match &arguments.pair_weight {
            Some(word) if word == LABEL_GAP => (true, None),
            other => (false, other.clone()),
        };
        let mut names = Names {
            score: score.map(str::to_owned),
            label: arguments.label.clone(),
            groups: arguments.group.clone(),
            protected: arguments.protected.clone(),
            query: arguments.query.clone(),
            weight: arguments.weight.clone(),
            pair_weight,
            id: arguments.id.clone(),
            label_gap,
        };
        if names.label.is_none() || names.query.is_none() {
            names.add_defaults(source)?;
        }
        if names.label.is_none() && names.groups.is_empty() && names.protected.is_none() {
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
            self.label.get_or_insert_with(|| label.to_owned());
            if columns.iter().any(|name| name == qid) {
                self.query.get_or_insert_with(|| qid.to_owned());
            }
        }
        Ok(())
    }

    /// Columns that hold numbers, with what they are used as.
    fn numbers(&self) -> Vec<(Role, &str)> {
        let optional = [
            (Role::Score, &self.score),
            (Role::Label, &self.label),
            (Role::Weight, &self.weight),
            (Role::PairWeight, &self.pair_weight),
            (Role::Protected, &self.protected),
        ];
        optional.into_iter().filter_map(|(role, name)| Some((role, name.as_deref()?))).collect()
    }

    /// Columns that hold categories, with what they are used as.
    fn categories(&self) -> Vec<(Role, &str)> {
        let query = self.query.iter().map(|name| (Role::Query, name.as_str()));
        let groups = self.groups.iter().map(|name| (Role::Group, name.as_str()));
        let id = self.id.iter().map(|name| (Role::Id, name.as_str()));
        query.chain(groups).chain(id).collect()
    }

    fn is_number(&self, name: &str) -> bool {
        self.numbers().iter().any(|(_, number)| *number == name)
    }

    fn wants(&self) -> Vec<Want> {
        let numbers = self.numbers().into_iter().map(|(_, name)| Want::number(name));
        let categories = self.categories().into_iter().filter(|(_, name)| !self.is_number(name));
        numbers.chain(categories.map(|(_, name)| Want::category(name))).collect()
    }

    fn categories_of_numbers(&self) -> Vec<Want> {
        let both = self.categories().into_iter().filter(|(_, name)| self.is_number(name));
        both.map(|(_, name)| Want::category(name)).collect()
    }

    /// The columns as the report shows them.
    fn roles(&self) -> Vec<(Role, String)> {
        let mut roles: Vec<(Role, String)> =
            self.numbers().into_iter().chain(self.categories()).map(|(r, n)| (r, n.to_owned())).collect();
        if self.label_gap {
            roles.push((Role::PairWeight, LABEL_GAP.to_owned()));
        }
        let order = |role: &Role| match role {
            Role::Score => 0,
            Role::Label => 1,
            Role::Query => 2,
            Role::Group | Role::Protected => 3,
            Role::Weight => 4,
            Role::PairWeight => 5,
            Role::Id => 6,
        };
        roles.sort_by_key(|(role, _)| order(role));
        roles
    }
}

/// Names as SVMlight files have them: the label, perhaps queries, and numbered features.
fn is_svmlight(columns: &[String]) -> bool {
    let (label, qid) = SVMLIGHT;
    let mut features = columns.iter().map(String::as_str).skip(1).skip_while(|name| *name == qid);
    columns.first().is_some_and(|name| name == label)
        && features.all(|name| name.parse::<u64>().is_ok_and(|number| number.to_string() == name))
}

/// What was read: a column wanted in two kinds is in both tables.
struct Read {
    table: Table,
    categories: Option<Table>,
    files: Vec<String>,
}

impl Read {
    fn new(source: &Source, names: &Names, selection: Selection, quiet: bool) -> anyhow::Result<Read> {
        let progress = Progress::new(quiet);
        let show = |done: u64, all: Option<u64>| progress.update(done, all);
        let table = tables::read(source, &selection, &show)?;
        // A column can be both a number and a category, such as a score that is also the group.
        let again = names.categories_of_numbers();
        let categories = match again.is_empty() {
            true => None,
            false => Some(tables::read(source, &Selection::Columns(again), &show)?),
        };
        let files = source.names().into_iter().map(str::to_owned).collect();
        Ok(Read { table, categories, files })
    }

    /// Which list of so many files each of the kept rows is from.
    fn origin(&self, files: &[usize], kept: &[u32]) -> Vec<u8> {
        let mut counts = self.table.files().iter().map(|(_, rows)| *rows);
        let mut all = Vec::with_capacity(self.table.rows());
        for (place, &files) in files.iter().enumerate() {
            let rows: usize = counts.by_ref().take(files).sum();
            all.resize(all.len() + rows, place as u8);
        }
        gather(&all, kept)
    }

    fn numbers(&self, name: &str) -> Option<&[f64]> {
        self.table.column(name)?.numbers()
    }

    fn categories(&self, name: &str) -> Option<(&[u32], &[String])> {
        let column = self.categories.as_ref().and_then(|table| table.column(name));
        column.or_else(|| self.table.column(name))?.categories()
    }

    /// The id of a row, where ids were asked for and the row has one.
    fn id(&self, names: &Names, row: usize) -> Option<&str> {
        let (codes, levels) = self.categories(names.id.as_deref()?)?;
        levels.get(codes[row] as usize).map(String::as_str)
    }

    /// The rows that lack nothing, and what was left out.
    fn keep(&self, names: &Names) -> anyhow::Result<(Vec<u32>, Notes)> {
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
        if let Some((codes, _)) = names.query.as_deref().and_then(|name| self.categories(name)) {
            drop_rows(Role::Query, &|row| codes[row] == MISSING);
        }
        let dropped = (0..rows).filter(|&row| !kept[row]).filter_map(|row| self.id(names, row));
        let dropped_ids: Vec<String> = dropped.take(DROPPED_IDS).map(str::to_owned).collect();
        let kept: Vec<u32> = (0..rows as u32).filter(|&row| kept[row as usize]).collect();
        let notes = Notes {
            tables: self.files.clone(),
            columns: names.roles(),
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
        Ok((kept, notes))
    }

    /// The examples of the kept rows. Rows of different origin are never in one query.
    fn examples(&self, names: &Names, kept: &[u32], origin: Option<&[u8]>) -> anyhow::Result<Examples> {
        let pick = |name: &Option<String>| {
            let numbers = self.numbers(name.as_deref()?)?;
            Some(gather(numbers, kept))
        };
        let labels = pick(&names.label);
        let weights = pick(&names.weight);
        let factors = pick(&names.pair_weight);
        let protected = pick(&names.protected);
        let query_codes = names.query.as_deref().and_then(|name| self.categories(name));
        let mut queries = query_codes.map(|(codes, _)| gather(codes, kept));
        if let (Some(queries), Some((_, levels)), Some(origin)) = (&mut queries, query_codes, origin) {
            let apart = levels.len() as u32;
            queries.iter_mut().zip(origin).for_each(|(query, &place)| *query += apart * u32::from(place));
        }
        let groups = self.groups(names, kept)?;
        let pair_weight = match &factors {
            _ if names.label_gap => PairWeight::LabelGap,
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
    fn groups(&self, names: &Names, kept: &[u32]) -> anyhow::Result<Option<Groups>> {
        let mut all: Option<Groups> = None;
        for name in &names.groups {
            let Some((codes, levels)) = self.categories(name) else { continue };
            let column = Groups::from_codes(levels.to_vec(), gather(codes, kept));
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
            let names: Vec<String> = names.groups.iter().map(|name| format!("{:?}", plain(name))).collect();
            bail!("no row belongs to a group: {} has no value in any row", names.join(" and "));
        }
        Ok(all)
    }

    /// The engine's error with the file, the row and the column of the user.
    fn explain(&self, error: ExamplesError, names: &Names, kept: &[u32]) -> anyhow::Error {
        let place = |column: &str, row: usize| {
            let (what, name) = match column {
                "labels" => ("label", &names.label),
                "weights" => ("weight", &names.weight),
                "pair weights" => ("pair weight", &names.pair_weight),
                _ => ("protected attribute", &names.protected),
            };
            let row = kept.get(row).map_or(row, |&row| row as usize);
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
                let name = plain(names.weight.as_deref().unwrap_or_default());
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
