//! Methods that take little more than their entry, as training or the model does the rest: the objective alone,
//! subject to the constraints, the least rate raised, a penalty beside it, or rankings drawn by its scores.

use super::score_minus_attribute::candidate;
use super::{Method, MethodError, Stage, Task};
use crate::examples::Examples;
use crate::goals::Problem;
use crate::model::exposure::{Exposure, METHOD, check};
use crate::pairs::{Correlation, Membership, SurrogateError};
use crate::solvers::{
    LossTerm, ScoreTerm, SolverKind, TrainError, TrainSettings, Trained, Watch, train_with,
};
use std::time::Instant;

/// The objective alone: what the other methods are measured against.
pub static UNCONSTRAINED: Method =
    Method::new("unconstrained", Stage::Unconstrained, "They are only reported");

/// The objective subject to the constraints. A scorer that may use the protected attribute is never worse, where it is
/// selected, than the [offset search](super::SCORE_MINUS_ATTRIBUTE_AWARE): what that finds takes part in the selection
/// of the game, and column generation has columns like it.
pub static CONSTRAINED: Method = Method {
    train: |task, _, watch| {
        let has_offsets = task.settings.solver == SolverKind::Columns;
        match task.aware && !task.problem.constraints.is_empty() && !has_offsets {
            true => with_offsets(task, watch),
            false => task.train(task.problem, watch),
        }
    },
    ..Method::new("constrained", Stage::Constraints, "The constraints are enforced")
};

/// Trains the scorer, with what the offset search makes of an unconstrained one among those to choose from.
fn with_offsets(task: &Task, watch: Watch) -> Result<Trained, MethodError> {
    let (started, limit) = (Instant::now(), task.settings.time_limit);
    // Half of the time at most; the rest is left for the game.
    let settings = TrainSettings { time_limit: limit.map(|limit| limit / 2), ..task.settings.clone() };
    let alone = Watch { progress: watch.progress, ..Watch::default() };
    let base = Task { settings: &settings, ..*task }.unconstrained(alone)?;
    let also = match candidate(task, &base) {
        Ok(parameters) => vec![parameters],
        // Where the search does not apply, there is nothing to be worse than.
        Err(MethodError::DoesNotApply { .. } | MethodError::NoPairs { .. }) => Vec::new(),
        Err(error) => return Err(error),
    };
    let time_limit = limit.map(|limit| limit.saturating_sub(started.elapsed()));
    let settings = TrainSettings { time_limit, also, ..task.settings.clone() };
    Task { settings: &settings, ..*task }.train(task.problem, watch)
}

/// The least of the objective and the rates of the constraints.
pub static ROBUST: Method = Method {
    train: |task, _, watch| task.train(&robust(task.problem)?, watch),
    check: |tuning| robust(tuning.problem).map(drop),
    ..Method::new(
        "robust",
        Stage::Training,
        "The least of the objective and of the rates in the constraints is raised",
    )
};

fn robust(problem: &Problem) -> Result<Problem, MethodError> {
    problem.robust().ok_or_else(|| {
        let reason = match problem.constraints.is_empty() {
            true => "it raises the least of the rates that constraints compare, and there are no constraints",
            false => "it raises the least of some rates, and the goal is to make an error small",
        };
        MethodError::does_not_apply("robust training", reason)
    })
}

/// A penalty on the correlation of residuals and groups (Beutel et al. 2019): the [`Correlation`] is added
/// to the loss.
pub static BEUTEL: Method = Method {
    train: |task, options, watch| {
        let (penalty, problem) = (Penalty(options.penalty), task.problem.unconstrained());
        let mut settings = task.settings.clone();
        // Column generation has no penalties: it gives the scorer that the game starts from.
        if settings.solver == SolverKind::Columns {
            let alone = Watch { progress: watch.progress, ..Watch::default() };
            let base = task.unconstrained(alone)?.components.into_iter().next();
            settings.start = base.map(|component| component.parameters).or(settings.start);
        }
        let trained = train_with(Some(&penalty), &problem, task.scorer, &task.data, &settings, watch);
        trained.map_err(|error| match error {
            TrainError::Surrogate(SurrogateError::NoCorrelation { reason }) => {
                MethodError::does_not_apply("the correlation penalty", reason)
            }
            other => MethodError::Train(other),
        })
    },
    solver: Some(SolverKind::Paper),
    ..Method::new(
        "beutel",
        Stage::Training,
        "A penalty on the correlation of residuals and groups (Beutel et al. 2019)",
    )
};

/// A penalty on the correlation between the residuals of pairs and the protected attribute: what it weighs
/// beside the loss.
#[derive(Debug)]
struct Penalty(f64);

impl LossTerm for Penalty {
    fn check(&self) -> Result<(), TrainError> {
        match self.0 >= 0.0 && self.0.is_finite() {
            true => Ok(()),
            false => Err(TrainError::Setting {
                name: "the weight of the penalty",
                found: self.0.to_string(),
                allowed: "a number of at least 0",
            }),
        }
    }

    fn on<'a>(&self, examples: &'a Examples) -> Result<ScoreTerm<'a>, SurrogateError> {
        let (correlation, weight) = (Correlation::new(examples, Membership::Cross)?, self.0);
        Ok(Box::new(move |scores, gradient| {
            let value = correlation.value_and_gradient(scores, gradient);
            gradient.iter_mut().for_each(|slope| *slope *= weight);
            weight * value
        }))
    }
}

/// Rankings of fair [`exposure`](crate::model::exposure) (Singh & Joachims 2018), drawn for each query from the
/// scores of an unconstrained scorer: clicks for utility.
pub static SINGH_JOACHIMS_IMPACT: Method = singh_joachims("singh-joachims (impact)", Exposure::Impact);

/// The same for exposure.
pub static SINGH_JOACHIMS_TREATMENT: Method =
    singh_joachims("singh-joachims (treatment)", Exposure::Treatment);

const fn singh_joachims(full_name: &'static str, exposure: Exposure) -> Method {
    let about = "Random rankings of fair exposure (Singh & Joachims 2018)";
    Method {
        full_name,
        ranks_only: Some((METHOD, "it gives rankings, and the goal compares scores with labels")),
        check: |tuning| match check(tuning.examples) {
            Ok(_) => Ok(()),
            Err(reason) => Err(MethodError::does_not_apply(METHOD, reason)),
        },
        exposure: Some(exposure),
        ..Method::new("singh-joachims", Stage::Scores, about)
    }
}
