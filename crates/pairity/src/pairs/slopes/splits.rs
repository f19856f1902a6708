//! Slopes of the label-ordered pairs of one large query: O(K n log n) between K groups, O(n log² n) by the order of
//! a continuous attribute.
//!
//! As in counting, examples in score order are split in two at a label, again and again: each pair of
//! unequal labels is parted once, and all pairs parted by one split are merged together. Positions are in
//! label order, so halves are ranges of positions, and threads write to disjoint parts of the gradient.
//!
//! By the order of an attribute, the two halves of each split are then split together by the bits of its rank: at
//! each bit the better and the worse examples form two "groups" of high and low attribute, and only pairs between
//! the groups have coefficients.

use super::ScoredPairs;
use super::coefficients::{GREATER, LESS, order};
use super::merge::{Element, GroupBits, HingeParts, merge, settle};
use super::shape::Slope;
use crate::pairs::index::{NO_RANK, grown, partition};
use crate::pairs::mass::Mass;
use crate::pairs::order::position;
use crate::rooms::{Lent, Rooms};
use crate::threads::{self, both};

/// The same elements in a list of their own.
fn copied(elements: &[Element], rooms: &Rooms) -> Lent<Vec<Element>> {
    let mut own = rooms.empty(elements.len());
    own.extend_from_slice(elements);
    own
}

/// Where to split a range of positions that starts at `base`: at the change of label next to its middle.
fn boundary(first: &[u32], base: usize) -> Option<usize> {
    let middle = first.len() / 2;
    let label = *first.get(middle)?;
    let start = label as usize - base;
    let end = middle + first[middle..].partition_point(|&other| other == label);
    match (start > 0, end < first.len()) {
        (true, true) => Some(if middle - start <= end - middle { start } else { end }),
        (true, false) => Some(start),
        (false, true) => Some(end),
        (false, false) => None,
    }
}

impl<M: Mass> ScoredPairs<'_, M> {
    /// The elements by ascending score, each with its group or the rank of its attribute.
    fn elements(&self, class: impl Fn(usize) -> u32 + Sync) -> Lent<Vec<Element>> {
        let mut elements = self.query.rooms.list(self.entries.len());
        threads::fill(&mut elements, &|from, own| {
            for (to, at) in own.iter_mut().zip(self.entries[from..].iter().map(|&entry| position(entry))) {
                *to = Element { score: self.scores[at], position: at as u32, class: class(at), slope: 0.0 };
            }
        });
        elements
    }

    /// Splits a range of positions that starts at `base`, and with it a list of its examples. `part` adds the slopes
    /// of the pairs that are parted at a place after `base` and returns their offset and the halves of the list;
    /// `leaf` adds those of a range that is not split. Each thread has room of its own.
    pub(super) fn split<L: Send, R: Default + Send + 'static>(
        &self,
        list: L,
        room: &mut R,
        base: usize,
        gradient: &mut [f64],
        leaf: &(impl Fn(L, usize, &mut [f64]) -> f64 + Sync),
        part: &(impl Fn(L, &mut R, [usize; 2], &mut [f64]) -> (f64, [L; 2]) + Sync),
    ) -> f64 {
        let (n, sizes) = (gradient.len(), self.query.sizes);
        let first = &self.query.first[base..base + n];
        let middle = if n > sizes.slope_leaf { boundary(first, base) } else { None };
        let Some(middle) = middle else { return leaf(list, base, gradient) };
        let (offset, [worse, better]) = part(list, room, [base, middle], gradient);
        let (lower, upper) = gradient.split_at_mut(middle);
        let left = |room: &mut R| self.split(worse, room, base, lower, leaf, part);
        let right = |room: &mut R| self.split(better, room, base + middle, upper, leaf, part);
        let (a, b) = match n > sizes.slope_fork {
            true => both(true, || left(room), || right(&mut self.query.rooms.lend::<R>())),
            false => (left(room), right(room)),
        };
        offset + (a + b)
    }

    /// Adds the slopes of all label-ordered pairs; returns the offset.
    pub(super) fn split_by_label<S: Slope>(&self, cells: &[[f64; 2]], gradient: &mut [f64]) -> f64 {
        let rooms = self.query.rooms;
        let parts = HingeParts::of::<S, M>(cells, self.query.present.len(), self.margin, rooms);
        self.split(
            &mut self.elements(|at| self.query.group[at].into())[..],
            &mut *rooms.lend::<Vec<Element>>(),
            0,
            gradient,
            &|elements, base, gradient| {
                settle(elements, base, gradient);
                self.few::<S, true>(base, gradient, |i, j| self.cell(i, j), cells)
            },
            &|elements, room, [base, middle], _| {
                let room = grown(room, elements.len());
                partition(elements, room, |element| (element.position as usize) < base + middle);
                let (worse, better) = elements.split_at_mut(middle);
                let offset = merge(&parts, worse, better, GroupBits::ALL, self.masses);
                (offset, [worse, better])
            },
        )
    }

    /// Adds the slopes of all pairs, whatever their labels; returns the offset.
    pub(super) fn merge_unordered<S: Slope>(&self, cells: &[[f64; 2]], gradient: &mut [f64]) -> f64 {
        let mut worse = self.elements(|at| self.query.group[at].into());
        let rooms = self.query.rooms;
        let mut better = copied(&worse, rooms);
        let parts = HingeParts::of::<S, M>(cells, self.query.present.len(), self.margin, rooms);
        let offset = merge(&parts, &mut worse, &mut better, GroupBits::ALL, self.masses);
        settle(&worse, 0, gradient);
        settle(&better, 0, gradient);
        offset
    }

    /// Adds the slopes of all pairs of unequal label and attribute; returns the offset.
    pub(super) fn split_by_attribute<S: Slope>(&self, cells: &[[f64; 2]; 3], gradient: &mut [f64]) -> f64 {
        // The better example's bit of the attribute's rank, then the worse one's.
        let by_bits = [[0.0; 2], cells[LESS], cells[GREATER], [0.0; 2]];
        let rooms = self.query.rooms;
        let parts = &HingeParts::of::<S, M>(&by_bits, 2, self.margin, rooms);
        let mut elements = self.elements(|at| self.query.attribute[at]);
        elements.retain(|element| element.class != NO_RANK);
        let Some(highest) = elements.iter().map(|element| element.class).max() else { return 0.0 };
        let bits = u32::BITS - highest.leading_zeros();
        let split = AttributeSplit { pairs: self, cells, parts };
        self.split(
            &mut elements[..],
            &mut *rooms.lend::<Vec<Element>>(),
            0,
            gradient,
            &|_, base, gradient| self.few::<S, true>(base, gradient, |i, j| self.order(i, j), cells),
            &|elements, room, [base, middle], gradient| {
                let room = grown(room, elements.len());
                let firsts = partition(elements, room, |element| (element.position as usize) < base + middle);
                let mut copy = copied(elements, rooms);
                let (worse, better) = copy.split_at_mut(firsts);
                let offset = split.by_bits::<S>(worse, better, room, bits, base, gradient);
                let (worse, better) = elements.split_at_mut(firsts);
                (offset, [worse, better])
            },
        )
    }
}

impl<M: Mass> ScoredPairs<'_, M> {
    /// Adds the slopes of the pairs whose first example is higher in the side column: of label-ordered ones, or of all.
    /// Returns the offset.
    pub(super) fn split_by_side<S: Slope, const ORDERED: bool>(
        &self,
        cells: &[[f64; 2]],
        gradient: &mut [f64],
    ) -> f64 {
        let (side, none, rooms) = (self.query.side, cells.len(), self.query.rooms);
        // Pairs that are not chosen have no coefficient.
        let mut cells_and_none = rooms.filled(none + 1, [0.0; 2]);
        cells_and_none[..none].copy_from_slice(cells);
        let is_chosen = |i: usize, j: usize| side[i] > side[j] && side[i] != NO_RANK;
        let cell = |i: usize, j: usize| if is_chosen(i, j) { self.cell(i, j) } else { none };
        if self.query.is_small() {
            return self.few::<S, ORDERED>(0, gradient, cell, &cells_and_none);
        }
        let parts = HingeParts::of::<S, M>(cells, self.query.present.len(), self.margin, rooms);
        let highest = side.iter().filter(|rank| **rank != NO_RANK).max();
        let bits = u32::BITS - highest.map_or(u32::BITS, |highest| highest.leading_zeros());
        let mut elements = self.elements(|at| self.query.group[at].into());
        elements.retain(|element| side[element.position as usize] != NO_RANK);
        if !ORDERED {
            let (mut seconds, mut room) = (copied(&elements, rooms), copied(&elements, rooms));
            let offset = self.by_side(&parts, &mut seconds, &mut elements, &mut room, bits);
            settle(&seconds, 0, gradient);
            settle(&elements, 0, gradient);
            return offset;
        }
        self.split(
            &mut elements[..],
            &mut *rooms.lend::<Vec<Element>>(),
            0,
            gradient,
            &|_, base, gradient| self.few::<S, true>(base, gradient, cell, &cells_and_none),
            &|elements, room, [base, middle], gradient| {
                let room = grown(room, elements.len());
                partition(elements, room, |element| (element.position as usize) < base + middle);
                let mut copy = copied(elements, rooms);
                let (worse, better) = copy.split_at_mut(middle);
                let offset = self.by_side(&parts, worse, better, room, bits);
                settle(&copy, base, gradient);
                let (worse, better) = elements.split_at_mut(middle);
                (offset, [worse, better])
            },
        )
    }

    /// The pairs of two lists in which the first example, of the second list, is higher in the lowest `bits` bits of
    /// the side column's rank.
    fn by_side(
        &self,
        parts: &HingeParts,
        seconds: &mut [Element],
        firsts: &mut [Element],
        room: &mut [Element],
        bits: u32,
    ) -> f64 {
        let Some(bit) = bits.checked_sub(1).filter(|_| !seconds.is_empty() && !firsts.is_empty()) else {
            return 0.0;
        };
        let is_low = |element: Element| self.query.side[element.position as usize] >> bit & 1 == 0;
        let low = partition(seconds, room, is_low);
        let (low_seconds, high_seconds) = seconds.split_at_mut(low);
        let low = partition(firsts, room, is_low);
        let (low_firsts, high_firsts) = firsts.split_at_mut(low);
        let offset = merge(parts, low_seconds, high_firsts, GroupBits::ALL, self.masses);
        let below = self.by_side(parts, low_seconds, low_firsts, room, bit);
        offset + below + self.by_side(parts, high_seconds, high_firsts, room, bit)
    }
}

struct AttributeSplit<'a, M> {
    pairs: &'a ScoredPairs<'a, M>,
    cells: &'a [[f64; 2]; 3],
    parts: &'a HingeParts,
}

impl<M: Mass> AttributeSplit<'_, M> {
    /// The pairs of two lists whose ranks of the attribute differ in the lowest `bits` bits.
    fn by_bits<S: Slope>(
        &self,
        worse: &mut [Element],
        better: &mut [Element],
        room: &mut [Element],
        bits: u32,
        base: usize,
        gradient: &mut [f64],
    ) -> f64 {
        if bits == 0 || worse.len() * better.len() <= self.pairs.query.sizes.slope_pairs {
            let offset = if bits == 0 { 0.0 } else { self.few::<S>(worse, better) };
            settle(worse, base, gradient);
            settle(better, base, gradient);
            return offset;
        }
        let bit = bits - 1;
        let group = GroupBits::one(bit);
        let mut offset = merge(self.parts, worse, better, group, self.pairs.masses);
        let low = partition(worse, room, |element| group.of(element.class) == 0);
        let (low_worse, high_worse) = worse.split_at_mut(low);
        let low = partition(better, room, |element| group.of(element.class) == 0);
        let (low_better, high_better) = better.split_at_mut(low);
        offset += self.by_bits::<S>(low_worse, low_better, room, bit, base, gradient);
        offset + self.by_bits::<S>(high_worse, high_better, room, bit, base, gradient)
    }

    fn few<S: Slope>(&self, worse: &mut [Element], better: &mut [Element]) -> f64 {
        let (masses, margin) = (self.pairs.masses, self.pairs.margin);
        let mut offset = 0.0;
        for i in better {
            let mass = masses[i.position as usize];
            let (mut falls, mut rises) = (0.0, 0.0);
            for j in worse.iter_mut() {
                let cell = self.cells[order(i.class, j.class)];
                let mass = mass.pair(masses[j.position as usize]);
                let [fall, rise] = S::both(margin, i.score - j.score, cell, mass);
                j.slope += S::added(fall, rise);
                falls += fall;
                rises += rise;
            }
            i.slope += S::added(rises, falls);
            offset += rises + falls;
        }
        margin * offset
    }
}
