//! Slopes of the label-ordered pairs of one large query by the order of a continuous attribute where counts are
//! enough, O(n log² n).
//!
//! Splits by label as in [`super::nested`]. The pairs parted by one split are those of an example of either half
//! with some of the other half: as in [`super::climb`] its position there decides which of them are idle, and
//! going up in the attribute, those inserted so far are the ones with a lower attribute. What is left, of those
//! before a position p, has a higher one:
//!
//! ```text
//! lower: L(p)        higher: p − L(p) − (those of equal attribute before p)
//! ```

use super::climb::{Spot, find_spots};
use super::columns::{NO_RANK, Query};
use super::counts::Counts;
use super::kind::Slope;
use super::merge::partition;
use super::nested::leaf;
use super::pairing::Equal;
use super::sweep::{FORK, LEAF, boundary};
use super::table::{GREATER, LESS, Table};
use crate::examples::sort_by_value;
use rayon::join;
use std::marker::PhantomData;

/// How examples of one half read counts of the other half, in one part of the surrogate.
#[derive(Clone, Copy)]
struct Reading {
    /// At `high`, or at `low`.
    high: bool,
    /// Whether what is before the position counts, or what comes from there on.
    before: bool,
    /// Coefficients of those with a lower attribute and with a higher one.
    lower: f64,
    higher: f64,
    /// What a unit adds to the slope, and to the offset by the margin.
    slope: f64,
    offset: f64,
}

/// A count of some of the other half: those before a position, and all of them.
#[derive(Clone, Copy)]
struct Found {
    before: i32,
    all: i32,
}

impl Reading {
    #[inline(always)]
    fn position(&self, spot: Spot) -> u32 {
        if self.high { spot.high } else { spot.low }
    }

    #[inline(always)]
    fn counted(&self, found: Found) -> f64 {
        f64::from(if self.before { found.before } else { found.all - found.before })
    }
}

/// Two orders of the examples of a range of places, and room to part them.
struct Lists<'a> {
    by_score: &'a mut [(u64, u32)],
    /// The attribute's rank, then the place.
    by_attribute: &'a mut [u64],
    score_room: &'a mut [(u64, u32)],
    attribute_room: &'a mut [u64],
    spots: &'a mut [Spot],
}

struct Nested<'a, S> {
    query: &'a Query<'a>,
    scores: &'a [f64],
    table: &'a Table,
    margin: f64,
    /// For each part, how worse examples read and how better ones do.
    parts: Vec<[Reading; 2]>,
    kind: PhantomData<S>,
}

/// Adds the slopes of all pairs of unequal label and attribute, each of weight one, with scores and gradient in
/// label order; returns the offset.
pub(super) fn nested_climb<S: Slope>(
    query: &Query,
    scores: &[f64],
    table: &Table,
    margin: f64,
    gradient: &mut [f64],
) -> f64 {
    let mut by_score = sort_by_value(scores);
    by_score.retain(|&(_, place)| query.rank[place as usize] != NO_RANK);
    let packed = |&(_, place): &(u64, u32)| u64::from(query.rank[place as usize]) << 32 | u64::from(place);
    let mut by_attribute: Vec<u64> = by_score.iter().map(packed).collect();
    by_attribute.sort_unstable();
    let n = by_score.len();
    let lists = Lists {
        by_score: &mut by_score,
        by_attribute: &mut by_attribute,
        score_room: &mut vec![(0, 0); n],
        attribute_room: &mut vec![0; n],
        spots: &mut vec![Spot::default(); scores.len()],
    };
    let nested = Nested::<S> { query, scores, table, margin, parts: parts::<S>(table), kind: PhantomData };
    nested.split(lists, 0, gradient, &mut [Counts::new(0), Counts::new(0)])
}

fn parts<S: Slope>(table: &Table) -> Vec<[Reading; 2]> {
    let falling = if S::UNSIGNED { 1.0 } else { -1.0 };
    // A better example with a lower attribute makes a pair of the kind `less`.
    let worse = |cells: &[f64], high, before, slope| Reading {
        high,
        before,
        lower: cells[LESS],
        higher: cells[GREATER],
        slope,
        offset: 0.0,
    };
    let better = |cells: &[f64], high, before, slope| Reading {
        lower: cells[GREATER],
        higher: cells[LESS],
        offset: 1.0,
        ..worse(cells, high, before, slope)
    };
    let (first, second) = (&table.first[..], &table.second[..]);
    // The second part of a bounded surrogate counts the pairs that are idle in that of others.
    let all = [
        (first, [worse(first, true, true, 1.0), better(first, false, false, falling)]),
        (second, [worse(second, false, S::BOUNDED, falling), better(second, true, !S::BOUNDED, 1.0)]),
    ];
    let has_pairs = |cells: &[f64]| cells[LESS] != 0.0 || cells[GREATER] != 0.0;
    all.into_iter().filter(|(cells, _)| has_pairs(cells)).map(|(_, readings)| readings).collect()
}

impl<S: Slope> Nested<'_, S> {
    /// The pairs inside a range of places that starts at `base`.
    fn split(&self, lists: Lists, base: usize, gradient: &mut [f64], counts: &mut [Counts<1>; 2]) -> f64 {
        let n = lists.by_score.len();
        if n < 2 {
            return 0.0;
        }
        let range = base..base + gradient.len();
        if range.len() <= LEAF {
            let masses = &[Equal; LEAF][..range.len()];
            return leaf::<S, Equal>(
                self.query,
                self.scores,
                masses,
                self.table,
                self.margin,
                base,
                gradient,
            );
        }
        let Some(middle) = boundary(&self.query.run[range], base) else { return 0.0 };
        let is_worse = |place: u32| (place as usize) < base + middle;
        let firsts = partition(lists.by_score, lists.score_room, |(_, place)| is_worse(place));
        let (worse, better) = lists.by_score.split_at_mut(firsts);
        find_spots(worse, better, self.margin, base, lists.spots);
        find_spots(better, worse, self.margin, base, lists.spots);
        counts[0].reset(worse.len());
        counts[1].reset(better.len());
        let total = self.climb(lists.by_attribute, lists.spots, base, middle, counts, gradient);

        partition(lists.by_attribute, lists.attribute_room, |packed| is_worse(packed as u32));
        let (lower, upper) = gradient.split_at_mut(middle);
        let (left, right) = lists.by_attribute.split_at_mut(firsts);
        let (score_left, score_right) = lists.score_room.split_at_mut(firsts);
        let (attribute_left, attribute_right) = lists.attribute_room.split_at_mut(firsts);
        let (spots_left, spots_right) = lists.spots.split_at_mut(middle);
        let left = Lists {
            by_score: worse,
            by_attribute: left,
            score_room: score_left,
            attribute_room: attribute_left,
            spots: spots_left,
        };
        let right = Lists {
            by_score: better,
            by_attribute: right,
            score_room: score_right,
            attribute_room: attribute_right,
            spots: spots_right,
        };
        let (a, b) = if n > FORK {
            join(
                || self.split(left, base, lower, counts),
                || self.split(right, base + middle, upper, &mut [Counts::new(0), Counts::new(0)]),
            )
        } else {
            (self.split(left, base, lower, counts), self.split(right, base + middle, upper, counts))
        };
        self.margin * total + (a + b)
    }

    /// The pairs between the places before and after `middle`; returns the sum over better examples.
    fn climb(
        &self,
        by_attribute: &[u64],
        spots: &[Spot],
        base: usize,
        middle: usize,
        counts: &mut [Counts<1>; 2],
        gradient: &mut [f64],
    ) -> f64 {
        let mut total = 0.0;
        let mut add = |place: usize, reading: &Reading, value: f64| {
            gradient[place] += reading.slope * value;
            total += reading.offset * value;
        };
        let place = |packed: u64| {
            let place = packed as u32 as usize - base;
            (place, usize::from(place >= middle), spots[place])
        };
        let lower = |counts: &[Counts<1>; 2], half: usize, position: u32| {
            let other = &counts[1 - half];
            Found { before: other.before(position as usize)[0], all: other.all[0] }
        };
        let higher = |counts: &[Counts<1>; 2], half: usize, position: u32, inserted: Found| Found {
            before: position as i32 - inserted.before,
            all: counts[1 - half].positions as i32 - inserted.all,
        };
        for equal in by_attribute.chunk_by(|a, b| a >> 32 == b >> 32) {
            for &packed in equal {
                let (place, half, spot) = place(packed);
                for part in &self.parts {
                    let reading = &part[half];
                    let position = reading.position(spot);
                    let found = lower(counts, half, position);
                    let mut value = reading.lower * reading.counted(found);
                    if equal.len() == 1 {
                        value += reading.higher * reading.counted(higher(counts, half, position, found));
                    }
                    add(place, reading, value);
                }
            }
            for &packed in equal {
                let (_, half, spot) = place(packed);
                counts[half].insert(spot.rank as usize, 0);
            }
            if equal.len() > 1 {
                for &packed in equal {
                    let (place, half, spot) = place(packed);
                    for part in &self.parts {
                        let reading = &part[half];
                        let position = reading.position(spot);
                        let found = higher(counts, half, position, lower(counts, half, position));
                        add(place, reading, reading.higher * reading.counted(found));
                    }
                }
            }
        }
        total
    }
}
