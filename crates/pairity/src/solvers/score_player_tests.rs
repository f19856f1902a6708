//! The player by scores against the game of the trainer, which has a scorer of its own.

use super::{Answer, Data, Player, ScorePlayer, ScoreSettings, TrainError, TrainSettings, Watch, train};
use crate::examples::{Columns, Examples, Groups};
use crate::goals::{Problem, parse_constraint, parse_maximize, parse_minimize};
use crate::learners::{Adam, Architecture, Features, GroupUse, Linear, Trace};
use crate::pairs::SurrogateKind;
use crate::rates::Average;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Queries of three rows with two features, the first of which is of use for group `a` alone; the fourth
/// row of each has no weight.
fn rows() -> (Examples, Features) {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let (mut labels, mut names, mut queries, mut weights, mut values) =
        (vec![], vec![], vec![], vec![], vec![]);
    for query in 0..60 {
        for place in 0..4 {
            let label = f64::from(place == 0);
            let is_a = random.random::<f64>() < 0.5;
            labels.push(label);
            names.push(if is_a { "a" } else { "b" });
            queries.push(query);
            weights.push(if place == 3 { 0.0 } else { 1.0 + f64::from(place) });
            let noise: [f64; 2] = [random.random(), random.random()];
            values.push(noise[0] + if is_a { label } else { 0.0 });
            values.push(noise[1] + 0.4 * label);
        }
    }
    let groups = Groups::from_names(&names);
    let examples = Examples::new(Columns {
        labels: Some(&labels),
        groups: Some(&groups),
        queries: Some(&queries),
        weights: Some(&weights),
        ..Columns::default()
    });
    (examples.unwrap(), Features::new(labels.len(), 2, values).unwrap())
}

fn problem(examples: &Examples, maximize: &str, constraints: &[&str]) -> Problem {
    let words = examples.vocabulary();
    let constraints: Vec<_> =
        constraints.iter().map(|text| parse_constraint(text, &words).unwrap()).collect();
    Problem::new(&parse_maximize(maximize, &words).unwrap(), true, &constraints).unwrap()
}

#[test]
fn a_player_by_scores_leads_a_scorer_the_way_the_trainer_does() {
    let (examples, features) = rows();
    let scorer =
        Architecture::Linear(Linear { width: 2, intercept: false, start: 1.0, groups: GroupUse::Blind });
    for (goal, bounds, player, surrogate) in [
        ("auc", &["cross_group <= 0.05"][..], Player::Swap, SurrogateKind::Hinge),
        ("min(auc, A[a > b], A[b > a])", &[], Player::Swap, SurrogateKind::SquaredHinge),
        ("auc", &["A[a > b] >= 0.8", "within_group <= 0.1"], Player::Lagrangian, SurrogateKind::Ramp),
        ("auc", &["cross_group <= 0.05"], Player::NuPi, SurrogateKind::Hinge),
        ("min(auc, A[a > b], A[b > a])", &[], Player::Augmented, SurrogateKind::Hinge),
    ] {
        let problem = problem(&examples, goal, bounds);
        let settings = TrainSettings {
            iterations: 40,
            snapshots: 1,
            step_sizes: vec![0.05],
            player,
            surrogate,
            average: Average::Queries,
            answer: Answer::Last,
            ..TrainSettings::default()
        };
        let data = Data { features: &features, train: &examples, multipliers: None, validation: None };
        let trained = train(&problem, &scorer, &data, &settings, Watch::default()).unwrap();

        let own =
            ScoreSettings { player, surrogate, average: Average::Queries, step_size: 0.05, margin: 1.0 };
        let mut game = ScorePlayer::new(problem, examples.clone(), &own).unwrap();
        let mut parameters = scorer.start(0);
        let (mut adam, mut scores) = (Adam::new(2), vec![0.0; features.rows()]);
        for _ in 0..40 {
            scorer.score(&parameters, &features, &mut scores);
            let step = game.step(&scores).unwrap();
            assert!(step.curvature.iter().all(|&bend| bend >= 0.0));
            assert!((0..60).all(|query| step.gradient[4 * query + 3] == 0.0));
            let gradient = scorer.pull_back(&parameters, &features, &Trace::default(), &step.gradient);
            adam.descend(&mut parameters, &gradient, 0.05);
        }
        for (found, expected) in parameters.iter().zip(&trained.components[0].parameters) {
            assert!((found - expected).abs() < 1e-9, "{goal}: {parameters:?} {:?}", trained.components);
        }
        let last = trained.trace.last().unwrap();
        let status = game.status();
        assert_eq!(status.steps, 40);
        assert!((status.objective - last.objective).abs() < 1e-12);
        assert!(status.weights.iter().zip(&last.weights).all(|(a, b)| (a - b).abs() < 1e-9));
    }
}

#[test]
fn looking_moves_nothing_and_snapshots_mix() {
    let (examples, features) = rows();
    let problem = problem(&examples, "auc", &["cross_group <= 0.05"]);
    let mut game = ScorePlayer::new(problem, examples, &ScoreSettings::default()).unwrap();
    let column = |at: usize| -> Vec<f64> { features.values().chunks(2).map(|row| row[at]).collect() };
    let first = game.look(&column(0)).unwrap();
    assert_eq!(first, game.look(&column(0)).unwrap());
    assert_eq!((game.status().steps, game.status().meets_goal), (0, false));
    assert!(matches!(game.shrink(), Err(TrainError::Nothing)));
    game.snapshot(None).unwrap();
    game.snapshot(Some(&column(1))).unwrap();
    let mixture = game.shrink().unwrap();
    let gap = |rates: Vec<(String, f64)>| rates[0].1 - rates[1].1;
    let of_first = gap(game.rates());
    game.look(&column(1)).unwrap();
    let gaps = [of_first, gap(game.rates())];
    let expected: f64 = mixture.members.iter().map(|&(place, share)| share * gaps[place]).sum();
    assert!((mixture.violation - (expected.abs() - 0.05).max(0.0)).abs() < 1e-6, "{mixture:?} {gaps:?}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let (examples, _) = rows();
    let goal = || problem(&examples, "auc", &[]);
    let wrong = ScoreSettings { step_size: f64::NAN, ..ScoreSettings::default() };
    assert!(matches!(ScorePlayer::new(goal(), examples.clone(), &wrong), Err(TrainError::Setting { .. })));
    let wrong = ScoreSettings { margin: 0.0, ..ScoreSettings::default() };
    assert!(matches!(ScorePlayer::new(goal(), examples.clone(), &wrong), Err(TrainError::Surrogate(_))));
    let mut game = ScorePlayer::new(goal(), examples.clone(), &ScoreSettings::default()).unwrap();
    assert!(matches!(game.step(&[0.0]), Err(TrainError::Examples(_))));
    assert!(matches!(game.snapshot(Some(&[f64::NAN; 240])), Err(TrainError::Examples(_))));
    let error = parse_minimize("mse", &examples.vocabulary()).unwrap();
    let problem = Problem::new(&error, false, &[]).unwrap();
    let mut game = ScorePlayer::new(problem, examples, &ScoreSettings::default()).unwrap();
    let step = game.step(&[0.0; 240]).unwrap();
    // Weights 1, 2 and 3 in 60 queries: 2 w / 360.
    assert!((step.curvature[2] - 2.0 * 3.0 / 360.0).abs() < 1e-12);
    assert!((step.gradient[0] + 2.0 * 1.0 / 360.0).abs() < 1e-12);
}
