//! Exact counts of pairs between groups, for one query: `accuracy` of label-ordered ones, `parity` of all.
//!
//! Small queries compare every pair. Large ones are counted by a walk in label order (`label_walk`) where every pair
//! counts one, or by one sweep if there are two labels (`two_labels`). Where pairs have weights, they are swept: with the examples in score order, split
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
use super::order::{Entries, ScoreOrder, position, runs};
use super::two_labels;
use crate::examples::TIED;
use crate::rooms::{Lent, Rooms};
use crate::threads::{self, WORTH, both};

/// What the pairs of each cell are worth, such as those between two groups: `[better * groups + worse]`.
#[derive(Default)]
pub(crate) struct CellCounts<M: Mass> {
    pub wins: Vec<M::Worth>,
    pub ties: Vec<M::Worth>,
    pub totals: Vec<M::Worth>,
    pub pairs: Vec<u64>,
}

impl<M: Mass> CellCounts<M> {
    /// Nothing counted yet.
    pub(super) fn none(cells: usize, rooms: &Rooms) -> Lent<CellCounts<M>> {
        let mut counts = rooms.lend::<CellCounts<M>>();
        let CellCounts { wins, ties, totals, pairs } = &mut *counts;
        for list in [wins, ties, totals] {
            list.clear();
            list.resize(cells, M::Worth::default());
        }
        pairs.clear();
        pairs.resize(cells, 0);
        counts
    }

    /// Puts the only cell's pairs the other way round behind it: these win where those neither win nor tie.
    pub(super) fn add_mirror(&mut self) {
        self.wins.push(self.totals[0] - self.wins[0] - self.ties[0]);
        self.ties.push(self.ties[0]);
        self.totals.push(self.totals[0]);
        self.pairs.push(self.pairs[0]);
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
pub(crate) fn accuracy<M: Mass>(query: &QueryPairs, order: &ScoreOrder, masses: &[M]) -> Lent<CellCounts<M>> {
    if !query.is_small() {
        return match M::EQUAL && !order.entries(query).is_empty() {
            true if query.sizes.sweeps_two_labels && two_labels::is_all(query) => {
                two_labels::count(query, order)
            }
            true => label_walk::count(query, order),
            false => sweep(query, order, masses),
        };
    }
    let (k, at) = (query.present.len(), query.positions());
    let (labels, scores) = (query.labels(), order.scores(query));
    let mut cells = CellCounts::none(k * k, query.rooms);
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

fn sweep<M: Mass>(query: &QueryPairs, order: &ScoreOrder, masses: &[M]) -> Lent<CellCounts<M>> {
    let (k, entries, rooms) = (query.present.len(), order.entries(query), query.rooms);
    let everyone = 0..query.len() as u32;
    let mut cells = CellCounts::<M>::none(k * k, rooms);
    let CellCounts { wins, ties, totals, pairs } = &mut *cells;
    both(
        true,
        || {
            add_by_rank(everyone.clone(), query, masses, totals);
            if !M::put_counts(totals, pairs) {
                add_by_rank(everyone.clone(), query, &vec![EqualMass; query.len()], pairs);
            }
        },
        || {
            let mut own = rooms.list(k * k);
            for run in runs(entries).filter(|run| run.len() > 1) {
                own.fill(M::Worth::default());
                add_by_rank(run.iter().rev().map(|&entry| position(entry) as u32), query, masses, &mut own);
                add(ties, &own);
            }
            let mut elements = rooms.list::<u64>(entries.len());
            threads::fill(&mut elements, &|from, own| {
                for (to, &entry) in own.iter_mut().zip(&entries[from..]) {
                    *to = u64::from(query.rank[position(entry)]) << 32 | position(entry) as u64;
                }
            });
            match k {
                1 => find_wins::<M, 1>(&mut elements, query, masses, wins),
                2 => find_wins::<M, 2>(&mut elements, query, masses, wins),
                3 | 4 => find_wins::<M, 4>(&mut elements, query, masses, wins),
                _ => find_wins::<M, 8>(&mut elements, query, masses, wins),
            }
        },
    );
    cells
}

/// Adds all pairs of unequal rank among positions that come in ascending order of rank.
fn add_by_rank<M: Mass>(
    positions: impl Iterator<Item = u32>,
    query: &QueryPairs,
    masses: &[M],
    worth: &mut [M::Worth],
) {
    let k = query.present.len();
    let mut below = query.rooms.filled(k, M::Sum::default());
    let mut level = query.rooms.filled(k, M::Sum::default());
    let mut current = u32::MAX;
    for at in positions.map(|at| at as usize) {
        if query.rank[at] != current {
            current = query.rank[at];
            for (below, level) in below.iter_mut().zip(level.iter_mut()) {
                *below += std::mem::take(level);
            }
        }
        let group = query.group[at] as usize;
        for (worth, &below) in worth[group * k..][..k].iter_mut().zip(below.iter()) {
            *worth += masses[at].above(below);
        }
        level[group] += masses[at].alone();
    }
}

/// Sweeps once for every `G` groups of worse examples.
fn find_wins<M: Mass, const G: usize>(
    work: &mut [u64],
    query: &QueryPairs,
    masses: &[M],
    wins: &mut [M::Worth],
) {
    let (k, bits, rooms) = (query.present.len(), query.label_bits(), query.rooms);
    if bits == 0 {
        return;
    }
    let mut scratch = rooms.list(work.len());
    let mut again = rooms.empty(if k > G { work.len() } else { 0 });
    if k > G {
        again.extend_from_slice(work);
    }
    for first in (0..k).step_by(G) {
        if first > 0 {
            work.copy_from_slice(&again);
        }
        let mut rows = rooms.filled(k, [M::Worth::default(); G]);
        WinSweep { query, masses, first }.split(work, &mut scratch, bits - 1, &mut rows);
        for (better, row) in rows.iter().enumerate() {
            let width = G.min(k - first);
            wins[better * k + first..][..width].copy_from_slice(&row[..width]);
        }
    }
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
                let mut rows = self.query.rooms.filled(k, [M::Worth::default(); G]);
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
pub(crate) fn parity<M: Mass>(query: &QueryPairs, order: &ScoreOrder, masses: &[M]) -> Lent<CellCounts<M>> {
    let (k, rooms) = (query.present.len(), query.rooms);
    let group = |at: usize| query.group[at] as usize;
    let mut cells = CellCounts::<M>::none(k * k, rooms);
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
        let mut counted = rooms.filled(k * k, 0);
        count_parity_wins(query, order.entries(query), &mut counted);
        cells.wins.iter_mut().zip(counted.iter()).for_each(|(wins, &count)| *wins = M::of_count(count));
    } else {
        let entries = in_score_order::<M>(query, order);
        let (mut below, mut levels) = (rooms.filled(k, M::Sum::default()), rooms.list(k));
        for run in runs(&entries) {
            let level: &mut [M::Sum] = if run.len() > 1 { &mut levels } else { &mut [] };
            level.fill(M::Sum::default());
            for at in run.iter().map(|&entry| position(entry)) {
                let (group, mass) = (group(at), masses[at]);
                for (cell, &below) in cells.wins[group * k..][..k].iter_mut().zip(below.iter()) {
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
    let mut counts = rooms.filled(k, 0u64);
    query.group.iter().for_each(|&group| counts[usize::from(group)] += 1);
    for (cell, pairs) in cells.pairs.iter_mut().enumerate() {
        *pairs = counts[cell / k] * counts[cell % k];
    }
    if M::EQUAL {
        let CellCounts { totals, pairs, .. } = &mut *cells;
        totals.iter_mut().zip(pairs).for_each(|(total, pairs)| *total = M::of_count(*pairs));
        return cells;
    }
    // Sums of weights are defined by the order of the examples.
    let positions = query.positions();
    let mut sums = rooms.filled(k, M::Sum::default());
    positions.iter().for_each(|&at| sums[group(at)] += masses[at].alone());
    for &at in positions.iter() {
        for (cell, &sum) in cells.totals[group(at) * k..][..k].iter_mut().zip(sums.iter()) {
            *cell += masses[at].above(sum);
        }
    }
    cells
}

/// Columns of a register.
const LANES: usize = 4;

/// Adds how often an example of one group scores higher than one of another, where no two scores are equal: parts of the
/// score order are counted apart, and an example has all of earlier parts below it.
fn count_parity_wins(query: &QueryPairs, entries: &[u32], all: &mut [u64]) {
    let (k, rooms) = (query.present.len(), query.rooms);
    // Of a part, by group: how many of each group are below its examples, and how many it has. No sum exceeds 2³².
    let size = k * k + k;
    let mut parts = rooms.list::<u32>(size * entries.len().div_ceil(WORTH));
    threads::each_chunk(&mut parts, size, &|at, counted| {
        let part = &entries[at * WORTH..entries.len().min((at + 1) * WORTH)];
        let (wins, sizes) = counted.split_at_mut(k * k);
        let mut rows = rooms.list::<[u32; LANES]>(k);
        for first in (0..k).step_by(LANES) {
            rows.fill([0; LANES]);
            let mut below = [0; LANES];
            for &entry in part {
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
    });
    let mut before = rooms.filled(k, 0u64);
    for (wins, sizes) in parts.chunks(size).map(|counted| counted.split_at(k * k)) {
        for (cell, all) in all.iter_mut().enumerate() {
            *all += u64::from(wins[cell]) + u64::from(sizes[cell / k]) * before[cell % k];
        }
        before.iter_mut().zip(sizes).for_each(|(before, &size)| *before += u64::from(size));
    }
}

/// The score order with equal scores in the order of the examples, which sums of weights are defined by.
pub(super) fn in_score_order<'o, M: Mass>(query: &QueryPairs, order: &'o ScoreOrder) -> Entries<'o> {
    match M::EQUAL {
        true => Entries::Sorted(order.entries(query)),
        false => order.entries_by(query, |position| query.example[position as usize]),
    }
}
