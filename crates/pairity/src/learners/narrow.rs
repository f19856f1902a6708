//! Products with a narrow matrix, such as the weights of a layer of few units: a few rows and all its columns at a time,
//! whose sums stay in registers. Columns are padded to whole vectors.
//!
//! Every number is a sum in the order of its terms, whatever rows it is worked on with: rows may be cut anywhere.

use crate::wide::wide;

/// Numbers that columns are padded to a multiple of.
pub(super) const LANES: usize = 4;

/// Rows of the result that are worked on at once.
const ROWS: usize = 4;

/// Columns with their padding.
pub(super) fn padded(columns: usize) -> usize {
    columns.next_multiple_of(LANES)
}

/// C ← C + XY, all row after row, with so many padded columns of Y and C.
pub(super) fn add_product(x: &[f64], y: &[f64], columns: usize, c: &mut [f64]) {
    wide(
        #[inline(always)]
        || add_product_of(x, y, columns, c),
    );
}

/// C ← C + XᵀY, all row after row, with so many columns of X, and padded ones of Y and C.
pub(super) fn add_transposed_product(x: &[f64], width: usize, y: &[f64], columns: usize, c: &mut [f64]) {
    wide(
        #[inline(always)]
        || add_transposed_product_of(x, width, y, columns, c),
    );
}

#[inline(always)]
fn add_product_of(x: &[f64], y: &[f64], columns: usize, c: &mut [f64]) {
    let terms = y.len() / columns.max(1);
    if terms == 0 {
        return;
    }
    for (x, c) in x.chunks(ROWS * terms).zip(c.chunks_mut(ROWS * columns)) {
        match c.len() / columns {
            4 => rows::<4>(x, terms, y, columns, c),
            3 => rows::<3>(x, terms, y, columns, c),
            2 => rows::<2>(x, terms, y, columns, c),
            _ => rows::<1>(x, terms, y, columns, c),
        }
    }
}

/// A few rows of a product, twelve columns at a time.
#[inline(always)]
fn rows<const ROWS: usize>(x: &[f64], terms: usize, y: &[f64], columns: usize, c: &mut [f64]) {
    for from in (0..columns).step_by(3 * LANES) {
        match columns - from {
            4 => block::<ROWS, 4>(x, terms, y, columns, from, c),
            8 => block::<ROWS, 8>(x, terms, y, columns, from, c),
            _ => block::<ROWS, 12>(x, terms, y, columns, from, c),
        }
    }
}

#[inline(always)]
fn block<const ROWS: usize, const COLUMNS: usize>(
    x: &[f64],
    terms: usize,
    y: &[f64],
    columns: usize,
    from: usize,
    c: &mut [f64],
) {
    let x: [&[f64]; ROWS] = std::array::from_fn(|row| &x[row * terms..][..terms]);
    let mut sums = read::<ROWS, COLUMNS>(c, columns, from);
    for (term, y) in y.chunks_exact(columns).enumerate().take(terms) {
        let Some(y) = y[from..].first_chunk::<COLUMNS>() else { return };
        for row in 0..ROWS {
            let x = x[row][term];
            for column in 0..COLUMNS {
                sums[row][column] += x * y[column];
            }
        }
    }
    write(c, columns, from, sums);
}

#[inline(always)]
fn add_transposed_product_of(x: &[f64], width: usize, y: &[f64], columns: usize, c: &mut [f64]) {
    for first in (0..width).step_by(ROWS) {
        let c = &mut c[first * columns..];
        match width - first {
            1 => transposed_rows::<1>(x, width, first, y, columns, c),
            2 => transposed_rows::<2>(x, width, first, y, columns, c),
            3 => transposed_rows::<3>(x, width, first, y, columns, c),
            _ => transposed_rows::<4>(x, width, first, y, columns, c),
        }
    }
}

#[inline(always)]
fn transposed_rows<const ROWS: usize>(
    x: &[f64],
    width: usize,
    first: usize,
    y: &[f64],
    columns: usize,
    c: &mut [f64],
) {
    for from in (0..columns).step_by(3 * LANES) {
        match columns - from {
            4 => transposed_block::<ROWS, 4>(x, width, first, y, columns, from, c),
            8 => transposed_block::<ROWS, 8>(x, width, first, y, columns, from, c),
            _ => transposed_block::<ROWS, 12>(x, width, first, y, columns, from, c),
        }
    }
}

#[inline(always)]
fn transposed_block<const ROWS: usize, const COLUMNS: usize>(
    x: &[f64],
    width: usize,
    first: usize,
    y: &[f64],
    columns: usize,
    from: usize,
    c: &mut [f64],
) {
    let mut sums = read::<ROWS, COLUMNS>(c, columns, from);
    for (x, y) in x.chunks_exact(width).zip(y.chunks_exact(columns)) {
        let (Some(x), Some(y)) = (x[first..].first_chunk::<ROWS>(), y[from..].first_chunk::<COLUMNS>())
        else {
            return;
        };
        for row in 0..ROWS {
            for column in 0..COLUMNS {
                sums[row][column] += x[row] * y[column];
            }
        }
    }
    write(c, columns, from, sums);
}

#[inline(always)]
fn read<const ROWS: usize, const COLUMNS: usize>(
    c: &[f64],
    columns: usize,
    from: usize,
) -> [[f64; COLUMNS]; ROWS] {
    std::array::from_fn(|row| {
        let c = &c[row * columns + from..][..COLUMNS];
        std::array::from_fn(|column| c[column])
    })
}

#[inline(always)]
fn write<const ROWS: usize, const COLUMNS: usize>(
    c: &mut [f64],
    columns: usize,
    from: usize,
    sums: [[f64; COLUMNS]; ROWS],
) {
    for (row, sums) in sums.iter().enumerate() {
        c[row * columns + from..][..COLUMNS].copy_from_slice(sums);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Rows, terms and columns that are no multiple of what is worked on at once, and none; huge and tiny numbers.
        #[test]
        fn products_are_sums_term_by_term_and_wide_vectors_change_no_bit(
            rows in 0..11_usize,
            terms in 1..11_usize,
            vectors in 1..9_usize,
            numbers in prop::collection::vec(
                prop_oneof![6 => -3.0..3.0, 1 => Just(0.0), 1 => Just(-0.0), 1 => -1e150..1e150],
                3 * 11 * 36,
            ),
        ) {
            let columns = vectors * LANES;
            let (x, rest) = numbers.split_at(rows * terms);
            let (y, rest) = rest.split_at(terms * columns);
            let start = &rest[..rows * columns];
            let mut expected = start.to_vec();
            for row in 0..rows {
                for term in 0..terms {
                    for column in 0..columns {
                        expected[row * columns + column] += x[row * terms + term] * y[term * columns + column];
                    }
                }
            }
            let transposed: Vec<f64> =
                (0..terms).flat_map(|term| (0..rows).map(move |row| x[row * terms + term])).collect();
            let plain: fn(&[f64], &[f64], usize, &mut [f64]) = add_product_of;
            for product in [add_product, plain] {
                let mut c = start.to_vec();
                product(x, y, columns, &mut c);
                prop_assert_eq!(bits(&c), bits(&expected));
            }
            let plain: fn(&[f64], usize, &[f64], usize, &mut [f64]) = add_transposed_product_of;
            for product in [add_transposed_product, plain] {
                let mut c = start.to_vec();
                product(&transposed, rows, y, columns, &mut c);
                prop_assert_eq!(bits(&c), bits(&expected));
            }
        }
    }

    fn bits(numbers: &[f64]) -> Vec<u64> {
        numbers.iter().map(|number| number.to_bits()).collect()
    }
}
