//! Partial audits, and the audit that they merge into.

use super::{HIRING, HIRING_COLUMNS, Outcome, SMALL, SMALL_COLUMNS, audit, pairity, run};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The example table in three parts: queries go by turns.
fn parts(folder: &Path, arguments: &[&str]) -> Vec<PathBuf> {
    let table = std::fs::read_to_string(HIRING).unwrap();
    let (header, rows) = table.split_once('\n').unwrap();
    let query = header.split(',').position(|name| name == "query").unwrap();
    let part = |of: usize| {
        let bytes = |row: &str| row.split(',').nth(query).unwrap().bytes().map(usize::from).sum::<usize>();
        let own: Vec<&str> = rows.lines().filter(|row| bytes(row) % 3 == of).collect();
        let (table, file) = (folder.join(format!("{of}.csv")), folder.join(format!("{of}.json")));
        std::fs::write(&table, format!("{header}\n{}\n", own.join("\n"))).unwrap();
        let outcome = run(pairity()
            .arg("audit")
            .arg(table)
            .args(HIRING_COLUMNS)
            .args(arguments)
            .arg("--partial")
            .arg(&file));
        assert_eq!(outcome.code, 0, "{}", outcome.err);
        file
    };
    (0..3).map(part).collect()
}

fn merge(parts: &[PathBuf], arguments: &[&str]) -> Outcome {
    run(pairity().arg("merge").args(parts).args(arguments))
}

#[test]
fn merged_parts_have_the_bits_of_one_audit() {
    let folder = TempDir::new().unwrap();
    for options in [&[][..], &["--average", "queries", "--ties", "strict"], &["--group", "age_band"]] {
        let mut files = parts(folder.path(), options);
        let sizes = files.iter().map(|file| std::fs::metadata(file).unwrap().len());
        assert!(options.contains(&"--group") || sizes.max() < Some(10_000), "a partial audit of two groups");
        let checks = ["--check", "cross_group <= 0.05", "--check", "auc >= 0.5", "--format", "json"];
        let whole = run(pairity().arg("audit").arg(HIRING).args(HIRING_COLUMNS).args(options).args(checks));
        let merged = merge(&files, &checks);
        files.reverse();
        let both = folder.path().join("both.json");
        let first = merge(&files[..2], &["--partial", both.to_str().unwrap()]);
        assert_eq!(first.code, 0, "{}", first.err);
        let again = merge(&[both, files[2].clone()], &checks);
        let strip = |outcome: &Outcome| {
            let mut document: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
            document.as_object_mut().unwrap().remove("notes");
            document
        };
        assert_eq!(strip(&merged), strip(&whole));
        assert_eq!(strip(&again), strip(&whole));
        assert_eq!((merged.code, again.code), (whole.code, whole.code));
    }
}

#[test]
fn a_merged_audit_is_told_as_any_other() {
    let folder = TempDir::new().unwrap();
    let files = parts(folder.path(), &[]);
    let page = folder.path().join("page.html");
    let outcome = merge(&files, &["--check", "auc >= 0.99", "--html", page.to_str().unwrap()]);
    assert_eq!(outcome.code, 1, "{}", outcome.err);
    assert!(
        outcome.out.contains("2.json") && outcome.out.contains("Accuracy between groups"),
        "{}",
        outcome.out
    );
    assert!(std::fs::read_to_string(page).unwrap().contains("</html>"));
}

#[test]
fn what_can_not_be_merged_is_refused() {
    let folder = TempDir::new().unwrap();
    let (files, file) = (parts(folder.path(), &[]), |name: &str| folder.path().join(name));
    std::fs::write(file("none.json"), "{}").unwrap();
    for (parts, says) in [
        (vec![files[0].clone(), file("../x.json")], "can't read"),
        (vec![file("none.json")], "no partial audit"),
        (vec![files[0].clone(), files[0].clone()], "given twice"),
    ] {
        let outcome = merge(&parts, &[]);
        assert!(outcome.refusal().contains(says), "{}", outcome.err);
    }
    let own = merge(&files, &["--partial", files[1].to_str().unwrap()]);
    assert!(own.refusal().contains("is read as a partial audit"), "{}", own.err);
    let wrong =
        audit(SMALL, &["--score", "s", "--label", "y", "--partial", file("p.json").to_str().unwrap()]);
    assert!(wrong.refusal().contains("--query"), "{}", wrong.err);
    assert!(!file("p.json").exists());
    let strict = file("strict.json");
    let arguments =
        [&SMALL_COLUMNS[..], &["--ties", "strict", "--partial", strict.to_str().unwrap()]].concat();
    assert_eq!(audit(SMALL, &arguments).code, 0);
    let outcome = merge(&[files[0].clone(), strict], &[]);
    assert!(outcome.refusal().contains("ties strict"), "{}", outcome.err);
}

#[test]
fn a_table_larger_than_memory_gives_the_bytes_of_one_that_fits() {
    let folder = TempDir::new().unwrap();
    // More rows than are read at once; a few lack a label or a group, and one group is seen at the end alone.
    let row = |query: usize, at: usize| {
        let number = query * 7 + at;
        let group = if query > 5_800 { "late" } else { ["a", "b", ""][number % 3] };
        let label = if number.is_multiple_of(97) { String::new() } else { (number * 31 % 5).to_string() };
        format!("{query},{group},{label},{},{}\n", number * 7919 % 1009, 1 + number % 4)
    };
    // A prime number of queries, so that rows of one don't meet in a bucket by their numbers.
    let header = "q,g,y,s,w\n";
    let together: String = (0..6_007).flat_map(|query| (0..7).map(move |at| row(query, at))).collect();
    let scattered: String =
        (0..7).flat_map(|at| (0..6_007).map(move |query| row(query * 13 % 6_007, at))).collect();
    for (name, rows) in [("together.csv", together), ("scattered.csv", scattered)] {
        let table = folder.path().join(name);
        std::fs::write(&table, header.to_owned() + &rows).unwrap();
        for more in [&[][..], &["--average", "queries", "--weight", "w"], &["--check", "auc >= 0.9"]] {
            let audit = |memory: &str| {
                let mut command = pairity();
                command.arg("audit").arg(&table).args(SMALL_COLUMNS).args(more).env("TMPDIR", folder.path());
                run(command.args(["--format", "json", "--memory", memory]))
            };
            let (parts, whole) = (audit("1MB"), audit("9GB"));
            assert_eq!((&parts.err, parts.code), (&whole.err, whole.code));
            assert!(parts.out == whole.out, "{}\n{}", parts.out, whole.out);
        }
    }
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    let wrong = audit(SMALL, &[&SMALL_COLUMNS[..], &["--memory", "much"]].concat());
    assert!(wrong.refusal().contains("500MB or 2GB"), "{}", wrong.err);
}

#[test]
fn what_a_killed_audit_left_is_removed_by_the_next_one() {
    let folder = TempDir::new().unwrap();
    let table = folder.path().join("scattered.csv");
    let rows: String = (0..200_000)
        .map(|at| format!("{},{},{},{}\n", at * 7919 % 20_011, ["a", "b"][at % 2], at % 3, at * 31 % 1009))
        .collect();
    std::fs::write(&table, format!("q,g,y,s\n{rows}")).unwrap();
    let audit = |memory: &str| {
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("pairity"));
        command.arg("audit").arg(&table).args(SMALL_COLUMNS).env("TMPDIR", folder.path());
        command.args(["--format", "json", "--quiet", "--memory", memory]);
        command
    };
    let waits = || {
        let files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
        files.filter(|name| name.to_string_lossy().starts_with(".pairity-parts.")).count()
    };
    // One that has ended before it is seen at work is started again.
    let killed = (0..50).any(|_| {
        let mut child = audit("1MB").stdout(std::process::Stdio::null()).spawn().unwrap();
        while waits() == 0 && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        waits() > 0
    });
    assert!(killed, "no audit was killed at work");
    let [next, whole] = ["1MB", "9GB"].map(|memory| audit(memory).output().unwrap());
    assert!(waits() == 0 && next.status.success() && next.stdout == whole.stdout);
}

/// A table without queries, in which some cells are missing; labels are few or many.
fn one_query(folder: &Path, rows: usize) -> PathBuf {
    let row = |at: usize| {
        let group = if at > rows - 40 { "late" } else { ["a", "b", "", "b"][at % 4] };
        let label = if at.is_multiple_of(97) { String::new() } else { (at * 31 % 5).to_string() };
        let (score, amount) = (at * 7919 % 1009, at * 104_729 % 10_007);
        format!("{group},{label},{amount},{},{},{}\n", score + amount / 40, 1 + at % 4, at * 37 % 101)
    };
    let table = folder.join("one.csv");
    let rows: String = (0..rows).map(row).collect();
    std::fs::write(&table, format!("g,y,real,s,w,z\n{rows}")).unwrap();
    table
}

/// Numbers that differ by no more than a part, wherever they are in two documents.
fn assert_near(one: &serde_json::Value, other: &serde_json::Value, part: f64, place: &str) {
    use serde_json::Value;
    match (one, other) {
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            a.iter().for_each(|(key, value)| assert_near(value, &b[key], part, &format!("{place}.{key}")));
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).for_each(|(a, b)| assert_near(a, b, part, &format!("{place}[]")));
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            // Counts and rates of pairs that all count alike are the same.
            let part = if place.ends_with("pairs")
                || part < 1e-6 && place.ends_with("value") && !place.contains("mse")
            {
                0.0
            } else {
                part
            };
            assert!((a - b).abs() <= part * b.abs().max(1e-3), "{place}: {a} {b}");
        }
        (a, b) => assert_eq!(a, b, "{place}"),
    }
}

#[test]
fn a_table_without_queries_larger_than_memory_gives_the_numbers_of_one_that_fits() {
    let folder = TempDir::new().unwrap();
    let table = one_query(folder.path(), 12_000);
    let read = |memory: &str, more: &[&str]| {
        let mut command = pairity();
        command.arg("audit").arg(&table).args(["--score", "s"]).args(more).env("TMPDIR", folder.path());
        run(command.args(["--format", "json", "--memory", memory]))
    };
    for (more, part) in [
        (&["--label", "y", "--group", "g", "--check", "auc >= 0.6"][..], 1e-9),
        (&["--group", "g", "--ties", "strict"], 1e-9),
        (&["--label", "y", "--group", "g", "--weight", "w"], 1e-6),
        (&["--label", "y", "--pair-weight", "label-gap"], 1e-6),
        // Block pair by block pair. Placements in memory have the precision of f32.
        (&["--label", "real", "--group", "g", "--check", "cross_group <= 0.1"], 1e-7),
        (&["--label", "y", "--protected", "z"], 1e-7),
    ] {
        let (some, whole) = (read("200kB", more), read("9GB", more));
        assert_eq!((&some.err, some.code), (&whole.err, whole.code), "{more:?}");
        let documents = [&some, &whole].map(|outcome| serde_json::from_str(&outcome.out).unwrap());
        assert_near(&documents[0], &documents[1], part, "");
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    let part = folder.path().join("part.json");
    let wrong = read("200kB", &["--label", "y", "--partial", part.to_str().unwrap()]);
    assert!(wrong.refusal().contains("--query"), "{}", wrong.err);
    let wrong = read("200kB", &["--label", "y", "--group", "g", "--check", "A[x > y] >= 0.5"]);
    assert!(wrong.refusal().contains("unknown group"), "{}", wrong.err);
}

#[test]
fn what_time_does_not_allow_to_compare_is_estimated_and_said_to_be() {
    let folder = TempDir::new().unwrap();
    let table = one_query(folder.path(), 30_000);
    let page = folder.path().join("page.html");
    let read = |more: &[&str]| {
        let mut command = pairity();
        let columns = ["--score", "s", "--label", "real", "--group", "g", "--check", "auc >= 0.9"];
        command
            .arg("audit")
            .arg(&table)
            .args(columns)
            .args(["--memory", "200kB"])
            .env("TMPDIR", folder.path());
        run(command.args(more))
    };
    let estimated = read(&["--time-limit", "1ms", "--html", page.to_str().unwrap()]);
    assert_eq!(estimated.code, 1, "{}", estimated.err);
    for says in [
        "Estimated audit of",
        "an estimate from ",
        "% of the pairs",
        "an estimate: all of the interval is below",
    ] {
        assert!(estimated.out.contains(says), "{says}: {}", estimated.out);
    }
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("Estimated audit of") && page.contains("an estimate from "));
    let [some, all] = [&["--time-limit", "1ms", "--format", "json"][..], &["--format", "json"]].map(|more| {
        let document: serde_json::Value = serde_json::from_str(&read(more).out).unwrap();
        document
    });
    assert!(all.get("estimate").is_none());
    let share = some["estimate"]["share"].as_f64().unwrap();
    assert!(share > 0.0 && share < 0.5, "{share}");
    assert!(some["auc"]["pairs"].as_u64() < all["auc"]["pairs"].as_u64());
    // The table has scores of one law, so that the whole is inside the interval of nearly every estimate.
    let number = |document: &serde_json::Value, field: &str| document["auc"][field].as_f64().unwrap();
    assert!(
        (number(&some, "value") - number(&all, "value")).abs() < number(&some, "high") - number(&some, "low")
    );
}
