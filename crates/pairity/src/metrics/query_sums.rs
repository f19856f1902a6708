//! What an audit of queries is made of: sums over queries, which can be added in any order.
//!
//! With N_u and D_u what the pairs of query u earned and could have earned, a rate is A = N / D, and the sums of
//! products give the covariance of rates r and s:
//!
//! ```text
//! f_r f_s / (D_r D_s) · Σ_u (N_ru − A_r D_ru) (N_su − A_s D_su),   f = m / (m − 1),  m = D² / Σ_u D_u²
//! ```
//!
//! For m queries of equal size that is the jackknife, which leaves out one query after another: as much above the
//! variance of a mean as small samples need for their intervals to hold as often as they say.
//!
//! Sums are kept for *items*: cells where all pairs count alike, as rates are sums of them; rates where queries
//! count alike. With many groups only the sums that variances need are kept, by rate.

use super::count_block::{CountBlock, LARGEST, WHOLE_PART};
use super::exact::{ExactSum, NearNumbers, as_text};
use super::influence::{Influence, MAX_COVARIANCES};
use crate::examples::Examples;
use crate::pairs::{CellLayout, DrawnOrder, PairIndex, Placement, Tally, UnitSums};
use crate::rates::{Rate, Ties};
use crate::threads;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Sums of whole numbers below this are exact in an f64.
const WHOLE: f64 = (1_u64 << 52) as f64;

/// The most tasks that queries are summed in.
const TASKS: usize = 16;

/// A variance below this part of what it is the difference of is rounding.
const ROUNDING: f64 = 1e-12;

/// What the sums are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Items {
    /// Cells, and the products of any two.
    Cells,
    /// Rates, and the products of any two.
    Rates,
    /// Rates, and their own products.
    RatesAlone,
}

/// Sums over queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct QuerySums {
    items: Items,
    /// Queries that have pairs of each rate.
    units: Vec<u64>,
    /// Number of pairs of each cell.
    pub cell_pairs: Vec<u64>,
    /// Of each item, twice what its pairs earned and what they could have earned.
    #[serde(with = "as_text")]
    sums: Vec<ExactSum>,
    /// Products of any two of these, the upper triangle row by row; or of the two of each item: both squares, between
    /// them the product.
    #[serde(with = "as_text")]
    products: Vec<ExactSum>,
}

/// Where the product of two numbers stands, of which the first is not behind the second.
fn place(items: Items, numbers: usize, a: usize, b: usize) -> Option<usize> {
    match items {
        Items::RatesAlone => (a / 2 == b / 2).then(|| 3 * (a / 2) + a % 2 + b % 2),
        _ => Some(a * (2 * numbers - a + 1) / 2 + b - a),
    }
}

/// How many units, cells, sums and products there are.
fn lengths(items: Items, layout: &CellLayout, rates: usize) -> [usize; 4] {
    let length = if items == Items::Cells { layout.len() } else { rates };
    let products = match items {
        Items::RatesAlone => 3 * length,
        _ => length * (2 * length + 1),
    };
    [rates, layout.len(), 2 * length, products]
}

impl QuerySums {
    fn new(items: Items, layout: &CellLayout, rates: usize) -> QuerySums {
        let [units, cells, sums, products] = lengths(items, layout, rates);
        QuerySums {
            items,
            units: vec![0; units],
            cell_pairs: vec![0; cells],
            sums: vec![ExactSum::default(); sums],
            products: vec![ExactSum::default(); products],
        }
    }

    /// Whether sums read from a file fit these rates.
    pub(super) fn fit(&self, layout: &CellLayout, rates: usize) -> bool {
        let own = [self.units.len(), self.cell_pairs.len(), self.sums.len(), self.products.len()];
        own == lengths(self.items, layout, rates)
    }

    /// Counts and sums, as expected of a mixture.
    pub(super) fn count(index: &PairIndex, members: &[DrawnOrder], ties: Ties, by_query: bool) -> QuerySums {
        let items = match (by_query, index.rates().len() <= MAX_COVARIANCES) {
            (_, false) => Items::RatesAlone,
            (true, true) => Items::Rates,
            (false, true) => Items::Cells,
        };
        let sums = threads::map(&parts(index.examples(), index.sizes.sum_rows), &|queries: &Range<usize>| {
            let mut summing = Summing::new(items, index, by_query);
            let pairs = Tally::visit(index, queries.clone(), members, ties, &mut |query| summing.add(query));
            QuerySums { cell_pairs: pairs, ..summing.finish() }
        });
        let merged = sums.into_iter().reduce(|mut all, part| {
            all.merge(&part);
            all
        });
        merged.unwrap_or_else(|| QuerySums::new(items, &index.layout, index.rates().len()))
    }

    /// Adds sums of the same items.
    pub(super) fn merge(&mut self, other: &QuerySums) {
        let add = |to: &mut [u64], from: &[u64]| to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        add(&mut self.units, &other.units);
        add(&mut self.cell_pairs, &other.cell_pairs);
        self.sums.iter_mut().zip(&other.sums).for_each(|(to, from)| to.merge(from));
        self.products.iter_mut().zip(&other.products).for_each(|(to, from)| to.merge(from));
    }

    /// The same sums in a table with more groups, `cells` and `rates` being their numbers there.
    pub(super) fn widened(
        &self,
        layout: &CellLayout,
        all_rates: usize,
        cells: &[usize],
        rates: &[usize],
    ) -> QuerySums {
        let mut wide = QuerySums::new(self.items, layout, all_rates);
        let items = if self.items == Items::Cells { cells } else { rates };
        let number = |at: usize| 2 * items[at / 2] + at % 2;
        rates.iter().zip(&self.units).for_each(|(&rate, units)| wide.units[rate] = *units);
        cells.iter().zip(&self.cell_pairs).for_each(|(&cell, pairs)| wide.cell_pairs[cell] = *pairs);
        for (at, sum) in self.sums.iter().enumerate() {
            wide.sums[number(at)] = sum.clone();
        }
        let numbers = wide.sums.len();
        for (a, b, product) in self.products() {
            let (a, b) = (number(a), number(b));
            if let Some(at) = place(wide.items, numbers, a.min(b), a.max(b)) {
                wide.products[at] = product.clone();
            }
        }
        wide
    }

    /// The products, with the numbers that they are of.
    fn products(&self) -> impl Iterator<Item = (usize, usize, &ExactSum)> {
        let n = self.sums.len();
        let pairs = (0..n).flat_map(move |a| (a..n).map(move |b| (a, b)));
        pairs.filter_map(move |(a, b)| Some((a, b, &self.products[place(self.items, n, a, b)?])))
    }

    /// The same for rates with their own products alone, as tables with many groups have them.
    pub(super) fn alone(self, layout: &CellLayout, rates: &[Rate]) -> QuerySums {
        let mut alone = QuerySums::new(Items::RatesAlone, layout, rates.len());
        for (rate, items) in self.items_of(layout, rates).iter().enumerate() {
            let sum = |side| ExactSum::of(items.iter().map(|item| &self.sums[2 * item + side]));
            (alone.sums[2 * rate], alone.sums[2 * rate + 1]) = (sum(0), sum(1));
            for (at, (x, y)) in [(0, 0), (0, 1), (1, 1)].into_iter().enumerate() {
                let all = items.iter().flat_map(|c| items.iter().map(move |d| (2 * c + x, 2 * d + y)));
                let product = |(a, b): (usize, usize)| {
                    place(self.items, self.sums.len(), a.min(b), a.max(b)).map(|at| &self.products[at])
                };
                alone.products[3 * rate + at] = ExactSum::of(all.filter_map(product));
            }
        }
        QuerySums { units: self.units, cell_pairs: self.cell_pairs, ..alone }
    }

    pub(super) fn is_alone(&self) -> bool {
        self.items == Items::RatesAlone
    }

    fn items_of(&self, layout: &CellLayout, rates: &[Rate]) -> Vec<Vec<usize>> {
        let items = |(at, &rate)| if self.items == Items::Cells { layout.cells(rate) } else { vec![at] };
        rates.iter().enumerate().map(items).collect()
    }

    /// The estimates of all rates.
    pub(super) fn influence(&self, layout: &CellLayout, rates: &[Rate]) -> Influence {
        let n = rates.len();
        let items = self.items_of(layout, rates);
        let sum = |rate: usize, side| {
            ExactSum::of(items[rate].iter().map(|item| &self.sums[2 * item + side])).value()
        };
        let earned: Vec<f64> = (0..n).map(|rate| sum(rate, 0) / 2.0).collect();
        let totals: Vec<f64> = (0..n).map(|rate| sum(rate, 1)).collect();
        let values: Vec<f64> =
            earned.iter().zip(&totals).map(|(n, d)| if *d > 0.0 { n / d } else { f64::NAN }).collect();
        let products: Vec<f64> = self.products.iter().map(ExactSum::value).collect();
        let numbers = self.sums.len();
        let product =
            |a: usize, b: usize| place(self.items, numbers, a.min(b), a.max(b)).map(|at| products[at]);
        // Σ of products of two rates: both earned, one and the other, both totals.
        let sums = |r: usize, s: usize| {
            let mut sums = [0.0; 4];
            for (c, d) in items[r].iter().flat_map(|c| items[s].iter().map(move |d| (2 * c, 2 * d))) {
                let found = [product(c, d)?, product(c, d + 1)?, product(c + 1, d)?, product(c + 1, d + 1)?];
                sums.iter_mut().zip(found).for_each(|(sum, found)| *sum += found);
            }
            Some([sums[0] / 4.0, sums[1] / 2.0, sums[2] / 2.0, sums[3]])
        };
        let squares: Vec<f64> = (0..n).map(|r| sums(r, r).map_or(0.0, |sums| sums[3])).collect();
        let sizes: Vec<f64> =
            totals.iter().zip(&squares).map(|(total, square)| total * total / square).collect();
        let scale = |r: usize| sizes[r] / (sizes[r] - 1.0) / totals[r];
        let covariance = |r: usize, s: usize| {
            let [nn, nd, dn, dd] = sums(r, s)?;
            let (a, b) = (values[r], values[s]);
            let found = nn - b * nd - a * dn + a * b * dd;
            let is_rounding = r == s && found <= ROUNDING * (nn + a * b * dd);
            let found = if is_rounding { 0.0 } else { found * scale(r) * scale(s) };
            Some(if values[r].is_nan() || values[s].is_nan() { 0.0 } else { found })
        };
        let is_full = self.items != Items::RatesAlone;
        let mut all = vec![0.0; if is_full { n * n } else { 0 }];
        for (r, row) in all.chunks_mut(n.max(1)).enumerate() {
            row[r..].iter_mut().zip(r..).for_each(|(to, s)| *to = covariance(r, s).unwrap_or(0.0));
        }
        let enough = |r: usize| self.units[r] >= 2 && totals[r] > 0.0;
        let mut pairs = vec![0; n];
        for (pairs, rate) in pairs.iter_mut().zip(rates) {
            *pairs = layout.cells(*rate).into_iter().map(|cell| self.cell_pairs[cell]).sum();
        }
        Influence {
            pairs,
            cell_pairs: self.cell_pairs.clone(),
            covariance: all,
            variances: (0..n).map(|r| covariance(r, r).unwrap_or(0.0)).collect(),
            freedom: (0..n).map(|r| if enough(r) { (sizes[r] - 1.0).max(0.5) } else { 0.0 }).collect(),
            units: (0..n).map(|r| if enough(r) { sizes[r] } else { 0.0 }).collect(),
            values,
        }
    }
}

/// Consecutive queries that are summed by one task, of about as many rows each, which are to be worth a task.
fn parts(examples: &Examples, worth: usize) -> Vec<Range<usize>> {
    let size = examples.len().div_ceil((examples.len() / worth.max(1)).clamp(1, TASKS));
    let (mut parts, mut start) = (Vec::new(), 0);
    for query in 0..examples.queries() {
        if examples.query(query).end - examples.query(start).start >= size {
            parts.push(start..query + 1);
            start = query + 1;
        }
        if start == examples.queries() {
            return parts;
        }
    }
    parts.push(start..examples.queries());
    parts
}

/// Sums in the making. Products of whole numbers wait in plain numbers as long as these are exact.
struct Summing {
    sums: QuerySums,
    by_query: bool,
    /// Small whole numbers, where sums are about cells.
    block: CountBlock,
    waiting: Vec<f64>,
    bound: f64,
    /// Other products of any two numbers, where there are such products of the first.
    near: Vec<Vec<NearNumbers>>,
    unit: UnitSums,
    /// The real numbers that the block has, and their squares.
    near_real: [NearNumbers; 2],
    /// The rates of each cell, a bit each.
    rates_of: Vec<u64>,
    /// How many queries have pairs of each rate, by word of rates: the lowest bits of all counts, then the next ones.
    planes: Vec<Vec<u64>>,
    /// Whether a query has several blocks, which may share cells.
    has_blocks: bool,
    /// What one query earned in each cell, and could have earned, and its cells.
    by_cell: Vec<[f64; 2]>,
    cells: Vec<usize>,
    /// The numbers of one query: which, and how much; whole ones, then others.
    numbers: [Vec<(usize, f64)>; 2],
}

impl Summing {
    fn new(items: Items, index: &PairIndex, by_query: bool) -> Summing {
        let sums = QuerySums::new(items, &index.layout, index.rates().len());
        let unit = UnitSums::new(index);
        let words = index.rates().len().div_ceil(64);
        let bits = |cell: usize| {
            let mut bits = vec![0; words];
            unit.rates_of(cell as u32).iter().for_each(|rate| bits[*rate as usize / 64] |= 1 << (rate % 64));
            bits
        };
        Summing {
            by_query,
            block: CountBlock::new(sums.sums.len()),
            waiting: vec![0.0; sums.products.len()],
            bound: 0.0,
            near: vec![Vec::new(); sums.sums.len()],
            rates_of: match items {
                Items::Cells => (0..sums.cell_pairs.len()).flat_map(bits).collect(),
                _ => Vec::new(),
            },
            near_real: Default::default(),
            planes: vec![Vec::new(); words],
            unit,
            has_blocks: index.examples().blocks() > index.examples().queries(),
            by_cell: vec![[0.0; 2]; sums.cell_pairs.len()],
            cells: Vec::new(),
            numbers: Default::default(),
            sums,
        }
    }

    fn add(&mut self, placements: &[Placement]) {
        if self.sums.items == Items::Cells {
            self.note_rates(placements);
            if self.add_small(placements) {
                return;
            }
        }
        self.numbers.iter_mut().for_each(Vec::clear);
        match self.sums.items {
            Items::Cells => self.note_cells(placements),
            _ => {
                self.unit.collect(placements, self.by_query);
                for rate in self.unit.touched.iter().map(|&rate| rate as usize) {
                    self.sums.units[rate] += 1;
                    let (credit, total) = (self.unit.credits[rate][0], self.unit.totals[rate][0]);
                    note(&mut self.numbers, rate, credit, total);
                }
            }
        }
        let QuerySums { items, sums, products, .. } = &mut self.sums;
        let numbers = sums.len();
        let [whole, others] = &self.numbers;
        let larger = |a: f64, b: f64| if b > a { b } else { a };
        let largest = whole.iter().fold(0.0, |largest, (_, number)| larger(largest, *number));
        let mut with_others = &whole[..];
        if *items == Items::Cells
            && largest <= LARGEST
            && self.block.has_room(whole.len(), whole.iter().map(|(number, _)| *number))
        {
            whole.iter().for_each(|&(at, number)| self.block.set(at, number));
            if matches!(others[..], [(at, number)] if self.block.set_real(at, number)) {
                with_others = &[];
            }
            self.block.end_row();
        } else {
            whole.iter().for_each(|&(at, number)| sums[at].add(number));
            self.bound += largest * largest;
            if self.bound >= WHOLE {
                flush(&mut self.waiting, products);
                self.bound = largest * largest;
            }
            for (at, &(a, x)) in whole.iter().enumerate() {
                for &(b, y) in &whole[at..] {
                    if let Some(at) = place(*items, numbers, a.min(b), a.max(b)) {
                        self.waiting[at] += x * y;
                    }
                }
            }
        }
        for (at, &(a, x)) in others.iter().enumerate() {
            sums[a].add(x);
            let near = &mut self.near[a];
            if near.is_empty() && *items != Items::RatesAlone {
                near.resize(numbers, NearNumbers::default());
            }
            for &(b, y) in others[at..].iter().chain(with_others) {
                match (place(*items, numbers, a.min(b), a.max(b)), near.get_mut(b)) {
                    (Some(at), Some(near)) => near.add(x * y, &mut products[at]),
                    (Some(at), None) => products[at].add(x * y),
                    (None, _) => {}
                }
            }
        }
    }

    /// Adds a query all of whose numbers are small and whole, but for one at most, straight to the block; false if it is
    /// no such query.
    fn add_small(&mut self, placements: &[Placement]) -> bool {
        let numbers = placements.iter().flat_map(|p| [2 * p.cell as usize, 2 * p.cell as usize + 1]);
        if self.has_blocks || !self.block.has_room(2 * placements.len(), numbers) {
            return false;
        }
        let (mut real, mut reals, mut is_whole) = (None, 0, true);
        for placement in placements {
            is_whole &= is_small(placement.total);
            if !is_small(2.0 * placement.credit) {
                real = Some((placement.cell, 2.0 * placement.credit));
                reals += 1;
            }
        }
        if !is_whole || reals > 1 {
            return false;
        }
        if let Some((cell, value)) = real {
            let number = 2 * cell as usize;
            if !self.block.set_real(number, value) {
                return false;
            }
            let QuerySums { items, sums, products, .. } = &mut self.sums;
            if let Some(at) = place(*items, sums.len(), number, number) {
                let [sum, square] = &mut self.near_real;
                sum.add(value, &mut sums[number]);
                square.add(value * value, &mut products[at]);
            }
        }
        let real = real.map(|(cell, _)| cell);
        for placement in placements {
            let number = 2 * placement.cell as usize;
            if real != Some(placement.cell) {
                self.block.set(number, 2.0 * placement.credit);
            }
            self.block.set(number + 1, placement.total);
        }
        self.block.end_row();
        true
    }

    /// Counts the rates that a query has pairs of.
    fn note_rates(&mut self, placements: &[Placement]) {
        let words = self.planes.len();
        for (word, planes) in self.planes.iter_mut().enumerate() {
            let mut carry = 0;
            for placement in placements {
                carry |= self.rates_of[placement.cell as usize * words + word];
            }
            for plane in planes.iter_mut() {
                (*plane, carry) = (*plane ^ carry, *plane & carry);
                if carry == 0 {
                    break;
                }
            }
            if carry != 0 {
                planes.push(carry);
            }
        }
    }

    /// The numbers of a query, by cell.
    fn note_cells(&mut self, placements: &[Placement]) {
        for placement in placements {
            let cell = placement.cell as usize;
            if !self.has_blocks {
                note(&mut self.numbers, cell, placement.credit, placement.total);
                continue;
            }
            let own = &mut self.by_cell[cell];
            if *own == [0.0; 2] {
                self.cells.push(cell);
            }
            *own = [own[0] + placement.credit, own[1] + placement.total];
        }
        for cell in self.cells.drain(..) {
            let [credit, total] = std::mem::take(&mut self.by_cell[cell]);
            note(&mut self.numbers, cell, credit, total);
        }
    }

    fn finish(mut self) -> QuerySums {
        self.block.sum();
        let QuerySums { items, sums, products, units, .. } = &mut self.sums;
        for (word, planes) in self.planes.iter().enumerate() {
            for (unit, bit) in units.iter_mut().skip(64 * word).zip(0..64) {
                *unit += planes.iter().rev().fold(0, |count, plane| count << 1 | plane >> bit & 1);
            }
        }
        let numbers = sums.len();
        if let Some(real) = self.block.real {
            let [sum, square] = &mut self.near_real;
            sum.finish(&mut sums[real]);
            if let Some(at) = place(*items, numbers, real, real) {
                square.finish(&mut products[at]);
            }
        }
        let mut found = self.block.products.iter();
        for (second, &b) in self.block.numbers.iter().enumerate() {
            sums[b].add_integer(self.block.sums[second]);
            if let Some(at) = self.block.real.and_then(|a| place(*items, numbers, a.min(b), a.max(b))) {
                products[at].merge(&self.block.real_products[second]);
            }
            for (&a, &product) in self.block.numbers[..=second].iter().zip(found.by_ref()) {
                if let Some(at) = place(*items, numbers, a.min(b), a.max(b)) {
                    products[at].add_integer(product);
                }
            }
        }
        flush(&mut self.waiting, products);
        for (a, near) in self.near.iter_mut().enumerate() {
            for (b, near) in near.iter_mut().enumerate() {
                if let Some(at) = place(*items, numbers, a.min(b), a.max(b)) {
                    near.finish(&mut products[at]);
                }
            }
        }
        self.sums
    }
}

/// Whether a number is whole and fits into the block.
#[inline]
fn is_small(number: f64) -> bool {
    number <= LARGEST && (number + WHOLE_PART) - WHOLE_PART == number
}

/// Notes the numbers of an item, twice what it earned and what it could have earned, among whole ones or others.
#[inline]
fn note([whole, others]: &mut [Vec<(usize, f64)>; 2], item: usize, credit: f64, total: f64) {
    for (at, number) in [(2 * item, 2.0 * credit), (2 * item + 1, total)] {
        // The product of two whole numbers that are as small is whole and exact.
        let is_small = number < f64::from(1 << 26);
        match is_small && f64::from(number as i32) == number {
            true => whole.push((at, number)),
            false => others.push((at, number)),
        }
    }
}

fn flush(waiting: &mut [f64], products: &mut [ExactSum]) {
    waiting.iter_mut().zip(products).for_each(|(number, sum)| sum.add(std::mem::take(number)));
}
