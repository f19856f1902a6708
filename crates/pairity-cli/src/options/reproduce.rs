//! The options of `reproduce`.

use super::values::{positive, split};
use super::{OutputOptions, PageOptions};
use clap::Args;
use std::path::PathBuf;

/// Options of `reproduce`.
#[derive(Debug, Args)]
pub struct ReproduceOptions {
    /// Experiments to run; all of them if none is named
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,

    /// Number of random splits, and of draws of simulated data
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub seeds: u64,

    /// Shares of training, validation and test. Without a test part the training rows are reported
    #[arg(long, value_name = "A,B,C", value_parser = split, default_value = "0.5,0.25,0.25")]
    pub split: [f64; 3],

    /// Steps of each game
    #[arg(long, value_name = "N", default_value_t = 2500, value_parser = positive)]
    pub iterations: usize,

    /// Queries of the simulated tasks
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u32).range(4..=10_000_000))]
    pub queries: u32,

    /// Simulated tasks with the means that the paper prints, which are not those it used
    #[arg(long)]
    pub as_printed: bool,

    /// Where published data is looked for first
    #[arg(long, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,

    /// Whether there is a page.
    #[command(flatten)]
    pub page: PageOptions,

    /// How to run and what to write.
    #[command(flatten)]
    pub output: OutputOptions,
}
