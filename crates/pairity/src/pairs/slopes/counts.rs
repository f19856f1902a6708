//! Slopes of the label-ordered pairs of one large query where all of them are 0 or the same number but for the
//! coefficients of cells, so that counts are enough: O(K n log n) between groups whatever the number of labels, and
//! O(n log² n) by the order of a continuous attribute.
//!
//! Between groups, [sweeps](super::sweeps) hold what was inserted in a tree of ranks by position, which is in label order:
//! what stands before the first position of a label has lower ones, and what stands behind the last has higher ones.
//!
//! A pair is idle in the first part of a surrogate if its worse example lies far below the better one, and in
//! the second part if it is the other way round, where
//!
//! ```text
//! y lies far below x:  s_y ≤ s_x − margin
//! ```
//!
//! In score order, the examples far below x are the first `low` ones, and those that x is not far below are the
//! first `high` ones.
//!
//! By the order of an attribute, moderate queries are counted by a [grid](crate::pairs::attribute_grid); in others, positions
//! are split by label as in [`super::splits`]. The pairs parted by one split are those of an example of either half with some of the other half: again its rank there decides which of them
//! are idle, and going up in the attribute, those inserted so far are the ones with a lower attribute. What is left,
//! of those before a rank p, has a higher one:
//!
//! ```text
//! lower: L(p)        higher: p − L(p) − (those of equal attribute before p)
//! ```

use super::ScoredPairs;
use super::coefficients::{Coefficients, GREATER, LESS};
use super::shape::Slope;
use super::sweeps::{Held, Sweep, Sweeps, Swept, run_all, settle};
use crate::pairs::attribute_grid::{AttributeGrid, COLUMNS, HeldGrid, with_held};
use crate::pairs::index::{NO_RANK, QueryPairs, grown, partition};
use crate::pairs::label_walk::STRETCH;
use crate::pairs::mass::Mass;
use crate::pairs::rank_tree::RankTree;
use crate::wide::wide;

/// Groups that are counted at once; more take several rounds.
const WIDEST: usize = 8;

/// Whether counts are the way to take if pairs weigh one.
pub(super) fn is_worth(query: &QueryPairs) -> bool {
    let mut labels = query.first.chunk_by(|a, b| a == b);
    query.len() >= query.sizes.tree_examples && labels.nth(query.sizes.tree_labels).is_some()
}

/// What is known of so many examples is in a cache anyway.
const NEAR: usize = 1 << 16;

/// Where an example stands in score order.
#[derive(Debug, Clone, Copy, Default)]
struct ScoreRank {
    rank: u32,
    /// The examples far below it are the first ones, so many.
    low: u32,
    /// It is not far below the first ones, so many.
    high: u32,
}

/// Finds the ranks of examples, given by scores and positions in score order, among others, and puts them to their
/// positions less `base`.
fn find_ranks(own: &[(f64, u32)], others: &[(f64, u32)], margin: f64, base: usize, ranks: &mut [ScoreRank]) {
    let (mut low, mut high) = (0, 0);
    for (rank, &(score, position)) in own.iter().enumerate() {
        while low < others.len() && others[low].0 <= score - margin {
            low += 1;
        }
        // The same comparison with the roles exchanged, so that both ends of a pair agree about it.
        while high < others.len() && others[high].0 - margin < score {
            high += 1;
        }
        ranks[position as usize - base] = ScoreRank { rank: rank as u32, low: low as u32, high: high as u32 };
    }
}

impl<M: Mass> ScoredPairs<'_, M> {
    /// Adds the slopes of all label-ordered pairs, each of weight one; returns the offset.
    pub(super) fn sweep_counts<S: Slope>(&self, cells: &[[f64; 2]], gradient: &mut [f64]) -> f64 {
        match self.query.present.len() {
            1 => self.sweep_counts_of::<S, 1>(cells, gradient),
            2 => self.sweep_counts_of::<S, 2>(cells, gradient),
            3 | 4 => self.sweep_counts_of::<S, 4>(cells, gradient),
            _ => self.sweep_counts_of::<S, WIDEST>(cells, gradient),
        }
    }

    fn sweep_counts_of<S: Slope, const G: usize>(&self, cells: &[[f64; 2]], gradient: &mut [f64]) -> f64 {
        let examples = self.swept();
        let sweeps = Sweeps::<G>::all::<S>(self.query, cells, self.margin);
        let run = |sweep: &Sweep<G>, slopes: &mut [f64]| {
            let mut tree = self.query.rooms.lend::<RankTree<G>>();
            tree.reset(examples.len());
            let held = &mut HeldCounts { tree: &mut *tree, query: self.query };
            wide(
                #[inline(always)]
                || sweep.run_either_way::<M, _, 1>(&examples, held, slopes),
            )
        };
        let (total, found) = run_all(sweeps.list(), examples.len(), self.query, &run);
        self.settle_all(&examples, &found[0].slopes, gradient);
        self.margin * total
    }

    /// Adds the slopes of all pairs of unequal label, each of weight one, by the order of the attribute too; returns the offset.
    pub(super) fn sweep_grid<S: Slope>(
        &self,
        grid: &AttributeGrid,
        of: &Coefficients,
        gradient: &mut [f64],
    ) -> f64 {
        let examples = self.swept();
        let accuracy = if of.has_accuracy { of.accuracy[0] } else { [0.0; 2] };
        let columns = [of.orders[GREATER], of.orders[LESS], accuracy];
        let mut sweeps = Sweeps::none(self.query);
        sweeps.add::<S>(1, 0, self.margin, &|_, column, _| columns[column]);
        let mut slopes = self.query.rooms.filled(examples.len(), 0.0);
        let run = |sweep: &Sweep<COLUMNS>| with_held!(grid, held => sweep.run_either_way(&examples, &mut held, &mut slopes));
        let total: f64 = sweeps.list().iter().map(run).sum();
        settle(&examples, &slopes, 0, gradient);
        self.margin * total
    }

    /// Adds the slopes of all pairs of unequal label and attribute, each of weight one; returns the offset.
    pub(super) fn count_by_attribute<S: Slope>(&self, cells: &[[f64; 2]; 3], gradient: &mut [f64]) -> f64 {
        let attribute = |position: u32| self.query.attribute[position as usize];
        let known = self.by_score().filter(|&(_, position)| attribute(position) != NO_RANK);
        let rooms = self.query.rooms;
        let mut by_score = rooms.empty::<(f64, u32)>(self.query.len());
        by_score.extend(known);
        // The attribute's rank, then the position.
        let packed = |&(_, position): &(f64, u32)| u64::from(attribute(position)) << 32 | u64::from(position);
        let mut by_attribute = rooms.empty::<u64>(by_score.len());
        by_attribute.extend(by_score.iter().map(packed));
        by_attribute.sort_unstable();
        let (parts, used) = count_weights::<S>(cells);
        self.split(
            (&mut by_score[..], &mut by_attribute[..]),
            &mut *rooms.lend::<CountRoom>(),
            0,
            gradient,
            &|_, base, gradient| self.few::<S, true>(base, gradient, |i, j| self.order(i, j), cells),
            &|(by_score, by_attribute), room, [base, middle], gradient| {
                let is_worse = |position: u32| (position as usize) < base + middle;
                let scratch = grown(&mut room.by_score, by_score.len());
                let firsts = partition(by_score, scratch, |(_, position)| is_worse(position));
                let (worse, better) = by_score.split_at_mut(firsts);
                let ranks = grown(&mut room.ranks, gradient.len());
                find_ranks(worse, better, self.margin, base, ranks);
                find_ranks(better, worse, self.margin, base, ranks);
                room.trees[0].reset(worse.len());
                room.trees[1].reset(better.len());
                let total = between(&parts[..used], by_attribute, room, [base, middle], gradient);
                let scratch = grown(&mut room.by_attribute, by_attribute.len());
                partition(by_attribute, scratch, |packed| is_worse(packed as u32));
                let (lower, upper) = by_attribute.split_at_mut(firsts);
                (self.margin * total, [(worse, lower), (better, upper)])
            },
        )
    }
}

/// How many were inserted, by position.
struct HeldCounts<'a, const G: usize> {
    tree: &'a mut RankTree<G>,
    query: &'a QueryPairs<'a>,
}

impl<const G: usize> HeldCounts<'_, G> {
    #[inline(always)]
    fn first<M>(&self, example: &Swept<M>) -> usize {
        let at = example.position as usize;
        if example.tied { self.query.first[at] as usize } else { at }
    }

    #[inline(always)]
    fn end<M>(&self, example: &Swept<M>) -> usize {
        let at = example.position as usize;
        if example.tied { self.query.end[at] as usize } else { at + 1 }
    }
}

impl<const G: usize> Held<G, 1> for HeldCounts<'_, G> {
    #[inline(always)]
    fn insert<M>(&mut self, example: &Swept<M>, column: usize, _: [f64; 1]) {
        self.tree.insert(example.position as usize, column);
    }

    #[inline(always)]
    fn below<M>(&self, example: &Swept<M>) -> [[f64; 1]; G] {
        self.tree.before(self.first(example)).map(|count| [f64::from(count)])
    }

    #[inline(always)]
    fn above<M>(&self, example: &Swept<M>) -> [[f64; 1]; G] {
        let through = self.tree.before(self.end(example));
        std::array::from_fn(|column| [f64::from(self.tree.all[column] - through[column])])
    }

    #[inline(always)]
    fn around<M>(&self, example: &Swept<M>) -> [[[f64; 1]; G]; 2] {
        let counts = self.tree.around(self.first(example), self.end(example));
        counts.map(|counts| counts.map(|count| [f64::from(count)]))
    }
}

impl<const W: usize, const FAST: bool> Held<COLUMNS, 1> for HeldGrid<'_, W, FAST> {
    #[inline(always)]
    fn insert<M>(&mut self, example: &Swept<M>, _: usize, _: [f64; 1]) {
        self.insert(example.position as usize);
    }

    #[inline(always)]
    fn below<M>(&self, example: &Swept<M>) -> [[f64; 1]; COLUMNS] {
        self.below(example.position as usize).map(|count| [f64::from(count)])
    }

    #[inline(always)]
    fn above<M>(&self, example: &Swept<M>) -> [[f64; 1]; COLUMNS] {
        self.above(example.position as usize).map(|count| [f64::from(count)])
    }

    #[inline(always)]
    fn around<M>(&self, example: &Swept<M>) -> [[[f64; 1]; COLUMNS]; 2] {
        self.around(example.position as usize).map(|counts| counts.map(|count| [f64::from(count)]))
    }
}

/// What counts of the other half weigh for examples of one half, in one part of the surrogate.
#[derive(Clone, Copy, Default)]
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

/// For each part with coefficients, the weights for worse examples and for better ones; and how many such parts there are.
fn count_weights<S: Slope>(cells: &[[f64; 2]; 3]) -> ([[CountWeight; 2]; 2], usize) {
    let weight = |part: usize, half: usize| {
        // A better example with a lower attribute makes a pair of the kind `less`.
        let (lower, higher) = if half == 0 { (LESS, GREATER) } else { (GREATER, LESS) };
        CountWeight {
            high: part == half,
            // The second part of a bounded surrogate counts the pairs that are idle in that of others.
            before: (half == 0) != (part == 1 && !S::BOUNDED),
            lower: cells[lower][part],
            higher: cells[higher][part],
            slope: if part == half || S::UNSIGNED { 1.0 } else { -1.0 },
            offset: half as f64,
        }
    };
    let has_pairs = |part: &usize| cells[LESS][*part] != 0.0 || cells[GREATER][*part] != 0.0;
    let (mut weights, mut used) = ([[CountWeight::default(); 2]; 2], 0);
    for part in (0..2).filter(has_pairs) {
        weights[used] = [0, 1].map(|half| weight(part, half));
        used += 1;
    }
    (weights, used)
}

/// What a thread needs to count the pairs parted by one split.
#[derive(Default)]
struct CountRoom {
    by_score: Vec<(f64, u32)>,
    by_attribute: Vec<u64>,
    ranks: Vec<ScoreRank>,
    trees: [RankTree<1>; 2],
}

/// Brings what is known of examples into the cache, many at once: one by one they would wait for it.
fn touch(packed: &[u64], base: usize, ranks: &[ScoreRank], gradient: &[f64]) {
    let places = packed.iter().map(|&packed| packed as u32 as usize - base);
    let read = |all, at: usize| all ^ u64::from(ranks[at].rank) ^ gradient[at].to_bits();
    std::hint::black_box(places.fold(0, read));
}

/// The pairs between the positions before and after `middle`; returns the sum over better examples.
fn between(
    parts: &[[CountWeight; 2]],
    by_attribute: &[u64],
    CountRoom { ranks, trees, .. }: &mut CountRoom,
    [base, middle]: [usize; 2],
    gradient: &mut [f64],
) -> f64 {
    let mut total = 0.0;
    let place = |packed: u64| {
        let at = packed as u32 as usize - base;
        (at, usize::from(at >= middle), ranks[at])
    };
    let mut add = |trees: &[RankTree<1>; 2], gradient: &mut [f64], packed: u64, lower: bool, higher: bool| {
        let (at, half, ranks) = place(packed);
        let other = &trees[1 - half];
        for part in parts {
            let weight = &part[half];
            let rank = if weight.high { ranks.high } else { ranks.low };
            let before = other.before(rank as usize)[0];
            let mut counts = [before, rank as i32 - before];
            if !weight.before {
                let all = [other.all[0], other.positions as i32 - other.all[0]];
                counts = [all[0] - counts[0], all[1] - counts[1]];
            }
            let mut value = if lower { weight.lower * f64::from(counts[0]) } else { 0.0 };
            value += if higher { weight.higher * f64::from(counts[1]) } else { 0.0 };
            gradient[at] += weight.slope * value;
            total += weight.offset * value;
        }
    };
    let (mut seen, mut touched) = (0, if by_attribute.len() > NEAR { 0 } else { usize::MAX });
    for equal in by_attribute.chunk_by(|a, b| a >> 32 == b >> 32) {
        if seen >= touched {
            touched = by_attribute.len().min(seen + STRETCH);
            touch(&by_attribute[seen..touched], base, ranks, gradient);
        }
        seen += equal.len();
        // Those of an equal attribute are neither lower, before they are inserted, nor higher, after that.
        let alone = equal.len() == 1;
        equal.iter().for_each(|&packed| add(trees, gradient, packed, true, alone));
        for &packed in equal {
            let (_, half, ranks) = place(packed);
            trees[half].insert(ranks.rank as usize, 0);
        }
        if !alone {
            equal.iter().for_each(|&packed| add(trees, gradient, packed, false, true));
        }
    }
    total
}
