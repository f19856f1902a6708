//! Summaries against slow and obvious ones.

use super::*;
use crate::examples::{Columns, Groups};
use crate::pairs::CellLayout;
use crate::pairs::oracle::{self, OracleRows, tables};
use crate::rates::Side;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// OracleRows that take part: those of weight above 0.
fn kept(rows: &OracleRows) -> Vec<usize> {
    (0..rows.scores.len()).filter(|&i| rows.weights.as_ref().is_none_or(|w| w[i] > 0.0)).collect()
}

/// Whether sums are whole numbers, so that both ways give the same bits.
fn is_exact(rows: &OracleRows) -> bool {
    rows.weights.is_none() && rows.factors.is_none() && !rows.label_gap
}

fn slow_place(bins: &Bins, value: f64) -> usize {
    (0..bins.len()).rev().find(|&i| bins.edges[i] <= value).unwrap_or(0)
}

fn distinct(values: &[f64]) -> Vec<f64> {
    let mut all: Vec<f64> = values.iter().map(|v| v + 0.0).filter(|v| !v.is_nan()).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// The values of a column in the rows that take part.
fn column(rows: &OracleRows, values: &Option<Vec<f64>>) -> Option<Vec<f64>> {
    values.as_ref().map(|values| kept(rows).into_iter().map(|i| values[i]).collect())
}

fn check_halves(halves: Option<Halves>, values: Option<Vec<f64>>) -> Result<(), TestCaseError> {
    let values = distinct(&values.unwrap_or_default());
    prop_assert_eq!(halves.is_some(), values.len() > 1);
    if let Some(halves) = halves {
        let next = values.iter().position(|&v| v == halves.cut).map(|at| values[at + 1]);
        prop_assert_eq!(next, Some(halves.above));
        prop_assert_eq!(halves.two_values, values.len() == 2);
    }
    Ok(())
}

fn check_scores(rows: &OracleRows, found: &ScoreHistograms) -> Result<(), TestCaseError> {
    let groups = rows.groups.as_ref().map(|names| Groups::from_names(names));
    check_halves(found.labels, column(rows, &rows.labels))?;
    check_halves(found.attribute, column(rows, &rows.protected))?;
    let part = |i: usize| match (&groups, &rows.protected) {
        (Some(groups), _) => groups.code(i),
        (None, Some(z)) if z[i].is_nan() => None,
        (None, Some(z)) => Some(usize::from(found.attribute.is_some_and(|h| z[i] > h.cut))),
        (None, None) => Some(0),
    };
    let mut expected: BTreeMap<(usize, Option<bool>), (usize, Vec<f64>)> = BTreeMap::new();
    for i in kept(rows) {
        let Some(part) = part(i) else { continue };
        let upper = found.labels.zip(rows.labels.as_ref()).map(|(halves, labels)| labels[i] > halves.cut);
        let entry = expected.entry((part, upper)).or_insert((0, vec![0.0; found.bins.len()]));
        entry.0 += 1;
        entry.1[slow_place(&found.bins, rows.scores[i])] += rows.weights.as_ref().map_or(1.0, |w| w[i]);
    }
    let found: BTreeMap<(usize, Option<bool>), (usize, Vec<f64>)> =
        found.histograms.iter().map(|h| ((h.part, h.upper_label), (h.rows, h.weights.clone()))).collect();
    prop_assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (found, expected) in found.values().zip(expected.values()) {
        prop_assert_eq!(found.0, expected.0);
        prop_assert!(found.1.iter().zip(&expected.1).all(|(a, b)| (a - b).abs() < 1e-9));
    }
    Ok(())
}

/// A rate in each query that has pairs of it, and over all of them.
fn slow_rate(rows: &OracleRows, layout: &CellLayout, rate: Rate) -> (BTreeMap<u32, f64>, Option<f64>) {
    let cells: BTreeSet<usize> = layout.cells(rate).into_iter().collect();
    let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for ((query, cell), sum) in oracle::count(rows, Ties::Half) {
        if cells.contains(&cell) {
            let entry = sums.entry(query).or_default();
            *entry = (entry.0 + sum.credit, entry.1 + sum.total);
        }
    }
    sums.retain(|_, (_, total)| *total > 0.0);
    let (credit, total) = sums.values().fold((0.0, 0.0), |all, sum| (all.0 + sum.0, all.1 + sum.1));
    let all = (total > 0.0).then(|| credit / total);
    (sums.into_iter().map(|(query, (credit, total))| (query, credit / total)).collect(), all)
}

fn check_gaps(
    rows: &OracleRows,
    layout: &CellLayout,
    found: &Option<QueryGaps>,
) -> Result<(), TestCaseError> {
    let marginals = |layout: &CellLayout| {
        (0..layout.groups).filter_map(|g| slow_rate(rows, layout, Rate::row(g)).1).collect::<Vec<_>>()
    };
    let comparable = layout.continuous || layout.groups == 2 || marginals(layout).len() > 1;
    let Some(found) = found else {
        prop_assert!(rows.queries.is_none() || rows.labels.is_none() || !comparable);
        return Ok(());
    };
    prop_assert!(comparable);
    let (first, overall_first) = slow_rate(rows, layout, found.first.rate);
    let (second, overall_second) = slow_rate(rows, layout, found.second.rate);
    if layout.groups > 2 {
        let values = marginals(layout);
        let end = |value: Option<f64>, end: f64| value.is_some_and(|value| (value - end).abs() < 1e-9);
        prop_assert!(end(overall_first, values.iter().copied().fold(f64::MIN, f64::max)));
        prop_assert!(end(overall_second, values.iter().copied().fold(f64::MAX, f64::min)));
        prop_assert_ne!(found.first.rate, found.second.rate);
    }
    let gaps: Vec<f64> = first.iter().filter_map(|(q, a)| Some(a - second.get(q)?)).collect();
    prop_assert_eq!((found.first.queries, found.second.queries), (first.len(), second.len()));
    prop_assert_eq!(found.queries, gaps.len());
    let mean = (!gaps.is_empty()).then(|| gaps.iter().sum::<f64>() / gaps.len() as f64);
    prop_assert_eq!(found.mean.is_some(), mean.is_some());
    prop_assert!(found.mean.zip(mean).is_none_or(|(a, b)| (a - b).abs() < 1e-9));
    prop_assert_eq!(found.counts.iter().sum::<u64>(), gaps.len() as u64);
    if is_exact(rows) {
        let histogram = |bins: &Bins, values: &[f64]| {
            let mut counts = vec![0; bins.len()];
            values.iter().for_each(|&value| counts[slow_place(bins, value)] += 1);
            counts
        };
        prop_assert_eq!(&found.counts, &histogram(&found.bins, &gaps));
        let values = |rates: &BTreeMap<u32, f64>| rates.values().copied().collect::<Vec<_>>();
        prop_assert_eq!(&found.first.counts, &histogram(&found.rate_bins, &values(&first)));
        prop_assert_eq!(&found.second.counts, &histogram(&found.rate_bins, &values(&second)));
        prop_assert_eq!(found.positive, gaps.iter().filter(|gap| **gap > 0.0).count());
        prop_assert_eq!(found.negative, gaps.iter().filter(|gap| **gap < 0.0).count());
    }
    Ok(())
}

/// The attribute as it is rounded, by definition.
fn rounded(rows: &OracleRows, z: &[f64]) -> Vec<f64> {
    let mut known: Vec<f64> = kept(rows).into_iter().map(|i| z[i] + 0.0).filter(|z| !z.is_nan()).collect();
    known.sort_by(f64::total_cmp);
    if distinct(&known).len() <= 100 {
        return z.to_vec();
    }
    let class = |z: f64| known.iter().filter(|&&other| other < z).count() * 100 / known.len();
    let middle = |of: usize| {
        let members: Vec<f64> = known.iter().copied().filter(|&z| class(z) == of).collect();
        // OracleRows of weight 0 are in no pair, and may be in a class of their own.
        members.get(members.len() / 2).copied().unwrap_or(f64::NAN)
    };
    z.iter().map(|&z| if z.is_nan() { z } else { middle(class(z)) }).collect()
}

fn check_differences(rows: &OracleRows, found: &Option<Differences>) -> Result<(), TestCaseError> {
    let (Some(z), Some(labels)) = (&rows.protected, &rows.labels) else {
        prop_assert_eq!(found, &None);
        return Ok(());
    };
    let Some(found) = found else { return Err(TestCaseError::fail("nothing found")) };
    let z = rounded(rows, z);
    // (difference, credit) of every pair.
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    for i in kept(rows) {
        for j in kept(rows).into_iter().filter(|&j| rows.compares(i, j) && labels[i] > labels[j]) {
            let difference = (z[i] - z[j]).clamp(f64::MIN, f64::MAX);
            if !difference.is_nan() {
                let credit = match rows.scores[i].partial_cmp(&rows.scores[j]) {
                    Some(std::cmp::Ordering::Greater) => 1.0,
                    Some(std::cmp::Ordering::Equal) => 0.5,
                    _ => 0.0,
                };
                pairs.push((difference, credit));
            }
        }
    }
    if !is_exact(rows) {
        prop_assert!(found.bins.iter().map(|bin| bin.pairs).sum::<u64>() <= pairs.len() as u64);
        return Ok(());
    }
    let mut expected: BTreeMap<(i32, usize), Vec<(f64, f64)>> = BTreeMap::new();
    let sign = |d: f64| if d > 0.0 { 1 } else { -i32::from(d < 0.0) };
    for &(d, credit) in &pairs {
        let same: Vec<f64> = pairs.iter().map(|p| p.0).filter(|&other| sign(other) == sign(d)).collect();
        let before = same.iter().filter(|&&other| other < d).count();
        let bin = if d == 0.0 { 0 } else { (before as f64 / same.len() as f64 * 8.0) as usize };
        expected.entry((sign(d), bin)).or_default().push((d, credit));
    }
    prop_assert_eq!(found.bins.len(), expected.len());
    for (bin, pairs) in found.bins.iter().zip(expected.values()) {
        let n = pairs.len() as f64;
        prop_assert_eq!(bin.pairs, pairs.len() as u64);
        prop_assert_eq!(bin.accuracy, pairs.iter().map(|p| p.1).sum::<f64>() / n);
        prop_assert_eq!(bin.low, pairs.iter().map(|p| p.0).fold(f64::MAX, f64::min));
        prop_assert_eq!(bin.high, pairs.iter().map(|p| p.0).fold(f64::MIN, f64::max));
        let mean: f64 = pairs.iter().map(|p| p.0 / n).sum();
        prop_assert!((bin.mean - mean).abs() <= 1e-9 * mean.abs().max(1e-12), "{bin:?} {mean}");
    }
    Ok(())
}

fn check_tied(rows: &OracleRows, layout: &CellLayout, found: Option<f64>) -> Result<(), TestCaseError> {
    let pooled = |ties| {
        let cells: Vec<usize> = layout.cells(Rate::Accuracy { better: Side::Any, worse: Side::Any });
        let sums = oracle::count(rows, ties);
        let of = sums.iter().filter(|((_, cell), _)| cells.contains(cell));
        of.fold((0.0, 0.0), |all, (_, sum)| (all.0 + sum.credit, all.1 + sum.total))
    };
    let ((half, total), (strict, _)) = (pooled(Ties::Half), pooled(Ties::Strict));
    prop_assert_eq!(found.is_some(), total > 0.0);
    prop_assert!(found.is_none_or(|found| (found - 2.0 * (half - strict) / total).abs() < 1e-9));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_summary_equals_its_definition(rows in tables()) {
        let Some(examples) = rows.examples() else { return Ok(()) };
        let found = Distributions::run(&examples, &rows.scores, &Settings::default()).unwrap();
        let layout = CellLayout::of(&examples);
        check_scores(&rows, &found.scores)?;
        check_gaps(&rows, &layout, &found.gaps)?;
        check_differences(&rows, &found.differences)?;
        check_tied(&rows, &layout, found.tied)?;
    }
}

#[test]
fn opposite_gaps_of_two_queries_are_seen() {
    // In the first query a is always right and b wrong, in the second one the other way around.
    let groups = Groups::from_names(&["a", "b", "a", "b", "a", "b", "a", "b"]);
    let labels = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0];
    let scores = [0.9, 0.1, 0.8, 0.2, 0.1, 0.9, 0.2, 0.8];
    let columns = Columns {
        labels: Some(&labels),
        groups: Some(&groups),
        queries: Some(&[1, 1, 1, 1, 2, 2, 2, 2]),
        ..Columns::default()
    };
    let examples = Examples::new(columns).unwrap();
    let gaps = Distributions::run(&examples, &scores, &Settings::default()).unwrap().gaps.unwrap();
    assert_eq!((gaps.queries, gaps.positive, gaps.negative, gaps.mean), (2, 1, 1, Some(0.0)));
    assert_eq!((gaps.counts[0], gaps.counts[20], gaps.counts.iter().sum::<u64>()), (1, 1, 2));
}

#[test]
fn accuracy_by_difference_of_a_small_table() {
    // The better one, of label 1, has z = 30 or 50; worse ones 20 and 40.
    let columns = Columns {
        labels: Some(&[1.0, 1.0, 0.0, 0.0]),
        protected: Some(&[30.0, 50.0, 20.0, 40.0]),
        ..Columns::default()
    };
    let examples = Examples::new(columns).unwrap();
    let scores = [0.5, 0.9, 0.5, 0.7];
    let found = Distributions::run(&examples, &scores, &Settings::default()).unwrap().differences.unwrap();
    let bin = |difference, accuracy, pairs| DifferenceBin {
        low: difference,
        high: difference,
        mean: difference,
        accuracy,
        pairs,
    };
    // 30 − 40 is lost, 30 − 20 a tie and 50 − 40 won, 50 − 20 won.
    assert_eq!(found.bins, [bin(-10.0, 0.0, 1), bin(10.0, 0.75, 2), bin(30.0, 1.0, 1)]);
    assert!(!found.rounded);
}
