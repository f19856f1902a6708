//! What training is asked for, as linear forms of rates, and the judge of whether it is reached.
//!
//! A goal is piecewise linear. Maximizing a concave expression is minimizing the largest of some linear
//! forms, and a convex expression stays below a bound exactly if each of its forms does:
//!
//! ```text
//! minimize  max_i f_i(rates)     subject to  g_j(rates) ≤ 0
//! ```
//!
//! With one f that is all; with several, a slack variable ξ ≥ every f_i takes their place as the
//! objective, and f_i − ξ ≤ 0 become constraints: this is how the minimum of rates is maximized.

use super::{
    Constraint, Expression, Goal, GoalError, LinearForm, Objective, Sense, Vocabulary, parse_constraint,
    parse_maximize, parse_minimize,
};
use crate::names::names;
use crate::rates::Rate;

/// The most linear forms that one expression may have.
const MAX_FORMS: usize = 100_000;

/// Misses up to this are rounding, and count as none: the linear programs keep their rows to 1e-7.
pub(crate) const TOLERANCE: f64 = 1e-6;

/// Why a goal can't be trained for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// It can't be read.
    #[error(transparent)]
    Goal(#[from] GoalError),
    /// It has too many pieces, or bends the wrong way.
    #[error(
        "{0} has too many linear pieces (at most {MAX_FORMS}) or bends the wrong way: give the parts of a sum as \
         constraints of their own, or join groups"
    )]
    Shape(String),
    /// The mean squared error would have to be held up.
    #[error("{0} asks for a large mean squared error, which has no bound: turn it around")]
    LargeError(String),
    /// A rate of the goal has no pairs in a part of the rows.
    #[error(
        "the goal uses {rate}, which has no pairs in {part}: give it more rows, or leave the rate out of the goal"
    )]
    NoPairs {
        /// The rate, as goals write it.
        rate: String,
        /// Which part.
        part: &'static str,
    },
    /// A constraint that is to get another bound has no number on its right side.
    #[error(
        "a frontier needs constraints with a number that can be replaced, such as 'cross_group <= 0.01', and \
         {0:?} is none"
    )]
    NoNumber(String),
}

/// How rates do by a problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// The value to be minimized; NaN without one.
    pub cost: f64,
    /// By how much each constraint is missed, 0 or less where it is met; NaN where a rate has no value.
    pub misses: Vec<f64>,
    /// The largest miss; 0 where that is only rounding.
    pub violation: f64,
    /// Whether every constraint is met.
    pub met: bool,
}

impl Assessment {
    /// By how much a constraint is missed; none where it can't be measured.
    pub fn miss(&self, constraint: usize) -> Option<f64> {
        self.misses.get(constraint).copied().filter(|miss| miss.is_finite())
    }

    /// Whether a constraint is met.
    pub fn meets(&self, constraint: usize) -> bool {
        self.misses.get(constraint).is_some_and(|&miss| is_met(miss))
    }
}

/// Whether a constraint that is missed by so much counts as met; one without a value does not.
fn is_met(miss: f64) -> bool {
    miss <= TOLERANCE
}

/// What the violation of a problem is, for comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViolationKind {
    /// The largest gap, as the paper's tables have it: all constraints are gaps with one bound.
    Gap,
    /// The largest miss of a constraint; negative where there is room left.
    Miss,
    /// The largest miss as a share of the bound it misses, as bounds differ.
    RelativeMiss,
}

names! { ViolationKind:
    "gap" => Gap, "the largest gap";
    "miss" => Miss, "the largest miss of a bound";
    "relative_miss" => RelativeMiss, "the largest miss as a share of its bound";
}

/// A form that has to be at most 0, and the constraint it comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bound {
    pub form: LinearForm,
    /// Index of the goal's constraint.
    pub constraint: usize,
}

/// Minimize the largest of `objective` subject to every bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The objective as it was stated.
    pub stated: Expression,
    pub(crate) objective: Vec<LinearForm>,
    pub(crate) bounds: Vec<Bound>,
    /// What each center of the forms is best in the middle of; the objective's first.
    pub(crate) centers: Vec<Vec<LinearForm>>,
    /// Every rate in it, sorted.
    pub(crate) rates: Vec<Rate>,
    /// The constraints as they were stated.
    pub constraints: Vec<Constraint>,
    /// Whether the stated objective was to be maximized: reports turn its sign back.
    pub maximize: bool,
    /// How many of the last constraints are firm: where not all can be met, these are met first.
    pub(crate) firm: usize,
}

impl Problem {
    /// Minimizes a convex expression, or maximizes a concave one, subject to constraints.
    ///
    /// # Errors
    /// Expressions with too many pieces, or a mean squared error that would have to grow.
    ///
    /// ```
    /// use pairity::goals::{Problem, Vocabulary, parse_constraint, parse_maximize};
    ///
    /// let words = Vocabulary { groups: vec!["a".into(), "b".into()], continuous: false };
    /// let goal = parse_maximize("min(auc, A[a > b])", &words).unwrap();
    /// let fair = parse_constraint("cross_group <= 0.01", &words).unwrap();
    /// let problem = Problem::new(&goal, true, &[fair])?;
    /// assert_eq!(problem.constraints.len(), 1);
    /// # Ok::<(), pairity::goals::ProblemError>(())
    /// ```
    pub fn new(
        objective: &Expression,
        maximize: bool,
        constraints: &[Constraint],
    ) -> Result<Problem, ProblemError> {
        let sign = if maximize { -1.0 } else { 1.0 };
        let stated = objective.clone();
        let mut centers = Vec::new();
        let objective = forms(objective, sign, 0.0, "the objective", &mut centers)?;
        let mut bounds = Vec::new();
        for (index, constraint) in constraints.iter().enumerate() {
            let sign = constraint.sense.sign();
            let Constraint { expression, bound, text, .. } = constraint;
            let own = forms(expression, sign, -sign * bound, text, &mut centers)?;
            bounds.extend(own.into_iter().map(|form| Bound { form, constraint: index }));
        }
        let rates = rates(objective.iter().chain(bounds.iter().map(|bound| &bound.form)));
        let constraints = constraints.to_vec();
        Ok(Problem { stated, objective, bounds, centers, rates, constraints, maximize, firm: 0 })
    }

    /// The problem of a goal in words.
    ///
    /// # Errors
    /// A goal that can't be read, or those of [`new`](Self::new).
    pub fn of_goal(goal: &Goal, words: &Vocabulary) -> Result<Problem, ProblemError> {
        let (objective, maximize) = match &goal.objective {
            Objective::Maximize(text) => (parse_maximize(text, words)?, true),
            Objective::Minimize(text) => (parse_minimize(text, words)?, false),
        };
        let parse = |text: &String| parse_constraint(text, words);
        let constraints: Vec<Constraint> = goal.subject_to.iter().map(parse).collect::<Result<_, _>>()?;
        Problem::new(&objective, maximize, &constraints)
    }

    /// The same objective with no constraints.
    pub fn unconstrained(&self) -> Problem {
        let mut problem = Problem { bounds: Vec::new(), constraints: Vec::new(), firm: 0, ..self.clone() };
        problem.rates = rates(problem.objective.iter());
        let own = problem.objective.iter().flat_map(|form| &form.centers).map(|(center, _)| center + 1).max();
        problem.centers.truncate(own.unwrap_or(0));
        problem
    }

    /// The robust problem that goes with a constrained one: the least of the objective and of all rates that
    /// the constraints are made of is maximized, with no constraints. With `auc` and `cross_group` this is
    /// `min(auc, A[a > b], A[b > a])`.
    ///
    /// None without constraints, or where an error is minimized, which no rate can be compared with.
    pub fn robust(&self) -> Option<Problem> {
        let mut compared = rates(self.bounds.iter().map(|bound| &bound.form));
        compared.retain(|&rate| rate != Rate::Mse);
        if compared.is_empty() || !self.maximize || self.uses(Rate::Mse) {
            return None;
        }
        let mut parts = vec![self.stated.clone()];
        parts.extend(compared.into_iter().map(|rate| Expression::Linear(LinearForm::rate(rate))));
        Problem::new(&Expression::Min(parts), true, &[]).ok()
    }

    /// The same objective with other constraints.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn constrained(&self, constraints: &[Constraint]) -> Result<Problem, ProblemError> {
        Problem::new(&self.stated, self.maximize, constraints)
    }

    /// The same constraints with other bounds.
    pub(crate) fn rebounded(&self, constraints: &[Constraint]) -> Result<Problem, ProblemError> {
        Ok(Problem { firm: self.firm, ..self.constrained(constraints)? })
    }

    /// The same with more constraints, which are met first where not all can be.
    pub(crate) fn with_firm(&self, firm: &[Constraint]) -> Result<Problem, ProblemError> {
        let all = [&self.constraints[..], firm].concat();
        Ok(Problem { firm: self.firm + firm.len(), ..self.constrained(&all)? })
    }

    /// Whether a constraint is met first where not all can be.
    pub(crate) fn is_firm(&self, constraint: usize) -> bool {
        constraint + self.firm >= self.constraints.len()
    }

    /// The same problem whose constraints have to be met with so much room to spare.
    pub(crate) fn tightened(&self, room: &[f64]) -> Problem {
        let mut problem = self.clone();
        for bound in &mut problem.bounds {
            bound.form.constant += room[bound.constraint];
        }
        problem
    }

    /// The same goal with another number on the right side of every constraint `e <= number`.
    ///
    /// # Errors
    /// A constraint that has no such number.
    pub fn with_bound(&self, number: f64) -> Result<Problem, ProblemError> {
        let put = |constraint: &Constraint| {
            constraint.rebound(number).ok_or_else(|| ProblemError::NoNumber(constraint.text.clone()))
        };
        let constraints: Vec<Constraint> = self.constraints.iter().map(put).collect::<Result<_, _>>()?;
        self.constrained(&constraints)
    }

    /// What the violation of this problem is.
    pub fn violation_kind(&self) -> ViolationKind {
        let is_gap = |constraint: &Constraint| {
            let gap = matches!(constraint.expression, Expression::Spread(_) | Expression::Abs(_));
            gap && constraint.sense == Sense::AtMost
        };
        let sizes: Vec<f64> = self.constraints.iter().map(|constraint| constraint.bound.abs()).collect();
        match sizes.windows(2).any(|pair| pair[0] != pair[1]) {
            true if sizes.iter().all(|&size| size > 0.0) => ViolationKind::RelativeMiss,
            false if self.constraints.iter().all(is_gap) => ViolationKind::Gap,
            _ => ViolationKind::Miss,
        }
    }

    /// What comparisons call the violation, of two the smaller is never that of a model which misses what the
    /// other meets. None without constraints.
    pub fn violation(&self) -> Option<Expression> {
        let kind = self.violation_kind();
        let value = |constraint: &Constraint| {
            let (sign, expression) = (constraint.sense.sign(), constraint.expression.clone());
            let size = if kind == ViolationKind::RelativeMiss { constraint.bound.abs() } else { 1.0 };
            let bound = Expression::constant(-constraint.bound);
            match kind {
                ViolationKind::Gap => expression,
                _ => Expression::Sum(vec![(sign / size, expression), (sign / size, bound)]),
            }
        };
        let mut values: Vec<Expression> = self.constraints.iter().map(value).collect();
        if values.len() > 1 { Some(Expression::Max(values)) } else { values.pop() }
    }

    /// Whether the objective or a constraint is made of this rate.
    pub fn uses(&self, rate: Rate) -> bool {
        self.rates.binary_search(&rate).is_ok()
    }

    /// Whether a slack variable stands for the objective.
    pub(crate) fn has_slack(&self) -> bool {
        self.objective.len() > 1
    }

    /// The forms that the game bounds: those of the objective, less the slack, then the constraints'.
    pub(crate) fn game_bounds(&self) -> impl Iterator<Item = &LinearForm> {
        let objective = if self.has_slack() { &self.objective[..] } else { &[] };
        objective.iter().chain(self.bounds.iter().map(|bound| &bound.form))
    }

    /// The stated objective of a cost, which is to be minimized; or the other way around.
    pub fn stated_objective(&self, cost: f64) -> f64 {
        if self.maximize { -cost } else { cost }
    }

    /// How rates do that stand in the order of the problem's: the only place that says what is met.
    pub fn assess(&self, rates: &[f64]) -> Assessment {
        let mut misses = vec![f64::NEG_INFINITY; self.constraints.len()];
        for (bound, miss) in self.bounds.iter().zip(self.bound_misses(rates)) {
            let own = &mut misses[bound.constraint];
            *own = if miss.is_nan() || own.is_nan() { f64::NAN } else { own.max(miss) };
        }
        let met = misses.iter().all(|&miss| is_met(miss));
        Assessment { cost: self.cost(rates), misses, violation: self.largest_miss(rates), met }
    }

    /// The largest miss; 0 where that is only rounding.
    pub(crate) fn largest_miss(&self, rates: &[f64]) -> f64 {
        self.largest_miss_at(rates, &self.best_centers(rates))
    }

    /// The same at centers.
    pub(crate) fn largest_miss_at(&self, rates: &[f64], centers: &[f64]) -> f64 {
        let misses = self.bounds.iter().map(|bound| self.value(&bound.form, rates, centers));
        let violation = misses.fold(0.0, f64::max);
        if is_met(violation) { 0.0 } else { violation }
    }

    /// The value to be minimized; NaN if no form of the objective has a value.
    pub(crate) fn cost(&self, rates: &[f64]) -> f64 {
        self.cost_at(rates, &self.best_centers(rates))
    }

    /// The same at centers.
    pub(crate) fn cost_at(&self, rates: &[f64], centers: &[f64]) -> f64 {
        self.objective.iter().map(|form| self.value(form, rates, centers)).fold(f64::NAN, f64::max)
    }

    /// By how much each bound is missed; negative where there is room left.
    pub(crate) fn bound_misses<'a>(&'a self, rates: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let centers = self.best_centers(rates);
        self.bounds.iter().map(move |bound| self.value(&bound.form, rates, &centers))
    }

    /// A linear form at rates that stand in the order of the problem's, and at centers; without these, what
    /// the rates alone come to.
    pub(crate) fn value(&self, form: &LinearForm, rates: &[f64], centers: &[f64]) -> f64 {
        let at = |rate: Rate| self.rates.binary_search(&rate).map_or(f64::NAN, |index| rates[index]);
        let sum = form.constant + form.terms.iter().map(|&(rate, factor)| factor * at(rate)).sum::<f64>();
        let center = |&(center, factor): &(usize, f64)| centers.get(center).map(|value| factor * value);
        form.centers.iter().filter_map(center).fold(sum, |sum, part| sum + part)
    }

    /// The centers for which the forms are lowest: in the middle between the least and the largest of the values
    /// around each. In a batch some may have none; where every rate has to count, their forms are NaN anyway.
    pub(crate) fn best_centers(&self, rates: &[f64]) -> Vec<f64> {
        let mut centers = Vec::new();
        self.put_centers(rates, &mut centers);
        centers
    }

    /// The same in place of others.
    pub(crate) fn put_centers(&self, rates: &[f64], centers: &mut Vec<f64>) {
        let middle = |list: &Vec<LinearForm>| {
            let values = list.iter().map(|form| self.value(form, rates, &[])).filter(|value| !value.is_nan());
            let (low, high) = values.fold((f64::NAN, f64::NAN), |(low, high), x| (x.min(low), x.max(high)));
            (low + high) / 2.0
        };
        centers.clear();
        centers.extend(self.centers.iter().map(middle));
    }

    /// Weights of the objective and of the game's bounds, as weights of the objective and the constraints.
    /// The forms of an objective that a slack variable stands for count as the objective.
    pub(crate) fn weights_by_constraint(&self, weights: &[f64]) -> Vec<f64> {
        let slacked = if self.has_slack() { self.objective.len() } else { 0 };
        let own = weights.len().min(1 + slacked);
        let mut sums = vec![0.0; 1 + self.constraints.len()];
        sums[0] = weights[..own].iter().sum();
        for (bound, weight) in self.bounds.iter().zip(&weights[own..]) {
            sums[1 + bound.constraint] += weight;
        }
        sums
    }

    /// The objective if every rate were as wanted, from where a slack variable starts: no scorer reaches
    /// it, so the game begins with every form above the slack, as errors are above 0.
    pub(crate) fn ideal(&self) -> f64 {
        let best = |form: &LinearForm| {
            let wanted = form.terms.iter().filter(|(rate, factor)| *rate != Rate::Mse && *factor < 0.0);
            form.constant + wanted.map(|(_, factor)| factor).sum::<f64>()
        };
        self.objective.iter().map(best).fold(f64::NEG_INFINITY, f64::max)
    }
}

/// The rates of some forms, sorted.
fn rates<'a>(forms: impl Iterator<Item = &'a LinearForm>) -> Vec<Rate> {
    let mut rates: Vec<Rate> = forms.flat_map(|form| form.terms.iter().map(|term| term.0)).collect();
    rates.sort_unstable();
    rates.dedup();
    rates
}

/// The forms whose maximum is sign · expression + constant.
fn forms(
    expression: &Expression,
    sign: f64,
    constant: f64,
    what: &str,
    centers: &mut Vec<Vec<LinearForm>>,
) -> Result<Vec<LinearForm>, ProblemError> {
    let forms = expression.linear_forms(sign, MAX_FORMS, centers);
    let forms = forms.ok_or_else(|| ProblemError::Shape(what.to_owned()))?;
    let grows =
        |form: &LinearForm| form.terms.iter().any(|&(rate, factor)| rate == Rate::Mse && factor < 0.0);
    if forms.iter().any(grows) {
        return Err(ProblemError::LargeError(what.to_owned()));
    }
    Ok(forms.iter().map(|form| LinearForm::constant(constant).plus(1.0, form)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Vocabulary {
        Vocabulary { groups: vec!["a".into(), "b".into()], continuous: false }
    }

    fn problem(maximize: &str, constraints: &[&str]) -> Problem {
        let constraints: Vec<Constraint> =
            constraints.iter().map(|text| parse_constraint(text, &words()).unwrap()).collect();
        Problem::new(&parse_maximize(maximize, &words()).unwrap(), true, &constraints).unwrap()
    }

    fn assess(problem: &Problem, rate: impl Fn(Rate) -> f64) -> Assessment {
        let rates: Vec<f64> = problem.rates.iter().map(|&name| rate(name)).collect();
        problem.assess(&rates)
    }

    #[test]
    fn rounding_is_no_violation_and_what_has_no_value_is_not_met() {
        let problem = problem("auc", &["A[a > b] >= 0.8", "A[b > a] >= 0.5"]);
        let at = |first: f64, second: f64| {
            assess(&problem, |rate| if rate == Rate::accuracy(0, 1) { first } else { second })
        };
        let found = at(0.8 - TOLERANCE / 2.0, 0.6);
        assert!(found.met && found.violation == 0.0 && found.misses[0] > 0.0, "{found:?}");
        let found = at(0.8 - 2.0 * TOLERANCE, 0.6);
        assert!(!found.met && found.violation > TOLERANCE && found.meets(1), "{found:?}");
        let found = at(f64::NAN, 0.6);
        assert!(!found.met && found.violation == 0.0 && !found.meets(0), "{found:?}");
        assert_eq!((found.miss(0), found.miss(1).is_some()), (None, true));
        assert!(at(0.9, f64::NAN).cost.is_nan());
    }

    #[test]
    fn bounds_are_replaced_in_number_and_text() {
        let goal = problem("auc", &["A[a > b] - A[b > a] - 0.1 <= 0.05", "cross_group<=0.3 "]);
        let tight = goal.with_bound(0.02).unwrap();
        let texts: Vec<&str> = tight.constraints.iter().map(|constraint| constraint.text.as_str()).collect();
        assert_eq!(texts, ["A[a > b] - A[b > a] - 0.1 <= 0.02", "cross_group <= 0.02"]);
        let read = |text: &&str| parse_constraint(text, &words()).unwrap();
        for (found, text) in tight.constraints.iter().zip(&texts) {
            assert!((found.bound - read(text).bound).abs() < 1e-15, "{text}");
            assert_eq!(found.expression, read(text).expression);
        }
        for text in ["A[a > b] >= 0.8", "A[a > b] <= 2 * 0.4", "0.3 >= cross_group"] {
            assert!(matches!(problem("auc", &[text]).with_bound(0.1), Err(ProblemError::NoNumber(_))));
        }
    }

    #[test]
    fn a_gap_is_two_bounds_and_auc_is_turned_around() {
        let problem = problem("auc", &["cross_group <= 0.01"]);
        assert_eq!(problem.objective, [LinearForm::new(0.0, [(Rate::AUC, -1.0)])]);
        assert_eq!(problem.bounds.len(), 2);
        let found = assess(&problem, |rate| if rate == Rate::accuracy(0, 1) { 0.9 } else { 0.7 });
        assert!((found.violation - 0.19).abs() < 1e-12 && !found.met, "{found:?}");
        assert!((found.cost + 0.7).abs() < 1e-12);
    }

    #[test]
    fn weights_of_bounds_add_up_by_constraint() {
        let plain = problem("auc", &["cross_group <= 0.01", "auc >= 0.5"]);
        assert_eq!(plain.weights_by_constraint(&[0.5, 0.25, 0.125, 0.125]), [0.5, 0.375, 0.125]);
        // Two forms under a slack variable, then the two of the gap.
        let slack = problem("min(auc, A[a > b])", &["cross_group <= 0.01"]);
        assert_eq!(slack.weights_by_constraint(&[0.5, 0.25, 0.125, 0.0625, 0.0625]), [0.875, 0.125]);
    }

    #[test]
    fn sums_of_minima_are_bounded_by_one_slack() {
        let problem = problem("min(A[a > b], A[b > a]) + min(A[a > a], A[b > b])", &[]);
        assert!(problem.has_slack());
        assert_eq!(problem.objective.len(), 4);
        let values = |rate| match rate {
            rate if rate == Rate::accuracy(0, 1) => 0.9,
            rate if rate == Rate::accuracy(1, 0) => 0.8,
            rate if rate == Rate::accuracy(0, 0) => 0.6,
            _ => 0.7,
        };
        assert!((assess(&problem, values).cost + 1.4).abs() < 1e-12);
    }

    #[test]
    fn the_robust_problem_raises_the_least_rate_that_is_compared() {
        let fair = problem("auc", &["cross_group <= 0.01"]);
        let by_hand = problem("min(auc, A[a > b], A[b > a])", &[]);
        let robust = fair.robust().unwrap();
        assert_eq!((&robust.objective, robust.bounds.len()), (&by_hand.objective, 0));
        assert_eq!(fair.unconstrained(), problem("auc", &[]));
        assert_eq!(problem("auc", &[]).robust(), None);
    }

    #[test]
    fn the_violation_is_the_largest_gap_or_else_the_largest_miss_relative_to_bounds_that_differ() {
        let values = |rate| match rate {
            rate if rate == Rate::accuracy(0, 1) => 0.9,
            rate if rate == Rate::accuracy(1, 0) => 0.7,
            rate if rate == Rate::accuracy(0, 0) => 0.6,
            _ => 0.65,
        };
        let violation = |constraints: &[&str]| {
            problem("auc", constraints).violation().map(|violation| violation.value(&mut { values }))
        };
        let near = |found: Option<f64>, expected: f64| {
            assert!((found.unwrap() - expected).abs() < 1e-12, "{found:?} for {expected}");
        };
        near(violation(&["within_group <= 0.1", "cross_group <= 0.1"]), 0.2);
        near(violation(&["within_group <= 0.01", "cross_group <= 0.16"]), 4.0);
        near(violation(&["within_group <= 0.1", "cross_group <= 0.25"]), -0.2);
        near(violation(&["within_group <= 0.8", "A[b > a] >= 0.8"]), 0.1);
        near(violation(&["within_group <= 0", "A[b > a] >= 0.8"]), 0.1);
        near(violation(&["A[b > a] <= 0.6"]), 0.1);
        assert_eq!(violation(&[]), None);
    }

    #[test]
    fn at_least_is_turned_into_at_most() {
        let problem = problem("auc", &["A[a > b] >= 0.8 * A[b > a] + 0.1"]);
        let found = assess(&problem, |rate| if rate == Rate::accuracy(0, 1) { 0.7 } else { 0.5 });
        assert!((found.misses[0] + 0.2).abs() < 1e-12);
    }

    #[test]
    fn a_large_squared_error_is_refused() {
        let constraint = parse_constraint("mse >= 0.5", &words()).unwrap();
        let objective = parse_minimize("mse", &words()).unwrap();
        let error = Problem::new(&objective, false, &[constraint]);
        assert!(matches!(error, Err(ProblemError::LargeError(_))), "{error:?}");
    }
}
