//! Runs on columns in memory, as the command line does them: training a model, comparing methods on one split of
//! the rows, adjusting given scores.

use crate::columns::{Features, columns};
use crate::elsewhere::Driver;
use crate::examples::Examples;
use crate::model::{Adjustment, Model};
use crate::refuse;
use crate::settings::{choice, fit_request, get, goal, measuring, method};
use crate::view::{FRONT_END, Shown, shown};
use numpy::PyReadonlyArray1;
use pairity::examples::Column;
use pairity::methods::{self, MethodOptions, Stage};
use pairity::run::{self, AdjustRequest, CompareRequest, CompareWatch, Rows, RunError, TrainRequest};
use pairity::solvers::{Answer, RunProgress, Watch};
use pairity_report::{AdjustReport, PageAside, TrainingReport, adjust_html, adjust_json, adjust_text};
use pairity_report::{comparison_html, comparison_json, comparison_text};
use pairity_report::{training_html, training_json, training_text};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Arc, Mutex};

/// Trains a model. Returns it with its report: a document `pairity.train/1`, and what is shown of it.
///
/// `progress` hears (done, iterations, objective, violation) several times a second. What it raises, and
/// Ctrl-C, ends the training.
#[pyfunction]
pub fn train<'py>(
    py: Python<'py>,
    examples: &Examples,
    features: Features<'py>,
    settings: Bound<'py, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Model, Shown<'py>)> {
    trained(py, rows(examples, columns(&features)?, &settings)?, &settings, progress)
}

/// The same with features that a [driver](Driver) knows of.
#[pyfunction]
pub fn train_elsewhere<'py>(
    py: Python<'py>,
    examples: &Examples,
    driver: Py<PyAny>,
    settings: Bound<'py, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Model, Shown<'py>)> {
    let mut rows = rows(examples, Vec::new(), &settings)?;
    rows.elsewhere = Some(Box::new(Driver(Arc::new(driver))));
    trained(py, rows, &settings, progress)
}

fn trained<'py>(
    py: Python<'py>,
    rows: Rows,
    settings: &Bound<'py, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Model, Shown<'py>)> {
    let request = TrainRequest {
        fit: fit_request(settings)?,
        method: method(&get::<String>(settings, "method")?, |_| true)?,
        answer: choice(settings, "answer", Answer::NAMES)?,
        pictures: false,
        guarantee: get(settings, "guarantee")?,
        no_harm: get(settings, "no_harm")?,
    };
    let run = listening(py, progress, |progress| {
        run::train(rows, &request, Watch { progress, ..Watch::default() })
    })?;
    let model = Model { inner: run.model.clone() };
    let report = TrainingReport { run, file: None };
    let html =
        |report: &_| training_html(report, &PageAside { front_end: FRONT_END, ..PageAside::default() });
    Ok((model, shown(py, report, training_json, training_text, "Training", html)?))
}

/// All methods, or some, on the last part of the rows. Returns a document `pairity.compare/1`, and what is
/// shown of it.
#[pyfunction]
pub fn compare<'py>(
    py: Python<'py>,
    examples: &Examples,
    features: Features<'py>,
    methods: Vec<String>,
    settings: Bound<'py, PyDict>,
) -> PyResult<Shown<'py>> {
    let mut methods = methods.iter().map(|word| method(word, |_| true)).collect::<PyResult<Vec<_>>>()?;
    if methods.is_empty() {
        methods.extend(methods::ALL.iter().filter(|method| method.given_only.is_none()));
        methods.sort_by_key(|method| method.stage != Stage::Unconstrained);
    }
    let request = CompareRequest { fit: fit_request(&settings)?, methods };
    let rows = rows(examples, columns(&features)?, &settings)?;
    let outcome = listening(py, None, |progress| {
        // Signals are heard on the calling thread alone.
        let watch = CompareWatch { side_by_side: false, progress, ..CompareWatch::default() };
        run::compare(rows, &request, watch)
    })?;
    let html = |outcome: &_| comparison_html(outcome, None);
    shown(py, outcome, comparison_json, comparison_text, "Comparison", html)
}

/// Chooses an adjustment on a part of the examples and tests it on the others. Returns it with a
/// document `pairity.adjust/1`, and what is shown of it.
#[pyfunction]
pub fn adjust<'py>(
    py: Python<'py>,
    examples: &Examples,
    scores: PyReadonlyArray1<'py, f64>,
    settings: Bound<'py, PyDict>,
) -> PyResult<(Adjustment, Shown<'py>)> {
    let request = AdjustRequest {
        examples: &examples.inner,
        scores: scores.as_slice()?,
        groups: examples.groups.as_ref(),
        method: method(&get::<String>(&settings, "method")?, |method| method.adjuster.is_some())?,
        goal: &goal(&settings)?,
        folds: &[],
        options: MethodOptions { strength: get(&settings, "strength")?, ..MethodOptions::default() },
        tune: get(&settings, "tune")?,
        measure: measuring(&settings)?,
    };
    let run = py.detach(|| run::adjust(&request)).map_err(explain)?;
    let adjustment = Adjustment { inner: run.adjusted.adjustment.clone() };
    let report = AdjustReport { run, written: None, model: None };
    let html = |report: &_| adjust_html(report, FRONT_END);
    Ok((adjustment, shown(py, report, adjust_json, adjust_text, "Adjusted scores", html)?))
}

/// The rows of a run.
fn rows(examples: &Examples, mut columns: Vec<Column>, settings: &Bound<'_, PyDict>) -> PyResult<Rows> {
    let text = get::<Option<String>>(settings, "text")?.map(|name| {
        let at = columns.iter().position(|column| column.name == name);
        at.map(|at| columns.remove(at)).ok_or_else(|| {
            refuse(format!("text is {name:?}, but X has no column of this name: give a table that has it"))
        })
    });
    let text = text.transpose()?;
    let mut rows = Rows { text, ..Rows::new(examples.inner.clone(), columns) };
    rows.group_columns = get(settings, "group_columns")?;
    Ok(rows)
}

/// What hears of the progress; false ends the run.
type Listener<'a> = &'a (dyn Fn(&RunProgress) -> bool + Sync);

/// Runs without Python's lock. What `progress` raises, and Ctrl-C, ends the run.
fn listening<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    run: impl FnOnce(Listener) -> Result<T, RunError> + Send,
) -> PyResult<T> {
    let (outcome, raised) = py.detach(|| {
        let raised: Mutex<Option<PyErr>> = Mutex::new(None);
        let listen = |now: &RunProgress| match tell(progress.as_ref(), now) {
            Ok(()) => raised.lock().is_ok_and(|raised| raised.is_none()),
            Err(error) => {
                raised.lock().map(|mut raised| raised.replace(error)).ok();
                false
            }
        };
        (run(&listen), raised.into_inner().ok().flatten())
    });
    raised.map_or_else(|| outcome.map_err(explain), Err)
}

/// Tells of the progress, and hears of Ctrl-C.
fn tell(progress: Option<&Py<PyAny>>, now: &RunProgress) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        if let Some(progress) = progress {
            progress.call1(py, (now.done, now.iterations, now.objective, now.violation))?;
        }
        Ok(())
    })
}

/// An error of the engine in words of the package.
fn explain(error: RunError) -> PyErr {
    match error {
        RunError::NoGroups => refuse("group_aware needs a protected attribute: give groups"),
        RunError::NoConstraints => refuse("say what fair means, such as subject_to=['cross_group <= 0.01']"),
        RunError::StrengthUnused(method) => {
            refuse(format!("strength belongs to method quantile-match, not to {method}"))
        }
        RunError::Guarantee(found) => {
            refuse(format!("guarantee is {found}; a number from 0.5 to below 1 is needed, such as 0.95"))
        }
        RunError::NoHarm(found) => {
            refuse(format!("no_harm is {found}; a number from 0 to below 1 is needed, such as 0.02"))
        }
        RunError::Tune(found) => {
            refuse(format!("tune is {found}; a number above 0 and up to 1 is needed, such as 0.5"))
        }
        other => refuse(other),
    }
}
