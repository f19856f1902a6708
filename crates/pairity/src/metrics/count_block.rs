//! Sums of products of small whole numbers, in dense blocks.
//!
//! What a small query earns are whole numbers of 12 bits at most. Many queries are laid out as columns of 16 bits, a
//! column for each number, so that a vector instruction makes eight products and adds them in pairs. Sums are whole
//! numbers: their order does not matter.
//!
//! Beside them a query may have one real number, its squared error. What it is multiplied by is rounded, and then added
//! without rounding.

use super::exact::{BLOCK, ExactSum, SplitNumbers};
use crate::wide::wide;

/// Queries of a block.
const ROWS: usize = BLOCK;

/// The largest number: the products of a block fit into 31 bits.
pub(super) const LARGEST: f64 = 4095.0;

/// What a number below 2⁵¹ is added to to be rounded to a whole one, which the lowest bits of the sum then are.
pub(super) const WHOLE_PART: f64 = 1.5 * (1_u64 << 52) as f64;

/// The most columns; with more of them most are empty in a query.
const MOST: usize = 192;

/// No column.
const NONE: u16 = u16::MAX;

/// Numbers of queries, and the sums of their products.
pub(super) struct CountBlock {
    /// The column of each number.
    column_of: Vec<u16>,
    /// The number of each column.
    pub numbers: Vec<usize>,
    columns: Vec<[i16; ROWS]>,
    filled: usize,
    pub sums: Vec<u64>,
    /// Of any two columns, the first not behind the second: those with the first as second, then those with the next.
    pub products: Vec<u64>,
    /// Which number the real one is, once there is one.
    pub real: Option<usize>,
    reals: [f64; ROWS],
    /// Of each column with the real number.
    pub real_products: Vec<ExactSum>,
}

impl CountBlock {
    pub(super) fn new(numbers: usize) -> CountBlock {
        CountBlock {
            column_of: vec![NONE; numbers],
            numbers: Vec::new(),
            columns: Vec::new(),
            filled: 0,
            sums: Vec::new(),
            products: Vec::new(),
            real: None,
            reals: [0.0; ROWS],
            real_products: Vec::new(),
        }
    }

    /// Sets the real number of the query that is being added; false if it is not the one that others have, or not finite.
    pub(super) fn set_real(&mut self, number: usize, value: f64) -> bool {
        let is_same = *self.real.get_or_insert(number) == number && value.is_finite();
        if is_same {
            self.reals[self.filled] = value;
        }
        is_same
    }

    /// Whether there is room for so many numbers of a query.
    pub(super) fn has_room(&self, count: usize, numbers: impl Iterator<Item = usize>) -> bool {
        self.columns.len() + count <= MOST
            || self.columns.len() + numbers.filter(|at| self.column_of[*at] == NONE).count() <= MOST
    }

    /// Sets a number of the query that is being added.
    #[inline]
    pub(super) fn set(&mut self, number: usize, value: f64) {
        let column = match self.column_of[number] {
            NONE => self.add_column(number),
            column => usize::from(column),
        };
        self.columns[column][self.filled] = (value + WHOLE_PART).to_bits() as i16;
    }

    #[cold]
    fn add_column(&mut self, number: usize) -> usize {
        let column = self.columns.len();
        self.column_of[number] = column as u16;
        self.numbers.push(number);
        self.columns.push([0; ROWS]);
        self.sums.push(0);
        self.real_products.push(ExactSum::default());
        self.products.resize(self.products.len() + column + 1, 0);
        column
    }

    /// Ends a query.
    pub(super) fn end_row(&mut self) {
        self.filled += 1;
        if self.filled == ROWS {
            self.sum();
        }
    }

    /// Adds the rows to the sums, and clears them.
    pub(super) fn sum(&mut self) {
        wide(
            #[inline(always)]
            || add_products(&self.columns, &mut self.sums, &mut self.products),
        );
        if self.real.is_some() {
            let split = SplitNumbers::new(&self.reals, LARGEST);
            let mut products = [0.0; ROWS];
            for (column, sum) in self.columns.iter().zip(&mut self.real_products) {
                for ((product, real), &number) in products.iter_mut().zip(&self.reals).zip(column) {
                    *product = real * f64::from(i32::from(number));
                }
                sum.add_block(&products, split.as_ref());
            }
            self.reals = [0.0; ROWS];
        }
        self.columns.iter_mut().for_each(|column| *column = [0; ROWS]);
        self.filled = 0;
    }
}

/// Adds the numbers of columns, and their products.
#[inline(always)]
fn add_products(columns: &[[i16; ROWS]], sums: &mut [u64], products: &mut [u64]) {
    let mut products = products.iter_mut();
    for (second, (b, sum)) in columns.iter().zip(sums).enumerate() {
        // At most 128 numbers of 12 bits.
        let mut all = 0;
        for number in b {
            all += i32::from(*number);
        }
        *sum += all as u64;
        for a in &columns[..=second] {
            let mut all = 0;
            for row in 0..ROWS {
                all += i32::from(a[row]) * i32::from(b[row]);
            }
            if let Some(sum) = products.next() {
                *sum += all as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

        /// The largest numbers, blocks that are full and not, and more numbers than there are columns.
        #[test]
        fn sums_are_those_of_all_products(
            rows in prop::collection::vec(
                prop::collection::btree_map(
                    prop_oneof![0..20_usize, 0..400_usize],
                    prop_oneof![Just(LARGEST as u16), 0..=LARGEST as u16],
                    0..12,
                ),
                0..400,
            ),
            reals in prop::collection::vec(
                prop_oneof![3 => 0.001..30.0, 1 => Just(0.0), 1 => Just(1.0 / 3.0), 1 => 1e-9..1e-3],
                400,
            ),
            far in prop_oneof![4 => Just(1.0), 1 => Just(1e-30), 1 => Just(5e-324), 1 => Just(1e300)],
        ) {
            let mut block = CountBlock::new(400);
            let (mut sums, mut products) = (BTreeMap::new(), BTreeMap::new());
            let mut real_products: BTreeMap<usize, ExactSum> = BTreeMap::new();
            for (at, (row, real)) in rows.into_iter().zip(reals).enumerate() {
                // One number of another size.
                let real = if at == 200 { real * far } else { real };
                let row: Vec<(usize, f64)> = row.into_iter().map(|(at, value)| (at, f64::from(value))).collect();
                let known = row.iter().filter(|(at, _)| sums.contains_key(at)).count();
                prop_assert_eq!(block.has_room(row.len(), row.iter().map(|(at, _)| *at)), sums.len() + row.len() - known <= MOST);
                if !block.has_room(row.len(), row.iter().map(|(at, _)| *at)) {
                    continue;
                }
                prop_assert!(block.set_real(7, real) && !block.set_real(8, real) && !block.set_real(7, f64::INFINITY));
                for &(a, x) in &row {
                    block.set(a, x);
                    real_products.entry(a).or_default().add(real * x);
                    *sums.entry(a).or_insert(0) += x as u64;
                    for &(b, y) in row.iter().filter(|(b, _)| *b >= a) {
                        *products.entry((a, b)).or_insert(0) += (x * y) as u64;
                    }
                }
                block.end_row();
            }
            block.sum();
            let mut found = block.products.iter();
            for (second, &b) in block.numbers.iter().enumerate() {
                prop_assert_eq!(block.sums[second], sums[&b]);
                prop_assert_eq!(block.real_products[second].to_string(), real_products[&b].to_string());
                for &a in &block.numbers[..=second] {
                    let expected = products.get(&(a.min(b), a.max(b))).copied().unwrap_or(0);
                    prop_assert_eq!(found.next().copied(), Some(expected));
                }
            }
        }
    }
}
