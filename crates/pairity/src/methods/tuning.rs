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
/// the one of the best objective. Where bounds leave room, offsets and the fine grid of logistic maps don't spend
/// it on noise: of settings whose objective is within one standard error of the best, the one of the smallest gap
/// is taken.
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
    /// The largest miss; negative where there is room left.
    pub miss: f64,
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

/// Parts of the examples over which the difference of two objectives varies, for its standard error.
const PARTS: usize = 10;

/// With fewer queries or rows in a part, its differences say nothing.
const UNITS: usize = 10;

/// Fairer settings whose objectives are compared with the best.
const FAIRER: usize = 16;

/// Judges scores of some examples.
pub(super) struct Rater<'a> {
    pub tuning: Tuning<'a>,
    index: RateIndex<'a>,
}

impl<'a> Rater<'a> {
    /// Refuses goals with rates that have no pairs; scores are in the order of the examples.
    pub(super) fn new(
        method: &'static str,
        tuning: &Tuning<'a>,
        scores: &[f64],
    ) -> Result<Rater<'a>, MethodError> {
        let Tuning { examples, problem, .. } = *tuning;
        let index = RateIndex::new(examples, &problem.rates, tuning.average).with_ties(tuning.ties);
        let rates = index.true_rates(&index.order(scores));
        if let Some((rate, _)) = problem.rates.iter().zip(&rates).find(|(_, value)| value.is_nan()) {
            return Err(MethodError::NoPairs {
                method,
                rate: rate.in_words(examples.groups()),
                part: "the examples",
            });
        }
        Ok(Rater { tuning: *tuning, index })
    }

    fn rates(&self, scores: &[f64]) -> Vec<f64> {
        self.index.true_rates(&self.index.order(scores))
    }

    /// How good scores are, in the order of the examples.
    pub(super) fn quality(&self, scores: &[f64]) -> Quality {
        let (rates, problem) = (self.rates(scores), self.tuning.problem);
        let Assessment { cost, violation, misses, .. } = problem.assess(&rates);
        let miss = misses.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let misses = problem.bound_misses(&rates).filter(|&miss| miss > TOLERANCE);
        Quality { violation, squares: misses.map(|miss| miss * miss).sum(), cost, miss }
    }

    /// An adjustment that leads to some scores, with its objective and violations.
    pub(super) fn result(&self, adjustment: Adjustment, scores: &[f64]) -> Adjusted {
        let problem = self.tuning.problem;
        let Assessment { cost, misses, met, .. } = problem.assess(&self.rates(scores));
        let objective = problem.stated_objective(cost);
        Adjusted { adjustment, objective, violations: misses, meets_goal: met }
    }

    /// Of some settings, whose qualities and best one are known and which lead to scores of all rows, the fairest
    /// whose objective is within one standard error of the best. The error is that of the difference of the two,
    /// from how it varies over parts of the examples; where there are too few for that, or the best misses its
    /// bounds, it is the best.
    pub(super) fn thrifty(
        &self,
        best: usize,
        qualities: &[Quality],
        scores: impl Fn(usize) -> Vec<f64>,
    ) -> usize {
        let (found, examples) = (qualities[best], self.tuning.examples);
        let room = |&at: &usize| qualities[at].is_feasible() && qualities[at].miss < found.miss - TOLERANCE;
        let mut fairer: Vec<usize> = (0..qualities.len()).filter(room).collect();
        if !found.is_feasible() || fairer.is_empty() || examples.units() < PARTS * UNITS {
            return best;
        }
        let Ok(parts) = examples.split(&[1.0 / PARTS as f64; PARTS], 0) else { return best };
        let parts: Vec<Examples> = parts.into_iter().flatten().collect();
        let objective = self.tuning.problem.unconstrained();
        let Tuning { average, ties, .. } = self.tuning;
        let index = |part| RateIndex::new(part, &objective.rates, average).with_ties(ties);
        let indices: Vec<RateIndex> = parts.iter().map(index).collect();
        let costs = |at: usize| -> Vec<f64> {
            let scores = scores(at);
            let cost = |(part, index): (&Examples, &RateIndex)| match part.arrange(&scores) {
                Ok(scores) => objective.cost(&index.true_rates(&index.order(&scores))),
                Err(_) => f64::NAN,
            };
            parts.iter().zip(&indices).map(cost).collect()
        };
        let own = costs(best);
        let within_noise = |&at: &usize| {
            let differences = costs(at).into_iter().zip(&own).map(|(cost, own)| cost - own);
            let differences: Vec<f64> = differences.filter(|difference| difference.is_finite()).collect();
            let n = differences.len() as f64;
            let mean = differences.iter().sum::<f64>() / n;
            let squares: f64 = differences.iter().map(|difference| (difference - mean).powi(2)).sum();
            qualities[at].cost - found.cost <= (squares / (n - 1.0) / n).sqrt()
        };
        fairer.sort_by(|&a, &b| qualities[a].miss.total_cmp(&qualities[b].miss));
        let step = fairer.len().div_ceil(FAIRER);
        fairer.into_iter().step_by(step).find(within_noise).unwrap_or(best)
    }
}

/// Judges adjustments of examples that have groups.
pub(super) struct Judge<'a> {
    pub examples: &'a Examples,
    pub names: &'a [String],
    /// The group of each example; the number of names for those of none.
    pub codes: &'a [u16],
    /// In the order of the examples.
    pub scores: Vec<f64>,
    /// Groups that have examples.
    pub present: Vec<usize>,
    pub rater: Rater<'a>,
}

impl<'a> Judge<'a> {
    /// Refuses examples without at least two groups, and goals with rates that have no pairs.
    pub(super) fn new(method: &'static str, tuning: &Tuning<'a>) -> Result<Judge<'a>, MethodError> {
        let examples = tuning.examples;
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
        let rater = Rater::new(method, tuning, &scores)?;
        Ok(Judge { examples, names, codes, scores, present, rater })
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

    /// The scores after a map by group and score.
    fn mapped(&self, map: impl Fn(usize, f64) -> f64) -> Vec<f64> {
        let pairs = self.codes.iter().zip(&self.scores);
        pairs.map(|(&code, &score)| map(usize::from(code), score)).collect()
    }

    /// How good the scores are after a map by group and score.
    pub(super) fn quality(&self, map: impl Fn(usize, f64) -> f64) -> Quality {
        self.rater.quality(&self.mapped(map))
    }

    /// [`Rater::thrifty`] of adjustments by group.
    pub(super) fn thrifty(
        &self,
        best: usize,
        qualities: &[Quality],
        adjustment: impl Fn(usize) -> Adjustment,
    ) -> usize {
        let codes = self.examples.codes_by_row();
        self.rater.thrifty(best, qualities, |at| {
            let (adjustment, rows) = (adjustment(at), codes.iter().zip(self.rater.tuning.scores));
            rows.map(|(&code, &score)| adjustment.value(usize::from(code), score)).collect()
        })
    }

    /// The adjustment with its objective and violations.
    pub(super) fn result(&self, adjustment: Adjustment) -> Adjusted {
        let scores = self.mapped(|group, score| adjustment.value(group, score));
        self.rater.result(adjustment, &scores)
    }
}
