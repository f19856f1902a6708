//! `pairity score`: read the columns that a model needs, score the rows, and write the table back with its
//! scores.

use crate::options::ScoreOptions;
use crate::output::{self, STANDARD};
use crate::read::Read;
use crate::roles::Roles;
use anyhow::{Context, anyhow, bail};
use pairity::examples::Groups;
use pairity::learners::EncodeError;
use pairity::model::{After, Model, ModelError};
use pairity::run::{self, RunError, ScoreOutcome, ScoreRequest};
use pairity_report::{Look, Role, ScoringReport, plain, scoring_json, scoring_text};
use pairity_tables::{AddColumns, Output, Source, TableError, Want, WholeFile};
use std::path::Path;

/// Runs the command.
///
/// # Errors
/// Wrong arguments or data; the output file is as it was then.
pub fn score(options: &ScoreOptions) -> anyhow::Result<u8> {
    let (report, file) = output::on_threads(&options.output, || scored(options))?;
    if report.output == STANDARD {
        let text = |report: &_, look: &Look| scoring_text(report, &Look { color: false, ..*look });
        output::complain(output::render(&options.output, &report, scoring_json, text).trim_end());
    } else {
        let text = output::render(&options.output, &report, scoring_json, scoring_text);
        output::publish(&text, file.into_iter().collect())?;
    }
    Ok(0)
}

/// The report, and the file that is to be kept with it.
fn scored(options: &ScoreOptions) -> anyhow::Result<(ScoringReport, Option<WholeFile>)> {
    let model = read_model(&options.model)?;
    let (path, name) = (options.out.as_path(), options.out.display().to_string());
    let to_standard = name == STANDARD;
    let format = if to_standard { Output::csv() } else { Output::of(path)? };
    let source = Source::parse_all(&options.tables)?;
    let outputs = (!to_standard).then_some(path);
    output::check_apart(outputs.as_slice(), &source, &[("the model", &options.model)])?;
    let mut columns = vec![options.score.clone()];
    if options.expected {
        columns.push(format!("expected_{}", options.score));
    }
    let added: Vec<&str> = columns.iter().map(String::as_str).collect();
    let plan = AddColumns::plan(&source, &added, format).map_err(advise)?;
    // Before the work, so that a folder that can't be written to is told at once.
    let file = (!to_standard).then(|| output::create_table(path)).transpose()?;
    let query = model.query_columns(&options.query);
    let run = outcome(&model, &source, query, options)?;
    let numbers: Vec<&[f64]> = std::iter::once(&run.scores[..]).chain(run.expected.as_deref()).collect();
    let file = output::write_columns(&plan, &numbers, &name, file, options.output.quiet)?;
    let report = ScoringReport {
        tables: source.names().into_iter().map(str::to_owned).collect(),
        model: options.model.display().to_string(),
        output: name,
        columns,
        query: query.to_vec(),
        run,
    };
    Ok((report, file))
}

fn read_model(path: &Path) -> anyhow::Result<Model> {
    let name = path.display();
    let bytes = std::fs::read(path).with_context(|| format!("can't read the model {name}"))?;
    let Ok(text) = String::from_utf8(bytes) else {
        bail!("{name}: not a model file: it is no text. The model comes first, then the table");
    };
    Model::from_json(&text).with_context(|| name.to_string())
}

/// Reads what the model needs, and scores it.
fn outcome(
    model: &Model,
    source: &Source,
    query: &[String],
    options: &ScoreOptions,
) -> anyhow::Result<ScoreOutcome> {
    let groups = model.groups.as_ref().map_or(&[][..], |groups| &groups.columns);
    let roles = query.iter().map(|name| (Role::Query, name.clone()));
    let role = if model.attribute().is_some() { Role::Protected } else { Role::Group };
    let roles = roles.chain(groups.iter().map(|name| (role, name.clone()))).collect();
    let wants = model.encoder.inputs().map(Want::from).collect();
    let read = Read::new(source, Roles(roles), Some(wants), options.output.quiet);
    let read = read.map_err(|error| explain(error, model, query))?;
    let table = &read.table;
    // Those of one column, or the intersections of several.
    let columns = groups.iter().filter_map(|name| read.categories(name));
    let columns = columns.map(|(codes, levels)| Groups::from_codes(levels.to_vec(), codes.to_vec()));
    let groups = columns.reduce(|before, column| before.intersect(&column)).unwrap_or_default();
    let queries = read.crossed(Role::Query);
    let request = ScoreRequest {
        model,
        columns: table.columns(),
        groups: model.groups.as_ref().filter(|_| role == Role::Group).map(|_| &groups),
        queries: queries.as_ref().map(|(codes, names)| (&codes[..], &names[..])),
        seed: options.seed,
        expected: options.expected,
    };
    run::score(&request).map_err(|error| match error {
        RunError::Model(ModelError::Encode(cause @ EncodeError::NotFinite { row, .. })) => {
            anyhow!("{}: {cause}", read.locate(row))
        }
        RunError::NotFinite { what, row, value } => anyhow!(
            "{}: the {what} is {value}, which is no finite number. The features of this row are too large for the \
             model: correct the cells, or leave them empty if the values are missing",
            read.locate(row)
        ),
        RunError::Model(ModelError::NoExpected) => anyhow!(
            "the model draws a ranking for each query, and ranks have no expected score: leave out --expected"
        ),
        other => other.into(),
    })
}

/// The error of a plan, in words of the options.
fn advise(error: TableError) -> anyhow::Error {
    match error {
        TableError::NameTaken { .. } => anyhow!("{error}, with --score"),
        TableError::TooWide { file, rows, largest } => anyhow!(
            "{file} has {rows} rows and feature numbers up to {largest}: too large to be written with every \
             column. Score it in parts, or leave out the features that the model does not use"
        ),
        other => other.into(),
    }
}

/// The error of a read, with the reason why an absent column is needed.
fn explain(error: TableError, model: &Model, query: &[String]) -> anyhow::Error {
    let TableError::UnknownColumn { column, .. } = &error else { return error.into() };
    let name = plain(column);
    let why = if model.encoder.columns().iter().any(|encoding| encoding.name() == column) {
        format!("The model was trained with the feature {name:?}: add the column, or rename one")
    } else if query.contains(column) {
        let scorers = model.components.len();
        if matches!(model.after, Some(After::Ranked(_))) {
            return anyhow!("{error}. The model ranks inside queries: name their column with --query");
        }
        if scorers < 2 {
            return error.into();
        }
        format!(
            "The model is a mixture of {scorers} scorers and draws one for each query: name the column of the \
             queries with --query"
        )
    } else if model.attribute() == Some(column) {
        format!("The model adjusts scores by the attribute {name:?}: add the column, or rename one")
    } else {
        format!("The model tells the groups of column {name:?} apart: add the column, or rename one")
    };
    anyhow!("{error}. {why}")
}
