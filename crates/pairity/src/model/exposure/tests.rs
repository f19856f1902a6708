//! Policies of single queries against their definitions and slow searches.

use super::oracle::Query;
use super::*;
use crate::examples::NO_GROUP;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const BOTH: [Exposure; 2] = [Exposure::Treatment, Exposure::Impact];

/// Holds a policy to its definitions.
fn check(scores: &[f64], groups: &[u32], exposure: Exposure, utilities: Utilities) -> (Policy, Query) {
    let policy = rank(scores, groups, exposure, utilities).unwrap();
    let query = Query::new(scores, groups, exposure, utilities);
    let matrix = query.matrix(&policy);
    for k in 0..scores.len() {
        let row: f64 = matrix[k].iter().sum();
        let column: f64 = matrix.iter().map(|row| row[k]).sum();
        assert!((row - 1.0).abs() < 1e-12 && (column - 1.0).abs() < 1e-12, "{row} {column}");
    }
    assert!(policy.rankings.iter().all(|ranking| ranking.probability > 0.0));
    assert!(policy.rankings.is_sorted_by(|a, b| a.probability >= b.probability));
    assert!(policy.rankings.len() <= query.shares.len().max(1), "{policy:?}");
    let (objective, slack) = query.value(&query.exposure(&matrix));
    assert!((slack - policy.slack).abs() <= 2e-11 * query.largest_share(), "{slack} {policy:?}");
    let size = query.u.iter().map(|u| u.abs()).sum::<f64>();
    assert!((objective - policy.objective).abs() <= 1e-12 * size, "{objective} {policy:?}");
    (policy, query)
}

/// Holds a policy to the program of n² variables, whose rows are kept to 1e-10.
fn compare(scores: &[f64], groups: &[u32], exposure: Exposure, utilities: Utilities) -> Policy {
    let (policy, query) = check(scores, groups, exposure, utilities);
    let (objective, slack) = query.linear_program();
    let close = |a: f64, b: f64| (a - b).abs() < 1e-8 * (1.0 + b.abs());
    assert!(
        close(policy.slack, slack) && close(policy.objective, objective),
        "{scores:?} {groups:?} {exposure:?} {utilities:?}: {objective} {slack} {policy:?}"
    );
    policy
}

/// Scores whose groups are apart by up to three times the width of one: some can't be made equal.
fn random(seed: u64, n: usize, groups: u32) -> (Vec<f64>, Vec<u32>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let apart = rng.random_range(0.0..3.0);
    let codes: Vec<u32> = (0..n).map(|_| rng.random_range(0..groups)).collect();
    let scores = codes.iter().map(|&g| rng.random_range(0.0..1.0) + apart * f64::from(g)).collect();
    (scores, codes)
}

/// Compares random queries; returns how many slacks were 0 and how many were not.
fn compare_random(n: usize, groups: u32, seeds: u64) -> [usize; 2] {
    let mut seen = [0; 2];
    for seed in 0..seeds {
        let (scores, codes) = random(seed, n, groups);
        for exposure in BOTH {
            for utilities in [Utilities::Range, Utilities::Sigmoid, Utilities::Clipped] {
                let policy = compare(&scores, &codes, exposure, utilities);
                seen[usize::from(policy.slack > 0.0)] += 1;
            }
        }
    }
    seen
}

#[test]
fn two_groups_equal_the_program_of_all_probabilities() {
    let seen = [(2, 30), (3, 20), (5, 20), (10, 15), (20, 3)].map(|(n, seeds)| compare_random(n, 2, seeds));
    // Both kinds of queries were among them.
    assert!(seen[..4].iter().flatten().all(|&count| count > 10), "{seen:?}");
    for exposure in BOTH {
        let (scores, codes) = random(3, 50, 2);
        compare(&scores, &codes, exposure, Utilities::Range);
    }
}

#[test]
fn more_groups_equal_the_program_of_all_probabilities() {
    let sizes = [(4, 3, 20), (8, 3, 15), (16, 4, 5), (12, 6, 3), (24, 8, 1)];
    let seen = sizes.map(|(n, groups, seeds)| compare_random(n, groups, seeds));
    assert!(seen[..4].iter().flatten().all(|&count| count > 5), "{seen:?}");
}

#[test]
fn signed_utilities_equal_the_program_of_all_probabilities() {
    let mut compared = [0; 2];
    for (seed, (n, groups)) in (0..60).zip([(3, 2), (6, 2), (10, 2), (8, 3)].into_iter().cycle()) {
        let (scores, codes) = random(seed, n, groups);
        let scores: Vec<f64> = scores.iter().map(|score| score - 1.5).collect();
        let mean = |group: u32| {
            let own = scores.iter().zip(&codes).filter(|(_, code)| **code == group).map(|(score, _)| score);
            own.clone().sum::<f64>() / own.count().max(1) as f64
        };
        // Ratios of next to nothing are beyond the precision of the slow program.
        if (0..groups).any(|group| mean(group).abs() < 0.05) {
            continue;
        }
        for exposure in BOTH {
            let policy = compare(&scores, &codes, exposure, Utilities::Raw);
            compared[usize::from(policy.slack > 0.0)] += 1;
        }
    }
    assert!(compared.iter().all(|&count| count > 10), "{compared:?}");
    // Where all are above 0, they are as if clipped.
    for exposure in BOTH {
        let (scores, codes) = random(7, 10, 2);
        let policy = |utilities| rank(&scores, &codes, exposure, utilities);
        assert_eq!(policy(Utilities::Raw), policy(Utilities::Clipped));
    }
}

#[test]
fn column_generation_agrees_with_two_lines() {
    for seed in 0..200 {
        let (scores, codes) = random(seed, 40, 2);
        for exposure in BOTH {
            let position = position_exposure(scores.len());
            let candidates = Candidates::new(&Utilities::Range.of(&scores), &codes, exposure, &position);
            let total = |mixture: Vec<(f64, Sorting)>| {
                let sum = |of: &dyn Fn(&Sorting) -> f64| mixture.iter().map(|(p, s)| p * of(s)).sum::<f64>();
                (sum(&|s| s.utility), sum(&|s| s.ratios[0] - s.ratios[1]).abs())
            };
            let (two, many) = (total(mixture::of_two(&candidates)), total(mixture::of_many(&candidates)));
            assert!((two.0 - many.0).abs() < 1e-11, "{seed} {two:?} {many:?}");
            assert!((two.1 - many.1).abs() < 1e-11, "{seed} {two:?} {many:?}");
        }
    }
}

#[test]
fn two_candidates_share_the_first_rank_as_computed_by_hand() {
    let v = 1.0 / 3f64.log2();
    // E₀ / 1 = E₁ / 0.8 and E₀ + E₁ = 1 + v give E₀ = (1 + v) / 1.8; the first is on top with
    // probability (E₀ − v) / (1 − v).
    let (policy, _) = check(&[1.0, 0.8], &[0, 1], Exposure::Treatment, Utilities::Clipped);
    let exposure = (1.0 + v) / 1.8;
    assert_eq!(policy.rankings[0].order, [0, 1]);
    assert!((policy.rankings[0].probability - (exposure - v) / (1.0 - v)).abs() < 1e-15);
    assert!((policy.objective - (exposure + 0.8 * 0.8 * exposure)).abs() < 1e-15);
    assert_eq!(policy.slack, 0.0);
    // The first would need twice the exposure of the second, but 1 / v is less than 2.
    let (policy, _) = check(&[1.0, 0.5], &[0, 1], Exposure::Treatment, Utilities::Clipped);
    assert_eq!(policy.rankings, [Ranking { probability: 1.0, order: vec![0, 1] }]);
    assert!((policy.slack - (2.0 * v - 1.0)).abs() < 1e-15);
    // Clicks for utility are exposure, where a group is one candidate.
    let (policy, _) = check(&[1.0, 0.5], &[0, 1], Exposure::Impact, Utilities::Clipped);
    assert!(policy.rankings.iter().all(|ranking| ranking.probability == 0.5), "{policy:?}");
}

#[test]
fn equal_candidates_get_equal_exposure_of_groups() {
    for groups in [[0, 0, 0, 1], [0, 1, 1, 0], [2, 0, 1, 0]] {
        let (policy, query) = check(&[7.0; 4], &groups, Exposure::Treatment, Utilities::Range);
        assert_eq!(policy.slack, 0.0);
        assert!((policy.objective - query.v.iter().sum::<f64>()).abs() < 1e-15);
    }
}

#[test]
fn without_two_groups_of_some_utility_candidates_are_ranked_by_score() {
    let cases: [(&[f64], &[u32]); 6] = [
        (&[], &[]),
        (&[3.0], &[0]),
        (&[1.0, 3.0, 2.0], &[0, 0, 0]),
        (&[1.0, 3.0, 2.0], &[NO_GROUP, 1, NO_GROUP]),
        (&[1.0, 3.0, -2.0], &[0, 0, 1]),
        (&[-1.0, -3.0, 0.0], &[0, 1, 1]),
    ];
    for (scores, groups) in cases {
        for exposure in BOTH {
            let (policy, query) = check(scores, groups, exposure, Utilities::Clipped);
            let [ranking] = &policy.rankings[..] else { panic!("{policy:?}") };
            assert!(ranking.order.is_sorted_by_key(|&i| -query.u[i as usize]), "{policy:?}");
            assert_eq!((ranking.probability, policy.slack), (1.0, 0.0));
        }
    }
}

#[test]
fn neither_origin_nor_unit_of_scores_matter_to_their_range() {
    let scores = [5.0, 3.0, 2.0, 2.0, 1.0, 0.0];
    let moved = scores.map(|s| 8.0 * s - 100.0);
    for exposure in BOTH {
        let policy = |scores| rank(scores, &[0, 1, 0, 1, 1, 2], exposure, Utilities::Range);
        assert_eq!(policy(&scores), policy(&moved));
    }
}

#[test]
fn scores_that_are_no_numbers_and_missing_groups_are_refused() {
    let message = |scores: &[f64], groups: &[u32]| {
        rank(scores, groups, Exposure::Impact, Utilities::Range).unwrap_err().to_string()
    };
    assert!(message(&[1.0, f64::NAN], &[0, 1]).starts_with("scores in row 2 is NaN"));
    assert!(message(&[1.0, 2.0], &[0]).starts_with("groups has 1 rows, but 2 were expected"));
}

/// Few values, so that many are tied; some are worth nothing, some are huge or tiny.
fn scores() -> impl Strategy<Value = Vec<f64>> {
    let values = prop::sample::select(vec![0.0, -0.0, 0.0, 1.0, 1.0, 2.0, 0.5, -1.0, 1e-9, 1e300, 1e-300]);
    let plain = prop::sample::select(vec![0.0, 1.0, 2.0, 3.0, 0.1]);
    prop_oneof![prop::collection::vec(values, 0..6), prop::collection::vec(plain, 0..6)]
}

fn with_groups(scores: Vec<f64>, codes: &[u32]) -> impl Strategy<Value = (Vec<f64>, Vec<u32>)> + use<> {
    let groups = prop::collection::vec(prop::sample::select(codes.to_vec()), scores.len());
    (Just(scores), groups)
}

fn utilities() -> impl Strategy<Value = Utilities> {
    prop::sample::select(vec![Utilities::Range, Utilities::Sigmoid, Utilities::Clipped])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn no_two_rankings_mix_to_more(
        (scores, groups) in scores().prop_flat_map(|scores| with_groups(scores, &[0, 0, 1, 1, NO_GROUP])),
        impact: bool,
        utilities in utilities(),
    ) {
        let exposure = BOTH[usize::from(impact)];
        let (policy, query) = check(&scores, &groups, exposure, utilities);
        if query.shares.len() < 2 {
            let mut falling = query.u.clone();
            falling.sort_by(|a, b| b.total_cmp(a));
            let best: f64 = falling.iter().zip(&query.v).map(|(u, v)| u * v).sum();
            prop_assert!((policy.objective - best).abs() <= 1e-12 * best);
            prop_assert_eq!((policy.slack, policy.rankings.len()), (0.0, 1));
        } else {
            let (objective, slack) = query.every_pair_of_rankings();
            prop_assert!((policy.slack - slack).abs() <= 2e-11 * query.largest_share(), "{slack} {policy:?}");
            let shares = query.shares.iter().flatten().copied().filter(|&share| share > 0.0);
            // Beyond this the search can't tell which of two slacks is the smaller one; sorting can.
            if shares.fold(f64::INFINITY, f64::min) > 1e-10 * query.largest_share() {
                let difference = (policy.objective - objective).abs();
                prop_assert!(difference <= 1e-10 * objective, "{objective} {policy:?}");
            }
        }
    }

    #[test]
    fn three_groups_are_solved_whatever_their_utilities(
        (scores, groups) in prop::collection::vec((-3..3_i32, -12..1_i32), 0..12).prop_flat_map(|rows| {
            let scores = rows.iter().map(|&(m, e)| f64::from(m) * 10f64.powi(e)).collect();
            with_groups(scores, &[0, 1, 2, NO_GROUP])
        }),
        impact: bool,
        utilities in utilities(),
    ) {
        check(&scores, &groups, BOTH[usize::from(impact)], utilities);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn tied_candidates_of_three_groups_equal_the_program_of_all_probabilities(
        (scores, groups) in prop::collection::vec(0..4_i32, 1..9).prop_flat_map(|levels| {
            with_groups(levels.into_iter().map(f64::from).collect(), &[0, 0, 1, 1, 2, 2, NO_GROUP])
        }),
        impact: bool,
        utilities in utilities(),
    ) {
        compare(&scores, &groups, BOTH[usize::from(impact)], utilities);
    }
}

#[test]
fn the_range_of_a_query_becomes_zero_to_one() {
    assert_eq!(Utilities::Range.of(&[3.0, -1.0, 1.0]), [1.0, 0.0, 0.5]);
    assert_eq!(Utilities::Range.of(&[f64::MAX, f64::MIN, 0.0]), [1.0, 0.0, 0.5]);
    assert_eq!(Utilities::Range.of(&[5e-324, 0.0]), [1.0, 0.0]);
    assert_eq!(Utilities::Range.of(&[-0.0, 0.0]), [1.0, 1.0]);
    assert!(Utilities::Range.of(&[]).is_empty());
}

#[test]
fn utilities_are_never_negative() {
    assert_eq!(Utilities::Sigmoid.of(&[0.0, 1e308, -1e308]), [0.5, 1.0, 0.0]);
    let clipped = Utilities::Clipped.of(&[-2.0, -0.0, 3.0]);
    assert_eq!(clipped, [0.0, 0.0, 3.0]);
    assert!(clipped.iter().all(|u| u.is_sign_positive()));
}
