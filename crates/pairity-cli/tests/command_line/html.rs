//! `--html`: the page and the file it is written to.

use super::{SMALL, SMALL_COLUMNS, audit, audit_hiring};
use std::fs;
use std::path::Path;

fn hiring(page: &Path, more: &[&str]) -> super::Outcome {
    audit_hiring(&[&["--html", page.to_str().expect("a path")], more].concat())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").file_name());
    entries.map(|name| name.to_string_lossy().into_owned()).collect()
}

#[test]
fn a_page_is_written_beside_the_usual_output() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("audit.html");
    let outcome = hiring(&page, &["--check", "cross_group <= 0.1"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (1, ""));
    assert_eq!(outcome.out, audit_hiring(&["--check", "cross_group <= 0.1"]).out);
    let text = fs::read_to_string(&page).expect("a page");
    assert!(text.contains(
        "When the better candidate is female and the worse male, the model is right 68% of the time; the other \
         way around, 96%. The gap of 28 points is far outside chance"
    ));
    assert!(text.len() < 2_000_000, "{} bytes", text.len());
    assert_eq!(names(folder.path()), ["audit.html"]);
}

#[test]
fn a_page_has_the_same_bytes_for_every_number_of_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let pages = ["1", "3"].map(|threads| {
        let page = folder.path().join(threads);
        assert_eq!(hiring(&page, &["--threads", threads]).code, 0);
        fs::read(&page).expect("a page")
    });
    assert!(pages[0] == pages[1]);
}

#[test]
fn a_page_replaces_a_file_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("audit.html");
    fs::write(&page, "x".repeat(1_000_000)).expect("a file");
    assert_eq!(hiring(&page, &[]).code, 0);
    let text = fs::read_to_string(&page).expect("a page");
    assert!(text.starts_with("<!doctype html>") && text.ends_with("</html>\n"));
    assert_eq!(names(folder.path()), ["audit.html"]);
}

#[test]
fn nothing_is_written_if_something_is_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("audit.html");
    fs::write(&page, "before").expect("a file");
    let wrong = ["--html", page.to_str().expect("a path"), "--check", "A[x > y] >= 0.5"];
    audit(SMALL, &[&SMALL_COLUMNS[..], &wrong].concat()).refusal();
    assert_eq!(fs::read_to_string(&page).expect("a file"), "before");
    assert_eq!(names(folder.path()), ["audit.html"]);
}

#[test]
fn a_place_that_cannot_be_written_to_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let outcome = hiring(&folder.path().join("missing/audit.html"), &[]);
    assert!(outcome.refusal().contains("there is no folder"), "{}", outcome.err);
    let outcome = hiring(folder.path(), &[]);
    assert!(outcome.refusal().contains("is a folder: name a file in it"), "{}", outcome.err);
    assert!(names(folder.path()).is_empty());
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let folder = tempfile::tempdir().expect("a folder");
    let (page, link) = (folder.path().join("page.html"), folder.path().join("link.html"));
    fs::write(&page, "before").expect("a file");
    std::os::unix::fs::symlink(&page, &link).expect("a link");
    assert_eq!(hiring(&link, &[]).code, 0);
    assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
    assert!(fs::read_to_string(&page).expect("a page").starts_with("<!doctype html>"));
}

/// Queries of four whose first feature ranks one group, and the second one the other.
fn training_table() -> String {
    let mut text = "q,g,y,x,w\n".to_owned();
    for i in 0..320_u32 {
        let (label, b, noise) = (u32::from(i % 4 == 0), i / 4 % 2, f64::from(i * 7919 % 997) / 400.0);
        let x = noise + f64::from(label * (1 - b));
        text += &format!(
            "{},{},{label},{x},{}\n",
            i / 4,
            ["a", "b"][((i + b) % 2) as usize],
            noise + f64::from(label * b)
        );
    }
    text
}

#[test]
fn a_training_run_has_a_page_with_its_command() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("table.csv"), training_table()).expect("a file");
    let train = |page: &str, threads: &str| {
        let mut command = super::pairity();
        command.current_dir(folder.path()).args(["train", "table.csv", "--label", "y", "--query", "q"]);
        command.args(["--group", "g", "-o", "model.json", "--iterations", "60", "--step-size", "0.3"]);
        command.args(["--subject-to", "cross_group <= 0.3", "--html", page, "--threads", threads]);
        super::run(&mut command)
    };
    let outcome = train("page.html", "1");
    assert!(outcome.code < 2, "{}", outcome.err);
    let page = fs::read_to_string(folder.path().join("page.html")).expect("a page");
    assert!(page.contains(
        "<pre>pairity train table.csv --label y --query q --group g -o model.json --iterations 60"
    ));
    assert!(
        page.contains("&#x27;cross_group &lt;= 0.3&#x27;") && page.contains("Rows and scorers"),
        "{page}"
    );
    let outcome = train("missing/page.html", "1");
    assert!(outcome.refusal().contains("there is no folder"), "{}", outcome.err);
}
