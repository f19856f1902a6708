//! The checks, each with its verdict and why.

use super::TextPage;
use super::words::{fill, number, pad, plain, with_interval};
use crate::report::AuditReport;
use pairity::metrics::Verdict;

/// Columns of the verdicts.
const VERDICT: usize = 15;

impl TextPage<'_, AuditReport> {
    pub(super) fn checks(&self) -> String {
        let checks = &self.report.audit.checks;
        if checks.is_empty() {
            return String::new();
        }
        let mut text = self.title("Checks", "");
        for check in checks {
            let (word, paint): (&str, fn(super::Paint, &str) -> String) = match check.verdict {
                Verdict::Pass => ("pass", super::Paint::good),
                Verdict::Fail => ("FAIL", super::Paint::bad),
                Verdict::Undecided => ("undecided", super::Paint::unsure),
                Verdict::NotEstimable => ("not estimable", super::Paint::unsure),
            };
            text += &format!("  {}{}\n", paint(self.paint, &pad(word, VERDICT)), plain(&check.expression));
            let mut why = self.report.why(check, self.front_end);
            if check.metric.value.is_some() {
                why = format!("{}: {why}", with_interval(&check.metric, |x| number(x, 4)));
            }
            let why = fill(&why, 2 + VERDICT, self.width);
            text += &format!("{}{why}\n", " ".repeat(2 + VERDICT));
        }
        text
    }
}
