//! Two groups: the mixture of at most two sortings.
//!
//! With the gap c = ratio₀ − ratio₁ of a ranking, the Lagrangian's best value over rankings
//!
//! ```text
//! g(μ) = max over rankings of  utility + μ c
//! ```
//!
//! is reached by sorting by u + μ w, is convex, and is made of lines whose slopes are gaps. The best
//! utility at gap 0 is min g. One line that rises and one that falls meet above, at or below that minimum;
//! sorting at the μ where they meet either finds a line above their meeting point, which replaces one of
//! the two, or shows that both are best there: two sortings by one key whose ties are broken in favor of
//! the one and of the other group. Each step leaves at most a quarter of the triangle in which the
//! minimum lies, so few are needed.

use super::candidates::{Candidates, Sorting};

/// What the steps above can't exceed unless rounding makes them repeat.
const STEPS: usize = 200;

/// The probabilities and the sortings of the best mixture.
pub(super) fn solve(candidates: &Candidates) -> Vec<(f64, Sorting)> {
    let gap = |sorting: &Sorting| sorting.ratios[0] - sorting.ratios[1];
    let weight = |i: usize| candidates.weight(i, &[1.0, -1.0]);

    let best = candidates.sort(|i| candidates.utility(i));
    let sign = if gap(&best) > 0.0 { 1.0 } else { -1.0 };
    if gap(&best) == 0.0 {
        return vec![(1.0, best)];
    }
    // As far to the other side as rankings go.
    let farthest = candidates.sort(|i| -sign * weight(i));
    if sign * gap(&farthest) >= 0.0 {
        return vec![(1.0, farthest)];
    }
    let (mut rising, mut falling) = if sign > 0.0 { (best, farthest) } else { (farthest, best) };
    for _ in 0..STEPS {
        let mu = (falling.utility - rising.utility) / (gap(&rising) - gap(&falling));
        if !mu.is_finite() {
            break;
        }
        let value = |sorting: &Sorting| sorting.utility + mu * gap(sorting);
        let next = candidates.sort(|i| candidates.utility(i) + mu * weight(i));
        // Each of these is a sum of as many rounded products.
        let rounding = f64::EPSILON * (next.utility + mu.abs() * (next.ratios[0] + next.ratios[1]));
        let gain = value(&next) - value(&rising).max(value(&falling));
        if gain <= 4.0 * rounding {
            break;
        }
        match gap(&next) {
            0.0 => return vec![(1.0, next)],
            gap if gap > 0.0 => rising = next,
            _ => falling = next,
        }
    }
    let (up, down) = (gap(&rising), -gap(&falling));
    vec![(down / (up + down), rising), (up / (up + down), falling)]
}
