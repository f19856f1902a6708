//! `pairity demo`, which needs nothing.

use super::{pairity, run};
use serde_json::Value;

#[test]
fn the_demo_closes_a_gap_that_the_overall_number_hides() {
    let outcome = run(pairity().arg("demo"));
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    for words in ["unconstrained", "constrained", "robust", "A[1 > 0]", "cross_group", "What to run next"] {
        assert!(outcome.out.contains(words), "{words}: {}", outcome.out);
    }
}

#[test]
fn the_demo_trains_what_its_population_allows() {
    let json = run(pairity().args(["demo", "--format", "json", "--seed", "7"])).json();
    let runs = json["runs"].as_array().unwrap();
    let [plain, fair, robust] = &runs[..] else { panic!("{json}") };
    let test = |run: &Value| {
        let accuracy = &run["test"]["accuracy"];
        let gap = accuracy[0][1].as_f64().unwrap() - accuracy[1][0].as_f64().unwrap();
        (run["test"]["auc"].as_f64().unwrap(), gap)
    };
    // Over tests of 1,250 queries the AUC of a scorer has a standard error of .004 to .006, and the gap of
    // a fair one an average size of .013; four times that is far beyond chance.
    let (auc, gap) = test(plain);
    assert!((auc - 0.922).abs() < 0.02 && gap > 0.15, "{auc} {gap}");
    let (auc, gap) = test(fair);
    assert!((0.83..0.90).contains(&auc) && gap.abs() < 0.052, "{auc} {gap}");
    let (auc, _) = test(robust);
    assert!((0.85..0.91).contains(&auc), "{auc}");
    assert!(fair["meets_goal"].as_bool().unwrap());
}
