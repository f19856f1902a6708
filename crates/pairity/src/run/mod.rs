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

mod adjust;
mod audit;
mod compare;
mod error;
mod fit_request;
mod frontier;
mod group_aware;
mod pictures;
mod prepare;
mod rows;
mod score;
mod train;

pub use adjust::{AdjustOutcome, AdjustRequest, AdjustedPart, AdjustedValues, adjust};
pub use audit::{AuditOutcome, AuditRequest, audit};
pub use compare::{
    CompareOutcome, CompareRequest, CompareWatch, ComparisonSetup, MethodOutcome, MethodResult, compare,
};
pub use error::RunError;
pub use fit_request::FitRequest;
pub use frontier::{FrontierCurve, FrontierOutcome, FrontierPoint, FrontierRequest, frontier};
pub use group_aware::GroupAware;
pub use pictures::{Plane, PlaneLine, PlanePoint, plane};
pub use rows::{Fold, Rows};
pub use score::{ScoreOutcome, ScoreRequest, score};
pub use train::{TrainOutcome, TrainRequest, TrainingPart, TrainingPictures, train, train_from};
