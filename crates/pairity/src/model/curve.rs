//! Piecewise linear maps of scores that never fall.

use serde::{Deserialize, Serialize};

/// A piecewise linear map through knots, which goes on with slope 1 beyond the first and the last.
///
/// ```
/// use pairity::model::Curve;
/// let curve = Curve { x: vec![0.0, 1.0], y: vec![0.0, 4.0] };
/// assert_eq!([-1.0, 0.25, 3.0].map(|score| curve.value(score)), [-1.0, 1.0, 6.0]);
/// assert_eq!(Curve::default().value(0.3), 0.3);
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Curve {
    /// Scores at the knots, rising. Without knots the curve changes nothing.
    pub x: Vec<f64>,
    /// Values at the knots, not falling.
    pub y: Vec<f64>,
}

impl Curve {
    /// The value at a score; always a finite number.
    pub fn value(&self, score: f64) -> f64 {
        let knots = self.x.len().min(self.y.len());
        let at = self.x[..knots].partition_point(|&x| x < score);
        let value = match at {
            _ if knots == 0 => score,
            0 => self.y[0] + (score - self.x[0]),
            at if at == knots => self.y[at - 1] + (score - self.x[at - 1]),
            at => {
                let (x, y) = ([self.x[at - 1], self.x[at]], [self.y[at - 1], self.y[at]]);
                // Halves: the distance of two numbers may be too large for one.
                let part = (0.5 * score - 0.5 * x[0]) / (0.5 * x[1] - 0.5 * x[0]);
                let value = 2.0 * (0.5 * y[0] + part * (0.5 * y[1] - 0.5 * y[0]));
                if score == x[1] { y[1] } else { value.max(y[0]).min(y[1]) }
            }
        };
        value.clamp(f64::MIN, f64::MAX)
    }

    /// What is wrong with the knots, if anything.
    pub(super) fn fault(&self) -> Option<String> {
        let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        if self.x.len() != self.y.len() {
            return Some(format!("a curve has {} scores and {} values", self.x.len(), self.y.len()));
        }
        if !(finite(&self.x) && finite(&self.y)) {
            return Some("a knot of a curve is not a finite number".to_owned());
        }
        if !self.x.is_sorted_by(|a, b| a < b) {
            return Some("the scores of a curve do not rise from knot to knot".to_owned());
        }
        if !self.y.is_sorted() {
            return Some("the values of a curve fall".to_owned());
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn knots_are_met_exactly_and_slope_one_goes_on() {
        let curve = Curve { x: vec![0.1, 0.3, 0.7], y: vec![5.0, 5.0, 6.0] };
        assert_eq!([0.1, 0.3, 0.7].map(|x| curve.value(x)), [5.0, 5.0, 6.0]);
        assert_eq!(curve.value(0.2), 5.0);
        assert!((curve.value(0.5) - 5.5).abs() < 1e-15);
        assert!((curve.value(0.0) - 4.9).abs() < 1e-15);
        assert_eq!(curve.value(1.7), 7.0);
    }

    #[test]
    fn damaged_knots_are_named() {
        let fault = |x: &[f64], y: &[f64]| Curve { x: x.to_vec(), y: y.to_vec() }.fault().unwrap();
        assert_eq!(fault(&[1.0], &[]), "a curve has 1 scores and 0 values");
        assert_eq!(fault(&[f64::NAN], &[0.0]), "a knot of a curve is not a finite number");
        assert_eq!(fault(&[1.0, 1.0], &[0.0, 1.0]), "the scores of a curve do not rise from knot to knot");
        assert_eq!(fault(&[1.0, 2.0], &[1.0, 0.0]), "the values of a curve fall");
    }

    proptest! {
        #[test]
        fn a_curve_never_falls_and_stays_finite(
            mut x in prop::collection::vec(edge(), 0..6),
            mut y in prop::collection::vec(edge(), 6),
            mut scores in prop::collection::vec(edge(), 2..30),
        ) {
            x.sort_by(f64::total_cmp);
            x.dedup();
            y.sort_by(f64::total_cmp);
            y.truncate(x.len());
            let curve = Curve { x, y };
            prop_assert_eq!(curve.fault(), None);
            scores.sort_by(f64::total_cmp);
            let values: Vec<f64> = scores.iter().map(|&score| curve.value(score)).collect();
            prop_assert!(values.is_sorted() && values.iter().all(|value| value.is_finite()), "{:?}", values);
        }
    }

    fn edge() -> impl Strategy<Value = f64> {
        prop_oneof![
            -3.0..3.0f64,
            prop::sample::select(vec![0.0, -0.0, 5e-324, 1e308, -1e308, f64::MAX, f64::MIN, 1e-300])
        ]
    }
}
