//! Sums over examples of what each moves every rate by, in dense blocks.
//!
//! The rates that an example touches depend on its group alone. So examples are gathered, group by group, in blocks of
//! a few rows, with a column for each placement; what they move is found column by column, and the products of all
//! columns are added to the covariance of the rates that the group touches, which is added to the whole at the end.

use super::influence::MAX_COVARIANCES;
use crate::pairs::{PlacedRows, Placement, RateSums, UnitSums, rows_and_stride};
use crate::wide::wide;

/// Numbers that a loop works on at once.
const LANES: usize = 4;

/// The most rows of a block.
const ROWS: usize = 64;

/// The part of a squared influence that is rounding, at most: placements of weighted pairs have 24 bits.
const ROUNDING: f64 = 1e-12;

/// Sums over units for one side of the pairs of a rate.
#[derive(Clone, Copy, Default)]
struct SideSum {
    /// Number of units that have pairs.
    units: f64,
    /// Sum of squared totals.
    squares: f64,
    /// The side's part in the variance.
    variance: f64,
}

impl SideSum {
    fn add(&mut self, other: &SideSum) {
        self.units += other.units;
        self.squares += other.squares;
        self.variance += other.variance;
    }
}

/// Sums over units.
pub(super) struct UnitTotals {
    /// Upper triangle; empty if there are too many rates.
    pub covariance: Vec<f64>,
    pub variances: Vec<f64>,
    /// By rate and side.
    sides: Vec<[SideSum; 2]>,
}

/// Sums in the making.
pub(super) struct Units<'a> {
    sums: &'a RateSums,
    unit: &'a UnitSums,
    totals: UnitTotals,
    /// By group.
    blocks: Vec<Option<UnitBlock>>,
}

impl<'a> Units<'a> {
    /// Of no unit yet; `unit` knows the rates of a cell.
    pub(super) fn new(sums: &'a RateSums, unit: &'a UnitSums, groups: usize) -> Units<'a> {
        let blocks = (0..groups).map(|_| None).collect();
        Units { sums, unit, totals: UnitTotals::new(sums.totals.len()), blocks }
    }

    /// Adds an example of a group so many times.
    pub(super) fn add(&mut self, group: usize, placements: &[Placement], times: f64) {
        let columns = placements.iter().map(|placement| (placement.cell, placement.side));
        let sums = self.sums;
        self.block(group, columns).add(placements, times, sums);
    }

    /// Adds examples of a group.
    pub(super) fn add_rows(&mut self, rows: &PlacedRows) {
        let sums = self.sums;
        self.block(rows.group.into(), rows.columns.iter().copied()).add_rows(rows, sums);
    }

    /// The block of a group, for rows with placements in these cells.
    fn block(
        &mut self,
        group: usize,
        columns: impl ExactSizeIterator<Item = (u32, u8)> + Clone,
    ) -> &mut UnitBlock {
        let is_full = !self.totals.covariance.is_empty();
        let slot = &mut self.blocks[group];
        if let Some(block) = slot.take_if(|block| !block.fits(columns.clone())) {
            block.finish(self.sums, &mut self.totals);
        }
        slot.get_or_insert_with(|| UnitBlock::new(columns.collect(), self.unit, is_full))
    }

    /// With what waits in blocks.
    pub(super) fn finish(mut self) -> UnitTotals {
        for block in self.blocks.into_iter().flatten() {
            block.finish(self.sums, &mut self.totals);
        }
        self.totals
    }
}

impl UnitTotals {
    pub(super) fn new(rates: usize) -> UnitTotals {
        UnitTotals {
            covariance: vec![0.0; if rates <= MAX_COVARIANCES { rates * rates } else { 0 }],
            variances: vec![0.0; rates],
            sides: vec![Default::default(); rates],
        }
    }

    /// Adds those of others, in order.
    pub(super) fn extend(&mut self, parts: Vec<UnitTotals>) {
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        for part in parts {
            add(&mut self.covariance, &part.covariance);
            add(&mut self.variances, &part.variances);
            let sides = self.sides.as_flattened_mut().iter_mut().zip(part.sides.as_flattened());
            sides.for_each(|(to, from)| to.add(from));
        }
    }

    /// Takes variances for 0 that are rounding, as those of rates that never vary: units with the part D_u / D of the
    /// pairs move a rate by about as much, and what moves it by a millionth of that is not known.
    pub(super) fn without_rounding(mut self, sums: &RateSums) -> UnitTotals {
        let each = self.sides.iter_mut().zip(&mut self.variances).zip(&sums.totals);
        for ((sides, variance), total) in each {
            let is_rounding = |side: &SideSum| side.variance <= ROUNDING * side.squares / (total * total);
            if sides.iter().all(is_rounding) {
                *variance = 0.0;
                sides.iter_mut().for_each(|side| side.variance = 0.0);
            }
        }
        self
    }

    /// Degrees of freedom of a rate's variance, and how many units of equal size its units are worth; 0 if
    /// they are too few.
    pub(super) fn freedom_and_units(&self, r: usize, total: f64) -> (f64, f64) {
        let both = self.sides[r];
        let sides = if both[1].squares == 0.0 { &both[..1] } else { &both };
        if total == 0.0 || sides.iter().any(|side| side.units < 2.0) {
            return (0.0, 0.0);
        }
        // D² / Σ D_u² units of equal size would have the same total and the same sum of squares.
        let size = |side: &SideSum| total.powi(2) / side.squares;
        let units = sides.iter().map(size).fold(f64::INFINITY, f64::min);
        // Satterthwaite: the two sides of pairs are two samples.
        let variance: f64 = sides.iter().map(|side| side.variance).sum();
        let parts = sides.iter().map(|side| side.variance.powi(2) / (size(side) - 1.0));
        let df = variance * variance / parts.sum::<f64>();
        (if df.is_finite() && df > 0.0 { df } else { (units - 1.0).max(0.5) }, units)
    }
}

/// A rate that the examples of a block touch, and the column of its placements on each side, if there are any.
struct TouchedRate {
    rate: usize,
    columns: [Option<usize>; 2],
}

/// Rows of one group. What is not filled is 0, and moves nothing.
struct UnitBlock {
    /// Cell and side of each column.
    columns: Vec<(u32, u8)>,
    rows: usize,
    /// Numbers from one column to the next.
    stride: usize,
    filled: usize,
    /// Credits and totals of rows that wait for others; empty until one does.
    waiting: [Vec<f64>; 2],
    /// The square root of how often each row counts.
    roots: Vec<f64>,
    /// In ascending order.
    rates: Vec<TouchedRate>,
    /// Columns whose sums are columns too, behind the others: several rates are about the same sum.
    added: Vec<Vec<usize>>,
    /// Their credits and totals.
    sums: [Vec<f64>; 2],
    sides: Vec<[SideSum; 2]>,
    variances: Vec<f64>,
    /// What rows move each rate by.
    moves: Vec<f64>,
    /// Of any two of these rates; empty if there are too many.
    products: Vec<f64>,
}

impl UnitBlock {
    /// For rows with placements in these cells.
    fn new(columns: Vec<(u32, u8)>, unit: &UnitSums, is_full: bool) -> UnitBlock {
        let (mut rates, mut added): (Vec<TouchedRate>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
        let mut touched: Vec<(usize, u8, usize)> = Vec::new();
        for (column, &(cell, side)) in columns.iter().enumerate() {
            touched.extend(unit.rates_of(cell).iter().map(|&rate| (rate as usize, side, column)));
        }
        touched.sort_unstable();
        let mut column = |of_side: &[(usize, u8, usize)]| match of_side {
            [] => None,
            [only] => Some(only.2),
            several => {
                let list: Vec<usize> = several.iter().map(|touched| touched.2).collect();
                let known = added.iter().position(|known| *known == list);
                let at = known.unwrap_or_else(|| {
                    added.push(list);
                    added.len() - 1
                });
                Some(columns.len() + at)
            }
        };
        for of_rate in touched.chunk_by(|a, b| a.0 == b.0) {
            let (first, second) = of_rate.split_at(of_rate.partition_point(|touched| touched.1 == 0));
            rates.push(TouchedRate { rate: of_rate[0].0, columns: [column(first), column(second)] });
        }
        let (rows, stride) = rows_and_stride(columns.len());
        // Products are found for two by two rates.
        let m = rates.len().next_multiple_of(2);
        UnitBlock {
            rows,
            stride,
            filled: 0,
            waiting: [Vec::new(), Vec::new()],
            roots: vec![1.0; rows],
            sides: vec![Default::default(); rates.len()],
            variances: vec![0.0; rates.len()],
            moves: vec![0.0; m * stride],
            products: vec![0.0; if is_full { m * m } else { 0 }],
            sums: [0, 1].map(|_| vec![0.0; added.len() * stride]),
            columns,
            rates,
            added,
        }
    }

    fn fits(&self, columns: impl ExactSizeIterator<Item = (u32, u8)>) -> bool {
        self.columns.len() == columns.len()
            && self.columns.iter().zip(columns).fold(true, |fits, (own, other)| fits & (*own == other))
    }

    /// Room for rows that wait.
    fn make_room(&mut self) {
        let size = self.columns.len() * self.stride;
        self.waiting.iter_mut().for_each(|waiting| waiting.resize(size, 0.0));
    }

    fn add(&mut self, placements: &[Placement], times: f64, sums: &RateSums) {
        self.make_room();
        let [credits, totals] = &mut self.waiting;
        for (at, placement) in (self.filled..).step_by(self.stride).zip(placements) {
            (credits[at], totals[at]) = (placement.credit, placement.total);
        }
        self.roots[self.filled] = times.sqrt();
        self.filled += 1;
        if self.filled == self.rows {
            self.sum_waiting(sums);
        }
    }

    /// Adds rows that count once each; as many as a block has need not wait.
    fn add_rows(&mut self, placed: &PlacedRows, sums: &RateSums) {
        if self.filled == 0 && placed.examples.len() == self.rows {
            return self.sum([placed.credits, placed.totals], true, sums);
        }
        for row in 0..placed.examples.len() {
            self.make_room();
            for (waiting, placed) in self.waiting.iter_mut().zip([placed.credits, placed.totals]) {
                for at in (0..waiting.len()).step_by(self.stride) {
                    waiting[at + self.filled] = placed[at + row];
                }
            }
            self.roots[self.filled] = 1.0;
            self.filled += 1;
            if self.filled == self.rows {
                self.sum_waiting(sums);
            }
        }
    }

    /// Adds the rows that wait to the sums, and clears them.
    fn sum_waiting(&mut self, sums: &RateSums) {
        let mut waiting = std::mem::take(&mut self.waiting);
        let is_once = self.roots.iter().all(|root| *root == 1.0);
        self.sum([&waiting[0], &waiting[1]], is_once, sums);
        waiting.iter_mut().for_each(|waiting| waiting.fill(0.0));
        (self.waiting, self.filled) = (waiting, 0);
    }

    /// Adds rows to the sums; `is_once`: each counts once.
    fn sum(&mut self, [credits, totals]: [&[f64]; 2], is_once: bool, sums: &RateSums) {
        let (rows, stride, own) = (self.rows, self.stride, self.columns.len());
        for (to, from) in self.sums.iter_mut().zip([credits, totals]) {
            wide(
                #[inline(always)]
                || {
                    for (to, columns) in to.chunks_mut(stride).zip(&self.added) {
                        add_columns(from, stride, columns, &mut to[..rows]);
                    }
                },
            );
        }
        let column = |kind: usize, at: usize| match at.checked_sub(own) {
            None => &[credits, totals][kind][at * stride..][..rows],
            Some(added) => &self.sums[kind][added * stride..][..rows],
        };
        let roots = (!is_once).then_some(&self.roots[..]);
        for (i, touched) in self.rates.iter().enumerate() {
            let (all, value) = (sums.totals[touched.rate], sums.value(touched.rate));
            let side = |at: Option<usize>| at.map(|at| [column(0, at), column(1, at)]);
            let moves = (&mut self.moves[i * stride..][..rows], roots);
            let sides = &mut self.sides[i];
            self.variances[i] += match touched.columns.map(side) {
                [Some(first), Some(second)] => both_sides([first, second], all, value, moves, sides),
                [Some(first), None] => one_side(first, all, value, moves, &mut sides[0]),
                [None, Some(second)] => one_side(second, all, value, moves, &mut sides[1]),
                [None, None] => 0.0,
            };
        }
        if !self.products.is_empty() {
            add_products(&self.moves, rows, stride, &mut self.products);
        }
    }

    fn finish(mut self, sums: &RateSums, to: &mut UnitTotals) {
        if self.filled > 0 {
            self.sum_waiting(sums);
        }
        let (n, m) = (to.variances.len(), self.rates.len().next_multiple_of(2));
        for (i, touched) in self.rates.iter().enumerate() {
            to.variances[touched.rate] += self.variances[i];
            to.sides[touched.rate].iter_mut().zip(&self.sides[i]).for_each(|(to, from)| to.add(from));
            if self.products.is_empty() {
                continue;
            }
            let row = &mut to.covariance[touched.rate * n..][..n];
            for (other, product) in self.rates.iter().zip(&self.products[i * m..]).skip(i) {
                row[other.rate] += product;
            }
        }
    }
}

/// The sum of some columns, added in order.
#[inline(always)]
fn add_columns(all: &[f64], stride: usize, columns: &[usize], to: &mut [f64]) {
    for (at, to) in to.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
        let mut sum = [0.0; LANES];
        for (place, column) in columns.iter().enumerate() {
            let own = &all[column * stride + at * LANES..][..LANES];
            for lane in 0..LANES {
                sum[lane] = if place == 0 { own[lane] } else { sum[lane] + own[lane] };
            }
        }
        *to = sum;
    }
}

/// The sums over rows on one side of a rate's pairs, by lane: their number, their squared totals and what they move squared.
type SideLanes = [[f64; LANES]; 3];

/// What rows with these columns move a rate by, and sums of that. Lanes are added up elsewhere: where the compiler sees it,
/// it puts numbers of two sums into one register, for which it has to shuffle every number that it reads.
fn lane_moves(columns: [&[f64]; 2], all: f64, value: f64, moves: &mut [f64]) -> SideLanes {
    wide(
        #[inline(always)]
        || lane_moves_of(columns, all, value, moves),
    )
}

/// In one loop, as what is summed costs nothing while numbers are divided.
#[inline(always)]
fn lane_moves_of([credits, totals]: [&[f64]; 2], all: f64, value: f64, moves: &mut [f64]) -> SideLanes {
    let mut sums = [[0.0; LANES]; 3];
    let [credits, totals] = [credits, totals].map(|column| column.as_chunks::<LANES>().0);
    for ((moves, credits), totals) in moves.as_chunks_mut::<LANES>().0.iter_mut().zip(credits).zip(totals) {
        // Copies, as a number that is written might be one that is still to be read.
        let (credits, totals, mut moved) = (*credits, *totals, [0.0; LANES]);
        for lane in 0..LANES {
            moved[lane] = (credits[lane] - value * totals[lane]) / (all - totals[lane]);
            sums[0][lane] += if totals[lane] > 0.0 { 1.0 } else { 0.0 };
            sums[1][lane] += totals[lane] * totals[lane];
            sums[2][lane] += moved[lane] * moved[lane];
        }
        *moves = moved;
    }
    sums
}

/// The same where rows are on both sides, and the squares of what they move in all.
fn lane_moves_of_both(
    columns: [[&[f64]; 2]; 2],
    all: f64,
    value: f64,
    moves: &mut [f64],
) -> ([SideLanes; 2], [f64; LANES]) {
    wide(
        #[inline(always)]
        || lane_moves_of_both_of(columns, all, value, moves),
    )
}

#[inline(always)]
fn lane_moves_of_both_of(
    [first, second]: [[&[f64]; 2]; 2],
    all: f64,
    value: f64,
    moves: &mut [f64],
) -> ([SideLanes; 2], [f64; LANES]) {
    let (mut sums, mut others, mut squares) = ([[0.0; LANES]; 3], [[0.0; LANES]; 3], [0.0; LANES]);
    let [credits, totals] = first.map(|column| column.as_chunks::<LANES>().0);
    let [more_credits, more_totals] = second.map(|column| column.as_chunks::<LANES>().0);
    let columns = credits.iter().zip(totals).zip(more_credits).zip(more_totals);
    for (moves, (((credits, totals), more_credits), more_totals)) in
        moves.as_chunks_mut::<LANES>().0.iter_mut().zip(columns)
    {
        let (credits, totals, more_credits, more_totals) = (*credits, *totals, *more_credits, *more_totals);
        let (mut moved, mut moved_too, mut both) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            let (total, other) = (totals[lane], more_totals[lane]);
            let rest = all - total - other;
            moved[lane] = (credits[lane] - value * total) / rest;
            moved_too[lane] = (more_credits[lane] - value * other) / rest;
            both[lane] = moved[lane] + moved_too[lane];
            sums[0][lane] += if total > 0.0 { 1.0 } else { 0.0 };
            sums[1][lane] += total * total;
            sums[2][lane] += moved[lane] * moved[lane];
            others[0][lane] += if other > 0.0 { 1.0 } else { 0.0 };
            others[1][lane] += other * other;
            others[2][lane] += moved_too[lane] * moved_too[lane];
            squares[lane] += both[lane] * both[lane];
        }
        *moves = both;
    }
    ([sums, others], squares)
}

/// The same where rows have all pairs, so that nothing is left without them, and they move nothing; and where rows count as
/// often as the squares of their roots say.
fn careful_lane_moves(
    [credits, totals]: [&[f64]; 2],
    value: f64,
    rests: &[f64],
    (moves, roots): (&mut [f64], Option<&[f64]>),
) -> SideLanes {
    let mut sums = [[0.0; LANES]; 3];
    for (row, to) in moves.iter_mut().enumerate() {
        let (lane, root) = (row % LANES, roots.map_or(1.0, |roots| roots[row]));
        let moved = (credits[row] - value * totals[row]) / rests[row];
        *to = if moved.is_finite() { root * moved } else { 0.0 };
        sums[0][lane] += if totals[row] > 0.0 { root * root } else { 0.0 };
        sums[1][lane] += root * totals[row] * (root * totals[row]);
        sums[2][lane] += *to * *to;
    }
    sums
}

impl SideSum {
    fn of([units, squares, variance]: &SideLanes) -> SideSum {
        SideSum { units: lane_sum(units), squares: lane_sum(squares), variance: lane_sum(variance) }
    }
}

#[inline(always)]
fn lane_sum(lanes: &[f64; LANES]) -> f64 {
    lanes.iter().sum()
}

/// Whether no row has all pairs.
fn is_finite([_, _, variance]: &SideLanes) -> bool {
    variance.iter().all(|sum| sum.is_finite())
}

/// What rows move a rate by whose pairs they are on one side of, times their roots unless each counts once; returns the sum of squares.
fn one_side(
    columns: [&[f64]; 2],
    all: f64,
    value: f64,
    (moves, roots): (&mut [f64], Option<&[f64]>),
    side: &mut SideSum,
) -> f64 {
    let plain = roots.is_none().then(|| lane_moves(columns, all, value, moves));
    let sums = plain.filter(is_finite).unwrap_or_else(|| {
        let mut rests = [0.0; ROWS];
        rests.iter_mut().zip(columns[1]).for_each(|(rest, total)| *rest = all - total);
        careful_lane_moves(columns, value, &rests, (moves, roots))
    });
    let found = SideSum::of(&sums);
    side.add(&found);
    found.variance
}

/// The same where they are on both sides.
fn both_sides(
    columns: [[&[f64]; 2]; 2],
    all: f64,
    value: f64,
    (moves, roots): (&mut [f64], Option<&[f64]>),
    sides: &mut [SideSum; 2],
) -> f64 {
    let plain = roots.is_none().then(|| lane_moves_of_both(columns, all, value, moves));
    let found = plain.filter(|(sides, _)| sides.iter().all(is_finite));
    let (found, squares) = found.unwrap_or_else(|| {
        let (mut rests, mut second) = ([0.0; ROWS], [0.0; ROWS]);
        for ((rest, total), other) in rests.iter_mut().zip(columns[0][1]).zip(columns[1][1]) {
            *rest = all - total - other;
        }
        let second = &mut second[..moves.len()];
        let found = [
            careful_lane_moves(columns[0], value, &rests, (&mut *moves, roots)),
            careful_lane_moves(columns[1], value, &rests, (&mut *second, roots)),
        ];
        let mut squares = [0.0; LANES];
        for (row, (moved, second)) in moves.iter_mut().zip(second).enumerate() {
            *moved += *second;
            squares[row % LANES] += *moved * *moved;
        }
        (found, squares)
    });
    sides.iter_mut().zip(&found).for_each(|(side, found)| side.add(&SideSum::of(found)));
    lane_sum(&squares)
}

/// Adds the products of any two columns, the first not behind the second: of two by four at once.
fn add_products(columns: &[f64], rows: usize, stride: usize, products: &mut [f64]) {
    let m = columns.len() / stride;
    let column = |at: usize| columns[at * stride..][..rows].as_chunks::<LANES>().0;
    for i in (0..m).step_by(2) {
        let mut add = |j: usize, found: &[[f64; LANES]; 2]| {
            products[i * m + j] += lane_sum(&found[0]);
            products[(i + 1) * m + j] += lane_sum(&found[1]);
        };
        let mut j = i;
        while j < m {
            let second = [column(j), column(j + 1)];
            if j + 4 > m {
                lane_products([column(i), column(i + 1)], second)
                    .iter()
                    .zip(j..)
                    .for_each(|(found, j)| add(j, found));
                break;
            }
            let four = [second[0], second[1], column(j + 2), column(j + 3)];
            lane_products([column(i), column(i + 1)], four)
                .iter()
                .zip(j..)
                .for_each(|(found, j)| add(j, found));
            j += 4;
        }
    }
}

/// Sums of products by lane: of each second column with both first ones. Lanes are added up elsewhere, as in [`lane_moves`].
fn lane_products<const N: usize>(
    first: [&[[f64; LANES]]; 2],
    second: [&[[f64; LANES]]; N],
) -> [[[f64; LANES]; 2]; N] {
    wide(
        #[inline(always)]
        || lane_products_of(first, second),
    )
}

#[inline(always)]
fn lane_products_of<const N: usize>(
    [a, b]: [&[[f64; LANES]]; 2],
    second: [&[[f64; LANES]]; N],
) -> [[[f64; LANES]; 2]; N] {
    let rows = a.len();
    let mut sums = [[[0.0; LANES]; 2]; N];
    let (a, b, second) = (&a[..rows], &b[..rows], second.map(|column| &column[..rows]));
    for row in 0..rows {
        for (sums, column) in sums.iter_mut().zip(second) {
            for lane in 0..LANES {
                sums[0][lane] += a[row][lane] * column[row][lane];
                sums[1][lane] += b[row][lane] * column[row][lane];
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::influence::Influence;
    use crate::metrics::measurement::all_rates;
    use crate::pairs::oracle::{self, sizes, tables};
    use crate::pairs::{CellLayout, DrawnOrder, PairIndex};
    use crate::rates::{Rate, Ties};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// What each row moves a rate by, from its pairs one by one, none where a row has all of them; and how many times as
    /// large as in the sums errors of rounding may be in the square sum of that.
    fn moves(
        cells: &BTreeMap<(u32, usize), oracle::CellSums>,
        layout: &CellLayout,
        rate: Rate,
    ) -> Option<(BTreeMap<usize, f64>, f64)> {
        let own = layout.cells(rate);
        let sums: Vec<_> = cells.iter().filter(|((_, cell), _)| own.contains(cell)).collect();
        let credit: f64 = sums.iter().map(|(_, sums)| sums.credit).sum();
        let all: f64 = sums.iter().map(|(_, sums)| sums.total).sum();
        let mut rows: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for (&(row, _), &(credit, total)) in sums.iter().flat_map(|(_, sums)| &sums.placements) {
            let sum = rows.entry(row).or_default();
            *sum = (sum.0 + credit, sum.1 + total);
        }
        let moved = |(row, (n, d)): (usize, (f64, f64))| {
            (all - d > 1e-9 * all).then(|| (row, (n - credit / all * d) / (all - d)))
        };
        let larger = rows.values().map(|(_, d)| (all / (all - d)).powi(2)).sum();
        Some((rows.into_iter().map(moved).collect::<Option<_>>()?, larger))
    }

    /// What a row has in columns, as numbers below ten.
    type SmallNumbers = ((u32, u32, u32), (u32, u32));

    /// What a row moves a rate by, on one side or on both; nothing where it has all pairs.
    fn moved(columns: &[[Vec<f64>; 2]], row: usize, all: f64, value: f64, root: f64) -> Vec<f64> {
        let rest = columns.iter().fold(all, |rest, column| rest - column[1][row]);
        let moved = |[credits, totals]: &[Vec<f64>; 2]| {
            let moved = (credits[row] - value * totals[row]) / rest;
            if moved.is_finite() { root * moved } else { 0.0 }
        };
        columns.iter().map(moved).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        /// Rows one by one, to the last bit; some have all pairs, or none.
        #[test]
        fn sums_of_sides_are_those_of_rows_one_by_one(
            rows in prop::collection::vec(((0u32..9, 0u32..9, 0u32..9), (0u32..9, 0u32..4)), 64),
            all in 5u32..40,
            value in prop_oneof![Just(f64::NAN), 0.0..1.0],
            both: bool,
            weighted: bool,
        ) {
            let column = |of: fn(&SmallNumbers) -> u32, unit: f64| -> Vec<f64> {
                rows.iter().map(|row| f64::from(of(row)) * unit).collect()
            };
            let roots = column(|row| row.1.1, 0.7);
            let mut columns = vec![[column(|row| row.0.0, 0.5), column(|row| row.0.1, 1.0)]];
            if both {
                columns.push([column(|row| row.0.2, 0.5), column(|row| row.1.0, 1.0)]);
            }
            let all = f64::from(all);
            let mut moves = vec![0.0; rows.len()];
            let mut sides = [super::SideSum::default(); 2];
            let to = (&mut moves[..], weighted.then_some(&roots[..]));
            let found = match &columns[..] {
                [one] => one_side(one.each_ref().map(|c| &c[..]), all, value, to, &mut sides[0]),
                two => {
                    let two = [0, 1].map(|at| two[at].each_ref().map(|column| &column[..]));
                    both_sides(two, all, value, to, &mut sides)
                }
            };
            let (mut variance, mut slow) = ([0.0; LANES], [[[0.0; LANES]; 3]; 2]);
            for row in 0..rows.len() {
                let (lane, root) = (row % LANES, if weighted { roots[row] } else { 1.0 });
                let own = moved(&columns, row, all, value, root);
                let sum = own[1..].iter().fold(own[0], |sum, other| sum + other);
                prop_assert_eq!(moves[row].to_bits(), sum.to_bits());
                variance[lane] += sum * sum;
                for ((slow, own), column) in slow.iter_mut().zip(&own).zip(&columns) {
                    let total = column[1][row];
                    slow[0][lane] += if total > 0.0 { root * root } else { 0.0 };
                    slow[1][lane] += root * total * (root * total);
                    slow[2][lane] += own * own;
                }
            }
            prop_assert_eq!(found.to_bits(), variance.iter().sum::<f64>().to_bits());
            for (side, slow) in sides.iter().zip(slow) {
                let slow = slow.map(|lanes| lanes.iter().sum::<f64>());
                prop_assert_eq!([side.units, side.squares, side.variance], slow);
            }
        }

        /// Blocks of any number of rows, ±0, huge and tiny numbers.
        #[test]
        fn wide_vectors_change_no_bit(
            rows in 0..17_usize,
            numbers in prop::collection::vec(
                prop_oneof![4 => 0.0..9.0, 1 => Just(0.0), 1 => Just(-0.0), 1 => 0.0..1e300, 1 => 0.0..1e-300],
                6 * 64,
            ),
            all in prop_oneof![5.0..40.0, Just(1e200), Just(1e-200)],
            value in 0.0..1.0,
        ) {
            let rows = rows * LANES;
            let column = |at: usize| &numbers[at * 64..][..rows];
            let columns = [[column(0), column(1)], [column(2), column(3)]];
            let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
            let [mut wide, mut plain] = [vec![0.0; rows], vec![0.0; rows]];
            let found = lane_moves(columns[0], all, value, &mut wide);
            let slow = lane_moves_of(columns[0], all, value, &mut plain);
            prop_assert_eq!(bits(&wide), bits(&plain));
            prop_assert_eq!(bits(found.as_flattened()), bits(slow.as_flattened()));
            let (found, squares) = lane_moves_of_both(columns, all, value, &mut wide);
            let (slow, slow_squares) = lane_moves_of_both_of(columns, all, value, &mut plain);
            prop_assert_eq!(bits(&wide), bits(&plain));
            prop_assert_eq!(bits(&squares), bits(&slow_squares));
            prop_assert_eq!(bits(found.as_flattened().as_flattened()), bits(slow.as_flattened().as_flattened()));
            let [a, b, c, d, e, f] = [0, 1, 2, 3, 4, 5].map(|at| column(at).as_chunks::<LANES>().0);
            let found = lane_products([a, b], [c, d, e, f]);
            let slow = lane_products_of([a, b], [c, d, e, f]);
            prop_assert_eq!(bits(found.as_flattened().as_flattened()), bits(slow.as_flattened().as_flattened()));
            // Two by four and two by two at once are as one by one.
            let columns: Vec<f64> = numbers.clone();
            let mut products = vec![0.0; 36];
            add_products(&columns, rows, 64, &mut products);
            for (i, j) in (0..6).flat_map(|i| (i..6).map(move |j| (i, j))) {
                let mut lanes = [0.0; LANES];
                (0..rows).for_each(|row| lanes[row % LANES] += column(i)[row] * column(j)[row]);
                prop_assert_eq!(products[6 * i + j].to_bits(), lane_sum(&lanes).to_bits());
            }
        }

        #[test]
        fn covariances_are_those_of_what_each_row_moves(rows in tables(), strict: bool, sizes in sizes()) {
            let rows = oracle::OracleRows { queries: None, ..rows };
            let Some(examples) = rows.ordered_above(sizes.small) else { return Ok(()) };
            let (layout, ties) = (CellLayout::of(&examples), if strict { Ties::Strict } else { Ties::Half });
            let rates = all_rates(&layout);
            let scores = examples.arrange(&rows.scores).unwrap();
            let index = PairIndex::sized(&examples, &rates, sizes);
            let only = DrawnOrder { order: index.order(&scores), chances: &[1.0] };
            let fast = Influence::of_examples(&index, &[only], ties);
            let cells = oracle::count(&rows, ties);
            // What pairs with weights earn is kept in f32, which has 24 bits.
            let is_counted = examples.factors.is_none() && !rows.label_gap && rows.side.is_none();
            let is_exact = is_counted && rows.protected.is_none();
            let (tolerance, least) = if is_exact { (1e-9, 1e-12) } else { (1e-3, 2f64.powi(-44)) };
            let moves: Vec<_> = rates.iter().map(|&rate| moves(&cells, &layout, rate)).collect();
            let pairs = (0..rates.len()).flat_map(|r| (r..rates.len()).map(move |s| (r, s)));
            for (r, s) in pairs.filter(|(r, s)| rates[*r] != Rate::Mse && rates[*s] != Rate::Mse) {
                let (Some((a, larger)), Some((b, other))) = (&moves[r], &moves[s]) else { continue };
                let least = least * larger.max(*other);
                let slow: f64 = a.iter().filter_map(|(row, x)| Some(x * b.get(row)?)).sum();
                let found = fast.covariance(r, s).unwrap();
                let scale: f64 = [a, b].map(|m| m.values().map(|x| x * x).sum::<f64>()).iter().sum();
                prop_assert!((found - slow).abs() <= tolerance * scale + least, "{r} {s}: {found} {slow}");
                prop_assert!(r != s || (fast.variances[r] - slow).abs() <= tolerance * scale + least);
            }
        }
    }
}
