//! The simplest way to fairness, among the columns: the best scorer without bounds less a multiple of the attribute, where
//! the scorer sees it, or of what the features tell of it:
//!
//! ```text
//! f(x) − k v·x,     v = argmin Σᵢ (tᵢ − t̄_q − v·(xᵢ − x̄_q))² + ρ |v|²          q the query of i
//! ```
//!
//! with t the continuous attribute, or 1 in a group and 0 elsewhere. Any other answer has to be better than these. In place of
//! the features a network has the units of its last hidden layer, which its score is linear in: less what they tell of the
//! attribute it is a network again.

use super::line::columns_along;
use super::response::{ATTRIBUTE_DECAY, Fitting, deviation};
use super::{AnswerColumn, ColumnGeneration, Generation};
use crate::learners::{Architecture, Mlp, Scorer};
use crate::solvers::curvature::Curvature;
use crate::solvers::loss::Sample;
use crate::solvers::shrink::shrink;

/// Multiples of the attribute that are tried, in deviations of the score for one of what is subtracted.
const MULTIPLES: f64 = 2.0;
const STEPS: i32 = 10;

/// Rounds over several groups.
const ROUNDS: usize = 2;

/// Members of a mixture from which one scorer is looked for.
const MEMBERS: usize = 2;

/// The most units of a last hidden layer whose second moments are summed.
const MOST_UNITS: usize = 64;

impl ColumnGeneration {
    /// Adds those of the best scorer without bounds.
    pub(super) fn add_less_attribute(&mut self, generation: &Generation) {
        let problem = generation.problem;
        let cost = |column: &&AnswerColumn| problem.cost(&column.rates);
        let best = self.columns.iter().min_by(|a, b| cost(a).total_cmp(&cost(b)));
        if let Some(best) = best.cloned() {
            self.add_less_attribute_of(generation, best);
        }
    }

    /// Adds those of the likeliest members of the best mixture: where one scorer is wanted, one that just meets a bound may
    /// lie near them. Linear scorers have what lies between members instead.
    pub(super) fn add_less_attribute_of_members(&mut self, generation: &Generation) {
        if matches!(generation.task.training.architecture, Architecture::Linear(_)) {
            return;
        }
        let rates: Vec<Vec<f64>> = self.columns.iter().map(|column| column.rates.clone()).collect();
        let mut members = shrink(generation.problem, &rates).map_or_else(Vec::new, |mixture| mixture.members);
        members.sort_by(|a, b| b.1.total_cmp(&a.1));
        let likeliest: Vec<AnswerColumn> =
            members.iter().take(MEMBERS).map(|&(at, _)| self.columns[at].clone()).collect();
        likeliest.into_iter().for_each(|column| self.add_less_attribute_of(generation, column));
    }

    /// Adds them, for one group after another.
    fn add_less_attribute_of(&mut self, generation: &Generation, mut best: AnswerColumn) {
        let problem = generation.problem;
        // Where answers are the best there are, these are no better.
        if problem.constraints.is_empty() || generation.exact {
            return;
        }
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

/// Numbers of rows less their mean in each query.
pub(super) fn center(sample: &Sample, numbers: &mut [f64]) {
    let examples = sample.examples();
    for block in 0..examples.blocks() {
        let own = &mut numbers[examples.block(block)];
        let mean = own.iter().sum::<f64>() / own.len().max(1) as f64;
        own.iter_mut().for_each(|number| *number -= mean);
    }
}

/// The weights of a network's output with which its scores are the nearest to some numbers within queries, at the deviation
/// of its own scores; all other parameters are 0. None of many units.
pub(super) fn told_by_units(
    fitting: &Fitting,
    network: &Mlp,
    parameters: &[f64],
    mut numbers: Vec<f64>,
) -> Option<Vec<f64>> {
    let outputs = network.output()..network.set_len() - 1;
    if outputs.len() > MOST_UNITS {
        return None;
    }
    let unit = |at: usize| {
        let mut only = parameters.to_vec();
        only[outputs.start..].fill(0.0);
        only[outputs.start + at] = 1.0;
        let mut values = fitting.scores(&only);
        center(fitting.sample, &mut values);
        values
    };
    let units: Vec<Vec<f64>> = (0..outputs.len()).map(unit).collect();
    center(fitting.sample, &mut numbers);
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut moments: Vec<f64> = units.iter().flat_map(|a| units.iter().map(|b| product(a, b))).collect();
    let diagonal = outputs.len() + 1;
    let decay = ATTRIBUTE_DECAY * moments.iter().step_by(diagonal).sum::<f64>() / outputs.len() as f64;
    moments.iter_mut().step_by(diagonal).for_each(|moment| *moment += decay);
    let mut weights: Vec<f64> = units.iter().map(|unit| product(unit, &numbers)).collect();
    Curvature::new(moments, outputs.len())?.solve(&mut weights);
    let mut direction = vec![0.0; parameters.len()];
    direction[outputs.clone()].copy_from_slice(&weights);
    let mut only = parameters.to_vec();
    only[outputs.start..].copy_from_slice(&direction[outputs.start..]);
    let size = deviation(&fitting.scores(parameters)) / deviation(&fitting.scores(&only));
    direction.iter_mut().for_each(|weight| *weight *= size);
    direction.iter().all(|weight| weight.is_finite()).then_some(direction)
}
