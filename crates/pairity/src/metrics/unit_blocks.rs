//! Sums over examples of what each moves every rate by, in dense blocks.
//!
//! The rates that an example touches depend on its group alone. So examples are gathered, group by group, in blocks of
//! a few rows, with a column for each placement; what they move is found column by column, and the products of all
//! columns are added to the covariance of the rates that the group touches, which is added to the whole at the end.

use super::influence::MAX_COVARIANCES;
use crate::pairs::{PlacedRows, Placement, RateSums, UnitSums, rows_and_stride};
use std::ops::Range;

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

/// A rate that the examples of a block touch, and the columns of its placements on each side: a part of a list.
struct TouchedRate {
    rate: usize,
    columns: [Range<usize>; 2],
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
    /// The columns of each, side by side.
    columns_of: Vec<u32>,
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
        let (mut rates, mut columns_of): (Vec<TouchedRate>, Vec<u32>) = (Vec::new(), Vec::new());
        let mut touched: Vec<(usize, u8, usize)> = Vec::new();
        for (column, &(cell, side)) in columns.iter().enumerate() {
            touched.extend(unit.rates_of(cell).iter().map(|&rate| (rate as usize, side, column)));
        }
        touched.sort_unstable();
        for of_rate in touched.chunk_by(|a, b| a.0 == b.0) {
            let start = columns_of.len();
            let middle = start + of_rate.partition_point(|touched| touched.1 == 0);
            columns_of.extend(of_rate.iter().map(|touched| touched.2 as u32));
            let columns = [start..middle, middle..columns_of.len()];
            rates.push(TouchedRate { rate: of_rate[0].0, columns });
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
            columns,
            rates,
            columns_of,
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
        let (rows, stride) = (self.rows, self.stride);
        let mut room = [[0.0; ROWS]; 4];
        for (i, touched) in self.rates.iter().enumerate() {
            let (all, value) = (sums.totals[touched.rate], sums.value(touched.rate));
            let [a, b, c, d] = &mut room;
            let columns = touched.columns.each_ref().map(|range| &self.columns_of[range.clone()]);
            let first = [
                column_sum(credits, stride, columns[0], &mut a[..rows]),
                column_sum(totals, stride, columns[0], &mut b[..rows]),
            ];
            let second = [
                column_sum(credits, stride, columns[1], &mut c[..rows]),
                column_sum(totals, stride, columns[1], &mut d[..rows]),
            ];
            let moves = (&mut self.moves[i * stride..][..rows], &self.roots[..]);
            let sides = &mut self.sides[i];
            self.variances[i] += match (columns.map(<[u32]>::is_empty), is_once) {
                ([false, true], true) => one_side::<true>(first, all, value, moves, &mut sides[0]),
                ([false, true], false) => one_side::<false>(first, all, value, moves, &mut sides[0]),
                ([true, _], true) => one_side::<true>(second, all, value, moves, &mut sides[1]),
                ([true, _], false) => one_side::<false>(second, all, value, moves, &mut sides[1]),
                ([false, false], true) => both_sides::<true>([first, second], all, value, moves, sides),
                ([false, false], false) => both_sides::<false>([first, second], all, value, moves, sides),
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

/// The sum of some columns, in place of which a single one is returned itself.
fn column_sum<'c>(all: &'c [f64], stride: usize, columns: &[u32], room: &'c mut [f64]) -> &'c [f64] {
    let rows = room.len();
    let column = |at: u32| &all[at as usize * stride..][..rows];
    match columns {
        [] => room,
        [one] => column(*one),
        [one, others @ ..] => {
            room.copy_from_slice(column(*one));
            for &at in others {
                room.iter_mut().zip(column(at)).for_each(|(sum, own)| *sum += own);
            }
            room
        }
    }
}

/// With all pairs in one unit the rest is empty; such a rate gets no interval.
#[inline(always)]
fn moved(credit: f64, total: f64, value: f64, rest: f64) -> f64 {
    let moved = (credit - value * total) / rest;
    if moved.is_finite() { moved } else { 0.0 }
}

/// Sums of lanes.
#[derive(Default)]
struct LaneSums {
    units: [f64; LANES],
    squares: [f64; LANES],
    variance: [f64; LANES],
}

impl LaneSums {
    #[inline(always)]
    fn add<const ONCE: bool>(&mut self, lane: usize, total: f64, moved: f64, root: f64) {
        let (times, weighted) = if ONCE { (1.0, total) } else { (root * root, root * total) };
        self.units[lane] += if total > 0.0 { times } else { 0.0 };
        self.squares[lane] += weighted * weighted;
        self.variance[lane] += moved * moved;
    }

    fn side(&self) -> SideSum {
        let sum = |lanes: &[f64; LANES]| lanes.iter().sum();
        SideSum { units: sum(&self.units), squares: sum(&self.squares), variance: sum(&self.variance) }
    }
}

/// What rows move a rate by whose pairs they are on one side of, times their roots unless each counts once; returns the sum of squares.
fn one_side<const ONCE: bool>(
    [credits, totals]: [&[f64]; 2],
    all: f64,
    value: f64,
    (moves, roots): (&mut [f64], &[f64]),
    side: &mut SideSum,
) -> f64 {
    let mut sums = LaneSums::default();
    let (credits, _) = credits.as_chunks::<LANES>();
    let (totals, _) = totals.as_chunks::<LANES>();
    let (moves, _) = moves.as_chunks_mut::<LANES>();
    let (roots, _) = roots.as_chunks::<LANES>();
    for (((credits, totals), moves), roots) in credits.iter().zip(totals).zip(moves).zip(roots) {
        for lane in 0..LANES {
            let total = totals[lane];
            let moved = moved(credits[lane], total, value, all - total);
            moves[lane] = if ONCE { moved } else { roots[lane] * moved };
            sums.add::<ONCE>(lane, total, moves[lane], roots[lane]);
        }
    }
    let found = sums.side();
    side.add(&found);
    found.variance
}

/// The same where they are on both sides.
fn both_sides<const ONCE: bool>(
    columns: [[&[f64]; 2]; 2],
    all: f64,
    value: f64,
    (moves, roots): (&mut [f64], &[f64]),
    sides: &mut [SideSum; 2],
) -> f64 {
    let mut sums = [LaneSums::default(), LaneSums::default()];
    let mut variance = [0.0; LANES];
    let [[credits, totals], [other_credits, other_totals]] =
        columns.map(|side| side.map(|column| column.as_chunks::<LANES>().0));
    let (roots, _) = roots.as_chunks::<LANES>();
    for ((at, moves), roots) in moves.as_chunks_mut::<LANES>().0.iter_mut().enumerate().zip(roots) {
        for lane in 0..LANES {
            let (total, other) = (totals[at][lane], other_totals[at][lane]);
            let rest = all - total - other;
            let root = roots[lane];
            let times = |moved: f64| if ONCE { moved } else { root * moved };
            let first = times(moved(credits[at][lane], total, value, rest));
            let second = times(moved(other_credits[at][lane], other, value, rest));
            sums[0].add::<ONCE>(lane, total, first, root);
            sums[1].add::<ONCE>(lane, other, second, root);
            moves[lane] = first + second;
            variance[lane] += moves[lane] * moves[lane];
        }
    }
    sides.iter_mut().zip(&sums).for_each(|(side, sums)| side.add(&sums.side()));
    variance.iter().sum()
}

/// Adds the products of any two columns, the first not behind the second: two by two at once.
fn add_products(columns: &[f64], rows: usize, stride: usize, products: &mut [f64]) {
    let m = columns.len() / stride;
    let column = |at: usize| columns[at * stride..][..rows].as_chunks::<LANES>().0;
    for i in (0..m).step_by(2) {
        let (a, b) = (column(i), column(i + 1));
        for j in (i..m).step_by(2) {
            let (c, d) = (column(j), column(j + 1));
            let mut sums = [[0.0; LANES]; 4];
            for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
                for lane in 0..LANES {
                    sums[0][lane] += a[lane] * c[lane];
                    sums[1][lane] += a[lane] * d[lane];
                    sums[2][lane] += b[lane] * c[lane];
                    sums[3][lane] += b[lane] * d[lane];
                }
            }
            let [ac, ad, bc, bd] = sums.map(|lanes| lanes.iter().sum::<f64>());
            products[i * m + j] += ac;
            products[i * m + j + 1] += ad;
            products[(i + 1) * m + j] += bc;
            products[(i + 1) * m + j + 1] += bd;
        }
    }
}

#[cfg(test)]
mod tests {
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

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

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
