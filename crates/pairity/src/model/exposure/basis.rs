//! A basis of a small linear program whose columns are made as they are needed.
//!
//! ```text
//! min cost · x     subject to     Σ_c column_c x_c = right,  x ≥ 0
//! ```
//!
//! A vertex of it is as many columns as there are rows. The inverse is computed anew at each step, so
//! that rounding does not add up: there is one row for each group, and few groups.

use crate::learners::dot;

/// A column that divides by less, beside its largest entry, is not to be relied on.
const SMALLEST_PIVOT: f64 = 1e-10;

/// Quotients within this are equal.
const EQUAL: f64 = 1e-13;

/// Columns that are independent, and at which x ≥ 0.
#[derive(Debug)]
pub(super) struct Basis<T> {
    /// What the columns are of.
    pub members: Vec<T>,
    columns: Vec<Vec<f64>>,
    inverse: Vec<Vec<f64>>,
    /// The columns at first, by which ties are broken.
    first: Vec<Vec<f64>>,
    right: Vec<f64>,
}

impl<T> Basis<T> {
    /// From a member for each row with its column; none if they depend on each other.
    pub(super) fn new(members: Vec<T>, columns: Vec<Vec<f64>>, right: Vec<f64>) -> Option<Basis<T>> {
        let inverse = invert(&columns)?;
        Some(Basis { members, first: columns.clone(), columns, inverse, right })
    }

    /// x of each member.
    pub(super) fn values(&self) -> Vec<f64> {
        self.inverse.iter().map(|row| dot(row, &self.right).max(0.0)).collect()
    }

    /// What one unit of each row's right side costs.
    pub(super) fn duals(&self, cost: impl Fn(&T) -> f64) -> Vec<f64> {
        let mut duals = vec![0.0; self.right.len()];
        // The second time adds what rounding has left of the members' costs.
        for _ in 0..2 {
            let left = |(member, column): (&T, &Vec<f64>)| cost(member) - dot(column, &duals);
            let left: Vec<f64> = self.members.iter().zip(&self.columns).map(left).collect();
            for (left, row) in left.iter().zip(&self.inverse) {
                duals.iter_mut().zip(row).for_each(|(dual, entry)| *dual += left * entry);
            }
        }
        duals
    }

    /// Puts a member in the place of the one that leaves first as its x grows; false if it can't grow.
    pub(super) fn enter(&mut self, member: T, column: Vec<f64>) -> bool {
        let rates: Vec<f64> = self.inverse.iter().map(|row| dot(row, &column)).collect();
        let smallest = SMALLEST_PIVOT * rates.iter().fold(0.0, |largest: f64, rate| largest.max(rate.abs()));
        let values = self.values();
        let able = (0..rates.len()).filter(|&row| rates[row] > smallest);
        let first = |a, b| if self.leaves_before(b, a, &rates, &values) { b } else { a };
        let Some(row) = able.reduce(first) else { return false };
        let before = std::mem::replace(&mut self.columns[row], column);
        let Some(inverse) = invert(&self.columns) else {
            self.columns[row] = before;
            return false;
        };
        self.inverse = inverse;
        self.members[row] = member;
        true
    }

    /// By the quotient of value and rate. Equal ones are told apart as if the right side were moved a
    /// little by the first columns, each by much less than the one before: the same vertex is then never
    /// met twice (the lexicographic rule).
    fn leaves_before(&self, row: usize, other: usize, rates: &[f64], values: &[f64]) -> bool {
        let moved = |first: &Vec<f64>| (dot(&self.inverse[row], first), dot(&self.inverse[other], first));
        let numerators = std::iter::once((values[row], values[other])).chain(self.first.iter().map(moved));
        let mut differences = numerators.map(|(own, its)| own / rates[row] - its / rates[other]);
        differences.find(|difference| difference.abs() > EQUAL).is_some_and(|difference| difference < 0.0)
    }
}

/// The inverse, row by row, of the matrix with these columns, by Gauss–Jordan elimination.
fn invert(columns: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let n = columns.len();
    // Each row of the matrix, followed by that of the identity.
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| columns.iter().map(|c| c[i]).chain((0..n).map(|j| f64::from(u8::from(i == j)))).collect())
        .collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| rows[a][k].abs().total_cmp(&rows[b][k].abs()))?;
        rows.swap(k, pivot);
        let divisor = rows[k][k];
        if divisor == 0.0 || !divisor.is_finite() {
            return None;
        }
        rows[k].iter_mut().for_each(|entry| *entry /= divisor);
        let source = std::mem::take(&mut rows[k]);
        for row in rows.iter_mut().filter(|row| !row.is_empty()) {
            let factor = row[k];
            if factor != 0.0 {
                row.iter_mut().zip(&source).skip(k).for_each(|(entry, s)| *entry -= factor * s);
            }
        }
        rows[k] = source;
    }
    rows.iter_mut().for_each(|row| drop(row.drain(..n)));
    rows.iter().flatten().all(|entry| entry.is_finite()).then_some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_undoes_its_columns() {
        let inverse = invert(&[vec![0.0, 2.0], vec![4.0, 1.0]]).unwrap();
        // The matrix is [[0, 4], [2, 1]].
        assert_eq!(inverse, [[-0.125, 0.5], [0.25, 0.0]]);
        assert_eq!(invert(&[vec![1.0, 2.0], vec![2.0, 4.0]]), None);
    }

    #[test]
    fn the_first_to_reach_zero_leaves() {
        // x + 2 y = 4 and x + y = 3, as slacks at first.
        let slacks = vec![vec![1.0, 0.0], vec![0.0, 1.0]];
        let mut basis = Basis::new(vec!["a", "b"], slacks, vec![4.0, 3.0]).unwrap();
        assert!(basis.enter("y", vec![2.0, 1.0]));
        assert_eq!((basis.values(), &basis.members), (vec![2.0, 1.0], &vec!["y", "b"]));
        assert!(basis.enter("x", vec![1.0, 1.0]));
        assert_eq!((basis.values(), &basis.members), (vec![1.0, 2.0], &vec!["y", "x"]));
        // One more of the first row makes y = 2 and x = 1; its price is the change of the cost.
        assert_eq!(basis.duals(|&m| if m == "y" { -3.0 } else { -1.0 }), [-2.0, 1.0]);
        assert!(!basis.enter("z", vec![-1.0, -1.0]));
    }
    #[test]
    fn exchanges_at_one_vertex_do_not_go_in_circles() {
        // Beale's program, which does if the first of equal rows leaves:
        // min −3/4 a + 20 b − 1/2 c + 6 d, whose best value is −5/4 at a = c = 1.
        let columns = [
            ("x", 0.0, [1.0, 0.0, 0.0]),
            ("y", 0.0, [0.0, 1.0, 0.0]),
            ("z", 0.0, [0.0, 0.0, 1.0]),
            ("a", -0.75, [0.25, 0.5, 0.0]),
            ("b", 20.0, [-8.0, -12.0, 0.0]),
            ("c", -0.5, [-1.0, -0.5, 1.0]),
            ("d", 6.0, [9.0, 3.0, 0.0]),
        ];
        let (start, slacks) = columns[..3].iter().map(|&(name, _, column)| (name, column.to_vec())).unzip();
        let mut basis = Basis::new(start, slacks, vec![0.0, 0.0, 1.0]).unwrap();
        let cost = |name: &&str| columns.iter().find(|column| column.0 == *name).unwrap().1;
        for _ in 0..20 {
            let duals = basis.duals(cost);
            let gain = |&(_, cost, column): &(_, f64, [f64; 3])| dot(&column, &duals) - cost;
            let best = columns.iter().max_by(|a, b| gain(a).total_cmp(&gain(b))).unwrap();
            if gain(best) <= 1e-12 {
                break;
            }
            assert!(basis.enter(best.0, best.2.to_vec()));
        }
        let value: f64 = basis.members.iter().zip(basis.values()).map(|(name, x)| cost(name) * x).sum();
        assert!((value + 1.25).abs() < 1e-12, "{value} {:?}", basis.members);
    }
}
