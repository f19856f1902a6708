//! Slopes of the label-ordered pairs of one large query by the order of a continuous attribute where counts are
//! enough, O(n log² n).
//!
//! Splits by label as in [`super::by_attribute`]. The pairs parted by one split are those of an example of either
//! half with some of the other half: as in [`super::by_label_counted`] its rank there decides which of them are
//! idle, and going up in the attribute, those inserted so far are the ones with a lower attribute. What is left, of
//! those before a rank p, has a higher one:
//!
//! ```text
//! lower: L(p)        higher: p − L(p) − (those of equal attribute before p)
//! ```

use super::ScoredPairs;
use super::by_label::boundary;
use super::by_label_counted::{ScoreRank, find_ranks};
use super::coefficients::{CellCoefficients, GREATER, LESS};
use super::rank_tree::RankTree;
use super::shape::Slope;
use crate::pairs::index::{NO_RANK, partition};
use crate::pairs::mass::Mass;
use rayon::join;

/// What counts of the other half weigh for examples of one half, in one part of the surrogate.
#[derive(Clone, Copy)]
struct CountWeight {
    /// At `high`, or at `low`.
    high: bool,
    /// Whether what is before the rank counts, or what comes from there on.
    before: bool,
    /// Coefficients of those with a lower attribute and with a higher one.
    lower: f64,
    higher: f64,
    /// What a unit adds to the slope, and to the offset by the margin.
    slope: f64,
    offset: f64,
}

/// A count of some of the other half: those before a rank, and all of them.
#[derive(Clone, Copy)]
struct TreeCount {
    before: i32,
    all: i32,
}

impl CountWeight {
    #[inline(always)]
    fn rank(&self, ranks: ScoreRank) -> u32 {
        if self.high { ranks.high } else { ranks.low }
    }

    #[inline(always)]
    fn counted(&self, found: TreeCount) -> f64 {
        f64::from(if self.before { found.before } else { found.all - found.before })
    }
}

/// Two orders of the examples of a range of positions, and room to part them.
struct Lists<'a> {
    by_score: [&'a mut [(f64, u32)]; 2],
    /// The attribute's rank, then the position.
    by_attribute: [&'a mut [u64]; 2],
    ranks: &'a mut [ScoreRank],
}

struct CountedSplit<'a, M> {
    pairs: &'a ScoredPairs<'a, M>,
    cells: &'a CellCoefficients,
    /// For each part, the weights for worse examples and for better ones.
    parts: Vec<[CountWeight; 2]>,
}

/// Adds the slopes of all pairs of unequal label and attribute, each of weight one; returns the offset.
pub(super) fn add_slopes<S: Slope, M: Mass>(
    pairs: &ScoredPairs<M>,
    cells: &CellCoefficients,
    gradient: &mut [f64],
) -> f64 {
    let attribute = |position: u32| pairs.query.attribute[position as usize];
    let known = pairs.by_score().filter(|&(_, position)| attribute(position) != NO_RANK);
    let mut by_score: Vec<(f64, u32)> = known.collect();
    let packed = |&(_, position): &(f64, u32)| u64::from(attribute(position)) << 32 | u64::from(position);
    let mut by_attribute: Vec<u64> = by_score.iter().map(packed).collect();
    by_attribute.sort_unstable();
    let n = by_score.len();
    let lists = Lists {
        by_score: [&mut by_score, &mut vec![(0.0, 0); n]],
        by_attribute: [&mut by_attribute, &mut vec![0; n]],
        ranks: &mut vec![ScoreRank::default(); pairs.scores.len()],
    };
    let split = CountedSplit { pairs, cells, parts: parts::<S>(cells) };
    split.split::<S>(lists, 0, gradient, &mut [RankTree::new(0), RankTree::new(0)])
}

fn parts<S: Slope>(cells: &CellCoefficients) -> Vec<[CountWeight; 2]> {
    let falling = if S::UNSIGNED { 1.0 } else { -1.0 };
    // A better example with a lower attribute makes a pair of the kind `less`.
    let worse = |cells: &[f64], high, before, slope| {
        let (lower, higher) = (cells[LESS], cells[GREATER]);
        CountWeight { high, before, lower, higher, slope, offset: 0.0 }
    };
    let better = |cells: &[f64], high, before, slope| {
        let (lower, higher) = (cells[GREATER], cells[LESS]);
        CountWeight { high, before, lower, higher, slope, offset: 1.0 }
    };
    let (first, second) = (&cells.first[..], &cells.second[..]);
    // The second part of a bounded surrogate counts the pairs that are idle in that of others.
    let all = [
        (first, [worse(first, true, true, 1.0), better(first, false, false, falling)]),
        (second, [worse(second, false, S::BOUNDED, falling), better(second, true, !S::BOUNDED, 1.0)]),
    ];
    let has_pairs = |cells: &[f64]| cells[LESS] != 0.0 || cells[GREATER] != 0.0;
    all.into_iter().filter(|(cells, _)| has_pairs(cells)).map(|(_, weights)| weights).collect()
}

impl<M: Mass> CountedSplit<'_, M> {
    /// The pairs inside a range of positions that starts at `base`.
    fn split<S: Slope>(
        &self,
        lists: Lists,
        base: usize,
        gradient: &mut [f64],
        trees: &mut [RankTree<1>; 2],
    ) -> f64 {
        let Lists { by_score: [by_score, score_room], by_attribute: [by_attribute, room], ranks } = lists;
        let n = by_score.len();
        if n < 2 {
            return 0.0;
        }
        let sizes = self.pairs.query.sizes;
        if gradient.len() <= sizes.slope_leaf {
            return self.pairs.few::<S>(base, gradient, |i, j| self.pairs.order(i, j), self.cells);
        }
        let first = &self.pairs.query.first[base..base + gradient.len()];
        let Some(middle) = boundary(first, base) else { return 0.0 };
        let is_worse = |position: u32| (position as usize) < base + middle;
        let firsts = partition(by_score, score_room, |(_, position)| is_worse(position));
        let (worse, better) = by_score.split_at_mut(firsts);
        find_ranks(worse, better, self.pairs.margin, base, ranks);
        find_ranks(better, worse, self.pairs.margin, base, ranks);
        trees[0].reset(worse.len());
        trees[1].reset(better.len());
        let total = self.between(by_attribute, ranks, base, middle, trees, gradient);

        partition(by_attribute, room, |packed| is_worse(packed as u32));
        let (lower, upper) = gradient.split_at_mut(middle);
        let (left, right) = by_attribute.split_at_mut(firsts);
        let (score_left, score_right) = score_room.split_at_mut(firsts);
        let (room_left, room_right) = room.split_at_mut(firsts);
        let (ranks_left, ranks_right) = ranks.split_at_mut(middle);
        let left =
            Lists { by_score: [worse, score_left], by_attribute: [left, room_left], ranks: ranks_left };
        let right =
            Lists { by_score: [better, score_right], by_attribute: [right, room_right], ranks: ranks_right };
        let upwards = base + middle;
        let (a, b) = if n > sizes.slope_fork {
            join(
                || self.split::<S>(left, base, lower, trees),
                || self.split::<S>(right, upwards, upper, &mut [RankTree::new(0), RankTree::new(0)]),
            )
        } else {
            (self.split::<S>(left, base, lower, trees), self.split::<S>(right, upwards, upper, trees))
        };
        self.pairs.margin * total + (a + b)
    }

    /// The pairs between the positions before and after `middle`; returns the sum over better examples.
    fn between(
        &self,
        by_attribute: &[u64],
        ranks: &[ScoreRank],
        base: usize,
        middle: usize,
        trees: &mut [RankTree<1>; 2],
        gradient: &mut [f64],
    ) -> f64 {
        let mut total = 0.0;
        let mut add = |at: usize, weight: &CountWeight, value: f64| {
            gradient[at] += weight.slope * value;
            total += weight.offset * value;
        };
        let place = |packed: u64| {
            let at = packed as u32 as usize - base;
            (at, usize::from(at >= middle), ranks[at])
        };
        let lower = |trees: &[RankTree<1>; 2], half: usize, rank: u32| {
            let other = &trees[1 - half];
            TreeCount { before: other.before(rank as usize)[0], all: other.all[0] }
        };
        let higher = |trees: &[RankTree<1>; 2], half: usize, rank: u32, inserted: TreeCount| TreeCount {
            before: rank as i32 - inserted.before,
            all: trees[1 - half].positions as i32 - inserted.all,
        };
        for equal in by_attribute.chunk_by(|a, b| a >> 32 == b >> 32) {
            for &packed in equal {
                let (at, half, ranks) = place(packed);
                for part in &self.parts {
                    let weight = &part[half];
                    let rank = weight.rank(ranks);
                    let found = lower(trees, half, rank);
                    let mut value = weight.lower * weight.counted(found);
                    if equal.len() == 1 {
                        value += weight.higher * weight.counted(higher(trees, half, rank, found));
                    }
                    add(at, weight, value);
                }
            }
            for &packed in equal {
                let (_, half, ranks) = place(packed);
                trees[half].insert(ranks.rank as usize, 0);
            }
            if equal.len() > 1 {
                for &packed in equal {
                    let (at, half, ranks) = place(packed);
                    for part in &self.parts {
                        let weight = &part[half];
                        let rank = weight.rank(ranks);
                        let found = higher(trees, half, rank, lower(trees, half, rank));
                        add(at, weight, weight.higher * weight.counted(found));
                    }
                }
            }
        }
        total
    }
}
