//! Parts that tests need and that a machine may lack: real data, a browser; and an allocator that counts.
//!
//! A test whose part is missing is skipped with a message, and fails instead where `PAIRITY_REQUIRE` names the part:
//!
//! ```text
//! PAIRITY_REQUIRE=data,browser make test
//! ```
//!
//! Messages of tests that pass are swallowed by the test runner, so each is also added to the file that
//! `PAIRITY_SKIPPED` names, which `make test` prints last. The tests of the Python package follow the same rule, in
//! `python/tests/needs.py`.

mod allocations;

pub use allocations::CountingAllocator;

use std::io::Write;
use std::path::{Path, PathBuf};

/// Names the parts that must not be missing, with commas between them.
const REQUIRE: &str = "PAIRITY_REQUIRE";

/// Names the file that lists what was skipped.
const SKIPPED: &str = "PAIRITY_SKIPPED";

/// Names the folder of the published data sets.
const DATA: &str = "PAIRITY_DATA";

/// What a test needs of a part, or nothing where it is missing: then the test returns.
///
/// # Panics
/// The part is missing and `PAIRITY_REQUIRE` names it.
pub fn need<T>(part: &str, test: &str, found: Result<T, String>) -> Option<T> {
    let why = match found {
        Ok(found) => return Some(found),
        Err(why) => why,
    };
    assert!(!is_required(part, &variable(REQUIRE)), "{test} needs {part}, which {REQUIRE} names: {why}");
    let line = format!("{part}: {test}: {why}");
    eprintln!("skipped {line}");
    if let Some(file) = std::env::var_os(SKIPPED) {
        let opened = std::fs::OpenOptions::new().create(true).append(true).open(file);
        // The list is for the reader's convenience: a test does not fail for it.
        let _ = opened.and_then(|mut file| writeln!(file, "{line}"));
    }
    None
}

/// A file or folder of the published data sets, by its path below `$PAIRITY_DATA`.
///
/// # Panics
/// It is missing and `PAIRITY_REQUIRE` names `data`.
pub fn need_data(test: &str, path: impl AsRef<Path>) -> Option<PathBuf> {
    let path = path.as_ref();
    let found = match std::env::var_os(DATA).map(|folder| PathBuf::from(folder).join(path)) {
        None => Err(format!("{DATA} is not set")),
        Some(found) if !found.exists() => Err(format!("there is no {} in {DATA}", path.display())),
        Some(found) => Ok(found),
    };
    need("data", test, found)
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

fn is_required(part: &str, required: &str) -> bool {
    required.split(',').any(|name| name.trim() == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_required_by_its_whole_name() {
        assert!(is_required("data", "browser, data"));
        assert!(!is_required("data", "database,browser"));
        assert!(!is_required("data", ""));
    }

    #[test]
    fn what_is_there_is_handed_over() {
        assert_eq!(need("anything", "a test", Ok(7)), Some(7));
    }
}
