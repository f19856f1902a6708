//! Comparing methods on one split of the rows, as `pairity compare` does.

use crate::examples::{Examples, Measuring};
use crate::model::Feature;
use crate::prepare::{Options, Prepared, method};
use crate::refuse;
use crate::view::{Shown, View};
use pairity::examples::Examples as Rows;
use pairity::methods::{Fitted, Method, MethodError, fit_from};
use pairity::training::{Progress, Trained, Watch};
use pairity_report::{ComparisonReport, ComparisonSetup, MethodOutcome, MethodResult};
use pyo3::prelude::*;
use std::cell::RefCell;
use std::time::Instant;

/// All methods, or some, on the last part of the rows. Returns a document `pairity.compare/1`, and what is
/// shown of it.
#[pyfunction]
pub fn compare<'py>(
    py: Python<'py>,
    examples: &Examples,
    features: Vec<(String, Feature<'py>)>,
    methods: Vec<String>,
    options: Options,
    measuring: Measuring,
) -> PyResult<(Bound<'py, PyAny>, View)> {
    let methods: Vec<Method> = match methods.is_empty() {
        true => Method::ALL.to_vec(),
        false => methods.iter().map(|word| method(word)).collect::<PyResult<_>>()?,
    };
    let prepared = Prepared::new(&examples.inner, &features, &options, measuring.settings()?)?;
    if prepared.goal.subject_to.is_empty() {
        return Err(refuse("say what fair means, such as subject_to=['cross_group <= 0.01']"));
    }
    let (part, rows) = prepared.parts.named().last().unwrap_or(("train", &prepared.parts.whole));
    let started = Instant::now();
    let base = heard(py, &prepared, Method::Unconstrained, None)?.map_err(refuse)?.trained;
    let base = (base, started.elapsed().as_secs_f64());
    let mut results = Vec::new();
    for method in methods {
        let outcome = match run(py, &prepared, method, &base, rows)? {
            Ok(outcome) => Ok(outcome),
            Err(MethodError::DoesNotApply { reason, .. }) => Err(reason),
            Err(error @ MethodError::NoPairs { .. }) => Err(error.to_string()),
            Err(error) => return Err(refuse(error)),
        };
        results.push(MethodResult { method: method.full_name().to_owned(), outcome });
    }
    let setup = ComparisonSetup {
        goal: prepared.goal.clone(),
        part,
        rows: rows.len(),
        model: options.model()?,
        seed: options.seed,
        confidence: prepared.measure.confidence,
        tables: Vec::new(),
        notes: prepared.notes.clone(),
    };
    Shown::Comparison(Box::new(ComparisonReport::new(setup, results))).for_python(py)
}

/// One method; post-processing starts from the unconstrained scorer, whose time counts.
fn run(
    py: Python<'_>,
    prepared: &Prepared,
    method: Method,
    base: &(Trained, f64),
    rows: &Rows,
) -> PyResult<Result<MethodOutcome, MethodError>> {
    let started = Instant::now();
    let fitted = match heard(py, prepared, method, Some(&base.0))? {
        Ok(fitted) => fitted,
        Err(error) => return Ok(Err(error)),
    };
    let based = method.is_post_processing() || method == Method::Unconstrained;
    let seconds = started.elapsed().as_secs_f64() + if based { base.1 } else { 0.0 };
    let Prepared { problem, scorer, features, measure, .. } = prepared;
    let test = py.detach(|| fitted.evaluate(problem, scorer, rows, features, measure));
    Ok(test.map(|test| MethodOutcome::of(&fitted, scorer, rows.groups().len(), seconds, test)))
}

/// Fits a method without Python's lock, but hears of Ctrl-C.
fn heard(
    py: Python<'_>,
    prepared: &Prepared,
    method: Method,
    base: Option<&Trained>,
) -> PyResult<Result<Fitted, MethodError>> {
    let task = prepared.task();
    let (fitted, raised) = py.detach(|| {
        let raised: RefCell<Option<PyErr>> = RefCell::new(None);
        let listen = |_: &Progress| match Python::attach(|py| py.check_signals()) {
            Ok(()) => true,
            Err(error) => {
                raised.replace(Some(error));
                false
            }
        };
        let watch = Watch { progress: &listen, ..Watch::default() };
        let fitted = fit_from(method, &task, base, watch);
        (fitted, raised.into_inner())
    });
    raised.map_or(Ok(fitted), Err)
}
