//! Exact counts of label-ordered pairs by the order of a continuous attribute, for one query.
//!
//! The outer recursion is that of the discrete count: with the examples in score order, split by the
//! bits of the label rank; at each split the 1s are better than the 0s. Which of a 1 and a 0 has the
//! higher attribute is settled by an inner recursion of the same kind over the bits of the attribute's
//! rank: a better example with attribute bit 1 above a worse one with bit 0 is a win of `A[z > z']`, the
//! other way round one of `A[z < z']`. Equal attributes are never parted. O(n log² n).
//!
//! Totals and ties ask for no order of scores, so one recursion in label order is enough. Where every pair counts one,
//! wins are found by `attribute_counts`; what is here is for weights, and for the pairs of each example.

use super::attribute_counts;
use super::groups::CellCounts;
use super::index::{NO_RANK, QueryPairs, add, partition};
use super::mass::{EqualMass, Mass};
use super::order::{ScoreOrder, position, runs};
use crate::examples::Attribute;
use crate::rooms::Lent;
use crate::threads::both;

/// Marks the better examples of an inner recursion, in the highest bit of the position.
const BETTER: u64 = 1 << 31;

/// Worth of pairs where the better example has the greater and the lesser attribute.
type ByOrder<M> = [<M as Mass>::Worth; 2];

/// What pairs of one example are worth, by the side it stands on and the order of the attribute:
/// better and greater, better and less, worse in a `greater` pair, worse in a `less` pair.
pub(crate) type OrderSums = [f32; 4];

/// All label-ordered pairs of a query, greater and less.
pub(crate) fn continuous<M: Mass>(
    query: &QueryPairs,
    order: &ScoreOrder,
    masses: &[M],
) -> Lent<CellCounts<M>> {
    if !query.is_small() {
        return sweep(query, order, masses);
    }
    let mut cells = CellCounts::none(2, query.rooms);
    let Attribute::Continuous(attribute) = &query.examples.attribute else { return cells };
    let (at, scores) = (query.positions(), order.scores(query));
    let (labels, attribute) = (query.labels(), &attribute[query.range.clone()]);
    for (i, j) in (0..query.len()).flat_map(|i| (0..query.len()).map(move |j| (i, j))) {
        let less = attribute[i] < attribute[j];
        // NaN compares as neither.
        if labels[i] > labels[j] && (less || attribute[i] > attribute[j]) {
            let worth = masses[at[i]].above(masses[at[j]].alone());
            cells.add(usize::from(less), worth, [scores[i], scores[j]]);
        }
    }
    cells
}

fn sweep<M: Mass>(query: &QueryPairs, order: &ScoreOrder, masses: &[M]) -> Lent<CellCounts<M>> {
    let mut cells = CellCounts::<M>::none(2, query.rooms);
    let CellCounts { wins, ties, totals, pairs } = &mut *cells;
    let ranked = RankedPairs::<M, false>::new(query, masses);
    ranked.for_ties(order, |elements| add(ties, &ranked.by_label(elements, &mut [])));
    let entries = order.entries(query);
    let counted = (M::EQUAL && !entries.is_empty()).then(|| attribute_counts::count(query, entries));
    wins.copy_from_slice(&match &counted {
        Some(counted) => counted.wins.map(M::of_count),
        None => ranked.by_score(ranked.in_score_order(order), &mut []),
    });
    totals.copy_from_slice(&match counted.and_then(|counted| counted.totals) {
        Some(totals) => totals.map(M::of_count),
        None => ranked.by_label(ranked.in_label_order(), &mut []),
    });
    if !M::put_counts(totals, pairs) {
        let equal = vec![EqualMass; query.len()];
        let counted = RankedPairs::<_, false>::new(query, &equal);
        pairs.copy_from_slice(&counted.by_label(counted.in_label_order(), &mut []));
    }
    cells
}

/// Credit and total of the pairs of each example, by position.
pub(crate) fn continuous_placements<M: Mass>(
    query: &QueryPairs,
    order: &ScoreOrder,
    masses: &[M],
    tie_credit: f32,
) -> (Vec<OrderSums>, Vec<OrderSums>) {
    let none = || vec![OrderSums::default(); query.len()];
    let (mut credits, mut totals) = (none(), none());
    let ranked = RankedPairs::<M, true>::new(query, masses);
    ranked.by_score(ranked.in_score_order(order), &mut credits);
    if tie_credit > 0.0 {
        let mut tied = none();
        ranked.for_ties(order, |elements| _ = ranked.by_label(elements, &mut tied));
        let tied = tied.as_flattened().iter();
        credits
            .as_flattened_mut()
            .iter_mut()
            .zip(tied)
            .for_each(|(credit, tied)| *credit += tie_credit * tied);
    }
    ranked.by_label(ranked.in_label_order(), &mut totals);
    (credits, totals)
}

/// A query's examples with the ranks of label and attribute at each position. Elements are
/// `attribute rank << 32 | position`. With `EACH`, what each example's pairs are worth is added to sums by position.
struct RankedPairs<'a, M, const EACH: bool> {
    query: &'a QueryPairs<'a>,
    mass: &'a [M],
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

impl<'a, M: Mass, const EACH: bool> RankedPairs<'a, M, EACH> {
    fn new(query: &'a QueryPairs, mass: &'a [M]) -> Self {
        let known = query.attribute.iter().filter(|&&rank| rank != NO_RANK);
        let attribute_bits = u32::BITS - known.max().map_or(u32::BITS, |highest| highest.leading_zeros());
        RankedPairs { query, mass, attribute_bits }
    }

    /// The element at a position, if it has an attribute.
    fn element(&self, at: usize) -> Option<u64> {
        let rank = self.query.attribute[at];
        (rank != NO_RANK).then_some(u64::from(rank) << 32 | at as u64)
    }

    /// The elements at some positions.
    fn elements(&self, positions: impl ExactSizeIterator<Item = usize>) -> Lent<Vec<u64>> {
        let mut elements = self.query.rooms.empty(positions.len());
        elements.extend(positions.filter_map(|at| self.element(at)));
        elements
    }

    fn in_label_order(&self) -> Lent<Vec<u64>> {
        self.elements(0..self.query.len())
    }

    fn in_score_order(&self, order: &ScoreOrder) -> Lent<Vec<u64>> {
        self.elements(order.entries(self.query).iter().map(|&entry| position(entry)))
    }

    /// Visits the elements of each run of equal scores in ascending order of label.
    fn for_ties(&self, order: &ScoreOrder, mut visit: impl FnMut(Lent<Vec<u64>>)) {
        for run in runs(order.entries(self.query)).filter(|run| run.len() > 1) {
            visit(self.elements(run.iter().rev().map(|&entry| position(entry))));
        }
    }

    /// Pairs where the better example comes later than the worse, both by the given order.
    fn by_score(&self, mut elements: Lent<Vec<u64>>, sums: &mut [OrderSums]) -> ByOrder<M> {
        let mut scratch = self.query.rooms.list(2 * elements.len());
        self.outer(&mut elements, &mut scratch, self.query.label_bits(), sums, 0)
    }

    /// Splits by the highest of the lowest `bits` bits of the label rank; `sums` starts at position `base`.
    fn outer(
        &self,
        elements: &mut [u64],
        scratch: &mut [u64],
        bits: u32,
        sums: &mut [OrderSums],
        base: usize,
    ) -> ByOrder<M> {
        let n = elements.len();
        if n < 2 || bits == 0 {
            return Default::default();
        }
        let bit = bits - 1;
        let is_better = |element: u64| self.query.rank[element as u32 as usize] >> bit & 1 == 1;
        let (marked, spare) = scratch.split_at_mut(n);
        for (marked, &element) in marked.iter_mut().zip(&*elements) {
            *marked = if is_better(element) { element | BETTER } else { element };
        }
        let spare = &mut spare[..n];
        let mut orders = self.inner(marked, spare, self.attribute_bits, sums, base);
        if bit > 0 {
            let zeros = partition(elements, spare, |element| !is_better(element));
            let (left, right) = elements.split_at_mut(zeros);
            let (below, above) = scratch.split_at_mut(2 * zeros);
            // The positions of the halves are apart: the 1s start where the lowest of them stands.
            let middle = right.iter().map(|&e| e as u32 as usize).min().map_or(sums.len(), |at| at - base);
            let (lower, upper) = if EACH { sums.split_at_mut(middle) } else { (sums, &mut [][..]) };
            let (a, b) = both(
                n > self.query.sizes.count_fork,
                || self.outer(left, below, bit, lower, base),
                || self.outer(right, above, bit, upper, base + middle),
            );
            add(&mut orders, &a);
            add(&mut orders, &b);
        }
        orders
    }

    /// The same by the bits of the attribute's rank, of elements marked as better or worse.
    fn inner(
        &self,
        elements: &mut [u64],
        scratch: &mut [u64],
        bits: u32,
        sums: &mut [OrderSums],
        base: usize,
    ) -> ByOrder<M> {
        let n = elements.len();
        if n <= self.query.sizes.attribute_leaf {
            return self.leaf(elements, sums, base);
        }
        let Some(bit) = bits.checked_sub(1) else { return Default::default() };
        let at = |element: u64| (element & (BETTER - 1)) as usize;
        let zero = M::Sum::default();
        if EACH {
            let (mut high, mut low) = (zero, zero);
            for &element in elements.iter().rev() {
                let (better, up) = (element & BETTER != 0, element >> (bit + 32) & 1 == 1);
                let mass = self.mass[at(element)];
                match (better, up) {
                    (true, true) => high += mass.alone(),
                    (true, false) => low += mass.alone(),
                    (false, false) => sums[at(element) - base][2] += M::number(mass.below(high)) as f32,
                    (false, true) => sums[at(element) - base][3] += M::number(mass.below(low)) as f32,
                }
            }
        }
        let mut orders = [M::Worth::default(); 2];
        let (mut high, mut low) = (zero, zero);
        let mut betters = 0;
        let zeros = partition(elements, scratch, |element| {
            let (better, up) = (element & BETTER != 0, element >> (bit + 32) & 1 == 1);
            let mass = self.mass[at(element)];
            let worth = mass.above(if up { low } else { high });
            let worth = if better { worth } else { M::Worth::default() };
            orders[0] += if up { worth } else { M::Worth::default() };
            orders[1] += if up { M::Worth::default() } else { worth };
            if EACH && better {
                sums[at(element) - base][usize::from(!up)] += M::number(worth) as f32;
            }
            let own = if better { zero } else { mass.alone() };
            high += if up { own } else { zero };
            low += if up { zero } else { own };
            betters += usize::from(better);
            !up
        });
        if bit > 0 && betters > 0 && betters < n {
            let (left, right) = elements.split_at_mut(zeros);
            let (below, above) = scratch[..n].split_at_mut(zeros);
            let (a, b) = match !EACH && n > self.query.sizes.count_fork {
                true => both(
                    true,
                    || self.inner(left, below, bit, &mut [], base),
                    || self.inner(right, above, bit, &mut [], base),
                ),
                false => {
                    (self.inner(left, below, bit, sums, base), self.inner(right, above, bit, sums, base))
                }
            };
            add(&mut orders, &a);
            add(&mut orders, &b);
        }
        orders
    }

    fn leaf(&self, elements: &[u64], sums: &mut [OrderSums], base: usize) -> ByOrder<M> {
        let at = |element: u64| (element & (BETTER - 1)) as usize;
        let mut orders = [M::Worth::default(); 2];
        for (i, &better) in elements.iter().enumerate().filter(|(_, better)| **better & BETTER != 0) {
            let z = better >> 32;
            let is_paired = |worse: &&u64| **worse & BETTER == 0 && **worse >> 32 != z;
            for &worse in elements[..i].iter().filter(is_paired) {
                let (i, j) = (at(better), at(worse));
                let worth = self.mass[i].above(self.mass[j].alone());
                let less = usize::from(worse >> 32 > z);
                orders[less] += worth;
                if EACH {
                    sums[i - base][less] += M::number(worth) as f32;
                    sums[j - base][2 + less] += M::number(worth) as f32;
                }
            }
        }
        orders
    }

    /// All pairs of elements in ascending order of label, whatever their scores.
    fn by_label(&self, mut elements: Lent<Vec<u64>>, sums: &mut [OrderSums]) -> ByOrder<M> {
        let mut scratch = self.query.rooms.list(elements.len());
        self.labels_split(&mut elements, &mut scratch, self.attribute_bits, sums)
    }

    fn labels_split(
        &self,
        elements: &mut [u64],
        scratch: &mut [u64],
        bits: u32,
        sums: &mut [OrderSums],
    ) -> ByOrder<M> {
        let n = elements.len();
        if n < 2 || bits == 0 {
            return Default::default();
        }
        let bit = bits - 1;
        let parts = |element: u64| (element as u32 as usize, (element >> (bit + 32) & 1) as usize);
        if EACH {
            let mut passed = Passed::<M>::default();
            for &element in elements.iter().rev() {
                let (at, up) = parts(element);
                let above = passed.meet(self.query.rank[at], up, self.mass[at]);
                sums[at][2 + up] += M::number(self.mass[at].below(above)) as f32;
            }
        }
        let mut passed = Passed::<M>::default();
        let mut orders = [M::Worth::default(); 2];
        let zeros = partition(elements, scratch, |element| {
            let (at, up) = parts(element);
            let worth = self.mass[at].above(passed.meet(self.query.rank[at], up, self.mass[at]));
            orders[1 - up] += worth;
            if EACH {
                sums[at][1 - up] += M::number(worth) as f32;
            }
            up == 0
        });
        if bit > 0 {
            let (left, right) = elements.split_at_mut(zeros);
            let (below, above) = scratch[..n].split_at_mut(zeros);
            add(&mut orders, &self.labels_split(left, below, bit, sums));
            add(&mut orders, &self.labels_split(right, above, bit, sums));
        }
        orders
    }
}
