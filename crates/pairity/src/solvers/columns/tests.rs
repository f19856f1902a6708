//! The solver of columns against limits that are known.

use super::*;
use crate::goals::parse_minimize;
use crate::learners::{GroupUse, Linear};
use crate::rates::Average;
use crate::solvers::tests::{
    DrawnRows, cut_again_and_again, data, limit, linear, problem, run, simulated, simulated_groups,
};
use crate::solvers::{SolverKind, Status, Trained, reach};

fn settings() -> TrainSettings {
    TrainSettings { solver: SolverKind::Columns, ..TrainSettings::default() }
}

fn is_near_the_limit(trained: &Trained, limit: f64, at_most: f64) {
    let Trained { objective, violations, .. } = trained;
    assert!(trained.meets_goal && violations.iter().all(|&miss| miss <= 1e-4), "{violations:?}");
    assert!(*objective > limit - 0.001, "{objective} of {limit}");
    let certificate = trained.certificate.unwrap();
    assert!(certificate.bound >= at_most - 1e-9, "{certificate:?} {at_most}");
    assert!(certificate.bound >= certificate.objective - 1e-9 && certificate.gap < 1e-3, "{certificate:?}");
}

/// Every direction between two swaps of pairs would be too many: a dense grid stands for them.
#[test]
fn simulated_tasks_reach_the_limit_and_its_certificate_is_never_below_it() {
    for seed in 1..=3 {
        let (two, three) = (simulated(500, seed), simulated_groups(500, seed, true));
        let tasks: [(&DrawnRows, &str, &[&str]); 7] = [
            (&two, "auc", &[]),
            (&two, "auc", &["cross_group <= 0.01"]),
            (&two, "auc", &["cross_group <= 0.01", "within_group <= 0.01"]),
            (&three, "auc", &["marginal <= 0.01"]),
            (&two, "min(auc, A[0 > 1], A[1 > 0])", &[]),
            (&two, "min(A[0 > 1], A[1 > 0]) + min(A[0 > 0], A[1 > 1])", &[]),
            (&three, "min(A[0 > *], A[1 > *], A[2 > *])", &[]),
        ];
        for (rows, maximize, constraints) in tasks {
            let problem = problem(rows, maximize, constraints);
            let trained = run(&problem, &linear(2), rows, &settings()).unwrap();
            let limit = limit(&problem, rows);
            is_near_the_limit(&trained, limit, limit);
        }
    }
}

#[test]
fn a_goal_that_nothing_meets_is_missed_by_as_little_as_any_mixture_misses_it() {
    let rows = simulated(200, 4);
    let problem = problem(&rows, "auc", &["A[0 > 1] >= 0.99", "A[1 > 0] >= 0.99"]);
    let trained = run(&problem, &linear(2), &rows, &settings()).unwrap();
    let scorers: Vec<Vec<f64>> = (0..720)
        .map(|step| {
            let (y, x) = (f64::from(step) * std::f64::consts::TAU / 720.0).sin_cos();
            (0..rows.features.rows()).map(|row| rows.features.row(row)).map(|f| x * f[0] + y * f[1]).collect()
        })
        .collect();
    let least = reach(&problem, &rows.examples, &scorers, Average::Pairs).unwrap().violation;
    let worst = trained.violations.iter().copied().fold(0.0, f64::max);
    assert!(worst < least + 0.001 && worst > 0.01, "{worst} {least}");
    assert!(!trained.meets_goal && trained.certificate.is_none(), "{trained:?}");
}

/// Two features of the simulated task, and one that is noise: one sweep is not enough any more.
#[test]
fn more_features_come_as_near_and_say_how_often_they_tried() {
    let rows = simulated(500, 7);
    let noise = |row: usize| ((row * 7919) % 1009) as f64 / 1009.0 - 0.5;
    let values = (0..rows.features.rows()).flat_map(|row| {
        let own = rows.features.row(row);
        [own[0], own[1], noise(row)]
    });
    let values: Vec<f64> = values.collect();
    let features = crate::learners::Features::new(rows.features.rows(), 3, values).unwrap();
    let wider = DrawnRows { features, examples: rows.examples.clone() };
    for (maximize, constraints) in [("auc", vec![]), ("auc", vec!["cross_group <= 0.01"])] {
        let problem = problem(&rows, maximize, &constraints);
        let trained = run(&problem, &linear(3), &wider, &settings()).unwrap();
        assert!(trained.meets_goal && trained.objective > limit(&problem, &rows) - 0.001, "{trained:?}");
        assert!(trained.certificate.is_none() && trained.tries.is_some_and(|tries| tries > 0));
    }
}

#[test]
fn weights_for_each_group_make_fairness_nearly_free() {
    let rows = simulated(800, 3);
    let groups = GroupUse::Weights { groups: 2 };
    let aware = Architecture::Linear(Linear { width: 2, intercept: false, start: 1.0, groups });
    let problem = problem(&rows, "auc", &["cross_group <= 0.01"]);
    let trained = run(&problem, &aware, &rows, &settings()).unwrap();
    assert!(
        trained.meets_goal && trained.objective > 0.935,
        "{} {:?}",
        trained.objective,
        trained.violations
    );
}

/// Rows without queries: a label that falls with the group, and a feature that tells the group.
fn regression(count: u32) -> DrawnRows {
    let noise = |row: u32, by: u32| f64::from(row * by % 1009) / 1009.0 - 0.5;
    let group = |row: u32| f64::from(row % 3 / 2);
    let label = |row: u32| noise(row, 7919) + 0.3 * noise(row, 104_729) - 0.4 * group(row);
    let labels: Vec<f64> = (0..count).map(label).collect();
    let names: Vec<&str> = (0..count).map(|row| if group(row) > 0.0 { "b" } else { "a" }).collect();
    let values = (0..count).flat_map(|row| [noise(row, 7919), group(row) + 0.2 * noise(row, 31)]).collect();
    data(&labels, &names, None, 2, values)
}

#[test]
fn squared_errors_are_as_small_as_the_bounds_allow() {
    let rows = regression(600);
    let shape = Linear { width: 2, intercept: true, start: 0.0, groups: GroupUse::Blind };
    let words = rows.examples.vocabulary();
    let objective = parse_minimize("mse", &words).unwrap();
    let plain = Problem::new(&objective, false, &[]).unwrap();
    let trained = run(&plain, &Architecture::Linear(shape.clone()), &rows, &settings()).unwrap();
    let paper = run(&plain, &Architecture::Linear(shape.clone()), &rows, &TrainSettings::default()).unwrap();
    assert!(trained.objective < paper.objective + 1e-5, "{} {}", trained.objective, paper.objective);
    let fair = crate::goals::parse_constraint("cross_group <= 0.02", &words).unwrap();
    let bound = Problem::new(&objective, false, &[fair]).unwrap();
    let trained = run(&bound, &Architecture::Linear(shape.clone()), &rows, &settings()).unwrap();
    let paper = run(&bound, &Architecture::Linear(shape), &rows, &TrainSettings::default()).unwrap();
    assert!(trained.meets_goal && trained.status == Status::Feasible, "{:?}", trained.violations);
    assert!(trained.objective < paper.objective + 1e-4, "{} {}", trained.objective, paper.objective);
}

/// Many features of noise: what holds on the rows that a scorer is fit to does not hold on others.
fn overfitted(seed: u64) -> DrawnRows {
    use rand::{RngExt, SeedableRng};
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (rows, width) = (300, 30);
    let mut values: Vec<f64> = (0..rows * width).map(|_| random.random_range(-1.0..1.0)).collect();
    let names: Vec<&str> = (0..rows).map(|_| if random.random::<f64>() < 0.3 { "b" } else { "a" }).collect();
    let labels: Vec<f64> = (0..rows)
        .map(|row| {
            let group = f64::from(u8::from(names[row] == "b"));
            values[row * width + 1] += 1.5 * group;
            let score = 2.0 * values[row * width] - values[row * width + 1];
            f64::from(u8::from(score + 2.0 * random.random_range(-1.0..1.0) > 0.0))
        })
        .collect();
    data(&labels, &names, None, width, values)
}

#[test]
fn cross_fitting_sees_what_rows_that_are_fit_hide() {
    let rows = overfitted(1);
    let problem = problem(&rows, "auc", &[]);
    let trained =
        |select| run(&problem, &linear(30), &rows, &TrainSettings { select, ..settings() }).unwrap();
    let (own, others) = (trained(Select::Validation), trained(Select::CrossFit));
    assert!(!own.cross_fit && others.cross_fit);
    // Thirty features rank three hundred rows far better than they rank others.
    assert!(own.objective > others.objective + 0.02, "{} {}", own.objective, others.objective);
    let fresh = overfitted(2);
    let auc = |trained: &Trained| {
        let mut scores = vec![0.0; 300];
        linear(30).score(&trained.components[0].parameters, &fresh.features, &mut scores);
        reach(&problem.unconstrained(), &fresh.examples, &[scores], Average::Pairs).unwrap().objective
    };
    assert!((auc(&others) - others.objective).abs() < 0.06, "{} {}", auc(&others), others.objective);
    assert!(auc(&others) > auc(&own) - 0.01, "{} {}", auc(&others), auc(&own));
}

#[test]
fn runs_have_the_same_bits_whether_they_are_cut_or_on_other_numbers_of_threads() {
    let rows = overfitted(3);
    let problem = problem(&rows, "auc", &["cross_group <= 0.05"]);
    for select in [Select::Validation, Select::CrossFit] {
        let settings = TrainSettings { select, l2: Some(0.1), ..settings() };
        let once = run(&problem, &linear(30), &rows, &settings).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let threaded = pool.install(|| run(&problem, &linear(30), &rows, &settings).unwrap());
        assert_eq!(same(&once), same(&threaded));
    }
    let rows = simulated(60, 3);
    let problem = super::super::tests::problem(&rows, "auc", &["cross_group <= 0.05"]);
    let once = run(&problem, &linear(2), &rows, &settings()).unwrap();
    assert_eq!(same(&cut_again_and_again(&problem, &rows, &settings())), same(&once));
}

/// All but the step sizes, which are no numbers.
fn same(trained: &Trained) -> Trained {
    Trained { step_sizes: Vec::new(), ..trained.clone() }
}

#[test]
fn what_only_columns_can_do_is_refused_elsewhere() {
    let rows = simulated(20, 1);
    let problem = problem(&rows, "auc", &[]);
    let refused =
        |settings: TrainSettings| run(&problem, &linear(2), &rows, &settings).unwrap_err().to_string();
    let paper = TrainSettings::default();
    let cross_fit = refused(TrainSettings { select: Select::CrossFit, ..paper.clone() });
    assert_eq!(cross_fit, "the selection of the solver paper is cross-fit; it has to be validation");
    let decay = refused(TrainSettings { l2: Some(0.1), ..paper });
    assert_eq!(decay, "the weight decay of the solver paper is 0.1; it has to be left out");
    let negative = refused(TrainSettings { l2: Some(-0.1), ..settings() });
    assert_eq!(negative, "the weight decay is -0.1; it has to be a number of at least 0");
}
