//! The counts of every query, cell by cell.
//!
//! A cell is the smallest set of pairs that the rates are made of: better and worse group, first and
//! second group, or the order of a continuous attribute. Every rate is a sum of cells.

use super::continuous::continuous;
use super::discrete::{Cells, accuracy};
use super::mass::{Gap, Mass, Unit, Weight};
use super::members::Arranged;
use super::parity::parity;
use super::shares::Part;
use super::view::View;
use crate::examples::{Attribute, Examples};
use crate::rates::{Rate, Side, Ties};
use rayon::prelude::*;
use std::ops::Range;

/// Which cells there are, and their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Number of groups; examples of no group stand behind the last one.
    pub groups: usize,
    pub labels: bool,
    pub continuous: bool,
}

impl Layout {
    pub(crate) fn of(examples: &Examples) -> Layout {
        Layout {
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
pub(crate) struct Wanted {
    pub accuracy: bool,
    pub parity: bool,
    pub continuous: bool,
    pub mse: bool,
}

impl Wanted {
    /// What these rates are made of.
    pub(crate) fn by(rates: &[Rate]) -> Wanted {
        let any = |kind: fn(&Rate) -> bool| rates.iter().any(kind);
        Wanted {
            accuracy: any(|rate| matches!(rate, Rate::Accuracy { .. })),
            parity: any(|rate| matches!(rate, Rate::Parity { .. })),
            continuous: any(|rate| matches!(rate, Rate::Greater | Rate::Less)),
            mse: any(|rate| *rate == Rate::Mse),
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

/// The cells of all queries that have pairs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    entries: Vec<Part>,
    /// Where each query ends among the entries.
    ends: Vec<usize>,
    /// Exact number of pairs in each cell, over all queries.
    pub pairs: Vec<u64>,
}

impl Tally {
    /// Counts the cells that rates need; `scores` are in the order of the examples.
    pub(crate) fn count(examples: &Examples, scores: &[f64], rates: &[Rate], ties: Ties) -> Tally {
        let tasks = examples.tasks().into_par_iter();
        let parts: Vec<Tally> =
            tasks.map(|task| Tally::of_task(examples, task, scores, rates, ties)).collect();
        let mut all = Tally { pairs: vec![0; Layout::of(examples).len()], ..Tally::default() };
        all.entries.reserve_exact(parts.iter().map(|part| part.entries.len()).sum());
        all.ends.reserve_exact(examples.queries());
        for part in parts {
            let before = all.entries.len();
            all.entries.extend(part.entries);
            all.ends.extend(part.ends.iter().map(|end| end + before));
            all.pairs.iter_mut().zip(&part.pairs).for_each(|(all, part)| *all += part);
        }
        all
    }

    /// The cells over all queries together, which takes no room for the cells of each.
    pub(crate) fn sums(examples: &Examples, scores: &[f64], rates: &[Rate], ties: Ties) -> Vec<CellSum> {
        let mut all = vec![CellSum::default(); Layout::of(examples).len()];
        // A few tasks at a time, as each has cells of its own until they are added, in order.
        for tasks in examples.tasks().chunks(AT_ONCE) {
            let tasks = tasks.par_iter();
            let some: Vec<Tally> =
                tasks.map(|task| Tally::of_task(examples, task.clone(), scores, rates, ties)).collect();
            for tally in some {
                all.iter_mut().zip(&tally.pairs).for_each(|(cell, pairs)| cell.pairs += pairs);
                for part in &tally.entries {
                    all[part.cell as usize].credit += part.credit;
                    all[part.cell as usize].total += part.total;
                }
            }
        }
        all
    }

    /// The cells of consecutive queries.
    fn of_task(
        examples: &Examples,
        queries: Range<usize>,
        scores: &[f64],
        rates: &[Rate],
        ties: Ties,
    ) -> Tally {
        let (layout, wanted) = (Layout::of(examples), Wanted::by(rates));
        let mut tally = Tally { pairs: vec![0; layout.len()], ..Tally::default() };
        for query in queries {
            tally.add_query(examples, &layout, wanted, examples.query(query), scores, ties);
        }
        tally
    }

    /// The expected cells of a mixture: which cells a query has does not depend on its scores, so that
    /// what they earn is added up entry by entry.
    pub(crate) fn expected(examples: &Examples, members: &[Arranged], rates: &[Rate], ties: Ties) -> Tally {
        let mut members = members.iter().map(|member| {
            let mut tally = Tally::count(examples, &member.scores, rates, ties);
            tally.scale(&member.chances);
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
            self.entries[start..end].iter_mut().for_each(|part| part.credit = scale(part.credit));
            start = end;
        }
    }

    /// The entries of each query.
    pub(crate) fn queries(&self) -> impl Iterator<Item = &[Part]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.entries[start..end])
    }

    fn add_query(
        &mut self,
        examples: &Examples,
        layout: &Layout,
        wanted: Wanted,
        range: Range<usize>,
        scores: &[f64],
        ties: Ties,
    ) {
        let view = View::new(examples, range.clone(), scores);
        let factors = examples.factors.is_some();
        if let Some(labels) = view.labels {
            if wanted.accuracy {
                match (examples.label_gap, factors) {
                    (true, _) => self.add_accuracy::<Gap>(&view, labels, layout, ties),
                    (false, true) => self.add_accuracy::<Weight>(&view, labels, layout, ties),
                    (false, false) => self.add_accuracy::<Unit>(&view, labels, layout, ties),
                }
            }
            if let (true, Attribute::Continuous(values)) = (wanted.continuous, &examples.attribute) {
                let values = &values[range.clone()];
                match (examples.label_gap, factors) {
                    (true, _) => self.add_continuous::<Gap>(&view, labels, values, layout, ties),
                    (false, true) => self.add_continuous::<Weight>(&view, labels, values, layout, ties),
                    (false, false) => self.add_continuous::<Unit>(&view, labels, values, layout, ties),
                }
            }
            if wanted.mse {
                let (credit, total) = squared_error(examples, range.clone(), scores);
                self.pairs[layout.mse()] += range.len() as u64;
                self.entries.push(Part { cell: layout.mse() as u32, side: 0, credit, total });
            }
        }
        if wanted.parity && layout.groups > 0 {
            match factors {
                true => self.add_parity::<Weight>(&view, layout, ties),
                false => self.add_parity::<Unit>(&view, layout, ties),
            }
        }
        self.ends.push(self.entries.len());
    }

    fn add_accuracy<M: Mass>(&mut self, view: &View, labels: &[f64], layout: &Layout, ties: Ties) {
        let cells = accuracy::<M>(view, labels);
        self.add_cells(&cells, &view.present, ties, |a, b| Some(layout.accuracy(a, b)));
    }

    fn add_parity<M: Mass>(&mut self, view: &View, layout: &Layout, ties: Ties) {
        let cells = parity::<M>(view);
        let between = |a: usize, b: usize| a != b && a < layout.groups && b < layout.groups;
        self.add_cells(&cells, &view.present, ties, |a, b| between(a, b).then(|| layout.parity(a, b)));
    }

    fn add_cells<M: Mass>(
        &mut self,
        cells: &Cells<M>,
        present: &[u16],
        ties: Ties,
        number: impl Fn(usize, usize) -> Option<usize>,
    ) {
        for (i, &a) in present.iter().enumerate() {
            for (j, &b) in present.iter().enumerate() {
                let at = i * present.len() + j;
                if let Some(cell) = number(a as usize, b as usize) {
                    self.add::<M>(
                        cell,
                        cells.wins[at],
                        cells.ties[at],
                        cells.totals[at],
                        cells.pairs[at],
                        ties,
                    );
                }
            }
        }
    }

    fn add_continuous<M: Mass>(
        &mut self,
        view: &View,
        labels: &[f64],
        values: &[f64],
        layout: &Layout,
        ties: Ties,
    ) {
        let c = continuous::<M>(view, labels, values);
        let greater = (c.wins.greater, c.ties.greater, c.totals.greater, c.pairs.greater);
        let less = (c.wins.less, c.ties.less, c.totals.less, c.pairs.less);
        for (cell, (won, tied, total, pairs)) in [(layout.greater(), greater), (layout.less(), less)] {
            self.add::<M>(cell, won, tied, total, pairs, ties);
        }
    }

    fn add<M: Mass>(
        &mut self,
        cell: usize,
        wins: M::Worth,
        tied: M::Worth,
        total: M::Worth,
        pairs: u64,
        ties: Ties,
    ) {
        self.pairs[cell] += pairs;
        let total = M::number(total);
        if total > 0.0 {
            let credit = M::number(wins) + ties.credit() * M::number(tied);
            // Sums of weights are rounded, each in its own order.
            self.entries.push(Part { cell: cell as u32, side: 0, credit: credit.clamp(0.0, total), total });
        }
    }
}

/// Weighted sum of squared errors, and sum of weights.
fn squared_error(examples: &Examples, range: Range<usize>, scores: &[f64]) -> (f64, f64) {
    let mut sums = (0.0, 0.0);
    if let Some(labels) = &examples.labels {
        for i in range {
            let weight = examples.weights.as_ref().map_or(1.0, |weights| weights[i]);
            sums.0 += weight * (scores[i] - labels[i]).powi(2);
            sums.1 += weight;
        }
    }
    sums
}
