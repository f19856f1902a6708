//! Rows without queries that wait in files: in sorted runs, and in random blocks.

use pairity::examples::Columns;
use pairity::metrics::{PlainTable, RowBlocks};
use pairity_tables::RecordRuns;
use proptest::prelude::*;

/// The records of some scores.
fn records(scores: &[f64]) -> Vec<[u64; 5]> {
    let labels: Vec<f64> = (0..scores.len()).map(|row| (row % 3) as f64).collect();
    PlainTable::default().add(&Columns { labels: Some(&labels), ..Columns::default() }, scores).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn runs_are_merged_in_the_order_of_scores_and_no_row_is_lost(
        scores in prop::collection::vec(-40..40_i16, 1..300), room in 2..40_usize,
    ) {
        let scores: Vec<f64> = scores.into_iter().map(|score| f64::from(score) / 3.0).collect();
        let (folder, records) = (tempfile::tempdir().unwrap(), records(&scores));
        let mut runs = RecordRuns::new(folder.path(), room, false, false);
        runs.add(&records).unwrap();
        let mut expected = records.clone();
        expected.sort_unstable();
        for _ in 0..2 {
            let mut found = Vec::new();
            runs.merge(&mut |each| found.extend_from_slice(each)).unwrap();
            prop_assert!(found.is_sorted_by_key(|record| record[0]));
            found.sort_unstable();
            prop_assert_eq!(&found, &expected);
        }
        drop(runs);
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn runs_may_be_longer_than_what_is_read_of_them_at_once() {
    let scores: Vec<f64> = (0..50_000).map(|row| f64::from(row * 7919 % 50_021)).collect();
    let (folder, records) = (tempfile::tempdir().unwrap(), records(&scores));
    let mut runs = RecordRuns::new(folder.path(), 20_000, false, true);
    runs.add(&records).unwrap();
    let (mut found, mut expected) = (Vec::new(), records);
    runs.merge(&mut |each| found.extend_from_slice(each)).unwrap();
    expected.sort_unstable();
    assert!(found == expected);
}

/// Blocks are to be random, whatever order the rows come in: then two rows whose scores are neighbors share one of 8 as
/// often as any two, within four deviations.
#[test]
fn which_block_a_row_is_in_does_not_follow_from_its_score() {
    let rows = 20_000;
    let scores: Vec<f64> = (0..rows).map(f64::from).collect();
    let folder = tempfile::tempdir().unwrap();
    for room in [1_000, 100_000] {
        let mut runs = RecordRuns::new(folder.path(), room, false, true);
        runs.add(&records(&scores)).unwrap();
        let mut blocks = runs.into_blocks(8, 3).unwrap();
        let mut all: Vec<(u64, usize)> = Vec::new();
        for block in 0..8 {
            all.extend(blocks.records(block).unwrap().iter().map(|record| (record[0], block)));
        }
        all.sort_unstable();
        assert_eq!(all.len(), rows as usize);
        for distance in [1, 2, 8] {
            let both = all.iter().zip(&all[distance..]).filter(|(one, other)| one.1 == other.1).count();
            let (expected, deviation) = (f64::from(rows) / 8.0, (f64::from(rows) * 7.0 / 64.0).sqrt());
            assert!((both as f64 - expected).abs() < 4.0 * deviation, "{both} of {expected} at {distance}");
        }
    }
}
