//! Features of which a row has few: the words of a text, or numbers that are mostly 0.

use super::FeaturesError;

/// Calls a function with the row, the column and the value of each cell.
type EachCell<'a> = &'a dyn Fn(&mut dyn FnMut(usize, u32, f64));

/// A matrix of which only some cells are stored, row by row. All others of a column have the same value, 0 as a rule:
/// where a column of zeros is standardized, they all become another number, and none of them has to be stored for that.
///
/// ```
/// use pairity::learners::{Features, Sparse};
///
/// let cells = [vec![(2, 0.5), (0, -1.0)], vec![]];
/// let sparse = Sparse::new(3, cells)?.with_absent(vec![0.0, 7.0, 0.0])?;
/// assert_eq!((sparse.rows(), sparse.row(0)), (2, &[2, 0][..]));
/// assert_eq!(sparse.dense_row(0), [-1.0, 7.0, 0.5]); // an absent cell of the second column is 7
/// let features = Features::of_sparse(sparse);
/// assert_eq!(features.select(&[1, 0]).width(), 3);
/// # Ok::<(), pairity::learners::FeaturesError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sparse {
    width: usize,
    /// Where each row starts in `columns`, and the end.
    starts: Vec<usize>,
    columns: Vec<u32>,
    /// By how much each stored cell is above the absent ones of its column; 1 everywhere if there is none.
    values: Option<Vec<f64>>,
    /// The value of absent cells, column by column; 0 everywhere if it is empty.
    absent: Vec<f64>,
}

impl Sparse {
    /// Rows of cells, each a column and its value. A row has a column once, or its values are added up.
    ///
    /// # Errors
    /// No columns, a column beyond the width, a value that is not finite.
    pub fn new(
        width: usize,
        rows: impl IntoIterator<Item = Vec<(u32, f64)>>,
    ) -> Result<Sparse, FeaturesError> {
        let mut sparse = Sparse::empty(width)?;
        let mut values = Vec::new();
        for (row, cells) in rows.into_iter().enumerate() {
            let columns: Vec<u32> = cells.iter().map(|&(column, _)| column).collect();
            sparse.push(&columns)?;
            for (column, value) in cells {
                if !value.is_finite() {
                    return Err(FeaturesError::NotFinite { row, feature: column as usize, value });
                }
                values.push(value);
            }
        }
        Ok(Sparse { values: Some(values), ..sparse })
    }

    /// Rows of columns whose cells are 1, such as the codes of words. A row may have a column several times, and in any
    /// order, where that means something.
    ///
    /// ```
    /// use pairity::learners::Sparse;
    ///
    /// let words = Sparse::of_ones(3, [&[2, 0][..], &[], &[1]])?;
    /// assert_eq!((words.rows(), words.row(0), words.row(1)), (3, &[2, 0][..], &[][..]));
    /// # Ok::<(), pairity::learners::FeaturesError>(())
    /// ```
    ///
    /// # Errors
    /// No columns, or a column beyond the width.
    pub fn of_ones<'a>(
        width: usize,
        rows: impl IntoIterator<Item = &'a [u32]>,
    ) -> Result<Sparse, FeaturesError> {
        let mut sparse = Sparse::empty(width)?;
        rows.into_iter().try_for_each(|row| sparse.push(row))?;
        Ok(sparse)
    }

    fn empty(width: usize) -> Result<Sparse, FeaturesError> {
        match width {
            0 => Err(FeaturesError::NoWidth),
            _ => Ok(Sparse { width, starts: vec![0], columns: Vec::new(), values: None, absent: Vec::new() }),
        }
    }

    /// The same where absent cells have these values, one for each column, and stored cells are what they were.
    ///
    /// # Errors
    /// Another number of values than of columns, a value that is not finite.
    pub fn with_absent(mut self, absent: Vec<f64>) -> Result<Sparse, FeaturesError> {
        let (width, found) = (self.width, absent.len());
        if width != found {
            return Err(FeaturesError::Length { rows: 1, width, found });
        }
        if let Some(feature) = absent.iter().position(|value| !value.is_finite()) {
            return Err(FeaturesError::NotFinite { row: 0, feature, value: absent[feature] });
        }
        if absent.iter().any(|&value| value != 0.0) {
            let mut values = self.values.unwrap_or_else(|| vec![1.0; self.columns.len()]);
            values.iter_mut().zip(&self.columns).for_each(|(value, &at)| *value -= absent[at as usize]);
            (self.values, self.absent) = (Some(values), absent);
        }
        Ok(self)
    }

    /// A matrix of cells in any order: `each_cell` calls a function with the row and the column of each, and by how much
    /// it is above the absent ones, and does so twice.
    pub(super) fn by_column(
        rows: usize,
        absent: Vec<f64>,
        each_cell: EachCell,
    ) -> Result<Sparse, FeaturesError> {
        let mut sparse = Sparse::empty(absent.len())?;
        let (mut starts, mut wrong) = (vec![0; rows + 1], None);
        each_cell(&mut |row, column, value| {
            starts[row + 1] += 1;
            if !value.is_finite() {
                wrong = Some(FeaturesError::NotFinite { row, feature: column as usize, value });
            }
        });
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        (0..rows).for_each(|row| starts[row + 1] += starts[row]);
        let (mut next, stored) = (starts.clone(), starts[rows]);
        let mut values = vec![0.0; stored];
        sparse.columns = vec![0; stored];
        each_cell(&mut |row, column, value| {
            (sparse.columns[next[row]], values[next[row]]) = (column, value);
            next[row] += 1;
        });
        let absent = if absent.iter().any(|&value| value != 0.0) { absent } else { Vec::new() };
        Ok(Sparse { starts, values: Some(values), absent, ..sparse })
    }

    /// Both side by side, which have the same rows.
    pub(super) fn beside(&self, right: &Sparse) -> Sparse {
        let is_plain = self.values.is_none() && right.values.is_none();
        let mut both = Sparse {
            width: self.width + right.width,
            starts: vec![0],
            columns: Vec::with_capacity(self.columns.len() + right.columns.len()),
            values: (!is_plain).then(Vec::new),
            absent: Vec::new(),
        };
        for row in 0..self.rows() {
            both.columns.extend_from_slice(self.row(row));
            both.columns.extend(right.row(row).iter().map(|&column| column + self.width as u32));
            if let Some(values) = &mut both.values {
                values.extend(self.cells(row).chain(right.cells(row)).map(|(_, value)| value));
            }
            both.starts.push(both.columns.len());
        }
        if !self.absent.is_empty() || !right.absent.is_empty() {
            both.absent = (0..self.width).map(|at| self.absent(at)).collect();
            both.absent.extend((0..right.width).map(|at| right.absent(at)));
        }
        both
    }

    /// Some rows, in the order named.
    pub(super) fn select(&self, rows: &[u32]) -> Sparse {
        let mut some = Sparse {
            starts: vec![0],
            columns: Vec::new(),
            values: self.values.as_ref().map(|_| Vec::new()),
            absent: self.absent.clone(),
            width: self.width,
        };
        for &row in rows {
            let stored = self.starts[row as usize]..self.starts[row as usize + 1];
            some.columns.extend_from_slice(&self.columns[stored.clone()]);
            if let (Some(some), Some(values)) = (&mut some.values, &self.values) {
                some.extend_from_slice(&values[stored]);
            }
            some.starts.push(some.columns.len());
        }
        some
    }

    /// Adds a row.
    fn push(&mut self, row: &[u32]) -> Result<(), FeaturesError> {
        if let Some(&column) = row.iter().find(|&&column| column as usize >= self.width) {
            return Err(FeaturesError::Beyond { row: self.rows(), column, width: self.width });
        }
        self.columns.extend_from_slice(row);
        self.starts.push(self.columns.len());
        Ok(())
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The columns of the stored cells of one row.
    pub fn row(&self, row: usize) -> &[u32] {
        &self.columns[self.starts[row]..self.starts[row + 1]]
    }

    /// The stored cells of one row: each column, and by how much its cell is above the absent ones.
    pub(super) fn cells(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let stored = self.starts[row]..self.starts[row + 1];
        let value = |at: usize| self.values.as_ref().map_or(1.0, |values| values[at]);
        stored.map(move |at| (self.columns[at] as usize, value(at)))
    }

    /// The stored cells of each column: the row, and by how much it is above the absent ones.
    pub(crate) fn by_columns(&self) -> Vec<Vec<(u32, f64)>> {
        let mut columns = vec![Vec::new(); self.width];
        for row in 0..self.rows() {
            self.cells(row).for_each(|(column, value)| columns[column].push((row as u32, value)));
        }
        columns
    }

    /// What an absent cell of a column is.
    fn absent(&self, column: usize) -> f64 {
        self.absent.get(column).copied().unwrap_or(0.0)
    }

    /// What the absent cells are, column by column; nothing if all are 0.
    pub(super) fn absents(&self) -> &[f64] {
        &self.absent
    }

    /// The cells of one row, stored or not.
    pub fn dense_row(&self, row: usize) -> Vec<f64> {
        let mut cells: Vec<f64> = (0..self.width).map(|column| self.absent(column)).collect();
        self.cells(row).for_each(|(column, value)| cells[column] += value);
        cells
    }

    /// Whether all stored cells are 1 and all others 0, as those of words are.
    pub(super) fn is_of_ones(&self) -> bool {
        self.values.is_none() && self.absent.is_empty()
    }

    /// Numbers that change with anything in the matrix.
    pub(crate) fn bits(&self) -> impl Iterator<Item = u64> {
        let values = self.values.iter().flatten().chain(&self.absent).map(|value| value.to_bits());
        let columns = self.columns.iter().map(|&column| u64::from(column));
        self.starts.iter().map(|&start| start as u64).chain(columns).chain(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_beside_each_other_keep_their_cells() {
        let left = Sparse::of_ones(2, [&[1][..], &[]]).unwrap();
        let right = Sparse::new(2, [vec![], vec![(0, 3.0)]]).unwrap().with_absent(vec![-1.0, 0.0]).unwrap();
        let both = left.beside(&right);
        assert_eq!(both.dense_row(0), [0.0, 1.0, -1.0, 0.0]);
        assert_eq!(both.dense_row(1), [0.0, 0.0, 3.0, 0.0]);
        assert_eq!(both.select(&[1]).dense_row(0), [0.0, 0.0, 3.0, 0.0]);
        assert!(left.beside(&left).is_of_ones() && !both.is_of_ones());
    }

    #[test]
    fn cells_that_can_not_be_are_refused() {
        assert_eq!(Sparse::new(0, []), Err(FeaturesError::NoWidth));
        let beyond = FeaturesError::Beyond { row: 1, column: 2, width: 2 };
        assert_eq!(Sparse::new(2, [vec![], vec![(2, 1.0)]]), Err(beyond));
        assert!(Sparse::new(2, [vec![(1, f64::NAN)]]).is_err());
        assert!(Sparse::new(2, []).unwrap().with_absent(vec![0.0]).is_err());
        assert!(Sparse::new(1, []).unwrap().with_absent(vec![f64::INFINITY]).is_err());
    }
}
