//! For a continuous protected attribute z: a monotone function of it is subtracted from scores, s − g(z).
//!
//! g is piecewise linear, with knots at quantiles of z, and constant beyond the first and the last. The search starts from
//! the best straight line ([`attribute_slope`](super::attribute_slope)), and changes the rise from one knot to the next,
//! one at a time and by ever smaller steps, never below 0, or above it where the line falls: on the examples that it is
//! tuned on it is never worse than the line.

use super::attribute_slope::{multiples, start};
use super::kallus_zhou::moments;
use super::tuning::{Adjusted, Quality, Tuning, first_best};
use super::{Method, MethodError, Stage};
use crate::model::{Adjustment, Knots};
use rayon::prelude::*;

/// Stretches between knots.
const STRETCHES: usize = 8;

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
    let sign = if slope < 0.0 { -1.0 } else { 1.0 };
    // The value at the first knot, and what is added from each to the next, times the sign.
    let knots = |steps: &[f64]| Knots::of_steps(&x, steps.iter().map(|step| sign * step));
    let quality = |steps: &Vec<f64>| rater.quality(&knots(steps).less(&scores, z));
    let rises = x.windows(2).map(|ends| ends[1] - ends[0]);
    let line: Vec<f64> = x.first().copied().into_iter().chain(rises).map(|x| slope.abs() * x).collect();
    // Nothing at all, the line, and then what is found on the way.
    let mut found: Vec<Vec<f64>> = vec![vec![0.0; line.len()], line.clone()];
    let mut qualities: Vec<Quality> = found.iter().map(quality).collect();
    let mut best = first_best(&qualities);
    let spread = moments(&scores).1;
    for step in STEPS {
        for _ in 0..ROUNDS {
            let before = best;
            for at in 1..line.len() {
                let changed = |rise: f64| {
                    let mut steps = found[best].clone();
                    steps[at] = rise;
                    steps
                };
                let own = found[best][at];
                let others = [own + step * spread, own - step * spread, 0.0];
                let others = others.into_iter().filter(|rise| *rise >= 0.0 && *rise != own);
                let tried: Vec<Vec<f64>> = others.map(changed).collect();
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

/// The least and the largest number, and quantiles between them, each once.
fn quantiles(z: &[f64]) -> Vec<f64> {
    let mut known: Vec<f64> = z.iter().copied().filter(|z| z.is_finite()).collect();
    known.sort_by(f64::total_cmp);
    let Some(last) = known.len().checked_sub(1) else { return Vec::new() };
    let mut knots: Vec<f64> = (0..=STRETCHES).map(|at| known[at * last / STRETCHES]).collect();
    knots.dedup();
    knots
}
