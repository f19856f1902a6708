//! The gap between two rates, query by query: an average can hide gaps of opposite signs.

use super::Bins;
use crate::examples::Examples;
use crate::metrics::Settings;
use crate::pairs::{CellLayout, PairIndex, Placement, Tally};
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
    let candidates = candidates(examples);
    let index = PairIndex::new(examples, &candidates);
    let tally = Tally::count(&index, &index.order(scores), settings.ties);
    let (first, second) = compared(&candidates, || tally.values(&index, settings.average))?;
    let layout = CellLayout::of(examples);
    let cells = [layout.cells(first), layout.cells(second)];
    let rate_bins = Bins::around(0.0, 1.0, 21);
    let bins = Bins::around(-1.0, 1.0, 21);
    let [first, second] =
        [first, second].map(|rate| QueryRates { rate, queries: 0, counts: vec![0; rate_bins.len()] });
    let counts = vec![0; bins.len()];
    let (queries, positive, negative, mean) = (0, 0, 0, None);
    let mut gaps = QueryGaps { first, second, rate_bins, queries, positive, negative, mean, bins, counts };
    let mut sum = 0.0;
    for placements in tally.queries() {
        let values = [0, 1].map(|side| value(placements, &cells[side]));
        for (rate, value) in [&mut gaps.first, &mut gaps.second].into_iter().zip(values) {
            let Some(value) = value else { continue };
            rate.queries += 1;
            rate.counts[gaps.rate_bins.place(value)] += 1;
        }
        let [Some(first), Some(second)] = values else { continue };
        let gap = first - second;
        gaps.queries += 1;
        gaps.positive += usize::from(gap > 0.0);
        gaps.negative += usize::from(gap < 0.0);
        gaps.counts[gaps.bins.place(gap)] += 1;
        sum += gap;
    }
    gaps.mean = (gaps.queries > 0).then(|| sum / gaps.queries as f64);
    Some(gaps)
}

/// What may be compared: the two orders of a continuous attribute, the two accuracies between two groups, or
/// the row marginals of several.
fn candidates(examples: &Examples) -> Vec<Rate> {
    match examples.groups().len() {
        _ if examples.is_continuous() => vec![Rate::Greater, Rate::Less],
        0 | 1 => Vec::new(),
        2 => vec![Rate::accuracy(0, 1), Rate::accuracy(1, 0)],
        groups => (0..groups).map(Rate::row).collect(),
    }
}

/// Two candidates, or the highest and the lowest of several.
fn compared(candidates: &[Rate], values: impl FnOnce() -> Vec<f64>) -> Option<(Rate, Rate)> {
    if let [first, second] = *candidates {
        return Some((first, second));
    }
    let known: Vec<(f64, Rate)> =
        values().into_iter().zip(candidates.iter().copied()).filter(|(value, _)| !value.is_nan()).collect();
    let lowest = known.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    // Of equals the first, like above, unless that is the lowest itself.
    let others = known.iter().rev().filter(|(_, rate)| *rate != lowest.1);
    Some((others.max_by(|a, b| a.0.total_cmp(&b.0))?.1, lowest.1))
}

fn value(placements: &[Placement], cells: &[usize]) -> Option<f64> {
    let own = placements.iter().filter(|placement| cells.contains(&(placement.cell as usize)));
    let (credit, total) = own.fold((0.0, 0.0), |(credit, total), p| (credit + p.credit, total + p.total));
    (total > 0.0).then(|| credit / total)
}
