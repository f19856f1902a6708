//! Training: as the command line does it, from columns in memory.

use crate::examples::{Examples, Measuring};
use crate::model::{Feature, Model};
use crate::prepare::{Options, Prepared, method};
use crate::refuse;
use crate::view::{Shown, View};
use pairity::methods::{Fitted, fit};
use pairity::scorers::ModelGroups;
use pairity::training::{Progress, Watch};
use pairity_report::{TrainingPart, TrainingReport};
use pyo3::prelude::*;
use std::cell::RefCell;
use std::time::Instant;

/// Trains a model. Returns it with its report: a document `pairity.train/1`, and what is shown of it.
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
) -> PyResult<(Model, Bound<'py, PyAny>, View)> {
    let method = method(&options.method)?;
    let prepared = Prepared::new(&examples.inner, &features, &options, measuring.settings()?)?;
    let task = prepared.task();
    let started = Instant::now();
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
    let Prepared { parts, goal, problem, encoder, features, scorer, measure, notes, .. } = prepared;
    let mut evaluated = Vec::new();
    for (name, part) in parts.named() {
        let evaluation =
            py.detach(|| fitted.evaluate(&problem, &scorer, part, &features, &measure)).map_err(refuse)?;
        evaluated.push(TrainingPart { name, evaluation });
    }
    let Fitted { trained, after } = fitted;
    let uses_groups = scorer.groups().groups().is_some() || after.is_some();
    let names = examples.inner.groups().to_vec();
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
        model: options.model()?,
        features: model.encoder.names(),
        group_aware: uses_groups || options.group_aware.is_some(),
        seed: options.seed,
        iterations: options.iterations,
        seconds,
        trained,
        parts: evaluated,
        tables: Vec::new(),
        notes,
        file: None,
        deterministic: options.answer == "deterministic",
    };
    let (document, view) = Shown::Training(Box::new(report)).for_python(py)?;
    Ok((Model { inner: model }, document, view))
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
