//! From columns in memory to what training needs, as the command line prepares it from files.

use crate::examples::average;
use crate::model::{Feature, columns};
use crate::refuse;
use pairity::examples::Examples as Rows;
use pairity::goals::{Goal, Objective, Problem};
use pairity::methods::{Method, Task};
use pairity::metrics::Settings;
use pairity::rates::Rate;
use pairity::scorers::{Architecture, Encoder, Features, GroupUse, Linear, Mlp};
use pairity::surrogates::Kind;
use pairity::tables::Column;
use pairity::training::{Answer, Data, Parts, Player, TrainSettings};
use pyo3::prelude::*;
use std::time::Duration;

/// The settings of a run, as a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    maximize: Option<String>,
    minimize: Option<String>,
    subject_to: Vec<String>,
    pub method: String,
    model: String,
    hidden: Vec<usize>,
    /// `weights`, `offsets`, or nothing.
    pub group_aware: Option<String>,
    /// What the columns of the groups are called.
    pub group_columns: Vec<String>,
    validation: f64,
    test: f64,
    multiplier_share: f64,
    standardize: bool,
    pub answer: String,
    player: String,
    surrogate: String,
    average: String,
    pub iterations: usize,
    snapshots: usize,
    step_sizes: Vec<f64>,
    batch: Option<usize>,
    time_limit: Option<f64>,
    pub seed: u64,
}

/// One of several words.
pub fn one_of<T: Copy>(name: &str, found: &str, choices: &[(&str, T)]) -> PyResult<T> {
    match choices.iter().find(|(word, _)| *word == found) {
        Some((_, choice)) => Ok(*choice),
        None => {
            let words: Vec<String> = choices.iter().map(|(word, _)| format!("{word:?}")).collect();
            Err(refuse(format!("{name} is {found:?}; it has to be one of {}", words.join(", "))))
        }
    }
}

/// Who weighs the constraints.
pub fn player(word: &str) -> PyResult<Player> {
    let players =
        [("swap", Player::Swap), ("external", Player::External), ("lagrangian", Player::Lagrangian)];
    one_of("player", word, &players)
}

/// What is descended in place of rates.
pub fn surrogate(word: &str) -> PyResult<Kind> {
    let kinds = [("hinge", Kind::Hinge), ("squared-hinge", Kind::SquaredHinge), ("ramp", Kind::Ramp)];
    one_of("surrogate", word, &kinds)
}

impl Options {
    /// The kind of scorer.
    pub fn model(&self) -> PyResult<&'static str> {
        one_of("model", &self.model, &[("linear", "linear"), ("mlp", "mlp")])
    }

    fn goal(&self) -> Goal {
        let objective = match (&self.maximize, &self.minimize) {
            (_, Some(text)) => Objective::Minimize(text.clone()),
            (text, None) => Objective::Maximize(text.clone().unwrap_or_else(|| "auc".to_owned())),
        };
        Goal { objective, subject_to: self.subject_to.clone() }
    }

    fn settings(&self) -> PyResult<TrainSettings> {
        let answers = [
            ("mixture", Answer::Mixture),
            ("deterministic", Answer::Deterministic),
            ("best", Answer::Best),
            ("last", Answer::Last),
        ];
        let limit = |seconds: f64| {
            Duration::try_from_secs_f64(seconds)
                .map_err(|_| refuse(format!("time_limit is {seconds}; it has to be a number of seconds")))
        };
        let mut settings = TrainSettings {
            iterations: self.iterations,
            snapshots: self.snapshots.min(self.iterations),
            player: player(&self.player)?,
            surrogate: surrogate(&self.surrogate)?,
            average: average(&self.average)?,
            batch: self.batch,
            seed: self.seed,
            time_limit: self.time_limit.map(limit).transpose()?,
            answer: one_of("answer", &self.answer, &answers)?,
            ..TrainSettings::default()
        };
        if !self.step_sizes.is_empty() {
            settings.step_sizes = self.step_sizes.clone();
        }
        Ok(settings)
    }
}

/// A method by its name, or by its full name.
pub fn method(word: &str) -> PyResult<Method> {
    match Method::ALL.into_iter().find(|method| method.name() == word || method.full_name() == word) {
        Some(method) => Ok(method),
        None => {
            let mut names = Method::ALL.map(|method| format!("{:?}", method.name())).to_vec();
            names.dedup();
            Err(refuse(format!("method is {word:?}; it has to be one of {}", names.join(", "))))
        }
    }
}

/// The goal as a problem on some examples.
pub fn problem(examples: &Rows, objective: &Objective, subject_to: &[String]) -> PyResult<Problem> {
    let goal = Goal { objective: objective.clone(), subject_to: subject_to.to_vec() };
    Problem::of_goal(&goal, &examples.vocabulary()).map_err(refuse)
}

/// The parts of the rows.
fn parts(examples: &Rows, options: &Options) -> PyResult<Parts> {
    let (validation, test) = (options.validation, options.test);
    let shares = [1.0 - validation - test, validation, test];
    Parts::split(examples, shares, options.multiplier_share, options.seed).map_err(refuse)
}

/// Everything that training needs.
pub struct Prepared {
    /// The parts of the rows.
    pub parts: Parts,
    /// The goal in the user's words.
    pub goal: Goal,
    /// The goal, with its constraints.
    pub problem: Problem,
    /// What columns become.
    pub encoder: Encoder,
    /// The features of all rows.
    pub features: Features,
    /// The shape of the scorer.
    pub scorer: Architecture,
    /// How it is trained.
    pub settings: TrainSettings,
    /// How it is measured.
    pub measure: Settings,
    /// What happened to the data on the way.
    pub notes: Vec<String>,
}

impl Prepared {
    /// Splits and encodes.
    pub fn new(
        examples: &Rows,
        features: &[(String, Feature)],
        options: &Options,
        measure: Settings,
    ) -> PyResult<Prepared> {
        let goal = options.goal();
        let problem = problem(examples, &goal.objective, &goal.subject_to)?;
        let settings = options.settings()?;
        let parts = parts(examples, options)?;
        let columns = columns(features)?;
        let references: Vec<&Column> = columns.iter().collect();
        let learned = parts.whole.example_rows();
        let encoder = Encoder::learn(&references, Some(learned), options.standardize).map_err(refuse)?;
        let encoded = encoder.encode_columns(&columns).map_err(refuse)?;
        let notes: Vec<String> = encoded.notes.iter().map(|note| note.to_string()).collect();
        let mut features = encoded.features;
        let k = examples.groups().len();
        let groups = match options.group_aware.as_deref() {
            None => GroupUse::Blind,
            // A continuous attribute is used as a feature.
            Some(_) if examples.is_continuous() => GroupUse::Blind,
            Some(_) if k == 0 => return Err(refuse("group_aware needs a protected attribute: give groups")),
            Some(way) => {
                let ways = [
                    ("weights", GroupUse::Weights { groups: k }),
                    ("offsets", GroupUse::Offsets { groups: k }),
                ];
                features = features.with_codes(examples.codes_by_row()).map_err(refuse)?;
                one_of("group_aware", way, &ways)?
            }
        };
        let regression = problem.uses(Rate::Mse);
        let width = features.width();
        let scorer = match options.model()? {
            "mlp" => Architecture::Mlp(Mlp { width, hidden: options.hidden.clone(), groups }),
            _ => {
                let start = if regression { 0.0 } else { 1.0 };
                Architecture::Linear(Linear { width, intercept: regression, start, groups })
            }
        };
        Ok(Prepared { parts, goal, problem, encoder, features, scorer, settings, measure, notes })
    }

    /// What a method is asked for.
    pub fn task(&self) -> Task<'_> {
        let data = Data {
            features: &self.features,
            train: &self.parts.train,
            multipliers: self.parts.multipliers.as_ref(),
            validation: self.parts.validation.as_ref(),
        };
        Task { problem: &self.problem, scorer: &self.scorer, data, settings: &self.settings }
    }
}
