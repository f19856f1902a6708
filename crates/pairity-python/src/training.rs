//! Training: as the command line does it, from columns in memory.

use crate::examples::{Examples, Measuring};
use crate::model::{Feature, Model};
use crate::prepare::{FitSettings, explain};
use crate::view::{Shown, View};
use pairity::run::TrainRequest;
use pairity::solvers::{RunProgress, Watch};
use pairity_report::TrainingReport;
use pyo3::prelude::*;
use std::cell::RefCell;

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
    let (outcome, raised) = py.detach(|| {
        let raised: RefCell<Option<PyErr>> = RefCell::new(None);
        let listen = |now: &RunProgress| match tell(progress.as_ref(), now) {
            Ok(()) => true,
            Err(error) => {
                raised.replace(Some(error));
                false
            }
        };
        let watch = Watch { progress: &listen, ..Watch::default() };
        (pairity::run::train(rows, &request, watch), raised.into_inner())
    });
    if let Some(error) = raised {
        return Err(error);
    }
    let run = outcome.map_err(explain)?;
    let model = Model { inner: run.model.clone() };
    let (document, view) = Shown::Training(Box::new(TrainingReport { run, file: None })).for_python(py)?;
    Ok((model, document, view))
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
