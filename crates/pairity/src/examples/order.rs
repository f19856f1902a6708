//! Orders of scores and labels, as integers.

use rayon::prelude::*;
use std::ops::Range;

/// An integer with the order of the number: −0 and 0 are equal.
#[inline(always)]
pub(super) fn score_key(score: f64) -> u64 {
    let bits = (score + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// For every query above a size: its examples in the order of their labels, and their label ranks.
#[derive(Debug, Clone, Default)]
pub(crate) struct LabelOrder {
    /// The largest size of queries that are left out.
    small: usize,
    /// At each position of the label order, the example (counted from the query's first).
    pub(crate) example: Vec<u32>,
    /// At each position of the label order, the label's dense rank inside the query.
    pub(crate) rank: Vec<u32>,
}

impl LabelOrder {
    /// Orders the labels of all queries larger than `small`; of the others it holds nothing useful.
    pub(crate) fn new(labels: Option<&[f64]>, starts: &[u32], small: usize) -> LabelOrder {
        let large = |w: &[u32]| (w[1] - w[0]) as usize > small;
        let Some(labels) = labels.filter(|_| starts.windows(2).any(large)) else {
            return LabelOrder::default();
        };
        let n = labels.len();
        let mut order = LabelOrder { small, example: vec![0; n], rank: vec![0; n] };
        let (mut example, mut rank) = (&mut order.example[..], &mut order.rank[..]);
        let mut parts = Vec::new();
        for w in starts.windows(2) {
            let m = (w[1] - w[0]) as usize;
            let (e, r);
            (e, example) = example.split_at_mut(m);
            (r, rank) = rank.split_at_mut(m);
            if large(w) {
                parts.push((&labels[w[0] as usize..w[1] as usize], e, r));
            }
        }
        parts.into_par_iter().for_each(|(labels, example, rank)| {
            let sorted = sort_by_value(labels);
            let mut dense = 0;
            for (i, &(key, id)) in sorted.iter().enumerate() {
                dense += u32::from(i > 0 && key != sorted[i - 1].0);
                example[i] = id;
                rank[i] = dense;
            }
        });
        order
    }

    /// Whether it has the examples of a query.
    pub(crate) fn covers(&self, query: &Range<usize>) -> bool {
        !self.rank.is_empty() && query.len() > self.small
    }
}

/// (key, index) of each value, ascending; equal values by index.
pub(crate) fn sort_by_value(values: &[f64]) -> Vec<(u64, u32)> {
    let mut keys = sort_values(values.len(), |i| values[i]);
    for run in keys.chunk_by_mut(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
        run.sort_unstable_by_key(|&(_, id)| id);
    }
    keys
}

/// (key, index) of each of `n` values, ascending; equal values in any order.
pub(crate) fn sort_values(n: usize, value: impl Fn(usize) -> f64 + Sync) -> Vec<(u64, u32)> {
    let mut keys: Vec<(u64, u32)> = (0..n).into_par_iter().map(|i| (score_key(value(i)), i as u32)).collect();
    // The unstable sort of keys alone is much faster than one of tuples; runs of equal keys are rare
    // or long, and are put in order afterwards.
    sort_keys(&mut keys, rayon::current_num_threads());
    keys
}

/// Sorts by key: parts the keys around a pivot, and sorts both sides at once with the standard library's
/// sort, which is twice as fast as rayon's.
fn sort_keys(keys: &mut [(u64, u32)], threads: usize) {
    let n = keys.len();
    if threads < 2 || n < 1 << 15 {
        return keys.sort_unstable_by_key(|&(key, _)| key);
    }
    let mut sample: Vec<u64> = keys.iter().step_by(n / 1023).map(|&(key, _)| key).collect();
    let middle = sample.len() / 2;
    let pivot = *sample.select_nth_unstable(middle).1;
    // Both ends are looked at in turn; a key on its own side stays.
    let (mut low, mut high) = (0, n);
    while low < high {
        if keys[low].0 < pivot {
            low += 1;
        } else {
            high -= 1;
            keys.swap(low, high);
        }
    }
    let (below, above) = keys.split_at_mut(low);
    rayon::join(|| sort_keys(below, threads / 2), || sort_keys(above, threads - threads / 2));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_do_not_change_the_order() {
        let values: Vec<f64> = (0..100_000u64).map(|i| (i * 7_919 % 1_013) as f64).collect();
        let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        let one = pool(1).install(|| sort_by_value(&values));
        assert!(one.is_sorted());
        assert!(one == pool(3).install(|| sort_by_value(&values)));
    }

    #[test]
    fn keys_keep_the_order_of_numbers() {
        let numbers = [f64::MIN, -1.0, -5e-324, 0.0, 5e-324, 1e-300, 1.0, f64::MAX];
        assert!(numbers.map(score_key).is_sorted_by(|a, b| a < b));
        assert_eq!(score_key(-0.0), score_key(0.0));
    }

    #[test]
    fn ranks_are_dense_inside_each_query() {
        let order = LabelOrder::new(Some(&[3.0, 1.0, 3.0, 9.0, 7.0]), &[0, 3, 5], 1);
        assert_eq!(order.example, [1, 0, 2, 1, 0]);
        assert_eq!(order.rank, [0, 1, 1, 0, 1]);
    }
}
