//! Text scorers: the network against a plain evaluation of its formula and against finite differences, words as
//! sparse features against the same features stored one by one.

use pairity::learners::text::{Embeddings, TextCnn};
use pairity::learners::{Architecture, Features, GroupUse, Linear, Mlp, Scorer, ScorerError, Sparse, Trace};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Half the distance from 1 to the next number in single precision.
const ROUNDING: f64 = 1.0 / (1 << 24) as f64;

fn small(window: usize, dropout: f64, groups: GroupUse) -> TextCnn {
    TextCnn { words: 7, embedding: 3, window, filters: 5, hidden: 4, dropout, groups }
}

/// Parameters that single precision holds, none of them special.
fn random_parameters(scorer: &dyn Scorer, seed: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..scorer.len()).map(|_| f64::from((2.0 * random.random::<f64>() - 1.0) as f32)).collect()
}

/// Texts of all lengths from none up.
fn random_texts(rows: usize, seed: u64) -> Vec<Vec<u32>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..rows).map(|row| (0..row % 9).map(|_| random.random_range(0..7)).collect()).collect()
}

fn features(texts: &[Vec<u32>]) -> Features {
    Features::of_sparse(Sparse::of_ones(7, texts.iter().map(Vec::as_slice)).unwrap())
}

/// The formula, in double precision and in the obvious order.
fn evaluate(cnn: &TextCnn, parameters: &[f64], text: &[u32]) -> f64 {
    let mut rest = parameters;
    let mut take = |count: usize| {
        let (own, tail) = rest.split_at(count);
        rest = tail;
        own.to_vec()
    };
    let d = cnn.embedding;
    let embeddings = take(cnn.words * d);
    let filters = take(cnn.filters * cnn.window * d);
    let filter_biases = take(cnn.filters);
    let hidden = take(cnn.hidden * cnn.filters);
    let hidden_biases = take(cnn.hidden);
    let output = take(cnn.hidden);
    let bias = take(1)[0];
    let before = (cnn.window - 1) / 2;
    let word = |place: usize, offset: usize| {
        let place = (place + offset).checked_sub(before)?;
        text.get(place).map(|&code| &embeddings[code as usize * d..][..d])
    };
    let pooled: Vec<f64> = (0..cnn.filters)
        .map(|k| {
            let values = (0..text.len()).map(|place| {
                let mut value = filter_biases[k];
                for offset in 0..cnn.window {
                    let weights = &filters[(k * cnn.window + offset) * d..][..d];
                    let word = word(place, offset).unwrap_or(&[]);
                    value += weights.iter().zip(word).map(|(w, e)| w * e).sum::<f64>();
                }
                value
            });
            values.fold(0.0, f64::max)
        })
        .collect();
    let units = (0..cnn.hidden).map(|j| {
        let weights = &hidden[j * cnn.filters..][..cnn.filters];
        let sum: f64 = weights.iter().zip(&pooled).map(|(w, p)| w * p).sum();
        (hidden_biases[j] + sum).max(0.0)
    });
    bias + output.iter().zip(units).map(|(v, h)| v * h).sum::<f64>()
}

/// The sum of the absolute values of all terms that a score is made of. Sums, and the largest of several, are
/// off by at most as many roundings as there are on the way, each relative to that.
fn magnitude(cnn: &TextCnn, parameters: &[f64], text: &[u32]) -> f64 {
    let absolute: Vec<f64> = parameters.iter().map(|x| x.abs()).collect();
    evaluate(cnn, &absolute, text) / (1.0 - cnn.dropout)
}

/// Roundings on the way through the network, with a few to spare for dropout and the embedding's own.
fn roundings(cnn: &TextCnn) -> f64 {
    (cnn.window * cnn.embedding + cnn.filters + cnn.hidden + 8) as f64
}

#[test]
fn scores_are_those_of_the_formula_for_texts_of_every_length() {
    for window in 1..=6 {
        for seed in 0..5 {
            let cnn = small(window, 0.5, GroupUse::Blind);
            let parameters = random_parameters(&cnn, seed);
            let texts = random_texts(37, seed);
            let mut scores = vec![f64::NAN; texts.len()];
            cnn.score(&parameters, &features(&texts), &mut scores);
            for (text, score) in texts.iter().zip(scores) {
                let expected = evaluate(&cnn, &parameters, text);
                let tolerance = roundings(&cnn) * ROUNDING * magnitude(&cnn, &parameters, text);
                assert!((score - expected).abs() <= tolerance, "{text:?}: {score} {expected} {tolerance}");
            }
        }
    }
}

/// In each parameter alone the network is piecewise linear, so that a difference is its slope exactly, up to
/// rounding, unless there is a corner in between, which two differences tell.
#[test]
fn gradients_are_slopes_with_and_without_dropout() {
    let step = 1.0 / 64.0;
    for (dropout, groups) in [(0.0, GroupUse::Blind), (0.4, GroupUse::Offsets { groups: 2 })] {
        for seed in 0..3 {
            let cnn = small(3, dropout, groups);
            let parameters = random_parameters(&cnn, seed);
            let texts = random_texts(20, seed);
            let codes = (0..20).map(|row| row % 3).collect();
            let features = features(&texts).with_codes(codes).unwrap();
            let by_score: Vec<f64> = (0..20).map(|row| f64::from(row % 5) - 2.0).collect();
            let value = |parameters: &[f64]| {
                let mut scores = vec![0.0; texts.len()];
                cnn.forward(parameters, &features, 9, &mut scores);
                scores.iter().zip(&by_score).map(|(s, g)| s * g).sum::<f64>()
            };
            let bound = |parameters: &[f64]| {
                let all = texts.iter().zip(&by_score);
                all.map(|(text, g)| g.abs() * magnitude(&cnn, parameters, text)).sum::<f64>()
            };
            let trace = cnn.forward(&parameters, &features, 9, &mut vec![0.0; texts.len()]);
            let gradient = cnn.pull_back(&parameters, &features, &trace, &by_score);

            let (middle, mut compared) = (value(&parameters), 0);
            for place in 0..cnn.len() {
                let moved = |by: f64| {
                    let mut moved = parameters.clone();
                    moved[place] += by;
                    moved
                };
                let (up, down) = (value(&moved(step)), value(&moved(-step)));
                let mut larger: Vec<f64> = parameters.iter().map(|x| x.abs()).collect();
                let before = bound(&larger);
                larger[place] += 1.0;
                let size = bound(&larger);
                // Of both values in a difference, and of the gradient itself: the sum of its terms is at most
                // the slope of the bound, which bends upward; 20 texts are added.
                let off_value = 2.0 * roundings(&cnn) * ROUNDING * size / step;
                let off_gradient = (roundings(&cnn) + 20.0) * ROUNDING * (size - before);
                let smooth = ((up - middle) - (middle - down)).abs() / step <= 2.0 * off_value;
                if smooth {
                    compared += 1;
                    let slope = (up - down) / (2.0 * step);
                    let off = (slope - gradient[place]).abs();
                    assert!(off <= off_value + off_gradient, "{place}: {slope} {}", gradient[place]);
                }
            }
            assert!(compared > cnn.len() / 2, "{compared} of {}", cnn.len());
            assert!(gradient.iter().filter(|g| **g != 0.0).count() > cnn.len() / 2);
        }
    }
}

#[test]
fn without_dropout_all_ways_back_agree_and_draws_change_nothing() {
    let cnn = small(5, 0.0, GroupUse::Blind);
    let parameters = random_parameters(&cnn, 1);
    let features = features(&random_texts(30, 1));
    let by_score: Vec<f64> = (0..30).map(|row| f64::from(row) - 15.0).collect();
    let mut scores = [vec![0.0; 30], vec![0.0; 30]];
    cnn.score(&parameters, &features, &mut scores[0]);
    let trace = cnn.forward(&parameters, &features, 3, &mut scores[1]);
    assert_eq!(scores[0], scores[1]);
    let pulled = |trace: &Trace| cnn.pull_back(&parameters, &features, trace, &by_score);
    assert_eq!(pulled(&Trace::default()), pulled(&trace));
}

#[test]
fn dropout_follows_from_the_draw_and_scoring_has_none() {
    let cnn = small(3, 0.5, GroupUse::Blind);
    let parameters = random_parameters(&cnn, 2);
    let features = features(&random_texts(30, 2));
    let forward = |draw| {
        let mut scores = vec![0.0; 30];
        cnn.forward(&parameters, &features, draw, &mut scores);
        scores
    };
    assert_eq!(forward(1), forward(1));
    assert_ne!(forward(1), forward(2));
    let mut plain = vec![0.0; 30];
    cnn.score(&parameters, &features, &mut plain);
    let never = TextCnn { dropout: 0.0, ..cnn.clone() };
    let mut same = vec![0.0; 30];
    never.score(&parameters, &features, &mut same);
    assert_eq!(plain, same);
    assert_ne!(forward(1), plain);
}

#[test]
fn results_have_the_same_bits_for_any_number_of_threads() {
    let cnn = small(5, 0.3, GroupUse::Offsets { groups: 2 });
    let parameters = random_parameters(&cnn, 4);
    let codes = (0..100).map(|row| row % 3).collect();
    let features = features(&random_texts(100, 4)).with_codes(codes).unwrap();
    let by_score: Vec<f64> = (0..100).map(|row| (f64::from(row) * 0.37).sin()).collect();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut scores = vec![0.0; 100];
            let trace = cnn.forward(&parameters, &features, 5, &mut scores);
            let gradient = cnn.pull_back(&parameters, &features, &trace, &by_score);
            (scores, gradient)
        })
    };
    assert_eq!(run(1), run(2));
    assert_eq!(run(1), run(7));
}

#[test]
fn rounding_to_single_precision_changes_no_score() {
    let cnn = small(3, 0.0, GroupUse::Blind);
    let mut parameters: Vec<f64> = (0..cnn.len()).map(|i| (i as f64 * 0.7).sin()).collect();
    let features = features(&random_texts(20, 3));
    let scores = |parameters: &[f64]| {
        let mut scores = vec![0.0; 20];
        cnn.score(parameters, &features, &mut scores);
        scores
    };
    let before = (scores(&parameters), parameters.clone());
    cnn.round(&mut parameters);
    assert_eq!(scores(&parameters), before.0);
    assert_ne!(parameters, before.1);
}

#[test]
fn a_start_takes_known_vectors_and_draws_the_others() {
    let cnn = TextCnn { words: 3, embedding: 2, filters: 2, hidden: 2, ..TextCnn::default() };
    let words = ["a", "b", "c"].map(String::from);
    let vectors = Embeddings::read("c 0.5 -2\na 1 3\n".as_bytes(), &words).unwrap();
    let (start, plain) = (cnn.start_from(&vectors, 7), cnn.start(7));
    assert_eq!((&start[0..2], &start[4..6]), (&[1.0, 3.0][..], &[0.5, -2.0][..]));
    assert_eq!((&start[2..4], &start[6..]), (&plain[2..4], &plain[6..]));
    let other = TextCnn { embedding: 3, ..cnn };
    assert_eq!(other.start_from(&vectors, 7), other.start(7));
}

#[test]
fn shapes_and_features_that_do_not_fit_are_refused() {
    let cnn = |change: fn(&mut TextCnn)| {
        let mut cnn = small(3, 0.0, GroupUse::Blind);
        change(&mut cnn);
        Architecture::TextCnn(cnn).check_shape()
    };
    assert!(matches!(cnn(|cnn| cnn.window = 0), Err(ScorerError::Zero { .. })));
    assert!(matches!(cnn(|cnn| cnn.hidden = 0), Err(ScorerError::Zero { .. })));
    assert!(matches!(cnn(|cnn| cnn.dropout = 1.0), Err(ScorerError::Dropout(_))));
    assert!(matches!(cnn(|cnn| cnn.dropout = f64::NAN), Err(ScorerError::Dropout(_))));
    assert_eq!(cnn(|cnn| cnn.words = usize::MAX), Err(ScorerError::TooLarge));
    let weights = GroupUse::Weights { groups: 2 };
    assert_eq!(Architecture::TextCnn(small(3, 0.0, weights)).check_shape(), Err(ScorerError::GroupWeights));
    let shape = Architecture::TextCnn(small(3, 0.0, GroupUse::Blind));
    let texts = random_texts(4, 0);
    assert_eq!(shape.check(&features(&texts)), Ok(()));
    let dense = Features::new(4, 7, vec![0.0; 28]).unwrap();
    assert_eq!(shape.check(&dense), Err(ScorerError::NoText(7)));
    let mlp = Architecture::Mlp(Mlp { width: 7, hidden: vec![2], groups: GroupUse::Blind });
    assert_eq!(mlp.check(&features(&texts)), Err(ScorerError::Sparse));
    assert!(Sparse::of_ones(2, [&[2][..]]).is_err());
    let both = Features::new(3, 1, vec![0.0; 3]).unwrap();
    assert!(both.with_sparse(Sparse::of_ones(2, [&[1][..]]).unwrap()).is_err());
}

/// Numbers and words, and the same stored one by one.
fn two_ways(dense: usize, rows: &[(Vec<f64>, Vec<u32>, u16)]) -> (Features, Features) {
    let vocabulary = 6;
    let words = Sparse::of_ones(vocabulary, rows.iter().map(|(_, words, _)| words.as_slice())).unwrap();
    let numbers = rows.iter().flat_map(|(x, ..)| x[..dense].to_vec()).collect();
    let sparse = match dense {
        0 => Features::of_sparse(words),
        _ => Features::new(rows.len(), dense, numbers).unwrap().with_sparse(words).unwrap(),
    };
    let mut all = Vec::new();
    for (x, words, _) in rows {
        all.extend_from_slice(&x[..dense]);
        all.extend((0..vocabulary as u32).map(|word| f64::from(u8::from(words.contains(&word)))));
    }
    let full = Features::new(rows.len(), dense + vocabulary, all).unwrap();
    let codes: Vec<u16> = rows.iter().map(|(.., code)| *code).collect();
    (sparse.with_codes(codes.clone()).unwrap(), full.with_codes(codes).unwrap())
}

fn row() -> impl Strategy<Value = (Vec<f64>, Vec<u32>, u16)> {
    let number = prop_oneof![Just(0.0), Just(-0.0), -1e3..1e3, Just(1e-300)];
    let words = prop::collection::btree_set(0_u32..6, 0..6).prop_map(|set| set.into_iter().collect());
    (prop::collection::vec(number, 2), words, 0_u16..4)
}

proptest! {
    #[test]
    fn words_are_features_of_zeros_and_ones(
        rows in prop::collection::vec(row(), 0..12),
        dense in 0_usize..3,
        intercept: bool,
        way in 0_usize..3,
        seed: u64,
    ) {
        let (sparse, full) = two_ways(dense, &rows);
        let groups = [GroupUse::Blind, GroupUse::Offsets { groups: 3 }, GroupUse::Weights { groups: 3 }][way];
        let scorer = Architecture::Linear(Linear { width: dense + 6, intercept, start: 0.0, groups });
        prop_assert_eq!(scorer.check(&sparse), Ok(()));
        let parameters = random_parameters(&*scorer, seed);
        let by_score: Vec<f64> = (0..rows.len()).map(|row| (row as f64 * 1.3).cos()).collect();
        let run = |features: &Features| {
            let mut scores = vec![0.0; rows.len()];
            scorer.score(&parameters, features, &mut scores);
            let gradient = scorer.pull_back(&parameters, features, &Trace::default(), &by_score);
            [scores, gradient].concat()
        };
        // At most 20 terms below 1000 in another order.
        let tolerance = 20.0 * 1e4 * f64::EPSILON;
        for (one, other) in run(&sparse).iter().zip(run(&full)) {
            prop_assert!((one - other).abs() <= tolerance, "{} {}", one, other);
        }
        let picked: Vec<u32> = (0..rows.len() as u32).rev().collect();
        let mut scores = vec![0.0; rows.len()];
        scorer.score(&parameters, &sparse.select(&picked), &mut scores);
        scores.reverse();
        prop_assert_eq!(&scores[..], &run(&sparse)[..rows.len()]);
    }
}
