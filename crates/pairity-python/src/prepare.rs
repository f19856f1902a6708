//! From dictionaries and columns in memory to requests, and the engine's errors in words of the package.

use crate::examples::{Examples, Measuring};
use crate::model::{Feature, columns};
use crate::refuse;
use pairity::goals::Goal;
use pairity::learners::ScorerKind;
use pairity::methods::{self, Method};
use pairity::pairs::SurrogateKind;
use pairity::run::{FitRequest, GroupAware, Rows, RunError};
use pairity::solvers::{Answer, Player};
use pyo3::prelude::*;
use std::time::Duration;

/// The settings of a run, as a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct FitSettings {
    maximize: Option<String>,
    minimize: Option<String>,
    subject_to: Vec<String>,
    method: String,
    model: String,
    hidden: Vec<usize>,
    /// `weights`, `offsets`, or nothing.
    group_aware: Option<String>,
    /// What the columns of the groups are called.
    group_columns: Vec<String>,
    validation: f64,
    test: f64,
    multiplier_share: f64,
    standardize: bool,
    answer: String,
    player: String,
    surrogate: String,
    average: String,
    iterations: usize,
    snapshots: usize,
    step_sizes: Vec<f64>,
    batch: Option<usize>,
    time_limit: Option<f64>,
    seed: u64,
}

/// One of the names in a table of the engine.
pub fn one_of<T: Copy>(name: &str, found: &str, choices: &[(&str, T, &str)]) -> PyResult<T> {
    match choices.iter().find(|(word, ..)| *word == found) {
        Some((_, choice, _)) => Ok(*choice),
        None => {
            let words: Vec<String> = choices.iter().map(|(word, ..)| format!("{word:?}")).collect();
            Err(refuse(format!("{name} is {found:?}; it has to be one of {}", words.join(", "))))
        }
    }
}

/// Who weighs the constraints.
pub fn player(word: &str) -> PyResult<Player> {
    one_of("player", word, Player::NAMES)
}

/// What is descended in place of rates.
pub fn surrogate(word: &str) -> PyResult<SurrogateKind> {
    one_of("surrogate", word, SurrogateKind::NAMES)
}

impl FitSettings {
    /// How fairness is to be had.
    pub fn method(&self) -> PyResult<&'static Method> {
        method(&self.method, |_| true)
    }

    /// Which answer is wanted.
    pub fn answer(&self) -> PyResult<Answer> {
        one_of("answer", &self.answer, Answer::NAMES)
    }

    /// What is trained, for what, and how.
    pub fn request(&self, measuring: &Measuring) -> PyResult<FitRequest> {
        // Texts are read by the command line only.
        let kinds: Vec<_> =
            ScorerKind::NAMES.iter().copied().filter(|(_, kind, _)| !kind.defaults().needs_text).collect();
        let limit = |seconds: f64| {
            Duration::try_from_secs_f64(seconds)
                .map_err(|_| refuse(format!("time_limit is {seconds}; it has to be a number of seconds")))
        };
        let way = |word: &String| one_of("group_aware", word, GroupAware::NAMES);
        let mut measure = measuring.settings()?;
        measure.average = crate::examples::average(&self.average)?;
        Ok(FitRequest {
            goal: Goal::new(self.maximize.clone(), self.minimize.clone(), self.subject_to.clone()),
            scorer: one_of("model", &self.model, &kinds)?,
            hidden: self.hidden.clone(),
            group_aware: self.group_aware.as_ref().map(way).transpose()?,
            standardize: self.standardize,
            split: Some([1.0 - self.validation - self.test, self.validation, self.test]),
            multiplier_share: self.multiplier_share,
            player: player(&self.player)?,
            surrogate: surrogate(&self.surrogate)?,
            iterations: self.iterations,
            snapshots: Some(self.snapshots),
            step_sizes: self.step_sizes.clone(),
            batch: self.batch,
            time_limit: self.time_limit.map(limit).transpose()?,
            measure,
            seed: self.seed,
            ..FitRequest::default()
        })
    }

    /// The rows of a run.
    pub fn rows(&self, examples: &Examples, features: &[(String, Feature)]) -> PyResult<Rows> {
        let mut rows = Rows::new(examples.inner.clone(), columns(features)?);
        rows.group_columns.clone_from(&self.group_columns);
        Ok(rows)
    }
}

/// A method by its name, or by its full name, of those that will do.
pub fn method(word: &str, fits: fn(&Method) -> bool) -> PyResult<&'static Method> {
    methods::named(word).filter(|method| fits(method)).ok_or_else(|| {
        let fitting = methods::by_name().filter(|method| fits(method));
        let names: Vec<String> = fitting.map(|method| format!("{:?}", method.name)).collect();
        refuse(format!("method is {word:?}; it has to be one of {}", names.join(", ")))
    })
}

/// An error of the engine in words of the package.
pub fn explain(error: RunError) -> PyErr {
    match error {
        RunError::NoGroups => refuse("group_aware needs a protected attribute: give groups"),
        RunError::NoConstraints => refuse("say what fair means, such as subject_to=['cross_group <= 0.01']"),
        RunError::StrengthUnused(method) => {
            refuse(format!("strength belongs to method quantile-match, not to {method}"))
        }
        RunError::Tune(found) => {
            refuse(format!("tune is {found}; a number above 0 and up to 1 is needed, such as 0.5"))
        }
        other => refuse(other),
    }
}
