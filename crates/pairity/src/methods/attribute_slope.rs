//! For a continuous protected attribute z: a multiple of it is subtracted from scores, s − kz.
//!
//! In units of the deviation of the scores over that of z, k is looked for from −4 to 4, ever finer around the
//! best.

use super::kallus_zhou::moments;
use super::tuning::{Adjusted, Quality, Rater, Tuning, first_best};
use super::{Method, MethodError, Stage};
use crate::model::{Adjustment, less_attribute};
use rayon::prelude::*;
use std::cmp::Ordering;

const METHOD: &str = "a function of the attribute";

/// Multiples looked at to each side of 0, and later to each side of the best.
const STEPS: [i32; 3] = [64, 8, 8];

/// The largest multiple, in units of the deviations.
const LARGEST: f64 = 4.0;

/// The method.
pub static ATTRIBUTE_SLOPE: Method = Method {
    given_only: Some(
        "it changes scores by the attribute of each row; a scorer that may use it learns that by itself",
    ),
    check: |tuning| start(tuning).map(drop),
    adjuster: Some(|tuning, _| adjust(tuning)),
    ..Method::new("attribute-slope", Stage::Scores, "A multiple of a continuous attribute is subtracted")
};

/// What the search starts from: the attribute and the scores in the order of the examples, and their judge.
pub(super) fn start<'a>(tuning: &Tuning<'a>) -> Result<(&'a [f64], Vec<f64>, Rater<'a>), MethodError> {
    let z = tuning.examples.continuous().ok_or_else(|| {
        let reason = "it needs a continuous protected attribute, and there is none";
        MethodError::does_not_apply(METHOD, reason)
    })?;
    let scores = tuning.examples.arrange(tuning.scores)?;
    let rater = Rater::new(METHOD, tuning, &scores)?;
    Ok((z, scores, rater))
}

/// Tunes the multiple.
///
/// # Errors
/// Examples without a continuous attribute, goals with rates that have no pairs, scores that are not finite.
///
/// ```
/// use pairity::examples::{Columns, Examples};
/// use pairity::goals::{Problem, Vocabulary, parse_constraint, parse_maximize};
/// use pairity::methods::{Tuning, attribute_slope};
/// use pairity::model::Adjustment;
///
/// let (labels, z) = ([1.0, 1.0, 0.0, 0.0], [0.0, 2.0, 2.0, 0.0]);
/// let examples =
///     Examples::new(Columns { labels: Some(&labels), protected: Some(&z), ..Columns::default() })?;
/// let words = Vocabulary { groups: Vec::new(), continuous: true };
/// let fair = parse_constraint("continuous <= 0.01", &words)?;
/// let problem = Problem::new(&parse_maximize("auc", &words)?, true, &[fair])?;
///
/// // Scores are too high by the attribute.
/// let scores = [1.0, 3.0, 2.0, 0.0];
/// let tuning = Tuning::new(&examples, &scores, &problem);
/// let adjusted = attribute_slope::adjust(&tuning)?;
/// assert_eq!((adjusted.objective, adjusted.meets_goal), (1.0, true));
/// let Adjustment::Attribute { slope } = adjusted.adjustment else { unreachable!() };
/// assert!(slope > 0.5 && slope < 1.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn adjust(tuning: &Tuning) -> Result<Adjusted, MethodError> {
    let (z, scores, rater) = start(tuning)?;
    let (slopes, qualities) = multiples(&rater, &scores, z, Quality::order);
    let by_row = tuning.examples.continuous_by_row();
    let best = first_best(&qualities);
    let best = rater.thrifty(best, &qualities, |at| less_attribute(tuning.scores, &by_row, slopes[at]));
    let slope = slopes[best];
    Ok(rater.result(Adjustment::Attribute { slope }, &less_attribute(&scores, z, slope)))
}

/// Multiples of a direction and how good the scores less each of them are; the first is 0. Rows where the
/// direction is missing keep their scores.
pub(super) fn multiples(
    rater: &Rater,
    scores: &[f64],
    direction: &[f64],
    order: fn(&Quality, &Quality) -> Ordering,
) -> (Vec<f64>, Vec<Quality>) {
    let known: Vec<f64> = direction.iter().copied().filter(|z| z.is_finite()).collect();
    let unit = (moments(scores).1 / moments(&known).1).clamp(f64::MIN_POSITIVE, f64::MAX / LARGEST);
    let (mut slopes, mut qualities) = (vec![0.0], vec![rater.quality(scores)]);
    let mut step = LARGEST * unit;
    for side in STEPS {
        // Between the best one so far and its neighbors; the first of equals is the nearest to 0.
        let best = (0..slopes.len()).min_by(|&a, &b| order(&qualities[a], &qualities[b])).unwrap_or(0);
        let best: f64 = slopes[best];
        step /= f64::from(side);
        let mut next: Vec<f64> = (-side..=side).map(|at| best + f64::from(at) * step).collect();
        next.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
        let quality = |&slope: &f64| rater.quality(&less_attribute(scores, direction, slope));
        qualities.par_extend(next.par_iter().map(quality).collect::<Vec<Quality>>());
        slopes.extend(next);
    }
    (slopes, qualities)
}
