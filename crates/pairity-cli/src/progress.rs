//! Progress bars, on terminals only.

use indicatif::{ProgressBar, ProgressStyle};
use pairity::solvers::RunProgress;
use pairity_experiments::fetch::Progress;
use std::io::{IsTerminal, stderr};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Reads shorter than this show nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// How far a read has come.
const READING: &str = "reading {bytes} of {total_bytes} {wide_bar} {eta}";

/// How far a training run has come, with the objective and the worst violation so far.
pub const TRAINING: &str = "training {wide_bar} {percent}% {eta}  {msg}";

/// How far the download of each file has come.
pub const DOWNLOADING: &str = "{msg} {bytes} of {total_bytes} {wide_bar} {eta}";

/// How many of some equal steps are done.
pub const STEPPING: &str = "{pos} of {len} {wide_bar} {eta}  {msg}";

/// A bar that goes away with this value.
pub struct Bar(ProgressBar);

impl Bar {
    /// Nothing is shown with `quiet`, nor if standard error is no terminal.
    pub fn new(quiet: bool, template: &str) -> Bar {
        let bar = if is_shown(quiet) { ProgressBar::new(0) } else { ProgressBar::hidden() };
        Bar(ProgressStyle::with_template(template).map_or(bar.clone(), |style| bar.with_style(style)))
    }

    /// So many iterations of a training run are done.
    pub fn train(&self, progress: &RunProgress) {
        let RunProgress { objective, violation, .. } = progress;
        self.0.set_length(progress.iterations as u64);
        self.0.set_message(format!("objective {objective:.4}, worst violation {violation:.4}"));
        self.0.set_position(progress.done as u64);
    }

    /// Says something without breaking the bar.
    pub fn warn(&self, text: &str) {
        self.0.suspend(|| crate::output::complain(text));
    }

    /// So many bytes of a file are there.
    pub fn download(&self, progress: Progress) {
        if self.0.message() != progress.file {
            self.0.set_message(progress.file.to_owned());
            self.0.set_length(progress.size);
            self.0.reset_eta();
        }
        self.0.set_position(progress.done);
    }

    /// There are so many steps.
    pub fn expect(&self, all: usize) {
        self.0.set_length(all as u64);
    }

    /// One more is done.
    pub fn step(&self, what: &str) {
        self.0.set_message(what.to_owned());
        self.0.inc(1);
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

/// Shows how far a read has come, if it takes a while: bytes read so far and, if known, in all.
pub fn reading(quiet: bool) -> impl Fn(u64, Option<u64>) {
    let (shown, start, bar) = (is_shown(quiet), Instant::now(), OnceLock::new());
    move |done, all| {
        if !shown || start.elapsed() < PATIENCE {
            return;
        }
        let Bar(bar) = bar.get_or_init(|| Bar::new(quiet, READING));
        let length = all.unwrap_or(done).max(done);
        if bar.length() != Some(length) {
            bar.set_length(length);
        }
        bar.set_position(done);
    }
}
