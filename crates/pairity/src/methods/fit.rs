//! Fitting a model by any method.

use super::quantile_match::Strength;
use super::{After, Method, MethodError, Ranked, Scored, Tuning};
use super::{debiased, group_offset, kallus_zhou, quantile_match, x_order};
use crate::examples::Examples;
use crate::goals::Problem;
use crate::metrics::{Member, Settings};
use crate::pairs::SurrogateError;
use crate::rates::Rate;
use crate::scorers::{Architecture, Features};
use crate::training::{
    Data, Evaluation, Status, TrainError, TrainSettings, Trained, Watch, evaluate_members, scores_by_row,
    train,
};

/// What a method is asked for.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The goal, with its constraints, whether or not the method enforces them.
    pub problem: &'a Problem,
    /// The shape of the scorer.
    pub scorer: &'a Architecture,
    /// The examples.
    pub data: Data<'a>,
    /// How scorers are trained.
    pub settings: &'a TrainSettings,
}

/// A model.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The scorers, and whether they (with what is done after) meet the goal where it was selected.
    pub trained: Trained,
    /// What is done with their scores.
    pub after: Option<After>,
}

impl Task<'_> {
    /// The examples that a model is selected on.
    pub fn selection(&self) -> &Examples {
        let Data { train, multipliers, validation, .. } = self.data;
        validation.or(multipliers).unwrap_or(train)
    }

    fn train(&self, problem: &Problem, watch: Watch) -> Result<Trained, MethodError> {
        Ok(train(problem, self.scorer, &self.data, self.settings, watch)?)
    }
}

/// Fits a model. Post-processing starts from an unconstrained scorer, which is trained first.
///
/// # Errors
/// The method does not apply to such data or such a goal, with the reason; or training can't start.
pub fn fit(method: Method, task: &Task, watch: Watch) -> Result<Fitted, MethodError> {
    let plain = task.problem.unconstrained();
    let trained = match method {
        Method::Constrained => return Ok(Fitted { trained: task.train(task.problem, watch)?, after: None }),
        Method::Unconstrained => task.train(&plain, watch)?,
        Method::Robust => task.train(&robust(task.problem)?, watch)?,
        Method::Debiased => {
            let weights = debiased::weights(task.data.train)?.weights;
            let train = &task.data.train.reweighted(&weights);
            Task { data: Data { train, ..task.data }, ..*task }.train(&plain, watch)?
        }
        Method::Beutel(penalty) => {
            let settings = TrainSettings { penalty: Some(penalty), ..task.settings.clone() };
            let trained = Task { settings: &settings, ..*task }.train(&plain, watch);
            trained.map_err(|error| match error {
                MethodError::Train(TrainError::Surrogate(SurrogateError::NoCorrelation { reason })) => {
                    MethodError::does_not_apply("the correlation penalty", reason)
                }
                other => other,
            })?
        }
        post => return fit_after(post, task, &task.train(&plain, watch)?),
    };
    judge(task, Fitted { trained, after: None })
}

/// The same where an unconstrained scorer, if one is given, was trained for the task before: it is that
/// method's model, and post-processing starts from it.
///
/// # Errors
/// Those of [`fit`].
pub fn fit_from(
    method: Method,
    task: &Task,
    unconstrained: Option<&Trained>,
    watch: Watch,
) -> Result<Fitted, MethodError> {
    match unconstrained {
        Some(trained) if method == Method::Unconstrained => {
            Ok(Fitted { trained: trained.clone(), after: None })
        }
        Some(trained) if method.is_post_processing() => fit_after(method, task, trained),
        _ => fit(method, task, watch),
    }
}

/// Fits what is done after scoring, to an unconstrained scorer that is there already.
///
/// # Errors
/// The method does not apply, with the reason.
pub fn fit_after(method: Method, task: &Task, unconstrained: &Trained) -> Result<Fitted, MethodError> {
    let Task { problem, scorer, data, settings } = *task;
    let examples = task.selection();
    let errors = problem.uses(Rate::Mse);
    let refuse = |name, reason: &str| Err(MethodError::does_not_apply(name, reason));
    let adjusted = |adjust: &dyn Fn(&Tuning) -> Result<super::Adjusted, MethodError>| {
        let scores = scores_by_row(scorer, &unconstrained.components, examples, data.features)?;
        let [scores] = &scores[..] else {
            return Err(MethodError::does_not_apply(method.name(), "the scorer to adjust is a mixture"));
        };
        let tuning = Tuning { examples, scores, problem, average: settings.average };
        Ok(After::Adjusted(adjust(&tuning)?.adjustment))
    };
    let after = match method {
        Method::KallusZhou if errors => {
            return refuse(
                "Kallus & Zhou",
                "its scores lie between 0 and 1, and the goal compares them with labels",
            );
        }
        Method::XOrder if errors => {
            return refuse(
                "x-order",
                "it cares for the order alone, and the goal compares scores with labels",
            );
        }
        Method::SinghJoachims(..) if errors => {
            return refuse("Singh & Joachims", "it gives rankings, and the goal compares scores with labels");
        }
        Method::KallusZhou => adjusted(&kallus_zhou::adjust)?,
        Method::GroupOffset => adjusted(&group_offset::adjust)?,
        Method::QuantileMatch => {
            adjusted(&|tuning: &Tuning| quantile_match::adjust(tuning, Strength::Smallest))?
        }
        Method::XOrder => adjusted(&|tuning: &Tuning| x_order::adjust(tuning, None))?,
        Method::SinghJoachims(exposure, utilities) => After::Ranked(Ranked { exposure, utilities }),
        _ => return refuse(method.name(), "it does not start from scores"),
    };
    judge(task, Fitted { trained: unconstrained.clone(), after: Some(after) })
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

/// Whether a model that was trained for something else meets the goal.
fn judge(task: &Task, mut fitted: Fitted) -> Result<Fitted, MethodError> {
    let Task { problem, scorer, data, settings } = *task;
    let measure = Settings { average: settings.average, ..Settings::default() };
    let found = fitted.evaluate(problem, scorer, task.selection(), data.features, &measure)?;
    let trained = &mut fitted.trained;
    trained.meets_goal = found.assessment.met;
    trained.violations = found.assessment.misses;
    trained.objective = found.objective.value.unwrap_or(f64::NAN);
    trained.status = match (trained.meets_goal, &fitted.after) {
        _ if trained.status == Status::TimeLimit => Status::TimeLimit,
        (true, Some(After::Ranked(_))) => Status::FeasibleAsMixture,
        (true, _) if trained.components.len() > 1 => Status::FeasibleAsMixture,
        (true, _) => Status::Feasible,
        (false, _) => Status::Infeasible,
    };
    Ok(fitted)
}

impl Fitted {
    /// The scores that each member of the model gives to some examples.
    ///
    /// # Errors
    /// Features or examples that don't fit the model.
    pub fn members(
        &self,
        scorer: &Architecture,
        examples: &Examples,
        features: &Features,
    ) -> Result<Vec<Scored>, MethodError> {
        let components = &self.trained.components;
        let mut members = Vec::new();
        for (component, scores) in
            components.iter().zip(scores_by_row(scorer, components, examples, features)?)
        {
            let own = match &self.after {
                None => vec![Scored { probability: 1.0, by_row: None, scores }],
                Some(after) => after.members(examples, &scores)?,
            };
            members.extend(own.into_iter().map(|m| Scored { probability: component.probability, ..m }));
        }
        Ok(members)
    }

    /// What is expected of the model on some examples.
    ///
    /// # Errors
    /// Features or examples that don't fit the model.
    pub fn evaluate(
        &self,
        problem: &Problem,
        scorer: &Architecture,
        examples: &Examples,
        features: &Features,
        settings: &Settings,
    ) -> Result<Evaluation, MethodError> {
        let scored = self.members(scorer, examples, features)?;
        let mut chances = vec![Vec::new(); scored.len()];
        let members: Vec<Member> = scored.iter().zip(&mut chances).map(|(s, c)| s.member(c)).collect();
        Ok(evaluate_members(problem, examples, &members, settings)?)
    }
}
