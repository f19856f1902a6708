//! Slopes of the label-ordered pairs of one large query, O(K n log n).
//!
//! As in counting, examples in score order are split in two at a label, again and again: each pair of
//! unequal labels is parted once, and all pairs parted by one split are merged together. Positions are in
//! label order, so halves are ranges of positions, and threads write to disjoint parts of the gradient.

use super::ScoredPairs;
use super::coefficients::CellCoefficients;
use super::merge::{Element, HingePart, settle};
use super::shape::Slope;
use crate::pairs::index::{both, partition};
use crate::pairs::mass::Mass;

impl<M: Mass> ScoredPairs<'_, M> {
    /// The elements by ascending score, each with its group or the rank of its attribute.
    pub(super) fn elements(&self, class: impl Fn(usize) -> u32) -> Vec<Element> {
        let element =
            |(score, position)| Element { score, position, class: class(position as usize), slope: 0.0 };
        self.by_score().map(element).collect()
    }
}

/// Where to split a range of positions that starts at `base`: at the change of label next to its middle.
pub(super) fn boundary(first: &[u32], base: usize) -> Option<usize> {
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

struct LabelSplit<'a, M> {
    pairs: &'a ScoredPairs<'a, M>,
    cells: &'a CellCoefficients,
    parts: Vec<HingePart>,
}

/// Adds the slopes of all label-ordered pairs; returns the offset.
pub(super) fn add_slopes<S: Slope, M: Mass>(
    pairs: &ScoredPairs<M>,
    cells: &CellCoefficients,
    gradient: &mut [f64],
) -> f64 {
    let parts = HingePart::both::<S, M>(cells, pairs.query.present.len(), pairs.margin);
    let mut elements = pairs.elements(|at| pairs.query.group[at].into());
    let mut scratch = vec![Element::default(); elements.len()];
    LabelSplit { pairs, cells, parts }.split::<S>(&mut elements, &mut scratch, 0, gradient)
}

/// Adds the slopes of all pairs, whatever their labels.
pub(super) fn add_unordered<S: Slope, M: Mass>(
    pairs: &ScoredPairs<M>,
    cells: &CellCoefficients,
    gradient: &mut [f64],
) -> f64 {
    let mut worse = pairs.elements(|at| pairs.query.group[at].into());
    let mut better = worse.clone();
    let offset = HingePart::both::<S, M>(cells, pairs.query.present.len(), pairs.margin)
        .iter()
        .map(|part| part.merge::<S, M>(&mut worse, &mut better, |group| group as usize, pairs.masses))
        .sum();
    settle(&worse, 0, gradient);
    settle(&better, 0, gradient);
    offset
}

impl<M: Mass> LabelSplit<'_, M> {
    /// The pairs inside a range of positions that starts at `base`.
    fn split<S: Slope>(
        &self,
        elements: &mut [Element],
        scratch: &mut [Element],
        base: usize,
        gradient: &mut [f64],
    ) -> f64 {
        let (n, sizes) = (elements.len(), self.pairs.query.sizes);
        if n <= sizes.slope_leaf {
            settle(elements, base, gradient);
            return self.pairs.few::<S>(base, gradient, |i, j| self.pairs.cell(i, j), self.cells);
        }
        let Some(middle) = boundary(&self.pairs.query.first[base..base + n], base) else {
            settle(elements, base, gradient);
            return 0.0;
        };
        partition(elements, scratch, |element| (element.position as usize) < base + middle);
        let (worse, better) = elements.split_at_mut(middle);
        let mut offset = 0.0;
        for part in &self.parts {
            offset += part.merge::<S, M>(worse, better, |group| group as usize, self.pairs.masses);
        }
        let (left, right) = scratch.split_at_mut(middle);
        let (lower, upper) = gradient.split_at_mut(middle);
        let (a, b) = both(
            n > sizes.slope_fork,
            || self.split::<S>(worse, left, base, lower),
            || self.split::<S>(better, right, base + middle, upper),
        );
        offset + (a + b)
    }
}
