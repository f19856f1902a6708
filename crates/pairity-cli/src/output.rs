//! Writing reports: to standard output as text or JSON, and to a file as a page.

use crate::files::{check_writable, write_file};
use crate::options::{FitOptions, Format, OutputOptions, PageOptions};
use anyhow::Context;
use pairity_report::{FrontEnd, Look, json_lines};
use serde_json::Value;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

/// Width of text that goes to a file or a pipe.
const WIDTH: usize = 100;

/// Runs work on as many threads as were asked for.
pub fn on_threads<T: Send>(
    options: &OutputOptions,
    work: impl FnOnce() -> anyhow::Result<T> + Send,
) -> anyhow::Result<T> {
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = options.threads {
        pool = pool.num_threads(threads);
    }
    pool.build().context("can't start threads")?.install(work)
}

/// A report in the format that was asked for.
pub fn render<R>(
    options: &OutputOptions,
    report: &R,
    json: fn(&R) -> Value,
    text: fn(&R, &Look) -> String,
) -> String {
    match options.format {
        Format::Json => json_lines(&json(report)),
        Format::Text => text(report, &look()),
    }
}

/// Makes a report and writes it: its page first, then text or JSON.
///
/// # Errors
/// Those of making it, or a file that can't be written.
pub fn present<R: Send>(
    options: &FitOptions,
    make: impl FnOnce() -> anyhow::Result<R> + Send,
    json: fn(&R) -> Value,
    text: fn(&R, &Look) -> String,
    html: fn(&R, Option<&str>) -> String,
) -> anyhow::Result<ExitCode> {
    let page = &options.page;
    page.check()?;
    let report = on_threads(&options.output, make)?;
    page.write(page.html.as_ref().map(|_| html(&report, Some(&command(std::env::args())))))?;
    write(&render(&options.output, &report, json, text))?;
    Ok(ExitCode::SUCCESS)
}

impl PageOptions {
    /// Fails now rather than after an hour of work if the page can't be written.
    ///
    /// # Errors
    /// It can't.
    pub fn check(&self) -> anyhow::Result<()> {
        self.html.as_deref().map_or(Ok(()), check_writable)
    }

    /// Writes the page, if there is one.
    ///
    /// # Errors
    /// The file can't be written; what was there before is untouched.
    pub fn write(&self, page: Option<String>) -> anyhow::Result<()> {
        match (&self.html, page) {
            (Some(file), Some(page)) => write_file(file, page.as_bytes()),
            _ => Ok(()),
        }
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

/// The number of columns to fill.
fn width() -> usize {
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

/// Writes a line to standard error, which may be closed.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// A command as one would type it, on one line.
pub fn command(arguments: impl Iterator<Item = String>) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_quoted_for_a_shell() {
        let words =
            ["/usr/bin/pairity", "train", "my file.csv", "--subject-to", "A[a > b] >= 0.5", "it's", ""];
        let command = command(words.iter().map(|word| (*word).to_owned()));
        assert_eq!(command, r"pairity train 'my file.csv' --subject-to 'A[a > b] >= 0.5' 'it'\''s' ''");
    }
}
