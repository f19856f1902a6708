//! Progress bars, on terminals only.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Reads shorter than this show nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// A bar that goes away with this value.
struct Bar(ProgressBar);

impl Bar {
    /// Nothing is shown with `quiet`, nor if standard error is no terminal.
    fn new(quiet: bool, template: &str) -> Bar {
        let bar = if is_shown(quiet) { ProgressBar::new(0) } else { ProgressBar::hidden() };
        Bar(ProgressStyle::with_template(template).map_or(bar.clone(), |style| bar.with_style(style)))
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn is_shown(quiet: bool) -> bool {
    !quiet && stderr().is_terminal()
}

/// Shows how far a read has come.
pub struct ReadProgress {
    quiet: bool,
    start: Instant,
    bar: OnceLock<Bar>,
}

impl ReadProgress {
    /// Nothing is shown with `quiet`, nor if standard error is no terminal.
    pub fn new(quiet: bool) -> ReadProgress {
        ReadProgress { quiet: !is_shown(quiet), start: Instant::now(), bar: OnceLock::new() }
    }

    /// So many bytes have been read.
    pub fn update(&self, done: u64, all: Option<u64>) {
        if self.quiet || self.start.elapsed() < PATIENCE {
            return;
        }
        let template = "reading {bytes} of {total_bytes} {wide_bar} {eta}";
        let Bar(bar) = self.bar.get_or_init(|| Bar::new(self.quiet, template));
        let length = all.unwrap_or(done).max(done);
        if bar.length() != Some(length) {
            bar.set_length(length);
        }
        bar.set_position(done);
    }
}

/// Shows how far a training run has come, with the objective and the worst violation so far.
pub struct TrainProgress(Bar);

impl TrainProgress {
    /// Nothing is shown with `quiet`, nor if standard error is no terminal.
    pub fn new(quiet: bool) -> TrainProgress {
        TrainProgress(Bar::new(quiet, "training {wide_bar} {percent}% {eta}  {msg}"))
    }

    /// So many iterations are done.
    pub fn update(&self, progress: &pairity::solvers::RunProgress) {
        let Bar(bar) = &self.0;
        bar.set_length(progress.iterations as u64);
        bar.set_message(format!(
            "objective {:.4}, worst violation {:.4}",
            progress.objective, progress.violation
        ));
        bar.set_position(progress.done as u64);
    }

    /// Says something without breaking the bar.
    pub fn warn(&self, text: &str) {
        self.0.0.suspend(|| crate::output::complain(text));
    }
}

/// Shows how far the download of each file has come.
pub struct Downloads(Bar);

impl Downloads {
    /// Nothing is shown with `quiet`, nor if standard error is no terminal.
    pub fn new(quiet: bool) -> Downloads {
        Downloads(Bar::new(quiet, "{msg} {bytes} of {total_bytes} {wide_bar} {eta}"))
    }

    /// So many bytes of a file are there.
    pub fn update(&self, file: &str, done: u64, size: u64) {
        let Bar(bar) = &self.0;
        if bar.message() != file {
            bar.set_message(file.to_owned());
            bar.set_length(size);
            bar.reset_eta();
        }
        bar.set_position(done);
    }
}

/// Shows how many of some equal steps are done.
pub struct Steps {
    bar: Bar,
}

impl Steps {
    /// Nothing is shown with `quiet`, nor if standard error is no terminal.
    pub fn new(quiet: bool) -> Steps {
        Steps { bar: Bar::new(quiet, "{pos} of {len} {wide_bar} {eta}  {msg}") }
    }

    /// There are so many steps.
    pub fn expect(&self, all: usize) {
        self.bar.0.set_length(all as u64);
    }

    /// One more is done.
    pub fn done(&self, what: &str) {
        self.bar.0.set_message(what.to_owned());
        self.bar.0.inc(1);
    }
}
