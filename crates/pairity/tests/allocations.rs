//! Steps of training take no memory of their own. A test of its own, as nobody else may ask for memory meanwhile.

use pairity::examples::{Columns, Examples, Groups, PairWeight};
use pairity::goals::{Problem, parse_constraint, parse_maximize};
use pairity::learners::{Architecture, Features, GroupUse, Linear};
use pairity::pairs::{RateIndex, Surrogate, SurrogateKind, Weights};
use pairity::rates::{Average, Rate};
use pairity::solvers::{Data, TrainSettings, Watch, train};
use pairity_testing::CountingAllocator;

#[global_allocator]
static MEMORY: CountingAllocator = CountingAllocator::new();

/// Columns of one of the tables that steps are made on.
struct Table {
    labels: Vec<f64>,
    /// Labels of few levels.
    levels: Vec<f64>,
    groups: Groups,
    attribute: Vec<f64>,
    weights: Vec<f64>,
    features: Features,
    scores: Vec<f64>,
}

/// Rows with two features and four groups.
fn table(rows: usize) -> Table {
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let mut column = || (0..rows).map(|_| random()).collect::<Vec<f64>>();
    let (labels, attribute, weights, scores) = (column(), column(), column(), column());
    let codes = column().iter().map(|x| (4.0 * x) as u32).collect();
    let levels = labels.iter().map(|label| (3.0 * label).floor()).collect();
    let values = [column(), column()].concat();
    Table {
        labels,
        levels,
        groups: Groups::from_codes(["a", "b", "c", "d"].map(String::from).to_vec(), codes),
        attribute,
        weights,
        features: Features::new(rows, 2, values).unwrap(),
        scores,
    }
}

/// What is trained on which columns.
struct Case<'a> {
    what: &'a str,
    columns: Columns<'a>,
    constraint: &'a str,
    surrogate: SurrogateKind,
}

/// Every way that pairs are counted and descended on queries that are not tiny.
fn cases(table: &Table) -> Vec<Case<'_>> {
    let real = Columns { labels: Some(&table.labels), groups: Some(&table.groups), ..Columns::default() };
    let few = Columns { labels: Some(&table.levels), ..real };
    let continuous = Columns { groups: None, protected: Some(&table.attribute), ..real };
    let few_continuous = Columns { labels: Some(&table.levels), ..continuous };
    let weighted = Columns { weights: Some(&table.weights), ..real };
    let gap = Columns { pair_weight: PairWeight::LabelGap, ..real };
    let weighted_continuous = Columns { weights: Some(&table.weights), ..continuous };
    let (groups, order) = ("equal_opportunity <= 0.01", "continuous <= 0.01");
    let (hinge, squared, ramp) = (SurrogateKind::Hinge, SurrogateKind::SquaredHinge, SurrogateKind::Ramp);
    let case = |(what, columns, constraint, surrogate)| Case { what, columns, constraint, surrogate };
    [
        ("real labels", real, groups, hinge),
        ("few labels", few, groups, hinge),
        ("weights", weighted, groups, hinge),
        ("label gap", gap, groups, hinge),
        ("squared hinge", real, groups, squared),
        ("ramp", real, groups, ramp),
        ("ramp, few labels", few, groups, ramp),
        ("squared error", real, "mse <= 0.1", hinge),
        ("parity", real, "statistical_parity <= 0.01", hinge),
        ("parity, weights", weighted, "statistical_parity <= 0.01", squared),
        ("continuous", continuous, order, hinge),
        ("continuous, few labels", few_continuous, order, ramp),
        ("continuous, squared hinge", continuous, order, squared),
        ("continuous, weights", weighted_continuous, order, hinge),
        ("continuous parity", continuous, "continuous_parity <= 0.01", hinge),
    ]
    .map(case)
    .into()
}

/// The goal of a case.
fn problem(case: &Case, examples: &Examples) -> Problem {
    let words = examples.vocabulary();
    let fair = parse_constraint(case.constraint, &words).unwrap();
    Problem::new(&parse_maximize("auc", &words).unwrap(), true, &[fair]).unwrap()
}

/// How often a run of so many steps asks for memory.
fn asked(case: &Case, examples: &Examples, features: &Features, iterations: usize) -> usize {
    let problem = problem(case, examples);
    let scorer =
        Architecture::Linear(Linear { width: 2, intercept: false, start: 1.0, groups: GroupUse::Blind });
    let data = Data { features, train: examples, multipliers: None, validation: None };
    let settings = TrainSettings {
        step_sizes: vec![0.1],
        iterations,
        snapshots: 1,
        surrogate: case.surrogate,
        ..TrainSettings::default()
    };
    let before = MEMORY.count();
    train(&problem, &scorer, &data, &settings, Watch::default()).unwrap();
    MEMORY.count() - before
}

/// How often an evaluation asks for memory, and a count, once others were made; less what counts return.
fn asked_by_evaluation(case: &Case, examples: &Examples, scores: &[f64]) -> [usize; 2] {
    let rates: Vec<Rate> = match case.constraint.split(' ').next() {
        Some("continuous") => vec![Rate::AUC, Rate::Greater, Rate::Less],
        Some("continuous_parity") => vec![Rate::AUC, Rate::ParityGreater, Rate::ParityLess],
        Some("statistical_parity") => vec![Rate::AUC, Rate::Parity { first: 0, second: 1 }],
        _ => (0..16).map(|at| Rate::accuracy(at / 4, at % 4)).collect(),
    };
    let (up, down) = (vec![1.0; rates.len()], vec![0.5; rates.len()]);
    let weights = Weights { hold_up: &up, hold_down: &down, mse: 0.25 };
    let (index, surrogate) =
        (RateIndex::new(examples, &rates, Average::Pairs), Surrogate::new(case.surrogate, 0.5).unwrap());
    let mut gradient = vec![0.0; scores.len()];
    // Ties take other ways.
    let tied: Vec<f64> = scores.iter().map(|score| (100.0 * score).round()).collect();
    let mut asked = [0; 2];
    for _ in 0..4 {
        asked = [0; 2];
        for scores in [scores, &tied] {
            let before = MEMORY.count();
            surrogate.put_at_rows(&index, scores, weights, &mut gradient).unwrap();
            let between = MEMORY.count();
            let found = index.rates_at_rows(scores).unwrap();
            asked[0] += between - before;
            asked[1] += MEMORY.count() - between - RETURNED;
            drop(found);
        }
    }
    asked
}

/// Lists of a count's rates: as numbers, and as what is returned.
const RETURNED: usize = 2;

#[test]
fn more_steps_take_no_more_memory() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        let tiny = table(700);
        let queries = |size: u32| (0..700).map(|row| row / size).collect::<Vec<u32>>();
        let (sevens, hundreds) = (queries(7), queries(100));
        for queries in [None, Some(&hundreds[..]), Some(&sevens[..])] {
            for case in cases(&tiny) {
                let examples = Examples::new(Columns { queries, ..case.columns }).unwrap();
                let run = |steps| asked(&case, &examples, &tiny.features, steps);
                // What is only prepared once.
                run(10);
                let (few, many) = (run(20), run(220));
                // A run pauses a few times a second, and takes up its room anew.
                let (what, queries) = (case.what, queries.map(<[u32]>::len));
                assert!(many < few + 200, "{what}, {queries:?}: {few} times in 20 steps, {many} in 220");
            }
        }
        for rows in [3_000, 20_000] {
            let large = table(rows);
            for case in cases(&large) {
                let examples = Examples::new(case.columns).unwrap();
                let asked = asked_by_evaluation(&case, &examples, &large.scores);
                assert_eq!(asked, [0; 2], "{}, {rows} rows", case.what);
            }
        }
    });
}
