//! Orders of two groups in blocks, and how to merge them for the best of a linear objective.
//!
//! The scores of each group are cut into blocks that are never parted: single scores, or about a thousand
//! runs of them. A merge that keeps the order inside both groups says of each block i of the first group
//! how many blocks h_i of the second stand below it, and h does not fall. With C01 and C10 the weights of
//! label-ordered pairs of a block of each group, where that of the first or of the second group is better,
//!
//! ```text
//! W01 = Σ_i Σ_{j < h_i} C01[i][j]      W10 = Σ_i Σ_{j ≥ h_i} C10[i][j]
//! ```
//!
//! are the weights of pairs that are put right. Any objective c01 W01 + c10 W10 is a sum over i of functions
//! of h_i alone, so that its maximum over all merges is found by going through the blocks of the first
//! group with, for each h, the best sum so far that ends at h or lower: O(blocks²).

use crate::examples::{Examples, sort_by_value};
use std::ops::Range;

/// The most blocks of a group, or nearly.
pub(super) const BLOCKS: usize = 1_000;

/// One group's scores in blocks, from low to high.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Blocks {
    /// The lowest score of each.
    pub low: Vec<f64>,
    /// The highest score of each.
    pub high: Vec<f64>,
}

impl Blocks {
    /// Cuts scores into at most about `most` blocks of nearly equal size; equal scores stay together.
    pub(super) fn new(scores: &[f64], most: usize) -> Blocks {
        let order = sort_by_value(scores);
        let mut blocks = Blocks::default();
        let distinct = order.chunk_by(|a, b| a.0 == b.0).count();
        let size = if distinct <= most { 0 } else { order.len().div_ceil(most) };
        let mut room = 0;
        for run in order.chunk_by(|a, b| a.0 == b.0) {
            let score = scores[run[0].1 as usize];
            match blocks.high.last_mut() {
                Some(high) if room > 0 => *high = score,
                _ => {
                    blocks.low.push(score);
                    blocks.high.push(score);
                    room = size;
                }
            }
            room = room.saturating_sub(run.len());
        }
        blocks
    }

    pub(super) fn len(&self) -> usize {
        self.low.len()
    }

    /// The block of a score.
    fn of(&self, score: f64) -> usize {
        self.high.partition_point(|&high| high < score).min(self.len().saturating_sub(1))
    }
}

/// Weights of label-ordered pairs between blocks.
#[derive(Debug, Clone, Default)]
pub(super) struct Merge {
    rows: usize,
    columns: usize,
    /// At `i * (columns + 1) + h`, the sum of C01\[i\]\[j\] over j < h.
    below: Vec<f64>,
    /// The sum of C10\[i\]\[j\] over j ≥ h.
    above: Vec<f64>,
    /// Weights of all pairs: with the better example in the first group and the worse in the second, the
    /// reverse, and in all groups.
    pub first: f64,
    pub second: f64,
    pub all: f64,
}

impl Merge {
    /// Weighs all pairs, with scores and codes in the order of the examples.
    pub(super) fn new(
        examples: &Examples,
        scores: &[f64],
        codes: &[u16],
        groups: [usize; 2],
        blocks: &[Blocks; 2],
    ) -> Merge {
        let member = |(&code, &score): (&u16, &f64)| {
            let side = groups.iter().position(|&group| group == usize::from(code))?;
            Some((side, blocks[side].of(score)))
        };
        let member = codes.iter().zip(scores).map(member).collect();
        let sizes = [blocks[0].len(), blocks[1].len()];
        let none = || vec![0.0; sizes[0] * sizes[1]];
        let mut masses = Masses { examples, member, sizes, between: [none(), none()], all: 0.0 };
        for block in 0..examples.blocks() {
            let range = examples.block(block);
            match range.len() < sizes[0].max(sizes[1]) {
                true => masses.add_every_pair(range),
                false => masses.add_by_label(range),
            }
        }
        masses.summed()
    }

    /// The merge with the greatest c01 W01 + c10 W10: h of each block of the first group. Of equals, the
    /// one with the lowest h.
    pub(super) fn best(&self, c01: f64, c10: f64) -> Vec<usize> {
        let width = self.columns + 1;
        // The lowest h' ≤ h at which the best sum up to h ends, for each block and h.
        let mut ends: Vec<u32> = Vec::with_capacity(self.rows * width);
        let mut best = vec![0.0; width];
        for i in 0..self.rows {
            let (mut top, mut at) = (f64::NEG_INFINITY, 0);
            for (h, best) in best.iter_mut().enumerate() {
                let sum = *best + c01 * self.below[i * width + h] + c10 * self.above[i * width + h];
                if sum > top {
                    (top, at) = (sum, h);
                }
                *best = top;
                ends.push(at as u32);
            }
        }
        let mut heights = vec![0; self.rows];
        let mut limit = self.columns;
        for i in (0..self.rows).rev() {
            limit = ends[i * width + limit] as usize;
            heights[i] = limit;
        }
        heights
    }

    /// W01 and W10 of a merge.
    pub(super) fn wins(&self, heights: &[usize]) -> (f64, f64) {
        let place = |(i, &h): (usize, &usize)| i * (self.columns + 1) + h;
        let sum = |sums: &[f64]| heights.iter().enumerate().map(|at| sums[place(at)]).sum();
        (sum(&self.below), sum(&self.above))
    }

    /// The rise of W01 and W10 if block i is put above another number of blocks.
    pub(super) fn change(&self, i: usize, from: usize, to: usize) -> (f64, f64) {
        let (from, to) = (i * (self.columns + 1) + from, i * (self.columns + 1) + to);
        (self.below[to] - self.below[from], self.above[to] - self.above[from])
    }
}

/// C01 and C10 while pairs are added.
struct Masses<'a> {
    examples: &'a Examples,
    /// Which group, the first or the second, and which of its blocks each example is in.
    member: Vec<Option<(usize, usize)>>,
    /// Blocks of both groups.
    sizes: [usize; 2],
    /// Weights of pairs whose better example is in the first and in the second group, by the better example's
    /// block and then the other's.
    between: [Vec<f64>; 2],
    all: f64,
}

impl Masses<'_> {
    fn add_every_pair(&mut self, range: Range<usize>) {
        let Some(labels) = &self.examples.labels else { return };
        for better in range.clone() {
            for worse in range.clone().filter(|&worse| labels[better] > labels[worse]) {
                let gap = if self.examples.label_gap { labels[better] - labels[worse] } else { 1.0 };
                let weight = self.examples.factor(better) * self.examples.factor(worse) * gap;
                self.all += weight;
                if let (Some((side, i)), Some((other, j))) = (self.member[better], self.member[worse])
                    && side != other
                {
                    self.between[side][i * self.sizes[other] + j] += weight;
                }
            }
        }
    }

    /// In label order, with the sums of the factors of all worse examples by block.
    fn add_by_label(&mut self, range: Range<usize>) {
        let examples = self.examples;
        let Some(labels) = &examples.labels else { return };
        let order = sort_by_value(&labels[range.clone()]);
        let lowest = order.first().map_or(0.0, |&(_, e)| labels[range.start + e as usize]);
        // Factors, and factors times labels, of both groups by block, and of all examples.
        let (mut worse, mut all) = (self.sizes.map(|size| vec![[0.0; 2]; size]), [0.0; 2]);
        for run in order.chunk_by(|a, b| a.0 == b.0) {
            let examples_of_run = || run.iter().map(|&(_, e)| range.start + e as usize);
            for e in examples_of_run() {
                let (own, label) = (examples.factor(e), labels[e] - lowest);
                let weigh = |[factors, sum]: [f64; 2]| match examples.label_gap {
                    true => own * (label * factors - sum),
                    false => own * factors,
                };
                self.all += weigh(all);
                let Some((side, block)) = self.member[e] else { continue };
                let width = self.sizes[1 - side];
                let row = &mut self.between[side][block * width..][..width];
                row.iter_mut().zip(&worse[1 - side]).for_each(|(mass, &sums)| *mass += weigh(sums));
            }
            for e in examples_of_run() {
                let own = [examples.factor(e), examples.factor(e) * (labels[e] - lowest)];
                let add = |sums: &mut [f64; 2]| sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
                if let Some((side, block)) = self.member[e] {
                    add(&mut worse[side][block]);
                }
                add(&mut all);
            }
        }
    }

    fn summed(self) -> Merge {
        let Masses { sizes: [rows, columns], between: [first, second], all, .. } = self;
        let width = columns + 1;
        let (mut below, mut above) = (vec![0.0; rows * width], vec![0.0; rows * width]);
        for i in 0..rows {
            for j in 0..columns {
                below[i * width + j + 1] = below[i * width + j] + first[i * columns + j];
            }
            for j in (0..columns).rev() {
                above[i * width + j] = above[i * width + j + 1] + second[j * rows + i];
            }
        }
        Merge { rows, columns, below, above, first: first.iter().sum(), second: second.iter().sum(), all }
    }
}
