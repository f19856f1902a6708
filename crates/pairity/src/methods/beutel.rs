//! A penalty on the correlation of residuals and groups (Beutel et al. 2019): the
//! [`Correlation`] is added to the loss.

use super::{Method, MethodEntry, MethodError, MethodOptions, Stage, Task};
use crate::examples::Examples;
use crate::pairs::{Correlation, Membership, SurrogateError};
use crate::solvers::{LossTerm, ScoreTerm, TrainError, Trained, Watch, train_with};

/// The method.
#[derive(Debug)]
pub struct Beutel;

impl Method for Beutel {
    fn entry(&self) -> MethodEntry {
        MethodEntry {
            name: "beutel",
            stage: Stage::Training,
            about: "A penalty on the correlation of residuals and groups (Beutel et al. 2019)",
        }
    }

    fn train(&self, task: &Task, options: &MethodOptions, watch: Watch) -> Result<Trained, MethodError> {
        let penalty = Penalty { weight: options.penalty, membership: Membership::Cross };
        let problem = task.problem.unconstrained();
        let trained = train_with(Some(&penalty), &problem, task.scorer, &task.data, task.settings, watch);
        trained.map_err(|error| match error {
            TrainError::Surrogate(SurrogateError::NoCorrelation { reason }) => {
                MethodError::does_not_apply("the correlation penalty", reason)
            }
            other => MethodError::Train(other),
        })
    }
}

/// A penalty on the correlation between the residuals of pairs and the protected attribute.
#[derive(Debug)]
struct Penalty {
    /// What the correlation weighs beside the loss.
    weight: f64,
    /// Which pairs it is taken over.
    membership: Membership,
}

impl LossTerm for Penalty {
    fn check(&self) -> Result<(), TrainError> {
        match self.weight >= 0.0 && self.weight.is_finite() {
            true => Ok(()),
            false => Err(TrainError::Setting {
                name: "the weight of the penalty",
                found: self.weight.to_string(),
                allowed: "a number of at least 0",
            }),
        }
    }

    fn on<'a>(&self, examples: &'a Examples) -> Result<ScoreTerm<'a>, SurrogateError> {
        let (correlation, weight) = (Correlation::new(examples, self.membership)?, self.weight);
        Ok(Box::new(move |scores, gradient| {
            let value = correlation.value_and_gradient(scores, gradient);
            gradient.iter_mut().for_each(|slope| *slope *= weight);
            weight * value
        }))
    }
}
