//! The data sets by name: which files they consist of, where these are looked for, and how to load them.
//!
//! ```no_run
//! use pairity_experiments::data;
//! let paths = data::find("crime", None)?;
//! let crime = data::load("crime-ranking", None, 0)?;
//! assert_eq!(crime.rows(), 1994);
//! # Ok::<(), pairity_experiments::data::DataError>(())
//! ```

use crate::dataset::Dataset;
use crate::loaders::{crime, law, w3c, wiki};
use crate::simulated::SimulatedTask;
use crate::{business, registry};
use pairity_tables::TableError;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use registry::{DATA_SETS, DataFile, Entry, FileCheck};

/// Queries of a simulated task, as in the paper.
pub const SIMULATED_QUERIES: u32 = 5_000;

/// The variable that names a folder with data.
pub const VARIABLE: &str = "PAIRITY_DATA";

/// Why a data set can't be had, in words that stand alone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// A file can't be read, or is no table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// Files were looked for, but the data set is generated.
    #[error("the data set {0:?} is generated and has no files: draw it with a seed")]
    Generated(&'static str),
    /// A file can't be written.
    #[error("can't write {}: {cause}. Check that the folder may be written to and has room", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        cause: std::io::Error,
    },
    /// Anything else, in the words that are shown: nobody has to tell these apart.
    #[error("{0}")]
    Other(String),
}

/// The data set of a name.
///
/// # Errors
/// There is none of that name.
pub fn entry(name: &str) -> Result<&'static Entry, DataError> {
    let found = DATA_SETS.iter().find(|entry| entry.name == name);
    found.ok_or_else(|| unknown(name, &DATA_SETS.each_ref().map(|entry| entry.name)))
}

fn unknown(name: &str, known: &[&str]) -> DataError {
    DataError::Other(format!("there is no data set {name:?}; there are: {}", known.join(", ")))
}

/// The files of a data set, in the order of its registry entry.
///
/// They are looked for in `data_dir`, in `$PAIRITY_DATA` and in the user's cache, in this order, each with
/// or without a folder of the data set's own in between. Of several ways to have a data set the first that
/// is complete is taken.
///
/// # Errors
/// A name that is not known, a data set that is generated, or files that are nowhere.
pub fn find(name: &str, data_dir: Option<&Path>) -> Result<Vec<PathBuf>, DataError> {
    find_in(entry(name)?, folders(data_dir))
}

fn find_in(entry: &'static Entry, folders: Vec<PathBuf>) -> Result<Vec<PathBuf>, DataError> {
    if entry.is_generated() {
        return Err(DataError::Generated(entry.name));
    }
    let at = |folder: &Path, file: &DataFile| {
        let places = [folder.join(entry.folder).join(file.name), folder.join(file.name)];
        places.into_iter().find(|path| path.is_file())
    };
    for folder in &folders {
        for files in entry.ways {
            if let Some(paths) = files.iter().map(|file| at(folder, file)).collect() {
                return Ok(paths);
            }
        }
    }
    let names = |files: &&[DataFile]| files.iter().map(|file| file.name).collect::<Vec<_>>().join(" and ");
    let files = entry.ways.iter().map(names).collect::<Vec<_>>().join(", or ");
    let looked: Vec<String> = folders.iter().map(|path| path.display().to_string()).collect();
    let looked = match looked.is_empty() {
        true => format!("no folder (set {VARIABLE}, or name one)"),
        false => looked.join(", "),
    };
    let name = entry.name;
    Err(DataError::Other(format!(
        "the data set {name:?} is not here: looked for {files} in {looked}. Get it with `pairity data fetch \
         {name}`, or name the folder that has it with --data-dir or {VARIABLE}"
    )))
}

/// The folders that data are looked for in.
pub fn folders(data_dir: Option<&Path>) -> Vec<PathBuf> {
    let variable = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    data_dir.map(Path::to_owned).into_iter().chain(variable).chain(cache()).collect()
}

/// Pairity's folder in the user's cache, where fetched data go; none if the user has no home.
pub fn cache() -> Option<PathBuf> {
    cache_of(std::env::consts::OS, &|name| std::env::var_os(name))
}

fn cache_of(system: &str, variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // A relative path would be another folder in every working directory.
    let folder = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = match system {
        "windows" => folder("LOCALAPPDATA"),
        "macos" => folder("HOME").map(|home| home.join("Library").join("Caches")),
        _ => folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache"))),
    };
    base.map(|base| base.join("pairity"))
}

/// What [`load`] knows.
const LOADED: [&str; 8] =
    ["simulated", "simulated-3", "business", "wiki", "w3c", "crime-ranking", "law", "crime-regression"];

/// The rows of an experiment: a published data set from its files, or a generated one by its seed.
///
/// The names are those of the [data sets](DATA_SETS), but that `crime` is either `crime-ranking` or
/// `crime-regression`. The seed matters to generated ones only.
///
/// # Errors
/// A name that is not known, and whatever is wrong with the files.
pub fn load(name: &str, data_dir: Option<&Path>, seed: u64) -> Result<Dataset, DataError> {
    if let Some(task) = SimulatedTask::named(name) {
        return Ok(task.draw(SIMULATED_QUERIES, seed).dataset(name));
    }
    let paths = |name: &str| find(name, data_dir);
    let crime = |task| paths("crime").and_then(|paths| crime::load(&paths[0], &paths[1], task));
    let mut data = match name {
        "business" => return Ok(business::draw(seed)),
        "crime-ranking" => crime(crime::CrimeTask::Ranking)?,
        "crime-regression" => crime(crime::CrimeTask::Regression)?,
        "law" => law::load(&paths(name)?[0])?,
        "w3c" => w3c::load(&paths(name)?[0])?,
        "wiki" => wiki::load(&paths(name)?)?,
        _ => return Err(unknown(name, &LOADED)),
    };
    data.notes.extend(other_files(entry(published(name))?, &paths(published(name))?));
    Ok(data)
}

/// The data set that the rows of an experiment come from.
pub(crate) fn published(name: &str) -> &str {
    if name.starts_with("crime-") { "crime" } else { name }
}

/// That files are known not to be the published ones.
#[cfg(feature = "fetch")]
fn other_files(entry: &Entry, paths: &[PathBuf]) -> Option<String> {
    let known = |path: &Path| {
        let mut files = entry.ways.iter().copied().flatten();
        files.find(|file| path.file_name().is_some_and(|name| name == file.name))?.check
    };
    let differs = |path: &&PathBuf| known(path).is_some_and(|check| !crate::fetch::is_right(path, check));
    let names: Vec<String> = paths.iter().filter(differs).map(|path| path.display().to_string()).collect();
    let problem =
        "not the published bytes (another size or SHA-256), so that results may differ from the paper's";
    (!names.is_empty()).then(|| format!("{problem}: {}", names.join(", ")))
}

/// Without checksums nothing is known.
#[cfg(not(feature = "fetch"))]
fn other_files(_: &Entry, _: &[PathBuf]) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Writes empty files and says where the files of a data set are found.
    fn found(name: &str, files: &[&str]) -> Result<Vec<String>, DataError> {
        let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for file in files {
            let path = match file.strip_prefix("near/") {
                Some(file) => near.path().join(file),
                None => far.path().join(file),
            };
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let folders = vec![near.path().to_owned(), far.path().to_owned()];
        let paths = find_in(entry(name).unwrap(), folders)?;
        let shorten = |path: &PathBuf| match path.strip_prefix(near.path()) {
            Ok(rest) => format!("near/{}", rest.display()),
            Err(_) => path.strip_prefix(far.path()).unwrap().display().to_string(),
        };
        Ok(paths.iter().map(shorten).collect())
    }

    #[test]
    fn files_are_found_flat_and_in_the_folder_of_their_data_set() {
        let flat = ["communities.data", "communities.names"];
        assert_eq!(found("crime", &flat).unwrap(), flat);
        let inside = ["crime/communities.data", "crime/communities.names"];
        assert_eq!(found("crime", &inside).unwrap(), inside);
        let both = ["communities.data", "communities.names", inside[0], inside[1]];
        assert_eq!(found("crime", &both).unwrap(), inside);
    }

    #[test]
    fn a_near_folder_goes_before_a_far_one_and_a_complete_set_before_a_sample() {
        let sample = "wiki_toxicity/toxicity_nonfuzzed_testset.csv";
        let full = ["wiki_train.csv", "wiki_dev.csv", "wiki_test.csv"];
        assert_eq!(found("wiki", &[sample, full[0], full[1], full[2]]).unwrap(), full);
        assert_eq!(found("wiki", &[sample, full[0], full[2]]).unwrap(), [sample]);
        let near = format!("near/{sample}");
        assert_eq!(found("wiki", &[&near, full[0], full[1], full[2]]).unwrap(), [near.as_str()]);
    }

    #[test]
    fn what_is_nowhere_is_named_with_the_places_and_the_command() {
        let message = found("crime", &["communities.data"]).unwrap_err().to_string();
        assert!(message.starts_with("the data set \"crime\" is not here"), "{message}");
        assert!(message.contains("looked for communities.data and communities.names in "), "{message}");
        assert!(message.contains("pairity data fetch crime"), "{message}");
        let message = found("wiki", &[]).unwrap_err().to_string();
        assert!(message.contains("wiki_test.csv, or toxicity_nonfuzzed_testset.csv in"), "{message}");
        assert!(matches!(found("business", &[]), Err(DataError::Generated(_))));
        let message = load("crime", None, 0).unwrap_err().to_string();
        assert!(message.starts_with("there is no data set \"crime\"; there are: simulated,"), "{message}");
    }

    #[cfg(feature = "fetch")]
    #[test]
    fn a_file_that_is_not_the_published_one_is_noted() {
        let folder = tempfile::tempdir().unwrap();
        let rows = "3.1,37,3,1,white,male,2\n2.9,40,4,1,black,female,1\n";
        let file = folder.path().join("law_school_27234.csv");
        fs::write(&file, format!("ugpa,lsat,fam_inc,fulltime,race1,gender,cluster\n{rows}")).unwrap();
        let notes = load("law", Some(folder.path()), 0).unwrap().notes;
        let note = notes.iter().find(|note| note.starts_with("not the published bytes"));
        assert!(note.is_some_and(|note| note.ends_with(&file.display().to_string())), "{notes:?}");
    }

    #[test]
    fn the_cache_is_where_the_system_wants_it() {
        let root = if cfg!(windows) { "C:\\" } else { "/" };
        let absolute = |name: &str| Path::new(root).join(name);
        let of = |system, variables: &[(&str, PathBuf)]| {
            cache_of(system, &|name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| value.clone().into_os_string())
            })
        };
        let home = ("HOME", absolute("me"));
        let cache = ("XDG_CACHE_HOME", absolute("c"));
        assert_eq!(of("linux", std::slice::from_ref(&home)), Some(absolute("me/.cache/pairity")));
        assert_eq!(of("linux", &[home.clone(), cache]), Some(absolute("c/pairity")));
        let relative = ("XDG_CACHE_HOME", PathBuf::from("c"));
        assert_eq!(of("linux", &[home.clone(), relative]), Some(absolute("me/.cache/pairity")));
        assert_eq!(of("macos", &[home]), Some(absolute("me/Library/Caches/pairity")));
        let local = ("LOCALAPPDATA", absolute("local"));
        assert_eq!(of("windows", &[local]), Some(absolute("local/pairity")));
        assert_eq!(of("linux", &[]), None);
    }

    #[test]
    fn generated_data_follow_from_the_seed() {
        let rows = |name: &str, seed| load(name, None, seed).unwrap();
        for name in ["simulated", "simulated-3", "business"] {
            let data = rows(name, 3);
            assert!(data.synthetic && data.name == name);
            assert_eq!(data, rows(name, 3));
            assert_ne!(data, rows(name, 4));
        }
        assert_eq!(rows("simulated", 0).rows(), 55_000);
    }
}
