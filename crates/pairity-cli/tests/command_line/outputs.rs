//! What is written: never over an input or another output, all of it or nothing, and no leftovers.

use super::score::{document, folder_with, names};
use super::{Outcome, SMALL, SMALL_COLUMNS, pairity, run};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const TRAIN: [&str; 10] =
    ["--label", "y", "--query", "q", "--features", "s,age", "--iterations", "5", "--split", "1,0,0"];

/// A folder with a table, a link to it, another table and a model.
fn folder() -> TempDir {
    let folder = folder_with(&document());
    let path = |name: &str| folder.path().join(name);
    fs::write(path("in.csv"), SMALL).unwrap();
    fs::write(path("other.csv"), SMALL).unwrap();
    fs::write(path("people.csv"), "age,color\n1,red\n").unwrap();
    fs::copy(path("model.json"), path("mm.csv")).unwrap();
    fs::hard_link(path("in.csv"), path("link.csv")).unwrap();
    folder
}

fn run_in(folder: &Path, line: &str, more: &[&str]) -> Outcome {
    run(pairity().current_dir(folder).args(line.split_whitespace()).args(more))
}

fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    names(folder).into_iter().map(|name| (name.clone(), fs::read(folder.join(name)).unwrap())).collect()
}

#[test]
fn no_output_is_an_input_or_another_output_by_whatever_path() {
    let folder = folder();
    let before = contents(folder.path());
    let refused = |line: &str, more: &[&str], words: &str| {
        let outcome = run_in(folder.path(), line, more);
        assert!(outcome.refusal().contains(words), "{line}: {}", outcome.err);
        assert!(contents(folder.path()) == before, "{line}");
    };
    for out in ["in.csv", "./in.csv", "link.csv"] {
        let read = format!("error: {out} is read as a table, so that it can't be the output too");
        refused(&format!("train in.csv -o {out}"), &TRAIN, &read);
        refused(&format!("train in.csv -o m.json --html {out}"), &TRAIN, &read);
        refused(&format!("train other.csv --validation in.csv -o {out}"), &TRAIN, &read);
        refused(&format!("compare in.csv --subject-to auc>=0.1 --html {out}"), &TRAIN, &read);
        refused(&format!("audit in.csv --html {out}"), &SMALL_COLUMNS, &read);
        for option in ["-o", "--model-out", "--html"] {
            let line = format!("adjust in.csv --subject-to cross_group<=0.5 {option} {out}");
            refused(&line, &SMALL_COLUMNS, &read);
        }
    }
    refused("train in.csv -o m.json --html ./m.json", &TRAIN, "m.json and ./m.json are one file");
    refused("train in.csv -o m.json --html m.json.checkpoint", &TRAIN, "are one file");
    refused("score mm.csv people.csv -o ./mm.csv", &[], "./mm.csv is read as the model");
    refused("score model.json people.csv -o people.csv", &[], "people.csv is read as a table");
    refused("audit in.csv ./in.csv", &SMALL_COLUMNS, "in.csv and ./in.csv are one file");
    refused("train in.csv --validation ./in.csv -o m.json", &TRAIN, "./in.csv is to be used twice");
    refused("train in.csv --test link.csv -o m.json", &TRAIN, "link.csv is to be used twice");
    let line = "adjust in.csv --subject-to cross_group<=0.5 --model-out m.json --html ./m.json";
    refused(line, &SMALL_COLUMNS, "m.json and ./m.json are one file");
    refused("train in.csv -o -", &TRAIN, "- is standard output, where the report goes: name a file");
    refused("audit in.csv --html -", &SMALL_COLUMNS, "- is standard output, where the report goes");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_no_page() {
    let folder = folder();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let outcome = run_in(folder.path(), "audit in.csv --html pipe", &SMALL_COLUMNS);
    assert!(
        outcome.refusal().contains("pipe is a pipe or a device, which can't be replaced"),
        "{}",
        outcome.err
    );
}

/// Runs with standard output on a disk that is full, or with a limit on the size of files.
#[cfg(target_os = "linux")]
fn run_short(folder: &Path, limit: &str, line: &str, more: &[&str]) -> Outcome {
    let mut shell = std::process::Command::new("sh");
    shell.current_dir(folder).arg("-c").arg(format!("trap '' XFSZ; {limit}; exec \"$@\"")).arg("sh");
    shell.arg(assert_cmd::cargo::cargo_bin!("pairity")).args(line.split_whitespace()).args(more);
    let output = shell.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Outcome { out: text(output.stdout), err: text(output.stderr), code: output.status.code().unwrap() }
}

#[cfg(target_os = "linux")]
#[test]
fn all_outputs_are_written_or_none() {
    let folder = folder();
    let path = folder.path();
    for name in ["m.json", "page.html", "out.csv"] {
        fs::write(path.join(name), "old").unwrap();
    }
    let before = contents(path);
    let unchanged = |outcome: Outcome, words: &str| {
        assert!(outcome.refusal().contains(words), "{}", outcome.err);
        assert!(contents(path) == before, "{:?}", names(path));
    };
    let full = "exec > /dev/full";
    let words = "can't write to standard output: No space left on device";
    unchanged(run_short(path, full, "train in.csv -o m.json --html page.html", &TRAIN), words);
    unchanged(run_short(path, full, "score model.json people.csv -o out.csv", &[]), words);
    unchanged(run_short(path, full, "audit in.csv --html page.html", &SMALL_COLUMNS), words);
    let adjust = "adjust in.csv --tune 1 --subject-to cross_group<=0.9 -o out.csv";
    unchanged(run_short(path, full, adjust, &SMALL_COLUMNS), words);
    // The model would fit, the page does not.
    let small = run_short(path, "ulimit -f 32", "train in.csv -o m.json --html page.html", &TRAIN);
    unchanged(small, "can't write page.html: File too large");
    assert_eq!(run_in(path, "train in.csv -o m.json --html page.html", &TRAIN).code, 0);
    assert!(
        fs::read(path.join("m.json")).unwrap() != b"old"
            && fs::read(path.join("page.html")).unwrap() != b"old"
    );
}

/// Starts a command, sends it a signal as soon as there is a hidden file in its folder, and tells whether that ended it. On
/// a busy machine a run may end before the signal reaches it; then it is tried again.
#[cfg(target_os = "linux")]
fn is_interrupted(folder: &Path, arguments: &[&str], signal: &str) -> bool {
    use std::process::Stdio;
    let mut child = std::process::Command::new("env")
        .current_dir(folder)
        .env("TMPDIR", folder)
        // Tests that run in the background may have been started with signals ignored.
        .arg("--default-signal=INT,TERM,HUP")
        .arg(assert_cmd::cargo::cargo_bin!("pairity"))
        .args(arguments)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while hidden(folder) == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before the signal");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args([signal, &id]).status().unwrap().success());
    !child.wait().unwrap().success()
}

#[cfg(target_os = "linux")]
fn hidden(folder: &Path) -> usize {
    names(folder).into_iter().filter(|name| name.ends_with(".partial")).count()
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_leaves_no_half_written_file_and_a_kill_none_after_the_next_run() {
    let folder = folder_with(&document());
    let path = folder.path();
    let table = |rows: usize| {
        let rows: String = (0..rows).map(|i| format!("{i},red\n")).collect();
        fs::write(path.join("many.csv"), format!("age,color\n{rows}")).unwrap();
    };
    table(1_000_000);
    let interrupted = |signal: &str| {
        let ended = is_interrupted(path, &["score", "model.json", "many.csv", "-o", "out.csv"], signal);
        if !ended {
            fs::remove_file(path.join("out.csv")).unwrap();
        }
        ended
    };
    for signal in ["-INT", "-TERM", "-HUP", "-KILL"] {
        assert!((0..10).any(|_| interrupted(signal)), "{signal}");
        assert_eq!(hidden(path), usize::from(signal == "-KILL"), "{signal}");
        assert!(!path.join("out.csv").exists());
    }
    table(2);
    assert_eq!(run_in(path, "score model.json many.csv -o out.csv", &[]).code, 0);
    assert_eq!(names(path), ["many.csv", "model.json", "out.csv"]);
}

/// Queries that are scattered, sorted runs of rows, and blocks of them.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_leaves_no_rows_of_an_audit_behind_and_a_kill_none_after_the_next_run() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path();
    let table = |rows: usize| {
        let row = |i: usize| format!("{},{},{},{}\n", i % 997, i * 31 % 10_007, i % 2, i * 7919 % 100_003);
        let rows: String = (0..rows).map(row).collect();
        fs::write(path.join("many.csv"), format!("q,real,few,s\n{rows}")).unwrap();
    };
    for columns in [&["--label", "few", "--query", "q"][..], &["--label", "few"], &["--label", "real"]] {
        let arguments =
            [&["audit", "many.csv", "--score", "s", "--memory", "200kB", "--format", "json"], columns]
                .concat();
        table(150_000);
        for signal in ["-INT", "-KILL"] {
            assert!((0..10).any(|_| is_interrupted(path, &arguments, signal)), "{columns:?} {signal}");
            assert_eq!(hidden(path), usize::from(signal == "-KILL"), "{columns:?} {signal}");
        }
        table(20_000);
        let mut command = super::pairity();
        let outcome = super::run(command.current_dir(path).env("TMPDIR", path).args(&arguments));
        assert_eq!(outcome.code, 0, "{}", outcome.err);
        assert_eq!(names(path), ["many.csv"]);
    }
}
