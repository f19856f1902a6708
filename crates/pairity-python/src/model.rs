//! A trained model: scores new rows, and is saved as JSON.

use crate::examples::{Category, Examples, Measuring, groups_of};
use crate::refuse;
use crate::view::object;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pairity::examples::{Column, Groups, Values};
use pairity::goals::parse_expression;
use pairity::metrics::{Measurement, Member};
use pairity::model::{Component, MemberScores, ModelError, ScoreRows};
use pairity_report::metric_json;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A column of features as Python gives it.
#[derive(FromPyObject)]
pub enum Feature<'py> {
    /// Numbers; NaN where one is missing.
    Numbers(PyReadonlyArray1<'py, f64>),
    /// Categories.
    Category(Category<'py>),
}

/// Named columns of features, for the encoder.
pub fn columns(features: &[(String, Feature)]) -> PyResult<Vec<Column>> {
    features
        .iter()
        .map(|(name, feature)| {
            let values = match feature {
                Feature::Numbers(numbers) => Values::Numbers(numbers.as_array().to_vec()),
                Feature::Category((codes, levels)) => {
                    Values::Categories { codes: codes.as_slice()?.to_vec(), levels: levels.clone() }
                }
            };
            Ok(Column { name: name.clone(), values })
        })
        .collect()
}

/// A distribution over scorers of one architecture, and all that scoring new rows needs.
#[pyclass(frozen, module = "pairity._engine")]
pub struct Model {
    pub inner: pairity::model::Model,
}

impl Model {
    fn rows<'a>(
        &self,
        features: &[(String, Feature)],
        groups: Option<&'a Groups>,
        queries: Option<&'a Category>,
    ) -> PyResult<ScoreRows<'a>> {
        let column = |(codes, names): &'a Category| Ok::<_, PyErr>((codes.as_slice()?, &names[..]));
        let queries = queries.map(column).transpose()?;
        self.inner.rows(&columns(features)?, groups, queries).map_err(refuse)
    }
}

#[pymethods]
impl Model {
    /// The model of a JSON document.
    #[new]
    fn new(json: &str) -> PyResult<Model> {
        Ok(Model { inner: pairity::model::Model::from_json(json).map_err(refuse)? })
    }

    /// The model as a JSON document.
    fn to_json(&self) -> PyResult<String> {
        self.inner.to_json().map_err(refuse)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let own = py.get_type::<Model>().into_any();
        Ok((own, PyTuple::new(py, [self.to_json()?])?))
    }

    /// Probability, snapshot and parameters of each scorer.
    fn components<'py>(&self, py: Python<'py>) -> Vec<(f64, usize, Bound<'py, PyArray1<f64>>)> {
        let component = |c: &Component| (c.probability, c.snapshot, c.parameters.clone().into_pyarray(py));
        self.inner.components.iter().map(component).collect()
    }

    /// Whether its scorers use the groups.
    #[getter]
    fn needs_groups(&self) -> bool {
        self.inner.groups.is_some()
    }

    /// The scores of rows, with notes on what training never saw. Each query draws one scorer by the seed
    /// and its own text; without queries all rows are one.
    fn score<'py>(
        &self,
        py: Python<'py>,
        features: Vec<(String, Feature<'py>)>,
        groups: Vec<Category<'py>>,
        queries: Option<Category<'py>>,
        seed: u64,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Vec<String>)> {
        let groups = groups_of(&groups)?;
        let rows = self.rows(&features, groups.as_ref(), queries.as_ref())?;
        let scores = py.detach(|| self.inner.score(&rows, seed)).map_err(refuse)?;
        Ok((scores.into_pyarray(py), rows.notes.iter().map(|note| note.to_string()).collect()))
    }

    /// What the score of each row is on average over the draws.
    fn expected_scores<'py>(
        &self,
        py: Python<'py>,
        features: Vec<(String, Feature<'py>)>,
        groups: Vec<Category<'py>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let groups = groups_of(&groups)?;
        let rows = self.rows(&features, groups.as_ref(), None)?;
        let scores = py.detach(|| self.inner.expected(&rows)).map_err(refuse)?;
        Ok(scores.into_pyarray(py))
    }

    /// The value of an expression that is expected of the model on examples.
    fn measure<'py>(
        &self,
        py: Python<'py>,
        examples: &Examples,
        features: Vec<(String, Feature<'py>)>,
        groups: Vec<Category<'py>>,
        expression: &str,
        measuring: Measuring,
    ) -> PyResult<Bound<'py, PyAny>> {
        let settings = measuring.settings()?;
        let words = examples.inner.vocabulary();
        let expression = parse_expression(expression, &words).map_err(refuse)?;
        let groups = groups_of(&groups)?;
        let features = self.rows(&features, groups.as_ref(), None)?.features;
        let measured = py.detach(|| {
            let scored = self.inner.scorer().members(&examples.inner, &features)?;
            let members: Vec<Member> = scored.iter().map(MemberScores::member).collect();
            Ok(Measurement::of_mixture(&examples.inner, &members, &settings)?)
        });
        let measured = measured.map_err(|error: ModelError| refuse(error))?;
        object(py, &metric_json(&measured.expression(&expression)))
    }
}
