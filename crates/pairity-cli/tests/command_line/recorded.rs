//! What the program said when it was recorded, for every command: a change of the code that is to change no
//! result must leave these as they are.
//!
//! `tests/recorded/commands.txt` has a line for each run: its name, its exit code and its arguments, quoted
//! as for a shell. `&&` joins runs in the same folder, of which the last one is compared, and `<` gives a
//! file as standard input. Each line runs in a new folder with the tables of [`tables`]. Beside the list are
//! the standard output (`NAME.json` or `NAME.txt`), the standard error if there is any (`NAME.err`), and
//! the files called `out.*` that were written (`NAME.out.*`).
//!
//! Audits and refusals must be equal to the byte. Whatever rests on training must be equal in structure and
//! words, with numbers to 1e-9; times and the version of the program are not compared.
//!
//! `PAIRITY_RECORD=1 cargo test -p pairity-cli --test command_line recorded` records anew what the program
//! says now; a new line of the list may have any exit code before. With `PAIRITY_RECORD_TABLES=FOLDER` the
//! tables are written there.

mod tables;

use super::{Outcome, pairity, run};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Where the list and the documents are.
const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded");

/// Numbers may differ by this much, or by this part of them.
const TOLERANCE: f64 = 1e-9;

/// Differences of one run that are told.
const TOLD: usize = 5;

/// Fields that say nothing about results.
const NOT_COMPARED: [&str; 2] = ["seconds", "version"];

/// The list is rewritten by one test at a time.
static RECORDING: Mutex<()> = Mutex::new(());

/// A line of the list.
struct Recorded {
    name: String,
    code: i32,
    /// The arguments of each of the runs.
    runs: Vec<Vec<String>>,
}

fn list() -> PathBuf {
    Path::new(RECORDED).join("commands.txt")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of the list whose names start so.
fn commands(kind: &str) -> Vec<Recorded> {
    let text = read(&list());
    let lines = text.lines().filter(|line| line.starts_with(kind) && !line.starts_with('#'));
    let all: Vec<Recorded> = lines.map(Recorded::of).collect();
    assert!(!all.is_empty(), "there are no commands {kind}…");
    all
}

impl Recorded {
    fn of(line: &str) -> Recorded {
        let mut words = words(line).into_iter();
        let (name, code) = (words.next().expect("a name"), words.next().expect("an exit code"));
        let words: Vec<String> = words.collect();
        let runs = words.split(|word| word == "&&").map(<[String]>::to_vec).collect();
        Recorded { name, code: code.parse().expect("an exit code"), runs }
    }

    /// Runs it in a folder, and gives the last outcome.
    fn run(&self, folder: &Path) -> Outcome {
        let mut last = None;
        for words in &self.runs {
            let mut command = pairity();
            command.current_dir(folder).env("COLUMNS", "100");
            match words.iter().position(|word| word == "<") {
                Some(at) => command
                    .args(&words[..at])
                    .write_stdin(fs::read(folder.join(&words[at + 1])).expect("a file")),
                None => command.args(words),
            };
            last = Some(run(&mut command));
        }
        last.expect("a run")
    }

    /// Everything that is compared, by the names of the files that hold it.
    fn said(&self) -> (i32, Vec<(String, String)>) {
        let folder = tempfile::tempdir().expect("a folder");
        tables::write_tables(folder.path());
        let outcome = self.run(folder.path());
        let kind = if outcome.out.starts_with(['{', '[']) { "json" } else { "txt" };
        let mut said = vec![(kind.to_owned(), outcome.out), ("err".to_owned(), outcome.err)];
        let entries = fs::read_dir(folder.path()).expect("a folder");
        let names = entries.map(|entry| entry.expect("a file").file_name().into_string().expect("a name"));
        let mut names: Vec<String> = names.filter(|name| name.starts_with("out.")).collect();
        names.sort();
        said.extend(names.into_iter().map(|name| (name.clone(), read(&folder.path().join(&name)))));
        said.retain(|(_, text)| !text.is_empty());
        (outcome.code, said.into_iter().map(|(end, text)| (format!("{}.{end}", self.name), text)).collect())
    }

    /// The names of its files, as they are recorded.
    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(RECORDED).expect("the folder");
        let names = entries.map(|entry| entry.expect("a file").file_name().into_string().expect("a name"));
        let start = format!("{}.", self.name);
        names.filter(|name| name.starts_with(&start)).collect()
    }

    fn record(&self) {
        let (code, said) = self.said();
        for name in self.files() {
            fs::remove_file(Path::new(RECORDED).join(name)).expect("an old file");
        }
        for (name, text) in said {
            fs::write(Path::new(RECORDED).join(name), without_seconds(&text)).expect("a file");
        }
        let _alone = RECORDING.lock().expect("the other tests");
        let (old, new) = (format!("{} {} ", self.name, self.code), format!("{} {code} ", self.name));
        let lines = read(&list());
        let lines = lines.lines().map(|line| match line.strip_prefix(&old) {
            Some(rest) => format!("{new}{rest}\n"),
            None => format!("{line}\n"),
        });
        // Other tests read the list meanwhile: it is there as a whole at any time.
        let whole = list().with_extension("new");
        fs::write(&whole, lines.collect::<String>()).expect("the list");
        fs::rename(whole, list()).expect("the list");
    }

    /// What is not as it was recorded.
    fn differences(&self, exact: bool) -> Vec<String> {
        let (code, said) = self.said();
        let mut all = Vec::new();
        if code != self.code {
            all.push(format!("exit code: recorded {}, found {code}", self.code));
        }
        for name in self.files().iter().filter(|name| said.iter().all(|(found, _)| found != *name)) {
            all.push(format!("{name} is recorded, and was not written"));
        }
        for (name, found) in &said {
            let path = Path::new(RECORDED).join(name);
            if !path.exists() {
                all.push(format!("{name} is not recorded, and was written: {found}"));
                continue;
            }
            let recorded = read(&path);
            let before = all.len();
            match (serde_json::from_str(&recorded), serde_json::from_str(found)) {
                (Ok(recorded), Ok(found)) => compare_json("", &recorded, &found, exact, &mut all),
                _ => compare_cells(&recorded, found, exact, &mut all),
            }
            if exact && all.len() == before {
                compare_cells(&recorded, found, exact, &mut all);
            }
            all[before..].iter_mut().for_each(|line| *line = format!("{name}: {line}"));
        }
        all
    }
}

/// The words of a line, of which those with spaces or signs are in quotes.
pub(super) fn words(line: &str) -> Vec<String> {
    let (mut all, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for sign in line.chars() {
        match (sign, quote) {
            (sign, Some(open)) if sign == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(sign);
                word.get_or_insert_default();
            }
            (' ', None) => all.extend(word.take()),
            _ => word.get_or_insert_default().push(sign),
        }
    }
    all.extend(word);
    all
}

fn near(recorded: f64, found: f64) -> bool {
    (recorded - found).abs() <= TOLERANCE * recorded.abs().max(1.0)
}

/// Adds the places at which two documents differ.
fn compare_json(path: &str, recorded: &Value, found: &Value, exact: bool, all: &mut Vec<String>) {
    match (recorded, found) {
        (Value::Object(old), Value::Object(new)) if old.keys().eq(new.keys()) => {
            for (key, value) in old.iter().filter(|(key, _)| !NOT_COMPARED.contains(&key.as_str())) {
                compare_json(&format!("{path}/{key}"), value, &new[key], exact, all);
            }
        }
        (Value::Object(old), Value::Object(new)) => {
            let keys =
                |map: &serde_json::Map<String, Value>| map.keys().cloned().collect::<Vec<_>>().join(", ");
            all.push(format!("{path}: recorded the fields {}, found {}", keys(old), keys(new)));
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (place, (old, new)) in old.iter().zip(new).enumerate() {
                compare_json(&format!("{path}/{place}"), old, new, exact, all);
            }
        }
        (Value::Number(old), Value::Number(new)) if !exact && old.is_f64() == new.is_f64() => {
            if !near(old.as_f64().expect("a number"), new.as_f64().expect("a number")) {
                all.push(format!("{path}: recorded {old}, found {new}"));
            }
        }
        _ if recorded == found => {}
        _ => all.push(format!("{path}: recorded {recorded}, found {found}")),
    }
}

/// A document in which nothing took any time, so that recording it anew changes nothing.
fn without_seconds(text: &str) -> String {
    let mut parts = text.split("\"seconds\":");
    let mut without = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let value = part.trim_start();
        without += "\"seconds\":";
        without += &part[..part.len() - value.len()];
        let rest = value.trim_start_matches(|sign: char| sign.is_ascii_digit() || ".eE+-".contains(sign));
        without += if rest.len() < value.len() { "0.0" } else { "" };
        without += rest;
    }
    without
}

/// A line without its times: "0.2 s" and "1 min 5 s".
fn without_times(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_time = |at: usize| {
        words[at].parse::<f64>().is_ok() && words.get(at + 1).is_some_and(|unit| ["s", "min"].contains(unit))
    };
    let words = (0..words.len()).map(|at| if is_time(at) { "TIME" } else { words[at] });
    words.collect::<Vec<&str>>().join(" ")
}

/// Adds the cells, which are what commas part, at which two texts differ.
fn compare_cells(recorded: &str, found: &str, exact: bool, all: &mut Vec<String>) {
    if recorded.lines().count() != found.lines().count() {
        return all.push(format!("recorded {recorded}\nfound {found}"));
    }
    for (line, (old, new)) in recorded.lines().zip(found.lines()).enumerate() {
        let (old, new) = (without_times(old), without_times(new));
        let (cells, others): (Vec<&str>, Vec<&str>) = (old.split(',').collect(), new.split(',').collect());
        let same = |(old, new): (&&str, &&str)| match (old.parse(), new.parse()) {
            (Ok(old), Ok(new)) if !exact => near(old, new),
            _ => old == new,
        };
        if cells.len() != others.len() || !cells.iter().zip(&others).all(same) {
            all.push(format!("line {}: recorded {old:?}, found {new:?}", line + 1));
        }
    }
}

/// Compares all commands of a kind, or records them.
fn check(kind: &str, exact: bool) {
    let mut failed = Vec::new();
    for command in commands(kind) {
        if std::env::var_os("PAIRITY_RECORD").is_some() {
            command.record();
            continue;
        }
        let mut all = command.differences(exact);
        if all.len() > TOLD {
            let more = all.len() - TOLD;
            all.truncate(TOLD);
            all.push(format!("and {more} more differences"));
        }
        failed.extend(all.iter().map(|difference| format!("{}: {difference}", command.name)));
    }
    assert!(failed.is_empty(), "not as recorded:\n{}", failed.join("\n"));
}

#[test]
fn audits_are_as_recorded() {
    check("audit-", true);
}

#[test]
fn refusals_are_as_recorded() {
    check("refuse-", true);
}

#[test]
fn trainings_are_as_recorded() {
    check("train-", false);
}

#[test]
fn methods_are_as_recorded() {
    check("method-", false);
}

#[test]
fn comparisons_are_as_recorded() {
    check("compare-", false);
    check("frontier-", false);
    check("reproduce-", false);
}

#[test]
fn adjusted_scores_are_as_recorded() {
    check("adjust-", false);
}

#[test]
fn scored_tables_are_as_recorded() {
    check("score-", false);
}

/// Every line belongs to a test, and every file to a line.
#[test]
fn nothing_is_recorded_that_is_not_compared() {
    let kinds = ["audit", "refuse", "train", "method", "compare", "frontier", "reproduce", "adjust", "score"];
    let all = commands("");
    let kind = |command: &Recorded| kinds.contains(&command.name.split('-').next().unwrap_or_default());
    assert!(all.iter().all(kind));
    for entry in fs::read_dir(RECORDED).expect("the folder") {
        let file = entry.expect("a file").file_name().into_string().expect("a name");
        let of = |command: &Recorded| file.split('.').next() == Some(&command.name);
        assert!(file == "commands.txt" || all.iter().any(of), "{file} belongs to no command");
    }
    if let Some(folder) = std::env::var_os("PAIRITY_RECORD_TABLES") {
        fs::create_dir_all(&folder).expect("a folder");
        tables::write_tables(Path::new(&folder));
    }
}
