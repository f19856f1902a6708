//! Scores against a plain evaluation of the formula, gradients against finite differences, and the same
//! bits for any number of threads.

use pairity::learners::{Architecture, Features, GroupUse, Linear, Mlp, Scorer, Trace};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn random_numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|_| 2.0 * random.random::<f64>() - 1.0).collect()
}

/// Codes from 0 to `groups`, the last of which is no group.
fn random_features(seed: u64, rows: usize, width: usize, groups: usize) -> Features {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 1);
    let codes = (0..rows).map(|_| random.random_range(0..=groups) as u16).collect();
    let features = Features::new(rows, width, random_numbers(seed, rows * width)).unwrap();
    features.with_codes(codes).unwrap()
}

fn group_uses(groups: usize) -> [GroupUse; 3] {
    [GroupUse::Blind, GroupUse::Offsets { groups }, GroupUse::Weights { groups }]
}

/// Every variant for a width.
fn variants(width: usize, hidden: &[usize], groups: usize) -> Vec<Architecture> {
    let mut variants = Vec::new();
    for groups in group_uses(groups) {
        for intercept in [false, true] {
            variants.push(Architecture::Linear(Linear { width, intercept, start: 1.0, groups }));
        }
        variants.push(Architecture::Mlp(Mlp { width, hidden: hidden.to_vec(), groups }));
    }
    variants
}

fn scores_of(scorer: &Architecture, parameters: &[f64], features: &Features) -> Vec<f64> {
    let mut scores = vec![f64::NAN; features.rows()];
    scorer.score(parameters, features, &mut scores);
    scores
}

fn pulled_back(scorer: &Architecture, parameters: &[f64], features: &Features, g: &[f64]) -> Vec<f64> {
    scorer.pull_back(parameters, features, &Trace::default(), g)
}

/// One network, or one weighted sum if there are no hidden layers, as the formula says.
fn evaluate(x: &[f64], hidden: &[usize], parameters: &[f64]) -> f64 {
    let mut layer = x.to_vec();
    let mut rest = parameters;
    for (at, &outputs) in hidden.iter().chain(&[1]).enumerate() {
        let (weights, tail) = rest.split_at(outputs * layer.len());
        let (biases, tail) = tail.split_at(outputs);
        rest = tail;
        layer = (0..outputs)
            .map(|o| {
                let sum: f64 = (0..layer.len()).map(|i| weights[o * layer.len() + i] * layer[i]).sum();
                let sum = sum + biases[o];
                if at < hidden.len() { sum.max(0.0) } else { sum }
            })
            .collect();
    }
    assert!(rest.is_empty());
    layer[0]
}

fn oracle(scorer: &Architecture, parameters: &[f64], features: &Features) -> Vec<f64> {
    let (hidden, intercept) = match scorer {
        Architecture::Linear(linear) => (&[][..], linear.intercept),
        Architecture::Mlp(mlp) => (&mlp.hidden[..], true),
        Architecture::TextCnn(_) => panic!("tested on texts"),
    };
    let set = |x: &[f64], parameters: &[f64]| match intercept {
        true => evaluate(x, hidden, parameters),
        false => evaluate(x, hidden, &[parameters, &[0.0]].concat()),
    };
    (0..features.rows())
        .map(|row| {
            let (x, code) = (&features.row(row)[..], features.codes().unwrap()[row] as usize);
            match scorer.groups() {
                GroupUse::Blind => set(x, parameters),
                GroupUse::Offsets { groups } => {
                    let (shared, offsets) = parameters.split_at(parameters.len() - groups);
                    set(x, shared) + if code < groups { offsets[code] } else { 0.0 }
                }
                GroupUse::Weights { groups } => {
                    let size = parameters.len() / (groups + 1);
                    evaluate(x, hidden, &parameters[code.min(groups) * size..][..size])
                }
            }
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn scores_follow_the_formula_in_every_variant(
        seed: u64,
        rows in 1_usize..60,
        width in 1_usize..20,
        hidden in prop::collection::vec(1_usize..6, 1..4),
        groups in 1_usize..4,
    ) {
        let features = random_features(seed, rows, width, groups);
        for scorer in variants(width, &hidden, groups) {
            let parameters = random_numbers(seed ^ 2, scorer.len());
            let expected = oracle(&scorer, &parameters, &features);
            for (found, expected) in scores_of(&scorer, &parameters, &features).iter().zip(&expected) {
                prop_assert!((found - expected).abs() < 1e-12, "{scorer:?}: {found} {expected}");
            }
        }
    }

    /// ⟨g, f(θ + he) − f(θ)⟩ / h against ⟨Jᵀg, e⟩ for each unit vector e. A kink may be near on one side, so
    /// that one of the two sides has to agree.
    #[test]
    fn gradients_follow_finite_differences_in_every_variant(
        seed: u64,
        rows in 1_usize..40,
        width in 1_usize..12,
        hidden in prop::collection::vec(1_usize..5, 1..3),
        groups in 1_usize..4,
    ) {
        let features = random_features(seed, rows, width, groups);
        let g = random_numbers(seed ^ 3, rows);
        for scorer in variants(width, &hidden, groups) {
            let parameters = random_numbers(seed ^ 2, scorer.len());
            let gradient = pulled_back(&scorer, &parameters, &features, &g);
            for at in 0..scorer.len() {
                let value = |step: f64| -> f64 {
                    let mut moved = parameters.clone();
                    moved[at] += step;
                    scores_of(&scorer, &moved, &features).iter().zip(&g).map(|(s, g)| s * g).sum()
                };
                let close = [1e-4, 1e-5, 1e-6, 1e-7].iter().any(|&h| {
                    let (left, here, right) = (value(-h), value(0.0), value(h));
                    [right - here, here - left].iter().any(|rise| (rise / h - gradient[at]).abs() < 1e-6)
                });
                prop_assert!(close, "parameter {at} of {scorer:?}: {}", gradient[at]);
            }
        }
    }
}

#[test]
fn a_unit_at_exactly_zero_has_no_derivative() {
    let scorer = Architecture::Mlp(Mlp { width: 1, hidden: vec![1], groups: GroupUse::Blind });
    let features = Features::new(1, 1, vec![0.0]).unwrap();
    // w, b = 0, v, c
    assert_eq!(pulled_back(&scorer, &[1.0, 0.0, 5.0, 0.0], &features, &[1.0]), [0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn a_parameter_that_is_no_number_is_seen_in_the_scores() {
    let features = random_features(1, 20, 3, 2);
    for scorer in variants(3, &[4], 2) {
        let parameters = vec![f64::NAN; scorer.len()];
        assert!(scores_of(&scorer, &parameters, &features).iter().all(|score| score.is_nan()), "{scorer:?}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let bits = |numbers: Vec<f64>| numbers.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    for (rows, width) in [(30_011, 2), (20_003, 11), (300_007, 2)] {
        let features = random_features(5, rows, width, 3);
        let g = random_numbers(6, rows);
        for scorer in variants(width, &[3], 3) {
            let parameters = random_numbers(7, scorer.len());
            let run = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let scores = scores_of(&scorer, &parameters, &features);
                    (bits(scores), bits(pulled_back(&scorer, &parameters, &features, &g)))
                })
            };
            let alone = run(1);
            assert!(alone == run(2), "{scorer:?}");
            assert!(alone == run(5), "{scorer:?}");
        }
    }
}

#[test]
fn a_long_table_is_scored_and_pulled_back_as_its_parts_are() {
    let (rows, width) = (20_003, 13);
    let features = random_features(8, rows, width, 2);
    let g = random_numbers(9, rows);
    let parts: Vec<Vec<u32>> =
        (0..7_u32).map(|part| (0..rows as u32).filter(|row| row % 7 == part).collect()).collect();
    for scorer in variants(width, &[5, 2], 2) {
        let parameters = random_numbers(10, scorer.len());
        let scores = scores_of(&scorer, &parameters, &features);
        let gradient = pulled_back(&scorer, &parameters, &features, &g);
        let mut sums = vec![0.0; scorer.len()];
        for part in &parts {
            let some = features.select(part);
            for (&row, score) in part.iter().zip(scores_of(&scorer, &parameters, &some)) {
                assert_eq!(score.to_bits(), scores[row as usize].to_bits(), "{scorer:?}");
            }
            let g: Vec<f64> = part.iter().map(|&row| g[row as usize]).collect();
            let more = pulled_back(&scorer, &parameters, &some, &g);
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
        for (sum, found) in sums.iter().zip(&gradient) {
            assert!((sum - found).abs() < 1e-9, "{scorer:?}: {sum} {found}");
        }
    }
}

#[test]
fn linear_weights_start_as_configured_and_everything_added_to_them_at_zero() {
    let start = |intercept, start, groups| Linear { width: 2, intercept, start, groups }.start(3);
    assert_eq!(start(false, 1.0, GroupUse::Blind), [1.0, 1.0]);
    assert_eq!(start(true, 0.0, GroupUse::Blind), [0.0, 0.0, 0.0]);
    assert_eq!(start(true, 1.0, GroupUse::Offsets { groups: 2 }), [1.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(start(false, 1.0, GroupUse::Weights { groups: 1 }), [1.0, 1.0, 0.0, 1.0, 1.0, 0.0]);
}

#[test]
fn a_network_starts_within_glorots_limits_by_its_seed_and_alike_for_all_groups() {
    let scorer = Mlp { width: 40, hidden: vec![10], groups: GroupUse::Blind };
    let parameters = scorer.start(1);
    assert_ne!(parameters, scorer.start(2));
    let (first, biases) = (&parameters[..400], &parameters[400..410]);
    let limit = (6.0_f64 / 50.0).sqrt();
    assert!(first.iter().all(|weight| weight.abs() <= limit));
    assert!(
        first.iter().any(|weight| *weight > 0.9 * limit) && first.iter().any(|weight| *weight < -0.9 * limit)
    );
    assert_eq!(biases, [0.0; 10]);
    let limit = (6.0_f64 / 11.0).sqrt();
    assert!(parameters[410..420].iter().all(|weight| weight.abs() <= limit));

    let aware = Mlp { groups: GroupUse::Weights { groups: 2 }, ..scorer };
    assert_eq!(aware.start(1), parameters.repeat(3));
}
