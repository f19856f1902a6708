//! Learners: from the features of a row to one number, and a step along a gradient by the scores.
//!
//! A solver knows a [`Learner`] alone: it gives scores, takes steps, and has snapshots. [`Parametric`] is the
//! learner of every [`Architecture`]: a shape, which never changes, and a vector of parameters, which Adam
//! moves; its snapshot is that vector. [`OutsideScores`] are scores that somebody else moves.
//! An [`Encoder`] makes [`Features`] of the columns of a table.
//!
//! A new architecture is a file that implements [`Scorer`], and a line in the list of [`Architecture`]s.
//!
//! ```
//! use pairity::learners::{Architecture, Features, GroupUse, Linear, Trace};
//!
//! let features = Features::new(2, 2, vec![1.0, 2.0, 3.0, 4.0])?;
//! let scorer = Architecture::Linear(Linear { width: 2, intercept: false, start: 1.0, groups: GroupUse::Blind });
//! scorer.check(&features)?;
//!
//! let parameters = scorer.start(0);
//! let mut scores = [0.0; 2];
//! scorer.score(&parameters, &features, &mut scores);
//! assert_eq!(scores, [3.0, 7.0]);
//!
//! // The first score should rise and the second fall.
//! let gradient = scorer.pull_back(&parameters, &features, &Trace::default(), &[1.0, -1.0]);
//! assert_eq!(gradient, [-2.0, -2.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adam;
mod architecture;
mod dense;
mod elsewhere;
mod encode;
mod encoder;
mod features;
mod learner;
mod linear;
mod mlp;
mod narrow;
mod part_pairs;
mod scratch;
mod sparse;
mod sweep;
pub mod text;

pub(crate) use adam::Adam;
pub(crate) use architecture::LearnerSpec;
pub use architecture::{Architecture, GroupUse, LearnerDefaults, ScorerError, ScorerKind};
pub(crate) use elsewhere::PartsElsewhere;
pub use elsewhere::{ColumnSource, FeatureSource};
pub use encode::{EncodeError, Encoded, Note};
pub use encoder::{Encoder, Encoding, MAX_LEVELS};
pub use features::{Features, FeaturesError};
pub use learner::{Learner, OutsideScores, Parametric, ScoreSlope, Trace};
pub use linear::Linear;
pub(crate) use linear::dot;
pub use mlp::Mlp;
pub use part_pairs::{PairTask, PartLoss, PartPairs, PartSource, PartWeights};
pub(crate) use scratch::Scratch;
pub use sparse::Sparse;
pub use text::TextCnn;

/// A shape of scorers: with a vector of parameters θ it gives f(x; θ) for each row x.
///
/// Nothing here changes state, and the results have the same bits for any number of threads. The slices
/// must have the lengths that are named; whether features fit is asked once, of
/// [`Architecture::check`].
pub trait Scorer: Send + Sync {
    /// Number of parameters in one set, without those of groups.
    fn set_len(&self) -> usize;

    /// Number of parameters.
    fn len(&self) -> usize {
        self.groups().len(self.set_len())
    }

    /// Whether there is nothing to learn.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of features a row.
    fn width(&self) -> usize;

    /// How the scorer uses groups.
    fn groups(&self) -> GroupUse;

    /// Checks what is particular to this shape: its sizes beside the width.
    ///
    /// # Errors
    /// A size that is zero, a number out of its range.
    fn check_sizes(&self) -> Result<(), ScorerError>;

    /// Checks that the scorer can use the kinds of features that there are.
    ///
    /// # Errors
    /// Words for a scorer that can't read them, or no words for one that reads nothing else.
    fn check_kinds(&self, features: &Features) -> Result<(), ScorerError> {
        let _ = features;
        Ok(())
    }

    /// One set of parameters to start from; those that are random follow from the seed.
    fn start_set(&self, seed: u64) -> Vec<f64>;

    /// Parameters to start from, with those of groups.
    fn start(&self, seed: u64) -> Vec<f64> {
        self.groups().start(self.start_set(seed))
    }

    /// The score of every row: sᵢ = f(xᵢ; θ). `scores` has one place a row.
    fn score(&self, parameters: &[f64], features: &Features, scores: &mut [f64]);

    /// The gradient by the parameters of a value whose gradient by the scores is g: Σᵢ gᵢ ∂f(xᵢ; θ)/∂θ,
    /// which is Jᵀg. The scores are those that [`forward`](Self::forward) left the trace of, or without one those
    /// of [`score`](Self::score).
    fn pull_back(&self, parameters: &[f64], features: &Features, trace: &Trace, slopes: &[f64]) -> Vec<f64>;

    /// The same, put in place of other numbers: a scorer may do so without memory of its own.
    fn put_back(
        &self,
        parameters: &[f64],
        features: &Features,
        trace: &Trace,
        slopes: &[f64],
        gradient: &mut Vec<f64>,
    ) {
        *gradient = self.pull_back(parameters, features, trace, slopes);
    }

    /// The scores as a step of training sees them. Where a scorer leaves out units at random, they follow
    /// from `draw`. What is returned is for [`pull_back`](Self::pull_back) at the same parameters and features.
    fn forward(&self, parameters: &[f64], features: &Features, draw: u64, scores: &mut [f64]) -> Trace {
        let _ = draw;
        self.score(parameters, features, scores);
        Trace::default()
    }

    /// The scores as [`score`](Self::score) gives them. What is returned may spare
    /// [`pull_back`](Self::pull_back) at the same parameters and features the way there.
    fn trace(&self, parameters: &[f64], features: &Features, scores: &mut [f64]) -> Trace {
        self.score(parameters, features, scores);
        Trace::default()
    }

    /// Where in a set of parameters those begin that a score is linear in; 0 for a linear scorer.
    fn output(&self) -> usize;

    /// Multiplies every score by a factor.
    fn scale(&self, parameters: &mut [f64], factor: f64) {
        let set = match self.groups() {
            GroupUse::Weights { .. } => self.set_len(),
            GroupUse::Blind | GroupUse::Offsets { .. } => parameters.len(),
        };
        for set in parameters.chunks_mut(set.max(1)) {
            set[self.output()..].iter_mut().for_each(|x| *x *= factor);
        }
        self.round(parameters);
    }

    /// Rounds parameters to the precision that scores are computed in, which does not change the scores.
    fn round(&self, parameters: &mut [f64]) {
        let _ = parameters;
    }
}
