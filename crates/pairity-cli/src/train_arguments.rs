//! The arguments of `train`.

use crate::arguments::{OutputArguments, PageArguments, TableArguments, confidence, positive};
use clap::{Args, ValueEnum};
use pairity::goals::language_help;
use pairity::methods::Method;
use pairity::methods::singh_joachims::{Exposure, Utilities};
use pairity::scorers::text::VOCABULARY;
use pairity::surrogates::Membership;
use pairity::training::{Answer, Penalty, Player};
use std::path::PathBuf;
use std::time::Duration;

/// Below the list of options.
pub fn help() -> String {
    format!("Goals are written in one small language:\n{}\n\n{HELP}", language_help())
}

const HELP: &str = "\
The rows are split at random, by query: the scorer is fit to the first part, chosen on the
second, and reported on all three. While it trains, the state is kept in MODEL.checkpoint, from
which --resume goes on; Ctrl-C and --time-limit end with the best model so far.

Exit codes:
  0  the goal is met on the rows that the model was chosen on
  1  it is not: the model misses it by as little as was found possible, and the report says so
  2  wrong arguments or data; no file is written

Examples:
  pairity train people.csv --label hired --query job --group gender -o model.json \\
      --subject-to 'cross_group <= 0.01'
  pairity train people.csv --label hired --query job --group gender -o model.json \\
      --maximize 'min(auc, A[f > m], A[m > f])'
  pairity train pay.csv --label salary --protected age -o model.json --minimize mse \\
      --subject-to 'continuous <= 0.02' --model mlp --hidden 10
  pairity train comments.csv --label toxic --text comment --model text-cnn --group term \
      --subject-to 'cross_group <= 0.01' -o model.json";

/// Arguments of `train`.
#[derive(Debug, Args)]
pub struct TrainArguments {
    /// What is trained on what, and how.
    #[command(flatten)]
    pub fit: FitArguments,

    /// Where the model is written, as JSON
    #[arg(short, long = "output", value_name = "MODEL")]
    pub output_file: PathBuf,

    /// How fairness is to be had: training subject to the constraints; without them, which are then only
    /// reported; for the least of all rates concerned; by example weights; by a penalty; or by changing the
    /// scores of an unconstrained scorer
    #[arg(long, value_enum, value_name = "METHOD", default_value_t = MethodChoice::Constrained)]
    pub method: MethodChoice,

    /// What --method singh-joachims makes equal: clicks, or exposure
    #[arg(long, value_enum, value_name = "impact|treatment", default_value_t = ExposureChoice::Impact, hide_possible_values = true)]
    pub exposure: ExposureChoice,

    /// One scorer instead of a mixture, if one meets the goal
    #[arg(long, conflicts_with = "answer")]
    pub deterministic: bool,

    /// The best mixture of snapshots, the best single one, or the last one
    #[arg(long, value_enum, value_name = "mixture|best|last", default_value_t = AnswerChoice::Mixture, hide_possible_values = true)]
    pub answer: AnswerChoice,

    /// Goes on from MODEL.checkpoint, if it is there, to the same model as without the interruption
    #[arg(long)]
    pub resume: bool,
}

/// Arguments of every command that trains.
#[derive(Debug, Args)]
pub struct FitArguments {
    /// The table and its columns.
    #[command(flatten)]
    pub table: TableArguments,

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
    #[arg(long, value_enum, value_name = "linear|mlp|text-cnn", default_value_t = ModelChoice::Linear, hide_possible_values = true)]
    pub model: ModelChoice,

    /// Units of the hidden layers of --model mlp
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', default_value = "10", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub hidden: Vec<u32>,

    /// The scorer may use the protected attribute: weights for each group, or offsets only
    #[arg(long, value_enum, value_name = "weights|offsets", num_args = 0..=1, require_equals = true, default_missing_value = "weights", hide_possible_values = true)]
    pub group_aware: Option<GroupAware>,

    /// Shares of the rows for training, validation and test, by query. A part of size 0 is absent:
    /// 1,0,0 trains and selects on all rows (default: 0.5,0.25,0.25, or 1,0,0 with --validation)
    #[arg(long, value_name = "A,B,C", value_parser = split)]
    pub split: Option<Split>,

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
    #[arg(long, value_enum, value_name = "paper", default_value_t = SolverChoice::Paper, hide_possible_values = true)]
    pub solver: SolverChoice,

    /// Who weighs the constraints: by swap regret, by external regret, or as plain multipliers
    #[arg(long, value_enum, value_name = "swap|external|lagrangian", default_value_t = PlayerChoice::Swap, hide_possible_values = true)]
    pub player: PlayerChoice,

    /// What the scorer descends in place of rates
    #[arg(long, value_enum, value_name = "hinge|squared-hinge|ramp", default_value_t = SurrogateChoice::Hinge, hide_possible_values = true)]
    pub surrogate: SurrogateChoice,

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
    #[arg(long, value_enum, value_name = "range|sigmoid|clipped", default_value_t = UtilitiesChoice::Range, hide_possible_values = true)]
    pub utilities: UtilitiesChoice,

    /// Probability that an interval holds the true value
    #[arg(long, value_name = "P", default_value = "0.95", value_parser = confidence, allow_negative_numbers = true)]
    pub confidence: f64,

    /// Seed of every random choice: same seed, same bytes
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Whether there is a page.
    #[command(flatten)]
    pub page: PageArguments,

    /// How to run and what to write.
    #[command(flatten)]
    pub output: OutputArguments,
}

/// `--model`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModelChoice {
    /// A weighted sum of the features.
    Linear,
    /// A network with hidden layers.
    Mlp,
    /// A convolutional network for a text.
    TextCnn,
}

impl ModelChoice {
    /// As reports call it.
    pub fn name(self) -> &'static str {
        match self {
            ModelChoice::Linear => "linear",
            ModelChoice::Mlp => "mlp",
            ModelChoice::TextCnn => "text-cnn",
        }
    }
}

/// `--method`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodChoice {
    /// The constraints are enforced.
    Constrained,
    /// They are only reported.
    Unconstrained,
    /// The least of the objective and of the rates in the constraints is raised.
    Robust,
    /// Example weights balance positives and negatives in all groups (Dixon et al. 2018).
    Debiased,
    /// A penalty on the correlation of residuals and groups (Beutel et al. 2019).
    Beutel,
    /// A logistic map of a group's scores (Kallus & Zhou 2019).
    KallusZhou,
    /// Random rankings of fair exposure (Singh & Joachims 2018).
    SinghJoachims,
    /// A shift of each group's scores.
    GroupOffset,
    /// One distribution of scores for all groups.
    QuantileMatch,
    /// The best merge of two groups' orders (Cui et al. 2021).
    XOrder,
}

/// `--exposure`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExposureChoice {
    /// Clicks for utility.
    Impact,
    /// Exposure for utility.
    Treatment,
}

impl ExposureChoice {
    /// As the engine has it.
    pub fn exposure(self) -> Exposure {
        match self {
            ExposureChoice::Impact => Exposure::Impact,
            ExposureChoice::Treatment => Exposure::Treatment,
        }
    }
}

/// `--utilities`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UtilitiesChoice {
    /// From 0 to 1 in each query.
    Range,
    /// 1 / (1 + exp(−s)).
    Sigmoid,
    /// max(s, 0).
    Clipped,
}

/// `--group-aware`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GroupAware {
    /// Weights for each group.
    Weights,
    /// A constant for each group.
    Offsets,
}

/// `--answer`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AnswerChoice {
    /// The best mixture.
    Mixture,
    /// The best single snapshot.
    Best,
    /// The last snapshot.
    Last,
}

/// `--solver`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SolverChoice {
    /// The paper's game.
    Paper,
}

/// `--player`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlayerChoice {
    /// Low swap regret.
    Swap,
    /// Low external regret.
    External,
    /// Additive multipliers.
    Lagrangian,
}

/// `--surrogate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SurrogateChoice {
    /// max(0, 1 − t).
    Hinge,
    /// Its square.
    SquaredHinge,
    /// The hinge, cut at 1.
    Ramp,
}

/// Shares of training, validation and test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split(pub [f64; 3]);

impl FitArguments {
    /// The shares of the table's rows.
    pub fn shares(&self) -> [f64; 3] {
        match (self.split, self.validation.is_empty(), self.test.is_empty()) {
            (Some(Split(shares)), ..) => shares,
            (None, true, true) => [0.5, 0.25, 0.25],
            (None, true, false) => [0.75, 0.25, 0.0],
            (None, false, _) => [1.0, 0.0, 0.0],
        }
    }

    /// Who weighs the constraints.
    pub fn player(&self) -> Player {
        match self.player {
            PlayerChoice::Swap => Player::Swap,
            PlayerChoice::External => Player::External,
            PlayerChoice::Lagrangian => Player::Lagrangian,
        }
    }
}

impl FitArguments {
    /// The engine's method of a choice.
    pub fn method(&self, choice: MethodChoice, exposure: Exposure) -> Method {
        let utilities = match self.utilities {
            UtilitiesChoice::Range => Utilities::Range,
            UtilitiesChoice::Sigmoid => Utilities::Sigmoid,
            UtilitiesChoice::Clipped => Utilities::Clipped,
        };
        match choice {
            MethodChoice::Constrained => Method::Constrained,
            MethodChoice::Unconstrained => Method::Unconstrained,
            MethodChoice::Robust => Method::Robust,
            MethodChoice::Debiased => Method::Debiased,
            MethodChoice::Beutel => {
                Method::Beutel(Penalty { weight: self.penalty, membership: Membership::Cross })
            }
            MethodChoice::KallusZhou => Method::KallusZhou,
            MethodChoice::SinghJoachims => Method::SinghJoachims(exposure, utilities),
            MethodChoice::GroupOffset => Method::GroupOffset,
            MethodChoice::QuantileMatch => Method::QuantileMatch,
            MethodChoice::XOrder => Method::XOrder,
        }
    }
}

impl TrainArguments {
    /// Which answer is wanted.
    pub fn answer(&self) -> Answer {
        match self.answer {
            _ if self.deterministic => Answer::Deterministic,
            AnswerChoice::Mixture => Answer::Mixture,
            AnswerChoice::Best => Answer::Best,
            AnswerChoice::Last => Answer::Last,
        }
    }
}

pub(crate) fn split(text: &str) -> Result<Split, String> {
    let shares: Option<Vec<f64>> = text.split(',').map(|share| share.trim().parse().ok()).collect();
    let sums_to_one = |shares: &[f64]| (shares.iter().sum::<f64>() - 1.0).abs() < 1e-6;
    match shares.as_deref() {
        Some(&[a, b, c]) if [a, b, c].iter().all(|x| *x >= 0.0) && sums_to_one(&[a, b, c]) && a > 0.0 => {
            Ok(Split([a, b, c]))
        }
        _ => {
            Err("three shares with a sum of 1 are needed, such as 0.5,0.25,0.25, the first above 0"
                .to_owned())
        }
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..1.0).contains(&share) => Ok(share),
        _ => Err("a number from 0 to below 1 is needed, such as 0.5".to_owned()),
    }
}

fn not_negative(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number >= 0.0 && number.is_finite() => Ok(number),
        _ => Err("a number of at least 0 is needed".to_owned()),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds
        .or_else(|| humantime::parse_duration(text).ok())
        .ok_or_else(|| "a time is needed, such as 90s, 10m or 1h 30m".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_has_three_shares_and_some_training() {
        assert_eq!(split("0.5,0.25,0.25"), Ok(Split([0.5, 0.25, 0.25])));
        assert_eq!(split("1, 0, 0"), Ok(Split([1.0, 0.0, 0.0])));
        for text in ["", "1", "0.5,0.5", "0,0.5,0.5", "0.5,0.6,-0.1", "0.5,0.25,0.5", "a,b,c", "NaN,1,0"] {
            assert!(split(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_have_units_or_are_seconds() {
        assert_eq!(duration("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(duration("1h 30m"), Ok(Duration::from_secs(5400)));
        assert_eq!(duration("2.5"), Ok(Duration::from_millis(2500)));
        for text in ["", "-1", "soon", "10 parsecs", "NaN"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
