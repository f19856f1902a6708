//! `pairity audit`: load, measure, write, and turn the verdicts into an exit code.

use crate::options::AuditOptions;
use crate::{load, output};
use pairity::metrics::{Check, Settings, Verdict};
use pairity::run::{AuditOutcome, AuditRequest, audit};
use pairity_report::{AuditReport, FrontEnd, audit_html, audit_json, audit_text, plain};
use std::process::ExitCode;

/// A check failed.
const FAILED: u8 = 1;

/// A check can't be estimated.
const NOT_ESTIMABLE: u8 = 3;

/// Runs the command.
///
/// # Errors
/// Wrong arguments or data; nothing has been written then.
pub fn run(options: &AuditOptions) -> anyhow::Result<ExitCode> {
    options.page.check()?;
    let (report, distributions) = output::on_threads(&options.output, || {
        let AuditOptions { table, confidence, min_pairs, seed, .. } = options;
        let load::Scored { scores, kept, examples, notes, .. } =
            load::scored(table, &options.score, options.output.quiet)?;
        let AuditOutcome { audit, distributions } = audit(&AuditRequest {
            examples: &examples,
            scores: &kept.own(scores),
            checks: &options.checks,
            measure: Settings { min_pairs: *min_pairs, ..table.measure(*confidence, *seed) },
            pictures: options.page.html.is_some(),
        })?;
        Ok((AuditReport { audit, notes }, distributions))
    })?;
    let text = output::render(&options.output, &report, audit_json, audit_text);
    let page = |shown| audit_html(&report, Some(&shown), FrontEnd::CommandLine);
    options.page.write(distributions.map(page))?;
    output::write(&text)?;
    if !options.strict {
        report.audit.checks.iter().filter(|check| check.verdict == Verdict::Undecided).for_each(warn);
    }
    Ok(ExitCode::from(exit_code(&report.audit.checks, options.strict)))
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
