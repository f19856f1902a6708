//! Rates with honest intervals.
//!
//! [`Audit::run`] measures everything; each number is a [`Metric`]: a value with its interval, or the
//! reason why it can't be estimated. [`Distributions::run`] summarizes what pictures show beside it.

mod audit;
mod distributions;
mod exact;
mod influence;
mod intervals;
mod measurement;
#[cfg(test)]
mod mixture_tests;
mod partial;
#[cfg(test)]
mod partial_tests;
mod query_sums;
#[cfg(test)]
mod tests;
mod unit_blocks;

pub use audit::{Audit, Check, ContinuousRates, Settings, Verdict};
pub use distributions::{
    Bins, DifferenceBin, Differences, Distributions, Halves, QueryGaps, QueryRates, ScoreHistogram,
    ScoreHistograms,
};
pub use influence::rate_values;
pub(crate) use influence::values_in_order;
pub use measurement::{Chance, Measurement, Member, Metric};
pub use partial::{Partial, PartialError};
