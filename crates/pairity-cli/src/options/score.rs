//! The arguments of `score`.

use super::OutputOptions;
use super::values::name;
use clap::Args;
use std::path::PathBuf;

/// Options of `score`.
#[derive(Debug, Args)]
pub struct ScoreOptions {
    /// A model that `pairity train` wrote
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// CSV, TSV, Parquet or SVMlight files; a folder or a pattern of them; `-` for CSV from standard
    /// input. Several are one table
    #[arg(value_name = "TABLE", required = true)]
    pub tables: Vec<String>,

    /// Where the table with its scores is written: a file that ends in .csv, .tsv or .parquet, or `-`
    /// for CSV to standard output
    #[arg(short, long = "output", value_name = "OUT")]
    pub out: PathBuf,

    /// Name of the new column
    #[arg(long, value_name = "NAME", default_value = "score", value_parser = name)]
    pub score: String,

    /// Another new column, expected_NAME, with the scores on average over all draws of a mixture
    #[arg(long)]
    pub expected: bool,

    /// Column of the queries, for which a mixture draws (default: as in training)
    #[arg(long, value_name = "COL")]
    pub query: Option<String>,

    /// Seed of the draws (default: that of the training)
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// How to run and what to write.
    #[command(flatten)]
    pub output: OutputOptions,
}
