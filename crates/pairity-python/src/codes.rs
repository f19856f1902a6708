//! Codes of a column's values, in the order in which they first appear: the order in which a table file is
//! read, so that the same rows have the same codes wherever they come from.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pairity::examples::MISSING;
use pyo3::prelude::*;
use std::collections::HashMap;

/// The codes of whole numbers, and the numbers.
#[pyfunction]
pub fn codes_of_integers<'py>(
    py: Python<'py>,
    values: PyReadonlyArray1<'py, i64>,
) -> PyResult<(Bound<'py, PyArray1<u32>>, Vec<i64>)> {
    let values = values.as_slice()?;
    let (codes, levels) = py.detach(|| {
        let mut levels: Vec<i64> = Vec::new();
        let mut seen: HashMap<i64, u32> = HashMap::new();
        let mut last: Option<(i64, u32)> = None;
        let mut codes = Vec::with_capacity(values.len());
        for &value in values {
            // Rows of a query mostly stand together.
            let code = match last {
                Some((before, code)) if before == value => code,
                _ => *seen.entry(value).or_insert_with(|| {
                    levels.push(value);
                    levels.len() as u32 - 1
                }),
            };
            last = Some((value, code));
            codes.push(code);
        }
        (codes, levels)
    });
    Ok((codes.into_pyarray(py), levels))
}

/// The codes of texts, and the texts. `None` and the empty text are missing.
#[pyfunction]
pub fn codes_of_texts<'py>(
    py: Python<'py>,
    values: Vec<Option<String>>,
) -> (Bound<'py, PyArray1<u32>>, Vec<String>) {
    let (codes, levels) = py.detach(|| {
        let mut levels: Vec<String> = Vec::new();
        let mut seen: HashMap<String, u32> = HashMap::new();
        let mut codes = Vec::with_capacity(values.len());
        for value in values {
            let Some(value) = value.filter(|text| !text.is_empty()) else {
                codes.push(MISSING);
                continue;
            };
            let code = seen.get(&value).copied().unwrap_or_else(|| {
                let code = levels.len() as u32;
                levels.push(value.clone());
                seen.insert(value, code);
                code
            });
            codes.push(code);
        }
        (codes, levels)
    });
    (codes.into_pyarray(py), levels)
}
