//! Slopes of the label-ordered pairs of one large query by the order of a continuous attribute,
//! O(n log² n).
//!
//! Splits by label as for groups. The two halves of each split are then split together by the bits of
//! the attribute's rank: at each bit the better and the worse examples form two "groups" of high and
//! low attribute, and only pairs between the groups have coefficients.

use super::columns::{NO_RANK, Query};
use super::every_pair::{Block, every_pair};
use super::kind::Slope;
use super::merge::{Element, Part, partition, settle};
use super::pairing::Pairing;
use super::sweep::{FORK, LEAF, boundary, in_score_order};
use super::table::{GREATER, LESS, Table};
use rayon::join;
use std::marker::PhantomData;

/// Two lists with at most this many pairs compare every pair.
const FEW: usize = 400;

struct Nested<'a, S, P> {
    query: &'a Query<'a>,
    scores: &'a [f64],
    masses: &'a [P],
    table: &'a Table,
    margin: f64,
    parts: Vec<Part>,
    kind: PhantomData<S>,
}

/// Adds the slopes of all pairs of unequal label and attribute, with scores and gradient in label
/// order; returns the offset.
pub(super) fn nested<S: Slope, P: Pairing>(
    query: &Query,
    scores: &[f64],
    masses: &[P],
    table: &Table,
    margin: f64,
    gradient: &mut [f64],
) -> f64 {
    // The better example's bit of the attribute's rank, then the worse one's.
    let cells = |side: &[f64]| vec![0.0, side[LESS], side[GREATER], 0.0];
    let bits = Table { first: cells(&table.first), second: cells(&table.second) };
    let parts = Part::both::<S, P>(&bits, 2, margin);
    let mut elements = in_score_order(scores, |place| query.rank[place]);
    elements.retain(|element| element.lane != NO_RANK);
    let Some(highest) = elements.iter().map(|element| element.lane).max() else { return 0.0 };
    let mut scratch = vec![Element::default(); 2 * elements.len()];
    let nested = Nested::<S, P> { query, scores, masses, table, margin, parts, kind: PhantomData };
    nested.split(&mut elements, &mut scratch, u32::BITS - highest.leading_zeros(), 0, gradient)
}

/// The class of a pair by the ranks of its attributes.
#[inline(always)]
pub(super) fn order(better: u32, worse: u32) -> usize {
    let known = (better != NO_RANK) & (worse != NO_RANK);
    usize::from(known & (better > worse)) * GREATER + usize::from(known & (better < worse)) * LESS
}

/// The pairs inside a few places from `base` on.
pub(super) fn leaf<S: Slope, P: Pairing>(
    query: &Query,
    scores: &[f64],
    masses: &[P],
    table: &Table,
    margin: f64,
    base: usize,
    gradient: &mut [f64],
) -> f64 {
    let range = base..base + gradient.len();
    let (run, rank) = (&query.run[range.clone()], &query.rank[range.clone()]);
    every_pair::<S, P>(
        Block { scores: &scores[range], masses },
        |i| run[i] as usize - base,
        |i, j| order(rank[i], rank[j]),
        table,
        margin,
        gradient,
    )
}

impl<S: Slope, P: Pairing> Nested<'_, S, P> {
    /// The pairs inside a range of places that starts at `base`; the attribute's ranks have `bits` bits.
    fn split(
        &self,
        elements: &mut [Element],
        scratch: &mut [Element],
        bits: u32,
        base: usize,
        gradient: &mut [f64],
    ) -> f64 {
        let n = elements.len();
        if n < 2 {
            return 0.0;
        }
        let range = base..base + gradient.len();
        let run = &self.query.run[range.clone()];
        if range.len() <= LEAF {
            return leaf::<S, P>(
                self.query,
                self.scores,
                &self.masses[range],
                self.table,
                self.margin,
                base,
                gradient,
            );
        }
        let Some(middle) = boundary(run, base) else { return 0.0 };
        let firsts = partition(elements, scratch, |element| (element.place as usize) < base + middle);
        let (copy, spare) = scratch.split_at_mut(n);
        copy.copy_from_slice(elements);
        let (worse, better) = copy.split_at_mut(firsts);
        let offset = self.by_attribute(worse, better, spare, bits, base, gradient);

        let (worse, better) = elements.split_at_mut(firsts);
        let (left, right) = scratch.split_at_mut(2 * firsts);
        let (lower, upper) = gradient.split_at_mut(middle);
        let (a, b) = if n > FORK {
            join(
                || self.split(worse, left, bits, base, lower),
                || self.split(better, right, bits, base + middle, upper),
            )
        } else {
            (
                self.split(worse, left, bits, base, lower),
                self.split(better, right, bits, base + middle, upper),
            )
        };
        offset + (a + b)
    }

    /// The pairs of two lists whose ranks of the attribute differ in the lowest `bits` bits.
    fn by_attribute(
        &self,
        worse: &mut [Element],
        better: &mut [Element],
        scratch: &mut [Element],
        bits: u32,
        base: usize,
        gradient: &mut [f64],
    ) -> f64 {
        if bits == 0 || worse.len() * better.len() <= FEW {
            let offset = if bits == 0 { 0.0 } else { self.few(worse, better) };
            settle(worse, base, gradient);
            settle(better, base, gradient);
            return offset;
        }
        let bit = bits - 1;
        let mut offset = 0.0;
        for part in &self.parts {
            let group = |rank: u32| (rank >> bit & 1) as usize;
            offset += part.merge::<S, P>(worse, better, group, self.masses);
        }
        let is_low = |element: Element| element.lane >> bit & 1 == 0;
        let low = partition(worse, scratch, is_low);
        let (low_worse, high_worse) = worse.split_at_mut(low);
        let low = partition(better, scratch, is_low);
        let (low_better, high_better) = better.split_at_mut(low);
        offset += self.by_attribute(low_worse, low_better, scratch, bit, base, gradient);
        offset + self.by_attribute(high_worse, high_better, scratch, bit, base, gradient)
    }

    fn few(&self, worse: &mut [Element], better: &mut [Element]) -> f64 {
        let mut offset = 0.0;
        for i in better {
            let mass = self.masses[i.place as usize];
            let (mut falls, mut rises) = (0.0, 0.0);
            for j in worse.iter_mut() {
                let class = order(i.lane, j.lane);
                let mass = mass.pair(self.masses[j.place as usize]);
                let d = i.score - j.score;
                let fall = S::first(self.margin - d, self.table.first[class] * mass);
                let rise = S::second(self.margin + d, self.table.second[class] * mass);
                j.slope += S::added(fall, rise);
                falls += fall;
                rises += rise;
            }
            i.slope += S::added(rises, falls);
            offset += rises + falls;
        }
        self.margin * offset
    }
}
