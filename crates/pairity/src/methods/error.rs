//! Why a method gives no result.

use crate::examples::ExamplesError;
use crate::model::ModelError;
use crate::solvers::TrainError;

/// Why a method gives no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MethodError {
    /// The method is not made for such examples.
    #[error("{method} does not apply: {reason}")]
    DoesNotApply {
        /// The method's name.
        method: &'static str,
        /// What it needs and does not find.
        reason: String,
    },
    /// A rate of the goal can't be estimated where the method is tuned.
    #[error(
        "{rate} has no pairs in the examples that {method} is tuned on: give it more examples, or leave \
         the rate out of the goal"
    )]
    NoPairs {
        /// The method's name.
        method: &'static str,
        /// The rate, as goals write it.
        rate: String,
    },
    /// A setting is out of its range.
    #[error("{name} is {found}; it has to be {allowed}")]
    Setting {
        /// Which setting.
        name: &'static str,
        /// What it is.
        found: f64,
        /// What it may be.
        allowed: &'static str,
    },
    /// The scorer could not be trained.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// What is done after scoring can't be done.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The scores are wrong.
    #[error(transparent)]
    Scores(#[from] ExamplesError),
}

impl MethodError {
    pub(super) fn does_not_apply(method: &'static str, reason: impl Into<String>) -> MethodError {
        MethodError::DoesNotApply { method, reason: reason.into() }
    }
}
