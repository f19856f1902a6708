//! Features that other processes hold, and pairs that they count: the driver's side, which asks an object of Python, and a
//! worker's.

use crate::columns::{Feature, Features, columns};
use crate::refuse;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pairity::examples::{Column, Examples};
use pairity::learners::{
    Architecture, ColumnSource, Encoder, FeatureSource, PairTask, PartLoss, PartSource, PartWeights, Trace,
};
use pyo3::prelude::*;
use std::sync::Arc;

/// An object of Python that knows who holds features. Its methods: `names()`, `column(at)` as features are given,
/// `connect(encoder, codes)`, `scores(scorer, parameters, rows)`, `gradient(scorer, parameters, rows, slopes)` and
/// `parts(task, parts)`, where encoder, scorer and task are JSON documents and a part is one with the rows of its examples.
/// Parts have methods too: `totals()` and `losses(scorer, parameters, weights)`.
pub struct Driver(pub Arc<Py<PyAny>>);

fn asked<T>(question: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T, String> {
    Python::attach(|py| question(py).map_err(|error| error.to_string()))
}

fn json(document: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(document).map_err(refuse)
}

impl ColumnSource for Driver {
    fn names(&self) -> Vec<String> {
        asked(|py| self.0.call_method0(py, "names")?.extract(py)).unwrap_or_default()
    }

    fn column(&self, at: usize) -> Result<Column, String> {
        asked(|py| {
            let (name, found): (String, Py<PyAny>) = self.0.call_method1(py, "column", (at,))?.extract(py)?;
            let feature: Feature = found.extract(py)?;
            columns(&vec![(name, feature)])?.pop().ok_or_else(|| refuse("there is no such column"))
        })
    }

    fn features(&self, encoder: &Encoder, codes: Option<Vec<u16>>) -> Result<Arc<dyn FeatureSource>, String> {
        asked(|py| {
            let codes = codes.map(|codes| codes.into_pyarray(py));
            self.0.call_method1(py, "connect", (json(encoder)?, codes))
        })?;
        Ok(Arc::new(Driver(Arc::clone(&self.0))))
    }
}

impl FeatureSource for Driver {
    fn scores(
        &self,
        scorer: &Architecture,
        parameters: &[&[f64]],
        rows: &[u32],
    ) -> Result<Vec<Vec<f64>>, String> {
        asked(|py| {
            let all: Vec<_> = parameters.iter().map(|own| PyArray1::from_slice(py, own)).collect();
            let rows = PyArray1::from_slice(py, rows);
            let found = self.0.call_method1(py, "scores", (json(scorer)?, all, rows))?;
            let found: Vec<PyReadonlyArray1<f64>> = found.extract(py)?;
            found.iter().map(|scores| Ok(scores.as_slice()?.to_vec())).collect()
        })
    }

    fn gradient(
        &self,
        scorer: &Architecture,
        parameters: &[f64],
        rows: &[u32],
        slopes: &[f64],
    ) -> Result<Vec<f64>, String> {
        asked(|py| {
            let [parameters, slopes] = [parameters, slopes].map(|list| PyArray1::from_slice(py, list));
            let arguments = (json(scorer)?, parameters, PyArray1::from_slice(py, rows), slopes);
            let found = self.0.call_method1(py, "gradient", arguments)?;
            Ok(found.extract::<PyReadonlyArray1<f64>>(py)?.as_slice()?.to_vec())
        })
    }

    fn parts(&self, task: &PairTask, parts: &[Examples]) -> Result<Box<dyn PartSource>, String> {
        self.parts_of_workers(task, parts).map_err(|error| error.to_string())
    }
}

impl Driver {
    fn parts_of_workers(&self, task: &PairTask, parts: &[Examples]) -> PyResult<Box<dyn PartSource>> {
        let parts: Vec<(String, &[u32])> =
            parts.iter().map(|part| (part.to_json(), part.example_rows())).collect();
        Python::attach(|py| {
            let part = |(examples, rows): (String, &[u32])| (examples, PyArray1::from_slice(py, rows));
            let parts: Vec<_> = parts.into_iter().map(part).collect();
            let found = self.0.call_method1(py, "parts", (json(task)?, parts))?;
            Ok(Box::new(PartsOfWorkers(found)) as Box<dyn PartSource>)
        })
    }
}

/// Parts of the rows whose pairs workers count.
struct PartsOfWorkers(Py<PyAny>);

impl PartSource for PartsOfWorkers {
    fn totals(&self) -> Result<Vec<Vec<f64>>, String> {
        asked(|py| {
            let found: Vec<PyReadonlyArray1<f64>> = self.0.call_method0(py, "totals")?.extract(py)?;
            found.iter().map(|own| Ok(own.as_slice()?.to_vec())).collect()
        })
    }

    fn losses(
        &self,
        scorer: &Architecture,
        parameters: &[f64],
        weights: &[PartWeights],
    ) -> Result<Vec<PartLoss>, String> {
        asked(|py| {
            let weights = weights.iter().map(json).collect::<PyResult<Vec<String>>>()?;
            let arguments = (json(scorer)?, PyArray1::from_slice(py, parameters), weights);
            let found: Vec<(PyReadonlyArray1<f64>, PyReadonlyArray1<f64>)> =
                self.0.call_method1(py, "losses", arguments)?.extract(py)?;
            let loss = |(gradient, earned): &(PyReadonlyArray1<f64>, PyReadonlyArray1<f64>)| {
                Ok(PartLoss { gradient: gradient.as_slice()?.to_vec(), earned: earned.as_slice()?.to_vec() })
            };
            found.iter().map(loss).collect()
        })
    }
}

/// Encoded features of some rows, which a worker holds.
#[pyclass(frozen, module = "pairity._engine")]
pub struct FeaturePart {
    inner: pairity::learners::Features,
}

#[pymethods]
impl FeaturePart {
    /// Encodes columns; codes are those of the rows' groups, where a scorer uses them.
    #[new]
    #[pyo3(signature = (features, encoder, codes=None))]
    fn new(
        features: Features<'_>,
        encoder: &str,
        codes: Option<PyReadonlyArray1<'_, u16>>,
    ) -> PyResult<FeaturePart> {
        let encoder: Encoder = serde_json::from_str(encoder).map_err(refuse)?;
        let inner = encoder.encode(&columns(&features)?).map_err(refuse)?.features;
        let inner = match codes {
            Some(codes) => inner.with_codes(codes.as_slice()?.to_vec()).map_err(refuse)?,
            None => inner,
        };
        Ok(FeaturePart { inner })
    }

    /// Some of the rows.
    fn select(&self, rows: PyReadonlyArray1<'_, u32>) -> PyResult<FeaturePart> {
        let rows = rows.as_slice()?;
        if rows.iter().any(|&row| row as usize >= self.inner.rows()) {
            return Err(refuse("a row is beyond the last"));
        }
        Ok(FeaturePart { inner: self.inner.select(rows) })
    }

    /// The scores of all rows by each of some scorers of a shape.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        scorer: &str,
        parameters: Vec<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<Vec<Bound<'py, PyArray1<f64>>>> {
        let scorer = self.scorer(scorer)?;
        let each = |own: &PyReadonlyArray1<'py, f64>| {
            let own = checked(&scorer, own)?;
            let mut scores = vec![0.0; self.inner.rows()];
            py.detach(|| scorer.score(own, &self.inner, &mut scores));
            Ok(scores.into_pyarray(py))
        };
        parameters.iter().map(each).collect()
    }

    /// The gradient by the parameters, from the slope by the score of each row.
    fn gradient<'py>(
        &self,
        py: Python<'py>,
        scorer: &str,
        parameters: PyReadonlyArray1<'py, f64>,
        slopes: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let scorer = self.scorer(scorer)?;
        let (parameters, slopes) = (checked(&scorer, &parameters)?, slopes.as_slice()?);
        if slopes.len() != self.inner.rows() {
            return Err(refuse("there is not one slope a row"));
        }
        let found = py.detach(|| scorer.pull_back(parameters, &self.inner, &Trace::default(), slopes));
        Ok(found.into_pyarray(py))
    }
}

impl FeaturePart {
    fn scorer(&self, scorer: &str) -> PyResult<Architecture> {
        let scorer: Architecture = serde_json::from_str(scorer).map_err(refuse)?;
        scorer.check(&self.inner).map_err(refuse)?;
        Ok(scorer)
    }
}

/// A gradient, and what the pairs of each rate earn.
type PartAnswer<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// The pairs inside a part of the rows, which a worker counts.
#[pyclass(frozen, module = "pairity._engine")]
pub struct PartPairs {
    inner: pairity::learners::PartPairs,
}

#[pymethods]
impl PartPairs {
    /// Of a document of examples and the features of their rows, in the same order.
    #[new]
    fn new(py: Python<'_>, examples: &str, features: &FeaturePart, task: &str) -> PyResult<PartPairs> {
        let task: PairTask = serde_json::from_str(task).map_err(refuse)?;
        let examples = Examples::from_json(examples).map_err(refuse)?;
        if examples.rows() != features.inner.rows() {
            return Err(refuse("there is not one row of features an example"));
        }
        let inner = py.detach(|| pairity::learners::PartPairs::new(examples, &features.inner, &task));
        Ok(PartPairs { inner: inner.map_err(refuse)? })
    }

    /// What the pairs of each rate could earn.
    fn totals<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        py.detach(|| self.inner.totals()).into_pyarray(py)
    }

    /// The gradient of a scorer's weighted surrogates by its parameters, and what the pairs of each rate earn.
    fn loss<'py>(
        &self,
        py: Python<'py>,
        scorer: &str,
        parameters: PyReadonlyArray1<'py, f64>,
        weights: &str,
    ) -> PyResult<PartAnswer<'py>> {
        let scorer: Architecture = serde_json::from_str(scorer).map_err(refuse)?;
        let weights: PartWeights = serde_json::from_str(weights).map_err(refuse)?;
        let parameters = checked(&scorer, &parameters)?;
        let PartLoss { gradient, earned } = py.detach(|| self.inner.loss(&scorer, parameters, &weights));
        Ok((gradient.into_pyarray(py), earned.into_pyarray(py)))
    }
}

fn checked<'a>(scorer: &Architecture, parameters: &'a PyReadonlyArray1<'_, f64>) -> PyResult<&'a [f64]> {
    let parameters = parameters.as_slice()?;
    match parameters.len() == scorer.len() {
        true => Ok(parameters),
        false => Err(refuse("there are not as many parameters as the scorer has")),
    }
}
