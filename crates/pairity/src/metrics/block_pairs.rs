//! Tables without queries of many labels, or with a continuous attribute, block by block.
//!
//! Rows are in random blocks, two of which fit into memory. The pairs between blocks a and b are those of both together
//! without those inside each, so that the engine that counts any rows counts them: with T(r) what the pairs of rows r
//! earn in a cell, and P_i(r) what those of row i do,
//!
//! ```text
//! T = Σ_a T(a) + Σ_{a<b} (T(a∪b) − T(a) − T(b)),    P_i = P_i(a) + Σ_{b≠a} (P_i(a∪b) − P_i(a))   for i in a
//! ```
//!
//! Some of the pairs of blocks, whichever they are, give an unbiased estimate of numerators and denominators (an
//! incomplete U-statistic), as which rows are in which block is random. Its variance follows from the same P_i, taken
//! over the pairs that were counted: if row i has q_i of them, and pairs have the variance σ² and the covariance ζ where
//! they share a row, the numerator has the variance ½ Σ q_i σ² + Σ q_i (q_i − 1) ζ, and Σ P_i² (centered) expects
//! Σ q_i σ² + Σ q_i (q_i − 1) ζ. That is what leaving out row after row gives for all pairs as well; the first term, which
//! is counted twice, is what sampling pairs adds, and small where rows have many pairs.
//!
//! All blocks are counted by themselves first: then each row is used as often as any other, and few pairs are as good as
//! many, as most of the variance is that of rows. Then blocks meet each other in rounds of a tournament, in each of which
//! every block meets one other.

use super::exact::ExactSum;
use super::influence::Influence;
use super::measurement::{Estimate, all_rates};
use super::plain_table::PlainTable;
use super::unit_blocks::{UnitTotals, Units};
use super::{Measurement, Settings};
use crate::examples::{PlainRow, RowRecord};
use crate::pairs::{
    CellLayout, DrawnOrder, PairIndex, PlacedRows, Placement, RateSums, Tally, UnitSums, visit_placements,
};
use crate::rates::Rate;
use crate::threads;

/// Rows of a task when all is counted, which is part of the result's definition, as it orders the sums.
const TASK: usize = 1 << 14;

/// A total below this part of what it is the difference of is rounding.
const ROUNDING: f64 = 1e-12;

/// The records of a table in random blocks, and sums of their rows, which are kept elsewhere.
pub trait RowBlocks<E> {
    /// Number of blocks.
    fn count(&self) -> usize;
    /// The records of a block, in the same order each time.
    ///
    /// # Errors
    /// They can't be read.
    fn records(&mut self, block: usize) -> Result<Vec<RowRecord>, E>;
    /// The sums that were kept for a block.
    ///
    /// # Errors
    /// They can't be read.
    fn sums(&mut self, block: usize) -> Result<Vec<f64>, E>;
    /// Keeps sums for a block, as many as before, in place of them.
    ///
    /// # Errors
    /// They can't be written.
    fn keep(&mut self, block: usize, sums: &[f64]) -> Result<(), E>;
}

/// How far counting has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockProgress {
    /// Blocks and pairs of blocks that are counted.
    pub done: usize,
    /// All of them.
    pub all: usize,
    /// Number of blocks, which come first.
    pub blocks: usize,
}

/// Measures a table whose records were put into blocks at random. Before each pair of blocks but the first `go_on` is
/// asked whether to go on: if not, rates are estimated from the pairs counted so far, and their intervals include
/// that.
///
/// # Errors
/// Those of `blocks`.
pub fn measure_blocks<E>(
    table: &PlainTable,
    settings: &Settings,
    blocks: &mut dyn RowBlocks<E>,
    go_on: &mut dyn FnMut(BlockProgress) -> bool,
) -> Result<Measurement, E> {
    let mut counting = BlockCounts::new(table, settings, blocks.count());
    let steps = steps(blocks.count());
    let (mut done, mut kept) = (0, None::<(usize, Vec<PlainRow>)>);
    for &(a, b) in &steps {
        if done > 0 && !go_on(BlockProgress { done, all: steps.len(), blocks: blocks.count() }) {
            break;
        }
        // The first block often is that of the step before.
        let mut rows = match kept.take() {
            Some((block, rows)) if block == a => rows,
            _ => counting.rows(&blocks.records(a)?),
        };
        if a == b {
            counting.count_block(a, &rows);
        } else {
            let first = rows.len();
            rows.extend(counting.rows(&blocks.records(b)?));
            if !counting.count_pair([a, b], &rows) {
                let sums = counting.placements(&rows);
                let (own, other) = sums.split_at(first * counting.width());
                for (block, sums) in [(a, own), (b, other)] {
                    let mut all = if counting.met[block] > 1 { blocks.sums(block)? } else { Vec::new() };
                    all.resize(sums.len(), 0.0);
                    all.iter_mut().zip(sums).for_each(|(all, sum)| *all += sum);
                    blocks.keep(block, &all)?;
                }
            }
            rows.truncate(first);
        }
        kept = Some((a, rows));
        done += 1;
    }
    drop(kept);
    let sums = counting.rate_sums();
    let unit = UnitSums::of(&counting.layout, &counting.rates);
    let mut units = UnitTotals::new(counting.rates.len());
    for block in 0..blocks.count() {
        if counting.sizes[block] == 0 {
            continue;
        }
        let (rows, met) = (counting.rows(&blocks.records(block)?), counting.met[block]);
        let mut all = if met > 0 { blocks.sums(block)? } else { Vec::new() };
        if met != 1 {
            let own = counting.placements(&rows);
            all.resize(own.len(), 0.0);
            let times = f64::from(met) - 1.0;
            // A total that is 0 but for rounding is none.
            let less = |all: f64, own: f64| {
                let rest = all - times * own;
                if rest.abs() <= ROUNDING * all.abs() { 0.0 } else { rest }
            };
            all.iter_mut().zip(own).for_each(|(all, own)| *all = less(*all, own));
        }
        counting.add_units(&mut units, &rows, &all, (&sums, &unit));
    }
    let pairs = counting.pairs.iter().map(|&pairs| u64::try_from(pairs).unwrap_or(0)).collect();
    let influence = Influence::of_units(units, &sums, &unit, pairs);
    let all = u128::from(table.rows());
    let estimate =
        (done < steps.len()).then_some(Estimate { compared: counting.compared, all: all * (all - 1) / 2 });
    let mut measured = table.measurement(influence, settings);
    measured.estimate = estimate;
    Ok(measured)
}

/// All blocks, then all pairs of them: in a tournament the last one stays while the others turn around a circle.
fn steps(blocks: usize) -> Vec<(usize, usize)> {
    let mut steps: Vec<(usize, usize)> = (0..blocks).map(|block| (block, block)).collect();
    let seats = blocks + blocks % 2;
    for round in 0..seats.saturating_sub(1) {
        let seat = |at: usize| if at == seats - 1 { at } else { (at + round) % (seats - 1) };
        let meet = (0..seats / 2).map(|at| (seat(at), seat(seats - 1 - at)));
        // With an odd number one block has a break.
        let meet = meet.filter(|(a, b)| *a.max(b) < blocks);
        steps.extend(meet.map(|(a, b)| (a.min(b), a.max(b))));
    }
    steps
}

/// What is counted.
struct BlockCounts<'a> {
    table: &'a PlainTable,
    settings: &'a Settings,
    layout: CellLayout,
    rates: Vec<Rate>,
    /// Where the placements of a row stand in its sums: by its group, cell and side.
    slots: Vec<Vec<u32>>,
    /// The cell and the side of each sum, by group.
    cells: Vec<Vec<(u32, u8)>>,
    /// Twice the credit and the total of each cell.
    sums: Vec<[ExactSum; 2]>,
    pairs: Vec<i128>,
    /// The cells inside each block that was counted: number, twice the credit, total, pairs.
    inside: Vec<Vec<(usize, [f64; 2], u64)>>,
    sizes: Vec<usize>,
    /// How many other blocks each has met.
    met: Vec<u32>,
    compared: u128,
}

impl<'a> BlockCounts<'a> {
    fn new(table: &'a PlainTable, settings: &'a Settings, blocks: usize) -> BlockCounts<'a> {
        let layout = table.layout();
        let cells: Vec<Vec<(u32, u8)>> = (0..layout.codes()).map(|own| cells_of(&layout, own)).collect();
        let slots = cells.iter().map(|cells| {
            let mut slots = vec![0; 2 * layout.len()];
            for (slot, &(cell, side)) in cells.iter().enumerate() {
                slots[2 * cell as usize + usize::from(side)] = slot as u32;
            }
            slots
        });
        BlockCounts {
            table,
            settings,
            layout,
            rates: all_rates(&layout),
            slots: slots.collect(),
            cells,
            sums: vec![Default::default(); layout.len()],
            pairs: vec![0; layout.len()],
            inside: vec![Vec::new(); blocks],
            sizes: vec![0; blocks],
            met: vec![0; blocks],
            compared: 0,
        }
    }

    /// Sums of a row; at least one, which nothing is added to where there are no rates at all.
    fn width(&self) -> usize {
        (2 * self.cells[0].len()).max(1)
    }

    fn rows(&self, records: &[RowRecord]) -> Vec<PlainRow> {
        let rows = records.iter().map(|record| self.table.row(record));
        rows.flat_map(|(row, count)| std::iter::repeat_n(row, count as usize)).collect()
    }

    /// What cells earn among some rows.
    fn tally(&self, rows: &[PlainRow]) -> Vec<(usize, [f64; 2], u64)> {
        if rows.is_empty() {
            return Vec::new();
        }
        let (examples, scores) = self.table.examples(rows);
        let index = PairIndex::new(&examples, &self.rates);
        let tally = Tally::count(&index, &index.order(&scores), self.settings.ties);
        let entries = tally.queries().flatten();
        entries
            .map(|entry| {
                let cell = entry.cell as usize;
                (cell, [2.0 * entry.credit, entry.total], tally.pairs[cell])
            })
            .collect()
    }

    fn add(&mut self, cells: &[(usize, [f64; 2], u64)], sign: f64) {
        for &(cell, amounts, pairs) in cells {
            self.sums[cell].iter_mut().zip(amounts).for_each(|(sum, amount)| sum.add(sign * amount));
            self.pairs[cell] += sign as i128 * i128::from(pairs);
        }
    }

    fn count_block(&mut self, block: usize, rows: &[PlainRow]) {
        let cells = self.tally(rows);
        self.add(&cells, 1.0);
        self.inside[block] = cells;
        self.sizes[block] = rows.len();
        self.compared += rows.len() as u128 * (rows.len() as u128).saturating_sub(1) / 2;
    }

    /// Counts the pairs between two blocks, given the rows of both; whether there are none.
    fn count_pair(&mut self, blocks: [usize; 2], rows: &[PlainRow]) -> bool {
        let [a, b] = blocks;
        let is_none = self.sizes[a].min(self.sizes[b]) == 0;
        if !is_none {
            let cells = self.tally(rows);
            self.add(&cells, 1.0);
            for block in blocks {
                let inside = std::mem::take(&mut self.inside[block]);
                self.add(&inside, -1.0);
                self.inside[block] = inside;
                self.met[block] += 1;
            }
            self.compared += self.sizes[a] as u128 * self.sizes[b] as u128;
        }
        is_none
    }

    /// What the pairs of each row earn among these rows: by row, credits and totals of its cells.
    fn placements(&self, rows: &[PlainRow]) -> Vec<f64> {
        let (examples, scores) = self.table.examples(rows);
        let index = PairIndex::new(&examples, &self.rates);
        let members = [DrawnOrder { order: index.order(&scores), chances: &[1.0] }];
        let width = self.width();
        let start = || (Vec::new(), Vec::new());
        let add = |(numbers, sums): &mut (Vec<u32>, Vec<f64>), placed: &PlacedRows| {
            placed.each(|row, found| {
                numbers.push(row as u32);
                let from = sums.len();
                sums.resize(from + width, 0.0);
                let slots = &self.slots[self.table.group(&rows[row])];
                for placement in found {
                    let slot = slots[2 * placement.cell as usize + usize::from(placement.side)] as usize;
                    sums[from + 2 * slot] += placement.credit;
                    sums[from + 2 * slot + 1] += placement.total;
                }
            });
        };
        let states = visit_placements(&index, &members, self.settings.ties, (start, add, |state| state));
        let mut all = vec![0.0; rows.len() * width];
        for (numbers, sums) in states {
            for (&row, sums) in numbers.iter().zip(sums.chunks_exact(width)) {
                all[row as usize * width..][..width].copy_from_slice(sums);
            }
        }
        all
    }

    /// What all pairs that were counted earned.
    fn rate_sums(&self) -> RateSums {
        let sums = self.sums.iter().map(|sums| [sums[0].value() / 2.0, sums[1].value()]);
        let entry = |(cell, [credit, total]): (u32, [f64; 2])| Placement { cell, side: 0, credit, total };
        let cells: Vec<Placement> = (0..).zip(sums).map(entry).filter(|entry| entry.total > 0.0).collect();
        let mut unit = UnitSums::of(&self.layout, &self.rates);
        unit.collect(&cells, false);
        let one = |sides: &[[f64; 2]]| sides.iter().map(|side| side[0]).collect();
        RateSums { credits: one(&unit.credits), totals: one(&unit.totals) }
    }

    /// Adds rows, of which each has these sums.
    fn add_units(
        &self,
        units: &mut UnitTotals,
        rows: &[PlainRow],
        sums: &[f64],
        (all, unit): (&RateSums, &UnitSums),
    ) {
        let width = self.width();
        let tasks: Vec<(&[PlainRow], &[f64])> = rows.chunks(TASK).zip(sums.chunks(TASK * width)).collect();
        let parts = threads::map(&tasks, &|(rows, sums)| {
            let mut units = Units::new(all, unit, self.layout.codes());
            let mut found = Vec::new();
            for (row, sums) in rows.iter().zip(sums.chunks_exact(width)) {
                found.clear();
                let group = self.table.group(row);
                for (&(cell, side), sum) in self.cells[group].iter().zip(sums.chunks_exact(2)) {
                    let [credit, total] = if sum[1] > 0.0 { [sum[0], sum[1]] } else { [0.0; 2] };
                    found.push(Placement { cell, side, credit, total });
                }
                units.add(group, &found, 1.0);
            }
            units.finish()
        });
        units.extend(parts);
    }
}

/// The cells that a row of some group stands in, each with its side.
pub(super) fn cells_of(layout: &CellLayout, own: usize) -> Vec<(u32, u8)> {
    let (codes, mut cells) = (layout.codes(), Vec::new());
    if layout.labels {
        cells.extend((0..codes).map(|other| (layout.accuracy(own, other), 0)));
        cells.extend((0..codes).map(|other| (layout.accuracy(other, own), 1)));
        cells.push((layout.mse(), 0));
    }
    // Rows of no group have no parity, but sums of their own width.
    let own = own.min(layout.groups.saturating_sub(1));
    cells.extend((0..layout.groups).map(|other| (layout.parity(own, other), 0)));
    cells.extend((0..layout.groups).map(|other| (layout.parity(other, own), 1)));
    if layout.continuous {
        let orders = [layout.greater(), layout.less(), layout.parity_greater(), layout.parity_less()];
        cells.extend(orders.into_iter().flat_map(|cell| [(cell, 0), (cell, 1)]));
    }
    cells.into_iter().map(|(cell, side)| (cell as u32, side)).collect()
}
