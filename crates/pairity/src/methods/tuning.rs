//! Scored examples that adjustments are tuned on, and how good an adjustment is there.

use super::MethodError;
use crate::examples::Examples;
use crate::goals::{Assessment, Problem, TOLERANCE};
use crate::model::{Adjustment, Curve, GroupCurve};
use crate::pairs::RateIndex;
use crate::rates::{Average, Ties};
use rayon::prelude::*;
use std::cmp::Ordering;

/// What an adjustment is tuned on, and what for.
///
/// A candidate that misses its constraints by less wins; among those that miss none, or by equally much,
/// the one of the best objective.
#[derive(Debug, Clone, Copy)]
pub struct Tuning<'a> {
    /// The examples, of the validation part as a rule.
    pub examples: &'a Examples,
    /// Their scores before the adjustment, in the order of the rows.
    pub scores: &'a [f64],
    /// The goal.
    pub problem: &'a Problem,
    /// How rates of queries become one.
    pub average: Average,
    /// What equal scores earn.
    pub ties: Ties,
}

impl<'a> Tuning<'a> {
    /// With all pairs counting alike, and equal scores half.
    pub fn new(examples: &'a Examples, scores: &'a [f64], problem: &'a Problem) -> Tuning<'a> {
        Tuning { examples, scores, problem, average: Average::Pairs, ties: Ties::Half }
    }
}

/// An adjustment and how well it does on the examples it was tuned on.
#[derive(Debug, Clone, PartialEq)]
pub struct Adjusted {
    /// The map of scores.
    pub adjustment: Adjustment,
    /// The stated objective.
    pub objective: f64,
    /// By how much each constraint is missed; 0 or less where it is met.
    pub violations: Vec<f64>,
    /// Whether every constraint is met on the examples it was tuned on.
    pub meets_goal: bool,
}

/// How good some scores are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Quality {
    /// The largest miss of a bound; 0 if none is missed.
    pub violation: f64,
    /// The sum of squares of all misses: it falls wherever one of several misses does.
    pub squares: f64,
    /// The value to be minimized.
    pub cost: f64,
}

impl Quality {
    /// Less violation first, then less cost.
    pub(super) fn order(&self, other: &Quality) -> Ordering {
        self.violation.total_cmp(&other.violation).then(self.cost.total_cmp(&other.cost))
    }

    /// The same by the sum of squares.
    pub(super) fn order_by_squares(&self, other: &Quality) -> Ordering {
        self.squares.total_cmp(&other.squares).then(self.cost.total_cmp(&other.cost))
    }

    pub(super) fn is_feasible(&self) -> bool {
        self.violation == 0.0
    }
}

/// The first of the best.
pub(super) fn first_best(qualities: &[Quality]) -> usize {
    (0..qualities.len()).min_by(|&a, &b| qualities[a].order(&qualities[b])).unwrap_or(0)
}

/// Settings that are looked at together, before it is asked whether one of them will do.
const TOGETHER: usize = 8;

/// How often the step before the first setting that will do is halved.
const HALVINGS: usize = 10;

/// Judges adjustments of examples that have groups.
pub(super) struct Judge<'a> {
    pub examples: &'a Examples,
    pub problem: &'a Problem,
    pub names: &'a [String],
    /// The group of each example; the number of names for those of none.
    pub codes: &'a [u16],
    /// In the order of the examples.
    pub scores: Vec<f64>,
    /// Groups that have examples.
    pub present: Vec<usize>,
    index: RateIndex<'a>,
}

impl<'a> Judge<'a> {
    /// Refuses examples without at least two groups, and goals with rates that have no pairs.
    pub(super) fn new(method: &'static str, tuning: &Tuning<'a>) -> Result<Judge<'a>, MethodError> {
        let Tuning { examples, problem, .. } = *tuning;
        let refuse = |reason: &str| MethodError::does_not_apply(method, reason);
        let groups = examples.coded_groups();
        let (names, codes) = groups.map_err(|found| refuse(&format!("it adjusts groups, and {found}")))?;
        let scores = examples.arrange(tuning.scores)?;
        let mut counts = vec![0usize; names.len() + 1];
        codes.iter().for_each(|&code| counts[usize::from(code)] += 1);
        let present: Vec<usize> = (0..names.len()).filter(|&group| counts[group] > 0).collect();
        if present.len() < 2 {
            return Err(refuse("it needs examples of two groups or more"));
        }
        let index = RateIndex::new(examples, &problem.rates, tuning.average).with_ties(tuning.ties);
        let rates = index.true_rates(&index.order(&scores));
        if let Some((rate, _)) = problem.rates.iter().zip(&rates).find(|(_, value)| value.is_nan()) {
            return Err(MethodError::NoPairs { method, rate: rate.name(names), part: "the examples" });
        }
        Ok(Judge { examples, problem, names, codes, scores, present, index })
    }

    /// The examples of a group.
    pub(super) fn of_group(&self, group: usize) -> impl Iterator<Item = usize> + use<'_> {
        (0..self.codes.len()).filter(move |&example| usize::from(self.codes[example]) == group)
    }

    /// The scores of a group, in the order of its examples.
    pub(super) fn own_scores(&self, group: usize) -> Vec<f64> {
        self.of_group(group).map(|example| self.scores[example]).collect()
    }

    /// A curve for each group.
    pub(super) fn curves(&self, curve: impl Fn(usize) -> Curve) -> Adjustment {
        let named = |(group, name): (usize, &String)| GroupCurve { name: name.clone(), curve: curve(group) };
        Adjustment::Curves { groups: self.names.iter().enumerate().map(named).collect() }
    }

    /// The smallest of some rising settings that meets the constraints, by halving the step before the first that
    /// does; or the one that misses them least.
    pub(super) fn smallest(&self, settings: &[f64], adjustment: impl Fn(f64) -> Adjustment + Sync) -> f64 {
        let quality = |&setting: &f64| {
            let adjustment = adjustment(setting);
            self.quality(|group, score| adjustment.value(group, score))
        };
        let mut found: Vec<Quality> = Vec::new();
        for some in settings.chunks(TOGETHER) {
            found.par_extend(some.par_iter().map(quality));
            let Some(first) = found.iter().position(Quality::is_feasible) else { continue };
            let Some(before) = first.checked_sub(1) else { return settings[first] };
            let (mut low, mut high) = (settings[before], settings[first]);
            for _ in 0..HALVINGS {
                let middle = 0.5 * (low + high);
                match quality(&middle).is_feasible() {
                    true => high = middle,
                    false => low = middle,
                }
            }
            return high;
        }
        settings[first_best(&found)]
    }

    /// How good the scores are after a map by group and score.
    pub(super) fn quality(&self, map: impl Fn(usize, f64) -> f64) -> Quality {
        let rates = self.rates(map);
        let Assessment { cost, violation, .. } = self.problem.assess(&rates);
        let misses = self.problem.bound_misses(&rates).filter(|&miss| miss > TOLERANCE);
        Quality { violation, squares: misses.map(|miss| miss * miss).sum(), cost }
    }

    /// The adjustment with its objective and violations.
    pub(super) fn result(&self, adjustment: Adjustment) -> Adjusted {
        let rates = self.rates(|group, score| adjustment.value(group, score));
        let Assessment { cost, misses, met, .. } = self.problem.assess(&rates);
        let objective = self.problem.stated_objective(cost);
        Adjusted { adjustment, objective, violations: misses, meets_goal: met }
    }

    /// The rates of the problem after a map by group and score.
    fn rates(&self, map: impl Fn(usize, f64) -> f64) -> Vec<f64> {
        let pairs = self.codes.iter().zip(&self.scores);
        let scores: Vec<f64> = pairs.map(|(&code, &score)| map(usize::from(code), score)).collect();
        self.index.true_rates(&self.index.order(&scores))
    }
}
