//! `pairity adjust`: scores that can't be trained anew are shifted or mapped group by group, so that a goal
//! holds.

use crate::files::write_columns;
use crate::options::AdjustOptions;
use crate::{load, output};
use anyhow::{anyhow, bail};
use pairity::goals::Goal;
use pairity::run::{AdjustOutcome, AdjustRequest, RunError, adjust};
use pairity_report::{AdjustReport, adjust_json, adjust_text};
use pairity_tables::{AddColumns, Output, TableError};
use std::process::ExitCode;

/// Runs the command.
///
/// # Errors
/// Wrong arguments or data; no file has been written then.
pub fn run(options: &AdjustOptions) -> anyhow::Result<ExitCode> {
    let run = output::on_threads(&options.output, || adjusted(options))?;
    let written = options.out.as_ref().map(|path| (options.column.clone(), path.display().to_string()));
    let report = AdjustReport { run, written };
    output::write(&output::render(&options.output, &report, adjust_json, adjust_text))?;
    Ok(ExitCode::from(u8::from(!report.run.adjusted.meets_goal)))
}

fn adjusted(options: &AdjustOptions) -> anyhow::Result<AdjustOutcome> {
    let scored = load::scored(&options.table, &options.score, options.output.quiet)?;
    // The scores of the kept rows are measured; those of all rows are written.
    let all = scored.groups()?;
    let groups = all.as_ref().map(|groups| scored.kept.groups(groups));
    let outcome = adjust(&AdjustRequest {
        examples: &scored.examples,
        scores: &scored.kept.of(&scored.scores),
        groups: groups.as_deref(),
        method: options.method,
        goal: &Goal::new(Some(options.maximize.clone()), None, options.subject_to.clone()),
        strength: options.strength,
        tune: options.tune,
        measure: options.table.measure(options.confidence, options.seed),
    });
    let outcome = outcome.map_err(|error| match error {
        RunError::StrengthUnused(method) => {
            anyhow!("--strength belongs to --method quantile-match, not to {method}")
        }
        other => other.into(),
    })?;
    let Some(path) = &options.out else { return Ok(outcome) };
    if scored.source.reads(path) {
        return Err(TableError::OutputIsInput(path.display().to_string()).into());
    }
    if let Some(row) = scored.scores.iter().position(|score| score.is_nan()) {
        bail!(
            "{} has no score, so it can't be adjusted: fill in the cell or drop the row",
            scored.read.table.locate(row)
        );
    }
    let written = outcome.adjusted.adjustment.apply(&scored.scores, all.as_ref())?;
    let plan = AddColumns::plan(&scored.source, &[&options.column], Output::of(path)?);
    let plan = plan.map_err(|error| match error {
        TableError::NameTaken { .. } => anyhow!("{error}, with --column"),
        other => other.into(),
    })?;
    write_columns(&plan, &[&written.scores], path, None, options.output.quiet)?;
    Ok(outcome)
}
