//! Where tables come from: folders, patterns, several files, pipes; and how far reading is.

use std::fs;
use std::sync::Mutex;

use super::{message, numbers, read_path, texts, write};
use pairity_tables::{self as tables, AddColumns, Output, Selection, Source, Want};

#[test]
fn a_missing_file_is_named_with_the_cause() {
    let error = message(Source::parse("nowhere/people.csv"));
    assert!(error.starts_with("can't read nowhere/people.csv: No such file or directory"), "{error}");
    assert!(error.ends_with("Check the path and that you may read it"), "{error}");
}

#[test]
fn a_folder_is_one_table_in_the_order_of_names() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "b.tsv", "group\tx\nnew\t3\nold\t4\n");
    write(folder.path(), "a.csv", "x,group\n1,old\n2,\n");
    write(folder.path(), ".hidden.csv", "broken");
    write(folder.path(), "notes.txt", "broken");
    fs::create_dir(folder.path().join("c.csv")).unwrap();
    let path = folder.path().to_str().unwrap();
    let table = read_path(path, &[Want::number("x"), Want::category("group")]).unwrap();
    assert_eq!(numbers(&table, "x"), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(texts(&table, "group"), ["old", "-", "new", "old"]);
    assert_eq!(table.column("group").unwrap().categories().unwrap().1, ["old", "new"]);
    assert_eq!(table.locate(2), format!("{}, data row 1", folder.path().join("b.tsv").display()));
}

#[test]
fn a_pattern_is_one_table_in_the_order_of_paths() {
    let folder = tempfile::tempdir().unwrap();
    for (name, x) in [("part-2.csv", 2), ("part-1.csv", 1), ("other.csv", 9), (".part-0.csv", 0)] {
        write(folder.path(), name, &format!("x\n{x}\n"));
    }
    let pattern = format!("{}/*part-*.csv", folder.path().display());
    assert_eq!(numbers(&read_path(&pattern, &[Want::number("x")]).unwrap(), "x"), [1.0, 2.0]);
    let named = write(folder.path(), "odd[1].csv", "x\n7\n");
    assert_eq!(
        numbers(&read_path(&named, &[Want::number("x")]).unwrap(), "x"),
        [7.0],
        "what exists is a file"
    );
}

#[test]
fn patterns_without_match_and_folders_without_tables_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "notes.txt", "hello");
    let path = folder.path().to_str().unwrap();
    let pattern = format!("{path}/*.parquet");
    let expected = format!("no file matches {pattern:?}. Check the pattern and the folder it starts from");
    assert_eq!(message(Source::parse(&pattern)), expected);
    let error = message(Source::parse(path));
    assert!(error.starts_with(&format!("no tables in the folder {path}: ")), "{error}");
    let error = message(Source::parse("data/[.csv"));
    assert!(error.starts_with("\"data/[.csv\" is not a file, and not a pattern either"), "{error}");
}

#[test]
fn several_paths_are_one_table_and_none_may_be_named_twice() {
    let folder = tempfile::tempdir().unwrap();
    let a = write(folder.path(), "a.csv", "x\n1\n");
    let b = write(folder.path(), "b.csv", "x\n2\n");
    let source = Source::parse_all(&[&b, &a]).unwrap();
    assert_eq!(source.names(), [&b, &a]);
    let table = tables::read(&source, &Selection::Columns(vec![Want::number("x")]), &|_, _| ()).unwrap();
    assert_eq!(numbers(&table, "x"), [2.0, 1.0]);
    let twice = |texts: &[&str]| message(Source::parse_all(texts));
    let problem = "so that its rows would count twice: name it once";
    assert_eq!(twice(&[&b, &a, &b]), format!("{b} is named twice, {problem}"));
    let whole = folder.path().to_str().unwrap();
    assert_eq!(twice(&[&b, whole]), format!("{b} is named twice, {problem}"));
    let dotted = format!("{whole}/./a.csv");
    assert_eq!(twice(&[&a, &dotted]), format!("{a} and {dotted} are one file, {problem}"));
    let link = folder.path().join("c.csv");
    fs::hard_link(&a, &link).unwrap();
    assert!(twice(&[whole]).contains(&format!("{a} and {} are one file", link.display())));
}

#[test]
fn a_file_that_changes_between_two_reads_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let changed = |change: &dyn Fn(&str)| {
        let path = write(folder.path(), "a.csv", "x\n1\n2\n");
        let source = Source::parse(&path).unwrap();
        let copy = AddColumns::plan(&source, &["score"], Output::csv()).unwrap();
        let selection = Selection::Columns(vec![Want::number("x")]);
        let scores = numbers(&tables::read(&source, &selection, &|_, _| ()).unwrap(), "x");
        change(&path);
        copy.write(&[&scores], "out.csv", &mut Vec::new(), &|_, _| ())
    };
    changed(&|_| ()).unwrap();
    // Another file with as many rows takes the name.
    let error = message(changed(&|path| {
        let other = write(folder.path(), "other.csv", "x\n3\n4\n");
        fs::rename(other, path).unwrap();
    }));
    assert!(error.contains("a.csv changed while it was read: start again"), "{error}");
    // The same file with another size.
    let error = message(changed(&|path| fs::write(path, "x\n10\n2\n").unwrap()));
    assert!(error.contains("a.csv changed while it was read"), "{error}");
}

#[test]
fn every_file_needs_the_wanted_columns() {
    let folder = tempfile::tempdir().unwrap();
    let a = write(folder.path(), "a.csv", "x,y\n1,2\n");
    let b = write(folder.path(), "b.csv", "x,z\n1,2\n");
    let source = Source::parse_all(&[&a, &b]).unwrap();
    let error = message(tables::read(&source, &Selection::Columns(vec![Want::number("y")]), &|_, _| ()));
    assert!(error.starts_with(&format!("no column \"y\" in {b}")), "{error}");
    let error = message(tables::read(&source, &Selection::All { overrides: vec![] }, &|_, _| ()));
    assert!(error.starts_with(&format!("no column \"z\" in {a}")), "{error}");
    assert_eq!(tables::column_names(&source).unwrap(), ["x", "y", "z"]);
}

#[test]
fn a_kind_is_inferred_over_all_files() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.csv", "x,y\n1,01\n");
    write(folder.path(), "b.csv", "x,y\n");
    write(folder.path(), "c.csv", "x,y\n2,b\n");
    let source = Source::parse(folder.path().to_str().unwrap()).unwrap();
    let table = tables::read(&source, &Selection::All { overrides: vec![] }, &|_, _| ()).unwrap();
    assert_eq!(numbers(&table, "x"), [1.0, 2.0]);
    assert_eq!(texts(&table, "y"), ["01", "b"]);
    assert!(table.locate(1).ends_with("c.csv, data row 1"), "a file without rows among others is fine");
}

#[test]
fn progress_grows_in_steps_up_to_the_size() {
    let mut text = String::from("a,b\n");
    while text.len() < 5 << 20 {
        text.push_str("12345.678,some text in the second column\n");
    }
    text.push_str("late,\n");
    let size = text.len() as u64;
    let told = Mutex::new(Vec::new());
    let source = Source::from_reader("x.csv", text.as_bytes()).unwrap();
    let progress = |bytes: u64, total: Option<u64>| told.lock().unwrap().push((bytes, total.unwrap()));
    tables::read(&source, &Selection::Columns(vec![Want::category("b")]), &progress).unwrap();
    let one_pass = std::mem::take(&mut *told.lock().unwrap());
    assert!((4..=8).contains(&one_pass.len()), "{one_pass:?}");
    assert!(one_pass.is_sorted());
    assert_eq!(one_pass.last(), Some(&(size, size)));
    tables::read(&source, &Selection::Columns(vec![Want::infer("a")]), &progress).unwrap();
    let two_passes = told.lock().unwrap();
    assert!(two_passes.is_sorted());
    assert_eq!(two_passes.last(), Some(&(2 * size, 2 * size)));
}

#[test]
fn a_stream_that_fails_is_an_error() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the pipe is gone"))
        }
    }
    let error = message(Source::from_reader("standard input", Broken));
    assert!(error.starts_with("can't read standard input: the pipe is gone"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_pipe_can_be_inferred_over_although_it_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::write(pipe, "a\n01\nx\n")
    });
    let table = read_path(pipe.to_str().unwrap(), &[Want::infer("a")]).unwrap();
    writer.join().unwrap().unwrap();
    assert_eq!(texts(&table, "a"), ["01", "x"]);
}
