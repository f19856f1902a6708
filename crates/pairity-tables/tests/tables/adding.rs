//! Copies of text files and of SVMlight files with columns added.

use super::{message, numbers, texts, write};
use pairity_tables::{self as tables, AddColumns, Output, Selection, Source, TableError, Want};
use proptest::prelude::*;
use std::path::Path;

/// A copy of a source with one column `score`.
pub fn scored(source: &Source, output: &str, scores: &[f64]) -> Result<Vec<u8>, TableError> {
    let mut out = Vec::new();
    AddColumns::plan(source, &["score"], Output::of(Path::new(output))?)?.write(
        &[scores],
        "out",
        &mut out,
        &|_, _| (),
    )?;
    Ok(out)
}

fn source(name: &str, text: &str) -> Source {
    Source::from_reader(name, text.as_bytes()).unwrap()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn cells_are_copied_as_they_are_and_quoted_where_needed() {
    let table =
        "\u{feff} name ,\"a, b\",x\r\n\"say \"\"hi\"\"\",\"two\nlines\", 007 \r\n\r\n\"plain\",,NA\r\n";
    let copy = text(scored(&source("a.csv", table), "out.csv", &[0.1, -2.0]).unwrap());
    assert_eq!(copy, " name ,\"a, b\",x,score\n\"say \"\"hi\"\"\",\"two\nlines\", 007 ,0.1\nplain,,NA,-2\n");
    let copy = text(scored(&source("a.csv", table), "out.tsv", &[f64::NAN, 1e300]).unwrap());
    assert_eq!(
        copy,
        " name \ta, b\tx\tscore\n\"say \"\"hi\"\"\"\t\"two\nlines\"\t 007 \t\nplain\t\tNA\t1e300\n"
    );
}

#[test]
fn bytes_that_are_not_utf8_are_copied_too() {
    let source = Source::from_reader("a.csv", &b"x,name\n1,Andr\xe9\n"[..]).unwrap();
    assert_eq!(scored(&source, "out.csv", &[3.0]).unwrap(), b"x,name,score\n1,Andr\xe9,3\n");
}

#[test]
fn tabs_and_semicolons_become_commas() {
    let copy = text(scored(&source("a.tsv", "a\tb\n1,5\t2\n"), "out.csv", &[0.0]).unwrap());
    assert_eq!(copy, "a,b,score\n\"1,5\",2,0\n");
    let copy = text(scored(&source("a.csv", "a;b\n1;2\n"), "out.csv", &[-0.0]).unwrap());
    assert_eq!(copy, "a,b,score\n1,2,-0\n");
}

#[test]
fn several_files_are_one_and_their_columns_are_matched_by_name() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "1.csv", "a, b\n1,x\n");
    write(folder.path(), "2.tsv", "b\ta\ny, z\t2\n");
    write(folder.path(), "3.csv", "a,b\n");
    write(folder.path(), "4.csv", "a,b\n4,w\n");
    let source = Source::parse(folder.path().to_str().unwrap()).unwrap();
    let copy = text(scored(&source, "out.csv", &[10.0, 20.0, 40.0]).unwrap());
    assert_eq!(copy, "a, b,score\n1,x,10\n2,\"y, z\",20\n4,w,40\n");
}

#[test]
fn files_with_other_columns_are_refused_and_equal_headers_may_repeat_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| write(folder.path(), name, text);
    let plan = |files: &[&str]| {
        let source = Source::parse_all(files)?;
        scored(&source, "out.csv", &[1.0, 2.0])
    };
    let a = path("a.csv", "x,y\n1,2\n");
    let b = path("b.csv", "x\n1\n");
    assert!(message(plan(&[&a, &b])).starts_with(&format!("no column \"y\" in {b}")));
    assert!(message(plan(&[&b, &a])).starts_with(&format!("no column \"y\" in {b}")));
    let twice = path("twice.csv", "x,y,x\n1,2,3\n");
    let again = path("again.csv", "x,y,x\n4,5,6\n");
    let other = path("other.csv", "y,x,x\n4,5,6\n");
    assert_eq!(text(plan(&[&twice, &again]).unwrap()), "x,y,x,score\n1,2,3,1\n4,5,6,2\n");
    for files in [[&twice, &other], [&twice, &a], [&a, &twice]] {
        let error = message(plan(&files.map(String::as_str)));
        assert!(error.contains("has 2 columns named \"x\". Rename"), "{error}");
    }
}

#[test]
fn a_name_in_use_is_refused_before_anything_is_written() {
    let table = source("a.csv", "x, score \n1,2\n");
    let error = message(AddColumns::plan(&table, &["score"], Output::csv()));
    assert_eq!(error, "a.csv already has a column \"score\". Choose another name for the new column");
    let error = message(AddColumns::plan(&table, &["new", "new"], Output::csv()));
    assert!(error.starts_with("the output already has a column \"new\""), "{error}");
}

#[test]
fn columns_of_another_length_are_refused() {
    let two = source("a.csv", "x\n1\n2\n");
    let svmlight = source("a.svm", "1 1:2\n0 1:3\n");
    for (table, output) in
        [(&two, "out.csv"), (&two, "out.parquet"), (&svmlight, "out.csv"), (&svmlight, "out.parquet")]
    {
        for scores in [&[1.0][..], &[1.0, 2.0, 3.0], &[]] {
            let error = message(scored(table, output, scores));
            let start = format!("the new column \"score\" has {} numbers, but a.", scores.len());
            assert!(error.starts_with(&start) && error.contains("Give one number a row"), "{error}");
        }
    }
    let copy = AddColumns::plan(&two, &["a", "b"], Output::csv()).unwrap();
    let write = |columns: &[&[f64]]| {
        let mut out = Vec::new();
        copy.write(columns, "out", &mut out, &|_, _| ()).map(|()| text(out))
    };
    assert!(message(write(&[&[1.0, 2.0], &[1.0]])).starts_with("the new column \"b\" has 1 numbers"));
    assert!(message(write(&[&[1.0, 2.0]])).starts_with("the new column \"b\" has 0 numbers"));
    assert_eq!(write(&[&[1.0, 2.0], &[3.0, 4.0], &[5.0]]).unwrap(), "x,a,b\n1,1,3\n2,2,4\n");
}

#[test]
fn an_output_that_fails_is_named() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is full"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let svmlight = source("a.svm", "1 1:2\n");
    for table in [source("a.csv", "x\n1\n"), svmlight] {
        for output in ["out.csv", "out.parquet"] {
            let copy = AddColumns::plan(&table, &["score"], Output::of(Path::new(output)).unwrap()).unwrap();
            let error = message(copy.write(&[&[1.0]], "out.csv", &mut Full, &|_, _| ()));
            let start = "can't write out.csv: the disk is full. Check that the folder exists";
            assert!(error.starts_with(start), "{error}");
        }
    }
}

#[test]
fn the_extension_tells_the_format() {
    let written = |name: &str| scored(&source("a.csv", "x\n1\n"), name, &[2.0]);
    assert_eq!(written("a/b.CSV").unwrap(), b"x,score\n1,2\n");
    assert_eq!(written("b.tab").unwrap(), b"x\tscore\n1\t2\n");
    assert!(written("b.parquet").unwrap().starts_with(b"PAR1"));
    for name in ["a.svm", "a.json", "a", ".csv"] {
        let error = message(written(name));
        assert!(
            error.starts_with(&format!("can't write a table to {name}: end the name in .csv")),
            "{error}"
        );
    }
}

#[test]
fn svmlight_becomes_text_with_every_feature() {
    let table = source("a.svm", "1 qid:7 1:0.5 3:2\n0 qid:8 2:1e-9 # x\n");
    let copy = text(scored(&table, "out.csv", &[1.5, 2.5]).unwrap());
    assert_eq!(copy, "label,qid,1,2,3,score\n1,7,0.5,0,2,1.5\n0,8,0,1e-9,0,2.5\n");
}

#[test]
fn text_becomes_numbers_and_texts_in_parquet_and_long_identifiers_stay_whole() {
    let csv = "x,long,large,name\n1.5,9007199254740993,1e300,Ada\n,3,2,\n";
    let bytes = scored(&source("a.csv", csv), "out.parquet", &[0.25, f64::NAN]).unwrap();
    let copy = Source::from_reader("a.parquet", &bytes[..]).unwrap();
    let all = Selection::All { overrides: vec![Want::category("long")] };
    let table = tables::read(&copy, &all, &|_, _| ()).unwrap();
    assert_eq!(numbers(&table, "x")[0], 1.5);
    assert!(numbers(&table, "x")[1].is_nan());
    assert_eq!(texts(&table, "long"), ["9007199254740993", "3"]);
    assert_eq!(numbers(&table, "large"), [1e300, 2.0]);
    assert_eq!(texts(&table, "name"), ["Ada", "-"]);
    assert_eq!(numbers(&table, "score")[0], 0.25);
    assert!(numbers(&table, "score")[1].is_nan());
}

#[test]
fn a_source_knows_its_files_by_any_path() {
    let folder = tempfile::tempdir().unwrap();
    let a = write(folder.path(), "a.csv", "x\n1\n");
    let b = write(folder.path(), "b.csv", "x\n1\n");
    let source = Source::parse(&a).unwrap();
    assert!(source.reads(Path::new(&a)));
    assert!(source.reads(&folder.path().join(".").join("a.csv")));
    assert!(!source.reads(Path::new(&b)));
    assert!(!source.reads(&folder.path().join("none.csv")));
}

/// Records as the text that a spreadsheet would write.
fn csv_text(records: &[Vec<String>], delimiter: char, all_quoted: bool) -> String {
    let mut text = String::new();
    for record in records {
        let cells: Vec<String> = record
            .iter()
            .map(|cell| {
                match all_quoted || cell.contains(['"', ',', '\t', '\n', '\r', ';']) || cell.is_empty() {
                    true => format!("\"{}\"", cell.replace('"', "\"\"")),
                    false => cell.clone(),
                }
            })
            .collect();
        text += &cells.join(&delimiter.to_string());
        text.push('\n');
    }
    text
}

/// The records of a text, by a reader that knows nothing of tables.
fn records(text: &[u8], delimiter: u8) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(text);
    reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
}

proptest! {
    #[test]
    fn arbitrary_cells_read_back_identically(
        cells in proptest::collection::vec(
            proptest::collection::vec("([a-c\"',;\t\n\r #é ]|NA){0,5}|\\PC{0,6}", 3),
            1..20,
        ),
        scores in proptest::collection::vec(any::<f64>().prop_filter("a number", |x| !x.is_nan()), 20),
        tabs in any::<bool>(),
        all_quoted in any::<bool>(),
    ) {
        let header: Vec<String> = ["a", "b, \"c\"", "d\ne"].map(String::from).to_vec();
        let rows: Vec<Vec<String>> = std::iter::once(header).chain(cells).collect();
        let (name, from) = if tabs { ("a.tsv", '\t') } else { ("a.csv", ',') };
        let table = csv_text(&rows, from, all_quoted);
        prop_assert_eq!(records(table.as_bytes(), from as u8), rows.clone());
        let scores = &scores[..rows.len() - 1];
        for (output, delimiter) in [("out.csv", b','), ("out.tsv", b'\t')] {
            let copy = scored(&source(name, &table), output, scores).unwrap();
            for ((copied, row), score) in records(&copy, delimiter).iter().skip(1).zip(&rows[1..]).zip(scores) {
                prop_assert_eq!(&copied[..3], &row[..]);
                prop_assert_eq!(copied[3].parse::<f64>().unwrap().to_bits(), score.to_bits());
            }
            prop_assert_eq!(records(&copy, delimiter).len(), rows.len());
            prop_assert_eq!(&records(&copy, delimiter)[0][..3], &rows[0][..]);
        }
    }
}
