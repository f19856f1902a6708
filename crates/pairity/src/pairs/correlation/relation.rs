//! Which pairs a correlation is taken over: those of two groups, or of different values of a continuous
//! attribute.

use super::Membership;
use crate::examples::{Attribute, Examples, tasks};
use crate::pairs::SurrogateError;
use crate::pairs::index::{NO_RANK, PairIndex, QueryPairs, Sizes};
use crate::pairs::mass::GapMass;
use crate::rates::Rate;
use std::borrow::Cow;
use std::ops::Range;

/// The class of the example at a position of a query, if it has one.
type Class<'c> = &'c dyn Fn(&QueryPairs, usize) -> Option<u32>;

/// The examples of two groups, or those with a continuous attribute, in label order within each query.
#[derive(Debug, Clone, Default)]
pub(super) struct Relation {
    /// Whether pairs inside a class count too.
    pub(super) inside: bool,
    /// At each place, the example.
    pub(super) example: Vec<u32>,
    /// At each place, the class: the group, or the rank of the attribute in the query.
    pub(super) class: Vec<u32>,
    /// At each place, the factor of its pairs and the label, counted from the query's first; up to a scale.
    pub(super) mass: Vec<GapMass>,
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
    let index = PairIndex::build(Cow::Borrowed(examples), &[Rate::Greater], Sizes::default(), true);
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
        for query in 0..index.examples().queries() {
            relation.add_query(index.examples(), &index.query(query), class);
        }
        relation.tasks = tasks((0..relation.ends.len()).map(|query| relation.places(query).len()));
        // Weights and labels count up to a scale.
        let largest = |of: fn(&GapMass) -> f64| relation.mass.iter().map(of).fold(0.0, f64::max);
        let largest = [largest(|mass| mass.weight), largest(|mass| mass.label)];
        let [weight, label] = largest.map(|largest| if largest > 0.0 { largest } else { 1.0 });
        let scaled = |mass: &GapMass| GapMass { weight: mass.weight / weight, label: mass.label / label };
        relation.mass.iter_mut().for_each(|mass| *mass = scaled(mass));
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
        self.classes.push(highest + 1);
        let origin = 0.5 * labels[example(first)];
        let mut label = None;
        for (at, class) in members {
            let (example, place) = (example(at), self.example.len() as u32);
            match self.runs.last_mut() {
                Some(run) if label == Some(query.first[at]) => run.end = place + 1,
                _ => self.runs.push(place..place + 1),
            }
            label = Some(query.first[at]);
            self.example.push(example as u32);
            self.class.push(class);
            self.mass
                .push(GapMass { weight: examples.factor(example), label: 0.5 * labels[example] - origin });
        }
        self.ends.push((self.example.len() as u32, self.runs.len() as u32));
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
