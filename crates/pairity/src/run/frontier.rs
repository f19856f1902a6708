//! What each method reaches as the bound on the violation is tightened.

use super::compare::{Contest, each, prepare};
use super::{CompareWatch, ComparisonSetup, FitRequest, MethodResult, Rows, RunError};
use crate::goals::Problem;
use crate::methods::{Method, Stage, Task};
use crate::model::Component;
use crate::solvers::TrainSettings;

/// What is traced.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontierRequest {
    /// What is trained, for what, and how.
    pub fit: FitRequest,
    /// The methods.
    pub methods: Vec<&'static dyn Method>,
    /// Bounds that take the place of those of the constraints, in any order.
    pub bounds: Vec<f64>,
}

/// What one method reaches at one bound.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontierPoint {
    /// The bound of the constraints; none for a method that does not look at it.
    pub bound: Option<f64>,
    /// What came out.
    pub result: MethodResult,
}

/// The points of one method, from the loosest bound to the tightest.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontierCurve {
    /// The method.
    pub method: String,
    /// One for each bound, or a single one.
    pub points: Vec<FrontierPoint>,
}

/// What is reached for a range of bounds, by every method.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontierOutcome {
    /// What they were compared for, and on what.
    pub setup: ComparisonSetup,
    /// The methods.
    pub curves: Vec<FrontierCurve>,
}

/// Runs methods for a range of bounds. Constrained training at a bound starts from what was found for the one
/// before.
///
/// # Errors
/// Constraints without a bound to replace; those of [`compare`](super::compare()).
pub fn frontier(
    rows: Rows,
    request: &FrontierRequest,
    watch: CompareWatch,
) -> Result<FrontierOutcome, RunError> {
    let prepared = prepare(rows, &request.fit)?;
    let problems = problems(&prepared.problem, &request.bounds)?;
    let contest = Contest::new(&prepared, request.fit.options, watch)?;
    let bounds = |method: &dyn Method| &problems[..if method.follows_bound() { problems.len() } else { 1 }];
    (watch.runs)(request.methods.iter().map(|&method| bounds(method).len()).sum());
    let curves = each(&request.methods, watch.side_by_side, |method| {
        let mut start = likeliest(&contest.base.components);
        let mut points = Vec::new();
        for (bound, problem) in bounds(method) {
            let task = Task { problem, ..contest.task };
            let result = match method.stage() {
                Stage::Constraints => {
                    let settings = TrainSettings { start: start.take(), ..prepared.settings.clone() };
                    let (result, fitted) = contest.run(method, &Task { settings: &settings, ..task })?;
                    start = fitted.and_then(|fitted| likeliest(&fitted.trained.components));
                    result
                }
                _ => contest.run(method, &task)?.0,
            };
            (watch.done)(&result.method);
            points.push(FrontierPoint { bound: method.follows_bound().then_some(*bound), result });
        }
        Ok(FrontierCurve { method: method.full_name().to_owned(), points })
    })?;
    Ok(FrontierOutcome { setup: contest.setup(&request.fit), curves })
}

/// The likeliest scorer of a mixture, which is a start as good as any.
fn likeliest(components: &[Component]) -> Option<Vec<f64>> {
    let likely = |a: &&Component, b: &&Component| a.probability.total_cmp(&b.probability);
    components.iter().max_by(likely).map(|component| component.parameters.clone())
}

/// The goal for each bound, from the loosest to the tightest.
fn problems(problem: &Problem, bounds: &[f64]) -> Result<Vec<(f64, Problem)>, RunError> {
    if let Some(&found) = bounds.iter().find(|bound| !(**bound >= 0.0 && bound.is_finite())) {
        return Err(RunError::Bound(found));
    }
    let mut bounds = bounds.to_vec();
    bounds.sort_by(|a, b| b.total_cmp(a));
    bounds.dedup();
    let at = |&bound: &f64| Ok((bound, problem.with_bound(bound)?));
    bounds.iter().map(at).collect()
}
