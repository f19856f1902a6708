//! The moments of residuals over the pairs of a relation, and their correlation with g.

use super::relation::{Partners, Relation};
use rayon::prelude::*;

/// A variance below this part of the mean square is rounding.
const ROUNDING: f64 = 1e-12;

/// Sums of factors, and of factors times labels, each times a value.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    factors: f64,
    labels: f64,
}

impl Sums {
    fn add(&mut self, factor: f64, label: f64) {
        self.factors += factor;
        self.labels += factor * label;
    }

    fn less(self, other: Sums) -> Sums {
        Sums { factors: self.factors - other.factors, labels: self.labels - other.labels }
    }
}

impl Relation {
    /// Finds the coefficients; false without pairs or if g does not vary.
    pub(super) fn prepare(&mut self) -> bool {
        let n = self.example.len();
        let (mut a, mut b, mut c) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let (mut total, mut mean) = (0.0, 0.0);
        let mut scratch = Vec::new();
        for query in 0..self.ends.len() {
            self.partners(
                query,
                Partners::Worse,
                &mut scratch,
                |_| 1.0,
                |at, sum| {
                    a[at] += sum;
                    c[at] += sum;
                    total += sum;
                },
            );
            self.partners(
                query,
                Partners::Better,
                &mut scratch,
                |_| 1.0,
                |at, sum| {
                    a[at] -= sum;
                    c[at] += sum;
                },
            );
            if self.inside {
                let sign = |at: usize| if self.class[at] == 1 { 1.0 } else { -1.0 };
                self.partners(
                    query,
                    Partners::Worse,
                    &mut scratch,
                    |_| 1.0,
                    |at, sum| {
                        b[at] += sign(at) * sum;
                        mean += sign(at) * sum;
                    },
                );
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
    fn weigh(&self, at: usize, sums: Sums, partners: Partners) -> f64 {
        let sum = match (self.gap, partners) {
            (false, _) => sums.factors,
            (true, Partners::Worse) => self.label[at] * sums.factors - sums.labels,
            (true, Partners::Better) => sums.labels - self.label[at] * sums.factors,
        };
        self.factor[at] * sum
    }

    /// For each place of a query, the sum over its partners of the pair's weight times the partner's value.
    fn partners(
        &self,
        query: usize,
        partners: Partners,
        scratch: &mut Vec<Sums>,
        value: impl Fn(usize) -> f64,
        mut visit: impl FnMut(usize, f64),
    ) {
        scratch.clear();
        scratch.resize(self.classes[query] as usize, Sums::default());
        let mut all = Sums::default();
        self.walk(query, partners, |run| {
            for at in run.clone() {
                let own = scratch[self.class[at] as usize];
                let sums = if self.inside { all } else { all.less(own) };
                visit(at, self.weigh(at, sums, partners));
            }
            for at in run {
                let factor = self.factor[at] * value(at);
                all.add(factor, self.label[at]);
                scratch[self.class[at] as usize].add(factor, self.label[at]);
            }
        });
    }

    /// For each place of a query, the weight of partners of a lower class less that of a higher one, by
    /// sums over classes in a tree (Fenwick 1994).
    fn signed(&self, query: usize, partners: Partners, mut visit: impl FnMut(usize, f64)) {
        let classes = self.classes[query] as usize;
        let mut tree = vec![Sums::default(); classes + 1];
        let below = |tree: &[Sums], mut class: usize| {
            let mut sums = Sums::default();
            while class > 0 {
                sums.factors += tree[class].factors;
                sums.labels += tree[class].labels;
                class &= class - 1;
            }
            sums
        };
        self.walk(query, partners, |run| {
            for at in run.clone() {
                let class = self.class[at] as usize;
                let (lower, not_higher) = (below(&tree, class), below(&tree, class + 1));
                let higher = below(&tree, classes).less(not_higher);
                visit(at, self.weigh(at, lower.less(higher), partners));
            }
            for at in run {
                let mut class = self.class[at] as usize + 1;
                while class <= classes {
                    tree[class].add(self.factor[at], self.label[at]);
                    class += class & class.wrapping_neg();
                }
            }
        });
    }

    /// |corr(d, g)|; its gradient is added to that of all examples.
    pub(super) fn add(&self, scores: &[f64], gradient: &mut [f64]) -> f64 {
        let score = |at: usize| scores[self.example[at] as usize];
        // h at the places of each task, and E[d], E[dg], E[d²].
        let parts: Vec<(Vec<f64>, [f64; 3])> = self
            .tasks
            .par_iter()
            .map(|task| {
                let start = self.places(task.start).start;
                let end = self.places(task.end - 1).end;
                let mut near = vec![0.0; end - start];
                let mut scratch = Vec::new();
                for query in task.clone() {
                    for side in [Partners::Worse, Partners::Better] {
                        self.partners(query, side, &mut scratch, score, |at, sum| {
                            near[at - start] += sum;
                        });
                    }
                }
                let mut moments = [0.0; 3];
                let unit = 1.0 / self.total;
                for (at, near) in (start..end).zip(&mut near) {
                    let s = score(at);
                    *near *= unit;
                    moments[0] += self.a[at] * s;
                    moments[1] += self.b[at] * s;
                    moments[2] += s * (self.c[at] * s - *near);
                }
                (near, moments)
            })
            .collect();
        let moments = parts.iter().fold([0.0; 3], |sum, (_, part)| std::array::from_fn(|i| sum[i] + part[i]));
        let [d, dg, dd] = moments;
        let variance = dd - d * d;
        if !(variance > ROUNDING * dd) {
            return 0.0;
        }
        let deviation = (variance * self.spread()).sqrt();
        let correlation = (dg - d * self.mean) / deviation;
        let sign = if correlation == 0.0 { 0.0 } else { correlation.signum() };
        // ∂corr = ∂cov / sqrt(Var[d] Var[g]) − corr ∂Var[d] / (2 Var[d])
        let mut at = 0;
        for near in parts.iter().flat_map(|(near, _)| near) {
            let covariance = self.b[at] - self.a[at] * self.mean;
            let half_variance = self.c[at] * score(at) - near - d * self.a[at];
            gradient[self.example[at] as usize] +=
                sign * (covariance / deviation - correlation * half_variance / variance);
            at += 1;
        }
        correlation.abs()
    }
}
