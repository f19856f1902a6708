//! Commands on a table that has scores. `pairity audit` measures them and turns the verdicts into an exit code;
//! `pairity adjust` shifts or maps them group by group so that a goal holds, where nothing can be trained anew.

use crate::options::{AdjustOptions, AuditOptions, TableOptions};
use crate::{load, output};
use anyhow::{anyhow, bail};
use pairity::goals::Goal;
use pairity::methods::MethodOptions;
use pairity::metrics::{Settings, Verdict};
use pairity::run::{self, AdjustOutcome, AdjustRequest, AuditRequest, Fold, RunError};
use pairity_report::{AdjustReport, AuditReport, FrontEnd, plain};
use pairity_report::{adjust_html, adjust_json, adjust_text, audit_html, audit_json, audit_text};
use pairity_tables::{AddColumns, Output, TableError, WholeFile};
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
    let AuditOptions { table, confidence, min_pairs, seed, output, .. } = options;
    let page = options.page.html.as_deref();
    let measured = || {
        let mut read = load::scored(table, &options.score, page.as_slice(), output.quiet)?;
        let (examples, scores, notes) = read.scored_rows(&[])?;
        let outcome = run::audit(&AuditRequest {
            examples: &examples,
            scores: &scores,
            checks: &options.checks,
            left_out: &read.left_out()?,
            measure: Settings { min_pairs: *min_pairs, ..table.measure(*confidence, *seed) },
            pictures: page.is_some(),
        })?;
        Ok((AuditReport { audit: outcome.audit, notes }, outcome.distributions))
    };
    let (AuditReport { audit, .. }, _) = output::present(
        output,
        page,
        measured,
        |(report, _)| audit_json(report),
        |(report, _), look| audit_text(report, look),
        |(report, shown)| audit_html(report, shown.as_ref(), FrontEnd::CommandLine),
    )?;
    let undecided = audit.checks.iter().filter(|check| check.verdict == Verdict::Undecided);
    for check in undecided.filter(|_| !options.strict) {
        output::complain(&format!(
            "warning: the check {} is undecided: its bound is inside the confidence interval (--strict fails it)",
            plain(&check.expression)
        ));
    }
    // A failed check weighs more than one that can't be estimated.
    let has = |verdict| audit.checks.iter().any(|check| check.verdict == verdict);
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
