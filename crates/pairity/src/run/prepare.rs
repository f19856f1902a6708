//! The rows of a training run, and what becomes of them and a request: parts, features, the problem and the
//! shape of the scorer.

use super::harm::HarmRows;
use super::{FitRequest, GroupAware, RunError, leaks};
use crate::examples::{Column, Examples, ExamplesError};
use crate::goals::Problem;
use crate::learners::{
    Architecture, ColumnSource, Encoder, Encoding, Features, GroupUse, LearnerSpec, ScorerKind,
    text::{EmbeddingError, Embeddings},
};
use crate::methods::Task;
use crate::model::StochasticScorer;
use crate::rates::Rate;
use crate::solvers::{
    Answer, Data, Evaluation, Parts, Select, SolverKind, TrainError, TrainSettings, evaluate,
};
use std::io::{BufRead, Cursor};

/// What a row is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// It is split by the shares of the request.
    Split,
    /// It is one that models are chosen on.
    Validation,
    /// It is one that they are tested on.
    Test,
}

/// What a scorer is trained on. Row i of every column is row i of the examples.
pub struct Rows {
    /// Labels, groups, queries and weights.
    pub examples: Examples,
    /// The feature columns, in order.
    pub columns: Vec<Column>,
    /// Feature columns that are not in this memory, in place of those.
    pub elsewhere: Option<Box<dyn ColumnSource>>,
    /// A column of texts, whose words are features.
    pub text: Option<Column>,
    /// The continuous protected attribute: a feature too if the scorer may use it.
    pub protected: Option<Column>,
    /// What each row is for; all rows are split where this is empty.
    pub folds: Vec<Fold>,
    /// What the columns of queries are called.
    pub query: Vec<String>,
    /// What the columns of the groups, or that of the continuous attribute, are called.
    pub group_columns: Vec<String>,
    /// Word vectors in GloVe's text format, for a network that starts from them.
    pub vectors: Option<Box<dyn BufRead + Send>>,
    /// What the tables are called that they come from, for reports.
    pub tables: Vec<String>,
    /// What happened to them on the way, for reports.
    pub notes: Vec<String>,
}

impl Rows {
    /// Rows with some features, all of which are split.
    pub fn new(examples: Examples, columns: Vec<Column>) -> Rows {
        Rows {
            examples,
            columns,
            elsewhere: None,
            text: None,
            protected: None,
            folds: Vec::new(),
            query: Vec::new(),
            group_columns: Vec::new(),
            vectors: None,
            tables: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The same rows again, for requests that see them in different ways.
    ///
    /// # Errors
    /// Columns that are not in this memory; word vectors that can't be read.
    pub(super) fn copy(&mut self) -> Result<Rows, RunError> {
        if self.elsewhere.is_some() {
            return Err(RunError::NotElsewhere);
        }
        let mut vectors = None;
        if let Some(mut reader) = self.vectors.take() {
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).map_err(EmbeddingError::Read)?;
            let again = |bytes| -> Box<dyn BufRead + Send> { Box::new(Cursor::new(bytes)) };
            (self.vectors, vectors) = (Some(again(bytes.clone())), Some(again(bytes)));
        }
        Ok(Rows {
            examples: self.examples.clone(),
            columns: self.columns.clone(),
            elsewhere: None,
            text: self.text.clone(),
            protected: self.protected.clone(),
            folds: self.folds.clone(),
            query: self.query.clone(),
            group_columns: self.group_columns.clone(),
            vectors,
            tables: self.tables.clone(),
            notes: self.notes.clone(),
        })
    }

    /// The examples of a fold.
    fn fold(&self, fold: Fold) -> Result<Examples, ExamplesError> {
        let of_row = |row: usize| self.folds.get(row).copied().unwrap_or(Fold::Split);
        self.examples.part(&self.examples.units_where(|row| of_row(row) == fold))
    }

    /// The parts of the rows.
    fn parts(&self, request: &FitRequest, safety: f64) -> Result<Parts, RunError> {
        let shares = request.shares()?;
        let FitRequest { multiplier_share, seed, .. } = *request;
        let split = |rows: &Examples| Parts::split(rows, shares, safety, multiplier_share, seed);
        let mut parts = match request.own_validation || request.own_test {
            false => split(&self.examples)?,
            true => split(&self.fold(Fold::Split)?)?,
        };
        if request.own_validation {
            parts.validation = Some(self.fold(Fold::Validation)?);
        }
        if request.own_test {
            parts.test = Some(self.fold(Fold::Test)?);
        }
        if request.select == Some(Select::CrossFit) {
            parts.join_validation(&self.examples)?;
        }
        Ok(parts)
    }
}

/// Everything that training needs.
pub(super) struct Prepared<'a> {
    pub request: &'a FitRequest,
    pub parts: Parts,
    pub problem: Problem,
    pub encoder: Encoder,
    /// Of all rows.
    pub features: Features,
    pub scorer: Architecture,
    pub settings: TrainSettings,
    pub tables: Vec<String>,
    /// What happened to the rows on the way, and what was not as in the training rows.
    pub notes: Vec<String>,
    pub query: Vec<String>,
    pub group_columns: Vec<String>,
}

impl<'a> Prepared<'a> {
    /// Splits, with a share for the test of a guarantee, and encodes.
    pub fn new(
        mut rows: Rows,
        request: &'a FitRequest,
        answer: Answer,
        safety: f64,
    ) -> Result<Prepared<'a>, RunError> {
        request.check(rows.text.is_some(), rows.vectors.is_some())?;
        let parts = rows.parts(request, safety)?;
        let problem = Problem::of_goal(&request.goal, &rows.examples.vocabulary())?;
        let mut columns = rows.columns;
        // A continuous attribute that the scorer may use is a feature like others, and with weights of its own for each
        // value of it, which are linear in it, so are its products with the others.
        let attribute = match request.group_aware {
            Some(GroupAware::Weights) if rows.examples.is_continuous() => rows.group_columns.first(),
            _ => None,
        };
        if let (Some(_), Some(protected)) = (request.group_aware, rows.protected)
            && columns.iter().all(|column| column.name != protected.name)
        {
            columns.push(protected);
        }
        let has_text = rows.text.is_some();
        if columns.is_empty() && !has_text && rows.elsewhere.is_none() {
            return Err(RunError::NoFeatures);
        }
        let learned = parts.whole.example_rows();
        let codes = match request.group_aware {
            Some(_) if !rows.examples.is_continuous() => Some(rows.examples.codes_by_row()),
            _ => None,
        };
        let (encoder, mut features) = match rows.elsewhere {
            Some(source) => {
                if has_text || !columns.is_empty() {
                    return Err(RunError::NotElsewhere);
                }
                let (encoder, features, notes) = encoded_elsewhere(&*source, codes, &parts.whole, request)?;
                rows.notes.extend(notes);
                (encoder, features)
            }
            None => {
                let (encoder, features, unseen) = encoded(columns, rows.text, attribute, learned, request)?;
                rows.notes.extend(unseen);
                rows.notes.extend(leaks::notes(&parts.whole, &features, &encoder));
                (encoder, features)
            }
        };
        let groups = match request.group_aware {
            None => GroupUse::Blind,
            Some(_) if rows.examples.is_continuous() => GroupUse::Blind,
            Some(_) if rows.examples.groups().is_empty() => return Err(RunError::NoGroups),
            Some(way) => {
                features = features.with_codes(rows.examples.codes_by_row())?;
                way.of(rows.examples.groups().len())
            }
        };
        let bounds = problem.game_bounds().count();
        if request.player != request.player.affordable(bounds) {
            rows.notes.push(format!(
                "the goal has {bounds} bounds: they are weighed by low external regret, as the matrix of swap regret \
                 would be their square"
            ));
        }
        let mut settings = request.settings(answer);
        // Terms are fit to convergence by every method. The rows that so many are fit to are all in order: what a scorer does
        // is seen on others alone, which are folds of the training part where validation is for what comes after.
        if let (true, None, (SolverKind::Columns, select)) = (has_text, request.solver, request.way()) {
            (settings.solver, settings.select) = (SolverKind::Columns, select);
        }
        let (width, regression) = (features.width(), problem.uses(Rate::Mse));
        let spec = LearnerSpec { width, groups, hidden: &request.hidden, regression, has_text };
        let mut scorer = request.scorer.build(&spec);
        if let (Architecture::TextCnn(cnn), Some(reader)) = (&mut scorer, rows.vectors) {
            let vectors = Embeddings::read(reader, encoder.words())?;
            rows.notes.push(format!("{} of {width} words have a vector in the file", vectors.found()));
            cnn.embedding = vectors.size();
            settings.start = Some(cnn.start_from(&vectors, request.seed));
        }
        scorer.check(&features)?;
        Ok(Prepared {
            request,
            parts,
            problem,
            encoder,
            features,
            scorer,
            settings,
            tables: rows.tables,
            notes: rows.notes,
            query: rows.query,
            group_columns: rows.group_columns,
        })
    }

    /// What a method is asked for.
    pub fn task(&self) -> Task<'_> {
        let multipliers = self.parts.multipliers.as_ref();
        let data = Data {
            features: &self.features,
            train: &self.parts.train,
            multipliers,
            // What is reported as training rows is what the model is chosen on without others.
            validation: self.parts.validation.as_ref().or(multipliers.map(|_| &self.parts.whole)),
        };
        let Prepared { problem, scorer, settings, request, .. } = self;
        Task { problem, scorer, data, settings, aware: request.group_aware.is_some(), base: None }
    }

    /// The features by name; the words of a text are told by their number.
    pub fn feature_names(&self) -> Vec<String> {
        self.encoder.columns().iter().flat_map(Encoding::short_names).collect()
    }

    /// How a scorer does on some of the rows.
    pub fn evaluate(&self, scorer: StochasticScorer, examples: &Examples) -> Result<Evaluation, TrainError> {
        evaluate(&self.problem, scorer, examples, &self.features, &self.request.measure)
    }

    /// The rows that models are selected on, for what fairness costs.
    pub fn harm_rows(&self) -> HarmRows<'_> {
        let (examples, _) = self.task().data.selection();
        HarmRows { examples, features: &self.features, measure: &self.request.measure }
    }

    /// The last part there is, which values are shown of: test, validation or training.
    pub fn last(&self) -> (&'static str, &Examples) {
        self.parts.named().last().unwrap_or(("train", &self.parts.whole))
    }
}

/// The same where columns are elsewhere: they are looked at one by one, and stay there.
fn encoded_elsewhere(
    source: &dyn ColumnSource,
    codes: Option<Vec<u16>>,
    whole: &Examples,
    request: &FitRequest,
) -> Result<(Encoder, Features, Vec<String>), RunError> {
    let (mut encoders, mut notes, mut leaking) = (Vec::new(), Vec::new(), Vec::new());
    let mut rows = 0;
    for at in 0..source.names().len() {
        let column = source.column(at).map_err(RunError::Elsewhere)?;
        rows = column.values.len();
        let (encoder, features, unseen) = encoded(vec![column], None, None, whole.example_rows(), request)?;
        notes.extend(unseen);
        leaking.extend(leaks::notes(whole, &features, &encoder));
        encoders.push(encoder);
    }
    notes.append(&mut leaking);
    let encoder = Encoder::join(encoders);
    let features = source.features(&encoder, codes).map_err(RunError::Elsewhere)?;
    let width = encoder.width();
    Ok((encoder, Features::elsewhere(features, rows, width), notes))
}

/// The encoder that is learned from some rows, the features of all rows, and what was new in the others.
fn encoded(
    mut columns: Vec<Column>,
    text: Option<Column>,
    attribute: Option<&String>,
    learned: &[u32],
    request: &FitRequest,
) -> Result<(Encoder, Features, Vec<String>), RunError> {
    let mut encoder = Encoder::default();
    if !request.scorer.defaults().sparse {
        columns.iter_mut().for_each(Column::make_dense);
    }
    columns.iter_mut().filter(|column| Some(&column.name) == attribute).for_each(Column::make_dense);
    if !columns.is_empty() {
        let references: Vec<&Column> = columns.iter().collect();
        encoder = Encoder::learn(&references, Some(learned), request.standardize)?;
        let attribute = references.iter().find(|column| Some(&column.name) == attribute);
        if let (Some(attribute), ScorerKind::Linear) = (attribute, request.scorer) {
            encoder = encoder.with_products(attribute, Some(learned))?;
        }
    }
    if let Some(text) = text {
        let (layout, vocabulary) = request.text_layout();
        encoder = encoder.with_text(&text, Some(learned), vocabulary, layout)?;
        columns.push(text);
    }
    let encoded = encoder.encode(&columns)?;
    let notes = encoded.notes.iter().map(ToString::to_string).collect();
    Ok((encoder, encoded.features, notes))
}
