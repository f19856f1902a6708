//! Adjusting scores group by group, after training.

use crate::examples::{Category, Examples, Measuring, groups_of};
use crate::prepare::{self, explain};
use crate::refuse;
use crate::view::{Shown, View};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pairity::goals::Goal;
use pairity::run::AdjustRequest;
use pairity_report::AdjustReport;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A map of scores for each group.
#[pyclass(frozen, module = "pairity._engine")]
pub struct Adjustment {
    inner: pairity::model::Adjustment,
}

#[pymethods]
impl Adjustment {
    /// The adjustment of a JSON document.
    #[new]
    fn new(json: &str) -> PyResult<Adjustment> {
        let inner: pairity::model::Adjustment = serde_json::from_str(json).map_err(refuse)?;
        inner.check().map_err(refuse)?;
        Ok(Adjustment { inner })
    }

    /// The adjustment as a JSON document.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.inner).map_err(refuse)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let own = py.get_type::<Adjustment>().into_any();
        Ok((own, PyTuple::new(py, [self.to_json()?])?))
    }

    /// Adjusted scores, and how many rows are of groups that the adjustment does not know.
    fn apply<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray1<'py, f64>,
        groups: Vec<Category<'py>>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, usize)> {
        let groups = groups_of(&groups)?;
        let scores = scores.as_slice()?;
        let applied = py.detach(|| self.inner.apply(scores, groups.as_ref())).map_err(refuse)?;
        Ok((applied.scores.into_pyarray(py), applied.unknown))
    }
}

/// Chooses an adjustment on a part of the examples and tests it on the others. Returns it with a
/// document `pairity.adjust/1`, and what is shown of it.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn adjust<'py>(
    py: Python<'py>,
    examples: &Examples,
    scores: PyReadonlyArray1<'py, f64>,
    method: &str,
    maximize: String,
    subject_to: Vec<String>,
    strength: Option<f64>,
    tune: f64,
    measuring: Measuring,
) -> PyResult<(Adjustment, Bound<'py, PyAny>, View)> {
    let method = prepare::method(method, |method| method.adjuster.is_some())?;
    let measure = measuring.settings()?;
    let request = AdjustRequest {
        examples: &examples.inner,
        scores: scores.as_slice()?,
        groups: examples.groups.as_ref(),
        method,
        goal: &Goal::new(Some(maximize), None, subject_to),
        strength,
        tune,
        measure,
    };
    let run = py.detach(|| pairity::run::adjust(&request)).map_err(explain)?;
    let adjustment = Adjustment { inner: run.adjusted.adjustment.clone() };
    let (document, view) = Shown::Adjust(Box::new(AdjustReport { run, written: None })).for_python(py)?;
    Ok((adjustment, document, view))
}
