//! `pairity audit`: load, measure, write, and turn the verdicts into an exit code.

use crate::arguments::AuditArguments;
use crate::{load, output};
use pairity::goals::{Constraint, parse_constraint};
use pairity::metrics::{Audit, Check, Verdict};
use pairity_report::{Report, plain};
use std::process::ExitCode;

/// A check failed.
const FAILED: u8 = 1;

/// A check can't be estimated.
const NOT_ESTIMABLE: u8 = 3;

/// Runs the command.
///
/// # Errors
/// Wrong arguments or data; nothing has been written then.
pub fn run(arguments: &AuditArguments) -> anyhow::Result<ExitCode> {
    let report = output::on_threads(&arguments.output, || measure(arguments))?;
    output::write(&output::render(&report, arguments.output.format))?;
    if !arguments.strict {
        report.audit.checks.iter().filter(|check| check.verdict == Verdict::Undecided).for_each(warn);
    }
    Ok(ExitCode::from(exit_code(&report.audit.checks, arguments.strict)))
}

fn measure(arguments: &AuditArguments) -> anyhow::Result<Report> {
    let loaded = load::load(arguments)?;
    let vocabulary = loaded.examples.vocabulary();
    let parse = |text: &String| parse_constraint(text, &vocabulary);
    let checks: Vec<Constraint> = arguments.checks.iter().map(parse).collect::<Result<_, _>>()?;
    let audit = Audit::run(&loaded.examples, &loaded.scores, &checks, &arguments.settings())?;
    Ok(Report { audit, notes: loaded.notes })
}

fn warn(check: &Check) {
    output::complain(&format!(
        "warning: the check {} is undecided: its bound is inside the confidence interval (--strict fails it)",
        plain(&check.expression)
    ));
}

/// A failed check weighs more than one that can't be estimated.
fn exit_code(checks: &[Check], strict: bool) -> u8 {
    let has = |verdict| checks.iter().any(|check| check.verdict == verdict);
    if has(Verdict::Fail) || (strict && has(Verdict::Undecided)) {
        FAILED
    } else if has(Verdict::NotEstimable) {
        NOT_ESTIMABLE
    } else {
        0
    }
}
