//! Saved models come back bit by bit, damaged ones are refused, and draws are stable and fair.

use pairity::examples::{Column, Groups, MISSING, Values};
use pairity::goals::{Goal, Objective};
use pairity::learners::{Architecture, Encoder, Features, GroupUse, Linear, Mlp, ScorerError};
use pairity::model::exposure::{Exposure, Utilities};
use pairity::model::{
    Adjustment, After, Component, GroupCurve, GroupLogistic, GroupOffset, Model, ModelError, ModelGroups,
    Ranked, ScoreRows, uniform,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn encoder() -> Encoder {
    let age = Column { name: "age".into(), values: Values::Numbers(vec![20.0, 41.3, 0.1]) };
    let color = Column {
        name: "color".into(),
        values: Values::Categories {
            codes: vec![1, 0, MISSING],
            levels: vec!["red".into(), "blue \"x\"".into()],
        },
    };
    Encoder::learn(&[&age, &color], None, true).unwrap()
}

fn model(architecture: Architecture, probabilities: &[f64]) -> Model {
    let names = |count| (0..count).map(|group| format!("group {group}")).collect();
    let components = probabilities.iter().enumerate().map(|(at, &probability)| Component {
        probability,
        snapshot: 10 * at,
        parameters: (0..architecture.len()).map(|i| (i as f64 + 0.1).sin() / 3.0 + at as f64).collect(),
    });
    Model {
        version: "0.1.0".into(),
        encoder: encoder(),
        groups: architecture
            .groups()
            .groups()
            .map(|count| ModelGroups { columns: vec!["sex".into()], names: names(count) }),
        query: vec!["query".into()],
        components: components.collect(),
        goal: Goal {
            objective: Objective::Maximize("auc".into()),
            subject_to: vec!["A[0 > 1] >= 0.8 * A[1 > 0]".into()],
        },
        seed: u64::MAX,
        status: "feasible".into(),
        after: None,
        architecture,
    }
}

fn linear(groups: GroupUse) -> Architecture {
    Architecture::Linear(Linear { width: 4, intercept: true, start: 1.0, groups })
}

fn shapes() -> Vec<Architecture> {
    let groups = 2;
    [GroupUse::Blind, GroupUse::Offsets { groups }, GroupUse::Weights { groups }]
        .into_iter()
        .flat_map(|groups| [linear(groups), Architecture::Mlp(Mlp { width: 4, hidden: vec![3, 2], groups })])
        .collect()
}

#[test]
fn every_shape_comes_back_from_json_as_it_was() {
    for shape in shapes() {
        let model = model(shape, &[0.25, 0.75]);
        let text = model.to_json().unwrap();
        assert!(text.starts_with("{\n  \"schema\": \"pairity.model/1\""), "{text}");
        let back = Model::from_json(&text).unwrap();
        assert_eq!(back, model);
        assert_eq!(back.to_json().unwrap(), text);
    }
}

#[test]
fn the_document_has_the_promised_fields() {
    let document: Value =
        serde_json::from_str(&model(linear(GroupUse::Weights { groups: 2 }), &[1.0]).to_json().unwrap())
            .unwrap();
    let keys: Vec<&String> = document.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "schema",
            "version",
            "architecture",
            "encoder",
            "groups",
            "query",
            "components",
            "goal",
            "seed",
            "status"
        ]
    );
    assert_eq!(
        document["architecture"],
        json!({"kind": "linear", "width": 4, "intercept": true, "start": 1.0,
            "groups": {"use": "weights", "groups": 2}})
    );
    assert_eq!(document["goal"], json!({"maximize": "auc", "subject_to": ["A[0 > 1] >= 0.8 * A[1 > 0]"]}));
    assert_eq!(document["groups"], json!({"columns": ["sex"], "names": ["group 0", "group 1"]}));
    assert_eq!(document["encoder"][1]["levels"], json!(["blue \"x\"", "red"]));
}

proptest! {
    #[test]
    fn every_finite_number_comes_back_with_the_same_bits(bits in prop::collection::vec(any::<u64>(), 5)) {
        let parameters: Vec<f64> = bits.into_iter().map(f64::from_bits).collect();
        prop_assume!(parameters.iter().all(|parameter| parameter.is_finite()));
        let mut model = model(linear(GroupUse::Blind), &[1.0]);
        model.components[0].parameters = parameters.clone();
        let back = Model::from_json(&model.to_json().unwrap()).unwrap();
        for (found, expected) in back.components[0].parameters.iter().zip(&parameters) {
            prop_assert_eq!(found.to_bits(), expected.to_bits());
        }
    }

    #[test]
    fn a_cut_or_altered_file_never_panics(at in 0.0..1.0_f64, byte in 0x20_u8..0x7f, cut: bool) {
        let text = model(linear(GroupUse::Offsets { groups: 2 }), &[0.5, 0.5]).to_json().unwrap();
        let mut bytes = text.into_bytes();
        let at = (at * bytes.len() as f64) as usize;
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] = byte;
        }
        let damaged = String::from_utf8(bytes).unwrap();
        let read = Model::from_json(&damaged);
        prop_assert!(!cut || read.is_err());
        if let Ok(read) = read {
            let features = Features::new(1, 4, vec![0.5; 4]).unwrap().with_codes(vec![1]).unwrap();
            prop_assert!(read.score(&ScoreRows::new(features), 0).is_ok());
        }
    }
}

#[test]
fn files_whose_parts_contradict_each_other_are_refused() {
    let text = model(linear(GroupUse::Offsets { groups: 2 }), &[0.25, 0.75]).to_json().unwrap();
    let good: Value = serde_json::from_str(&text).unwrap();
    let refused = |pointer: &str, value: Value, expected: &str| {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = value;
        let message = Model::from_json(&bad.to_string()).unwrap_err().to_string();
        assert!(message.contains(expected), "{pointer}: {message}");
    };
    refused("/schema", json!("pairity.model/2"), "another version of pairity wrote it");
    refused("/schema", json!("pairity.audit/1"), "give a file that training wrote");
    refused("/schema", json!(null), "\"\"");
    refused("/components", json!([]), "no components");
    refused("/components/0/probability", json!(0.5), "sum up to 1.25");
    refused("/components/0/probability", json!(-0.5), "component 1 has the probability -0.5");
    refused("/components/1/probability", json!(null), "not a model file");
    refused("/components/1/parameters", json!([1.0]), "component 2 has 1 parameters, but the scorer takes 7");
    refused("/components/1/parameters/3", json!(null), "not a model file");
    refused("/components/1/parameters/3", json!("1.0"), "not a model file");
    refused("/architecture/width", json!(5), "the encoder gives 4 features, but the scorer takes 5");
    refused("/architecture/width", json!(u64::MAX), "more than");
    refused("/architecture/width", json!(-1), "not a model file");
    refused("/architecture/kind", json!("forest"), "forest");
    refused("/architecture/groups", json!({"use": "blind"}), "groups are listed, but the scorer uses none");
    refused("/architecture/groups/groups", json!(0), "0 groups");
    refused("/groups", json!(null), "none are listed");
    refused("/groups/names", json!(["a"]), "1 groups are listed, but the scorer uses 2");
    refused("/groups/names", json!(["a", "a"]), "twice");
    refused("/groups/columns", json!([]), "without the column");
    refused("/encoder/0/scale", json!(0.0), "the scale above 0");
    refused("/encoder/1/levels", json!(["red", "blue"]), "must be sorted");
    refused("/encoder/1/name", json!("age"), "twice");
    refused("/encoder", json!([]), "the encoder gives 0 features");
    refused("/goal", json!({"subject_to": []}), "not a model file");

    assert!(matches!(Model::from_json(""), Err(ModelError::Malformed(_))));
    assert!(matches!(Model::from_json("[1]"), Err(ModelError::Malformed(_))));
    assert_eq!(Model::from_json("{}"), Err(ModelError::Schema(String::new())));
    let message = Model::from_json(&text[..200]).unwrap_err().to_string();
    assert!(message.contains("line"), "{message}");
    // 1e999 is no number, and must not become infinite.
    let huge = text.replace("\"probability\": 0.25", "\"probability\": 1e999");
    assert!(matches!(Model::from_json(&huge), Err(ModelError::Malformed(_))));
}

#[test]
fn a_model_that_could_not_be_read_is_not_written() {
    let mut model = model(linear(GroupUse::Blind), &[1.0]);
    model.components[0].parameters[1] = f64::NAN;
    let message = model.to_json().unwrap_err().to_string();
    assert!(message.contains("parameter 2 of component 1 is NaN"), "{message}");
}

/// The values were computed by another program from the description alone.
#[test]
fn the_draw_of_a_query_will_never_change() {
    assert_eq!(uniform(0, ""), 0.5048676404714686);
    assert_eq!(uniform(0, "a"), 0.05164836548479734);
    assert_eq!(uniform(1, "a"), 0.6978778160474213);
    assert_eq!(uniform(7, "query 1"), 0.6463168606691252);
    assert_eq!(uniform(u64::MAX, "größe"), 0.5727775739771809);
}

#[test]
fn components_are_drawn_about_as_often_as_their_probability() {
    let probabilities = [0.1, 0.0, 0.3, 0.6];
    let model = model(linear(GroupUse::Blind), &probabilities);
    let queries = 20_000;
    for seed in [0, 1, 2, 12_345, u64::MAX] {
        let mut counts = [0_usize; 4];
        for query in 0..queries {
            counts[model.drawn(seed, &query.to_string())] += 1;
        }
        for (count, p) in counts.into_iter().zip(probabilities) {
            // Four and a half standard deviations of a binomial.
            let bound = 4.5 * (p * (1.0 - p) * f64::from(queries)).sqrt();
            assert!((count as f64 - p * f64::from(queries)).abs() <= bound, "seed {seed}, p {p}: {count}");
        }
    }
    // Two seeds agree as often as independent draws do.
    let agree =
        (0..queries).filter(|q| model.drawn(1, &q.to_string()) == model.drawn(2, &q.to_string())).count();
    let p = 0.01 + 0.09 + 0.36;
    let bound = 4.5 * (p * (1.0 - p) * f64::from(queries)).sqrt();
    assert!((agree as f64 - p * f64::from(queries)).abs() <= bound, "{agree}");
}

#[test]
fn all_rows_of_a_query_see_one_scorer_whatever_the_order_and_the_other_rows() {
    for shape in shapes() {
        let model = model(shape, &[0.5, 0.5]);
        let rows = 300;
        let values = (0..rows * 4).map(|i| (i as f64).sin()).collect();
        let codes = (0..rows).map(|row| (row % 3) as u16).collect();
        let features = Features::new(rows, 4, values).unwrap().with_codes(codes).unwrap();
        let names: Vec<String> = (0..40).map(|query| format!("q{query}")).collect();
        let queries: Vec<u32> =
            (0..rows as u32).map(|row| if row % 41 == 40 { MISSING } else { row * 7 % 41 % 40 }).collect();

        let rows_of = |features: &Features| ScoreRows::new(features.clone());
        let scored = ScoreRows { queries: Some((&queries, &names)), ..rows_of(&features) };
        let scores = model.score(&scored, 3).unwrap();
        let mut used = [0; 2];
        for row in 0..rows {
            let name = names.get(queries[row] as usize).map_or("", |name| name);
            let drawn = model.drawn(3, name);
            used[drawn] += 1;
            let mut expected = [0.0];
            let alone = features.select(&[row as u32]);
            model.architecture.score(&model.components[drawn].parameters, &alone, &mut expected);
            assert_eq!(scores[row].to_bits(), expected[0].to_bits());
        }
        assert!(used.iter().all(|&count| count > 50), "{used:?}");

        // The same queries under other codes and in another order.
        let reversed: Vec<u32> = (0..rows as u32).rev().collect();
        let names: Vec<String> = names.into_iter().rev().collect();
        let queries: Vec<u32> =
            queries.iter().rev().map(|&code| if code == MISSING { MISSING } else { 39 - code }).collect();
        let scored = ScoreRows { queries: Some((&queries, &names)), ..rows_of(&features.select(&reversed)) };
        let mut again = model.score(&scored, 3).unwrap();
        again.reverse();
        assert_eq!(again, scores);
    }
}

#[test]
fn without_queries_the_whole_table_sees_one_scorer() {
    let model = model(linear(GroupUse::Blind), &[0.5, 0.5]);
    let features = Features::new(50, 4, (0..200).map(f64::from).collect()).unwrap();
    let mut seen = [false; 2];
    for seed in 0..20 {
        let scores = model.score(&ScoreRows::new(features.clone()), seed).unwrap();
        let drawn = model.drawn(seed, "");
        seen[drawn] = true;
        let mut expected = vec![0.0; 50];
        model.architecture.score(&model.components[drawn].parameters, &features, &mut expected);
        assert_eq!(scores, expected);
    }
    assert_eq!(seen, [true; 2]);
}

#[test]
fn features_and_queries_that_do_not_fit_a_model_are_refused() {
    let aware = model(linear(GroupUse::Offsets { groups: 2 }), &[1.0]);
    let features = Features::new(1, 4, vec![0.0; 4]).unwrap();
    let rows = ScoreRows::new(features);
    assert_eq!(aware.score(&rows, 0), Err(ModelError::Scorer(ScorerError::NoGroups)));
    let blind = model(linear(GroupUse::Blind), &[1.0]);
    let rows = ScoreRows { queries: Some((&[0, 0], &[])), ..rows };
    assert_eq!(blind.score(&rows, 0), Err(ModelError::Queries { found: 2, rows: 1 }));
    let narrow = Features::new(1, 1, vec![0.0]).unwrap();
    let error = blind.score(&ScoreRows::new(narrow), 0).unwrap_err();
    assert!(error.to_string().contains("takes 4 features a row, but these have 1"), "{error}");
}

#[test]
fn what_is_done_after_scoring_is_in_every_score() {
    let names = || ["a".to_owned(), "b".to_owned()].into_iter();
    let curve = pairity::model::Curve { x: vec![-1.0, 1.0], y: vec![0.0, 5.0] };
    let offset = |name| GroupOffset { name, offset: 0.25 };
    let logistic = |name| GroupLogistic { name, alpha: 0.5, beta: -1.0, raw: false };
    let adjustments = [
        Adjustment::Offsets { groups: names().map(offset).collect() },
        Adjustment::Curves {
            groups: names().map(|name| GroupCurve { name, curve: curve.clone() }).collect(),
        },
        Adjustment::Logistic { center: 0.0, scale: 1.0, groups: names().map(logistic).collect() },
    ];
    let features = Features::new(3, 4, (0..12).map(|i| f64::from(i).sin()).collect()).unwrap();
    let groups = Groups::from_names(&["a", "b", "b"]);
    let rows = ScoreRows { groups: Some(&groups), ..ScoreRows::new(features) };
    let plain = model(linear(GroupUse::Blind), &[1.0]);
    let before = plain.score(&rows, 0).unwrap();
    assert_eq!(plain.expected(&rows).unwrap(), before);
    for adjustment in adjustments {
        let known = ModelGroups { columns: vec!["sex".into()], names: vec!["a".into(), "b".into()] };
        let after = Some(After::Adjusted(adjustment.clone()));
        let adjusted = Model { after, groups: Some(known), ..plain.clone() };
        let scores = adjusted.score(&rows, 0).unwrap();
        assert_ne!(scores, before);
        assert_eq!(scores, adjustment.apply(&before, Some(&groups)).unwrap().scores);
        assert_eq!(adjusted.expected(&rows).unwrap(), scores);
        let without = ScoreRows { groups: None, ..rows.clone() };
        assert_eq!(adjusted.expected(&without), Err(ModelError::NoGroups));
        // Of a mixture, the average of what is scored.
        let mut mixture = model(linear(GroupUse::Blind), &[0.25, 0.75]);
        (mixture.after, mixture.groups) = (adjusted.after.clone(), adjusted.groups.clone());
        let alone = |at: usize| {
            let component = Component { probability: 1.0, ..mixture.components[at].clone() };
            Model { components: vec![component], ..mixture.clone() }.score(&rows, 0).unwrap()
        };
        let (first, second) = (alone(0), alone(1));
        for (row, expected) in mixture.expected(&rows).unwrap().into_iter().enumerate() {
            assert!((expected - (0.25 * first[row] + 0.75 * second[row])).abs() < 1e-12);
        }
    }
    let ranked = Ranked { exposure: Exposure::Impact, utilities: Utilities::Range };
    let known = ModelGroups { columns: vec!["sex".into()], names: vec!["a".into(), "b".into()] };
    let ranked = Model { after: Some(After::Ranked(ranked)), groups: Some(known), ..plain };
    assert_eq!(ranked.expected(&rows), Err(ModelError::NoExpected));
    let names = ["q".to_owned()];
    let queried = ScoreRows { queries: Some((&[0, 0, 0], &names)), ..rows };
    let mut ranks = ranked.score(&queried, 3).unwrap();
    ranks.sort_by(f64::total_cmp);
    assert_eq!(ranks, [-3.0, -2.0, -1.0]);
}
