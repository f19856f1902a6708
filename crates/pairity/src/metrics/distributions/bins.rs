//! Bins of a histogram: at round numbers, few enough to draw.

/// Round steps, times a power of ten.
const STEPS: [f64; 3] = [1.0, 2.0, 5.0];

/// Intervals that lie side by side: `edges[i] <= value < edges[i + 1]`, the last with its upper edge. What
/// lies beyond the edges belongs to the first or the last one.
#[derive(Debug, Clone, PartialEq)]
pub struct Bins {
    /// One more than bins, ascending.
    pub edges: Vec<f64>,
}

impl Bins {
    /// At most so many bins that cover two numbers and all between, with edges at multiples of a round
    /// number. If there is no round number so small or so large, one bin.
    ///
    /// ```
    /// use pairity::metrics::Bins;
    /// assert_eq!(Bins::round(0.02, 0.97, 5).edges, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
    /// ```
    pub fn round(low: f64, high: f64, most: usize) -> Bins {
        let most = most.max(2) as f64;
        // Differences of halves: that of the ends themselves may overflow.
        let width = (high / 2.0 - low / 2.0) / (most / 2.0);
        let start = width.log10().floor();
        if !width.is_normal() || !(-290.0..=300.0).contains(&start) {
            return Bins { edges: vec![low, high] };
        }
        let steps = (0..).flat_map(|power| STEPS.map(|step| (step, start as i32 + power)));
        for (step, power) in steps.take(3 * STEPS.len()) {
            // Dividing by 10 rounds 3 · 0.1 to the number that is written 0.3.
            let tens = 10f64.powi(power.abs());
            let edge = |k: f64| if power < 0 { k * step / tens } else { k * step * tens };
            let place = |value: f64| if power < 0 { value * tens / step } else { value / tens / step };
            let (first, last) = (place(low).floor(), place(high).ceil());
            if last - first <= most {
                let count = (last - first) as usize;
                let mut edges: Vec<f64> =
                    (0..=count).map(|i| edge(first + i as f64).clamp(f64::MIN, f64::MAX)).collect();
                // Next to very large numbers several multiples may be one number.
                edges.dedup();
                return if edges.len() > 1 { Bins { edges } } else { Bins { edges: vec![low, high] } };
            }
        }
        Bins { edges: vec![low, high] }
    }

    /// `count` bins around equally spaced middles from `low` to `high`.
    pub(super) fn around(low: f64, high: f64, count: usize) -> Bins {
        // Edges as whole numbers over a whole number, so that symmetric ones are symmetric.
        let gaps = 2.0 * (count as f64 - 1.0);
        let edge = |i: usize| (low * (gaps - 2.0 * i as f64 + 1.0) + high * (2.0 * i as f64 - 1.0)) / gaps;
        Bins { edges: (0..=count).map(edge).collect() }
    }

    /// Number of bins.
    pub fn len(&self) -> usize {
        self.edges.len().saturating_sub(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bin that holds a value.
    pub(super) fn place(&self, value: f64) -> usize {
        let passed = self.edges.partition_point(|&edge| edge <= value);
        passed.saturating_sub(1).min(self.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edges_are_round_numbers() {
        let bins = Bins::round(0.013, 0.987, 40);
        assert_eq!((bins.len(), bins.edges[0], bins.edges[6], bins.edges[20]), (20, 0.0, 0.3, 1.0));
        assert_eq!(Bins::round(-3.0, 4e3, 40).edges[..3], [-200.0, 0.0, 200.0]);
    }

    #[test]
    fn a_value_on_an_edge_belongs_to_the_bin_above_but_at_the_end() {
        let bins = Bins { edges: vec![0.0, 0.5, 1.0] };
        assert_eq!([-9.0, 0.0, 0.4, 0.5, 1.0, 9.0].map(|value| bins.place(value)), [0, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn bins_around_middles_hold_their_middles() {
        let bins = Bins::around(-1.0, 1.0, 21);
        assert_eq!((bins.len(), bins.edges[0], bins.edges[21]), (21, -1.05, 1.05));
        assert_eq!([-1.0, 0.0, 0.3, 1.0].map(|value| bins.place(value)), [0, 10, 13, 20]);
        let mirrored: Vec<f64> = bins.edges.iter().rev().map(|edge| -edge).collect();
        assert_eq!(bins.edges, mirrored);
    }

    proptest! {
        #[test]
        fn any_two_numbers_have_bins(a in any::<f64>(), b in any::<f64>(), most in 2usize..50) {
            prop_assume!(a.is_finite() && b.is_finite());
            let bins = Bins::round(a.min(b), a.max(b), most);
            prop_assert!((1..=most).contains(&bins.len()), "{}", bins.len());
            prop_assert!(bins.edges.iter().all(|edge| edge.is_finite()));
            prop_assert!(bins.edges.is_sorted());
            // The ends are inside, but for the rounding of an edge.
            let slack = 1e-9 * (bins.edges[bins.len()] / 2.0 - bins.edges[0] / 2.0).abs();
            prop_assert!(bins.edges[0] <= a.min(b) + slack && a.max(b) <= bins.edges[bins.len()] + slack);
        }

        #[test]
        fn numbers_near_each_other_have_bins(a in -1e17..1e17f64, steps in 0u64..5000, most in 2usize..50) {
            let b = f64::from_bits(a.to_bits() + steps);
            let bins = Bins::round(a.min(b), a.max(b), most);
            prop_assert!((1..=most).contains(&bins.len()) && bins.edges.is_sorted());
        }
    }
}
