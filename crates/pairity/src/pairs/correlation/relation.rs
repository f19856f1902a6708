//! Which pairs a correlation is taken over: those of two groups, or of different values of a continuous attribute;
//! and the moments of their residuals.

use super::Membership;
use crate::examples::{Attribute, Examples, tasks};
use crate::pairs::SurrogateError;
use crate::pairs::index::{NO_RANK, PairIndex, QueryPairs, Sizes, add};
use crate::pairs::mass::{GapMass, GapSum, Mass};
use crate::rates::{Average, Rate};
use crate::threads;
use std::borrow::Cow;
use std::ops::Range;

/// A variance below this part of the sums that it is made from is rounding.
const ROUNDING: f64 = 1e-12;

/// The class of the example at a position of a query, if it has one.
type Class<'c> = &'c dyn Fn(&QueryPairs, usize) -> Option<u32>;

/// An example of a relation.
#[derive(Debug, Clone)]
struct Place {
    example: u32,
    /// The first place of an equal label in the query.
    first: u32,
    /// The group, or the rank of the attribute in the query.
    class: u32,
    /// The factor of its pairs and the label, counted from the query's first; up to a scale.
    mass: GapMass,
}

/// The examples of two groups, or those with a continuous attribute, in label order within each query.
#[derive(Debug, Clone, Default)]
pub(super) struct Relation {
    /// Whether pairs inside a class count too.
    inside: bool,
    /// Whether a pair is weighed by the difference of labels.
    gap: bool,
    places: Vec<Place>,
    /// The places of each query, and its number of classes, or more.
    queries: Vec<(Range<usize>, usize)>,
    /// Consecutive queries.
    tasks: Vec<Range<usize>>,
    /// Of each place a, b and c: the coefficients in E[d] and E[dg], and the sum of weights.
    coefficients: Vec<[f64; 3]>,
    /// The sum of the weights of all pairs.
    total: f64,
    /// E[g].
    mean: f64,
}

/// On which side of an example its partners stand.
#[derive(Clone, Copy, PartialEq)]
enum Partners {
    Worse,
    Better,
}

/// The relations whose correlations are added up: one for each pair of groups.
pub(super) fn relations(
    examples: &Examples,
    membership: Membership,
) -> Result<Vec<Relation>, SurrogateError> {
    let refuse = |reason: &str| Err(SurrogateError::NoCorrelation { reason: reason.to_owned() });
    if examples.side.is_some() {
        return refuse("it speaks of all label-ordered pairs, and these are chosen by a side column");
    }
    if examples.labels.is_none() {
        return refuse("it compares label-ordered pairs, and there are no labels");
    }
    let (rates, slopes) = ([Rate::Greater], Some(Average::Queries));
    let index = PairIndex::build(Cow::Borrowed(examples), &rates, Sizes::default(), slopes);
    let mut found = Vec::new();
    match &examples.attribute {
        Attribute::None => return refuse("it needs groups or a protected attribute, and there is none"),
        Attribute::Continuous(_) => {
            let class =
                |query: &QueryPairs, at: usize| Some(query.attribute[at]).filter(|&rank| rank != NO_RANK);
            found.extend(Relation::new(&index, false, &class));
        }
        Attribute::Groups { names, .. } => {
            for (first, second) in (0..names.len()).flat_map(|b| (0..b).map(move |a| (a, b))) {
                let class = |query: &QueryPairs, at: usize| {
                    let code = usize::from(query.present[usize::from(query.group[at])]);
                    [first, second].iter().position(|&group| group == code).map(|class| class as u32)
                };
                found.extend(Relation::new(&index, membership == Membership::Better, &class));
            }
        }
    }
    if found.is_empty() {
        return refuse(
            "there are no label-ordered pairs in which now the one group and now the other is better",
        );
    }
    Ok(found)
}

impl Relation {
    /// The relation of the examples that have a class; none if g does not vary.
    fn new(index: &PairIndex, inside: bool, class: Class) -> Option<Relation> {
        let mut relation = Relation { inside, gap: index.examples().label_gap, ..Relation::default() };
        for block in 0..index.examples().blocks() {
            relation.add_query(index.examples(), &index.query(block), class);
        }
        relation.tasks = tasks(relation.queries.iter().map(|(places, _)| places.len()));
        // Weights and labels count up to a scale.
        let largest = |of: fn(&Place) -> f64| relation.places.iter().map(of).fold(0.0, f64::max);
        let largest = [largest(|place| place.mass.weight), largest(|place| place.mass.label)];
        let [weight, label] = largest.map(|largest| if largest > 0.0 { largest } else { 1.0 });
        for place in &mut relation.places {
            place.mass = GapMass { weight: place.mass.weight / weight, label: place.mass.label / label };
        }
        relation.prepare().then_some(relation)
    }

    fn add_query(&mut self, examples: &Examples, query: &QueryPairs, class: Class) {
        let Some(labels) = &examples.labels else { return };
        let in_class = |at: usize| class(query, at).map(|class| (at, class));
        let members: Vec<(usize, u32)> = (0..query.len()).filter_map(in_class).collect();
        let example = |at: usize| query.range.start + query.example[at] as usize;
        let (Some(&(first, _)), Some(&(last, _))) = (members.first(), members.last()) else { return };
        let classes = || members.iter().map(|&(_, class)| class);
        let (Some(lowest), Some(highest)) = (classes().min(), classes().max()) else { return };
        // Equal labels alone have no pairs, and those of one class may not count.
        if query.first[first] == query.first[last] || (lowest == highest && !self.inside) {
            return;
        }
        let (start, origin) = (self.places.len(), 0.5 * labels[example(first)]);
        for level in members.chunk_by(|a, b| query.first[a.0] == query.first[b.0]) {
            let first = self.places.len() as u32;
            self.places.extend(level.iter().map(|&(at, class)| {
                let (weight, label) = (examples.factor(example(at)), 0.5 * labels[example(at)] - origin);
                Place { example: example(at) as u32, first, class, mass: GapMass { weight, label } }
            }));
        }
        self.queries.push((start..self.places.len(), highest as usize + 1));
    }

    /// Finds the coefficients; false without pairs or if g does not vary.
    fn prepare(&mut self) -> bool {
        let mut found = vec![[0.0; 3]; self.places.len()];
        let (mut total, mut mean) = (0.0, 0.0);
        let mut scratch = Vec::new();
        let one = |_| 1.0;
        let sign = |at: usize| if self.places[at].class == 1 { 1.0 } else { -1.0 };
        for query in 0..self.queries.len() {
            self.partners(query, Partners::Worse, &mut scratch, one, |at, sum| {
                let signed = if self.inside { sign(at) * sum } else { 0.0 };
                add(&mut found[at], &[sum, signed, sum]);
                total += sum;
                mean += signed;
            });
            self.partners(query, Partners::Better, &mut scratch, one, |at, sum| {
                add(&mut found[at], &[-sum, 0.0, sum]);
            });
            if self.inside {
                self.partners(query, Partners::Better, &mut scratch, sign, |at, sum| found[at][1] -= sum);
            } else {
                self.signed(query, Partners::Worse, |at, sum| {
                    found[at][1] += sum;
                    mean += sum;
                });
                // As the worse of a pair, the signs of k and of g are both turned.
                self.signed(query, Partners::Better, |at, sum| found[at][1] += sum);
            }
        }
        if total <= 0.0 {
            return false;
        }
        found.as_flattened_mut().iter_mut().for_each(|value| *value /= total);
        (self.coefficients, self.total, self.mean) = (found, total, mean / total);
        self.spread() > ROUNDING
    }

    /// Var[g].
    fn spread(&self) -> f64 {
        1.0 - self.mean * self.mean
    }

    /// What the pairs of the example at a place with partners of these sums weigh.
    fn weigh(&self, at: usize, sums: GapSum, partners: Partners) -> f64 {
        let mass = self.places[at].mass;
        match (self.gap, partners) {
            (false, _) => mass.weight * sums.weight,
            (true, Partners::Worse) => mass.meet(sums),
            (true, Partners::Better) => -mass.meet(sums),
        }
    }

    /// Visits the places of each run of equal labels in a query, from that end of the label order where
    /// the partners are.
    fn walk(&self, query: usize, partners: Partners, mut visit: impl FnMut(Range<usize>)) {
        let runs = self.places[self.queries[query].0.clone()].chunk_by(|a, b| a.first == b.first);
        let visit = |run: &[Place]| visit(run[0].first as usize..run[0].first as usize + run.len());
        match partners {
            Partners::Worse => runs.for_each(visit),
            Partners::Better => runs.rev().for_each(visit),
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
        scratch.resize(self.queries[query].1, GapSum::default());
        let mut all = GapSum::default();
        self.walk(query, partners, |run| {
            for at in run.clone() {
                let own = scratch[self.places[at].class as usize];
                let sums = if self.inside { all } else { all.less(own) };
                visit(at, self.weigh(at, sums, partners));
            }
            for at in run {
                let brought = self.places[at].mass.times(value(at));
                all += brought;
                scratch[self.places[at].class as usize] += brought;
            }
        });
    }

    /// For each place of a query, the weight of partners of a lower class less that of a higher one, by
    /// sums over classes in a tree (Fenwick 1994).
    fn signed(&self, query: usize, partners: Partners, mut visit: impl FnMut(usize, f64)) {
        let classes = self.queries[query].1;
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
                let class = self.places[at].class as usize;
                let (lower, not_higher) = (below(&tree, class), below(&tree, class + 1));
                let higher = below(&tree, classes).less(not_higher);
                visit(at, self.weigh(at, lower.less(higher), partners));
            }
            for place in &self.places[run] {
                let mut class = place.class as usize + 1;
                while class <= classes {
                    tree[class] += place.mass.alone();
                    class += class & class.wrapping_neg();
                }
            }
        });
    }

    /// |corr(d, g)|; its gradient is added to that of all examples.
    pub(super) fn add(&self, scores: &[f64], gradient: &mut [f64]) -> f64 {
        let parts: Vec<TaskMoments> = threads::map(&self.tasks, &|task| self.part(task, scores));
        let mut moments = [0.0; 4];
        parts.iter().for_each(|part| add(&mut moments, &part.moments));
        let [d, dg, dd, size] = moments;
        let variance = dd - d * d;
        if variance.is_nan() || variance <= ROUNDING * size {
            return 0.0;
        }
        let deviation = (variance * self.spread()).sqrt();
        let correlation = (dg - d * self.mean) / deviation;
        let sign = if correlation == 0.0 { 0.0 } else { correlation.signum() };
        // ∂corr = ∂cov / sqrt(Var[d] Var[g]) − corr ∂Var[d] / (2 Var[d])
        let slopes = parts.iter().flat_map(|part| &part.slopes);
        for ((place, [a, b, _]), slope) in self.places.iter().zip(&self.coefficients).zip(slopes) {
            let (covariance, half_variance) = (b - a * self.mean, slope - d * a);
            gradient[place.example as usize] +=
                sign * (covariance / deviation - correlation * half_variance / variance);
        }
        correlation.abs()
    }

    /// The moments of one task.
    fn part(&self, task: &Range<usize>, scores: &[f64]) -> TaskMoments {
        let start = self.queries[task.start].0.start;
        let mut part = TaskMoments::default();
        let mut own: Vec<f64> = Vec::new();
        let mut scratch = Vec::new();
        for query in task.clone() {
            let places = self.queries[query].0.clone();
            let score = |at: usize| scores[self.places[at].example as usize];
            // Differences alone matter; counted from their mean, scores cost little precision in sums.
            let (mut sum, mut weight) = (0.0, 0.0);
            for at in places.clone() {
                let [_, _, c] = self.coefficients[at];
                (sum, weight) = (sum + c * score(at), weight + c);
            }
            let mean = if weight > 0.0 { sum / weight } else { 0.0 };
            own.extend(places.map(|at| score(at) - mean));
            part.slopes.resize(own.len(), 0.0);
            for side in [Partners::Worse, Partners::Better] {
                let add = |at: usize, sum: f64| part.slopes[at - start] -= sum;
                self.partners(query, side, &mut scratch, |at| own[at - start], add);
            }
        }
        for ((&score, slope), [a, b, c]) in own.iter().zip(&mut part.slopes).zip(&self.coefficients[start..])
        {
            *slope = c * score + *slope / self.total;
            add(&mut part.moments, &[a * score, b * score, score * *slope, score * c * score]);
        }
        part
    }
}

/// What a task adds to the moments.
#[derive(Debug, Default)]
struct TaskMoments {
    /// E[d], E[dg] and E[d²], and E[d²] if scores were independent: what rounding is measured by.
    moments: [f64; 4],
    /// c s − h at each place, which is half the slope of E[d²].
    slopes: Vec<f64>,
}
