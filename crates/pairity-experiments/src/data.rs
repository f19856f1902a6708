//! The data sets by name: which files they consist of, where these are looked for, and how to load them.
//!
//! ```no_run
//! use pairity_experiments::data;
//! let paths = data::find("crime", None)?;
//! let crime = data::load("crime-ranking", None, 0)?;
//! assert_eq!(crime.rows(), 1994);
//! # Ok::<(), pairity_experiments::error::DataError>(())
//! ```

use crate::dataset::Dataset;
use crate::error::DataError;
use crate::loaders::{crime, law, w3c, wiki};
use crate::simulated::SimulatedTask;
use crate::{business, registry};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use registry::{DATA_SETS, DataFile, Entry, FileCheck};

/// Queries of a simulated task, as in the paper.
pub const SIMULATED_QUERIES: u32 = 5_000;

/// The variable that names a folder with data.
pub const VARIABLE: &str = "PAIRITY_DATA";

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
        return Err(DataError::Generated { name: entry.name });
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
    let files: Vec<String> = entry.ways.iter().map(names).collect();
    let looked: Vec<String> = folders.iter().map(|path| path.display().to_string()).collect();
    let looked = match looked.is_empty() {
        true => format!("no folder (set {VARIABLE}, or name one)"),
        false => looked.join(", "),
    };
    Err(DataError::Other(format!(
        "the data set {name:?} is not here: looked for {} in {looked}. Get it with `pairity data fetch \
         {name}`, or name the folder that has it with --data-dir or {VARIABLE}",
        files.join(", or "),
        name = entry.name
    )))
}

/// The folders that data are looked for in.
pub fn folders(data_dir: Option<&Path>) -> Vec<PathBuf> {
    let variable = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    data_dir.map(Path::to_owned).into_iter().chain(variable).chain(cache()).collect()
}

/// Pairity's folder in the user's cache, where fetched data go; none if the user has no home.
pub fn cache() -> Option<PathBuf> {
    let system = if cfg!(windows) {
        System::Windows
    } else if cfg!(target_os = "macos") {
        System::MacOs
    } else {
        System::Other
    };
    cache_of(system, &|name| std::env::var_os(name))
}

#[derive(Debug, Clone, Copy)]
enum System {
    Windows,
    MacOs,
    Other,
}

fn cache_of(system: System, variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // A relative path would be another folder in every working directory.
    let folder = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = match system {
        System::Windows => folder("LOCALAPPDATA"),
        System::MacOs => folder("HOME").map(|home| home.join("Library").join("Caches")),
        System::Other => folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache"))),
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
    let paths = |name: &str| find(name, data_dir);
    match name {
        "simulated" => Ok(SimulatedTask::two_groups().draw(SIMULATED_QUERIES, seed).dataset(name)),
        "simulated-3" => Ok(SimulatedTask::three_groups().draw(SIMULATED_QUERIES, seed).dataset(name)),
        "business" => Ok(business::draw(seed)),
        "crime-ranking" => load_crime(&paths("crime")?, crime::CrimeTask::Ranking),
        "crime-regression" => load_crime(&paths("crime")?, crime::CrimeTask::Regression),
        "law" => law::load(nth(&paths(name)?, 0)),
        "w3c" => w3c::load(nth(&paths(name)?, 0)),
        "wiki" => {
            let paths = paths(name)?;
            wiki::load(&paths.iter().map(PathBuf::as_path).collect::<Vec<_>>())
        }
        _ => Err(unknown(name, &LOADED)),
    }
}

fn load_crime(paths: &[PathBuf], task: crime::CrimeTask) -> Result<Dataset, DataError> {
    crime::load(nth(paths, 0), nth(paths, 1), task)
}

/// One of the paths of a data set; every way to have it has the same number of them, or they are taken
/// together.
fn nth(paths: &[PathBuf], place: usize) -> &Path {
    paths.get(place).map_or(Path::new(""), PathBuf::as_path)
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
        assert!(matches!(found("business", &[]), Err(DataError::Generated { .. })));
        let message = load("crime", None, 0).unwrap_err().to_string();
        assert!(message.starts_with("there is no data set \"crime\"; there are: simulated,"), "{message}");
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
        assert_eq!(of(System::Other, std::slice::from_ref(&home)), Some(absolute("me/.cache/pairity")));
        assert_eq!(of(System::Other, &[home.clone(), cache]), Some(absolute("c/pairity")));
        let relative = ("XDG_CACHE_HOME", PathBuf::from("c"));
        assert_eq!(of(System::Other, &[home.clone(), relative]), Some(absolute("me/.cache/pairity")));
        assert_eq!(of(System::MacOs, &[home]), Some(absolute("me/Library/Caches/pairity")));
        let local = ("LOCALAPPDATA", absolute("local"));
        assert_eq!(of(System::Windows, &[local]), Some(absolute("local/pairity")));
        assert_eq!(of(System::Other, &[]), None);
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
