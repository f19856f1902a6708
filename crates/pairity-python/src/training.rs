//! Training: as the command line does it, from columns in memory.

use crate::examples::{Examples, Measuring};
use crate::model::{Feature, Model};
use crate::prepare::{FitSettings, explain};
use crate::view::{Shown, View};
use pairity::run::{RunError, TrainRequest};
use pairity::solvers::{RunProgress, Watch};
use pairity_report::TrainingReport;
use pyo3::prelude::*;
use std::sync::Mutex;

/// Trains a model. Returns it with its report: a document `pairity.train/1`, and what is shown of it.
///
/// `progress` hears (done, iterations, objective, violation) several times a second. What it raises, and
/// Ctrl-C, ends the training.
#[pyfunction]
pub fn train<'py>(
    py: Python<'py>,
    examples: &Examples,
    features: Vec<(String, Feature<'py>)>,
    options: FitSettings,
    measuring: Measuring,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Model, Bound<'py, PyAny>, View)> {
    let request = TrainRequest {
        fit: options.request(&measuring)?,
        method: options.method()?,
        answer: options.answer()?,
        pictures: false,
    };
    let rows = options.rows(examples, &features)?;
    let run = listening(py, progress, |progress| {
        pairity::run::train(rows, &request, Watch { progress, ..Watch::default() })
    })?;
    let model = Model { inner: run.model.clone() };
    let (document, view) = Shown::Training(Box::new(TrainingReport { run, file: None })).for_python(py)?;
    Ok((model, document, view))
}

/// What hears of the progress; false ends the run.
type Listener<'a> = &'a (dyn Fn(&RunProgress) -> bool + Sync);

/// Runs without Python's lock. What `progress` raises, and Ctrl-C, ends the run.
pub fn listening<T: Send>(
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
