//! The quantile of the largest deviation of any form, from normal draws.
//!
//! One of 10,000 numbers is asked for, to the last bit. So all draws are first made with few digits: numbers of 32 bits,
//! and polynomials in place of logarithms, sines and cosines. No deviation is off by as much as [`OFF`], which says how
//! many draws are below the quantile for sure, and which few it is one of; these alone are made exactly.

use crate::threads;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::{Arc, Mutex, MutexGuard};

/// Draws that the quantile of the largest deviation is taken from.
pub(super) const DRAWS: usize = 10_000;

/// More than a deviation that is made with few digits is off by; deviations have the scale of normal numbers.
const OFF: f32 = 2e-3;

/// The most that deviations of rates may exceed those of the forms they cancel out in, as errors grow with it.
const LARGEST_RATES: f64 = 100.0;

/// The most draws that the quantile may be one of.
const MOST_NEAR: usize = DRAWS / 20;

/// Draws that are made at once.
const LANES: usize = 8;

/// Pairs of normal numbers that are made at once.
const PAIRS: usize = 64;

/// Draws of a task.
const TASK: usize = 2_000;

/// Forms of `n` rates, each with what makes its variance 1, and a square root of the covariance of the rates.
pub(super) struct DeviationForms<'a> {
    pub factor: &'a [f64],
    pub n: usize,
    pub forms: &'a [(f64, Vec<(usize, f64)>)],
}

impl DeviationForms<'_> {
    /// Pairs of normal numbers that a draw takes.
    fn pairs(&self) -> usize {
        self.n.div_ceil(2)
    }

    /// The columns of the factor before those that are 0, as the last ones of a singular covariance are.
    fn rank(&self) -> usize {
        let is_filled = |&column: &usize| (0..self.n).any(|row| self.factor[row * self.n + column] != 0.0);
        (0..self.n).rev().find(is_filled).map_or(0, |last| last + 1)
    }

    /// The largest deviation of any form in each draw.
    fn largest(&self, normals: &[[f64; 2]]) -> Vec<f64> {
        let (n, rank, width) = (self.n, self.rank(), self.pairs().max(1));
        let (mut independent, mut rates) = (vec![[0.0; LANES]; n + 1], vec![[0.0; LANES]; n]);
        let mut largest = Vec::with_capacity(normals.len() / width + LANES);
        for draws in normals.chunks(LANES * width) {
            for (lane, draw) in draws.chunks(width).enumerate() {
                independent.iter_mut().zip(draw.as_flattened()).for_each(|(to, z)| to[lane] = *z);
            }
            for (rate, row) in rates.iter_mut().zip(self.factor.chunks(n.max(1))) {
                let mut sums = [0.0; LANES];
                for (f, z) in row[..rank].iter().zip(&independent) {
                    (0..LANES).for_each(|lane| sums[lane] += f * z[lane]);
                }
                *rate = sums;
            }
            let mut deviations = [0.0; LANES];
            for (scale, form) in self.forms {
                let mut sums = [0.0; LANES];
                for &(a, x) in form {
                    let rate = &rates[a];
                    (0..LANES).for_each(|lane| sums[lane] += x * rate[lane]);
                }
                for lane in 0..LANES {
                    let deviation = scale * sums[lane].abs();
                    deviations[lane] =
                        if deviation > deviations[lane] { deviation } else { deviations[lane] };
                }
            }
            largest.extend(deviations);
        }
        largest.truncate(normals.len() / width);
        largest
    }

    /// The same with few digits; none where they may not be enough.
    fn nearly_largest(&self, normals: &[[f32; 2]]) -> Option<Vec<f32>> {
        let (n, width) = (self.n, self.pairs().max(1));
        let row = |a: usize| &self.factor[a * n..][..n];
        let size = |a: usize| row(a).iter().map(|f| f * f).sum::<f64>().sqrt();
        let rates_in = |(scale, form): &(f64, Vec<(usize, f64)>)| {
            scale * form.iter().map(|&(a, x)| x.abs() * size(a)).sum::<f64>()
        };
        if !self.forms.iter().all(|form| rates_in(form) < LARGEST_RATES) {
            return None;
        }
        let unit = (0..n).map(size).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        // Half of a root are zeros, at the ends of rows.
        let filled = |row: &[f64]| row.iter().rposition(|f| *f != 0.0).map_or(0, |last| last + 1);
        let near = |row: &[f64]| row[..filled(row)].iter().map(|f| (f / unit) as f32).collect();
        let factor: Vec<Vec<f32>> = (0..n).map(|a| near(row(a))).collect();
        let forms = NearForms::new(self.forms, unit);
        let tasks: Vec<&[[f32; 2]]> = normals.chunks(TASK * width).collect();
        let found = threads::map(&tasks, &|normals| {
            let (mut independent, mut rates) = (vec![[0.0; LANES]; 2 * width], vec![[0.0; LANES]; n]);
            let mut largest = Vec::with_capacity(TASK);
            for draws in normals.chunks(LANES * width) {
                for (lane, draw) in draws.chunks(width).enumerate() {
                    independent.iter_mut().zip(draw.as_flattened()).for_each(|(to, z)| to[lane] = *z);
                }
                for (rate, row) in rates.iter_mut().zip(&factor) {
                    *rate = scaled_sum(row.iter().zip(&independent).map(|(f, z)| (*f, z)));
                }
                let deviations = forms.largest(&rates);
                largest.extend_from_slice(&deviations[..draws.len() / width]);
            }
            largest
        });
        Some(found.concat())
    }
}

#[inline(always)]
fn scaled_sum<'z>(terms: impl Iterator<Item = (f32, &'z [f32; LANES])>) -> [f32; LANES] {
    let mut sums = [0.0; LANES];
    terms.for_each(|(factor, numbers)| (0..LANES).for_each(|lane| sums[lane] += factor * numbers[lane]));
    sums
}

/// Forms with few digits.
struct NearForms {
    /// Two rates, and what their difference is scaled by: most forms are such.
    differences: Vec<(f32, usize, usize)>,
    others: Vec<Vec<(usize, f32)>>,
}

impl NearForms {
    /// Forms of rates in some unit.
    fn new(forms: &[(f64, Vec<(usize, f64)>)], unit: f64) -> NearForms {
        let mut near = NearForms { differences: Vec::new(), others: Vec::new() };
        for (scale, form) in forms {
            let scaled = |x: f64| (scale * x * unit) as f32;
            match form[..] {
                [(a, x), (b, y)] if x == -y => near.differences.push((scaled(x.abs()), a, b)),
                _ => near.others.push(form.iter().map(|&(a, x)| (a, scaled(x))).collect()),
            }
        }
        near
    }

    /// The largest deviation of any form. Called, so that lanes stay together.
    #[inline(never)]
    fn largest(&self, rates: &[[f32; LANES]]) -> [f32; LANES] {
        let mut largest = [0.0; LANES];
        for &(scale, a, b) in &self.differences {
            let (a, b) = (&rates[a], &rates[b]);
            (0..LANES).for_each(|at| largest[at] = larger(scale * (a[at] - b[at]).abs(), largest[at]));
        }
        for form in &self.others {
            let sums = scaled_sum(form.iter().map(|&(a, x)| (x, &rates[a])));
            (0..LANES).for_each(|lane| largest[lane] = larger(sums[lane].abs(), largest[lane]));
        }
        largest
    }
}

/// As one instruction, which the library's function is not.
#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// Numbers of the normal distribution, two at a time (Box and Muller), always the same of a seed: expressions of one
/// measurement share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Normals(Arc<Mutex<DrawnNumbers>>);

/// The first numbers, exactly and with few digits.
#[derive(Debug, Default)]
struct DrawnNumbers {
    exact: Vec<[f64; 2]>,
    near: Arc<Vec<[f32; 2]>>,
}

impl Normals {
    /// The draw at a place among [`DRAWS`], sorted by the largest deviation of any form.
    pub(super) fn quantile(&self, seed: u64, forms: &DeviationForms, at: usize) -> f64 {
        self.near_quantile(seed, forms, at).unwrap_or_else(|| self.exact_quantile(seed, forms, at))
    }

    /// The same from all draws, made exactly.
    fn exact_quantile(&self, seed: u64, forms: &DeviationForms, at: usize) -> f64 {
        let (mut drawn, count) = (self.drawn(), forms.pairs() * DRAWS);
        if drawn.exact.len() < count {
            let from = drawn.exact.len();
            drawn.exact.extend(exact_pairs(seed, from, count - from));
        }
        let mut largest = forms.largest(&drawn.exact[..count]);
        largest.resize(DRAWS, 0.0);
        *largest.select_nth_unstable_by(at, f64::total_cmp).1
    }

    /// The same from those that few digits leave; none if they leave too many.
    fn near_quantile(&self, seed: u64, forms: &DeviationForms, at: usize) -> Option<f64> {
        let width = forms.pairs();
        // No other thread may wait for this one while it waits for others.
        let mut normals = self.drawn().near.clone();
        if normals.len() < width * DRAWS {
            normals = Arc::new(near_pairs(seed, width * DRAWS));
            self.drawn().near = normals.clone();
        }
        let near = forms.nearly_largest(&normals[..width * DRAWS])?;
        let mut sorted = near.clone();
        if at >= sorted.len() {
            return None;
        }
        let quantile = *sorted.select_nth_unstable_by(at, f32::total_cmp).1;
        let below = near.iter().filter(|deviation| **deviation < quantile - 2.0 * OFF).count();
        let is_near = |draw: &usize| (near[*draw] - quantile).abs() <= 2.0 * OFF;
        let draws: Vec<usize> = (0..near.len()).filter(is_near).collect();
        if draws.len() > MOST_NEAR {
            return None;
        }
        let pairs: Vec<[f64; 2]> =
            draws.iter().flat_map(|draw| exact_pairs(seed, draw * width, width)).collect();
        let mut exact = forms.largest(&pairs);
        let is_close =
            |(exact, &draw): (&f64, &usize)| (exact - f64::from(near[draw])).abs() < f64::from(OFF);
        if at < below || at - below >= exact.len() || !exact.iter().zip(&draws).all(is_close) {
            return None;
        }
        Some(*exact.select_nth_unstable_by(at - below, f64::total_cmp).1)
    }

    fn drawn(&self) -> MutexGuard<'_, DrawnNumbers> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Pairs of uniform numbers of a seed, from one on.
fn uniform_pairs(seed: u64, from: usize) -> impl Iterator<Item = (f64, f64)> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // Each number takes a word of 64 bits, of which the generator counts halves.
    random.set_word_pos(4 * from as u128);
    std::iter::repeat_with(move || (random.random(), random.random()))
}

/// So many pairs of normal numbers, from one on.
fn exact_pairs(seed: u64, from: usize, count: usize) -> impl Iterator<Item = [f64; 2]> {
    uniform_pairs(seed, from).take(count).map(|(u, v)| {
        let radius = (-2.0 * (1.0 - u).ln()).sqrt();
        let (sine, cosine) = (std::f64::consts::TAU * v).sin_cos();
        [radius * cosine, radius * sine]
    })
}

/// The first pairs, with few digits.
fn near_pairs(seed: u64, count: usize) -> Vec<[f32; 2]> {
    let mut all = vec![[0.0; 2]; count];
    threads::fill(&mut all, &|from, own| {
        let mut uniform = uniform_pairs(seed, from);
        let (mut rest, mut turn) = ([1.0; PAIRS], [0.0; PAIRS]);
        for pairs in own.chunks_mut(PAIRS) {
            for ((rest, turn), (u, v)) in
                rest.iter_mut().zip(&mut turn).zip(uniform.by_ref()).take(pairs.len())
            {
                (*rest, *turn) = ((1.0 - u) as f32, (v - 0.5) as f32);
            }
            let mut made = [[0.0; 2]; PAIRS];
            (0..PAIRS).for_each(|at| made[at] = near_pair(rest[at], turn[at]));
            pairs.copy_from_slice(&made[..pairs.len()]);
        }
    });
    all
}

/// A polynomial of numbers that its coefficients are the reciprocals of.
#[inline(always)]
fn polynomial<const N: usize>(q: f32, reciprocals: [f32; N]) -> f32 {
    reciprocals.iter().rev().fold(0.0, |sum, reciprocal| sum * q + 1.0 / reciprocal)
}

/// The pair of a radius by its `rest` 1 − u, which is above 0, and of an angle by its `turn` from the opposite one, a half
/// at most.
#[inline(always)]
fn near_pair(rest: f32, turn: f32) -> [f32; 2] {
    // The rest is m 2^e with m between √½ and √2, and ln m = 2 artanh s.
    const ROOT: i32 = 0x3f35_04f3;
    let bits = rest.to_bits() as i32;
    let e = (bits - ROOT) >> 23;
    let m = f32::from_bits((bits - (e << 23)) as u32);
    let s = (m - 1.0) / (m + 1.0);
    let q = s * s;
    let ln_m = 2.0 * s * polynomial(q, [1.0, 3.0, 5.0, 7.0, 9.0]);
    let squared = -2.0 * (ln_m + e as f32 * std::f32::consts::LN_2);
    let radius = larger(squared, 0.0).sqrt();
    // Sine and cosine of half the angle, from which those of the whole follow.
    let y = std::f32::consts::PI * turn;
    let q = y * y;
    let sine = y * polynomial(q, [1.0, -6.0, 120.0, -5_040.0, 362_880.0, -39_916_800.0]);
    let cosine = polynomial(q, [1.0, -2.0, 24.0, -720.0, 40_320.0, -3_628_800.0, 479_001_600.0]);
    [radius * (2.0 * sine * sine - 1.0), radius * (-2.0 * sine * cosine)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn few_digits_are_enough() {
        for seed in 0..4 {
            let near = near_pairs(seed, 50_000);
            for (near, exact) in near.iter().zip(exact_pairs(seed, 0, 50_000)) {
                for (near, exact) in near.iter().zip(exact) {
                    assert!((f64::from(*near) - exact).abs() < f64::from(OFF) / 20.0, "{near} {exact}");
                }
            }
        }
        // The largest radius, the least ones, and all around.
        for rest in [1.0 / (1_u64 << 53) as f64, 1e-6, 0.5, 0.70, 0.71, 1.0 - 1e-7, 1.0] {
            for step in -50..=50 {
                let turn = f64::from(step) / 100.0;
                let radius = (-2.0 * rest.ln()).sqrt();
                let (sine, cosine) = (std::f64::consts::TAU * (turn + 0.5)).sin_cos();
                let near = near_pair(rest as f32, turn as f32).map(f64::from);
                let off = (near[0] - radius * cosine).abs().max((near[1] - radius * sine).abs());
                assert!(off < f64::from(OFF) / 5.0, "{rest} {turn}: {off}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        /// Covariances that are singular or nearly so, forms of one rate and of several, places of any quantile.
        #[test]
        fn quantiles_are_those_of_all_exact_draws(
            n in 1_usize..9,
            numbers in prop::collection::vec(prop_oneof![Just(0.0), -1.0..1.0, Just(1e-4)], 81),
            lists in prop::collection::vec(
                prop_oneof![
                    prop::collection::vec((0_usize..9, -2.0..2.0), 1..4),
                    (0_usize..9, 0_usize..9, -2.0..2.0_f64).prop_map(|(a, b, x)| vec![(a, x), (b, -x)]),
                ],
                0..30,
            ),
            at in prop_oneof![Just(9_500_usize), 0_usize..DRAWS, Just(DRAWS - 1)],
            unit in prop_oneof![Just(1.0), Just(1e-30), Just(1e30)],
            seed in 0_u64..3,
        ) {
            let factor: Vec<f64> = numbers[..n * n].iter().map(|number| number * unit).collect();
            let of_variance_one = |list: &Vec<(usize, f64)>| {
                let form: Vec<(usize, f64)> = list.iter().map(|&(a, x)| (a % n, x)).collect();
                let sum = |k: usize| form.iter().map(|&(a, x)| x * factor[a * n + k]).sum::<f64>();
                let variance: f64 = (0..n).map(|k| sum(k) * sum(k)).sum();
                (variance > 0.0).then(|| (variance.sqrt().recip(), form))
            };
            let scaled: Vec<_> = lists.iter().filter_map(of_variance_one).collect();
            let forms = DeviationForms { factor: &factor, n, forms: &scaled };
            let normals = Normals::default();
            let exact = normals.exact_quantile(seed, &forms, at);
            prop_assert_eq!(normals.quantile(seed, &forms, at).to_bits(), exact.to_bits());
            if let Some(near) = normals.near_quantile(seed, &forms, at) {
                prop_assert_eq!(near.to_bits(), exact.to_bits());
            }
        }
    }

    #[test]
    fn criteria_of_groups_take_few_exact_draws_and_lists_of_equal_draws_take_all() {
        let factor: Vec<f64> = (0..144).map(|at| if at % 13 == 0 { 1.0 } else { 0.1 }).collect();
        let difference = |(a, b): (usize, usize)| (0.78, vec![(a, 1.0), (b, -1.0)]);
        let forms: Vec<_> = (0..12).flat_map(|a| (0..a).map(move |b| (a, b))).map(difference).collect();
        let normals = Normals::default();
        let found =
            |forms: &[_]| normals.near_quantile(0, &DeviationForms { factor: &factor, n: 12, forms }, 9_500);
        assert!(found(&forms).is_some());
        assert_eq!(found(&[]), None);
        assert!(normals.drawn().exact.is_empty());
    }
}
