//! Measuring scores.

use super::RunError;
use crate::examples::Examples;
use crate::goals::{Constraint, parse_constraint};
use crate::metrics::{Audit, Distributions, Settings};

/// What is measured.
#[derive(Debug, Clone, Copy)]
pub struct AuditRequest<'a> {
    /// The rows.
    pub examples: &'a Examples,
    /// Their scores, by row.
    pub scores: &'a [f64],
    /// Bounds that must hold, in the goal language.
    pub checks: &'a [String],
    /// How rates are measured.
    pub measure: Settings,
    /// Whether there will be pictures.
    pub pictures: bool,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditOutcome {
    /// Every metric, and the checks.
    pub audit: Audit,
    /// The scores by group, for pictures.
    pub distributions: Option<Distributions>,
}

/// Measures scores.
///
/// # Errors
/// A check that can't be read; scores that are not finite.
pub fn audit(request: &AuditRequest) -> Result<AuditOutcome, RunError> {
    let AuditRequest { examples, scores, checks, measure, pictures } = *request;
    let words = examples.vocabulary();
    let parse = |text: &String| parse_constraint(text, &words);
    let checks: Vec<Constraint> = checks.iter().map(parse).collect::<Result<_, _>>()?;
    let audit = Audit::run(examples, scores, &checks, &measure)?;
    let distributions = match pictures {
        true => Some(Distributions::run(examples, scores, &measure)?),
        false => None,
    };
    Ok(AuditOutcome { audit, distributions })
}
