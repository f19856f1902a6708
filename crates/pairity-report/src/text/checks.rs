//! The checks, each with its verdict and why.

use super::Page;
use super::words::{fill, number, pad, plain, with_interval};
use pairity::goals::Sense;
use pairity::metrics::{Check, Verdict};

/// Columns of the verdicts.
const VERDICT: usize = 15;

impl Page<'_> {
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
            let why = fill(&self.why(check), 2 + VERDICT, self.width);
            text += &format!("{}{why}\n", " ".repeat(2 + VERDICT));
        }
        text
    }

    fn why(&self, check: &Check) -> String {
        let value = with_interval(&check.metric, |x| number(x, 4));
        let bound = check.bound;
        let (within, beyond) = match check.sense {
            Sense::AtMost => ("at most", "above"),
            Sense::AtLeast => ("at least", "below"),
        };
        match check.verdict {
            Verdict::Pass => format!("{value}: all of the interval is {within} {bound}"),
            Verdict::Fail => format!("{value}: all of the interval is {beyond} {bound}"),
            Verdict::Undecided => {
                format!("{value}: {bound} is inside the interval, so these data can't tell; more would")
            }
            Verdict::NotEstimable => {
                let hint = if self.has_labels() { "" } else { "; name the label column with --label" };
                let reason = plain(check.metric.reason.as_deref().unwrap_or("there is no value"));
                match check.metric.value {
                    Some(_) => format!("{value}: {reason}{hint}"),
                    None => format!("{reason}{hint}"),
                }
            }
        }
    }
}
