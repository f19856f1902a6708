//! What columns become, in training and when the table to be scored is not like the training table.

use pairity::examples::{Column, MISSING, Values};
use pairity::learners::{EncodeError, Encoded, Encoder, Encoding, MAX_LEVELS, Note};
use proptest::prelude::*;

/// The columns of a text such as `a,c\n1,x\n`: numbers where all cells are, and empty cells missing.
fn table(text: &str) -> Vec<Column> {
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let column = |(at, name): (usize, &&str)| {
        let cells: Vec<&str> = rows[1..].iter().map(|row| row[at]).collect();
        let number = |cell: &&str| if cell.is_empty() { Ok(f64::NAN) } else { cell.parse() };
        let values = cells.iter().map(number).collect::<Result<_, _>>().map(Values::Numbers);
        Column { name: (*name).into(), values: values.unwrap_or_else(|_| categories(&cells)) }
    };
    rows[0].iter().enumerate().map(column).collect()
}

fn categories(cells: &[&str]) -> Values {
    let mut levels: Vec<String> = Vec::new();
    let mut code = |cell: &&str| {
        if cell.is_empty() {
            return MISSING;
        }
        levels.iter().position(|level| level == cell).unwrap_or_else(|| {
            levels.push((*cell).into());
            levels.len() - 1
        }) as u32
    };
    let codes = cells.iter().map(&mut code).collect();
    Values::Categories { codes, levels }
}

fn learn(table: &[Column], rows: Option<&[u32]>, standardize: bool) -> Result<Encoder, EncodeError> {
    Encoder::learn(&table.iter().collect::<Vec<_>>(), rows, standardize)
}

fn encode(training: &str, text: &str, standardize: bool) -> Result<Encoded, EncodeError> {
    learn(&table(training), None, standardize)?.encode(&table(text))
}

fn numbers(name: &str, numbers: &[f64]) -> Column {
    Column { name: name.into(), values: Values::Numbers(numbers.into()) }
}

#[test]
fn standardized_numbers_have_mean_zero_and_deviation_one() {
    let text = "a\n1\n2\n3\n6\n";
    let encoded = encode(text, text, true).unwrap();
    let values = encoded.features.values();
    assert!(values.iter().sum::<f64>().abs() < 1e-15);
    assert!((values.iter().map(|x| x * x).sum::<f64>() / 4.0 - 1.0).abs() < 1e-15);
    assert_eq!(encode(text, text, false).unwrap().features.values()[..], [1.0, 2.0, 3.0, 6.0]);
}

#[test]
fn a_constant_column_is_only_centered() {
    // The mean of thirds as a plain sum is off by a rounding error, which must not be blown up.
    let column = numbers("a", &[1.0 / 3.0; 1000]);
    let encoder = Encoder::learn(&[&column], None, true).unwrap();
    let encoded = encoder.encode(&[column]).unwrap();
    assert!(encoded.features.values().iter().all(|&x| x == 0.0));
    let other = encoder.encode(&[numbers("a", &[1.0 / 3.0 + 2.0])]).unwrap();
    assert!((other.features.values()[0] - 2.0).abs() < 1e-15);
}

#[test]
fn a_missing_number_becomes_the_mean_and_an_indicator() {
    let text = "a,b\n1,1\n,2\n5,3\n";
    let encoded = encode(text, text, true).unwrap();
    assert_eq!(encoded.features.row(1)[..], [0.0, 1.0, 0.0]);
    assert_eq!(encoded.features.row(0)[..2], [-1.0, 0.0]);
    assert_eq!(encoded.notes, []);
    let plain = encode(text, text, false).unwrap();
    assert_eq!(plain.features.values()[..], [1.0, 0.0, 1.0, 0.0, 1.0, 2.0, 5.0, 0.0, 3.0]);
}

#[test]
fn a_number_missing_for_the_first_time_becomes_the_mean_and_is_reported() {
    let note = [Note::Missing { column: "a".into(), rows: 1 }];
    let encoded = encode("a,b\n1,1\n5,1\n", "a,b\n,1\n1,1\n", true).unwrap();
    assert_eq!(encoded.features.values()[..], [0.0, 0.0, -1.0, 0.0]);
    assert_eq!(encoded.notes, note);
    let encoded = encode("a,b\n1,1\n5,1\n", "a,b\n,1\n1,1\n", false).unwrap();
    assert_eq!(encoded.features.values()[..], [3.0, 1.0, 1.0, 1.0]);
    assert_eq!(encoded.notes, note);
    assert_eq!(note[0].to_string(), r#"column "a": 1 row without a value, of which training had none"#);
}

#[test]
fn a_column_without_any_number_in_training_is_an_indicator_alone() {
    let column = numbers("a", &[f64::NAN, f64::NAN, 7.0]);
    let encoder = Encoder::learn(&[&column], Some(&[0, 1]), true).unwrap();
    let encoded = encoder.encode(&[column]).unwrap();
    assert_eq!(encoded.features.values()[..], [0.0, 1.0, 0.0, 1.0, 7.0, 0.0]);
}

#[test]
fn levels_are_sorted_and_a_missing_one_comes_last() {
    let text = "c\nred\nblue\n\ngreen\nred\n";
    let encoder = learn(&table(text), None, true).unwrap();
    assert_eq!(encoder.names(), ["c = blue", "c = green", "c = red", "c is missing"]);
    let encoded = encoder.encode(&table(text)).unwrap();
    let ones: Vec<usize> =
        (0..5).map(|row| encoded.features.row(row).iter().position(|&x| x == 1.0).unwrap()).collect();
    assert_eq!(ones, [2, 0, 3, 1, 2]);
    assert_eq!(encoded.features.values().iter().sum::<f64>(), 5.0);
}

#[test]
fn an_unseen_level_gets_zeros_and_is_reported() {
    let encoded = encode("c,d\nx,p\ny,q\n", "c,d\nz,p\nx,w\nw,\nv,q\nu,q\nz,q\n", true).unwrap();
    assert_eq!(encoded.features.row(0)[..], [0.0, 0.0, 1.0, 0.0]);
    assert_eq!(encoded.features.row(1)[..], [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(encoded.features.row(2)[..], [0.0; 4]);
    let unseen = |column: &str, rows, different, levels: &[&str]| Note::Unseen {
        column: column.into(),
        rows,
        different,
        levels: levels.iter().map(|level| level.to_string()).collect(),
    };
    let missing = Note::Missing { column: "d".into(), rows: 1 };
    assert_eq!(encoded.notes, [unseen("c", 5, 4, &["z", "w", "v"]), unseen("d", 1, 1, &["w"]), missing]);
    assert_eq!(
        encoded.notes[0].to_string(),
        r#"column "c": 5 rows with values not seen in training ("z", "w", "v", …)"#
    );
    let encoded = encode("c\nx\n", "c\nz\nz\nz\nz\n", true).unwrap();
    assert_eq!(encoded.notes[0].to_string(), r#"column "c": 4 rows with values not seen in training ("z")"#);
}

#[test]
fn only_the_training_rows_are_learned_from() {
    let all = table("a,c\n1,x\n3,y\n100,z\n,\n");
    let encoder = learn(&all, Some(&[0, 1]), true).unwrap();
    assert_eq!(encoder.names(), ["a", "c = x", "c = y"]);
    assert_eq!(encoder.encode(&all).unwrap().features.row(2)[..], [98.0, 0.0, 0.0]);
    assert_eq!(
        encoder.columns()[0],
        Encoding::Number {
            name: "a".into(),
            shift: 2.0,
            scale: 1.0,
            fill: 0.0,
            indicator: false,
            sparse: false
        }
    );
}

#[test]
fn a_column_has_to_be_what_it_was_learned_as_and_extra_ones_are_ignored() {
    let encoder = learn(&table("a,c\n1,x\n3,7\n"), None, true).unwrap();
    let mut new = table("extra,c,a\nw,7,1\n");
    assert_eq!(encoder.encode(&new).unwrap_err(), EncodeError::Numbers("c".into()));
    new[1].values = categories(&["7"]);
    let encoded = encoder.encode(&new).unwrap();
    assert_eq!(encoded.features.values()[..], [-1.0, 1.0, 0.0]);
    assert_eq!(encoded.notes, []);
}

#[test]
fn a_column_that_is_not_there_is_named_with_its_nearest() {
    let error = encode("income,c\n1,x\n2,y\n", "incmoe,c\n1,x\n", true).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"no column "income", which the model was trained with; did you mean "incmoe"? Rename it, or add the column"#
    );
    let error = encode("income\n1\n2\n", "zzz\n1\n", true).unwrap_err();
    assert!(error.to_string().ends_with("trained with: add it to the table"), "{error}");
}

#[test]
fn text_in_a_column_of_numbers_is_shown() {
    let error = encode("a\n1\n2\n", "a\n1\nmany\n", true).unwrap_err();
    assert_eq!(error, EncodeError::Text { column: "a".into(), example: "many".into() });
    assert!(error.to_string().contains(r#""a" holds text such as "many""#), "{error}");
}

#[test]
fn a_column_with_too_many_levels_is_refused_by_its_training_rows() {
    let column = |levels: usize| Column {
        name: "id".into(),
        values: Values::Categories {
            codes: (0..levels as u32).collect(),
            levels: (0..levels).map(|level| format!("person {level}")).collect(),
        },
    };
    let error = Encoder::learn(&[&column(MAX_LEVELS + 1)], None, true).unwrap_err();
    assert_eq!(error, EncodeError::TooManyLevels { column: "id".into(), found: 1001 });
    assert!(error.to_string().contains("leave it out"), "{error}");
    assert_eq!(Encoder::learn(&[&column(MAX_LEVELS)], None, true).unwrap().width(), MAX_LEVELS);
    assert_eq!(Encoder::learn(&[&column(5000)], Some(&[4999]), true).unwrap().width(), 1);
}

#[test]
fn numbers_at_the_edge_of_floating_point_are_handled_or_refused() {
    let learn = |values: &[f64]| Encoder::learn(&[&numbers("a", values)], None, true);
    let encoded = |values: &[f64], new: &[f64]| learn(values)?.encode(&[numbers("a", new)]);
    for scale in [1e-300, 1e300] {
        let values = [scale, 3.0 * scale];
        let encoded = encoded(&values, &values).unwrap();
        for (found, expected) in encoded.features.values().iter().zip([-1.0, 1.0]) {
            assert!((found - expected).abs() < 1e-12, "{scale}: {found}");
        }
    }
    assert_eq!(learn(&[f64::MAX, -f64::MAX]), Err(EncodeError::Spread("a".into())));
    let inf = f64::INFINITY;
    let too_large = |row, value| EncodeError::NotFinite { column: "a".into(), row, value };
    assert_eq!(learn(&[0.0, inf]), Err(too_large(1, inf)));
    assert_eq!(encoded(&[0.0, 1.0], &[0.0, 0.0, -inf]), Err(too_large(2, -inf)));
    assert_eq!(encoded(&[0.0, 1e-300], &[1e300]), Err(too_large(0, 1e300)));
}

#[test]
fn nothing_to_learn_from_and_columns_that_do_not_belong_together_are_refused() {
    let (a, b) = (numbers("a", &[1.0, 2.0]), numbers("b", &[1.0]));
    assert!(matches!(Encoder::learn(&[], None, true), Err(EncodeError::Nothing { what: "columns", .. })));
    assert!(matches!(Encoder::learn(&[&a], Some(&[]), true), Err(EncodeError::Nothing { what: "rows", .. })));
    assert_eq!(Encoder::learn(&[&a, &a], None, true), Err(EncodeError::Twice("a".into())));
    let length = EncodeError::Length { column: "b".into(), found: 1, expected: 2 };
    assert_eq!(Encoder::learn(&[&a, &b], None, true), Err(length));
    let beyond = EncodeError::NoRow { column: "a".into(), row: 2, rows: 2 };
    assert_eq!(Encoder::learn(&[&a], Some(&[0, 2]), true), Err(beyond));
}

#[test]
fn many_rows_are_encoded_in_their_order() {
    let rows = 5000;
    let column = numbers("a", &(0..rows).map(f64::from).collect::<Vec<_>>());
    let levels: Vec<String> = (0..3).map(|level| level.to_string()).collect();
    let codes = (0..rows as u32).map(|row| row % 3).collect();
    let other = Column { name: "c".into(), values: Values::Categories { codes, levels } };
    let encoder = Encoder::learn(&[&column, &other], None, false).unwrap();
    let encoded = encoder.encode(&[other, column]).unwrap();
    for row in 0..rows as usize {
        let mut expected = [row as f64, 0.0, 0.0, 0.0];
        expected[1 + row % 3] = 1.0;
        assert_eq!(encoded.features.row(row)[..], expected);
    }
}

/// Columns of numbers that are mostly 0, some missing; and the same stored one by one.
fn sparse_and_dense() -> impl Strategy<Value = (Vec<Column>, Vec<Column>)> {
    let cell = prop_oneof![6 => Just(0.0), 2 => -9.0..9.0, 1 => Just(f64::NAN), 1 => Just(1.0)];
    (2_usize..20, 1_usize..5).prop_flat_map(move |(rows, width)| {
        let column = prop::collection::vec(cell.clone(), rows);
        prop::collection::vec((column, any::<bool>()), width).prop_map(|columns| {
            let named = |at: usize, values| Column { name: format!("x{at}"), values };
            let dense =
                |(at, (cells, _)): (usize, &(Vec<f64>, bool))| named(at, Values::Numbers(cells.clone()));
            let sparse = |(at, (cells, sparse)): (usize, &(Vec<f64>, bool))| match sparse {
                true => named(at, Values::Sparse(cells.iter().copied().collect())),
                false => named(at, Values::Numbers(cells.clone())),
            };
            let columns = columns.iter().enumerate();
            (columns.clone().map(sparse).collect(), columns.map(dense).collect())
        })
    })
}

proptest! {
    #[test]
    fn sparse_columns_become_the_same_features_as_dense_ones(
        (sparse, dense) in sparse_and_dense(), standardize: bool, from in 0_u32..2,
    ) {
        let rows: Vec<u32> = (from..dense[0].values.len() as u32).collect();
        let learn = |table: &[Column]| learn(table, Some(&rows), standardize).unwrap();
        let (mine, theirs) = (learn(&sparse), learn(&dense));
        let (names, expected) = (mine.names(), theirs.names());
        let full = theirs.encode(&dense).unwrap().features;
        // Whichever way the columns of the table to be encoded are stored.
        for table in [&sparse, &dense] {
            let encoded = mine.encode(table).unwrap();
            prop_assert_eq!(&encoded.notes.len(), &theirs.encode(&dense).unwrap().notes.len());
            let features = encoded.features;
            for row in 0..features.rows() {
                let mut own = features.row(row).to_vec();
                own.extend(features.sparse().map(|sparse| sparse.dense_row(row)).unwrap_or_default());
                prop_assert_eq!(own.len(), names.len());
                for (name, own) in names.iter().zip(own) {
                    let other = full.row(row)[expected.iter().position(|other| other == name).unwrap()];
                    prop_assert!((own - other).abs() <= 1e-12 * (1.0 + other.abs()), "{name}: {own} {other}");
                }
            }
        }
    }
}

proptest! {
    /// Each product is the feature before it times the number, brought to mean 0 and deviation 1.
    #[test]
    fn products_are_those_of_a_column_and_all_other_features(
        cells in prop::collection::vec((-3.0..3.0_f64, prop::option::weighted(0.8, -5.0..5.0_f64), 0..3_u32), 2..12),
        standardize: bool,
        learned in 1..12_usize,
    ) {
        let column = |name: &str, values| Column { name: name.into(), values };
        let z: Vec<f64> = cells.iter().map(|cell| cell.1.unwrap_or(f64::NAN)).collect();
        let columns = [
            column("x", Values::Numbers(cells.iter().map(|cell| cell.0).collect())),
            column("z", Values::Numbers(z.clone())),
            column("c", Values::Categories {
                codes: cells.iter().map(|cell| cell.2).collect(),
                levels: vec!["a".into(), "b".into(), "d".into()],
            }),
        ];
        let rows: Vec<u32> = (0..learned.min(cells.len()) as u32).collect();
        let plain = Encoder::learn(&columns.each_ref(), Some(&rows), standardize).unwrap();
        let encoder = plain.clone().with_products(&columns[1], Some(&rows)).unwrap();
        let known: Vec<f64> = rows.iter().map(|&row| z[row as usize]).filter(|z| !z.is_nan()).collect();
        let n = known.len().max(1) as f64;
        let mean = known.iter().sum::<f64>() / n;
        let deviation = (known.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / n).sqrt();
        let scale = if deviation > 0.0 { deviation } else { 1.0 };
        let (before, after) = (plain.encode(&columns).unwrap().features, encoder.encode(&columns).unwrap().features);
        let others: Vec<usize> =
            (0..plain.width()).filter(|&at| !plain.names()[at].starts_with('z')).collect();
        prop_assert_eq!(encoder.width(), plain.width() + others.len());
        for (row, z) in z.iter().enumerate() {
            let (before, after) = (before.row(row), after.row(row));
            prop_assert_eq!(&after[..before.len()], &before[..]);
            let factor = if z.is_nan() { 0.0 } else { (z - mean) / scale };
            for (product, &at) in after[before.len()..].iter().zip(&others) {
                prop_assert!((product - factor * before[at]).abs() < 1e-9, "{} {}", product, factor * before[at]);
            }
        }
        let text = serde_json::to_string(&encoder).unwrap();
        prop_assert_eq!(serde_json::from_str::<Encoder>(&text).unwrap(), encoder);
    }
}
