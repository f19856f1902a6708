//! The options of `data`.

use super::Format;
use clap::{Args, Subcommand};
use pairity_experiments::fetch::FetchSettings;
use std::path::PathBuf;

/// Below the list of options.
pub const DATA_HELP: &str = "\
Data sets are looked for in --data-dir, in $PAIRITY_DATA and in the user's cache, in this order, and
fetched into the first of them.

Exit codes:
  0  fine
  2  wrong arguments, a data set that is not here, or one that can't be fetched

Examples:
  pairity data list
  pairity data fetch crime
  pairity data path crime --format json";

const LIST_HELP: &str = "\
Example:
  pairity data list --data-dir downloads";

const PATH_HELP: &str = "\
One path a line, in a fixed order, so that scripts can use them.

Example:
  head -3 $(pairity data path law)";

const FETCH_HELP: &str = "\
Files come from their publishers and are checked by size and SHA-256. They appear whole or not at all; a
download that was cut off goes on where it ended. What is there already and right is not fetched again.

Examples:
  pairity data fetch crime law
  pairity data fetch wiki --data-dir downloads";

/// Options of `data`.
#[derive(Debug, Args)]
pub struct DataOptions {
    /// What to do.
    #[command(subcommand)]
    pub action: Action,
}

/// What is done with data sets.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Every data set, and where it is
    #[command(after_help = LIST_HELP)]
    List(PlaceOptions),
    /// The files of a data set, one a line
    #[command(after_help = PATH_HELP)]
    Path {
        /// The data set, as `pairity data list` calls it
        name: String,
        /// Where it is looked for.
        #[command(flatten)]
        place: PlaceOptions,
    },
    /// Download data sets from their publishers
    #[command(after_help = FETCH_HELP)]
    Fetch(FetchOptions),
}

/// Where data sets are, and how that is told.
#[derive(Debug, Args)]
pub struct PlaceOptions {
    /// The folder that is looked into first, and fetched into
    #[arg(long, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,

    /// Text for people, or one JSON document
    #[arg(long, value_enum, value_name = "text|json", default_value_t = Format::Text, hide_possible_values = true)]
    pub format: Format,
}

/// Options of `data fetch`.
#[derive(Debug, Args)]
pub struct FetchOptions {
    /// The data sets, as `pairity data list` calls them
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,

    /// Where they go.
    #[command(flatten)]
    pub place: PlaceOptions,

    /// Another server that has the files under the same paths, such as http://mirror.example:8080
    #[arg(long, value_name = "URL")]
    pub mirror: Option<String>,

    /// How often a file is tried before giving up
    #[arg(long, value_name = "N", default_value_t = FetchSettings::default().attempts, value_parser = clap::value_parser!(u32).range(1..))]
    pub attempts: u32,

    /// No progress bar
    #[arg(long)]
    pub quiet: bool,
}
