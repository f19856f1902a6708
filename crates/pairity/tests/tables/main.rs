//! Tables as users have them: text files, folders, patterns, pipes.

mod adding;
mod adding_parquet;
mod delimited;
mod sources;

use pairity::tables::{self, MISSING, Selection, Source, Table, TableError, Want};
use std::fs;
use std::path::Path;

fn read_path(path: &str, wants: &[Want]) -> Result<Table, TableError> {
    tables::read(&Source::parse(path)?, &Selection::Columns(wants.to_vec()), &|_, _| ())
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
