//! The options of the commands that train: `train`, `compare` and `frontier`.

use super::values::{choices, confidence, duration, methods, not_negative, positive, share, split};
use super::{OutputOptions, PageOptions, TableOptions};
use clap::Args;
use pairity::learners::ScorerKind;
use pairity::learners::text::VOCABULARY;
use pairity::methods::Method;
use pairity::model::exposure::{Exposure, Utilities};
use pairity::pairs::SurrogateKind;
use pairity::run::GroupAware;
use pairity::solvers::{Answer, Player};
use std::path::PathBuf;
use std::time::Duration;

/// Options of `train`.
#[derive(Debug, Args)]
pub struct TrainOptions {
    /// What is trained on what, and how.
    #[command(flatten)]
    pub fit: FitOptions,

    /// Where the model is written, as JSON
    #[arg(short, long = "output", value_name = "MODEL")]
    pub output_file: PathBuf,

    /// How fairness is to be had: training subject to the constraints; without them, which are then only
    /// reported; for the least of all rates concerned; by example weights; by a penalty; or by changing the
    /// scores of an unconstrained scorer
    #[arg(long, value_parser = methods(|_| true), value_name = "METHOD", default_value = "constrained")]
    pub method: &'static Method,

    /// What --method singh-joachims makes equal: clicks, or exposure
    #[arg(long, value_parser = choices(Exposure::NAMES), value_name = "impact|treatment", default_value = "impact", hide_possible_values = true)]
    pub exposure: Exposure,

    /// One scorer instead of a mixture, if one meets the goal
    #[arg(long, conflicts_with = "answer")]
    pub deterministic: bool,

    /// The best mixture of snapshots, the best single one, or the last one
    #[arg(long, value_parser = answers(), value_name = "mixture|best|last", default_value = "mixture", hide_possible_values = true)]
    pub answer: Answer,

    /// Goes on from MODEL.checkpoint, if it is there, to the same model as without the interruption
    #[arg(long)]
    pub resume: bool,
}

/// Options of every command that trains.
#[derive(Debug, Args)]
pub struct FitOptions {
    /// The table and its columns.
    #[command(flatten)]
    pub table: TableOptions,

    /// What is to be large (default: auc)
    #[arg(long, value_name = "EXPR", conflicts_with = "minimize")]
    pub maximize: Option<String>,

    /// What is to be small, such as mse
    #[arg(long, value_name = "EXPR")]
    pub minimize: Option<String>,

    /// A bound that has to hold, such as 'cross_group <= 0.01'; repeat it for several
    #[arg(long = "subject-to", value_name = "EXPR")]
    pub subject_to: Vec<String>,

    /// Feature columns (default: every column of numbers that has no other use). Columns of text become
    /// one feature for each value, missing values get an indicator
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub features: Vec<String>,

    /// Column of a text: its words are the features, and columns of numbers only if --features names them
    #[arg(long, value_name = "COL")]
    pub text: Option<String>,

    /// Words that are told apart: the most frequent ones of the training texts
    #[arg(long, value_name = "N", default_value_t = VOCABULARY, value_parser = positive, requires = "text")]
    pub vocabulary: usize,

    /// Word vectors that --model text-cnn starts from, in GloVe's text format (default: random ones of 100
    /// numbers)
    #[arg(long, value_name = "FILE", requires = "text")]
    pub embeddings: Option<PathBuf>,

    /// Numbers are used as they are, instead of with mean 0 and deviation 1
    #[arg(long)]
    pub no_standardize: bool,

    /// The kind of scorer; of a text, text-cnn sees the words in their order and linear which there are
    #[arg(long, value_parser = choices(ScorerKind::NAMES), value_name = "linear|mlp|text-cnn", default_value = "linear", hide_possible_values = true)]
    pub model: ScorerKind,

    /// Units of the hidden layers of --model mlp
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', default_value = "10", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub hidden: Vec<u32>,

    /// The scorer may use the protected attribute: weights for each group, or offsets only
    #[arg(long, value_parser = choices(GroupAware::NAMES), value_name = "weights|offsets", num_args = 0..=1, require_equals = true, default_missing_value = "weights", hide_possible_values = true)]
    pub group_aware: Option<GroupAware>,

    /// Shares of the rows for training, validation and test, by query. A part of size 0 is absent:
    /// 1,0,0 trains and selects on all rows (default: 0.5,0.25,0.25, or 1,0,0 with --validation)
    #[arg(long, value_name = "A,B,C", value_parser = split)]
    pub split: Option<[f64; 3]>,

    /// Table of the rows that the model is chosen on, instead of a part of TABLE
    #[arg(long, value_name = "TABLE")]
    pub validation: Vec<String>,

    /// Table of the rows that it is tested on, instead of a part of TABLE
    #[arg(long, value_name = "TABLE")]
    pub test: Vec<String>,

    /// Share of the training queries that only the constraints look at, so that what holds there also
    /// holds for new data
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    pub multiplier_share: f64,

    /// When to stop with the best so far, such as 90s, 10m or 1h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub time_limit: Option<Duration>,

    /// How the goal is reached: the game of Narasimhan et al. (2020)
    #[arg(long, value_parser = ["paper"], value_name = "paper", default_value = "paper", hide_possible_values = true)]
    pub solver: String,

    /// Who weighs the constraints: by swap regret, by external regret, or as plain multipliers
    #[arg(long, value_parser = choices(Player::NAMES), value_name = "swap|external|lagrangian", default_value = "swap", hide_possible_values = true)]
    pub player: Player,

    /// What the scorer descends in place of rates
    #[arg(long, value_parser = choices(SurrogateKind::NAMES), value_name = "hinge|squared-hinge|ramp", default_value = "hinge", hide_possible_values = true)]
    pub surrogate: SurrogateKind,

    /// Steps of each game
    #[arg(long, value_name = "N", default_value_t = 2500, value_parser = positive)]
    pub iterations: usize,

    /// Scorers that are kept on the way (default: 100, or 20 of --model text-cnn, which are large)
    #[arg(long, value_name = "N", value_parser = positive)]
    pub snapshots: Option<usize>,

    /// Size of the steps. Without it 0.001, 0.01, 0.1, 1 and 10 are tried (0.0003, 0.001 and 0.003 for
    /// --model text-cnn), and the best is taken
    #[arg(long, value_name = "X,X,…", value_delimiter = ',')]
    pub step_size: Vec<f64>,

    /// Queries (or rows, without queries) that each step looks at (default: all, or 100 for --model text-cnn)
    #[arg(long, value_name = "N", value_parser = positive)]
    pub batch: Option<usize>,

    /// Weight of the correlation in the loss of --method beutel
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = not_negative)]
    pub penalty: f64,

    /// How scores become utilities in --method singh-joachims: their range in the query, the sigmoid, or
    /// the scores themselves where they are above 0
    #[arg(long, value_parser = choices(Utilities::NAMES), value_name = "range|sigmoid|clipped", default_value = "range", hide_possible_values = true)]
    pub utilities: Utilities,

    /// Probability that an interval holds the true value
    #[arg(long, value_name = "P", default_value = "0.95", value_parser = confidence, allow_negative_numbers = true)]
    pub confidence: f64,

    /// Seed of every random choice: same seed, same bytes
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Whether there is a page.
    #[command(flatten)]
    pub page: PageOptions,

    /// How to run and what to write.
    #[command(flatten)]
    pub output: OutputOptions,
}

/// Options of `compare`.
#[derive(Debug, Args)]
pub struct CompareOptions {
    /// What is trained on what, and how.
    #[command(flatten)]
    pub fit: FitOptions,

    /// Which methods, instead of all
    #[arg(long, value_parser = methods(|_| true), value_name = "METHOD,…", value_delimiter = ',')]
    pub methods: Vec<&'static Method>,
}

/// Options of `frontier`.
#[derive(Debug, Args)]
pub struct FrontierOptions {
    /// What is compared at every bound.
    #[command(flatten)]
    pub compared: CompareOptions,

    /// Bounds that take the place of those in --subject-to
    #[arg(
        long,
        value_name = "X,X,…",
        value_delimiter = ',',
        default_value = "0.3,0.2,0.15,0.1,0.05,0.02,0.01,0"
    )]
    pub bounds: Vec<f64>,
}

/// The answers that `--answer` names; one of its own is behind `--deterministic`.
fn answers() -> impl clap::builder::TypedValueParser<Value = Answer> {
    choices(Answer::NAMES.iter().filter(|(_, answer, _)| *answer != Answer::Deterministic))
}
