//! Tables from Parquet files: every type, and only the wanted columns.

use std::sync::Arc;

use super::{message, parquet, parquet_with, read, read_all};
use arrow_array::builder::{Int32Builder, ListBuilder, StringDictionaryBuilder};
use arrow_array::types::{ArrowPrimitiveType, Float16Type, Int32Type};
use arrow_array::*;
use pairity::examples::{MISSING, Values};
use pairity_tables::{self as tables, Selection, Source, TableError, Want};
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

type Half = <Float16Type as ArrowPrimitiveType>::Native;

/// The cells of a column as text, `-` where missing.
fn cells(values: &Values) -> Vec<String> {
    match values {
        Values::Numbers(numbers) => numbers
            .iter()
            .map(|number| if number.is_nan() { "-".to_owned() } else { number.to_string() })
            .collect(),
        Values::Categories { codes, levels } => codes
            .iter()
            .map(|&code| if code == MISSING { "-".to_owned() } else { levels[code as usize].clone() })
            .collect(),
        _ => panic!("no feature was asked for"),
    }
}

fn column(array: ArrayRef, want: fn(&str) -> Want) -> Result<Values, TableError> {
    let mut table = read("x.parquet", parquet(vec![("c", array)]), &[want("c")])?;
    Ok(table.take("c").expect("the column").values)
}

#[test]
fn every_type_of_numbers_is_read_as_numbers_and_as_categories() {
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int8Array::from(vec![Some(3), None, Some(-7)])),
        Arc::new(Int16Array::from(vec![Some(3), None, Some(-7)])),
        Arc::new(Int32Array::from(vec![Some(3), None, Some(-7)])),
        Arc::new(Int64Array::from(vec![Some(3), None, Some(-7)])),
        Arc::new(Float32Array::from(vec![Some(3.0), None, Some(-7.0)])),
        Arc::new(Float64Array::from(vec![Some(3.0), None, Some(-7.0)])),
        Arc::new(
            Float32Array::from(vec![Some(3.0), None, Some(-7.0)]).unary::<_, Float16Type>(Half::from_f32),
        ),
        Arc::new(DictionaryArray::<Int32Type>::new(
            Int32Array::from(vec![Some(0), None, Some(1)]),
            Arc::new(Int64Array::from(vec![3, -7])),
        )),
    ];
    for array in arrays {
        let kind = array.data_type().clone();
        for want in [Want::number, Want::infer] {
            let values = column(array.clone(), want).unwrap();
            assert!(matches!(values, Values::Numbers(_)), "{kind}");
            assert_eq!(cells(&values), ["3", "-", "-7"], "{kind}");
        }
        let values = column(array, Want::category).unwrap();
        assert!(matches!(values, Values::Categories { .. }), "{kind}");
        assert_eq!(cells(&values), ["3", "-", "-7"], "{kind}");
    }
    let unsigned: Vec<ArrayRef> = vec![
        Arc::new(UInt8Array::from(vec![Some(200), None])),
        Arc::new(UInt16Array::from(vec![Some(200), None])),
        Arc::new(UInt32Array::from(vec![Some(200), None])),
        Arc::new(UInt64Array::from(vec![Some(200), None])),
    ];
    for array in unsigned {
        assert_eq!(cells(&column(array.clone(), Want::number).unwrap()), ["200", "-"]);
        assert_eq!(cells(&column(array, Want::category).unwrap()), ["200", "-"]);
    }
}

#[test]
fn features_of_single_precision_stay_so_until_a_file_has_more() {
    let feature = |name: &str| Want::infer(name).as_feature();
    let single: ArrayRef = Arc::new(Float32Array::from(vec![Some(0.1), None, Some(-7.0)]));
    let half: ArrayRef = Arc::new(Float32Array::from(vec![0.5]).unary::<_, Float16Type>(Half::from_f32));
    let short: ArrayRef = Arc::new(Float64Array::from(vec![Some(0.25), None]));
    let long: ArrayRef = Arc::new(Float64Array::from(vec![0.1]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    let of = |arrays: &[&ArrayRef]| {
        let files = arrays.iter().map(|&array| parquet(vec![("c", array.clone())]));
        let files: Vec<(String, Vec<u8>)> =
            (0..).zip(files).map(|(at, file)| (format!("{at}.parquet"), file)).collect();
        let source = |(name, file): &(String, Vec<u8>)| Source::from_reader(name, &file[..]).unwrap();
        let source = Source::chain(files.iter().map(source).collect());
        let mut table = tables::read(&source, &Selection::Columns(vec![feature("c")]), &|_, _| ()).unwrap();
        table.take("c").unwrap().values
    };
    let found = of(&[&single, &half, &short]);
    let Values::Singles(numbers) = &found else { panic!("{found:?}") };
    let bits = |numbers: &[f32]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(numbers), bits(&[0.1, f32::NAN, -7.0, 0.5, 0.25, f32::NAN]));
    // In double precision a single 0.1 is another number than 0.1.
    let wide = f64::from(0.1_f32).to_string();
    assert_eq!(cells(&of(&[&single, &long])), [&wide, "-", "-7", "0.1"]);
    assert_eq!(cells(&of(&[&short, &single])), ["0.25", "-", &wide, "-", "-7"]);
    assert_eq!(cells(&of(&[&half, &texts])), ["0.5", "x"]);
    assert!(matches!(column(single, Want::infer).unwrap(), Values::Numbers(_)), "no feature");
}

#[test]
fn categories_of_numbers_have_their_shortest_exact_text() {
    let ids = Arc::new(Int64Array::from(vec![9_007_199_254_740_993, i64::MIN]));
    assert_eq!(cells(&column(ids, Want::category).unwrap()), ["9007199254740993", "-9223372036854775808"]);
    let ids = Arc::new(UInt64Array::from(vec![u64::MAX]));
    assert_eq!(cells(&column(ids, Want::category).unwrap()), ["18446744073709551615"]);
    let codes = Arc::new(Float64Array::from(vec![-0.0, 1.0, 0.0, 0.5, 1e21]));
    let values = column(codes, Want::category).unwrap();
    assert_eq!(cells(&values), ["0", "1", "0", "0.5", "1000000000000000000000"]);
    let single = Arc::new(Float32Array::from(vec![0.1]));
    assert_eq!(cells(&column(single, Want::category).unwrap()), ["0.1"]);
}

#[test]
fn booleans_are_numbers_where_numbers_are_wanted_and_categories_otherwise() {
    let array: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]));
    assert_eq!(cells(&column(array.clone(), Want::number).unwrap()), ["1", "-", "0"]);
    assert_eq!(cells(&column(array.clone(), Want::category).unwrap()), ["true", "-", "false"]);
    assert_eq!(cells(&column(array, Want::infer).unwrap()), ["true", "-", "false"]);
}

#[test]
fn every_type_of_text_means_what_it_means_in_a_csv_file() {
    let texts = vec![Some("b"), None, Some("a"), Some("NA"), Some(" b "), Some("")];
    let digits = vec![Some("1"), None, Some("2.5"), Some("true"), Some("?")];
    let dictionary = |texts: &[Option<&str>]| -> ArrayRef {
        let mut builder = StringDictionaryBuilder::<Int32Type>::new();
        texts.iter().for_each(|text| builder.append_option(*text));
        Arc::new(builder.finish())
    };
    let all = |texts: &[Option<&str>]| -> Vec<ArrayRef> {
        let texts = texts.to_vec();
        vec![
            dictionary(&texts),
            Arc::new(StringArray::from(texts.clone())),
            Arc::new(LargeStringArray::from(texts.clone())),
            Arc::new(StringViewArray::from(texts)),
        ]
    };
    for array in all(&texts) {
        let values = column(array.clone(), Want::infer).unwrap();
        assert_eq!(cells(&values), ["b", "-", "a", "-", "b", "-"], "{}", array.data_type());
        let Values::Categories { levels, .. } = values else { panic!("categories") };
        assert_eq!(levels, ["b", "a"]);
        let error = column(array, Want::number).unwrap_err().to_string();
        assert!(
            error.starts_with("x.parquet, row 1, column \"c\": expected a number, found \"b\""),
            "{error}"
        );
    }
    for array in all(&digits) {
        assert_eq!(cells(&column(array.clone(), Want::number).unwrap()), ["1", "-", "2.5", "1", "-"]);
        assert_eq!(cells(&column(array, Want::category).unwrap()), ["1", "-", "2.5", "true", "-"]);
    }
}

#[test]
fn decimals_are_numbers_and_dates_are_categories() {
    let decimals: ArrayRef = Arc::new(
        Decimal128Array::from(vec![Some(12345), None, Some(-50)]).with_precision_and_scale(10, 2).unwrap(),
    );
    assert_eq!(cells(&column(decimals.clone(), Want::infer).unwrap()), ["123.45", "-", "-0.5"]);
    assert_eq!(cells(&column(decimals, Want::category).unwrap()), ["123.45", "-", "-0.50"]);
    let instants = TimestampMillisecondArray::from(vec![Some(1_700_000_000_000), None]);
    for (array, expected) in [
        (Arc::new(Date32Array::from(vec![Some(19_000), None])) as ArrayRef, "2022-01-08"),
        (Arc::new(instants.clone()), "2023-11-14T22:13:20"),
        (Arc::new(instants.clone().with_timezone("Europe/Berlin")), "2023-11-14T22:13:20Z"),
        (Arc::new(instants.with_timezone("UTC")), "2023-11-14T22:13:20Z"),
        (Arc::new(Time64MicrosecondArray::from(vec![Some(3_600_000_000), None])), "01:00:00"),
    ] {
        for want in [Want::category, Want::infer] {
            assert_eq!(cells(&column(array.clone(), want).unwrap()), [expected, "-"]);
        }
        let error = column(array, Want::number).unwrap_err().to_string();
        assert!(error.contains(&format!("expected a number, found \"{expected}\"")), "{error}");
    }
}

#[test]
fn a_column_without_type_is_missing() {
    let array: ArrayRef = Arc::new(NullArray::new(2));
    assert_eq!(cells(&column(array.clone(), Want::number).unwrap()), ["-", "-"]);
    assert_eq!(cells(&column(array, Want::category).unwrap()), ["-", "-"]);
}

#[test]
fn a_number_that_is_not_finite_is_named_by_row_and_column() {
    let mut numbers = vec![1.0; 20_000];
    numbers[12_344] = f64::NAN;
    let array: ArrayRef = Arc::new(Float64Array::from(numbers));
    for want in [Want::number, Want::infer] {
        let error = column(array.clone(), want).unwrap_err().to_string();
        assert_eq!(
            error,
            "x.parquet, row 12345, column \"c\": expected a finite number, found \"NaN\". \
             If the value is missing, leave the cell empty (in Parquet: null)"
        );
    }
    let array: ArrayRef = Arc::new(Float32Array::from(vec![f32::NEG_INFINITY]));
    assert!(column(array, Want::number).unwrap_err().to_string().contains("found \"-inf\""));
}

fn with_list() -> Vec<u8> {
    let mut lists = ListBuilder::new(Int32Builder::new());
    for i in 0..3 {
        lists.values().append_value(i);
        lists.append(true);
    }
    parquet(vec![
        ("a", Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef),
        ("tags", Arc::new(lists.finish())),
        ("b", Arc::new(StringArray::from(vec!["x", "y", "x"]))),
    ])
}

#[test]
fn a_column_that_is_not_asked_for_does_not_matter() {
    let bytes = with_list();
    let table = read("x.parquet", &bytes, &[Want::category("b"), Want::number("a")]).unwrap();
    let names: Vec<&str> = table.columns().iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["b", "a"], "the order is that of the selection");
    assert_eq!(cells(&table.columns()[1].values), ["1", "2", "3"]);
    let error = message(read("x.parquet", &bytes, &[Want::category("tags")]));
    assert!(error.starts_with("x.parquet, column \"tags\": cells of type List"), "{error}");
    assert!(error.ends_with("Leave the column out, or store it as numbers or text"), "{error}");
}

#[test]
fn all_columns_leave_out_lists_and_say_so() {
    let table = read_all("x.parquet", with_list()).unwrap();
    assert_eq!(table.columns().len(), 2);
    assert_eq!(table.skipped(), ["tags"]);
    assert!(
        tables::column_names(&Source::from_reader("x.pq", &with_list()[..]).unwrap()).unwrap().len() == 3
    );
}

#[test]
fn only_the_bytes_of_the_wanted_columns_are_read() {
    let numbers: Vec<i64> = (0..10_000).map(|i| i * 7919 % 10_007).collect();
    let bytes = parquet_with(
        vec![
            ("good", Arc::new(Int64Array::from(numbers.clone())) as ArrayRef),
            ("bad", Arc::new(Int64Array::from(numbers))),
        ],
        WriterProperties::builder().set_compression(Compression::SNAPPY).build(),
    );
    let reader = parquet::file::reader::SerializedFileReader::new(bytes::Bytes::from(bytes.clone())).unwrap();
    use parquet::file::reader::FileReader;
    let (start, length) = reader.metadata().row_group(0).column(1).byte_range();
    let mut damaged = bytes;
    damaged[start as usize..(start + length) as usize].fill(0xff);
    let table = read("x.parquet", &damaged, &[Want::number("good")]).unwrap();
    assert_eq!(table.rows(), 10_000);
    let error = message(read("x.parquet", &damaged, &[Want::number("bad")]));
    assert!(error.starts_with("x.parquet can't be read as Parquet: "), "{error}");
}

#[test]
fn unknown_columns_and_files_without_rows_are_errors_as_for_text() {
    let bytes = parquet(vec![("score", Arc::new(Int64Array::from(vec![1])) as ArrayRef)]);
    assert_eq!(
        message(read("x.parquet", &bytes, &[Want::number("scores")])),
        "no column \"scores\" in x.parquet; did you mean \"score\"? The columns are: score"
    );
    let bytes = parquet(vec![("score", Arc::new(Int64Array::from(Vec::<i64>::new())) as ArrayRef)]);
    let error = message(read("x.parquet", &bytes, &[Want::number("score")]));
    assert!(error.starts_with("empty table: x.parquet has columns but no rows"), "{error}");
}

#[test]
fn a_folder_may_mix_parquet_and_text_and_merges_their_categories() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = parquet(vec![
        ("g", Arc::new(StringArray::from(vec!["x", "y"])) as ArrayRef),
        ("n", Arc::new(Int64Array::from(vec![1, 2]))),
    ]);
    std::fs::write(folder.path().join("a.parquet"), bytes).unwrap();
    std::fs::write(folder.path().join("b.csv"), "n,g\n3,z\nlate,y\n").unwrap();
    let source = Source::parse(folder.path().to_str().unwrap()).unwrap();
    let table = tables::read(&source, &Selection::All { overrides: Vec::new() }, &|_, _| ()).unwrap();
    assert_eq!(cells(&table.column("g").unwrap().values), ["x", "y", "z", "y"]);
    assert_eq!(cells(&table.column("n").unwrap().values), ["1", "2", "3", "late"]);
    assert_eq!(table.column("g").unwrap().categories().unwrap().1, ["x", "y", "z"]);
}

#[test]
fn parquet_without_an_extension_is_known_by_its_first_bytes() {
    let bytes = parquet(vec![("a", Arc::new(Int64Array::from(vec![1])) as ArrayRef)]);
    assert_eq!(read_all("standard input", &bytes).unwrap().rows(), 1);
}

#[test]
fn the_units_of_time_do_not_change_the_text_of_whole_seconds() {
    let at = 1_700_000_000;
    let arrays: [ArrayRef; 4] = [
        Arc::new(TimestampSecondArray::from(vec![at])),
        Arc::new(TimestampMillisecondArray::from(vec![at * 1_000])),
        Arc::new(TimestampMicrosecondArray::from(vec![at * 1_000_000])),
        Arc::new(TimestampNanosecondArray::from(vec![at * 1_000_000_000])),
    ];
    let texts = arrays.map(|array| cells(&column(array, Want::category).unwrap()).concat());
    assert_eq!(texts, ["2023-11-14T22:13:20"; 4]);
}

#[test]
fn a_compression_that_is_not_built_in_is_named() {
    let source = Source::from_reader("x.csv", &b"x\n1\n2\n"[..]).unwrap();
    let mut bytes = super::adding::scored(&source, "x.parquet", &[0.5, 0.25]).unwrap();
    // The name of the column, then its codec: Snappy becomes Brotli.
    let (snappy, brotli) = ([0x19, 0x18, 1, b'x', 0x15, 2], [0x19, 0x18, 1, b'x', 0x15, 8]);
    let at = bytes.windows(6).position(|window| window == snappy).expect("the column");
    bytes[at..at + 6].copy_from_slice(&brotli);
    let source = Source::from_reader("x.parquet", &bytes[..]).unwrap();
    let error = tables::read(&source, &Selection::Columns(vec![Want::number("x")]), &|_, _| ()).unwrap_err();
    assert!(
        error.to_string().starts_with("x.parquet is compressed with Brotli, which is not read here"),
        "{error}"
    );
}

#[test]
fn columns_of_one_name_are_refused_only_where_they_differ_and_are_used() {
    let numbers =
        |last: Option<f64>| -> ArrayRef { Arc::new(Float64Array::from(vec![Some(1.0), None, last])) };
    let file = |last| parquet(vec![("a", numbers(Some(2.0))), ("b", numbers(None)), ("a", numbers(last))]);
    let expected = "x.parquet has 2 columns named \"a\", which differ in row 3. Rename all but one of them";
    for last in [None, Some(3.0)] {
        assert_eq!(message(read("x.parquet", file(last), &[Want::number("a")])), expected);
        assert!(read("x.parquet", file(last), &[Want::number("b")]).unwrap().warnings().is_empty());
    }
    for want in [Want::number, Want::infer, Want::category] {
        let table = read("x.parquet", file(Some(2.0)), &[want("b"), want("a")]).unwrap();
        assert_eq!(cells(&table.columns()[1].values), ["1", "-", "2"]);
        let expected = "x.parquet has 2 columns named \"a\" with the same cells: the first is used";
        assert_eq!(table.warnings(), [expected]);
    }
}
