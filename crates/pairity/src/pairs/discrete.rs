//! Exact counts of label-ordered pairs between groups, for one query.
//!
//! Small queries compare every pair. Large ones are swept: with the examples in score order, split
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

use super::mass::{Mass, Unit};
use super::view::{View, runs};
use rayon::join;
use rayon::prelude::*;

/// Nodes above this size hand their halves to two threads. Part of the result's definition: sums of
/// weights are added up along this tree whatever the number of threads.
pub(crate) const FORK: usize = 1 << 16;

/// Below this size a node compares every pair.
const LEAF: usize = 12;

/// Worth of the pairs between each two groups present in a query: `[better * groups + worse]`.
pub(crate) struct Cells<M: Mass> {
    pub wins: Vec<M::Worth>,
    pub ties: Vec<M::Worth>,
    pub totals: Vec<M::Worth>,
    pub pairs: Vec<u64>,
}

/// All label-ordered pairs of a query that has labels.
pub(crate) fn accuracy<M: Mass>(view: &View, labels: &[f64]) -> Cells<M> {
    let masses = view.masses::<M>();
    if view.is_small() { every_pair(view, labels, &masses) } else { sweep(view, &masses) }
}

fn every_pair<M: Mass>(view: &View, labels: &[f64], masses: &[M]) -> Cells<M> {
    let k = view.present.len();
    let zero = || vec![M::Worth::default(); k * k];
    let mut cells = Cells { wins: zero(), ties: zero(), totals: zero(), pairs: vec![0; k * k] };
    for i in 1..view.len() {
        for j in 0..i {
            let (better, worse) = match labels[i].total_cmp(&labels[j]) {
                _ if labels[i] == labels[j] => continue,
                std::cmp::Ordering::Greater => (i, j),
                _ => (j, i),
            };
            let cell = view.groups[better] as usize * k + view.groups[worse] as usize;
            let worth = masses[better].above(masses[worse].alone());
            cells.pairs[cell] += 1;
            cells.totals[cell] += worth;
            if view.scores[better] > view.scores[worse] {
                cells.wins[cell] += worth;
            } else if view.scores[better] == view.scores[worse] {
                cells.ties[cell] += worth;
            }
        }
    }
    cells
}

fn sweep<M: Mass>(view: &View, masses: &[M]) -> Cells<M> {
    let k = view.present.len();
    // Everything below is kept in label order, where the halves of a split are contiguous.
    let groups: Vec<u16> = view.example.par_iter().map(|&e| view.groups[e as usize]).collect();
    let masses: Vec<M> = view.example.iter().map(|&e| masses[e as usize]).collect();
    let everyone = 0..view.len() as u32;
    let (order, (totals, pairs)) = join(
        || view.by_score(),
        || {
            let totals = by_rank(everyone.clone(), view.rank, &groups, &masses, k);
            let counted = || by_rank(everyone.clone(), view.rank, &groups, &vec![Unit; view.len()], k);
            let pairs = M::counts(&totals).unwrap_or_else(counted);
            (totals, pairs)
        },
    );
    let mut ties = vec![M::Worth::default(); k * k];
    for run in runs(&order) {
        let places = run.iter().rev().map(|&(_, e)| view.place[e as usize]);
        add(&mut ties, &by_rank(places, view.rank, &groups, &masses, k));
    }
    let elements: Vec<u64> = order
        .par_iter()
        .map(|&(_, e)| {
            let e = e as usize;
            let tag = if M::PLAIN { u32::from(view.groups[e]) } else { view.place[e] };
            u64::from(view.rank_of[e]) << 32 | u64::from(tag)
        })
        .collect();
    drop(order);
    let bits = u32::BITS - view.rank.last().map_or(0, |highest| highest.leading_zeros());
    let wins = if k <= 1 {
        wins::<M, 1>(elements, bits, &groups, &masses, k)
    } else if k <= 2 {
        wins::<M, 2>(elements, bits, &groups, &masses, k)
    } else if k <= 4 {
        wins::<M, 4>(elements, bits, &groups, &masses, k)
    } else {
        wins::<M, 8>(elements, bits, &groups, &masses, k)
    };
    Cells { wins, ties, totals, pairs }
}

/// All pairs of unequal rank among `places`, which come in ascending order of rank.
fn by_rank<M: Mass>(
    places: impl Iterator<Item = u32>,
    rank: &[u32],
    groups: &[u16],
    masses: &[M],
    k: usize,
) -> Vec<M::Worth> {
    let mut worth = vec![M::Worth::default(); k * k];
    let mut below = vec![M::Sum::default(); k];
    let mut level = vec![M::Sum::default(); k];
    let mut current = u32::MAX;
    for place in places.map(|place| place as usize) {
        if rank[place] != current {
            current = rank[place];
            for (below, level) in below.iter_mut().zip(&mut level) {
                *below += std::mem::take(level);
            }
        }
        let group = groups[place] as usize;
        for (worth, &below) in worth[group * k..][..k].iter_mut().zip(&below) {
            *worth += masses[place].above(below);
        }
        level[group] += masses[place].alone();
    }
    worth
}

fn add<W: Copy + std::ops::AddAssign>(to: &mut [W], from: &[W]) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to += from);
}

/// Sweeps once for every `G` groups of worse examples.
fn wins<M: Mass, const G: usize>(
    elements: Vec<u64>,
    bits: u32,
    groups: &[u16],
    masses: &[M],
    k: usize,
) -> Vec<M::Worth> {
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
        let sweep = Sweep::<M> { groups, masses, first, k };
        let rows = sweep.split::<G>(&mut work, &mut scratch, bits - 1);
        for (better, row) in rows.iter().enumerate() {
            let lanes = G.min(k - first);
            wins[better * k + first..][..lanes].copy_from_slice(&row[..lanes]);
        }
    }
    wins
}

/// One sweep: the worse examples are those of the groups from `first` on.
struct Sweep<'a, M: Mass> {
    groups: &'a [u16],
    masses: &'a [M],
    first: usize,
    k: usize,
}

impl<M: Mass> Sweep<'_, M> {
    /// Group and mass of an element. If all masses are the same its tag is the group, else the place.
    #[inline(always)]
    fn member(&self, element: u64) -> (usize, M) {
        let tag = element as u32 as usize;
        if M::PLAIN { (tag, M::default()) } else { (self.groups[tag] as usize, self.masses[tag]) }
    }

    /// Wins among `elements` (rank and place, in score order) that differ in `bit` of the rank or in a
    /// lower one: a row for each group of the better example.
    fn split<const G: usize>(
        &self,
        elements: &mut [u64],
        scratch: &mut [u64],
        bit: u32,
    ) -> Vec<[M::Worth; G]> {
        let mut rows = vec![[M::Worth::default(); G]; self.k];
        let zeros = self.partition(elements, scratch, bit, &mut rows);
        if bit > 0 {
            let (left, right) = elements.split_at_mut(zeros);
            let (above, below) = scratch.split_at_mut(zeros);
            if left.len() + right.len() > FORK {
                let (a, b) =
                    join(|| self.split::<G>(left, above, bit - 1), || self.split::<G>(right, below, bit - 1));
                for (row, (a, b)) in rows.iter_mut().zip(a.iter().zip(&b)) {
                    add(row, a);
                    add(row, b);
                }
            } else {
                self.descend(left, above, bit - 1, &mut rows);
                self.descend(right, below, bit - 1, &mut rows);
            }
        }
        rows
    }

    fn descend<const G: usize>(
        &self,
        elements: &mut [u64],
        scratch: &mut [u64],
        bit: u32,
        rows: &mut [[M::Worth; G]],
    ) {
        if elements.len() <= LEAF {
            return self.leaf(elements, rows);
        }
        let zeros = self.partition(elements, scratch, bit, rows);
        if bit > 0 {
            let (left, right) = elements.split_at_mut(zeros);
            let (above, below) = scratch.split_at_mut(zeros);
            self.descend(left, above, bit - 1, rows);
            self.descend(right, below, bit - 1, rows);
        }
    }

    fn leaf<const G: usize>(&self, elements: &[u64], rows: &mut [[M::Worth; G]]) {
        for (i, &higher) in elements.iter().enumerate().skip(1) {
            let (group, mass) = self.member(higher);
            let row = &mut rows[group];
            for &lower in &elements[..i] {
                let (worse, other) = self.member(lower);
                let lane = worse.wrapping_sub(self.first);
                if lower >> 32 < higher >> 32 && lane < G {
                    row[lane] += mass.above(other.alone());
                }
            }
        }
    }

    /// Moves elements with a 0 at `bit` before those with a 1, keeping their order, and adds up the
    /// wins of 1s over 0s. Returns the number of 0s.
    fn partition<const G: usize>(
        &self,
        elements: &mut [u64],
        scratch: &mut [u64],
        bit: u32,
        rows: &mut [[M::Worth; G]],
    ) -> usize {
        let scratch = &mut scratch[..elements.len()];
        let (zeros, ones) = M::split_alike(elements, scratch, bit, rows)
            .unwrap_or_else(|| self.split_any(elements, scratch, bit, rows));
        elements[zeros..].copy_from_slice(&scratch[..ones]);
        zeros
    }

    fn split_any<const G: usize>(
        &self,
        elements: &mut [u64],
        scratch: &mut [u64],
        bit: u32,
        rows: &mut [[M::Worth; G]],
    ) -> (usize, usize) {
        let mut passed = [M::Sum::default(); G];
        let (mut zeros, mut ones) = (0, 0);
        // Both targets are written and only one index moves: a branch here would be mispredicted half
        // of the time.
        for i in 0..elements.len() {
            let element = elements[i];
            let one = element >> (bit + 32) & 1 == 1;
            let (group, mass) = self.member(element);
            let lane = group.wrapping_sub(self.first);
            for (row, &passed) in rows[group].iter_mut().zip(&passed) {
                *row += if one { mass.above(passed) } else { M::Worth::default() };
            }
            for (own, passed) in passed.iter_mut().enumerate() {
                *passed += if own == lane && !one { mass.alone() } else { M::Sum::default() };
            }
            elements[zeros] = element;
            scratch[ones] = element;
            zeros += usize::from(!one);
            ones += usize::from(one);
        }
        (zeros, ones)
    }
}

/// The split where every pair counts one and elements carry their group, in 32-bit lanes: blocks are so
/// short that neither the counts of a block nor their sums overflow.
pub(super) fn split_alike<const G: usize>(
    elements: &mut [u64],
    scratch: &mut [u64],
    bit: u32,
    rows: &mut [[u64; G]],
) -> (usize, usize) {
    const BLOCK: usize = 60_000;
    let mut unit = [[0u32; G]; G];
    unit.iter_mut().enumerate().for_each(|(group, unit)| unit[group] = 1);
    let mut before = [0u64; G];
    let (mut zeros, mut ones) = (0, 0);
    for start in (0..elements.len()).step_by(BLOCK) {
        let mut passed = [0u32; G];
        let mut wins = [[0u32; G]; G];
        let mut betters = [0u32; G];
        for i in start..elements.len().min(start + BLOCK) {
            let element = elements[i];
            let one = (element >> (bit + 32) & 1) as u32;
            let group = element as u32 as usize % G;
            let mask = one.wrapping_neg();
            for (wins, &passed) in wins[group].iter_mut().zip(&passed) {
                *wins += passed & mask;
            }
            for (passed, &unit) in passed.iter_mut().zip(&unit[group]) {
                *passed += unit & !mask;
            }
            betters[group] += one;
            elements[zeros] = element;
            scratch[ones] = element;
            zeros += 1 - one as usize;
            ones += one as usize;
        }
        for ((row, wins), &betters) in rows.iter_mut().zip(&wins).zip(&betters) {
            for ((row, &wins), &before) in row.iter_mut().zip(wins).zip(&before) {
                *row += u64::from(wins) + before * u64::from(betters);
            }
        }
        for (before, &passed) in before.iter_mut().zip(&passed) {
            *before += u64::from(passed);
        }
    }
    (zeros, ones)
}
