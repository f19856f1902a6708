//! A table in memory: columns, and which file each row came from.

use std::collections::{HashMap, HashSet};

use pairity::examples::{Column, Values};

/// The columns that were read, all of the same length.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub(crate) rows: usize,
    pub(crate) columns: Vec<Column>,
    pub(crate) skipped: Vec<String>,
    pub(crate) warnings: Vec<String>,
    /// Name and number of rows of each file, in order.
    pub(crate) files: Vec<(String, usize)>,
    /// The numbers that the rows had when they were read, if some were left out since.
    pub(crate) kept: Option<Vec<u32>>,
}

impl Table {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns, in the order they were asked for, or in the order of the file if all were.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column of a name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Moves a column out of the table.
    pub fn take(&mut self, name: &str) -> Option<Column> {
        let at = self.columns.iter().position(|column| column.name == name)?;
        Some(self.columns.remove(at))
    }

    /// Moves columns out of the table, in the order named; a name that is given again gets a copy.
    pub fn take_all(&mut self, names: &[String]) -> Vec<Column> {
        let places: HashMap<String, usize> =
            self.columns.iter().enumerate().rev().map(|(at, column)| (column.name.clone(), at)).collect();
        let mut left: HashMap<&str, usize> = HashMap::new();
        names.iter().for_each(|name| *left.entry(name).or_default() += 1);
        let none = || Column { name: String::new(), values: Values::Numbers(Vec::new()) };
        let mut taken = Vec::with_capacity(names.len());
        for name in names {
            let (Some(&at), Some(left)) = (places.get(name), left.get_mut(name.as_str())) else { continue };
            *left -= 1;
            taken.push(match *left {
                0 => std::mem::replace(&mut self.columns[at], none()),
                _ => self.columns[at].clone(),
            });
        }
        let mut at = 0..;
        let gone: HashSet<usize> = names.iter().filter_map(|name| places.get(name).copied()).collect();
        self.columns.retain(|_| at.next().is_none_or(|at| !gone.contains(&at)));
        taken
    }

    /// Leaves only some of the rows, which still know where they came from.
    pub fn keep(&mut self, rows: &[u32]) {
        self.columns.iter_mut().for_each(|column| column.select(rows));
        self.kept = Some(rows.iter().map(|&row| self.number(row as usize) as u32).collect());
        self.rows = rows.len();
    }

    /// The number that a row had when it was read.
    pub fn number(&self, row: usize) -> usize {
        self.kept.as_ref().and_then(|kept| kept.get(row)).map_or(row, |&row| row as usize)
    }

    /// The columns alone.
    pub fn into_columns(self) -> Vec<Column> {
        self.columns
    }

    /// The columns left out of a selection of all, because their cells are neither numbers nor text
    /// (lists, structs or bytes in a Parquet file), or are texts of several columns of one name.
    pub fn skipped(&self) -> &[String] {
        &self.skipped
    }

    /// What is odd about the table, and does not matter: columns of one name that hold the same.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Name and number of rows of each file, in order.
    pub fn files(&self) -> &[(String, usize)] {
        &self.files
    }

    /// Where a row (counted from 0) came from, such as `people.csv, data row 12` for row 11;
    /// [`Source::locate`](super::Source::locate) knows its line.
    pub fn locate(&self, row: usize) -> String {
        match self.place(row) {
            Some((file, within)) => format!("{}, data row {}", self.files[file].0, within + 1),
            None => format!("row {} (the table ends at row {})", row + 1, self.rows),
        }
    }

    /// The file that a row came from, and which of its rows it was.
    pub(crate) fn place(&self, row: usize) -> Option<(usize, usize)> {
        let mut within = self.number(row);
        for (at, (_, rows)) in self.files.iter().enumerate() {
            if within < *rows {
                return Some((at, within));
            }
            within -= rows;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let column = |name: &str, value: f64| Column {
            name: name.to_owned(),
            values: Values::Numbers(vec![value, f64::NAN, value]),
        };
        Table {
            rows: 3,
            columns: vec![column("a", 1.0), column("b", 2.0)],
            skipped: Vec::new(),
            warnings: Vec::new(),
            files: vec![("x.csv".into(), 2), ("empty.csv".into(), 0), ("y.csv".into(), 1)],
            kept: None,
        }
    }

    #[test]
    fn columns_are_taken_in_the_order_named_and_copied_where_they_are_named_again() {
        let mut table = table();
        let taken = table.take_all(&["b", "x", "a", "b"].map(String::from));
        let names: Vec<&str> = taken.iter().map(|column| column.name.as_str()).collect();
        assert_eq!((names, table.columns().len()), (vec!["b", "a", "b"], 0));
        assert_eq!(taken[0].numbers().map(|numbers| numbers[0]), Some(2.0));
        let mut table = self::table();
        assert_eq!(table.take_all(&["b".to_owned()]).len(), 1);
        assert_eq!(table.columns()[0].name, "a");
    }

    #[test]
    fn a_row_is_located_in_its_own_file() {
        let table = table();
        assert_eq!(table.locate(0), "x.csv, data row 1");
        assert_eq!(table.locate(1), "x.csv, data row 2");
        assert_eq!(table.locate(2), "y.csv, data row 1");
        assert_eq!(table.locate(3), "row 4 (the table ends at row 3)");
    }

    #[test]
    fn a_kept_row_is_located_where_it_was_read() {
        let mut table = table();
        table.keep(&[0, 2]);
        table.keep(&[1]);
        assert_eq!((table.rows(), table.locate(0)), (1, "y.csv, data row 1".to_owned()));
        assert_eq!(table.column("b").and_then(Column::numbers), Some(&[2.0][..]));
    }

    #[test]
    fn a_column_can_be_taken_once() {
        let mut table = table();
        assert_eq!(table.take("a").map(|column| column.name), Some("a".to_owned()));
        assert_eq!(table.take("a"), None);
        assert!(table.column("b").is_some_and(|column| column.is_missing(1) && !column.is_missing(0)));
    }
}
