//! Counts of label-ordered pairs by the order of a continuous attribute where every pair counts one, for one query:
//! O(n log n), from counts by two orders at a time.
//!
//! Three orders without ties say of any pair that all three agree on who is higher, or that exactly two of them do. So
//! if X, Y and Z pairs are alike in label and score, in label and attribute, and in score and attribute,
//!
//! ```text
//! X + Y + Z = 3 T + (N − T)   of N = n (n − 1) / 2 pairs, hence   T = (X + Y + Z − N) / 2
//! ```
//!
//! pairs are alike in all three: wins of `A[z > z']`. Ties are broken such that a tied pair is never alike in all
//! three: equal attributes by descending label, equal scores against the order of attributes made so, and equal labels
//! against that of scores. With the attribute turned round T counts the wins of `A[z < z']`.

use super::index::{NO_RANK, QueryPairs};
use super::label_walk::STRETCH;
use super::order::position;
use super::rank_tree::RankTree;
use crate::examples::TIED;
use crate::rooms::{Lent, Rooms};
use crate::threads;
use std::ops::Range;

/// Parts of a count that is worth several threads.
const PARTS: usize = 4;

/// The examples of a query that have an attribute, in three orders.
struct AttributeOrders {
    /// Places in the order of scores and in that of the attribute, in the order of labels.
    score: Lent<Vec<u32>>,
    attribute: Lent<Vec<u32>>,
    /// Places in the order of the attribute, in the order of scores.
    attribute_by_score: Lent<Vec<u32>>,
}

/// Numbers of pairs whose better example has the greater and the lesser attribute.
pub(super) struct AttributeCounts {
    pub wins: [u64; 2],
    /// All pairs; none where some are tied, as these are found otherwise.
    pub totals: Option<[u64; 2]>,
}

/// Counts wins, from the positions in score order.
pub(super) fn count(query: &QueryPairs, entries: &[u32]) -> AttributeCounts {
    let is_forked = query.len() > query.sizes.count_fork && threads::count() > 1;
    let parts = if is_forked { PARTS } else { 1 };
    let known = query.attribute.iter().filter(|&&rank| rank != NO_RANK);
    let (n, highest) = known.fold((0, 0), |(n, highest), &rank| (n + 1, rank.max(highest)));
    let is_tied = n > u64::from(highest) + 1
        || query.rank.windows(2).any(|ranks| ranks[0] == ranks[1])
        || entries.iter().any(|entry| entry & TIED != 0);
    let all = n * n.saturating_sub(1) / 2;
    let [[x, y, z], less] = [false, true].map(|turned| match is_tied || !turned {
        true => AttributeOrders::new(query, entries, highest, turned).alike(parts, query.rooms),
        false => [0; 3],
    });
    let wins = |[x, y, z]: [u64; 3]| (x + y + z - all) / 2;
    let greater = wins([x, y, z]);
    match is_tied {
        true => AttributeCounts { wins: [greater, wins(less)], totals: None },
        false => AttributeCounts { wins: [greater, x - greater], totals: Some([y, all - y]) },
    }
}

impl AttributeOrders {
    fn new(query: &QueryPairs, entries: &[u32], highest: u32, turned: bool) -> AttributeOrders {
        let known = |&at: &usize| query.attribute[at] != NO_RANK;
        let rank = |at: usize| match turned {
            true => (highest - query.attribute[at]) as usize,
            false => query.attribute[at] as usize,
        };
        // Where each rank starts; positions are in ascending order of label.
        let mut next = query.rooms.filled(highest as usize + 2, 0);
        (0..query.len()).filter(known).for_each(|at| next[rank(at) + 1] += 1);
        (1..next.len()).for_each(|rank| next[rank] += next[rank - 1]);
        let mut attribute = query.rooms.list(query.len());
        for at in (0..query.len()).rev().filter(known) {
            attribute[at] = next[rank(at)];
            next[rank(at)] += 1;
        }
        drop(next);

        let mut score = query.rooms.list(query.len());
        let mut attribute_by_score = query.rooms.empty(query.len());
        let mut run = query.rooms.empty::<usize>(0);
        for equal in entries.chunk_by(|_, next| next & TIED != 0) {
            run.clear();
            run.extend(equal.iter().map(|&entry| position(entry)).filter(known));
            if run.len() > 1 {
                run.sort_unstable_by_key(|&at| u32::MAX - attribute[at]);
            }
            for &at in run.iter() {
                score[at] = attribute_by_score.len() as u32;
                attribute_by_score.push(attribute[at]);
            }
        }

        let mut kept = 0;
        let mut pairs = query.rooms.empty::<(u32, u32)>(0);
        for equal in level_ranges(query.rank) {
            pairs.clear();
            pairs.extend(equal.filter(known).map(|at| (score[at], attribute[at])));
            if pairs.len() > 1 {
                pairs.sort_unstable_by_key(|&(score, _)| u32::MAX - score);
            }
            for &pair in pairs.iter() {
                (score[kept], attribute[kept]) = pair;
                kept += 1;
            }
        }
        score.truncate(kept);
        attribute.truncate(kept);
        AttributeOrders { score, attribute, attribute_by_score }
    }

    /// How many pairs are alike in label and score, in label and attribute, and in score and attribute.
    fn alike(&self, parts: usize, rooms: &Rooms) -> [u64; 3] {
        let lists = [&self.score[..], &self.attribute, &self.attribute_by_score];
        let n = self.score.len();
        let mut found = rooms.list(lists.len() * parts);
        threads::each_chunk(&mut found, 1, &|task, found| {
            let (list, part) = (lists[task / parts], task % parts);
            found.fill(ascending(list, part * n / parts..(part + 1) * n / parts, rooms));
        });
        let sum = |list: usize| found[list * parts..][..parts].iter().sum();
        [sum(0), sum(1), sum(2)]
    }
}

/// Ranges of equal ranks, which ascend.
fn level_ranges(ranks: &[u32]) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    ranks.chunk_by(|a, b| a == b).map(move |level| {
        start += level.len();
        start - level.len()..start
    })
}

/// How many pairs of a list of all numbers below its length ascend, the second of which is in a range of it.
fn ascending(list: &[u32], range: Range<usize>, rooms: &Rooms) -> u64 {
    let mut tree = rooms.lend::<RankTree<1>>();
    tree.reset(list.len());
    tree.extend(list[..range.start].iter().map(|&place| (place as usize, 0)));
    let mut sum = 0;
    for stretch in list[range].chunks(STRETCH) {
        tree.touch(stretch.iter().map(|&place| place as usize));
        for &place in stretch {
            let [before] = tree.before(place as usize);
            sum += before as u64;
            tree.insert(place as usize, 0);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use crate::pairs::index::{PairIndex, Sizes};
    use crate::pairs::oracle::{self, OracleRows, tables};
    use crate::pairs::{CellLayout, Tally};
    use crate::rates::{Rate, Ties};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

        /// Ties in any of the three orders, missing attributes, and parts for several threads.
        #[test]
        fn counts_are_those_of_all_pairs(
            rows in tables(),
            attribute in prop::collection::vec(
                prop_oneof![Just(f64::NAN), (0i32..4).prop_map(f64::from), -1.0..1.0f64], 130
            ),
            distinct: bool,
            count_fork in prop::sample::select(vec![0, 1 << 16]),
        ) {
            let n = rows.scores.len();
            let scattered = |by: usize| (0..n).map(|row| (row * by % 131) as f64).collect::<Vec<_>>();
            let rows = match distinct {
                true => OracleRows {
                    scores: scattered(17),
                    labels: Some(scattered(29)),
                    protected: Some(scattered(53)),
                    ..OracleRows::default()
                },
                false => OracleRows {
                    scores: rows.scores,
                    labels: rows.labels,
                    protected: Some(attribute[..n].to_vec()),
                    ..OracleRows::default()
                },
            };
            let Some(examples) = rows.ordered_above(0) else { return Ok(()) };
            let sizes = Sizes { small: 0, count_fork, ..Sizes::default() };
            let index = PairIndex::sized(&examples, &[Rate::Greater, Rate::Less], sizes);
            let scores = examples.arrange(&rows.scores).unwrap();
            let tally = Tally::count(&index, &index.order(&scores), Ties::Half);
            let slow = oracle::count(&rows, Ties::Half);
            let layout = CellLayout::of(&examples);
            for cell in [layout.greater(), layout.less()] {
                let found = tally.queries().flatten().find(|entry| entry.cell as usize == cell);
                let slow = slow.get(&(0, cell)).filter(|sums| sums.pairs > 0);
                prop_assert_eq!(found.map(|f| (f.credit, f.total)), slow.map(|s| (s.credit, s.total)));
            }
        }
    }
}
