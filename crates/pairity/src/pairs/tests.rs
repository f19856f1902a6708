//! Fast counts against the oracle.

use super::index::{PairIndex, Sizes};
use super::oracle::{self, OracleRows, sizes, tables};
use super::{CellLayout, DrawnOrder, PlacedRows, Placement, RateIndex, Tally, visit_placements};
use crate::examples::{Columns, Examples, Groups};
use crate::rates::{Average, Rate, Ties};
use proptest::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// One rate of each kind, so that all cells are counted.
fn every_rate() -> [Rate; 5] {
    [Rate::AUC, Rate::Parity { first: 0, second: 1 }, Rate::Greater, Rate::ParityGreater, Rate::Mse]
}

fn close(a: f64, b: f64, scale: f64) -> bool {
    (a - b).abs() <= 1e-9 * scale.abs().max(1e-12)
}

fn check_tally(
    rows: &OracleRows,
    ties: Ties,
    sizes: Sizes,
    slopes: Option<Average>,
) -> Result<(), TestCaseError> {
    let Some(examples) = rows.ordered_above(sizes.small) else { return Ok(()) };
    let scores = examples.arrange(&rows.scores).unwrap();
    let layout = CellLayout::of(&examples);
    let index = PairIndex::build(Cow::Borrowed(&examples), &every_rate(), sizes, slopes);
    let tally = Tally::count(&index, &index.order(&scores), ties);
    let totals = Tally::totals(&index);
    prop_assert!(tally.queries().flatten().map(|e| e.total).eq(totals.queries().flatten().map(|e| e.total)));
    let mut expected = oracle::count(rows, ties);
    let mut pairs = vec![0; layout.len()];
    expected.iter().for_each(|((_, cell), sums)| pairs[*cell] += sums.pairs);
    pairs[layout.mse()] = tally.pairs[layout.mse()];
    prop_assert_eq!(&tally.pairs, &pairs);
    expected.retain(|_, sums| sums.total > 0.0);
    let exact = rows.weights.is_none() && rows.factors.is_none() && !rows.label_gap;
    for (query, entries) in tally.queries().enumerate() {
        let id = rows.queries.as_ref().map_or(0, |q| q[examples.row[examples.query(query).start] as usize]);
        // The blocks of a query have entries of their own.
        let mut cells: BTreeMap<u32, Placement> = BTreeMap::new();
        for entry in entries.iter().filter(|entry| entry.cell as usize != layout.mse()) {
            let sum = cells.entry(entry.cell).or_insert(Placement { credit: 0.0, total: 0.0, ..*entry });
            (sum.credit, sum.total) = (sum.credit + entry.credit, sum.total + entry.total);
        }
        for entry in cells.into_values() {
            let sums = expected.remove(&(id, entry.cell as usize));
            let sums = sums.ok_or_else(|| TestCaseError::fail(format!("extra {entry:?}")))?;
            if exact {
                prop_assert_eq!((entry.credit, entry.total), (sums.credit, sums.total));
            } else {
                prop_assert!(close(entry.total, sums.total, sums.total), "{entry:?} {sums:?}");
                prop_assert!(close(entry.credit, sums.credit, sums.total), "{entry:?} {sums:?}");
            }
        }
    }
    prop_assert!(expected.is_empty(), "missing {expected:?}");
    Ok(())
}

fn placements_of(index: &PairIndex, scores: &[f64], ties: Ties) -> Vec<Vec<Placement>> {
    let add = |all: &mut Vec<Placement>, rows: &PlacedRows| rows.each(|_, own| all.extend_from_slice(own));
    // Whether counts kept what they found or not.
    let found = [true, false].map(|keeps| {
        let only = DrawnOrder { order: index.order(scores).keeping(keeps), chances: &[1.0] };
        Tally::count(index, &only.order, ties);
        visit_placements(index, &[only], ties, (Vec::new, add, |all| all))
    });
    assert_eq!(found[0], found[1]);
    let [kept, _] = found;
    kept
}

/// Parts of a list end at sizes that small tables don't have.
#[test]
fn parity_of_many_rows_is_that_of_running_counts() {
    let (n, k) = (40_000_u64, 5);
    let codes: Vec<u32> = (0..n).map(|i| (i * i / 7 % k) as u32).collect();
    let names = (0..k).map(|group| group.to_string()).collect();
    let groups = Groups::from_codes(names, codes.clone());
    let columns = Columns { groups: Some(&groups), ..Columns::default() };
    let examples = Examples::new(columns).unwrap();
    let rates: Vec<Rate> = (0..25).map(|at| Rate::Parity { first: at / 5, second: at % 5 }).collect();
    let index = PairIndex::new(&examples, &rates);
    for modulus in [40_009, 911] {
        let scores: Vec<f64> = (0..n).map(|i| (i * 7_919 % modulus) as f64).collect();
        let mut order: Vec<usize> = (0..n as usize).collect();
        order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
        let (mut below, mut wins, mut ties) = ([0.0; 5], [[0.0; 5]; 5], [[0.0; 5]; 5]);
        for level in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
            let mut own = [0.0; 5];
            level.iter().for_each(|&row| own[codes[row] as usize] += 1.0);
            for (a, b) in (0..25).map(|at| (at / 5, at % 5)) {
                wins[a][b] += own[a] * below[b];
                ties[a][b] += own[a] * own[b];
            }
            (0..5).for_each(|group| below[group] += own[group]);
        }
        let tally = Tally::count(&index, &index.order(&scores), Ties::Half);
        let cells: Vec<&Placement> = tally.queries().flatten().collect();
        assert_eq!(cells.len(), 20);
        for (first, second) in (0..25).map(|at| (at / 5, at % 5)).filter(|(a, b)| a != b) {
            let cell = index.layout.parity(first, second);
            let found = cells.iter().find(|entry| entry.cell as usize == cell).unwrap();
            assert_eq!(found.credit, wins[first][second] + 0.5 * ties[first][second]);
            assert_eq!(found.total, below[first] * below[second]);
        }
    }
}

fn check_placements(rows: &OracleRows, ties: Ties, sizes: Sizes) -> Result<(), TestCaseError> {
    let rows = OracleRows { queries: None, ..rows.clone() };
    let Some(examples) = rows.ordered_above(sizes.small) else { return Ok(()) };
    let scores = examples.arrange(&rows.scores).unwrap();
    let layout = CellLayout::of(&examples);
    let mut expected: BTreeMap<(u32, u8), Vec<(f64, f64)>> = BTreeMap::new();
    for ((_, cell), sums) in oracle::count(&rows, ties) {
        for ((_, side), own) in sums.placements.into_iter().filter(|(_, own)| own.1 > 0.0) {
            expected.entry((cell as u32, side)).or_default().push(own);
        }
    }
    let index = PairIndex::build(Cow::Borrowed(&examples), &every_rate(), sizes, None);
    let mut found: BTreeMap<(u32, u8), Vec<(f64, f64)>> = BTreeMap::new();
    for p in placements_of(&index, &scores, ties).into_iter().flatten().filter(|p| p.total > 0.0) {
        if p.cell as usize != layout.mse() {
            found.entry((p.cell, p.side)).or_default().push((p.credit, p.total));
        }
    }
    prop_assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (key, expected) in expected {
        // Which example has which placement shows in the pairs of credit and total.
        let mut found = found.remove(&key).unwrap_or_default();
        prop_assert_eq!(expected.len(), found.len());
        for expected in expected {
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-3 + 1e-5 * a.abs();
            let same = found.iter().position(|f| near(expected.0, f.0) && near(expected.1, f.1));
            prop_assert!(same.is_some(), "{expected:?} is not among {found:?}");
            same.map(|at| found.swap_remove(at));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_cell_of_every_query_equals_the_count_pair_by_pair(
        rows in tables(), strict: bool, sizes in sizes(),
        slopes in prop::sample::select(vec![None, Some(Average::Pairs), Some(Average::Queries)])
    ) {
        check_tally(&rows, if strict { Ties::Strict } else { Ties::Half }, sizes, slopes)?;
    }

    #[test]
    fn placements_of_examples_equal_the_count_pair_by_pair(rows in tables(), strict: bool, sizes in sizes()) {
        check_placements(&rows, if strict { Ties::Strict } else { Ties::Half }, sizes)?;
    }

    #[test]
    fn true_rates_are_those_of_an_audit(
        rows in tables(), by_query: bool, strict: bool, small: bool, sizes in sizes()
    ) {
        let (mut rows, ties) = (rows, if strict { Ties::Strict } else { Ties::Half });
        if small {
            // Every query small, so that nothing has to be collected by query.
            rows.queries = Some((0..rows.scores.len() as u32).map(|i| i / 12).collect());
        }
        let Some(examples) = rows.ordered_above(sizes.small) else { return Ok(()) };
        let average = if by_query { Average::Queries } else { Average::Pairs };
        let k = examples.groups().len();
        let mut rates = vec![Rate::AUC];
        rates.extend((0..k).flat_map(|a| [Rate::row(a), Rate::column(a), Rate::accuracy(a, 0)]));
        let scores = examples.arrange(&rows.scores).unwrap();
        let index = RateIndex::sized(Cow::Borrowed(&examples), &rates, average, sizes).with_ties(ties);
        let fast = index.true_rates(&index.order(&scores));
        let plain = PairIndex::build(Cow::Borrowed(&examples), &rates, sizes, None);
        let slow = Tally::count(&plain, &plain.order(&scores), ties).values(&plain, average);
        for (fast, slow) in fast.iter().zip(&slow) {
            prop_assert!(fast.is_nan() && slow.is_nan() || (fast - slow).abs() < 1e-12, "{fast} {slow}");
        }
    }
}

/// A table that is large enough for work to be split between threads.
fn large(n: usize) -> OracleRows {
    let mut state = 1u64;
    let mut next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let mut column = |digits: f64| (0..n).map(|_| (next() * digits).round() / digits).collect::<Vec<_>>();
    OracleRows {
        scores: column(1e4),
        labels: Some(column(3e3)),
        protected: Some(column(1e3)),
        weights: Some(column(10.0)),
        ..OracleRows::default()
    }
}

/// Sum of credits over pairs whose keys are ordered alike, by merging: nothing shared with the sweep.
fn merge_count(points: &mut Vec<(f64, f64, f64)>) -> f64 {
    // Points (label, score, weight) sorted by score; counts weight of y > y' and s > s'.
    if points.len() < 2 {
        return 0.0;
    }
    let mut upper = points.split_off(points.len() / 2);
    let mut count = merge_count(points) + merge_count(&mut upper);
    let (mut below, mut sum) = (points.iter().peekable(), 0.0);
    for &(label, _, weight) in &upper {
        while let Some(point) = below.next_if(|point| point.0 < label) {
            sum += point.2;
        }
        count += weight * sum;
    }
    points.append(&mut upper);
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    count
}

#[test]
fn a_large_table_agrees_with_merge_counting_and_any_number_of_threads() {
    let rows = large(150_000);
    let examples = rows.examples().unwrap();
    let scores = examples.arrange(&rows.scores).unwrap();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let index = PairIndex::new(&examples, &every_rate());
            Tally::count(&index, &index.order(&scores), Ties::Strict)
        })
    };
    let (one, three) = (run(1), run(3));
    let entries: Vec<_> = one.queries().flatten().copied().collect();
    assert_eq!(entries, three.queries().flatten().copied().collect::<Vec<_>>());

    let weights = rows.weights.as_ref().unwrap();
    let mut points: Vec<(f64, f64, f64)> = (0..rows.scores.len())
        .map(|i| (rows.labels.as_ref().unwrap()[i], rows.scores[i], weights[i]))
        .collect();
    points.sort_by(|a, b| a.1.total_cmp(&b.1).then(b.0.total_cmp(&a.0)));
    let expected = merge_count(&mut points);
    let auc = entries.iter().find(|entry| entry.cell == 0).unwrap();
    assert!(close(auc.credit, expected, expected), "{} {expected}", auc.credit);
    // Ordered and reversed attributes part the pairs that are not tied in it.
    let layout = CellLayout::of(&examples);
    let at = |cell: usize| entries.iter().find(|entry| entry.cell as usize == cell).unwrap();
    let parts = at(layout.greater()).credit + at(layout.less()).credit;
    assert!(parts < auc.credit && parts > 0.99 * auc.credit);
}

#[test]
fn placements_have_the_same_bits_for_any_number_of_threads() {
    let rows = large(70_000);
    let examples = rows.examples().unwrap();
    let scores = examples.arrange(&rows.scores).unwrap();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let index = PairIndex::new(&examples, &every_rate());
            placements_of(&index, &scores, Ties::Half)
        })
    };
    let (one, three) = (run(1), run(3));
    assert!(one == three);
    // Each pair has two examples, so the placements of all add up to the counts twice.
    let index = PairIndex::new(&examples, &every_rate());
    let tally = Tally::count(&index, &index.order(&scores), Ties::Half);
    let layout = CellLayout::of(&examples);
    for entry in tally.queries().flatten().filter(|entry| entry.cell as usize != layout.mse()) {
        for side in [0, 1] {
            let parts = one.iter().flatten().filter(|p| p.cell == entry.cell && p.side == side);
            let (credit, total) = parts.fold((0.0, 0.0), |sum, p| (sum.0 + p.credit, sum.1 + p.total));
            assert!((credit - entry.credit).abs() < 1e-5 * entry.total, "{credit} {entry:?}");
            assert!((total - entry.total).abs() < 1e-5 * entry.total, "{total} {entry:?}");
        }
    }
}

#[test]
fn pair_counts_do_not_overflow_thirty_two_bits() {
    let n = 200_000;
    let labels: Vec<f64> = (0..n).map(|i| f64::from(i % 2)).collect();
    let groups = Groups::from_names(&vec!["all"; n as usize]);
    let examples =
        Examples::new(Columns { labels: Some(&labels), groups: Some(&groups), ..Columns::default() })
            .unwrap();
    let index = PairIndex::new(&examples, &[Rate::AUC]);
    let tally = Tally::count(&index, &index.order(&labels), Ties::Half);
    assert_eq!(tally.pairs[0], 10_000_000_000);
    assert_eq!(tally.queries().next().unwrap()[0].credit, 1e10);
}
