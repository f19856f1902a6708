//! The options of `adjust`.

use super::values::{confidence, methods, tuned_share};
use super::{OutputOptions, TableOptions};
use clap::Args;
use pairity::methods::Method;
use std::path::PathBuf;

/// Below the list of options.
pub const ADJUST_HELP: &str = "\
Methods, all of which keep the order inside each group:
  group-offset    a constant is added to the scores of each group
  quantile-match  scores move toward those of the same quantile in all groups together, no further than
                  the goal needs (for statistical parity)
  x-order         the best merge of two groups' orders, by dynamic programming (Cui et al. 2021)
  kallus-zhou     one group's scores go through another logistic function (Kallus and Zhou 2019)

The map is chosen on a random half of the queries and reported on the other half, with intervals.

Exit codes:
  0  the goal is met on the rows that the map was chosen on
  1  it is not; the map misses it by as little as was found possible
  2  wrong arguments or data; no file is written

Example:
  pairity adjust people.csv --score score --label hired --query job --group gender \\
      --method group-offset --subject-to 'cross_group <= 0.01' -o adjusted.csv";

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
    #[arg(long, value_parser = methods(|method| method.adjuster().is_some()), value_name = "METHOD", default_value = "group-offset", hide_possible_values = true)]
    pub method: &'static dyn Method,

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
