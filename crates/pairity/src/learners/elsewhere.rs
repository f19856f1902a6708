//! Features that are not in this memory: in a file, or with workers on other machines.
//!
//! A scorer's scores, and the gradient by its parameters, are all that training asks of features: whoever holds them can
//! answer both. [`Features::elsewhere`](super::Features::elsewhere) are used like any others.

use super::{Architecture, Encoder, Features, PairTask, PartLoss, PartSource, PartWeights};
use crate::examples::{Column, Examples};
use std::fmt;
use std::sync::{Arc, Mutex};

/// Columns that are not in this memory.
pub trait ColumnSource: Send + Sync {
    /// The names of the columns, in the order of the features.
    fn names(&self) -> Vec<String>;

    /// All rows of one of them, from which an encoder is learned.
    ///
    /// # Errors
    /// What went wrong.
    fn column(&self, at: usize) -> Result<Column, String>;

    /// The features of all rows, and the code of each row's group where a scorer uses it.
    ///
    /// # Errors
    /// What went wrong.
    fn features(&self, encoder: &Encoder, codes: Option<Vec<u16>>) -> Result<Arc<dyn FeatureSource>, String>;
}

/// Encoded features that are not in this memory, by the numbers of their rows.
pub trait FeatureSource: Send + Sync {
    /// The scores of rows by each of some scorers of a shape.
    ///
    /// # Errors
    /// What went wrong.
    fn scores(
        &self,
        scorer: &Architecture,
        parameters: &[&[f64]],
        rows: &[u32],
    ) -> Result<Vec<Vec<f64>>, String>;

    /// The gradient by the parameters, from the slope by the score of each row.
    ///
    /// # Errors
    /// What went wrong.
    fn gradient(
        &self,
        scorer: &Architecture,
        parameters: &[f64],
        rows: &[u32],
        slopes: &[f64],
    ) -> Result<Vec<f64>, String>;

    /// A number that changes with the features, where whoever holds them can tell: a training that was stopped goes on
    /// with the same ones only.
    fn fingerprint(&self) -> Option<u64> {
        None
    }

    /// The features of a batch of rows in memory; none if they stay where they are.
    ///
    /// # Errors
    /// What went wrong.
    fn batch(&self, rows: &[u32]) -> Result<Option<Features>, String> {
        let _ = rows;
        Ok(None)
    }

    /// Brings together the rows of each of some parts, where their pairs are counted.
    ///
    /// # Errors
    /// What went wrong; those who hold the features don't count pairs.
    fn parts(&self, task: &PairTask, parts: &[Examples]) -> Result<Box<dyn PartSource>, String> {
        let _ = (task, parts);
        Err("pairs inside parts of the rows are counted by the workers of Ray alone".to_owned())
    }
}

/// Some rows of features elsewhere.
#[derive(Clone)]
pub(super) struct Elsewhere {
    source: Arc<dyn FeatureSource>,
    pub(super) width: usize,
    rows: Arc<[u32]>,
    /// The first thing that went wrong; nothing is asked after it.
    failure: Arc<Mutex<Option<String>>>,
}

impl Elsewhere {
    pub(super) fn new(source: Arc<dyn FeatureSource>, rows: usize, width: usize) -> Elsewhere {
        Elsewhere { source, width, rows: (0..rows as u32).collect(), failure: Arc::default() }
    }

    pub(super) fn select(&self, rows: &[u32]) -> Elsewhere {
        Elsewhere { rows: rows.iter().map(|&row| self.rows[row as usize]).collect(), ..self.clone() }
    }

    pub(super) fn failure(&self) -> Option<String> {
        self.failure.lock().ok()?.clone()
    }

    /// What was asked for; none if something went wrong, now or before.
    fn ask<T>(&self, question: impl FnOnce() -> Result<T, String>) -> Option<T> {
        if self.failure().is_some() {
            return None;
        }
        let note = |wrong| {
            if let Ok(mut failure) = self.failure.lock() {
                failure.get_or_insert(wrong);
            }
        };
        question().map_err(note).ok()
    }

    pub(super) fn fingerprint(&self) -> Option<u64> {
        self.source.fingerprint()
    }

    pub(super) fn batch(&self) -> Option<Features> {
        self.ask(|| self.source.batch(&self.rows)).flatten()
    }

    /// NaN where something went wrong, which ends a run.
    pub(super) fn scores(&self, scorer: &Architecture, parameters: &[&[f64]]) -> Vec<Vec<f64>> {
        let fits = |all: &Vec<Vec<f64>>| {
            all.len() == parameters.len() && all.iter().all(|scores| scores.len() == self.rows.len())
        };
        let found = self.ask(|| {
            let found = self.source.scores(scorer, parameters, &self.rows)?;
            if fits(&found) { Ok(found) } else { Err("there is not one score a row".to_owned()) }
        });
        found.unwrap_or_else(|| vec![vec![f64::NAN; self.rows.len()]; parameters.len()])
    }

    pub(super) fn parts(&self, task: &PairTask, parts: &[Examples]) -> Option<PartsElsewhere> {
        let found = self.ask(|| {
            let source = self.source.parts(task, parts)?;
            let totals = source.totals()?;
            let fits = totals.len() == parts.len() && totals.iter().all(|own| own.len() == task.rates.len());
            if fits { Ok((source, totals)) } else { Err("there is not one total a rate".to_owned()) }
        });
        found.map(|(source, totals)| PartsElsewhere { elsewhere: self.clone(), source, totals })
    }

    pub(super) fn gradient(&self, scorer: &Architecture, parameters: &[f64], slopes: &[f64]) -> Vec<f64> {
        let found = self.ask(|| {
            let found = self.source.gradient(scorer, parameters, &self.rows, slopes)?;
            match found.len() == parameters.len() {
                true => Ok(found),
                false => Err("there is not one slope a parameter".to_owned()),
            }
        });
        found.unwrap_or_else(|| vec![f64::NAN; parameters.len()])
    }
}

/// Parts of the rows whose pairs are counted elsewhere.
pub(crate) struct PartsElsewhere {
    elsewhere: Elsewhere,
    source: Box<dyn PartSource>,
    /// What the pairs of each rate could earn, by part.
    pub totals: Vec<Vec<f64>>,
}

impl PartsElsewhere {
    /// What a scorer comes to, by part; none if something went wrong.
    pub(crate) fn losses(
        &self,
        scorer: &Architecture,
        parameters: &[f64],
        weights: &[PartWeights],
    ) -> Option<Vec<PartLoss>> {
        self.elsewhere.ask(|| {
            let found = self.source.losses(scorer, parameters, weights)?;
            let fits = |own: &PartLoss| {
                own.gradient.len() == parameters.len() && own.earned.len() == self.totals[0].len()
            };
            match found.len() == self.totals.len() && found.iter().all(fits) {
                true => Ok(found),
                false => Err("there is not one gradient a part".to_owned()),
            }
        })
    }
}

impl PartialEq for Elsewhere {
    fn eq(&self, other: &Elsewhere) -> bool {
        Arc::ptr_eq(&self.source, &other.source) && self.rows == other.rows
    }
}

impl fmt::Debug for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows elsewhere", self.rows.len())
    }
}
