//! Tables as users have them: text and Parquet files, folders, patterns, pipes.

mod adding;
mod adding_parquet;
mod columnar;
mod damaged;
mod delimited;
mod parts;
mod records;
mod round_trip;
mod sources;
mod stored;
mod svmlight;

use arrow_array::{ArrayRef, RecordBatch};
use pairity::examples::MISSING;
use pairity_tables::{self as tables, Selection, Source, Table, TableError, Want};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use std::fs;
use std::path::Path;

fn read_path(path: &str, wants: &[Want]) -> Result<Table, TableError> {
    tables::read(&Source::parse(path)?, &Selection::Columns(wants.to_vec()), &|_, _| ())
}

fn read(name: &str, bytes: impl AsRef<[u8]>, wants: &[Want]) -> Result<Table, TableError> {
    let source = Source::from_reader(name, bytes.as_ref())?;
    tables::read(&source, &Selection::Columns(wants.to_vec()), &|_, _| ())
}

fn read_all(name: &str, bytes: impl AsRef<[u8]>) -> Result<Table, TableError> {
    let source = Source::from_reader(name, bytes.as_ref())?;
    tables::read(&source, &Selection::All { overrides: Vec::new() }, &|_, _| ())
}

fn message<T>(result: Result<T, TableError>) -> String {
    match result {
        Ok(_) => panic!("no error"),
        Err(error) => error.to_string(),
    }
}

fn numbers(table: &Table, name: &str) -> Vec<f64> {
    table.column(name).and_then(|column| column.numbers()).expect("a column of numbers").to_vec()
}

/// The texts of a column of categories, `-` where missing.
fn texts(table: &Table, name: &str) -> Vec<String> {
    let (codes, levels) = table.column(name).and_then(|column| column.categories()).expect("categories");
    let text = |&code: &u32| if code == MISSING { "-".to_owned() } else { levels[code as usize].clone() };
    codes.iter().map(text).collect()
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A Parquet file with these columns.
fn parquet(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    parquet_with(columns, WriterProperties::default())
}

fn parquet_with(columns: Vec<(&str, ArrayRef)>, properties: WriterProperties) -> Vec<u8> {
    let batch = batch(columns);
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .unwrap()
}
