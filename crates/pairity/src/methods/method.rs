//! What a method is, and what can be set of methods.

use super::{Adjusted, MethodError, Task, Tuning};
use crate::goals::Problem;
use crate::model::{After, StochasticScorer, exposure::Utilities};
use crate::rates::Rate;
use crate::solvers::{Trained, Watch};
use std::fmt;

/// What can be set of methods; each looks at its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MethodOptions {
    /// How much the correlation weighs in the loss of [`beutel`](super::beutel), at least 0.
    pub penalty: f64,
    /// How scores become utilities in [`singh_joachims`](super::singh_joachims).
    pub utilities: Utilities,
    /// How far [`quantile_match`](super::quantile_match) moves scores, from 0 (not at all) to 1 (all the
    /// way); without it, no further than the constraints need.
    pub strength: Option<f64>,
}

impl Default for MethodOptions {
    fn default() -> MethodOptions {
        MethodOptions { penalty: 1.0, utilities: Utilities::Range, strength: None }
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

/// What lists say of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodEntry {
    /// The name that commands know it by.
    pub name: &'static str,
    /// Where it acts.
    pub stage: Stage,
    /// What it does, in one line.
    pub about: &'static str,
}

/// Tunes an adjustment of given scores.
pub type Adjuster = fn(&Tuning, &MethodOptions) -> Result<Adjusted, MethodError>;

/// A way to get a fair scorer. All methods are listed in [`ALL`](super::ALL).
pub trait Method: Send + Sync {
    /// What lists say of it.
    fn entry(&self) -> MethodEntry;

    /// The name that commands know it by; several kinds of a method have the same.
    fn name(&self) -> &'static str {
        self.entry().name
    }

    /// The name, and in brackets the kind where there are several.
    fn full_name(&self) -> &'static str {
        self.name()
    }

    /// What it does, in one line.
    fn about(&self) -> &'static str {
        self.entry().about
    }

    /// Where it acts.
    fn stage(&self) -> Stage {
        self.entry().stage
    }

    /// Whether what it gives depends on the bounds of the constraints.
    fn follows_bound(&self) -> bool {
        matches!(self.stage(), Stage::Constraints | Stage::Scores)
    }

    /// Whether it starts from the scores of an unconstrained scorer.
    fn is_post_processing(&self) -> bool {
        self.stage() == Stage::Scores
    }

    /// Refuses goals that the method is not made for.
    ///
    /// # Errors
    /// The reason.
    fn check(&self, problem: &Problem) -> Result<(), MethodError> {
        let _ = problem;
        Ok(())
    }

    /// Trains the scorer.
    ///
    /// # Errors
    /// The method does not apply to such data, with the reason; or training can't start.
    fn train(&self, task: &Task, options: &MethodOptions, watch: Watch) -> Result<Trained, MethodError> {
        let _ = options;
        task.train(&task.problem.unconstrained(), watch)
    }

    /// Tunes what is done with the scores of the scorer, if anything.
    ///
    /// # Errors
    /// The method does not apply to such data, with the reason.
    fn after(
        &self,
        task: &Task,
        options: &MethodOptions,
        trained: &Trained,
    ) -> Result<Option<After>, MethodError> {
        let Some(adjust) = self.adjuster() else { return Ok(None) };
        let examples = task.selection();
        let scorer = StochasticScorer::new(task.scorer, &trained.components);
        let members = scorer.members(examples, task.data.features)?;
        let [member] = &members[..] else {
            return Err(MethodError::does_not_apply(self.name(), "the scorer to adjust is a mixture"));
        };
        let (problem, average) = (task.problem, task.settings.average);
        let tuning = Tuning { examples, scores: &member.scores, problem, average };
        Ok(Some(After::Adjusted(adjust(&tuning, options)?.adjustment)))
    }

    /// How it adjusts scores that are given, if it can.
    fn adjuster(&self) -> Option<Adjuster> {
        None
    }
}

/// Refuses goals that compare scores with labels.
pub(super) fn ranks_only(
    problem: &Problem,
    method: &'static str,
    reason: &'static str,
) -> Result<(), MethodError> {
    match problem.uses(Rate::Mse) {
        true => Err(MethodError::does_not_apply(method, reason)),
        false => Ok(()),
    }
}

impl PartialEq for dyn Method {
    fn eq(&self, other: &dyn Method) -> bool {
        self.full_name() == other.full_name()
    }
}

impl fmt::Debug for dyn Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.full_name())
    }
}
