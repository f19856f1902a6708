//! Slopes of many pairs at once: one merge of worse scores with better thresholds.
//!
//! With the worse examples by ascending score and the better ones by ascending threshold
//! θ_i = s_i ± margin, walk through both in one order. At a better example of group a, the worse ones
//! passed are those below its threshold; the slope needs only their sum, already multiplied with the
//! coefficients c of the cells:
//!
//! ```text
//! below θ_i:  ∂/∂s_i = m_i · Σ_passed c[a][b_j] m_j          ∂/∂s_j = −m_j · Σ_left c[a_i][b] m_i
//! above θ_i:  ∂/∂s_i = −m_i · Σ_left c[a][b_j] m_j           ∂/∂s_j = m_j · Σ_passed c[a_i][b] m_i
//! ```
//!
//! where what is left is the total less what was passed, so that only starting values differ. For the
//! squared hinge a second sum carries the scores and thresholds: Σ c m (x_j − x_i).
//!
//! What comes next depends on what came before, so a processor waits for itself most of the time. The walk
//! therefore starts at both ends: two chains that don't depend on each other.

use super::shape::Slope;
use crate::pairs::mass::Mass;
use crate::rooms::{Lent, Rooms};
use std::hint::select_unpredictable;

/// Readers served by one merge; more groups take several.
const WIDEST: usize = 8;

/// An example on its way through the splits.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Element {
    pub score: f64,
    pub position: u32,
    /// Its group, or the rank of its continuous attribute.
    pub class: u32,
    /// What was found of its slope. It travels along, because the gradient itself is in label order: to
    /// go there from score order at every split would miss the cache each time.
    pub slope: f64,
}

/// Adds the slopes that elements carry to a gradient that starts at position `base`.
pub(super) fn settle(elements: &[Element], base: usize, gradient: &mut [f64]) {
    for element in elements {
        gradient[element.position as usize - base] += element.slope;
    }
}

/// The bits of an element's class that are its group in a merge.
#[derive(Debug, Clone, Copy)]
pub(super) struct GroupBits {
    shift: u32,
    mask: u32,
}

impl GroupBits {
    /// The class is the group.
    pub(super) const ALL: GroupBits = GroupBits { shift: 0, mask: u32::MAX };

    /// One bit of a rank.
    pub(super) fn one(shift: u32) -> GroupBits {
        GroupBits { shift, mask: 1 }
    }

    #[inline(always)]
    pub(super) fn of(self, class: u32) -> usize {
        (class >> self.shift & self.mask) as usize
    }
}

/// Adds the slopes of all pairs of two lists in score order, the worse and the better ones, in all parts. Returns the
/// offset. Slopes that are not squared differ in the coefficients of their parts alone, so that all of them share the
/// compiled walks, which are many.
pub(super) fn merge<M: Mass>(
    parts: &HingeParts,
    worse: &mut [Element],
    better: &mut [Element],
    group: GroupBits,
    masses: &[M],
) -> f64 {
    if worse.is_empty() || better.is_empty() {
        return 0.0;
    }
    let mut offset = 0.0;
    for part in &parts.room[..parts.used] {
        let block = match (part.squared, part.width) {
            (false, 1) => HingePart::block::<false, M, 1>,
            (false, 2) => HingePart::block::<false, M, 2>,
            (false, 4) => HingePart::block::<false, M, 4>,
            (false, _) => HingePart::block::<false, M, 8>,
            (true, 1) => HingePart::block::<true, M, 1>,
            (true, 2) => HingePart::block::<true, M, 2>,
            (true, 4) => HingePart::block::<true, M, 4>,
            (true, _) => HingePart::block::<true, M, 8>,
        };
        let blocks = 0..part.k.div_ceil(part.width);
        let total: f64 = blocks.map(|at| block(part, at, worse, better, group, masses)).sum();
        offset += part.shift * total;
    }
    offset
}

/// The parts of a surrogate that have coefficients, in room that the next evaluation uses again.
#[derive(Default)]
pub(super) struct HingeParts {
    room: [HingePart; 2],
    used: usize,
}

impl HingeParts {
    /// Of coefficients, `[better * k + worse]`.
    pub(super) fn of<S: Slope, M: Mass>(
        cells: &[[f64; 2]],
        k: usize,
        margin: f64,
        rooms: &Rooms,
    ) -> Lent<HingeParts> {
        let mut parts = rooms.lend::<HingeParts>();
        parts.used = 0;
        for part in (0..2).filter(|&part| cells.iter().any(|cell| cell[part] != 0.0)) {
            let own = parts.used;
            parts.room[own].set::<S, M>(cells, part, k, margin);
            parts.used += 1;
        }
        parts
    }
}

/// One of the two parts of a surrogate, ready to be merged.
#[derive(Default)]
pub(super) struct HingePart {
    /// Threshold less score.
    shift: f64,
    /// Active pairs have their worse score above the threshold.
    above: bool,
    /// A worse score at the threshold comes before it.
    worse_first: bool,
    /// Slopes grow with the distance from the threshold.
    squared: bool,
    k: usize,
    /// Numbers of a row: 1, 2, 4 or 8.
    width: usize,
    /// For every block of `width` readers a row for each group that is passed: worse ones, read by
    /// better ones; then better ones, read by worse ones.
    passed: [Vec<f64>; 2],
}

impl HingePart {
    fn set<S: Slope, M: Mass>(&mut self, cells: &[[f64; 2]], part: usize, k: usize, margin: f64) {
        let (shift, above) = ([-margin, margin][part], part == 0 || S::BOUNDED);
        let sign = if part == 1 && S::BOUNDED { -1.0 } else { 1.0 };
        let width = k.next_power_of_two().min(WIDEST);
        // A squared slope is read as sum of passed x less own x.
        let outward = if S::SQUARED && !above { -sign } else { sign };
        let inward = M::MIRROR * if S::SQUARED && above { -sign } else { sign };
        // Whoever reads what is left has a slope below 0.
        let (outward, inward) = match (S::UNSIGNED, above) {
            (false, _) => (outward, inward),
            (true, true) => (-outward, inward),
            (true, false) => (outward, -inward),
        };
        let blocks = k.div_ceil(width);
        let mut passed = std::mem::take(&mut self.passed);
        for rows in &mut passed {
            rows.clear();
            rows.resize(blocks * k * width, 0.0);
        }
        for better in 0..k {
            for worse in 0..k {
                let c = cells[better * k + worse][part];
                passed[0][(better / width * k + worse) * width + better % width] = outward * c;
                passed[1][(worse / width * k + better) * width + worse % width] = inward * c;
            }
        }
        *self = HingePart { shift, above, worse_first: shift < 0.0, squared: S::SQUARED, k, width, passed };
    }

    /// The slopes of readers in one block of groups; returns the sum over better ones.
    fn block<const SQUARED: bool, M: Mass, const G: usize>(
        &self,
        block: usize,
        worse: &mut [Element],
        better: &mut [Element],
        group: GroupBits,
        masses: &[M],
    ) -> f64 {
        let rows = |table| {
            let (rows, _) = Vec::as_slice(table)[block * self.k * G..][..self.k * G].as_chunks::<G>();
            rows
        };
        let passed = [rows(&self.passed[0]), rows(&self.passed[1])];
        let walk = MergeWalk { passed, shift: [0.0, self.shift], first: block * G, group, masses };
        let mut end = PassedSums::<M, G>::default();
        worse.iter().for_each(|&element| walk.pass::<SQUARED>(&mut end, element, 0, 1.0));
        better.iter().for_each(|&element| walk.pass::<SQUARED>(&mut end, element, 1, 1.0));
        // Whoever reads what is left counts down from the total, as a number below 0.
        let reader = usize::from(self.above);
        let mut start = PassedSums::<M, G>::default();
        std::mem::swap(&mut start.sums[reader], &mut end.sums[reader]);
        std::mem::swap(&mut start.moments[reader], &mut end.moments[reader]);
        start.sums[reader].iter_mut().chain(&mut start.moments[reader]).for_each(|sum| *sum = *sum * -1.0);

        let mut totals = [0.0; 2];
        let mut add = |element: &mut Element, kind: usize, slope: f64| {
            element.slope += slope;
            totals[kind] += slope;
        };
        let worse_next = |worse: Element, better: Element| {
            let (score, threshold) = (worse.score, better.score + self.shift);
            (score < threshold) | (self.worse_first & (score == threshold))
        };
        let (mut w, mut b) = (0..worse.len(), 0..better.len());
        while w.len() > 1 && b.len() > 1 {
            let first = worse_next(worse[w.start], better[b.start]);
            let element = select_unpredictable(first, &mut worse[w.start], &mut better[b.start]);
            let kind = usize::from(!first);
            add(element, kind, walk.read::<SQUARED>(&start, *element, kind));
            walk.pass::<SQUARED>(&mut start, *element, kind, 1.0);
            w.start += usize::from(first);
            b.start += usize::from(!first);

            let better_last = worse_next(worse[w.end - 1], better[b.end - 1]);
            let element = select_unpredictable(better_last, &mut better[b.end - 1], &mut worse[w.end - 1]);
            let kind = usize::from(better_last);
            walk.pass::<SQUARED>(&mut end, *element, kind, -1.0);
            add(element, kind, walk.read::<SQUARED>(&end, *element, kind));
            b.end -= usize::from(better_last);
            w.end -= usize::from(!better_last);
        }
        while !w.is_empty() && !b.is_empty() {
            let first = worse_next(worse[w.start], better[b.start]);
            let (element, kind) = if first { (&mut worse[w.start], 0) } else { (&mut better[b.start], 1) };
            add(element, kind, walk.read::<SQUARED>(&start, *element, kind));
            walk.pass::<SQUARED>(&mut start, *element, kind, 1.0);
            w.start += usize::from(first);
            b.start += usize::from(!first);
        }
        for (kind, rest) in [&mut worse[w], &mut better[b]].into_iter().enumerate() {
            rest.iter_mut()
                .for_each(|element| add(element, kind, walk.read::<SQUARED>(&start, *element, kind)));
        }
        totals[1]
    }
}

/// PassedSums of what was passed, for worse readers and for better ones, by the reader's group.
struct PassedSums<M: Mass, const G: usize> {
    sums: [[M::Scaled; G]; 2],
    moments: [[M::Scaled; G]; 2],
}

impl<M: Mass, const G: usize> Default for PassedSums<M, G> {
    fn default() -> Self {
        let none = [[M::Scaled::default(); G]; 2];
        PassedSums { sums: none, moments: none }
    }
}

/// What a walk through two lists looks up. A kind is 0 for worse examples and 1 for better ones.
struct MergeWalk<'a, M, const G: usize> {
    passed: [&'a [[f64; G]]; 2],
    shift: [f64; 2],
    /// The first group of readers.
    first: usize,
    group: GroupBits,
    masses: &'a [M],
}

impl<M: Mass, const G: usize> MergeWalk<'_, M, G> {
    #[inline(always)]
    fn pass<const SQUARED: bool>(&self, to: &mut PassedSums<M, G>, element: Element, kind: usize, sign: f64) {
        let row = &self.passed[kind][self.group.of(element.class)];
        let mass = self.masses[element.position as usize];
        let x = element.score + self.shift[kind];
        for (reader, &c) in row.iter().enumerate() {
            let added = mass.times(sign * c);
            to.sums[1 - kind][reader] += added;
            if SQUARED {
                to.moments[1 - kind][reader] += added * x;
            }
        }
    }

    /// The slope of an element; 0 if its group is not among the readers.
    #[inline(always)]
    fn read<const SQUARED: bool>(&self, from: &PassedSums<M, G>, element: Element, kind: usize) -> f64 {
        let reader = self.group.of(element.class).wrapping_sub(self.first);
        if reader >= G {
            return 0.0;
        }
        let mut sum = from.sums[kind][reader];
        if SQUARED {
            sum = sum * -(element.score + self.shift[kind]);
            sum += from.moments[kind][reader];
        }
        self.masses[element.position as usize].meet(sum)
    }
}
