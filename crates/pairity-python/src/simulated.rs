//! The simulated ranking tasks.

use crate::refuse;
use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pairity_experiments::simulated::SimulatedTask;
use pyo3::prelude::*;

type Columns<'py> =
    (Bound<'py, PyAny>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>);

/// Features, labels, groups and queries of a simulated task.
#[pyfunction]
pub fn simulated(
    py: Python<'_>,
    queries: u32,
    groups: u32,
    seed: u64,
    as_printed: bool,
) -> PyResult<Columns<'_>> {
    let task = match groups {
        2 => SimulatedTask::two_groups(),
        3 => SimulatedTask::three_groups(),
        other => {
            return Err(refuse(format!("there is no simulated task with {other} groups: ask for 2 or 3")));
        }
    };
    let task = if as_printed { task.as_printed() } else { task };
    let rows = py.detach(|| task.draw(queries, seed));
    let count = rows.labels.len();
    let features: Vec<f64> = rows.features.into_iter().flatten().collect();
    Ok((
        features.into_pyarray(py).reshape([count, 2])?.into_any(),
        rows.labels.into_pyarray(py),
        rows.groups.into_pyarray(py),
        rows.queries.into_pyarray(py),
    ))
}
