//! The objective subject to the constraints, by the game.

use super::{Method, MethodError, MethodOptions, Stage, Task};
use crate::solvers::{Trained, Watch};

/// The method.
#[derive(Debug)]
pub struct Constrained;

impl Method for Constrained {
    fn name(&self) -> &'static str {
        "constrained"
    }

    fn about(&self) -> &'static str {
        "The constraints are enforced"
    }

    fn stage(&self) -> Stage {
        Stage::Constraints
    }

    fn train(&self, task: &Task, _: &MethodOptions, watch: Watch) -> Result<Trained, MethodError> {
        task.train(task.problem, watch)
    }
}
