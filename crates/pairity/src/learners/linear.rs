//! The linear scorer: f(x) = w·x, or w·x + b with an intercept.
//!
//! Its Jacobian is the matrix of features itself, so that the gradient by w is Σᵢ gᵢ xᵢ, and by b it is
//! Σᵢ gᵢ. Widths up to 8 have loops of their own, whose sums stay in registers. Of sparse features only
//! stored cells are looked at: a cell is a + d, where a is the absent one of its column and d is 0 unless it is stored,
//! so that w·x = w·a + Σ wd over stored cells, and the gradient is a Σᵢ gᵢ + Σ gᵢd.

use serde::{Deserialize, Serialize};

use super::architecture::{LearnerDefaults, LearnerSpec};
use super::sweep::{self, FeatureBlock, Kernel};
use super::{Features, GroupUse, Scorer, ScorerError, Trace};
use crate::wide::{self, wide};

/// Sums that are carried side by side, since one has to wait for the addition before.
const LANES: usize = 8;

/// Rows that are worked on at once.
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
    /// Number of features, sparse ones included.
    pub width: usize,
    /// Whether a constant is added and learned.
    pub intercept: bool,
    /// What every weight starts at, such as 0 or 1; intercepts and offsets start at 0.
    pub start: f64,
    /// How groups are used.
    pub groups: GroupUse,
}

impl Linear {
    pub(super) const DEFAULTS: LearnerDefaults = LearnerDefaults { sparse: true, ..LearnerDefaults::NUMBERS };

    /// Weights start at 1, unless they have to find a scale (regression) or are many (words): then at 0.
    pub(super) fn build(spec: &LearnerSpec) -> Linear {
        let &LearnerSpec { width, groups, regression, has_text, .. } = spec;
        let start = if regression || has_text { 0.0 } else { 1.0 };
        Linear { width, intercept: regression, start, groups }
    }
}

impl Scorer for Linear {
    fn set_len(&self) -> usize {
        let intercept = self.intercept || matches!(self.groups, GroupUse::Weights { .. });
        self.width.saturating_add(usize::from(intercept))
    }

    fn output(&self) -> usize {
        0
    }

    fn width(&self) -> usize {
        self.width
    }

    fn groups(&self) -> GroupUse {
        self.groups
    }

    fn check_sizes(&self) -> Result<(), ScorerError> {
        if self.start.is_finite() { Ok(()) } else { Err(ScorerError::Start(self.start)) }
    }

    fn start_set(&self, _seed: u64) -> Vec<f64> {
        let mut set = vec![self.start; self.width];
        set.resize(self.set_len(), 0.0);
        set
    }

    fn score(&self, parameters: &[f64], features: &Features, scores: &mut [f64]) {
        sweep::score(self, parameters, features, scores);
    }

    fn pull_back(&self, parameters: &[f64], features: &Features, _: &Trace, slopes: &[f64]) -> Vec<f64> {
        let mut gradient = Vec::new();
        sweep::put_back(self, parameters, features, &[], slopes, &mut gradient);
        gradient
    }

    fn put_back(
        &self,
        parameters: &[f64],
        features: &Features,
        _: &Trace,
        slopes: &[f64],
        gradient: &mut Vec<f64>,
    ) {
        sweep::put_back(self, parameters, features, &[], slopes, gradient);
    }
}

impl Kernel for Linear {
    fn score_rows(&self, set: &[f64], rows: FeatureBlock, scores: &mut [f64], _: &mut [f64]) {
        let (weights, rest) = set.split_at(self.width);
        let (weights, others) = weights.split_at(rows.dense);
        let mut intercept = rest.first().copied().unwrap_or(0.0);
        if let Some((sparse, _)) = rows.sparse {
            intercept += dot(&others[..sparse.absents().len()], sparse.absents());
        }
        (loops(rows.dense).score)(weights, intercept, rows.values, scores);
        if let Some((sparse, first)) = rows.sparse {
            for (score, row) in scores.iter_mut().zip(first..sparse.rows()) {
                *score += sparse.cells(row).map(|(column, value)| others[column] * value).sum::<f64>();
            }
        }
    }

    fn pull_back_rows(&self, _: &[f64], rows: FeatureBlock, slopes: &[f64], gradient: &mut [f64]) {
        let (weights, rest) = gradient.split_at_mut(self.width);
        let (weights, others) = weights.split_at_mut(rows.dense);
        let values = &rows.values[..slopes.len() * rows.dense];
        if let Some(intercept) = rest.first_mut() {
            *intercept += sum(slopes);
        }
        (loops(rows.dense).pull_back)(values, slopes, weights);
        if let Some((sparse, first)) = rows.sparse {
            let all = sum(slopes);
            others.iter_mut().zip(sparse.absents()).for_each(|(sum, absent)| *sum += absent * all);
            for (g, row) in slopes.iter().zip(first..sparse.rows()) {
                sparse.cells(row).for_each(|(column, value)| others[column] += g * value);
            }
        }
    }
}

/// The loops over rows of one width.
struct Loops {
    /// From weights, intercept and values to scores.
    score: fn(&[f64], f64, &[f64], &mut [f64]),
    /// From values and the gradient by scores to the gradient by weights, to which it is added.
    pull_back: fn(&[f64], &[f64], &mut [f64]),
}

fn narrow<const WIDTH: usize>() -> Loops {
    Loops { score: score_narrow::<WIDTH>, pull_back: pull_back_narrow::<WIDTH> }
}

fn loops(width: usize) -> Loops {
    match width {
        0 => Loops { score: |_, intercept, _, scores| scores.fill(intercept), pull_back: |_, _, _| () },
        1 => narrow::<1>(),
        2 => narrow::<2>(),
        3 => narrow::<3>(),
        4 => narrow::<4>(),
        5 => narrow::<5>(),
        6 => narrow::<6>(),
        7 => narrow::<7>(),
        8 => narrow::<8>(),
        _ => Loops { score: score_any, pull_back: pull_back_any },
    }
}

fn score_narrow<const WIDTH: usize>(weights: &[f64], intercept: f64, values: &[f64], scores: &mut [f64]) {
    wide(
        #[inline(always)]
        || score_narrow_of::<WIDTH>(weights, intercept, values, scores),
    );
}

fn pull_back_narrow<const WIDTH: usize>(values: &[f64], by_score: &[f64], gradient: &mut [f64]) {
    wide(
        #[inline(always)]
        || pull_back_narrow_of::<WIDTH>(values, by_score, gradient),
    );
}

fn score_any(weights: &[f64], intercept: f64, values: &[f64], scores: &mut [f64]) {
    if !wide::is_there() {
        return score_any_of(weights, intercept, values, scores);
    }
    wide(
        #[inline(always)]
        || score_quads_of(weights, intercept, values, scores),
    );
}

fn pull_back_any(values: &[f64], by_score: &[f64], gradient: &mut [f64]) {
    wide(
        #[inline(always)]
        || pull_back_any_of(values, by_score, gradient),
    );
}

#[inline(always)]
fn score_narrow_of<const WIDTH: usize>(weights: &[f64], intercept: f64, values: &[f64], scores: &mut [f64]) {
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

#[inline(always)]
fn pull_back_narrow_of<const WIDTH: usize>(values: &[f64], by_score: &[f64], gradient: &mut [f64]) {
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

#[inline(always)]
fn score_any_of(weights: &[f64], intercept: f64, values: &[f64], scores: &mut [f64]) {
    for (score, x) in scores.iter_mut().zip(values.chunks_exact(weights.len())) {
        *score = intercept + dot(weights, x);
    }
}

/// The same with the same bits, four rows at once: weights are read once for them, and an addition to one waits for none to
/// another. From the last rows to the first, as gradients are added from the first ones on: what one of them read last, and a
/// cache still has, the other reads first.
#[inline(always)]
fn score_quads_of(weights: &[f64], intercept: f64, values: &[f64], scores: &mut [f64]) {
    let width = weights.len();
    let (quads, last) = scores.as_chunks_mut::<ROWS>();
    let (of_quads, of_last) = values.split_at(quads.len() * ROWS * width);
    score_any_of(weights, intercept, of_last, last);
    for (scores, rows) in quads.iter_mut().zip(of_quads.chunks_exact(ROWS * width)).rev() {
        let (first, second) = rows.split_at(2 * width);
        let ((a, b), (c, d)) = (first.split_at(width), second.split_at(width));
        let [a, b, c, d] = dots(weights, [a, b, c, d]);
        *scores = [intercept + a, intercept + b, intercept + c, intercept + d];
    }
}

#[inline(always)]
fn pull_back_any_of(values: &[f64], by_score: &[f64], gradient: &mut [f64]) {
    let width = gradient.len();
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
#[inline(always)]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_last), (b, b_last)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut lanes = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    fold(lanes) + rest(a_last, b_last)
}

/// The products of four rows, each as alone.
#[inline(always)]
fn dots(weights: &[f64], rows: [&[f64]; ROWS]) -> [f64; ROWS] {
    let (all, last) = weights.as_chunks::<LANES>();
    let [(a, a_last), (b, b_last), (c, c_last), (d, d_last)] = rows.map(|row| row.as_chunks::<LANES>());
    let (mut p, mut q, mut r, mut s) = ([0.0; LANES], [0.0; LANES], [0.0; LANES], [0.0; LANES]);
    for ((((weights, a), b), c), d) in all.iter().zip(a).zip(b).zip(c).zip(d) {
        for lane in 0..LANES {
            p[lane] += weights[lane] * a[lane];
            q[lane] += weights[lane] * b[lane];
            r[lane] += weights[lane] * c[lane];
            s[lane] += weights[lane] * d[lane];
        }
    }
    [
        fold(p) + rest(last, a_last),
        fold(q) + rest(last, b_last),
        fold(r) + rest(last, c_last),
        fold(s) + rest(last, d_last),
    ]
}

/// The products behind the last lanes.
#[inline(always)]
fn rest(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
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

#[inline(always)]
fn fold([a, b, c, d, e, f, g, h]: [f64; LANES]) -> f64 {
    added(a + e, b + f, c + g, d + h)
}

/// Out of sight of the loops: else the compiler shuffles every number into the order that lanes are added up in. And number
/// by number: lanes whose address is known are stored whenever they change, one by one.
#[inline(never)]
fn added(a: f64, b: f64, c: f64, d: f64) -> f64 {
    (a + b) + (c + d)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bits(numbers: &[f64]) -> Vec<u64> {
        numbers.iter().map(|number| number.to_bits()).collect()
    }

    /// Scores and gradient of rows of a width, first in wide vectors.
    type Both = [Loops; 2];

    fn both<const WIDTH: usize>() -> Both {
        [
            narrow::<WIDTH>(),
            Loops { score: score_narrow_of::<WIDTH>, pull_back: pull_back_narrow_of::<WIDTH> },
        ]
    }

    /// Row by row, and quad by quad.
    fn one_by_one(weights: &[f64], values: &[f64], scores: &mut [f64]) {
        for (score, x) in scores.iter_mut().zip(values.chunks_exact(weights.len())) {
            *score = 0.25 + dot(weights, x);
        }
    }

    fn back_one_by_one(values: &[f64], by_score: &[f64], gradient: &mut [f64]) {
        let width = gradient.len();
        for (i, gradient) in gradient.iter_mut().enumerate() {
            for (rows, g) in values.chunks(ROWS * width).zip(by_score.chunks(ROWS)) {
                let x = |row: usize| g[row] * rows[row * width + i];
                match g.len() {
                    ROWS => *gradient += (x(0) + x(1)) + (x(2) + x(3)),
                    few => (0..few).for_each(|row| *gradient += x(row)),
                }
            }
        }
    }

    proptest! {
        /// Rows that are no multiple of what is done at once, none, ±0, huge and tiny features.
        #[test]
        fn wide_vectors_change_no_bit(
            width in 1..20_usize,
            rows in 0..30_usize,
            numbers in prop::collection::vec(
                prop_oneof![4 => -3.0..3.0, 1 => Just(0.0), 1 => Just(-0.0), 1 => -1e300..1e300, 1 => -1e-300..1e-300],
                20 * 30 + 50,
            ),
        ) {
            let (weights, rest) = numbers.split_at(width);
            let (slopes, rest) = rest.split_at(rows);
            let values = &rest[..width * rows];
            let any = [loops(9), Loops { score: score_any_of, pull_back: pull_back_any_of }];
            let both: Both = match width {
                1 => both::<1>(),
                2 => both::<2>(),
                3 => both::<3>(),
                5 => both::<5>(),
                8 => both::<8>(),
                _ => any,
            };
            let found = both.map(|Loops { score, pull_back }| {
                let (mut scores, mut gradient) = (vec![0.0; rows], weights.to_vec());
                score(weights, 0.25, values, &mut scores);
                pull_back(values, slopes, &mut gradient);
                (bits(&scores), bits(&gradient))
            });
            prop_assert_eq!(&found[0], &found[1]);
            // Several rows at once, and one by one.
            let (mut scores, mut gradient) = (vec![0.0; rows], weights.to_vec());
            one_by_one(weights, values, &mut scores);
            back_one_by_one(values, slopes, &mut gradient);
            let (mut found, mut back) = (vec![0.0; rows], weights.to_vec());
            score_quads_of(weights, 0.25, values, &mut found);
            pull_back_any(values, slopes, &mut back);
            prop_assert_eq!([bits(&found), bits(&back)], [bits(&scores), bits(&gradient)]);
        }
    }
}
