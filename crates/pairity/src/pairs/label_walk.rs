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
use super::order::{Places, ScoreOrder};
use super::rank_tree::RankTree;
use crate::threads;
use std::ops::Range;

/// Places of so many positions are brought into the cache at once.
pub(super) const STRETCH: usize = 256;

/// Parts of a walk that is worth several threads.
const PARTS: usize = 4;

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
pub(super) fn count<M: Mass>(query: &QueryPairs, order: &ScoreOrder) -> CellCounts<M> {
    match query.present.len() {
        1 => count_in::<M, 1>(query, order),
        2 => count_in::<M, 2>(query, order),
        3 | 4 => count_in::<M, 4>(query, order),
        _ => count_in::<M, 8>(query, order),
    }
}

/// The same, `G` groups of worse examples at once.
fn count_in<M: Mass, const G: usize>(query: &QueryPairs, order: &ScoreOrder) -> CellCounts<M> {
    let (n, k) = (query.len(), query.present.len());
    let places = Places::new(order.entries(query));
    let parts = if n > query.sizes.count_fork && threads::count() > 1 { PARTS } else { 1 };
    // Where the label starts that is at the start of an equal part.
    let start = |part: usize| match query.rank.get(part * n / parts) {
        Some(label) => query.rank.partition_point(|rank| rank < label),
        None => n,
    };
    let ranges: Vec<Range<usize>> = (0..parts).map(|part| start(part)..start(part + 1)).collect();
    let mut cells = CellCounts::<M>::new(k * k);
    for first in (0..k).step_by(G) {
        let walk = LabelWalk::<G> { query, places: &places, first };
        for part in threads::map(&ranges, &|range| walk.part::<M>(range.clone())) {
            for (group, sums) in part.iter().enumerate() {
                let width = G.min(k - first);
                let lists = [&mut cells.wins, &mut cells.ties, &mut cells.totals];
                for (list, sums) in lists.into_iter().zip(sums) {
                    add(&mut list[group * k + first..][..width], &sums[..width]);
                }
            }
        }
    }
    cells.pairs = M::counts(&cells.totals).unwrap_or_default();
    cells
}

/// What is counted for each group of better examples: wins, ties and totals by worse group.
type Sums<M, const G: usize> = [[<M as Mass>::Worth; G]; 3];

/// One walk, of which the worse examples are those of `G` groups from `first` on.
struct LabelWalk<'a, const G: usize> {
    query: &'a QueryPairs<'a>,
    places: &'a Places,
    first: usize,
}

impl<const G: usize> LabelWalk<'_, G> {
    /// Goes through some positions, which are all those of their labels.
    fn part<M: Mass>(&self, positions: Range<usize>) -> Vec<Sums<M, G>> {
        let query = self.query;
        let mut sums: Vec<Sums<M, G>> = vec![[[M::Worth::default(); G]; 3]; query.present.len()];
        let mut tree = RankTree::<G>::default();
        tree.reset(query.len());
        tree.extend(inserted::<G>(query, self.places, self.first, 0..positions.start));
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
        sums
    }
}
