//! Rankings of fair [`exposure`] (Singh & Joachims 2018), drawn for each query from
//! the scores of an unconstrained scorer.

use super::{Method, MethodEntry, MethodError, MethodOptions, Stage, Task, ranks_only};
use crate::goals::Problem;
use crate::model::exposure::{self, Exposure, METHOD};
use crate::model::{After, Ranked};
use crate::solvers::Trained;

/// The method, of one kind of exposure.
#[derive(Debug)]
pub struct SinghJoachims(pub Exposure);

impl Method for SinghJoachims {
    fn entry(&self) -> MethodEntry {
        MethodEntry {
            name: "singh-joachims",
            stage: Stage::Scores,
            about: "Random rankings of fair exposure (Singh & Joachims 2018)",
        }
    }

    fn full_name(&self) -> &'static str {
        match self.0 {
            Exposure::Impact => "singh-joachims (impact)",
            Exposure::Treatment => "singh-joachims (treatment)",
        }
    }

    fn follows_bound(&self) -> bool {
        false
    }

    fn check(&self, problem: &Problem) -> Result<(), MethodError> {
        ranks_only(problem, METHOD, "it gives rankings, and the goal compares scores with labels")
    }

    fn after(&self, task: &Task, options: &MethodOptions, _: &Trained) -> Result<Option<After>, MethodError> {
        exposure::check(task.selection()).map_err(|reason| MethodError::does_not_apply(METHOD, reason))?;
        Ok(Some(After::Ranked(Ranked { exposure: self.0, utilities: options.utilities })))
    }
}
