//! From files to the rows of a request: reads the named columns and leaves out rows that lack something.

use crate::memory;
use crate::options::{AdjustOptions, FitOptions, TableOptions};
use crate::output::check_apart;
use crate::progress::ReadingBar;
use crate::read::{Read, none_left};
use crate::roles::{Roles, quoted};
use anyhow::{Context, bail};
use pairity::examples::Column;
use pairity::run::{Fold, Rows};
use pairity_report::{Notes, Role, plain};
use pairity_tables::{self as tables, Source, StoredColumns, Table, TableError, TableParts, Want};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::mpsc;
use std::thread;

/// How many files each fold has, in the order of the rows.
type Files = Vec<(Fold, usize)>;

/// Reads a table that has scores, and is none of the outputs, part by part: `each` gets the rows of whole queries, and
/// tells whether one has a group. Without queries it gets any rows. Returns what was left out.
///
/// # Errors
/// Whatever is wrong with files, columns or cells, in words that name the place; those of `each`.
pub fn scored_in_parts(
    source: &Source,
    roles: &Roles,
    rows: usize,
    quiet: bool,
    each: &mut dyn FnMut(&Read) -> anyhow::Result<bool>,
) -> anyhow::Result<Notes> {
    let wants =
        |categories| roles.of_kind(categories).map(if categories { Want::category } else { Want::number });
    let wants: Vec<Want> = wants(false).chain(wants(true)).collect();
    let query: Vec<String> = roles.columns_of(Role::Query).map(str::to_owned).collect();
    let (mut all, mut any_group, show) = (Notes::default(), false, ReadingBar::new(quiet));
    in_parts(source, &wants, &query, rows, &show, &mut |table| {
        let mut read = Read::part(table, roles, source);
        read.check_rounded()?;
        let notes = read.keep()?;
        let weightless = |weights: &[f64]| weights.iter().all(|weight| *weight == 0.0);
        if !read.numbers(Role::Weight).is_some_and(weightless) && read.table.rows() > 0 {
            any_group |= each(&read)?;
        }
        show.rows(notes.rows_read);
        all.add(notes);
        Ok(())
    })?;
    if all.rows_read == all.rows_dropped {
        return Err(none_left(&all));
    }
    match !any_group && roles.column(Role::Group).is_some() {
        true => Err(roles.no_groups()),
        false => Ok(all),
    }
}

/// Hands out part after part; with several threads the next one is read meanwhile.
fn in_parts(
    source: &Source,
    wants: &[Want],
    query: &[String],
    rows: usize,
    show: &ReadingBar,
    each: &mut dyn FnMut(Table) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let folder = std::env::temp_dir();
    let (parts, tell) = (TableParts { rows, folder: &folder }, |done, all| show.bytes(done, all));
    if rayon::current_num_threads() < 2 {
        return tables::read_in_parts(source, wants, query, &parts, &tell, each);
    }
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(0);
        let reader = scope.spawn(move || {
            let ended = |_| TableError::Other("the reader of the parts ended it".to_owned());
            tables::read_in_parts(source, wants, query, &parts, &tell, &mut |table| {
                sender.send(table).map_err(ended)
            })
        });
        let counted = receiver.iter().try_for_each(each);
        // Without a receiver the reader ends.
        drop(receiver);
        let read = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        counted.and(read.map_err(anyhow::Error::from))
    })
}

/// Reads all rows of a table that has scores, and is none of the outputs.
///
/// # Errors
/// Whatever is wrong with files, columns or cells, in words that name the place.
pub fn scored(
    source: &Source,
    options: &TableOptions,
    score: &str,
    outputs: &[&Path],
    quiet: bool,
) -> anyhow::Result<Read> {
    check_apart(outputs, source, &[])?;
    let roles = Roles::named(options, &[score.to_owned()], source)?;
    Read::new(source, roles, Some(Vec::new()), quiet)?.choosing(options, source, quiet)
}

/// Reads a table that has scores, with those that a map of them is chosen or tested on. All are read as one; the
/// source is that of the first, whose rows come first, and each fold has so many files.
///
/// # Errors
/// Whatever is wrong with files, columns or cells, in words that name the place.
pub fn to_adjust(options: &AdjustOptions, outputs: &[&Path]) -> anyhow::Result<(Source, Read, Files)> {
    let AdjustOptions { table, score, validation, test, output, .. } = options;
    let uses = ["to choose the map on and to test it", "--tune"];
    let (own, all, files) = sources(&table.tables, [validation, test], uses)?;
    Ok((own, scored(&all, table, score, outputs, output.quiet)?, files))
}

/// Reads tables to train on; all are one table, whose rows remember what they are for. Queries of different
/// tables are different, even if they have the same name. No output may be one of the files.
///
/// # Errors
/// Whatever is wrong with files, columns or cells, in words that name the place.
pub fn to_train(options: &FitOptions, outputs: &[&Path]) -> anyhow::Result<Rows> {
    let checked = options.request().check(options.text.is_some(), options.embeddings.is_some());
    checked.map_err(|error| options.explain(error))?;
    let checked = [&options.validation[..], &options.test];
    let uses = ["for training and to check it", "--split"];
    let (_, source, files) = sources(&options.table.tables, checked, uses)?;
    let vectors = options.embeddings.iter().map(|path| ("the word vectors", path.as_path()));
    check_apart(outputs, &source, &vectors.collect::<Vec<_>>())?;
    let roles = Roles::named(&options.table, &[], &source)?;
    let (mut features, text) = (options.features.clone(), options.text.as_deref());
    let Some(label) = roles.column(Role::Label) else {
        bail!("training needs labels: name the label column with --label");
    };
    if features.iter().any(|name| name == label) {
        bail!("{:?} is the label, so it can't be a feature: leave it out of --features", plain(label));
    }
    if let Some(name) = text.filter(|&name| roles.of_kind(false).any(|number| number == name)) {
        bail!("{:?} can't be the text as well as a number: name another column with --text", plain(name));
    }
    // With a text, other columns are features only if somebody names them.
    let all = features.is_empty() && text.is_none();
    let named = text
        .map(Want::category)
        .into_iter()
        .chain(features.iter().map(|name| Want::infer(name).as_feature()));
    let stored = memory::is_beyond(options, source.bytes()) && text.is_none();
    let wants = if stored { Some(Vec::new()) } else { (!all).then(|| named.collect()) };
    let quiet = options.output.quiet;
    let mut read = Read::new(&source, roles, wants, quiet)?.choosing(&options.table, &source, quiet)?;
    let notes = read.keep()?;
    let folds = read.folds(&files);
    let mut rows = Rows::new(read.examples(&folds)?, Vec::new());
    let within: Vec<String> = read.roles.columns_of(Role::Within).map(str::to_owned).collect();
    if !within.is_empty() {
        let note = format!("only pairs of rows that agree on {} count", quoted(within.iter(), " and "));
        rows.notes.push(note);
    }
    for (role, name) in read.roles.columns().filter(|(role, _)| matches!(role, Role::Higher | Role::Lower)) {
        let order = if role == Role::Higher { "higher" } else { "lower" };
        rows.notes.push(format!("only pairs whose better row has the {order} {:?} count", plain(name)));
    }
    if stored {
        return stored_rows(options, &source, &read, Rows { folds, ..rows }, notes);
    }
    if all {
        let is_unused = |column: &&Column| read.roles.columns().all(|(_, own)| own != column.name);
        let unused = read.table.columns().iter().filter(is_unused);
        let (numbers, ignored): (Vec<_>, Vec<_>) = unused.partition(|column| column.categories().is_none());
        let all = read.table.columns();
        if let Some(name) =
            options.exclude_features.iter().find(|&name| all.iter().all(|own| own.name != *name))
        {
            let names = quoted(numbers.iter().map(|column| &column.name), ", ");
            bail!("--exclude-features: there is no column {:?}; the features are {names}", plain(name));
        }
        let names = numbers.iter().map(|column| &column.name);
        features.extend(names.filter(|name| !options.exclude_features.contains(name)).cloned());
        if !ignored.is_empty() {
            let note = "columns of text are no features unless --features names them";
            rows.notes.push(format!("{note}: {}", quoted(ignored.iter().map(|column| &column.name), ", ")));
        }
    }
    if features.is_empty() && text.is_none() {
        bail!("there is no column of numbers to use as a feature: name the feature columns with --features");
    }
    rows.text = text.and_then(|name| read.take(name, features.iter().any(|own| own == name)));
    let TableOptions { protected, group, .. } = &options.table;
    let protected = protected.as_deref().filter(|_| options.group_aware.is_some());
    rows.protected = protected.and_then(|name| read.take(name, true));
    rows.columns = read.table.take_all(&features);
    rows.folds = folds;
    rows.group_columns = group.iter().chain(&options.table.protected).cloned().collect();
    if let Some(path) = &options.embeddings {
        let file = File::open(path).with_context(|| format!("--embeddings {}", path.display()))?;
        rows.vectors = Some(Box::new(BufReader::new(file)));
    }
    Ok(read.described(rows, notes))
}

/// Rows whose features stay on disk.
fn stored_rows(
    options: &FitOptions,
    source: &Source,
    read: &Read,
    mut rows: Rows,
    notes: Notes,
) -> anyhow::Result<Rows> {
    let mut names = options.features.clone();
    if names.is_empty() {
        names = tables::column_names(source)?;
        let is_used = |name: &String| read.roles.columns().any(|(_, own)| own == name);
        names.retain(|name| !is_used(name) && !options.exclude_features.contains(name));
    }
    let (memory, folder) = (options.memory.unwrap_or_default(), std::env::temp_dir());
    let stored = StoredColumns::new(source, &names, !options.features.is_empty(), memory, &folder)?;
    if !stored.texts.is_empty() {
        let note = "columns of text are no features unless --features names them";
        rows.notes.push(format!("{note}: {}", quoted(stored.texts.iter(), ", ")));
    }
    let kept = (0..read.table.rows()).map(|row| read.table.number(row) as u32).collect();
    rows.elsewhere = Some(Box::new(stored.keeping(kept)));
    rows.group_columns.clone_from(&options.table.group);
    Ok(read.described(rows, notes))
}

/// The first tables as one source, all tables as one, and how many files each fold has.
fn sources(
    tables: &[String],
    [validation, test]: [&[String]; 2],
    [uses, split]: [&str; 2],
) -> anyhow::Result<(Source, Source, Files)> {
    let own = Source::parse_all(tables)?;
    let (mut all, mut files) = (own.clone(), vec![(Fold::Split, own.names().len())]);
    for (fold, list) in [(Fold::Validation, validation), (Fold::Test, test)] {
        let source = Source::parse_all(list)?;
        if let Some(name) = source.shared(&all) {
            bail!(
                "{} is to be used twice, {uses}: name other rows there, or split one table with {split}",
                plain(name)
            );
        }
        files.push((fold, source.names().len()));
        all = Source::chain(vec![all, source]);
    }
    Ok((own, all, files))
}
