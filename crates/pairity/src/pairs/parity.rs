//! Exact counts of pairs between groups without regard to labels, for one query.

use super::discrete::Cells;
use super::mass::Mass;
use super::shares::{Part, mix};
use super::tally::Layout;
use super::view::View;
use crate::examples::sort_by_value;
use crate::rates::Ties;

/// All pairs of a query, by the groups present in it: `[first * groups + second]`, where the first wins
/// if it scores higher. Pairs inside one group are counted too; they are half wins by symmetry and no
/// rate uses them.
pub(crate) fn parity<M: Mass>(view: &View) -> Cells<M> {
    let k = view.present.len();
    let masses = view.masses::<M>();
    let zero = || vec![M::Worth::default(); k * k];
    let mut cells = Cells { wins: zero(), ties: zero(), totals: zero(), pairs: vec![0; k * k] };
    if view.is_small() {
        for i in 1..view.len() {
            for j in 0..i {
                let (first, second) = if view.scores[i] > view.scores[j] { (i, j) } else { (j, i) };
                let (a, b) = (view.groups[first] as usize, view.groups[second] as usize);
                let worth = masses[first].above(masses[second].alone());
                if view.scores[i] == view.scores[j] {
                    cells.ties[a * k + b] += worth;
                    cells.ties[b * k + a] += worth;
                } else {
                    cells.wins[a * k + b] += worth;
                }
            }
        }
    } else {
        let order = sort_by_value(view.scores);
        let mut below = vec![M::Sum::default(); k];
        for run in order.chunk_by(|a, b| a.0 == b.0) {
            let mut level = vec![M::Sum::default(); if run.len() > 1 { k } else { 0 }];
            for &(_, e) in run {
                let (group, mass) = (view.groups[e as usize] as usize, masses[e as usize]);
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
            for &(_, e) in run {
                below[view.groups[e as usize] as usize] += masses[e as usize].alone();
            }
        }
    }
    let mut sums = vec![M::Sum::default(); k];
    let mut counts = vec![0u64; k];
    for (&group, mass) in view.groups.iter().zip(&masses) {
        sums[group as usize] += mass.alone();
        counts[group as usize] += 1;
    }
    for (&group, mass) in view.groups.iter().zip(&masses) {
        for (cell, &sum) in cells.totals[group as usize * k..][..k].iter_mut().zip(&sums) {
            *cell += mass.above(sum);
        }
    }
    for (a, &first) in counts.iter().enumerate() {
        for (b, &second) in counts.iter().enumerate() {
            cells.pairs[a * k + b] = first * second;
        }
    }
    cells
}

/// Marks an example whose score equals that of the one before.
const TIED: u32 = 1 << 31;

/// Each example's share in the pairs without regard to labels, in the order of the examples.
pub(crate) struct ParityShares<M: Mass> {
    masses: Vec<M>,
    /// Credit as the first of a pair, by group of the second.
    credits: Vec<f32>,
    /// Worth of equal scores, by group, where they earn neither side anything; empty otherwise.
    unearned: Vec<f32>,
    sums: Vec<M::Sum>,
}

impl<M: Mass> ParityShares<M> {
    pub(crate) fn new(view: &View, ties: Ties) -> ParityShares<M> {
        let k = view.present.len();
        let masses = view.masses::<M>();
        // Four bytes an example instead of sixteen, before the credits take their room.
        let order: Vec<u32> = {
            let sorted = sort_by_value(view.scores);
            let tied = |i: usize| i > 0 && sorted[i].0 == sorted[i - 1].0;
            (0..sorted.len()).map(|i| if tied(i) { sorted[i].1 | TIED } else { sorted[i].1 }).collect()
        };
        let tied = order.iter().any(|id| id & TIED != 0);
        let mut credits = vec![0.0; k * view.len()];
        let mut unearned = vec![0.0; if ties == Ties::Strict && tied { k * view.len() } else { 0 }];
        let mut sums = vec![M::Sum::default(); k];
        let mut level = vec![M::Sum::default(); k];
        for run in order.chunk_by(|_, next| next & TIED != 0) {
            let alone = run.len() == 1;
            for e in run.iter().map(|id| (id & !TIED) as usize) {
                level[view.groups[e] as usize] += masses[e].alone();
            }
            for e in run.iter().map(|id| (id & !TIED) as usize) {
                let (mass, at) = (masses[e], k * e);
                for group in 0..k {
                    let won = M::number(mass.above(sums[group]));
                    let equal = if alone { 0.0 } else { M::number(mass.above(level[group])) };
                    credits[at + group] = (won + ties.credit() * equal) as f32;
                    if let Some(unearned) = unearned.get_mut(at + group) {
                        *unearned = equal as f32;
                    }
                }
            }
            for (sum, level) in sums.iter_mut().zip(&mut level) {
                *sum += std::mem::take(level);
            }
        }
        ParityShares { masses, credits, unearned, sums }
    }

    /// Mixes in what another member of a mixture earns.
    pub(super) fn mix(&mut self, other: &ParityShares<M>, factors: [f32; 2]) {
        mix(&mut self.credits, &other.credits, factors);
        // A member without equal scores has no list.
        let longer = self.unearned.len().max(other.unearned.len());
        self.unearned.resize(longer, 0.0);
        self.unearned.iter_mut().for_each(|own| *own *= factors[0]);
        self.unearned.iter_mut().zip(&other.unearned).for_each(|(own, other)| *own += other * factors[1]);
    }

    pub(crate) fn parts(&self, example: usize, view: &View, layout: &Layout, parts: &mut Vec<Part>) {
        let k = view.present.len();
        let own = view.present[view.groups[example] as usize] as usize;
        if own >= layout.groups {
            return;
        }
        for (other, &code) in view.present.iter().enumerate() {
            let (code, at) = (code as usize, k * example + other);
            if own != code && code < layout.groups {
                let total = M::number(self.masses[example].above(self.sums[other]));
                let first = f64::from(self.credits[at]);
                let unearned = self.unearned.get(at).copied().unwrap_or(0.0);
                let second = (total - first - f64::from(unearned)).max(0.0);
                let cells = [(layout.parity(own, code), first), (layout.parity(code, own), second)];
                parts.extend(cells.into_iter().zip(0..).map(|((cell, credit), side)| Part {
                    cell: cell as u32,
                    side,
                    credit,
                    total,
                }));
            }
        }
    }
}
