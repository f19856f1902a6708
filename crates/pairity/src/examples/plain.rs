//! Rows of tables without queries, one by one: what is kept of a table that is larger than memory.
//!
//! A row is a *record* of words, the first of which is its score in an order of whole numbers: sorted records are rows
//! in the order of their scores. Rows that agree are joined into one record with their number.

use super::order::score_key;
use super::{Attribute, Columns, Examples, ExamplesError, LabelOrder, PairWeight, check, check_column};

/// Words of a record.
pub const RECORD: usize = 5;

/// The words of a row, with how often it is there.
pub type RowRecord = [u64; RECORD];

/// Bits of the number of rows of a record, beside those of the group.
const COUNT: u32 = 48;

/// What the pairs of a row depend on, in a table without queries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlainRow {
    /// Not −0.
    pub score: f64,
    /// Not −0; 0 without labels.
    pub label: f64,
    /// The number of its group; or its value of a continuous attribute, NaN for none.
    pub attribute: f64,
    /// Above 0.
    pub weight: f64,
    /// The weight times the pair-weight column.
    pub factor: f64,
}

impl PlainRow {
    /// As a record. Rows are counted unless the attribute is continuous.
    pub(crate) fn record(&self, continuous: bool) -> RowRecord {
        let attribute =
            if continuous { self.attribute.to_bits() } else { (self.attribute as u64) << COUNT | 1 };
        let [label, weight, factor] = [self.label, self.weight, self.factor].map(f64::to_bits);
        [score_key(self.score), label, attribute, weight, factor]
    }

    /// A row of a record, and how many are like it.
    pub(crate) fn of_record(record: &RowRecord, continuous: bool) -> (PlainRow, u64) {
        let [key, label, attribute, weight, factor] = *record;
        let score = f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key });
        let (attribute, count) = match continuous {
            true => (f64::from_bits(attribute), 1),
            false => ((attribute >> COUNT) as f64, attribute & ((1 << COUNT) - 1)),
        };
        let [label, weight, factor] = [label, weight, factor].map(f64::from_bits);
        (PlainRow { score, label, attribute, weight, factor }, count)
    }

    /// The rows of some columns without queries, in their order, without those of weight 0. The number of a group is
    /// what `code` makes of the one that it has in these columns.
    pub(crate) fn of_columns(
        columns: &Columns,
        scores: &[f64],
        code: impl Fn(Option<usize>) -> usize,
    ) -> Result<Vec<PlainRow>, ExamplesError> {
        let rows = check(columns)?;
        check_column("scores", Some(scores), rows, f64::is_finite)?;
        let row = |row: usize| {
            let weight = columns.weights.map_or(1.0, |weights| weights[row]);
            let attribute = match (columns.groups, columns.protected) {
                (Some(groups), _) => code(groups.code(row)) as f64,
                (None, Some(values)) => values[row],
                (None, None) => 0.0,
            };
            PlainRow {
                // Both zeros are equal.
                score: scores[row] + 0.0,
                label: columns.labels.map_or(0.0, |labels| labels[row] + 0.0),
                attribute,
                weight,
                factor: match columns.pair_weight {
                    PairWeight::Product(values) => weight * values[row],
                    _ => weight,
                },
            }
        };
        Ok((0..rows).map(row).filter(|row| row.weight > 0.0).collect())
    }
}

/// Joins a record to another one if their rows are alike. Not for those of a continuous attribute, which are not
/// counted.
pub fn join_records(to: &mut RowRecord, other: &RowRecord) -> bool {
    let alike = to[..2] == other[..2] && to[2] >> COUNT == other[2] >> COUNT && to[3..] == other[3..];
    if alike {
        to[2] += other[2] & ((1 << COUNT) - 1);
    }
    alike
}

impl Examples {
    /// Rows without queries as examples, in the same order. They belong to these groups, or have a continuous
    /// attribute, or neither.
    pub(crate) fn of_rows(
        rows: &[PlainRow],
        groups: Option<&[String]>,
        [labels, continuous, label_gap, weighted]: [bool; 4],
    ) -> Examples {
        let column = |value: fn(&PlainRow) -> f64| rows.iter().map(value).collect::<Vec<f64>>();
        let labels = labels.then(|| column(|row| row.label));
        let starts = vec![0, rows.len() as u32];
        Examples {
            rows: rows.len(),
            row: (0..rows.len() as u32).collect(),
            label_order: LabelOrder::new(labels.as_deref(), &starts, 0),
            starts,
            first_blocks: Vec::new(),
            has_queries: false,
            labels,
            attribute: match (groups, continuous) {
                (Some(names), _) => {
                    let codes = rows.iter().map(|row| row.attribute as u16).collect();
                    Attribute::Groups { names: names.to_vec(), codes }
                }
                (None, true) => Attribute::Continuous(column(|row| row.attribute)),
                (None, false) => Attribute::None,
            },
            weights: weighted.then(|| column(|row| row.weight)),
            rescaled: false,
            factors: weighted.then(|| column(|row| row.factor)),
            label_gap,
            side: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(score: f64, attribute: f64) -> PlainRow {
        PlainRow { score, label: -2.5, attribute, weight: 0.25, factor: 0.5 }
    }

    proptest! {
        #[test]
        fn records_keep_rows_and_their_order(a in prop::num::f64::NORMAL, b in prop::num::f64::NORMAL) {
            prop_assert_eq!(a.total_cmp(&b), row(a, 1.0).record(false)[0].cmp(&row(b, 1.0).record(false)[0]));
            prop_assert_eq!(PlainRow::of_record(&row(a, 7.0).record(false), false), (row(a, 7.0), 1));
            prop_assert_eq!(PlainRow::of_record(&row(a, b).record(true), true), (row(a, b), 1));
        }
    }

    #[test]
    fn rows_that_are_alike_are_counted() {
        let mut all = row(1.0, 3.0).record(false);
        assert!(join_records(&mut all, &row(1.0, 3.0).record(false)));
        let two = all;
        assert!(join_records(&mut all, &two));
        assert!(!join_records(&mut all, &row(1.0, 2.0).record(false)));
        assert!(!join_records(&mut all, &row(2.0, 3.0).record(false)));
        assert_eq!(PlainRow::of_record(&all, false), (row(1.0, 3.0), 4));
    }
}
