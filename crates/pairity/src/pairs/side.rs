//! Exact counts of the pairs whose first example has the higher value of a side column, for one query. A continuous
//! attribute is such a column for `P[z > z']`; `P[z < z']` has the same pairs the other way round.
//!
//! A pair counts if its first example is above the second in the order of the side column and, of label-ordered pairs,
//! in that of the labels; it is won if it is above in the order of scores too. One recursion answers each of these
//! questions: go through the examples in one order, split them by the bits of their rank in another, and at each split
//! meet the 1s with the sums by group of the 0s passed so far. Where there is a third order, that of the labels, an outer
//! recursion of the same kind says who is better: O(K n log² n), like the count for a continuous attribute.

use super::continuous::OrderSums;
use super::groups::CellCounts;
use super::index::{NO_RANK, QueryPairs, partition};
use super::mass::{EqualMass, Mass};
use super::order::{ScoreOrder, position, runs};
use super::tally::{CellLayout, Placement};
use crate::rates::Ties;
use crate::rooms::Lent;

/// An element is a position, and which sides of a pair it may stand on.
const FIRST: u64 = 1 << 32;
const SECOND: u64 = 1 << 33;

/// Which pairs: label-ordered ones, or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PairKind {
    LabelOrdered,
    All,
}

/// All pairs of a query whose first example has the higher side value: `[first * groups + second]`.
pub(super) fn count<M: Mass>(
    query: &QueryPairs,
    order: &ScoreOrder,
    masses: &[M],
    kind: PairKind,
) -> Lent<CellCounts<M>> {
    let k = query.present.len();
    let mut cells = CellCounts::<M>::none(k * k, query.rooms);
    if query.is_small() {
        let (at, scores, labels) = (query.positions(), order.scores(query), query.labels());
        let Some(side) = query.side_values else { return cells };
        for (i, j) in (0..query.len()).flat_map(|i| (0..query.len()).map(move |j| (i, j))) {
            if side[i] > side[j] && (kind == PairKind::All || labels[i] > labels[j]) {
                let cell = query.group[at[i]] as usize * k + query.group[at[j]] as usize;
                cells.add(cell, masses[at[i]].above(masses[at[j]].alone()), [scores[i], scores[j]]);
            }
        }
        return cells;
    }
    let sweep = SideSweep { query, masses, kind };
    let CellCounts { wins, ties, totals, pairs } = &mut *cells;
    sweep.add_cells(wins, |sweep, visit| sweep.wins(order, visit));
    sweep.add_cells(ties, |sweep, visit| sweep.ties(order, visit));
    sweep.add_cells(totals, |sweep, visit| sweep.totals(visit));
    if !M::put_counts(totals, pairs) {
        let equal = vec![EqualMass; query.len()];
        SideSweep { query, masses: &equal, kind }.add_cells(pairs, |sweep, visit| sweep.totals(visit));
    }
    cells
}

/// What the pairs of each example earn and could earn, by position, side and group of the other.
pub(super) struct SidePlacements<'a> {
    query: &'a QueryPairs<'a>,
    kind: PairKind,
    pub credits: Vec<f32>,
    totals: Vec<f32>,
}

impl<'a> SidePlacements<'a> {
    pub(super) fn new<M: Mass>(
        query: &'a QueryPairs,
        order: &ScoreOrder,
        masses: &[M],
        kind: PairKind,
        ties: Ties,
    ) -> Self {
        let sweep = SideSweep { query, masses, kind };
        let mut credits = sweep.each(|sweep, visit| sweep.wins(order, visit));
        if ties == Ties::Half {
            let tied = sweep.each(|sweep, visit| sweep.ties(order, visit));
            credits.iter_mut().zip(tied).for_each(|(credit, tied)| *credit += 0.5 * tied);
        }
        let totals = sweep.each(|sweep, visit| sweep.totals(visit));
        SidePlacements { query, kind, credits, totals }
    }

    /// The placements of the example at a position.
    pub(super) fn add_to(&self, to: &mut Vec<Placement>, at: usize, layout: &CellLayout) {
        let (present, group) = (self.query.present, usize::from(self.query.group[at]));
        let (k, own) = (present.len(), usize::from(present[group]));
        for (i, (&credit, &total)) in
            self.credits[2 * k * at..].iter().zip(&self.totals[2 * k * at..]).take(2 * k).enumerate()
        {
            let (side, other) = (i / k, usize::from(present[i % k]));
            let [first, second] = if side == 0 { [own, other] } else { [other, own] };
            let cell = match self.kind {
                PairKind::LabelOrdered => layout.accuracy(first, second),
                PairKind::All if own == other || own.max(other) >= layout.groups => continue,
                PairKind::All => layout.parity(first, second),
            };
            let (credit, total) = (f64::from(credit.min(total)), f64::from(total));
            to.push(Placement { cell: cell as u32, side: side as u8, credit, total });
        }
    }
}

/// Credit and total of the pairs of each example by the order of its continuous attribute, whatever their labels, by
/// position. An example with the higher attribute is the first of a `greater` pair and the second of a `less` one.
pub(super) fn attribute_placements<M: Mass>(
    query: &QueryPairs,
    order: &ScoreOrder,
    masses: &[M],
    ties: Ties,
) -> (Vec<OrderSums>, Vec<OrderSums>) {
    let sweep = SideSweep { query: &query.by_attribute(), masses, kind: PairKind::All };
    let wins = sweep.each(|sweep, visit| sweep.wins(order, visit));
    let tied = sweep.each(|sweep, visit| sweep.ties(order, visit));
    let totals = sweep.each(|sweep, visit| sweep.totals(visit));
    let half = ties.credit() as f32;
    let placements = |at: usize| {
        let [won, lost] = [wins[at] + half * tied[at], totals[at] - wins[at] - tied[at] + half * tied[at]];
        [won.min(totals[at]), lost.max(0.0)]
    };
    let both = |at: usize| {
        let ([first, not_first], [second, not_second]) = (placements(2 * at), placements(2 * at + 1));
        let (lower, higher) = (totals[2 * at], totals[2 * at + 1]);
        ([first, not_second, second, not_first], [lower, higher, higher, lower])
    };
    (0..query.len()).map(both).unzip()
}

/// The pairs of one query that is not small. A visit has a position, the side that it stands on, the group of the
/// others and their sum; seconds are visited only if each example is asked for.
struct SideSweep<'a, M> {
    query: &'a QueryPairs<'a>,
    masses: &'a [M],
    kind: PairKind,
}

impl<M: Mass> SideSweep<'_, M> {
    /// Adds what is visited, by the groups of both.
    fn add_cells(&self, cells: &mut [M::Worth], run: impl Fn(&Self, &mut Visits<M>)) {
        let k = self.query.present.len();
        let visit = &mut |at: usize, _: usize, other: usize, sum: M::Sum| {
            cells[usize::from(self.query.group[at]) * k + other] += self.masses[at].above(sum);
        };
        run(self, &mut Visits { each: false, visit });
    }

    /// What is visited, by position, side and the group of the other.
    fn each(&self, run: impl Fn(&Self, &mut Visits<M>)) -> Vec<f32> {
        let k = self.query.present.len();
        let mut sums = vec![0.0; 2 * k * self.query.len()];
        let visit = &mut |at: usize, side: usize, other: usize, sum: M::Sum| {
            let mass = self.masses[at];
            let worth = if side == 0 { mass.above(sum) } else { mass.below(sum) };
            sums[(2 * at + side) * k + other] += M::number(worth) as f32;
        };
        run(self, &mut Visits { each: true, visit });
        sums
    }

    /// Pairs whose first example scores higher.
    fn wins(&self, order: &ScoreOrder, visits: &mut Visits<M>) {
        match self.kind {
            // Equal scores are in descending order of label.
            PairKind::LabelOrdered => {
                let entries = order.entries(self.query).iter();
                let mut elements = self.query.rooms.empty(entries.len());
                elements.extend(entries.map(|&entry| position(entry) as u64));
                let (mut marked, mut room) =
                    (self.query.rooms.list(elements.len()), self.query.rooms.list(elements.len()));
                self.by_label(&mut elements, &mut marked, &mut room, self.query.label_bits(), visits);
            }
            PairKind::All => {
                let entries = order.entries_by(self.query, |at| u32::MAX - self.query.side[at as usize]);
                self.by_side(entries.iter().map(|&entry| position(entry)), visits);
            }
        }
    }

    /// Pairs of equal scores.
    fn ties(&self, order: &ScoreOrder, visits: &mut Visits<M>) {
        for run in runs(order.entries(self.query)).filter(|run| run.len() > 1) {
            self.all(run.iter().map(|&entry| position(entry)), visits);
        }
    }

    /// All pairs.
    fn totals(&self, visits: &mut Visits<M>) {
        self.all(0..self.query.len(), visits);
    }

    /// All pairs of some positions, whatever their scores.
    fn all(&self, positions: impl Iterator<Item = usize>, visits: &mut Visits<M>) {
        let (rank, side) = (self.query.rank, self.query.side);
        let mut own = self.query.rooms.empty(0);
        own.extend(positions);
        let positions: &mut [usize] = &mut own;
        match self.kind {
            // Of equal labels the later one is not higher in the side column.
            PairKind::LabelOrdered => {
                positions.sort_unstable_by_key(|&at| (rank[at], u32::MAX - side[at], at))
            }
            PairKind::All => positions.sort_unstable_by_key(|&at| (side[at], at)),
        }
        self.by_side(positions.iter().copied(), visits);
    }

    /// Splits by the highest of the lowest `bits` bits of the label rank: the 1s are better.
    fn by_label(
        &self,
        elements: &mut [u64],
        marked: &mut [u64],
        room: &mut [u64],
        bits: u32,
        visits: &mut Visits<M>,
    ) {
        let n = elements.len();
        if n < 2 || bits == 0 {
            return;
        }
        let is_better = |element: u64| self.query.rank[element as u32 as usize] >> (bits - 1) & 1 == 1;
        let mark = |&element: &u64| element | if is_better(element) { FIRST } else { SECOND };
        let marks = &mut marked[..n];
        marks.iter_mut().zip(elements.iter().map(mark)).for_each(|(to, marked)| *to = marked);
        self.split(marks, room, self.side_bits(), visits);
        let zeros = partition(elements, room, |element| !is_better(element));
        let (worse, better) = elements.split_at_mut(zeros);
        self.by_label(worse, marked, room, bits - 1, visits);
        self.by_label(better, marked, room, bits - 1, visits);
    }

    /// Pairs whose first example comes later, both by the given order.
    fn by_side(&self, positions: impl Iterator<Item = usize>, visits: &mut Visits<M>) {
        let known = positions.filter(|&at| self.query.side[at] != NO_RANK);
        let mut elements = self.query.rooms.empty(0);
        elements.extend(known.map(|at| at as u64 | FIRST | SECOND));
        let mut room = self.query.rooms.list(elements.len());
        self.split(&mut elements, &mut room, self.side_bits(), visits);
    }

    fn side_bits(&self) -> u32 {
        let highest = self.query.side.iter().filter(|rank| **rank != NO_RANK).max();
        u32::BITS - highest.map_or(u32::BITS, |highest| highest.leading_zeros())
    }

    /// Splits by the highest of the lowest `bits` bits of the side column's rank: the 1s meet the 0s before them.
    fn split(&self, elements: &mut [u64], room: &mut [u64], bits: u32, visits: &mut Visits<M>) {
        let (n, k) = (elements.len(), self.query.present.len());
        let (at, group) = (|element: u64| element as u32 as usize, self.query.group);
        let Some(bit) = bits.checked_sub(1) else { return };
        if n <= self.query.sizes.attribute_leaf {
            for (i, &first) in elements.iter().enumerate().filter(|(_, first)| **first & FIRST != 0) {
                let rank = self.query.side[at(first)];
                let below = |second: &&u64| **second & SECOND != 0 && self.query.side[at(**second)] < rank;
                for &second in elements[..i].iter().filter(below) {
                    let (i, j) = (at(first), at(second));
                    visits.add(i, 0, group[j], self.masses[j].alone());
                    visits.add(j, 1, group[i], self.masses[i].alone());
                }
            }
            return;
        }
        let is_high = |element: u64| self.query.side[at(element)] >> bit & 1 == 1;
        let mut passed = self.query.rooms.filled(k, M::Sum::default());
        if visits.each {
            for &element in elements.iter().rev() {
                let own = at(element);
                match is_high(element) {
                    true if element & FIRST != 0 => {
                        passed[usize::from(group[own])] += self.masses[own].alone()
                    }
                    false if element & SECOND != 0 => {
                        (0..).zip(passed.iter()).for_each(|(other, &sum)| visits.add(own, 1, other, sum));
                    }
                    _ => {}
                }
            }
            passed.fill(M::Sum::default());
        }
        let zeros = partition(elements, room, |element| {
            let (own, high) = (at(element), is_high(element));
            if high && element & FIRST != 0 {
                (0..).zip(passed.iter()).for_each(|(other, &sum)| visits.add(own, 0, other, sum));
            } else if !high && element & SECOND != 0 {
                passed[usize::from(group[own])] += self.masses[own].alone();
            }
            !high
        });
        let (low, high) = elements.split_at_mut(zeros);
        self.split(low, room, bit, visits);
        self.split(high, room, bit, visits);
    }
}

/// What is done with the pairs of an example: position, side, the group of the others and their sum.
struct Visits<'v, M: Mass> {
    /// Whether seconds are visited too.
    each: bool,
    visit: &'v mut dyn FnMut(usize, usize, usize, M::Sum),
}

impl<M: Mass> Visits<'_, M> {
    fn add(&mut self, at: usize, side: usize, other: u16, sum: M::Sum) {
        if self.each || side == 0 {
            (self.visit)(at, side, usize::from(other), sum);
        }
    }
}
