//! Commands that train. `pairity train`: one model; `pairity compare`: every method that applies, on the same
//! split and by the same rules; `pairity frontier`: what each reaches as the bound on the violation is tightened.

use crate::options::{CompareOptions, FitOptions, FrontierOptions, TrainOptions};
use crate::output::{check_writable, command, on_threads, present, publish, render, start_file};
use crate::progress::{Bar, STEPPING, TRAINING};
use crate::{load, signals};
use anyhow::{Context, bail};
use pairity::metrics::Verdict;
use pairity::run::{self, CompareWatch, Rows, RunError};
use pairity::solvers::{Checkpoint, Watch};
use pairity_report::{PageAside, TrainingReport, training_html, training_json, training_text};
use pairity_report::{comparison_html, comparison_json, comparison_text};
use pairity_report::{frontier_html, frontier_json, frontier_text};
use std::cell::Cell;
use std::path::Path;
use std::time::Duration;

/// Time from one checkpoint to the next.
const SAVE_EVERY: Duration = Duration::from_secs(2);

/// Runs `train`; the exit code is 1 if the goal is not met, or not guaranteed where that was asked for, 3 if that can't
/// be estimated.
///
/// # Errors
/// Wrong arguments or data; no file has been written then.
pub fn train(options: &TrainOptions) -> anyhow::Result<u8> {
    let (fit, page) = (&options.fit, options.fit.page.html.as_deref());
    check_writable(&options.output_file)?;
    page.map_or(Ok(()), check_writable)?;
    let html = |report: &TrainingReport| {
        let (command, pictures) = (command(), report.run.pictures.as_ref());
        let before = pictures.and_then(|pictures| pictures.before.as_ref());
        let plane = pictures.and_then(|pictures| pictures.plane.as_ref());
        training_html(report, &PageAside { command: Some(&command), before, plane, ..PageAside::default() })
    };
    let mut name = options.output_file.file_name().unwrap_or_default().to_os_string();
    name.push(".checkpoint");
    let checkpoint = options.output_file.with_file_name(name);
    let (report, saved) = on_threads(&fit.output, || trained(options, &checkpoint))?;
    let mut files = vec![start_file(&options.output_file, report.run.model.to_json()?.as_bytes())?];
    if let Some(page) = page {
        files.push(start_file(page, html(&report).as_bytes())?);
    }
    publish(&render(&fit.output, &report, training_json, training_text), files)?;
    if saved && !report.run.stopped() {
        std::fs::remove_file(&checkpoint)
            .with_context(|| format!("can't remove {}", checkpoint.display()))?;
    }
    Ok(match report.run.passed() {
        Verdict::Fail => 1,
        Verdict::NotEstimable => 3,
        Verdict::Pass | Verdict::Undecided => 0,
    })
}

/// Trains, with a checkpoint on the way: whether there is one comes back too.
fn trained(options: &TrainOptions, checkpoint: &Path) -> anyhow::Result<(TrainingReport, bool)> {
    let (fit, file) = (&options.fit, &options.output_file);
    let outputs = [Some(file.as_path()), Some(checkpoint), fit.page.html.as_deref()];
    let resume = read_checkpoint(checkpoint, options.resume)?;
    let rows = load::to_train(fit, &outputs.into_iter().flatten().collect::<Vec<_>>())?;
    signals::end_training_first();
    let bar = Bar::new(fit.output.quiet, TRAINING);
    let saved = Cell::new(resume.is_some());
    let save = |state: &Checkpoint| {
        let written = start_file(checkpoint, state.to_json().as_bytes());
        match written.and_then(|file| Ok(file.keep()?)) {
            Ok(_) => saved.set(true),
            // A full disk is no reason to lose the model.
            Err(error) => bar.warn(&format!("warning: no checkpoint: {error:#}")),
        }
    };
    let progress = |progress: &_| {
        bar.train(progress);
        !signals::interrupted()
    };
    let watch = Watch { progress: &progress, save: &save, save_every: SAVE_EVERY, resume };
    let run = run::train(rows, &options.request(), watch).map_err(|error| fit.explain(error))?;
    Ok((TrainingReport { run, file: Some(file.display().to_string()) }, saved.get()))
}

/// The checkpoint to go on from, if there is one. What else has its name is neither overwritten nor removed, nor is
/// one that nobody asked to go on from.
fn read_checkpoint(path: &Path, resume: bool) -> anyhow::Result<Option<Checkpoint>> {
    let Ok(known) = path.symlink_metadata() else { return Ok(None) };
    let file = path.display();
    if !known.is_file() {
        bail!(
            "{file} is no plain file, and checkpoints of the training go there: move it away, or give -o another name"
        );
    }
    let place = || {
        format!("{file} is in the way of checkpoints of the training: move it away, or give -o another name")
    };
    let text = std::fs::read_to_string(path).with_context(place)?;
    let checkpoint = Checkpoint::from_json(&text).with_context(place)?;
    if !resume {
        bail!(
            "{file} holds a training that was stopped after {} iterations: add --resume to go on from there, or \
             remove the file to start anew",
            checkpoint.iterations()
        );
    }
    Ok(Some(checkpoint))
}

/// Runs `compare`.
///
/// # Errors
/// Wrong arguments or data.
pub fn compare(options: &CompareOptions) -> anyhow::Result<u8> {
    let (fit, request) = (&options.fit, options.request());
    let make = || watched(fit, |rows, watch| run::compare(rows, &request, watch));
    let html = |outcome: &_| comparison_html(outcome, Some(&command()));
    present(&fit.output, fit.page.html.as_deref(), make, comparison_json, comparison_text, html)?;
    Ok(0)
}

/// Runs `frontier`.
///
/// # Errors
/// Wrong arguments or data.
pub fn frontier(options: &FrontierOptions) -> anyhow::Result<u8> {
    let (fit, request) = (&options.compared.fit, options.request());
    let make = || watched(fit, |rows, watch| run::frontier(rows, &request, watch));
    let html = |outcome: &_| frontier_html(outcome, Some(&command()));
    present(&fit.output, fit.page.html.as_deref(), make, frontier_json, frontier_text, html)?;
    Ok(0)
}

/// Loads the rows and runs on them, with a bar for all runs.
fn watched<R>(
    fit: &FitOptions,
    run: impl FnOnce(Rows, CompareWatch) -> Result<R, RunError>,
) -> anyhow::Result<R> {
    let rows = load::to_train(fit, fit.page.html.as_deref().as_slice())?;
    let steps = Bar::new(fit.output.quiet, STEPPING);
    let (runs, done) = (|all| steps.expect(all), |name: &str| steps.step(name));
    let watch = CompareWatch { runs: &runs, done: &done, ..CompareWatch::default() };
    run(rows, watch).map_err(|error| fit.explain(error))
}
