//! The moments of residuals over the pairs of a relation, and their correlation with g.

use super::relation::{Partners, Relation};
use crate::pairs::mass::{GapSum, Mass};
use rayon::prelude::*;
use std::ops::Range;

/// A variance below this part of the sums that it is made from is rounding.
const ROUNDING: f64 = 1e-12;

impl Relation {
    /// Finds the coefficients; false without pairs or if g does not vary.
    pub(super) fn prepare(&mut self) -> bool {
        let n = self.example.len();
        let (mut a, mut b, mut c) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let (mut total, mut mean) = (0.0, 0.0);
        let mut scratch = Vec::new();
        let one = |_| 1.0;
        let sign = |at: usize| if self.class[at] == 1 { 1.0 } else { -1.0 };
        for query in 0..self.ends.len() {
            self.partners(query, Partners::Worse, &mut scratch, one, |at, sum| {
                a[at] += sum;
                c[at] += sum;
                total += sum;
                if self.inside {
                    b[at] += sign(at) * sum;
                    mean += sign(at) * sum;
                }
            });
            self.partners(query, Partners::Better, &mut scratch, one, |at, sum| {
                a[at] -= sum;
                c[at] += sum;
            });
            if self.inside {
                self.partners(query, Partners::Better, &mut scratch, sign, |at, sum| b[at] -= sum);
            } else {
                self.signed(query, Partners::Worse, |at, sum| {
                    b[at] += sum;
                    mean += sum;
                });
                // As the worse of a pair, the signs of k and of g are both turned.
                self.signed(query, Partners::Better, |at, sum| b[at] += sum);
            }
        }
        if total <= 0.0 {
            return false;
        }
        for column in [&mut a, &mut b, &mut c] {
            column.iter_mut().for_each(|value| *value /= total);
        }
        (self.a, self.b, self.c, self.total, self.mean) = (a, b, c, total, mean / total);
        self.spread() > ROUNDING
    }

    /// Var[g].
    fn spread(&self) -> f64 {
        1.0 - self.mean * self.mean
    }

    /// What the pairs of the example at a place with partners of these sums weigh.
    fn weigh(&self, at: usize, sums: GapSum, partners: Partners) -> f64 {
        let mass = self.mass[at];
        match (self.gap, partners) {
            (false, _) => mass.weight * sums.weight,
            (true, Partners::Worse) => mass.meet(sums),
            (true, Partners::Better) => -mass.meet(sums),
        }
    }

    /// For each place of a query, the sum over its partners of the pair's weight times the partner's value.
    fn partners(
        &self,
        query: usize,
        partners: Partners,
        scratch: &mut Vec<GapSum>,
        value: impl Fn(usize) -> f64,
        mut visit: impl FnMut(usize, f64),
    ) {
        scratch.clear();
        scratch.resize(self.classes[query] as usize, GapSum::default());
        let mut all = GapSum::default();
        self.walk(query, partners, |run| {
            for at in run.clone() {
                let own = scratch[self.class[at] as usize];
                let sums = if self.inside { all } else { all + own * -1.0 };
                visit(at, self.weigh(at, sums, partners));
            }
            for at in run {
                let brought = self.mass[at].times(value(at));
                all += brought;
                scratch[self.class[at] as usize] += brought;
            }
        });
    }

    /// For each place of a query, the weight of partners of a lower class less that of a higher one, by
    /// sums over classes in a tree (Fenwick 1994).
    fn signed(&self, query: usize, partners: Partners, mut visit: impl FnMut(usize, f64)) {
        let classes = self.classes[query] as usize;
        let mut tree = vec![GapSum::default(); classes + 1];
        let below = |tree: &[GapSum], mut class: usize| {
            let mut sums = GapSum::default();
            while class > 0 {
                sums += tree[class];
                class &= class - 1;
            }
            sums
        };
        self.walk(query, partners, |run| {
            for at in run.clone() {
                let class = self.class[at] as usize;
                let (lower, not_higher) = (below(&tree, class), below(&tree, class + 1));
                let higher = below(&tree, classes) + not_higher * -1.0;
                visit(at, self.weigh(at, lower + higher * -1.0, partners));
            }
            for at in run {
                let mut class = self.class[at] as usize + 1;
                while class <= classes {
                    tree[class] += self.mass[at].alone();
                    class += class & class.wrapping_neg();
                }
            }
        });
    }

    /// |corr(d, g)|; its gradient is added to that of all examples.
    pub(super) fn add(&self, scores: &[f64], gradient: &mut [f64]) -> f64 {
        let parts: Vec<TaskMoments> = self.tasks.par_iter().map(|task| self.part(task, scores)).collect();
        let sum = |moment: fn(&TaskMoments) -> f64| parts.iter().map(moment).sum::<f64>();
        let (d, dg) = (sum(|part| part.d), sum(|part| part.dg));
        let variance = sum(|part| part.dd) - d * d;
        let least = ROUNDING * sum(|part| part.size);
        if variance.is_nan() || variance <= least {
            return 0.0;
        }
        let deviation = (variance * self.spread()).sqrt();
        let correlation = (dg - d * self.mean) / deviation;
        let sign = if correlation == 0.0 { 0.0 } else { correlation.signum() };
        // ∂corr = ∂cov / sqrt(Var[d] Var[g]) − corr ∂Var[d] / (2 Var[d])
        for (at, slope) in parts.iter().flat_map(|part| &part.slopes).enumerate() {
            let covariance = self.b[at] - self.a[at] * self.mean;
            let half_variance = slope - d * self.a[at];
            gradient[self.example[at] as usize] +=
                sign * (covariance / deviation - correlation * half_variance / variance);
        }
        correlation.abs()
    }

    /// The moments of one task.
    fn part(&self, task: &Range<usize>, scores: &[f64]) -> TaskMoments {
        let start = self.places(task.start).start;
        let mut part = TaskMoments::default();
        let mut own: Vec<f64> = Vec::new();
        let mut scratch = Vec::new();
        for query in task.clone() {
            let places = self.places(query);
            let score = |at: usize| scores[self.example[at] as usize];
            // Differences alone matter; counted from their mean, scores cost little precision in sums.
            let (sum, weight) = places
                .clone()
                .fold((0.0, 0.0), |(sum, weight), at| (sum + self.c[at] * score(at), weight + self.c[at]));
            let mean = if weight > 0.0 { sum / weight } else { 0.0 };
            own.extend(places.clone().map(|at| score(at) - mean));
            part.slopes.resize(own.len(), 0.0);
            for side in [Partners::Worse, Partners::Better] {
                let add = |at: usize, sum: f64| part.slopes[at - start] -= sum;
                self.partners(query, side, &mut scratch, |at| own[at - start], add);
            }
        }
        for (at, (&score, slope)) in (start..).zip(own.iter().zip(&mut part.slopes)) {
            *slope = self.c[at] * score + *slope / self.total;
            part.d += self.a[at] * score;
            part.dg += self.b[at] * score;
            part.dd += score * *slope;
            part.size += score * self.c[at] * score;
        }
        part
    }
}

/// What a task adds to the moments.
#[derive(Debug, Default)]
struct TaskMoments {
    /// E[d], E[dg] and E[d²].
    d: f64,
    dg: f64,
    dd: f64,
    /// E[d²] if scores were independent: what rounding is measured by.
    size: f64,
    /// c s − h at each place, which is half the slope of E[d²].
    slopes: Vec<f64>,
}
