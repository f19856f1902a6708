//! `pairity score`: read the columns that a model needs, score the rows, and write the table back with its
//! scores.

use crate::arguments::Format;
use crate::output;
use crate::progress::Progress;
use crate::score_arguments::ScoreArguments;
use anyhow::{Context, anyhow, bail};
use pairity::examples::Groups;
use pairity::methods::After;
use pairity::scorers::{Draw, EncodeError, Features, Model, ModelGroups, Note};
use pairity::tables::{self, AddColumns, Output, Selection, Source, Table, TableError, Want, WholeFile};
use pairity_report::{Look, ScoringComponent, ScoringReport, plain, scoring_json, scoring_text};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::ExitCode;

/// The output that is standard output.
const STANDARD: &str = "-";

/// Runs the command.
///
/// # Errors
/// Wrong arguments or data; the output file is as it was then.
pub fn run(arguments: &ScoreArguments) -> anyhow::Result<ExitCode> {
    let report = output::on_threads(&arguments.output, || scored(arguments))?;
    let to_standard = report.output == STANDARD;
    let text = match arguments.output.format {
        Format::Json => pairity_report::json_lines(&scoring_json(&report)),
        Format::Text => {
            let look = output::look();
            scoring_text(&report, &Look { color: look.color && !to_standard, ..look })
        }
    };
    match to_standard {
        true => output::complain(text.trim_end()),
        false => output::write(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn scored(arguments: &ScoreArguments) -> anyhow::Result<ScoringReport> {
    let model = read_model(&arguments.model)?;
    let (path, name) = (arguments.out.as_path(), arguments.out.display().to_string());
    let to_standard = name == STANDARD;
    let format = if to_standard { Output::Csv } else { Output::of(path)? };
    let texts: Vec<&str> = arguments.tables.iter().map(String::as_str).collect();
    let source = Source::parse_all(&texts)?;
    if !to_standard && source.reads(path) {
        return Err(TableError::OutputIsInput { file: name }.into());
    }
    let mut columns = vec![arguments.score.clone()];
    if arguments.expected {
        columns.push(format!("expected_{}", arguments.score));
    }
    let added: Vec<&str> = columns.iter().map(String::as_str).collect();
    let copy = AddColumns::plan(&source, &added, format).map_err(advise)?;
    // Before the work, so that a folder that can't be written to is told at once.
    let unwritable = |cause: io::Error| TableError::Write { file: name.clone(), cause };
    let file = match to_standard {
        true => None,
        false => Some(WholeFile::create(path).map_err(unwritable)?),
    };

    let seed = arguments.seed.unwrap_or(model.seed);
    let scoring = Scoring::new(&model, &source, arguments)?;
    let scores = scoring.scores(seed)?;
    let expected = match (arguments.expected, &model.after) {
        (false, _) => None,
        (true, Some(After::Ranked(_))) => bail!(
            "the model draws a ranking for each query, and ranks have no expected score: leave out --expected"
        ),
        (true, _) => {
            let expected = scoring.check(model.expected_scores(&scoring.features)?, "expected score")?;
            Some(scoring.finish(expected, seed)?)
        }
    };
    let numbers: Vec<&[f64]> = std::iter::once(&scores[..]).chain(expected.as_deref()).collect();
    let report = ScoringReport {
        tables: source.names().into_iter().map(str::to_owned).collect(),
        model: arguments.model.display().to_string(),
        output: name.clone(),
        columns: columns.clone(),
        rows: scores.len(),
        seed,
        query: scoring.query.map(str::to_owned),
        rows_without_query: scoring.rows_without_query(),
        components: scoring.components(seed),
        rows_with_unknown_group: scoring.unknown_groups,
        notes: scoring.notes,
    };

    let progress = Progress::new(arguments.output.quiet);
    let show = |done: u64, all: Option<u64>| progress.update(done, all);
    match file {
        Some(mut file) => {
            copy.write(&numbers, &name, &mut file, &show)?;
            file.keep().map_err(unwritable)?;
        }
        None => match copy.write(&numbers, "standard output", &mut io::stdout(), &show) {
            // A reader that has seen enough is no error.
            Err(TableError::Write { cause, .. }) if cause.kind() == ErrorKind::BrokenPipe => {}
            done => done?,
        },
    }
    Ok(report)
}

fn read_model(path: &Path) -> anyhow::Result<Model> {
    let name = path.display();
    let bytes = std::fs::read(path).with_context(|| format!("can't read the model {name}"))?;
    let Ok(text) = String::from_utf8(bytes) else {
        bail!("{name}: not a model file: it is no text. The model comes first, then the table");
    };
    Model::from_json(&text).with_context(|| name.to_string())
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

/// What scoring needs, read and encoded.
struct Scoring<'a> {
    model: &'a Model,
    table: Table,
    /// Columns that are wanted both as numbers and as categories: the latter.
    categories: Option<Table>,
    query: Option<&'a str>,
    features: Features,
    notes: Vec<Note>,
    unknown_groups: Option<usize>,
    /// Of each row, if what is done after scoring needs them.
    groups: Groups,
}

impl<'a> Scoring<'a> {
    fn new(model: &'a Model, source: &Source, arguments: &'a ScoreArguments) -> anyhow::Result<Scoring<'a>> {
        // A single scorer draws nothing, so that only a column that somebody names is looked for.
        let ranked = matches!(model.after, Some(After::Ranked(_)));
        let own = model.query.as_deref().filter(|_| ranked || model.components.len() > 1);
        let query = arguments.query.as_deref().or(own);
        let groups = model.groups.as_ref().map_or(&[][..], |groups| &groups.columns);
        let wants = model.encoder.wants();
        let (again, others): (Vec<Want>, Vec<Want>) = query
            .into_iter()
            .chain(groups.iter().map(String::as_str))
            .map(Want::category)
            .partition(|role| wants.contains(&Want::number(&role.name)));
        let progress = Progress::new(arguments.output.quiet);
        let show = |done: u64, all: Option<u64>| progress.update(done, all);
        let read = |wants: Vec<Want>| {
            tables::read(source, &Selection::Columns(wants), &show)
                .map_err(|error| explain(error, model, query))
        };
        let table = read([wants, others].concat())?;
        let categories = if again.is_empty() { None } else { Some(read(again)?) };
        drop(progress);

        let encoded = model.encoder.encode(&table).map_err(|error| match error {
            EncodeError::NotFinite { row, .. } => anyhow!("{}: {error}", table.locate(row)),
            other => other.into(),
        })?;
        let mut features = encoded.features;
        let mut unknown_groups = None;
        let mut groups = Groups::default();
        if let Some(known) = &model.groups {
            groups = groups_of(known, &table, categories.as_ref());
            let (codes, unknown) = known.codes(&groups);
            if model.architecture.groups().groups().is_some() {
                features = features.with_codes(codes)?;
            }
            unknown_groups = Some(unknown);
        }
        let notes = encoded.notes;
        Ok(Scoring { model, table, categories, query, features, notes, unknown_groups, groups })
    }

    /// The query of each row, and the queries' names.
    fn queries(&self) -> Option<(&[u32], &[String])> {
        categories_of(self.query?, &self.table, self.categories.as_ref())
    }

    fn rows_without_query(&self) -> usize {
        let Some((codes, names)) = self.queries() else { return 0 };
        codes.iter().filter(|&&code| code as usize >= names.len()).count()
    }

    fn scores(&self, seed: u64) -> anyhow::Result<Vec<f64>> {
        let draw = match self.queries() {
            Some((codes, names)) => Draw::ByQuery { codes, names },
            None => Draw::Whole,
        };
        self.finish(self.check(self.model.score(&self.features, draw, seed)?, "score")?, seed)
    }

    /// What the model does after scoring.
    fn finish(&self, scores: Vec<f64>, seed: u64) -> anyhow::Result<Vec<f64>> {
        match &self.model.after {
            None => Ok(scores),
            Some(after) => Ok(after.apply(&scores, &self.groups, self.queries(), seed)?.0),
        }
    }

    fn check(&self, scores: Vec<f64>, what: &str) -> anyhow::Result<Vec<f64>> {
        match scores.iter().position(|score| !score.is_finite()) {
            None => Ok(scores),
            Some(row) => bail!(
                "{}: the {what} is {}, which is no finite number. The features of this row are too large for \
                 the model: correct the cells, or leave them empty if the values are missing",
                self.table.locate(row),
                scores[row]
            ),
        }
    }

    /// What each scorer of the model was drawn for.
    fn components(&self, seed: u64) -> Vec<ScoringComponent> {
        let queries = self.queries();
        let mut components: Vec<ScoringComponent> = self
            .model
            .components
            .iter()
            .map(|component| ScoringComponent {
                probability: component.probability,
                snapshot: component.snapshot,
                queries: queries.map(|_| 0),
                rows: 0,
            })
            .collect();
        let without = self.model.drawn(seed, "");
        match queries {
            None => components[without].rows = self.table.rows(),
            Some((codes, names)) => {
                let drawn: Vec<usize> = names.iter().map(|name| self.model.drawn(seed, name)).collect();
                for &component in &drawn {
                    components[component].queries = components[component].queries.map(|count| count + 1);
                }
                for &code in codes {
                    components[*drawn.get(code as usize).unwrap_or(&without)].rows += 1;
                }
            }
        }
        components
    }
}

/// The groups of a model in a table: those of one column, or the intersections of several.
fn groups_of(known: &ModelGroups, table: &Table, again: Option<&Table>) -> Groups {
    let columns = known.columns.iter().filter_map(|name| categories_of(name, table, again));
    let groups = columns.map(|(codes, levels)| Groups::from_codes(levels.to_vec(), codes.to_vec()));
    groups.reduce(|before, column| before.intersect(&column)).unwrap_or_default()
}

/// The categories of a column, which is in the second table if the first has it as numbers.
fn categories_of<'t>(
    name: &str,
    table: &'t Table,
    again: Option<&'t Table>,
) -> Option<(&'t [u32], &'t [String])> {
    again.and_then(|again| again.column(name)).or_else(|| table.column(name))?.categories()
}

/// The error of a read, with the reason why an absent column is needed.
fn explain(error: TableError, model: &Model, query: Option<&str>) -> anyhow::Error {
    let TableError::UnknownColumn { column, .. } = &error else { return error.into() };
    let name = plain(column);
    let why = if model.encoder.columns().iter().any(|encoding| encoding.name() == column) {
        format!("The model was trained with the feature {name:?}: add the column, or rename one")
    } else if query == Some(column.as_str()) {
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
    } else {
        format!("The model tells the groups of column {name:?} apart: add the column, or rename one")
    };
    anyhow!("{error}. {why}")
}
