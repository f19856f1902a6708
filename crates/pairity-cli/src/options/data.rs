//! The options of `data`.

use super::Format;
use clap::{Args, Subcommand};
use pairity_experiments::fetch::FetchSettings;
use std::path::PathBuf;

/// What is done with data sets.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Every data set, and where it is
    #[command(after_help = include_str!("help/data_list.txt"))]
    List(PlaceOptions),
    /// The files of a data set, one a line
    #[command(after_help = include_str!("help/data_path.txt"))]
    Path {
        /// The data set, as `pairity data list` calls it
        name: String,
        /// Where it is looked for.
        #[command(flatten)]
        place: PlaceOptions,
    },
    /// Download data sets from their publishers
    #[command(after_help = include_str!("help/data_fetch.txt"))]
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
