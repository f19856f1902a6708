//! From rows and a request to what training needs: parts, features, the problem and the shape of the scorer.

use super::{FitRequest, Fold, Rows, RunError};
use crate::examples::{Column, Examples};
use crate::goals::{Goal, Problem};
use crate::learners::LearnerSpec;
use crate::learners::{Architecture, Encoder, Features, GroupUse, text::Embeddings};
use crate::methods::Task;
use crate::metrics::Settings;
use crate::rates::Rate;
use crate::solvers::{Answer, Data, Parts, TrainSettings};

/// Everything that training needs.
pub(super) struct Prepared {
    pub parts: Parts,
    pub goal: Goal,
    pub problem: Problem,
    pub encoder: Encoder,
    /// Of all rows.
    pub features: Features,
    pub scorer: Architecture,
    pub settings: TrainSettings,
    pub measure: Settings,
    pub tables: Vec<String>,
    /// What happened to the rows on the way, and what was not as in the training rows.
    pub notes: Vec<String>,
    pub query: Option<String>,
    pub group_columns: Vec<String>,
}

impl Prepared {
    /// Splits and encodes.
    pub fn new(mut rows: Rows, request: &FitRequest, answer: Answer) -> Result<Prepared, RunError> {
        request.check(rows.text.is_some(), rows.vectors.is_some())?;
        let parts = parts(&rows, request)?;
        let goal = request.goal();
        let problem = Problem::of_goal(&goal, &rows.examples.vocabulary())?;
        let mut columns = std::mem::take(&mut rows.columns);
        // A continuous attribute that the scorer may use is a feature like others.
        if let (Some(_), Some(protected)) = (request.group_aware, rows.protected.take())
            && columns.iter().all(|column| column.name != protected.name)
        {
            columns.push(protected);
        }
        let text = rows.text.take();
        if columns.is_empty() && text.is_none() {
            return Err(RunError::NoFeatures);
        }
        let has_text = text.is_some();
        let (encoder, mut features, unseen) = encoded(columns, text, parts.whole.example_rows(), request)?;
        rows.notes.extend(unseen);
        let groups = match request.group_aware {
            None => GroupUse::Blind,
            Some(_) if rows.examples.is_continuous() => GroupUse::Blind,
            Some(_) if rows.examples.groups().is_empty() => return Err(RunError::NoGroups),
            Some(way) => {
                features = features.with_codes(rows.examples.codes_by_row())?;
                way.of(rows.examples.groups().len())
            }
        };
        let mut settings = request.settings(answer);
        let (width, regression) = (features.width(), problem.uses(Rate::Mse));
        let mut scorer = request.scorer.build(&LearnerSpec {
            width,
            groups,
            hidden: &request.hidden,
            regression,
            has_text,
        });
        if let (Architecture::TextCnn(cnn), Some(reader)) = (&mut scorer, rows.vectors.take()) {
            let vectors = Embeddings::read(reader, encoder.text().map_or(&[][..], |(_, words)| words))?;
            rows.notes.push(format!("{} of {width} words have a vector in the file", vectors.found()));
            cnn.embedding = vectors.size();
            settings.start = Some(cnn.start_from(&vectors, request.seed));
        }
        scorer.check(&features)?;
        let Rows { query, group_columns, tables, notes, .. } = rows;
        let measure = request.measure;
        Ok(Prepared {
            parts,
            goal,
            problem,
            encoder,
            features,
            scorer,
            settings,
            measure,
            tables,
            notes,
            query,
            group_columns,
        })
    }

    /// What a method is asked for.
    pub fn task(&self) -> Task<'_> {
        let data = Data {
            features: &self.features,
            train: &self.parts.train,
            multipliers: self.parts.multipliers.as_ref(),
            validation: self.parts.validation.as_ref(),
        };
        Task { problem: &self.problem, scorer: &self.scorer, data, settings: &self.settings }
    }

    /// The last part there is, which values are shown of: test, validation or training.
    pub fn last(&self) -> (&'static str, &Examples) {
        self.parts.named().last().unwrap_or(("train", &self.parts.whole))
    }
}

/// The parts of the rows.
fn parts(rows: &Rows, request: &FitRequest) -> Result<Parts, RunError> {
    let shares = request.shares()?;
    let split = |examples: &Examples| Parts::split(examples, shares, request.multiplier_share, request.seed);
    if !(request.own_validation || request.own_test) {
        return Ok(split(&rows.examples)?);
    }
    let mut parts = split(&rows.fold(Fold::Split)?)?;
    if request.own_validation {
        parts.validation = Some(rows.fold(Fold::Validation)?);
    }
    if request.own_test {
        parts.test = Some(rows.fold(Fold::Test)?);
    }
    Ok(parts)
}

/// The encoder that is learned from some rows, the features of all rows, and what was new in the others.
fn encoded(
    mut columns: Vec<Column>,
    text: Option<Column>,
    learned: &[u32],
    request: &FitRequest,
) -> Result<(Encoder, Features, Vec<String>), RunError> {
    let mut encoder = match columns.is_empty() {
        true => Encoder::default(),
        false => {
            let references: Vec<&Column> = columns.iter().collect();
            Encoder::learn(&references, Some(learned), request.standardize)?
        }
    };
    if let Some(text) = text {
        let layout = request.scorer.defaults().text;
        encoder = encoder.with_text(&text, Some(learned), request.vocabulary, layout)?;
        columns.push(text);
    }
    let encoded = encoder.encode(&columns)?;
    let notes = encoded.notes.iter().map(ToString::to_string).collect();
    Ok((encoder, encoded.features, notes))
}
