//! What is written: reports to standard output as text or JSON, and files, which appear whole or not at all.

use crate::options::{Format, OutputOptions};
use crate::progress::reading;
use anyhow::{Context, bail};
use pairity_report::{FrontEnd, Look, json_lines};
use pairity_tables::{AddColumns, FileId, Source, TableError, WholeFile};
use serde_json::Value;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

/// Width of text that goes to a file or a pipe.
const WIDTH: usize = 100;

/// The fewest and the most columns that text takes.
const NARROWEST: usize = 72;
const WIDEST: usize = 240;

/// So many threads are started for whoever asks for them; more only where there are many cores.
const THREADS: usize = 64;

/// The output that is standard output.
pub const STANDARD: &str = "-";

/// Makes a report on as many threads as were asked for, and writes it: its page first, then text or JSON.
///
/// # Errors
/// Those of making it, or a file that can't be written, which is told before the work.
pub fn present<R: Send>(
    options: &OutputOptions,
    page: Option<&Path>,
    make: impl FnOnce() -> anyhow::Result<R> + Send,
    json: impl FnOnce(&R) -> Value,
    text: impl FnOnce(&R, &Look) -> String,
    html: impl FnOnce(&R) -> String,
) -> anyhow::Result<R> {
    page.map_or(Ok(()), check_writable)?;
    let report = on_threads(options, make)?;
    let page = page.map(|file| start_file(file, html(&report).as_bytes())).transpose()?;
    publish(&render(options, &report, json, text), page.into_iter().collect())?;
    Ok(report)
}

/// Writes a report to standard output and gives files their names: all of that, or none where something can't be
/// written.
///
/// # Errors
/// Something can't be written; the message says which files were, if any.
pub fn publish(report: &str, mut files: Vec<WholeFile>) -> anyhow::Result<()> {
    files.iter_mut().try_for_each(WholeFile::sync).context("can't write the output")?;
    write(report)?;
    WholeFile::keep_all(files).context("can't write the output")
}

/// Runs work on as many threads as were asked for.
pub fn on_threads<T: Send>(
    options: &OutputOptions,
    work: impl FnOnce() -> anyhow::Result<T> + Send,
) -> anyhow::Result<T> {
    // More only cost time to start.
    let most = THREADS.max(16 * std::thread::available_parallelism().map_or(1, usize::from));
    if let Some(asked) = options.threads.filter(|threads| *threads > most) {
        complain(&format!("note: --threads {asked} is more than these cores can use: {most} are started"));
    }
    // The number 0 stands for all cores.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads.unwrap_or(0).min(most));
    pool.build().context("can't start threads")?.install(work)
}

/// A report in the format that was asked for.
pub fn render<R>(
    options: &OutputOptions,
    report: &R,
    json: impl FnOnce(&R) -> Value,
    text: impl FnOnce(&R, &Look) -> String,
) -> String {
    match options.format {
        Format::Json => json_lines(&json(report)),
        Format::Text => text(report, &look()),
    }
}

/// How text looks on standard output: pictures and colors are for terminals only.
fn look() -> Look {
    let terminal = io::stdout().is_terminal();
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let dumb = set("TERM").is_some_and(|name| name == "dumb");
    let stated = set("COLUMNS").and_then(|columns| columns.to_str()?.parse::<usize>().ok());
    let seen = if terminal { terminal_size::terminal_size() } else { None };
    let width = stated.or(seen.map(|(width, _)| usize::from(width.0)));
    Look {
        color: terminal && set("NO_COLOR").is_none(),
        pictures: terminal && !dumb && speaks_unicode(),
        width: width.map_or(WIDTH, |width| width.clamp(NARROWEST, WIDEST)),
        front_end: FrontEnd::CommandLine,
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

/// Writes to standard output. A reader that has seen enough is no error.
pub fn write(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => done.context("can't write to standard output"),
    }
}

/// Writes a line to standard error, which may be closed. Names in it may hold anything: characters that would
/// command a terminal are escaped, as in JSON.
pub fn complain(text: &str) {
    let escaped = |c: char| match c.is_control() && c != '\n' {
        true => format!("\\u{:04x}", u32::from(c)),
        false => c.to_string(),
    };
    let text: String = text.chars().map(escaped).collect();
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// The command that runs, as one would type it.
pub fn command() -> String {
    quoted(std::env::args())
}

/// A command as one would type it, on one line.
fn quoted(arguments: impl Iterator<Item = String>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,@%+".contains(c);
    let quote = |argument: String| match !argument.is_empty() && argument.chars().all(plain) {
        true => argument,
        // A quote inside quotes ends them, is written by itself, and starts them again.
        false => format!("'{}'", argument.replace('\'', "'\\''")),
    };
    // Wherever the program is, its name will do.
    let rest: Vec<String> = arguments.skip(1).map(quote).collect();
    format!("pairity {}", rest.join(" "))
}

/// A file with its content, which has no name until it is kept.
///
/// # Errors
/// The folder or the file can't be written to; what was there before is untouched.
pub fn start_file(path: &Path, content: &[u8]) -> anyhow::Result<WholeFile> {
    let write = |mut file: WholeFile| file.write_all(content).and_then(|()| file.sync()).map(|()| file);
    WholeFile::create(path).and_then(write).with_context(|| format!("can't write {}", path.display()))
}

/// Refuses outputs that are an input or another output, by whatever path: one would replace the other. The inputs
/// are tables, and other files with what they are.
///
/// # Errors
/// Two of them are one file.
pub fn check_apart(outputs: &[&Path], tables: &Source, others: &[(&str, &Path)]) -> anyhow::Result<()> {
    for (at, path) in outputs.iter().enumerate() {
        let id = FileId::of(path);
        let is = |other: &Path| id.is_some() && FileId::of(other) == id;
        let other = others.iter().find(|(_, other)| is(other)).map(|(what, _)| *what);
        if let Some(what) = if tables.reads(path) { Some("a table") } else { other } {
            bail!(
                "{} is read as {what}, so that it can't be the output too. Choose another name for the output",
                path.display()
            );
        }
        if let Some(other) = outputs[..at].iter().find(|other| is(other)) {
            bail!(
                "{} and {} are one file, which can't hold two outputs. Choose another name for one of them",
                other.display(),
                path.display()
            );
        }
    }
    Ok(())
}

/// Fails now rather than after an hour of work if a file can't be written.
///
/// # Errors
/// The folder does not exist or is not writable.
pub fn check_writable(path: &Path) -> anyhow::Result<()> {
    if path == Path::new(STANDARD) {
        bail!("{STANDARD} is standard output, where the report goes: name a file");
    }
    if path.is_dir() {
        bail!("{} is a folder: name a file in it", path.display());
    }
    // A pipe that nobody reads would wait forever.
    if path.exists() && !path.is_file() {
        bail!("{} is a pipe or a device, which can't be replaced by a file: name a file", path.display());
    }
    if let Some(folder) = path.parent().filter(|folder| *folder != Path::new("") && !folder.is_dir()) {
        bail!("can't write {}: there is no folder {}; make it first", path.display(), folder.display());
    }
    // It is gone at once, since it is not kept.
    WholeFile::create(path).map(drop).with_context(|| format!("can't write {}", path.display()))
}

/// Opens the file of a new table.
///
/// # Errors
/// The folder does not exist or is not writable.
pub fn create_table(path: &Path) -> Result<WholeFile, TableError> {
    WholeFile::create(path).map_err(|cause| TableError::Write { file: path.display().to_string(), cause })
}

/// Writes a table with its new columns: to a file of some name, which is to be kept, or to standard output.
///
/// # Errors
/// The table can't be read again, or the file can't be written; what was there before is untouched.
pub fn write_columns(
    plan: &AddColumns,
    columns: &[&[f64]],
    name: &str,
    file: Option<WholeFile>,
    quiet: bool,
) -> Result<Option<WholeFile>, TableError> {
    let show = reading(quiet);
    let Some(mut file) = file else {
        return match plan.write(columns, "standard output", &mut io::stdout(), &show) {
            // A reader that has seen enough is no error.
            Err(TableError::Write { cause, .. }) if cause.kind() == ErrorKind::BrokenPipe => Ok(None),
            done => done.map(|()| None),
        };
    };
    plan.write(columns, name, &mut file, &show)?;
    file.sync().map_err(|cause| TableError::Write { file: name.to_owned(), cause })?;
    Ok(Some(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_quoted_for_a_shell() {
        let words =
            ["/usr/bin/pairity", "train", "my file.csv", "--subject-to", "A[a > b] >= 0.5", "it's", ""];
        let command = quoted(words.iter().map(|word| (*word).to_owned()));
        assert_eq!(command, r"pairity train 'my file.csv' --subject-to 'A[a > b] >= 0.5' 'it'\''s' ''");
    }
}
