//! `pairity data`: which data sets there are, where their files are, and fetching them.

use crate::arguments::Format;
use crate::output;
use crate::progress::Downloads;
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use pairity_experiments::data::{self, DATA_SETS, Entry};
use pairity_experiments::fetch::{FetchSettings, fetch};
use pairity_report::json_lines;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Below the list of options.
pub const HELP: &str = "\
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

/// Arguments of `data`.
#[derive(Debug, Args)]
pub struct DataArguments {
    /// What to do.
    #[command(subcommand)]
    pub action: Action,
}

/// What is done with data sets.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Every data set, and where it is
    #[command(after_help = LIST_HELP)]
    List(PlaceArguments),
    /// The files of a data set, one a line
    #[command(after_help = PATH_HELP)]
    Path {
        /// The data set, as `pairity data list` calls it
        name: String,
        /// Where it is looked for.
        #[command(flatten)]
        place: PlaceArguments,
    },
    /// Download data sets from their publishers
    #[command(after_help = FETCH_HELP)]
    Fetch(FetchArguments),
}

/// Where data sets are, and how that is told.
#[derive(Debug, Args)]
pub struct PlaceArguments {
    /// The folder that is looked into first, and fetched into
    #[arg(long, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,

    /// Text for people, or one JSON document
    #[arg(long, value_enum, value_name = "text|json", default_value_t = Format::Text, hide_possible_values = true)]
    pub format: Format,
}

/// Arguments of `data fetch`.
#[derive(Debug, Args)]
pub struct FetchArguments {
    /// The data sets, as `pairity data list` calls them
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,

    /// Where they go.
    #[command(flatten)]
    pub place: PlaceArguments,

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

/// Runs the command.
///
/// # Errors
/// Unknown names, data that is not here or can't be fetched.
pub fn run(arguments: &DataArguments) -> anyhow::Result<ExitCode> {
    let (format, document, text) = match &arguments.action {
        Action::List(place) => list(place),
        Action::Path { name, place } => path(name, place)?,
        Action::Fetch(arguments) => fetched(arguments)?,
    };
    output::write(&match format {
        Format::Json => json_lines(&document),
        Format::Text => text,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The same as a document and as text.
type Told = (Format, Value, String);

fn list(place: &PlaceArguments) -> Told {
    let mut text = String::new();
    let mut sets = Vec::new();
    for entry in &DATA_SETS {
        let found = data::find(entry.name, place.data_dir.as_deref()).ok();
        let state = match (&found, entry.is_generated()) {
            (_, true) => "drawn from a seed, needs no files".to_owned(),
            (None, _) => format!("not here: pairity data fetch {}", entry.name),
            (Some(paths), _) => lines(paths).join("\n             "),
        };
        text +=
            &format!("{:<13}{}\n{:<13}{}\n{:<13}{state}\n", entry.name, entry.about, "", entry.license, "");
        sets.push(json!({
            "name": entry.name,
            "about": entry.about,
            "license": entry.license,
            "generated": entry.is_generated(),
            "files": found.as_deref().map(lines),
        }));
    }
    let looked = lines(&data::folders(place.data_dir.as_deref()));
    text += &format!(
        "\nLooked for in {}\n",
        if looked.is_empty() { "no folder".to_owned() } else { looked.join(", ") }
    );
    (place.format, json!({"schema": "pairity.data/1", "looked": looked, "data": sets}), text)
}

fn path(name: &str, place: &PlaceArguments) -> anyhow::Result<Told> {
    let paths = lines(&data::find(name, place.data_dir.as_deref())?);
    let text = paths.iter().map(|path| format!("{path}\n")).collect();
    Ok((place.format, json!({"schema": "pairity.data/1", "name": name, "files": paths}), text))
}

fn fetched(arguments: &FetchArguments) -> anyhow::Result<Told> {
    // A name that is wrong is found out before anything is downloaded.
    let entries = arguments.names.iter().map(|name| data::entry(name)).collect::<Result<Vec<&Entry>, _>>()?;
    let folders = data::folders(arguments.place.data_dir.as_deref());
    let Some(into) = folders.first() else {
        bail!("there is no folder to fetch into: name one with --data-dir or {}", data::VARIABLE);
    };
    let settings = FetchSettings {
        mirror: arguments.mirror.clone(),
        attempts: arguments.attempts,
        ..FetchSettings::default()
    };
    let (mut text, mut sets) = (String::new(), Vec::new());
    for entry in entries {
        let downloads = Downloads::new(arguments.quiet);
        let paths = fetch(entry.name, into, &settings, &|progress| {
            downloads.update(progress.file, progress.done, progress.size);
        })
        .with_context(|| format!("can't fetch {}", entry.name))?;
        drop(downloads);
        let paths = lines(&paths);
        text += &format!("{} ({})\n", entry.name, entry.license);
        text += &paths.iter().map(|path| format!("  {path}\n")).collect::<String>();
        text += &better(entry, into);
        sets.push(json!({"name": entry.name, "license": entry.license, "files": paths}));
    }
    Ok((arguments.place.format, json!({"schema": "pairity.data/1", "data": sets}), text))
}

/// What has to be put in place by hand to have more than what is fetched.
fn better(entry: &Entry, into: &Path) -> String {
    let Some(files) = entry.by_hand() else { return String::new() };
    let folder = files.first().map_or(into.to_owned(), |file| into.join(file.folder));
    let addresses: String =
        files.iter().filter_map(|file| Some(format!("    {}\n", file.address?))).collect();
    format!(
        "  This is a sample. The full set has no checksum here: download it yourself and put it into\n  {}\n{addresses}",
        folder.display()
    )
}

fn lines(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.display().to_string()).collect()
}
