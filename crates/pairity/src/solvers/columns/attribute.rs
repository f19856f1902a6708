//! The simplest way to fairness, among the columns: the best scorer without bounds less a multiple of the attribute, where
//! the scorer sees it, or of what the features tell of it:
//!
//! ```text
//! f(x) − k v·x,     v = argmin Σᵢ (tᵢ − t̄_q − v·(xᵢ − x̄_q))² + ρ |v|²          q the query of i
//! ```
//!
//! with t the continuous attribute, or 1 in a group and 0 elsewhere. Any other answer has to be better than these.

use super::line::columns_along;
use super::response::Fitting;
use super::{AnswerColumn, ColumnGeneration, Generation};

/// Multiples of the attribute that are tried, in deviations of the score for one of what is subtracted.
const MULTIPLES: f64 = 2.0;
const STEPS: i32 = 10;

/// Rounds over several groups.
const ROUNDS: usize = 2;

impl ColumnGeneration {
    /// Adds them, for one group after another.
    pub(super) fn add_less_attribute(&mut self, generation: &Generation) {
        let problem = generation.problem;
        let cost = |column: &&AnswerColumn| problem.cost(&column.rates);
        let best = self.columns.iter().min_by(|a, b| cost(a).total_cmp(&cost(b)));
        // Where answers are the best there are, these are no better.
        let wanted = !problem.constraints.is_empty() && !generation.exact;
        let Some(mut best) = best.filter(|_| wanted).cloned() else { return };
        let whole = generation.whole.attribute_directions(&best.parameters);
        let folds = generation.folds.iter().zip(&best.folds);
        let folds: Vec<Vec<Vec<f64>>> =
            folds.map(|((fitting, _), own)| fitting.attribute_directions(own)).collect();
        let places: Vec<f64> =
            (-STEPS..=STEPS).map(|step| MULTIPLES * f64::from(step) / f64::from(STEPS)).collect();
        let rounds = if whole.len() > 1 { ROUNDS } else { 1 };
        for group in (0..rounds).flat_map(|_| 0..whole.len()) {
            let less =
                |fitting: &Fitting, parameters: &[f64], direction: &[f64], multiple: f64| -> Vec<f64> {
                    let moved = parameters.iter().zip(direction).map(|(x, v)| x - multiple * v);
                    let mut moved: Vec<f64> = moved.collect();
                    fitting.calibrate(&mut moved);
                    moved
                };
            let at = |multiple: f64| {
                let own = less(&generation.whole, &best.parameters, &whole[group], multiple);
                let all = generation.folds.iter().zip(&best.folds).zip(&folds);
                let folds = all.map(|(((fitting, _), own), directions)| {
                    less(fitting, own, &directions[group], multiple)
                });
                generation.column(vec![0.0; best.weights.len()], best.l2, own, folds.collect())
            };
            let found = columns_along(problem, &places, &at);
            let quality = |column: &&AnswerColumn| {
                let found = problem.assess(&column.rates);
                (found.violation.max(0.0), found.cost)
            };
            let order = |a: &&AnswerColumn, b: &&AnswerColumn| {
                let (a, b) = (quality(a), quality(b));
                a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
            };
            best = found.iter().min_by(order).cloned().unwrap_or(best);
            found.into_iter().for_each(|column| self.add(column));
        }
    }
}
