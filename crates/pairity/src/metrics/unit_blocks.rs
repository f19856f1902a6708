//! Sums over examples of what each moves every rate by, in dense blocks.
//!
//! The rates that an example touches depend on its group alone. So examples are gathered, group by group, in blocks of
//! a few rows, with a column for each placement; what they move is found column by column, and the products of all
//! columns are added to the covariance of the rates that the group touches, which is added to the whole at the end.

use super::influence::MAX_COVARIANCES;
use crate::pairs::{PlacedRows, Placement, RateSums, UnitSums, rows_and_stride};

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
            for (to, columns) in to.chunks_mut(stride).zip(&self.added) {
                add_columns(from, stride, columns, &mut to[..rows]);
            }
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
fn add_columns(all: &[f64], stride: usize, columns: &[usize], to: &mut [f64]) {
    let rows = to.len();
    let column = |at: usize| &all[at * stride..][..rows];
    for (place, &at) in columns.iter().enumerate() {
        match place {
            0 => to.copy_from_slice(column(at)),
            _ => to.iter_mut().zip(column(at)).for_each(|(sum, own)| *sum += own),
        }
    }
}

/// What rows with these columns move a rate by, and by lane their number, their squared totals and what they move squared;
/// `rests` are the pairs that are left without each.
///
/// In one loop, as what is summed costs nothing while numbers are divided. Called, for the reason of [`lane_products`].
#[inline(never)]
fn lane_moves(
    [credits, totals]: [&[f64]; 2],
    value: f64,
    rests: &[f64],
    moves: &mut [f64],
) -> [[f64; LANES]; 3] {
    let mut sums = [[0.0; LANES]; 3];
    let [credits, totals, rests] = [credits, totals, rests].map(|column| column.as_chunks::<LANES>().0);
    for (((moves, credits), totals), rests) in
        moves.as_chunks_mut::<LANES>().0.iter_mut().zip(credits).zip(totals).zip(rests)
    {
        for lane in 0..LANES {
            let moved = (credits[lane] - value * totals[lane]) / rests[lane];
            moves[lane] = moved;
            sums[0][lane] += if totals[lane] > 0.0 { 1.0 } else { 0.0 };
            sums[1][lane] += totals[lane] * totals[lane];
            sums[2][lane] += moved * moved;
        }
    }
    sums
}

/// The same where rows have all pairs, so that nothing is left without them, and they move nothing; and where rows count as
/// often as the squares of their roots say.
fn careful_lane_moves(
    [credits, totals]: [&[f64]; 2],
    value: f64,
    rests: &[f64],
    (moves, roots): (&mut [f64], Option<&[f64]>),
) -> [[f64; LANES]; 3] {
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

/// What rows move a rate by on one side of its pairs, and the sums over them; `roots` are told unless each counts once.
fn side_sum(
    columns: [&[f64]; 2],
    value: f64,
    rests: &[f64],
    (moves, roots): (&mut [f64], Option<&[f64]>),
) -> SideSum {
    let mut found = None;
    if roots.is_none() {
        let sums = lane_moves(columns, value, rests, moves);
        found = Some(sums).filter(|sums| sums[2].iter().all(|sum| sum.is_finite()));
    }
    let sums = found.unwrap_or_else(|| careful_lane_moves(columns, value, rests, (moves, roots)));
    let [units, squares, variance] = &sums;
    SideSum { units: lane_sum(units), squares: lane_sum(squares), variance: lane_sum(variance) }
}

#[inline(always)]
fn lane_sum(lanes: &[f64; LANES]) -> f64 {
    lanes.iter().sum()
}

/// Squares by lane.
#[inline(never)]
fn lane_squares(numbers: &[f64]) -> [f64; LANES] {
    let mut sums = [0.0; LANES];
    for numbers in numbers.as_chunks::<LANES>().0 {
        (0..LANES).for_each(|lane| sums[lane] += numbers[lane] * numbers[lane]);
    }
    sums
}

/// What rows move a rate by whose pairs they are on one side of, times their roots unless each counts once; returns the sum of squares.
fn one_side(
    columns: [&[f64]; 2],
    all: f64,
    value: f64,
    to: (&mut [f64], Option<&[f64]>),
    side: &mut SideSum,
) -> f64 {
    let mut room = [0.0; ROWS];
    let rests = &mut room[..columns[1].len()];
    rests.iter_mut().zip(columns[1]).for_each(|(rest, total)| *rest = all - total);
    let found = side_sum(columns, value, rests, to);
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
    let mut room = [[0.0; ROWS]; 2];
    let [rests, second] = room.each_mut().map(|room| &mut room[..moves.len()]);
    for ((rest, total), other) in rests.iter_mut().zip(columns[0][1]).zip(columns[1][1]) {
        *rest = all - total - other;
    }
    sides[0].add(&side_sum(columns[0], value, rests, (&mut *moves, roots)));
    sides[1].add(&side_sum(columns[1], value, rests, (&mut *second, roots)));
    moves.iter_mut().zip(&*second).for_each(|(moved, second)| *moved += second);
    lane_sum(&lane_squares(moves))
}

/// Adds the products of any two columns, the first not behind the second: two by two at once.
fn add_products(columns: &[f64], rows: usize, stride: usize, products: &mut [f64]) {
    let m = columns.len() / stride;
    let column = |at: usize| columns[at * stride..][..rows].as_chunks::<LANES>().0;
    for i in (0..m).step_by(2) {
        let (a, b) = (column(i), column(i + 1));
        for j in (i..m).step_by(2) {
            let (c, d) = (column(j), column(j + 1));
            let [ac, ad, bc, bd] = &lane_products([a, b, c, d]);
            products[i * m + j] += lane_sum(ac);
            products[i * m + j + 1] += lane_sum(ad);
            products[(i + 1) * m + j] += lane_sum(bc);
            products[(i + 1) * m + j + 1] += lane_sum(bd);
        }
    }
}

/// Sums of ac, ad, bc and bd by lane. Called, as where it is inlined the compiler sees the lanes added up, and puts
/// numbers of two products into one register, for which it has to shuffle every number that it reads.
#[inline(never)]
fn lane_products([a, b, c, d]: [&[[f64; LANES]]; 4]) -> [[f64; LANES]; 4] {
    let mut sums = [[0.0; LANES]; 4];
    for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
        for lane in 0..LANES {
            sums[0][lane] += a[lane] * c[lane];
            sums[1][lane] += a[lane] * d[lane];
            sums[2][lane] += b[lane] * c[lane];
            sums[3][lane] += b[lane] * d[lane];
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::{LANES, both_sides, one_side};
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
