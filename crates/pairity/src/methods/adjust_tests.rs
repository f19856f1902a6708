//! Kallus and Zhou, offsets and matched quantiles: by hand, by brute force, and on any table at all.

use super::fixtures::{ScoredTable, grouped, holds_on_any_table, offsets};
use super::kallus_zhou::LogisticGrid;
use super::{
    MethodError, Tuning, attribute_curve, attribute_slope, group_offset, kallus_zhou, quantile_match,
};
use crate::examples::{Columns, Examples, Groups};
use crate::goals::{Problem, Vocabulary, parse_constraint, parse_maximize};
use crate::metrics::{Settings, rate_values};
use crate::model::{Adjustment, GroupCurve};
use crate::rates::Rate;
use proptest::prelude::*;

/// Violation of `cross_group <= bound`, or of the same for `marginal`, and the error of the AUC: smaller is
/// better, in this order.
fn quality(table: &ScoredTable, scores: &[f64], rates: &[Rate], bound: f64) -> (f64, f64) {
    let mut rates = rates.to_vec();
    rates.push(Rate::AUC);
    let values = rate_values(&table.examples, scores, &rates, &Settings::default()).unwrap();
    let values: Vec<f64> = values.into_iter().map(Option::unwrap).collect();
    let (auc, rates) = values.split_last().unwrap();
    let spread =
        rates.iter().copied().fold(f64::MIN, f64::max) - rates.iter().copied().fold(f64::MAX, f64::min);
    let violation = spread - bound;
    (if violation <= 1e-9 { 0.0 } else { violation }, 1.0 - auc)
}

const CROSS: [Rate; 2] = [Rate::accuracy(0, 1), Rate::accuracy(1, 0)];

fn less(a: (f64, f64), b: (f64, f64)) -> bool {
    a.0 < b.0 || (a.0 == b.0 && a.1 < b.1)
}

#[test]
fn the_logistic_map_is_the_best_point_of_the_grid() {
    for seed in 0..6 {
        let table = ScoredTable::random(60, 2, 6, seed);
        let problem = table.problem(&["cross_group <= 0.05"]);
        let adjusted = kallus_zhou::adjust(&table.tuning(&problem), LogisticGrid::Paper).unwrap();
        let Adjustment::Logistic { scale, .. } = adjusted.adjustment else { panic!("not logistic") };
        let sigmoid = |t: f64| 1.0 / (1.0 + (-t).exp());
        let map = |group: usize, alpha: f64, beta: f64| -> Vec<f64> {
            let own = |row: usize| table.groups.code(row) == Some(group);
            (0..60)
                .map(|row| match (own(row), table.scores[row] / scale) {
                    (true, score) => sigmoid(alpha * score + beta),
                    (false, score) => sigmoid(score),
                })
                .collect()
        };
        let mut best = quality(&table, &map(0, 1.0, 0.0), &CROSS, 0.05);
        for (group, step) in (0..2).flat_map(|group| (0..=100).map(move |step| (group, step))) {
            for beta in [-1.0, -2.0, -5.0, -10.0] {
                let found = quality(&table, &map(group, f64::from(step) / 20.0, beta), &CROSS, 0.05);
                if less(found, best) {
                    best = found;
                }
            }
        }
        let found = quality(&table, &table.applied(&adjusted), &CROSS, 0.05);
        assert_eq!(found, best, "{:?}", adjusted.adjustment);
        assert!((1.0 - adjusted.objective - best.1).abs() < 1e-12);
        assert!((adjusted.violations[0].max(0.0) - best.0).abs() < 1e-9);
        assert_eq!(adjusted.meets_goal, best.0 == 0.0);
    }
}

#[test]
fn the_likely_reading_maps_the_disadvantaged_group_and_keeps_other_scores() {
    let table = ScoredTable::random(60, 2, 6, 2);
    let problem = table.problem(&["cross_group <= 0.05"]);
    let tuning = table.tuning(&problem);
    let adjusted = kallus_zhou::adjust(&tuning, LogisticGrid::Likely).unwrap();
    let applied = table.applied(&adjusted);
    let Adjustment::Logistic { center, scale, groups } = adjusted.adjustment else { panic!("not logistic") };
    // The scores of later groups are higher, so that members of the first lose.
    assert_eq!((center, [groups[0].raw, groups[1].raw]), (0.0, [false, true]));
    let n = table.scores.len() as f64;
    let mean = table.scores.iter().sum::<f64>() / n;
    let deviation = (table.scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / n).sqrt();
    assert!((scale - deviation).abs() < 1e-12);
    let raw = (0..60).filter(|&row| table.groups.code(row) == Some(1));
    assert!(raw.map(|row| applied[row] - table.scores[row] / scale).all(|change| change == 0.0));
    let mapped = (0..60).filter(|&row| table.groups.code(row) == Some(0));
    assert!(mapped.map(|row| applied[row]).all(|score| (0.0..=1.0).contains(&score)));
    // Another unit of scores changes nothing but the scale.
    for grid in [LogisticGrid::Likely, LogisticGrid::Paper, LogisticGrid::Fine] {
        let doubled: Vec<f64> = table.scores.iter().map(|score| 8.0 * score).collect();
        let found = kallus_zhou::adjust(&tuning, grid).unwrap();
        let other = kallus_zhou::adjust(&Tuning { scores: &doubled, ..tuning }, grid).unwrap();
        assert_eq!((found.objective, found.violations), (other.objective, other.violations));
    }
}

#[test]
fn a_finer_grid_is_fair_where_lowering_scores_by_four_numbers_is_not() {
    // Few rows of the higher group: a small shift is needed, which four values of β don't have.
    let mut failed = 0;
    for seed in 0..6 {
        let table = ScoredTable::random(300, 2, 6, seed);
        let problem = table.problem(&["cross_group <= 0.03"]);
        let of = |grid| kallus_zhou::adjust(&table.tuning(&problem), grid).unwrap();
        let (fine, paper) = (of(LogisticGrid::Fine), of(LogisticGrid::Paper));
        assert!(fine.meets_goal, "{seed}");
        failed += usize::from(!paper.meets_goal || paper.objective < fine.objective);
    }
    assert!(failed > 2, "{failed}");
}

#[test]
fn a_slack_bound_is_not_spent_on_noise() {
    let mut smaller = 0;
    for seed in 0..8 {
        let table = ScoredTable::random(600, 2, 1, seed);
        // Fair but for noise, and a bound that leaves much room.
        let codes: Vec<usize> = (0..600).map(|row| table.groups.code(row).unwrap()).collect();
        let scores: Vec<f64> = table.scores.iter().zip(&codes).map(|(s, &g)| s - 0.6 * g as f64).collect();
        let problem = table.problem(&["cross_group <= 0.3"]);
        let tuning = Tuning { scores: &scores, ..table.tuning(&problem) };
        let adjusted = group_offset::adjust(&tuning).unwrap();
        let applied = adjusted.adjustment.apply(&scores, Some(&table.groups)).unwrap().scores;
        let (gap, error) = quality(&table, &applied, &CROSS, 0.0);
        // The best objective of all shifts, and its gap.
        let shifted = |step: i32| -> Vec<f64> {
            let shift = f64::from(step) / 100.0;
            scores.iter().zip(&codes).map(|(s, &g)| s + shift * g as f64).collect()
        };
        let all = (-100..=100).map(|step| quality(&table, &shifted(step), &CROSS, 0.0));
        let best = all.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        // Half the error of an AUC of 600 rows is the most that is given up.
        assert!(gap <= best.0 + 0.01 && error <= best.1 + 0.01, "{seed}: {gap} {error} {best:?}");
        smaller += usize::from(gap < 0.5 * best.0);
    }
    assert!(smaller >= 3, "{smaller}");
}

#[test]
fn scores_that_are_fair_already_are_not_pushed_down() {
    let table = ScoredTable::new(&[1.0, 0.0, 1.0, 0.0], &[1.0, 0.0, 1.0, 0.0], &["a", "a", "b", "b"], None);
    let problem = table.problem(&["cross_group <= 0.01"]);
    for grid in [LogisticGrid::Fine, LogisticGrid::Paper] {
        let adjusted = kallus_zhou::adjust(&table.tuning(&problem), grid).unwrap();
        let Adjustment::Logistic { groups, .. } = adjusted.adjustment else { panic!("not logistic") };
        assert!(groups.iter().all(|group| (group.alpha, group.beta) == (1.0, 0.0)));
    }
    assert_eq!(offsets(&group_offset::adjust(&table.tuning(&problem)).unwrap()), [0.0, 0.0]);
}

#[test]
fn of_three_groups_more_than_one_is_mapped_if_that_helps() {
    let table = ScoredTable::random(150, 3, 10, 3);
    let problem = table.problem(&["marginal <= 0.01"]);
    let rows = [Rate::row(0), Rate::row(1), Rate::row(2)];
    let adjusted = kallus_zhou::adjust(&table.tuning(&problem), LogisticGrid::Paper).unwrap();
    let before = quality(&table, &table.scores, &rows, 0.01);
    let after = quality(&table, &table.applied(&adjusted), &rows, 0.01);
    assert!(after.0 < 0.5 * before.0, "{before:?} {after:?}");
    let Adjustment::Logistic { groups, .. } = &adjusted.adjustment else { panic!("not logistic") };
    let plain = groups.iter().filter(|group| (group.alpha, group.beta) == (1.0, 0.0)).count();
    assert!((1..=2).contains(&plain), "{groups:?}");
}

#[test]
fn an_offset_is_the_best_of_all_that_make_a_difference() {
    for seed in 0..40 {
        let table = ScoredTable::random(24, 2, 1 + seed as usize % 3, seed);
        let bound = [0.0, 0.05, 0.3][seed as usize % 3];
        let problem = table.problem(&[&format!("cross_group <= {bound}")]);
        let Ok(adjusted) = group_offset::adjust(&table.tuning(&problem)) else { continue };
        let mut differences: Vec<f64> = Vec::new();
        for i in (0..24).filter(|&i| table.groups.code(i) == Some(0)) {
            let others = (0..24).filter(|&j| table.groups.code(j) == Some(1));
            differences.extend(others.map(|j| table.scores[i] - table.scores[j]));
        }
        differences.sort_by(f64::total_cmp);
        let mut scan: Vec<f64> = differences.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect();
        scan.extend([0.0, differences[0] - 1.0, differences[differences.len() - 1] + 1.0]);
        scan.extend(&differences);
        let shift = |offset: f64| -> Vec<f64> {
            let own = |row: usize| if table.groups.code(row) == Some(1) { offset } else { 0.0 };
            (0..24).map(|row| table.scores[row] + own(row)).collect()
        };
        let best = scan.iter().map(|&offset| quality(&table, &shift(offset), &CROSS, bound));
        let best =
            best.fold((f64::INFINITY, 0.0), |best, found| if less(found, best) { found } else { best });
        let found = quality(&table, &table.applied(&adjusted), &CROSS, bound);
        assert!(!less(best, found), "seed {seed}: {best:?} {found:?} {:?}", offsets(&adjusted));
    }
}

#[test]
fn a_long_list_of_offsets_is_searched_as_well_as_by_a_fine_scan() {
    for seed in 0..3 {
        let table = ScoredTable::random(1_200, 2, 1 + 39 * (seed as usize % 2), seed + 100);
        let problem = table.problem(&["cross_group <= 0.02"]);
        let adjusted = group_offset::adjust(&table.tuning(&problem)).unwrap();
        let shift = |offset: f64| -> Vec<f64> {
            let own = |row: usize| if table.groups.code(row) == Some(1) { offset } else { 0.0 };
            (0..table.scores.len()).map(|row| table.scores[row] + own(row)).collect()
        };
        let scan = (0..=4_000).map(|step| f64::from(step) * 1e-3 - 2.0);
        let best = scan.map(|offset| quality(&table, &shift(offset), &CROSS, 0.02));
        let best =
            best.fold((f64::INFINITY, 0.0), |best, found| if less(found, best) { found } else { best });
        let found = quality(&table, &table.applied(&adjusted), &CROSS, 0.02);
        // Of the objective, no more than noise is given up for a smaller gap.
        assert!(
            !less((best.0, best.1 + 1e-3), found),
            "seed {seed}: {best:?} {found:?} {:?}",
            offsets(&adjusted)
        );
    }
}

#[test]
fn three_groups_are_shifted_as_well_as_by_a_scan_in_two_directions() {
    let rows = [Rate::row(0), Rate::row(1), Rate::row(2)];
    for seed in 0..4 {
        let table = ScoredTable::random(120, 3, 8, seed + 7);
        let problem = table.problem(&["marginal <= 0.02"]);
        let adjusted = group_offset::adjust(&table.tuning(&problem)).unwrap();
        assert_eq!(offsets(&adjusted)[0], 0.0);
        let mut best = (f64::INFINITY, 0.0);
        for (x, y) in (0..60).flat_map(|x| (0..60).map(move |y| (x, y))) {
            let by = [0.0, f64::from(x) * 0.05 - 2.0, f64::from(y) * 0.05 - 2.5];
            let shift = |row: usize| table.scores[row] + by[table.groups.code(row).unwrap()];
            let found = quality(&table, &(0..120).map(shift).collect::<Vec<_>>(), &rows, 0.02);
            if less(found, best) {
                best = found;
            }
        }
        let found = quality(&table, &table.applied(&adjusted), &rows, 0.02);
        assert_eq!(found.0, best.0, "seed {seed}: {best:?} {found:?}");
        // The scan knows 3,600 points, and descent one group at a time stops at kinks: a pair in a hundred
        // may be lost.
        assert!(found.1 <= best.1 + 0.01, "seed {seed}: {best:?} {found:?}");
    }
}

#[test]
fn a_squared_error_is_shifted_to_its_least() {
    // Group b is scored 3 too high.
    let labels = [1.0, 0.0, 1.0, 0.0];
    let table = ScoredTable::new(&[1.0, 0.0, 4.0, 3.0], &labels, &["a", "a", "b", "b"], None);
    let words = crate::goals::Vocabulary { groups: table.groups.names().to_vec(), continuous: false };
    let mse = crate::goals::parse_minimize("mse", &words).unwrap();
    let problem = crate::goals::Problem::new(&mse, false, &[]).unwrap();
    let adjusted = group_offset::adjust(&table.tuning(&problem)).unwrap();
    assert_eq!((offsets(&adjusted), adjusted.objective), (vec![0.0, -3.0], 0.0));
}

#[test]
fn quantiles_by_hand() {
    // a: 0, 1, 2 of weight 3; b: 10, 20 of weight 2. Parts of a: 1/6, 1/2, 5/6; of b: 1/4, 3/4.
    let table = ScoredTable::new(
        &[0.0, 1.0, 2.0, 10.0, 20.0],
        &[0.0, 1.0, 0.0, 1.0, 0.0],
        &["a", "a", "a", "b", "b"],
        None,
    );
    let problem = table.problem(&["statistical_parity <= 0.1"]);
    let adjusted = |strength| quantile_match::adjust(&table.tuning(&problem), Some(strength)).unwrap();
    // Q_b at the parts of a is 10, 15, 20, and Q_a at those of b 0.25, 1.75.
    let full = [4.0, 6.6, 9.2, 4.15, 9.05];
    let near = |found: &[f64], expected: &[f64]| {
        found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12)
    };
    assert!(near(&table.applied(&adjusted(1.0)), &full), "{:?}", table.applied(&adjusted(1.0)));
    let half: Vec<f64> = full.iter().zip(&table.scores).map(|(full, score)| 0.5 * (full + score)).collect();
    assert!(near(&table.applied(&adjusted(0.5)), &half));
    assert_eq!(table.applied(&adjusted(0.0)), table.scores);
}

#[test]
fn the_barycenter_makes_distributions_equal() {
    // As many examples in each group, so that equal distributions are equal lists.
    let n = 2_000usize;
    let names: Vec<&str> = (0..2 * n).map(|i| if i < n { "a" } else { "b" }).collect();
    let scores: Vec<f64> = (0..2 * n)
        .map(|i| {
            let part = (i as f64 * 0.618_033_988_749).fract();
            if i < n { part * part } else { 3.0 + 5.0 * part }
        })
        .collect();
    let labels: Vec<f64> = (0..2 * n).map(|i| (i % 2) as f64).collect();
    let table = ScoredTable::new(&scores, &labels, &names, None);
    let problem = table.problem(&["statistical_parity <= 0.01"]);
    let adjusted = quantile_match::adjust(&table.tuning(&problem), Some(1.0)).unwrap();
    let applied = table.applied(&adjusted);
    let (mut a, mut b) = (applied[..n].to_vec(), applied[n..].to_vec());
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let Adjustment::Curves { groups } = &adjusted.adjustment else { panic!("no curves") };
    assert!(groups.iter().all(|group| group.curve.x.len() <= 1_000));
    // Between knots, 1/1,000 apart, both curves are linear where quantiles bend: the largest distance is
    // that part of the range, 5/2 of the barycenter and 4 of its steepest unit.
    let distance = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(distance < 4.0 / 1_000.0, "{distance}");
    assert!(adjusted.meets_goal, "{:?}", adjusted.violations);
}

#[test]
fn the_strength_is_no_larger_than_it_must_be() {
    let table = ScoredTable::random(400, 2, 1, 5);
    let problem = table.problem(&["statistical_parity <= 0.2"]);
    let tuning = table.tuning(&problem);
    let feasible = |strength: f64| quantile_match::adjust(&tuning, Some(strength)).unwrap().meets_goal;
    let found = quantile_match::adjust(&tuning, None).unwrap();
    assert!(found.meets_goal && !feasible(0.0) && feasible(1.0));
    // The strength shows in the first knot.
    let Adjustment::Curves { groups } = &found.adjustment else { panic!("no curves") };
    let Adjustment::Curves { groups: full } = quantile_match::adjust(&tuning, Some(1.0)).unwrap().adjustment
    else {
        panic!("no curves");
    };
    let moved = |groups: &[GroupCurve]| groups[0].curve.y[0] - groups[0].curve.x[0];
    let strength = moved(groups) / moved(&full);
    assert!((0..60).all(|step| !feasible(strength * f64::from(step) / 60.0)), "{strength}");
}

#[test]
fn the_multiple_of_an_attribute_is_as_good_as_by_a_fine_scan() {
    for (seed, bound) in (0..4).zip([0.02, 0.1].into_iter().cycle()) {
        let table = ScoredTable::random(80, 2, 4, seed);
        // Later groups score higher, and so do higher values; some have none.
        let spread = |row: usize| (row * 37 % 80) as f64 / 80.0;
        let z: Vec<f64> = (0..80)
            .map(|row| match row % 9 {
                8 => f64::NAN,
                _ => 5.0 + 10.0 * table.groups.code(row).unwrap() as f64 + 10.0 * spread(row),
            })
            .collect();
        let labels = table.examples.by_row(table.examples.labels.as_ref().unwrap());
        let queries: Vec<u32> = (0..80).map(|row| row % 4).collect();
        let columns = Columns {
            labels: Some(&labels),
            protected: Some(&z),
            queries: Some(&queries),
            ..Columns::default()
        };
        let examples = Examples::new(columns).unwrap();
        let words = Vocabulary { groups: Vec::new(), continuous: true };
        let fair = parse_constraint(&format!("continuous <= {bound}"), &words).unwrap();
        let problem = Problem::new(&parse_maximize("auc", &words).unwrap(), true, &[fair]).unwrap();
        let tuning = Tuning::new(&examples, &table.scores, &problem);
        let adjusted = attribute_slope::adjust(&tuning).unwrap();
        let curve = attribute_curve::adjust(&tuning).unwrap();
        let applied = adjusted.adjustment.apply_by(&table.scores, None, Some(&z)).unwrap().scores;
        assert!((0..80).filter(|row| row % 9 == 8).all(|row| applied[row] == table.scores[row]));
        let table = ScoredTable { examples, ..table };
        let rates = [Rate::Greater, Rate::Less];
        let of_slope = |slope: f64| {
            let less = |(score, z): (&f64, &f64)| if z.is_nan() { *score } else { score - slope * z };
            let scores: Vec<f64> = table.scores.iter().zip(&z).map(less).collect();
            quality(&table, &scores, &rates, bound)
        };
        let found = quality(&table, &applied, &rates, bound);
        // A curve is a line where that is best.
        let applied = curve.adjustment.apply_by(&table.scores, None, Some(&z)).unwrap().scores;
        assert!((0..80).filter(|row| row % 9 == 8).all(|row| applied[row] == table.scores[row]));
        let curved = quality(&table, &applied, &rates, bound);
        assert!(!less(found, curved), "{seed}: {found:?} {curved:?}");
        let unchanged = of_slope(0.0);
        assert!(unchanged.0 > 0.0 && less(found, unchanged), "{seed}: {unchanged:?} {found:?}");
        // As fair as any, and nearly as good.
        let scan = (-400..=400).map(|step| of_slope(f64::from(step) / 1000.0));
        let best = scan.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))).unwrap();
        assert!(
            found.0 <= best.0 + 0.01 && (found.0 > 0.0 || found.1 <= best.1 + 0.01),
            "{seed}: {best:?} {found:?}"
        );
    }
}

/// Scores are too high, or too low, by what the attribute is above its median, which no line makes good.
#[test]
fn a_curve_of_the_attribute_makes_good_what_a_line_can_not() {
    for sign in [1.0, -1.0] {
        let z: Vec<f64> = (0..120).map(|row| f64::from(row * 37 % 120)).collect();
        let labels: Vec<f64> = (0..120).map(|row| f64::from(row % 3)).collect();
        let scores: Vec<f64> =
            labels.iter().zip(&z).map(|(y, z)| 0.5 * y + sign * f64::max(z - 59.0, 0.0) / 20.0).collect();
        let columns = Columns { labels: Some(&labels), protected: Some(&z), ..Columns::default() };
        let examples = Examples::new(columns).unwrap();
        let words = Vocabulary { groups: Vec::new(), continuous: true };
        let fair = parse_constraint("continuous <= 0.02", &words).unwrap();
        let problem = Problem::new(&parse_maximize("auc", &words).unwrap(), true, &[fair]).unwrap();
        let tuning = Tuning::new(&examples, &scores, &problem);
        let (line, curve) =
            (attribute_slope::adjust(&tuning).unwrap(), attribute_curve::adjust(&tuning).unwrap());
        assert!(curve.meets_goal && curve.objective > line.objective + 0.03, "{line:?} {curve:?}");
        assert!(curve.objective > 0.95, "{curve:?}");
    }
}

#[test]
fn what_does_not_apply_says_why() {
    let labels = [1.0, 0.0, 1.0];
    let problem = super::fixtures::problem(&["a".into(), "b".into()], &[]);
    let reasons = |columns: Columns| {
        let examples = Examples::new(columns).unwrap();
        let scores = [0.0, 1.0, 2.0];
        let tuning = Tuning::new(&examples, &scores, &problem);
        let found = [
            kallus_zhou::adjust(&tuning, LogisticGrid::Fine),
            group_offset::adjust(&tuning),
            quantile_match::adjust(&tuning, None),
            super::x_order::adjust(&tuning, None),
        ];
        found.map(|result| match result {
            Err(MethodError::DoesNotApply { reason, .. }) => reason,
            other => panic!("{other:?}"),
        })
    };
    let columns = Columns { labels: Some(&labels), ..Columns::default() };
    let expect = |columns: Columns, expected: &str| {
        reasons(columns).iter().for_each(|reason| assert_eq!(reason, expected));
    };
    expect(columns, "it adjusts groups, and there are none");
    let z = [1.0, 2.0, 3.0];
    expect(
        Columns { protected: Some(&z), ..columns },
        "it adjusts groups, and the protected attribute is continuous",
    );
    let groups = Groups::from_names(&["a", "", "a"]);
    expect(Columns { groups: Some(&groups), ..columns }, "it needs examples of two groups or more");
}

#[test]
fn a_rate_without_pairs_and_a_wrong_strength_are_refused() {
    let table = ScoredTable::new(&[1.0, 2.0, 3.0], &[1.0, 0.0, 1.0], &["a", "b", "b"], Some(&[0, 1, 1]));
    let problem = table.problem(&["A[a > b] >= 0.5"]);
    let error = group_offset::adjust(&table.tuning(&problem)).unwrap_err();
    assert!(error.to_string().starts_with("A[a > b] has no pairs in the examples"), "{error}");
    let problem = table.problem(&[]);
    for strength in [-0.1, 1.1, f64::NAN] {
        let result = quantile_match::adjust(&table.tuning(&problem), Some(strength));
        assert!(matches!(result, Err(MethodError::Setting { .. })), "{strength}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn logistic_maps_hold_on_any_table(rows in grouped(3), grid in 0usize..3) {
        let (_, grid, _) = LogisticGrid::NAMES[grid];
        holds_on_any_table(&rows, "cross_group <= 0.1", |tuning| kallus_zhou::adjust(tuning, grid))?;
    }

    #[test]
    fn offsets_hold_on_any_table(rows in grouped(3)) {
        holds_on_any_table(&rows, "statistical_parity <= 0.1", group_offset::adjust)?;
    }

    #[test]
    fn matched_quantiles_hold_on_any_table(rows in grouped(3), given in any::<bool>(), t in 0.0..=1.0f64) {
        let strength = if given { Some(t) } else { None };
        holds_on_any_table(&rows, "statistical_parity <= 0.1", |tuning| quantile_match::adjust(tuning, strength))?;
    }
}
