//! Verdicts and exit codes.

use super::{SMALL, SMALL_COLUMNS, audit, audit_hiring};

fn checked(check: &str, more: &[&str]) -> super::Outcome {
    audit_hiring(&[&["--check", check], more].concat())
}

fn verdict(outcome: &super::Outcome) -> String {
    let document: serde_json::Value = serde_json::from_str(&outcome.out).expect("JSON");
    document["checks"][0]["verdict"].as_str().expect("a verdict").to_owned()
}

#[test]
fn a_check_that_holds_exits_with_0() {
    let outcome = checked("auc >= 0.5", &["--format", "json"]);
    assert_eq!((outcome.code, verdict(&outcome).as_str(), outcome.err.as_str()), (0, "pass", ""));
}

#[test]
fn a_check_that_fails_exits_with_1_and_still_reports() {
    let outcome = checked("cross_group <= 0.1", &["--format", "json"]);
    assert_eq!((outcome.code, verdict(&outcome).as_str()), (1, "fail"));
    let outcome = checked("cross_group <= 0.1", &[]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.out.contains("FAIL           cross_group <= 0.1"), "{}", outcome.out);
}

#[test]
fn an_undecided_check_exits_with_0_and_warns_and_with_1_if_strict() {
    let outcome = checked("cross_group <= 0.28", &["--format", "json"]);
    assert_eq!((outcome.code, verdict(&outcome).as_str()), (0, "undecided"));
    assert!(
        outcome.err.starts_with("warning: the check cross_group <= 0.28 is undecided"),
        "{}",
        outcome.err
    );
    let outcome = checked("cross_group <= 0.28", &["--format", "json", "--strict"]);
    assert_eq!((outcome.code, verdict(&outcome).as_str(), outcome.err.as_str()), (1, "undecided", ""));
    let text = checked("cross_group <= 0.28", &[]).out;
    assert!(text.contains("0.28 is inside the interval"), "{text}");
}

#[test]
fn too_few_pairs_exit_with_3_and_say_how_many() {
    let outcome = checked("A[female > male] >= 0.1", &["--min-pairs", "100000", "--format", "json"]);
    assert_eq!((outcome.code, verdict(&outcome).as_str()), (3, "not_estimable"));
    assert!(outcome.out.contains("pairs, fewer than 100000"), "{}", outcome.out);
}

#[test]
fn a_group_without_pairs_exits_with_3_and_gives_the_reason() {
    let table = "g,y,s\na,1,0.9\na,0,0.1\na,1,0.5\na,0,0.3\nb,1,0.4\n";
    let columns = ["--score", "s", "--label", "y", "--group", "g"];
    let outcome = audit(table, &[&columns[..], &["--check", "A[a > b] >= 0.5"]].concat());
    assert_eq!(outcome.code, 3);
    assert!(outcome.out.contains("A[a > b] has no pairs"), "{}", outcome.out);
    assert!(outcome.out.contains("not estimable  A[a > b] >= 0.5"), "{}", outcome.out);
}

#[test]
fn a_check_of_groups_on_a_table_of_one_exits_with_3_and_says_so() {
    let table = "g,y,s\na,1,0.9\na,0,0.1\na,1,0.5\na,0,0.3\n";
    let columns = ["--score", "s", "--label", "y", "--group", "g", "--format", "json"];
    let gate = |check: &str| audit(table, &[&columns[..], &["--check", check]].concat());
    for check in ["cross_group <= 0.1", "auc - 2 * within_group >= 0.1", "max(marginal, symmetric) <= 1"] {
        let outcome = gate(check);
        assert_eq!((outcome.code, verdict(&outcome).as_str()), (3, "not_estimable"), "{check}");
        assert!(outcome.out.contains("compares groups, and \\\"a\\\" is the only one"), "{}", outcome.out);
    }
    assert!(gate("A[a > b] >= 0.1").refusal().contains("unknown group \"b\""));
    assert!(gate("cross_group <= ").refusal().contains("only one"));
}

#[test]
fn one_query_alone_has_values_without_intervals() {
    let table = SMALL.lines().take(5).collect::<Vec<_>>().join("\n");
    let outcome =
        audit(&table, &[&SMALL_COLUMNS[..], &["--check", "auc >= 0.5", "--format", "json"]].concat());
    assert_eq!(outcome.code, 3);
    let document = outcome.json();
    assert_eq!(document["queries"], 1);
    assert_eq!(document["auc"]["value"], 1.0);
    assert!(document["auc"]["low"].is_null() && document["auc"]["high"].is_null());
    assert!(document["auc"]["reason"].as_str().expect("a reason").contains("one query"));
    let text = audit(&table, &SMALL_COLUMNS).out;
    assert!(text.contains("no interval"), "{text}");
}

#[test]
fn a_failed_check_weighs_more_than_one_that_cannot_be_estimated() {
    let checks = ["--check", "A[female > male] >= 0.99", "--check", "S[female] >= 1", "--min-pairs", "400"];
    // 396 pairs of a better woman and a worse man are too few; all others are enough.
    let outcome = audit_hiring(&checks);
    assert_eq!(outcome.code, 3, "{}", outcome.out);
    let outcome = audit_hiring(&[&checks[..], &["--check", "auc >= 0.99"]].concat());
    assert_eq!(outcome.code, 1, "{}", outcome.out);
}

#[test]
fn several_checks_have_intervals_that_hold_together() {
    let json = |checks: &[&str]| {
        let each = checks.iter().flat_map(|check| ["--check", check]);
        audit_hiring(&each.chain(["--format", "json"]).collect::<Vec<_>>()).json()
    };
    let (alone, both) = (json(&["auc >= 0.5"]), json(&["auc >= 0.5", "cross_group <= 0.1"]));
    let (one, joint) = (&alone["checks"][0], &both["checks"][0]);
    assert_eq!((one["low"].clone(), one["confidence"].clone()), (alone["auc"]["low"].clone(), 0.95.into()));
    assert!(joint["low"].as_f64() < one["low"].as_f64() && one["high"].as_f64() < joint["high"].as_f64());
    // As much as an audit at 97.5% says of one.
    let higher = checked("auc >= 0.5", &["--confidence", "0.975", "--format", "json"]).json();
    for name in ["low", "high"] {
        let (a, b) = (joint[name].as_f64().unwrap(), higher["checks"][0][name].as_f64().unwrap());
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
    let text = audit_hiring(&["--check", "auc >= 0.5", "--check", "cross_group <= 0.1"]).out;
    assert!(text.contains("intervals of 97.5% each, so that all 2 hold together with 95%"), "{text}");
}

#[test]
fn numbers_that_overflow_are_refused_with_a_caret() {
    for check in ["auc / 1e-308 <= 1", "1e-200 * auc <= 1", "auc <= 1e300"] {
        let message = checked(check, &[]).refusal().to_owned();
        assert!(message.contains("the numbers here are too large or too small"), "{message}");
        assert!(message.contains("^^^") && message.contains("at most 1e100"), "{message}");
    }
}

#[test]
fn constant_weights_change_nothing_however_large_or_small() {
    let table = |weight: &str| {
        SMALL.lines().enumerate().fold(String::new(), |table, (row, line)| {
            table + line + "," + if row == 0 { "k" } else { weight } + "\n"
        })
    };
    let json = |weight: &str| {
        let more = ["--weight", "k", "--pair-weight", "k", "--format", "json"];
        audit(&table(weight), &[&SMALL_COLUMNS[..], &more].concat()).json()
    };
    let one = json("1");
    for weight in ["1e76", "1e160", "1e308", "1e-76", "1e-308"] {
        assert_eq!(json(weight)["auc"], one["auc"], "{weight}");
        assert_eq!(json(weight)["gaps"], one["gaps"], "{weight}");
    }
}

#[test]
fn a_check_that_cannot_be_read_is_refused_with_a_caret() {
    let outcome = checked("A[femal > male] >= 0.5", &[]);
    let message = outcome.refusal();
    assert!(message.contains("unknown group \"femal\""), "{message}");
    assert!(message.contains("  A[femal > male] >= 0.5\n    ^^^^^"), "{message}");
    assert!(message.contains("did you mean"), "{message}");
}

#[test]
fn checks_without_labels_exit_with_3_and_name_the_option() {
    let outcome = audit(SMALL, &["--score", "s", "--group", "g", "--check", "auc >= 0.5"]);
    assert_eq!(outcome.code, 3);
    assert!(outcome.out.contains("auc needs labels; name the label column with --label"), "{}", outcome.out);
}
