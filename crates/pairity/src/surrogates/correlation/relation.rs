//! Which pairs a correlation is taken over: those of two groups, or of different values of a continuous
//! attribute.

use super::Membership;
use crate::examples::{Attribute, Examples, sort_by_value};
use crate::surrogates::SurrogateError;
use std::ops::Range;

/// Places of consecutive queries that make one task.
const TASK: usize = 4096;

/// The examples of two groups, or those with a continuous attribute, in label order within each query.
#[derive(Debug, Clone, Default)]
pub(super) struct Relation {
    /// Whether pairs inside a class count too.
    pub(super) inside: bool,
    /// At each place, the example.
    pub(super) example: Vec<u32>,
    /// At each place, the class: the group, or the rank of the attribute in the query.
    pub(super) class: Vec<u32>,
    /// At each place, the factor of its pairs.
    pub(super) factor: Vec<f64>,
    /// At each place, the label, counted from the query's first; up to a scale.
    pub(super) label: Vec<f64>,
    /// Whether a pair is weighed by the difference of labels.
    pub(super) gap: bool,
    /// The places of each run of equal labels in a query.
    pub(super) runs: Vec<Range<u32>>,
    /// Where each query ends, among the places and among the runs.
    pub(super) ends: Vec<(u32, u32)>,
    /// Number of classes in each query, or more.
    pub(super) classes: Vec<u32>,
    /// Consecutive queries.
    pub(super) tasks: Vec<Range<usize>>,
    /// Of each place: the coefficients in E[d] and E[dg], and the sum of weights.
    pub(super) a: Vec<f64>,
    pub(super) b: Vec<f64>,
    pub(super) c: Vec<f64>,
    /// The sum of the weights of all pairs.
    pub(super) total: f64,
    /// E[g].
    pub(super) mean: f64,
}

/// On which side of an example its partners stand.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Partners {
    Worse,
    Better,
}

/// The relations whose correlations are added up: one for each pair of groups.
pub(super) fn relations(
    examples: &Examples,
    membership: Membership,
) -> Result<Vec<Relation>, SurrogateError> {
    let refuse = |reason: &str| Err(SurrogateError::NoCorrelation { reason: reason.to_owned() });
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
    pub(super) fn places(&self, query: usize) -> Range<usize> {
        let start = if query == 0 { 0 } else { self.ends[query - 1].0 as usize };
        start..self.ends[query].0 as usize
    }

    /// Visits the places of each run of equal labels in a query, from that end of the label order where
    /// the partners are.
    pub(super) fn walk(&self, query: usize, partners: Partners, visit: impl FnMut(Range<usize>)) {
        let start = if query == 0 { 0 } else { self.ends[query - 1].1 as usize };
        let runs = self.runs[start..self.ends[query].1 as usize].iter();
        let places = |run: &Range<u32>| run.start as usize..run.end as usize;
        match partners {
            Partners::Worse => runs.map(places).for_each(visit),
            Partners::Better => runs.rev().map(places).for_each(visit),
        }
    }
}
