//! What is trained or tuned, saved as JSON: a model that scores new rows, and an adjustment of scores.

use crate::columns::{Category, Features, columns, groups_of, slice};
use crate::examples::Examples;
use crate::refuse;
use crate::settings::measuring;
use crate::view::object;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pairity::examples::Groups;
use pairity::goals::parse_expression;
use pairity::metrics::{Measurement, Member};
use pairity::model::{After, Component, MemberScores, ModelError, ScoreRows};
use pairity_report::metric_json;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A distribution over scorers of one architecture, and all that scoring new rows needs.
#[pyclass(frozen, module = "pairity._engine")]
pub struct Model {
    pub inner: pairity::model::Model,
}

impl Model {
    fn rows<'a>(
        &self,
        features: &Features,
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

    fn __getnewargs__(&self) -> PyResult<(String,)> {
        Ok((self.to_json()?,))
    }

    /// Probability, snapshot and parameters of each scorer.
    fn components<'py>(&self, py: Python<'py>) -> Vec<(f64, usize, Bound<'py, PyArray1<f64>>)> {
        let component = |c: &Component| (c.probability, c.snapshot, c.parameters.clone().into_pyarray(py));
        self.inner.components.iter().map(component).collect()
    }

    /// Whether its scorers use the groups.
    #[getter]
    fn needs_groups(&self) -> bool {
        self.inner.groups.is_some() && !self.needs_attribute()
    }

    /// Whether its scores are adjusted by a continuous attribute.
    #[getter]
    fn needs_attribute(&self) -> bool {
        self.inner.attribute().is_some()
    }

    /// The columns that scoring a table reads, beside those of queries.
    fn columns(&self) -> Vec<String> {
        let features = self.inner.encoder.inputs().map(|encoding| encoding.name().to_owned());
        features.chain(self.inner.groups.iter().flat_map(|groups| groups.columns.clone())).collect()
    }

    /// The columns of queries, where somebody names some, or none.
    fn query_columns(&self, named: Vec<String>) -> Vec<String> {
        self.inner.query_columns(&named).to_vec()
    }

    /// Whether it draws a ranking of whole queries.
    #[getter]
    fn ranks(&self) -> bool {
        matches!(self.inner.after, Some(After::Ranked(_)))
    }

    /// The scores of rows, with notes on what training never saw. Each query draws one scorer by the seed
    /// and its own text; without queries all rows are one.
    fn score<'py>(
        &self,
        py: Python<'py>,
        features: Features<'py>,
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
        features: Features<'py>,
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
        features: Features<'py>,
        groups: Vec<Category<'py>>,
        expression: &str,
        settings: Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let settings = measuring(&settings)?;
        let expression = parse_expression(expression, &examples.inner.vocabulary()).map_err(refuse)?;
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

/// A map of scores by group, or by a continuous attribute.
#[pyclass(frozen, module = "pairity._engine")]
pub struct Adjustment {
    pub inner: pairity::model::Adjustment,
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

    fn __getnewargs__(&self) -> PyResult<(String,)> {
        Ok((self.to_json()?,))
    }

    /// Adjusted scores, and how many rows are of groups that the adjustment does not know.
    #[pyo3(signature = (scores, groups, protected=None))]
    fn apply<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray1<'py, f64>,
        groups: Vec<Category<'py>>,
        protected: Option<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, usize)> {
        let groups = groups_of(&groups)?;
        let (scores, protected) = (scores.as_slice()?, slice(&protected)?);
        let applied =
            py.detach(|| self.inner.apply_by(scores, groups.as_ref(), protected)).map_err(refuse)?;
        Ok((applied.scores.into_pyarray(py), applied.unknown))
    }
}
