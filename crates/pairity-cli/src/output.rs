//! Writing to standard output, standard error and files.

use crate::arguments::{Format, OutputArguments};
use anyhow::{Context, bail};
use pairity_report::{Look, Report, audit_json, audit_text, json_lines};
use std::fs;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Width of text that goes to a file or a pipe.
const WIDTH: usize = 100;

/// Runs work on as many threads as were asked for.
pub fn on_threads<T: Send>(
    arguments: &OutputArguments,
    work: impl FnOnce() -> anyhow::Result<T> + Send,
) -> anyhow::Result<T> {
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = arguments.threads {
        pool = pool.num_threads(threads);
    }
    pool.build().context("can't start threads")?.install(work)
}

/// The report in the format that was asked for.
pub fn render(report: &Report, format: Format) -> String {
    match format {
        Format::Json => json_lines(&audit_json(report)),
        Format::Text => audit_text(report, &look()),
    }
}

/// How text looks on standard output: pictures and colors are for terminals only.
pub fn look() -> Look {
    let terminal = io::stdout().is_terminal();
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let dumb = set("TERM").is_some_and(|name| name == "dumb");
    Look {
        color: terminal && set("NO_COLOR").is_none(),
        pictures: terminal && !dumb && speaks_unicode(),
        width: width(),
    }
}

/// Whether the first of the variables that choose a terminal's letters names Unicode; none means that it
/// can't be told, and most do.
fn speaks_unicode() -> bool {
    let named = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    named.is_none_or(|name| name.to_lowercase().replace('-', "").contains("utf8"))
}

/// The number of columns to fill.
pub fn width() -> usize {
    let terminal = if io::stdout().is_terminal() { terminal_size::terminal_size() } else { None };
    terminal.map_or(WIDTH, |(width, _)| usize::from(width.0).clamp(72, 120))
}

/// Writes to standard output. A reader that has seen enough is no error.
pub fn write(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => done.context("can't write to standard output"),
    }
}

/// Whether a file could be written to a place, asked before long work is done for it.
///
/// # Errors
/// The folder is missing, or the place is a folder itself.
pub fn check_file(file: &Path) -> anyhow::Result<()> {
    if file.is_dir() || file.file_name().is_none() {
        bail!("can't write to {}: it is a folder; add the name of a file", file.display());
    }
    let folder = folder(file);
    if !folder.is_dir() {
        bail!("can't write to {}: there is no folder {}; make it first", file.display(), folder.display());
    }
    Ok(())
}

/// Writes a file whole or not at all: beside its place first, and then there in one step.
///
/// # Errors
/// The file can't be written; what was there before is untouched.
pub fn write_file(file: &Path, text: &str) -> anyhow::Result<()> {
    check_file(file)?;
    let why = || format!("can't write to {}", file.display());
    // A link stays a link: what it leads to is replaced.
    let place = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    if place.exists() && !place.is_file() {
        // Such as /dev/stdout, which can't be replaced.
        return fs::write(&place, text).with_context(why);
    }
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let beside = folder(&place).join(format!(".{name}.{}.part", std::process::id()));
    let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, &place));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written.with_context(why)
}

/// The folder that a file is in.
fn folder(file: &Path) -> PathBuf {
    match file.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Writes a line to standard error, which may be closed.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
