//! The quantile of the largest deviation of any form, from normal draws.
//!
//! One of 10,000 numbers is asked for, to the last bit. So all draws are first made with few digits: numbers of 32 bits,
//! and polynomials in place of logarithms, sines and cosines. No deviation is off by as much as [`OFF`], which says how
//! many draws are below the quantile for sure, and which few it is one of; these alone are made exactly.

use super::normals::{exact_pairs, larger, near_pairs};
use crate::threads;
use crate::wide::wide;
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

/// As many groups of them are made at once with few digits: a number takes long to be read with others soon after it
/// was written alone.
const GROUPS: usize = 4;

const NEAR_LANES: usize = GROUPS * LANES;

/// Draws of a task.
const TASK: usize = 64 * NEAR_LANES;

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
        let near = NearForms::new(self, (0..n).map(size).fold(0.0, f64::max).max(f64::MIN_POSITIVE));
        let tasks: Vec<&[[f32; 2]]> = normals.chunks(TASK * width).collect();
        let found = threads::map(&tasks, &|normals| {
            let mut largest = vec![0.0; normals.len() / width];
            wide(
                #[inline(always)]
                || near.deviate(normals.as_flattened(), 2 * width, &mut largest),
            );
            largest
        });
        Some(found.concat())
    }
}

/// Forms with few digits.
struct NearForms {
    /// How many independent numbers there are.
    rank: usize,
    /// Rates by independent numbers, without the zeros at their ends: half of a root are zeros.
    rates: Vec<Vec<f32>>,
    /// A rate, and others with what its differences from them are scaled by: most forms are such.
    differences: Vec<(usize, Vec<(f32, usize)>)>,
    /// Forms by rates.
    others: Vec<Vec<(usize, f32)>>,
    /// Forms by independent numbers.
    direct: Vec<Vec<f32>>,
}

impl NearForms {
    /// Forms of rates in some unit.
    fn new(forms: &DeviationForms, unit: f64) -> NearForms {
        let (n, rank) = (forms.n, forms.rank());
        let row = |a: usize| &forms.factor[a * n..][..n];
        let filled = |row: &[f64]| row.iter().rposition(|f| *f != 0.0).map_or(0, |last| last + 1);
        let near = |row: &[f64]| row[..filled(row)].iter().map(|f| (f / unit) as f32).collect();
        let mut rates: Vec<Vec<f32>> = (0..n).map(|a| near(row(a))).collect();
        let mut differences: Vec<(usize, Vec<(f32, usize)>)> = Vec::new();
        let mut rest: Vec<&(f64, Vec<(usize, f64)>)> = Vec::new();
        for form in forms.forms {
            match form.1[..] {
                [(a, x), (b, y)] if x == -y => {
                    let other = ((form.0 * x.abs() * unit) as f32, a.min(b));
                    match differences.last_mut() {
                        Some((last, others)) if *last == a.max(b) => others.push(other),
                        _ => differences.push((a.max(b), vec![other])),
                    }
                }
                _ => rest.push(form),
            }
        }
        // Whichever takes fewer products.
        let terms: usize = rest.iter().map(|(_, form)| form.len()).sum();
        let of_rates = if differences.is_empty() { rates.iter().map(Vec::len).sum() } else { 0 };
        let is_direct = rest.len() * rank < of_rates + terms;
        if is_direct && differences.is_empty() {
            rates.clear();
        }
        let mut near = NearForms { rank, rates, differences, others: Vec::new(), direct: Vec::new() };
        for (scale, form) in rest {
            if is_direct {
                let sum = |k: usize| form.iter().map(|&(a, x)| x * row(a)[k]).sum::<f64>();
                near.direct.push((0..rank).map(|k| (scale * sum(k)) as f32).collect());
            } else {
                near.others.push(form.iter().map(|&(a, x)| (a, (scale * x * unit) as f32)).collect());
            }
        }
        near
    }

    /// The largest deviation of any form in draws of so many normal numbers each.
    #[inline(always)]
    fn deviate(&self, normals: &[f32], numbers: usize, largest: &mut [f32]) {
        let mut independent = vec![[[0.0; LANES]; GROUPS]; self.rank];
        let mut rates = vec![[[0.0; LANES]; GROUPS]; self.rates.len()];
        for (draws, to) in normals.chunks(NEAR_LANES * numbers).zip(largest.chunks_mut(NEAR_LANES)) {
            put_lanes(draws, numbers, &mut independent);
            for (rate, row) in rates.iter_mut().zip(&self.rates) {
                *rate = scaled_sum(row, &independent);
            }
            let mut found = [[0.0; LANES]; GROUPS];
            for (a, others) in &self.differences {
                let a = rates[*a];
                for &(scale, b) in others {
                    let b = &rates[b];
                    for group in 0..GROUPS {
                        for at in 0..LANES {
                            let deviation = scale * (a[group][at] - b[group][at]).abs();
                            found[group][at] = larger(deviation, found[group][at]);
                        }
                    }
                }
            }
            for form in &self.others {
                let mut sums = [[0.0; LANES]; GROUPS];
                for &(a, x) in form {
                    add_scaled(x, &rates[a], &mut sums);
                }
                enlarge(&mut found, &sums);
            }
            for form in &self.direct {
                enlarge(&mut found, &scaled_sum(form, &independent));
            }
            to.copy_from_slice(&found.as_flattened()[..to.len()]);
        }
    }
}

/// Numbers of draws that are made at once.
type DrawLanes = [[f32; LANES]; GROUPS];

/// Puts the first numbers of draws side by side.
#[inline(always)]
fn put_lanes(draws: &[f32], numbers: usize, to: &mut [DrawLanes]) {
    match numbers {
        2 => put_lanes_of::<2>(draws, to),
        4 => put_lanes_of::<4>(draws, to),
        6 => put_lanes_of::<6>(draws, to),
        8 => put_lanes_of::<8>(draws, to),
        12 => put_lanes_of::<12>(draws, to),
        16 => put_lanes_of::<16>(draws, to),
        _ => {
            for (lane, draw) in draws.chunks(numbers).enumerate() {
                for (to, z) in to.iter_mut().zip(draw) {
                    to[lane / LANES][lane % LANES] = *z;
                }
            }
        }
    }
}

/// The same of draws of `N` numbers, as those of criteria of two to four groups mostly are.
#[inline(always)]
fn put_lanes_of<const N: usize>(draws: &[f32], to: &mut [DrawLanes]) {
    let (draws, _) = draws.as_chunks::<N>();
    let mut whole = [[0.0; N]; NEAR_LANES];
    let whole = draws.first_chunk::<NEAR_LANES>().unwrap_or_else(|| {
        whole.iter_mut().zip(draws).for_each(|(to, draw)| *to = *draw);
        &whole
    });
    for (number, to) in to.iter_mut().enumerate().take(N) {
        for group in 0..GROUPS {
            for at in 0..LANES {
                to[group][at] = whole[group * LANES + at][number];
            }
        }
    }
}

#[inline(always)]
fn scaled_sum(factors: &[f32], numbers: &[DrawLanes]) -> DrawLanes {
    let mut sums = [[0.0; LANES]; GROUPS];
    for (factor, numbers) in factors.iter().zip(numbers) {
        add_scaled(*factor, numbers, &mut sums);
    }
    sums
}

#[inline(always)]
fn add_scaled(factor: f32, numbers: &DrawLanes, sums: &mut DrawLanes) {
    for group in 0..GROUPS {
        for at in 0..LANES {
            sums[group][at] += factor * numbers[group][at];
        }
    }
}

#[inline(always)]
fn enlarge(found: &mut DrawLanes, sums: &DrawLanes) {
    for group in 0..GROUPS {
        for at in 0..LANES {
            found[group][at] = larger(sums[group][at].abs(), found[group][at]);
        }
    }
}

/// Numbers of the normal distribution, which expressions of one measurement share.
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
        let (below, draws) = draws_near(&near, at)?;
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

/// How many draws are below the one at a place of their order for sure, and which it may be one of. None of them is negative.
fn draws_near(near: &[f32], at: usize) -> Option<(usize, Vec<usize>)> {
    // As in nearly all cases by those above a number that few are above.
    let found = draws_above(near, at, mostly_below(near, at));
    found.or_else(|| draws_above(near, at, 0.0))
}

/// Draws of which one is looked at for [`mostly_below`].
const SAMPLED: usize = 16;

/// A number that is below the draw at a place of their order, in all likelihood, but above most of those before it.
fn mostly_below(near: &[f32], at: usize) -> f32 {
    let mut sample: Vec<u32> = near.iter().step_by(SAMPLED).map(|deviation| deviation.to_bits()).collect();
    // Twenty-five of 625 are four times what the place of the draw in the sample deviates by, or more.
    let place = (at / SAMPLED).saturating_sub(25);
    match place < sample.len() {
        true => f32::from_bits(*sample.select_nth_unstable(place).1),
        false => 0.0,
    }
}

/// The same by draws that are not below a number, none if they are too few for that.
fn draws_above(near: &[f32], at: usize, low: f32) -> Option<(usize, Vec<usize>)> {
    let (mut above, mut count) = (vec![0; near.len()], 0);
    for (draw, deviation) in near.iter().enumerate() {
        // No branch, and a place that is there.
        above[count] = draw;
        count += usize::from(*deviation >= low);
    }
    above.truncate(count);
    let below = near.len() - count;
    let place = at.checked_sub(below).filter(|place| *place < count)?;
    // Of numbers that are not negative bits have the same order.
    let mut bits: Vec<u32> = above.iter().map(|&draw| near[draw].to_bits()).collect();
    let quantile = f32::from_bits(*bits.select_nth_unstable(place).1);
    if low > 0.0 && quantile - 2.0 * OFF < low {
        return None;
    }
    let far = above.iter().filter(|draw| near[**draw] < quantile - 2.0 * OFF).count();
    above.retain(|draw| (near[*draw] - quantile).abs() <= 2.0 * OFF);
    Some((below + far, above))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    proptest! {
        /// Many equal draws, few different ones, draws in order, and one that is infinite.
        #[test]
        fn draws_near_a_place_are_those_of_a_sorted_list(
            some in prop::collection::vec(prop_oneof![4 => 0.0..5.0_f32, 1 => Just(0.0), 1 => Just(1.5)], 1..400),
            times in 1_usize..30,
            ordered: bool,
            infinite: bool,
            at in 0_usize..12_000,
        ) {
            let step = |time: usize| if time.is_multiple_of(3) { 0.0 } else { time as f32 * 1e-4 };
            let mut near: Vec<f32> =
                (0..times).flat_map(|time| some.iter().map(move |x| x + step(time))).collect();
            if ordered {
                near.sort_by(f32::total_cmp);
            }
            if infinite {
                near[0] = f32::INFINITY;
            }
            let mut sorted = near.clone();
            sorted.sort_by(f32::total_cmp);
            let slow = sorted.get(at).map(|quantile| {
                let below = near.iter().filter(|x| **x < quantile - 2.0 * OFF).count();
                let is_near = |draw: &usize| (near[*draw] - quantile).abs() <= 2.0 * OFF;
                (below, (0..near.len()).filter(is_near).collect::<Vec<_>>())
            });
            prop_assert_eq!(draws_near(&near, at), slow);
        }
    }

    /// Draws of any length, as many as are made at once and fewer, of which some numbers are asked for.
    #[test]
    fn numbers_of_draws_are_put_side_by_side() {
        for (numbers, count) in
            (1..20).flat_map(|numbers| [(numbers, 1), (numbers, 9), (numbers, NEAR_LANES)])
        {
            let draws: Vec<f32> = (0..numbers * count).map(|at| at as f32 + 1.0).collect();
            for asked in [1, numbers.div_ceil(2), numbers] {
                let mut to = vec![[[0.0; LANES]; GROUPS]; asked];
                put_lanes(&draws, numbers, &mut to);
                for (number, lanes) in to.iter().enumerate() {
                    let slow: Vec<f32> = draws.chunks(numbers).map(|draw| draw[number]).collect();
                    assert_eq!(lanes.as_flattened()[..count], slow, "{numbers} {count} {asked}");
                }
            }
        }
    }

    #[test]
    fn wide_vectors_change_no_bit() {
        let n = 7;
        let factor: Vec<f64> =
            (0..n * n).map(|at| if at % n <= at / n { 1.0 / (1 + at % 5) as f64 } else { 0.0 }).collect();
        let difference = |(a, b): (usize, usize)| (0.78, vec![(a, 1.0), (b, -1.0)]);
        let all: Vec<_> = (0..n).flat_map(|a| (0..a).map(move |b| (a, b))).map(difference).collect();
        let sums: Vec<_> = (2..n).map(|a| (0.5, vec![(a, 1.0), (a - 1, 0.5), (a - 2, -0.25)])).collect();
        // Draws that are no multiple of those made at once, some of them very long or short.
        for (draws, forms) in [(0, &all), (1, &sums), (31, &all), (70, &[&all[..], &sums[..]].concat())] {
            let forms = DeviationForms { factor: &factor, n, forms };
            let near = NearForms::new(&forms, 0.3);
            let mut normals = near_pairs(3, draws * forms.pairs());
            for (normal, size) in
                normals.iter_mut().zip([0.0, -0.0, 1e30, -1e30, 1e-30, 1.0, 1.0].iter().cycle())
            {
                normal[0] *= size;
            }
            let [mut found, mut slow] = [vec![0.0; draws], vec![0.0; draws]];
            wide(
                #[inline(always)]
                || near.deviate(normals.as_flattened(), 2 * forms.pairs(), &mut found),
            );
            near.deviate(normals.as_flattened(), 2 * forms.pairs(), &mut slow);
            let bits = |numbers: &[f32]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&found), bits(&slow));
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
