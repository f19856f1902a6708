//! The engine for Python: `pairity._engine`, which the package in `python/pairity` stands on.
//!
//! Thin on purpose. Arrays come in as the engine wants them (contiguous, 64-bit numbers, 32-bit codes);
//! whatever else a caller has is converted in Python. Work is done without Python's lock, and errors of
//! the engine become `ValueError` with the same words.

mod columns;
mod elsewhere;
mod examples;
mod loss;
mod model;
mod runs;
mod settings;
mod tables;
mod view;

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::fmt::Display;

/// What is wrong, in the engine's own words.
fn refuse(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The engine.
#[pymodule]
mod _engine {
    #[pymodule_export]
    use super::columns::{codes_of_integers, codes_of_texts, cross, simulated};
    #[pymodule_export]
    use super::elsewhere::{FeaturePart, PartPairs};
    #[pymodule_export]
    use super::examples::Examples;
    #[pymodule_export]
    use super::loss::{ScorePlayer, uniform};
    #[pymodule_export]
    use super::model::{Adjustment, Model};
    #[pymodule_export]
    use super::runs::{adjust, compare, train, train_elsewhere};
    #[pymodule_export]
    use super::tables::{filter_columns, filter_rows, merge, merge_partials, read_table, score_table};
    #[pymodule_export]
    use super::view::View;
    use pairity::goals::Criterion;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("CRITERIA", Criterion::documented().map(Criterion::name).to_vec())?;
        module.add("NEEDED", super::tables::needed())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
