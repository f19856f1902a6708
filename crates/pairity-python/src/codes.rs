//! Codes of a column's values, in the order in which they first appear: the order in which a table file is
//! read, so that the same rows have the same codes wherever they come from.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pairity::examples::MISSING;
use pyo3::prelude::*;
use std::collections::HashMap;
use std::hash::Hash;

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

/// The codes of values, where none is a missing one, and the values.
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
