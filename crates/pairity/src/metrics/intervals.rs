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

use super::Settings;
use super::influence::Influence;
use crate::goals::{Expression, LinearForm};
use crate::rates::Rate;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use std::collections::HashMap;

/// Draws that the quantile of the largest deviation is taken from.
const DRAWS: usize = 10_000;

/// With more forms than this the quantile is Šidák's, which needs no draws.
const MAX_FORMS: usize = 5_000;

/// A number with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Interval {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// Intervals of what was measured.
pub(crate) struct Intervals<'a> {
    pub influence: &'a Influence,
    pub index: &'a HashMap<Rate, usize>,
    pub settings: &'a Settings,
}

impl Intervals<'_> {
    /// The interval of an expression all of whose rates have a variance.
    pub(crate) fn of(&self, expression: &Expression) -> Interval {
        let mut forms = Vec::new();
        collect_forms(expression, &mut forms);
        let tail = self.joint_tail(&forms);
        self.bound(expression, tail)
    }

    fn bound(&self, expression: &Expression, tail: f64) -> Interval {
        match expression {
            Expression::Linear(form) => self.form(form, tail),
            Expression::Abs(inner) => absolute(self.bound(inner, tail)),
            Expression::Max(parts) => fold(parts.iter().map(|part| self.bound(part, tail)), f64::max),
            Expression::Min(parts) => fold(parts.iter().map(|part| self.bound(part, tail)), f64::min),
            Expression::Sum(parts) => parts.iter().fold(Interval::default(), |sum, (factor, part)| {
                let part = self.bound(part, tail);
                let ends = (factor * part.low, factor * part.high);
                Interval {
                    value: sum.value + factor * part.value,
                    low: sum.low + ends.0.min(ends.1),
                    high: sum.high + ends.0.max(ends.1),
                }
            }),
            Expression::Spread(forms) if is_wide(forms) => {
                // Too many differences to look at each: how far the forms' own limits are apart.
                let ends = forms.iter().map(|form| self.form(form, tail));
                let (lowest, highest) = (fold(ends.clone(), f64::min), fold(ends, f64::max));
                Interval {
                    value: highest.value - lowest.value,
                    low: (highest.low - lowest.high).max(0.0),
                    high: highest.high - lowest.low,
                }
            }
            Expression::Spread(forms) => {
                fold(differences(forms).map(|d| absolute(self.form(&d, tail))), f64::max)
            }
        }
    }

    /// A linear form's interval, `tail` being the probability left out on each side.
    fn form(&self, form: &LinearForm, tail: f64) -> Interval {
        let terms: Vec<(usize, f64, Interval)> = form
            .terms
            .iter()
            .filter_map(|(rate, factor)| self.index.get(rate).map(|&r| (r, *factor, self.rate(r, tail))))
            .collect();
        let value = form.constant + terms.iter().map(|(_, factor, rate)| factor * rate.value).sum::<f64>();
        let reach = |upward: bool| {
            let steps: Vec<(usize, f64)> = terms
                .iter()
                .map(|&(r, factor, rate)| {
                    let up = (factor > 0.0) == upward;
                    (r, factor * if up { rate.high - rate.value } else { rate.value - rate.low })
                })
                .collect();
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

    fn rate(&self, r: usize, tail: f64) -> Interval {
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
    fn joint_tail(&self, forms: &[LinearForm]) -> f64 {
        let single = (1.0 - self.settings.confidence) / 2.0;
        let mut rates: Vec<usize> = forms
            .iter()
            .flat_map(|f| &f.terms)
            .filter_map(|(rate, _)| self.index.get(rate).copied())
            .collect();
        rates.sort_unstable();
        rates.dedup();
        let forms: Vec<Vec<(usize, f64)>> = forms
            .iter()
            .map(|form| {
                let place = |rate| self.index.get(rate).and_then(|r| rates.binary_search(r).ok());
                form.terms.iter().filter_map(|(rate, factor)| Some((place(rate)?, *factor))).collect()
            })
            .collect();
        if forms.len() < 2 {
            return single;
        }
        let sidak = (1.0 - self.settings.confidence.powf(1.0 / forms.len() as f64)) / 2.0;
        if forms.len() > MAX_FORMS {
            return sidak;
        }
        let Some(factor) = self.factor(&rates) else { return sidak };
        let n = rates.len();
        let covered =
            |a: usize, b: usize| -> f64 { (0..n).map(|k| factor[a * n + k] * factor[b * n + k]).sum() };
        let scaled: Vec<(f64, &Vec<(usize, f64)>)> = forms
            .iter()
            .filter_map(|form| {
                let variance: f64 = form
                    .iter()
                    .flat_map(|&(a, x)| form.iter().map(move |&(b, y)| (a, b, x * y)))
                    .map(|(a, b, xy)| xy * covered(a, b))
                    .sum();
                let scale: f64 = form.iter().map(|&(a, x)| x * x * covered(a, a)).sum();
                (variance > 1e-12 * scale).then(|| (variance.sqrt().recip(), form))
            })
            .collect();
        let mut random = ChaCha8Rng::seed_from_u64(self.settings.seed);
        let mut largest: Vec<f64> = (0..DRAWS)
            .map(|_| {
                // Box and Muller, two at a time.
                let mut independent = Vec::with_capacity(n + 1);
                while independent.len() < n {
                    let (u, v): (f64, f64) = (random.random(), random.random());
                    let radius = (-2.0 * (1.0 - u).ln()).sqrt();
                    let angle = std::f64::consts::TAU * v;
                    independent.extend([radius * angle.cos(), radius * angle.sin()]);
                }
                let draw: Vec<f64> = (0..n)
                    .map(|a| factor[a * n..][..n].iter().zip(&independent).map(|(f, z)| f * z).sum())
                    .collect();
                scaled
                    .iter()
                    .map(|(scale, form)| scale * form.iter().map(|&(a, x)| x * draw[a]).sum::<f64>().abs())
                    .fold(0.0, f64::max)
            })
            .collect();
        let at = ((self.settings.confidence * DRAWS as f64) as usize).min(DRAWS - 1);
        let (_, quantile, _) = largest.select_nth_unstable_by(at, f64::total_cmp);
        Normal::standard().sf(*quantile).clamp(sidak, single)
    }

    /// A square root of the covariance of some rates (Cholesky with pivots, as it may be singular).
    fn factor(&self, rates: &[usize]) -> Option<Vec<f64>> {
        let n = rates.len();
        let mut rest = vec![0.0; n * n];
        for (i, &a) in rates.iter().enumerate() {
            for (j, &b) in rates.iter().enumerate() {
                rest[i * n + j] = self.influence.covariance(a, b)?;
            }
        }
        let scale = (0..n).map(|i| rest[i * n + i]).fold(0.0, f64::max);
        let mut factor = vec![0.0; n * n];
        for column in 0..n {
            let pivot = (0..n).max_by(|&a, &b| rest[a * n + a].total_cmp(&rest[b * n + b]))?;
            let size = rest[pivot * n + pivot];
            if size <= 1e-12 * scale {
                break;
            }
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

/// Every linear form whose interval an expression's interval is made of.
fn collect_forms(expression: &Expression, forms: &mut Vec<LinearForm>) {
    match expression {
        Expression::Linear(form) => forms.push(form.clone()),
        Expression::Abs(inner) => collect_forms(inner, forms),
        Expression::Max(parts) | Expression::Min(parts) => {
            parts.iter().for_each(|part| collect_forms(part, forms));
        }
        Expression::Sum(parts) => parts.iter().for_each(|(_, part)| collect_forms(part, forms)),
        Expression::Spread(list) if is_wide(list) => forms.extend(list.iter().cloned()),
        Expression::Spread(list) => forms.extend(differences(list)),
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
    parts
        .reduce(|a, b| Interval {
            value: pick(a.value, b.value),
            low: pick(a.low, b.low),
            high: pick(a.high, b.high),
        })
        .unwrap_or_default()
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
