//! Copies of Parquet files with columns added.

use super::adding::scored;
use super::{batch, message, numbers, parquet, read_all, texts};
use arrow_array::builder::{Int32Builder, ListBuilder};
use arrow_array::types::Int32Type;
use arrow_array::*;
use arrow_schema::{DataType, TimeUnit};
use bytes::Bytes;
use pairity_tables::{self as tables, Selection, Source, TableError, Want};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::sync::Arc;

/// The arrays of a file in one piece, with their names.
fn arrays(bytes: Vec<u8>) -> RecordBatch {
    let builder = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes)).unwrap();
    let batches: Vec<RecordBatch> =
        builder.with_batch_size(1 << 20).build().unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(batches.len(), 1);
    batches[0].clone()
}

fn source(bytes: &[u8]) -> Source {
    Source::from_reader("a.parquet", bytes).unwrap()
}

/// Columns of many types, the last of which has no text.
fn columns() -> Vec<(&'static str, ArrayRef)> {
    let mut lists = ListBuilder::new(Int32Builder::new());
    lists.append_value([Some(1), None]);
    lists.append_null();
    lists.append_value([]);
    let decimals = Decimal128Array::from(vec![Some(123), None, Some(-5)]).with_precision_and_scale(20, 2);
    let instants = TimestampMillisecondArray::from(vec![Some(0), None, Some(86_400_000)]);
    let keys = Int32Array::from(vec![Some(0), None, Some(1)]);
    let names = Arc::new(StringArray::from(vec!["f", "m"]));
    vec![
        ("whole", Arc::new(Int64Array::from(vec![Some(9_007_199_254_740_993), None, Some(-1)]))),
        ("small", Arc::new(UInt8Array::from(vec![Some(255), None, Some(0)]))),
        ("single", Arc::new(Float32Array::from(vec![Some(0.1), None, Some(f32::NAN)]))),
        ("double", Arc::new(Float64Array::from(vec![Some(1e300), None, Some(-0.0)]))),
        ("flag", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("text", Arc::new(StringArray::from(vec![Some(" a, \"b\"\n"), None, Some("NA")]))),
        ("day", Arc::new(Date32Array::from(vec![Some(0), None, Some(1)]))),
        ("instant", Arc::new(instants.with_timezone("Europe/Berlin"))),
        ("money", Arc::new(decimals.unwrap())),
        ("sex", Arc::new(DictionaryArray::<Int32Type>::new(keys, names))),
        ("list", Arc::new(lists.finish())),
    ]
}

const SCORES: [f64; 3] = [0.1, f64::NAN, -1e-300];

#[test]
fn parquet_to_parquet_keeps_every_cell_and_type() {
    let before = batch(columns());
    let after = arrays(scored(&source(&parquet(columns())), "out.parquet", &SCORES).unwrap());
    let (score, others) = after.columns().split_last().unwrap();
    assert_eq!(others, before.columns());
    assert_eq!(after.schema().fields()[..others.len()], before.schema().fields()[..]);
    assert_eq!(after.schema().fields().last().unwrap().name(), "score");
    let expected: ArrayRef = Arc::new(Float64Array::from(vec![Some(0.1), None, Some(-1e-300)]));
    assert_eq!(score, &expected);
}

#[test]
fn parquet_to_text_writes_what_reads_back_as_the_same() {
    let mut columns = columns();
    columns.pop();
    let bytes = parquet(columns);
    let copy = String::from_utf8(scored(&source(&bytes), "out.csv", &SCORES).unwrap()).unwrap();
    let expected = "whole,small,single,double,flag,text,day,instant,money,sex,score\n\
        9007199254740993,255,0.1,1e300,true,\" a, \"\"b\"\"\n\",1970-01-01,1970-01-01T00:00:00Z,1.23,f,0.1\n\
        ,,,,,,,,,,\n\
        -1,0,NaN,-0,false,NA,1970-01-02,1970-01-02T00:00:00Z,-0.05,m,-1e-300\n";
    assert_eq!(copy, expected);
    let categories = ["whole", "small", "flag", "text", "day", "instant", "money", "sex"];
    let wants: Vec<Want> =
        categories.into_iter().map(Want::category).chain([Want::number("double")]).collect();
    let read =
        |source: &Source| tables::read(source, &Selection::Columns(wants.clone()), &|_, _| ()).unwrap();
    let csv = Source::from_reader("a.csv", copy.as_bytes()).unwrap();
    for (a, b) in read(&csv).columns().iter().zip(read(&source(&bytes)).columns()) {
        assert_eq!(format!("{a:?}"), format!("{b:?}"));
    }
}

#[test]
fn lists_have_no_text() {
    let error = message(scored(&source(&parquet(columns())), "out.csv", &SCORES));
    assert!(error.starts_with("a.parquet, column \"list\": a text file has no place"), "{error}");
}

fn write_files(folder: &std::path::Path, files: Vec<(&str, Vec<u8>)>) -> Source {
    for (name, bytes) in files {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
    Source::parse(folder.to_str().unwrap()).unwrap()
}

#[test]
fn several_parquet_files_are_one_in_the_order_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let x = |values: Vec<i32>| Arc::new(Int32Array::from(values)) as ArrayRef;
    let t = |values: Vec<&str>| Arc::new(StringArray::from(values)) as ArrayRef;
    let source = write_files(
        folder.path(),
        vec![
            ("1.parquet", parquet(vec![("x", x(vec![1])), ("t", t(vec!["a"]))])),
            ("2.parquet", parquet(vec![("t", t(vec!["b", "c"])), ("x", x(vec![2, 3]))])),
        ],
    );
    let after = arrays(scored(&source, "out.parquet", &[1.5, 2.5, 3.5]).unwrap());
    let expected = batch(vec![
        ("x", x(vec![1, 2, 3])),
        ("t", t(vec!["a", "b", "c"])),
        ("score", Arc::new(Float64Array::from(vec![1.5, 2.5, 3.5]))),
    ]);
    assert_eq!(after.columns(), expected.columns());

    // With a text file among them, cells are numbers or texts.
    std::fs::write(folder.path().join("3.csv"), "t,x\nd,4\n").unwrap();
    let source = Source::parse(folder.path().to_str().unwrap()).unwrap();
    let scores = [1.5, 2.5, 3.5, 4.5];
    let csv = scored(&source, "out.csv", &scores).unwrap();
    assert_eq!(String::from_utf8(csv).unwrap(), "x,t,score\n1,a,1.5\n2,b,2.5\n3,c,3.5\n4,d,4.5\n");
    let table = read_all("a.parquet", scored(&source, "out.parquet", &scores).unwrap()).unwrap();
    assert_eq!(numbers(&table, "x"), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(texts(&table, "t"), ["a", "b", "c", "d"]);
}

#[test]
fn types_that_differ_between_files_are_refused_and_text_takes_them() {
    let folder = tempfile::tempdir().unwrap();
    let source = write_files(
        folder.path(),
        vec![
            ("1.parquet", parquet(vec![("x", Arc::new(Int32Array::from(vec![1])))])),
            ("2.parquet", parquet(vec![("x", Arc::new(Float64Array::from(vec![2.5])))])),
        ],
    );
    match scored(&source, "out.parquet", &[0.0, 1.0]) {
        Err(error @ TableError::Other(_)) => {
            let error = error.to_string();
            assert!(error.contains("2.parquet, column \"x\": the type is Float64, but in "), "{error}");
            assert!(error.contains("1.parquet it is Int32. Give the files the same types"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    let csv = scored(&source, "out.csv", &[0.0, 1.0]).unwrap();
    assert_eq!(String::from_utf8(csv).unwrap(), "x,score\n1,0\n2.5,1\n");
}

#[test]
fn many_batches_keep_rows_and_numbers_together() {
    let rows = 20_000;
    let times = TimestampSecondArray::from_iter_values(0..rows);
    let bytes = parquet(vec![("x", Arc::new(times) as ArrayRef)]);
    let scores: Vec<f64> = (0..rows).map(|row| row as f64 / 7.0).collect();
    let after = arrays(scored(&source(&bytes), "out.parquet", &scores).unwrap());
    assert_eq!(after.column(0).data_type(), &DataType::Timestamp(TimeUnit::Second, None));
    let expected: ArrayRef = Arc::new(Float64Array::from(scores.clone()));
    assert_eq!(after.column(1), &expected);
    for wrong in [&scores[1..], &[&scores[..], &[1.0]].concat()] {
        assert!(message(scored(&source(&bytes), "out.parquet", wrong)).contains("but a.parquet has"));
    }
    let csv = scored(&source(&bytes), "out.csv", &scores).unwrap();
    assert_eq!(numbers(&read_all("a.csv", &csv).unwrap(), "score"), scores);
}
