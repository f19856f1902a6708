//! Exact counts of pairs between groups without regard to labels, for one query.

use super::discrete::Cells;
use super::mass::Mass;
use super::shares::Part;
use super::tally::Layout;
use super::view::View;
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
        let order = view.by_score(|_| 0);
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

/// Each example's share in the pairs without regard to labels, in the order of the examples.
pub(crate) struct ParityShares<M: Mass> {
    masses: Vec<M>,
    /// By group: credit as the first of a pair, then as the second.
    credits: Vec<f32>,
    sums: Vec<M::Sum>,
}

impl<M: Mass> ParityShares<M> {
    pub(crate) fn new(view: &View, ties: Ties) -> ParityShares<M> {
        let k = view.present.len();
        let masses = view.masses::<M>();
        let mut credits = vec![0.0; 2 * k * view.len()];
        let order = view.by_score(|_| 0);
        let mut sums = vec![M::Sum::default(); k];
        // Upward the sums hold what an example beats, downward what beats it.
        for second in [false, true] {
            sums.fill(M::Sum::default());
            let mut runs = order.chunk_by(|a, b| a.0 == b.0);
            while let Some(run) = if second { runs.next_back() } else { runs.next() } {
                let tied = if run.len() > 1 { sums.clone() } else { Vec::new() };
                let tied = run.iter().fold(tied, |mut tied, &(_, e)| {
                    if let Some(sum) = tied.get_mut(view.groups[e as usize] as usize) {
                        *sum += masses[e as usize].alone();
                    }
                    tied
                });
                for &(_, e) in run {
                    let mass = masses[e as usize];
                    let at = 2 * k * e as usize + if second { k } else { 0 };
                    for (group, credit) in credits[at..at + k].iter_mut().enumerate() {
                        let won = M::number(mass.above(sums[group]));
                        let reached = tied.get(group).map_or(won, |&sum| M::number(mass.above(sum)));
                        *credit = (won + ties.credit() * (reached - won)) as f32;
                    }
                }
                for &(_, e) in run {
                    sums[view.groups[e as usize] as usize] += masses[e as usize].alone();
                }
            }
        }
        ParityShares { masses, credits, sums }
    }

    pub(crate) fn parts(&self, example: usize, view: &View, layout: &Layout, parts: &mut Vec<Part>) {
        let k = view.present.len();
        let own = view.present[view.groups[example] as usize] as usize;
        let credits = &self.credits[2 * k * example..][..2 * k];
        for (other, &code) in view.present.iter().enumerate() {
            let code = code as usize;
            if own != code && own < layout.groups && code < layout.groups {
                let total = M::number(self.masses[example].above(self.sums[other]));
                for (side, cell) in
                    [layout.parity(own, code), layout.parity(code, own)].into_iter().enumerate()
                {
                    let credit = credits[side * k + other].into();
                    parts.push(Part { cell: cell as u32, side: side as u8, credit, total });
                }
            }
        }
    }
}
