//! Comparing methods, every one on the same split and by the same rules: for one goal, or as the bound on the
//! violation is tightened.

use super::contest::{ContestWay, contest, fits};
use super::{FitRequest, Rows, RunError};
use crate::goals::{Goal, Objective, Problem, TOLERANCE, ViolationKind};
use crate::methods::{Method, MethodError, Task};
use crate::metrics::{Metric, Verdict};
use crate::solvers::{Evaluation, RunProgress, Status};

/// What is compared.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareRequest {
    /// What is trained, for what, and how.
    pub fit: FitRequest,
    /// The methods.
    pub methods: Vec<&'static Method>,
}

/// What is traced.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontierRequest {
    /// What is compared at every bound.
    pub compared: CompareRequest,
    /// Bounds that take the place of those of the constraints, in any order.
    pub bounds: Vec<f64>,
}

/// Who looks on while methods run.
#[derive(Clone, Copy)]
pub struct CompareWatch<'a> {
    /// Whether methods run side by side. Otherwise they run one after the other on the calling thread, and
    /// so do the calls below.
    pub side_by_side: bool,
    /// Hears of the progress of each training; false ends it.
    pub progress: &'a (dyn Fn(&RunProgress) -> bool + Sync),
    /// Is told once how many runs there are.
    pub runs: &'a (dyn Fn(usize) + Sync),
    /// Hears the name of each method that is done.
    pub done: &'a (dyn Fn(&str) + Sync),
}

impl Default for CompareWatch<'_> {
    fn default() -> Self {
        CompareWatch { side_by_side: true, progress: &|_| true, runs: &|_| (), done: &|_| () }
    }
}

/// How one method did.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodResult {
    /// Its name.
    pub method: String,
    /// What came out, or why the method does not apply.
    pub outcome: Result<MethodOutcome, String>,
}

/// What came out of a method.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodOutcome {
    /// Whether the goal is met where the model was selected.
    pub status: Status,
    /// Time that it took, with that of the scorer it starts from.
    pub seconds: f64,
    /// Scorers, or rankings of a query, that are drawn from.
    pub components: usize,
    /// Whether the model needs the protected attribute of whom it scores.
    pub sees_group: bool,
    /// On the test rows, or on those it was selected on if there are none.
    pub test: Evaluation,
    /// Whether another method is at least as good in both values, and better in one.
    pub dominated: bool,
}

impl MethodOutcome {
    /// The violation; none without constraints.
    pub fn violation(&self) -> Option<&Metric> {
        self.test.violation.as_ref()
    }

    /// Whether the rows that are shown say that the goal is met: the worst verdict of a constraint.
    pub fn verdict(&self) -> Verdict {
        let checks = &self.test.audit.checks;
        let has = |verdict: Verdict| checks.iter().any(|check| check.verdict == verdict);
        [Verdict::Fail, Verdict::NotEstimable, Verdict::Undecided]
            .into_iter()
            .find(|&verdict| has(verdict))
            .unwrap_or(Verdict::Pass)
    }
}

/// What methods were compared for, and on what.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonSetup {
    /// The goal; a frontier replaces its bounds.
    pub goal: Goal,
    /// What is called the violation.
    pub violation: ViolationKind,
    /// The part that values are of.
    pub part: &'static str,
    /// Rows of that part.
    pub rows: usize,
    /// The kind of scorer.
    pub scorer: &'static str,
    /// Names of the features; the words of a text are told by their number.
    pub features: Vec<String>,
    /// Seed of every random choice.
    pub seed: u64,
    /// Probability of the intervals.
    pub confidence: f64,
    /// What the tables are called that the rows come from.
    pub tables: Vec<String>,
    /// What happened to the data on the way.
    pub notes: Vec<String>,
}

/// All methods on one split of the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareOutcome {
    /// What they were compared for, and on what.
    pub setup: ComparisonSetup,
    /// Best first; those that do not apply last.
    pub results: Vec<MethodResult>,
}

/// What one method reaches at one bound.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontierPoint {
    /// The bound of the constraints; none for a method that does not look at it.
    pub bound: Option<f64>,
    /// The tightest bound that the model keeps on the rows that are shown, whatever it was trained for.
    pub keeps: Option<f64>,
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

/// Compares methods. Each run is that of [`train`](super::train) by its method; where there are no test rows all are
/// selected on the validation rows, as values have to be of the same rows.
///
/// # Errors
/// No constraint to compare for; rows, goals or settings that don't fit together.
pub fn compare(
    rows: Rows,
    request: &CompareRequest,
    watch: CompareWatch,
) -> Result<CompareOutcome, RunError> {
    let fits = fits(request)?;
    (watch.runs)(request.methods.len());
    let run = |way: &ContestWay, method: &'static Method| way.run(method, &way.prepared.task(), watch);
    let (mut setup, results) = contest(rows, &fits, &request.methods, watch, run)?;
    setup.notes.extend(cut_off(results.iter()));
    Ok(CompareOutcome::new(setup, results))
}

/// Runs methods for a range of bounds. Each run is that of [`train`](super::train) with the bound: none starts
/// from what another found.
///
/// # Errors
/// Constraints without a bound to replace; those of [`compare`].
pub fn frontier(
    rows: Rows,
    request: &FrontierRequest,
    watch: CompareWatch,
) -> Result<FrontierOutcome, RunError> {
    let fits = fits(&request.compared)?;
    let problem = Problem::of_goal(&request.compared.fit.goal, &rows.examples.vocabulary())?;
    let problems = problems(&problem, &request.bounds)?;
    let methods = &request.compared.methods;
    let bounds = |method: &Method| &problems[..if method.follows_bound() { problems.len() } else { 1 }];
    (watch.runs)(methods.iter().map(|&method| bounds(method).len()).sum());
    let curve = |way: &ContestWay, method: &'static Method| {
        let point = |(bound, problem): &(f64, Problem)| {
            let result = way.run(method, &Task { problem, ..way.prepared.task() }, watch)?;
            Ok(FrontierPoint::new(*bound, method.follows_bound(), result))
        };
        let points = bounds(method).iter().map(point).collect::<Result<_, MethodError>>()?;
        Ok(FrontierCurve { method: method.full_name.to_owned(), points })
    };
    let (mut setup, curves) = contest(rows, &fits, methods, watch, curve)?;
    setup.violation = problems.first().map_or(ViolationKind::Gap, |(_, problem)| problem.violation_kind());
    setup.notes.extend(cut_off(curves.iter().flat_map(|curve| &curve.points).map(|point| &point.result)));
    Ok(FrontierOutcome { setup, curves })
}

/// That time ran out before some methods were trained to their end, if it did.
fn cut_off<'a>(results: impl Iterator<Item = &'a MethodResult>) -> Option<String> {
    let is_cut = |result: &&MethodResult| {
        result.outcome.as_ref().is_ok_and(|outcome| outcome.status == Status::TimeLimit)
    };
    let mut names: Vec<&str> = results.filter(is_cut).map(|result| result.method.as_str()).collect();
    names.dedup();
    let note = "time ran out before these were trained to their end, so that their order may mean little";
    (!names.is_empty()).then(|| format!("{note}: {}", names.join(", ")))
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

impl CompareOutcome {
    /// Sorts the results and marks those that are dominated. Those that surely meet the goal come first, by
    /// objective; then those of which the rows can't tell, by the worse of their ranks in objective and in what
    /// they miss, and by the latter where that is the same; the rest by violation.
    pub fn new(setup: ComparisonSetup, mut results: Vec<MethodResult>) -> CompareOutcome {
        let sign = match setup.goal.objective {
            Objective::Maximize(_) => -1.0,
            Objective::Minimize(_) => 1.0,
        };
        // Smaller is better in both; a value that is not there is worst.
        let values = |outcome: &MethodOutcome| {
            let violation = outcome.violation().map_or(0.0, |gap| gap.value.unwrap_or(f64::INFINITY));
            (outcome.test.objective.value.map_or(f64::INFINITY, |value| sign * value), violation)
        };
        let all: Vec<(f64, f64)> =
            results.iter().filter_map(|result| result.outcome.as_ref().ok()).map(values).collect();
        for outcome in results.iter_mut().filter_map(|result| result.outcome.as_mut().ok()) {
            let own = values(outcome);
            outcome.dominated = all.iter().any(|other| other.0 <= own.0 && other.1 <= own.1 && *other != own);
        }
        // What is met on these rows is missed by nothing.
        let missed = |outcome: &MethodOutcome| {
            let (cost, violation) = values(outcome);
            (cost, if outcome.test.assessment.met { f64::NEG_INFINITY } else { violation })
        };
        let outcomes = results.iter().filter_map(|result| result.outcome.as_ref().ok());
        let unsure: Vec<(f64, f64)> =
            outcomes.filter(|outcome| outcome.verdict() == Verdict::Undecided).map(missed).collect();
        let worse_rank = |(cost, miss): (f64, f64)| {
            let ahead = |ahead: &dyn Fn(&(f64, f64)) -> bool| unsure.iter().filter(|own| ahead(own)).count();
            ahead(&|other| other.0 < cost).max(ahead(&|other| other.1 < miss)) as f64
        };
        let order = |result: &MethodResult| {
            let Ok(outcome) = &result.outcome else { return (3, 0.0, 0.0, 0.0) };
            let (cost, violation) = values(outcome);
            match outcome.verdict() {
                Verdict::Pass => (0, cost, violation, 0.0),
                Verdict::Undecided => (1, worse_rank(missed(outcome)), missed(outcome).1, cost),
                Verdict::Fail | Verdict::NotEstimable => (2, violation, cost, 0.0),
            }
        };
        results.sort_by(|a, b| {
            let (a, b) = (order(a), order(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2)).then(a.3.total_cmp(&b.3))
        });
        CompareOutcome { setup, results }
    }
}

impl FrontierPoint {
    /// What a method gave for a bound, which it may not look at.
    pub fn new(bound: f64, follows_bound: bool, result: MethodResult) -> FrontierPoint {
        let misses = |outcome: &MethodOutcome| {
            let misses = outcome.test.assessment.misses.iter().copied();
            misses.reduce(|a, b| if a.is_nan() { a } else { b.max(a) })
        };
        let missed = result.outcome.as_ref().ok().and_then(misses).filter(|miss| miss.is_finite());
        let keeps = missed.map(|missed| bound + missed);
        FrontierPoint { bound: follows_bound.then_some(bound), keeps, result }
    }

    /// The objective, and the tightest bound that is kept; none where one of them can't be measured.
    pub fn values(&self) -> Option<(f64, f64)> {
        Some((self.result.outcome.as_ref().ok()?.test.objective.value?, self.keeps?))
    }
}

impl FrontierOutcome {
    /// Of all models, whatever bound they were trained for, the one with the best objective that keeps a
    /// bound; if none does, the one that misses it least.
    pub fn best(&self, bound: f64) -> Option<&FrontierPoint> {
        let points = self.curves.iter().flat_map(|curve| &curve.points);
        let known = points.filter_map(|point| Some((point, point.values()?)));
        let keeps = known.clone().filter(|(_, (_, keeps))| *keeps <= bound + TOLERANCE);
        let best = keeps.reduce(|best, other| match self.setup.goal.objective {
            Objective::Maximize(_) if other.1.0 > best.1.0 => other,
            Objective::Minimize(_) if other.1.0 < best.1.0 => other,
            _ => best,
        });
        best.or_else(|| known.min_by(|a, b| a.1.1.total_cmp(&b.1.1))).map(|(point, _)| point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{Column, Columns, Examples, Groups, Values};
    use crate::methods::{BEUTEL, CONSTRAINED, DEBIASED, GROUP_OFFSET, ROBUST, UNCONSTRAINED};
    use crate::metrics::{Chance, Member, Settings};
    use crate::run::{TrainRequest, train};
    use crate::solvers::{Select, Watch, evaluate_members};

    /// Group a is scored without mistakes. In group b some of twenty good rows stand below all others, and some
    /// of twenty bad rows above.
    fn result(method: &str, mistakes: [usize; 2], constraints: &[&str]) -> MethodResult {
        let rows = || (0..80).map(|row| (row % 2, row / 2 % 2, row / 4));
        let labels: Vec<f64> = rows().map(|(label, ..)| label as f64).collect();
        let groups = Groups::from_names(&rows().map(|(_, group, _)| ["a", "b"][group]).collect::<Vec<_>>());
        let columns = Columns { labels: Some(&labels), groups: Some(&groups), ..Columns::default() };
        let examples = Examples::new(columns).unwrap();
        let score = |(label, group, at): (usize, usize, usize)| match (group, at < mistakes[1 - label]) {
            (0, _) => label as f64,
            (_, wrong) => [-0.1, 1.1][usize::from((label == 1) != wrong)],
        };
        let scores: Vec<f64> = rows().map(score).collect();
        let goal = Goal::new(None, None, constraints.iter().map(|&text| text.to_owned()).collect());
        let problem = Problem::of_goal(&goal, &examples.vocabulary()).unwrap();
        let member = Member { chance: Chance::Same(1.0), scores: &scores };
        let test = evaluate_members(&problem, &examples, &[member], &Settings::default()).unwrap();
        let (status, components) = (Status::Feasible, 1);
        let outcome =
            MethodOutcome { status, seconds: 0.0, components, sees_group: false, test, dominated: false };
        MethodResult { method: method.to_owned(), outcome: Ok(outcome) }
    }

    fn compared(results: Vec<MethodResult>) -> CompareOutcome {
        let setup = ComparisonSetup {
            goal: Goal::default(),
            violation: ViolationKind::Gap,
            part: "test",
            rows: 80,
            scorer: "linear",
            features: Vec::new(),
            seed: 0,
            confidence: 0.95,
            tables: Vec::new(),
            notes: Vec::new(),
        };
        CompareOutcome::new(setup, results)
    }

    #[test]
    fn what_meets_unequal_bounds_is_not_dominated_by_what_fails() {
        // Gaps of 0 and .1 beside gaps of .05 and .025, and a better objective.
        let bounds = ["cross_group <= 0.01", "within_group <= 0.3"];
        let found = compared(vec![result("meets", [2, 2], &bounds), result("fails", [0, 1], &bounds)]);
        for MethodResult { method, outcome } in found.results {
            let outcome = outcome.unwrap();
            assert_eq!((outcome.test.assessment.met, outcome.dominated), (method == "meets", false));
            let violation = outcome.violation().and_then(|violation| violation.value).unwrap();
            let expected = if method == "meets" { -0.2 / 0.3 } else { 4.0 };
            assert!((violation - expected).abs() < 1e-12, "{method}: {violation}");
        }
    }

    #[test]
    fn where_the_rows_cannot_tell_a_larger_gap_does_not_win_by_its_objective() {
        let bound = ["cross_group <= 0.04"];
        let found = compared(vec![result("missing", [0, 1], &bound), result("meeting", [2, 2], &bound)]);
        let told = |result: &MethodResult| (result.method.clone(), result.outcome.clone().unwrap().verdict());
        let told: Vec<_> = found.results.iter().map(told).collect();
        let undecided = |name: &str| (name.to_owned(), Verdict::Undecided);
        assert_eq!(told, [undecided("meeting"), undecided("missing")]);
        // Of two that meet it on these rows the better objective counts.
        let found = compared(vec![result("worse", [3, 3], &bound), result("better", [2, 2], &bound)]);
        assert_eq!(found.results[0].method, "better");
    }

    #[test]
    fn a_frontier_offers_each_bound_the_best_of_all_models() {
        let point = |name: &str, mistakes, bound: f64| {
            let bounds = format!("cross_group <= {bound}");
            FrontierPoint::new(bound, true, result(name, mistakes, &[&bounds]))
        };
        // The one for .02 has a smaller gap and a better objective than the one for .05.
        let points = vec![point("one", [3, 4], 0.05), point("one", [1, 1], 0.02), point("one", [5, 5], 0.0)];
        let setup = compared(Vec::new()).setup;
        let found = FrontierOutcome { setup, curves: vec![FrontierCurve { method: "one".into(), points }] };
        let keeps: Vec<f64> = found.curves[0].points.iter().map(|point| point.keeps.unwrap()).collect();
        assert!(
            (keeps[0] - 0.05).abs() < 1e-12 && keeps[1..].iter().all(|gap| gap.abs() < 1e-12),
            "{keeps:?}"
        );
        for bound in [0.05, 0.02, 0.0] {
            assert_eq!(found.best(bound), Some(&found.curves[0].points[1]));
        }
        // None keeps this: the least gap is shown.
        assert!(found.best(-1.0).is_some_and(|point| point.keeps < Some(1e-9)));
    }

    /// 90 queries of four rows, every second of group b, which the first feature wrongs.
    fn rows() -> Rows {
        let noise = |row: usize, step: usize| (row * step % 101) as f64 / 50.0;
        let (labels, names): (Vec<f64>, Vec<&str>) =
            (0..360).map(|row| (f64::from(row % 4 < 2), ["a", "b"][row % 2])).unzip();
        let queries: Vec<u32> = (0..360).map(|row| row / 4).collect();
        let feature = |name: &str, wrong: f64, step: usize| {
            let of = |row: usize| labels[row] + noise(row, step) - wrong * (row % 2) as f64;
            Column { name: name.into(), values: Values::Numbers((0..360).map(of).collect()) }
        };
        let columns = vec![feature("x", 0.6, 37), feature("y", 0.0, 53)];
        let groups = Groups::from_names(&names);
        let given = Columns {
            labels: Some(&labels),
            groups: Some(&groups),
            queries: Some(&queries),
            ..Columns::default()
        };
        Rows::new(Examples::new(given).unwrap(), columns)
    }

    #[test]
    fn a_result_is_what_training_by_the_method_gives() {
        let goal = Goal::new(None, None, vec!["cross_group <= 0.05".to_owned()]);
        for split in [None, Some([0.75, 0.25, 0.0])] {
            let fit = FitRequest { goal: goal.clone(), split, ..FitRequest::default() };
            let methods = vec![&CONSTRAINED, &UNCONSTRAINED, &GROUP_OFFSET, &ROBUST, &DEBIASED, &BEUTEL];
            let found =
                compare(rows(), &CompareRequest { fit: fit.clone(), methods }, CompareWatch::default());
            let found = found.unwrap();
            assert_eq!(found.setup.part, if split.is_none() { "test" } else { "validation" });
            for MethodResult { method, outcome } in found.results {
                let method = crate::methods::named(&method).unwrap();
                // Where there are no test rows values are of those that models were chosen on.
                let select = split.map(|_| Select::Validation);
                let fit = FitRequest { select, ..fit.clone() };
                let alone =
                    train(rows(), &TrainRequest { fit, method, ..TrainRequest::default() }, Watch::default());
                let alone = alone.unwrap();
                assert_eq!(alone.part(found.setup.part).unwrap(), &outcome.unwrap().test, "{}", method.name);
                assert_eq!(alone.solver.name(), method.solver.map_or("columns", |solver| solver.name()));
            }
        }
    }

    #[test]
    fn without_methods_there_is_nothing_to_show_and_bad_bounds_are_found_first() {
        let goal = Goal::new(None, None, vec!["cross_group <= 0.05".to_owned()]);
        let fit = FitRequest { goal, ..FitRequest::default() };
        let compared = CompareRequest { fit, methods: Vec::new() };
        assert_eq!(compare(rows(), &compared, CompareWatch::default()).unwrap().results, []);
        let request = FrontierRequest { compared, bounds: vec![f64::NAN] };
        let error = frontier(rows(), &request, CompareWatch::default()).unwrap_err();
        assert!(matches!(error, RunError::Bound(_)), "{error}");
    }
}
