//! Training with features elsewhere, against the same with features here: steps over pairs inside parts of the rows, and
//! column generation.

use super::game::{Buffers, Game, GameView};
use super::loss::Sample;
use super::players::Player;
use super::solver::{Solver, SolverTask, Training};
use super::tests::{data, linear};
use super::{Data, Select, SolverKind, TrainError, TrainSettings, Trained, Watch, Within, train};
use crate::examples::{Columns, Examples, Groups, PairWeight};
use crate::goals::{Problem, parse_constraint, parse_maximize, parse_minimize};
use crate::learners::{
    Architecture, FeatureSource, Features, GroupUse, Learner, Linear, PairTask, Parametric, PartLoss,
    PartPairs, PartSource, PartWeights, Trace,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Features that are here, but only those who are asked know it.
struct Here {
    features: Features,
    partitions: AtomicUsize,
}

struct PartsHere(Vec<PartPairs>);

impl PartSource for PartsHere {
    fn totals(&self) -> Result<Vec<Vec<f64>>, String> {
        Ok(self.0.iter().map(PartPairs::totals).collect())
    }

    fn losses(
        &self,
        scorer: &Architecture,
        parameters: &[f64],
        weights: &[PartWeights],
    ) -> Result<Vec<PartLoss>, String> {
        Ok(self.0.iter().zip(weights).map(|(part, own)| part.loss(scorer, parameters, own)).collect())
    }
}

impl FeatureSource for Here {
    fn scores(&self, scorer: &Architecture, all: &[&[f64]], rows: &[u32]) -> Result<Vec<Vec<f64>>, String> {
        let some = self.features.select(rows);
        let score = |parameters: &&[f64]| {
            let mut scores = vec![0.0; rows.len()];
            scorer.score(parameters, &some, &mut scores);
            scores
        };
        Ok(all.iter().map(score).collect())
    }

    fn gradient(
        &self,
        scorer: &Architecture,
        own: &[f64],
        rows: &[u32],
        slopes: &[f64],
    ) -> Result<Vec<f64>, String> {
        Ok(scorer.pull_back(own, &self.features.select(rows), &Trace::default(), slopes))
    }

    /// Each part goes through a document, as to another process, where its rows are counted from 0.
    fn parts(&self, task: &PairTask, parts: &[Examples]) -> Result<Box<dyn PartSource>, String> {
        self.partitions.fetch_add(1, Ordering::Relaxed);
        let part = |part: &Examples| {
            let again = Examples::from_json(&part.to_json()).map_err(|wrong| wrong.to_string())?;
            let features = self.features.select(part.example_rows());
            PartPairs::new(again, &features, task).map_err(|wrong| wrong.to_string())
        };
        let parts: Result<Vec<PartPairs>, String> = parts.iter().map(part).collect();
        Ok(Box::new(PartsHere(parts?)))
    }
}

const ROWS: usize = 60;

/// Labels, groups, weights, strata, a side column, a continuous attribute and features.
struct Drawn {
    labels: Vec<f64>,
    groups: Groups,
    weights: Vec<f64>,
    within: Vec<u32>,
    side: Vec<f64>,
    features: Features,
}

fn drawn(seed: u64) -> Drawn {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut column = |values: i32| -> Vec<f64> {
        (0..ROWS).map(|_| f64::from(random.random_range(0..values)) / 4.0).collect()
    };
    let (mut labels, mut weights, within, mut side) = (column(9), column(5), column(2), column(7));
    // The third group is of two rows, which parts may lack.
    let name = |(row, own): (usize, &f64)| match row {
        7 | 30 => "c",
        _ if *own > 0.0 => "b",
        _ => "a",
    };
    let groups: Vec<&str> = column(2).iter().enumerate().map(name).collect();
    for row in [7, 30] {
        (labels[row], weights[row], side[row]) = (row as f64 / 20.0, 1.0, 0.75);
    }
    let values = (0..ROWS * 3).map(|_| random.random_range(-1.0..1.0)).collect();
    Drawn {
        labels,
        groups: Groups::from_names(&groups),
        weights,
        within: within.iter().map(|own| u32::from(*own > 0.0)).collect(),
        side,
        features: Features::new(ROWS, 3, values).unwrap(),
    }
}

/// The kinds of examples that parts are taken of.
fn kinds(drawn: &Drawn) -> Vec<(Columns<'_>, &'static str)> {
    let plain = Columns { labels: Some(&drawn.labels), groups: Some(&drawn.groups), ..Columns::default() };
    let weighted = Columns { weights: Some(&drawn.weights), pair_weight: PairWeight::LabelGap, ..plain };
    vec![
        (plain, "cross_group <= 0.05"),
        (weighted, "P[a > b] <= 0.55"),
        (Columns { within: Some(&drawn.within), ..plain }, "cross_group <= 0.05"),
        (Columns { groups: None, protected: Some(&drawn.side), ..weighted }, "continuous <= 0.05"),
        (
            Columns { pairs_where: crate::examples::PairsWhere::Lower(&drawn.side), ..weighted },
            "cross_group <= 0.05",
        ),
    ]
}

/// Strata inside of parts.
fn stratified<'a>(columns: Columns<'a>, within: &'a [u32]) -> Examples {
    Examples::new(Columns { within: Some(within), ..columns }).unwrap()
}

#[test]
fn steps_over_parts_are_those_of_one_machine_with_the_same_parts() {
    let drawn = drawn(3);
    let within = Within { parts: 3, steps: 4 };
    for (columns, constraint) in kinds(&drawn) {
        let examples = Examples::new(columns).unwrap();
        let words = examples.vocabulary();
        let constraints = [parse_constraint(constraint, &words).unwrap()];
        let problem = Problem::new(&parse_minimize("mse", &words).unwrap(), false, &constraints).unwrap();
        let scorer = linear(3);
        let settings = TrainSettings { within: Some(within), seed: 5, ..TrainSettings::default() };
        let source = Arc::new(Here { features: drawn.features.clone(), partitions: AtomicUsize::new(0) });
        let asked = Arc::clone(&source);
        let elsewhere = Features::elsewhere(source, ROWS, 3);
        let training = Training {
            problem: &problem,
            architecture: &scorer,
            features: &elsewhere,
            settings: &settings,
            term: None,
        };
        let sample = Sample::new(&training, &examples, "all").unwrap();
        let task =
            SolverTask { training, sample: &sample, multipliers: None, selection: &sample, validated: false };
        let mut mine = Game::<Parametric>::start(&task, 0.1);
        let mut room = Game::<Parametric>::buffers(&task);
        let mut expected = Game::new(&problem, Parametric::new(&scorer, 5), Player::Swap, 0.1);
        let plain = TrainSettings { within: None, ..settings.clone() };
        for iteration in 0..10 {
            let found = mine.next_iteration(&task, iteration, &mut room).unwrap();
            // The part of each row becomes a stratum, beside those that there are.
            let mut part = vec![0; ROWS];
            let rows = sample.examples().example_rows();
            for (number, units) in within.units(rows.len(), 5, iteration / 4).iter().enumerate() {
                for &unit in units {
                    let row = rows[unit as usize] as usize;
                    part[row] = 2 * number as u32 + columns.within.map_or(0, |within| within[row]);
                }
            }
            let strata = stratified(columns, &part);
            let training = Training { features: &drawn.features, settings: &plain, ..training };
            let sample = Sample::owning(&training, strata).unwrap();
            let view =
                GameView { problem: &problem, sample: &sample, multipliers: None, draw: 0, memory: None };
            let other = expected.step(&view, &mut Buffers::new(&problem)).unwrap();
            let both = [(found.cost, other.cost), (found.violation, other.violation)].into_iter();
            let (own, other) = (mine.learner.snapshot(), expected.learner.snapshot());
            for (own, other) in both.chain(own.into_iter().zip(other)) {
                // A rate that no part has pairs of has no value.
                let same = (own - other).abs() < 1e-9 || own.is_nan() && other.is_nan();
                assert!(same, "{constraint} {iteration}: {own} {other}");
            }
        }
        assert_eq!(asked.partitions.load(Ordering::Relaxed), 3, "iterations 0 to 3, 4 to 7 and 8 to 9");
    }
}

#[test]
fn parts_hold_every_row_once_and_are_drawn_anew() {
    let within = Within { parts: 3, steps: 1 };
    let (first, second) = (within.units(10, 7, 0), within.units(10, 7, 1));
    assert_eq!(first, within.units(10, 7, 0));
    assert_ne!(first, second);
    for parts in [first, second] {
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 4]);
        let mut all = parts.concat();
        all.sort_unstable();
        assert_eq!(all, (0..10).collect::<Vec<_>>());
    }
    assert_eq!(within.units(2, 7, 0).len(), 2);
}

#[test]
fn one_part_is_training_on_all_pairs_and_models_are_chosen_on_all_of_them() {
    let drawn = drawn(8);
    let columns = Columns { labels: Some(&drawn.labels), groups: Some(&drawn.groups), ..Columns::default() };
    let examples = Examples::new(columns).unwrap();
    let words = examples.vocabulary();
    let constraints = [parse_constraint("A[a > b] >= 0.6", &words).unwrap()];
    let problem = Problem::new(&parse_minimize("mse", &words).unwrap(), false, &constraints).unwrap();
    let scorer =
        Architecture::Linear(Linear { width: 3, intercept: true, start: 0.0, groups: GroupUse::Blind });
    let settings = TrainSettings {
        iterations: 40,
        snapshots: 10,
        step_sizes: vec![0.1, 1.0],
        ..TrainSettings::default()
    };
    let run = |features: &Features, within: Option<Within>| {
        let data = Data { features, train: &examples, multipliers: None, validation: None };
        train(&problem, &scorer, &data, &TrainSettings { within, ..settings.clone() }, Watch::default())
    };
    let source = Here { features: drawn.features.clone(), partitions: AtomicUsize::new(0) };
    let elsewhere = Features::elsewhere(Arc::new(source), ROWS, 3);
    let expected = run(&drawn.features, None).unwrap();
    let mine = run(&elsewhere, Some(Within { parts: 1, steps: 7 })).unwrap();
    assert!((mine.objective - expected.objective).abs() < 1e-9, "{} {}", mine.objective, expected.objective);
    assert_eq!(mine.components.len(), expected.components.len());
    // With several parts the numbers of the selection are still those of all pairs.
    let parts = run(&elsewhere, Some(Within { parts: 4, steps: 3 })).unwrap();
    let at = &parts.components[0].parameters;
    let whole = TrainSettings { start: Some(at.clone()), also: vec![at.clone()], ..settings.clone() };
    let data = Data { features: &drawn.features, train: &examples, multipliers: None, validation: None };
    let training = Training {
        problem: &problem,
        architecture: &scorer,
        features: &drawn.features,
        settings: &whole,
        term: None,
    };
    let sample = Sample::new(&training, data.train, "all").unwrap();
    let rates = sample.true_rates_of(&scorer, at);
    assert_eq!(parts.components.len(), 1);
    assert!((problem.stated_objective(problem.cost(&rates)) - parts.objective).abs() < 1e-9);
}

#[test]
fn what_does_not_go_with_parts_is_refused() {
    let rows =
        data(&[0.0, 1.0, 2.0, 1.0], &["a", "b", "a", "b"], Some(&[0, 0, 1, 1]), 1, vec![1.0, 2.0, 0.5, 1.0]);
    let words = rows.examples.vocabulary();
    let problem = Problem::new(&parse_minimize("mse", &words).unwrap(), false, &[]).unwrap();
    let within =
        |parts, steps| TrainSettings { within: Some(Within { parts, steps }), ..TrainSettings::default() };
    let source = || Here { features: rows.features.clone(), partitions: AtomicUsize::new(0) };
    let elsewhere = Features::elsewhere(Arc::new(source()), 4, 1);
    let refused = |features: &Features, settings: TrainSettings| {
        let data = Data { features, train: &rows.examples, multipliers: None, validation: None };
        match train(&problem, &linear(1), &data, &settings, Watch::default()) {
            Err(wrong @ TrainError::Setting { .. }) => wrong.to_string(),
            other => panic!("{other:?}"),
        }
    };
    assert!(refused(&elsewhere, within(2, 5)).contains("with queries"));
    assert!(refused(&elsewhere, within(0, 5)).contains("number of parts is 0"));
    assert!(refused(&elsewhere, within(2, 0)).contains("number of steps with the same parts is 0"));
    let batch = TrainSettings { batch: Some(2), ..within(2, 5) };
    assert!(refused(&elsewhere, batch).contains("a batch"));
}

#[test]
fn column_generation_finds_the_same_where_features_are_elsewhere() {
    let drawn = drawn(8);
    let queries: Vec<u32> = (0..ROWS as u32).map(|row| row / 6).collect();
    let plain = Columns { labels: Some(&drawn.labels), groups: Some(&drawn.groups), ..Columns::default() };
    let features = drawn.features.clone().with_groups(&drawn.groups).unwrap();
    let columns = TrainSettings { solver: SolverKind::Columns, seed: 2, ..TrainSettings::default() };
    for (columns_of, goal) in [(Columns { queries: Some(&queries), ..plain }, "auc"), (plain, "mse")] {
        let examples = Examples::new(columns_of).unwrap();
        let words = examples.vocabulary();
        let constraints = [parse_constraint("A[a > b] >= 0.55", &words).unwrap()];
        let problem = match goal {
            "auc" => Problem::new(&parse_maximize(goal, &words).unwrap(), true, &constraints).unwrap(),
            _ => Problem::new(&parse_minimize(goal, &words).unwrap(), false, &constraints).unwrap(),
        };
        for groups in [GroupUse::Blind, GroupUse::Offsets { groups: 3 }, GroupUse::Weights { groups: 3 }] {
            let scorer =
                Architecture::Linear(Linear { width: 3, intercept: goal == "mse", start: 0.5, groups });
            for select in [Select::Validation, Select::CrossFit] {
                let run = |features: &Features| {
                    let data = Data { features, train: &examples, multipliers: None, validation: None };
                    let settings = TrainSettings { select, ..columns.clone() };
                    train(&problem, &scorer, &data, &settings, Watch::default()).unwrap()
                };
                let source = Here { features: features.clone(), partitions: AtomicUsize::new(0) };
                let elsewhere =
                    Features::elsewhere(Arc::new(source), ROWS, 3).with_groups(&drawn.groups).unwrap();
                let (mine, expected) = (run(&elsewhere), run(&features));
                let numbers = |trained: &Trained| {
                    let own = trained.components.iter().flat_map(|own| {
                        [own.probability, own.snapshot as f64]
                            .into_iter()
                            .chain(own.parameters.iter().copied())
                    });
                    own.chain([trained.objective])
                        .chain(trained.violations.iter().copied())
                        .collect::<Vec<f64>>()
                };
                let (mine, expected) = (numbers(&mine), numbers(&expected));
                assert_eq!(mine.len(), expected.len(), "{goal} {groups:?} {select:?}");
                // Second moments are added in another order.
                for (mine, expected) in mine.iter().zip(&expected) {
                    assert!(
                        (mine - expected).abs() <= 1e-9,
                        "{goal} {groups:?} {select:?}: {mine} {expected}"
                    );
                }
            }
        }
    }
}
