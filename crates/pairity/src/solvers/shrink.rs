//! Shrinking: the best distribution over snapshots, by linear programs (Cotter et al. 2019).
//!
//! The rates of a stochastic model are the expected rates of its members, so with probabilities p over
//! snapshots of rates r_t every linear form is linear in p. Two programs find the answer: first the
//! least violation v that any distribution reaches, then the best objective at that v:
//!
//! ```text
//! min v          subject to  Σ p = 1,  g_j(Σ p_t r_t) ≤ v,  v ≥ 0
//! min ξ          subject to  Σ p = 1,  g_j(Σ p_t r_t) ≤ v*, f_i(Σ p_t r_t) ≤ ξ
//! ```
//!
//! A spread's forms have a free center s in them, which is a variable of the programs beside p.
//!
//! Vertices of the second have at most as many members as there are rows in it.

use crate::goals::{Assessment, Bound, LinearForm, Problem, TOLERANCE};
use microlp::{ComparisonOp, OptimizationDirection, Problem as Program, Variable};

/// Probabilities below this are rounding.
const NEGLIGIBLE: f64 = 1e-7;

/// A distribution over candidates.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mixture {
    /// Candidate and probability, by candidate; probabilities add up to 1.
    pub members: Vec<(usize, f64)>,
    /// How it does, at its expected rates.
    pub assessment: Assessment,
}

/// The best mixture of candidates, whose rates stand in the order of the problem's; none without
/// candidates, or if every one has a rate that is not a number.
pub(crate) fn shrink(problem: &Problem, candidates: &[Vec<f64>]) -> Option<Mixture> {
    shrink_within(problem, candidates, &vec![0.0; problem.constraints.len()])
}

/// The same where each constraint may be missed by so much more than the least violation.
pub(crate) fn shrink_within<'p>(
    problem: &'p Problem,
    candidates: &[Vec<f64>],
    room: &[f64],
) -> Option<Mixture> {
    let finite: Vec<usize> = finite(candidates).collect();
    let row = |form: &'p LinearForm| ProgramRow {
        values: finite.iter().map(|&t| problem.value(form, &candidates[t], &[])).collect(),
        centers: &form.centers,
    };
    // Firm constraints first: the others are met as well as these allow.
    let (firm, soft): (Vec<&Bound>, Vec<&Bound>) =
        problem.bounds.iter().partition(|bound| problem.is_firm(bound.constraint));
    let rows =
        |bounds: &[&'p Bound]| -> Vec<ProgramRow> { bounds.iter().map(|bound| row(&bound.form)).collect() };
    let costs: Vec<ProgramRow> = problem.objective.iter().map(row).collect();
    let (firm_rows, mut bounds) = (rows(&firm), rows(&soft));
    let least = |tops: &[ProgramRow], held: &[ProgramRow], at: f64| match tops.is_empty() {
        true => Some(0.0),
        false => Some(solve(tops, held, &vec![at; held.len()], finite.len())?.1.max(0.0)),
    };
    let least_firm = least(&firm_rows, &[], 0.0)?;
    let least_soft = least(&bounds, &firm_rows, least_firm + TOLERANCE / 4.0)?;
    bounds.extend(firm_rows);
    // The first program's answer meets its own rows only up to rounding, so the second may need room.
    let limits = |more: f64| -> Vec<f64> {
        let soft = soft.iter().map(|bound| least_soft + room[bound.constraint] + more);
        soft.chain(firm.iter().map(|bound| least_firm + room[bound.constraint] + more)).collect()
    };
    let (probabilities, _) = solve(&costs, &bounds, &limits(0.0), finite.len())
        .or_else(|| solve(&costs, &bounds, &limits(TOLERANCE / 2.0), finite.len()))?;
    let sum: f64 = probabilities.iter().filter(|&&p| p > NEGLIGIBLE).sum();
    let likely = finite.into_iter().zip(probabilities).filter(|(_, p)| *p > NEGLIGIBLE);
    Some(Mixture::new(problem, candidates, likely.map(|(t, p)| (t, p / sum)).collect()))
}

/// The candidates whose rates are all numbers.
pub(crate) fn finite(candidates: &[Vec<f64>]) -> impl Iterator<Item = usize> {
    (0..candidates.len()).filter(move |&t| candidates[t].iter().all(|rate| rate.is_finite()))
}

impl Mixture {
    /// The mixture of given members.
    pub(crate) fn new(problem: &Problem, candidates: &[Vec<f64>], members: Vec<(usize, f64)>) -> Mixture {
        let mut rates = vec![0.0; problem.rates.len()];
        for &(t, p) in &members {
            rates.iter_mut().zip(&candidates[t]).for_each(|(rate, own)| *rate += p * own);
        }
        Mixture { members, assessment: problem.assess(&rates) }
    }
}

/// A linear form as a row of a program.
struct ProgramRow<'p> {
    /// Its value for each candidate.
    values: Vec<f64>,
    /// Free variables in it.
    centers: &'p [(usize, f64)],
}

/// Minimizes the largest of `tops` over distributions, with every row of `bounds` at most its limit.
fn solve(
    tops: &[ProgramRow],
    bounds: &[ProgramRow],
    limits: &[f64],
    count: usize,
) -> Option<(Vec<f64>, f64)> {
    if count == 0 {
        return None;
    }
    let mut program = Program::new(OptimizationDirection::Minimize);
    let p: Vec<Variable> = (0..count).map(|_| program.add_var(0.0, (0.0, 1.0))).collect();
    let top = program.add_var(1.0, (f64::NEG_INFINITY, f64::INFINITY));
    let places = tops.iter().chain(bounds).flat_map(|row| row.centers).map(|(center, _)| center + 1);
    let free = (f64::NEG_INFINITY, f64::INFINITY);
    let centers: Vec<Variable> = (0..places.max().unwrap_or(0)).map(|_| program.add_var(0.0, free)).collect();
    let terms = |row: &ProgramRow| -> Vec<(Variable, f64)> {
        let p = p.iter().copied().zip(row.values.iter().copied());
        let centers = row.centers.iter().map(|&(center, factor)| (centers[center], factor));
        p.chain(centers).filter(|(_, value)| *value != 0.0).collect()
    };
    let whole: Vec<(Variable, f64)> = p.iter().map(|&p| (p, 1.0)).collect();
    program.add_constraint(whole, ComparisonOp::Eq, 1.0);
    for row in tops {
        let mut terms = terms(row);
        terms.push((top, -1.0));
        program.add_constraint(terms, ComparisonOp::Le, 0.0);
    }
    for (row, &limit) in bounds.iter().zip(limits) {
        program.add_constraint(terms(row), ComparisonOp::Le, limit);
    }
    let solution = program.solve().ok()?.into_solution().ok()?;
    Some((p.iter().map(|&p| solution.var_value(p)).collect(), solution.var_value(top)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goals::{Vocabulary, parse_constraint, parse_maximize};
    use crate::rates::Rate;

    /// Rates in the order of the problem's: A[a > b], A[b > a], auc.
    fn problem(maximize: &str, constraint: Option<&str>) -> Problem {
        let words = Vocabulary { groups: vec!["a".into(), "b".into()], continuous: false };
        let constraints: Vec<_> =
            constraint.iter().map(|text| parse_constraint(text, &words).unwrap()).collect();
        Problem::new(&parse_maximize(maximize, &words).unwrap(), true, &constraints).unwrap()
    }

    fn candidates(problem: &Problem, rows: &[[f64; 3]]) -> Vec<Vec<f64>> {
        let at = |row: &[f64; 3], rate: Rate| match rate {
            Rate::AUC => row[2],
            rate if rate == Rate::accuracy(0, 1) => row[0],
            _ => row[1],
        };
        rows.iter().map(|row| problem.rates.iter().map(|&rate| at(row, rate)).collect()).collect()
    }

    #[test]
    fn two_unfair_scorers_make_a_fair_mixture() {
        let problem = problem("auc", Some("cross_group <= 0.1"));
        // Gaps +0.3 and −0.1: p · 0.3 − (1 − p) · 0.1 ≤ 0.1 gives p = 1/2.
        let rows = candidates(&problem, &[[0.9, 0.6, 0.92], [0.7, 0.8, 0.84], [0.5, 0.5, 0.5]]);
        let mixture = shrink(&problem, &rows).unwrap();
        assert_eq!(mixture.assessment.violation, 0.0);
        assert!((mixture.assessment.cost + 0.88).abs() < 1e-6, "{mixture:?}");
        assert_eq!(mixture.members.len(), 2);
        assert!((mixture.members[0].1 - 0.5).abs() < 1e-6);
    }

    #[test]
    fn what_can_not_be_met_is_missed_by_as_little_as_possible() {
        let problem = problem("auc", Some("cross_group <= 0.1"));
        let rows = candidates(&problem, &[[0.9, 0.6, 0.92], [0.8, 0.6, 0.7]]);
        let mixture = shrink(&problem, &rows).unwrap();
        assert!((mixture.assessment.violation - 0.1).abs() < 1e-6, "{mixture:?}");
        assert_eq!(mixture.members.iter().map(|m| m.0).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn a_firm_constraint_is_met_and_the_others_as_well_as_it_allows() {
        let soft = problem("auc", Some("cross_group <= 0.1"));
        let words = Vocabulary { groups: vec!["a".into(), "b".into()], continuous: false };
        let firm = soft.with_firm(&[parse_constraint("A[a > b] >= 0.8", &words).unwrap()]).unwrap();
        // The second one is fair by levelling down; half of each has A[a > b] = 0.8 and a gap of 0.25.
        let rows = candidates(&firm, &[[0.9, 0.5, 0.92], [0.7, 0.6, 0.84]]);
        let mixture = shrink(&firm, &rows).unwrap();
        assert!((mixture.members[0].1 - 0.5).abs() < 1e-5, "{mixture:?}");
        assert!((mixture.assessment.misses[0] - 0.15).abs() < 1e-5, "{mixture:?}");
        assert!(mixture.assessment.misses[1] <= TOLERANCE, "{mixture:?}");
        // Without it the second one alone would be taken; and what can be met by all is met by all.
        assert_eq!(
            shrink(&soft, &candidates(&soft, &[[0.9, 0.5, 0.92], [0.7, 0.6, 0.84]])).unwrap().members,
            [(1, 1.0)]
        );
        let rows = candidates(&firm, &[[0.9, 0.5, 0.92], [0.85, 0.8, 0.84]]);
        assert!(shrink(&firm, &rows).unwrap().assessment.met);
    }

    #[test]
    fn a_minimum_of_rates_is_raised_by_mixing() {
        let problem = problem("min(A[a > b], A[b > a])", None);
        let rows = candidates(&problem, &[[1.0, 0.2, 0.0], [0.2, 1.0, 0.0], [0.5, 0.5, 0.0]]);
        let mixture = shrink(&problem, &rows).unwrap();
        assert!((mixture.assessment.cost + 0.6).abs() < 1e-6, "{mixture:?}");
    }

    #[test]
    fn a_spread_around_a_center_comes_to_the_same_as_all_its_differences() {
        use crate::goals::{Criterion, Expression, LinearForm};
        use rand::{RngExt, SeedableRng};
        let groups: Vec<String> = (0..4).map(|group| format!("g{group}")).collect();
        let words = Vocabulary { groups, continuous: false };
        let Ok(Expression::Spread(list)) = Criterion::CrossGroup.expression(&words) else { panic!() };
        let difference = |a: &LinearForm, b| Expression::Linear(a.clone().plus(-1.0, b));
        let differences = list.iter().flat_map(|a| list.iter().map(move |b| difference(a, b))).collect();
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        for bound in [0.0, 0.1, 0.2, 0.4] {
            let mut constraint = parse_constraint(&format!("cross_group <= {bound}"), &words).unwrap();
            let objective = parse_maximize("min(auc - cross_group, 0.7)", &words).unwrap();
            let centered = Problem::new(&objective, true, std::slice::from_ref(&constraint)).unwrap();
            assert_eq!((centered.bounds.len(), centered.centers.len()), (24, 2));
            constraint.expression = Expression::Max(Vec::clone(&differences));
            let objective = parse_maximize("auc", &words).unwrap();
            let slow = Problem::new(&objective, true, &[constraint]).unwrap();
            let plain = centered.clone();
            let centered = Problem::new(&objective, true, &plain.constraints).unwrap();
            assert_eq!((slow.bounds.len(), slow.centers.len()), (144, 0));
            let mut rates =
                || -> Vec<f64> { slow.rates.iter().map(|_| random.random_range(0.4..1.0)).collect() };
            let candidates: Vec<Vec<f64>> = (0..12).map(|_| rates()).collect();
            let [fast, slow] =
                [&centered, &slow].map(|problem| shrink(problem, &candidates).unwrap().assessment);
            assert!((fast.violation - slow.violation).abs() < 1e-6, "{fast:?} {slow:?}");
            assert!((fast.cost - slow.cost).abs() < 1e-5, "{fast:?} {slow:?}");
            // An objective with a spread in it: never worse than what any candidate alone has.
            let mixture = shrink(&plain.unconstrained(), &candidates).unwrap().assessment;
            let alone = candidates.iter().map(|own| plain.cost(own)).fold(f64::INFINITY, f64::min);
            assert!(mixture.cost <= alone + 1e-6, "{mixture:?} {alone}");
        }
    }

    #[test]
    fn snapshots_that_are_no_numbers_are_left_out() {
        let problem = problem("auc", None);
        let rows = candidates(&problem, &[[0.0, 0.0, f64::NAN], [0.0, 0.0, 0.7]]);
        let mixture = shrink(&problem, &rows).unwrap();
        assert_eq!(mixture.members, [(1, 1.0)]);
        assert_eq!(shrink(&problem, &rows[..1]), None);
    }
}
