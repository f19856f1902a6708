//! Slopes of the label-ordered pairs of one large query where all of them are 0 or the same number but for the
//! coefficients of cells, so that counts are enough: O(K n) steps of a tree whatever the number of labels.
//!
//! A pair is idle in the first part of a surrogate if its worse example lies far below the better one, and in
//! the second part if it is the other way round, where
//!
//! ```text
//! y lies far below x:  s_y ≤ s_x − margin
//! ```
//!
//! In score order, the examples far below x are the first `low` ones, and those that x is not far below are the
//! first `high` ones. Going up in label, with the examples of lower labels in a [`RankTree`] by their place in score
//! order, each one finds its pairs as the better example in two counts, and is then inserted itself:
//!
//! ```text
//! first part:  Σ_b c[a][b] · (all − before `low`)[b]           second part:  Σ_b c[a][b] · (before `high`)[b]
//! ```
//!
//! As the worse one it has pairs with the higher labels, which are all but the lower and equal ones: in the first part those
//! before `high`, in the second those from `low` on. What all of them come to is found in score order beforehand, by two
//! places that go up with the score; what lower and equal labels have of it is read at the same places of the same tree.

use super::ScoredPairs;
use super::shape::Slope;
use crate::pairs::index::QueryPairs;
use crate::pairs::mass::Mass;
use crate::pairs::order::position;
use crate::pairs::rank_tree::RankTree;
use crate::threads;
use std::ops::Range;

/// Groups that are counted at once; more take several rounds.
const WIDEST: usize = 8;

/// Parts of a walk that is worth several threads.
const PARTS: usize = 4;

/// Whether counts are the way to take if pairs weigh one.
pub(super) fn is_worth<S: Slope>(query: &QueryPairs) -> bool {
    let mut labels = query.first.chunk_by(|a, b| a == b);
    !S::SQUARED && query.len() >= query.sizes.tree_examples && labels.nth(query.sizes.tree_labels).is_some()
}

/// What is known of an example from its score alone.
#[derive(Debug, Clone, Copy, Default)]
struct Reach {
    /// The examples far below it are the first ones, so many.
    low: u32,
    /// It is not far below the first ones, so many.
    high: u32,
    /// Its slope as the worse one of pairs with all others, whatever their labels.
    as_worse: f64,
}

/// An example in score order.
#[derive(Debug, Clone, Copy)]
struct Scored {
    score: f64,
    group: u16,
}

/// Equal parts of so many.
fn parts(n: usize, parts: usize) -> Vec<Range<usize>> {
    (0..parts).map(|part| part * n / parts..(part + 1) * n / parts).collect()
}

impl<M: Mass> ScoredPairs<'_, M> {
    /// Adds the slopes of all label-ordered pairs, each of weight one; returns the offset.
    pub(super) fn count_by_label<S: Slope>(&self, cells: &[[f64; 2]], gradient: &mut [f64]) -> f64 {
        let (n, k) = (self.scores.len(), self.query.present.len());
        let several = if n > self.query.sizes.slope_fork { PARTS } else { 1 };
        let scored = |&entry: &u32| Scored {
            score: self.scores[position(entry)],
            group: self.query.group[position(entry)],
        };
        let chunks = parts(n, several);
        let in_order: Vec<Scored> = threads::map(&chunks, &|chunk| {
            self.entries[chunk.clone()].iter().map(scored).collect::<Vec<_>>()
        })
        .concat();
        let find = |chunk: &Range<usize>| reaches::<S>(&in_order, chunk.clone(), cells, k, self.margin);
        let (place, reach) = threads::both(
            several > 1,
            || {
                let mut place = vec![0; n];
                (0..).zip(self.entries).for_each(|(at, &entry)| place[position(entry)] = at);
                place
            },
            || threads::map(&chunks, &find).concat(),
        );
        let walk = SlopeWalk { query: self.query, k, place: &place, reach: &reach, cells };
        let total = match k {
            1 => walk.rounds::<S, 1>(several, gradient),
            2 => walk.rounds::<S, 2>(several, gradient),
            3 | 4 => walk.rounds::<S, 4>(several, gradient),
            _ => walk.rounds::<S, WIDEST>(several, gradient),
        };
        self.margin * total
    }
}

/// How far some places reach, in score order.
fn reaches<S: Slope>(
    all: &[Scored],
    places: Range<usize>,
    cells: &[[f64; 2]],
    k: usize,
    margin: f64,
) -> Vec<Reach> {
    let Some(start) = all.get(places.start) else { return Vec::new() };
    let is_far_below = |other: &Scored, score: f64| other.score <= score - margin;
    // The same comparison with the roles exchanged, so that both ends of a pair agree about it.
    let is_before_high = |other: &Scored, score: f64| other.score - margin < score;
    let mut low = all.partition_point(|other| is_far_below(other, start.score));
    let mut high = all.partition_point(|other| is_before_high(other, start.score));
    let counted = |examples: &[Scored]| {
        let mut counts = vec![0.0; k];
        examples.iter().for_each(|example| counts[usize::from(example.group)] += 1.0);
        counts
    };
    let (mut before_low, mut before_high) = (counted(&all[..low]), counted(&all[..high]));
    let everyone = counted(all);
    // By the example's own group: what others cost in each part.
    let rows: Vec<[f64; 2]> = (0..k * k).map(|at| cells[at % k * k + at / k]).collect();
    let reach = |place: usize| {
        let Scored { score, group } = all[place];
        while low < all.len() && is_far_below(&all[low], score) {
            before_low[usize::from(all[low].group)] += 1.0;
            low += 1;
        }
        while high < all.len() && is_before_high(&all[high], score) {
            before_high[usize::from(all[high].group)] += 1.0;
            high += 1;
        }
        let own = usize::from(group);
        let (mut highs, mut lows) = (0.0, 0.0);
        for (b, row) in rows[own * k..][..k].iter().enumerate() {
            // An example makes no pair with itself.
            let itself = |counts: bool| f64::from(u8::from(b == own && counts));
            let low_count = before_low[b] - itself(place < low);
            let high_count = before_high[b] - itself(place < high);
            highs += row[0] * high_count;
            lows += row[1] * if S::BOUNDED { low_count } else { everyone[b] - itself(true) - low_count };
        }
        Reach { low: low as u32, high: high as u32, as_worse: S::added(highs, lows) }
    };
    places.map(reach).collect()
}

/// What counts of `G` groups weigh for an example of some group: before `low` and before `high`, as the better example
/// and as the worse one.
#[derive(Clone, Copy)]
struct CountRows<const G: usize> {
    better: [[f64; G]; 2],
    worse: [[f64; G]; 2],
}

/// Counts at both places, and of all.
struct Counts<const G: usize> {
    low: [f64; G],
    high: [f64; G],
    all: [f64; G],
}

impl<const G: usize> Counts<G> {
    #[inline(always)]
    fn read(tree: &RankTree<G>, reach: Reach) -> Counts<G> {
        let numbers = |counts: [i32; G]| counts.map(f64::from);
        Counts {
            low: numbers(tree.before(reach.low as usize)),
            high: numbers(tree.before(reach.high as usize)),
            all: numbers(tree.all),
        }
    }
}

#[inline(always)]
fn dot<const G: usize>(row: &[f64; G], counts: &[f64; G]) -> f64 {
    let mut sum = 0.0;
    for column in 0..G {
        sum += row[column] * counts[column];
    }
    sum
}

#[inline(always)]
fn rest<const G: usize>(all: &[f64; G], counts: &[f64; G]) -> [f64; G] {
    std::array::from_fn(|column| all[column] - counts[column])
}

struct SlopeWalk<'a> {
    query: &'a QueryPairs<'a>,
    k: usize,
    /// By position.
    place: &'a [u32],
    /// By place.
    reach: &'a [Reach],
    cells: &'a [[f64; 2]],
}

impl SlopeWalk<'_> {
    /// Adds the slopes of all examples, with some groups at a time. Returns the sum of what was counted for better ones.
    fn rounds<S: Slope, const G: usize>(&self, several: usize, gradient: &mut [f64]) -> f64 {
        let first = self.query.first;
        // Where the label starts that is at the start of an equal part.
        let start =
            |part: usize| first.get(part * first.len() / several).map_or(first.len(), |&at| at as usize);
        let mut rest = gradient;
        let mut owned = Vec::with_capacity(several);
        for part in 0..several {
            let positions = start(part)..start(part + 1);
            let (own, others) = std::mem::take(&mut rest).split_at_mut(positions.len());
            rest = others;
            owned.push((positions, own));
        }
        let mut total = 0.0;
        for first in (0..self.k).step_by(G) {
            let cell = |better: usize, worse: usize, part: usize| match better.max(worse) < self.k {
                true => self.cells[better * self.k + worse][part],
                false => 0.0,
            };
            let row = |own: usize| CountRows {
                better: [0, 1].map(|part| std::array::from_fn(|column| cell(own, first + column, part))),
                worse: [1, 0].map(|part| std::array::from_fn(|column| cell(first + column, own, part))),
            };
            let rows: Vec<CountRows<G>> = (0..self.k).map(row).collect();
            let sums = threads::map_mut(&mut owned, &|(positions, own)| {
                self.part::<S, G>(first, &rows, positions.clone(), own)
            });
            total += sums.iter().sum::<f64>();
        }
        total
    }

    /// The pairs of some positions, which are all those of their labels, with examples of `G` groups from `first` on.
    fn part<S: Slope, const G: usize>(
        &self,
        first: usize,
        rows: &[CountRows<G>],
        positions: Range<usize>,
        gradient: &mut [f64],
    ) -> f64 {
        let base = positions.start;
        let column = |at: usize| usize::from(self.query.group[at]).wrapping_sub(first);
        let mut tree = RankTree::<G>::default();
        tree.reset(self.place.len());
        let below = (0..base).filter(|&at| column(at) < G);
        tree.extend(below.map(|at| (self.place[at] as usize, column(at))));
        let mut total = 0.0;
        let mut as_better = |counts: &Counts<G>, at: usize, gradient: &mut [f64]| {
            let row = &rows[usize::from(self.query.group[at])];
            let low = dot(&row.better[0], &rest(&counts.all, &counts.low));
            // The second part of a bounded surrogate counts the pairs that are idle in that of others.
            let high = match S::BOUNDED {
                false => dot(&row.better[1], &counts.high),
                true => dot(&row.better[1], &rest(&counts.all, &counts.high)),
            };
            gradient[at - base] += S::added(high, low);
            total += high + low;
        };
        // Less what lower and equal labels have of all.
        let as_worse = |counts: &Counts<G>, at: usize, gradient: &mut [f64]| {
            let row = &rows[usize::from(self.query.group[at])];
            let low = match S::BOUNDED {
                false => dot(&row.worse[0], &rest(&counts.all, &counts.low)),
                true => dot(&row.worse[0], &counts.low),
            };
            let all = if first == 0 { self.reach[self.place[at] as usize].as_worse } else { 0.0 };
            gradient[at - base] += all - S::added(dot(&row.worse[1], &counts.high), low);
        };
        let mut from = base;
        for level in self.query.first[positions].chunk_by(|a, b| a == b) {
            let level = from..from + level.len();
            from = level.end;
            for at in level.clone() {
                let counts = Counts::read(&tree, self.reach[self.place[at] as usize]);
                as_better(&counts, at, gradient);
                if level.len() == 1 {
                    as_worse(&counts, at, gradient);
                }
            }
            for at in level.clone().filter(|&at| column(at) < G) {
                tree.insert(self.place[at] as usize, column(at));
            }
            if level.len() > 1 {
                // Examples of an equal label make no pairs: they are taken off with the lower ones.
                for at in level {
                    let (place, column) = (self.place[at], column(at));
                    let reach = self.reach[place as usize];
                    let mut counts = Counts::read(&tree, reach);
                    if column < G {
                        counts.low[column] -= f64::from(u8::from(place < reach.low));
                        counts.high[column] -= f64::from(u8::from(place < reach.high));
                        counts.all[column] -= 1.0;
                    }
                    as_worse(&counts, at, gradient);
                }
            }
        }
        total
    }
}
