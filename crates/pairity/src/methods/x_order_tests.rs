//! Merges against all merges of tiny tables, and on any table at all.

use super::blocks::{Blocks, Merge};
use super::fixtures::{ScoredTable, grouped, holds_on_any_table, keeps_order};
use super::{MethodError, x_order};
use crate::metrics::{Settings, rate_values};
use crate::model::Adjustment;
use crate::rates::Rate;
use proptest::prelude::*;

/// Every merge: non-decreasing heights up to a limit.
fn all_merges(rows: usize, columns: usize) -> Vec<Vec<usize>> {
    let mut merges = vec![vec![]];
    for _ in 0..rows {
        merges = merges
            .into_iter()
            .flat_map(|merge: Vec<usize>| {
                let from = merge.last().copied().unwrap_or(0);
                (from..=columns).map(move |h| [merge.as_slice(), &[h]].concat())
            })
            .collect();
    }
    merges
}

/// Scores after a merge: whole numbers for the first group, fractions between them for the second.
fn merged(table: &ScoredTable, heights: &[usize]) -> Vec<f64> {
    let below = |row: usize| {
        let mut own: Vec<f64> = (0..table.scores.len())
            .filter(|&other| table.groups.code(other) == table.groups.code(row))
            .map(|other| table.scores[other])
            .filter(|&score| score < table.scores[row])
            .collect();
        own.sort_by(f64::total_cmp);
        own.dedup();
        own.len()
    };
    (0..table.scores.len())
        .map(|row| match (table.groups.code(row), below(row)) {
            (Some(0), place) => place as f64,
            (_, place) => {
                let above = heights.iter().filter(|&&h| h <= place).count() as f64;
                above - 1.0 + (place as f64 + 1.0) / 1_000.0
            }
        })
        .collect()
}

fn rates(table: &ScoredTable, scores: &[f64]) -> (f64, f64) {
    let names = [Rate::AUC, Rate::accuracy(0, 1), Rate::accuracy(1, 0)];
    let values = rate_values(&table.examples, scores, &names, &Settings::default()).unwrap();
    (values[0].unwrap(), values[1].unwrap() - values[2].unwrap())
}

/// Tables of up to 6 + 6 rows in which both groups are now better and now worse.
fn tiny() -> impl Strategy<Value = ScoredTable> {
    let row = (0u8..6, 0u8..3, any::<bool>(), 0u8..2);
    prop::collection::vec(row, 4..12).prop_filter_map("pairs both ways", |rows| {
        let names: Vec<&str> = rows.iter().map(|row| if row.2 { "a" } else { "b" }).collect();
        let of = |f: fn(&(u8, u8, bool, u8)) -> u8| -> Vec<f64> {
            rows.iter().map(|row| f64::from(f(row))).collect()
        };
        let queries: Vec<u32> = rows.iter().map(|row| u32::from(row.3)).collect();
        let both = |a: bool| {
            rows.iter().any(|x| rows.iter().any(|y| x.2 == a && y.2 != a && x.1 > y.1 && x.3 == y.3))
        };
        (both(true) && both(false))
            .then(|| ScoredTable::new(&of(|row| row.0), &of(|row| row.1), &names, Some(&queries)))
    })
}

fn blocks(table: &ScoredTable) -> [Blocks; 2] {
    [0, 1].map(|group| {
        let own = (0..table.scores.len()).filter(|&row| table.groups.code(row) == Some(group));
        Blocks::new(&own.map(|row| table.scores[row]).collect::<Vec<f64>>(), 100)
    })
}

/// Scores and codes in the order of the examples.
fn arranged(table: &ScoredTable) -> (Vec<f64>, Vec<u16>) {
    let rows = table.examples.row.iter().map(|&row| row as usize);
    rows.map(|row| (table.scores[row], table.groups.code(row).unwrap() as u16)).unzip()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_best_merge_is_the_best_of_all(table in tiny(), c01 in -1.0..1.0f64, c10 in -1.0..1.0f64) {
        let blocks = blocks(&table);
        let (scores, codes) = arranged(&table);
        let merge = Merge::new(&table.examples, &scores, &codes, [0, 1], &blocks);
        let value = |heights: &[usize]| {
            let (first, second) = merge.wins(heights);
            c01 * first + c10 * second
        };
        let found = merge.best(c01, c10);
        prop_assert!(found.is_sorted());
        let all = all_merges(blocks[0].len(), blocks[1].len());
        prop_assert!(all.contains(&found));
        let best = all.iter().map(|heights| value(heights)).fold(f64::MIN, f64::max);
        prop_assert!((value(&found) - best).abs() < 1e-12);
        // What a merge puts right is what the rates of merged scores say.
        for heights in &all {
            let (first, second) = merge.wins(heights);
            let (_, gap) = rates(&table, &merged(&table, heights));
            prop_assert!((first / merge.first - second / merge.second - gap).abs() < 1e-12);
        }
    }

    #[test]
    fn without_a_duality_gap_the_best_of_all_merges_is_found(
        table in tiny(), lambda in prop::sample::select(vec![0.0, 0.05, 0.3, 1.0, 10.0]),
    ) {
        let problem = table.problem(&["cross_group <= 0"]);
        let adjusted = x_order::adjust(&table.tuning(&problem), Some(lambda)).unwrap();
        let found = rates(&table, &table.applied(&adjusted));
        let value = |(auc, gap): (f64, f64), lambda: f64| auc - lambda * gap.abs();
        let blocks = blocks(&table);
        let all: Vec<(f64, f64)> = all_merges(blocks[0].len(), blocks[1].len())
            .iter().map(|heights| rates(&table, &merged(&table, heights))).collect();
        let best = all.iter().map(|&rates| value(rates, lambda)).fold(f64::MIN, f64::max);
        prop_assert!(value(found, lambda) <= best + 1e-12, "{found:?} is no merge");
        // For |μ| ≤ λ, AUC − λ|D| ≤ AUC − μD; the least of the greatest of these bounds every merge. Where
        // it is reached at |μ| = λ there is no gap, and the merge found has to be the best.
        let bound = |mu: f64| all.iter().map(|&(auc, gap)| auc - mu * gap).fold(f64::MIN, f64::max);
        let ends = bound(lambda).min(bound(-lambda));
        if (ends - best).abs() < 1e-12 {
            prop_assert!((value(found, lambda) - best).abs() < 1e-12, "{} {best}", value(found, lambda));
        }
        keeps_order(&(0..table.scores.len()).map(|row| format!("{:?}", table.groups.code(row))).collect::<Vec<_>>(),
            &table.scores, &table.applied(&adjusted))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn merges_hold_on_any_table(rows in grouped(2), lambda in prop::option::of(0.0..2.0f64)) {
        holds_on_any_table(&rows, "cross_group <= 0.1", |tuning| x_order::adjust(tuning, lambda))?;
    }

    #[test]
    fn sums_in_label_order_are_those_of_all_pairs(rows in grouped(2)) {
        let Some(examples) = rows.examples() else { return Ok(()) };
        let Some(names) = &rows.groups else { return Ok(()) };
        let groups = crate::examples::Groups::from_names(names);
        let (scores, codes): (Vec<f64>, Vec<u16>) = examples.row.iter()
            .map(|&row| (rows.scores[row as usize], groups.code(row as usize).map_or(99, |code| code as u16)))
            .unzip();
        // Two blocks and sums in label order, or as many blocks as examples and every pair.
        let own = |group: u16| -> Vec<f64> {
            scores.iter().zip(&codes).filter(|(_, code)| **code == group).map(|(&score, _)| score).collect()
        };
        let merge = |most: usize| {
            let blocks = [0, 1].map(|group| Blocks::new(&own(group), most));
            Merge::new(&examples, &scores, &codes, [0, 1], &blocks)
        };
        let (coarse, fine) = (merge(2), merge(1_000));
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs());
        prop_assert!(near(coarse.first, fine.first), "{} {}", coarse.first, fine.first);
        prop_assert!(near(coarse.second, fine.second) && near(coarse.all, fine.all));
    }
}

#[test]
fn a_merge_by_hand() {
    // a: worse 0, better 2; b: worse 3, better 4. The order a0 < b3 < {a2, b4} puts all pairs right.
    let table = ScoredTable::new(&[0.0, 2.0, 3.0, 4.0], &[0.0, 1.0, 0.0, 1.0], &["a", "a", "b", "b"], None);
    let problem = table.problem(&["cross_group <= 0"]);
    let adjusted = x_order::adjust(&table.tuning(&problem), None).unwrap();
    let Adjustment::Curves { groups } = &adjusted.adjustment else { panic!("no curves") };
    assert!(groups[0].curve.x.is_empty());
    assert_eq!(groups[1].curve.x, [3.0, 4.0]);
    let applied = table.applied(&adjusted);
    assert!(applied[2] < applied[1] && applied[0] < applied[3], "{applied:?}");
    assert_eq!((adjusted.objective, adjusted.meets_goal), (1.0, true));
}

#[test]
fn between_two_unfair_merges_a_fair_one_is_found() {
    // Both groups are scored the wrong way round: at any λ one of them as a whole goes first, and D is 1 or
    // −1. Half of the first group on either side of the second wins no pair of both, and D is 0.
    let scores = [1.0, 2.0, 3.0, 4.0, 1.0, 2.0];
    let labels = [1.0, 1.0, 0.0, 0.0, 1.0, 0.0];
    let table = ScoredTable::new(&scores, &labels, &["a", "a", "a", "a", "b", "b"], None);
    let problem = table.problem(&["cross_group <= 0.1"]);
    let gap = |lambda| {
        let adjusted = x_order::adjust(&table.tuning(&problem), lambda).unwrap();
        rates(&table, &table.applied(&adjusted)).1.abs()
    };
    assert_eq!([Some(0.0), Some(1_000.0), None].map(gap), [1.0, 0.0, 0.0]);
}

#[test]
fn many_scores_are_cut_into_blocks_of_nearly_equal_size() {
    let scores: Vec<f64> = (0..10_000).map(|i| f64::from(i * 7_919 % 10_007)).collect();
    let blocks = Blocks::new(&scores, 1_000);
    assert!((900..=1_000).contains(&blocks.len()), "{}", blocks.len());
    assert!((0..blocks.len()).all(|i| blocks.low[i] <= blocks.high[i]));
    assert!((1..blocks.len()).all(|i| blocks.high[i - 1] < blocks.low[i]));
}

#[test]
fn fairness_is_bought_with_the_smallest_lambda() {
    let table = ScoredTable::random(3_000, 2, 1, 11);
    let before = rates(&table, &table.scores);
    for bound in [0.1, 0.01] {
        let problem = table.problem(&[&format!("cross_group <= {bound}")]);
        let adjusted = x_order::adjust(&table.tuning(&problem), None).unwrap();
        let (auc, gap) = rates(&table, &table.applied(&adjusted));
        assert!(before.1.abs() > 0.3 && gap.abs() <= bound + 1e-9, "{before:?} {gap}");
        // Merged anew, groups lose nothing to the shift between them.
        assert!(auc > before.0, "{before:?} {auc}");
    }
}

#[test]
fn three_groups_can_not_be_merged() {
    let table = ScoredTable::random(60, 3, 1, 1);
    let problem = table.problem(&[]);
    let error = x_order::adjust(&table.tuning(&problem), None).unwrap_err();
    assert_eq!(error.to_string(), "xOrder does not apply: it merges two groups, and there are 3");
    let error = x_order::adjust(&table.tuning(&problem), Some(-1.0)).unwrap_err();
    assert!(matches!(error, MethodError::Setting { .. }), "{error}");
}

#[test]
fn what_can_not_be_merged_is_known_before_there_are_scores() {
    let table =
        ScoredTable::new(&[0.0; 4], &[1.0, 0.0, 1.0, 0.0], &["a", "b", "b", "b"], Some(&[1, 1, 2, 2]));
    let problem = table.problem(&[]);
    let error = (x_order::X_ORDER.check)(&table.tuning(&problem)).unwrap_err();
    assert!(error.to_string().ends_with("one of the groups is never the better one of a pair of both"));
    let fine = ScoredTable::new(&[0.0; 4], &[1.0, 0.0, 1.0, 0.0], &["a", "b", "b", "a"], None);
    assert_eq!((x_order::X_ORDER.check)(&fine.tuning(&problem)), Ok(()));
}
