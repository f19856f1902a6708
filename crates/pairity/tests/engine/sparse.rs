//! Training on columns that are mostly 0, stored so or one by one.

use pairity::examples::{Column, Columns, Examples, Groups, Values};
use pairity::goals::{Goal, Objective};
use pairity::learners::ScorerKind;
use pairity::run::{FitRequest, GroupAware, Rows, TrainOutcome, TrainRequest, train};
use pairity::solvers::Watch;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Trains on 60 queries of 5 rows with 12 columns, of which about one cell in six is not 0.
fn trained(sparse: bool, goal: &Goal, fit: FitRequest, seed: u64) -> TrainOutcome {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let rows = 300;
    let columns: Vec<Vec<f64>> = (0..12)
        .map(|_| {
            let cell = |random: &mut ChaCha8Rng| match random.random_range(0..6) {
                0 => 4.0 * random.random::<f64>() - 1.0,
                _ => 0.0,
            };
            (0..rows).map(|_| cell(&mut random)).collect()
        })
        .collect();
    let noise: Vec<f64> = (0..rows).map(|_| random.random::<f64>()).collect();
    let label = |row: usize| columns[0][row] - columns[3][row] + columns[7][row] + noise[row];
    let labels: Vec<f64> = (0..rows).map(|row| if label(row) > 0.6 { 1.0 } else { 0.0 }).collect();
    let groups =
        Groups::in_order(vec!["a".into(), "b".into()], (0..rows as u32).map(|row| row * 7 % 3 / 2).collect());
    let queries: Vec<u32> = (0..rows as u32).map(|row| row / 5).collect();
    let examples = Examples::new(Columns {
        labels: Some(&labels),
        groups: Some(&groups),
        queries: Some(&queries),
        ..Columns::default()
    });
    let column = |(at, cells): (usize, Vec<f64>)| {
        let values =
            if sparse { Values::Sparse(cells.into_iter().collect()) } else { Values::Numbers(cells) };
        Column { name: at.to_string(), values }
    };
    let columns = columns.into_iter().enumerate().map(column).collect();
    let fit = FitRequest { goal: goal.clone(), iterations: 150, step_sizes: vec![0.01, 0.1], seed, ..fit };
    let request = TrainRequest { fit, ..TrainRequest::default() };
    train(Rows::new(examples.unwrap(), columns), &request, Watch::default()).unwrap()
}

#[test]
fn training_on_sparse_columns_gives_the_model_of_dense_ones() {
    let rank =
        Goal { objective: Objective::Maximize("auc".into()), subject_to: vec!["cross_group <= 0.1".into()] };
    let regress = Goal { objective: Objective::Minimize("mse".into()), subject_to: Vec::new() };
    let aware = |group_aware| FitRequest { group_aware, ..FitRequest::default() };
    let fits = [
        (&rank, FitRequest::default()),
        (&rank, FitRequest { standardize: false, batch: Some(10), ..FitRequest::default() }),
        (&rank, aware(Some(GroupAware::Weights))),
        (&regress, aware(Some(GroupAware::Offsets))),
        (&rank, FitRequest { scorer: ScorerKind::Mlp, hidden: vec![3], ..FitRequest::default() }),
    ];
    for (seed, (goal, fit)) in fits.into_iter().enumerate() {
        let (sparse, dense) =
            (trained(true, goal, fit.clone(), seed as u64), trained(false, goal, fit, seed as u64));
        let (own, expected) = (&sparse.trained, &dense.trained);
        assert_eq!(own.components.len(), expected.components.len(), "seed {seed}");
        for (own, expected) in own.components.iter().zip(&expected.components) {
            let numbers = own.parameters.iter().chain([&own.probability]);
            for (x, y) in numbers.zip(expected.parameters.iter().chain([&expected.probability])) {
                assert!((x - y).abs() <= 1e-9 * (1.0 + y.abs()), "seed {seed}: {x} {y}");
            }
        }
        for (own, expected) in sparse.parts.iter().zip(&dense.parts) {
            let [x, y] = [own, expected].map(|part| part.evaluation.objective.value.unwrap());
            assert!((x - y).abs() <= 1e-9, "seed {seed}: {x} {y}");
        }
    }
}
