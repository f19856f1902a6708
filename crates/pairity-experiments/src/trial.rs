//! One training run on one split of a data set.

use crate::dataset::Dataset;
use pairity::examples::{Column, Examples, ExamplesError, SplitError, Values};
use pairity::goals::{Goal, Objective, Problem, ProblemError};
use pairity::learners::text::{TextCnn, TextLayout, VOCABULARY};
use pairity::learners::{Architecture, EncodeError, Encoder, Features, FeaturesError, GroupUse, Linear, Mlp};
use pairity::methods::{
    Fitted, Method, MethodError, MethodOptions, Task, constrained::Constrained, fit_from,
};
use pairity::metrics::Settings;
use pairity::rates::{Average, Rate};
use pairity::solvers::{Data, Evaluation, Parts, TrainError, TrainSettings, Trained, Watch, reach};
use std::time::{Duration, Instant};

/// Why a run could not be made.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum TrialError {
    /// The examples.
    Examples(#[from] ExamplesError),
    /// Their split.
    Split(#[from] SplitError),
    /// The goal.
    Problem(#[from] ProblemError),
    /// The columns.
    Encode(#[from] EncodeError),
    /// The features.
    Features(#[from] FeaturesError),
    /// Training.
    Train(#[from] TrainError),
    /// The method.
    Method(#[from] MethodError),
}

/// The kind of scorer.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Linear, with all weights starting at the same number.
    Linear {
        /// That number.
        start: f64,
    },
    /// A network with hidden layers.
    Mlp {
        /// Their sizes.
        hidden: Vec<usize>,
    },
    /// Linear in the words that a text has, with all weights starting at 0.
    Words,
    /// A convolutional network that reads the start of a text.
    TextCnn {
        /// How many words.
        length: usize,
    },
}

/// What is to be trained, and how.
///
/// ```
/// use pairity_experiments::simulated::Task;
/// use pairity_experiments::trial::Trial;
/// use pairity::solvers::TrainSettings;
///
/// let data = Task::two_groups().draw(200, 1).dataset("simulated");
/// let mut trial = Trial::new("auc", &["cross_group <= 0.05"]);
/// trial.settings = TrainSettings { iterations: 100, step_sizes: vec![0.1], ..TrainSettings::default() };
/// let result = trial.run(&data)?;
/// assert_eq!(result.parts.len(), 3);
/// # Ok::<(), pairity_experiments::trial::TrialError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The goal.
    pub goal: Goal,
    /// How the goal is to be reached.
    pub method: &'static dyn Method,
    /// The kind of scorer.
    pub shape: Shape,
    /// Whether each group has weights of its own.
    pub group_aware: bool,
    /// How it is trained; its seed is also that of the split.
    pub settings: TrainSettings,
    /// Shares of training, validation and test.
    pub split: [f64; 3],
}

/// A part of the rows with what is expected of the model there.
#[derive(Debug, Clone, PartialEq)]
pub struct PartResult {
    /// `train`, `validation` or `test`.
    pub name: &'static str,
    /// How the model does.
    pub evaluation: Evaluation,
}

/// What came out of a run.
#[derive(Debug, Clone)]
pub struct TrialResult {
    /// The shape of the scorers.
    pub scorer: Architecture,
    /// The columns' encoder.
    pub encoder: Encoder,
    /// The model.
    pub fitted: Fitted,
    /// The parts that are there.
    pub parts: Vec<PartResult>,
    /// Time that training took.
    pub time: Duration,
}

impl TrialResult {
    /// One part.
    pub fn part(&self, name: &str) -> Option<&Evaluation> {
        self.parts.iter().find(|part| part.name == name).map(|part| &part.evaluation)
    }
}

impl Trial {
    /// The paper's protocol with a linear scorer: half of the queries to train on, a quarter to select on
    /// and a quarter to test on, all five step sizes.
    pub fn new(maximize: &str, subject_to: &[&str]) -> Trial {
        Trial {
            goal: Goal {
                objective: Objective::Maximize(maximize.to_owned()),
                subject_to: subject_to.iter().map(|text| (*text).to_owned()).collect(),
            },
            method: &Constrained,
            shape: Shape::Linear { start: 1.0 },
            group_aware: false,
            settings: TrainSettings::default(),
            split: [0.5, 0.25, 0.25],
        }
    }

    /// Trains on one split of the data, and evaluates on all its parts.
    ///
    /// # Errors
    /// A goal that does not fit the data, or a split that leaves a rate without pairs.
    pub fn run(&self, data: &Dataset) -> Result<TrialResult, TrialError> {
        self.run_from(data, None)
    }

    /// The same, where post-processing starts from a scorer that was trained before on the same split.
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
    pub fn run_from(
        &self,
        data: &Dataset,
        unconstrained: Option<&Trained>,
    ) -> Result<TrialResult, TrialError> {
        let examples = data.examples()?;
        let problem = self.problem(&examples)?;
        let parts = Parts::split(&examples, self.split, 0.0, self.settings.seed)?;
        let (encoder, mut features) = self.encoded(data, parts.train.example_rows())?;
        let groups = match (&data.groups, self.group_aware) {
            (Some(groups), true) => {
                features = features.with_groups(groups)?;
                GroupUse::Weights { groups: groups.names().len() }
            }
            _ => GroupUse::Blind,
        };
        let scorer = self.scorer(&features, groups, problem.uses(Rate::Mse));
        let started = Instant::now();
        let Parts { train, validation, .. } = &parts;
        let given = Data { features: &features, train, multipliers: None, validation: validation.as_ref() };
        let task = Task { problem: &problem, scorer: &scorer, data: given, settings: &self.settings };
        let fitted =
            fit_from(self.method, &MethodOptions::default(), &task, unconstrained, Watch::default())?;
        let time = started.elapsed();
        let measure = Settings { average: self.settings.average, ..Settings::default() };
        let mut results = Vec::new();
        for (name, part) in parts.named() {
            let evaluation = fitted.evaluate(&problem, &scorer, part, &features, &measure)?;
            results.push(PartResult { name, evaluation });
        }
        Ok(TrialResult { scorer, encoder, fitted, parts: results, time })
    }

    /// The best that any mixture of linear scorers of two features reaches for the goal, with no more
    /// violation than the least of any: 720 directions and a linear program.
    ///
    /// # Errors
    /// A goal that does not fit the data.
    pub fn limit_of_directions(&self, data: &Dataset) -> Result<f64, TrialError> {
        const DIRECTIONS: u32 = 720;
        let examples = data.examples()?;
        let problem = self.problem(&examples)?;
        let columns: Vec<_> = data.columns.iter().collect();
        let features = Encoder::learn(&columns, None, false)?.encode(&data.columns)?.features;
        let scorers: Vec<Vec<f64>> = (0..DIRECTIONS)
            .map(|step| {
                let (y, x) = (f64::from(step) * std::f64::consts::TAU / f64::from(DIRECTIONS)).sin_cos();
                features.values().chunks(2).map(|f| x * f[0] + y * f[f.len() - 1]).collect()
            })
            .collect();
        Ok(reach(&problem, &examples, &scorers, self.settings.average)?.objective)
    }

    /// The same with nothing bounded.
    pub fn without_constraints(&self) -> Trial {
        let goal = Goal { subject_to: Vec::new(), ..self.goal.clone() };
        Trial { goal, ..self.clone() }
    }

    /// The features of all rows, by an encoder that is learned from some.
    fn encoded(&self, data: &Dataset, rows: &[u32]) -> Result<(Encoder, Features), TrialError> {
        let layout = match self.shape {
            Shape::Words => TextLayout::Bag,
            Shape::TextCnn { length } => TextLayout::Sequence { length },
            Shape::Linear { .. } | Shape::Mlp { .. } => {
                let columns: Vec<_> = data.columns.iter().collect();
                let encoder = Encoder::learn(&columns, Some(rows), data.standardize)?;
                let features = encoder.encode(&data.columns)?.features;
                return Ok((encoder, features));
            }
        };
        let levels = data.texts.clone().unwrap_or_default();
        let values = Values::Categories { codes: (0..levels.len() as u32).collect(), levels };
        let column = Column { name: "text".to_owned(), values };
        let encoder = Encoder::default().with_text(&column, Some(rows), VOCABULARY, layout)?;
        let features = encoder.encode(&[column])?.features;
        Ok((encoder, features))
    }

    fn problem(&self, examples: &Examples) -> Result<Problem, TrialError> {
        Ok(Problem::of_goal(&self.goal, &examples.vocabulary())?)
    }

    fn scorer(&self, features: &Features, groups: GroupUse, regression: bool) -> Architecture {
        let width = features.width();
        match &self.shape {
            Shape::Linear { start } => {
                Architecture::Linear(Linear { width, intercept: regression, start: *start, groups })
            }
            Shape::Mlp { hidden } => Architecture::Mlp(Mlp { width, hidden: hidden.clone(), groups }),
            Shape::Words => Architecture::Linear(Linear { width, intercept: regression, start: 0.0, groups }),
            Shape::TextCnn { .. } => {
                Architecture::TextCnn(TextCnn { words: width, groups, ..TextCnn::default() })
            }
        }
    }

    /// The average that rates are trained for and reported with.
    pub fn average(&self) -> Average {
        self.settings.average
    }
}
