//! `pairity audit`: load, measure, write, and turn the verdicts into an exit code.

use crate::arguments::AuditArguments;
use crate::{load, output};
use pairity::goals::{Constraint, parse_constraint};
use pairity::metrics::{Audit, Check, Distributions, Verdict};
use pairity_report::{AuditReport, FrontEnd, audit_html, plain};
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
    arguments.page.check()?;
    let (report, page) = output::on_threads(&arguments.output, || measure(arguments))?;
    let text = output::render(&report, arguments.output.format);
    arguments.page.write(page.as_deref())?;
    output::write(&text)?;
    if !arguments.strict {
        report.audit.checks.iter().filter(|check| check.verdict == Verdict::Undecided).for_each(warn);
    }
    Ok(ExitCode::from(exit_code(&report.audit.checks, arguments.strict)))
}

/// The report, and the page if one was asked for.
fn measure(arguments: &AuditArguments) -> anyhow::Result<(AuditReport, Option<String>)> {
    let loaded = load::load(arguments)?;
    let vocabulary = loaded.examples.vocabulary();
    let parse = |text: &String| parse_constraint(text, &vocabulary);
    let checks: Vec<Constraint> = arguments.checks.iter().map(parse).collect::<Result<_, _>>()?;
    let settings = arguments.settings();
    let audit = Audit::run(&loaded.examples, &loaded.scores, &checks, &settings)?;
    let report = AuditReport { audit, notes: loaded.notes };
    let page = match arguments.page.html {
        Some(_) => {
            let distributions = Distributions::run(&loaded.examples, &loaded.scores, &settings)?;
            Some(audit_html(&report, Some(&distributions), FrontEnd::CommandLine))
        }
        None => None,
    };
    Ok((report, page))
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
