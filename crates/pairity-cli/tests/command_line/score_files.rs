//! Scoring from and to every kind of file.

use super::score::{document, folder_with, names, score_in};
use super::{pairity, run};
use pairity_tables::{self as tables, Selection, Source, Table};
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

fn read_all(path: &Path) -> Table {
    let source = Source::parse(path.to_str().unwrap()).unwrap();
    tables::read(&source, &Selection::All { overrides: Vec::new() }, &|_, _| ()).unwrap()
}

fn text(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn a_folder_of_files_becomes_one_table() {
    let folder = folder_with(&document());
    let path = folder.path();
    std::fs::create_dir(path.join("data")).unwrap();
    std::fs::write(path.join("data/1.csv"), "age,color,id\n1,red,a\n2,blue,b\n").unwrap();
    std::fs::write(path.join("data/2.tsv"), "id\tcolor\tage\nc\tred\t3\n").unwrap();
    assert_eq!(score_in(path, &["data", "-o", "out.csv"]).code, 0);
    assert_eq!(text(path, "out.csv"), "age,color,id,score\n1,red,a,101\n2,blue,b,12\n3,red,c,103\n");
    assert_eq!(score_in(path, &["data/2.tsv", "data/1.csv", "-o", "out.tsv"]).code, 0);
    assert_eq!(
        text(path, "out.tsv"),
        "id\tcolor\tage\tscore\nc\tred\t3\t103\na\tred\t1\t101\nb\tblue\t2\t12\n"
    );
    // An output among the inputs is found by the second run.
    assert_eq!(score_in(path, &["data", "-o", "data/3.csv"]).code, 0);
    let outcome = score_in(path, &["data", "-o", "data/3.csv", "--score", "again"]);
    assert!(outcome.refusal().contains("data/3.csv is read as a table"), "{}", outcome.err);
    assert_eq!(names(&path.join("data")), ["1.csv", "2.tsv", "3.csv"]);
}

#[test]
fn parquet_goes_in_and_out() {
    let folder = folder_with(&document());
    let path = folder.path();
    std::fs::write(path.join("a.csv"), "id,age,color\n7,1.5,red\n8,,blue\n9,2,\n").unwrap();
    assert_eq!(score_in(path, &["a.csv", "-o", "a.parquet"]).code, 0);
    assert_eq!(score_in(path, &["a.parquet", "-o", "b.parquet", "--score", "again"]).code, 0);
    assert_eq!(score_in(path, &["b.parquet", "-o", "c.csv", "--score", "third"]).code, 0);
    assert_eq!(
        text(path, "c.csv"),
        "id,age,color,score,again,third\n7,1.5,red,101.5,101.5,101.5\n8,,blue,60,60,60\n9,2,,2,2,2\n"
    );
    let (csv, parquet) = (read_all(&path.join("c.csv")), read_all(&path.join("b.parquet")));
    for column in parquet.columns() {
        let other = csv.column(&column.name).unwrap();
        assert_eq!(format!("{column:?}"), format!("{other:?}"));
    }
}

#[test]
fn svmlight_becomes_a_table() {
    let mut model = document();
    model["encoder"][0]["name"] = "1".into();
    model["encoder"][1]["name"] = "qid".into();
    let folder = folder_with(&model);
    let path = folder.path();
    std::fs::write(path.join("a.svm"), "1 qid:5 1:2.5 2:1\n0 qid:6 2:7\n").unwrap();
    assert_eq!(score_in(path, &["a.svm", "-o", "a.csv"]).code, 0);
    assert_eq!(text(path, "a.csv"), "label,qid,1,2,score\n1,5,2.5,1,2.5\n0,6,0,7,0\n");
    std::fs::write(path.join("wide.svm"), "1 qid:5 1:2.5 999999999:1\n").unwrap();
    let outcome = score_in(path, &["wide.svm", "-o", "b.csv"]);
    assert!(outcome.refusal().contains("too large to be written with every column"), "{}", outcome.err);
}

#[test]
fn standard_input_and_output_make_a_pipe() {
    let folder = folder_with(&document());
    let table = "age,color\n1,red\n2,\"a,b\"\n";
    let outcome = run(pairity()
        .current_dir(folder.path())
        .args(["score", "model.json", "-", "-o", "-"])
        .write_stdin(table));
    assert_eq!((outcome.code, outcome.out.as_str()), (0, "age,color,score\n1,red,101\n2,\"a,b\",2\n"));
    assert!(
        outcome.err.contains("2 rows · added: \"score\" · written to standard output"),
        "{}",
        outcome.err
    );
    let outcome = run(pairity()
        .current_dir(folder.path())
        .args(["score", "model.json", "-", "-o", "-", "--format", "json"])
        .write_stdin(table));
    let summary: serde_json::Value = serde_json::from_str(&outcome.err).unwrap();
    assert_eq!(summary["tables"], serde_json::json!(["standard input"]));
    assert!(outcome.out.starts_with("age,color,score\n"));
    let outcome = run(pairity()
        .current_dir(folder.path())
        .args(["score", "model.json", "-", "-o", "-"])
        .write_stdin("age\n1\n"));
    assert!(outcome.refusal().contains("no column \"color\" in standard input"), "{}", outcome.err);
}

#[test]
fn a_reader_of_the_scores_that_stops_early_is_no_error() {
    let folder = folder_with(&document());
    let rows: String = (0..100_000).map(|i| format!("{i},red\n")).collect();
    std::fs::write(folder.path().join("many.csv"), format!("age,color\n{rows}")).unwrap();
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("pairity"))
        .current_dir(folder.path())
        .args(["score", "model.json", "many.csv", "-o", "-", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut first = [0; 8];
    child.stdout.take().expect("a pipe").read_exact(&mut first).expect("some bytes");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert!(serde_json::from_slice::<serde_json::Value>(&output.stderr).is_ok());
}
