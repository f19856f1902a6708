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
