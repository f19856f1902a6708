//! A shift of scores for each group: s + o_g, with o = 0 for the first group.
//!
//! A shift changes a rate only where it makes an example pass another one, so the shifts to look at are the
//! differences between scores of the group and scores of others in the same query, the middles between
//! these, and one beyond each end. With two groups they are one sorted list, in which a line search finds
//! the best; a list of up to 257 is searched in full. With more groups one after another is moved against
//! the rest, from several starts, until nothing improves: first to make the sum of squares of all misses
//! small, as the largest of several misses may not fall by moving one group alone, then for the goal itself.

use super::tuning::{Adjusted, Judge, Quality, Tuning};
use super::{Method, MethodError, Stage};
use crate::model::{Adjustment, GroupOffset};
use crate::threads;
use std::cmp::Ordering;
use std::collections::BTreeMap;

const METHOD: &str = "a group offset";

/// The most differences of scores that are listed; of more, an even part.
const DIFFERENCES: usize = 1 << 19;

/// The most rounds in which every group is moved once.
const ROUNDS: usize = 8;

/// Steps on the line through no shifts and the best ones, and how many of them lie on the other side.
const PARTS: usize = 48;
const BACK: usize = 16;

/// Parts of the scores' distributions at which groups are aligned to start with.
const STARTS: [f64; 3] = [0.25, 0.5, 0.75];

const FINE: Effort = Effort { first: 257, best: 3, between: 7 };
const COARSE: Effort = Effort { first: 33, best: 2, between: 4 };

/// The method.
pub static GROUP_OFFSET: Method = Method {
    check: |tuning| Judge::new(METHOD, tuning).map(drop),
    adjuster: Some(|tuning, _| adjust(tuning)),
    ..Method::new("group-offset", Stage::Scores, "A shift of each group's scores")
};

/// Tunes the shifts.
///
/// # Errors
/// Examples without two groups, goals with rates that have no pairs, scores that are not finite.
///
/// ```
/// use pairity::examples::{Columns, Examples, Groups};
/// use pairity::goals::{Vocabulary, parse_constraint, parse_maximize};
/// use pairity::methods::{Tuning, group_offset};
/// use pairity::model::Adjustment;
/// use pairity::goals::Problem;
///
/// let groups = Groups::from_names(&["a", "b", "a", "b"]);
/// let labels = [1.0, 1.0, 0.0, 0.0];
/// let examples =
///     Examples::new(Columns { labels: Some(&labels), groups: Some(&groups), ..Columns::default() })?;
/// let words = Vocabulary { groups: vec!["a".into(), "b".into()], continuous: false };
/// let fair = parse_constraint("cross_group <= 0.01", &words)?;
/// let problem = Problem::new(&parse_maximize("auc", &words)?, true, &[fair])?;
///
/// // Group b is scored 2 too high: any shift between −3 and −1 puts that right.
/// let tuning = Tuning::new(&examples, &[1.0, 3.0, 0.0, 2.0], &problem);
/// let adjusted = group_offset::adjust(&tuning)?;
/// assert_eq!((adjusted.objective, adjusted.meets_goal), (1.0, true));
/// let Adjustment::Offsets { groups } = adjusted.adjustment else { unreachable!() };
/// assert_eq!((groups[0].offset, groups[1].offset), (0.0, -1.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn adjust(tuning: &Tuning) -> Result<Adjusted, MethodError> {
    let judge = Judge::new(METHOD, tuning)?;
    let start = judge.at(vec![0.0; judge.names.len()]);
    let best = match judge.present[..] {
        [_, second] => judge.moved(&start, second, FINE, Quality::order),
        _ => judge.descend_from_all(start),
    };
    // Room that is left is not spent on noise: parts of the shifts, and of their opposites, may do as well.
    let adjustment = |step: usize| {
        let part = (step as f64 - BACK as f64) / (PARTS - BACK) as f64;
        let offsets = judge.names.iter().zip(&best.offsets);
        let offset =
            |(name, offset): (&String, &f64)| GroupOffset { name: name.clone(), offset: part * offset };
        Adjustment::Offsets { groups: offsets.map(offset).collect() }
    };
    let quality = |step: usize| {
        let adjustment = adjustment(step);
        judge.quality(|group, score| adjustment.value(group, score))
    };
    let step = match best.quality.is_feasible() && best.offsets.iter().any(|&offset| offset != 0.0) {
        true => {
            let steps: Vec<usize> = (0..=PARTS).collect();
            judge.thrifty(PARTS, &threads::map(&steps, &|&step| quality(step)), adjustment)
        }
        false => PARTS,
    };
    Ok(judge.result(adjustment(step)))
}

/// Offsets and how good they are.
#[derive(Debug, Clone, PartialEq)]
struct Point {
    offsets: Vec<f64>,
    quality: Quality,
}

type Order = fn(&Quality, &Quality) -> Ordering;

impl Judge<'_> {
    fn at(&self, offsets: Vec<f64>) -> Point {
        let quality = self.quality(|group, score| shifted(score, offsets.get(group)));
        Point { offsets, quality }
    }

    /// From each start, one group after another; the best end is gone on with for the goal itself.
    fn descend_from_all(&self, start: Point) -> Point {
        let mut best = start.clone();
        let starts = STARTS.iter().map(|&part| self.at(self.aligned(part)));
        for start in std::iter::once(start).chain(starts) {
            let end = self.descend(start, COARSE, Quality::order_by_squares);
            if end.quality.order(&best.quality).is_lt() {
                best = end;
            }
        }
        self.descend(best, FINE, Quality::order)
    }

    fn descend(&self, start: Point, effort: Effort, order: Order) -> Point {
        let mut point = start;
        for _ in 0..ROUNDS {
            let before = point.quality;
            for &group in &self.present {
                point = self.moved(&point, group, effort, order);
            }
            if order(&point.quality, &before).is_ge() {
                break;
            }
        }
        point
    }

    /// The point with one group moved to its best place. The first group moves by moving all others.
    fn moved(&self, point: &Point, group: usize, effort: Effort, order: Order) -> Point {
        let first = self.present[0];
        let by = |shift: f64| -> Vec<f64> {
            let mut offsets = point.offsets.clone();
            match group == first {
                true => self.present[1..].iter().for_each(|&other| offsets[other] -= shift),
                false => offsets[group] += shift,
            }
            offsets.iter_mut().for_each(|offset| *offset = offset.clamp(f64::MIN, f64::MAX));
            offsets
        };
        let shifts = self.shifts(&point.offsets, group);
        let evaluate = |shift: f64| {
            let offsets = by(shift);
            self.quality(|group, score| shifted(score, offsets.get(group)))
        };
        match line_search(&shifts, effort, order, &evaluate) {
            Some((shift, quality)) if order(&quality, &point.quality).is_lt() => {
                Point { offsets: by(shift), quality }
            }
            _ => point.clone(),
        }
    }

    /// Offsets that put the same part of each group below the same score.
    fn aligned(&self, part: f64) -> Vec<f64> {
        let at = |group: usize| {
            let mut own = self.own_scores(group);
            own.sort_unstable_by(f64::total_cmp);
            own.get((part * own.len() as f64) as usize).copied().unwrap_or(0.0)
        };
        let goal = at(self.present[0]);
        let mut offsets = vec![0.0; self.names.len()];
        for &group in &self.present {
            offsets[group] = (goal - at(group)).clamp(f64::MIN, f64::MAX);
        }
        offsets
    }

    /// Every shift of a group that may change a rate, in order; with 0 and, where there are labels, the one
    /// with the least squared error.
    fn shifts(&self, offsets: &[f64], group: usize) -> Vec<f64> {
        let code = |example: usize| usize::from(self.codes[example]);
        let value = |example: usize| shifted(self.scores[example], offsets.get(code(example)));
        // The scores of the group and of others, block by block.
        let sides = (0..self.examples.blocks()).map(|block| {
            let side = |own: bool| {
                let side = self.examples.block(block).filter(|&example| (code(example) == group) == own);
                side.map(value).collect::<Vec<f64>>()
            };
            (side(true), side(false))
        });
        let sides: Vec<(Vec<f64>, Vec<f64>)> = sides.collect();
        let pairs: f64 = sides.iter().map(|(own, others)| own.len() as f64 * others.len() as f64).sum();
        let keep = (DIFFERENCES as f64 / pairs).sqrt();
        let mut shifts = Vec::new();
        for (mut own, mut others) in sides {
            if keep < 1.0 {
                thin(&mut own, keep);
                thin(&mut others, keep);
            }
            shifts.extend(own.iter().flat_map(|own| others.iter().map(move |other| other - own)));
        }
        shifts.retain(|shift| shift.is_finite());
        shifts.sort_unstable_by(f64::total_cmp);
        shifts.dedup();
        let middles: Vec<f64> = shifts.windows(2).map(|pair| 0.5 * pair[0] + 0.5 * pair[1]).collect();
        if let (Some(&low), Some(&high)) = (shifts.first(), shifts.last()) {
            // Far enough to be beyond, whatever the size of the numbers.
            let step = (0.5 * high - 0.5 * low) / shifts.len() as f64;
            let step = if step > 0.0 { step } else { 1.0 };
            shifts.extend([low - step, high + step].into_iter().filter(|shift| shift.is_finite()));
        }
        shifts.extend(middles);
        shifts.push(0.0);
        shifts.extend(self.least_squares(offsets, group));
        shifts.sort_unstable_by(f64::total_cmp);
        shifts.dedup();
        shifts
    }

    /// The mean of label less score.
    fn least_squares(&self, offsets: &[f64], group: usize) -> Option<f64> {
        let labels = self.examples.labels.as_ref()?;
        let (mut sum, mut weights) = (0.0, 0.0);
        for example in self.of_group(group) {
            let weight = self.examples.weight(example);
            sum += weight * (labels[example] - shifted(self.scores[example], offsets.get(group)));
            weights += weight;
        }
        Some(sum / weights).filter(|mean| mean.is_finite())
    }
}

/// A score with its group's offset, if it has one.
fn shifted(score: f64, offset: Option<&f64>) -> f64 {
    (score + offset.unwrap_or(&0.0)).clamp(f64::MIN, f64::MAX)
}

/// Keeps a part of the values, evenly spread over their order; at least one.
fn thin(values: &mut Vec<f64>, keep: f64) {
    let n = values.len();
    let m = ((keep * n as f64) as usize).max(1);
    if m < n {
        values.sort_unstable_by(f64::total_cmp);
        *values = (0..m).map(|i| values[(2 * i + 1) * n / (2 * m)]).collect();
    }
}

/// How much is looked at.
#[derive(Debug, Clone, Copy)]
struct Effort {
    /// Offsets of the first round.
    first: usize,
    /// How many of the best are looked around.
    best: usize,
    /// Offsets between one of them and each neighbor, in a round.
    between: usize,
}

/// The best offset of a sorted list, most of which is never looked at; of equals, the one that is nearest
/// to 0.
///
/// First some that are evenly spread over the list; then, again and again, more between the best ones and
/// their neighbors, until the best ones have been compared with the offsets next to them in the list. A
/// list no longer than the first round is looked at in full.
fn line_search(
    offsets: &[f64],
    effort: Effort,
    order: Order,
    evaluate: &(dyn Fn(f64) -> Quality + Sync),
) -> Option<(f64, Quality)> {
    let rank = |a: &(usize, Quality), b: &(usize, Quality)| {
        let size = |at: usize| offsets[at].abs();
        order(&a.1, &b.1).then(size(a.0).total_cmp(&size(b.0))).then(a.0.cmp(&b.0))
    };
    let last = offsets.len().checked_sub(1)?;
    let mut known: BTreeMap<usize, Quality> = BTreeMap::new();
    let steps = effort.first.max(2) - 1;
    let mut next: Vec<usize> = match last < effort.first {
        true => (0..=last).collect(),
        false => (0..=steps).map(|step| spread(0, last, step, steps)).collect(),
    };
    loop {
        next.sort_unstable();
        next.dedup();
        next.retain(|at| !known.contains_key(at));
        if next.is_empty() {
            break;
        }
        let found: Vec<Quality> = threads::map(&next, &|&at| evaluate(offsets[at]));
        known.extend(next.drain(..).zip(found));
        let mut ranked: Vec<(usize, Quality)> = known.iter().map(|(&at, &quality)| (at, quality)).collect();
        ranked.sort_by(rank);
        for &(at, _) in ranked.iter().take(effort.best) {
            let below = known.range(..at).next_back().map_or(at, |(&below, _)| below);
            let above = known.range(at + 1..).next().map_or(at, |(&above, _)| above);
            let parts = effort.between + 1;
            for step in 1..parts {
                next.push(spread(below, at, step, parts));
                next.push(spread(at, above, step, parts));
            }
        }
    }
    known.into_iter().min_by(rank).map(|(at, quality)| (offsets[at], quality))
}

/// The index at `step` of `steps` equal parts between two indices.
fn spread(low: usize, high: usize, step: usize, steps: usize) -> usize {
    low + (high - low) * step / steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quality(cost: f64) -> Quality {
        Quality { violation: 0.0, squares: 0.0, cost, miss: 0.0 }
    }

    const EFFORT: Effort = Effort { first: 17, best: 2, between: 3 };

    #[test]
    fn an_empty_list_has_no_best() {
        assert_eq!(line_search(&[], EFFORT, Quality::order, &quality), None);
    }

    #[test]
    fn of_equals_the_smallest_change_wins() {
        let found = line_search(&[-3.0, -1.0, 2.0, 5.0], EFFORT, Quality::order, &|_| quality(1.0));
        assert_eq!(found, Some((-1.0, quality(1.0))));
    }

    proptest! {
        #[test]
        fn one_valley_is_found_however_long_the_list(n in 1usize..5000, at in 0.0..1.0f64) {
            let offsets: Vec<f64> = (0..n).map(|i| i as f64).collect();
            let goal = (at * (n - 1) as f64).round();
            let calls = std::sync::atomic::AtomicUsize::new(0);
            let evaluate = |offset: f64| {
                calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                quality((offset - goal).abs())
            };
            let found = line_search(&offsets, EFFORT, Quality::order, &evaluate);
            prop_assert_eq!(found, Some((goal, quality(0.0))));
            prop_assert!(calls.into_inner() <= 17 + 10 * 16);
        }

        #[test]
        fn short_lists_are_searched_in_full(costs in prop::collection::vec(0u8..20, 1..17)) {
            let offsets: Vec<f64> = (0..costs.len()).map(|i| i as f64).collect();
            let found = line_search(&offsets, EFFORT, Quality::order, &|offset| quality(f64::from(costs[offset as usize])));
            let least = f64::from(*costs.iter().min().unwrap());
            prop_assert_eq!(found.unwrap().1, quality(least));
        }
    }
}
