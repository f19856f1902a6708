//! The linear scorer: f(x) = w·x, or w·x + b with an intercept.
//!
//! Its Jacobian is the matrix of features itself, so that the gradient by w is Σᵢ gᵢ xᵢ, and by b it is
//! Σᵢ gᵢ. Widths up to [`NARROW`] have loops of their own, whose sums stay in registers. Words are features of
//! 0 and 1, of which only the ones are looked at.

use serde::{Deserialize, Serialize};

use super::architecture::{LearnerDefaults, LearnerSpec};
use super::sweep::{self, Block, Kernel};
use super::{Features, GroupUse, Scorer, ScorerError, Trace};

/// The widest rows with a loop of their own.
const NARROW: usize = 8;

/// GradientSums that are carried side by side, since one has to wait for the addition before.
const LANES: usize = 8;

/// Rows whose gradient is added at once.
const ROWS: usize = 4;

/// f(x) = w·x (+ b).
///
/// Parameters: the weights, then the intercept if there is one; then the offsets of groups, or the same
/// again for each group and for rows without one (see [`GroupUse`]).
///
/// A ranking does not change with an intercept, so that it is for regression. Where groups have weights
/// of their own the intercepts do make a difference, and each set has one, whatever `intercept` says.
///
/// ```
/// use pairity::learners::{Features, GroupUse, Linear, Scorer};
///
/// let scorer = Linear { width: 1, intercept: true, start: 1.0, groups: GroupUse::Offsets { groups: 2 } };
/// assert_eq!(scorer.start(0), [1.0, 0.0, 0.0, 0.0]); // w, b, and two offsets
/// let features = Features::new(3, 1, vec![1.0, 1.0, 1.0])?.with_codes(vec![0, 1, 2])?;
/// let mut scores = [0.0; 3];
/// scorer.score(&[2.0, 0.5, 10.0, 20.0], &features, &mut scores);
/// assert_eq!(scores, [12.5, 22.5, 2.5]); // the last row belongs to no group
/// # Ok::<(), pairity::learners::FeaturesError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Linear {
    /// Number of features, words included.
    pub width: usize,
    /// Whether a constant is added and learned.
    pub intercept: bool,
    /// What every weight starts at, such as 0 or 1; intercepts and offsets start at 0.
    pub start: f64,
    /// How groups are used.
    pub groups: GroupUse,
}

impl Linear {
    /// One set of weights, of which so many are for features that are stored one by one.
    fn kernel(&self, dense: usize) -> GradientSums {
        let intercept = self.intercept || matches!(self.groups, GroupUse::Weights { .. });
        GradientSums { width: self.width, dense, intercept }
    }
}

impl Linear {
    pub(super) const DEFAULTS: LearnerDefaults = LearnerDefaults::NUMBERS;

    /// Weights start at 1, unless they have to find a scale (regression) or are many (words): then at 0.
    pub(super) fn build(spec: &LearnerSpec) -> Linear {
        let &LearnerSpec { width, groups, regression, has_text, .. } = spec;
        let start = if regression || has_text { 0.0 } else { 1.0 };
        Linear { width, intercept: regression, start, groups }
    }
}

impl Scorer for Linear {
    fn len(&self) -> usize {
        self.groups.len(self.kernel(self.width).len())
    }

    fn width(&self) -> usize {
        self.width
    }

    fn groups(&self) -> GroupUse {
        self.groups
    }

    fn check_sizes(&self) -> Result<(), ScorerError> {
        match self.start.is_finite() {
            true => Ok(()),
            false => Err(ScorerError::Start(self.start)),
        }
    }

    fn start(&self, _seed: u64) -> Vec<f64> {
        let mut set = vec![self.start; self.width];
        set.resize(self.kernel(self.width).len(), 0.0);
        self.groups.start(set)
    }

    fn score(&self, parameters: &[f64], features: &Features, scores: &mut [f64]) {
        debug_assert_eq!(features.width(), self.width);
        sweep::score(&self.kernel(features.dense_width()), self.groups, parameters, features, scores);
    }

    fn pull_back(
        &self,
        parameters: &[f64],
        features: &Features,
        _trace: &Trace,
        score_gradient: &[f64],
        gradient: &mut [f64],
    ) {
        debug_assert_eq!(features.width(), self.width);
        let kernel = self.kernel(features.dense_width());
        sweep::pull_back(&kernel, self.groups, parameters, features, score_gradient, gradient);
    }
}

/// One set of weights.
struct GradientSums {
    width: usize,
    dense: usize,
    intercept: bool,
}

impl Kernel for GradientSums {
    fn len(&self) -> usize {
        self.width.saturating_add(usize::from(self.intercept))
    }

    fn score(&self, parameters: &[f64], rows: Block, scores: &mut [f64]) {
        let (weights, rest) = parameters.split_at(self.width);
        let (weights, by_word) = weights.split_at(self.dense);
        let intercept = rest.first().copied().unwrap_or(0.0);
        let values = rows.values;
        match self.dense {
            0 => scores.fill(intercept),
            1 => score_narrow::<1>(weights, intercept, values, scores),
            2 => score_narrow::<2>(weights, intercept, values, scores),
            3 => score_narrow::<3>(weights, intercept, values, scores),
            4 => score_narrow::<4>(weights, intercept, values, scores),
            5 => score_narrow::<5>(weights, intercept, values, scores),
            6 => score_narrow::<6>(weights, intercept, values, scores),
            7 => score_narrow::<7>(weights, intercept, values, scores),
            NARROW => score_narrow::<NARROW>(weights, intercept, values, scores),
            width => {
                for (score, x) in scores.iter_mut().zip(values.chunks_exact(width)) {
                    *score = intercept + dot(weights, x);
                }
            }
        }
        if let Some(words) = rows.words() {
            for (score, words) in scores.iter_mut().zip(words) {
                *score += words.iter().map(|&word| by_word[word as usize]).sum::<f64>();
            }
        }
    }

    fn pull_back(&self, _: &[f64], rows: Block, score_gradient: &[f64], gradient: &mut [f64]) {
        let (weights, rest) = gradient.split_at_mut(self.width);
        let (weights, by_word) = weights.split_at_mut(self.dense);
        let values = &rows.values[..score_gradient.len() * self.dense];
        if let Some(intercept) = rest.first_mut() {
            *intercept += sum(score_gradient);
        }
        match self.dense {
            0 => {}
            1 => pull_back_narrow::<1>(values, score_gradient, weights),
            2 => pull_back_narrow::<2>(values, score_gradient, weights),
            3 => pull_back_narrow::<3>(values, score_gradient, weights),
            4 => pull_back_narrow::<4>(values, score_gradient, weights),
            5 => pull_back_narrow::<5>(values, score_gradient, weights),
            6 => pull_back_narrow::<6>(values, score_gradient, weights),
            7 => pull_back_narrow::<7>(values, score_gradient, weights),
            NARROW => pull_back_narrow::<NARROW>(values, score_gradient, weights),
            width => pull_back_wide(width, values, score_gradient, weights),
        }
        if let Some(words) = rows.words() {
            for (g, words) in score_gradient.iter().zip(words) {
                words.iter().for_each(|&word| by_word[word as usize] += g);
            }
        }
    }
}

fn score_narrow<const WIDTH: usize>(weights: &[f64], intercept: f64, values: &[f64], scores: &mut [f64]) {
    let Some(weights) = weights.first_chunk::<WIDTH>() else { return };
    let (rows, _) = values.as_chunks::<WIDTH>();
    for (score, x) in scores.iter_mut().zip(rows) {
        let mut sum = intercept;
        for (w, x) in weights.iter().zip(x) {
            sum += w * x;
        }
        *score = sum;
    }
}

fn pull_back_narrow<const WIDTH: usize>(values: &[f64], by_score: &[f64], gradient: &mut [f64]) {
    let (rows, _) = values.as_chunks::<WIDTH>();
    let (quads, last) = rows.as_chunks::<ROWS>();
    let (by_quad, by_last) = by_score.as_chunks::<ROWS>();
    let mut sums = [[0.0; WIDTH]; ROWS];
    for (quad, g) in quads.iter().zip(by_quad) {
        for row in 0..ROWS {
            for i in 0..WIDTH {
                sums[row][i] += g[row] * quad[row][i];
            }
        }
    }
    for (x, g) in last.iter().zip(by_last) {
        for i in 0..WIDTH {
            sums[0][i] += g * x[i];
        }
    }
    for (i, gradient) in gradient.iter_mut().enumerate().take(WIDTH) {
        *gradient += (sums[0][i] + sums[1][i]) + (sums[2][i] + sums[3][i]);
    }
}

fn pull_back_wide(width: usize, values: &[f64], by_score: &[f64], gradient: &mut [f64]) {
    let (by_quad, by_last) = by_score.as_chunks::<ROWS>();
    let quads = values.chunks_exact(ROWS * width);
    let last = quads.remainder().chunks_exact(width);
    for (quad, g) in quads.zip(by_quad) {
        let (first, second) = quad.split_at(2 * width);
        let ((a, b), (c, d)) = (first.split_at(width), second.split_at(width));
        for ((((gradient, a), b), c), d) in gradient.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *gradient += (g[0] * a + g[1] * b) + (g[2] * c + g[3] * d);
        }
    }
    for (x, g) in last.zip(by_last) {
        for (gradient, x) in gradient.iter_mut().zip(x) {
            *gradient += g * x;
        }
    }
}

/// Σ aᵢ bᵢ, in lanes.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_last), (b, b_last)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut lanes = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    let last: f64 = a_last.iter().zip(b_last).map(|(a, b)| a * b).sum();
    fold(lanes) + last
}

/// Σ aᵢ, in lanes.
fn sum(a: &[f64]) -> f64 {
    let (a, last) = a.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for a in a {
        for lane in 0..LANES {
            lanes[lane] += a[lane];
        }
    }
    fold(lanes) + last.iter().sum::<f64>()
}

fn fold([a, b, c, d, e, f, g, h]: [f64; LANES]) -> f64 {
    ((a + e) + (b + f)) + ((c + g) + (d + h))
}
