//! A curvature that is known before a descent begins: a symmetric matrix P, of which P⁻¹ g is asked for.

use crate::learners::dot;

/// The factor L of P = L Lᵀ (Cholesky), row by row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curvature {
    lower: Vec<f64>,
    len: usize,
}

impl Curvature {
    /// Of a matrix whose lower half is given row by row; none if it is not positive.
    pub(crate) fn new(mut lower: Vec<f64>, len: usize) -> Option<Curvature> {
        for row in 0..len {
            for column in 0..=row {
                let [own, other] = [row, column].map(|at| &lower[at * len..][..column]);
                let rest = lower[row * len + column] - dot(own, other);
                lower[row * len + column] = match row == column {
                    true if rest > 0.0 => rest.sqrt(),
                    // Also where it is no number.
                    true => return None,
                    false => rest / lower[column * len + column],
                };
            }
        }
        Some(Curvature { lower, len })
    }

    /// Puts P⁻¹ g in place of g.
    pub(crate) fn solve(&self, g: &mut [f64]) {
        let Curvature { lower, len } = self;
        for row in 0..*len {
            let own = &lower[row * len..];
            g[row] = (g[row] - dot(&own[..row], &g[..row])) / own[row];
        }
        for row in (0..*len).rev() {
            let own = &lower[row * len..];
            g[row] /= own[row];
            let found = g[row];
            g[..row].iter_mut().zip(own).for_each(|(g, l)| *g -= found * l);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_solved_for_gives_the_right_side_again(
            rows in prop::collection::vec(prop::collection::vec(-2.0..2.0_f64, 4), 4..9),
            right in prop::collection::vec(-3.0..3.0_f64, 4),
        ) {
            let cell = |i: usize, j: usize| {
                rows.iter().map(|x| x[i] * x[j]).sum::<f64>() + if i == j { 0.5 } else { 0.0 }
            };
            let matrix: Vec<f64> = (0..16).map(|at| cell(at / 4, at % 4)).collect();
            let mut found = right.clone();
            Curvature::new(matrix, 4).unwrap().solve(&mut found);
            for (i, right) in right.iter().enumerate() {
                let again: f64 = (0..4).map(|j| cell(i, j) * found[j]).sum();
                prop_assert!((again - right).abs() < 1e-9, "{again} {right}");
            }
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_has_no_factor() {
        assert_eq!(Curvature::new(vec![1.0, 0.0, 2.0, 1.0], 2), None);
        assert_eq!(Curvature::new(vec![f64::NAN], 1), None);
        assert_eq!(Curvature::new(vec![0.0], 1), None);
    }
}
