//! Models fitted by every method, on a made table.

use pairity::examples::{Column, Columns, Examples, Groups, Values};
use pairity::goals::{Goal, Objective, Problem, parse_constraint, parse_maximize, parse_minimize};
use pairity::learners::{Architecture, Encoder, Features, GroupUse, Linear};
use pairity::methods::{
    ALL, Fitted, Method, MethodError, MethodOptions, SINGH_JOACHIMS_TREATMENT, Task, debiased, fit, named,
};
use pairity::metrics::{Chance, Measurement, Member, Settings};
use pairity::model::exposure::{Exposure, Utilities, policy};
use pairity::model::{After, Component, Model, ModelGroups, ScoreRows, StochasticScorer};
use pairity::pairs::{Correlation, Membership};
use pairity::rates::Rate;
use pairity::solvers::{Data, TrainSettings, Watch, evaluate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Queries of six with one good candidate. The first feature tells the good ones of group a, the second
/// those of group b.
struct MadeTable {
    labels: Vec<f64>,
    groups: Groups,
    queries: Vec<u32>,
    features: Features,
}

impl MadeTable {
    fn new(queries: u32) -> MadeTable {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let (mut labels, mut names, mut ids, mut values) = (vec![], vec![], vec![], vec![]);
        for row in 0..queries * 6 {
            let (good, b) = (row % 6 == 0, random.random::<f64>() < 0.15);
            let mut noise = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
            let lift = |strong: bool| if good { if strong { 2.0 } else { 0.2 } } else { 0.0 };
            values.extend([noise() + lift(!b), noise() + lift(b)]);
            labels.push(f64::from(u8::from(good)));
            names.push(if b { "b" } else { "a" });
            ids.push(row / 6);
        }
        let features = Features::new(labels.len(), 2, values).unwrap();
        MadeTable { labels, groups: Groups::from_names(&names), queries: ids, features }
    }

    fn columns(&self) -> Columns<'_> {
        Columns {
            labels: Some(&self.labels),
            groups: Some(&self.groups),
            queries: Some(&self.queries),
            ..Columns::default()
        }
    }
}

const SCORER: Architecture =
    Architecture::Linear(Linear { width: 2, intercept: false, start: 1.0, groups: GroupUse::Blind });

fn settings() -> TrainSettings {
    TrainSettings { iterations: 300, step_sizes: vec![0.01, 0.1], ..TrainSettings::default() }
}

fn problem(examples: &Examples, bound: &str) -> Problem {
    let words = examples.vocabulary();
    let fair = parse_constraint(&format!("cross_group <= {bound}"), &words).unwrap();
    Problem::new(&parse_maximize("auc", &words).unwrap(), true, &[fair]).unwrap()
}

/// Fits and selects on all rows.
fn fitted(name: &str, examples: &Examples, features: &Features, problem: &Problem) -> Fitted {
    fitted_with(by(name), &MethodOptions::default(), examples, features, problem)
}

fn by(name: &str) -> &'static Method {
    named(name).unwrap()
}

fn fitted_with(
    method: &Method,
    options: &MethodOptions,
    examples: &Examples,
    features: &Features,
    problem: &Problem,
) -> Fitted {
    let data = Data { features, train: examples, multipliers: None, validation: None };
    let task = Task { problem, scorer: &SCORER, data, settings: &settings(), aware: false, base: None };
    fit(method, options, &task, None, Watch::default()).unwrap()
}

fn refusal(name: &str, columns: Columns, problem: impl Fn(&Examples) -> Problem) -> String {
    let examples = Examples::new(columns).unwrap();
    let n = examples.rows();
    let features = Features::new(n, 2, (0..2 * n).map(|i| (i % 7) as f64).collect()).unwrap();
    let problem = problem(&examples);
    let data = Data { features: &features, train: &examples, multipliers: None, validation: None };
    let task =
        Task { problem: &problem, scorer: &SCORER, data, settings: &settings(), aware: false, base: None };
    match fit(by(name), &MethodOptions::default(), &task, None, Watch::default()) {
        Err(MethodError::DoesNotApply { reason, .. }) => reason,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn every_method_fits_a_table_of_two_groups_and_queries() {
    let table = MadeTable::new(150);
    let examples = Examples::new(table.columns()).unwrap();
    let problem = problem(&examples, "0.05");
    for method in ALL.iter().filter(|method| method.given_only.is_none()) {
        let model = fitted(method.full_name, &examples, &table.features, &problem);
        let found =
            evaluate(&problem, model.scorer(&SCORER), &examples, &table.features, &Settings::default())
                .unwrap();
        let (objective, violation) =
            (found.objective.value.unwrap(), found.violation.unwrap().value.unwrap());
        assert!(objective > 0.6, "{method:?}: {objective}");
        // What is said of the selection is what is measured on it.
        assert!((model.trained.objective - objective).abs() < 1e-9, "{method:?}");
        assert!((model.trained.violations[0] - (violation - 0.05)).abs() < 1e-9, "{method:?}");
        let changes_scores = method.adjuster.is_some() || method.exposure.is_some();
        assert_eq!(model.after.is_some(), changes_scores, "{method:?}");
    }
}

#[test]
fn methods_that_act_on_the_gap_make_it_smaller() {
    let table = MadeTable::new(150);
    let examples = Examples::new(table.columns()).unwrap();
    let problem = problem(&examples, "0.02");
    let gap = |method| fitted(method, &examples, &table.features, &problem).trained.violations[0] + 0.02;
    let plain = gap("unconstrained");
    assert!(plain > 0.05, "{plain}");
    for method in ["constrained", "robust", "kallus-zhou", "group-offset", "x-order"] {
        assert!(gap(method) < 0.7 * plain, "{method:?}: {} of {plain}", gap(method));
    }
}

#[test]
fn debiasing_is_training_with_its_weights() {
    let table = MadeTable::new(60);
    let examples = Examples::new(table.columns()).unwrap();
    let problem = problem(&examples, "0.05");
    let weights = debiased::weights(&examples).unwrap().weights;
    let heavy = Examples::new(Columns { weights: Some(&weights), ..table.columns() }).unwrap();
    let data = Data {
        features: &table.features,
        train: &heavy,
        multipliers: None,
        // Selection does not see the weights.
        validation: Some(&examples),
    };
    let task =
        Task { problem: &problem, scorer: &SCORER, data, settings: &settings(), aware: false, base: None };
    let by_hand = fit(by("unconstrained"), &MethodOptions::default(), &task, None, Watch::default()).unwrap();
    let light = Data { train: &examples, ..data };
    let own =
        fit(by("debiased"), &MethodOptions::default(), &Task { data: light, ..task }, None, Watch::default())
            .unwrap();
    assert_eq!(own, by_hand);
    let plain = fit(
        by("unconstrained"),
        &MethodOptions::default(),
        &Task { data: light, ..task },
        None,
        Watch::default(),
    )
    .unwrap();
    assert_ne!(own.trained.components, plain.trained.components);
}

#[test]
fn a_heavier_penalty_leaves_less_correlation() {
    let table = MadeTable::new(150);
    let examples = Examples::new(table.columns()).unwrap();
    let problem = problem(&examples, "0.05");
    let correlation = Correlation::new(&examples, Membership::Cross).unwrap();
    let left = |weight: f64| {
        let options = MethodOptions { penalty: weight, ..MethodOptions::default() };
        let model = fitted_with(by("beutel"), &options, &examples, &table.features, &problem);
        let members = model.scorer(&SCORER).members(&examples, &table.features).unwrap();
        correlation.at_rows(&members[0].scores).unwrap().0
    };
    let (none, some, much) = (left(0.0), left(1.0), left(100.0));
    assert!(none > some && some > much && much < 0.02, "{none} {some} {much}");
}

/// The model of features that are columns as they are.
fn saved(fitted: &Fitted, groups: &Groups) -> Model {
    let column = |name: &str| Column { name: name.into(), values: Values::Numbers(vec![0.0, 1.0]) };
    let (first, second) = (column("x"), column("y"));
    Model {
        version: "0".into(),
        architecture: SCORER,
        encoder: Encoder::learn(&[&first, &second], None, false).unwrap(),
        groups: Some(ModelGroups { columns: vec!["group".into()], names: groups.names().to_vec() }),
        query: Vec::new(),
        components: fitted.trained.components.clone(),
        goal: Goal { objective: Objective::Maximize("auc".into()), subject_to: Vec::new() },
        seed: 0,
        status: fitted.trained.status.name().into(),
        after: fitted.after.clone(),
    }
}

#[test]
fn rankings_are_measured_as_their_own_mixture() {
    let table = MadeTable::new(40);
    let examples = Examples::new(table.columns()).unwrap();
    let problem = problem(&examples, "0.05");
    let (exposure, utilities) = (Exposure::Treatment, Utilities::Sigmoid);
    let options = MethodOptions { utilities, ..MethodOptions::default() };
    let model = fitted_with(&SINGH_JOACHIMS_TREATMENT, &options, &examples, &table.features, &problem);
    let plain = Fitted { after: None, ..model.clone() };
    let scores = &plain.scorer(&SCORER).members(&examples, &table.features).unwrap()[0].scores;
    let rankings = policy(&examples, scores, exposure, utilities).unwrap();
    let members: Vec<Member> = rankings
        .members
        .iter()
        .map(|member| Member { chance: Chance::ByRow(&member.probabilities), scores: &member.scores })
        .collect();
    let expected = Measurement::of_mixture(&examples, &members, &Settings::default()).unwrap();
    let found =
        evaluate(&problem, model.scorer(&SCORER), &examples, &table.features, &Settings::default()).unwrap();
    assert_eq!(found.objective.value, expected.rate(Rate::AUC).value);
    assert!(found.members.is_empty());

    // The draws of many seeds come near the expected rate, and a query's draw is always the same.
    let names: Vec<String> = (0..40).map(|query| format!("q{query}")).collect();
    let rows = ScoreRows {
        groups: Some(&table.groups),
        queries: Some((&table.queries, &names)),
        ..ScoreRows::new(table.features.clone())
    };
    let saved = saved(&model, &table.groups);
    let draw = |seed| saved.score(&rows, seed).unwrap();
    assert_eq!(draw(5), draw(5));
    let rate = |scores: &[f64]| {
        let members = [Member::only(scores)];
        let measured = Measurement::of_mixture(&examples, &members, &Settings::default()).unwrap();
        measured.rate(Rate::accuracy(0, 1)).value.unwrap()
    };
    let rates: Vec<f64> = (0..200).map(|seed| rate(&draw(seed))).collect();
    let mean = rates.iter().sum::<f64>() / 200.0;
    let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / 199.0;
    let expected = expected.rate(Rate::accuracy(0, 1)).value.unwrap();
    let error = (variance / 200.0).sqrt();
    assert!((mean - expected).abs() < 4.0 * error, "{mean} ± {error} for {expected}");
}

#[test]
fn an_unconstrained_scorer_can_be_used_again() {
    let table = MadeTable::new(60);
    let examples = Examples::new(table.columns()).unwrap();
    let problem = problem(&examples, "0.05");
    let base = fitted("unconstrained", &examples, &table.features, &problem);
    let data = Data { features: &table.features, train: &examples, multipliers: None, validation: None };
    let task =
        Task { problem: &problem, scorer: &SCORER, data, settings: &settings(), aware: false, base: None };
    let again =
        fit(by("group-offset"), &MethodOptions::default(), &task, Some(&base.trained), Watch::default())
            .unwrap();
    assert_eq!(again, fitted("group-offset", &examples, &table.features, &problem));
    assert!(matches!(again.after, Some(After::Adjusted(_))));
}

#[test]
fn a_method_says_why_it_does_not_apply() {
    let table = MadeTable::new(20);
    let all = table.columns();
    let gap = |examples: &Examples| problem(examples, "0.1");
    let squared = |examples: &Examples| {
        let words = examples.vocabulary();
        let fair = parse_constraint("cross_group <= 0.1", &words).unwrap();
        Problem::new(&parse_minimize("mse", &words).unwrap(), false, &[fair]).unwrap()
    };
    let impact = "singh-joachims (impact)";
    let says = |method, columns, why: &str| {
        let reason = refusal(method, columns, gap);
        assert!(reason.contains(why), "{reason}");
    };
    says(impact, Columns { queries: None, ..all }, "there are no queries");
    let reason = refusal("robust", all, squared);
    assert!(reason.contains("make an error small"), "{reason}");
    for method in [impact, "kallus-zhou", "x-order"] {
        let reason = refusal(method, all, squared);
        assert!(reason.contains("compares"), "{reason}");
    }
    let z: Vec<f64> = (0..120).map(|i| f64::from(i * 37 % 120)).collect();
    let continuous = Columns { groups: None, protected: Some(&z), ..all };
    let bound = |examples: &Examples| {
        let words = examples.vocabulary();
        let fair = parse_constraint("continuous <= 0.1", &words).unwrap();
        Problem::new(&parse_maximize("auc", &words).unwrap(), true, &[fair]).unwrap()
    };
    for method in ["debiased", "kallus-zhou", impact, "group-offset", "quantile-match"] {
        let reason = refusal(method, continuous, bound);
        assert!(reason.contains("continuous"), "{method:?}: {reason}");
    }
    let grades: Vec<f64> = (0..120).map(|i| f64::from(i % 3)).collect();
    says("debiased", Columns { labels: Some(&grades), ..all }, "more than two values");
}

/// An unconstrained scorer less any multiple of the predicted group, one by one.
#[test]
fn a_blind_correction_is_as_good_as_the_best_of_many_multiples() {
    let table = MadeTable::new(150);
    let examples = Examples::new(table.columns()).unwrap();
    let problem = problem(&examples, "0.05");
    let how = Settings::default();
    let measured = |parameters: [f64; 2]| {
        let (components, after) =
            (vec![Component { probability: 1.0, snapshot: 0, parameters: parameters.to_vec() }], None);
        let scorer = StochasticScorer { architecture: &SCORER, components: &components, after };
        let found = evaluate(&problem, scorer, &examples, &table.features, &how).unwrap().assessment;
        (found.violation, found.cost)
    };
    let parameters = |name: &str| -> [f64; 2] {
        let model = fitted(name, &examples, &table.features, &problem);
        assert!(model.after.is_none() && model.trained.components.len() == 1);
        model.trained.components[0].parameters.clone().try_into().unwrap()
    };
    let (base, blind) = (parameters("unconstrained"), parameters("score-minus-attribute (blind)"));
    let way = [blind[0] - base[0], blind[1] - base[1]];
    let found = measured(blind);
    assert!(found.0 < measured(base).0);
    for step in -40..=40 {
        let at = f64::from(step) / 20.0;
        let tried = measured([base[0] + at * way[0], base[1] + at * way[1]]);
        assert!(found <= (tried.0 + 2e-3, f64::INFINITY), "{at}: {tried:?} beats {found:?}");
    }
}

#[test]
fn group_aware_training_is_never_worse_than_the_offset_search_where_it_is_selected() {
    let table = MadeTable::new(100);
    let examples = Examples::new(table.columns()).unwrap();
    // The scorer that training starts from favors group a.
    let values = table.features.values().chunks(2).flat_map(|x| [3.0 * x[0], x[1]]).collect();
    let features = Features::new(table.labels.len(), 2, values).unwrap().with_groups(&table.groups).unwrap();
    for (groups, bound) in [
        (GroupUse::Offsets { groups: 2 }, "0.05"),
        (GroupUse::Weights { groups: 2 }, "0.05"),
        (GroupUse::Offsets { groups: 2 }, "0.0001"),
    ] {
        let problem = problem(&examples, bound);
        let scorer = Architecture::Linear(Linear { width: 2, intercept: false, start: 1.0, groups });
        // The game alone comes nowhere in three steps.
        let settings = TrainSettings { iterations: 3, snapshots: 3, step_sizes: vec![0.001], ..settings() };
        let data = Data { features: &features, train: &examples, multipliers: None, validation: None };
        let task =
            Task { problem: &problem, scorer: &scorer, data, settings: &settings, aware: true, base: None };
        let run = |name: &str, task: &Task| {
            let trained =
                fit(by(name), &MethodOptions::default(), task, None, Watch::default()).unwrap().trained;
            let violation = trained.violations.iter().copied().fold(0.0, f64::max);
            (violation, trained.objective)
        };
        let offsets = run("score-minus-attribute (aware)", &task);
        let found = run("constrained", &task);
        assert!(
            found.0 <= offsets.0 + 1e-6 && (found.0 < offsets.0 || found.1 >= offsets.1 - 1e-6),
            "{found:?} {offsets:?}"
        );
        let alone = run("constrained", &Task { aware: false, ..task });
        assert!(alone.0 > found.0 + 0.01 || alone.1 < found.1 - 0.001, "{alone:?} {found:?}");
    }
}

#[test]
fn a_continuous_attribute_is_subtracted_from_scores_or_from_what_tells_it() {
    let table = MadeTable::new(150);
    let z: Vec<f64> = table.features.values().chunks(2).map(|x| x[0] - 0.3 * x[1]).collect();
    let columns = Columns { groups: None, protected: Some(&z), ..table.columns() };
    let examples = Examples::new(columns).unwrap();
    let words = examples.vocabulary();
    let fair = parse_constraint("continuous <= 0.05", &words).unwrap();
    let problem = Problem::new(&parse_maximize("auc", &words).unwrap(), true, &[fair]).unwrap();
    let violation = |name: &str| {
        let model = fitted(name, &examples, &table.features, &problem);
        assert_eq!(model.after.is_some(), name.ends_with("(aware)"));
        model.trained.violations[0]
    };
    let before = violation("unconstrained");
    assert!(before > 0.1, "{before}");
    // Here the features tell the attribute exactly, so that both ways come to the same.
    for kind in ["aware", "blind"] {
        let found = violation(&format!("score-minus-attribute ({kind})"));
        assert!(found <= 1e-6, "{kind}: {found}");
    }
}
