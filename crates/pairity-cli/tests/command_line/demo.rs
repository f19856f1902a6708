//! `pairity demo`, which needs nothing.

use super::{Outcome, pairity, run};
use serde_json::Value;
use tempfile::TempDir;

/// Runs the demo in a folder of its own, where it leaves its page.
fn demo(arguments: &[&str]) -> (Outcome, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (run(pairity().arg("demo").args(arguments).current_dir(folder.path())), folder)
}

#[test]
fn the_demo_closes_a_gap_that_the_overall_number_hides() {
    let (outcome, folder) = demo(&[]);
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    for words in ["unconstrained", "constrained", "robust", "A[1 > 0]", "cross_group", "What to run next"] {
        assert!(outcome.out.contains(words), "{words}: {}", outcome.out);
    }
    assert!(outcome.out.contains("pictures: pairity-demo.html\n"), "{}", outcome.out);
    let page = std::fs::read_to_string(folder.path().join("pairity-demo.html")).unwrap();
    assert!(page.contains("The constrained scorer closes the gap") && page.len() < 2_000_000);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_page_that_cannot_be_written_is_told_before_anything_is_trained() {
    let (outcome, folder) = demo(&["--html", "none/page.html"]);
    assert!(outcome.refusal().contains("there is no folder none"), "{}", outcome.err);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn the_demo_trains_what_its_population_allows() {
    let (outcome, folder) = demo(&["--format", "json", "--seed", "7", "--html", "seven.html"]);
    let json = outcome.json();
    assert!(folder.path().join("seven.html").is_file() && !folder.path().join("pairity-demo.html").exists());
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
