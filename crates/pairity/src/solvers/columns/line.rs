//! Scorers along a line, those above all that just meet a bound.

use super::AnswerColumn;
use crate::goals::Problem;

/// How often the step is halved in which a bound is just met.
const HALVINGS: usize = 10;

/// Crossings of bounds that are looked for.
const CROSSINGS: usize = 2;

/// The columns at some places of a line, in their order, and nearer and nearer to where another bound becomes the one that
/// is missed most.
pub(super) fn columns_along(
    problem: &Problem,
    places: &[f64],
    at: &dyn Fn(f64) -> AnswerColumn,
) -> Vec<AnswerColumn> {
    let mut found: Vec<AnswerColumn> = places.iter().map(|&place| at(place)).collect();
    let worst: Vec<Option<usize>> = found.iter().map(|column| worst_bound(problem, &column.rates)).collect();
    let crossings = (1..places.len()).filter(|&step| worst[step - 1] != worst[step]);
    for step in crossings.take(CROSSINGS) {
        let (mut low, mut high) = (places[step - 1], places[step]);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            let column = at(middle);
            let same = worst_bound(problem, &column.rates) == worst[step - 1];
            (low, high) = if same { (middle, high) } else { (low, middle) };
            found.push(column);
        }
    }
    found
}

/// The bound that is missed most, or met by the least.
pub(super) fn worst_bound(problem: &Problem, rates: &[f64]) -> Option<usize> {
    let misses: Vec<f64> = problem.bound_misses(rates).collect();
    (0..misses.len()).max_by(|&a, &b| misses[a].total_cmp(&misses[b]))
}
