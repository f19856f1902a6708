//! Steps of training take no memory of their own. A test of its own, as nobody else may ask for memory meanwhile.

use pairity::examples::{Columns, Examples, Groups};
use pairity::goals::{Problem, parse_constraint, parse_maximize};
use pairity::learners::{Architecture, Features, GroupUse, Linear};
use pairity::solvers::{Data, TrainSettings, Watch, train};
use pairity_testing::CountingAllocator;

#[global_allocator]
static MEMORY: CountingAllocator = CountingAllocator::new();

/// How often a run of so many steps asks for memory.
fn asked(examples: &Examples, features: &Features, iterations: usize) -> usize {
    let words = examples.vocabulary();
    let fair = parse_constraint("cross_group <= 0.01", &words).unwrap();
    let problem = Problem::new(&parse_maximize("auc", &words).unwrap(), true, &[fair]).unwrap();
    let scorer =
        Architecture::Linear(Linear { width: 2, intercept: false, start: 1.0, groups: GroupUse::Blind });
    let data = Data { features, train: examples, multipliers: None, validation: None };
    let settings =
        TrainSettings { step_sizes: vec![0.1], iterations, snapshots: 1, ..TrainSettings::default() };
    let before = MEMORY.count();
    train(&problem, &scorer, &data, &settings, Watch::default()).unwrap();
    MEMORY.count() - before
}

#[test]
fn more_steps_take_no_more_memory() {
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let rows = 700;
    let labels: Vec<f64> = (0..rows).map(|_| (3.0 * random()).floor()).collect();
    let groups = Groups::from_codes(
        vec!["a".into(), "b".into()],
        (0..rows).map(|_| (2.0 * random()) as u32).collect(),
    );
    let queries: Vec<u32> = (0..rows as u32).map(|row| row / 7).collect();
    let features = Features::new(rows, 2, (0..2 * rows).map(|_| random()).collect()).unwrap();
    let columns = Columns {
        labels: Some(&labels),
        groups: Some(&groups),
        queries: Some(&queries),
        ..Columns::default()
    };
    let examples = Examples::new(columns).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        // What is only prepared once.
        asked(&examples, &features, 10);
        let (few, many) = (asked(&examples, &features, 100), asked(&examples, &features, 900));
        // A run pauses a few times a second, and takes up its room anew.
        assert!(many < few + 200, "{few} times in 100 steps, {many} in 900");
    });
}
