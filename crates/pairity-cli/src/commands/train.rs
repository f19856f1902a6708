//! Commands that train. `pairity train`: one model; `pairity compare`: every method that applies, on the same
//! split and by the same rules; `pairity frontier`: what each reaches as the bound on the violation is tightened.

use crate::options::{CompareOptions, FitOptions, FrontierOptions, TrainOptions};
use crate::output::{check_writable, command, on_threads, present, publish, render, start_file};
use crate::progress::{Bar, STEPPING, TRAINING};
use crate::{load, signals};
use anyhow::Context;
use pairity::metrics::Verdict;
use pairity::run::{self, CompareWatch, Rows, RunError};
use pairity::solvers::{Checkpoint, Watch};
use pairity_report::{PageAside, TrainingReport, training_html, training_json, training_text};
use pairity_report::{comparison_html, comparison_json, comparison_text};
use pairity_report::{frontier_html, frontier_json, frontier_text};
use std::path::Path;
use std::time::Duration;

/// Time from one checkpoint to the next.
const SAVE_EVERY: Duration = Duration::from_secs(2);

/// Runs `train`; the exit code is 1 if the goal is not met, 3 if that can't be estimated.
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
    let report = on_threads(&fit.output, || trained(options, &checkpoint))?;
    let mut files = vec![start_file(&options.output_file, report.run.model.to_json()?.as_bytes())?];
    if let Some(page) = page {
        files.push(start_file(page, html(&report).as_bytes())?);
    }
    publish(&render(&fit.output, &report, training_json, training_text), files)?;
    if !report.run.stopped() && checkpoint.exists() {
        std::fs::remove_file(&checkpoint)
            .with_context(|| format!("can't remove {}", checkpoint.display()))?;
    }
    Ok(match report.run.verdict() {
        Verdict::Fail => 1,
        Verdict::NotEstimable => 3,
        Verdict::Pass | Verdict::Undecided => 0,
    })
}

/// Trains, with a checkpoint on the way.
fn trained(options: &TrainOptions, checkpoint: &Path) -> anyhow::Result<TrainingReport> {
    let (fit, file) = (&options.fit, &options.output_file);
    let outputs = [Some(file.as_path()), Some(checkpoint), fit.page.html.as_deref()];
    let rows = load::to_train(fit, &outputs.into_iter().flatten().collect::<Vec<_>>())?;
    let resume = match options.resume && checkpoint.exists() {
        true => Some(read_checkpoint(checkpoint)?),
        false => None,
    };
    signals::end_training_first();
    let bar = Bar::new(fit.output.quiet, TRAINING);
    let save = |state: &Checkpoint| {
        // A full disk is no reason to lose the model.
        let written = start_file(checkpoint, state.to_json().as_bytes());
        if let Err(error) = written.and_then(|file| Ok(file.keep()?)) {
            bar.warn(&format!("warning: no checkpoint: {error:#}"));
        }
    };
    let progress = |progress: &_| {
        bar.train(progress);
        !signals::interrupted()
    };
    let watch = Watch { progress: &progress, save: &save, save_every: SAVE_EVERY, resume };
    let run = run::train(rows, &options.request(), watch).map_err(|error| fit.explain(error))?;
    Ok(TrainingReport { run, file: Some(file.display().to_string()) })
}

fn read_checkpoint(path: &Path) -> anyhow::Result<Checkpoint> {
    let place = || format!("can't resume from {}", path.display());
    let text = std::fs::read_to_string(path).with_context(place)?;
    Checkpoint::from_json(&text).with_context(place)
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
