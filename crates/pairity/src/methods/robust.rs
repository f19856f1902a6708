//! The least of the objective and the rates of the constraints, by the game.

use super::{Method, MethodEntry, MethodError, MethodOptions, Stage, Task};
use crate::goals::Problem;
use crate::solvers::{Trained, Watch};

/// The method.
#[derive(Debug)]
pub struct Robust;

impl Method for Robust {
    fn entry(&self) -> MethodEntry {
        MethodEntry {
            name: "robust",
            stage: Stage::Training,
            about: "The least of the objective and of the rates in the constraints is raised",
        }
    }

    fn check(&self, problem: &Problem) -> Result<(), MethodError> {
        robust(problem).map(|_| ())
    }

    fn train(&self, task: &Task, _: &MethodOptions, watch: Watch) -> Result<Trained, MethodError> {
        task.train(&robust(task.problem)?, watch)
    }
}

fn robust(problem: &Problem) -> Result<Problem, MethodError> {
    problem.robust().ok_or_else(|| {
        let reason = match problem.constraints.is_empty() {
            true => "it raises the least of the rates that constraints compare, and there are no constraints",
            false => "it raises the least of some rates, and the goal is to make an error small",
        };
        MethodError::does_not_apply("robust training", reason)
    })
}
