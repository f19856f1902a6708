//! The counts of every query, cell by cell.
//!
//! A cell is the smallest set of pairs that the rates are made of: better and worse group, first and
//! second group, or the order of a continuous attribute. Every rate is a sum of cells.

use super::accuracy::{CellCounts, accuracy};
use super::continuous::continuous;
use super::index::{PairIndex, QueryPairs, with_masses};
use super::mass::Mass;
use super::members::DrawnOrder;
use super::order::ScoreOrder;
use super::parity::parity;
use crate::examples::{Attribute, Examples};
use crate::rates::{Rate, Side, Ties};
use rayon::prelude::*;
use std::ops::Range;

/// Which cells there are, and their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CellLayout {
    /// Number of groups; examples of no group stand behind the last one.
    pub groups: usize,
    pub labels: bool,
    pub continuous: bool,
}

impl CellLayout {
    pub(crate) fn of(examples: &Examples) -> CellLayout {
        CellLayout {
            groups: examples.groups().len(),
            labels: examples.has_labels(),
            continuous: examples.is_continuous(),
        }
    }

    /// Groups and "no group".
    pub(crate) fn codes(&self) -> usize {
        self.groups + 1
    }

    pub(crate) fn accuracy(&self, better: usize, worse: usize) -> usize {
        better * self.codes() + worse
    }

    pub(crate) fn parity(&self, first: usize, second: usize) -> usize {
        self.codes() * self.codes() + first * self.groups + second
    }

    pub(crate) fn greater(&self) -> usize {
        self.codes() * self.codes() + self.groups * self.groups
    }

    pub(crate) fn less(&self) -> usize {
        self.greater() + 1
    }

    pub(crate) fn mse(&self) -> usize {
        self.greater() + 2
    }

    pub(crate) fn len(&self) -> usize {
        self.mse() + 1
    }

    /// The cells whose sums make a rate.
    pub(crate) fn cells(&self, rate: Rate) -> Vec<usize> {
        let codes = |side| match side {
            Side::Group(group) => group..group + 1,
            Side::Any => 0..self.codes(),
        };
        match rate {
            Rate::Accuracy { better, worse } => codes(better)
                .flat_map(|better| codes(worse).map(move |worse| self.accuracy(better, worse)))
                .collect(),
            Rate::Parity { first, second } => vec![self.parity(first, second)],
            Rate::Greater => vec![self.greater()],
            Rate::Less => vec![self.less()],
            Rate::Mse => vec![self.mse()],
        }
    }
}

/// Which kinds of cells are counted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RateKinds {
    pub accuracy: bool,
    pub parity: bool,
    pub continuous: bool,
    pub mse: bool,
}

impl RateKinds {
    /// What these rates are made of, as far as there are such pairs.
    pub(crate) fn of(rates: &[Rate], layout: &CellLayout) -> RateKinds {
        let any = |kind: fn(&Rate) -> bool| rates.iter().any(kind);
        let orders = layout.labels && layout.continuous;
        RateKinds {
            accuracy: layout.labels && any(|rate| matches!(rate, Rate::Accuracy { .. })),
            parity: layout.groups > 0 && any(|rate| matches!(rate, Rate::Parity { .. })),
            continuous: orders && any(|rate| matches!(rate, Rate::Greater | Rate::Less)),
            mse: layout.labels && any(|rate| *rate == Rate::Mse),
        }
    }
}

/// Tasks whose cells are held at once where only their sums are wanted.
const AT_ONCE: usize = 16;

/// What the pairs of one cell earned, what they could have earned, and their number.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct CellSum {
    pub credit: f64,
    pub total: f64,
    pub pairs: u64,
}

/// What the pairs of one unit in one cell earned, and what they could have earned. An example stands on
/// one side of its pairs: 0 for the better or first, 1 for the worse or second; of a query it is 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Placement {
    pub cell: u32,
    pub side: u8,
    pub credit: f64,
    pub total: f64,
}

/// The cells of all queries that have pairs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    entries: Vec<Placement>,
    /// Where each query ends among the entries.
    ends: Vec<usize>,
    /// Exact number of pairs in each cell, over all queries.
    pub pairs: Vec<u64>,
}

impl Tally {
    /// Counts the cells that the rates of the index need.
    pub(crate) fn count(index: &PairIndex, order: &ScoreOrder, ties: Ties) -> Tally {
        let tasks = index.tasks.par_iter();
        let parts: Vec<Tally> = tasks.map(|task| Tally::of_task(index, task.clone(), order, ties)).collect();
        let mut all = Tally { pairs: vec![0; index.layout.len()], ..Tally::default() };
        all.entries.reserve_exact(parts.iter().map(|part| part.entries.len()).sum());
        all.ends.reserve_exact(index.examples.queries());
        for part in parts {
            let before = all.entries.len();
            all.entries.extend(part.entries);
            all.ends.extend(part.ends.iter().map(|end| end + before));
            all.pairs.iter_mut().zip(&part.pairs).for_each(|(all, part)| *all += part);
        }
        all
    }

    /// The totals of cells, which do not depend on scores; nothing is earned.
    pub(super) fn totals(index: &PairIndex) -> Tally {
        let scores = vec![0.0; index.examples.len()];
        Tally::count(index, &ScoreOrder::unsorted(&scores), Ties::Strict)
    }

    /// The cells over all queries together, which takes no room for the cells of each.
    pub(crate) fn sums(index: &PairIndex, order: &ScoreOrder, ties: Ties) -> Vec<CellSum> {
        let mut all = vec![CellSum::default(); index.layout.len()];
        // A few tasks at a time, as each has cells of its own until they are added, in order.
        for tasks in index.tasks.chunks(AT_ONCE) {
            let tasks = tasks.par_iter();
            let some: Vec<Tally> =
                tasks.map(|task| Tally::of_task(index, task.clone(), order, ties)).collect();
            for tally in some {
                all.iter_mut().zip(&tally.pairs).for_each(|(cell, pairs)| cell.pairs += pairs);
                for entry in &tally.entries {
                    all[entry.cell as usize].credit += entry.credit;
                    all[entry.cell as usize].total += entry.total;
                }
            }
        }
        all
    }

    /// The expected cells of a mixture: which cells a query has does not depend on its scores, so that
    /// what they earn is added up entry by entry.
    pub(crate) fn expected(index: &PairIndex, members: &[DrawnOrder], ties: Ties) -> Tally {
        let mut members = members.iter().map(|member| {
            let mut tally = Tally::count(index, &member.order, ties);
            tally.scale(member.chances);
            tally
        });
        let mut all = members.next().unwrap_or_default();
        for other in members {
            all.entries.iter_mut().zip(&other.entries).for_each(|(all, other)| all.credit += other.credit);
        }
        all
    }

    /// Multiplies what each query earned.
    fn scale(&mut self, factors: &[f64]) {
        let mut start = 0;
        for (&end, &factor) in self.ends.iter().zip(factors) {
            // A squared error may be infinite, which must not matter where it is never seen.
            let scale = |credit: f64| if factor > 0.0 { credit * factor } else { 0.0 };
            self.entries[start..end].iter_mut().for_each(|entry| entry.credit = scale(entry.credit));
            start = end;
        }
    }

    /// The entries of each query.
    pub(crate) fn queries(&self) -> impl Iterator<Item = &[Placement]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.entries[start..end])
    }

    /// The cells of consecutive queries.
    fn of_task(index: &PairIndex, queries: Range<usize>, order: &ScoreOrder, ties: Ties) -> Tally {
        let mut tally = Tally { pairs: vec![0; index.layout.len()], ..Tally::default() };
        for query in queries {
            tally.add_query(index, &index.query(query), order, ties);
            tally.ends.push(tally.entries.len());
        }
        tally
    }

    fn add_query(&mut self, index: &PairIndex, query: &QueryPairs, order: &ScoreOrder, ties: Ties) {
        let (layout, kinds, range) = (&index.layout, index.kinds, query.range.clone());
        let present = || query.present.iter().map(|&code| usize::from(code));
        let cells = || present().flat_map(|a| present().map(move |b| (a, b)));
        if let Some(labels) = &index.examples.labels {
            let labels = &labels[range.clone()];
            if kinds.accuracy {
                let cells = cells().map(|(a, b)| Some(layout.accuracy(a, b)));
                with_masses!(&index.label_ordered, masses => {
                    self.add(accuracy(query, order, labels, &masses[range.clone()]), cells, ties);
                });
            }
            if let (true, Attribute::Continuous(values)) = (kinds.continuous, &index.examples.attribute) {
                let (cells, values) = ([layout.greater(), layout.less()].map(Some), &values[range.clone()]);
                with_masses!(&index.label_ordered, masses => {
                    let counts = continuous(query, order, labels, values, &masses[range.clone()]);
                    self.add(counts, cells.into_iter(), ties);
                });
            }
            if kinds.mse {
                let (credit, total) = squared_error(&index.examples, range.clone(), order.scores);
                self.pairs[layout.mse()] += range.len() as u64;
                self.entries.push(Placement { cell: layout.mse() as u32, side: 0, credit, total });
            }
        }
        if kinds.parity {
            let between = |&(a, b): &(usize, usize)| a != b && a < layout.groups && b < layout.groups;
            let cells = cells().map(|cell| Some(cell).filter(between).map(|(a, b)| layout.parity(a, b)));
            with_masses!(index.unordered(), masses => {
                self.add(parity(query, order, &masses[range.clone()]), cells, ties);
            });
        }
    }

    /// Adds what was counted, each to its cell if it has one.
    fn add<M: Mass>(
        &mut self,
        counts: CellCounts<M>,
        cells: impl Iterator<Item = Option<usize>>,
        ties: Ties,
    ) {
        for (at, cell) in cells.enumerate().filter_map(|(at, cell)| Some((at, cell?))) {
            self.pairs[cell] += counts.pairs[at];
            let total = M::number(counts.totals[at]);
            if total > 0.0 {
                let credit = M::number(counts.wins[at]) + ties.credit() * M::number(counts.ties[at]);
                // Sums of weights are rounded, each in its own order.
                let credit = credit.clamp(0.0, total);
                self.entries.push(Placement { cell: cell as u32, side: 0, credit, total });
            }
        }
    }
}

/// Weighted sum of squared errors, and sum of weights.
fn squared_error(examples: &Examples, range: Range<usize>, scores: &[f64]) -> (f64, f64) {
    let mut sums = (0.0, 0.0);
    if let Some(labels) = &examples.labels {
        for i in range {
            sums.0 += examples.weight(i) * (scores[i] - labels[i]).powi(2);
            sums.1 += examples.weight(i);
        }
    }
    sums
}
