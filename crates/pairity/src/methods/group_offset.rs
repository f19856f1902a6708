//! A shift of scores for each group: s + o_g, with o = 0 for the first group.
//!
//! A shift changes a rate only where it makes an example pass another one, so the shifts to look at are the
//! differences between scores of the group and scores of others in the same query, the middles between
//! these, and one beyond each end. With two groups they are one sorted list, in which a line search finds
//! the best; a list of up to 257 is searched in full. With more groups one after another is moved against
//! the rest, from several starts, until nothing improves: first to make the sum of squares of all misses
//! small, as the largest of several misses may not fall by moving one group alone, then for the goal itself.

use super::line_search::{Effort, line_search};
use super::tuning::{Adjusted, Judge, Quality, Tuning};
use super::{Adjuster, Method, MethodEntry, MethodError, Stage};
use crate::model::{Adjustment, GroupOffset};
use std::cmp::Ordering;

const METHOD: &str = "a group offset";

/// The most differences of scores that are listed; of more, an even part.
const DIFFERENCES: usize = 1 << 19;

/// The most rounds in which every group is moved once.
const ROUNDS: usize = 8;

/// Parts of the scores' distributions at which groups are aligned to start with.
const STARTS: [f64; 3] = [0.25, 0.5, 0.75];

const FINE: Effort = Effort { first: 257, best: 3, between: 7 };
const COARSE: Effort = Effort { first: 33, best: 2, between: 4 };

/// The method.
#[derive(Debug)]
pub struct GroupOffsets;

impl Method for GroupOffsets {
    fn entry(&self) -> MethodEntry {
        MethodEntry { name: "group-offset", stage: Stage::Scores, about: "A shift of each group's scores" }
    }

    fn adjuster(&self) -> Option<Adjuster> {
        Some(|tuning, _| adjust(tuning))
    }
}

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
/// use pairity::rates::Average;
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
/// let tuning =
///     Tuning { examples: &examples, scores: &[1.0, 3.0, 0.0, 2.0], problem: &problem, average: Average::Pairs };
/// let adjusted = group_offset::adjust(&tuning)?;
/// assert_eq!((adjusted.objective, adjusted.meets_goal), (1.0, true));
/// let Adjustment::Offsets { groups } = adjusted.adjustment else { unreachable!() };
/// assert_eq!((groups[0].offset, groups[1].offset), (0.0, -1.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn adjust(tuning: &Tuning) -> Result<Adjusted, MethodError> {
    let judge = Judge::new(METHOD, tuning)?;
    let search = OffsetSearch { judge: &judge };
    let start = search.at(vec![0.0; judge.names.len()]);
    let best = match judge.present[..] {
        [_, second] => search.moved(&start, second, FINE, Quality::order),
        _ => search.descend_from_all(start),
    };
    let offsets = judge.names.iter().zip(best.offsets);
    let groups = offsets.map(|(name, offset)| GroupOffset { name: name.clone(), offset }).collect();
    Ok(judge.result(Adjustment::Offsets { groups }))
}

/// Offsets and how good they are.
#[derive(Debug, Clone, PartialEq)]
struct Point {
    offsets: Vec<f64>,
    quality: Quality,
}

struct OffsetSearch<'a> {
    judge: &'a Judge<'a>,
}

type Order = fn(&Quality, &Quality) -> Ordering;

impl OffsetSearch<'_> {
    fn at(&self, offsets: Vec<f64>) -> Point {
        let quality = self.judge.quality(|group, score| shifted(score, offsets.get(group)));
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
            for &group in &self.judge.present {
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
        let first = self.judge.present[0];
        let by = |shift: f64| -> Vec<f64> {
            let mut offsets = point.offsets.clone();
            match group == first {
                true => self.judge.present[1..].iter().for_each(|&other| offsets[other] -= shift),
                false => offsets[group] += shift,
            }
            offsets.iter_mut().for_each(|offset| *offset = offset.clamp(f64::MIN, f64::MAX));
            offsets
        };
        let shifts = self.shifts(&point.offsets, group);
        let evaluate = |shift: f64| {
            let offsets = by(shift);
            self.judge.quality(|group, score| shifted(score, offsets.get(group)))
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
            let scores = self.judge.codes.iter().zip(&self.judge.scores);
            let mut own: Vec<f64> =
                scores.filter(|(code, _)| usize::from(**code) == group).map(|(_, &score)| score).collect();
            own.sort_unstable_by(f64::total_cmp);
            own.get((part * own.len() as f64) as usize).copied().unwrap_or(0.0)
        };
        let goal = at(self.judge.present[0]);
        let mut offsets = vec![0.0; self.judge.names.len()];
        for &group in &self.judge.present {
            offsets[group] = (goal - at(group)).clamp(f64::MIN, f64::MAX);
        }
        offsets
    }

    /// Every shift of a group that may change a rate, in order; with 0 and, where there are labels, the one
    /// with the least squared error.
    fn shifts(&self, offsets: &[f64], group: usize) -> Vec<f64> {
        let Judge { examples, codes, scores, .. } = self.judge;
        let value = |example: usize| shifted(scores[example], offsets.get(usize::from(codes[example])));
        let (mut own, mut others) = (Vec::new(), Vec::new());
        let parts = |query: usize, own: &mut Vec<f64>, others: &mut Vec<f64>| {
            own.clear();
            others.clear();
            for example in examples.query(query) {
                let side = if usize::from(codes[example]) == group { &mut *own } else { &mut *others };
                side.push(value(example));
            }
        };
        let mut pairs = 0.0;
        for query in 0..examples.queries() {
            parts(query, &mut own, &mut others);
            pairs += own.len() as f64 * others.len() as f64;
        }
        let keep = (DIFFERENCES as f64 / pairs).sqrt();
        let mut shifts = Vec::new();
        for query in 0..examples.queries() {
            parts(query, &mut own, &mut others);
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
        let Judge { examples, codes, scores, .. } = self.judge;
        let labels = examples.labels.as_ref()?;
        let (mut sum, mut weights) = (0.0, 0.0);
        for example in (0..scores.len()).filter(|&example| usize::from(codes[example]) == group) {
            let weight = examples.weights.as_ref().map_or(1.0, |weights| weights[example]);
            sum += weight * (labels[example] - shifted(scores[example], offsets.get(group)));
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
