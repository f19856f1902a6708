//! Features that give the labels away: one that orders them almost perfectly by itself may be a copy of them, or
//! something that is known only afterwards.

use crate::examples::Examples;
use crate::learners::{Encoder, Encoding, Features, Sparse};
use crate::pairs::RateIndex;
use crate::rates::{Average, Rate};
use rayon::prelude::*;

/// |2 auc − 1| of a feature from which on it is told.
const ALMOST_PERFECT: f64 = 0.98;

/// Rows times sparse features up to which these are looked at.
const MOST_CELLS: usize = 100_000_000;

/// Those of the first so many features that order the labels of some rows almost perfectly, up or down, with the auc of
/// each alone. Each is sorted once and its pairs are counted, O(n log n). Very many sparse numbers are not looked at.
fn leaks(examples: &Examples, features: &Features, first: usize) -> Vec<(usize, f64)> {
    let index = RateIndex::new(examples, &[Rate::AUC], Average::Pairs);
    let auc = |values: Vec<f64>| index.true_rates(&index.order(&values))[0];
    let dense = |feature: usize| {
        let value = |&row: &u32| features.value(row as usize, feature);
        (feature, auc(examples.row.iter().map(value).collect()))
    };
    let mut all: Vec<(usize, f64)> = (0..features.dense_width()).into_par_iter().map(dense).collect();
    let sparse_ones = first.saturating_sub(features.dense_width());
    let few = |sparse: &&Sparse| sparse_ones > 0 && sparse.rows().saturating_mul(sparse_ones) <= MOST_CELLS;
    if let Some(sparse) = features.sparse().filter(few) {
        let above = |(column, cells): (usize, Vec<(u32, f64)>)| {
            let mut values = vec![0.0; sparse.rows()];
            cells.into_iter().for_each(|(row, value)| values[row as usize] = value);
            let of_examples = examples.row.iter().map(|&row| values[row as usize]).collect();
            (features.dense_width() + column, auc(of_examples))
        };
        all.par_extend(sparse.by_columns().into_par_iter().take(sparse_ones).enumerate().map(above));
    }
    all.into_iter().filter(|(_, auc)| (2.0 * auc - 1.0).abs() >= ALMOST_PERFECT).collect()
}

/// A note on each of them. The terms of a text, which come last, are not looked at.
pub(super) fn notes(examples: &Examples, features: &Features, encoder: &Encoder) -> Vec<String> {
    let columns = encoder.columns().iter().filter(|column| !column.is_text());
    let names: Vec<String> = columns.flat_map(Encoding::short_names).collect();
    let note = |(feature, auc): (usize, f64)| {
        let name = names.get(feature).map_or("", String::as_str);
        format!(
            "{name:?} alone orders the labels of the training rows almost perfectly (auc {auc:.3}): if it is made \
             from the label, or known only after it, exclude it from the features"
        )
    };
    leaks(examples, features, names.len()).into_iter().map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::Columns;
    use proptest::prelude::*;

    proptest! {
        /// Pair by pair, a tie earning a half.
        #[test]
        fn leaks_are_the_features_whose_pairs_are_almost_all_in_order(
            rows in prop::collection::vec((0..3_u32, 0..4_u32, 0..2_i32), 2..40), down: bool, with_queries: bool,
        ) {
            let labels: Vec<f64> = rows.iter().map(|r| r.0.into()).collect();
            let queries: Vec<u32> = rows.iter().map(|r| r.1).collect();
            let columns = Columns {
                labels: Some(&labels), queries: with_queries.then_some(&queries[..]), ..Columns::default()
            };
            let examples = Examples::new(columns).unwrap();
            // A copy of the label that is seldom wrong, and noise.
            let sign = if down { -1.0 } else { 1.0 };
            let value = |(i, r): (usize, &(u32, u32, i32))| {
                let wrong = if i % 13 == 12 { f64::from(r.2) } else { 0.0 };
                [sign * (labels[i] + wrong), f64::from(r.2)]
            };
            let values: Vec<f64> = rows.iter().enumerate().flat_map(value).collect();
            let features = Features::new(rows.len(), 2, values.clone()).unwrap();
            let mut expected = Vec::new();
            for feature in 0..2 {
                let (mut pairs, mut sum) = (0.0, 0.0);
                for i in 0..rows.len() {
                    for j in (0..rows.len()).filter(|&j| !with_queries || queries[i] == queries[j]) {
                        if labels[i] > labels[j] {
                            let difference = values[2 * i + feature] - values[2 * j + feature];
                            sum += if difference == 0.0 { 0.0 } else { difference.signum() };
                            pairs += 1.0;
                        }
                    }
                }
                if pairs > 0.0 && f64::abs(sum / pairs) >= ALMOST_PERFECT {
                    expected.push(feature);
                }
            }
            let found = |features: &Features| -> Vec<usize> {
                leaks(&examples, features, 2).into_iter().map(|leak| leak.0).collect()
            };
            prop_assert_eq!(&found(&features), &expected);
            let cells = values.chunks(2).map(|row| vec![(0, row[0]), (1, row[1])]);
            let sparse = Sparse::new(2, cells).unwrap().with_absent(vec![0.5, 0.0]).unwrap();
            prop_assert_eq!(&found(&Features::of_sparse(sparse)), &expected);
        }
    }
}
