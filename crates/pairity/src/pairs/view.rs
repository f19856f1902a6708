//! One query as the counting routines see it.

use super::mass::Mass;
use crate::examples::{Attribute, Examples, SMALL, sort_by_value};
use std::ops::Range;

/// The columns of one query. Groups are renumbered to those present in it.
pub(crate) struct View<'a> {
    pub scores: &'a [f64],
    pub labels: Option<&'a [f64]>,
    factors: Option<&'a [f64]>,
    /// The group of each example among `present`.
    pub groups: Vec<u16>,
    /// The groups in this query: indexes into the names, or their number for "no group".
    pub present: Vec<u16>,
    /// Places, examples and ranks in label order; empty for a small query.
    pub place: &'a [u32],
    pub example: &'a [u32],
    pub rank: &'a [u32],
    /// Label rank of each example; empty for a small query.
    pub rank_of: &'a [u32],
}

impl<'a> View<'a> {
    /// The examples `range` of one query, with `scores` for all examples.
    pub(crate) fn new(examples: &'a Examples, range: Range<usize>, scores: &'a [f64]) -> View<'a> {
        let (groups, present) = match &examples.attribute {
            Attribute::Groups { codes, .. } => renumber(&codes[range.clone()]),
            _ => (vec![0; range.len()], vec![0]),
        };
        let order = &examples.label_order;
        let large = !order.rank.is_empty() && (range.len() > SMALL || !examples.has_queries());
        let slice = |values: &'a [u32]| if large { &values[range.clone()] } else { &[] };
        View {
            scores: &scores[range.clone()],
            labels: examples.labels.as_ref().map(|labels| &labels[range.clone()]),
            factors: examples.factors.as_ref().map(|factors| &factors[range.clone()]),
            groups,
            present,
            place: slice(&order.place),
            example: slice(&order.example),
            rank: slice(&order.rank),
            rank_of: slice(&order.rank_of),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.scores.len()
    }

    /// Whether pairs are to be compared one by one.
    pub(crate) fn is_small(&self) -> bool {
        self.len() <= SMALL
    }

    /// The mass of each example. Labels count from the first one, so that a common offset costs no
    /// precision where differences of labels are summed.
    pub(crate) fn masses<M: Mass>(&self) -> Vec<M> {
        let origin = self.labels.map_or(0.0, |labels| labels[0]);
        (0..self.len())
            .map(|i| {
                let weight = self.factors.map_or(1.0, |factors| factors[i]);
                M::new(weight, self.labels.map_or(0.0, |labels| labels[i] - origin))
            })
            .collect()
    }

    /// The examples by ascending score, equal scores by descending label.
    pub(crate) fn by_score(&self) -> Vec<(u64, u32)> {
        let mut order = sort_by_value(self.scores);
        for run in order.chunk_by_mut(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
            run.sort_unstable_by_key(|&(_, id)| (u32::MAX - self.rank_of[id as usize], id));
        }
        order
    }
}

/// The runs of at least two equal scores.
pub(crate) fn runs(order: &[(u64, u32)]) -> impl Iterator<Item = &[(u64, u32)]> {
    order.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1)
}

/// Codes counted among those that occur, and the list of these.
fn renumber(codes: &[u16]) -> (Vec<u16>, Vec<u16>) {
    let highest = codes.iter().copied().max().unwrap_or(0) as usize;
    let mut number = vec![u16::MAX; highest + 1];
    codes.iter().for_each(|&code| number[code as usize] = 0);
    let present: Vec<u16> = (0..=highest as u16).filter(|&code| number[code as usize] == 0).collect();
    for (new, &code) in present.iter().enumerate() {
        number[code as usize] = new as u16;
    }
    (codes.iter().map(|&code| number[code as usize]).collect(), present)
}
