//! Writing to standard output, standard error and files.

use crate::arguments::{Format, OutputArguments};
use anyhow::Context;
use pairity_report::{AuditReport, FrontEnd, Look, audit_json, audit_text, json_lines};
use std::io::{self, ErrorKind, IsTerminal, Write};

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
pub fn render(report: &AuditReport, format: Format) -> String {
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

/// Writes a line to standard error, which may be closed.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
