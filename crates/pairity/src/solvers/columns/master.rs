//! The master program: the best mixture of all columns found so far, and the prices that it puts on the bounds.
//!
//! With f_i the forms of the objective, g_j the bounds, and r_t the rates of column t, a mixture p solves
//!
//! ```text
//! min ξ    subject to   Σ p = 1,   f_i(Σ p_t r_t) ≤ ξ,   g_j(Σ p_t r_t) ≤ v
//! ```
//!
//! where v is the least violation that any mixture has, found by a program of its own. Its dual is solved directly, as it
//! is the prices that are wanted:
//!
//! ```text
//! max β    subject to   Σ μ = 1,   Σ_i μ_i f_i(r_t) + Σ_j λ_j (g_j(r_t) − v) ≥ β  for every t,   μ, λ ≥ 0
//! ```
//!
//! A scorer whose rates make the left side, its Lagrangian, smaller than β improves the mixture; where none does, by
//! duality no mixture of any scorers is better than β. While v is above 0 there are prices for it instead, with Σ λ = 1
//! and no μ. A center, which is free, has Σ price · factor = 0.

use crate::goals::{LinearForm, Problem, TOLERANCE};
use microlp::{ComparisonOp, OptimizationDirection, Problem as Program, Variable};
use serde::{Deserialize, Serialize};

/// What the objective's forms and the bounds weigh, and what that makes of the columns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Prices {
    /// Of the forms of the objective, then of the bounds.
    pub weights: Vec<f64>,
    /// The least violation.
    pub violation: f64,
    /// β: the least Lagrangian of any column.
    pub value: f64,
    /// Whether it is the violation that is to be smaller.
    pub phase: Phase,
}

/// What the prices are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Phase {
    /// The least violation.
    Violation,
    /// The objective, at the least violation.
    Objective,
}

/// No price is above this: where a bound can be met only just, its price has no end.
const HIGHEST: f64 = 1e4;

impl Prices {
    /// The prices of the objective alone, as if there were no bounds.
    pub(super) fn unbound(problem: &Problem) -> Prices {
        let forms = problem.objective.len();
        let mut weights = vec![1.0 / forms as f64; forms];
        weights.resize(forms + problem.bounds.len(), 0.0);
        Prices { weights, violation: 0.0, value: f64::INFINITY, phase: Phase::Objective }
    }

    /// The prices of columns with these rates, all finite; none without columns.
    pub(super) fn of(problem: &Problem, rates: &[&[f64]], phase: Phase) -> Option<Prices> {
        let least = match problem.bounds.is_empty() {
            true => 0.0,
            false => solve(problem, rates, Phase::Violation, 0.0)?.value.max(0.0),
        };
        if phase == Phase::Violation && least > TOLERANCE {
            return solve(problem, rates, phase, least);
        }
        solve(problem, rates, Phase::Objective, least + TOLERANCE / 4.0)
    }

    /// The Lagrangian at rates.
    pub(super) fn lagrangian(&self, problem: &Problem, rates: &[f64]) -> f64 {
        let allowed = if self.phase == Phase::Objective { self.violation } else { 0.0 };
        let objective = problem.objective.len();
        let priced = forms(problem).zip(&self.weights).enumerate().filter(|(_, (_, weight))| **weight != 0.0);
        let value = |(at, (form, weight)): (usize, (&LinearForm, &f64))| {
            weight * (problem.value(form, rates, &[]) - if at < objective { 0.0 } else { allowed })
        };
        priced.map(value).sum()
    }

    /// The forms with their prices.
    pub(super) fn forms<'a>(&'a self, problem: &'a Problem) -> impl Iterator<Item = (&'a LinearForm, f64)> {
        forms(problem).zip(self.weights.iter().copied())
    }
}

/// The forms of the objective, then of the bounds.
fn forms(problem: &Problem) -> impl Iterator<Item = &LinearForm> {
    problem.objective.iter().chain(problem.bounds.iter().map(|bound| &bound.form))
}

fn solve(problem: &Problem, rates: &[&[f64]], phase: Phase, allowed: f64) -> Option<Prices> {
    let mut program = Program::new(OptimizationDirection::Maximize);
    let objective = problem.objective.len();
    let limit = |at: usize| match (phase, at < objective) {
        (Phase::Violation, true) => 0.0,
        (Phase::Violation, false) | (Phase::Objective, true) => 1.0,
        (Phase::Objective, false) => HIGHEST,
    };
    let prices: Vec<Variable> =
        (0..objective + problem.bounds.len()).map(|at| program.add_var(0.0, (0.0, limit(at)))).collect();
    let value = program.add_var(1.0, (f64::NEG_INFINITY, f64::INFINITY));
    let summed = match phase {
        Phase::Objective => &prices[..objective],
        Phase::Violation => &prices[objective..],
    };
    program.add_constraint(
        summed.iter().map(|&price| (price, 1.0)).collect::<Vec<_>>(),
        ComparisonOp::Eq,
        1.0,
    );
    let all: Vec<&LinearForm> = forms(problem).collect();
    for center in 0..problem.centers.len() {
        let factor =
            |form: &LinearForm| form.centers.iter().filter(|(own, _)| *own == center).map(|own| own.1).sum();
        let terms = all.iter().zip(&prices).map(|(form, &price)| (price, factor(form)));
        let terms: Vec<(Variable, f64)> = terms.filter(|(_, factor): &(_, f64)| *factor != 0.0).collect();
        if !terms.is_empty() {
            program.add_constraint(terms, ComparisonOp::Eq, 0.0);
        }
    }
    let allowed_by = if phase == Phase::Objective { allowed } else { 0.0 };
    for rates in rates {
        let term = |(at, (form, &price)): (usize, (&&LinearForm, &Variable))| {
            (price, problem.value(form, rates, &[]) - if at < objective { 0.0 } else { allowed_by })
        };
        let mut terms: Vec<(Variable, f64)> =
            all.iter().zip(&prices).enumerate().map(term).filter(|(_, factor)| *factor != 0.0).collect();
        terms.push((value, -1.0));
        program.add_constraint(terms, ComparisonOp::Ge, 0.0);
    }
    let solution = program.solve().ok()?.into_solution().ok()?;
    Some(Prices {
        weights: prices.iter().map(|&price| solution.var_value(price).max(0.0)).collect(),
        violation: allowed,
        value: solution.var_value(value),
        phase,
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::shrink::shrink;
    use super::*;
    use crate::goals::{Vocabulary, parse_constraint, parse_maximize};
    use crate::rates::Rate;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn prices_of_the_dual_have_the_value_of_the_mixture_and_every_column_costs_at_least_that() {
        let words = Vocabulary { groups: ["a", "b", "c"].map(String::from).to_vec(), continuous: false };
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(9);
        let goals = [
            ("auc", vec!["cross_group <= 0.1"]),
            ("auc", vec!["cross_group <= 0.05", "A[a > b] >= 0.6"]),
            ("auc", vec!["A[a > b] >= 1.5"]),
            ("min(A[a > b], A[b > a], A[c > *])", vec![]),
            ("min(auc, A[a > b])", vec!["marginal <= 0.02"]),
        ];
        for (objective, constraints) in goals {
            let constraints: Vec<_> =
                constraints.iter().map(|text| parse_constraint(text, &words).unwrap()).collect();
            let problem =
                Problem::new(&parse_maximize(objective, &words).unwrap(), true, &constraints).unwrap();
            for _ in 0..20 {
                let mut column =
                    || -> Vec<f64> { problem.rates.iter().map(|_| random.random_range(0.3..1.0)).collect() };
                let columns: Vec<Vec<f64>> = (0..15).map(|_| column()).collect();
                let rates: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
                let mixture = shrink(&problem, &columns).unwrap().assessment;
                let prices = Prices::of(&problem, &rates, Phase::Objective).unwrap();
                assert!((prices.value - mixture.cost).abs() < 1e-4, "{objective}: {prices:?} {mixture:?}");
                let least = rates
                    .iter()
                    .map(|rates| prices.lagrangian(&problem, rates))
                    .fold(f64::INFINITY, f64::min);
                assert!((least - prices.value).abs() < 1e-6, "{objective}: {least} {prices:?}");
                let first = Prices::of(&problem, &rates, Phase::Violation).unwrap();
                if mixture.violation > 1e-4 {
                    assert_eq!(first.phase, Phase::Violation);
                    assert!(
                        (first.value - mixture.violation).abs() < 1e-6,
                        "{objective}: {first:?} {mixture:?}"
                    );
                } else {
                    assert_eq!(first.phase, Phase::Objective);
                }
            }
        }
    }

    fn goal(objective: &str, constraints: &[&str]) -> Problem {
        let words = Vocabulary { groups: ["a", "b"].map(String::from).to_vec(), continuous: false };
        let constraints: Vec<_> =
            constraints.iter().map(|text| parse_constraint(text, &words).unwrap()).collect();
        Problem::new(&parse_maximize(objective, &words).unwrap(), true, &constraints).unwrap()
    }

    /// The rates of a problem, of which the AUC and `A[a > b]` are these.
    fn column(problem: &Problem, auc: f64, accuracy: f64) -> Vec<f64> {
        problem.rates.iter().map(|&rate| if rate == Rate::AUC { auc } else { accuracy }).collect()
    }

    /// Of two columns, one of which meets a bound, the price is what a unit of it costs on the way between them.
    #[test]
    fn the_price_of_a_bound_is_the_slope_between_two_columns() {
        let problem = goal("auc", &["A[a > b] >= 0.7"]);
        let (rich, fair) = (column(&problem, 0.9, 0.5), column(&problem, 0.8, 0.75));
        let prices = Prices::of(&problem, &[&rich, &fair], Phase::Violation).unwrap();
        assert_eq!(prices.phase, Phase::Objective);
        let [objective, bound] = prices.weights[..] else { panic!("{prices:?}") };
        assert!((objective - 1.0).abs() < 1e-9 && (bound - 0.1 / 0.25).abs() < 1e-6, "{prices:?}");
        // A fifth of the first and the rest of the other, which meet the bound exactly.
        assert!((prices.value - -(0.2 * 0.9 + 0.8 * 0.8)).abs() < 1e-4, "{prices:?}");
        let on_the_line = column(&problem, 0.86, 0.6);
        assert!((prices.lagrangian(&problem, &on_the_line) - prices.value).abs() < 1e-4);
        assert!(prices.lagrangian(&problem, &column(&problem, 0.87, 0.6)) < prices.value - 0.009);
        // A bound that costs nothing has no price.
        let free = Prices::of(&problem, &[&column(&problem, 0.9, 0.8), &fair], Phase::Objective).unwrap();
        assert!(free.weights[1].abs() < 1e-9 && (free.value + 0.9).abs() < 1e-9, "{free:?}");
    }

    #[test]
    fn while_no_mixture_meets_the_bounds_prices_are_those_of_the_largest_violation() {
        // The two can't be met together: half of each misses both by 0.15.
        let problem = goal("auc", &["A[a > b] >= 0.7", "A[a > b] <= 0.4"]);
        let columns = [column(&problem, 0.9, 0.5), column(&problem, 0.8, 0.75)];
        let rates: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let prices = Prices::of(&problem, &rates, Phase::Violation).unwrap();
        assert_eq!(prices.phase, Phase::Violation);
        assert!((prices.value - 0.15).abs() < 1e-9, "{prices:?}");
        let [objective, low, high] = prices.weights[..] else { panic!("{prices:?}") };
        assert!(objective == 0.0 && (low - 0.5).abs() < 1e-9 && (high - 0.5).abs() < 1e-9, "{prices:?}");
        // At the least violation the objective has prices again: mixtures of accuracy 0.55, a fifth of the second.
        let second = Prices::of(&problem, &rates, Phase::Objective).unwrap();
        assert_eq!(second.phase, Phase::Objective);
        assert!((second.value - -(0.8 * 0.9 + 0.2 * 0.8)).abs() < 1e-4, "{second:?}");
    }

    #[test]
    fn the_least_of_two_rates_has_prices_at_which_both_columns_cost_the_same() {
        let problem = goal("min(auc, A[a > b])", &[]);
        let (one, other) = (column(&problem, 0.9, 0.5), column(&problem, 0.6, 0.7));
        let prices = Prices::of(&problem, &[&one, &other], Phase::Violation).unwrap();
        // With μ on the AUC: 0.9 μ + 0.5 (1 − μ) = 0.6 μ + 0.7 (1 − μ).
        assert!((prices.weights[0] - 0.4).abs() < 1e-9, "{prices:?}");
        assert!((prices.value + 0.4 * 0.9 + 0.6 * 0.5).abs() < 1e-9, "{prices:?}");
    }
}
