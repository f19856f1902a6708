//! `pairity adjust`, on a table that has nothing but scores.

use super::{HIRING, HIRING_COLUMNS, Outcome, SMALL, SMALL_COLUMNS, file, pairity, run};

fn adjust_hiring(arguments: &[&str]) -> Outcome {
    run(pairity().arg("adjust").arg(HIRING).args(HIRING_COLUMNS).args(arguments))
}

const FAIR: [&str; 2] = ["--subject-to", "cross_group <= 0.02"];

#[test]
fn every_method_brings_the_gap_down_and_keeps_the_order_inside_groups() {
    for (method, goal) in [
        ("group-offset", "cross_group <= 0.02"),
        ("x-order", "cross_group <= 0.02"),
        ("kallus-zhou", "cross_group <= 0.1"),
        ("quantile-match", "statistical_parity <= 0.05"),
    ] {
        let outcome =
            adjust_hiring(&["--method", method, "--subject-to", goal, "--tune", "1", "--format", "json"]);
        assert!(outcome.code < 2, "{method}: {}", outcome.err);
        let json = outcome.json();
        assert_eq!((&json["schema"], &json["method"]), (&"pairity.adjust/1".into(), &method.into()));
        let part = &json["parts"]["tuned"];
        let gap = |when: &str| part[when]["constraints"][0]["metric"]["value"].as_f64().unwrap();
        assert!(gap("after") < 0.5 * gap("before"), "{method}: {part}");
        assert_eq!(json["status"] == "feasible", outcome.code == 0, "{method}");
        assert!(json["parts"]["test"].is_null());
    }
}

#[test]
fn a_shift_of_scores_changes_no_order_inside_a_group() {
    let (folder, path) = file("people.csv", SMALL);
    let out = folder.path().join("out.csv");
    let outcome = run(pairity().arg("adjust").arg(&path).args(SMALL_COLUMNS).args([
        "--subject-to",
        "statistical_parity <= 0.2",
        "--tune",
        "1",
        "-o",
        out.to_str().unwrap(),
    ]));
    assert!(outcome.code < 2, "{}", outcome.err);
    let text = std::fs::read_to_string(&out).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("q,g,y,s,w,age,adjusted"));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 8);
    let shift = |row: &Vec<&str>| row[6].parse::<f64>().unwrap() - row[3].parse::<f64>().unwrap();
    for group in ["a", "b"] {
        let shifts: Vec<f64> = rows.iter().filter(|row| row[1] == group).map(shift).collect();
        assert!(shifts.iter().all(|s| (s - shifts[0]).abs() < 1e-9), "{group}: {shifts:?}");
    }
}

#[test]
fn the_map_is_tested_on_rows_it_was_not_chosen_on() {
    let text = adjust_hiring(&FAIR).out;
    for words in ["Rows it was chosen on (", "Test rows (", "before", "after", "cross_group <= 0.02"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let again = adjust_hiring(&[&FAIR[..], &["--threads", "1"]].concat()).out;
    assert_eq!(text, again);
    assert_ne!(text, adjust_hiring(&[&FAIR[..], &["--seed", "1"]].concat()).out);
}

#[test]
fn what_does_not_apply_says_why_and_writes_nothing() {
    let (folder, path) = file("people.csv", SMALL);
    let out = folder.path().join("out.csv");
    let small = |arguments: &[&str]| {
        let columns = ["--score", "s", "--label", "y", "--query", "q"];
        let outcome = run(pairity()
            .arg("adjust")
            .arg(&path)
            .args(columns)
            .args(arguments)
            .args(["-o", out.to_str().unwrap()]));
        assert!(!out.exists(), "{arguments:?}");
        outcome.refusal().to_owned()
    };
    let none = small(&["--subject-to", "auc >= 0.5"]);
    assert!(none.contains("does not apply"), "{none}");
    let continuous = small(&["--protected", "age", "--subject-to", "continuous <= 0.1"]);
    assert!(continuous.contains("does not apply"), "{continuous}");
    let parity = small(&["--protected", "age", "--subject-to", "continuous_parity <= 0.1"]);
    assert!(parity.contains("does not apply"), "{parity}");
    let strength = small(&["--group", "g", "--subject-to", "auc >= 0.5", "--strength", "0.5"]);
    assert!(strength.contains("quantile-match"), "{strength}");
    let taken = small(&["--group", "g", "--subject-to", "auc >= 0.1", "--column", "age", "--tune", "1"]);
    assert!(taken.contains("--column"), "{taken}");
}

#[test]
fn a_saved_map_adjusts_new_rows_as_it_did_these() {
    // The good ones of group b, who are older, score too low.
    let (folder, path) = file("people.csv", &SMALL.replace("0.8", "0.15").replace("0.7", "0.25"));
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (more, words) in [
        (&["--group", "g", "--subject-to", "cross_group <= 0.3"][..], "a: score +0.0000"),
        (
            &["--group", "g", "--method", "kallus-zhou", "--subject-to", "cross_group <= 0.3"],
            "a: 1 / (1 + exp(",
        ),
        (
            &["--protected", "age", "--method", "attribute-slope", "--subject-to", "continuous <= 0.3"],
            "* attribute",
        ),
        (
            &["--protected", "age", "--method", "attribute-curve", "--subject-to", "continuous <= 0.3"],
            "where the attribute is",
        ),
    ] {
        let outputs =
            ["--tune", "1", "-o", &at("out.csv"), "--model-out", &at("map.json"), "--html", &at("page.html")];
        let columns = ["--score", "s", "--label", "y", "--query", "q"];
        let outcome = run(pairity().arg("adjust").arg(&path).args(columns).args(more).args(outputs));
        assert!(outcome.code < 2, "{}", outcome.err);
        assert!(
            outcome.out.contains(words) && outcome.out.contains("map.json NEW.csv --score adjusted"),
            "{}",
            outcome.out
        );
        assert!(std::fs::read_to_string(at("page.html")).unwrap().contains("Scores adjusted"));
        let scored = run(pairity().args([
            "score",
            &at("map.json"),
            path.to_str().unwrap(),
            "--score",
            "adjusted",
            "-o",
            &at("scored.csv"),
        ]));
        assert_eq!(scored.code, 0, "{}", scored.err);
        let last = |name: &str| -> Vec<f64> {
            let text = std::fs::read_to_string(at(name)).unwrap();
            text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect()
        };
        let (adjusted, scored) = (last("out.csv"), last("scored.csv"));
        assert_eq!(adjusted.len(), 8);
        let column = |text: &str| text.split(',').nth(3).unwrap().parse::<f64>().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.lines().skip(1).map(column).ne(adjusted.iter().copied()), "{adjusted:?}");
        assert!(adjusted.iter().zip(&scored).all(|(a, b)| (a - b).abs() < 1e-9), "{adjusted:?} {scored:?}");
    }
}

#[test]
fn rows_of_their_own_choose_and_test_the_map() {
    let (folder, path) = file("people.csv", SMALL);
    let other = folder.path().join("other.csv");
    std::fs::write(&other, SMALL.split_inclusive('\n').take(5).collect::<String>()).unwrap();
    let out = folder.path().join("out.csv");
    let adjust = |more: &[&str]| {
        let columns = ["--score", "s", "--label", "y", "--query", "q", "--group", "g", "--format", "json"];
        let goal = ["--subject-to", "cross_group <= 0.5", "-o", out.to_str().unwrap()];
        run(pairity().arg("adjust").arg(&path).args(columns).args(goal).args(more))
    };
    let other = other.to_str().unwrap();
    let rows = |more: &[&str]| {
        let json = adjust(more).json();
        assert_eq!(std::fs::read_to_string(&out).unwrap().lines().count(), 9);
        [&json["parts"]["tuned"]["rows"], &json["parts"]["test"]["rows"]].map(|rows| rows.as_u64())
    };
    assert_eq!(rows(&["--validation", other]), [Some(4), Some(8)]);
    assert_eq!(rows(&["--test", other]), [Some(8), Some(4)]);
    let third = folder.path().join("third.csv");
    std::fs::write(&third, SMALL).unwrap();
    let both = ["--validation", other, "--test", third.to_str().unwrap(), "--where", "age < 55"];
    assert_eq!(rows(&both), [Some(4), Some(7)]);
    let both = adjust(&["--test", other, "--tune", "0.5"]);
    assert!(both.code == 2 && both.err.contains("--tune"), "{}", both.err);
    let twice = adjust(&["--test", path.to_str().unwrap()]);
    assert!(twice.code == 2 && twice.err.contains("to choose the map on"), "{}", twice.err);
}
