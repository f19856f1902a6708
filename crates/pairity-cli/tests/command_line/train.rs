//! `pairity train`, from a table to a model.

use super::{Outcome, pairity, run};
use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const COLUMNS: [&str; 6] = ["--label", "y", "--query", "q", "--group", "g"];

/// Numbers that look random, the same at every call.
struct Draws(u64);

impl Draws {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A sum of uniforms is normal enough.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// Queries of six with one good candidate; x ranks group a well and group b badly, w the other way round.
fn table(queries: usize) -> String {
    let mut draws = Draws(7);
    let mut text = "q,g,y,x,w,city\n".to_owned();
    for query in 0..queries {
        for candidate in 0..6 {
            let (good, b) = (candidate == 0, draws.uniform() < 0.4);
            let lift = |strong: bool| if good { if strong { 2.0 } else { 0.2 } } else { 0.0 };
            let (x, w) = (draws.normal() + lift(!b), draws.normal() + lift(b));
            let (group, label) = (if b { "b" } else { "a" }, u8::from(good));
            let city = ["Rome", "Oslo", ""][query % 3];
            writeln!(text, "{query},{group},{label},{x:.4},{w:.4},{city}").unwrap();
        }
    }
    text
}

/// A folder with a table of so many queries.
pub struct Work {
    folder: TempDir,
}

impl Work {
    pub fn new(queries: usize) -> Work {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("table.csv"), table(queries)).unwrap();
        Work { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn arguments(&self, model: &str, more: &[&str]) -> Vec<String> {
        let (table, model) = (self.path("table.csv"), self.path(model));
        let own = ["train", table.to_str().unwrap(), "-o", model.to_str().unwrap()];
        own.into_iter().chain(COLUMNS).chain(more.iter().copied()).map(str::to_owned).collect()
    }

    pub fn train(&self, model: &str, more: &[&str]) -> Outcome {
        run(pairity().args(self.arguments(model, more)))
    }

    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Short runs, since what is tested is not how good they are.
pub const SHORT: [&str; 4] = ["--iterations", "200", "--step-size", "0.1"];

#[test]
fn a_goal_that_can_be_met_is_met_and_the_model_is_written() {
    let work = Work::new(120);
    let goal = ["--subject-to", "cross_group <= 0.05", "--split", "1,0,0", "--format", "json"];
    let outcome = work.train("model.json", &[&SHORT[..], &goal].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    let json = outcome.json();
    assert_eq!(json["schema"], "pairity.train/1");
    assert!(["feasible", "feasible_as_mixture"].contains(&json["status"].as_str().unwrap()), "{json}");
    assert_eq!(
        (&json["method"], &json["model"], &json["iterations"]),
        (&"constrained".into(), &"linear".into(), &200.into())
    );
    assert_eq!(json["features"], serde_json::json!(["x", "w"]));
    assert!(json["notes"][0].as_str().unwrap().contains("\"city\""), "{}", json["notes"]);
    let train = &json["train"];
    let violation = &train["violations"][0];
    assert_eq!(violation["constraint"], "cross_group <= 0.05");
    assert!(violation["value"].as_f64().unwrap() <= 0.05 + 1e-6);
    assert!(violation["violation"].as_f64().unwrap() <= 1e-6);
    let gap = train["accuracy"][0][1].as_f64().unwrap() - train["accuracy"][1][0].as_f64().unwrap();
    assert!((gap.abs() - violation["value"].as_f64().unwrap()).abs() < 1e-9, "{train}");
    assert_eq!(train["objective"], train["auc"]);
    assert!(train["objective_low"].as_f64() < train["objective"].as_f64());
    assert!(json["validation"].is_null() && json["test"].is_null());
    let total: f64 =
        json["components"].as_array().unwrap().iter().map(|c| c["probability"].as_f64().unwrap()).sum();
    assert!((total - 1.0).abs() < 1e-9);

    let model: Value = serde_json::from_str(&read(&work.path("model.json"))).unwrap();
    assert_eq!((&model["schema"], &model["status"]), (&"pairity.model/1".into(), &json["status"]));
    assert_eq!(model["components"].as_array().map(Vec::len), json["components"].as_array().map(Vec::len));
    assert_eq!(work.files(), ["model.json", "table.csv"], "no checkpoint is left");
}

#[test]
fn a_goal_that_can_not_be_met_is_exit_1_and_says_by_how_much() {
    let work = Work::new(60);
    let goal = ["--subject-to", "A[a > b] >= 0.99", "--subject-to", "A[b > a] >= 0.99"];
    let outcome = work.train("model.json", &[&SHORT[..], &goal].concat());
    assert_eq!((outcome.code, outcome.err.as_str()), (1, ""));
    assert!(outcome.out.contains("Goal not met: "), "{}", outcome.out);
    assert!(outcome.out.contains("missed by 0."), "{}", outcome.out);
    assert!(work.path("model.json").exists());
}

#[test]
fn without_constraints_they_are_only_measured() {
    let work = Work::new(90);
    let goal = ["--subject-to", "cross_group <= 0.001", "--method", "unconstrained", "--format", "json"];
    let outcome = work.train("model.json", &[&SHORT[..], &goal].concat());
    let json: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!((&json["method"], &json["status"]), (&"unconstrained".into(), &"infeasible".into()));
    assert_eq!(outcome.code, 1);
    assert_eq!(json["test"]["violations"][0]["constraint"], "cross_group <= 0.001");
    let rows = |part: &str| json[part]["rows"].as_u64().unwrap();
    assert_eq!((rows("train"), rows("validation") + rows("test")), (45 * 6, 45 * 6));
}

#[test]
fn wrong_goals_and_arguments_touch_no_file() {
    let work = Work::new(20);
    let missing = work.path("no/such/model.json");
    for (arguments, words) in [
        (&["--subject-to", "A[a > c] >= 0.5"][..], "c"),
        (&["--subject-to", "abs(A[a > b]) >= 0.5"], "convex"),
        (&["--features", "x,y"], "is the label"),
        (&["--features", "z"], "no column \"z\""),
        (&["--split", "0.5,0.6,0"], "sum of 1"),
        (&["--validation", work.path("table.csv").to_str().unwrap()], "used twice"),
        (&["--iterations", "0"], "at least 1"),
        (&["--time-limit", "soon"], "such as 90s"),
        (&["--model", "forest"], "linear"),
        (&["--maximize", "auc", "--minimize", "mse"], "cannot be used with"),
        (&["-o", missing.to_str().unwrap()], "can't write"),
    ] {
        let given = if arguments[0] == "-o" {
            run(pairity()
                .args(["train", work.path("table.csv").to_str().unwrap()])
                .args(COLUMNS)
                .args(arguments))
        } else {
            work.train("model.json", arguments)
        };
        let message = given.refusal().to_lowercase();
        assert!(message.contains(&words.to_lowercase()), "{arguments:?}: {message}");
        assert_eq!(work.files(), ["table.csv"], "{arguments:?}");
    }
    let none = run(pairity().args([
        "train",
        work.path("table.csv").to_str().unwrap(),
        "-o",
        work.path("m").to_str().unwrap(),
    ]));
    assert!(none.refusal().contains("--label"), "{}", none.err);
}

/// 31 people of whom 3 are of the good ones of b; and 12 queries, of which 4 have one of b that is better than one
/// of a.
fn small_tables() -> [String; 2] {
    let x = |row: usize, label: usize| row * 7 % 11 + 3 * label;
    let mut people = "x,y,g\n".to_owned();
    let kinds = [("a", 1, 8), ("a", 0, 12), ("b", 1, 3), ("b", 0, 8)];
    let each = kinds.into_iter().flat_map(|(group, label, count)| std::iter::repeat_n((group, label), count));
    for (row, (group, label)) in each.enumerate() {
        writeln!(people, "{},{label},{group}", x(row, label)).unwrap();
    }
    let mut queries = "x,y,g,q\n".to_owned();
    for (query, candidate) in (0..12).flat_map(|query| (0..4).map(move |candidate| (query, candidate))) {
        let b = candidate < 2 && (candidate == 0) == (query % 3 == 0);
        let (label, group) = (usize::from(candidate == 0), if b { "b" } else { "a" });
        writeln!(queries, "{},{label},{group},{query}", x(query + 3 * candidate, label)).unwrap();
    }
    [people, queries]
}

#[test]
fn every_part_of_a_small_table_has_pairs_whatever_the_seed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (text, query) in small_tables().into_iter().zip([&[][..], &["--query", "q"]]) {
        std::fs::write(path("small.csv"), text).unwrap();
        for seed in 0..8 {
            let mut command = pairity();
            command.args(["train", &path("small.csv"), "--label", "y", "--group", "g", "--iterations", "2"]);
            command.args(["--subject-to", "cross_group <= 0.2", "--step-size", "1", "--format", "json"]);
            command.args(["--seed", &seed.to_string(), "-o", &path("model.json")]).args(query);
            let outcome = run(&mut command);
            // Parts this small may have no interval, which is exit 3.
            assert_ne!(outcome.code, 2, "seed {seed} {query:?}: {}", outcome.err);
            let report: Value = serde_json::from_str(&outcome.out).unwrap();
            for part in ["train", "validation", "test"] {
                let value = &report[part]["violations"][0]["value"];
                assert!(value.is_number(), "seed {seed} {query:?} {part}: {value}");
            }
        }
    }
}

#[test]
fn a_part_without_pairs_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("one.csv"), "x,y,g\n1,1,a\n2,0,b\n3,0,a\n4,1,b\n").unwrap();
    std::fs::write(path("other.csv"), "x,y,g\n1,1,a\n2,0,b\n").unwrap();
    let fails = |train: &str, validation: &str, more: &[&str]| {
        let mut command = pairity();
        command.args(["train", &path(train), "--validation", &path(validation), "-o", &path("model.json")]);
        command.args([
            "--label",
            "y",
            "--group",
            "g",
            "--subject-to",
            "cross_group <= 0.2",
            "--iterations",
            "2",
        ]);
        let outcome = run(command.args(more));
        assert_eq!(outcome.code, 2, "{}", outcome.err);
        outcome.err
    };
    let end = "give it more rows, or leave the rate out of the goal";
    let message = fails("one.csv", "other.csv", &[]);
    assert!(
        message.contains(&format!("A[b > a], which has no pairs in the validation part: {end}")),
        "{message}"
    );
    let message = fails("other.csv", "one.csv", &[]);
    assert!(message.contains("A[b > a], which has no pairs in the training part"), "{message}");
    let message = fails("one.csv", "other.csv", &["--method", "group-offset"]);
    assert!(message.contains("A[b > a] has no pairs in the validation part, which"), "{message}");
}

#[test]
fn a_copy_of_the_label_is_told_and_can_be_excluded() {
    let work = Work::new(20);
    let text = std::fs::read_to_string(work.path("table.csv")).unwrap();
    let leaked = text.lines().enumerate().map(|(row, line)| match row {
        0 => format!("{line},hired_later\n"),
        _ => format!("{line},{}\n", -10 * line.split(',').nth(2).unwrap().parse::<i32>().unwrap()),
    });
    std::fs::write(work.path("table.csv"), leaked.collect::<String>()).unwrap();
    let fast = ["--iterations", "2", "--step-size", "1"];
    let told = |more: &[&str]| {
        let outcome = work.train("model.json", &[&fast[..], more].concat());
        assert!(outcome.code < 2, "{}", outcome.err);
        outcome.out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let leak = "\"hired_later\" alone orders the labels of the training rows almost perfectly (auc 0.000)";
    let text = told(&[]);
    assert!(text.contains(&format!("Note: {leak}")), "{text}");
    assert!(text.contains("linear scorer of 3 features (x, w, hired_later)"), "{text}");
    let page = work.path("page.html");
    let text = told(&["--exclude-features", "hired_later", "--html", page.to_str().unwrap()]);
    assert!(!text.contains("hired_later") && text.contains("of 2 features (x, w)"), "{text}");
    assert!(std::fs::read_to_string(page).unwrap().contains("linear scorer of 2 features (x, w)"));
    let json = told(&["--exclude-features", "hired_later", "--format", "json"]);
    assert!(json.contains("\"features\": [\"x\",\"w\"]"), "{json}");
    let outcome = work.train("model.json", &["--exclude-features", "hired"]);
    let refused = outcome.refusal();
    assert!(refused.contains("there is no column \"hired\""), "{refused}");
    let mut compare = pairity();
    compare.arg("compare").arg(work.path("table.csv")).args(COLUMNS).args(fast);
    compare.args(["--methods", "unconstrained", "--subject-to", "cross_group <= 0.1"]);
    let outcome = run(compare.args(["--format", "json"]));
    let report: Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!(report["features"], serde_json::json!(["x", "w", "hired_later"]));
    assert!(report["notes"][1].as_str().unwrap().starts_with(leak), "{report}");
}

#[test]
fn threads_change_no_byte_of_the_model() {
    let work = Work::new(150);
    let goal = ["--subject-to", "cross_group <= 0.05", "--iterations", "60", "--snapshots", "20"];
    for (threads, model) in [("1", "one.json"), ("2", "two.json")] {
        let outcome = work.train(model, &[&goal[..], &["--threads", threads]].concat());
        assert!(outcome.code < 2, "{}", outcome.err);
    }
    assert_eq!(read(&work.path("one.json")), read(&work.path("two.json")));
}

#[test]
fn a_run_that_is_stopped_leaves_a_model_and_goes_on_to_the_same_end() {
    let work = Work::new(100);
    let goal = ["--subject-to", "cross_group <= 0.05", "--iterations", "400", "--step-size", "0.1,1"];
    work.train("whole.json", &goal);
    let outcome = work.train("model.json", &[&goal[..], &["--time-limit", "0"]].concat());
    assert!(outcome.out.contains("Stopped early: ") && outcome.code < 2, "{}{}", outcome.out, outcome.err);
    assert!(work.path("model.json.checkpoint").exists());
    let other = work.train("model.json", &["--resume", "--iterations", "400", "--seed", "1"]);
    assert!(other.refusal().contains("other settings"), "{}", other.err);
    work.train("model.json", &[&goal[..], &["--resume"]].concat());
    assert_eq!(read(&work.path("model.json")), read(&work.path("whole.json")));
    assert!(!work.path("model.json.checkpoint").exists());
    // Without a checkpoint there is nothing to go on from, so that it starts anew.
    work.train("model.json", &[&goal[..], &["--resume"]].concat());
    assert_eq!(read(&work.path("model.json")), read(&work.path("whole.json")));
}

#[test]
fn a_run_on_features_on_disk_goes_on_with_the_same_ones_only() {
    let work = Work::new(100);
    let goal = ["--iterations", "300", "--step-size", "0.1", "--batch", "7", "--memory", "1KB"];
    work.train("whole.json", &goal);
    let stopped = work.train("model.json", &[&goal[..], &["--time-limit", "0"]].concat());
    assert!(stopped.out.contains("Stopped early: "), "{}{}", stopped.out, stopped.err);
    let text = read(&work.path("table.csv"));
    let line = text.lines().nth(300).unwrap();
    let changed = text.replace(line, &line.replacen('.', "7.", 1));
    assert_ne!(changed, text);
    std::fs::write(work.path("table.csv"), changed).unwrap();
    let other = work.train("model.json", &[&goal[..], &["--resume"]].concat());
    assert!(other.refusal().contains("other settings"), "{}", other.err);
    std::fs::write(work.path("table.csv"), text).unwrap();
    work.train("model.json", &[&goal[..], &["--resume"]].concat());
    assert_eq!(read(&work.path("model.json")), read(&work.path("whole.json")));
}

#[test]
fn equal_scores_earn_the_same_in_verdict_and_report() {
    let work = Work::new(1);
    std::fs::write(work.path("flat.csv"), "x,y\n1,0\n1,1\n1,0\n1,1\n").unwrap();
    for (ties, code, auc) in [("half", 0, 0.5), ("strict", 1, 0.0)] {
        let mut command = pairity();
        command.arg("train").arg(work.path("flat.csv")).args(["--label", "y", "--subject-to", "auc >= 0.4"]);
        command.args(["--split", "1,0,0", "--ties", ties, "--iterations", "2", "--format", "json", "-o"]);
        let outcome = run(command.arg(work.path("model.json")));
        let report: Value = serde_json::from_str(&outcome.out).unwrap();
        assert_eq!((outcome.code, &report["train"]["auc"]), (code, &auc.into()), "{report}");
    }
}

#[test]
fn what_has_the_name_of_the_checkpoint_is_never_touched() {
    let work = Work::new(60);
    let path = work.path("model.json.checkpoint");
    let short = ["--iterations", "20", "--step-size", "0.1"];
    let resume = ["--iterations", "20", "--step-size", "0.1", "--resume"];
    std::fs::write(&path, "notes").unwrap();
    for arguments in [&short[..], &resume[..]] {
        let refusal = work.train("model.json", arguments).refusal().to_owned();
        assert!(refusal.contains("move it away"), "{refusal}");
        assert_eq!(read(&path), "notes");
    }
    std::fs::remove_file(&path).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(work.path("elsewhere"), &path).unwrap();
        let refusal = work.train("model.json", &short).refusal().to_owned();
        assert!(refusal.contains("is no plain file") && !work.path("elsewhere").exists(), "{refusal}");
        std::fs::remove_file(&path).unwrap();
    }
    work.train("model.json", &[&short[..], &["--time-limit", "0"]].concat());
    let kept = read(&path);
    let refusal = work.train("model.json", &short).refusal().to_owned();
    assert!(refusal.contains("add --resume to go on"), "{refusal}");
    assert_eq!(read(&path), kept);
    work.train("model.json", &resume);
    assert!(!path.exists());
}

/// Starts a run that would take long, and waits for its first checkpoint.
#[cfg(unix)]
fn start(work: &Work, arguments: &[&str]) -> std::process::Child {
    let binary = assert_cmd::cargo::cargo_bin!("pairity");
    let mut command = std::process::Command::new(binary);
    command.args(work.arguments("model.json", arguments));
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let started = |_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        work.path("model.json.checkpoint").exists()
    };
    if !(0..6_000).any(started) {
        child.kill().unwrap();
        child.wait().unwrap();
        panic!("there is no checkpoint");
    }
    child
}

#[cfg(unix)]
#[test]
fn a_run_that_is_killed_goes_on_from_its_checkpoint() {
    let work = Work::new(60);
    let long = ["--iterations", "100000000", "--snapshots", "100000", "--step-size", "0.1"];
    let mut child = start(&work, &long);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!work.path("model.json").exists());
    let text = read(&work.path("model.json.checkpoint"));
    let outcome = work
        .train("model.json", &[&long[..], &["--resume", "--time-limit", "0", "--format", "json"]].concat());
    assert_eq!(outcome.json()["status"], "time_limit");
    let made = |text: &str| {
        let checkpoint: Value = serde_json::from_str(text).unwrap();
        checkpoint["runs"][0]["iteration"].as_u64().unwrap()
    };
    let (before, after) = (made(&text), made(&read(&work.path("model.json.checkpoint"))));
    assert!(after > before && before > 0, "{before} {after}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_with_the_best_model_so_far() {
    let work = Work::new(60);
    let long =
        ["--iterations", "100000000", "--snapshots", "100000", "--step-size", "0.1", "--format", "json"];
    let child = start(&work, &long);
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &json["status"]), (Some(0), &"time_limit".into()));
    assert!(work.path("model.json").exists() && work.path("model.json.checkpoint").exists());
}

#[test]
fn other_tables_may_hold_the_validation_and_test_rows() {
    let work = Work::new(80);
    let other = |name: &str, queries: usize| {
        std::fs::write(work.path(name), table(queries)).unwrap();
        work.path(name).to_str().unwrap().to_owned()
    };
    let (validation, test) = (other("validation.csv", 40), other("test.csv", 30));
    let json = work
        .train(
            "model.json",
            &[&SHORT[..], &["--validation", &validation, "--test", &test, "--format", "json"]].concat(),
        )
        .json();
    let queries = |part: &str| json[part]["queries"].as_u64().unwrap();
    // Queries of the same name in two tables are two queries.
    assert_eq!([queries("train"), queries("validation"), queries("test")], [80, 40, 30]);
    assert_eq!(json["selected_on"], "validation");
}

#[test]
fn equal_columns_of_one_name_are_a_warning_and_others_an_error_where_they_are_used() {
    let work = Work::new(60);
    let text = read(&work.path("table.csv"));
    let twins = |other: &dyn Fn(&str) -> String| -> String {
        let line = |line: &str| format!("{line},{}\n", other(line.split(',').nth(3).unwrap()));
        text.lines().map(line).collect()
    };
    std::fs::write(work.path("table.csv"), twins(&|x| x.to_owned())).unwrap();
    let outcome = work.train("model.json", &[&SHORT[..], &["--format", "json"]].concat());
    assert_eq!(outcome.err.matches("warning: ").count(), 1, "{}", outcome.err);
    assert!(outcome.err.contains("has 2 columns named \"x\" with the same cells"), "{}", outcome.err);
    let json: Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!(json["features"].as_array().unwrap().len(), 2);
    std::fs::write(work.path("table.csv"), twins(&|x| x.replace(".1", ".2"))).unwrap();
    let outcome = work.train("model.json", &SHORT);
    assert_eq!(outcome.code, 2);
    assert!(outcome.err.contains("2 columns named \"x\", which differ on line "), "{}", outcome.err);
    let outcome = work.train("model.json", &[&SHORT[..], &["--features", "w"]].concat());
    assert!(outcome.code < 2 && outcome.err.is_empty(), "{}", outcome.err);
}

#[test]
fn networks_group_aware_scorers_text_features_and_batches_train() {
    let work = Work::new(60);
    for (arguments, features) in [
        (&["--model", "mlp", "--hidden", "4,3"][..], 2),
        (&["--group-aware"], 2),
        (&["--group-aware=offsets"], 2),
        (&["--features", "x,city"], 4),
        (&["--batch", "16"], 2),
        (&["--multiplier-share", "0.5"], 2),
        (&["--deterministic"], 2),
        (&["--solver", "paper", "--answer", "last", "--player", "lagrangian", "--surrogate", "ramp"], 2),
        (&["--average", "queries", "--player", "external", "--surrogate", "squared-hinge"], 2),
    ] {
        let goal = ["--subject-to", "cross_group <= 0.2", "--format", "json"];
        let json = work.train("model.json", &[&SHORT[..], &goal, arguments].concat()).json();
        assert_eq!(json["features"].as_array().unwrap().len(), features, "{arguments:?}");
        assert!(json["test"]["auc"].as_f64().unwrap() > 0.5, "{arguments:?}: {json}");
    }
}

#[test]
fn a_regression_has_an_intercept_and_may_be_held_to_a_continuous_attribute() {
    let mut draws = Draws(3);
    let mut text = "pay,age,skill\n".to_owned();
    for _ in 0..300 {
        let (age, skill) = (draws.uniform(), draws.normal());
        writeln!(text, "{},{age},{skill}", 5.0 + skill + age + 0.1 * draws.normal()).unwrap();
    }
    let work = Work::new(1);
    std::fs::write(work.path("pay.csv"), text).unwrap();
    let (pay, model) = (work.path("pay.csv"), work.path("m.json"));
    let json = run(pairity()
        .args(["train", pay.to_str().unwrap(), "-o", model.to_str().unwrap(), "--label", "pay"])
        .args([
            "--protected",
            "age",
            "--minimize",
            "mse",
            "--subject-to",
            "continuous <= 0.2",
            "--format",
            "json",
        ]))
    .json();
    let test = &json["test"];
    // Age is no feature, so that its variance of 1/12 is the least error.
    assert!((0.05..0.2).contains(&test["mse"].as_f64().unwrap()), "{test}");
    assert_eq!(test["objective"], test["mse"]);
    assert!(test["continuous"]["greater"].as_f64().is_some(), "{test}");
    assert_eq!(json["features"], serde_json::json!(["skill"]));
}

#[test]
fn a_scorer_that_may_use_a_continuous_attribute_has_weights_that_change_with_it() {
    // The more of x the better where z is high, the less the better where it is low.
    let mut text = "x,z,y\n".to_owned();
    for row in 0..160 {
        let (x, z) = (f64::from(row * 37 % 41) - 20.0, f64::from(row * 59 % 43) - 21.0);
        text += &format!("{x},{z},{}\n", u8::from(x * z > 0.0));
    }
    let (folder, table) = super::file("rows.csv", &text);
    let (model, out) = (folder.path().join("model.json"), folder.path().join("scored.csv"));
    let columns =
        ["--label", "y", "--protected", "z", "--features", "x", "--split", "1,0,0", "--format", "json"];
    let goal = ["--solver", "columns", "--subject-to", "continuous <= 0.3"];
    let train = |aware: &str| {
        run(pairity().arg("train").arg(&table).args(columns).args(goal).arg(aware).arg("-o").arg(&model))
            .json()
    };
    let json = train("--group-aware=offsets");
    assert_eq!(json["features"], serde_json::json!(["x", "z"]));
    assert!(json["train"]["auc"].as_f64().unwrap() < 0.7, "{json}");
    let json = train("--group-aware");
    assert_eq!(json["features"], serde_json::json!(["x", "z", "x × z"]));
    let auc = json["train"]["auc"].as_f64().unwrap();
    assert!(auc > 0.99, "{json}");
    let outcome =
        run(pairity().arg("score").arg(&model).arg(&table).args(["--score", "s"]).arg("-o").arg(&out));
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    let audit =
        run(pairity().arg("audit").arg(&out).args(["--label", "y", "--score", "s", "--format", "json"]))
            .json();
    assert_eq!(audit["auc"]["value"], auc);
}

#[test]
fn scores_may_be_held_to_parity_of_a_continuous_attribute() {
    let mut draws = Draws(4);
    let mut text = "pay,age,skill,years\n".to_owned();
    for _ in 0..150 {
        let (age, skill) = (draws.uniform(), draws.normal());
        let years = 3.0 * age + 0.3 * draws.normal();
        writeln!(text, "{},{age},{skill},{years}", skill + years).unwrap();
    }
    let work = Work::new(1);
    std::fs::write(work.path("pay.csv"), text).unwrap();
    let (pay, model) = (work.path("pay.csv"), work.path("m.json"));
    let parity = |bound: &str| {
        let json = run(pairity()
            .args(["train", pay.to_str().unwrap(), "-o", model.to_str().unwrap(), "--label", "pay"])
            .args(["--protected", "age", "--subject-to", &format!("continuous_parity <= {bound}")])
            .args(["--split", "1,0,0", "--format", "json"])
            .args(SHORT))
        .json();
        let part = &json["train"];
        let [greater, less] =
            ["parity_greater", "parity_less"].map(|of| part["continuous"][of].as_f64().unwrap());
        assert_eq!(part["violations"][0]["value"].as_f64().unwrap(), (greater - less).abs(), "{part}");
        (greater - less, part["auc"].as_f64().unwrap())
    };
    // Years go with age, skill does not: parity is bought by leaving years aside.
    let (free, bound) = (parity("1"), parity("0.1"));
    assert!(free.0 > 0.3 && bound.0.abs() < 0.1 + 1e-6, "{free:?} {bound:?}");
    assert!(bound.1 < free.1 && bound.1 > 0.6, "{free:?} {bound:?}");
}

#[test]
fn the_text_tells_the_goal_the_result_and_what_to_run_next() {
    let work = Work::new(90);
    let goal = ["--subject-to", "cross_group <= 0.2"];
    let text = work.train("model.json", &[&SHORT[..], &goal].concat()).out;
    for words in [
        "Goal: maximize auc subject to cross_group <= 0.2",
        "Goal met: ",
        "train 270 rows in 45 queries",
        "met, slack",
        "Pairwise accuracy (test rows)",
        "pairity score",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn a_goal_that_can_not_be_estimated_where_the_model_was_chosen_is_exit_3() {
    let work = Work::new(5);
    let outcome = work.train(
        "model.json",
        &[&SHORT[..], &["--subject-to", "auc >= 0.1", "--split", "0.6,0.2,0.2"]].concat(),
    );
    assert_eq!((outcome.code, outcome.err.as_str()), (3, ""), "{}", outcome.out);
    let text = outcome.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "Can't tell: whether the goal is met on the validation rows can't be estimated",
        "one query alone has pairs of auc. Give that part more queries",
        "test: the interval can't be estimated: one query alone has pairs of auc.",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn certainty_is_spoken_of_test_rows_only_and_what_is_surely_missed_there_is_not_met() {
    let work = Work::new(120);
    let goal = ["--subject-to", "auc >= 0.6"];
    let text = work.train("model.json", &[&SHORT[..], &goal].concat()).out;
    assert_eq!(text.matches("surely holds").count(), 1, "{text}");
    for words in ["train (fit to)", "validation (chosen on)", "test (new to the model)"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let alone = work.train("model.json", &[&SHORT[..], &goal, &["--split", "1,0,0"]].concat());
    assert!(
        alone.code == 0 && !alone.out.contains("surely") && alone.out.contains("met, slack"),
        "{}",
        alone.out
    );
    // Labels the other way around: what ranks well there ranks badly here.
    let turned = table(120).replace(",0,", ",_,").replace(",1,", ",0,").replace(",_,", ",1,");
    std::fs::write(work.path("test.csv"), turned).unwrap();
    let test = work.path("test.csv");
    let outcome =
        work.train("model.json", &[&SHORT[..], &goal, &["--test", test.to_str().unwrap()]].concat());
    let text = outcome.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = "Goal not met: it is on the validation rows, but on the test rows, which nothing was chosen on, \
                 auc >= 0.6 is surely missed, by 0.";
    assert!(outcome.code == 1 && text.contains(words), "{text}");
}

#[test]
fn without_queries_the_model_is_one_scorer_and_a_mixture_says_what_it_means() {
    let work = Work::new(60);
    let (table, model) = (work.path("table.csv"), work.path("model.json"));
    let train = |more: &[&str]| {
        run(pairity()
            .args([
                "train",
                table.to_str().unwrap(),
                "-o",
                model.to_str().unwrap(),
                "--label",
                "y",
                "--group",
                "g",
            ])
            .args(["--features", "x,w", "--subject-to", "cross_group <= 0.01", "--split", "1,0,0"])
            .args(SHORT)
            .args(more))
    };
    let one = train(&["--format", "json"]).json();
    assert_eq!(one["components"].as_array().map(Vec::len), Some(1), "{one}");
    let mixture = train(&["--answer", "mixture"]);
    let text = mixture.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let words =
        "There are no queries, so one of them is drawn for the whole table, and the worst misses it by 0.";
    assert!(mixture.code == 1 && text.contains(words), "{text}");
}

#[test]
fn features_that_stay_on_disk_give_the_same_bytes() {
    let work = Work::new(90);
    assert_eq!(work.train("first.json", &[&SHORT[..], &["--features", "x"]].concat()).code, 0);
    let [table, first, parquet] = ["table.csv", "first.json", "table.parquet"].map(|name| work.path(name));
    let mut score = pairity();
    score.arg("score").arg(first).arg(table).arg("-o").arg(&parquet).args(["--score", "s"]);
    assert_eq!(run(&mut score).code, 0);
    let cases: [&[&str]; 4] = [
        &["--exclude-features", "s", "--where", "w > -1.5", "--subject-to", "cross_group <= 0.1"],
        &["--features", "city,w,x", "--group-aware", "--multiplier-share", "0.3"],
        &["--model", "mlp", "--hidden", "4", "--split", "1,0,0"],
        &["--method", "group-offset", "--no-standardize"],
    ];
    for case in cases {
        let train = |model: &str, more: &[&str]| {
            let mut command = pairity();
            command.arg("train").arg(&parquet).arg("-o").arg(work.path(model)).args(COLUMNS);
            command.args(["--iterations", "60", "--step-size", "0.1,1", "--batch", "7", "--format", "json"]);
            let outcome = run(command.args(case).args(more));
            assert!(outcome.code < 2, "{case:?}: {}", outcome.err);
            let mut json = outcome.json();
            ["seconds", "file"].iter().for_each(|field| json[field] = Value::Null);
            (json, read(&work.path(model)))
        };
        assert_eq!(train("disk.json", &["--memory", "1KB"]), train("memory.json", &[]), "{case:?}");
    }
}

#[test]
fn memory_is_for_batches() {
    let work = Work::new(3);
    let outcome = work.train("model.json", &["--memory", "1GB"]);
    assert!(outcome.code == 2 && outcome.err.contains("--batch"), "{}", outcome.err);
}

#[test]
fn a_guarantee_is_given_or_refused_with_what_it_would_take() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let train = |goal: &str, more: &[&str]| {
        let columns = ["--label", "label", "--query", "query", "--group", "gender", "--features", "score"];
        let own = ["--group-aware", "--subject-to", goal, "--guarantee", "0.95", "--step-size", "0.1"];
        run(pairity()
            .arg("train")
            .arg(super::HIRING)
            .args(columns)
            .args(own)
            .args(more)
            .args(["-o", &at("m.json")]))
    };
    let json = ["--format", "json"];
    let refused = train("cross_group <= 0.05", &json);
    assert_eq!(refused.code, 1, "{}", refused.err);
    let document = refused.json();
    let guarantee = &document["guarantee"];
    assert_eq!((&guarantee["confidence"], &guarantee["given"]), (&0.95.into(), &false.into()));
    assert_eq!((&guarantee["rows"], &guarantee["unit"]), (&30.into(), &"query".into()));
    let limit = &guarantee["limits"][0];
    assert_eq!((&limit["constraint"], &limit["bound"]), (&"cross_group <= 0.05".into(), &0.05.into()));
    assert!(limit["high"].as_f64().unwrap() > 0.05);
    assert_eq!(document["safety"]["queries"], 30);
    assert!(document["validation"].is_null() && document["test"].is_null());
    let page = at("page.html");
    let text = train("cross_group <= 0.05", &["--html", &page]);
    assert!(
        text.code == 1 && text.out.contains("No guarantee: with 95% confidence, on 30 queries"),
        "{}",
        text.out
    );
    assert!(text.out.contains("would do.") || text.out.contains("would not help"), "{}", text.out);
    assert!(std::fs::read_to_string(&page).unwrap().contains("No guarantee: with 95% confidence"));
    let given = train("cross_group <= 0.6", &[]);
    assert_eq!(given.code, 0, "{}", given.out);
    assert!(given.out.contains("Guaranteed: with 95% confidence"), "{}", given.out);
    // A split of one's own keeps its test rows; half of the others are for the guarantee.
    let split = train("cross_group <= 0.6", &[&json[..], &["--split", "0.4,0.2,0.4"]].concat()).json();
    let queries =
        ["train", "validation", "safety", "test"].map(|part| split[part]["queries"].as_u64().unwrap());
    assert_eq!(queries, [12, 6, 18, 24]);
    let nothing = run(pairity().arg("train").arg(super::HIRING).args([
        "--label",
        "label",
        "--guarantee",
        "0.9",
        "-o",
        &at("m.json"),
    ]));
    assert!(nothing.refusal().contains("--guarantee needs a constraint"), "{}", nothing.err);
}

/// The good candidates of group b stand low by the only feature: fair is only what gives up on group a.
#[test]
fn levelling_down_is_told_and_can_be_forbidden() {
    let mut text = String::from("q,g,y,x\n");
    for query in 0..60 {
        for candidate in 0..6 {
            let (good, b) = (candidate < 2, candidate % 2 == 1);
            let x = if b { -1.5 } else { 4.0 * f64::from(u8::from(good)) }
                + f64::from((query * 7 + candidate * 3) % 11) / 10.0;
            text += &format!("{query},{},{},{x}\n", if b { "b" } else { "a" }, u8::from(good));
        }
    }
    let (folder, path) = super::file("table.csv", &text);
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let train = |more: &[&str]| {
        let own = ["--label", "y", "--query", "q", "--group", "g", "--split", "1,0,0", "--iterations", "300"];
        let goal = ["--subject-to", "cross_group <= 0.05", "--step-size", "0.1,1", "-o", &at("m.json")];
        run(pairity().arg("train").arg(&path).args(own).args(goal).args(more))
    };
    let page = at("page.html");
    let free = train(&["--html", &page]);
    assert!(free.out.contains("Worse than chance: a scorer that is drawn"), "{}", free.out);
    assert!(free.out.contains("--no-harm 0.02 allows no accuracy to fall"), "{}", free.out);
    assert!(std::fs::read_to_string(&page).unwrap().contains("Worse than chance: a scorer"));
    let json = train(&["--no-harm", "0.02", "--format", "json"]);
    assert_eq!(json.code, 1, "{}", json.out);
    let document = json.json();
    let harm = document["harm"].as_array().unwrap();
    assert_eq!(
        harm.iter().map(|own| own["rate"].as_str().unwrap()).collect::<Vec<_>>(),
        ["A[a > b]", "A[b > a]"]
    );
    for own in harm {
        let value = |name: &str| own[name].as_f64().unwrap();
        assert!(value("value") >= value("unconstrained") - 0.0201, "{own}");
        assert!(value("least") <= value("value") + 1e-9, "{own}");
    }
    let stated = document["train"]["violations"].as_array().unwrap();
    assert_eq!(stated.len(), 3, "{stated:?}");
    assert!(
        stated[0]["violation"].as_f64().unwrap() > 0.1 && stated[1]["violation"].as_f64().unwrap() <= 1e-6
    );
    let told = train(&["--no-harm", "0.02"]).out;
    assert!(told.contains("is reached on the training rows misses cross_group <= 0.05 by 0.9"), "{told}");
    assert!(train(&["--no-harm", "1.5"]).refusal().contains("--no-harm is 1.5"));
}
