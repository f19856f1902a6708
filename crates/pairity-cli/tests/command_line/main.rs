//! The real binary, run as a user would run it.

mod adjust;
mod browser;
mod checks;
mod data;
mod demo;
mod documents;
mod experts;
mod html;
mod input;
mod json;
mod merge;
mod methods;
mod outputs;
mod pairs;
mod recorded;
mod rows;
mod score;
mod score_files;
mod score_mixture;
mod text;
mod texts;
mod train;

use assert_cmd::Command;
use serde_json::Value;
use std::path::PathBuf;
use tempfile::TempDir;

/// The example table of the repository.
const HIRING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/hiring.csv");

/// The columns of [`HIRING`].
const HIRING_COLUMNS: [&str; 8] =
    ["--score", "score", "--label", "label", "--query", "query", "--group", "gender"];

/// Two queries of two groups with a perfect scorer.
const SMALL: &str = "q,g,y,s,w,age\n\
    1,a,1,0.9,1,20\n1,b,0,0.1,1,30\n1,a,0,0.2,1,40\n1,b,1,0.8,1,50\n\
    2,b,1,0.7,1,60\n2,a,0,0.3,1,25\n2,a,1,0.6,1,35\n2,b,0,0.5,1,45\n";

/// The columns of [`SMALL`].
const SMALL_COLUMNS: [&str; 8] = ["--score", "s", "--label", "y", "--query", "q", "--group", "g"];

fn pairity() -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("pairity"));
    command.env_remove("COLUMNS");
    command
}

/// What a run wrote, and its exit code.
struct Outcome {
    out: String,
    err: String,
    code: i32,
}

impl Outcome {
    fn json(&self) -> Value {
        assert_eq!(self.err, "", "standard error");
        serde_json::from_str(&self.out).expect("one JSON document")
    }

    /// The message of a run that must have failed before it wrote anything.
    fn refusal(&self) -> &str {
        assert_eq!(self.code, 2, "{}{}", self.out, self.err);
        assert_eq!(self.out, "", "standard output");
        &self.err
    }
}

fn run(command: &mut Command) -> Outcome {
    let output = command.output().expect("the binary runs");
    Outcome {
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
        code: output.status.code().expect("an exit code"),
    }
}

/// Audits a CSV text that comes from standard input.
fn audit(table: &str, arguments: &[&str]) -> Outcome {
    run(pairity().arg("audit").arg("-").args(arguments).write_stdin(table))
}

fn audit_hiring(arguments: &[&str]) -> Outcome {
    run(pairity().arg("audit").arg(HIRING).args(HIRING_COLUMNS).args(arguments))
}

/// A file in a folder that lives as long as the first part.
fn file(name: &str, content: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, content).expect("a file");
    (folder, path)
}
