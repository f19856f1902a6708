//! Features that are stored in single precision have the bits of the same numbers in double precision.

use pairity::examples::{Column, Columns, Examples, Groups, Values};
use pairity::goals::{Goal, Objective};
use pairity::learners::{Architecture, Encoder, Features, GroupUse, Linear, Mlp, ScorerKind, Trace};
use pairity::run::{FitRequest, GroupAware, Rows, TrainRequest, train};
use pairity::solvers::Watch;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

fn named(at: usize, values: Values) -> Column {
    Column { name: format!("x{at}"), values }
}

fn doubles(cells: &[f32]) -> Values {
    Values::Numbers(cells.iter().map(|&x| x.into()).collect())
}

/// The same columns in single precision, some of them in double all the same, and all in double.
fn single_and_double(columns: &[(Vec<f32>, bool)]) -> [Vec<Column>; 2] {
    let single = |(at, (cells, keep)): (usize, &(Vec<f32>, bool))| {
        named(at, if *keep && at > 0 { doubles(cells) } else { Values::Singles(cells.clone()) })
    };
    let double = |(at, (cells, _)): (usize, &(Vec<f32>, bool))| named(at, doubles(cells));
    let codes = (0..columns[0].0.len() as u32).map(|row| row % 4).collect();
    let levels = ["p", "q", "r"].map(String::from).to_vec();
    let category = Column { name: "c".into(), values: Values::Categories { codes, levels } };
    let columns = columns.iter().enumerate();
    let all = [columns.clone().map(single).collect::<Vec<_>>(), columns.map(double).collect()];
    all.map(|mut table| {
        table.insert(1, category.clone());
        table
    })
}

fn encoded(table: &[Column], standardize: bool) -> (Encoder, Features) {
    let encoder = Encoder::learn(&table.iter().collect::<Vec<_>>(), None, standardize).unwrap();
    let features = encoder.encode(table).unwrap().features;
    (encoder, features)
}

fn cell() -> impl Strategy<Value = f32> {
    prop_oneof![
        6 => -9.0_f32..9.0,
        1 => Just(f32::NAN),
        1 => Just(-0.0_f32),
        1 => Just(1e-42_f32),
        1 => Just(3e38_f32),
        1 => Just(7.0_f32)
    ]
}

proptest! {
    #[test]
    fn encoded_features_have_the_same_bits_in_half_of_the_room(
        columns in (1_usize..5, 2_usize..20).prop_flat_map(|(width, rows)| {
            prop::collection::vec((prop::collection::vec(cell(), rows), any::<bool>()), width)
        }),
        standardize: bool,
    ) {
        let [single, double] = single_and_double(&columns);
        let ((mine, small), (theirs, large)) = (encoded(&single, standardize), encoded(&double, standardize));
        prop_assert_eq!(mine, theirs);
        prop_assert_eq!((small.number_size(), large.number_size()), (4, 8));
        prop_assert_eq!((small.bytes().len(), large.bytes().len()), (4 * large.values().len(), 8 * large.values().len()));
        prop_assert_eq!(bits(&small.values()), bits(&large.values()));
        let rows: Vec<u32> = (0..small.rows() as u32).rev().collect();
        prop_assert_eq!(bits(&small.select(&rows).values()), bits(&large.select(&rows).values()));
        let back = small.of_bytes(&small.bytes()).unwrap();
        prop_assert_eq!(bits(&back.values()), bits(&large.values()));
        for row in 0..small.rows() {
            prop_assert_eq!(bits(&small.row(row)), bits(&large.row(row)));
        }
    }
}

#[test]
fn numbers_that_would_lose_by_it_are_kept_in_double_precision() {
    let table = [named(0, Values::Singles(vec![0.5, 1.5])), named(1, Values::Numbers(vec![0.1, 0.2]))];
    let (_, features) = encoded(&table, false);
    assert_eq!(features.number_size(), 8);
    assert_eq!(features.values()[..], [0.5, 0.1, 1.5, 0.2]);
}

#[test]
fn scores_and_gradients_have_the_same_bits_in_every_variant() {
    for (rows, width) in [(50, 3), (30_011, 2), (20_003, 11)] {
        let mut random = ChaCha8Rng::seed_from_u64(rows as u64);
        let mut column = || ((0..rows).map(|_| random.random::<f32>() * 8.0 - 3.0).collect(), false);
        let columns: Vec<(Vec<f32>, bool)> = (0..width).map(|_| column()).collect();
        let codes: Vec<u16> = (0..rows).map(|row| (row % 5 % 3) as u16).collect();
        let [small, large] = single_and_double(&columns)
            .map(|table| encoded(&table, true).1.with_codes(codes.clone()).unwrap());
        assert_eq!((small.number_size(), large.number_size()), (4, 8));
        let (width, slopes) = (large.width(), (0..rows).map(|row| (row as f64).sin()).collect::<Vec<_>>());
        for groups in [GroupUse::Blind, GroupUse::Offsets { groups: 2 }, GroupUse::Weights { groups: 2 }] {
            let linear = Architecture::Linear(Linear { width, intercept: true, start: 1.0, groups });
            for scorer in [linear, Architecture::Mlp(Mlp { width, hidden: vec![4], groups })] {
                let parameters = scorer.start(3);
                let of = |features: &Features| {
                    let mut scores = vec![0.0; rows];
                    scorer.score(&parameters, features, &mut scores);
                    let gradient = scorer.pull_back(&parameters, features, &Trace::default(), &slopes);
                    (bits(&scores), bits(&gradient))
                };
                assert!(of(&small) == of(&large), "{rows} rows, {scorer:?}");
            }
        }
    }
}

/// The parameters and weights of the model, and what it reaches on each part.
fn trained(single: bool, goal: &Goal, fit: FitRequest) -> Vec<u64> {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let rows = 300;
    let columns: Vec<Vec<f32>> = (0..4).map(|_| (0..rows).map(|_| random.random()).collect()).collect();
    let noise: Vec<f32> = (0..rows).map(|_| random.random()).collect();
    let label = |row: usize| f64::from(columns[0][row] - columns[3][row] + noise[row] > 0.6);
    let labels: Vec<f64> = (0..rows).map(label).collect();
    let names = vec!["a".into(), "b".into()];
    let groups = Groups::in_order(names, (0..rows as u32).map(|row| row * 7 % 3 / 2).collect());
    let queries: Vec<u32> = (0..rows as u32).map(|row| row / 5).collect();
    let examples = Examples::new(Columns {
        labels: Some(&labels),
        groups: Some(&groups),
        queries: Some(&queries),
        ..Columns::default()
    });
    let values = |cells: Vec<f32>| if single { Values::Singles(cells) } else { doubles(&cells) };
    let columns = columns.into_iter().enumerate().map(|(at, cells)| named(at, values(cells))).collect();
    let fit = FitRequest { goal: goal.clone(), iterations: 100, step_sizes: vec![0.1], ..fit };
    let request = TrainRequest { fit, ..TrainRequest::default() };
    let outcome = train(Rows::new(examples.unwrap(), columns), &request, Watch::default()).unwrap();
    let components = outcome.trained.components.iter();
    let numbers = components.flat_map(|own| own.parameters.iter().chain([&own.probability]));
    let reached = outcome.parts.iter().map(|part| part.evaluation.objective.value.unwrap());
    numbers.copied().chain(reached).map(f64::to_bits).collect()
}

#[test]
fn training_gives_the_same_bits() {
    let rank =
        Goal { objective: Objective::Maximize("auc".into()), subject_to: vec!["cross_group <= 0.1".into()] };
    let regress = Goal { objective: Objective::Minimize("mse".into()), subject_to: Vec::new() };
    let fits = [
        (&rank, FitRequest::default()),
        (&rank, FitRequest { standardize: false, batch: Some(10), ..FitRequest::default() }),
        (&rank, FitRequest { group_aware: Some(GroupAware::Weights), ..FitRequest::default() }),
        (&regress, FitRequest::default()),
        (&rank, FitRequest { scorer: ScorerKind::Mlp, hidden: vec![3], ..FitRequest::default() }),
    ];
    for (at, (goal, fit)) in fits.into_iter().enumerate() {
        assert_eq!(trained(true, goal, fit.clone()), trained(false, goal, fit), "case {at}");
    }
}
