//! Each example's share in the pairs of a table without queries.
//!
//! Where examples are the independent units, the variance of a rate comes from what the pairs of each
//! example earn (its placements, in DeLong's words). The recursion is that of the discrete count, but
//! it adds sums to examples instead of cells; shares only feed variances, so they are kept in f32.

use super::continuous::{Share, continuous_shares};
use super::discrete::FORK;
use super::mass::{Gap, Mass, Unit, Weight};
use super::members::Arranged;
use super::parity::ParityShares;
use super::tally::Layout;
use super::view::{View, runs};
use crate::examples::{Attribute, Examples};
use crate::rates::Ties;
use rayon::join;
use rayon::prelude::*;
use std::ops::Range;

/// Sums are kept at every so many places. A task visits a multiple of it, which is part of the
/// result's definition, as it orders the sums.
const CHUNK: usize = 1 << 14;

/// The most tasks: each has sums of its own, which may be large.
const TASKS: usize = 32;

/// Below this size a node compares every pair.
const LEAF: usize = 12;

/// What the pairs of one unit in one cell earned, and what they could have earned. An example stands on
/// one side of its pairs: 0 for the better or first, 1 for the worse or second; of a query it is 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Part {
    pub cell: u32,
    pub side: u8,
    pub credit: f64,
    pub total: f64,
}

/// Shares of all examples, handed out example by example.
pub(crate) struct Shares;

impl Shares {
    /// Calls `visit` with the parts of each example; examples come in chunks that depend on the data
    /// alone, each with a state from `start`. Returns the states in order.
    pub(crate) fn visit<R: Send>(
        examples: &Examples,
        members: &[Arranged],
        ties: Ties,
        start: impl Fn() -> R + Sync,
        visit: impl Fn(&mut R, &[Part]) + Sync,
    ) -> Vec<R> {
        match (examples.label_gap, examples.factors.is_some()) {
            (true, true) => run::<Gap, Weight, R>(examples, members, ties, start, visit),
            (true, false) => run::<Gap, Unit, R>(examples, members, ties, start, visit),
            (false, true) => run::<Weight, Weight, R>(examples, members, ties, start, visit),
            (false, false) => run::<Unit, Unit, R>(examples, members, ties, start, visit),
        }
    }
}

/// `M` is the mass of label-ordered pairs, `P` that of pairs without labels.
fn run<M: Mass, P: Mass, R: Send>(
    examples: &Examples,
    members: &[Arranged],
    ties: Ties,
    start: impl Fn() -> R + Sync,
    visit: impl Fn(&mut R, &[Part]) + Sync,
) -> Vec<R> {
    let Some((first, others)) = members.split_first() else { return Vec::new() };
    let layout = Layout::of(examples);
    let view = View::new(examples, 0..examples.len(), &first.scores);
    let shares = |view: &View| {
        let labeled = view.labels.map(|_| Labeled::<M>::new(view, ties));
        let parity = (layout.groups > 0).then(|| ParityShares::<P>::new(view, ties));
        let continuous = match (&examples.attribute, view.labels) {
            (Attribute::Continuous(values), Some(_)) => {
                Some(continuous_shares::<M>(view, values, ties.credit() as f32))
            }
            _ => None,
        };
        (labeled, parity, continuous)
    };
    let (mut labeled, mut parity, mut continuous) = shares(&view);
    // What members earn is mixed; what they could earn is the same for all.
    for (place, member) in others.iter().enumerate() {
        let factors = [if place == 0 { first.chance() as f32 } else { 1.0 }, member.chance() as f32];
        let other = shares(&View::new(examples, 0..examples.len(), &member.scores));
        if let (Some(all), Some(own)) = (&mut labeled, &other.0) {
            mix(&mut all.credits, &own.credits, factors);
        }
        if let (Some(all), Some(own)) = (&mut parity, &other.1) {
            all.mix(own, factors);
        }
        if let (Some(all), Some(own)) = (&mut continuous, &other.2) {
            mix(all.0.as_flattened_mut(), own.0.as_flattened(), factors);
        }
    }
    let n = view.len();
    let step = CHUNK * n.div_ceil(CHUNK * TASKS);
    let chunks: Vec<Range<usize>> = (0..n).step_by(step).map(|at| at..(at + step).min(n)).collect();
    chunks
        .into_par_iter()
        .map(|chunk| {
            let mut state = start();
            let mut parts = Vec::new();
            let mut window: Option<Window<M>> = None;
            for place in chunk {
                parts.clear();
                let mut example = place;
                if let (Some(labeled), Some(labels)) = (&labeled, view.labels) {
                    example = view.example[place] as usize;
                    let here = match window.take() {
                        Some(window) if place < window.end => window,
                        last => labeled.window(last, place, view.rank),
                    };
                    labeled.parts(&here, place, &view, &layout, &mut parts);
                    window = Some(here);
                    let weight = examples.weights.as_ref().map_or(1.0, |weights| weights[example]);
                    let error = |member: &Arranged| {
                        member.chance() * (member.scores[example] - labels[example]).powi(2)
                    };
                    parts.push(Part {
                        cell: layout.mse() as u32,
                        side: 0,
                        credit: weight * members.iter().map(error).sum::<f64>(),
                        total: weight,
                    });
                }
                if let Some((credits, totals)) = &continuous {
                    push_orders(&credits[place], &totals[place], &layout, &mut parts);
                }
                if let Some(parity) = &parity {
                    parity.parts(example, &view, &layout, &mut parts);
                }
                visit(&mut state, &parts);
            }
            state
        })
        .collect()
}

/// all ← all · factor + own · factor.
pub(super) fn mix(all: &mut [f32], own: &[f32], factors: [f32; 2]) {
    all.iter_mut().zip(own).for_each(|(all, own)| *all = *all * factors[0] + own * factors[1]);
}

fn push_orders(credits: &Share, totals: &Share, layout: &Layout, parts: &mut Vec<Part>) {
    for (i, (&credit, &total)) in credits.iter().zip(totals).enumerate() {
        if total > 0.0 {
            let cell = [layout.greater(), layout.less()][i % 2] as u32;
            parts.push(Part { cell, side: (i / 2) as u8, credit: credit.into(), total: total.into() });
        }
    }
}

/// Shares in label-ordered pairs, in label order.
struct Labeled<M: Mass> {
    k: usize,
    groups: Vec<u16>,
    masses: Vec<M>,
    /// For each place the credit as the better example by group of the worse, then the credit as the
    /// worse example by group of the better.
    credits: Vec<f32>,
    /// Sums by group before every [`CHUNK`]-th place, and over all.
    before: Vec<Vec<M::Sum>>,
}

/// Sums by group below and up to the run of equal labels that a walk stands in.
struct Window<M: Mass> {
    below: Vec<M::Sum>,
    through: Vec<M::Sum>,
    end: usize,
}

impl<M: Mass> Labeled<M> {
    fn new(view: &View, ties: Ties) -> Labeled<M> {
        let k = view.present.len();
        let own = view.masses::<M>();
        let groups: Vec<u16> = view.example.iter().map(|&e| view.groups[e as usize]).collect();
        let masses: Vec<M> = view.example.iter().map(|&e| own[e as usize]).collect();
        let order = view.by_score();
        let mut elements: Vec<u64> = order
            .iter()
            .map(|&(_, e)| u64::from(view.rank_of[e as usize]) << 32 | u64::from(view.place[e as usize]))
            .collect();
        let mut labeled =
            Labeled { k, groups, masses, credits: vec![0.0; 2 * k * view.len()], before: Vec::new() };
        if ties == Ties::Half {
            for run in runs(&order) {
                let places: Vec<usize> =
                    run.iter().rev().map(|&(_, e)| view.place[e as usize] as usize).collect();
                labeled.add_ties(&places, view.rank);
            }
        }
        drop(order);
        let mut scratch = vec![0; elements.len()];
        let bits = u32::BITS - view.rank.last().map_or(0, |highest| highest.leading_zeros());
        if bits > 0 {
            let mut credits = std::mem::take(&mut labeled.credits);
            labeled.split(&mut elements, &mut scratch, bits - 1, &mut credits, 0);
            labeled.credits = credits;
        }
        let mut sums = vec![M::Sum::default(); k];
        for place in 0..view.len() {
            if place.is_multiple_of(CHUNK) {
                labeled.before.push(sums.clone());
            }
            sums[labeled.groups[place] as usize] += labeled.masses[place].alone();
        }
        labeled.before.push(sums);
        labeled
    }

    /// Half credit inside a run of equal scores, given in ascending order of label.
    fn add_ties(&mut self, places: &[usize], rank: &[u32]) {
        let k = self.k;
        for better in [true, false] {
            let mut behind = vec![M::Sum::default(); k];
            let mut ascending = places.chunk_by(|&a, &b| rank[a] == rank[b]);
            while let Some(level) = if better { ascending.next() } else { ascending.next_back() } {
                for &place in level {
                    let at = 2 * k * place + if better { 0 } else { k };
                    for (credit, &sum) in self.credits[at..at + k].iter_mut().zip(&behind) {
                        let mass = self.masses[place];
                        let worth = if better { mass.above(sum) } else { mass.below(sum) };
                        *credit += 0.5 * M::number(worth) as f32;
                    }
                }
                for &place in level {
                    behind[self.groups[place] as usize] += self.masses[place].alone();
                }
            }
        }
    }

    /// Adds the credit of pairs that differ in `bit` of the label rank or in a lower one; the elements
    /// stand in score order and fill the places from `base` on.
    fn split(&self, elements: &mut [u64], scratch: &mut [u64], bit: u32, credits: &mut [f32], base: usize) {
        let (n, k) = (elements.len(), self.k);
        if n <= LEAF {
            return self.leaf(elements, credits, base);
        }
        let mut passed = vec![M::Sum::default(); k];
        for &element in elements.iter().rev() {
            let place = element as u32 as usize;
            let mass = self.masses[place];
            if element >> (bit + 32) & 1 == 1 {
                passed[self.groups[place] as usize] += mass.alone();
            } else {
                let own = &mut credits[2 * k * (place - base) + k..][..k];
                for (own, &passed) in own.iter_mut().zip(&passed) {
                    *own += M::number(mass.below(passed)) as f32;
                }
            }
        }
        passed.fill(M::Sum::default());
        let (mut zeros, mut ones) = (0, 0);
        for i in 0..n {
            let element = elements[i];
            let place = element as u32 as usize;
            let mass = self.masses[place];
            if element >> (bit + 32) & 1 == 1 {
                let own = &mut credits[2 * k * (place - base)..][..k];
                for (own, &passed) in own.iter_mut().zip(&passed) {
                    *own += M::number(mass.above(passed)) as f32;
                }
                scratch[ones] = element;
                ones += 1;
            } else {
                passed[self.groups[place] as usize] += mass.alone();
                elements[zeros] = element;
                zeros += 1;
            }
        }
        elements[zeros..].copy_from_slice(&scratch[..ones]);
        if bit == 0 {
            return;
        }
        let (left, right) = elements.split_at_mut(zeros);
        let (below, above) = scratch[..n].split_at_mut(zeros);
        let (lower, upper) = credits.split_at_mut(2 * k * zeros);
        if n > FORK {
            join(
                || self.split(left, below, bit - 1, lower, base),
                || self.split(right, above, bit - 1, upper, base + zeros),
            );
        } else {
            self.split(left, below, bit - 1, lower, base);
            self.split(right, above, bit - 1, upper, base + zeros);
        }
    }

    fn leaf(&self, elements: &[u64], credits: &mut [f32], base: usize) {
        let k = self.k;
        for (i, &higher) in elements.iter().enumerate().skip(1) {
            for &lower in &elements[..i] {
                if lower >> 32 < higher >> 32 {
                    let (better, worse) = (higher as u32 as usize, lower as u32 as usize);
                    let worth = M::number(self.masses[better].above(self.masses[worse].alone())) as f32;
                    credits[2 * k * (better - base) + self.groups[worse] as usize] += worth;
                    credits[2 * k * (worse - base) + k + self.groups[better] as usize] += worth;
                }
            }
        }
    }

    /// Sums by group over the places before `place`.
    fn sums_before(&self, place: usize) -> Vec<M::Sum> {
        let mut sums = self.before[place / CHUNK].clone();
        self.add_masses(&mut sums, place / CHUNK * CHUNK..place);
        sums
    }

    /// The window of the run of equal labels that `place` stands in; `last` is that of the run before.
    fn window(&self, last: Option<Window<M>>, place: usize, rank: &[u32]) -> Window<M> {
        let end = place + rank[place..].partition_point(|&r| r == rank[place]);
        let Some(last) = last else {
            let start = rank[..place].partition_point(|&r| r < rank[place]);
            return Window { below: self.sums_before(start), through: self.sums_before(end), end };
        };
        let below = last.through;
        let through = if end - place > CHUNK {
            self.sums_before(end)
        } else {
            let mut sums = below.clone();
            self.add_masses(&mut sums, place..end);
            sums
        };
        Window { below, through, end }
    }

    fn add_masses(&self, sums: &mut [M::Sum], places: Range<usize>) {
        for (group, mass) in self.groups[places.clone()].iter().zip(&self.masses[places]) {
            sums[*group as usize] += mass.alone();
        }
    }

    fn parts(&self, window: &Window<M>, place: usize, view: &View, layout: &Layout, parts: &mut Vec<Part>) {
        let (k, group, mass) = (self.k, self.groups[place] as usize, self.masses[place]);
        let all = &self.before[self.before.len() - 1];
        let own = view.present[group] as usize;
        let credits = &self.credits[2 * k * place..][..2 * k];
        for (other, &code) in view.present.iter().enumerate() {
            let better = M::number(mass.above(window.below[other]));
            if better > 0.0 {
                parts.push(Part {
                    cell: layout.accuracy(own, code as usize) as u32,
                    side: 0,
                    credit: credits[other].into(),
                    total: better,
                });
            }
            let worse = M::number(mass.below(all[other])) - M::number(mass.below(window.through[other]));
            if worse > 0.0 {
                parts.push(Part {
                    cell: layout.accuracy(code as usize, own) as u32,
                    side: 1,
                    credit: credits[k + other].into(),
                    total: worse,
                });
            }
        }
    }
}
