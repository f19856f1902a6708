//! The demo.

use super::{pairity, run};

#[test]
fn the_demo_shows_a_gap_that_the_overall_number_hides() {
    let outcome = run(pairity().arg("demo"));
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    assert!(outcome.out.contains("cross_group gap of 0.2"), "{}", outcome.out);
    assert!(outcome.out.contains("pairity audit people.csv"), "{}", outcome.out);
}

#[test]
fn the_demo_measures_what_the_model_predicts() {
    let document = run(pairity().args(["demo", "--format", "json", "--quiet"])).json();
    assert_eq!(document["rows"], 55_000);
    assert_eq!(document["queries"], 5_000);
    // Values of the scorer [0.8, 0.6] by the normal distribution: Φ(w·(μ − μ') / sqrt(σ² + σ'²)).
    let expected = [[0.941_9, 0.982_8], [0.702_1, 0.882_0]];
    for (row, values) in expected.iter().enumerate() {
        for (column, value) in values.iter().enumerate() {
            let metric = &document["accuracy"][row][column];
            let (low, high) = (metric["low"].as_f64().expect("low"), metric["high"].as_f64().expect("high"));
            assert!(low - 0.01 < *value && *value < high + 0.01, "A[{row} > {column}]: {metric}");
        }
    }
    let auc = document["auc"]["value"].as_f64().expect("a value");
    assert!((auc - 0.922).abs() < 0.005, "{auc}");
}

#[test]
fn the_demo_depends_on_its_seed_and_not_on_threads() {
    let bytes = |arguments: &[&str]| run(pairity().arg("demo").args(arguments)).out;
    assert_eq!(bytes(&["--seed", "7", "--threads", "1"]), bytes(&["--seed", "7", "--threads", "2"]));
    assert_ne!(bytes(&["--seed", "7"]), bytes(&["--seed", "8"]));
}
