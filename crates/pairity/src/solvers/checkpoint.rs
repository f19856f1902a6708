//! What a run that was interrupted needs to go on as if nothing had happened.

use super::executor::SolverRun;
use super::loss::LossTerm;
use super::train::{Data, TrainError, TrainSettings};
use crate::examples::{Attribute, Examples};
use crate::goals::Problem;
use crate::learners::Architecture;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

const SCHEMA: &str = "pairity.checkpoint/2";

/// The state of all runs at one moment, as a JSON document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    schema: String,
    /// Of everything that the runs depend on.
    fingerprint: u64,
    runs: Vec<SolverRun<Value>>,
}

impl Checkpoint {
    pub(crate) fn new<S: Serialize>(
        fingerprint: u64,
        runs: &[SolverRun<S>],
    ) -> Result<Checkpoint, serde_json::Error> {
        let runs =
            runs.iter().map(|run| run.map(|state| serde_json::to_value(state))).collect::<Result<_, _>>()?;
        Ok(Checkpoint { schema: SCHEMA.to_owned(), fingerprint, runs })
    }

    /// Iterations made, over all runs.
    pub fn iterations(&self) -> usize {
        self.runs.iter().map(|run| run.iteration).sum()
    }

    /// The document.
    ///
    /// # Errors
    /// None in practice.
    pub fn to_json(&self) -> Result<String, TrainError> {
        serde_json::to_string(self).map_err(wrong)
    }

    /// The checkpoint of a document.
    ///
    /// # Errors
    /// A text that is no checkpoint.
    pub fn from_json(text: &str) -> Result<Checkpoint, TrainError> {
        let checkpoint: Checkpoint = serde_json::from_str(text).map_err(wrong)?;
        match checkpoint.schema == SCHEMA {
            true => Ok(checkpoint),
            false => Err(TrainError::Checkpoint(format!(
                "its schema is {:?} and not {SCHEMA:?}",
                checkpoint.schema
            ))),
        }
    }

    /// The runs, if they are for the same problem on the same data.
    pub(crate) fn resume<S: DeserializeOwned>(
        self,
        fingerprint: u64,
    ) -> Result<Vec<SolverRun<S>>, TrainError> {
        if self.fingerprint != fingerprint {
            return Err(TrainError::OtherRun);
        }
        self.runs.iter().map(|run| run.map(|state| S::deserialize(state)).map_err(wrong)).collect()
    }
}

fn wrong(cause: serde_json::Error) -> TrainError {
    TrainError::Checkpoint(cause.to_string())
}

/// A number that changes with anything that the runs depend on. Time limits are left out: they decide
/// when a run ends, not what it does.
pub(crate) fn fingerprint(
    problem: &Problem,
    scorer: &Architecture,
    data: &Data,
    settings: &TrainSettings,
    term: Option<&dyn LossTerm>,
) -> u64 {
    let start = settings.start.as_deref().unwrap_or_default();
    let settings =
        TrainSettings { time_limit: None, answer: Default::default(), start: None, ..settings.clone() };
    let mut hash = Hash::default();
    hash.numbers(start);
    hash.text(&format!("{problem:?} {scorer:?} {settings:?} {term:?}"));
    hash.numbers(data.features.values());
    if let Some(words) = data.features.words() {
        for row in 0..words.rows() {
            hash.number(words.row(row).len() as u64);
            words.row(row).iter().for_each(|&code| hash.number(code.into()));
        }
    }
    for &code in data.features.codes().unwrap_or(&[]) {
        hash.number(code.into());
    }
    for examples in [Some(data.train), data.multipliers].into_iter().flatten() {
        hash.examples(examples);
    }
    hash.0
}

/// FNV-1a over 64-bit words.
struct Hash(u64);

impl Default for Hash {
    fn default() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    fn number(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x0000_0100_0000_01b3);
        // The product alone never carries high bits down.
        self.0 = mixed ^ (mixed >> 32);
    }

    fn numbers(&mut self, numbers: &[f64]) {
        self.number(numbers.len() as u64);
        numbers.iter().for_each(|number| self.number(number.to_bits()));
    }

    fn text(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.number(byte.into()));
    }

    fn examples(&mut self, examples: &Examples) {
        examples.row.iter().for_each(|&row| self.number(row.into()));
        (0..examples.queries()).for_each(|query| self.number(examples.query(query).end as u64));
        for numbers in [&examples.labels, &examples.weights, &examples.factors].into_iter().flatten() {
            self.numbers(numbers);
        }
        match &examples.attribute {
            Attribute::None => {}
            Attribute::Groups { codes, .. } => codes.iter().for_each(|&code| self.number(code.into())),
            Attribute::Continuous(values) => self.numbers(values),
        }
    }
}
