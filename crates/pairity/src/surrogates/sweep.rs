//! Slopes of the label-ordered pairs of one large query, O(K n log n).
//!
//! As in counting, examples in score order are split in two at a label, again and again: each pair of
//! unequal labels is parted once, and all pairs parted by one split are merged together. Places are in
//! label order, so halves are ranges of places, and threads write to disjoint parts of the gradient.

use super::columns::Query;
use super::every_pair::{Block, every_pair};
use super::kind::Slope;
use super::merge::{Element, Part, partition, settle};
use super::pairing::Pairing;
use super::table::Table;
use crate::examples::sort_by_value;
use rayon::join;
use std::marker::PhantomData;

/// Nodes above this size hand their halves to two threads.
pub(super) const FORK: usize = 1 << 14;

/// Nodes up to this size compare every pair.
pub(super) const LEAF: usize = 32;

/// The elements of a query by ascending score, at equal scores by place.
pub(super) fn in_score_order(scores: &[f64], lane: impl Fn(usize) -> u32) -> Vec<Element> {
    let element = |(_, place): (u64, u32)| {
        let at = place as usize;
        Element { score: scores[at], place, lane: lane(at), slope: 0.0 }
    };
    sort_by_value(scores).into_iter().map(element).collect()
}

/// Where to split a range of places that starts at `base`: at the change of label next to its middle.
pub(super) fn boundary(run: &[u32], base: usize) -> Option<usize> {
    let middle = run.len() / 2;
    let label = *run.get(middle)?;
    let start = label as usize - base;
    let end = middle + run[middle..].partition_point(|&other| other == label);
    match (start > 0, end < run.len()) {
        (true, true) => Some(if middle - start <= end - middle { start } else { end }),
        (true, false) => Some(start),
        (false, true) => Some(end),
        (false, false) => None,
    }
}

struct Sweep<'a, S, P> {
    query: &'a Query<'a>,
    scores: &'a [f64],
    masses: &'a [P],
    table: &'a Table,
    margin: f64,
    parts: Vec<Part>,
    kind: PhantomData<S>,
}

/// Adds the slopes of all label-ordered pairs, with scores and gradient in label order; returns the
/// offset.
pub(super) fn sweep<S: Slope, P: Pairing>(
    query: &Query,
    scores: &[f64],
    masses: &[P],
    table: &Table,
    margin: f64,
    gradient: &mut [f64],
) -> f64 {
    let parts = Part::both::<S, P>(table, query.present.len(), margin);
    let mut elements = in_score_order(scores, |place| query.lane[place].into());
    let mut scratch = vec![Element::default(); elements.len()];
    let sweep = Sweep::<S, P> { query, scores, masses, table, margin, parts, kind: PhantomData };
    sweep.split(&mut elements, &mut scratch, 0, gradient)
}

/// Adds the slopes of all pairs, whatever their labels.
pub(super) fn unordered<S: Slope, P: Pairing>(
    query: &Query,
    scores: &[f64],
    masses: &[P],
    table: &Table,
    margin: f64,
    gradient: &mut [f64],
) -> f64 {
    let mut worse = in_score_order(scores, |place| query.lane[place].into());
    let mut better = worse.clone();
    let offset = Part::both::<S, P>(table, query.present.len(), margin)
        .iter()
        .map(|part| part.merge::<S, P>(&mut worse, &mut better, |lane| lane as usize, masses))
        .sum();
    settle(&worse, 0, gradient);
    settle(&better, 0, gradient);
    offset
}

impl<S: Slope, P: Pairing> Sweep<'_, S, P> {
    /// The pairs inside a range of places that starts at `base`.
    fn split(
        &self,
        elements: &mut [Element],
        scratch: &mut [Element],
        base: usize,
        gradient: &mut [f64],
    ) -> f64 {
        let n = elements.len();
        if n <= LEAF {
            settle(elements, base, gradient);
            return self.leaf(base, gradient);
        }
        let Some(middle) = boundary(&self.query.run[base..base + n], base) else {
            settle(elements, base, gradient);
            return 0.0;
        };
        partition(elements, scratch, |element| (element.place as usize) < base + middle);
        let (worse, better) = elements.split_at_mut(middle);
        let mut offset = 0.0;
        for part in &self.parts {
            offset += part.merge::<S, P>(worse, better, |lane| lane as usize, self.masses);
        }
        let (left, right) = scratch.split_at_mut(middle);
        let (lower, upper) = gradient.split_at_mut(middle);
        let (a, b) = if n > FORK {
            join(|| self.split(worse, left, base, lower), || self.split(better, right, base + middle, upper))
        } else {
            (self.split(worse, left, base, lower), self.split(better, right, base + middle, upper))
        };
        offset + (a + b)
    }

    fn leaf(&self, base: usize, gradient: &mut [f64]) -> f64 {
        let range = base..base + gradient.len();
        let (run, lane) = (&self.query.run[range.clone()], &self.query.lane[range.clone()]);
        let k = self.query.present.len();
        every_pair::<S, P>(
            Block { scores: &self.scores[range.clone()], masses: &self.masses[range] },
            |i| run[i] as usize - base,
            |i, j| usize::from(lane[i]) * k + usize::from(lane[j]),
            self.table,
            self.margin,
            gradient,
        )
    }
}
