//! Accuracy by the difference of a continuous attribute between the better and the worse example.
//!
//! The attribute is rounded to the middle value of at most [`CLASSES`] equally filled classes, equal values
//! in one class; then the exact count between groups gives the accuracy between any two classes, and
//! thereby at every difference of two of them. All pairs count. Differences themselves are exact where the
//! attribute has no more values than that, such as an age; the order of two values never changes, except
//! that values of one class count as equal.

use crate::examples::{Attribute, Examples, sort_by_value};
use crate::pairs::{CellLayout, CellSum, PairIndex, Tally};
use crate::rates::{Rate, Ties};

/// The most classes.
const CLASSES: usize = 100;

/// The most bins of differences on either side of 0.
const BINS: usize = 8;

/// Pairs whose attributes differ by about as much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DifferenceBin {
    /// The lowest difference z − z' of the better and the worse example.
    pub low: f64,
    /// The highest.
    pub high: f64,
    /// The mean, by weight of pairs.
    pub mean: f64,
    /// How often the better example scores higher, by weight of pairs over all queries.
    pub accuracy: f64,
    /// Number of pairs.
    pub pairs: u64,
}

/// Accuracy by difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Differences {
    /// In ascending order, those of either sign about equally filled; pairs of equal attributes are a bin
    /// of their own.
    pub bins: Vec<DifferenceBin>,
    /// Whether the attribute had so many values that it was rounded.
    pub rounded: bool,
}

/// `scores` are in the order of the examples.
pub(super) fn by_difference(examples: &Examples, scores: &[f64], ties: Ties) -> Option<Differences> {
    let Attribute::Continuous(values) = &examples.attribute else { return None };
    if !examples.has_labels() {
        return None;
    }
    let (middles, codes, rounded) = classes(values);
    let names = vec![String::new(); middles.len()];
    let mut classed = examples.clone();
    classed.attribute = Attribute::Groups { names, codes };
    let index = PairIndex::new(&classed, &[Rate::AUC]);
    let cells = Tally::sums(&index, &index.order(scores), ties);
    let layout = CellLayout::of(&classed);
    let difference = |a: usize, b: usize| (middles[a] - middles[b]).clamp(f64::MIN, f64::MAX);
    let places = (0..middles.len()).flat_map(|a| (0..middles.len()).map(move |b| (a, b)));
    let sums = places.map(|(a, b)| (difference(a, b), cells[layout.accuracy(a, b)]));
    let mut sums: Vec<(f64, CellSum)> = sums.filter(|(_, sum)| sum.total > 0.0).collect();
    sums.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (below, rest) = sums.split_at(sums.partition_point(|(difference, _)| *difference < 0.0));
    let (equal, above) = rest.split_at(rest.partition_point(|(difference, _)| *difference <= 0.0));
    let mut bins = parted(below, BINS);
    bins.extend(parted(equal, 1));
    bins.extend(parted(above, BINS));
    Some(Differences { bins, rounded })
}

/// The middle value of each class, the class of each value (their number for NaN), and whether different
/// values share a class.
fn classes(values: &[f64]) -> (Vec<f64>, Vec<u16>, bool) {
    let mut sorted = sort_by_value(values);
    sorted.retain(|&(_, i)| !values[i as usize].is_nan());
    let runs = || sorted.chunk_by(|a, b| a.0 == b.0);
    let rounded = runs().count() > CLASSES;
    // The class of each place: that of the first place of an equal value.
    let mut class_of = Vec::with_capacity(sorted.len());
    for (number, run) in runs().enumerate() {
        let class = if rounded { class_of.len() * CLASSES / sorted.len() } else { number };
        class_of.extend(std::iter::repeat_n(class, run.len()));
    }
    let (mut middles, mut codes) = (Vec::new(), vec![u16::MAX; values.len()]);
    let mut start = 0;
    for equal in class_of.chunk_by(|a, b| a == b) {
        let members = &sorted[start..start + equal.len()];
        start += equal.len();
        members.iter().for_each(|&(_, i)| codes[i as usize] = middles.len() as u16);
        middles.push(values[members[members.len() / 2].1 as usize] + 0.0);
    }
    codes.iter_mut().for_each(|code| *code = (*code).min(middles.len() as u16));
    (middles, codes, rounded)
}

/// Parts sums in ascending order of difference into bins of about equal weight; sums of one difference stay
/// together.
fn parted(sums: &[(f64, CellSum)], bins: usize) -> Vec<DifferenceBin> {
    let all: f64 = sums.iter().map(|(_, sum)| sum.total).sum();
    let mut before = 0.0;
    let mut parts: Vec<(usize, Vec<(f64, CellSum)>)> = Vec::new();
    for run in sums.chunk_by(|a, b| a.0 == b.0) {
        let bin = ((before / all * bins as f64) as usize).min(bins - 1);
        match parts.last_mut() {
            Some((last, part)) if *last == bin => part.extend(run),
            _ => parts.push((bin, run.to_vec())),
        }
        before += run.iter().map(|(_, sum)| sum.total).sum::<f64>();
    }
    parts.iter().filter_map(|(_, part)| joined(part)).collect()
}

fn joined(part: &[(f64, CellSum)]) -> Option<DifferenceBin> {
    let total: f64 = part.iter().map(|(_, sum)| sum.total).sum();
    let credit: f64 = part.iter().map(|(_, sum)| sum.credit).sum();
    let (low, high) = (part.first()?.0, part.last()?.0);
    // Shares first: differences may be as large as numbers get.
    let mean: f64 = part.iter().map(|(difference, sum)| sum.total / total * difference).sum();
    let pairs = part.iter().map(|(_, sum)| sum.pairs).sum();
    Some(DifferenceBin { low, high, mean: mean.clamp(low, high), accuracy: credit / total, pairs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_classes_of_their_own() {
        let (middles, codes, rounded) = classes(&[3.0, f64::NAN, 1.0, 3.0, -0.0, 0.0]);
        assert_eq!((middles, codes, rounded), (vec![0.0, 1.0, 3.0], vec![2, 3, 1, 2, 0, 0], false));
    }

    #[test]
    fn many_values_share_classes_that_keep_their_order() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from(i * 7919 % 1009)).collect();
        let (middles, codes, rounded) = classes(&values);
        assert!(rounded && middles.len() == CLASSES && middles.is_sorted());
        for class in 0..CLASSES as u16 {
            assert_eq!(codes.iter().filter(|&&code| code == class).count(), 10);
        }
        for i in 1..values.len() {
            assert!((values[i] < values[i - 1]) || codes[i] >= codes[i - 1]);
        }
    }

    #[test]
    fn bins_are_equally_filled_and_keep_equals_together() {
        let sum = |pairs: u64| CellSum { credit: 0.5 * pairs as f64, total: pairs as f64, pairs };
        let sums = [(1.0, sum(3)), (2.0, sum(1)), (2.0, sum(1)), (5.0, sum(2)), (9.0, sum(1))];
        let bins = parted(&sums, 2);
        assert_eq!(
            bins.iter().map(|bin| (bin.low, bin.high, bin.pairs)).collect::<Vec<_>>(),
            [(1.0, 2.0, 5), (5.0, 9.0, 3)]
        );
        assert!((bins[1].mean - 19.0 / 3.0).abs() < 1e-12);
        assert!(parted(&[], 2).is_empty());
    }
}
