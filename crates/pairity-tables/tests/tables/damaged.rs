//! Damaged Parquet files are errors, not panics.

use std::sync::Arc;

use super::{message, parquet_with, read_all};
use arrow_array::types::Int8Type;
use arrow_array::*;
use pairity::examples::Values;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;
use proptest::strategy::ValueTree;

/// Files with several encodings, pages and codecs, to be damaged.
fn samples() -> Vec<Vec<u8>> {
    let rows = 300;
    let columns = || -> Vec<(&str, ArrayRef)> {
        let instants = TimestampMillisecondArray::from_iter_values((0..rows).map(|i| i64::from(i) << 32));
        let decimals = Decimal128Array::from_iter_values((0..rows).map(i128::from));
        vec![
            ("i", Arc::new(Int64Array::from_iter((0..rows).map(|i| (i % 7 != 0).then_some(i as i64))))),
            ("f", Arc::new(Float64Array::from_iter_values((0..rows).map(|i| i as f64 / 3.0)))),
            ("s", Arc::new(StringArray::from_iter_values((0..rows).map(|i| format!("text {}", i % 11))))),
            ("b", Arc::new(BooleanArray::from_iter((0..rows).map(|i| Some(i % 3 == 0))))),
            ("t", Arc::new(Date32Array::from_iter_values(0..rows))),
            ("z", Arc::new(instants.with_timezone("Europe/Berlin"))),
            ("d", Arc::new(decimals.with_precision_and_scale(20, 2).unwrap())),
            (
                "k",
                Arc::new(DictionaryArray::<Int8Type>::from_iter(
                    (0..rows).map(|i| ["a", "b"][i as usize % 2]),
                )),
            ),
        ]
    };
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
        Compression::GZIP(Default::default()),
    ];
    let mut samples = Vec::new();
    for codec in codecs {
        for dictionary in [true, false] {
            let properties = WriterProperties::builder()
                .set_compression(codec)
                .set_dictionary_enabled(dictionary)
                .set_data_page_row_count_limit(64)
                .set_write_batch_size(64)
                .set_max_row_group_row_count(Some(128))
                .build();
            samples.push(parquet_with(columns(), properties));
        }
    }
    samples
}

#[test]
fn a_file_cut_short_is_an_error_that_names_it() {
    for bytes in samples() {
        let step = (bytes.len() / 200).max(1);
        for length in (1..bytes.len()).step_by(step).chain(bytes.len() - 16..bytes.len()) {
            let error = message(read_all("x.parquet", &bytes[..length]));
            assert!(error.starts_with("x.parquet can't be read as Parquet: "), "{length}: {error}");
        }
    }
    let error = message(read_all("x.parquet", b"these are not the bytes of any table"));
    assert!(error.starts_with("x.parquet can't be read as Parquet: "), "{error}");
}

#[test]
fn a_damaged_file_is_an_error_or_a_table_and_never_a_panic() {
    let samples = samples();
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let damage = (0..samples.len(), proptest::collection::vec((any::<u16>(), any::<u8>()), 1..4));
    for _ in 0..3000 {
        let (sample, flips) = damage.new_tree(&mut runner).unwrap().current();
        let mut bytes = samples[sample].clone();
        for (place, value) in flips {
            let place = usize::from(place) % bytes.len();
            bytes[place] ^= value;
        }
        if let Ok(table) = read_all("x.parquet", &bytes) {
            assert!(table.columns().iter().all(|column| Values::len(&column.values) == table.rows()));
        }
    }
}
