//! Where tables come from, and what is said when something is wrong.

use super::{HIRING, HIRING_COLUMNS, SMALL, SMALL_COLUMNS, audit, file, pairity, run};
use std::io::Read;
use std::process::Stdio;

#[test]
fn standard_input_and_a_file_give_the_same() {
    let (_folder, path) = file("small.csv", SMALL);
    let from_file =
        run(pairity().arg("audit").arg(path).args(SMALL_COLUMNS).args(["--format", "json"])).json();
    let mut from_input = audit(SMALL, &[&SMALL_COLUMNS[..], &["--format", "json"]].concat()).json();
    assert_eq!(from_input["notes"]["tables"], serde_json::json!(["standard input"]));
    from_input["notes"]["tables"] = from_file["notes"]["tables"].clone();
    assert_eq!(from_file, from_input);
}

#[test]
fn several_files_are_one_table() {
    let lines: Vec<&str> = SMALL.lines().collect();
    let (_first, one) = file("one.csv", &lines[..5].join("\n"));
    let (_second, two) = file("two.csv", &[&lines[..1], &lines[5..]].concat().join("\n"));
    let document =
        run(pairity().arg("audit").args([one, two]).args(SMALL_COLUMNS).args(["--format", "json"])).json();
    assert_eq!(document["rows"], 8);
    assert_eq!(document["queries"], 2);
    assert_eq!(document["notes"]["tables"].as_array().map(Vec::len), Some(2));
}

#[test]
fn svmlight_files_bring_their_label_and_their_queries() {
    let (_folder, path) = file("small.svm", "1 qid:1 1:0.9\n0 qid:1 1:0.2\n1 qid:2 1:0.1\n0 qid:2 1:0.3\n");
    let document = run(pairity().arg("audit").arg(path).args(["--score", "1", "--format", "json"])).json();
    assert_eq!(document["queries"], 2);
    assert_eq!(document["auc"]["value"], 0.5);
    assert_eq!(document["notes"]["columns"]["query"], "qid");
    let (_folder, path) = file("small.svm", "1 1:0.9\n0 1:0.2\n1 1:0.1\n");
    let document = run(pairity().arg("audit").arg(path).args(["--score", "1", "--format", "json"])).json();
    assert_eq!(document["queries"], 1);
    assert_eq!(document["auc"]["value"], 0.5);
}

#[test]
fn an_unknown_column_is_named_with_the_nearest_ones() {
    let outcome = run(pairity().arg("audit").arg(HIRING).args(["--score", "scor", "--label", "label"]));
    let message = outcome.refusal();
    assert!(message.contains("no column \"scor\"") && message.contains("\"score\""), "{message}");
}

#[test]
fn a_score_that_is_not_a_number_is_named_by_line_and_column() {
    let outcome = audit(&SMALL.replace("0.3", "NaN"), &SMALL_COLUMNS);
    let message = outcome.refusal();
    assert!(message.contains("standard input, line 7, column \"s\""), "{message}");
}

#[test]
fn a_negative_weight_is_named_by_file_row_and_column_though_rows_were_left_out_before() {
    let table = SMALL.replace("1,b,0,0.1,1", "1,b,,0.1,1").replace("0.6,1,", "0.6,-2.5,");
    let (_folder, path) = file("people.csv", &table);
    let name = path.display().to_string();
    let outcome = run(pairity().arg("audit").arg(path).args(SMALL_COLUMNS).args(["--weight", "w"]));
    let message = outcome.refusal();
    assert!(message.contains(&format!("{name}, line 8, column \"w\": weight is -2.5")), "{message}");
}

#[test]
fn a_table_in_which_every_row_lacks_something_is_refused() {
    let outcome = audit("y,s\n,1\n1,\n", &["--score", "s", "--label", "y"]);
    let message = outcome.refusal();
    assert!(message.contains("no row is left of the 2"), "{message}");
    assert!(message.contains("score is missing in 1, label is missing in 1"), "{message}");
}

#[test]
fn groups_that_no_row_has_and_too_many_groups_are_refused() {
    let outcome = audit("y,s,g\n1,1,\n0,0,\n", &["--score", "s", "--label", "y", "--group", "g"]);
    assert!(outcome.refusal().contains("no row belongs to a group"), "{}", outcome.err);
    let table: String = (0..201).map(|i| format!("{},{i},id{i}\n", i % 2)).collect();
    let outcome = audit(&format!("y,s,g\n{table}"), &["--score", "s", "--label", "y", "--group", "g"]);
    assert!(outcome.refusal().contains("column \"g\" has 201 groups"), "{}", outcome.err);
}

#[test]
fn weights_that_are_all_0_are_refused() {
    let outcome = audit("y,s,w\n1,1,0\n0,0,0\n", &["--score", "s", "--label", "y", "--weight", "w"]);
    assert!(outcome.refusal().contains("every weight in column \"w\" is 0"), "{}", outcome.err);
}

#[test]
fn wrong_arguments_exit_with_2() {
    let small = |more: &[&str]| [&SMALL_COLUMNS[..], more].concat().iter().map(|s| s.to_string()).collect();
    let cases: Vec<(Vec<String>, &str)> = vec![
        (vec![], "--score"),
        (small(&["--confidence", "1"]), "between 0 and 1"),
        (small(&["--confidence", "-0.5"]), "between 0 and 1"),
        (small(&["--threads", "0"]), "at least 1"),
        (small(&["--threads", "-2"]), "at least 1"),
        (small(&["--protected", "age"]), "cannot be used with"),
        (small(&["--average", "mean"]), "queries"),
        (small(&["--sed", "1"]), "--sed"),
        (vec!["--score".into(), "s".into()], "nothing to compare"),
        (
            ["--score", "s", "--group", "g", "--pair-weight", "label-gap"].map(String::from).to_vec(),
            "needs labels",
        ),
    ];
    for (arguments, words) in cases {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let outcome = audit(SMALL, &arguments);
        assert!(outcome.refusal().contains(words), "{arguments:?}: {}", outcome.err);
    }
    let outcome = run(pairity().args(["audit", "no-such-file.csv", "--score", "s", "--label", "y"]));
    assert!(outcome.refusal().contains("no-such-file.csv"), "{}", outcome.err);
    assert!(!run(pairity().arg("adit")).refusal().is_empty());
}

#[test]
fn help_has_an_example_for_every_command() {
    for command in ["audit", "score", "demo"] {
        let outcome = run(pairity().args([command, "--help"]));
        assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
        assert!(outcome.out.contains(&format!("\n  pairity {command}")), "{}", outcome.out);
    }
}

#[test]
fn a_reader_that_stops_early_is_no_error() {
    // More than a pipe holds, so that the writer notices.
    let table: String = (0..3000).map(|i| format!("{},{},g{}\n", i % 2, i * 7919 % 997, i % 21)).collect();
    let (_folder, path) = file("many.csv", &format!("y,s,g\n{table}"));
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("pairity"))
        .arg("audit")
        .arg(path)
        .args(["--score", "s", "--label", "y", "--group", "g", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut first = [0; 8];
    child.stdout.take().expect("a pipe").read_exact(&mut first).expect("some bytes");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn options_may_stand_before_the_table() {
    let outcome = run(pairity().arg("audit").args(HIRING_COLUMNS).arg(HIRING));
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
}

#[cfg(unix)]
#[test]
fn names_do_not_command_a_terminal() {
    let (_folder, path) = file("a\u{1b}[31m\u{7}.csv", "q\u{1b}]0;x\u{7},s,y\n1,2,3\n");
    for column in ["none", "q"] {
        let outcome = run(pairity().arg("audit").arg(&path).args(["--score", column, "--label", "y"]));
        let message = outcome.refusal();
        assert!(message.contains("a\\u{1b}[31m\\u{7}.csv"), "{message}");
        assert!(!message.contains(|c: char| c.is_control() && c != '\n'), "{message:?}");
    }
    let outcome = run(pairity().args(["audit", "no\u{1b}file", "--score", "s", "--label", "y"]));
    assert!(!outcome.refusal().contains('\u{1b}'), "{:?}", outcome.err);
}

#[test]
fn labels_that_floating_point_can_not_tell_apart_are_refused() {
    let table = |first: &str| format!("s,y\n1,{first}\n2,9007199254740992\n");
    let columns = ["--score", "s", "--label", "y"];
    let outcome = audit(&table("9007199254740993"), &columns);
    assert!(
        outcome.refusal().contains("column \"y\" has whole numbers beyond 2^53, such as 9007199254740993"),
        "{}",
        outcome.err
    );
    assert_eq!(audit(&table("9007199254740994"), &columns).code, 0);
}

#[test]
fn more_threads_than_cores_can_use_are_not_started() {
    let outcome = audit(SMALL, &[&SMALL_COLUMNS[..], &["--threads", "100000"]].concat());
    assert_eq!(outcome.code, 0);
    assert!(
        outcome.err.starts_with("note: --threads 100000 is more than these cores can use: "),
        "{}",
        outcome.err
    );
}

#[test]
fn a_comparison_that_was_cut_off_says_so() {
    let (_folder, path) = file("a.csv", SMALL);
    let mut command = pairity();
    command.arg("compare").arg(path).args([
        "--label",
        "y",
        "--query",
        "q",
        "--group",
        "g",
        "--features",
        "s,age",
    ]);
    command.args(["--split", "1,0,0", "--subject-to", "cross_group <= 0.5", "--methods", "constrained"]);
    let said = "time ran out before these were trained to their end";
    let cut = run(command.args(["--iterations", "50", "--time-limit", "0"]));
    assert!(cut.out.contains(said), "{}{}", cut.out, cut.err);
}
