//! Exact counts of pairs between groups without regard to labels, for one query.

use super::accuracy::CellCounts;
use super::index::QueryPairs;
use super::mass::Mass;
use super::order::{ScoreOrder, position, runs};
use super::placements::mix;
use super::tally::{CellLayout, Placement};
use crate::rates::Ties;
use std::borrow::Cow;

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
    } else {
        let entries = entries::<M>(query, order);
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
    let mut sums = vec![M::Sum::default(); k];
    let mut counts = vec![0u64; k];
    // Sums of weights are defined by the order of the examples.
    let each = |visit: &mut dyn FnMut(usize)| match M::EQUAL {
        true => (0..query.len()).for_each(visit),
        false => query.positions().into_iter().for_each(visit),
    };
    each(&mut |at| {
        sums[group(at)] += masses[at].alone();
        counts[group(at)] += 1;
    });
    each(&mut |at| {
        for (cell, &sum) in cells.totals[group(at) * k..][..k].iter_mut().zip(&sums) {
            *cell += masses[at].above(sum);
        }
    });
    for (a, &first) in counts.iter().enumerate() {
        for (b, &second) in counts.iter().enumerate() {
            cells.pairs[a * k + b] = first * second;
        }
    }
    cells
}

/// The score order with equal scores in the order of the examples, which sums of weights are defined by.
fn entries<'o, M: Mass>(query: &QueryPairs, order: &'o ScoreOrder) -> Cow<'o, [u32]> {
    match M::EQUAL {
        true => Cow::Borrowed(order.entries(query)),
        false => order.entries_by(query, |position| query.example[position as usize]),
    }
}

/// Each example's placements in the pairs without regard to labels, by position.
pub(crate) struct ParityPlacements<'a, M: Mass> {
    masses: &'a [M],
    /// Credit as the first of a pair, by group of the second.
    credits: Vec<f32>,
    /// Worth of equal scores, by group, where they earn neither side anything; empty otherwise.
    unearned: Vec<f32>,
    sums: Vec<M::Sum>,
}

impl<'a, M: Mass> ParityPlacements<'a, M> {
    pub(crate) fn new(
        query: &QueryPairs,
        order: &ScoreOrder,
        masses: &'a [M],
        ties: Ties,
    ) -> ParityPlacements<'a, M> {
        let k = query.present.len();
        let entries = entries::<M>(query, order);
        let tied = runs(&entries).any(|run| run.len() > 1);
        let mut credits = vec![0.0; k * query.len()];
        let mut unearned = vec![0.0; if ties == Ties::Strict && tied { k * query.len() } else { 0 }];
        let mut sums = vec![M::Sum::default(); k];
        let mut level = vec![M::Sum::default(); k];
        for run in runs(&entries) {
            let alone = run.len() == 1;
            for at in run.iter().map(|&entry| position(entry)) {
                level[query.group[at] as usize] += masses[at].alone();
            }
            for at in run.iter().map(|&entry| position(entry)) {
                let (mass, from) = (masses[at], k * at);
                for group in 0..k {
                    let won = M::number(mass.above(sums[group]));
                    let equal = if alone { 0.0 } else { M::number(mass.above(level[group])) };
                    credits[from + group] = (won + ties.credit() * equal) as f32;
                    if let Some(unearned) = unearned.get_mut(from + group) {
                        *unearned = equal as f32;
                    }
                }
            }
            for (sum, level) in sums.iter_mut().zip(&mut level) {
                *sum += std::mem::take(level);
            }
        }
        ParityPlacements { masses, credits, unearned, sums }
    }

    /// Mixes in what another member of a mixture earns.
    pub(super) fn mix(&mut self, other: &ParityPlacements<M>, factors: [f32; 2]) {
        mix(&mut self.credits, &other.credits, factors);
        // A member without equal scores has no list.
        let longer = self.unearned.len().max(other.unearned.len());
        self.unearned.resize(longer, 0.0);
        self.unearned.iter_mut().for_each(|own| *own *= factors[0]);
        self.unearned.iter_mut().zip(&other.unearned).for_each(|(own, other)| *own += other * factors[1]);
    }

    /// The placements of the example at a position.
    pub(crate) fn add_to(
        &self,
        placements: &mut Vec<Placement>,
        at: usize,
        query: &QueryPairs,
        layout: &CellLayout,
    ) {
        let k = query.present.len();
        let own = query.present[query.group[at] as usize] as usize;
        if own >= layout.groups {
            return;
        }
        for (other, &code) in query.present.iter().enumerate() {
            let (code, from) = (code as usize, k * at + other);
            if own != code && code < layout.groups {
                let total = M::number(self.masses[at].above(self.sums[other]));
                let first = f64::from(self.credits[from]);
                let unearned = self.unearned.get(from).copied().unwrap_or(0.0);
                let second = (total - first - f64::from(unearned)).max(0.0);
                let cells = [(layout.parity(own, code), first), (layout.parity(code, own), second)];
                for ((cell, credit), side) in cells.into_iter().zip(0..) {
                    placements.push(Placement { cell: cell as u32, side, credit, total });
                }
            }
        }
    }
}
