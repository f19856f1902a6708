//! Scoring tables: the cells that come back, the numbers beside them, and what is said when something is
//! wrong.

use super::{Outcome, file, pairity, run};
use pairity::model::Model;
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

/// score = age + 10 [color = blue] + 100 [color = red], with an age of 50 where there is none.
pub fn document() -> Value {
    json!({
        "schema": "pairity.model/1",
        "version": "0.1.0",
        "architecture":
            {"kind": "linear", "width": 3, "intercept": false, "start": 1.0, "groups": {"use": "blind"}},
        "encoder": [
            {"kind": "number", "name": "age", "shift": 0.0, "scale": 1.0, "fill": 50.0, "indicator": false},
            {"kind": "category", "name": "color", "levels": ["blue", "red"], "missing": false},
        ],
        "groups": null,
        "query": "query",
        "components": [{"probability": 1.0, "snapshot": 42, "parameters": [1.0, 10.0, 100.0]}],
        "goal": {"maximize": "auc", "subject_to": []},
        "seed": 3,
        "status": "feasible",
    })
}

/// A folder with `model.json`.
pub fn folder_with(document: &Value) -> TempDir {
    let model = Model::from_json(&document.to_string()).expect("a model");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("model.json"), model.to_json().expect("JSON")).expect("a file");
    folder
}

/// Scores files of a folder, which the arguments name without their folder.
pub fn score_in(folder: &Path, arguments: &[&str]) -> Outcome {
    run(pairity().current_dir(folder).arg("score").arg("model.json").args(arguments))
}

/// The names in a folder.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect();
    names.sort();
    names
}

const PEOPLE: &str =
    "name,age,color\n\"Lovelace, Ada\",36,blue\n\"say \"\"hi\"\"\ntwice\",,red\n 007 ,1.5,\n";
const SCORED: &str = "name,age,color,score\n\"Lovelace, Ada\",36,blue,46\n\"say \"\"hi\"\"\ntwice\",,red,150\n 007 ,1.5,,1.5\n";

#[test]
fn a_table_comes_back_with_its_cells_and_a_score() {
    let folder = folder_with(&document());
    std::fs::write(folder.path().join("people.csv"), PEOPLE).unwrap();
    let outcome = score_in(folder.path(), &["people.csv", "-o", "scored.csv"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    assert_eq!(std::fs::read_to_string(folder.path().join("scored.csv")).unwrap(), SCORED);
    let expected = "Scores of people.csv by model.json\n\
        3 rows · added: \"score\" · written to scored.csv\n\
        Note: column \"age\": 1 row without a value, of which training had none\n\
        Note: column \"color\": 1 row without a value, of which training had none\n";
    assert_eq!(outcome.out, expected);
    assert_eq!(names(folder.path()), ["model.json", "people.csv", "scored.csv"]);
}

#[test]
fn an_existing_file_is_replaced_whole_and_the_column_has_the_name_asked_for() {
    let folder = folder_with(&document());
    std::fs::write(folder.path().join("people.csv"), PEOPLE).unwrap();
    std::fs::write(folder.path().join("scored.tsv"), "old".repeat(10_000)).unwrap();
    let arguments = ["--score", "risk", "people.csv", "-o", "scored.tsv", "--format", "json"];
    let document = score_in(folder.path(), &arguments).json();
    let expected =
        SCORED.replace("score", "risk").replace(',', "\t").replace("\"Lovelace\t Ada\"", "Lovelace, Ada");
    assert_eq!(std::fs::read_to_string(folder.path().join("scored.tsv")).unwrap(), expected);
    let expected = json!({
        "schema": "pairity.score/1",
        "model": "model.json",
        "tables": ["people.csv"],
        "output": "scored.tsv",
        "columns": ["risk"],
        "rows": 3,
        "seed": 3,
        "query": null,
        "queries": null,
        "rows_without_query": 0,
        "components": [{"probability": 1.0, "snapshot": 42, "queries": null, "rows": 3}],
        "rows_with_unknown_group": null,
        "notes": [
            {"kind": "missing_values", "column": "age", "rows": 1},
            {"kind": "missing_values", "column": "color", "rows": 1},
        ],
    });
    assert_eq!(document, expected);
}

#[test]
fn values_that_training_never_saw_are_scored_as_none_of_the_known_and_noted() {
    let folder = folder_with(&document());
    let table = "color,extra,age\ngreen,x,1\nred,y,2\ngreen,z,3\n";
    std::fs::write(folder.path().join("a.csv"), table).unwrap();
    let outcome = score_in(folder.path(), &["a.csv", "-o", "b.csv", "--format", "json"]);
    assert_eq!(
        outcome.json()["notes"],
        json!([{"kind": "unseen_values", "column": "color", "rows": 2, "different": 1, "values": ["green"]}])
    );
    let expected = "color,extra,age,score\ngreen,x,1,1\nred,y,2,102\ngreen,z,3,3\n";
    assert_eq!(std::fs::read_to_string(folder.path().join("b.csv")).unwrap(), expected);
    let text = score_in(folder.path(), &["a.csv", "-o", "b.csv"]).out;
    assert!(text.contains("2 rows with values not seen in training (\"green\")"), "{text}");
}

/// Runs that must be refused: the output does not appear, and one that is there is not touched.
fn refused(folder: &Path, arguments: &[&str], words: &[&str]) {
    let before = names(folder);
    let outcome = score_in(folder, arguments);
    let message = outcome.refusal();
    for word in words {
        assert!(message.contains(word), "{arguments:?}: {message}");
    }
    assert_eq!(names(folder), before, "{arguments:?}");
    assert_eq!(std::fs::read_to_string(folder.join("old.csv")).unwrap(), "old", "{arguments:?}");
}

#[test]
fn what_can_not_be_scored_is_refused_and_no_file_is_touched() {
    let folder = folder_with(&document());
    let path = folder.path();
    for (name, text) in [
        ("old.csv", "old"),
        ("people.csv", PEOPLE),
        ("no-age.csv", "ages,color\n1,red\n"),
        ("text.csv", "age,color\n1,red\nold,red\n"),
        ("scored.csv", "age,color, score \n1,red,2\n"),
        ("ragged.csv", "age,color\n1,red\n1\n"),
        ("empty.csv", "age,color\n"),
        ("more.csv", "age,color,more\n1,red,2\n"),
    ] {
        std::fs::write(path.join(name), text).unwrap();
    }
    let cases: [(&[&str], &[&str]); 15] = [
        (
            &["no-age.csv"],
            &["no column \"age\" in no-age.csv", "\"ages\"", "trained with the feature \"age\""],
        ),
        (&["text.csv"], &["text.csv, line 3, column \"age\": expected a number, found \"old\""]),
        (&["scored.csv"], &["scored.csv already has a column \"score\"", "with --score"]),
        (&["scored.csv", "--score", "age"], &["already has a column \"age\""]),
        (&["people.csv", "--score", " "], &["a name is needed"]),
        (&["ragged.csv"], &["ragged.csv, line 3"]),
        (&["empty.csv"], &["empty.csv has columns but no rows"]),
        (&["none.csv"], &["can't read none.csv"]),
        (&["people.csv", "more.csv"], &["no column"]),
        (&["people.csv", "--query", "job"], &["no column \"job\" in people.csv"]),
        (&["people.csv", "-o", "out.svm"], &["can't write a table to out.svm", ".csv, .tsv or .parquet"]),
        (&["people.csv", "-o", "out"], &["can't write a table to out:", ".csv, .tsv or .parquet"]),
        (&["people.csv", "-o", "none/out.csv"], &["can't write none/out.csv", "folder exists"]),
        (&["people.csv", "-o", "./people.csv"], &["./people.csv is read as a table", "another name"]),
        (&["people.csv", "--threads", "0"], &["at least 1"]),
    ];
    for (arguments, words) in cases {
        let given = arguments.contains(&"-o");
        refused(path, arguments, if given { words } else { &["error"] });
        if !given {
            refused(path, &[arguments, &["-o", "old.csv"]].concat(), words);
            refused(path, &[arguments, &["-o", "new.parquet"]].concat(), words);
        }
    }
}

#[test]
fn what_is_no_model_is_refused() {
    let folder = folder_with(&document());
    let path = folder.path();
    std::fs::write(path.join("people.csv"), PEOPLE).unwrap();
    std::fs::write(path.join("bytes.json"), b"\xff\xfe").unwrap();
    let mut other = document();
    other["schema"] = json!("pairity.model/9");
    std::fs::write(path.join("other.json"), other.to_string()).unwrap();
    let mut damaged = document();
    damaged["components"][0]["parameters"] = json!([1.0]);
    std::fs::write(path.join("damaged.json"), damaged.to_string()).unwrap();
    for (model, words) in [
        ("people.csv", ["people.csv: not a model file", "Give a file that training wrote"]),
        ("bytes.json", ["bytes.json: not a model file", "The model comes first"]),
        ("none.json", ["can't read the model none.json", "No such file"]),
        ("other.json", ["other.json: the schema is \"pairity.model/9\"", "another version of pairity"]),
        ("damaged.json", ["damaged.json: damaged model file", "Train the model again"]),
    ] {
        let outcome = run(pairity().current_dir(path).args(["score", model, "people.csv", "-o", "out.csv"]));
        let message = outcome.refusal();
        assert!(words.iter().all(|word| message.contains(word)), "{model}: {message}");
        assert!(!path.join("out.csv").exists());
    }
}

#[test]
fn a_score_that_is_not_finite_is_named_by_its_row() {
    let mut large = document();
    large["components"][0]["parameters"] = json!([1e308, 0.0, 0.0]);
    let folder = folder_with(&large);
    std::fs::write(folder.path().join("a.csv"), "age,color\n1,red\n1e10,red\n").unwrap();
    let outcome = score_in(folder.path(), &["a.csv", "-o", "b.csv"]);
    assert!(outcome.refusal().contains("a.csv, line 3: the score is inf"), "{}", outcome.err);
    large["encoder"][0]["scale"] = json!(1e-300);
    let folder = folder_with(&large);
    std::fs::write(folder.path().join("a.csv"), "age,color\n1,red\n1e10,red\n").unwrap();
    let outcome = score_in(folder.path(), &["a.csv", "-o", "b.csv"]);
    assert!(outcome.refusal().contains("a.csv, line 3: column \"age\""), "{}", outcome.err);
}

#[test]
fn models_that_see_the_group_read_its_columns() {
    let mut aware = document();
    // One offset for each group: f & old, m & young.
    aware["architecture"]["groups"] = json!({"use": "offsets", "groups": 2});
    aware["groups"] = json!({"columns": ["sex", "age"], "names": ["f & 20", "m & 30"]});
    aware["components"][0]["parameters"] = json!([1.0, 10.0, 100.0, 1000.0, 2000.0]);
    let folder = folder_with(&aware);
    let table = "sex,age,color\nf,20,red\nm,30,blue\nm,20,red\nf,,red\n,30,red\n";
    std::fs::write(folder.path().join("a.csv"), table).unwrap();
    let outcome = score_in(folder.path(), &["a.csv", "-o", "b.csv", "--format", "json"]);
    assert_eq!(outcome.json()["rows_with_unknown_group"], 1);
    let scored = std::fs::read_to_string(folder.path().join("b.csv")).unwrap();
    let scores: Vec<&str> = scored.lines().skip(1).map(|line| line.rsplit(',').next().unwrap()).collect();
    assert_eq!(scores, ["1120", "2040", "120", "150", "130"]);
    let text = score_in(folder.path(), &["a.csv", "-o", "b.csv"]).out;
    assert!(text.contains("Note: 1 row with a group not seen in training"), "{text}");
    std::fs::write(folder.path().join("c.csv"), "age,color\n1,red\n").unwrap();
    let outcome = score_in(folder.path(), &["c.csv", "-o", "d.csv"]);
    let message = outcome.refusal();
    assert!(
        message.contains("no column \"sex\" in c.csv") && message.contains("tells the groups"),
        "{message}"
    );
}

#[test]
fn a_model_that_training_wrote_scores_a_table() {
    let (folder, path) = file("people.csv", super::SMALL);
    let trained = run(pairity().current_dir(folder.path()).args([
        "train",
        "people.csv",
        "--label",
        "y",
        "--query",
        "q",
        "--group",
        "g",
        "--features",
        "s,age",
        "--split",
        "1,0,0",
        "--iterations",
        "20",
        "--step-size",
        "0.1",
        "-o",
        "model.json",
    ]));
    assert!(trained.code < 2, "{}", trained.err);
    let outcome = score_in(folder.path(), &[path.to_str().unwrap(), "-o", "scored.csv", "--expected"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    let scored = std::fs::read_to_string(folder.path().join("scored.csv")).unwrap();
    assert!(scored.starts_with("q,g,y,s,w,age,score,expected_score\n1,a,1,0.9,1,20,"), "{scored}");
    assert_eq!(scored.lines().count(), 9);
    let audited = run(pairity().current_dir(folder.path()).args([
        "audit",
        "scored.csv",
        "--score",
        "score",
        "--label",
        "y",
        "--query",
        "q",
        "--format",
        "json",
    ]));
    assert_eq!(audited.json()["auc"]["value"], 1.0);
}

#[test]
fn a_model_whose_adjustment_lost_its_groups_is_refused() {
    let mut model = document();
    model["groups"] = json!({"columns": ["color"], "names": ["blue", "red"]});
    let groups = json!([{"name": "blue", "offset": 0.0}, {"name": "red", "offset": 0.5}]);
    let adjusted = |groups: &Value| json!({"adjusted": {"kind": "offsets", "groups": groups}});
    model["after"] = adjusted(&groups);
    let folder = folder_with(&model);
    std::fs::write(folder.path().join("a.csv"), "age,color\n1,red\n").unwrap();
    std::fs::write(folder.path().join("old.csv"), "old").unwrap();
    assert_eq!(score_in(folder.path(), &["a.csv", "-o", "out.csv"]).code, 0);
    let renamed = json!([{"name": "blue", "offset": 0.0}, {"name": "Red", "offset": 0.5}]);
    for damaged in [json!([]), renamed] {
        model["after"] = adjusted(&damaged);
        std::fs::write(folder.path().join("model.json"), model.to_string()).unwrap();
        refused(folder.path(), &["a.csv", "-o", "new.csv"], &["which are not those of the model"]);
    }
}

#[test]
fn codes_with_leading_zeros_stay_whole_in_parquet() {
    let folder = folder_with(&document());
    let path = folder.path();
    std::fs::write(path.join("a.csv"), "id,age,color\n00501,1,red\n10001,2,blue\n").unwrap();
    assert_eq!(score_in(path, &["a.csv", "-o", "a.parquet"]).code, 0);
    assert_eq!(score_in(path, &["a.parquet", "-o", "b.csv", "--score", "again"]).code, 0);
    let text = std::fs::read_to_string(path.join("b.csv")).unwrap();
    assert_eq!(text, "id,age,color,score,again\n00501,1,red,101,101\n10001,2,blue,12,12\n");
}
