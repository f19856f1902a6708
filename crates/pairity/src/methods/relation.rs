//! Pairs of two groups, or of different values of a continuous attribute, and the moments of their
//! residuals.

use super::MethodError;
use super::beutel::{METHOD, Membership};
use crate::examples::{Attribute, Examples, sort_by_value};
use rayon::prelude::*;
use std::ops::Range;

/// A variance below this part of the mean square is rounding.
const ROUNDING: f64 = 1e-12;

/// Places of consecutive queries that make one task.
const TASK: usize = 4096;

/// The examples of two groups, or those with a continuous attribute, in label order within each query.
#[derive(Debug, Clone, Default)]
pub(super) struct Relation {
    /// Whether pairs inside a class count too.
    inside: bool,
    /// At each place, the example.
    example: Vec<u32>,
    /// At each place, the class: the group, or the rank of the attribute in the query.
    class: Vec<u32>,
    /// At each place, the factor of its pairs.
    factor: Vec<f64>,
    /// At each place, the label, counted from the query's first; up to a scale.
    label: Vec<f64>,
    /// Whether a pair is weighed by the difference of labels.
    gap: bool,
    /// The places of each run of equal labels in a query.
    runs: Vec<Range<u32>>,
    /// Where each query ends, among the places and among the runs.
    ends: Vec<(u32, u32)>,
    /// Number of classes in each query, or more.
    classes: Vec<u32>,
    /// Consecutive queries.
    tasks: Vec<Range<usize>>,
    /// Of each place: the coefficients in E[d] and E[dg], and the sum of weights.
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
    /// The sum of the weights of all pairs.
    total: f64,
    /// E[g].
    mean: f64,
}

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

/// On which side of an example its partners stand.
#[derive(Clone, Copy, PartialEq)]
enum Partners {
    Worse,
    Better,
}

/// The relations whose correlations are added up: one for each pair of groups.
pub(super) fn relations(examples: &Examples, membership: Membership) -> Result<Vec<Relation>, MethodError> {
    let refuse = |reason: &str| Err(MethodError::does_not_apply(METHOD, reason));
    if examples.labels.is_none() {
        return refuse("it compares label-ordered pairs, and there are no labels");
    }
    let mut found = Vec::new();
    match &examples.attribute {
        Attribute::None => return refuse("it needs groups or a protected attribute, and there is none"),
        Attribute::Continuous(values) => {
            let mut ranks = vec![u32::MAX; values.len()];
            for query in 0..examples.queries() {
                let range = examples.query(query);
                let sorted = sort_by_value(&values[range.clone()]);
                let mut rank = 0;
                for (at, &(key, example)) in sorted.iter().enumerate() {
                    rank += u32::from(at > 0 && key != sorted[at - 1].0);
                    let example = range.start + example as usize;
                    ranks[example] = if values[example].is_nan() { u32::MAX } else { rank };
                }
            }
            let class = |example: usize| Some(ranks[example]).filter(|&rank| rank != u32::MAX);
            found.extend(Relation::new(examples, false, &class));
        }
        Attribute::Groups { names, codes } => {
            for (first, second) in (0..names.len()).flat_map(|b| (0..b).map(move |a| (a, b))) {
                let class = |example: usize| match usize::from(codes[example]) {
                    code if code == first => Some(0),
                    code if code == second => Some(1),
                    _ => None,
                };
                found.extend(Relation::new(examples, membership == Membership::Better, &class));
            }
        }
    }
    match found.is_empty() {
        true => {
            refuse("there are no label-ordered pairs in which now the one group and now the other is better")
        }
        false => Ok(found),
    }
}

impl Relation {
    /// The relation of the examples that have a class; none if g does not vary.
    fn new(examples: &Examples, inside: bool, class: &dyn Fn(usize) -> Option<u32>) -> Option<Relation> {
        let mut relation = Relation { inside, gap: examples.label_gap, ..Relation::default() };
        for query in 0..examples.queries() {
            relation.add_query(examples, examples.query(query), class);
        }
        // Weights and labels count up to a scale.
        for column in [&mut relation.factor, &mut relation.label] {
            let scale = column.iter().copied().fold(0.0, f64::max);
            if scale > 0.0 {
                column.iter_mut().for_each(|value| *value /= scale);
            }
        }
        relation.prepare().then_some(relation)
    }

    fn add_query(&mut self, examples: &Examples, range: Range<usize>, class: &dyn Fn(usize) -> Option<u32>) {
        let Some(labels) = &examples.labels else { return };
        let members: Vec<u32> = range.filter(|&e| class(e).is_some()).map(|e| e as u32).collect();
        let labels: Vec<f64> = members.iter().map(|&e| labels[e as usize]).collect();
        let order = sort_by_value(&labels);
        let (Some(first), Some(last)) = (order.first(), order.last()) else { return };
        let classes = || members.iter().filter_map(|&e| class(e as usize));
        let (Some(lowest), Some(highest)) = (classes().min(), classes().max()) else { return };
        // Equal labels alone have no pairs, and those of one class may not count.
        if first.0 == last.0 || (lowest == highest && !self.inside) {
            return;
        }
        self.classes.push(highest + 1);
        let origin = 0.5 * labels[first.1 as usize];
        let mut key = None;
        for &(own, at) in &order {
            let (example, place) = (members[at as usize], self.example.len() as u32);
            match self.runs.last_mut() {
                Some(run) if key == Some(own) => run.end = place + 1,
                _ => self.runs.push(place..place + 1),
            }
            key = Some(own);
            self.example.push(example);
            self.class.extend(class(example as usize));
            self.factor.push(examples.factors.as_ref().map_or(1.0, |factors| factors[example as usize]));
            self.label.push(0.5 * labels[at as usize] - origin);
        }
        let start = self.ends.last().map_or(0, |end| end.0 as usize);
        self.ends.push((self.example.len() as u32, self.runs.len() as u32));
        let room = |task: &Range<usize>| start - self.places(task.start).start < TASK;
        let fits = self.tasks.last().is_some_and(room);
        match self.tasks.last_mut() {
            Some(task) if fits => task.end += 1,
            _ => self.tasks.push(self.ends.len() - 1..self.ends.len()),
        }
    }

    /// The places of a query.
    fn places(&self, query: usize) -> Range<usize> {
        let start = if query == 0 { 0 } else { self.ends[query - 1].0 as usize };
        start..self.ends[query].0 as usize
    }

    /// Visits the places of each run of equal labels in a query, from that end of the label order where
    /// the partners are.
    fn walk(&self, query: usize, partners: Partners, visit: impl FnMut(Range<usize>)) {
        let start = if query == 0 { 0 } else { self.ends[query - 1].1 as usize };
        let runs = self.runs[start..self.ends[query].1 as usize].iter();
        let places = |run: &Range<u32>| run.start as usize..run.end as usize;
        match partners {
            Partners::Worse => runs.map(places).for_each(visit),
            Partners::Better => runs.rev().map(places).for_each(visit),
        }
    }

    /// Finds the coefficients; false without pairs or if g does not vary.
    fn prepare(&mut self) -> bool {
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
