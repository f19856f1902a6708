//! The solver of columns against limits that are known.

use super::generation::{FOLDS, UNSTEADY};
use super::*;
use crate::goals::{TOLERANCE, parse_minimize};
use crate::learners::{GroupUse, Linear, Mlp};
use crate::rates::{Average, Side};
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

/// The angles between those at which two rows that are compared swap: all orders that a linear scorer of two features
/// gives them.
fn all_scorers(rows: &DrawnRows) -> Vec<Vec<f64>> {
    let examples = &rows.examples;
    let feature = |row: usize| rows.features.row(row);
    let mut angles = vec![0.0];
    for i in 0..examples.rows() {
        for j in (0..examples.rows()).filter(|&j| j / 11 == i / 11) {
            let (da, db) = (feature(i)[0] - feature(j)[0], feature(i)[1] - feature(j)[1]);
            if da != 0.0 || db != 0.0 {
                angles.push((db.atan2(da) + std::f64::consts::FRAC_PI_2).rem_euclid(std::f64::consts::TAU));
            }
        }
    }
    angles.sort_by(f64::total_cmp);
    angles.dedup_by(|a, b| (*a - *b).abs() < 1e-12);
    angles.push(std::f64::consts::TAU);
    let between = angles.windows(2).map(|ends| f64::midpoint(ends[0], ends[1]).sin_cos());
    between.map(|(y, x)| (0..examples.rows()).map(feature).map(|f| x * f[0] + y * f[1]).collect()).collect()
}

/// The same rows with features that are rounded, so that many scores are equal.
fn rounded(rows: &DrawnRows) -> DrawnRows {
    let values = rows.features.values().iter().map(|x| x.round()).collect();
    let features = crate::learners::Features::new(rows.features.rows(), 2, values).unwrap();
    DrawnRows { features, examples: rows.examples.clone() }
}

#[test]
fn no_mixture_of_any_scorers_is_better_than_what_columns_find_of_two_features() {
    for seed in 1..=4 {
        let (two, three) = (simulated(25, 20 + seed), simulated_groups(40, 30 + seed, true));
        let tied = rounded(&two);
        let tasks: [(&DrawnRows, &str, &[&str]); 6] = [
            (&two, "auc", &["cross_group <= 0.05"]),
            (&two, "min(auc, A[0 > 1], A[1 > 0])", &[]),
            (&two, "auc", &["cross_group <= 0.02", "A[0 > 0] <= 0.8", "A[0 > 1] >= 0.6"]),
            (&tied, "auc", &["cross_group <= 0.05"]),
            (&tied, "A[0 > 1] + A[1 > 0] - A[0 > 0]", &["auc >= 0.6"]),
            (&three, "auc", &["marginal <= 0.01"]),
        ];
        for (rows, maximize, constraints) in tasks {
            let problem = problem(rows, maximize, constraints);
            let oracle = reach(&problem, &rows.examples, &all_scorers(rows), Average::Pairs).unwrap();
            let trained = run(&problem, &linear(2), rows, &settings()).unwrap();
            let case = format!("{seed} {maximize} {constraints:?}: {} {oracle:?}", trained.objective);
            assert!(oracle.violation <= TOLERANCE, "{case}");
            assert!(trained.meets_goal, "{case}");
            assert!((trained.objective - oracle.objective).abs() < 1e-5, "{case}");
            let certificate = trained.certificate.unwrap();
            assert!(certificate.bound >= oracle.objective - 1e-6, "{case} {certificate:?}");
        }
    }
}

/// A first iteration, whose answers start from where scorers start.
fn first_columns(rows: &DrawnRows, problem: &Problem, settings: &TrainSettings) -> ColumnGeneration {
    first_columns_of(&linear(rows.features.width()), rows, problem, settings)
}

fn first_columns_of(
    scorer: &Architecture,
    rows: &DrawnRows,
    problem: &Problem,
    settings: &TrainSettings,
) -> ColumnGeneration {
    first_columns_where(scorer, rows, rows, problem, settings)
}

/// The same of a part of some rows, with the weight decay of all of them.
fn first_columns_where(
    scorer: &Architecture,
    rows: &DrawnRows,
    all: &DrawnRows,
    problem: &Problem,
    settings: &TrainSettings,
) -> ColumnGeneration {
    let training = Training { problem, architecture: scorer, features: &rows.features, settings, term: None };
    let [sample, all] = [rows, all].map(|own| Sample::new(&training, &own.examples, "all rows").unwrap());
    let task =
        SolverTask { training, sample: &sample, multipliers: None, selection: &sample, validated: false };
    let mut columns = <ColumnGeneration as Solver>::start(&task, 0.0);
    let mut rooms = Rooms::of(&task, response::decay(scorer, &all));
    columns.next_iteration(&task, 0, &mut rooms).unwrap();
    columns
}

/// The same rows with something added to the first feature of each query.
fn with_levels(rows: &DrawnRows) -> DrawnRows {
    let level = |row: usize| ((row / 11 * 7_919) % 101) as f64 / 50.0 - 1.0;
    let own = rows.features.values();
    let values =
        own.iter().enumerate().map(|(at, x)| if at % 2 == 0 { x + level(at / 2) } else { *x }).collect();
    let features = crate::learners::Features::new(rows.features.rows(), 2, values).unwrap();
    DrawnRows { features, examples: rows.examples.clone() }
}

#[test]
fn where_queries_are_alike_rates_are_of_all_pairs_and_elsewhere_of_those_inside_queries() {
    let drawn = simulated(420, 5);
    let settings = TrainSettings { select: Select::CrossFit, ..settings() };
    for (rows, alike) in [(with_levels(&drawn), false), (drawn, true)] {
        let problem = problem(&rows, "auc", &["cross_group <= 0.05"]);
        let columns = first_columns(&rows, &problem, &settings);
        assert_eq!((columns.across_queries, columns.cross_fit), (alike, false));
        let examples = if alike { rows.examples.across_queries() } else { rows.examples.clone() };
        let rated = DrawnRows { features: rows.features, examples };
        let all: Vec<u32> = (0..rated.examples.rows() as u32).collect();
        let column = &columns.columns[0];
        let score = |row: &u32| {
            let feature = rated.features.row(*row as usize);
            column.parameters[0] * feature[0] + column.parameters[1] * feature[1]
        };
        let scores: Vec<f64> = all.iter().map(score).collect();
        for (&rate, &found) in problem.rates.iter().zip(&column.rates) {
            let (sum, pairs) = earned(&rated, rate, &all, &scores);
            assert!((found - sum / pairs).abs() < 1e-12, "{rate:?} {alike}: {found} {sum} {pairs}");
        }
    }
}

/// What pairs of some rows earn in a rate, one by one, and how many there are.
fn earned(rows: &DrawnRows, rate: Rate, some: &[u32], scores: &[f64]) -> (f64, f64) {
    let Rate::Accuracy { better, worse } = rate else { panic!("{rate:?}") };
    let examples = &rows.examples;
    let (labels, codes) = (examples.by_row(examples.labels.as_ref().unwrap()), examples.codes_by_row());
    let of = |side: Side, row: usize| match side {
        Side::Any => true,
        Side::Group(group) => usize::from(codes[row]) == group,
    };
    let (mut sum, mut all) = (0.0, 0.0);
    for i in some.iter().map(|&row| row as usize).filter(|&row| of(better, row)) {
        for j in some.iter().map(|&row| row as usize).filter(|&row| of(worse, row)) {
            let together = !examples.has_queries() || i / 11 == j / 11;
            if together && labels[i] > labels[j] {
                sum += if scores[i] == scores[j] { 0.5 } else { f64::from(u8::from(scores[i] > scores[j])) };
                all += 1.0;
            }
        }
    }
    (sum, all)
}

#[test]
fn rates_of_cross_fitting_are_those_of_scorers_that_were_fit_without_each_fold() {
    let noisy = |rows: DrawnRows| {
        let values = (0..rows.features.rows()).flat_map(|row| {
            let noise = ((row * 7919) % 1009) as f64 / 1009.0;
            [rows.features.row(row)[0], rows.features.row(row)[1], noise]
        });
        let features = crate::learners::Features::new(rows.features.rows(), 3, values.collect()).unwrap();
        DrawnRows { features, examples: rows.examples }
    };
    // Without bounds every step of an answer is a column.
    let drawn = [
        (overfitted(5), "min(auc, A[a > b], A[b > a])"),
        (noisy(simulated(150, 6)), "min(auc, A[0 > 1], A[1 > 0])"),
    ];
    for (rows, least) in drawn {
        let problem = problem(&rows, least, &[]);
        let own = TrainSettings { l2: Some(0.03), seed: 3, ..settings() };
        let crossed =
            first_columns(&rows, &problem, &TrainSettings { select: Select::CrossFit, ..own.clone() });
        let folds = rows.examples.split(&[0.2; FOLDS], own.seed).unwrap();
        // Sums over folds of what pairs earn and of what there are of them, for each column.
        let mut sums = vec![vec![(0.0, 0.0); problem.rates.len()]; 2];
        for (at, fold) in folds.into_iter().flatten().enumerate() {
            let inside: Vec<u32> = fold.example_rows().to_vec();
            let outside = rows.examples.units_where(|row| !inside.contains(&(row as u32)));
            let others = DrawnRows {
                features: rows.features.clone(),
                examples: rows.examples.part(&outside).unwrap(),
            };
            let scorer = linear(rows.features.width());
            let refit = first_columns_where(&scorer, &others, &rows, &problem, &own);
            for (step, sums) in sums.iter_mut().enumerate() {
                let (found, again) = (&crossed.columns[step].folds[at], &refit.columns[step].parameters);
                // Second moments are added up fold by fold.
                let far = found.iter().zip(again).any(|(x, y)| (x - y).abs() > 1e-7);
                assert!(!far && found.len() == again.len(), "{at} {step} {found:?} {again:?}");
                let mut scores = vec![0.0; rows.features.rows()];
                linear(rows.features.width()).score(found, &rows.features, &mut scores);
                for (rate, sum) in problem.rates.iter().zip(sums) {
                    let (earned, all) = earned(&rows, *rate, &inside, &scores);
                    (sum.0, sum.1) = (sum.0 + earned, sum.1 + all);
                }
            }
        }
        for (column, sums) in crossed.columns.iter().zip(sums) {
            for (rate, (earned, all)) in column.rates.iter().zip(sums) {
                assert!((rate - earned / all).abs() < 1e-12, "{rate} {earned} {all}");
            }
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

/// A feature tells the group, and less of it makes the scorer fair before any price was answered.
#[test]
fn scorers_less_what_features_tell_of_the_attribute_are_among_the_first_columns() {
    let rows = regression(600);
    let words = rows.examples.vocabulary();
    let fair = crate::goals::parse_constraint("cross_group <= 0.02", &words).unwrap();
    let ranked = problem(&rows, "auc", &["cross_group <= 0.02"]);
    let squared = Problem::new(&parse_minimize("mse", &words).unwrap(), false, &[fair]).unwrap();
    let blind =
        |intercept| Architecture::Linear(Linear { width: 2, intercept, start: 0.0, groups: GroupUse::Blind });
    // Where groups have a constant of their own, that is moved.
    let groups = GroupUse::Weights { groups: 2 };
    let aware = Architecture::Linear(Linear { width: 2, intercept: false, start: 1.0, groups });
    for (problem, scorer) in [(&squared, blind(true)), (&ranked, aware)] {
        for select in [Select::Validation, Select::CrossFit] {
            let settings = TrainSettings { select, l2: Some(0.01), ..settings() };
            let found = first_columns_of(&scorer, &rows, problem, &settings);
            let unanswered = found.columns.iter().filter(|own| own.weights.iter().all(|price| *price == 0.0));
            let best = unanswered
                .filter(|own| problem.assess(&own.rates).violation <= TOLERANCE)
                .map(|own| problem.cost(&own.rates))
                .fold(f64::INFINITY, f64::min);
            let (unbound, most) = (problem.cost(&found.columns[0].rates), problem.cost(&constant(problem)));
            assert!(best < unbound + 0.5 * (most - unbound), "{best} between {unbound} and {most}");
        }
    }
}

/// The scores of a network are linear in the units of its last layer, which tell of the group too.
#[test]
fn a_network_less_what_its_units_tell_of_the_attribute_is_among_the_first_columns() {
    let rows = regression(600);
    let ranked = problem(&rows, "auc", &["cross_group <= 0.02"]);
    let network = Architecture::Mlp(Mlp { width: 2, hidden: vec![10], groups: GroupUse::Blind });
    for select in [Select::Validation, Select::CrossFit] {
        let settings = TrainSettings { select, l2: Some(0.01), ..settings() };
        let found = first_columns_of(&network, &rows, &ranked, &settings);
        let miss = |own: &AnswerColumn| ranked.assess(&own.rates).violation;
        let order =
            |a: &&AnswerColumn, b: &&AnswerColumn| ranked.cost(&a.rates).total_cmp(&ranked.cost(&b.rates));
        let unbound = found.columns.iter().min_by(order).unwrap();
        // Only the weights of the output are others; its mirror image is worse than chance.
        let output = network.output();
        let is_less = |own: &&AnswerColumn| {
            let worth = ranked.cost(&own.rates) < 0.5 * (ranked.cost(&unbound.rates) - 0.5);
            worth && own.parameters[..output] == unbound.parameters[..output]
        };
        let least = found.columns.iter().filter(is_less).map(miss).fold(f64::INFINITY, f64::min);
        assert!(least < 0.5 * miss(unbound), "{least} {}", miss(unbound));
    }
}

/// The rates of a constant score, on labels whose variance is about a tenth.
fn constant(problem: &Problem) -> Vec<f64> {
    problem.rates.iter().map(|&rate| if rate == Rate::Mse { 0.12 } else { 0.5 }).collect()
}

#[test]
fn columns_whose_folds_tell_of_another_scorer_are_left_out() {
    // Of forty rows and thirty features, what is fit to all rows has little to do with what is fit without some.
    let all = overfitted(7);
    let few: Vec<u32> = (0..40).collect();
    let rows = DrawnRows { features: all.features.clone(), examples: all.examples.part(&few).unwrap() };
    let problem = problem(&rows, "auc", &["cross_group <= 0.01"]);
    let crossed = TrainSettings { select: Select::CrossFit, l2: Some(0.01), ..settings() };
    let found = first_columns(&rows, &problem, &crossed);
    let whole = linear(rows.features.width());
    for column in &found.columns[1..] {
        let mut scores = vec![0.0; rows.features.rows()];
        whole.score(&column.parameters, &rows.features, &mut scores);
        let value = |rate: &Rate| {
            let (sum, all) = earned(&rows, *rate, &few, &scores);
            sum / all
        };
        let own: Vec<f64> = problem.rates.iter().map(value).collect();
        let apart = problem.bound_misses(&own).zip(problem.bound_misses(&column.rates));
        let apart = apart.map(|(own, others)| (own - others).abs()).fold(0.0, f64::max);
        assert!(apart <= UNSTEADY, "{apart}");
    }
    // The scorer itself, turned around and less twenty-one multiples would be many more.
    assert!(found.columns.len() < 15, "{}", found.columns.len());
}

/// Two features that tell a number, and one that is 0 but in a single row, whose number is off.
fn with_a_rare_feature() -> DrawnRows {
    use rand::{RngExt, SeedableRng};
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let rows = 200;
    let mut values: Vec<f64> = (0..3 * rows).map(|_| random.random_range(-1.0..1.0)).collect();
    // In units of its deviation, as features are.
    let (rare, common) = ((rows as f64).sqrt(), -(rows as f64).sqrt().recip());
    values.chunks_exact_mut(3).enumerate().for_each(|(row, x)| x[2] = if row == 17 { rare } else { common });
    let labels = values.chunks_exact(3).map(|x| 3.0 + x[0] - x[1] + 0.1 * random.random_range(-1.0..1.0));
    data(&labels.collect::<Vec<f64>>(), &vec!["a"; rows], None, 3, values)
}

/// Of the rows without that one the feature is constant, and any weight of it is as good as another for them.
#[test]
fn what_is_constant_in_the_rows_of_a_fit_has_a_small_weight_there() {
    let rows = with_a_rare_feature();
    let scorer =
        Architecture::Linear(Linear { width: 3, intercept: true, start: 0.0, groups: GroupUse::Blind });
    let squared =
        Problem::new(&parse_minimize("mse", &rows.examples.vocabulary()).unwrap(), false, &[]).unwrap();
    let crossed = TrainSettings { select: Select::CrossFit, ..settings() };
    let trained = run(&squared, &scorer, &rows, &crossed).unwrap();
    // The noise alone is .0033.
    assert!(trained.objective < 0.004, "{}", trained.objective);
    assert!(trained.components[0].parameters[2].abs() < 0.02, "{:?}", trained.components);
    // Where only orders count, weights start at 1.
    let ranked = problem(&rows, "auc", &[]);
    let found = first_columns_of(&linear(3), &rows, &ranked, &crossed);
    let without = found.columns[0].folds.iter().filter(|own| own[2].abs() > 0.02).count();
    assert!(without == 0, "{:?}", found.columns[0].folds);
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
    // Cut before each of its iterations, with answers that are exact and with folds of rows.
    let (plane, many) = (simulated(60, 3), overfitted(4));
    for (rows, select) in [(&plane, Select::Validation), (&many, Select::CrossFit)] {
        let problem = super::super::tests::problem(rows, "auc", &["cross_group <= 0.05"]);
        let settings = TrainSettings { select, ..settings() };
        let scorer = linear(rows.features.width());
        let once = run(&problem, &scorer, rows, &settings).unwrap();
        assert_eq!(same(&cut_again_and_again(&problem, &scorer, rows, &settings)), same(&once));
    }
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
