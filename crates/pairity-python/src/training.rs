//! Training: as the command line does it, from columns in memory.

use crate::examples::{Examples, Measuring, average};
use crate::model::{Feature, Model, columns};
use crate::refuse;
use pairity::goals::{Constraint, parse_constraint, parse_maximize, parse_minimize};
use pairity::methods::{Fitted, Method, Task, fit};
use pairity::rates::Rate;
use pairity::scorers::{Architecture, Encoder, Goal, GroupUse, Linear, Mlp, ModelGroups, Objective};
use pairity::surrogates::Kind;
use pairity::tables::Column;
use pairity::training::{Answer, Data, Player, Problem, Progress, TrainSettings, Watch};
use pairity_report::{Look, TrainingPart, TrainingReport, training_json, training_text};
use pyo3::prelude::*;
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// The settings of a run, as a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    maximize: Option<String>,
    minimize: Option<String>,
    subject_to: Vec<String>,
    method: String,
    model: String,
    hidden: Vec<usize>,
    /// `weights`, `offsets`, or nothing.
    group_aware: Option<String>,
    /// What the columns of the groups are called.
    group_columns: Vec<String>,
    validation: f64,
    multiplier_share: f64,
    standardize: bool,
    answer: String,
    player: String,
    surrogate: String,
    average: String,
    iterations: usize,
    snapshots: usize,
    step_sizes: Vec<f64>,
    batch: Option<usize>,
    time_limit: Option<f64>,
    seed: u64,
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
pub fn problem(
    examples: &pairity::examples::Examples,
    objective: &Objective,
    subject_to: &[String],
) -> PyResult<Problem> {
    let words = examples.vocabulary();
    let (parsed, maximize) = match objective {
        Objective::Maximize(text) => (parse_maximize(text, &words), true),
        Objective::Minimize(text) => (parse_minimize(text, &words), false),
    };
    let parse = |text: &String| parse_constraint(text, &words).map_err(refuse);
    let constraints: Vec<Constraint> = subject_to.iter().map(parse).collect::<PyResult<_>>()?;
    Problem::new(&parsed.map_err(refuse)?, maximize, &constraints).map_err(refuse)
}

/// The parts of the rows.
struct Parts {
    train: pairity::examples::Examples,
    multipliers: Option<pairity::examples::Examples>,
    validation: Option<pairity::examples::Examples>,
    whole: pairity::examples::Examples,
}

impl Parts {
    fn new(examples: &pairity::examples::Examples, options: &Options) -> PyResult<Parts> {
        let shares = [1.0 - options.validation, options.validation, 0.0];
        let mut parts = examples.split(&shares, options.seed).map_err(refuse)?.into_iter();
        let whole = parts.next().flatten().ok_or_else(|| refuse("the training part is empty"))?;
        let validation = parts.next().flatten();
        let (train, multipliers) = match options.multiplier_share {
            0.0 => (whole.clone(), None),
            share => {
                // Another seed than that of the split, whose order this would only repeat.
                let mut parts =
                    whole.split(&[1.0 - share, share], !options.seed).map_err(refuse)?.into_iter();
                let train = parts.next().flatten().ok_or_else(|| refuse("the training part is empty"))?;
                (train, parts.next().flatten())
            }
        };
        Ok(Parts { train, multipliers, validation, whole })
    }
}

/// Trains a model. Returns it with its report as a JSON document and as text.
///
/// `progress` hears (done, iterations, objective, violation) several times a second. What it raises, and
/// Ctrl-C, ends the training.
#[pyfunction]
pub fn train<'py>(
    py: Python<'py>,
    examples: &Examples,
    features: Vec<(String, Feature<'py>)>,
    options: Options,
    measuring: Measuring,
    progress: Option<Py<PyAny>>,
    width: usize,
) -> PyResult<(Model, String, String)> {
    let inner = &examples.inner;
    let goal = options.goal();
    let method = method(&options.method)?;
    let problem = problem(inner, &goal.objective, &goal.subject_to)?;
    let settings = options.settings()?;
    let measure = measuring.settings()?;
    let parts = Parts::new(inner, &options)?;

    let columns = columns(&features)?;
    let references: Vec<&Column> = columns.iter().collect();
    let learned = parts.whole.example_rows();
    let encoder = Encoder::learn(&references, Some(learned), options.standardize).map_err(refuse)?;
    let encoded = encoder.encode_columns(&columns).map_err(refuse)?;
    let notes: Vec<String> = encoded.notes.iter().map(|note| note.to_string()).collect();
    let mut features = encoded.features;
    let k = inner.groups().len();
    let groups = match options.group_aware.as_deref() {
        None => GroupUse::Blind,
        // A continuous attribute is used as a feature.
        Some(_) if inner.is_continuous() => GroupUse::Blind,
        Some(_) if k == 0 => return Err(refuse("group_aware needs a protected attribute: give groups")),
        Some(way) => {
            let ways =
                [("weights", GroupUse::Weights { groups: k }), ("offsets", GroupUse::Offsets { groups: k })];
            features = features.with_codes(inner.codes_by_row()).map_err(refuse)?;
            one_of("group_aware", way, &ways)?
        }
    };
    let regression = problem.uses(Rate::Mse);
    let width_of = features.width();
    let scorer = match one_of("model", &options.model, &[("linear", true), ("mlp", false)])? {
        true => {
            let start = if regression { 0.0 } else { 1.0 };
            Architecture::Linear(Linear { width: width_of, intercept: regression, start, groups })
        }
        false => Architecture::Mlp(Mlp { width: width_of, hidden: options.hidden.clone(), groups }),
    };

    let started = Instant::now();
    let data = Data {
        features: &features,
        train: &parts.train,
        multipliers: parts.multipliers.as_ref(),
        validation: parts.validation.as_ref(),
    };
    let task = Task { problem: &problem, scorer: &scorer, data, settings: &settings };
    let (fitted, raised) = py.detach(|| {
        let raised: RefCell<Option<PyErr>> = RefCell::new(None);
        let listen = |now: &Progress| match tell(progress.as_ref(), now) {
            Ok(()) => true,
            Err(error) => {
                raised.replace(Some(error));
                false
            }
        };
        let watch = Watch { progress: &listen, ..Watch::default() };
        (fit(method, &task, watch), raised.into_inner())
    });
    if let Some(error) = raised {
        return Err(error);
    }
    let fitted = fitted.map_err(refuse)?;
    let seconds = started.elapsed().as_secs_f64();
    let mut evaluated = Vec::new();
    for (name, part) in [("train", Some(&parts.whole)), ("validation", parts.validation.as_ref())] {
        if let Some(part) = part {
            let evaluation = py
                .detach(|| fitted.evaluate(&problem, &scorer, part, &features, &measure))
                .map_err(refuse)?;
            evaluated.push(TrainingPart { name, evaluation });
        }
    }
    let Fitted { trained, after } = fitted;
    let uses_groups = groups.groups().is_some() || after.is_some();
    let names = inner.groups().to_vec();
    let model = pairity::scorers::Model {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        architecture: scorer,
        encoder,
        groups: uses_groups.then(|| ModelGroups { columns: options.group_columns.clone(), names }),
        query: None,
        components: trained.components.clone(),
        goal: goal.clone(),
        seed: options.seed,
        status: trained.status.name().to_owned(),
        after,
    };
    let report = TrainingReport {
        goal,
        method: method.name(),
        model: if options.model == "mlp" { "mlp" } else { "linear" },
        features: model.encoder.names(),
        group_aware: uses_groups || options.group_aware.is_some(),
        seed: options.seed,
        iterations: options.iterations,
        seconds,
        trained,
        parts: evaluated,
        tables: Vec::new(),
        notes,
        file: String::new(),
        deterministic: options.answer == "deterministic",
    };
    let documents = (
        training_json(&report).to_string(),
        training_text(&report, &Look { color: false, pictures: false, width }),
    );
    Ok((Model { inner: model }, documents.0, documents.1))
}

/// Tells of the progress, and hears of Ctrl-C.
fn tell(progress: Option<&Py<PyAny>>, now: &Progress) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        if let Some(progress) = progress {
            progress.call1(py, (now.done, now.iterations, now.objective, now.violation))?;
        }
        Ok(())
    })
}
