//! Tables from SVMlight files.

use super::{message, numbers, read, read_all};
use pairity::examples::Values;
use pairity_tables::{self as tables, Selection, Source, Table, Want};

fn names(table: &Table) -> Vec<&str> {
    table.columns().iter().map(|column| column.name.as_str()).collect()
}

#[test]
fn lines_with_a_query_give_label_query_and_features() {
    let text = "# a comment\n2 qid:10 1:0.5 3:-1e2 # doc 7\n\n0 qid:10 2:4\r\n1 qid:11 3:1 1:7\n";
    for name in ["x.svm", "x.libsvm", "standard input"] {
        let table = read_all(name, text).unwrap();
        assert_eq!(names(&table), ["label", "qid", "1", "2", "3"]);
        assert_eq!(numbers(&table, "label"), [2.0, 0.0, 1.0]);
        let (codes, levels) = table.column("qid").unwrap().categories().unwrap();
        assert_eq!((codes, levels), (&[0, 0, 1][..], &["10".to_owned(), "11".to_owned()][..]));
        assert_eq!(numbers(&table, "1"), [0.5, 0.0, 7.0], "features may come in any order");
        assert_eq!(numbers(&table, "2"), [0.0, 4.0, 0.0]);
        assert_eq!(numbers(&table, "3"), [-100.0, 0.0, 1.0]);
    }
}

#[test]
fn lines_without_a_query_give_label_and_features() {
    let table = read_all("x.svm", "+1 2:1\n-1 1:3\n-1\n").unwrap();
    assert_eq!(names(&table), ["label", "1", "2"]);
    assert_eq!(numbers(&table, "label"), [1.0, -1.0, -1.0]);
    assert_eq!(numbers(&table, "2"), [1.0, 0.0, 0.0]);
    let error = message(read("x.svm", "+1 2:1\n", &[Want::category("qid")]));
    assert_eq!(error, "no column \"qid\" in x.svm. The columns are: label, 1, 2");
}

#[test]
fn features_from_zero_on_are_all_columns() {
    let table = read_all("x.svm", "1 0:5 2:6\n").unwrap();
    assert_eq!(names(&table), ["label", "0", "1", "2"]);
}

#[test]
fn a_wanted_feature_that_no_line_lists_is_zero() {
    let table =
        read("x.svm", "1 1:2\n0 1:3\n", &[Want::number("46"), Want::category("9"), Want::number("1")])
            .unwrap();
    assert_eq!(numbers(&table, "46"), [0.0, 0.0]);
    assert_eq!(table.column("9").unwrap().categories().unwrap().1, ["0"]);
    assert_eq!(numbers(&table, "1"), [2.0, 3.0]);
    let error = message(read("x.svm", "1 1:2\n", &[Want::number("score")]));
    assert!(error.starts_with("no column \"score\" in x.svm"), "{error}");
}

#[test]
fn several_files_share_the_features_of_all() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.svm"), "1 1:1\n").unwrap();
    std::fs::write(folder.path().join("b.svm"), "0 3:1\n").unwrap();
    let source = Source::parse(&format!("{}/*.svm", folder.path().display())).unwrap();
    let table = tables::read(&source, &Selection::All { overrides: Vec::new() }, &|_, _| ()).unwrap();
    assert_eq!(names(&table), ["label", "1", "2", "3"]);
    assert_eq!(numbers(&table, "3"), [0.0, 1.0]);
}

#[test]
fn a_query_on_some_lines_only_is_an_error_with_the_line() {
    for (text, expected) in [
        (
            "1 qid:1 1:2\n# comment\n0 1:3\n",
            "x.svm, line 3: there is no qid, though the lines before have one.",
        ),
        ("1 1:2\n0 qid:1 1:3\n", "x.svm, line 2: there is a qid, though the lines before have none."),
    ] {
        let error = message(read("x.svm", text, &[Want::number("label")]));
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn broken_lines_are_named_by_line_and_by_what_was_expected() {
    for (line, expected) in [
        ("high 1:2", "expected a number as the label, found \"high\""),
        ("1 2", "expected a feature as index:value, found \"2\""),
        ("1 a:2", "expected a feature as index:value, found \"a:2\""),
        ("1 3:", "expected a feature as index:value, found \"3:\""),
        ("1 -1:2", "expected a feature as index:value, found \"-1:2\""),
        ("1 1:2 1:3", "feature 1 is given twice"),
    ] {
        let error = message(read("x.svm", format!("1 1:2\n{line}\n"), &[Want::number("1")]));
        assert_eq!(
            error,
            format!("x.svm, line 2: {expected}. An SVMlight line reads: label qid:7 1:0.5 3:2 # comment")
        );
    }
    let error = message(read("x.svm", "1 qid:a 1:2\n", &[Want::number("1")]));
    assert!(error.starts_with("x.svm, line 1: expected a whole number after qid:, found \"a\""), "{error}");
    for bad in ["x", "nan"] {
        let error = message(read("x.svm", format!("1 1:2\n0 1:{bad}\n"), &[Want::number("1")]));
        assert!(error.starts_with("x.svm, line 2, column \"1\": expected a "), "{error}");
    }
}

#[test]
fn a_file_too_wide_for_memory_asks_for_names() {
    let text = "1 1:1 4000000000:1\n";
    let error = message(read_all("x.svm", text));
    assert_eq!(
        error,
        "x.svm has 1 rows and feature numbers up to 4000000000: too large to hold every column. \
         Name the columns to read"
    );
    let table = read("x.svm", text, &[Want::number("4000000000")]).unwrap();
    assert_eq!(numbers(&table, "4000000000"), [1.0]);
}

#[test]
fn a_file_of_comments_is_an_empty_table() {
    let error = message(read_all("x.svm", "# nothing\n\n"));
    assert!(error.starts_with("empty table: x.svm has columns but no rows"), "{error}");
}

/// The features of a text, which may be sparse, and the same columns read as numbers.
fn two_ways(text: &str) -> (Table, Table) {
    let source = Source::from_reader("x.svm", text.as_bytes()).unwrap();
    let read = |selection| tables::read(&source, &selection, &|_, _| ()).unwrap();
    let overrides = vec![Want::number("label")];
    (read(Selection::Features { overrides: overrides.clone() }), read(Selection::All { overrides }))
}

#[test]
fn features_that_are_mostly_zero_stay_sparse_and_have_the_same_numbers() {
    // Feature 1 is on every line, 2 on every fifth, 3 on every third, 4 on none, 5 in the first rows alone.
    let line = |row: usize| {
        let value = row as f64 - 7.5;
        let mut line = format!("{} 1:{value}", row % 2);
        for (index, on) in [(2, row.is_multiple_of(5)), (3, row % 3 == 1), (5, row < 20), (6, row == 2999)] {
            if on {
                line += &format!(" {index}:{value}");
            }
        }
        line + "\n"
    };
    for rows in [10, 3000] {
        let text: String = (0..rows).map(line).collect();
        let (mut features, all) = two_ways(&text);
        assert_eq!(features.rows(), all.rows());
        let kinds: Vec<bool> =
            features.columns().iter().map(|column| matches!(column.values, Values::Sparse(_))).collect();
        match rows {
            10 => assert_eq!(kinds, [false, false, true, false, true, false]),
            _ => assert_eq!(kinds, [false, false, true, false, true, true, true]),
        }
        let some: Vec<u32> = (0..rows as u32).rev().step_by(3).collect();
        for (one, other) in features.columns().iter().zip(all.columns()) {
            let mut one = one.clone();
            one.make_dense();
            assert_eq!(&one, other);
        }
        features.keep(&some);
        let mut second = features.take("2").unwrap();
        second.make_dense();
        let expected: Vec<f64> = some.iter().map(|&row| numbers(&all, "2")[row as usize]).collect();
        assert_eq!(second.numbers(), Some(&expected[..]));
    }
}

#[test]
fn sparse_features_of_several_files_follow_each_other() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("a.svm", "1 1:1\n1 2:0.5\n0\n0\n0\n"), ("b.svm", "0\n0\n0\n1 3:7\n0 2:nan\n")] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let source = Source::parse(&format!("{}/*.svm", folder.path().display())).unwrap();
    let selection = Selection::Features { overrides: Vec::new() };
    let error = tables::read(&source, &selection, &|_, _| ()).unwrap_err().to_string();
    assert!(error.contains("b.svm, line 5, column \"2\""), "{error}");
    std::fs::write(folder.path().join("b.svm"), "0\n0\n0\n1 3:7\n0\n").unwrap();
    let source = Source::parse(&format!("{}/*.svm", folder.path().display())).unwrap();
    let table = tables::read(&source, &selection, &|_, _| ()).unwrap();
    let Values::Sparse(third) = &table.column("3").unwrap().values else { panic!("sparse") };
    assert_eq!((third.rows(), third.iter().collect::<Vec<_>>()), (10, vec![(8, 7.0)]));
}

#[test]
fn many_features_need_no_room_where_they_are_absent() {
    // One by one they would take 8 GB.
    let text: String = (0..10_000).map(|row| format!("{} {}:1\n", row % 2, 1 + row * 10)).collect();
    let source = Source::from_reader("x.svm", text.as_bytes()).unwrap();
    let table = tables::read(&source, &Selection::Features { overrides: Vec::new() }, &|_, _| ()).unwrap();
    assert_eq!(table.columns().len(), 1 + 9_999 * 10 + 1);
}
