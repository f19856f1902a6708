//! A table means the same, whatever the format it is stored in.

use std::sync::Arc;

use super::parquet;
use arrow_array::*;
use pairity::examples::Values;
use pairity_tables::{self as tables, Selection, Source, Table, Want};
use proptest::prelude::*;

fn as_csv(numbers: &[Option<f64>], texts: &[Option<String>], ids: &[i64], flags: &[bool]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["number", "text, with comma", "id", "flag"]).unwrap();
    for row in 0..numbers.len() {
        let number = numbers[row].map(|number| number.to_string()).unwrap_or_default();
        let text = texts[row].clone().unwrap_or_default();
        writer.write_record([number, text, ids[row].to_string(), flags[row].to_string()]).unwrap();
    }
    writer.into_inner().unwrap()
}

fn same(a: &Table, b: &Table) -> Result<(), TestCaseError> {
    prop_assert_eq!(a.columns().len(), b.columns().len());
    for (a, b) in a.columns().iter().zip(b.columns()) {
        prop_assert_eq!(&a.name, &b.name);
        match (&a.values, &b.values) {
            (Values::Numbers(a), Values::Numbers(b)) => {
                let bits = |numbers: &[f64]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                prop_assert_eq!(bits(a), bits(b));
            }
            (a, b) => prop_assert_eq!(a, b),
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_table_reads_the_same_from_csv_and_from_parquet(
        rows in proptest::collection::vec(
            (
                proptest::option::of(-1e300..1e300_f64),
                proptest::option::of("([a-c]|é|\"|,|\n|\r|;|\t| |1){0,6}|NA|\\?|true|NaN x"),
                any::<i64>(),
                any::<bool>(),
            ),
            1..60,
        )
    ) {
        let numbers: Vec<Option<f64>> = rows.iter().map(|row| row.0).collect();
        let texts: Vec<Option<String>> = rows.iter().map(|row| row.1.clone()).collect();
        let ids: Vec<i64> = rows.iter().map(|row| row.2).collect();
        let flags: Vec<bool> = rows.iter().map(|row| row.3).collect();
        let csv = as_csv(&numbers, &texts, &ids, &flags);
        let parquet = parquet(vec![
            ("number", Arc::new(Float64Array::from(numbers.clone())) as ArrayRef),
            ("text, with comma", Arc::new(StringArray::from(texts))),
            ("id", Arc::new(Int64Array::from(ids))),
            ("flag", Arc::new(BooleanArray::from(flags))),
        ]);
        let read = |name: &str, bytes: &[u8], selection: &Selection| {
            tables::read(&Source::from_reader(name, bytes).unwrap(), selection, &|_, _| ()).unwrap()
        };
        for selection in [
            Selection::All { overrides: vec![] },
            Selection::All { overrides: vec![Want::category("id"), Want::number("flag")] },
            Selection::Columns(vec![Want::category("text, with comma"), Want::number("number")]),
        ] {
            let from_csv = read("x.csv", &csv, &selection);
            let from_parquet = read("x.parquet", &parquet, &selection);
            same(&from_csv, &from_parquet)?;
            prop_assert_eq!(from_csv.rows(), numbers.len());
        }
        // What was written is what is read.
        let table = read("x.csv", &csv, &Selection::Columns(vec![Want::number("number")]));
        for (read, written) in table.columns()[0].numbers().unwrap().iter().zip(&numbers) {
            prop_assert_eq!(written.unwrap_or(f64::NAN).to_bits(), read.to_bits());
        }
    }
}
