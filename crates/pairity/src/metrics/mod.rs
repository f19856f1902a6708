//! Rates with honest intervals.
//!
//! [`Audit::run`] measures everything; each number is a [`Metric`]: a value with its interval, or the
//! reason why it can't be estimated. [`Distributions::run`] summarizes what pictures show beside it.

mod audit;
mod block_pairs;
mod count_block;
mod distributions;
mod draws;
mod exact;
mod influence;
mod intervals;
mod measurement;
#[cfg(test)]
mod mixture_tests;
mod normals;
mod partial;
#[cfg(test)]
mod partial_tests;
mod plain_table;
#[cfg(test)]
mod plain_tests;
mod query_sums;
mod sorted_rows;
#[cfg(test)]
mod tests;
mod unit_blocks;

pub use audit::{Audit, Check, ContinuousRates, Settings, Verdict};
pub use block_pairs::{BlockProgress, RowBlocks, measure_blocks};
pub use distributions::{
    Bins, DifferenceBin, Differences, Distributions, Halves, QueryGaps, QueryRates, ScoreHistogram,
    ScoreHistograms,
};
pub use influence::rate_values;
pub(crate) use influence::values_in_order;
pub use measurement::{Chance, Estimate, Measurement, Member, Metric};
pub use partial::{Partial, PartialError};
pub use plain_table::PlainTable;
pub use sorted_rows::{SortedPass, measure_sorted};
