//! The options of the commands that train (`train`, `compare` and `frontier`), the requests that they become,
//! and the engine's errors in words of these options.

use super::values::{choices, confidence, duration, methods, not_negative, positive, share, size, split};
use super::{OutputOptions, PageOptions, TableOptions};
use anyhow::anyhow;
use clap::Args;
use pairity::goals::Goal;
use pairity::learners::{ScorerKind, text::Ngrams};
use pairity::methods::kallus_zhou::LogisticGrid;
use pairity::methods::{self, Method, MethodOptions};
use pairity::model::exposure::{Exposure, Utilities};
use pairity::pairs::SurrogateKind;
use pairity::run::{CompareRequest, FitRequest, FrontierRequest, GroupAware, RunError, TrainRequest};
use pairity::solvers::{Answer, Player, Select, SolverKind};
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
    #[arg(long, value_parser = methods(|method| method.given_only.is_none()), value_name = "METHOD", default_value = "constrained")]
    pub method: &'static Method,

    /// What --method singh-joachims makes equal: clicks, or exposure
    #[arg(long, value_parser = choices(Exposure::NAMES), value_name = "impact|treatment", default_value = "impact", hide_possible_values = true)]
    pub exposure: Exposure,

    /// One scorer instead of a mixture, if one meets the goal: a snapshot or, of linear scorers, a combination of
    /// their weights, whichever is better
    #[arg(long, conflicts_with = "answer")]
    pub deterministic: bool,

    /// The best mixture of the snapshots of all games, each query drawing one of its scorers; the best single snapshot;
    /// the last one; auto is the mixture if there are queries, and without them, where one draw would serve the whole
    /// table, one scorer
    #[arg(long, value_parser = answers(), value_name = "auto|mixture|best|last", default_value = "auto", hide_possible_values = true)]
    pub answer: Answer,

    /// Tests with this confidence, on half of the rows that are not test rows, that every constraint is kept on new
    /// data too. Training then aims at tighter bounds; without --split there are no validation and test rows. Exit
    /// code 1 if no guarantee can be given
    #[arg(long, value_name = "P", value_parser = confidence, allow_negative_numbers = true)]
    pub guarantee: Option<f64>,

    /// No accuracy that the constraints compare may fall by more than this below that of an unconstrained scorer, on the
    /// rows that the model is chosen on; where the goal can't be met with that, the nearest that can is told
    #[arg(long, value_name = "X", value_parser = not_negative)]
    pub no_harm: Option<f64>,

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

    /// Columns of numbers that are no features, such as one that is known only after the label
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', conflicts_with_all = ["features", "text"])]
    pub exclude_features: Vec<String>,

    /// Column of a text: its words and n-grams of characters are the features, and columns of numbers only if --features names
    /// them
    #[arg(long, value_name = "COL")]
    pub text: Option<String>,

    /// What of a text --model linear sees: words, n-grams of 2 to 5 characters, or both (default),
    /// weighted by how rare they are
    #[arg(long, value_parser = choices(Ngrams::NAMES), value_name = "words|chars|both", requires = "text", hide_possible_values = true)]
    pub ngrams: Option<Ngrams>,

    /// Words, and n-grams of characters, that are told apart: the most frequent ones of the training texts (default: 200000 of
    /// each, or 10000 words of --model text-cnn)
    #[arg(long, value_name = "N", value_parser = positive, requires = "text")]
    pub vocabulary: Option<usize>,

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

    /// The scorer may use the protected attribute: weights for each group, or offsets only; of a continuous attribute, it
    /// and its products with other features are inputs, or it alone
    #[arg(long, value_parser = choices(GroupAware::NAMES), value_name = "weights|offsets", num_args = 0..=1, require_equals = true, default_missing_value = "weights", hide_possible_values = true)]
    pub group_aware: Option<GroupAware>,

    /// Shares of the rows for training, validation and test, by query, each with its share of every kind of query
    /// (by its groups' pairs) or row (by group and label). A part of size 0 is absent: 1,0,0 trains and selects on all rows (default: 0.5,0.25,0.25, or 1,0,0 with --validation)
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

    /// How the goal is reached (default: columns; paper for text networks, for --method beutel, and where a setting is the
    /// game's own, such as --iterations, --step-size or --batch)
    #[arg(long, value_parser = choices(SolverKind::NAMES), value_name = "NAME")]
    pub solver: Option<SolverKind>,

    /// What the answer is selected on: the validation part, or every row that is no test row, scored by scorers that were
    /// fit to the others (default: cross-fit with --solver columns, unless there is a table for --validation)
    #[arg(long, value_parser = choices(Select::NAMES), value_name = "validation|cross-fit", hide_possible_values = true)]
    pub select: Option<Select>,

    /// Weight decay on standardized features, for --solver columns (found by itself if not given)
    #[arg(long, value_name = "X", value_parser = not_negative)]
    pub l2: Option<f64>,

    /// Who weighs the constraints: by swap regret, by external regret, as plain multipliers, as a controller of violations, or
    /// as the augmented Lagrangian
    #[arg(long, value_parser = choices(Player::NAMES), value_name = "swap|external|lagrangian|nupi|augmented", default_value = "swap", hide_possible_values = true)]
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

    /// Snapshots in a row that may be no better on the rows that the model is chosen on, neither in the objective nor in the
    /// violation, before a game ends; 0: it makes all its steps (default: 4 of --model text-cnn, 0 of others and with
    /// --solver paper)
    #[arg(long, value_name = "N")]
    pub patience: Option<usize>,

    /// Size of the steps. Without it 0.001, 0.01, 0.1, 1 and 10 are tried (0.0003, 0.001 and 0.003 for
    /// --model text-cnn), and the best is taken
    #[arg(long, value_name = "X,X,…", value_delimiter = ',')]
    pub step_size: Vec<f64>,

    /// Queries (or rows, without queries) that each step looks at (default: all, or 100 for --model text-cnn)
    #[arg(long, value_name = "N", value_parser = positive)]
    pub batch: Option<usize>,

    /// Memory for the features, such as 2GB: those of larger tables stay on disk, from where each batch is read, with the
    /// same result
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "batch")]
    pub memory: Option<u64>,

    /// Weight of the correlation in the loss of --method beutel
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = not_negative)]
    pub penalty: f64,

    /// How scores become utilities in --method singh-joachims: their range in the query, the sigmoid, the
    /// scores themselves where they are above 0, or raw with their signs (the paper's likely reading)
    #[arg(long, value_parser = choices(Utilities::NAMES), value_name = "range|sigmoid|clipped|raw", default_value = "range", hide_possible_values = true)]
    pub utilities: Utilities,

    /// Maps that --method kallus-zhou tries: a fine grid for each group, the grid that the paper prints, or
    /// that grid for the disadvantaged group while others keep raw scores (the paper's likely reading)
    #[arg(long, value_parser = choices(LogisticGrid::NAMES), value_name = "fine|paper|likely", default_value = "fine", hide_possible_values = true)]
    pub logistic: LogisticGrid,

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
    #[arg(long, value_parser = methods(|method| method.given_only.is_none()), value_name = "METHOD,…", value_delimiter = ',')]
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

/// Every kind of some methods, or of all.
fn kinds(choices: &[&'static Method]) -> Vec<&'static Method> {
    let mut methods: Vec<&Method> = Vec::new();
    for choice in if choices.is_empty() { methods::ALL } else { choices } {
        if choice.given_only.is_none() && methods.iter().all(|known| known.name != choice.name) {
            methods.extend(methods::ALL.iter().filter(|method| method.name == choice.name));
        }
    }
    methods
}

impl FitOptions {
    /// What is trained, for what, and how.
    pub fn request(&self) -> FitRequest {
        FitRequest {
            goal: Goal::new(self.maximize.clone(), self.minimize.clone(), self.subject_to.clone()),
            scorer: self.model,
            hidden: self.hidden.iter().map(|&units| units as usize).collect(),
            group_aware: self.group_aware,
            standardize: !self.no_standardize,
            ngrams: self.ngrams,
            vocabulary: self.vocabulary,
            split: self.split,
            own_validation: !self.validation.is_empty(),
            own_test: !self.test.is_empty(),
            multiplier_share: self.multiplier_share,
            solver: self.solver,
            select: self.select,
            l2: self.l2,
            player: self.player,
            surrogate: self.surrogate,
            iterations: self.iterations,
            snapshots: self.snapshots,
            step_sizes: self.step_size.clone(),
            batch: self.batch,
            within: None,
            patience: self.patience,
            time_limit: self.time_limit,
            options: MethodOptions {
                penalty: self.penalty,
                utilities: self.utilities,
                logistic: self.logistic,
                ..MethodOptions::default()
            },
            measure: self.table.measure(self.confidence, self.seed),
            seed: self.seed,
        }
    }

    /// An error of the engine in words of these options.
    pub fn explain(&self, error: RunError) -> anyhow::Error {
        match error {
            RunError::NoText => anyhow!("--model text-cnn reads a text: name its column with --text"),
            RunError::VectorsUnused(scorer) => {
                anyhow!("--embeddings are for --model text-cnn: leave them out for {scorer}")
            }
            RunError::NgramsUnused(scorer) => {
                anyhow!("--ngrams are for --model linear: leave them out for --model {scorer}")
            }
            RunError::PartTwice(part) => anyhow!(
                "--{part} gives a table for a part that --split also takes from TABLE: make that share 0"
            ),
            RunError::NoGroups => anyhow!(
                "--group-aware needs a protected attribute: name its column with --group or --protected"
            ),
            RunError::NoConstraints => {
                anyhow!("say what fair means, such as --subject-to 'cross_group <= 0.01'")
            }
            RunError::Guarantee(found) => {
                anyhow!("--guarantee is {found}; a number from 0.5 to below 1 is needed, such as 0.95")
            }
            RunError::NothingToGuarantee => {
                anyhow!("--guarantee needs a constraint, such as --subject-to 'cross_group <= 0.05'")
            }
            RunError::NoHarm(found) => {
                anyhow!("--no-harm is {found}; a number from 0 to below 1 is needed, such as 0.02")
            }
            RunError::NoHarmUnused => {
                anyhow!("--no-harm needs a constraint, such as --subject-to 'cross_group <= 0.05'")
            }
            RunError::Bound(found) => anyhow!("--bounds has {found}; bounds are numbers of at least 0"),
            RunError::Vectors(cause) => match &self.embeddings {
                Some(path) => anyhow::Error::from(cause).context(format!("--embeddings {}", path.display())),
                None => cause.into(),
            },
            other => other.into(),
        }
    }
}

impl TrainOptions {
    /// What is to be trained.
    pub fn request(&self) -> TrainRequest {
        // Of several kinds of a method, the one that --exposure names.
        let kind = format!("{} ({})", self.method.name, self.exposure.name());
        TrainRequest {
            fit: self.fit.request(),
            method: methods::named(&kind).unwrap_or(self.method),
            answer: if self.deterministic { Answer::Deterministic } else { self.answer },
            pictures: self.fit.page.html.is_some(),
            guarantee: self.guarantee,
            no_harm: self.no_harm,
        }
    }
}

impl CompareOptions {
    /// What is compared.
    pub fn request(&self) -> CompareRequest {
        CompareRequest { fit: self.fit.request(), methods: kinds(&self.methods) }
    }
}

impl FrontierOptions {
    /// What is traced.
    pub fn request(&self) -> FrontierRequest {
        FrontierRequest { compared: self.compared.request(), bounds: self.bounds.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Command, Options};
    use clap::Parser;

    fn trained(words: &str) -> TrainRequest {
        let line = format!("pairity train people.csv --label hired -o model.json {words}");
        match Options::try_parse_from(line.split_whitespace()).unwrap().command {
            Command::Train(options) => options.request(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn options_that_are_not_given_are_the_defaults_of_the_engine() {
        assert_eq!(trained(""), TrainRequest::default());
    }

    #[test]
    fn options_become_a_request() {
        let request = trained(
            "--model mlp --hidden 4,5 --group-aware --deterministic --split 1,0,0 --seed 3 --average queries \
             --method singh-joachims --exposure treatment --utilities sigmoid --html page.html --step-size 0.1",
        );
        assert_eq!((request.fit.scorer, &request.fit.hidden[..]), (ScorerKind::Mlp, &[4, 5][..]));
        assert_eq!(request.fit.group_aware, Some(GroupAware::Weights));
        assert_eq!((request.answer, request.fit.split), (Answer::Deterministic, Some([1.0, 0.0, 0.0])));
        assert_eq!((request.fit.seed, request.fit.measure.seed), (3, 3));
        assert_eq!(request.method.full_name, "singh-joachims (treatment)");
        assert!(request.pictures && request.fit.step_sizes == [0.1]);
    }
}
