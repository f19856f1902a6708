//! A progress bar for reads that take long, on terminals only.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Reads shorter than this show nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// Shows how far a read has come.
pub struct Progress {
    shown: bool,
    start: Instant,
    bar: OnceLock<ProgressBar>,
}

impl Progress {
    /// Nothing is shown with `quiet`, nor if standard error is no terminal.
    pub fn new(quiet: bool) -> Progress {
        Progress { shown: !quiet && stderr().is_terminal(), start: Instant::now(), bar: OnceLock::new() }
    }

    /// So many bytes have been read.
    pub fn update(&self, done: u64, all: Option<u64>) {
        if !self.shown || self.start.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let style = ProgressStyle::with_template("reading {bytes} of {total_bytes} {wide_bar} {eta}");
            let bar = ProgressBar::new(all.unwrap_or(0));
            style.map_or(bar.clone(), |style| bar.with_style(style))
        });
        let length = all.unwrap_or(done).max(done);
        if bar.length() != Some(length) {
            bar.set_length(length);
        }
        bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

/// Shows how far a training run has come, with the objective and the worst violation so far.
pub struct TrainProgress {
    bar: Option<ProgressBar>,
}

impl TrainProgress {
    /// Nothing is shown with `quiet`, nor if standard error is no terminal.
    pub fn new(quiet: bool) -> TrainProgress {
        let shown = !quiet && stderr().is_terminal();
        TrainProgress { bar: shown.then(|| ProgressBar::new(0)) }
    }

    /// So many iterations are done.
    pub fn update(&self, progress: &pairity::training::Progress) {
        let Some(bar) = &self.bar else { return };
        if bar.length() != Some(progress.iterations as u64) {
            bar.set_length(progress.iterations as u64);
            let style = ProgressStyle::with_template("training {wide_bar} {percent}% {eta}  {msg}");
            if let Ok(style) = style {
                bar.set_style(style);
            }
        }
        bar.set_message(format!(
            "objective {:.4}, worst violation {:.4}",
            progress.objective, progress.violation
        ));
        bar.set_position(progress.done as u64);
    }

    /// Says something without breaking the bar.
    pub fn warn(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| crate::output::complain(text)),
            None => crate::output::complain(text),
        }
    }
}

impl Drop for TrainProgress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Shows how far the download of each file has come.
pub struct Downloads {
    bar: Option<ProgressBar>,
}

impl Downloads {
    /// Nothing is shown with `quiet`, nor if standard error is no terminal.
    pub fn new(quiet: bool) -> Downloads {
        let shown = !quiet && stderr().is_terminal();
        let style = ProgressStyle::with_template("{msg} {bytes} of {total_bytes} {wide_bar} {eta}");
        let bar = || {
            let bar = ProgressBar::new(0);
            style.map_or(bar.clone(), |style| bar.with_style(style))
        };
        Downloads { bar: shown.then(bar) }
    }

    /// So many bytes of a file are there.
    pub fn update(&self, file: &str, done: u64, size: u64) {
        let Some(bar) = &self.bar else { return };
        if bar.message() != file {
            bar.set_message(file.to_owned());
            bar.set_length(size);
            bar.reset_eta();
        }
        bar.set_position(done);
    }
}

impl Drop for Downloads {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Shows how many of some equal steps are done.
pub struct Steps {
    bar: Option<ProgressBar>,
}

impl Steps {
    /// Nothing is shown with `quiet`, nor if standard error is no terminal.
    pub fn new(quiet: bool, all: usize) -> Steps {
        let shown = !quiet && stderr().is_terminal();
        let style = ProgressStyle::with_template("{pos} of {len} {wide_bar} {eta}  {msg}");
        let bar = || {
            let bar = ProgressBar::new(all as u64);
            style.map_or(bar.clone(), |style| bar.with_style(style))
        };
        Steps { bar: shown.then(bar) }
    }

    /// One more is done.
    pub fn done(&self, what: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(what.to_owned());
            bar.inc(1);
        }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
