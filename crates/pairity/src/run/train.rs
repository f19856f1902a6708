//! Training a model, and measuring it on every part of the rows.

use super::prepare::Prepared;
use super::{FitRequest, Guarantee, Harm, Plane, Rows, RunError, guarantee, pictures};
use crate::examples::Examples;
use crate::goals::Goal;
use crate::methods::{CONSTRAINED, Fitted, Method, Task, UNCONSTRAINED, fit, judge};
use crate::metrics::Verdict;
use crate::model::{Model, ModelGroups, StochasticScorer};
use crate::solvers::{Answer, Evaluation, Select, SolverKind, Status, Trained, Watch};
use std::time::Instant;

/// What is to be trained.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainRequest {
    /// What is trained, for what, and how.
    pub fit: FitRequest,
    /// How fairness is to be had.
    pub method: &'static Method,
    /// Which answer is wanted.
    pub answer: Answer,
    /// Whether there will be pictures.
    pub pictures: bool,
    /// The confidence of a guarantee that every constraint is kept on new data, if one is asked for: a part of the
    /// rows is then kept for its test. If no split is given, there is no other part to select or test on.
    pub guarantee: Option<f64>,
    /// By how much no rate that the constraints compare may fall below that of an unconstrained scorer, if that is
    /// bounded.
    pub no_harm: Option<f64>,
}

impl Default for TrainRequest {
    fn default() -> TrainRequest {
        TrainRequest {
            fit: FitRequest::default(),
            method: &CONSTRAINED,
            answer: Answer::Auto,
            pictures: false,
            guarantee: None,
            no_harm: None,
        }
    }
}

/// A part of the rows, and how the model does on it.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingPart {
    /// `train`, `validation`, `safety` or `test`.
    pub name: &'static str,
    /// How the model does.
    pub evaluation: Evaluation,
}

/// What pictures of a training run need beside it, of the last part of the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingPictures {
    /// The scorer with the best objective whatever the constraints.
    pub before: Option<Evaluation>,
    /// The rows and the scorers, where there are two features.
    pub plane: Option<Plane>,
}

/// What came out of a training run.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainOutcome {
    /// What it was trained for.
    pub goal: Goal,
    /// How.
    pub method: &'static str,
    /// What moved the scorer toward the goal.
    pub solver: SolverKind,
    /// What the answer was selected on.
    pub select: Select,
    /// The kind of scorer.
    pub scorer: &'static str,
    /// Names of the features; the words of a text are told by their number.
    pub features: Vec<String>,
    /// Whether the model may use the protected attribute.
    pub group_aware: bool,
    /// Seed of every random choice.
    pub seed: u64,
    /// Steps of each game.
    pub iterations: usize,
    /// Time that training took.
    pub seconds: f64,
    /// The scorers, and whether they meet the goal.
    pub trained: Trained,
    /// The parts of the rows; those that are absent are left out.
    pub parts: Vec<TrainingPart>,
    /// What the tables are called that the rows come from.
    pub tables: Vec<String>,
    /// What happened to the data on the way.
    pub notes: Vec<String>,
    /// Which answer was wanted.
    pub answer: Answer,
    /// All that scoring needs.
    pub model: Model,
    /// What pictures need, if there will be any.
    pub pictures: Option<TrainingPictures>,
    /// The guarantee, if one was asked for.
    pub guarantee: Option<Guarantee>,
    /// What fairness costs those it is for, if it was bounded or there is something to tell.
    pub harm: Option<Harm>,
}

impl TrainOutcome {
    /// The part that the model was chosen on.
    pub fn selected_on(&self) -> &'static str {
        self.parts.iter().map(|part| part.name).find(|name| *name == "validation").unwrap_or("train")
    }

    /// Whether the rows are in queries, each of which draws a scorer of a mixture.
    pub fn has_queries(&self) -> bool {
        self.parts.iter().any(|part| part.evaluation.audit.queries.is_some())
    }

    /// Whether the goal is met. What surely misses a constraint on test rows misses the goal, whatever the rows say
    /// that the model was chosen on; and what can't be estimated there is not known to meet it.
    pub fn verdict(&self) -> Verdict {
        let has = |part: &str, verdict: Verdict| {
            let checks = self.part(part).map_or(&[][..], |own| &own.audit.checks);
            checks.iter().any(|check| check.verdict == verdict)
        };
        match self.trained.meets_goal {
            _ if has("test", Verdict::Fail) => Verdict::Fail,
            _ if has(self.selected_on(), Verdict::NotEstimable) => Verdict::NotEstimable,
            true => Verdict::Pass,
            false => Verdict::Fail,
        }
    }

    /// Whether what was asked for is there: the goal is met and, if it was asked for, guaranteed.
    pub fn passed(&self) -> Verdict {
        match &self.guarantee {
            Some(guarantee) if !guarantee.given => Verdict::Fail,
            _ => self.verdict(),
        }
    }

    /// Whether training was ended before its time.
    pub fn stopped(&self) -> bool {
        self.trained.status == Status::TimeLimit
    }

    /// How the model does on a part.
    pub fn part(&self, name: &str) -> Option<&Evaluation> {
        self.parts.iter().find(|part| part.name == name).map(|part| &part.evaluation)
    }
}

/// Trains a model.
///
/// # Errors
/// Rows, goals or settings that don't fit together; a method that does not apply.
pub fn train(rows: Rows, request: &TrainRequest, watch: Watch) -> Result<TrainOutcome, RunError> {
    train_from(rows, request, None, watch)
}

/// The same where an unconstrained scorer, if one is given, was trained on the same split before: it is that
/// method's model, and post-processing starts from it.
///
/// # Errors
/// Those of [`train`].
pub fn train_from(
    rows: Rows,
    request: &TrainRequest,
    unconstrained: Option<&Trained>,
    watch: Watch,
) -> Result<TrainOutcome, RunError> {
    let own = request.checked(rows.elsewhere.is_some())?;
    let safety = if request.guarantee.is_some() { guarantee::SAFETY } else { 0.0 };
    let mut prepared = Prepared::new(rows, &own, request.answer, safety)?;
    let started = Instant::now();
    let fitted = fit_goal(&mut prepared, request, &own, unconstrained, watch);
    if let Some(wrong) = prepared.features.failure() {
        return Err(RunError::Elsewhere(wrong));
    }
    let GoalFit { goal, fitted, guarantee, harm } = fitted?;
    let seconds = started.elapsed().as_secs_f64();
    let mut parts = Vec::new();
    for (name, examples) in prepared.parts.named() {
        let evaluation = prepared.evaluate(fitted.scorer(&prepared.scorer), examples);
        if let Some(wrong) = prepared.features.failure() {
            return Err(RunError::Elsewhere(wrong));
        }
        parts.push(TrainingPart { name, evaluation: evaluation? });
    }
    let names = prepared.feature_names();
    let pictures = match request.pictures {
        true => Some(pictures_of(&prepared, &fitted, &names)?),
        false => None,
    };
    let Fitted { trained, after } = fitted;
    let sees_groups = prepared.scorer.groups().groups().is_some() || after.is_some();
    let groups = prepared.parts.whole.groups().to_vec();
    let FitRequest { seed, iterations, scorer, group_aware, .. } = request.fit;
    let settings = prepared.settings;
    let model = Model {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        architecture: prepared.scorer,
        encoder: prepared.encoder,
        groups: sees_groups.then_some(ModelGroups { columns: prepared.group_columns, names: groups }),
        query: prepared.query,
        components: trained.components.clone(),
        goal: goal.clone(),
        seed,
        status: trained.status.name().to_owned(),
        after,
    };
    Ok(TrainOutcome {
        goal,
        method: request.method.name,
        solver: settings.solver,
        select: settings.select,
        scorer: scorer.name(),
        features: names,
        group_aware: sees_groups || group_aware.is_some(),
        seed,
        iterations,
        seconds,
        trained,
        parts,
        tables: prepared.tables,
        notes: prepared.notes,
        answer: request.answer,
        model,
        pictures,
        guarantee,
        harm,
    })
}

/// A model, and what it was fitted to.
struct GoalFit {
    /// The goal, with what `no_harm` asks for.
    goal: Goal,
    fitted: Fitted,
    guarantee: Option<Guarantee>,
    harm: Option<Harm>,
}

fn fit_goal(
    prepared: &mut Prepared,
    request: &TrainRequest,
    own: &FitRequest,
    unconstrained: Option<&Trained>,
    watch: Watch,
) -> Result<GoalFit, RunError> {
    let base = match (unconstrained, request.guarantee.or(request.no_harm)) {
        (Some(base), _) => Some(base.clone()),
        (None, Some(_)) => {
            let watch = Watch { progress: watch.progress, ..Watch::default() };
            Some(fit(&UNCONSTRAINED, &own.options, &prepared.task(), None, watch)?.trained)
        }
        (None, None) => None,
    };
    let mut goal = own.goal.clone();
    if let (Some(most), Some(base)) = (request.no_harm, &base) {
        let scorer = StochasticScorer::new(&prepared.scorer, &base.components);
        let firm = prepared.harm_rows().constraints(&prepared.problem, scorer, most)?;
        prepared.problem = prepared.problem.with_firm(&firm)?;
        goal.subject_to.extend(firm.into_iter().map(|constraint| constraint.text));
    }
    let (fitted, guarantee) = fitted(prepared, request, base.as_ref(), watch)?;
    let harm = harm_of(prepared, request, &fitted, base.as_ref())?;
    Ok(GoalFit { goal, fitted, guarantee, harm })
}

/// What a model does to those whom its constraints are for, if that is bounded or is to be told.
fn harm_of(
    prepared: &Prepared,
    request: &TrainRequest,
    fitted: &Fitted,
    base: Option<&Trained>,
) -> Result<Option<Harm>, RunError> {
    let Prepared { problem, scorer, .. } = prepared;
    let before = base.map_or(fitted.trained.unbound.as_slice(), |base| &base.components);
    if before.is_empty() || problem.constraints.is_empty() {
        return Ok(None);
    }
    let (base, model) = (StochasticScorer::new(scorer, before), fitted.scorer(scorer));
    let harm = prepared.harm_rows().harm(problem, base, model, request.no_harm)?;
    Ok(Some(harm).filter(|harm| harm.allowed.is_some() || harm.is_found()))
}

impl TrainRequest {
    /// What is trained, by the solver of the method, and the split that a guarantee has.
    fn checked(&self, elsewhere: bool) -> Result<FitRequest, RunError> {
        let mut fit = self.fit.by(self.method, elsewhere);
        let free = fit.goal.subject_to.is_empty();
        match (self.guarantee, self.no_harm) {
            (Some(found), _) if !(0.5..1.0).contains(&found) => return Err(RunError::Guarantee(found)),
            (_, Some(found)) if !(0.0..1.0).contains(&found) => return Err(RunError::NoHarm(found)),
            (Some(_), _) if free => return Err(RunError::NothingToGuarantee),
            (_, Some(_)) if free => return Err(RunError::NoHarmUnused),
            (Some(_), _) => fit.split = fit.split.or(Some([1.0, 0.0, 0.0])),
            _ => {}
        }
        Ok(fit)
    }
}

/// The model, and its guarantee if one is asked for.
fn fitted(
    prepared: &Prepared,
    request: &TrainRequest,
    base: Option<&Trained>,
    watch: Watch,
) -> Result<(Fitted, Option<Guarantee>), RunError> {
    let (task, options) = (prepared.task(), &request.fit.options);
    let Prepared { problem, scorer, features, parts, .. } = prepared;
    let (Some(confidence), Some(safety), Some(base)) = (request.guarantee, &parts.safety, base) else {
        return Ok((fit(request.method, options, &task, base, watch)?, None));
    };
    let measure = &request.fit.measure;
    let selection = (task.selection(), features);
    let at = StochasticScorer::new(scorer, &base.components);
    let tight = guarantee::tightened(problem, at, selection, safety, measure, confidence)?;
    let fitted = fit(request.method, options, &Task { problem: &tight, ..task }, Some(base), watch)?;
    let fitted = judge(&task, fitted)?;
    let units = parts.whole.units() + parts.validation.as_ref().map_or(0, Examples::units) + safety.units();
    let tested =
        guarantee::test(problem, fitted.scorer(scorer), (safety, features), units, measure, confidence)?;
    Ok((fitted, Some(tested)))
}

fn pictures_of(prepared: &Prepared, fitted: &Fitted, names: &[String]) -> Result<TrainingPictures, RunError> {
    let Prepared { scorer, features, .. } = prepared;
    let (_, last) = prepared.last();
    let before = match fitted.trained.unbound.as_slice() {
        [] => None,
        unbound => Some(prepared.evaluate(StochasticScorer::new(scorer, unbound), last)?),
    };
    Ok(TrainingPictures { before, plane: pictures::of_model(scorer, fitted, names, last, features) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{Column, Columns, Values};
    use crate::goals::Objective;
    use crate::metrics::Settings;
    use crate::rates::Ties;

    fn trained(features: Vec<f64>, fit: FitRequest) -> TrainOutcome {
        let labels: Vec<f64> = (0..features.len()).map(|row| (row % 2) as f64).collect();
        let examples = Examples::new(Columns { labels: Some(&labels), ..Columns::default() }).unwrap();
        let column = Column { name: "x".into(), values: Values::Numbers(features) };
        let (split, iterations) = (Some([1.0, 0.0, 0.0]), 20);
        let goal =
            Goal { objective: Objective::Maximize("auc".into()), subject_to: vec!["auc >= 0.4".into()] };
        let fit = FitRequest { split, iterations, goal, ..fit };
        let request = TrainRequest { fit, ..TrainRequest::default() };
        train(Rows::new(examples, vec![column]), &request, Watch::default()).unwrap()
    }

    #[test]
    fn verdict_and_numbers_have_one_rule_for_ties() {
        for (ties, auc, met) in [(Ties::Half, 0.5, true), (Ties::Strict, 0.0, false)] {
            let measure = Settings { ties, ..Settings::default() };
            let run = trained(vec![1.0; 8], FitRequest { measure, ..FitRequest::default() });
            let assessed = &run.parts[0].evaluation.assessment;
            assert_eq!(
                (run.trained.meets_goal, run.trained.objective, assessed.met),
                (met, auc, met),
                "{ties:?}"
            );
        }
    }

    #[test]
    fn without_validation_the_rows_that_are_reported_are_those_of_the_selection() {
        let features = (0..40).map(|row| f64::from(row * 37 % 11)).collect();
        let run = trained(features, FitRequest { multiplier_share: 0.5, ..FitRequest::default() });
        let reported = run.parts[0].evaluation.objective.value.unwrap();
        assert_eq!(run.selected_on(), "train");
        assert!((run.trained.objective - reported).abs() < 1e-12, "{} {reported}", run.trained.objective);
    }
}
