//! Utilities: scores made non-negative.

use crate::names::names;
use serde::{Deserialize, Serialize};

/// How scores become utilities, which are ≥ 0 and tell by how much a candidate is worth more than
/// another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Utilities {
    /// (s − min) / (max − min) over the query; 1 for all where all scores are equal.
    ///
    /// Scores that were learned from pairs have neither an origin nor a unit, and this is what gives the
    /// same policy whatever they are. The query's worst candidate is worth nothing.
    #[default]
    Range,
    /// 1 / (1 + exp(−s)): for scores that are log-odds of relevance.
    Sigmoid,
    /// max(s, 0): for scores that already are relevances.
    Clipped,
}

names! { Utilities:
    "range" => Range, "From 0 to 1 in each query";
    "sigmoid" => Sigmoid, "1 / (1 + exp(−s))";
    "clipped" => Clipped, "max(s, 0)";
}

impl Utilities {
    /// The utilities of a query's candidates.
    pub(super) fn of(self, scores: &[f64]) -> Vec<f64> {
        match self {
            Utilities::Range => range(scores),
            Utilities::Sigmoid => scores.iter().map(|s| 1.0 / (1.0 + (-s).exp())).collect(),
            // Adding 0 turns −0 into 0.
            Utilities::Clipped => scores.iter().map(|s| s.max(0.0) + 0.0).collect(),
        }
    }
}

fn range(scores: &[f64]) -> Vec<f64> {
    let low = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let high = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if low == high {
        return vec![1.0; scores.len()];
    }
    // The width of scores beyond half of the largest number overflows.
    let unit = if (high - low).is_finite() { 1.0 } else { 0.5 };
    let (low, width) = (low * unit, high * unit - low * unit);
    scores.iter().map(|s| (s * unit - low) / width).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_of_a_query_becomes_zero_to_one() {
        assert_eq!(Utilities::Range.of(&[3.0, -1.0, 1.0]), [1.0, 0.0, 0.5]);
        assert_eq!(Utilities::Range.of(&[f64::MAX, f64::MIN, 0.0]), [1.0, 0.0, 0.5]);
        assert_eq!(Utilities::Range.of(&[5e-324, 0.0]), [1.0, 0.0]);
        assert_eq!(Utilities::Range.of(&[-0.0, 0.0]), [1.0, 1.0]);
        assert!(Utilities::Range.of(&[]).is_empty());
    }

    #[test]
    fn utilities_are_never_negative() {
        assert_eq!(Utilities::Sigmoid.of(&[0.0, 1e308, -1e308]), [0.5, 1.0, 0.0]);
        let clipped = Utilities::Clipped.of(&[-2.0, -0.0, 3.0]);
        assert_eq!(clipped, [0.0, 0.0, 3.0]);
        assert!(clipped.iter().all(|u| u.is_sign_positive()));
    }
}
