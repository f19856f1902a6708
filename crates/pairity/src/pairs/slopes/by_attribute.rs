//! Slopes of the label-ordered pairs of one large query by the order of a continuous attribute,
//! O(n log² n).
//!
//! Splits by label as for groups. The two halves of each split are then split together by the bits of
//! the attribute's rank: at each bit the better and the worse examples form two "groups" of high and
//! low attribute, and only pairs between the groups have coefficients.

use super::ScoredPairs;
use super::by_label::boundary;
use super::coefficients::{CellCoefficients, GREATER, LESS, order};
use super::merge::{Element, HingePart, settle};
use super::shape::Slope;
use crate::pairs::index::{NO_RANK, both, partition};
use crate::pairs::mass::Mass;

struct AttributeSplit<'a, M> {
    pairs: &'a ScoredPairs<'a, M>,
    cells: &'a CellCoefficients,
    parts: Vec<HingePart>,
}

/// Adds the slopes of all pairs of unequal label and attribute; returns the offset.
pub(super) fn add_slopes<S: Slope, M: Mass>(
    pairs: &ScoredPairs<M>,
    cells: &CellCoefficients,
    gradient: &mut [f64],
) -> f64 {
    // The better example's bit of the attribute's rank, then the worse one's.
    let by_bits = |side: &[f64]| vec![0.0, side[LESS], side[GREATER], 0.0];
    let bits = CellCoefficients { first: by_bits(&cells.first), second: by_bits(&cells.second) };
    let parts = HingePart::both::<S, M>(&bits, 2, pairs.margin);
    let mut elements = pairs.elements(|at| pairs.query.attribute[at]);
    elements.retain(|element| element.class != NO_RANK);
    let Some(highest) = elements.iter().map(|element| element.class).max() else { return 0.0 };
    let mut scratch = vec![Element::default(); 2 * elements.len()];
    let bits = u32::BITS - highest.leading_zeros();
    AttributeSplit { pairs, cells, parts }.split::<S>(&mut elements, &mut scratch, bits, 0, gradient)
}

impl<M: Mass> AttributeSplit<'_, M> {
    /// The pairs inside a range of positions that starts at `base`; the attribute's ranks have `bits` bits.
    fn split<S: Slope>(
        &self,
        elements: &mut [Element],
        scratch: &mut [Element],
        bits: u32,
        base: usize,
        gradient: &mut [f64],
    ) -> f64 {
        let (n, sizes) = (elements.len(), self.pairs.query.sizes);
        if n < 2 {
            return 0.0;
        }
        if gradient.len() <= sizes.slope_leaf {
            return self.pairs.few::<S>(base, gradient, |i, j| self.pairs.order(i, j), self.cells);
        }
        let first = &self.pairs.query.first[base..base + gradient.len()];
        let Some(middle) = boundary(first, base) else { return 0.0 };
        let firsts = partition(elements, scratch, |element| (element.position as usize) < base + middle);
        let (copy, spare) = scratch.split_at_mut(n);
        copy.copy_from_slice(elements);
        let (worse, better) = copy.split_at_mut(firsts);
        let offset = self.by_attribute::<S>(worse, better, spare, bits, base, gradient);

        let (worse, better) = elements.split_at_mut(firsts);
        let (left, right) = scratch.split_at_mut(2 * firsts);
        let (lower, upper) = gradient.split_at_mut(middle);
        let (a, b) = both(
            n > sizes.slope_fork,
            || self.split::<S>(worse, left, bits, base, lower),
            || self.split::<S>(better, right, bits, base + middle, upper),
        );
        offset + (a + b)
    }

    /// The pairs of two lists whose ranks of the attribute differ in the lowest `bits` bits.
    fn by_attribute<S: Slope>(
        &self,
        worse: &mut [Element],
        better: &mut [Element],
        scratch: &mut [Element],
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
        let mut offset = 0.0;
        for part in &self.parts {
            let group = |rank: u32| (rank >> bit & 1) as usize;
            offset += part.merge::<S, M>(worse, better, group, self.pairs.masses);
        }
        let is_low = |element: Element| element.class >> bit & 1 == 0;
        let low = partition(worse, scratch, is_low);
        let (low_worse, high_worse) = worse.split_at_mut(low);
        let low = partition(better, scratch, is_low);
        let (low_better, high_better) = better.split_at_mut(low);
        offset += self.by_attribute::<S>(low_worse, low_better, scratch, bit, base, gradient);
        offset + self.by_attribute::<S>(high_worse, high_better, scratch, bit, base, gradient)
    }

    fn few<S: Slope>(&self, worse: &mut [Element], better: &mut [Element]) -> f64 {
        let (masses, margin) = (self.pairs.masses, self.pairs.margin);
        let mut offset = 0.0;
        for i in better {
            let mass = masses[i.position as usize];
            let (mut falls, mut rises) = (0.0, 0.0);
            for j in worse.iter_mut() {
                let class = order(i.class, j.class);
                let mass = mass.pair(masses[j.position as usize]);
                let d = i.score - j.score;
                let fall = S::first(margin - d, self.cells.first[class] * mass);
                let rise = S::second(margin + d, self.cells.second[class] * mass);
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
