//! From dictionaries of settings to what the engine wants.

use crate::refuse;
use pairity::goals::Goal;
use pairity::learners::{ScorerKind, text::Ngrams};
use pairity::methods::{self, Method};
use pairity::metrics::Settings;
use pairity::pairs::SurrogateKind;
use pairity::rates::{Average, Ties};
use pairity::run::{FitRequest, GroupAware};
use pairity::solvers::{Player, Select, SolverKind, Within};
use pyo3::conversion::FromPyObjectOwned;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::time::Duration;

/// A setting of a dictionary.
pub fn get<'py, T: FromPyObjectOwned<'py>>(settings: &Bound<'py, PyDict>, name: &str) -> PyResult<T> {
    settings.as_any().get_item(name)?.extract().map_err(Into::into)
}

/// A setting that is one of the names in a table of the engine.
pub fn choice<T: Copy>(settings: &Bound<'_, PyDict>, name: &str, choices: &[(&str, T, &str)]) -> PyResult<T> {
    one_of(name, &get::<String>(settings, name)?, choices)
}

/// The same of what may be left out.
fn some_choice<T: Copy>(
    settings: &Bound<'_, PyDict>,
    name: &str,
    choices: &[(&str, T, &str)],
) -> PyResult<Option<T>> {
    get::<Option<String>>(settings, name)?.map(|word| one_of(name, &word, choices)).transpose()
}

fn one_of<T: Copy>(name: &str, found: &str, choices: &[(&str, T, &str)]) -> PyResult<T> {
    match choices.iter().find(|(word, ..)| *word == found) {
        Some((_, choice, _)) => Ok(*choice),
        None => {
            let words: Vec<String> = choices.iter().map(|(word, ..)| format!("{word:?}")).collect();
            Err(refuse(format!("{name} is {found:?}; it has to be one of {}", words.join(", "))))
        }
    }
}

/// How rates of queries become one rate.
pub fn average(settings: &Bound<'_, PyDict>) -> PyResult<Average> {
    let name: String = get(settings, "average")?;
    let wrong = || refuse(format!("average is {name:?}; it has to be \"pairs\" or \"queries\""));
    Average::named(&name).ok_or_else(wrong)
}

/// How rates are measured.
pub fn measuring(settings: &Bound<'_, PyDict>) -> PyResult<Settings> {
    let (ties, confidence): (String, f64) = (get(settings, "ties")?, get(settings, "confidence")?);
    let wrong = || refuse(format!("ties is {ties:?}; it has to be \"half\" or \"strict\""));
    let ties = Ties::named(&ties).ok_or_else(wrong)?;
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(refuse(format!(
            "confidence is {confidence}; a number between 0 and 1 is needed, such as 0.95 (0 and 1 themselves \
             don't make an interval)"
        )));
    }
    let (min_pairs, seed) = (get(settings, "min_pairs")?, get(settings, "seed")?);
    Ok(Settings { average: average(settings)?, ties, confidence, min_pairs, seed })
}

/// What is to be large or small, and what is to hold.
pub fn goal(settings: &Bound<'_, PyDict>) -> PyResult<Goal> {
    Ok(Goal::new(get(settings, "maximize")?, get(settings, "minimize")?, get(settings, "subject_to")?))
}

/// A method by its name, or by its full name, of those that will do.
pub fn method(word: &str, fits: fn(&Method) -> bool) -> PyResult<&'static Method> {
    methods::named(word).filter(|method| fits(method)).ok_or_else(|| {
        let fitting = methods::by_name().filter(|method| fits(method));
        let names: Vec<String> = fitting.map(|method| format!("{:?}", method.name)).collect();
        refuse(format!("method is {word:?}; it has to be one of {}", names.join(", ")))
    })
}

/// What is trained, for what, and how. The settings are also those of measuring.
pub fn fit_request(settings: &Bound<'_, PyDict>) -> PyResult<FitRequest> {
    // Networks of texts are trained by the command line only.
    let kinds: Vec<_> =
        ScorerKind::NAMES.iter().copied().filter(|(_, kind, _)| !kind.defaults().needs_text).collect();
    let limit = |seconds: f64| {
        Duration::try_from_secs_f64(seconds)
            .map_err(|_| refuse(format!("time_limit is {seconds}; it has to be a number of seconds")))
    };
    let (validation, test): (f64, f64) = (get(settings, "validation")?, get(settings, "test")?);
    Ok(FitRequest {
        goal: goal(settings)?,
        scorer: choice(settings, "model", &kinds)?,
        hidden: get(settings, "hidden")?,
        ngrams: some_choice(settings, "ngrams", Ngrams::NAMES)?,
        vocabulary: get(settings, "vocabulary")?,
        group_aware: some_choice(settings, "group_aware", GroupAware::NAMES)?,
        standardize: get(settings, "standardize")?,
        split: Some([1.0 - validation - test, validation, test]),
        multiplier_share: get(settings, "multiplier_share")?,
        solver: some_choice(settings, "solver", SolverKind::NAMES)?,
        select: some_choice(settings, "select", Select::NAMES)?,
        l2: get(settings, "l2")?,
        player: choice(settings, "player", Player::NAMES)?,
        surrogate: choice(settings, "surrogate", SurrogateKind::NAMES)?,
        iterations: get(settings, "iterations")?,
        snapshots: get(settings, "snapshots")?,
        step_sizes: get(settings, "step_sizes")?,
        batch: get(settings, "batch")?,
        patience: get(settings, "patience")?,
        within: get::<Option<(usize, usize)>>(settings, "within")?
            .map(|(parts, steps)| Within { parts, steps }),
        time_limit: get::<Option<f64>>(settings, "time_limit")?.map(limit).transpose()?,
        measure: measuring(settings)?,
        seed: get(settings, "seed")?,
        ..FitRequest::default()
    })
}
