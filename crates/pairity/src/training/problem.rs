//! What training is asked for, as linear forms of rates.
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

use crate::goals::{
    Constraint, Expression, GoalError, Linear, Sense, Vocabulary, parse_constraint, parse_maximize,
    parse_minimize,
};
use crate::rates::Rate;
use crate::scorers::{Goal, Objective};

/// The most linear forms that one expression may have.
const MAX_FORMS: usize = 10_000;

/// Why a goal can't be trained for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// It can't be read.
    #[error(transparent)]
    Goal(#[from] GoalError),
    /// It has too many pieces, or bends the wrong way.
    #[error("{what} has too many linear pieces (at most {MAX_FORMS}) or bends the wrong way: simplify it")]
    Shape {
        /// Which part of the goal.
        what: String,
    },
    /// The mean squared error would have to be held up.
    #[error("{what} asks for a large mean squared error, which has no bound: turn it around")]
    LargeError {
        /// Which part of the goal.
        what: String,
    },
    /// A rate of the goal has no pairs in the training data.
    #[error("{what} uses {rate}, which has no pairs in the training data")]
    NoPairs {
        /// Which part of the goal.
        what: String,
        /// The rate, as goals write it.
        rate: String,
    },
}

/// A form that has to be at most 0, and the constraint it comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bound {
    pub form: Linear,
    /// Index of the goal's constraint.
    pub constraint: usize,
}

/// Minimize the largest of `objective` subject to every bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The objective as it was stated.
    pub stated: Expression,
    pub(crate) objective: Vec<Linear>,
    pub(crate) bounds: Vec<Bound>,
    /// Every rate in it, sorted.
    pub(crate) rates: Vec<Rate>,
    /// The constraints as they were stated.
    pub constraints: Vec<Constraint>,
    /// Whether the stated objective was to be maximized: reports turn its sign back.
    pub maximize: bool,
}

impl Problem {
    /// Minimizes a convex expression, or maximizes a concave one, subject to constraints.
    ///
    /// # Errors
    /// Expressions with too many pieces, or a mean squared error that would have to grow.
    ///
    /// ```
    /// use pairity::goals::{Vocabulary, parse_constraint, parse_maximize};
    /// use pairity::training::Problem;
    ///
    /// let words = Vocabulary { groups: vec!["a".into(), "b".into()], continuous: false };
    /// let goal = parse_maximize("min(auc, A[a > b])", &words).unwrap();
    /// let fair = parse_constraint("cross_group <= 0.01", &words).unwrap();
    /// let problem = Problem::new(&goal, true, &[fair])?;
    /// assert_eq!(problem.constraints.len(), 1);
    /// # Ok::<(), pairity::training::ProblemError>(())
    /// ```
    pub fn new(
        objective: &Expression,
        maximize: bool,
        constraints: &[Constraint],
    ) -> Result<Problem, ProblemError> {
        let sign = if maximize { -1.0 } else { 1.0 };
        let stated = objective.clone();
        let objective = forms(objective, sign, 0.0, "the objective")?;
        let mut bounds = Vec::new();
        for (index, constraint) in constraints.iter().enumerate() {
            let sign = if constraint.sense == Sense::AtMost { 1.0 } else { -1.0 };
            let own = forms(&constraint.expression, sign, -sign * constraint.bound, &constraint.text)?;
            bounds.extend(own.into_iter().map(|form| Bound { form, constraint: index }));
        }
        let rates = rates(objective.iter().chain(bounds.iter().map(|bound| &bound.form)));
        Ok(Problem { stated, objective, bounds, rates, constraints: constraints.to_vec(), maximize })
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
        let mut problem = Problem { bounds: Vec::new(), constraints: Vec::new(), ..self.clone() };
        problem.rates = rates(problem.objective.iter());
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
        parts.extend(compared.iter().map(|&rate| Expression::Linear(Linear::new(0.0, [(rate, 1.0)]))));
        Problem::new(&Expression::Min(parts), true, &[]).ok()
    }

    /// The same objective with other constraints.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn constrained(&self, constraints: &[Constraint]) -> Result<Problem, ProblemError> {
        Problem::new(&self.stated, self.maximize, constraints)
    }

    /// What comparisons call the violation: the largest gap, where all constraints are gaps of at most
    /// something, as the paper's tables have it; otherwise the largest miss of a constraint. None without
    /// constraints.
    pub fn violation(&self) -> Option<Expression> {
        let is_gap = |constraint: &Constraint| {
            let gap = matches!(constraint.expression, Expression::Spread(_) | Expression::Abs(_));
            gap && constraint.sense == Sense::AtMost
        };
        let gaps = self.constraints.iter().all(is_gap);
        let value = |constraint: &Constraint| match (gaps, constraint.sense) {
            (true, _) => constraint.expression.clone(),
            (false, Sense::AtMost) => less(1.0, constraint),
            (false, Sense::AtLeast) => less(-1.0, constraint),
        };
        let mut values: Vec<Expression> = self.constraints.iter().map(value).collect();
        match values.len() {
            0 | 1 => values.pop(),
            _ => Some(Expression::Max(values)),
        }
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
    pub(crate) fn game_bounds(&self) -> impl Iterator<Item = &Linear> {
        let objective = if self.has_slack() { &self.objective[..] } else { &[] };
        objective.iter().chain(self.bounds.iter().map(|bound| &bound.form))
    }

    /// A value to be minimized as the objective was stated, or the other way around.
    pub(crate) fn turned(&self, cost: f64) -> f64 {
        if self.maximize { -cost } else { cost }
    }

    /// By how much each constraint is missed: the largest of its forms; NaN if one has no value.
    pub(crate) fn misses_by_constraint(&self, value: impl Fn(&Linear) -> f64) -> Vec<f64> {
        let mut misses = vec![f64::NEG_INFINITY; self.constraints.len()];
        for bound in &self.bounds {
            let (miss, own) = (value(&bound.form), &mut misses[bound.constraint]);
            *own = if miss.is_nan() || own.is_nan() { f64::NAN } else { own.max(miss) };
        }
        misses
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
        let best = |form: &Linear| {
            let wanted = form.terms.iter().filter(|(rate, factor)| *rate != Rate::Mse && *factor < 0.0);
            form.constant + wanted.map(|(_, factor)| factor).sum::<f64>()
        };
        self.objective.iter().map(best).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The value to be minimized.
    pub(crate) fn cost(&self, rate: &mut dyn FnMut(Rate) -> f64) -> f64 {
        self.objective.iter().map(|form| form.value(rate)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// By how much each bound is missed; negative where it is met.
    pub(crate) fn misses(&self, rate: &mut dyn FnMut(Rate) -> f64) -> Vec<f64> {
        self.bounds.iter().map(|bound| bound.form.value(rate)).collect()
    }
}

/// sign · (expression − bound).
fn less(sign: f64, constraint: &Constraint) -> Expression {
    let bound = Expression::Linear(Linear::constant(-constraint.bound));
    Expression::Sum(vec![(sign, constraint.expression.clone()), (sign, bound)])
}

/// The rates of some forms, sorted.
fn rates<'a>(forms: impl Iterator<Item = &'a Linear>) -> Vec<Rate> {
    let mut rates: Vec<Rate> = forms.flat_map(|form| form.terms.iter().map(|term| term.0)).collect();
    rates.sort_unstable();
    rates.dedup();
    rates
}

/// The forms whose maximum is sign · expression + constant.
fn forms(expression: &Expression, sign: f64, constant: f64, what: &str) -> Result<Vec<Linear>, ProblemError> {
    let fits = match sign > 0.0 {
        true => expression.curvature().is_convex(),
        false => expression.curvature().is_concave(),
    };
    let forms = expression.linear_forms(MAX_FORMS).filter(|_| fits);
    let forms = forms.ok_or_else(|| ProblemError::Shape { what: what.to_owned() })?;
    let forms: Vec<Linear> =
        forms.into_iter().map(|form| Linear::constant(constant).plus(sign, &form)).collect();
    let grows = |form: &Linear| form.terms.iter().any(|&(rate, factor)| rate == Rate::Mse && factor < 0.0);
    match forms.iter().any(grows) {
        true => Err(ProblemError::LargeError { what: what.to_owned() }),
        false => Ok(forms),
    }
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

    #[test]
    fn a_gap_is_two_bounds_and_auc_is_turned_around() {
        let problem = problem("auc", &["cross_group <= 0.01"]);
        assert_eq!(problem.objective, [Linear::new(0.0, [(Rate::AUC, -1.0)])]);
        assert_eq!(problem.bounds.len(), 2);
        let mut rate = |rate| if rate == Rate::accuracy(0, 1) { 0.9 } else { 0.7 };
        let misses = problem.misses(&mut rate);
        let largest = misses.iter().copied().fold(f64::MIN, f64::max);
        assert!((largest - 0.19).abs() < 1e-12, "{misses:?}");
        assert!((problem.cost(&mut rate) + 0.7).abs() < 1e-12);
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
        assert!((problem.cost(&mut { values }) + 1.4).abs() < 1e-12);
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
    fn the_violation_is_the_largest_gap_or_else_the_largest_miss() {
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
        near(violation(&["within_group <= 0.01", "cross_group <= 0.15"]), 0.2);
        near(violation(&["within_group <= 0.01", "A[b > a] >= 0.8"]), 0.1);
        near(violation(&["A[b > a] <= 0.6"]), 0.1);
        assert_eq!(violation(&[]), None);
    }

    #[test]
    fn at_least_is_turned_into_at_most() {
        let problem = problem("auc", &["A[a > b] >= 0.8 * A[b > a] + 0.1"]);
        let mut rate = |rate| if rate == Rate::accuracy(0, 1) { 0.7 } else { 0.5 };
        assert!((problem.misses(&mut rate)[0] + 0.2).abs() < 1e-12);
    }

    #[test]
    fn a_large_squared_error_is_refused() {
        let constraint = parse_constraint("mse >= 0.5", &words()).unwrap();
        let objective = parse_minimize("mse", &words()).unwrap();
        let error = Problem::new(&objective, false, &[constraint]);
        assert!(matches!(error, Err(ProblemError::LargeError { .. })), "{error:?}");
    }
}
