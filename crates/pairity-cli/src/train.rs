//! `pairity train`: load, split, train, evaluate, write the model and the report.

use crate::arguments::Format;
use crate::files::{beside, check_writable, write_file};
use crate::output;
use crate::pages::training_page;
use crate::prepare::Prepared;
use crate::progress::TrainProgress;
use crate::train_arguments::TrainArguments;
use anyhow::Context;
use pairity::methods::{Fitted, Method, fit};
use pairity::scorers::{Encoder, Model, ModelGroups};
use pairity::training::{Checkpoint, Watch, evaluate};
use pairity_report::{TrainingPart, TrainingReport, training_json, training_text};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

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
pub fn run(arguments: &TrainArguments) -> anyhow::Result<ExitCode> {
    let file = &arguments.output_file;
    check_writable(file)?;
    arguments.fit.page.check()?;
    let (report, model, page) = output::on_threads(&arguments.fit.output, || trained(arguments))?;
    write_file(file, model.to_json()?.as_bytes())?;
    arguments.fit.page.write(page.as_deref())?;
    let checkpoint = beside(file, ".checkpoint");
    if !report.stopped() && checkpoint.exists() {
        std::fs::remove_file(&checkpoint)
            .with_context(|| format!("can't remove {}", checkpoint.display()))?;
    }
    let text = match arguments.fit.output.format {
        Format::Json => pairity_report::json_lines(&training_json(&report)),
        Format::Text => training_text(&report, &output::look()),
    };
    output::write(&text)?;
    Ok(ExitCode::from(if report.trained.meets_goal { 0 } else { NOT_MET }))
}

fn trained(arguments: &TrainArguments) -> anyhow::Result<(TrainingReport, Model, Option<String>)> {
    let mut prepared = Prepared::new(&arguments.fit)?;
    prepared.settings.answer = arguments.answer();
    let method = arguments.fit.method(arguments.method, arguments.exposure.exposure());
    let started = Instant::now();
    let Fitted { trained, after } = fitted(arguments, method, &prepared)?;
    let seconds = started.elapsed().as_secs_f64();
    let Prepared { rows, parts, goal, problem, encoder, features, scorer, measure, notes, .. } = prepared;
    let done = Fitted { trained, after };
    let mut evaluated = Vec::new();
    for (name, examples) in parts.named() {
        let evaluation = done.evaluate(&problem, &scorer, examples, &features, &measure)?;
        evaluated.push(TrainingPart { name, evaluation });
    }
    let Fitted { trained, after } = done;
    let uses_groups = scorer.groups().groups().is_some() || after.is_some();
    let names = rows.examples.groups().to_vec();
    let model = Model {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        architecture: scorer,
        encoder,
        groups: uses_groups.then(|| ModelGroups { columns: arguments.fit.table.group.clone(), names }),
        query: rows.query.clone(),
        components: trained.components.clone(),
        goal: goal.clone(),
        seed: arguments.fit.seed,
        status: trained.status.name().to_owned(),
        after,
    };
    let report = TrainingReport {
        goal,
        method: method.name(),
        model: arguments.fit.model.name(),
        features: feature_names(&model.encoder),
        group_aware: uses_groups || arguments.fit.group_aware.is_some(),
        seed: arguments.fit.seed,
        iterations: arguments.fit.iterations,
        seconds,
        trained,
        parts: evaluated,
        tables: rows.notes.tables.clone(),
        notes,
        file: Some(arguments.output_file.display().to_string()),
        deterministic: arguments.deterministic,
    };
    let page = match arguments.fit.page.html {
        Some(_) => {
            let last = parts.named().last().map_or(&parts.whole, |(_, examples)| examples);
            let unbound = report.trained.unbound.as_slice();
            let before = match unbound {
                [] => None,
                _ => Some(evaluate(&problem, &model.architecture, unbound, last, &features, &measure)?),
            };
            Some(training_page(&report, before.as_ref(), &model, last, &features))
        }
        None => None,
    };
    Ok((report, model, page))
}

/// The features by name; the words of a text are told by their number.
fn feature_names(encoder: &Encoder) -> Vec<String> {
    let mut names = encoder.names();
    if let Some((name, words)) = encoder.text() {
        names.truncate(names.len() - words.len());
        names.push(format!("{} words of {name}", words.len()));
    }
    names
}

fn fitted(arguments: &TrainArguments, method: Method, prepared: &Prepared) -> anyhow::Result<Fitted> {
    let checkpoint = beside(&arguments.output_file, ".checkpoint");
    let resume = match arguments.resume && checkpoint.exists() {
        true => Some(read_checkpoint(&checkpoint)?),
        false => None,
    };
    listen();
    let bar = TrainProgress::new(arguments.fit.output.quiet);
    let save = |state: &Checkpoint| {
        // A full disk is no reason to lose the model.
        let written = state.to_json().map_err(anyhow::Error::from);
        if let Err(error) = written.and_then(|text| write_file(&checkpoint, text.as_bytes())) {
            bar.warn(&format!("warning: no checkpoint: {error:#}"));
        }
    };
    let progress = |progress: &_| {
        bar.update(progress);
        INTERRUPTS.load(Ordering::Relaxed) == 0
    };
    let watch = Watch { progress: &progress, save: &save, save_every: SAVE_EVERY, resume };
    Ok(fit(method, &prepared.task(), watch)?)
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
