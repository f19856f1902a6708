//! Statistical parity by the Wasserstein barycenter of the groups' scores.
//!
//! With F_g the distribution function of the scores of group g, Q_g its inverse and p_g the group's share of
//! all examples that have one,
//!
//! ```text
//! s → (1 − t) s + t Q(F_g(s)),    Q = Σ_g p_g Q_g
//! ```
//!
//! At strength t = 1 all groups have the same distribution of scores, and of all maps with that property
//! this one moves scores least (in mean square). F_g is linear between the scores seen, each in the middle
//! of its own share; a group keeps at most 1,000 knots.

use super::tuning::{Adjusted, Judge, Tuning};
use super::{Method, MethodError, Stage};
use crate::examples::sort_by_value;
use crate::model::Curve;

const METHOD: &str = "matching quantiles";

/// The most knots of a curve.
const KNOTS: usize = 1_000;

/// Strengths looked at first are multiples of 1/64.
const STEPS: usize = 64;

/// The method.
pub static QUANTILE_MATCH: Method = Method {
    check: |tuning| Judge::new(METHOD, tuning).map(drop),
    adjuster: Some(|tuning, options| adjust(tuning, options.strength)),
    ..Method::new("quantile-match", Stage::Scores, "One distribution of scores for all groups")
};

/// Tunes the map; without a strength, the smallest that meets the constraints on the examples, or else the one that misses
/// them least.
///
/// # Errors
/// Examples without two groups, goals with rates that have no pairs, scores that are not finite, a
/// strength out of its range.
///
/// ```
/// use pairity::examples::{Columns, Examples, Groups};
/// use pairity::goals::{Vocabulary, parse_constraint, parse_maximize};
/// use pairity::methods::{Tuning, quantile_match};
/// use pairity::goals::Problem;
///
/// let groups = Groups::from_names(&["a", "b", "a", "b"]);
/// let labels = [1.0, 1.0, 0.0, 0.0];
/// let examples =
///     Examples::new(Columns { labels: Some(&labels), groups: Some(&groups), ..Columns::default() })?;
/// let words = Vocabulary { groups: vec!["a".into(), "b".into()], continuous: false };
/// let fair = parse_constraint("statistical_parity <= 0.01", &words)?;
/// let problem = Problem::new(&parse_maximize("auc", &words)?, true, &[fair])?;
///
/// let scores = [1.0, 3.0, 0.0, 2.0];
/// let tuning = Tuning::new(&examples, &scores, &problem);
/// let adjusted = quantile_match::adjust(&tuning, Some(1.0))?;
/// assert_eq!(adjusted.adjustment.apply(&scores, Some(&groups))?.scores, [2.0, 2.0, 1.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn adjust(tuning: &Tuning, strength: Option<f64>) -> Result<Adjusted, MethodError> {
    if let Some(found) = strength
        && !(0.0..=1.0).contains(&found)
    {
        return Err(MethodError::Setting { name: "the strength", found, allowed: "between 0 and 1" });
    }
    let judge = Judge::new(METHOD, tuning)?;
    let full = barycenter(&judge);
    let adjustment = |strength: f64| {
        judge.curves(|group| {
            // Nothing changes at strength 0, not even by rounding.
            if strength == 0.0 {
                return Curve::default();
            }
            let Curve { x, y } = &full[group];
            let between = |(x, y): (&f64, &f64)| (1.0 - strength) * x + strength * y;
            Curve { x: x.clone(), y: x.iter().zip(y).map(between).collect() }
        })
    };
    let strengths: Vec<f64> = (0..=STEPS).map(|step| step as f64 / STEPS as f64).collect();
    Ok(judge.result(adjustment(strength.unwrap_or_else(|| judge.smallest(&strengths, adjustment)))))
}

/// The map of each group to the barycenter; groups without examples keep their scores.
fn barycenter(judge: &Judge) -> Vec<Curve> {
    let levels: Vec<Levels> = (0..judge.names.len()).map(|group| Levels::of(judge, group)).collect();
    let total: f64 = levels.iter().map(|levels| levels.weight).sum();
    let mean = |&part: &f64| {
        let present = levels.iter().filter(|levels| levels.weight > 0.0);
        present.map(|levels| levels.weight / total * levels.quantile(part)).sum::<f64>()
    };
    // The quantiles do not fall, but their sums are rounded.
    let curve = |levels: &Levels| Curve::rising(levels.score.clone(), levels.part.iter().map(mean).collect());
    levels.iter().map(curve).collect()
}

/// Scores of a group and the part of its weight below each, half of its own included.
#[derive(Debug, Default)]
struct Levels {
    score: Vec<f64>,
    part: Vec<f64>,
    weight: f64,
}

impl Levels {
    fn of(judge: &Judge, group: usize) -> Levels {
        let (own, scores) = (judge.of_group(group).collect::<Vec<usize>>(), judge.own_scores(group));
        let mut levels = Levels::default();
        for run in sort_by_value(&scores).chunk_by(|a, b| a.0 == b.0) {
            let share: f64 = run.iter().map(|&(_, at)| judge.examples.weight(own[at as usize])).sum();
            levels.score.push(scores[run[0].1 as usize]);
            levels.part.push(levels.weight + 0.5 * share);
            levels.weight += share;
        }
        levels.part.iter_mut().for_each(|part| *part /= levels.weight);
        levels.thin();
        levels
    }

    /// Keeps knots at even parts of the weight, with both ends.
    fn thin(&mut self) {
        let n = self.score.len();
        if n <= KNOTS {
            return;
        }
        let nearest = |step: usize| {
            let part = step as f64 / (KNOTS - 1) as f64;
            self.part.partition_point(|&own| own < part).min(n - 1)
        };
        let mut kept: Vec<usize> = (1..KNOTS - 1).map(nearest).chain([0, n - 1]).collect();
        kept.sort_unstable();
        kept.dedup();
        self.score = kept.iter().map(|&at| self.score[at]).collect();
        self.part = kept.iter().map(|&at| self.part[at]).collect();
    }

    /// Q, constant beyond the first and the last score.
    fn quantile(&self, part: f64) -> f64 {
        let at = self.part.partition_point(|&own| own < part);
        match (at.checked_sub(1).map(|below| (self.part[below], self.score[below])), self.part.get(at)) {
            (Some((low, score)), Some(&high)) => {
                let share = (part - low) / (high - low);
                2.0 * (0.5 * score + share * (0.5 * self.score[at] - 0.5 * score))
            }
            (None, Some(_)) => self.score[0],
            (Some((_, score)), None) => score,
            (None, None) => 0.0,
        }
    }
}
