//! Writing to standard output and error.

use crate::arguments::{Format, OutputArguments};
use anyhow::Context;
use pairity_report::{Report, audit_json, audit_text, json_lines};
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
pub fn render(report: &Report, format: Format) -> String {
    match format {
        Format::Json => json_lines(&audit_json(report)),
        Format::Text => audit_text(report, wants_color(), width()),
    }
}

/// The number of columns to fill.
pub fn width() -> usize {
    let terminal = if io::stdout().is_terminal() { terminal_size::terminal_size() } else { None };
    terminal.map_or(WIDTH, |(width, _)| usize::from(width.0).clamp(72, 120))
}

/// Whether standard output is a terminal that wants colors.
pub fn wants_color() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    io::stdout().is_terminal() && !refused
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
