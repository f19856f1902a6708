//! Tables read part by part hold the cells of tables read at once.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::{message, numbers, parquet_with, texts};
use arrow_array::*;
use pairity::examples::{Column, Values};
use pairity_tables::{self as tables, Selection, Source, Table, TableError, TableParts, Want, read_in_parts};
use parquet::file::metadata::ParquetMetaDataReader;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;

/// The parts of a table, of which none may leave a file behind.
fn parts(source: &Source, wants: &[Want], query: &[&str], rows: usize) -> Result<Vec<Table>, TableError> {
    let folder = tempfile::tempdir().unwrap();
    let parts = parts_in(folder.path(), source, wants, query, rows);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    parts
}

fn parts_in(
    folder: &Path,
    source: &Source,
    wants: &[Want],
    query: &[&str],
    rows: usize,
) -> Result<Vec<Table>, TableError> {
    let query: Vec<String> = query.iter().map(|&name| name.to_owned()).collect();
    let mut all = Vec::new();
    read_in_parts(source, wants, &query, &TableParts { rows, folder }, &|_, _| (), &mut |part| {
        all.push(part);
        Ok::<(), TableError>(())
    })?;
    Ok(all)
}

/// A cell: the bits of a number or a text, with its kind; nothing for a missing one.
fn cell(column: &Column, row: usize) -> (bool, Option<String>) {
    let text = match &column.values {
        Values::Numbers(numbers) => numbers[row].to_bits().to_string(),
        Values::Categories { codes, levels } => levels.get(codes[row] as usize).cloned().unwrap_or_default(),
        _ => panic!("no feature was asked for"),
    };
    (column.numbers().is_some(), (!column.is_missing(row)).then_some(text))
}

fn row_of(table: &Table, row: usize) -> Vec<(bool, Option<String>)> {
    table.columns().iter().map(|column| cell(column, row)).collect()
}

/// Compares parts with the table as it is read at once; returns the number of parts.
fn assert_same(source: &Source, wants: &[Want], query: &[&str], rows: usize) -> usize {
    let whole = tables::read(source, &Selection::Columns(wants.to_vec()), &|_, _| ()).unwrap();
    let parts = parts(source, wants, query, rows).unwrap();
    let mut found: Vec<Option<Vec<_>>> = vec![None; whole.rows()];
    let mut part_of: HashMap<Vec<_>, (usize, usize)> = HashMap::new();
    for (at, part) in parts.iter().enumerate() {
        assert!(part.rows() > 0);
        for row in 0..part.rows() {
            let number = part.number(row);
            assert_eq!(source.locate(part, row), source.locate(&whole, number));
            assert_eq!(part.locate(row), whole.locate(number));
            assert_eq!(found[number].replace(row_of(part, row)), None, "row {number} comes twice");
            let key: Vec<_> = query.iter().map(|name| cell(part.column(name).unwrap(), row).1).collect();
            if key.iter().all(Option::is_some) {
                let (before, last) = part_of.insert(key, (at, number)).unwrap_or((at, 0));
                assert_eq!(before, at, "row {number}: its query is in another part");
                assert!(last <= number, "row {number} comes after row {last} of its query");
            }
        }
        for column in part.columns() {
            let Some((codes, levels)) = column.categories() else { continue };
            let used = (0..levels.len() as u32).all(|code| codes.contains(&code));
            assert!(used, "levels without rows: {levels:?}");
        }
        assert_eq!(part.files(), whole.files());
    }
    for (number, row) in found.into_iter().enumerate() {
        assert_eq!(row, Some(row_of(&whole, number)), "row {number}");
    }
    parts.len()
}

/// A row of the tables below: the two columns of its query, a score, a group.
type Cells = (Option<u8>, Option<u8>, Option<i16>, Option<u8>);

fn csv(rows: &[Cells], late: &str) -> String {
    let mut text = String::from("q,score,r,group,late\n");
    let shown = |cell: Option<u8>, start: &str| cell.map_or(String::new(), |cell| format!("{start}{cell}"));
    for (at, &(q, r, score, group)) in rows.iter().enumerate() {
        let score = score.map_or(String::from("NA"), |score| (f64::from(score) / 7.0).to_string());
        let late = if at + 1 == rows.len() { late.to_owned() } else { at.to_string() };
        // Numbers that are written differently are equal.
        let r = shown(r, if at % 2 == 0 { "" } else { "+" });
        text += &format!("{},{score},{r},\"{}\",{late}\n", shown(q, " query "), shown(group, "g\n"));
    }
    text
}

fn parquet(rows: &[Cells], late: &str) -> Vec<u8> {
    let texts = |cells: &mut dyn Iterator<Item = Option<String>>| Arc::new(StringArray::from_iter(cells));
    let named = |cell: Option<u8>, start: &str| cell.map(|cell| format!("{start}{cell}"));
    let last = rows.len().saturating_sub(1);
    let late = |at: usize| Some(if at == last { late.to_owned() } else { at.to_string() });
    let scores = rows.iter().map(|row| row.2.map(|score| f64::from(score) / 7.0));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("q", texts(&mut rows.iter().map(|row| named(row.0, "query ")))),
        ("score", Arc::new(Float64Array::from_iter(scores))),
        ("r", Arc::new(UInt8Array::from_iter(rows.iter().map(|row| row.1)))),
        ("group", texts(&mut rows.iter().map(|row| named(row.3, "g\n")))),
        ("late", texts(&mut (0..rows.len()).map(late))),
    ];
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(5)).build();
    parquet_with(columns, properties)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn parts_hold_the_cells_of_the_table_and_never_tear_a_query(
        mut files in prop::collection::vec(
            (prop::collection::vec(any::<Cells>(), 0..40), any::<bool>()), 1..4),
        queries in 1..12_u8,
        order in 0..3_u8,
        rows in 1..30_usize,
        late in prop::sample::select(vec!["0.5", "word", "007", ""]),
    ) {
        for (q, r, ..) in files.iter_mut().flat_map(|(rows, _)| rows) {
            (*q, *r) = (q.map(|q| q % queries), r.map(|r| r % 3));
        }
        // Sorted within each file or not at all; sorted overall by the file.
        for (at, (rows, _)) in files.iter_mut().enumerate() {
            if order > 0 {
                rows.sort();
            }
            if order > 1 {
                rows.iter_mut().for_each(|(q, ..)| *q = q.map(|q| q + 20 * at as u8));
            }
        }
        prop_assume!(files.iter().any(|(rows, _)| !rows.is_empty()));
        let named = files.iter().enumerate().map(|(at, (rows, is_csv))| match is_csv {
            true => Source::from_reader(&format!("{at}.csv"), csv(rows, late).as_bytes()).unwrap(),
            false => Source::from_reader(&format!("{at}.parquet"), &parquet(rows, late)[..]).unwrap(),
        });
        let source = Source::chain(named.collect());
        let kinds = [Want::category, Want::number, Want::infer];
        for kind in kinds {
            let wants = [Want::infer("late"), Want::infer("group"), Want::number("score"), Want::category("q"), kind("r")];
            assert_same(&source, &wants, &["q"], rows);
            assert_same(&source, &wants, &["q", "r"], rows);
            assert_same(&source, &wants, &["r", "r"], rows);
        }
    }
}

#[test]
fn many_rows_cross_batches_and_come_in_about_as_many_as_asked_for() {
    let table = |query: fn(usize) -> usize| {
        let rows = (0..50_000).map(|row| format!("{},{row},{}\n", query(row), row % 13));
        let text = format!("q,x,g\n{}", rows.collect::<String>());
        Source::from_reader("x.csv", text.as_bytes()).unwrap()
    };
    let wants = [Want::category("q"), Want::number("x"), Want::category("g")];
    for (source, together) in [(table(|row| row / 7), true), (table(|row| row * 7919 % 7001), false)] {
        for rows in [1000, 20_000, 50_000] {
            let parts = parts(&source, &wants, &["q"], rows).unwrap();
            let sizes: Vec<usize> = parts.iter().map(Table::rows).collect();
            assert_eq!(sizes.iter().sum::<usize>(), 50_000);
            assert!(sizes.iter().all(|&size| size < rows + 7 || !together), "{sizes:?}");
            assert!(sizes.iter().all(|&size| size < 2 * rows), "{sizes:?}");
            assert!(parts.len() <= 2 * 50_000 / rows, "{} parts", parts.len());
            let mut queries: Vec<String> = Vec::new();
            for part in &parts {
                let mut own = texts(part, "q");
                own.sort();
                own.dedup();
                queries.extend(own);
                let same = |row: usize| numbers(part, "x")[row] == part.number(row) as f64;
                assert!([0, part.rows() / 2, part.rows() - 1].into_iter().all(same));
            }
            let all = queries.len();
            queries.sort();
            queries.dedup();
            assert_eq!(queries.len(), all, "a query is in two parts");
        }
    }
}

#[test]
fn svmlight_is_read_in_parts_as_well() {
    let lines = (0..100).map(|row| format!("{} qid:{} 1:{row} 3:0.5\n", row % 2, row * 7 % 10));
    let source = Source::from_reader("x.svm", lines.collect::<String>().as_bytes()).unwrap();
    for qid in [Want::infer, Want::number, Want::category] {
        let wants = [qid("qid"), Want::number("label"), Want::infer("2"), Want::infer("1")];
        assert!(assert_same(&source, &wants, &["qid"], 20) > 1);
    }
}

#[test]
fn errors_are_those_of_reading_at_once() {
    let query = |wants: &[Want]| vec![wants[0].name.clone()];
    let same = |text: &str, wants: &[Want]| {
        let source = Source::from_reader("x.csv", text.as_bytes()).unwrap();
        let whole = message(tables::read(&source, &Selection::Columns(wants.to_vec()), &|_, _| ()));
        let query = query(wants);
        assert_eq!(message(parts(&source, wants, &[&query[0]], 2)), whole);
        whole
    };
    let wants = [Want::category("q"), Want::number("x")];
    let error = same("q,x\na,1\nb,2\nb,2\nc,z\n", &wants);
    assert!(error.starts_with("x.csv, line 5, column \"x\": expected a number"), "{error}");
    same("q,x\na,1\nb,2\na,2\nc,z\n", &wants);
    same("q,x\na,1\nb,2\na,2\nc,\"3\n", &wants);
    same("q,x\na,1\nb,2\na,2\nc,inf\n", &[Want::category("q"), Want::infer("x")]);
    same("q,x\na,1\nb,2,3\n", &wants);
    same("q,x\na,1\nb,2\n", &[Want::category("q"), Want::number("y")]);
    same("q,x\na,1\nb,2\n", &[Want::category("r")]);
    same("q,x\n", &wants);
    same("q,x\n1,1\n", &[Want::number("q"), Want::category("q")]);

    let source = Source::from_reader("x.csv", &b"q,x\na,1\n"[..]).unwrap();
    let error = message(parts(&source, &wants[1..], &["q"], 2));
    assert_eq!(error, "the query column \"q\" is not among the columns to read. Add it to them");
}

#[test]
fn without_queries_rows_are_handed_out_as_they_come_and_know_their_places() {
    let file = |name: &str, text: &str| Source::from_reader(name, text.as_bytes()).unwrap();
    let source = Source::chain(vec![file("a.csv", "x\n1\n2\n3\n"), file("b.csv", "x\n4\n\n5\n6\n")]);
    let found = parts(&source, &[Want::number("x")], &[], 4).unwrap();
    let numbers: Vec<&[f64]> = found.iter().map(|part| part.columns()[0].numbers().unwrap()).collect();
    assert_eq!(numbers, [&[1.0, 2.0, 3.0, 4.0][..], &[5.0, 6.0]]);
    assert_eq!(source.locate(&found[0], 2), "a.csv, line 4");
    assert_eq!([0, 1].map(|row| source.locate(&found[1], row)), ["b.csv, line 4", "b.csv, line 5"]);
    let error = message(parts(&file("x.csv", "x\n1\nz\n"), &[Want::number("x")], &[], 4));
    assert!(error.starts_with("x.csv, line 3, column \"x\": expected a number"), "{error}");
    assert!(message(parts(&file("x.csv", "x\n"), &[Want::number("x")], &[], 4)).contains("x.csv"));
}

#[test]
fn an_error_of_the_one_who_takes_the_parts_ends_the_reading() {
    #[derive(Debug)]
    enum Stop {
        Table,
        Enough(usize),
    }
    impl From<TableError> for Stop {
        fn from(_: TableError) -> Stop {
            Stop::Table
        }
    }
    for (text, there) in [("q,x\na,1\nb,2\nc,3\n", 0), ("q,x\na,1\nb,2\na,3\n", 1)] {
        let folder = tempfile::tempdir().unwrap();
        let source = Source::from_reader("x.csv", text.as_bytes()).unwrap();
        let wants = [Want::category("q"), Want::number("x")];
        let (parts, mut taken) = (TableParts { rows: 1, folder: folder.path() }, 0);
        let result = read_in_parts(&source, &wants, &["q".into()], &parts, &|_, _| (), &mut |part| {
            taken += part.rows();
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), there);
            Err(Stop::Enough(taken))
        });
        assert!(matches!(result, Err(Stop::Enough(rows)) if rows == taken), "{result:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let missing = Source::from_reader("x.csv", &b"x\n1\n"[..]).unwrap();
        let result =
            read_in_parts(&missing, &wants, &["q".into()], &parts, &|_, _| (), &mut |_| Err(Stop::Enough(0)));
        assert!(matches!(result, Err(Stop::Table)), "{result:?}");
    }
}

#[test]
fn rows_that_a_killed_program_left_are_removed_and_those_of_another_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (left, other) = (path(".pairity-parts.1-0.partial"), path(".pairity-parts.2-0.partial"));
    fs::write(&left, "rows").unwrap();
    fs::write(&other, "rows").unwrap();
    let lock = fs::File::open(&other).unwrap();
    lock.lock().unwrap();
    let source = Source::from_reader("x.csv", &b"q\na\nb\na\n"[..]).unwrap();
    parts_in(folder.path(), &source, &[Want::category("q")], &["q"], 1).unwrap();
    assert!(!left.exists() && other.exists());
    let error = message(parts_in(&path("none"), &source, &[Want::category("q")], &["q"], 1));
    assert!(error.starts_with("can't write ") && error.contains("none"), "{error}");
}

#[test]
fn a_damaged_row_group_is_named() {
    let rows: Vec<Cells> = (0..12).map(|row| (Some(row), Some(0), Some(1), Some(2))).collect();
    let mut bytes = parquet(&rows, "1");
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&bytes::Bytes::from(bytes.clone())).unwrap();
    let (start, length) = metadata.row_group(1).column(1).byte_range();
    bytes[start as usize..(start + length) as usize].fill(0xff);
    let source = Source::from_reader("x.parquet", &bytes[..]).unwrap();
    let wants = [Want::category("q"), Want::number("score")];
    let error = message(parts(&source, &wants, &["q"], 3));
    assert!(error.starts_with("x.parquet can't be read as Parquet: row group 2 of 3: "), "{error}");
    assert_eq!(message(tables::read(&source, &Selection::Columns(wants.to_vec()), &|_, _| ())), error);
    // What is not damaged is read.
    assert_same(&source, &[Want::category("q"), Want::category("group")], &["q"], 3);
}

#[test]
fn progress_grows_to_its_end_in_every_way_of_reading() {
    for (query, passes) in [("0", 2), ("1", 3)] {
        let mut text = String::from("q,x\n");
        while text.len() < 3 << 20 {
            text.push_str("1,some text in the second column\n");
        }
        text.push_str("0,\n");
        text.push_str(&format!("{query},\n"));
        let size = passes * text.len() as u64;
        let source = Source::from_reader("x.csv", text.as_bytes()).unwrap();
        let told = Mutex::new(Vec::new());
        let progress = |bytes: u64, total: Option<u64>| told.lock().unwrap().push((bytes, total.unwrap()));
        let parts = TableParts { rows: 1000, folder: &std::env::temp_dir() };
        let wants = [Want::category("q"), Want::category("x")];
        let mut part = |_| Ok::<(), TableError>(());
        read_in_parts(&source, &wants, &["q".into()], &parts, &progress, &mut part).unwrap();
        let told = told.lock().unwrap();
        assert!(told.is_sorted() && told[0].1 >= 2 * text.len() as u64, "{told:?}");
        assert_eq!(told.last(), Some(&(size, size)));
    }
}
