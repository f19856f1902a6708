//! Exact counts of pairs between groups, for one query: `accuracy` of label-ordered ones, `parity` of all.
//!
//! Small queries compare every pair. Large ones are counted by a walk in label order (`label_walk`) where every pair
//! counts one. Where pairs have weights, they are swept: with the examples in score order, split
//! them by the highest bit of their label rank. Every pair of unequal labels is parted by exactly one
//! bit, where the better example has a 1 and the worse a 0; so at each split, going up in score with
//! one sum a group of the 0s passed so far, each 1 of group a scores above those sums:
//!
//! ```text
//! wins[a][b] += mass(1 of group a) · sum of 0s of group b below it
//! ```
//!
//! and both halves, still in score order, are split by the next bit: O(K n log L) for L distinct
//! labels, one sweep for binary ones. Equal scores are put in descending order of label first, so that
//! they never count as wins; ties are then summed run by run.

use super::index::{QueryPairs, add, partition};
use super::label_walk;
use super::mass::{EqualMass, Mass};
use super::order::{ScoreOrder, position, runs};
use crate::examples::TIED;
use crate::threads::{self, WORTH, both};
use rayon::prelude::*;
use std::borrow::Cow;

/// What the pairs of each cell are worth, such as those between two groups: `[better * groups + worse]`.
pub(crate) struct CellCounts<M: Mass> {
    pub wins: Vec<M::Worth>,
    pub ties: Vec<M::Worth>,
    pub totals: Vec<M::Worth>,
    pub pairs: Vec<u64>,
}

impl<M: Mass> CellCounts<M> {
    pub(super) fn new(cells: usize) -> CellCounts<M> {
        let zero = || vec![M::Worth::default(); cells];
        CellCounts { wins: zero(), ties: zero(), totals: zero(), pairs: vec![0; cells] }
    }

    /// The first cell, and the same pairs the other way round: these win where those neither win nor tie.
    pub(super) fn both_ways(self) -> CellCounts<M> {
        let lost = self.totals[0] - self.wins[0] - self.ties[0];
        let twice = |worth: &[M::Worth]| vec![worth[0]; 2];
        CellCounts {
            wins: vec![self.wins[0], lost],
            ties: twice(&self.ties),
            totals: twice(&self.totals),
            pairs: vec![self.pairs[0]; 2],
        }
    }

    /// Adds one pair whose first example, the better one where labels count, has these scores beside the other's.
    pub(super) fn add(&mut self, cell: usize, worth: M::Worth, scores: [f64; 2]) {
        self.pairs[cell] += 1;
        self.totals[cell] += worth;
        if scores[0] > scores[1] {
            self.wins[cell] += worth;
        } else if scores[0] == scores[1] {
            self.ties[cell] += worth;
        }
    }
}

/// All label-ordered pairs of a query.
pub(crate) fn accuracy<M: Mass>(query: &QueryPairs, order: &ScoreOrder, masses: &[M]) -> CellCounts<M> {
    if !query.is_small() {
        return match M::EQUAL && !order.entries(query).is_empty() {
            true => label_walk::count(query, order),
            false => sweep(query, order, masses),
        };
    }
    let (k, at) = (query.present.len(), query.positions());
    let (labels, scores) = (query.labels(), order.scores(query));
    let mut cells = CellCounts::new(k * k);
    for i in 1..query.len() {
        for j in 0..i {
            if labels[i] == labels[j] {
                continue;
            }
            let (better, worse) = if labels[i] > labels[j] { (i, j) } else { (j, i) };
            let cell = query.group[at[better]] as usize * k + query.group[at[worse]] as usize;
            let worth = masses[at[better]].above(masses[at[worse]].alone());
            cells.add(cell, worth, [scores[better], scores[worse]]);
        }
    }
    cells
}

fn sweep<M: Mass>(query: &QueryPairs, order: &ScoreOrder, masses: &[M]) -> CellCounts<M> {
    let (k, entries) = (query.present.len(), order.entries(query));
    let everyone = 0..query.len() as u32;
    let ((totals, pairs), (ties, wins)) = both(
        true,
        || {
            let totals = by_rank(everyone.clone(), query, masses);
            let counted = || by_rank(everyone.clone(), query, &vec![EqualMass; query.len()]);
            let pairs = M::counts(&totals).unwrap_or_else(counted);
            (totals, pairs)
        },
        || {
            let mut ties = vec![M::Worth::default(); k * k];
            for run in runs(entries).filter(|run| run.len() > 1) {
                let ascending = run.iter().rev().map(|&entry| position(entry) as u32);
                add(&mut ties, &by_rank(ascending, query, masses));
            }
            let element = |&entry: &u32| {
                let at = position(entry);
                u64::from(query.rank[at]) << 32 | at as u64
            };
            let elements: Vec<u64> = entries.par_iter().map(element).collect();
            let wins = match k {
                1 => wins::<M, 1>(elements, query, masses),
                2 => wins::<M, 2>(elements, query, masses),
                3 | 4 => wins::<M, 4>(elements, query, masses),
                _ => wins::<M, 8>(elements, query, masses),
            };
            (ties, wins)
        },
    );
    CellCounts { wins, ties, totals, pairs }
}

/// All pairs of unequal rank among positions that come in ascending order of rank.
fn by_rank<M: Mass>(positions: impl Iterator<Item = u32>, query: &QueryPairs, masses: &[M]) -> Vec<M::Worth> {
    let k = query.present.len();
    let mut worth = vec![M::Worth::default(); k * k];
    let mut below = vec![M::Sum::default(); k];
    let mut level = vec![M::Sum::default(); k];
    let mut current = u32::MAX;
    for at in positions.map(|at| at as usize) {
        if query.rank[at] != current {
            current = query.rank[at];
            for (below, level) in below.iter_mut().zip(&mut level) {
                *below += std::mem::take(level);
            }
        }
        let group = query.group[at] as usize;
        for (worth, &below) in worth[group * k..][..k].iter_mut().zip(&below) {
            *worth += masses[at].above(below);
        }
        level[group] += masses[at].alone();
    }
    worth
}

/// Sweeps once for every `G` groups of worse examples.
fn wins<M: Mass, const G: usize>(elements: Vec<u64>, query: &QueryPairs, masses: &[M]) -> Vec<M::Worth> {
    let (k, bits) = (query.present.len(), query.label_bits());
    let mut wins = vec![M::Worth::default(); k * k];
    if bits == 0 {
        return wins;
    }
    let mut scratch = vec![0; elements.len()];
    let mut work = elements;
    let again = if k > G { work.clone() } else { Vec::new() };
    for first in (0..k).step_by(G) {
        if first > 0 {
            work.copy_from_slice(&again);
        }
        let mut rows = vec![[M::Worth::default(); G]; k];
        WinSweep { query, masses, first }.split(&mut work, &mut scratch, bits - 1, &mut rows);
        for (better, row) in rows.iter().enumerate() {
            let width = G.min(k - first);
            wins[better * k + first..][..width].copy_from_slice(&row[..width]);
        }
    }
    wins
}

/// One sweep: the worse examples are those of the groups from `first` on.
struct WinSweep<'a, M: Mass, const G: usize> {
    query: &'a QueryPairs<'a>,
    masses: &'a [M],
    first: usize,
}

impl<M: Mass, const G: usize> WinSweep<'_, M, G> {
    /// Group and mass of an element.
    #[inline(always)]
    fn member(&self, element: u64) -> (usize, M) {
        let at = element as u32 as usize;
        (self.query.group[at] as usize, self.masses[at])
    }

    /// Adds the wins among `elements` (rank and position, in score order) that differ in `bit` of the rank or in a
    /// lower one to the rows, one for each group of the better example.
    fn split(&self, elements: &mut [u64], scratch: &mut [u64], bit: u32, rows: &mut [[M::Worth; G]]) {
        let (n, k, sizes) = (elements.len(), rows.len(), self.query.sizes);
        let zeros = self.part(elements, scratch, bit, rows);
        if bit == 0 {
            return;
        }
        let (left, right) = elements.split_at_mut(zeros);
        let (above, below) = scratch.split_at_mut(zeros);
        if n > sizes.count_fork {
            let alone = |elements: &mut [u64], scratch: &mut [u64]| {
                let mut rows = vec![[M::Worth::default(); G]; k];
                self.split(elements, scratch, bit - 1, &mut rows);
                rows
            };
            let (a, b) = both(true, || alone(left, above), || alone(right, below));
            add(rows.as_flattened_mut(), a.as_flattened());
            add(rows.as_flattened_mut(), b.as_flattened());
            return;
        }
        for (half, scratch) in [(left, above), (right, below)] {
            match half.len() <= sizes.count_leaf {
                true => self.leaf(half, rows),
                false => self.split(half, scratch, bit - 1, rows),
            }
        }
    }

    fn leaf(&self, elements: &[u64], rows: &mut [[M::Worth; G]]) {
        for (i, &higher) in elements.iter().enumerate().skip(1) {
            let (group, mass) = self.member(higher);
            let row = &mut rows[group];
            for &lower in &elements[..i] {
                let (worse, other) = self.member(lower);
                let column = worse.wrapping_sub(self.first);
                if lower >> 32 < higher >> 32 && column < G {
                    row[column] += mass.above(other.alone());
                }
            }
        }
    }

    /// Moves elements with a 0 at `bit` before those with a 1, keeping their order, and adds up the
    /// wins of 1s over 0s. Returns the number of 0s.
    fn part(&self, elements: &mut [u64], scratch: &mut [u64], bit: u32, rows: &mut [[M::Worth; G]]) -> usize {
        let mut passed = [M::Sum::default(); G];
        partition(elements, scratch, |element| {
            let one = element >> (bit + 32) & 1 == 1;
            let (group, mass) = self.member(element);
            let column = group.wrapping_sub(self.first);
            for (row, &passed) in rows[group].iter_mut().zip(&passed) {
                *row += if one { mass.above(passed) } else { M::Worth::default() };
            }
            for (own, passed) in passed.iter_mut().enumerate() {
                *passed += if own == column && !one { mass.alone() } else { M::Sum::default() };
            }
            !one
        })
    }
}

/// All pairs of a query, by the groups present in it: `[first * groups + second]`, where the first wins
/// if it scores higher. Pairs inside one group are counted too; they are half wins by symmetry and no
/// rate uses them.
pub(crate) fn parity<M: Mass>(query: &QueryPairs, order: &ScoreOrder, masses: &[M]) -> CellCounts<M> {
    let k = query.present.len();
    let group = |at: usize| query.group[at] as usize;
    let mut cells = CellCounts::new(k * k);
    if query.is_small() {
        let (at, scores) = (query.positions(), order.scores(query));
        for i in 1..query.len() {
            for j in 0..i {
                let (first, second) = if scores[i] > scores[j] { (at[i], at[j]) } else { (at[j], at[i]) };
                let (a, b) = (group(first), group(second));
                let worth = masses[first].above(masses[second].alone());
                if scores[i] == scores[j] {
                    cells.ties[a * k + b] += worth;
                    cells.ties[b * k + a] += worth;
                } else {
                    cells.wins[a * k + b] += worth;
                }
            }
        }
    } else if M::EQUAL && order.entries(query).iter().all(|entry| entry & TIED == 0) {
        for (wins, count) in cells.wins.iter_mut().zip(parity_wins(query, order.entries(query))) {
            *wins = M::of_count(count);
        }
    } else {
        let entries = in_score_order::<M>(query, order);
        let mut below = vec![M::Sum::default(); k];
        for run in runs(&entries) {
            let mut level = vec![M::Sum::default(); if run.len() > 1 { k } else { 0 }];
            for at in run.iter().map(|&entry| position(entry)) {
                let (group, mass) = (group(at), masses[at]);
                for (cell, &below) in cells.wins[group * k..][..k].iter_mut().zip(&below) {
                    *cell += mass.above(below);
                }
                // Each tie stands in both directions; `level` holds the members already seen.
                for (other, &seen) in level.iter().enumerate() {
                    cells.ties[group * k + other] += mass.above(seen);
                    cells.ties[other * k + group] += mass.above(seen);
                }
                if let Some(level) = level.get_mut(group) {
                    *level += mass.alone();
                }
            }
            for at in run.iter().map(|&entry| position(entry)) {
                below[group(at)] += masses[at].alone();
            }
        }
    }
    let mut counts = vec![0u64; k];
    query.group.iter().for_each(|&group| counts[usize::from(group)] += 1);
    for (cell, pairs) in cells.pairs.iter_mut().enumerate() {
        *pairs = counts[cell / k] * counts[cell % k];
    }
    if M::EQUAL {
        cells.totals = cells.pairs.iter().map(|&pairs| M::of_count(pairs)).collect();
        return cells;
    }
    // Sums of weights are defined by the order of the examples.
    let positions = query.positions();
    let mut sums = vec![M::Sum::default(); k];
    positions.iter().for_each(|&at| sums[group(at)] += masses[at].alone());
    for at in positions {
        for (cell, &sum) in cells.totals[group(at) * k..][..k].iter_mut().zip(&sums) {
            *cell += masses[at].above(sum);
        }
    }
    cells
}

/// Columns of a register.
const LANES: usize = 4;

/// How often an example of one group scores higher than one of another, where no two scores are equal: parts of the score
/// order are counted apart, and an example has all of earlier parts below it.
fn parity_wins(query: &QueryPairs, entries: &[u32]) -> Vec<u64> {
    let k = query.present.len();
    let parts: Vec<&[u32]> = entries.chunks(WORTH).collect();
    // Of a part, by group: how many of each group are below its examples, and how many it has. No sum exceeds 2³².
    let count = |part: &&[u32]| -> (Vec<u32>, Vec<u32>) {
        let (mut wins, mut sizes) = (vec![0; k * k], vec![0; k]);
        for first in (0..k).step_by(LANES) {
            let mut rows = vec![[0; LANES]; k];
            let mut below = [0; LANES];
            for &entry in *part {
                let group = usize::from(query.group[position(entry)]);
                let row = &mut rows[group];
                for lane in 0..LANES {
                    row[lane] += below[lane];
                    below[lane] += u32::from(first + lane == group);
                }
            }
            let width = LANES.min(k - first);
            rows.iter().zip(wins.chunks_mut(k)).for_each(|(row, wins)| {
                wins[first..][..width].copy_from_slice(&row[..width]);
            });
            sizes[first..][..width].copy_from_slice(&below[..width]);
        }
        (wins, sizes)
    };
    let (mut all, mut before) = (vec![0; k * k], vec![0u64; k]);
    for (wins, sizes) in threads::map(&parts, &count) {
        for (cell, all) in all.iter_mut().enumerate() {
            *all += u64::from(wins[cell]) + u64::from(sizes[cell / k]) * before[cell % k];
        }
        before.iter_mut().zip(sizes).for_each(|(before, size)| *before += u64::from(size));
    }
    all
}

/// The score order with equal scores in the order of the examples, which sums of weights are defined by.
pub(super) fn in_score_order<'o, M: Mass>(query: &QueryPairs, order: &'o ScoreOrder) -> Cow<'o, [u32]> {
    match M::EQUAL {
        true => Cow::Borrowed(order.entries(query)),
        false => order.entries_by(query, |position| query.example[position as usize]),
    }
}
