//! Every metric against a count pair by pair, and the edges at which nothing can be estimated.

use super::{Audit, ContinuousRates, Measurement, Metric, Settings, Verdict, rate_values};
use crate::examples::{Columns, Examples, Groups};
use crate::goals::{Criterion, parse_constraint, parse_expression};
use crate::pairs::CellLayout;
use crate::pairs::oracle::{self, CellSums, OracleRows, tables};
use crate::rates::{Average, Rate, Side, Ties};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A rate by definition: pooled over pairs, or averaged over the queries that have some.
fn slow_rate(
    cells: &BTreeMap<(u32, usize), CellSums>,
    average: Average,
    belongs: impl Fn(usize) -> bool,
) -> (Option<f64>, u64) {
    let mut queries: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    let mut pairs = 0;
    for ((query, _), sums) in cells.iter().filter(|((_, cell), _)| belongs(*cell)) {
        let sum = queries.entry(*query).or_default();
        sum.0 += sums.credit;
        sum.1 += sums.total;
        pairs += sums.pairs;
    }
    let queries: Vec<(f64, f64)> = queries.into_values().filter(|(_, total)| *total > 0.0).collect();
    let value = match average {
        Average::Pairs => queries.iter().map(|q| q.0).sum::<f64>() / queries.iter().map(|q| q.1).sum::<f64>(),
        Average::Queries => queries.iter().map(|q| q.0 / q.1).sum::<f64>() / queries.len() as f64,
    };
    (Some(value).filter(|value| !value.is_nan()), pairs)
}

/// The variance of a rate over queries: Σ (N − A D)² (m / (m − 1))² / D², m being D² / Σ D² queries.
pub(super) fn slow_variance(
    cells: &BTreeMap<(u32, usize), CellSums>,
    average: Average,
    belongs: impl Fn(usize) -> bool,
) -> Option<f64> {
    let mut queries: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for ((query, _), sums) in cells.iter().filter(|((_, cell), sums)| belongs(*cell) && sums.total > 0.0) {
        let sum = queries.entry(*query).or_default();
        *sum = (sum.0 + sums.credit, sum.1 + sums.total);
    }
    let units: Vec<(f64, f64)> = match average {
        Average::Pairs => queries.into_values().collect(),
        Average::Queries => queries.into_values().map(|(n, d)| (n / d, 1.0)).collect(),
    };
    let (n, d) = units.iter().fold((0.0, 0.0), |sum, unit| (sum.0 + unit.0, sum.1 + unit.1));
    let m = d * d / units.iter().map(|unit| unit.1 * unit.1).sum::<f64>();
    let sum: f64 = units.iter().map(|unit| (unit.0 - n / d * unit.1).powi(2)).sum();
    (units.len() > 1).then(|| sum * (m / (m - 1.0) / d).powi(2))
}

fn agree(fast: &Metric, slow: Option<f64>) -> bool {
    match (fast.value, slow) {
        (Some(fast), Some(slow)) => (fast - slow).abs() < 1e-9,
        (None, None) => fast.reason.is_some(),
        _ => false,
    }
}

/// The interval holds the value, rates stay in [0, 1], and a missing number has a reason.
fn is_sound(metric: &Metric, highest: f64) -> bool {
    match (metric.low, metric.value, metric.high) {
        (Some(low), Some(value), Some(high)) => {
            (-1e-12..=value + 1e-12).contains(&low) && (value - 1e-12..=highest + 1e-12).contains(&high)
        }
        (None, _, None) => metric.reason.as_ref().is_some_and(|reason| !reason.is_empty()),
        _ => false,
    }
}

fn check_audit(rows: &OracleRows, average: Average, ties: Ties) -> Result<(), TestCaseError> {
    let Some(examples) = rows.examples() else { return Ok(()) };
    let settings = Settings { average, ties, ..Settings::default() };
    let audit = Audit::run(&examples, &rows.scores, &[], &settings).unwrap();
    let cells = oracle::count(rows, ties);
    let layout = CellLayout::of(&examples);
    let average = if rows.queries.is_some() { average } else { Average::Pairs };
    let (k, codes) = (layout.groups, layout.codes());
    let accuracy = |better: Side, worse: Side| {
        let fits = |side: Side, code: usize| side == Side::Any || side == Side::Group(code);
        slow_rate(&cells, average, |cell| {
            cell < codes * codes && fits(better, cell / codes) && fits(worse, cell % codes)
        })
    };
    let (value, pairs) = accuracy(Side::Any, Side::Any);
    prop_assert!(agree(&audit.auc, value), "{:?} {value:?}", audit.auc);
    prop_assert_eq!(audit.auc.pairs, pairs);
    for a in 0..k {
        let (row, _) = accuracy(Side::Group(a), Side::Any);
        let (column, _) = accuracy(Side::Any, Side::Group(a));
        prop_assert!(agree(&audit.row_marginals[a], row));
        prop_assert!(agree(&audit.column_marginals[a], column));
        prop_assert!(agree(&audit.symmetric[a], row.zip(column).map(|(row, column)| row + column)));
        prop_assert!(is_sound(&audit.symmetric[a], 2.0), "{:?}", audit.symmetric[a]);
        for b in 0..k {
            let (value, pairs) = accuracy(Side::Group(a), Side::Group(b));
            let metric = &audit.accuracy[a][b];
            prop_assert!(agree(metric, value) && is_sound(metric, 1.0), "{metric:?} {value:?}");
            prop_assert_eq!(metric.pairs, pairs);
            let value = slow_rate(&cells, average, |cell| a != b && cell == layout.parity(a, b)).0;
            match &audit.parity[a][b] {
                Some(metric) => prop_assert!(agree(metric, value) && is_sound(metric, 1.0)),
                None => prop_assert_eq!(a, b),
            }
        }
    }
    if let Some(ContinuousRates { greater, less, parity_greater, parity_less }) = &audit.continuous {
        let cells_of = [
            (greater, layout.greater()),
            (less, layout.less()),
            (parity_greater, layout.parity_greater()),
            (parity_less, layout.parity_less()),
        ];
        for (metric, of) in cells_of {
            let (value, pairs) = slow_rate(&cells, average, |cell| cell == of);
            prop_assert!(agree(metric, value) && is_sound(metric, 1.0), "{metric:?} {value:?}");
            prop_assert_eq!(metric.pairs, pairs);
        }
    }
    // Criteria by definition, from the numbers checked above.
    let value = |metric: &Metric| metric.value;
    let off = |f: &dyn Fn(usize, usize) -> Option<f64>, diagonal: Option<bool>| -> Vec<Option<f64>> {
        let cells = (0..k).flat_map(|a| (0..k).map(move |b| (a, b)));
        cells.filter(|(a, b)| diagonal.is_none_or(|d| d == (a == b))).map(|(a, b)| f(a, b)).collect()
    };
    let matrix = |a: usize, b: usize| audit.accuracy[a][b].value;
    let shares = |a: usize, b: usize| audit.parity[a][b].as_ref().and_then(value);
    for (criterion, metric) in &audit.gaps {
        let values = match criterion {
            Criterion::EqualOpportunity => off(&matrix, None),
            Criterion::CrossGroup => off(&matrix, Some(false)),
            Criterion::WithinGroup => off(&matrix, Some(true)),
            Criterion::Marginal => audit.row_marginals.iter().map(value).collect(),
            Criterion::StatisticalParity => off(&shares, Some(false)),
            Criterion::Symmetric => audit.symmetric.iter().map(value).collect(),
            Criterion::Continuous => {
                audit.continuous.iter().flat_map(|rates| [rates.greater.value, rates.less.value]).collect()
            }
            Criterion::ContinuousParity => {
                let both = audit.continuous.iter().map(|rates| [&rates.parity_greater, &rates.parity_less]);
                both.flatten().map(value).collect()
            }
        };
        let gap =
            values.iter().copied().collect::<Option<Vec<f64>>>().filter(|v| v.len() > 1).map(|v| {
                v.iter().copied().fold(f64::MIN, f64::max) - v.iter().copied().fold(f64::MAX, f64::min)
            });
        prop_assert!(agree(metric, gap), "{criterion:?} {metric:?} {gap:?}");
        prop_assert!(is_sound(metric, f64::INFINITY), "{criterion:?} {metric:?}");
    }
    if let (Some(labels), Some(mse)) = (&rows.labels, &audit.mse) {
        let weight = |i: usize| rows.weights.as_ref().map_or(1.0, |w| w[i]);
        let n = labels.len();
        let errors = |i: usize| weight(i) * (rows.scores[i] - labels[i]).powi(2);
        let slow = (0..n).map(errors).sum::<f64>() / (0..n).map(weight).sum::<f64>();
        if average == Average::Pairs && slow.is_finite() {
            prop_assert!((mse.value.unwrap() - slow).abs() <= 1e-9 * slow, "{mse:?} {slow}");
        }
        prop_assert!(mse.value.is_none_or(f64::is_finite));
    }
    let rates = [Rate::AUC, Rate::Greater];
    let values = rate_values(&examples, &rows.scores, &rates, &settings).unwrap();
    prop_assert!(agree(&audit.auc, values[0]), "{:?} {values:?}", audit.auc);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_metric_equals_its_definition(rows in tables(), strict: bool, by_query: bool) {
        let average = if by_query { Average::Queries } else { Average::Pairs };
        check_audit(&rows, average, if strict { Ties::Strict } else { Ties::Half })?;
    }

    #[test]
    fn a_monotone_map_of_scores_changes_no_rate(rows in tables()) {
        let Some(examples) = rows.examples() else { return Ok(()) };
        let settings = Settings::default();
        let before = Measurement::new(&examples, &rows.scores, &settings).unwrap().rate(Rate::AUC);
        // Halving keeps the order and every tie but for the very smallest numbers.
        prop_assume!(rows.scores.iter().all(|s| *s == 0.0 || s.abs() > 1e-300));
        let mapped: Vec<f64> = rows.scores.iter().map(|s| s / 2.0).collect();
        let after = Measurement::new(&examples, &mapped, &settings).unwrap().rate(Rate::AUC);
        prop_assert_eq!(before, after);
    }
}

fn examples(labels: &[f64], groups: &[&str], queries: Option<&[u32]>) -> Examples {
    let groups = Groups::from_names(groups);
    Examples::new(Columns { labels: Some(labels), groups: Some(&groups), queries, ..Columns::default() })
        .unwrap()
}

fn reason(metric: &Metric) -> &str {
    metric.reason.as_deref().unwrap_or("")
}

#[test]
fn a_group_without_pairs_is_not_estimable() {
    let examples = examples(&[1.0, 0.0, 0.0, 0.0], &["a", "a", "b", "c"], None);
    let audit = Audit::run(&examples, &[0.9, 0.1, 0.2, 0.3], &[], &Settings::default()).unwrap();
    assert_eq!(audit.accuracy[1][0].value, None);
    assert_eq!(reason(&audit.accuracy[1][0]), "A[b > a] has no pairs");
    let cross = &audit.gaps.iter().find(|(c, _)| *c == Criterion::CrossGroup).unwrap().1;
    assert_eq!(cross.value, None);
    assert_eq!(reason(cross), "A[b > a] has no pairs; over the other 2 the gap is 0.000");
}

#[test]
fn equal_labels_leave_the_parity_part() {
    let examples = examples(&[1.0; 4], &["a", "a", "b", "b"], None);
    let audit = Audit::run(&examples, &[0.9, 0.4, 0.3, 0.5], &[], &Settings::default()).unwrap();
    assert_eq!((audit.auc.value, reason(&audit.auc)), (None, "auc has no pairs"));
    assert_eq!(audit.parity[0][1].as_ref().unwrap().value, Some(0.75));
}

#[test]
fn without_labels_only_parity_is_measured() {
    let groups = Groups::from_names(&["a", "b"]);
    let examples = Examples::new(Columns { groups: Some(&groups), ..Columns::default() }).unwrap();
    let audit = Audit::run(&examples, &[1.0, 0.0], &[], &Settings::default()).unwrap();
    assert_eq!(reason(&audit.auc), "auc needs labels");
    assert_eq!(audit.mse, None);
    assert_eq!(audit.parity[0][1].as_ref().unwrap().value, Some(1.0));
}

#[test]
fn parity_of_a_continuous_attribute_needs_no_labels() {
    // Of the rows that have an attribute, the one with the higher scores higher three times, lower once, equal once.
    let z = [1.0, 2.0, 3.0, 2.0, f64::NAN];
    let examples = Examples::new(Columns { protected: Some(&z), ..Columns::default() }).unwrap();
    for (ties, greater, less) in [(Ties::Half, 0.7, 0.3), (Ties::Strict, 0.6, 0.2)] {
        let settings = Settings { ties, ..Settings::default() };
        let audit = Audit::run(&examples, &[0.1, 0.4, 0.4, 0.9, 0.5], &[], &settings).unwrap();
        let rates = audit.continuous.unwrap();
        assert_eq!(reason(&rates.greater), "A[z > z'] needs labels");
        assert_eq!((rates.parity_greater.value, rates.parity_less.value), (Some(greater), Some(less)));
        assert_eq!((rates.parity_greater.pairs, rates.parity_less.pairs), (5, 5));
        let (_, gap) = audit.gaps.iter().find(|(c, _)| *c == Criterion::ContinuousParity).unwrap();
        assert!(gap.value.is_some_and(|gap| (gap - 0.4).abs() < 1e-12) && gap.low.is_some(), "{gap:?}");
    }
    let equal = Examples::new(Columns { protected: Some(&[2.0, 2.0]), ..Columns::default() }).unwrap();
    let audit = Audit::run(&equal, &[0.1, 0.4], &[], &Settings::default()).unwrap();
    assert_eq!(reason(&audit.continuous.unwrap().parity_less), "P[z < z'] has no pairs");
}

#[test]
fn one_query_or_one_positive_has_a_value_but_no_interval() {
    let one_query = examples(&[1.0, 0.0, 1.0], &["a", "b", "b"], Some(&[3, 3, 3]));
    let auc = Measurement::new(&one_query, &[0.5, 0.1, 0.2], &Settings::default()).unwrap().rate(Rate::AUC);
    assert_eq!((auc.value, auc.low, auc.high), (Some(1.0), None, None));
    assert_eq!(reason(&auc), "the interval can't be estimated: one query alone has pairs of auc");
    let one_positive = examples(&[1.0, 0.0, 0.0], &["a", "b", "b"], None);
    let auc =
        Measurement::new(&one_positive, &[0.5, 0.1, 0.2], &Settings::default()).unwrap().rate(Rate::AUC);
    assert_eq!((auc.value, auc.low), (Some(1.0), None));
    assert!(reason(&auc).contains("single example"), "{auc:?}");
}

#[test]
fn a_perfect_rate_still_has_an_honest_interval() {
    let n = 40;
    let labels: Vec<f64> = (0..n).map(|i| f64::from(i % 2)).collect();
    let all = examples(&labels, &vec!["a"; n as usize], None);
    let auc = Measurement::new(&all, &labels, &Settings::default()).unwrap().rate(Rate::AUC);
    assert_eq!((auc.value, auc.high), (Some(1.0), Some(1.0)));
    // Twenty positives without an error: the rule of three says 3 / 20.
    assert!(auc.low.is_some_and(|low| (0.75..0.9).contains(&low)), "{auc:?}");
}

#[test]
fn too_few_pairs_are_not_estimated() {
    let all = examples(&[1.0, 0.0, 1.0], &["a", "b", "b"], None);
    let settings = Settings { min_pairs: 3, ..Settings::default() };
    let auc = Measurement::new(&all, &[0.5, 0.1, 0.2], &settings).unwrap().rate(Rate::AUC);
    assert_eq!((auc.value, reason(&auc)), (None, "auc has 2 pairs, fewer than 3"));
}

#[test]
fn many_groups_are_measured_at_once() {
    // 60 groups have 3,600 rates between them, and 6.5 million differences of these.
    let n = 6_000u32;
    let labels: Vec<f64> = (0..n).map(|i| f64::from(i / 60 % 2)).collect();
    let scores: Vec<f64> = (0..n).map(|i| f64::from(i * 7_919 % 1_013)).collect();
    let names: Vec<String> = (0..n).map(|i| format!("g{}", i % 60)).collect();
    let groups = Groups::from_names(&names);
    let columns = Columns { labels: Some(&labels), groups: Some(&groups), ..Columns::default() };
    let audit = Audit::run(&Examples::new(columns).unwrap(), &scores, &[], &Settings::default()).unwrap();
    let gap = &audit.gaps.iter().find(|(c, _)| *c == Criterion::EqualOpportunity).unwrap().1;
    let values = || audit.accuracy.iter().flatten().filter_map(|metric| metric.value);
    let spread = values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min);
    assert!((gap.value.unwrap() - spread).abs() < 1e-12 && is_sound(gap, 1.0), "{gap:?}");
}

#[test]
fn verdicts_follow_the_interval() {
    let n = 400u32;
    let labels: Vec<f64> = (0..n).map(|i| f64::from(i % 2)).collect();
    // Every tenth label is misjudged.
    let scores: Vec<f64> =
        (0..n).map(|i| if i % 10 == 0 { 1.0 - labels[i as usize] } else { labels[i as usize] }).collect();
    let groups: Vec<&str> = (0..n).map(|i| if i % 3 == 0 { "a" } else { "b" }).collect();
    let examples = examples(&labels, &groups, None);
    let verdict = |text: &str| {
        let check = parse_constraint(text, &examples.vocabulary()).unwrap();
        let audit = Audit::run(&examples, &scores, &[check], &Settings::default()).unwrap();
        audit.checks[0].verdict
    };
    assert_eq!(verdict("auc >= 0.8"), Verdict::Pass);
    assert_eq!(verdict("auc >= 0.99"), Verdict::Fail);
    assert_eq!(verdict("auc >= 0.9"), Verdict::Undecided);
    assert_eq!(verdict("auc <= 0.99"), Verdict::Pass);
    assert_eq!(verdict("auc <= 0.8"), Verdict::Fail);
    assert_eq!(verdict("cross_group <= 0.5"), Verdict::Pass);
    assert_eq!(verdict("min(A[a > b], A[b > a]) >= 0.5"), Verdict::Pass);
}

#[test]
fn rates_that_move_against_each_other_have_a_sum_that_hardly_moves() {
    let n = 300u32;
    let labels: Vec<f64> = (0..n).map(|i| f64::from(i % 2)).collect();
    let scores: Vec<f64> = (0..n).map(|i| f64::from(i * 7_919 % 1_013) + f64::from(i % 3) * 200.0).collect();
    let groups: Vec<&str> = (0..n).map(|i| if i % 3 == 0 { "a" } else { "b" }).collect();
    let all = examples(&labels, &groups, None);
    let measured = Measurement::new(&all, &scores, &Settings::default()).unwrap();
    let width = |text: &str| {
        let metric = measured.expression(&parse_expression(text, measured.vocabulary()).unwrap());
        metric.high.unwrap() - metric.low.unwrap()
    };
    // Not zero: limits are not symmetric, and both reach up.
    assert!(width("P[a > b] + P[b > a]") < 0.2 * width("P[a > b]"));
    assert!((width("P[a > b] - P[b > a]") / width("P[a > b]") - 2.0).abs() < 0.05);
}

/// The accuracies of all pairs, and of those between two groups, by definition.
fn slow_rates(rows: &OracleRows, keep: impl Fn(usize) -> bool) -> [Option<f64>; 2] {
    let weights = (0..rows.scores.len()).map(|row| f64::from(u8::from(keep(row)))).collect();
    let cells = oracle::count(&OracleRows { weights: Some(weights), ..rows.clone() }, Ties::Half);
    [0..9, 1..2].map(|own| slow_rate(&cells, Average::Pairs, |cell| own.contains(&cell)).0)
}

#[test]
fn pairs_are_formed_within_a_column_and_chosen_by_another_while_queries_or_rows_stay_the_units() {
    let n = 40;
    let column = |factor: usize, modulus: usize| (0..n).map(move |i| i * factor % 41 % modulus);
    let rows = OracleRows {
        scores: column(7, 23).map(|s| s as f64).collect(),
        labels: Some(column(5, 3).map(|y| y as f64).collect()),
        groups: Some(column(3, 2).map(|g| ["a", "b"][g].to_owned()).collect()),
        queries: Some((0..n as u32).map(|i| i / 10).collect()),
        within: Some(column(11, 3).map(|w| w as u32).collect()),
        ..OracleRows::default()
    };
    let queries = rows.queries.clone().unwrap();
    for (with_queries, with_side) in [(true, false), (false, false), (true, true), (false, true)] {
        let side = with_side.then(|| column(13, 6).map(|shown| shown as f64).collect());
        let rows =
            OracleRows { queries: rows.queries.clone().filter(|_| with_queries), side, ..rows.clone() };
        let examples = rows.examples().unwrap();
        assert_eq!((examples.queries(), examples.units()), if with_queries { (4, 4) } else { (1, n) });
        let measured = Measurement::new(&examples, &rows.scores, &Settings::default()).unwrap();
        let unit = |row: usize| if with_queries { queries[row] as usize } else { row };
        let all = slow_rates(&rows, |_| true);
        for (at, rate) in [Rate::AUC, Rate::accuracy(0, 1)].into_iter().enumerate() {
            let value = all[at].unwrap();
            assert!(agree(&measured.rate(rate), Some(value)));
            // The jackknife: what the rate is without each unit.
            let without = |left: usize| slow_rates(&rows, |row| unit(row) != left)[at].unwrap();
            let variance: f64 = match with_queries {
                true => {
                    let own = |cell: usize| at == 0 && cell < 9 || cell == 1;
                    slow_variance(&oracle::count(&rows, Ties::Half), Average::Pairs, own).unwrap()
                }
                false => (0..examples.units()).map(|left| (without(left) - value).powi(2)).sum(),
            };
            let found = measured.influence.variances[measured.index[&rate]];
            assert!((found - variance).abs() < 1e-6 * variance, "{rate:?}: {found} {variance}");
        }
    }
}
