//! Exact counts of label-ordered pairs by the order of a continuous attribute, for one query.
//!
//! The outer recursion is that of the discrete count: with the examples in score order, split by the
//! bits of the label rank; at each split the 1s are better than the 0s. Which of a 1 and a 0 has the
//! higher attribute is settled by an inner recursion of the same kind over the bits of the attribute's
//! rank: a better example with attribute bit 1 above a worse one with bit 0 is a win of `A[z > z']`, the
//! other way round one of `A[z < z']`. Equal attributes are never parted. O(n log² n).
//!
//! Totals and ties ask for no order of scores, so one recursion in label order is enough.

use super::discrete::FORK;
use super::mass::{Mass, Unit};
use super::view::{View, runs};
use crate::examples::sort_by_value;
use rayon::join;

/// Below this size an inner node compares every pair.
const LEAF: usize = 16;

/// Marks the better examples of an inner recursion, in the highest bit of the place.
const BETTER: u64 = 1 << 31;

/// Worth of pairs where the better example has the greater and the lesser attribute.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Orders<W> {
    pub greater: W,
    pub less: W,
}

impl<W: std::ops::AddAssign> Orders<W> {
    fn add(&mut self, other: Orders<W>) {
        self.greater += other.greater;
        self.less += other.less;
    }
}

/// The counts of one query.
pub(crate) struct ContinuousCells<M: Mass> {
    pub wins: Orders<M::Worth>,
    pub ties: Orders<M::Worth>,
    pub totals: Orders<M::Worth>,
    pub pairs: Orders<u64>,
}

/// What pairs of one example are worth, by the side it stands on and the order of the attribute:
/// better and greater, better and less, worse in a `greater` pair, worse in a `less` pair.
pub(crate) type Share = [f32; 4];

/// All pairs of a query that has labels; `attribute` is NaN where an example has none.
pub(crate) fn continuous<M: Mass>(view: &View, labels: &[f64], attribute: &[f64]) -> ContinuousCells<M> {
    let masses = view.masses::<M>();
    if view.is_small() {
        return every_pair(view, labels, attribute, &masses);
    }
    let ranked = Ranked::new(view, attribute, &masses);
    let (mut wins, mut ties) = (Orders::default(), Orders::default());
    ranked.in_score_order(view, |part, elements| match part {
        Part::All => wins = ranked.by_score::<false>(elements, &mut []),
        Part::Tied => ties.add(ranked.by_label::<false>(elements, &mut [])),
    });
    let totals = ranked.by_label::<false>(&mut ranked.in_label_order(), &mut []);
    let pairs = match M::counts(&[totals.greater, totals.less]).as_deref() {
        Some(&[greater, less]) => Orders { greater, less },
        _ => {
            let counted = Ranked::new(view, attribute, &vec![Unit; view.len()]);
            counted.by_label::<false>(&mut counted.in_label_order(), &mut [])
        }
    };
    ContinuousCells { wins, ties, totals, pairs }
}

/// Credit and total of the pairs of each example, in label order.
pub(crate) fn continuous_shares<M: Mass>(
    view: &View,
    attribute: &[f64],
    tie_credit: f32,
) -> (Vec<Share>, Vec<Share>) {
    let ranked = Ranked::new(view, attribute, &view.masses::<M>());
    let mut credits = vec![Share::default(); view.len()];
    let mut tied = vec![Share::default(); if tie_credit > 0.0 { view.len() } else { 0 }];
    ranked.in_score_order(view, |part, elements| match part {
        Part::All => {
            ranked.by_score::<true>(elements, &mut credits);
        }
        Part::Tied if tie_credit > 0.0 => {
            ranked.by_label::<true>(elements, &mut tied);
        }
        Part::Tied => {}
    });
    for (credit, tied) in credits.iter_mut().zip(&tied) {
        credit.iter_mut().zip(tied).for_each(|(credit, tied)| *credit += tie_credit * tied);
    }
    let mut totals = vec![Share::default(); view.len()];
    ranked.by_label::<true>(&mut ranked.in_label_order(), &mut totals);
    (credits, totals)
}

fn every_pair<M: Mass>(view: &View, labels: &[f64], attribute: &[f64], masses: &[M]) -> ContinuousCells<M> {
    let mut cells = ContinuousCells::<M> {
        wins: Orders::default(),
        ties: Orders::default(),
        totals: Orders::default(),
        pairs: Orders::default(),
    };
    for i in 0..view.len() {
        for j in 0..view.len() {
            let greater = attribute[i] > attribute[j];
            // NaN compares as neither.
            if labels[i] <= labels[j] || !(greater || attribute[i] < attribute[j]) {
                continue;
            }
            let worth = masses[i].above(masses[j].alone());
            let add = |orders: &mut Orders<M::Worth>| {
                *(if greater { &mut orders.greater } else { &mut orders.less }) += worth;
            };
            *(if greater { &mut cells.pairs.greater } else { &mut cells.pairs.less }) += 1;
            add(&mut cells.totals);
            if view.scores[i] > view.scores[j] {
                add(&mut cells.wins);
            } else if view.scores[i] == view.scores[j] {
                add(&mut cells.ties);
            }
        }
    }
    cells
}

/// Which elements [`Ranked::in_score_order`] hands over.
enum Part {
    /// All, by ascending score, equal scores by descending label.
    All,
    /// A run of equal scores, by ascending label.
    Tied,
}

/// A query's examples with the ranks of label and attribute at each place in label order. Elements are
/// `attribute rank << 32 | place`.
struct Ranked<'a, M> {
    label: &'a [u32],
    /// `u32::MAX` without attribute.
    attribute: Vec<u32>,
    mass: Vec<M>,
    label_bits: u32,
    attribute_bits: u32,
}

/// Sums by attribute bit while walking through labels in order.
#[derive(Default)]
struct Passed<M: Mass> {
    /// Over the labels left behind.
    behind: [M::Sum; 2],
    /// Over the current label.
    level: [M::Sum; 2],
    current: u32,
}

impl<M: Mass> Passed<M> {
    /// Takes in an example; returns the sum of those of other labels behind it whose bit is not `up`.
    fn meet(&mut self, label: u32, up: usize, mass: M) -> M::Sum {
        if label != self.current {
            self.current = label;
            for (behind, level) in self.behind.iter_mut().zip(&mut self.level) {
                *behind += std::mem::take(level);
            }
        }
        self.level[up] += mass.alone();
        self.behind[1 - up]
    }
}

fn bits(highest: u32) -> u32 {
    u32::BITS - highest.leading_zeros()
}

impl<'a, M: Mass> Ranked<'a, M> {
    fn new(view: &View<'a>, attribute: &[f64], masses: &[M]) -> Ranked<'a, M> {
        let mut ranks = vec![u32::MAX; view.len()];
        let mut sorted = sort_by_value(attribute);
        sorted.retain(|&(_, e)| !attribute[e as usize].is_nan());
        let mut rank = 0;
        for (i, &(key, e)) in sorted.iter().enumerate() {
            rank += u32::from(i > 0 && key != sorted[i - 1].0);
            ranks[view.place[e as usize] as usize] = rank;
        }
        Ranked {
            label: view.rank,
            attribute: ranks,
            mass: view.example.iter().map(|&e| masses[e as usize]).collect(),
            label_bits: bits(view.rank.last().copied().unwrap_or(0)),
            attribute_bits: bits(rank),
        }
    }

    /// The element at a place, if it has an attribute.
    fn element(&self, place: u32) -> Option<u64> {
        let rank = self.attribute[place as usize];
        (rank != u32::MAX).then_some(u64::from(rank) << 32 | u64::from(place))
    }

    fn in_label_order(&self) -> Vec<u64> {
        (0..self.label.len() as u32).filter_map(|place| self.element(place)).collect()
    }

    fn in_score_order(&self, view: &View, mut visit: impl FnMut(Part, &mut [u64])) {
        let order = view.by_score();
        let element = |&(_, e): &(u64, u32)| self.element(view.place[e as usize]);
        for run in runs(&order) {
            visit(Part::Tied, &mut run.iter().rev().filter_map(element).collect::<Vec<_>>());
        }
        visit(Part::All, &mut order.iter().filter_map(element).collect::<Vec<_>>());
    }

    /// Pairs where the better example comes later than the worse, both by the given order. With
    /// `SHARES`, adds each example's part to `shares`, by place.
    fn by_score<const SHARES: bool>(&self, elements: &mut [u64], shares: &mut [Share]) -> Orders<M::Worth> {
        let mut scratch = vec![0; 2 * elements.len()];
        match self.label_bits {
            0 => Orders::default(),
            bits => self.outer::<SHARES>(elements, &mut scratch, bits - 1, shares, 0),
        }
    }

    /// One split by a bit of the label rank; `shares` starts at place `base`.
    fn outer<const SHARES: bool>(
        &self,
        elements: &mut [u64],
        scratch: &mut [u64],
        bit: u32,
        shares: &mut [Share],
        base: usize,
    ) -> Orders<M::Worth> {
        let n = elements.len();
        if n < 2 {
            return Orders::default();
        }
        let is_better = |element: u64| self.label[element as u32 as usize] >> bit & 1 == 1;
        let (marked, spare) = scratch.split_at_mut(n);
        for (marked, &element) in marked.iter_mut().zip(&*elements) {
            *marked = if is_better(element) { element | BETTER } else { element };
        }
        let spare = &mut spare[..n];
        let mut orders = match self.attribute_bits {
            0 => Orders::default(),
            bits => self.inner::<SHARES>(marked, spare, bits - 1, shares, base),
        };
        if bit > 0 {
            let (mut zeros, mut ones) = (0, 0);
            for i in 0..n {
                let element = elements[i];
                let better = is_better(element);
                elements[zeros] = element;
                spare[ones] = element;
                zeros += usize::from(!better);
                ones += usize::from(better);
            }
            elements[zeros..].copy_from_slice(&spare[..ones]);
            let (left, right) = elements.split_at_mut(zeros);
            let (below, above) = scratch.split_at_mut(2 * zeros);
            // The places of the halves are apart: the 1s start where the lowest of them stands.
            let middle =
                right.iter().map(|&e| e as u32 as usize).min().map_or(shares.len(), |place| place - base);
            let (lower, upper) = if SHARES { shares.split_at_mut(middle) } else { (shares, &mut [][..]) };
            let (a, b) = if n > FORK {
                join(
                    || self.outer::<SHARES>(left, below, bit - 1, lower, base),
                    || self.outer::<SHARES>(right, above, bit - 1, upper, base + middle),
                )
            } else {
                (
                    self.outer::<SHARES>(left, below, bit - 1, lower, base),
                    self.outer::<SHARES>(right, above, bit - 1, upper, base + middle),
                )
            };
            orders.add(a);
            orders.add(b);
        }
        orders
    }

    /// One split by a bit of the attribute's rank, of elements marked as better or worse.
    fn inner<const SHARES: bool>(
        &self,
        elements: &mut [u64],
        scratch: &mut [u64],
        bit: u32,
        shares: &mut [Share],
        base: usize,
    ) -> Orders<M::Worth> {
        let n = elements.len();
        if n <= LEAF {
            return self.leaf::<SHARES>(elements, shares, base);
        }
        let place = |element: u64| (element & (BETTER - 1)) as usize;
        let zero = M::Sum::default();
        if SHARES {
            let (mut high, mut low) = (zero, zero);
            for &element in elements.iter().rev() {
                let (better, up) = (element & BETTER != 0, element >> (bit + 32) & 1 == 1);
                let mass = self.mass[place(element)];
                match (better, up) {
                    (true, true) => high += mass.alone(),
                    (true, false) => low += mass.alone(),
                    (false, false) => shares[place(element) - base][2] += M::number(mass.below(high)) as f32,
                    (false, true) => shares[place(element) - base][3] += M::number(mass.below(low)) as f32,
                }
            }
        }
        let mut orders = Orders::<M::Worth>::default();
        let (mut high, mut low) = (zero, zero);
        let (mut zeros, mut ones, mut betters) = (0, 0, 0);
        for i in 0..n {
            let element = elements[i];
            let (better, up) = (element & BETTER != 0, element >> (bit + 32) & 1 == 1);
            let mass = self.mass[place(element)];
            let worth = mass.above(if up { low } else { high });
            let worth = if better { worth } else { M::Worth::default() };
            orders.greater += if up { worth } else { M::Worth::default() };
            orders.less += if up { M::Worth::default() } else { worth };
            if SHARES && better {
                shares[place(element) - base][usize::from(!up)] += M::number(worth) as f32;
            }
            let own = if better { zero } else { mass.alone() };
            high += if up { own } else { zero };
            low += if up { zero } else { own };
            elements[zeros] = element;
            scratch[ones] = element;
            zeros += usize::from(!up);
            ones += usize::from(up);
            betters += usize::from(better);
        }
        elements[zeros..].copy_from_slice(&scratch[..ones]);
        if bit > 0 && betters > 0 && betters < n {
            let (left, right) = elements.split_at_mut(zeros);
            let (below, above) = scratch[..n].split_at_mut(zeros);
            let (a, b) = if !SHARES && n > FORK {
                join(
                    || self.inner::<false>(left, below, bit - 1, &mut [], base),
                    || self.inner::<false>(right, above, bit - 1, &mut [], base),
                )
            } else {
                (
                    self.inner::<SHARES>(left, below, bit - 1, shares, base),
                    self.inner::<SHARES>(right, above, bit - 1, shares, base),
                )
            };
            orders.add(a);
            orders.add(b);
        }
        orders
    }

    fn leaf<const SHARES: bool>(
        &self,
        elements: &[u64],
        shares: &mut [Share],
        base: usize,
    ) -> Orders<M::Worth> {
        let place = |element: u64| (element & (BETTER - 1)) as usize;
        let mut orders = Orders::<M::Worth>::default();
        for (i, &better) in elements.iter().enumerate().skip(1) {
            if better & BETTER == 0 {
                continue;
            }
            let z = better >> 32;
            for &worse in elements[..i].iter().filter(|&&worse| worse & BETTER == 0) {
                if worse >> 32 == z {
                    continue;
                }
                let (i, j) = (place(better), place(worse));
                let worth = self.mass[i].above(self.mass[j].alone());
                let less = usize::from(worse >> 32 > z);
                *(if less == 0 { &mut orders.greater } else { &mut orders.less }) += worth;
                if SHARES {
                    shares[i - base][less] += M::number(worth) as f32;
                    shares[j - base][2 + less] += M::number(worth) as f32;
                }
            }
        }
        orders
    }

    /// All pairs of elements in ascending order of label, whatever their scores.
    fn by_label<const SHARES: bool>(&self, elements: &mut [u64], shares: &mut [Share]) -> Orders<M::Worth> {
        let mut scratch = vec![0; elements.len()];
        match self.attribute_bits {
            0 => Orders::default(),
            bits => self.labels_split::<SHARES>(elements, &mut scratch, bits - 1, shares),
        }
    }

    fn labels_split<const SHARES: bool>(
        &self,
        elements: &mut [u64],
        scratch: &mut [u64],
        bit: u32,
        shares: &mut [Share],
    ) -> Orders<M::Worth> {
        let n = elements.len();
        if n < 2 {
            return Orders::default();
        }
        let parts = |element: u64| (element as u32 as usize, (element >> (bit + 32) & 1) as usize);
        if SHARES {
            let mut passed = Passed::<M>::default();
            for &element in elements.iter().rev() {
                let (place, up) = parts(element);
                let above = passed.meet(self.label[place], up, self.mass[place]);
                shares[place][2 + up] += M::number(self.mass[place].below(above)) as f32;
            }
        }
        let mut passed = Passed::<M>::default();
        let mut orders = Orders::<M::Worth>::default();
        let (mut zeros, mut ones) = (0, 0);
        for i in 0..n {
            let element = elements[i];
            let (place, up) = parts(element);
            let worth = self.mass[place].above(passed.meet(self.label[place], up, self.mass[place]));
            *(if up == 1 { &mut orders.greater } else { &mut orders.less }) += worth;
            if SHARES {
                shares[place][1 - up] += M::number(worth) as f32;
            }
            elements[zeros] = element;
            scratch[ones] = element;
            zeros += 1 - up;
            ones += up;
        }
        elements[zeros..].copy_from_slice(&scratch[..ones]);
        if bit > 0 {
            let (left, right) = elements.split_at_mut(zeros);
            let (below, above) = scratch[..n].split_at_mut(zeros);
            orders.add(self.labels_split::<SHARES>(left, below, bit - 1, shares));
            orders.add(self.labels_split::<SHARES>(right, above, bit - 1, shares));
        }
        orders
    }
}
