//! Plane sweeps: the best of all scorers a cos θ + b sin θ, exactly.
//!
//! A pair with differences (Δa, Δb) has its first example above for θ within a quarter turn of φ = atan2(Δb, Δa), and
//! swaps at φ ± π/2. Between two swaps nothing changes, so with all swaps sorted, one walk finds what the pairs earn at
//! every θ. At θ + π every pair is the other way round: half a turn is enough.

use std::f64::consts::{FRAC_PI_2, PI};

/// A pair of examples and what it is worth that the first one scores higher.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WeightedPair {
    pub first: u32,
    pub second: u32,
    pub worth: f64,
}

/// The best angle of a plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BestAngle {
    pub angle: f64,
    /// What the pairs earn there.
    pub value: f64,
    /// What they earn at most at any angle, in intervals that are too narrow to be hit too.
    pub top: f64,
}

/// Intervals of angles below this are rounding.
const NARROW: f64 = 1e-9;

/// The best angle for some pairs, from what both scorers of a plane give to each example. `tie` is what a pair earns
/// that both score alike, as a share of its worth.
pub(super) fn sweep(pairs: &[WeightedPair], a: &[f64], b: &[f64], tie: f64) -> BestAngle {
    // At angles a little above 0.
    let (mut value, mut whole, mut tied) = (0.0, 0.0, 0.0);
    let mut swaps: Vec<(f64, f64)> = Vec::with_capacity(pairs.len());
    for &WeightedPair { first, second, worth } in pairs {
        let (i, j) = (first as usize, second as usize);
        let (da, db) = (a[i] - a[j], b[i] - b[j]);
        if da == 0.0 && db == 0.0 {
            tied += tie * worth;
            continue;
        }
        whole += worth;
        let above = da > 0.0 || (da == 0.0 && db > 0.0);
        value += if above { worth } else { 0.0 };
        // With Δa = 0 the swap is at 0, just before the walk begins, and at π where it ends.
        let swap = if da == 0.0 { PI } else { (db / da).atan() + FRAC_PI_2 };
        swaps.push((swap, if above { -worth } else { worth }));
    }
    swaps.sort_unstable_by(|x, y| x.0.total_cmp(&y.0).then(x.1.total_cmp(&y.1)));
    let mut best = BestAngle { angle: 0.0, value: f64::NEG_INFINITY, top: f64::NEG_INFINITY };
    let mut from = 0.0;
    for &(to, change) in swaps.iter().chain(&[(PI, 0.0)]) {
        let middle = f64::midpoint(from, to);
        for (angle, earned) in [(middle, value), (middle + PI, whole - value)] {
            best.top = best.top.max(earned + tied);
            if to - from > NARROW && earned + tied > best.value {
                (best.angle, best.value) = (angle, earned + tied);
            }
        }
        value += change;
        from = to;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn earned(pairs: &[WeightedPair], a: &[f64], b: &[f64], tie: f64, angle: f64) -> f64 {
        let score = |i: u32| a[i as usize] * angle.cos() + b[i as usize] * angle.sin();
        let one = |pair: &WeightedPair| {
            let alike = a[pair.first as usize] == a[pair.second as usize]
                && b[pair.first as usize] == b[pair.second as usize];
            pair.worth
                * match (alike, score(pair.first) > score(pair.second)) {
                    (true, _) => tie,
                    (false, above) => f64::from(u8::from(above)),
                }
        };
        pairs.iter().map(one).sum()
    }

    fn numbers() -> impl Strategy<Value = f64> {
        prop_oneof![(-3..4_i32).prop_map(f64::from), -1.0..1.0_f64, Just(-0.0)]
    }

    proptest! {
        #[test]
        fn no_angle_earns_more_than_the_best_and_the_best_earns_what_it_says(
            rows in prop::collection::vec((numbers(), numbers()), 2..12),
            chosen in prop::collection::vec((0..12_u32, 0..12_u32, -1.0..1.0_f64), 1..30),
            tie in prop::sample::select(vec![0.0, 0.5]),
        ) {
            let n = rows.len() as u32;
            let (a, b): (Vec<f64>, Vec<f64>) = rows.into_iter().unzip();
            let pair = |&(i, j, worth): &(u32, u32, f64)| WeightedPair { first: i % n, second: j % n, worth };
            let pairs: Vec<_> = chosen.iter().map(pair).filter(|pair| pair.first != pair.second).collect();
            let best = sweep(&pairs, &a, &b, tie);
            let value = |angle| earned(&pairs, &a, &b, tie, angle);
            prop_assert!((value(best.angle) - best.value).abs() < 1e-9, "{best:?} {}", value(best.angle));
            prop_assert!(best.top >= best.value - 1e-12);
            for step in 0..2000 {
                let angle = (f64::from(step) + 0.5) * PI / 1000.0;
                prop_assert!(value(angle) <= best.top + 1e-9, "{angle}: {} {best:?}", value(angle));
            }
            // Between any two swaps that are next to each other, all the way round.
            let mut swaps = vec![0.0, 2.0 * PI];
            for pair in &pairs {
                let (i, j) = (pair.first as usize, pair.second as usize);
                let at = (b[i] - b[j]).atan2(a[i] - a[j]) + FRAC_PI_2;
                swaps.extend([at.rem_euclid(2.0 * PI), (at + PI).rem_euclid(2.0 * PI)]);
            }
            swaps.sort_by(f64::total_cmp);
            let between = swaps.windows(2).filter(|ends| ends[1] - ends[0] > 1e-8);
            let most = between.map(|ends| value(f64::midpoint(ends[0], ends[1]))).fold(f64::NEG_INFINITY, f64::max);
            prop_assert!((best.value - most).abs() < 1e-9, "{most} {best:?}");
        }
    }

    #[test]
    fn three_rows_have_the_angle_that_can_be_seen() {
        // The first should be above the second and the third above the first: to the lower right.
        let (a, b) = ([0.0, -1.0, 1.0], [0.0, 0.0, -1.0]);
        let pairs = [(0, 1), (2, 0)].map(|(first, second)| WeightedPair { first, second, worth: 1.0 });
        let best = sweep(&pairs, &a, &b, 0.5);
        assert_eq!((best.value, best.top), (2.0, 2.0));
        // Between −π/2, where the first two swap, and π/4, where the others do.
        let angle = (best.angle + PI) % (2.0 * PI) - PI;
        assert!(angle > -FRAC_PI_2 && angle < PI / 4.0, "{best:?}");
    }
}
