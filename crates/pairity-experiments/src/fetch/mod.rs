//! Fetching published data sets from their publishers.
//!
//! A file is downloaded beside its place as `NAME.part`, checked by size and SHA-256, and only then given its
//! name: it is there whole or not at all. A download that was cut off goes on where it ended, in the same
//! call or a later one. Failures that may pass (no connection, a stall, an overloaded server) are tried
//! again a few times.

mod download;
#[cfg(test)]
mod tests;

use crate::data::{self, DataError};
use download::Download;
pub(crate) use download::is_right;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How files are fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchSettings {
    /// Another server that has the files under the same paths, such as `http://mirror.example:8080`.
    pub mirror: Option<String>,
    /// How long a server may send nothing.
    pub stall: Duration,
    /// How often a file is tried before giving up.
    pub attempts: u32,
    /// The wait before the second attempt, which doubles before each other one.
    pub pause: Duration,
}

impl Default for FetchSettings {
    /// The publishers themselves, half a minute of silence, five attempts.
    fn default() -> FetchSettings {
        let (stall, pause) = (Duration::from_secs(30), Duration::from_secs(1));
        FetchSettings { mirror: None, stall, attempts: 5, pause }
    }
}

/// How far the download of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The file.
    pub file: &'a str,
    /// Bytes so far; less than before if a server makes the download start over.
    pub done: u64,
    /// Bytes in all.
    pub size: u64,
}

/// Fetches a data set into a folder, and returns where its files are.
///
/// Files that are there already and are right are left as they are. Of a data set that can be had in
/// several ways the first whose files can be checked is fetched; see [`Entry::by_hand`] for a better one
/// that can't.
///
/// # Errors
/// A data set that is not known or not published, a server that does not give the right files, a folder
/// that can't be written to.
///
/// ```no_run
/// use pairity_experiments::{data, fetch};
///
/// let cache = data::cache().expect("a home");
/// let show = |progress: fetch::Progress| eprintln!("{} of {}", progress.done, progress.size);
/// let paths = fetch::fetch("crime", &cache, &fetch::FetchSettings::default(), &show)?;
/// assert_eq!(paths.len(), 2);
/// # Ok::<(), data::DataError>(())
/// ```
///
/// [`Entry::by_hand`]: crate::data::Entry::by_hand
pub fn fetch(
    name: &str,
    into: &Path,
    settings: &FetchSettings,
    progress: &dyn Fn(Progress),
) -> Result<Vec<PathBuf>, DataError> {
    let entry = data::entry(name)?;
    if entry.is_generated() {
        return Err(DataError::Generated(entry.name));
    }
    let by_hand = || {
        let files = entry.ways.iter().take(1).copied().flatten().map(|file| file.name);
        let (name, files, into) = (entry.name, files.collect::<Vec<_>>().join(" and "), into.display());
        DataError::Other(format!("the data set {name:?} can't be fetched: put {files} into {into}"))
    };
    let files = entry.fetched().ok_or_else(by_hand)?;
    let mut paths = Vec::with_capacity(files.len());
    for file in files {
        let (Some(check), Some(address)) = (file.check, file.address) else { return Err(by_hand()) };
        let target = into.join(entry.folder).join(file.name);
        let download = Download { name: file.name, check, address: at(address, settings), target: &target };
        download.run(settings, progress)?;
        paths.push(target);
    }
    Ok(paths)
}

/// An address on the mirror, if there is one.
fn at(address: &str, settings: &FetchSettings) -> String {
    let path = || address.split_once("://")?.1.split_once('/').map(|(_, path)| path);
    match (&settings.mirror, path()) {
        (Some(mirror), Some(path)) => format!("{}/{path}", mirror.trim_end_matches('/')),
        _ => address.to_owned(),
    }
}
