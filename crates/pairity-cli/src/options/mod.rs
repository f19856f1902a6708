//! The options as plain structs. Nothing here reads a file.

mod train;
mod values;

pub use train::{CompareOptions, FitOptions, FrontierOptions, TrainOptions};

use clap::{Args, Parser, Subcommand, ValueEnum};
use pairity::goals::language_help;
use pairity::methods::Method;
use pairity::methods::kallus_zhou::LogisticGrid;
use pairity::metrics::Settings;
use pairity::rates::{Average, Ties};
use pairity::solvers::{Select, SolverKind};
use pairity_experiments::fetch::FetchSettings;
use std::path::PathBuf;
use std::time::Duration;
use values::{choices, confidence, duration, methods, name, pairs_where, positive, size, split, tuned_share};

/// Pairwise fairness for ranking and regression: exact pair counts with honest intervals.
#[derive(Debug, Parser)]
#[command(name = "pairity", version, arg_required_else_help = true)]
pub struct Options {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure a scored table: how often the better of two scores higher, group by group
    #[command(after_help = with_language("Checks are written in the goal language:", include_str!("help/audit.txt")))]
    Audit(Box<AuditOptions>),
    /// Train a scorer to a goal: the best one that is fair enough
    #[command(after_help = with_language("Goals are written in one small language:", include_str!("help/train.txt")))]
    Train(Box<TrainOptions>),
    /// Add the scores of a trained model to a table
    #[command(after_help = include_str!("help/score.txt"))]
    Score(ScoreOptions),
    /// Merge partial audits, as audit --partial writes them, into the audit of all their queries
    #[command(after_help = include_str!("help/merge.txt"))]
    Merge(MergeOptions),
    /// Adjust scores group by group so that a goal holds, where nothing can be trained
    #[command(after_help = include_str!("help/adjust.txt"))]
    Adjust(Box<AdjustOptions>),
    /// Get fairness in every way that applies, and see which costs least
    #[command(after_help = include_str!("help/compare.txt"))]
    Compare(Box<CompareOptions>),
    /// See what each way costs as the bound on the violation is tightened
    #[command(after_help = include_str!("help/frontier.txt"))]
    Frontier(Box<FrontierOptions>),
    /// Run the paper's experiments beside the paper's own numbers
    #[command(after_help = include_str!("help/reproduce.txt"))]
    Reproduce(ReproduceOptions),
    /// Where each published data set is, and fetching it
    #[command(subcommand, after_help = include_str!("help/data.txt"))]
    Data(Action),
    /// Train three scorers on simulated data and compare them; needs no files
    #[command(after_help = include_str!("help/demo.txt"))]
    Demo(DemoOptions),
}

/// A help that has the goal language after its first line.
fn with_language(first: &str, rest: &str) -> String {
    format!("{first}\n{}\n\n{rest}", language_help())
}

/// Options of `audit`.
#[derive(Debug, Args)]
pub struct AuditOptions {
    /// The table and its columns.
    #[command(flatten)]
    pub table: TableOptions,

    /// Column of the scores
    #[arg(long, value_name = "COL")]
    pub score: String,

    /// Memory to use, such as 2GB: larger tables are read part by part, with the same result (half of the machine's if
    /// not given)
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<u64>,

    /// How long pairs of a table without queries that is larger than memory are compared, such as 10m, where labels are
    /// many or the attribute is continuous; then rates are estimated from those pairs (default: until all are)
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub time_limit: Option<Duration>,

    /// Write the sums over queries too, for 'pairity merge'
    #[arg(long, value_name = "FILE")]
    pub partial: Option<PathBuf>,

    /// What is asked of it.
    #[command(flatten)]
    pub verdicts: VerdictOptions,
}

/// Options of `merge`.
#[derive(Debug, Args)]
pub struct MergeOptions {
    /// Partial audits, as 'pairity audit --partial' writes them
    #[arg(value_name = "PARTIAL", required = true)]
    pub parts: Vec<PathBuf>,

    /// Write the merged sums, to be merged again
    #[arg(long, value_name = "FILE")]
    pub partial: Option<PathBuf>,

    /// What is asked of it.
    #[command(flatten)]
    pub verdicts: VerdictOptions,
}

/// What is asked of an audit, and how it is shown.
#[derive(Debug, Args)]
pub struct VerdictOptions {
    /// A bound that must hold, such as 'cross_group <= 0.1'; repeat it for several
    #[arg(long = "check", value_name = "EXPR")]
    pub checks: Vec<String>,

    /// An undecided check counts as failed
    #[arg(long)]
    pub strict: bool,

    /// Probability that an interval holds the true value; those of several checks all do together
    #[arg(long, value_name = "P", default_value = "0.95", value_parser = confidence, allow_negative_numbers = true)]
    pub confidence: f64,

    /// Rates with fewer pairs are not estimated
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub min_pairs: u64,

    /// Seed of the draws behind simultaneous intervals: same seed, same bytes
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Whether there is a page.
    #[command(flatten)]
    pub page: PageOptions,

    /// How to run and what to write.
    #[command(flatten)]
    pub output: OutputOptions,
}

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

    /// Maps that --method kallus-zhou tries: a fine grid for each group, the grid that the paper prints, or
    /// that grid for the disadvantaged group while others keep raw scores (the paper's likely reading)
    #[arg(long, value_parser = choices(LogisticGrid::NAMES), value_name = "fine|paper|likely", default_value = "fine", hide_possible_values = true)]
    pub logistic: LogisticGrid,

    /// Where the table is written, with the adjusted scores in a new column
    #[arg(short, long = "output", value_name = "OUT")]
    pub out: Option<PathBuf>,

    /// Where the map is saved as a model, for `pairity score` of new rows
    #[arg(long, value_name = "FILE")]
    pub model_out: Option<PathBuf>,

    /// Table that the map is chosen on, in place of a share of the rows; repeat it for several
    #[arg(long, value_name = "TABLE", conflicts_with = "tune")]
    pub validation: Vec<String>,

    /// Table that the map is tested on, in place of a share of the rows; repeat it for several
    #[arg(long, value_name = "TABLE", conflicts_with = "tune")]
    pub test: Vec<String>,

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

    /// The page.
    #[command(flatten)]
    pub page: PageOptions,

    /// How to run and what to write.
    #[command(flatten)]
    pub output: OutputOptions,
}

/// Options of `score`.
#[derive(Debug, Args)]
pub struct ScoreOptions {
    /// A model that `pairity train` or `pairity adjust --model-out` wrote
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

    /// Column of the queries, for which a mixture draws; repeat it for combinations (default: as in training)
    #[arg(long, value_name = "COL")]
    pub query: Vec<String>,

    /// Seed of the draws (default: that of the training)
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// How to run and what to write.
    #[command(flatten)]
    pub output: OutputOptions,
}

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

    /// How the goal is reached, where that is not as in the paper
    #[arg(long, value_parser = choices(SolverKind::NAMES), value_name = "NAME")]
    pub solver: Option<SolverKind>,

    /// What answers of that solver are selected on
    #[arg(long, value_parser = choices(Select::NAMES), value_name = "validation|cross-fit", default_value = "validation", hide_possible_values = true, requires = "solver")]
    pub select: Select,

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

/// What is done with data sets.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Every data set, and where it is
    #[command(after_help = include_str!("help/data_list.txt"))]
    List(PlaceOptions),
    /// The files of a data set, one a line
    #[command(after_help = include_str!("help/data_path.txt"))]
    Path {
        /// The data set, as `pairity data list` calls it
        name: String,
        /// Where it is looked for.
        #[command(flatten)]
        place: PlaceOptions,
    },
    /// Download data sets from their publishers
    #[command(after_help = include_str!("help/data_fetch.txt"))]
    Fetch(FetchOptions),
}

/// Where data sets are, and how that is told.
#[derive(Debug, Args)]
pub struct PlaceOptions {
    /// The folder that is looked into first, and fetched into
    #[arg(long, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,

    /// Text for people, or one JSON document
    #[arg(long, value_enum, value_name = "text|json", default_value_t = Format::Text, hide_possible_values = true)]
    pub format: Format,
}

/// Options of `data fetch`.
#[derive(Debug, Args)]
pub struct FetchOptions {
    /// The data sets, as `pairity data list` calls them
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,

    /// Where they go.
    #[command(flatten)]
    pub place: PlaceOptions,

    /// Another server that has the files under the same paths, such as http://mirror.example:8080
    #[arg(long, value_name = "URL")]
    pub mirror: Option<String>,

    /// How often a file is tried before giving up
    #[arg(long, value_name = "N", default_value_t = FetchSettings::default().attempts, value_parser = clap::value_parser!(u32).range(1..))]
    pub attempts: u32,

    /// No progress bar
    #[arg(long)]
    pub quiet: bool,
}

/// Options of `demo`.
#[derive(Debug, Args)]
pub struct DemoOptions {
    /// Seed of the simulated data: same seed, same data
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Where the page with pictures is written (default: pairity-demo.html)
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// How to run and what to write.
    #[command(flatten)]
    pub output: OutputOptions,
}

/// Which table, and what its columns are.
#[derive(Debug, Clone, Args)]
pub struct TableOptions {
    /// CSV, TSV, Parquet or SVMlight files; a folder or a pattern of them; `-` for CSV from standard
    /// input. Several are one table
    #[arg(value_name = "TABLE", required = true)]
    pub tables: Vec<String>,

    /// Column of the labels: higher should score higher. Without it only statistical parity can be
    /// measured (SVMlight files: `label` if not given)
    #[arg(long, value_name = "COL")]
    pub label: Option<String>,

    /// Column of a categorical protected attribute; repeat it for intersections
    #[arg(long, value_name = "COL")]
    pub group: Vec<String>,

    /// Column of a continuous protected attribute, instead of --group
    #[arg(long, value_name = "COL", conflicts_with = "group")]
    pub protected: Option<String>,

    /// Column of the queries: pairs are formed inside a query. Repeat it if a query is the combination
    /// of several columns. Without it all rows are one query (SVMlight files: `qid`, where there is one)
    #[arg(long, value_name = "COL")]
    pub query: Vec<String>,

    /// Only pairs whose rows agree on this column count, such as those of one city; repeat it for several
    /// columns. Queries, or rows without them, stay what is independent
    #[arg(long, value_name = "COL")]
    pub within: Vec<String>,

    /// Column of example weights, 0 or more
    #[arg(long, value_name = "COL")]
    pub weight: Option<String>,

    /// Column that names the rows, for errors and for the rows left out
    #[arg(long, value_name = "COL")]
    pub id: Option<String>,

    /// What a pair counts beside its example weights: the difference of its labels (`label-gap`, a
    /// reserved word), or the product of a column's values at both rows
    #[arg(long, value_name = "label-gap|COL")]
    pub pair_weight: Option<String>,

    /// Only rows for which this holds, such as 'age >= 18 and city != "x"': columns compared with numbers
    /// or texts, joined by `and`
    #[arg(long = "where", value_name = "EXPR")]
    pub filter: Option<String>,

    /// Groups that are compared, by name; rows of others belong to no group
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub groups: Vec<String>,

    /// Groups of fewer rows, or of fewer queries where there are queries, are not compared: their rows
    /// belong to no group
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub min_rows: usize,

    /// Only pairs in which the better row (of statistical parity: the one that scores higher if the rate
    /// is high) has the higher value of a column count; `<` for the lower one
    #[arg(long, value_name = "COL > COL'", value_parser = pairs_where)]
    pub pairs_where: Option<(bool, String)>,

    /// Whether all pairs count alike, or all queries
    #[arg(long, value_parser = choices(Average::NAMES), value_name = "pairs|queries", default_value = "pairs", hide_possible_values = true)]
    pub average: Average,

    /// What equal scores earn: half a win, or nothing
    #[arg(long, value_parser = choices(Ties::NAMES), value_name = "half|strict", default_value = "half", hide_possible_values = true)]
    pub ties: Ties,
}

impl TableOptions {
    /// How rates are measured.
    pub fn measure(&self, confidence: f64, seed: u64) -> Settings {
        Settings { average: self.average, ties: self.ties, confidence, min_pairs: 1, seed }
    }
}

/// Argument of every command that can write a page.
#[derive(Debug, Args)]
pub struct PageOptions {
    /// Write a page with pictures to this file, for reading, printing and mailing
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// Options of every command.
#[derive(Debug, Args)]
pub struct OutputOptions {
    /// Number of threads; all cores if not given. Results don't depend on it
    #[arg(long, value_name = "N", value_parser = positive, allow_negative_numbers = true)]
    pub threads: Option<usize>,

    /// Tables for people, or one JSON document
    #[arg(long, value_enum, value_name = "text|json", default_value_t = Format::Text, hide_possible_values = true)]
    pub format: Format,

    /// No progress bar
    #[arg(long)]
    pub quiet: bool,
}

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables for people.
    Text,
    /// One JSON document.
    Json,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_options_are_consistent() {
        Options::command().debug_assert();
    }
}
