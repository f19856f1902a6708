//! Tables without queries that are measured by records, beside the same rows in memory.

use super::sorted_rows::{SweepSizes, measure_sized};
use super::*;
use crate::examples::{Columns, Examples, Groups, PairWeight, RowRecord, join_records};
use crate::rates::{Rate, Ties};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::convert::Infallible;

/// Blocks in memory.
struct HeldBlocks {
    records: Vec<Vec<RowRecord>>,
    sums: Vec<Vec<f64>>,
}

impl HeldBlocks {
    fn new(records: &[RowRecord], blocks: usize, seed: u64) -> HeldBlocks {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut held = HeldBlocks { records: vec![Vec::new(); blocks], sums: vec![Vec::new(); blocks] };
        records.iter().for_each(|record| held.records[random.random_range(0..blocks)].push(*record));
        held
    }
}

impl RowBlocks<Infallible> for HeldBlocks {
    fn count(&self) -> usize {
        self.records.len()
    }
    fn records(&mut self, block: usize) -> Result<Vec<RowRecord>, Infallible> {
        Ok(self.records[block].clone())
    }
    fn sums(&mut self, block: usize) -> Result<Vec<f64>, Infallible> {
        Ok(self.sums[block].clone())
    }
    fn keep(&mut self, block: usize, sums: &[f64]) -> Result<(), Infallible> {
        self.sums[block] = sums.to_vec();
        Ok(())
    }
}

/// The records of a table, which is added in two parts.
fn records_of(columns: &Columns, scores: &[f64]) -> (PlainTable, Vec<RowRecord>) {
    let half = scores.len() / 2;
    let mut table = PlainTable::default();
    let mut records = Vec::new();
    let all: Vec<u32> = (0..scores.len() as u32).collect();
    for rows in [&all[..half], &all[half..]] {
        let own = |values: Option<&[f64]>| {
            values.map(|values| rows.iter().map(|&row| values[row as usize]).collect::<Vec<f64>>())
        };
        let (labels, protected, weights) =
            (own(columns.labels), own(columns.protected), own(columns.weights));
        let groups = columns.groups.map(|groups| groups.select(rows));
        let product = match columns.pair_weight {
            PairWeight::Product(values) => own(Some(values)),
            _ => None,
        };
        let part = Columns {
            labels: labels.as_deref(),
            protected: protected.as_deref(),
            weights: weights.as_deref(),
            groups: groups.as_ref(),
            pair_weight: product.as_deref().map_or(columns.pair_weight, PairWeight::Product),
            ..Columns::default()
        };
        if !rows.is_empty() {
            records.extend(table.add(&part, &own(Some(scores)).unwrap()).unwrap());
        }
    }
    table.arrange().unwrap();
    (table, records)
}

fn sorted(table: &PlainTable, records: &[RowRecord], settings: &Settings) -> Measurement {
    let mut sorted = records.to_vec();
    sorted.sort_unstable();
    let mut joined: Vec<RowRecord> = Vec::new();
    for record in sorted {
        if !joined.last_mut().is_some_and(|last| join_records(last, &record)) {
            joined.push(record);
        }
    }
    let sizes = SweepSizes { batch: 8, task: 3, long: 3 };
    measure_sized(table, settings, sizes, &mut |each| {
        joined.chunks(5).for_each(each);
        Ok::<(), Infallible>(())
    })
    .unwrap()
}

fn in_blocks(
    table: &PlainTable,
    records: &[RowRecord],
    settings: &Settings,
    blocks: usize,
    steps: usize,
) -> Measurement {
    let mut held = HeldBlocks::new(records, blocks, 7);
    measure_blocks(table, settings, &mut held, &mut |progress| progress.done < steps).unwrap()
}

/// Values and counts are the same, intervals but for rounding.
fn assert_same(found: &Measurement, expected: &Measurement, exact: bool, tolerance: f64) {
    let (found, expected) = (Audit::checked(found, &[]), Audit::checked(expected, &[]));
    let metrics = |audit: &Audit| {
        let Audit { auc, mse, accuracy, row_marginals, parity, continuous, gaps, .. } = audit.clone();
        let lists = [accuracy.concat(), row_marginals, parity.concat().into_iter().flatten().collect()];
        let orders =
            continuous.map(|rates| [rates.greater, rates.less, rates.parity_greater, rates.parity_less]);
        let gaps = gaps.into_iter().map(|(_, gap)| gap);
        let all = [auc].into_iter().chain(mse).chain(lists.concat());
        all.chain(orders.into_iter().flatten()).chain(gaps).collect::<Vec<Metric>>()
    };
    assert_eq!(
        (found.rows, found.without_attribute, &found.groups),
        (expected.rows, expected.without_attribute, &expected.groups)
    );
    assert_eq!(found.mse.is_some(), expected.mse.is_some());
    let metrics = (metrics(&found), metrics(&expected));
    let gaps = metrics.0.len() - found.gaps.len();
    for (at, (found, expected)) in metrics.0.iter().zip(metrics.1).enumerate() {
        // Simulated quantiles follow the rank of the covariance, which the rounding of weights hides.
        let tolerance = if !exact && at >= gaps { 0.05 } else { tolerance };
        assert_eq!((found.pairs, &found.few), (expected.pairs, &expected.few), "{at}");
        assert_eq!(
            (&found.reason, found.value.is_some()),
            (&expected.reason, expected.value.is_some()),
            "{at}"
        );
        // The mean squared error is a sum of fractions.
        if exact && at != 1 {
            assert_eq!(found.value, expected.value, "{at}");
        }
        for (one, other) in
            [(found.value, expected.value), (found.low, expected.low), (found.high, expected.high)]
        {
            let (Some(one), Some(other)) = (one, other) else { continue };
            assert!((one - other).abs() <= tolerance * other.abs().max(1.0), "{at}: {found:?} {expected:?}");
        }
    }
}

type TableRow = (i8, i8, u8, u8);

/// Rows of few scores and labels, groups of which some have no rows in one half, and weights.
fn rows() -> impl Strategy<Value = Vec<TableRow>> {
    prop::collection::vec((-3..4_i8, -2..3_i8, 0..4_u8, 0..4_u8), 2..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn records_give_the_numbers_of_the_rows_in_memory(
        rows in rows(), has_labels: bool, kind in 0..3_u8, weights in 0..4_u8, strict: bool, blocks in 1..6_usize,
    ) {
        let scores: Vec<f64> = rows.iter().map(|row| f64::from(row.0) * if row.0 == 0 { -1.0 } else { 0.37 }).collect();
        let labels: Vec<f64> = rows.iter().map(|row| f64::from(row.1) * 0.5).collect();
        let names: Vec<&str> = rows.iter().map(|row| ["10", "", "9", "x"][usize::from(row.2)]).collect();
        let groups = Groups::from_names(&names);
        let protected: Vec<f64> = rows.iter().map(|row| if row.2 == 3 { f64::NAN } else { f64::from(row.2) }).collect();
        let weight: Vec<f64> = rows.iter().map(|row| f64::from(row.3) * 0.5).collect();
        let factor: Vec<f64> = rows.iter().map(|row| f64::from(row.3) + 0.25).collect();
        let has_labels = has_labels || kind == 0;
        let columns = Columns {
            labels: has_labels.then_some(&labels[..]),
            groups: (kind == 1).then_some(&groups),
            protected: (kind == 2).then_some(&protected[..]),
            weights: (weights == 1).then_some(&weight[..]),
            pair_weight: match weights {
                2 => PairWeight::Product(&factor),
                3 if has_labels => PairWeight::LabelGap,
                _ => PairWeight::One,
            },
            ..Columns::default()
        };
        let settings = Settings { ties: if strict { Ties::Strict } else { Ties::Half }, ..Settings::default() };
        let Ok(examples) = Examples::new(columns) else { return Ok(()) };
        let expected = Measurement::new(&examples, &scores, &settings).unwrap();
        let (table, records) = records_of(&columns, &scores);
        // Placements in memory are rounded to f32.
        let tolerance = if weights == 0 { 1e-9 } else { 1e-5 };
        let steps = usize::MAX;
        assert_same(&in_blocks(&table, &records, &settings, blocks, steps), &expected, weights == 0, tolerance);
        if kind < 2 {
            prop_assert!(table.is_sortable());
            assert_same(&sorted(&table, &records, &settings), &expected, weights == 0, tolerance);
        }
    }
}

#[test]
fn many_labels_or_a_continuous_attribute_are_not_sorted() {
    let labels: Vec<f64> = (0..300).map(f64::from).collect();
    let some =
        |n: usize| records_of(&Columns { labels: Some(&labels[..n]), ..Columns::default() }, &labels[..n]).0;
    assert!(some(256).is_sortable() && !some(257).is_sortable());
    let columns = Columns { protected: Some(&labels), ..Columns::default() };
    assert!(!records_of(&columns, &labels).0.is_sortable());
    let huge = [1e40, 1.0];
    let mut table = PlainTable::default();
    table
        .add(&Columns { labels: Some(&[0.0, 1.0]), weights: Some(&huge), ..Columns::default() }, &[0.0, 1.0])
        .unwrap();
    assert_eq!(table.arrange(), Err(PartialError::Weights));
}

/// Two groups with real labels: the score is the label with noise, more of it in the second group.
fn draw(random: &mut ChaCha8Rng, n: usize) -> (Vec<f64>, Vec<&'static str>, Vec<f64>) {
    let mut normal = || {
        let [u, v]: [f64; 2] = [random.random(), random.random()];
        (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    };
    let mut all = (Vec::new(), Vec::new(), Vec::new());
    for at in 0..n {
        let (label, noise) = (normal(), normal());
        all.0.push(label);
        all.1.push(["a", "b"][at % 2]);
        all.2.push(label + noise * if at % 2 == 0 { 1.0 } else { 2.0 });
    }
    all
}

/// One table of 240 rows in 60 blocks, of which no pair is compared, 300 times: the estimates scatter around the value of all
/// pairs, and their intervals are wider than its own by that scatter. A part of the variance is counted twice: they may be
/// wider by up to twice as much.
#[test]
fn estimates_are_unbiased_and_their_intervals_include_the_sampling_of_pairs() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let (labels, names, scores) = draw(&mut random, 240);
    let groups = Groups::from_names(&names);
    let columns = Columns { labels: Some(&labels), groups: Some(&groups), ..Columns::default() };
    let (table, records) = records_of(&columns, &scores);
    let settings = Settings::default();
    let measured = |seed: u64, steps: usize| {
        let mut held = HeldBlocks::new(&records, 60, seed);
        let found =
            measure_blocks(&table, &settings, &mut held, &mut |progress| progress.done < steps).unwrap();
        let metric = found.rate(Rate::AUC);
        // On the scale of the normal, so that the degrees of freedom don't matter.
        let place = found.influence.values.iter().position(|value| Some(*value) == metric.value).unwrap();
        (metric.value.unwrap(), found.influence.variances[place])
    };
    let (truth, variance) = measured(0, usize::MAX);
    let times = 300;
    let found: Vec<(f64, f64)> = (0..times).map(|seed| measured(seed, 60)).collect();
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| found.iter().map(of).sum::<f64>() / times as f64;
    let sampling = mean(&|(value, _)| (value - truth).powi(2));
    assert!(sampling > 0.3 * variance, "{sampling} {variance}");
    let bias = mean(&|(value, _)| *value) - truth;
    assert!(bias.abs() < 3.0 * (sampling / times as f64).sqrt(), "{bias} {sampling}");
    // The deviation of a variance over 300 tries is 8 % of it.
    let own = mean(&|(_, variance)| *variance);
    let (low, high) = (variance + 0.76 * sampling, variance + 2.0 * 1.24 * sampling);
    assert!((low..high).contains(&own), "{own} is not in {low} to {high}");
}

/// The truth of 600 tables of 240 rows is in as many intervals as they say, within 3 deviations of that share (0.9 %),
/// and a little more as a part of the variance is counted twice: of blocks alone, and with some of their pairs.
#[test]
fn intervals_of_estimates_hold_the_truth_as_often_as_they_say() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let measured = |labels: &[f64], names: &[&str], scores: &[f64], steps: usize| {
        let groups = Groups::from_names(names);
        let columns = Columns { labels: Some(labels), groups: Some(&groups), ..Columns::default() };
        let (table, records) = records_of(&columns, scores);
        in_blocks(&table, &records, &Settings::default(), 6, steps)
    };
    let (labels, names, scores) = draw(&mut random, 60_000);
    let rates = [Rate::AUC, Rate::accuracy(0, 0), Rate::accuracy(0, 1), Rate::Parity { first: 0, second: 1 }];
    let truth = measured(&labels, &names, &scores, usize::MAX);
    assert_eq!(truth.estimate, None);
    let truth = rates.map(|rate| truth.rate(rate).value.unwrap());
    let mut held = [[0; 4]; 2];
    let tables = 600;
    for _ in 0..tables {
        let (labels, names, scores) = draw(&mut random, 240);
        for (held, steps) in held.iter_mut().zip([6, 11]) {
            let found = measured(&labels, &names, &scores, steps);
            let estimate = found.estimate.unwrap();
            assert!(estimate.share() > 0.1 && estimate.share() < 0.6, "{estimate:?}");
            for ((held, rate), truth) in held.iter_mut().zip(rates).zip(truth) {
                let metric = found.rate(rate);
                *held += u32::from(metric.low.unwrap() <= truth && truth <= metric.high.unwrap());
            }
        }
    }
    for share in held.concat().iter().map(|&held| f64::from(held) / f64::from(tables)) {
        assert!((0.923..0.985).contains(&share), "{held:?}");
    }
}
