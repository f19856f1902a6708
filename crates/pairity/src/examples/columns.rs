//! Columns in memory: numbers or categories, under a name; and groups, which are a categorical protected attribute, or
//! the intersection of several.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::Hash;

/// The code of a missing cell in a column of categories.
pub const MISSING: u32 = u32::MAX;

/// The cells of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// One number a row; NaN where the cell is missing, finite everywhere else.
    Numbers(Vec<f64>),
    /// The same in single precision, in half of the room. Features alone are kept so.
    Singles(Vec<f32>),
    /// The same of which most are 0: only the others are stored. Features alone are kept so.
    Sparse(SparseNumbers),
    /// One of a list of texts a row.
    Categories {
        /// A position in `levels` for each row, or [`MISSING`].
        codes: Vec<u32>,
        /// The different texts, in order of first appearance.
        levels: Vec<String>,
    },
}

impl Values {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Values::Numbers(numbers) => numbers.len(),
            Values::Singles(numbers) => numbers.len(),
            Values::Sparse(sparse) => sparse.rows,
            Values::Categories { codes, .. } => codes.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Numbers of which most are 0.
///
/// ```
/// use pairity::examples::SparseNumbers;
///
/// let sparse: SparseNumbers = [0.0, 2.5, 0.0, f64::NAN].into_iter().collect();
/// assert_eq!((sparse.rows(), sparse.stored()), (4, 2));
/// assert_eq!(sparse.select(&[1, 0, 1]).to_dense(), [2.5, 0.0, 2.5]);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SparseNumbers {
    rows: usize,
    /// The rows of those that are not 0, upward.
    at: Vec<u32>,
    numbers: Vec<f64>,
}

impl SparseNumbers {
    /// Adds a row.
    pub fn push(&mut self, number: f64) {
        if number != 0.0 {
            self.at.push(self.rows as u32);
            self.numbers.push(number);
        }
        self.rows += 1;
    }

    /// Adds rows of 0 up to a number of rows.
    pub fn fill(&mut self, rows: usize) {
        self.rows = rows.max(self.rows);
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of rows that are not 0.
    pub fn stored(&self) -> usize {
        self.at.len()
    }

    /// The rows that are not 0, upward, with their numbers; NaN where one is missing.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> + Clone {
        self.at.iter().zip(&self.numbers).map(|(&row, &number)| (row as usize, number))
    }

    /// The number of a row.
    pub fn get(&self, row: usize) -> f64 {
        self.at.binary_search(&(row as u32)).map_or(0.0, |at| self.numbers[at])
    }

    /// Some rows, in the order named.
    pub fn select(&self, rows: &[u32]) -> SparseNumbers {
        rows.iter().map(|&row| self.get(row as usize)).collect()
    }

    /// All numbers, one by one.
    pub fn to_dense(&self) -> Vec<f64> {
        let mut all = vec![0.0; self.rows];
        self.iter().for_each(|(row, number)| all[row] = number);
        all
    }
}

impl FromIterator<f64> for SparseNumbers {
    fn from_iter<I: IntoIterator<Item = f64>>(numbers: I) -> SparseNumbers {
        let mut sparse = SparseNumbers::default();
        numbers.into_iter().for_each(|number| sparse.push(number));
        sparse
    }
}

/// A named column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name in the header.
    pub name: String,
    /// The cells.
    pub values: Values,
}

impl Column {
    /// The numbers, if they are stored one by one.
    pub fn numbers(&self) -> Option<&[f64]> {
        match &self.values {
            Values::Numbers(numbers) => Some(numbers),
            Values::Singles(_) | Values::Sparse(_) | Values::Categories { .. } => None,
        }
    }

    /// Leaves some of the rows, in the order named.
    pub fn select(&mut self, rows: &[u32]) {
        fn pick<T: Copy>(values: &mut Vec<T>, rows: &[u32]) {
            *values = rows.iter().map(|&row| values[row as usize]).collect();
        }
        match &mut self.values {
            Values::Numbers(numbers) => pick(numbers, rows),
            Values::Singles(numbers) => pick(numbers, rows),
            Values::Sparse(sparse) => *sparse = sparse.select(rows),
            Values::Categories { codes, .. } => pick(codes, rows),
        }
    }

    /// Stores numbers in single precision, if none loses anything by it; whether they are stored so now.
    ///
    /// ```
    /// use pairity::examples::{Column, Values};
    ///
    /// let mut column = Column { name: "age".into(), values: Values::Numbers(vec![41.5, f64::NAN]) };
    /// assert!(column.make_single());
    /// let mut column = Column { name: "share".into(), values: Values::Numbers(vec![0.1]) };
    /// assert!(!column.make_single());
    /// ```
    pub fn make_single(&mut self) -> bool {
        if let Values::Numbers(numbers) = &self.values
            && is_single(numbers)
        {
            self.values = Values::Singles(numbers.iter().map(|&number| number as f32).collect());
        }
        matches!(self.values, Values::Singles(_))
    }

    /// Stores numbers one by one.
    pub fn make_dense(&mut self) {
        if let Values::Sparse(sparse) = &self.values {
            self.values = Values::Numbers(sparse.to_dense());
        }
    }

    /// The codes and the levels, unless the column holds numbers.
    pub fn categories(&self) -> Option<(&[u32], &[String])> {
        match &self.values {
            Values::Numbers(_) | Values::Singles(_) | Values::Sparse(_) => None,
            Values::Categories { codes, levels } => Some((codes, levels)),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the cell of a row is missing.
    pub fn is_missing(&self, row: usize) -> bool {
        match &self.values {
            Values::Numbers(numbers) => numbers.get(row).is_some_and(|number| number.is_nan()),
            Values::Singles(numbers) => numbers.get(row).is_some_and(|number| number.is_nan()),
            Values::Sparse(sparse) => sparse.get(row).is_nan(),
            Values::Categories { codes, .. } => codes.get(row) == Some(&MISSING),
        }
    }
}

/// Whether no number loses anything in single precision.
pub(crate) fn is_single(numbers: &[f64]) -> bool {
    numbers.iter().all(|&number| number.is_nan() || f64::from(number as f32) == number)
}

/// Codes and levels of categories.
pub type Categories<'a> = (Cow<'a, [u32]>, Cow<'a, [String]>);

/// The combinations of some columns of categories, named `a & b`, in order of first appearance; a row that lacks one of
/// them has none. One column is what it was; there is none of none.
///
/// ```
/// use pairity::examples::{MISSING, cross};
/// let (days, jobs) = (["mon".to_owned(), "tue".to_owned()], ["cook".to_owned()]);
/// let (codes, names) = cross(&[(&[1, 0, 1, 0], &days), (&[0, 0, 0, MISSING], &jobs)]).unwrap();
/// assert_eq!(codes[..], [0, 1, 0, MISSING]);
/// assert_eq!(names[..], ["tue & cook", "mon & cook"]);
/// ```
pub fn cross<'a>(columns: &[(&'a [u32], &'a [String])]) -> Option<Categories<'a>> {
    let (&(codes, levels), others) = columns.split_first()?;
    let mut all = (Cow::Borrowed(codes), Cow::Borrowed(levels));
    for &(codes, levels) in others {
        let (mut names, mut seen) = (Vec::new(), HashMap::new());
        let combined = all.0.iter().zip(codes).map(|(&a, &b)| {
            let (Some(first), Some(second)) = (all.1.get(a as usize), levels.get(b as usize)) else {
                return MISSING;
            };
            *seen.entry((a, b)).or_insert_with(|| {
                names.push(format!("{first} & {second}"));
                names.len() as u32 - 1
            })
        });
        all = (Cow::Owned(combined.collect()), Cow::Owned(names));
    }
    Some(all)
}

/// The code of a row that belongs to no group.
pub const NO_GROUP: u32 = u32::MAX;

/// The most groups that examples may have.
pub const MAX_GROUPS: usize = 200;

/// The group of each row. Names are sorted, by value where all are numbers, unless their order was given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Groups {
    names: Vec<String>,
    codes: Vec<u32>,
}

impl Groups {
    /// Groups from one name a row; an empty name means that the row belongs to no group.
    ///
    /// ```
    /// use pairity::examples::Groups;
    /// let groups = Groups::from_names(&["m", "f", "", "f"]);
    /// assert_eq!(groups.names(), ["f", "m"]);
    /// assert_eq!(groups.code(0), Some(1));
    /// assert_eq!(groups.code(2), None);
    /// ```
    pub fn from_names<S: AsRef<str>>(names: &[S]) -> Groups {
        let known = names.iter().map(|name| Some(name.as_ref()).filter(|name| !name.is_empty()));
        Groups::coded(known, |name: &&str| name.to_string())
    }

    /// Groups from one key a row, or none, and the name of each key that occurs.
    fn coded<K: Eq + Hash>(keys: impl Iterator<Item = Option<K>>, name: impl Fn(&K) -> String) -> Groups {
        let (mut names, mut seen) = (Vec::new(), HashMap::new());
        let mut code = |key: K| {
            *seen.entry(key).or_insert_with_key(|key| {
                names.push(name(key));
                names.len() as u32 - 1
            })
        };
        let codes = keys.map(|key| key.map_or(NO_GROUP, &mut code)).collect();
        Groups::from_codes(names, codes)
    }

    /// Groups from codes into a list of names; a code beyond the list means no group. Names that no row
    /// has are dropped.
    pub fn from_codes(names: Vec<String>, codes: Vec<u32>) -> Groups {
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_by(|&a, &b| compare_names(&names[a], &names[b]));
        Groups::arrange(&names, &codes, order)
    }

    /// The same with the names in the order of the list, such as that of a published table.
    ///
    /// ```
    /// use pairity::examples::Groups;
    /// let groups = Groups::in_order(vec!["male".into(), "female".into()], vec![1, 0, 1]);
    /// assert_eq!(groups.names(), ["male", "female"]);
    /// assert_eq!(groups.select(&[2, 1]).names(), ["male", "female"]);
    /// ```
    pub fn in_order(names: Vec<String>, codes: Vec<u32>) -> Groups {
        let order = (0..names.len()).collect();
        Groups::arrange(&names, &codes, order)
    }

    /// Groups in a given order of the names, without those that no row has.
    fn arrange(names: &[String], codes: &[u32], mut order: Vec<usize>) -> Groups {
        let mut used = vec![false; names.len()];
        for &code in codes.iter().filter(|&&code| (code as usize) < names.len()) {
            used[code as usize] = true;
        }
        order.retain(|&i| used[i]);
        let mut place = vec![NO_GROUP; names.len()];
        order.iter().zip(0..).for_each(|(&old, new)| place[old] = new);
        let codes = codes.iter().map(|&c| place.get(c as usize).copied().unwrap_or(NO_GROUP)).collect();
        Groups { names: order.into_iter().map(|i| names[i].clone()).collect(), codes }
    }

    /// The intersection of two attributes, named `a & b`. A row must belong to a group of both.
    pub fn intersect(&self, other: &Groups) -> Groups {
        // Two columns of identifiers have more intersections than can be held: only those that occur count.
        let both = |(&a, &b): (&u32, &u32)| (a != NO_GROUP && b != NO_GROUP).then_some((a, b));
        let keys = self.codes.iter().zip(&other.codes).map(both);
        Groups::coded(keys, |&(a, b)| format!("{} & {}", self.names[a as usize], other.names[b as usize]))
    }

    /// The names of the groups.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The group of a row, by its index among the names.
    pub fn code(&self, row: usize) -> Option<usize> {
        self.codes.get(row).filter(|&&code| code != NO_GROUP).map(|&code| code as usize)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// Groups that keep their names, whichever rows there are; a code beyond the list means no group.
    pub(super) fn keeping(names: Vec<String>, codes: Vec<u32>) -> Groups {
        let known = |code: u32| if (code as usize) < names.len() { code } else { NO_GROUP };
        Groups { codes: codes.into_iter().map(known).collect(), names }
    }

    /// The same groups for some of the rows.
    pub fn select(&self, rows: &[u32]) -> Groups {
        let codes = rows.iter().map(|&r| self.codes.get(r as usize).copied().unwrap_or(NO_GROUP)).collect();
        Groups::in_order(self.names.clone(), codes)
    }
}

/// Numbers by value and before words, words by their letters.
pub(crate) fn compare_names(a: &str, b: &str) -> Ordering {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(x), Ok(y)) => x.total_cmp(&y).then_with(|| a.cmp(b)),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => a.cmp(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_sort_by_value() {
        assert_eq!(Groups::from_names(&["10", "9", "x", "-1"]).names(), ["-1", "9", "10", "x"]);
    }

    #[test]
    fn a_given_order_is_kept_and_names_that_no_row_has_are_dropped() {
        let names = ["b", "x", "a", "c"].map(String::from).to_vec();
        let groups = Groups::in_order(names.clone(), vec![2, 0, 9, 3]);
        assert_eq!(groups.names(), ["b", "a", "c"]);
        assert_eq!([0, 1, 2, 3].map(|row| groups.code(row)), [Some(1), Some(0), None, Some(2)]);
        let some = groups.select(&[3, 1]);
        assert_eq!((some.names(), some.code(0)), (&["b".to_owned(), "c".to_owned()][..], Some(1)));
        assert_eq!(Groups::from_codes(names, vec![2, 0, 9, 3]).names(), ["a", "b", "c"]);
    }

    #[test]
    fn an_intersection_needs_both_attributes_and_keeps_only_groups_that_occur() {
        let sex = Groups::from_names(&["f", "m", "f", ""]);
        let age = Groups::from_names(&["old", "old", "", "young"]);
        let both = sex.intersect(&age);
        assert_eq!(both.names(), ["f & old", "m & old"]);
        assert_eq!([0, 1, 2, 3].map(|r| both.code(r)), [Some(0), Some(1), None, None]);
    }
}
