//! Sums of products of small whole numbers, in dense blocks.
//!
//! What a small query earns are whole numbers of 12 bits at most. Many queries are laid out as columns of 16 bits, a
//! column for each number, so that a vector instruction makes eight products and adds them in pairs. Sums are whole
//! numbers: their order does not matter.

/// Queries of a block.
const ROWS: usize = 128;

/// The largest number: the products of a block fit into 31 bits.
pub(super) const LARGEST: f64 = 4095.0;

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
        }
    }

    /// Whether there is room for the numbers of a query.
    pub(super) fn has_room(&self, numbers: &[(usize, f64)]) -> bool {
        self.columns.len() + numbers.len() <= MOST
            || self.columns.len() + numbers.iter().filter(|(at, _)| self.column_of[*at] == NONE).count()
                <= MOST
    }

    /// Sets a number of the query that is being added.
    #[inline]
    pub(super) fn set(&mut self, number: usize, value: f64) {
        let column = match self.column_of[number] {
            NONE => self.add_column(number),
            column => usize::from(column),
        };
        self.columns[column][self.filled] = value as i16;
    }

    #[cold]
    fn add_column(&mut self, number: usize) -> usize {
        let column = self.columns.len();
        self.column_of[number] = column as u16;
        self.numbers.push(number);
        self.columns.push([0; ROWS]);
        self.sums.push(0);
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
        let mut products = self.products.iter_mut();
        for (second, b) in self.columns.iter().enumerate() {
            self.sums[second] += b.iter().map(|&number| number as u64).sum::<u64>();
            for (a, sum) in self.columns[..=second].iter().zip(products.by_ref()) {
                let product = |(&a, &b): (&i16, &i16)| i32::from(a) * i32::from(b);
                *sum += a.iter().zip(b).map(product).sum::<i32>() as u64;
            }
        }
        self.columns.iter_mut().for_each(|column| *column = [0; ROWS]);
        self.filled = 0;
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
            )
        ) {
            let mut block = CountBlock::new(400);
            let (mut sums, mut products) = (BTreeMap::new(), BTreeMap::new());
            for row in rows {
                let row: Vec<(usize, f64)> = row.into_iter().map(|(at, value)| (at, f64::from(value))).collect();
                let known = row.iter().filter(|(at, _)| sums.contains_key(at)).count();
                prop_assert_eq!(block.has_room(&row), sums.len() + row.len() - known <= MOST);
                if !block.has_room(&row) {
                    continue;
                }
                for &(a, x) in &row {
                    block.set(a, x);
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
                for &a in &block.numbers[..=second] {
                    let expected = products.get(&(a.min(b), a.max(b))).copied().unwrap_or(0);
                    prop_assert_eq!(found.next().copied(), Some(expected));
                }
            }
        }
    }
}
