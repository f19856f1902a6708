//! Mixtures draw one scorer for each query, by its text and the seed.

use super::score::{document, folder_with, score_in};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;

const PROBABILITIES: [f64; 3] = [0.2, 0.5, 0.3];

/// Scorers that multiply the age by 1, 2 and 3.
fn mixture() -> Value {
    let mut document = document();
    document["components"] = PROBABILITIES
        .iter()
        .enumerate()
        .map(|(at, p)| json!({"probability": p, "snapshot": at, "parameters": [at as f64 + 1.0, 0.0, 0.0]}))
        .collect();
    document
}

/// Rows of queries `q0` to `q(n − 1)`, three each, the age of all being 1.
fn rows(queries: usize) -> Vec<String> {
    (0..3 * queries).map(|row| format!("q{},1,red\n", row % queries)).collect()
}

fn write(folder: &Path, name: &str, rows: &[String]) {
    std::fs::write(folder.join(name), format!("query,age,color\n{}", rows.concat())).unwrap();
}

/// The scores of each query, which must be the same in all its rows.
fn drawn(folder: &Path, name: &str) -> HashMap<String, f64> {
    let mut drawn = HashMap::new();
    for line in std::fs::read_to_string(folder.join(name)).unwrap().lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let score: f64 = cells[3].parse().unwrap();
        assert_eq!(*drawn.entry(cells[0].to_owned()).or_insert(score), score, "{line}");
    }
    drawn
}

#[test]
fn all_rows_of_a_query_see_one_scorer_in_any_order_and_beside_any_other_rows() {
    let folder = folder_with(&mixture());
    let path = folder.path();
    let mut all = rows(500);
    write(path, "a.csv", &all);
    assert_eq!(score_in(path, &["a.csv", "-o", "a-scored.csv"]).code, 0);
    all.reverse();
    all.truncate(700);
    write(path, "b.csv", &all);
    assert_eq!(score_in(path, &["b.csv", "-o", "b-scored.csv"]).code, 0);
    let (a, b) = (drawn(path, "a-scored.csv"), drawn(path, "b-scored.csv"));
    assert_eq!((a.len(), b.len()), (500, 500));
    assert_eq!(a, b);
    assert_eq!(score_in(path, &["a.csv", "-o", "c-scored.csv", "--seed", "3"]).code, 0);
    assert_eq!(a, drawn(path, "c-scored.csv"), "the default is the seed of the model");
    assert_eq!(score_in(path, &["a.csv", "-o", "d-scored.csv", "--seed", "4"]).code, 0);
    assert_ne!(a, drawn(path, "d-scored.csv"));
}

#[test]
fn scorers_are_drawn_as_often_as_their_probabilities_say() {
    const QUERIES: usize = 20_000;
    let folder = folder_with(&mixture());
    let path = folder.path();
    write(path, "a.csv", &rows(QUERIES));
    let summary = score_in(path, &["a.csv", "-o", "b.csv", "--format", "json"]).json();
    let drawn = drawn(path, "b.csv");
    for (at, p) in PROBABILITIES.into_iter().enumerate() {
        let count = drawn.values().filter(|&&score| score == at as f64 + 1.0).count();
        // Five standard deviations of a binomial count.
        let n = QUERIES as f64;
        assert!((count as f64 - n * p).abs() < 5.0 * (n * p * (1.0 - p)).sqrt(), "{at}: {count}");
        assert_eq!(summary["components"][at]["queries"], count);
        assert_eq!(summary["components"][at]["rows"], 3 * count);
    }
    assert_eq!(summary["queries"], QUERIES);
    assert_eq!(summary["query"], "query");
}

#[test]
fn a_mixture_needs_its_queries_and_any_column_can_be_them() {
    let folder = folder_with(&mixture());
    let path = folder.path();
    std::fs::write(path.join("a.csv"), "age,color,job\n1,red,x\n2,red,x\n2,red,\n").unwrap();
    let outcome = score_in(path, &["a.csv", "-o", "b.csv"]);
    let message = outcome.refusal();
    assert!(message.contains("no column \"query\" in a.csv"), "{message}");
    assert!(message.contains("mixture of 3 scorers and draws one for each query"), "{message}");
    assert!(message.contains("--query"), "{message}");
    let summary = score_in(path, &["a.csv", "-o", "b.csv", "--query", "job", "--format", "json"]).json();
    assert_eq!(summary["queries"], 1);
    assert_eq!(summary["rows_without_query"], 1);
    // Also one that is a feature, whose number is something else than its text.
    std::fs::write(path.join("c.csv"), "age,color\n1,red\n1.0,red\n").unwrap();
    let summary = score_in(path, &["c.csv", "-o", "d.csv", "--query", "age", "--format", "json"]).json();
    assert_eq!(summary["queries"], 2);
    let text = score_in(path, &["a.csv", "-o", "b.csv", "--query", "job"]).out;
    assert!(text.contains("a mixture of 3 scorers: each of 1 query in \"job\" drew one · seed 3"), "{text}");
    assert!(text.contains(" 1 query ") && text.contains(" 0 queries "), "{text}");
    assert!(text.contains("Note: 1 row without a query; such rows count as one query"), "{text}");
}

#[test]
fn a_mixture_without_queries_draws_once_for_the_table() {
    let mut model = mixture();
    model["query"] = Value::Null;
    let folder = folder_with(&model);
    let path = folder.path();
    write(path, "a.csv", &rows(50));
    let summary = score_in(path, &["a.csv", "-o", "b.csv", "--format", "json"]).json();
    assert_eq!(summary["queries"], Value::Null);
    let scores: Vec<f64> = drawn(path, "b.csv").into_values().collect();
    assert!(scores.iter().all(|&score| score == scores[0]));
    let text = score_in(path, &["a.csv", "-o", "b.csv"]).out;
    assert!(text.contains("there are no queries, so that one was drawn for all rows"), "{text}");
}

#[test]
fn the_expected_score_is_the_average_over_the_draws() {
    let folder = folder_with(&mixture());
    let path = folder.path();
    std::fs::write(path.join("a.csv"), "query,age,color\nx,10,red\n").unwrap();
    let arguments = ["a.csv", "-o", "b.csv", "--expected", "--score", "risk", "--format", "json"];
    let summary = score_in(path, &arguments).json();
    assert_eq!(summary["columns"], json!(["risk", "expected_risk"]));
    let text = std::fs::read_to_string(path.join("b.csv")).unwrap();
    let (header, row) = text.trim().split_once('\n').unwrap();
    assert_eq!(header, "query,age,color,risk,expected_risk");
    let expected: f64 = row.rsplit(',').next().unwrap().parse().unwrap();
    // 10 (0.2 · 1 + 0.5 · 2 + 0.3 · 3), each product and sum rounded.
    assert!((expected - 21.0).abs() <= 8.0 * f64::EPSILON * 21.0, "{expected}");
}

#[test]
fn the_bytes_do_not_depend_on_the_threads() {
    let folder = folder_with(&mixture());
    let path = folder.path();
    let rows: Vec<String> = (0..20_000).map(|row| format!("q{},0.{row},blue\n", row % 700)).collect();
    write(path, "a.csv", &rows);
    for extension in ["csv", "parquet"] {
        let outputs = ["1", "2"].map(|threads| {
            let name = format!("b.{extension}");
            let outcome = score_in(path, &["a.csv", "-o", &name, "--expected", "--threads", threads]);
            (outcome.out, std::fs::read(path.join(name)).unwrap())
        });
        assert!(!outputs[0].1.is_empty());
        assert!(outputs[0] == outputs[1], "{extension}");
    }
}
