//! The best of a long list of offsets, most of which are never looked at.
//!
//! First some that are evenly spread over the list; then, again and again, more between the best ones and
//! their neighbors, until the best ones have been compared with the offsets next to them in the list. A
//! list no longer than the first round is looked at in full.

use super::tuning::Quality;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// How much is looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    /// Offsets of the first round.
    pub first: usize,
    /// How many of the best are looked around.
    pub best: usize,
    /// Offsets between one of them and each neighbor, in a round.
    pub between: usize,
}

/// The best offset of a sorted list; of equals, the one that is nearest to 0.
pub(super) fn line_search(
    offsets: &[f64],
    effort: Effort,
    order: fn(&Quality, &Quality) -> Ordering,
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
        let found: Vec<Quality> = next.par_iter().map(|&at| evaluate(offsets[at])).collect();
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
        Quality { violation: 0.0, squares: 0.0, cost }
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
