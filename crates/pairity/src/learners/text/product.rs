//! Products of matrices that are parts of slices.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, LinalgScalar, ShapeBuilder};

/// Numbers of a slice as a matrix.
#[derive(Clone, Copy)]
pub(super) struct DenseMatrix<'a, T> {
    values: &'a [T],
    shape: (usize, usize),
    strides: (usize, usize),
}

impl<'a, T> DenseMatrix<'a, T> {
    /// Row after row.
    pub(super) fn new(values: &'a [T], rows: usize, columns: usize) -> DenseMatrix<'a, T> {
        DenseMatrix { values, shape: (rows, columns), strides: (columns, 1) }
    }

    /// The same with rows that begin so many places apart, and overlap if that is less than a row.
    pub(super) fn with_stride(self, stride: usize) -> DenseMatrix<'a, T> {
        DenseMatrix { strides: (stride, 1), ..self }
    }

    pub(super) fn transposed(self) -> DenseMatrix<'a, T> {
        let ((rows, columns), (down, across)) = (self.shape, self.strides);
        DenseMatrix { shape: (columns, rows), strides: (across, down), ..self }
    }
}

/// C = XY + βC, with C row after row.
pub(super) fn multiply<T: LinalgScalar>(x: DenseMatrix<T>, y: DenseMatrix<T>, beta: T, c: &mut [T]) {
    let view = |m: DenseMatrix<'_, T>| m.shape.strides(m.strides);
    let shape = (x.shape.0, y.shape.1);
    let (x, y) = (ArrayView2::from_shape(view(x), x.values), ArrayView2::from_shape(view(y), y.values));
    let c = ArrayViewMut2::from_shape(shape, c);
    debug_assert!(x.is_ok() && y.is_ok() && c.is_ok());
    // The shapes always fit; the tests of the networks would show zeros otherwise.
    if let (Ok(x), Ok(y), Ok(mut c)) = (x, y, c) {
        general_mat_mul(T::one(), &x, &y, beta, &mut c);
    }
}
