//! L-BFGS (Nocedal 1980): descent along −H g, where H is the inverse curvature that the last few steps show.
//!
//! With steps s = x′ − x and changes of the gradient y = g′ − g, ρ = 1 / sᵀy, newest first:
//!
//! ```text
//! q = g;  α = ρ sᵀq, q ← q − α y        then  q ← (sᵀy / yᵀy) q        then oldest first  q ← q + (α − ρ yᵀq) s
//! ```
//!
//! Where a curvature P is known from elsewhere, P⁻¹ q stands in place of q in the middle, and (sᵀy / yᵀP⁻¹y) before it.
//!
//! The length t of a step is found by bisection until both weak Wolfe conditions hold, which works for kinks too (Lewis
//! and Overton 2013):
//!
//! ```text
//! f(x + t d) ≤ f(x) + c₁ t gᵀd        g(x + t d)ᵀd ≥ c₂ gᵀd
//! ```

use super::curvature::Curvature;
use crate::learners::dot;
use std::collections::VecDeque;

/// A step has to win this share of what the slope promises (c₁).
const DECREASE: f64 = 1e-4;

/// A step goes on while the slope is steeper than this share of what it was (c₂).
const CURVATURE: f64 = 0.9;

/// Lengths that are tried for one step.
const TRIALS: usize = 40;

/// Steps that the curvature is learned from.
const MEMORY: usize = 10;

/// When a descent ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DescentLimits {
    /// The most steps.
    pub iterations: usize,
    /// It has converged where no part of the gradient is larger.
    pub gradient: f64,
    /// It has converged where a step wins less than this share of the value.
    pub decrease: f64,
}

impl Default for DescentLimits {
    fn default() -> DescentLimits {
        DescentLimits { iterations: 200, gradient: 1e-7, decrease: 1e-10 }
    }
}

/// Why a descent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DescentEnd {
    /// The gradient is small, or steps win nothing any more.
    Converged,
    /// No length of a step wins anything, as at a kink.
    NoStep,
    /// All steps were made.
    Limit,
    /// The start has no finite value.
    NotFinite,
}

/// Where a descent ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Descent {
    pub parameters: Vec<f64>,
    pub value: f64,
    /// Steps made.
    pub iterations: usize,
    pub end: DescentEnd,
}

/// One step and the change of the gradient over it.
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    /// P⁻¹ y, where a curvature P is known.
    solved: Vec<f64>,
    /// 1 / sᵀy.
    scale: f64,
}

/// Descends a function from a start. The function gives its value, and overwrites the gradient.
pub(crate) fn descend(
    start: Vec<f64>,
    limits: DescentLimits,
    known: Option<&Curvature>,
    mut function: impl FnMut(&[f64], &mut [f64]) -> f64,
) -> Descent {
    let mut x = start;
    let mut gradient = vec![0.0; x.len()];
    let mut value = function(&x, &mut gradient);
    if !value.is_finite() {
        return Descent { parameters: x, value, iterations: 0, end: DescentEnd::NotFinite };
    }
    let solve = |g: &[f64]| {
        let mut g = g.to_vec();
        if let Some(known) = known {
            known.solve(&mut g);
        }
        g
    };
    let mut solved = solve(&gradient);
    let mut pairs: VecDeque<Pair> = VecDeque::new();
    let mut iterations = 0;
    let end = loop {
        if gradient.iter().all(|g| g.abs() <= limits.gradient) {
            break DescentEnd::Converged;
        }
        if iterations == limits.iterations {
            break DescentEnd::Limit;
        }
        let direction = direction(&gradient, &solved, &pairs);
        // Without a curvature yet, a step of length 1 at most.
        let first = match pairs.is_empty() && known.is_none() {
            true => dot(&gradient, &gradient).sqrt().recip().min(1.0),
            false => 1.0,
        };
        let line = LineSearch { x: &x, value, slope: dot(&gradient, &direction), direction: &direction };
        let Some(found) = line.search(first, &mut function) else {
            if pairs.is_empty() {
                break DescentEnd::NoStep;
            }
            // The curvature may be that of another piece of the function: forget it, and try the plain slope.
            pairs.clear();
            continue;
        };
        iterations += 1;
        let step = difference(&found.x, &x);
        let change = difference(&found.gradient, &gradient);
        let along = dot(&step, &change);
        let before = std::mem::replace(&mut solved, solve(&found.gradient));
        if along > 1e-12 * dot(&change, &change) {
            let of_change = difference(&solved, &before);
            pairs.push_front(Pair { scale: along.recip(), step, change, solved: of_change });
            pairs.truncate(MEMORY);
        }
        let won = value - found.value;
        (x, gradient, value) = (found.x, found.gradient, found.value);
        if won <= limits.decrease * value.abs().max(1.0) {
            break DescentEnd::Converged;
        }
    };
    Descent { parameters: x, value, iterations, end }
}

/// −H g, of a gradient that is given with P⁻¹ g. As P⁻¹ (g′ − g) is the difference of two of these, a step takes one
/// solution alone.
fn direction(gradient: &[f64], solved: &[f64], pairs: &VecDeque<Pair>) -> Vec<f64> {
    let [mut q, mut found] = [gradient, solved].map(|g| g.iter().map(|g| -g).collect::<Vec<f64>>());
    let mut shares = Vec::with_capacity(pairs.len());
    for Pair { step, change, solved, scale } in pairs {
        let share = scale * dot(step, &q);
        add(&mut q, -share, change);
        add(&mut found, -share, solved);
        shares.push(share);
    }
    if let Some(Pair { change, solved, scale, .. }) = pairs.front() {
        let size = (scale * dot(change, solved)).recip();
        found.iter_mut().for_each(|q| *q *= size);
    }
    for (Pair { step, change, scale, .. }, share) in pairs.iter().zip(shares).rev() {
        let other = scale * dot(change, &found);
        add(&mut found, share - other, step);
    }
    found
}

/// A way down from a point.
struct LineSearch<'a> {
    x: &'a [f64],
    value: f64,
    /// Below 0 where it leads down.
    slope: f64,
    direction: &'a [f64],
}

/// A point on it.
struct LinePoint {
    x: Vec<f64>,
    gradient: Vec<f64>,
    value: f64,
}

impl LineSearch<'_> {
    /// A point where both conditions hold, or else the farthest found where the first does; none if there is none.
    fn search(&self, first: f64, function: &mut impl FnMut(&[f64], &mut [f64]) -> f64) -> Option<LinePoint> {
        if self.slope >= 0.0 || !self.slope.is_finite() {
            return None;
        }
        let (mut low, mut high, mut length) = (0.0, f64::INFINITY, first);
        let mut best = None;
        for _ in 0..TRIALS {
            let mut x = self.x.to_vec();
            add(&mut x, length, self.direction);
            let mut gradient = vec![0.0; x.len()];
            let value = function(&x, &mut gradient);
            // What is no number is too far.
            let falls = value <= self.value + DECREASE * length * self.slope;
            let slope = dot(&gradient, self.direction);
            if !falls || !slope.is_finite() {
                high = length;
            } else {
                best = Some(LinePoint { x, gradient, value });
                if slope >= CURVATURE * self.slope {
                    break;
                }
                low = length;
            }
            length = if high.is_finite() { f64::midpoint(low, high) } else { 2.0 * length };
        }
        best
    }
}

fn add(to: &mut [f64], factor: f64, from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from);
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn near(found: &[f64], expected: &[f64], within: f64) {
        let far = found.iter().zip(expected).any(|(a, b)| (a - b).abs() > within);
        assert!(!far && found.len() == expected.len(), "{found:?} for {expected:?}");
    }

    #[test]
    fn a_quadratic_of_any_condition_is_descended_to_its_minimum() {
        // Σ cᵢ (xᵢ − i)², with curvatures from 0.01 to 10,000.
        let curvature = |i: usize| 10.0_f64.powi(i as i32 % 7 - 2);
        let quadratic = |x: &[f64], gradient: &mut [f64]| {
            let mut value = 0.0;
            for (i, (x, g)) in x.iter().zip(gradient).enumerate() {
                let off = x - i as f64;
                *g = 2.0 * curvature(i) * off;
                value += curvature(i) * off * off;
            }
            value
        };
        let limits = DescentLimits { iterations: 500, gradient: 1e-9, decrease: 0.0 };
        let found = descend(vec![0.0; 20], limits, None, quadratic);
        let expected: Vec<f64> = (0..20).map(f64::from).collect();
        near(&found.parameters, &expected, 1e-6);
        assert_eq!(found.end, DescentEnd::Converged, "{found:?}");
    }

    #[test]
    fn the_banana_is_followed_to_its_end() {
        let banana = |x: &[f64], gradient: &mut [f64]| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            gradient.copy_from_slice(&[-2.0 * a - 400.0 * x[0] * b, 200.0 * b]);
            a * a + 100.0 * b * b
        };
        let found = descend(vec![-1.2, 1.0], DescentLimits::default(), None, banana);
        near(&found.parameters, &[1.0, 1.0], 1e-4);
        assert!(found.iterations < 100, "{found:?}");
    }

    #[test]
    fn a_logistic_fit_has_the_weights_of_its_closed_form() {
        // Of 100 rows with x = 1 there are 73 successes, of 100 with x = 0 there are 20: the log odds.
        let rows = [(1.0, 73.0, 27.0), (0.0, 20.0, 80.0)];
        let logistic = |x: &[f64], gradient: &mut [f64]| {
            gradient.fill(0.0);
            let mut value = 0.0;
            for (feature, yes, no) in rows {
                let score = x[0] * feature + x[1];
                value += yes * (-score).exp().ln_1p() + no * score.exp().ln_1p();
                let slope = (yes + no) / (1.0 + (-score).exp()) - yes;
                gradient[0] += slope * feature;
                gradient[1] += slope;
            }
            value
        };
        let found = descend(vec![0.0; 2], DescentLimits::default(), None, logistic);
        let odds = |yes: f64, no: f64| (yes / no).ln();
        near(&found.parameters, &[odds(73.0, 27.0) - odds(20.0, 80.0), odds(20.0, 80.0)], 1e-5);
    }

    #[test]
    fn the_second_step_goes_along_the_curvature_that_the_first_showed() {
        // f = (x² + 10 y²) / 2 from (10, 1), g = (10, 10). The plain slope wins with t = 1 / |g| right away; by the
        // secant equation H y = s, the next direction is −H g′.
        let (start, gradient) = ([10.0, 1.0], [10.0, 10.0]);
        let t = 1.0 / 200.0_f64.sqrt();
        let next = [start[0] - t * gradient[0], start[1] - t * gradient[1]];
        let after = [next[0], 10.0 * next[1]];
        let pair = Pair {
            step: difference(&next, &start),
            change: difference(&after, &gradient),
            solved: difference(&after, &gradient),
            scale: dot(&difference(&next, &start), &difference(&after, &gradient)).recip(),
        };
        let (s, y) = (pair.step.clone(), pair.change.clone());
        let found = direction(&y, &y, &VecDeque::from([pair]));
        near(&found, &[-s[0], -s[1]], 1e-12);
    }

    #[test]
    fn with_the_curvature_of_a_quadratic_one_step_is_enough_and_with_one_near_it_few_are() {
        // (x − 1) P (x − 1) / 2 with P = A + diag(1, …, 10⁴), whose condition alone takes many steps.
        let len = 5;
        let cell = |i: usize, j: usize| if i == j { 10.0_f64.powi(i as i32) + 0.5 } else { 0.5 };
        let matrix: Vec<f64> = (0..len * len).map(|at| cell(at / len, at % len)).collect();
        let quadratic = |x: &[f64], gradient: &mut [f64]| {
            let off: Vec<f64> = x.iter().map(|x| x - 1.0).collect();
            for (row, g) in gradient.iter_mut().enumerate() {
                *g = dot(&matrix[row * len..][..len], &off);
            }
            dot(gradient, &off) / 2.0
        };
        let limits = DescentLimits { iterations: 500, gradient: 1e-9, decrease: 0.0 };
        let steps = |known: Option<&Curvature>| {
            let found = descend(vec![0.0; len], limits, known, quadratic);
            near(&found.parameters, &[1.0; 5], 1e-6);
            found.iterations
        };
        let same = Curvature::new(matrix.clone(), len).unwrap();
        let near_it: Vec<f64> =
            matrix.iter().enumerate().map(|(at, x)| if at % (len + 1) == 0 { 1.5 * x } else { *x }).collect();
        let near_it = Curvature::new(near_it, len).unwrap();
        assert_eq!(steps(Some(&same)), 1);
        assert!(steps(Some(&near_it)) < steps(None) / 2, "{} {}", steps(Some(&near_it)), steps(None));
    }

    #[test]
    fn a_warm_start_at_the_minimum_makes_no_step_and_limits_are_kept() {
        let bowl = |x: &[f64], gradient: &mut [f64]| {
            gradient[0] = 4.0 * (x[0] - 2.0).powi(3);
            (x[0] - 2.0).powi(4)
        };
        let there = descend(vec![2.0], DescentLimits::default(), None, bowl);
        assert_eq!((there.iterations, there.end), (0, DescentEnd::Converged));
        let limits = DescentLimits { iterations: 3, gradient: 0.0, decrease: 0.0 };
        let short = descend(vec![9.0], limits, None, bowl);
        assert_eq!((short.iterations, short.end), (3, DescentEnd::Limit));
        assert!(short.value < 2401.0);
    }

    #[test]
    fn kinks_and_values_that_are_no_numbers_end_a_descent() {
        // |x| has its minimum at a kink; ln x has no value left of 0.
        let kink = |x: &[f64], gradient: &mut [f64]| {
            gradient[0] = if x[0] > 0.0 { 1.0 } else { -1.0 };
            x[0].abs()
        };
        let found = descend(vec![0.7], DescentLimits::default(), None, kink);
        assert!(found.parameters[0].abs() < 1e-6 && found.end != DescentEnd::Limit, "{found:?}");
        let wall = |x: &[f64], gradient: &mut [f64]| {
            gradient[0] = 1.0 - 1.0 / x[0];
            x[0] - x[0].ln()
        };
        near(&descend(vec![40.0], DescentLimits::default(), None, wall).parameters, &[1.0], 1e-4);
        let nowhere = descend(vec![-1.0], DescentLimits::default(), None, wall);
        assert_eq!(nowhere.end, DescentEnd::NotFinite);
    }

    #[test]
    fn least_squares_with_weight_decay_solves_the_normal_equations() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let (rows, width, decay) = (60, 5, 0.3);
        let mut numbers =
            |count: usize| -> Vec<f64> { (0..count).map(|_| random.random_range(-1.0..1.0)).collect() };
        let (x, y) = (numbers(rows * width), numbers(rows));
        let squares = |w: &[f64], gradient: &mut [f64]| {
            let mut value = 0.0;
            gradient.iter_mut().zip(w).for_each(|(g, w)| *g = 2.0 * decay * w);
            for (x, y) in x.chunks(width).zip(&y) {
                let error = dot(x, w) - y;
                add(gradient, 2.0 * error, x);
                value += error * error;
            }
            value + decay * dot(w, w)
        };
        let limits = DescentLimits { decrease: 0.0, ..DescentLimits::default() };
        let found = descend(vec![1.0; width], limits, None, squares);
        // (XᵀX + decay) w = Xᵀy.
        for i in 0..width {
            let column = |i: usize| x.chunks(width).map(move |x| x[i]);
            let left: f64 = (0..width)
                .map(|j| column(i).zip(column(j)).map(|(a, b)| a * b).sum::<f64>() * found.parameters[j])
                .sum();
            let right: f64 = column(i).zip(&y).map(|(a, b)| a * b).sum();
            assert!((left + decay * found.parameters[i] - right).abs() < 1e-6, "{found:?}");
        }
    }
}
