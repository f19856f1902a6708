//! What a run that was interrupted needs to go on as if nothing had happened.

use super::TrainError;
use super::game::Game;
use super::trainer::{Data, TrainSettings};
use crate::examples::{Attribute, Examples};
use crate::goals::Problem;
use crate::scorers::Architecture;
use serde::{Deserialize, Serialize};

const SCHEMA: &str = "pairity.checkpoint/1";

/// The state of all games at one moment, as a JSON document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    schema: String,
    /// Of everything that the games depend on.
    fingerprint: u64,
    pub(crate) games: Vec<Game>,
}

impl Checkpoint {
    pub(crate) fn new(fingerprint: u64, games: &[Game]) -> Checkpoint {
        Checkpoint { schema: SCHEMA.to_owned(), fingerprint, games: games.to_vec() }
    }

    /// Iterations played, over all games.
    pub fn iterations(&self) -> usize {
        self.games.iter().map(|game| game.iteration).sum()
    }

    /// The document.
    ///
    /// # Errors
    /// None in practice.
    pub fn to_json(&self) -> Result<String, TrainError> {
        serde_json::to_string(self).map_err(|cause| TrainError::Checkpoint { cause: cause.to_string() })
    }

    /// The checkpoint of a document.
    ///
    /// # Errors
    /// A text that is no checkpoint.
    pub fn from_json(text: &str) -> Result<Checkpoint, TrainError> {
        let wrong = |cause: String| TrainError::Checkpoint { cause };
        let checkpoint: Checkpoint = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        match checkpoint.schema == SCHEMA {
            true => Ok(checkpoint),
            false => Err(wrong(format!("its schema is {:?} and not {SCHEMA:?}", checkpoint.schema))),
        }
    }

    /// The games, if they were played for the same problem on the same data.
    pub(crate) fn resume(self, fingerprint: u64) -> Result<Vec<Game>, TrainError> {
        match self.fingerprint == fingerprint {
            true => Ok(self.games),
            false => Err(TrainError::OtherRun),
        }
    }
}

/// A number that changes with anything that the games depend on. Time limits are left out: they decide
/// when a run ends, not what it does.
pub(crate) fn fingerprint(
    problem: &Problem,
    scorer: &Architecture,
    data: &Data,
    settings: &TrainSettings,
) -> u64 {
    let start = settings.start.as_deref().unwrap_or_default();
    let settings =
        TrainSettings { time_limit: None, answer: Default::default(), start: None, ..settings.clone() };
    let mut hash = Hash::default();
    hash.numbers(start);
    hash.text(&format!("{problem:?} {scorer:?} {settings:?}"));
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
