//! Tables without queries whose labels and groups have few combinations, in the order of their scores.
//!
//! With n_c(s) rows of label and group c at score s, all that rates are made of is between two such combinations:
//!
//! ```text
//! wins(c, d) = Σ_s n_c(s) Σ_{t < s} n_d(t),    ties(c, d) = Σ_s n_c(s) n_d(s)
//! ```
//!
//! Rows go by twice, as they are sorted: first for these counts, then for the placement of each row, which depends on its
//! score, label and group (and weight) alone, so that rows that are alike are looked at once.

use super::exact::ExactSum;
use super::influence::Influence;
use super::measurement::all_rates;
use super::plain_table::PlainTable;
use super::unit_blocks::{UnitTotals, Units};
use super::{Measurement, Settings};
use crate::examples::{PlainRow, RowRecord};
use crate::pairs::{CellLayout, Placement, RateSums, UnitSums};
use crate::rates::Ties;
use crate::threads;
use std::collections::VecDeque;
use std::ops::Range;

/// Sizes, which are a part of the result's definition as they order sums.
#[derive(Debug, Clone, Copy)]
pub(super) struct SweepSizes {
    /// Records that are held at once.
    pub batch: usize,
    /// Records of a task, about.
    pub task: usize,
    /// Scores of more records than this are remembered by the first pass, so that they need not be held at once.
    pub long: usize,
}

impl Default for SweepSizes {
    fn default() -> SweepSizes {
        SweepSizes { batch: 1 << 18, task: 1 << 13, long: 1 << 16 }
    }
}

/// What calls a function with all records of a table, some at a time.
pub type SortedPass<'a, E> = &'a mut dyn FnMut(&mut dyn FnMut(&[RowRecord])) -> Result<(), E>;

/// Measures a table from its records in ascending order: `pass` calls a function with all of them, some at a time, and is
/// asked to do so twice.
///
/// # Errors
/// Those of `pass`.
pub fn measure_sorted<E>(
    table: &PlainTable,
    settings: &Settings,
    pass: SortedPass<'_, E>,
) -> Result<Measurement, E> {
    measure_sized(table, settings, SweepSizes::default(), pass)
}

pub(super) fn measure_sized<E>(
    table: &PlainTable,
    settings: &Settings,
    sizes: SweepSizes,
    pass: SortedPass<'_, E>,
) -> Result<Measurement, E> {
    let mut counts = SweepCounts::new(table, sizes);
    pass(&mut |records| records.iter().for_each(|record| counts.add(record)))?;
    counts.end_level();
    let cells = counts.cells(settings.ties);
    let layout = table.layout();
    let rates = all_rates(&layout);
    let mut unit = UnitSums::of(&layout, &rates);
    unit.collect(&cells.entries, false);
    let one = |sides: &[[f64; 2]]| sides.iter().map(|side| side[0]).collect();
    let sums = RateSums { credits: one(&unit.credits), totals: one(&unit.totals) };
    let mut placing = PlacementSweep::new(counts, (&sums, &unit), settings.ties);
    pass(&mut |records| placing.add(records))?;
    placing.drain(true);
    let influence = Influence::of_units(placing.units, &sums, &unit, cells.pairs);
    Ok(table.measurement(influence, settings))
}

/// A sum of products, of whole numbers exactly.
#[derive(Clone, Copy, Default)]
struct PairSum {
    whole: u128,
    real: f64,
}

impl PairSum {
    fn add(&mut self, a: f64, b: f64, weighted: bool) {
        if weighted {
            self.real += a * b;
        } else {
            self.whole += u128::from(a as u64) * u128::from(b as u64);
        }
    }
}

/// What one row brings.
#[derive(Clone, Copy)]
struct SweptRow {
    row: PlainRow,
    cell: usize,
    count: f64,
}

/// The first pass. A combination of a label and a group has the number `label * codes + group`.
struct SweepCounts<'a> {
    table: &'a PlainTable,
    layout: CellLayout,
    sizes: SweepSizes,
    /// What rows below the current score bring, and those at it.
    below: Vec<f64>,
    level: Vec<f64>,
    /// The combinations at the current score, and its records.
    touched: Vec<usize>,
    level_records: usize,
    score: f64,
    wins: Vec<PairSum>,
    ties: Vec<PairSum>,
    rows: Vec<u64>,
    squared_error: [ExactSum; 2],
    /// Scores of many records, and what they bring.
    long: VecDeque<(f64, Vec<f64>)>,
}

/// What cells earned.
struct CellEntries {
    entries: Vec<Placement>,
    pairs: Vec<u64>,
}

impl<'a> SweepCounts<'a> {
    fn new(table: &'a PlainTable, sizes: SweepSizes) -> SweepCounts<'a> {
        let layout = table.layout();
        let n = table.grades.len().max(1) * layout.codes();
        SweepCounts {
            table,
            layout,
            sizes,
            below: vec![0.0; n],
            level: vec![0.0; n],
            touched: Vec::new(),
            level_records: 0,
            score: f64::NAN,
            wins: vec![PairSum::default(); n * n],
            ties: vec![PairSum::default(); n * n],
            rows: vec![0; n],
            squared_error: Default::default(),
            long: VecDeque::new(),
        }
    }

    fn swept(&self, record: &RowRecord) -> SweptRow {
        let (row, count) = self.table.row(record);
        let label = self.table.grades.partition_point(|grade| *grade < row.label);
        let label = if self.table.labels { label } else { 0 };
        SweptRow { cell: label * self.layout.codes() + self.table.group(&row), row, count: count as f64 }
    }

    fn add(&mut self, record: &RowRecord) {
        let SweptRow { row, cell, count } = self.swept(record);
        if row.score != self.score {
            self.end_level();
            self.score = row.score;
        }
        if self.level[cell] == 0.0 {
            self.touched.push(cell);
        }
        self.level[cell] += row.factor * count;
        self.level_records += 1;
        self.rows[cell] += count as u64;
        if self.table.labels {
            self.squared_error[0].add(count * row.weight * (row.score - row.label).powi(2));
            self.squared_error[1].add(count * row.weight);
        }
    }

    fn end_level(&mut self) {
        let (n, weighted) = (self.below.len(), self.table.weighted);
        if self.level_records > self.sizes.long {
            self.long.push_back((self.score, self.level.clone()));
        }
        // Rows of factor 0 may have put one in twice.
        self.touched.sort_unstable();
        self.touched.dedup();
        for &cell in &self.touched {
            for (wins, &below) in self.wins[cell * n..][..n].iter_mut().zip(&self.below) {
                wins.add(self.level[cell], below, weighted);
            }
            for &other in &self.touched {
                self.ties[cell * n + other].add(self.level[cell], self.level[other], weighted);
            }
        }
        for cell in self.touched.drain(..) {
            self.below[cell] += std::mem::take(&mut self.level[cell]);
        }
        self.level_records = 0;
    }

    fn labels(&self) -> usize {
        self.below.len() / self.layout.codes()
    }

    /// What a pair counts beside factors.
    fn gap(&self, better: usize, worse: usize) -> f64 {
        if self.table.label_gap { self.table.grades[better] - self.table.grades[worse] } else { 1.0 }
    }

    /// The sum over pairs of labels of what two groups have, as a number; `ordered`: where the first is better.
    fn summed(&self, sums: &[PairSum], [a, b]: [usize; 2], ordered: bool) -> f64 {
        let (codes, n) = (self.layout.codes(), self.below.len());
        let (mut whole, mut real) = (0, 0.0);
        for (l, m) in label_pairs(self.labels(), ordered) {
            let sum = sums[(l * codes + a) * n + m * codes + b];
            match ordered && self.table.label_gap {
                true => real += self.gap(l, m) * (sum.real + sum.whole as f64),
                false => (whole, real) = (whole + sum.whole, real + sum.real),
            }
        }
        if self.table.weighted || (ordered && self.table.label_gap) { real } else { whole as f64 }
    }

    /// The cells, in the order of a tally.
    fn cells(&self, ties: Ties) -> CellEntries {
        let (layout, codes, n) = (&self.layout, self.layout.codes(), self.below.len());
        let all = &self.below;
        let totals: Vec<PairSum> = (0..n * n)
            .map(|at| {
                let mut sum = PairSum::default();
                sum.add(all[at / n], all[at % n], self.table.weighted);
                sum
            })
            .collect();
        let mut found = CellEntries { entries: Vec::new(), pairs: vec![0; layout.len()] };
        let mut add = |cell: usize, groups: [usize; 2], ordered: bool| {
            for (l, m) in label_pairs(self.labels(), ordered) {
                found.pairs[cell] += self.rows[l * codes + groups[0]] * self.rows[m * codes + groups[1]];
            }
            let total = self.summed(&totals, groups, ordered);
            if total > 0.0 {
                let tied = self.summed(&self.ties, groups, ordered);
                let credit = self.summed(&self.wins, groups, ordered) + ties.credit() * tied;
                let credit = credit.clamp(0.0, total);
                found.entries.push(Placement { cell: cell as u32, side: 0, credit, total });
            }
        };
        let pairs = || (0..codes).flat_map(|a| (0..codes).map(move |b| [a, b]));
        if layout.labels {
            pairs().for_each(|groups| add(layout.accuracy(groups[0], groups[1]), groups, true));
        }
        let between = |groups: &[usize; 2]| {
            groups[0] != groups[1] && *groups.iter().max().unwrap_or(&0) < layout.groups
        };
        pairs().filter(between).for_each(|groups| add(layout.parity(groups[0], groups[1]), groups, false));
        if layout.labels {
            let [credit, total] = [0, 1].map(|at| self.squared_error[at].value());
            found.pairs[layout.mse()] = self.rows.iter().sum();
            found.entries.push(Placement { cell: layout.mse() as u32, side: 0, credit, total });
        }
        found
    }
}

/// Pairs of labels: all, or those whose first is better.
fn label_pairs(labels: usize, ordered: bool) -> impl Iterator<Item = (usize, usize)> {
    (0..labels).flat_map(move |l| (0..if ordered { l } else { labels }).map(move |m| (l, m)))
}

/// The second pass.
struct PlacementSweep<'a> {
    counts: SweepCounts<'a>,
    ties: Ties,
    /// What all rows bring.
    all: Vec<f64>,
    /// What rows below the first waiting one bring.
    below: Vec<f64>,
    waiting: Vec<SweptRow>,
    /// What all pairs earned, and the rates of cells.
    known: (&'a RateSums, &'a UnitSums),
    units: UnitTotals,
}

impl<'a> PlacementSweep<'a> {
    fn new(counts: SweepCounts<'a>, known: (&'a RateSums, &'a UnitSums), ties: Ties) -> PlacementSweep<'a> {
        PlacementSweep {
            all: counts.below.clone(),
            below: vec![0.0; counts.below.len()],
            waiting: Vec::with_capacity(counts.sizes.batch),
            units: UnitTotals::new(known.0.totals.len()),
            known,
            counts,
            ties,
        }
    }

    fn add(&mut self, records: &[RowRecord]) {
        for record in records {
            self.waiting.push(self.counts.swept(record));
            if self.waiting.len() >= self.counts.sizes.batch {
                self.drain(false);
            }
        }
    }

    /// Places waiting rows, but those of the last score unless it is known that there are no others.
    fn drain(&mut self, is_end: bool) {
        let rows = std::mem::take(&mut self.waiting);
        let mut from = 0;
        while let Some(first) = rows.get(from) {
            let score = first.row.score;
            let rest = &rows[from..];
            // A long level that all rows were seen of.
            let is_over = |(long, _): &&mut (f64, Vec<f64>)| *long < score;
            while let Some((_, level)) = self.counts.long.front_mut().filter(is_over) {
                self.below.iter_mut().zip(level).for_each(|(below, level)| *below += *level);
                self.counts.long.pop_front();
            }
            if let Some((_, level)) = self.counts.long.front().filter(|(long, _)| *long == score) {
                let level = level.clone();
                let end = from + rest.partition_point(|row| row.row.score == score);
                self.place(&rows[from..end], Some(&level));
                from = end;
                continue;
            }
            let whole = match is_end {
                true => rest.len(),
                false => {
                    let last = rest.last().map_or(score, |row| row.row.score);
                    rest.partition_point(|row| row.row.score < last)
                }
            };
            let long = self.counts.long.front().map_or(f64::INFINITY, |(long, _)| *long);
            let end = whole.min(rest.partition_point(|row| row.row.score < long));
            // The last level may be a long one, which is placed as it comes.
            let end = match rest.get(end) {
                Some(next) if end == 0 && next.row.score != long => break,
                _ => from + end,
            };
            if end > from {
                self.place(&rows[from..end], None);
                from = end;
            }
        }
        self.waiting = rows;
        self.waiting.drain(..from);
    }

    /// Places rows of whole levels, or of one whose rows bring so much.
    fn place(&mut self, rows: &[SweptRow], level: Option<&[f64]>) {
        let mut below = self.below.clone();
        let mut tasks: Vec<(Range<usize>, Vec<f64>)> = Vec::new();
        let (mut start, mut before) = (0, below.clone());
        for (at, row) in rows.iter().enumerate() {
            let ends = level.is_some() || at > 0 && row.row.score != rows[at - 1].row.score;
            if ends && at - start >= self.counts.sizes.task {
                tasks.push((start..at, std::mem::replace(&mut before, below.clone())));
                start = at;
            }
            if level.is_none() {
                below[row.cell] += row.row.factor * row.count;
            }
        }
        tasks.push((start..rows.len(), before));
        let work = |(range, below): &(Range<usize>, Vec<f64>)| {
            let mut task = PlacementTask {
                sweep: self,
                below: below.clone(),
                level: level.map_or_else(|| vec![0.0; below.len()], <[f64]>::to_vec),
                found: Vec::new(),
                units: Units::new(self.known.0, self.known.1, self.counts.layout.codes()),
            };
            match level {
                Some(_) => rows[range.clone()].iter().for_each(|row| task.place(row)),
                None => rows[range.clone()]
                    .chunk_by(|a, b| a.row.score == b.row.score)
                    .for_each(|rows| task.place_level(rows)),
            }
            task.units.finish()
        };
        let units = threads::map(&tasks, &work);
        self.units.extend(units);
        self.below = below;
    }
}

/// Some levels.
struct PlacementTask<'a, 'b> {
    sweep: &'a PlacementSweep<'b>,
    below: Vec<f64>,
    level: Vec<f64>,
    found: Vec<Placement>,
    units: Units<'b>,
}

impl PlacementTask<'_, '_> {
    fn place_level(&mut self, rows: &[SweptRow]) {
        for row in rows {
            self.level[row.cell] += row.row.factor * row.count;
        }
        rows.iter().for_each(|row| self.place(row));
        for row in rows {
            self.level[row.cell] = 0.0;
            self.below[row.cell] += row.row.factor * row.count;
        }
    }

    fn place(&mut self, &SweptRow { row, cell, count }: &SweptRow) {
        let PlacementSweep { counts, all, ties, .. } = self.sweep;
        let (layout, codes, tie) = (&counts.layout, counts.layout.codes(), ties.credit());
        let (label, own) = (cell / codes, cell % codes);
        self.found.clear();
        for other in 0..codes {
            // Credit and total: as the better, as the worse, as the first and as the second of a pair.
            let mut sums = [[0.0; 2]; 4];
            for m in 0..counts.labels() {
                let at = m * codes + other;
                let (below, level, all) = (self.below[at], self.level[at], all[at]);
                let (under, over) = (below + tie * level, all - below - level + tie * level);
                let mut add = |at: usize, gap: f64, credit: f64| {
                    sums[at] = [sums[at][0] + gap * credit, sums[at][1] + gap * all];
                };
                if m < label {
                    add(0, counts.gap(label, m), under);
                } else if m > label {
                    add(1, counts.gap(m, label), over);
                }
                add(2, 1.0, under);
                add(3, 1.0, over);
            }
            let mut push = |cell: usize, side: u8, [credit, total]: [f64; 2]| {
                let (credit, total) = (row.factor * credit, row.factor * total);
                self.found.push(Placement { cell: cell as u32, side, credit, total });
            };
            if layout.labels {
                push(layout.accuracy(own, other), 0, sums[0]);
                push(layout.accuracy(other, own), 1, sums[1]);
            }
            if own != other && own < layout.groups && other < layout.groups {
                push(layout.parity(own, other), 0, sums[2]);
                push(layout.parity(other, own), 1, sums[3]);
            }
        }
        if layout.labels {
            let credit = row.weight * (row.score - row.label).powi(2);
            let cell = layout.mse() as u32;
            self.found.push(Placement { cell, side: 0, credit, total: row.weight });
        }
        self.units.add(own, &self.found, count);
    }
}
