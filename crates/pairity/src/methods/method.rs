//! What a method is, what can be set of methods, and why one gives no result.

use super::kallus_zhou::LogisticGrid;
use super::{Adjusted, Task, Tuning};
use crate::examples::ExamplesError;
use crate::model::ModelError;
use crate::model::exposure::{Exposure, Utilities};
use crate::solvers::{SolverKind, TrainError, Trained, Watch};
use std::fmt;

/// What can be set of methods; each looks at its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MethodOptions {
    /// How much the correlation weighs in the loss of [`BEUTEL`](super::BEUTEL), at least 0.
    pub penalty: f64,
    /// How scores become utilities in [`SINGH_JOACHIMS_IMPACT`](super::SINGH_JOACHIMS_IMPACT) and its like.
    pub utilities: Utilities,
    /// Which maps [`kallus_zhou`](super::kallus_zhou) tries.
    pub logistic: LogisticGrid,
    /// How far [`quantile_match`](super::quantile_match) moves scores, from 0 (not at all) to 1 (all the
    /// way); without it, no further than the constraints need.
    pub strength: Option<f64>,
}

impl Default for MethodOptions {
    fn default() -> MethodOptions {
        let (utilities, logistic) = (Utilities::default(), LogisticGrid::default());
        MethodOptions { penalty: 1.0, utilities, logistic, strength: None }
    }
}

/// Where a method acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Nowhere: a scorer is trained for the objective alone.
    Unconstrained,
    /// In training, by something else than the constraints.
    Training,
    /// In training, by the constraints.
    Constraints,
    /// After it: the scores of an unconstrained scorer are changed.
    Scores,
}

/// Tunes an adjustment of given scores.
pub type Adjuster = fn(&Tuning, &MethodOptions) -> Result<Adjusted, MethodError>;

/// A way to get a fair scorer. All methods are listed in [`ALL`](super::ALL).
pub struct Method {
    /// The name that commands know it by; several kinds of a method have the same.
    pub name: &'static str,
    /// The name, and in brackets the kind where there are several.
    pub full_name: &'static str,
    /// Where it acts.
    pub stage: Stage,
    /// What it does, in one line.
    pub about: &'static str,
    /// What it is called in a refusal of goals that compare scores with labels, and the reason; nothing if
    /// it is made for these too.
    pub ranks_only: Option<(&'static str, &'static str)>,
    /// The only solver that it is for; nothing if any will do.
    pub solver: Option<SolverKind>,
    /// Trains the scorer; an error if the method does not apply to such a goal or such data, or training can't
    /// start.
    pub train: fn(&Task, &MethodOptions, Watch) -> Result<Trained, MethodError>,
    /// Whether it applies to such examples and such a goal, whatever their scores; asked before anything is
    /// trained.
    pub check: fn(&Tuning) -> Result<(), MethodError>,
    /// Why it changes given scores only, and none of a scorer that is trained; nothing if it does both.
    pub given_only: Option<&'static str>,
    /// How it adjusts scores, if it does.
    pub adjuster: Option<Adjuster>,
    /// What the rankings are fair in that it draws by scores, if it does.
    pub exposure: Option<Exposure>,
}

impl Method {
    /// A method that trains for the objective alone and leaves scores as they are, until fields are set.
    pub const fn new(name: &'static str, stage: Stage, about: &'static str) -> Method {
        Method {
            name,
            full_name: name,
            stage,
            about,
            ranks_only: None,
            solver: None,
            train: |task, _, watch| task.unconstrained(watch),
            check: |_| Ok(()),
            given_only: None,
            adjuster: None,
            exposure: None,
        }
    }

    /// Whether what it gives depends on the bounds of the constraints.
    pub fn follows_bound(&self) -> bool {
        matches!(self.stage, Stage::Constraints | Stage::Scores) && self.exposure.is_none()
    }
}

impl PartialEq for Method {
    fn eq(&self, other: &Method) -> bool {
        self.full_name == other.full_name
    }
}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.full_name)
    }
}

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
        "{rate} has no pairs in {part}, which {method} is tuned on: give it more rows, or leave the rate out of \
         the goal"
    )]
    NoPairs {
        /// The method's name.
        method: &'static str,
        /// The rate, as goals write it.
        rate: String,
        /// Which part of the rows that is.
        part: &'static str,
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
