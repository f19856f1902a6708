//! Slopes of the label-ordered pairs of one large query where all of them are 0 or the same number but for the
//! coefficients of cells, so that counts are enough: O(K n log n) whatever the number of labels.
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

use super::ScoredPairs;
use super::coefficients::CellCoefficients;
use super::rank_tree::RankTree;
use super::shape::Slope;
use crate::pairs::index::QueryPairs;
use crate::pairs::mass::Mass;
use rayon::join;

/// Groups that are counted at once; more take several rounds.
const WIDEST: usize = 8;

/// Whether counts are the way to take if pairs weigh one.
pub(super) fn is_worth<S: Slope>(query: &QueryPairs) -> bool {
    let mut labels = query.first.chunk_by(|a, b| a == b);
    !S::SQUARED && query.len() >= query.sizes.tree_examples && labels.nth(query.sizes.tree_labels).is_some()
}

/// Where an example stands in score order.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ScoreRank {
    pub rank: u32,
    /// The examples far below it are the first ones, so many.
    pub low: u32,
    /// It is not far below the first ones, so many.
    pub high: u32,
}

/// Finds the ranks of examples, given by scores and positions in score order, among others, and puts them to their
/// positions less `base`.
pub(super) fn find_ranks(
    sorted: &[(f64, u32)],
    others: &[(f64, u32)],
    margin: f64,
    base: usize,
    ranks: &mut [ScoreRank],
) {
    let (mut low, mut high) = (0, 0);
    for (rank, &(own, position)) in sorted.iter().enumerate() {
        while low < others.len() && others[low].0 <= own - margin {
            low += 1;
        }
        // The same comparison with the roles exchanged, so that both ends of a pair agree about it.
        while high < others.len() && others[high].0 - margin < own {
            high += 1;
        }
        ranks[position as usize - base] = ScoreRank { rank: rank as u32, low: low as u32, high: high as u32 };
    }
}

/// Adds the slopes of all label-ordered pairs, each of weight one; returns the offset.
pub(super) fn add_slopes<S: Slope, M: Mass>(
    pairs: &ScoredPairs<M>,
    cells: &CellCoefficients,
    gradient: &mut [f64],
) -> f64 {
    let n = pairs.scores.len();
    let mut ranks = vec![ScoreRank::default(); n];
    let sorted: Vec<(f64, u32)> = pairs.by_score().collect();
    find_ranks(&sorted, &sorted, pairs.margin, 0, &mut ranks);
    drop(sorted);
    let counted = CountedSlopes { query: pairs.query, k: pairs.query.present.len(), ranks: &ranks, cells };
    let total = if n <= pairs.query.sizes.slope_fork {
        counted.add::<S>(false, gradient);
        counted.add::<S>(true, gradient)
    } else {
        let mut falling = vec![0.0; n];
        let (total, _) = join(|| counted.add::<S>(true, gradient), || counted.add::<S>(false, &mut falling));
        gradient.iter_mut().zip(&falling).for_each(|(slope, falling)| *slope += falling);
        total
    };
    pairs.margin * total
}

struct CountedSlopes<'a> {
    query: &'a QueryPairs<'a>,
    k: usize,
    ranks: &'a [ScoreRank],
    cells: &'a CellCoefficients,
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
            let CellCoefficients { first: part, second: other } = self.cells;
            let (low, high) = if up { (part, other) } else { (other, part) };
            // The second part of a bounded surrogate counts the pairs that are idle in that of others.
            let low = self.weights::<G>(low, first, up, S::BOUNDED && !up);
            let high = self.weights::<G>(high, first, up, !(S::BOUNDED && up));
            if low.is_some() || high.is_some() {
                total += self.round::<S, G>(first, [low, high], up, gradient);
            }
        }
        total
    }

    /// What the groups from `first` on weigh; `None` if no pair with them has a coefficient.
    fn weights<const G: usize>(
        &self,
        cells: &[f64],
        first: usize,
        up: bool,
        before: bool,
    ) -> Option<CountWeights<G>> {
        let cell = |group: usize, other: usize| match (other < self.k, up) {
            (false, _) => 0.0,
            (true, true) => cells[group * self.k + other],
            (true, false) => cells[other * self.k + group],
        };
        let row = |group| std::array::from_fn(|column| cell(group, first + column));
        let rows: Vec<[f64; G]> = (0..self.k).map(row).collect();
        rows.iter().flatten().any(|&c| c != 0.0).then_some(CountWeights { rows, before })
    }

    /// The pairs with examples of `G` groups from `first` on.
    fn round<S: Slope, const G: usize>(
        &self,
        first: usize,
        [low, high]: [Option<CountWeights<G>>; 2],
        up: bool,
        gradient: &mut [f64],
    ) -> f64 {
        let mut tree = RankTree::<G>::new(self.ranks.len());
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
