//! Counts of label-ordered pairs that count one each, by places in score order, for one query: O(K n) steps of a tree.
//!
//! Going up in label, with the examples of lower labels in a [`RankTree`] by their place in score order, one reads
//! at each example how many of every group score lower:
//!
//! ```text
//! wins[a][b] += those of group b before the first place of an equal score, ties[a][b] += those among these places
//! ```
//!
//! and inserts it once all examples of its label were read. Counts are whole numbers, so that parts of the walk may
//! start anywhere, with all examples below inserted at once.

use super::groups::CellCounts;
use super::index::{QueryPairs, add};
use super::mass::Mass;
use super::order::{KeptCounts, Places, ScoreOrder};
use super::rank_tree::RankTree;
use crate::rooms::Lent;
use crate::threads::{self, both};
use crate::wide::wide;
use std::ops::Range;

/// Places of so many positions are brought into the cache at once.
pub(super) const STRETCH: usize = 256;

/// What it costs to insert an example before a part of a walk starts, as a share of a step of the walk.
const INSERTION: f64 = 0.12;

/// The most groups that counts are kept of: a row has so many numbers of 32 bits.
const MOST_KEPT: usize = 4;

/// The end of the run of equal labels that a position stands in.
pub(super) fn level_end(rank: &[u32], at: usize) -> usize {
    let mut step = 1;
    while rank.get(at + step) == Some(&rank[at]) {
        step *= 2;
    }
    let (from, to) = (at + step / 2, rank.len().min(at + step));
    from + rank[from..to].partition_point(|&rank_of| rank_of == rank[at])
}

/// Places and columns of the examples at some positions whose groups are among `G` from `first` on.
pub(super) fn inserted<'a, const G: usize>(
    query: &'a QueryPairs,
    places: &'a Places,
    first: usize,
    positions: Range<usize>,
) -> impl Iterator<Item = (usize, usize)> + 'a {
    let column = move |at: usize| usize::from(query.group[at]).wrapping_sub(first);
    positions.filter(move |&at| column(at) < G).map(move |at| (places.of(at), column(at)))
}

/// All label-ordered pairs of a query, by the groups of both.
pub(super) fn count<M: Mass>(query: &QueryPairs, order: &ScoreOrder) -> Lent<CellCounts<M>> {
    match query.present.len() {
        1 => count_in::<M, 1>(query, order),
        2 => count_in::<M, 2>(query, order),
        3 | 4 => count_in::<M, 4>(query, order),
        _ => count_in::<M, 8>(query, order),
    }
}

/// The same, `G` groups of worse examples at once.
fn count_in<M: Mass, const G: usize>(query: &QueryPairs, order: &ScoreOrder) -> Lent<CellCounts<M>> {
    let (n, k) = (query.len(), query.present.len());
    let places = &*order.places(query);
    let parts = if n > query.sizes.count_fork { threads::count() } else { 1 };
    // Steps and insertions before of all parts cost the same: where the label starts that is at the start of such a part.
    let share = |part: usize| 1.0 - (1.0 - INSERTION).powi(part as i32);
    let start = |part: usize| match query.rank.get((share(part) / share(parts) * n as f64) as usize) {
        Some(label) if part < parts => query.rank.partition_point(|rank| rank < label),
        _ => n,
    };
    let mut walked = query.rooms.lend::<Vec<WalkPart<M, G>>>();
    walked.resize_with(parts, WalkPart::default);
    walked.iter_mut().enumerate().for_each(|(at, part)| part.positions = start(at)..start(at + 1));
    let is_distinct = places.are_distinct() && query.rank.last().is_some_and(|&last| last as usize + 1 == n);
    let keeps = is_distinct && order.keeps() && k <= G.min(MOST_KEPT);
    let mut lower = vec![0; if keeps { G * n } else { 0 }];
    let mut cells = CellCounts::<M>::none(k * k, query.rooms);
    let CellCounts { wins, ties, totals, pairs } = &mut *cells;
    for first in (0..k).step_by(G) {
        LabelWalk { query, places, first, is_distinct }.go(&mut walked, &mut lower);
        for part in walked.iter() {
            for (group, sums) in part.sums.iter().enumerate() {
                let width = G.min(k - first);
                let lists = [&mut *wins, &mut *ties, &mut *totals];
                for (list, sums) in lists.into_iter().zip(sums) {
                    add(&mut list[group * k + first..][..width], &sums[..width]);
                }
            }
        }
    }
    M::put_counts(totals, pairs);
    if keeps {
        order.keep(KeptCounts { width: G, lower });
    }
    cells
}

/// What is counted for each group of better examples: wins, ties and totals by worse group.
type Sums<M, const G: usize> = [[<M as Mass>::Worth; G]; 3];

/// A part of a walk: its positions, its tree, and what it counted.
struct WalkPart<M: Mass, const G: usize> {
    positions: Range<usize>,
    tree: RankTree<G>,
    sums: Vec<Sums<M, G>>,
}

impl<M: Mass, const G: usize> Default for WalkPart<M, G> {
    fn default() -> WalkPart<M, G> {
        WalkPart { positions: 0..0, tree: RankTree::default(), sums: Vec::new() }
    }
}

/// One walk, of which the worse examples are those of `G` groups from `first` on.
struct LabelWalk<'a, const G: usize> {
    query: &'a QueryPairs<'a>,
    places: &'a Places,
    first: usize,
    /// Whether no two labels are equal, and no two scores.
    is_distinct: bool,
}

impl<const G: usize> LabelWalk<'_, G> {
    /// Goes through all parts; what is found of each example is kept where there is room for it.
    fn go<M: Mass>(&self, parts: &mut [WalkPart<M, G>], kept: &mut [i32]) {
        if let [WalkPart { positions, tree, sums }] = parts {
            self.start_at(positions.start, tree);
            sums.clear();
            sums.resize(self.query.present.len(), [[M::Worth::default(); G]; 3]);
            return match self.is_distinct {
                true => self.distinct_part::<M>(positions.clone(), tree, sums, kept),
                false => self.part::<M>(positions.clone(), tree, sums),
            };
        }
        let (parts, others) = parts.split_at_mut(parts.len() / 2);
        let (Some(first), Some(next)) = (parts.first(), others.first()) else { return };
        let rows = next.positions.start - first.positions.start;
        let (kept, kept_there) = kept.split_at_mut(if kept.is_empty() { 0 } else { G * rows });
        both(true, || self.go(parts, kept), || self.go(others, kept_there));
    }

    /// Puts all examples before a position into a tree.
    fn start_at(&self, position: usize, tree: &mut RankTree<G>) {
        tree.reset(self.query.len());
        tree.extend(inserted::<G>(self.query, self.places, self.first, 0..position));
    }

    /// The same as [`part`](Self::part) where no two labels are equal, and no two scores: one step after another, without
    /// a look at what comes next. Keeps what is found of each, where there is room for it.
    fn distinct_part<M: Mass>(
        &self,
        positions: Range<usize>,
        tree: &mut RankTree<G>,
        sums: &mut [Sums<M, G>],
        kept: &mut [i32],
    ) {
        wide(
            #[inline(always)]
            || self.distinct_part_of::<M>(positions, tree, sums, kept),
        );
    }

    #[inline(always)]
    fn distinct_part_of<M: Mass>(
        &self,
        positions: Range<usize>,
        tree: &mut RankTree<G>,
        sums: &mut [Sums<M, G>],
        kept: &mut [i32],
    ) {
        let query = self.query;
        let mut kept = kept.as_chunks_mut::<G>().0.iter_mut();
        for from in positions.clone().step_by(STRETCH) {
            let stretch = from..positions.end.min(from + STRETCH);
            tree.touch(stretch.clone().map(|at| self.places.of(at)));
            for at in stretch {
                let (place, group) = (self.places.of(at), usize::from(query.group[at]));
                let lower = tree.before(place);
                let [wins, _, totals] = &mut sums[group];
                for column in 0..G {
                    wins[column] += M::Worth::from(lower[column] as u32);
                    totals[column] += M::Worth::from(tree.all[column] as u32);
                }
                if let Some(kept) = kept.next() {
                    *kept = lower;
                }
                if group.wrapping_sub(self.first) < G {
                    tree.insert(place, group - self.first);
                }
            }
        }
    }

    /// Goes through some positions, which are all those of their labels.
    fn part<M: Mass>(&self, positions: Range<usize>, tree: &mut RankTree<G>, sums: &mut [Sums<M, G>]) {
        let query = self.query;
        let add = |sums: &mut [M::Worth; G], counts: [i32; G]| {
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += M::Worth::from(count as u32));
        };
        let (mut from, mut touched, end) = (positions.start, positions.start, positions.end);
        for level in query.rank[positions].chunk_by(|a, b| a == b) {
            let level = from..from + level.len();
            if from >= touched {
                touched = (from + STRETCH).min(end);
                tree.touch((from..touched).map(|at| self.places.of(at)));
            }
            for at in level.clone() {
                let run = self.places.run(at);
                let [wins, ties, totals] = &mut sums[usize::from(query.group[at])];
                let lower = tree.before(run.start);
                add(wins, lower);
                add(totals, tree.all);
                if run.len() > 1 {
                    let through = tree.before(run.end);
                    add(ties, std::array::from_fn(|column| through[column] - lower[column]));
                }
            }
            from = level.end;
            inserted::<G>(query, self.places, self.first, level)
                .for_each(|(place, column)| tree.insert(place, column));
        }
    }
}
