//! The simplest way to fairness: the score of an unconstrained scorer less a multiple of the protected attribute,
//! tuned where models are selected. Any method that costs more has to be better than this.
//!
//! Where the attribute may be looked at, it is a constant for each group ([`group_offset`]) or a multiple of the
//! continuous attribute ([`attribute_slope`]). Where it may not, what the features tell about it takes its place:
//!
//! ```text
//! f(x) − Σ_g k_g v_g·x,     v_g = argmin Σᵢ wᵢ (tᵢ − t̄ − v·(xᵢ − x̄))² + ρ |v|²
//! ```
//!
//! with t the continuous attribute, or 1 in group g and 0 elsewhere, for all groups but the first. With a linear
//! f the result is linear too, and sees no attribute when it scores. Where the attribute is among the scorer's own
//! features or parameters, v is the attribute itself.

use super::attribute_slope::{self, multiples};
use super::tuning::{Adjusted, Judge, Quality, Rater, Tuning};
use super::{Method, MethodError, Stage, Task, group_offset};
use crate::examples::Examples;
use crate::learners::{Architecture, Features, GroupUse, Trace, dot};
use crate::model::{Adjustment, StochasticScorer, less_attribute};
use crate::solvers::Trained;

const NAME: &str = "score-minus-attribute";
const METHOD: &str = "a multiple of the predicted attribute";

/// The ridge ρ as a part of the curvature along the right side of the normal equations.
const RIDGE: f64 = 1e-3;

/// Steps of conjugate gradients, and the part of the first residual that is left at their end.
const STEPS: usize = 200;
const LEFT: f64 = 1e-10;

/// Rounds over the multiples of several groups: for the sum of squares of all misses, then for the goal.
const ROUNDS: [usize; 2] = [2, 4];

/// With the attribute itself.
pub static SCORE_MINUS_ATTRIBUTE_AWARE: Method = Method {
    full_name: "score-minus-attribute (aware)",
    check: |tuning| match tuning.examples.is_continuous() {
        true => attribute_slope::start(tuning).map(drop),
        false => Judge::new(NAME, tuning).map(drop),
    },
    adjuster: Some(|tuning, _| aware(tuning)),
    ..Method::new(
        NAME,
        Stage::Scores,
        "A multiple of the attribute, or of what features tell of it, is subtracted",
    )
};

/// With what the features tell about it.
pub static SCORE_MINUS_ATTRIBUTE_BLIND: Method = Method {
    full_name: "score-minus-attribute (blind)",
    adjuster: None,
    train: |task, _, watch| blind(task, task.unconstrained(watch)?),
    ..SCORE_MINUS_ATTRIBUTE_AWARE
};

fn aware(tuning: &Tuning) -> Result<Adjusted, MethodError> {
    match tuning.examples.is_continuous() {
        true => attribute_slope::adjust(tuning),
        false => group_offset::adjust(tuning),
    }
}

/// The parameters of a scorer that uses groups by itself and shifts each as the offset search does; or of a linear
/// one that is corrected by the attribute as its features tell it.
///
/// # Errors
/// A scorer or examples that the search does not apply to.
pub(super) fn candidate(task: &Task, base: &Trained) -> Result<Vec<f64>, MethodError> {
    let scorer = task.scorer;
    let place = |group: usize| match scorer.groups() {
        GroupUse::Blind => None,
        GroupUse::Offsets { .. } => Some(scorer.set_len() + group),
        // The constant of each set is the last of its parameters.
        GroupUse::Weights { .. } => Some((group + 1) * scorer.set_len() - 1),
    };
    if place(0).is_none() {
        let trained = blind(task, base.clone())?;
        return Ok(trained.components.into_iter().next().map(|own| own.parameters).unwrap_or_default());
    }
    let (mut parameters, scores) = only_scorer(task, base)?;
    let Adjusted { adjustment, .. } = group_offset::adjust(&task.tuning(&scores))?;
    if let Adjustment::Offsets { groups } = adjustment {
        for (place, own) in (0..).map_while(place).zip(groups) {
            parameters[place] += own.offset;
        }
    }
    Ok(parameters)
}

/// The parameters of the one scorer that there is, and its scores by row.
fn only_scorer(task: &Task, trained: &Trained) -> Result<(Vec<f64>, Vec<f64>), MethodError> {
    let [component] = &trained.components[..] else {
        return Err(MethodError::does_not_apply(METHOD, "the scorer to correct is a mixture"));
    };
    let scorer = StochasticScorer::new(task.scorer, &trained.components);
    let mut members = scorer.members(task.selection(), task.data.features)?;
    Ok((component.parameters.clone(), members.pop().map(|member| member.scores).unwrap_or_default()))
}

/// The scorer less the best multiples of the predicted attribute.
fn blind(task: &Task, mut trained: Trained) -> Result<Trained, MethodError> {
    let Architecture::Linear(_) = task.scorer else {
        let reason = "it changes the weights of a linear scorer, and this one has hidden layers";
        return Err(MethodError::does_not_apply(METHOD, reason));
    };
    let (mut parameters, scores) = only_scorer(task, &trained)?;
    let (train, examples) = (task.data.train, task.selection());
    let (fitted, judged) = (task.data.features.select(&train.row), task.data.features.select(&examples.row));
    let tuning = task.tuning(&scores);
    let mut scores = examples.arrange(&scores)?;
    let rater = Rater::new(METHOD, &tuning, &scores)?;
    let directions: Vec<Vec<f64>> =
        targets(train)?.iter().map(|target| direction(task.scorer, &fitted, train, target)).collect();
    let ways: Vec<Vec<f64>> = directions
        .iter()
        .map(|direction| {
            let mut way = vec![0.0; examples.len()];
            task.scorer.score(direction, &judged, &mut way);
            way
        })
        .collect();
    let orders = [Quality::order_by_squares, Quality::order];
    let rounds = orders.iter().zip(ROUNDS).flat_map(|(order, rounds)| std::iter::repeat_n(order, rounds));
    // One direction is searched once.
    let rounds: Vec<_> = if ways.len() == 1 { vec![&orders[1]] } else { rounds.collect() };
    for order in rounds {
        for (direction, way) in directions.iter().zip(&ways) {
            let (slopes, qualities) = multiples(&rater, &scores, way, *order);
            let best = (0..slopes.len()).min_by(|&a, &b| order(&qualities[a], &qualities[b])).unwrap_or(0);
            scores = less_attribute(&scores, way, slopes[best]);
            parameters.iter_mut().zip(direction).for_each(|(own, v)| *own -= slopes[best] * v);
        }
    }
    for component in &mut trained.components {
        component.parameters.clone_from(&parameters);
    }
    Ok(trained)
}

/// What is to be predicted, in the order of the examples: the continuous attribute, or which rows are of each group
/// but the first.
fn targets(examples: &Examples) -> Result<Vec<Vec<f64>>, MethodError> {
    let numbers = examples.attribute_numbers();
    if examples.is_continuous() {
        return Ok(numbers);
    }
    let groups = examples.coded_groups();
    let (_, codes) = groups
        .map_err(|found| MethodError::does_not_apply(METHOD, format!("it corrects groups, and {found}")))?;
    let present = numbers.into_iter().filter(|own| own.contains(&1.0));
    Ok(present.skip(usize::from(!codes.contains(&0))).collect())
}

/// v of a target, by conjugate gradients: each step scores and pulls back once, so that words cost what they have.
fn direction(scorer: &Architecture, features: &Features, examples: &Examples, target: &[f64]) -> Vec<f64> {
    let weights: Vec<f64> = (0..examples.len()).map(|example| examples.weight(example)).collect();
    let total: f64 = weights.iter().sum();
    let mean = |values: &[f64]| values.iter().zip(&weights).map(|(x, w)| x * w).sum::<f64>() / total;
    let pulled = |values: &[f64]| {
        let center = mean(values);
        let slopes: Vec<f64> = values.iter().zip(&weights).map(|(x, w)| w * (x - center)).collect();
        scorer.pull_back(&vec![0.0; scorer.len()], features, &Trace::default(), &slopes)
    };
    let scored = |v: &[f64]| {
        let mut scores = vec![0.0; features.rows()];
        scorer.score(v, features, &mut scores);
        scores
    };
    let mut v = vec![0.0; scorer.len()];
    let mut residual = pulled(target);
    let (mut search, mut size) = (residual.clone(), dot(&residual, &residual));
    let ridge = RIDGE * dot(&residual, &pulled(&scored(&residual))) / size;
    let end = LEFT * LEFT * size;
    for _ in 0..STEPS {
        // Also where nothing is to be found, and a number became none.
        if !(size > end && ridge.is_finite()) {
            break;
        }
        let curved: Vec<f64> =
            pulled(&scored(&search)).iter().zip(&search).map(|(x, own)| x + ridge * own).collect();
        let step = size / dot(&search, &curved);
        if !step.is_finite() {
            break;
        }
        v.iter_mut().zip(&search).for_each(|(v, own)| *v += step * own);
        residual.iter_mut().zip(&curved).for_each(|(own, curved)| *own -= step * curved);
        let next = dot(&residual, &residual);
        search.iter_mut().zip(&residual).for_each(|(own, residual)| *own = residual + next / size * *own);
        size = next;
    }
    // What is subtracted has mean 0, which matters where scores are compared with labels.
    if let Architecture::Linear(linear) = scorer
        && linear.intercept
        && linear.groups == GroupUse::Blind
    {
        v[linear.width] -= mean(&scored(&v));
    }
    v
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::Columns;
    use crate::learners::Linear;
    use proptest::prelude::*;

    proptest! {
        /// The slow way: normal equations of centered values, by elimination.
        #[test]
        fn a_direction_solves_the_normal_equations(
            rows in prop::collection::vec((-3.0..3.0f64, -2.0..9.0f64, -5.0..5.0f64, 1..4_u8), 6..40),
        ) {
            let targets: Vec<f64> = rows.iter().map(|r| r.2).collect();
            let weights: Vec<f64> = rows.iter().map(|r| f64::from(r.3)).collect();
            let columns = Columns { labels: Some(&targets), weights: Some(&weights), ..Columns::default() };
            let examples = Examples::new(columns).unwrap();
            let values = rows.iter().flat_map(|r| [r.0, r.1]).collect();
            let features = Features::new(rows.len(), 2, values).unwrap().select(&examples.row);
            let in_order: Vec<f64> = examples.row.iter().map(|&row| targets[row as usize]).collect();
            let linear = Linear { width: 2, intercept: true, start: 0.0, groups: GroupUse::Blind };
            let found = direction(&Architecture::Linear(linear), &features, &examples, &in_order);

            let total: f64 = weights.iter().sum();
            let mean = |f: &dyn Fn(usize) -> f64| (0..rows.len()).map(|i| weights[i] * f(i)).sum::<f64>() / total;
            let x = |i: usize, j: usize| if j == 0 { rows[i].0 } else { rows[i].1 };
            let means = [0, 1].map(|j| mean(&|i| x(i, j)));
            let center = mean(&|i| targets[i]);
            let sum = |f: &dyn Fn(usize) -> f64| total * mean(f);
            let square = |a: usize, b: usize| sum(&|i| (x(i, a) - means[a]) * (x(i, b) - means[b]));
            let right = [0, 1].map(|a| sum(&|i| (x(i, a) - means[a]) * (targets[i] - center)));
            let (p, q, r) = (square(0, 0), square(0, 1), square(1, 1));
            let size = right[0] * right[0] + right[1] * right[1];
            prop_assume!(size > 1e-3);
            let along = right[0] * (p * right[0] + q * right[1]) + right[1] * (q * right[0] + r * right[1]);
            let ridge = RIDGE * along / size;
            let (p, r) = (p + ridge, r + ridge);
            let v = [(right[0] * r - q * right[1]) / (p * r - q * q), (p * right[1] - q * right[0]) / (p * r - q * q)];
            for j in 0..2 {
                prop_assert!((found[j] - v[j]).abs() < 1e-6 * (1.0 + v[j].abs()), "{found:?} {v:?}");
            }
            let scored = |i: usize| found[0] * x(i, 0) + found[1] * x(i, 1) + found[2];
            prop_assert!(mean(&scored).abs() < 1e-9);
        }
    }
}
