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

use super::kind::Slope;
use super::pairing::Pairing;
use super::table::Table;
use std::hint::select_unpredictable;

/// Readers served by one merge; more groups take several.
const WIDEST: usize = 8;

/// An example on its way through the splits.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Element {
    pub score: f64,
    pub place: u32,
    /// Its group, or the rank of its continuous attribute.
    pub lane: u32,
}

/// One of the two parts of a surrogate, ready to be merged.
pub(super) struct Part {
    /// Threshold less score.
    shift: f64,
    /// Active pairs have their worse score above the threshold.
    above: bool,
    /// A worse score at the threshold comes before it.
    worse_first: bool,
    k: usize,
    /// Lanes of a row: 1, 2, 4 or 8.
    width: usize,
    /// For every block of `width` readers a row for each group that is passed: worse ones, read by
    /// better ones; then better ones, read by worse ones.
    passed: [Vec<f64>; 2],
}

impl Part {
    /// The parts of a surrogate with coefficients, `[better * k + worse]`.
    pub(super) fn both<S: Slope, P: Pairing>(table: &Table, k: usize, margin: f64) -> Vec<Part> {
        let sign = if S::BOUNDED { -1.0 } else { 1.0 };
        let first = Part::new::<S, P>(&table.first, 1.0, k, -margin, true);
        let second = Part::new::<S, P>(&table.second, sign, k, margin, S::BOUNDED);
        [first, second].into_iter().flatten().collect()
    }

    fn new<S: Slope, P: Pairing>(
        cells: &[f64],
        sign: f64,
        k: usize,
        shift: f64,
        above: bool,
    ) -> Option<Part> {
        if cells.iter().all(|&c| c == 0.0) {
            return None;
        }
        let width = k.next_power_of_two().min(WIDEST);
        // A squared slope is read as sum of passed x less own x.
        let outward = if S::SQUARED && !above { -sign } else { sign };
        let inward = P::MIRROR * if S::SQUARED && above { -sign } else { sign };
        // Whoever reads what is left has a slope below 0.
        let (outward, inward) = match (S::UNSIGNED, above) {
            (false, _) => (outward, inward),
            (true, true) => (-outward, inward),
            (true, false) => (outward, -inward),
        };
        let blocks = k.div_ceil(width);
        let mut passed = [vec![0.0; blocks * k * width], vec![0.0; blocks * k * width]];
        for better in 0..k {
            for worse in 0..k {
                let c = cells[better * k + worse];
                passed[0][(better / width * k + worse) * width + better % width] = outward * c;
                passed[1][(worse / width * k + better) * width + worse % width] = inward * c;
            }
        }
        Some(Part { shift, above, worse_first: shift < 0.0, k, width, passed })
    }

    /// Adds the slopes of all pairs of two lists in score order; `gradient` starts at place `base`.
    /// Returns the offset.
    pub(super) fn merge<S: Slope, P: Pairing>(
        &self,
        lists: [&[Element]; 2],
        group: impl Fn(u32) -> usize + Copy,
        masses: &[P],
        base: usize,
        gradient: &mut [f64],
    ) -> f64 {
        if lists[0].is_empty() || lists[1].is_empty() {
            return 0.0;
        }
        let better: f64 = (0..self.k.div_ceil(self.width))
            .map(|block| match self.width {
                1 => self.block::<S, P, 1>(block, lists, group, masses, base, gradient),
                2 => self.block::<S, P, 2>(block, lists, group, masses, base, gradient),
                4 => self.block::<S, P, 4>(block, lists, group, masses, base, gradient),
                _ => self.block::<S, P, 8>(block, lists, group, masses, base, gradient),
            })
            .sum();
        self.shift * better
    }

    /// The slopes of readers in one block of groups; returns the sum over better ones.
    fn block<S: Slope, P: Pairing, const G: usize>(
        &self,
        block: usize,
        [worse, better]: [&[Element]; 2],
        group: impl Fn(u32) -> usize + Copy,
        masses: &[P],
        base: usize,
        gradient: &mut [f64],
    ) -> f64 {
        let rows = |table| {
            let (rows, _) = Vec::as_slice(table)[block * self.k * G..][..self.k * G].as_chunks::<G>();
            rows
        };
        let passed = [rows(&self.passed[0]), rows(&self.passed[1])];
        let shift = [0.0, self.shift];
        let take =
            |sums: &mut [P::Sum; G], moments: &mut [P::Sum; G], element: Element, kind: usize, sign: f64| {
                let row = &passed[kind][group(element.lane)];
                let mass = masses[element.place as usize];
                let x = element.score + shift[kind];
                for (lane, &c) in row.iter().enumerate() {
                    let added = mass.times(sign * c);
                    sums[lane] += added;
                    if S::SQUARED {
                        moments[lane] += added * x;
                    }
                }
            };
        // Whoever reads what is left starts from minus the total.
        let (left, kind) = if self.above { (worse, 0) } else { (better, 1) };
        let (mut sum, mut moment) = ([P::Sum::default(); G], [P::Sum::default(); G]);
        for &element in left {
            take(&mut sum, &mut moment, element, kind, -1.0);
        }
        // By who reads them: worse ones, better ones.
        let (mut sums, mut moments) = ([sum; 2], [moment; 2]);
        sums[kind] = [P::Sum::default(); G];
        moments[kind] = [P::Sum::default(); G];

        let mut total = [0.0; 2];
        let mut step = |element: Element, kind: usize| {
            let lane = group(element.lane).wrapping_sub(block * G);
            if lane < G {
                let mut sum = sums[kind][lane];
                if S::SQUARED {
                    let x = element.score + shift[kind];
                    sum = sum * -x;
                    sum += moments[kind][lane];
                }
                let slope = masses[element.place as usize].meet(sum);
                gradient[element.place as usize - base] += slope;
                total[kind] += slope;
            }
            take(&mut sums[1 - kind], &mut moments[1 - kind], element, kind, 1.0);
        };
        let (mut w, mut b) = (0, 0);
        while w < worse.len() && b < better.len() {
            let (score, threshold) = (worse[w].score, better[b].score + self.shift);
            let worse_next = (score < threshold) | (self.worse_first & (score == threshold));
            let element = *select_unpredictable(worse_next, &worse[w], &better[b]);
            step(element, usize::from(!worse_next));
            w += usize::from(worse_next);
            b += usize::from(!worse_next);
        }
        worse[w..].iter().for_each(|&element| step(element, 0));
        better[b..].iter().for_each(|&element| step(element, 1));
        total[1]
    }
}

/// Moves the elements that fulfill `first` before the others, keeping their order; returns their number.
pub(super) fn partition(
    elements: &mut [Element],
    scratch: &mut [Element],
    first: impl Fn(Element) -> bool,
) -> usize {
    let scratch = &mut scratch[..elements.len()];
    let (mut firsts, mut others) = (0, 0);
    // Both targets are written and only one index moves: a branch here would be mispredicted half of
    // the time.
    for i in 0..elements.len() {
        let element = elements[i];
        let is_first = first(element);
        elements[firsts] = element;
        scratch[others] = element;
        firsts += usize::from(is_first);
        others += usize::from(!is_first);
    }
    elements[firsts..].copy_from_slice(&scratch[..others]);
    firsts
}
