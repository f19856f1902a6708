//! `pairity data`: which data sets there are, where their files are, and fetching them.

use crate::options::{Action, FetchOptions, Format, PlaceOptions};
use crate::output;
use crate::progress::{Bar, DOWNLOADING};
use anyhow::{Context, bail};
use pairity_experiments::data::{self, DATA_SETS, Entry};
use pairity_experiments::fetch::{FetchSettings, fetch};
use pairity_report::json_lines;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs the command.
///
/// # Errors
/// Unknown names, data that is not here or can't be fetched.
pub fn run(action: &Action) -> anyhow::Result<ExitCode> {
    let (format, document, text) = match action {
        Action::List(place) => list(place),
        Action::Path { name, place } => path(name, place)?,
        Action::Fetch(options) => fetched(options)?,
    };
    output::write(&match format {
        Format::Json => json_lines(&document),
        Format::Text => text,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The same as a document and as text.
type Told = (Format, Value, String);

fn list(place: &PlaceOptions) -> Told {
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

fn path(name: &str, place: &PlaceOptions) -> anyhow::Result<Told> {
    let paths = lines(&data::find(name, place.data_dir.as_deref())?);
    let text = paths.iter().map(|path| format!("{path}\n")).collect();
    Ok((place.format, json!({"schema": "pairity.data/1", "name": name, "files": paths}), text))
}

fn fetched(options: &FetchOptions) -> anyhow::Result<Told> {
    // A name that is wrong is found out before anything is downloaded.
    let entries = options.names.iter().map(|name| data::entry(name)).collect::<Result<Vec<&Entry>, _>>()?;
    let folders = data::folders(options.place.data_dir.as_deref());
    let Some(into) = folders.first() else {
        bail!("there is no folder to fetch into: name one with --data-dir or {}", data::VARIABLE);
    };
    let settings = FetchSettings {
        mirror: options.mirror.clone(),
        attempts: options.attempts,
        ..FetchSettings::default()
    };
    let (mut text, mut sets) = (String::new(), Vec::new());
    for entry in entries {
        let bar = Bar::new(options.quiet, DOWNLOADING);
        let paths = fetch(entry.name, into, &settings, &|progress| bar.download(progress));
        let paths = lines(&paths.with_context(|| format!("can't fetch {}", entry.name))?);
        drop(bar);
        text += &format!("{} ({})\n", entry.name, entry.license);
        text += &paths.iter().map(|path| format!("  {path}\n")).collect::<String>();
        text += &better(entry, into);
        sets.push(json!({"name": entry.name, "license": entry.license, "files": paths}));
    }
    Ok((options.place.format, json!({"schema": "pairity.data/1", "data": sets}), text))
}

/// What has to be put in place by hand to have more than what is fetched.
fn better(entry: &Entry, into: &Path) -> String {
    let Some(files) = entry.by_hand() else { return String::new() };
    let folder = into.join(entry.folder);
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
