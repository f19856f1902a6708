//! Progress bars, on terminals only.

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use pairity::solvers::RunProgress;
use pairity_experiments::fetch::Progress;
use std::io::{IsTerminal, stderr};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Reads shorter than this show nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// How far a read has come.
const READING: &str = "reading {bytes} of {total_bytes} {wide_bar} {eta}  {msg}";

/// How far a training run has come, with the objective and the worst violation so far.
pub const TRAINING: &str = "training {wide_bar} {percent}% {eta}  {msg}";

/// How far the download of each file has come.
pub const DOWNLOADING: &str = "{msg} {bytes} of {total_bytes} {wide_bar} {eta}";

/// How far rows that were read are counted.
pub const COUNTING: &str = "counting {human_pos} of {human_len} rows {wide_bar} {per_sec} {eta}";

/// How many blocks and pairs of blocks of rows are compared.
pub const COMPARING: &str = "comparing blocks {pos} of {len} {wide_bar} {eta}  {msg}";

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

    /// So many are done.
    pub fn at(&self, done: usize) {
        self.0.set_position(done as u64);
    }

    /// Says how it goes.
    pub fn say(&self, what: &str) {
        self.0.set_message(what.to_owned());
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
    let bar = ReadingBar::new(quiet);
    move |done, all| bar.bytes(done, all)
}

/// How far a read has come, and how many rows a second are read.
pub struct ReadingBar {
    quiet: bool,
    start: Instant,
    bar: OnceLock<Bar>,
    rows: AtomicU64,
}

impl ReadingBar {
    /// Nothing is shown until it takes a while.
    pub fn new(quiet: bool) -> ReadingBar {
        let quiet = !is_shown(quiet);
        ReadingBar { quiet, start: Instant::now(), bar: OnceLock::new(), rows: AtomicU64::new(0) }
    }

    /// So many bytes are read of so many, if that is known.
    pub fn bytes(&self, done: u64, all: Option<u64>) {
        if self.quiet || self.start.elapsed() < PATIENCE {
            return;
        }
        let Bar(bar) = self.bar.get_or_init(|| Bar::new(self.quiet, READING));
        let length = all.unwrap_or(done).max(done);
        if bar.length() != Some(length) {
            bar.set_length(length);
        }
        bar.set_position(done);
    }

    /// So many more rows are done.
    pub fn rows(&self, more: usize) {
        let rows = self.rows.fetch_add(more as u64, Ordering::Relaxed) + more as u64;
        if let Some(Bar(bar)) = self.bar.get() {
            let speed = rows as f64 / self.start.elapsed().as_secs_f64();
            bar.set_message(format!("{} rows/s", HumanCount(speed as u64)));
        }
    }
}
