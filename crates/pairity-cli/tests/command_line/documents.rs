//! What README and docs show is what the program does.
//!
//! Blocks of the kind `console` are run, in the order of the document and in one folder that holds the examples: a line
//! that starts with `$ ` is a command, and a backslash carries it on to the next line. The lines below it are all that it
//! prints, up to times; a line `…` stands for any number of lines, and `[exit 1]` for an exit code that is not 0. A
//! command with nothing below it may print anything. Commands in blocks of the kind `sh` take long, or install something:
//! only the options of those that start with `pairity` are checked.
//!
//! `PAIRITY_RECORD=1 cargo test -p pairity-cli --test command_line documents` writes into the documents what is printed now.

use super::recorded::words;
use super::{HIRING, pairity, run};
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Stands for lines that are left out.
const LEFT_OUT: &str = "…";

/// A command of a document, and the lines that the document shows below it.
struct Shown {
    command: String,
    lines: std::ops::Range<usize>,
}

fn documents() -> Vec<PathBuf> {
    let docs = fs::read_dir(Path::new(ROOT).join("docs")).expect("the folder");
    let mut all: Vec<PathBuf> = docs.map(|entry| entry.expect("a file").path()).collect();
    all.retain(|path| path.extension().is_some_and(|end| end == "md"));
    all.push(Path::new(ROOT).join("README.md"));
    all.push(Path::new(ROOT).join("examples/README.md"));
    all.sort();
    all
}

/// The commands in blocks of a kind.
fn commands(lines: &[String], kind: &str) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    let (mut inside, mut carried) = (None::<String>, false);
    for (at, line) in lines.iter().enumerate() {
        if let Some(fence) = line.strip_prefix("```") {
            inside = if inside.is_some() { None } else { Some(fence.to_owned()) };
            carried = false;
            continue;
        }
        if inside.as_deref() != Some(kind) {
            continue;
        }
        let start = if kind == "sh" { Some(line.as_str()) } else { line.strip_prefix("$ ") };
        let part = if carried { Some(line.trim_start()) } else { start };
        match (part, all.last_mut()) {
            (Some(part), last) => {
                let (text, more) = part.strip_suffix('\\').map_or((part, false), |text| (text, true));
                match last {
                    Some(last) if carried => {
                        last.command.push_str(text);
                        last.lines = at + 1..at + 1;
                    }
                    _ => all.push(Shown { command: text.to_owned(), lines: at + 1..at + 1 }),
                }
                carried = more;
            }
            (None, Some(last)) => last.lines.end = at + 1,
            (None, None) => panic!("line {} is printed by no command: {line}", at + 1),
        }
    }
    all
}

/// The arguments of a command of ours, without a comment behind it; none if it is another program's.
fn arguments(command: &str) -> Option<Vec<String>> {
    let mut words = words(command);
    words.truncate(words.iter().position(|word| word == "#").unwrap_or(words.len()));
    (words.first().is_some_and(|word| word == "pairity")).then(|| words.split_off(1))
}

/// A line without the times in it.
fn timeless(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_time = |at: usize| {
        let unit = words.get(at + 1).is_some_and(|word| matches!(*word, "s" | "min" | "seconds"));
        unit && words[at].parse::<f64>().is_ok()
    };
    let shown = |at: usize| if is_time(at) { "#" } else { words[at] };
    (0..words.len()).map(shown).collect::<Vec<_>>().join(" ")
}

/// Whether lines that were printed are as shown.
fn fits(shown: &[String], found: &[String]) -> bool {
    match shown.split_first() {
        None => found.is_empty(),
        Some((first, rest)) if first == LEFT_OUT => (0..=found.len()).any(|at| fits(rest, &found[at..])),
        Some((first, rest)) => found
            .split_first()
            .is_some_and(|(own, others)| timeless(first) == timeless(own) && fits(rest, others)),
    }
}

/// What a document should show of what was printed: as many lines as now before and after those left out.
fn shortened(shown: &[String], found: Vec<String>) -> Vec<String> {
    let Some(before) = shown.iter().position(|line| line == LEFT_OUT) else { return found };
    let after = shown.len() - before - 1;
    if before + after >= found.len() {
        return found;
    }
    let left_out = std::iter::once(LEFT_OUT.to_owned());
    found[..before]
        .iter()
        .cloned()
        .chain(left_out)
        .chain(found[found.len() - after..].iter().cloned())
        .collect()
}

/// Runs the commands of a document. Gives the differences, and the document as it should be.
fn check(path: &Path) -> (Vec<String>, String) {
    let text = fs::read_to_string(path).expect("a document");
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("examples")).expect("a folder");
    fs::copy(HIRING, folder.path().join("examples/hiring.csv")).expect("a table");
    let (mut wrong, mut document, mut kept) = (Vec::new(), Vec::new(), 0);
    for Shown { command, lines: own } in commands(&lines, "console") {
        let Some(arguments) = arguments(&command) else {
            wrong.push(format!("{command}: only pairity can be run here"));
            continue;
        };
        let outcome = run(pairity().current_dir(folder.path()).env("COLUMNS", "100").args(arguments));
        let mut found: Vec<String> =
            outcome.out.lines().chain(outcome.err.lines()).map(str::to_owned).collect();
        if outcome.code != 0 {
            found.push(format!("[exit {}]", outcome.code));
        }
        let shown = &lines[own.clone()];
        document.extend_from_slice(&lines[kept..own.start]);
        kept = own.end;
        let as_shown = if shown.is_empty() { outcome.code == 0 } else { fits(shown, &found) };
        if as_shown {
            document.extend_from_slice(shown);
            continue;
        }
        wrong.push(format!("{command}\nshown:\n{}\nfound:\n{}\n", shown.join("\n"), found.join("\n")));
        document.extend(shortened(shown, found));
    }
    document.extend_from_slice(&lines[kept..]);
    for Shown { command, .. } in commands(&lines, "sh") {
        let Some(arguments) = arguments(&command) else { continue };
        let outcome = run(pairity().args(arguments).arg("--help"));
        if outcome.code != 0 {
            wrong.push(format!("{command}\n{}", outcome.err));
        }
    }
    (wrong, document.join("\n") + "\n")
}

#[test]
fn documents_show_what_commands_print() {
    let mut wrong = Vec::new();
    for path in documents() {
        let (own, document) = check(&path);
        if std::env::var_os("PAIRITY_RECORD").is_some() {
            fs::write(&path, document).expect("the document");
        } else if !own.is_empty() {
            wrong.push(format!("{}:\n{}", path.display(), own.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Commands that are shown in another way would not be run.
#[test]
fn documents_show_commands_in_blocks_that_are_run() {
    for path in documents() {
        let text = fs::read_to_string(&path).expect("a document");
        for (at, line) in text.lines().enumerate() {
            assert!(!line.starts_with("    pairity "), "{}:{}: {line}", path.display(), at + 1);
        }
    }
}

#[test]
fn a_document_that_shows_something_else_is_found() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let found = lines("one\ntook 0.2 s\nthree\n[exit 1]");
    assert!(fits(&lines("one\ntook 13 s\nthree\n[exit 1]"), &found));
    assert!(fits(&lines("one\n…\n[exit 1]"), &found) && fits(&lines("…\nthree\n…"), &found));
    assert!(
        !fits(&lines("one\n…\nthree"), &found) && !fits(&lines("one\ntook 2 m\nthree\n[exit 1]"), &found)
    );
    assert_eq!(shortened(&lines("a\n…\nb"), found), ["one", "…", "[exit 1]"]);
    let text = lines("```console\n$ pairity audit \\\n    t.csv # all\nout\n```\n```sh\npairity data\n```");
    let shown = commands(&text, "console");
    assert_eq!(arguments(&shown[0].command).expect("ours"), ["audit", "t.csv"]);
    assert_eq!((shown.len(), shown[0].lines.clone()), (1, 3..4));
    assert_eq!(commands(&text, "sh")[0].command, "pairity data");
}
