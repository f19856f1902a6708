//! What a user may do next: data, which each front end words by its own options.

use super::TrainOutcome;
use crate::training::Status;

/// What may help where a goal is not met, or training was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// Training can go on from its checkpoint.
    Resume,
    /// More iterations: the violation was still falling.
    MoreIterations,
    /// Constrained training enforces what this method only hopes for.
    TrainConstrained,
    /// A looser bound, a richer scorer, or one that may use the groups.
    LoosenOrEnrich,
}

impl TrainOutcome {
    /// What may help, if something is to be helped.
    pub fn advice(&self) -> Option<Advice> {
        match self.trained.status {
            Status::Feasible | Status::FeasibleAsMixture => None,
            Status::TimeLimit => Some(Advice::Resume),
            Status::NotConverged => Some(Advice::MoreIterations),
            Status::Infeasible if self.method != "constrained" => Some(Advice::TrainConstrained),
            Status::Infeasible => Some(Advice::LoosenOrEnrich),
        }
    }
}
