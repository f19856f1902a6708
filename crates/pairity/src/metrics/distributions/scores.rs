//! How scores spread, by group and label.

use super::Bins;
use crate::examples::{Attribute, Examples};

/// The most bins of a histogram.
const MOST_BINS: usize = 40;

/// Values in two parts: at most `cut`, and at least `above`, the next larger value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Halves {
    /// The largest value of the lower part.
    pub cut: f64,
    /// The smallest value of the upper part.
    pub above: f64,
    /// Whether `cut` and `above` are the only values.
    pub two_values: bool,
}

impl Halves {
    /// At the median, or next below it if nothing is larger; none if all values are equal. NaN is no value.
    fn of(values: &[f64]) -> Option<Halves> {
        let mut known: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
        let highest = known.iter().copied().max_by(f64::total_cmp)?;
        let lowest = known.iter().copied().min_by(f64::total_cmp)?;
        let below = |limit: f64| values.iter().copied().filter(|&v| v < limit).max_by(f64::total_cmp);
        let middle = (known.len() - 1) / 2;
        let median = *known.select_nth_unstable_by(middle, f64::total_cmp).1;
        let cut = if median < highest { median } else { below(highest)? };
        let above = values.iter().copied().filter(|&v| v > cut).min_by(f64::total_cmp)?;
        Some(Halves { cut, above, two_values: lowest == cut && highest == above })
    }

    /// Whether a value is in the upper part.
    pub fn is_upper(&self, value: f64) -> bool {
        value > self.cut
    }
}

/// The scores of some examples.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreHistogram {
    /// The group by its index; with a continuous attribute 0 for its lower and 1 for its upper part;
    /// otherwise 0.
    pub part: usize,
    /// Whether their labels are in the upper part; none if labels are absent or all equal.
    pub upper_label: Option<bool>,
    /// Number of examples.
    pub rows: usize,
    /// Sum of example weights in each bin: the number of examples where all weights are 1.
    pub weights: Vec<f64>,
}

/// The scores of all examples that have the protected attribute, in common bins.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreHistograms {
    /// The bins of all of them. A few scores may lie far beyond the edges.
    pub bins: Bins,
    /// The lowest score.
    pub low: f64,
    /// The highest score.
    pub high: f64,
    /// How labels were parted; none if they are absent or all equal.
    pub labels: Option<Halves>,
    /// How a continuous attribute was parted.
    pub attribute: Option<Halves>,
    /// By part, then lower labels before upper ones; none without examples.
    pub histograms: Vec<ScoreHistogram>,
}

/// `scores` are in the order of the examples.
pub(super) fn by_group_and_label(examples: &Examples, scores: &[f64]) -> ScoreHistograms {
    let (low, high, bins) = score_bins(scores);
    let labels = examples.labels.as_deref().and_then(Halves::of);
    let (attribute, parts) = match &examples.attribute {
        Attribute::Groups { names, .. } => (None, names.len()),
        Attribute::Continuous(values) => (Halves::of(values), 2),
        Attribute::None => (None, 1),
    };
    let part = |example: usize| match (&examples.attribute, attribute) {
        (Attribute::Groups { codes, .. }, _) => Some(codes[example] as usize).filter(|&code| code < parts),
        (Attribute::Continuous(values), halves) => {
            let z = values[example];
            (!z.is_nan()).then(|| usize::from(halves.is_some_and(|halves| halves.is_upper(z))))
        }
        (Attribute::None, _) => Some(0),
    };
    let classes = 1 + usize::from(labels.is_some());
    let empty = |at| {
        let upper_label = labels.map(|_| at % classes == 1);
        ScoreHistogram { part: at / classes, upper_label, rows: 0, weights: vec![0.0; bins.len()] }
    };
    let mut histograms: Vec<ScoreHistogram> = (0..parts * classes).map(empty).collect();
    for (example, &score) in scores.iter().enumerate() {
        let Some(part) = part(example) else { continue };
        let both = examples.labels.as_ref().zip(labels);
        let upper = both.is_some_and(|(values, halves)| halves.is_upper(values[example]));
        let histogram = &mut histograms[part * classes + usize::from(upper)];
        histogram.rows += 1;
        histogram.weights[bins.place(score)] += examples.weight(example);
    }
    histograms.retain(|histogram| histogram.rows > 0);
    ScoreHistograms { bins, low, high, labels, attribute, histograms }
}

/// The lowest and the highest score, and bins between them. If the middle 98 % lie in less than a quarter
/// of the whole, a few outliers would leave nothing to see: then bins reach half as far again as the
/// middle.
fn score_bins(scores: &[f64]) -> (f64, f64, Bins) {
    let mut sorted = scores.to_vec();
    let last = sorted.len().saturating_sub(1);
    let mut at = |place: usize| match sorted.is_empty() {
        true => 0.0,
        // −0 is no other score than 0.
        false => *sorted.select_nth_unstable_by(place, f64::total_cmp).1 + 0.0,
    };
    let (low, high) = (at(0), at(last));
    let (first, ninety_ninth) = (at(last / 100), at(last - last / 100));
    // Halves, as the difference of the largest numbers overflows.
    let (middle, whole) = (ninety_ninth / 2.0 - first / 2.0, high / 2.0 - low / 2.0);
    let (from, to) = if middle > 0.0 && middle < whole / 4.0 {
        ((first - middle).max(low), (ninety_ninth + middle).min(high))
    } else {
        (low, high)
    };
    (low, high, Bins::round(from, to, MOST_BINS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_parted_at_the_median_or_below_the_highest_value() {
        let parts = |values: &[f64]| Halves::of(values).map(|h| (h.cut, h.above, h.two_values));
        assert_eq!(parts(&[0.0, 1.0, 1.0, 1.0]), Some((0.0, 1.0, true)));
        assert_eq!(parts(&[3.0, 1.0, 2.0, 4.0]), Some((2.0, 3.0, false)));
        assert_eq!(parts(&[5.0, f64::NAN, 5.0, 1.0, 3.0, 5.0]), Some((3.0, 5.0, false)));
        assert_eq!(parts(&[2.0, 2.0]), None);
        assert_eq!(parts(&[0.0, -0.0]), None);
        assert_eq!(parts(&[f64::NAN]), None);
        assert_eq!(parts(&[]), None);
    }

    #[test]
    fn a_few_outliers_do_not_widen_the_bins() {
        let mut scores: Vec<f64> = (0..1000).map(|i| f64::from(i) / 1000.0).collect();
        let (_, high, bins) = score_bins(&scores);
        assert_eq!((high, bins.edges[bins.len()]), (0.999, 1.0));
        scores[7] = 1e9;
        let (low, high, bins) = score_bins(&scores);
        assert_eq!((low, high), (0.0, 1e9));
        assert!(bins.edges[bins.len()] <= 1.6 && bins.len() > 10, "{bins:?}");
        assert_eq!(bins.place(1e9), bins.len() - 1);
    }
}
