//! For a continuous protected attribute z: a monotone function of it is subtracted from scores, s − g(z).
//!
//! g is piecewise linear, with knots at quantiles of z, and constant beyond the first and the last. The search starts from
//! the best straight line ([`attribute_slope`](super::attribute_slope)) and from what scores at a knot are too high by for
//! their labels. It changes rises from one knot to the next, or moves a part of one to another, by ever smaller steps: on
//! the examples that it is tuned on it is never worse than the line.

use super::attribute_slope::{multiples, start};
use super::kallus_zhou::moments;
use super::tuning::{Adjusted, Quality, Tuning, first_best};
use super::{Method, MethodError, Stage};
use crate::examples::Examples;
use crate::model::{Adjustment, Knots};
use rayon::prelude::*;

/// Stretches between knots.
const STRETCHES: usize = 8;

/// Shares of what scores are too high by, as starts.
const SHARES: [f64; 5] = [0.25, 0.5, 0.75, 1.0, 1.25];

/// Steps of a rise, in deviations of the scores, and how often all rises are gone over with each.
const STEPS: [f64; 5] = [1.0, 0.4, 0.15, 0.06, 0.02];
const ROUNDS: usize = 2;

/// The method.
pub static ATTRIBUTE_CURVE: Method = Method {
    given_only: Some(
        "it changes scores by the attribute of each row; a scorer that may use it learns that by itself",
    ),
    check: |tuning| start(tuning).map(drop),
    adjuster: Some(|tuning, _| adjust(tuning)),
    ..Method::new(
        "attribute-curve",
        Stage::Scores,
        "A monotone function of a continuous attribute is subtracted",
    )
};

/// Tunes the curve.
///
/// # Errors
/// Examples without a continuous attribute, goals with rates that have no pairs, scores that are not finite.
pub fn adjust(tuning: &Tuning) -> Result<Adjusted, MethodError> {
    let (z, scores, rater) = start(tuning)?;
    let x = quantiles(z);
    let (slopes, qualities) = multiples(&rater, &scores, z, Quality::order);
    let slope = slopes[first_best(&qualities)];
    let knots = |steps: &[f64]| Knots::of_steps(&x, steps.iter().copied());
    let quality = |steps: &Vec<f64>| rater.quality(&knots(steps).less(&scores, z));
    let rises = x.windows(2).map(|ends| ends[1] - ends[0]);
    let line: Vec<f64> = x.first().copied().into_iter().chain(rises).map(|x| slope * x).collect();
    // Nothing at all, the line, shares of what scores are too high by, and then what is found on the way.
    let bias = bias(tuning.examples, &scores, z, &x);
    let share = |share: f64| bias.iter().map(|step| share * step).collect::<Vec<f64>>();
    let mut found: Vec<Vec<f64>> =
        [vec![0.0; line.len()], line].into_iter().chain(SHARES.map(share)).collect();
    let mut qualities: Vec<Quality> = found.iter().map(quality).collect();
    let mut best = first_best(&qualities);
    let spread = moments(&scores).1;
    for step in STEPS {
        for _ in 0..ROUNDS {
            let before = best;
            for at in 1..x.len() {
                let tried = moves(&found[best], at, step * spread);
                qualities.extend(tried.par_iter().map(quality).collect::<Vec<Quality>>());
                found.extend(tried);
                best = first_best(&qualities);
            }
            if best == before {
                break;
            }
        }
    }
    let by_row = tuning.examples.continuous_by_row();
    let best = rater.thrifty(best, &qualities, |at| knots(&found[at]).less(tuning.scores, &by_row));
    let knots = knots(&found[best]);
    let less = knots.less(&scores, z);
    Ok(rater.result(Adjustment::AttributeCurve { knots }, &less))
}

/// Monotone curves that rise otherwise to a knot: by more, by less, not at all, or by what another stretch gives.
fn moves(steps: &[f64], at: usize, size: f64) -> Vec<Vec<f64>> {
    let changed = |changes: &[(usize, f64)]| {
        let mut steps = steps.to_vec();
        changes.iter().for_each(|&(at, by)| steps[at] += by);
        steps
    };
    let mut all = vec![changed(&[(at, size)]), changed(&[(at, -size)]), changed(&[(at, -steps[at])])];
    for other in (1..steps.len()).filter(|&other| other != at) {
        let given = steps[other].clamp(-size, size);
        all.push(changed(&[(other, -given), (at, given)]));
    }
    let monotone = |steps: &Vec<f64>| {
        let rises = &steps[1..];
        rises.iter().all(|rise| *rise >= 0.0) || rises.iter().all(|rise| *rise <= 0.0)
    };
    all.retain(|own| monotone(own) && own != steps);
    all
}

/// What scores are too high by at each knot for what labels tell of them, made monotone: the value at the first, and what
/// is added from each to the next.
fn bias(examples: &Examples, scores: &[f64], z: &[f64], x: &[f64]) -> Vec<f64> {
    let ((mean, _), n) = (moments(scores), scores.len() as f64);
    let told: Vec<f64> = match &examples.labels {
        None => vec![mean; scores.len()],
        Some(labels) => {
            let (label, deviation) = moments(labels);
            let product: f64 = scores.iter().zip(labels).map(|(s, y)| (s - mean) * (y - label)).sum();
            let slope = if deviation > 0.0 { product / n / (deviation * deviation) } else { 0.0 };
            labels.iter().map(|y| mean + slope * (y - label)).collect()
        }
    };
    let (mut sums, mut counts) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    for ((score, told), z) in scores.iter().zip(told).zip(z).filter(|(_, z)| z.is_finite()) {
        // The nearer of the two knots around it.
        let above = x.partition_point(|x| x < z).min(x.len() - 1);
        let nearer = above > 0 && z - x[above - 1] < x[above] - z;
        let at = above - usize::from(nearer);
        sums[at] += score - told;
        counts[at] += 1.0;
    }
    let mut values: Vec<f64> =
        sums.iter().zip(&counts).map(|(sum, count)| sum / f64::max(*count, 1.0)).collect();
    let sign = if values.last() < values.first() { -1.0 } else { 1.0 };
    let mut highest = f64::NEG_INFINITY;
    for value in &mut values {
        highest = highest.max(sign * *value);
        *value = sign * highest;
    }
    let first = values.first().copied();
    first.into_iter().chain(values.windows(2).map(|ends| ends[1] - ends[0])).collect()
}

/// The least and the largest number, and quantiles between them, each once.
fn quantiles(z: &[f64]) -> Vec<f64> {
    let mut known: Vec<f64> = z.iter().copied().filter(|z| z.is_finite()).collect();
    known.sort_by(f64::total_cmp);
    let Some(last) = known.len().checked_sub(1) else { return Vec::new() };
    let mut knots: Vec<f64> = (0..=STRETCHES).map(|at| known[at * last / STRETCHES]).collect();
    knots.dedup();
    knots
}
