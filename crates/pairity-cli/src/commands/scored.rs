//! Commands on a table that has scores. `pairity audit` measures them and turns the verdicts into an exit code, and
//! `pairity merge` does so for audits of parts;
//! `pairity adjust` shifts or maps them group by group so that a goal holds, where nothing can be trained anew.

use crate::memory::{self, Reading};
use crate::options::{AdjustOptions, AuditOptions, MergeOptions, TableOptions, VerdictOptions};
use crate::roles::Roles;
use crate::{load, one_query, output};
use anyhow::{Context, anyhow, bail};
use pairity::goals::Goal;
use pairity::methods::MethodOptions;
use pairity::metrics::{Partial, PartialError, Settings, Verdict};
use pairity::run::{self, AdjustOutcome, AdjustRequest, AuditOutcome, AuditRequest, Fold, RunError};
use pairity_report::{AdjustReport, AuditReport, FrontEnd, Notes, plain};
use pairity_report::{adjust_html, adjust_json, adjust_text, audit_html, audit_json, audit_text};
use pairity_tables::{AddColumns, FileId, Output, Source, TableError, WholeFile};
use rayon::prelude::*;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A check failed.
const FAILED: u8 = 1;

/// A check can't be estimated.
const NOT_ESTIMABLE: u8 = 3;

/// Runs `audit`.
///
/// # Errors
/// Wrong arguments or data; nothing has been written then.
pub fn audit(options: &AuditOptions) -> anyhow::Result<u8> {
    let AuditOptions { table, score, partial, verdicts, .. } = options;
    let VerdictOptions { confidence, min_pairs, seed, output, .. } = verdicts;
    let page = verdicts.page.html.as_deref();
    let outputs: Vec<&Path> = page.into_iter().chain(partial.as_deref()).collect();
    let measure = Settings { min_pairs: *min_pairs, ..table.measure(*confidence, *seed) };
    told(verdicts, partial.as_deref(), || {
        let source = Source::parse_all(&table.tables)?;
        let roles = Roles::named(table, std::slice::from_ref(score), &source)?;
        let reading = memory::reading(options, &roles, source.bytes());
        if reading != Reading::Whole {
            output::check_apart(&outputs, &source, &[])?;
        }
        match reading {
            Reading::Whole => {}
            Reading::OneQuery(_) if partial.is_some() => {
                bail!("--partial: {} with --query", PartialError::NoQueries)
            }
            Reading::OneQuery(memory) => {
                return one_query::audit(&source, &roles, options, &measure, memory);
            }
            Reading::Queries(rows) => {
                let mut merged: Option<Partial> = None;
                let notes = load::scored_in_parts(&source, &roles, rows, output.quiet, &mut |read| {
                    let examples = read.examples(&[])?;
                    let part = Partial::new(&examples, read.scores(), &measure)?;
                    merged = Some(Partial::merge(merged.take().into_iter().chain([part]))?);
                    Ok(!examples.groups().is_empty())
                })?;
                return Ok((run::merge(merged, &verdicts.checks, &measure)?, notes));
            }
        }
        let mut read = load::scored(&source, table, score, &outputs, output.quiet)?;
        let (examples, scores, notes) = read.scored_rows(&[])?;
        let outcome = run::audit(&AuditRequest {
            examples: &examples,
            scores: &scores,
            checks: &verdicts.checks,
            left_out: &read.left_out()?,
            measure,
            pictures: page.is_some(),
            partial: partial.is_some(),
        });
        let outcome = outcome.map_err(|error| match error {
            RunError::Partial(PartialError::NoQueries) => anyhow!("--partial: {error} with --query"),
            other => other.into(),
        })?;
        Ok((outcome, notes))
    })
}

/// Partial audits that are read at once.
const AT_ONCE: usize = 64;

/// The most partial audits that a report names one by one.
const NAMED: usize = 5;

/// Runs `merge`.
///
/// # Errors
/// Files that are no partial audits, or that don't fit each other; nothing has been written then.
pub fn merge(options: &MergeOptions) -> anyhow::Result<u8> {
    let MergeOptions { parts, partial, verdicts } = options;
    let VerdictOptions { confidence, min_pairs, seed, .. } = *verdicts;
    let outputs: Vec<&Path> = verdicts.page.html.as_deref().into_iter().chain(partial.as_deref()).collect();
    let inputs: Vec<(&str, &Path)> = parts.iter().map(|part| ("a partial audit", part.as_path())).collect();
    output::check_apart(&outputs, &Source::chain(Vec::new()), &inputs)?;
    let mut seen = HashSet::new();
    if let Some(twice) = parts.iter().find(|part| FileId::of(part).is_some_and(|id| !seen.insert(id))) {
        bail!("{} is given twice: each query is to be counted once", twice.display());
    }
    told(verdicts, partial.as_deref(), || {
        let read = |part: &PathBuf| {
            let text =
                std::fs::read_to_string(part).with_context(|| format!("can't read {}", part.display()))?;
            Partial::from_json(&text).with_context(|| part.display().to_string())
        };
        // Any order gives the same bits, so that some are read and merged while others are.
        let merge = |parts: &[PathBuf]| {
            let read = parts.iter().map(read).collect::<anyhow::Result<Vec<Partial>>>()?;
            Ok(Partial::merge(read)?)
        };
        let merged: Vec<anyhow::Result<Partial>> = parts.par_chunks(AT_ONCE).map(merge).collect();
        let read = merged.into_iter().collect::<anyhow::Result<Vec<Partial>>>()?;
        let settings = Settings { confidence, min_pairs, seed, ..Settings::default() };
        let outcome = run::merge(read, &verdicts.checks, &settings)?;
        let tables = match parts.len() {
            ..=NAMED => parts.iter().map(|part| part.display().to_string()).collect(),
            many => vec![format!("{many} partial audits")],
        };
        let notes = Notes { tables, rows_read: outcome.audit.rows, ..Notes::default() };
        Ok((outcome, notes))
    })
}

/// Shows an audit, writes what can be merged, and turns the verdicts into an exit code.
fn told(
    options: &VerdictOptions,
    partial: Option<&Path>,
    make: impl FnOnce() -> anyhow::Result<(AuditOutcome, Notes)> + Send,
) -> anyhow::Result<u8> {
    let page = options.page.html.as_deref();
    [page, partial].into_iter().flatten().try_for_each(output::check_writable)?;
    let (outcome, notes) = output::on_threads(&options.output, make)?;
    let report = AuditReport { audit: outcome.audit, notes };
    let html = |_: &Path| audit_html(&report, outcome.distributions.as_ref(), FrontEnd::CommandLine);
    let pages = page.map(|path| (path, html(path)));
    let sums = partial.zip(outcome.partial.as_ref()).map(|(path, sums)| (path, sums.to_json() + "\n"));
    let files = pages.into_iter().chain(sums).map(|(path, text)| output::start_file(path, text.as_bytes()));
    let files: Vec<WholeFile> = files.collect::<anyhow::Result<_>>()?;
    output::publish(&output::render(&options.output, &report, audit_json, audit_text), files)?;
    let checks = &report.audit.checks;
    let undecided = checks.iter().filter(|check| check.verdict == Verdict::Undecided);
    for check in undecided.filter(|_| !options.strict) {
        output::complain(&format!(
            "warning: the check {} is undecided: its bound is inside the confidence interval (--strict fails it)",
            plain(&check.expression)
        ));
    }
    // A failed check weighs more than one that can't be estimated.
    let has = |verdict| checks.iter().any(|check| check.verdict == verdict);
    Ok(match has(Verdict::Fail) || (options.strict && has(Verdict::Undecided)) {
        true => FAILED,
        false if has(Verdict::NotEstimable) => NOT_ESTIMABLE,
        false => 0,
    })
}

/// Runs `adjust`.
///
/// # Errors
/// Wrong arguments or data; no file has been written then.
pub fn adjust(options: &AdjustOptions) -> anyhow::Result<u8> {
    let page = options.page.html.as_deref();
    let outputs = [options.out.as_deref(), options.model_out.as_deref(), page];
    let outputs: Vec<&Path> = outputs.into_iter().flatten().collect();
    outputs.iter().try_for_each(|path| output::check_writable(path))?;
    let (run, file) = output::on_threads(&options.output, || adjusted(options, &outputs))?;
    let named = |path: &PathBuf| (options.column.clone(), path.display().to_string());
    let (written, model) = (options.out.as_ref().map(named), options.model_out.as_ref().map(named));
    let report = AdjustReport { run, written, model };
    let mut files: Vec<WholeFile> = file.into_iter().collect();
    if let Some(path) = &options.model_out {
        let TableOptions { group, protected, .. } = &options.table;
        let model = report.run.model(&options.score, group, protected.as_deref())?;
        files.push(output::start_file(path, model.to_json()?.as_bytes())?);
    }
    if let Some(path) = page {
        files.push(output::start_file(path, adjust_html(&report, FrontEnd::CommandLine).as_bytes())?);
    }
    output::publish(&output::render(&options.output, &report, adjust_json, adjust_text), files)?;
    Ok(u8::from(!report.run.adjusted.meets_goal))
}

/// The outcome, and the table that is to be kept with it.
fn adjusted(
    options: &AdjustOptions,
    outputs: &[&Path],
) -> anyhow::Result<(AdjustOutcome, Option<WholeFile>)> {
    let (source, mut read, files) = load::to_adjust(options, outputs)?;
    // The scores of the kept rows are measured; those of all rows of the first table are written.
    let own = read.folds(&files).iter().filter(|&&fold| fold == Fold::Split).count();
    let (mut all, all_groups) = (read.scores().to_vec(), read.groups()?);
    let attribute = read.protected().map(<[f64]>::to_vec);
    let unscored = all[..own].iter().position(|score| score.is_nan()).map(|row| read.locate(row));
    all[own..].iter_mut().filter(|score| score.is_nan()).for_each(|score| *score = 0.0);
    let (examples, scores, _) = read.scored_rows(&files)?;
    let folds = read.folds(&files);
    let outcome = run::adjust(&AdjustRequest {
        examples: &examples,
        scores: &scores,
        groups: read.groups()?.as_ref(),
        method: options.method,
        goal: &Goal::new(Some(options.maximize.clone()), None, options.subject_to.clone()),
        folds: &folds,
        options: MethodOptions {
            strength: options.strength,
            logistic: options.logistic,
            ..MethodOptions::default()
        },
        tune: options.tune,
        measure: options.table.measure(options.confidence, options.seed),
    });
    let outcome = outcome.map_err(|error| match error {
        RunError::StrengthUnused(method) => {
            anyhow!("--strength belongs to --method quantile-match, not to {method}")
        }
        other => other.into(),
    })?;
    let Some(path) = &options.out else { return Ok((outcome, None)) };
    let name = path.display().to_string();
    if let Some(place) = unscored {
        bail!("{place} has no score, so it can't be adjusted: fill in the cell or drop the row");
    }
    let written = outcome.adjusted.adjustment.apply_by(&all, all_groups.as_ref(), attribute.as_deref())?;
    let plan = AddColumns::plan(&source, &[&options.column], Output::of(path)?);
    let plan = plan.map_err(|error| match error {
        TableError::NameTaken { .. } => anyhow!("{error}, with --column"),
        other => other.into(),
    })?;
    let file = output::create_table(path)?;
    let scores = &written.scores[..own];
    let file = output::write_columns(&plan, &[scores], &name, Some(file), options.output.quiet)?;
    Ok((outcome, file))
}
