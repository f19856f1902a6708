//! Counts of label-ordered pairs that count one each where there are two labels, for one query: one sweep, O(K n).
//!
//! Going up in score, with the number of worse examples of each group passed so far,
//!
//! ```text
//! wins[a][b] += passed of b         at each better example of group a
//! ```
//!
//! As better examples come before worse ones of the same score, no tie counts as a win. Parts of the score order are swept
//! apart: a better example has won over all worse ones of earlier parts.

use super::groups::CellCounts;
use super::index::QueryPairs;
use super::mass::Mass;
use super::order::{ScoreOrder, position, runs};
use crate::examples::TIED;
use crate::rooms::Lent;
use crate::threads;

/// Groups of worse examples that are counted at once.
const LANES: usize = 4;

/// Whether a query has two labels.
pub(super) fn is_all(query: &QueryPairs) -> bool {
    query.rank.last() == Some(&1)
}

/// All label-ordered pairs of a query of two labels, by the groups of both.
pub(super) fn count<M: Mass>(query: &QueryPairs, order: &ScoreOrder) -> Lent<CellCounts<M>> {
    let (n, k, entries) = (query.len(), query.present.len(), order.entries(query));
    let mut cells = CellCounts::<M>::none(k * k, query.rooms);
    let CellCounts { wins, ties, totals, pairs } = &mut *cells;
    let sweep = TwoLabelSweep { query, split: query.rank.partition_point(|&rank| rank == 0) as u32 };
    let parts = if n > query.sizes.count_fork { threads::count() } else { 1 };
    // Of a part, by group: wins, how many are worse, and how many are better.
    let size = k * k + 2 * k;
    let mut counted = query.rooms.filled(size * parts, 0u64);
    threads::each_chunk(&mut counted, size, &|part, own| {
        sweep.add_wins(&entries[n * part / parts..n * (part + 1) / parts], own);
    });
    let mut all = query.rooms.filled(size, 0u64);
    let (won, sizes) = all.split_at_mut(k * k);
    for part in counted.chunks(size) {
        let (own, own_sizes) = part.split_at(k * k);
        for (cell, (won, own)) in won.iter_mut().zip(own).enumerate() {
            *won += own + own_sizes[k + cell / k] * sizes[cell % k];
        }
        sizes.iter_mut().zip(own_sizes).for_each(|(size, own)| *size += own);
    }
    for (cell, won) in won.iter().enumerate() {
        wins[cell] = M::of_count(*won);
        pairs[cell] = sizes[k + cell / k] * sizes[cell % k];
        totals[cell] = M::of_count(pairs[cell]);
    }
    if entries.iter().any(|entry| entry & TIED != 0) {
        sweep.add_ties::<M>(entries, ties);
    }
    cells
}

struct TwoLabelSweep<'a> {
    query: &'a QueryPairs<'a>,
    /// The first position of a better example.
    split: u32,
}

impl TwoLabelSweep<'_> {
    /// Adds what the better examples of a part of the score order win over the worse ones of it, and counts both.
    fn add_wins(&self, part: &[u32], counted: &mut [u64]) {
        let k = self.query.present.len();
        let (wins, sizes) = counted.split_at_mut(k * k);
        let mut rows = self.query.rooms.list::<[u64; LANES]>(k);
        for first in (0..k).step_by(LANES) {
            rows.fill([0; LANES]);
            let mut passed = [0u64; LANES];
            for at in part.iter().map(|&entry| position(entry)) {
                let group = usize::from(self.query.group[at]);
                let is_better = u64::from(at >= self.split as usize);
                // Without a branch, which would go either way.
                let (better, worse) = (is_better.wrapping_neg(), 1 - is_better);
                let row = &mut rows[group];
                for lane in 0..LANES {
                    row[lane] += passed[lane] & better;
                    passed[lane] += if first + lane == group { worse } else { 0 };
                }
            }
            let width = LANES.min(k - first);
            rows.iter().zip(wins.chunks_mut(k)).for_each(|(row, wins)| {
                wins[first..][..width].copy_from_slice(&row[..width]);
            });
            sizes[first..][..width].copy_from_slice(&passed[..width]);
        }
        for at in part.iter().map(|&entry| position(entry)).filter(|&at| at >= self.split as usize) {
            sizes[k + usize::from(self.query.group[at])] += 1;
        }
    }

    /// Adds the pairs of equal scores.
    fn add_ties<M: Mass>(&self, entries: &[u32], ties: &mut [M::Worth]) {
        let k = self.query.present.len();
        let mut worse = self.query.rooms.filled(k, 0u32);
        let mut groups = self.query.rooms.empty::<u16>(k);
        for run in runs(entries).filter(|run| run.len() > 1) {
            let better = run.partition_point(|&entry| position(entry) >= self.split as usize);
            for &entry in &run[better..] {
                let group = self.query.group[position(entry)];
                if worse[usize::from(group)] == 0 {
                    groups.push(group);
                }
                worse[usize::from(group)] += 1;
            }
            for &entry in &run[..better] {
                let row = usize::from(self.query.group[position(entry)]) * k;
                for group in groups.iter().map(|&group| usize::from(group)) {
                    ties[row + group] += M::Worth::from(worse[group]);
                }
            }
            groups.drain(..).for_each(|group| worse[usize::from(group)] = 0);
        }
    }
}
