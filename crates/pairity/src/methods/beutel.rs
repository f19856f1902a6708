//! A penalty on the correlation of residuals and groups (Beutel et al. 2019): the
//! [`Correlation`](crate::surrogates::Correlation) is added to the loss.

use super::{Method, MethodError, MethodOptions, Stage, Task};
use crate::surrogates::{Membership, SurrogateError};
use crate::training::{Penalty, TrainError, TrainSettings, Trained, Watch};

/// The method.
#[derive(Debug)]
pub struct Beutel;

impl Method for Beutel {
    fn name(&self) -> &'static str {
        "beutel"
    }

    fn about(&self) -> &'static str {
        "A penalty on the correlation of residuals and groups (Beutel et al. 2019)"
    }

    fn stage(&self) -> Stage {
        Stage::Training
    }

    fn train(&self, task: &Task, options: &MethodOptions, watch: Watch) -> Result<Trained, MethodError> {
        let penalty = Some(Penalty { weight: options.penalty, membership: Membership::Cross });
        let settings = TrainSettings { penalty, ..task.settings.clone() };
        let trained = Task { settings: &settings, ..*task }.train(&task.problem.unconstrained(), watch);
        trained.map_err(|error| match error {
            MethodError::Train(TrainError::Surrogate(SurrogateError::NoCorrelation { reason })) => {
                MethodError::does_not_apply("the correlation penalty", reason)
            }
            other => other,
        })
    }
}
