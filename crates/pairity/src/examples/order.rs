//! Orders of scores and labels, as integers.

use crate::rooms::Rooms;
use crate::threads;
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
            sort_values(example, &Rooms::default(), |i| labels[i]);
            add_ranks(example, rank);
        });
        order
    }

    /// Whether it has the examples of a query.
    pub(crate) fn covers(&self, query: &Range<usize>) -> bool {
        !self.rank.is_empty() && query.len() > self.small
    }
}

/// Dense ranks of sorted examples, whose marks are taken away: how many that are not tied come first.
fn add_ranks(example: &mut [u32], rank: &mut [u32]) {
    let pieces = if example.len() < FORK { 1 } else { rayon::current_num_threads() };
    let size = example.len().div_ceil(pieces);
    let distinct = |part: &[u32]| part.iter().filter(|entry| **entry & TIED == 0).count() as u32;
    let whole = example.chunks_exact(size).take(pieces - 1).collect::<Vec<_>>();
    let mut before = vec![0];
    for count in whole.par_iter().map(|part| distinct(part)).collect::<Vec<_>>() {
        before.push(before[before.len() - 1] + count);
    }
    let parts = example.par_chunks_mut(size).zip(rank.par_chunks_mut(size)).zip(before);
    parts.for_each(|((example, rank), before)| {
        let mut next = before;
        for (example, rank) in example.iter_mut().zip(rank) {
            next += u32::from(*example & TIED == 0);
            *example &= !TIED;
            *rank = next - 1;
        }
    });
}

/// Marks an index whose value equals that of the one before.
pub(crate) const TIED: u32 = 1 << 31;

/// Lists of at least so many numbers are sorted on several threads.
const FORK: usize = 1 << 15;

/// (key, index) of each value, ascending; equal values by index.
pub(crate) fn sort_by_value(values: &[f64]) -> Vec<(u64, u32)> {
    let mut sorted = vec![0; values.len()];
    sort_values(&mut sorted, &Rooms::default(), |i| values[i]);
    let with_key = |&entry: &u32| (score_key(values[(entry & !TIED) as usize]), entry & !TIED);
    sorted.iter().map(with_key).collect()
}

/// The indexes of as many values as there is room for, ascending; equal values by index, and marked as tied.
///
/// What is sorted are words of 64 bits: the highest bits of a value's key, and its index, which takes as many bits as it
/// needs. Of a million values 44 bits are left, so that different ones seldom agree in them: then they are looked at.
/// Plain words are sorted much faster than pairs of key and index, and faster than by digits.
pub(crate) fn sort_values(sorted: &mut [u32], rooms: &Rooms, value: impl Fn(usize) -> f64 + Sync) {
    let bits = usize::BITS - sorted.len().leading_zeros();
    let word = |i: usize| score_key(value(i)) >> bits << bits | i as u64;
    let mut words = rooms.list::<u64>(sorted.len());
    threads::fill(&mut words, &|from, own| own.iter_mut().zip(from..).for_each(|(to, i)| *to = word(i)));
    let threads = if words.len() < FORK { 1 } else { rayon::current_num_threads() };
    let put = |words: [&[u64]; 2], sorted: &mut [u32]| {
        if merge(words, bits, sorted) {
            compare_tied(sorted, rooms, |i| score_key(value(i as usize)));
        }
    };
    if threads < 2 {
        words.sort_unstable();
        return put([&words, &[]], sorted);
    }
    let (first, second) = words.split_at_mut(sorted.len() / 2);
    rayon::join(|| sort_words(first, threads.div_ceil(2)), || sort_words(second, threads / 2));
    let parts = merged_parts([first, second], bits, threads, sorted);
    parts.into_par_iter().for_each(|(words, sorted)| put(words, sorted));
}

/// Parts of two sorted lists and of the room for both, about as large as each other, that can be merged apart: words
/// whose highest bits agree are in one part.
fn merged_parts<'w, 's>(
    [mut first, mut second]: [&'w [u64]; 2],
    bits: u32,
    parts: usize,
    mut room: &'s mut [u32],
) -> Vec<([&'w [u64]; 2], &'s mut [u32])> {
    let mut found = Vec::with_capacity(parts);
    for rest in (2..=parts).rev() {
        // As many words as a part has are those before `low` of the first list and the others of the second.
        let size = (first.len() + second.len()) / rest;
        let (mut low, mut high) = (size.saturating_sub(second.len()), size.min(first.len()));
        while low < high {
            let middle = (low + high) / 2;
            (low, high) =
                if first[middle] < second[size - middle - 1] { (middle + 1, high) } else { (low, middle) };
        }
        let next = [first.get(low), second.get(size - low)].into_iter().flatten().min().copied().unwrap_or(0);
        let [(a, rest_first), (b, rest_second)] = [first, second]
            .map(|list| list.split_at(list.partition_point(|word| word >> bits < next >> bits)));
        let (own, others) = std::mem::take(&mut room).split_at_mut(a.len() + b.len());
        found.push(([a, b], own));
        (first, second, room) = (rest_first, rest_second, others);
    }
    found.push(([first, second], room));
    found
}

/// The indexes of two sorted lists of words in one order, marked where the highest bits agree with those of the one
/// before; returns whether there are such.
fn merge([first, second]: [&[u64]; 2], bits: u32, to: &mut [u32]) -> bool {
    let (mut i, mut j, mut marks) = (0, 0, 0);
    let mut last = u64::MAX;
    let mut entry = |word: u64| {
        let mark = if word >> bits == last { TIED } else { 0 };
        (last, marks) = (word >> bits, marks | mark);
        (word & ((1 << bits) - 1)) as u32 | mark
    };
    let mut to = to.iter_mut();
    while i < first.len() && j < second.len() {
        let (a, b) = (first[i], second[j]);
        // No branch, which would be mispredicted half of the time.
        let is_first = a < b;
        i += usize::from(is_first);
        j += usize::from(!is_first);
        to.by_ref().take(1).for_each(|to| *to = entry(if is_first { a } else { b }));
    }
    to.zip(first[i..].iter().chain(&second[j..])).for_each(|(to, &word)| *to = entry(word));
    marks != 0
}

/// Sorts indexes whose words agree in their highest bits, which are marked, by keys, then by index; marks are left where
/// keys are equal.
fn compare_tied(sorted: &mut [u32], rooms: &Rooms, key: impl Fn(u32) -> u64) {
    let mut full = rooms.empty::<(u64, u32)>(0);
    for run in sorted.chunk_by_mut(|_, next| next & TIED != 0).filter(|run| run.len() > 1) {
        full.clear();
        full.extend(run.iter().map(|&entry| (key(entry & !TIED), entry & !TIED)));
        if !full.is_sorted() {
            full.sort_unstable();
        }
        for (at, to) in run.iter_mut().enumerate() {
            let tied = at > 0 && full[at].0 == full[at - 1].0;
            *to = full[at].1 | if tied { TIED } else { 0 };
        }
    }
}

/// Sorts words: parts them around a pivot, and sorts both sides at once with the standard library's sort, which is
/// twice as fast as rayon's.
fn sort_words(words: &mut [u64], threads: usize) {
    let n = words.len();
    if threads < 2 || n < FORK {
        return words.sort_unstable();
    }
    let mut sample: Vec<u64> = words.iter().step_by(n / 1023).copied().collect();
    let middle = sample.len() / 2;
    let pivot = *sample.select_nth_unstable(middle).1;
    // Both ends are looked at in turn; a word on its own side stays.
    let (mut low, mut high) = (0, n);
    while low < high {
        if words[low] < pivot {
            low += 1;
        } else {
            high -= 1;
            words.swap(low, high);
        }
    }
    let (below, above) = words.split_at_mut(low);
    rayon::join(|| sort_words(below, threads / 2), || sort_words(above, threads - threads / 2));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn threads_do_not_change_the_order() {
        let values: Vec<f64> = (0..100_000u64).map(|i| (i * 7_919 % 1_013) as f64).collect();
        let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        let one = pool(1).install(|| sorted(&values));
        assert!(one == pool(3).install(|| sorted(&values)));
        assert!(one == slow(&values));
        assert!(sort_by_value(&values).is_sorted());
        let ranks = |threads| pool(threads).install(|| LabelOrder::new(Some(&values), &[0, 100_000], 0).rank);
        let rank: Vec<u32> = one.iter().map(|&entry| values[(entry & !TIED) as usize] as u32).collect();
        assert!(ranks(1) == rank && ranks(3) == rank);
    }

    fn sorted(values: &[f64]) -> Vec<u32> {
        let mut sorted = vec![0; values.len()];
        sort_values(&mut sorted, &Rooms::default(), |i| values[i]);
        sorted
    }

    /// By comparisons of values, then of indexes.
    fn slow(values: &[f64]) -> Vec<u32> {
        let mut order: Vec<u32> = (0..values.len() as u32).collect();
        order.sort_by(|&a, &b| (values[a as usize] + 0.0).total_cmp(&(values[b as usize] + 0.0)));
        let tied = |i: usize| i > 0 && values[order[i] as usize] == values[order[i - 1] as usize];
        (0..order.len()).map(|i| order[i] | if tied(i) { TIED } else { 0 }).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        /// Values that differ in their last bits alone, ties, both zeros, huge and tiny ones; on both sides of the size
        /// from which several threads sort.
        #[test]
        fn orders_are_those_of_a_sort_by_comparisons(
            some in prop::collection::vec(
                prop_oneof![
                    prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO,
                    (0..40_u64).prop_map(|ulps| f64::from_bits(1.0_f64.to_bits() + ulps)),
                    (-3..3_i32).prop_map(f64::from),
                ],
                0..300,
            ),
            times in prop::sample::select(vec![1_usize, 30, 200]),
        ) {
            let values: Vec<f64> = (0..times).flat_map(|_| some.iter().copied()).collect();
            prop_assert!(sorted(&values) == slow(&values));
            let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
            prop_assert!(pool.install(|| sorted(&values)) == slow(&values));
        }
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
