//! The options of `adjust`.

use super::values::{confidence, methods, tuned_share};
use super::{OutputOptions, TableOptions};
use clap::Args;
use pairity::methods::Method;
use std::path::PathBuf;

/// Options of `adjust`.
#[derive(Debug, Args)]
pub struct AdjustOptions {
    /// The table and its columns.
    #[command(flatten)]
    pub table: TableOptions,

    /// Column of the scores
    #[arg(long, value_name = "COL")]
    pub score: String,

    /// How scores are adjusted
    #[arg(long, value_parser = methods(|method| method.adjuster.is_some()), value_name = "METHOD", default_value = "group-offset", hide_possible_values = true)]
    pub method: &'static Method,

    /// What is to be large
    #[arg(long, value_name = "EXPR", default_value = "auc")]
    pub maximize: String,

    /// A bound that has to hold, such as 'cross_group <= 0.01'; repeat it for several
    #[arg(long = "subject-to", value_name = "EXPR", required = true)]
    pub subject_to: Vec<String>,

    /// How far --method quantile-match goes, from 0 to 1 (default: as far as the goal needs)
    #[arg(long, value_name = "T")]
    pub strength: Option<f64>,

    /// Where the table is written, with the adjusted scores in a new column
    #[arg(short, long = "output", value_name = "OUT")]
    pub out: Option<PathBuf>,

    /// Name of the new column
    #[arg(long, value_name = "NAME", default_value = "adjusted")]
    pub column: String,

    /// Share of the queries that the map is chosen on; the others test it. 1 leaves none
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = tuned_share)]
    pub tune: f64,

    /// Probability that an interval holds the true value
    #[arg(long, value_name = "P", default_value = "0.95", value_parser = confidence, allow_negative_numbers = true)]
    pub confidence: f64,

    /// Seed of the split: same seed, same bytes
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// How to run and what to write.
    #[command(flatten)]
    pub output: OutputOptions,
}
