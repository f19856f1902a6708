//! Features that stay on disk.

use pairity::learners::{Architecture, ColumnSource, Encoder, Features, GroupUse, Linear, Trace};
use pairity_tables::{Source, StoredColumns};
use std::fmt::Write;

#[test]
fn features_on_disk_are_those_in_memory_in_any_order_and_any_parts() {
    // Eighths lose nothing in single precision.
    for (unit, bytes) in [(7.0, 8), (8.0, 4)] {
        check_features_on_disk(unit, bytes);
    }
}

fn check_features_on_disk(unit: f64, bytes: usize) {
    let rows = 9000;
    let mut text = "a,b,c,d\n".to_owned();
    for row in 0..rows {
        let number = |k: u64| (row * k % 997) as f64 / unit;
        let missing = if row % 10 == 3 { String::new() } else { number(31).to_string() };
        writeln!(text, "{},{missing},{},t{}", number(17), ["x", "y", ""][row as usize % 3], row % 5).unwrap();
    }
    let source = Source::from_reader("x.csv", text.as_bytes()).unwrap();
    let names = ["a", "b", "c"].map(String::from);
    let folder = tempfile::tempdir().unwrap();
    let kept: Vec<u32> = (0..rows as u32).filter(|row| row % 7 != 2).collect();
    let stored = StoredColumns::new(&source, &names, true, 1, folder.path()).unwrap().keeping(kept.clone());
    let columns: Vec<_> = (0..3).map(|at| stored.column(at).unwrap()).collect();
    assert_eq!(columns[0].values.len(), kept.len());
    let encoder = Encoder::learn(&columns.iter().collect::<Vec<_>>(), None, true).unwrap();
    let codes: Vec<u16> = (0..kept.len()).map(|row| (row % 3) as u16).collect();
    let memory = encoder.encode(&columns).unwrap().features.with_codes(codes.clone()).unwrap();
    let disk = stored.features(&encoder, Some(codes)).unwrap();
    assert_eq!(memory.number_size(), bytes);
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap()).collect();
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].metadata().unwrap().len(), (bytes * kept.len() * encoder.width()) as u64);

    let some: Vec<u32> = (0..kept.len() as u32).rev().filter(|row| row % 5 > 1).collect();
    let (batch, expected) = (disk.batch(&some).unwrap().unwrap(), memory.select(&some));
    // A missing number of single precision is stored as one that equals none.
    assert_eq!((batch.bytes(), batch.codes()), (expected.bytes(), expected.codes()));
    assert_eq!(batch.values(), expected.values());
    assert!(disk.batch(&[kept.len() as u32]).is_err());
    let groups = GroupUse::Offsets { groups: 2 };
    let scorer = Architecture::Linear(Linear { width: encoder.width(), intercept: true, start: 0.0, groups });
    let parameters: Vec<f64> = (0..scorer.len()).map(|at| (at as f64).sin()).collect();
    // Used like any others, in parts of 1024 rows.
    let elsewhere = Features::elsewhere(disk, kept.len(), encoder.width()).select(&some);
    let (mut own, mut expected) = (vec![0.0; some.len()], vec![0.0; some.len()]);
    scorer.score(&parameters, &elsewhere, &mut own);
    scorer.score(&parameters, &memory.select(&some), &mut expected);
    assert_eq!(own, expected);
    let pulled = |features: &Features| scorer.pull_back(&parameters, features, &Trace::default(), &expected);
    for (own, expected) in pulled(&elsewhere).iter().zip(pulled(&memory.select(&some))) {
        assert!((own - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{own} {expected}");
    }
    drop(elsewhere);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let inferred =
        StoredColumns::new(&source, &["d", "a"].map(String::from), false, 1, folder.path()).unwrap();
    assert_eq!((inferred.names(), &inferred.texts[..]), (vec!["a".to_owned()], &["d".to_owned()][..]));
}
