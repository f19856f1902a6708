//! Columns from arrays: categories and groups, features, and the codes of values. Those of simulated tasks go
//! the other way.

use crate::refuse;
use numpy::{Element, IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pairity::examples::{Column, Groups, MISSING, Values, cross as cross_categories};
use pairity_experiments::simulated::SimulatedTask;
use pyo3::prelude::*;
use std::collections::HashMap;
use std::hash::Hash;

/// A column of categories: a code for each row, and the texts that the codes stand for.
pub type Category<'py> = (PyReadonlyArray1<'py, u32>, Vec<String>);

/// Groups of one column, or the intersections of several; none without columns.
pub fn groups_of(columns: &[Category]) -> PyResult<Option<Groups>> {
    let column =
        |(codes, names): &Category| Ok(Groups::from_codes(names.clone(), codes.as_slice()?.to_vec()));
    let columns = columns.iter().map(column).collect::<PyResult<Vec<_>>>()?;
    Ok(columns.into_iter().reduce(|before, own| before.intersect(&own)))
}

/// The combinations of columns of categories.
#[pyfunction]
pub fn cross<'py>(
    py: Python<'py>,
    columns: Vec<Category<'py>>,
) -> PyResult<(Bound<'py, PyArray1<u32>>, Vec<String>)> {
    let slices = columns.iter().map(|(codes, names)| Ok((codes.as_slice()?, &names[..])));
    let slices = slices.collect::<PyResult<Vec<_>>>()?;
    if let Some((found, _)) = slices.iter().find(|(codes, _)| codes.len() != slices[0].0.len()) {
        let expected = slices[0].0.len();
        return Err(refuse(format!("columns have {expected} and {}: all need the same length", found.len())));
    }
    let (codes, names) = cross_categories(&slices).unwrap_or_default();
    Ok((codes.into_owned().into_pyarray(py), names.into_owned()))
}

/// The values of an array, if there is one.
pub fn slice<'a, T: Element>(array: &'a Option<PyReadonlyArray1<'_, T>>) -> PyResult<Option<&'a [T]>> {
    Ok(array.as_ref().map(|array| array.as_slice()).transpose()?)
}

/// A column of features as Python gives it.
#[derive(FromPyObject)]
pub enum Feature<'py> {
    /// Numbers; NaN where one is missing.
    Numbers(PyReadonlyArray1<'py, f64>),
    /// The same in single precision.
    Singles(PyReadonlyArray1<'py, f32>),
    /// Categories.
    Category(Category<'py>),
}

/// Named columns of features, as Python gives them.
pub type Features<'py> = Vec<(String, Feature<'py>)>;

/// Named columns of features, for the encoder.
pub fn columns(features: &Features) -> PyResult<Vec<Column>> {
    let column = |(name, feature): &(String, Feature)| {
        let values = match feature {
            Feature::Numbers(numbers) => Values::Numbers(numbers.as_array().to_vec()),
            Feature::Singles(numbers) => Values::Singles(numbers.as_array().to_vec()),
            Feature::Category((codes, levels)) => {
                Values::Categories { codes: codes.as_slice()?.to_vec(), levels: levels.clone() }
            }
        };
        Ok(Column { name: name.clone(), values })
    };
    features.iter().map(column).collect()
}

/// The codes of whole numbers, and the numbers.
#[pyfunction]
pub fn codes_of_integers<'py>(
    py: Python<'py>,
    values: PyReadonlyArray1<'py, i64>,
) -> PyResult<(Bound<'py, PyArray1<u32>>, Vec<i64>)> {
    let values = values.as_slice()?;
    let (codes, levels) = py.detach(|| codes(values.iter().copied().map(Some)));
    Ok((codes.into_pyarray(py), levels))
}

/// The codes of texts, and the texts. `None` and the empty text are missing.
#[pyfunction]
pub fn codes_of_texts<'py>(
    py: Python<'py>,
    values: Vec<Option<String>>,
) -> (Bound<'py, PyArray1<u32>>, Vec<String>) {
    let present = |value: Option<String>| value.filter(|text| !text.is_empty());
    let (codes, levels) = py.detach(|| codes(values.into_iter().map(present)));
    (codes.into_pyarray(py), levels)
}

/// The codes of values, where none is a missing one, and the values. They are in the order in which values first
/// appear, that of a table file that is read: the same rows have the same codes wherever they come from.
fn codes<T: Clone + Eq + Hash>(values: impl Iterator<Item = Option<T>>) -> (Vec<u32>, Vec<T>) {
    let mut levels: Vec<T> = Vec::new();
    let mut seen: HashMap<T, u32> = HashMap::new();
    let mut last = 0;
    let code = |value: Option<T>| {
        let Some(value) = value else { return MISSING };
        // Rows of a query mostly stand together.
        if levels.get(last as usize) != Some(&value) {
            last = *seen.entry(value).or_insert_with_key(|value| {
                levels.push(value.clone());
                levels.len() as u32 - 1
            });
        }
        last
    };
    let codes = values.map(code).collect();
    (codes, levels)
}

type Simulated<'py> =
    (Bound<'py, PyAny>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>);

/// Features, labels, groups and queries of a simulated task.
#[pyfunction]
pub fn simulated(
    py: Python<'_>,
    queries: u32,
    groups: u32,
    seed: u64,
    as_printed: bool,
) -> PyResult<Simulated<'_>> {
    let task = match groups {
        2 => SimulatedTask::two_groups(),
        3 => SimulatedTask::three_groups(),
        _ => return Err(refuse(format!("there is no simulated task with {groups} groups: ask for 2 or 3"))),
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
