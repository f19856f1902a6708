//! A data set in memory: features as columns, and what is to be ranked, compared and predicted.

use pairity::examples::{Column, Columns, Examples, ExamplesError, Groups, Values};
use pairity::run::Rows;

/// The rows of an experiment.
///
/// ```
/// use pairity_experiments::simulated::Simulated;
///
/// let data = Simulated::draw(40, 7).dataset("simulated");
/// assert_eq!(data.rows(), 440);
/// let first = data.select(&(0..220).collect::<Vec<u32>>());
/// assert_eq!(first.examples()?.queries(), 20);
/// # Ok::<(), pairity::examples::ExamplesError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dataset {
    /// What it is called.
    pub name: String,
    /// The features, missing where the source lacks them; an encoder learned on the training rows makes
    /// numbers of them.
    pub columns: Vec<Column>,
    /// Whether the encoder should bring numbers to mean 0 and deviation 1.
    pub standardize: bool,
    /// Higher labels should score higher.
    pub labels: Vec<f64>,
    /// The group of each row, with the groups in the order of the paper's tables.
    pub groups: Option<Groups>,
    /// A continuous protected attribute.
    pub protected: Option<Vec<f64>>,
    /// The query of each row; without queries every pair of rows counts.
    pub queries: Option<Vec<u32>>,
    /// A text of each row, for text models.
    pub texts: Option<Vec<String>>,
    /// Whether the rows were generated.
    pub synthetic: bool,
    /// Whether the rows are a sample of the data set.
    pub sample: bool,
    /// What a reader of results should know: rows left out, oddities of the source.
    pub notes: Vec<String>,
}

impl Dataset {
    /// Labels alone, which is where loaders start.
    pub(crate) fn new(name: &str, labels: Vec<f64>) -> Dataset {
        Dataset { name: name.to_owned(), labels, ..Dataset::default() }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// The rows as the engine compares them.
    ///
    /// # Errors
    /// Columns that contradict each other, which those of a loader don't.
    pub fn examples(&self) -> Result<Examples, ExamplesError> {
        Examples::new(Columns {
            labels: Some(&self.labels),
            groups: self.groups.as_ref(),
            protected: self.protected.as_deref(),
            queries: self.queries.as_deref(),
            ..Columns::default()
        })
    }

    /// The rows as a training run takes them.
    ///
    /// # Errors
    /// Those of [`examples`](Self::examples).
    pub fn training_rows(&self) -> Result<Rows, ExamplesError> {
        let mut rows = Rows::new(self.examples()?, self.columns.clone());
        rows.group_columns = self.groups.iter().map(|_| "group".to_owned()).collect();
        rows.text = self.texts.clone().map(|levels| Column {
            name: "text".to_owned(),
            values: Values::Categories { codes: (0..levels.len() as u32).collect(), levels },
        });
        Ok(rows)
    }

    /// Some of the rows, in the order named. Rows beyond the last are left out.
    pub fn select(&self, rows: &[u32]) -> Dataset {
        let rows: Vec<u32> = rows.iter().copied().filter(|&row| (row as usize) < self.rows()).collect();
        Dataset {
            name: self.name.clone(),
            columns: self.columns.iter().map(|column| select_column(column, &rows)).collect(),
            labels: pick(&self.labels, &rows),
            groups: self.groups.as_ref().map(|groups| groups.select(&rows)),
            protected: self.protected.as_ref().map(|values| pick(values, &rows)),
            queries: self.queries.as_ref().map(|queries| pick(queries, &rows)),
            texts: self.texts.as_ref().map(|texts| pick(texts, &rows)),
            notes: self.notes.clone(),
            ..*self
        }
    }
}

/// Some rows of a column; a column of categories keeps all its levels.
fn select_column(column: &Column, rows: &[u32]) -> Column {
    let values = match &column.values {
        Values::Numbers(numbers) => Values::Numbers(pick(numbers, rows)),
        Values::Singles(numbers) => Values::Singles(pick(numbers, rows)),
        Values::Sparse(numbers) => Values::Sparse(numbers.select(rows)),
        Values::Categories { codes, levels } => {
            Values::Categories { codes: pick(codes, rows), levels: levels.clone() }
        }
    };
    Column { name: column.name.clone(), values }
}

/// Columns of numbers, named `x1`, `x2` and so on.
pub(crate) fn numbered(columns: Vec<Vec<f64>>) -> Vec<Column> {
    let column =
        |(at, numbers): (usize, _)| Column { name: format!("x{at}"), values: Values::Numbers(numbers) };
    (1..).zip(columns).map(column).collect()
}

/// Groups of these names, by their codes.
pub(crate) fn groups_of(names: [&str; 2], codes: Vec<u32>) -> Option<Groups> {
    Some(Groups::in_order(names.map(str::to_owned).to_vec(), codes))
}

fn pick<T: Clone>(values: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().filter_map(|&row| values.get(row as usize).cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pairity::examples::MISSING;

    #[test]
    fn rows_are_selected_from_every_column_alike() {
        let column = |name: &str, values| Column { name: name.to_owned(), values };
        let all = Dataset {
            columns: vec![
                column("number", Values::Numbers(vec![0.5, 1.5, 2.5])),
                column(
                    "color",
                    Values::Categories {
                        codes: vec![1, MISSING, 0],
                        levels: vec!["red".into(), "blue".into()],
                    },
                ),
            ],
            groups: Some(Groups::in_order(vec!["m".into(), "f".into()], vec![0, 1, 1])),
            queries: Some(vec![7, 8, 9]),
            texts: Some(["a", "b", "c"].map(String::from).to_vec()),
            notes: vec!["a note".into()],
            ..Dataset::new("made", vec![0.0, 1.0, 2.0])
        };
        let some = all.select(&[2, 0, 3]);
        assert_eq!(some.labels, [2.0, 0.0]);
        assert_eq!(some.columns[0].numbers(), Some(&[2.5, 0.5][..]));
        assert_eq!(some.columns[1].categories().map(|(codes, _)| codes), Some(&[0, 1][..]));
        assert_eq!(some.columns[1].categories().map(|(_, levels)| levels.len()), Some(2));
        let groups = some.groups.as_ref().unwrap();
        assert_eq!((groups.names(), groups.code(0)), (&["m".to_owned(), "f".to_owned()][..], Some(1)));
        assert_eq!(some.queries, Some(vec![9, 7]));
        assert_eq!(some.texts, Some(vec!["c".to_owned(), "a".to_owned()]));
        assert_eq!((some.protected, some.notes), (None, all.notes));
    }

    #[test]
    fn a_continuous_attribute_reaches_the_examples() {
        let data = Dataset { protected: Some(vec![0.1, 0.2]), ..Dataset::new("made", vec![0.0, 1.0]) };
        let examples = data.examples().unwrap();
        assert!(examples.is_continuous() && !examples.has_queries() && examples.has_labels());
    }
}
