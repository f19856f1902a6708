//! Comparing methods on one split of the rows, as `pairity compare` does.

use crate::examples::{Examples, Measuring};
use crate::model::Feature;
use crate::prepare::{FitSettings, method};
use crate::training::listening;
use crate::view::{Shown, View};
use pairity::methods::{self, Stage};
use pairity::run::{CompareRequest, CompareWatch};
use pyo3::prelude::*;

/// All methods, or some, on the last part of the rows. Returns a document `pairity.compare/1`, and what is
/// shown of it.
#[pyfunction]
pub fn compare<'py>(
    py: Python<'py>,
    examples: &Examples,
    features: Vec<(String, Feature<'py>)>,
    methods: Vec<String>,
    options: FitSettings,
    measuring: Measuring,
) -> PyResult<(Bound<'py, PyAny>, View)> {
    let methods = match methods.is_empty() {
        true => {
            let mut all = methods::ALL.to_vec();
            all.sort_by_key(|method| method.stage != Stage::Unconstrained);
            all
        }
        false => methods.iter().map(|word| method(word, |_| true)).collect::<PyResult<_>>()?,
    };
    let request = CompareRequest { fit: options.request(&measuring)?, methods };
    let rows = options.rows(examples, &features)?;
    let outcome = listening(py, None, |progress| {
        // Signals are heard on the calling thread alone.
        let watch = CompareWatch { side_by_side: false, progress, ..CompareWatch::default() };
        pairity::run::compare(rows, &request, watch)
    });
    Shown::Comparison(Box::new(outcome?)).for_python(py)
}
