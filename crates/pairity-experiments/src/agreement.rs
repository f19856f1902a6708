//! Whether a result agrees with a published one.
//!
//! The paper gives one number for each cell, from one split as far as it says, rounded to two or three
//! digits. Its noise is then that of one split, which the runs over several seeds tell, and ours that of
//! their mean:
//!
//! ```text
//! tolerance = t s √(1 + 1/n) + half a unit of the last digit printed
//! ```
//!
//! with s the standard deviation over n seeds, and t the 97.5 % quantile of Student's distribution with n − 1
//! degrees of freedom: 2.8 for five seeds, as s is an estimate too.

use crate::reproduce::{Line, Spread};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// How likely noise alone stays within the tolerance.
const CONFIDENCE: f64 = 0.95;

/// How a result stands beside the published one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// The difference may be noise.
    Agrees,
    /// Surely better.
    Better,
    /// Surely worse.
    Worse,
}

impl Agreement {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Agreement::Agrees => "agrees",
            Agreement::Better => "better",
            Agreement::Worse => "worse",
        }
    }
}

/// Compares a mean over seeds with a published value of so many digits; none with a single seed, whose
/// noise is not known.
///
/// ```
/// use pairity_experiments::agreement::{Agreement, agreement};
/// use pairity_experiments::reproduce::Spread;
///
/// let auc = Spread { mean: 0.871, std: 0.004 };
/// assert_eq!(agreement(auc, 5, 0.86, 2, true), Some(Agreement::Agrees));
/// assert_eq!(agreement(auc, 5, 0.84, 2, true), Some(Agreement::Better));
/// assert_eq!(agreement(auc, 5, 0.84, 2, false), Some(Agreement::Worse));
/// ```
pub fn agreement(
    ours: Spread,
    seeds: u64,
    published: f64,
    digits: i32,
    more_is_better: bool,
) -> Option<Agreement> {
    if seeds < 2 || !ours.mean.is_finite() {
        return None;
    }
    let student = StudentsT::new(0.0, 1.0, (seeds - 1) as f64).ok()?.inverse_cdf(0.5 + 0.5 * CONFIDENCE);
    let tolerance = student * ours.std * (1.0 + 1.0 / seeds as f64).sqrt() + 0.5 * 10f64.powi(-digits);
    let ahead = if more_is_better { ours.mean - published } else { published - ours.mean };
    Some(match ahead {
        // Rounding of the sums above must not decide.
        ahead if ahead.abs() <= tolerance + 1e-12 => Agreement::Agrees,
        ahead if ahead > 0.0 => Agreement::Better,
        _ => Agreement::Worse,
    })
}

/// Of a line: its objective and its violation; none on a sample of the paper's data or on a stand-in for it.
pub fn of_line(line: &Line) -> Option<(Agreement, Agreement)> {
    let published = line.published.filter(|_| !line.sample && !line.stand_in)?;
    let error = line.shown == "mse";
    let digits = if error { 3 } else { 2 };
    let objective = agreement(line.objective, line.seeds, published.objective, digits, !error)?;
    Some((objective, agreement(line.violation, line.seeds, published.violation, 2, false)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_seeds_need_more_deviations_than_two() {
        // Student's quantiles of a table, for 2, 5 and 30 seeds.
        for (seeds, quantile) in [(2_u64, 12.706), (5, 2.776), (30, 2.045)] {
            let tolerance = quantile * 0.01 * (1.0 + 1.0 / seeds as f64).sqrt() + 0.005;
            let at = |part: f64| {
                agreement(Spread { mean: 0.5 + part * tolerance, std: 0.01 }, seeds, 0.5, 2, true)
            };
            assert_eq!((at(0.999), at(1.001)), (Some(Agreement::Agrees), Some(Agreement::Better)), "{seeds}");
        }
    }

    #[test]
    fn one_seed_tells_nothing_and_rounding_is_no_difference() {
        let exact = Spread { mean: 0.855, std: 0.0 };
        assert_eq!(agreement(exact, 1, 0.86, 2, true), None);
        assert_eq!(agreement(exact, 5, 0.86, 2, true), Some(Agreement::Agrees));
        assert_eq!(agreement(Spread { mean: 0.8549, std: 0.0 }, 5, 0.86, 2, true), Some(Agreement::Worse));
        assert_eq!(agreement(Spread { mean: f64::NAN, std: 0.0 }, 5, 0.86, 2, true), None);
    }
}
