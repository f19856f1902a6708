//! Adjusting scores group by group, after training.

use crate::examples::{Category, Examples, Measuring, groups_of};
use crate::prepare::{one_of, problem};
use crate::refuse;
use crate::view::{Shown, View};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pairity::goals::{Goal, Objective, Problem};
use pairity::methods::{
    Tuning, group_offset, kallus_zhou, quantile_match, quantile_match::Strength, x_order,
};
use pairity::metrics::Measurement;

use pairity_report::{AdjustReport, AdjustedPart, AdjustedValues};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A map of scores for each group.
#[pyclass(frozen, module = "pairity._engine")]
pub struct Adjustment {
    inner: pairity::methods::Adjustment,
}

#[pymethods]
impl Adjustment {
    /// The adjustment of a JSON document.
    #[new]
    fn new(json: &str) -> PyResult<Adjustment> {
        let inner: pairity::methods::Adjustment = serde_json::from_str(json).map_err(refuse)?;
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

/// Objective and constraints of scores on some examples.
fn values(
    problem: &Problem,
    part: &pairity::examples::Examples,
    scores: &[f64],
    settings: &pairity::metrics::Settings,
) -> Result<AdjustedValues, pairity::examples::ExamplesError> {
    let measured = Measurement::new(part, scores, settings)?;
    Ok(AdjustedValues {
        objective: measured.expression(&problem.stated),
        checks: problem.constraints.iter().map(|constraint| measured.check(constraint)).collect(),
    })
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
    let names = ["group-offset", "quantile-match", "x-order", "kallus-zhou"];
    let method = one_of("method", method, &names.map(|name| (name, name)))?;
    if strength.is_some() && method != "quantile-match" {
        return Err(refuse(format!("strength belongs to method quantile-match, not to {method}")));
    }
    if !(tune > 0.0 && tune <= 1.0) {
        return Err(refuse(format!("tune is {tune}; a number above 0 and up to 1 is needed, such as 0.5")));
    }
    let settings = measuring.settings()?;
    let goal = Goal { objective: Objective::Maximize(maximize), subject_to };
    let problem = problem(&examples.inner, &goal.objective, &goal.subject_to)?;
    let scores = scores.as_slice()?;
    let mut folds = examples.inner.split(&[tune, 1.0 - tune], settings.seed).map_err(refuse)?.into_iter();
    let tuned = folds.next().flatten().unwrap_or_else(|| examples.inner.clone());
    let test = folds.next().flatten();
    let tuning = Tuning { examples: &tuned, scores, problem: &problem, average: settings.average };
    let adjusted = py
        .detach(|| match method {
            "group-offset" => group_offset::adjust(&tuning),
            "quantile-match" => {
                quantile_match::adjust(&tuning, strength.map_or(Strength::Smallest, Strength::Given))
            }
            "x-order" => x_order::adjust(&tuning, None),
            _ => kallus_zhou::adjust(&tuning),
        })
        .map_err(refuse)?;
    let applied = adjusted.adjustment.apply(scores, examples.groups.as_ref()).map_err(refuse)?;
    let mut parts = Vec::new();
    for (name, part) in [("tuned", Some(&tuned)), ("test", test.as_ref())] {
        if let Some(part) = part {
            let (before, after) = py
                .detach(|| {
                    let before = values(&problem, part, scores, &settings)?;
                    Ok((before, values(&problem, part, &applied.scores, &settings)?))
                })
                .map_err(|error: pairity::examples::ExamplesError| refuse(error))?;
            parts.push(AdjustedPart { name, rows: part.len(), before, after });
        }
    }
    let unknown = applied.unknown;
    let report = AdjustReport { method, goal, adjusted, unknown, parts, seed: settings.seed, written: None };
    let adjustment = Adjustment { inner: report.adjusted.adjustment.clone() };
    let (document, view) = Shown::Adjust(Box::new(report)).for_python(py)?;
    Ok((adjustment, document, view))
}
