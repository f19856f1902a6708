//! Partial audits against audits of the whole, and their variances against a sum over queries.

use super::measurement::{all_rates, arrange};
use super::query_sums::QuerySums;
use super::tests::slow_variance;
use super::{Audit, Measurement, Member, Partial, PartialError, Settings};
use crate::examples::{Columns, Examples, Groups, PairWeight};
use crate::pairs::oracle::{self, OracleRows, tables};
use crate::pairs::{CellLayout, DrawnOrder, PairIndex};
use crate::rates::{Average, Rate, Ties};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The rows whose query has a number of one remainder.
fn part(rows: &OracleRows, parts: u32, of: u32) -> Option<(Examples, Vec<f64>)> {
    let own: Vec<usize> = (0..rows.scores.len()).filter(|&row| part_of(rows, row, parts) == of).collect();
    let picked =
        |column: &Option<Vec<f64>>| column.as_ref().map(|all| own.iter().map(|&row| all[row]).collect());
    let codes =
        |column: &Option<Vec<u32>>| column.as_ref().map(|all| own.iter().map(|&row| all[row]).collect());
    let part = OracleRows {
        scores: own.iter().map(|&row| rows.scores[row]).collect(),
        labels: picked(&rows.labels),
        groups: rows.groups.as_ref().map(|all| own.iter().map(|&row| all[row].clone()).collect()),
        protected: picked(&rows.protected),
        queries: codes(&rows.queries),
        within: codes(&rows.within),
        side: picked(&rows.side),
        weights: picked(&rows.weights),
        factors: picked(&rows.factors),
        ..rows.clone()
    };
    if own.is_empty() { None } else { Some((part.examples()?, part.scores)) }
}

/// The part that a row is in.
fn part_of(rows: &OracleRows, row: usize, parts: u32) -> u32 {
    rows.queries.as_ref().map_or(0, |queries| queries[row] % parts)
}

proptest! {
    #[test]
    fn parts_in_any_order_give_the_bits_of_the_whole(rows in tables(), strict: bool, by_query: bool, parts in 2..5_u32) {
        let (Some(examples), true) = (rows.examples(), rows.queries.is_some()) else { return Ok(()) };
        // A part whose rows all weigh nothing is none, and its groups are not known.
        let weighs = |row: usize| rows.weights.as_ref().is_none_or(|weights| weights[row] > 0.0);
        let (mut some, mut heavy) = (BTreeSet::new(), BTreeSet::new());
        for row in 0..rows.scores.len() {
            some.insert(part_of(&rows, row, parts));
            heavy.extend(weighs(row).then(|| part_of(&rows, row, parts)));
        }
        if some != heavy {
            return Ok(());
        }
        let ties = if strict { Ties::Strict } else { Ties::Half };
        let average = if by_query { Average::Queries } else { Average::Pairs };
        let settings = Settings { ties, average, ..Settings::default() };
        let whole = Audit::run(&examples, &rows.scores, &[], &settings).unwrap();
        let part = |of| Some(part(&rows, parts, of)?).map(|(e, scores)| Partial::new(&e, &scores, &settings).unwrap());
        let mut all: Vec<Partial> = (0..parts).filter_map(part).collect();
        let merged = Partial::merge(all.clone()).unwrap();
        all.reverse();
        let read = all.iter().map(|part| Partial::from_json(&part.to_json()).unwrap());
        let again = Partial::merge(read).unwrap();
        let texts: Vec<String> = all.iter().map(Partial::to_json).collect();
        prop_assert_eq!(&Partial::merge_texts(&texts).unwrap(), &again);
        prop_assert_eq!(merged.to_json().len(), again.to_json().len());
        for merged in [merged, again] {
            prop_assert_eq!(&Audit::checked(&Measurement::of_partial(&merged, &settings), &[]), &whole);
        }
    }

    #[test]
    fn tasks_of_few_rows_give_the_same_sums(rows in tables(), strict: bool, by_query: bool, least in 1..9_usize) {
        let (Some(examples), true) = (rows.examples(), rows.queries.is_some()) else { return Ok(()) };
        let ties = if strict { Ties::Strict } else { Ties::Half };
        let rates = all_rates(&CellLayout::of(&examples));
        let members = arrange(&examples, &[Member::only(&rows.scores)]).unwrap();
        let (scores, chances) = &members[0];
        let [whole, split] = [usize::MAX, least].map(|sum_rows| {
            let mut index = PairIndex::new(&examples, &rates);
            index.sizes.sum_rows = sum_rows;
            QuerySums::count(&index, &[DrawnOrder { order: index.order(scores), chances }], ties, by_query)
        });
        prop_assert_eq!(whole, split);
    }

    #[test]
    fn variances_are_sums_over_queries(rows in tables(), by_query: bool) {
        let (Some(examples), true) = (rows.examples(), rows.queries.is_some()) else { return Ok(()) };
        let average = if by_query { Average::Queries } else { Average::Pairs };
        let settings = Settings { average, ..Settings::default() };
        let measured = Measurement::new(&examples, &rows.scores, &settings).unwrap();
        let (layout, cells) = (CellLayout::of(&examples), oracle::count(&rows, Ties::Half));
        for (rate, &r) in measured.index.iter().filter(|(rate, _)| **rate != Rate::Mse) {
            let own = layout.cells(*rate);
            if let Some(wanted) = slow_variance(&cells, average, |cell| own.contains(&cell)).filter(|v| v.is_finite()) {
                let found = measured.influence.variances[r];
                // Sums of squares that almost cancel lose digits.
                prop_assert!((found - wanted).abs() <= 1e-7 * wanted + 1e-12, "{rate:?} {found} {wanted}");
            }
        }
    }
}

fn examples(groups: &[&str], queries: Option<&[u32]>) -> Examples {
    let labels: Vec<f64> = (0..groups.len()).map(|row| (row % 2) as f64).collect();
    let groups = Groups::from_names(groups);
    Examples::new(Columns { labels: Some(&labels), groups: Some(&groups), queries, ..Columns::default() })
        .unwrap()
}

/// More queries than are summed at once, with a rate and the squared error of each.
#[test]
fn squared_errors_of_queries_vary_with_rates() {
    let n = 1_500_u32;
    let names: Vec<&str> = (0..n).map(|row| if row * 7 % 3 == 0 { "a" } else { "b" }).collect();
    let groups = Groups::from_names(&names);
    let labels: Vec<f64> = (0..n).map(|row| f64::from(row * 37 % 101) / 10.0).collect();
    let scores: Vec<f64> = (0..n).map(|row| f64::from(row * 53 % 97) / 7.0).collect();
    let queries: Vec<u32> = (0..n).map(|row| row / 5).collect();
    let columns = Columns {
        labels: Some(&labels),
        groups: Some(&groups),
        queries: Some(&queries),
        ..Columns::default()
    };
    let examples = Examples::new(columns).unwrap();
    let measured = Measurement::new(&examples, &scores, &Settings::default()).unwrap();
    // What each query earned, and could have earned: of A[a > b], and of the error.
    let rows: Vec<usize> = (0..n as usize).collect();
    let units: Vec<[[f64; 2]; 2]> = rows
        .chunks(5)
        .map(|query| {
            let mut sums = [[0.0; 2]; 2];
            for &i in query {
                sums[1] = [sums[1][0] + (scores[i] - labels[i]).powi(2), sums[1][1] + 1.0];
                for &j in
                    query.iter().filter(|&&j| names[i] == "a" && names[j] == "b" && labels[i] > labels[j])
                {
                    let credit = if scores[i] > scores[j] { 1.0 } else { 0.0 };
                    sums[0] = [sums[0][0] + credit, sums[0][1] + 1.0];
                }
            }
            sums
        })
        .collect();
    let total = |rate: usize, of: usize| units.iter().map(|unit| unit[rate][of]).sum::<f64>();
    let factor = |rate: usize| {
        let size = total(rate, 1).powi(2) / units.iter().map(|unit| unit[rate][1].powi(2)).sum::<f64>();
        size / (size - 1.0) / total(rate, 1)
    };
    let moved = |unit: &[[f64; 2]; 2], rate: usize| {
        factor(rate) * (unit[rate][0] - total(rate, 0) / total(rate, 1) * unit[rate][1])
    };
    let products = units.iter().map(|unit| moved(unit, 0) * moved(unit, 1));
    let scale: f64 = products.clone().map(f64::abs).sum();
    let places = [Rate::accuracy(0, 1), Rate::Mse].map(|rate| measured.index[&rate]);
    let found = measured.influence.covariance(places[0], places[1]).unwrap();
    let wanted: f64 = products.sum();
    assert!((found - wanted).abs() < 1e-9 * scale, "{found} {wanted}");
    assert!(wanted.abs() > 1e-3 * scale);
}

#[test]
fn many_groups_that_no_part_has_all_of_keep_their_variances() {
    let names: Vec<String> = (0..30).map(|group| format!("g{group}")).collect();
    let (queries, scores): (Vec<u32>, Vec<f64>) =
        (0..480_u32).map(|row| (row / 8, f64::from(row * 37 % 101))).unzip();
    let names: Vec<&str> = (0..480).map(|row| names[row / 240 * 14 + row * 7 % 16].as_str()).collect();
    let settings = Settings::default();
    let whole = Audit::run(&examples(&names, Some(&queries)), &scores, &[], &settings).unwrap();
    let half = |rows: std::ops::Range<usize>| {
        Partial::new(&examples(&names[rows.clone()], Some(&queries[rows.clone()])), &scores[rows], &settings)
            .unwrap()
    };
    let merged = Partial::merge([half(240..480), half(0..240)]).unwrap();
    assert_eq!(merged.vocabulary().groups.len(), 30);
    assert_eq!(Audit::checked(&Measurement::of_partial(&merged, &settings), &[]), whole);
}

#[test]
fn what_is_no_partial_audit_is_refused() {
    let settings = Settings::default();
    let rows = examples(&["a", "b", "a", "b"], Some(&[0, 0, 1, 1]));
    let scores = [0.1, 0.2, 0.3, 0.4];
    let partial = Partial::new(&rows, &scores, &settings).unwrap();
    assert_eq!(Partial::merge([]).err(), Some(PartialError::None));
    let alone = examples(&["a", "b", "a", "b"], None);
    assert_eq!(Partial::new(&alone, &scores, &settings).err(), Some(PartialError::NoQueries));
    let strict = Partial::new(&rows, &scores, &Settings { ties: Ties::Strict, ..settings }).unwrap();
    let error = Partial::merge([partial.clone(), strict]).unwrap_err().to_string();
    assert!(error.contains("ties half") && error.contains("ties strict"), "{error}");
    let json = partial.to_json();
    let text = |from: &str, to: &str| json.replacen(from, to, 1);
    let wrong = [
        String::new(),
        "{}".to_owned(),
        text("\"partial\":2", "\"partial\":1"),
        text("[\"a\",\"b\"]", "[\"a\",\"a\"]"),
        text("[\"a\",\"b\"]", "[\"a\",\"b\",\"c\"]"),
        text("\"half\"", "\"whole\""),
        text("\"sums\":\"", "\"sums\":\"0 "),
        text("\"moments\":\"", "\"moments\":\"0 "),
        text("\"sums\":\"", "\"sums\":\"*1000000000000 "),
    ];
    for wrong in wrong {
        assert!(Partial::from_json(&wrong).is_err(), "{wrong}");
    }
}

/// Two groups, rows of none, and many digits: weights and labels that are any numbers from 0.01 to 2.01, and weights the
/// largest of which is a million times the smallest.
#[test]
fn a_partial_audit_of_two_groups_has_less_than_ten_thousand_bytes() {
    let rows = 20_000_u32;
    let number = |row: u32, k: u32| f64::from(row.wrapping_mul(k)).sin() + 1.01;
    let labels: Vec<f64> = (0..rows).map(|row| number(row, 7_919)).collect();
    let weights: Vec<f64> = (0..rows).map(|row| number(row, 104_729)).collect();
    let wide: Vec<f64> = weights.iter().map(|weight| 10_f64.powf(3.0 * (weight - 1.01))).collect();
    let scores: Vec<f64> = (0..rows).map(|row| number(row, 1_299_709)).collect();
    let groups: Vec<&str> = (0..rows).map(|row| ["a", "b", ""][(row * 31 % 101 % 3) as usize]).collect();
    let (groups, queries) = (Groups::from_names(&groups), (0..rows).map(|row| row / 10).collect::<Vec<_>>());
    for (weights, gap, average) in [
        (None, false, Average::Pairs),
        (Some(&weights[..]), false, Average::Pairs),
        (Some(&wide[..]), false, Average::Pairs),
        (Some(&wide[..]), false, Average::Queries),
        (Some(&weights[..]), true, Average::Pairs),
        (Some(&weights[..]), true, Average::Queries),
    ] {
        let pair_weight = if gap { PairWeight::LabelGap } else { PairWeight::default() };
        let columns = Columns {
            labels: Some(&labels),
            groups: Some(&groups),
            queries: Some(&queries),
            ..Columns::default()
        };
        let examples = Examples::new(Columns { weights, pair_weight, ..columns }).unwrap();
        let settings = Settings { average, ..Settings::default() };
        let json = Partial::new(&examples, &scores, &settings).unwrap().to_json();
        assert!(json.len() < 10_000, "{} bytes with {average:?}, {gap}", json.len());
    }
}
