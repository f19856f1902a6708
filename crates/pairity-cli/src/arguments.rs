//! The arguments as plain structs. Nothing here reads a file.

use crate::score_arguments::ScoreArguments;
use crate::train_arguments::TrainArguments;
use clap::{Args, Parser, Subcommand, ValueEnum};
use pairity::goals::language_help;
use pairity::metrics::Settings;
use pairity::rates::{Average, Ties};
use std::path::PathBuf;

/// Pairwise fairness for ranking and regression: exact pair counts with honest intervals.
#[derive(Debug, Parser)]
#[command(name = "pairity", version, arg_required_else_help = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure a scored table: how often the better of two scores higher, group by group
    #[command(after_help = audit_help())]
    Audit(Box<AuditArguments>),
    /// Train a scorer to a goal: the best one that is fair enough
    #[command(after_help = crate::train_arguments::help())]
    Train(Box<TrainArguments>),
    /// Add the scores of a trained model to a table
    #[command(after_help = crate::score_arguments::HELP)]
    Score(ScoreArguments),
    /// Adjust scores group by group so that a goal holds, where nothing can be trained
    #[command(after_help = crate::adjust::HELP)]
    Adjust(Box<crate::adjust::AdjustArguments>),
    /// Get fairness in every way that applies, and see which costs least
    #[command(after_help = crate::compare::HELP)]
    Compare(Box<crate::compare::CompareArguments>),
    /// See what each way costs as the bound on the violation is tightened
    #[command(after_help = crate::frontier::HELP)]
    Frontier(Box<crate::frontier::FrontierArguments>),
    /// Run the paper's experiments beside the paper's own numbers
    #[command(after_help = crate::reproduce::HELP)]
    Reproduce(crate::reproduce::ReproduceArguments),
    /// Where each published data set is, and fetching it
    #[command(after_help = crate::data::HELP)]
    Data(crate::data::DataArguments),
    /// Train three scorers on simulated data and compare them; needs no files
    #[command(after_help = DEMO_HELP)]
    Demo(DemoArguments),
}

fn audit_help() -> String {
    format!("Checks are written in the goal language:\n{}\n\n{AUDIT_HELP}", language_help())
}

const AUDIT_HELP: &str = "\
A check passes if the whole confidence interval keeps the bound, fails if none of it
does, and is undecided otherwise.

Rows without label, score, weight, pair weight or query are left out and counted in the
report. A row without a group takes part as \"anyone\".

Exit codes:
  0  fine (an undecided check gives a warning)
  1  a check failed, or is undecided with --strict
  2  wrong arguments or data; nothing is written
  3  a check can't be estimated (no pairs, or fewer than --min-pairs), and none failed

Examples:
  pairity audit people.csv --score score --label hired --query job --group gender
  pairity audit people.csv --score score --label hired --query job --group gender \\
      --check 'cross_group <= 0.1' --check 'auc >= 0.7' --format json
  cat people.csv | pairity audit - --score score --label income --protected age \\
      --html audit.html";

const DEMO_HELP: &str = "\
Example:
  pairity demo
  pairity demo --seed 7 --html seven.html --format json";

/// Arguments of `audit`.
#[derive(Debug, Args)]
pub struct AuditArguments {
    /// The table and its columns.
    #[command(flatten)]
    pub table: TableArguments,

    /// Column of the scores
    #[arg(long, value_name = "COL")]
    pub score: String,

    /// A bound that must hold, such as 'cross_group <= 0.1'; repeat it for several
    #[arg(long = "check", value_name = "EXPR")]
    pub checks: Vec<String>,

    /// An undecided check counts as failed
    #[arg(long)]
    pub strict: bool,

    /// Probability that an interval holds the true value
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
    pub page: PageArguments,

    /// How to run and what to write.
    #[command(flatten)]
    pub output: OutputArguments,
}

/// Which table, and what its columns are.
#[derive(Debug, Args)]
pub struct TableArguments {
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

    /// Column of the queries: pairs are formed inside a query. Without it all rows are one query
    /// (SVMlight files: `qid`, where there is one)
    #[arg(long, value_name = "COL")]
    pub query: Option<String>,

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

    /// Whether all pairs count alike, or all queries
    #[arg(long, value_enum, value_name = "pairs|queries", default_value_t = AverageChoice::Pairs, hide_possible_values = true)]
    pub average: AverageChoice,

    /// What equal scores earn: half a win, or nothing
    #[arg(long, value_enum, value_name = "half|strict", default_value_t = TiesChoice::Half, hide_possible_values = true)]
    pub ties: TiesChoice,
}

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub struct DemoArguments {
    /// Seed of the simulated data: same seed, same data
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Where the page with pictures is written (default: pairity-demo.html)
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// How to run and what to write.
    #[command(flatten)]
    pub output: OutputArguments,
}

/// Argument of every command that can write a page.
#[derive(Debug, Args)]
pub struct PageArguments {
    /// Write a page with pictures to this file, for reading, printing and mailing
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// Arguments of every command.
#[derive(Debug, Args)]
pub struct OutputArguments {
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

/// `--average`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AverageChoice {
    /// All pairs count alike.
    Pairs,
    /// All queries count alike.
    Queries,
}

/// `--ties`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TiesChoice {
    /// Half a win.
    Half,
    /// Nothing.
    Strict,
}

impl AuditArguments {
    /// What the engine needs to know.
    pub fn settings(&self) -> Settings {
        let (average, ties) = self.table.how();
        Settings { average, ties, confidence: self.confidence, min_pairs: self.min_pairs, seed: self.seed }
    }
}

impl TableArguments {
    /// How pairs are averaged, and what equal scores earn.
    pub fn how(&self) -> (Average, Ties) {
        let average = match self.average {
            AverageChoice::Pairs => Average::Pairs,
            AverageChoice::Queries => Average::Queries,
        };
        let ties = match self.ties {
            TiesChoice::Half => Ties::Half,
            TiesChoice::Strict => Ties::Strict,
        };
        (average, ties)
    }
}

pub(crate) fn confidence(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err(
            "a number between 0 and 1 is needed, such as 0.95 (0 and 1 themselves don't make an interval)"
                .to_owned(),
        ),
    }
}

/// A whole number above 0.
pub(crate) fn positive(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("a whole number of at least 1 is needed".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_confidence_lies_between_0_and_1() {
        assert_eq!(confidence("0.9"), Ok(0.9));
        for text in ["0", "1", "-0.5", "95", "NaN", "x"] {
            assert!(confidence(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_number_of_things_is_at_least_one() {
        assert_eq!(positive("2"), Ok(2));
        for text in ["0", "-1", "1.5", ""] {
            assert!(positive(text).is_err(), "{text}");
        }
    }
}
