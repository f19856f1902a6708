//! The gap between two rates, query by query: an average can hide gaps of opposite signs.

use super::bins::Bins;
use crate::examples::Examples;
use crate::metrics::{Settings, values_in_order};
use crate::pairs::{Layout, Part, Tally};
use crate::rates::Rate;

/// One rate over the queries that have pairs of it.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryRates {
    /// Which rate.
    pub rate: Rate,
    /// Number of queries that have such pairs.
    pub queries: usize,
    /// How many of them are in each of [`QueryGaps::rate_bins`].
    pub counts: Vec<u64>,
}

/// Two rates that should be equal, in each query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryGaps {
    /// The rate that the other is taken from.
    pub first: QueryRates,
    /// The rate that is taken from it.
    pub second: QueryRates,
    /// Bins of the rates, around 0, 0.05, …, 1.
    pub rate_bins: Bins,
    /// Number of queries that have pairs of both.
    pub queries: usize,
    /// How many of these have a gap above 0.
    pub positive: usize,
    /// How many have a gap below 0.
    pub negative: usize,
    /// Mean of first − second over these queries; none if there are none.
    pub mean: Option<f64>,
    /// Bins of the gaps, around −1, −0.9, …, 1.
    pub bins: Bins,
    /// Queries in each of them.
    pub counts: Vec<u64>,
}

/// Compares the two rates that a table's fairness is about in every query; `scores` are in the order of
/// the examples.
pub(super) fn by_query(examples: &Examples, scores: &[f64], settings: &Settings) -> Option<QueryGaps> {
    if !examples.has_queries() || !examples.has_labels() {
        return None;
    }
    let (first, second) = rates(examples, scores, settings)?;
    let layout = Layout::of(examples);
    let cells = [layout.cells(first), layout.cells(second)];
    let rate_bins = Bins::around(0.0, 1.0, 21);
    let bins = Bins::around(-1.0, 1.0, 21);
    let start = |rate| QueryRates { rate, queries: 0, counts: vec![0; rate_bins.len()] };
    let mut both = [start(first), start(second)];
    let mut counts = vec![0; bins.len()];
    let (mut queries, mut positive, mut negative, mut sum) = (0, 0, 0, 0.0);
    let tally = Tally::count(examples, scores, &[first, second], settings.ties);
    for parts in tally.queries() {
        let values = [0, 1].map(|side| value(parts, &cells[side]));
        for (rate, value) in both.iter_mut().zip(values) {
            if let Some(value) = value {
                rate.queries += 1;
                rate.counts[rate_bins.place(value)] += 1;
            }
        }
        if let [Some(first), Some(second)] = values {
            let gap = first - second;
            queries += 1;
            positive += usize::from(gap > 0.0);
            negative += usize::from(gap < 0.0);
            sum += gap;
            counts[bins.place(gap)] += 1;
        }
    }
    let [first, second] = both;
    let mean = (queries > 0).then(|| sum / queries as f64);
    Some(QueryGaps { first, second, rate_bins, queries, positive, negative, mean, bins, counts })
}

/// What is compared: the two orders of a continuous attribute, the two accuracies between two groups, or
/// the highest and the lowest row marginal of several.
fn rates(examples: &Examples, scores: &[f64], settings: &Settings) -> Option<(Rate, Rate)> {
    if examples.is_continuous() {
        return Some((Rate::Greater, Rate::Less));
    }
    match examples.groups().len() {
        0 | 1 => None,
        2 => Some((Rate::accuracy(0, 1), Rate::accuracy(1, 0))),
        groups => {
            let rows: Vec<Rate> = (0..groups).map(Rate::row).collect();
            let values = values_in_order(examples, scores, &rows, settings.ties, settings.average);
            let known: Vec<(f64, Rate)> =
                values.into_iter().zip(rows).filter(|(value, _)| !value.is_nan()).collect();
            let lowest = known.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
            // Of equals the first, like above, unless that is the lowest itself.
            let others = known.iter().rev().filter(|(_, rate)| *rate != lowest.1);
            Some((others.max_by(|a, b| a.0.total_cmp(&b.0))?.1, lowest.1))
        }
    }
}

fn value(parts: &[Part], cells: &[usize]) -> Option<f64> {
    let (mut credit, mut total) = (0.0, 0.0);
    for part in parts.iter().filter(|part| cells.contains(&(part.cell as usize))) {
        credit += part.credit;
        total += part.total;
    }
    (total > 0.0).then(|| credit / total)
}
