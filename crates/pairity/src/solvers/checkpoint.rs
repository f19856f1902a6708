//! What a run that was interrupted needs to go on as if nothing had happened.

use super::executor::SolverRun;
use super::solver::Training;
use super::train::{Data, TrainError, TrainSettings};
use crate::examples::Attribute;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

const SCHEMA: &str = "pairity.checkpoint/4";

/// What the text of the runs follows.
const RUNS: &str = r#""runs":"#;

/// The state of all runs at one moment, as a JSON document.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    text: String,
    fingerprint: u64,
    iterations: usize,
}

#[derive(Deserialize)]
struct CheckpointDocument<R> {
    schema: String,
    /// Of everything that the runs depend on.
    fingerprint: u64,
    /// Of the text from the runs on, so that a damaged one is never taken for a state.
    checksum: u64,
    runs: R,
}

/// What is known of a run whatever the solver.
#[derive(Deserialize)]
struct AnyRun {
    iteration: usize,
}

impl Checkpoint {
    pub(crate) fn new<S: Serialize>(
        fingerprint: u64,
        runs: &[SolverRun<S>],
    ) -> Result<Checkpoint, TrainError> {
        let iterations = runs.iter().map(|run| run.iteration).sum();
        let runs = serde_json::to_string(runs).map_err(wrong)? + "}";
        let checksum = checksum(&runs);
        let text = format!(
            r#"{{"schema":"{SCHEMA}","fingerprint":{fingerprint},"checksum":{checksum},{RUNS}{runs}"#
        );
        Ok(Checkpoint { text, fingerprint, iterations })
    }

    /// Iterations made, over all runs.
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// The document.
    pub fn to_json(&self) -> &str {
        &self.text
    }

    /// The checkpoint of a document.
    ///
    /// # Errors
    /// A text that is no checkpoint, or a damaged one.
    pub fn from_json(text: &str) -> Result<Checkpoint, TrainError> {
        let CheckpointDocument { schema, fingerprint, checksum: expected, runs } =
            serde_json::from_str::<CheckpointDocument<Vec<AnyRun>>>(text).map_err(wrong)?;
        if schema != SCHEMA {
            return Err(TrainError::Checkpoint(format!("its schema is {schema:?} and not {SCHEMA:?}")));
        }
        if text.split_once(RUNS).is_none_or(|(_, runs)| checksum(runs) != expected) {
            return Err(TrainError::Checkpoint("it was changed after it had been written".to_owned()));
        }
        let iterations = runs.iter().fold(0, |sum: usize, run| sum.saturating_add(run.iteration));
        Ok(Checkpoint { text: text.to_owned(), fingerprint, iterations })
    }

    /// The runs, if they are for the same problem on the same data.
    pub(crate) fn resume<S: DeserializeOwned>(
        self,
        fingerprint: u64,
    ) -> Result<Vec<SolverRun<S>>, TrainError> {
        if self.fingerprint != fingerprint {
            return Err(TrainError::OtherRun);
        }
        let document: CheckpointDocument<_> = serde_json::from_str(&self.text).map_err(wrong)?;
        Ok(document.runs)
    }
}

fn wrong(cause: serde_json::Error) -> TrainError {
    TrainError::Checkpoint(cause.to_string())
}

fn checksum(runs: &str) -> u64 {
    let mut hash = Hash::new();
    hash.add(runs.bytes());
    hash.0
}

/// A number that changes with anything that the runs depend on. Time limits are left out: they decide
/// when a run ends, not what it does.
pub(crate) fn fingerprint(training: &Training, data: &Data) -> u64 {
    let Training { problem, architecture, features, settings, term } = training;
    let start = settings.start.as_deref().unwrap_or_default();
    // Nor does the selection.
    let settings = TrainSettings {
        time_limit: None,
        answer: Default::default(),
        start: None,
        also: Vec::new(),
        ..(*settings).clone()
    };
    let mut hash = Hash::new();
    hash.add(bits(start));
    hash.add(format!("{problem:?} {architecture:?} {settings:?} {term:?}").bytes());
    hash.add(features.tiles().flat_map(|tile| tile.into_owned()).map(f64::to_bits));
    features.fingerprint_elsewhere().into_iter().for_each(|own| hash.mix(own));
    if let Some(sparse) = features.sparse() {
        hash.add(sparse.bits());
    }
    hash.add(features.codes().unwrap_or(&[]).iter().copied());
    for examples in [Some(data.train), data.multipliers].into_iter().flatten() {
        hash.add(examples.row.iter().copied());
        hash.mix(u64::from(examples.label_gap));
        hash.add((0..examples.queries()).map(|query| examples.query(query).end as u64));
        hash.add((0..examples.blocks()).map(|block| examples.block(block).end as u64));
        for numbers in
            [&examples.labels, &examples.weights, &examples.factors, &examples.side].into_iter().flatten()
        {
            hash.add(bits(numbers));
        }
        match &examples.attribute {
            Attribute::None => {}
            Attribute::Groups { codes, .. } => hash.add(codes.iter().copied()),
            Attribute::Continuous(values) => hash.add(bits(values)),
        }
    }
    hash.0
}

fn bits(numbers: &[f64]) -> impl Iterator<Item = u64> {
    numbers.iter().map(|number| number.to_bits())
}

/// FNV-1a over 64-bit words.
struct Hash(u64);

impl Hash {
    fn new() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    /// Adds a list, and its length: lists don't run into each other.
    fn add(&mut self, list: impl Iterator<Item = impl Into<u64>>) {
        let mut length = 0;
        for number in list {
            self.mix(number.into());
            length += 1;
        }
        self.mix(length);
    }

    fn mix(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x0000_0100_0000_01b3);
        // The product alone never carries high bits down.
        self.0 = mixed ^ (mixed >> 32);
    }
}
