//! Requests go in, outcomes come out: the door for every front end.
//!
//! A front end turns what its user says into a request and the user's table into [`Rows`], and shows the
//! outcome. Everything between happens here, once: defaults, the split, the encoder, the scorer, the goal,
//! training, evaluation and the model.
//!
//! | request | outcome |
//! |---|---|
//! | [`AuditRequest`] | [`AuditOutcome`] |
//! | [`TrainRequest`] | [`TrainOutcome`] |
//! | [`CompareRequest`] | [`CompareOutcome`] |
//! | [`FrontierRequest`] | [`FrontierOutcome`] |
//! | [`AdjustRequest`] | [`AdjustOutcome`] |
//! | [`ScoreRequest`] | [`ScoreOutcome`] |
//!
//! ```
//! use pairity::examples::{Column, Columns, Examples, Values};
//! use pairity::run::{FitRequest, Rows, TrainRequest, train};
//! use pairity::solvers::{Status, Watch};
//!
//! let examples = Examples::new(Columns { labels: Some(&[0.0, 1.0, 2.0]), ..Columns::default() })?;
//! let column = Column { name: "age".into(), values: Values::Numbers(vec![50.0, 30.0, 10.0]) };
//! let fit = FitRequest { split: Some([1.0, 0.0, 0.0]), ..FitRequest::default() };
//! let request = TrainRequest { fit, ..TrainRequest::default() };
//! let outcome = train(Rows::new(examples, vec![column]), &request, Watch::default())?;
//! assert_eq!((outcome.trained.status, outcome.trained.objective), (Status::Feasible, 1.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod compare;
mod contest;
mod fit_request;
mod guarantee;
mod harm;
mod leaks;
mod pictures;
mod prepare;
mod scores;
mod train;

pub use compare::{
    CompareOutcome, CompareRequest, CompareWatch, ComparisonSetup, FrontierCurve, FrontierOutcome,
    FrontierPoint, FrontierRequest, MethodOutcome, MethodResult, compare, frontier,
};
pub use fit_request::{FitRequest, GroupAware};
pub use guarantee::{ConstraintLimit, Guarantee};
pub use harm::{Harm, HarmedRate};
pub use pictures::{Plane, PlaneLine, PlanePoint, plane};
pub use prepare::{Fold, Rows};
pub use scores::{
    AdjustOutcome, AdjustRequest, AdjustedPart, AdjustedValues, AuditOutcome, AuditRequest, ScoreOutcome,
    ScoreRequest, adjust, audit, audit_plain, merge, score,
};
pub use train::{TrainOutcome, TrainRequest, TrainingPart, TrainingPictures, train, train_from};

use crate::examples::{ExamplesError, SplitError};
use crate::goals::{GoalError, ProblemError};
use crate::learners::{EncodeError, FeaturesError, ScorerError, text::EmbeddingError};
use crate::methods::MethodError;
use crate::model::ModelError;
use crate::solvers::TrainError;

/// Why a request has no outcome. What a user has to say in another way is a variant of its own, which a
/// front end can word by its own options.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Partial audits that can't be made or merged.
    #[error(transparent)]
    Partial(#[from] crate::metrics::PartialError),
    /// A network for texts was asked for, and no text was given.
    #[error("the text network reads a text: give a column of texts")]
    NoText,
    /// Word vectors for a scorer that has none.
    #[error("word vectors are for the text network: leave them out for a {0} scorer")]
    VectorsUnused(&'static str),
    /// Terms for a scorer that sees words in their order.
    #[error("terms are for a linear scorer: leave them out for {0}")]
    NgramsUnused(&'static str),
    /// There are neither columns nor a text.
    #[error("there is no column to learn from: give feature columns or a text")]
    NoFeatures,
    /// A part of the rows is given, and taken from the other rows as well.
    #[error("rows for {0} are given, and a share of the other rows is taken for it too: make that share 0")]
    PartTwice(&'static str),
    /// The scorer may use groups, and there are none.
    #[error("a group-aware scorer needs a protected attribute: give groups")]
    NoGroups,
    /// Columns that are not in this memory can't be had, or scores of them.
    #[error("features that are not in this memory can't be used: {0}")]
    Elsewhere(String),
    /// What is asked for needs all features in this memory.
    #[error(
        "texts, and a continuous attribute as a feature, need features in this memory: give them as columns"
    )]
    NotElsewhere,
    /// Methods are compared for nothing.
    #[error("there is nothing to compare methods for: give a constraint such as cross_group <= 0.01")]
    NoConstraints,
    /// A bound that is none.
    #[error("there is a bound of {0}; bounds are numbers of at least 0")]
    Bound(f64),
    /// A strength for a method that has none.
    #[error("a strength belongs to the method quantile-match, not to {0}")]
    StrengthUnused(&'static str),
    /// A share that is none.
    #[error("the share of the tuned rows is {0}; a number above 0 and up to 1 is needed, such as 0.5")]
    Tune(f64),
    /// A guarantee of a confidence that is none.
    #[error("the confidence of the guarantee is {0}; a number from 0.5 to below 1 is needed, such as 0.95")]
    Guarantee(f64),
    /// A guarantee of nothing.
    #[error("there is nothing to guarantee: give a constraint such as cross_group <= 0.05")]
    NothingToGuarantee,
    /// A fall of accuracy that is none.
    #[error("the fall that does no harm is {0}; a number from 0 to below 1 is needed, such as 0.02")]
    NoHarm(f64),
    /// Harm where nothing is enforced.
    #[error("without constraints nobody is harmed: give one such as cross_group <= 0.05")]
    NoHarmUnused,
    /// A score that is no number.
    #[error(
        "row {row}: the {what} is {value}, which is no finite number. The features of this row are too large for \
         the model: correct the cells, or leave them empty if the values are missing", row = .row + 1
    )]
    NotFinite {
        /// `score` or `expected score`.
        what: &'static str,
        /// Index of the row, from 0.
        row: usize,
        /// The score.
        value: f64,
    },
    /// Word vectors that can't be read.
    #[error(transparent)]
    Vectors(#[from] EmbeddingError),
    /// A goal or a check that can't be read.
    #[error(transparent)]
    Goal(#[from] GoalError),
    /// A goal that can't be trained for.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The examples.
    #[error(transparent)]
    Examples(#[from] ExamplesError),
    /// Their split.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// The columns.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The features.
    #[error(transparent)]
    Features(#[from] FeaturesError),
    /// The scorer.
    #[error(transparent)]
    Scorer(#[from] ScorerError),
    /// Training.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// The method.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// The model.
    #[error(transparent)]
    Model(#[from] ModelError),
}
