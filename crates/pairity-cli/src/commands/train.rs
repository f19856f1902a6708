//! `pairity train`: load, train, write the model and the report.

use crate::files::{beside, check_writable, write_file};
use crate::options::TrainOptions;
use crate::progress::{Bar, TRAINING};
use crate::{load, output};
use anyhow::Context;
use pairity::run::{Rows, TrainOutcome, train};
use pairity::solvers::{Checkpoint, Watch};
use pairity_report::{PageAside, TrainingReport, training_html, training_json, training_text};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The goal is not met.
const NOT_MET: u8 = 1;

/// Time from one checkpoint to the next.
const SAVE_EVERY: Duration = Duration::from_secs(2);

/// How often somebody pressed Ctrl-C: once ends the training, twice the program.
static INTERRUPTS: AtomicUsize = AtomicUsize::new(0);

/// Runs the command.
///
/// # Errors
/// Wrong arguments or data; no file has been written then.
pub fn run(options: &TrainOptions) -> anyhow::Result<ExitCode> {
    let (file, fit) = (&options.output_file, &options.fit);
    check_writable(file)?;
    fit.page.check()?;
    let run = output::on_threads(&fit.output, || trained(options, load::to_train(fit)?))?;
    write_file(file, run.model.to_json()?.as_bytes())?;
    let report = TrainingReport { run, file: Some(file.display().to_string()) };
    fit.page.write(report.pictures.as_ref().map(|pictures| {
        let command = output::command(std::env::args());
        let (before, plane) = (pictures.before.as_ref(), pictures.plane.as_ref());
        training_html(&report, &PageAside { command: Some(&command), before, plane, ..PageAside::default() })
    }))?;
    let checkpoint = beside(file, ".checkpoint");
    if !report.stopped() && checkpoint.exists() {
        std::fs::remove_file(&checkpoint)
            .with_context(|| format!("can't remove {}", checkpoint.display()))?;
    }
    output::write(&output::render(&fit.output, &report, training_json, training_text))?;
    Ok(ExitCode::from(if report.trained.meets_goal { 0 } else { NOT_MET }))
}

fn trained(options: &TrainOptions, rows: Rows) -> anyhow::Result<TrainOutcome> {
    let checkpoint = beside(&options.output_file, ".checkpoint");
    let resume = match options.resume && checkpoint.exists() {
        true => Some(read_checkpoint(&checkpoint)?),
        false => None,
    };
    listen();
    let bar = Bar::new(options.fit.output.quiet, TRAINING);
    let save = |state: &Checkpoint| {
        // A full disk is no reason to lose the model.
        if let Err(error) = write_file(&checkpoint, state.to_json().as_bytes()) {
            bar.warn(&format!("warning: no checkpoint: {error:#}"));
        }
    };
    let progress = |progress: &_| {
        bar.train(progress);
        INTERRUPTS.load(Ordering::Relaxed) == 0
    };
    let watch = Watch { progress: &progress, save: &save, save_every: SAVE_EVERY, resume };
    train(rows, &options.request(), watch).map_err(|error| options.fit.explain(error))
}

fn read_checkpoint(path: &Path) -> anyhow::Result<Checkpoint> {
    let place = || format!("can't resume from {}", path.display());
    let text = std::fs::read_to_string(path).with_context(place)?;
    Checkpoint::from_json(&text).with_context(place)
}

/// The first Ctrl-C ends the training, the second one the program.
fn listen() {
    // Without a handler Ctrl-C ends the program at once, which is no harm.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTS.fetch_add(1, Ordering::Relaxed) > 0 {
            std::process::exit(130);
        }
    });
}
