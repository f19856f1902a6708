//! The objective subject to the constraints, by the game.

use super::{Method, MethodEntry, MethodError, MethodOptions, Stage, Task};
use crate::solvers::{Trained, Watch};

/// The method.
#[derive(Debug)]
pub struct Constrained;

impl Method for Constrained {
    fn entry(&self) -> MethodEntry {
        MethodEntry { name: "constrained", stage: Stage::Constraints, about: "The constraints are enforced" }
    }

    fn train(&self, task: &Task, _: &MethodOptions, watch: Watch) -> Result<Trained, MethodError> {
        task.train(task.problem, watch)
    }
}
