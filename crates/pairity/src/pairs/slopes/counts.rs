//! Slopes of the label-ordered pairs of one large query where all of them are 0 or the same number but for the
//! coefficients of cells, so that counts are enough: O(K n log n) between groups whatever the number of labels, and
//! O(n log² n) by the order of a continuous attribute.
//!
//! A pair is idle in the first part of a surrogate if its worse example lies far below the better one, and in
//! the second part if it is the other way round, where
//!
//! ```text
//! y lies far below x:  s_y ≤ s_x − margin
//! ```
//!
//! In score order, the examples far below x are the first `low` ones, and those that x is not far below are the
//! first `high` ones. With the examples of lower labels counted by their rank in score order, each one finds its pairs as the
//! better example in two counts, and is then inserted itself, going up in label:
//!
//! ```text
//! first part:  Σ_b c[a][b] · (all − before `low`)[b]           second part:  Σ_b c[a][b] · (before `high`)[b]
//! ```
//!
//! Going down in label it finds its pairs as the worse one, those of the first part before `high` and those of
//! the second from `low` on.
//!
//! By the order of an attribute, positions are split by label as in [`super::splits`]. The pairs parted by one split
//! are those of an example of either half with some of the other half: again its rank there decides which of them
//! are idle, and going up in the attribute, those inserted so far are the ones with a lower attribute. What is left,
//! of those before a rank p, has a higher one:
//!
//! ```text
//! lower: L(p)        higher: p − L(p) − (those of equal attribute before p)
//! ```

use super::ScoredPairs;
use super::coefficients::{GREATER, LESS};
use super::shape::Slope;
use crate::pairs::index::{NO_RANK, QueryPairs, add, grown, partition};
use crate::pairs::mass::Mass;
use crate::pairs::rank_tree::RankTree;
use crate::threads::both;

/// Groups that are counted at once; more take several rounds.
const WIDEST: usize = 8;

/// Whether counts are the way to take if pairs weigh one.
pub(super) fn is_worth<S: Slope>(query: &QueryPairs) -> bool {
    let mut labels = query.first.chunk_by(|a, b| a == b);
    !S::SQUARED && query.len() >= query.sizes.tree_examples && labels.nth(query.sizes.tree_labels).is_some()
}

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
    pub(super) fn count_by_label<S: Slope>(&self, cells: &[[f64; 2]], gradient: &mut [f64]) -> f64 {
        let n = self.scores.len();
        let mut ranks = vec![ScoreRank::default(); n];
        let sorted: Vec<(f64, u32)> = self.by_score().collect();
        find_ranks(&sorted, &sorted, self.margin, 0, &mut ranks);
        drop(sorted);
        let counted = CountedSlopes { query: self.query, k: self.query.present.len(), ranks: &ranks, cells };
        let total = if n <= self.query.sizes.slope_fork {
            counted.add::<S>(false, gradient);
            counted.add::<S>(true, gradient)
        } else {
            let mut falling = vec![0.0; n];
            let (total, _) =
                both(true, || counted.add::<S>(true, gradient), || counted.add::<S>(false, &mut falling));
            add(gradient, &falling);
            total
        };
        self.margin * total
    }

    /// Adds the slopes of all pairs of unequal label and attribute, each of weight one; returns the offset.
    pub(super) fn count_by_attribute<S: Slope>(&self, cells: &[[f64; 2]; 3], gradient: &mut [f64]) -> f64 {
        let attribute = |position: u32| self.query.attribute[position as usize];
        let known = self.by_score().filter(|&(_, position)| attribute(position) != NO_RANK);
        let mut by_score: Vec<(f64, u32)> = known.collect();
        // The attribute's rank, then the position.
        let packed = |&(_, position): &(f64, u32)| u64::from(attribute(position)) << 32 | u64::from(position);
        let mut by_attribute: Vec<u64> = by_score.iter().map(packed).collect();
        by_attribute.sort_unstable();
        let parts = count_weights::<S>(cells);
        self.split(
            (&mut by_score[..], &mut by_attribute[..]),
            &mut CountRoom::default(),
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
                let total = between(&parts, by_attribute, room, [base, middle], gradient);
                let scratch = grown(&mut room.by_attribute, by_attribute.len());
                partition(by_attribute, scratch, |packed| is_worse(packed as u32));
                let (lower, upper) = by_attribute.split_at_mut(firsts);
                (self.margin * total, [(worse, lower), (better, upper)])
            },
        )
    }
}

struct CountedSlopes<'a> {
    query: &'a QueryPairs<'a>,
    k: usize,
    ranks: &'a [ScoreRank],
    cells: &'a [[f64; 2]],
}

/// What counts on one side of a rank.
struct CountWeights<const G: usize> {
    /// The coefficients of the groups counted, for each group of the example that asks.
    rows: Vec<[f64; G]>,
    /// Whether what is before the rank counts, or what comes from there on.
    before: bool,
}

impl<const G: usize> CountWeights<G> {
    #[inline(always)]
    fn of(&self, tree: &RankTree<G>, rank: u32, group: usize) -> f64 {
        let mut found = tree.before(rank as usize);
        if !self.before {
            found.iter_mut().zip(&tree.all).for_each(|(found, all)| *found = all - *found);
        }
        self.rows[group].iter().zip(found).map(|(c, found)| c * f64::from(found)).sum()
    }
}

impl CountedSlopes<'_> {
    /// Adds the slopes of all examples: as the better ones of their pairs if going up, or as the worse ones.
    /// Returns the sum of what was counted.
    fn add<S: Slope>(&self, up: bool, gradient: &mut [f64]) -> f64 {
        match self.k {
            1 => self.rounds::<S, 1>(up, gradient),
            2 => self.rounds::<S, 2>(up, gradient),
            3 | 4 => self.rounds::<S, 4>(up, gradient),
            _ => self.rounds::<S, WIDEST>(up, gradient),
        }
    }

    fn rounds<S: Slope, const G: usize>(&self, up: bool, gradient: &mut [f64]) -> f64 {
        let mut total = 0.0;
        for first in (0..self.k).step_by(G) {
            // What the groups from `first` on weigh in a part; none if no pair with them has a coefficient.
            let weights = |part: usize, before: bool| {
                let cell = |group: usize, other: usize| match (other < self.k, up) {
                    (false, _) => 0.0,
                    (true, true) => self.cells[group * self.k + other][part],
                    (true, false) => self.cells[other * self.k + group][part],
                };
                let row = |group| std::array::from_fn(|column| cell(group, first + column));
                let rows: Vec<[f64; G]> = (0..self.k).map(row).collect();
                rows.iter().flatten().any(|&c| c != 0.0).then_some(CountWeights { rows, before })
            };
            // The second part of a bounded surrogate counts the pairs that are idle in that of others.
            let low = weights(usize::from(!up), S::BOUNDED && !up);
            let high = weights(usize::from(up), !(S::BOUNDED && up));
            if low.is_some() || high.is_some() {
                total += self.round::<S, G>(first, [low, high], up, gradient);
            }
        }
        total
    }

    /// The pairs with examples of `G` groups from `first` on.
    fn round<S: Slope, const G: usize>(
        &self,
        first: usize,
        [low, high]: [Option<CountWeights<G>>; 2],
        up: bool,
        gradient: &mut [f64],
    ) -> f64 {
        let mut tree = RankTree::<G>::default();
        tree.reset(self.ranks.len());
        let mut total = 0.0;
        // Examples of equal label make no pairs: all of them count before any is inserted.
        let visit = |equal: &[u32]| {
            let positions = equal[0] as usize..equal[0] as usize + equal.len();
            for at in positions.clone() {
                let (ranks, group) = (self.ranks[at], usize::from(self.query.group[at]));
                let low = low.as_ref().map_or(0.0, |low| low.of(&tree, ranks.low, group));
                let high = high.as_ref().map_or(0.0, |high| high.of(&tree, ranks.high, group));
                gradient[at] += S::added(high, low);
                total += high + low;
            }
            for at in positions {
                let column = usize::from(self.query.group[at]).wrapping_sub(first);
                if column < G {
                    tree.insert(self.ranks[at].rank as usize, column);
                }
            }
        };
        let labels = self.query.first.chunk_by(|a, b| a == b);
        if up {
            labels.for_each(visit)
        } else {
            labels.rev().for_each(visit)
        }
        total
    }
}

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

/// For each part with coefficients, the weights for worse examples and for better ones.
fn count_weights<S: Slope>(cells: &[[f64; 2]; 3]) -> Vec<[CountWeight; 2]> {
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
    (0..2).filter(has_pairs).map(|part| [0, 1].map(|half| weight(part, half))).collect()
}

/// What a thread needs to count the pairs parted by one split.
#[derive(Default)]
struct CountRoom {
    by_score: Vec<(f64, u32)>,
    by_attribute: Vec<u64>,
    ranks: Vec<ScoreRank>,
    trees: [RankTree<1>; 2],
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
    let mut add = |trees: &[RankTree<1>; 2], packed: u64, lower: bool, higher: bool| {
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
    for equal in by_attribute.chunk_by(|a, b| a >> 32 == b >> 32) {
        // Those of an equal attribute are neither lower, before they are inserted, nor higher, after that.
        let alone = equal.len() == 1;
        equal.iter().for_each(|&packed| add(trees, packed, true, alone));
        for &packed in equal {
            let (_, half, ranks) = place(packed);
            trees[half].insert(ranks.rank as usize, 0);
        }
        if !alone {
            equal.iter().for_each(|&packed| add(trees, packed, false, true));
        }
    }
    total
}
