//! Confidence intervals of rates, of linear forms of rates, and of anything made of them.
//!
//! * One rate: Wilson's interval at the effective sample size n* = A (1 − A) / Var A, with Student's t
//!   for the normal quantile. It stays inside [0, 1], and a rate of exactly 0 or 1 gets an interval from
//!   the number of its units rather than none.
//! * A linear form Σ c_k A_k: the distances from each rate to its own limits take the place of standard
//!   errors, with the correlations of the rates between them (the method of variance estimates
//!   recovery, Zou and Donner 2008). With one rate that is the rate's own interval.
//! * Maxima, minima and absolute values: all linear forms in them get simultaneous intervals, at the
//!   quantile of the largest of their deviations (simulated from the covariance); the
//!   interval of the whole then follows by monotony.
//! * Several checks: each of m has an interval at confidence 1 − (1 − c) / m (Bonferroni), so that all hold together
//!   with confidence c whatever their correlations, and a criterion of many rates does not widen the others.

use super::draws::{DRAWS, DeviationForms};
use super::measurement::Measurement;
use crate::goals::{Expression, LinearForm};
use crate::rates::Rate;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use std::collections::HashMap;

/// With more forms than this the quantile is Šidák's, which needs no draws.
const MAX_FORMS: usize = 5_000;

/// Variances that differ by less than this part are taken for equal: placements of weighted pairs have 24 bits.
const ALIKE: f64 = 1e-5;

/// A variance that is less than this part of what it is the difference of is rounding.
const ROUNDING: f64 = 1e-9;

/// A number with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Interval {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Measurement {
    /// The interval of an expression all of whose rates have a variance.
    pub(super) fn interval(&self, expression: &Expression, confidence: f64) -> Interval {
        let mut forms = Vec::new();
        bound(expression, &mut |form| {
            forms.push(form.clone());
            Interval::default()
        });
        let tail = self.joint_tail(&forms, confidence);
        // Forms share rates, whose quantiles cost more than all else here.
        let mut known = HashMap::new();
        bound(expression, &mut |form| self.form_interval(form, tail, &mut known))
    }

    /// A linear form's interval, `tail` being the probability left out on each side; `known` are those of rates.
    fn form_interval(&self, form: &LinearForm, tail: f64, known: &mut HashMap<usize, Interval>) -> Interval {
        let term = |(rate, factor): &(Rate, f64)| {
            let r = self.index[rate];
            (r, *factor, *known.entry(r).or_insert_with(|| self.rate_interval(r, tail)))
        };
        let terms: Vec<(usize, f64, Interval)> = form.terms.iter().map(term).collect();
        let value = form.constant + terms.iter().map(|(_, factor, rate)| factor * rate.value).sum::<f64>();
        let reach = |upward: bool| {
            let step = |&(r, factor, rate): &(usize, f64, Interval)| {
                let up = (factor > 0.0) == upward;
                (r, factor * if up { rate.high - rate.value } else { rate.value - rate.low })
            };
            let steps: Vec<(usize, f64)> = terms.iter().map(step).collect();
            let mut sum = 0.0;
            for (i, &(a, x)) in steps.iter().enumerate() {
                sum += x * x;
                for &(b, y) in &steps[i + 1..] {
                    // Unknown: what the worst correlation would give.
                    sum += 2.0 * self.correlation(a, b).map_or((x * y).abs(), |c| c * x * y);
                }
            }
            sum.max(0.0).sqrt()
        };
        Interval { value, low: value - reach(false), high: value + reach(true) }
    }

    /// None if it is not known: covariances were not kept, or a rate never varied (such as one of 1).
    fn correlation(&self, a: usize, b: usize) -> Option<f64> {
        let covariance = self.influence.covariance(a, b)?;
        let scale = (self.influence.variances[a] * self.influence.variances[b]).sqrt();
        (scale > 0.0).then(|| (covariance / scale).clamp(-1.0, 1.0))
    }

    fn rate_interval(&self, r: usize, tail: f64) -> Interval {
        let (value, variance) = (self.influence.values[r], self.influence.variances[r]);
        let quantile = student(self.influence.freedom[r], tail);
        if self.index.get(&Rate::Mse) == Some(&r) {
            let reach = quantile * variance.sqrt();
            return Interval { value, low: (value - reach).max(0.0), high: value + reach };
        }
        wilson(value, variance, self.influence.units[r], quantile)
    }

    /// The probability that each form's interval leaves out on one side, such that all of them hold
    /// together with the confidence asked for.
    fn joint_tail(&self, forms: &[LinearForm], confidence: f64) -> f64 {
        let single = (1.0 - confidence) / 2.0;
        if forms.len() < 2 {
            return single;
        }
        let sidak = (1.0 - confidence.powf(1.0 / forms.len() as f64)) / 2.0;
        if forms.len() > MAX_FORMS {
            return sidak;
        }
        let terms = forms.iter().flat_map(|form| &form.terms);
        let mut rates: Vec<usize> = terms.map(|(rate, _)| self.index[rate]).collect();
        rates.sort_unstable();
        rates.dedup();
        let Some(factor) = self.factor(&rates) else { return sidak };
        let n = rates.len();
        let covered =
            |a: usize, b: usize| -> f64 { (0..n).map(|k| factor[a * n + k] * factor[b * n + k]).sum() };
        let place = |rate: &Rate| rates.partition_point(|&r| r < self.index[rate]);
        let scaled = |form: &LinearForm| {
            let form: Vec<(usize, f64)> = form.terms.iter().map(|(rate, x)| (place(rate), *x)).collect();
            let with = |&(a, x): &(usize, f64)| form.iter().map(move |&(b, y)| (a, b, x * y));
            let variance: f64 = form.iter().flat_map(with).map(|(a, b, xy)| xy * covered(a, b)).sum();
            let scale: f64 = form.iter().map(|&(a, x)| x * x * covered(a, a)).sum();
            (variance > ROUNDING * scale).then(|| (variance.sqrt().recip(), form))
        };
        let scaled: Vec<(f64, Vec<(usize, f64)>)> = forms.iter().filter_map(scaled).collect();
        let at = ((confidence * DRAWS as f64) as usize).min(DRAWS - 1);
        let forms = DeviationForms { factor: &factor, n, forms: &scaled };
        let quantile = self.normals.quantile(self.settings.seed, &forms, at);
        Normal::standard().sf(quantile).clamp(sidak, single)
    }

    /// A square root of the covariance of some rates (Cholesky with pivots, as it may be singular).
    fn factor(&self, rates: &[usize]) -> Option<Vec<f64>> {
        let n = rates.len();
        let row = |&a: &usize| rates.iter().map(move |&b| self.influence.covariance(a, b));
        let mut rest: Vec<f64> = rates.iter().flat_map(row).collect::<Option<_>>()?;
        let scale = (0..n).map(|i| rest[i * n + i]).fold(0.0, f64::max);
        let mut factor = vec![0.0; n * n];
        for column in 0..n {
            let largest = (0..n).map(|i| rest[i * n + i]).fold(0.0, f64::max);
            // Of rates that vary alike, such as P[a > b] and P[b > a], the last: rounding must not choose.
            // What is left of a singular covariance may be a little below 0.
            let is_pivot = |i: &usize| rest[i * n + i] >= largest * (1.0 - ALIKE);
            let Some(pivot) = (0..n).rev().find(is_pivot).filter(|_| largest > ROUNDING * scale) else {
                break;
            };
            let size = rest[pivot * n + pivot];
            let root = size.sqrt();
            let line: Vec<f64> = (0..n).map(|i| rest[i * n + pivot] / root).collect();
            for i in 0..n {
                factor[i * n + column] = line[i];
                for j in 0..n {
                    rest[i * n + j] -= line[i] * line[j];
                }
            }
        }
        Some(factor)
    }
}

/// The interval of an expression, made of those of the linear forms in it.
fn bound(expression: &Expression, form: &mut dyn FnMut(&LinearForm) -> Interval) -> Interval {
    match expression {
        Expression::Linear(linear) => form(linear),
        Expression::Abs(inner) => absolute(bound(inner, form)),
        Expression::Max(parts) => fold(parts.iter().map(|part| bound(part, form)), f64::max),
        Expression::Min(parts) => fold(parts.iter().map(|part| bound(part, form)), f64::min),
        Expression::Sum(parts) => parts.iter().fold(Interval::default(), |sum, (factor, part)| {
            let part = bound(part, form);
            let ends = (factor * part.low, factor * part.high);
            Interval {
                value: sum.value + factor * part.value,
                low: sum.low + ends.0.min(ends.1),
                high: sum.high + ends.0.max(ends.1),
            }
        }),
        Expression::Spread(forms) if is_wide(forms) => {
            // Too many differences to look at each: how far the forms' own limits are apart.
            let ends: Vec<Interval> = forms.iter().map(form).collect();
            let (lowest, highest) = (fold(ends.iter().copied(), f64::min), fold(ends.into_iter(), f64::max));
            Interval {
                value: highest.value - lowest.value,
                low: (highest.low - lowest.high).max(0.0),
                high: highest.high - lowest.low,
            }
        }
        Expression::Spread(forms) => fold(differences(forms).map(|d| absolute(form(&d))), f64::max),
    }
}

/// Whether a list has more differences than [`MAX_FORMS`].
fn is_wide(forms: &[LinearForm]) -> bool {
    forms.len() * forms.len().saturating_sub(1) / 2 > MAX_FORMS
}

fn differences(forms: &[LinearForm]) -> impl Iterator<Item = LinearForm> {
    forms.iter().enumerate().flat_map(|(i, a)| forms[..i].iter().map(|b| a.clone().plus(-1.0, b)))
}

fn fold(parts: impl Iterator<Item = Interval>, pick: fn(f64, f64) -> f64) -> Interval {
    let pick = |a: Interval, b: Interval| {
        let [value, low, high] =
            [(a.value, b.value), (a.low, b.low), (a.high, b.high)].map(|(a, b)| pick(a, b));
        Interval { value, low, high }
    };
    parts.reduce(pick).unwrap_or_default()
}

fn absolute(i: Interval) -> Interval {
    Interval { value: i.value.abs(), low: i.low.max(-i.high).max(0.0), high: i.high.max(-i.low) }
}

/// Wilson's score interval of a proportion with an effective sample size.
fn wilson(value: f64, variance: f64, units: f64, quantile: f64) -> Interval {
    let spread = value * (1.0 - value);
    let size = if spread > 0.0 && variance > 0.0 { spread / variance } else { units };
    let t2 = quantile * quantile / size;
    let center = (value + t2 / 2.0) / (1.0 + t2);
    let reach = (t2 * (spread + t2 / 4.0)).sqrt() / (1.0 + t2);
    Interval {
        value,
        low: (center - reach).clamp(0.0, value),
        high: (center + reach).clamp(value.min(1.0), 1.0),
    }
}

/// The upper quantile of Student's t distribution.
fn student(freedom: f64, tail: f64) -> f64 {
    // Beyond this many degrees of freedom the two agree to six digits.
    if freedom > 1e5 {
        return Normal::standard().inverse_cdf(1.0 - tail);
    }
    StudentsT::new(0.0, 1.0, freedom.max(0.5)).map_or(f64::INFINITY, |t| t.inverse_cdf(1.0 - tail))
}
