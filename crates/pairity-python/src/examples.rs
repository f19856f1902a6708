//! Rows for the engine, and their audit.

use crate::columns::{Category, groups_of, slice};
use crate::refuse;
use crate::settings::measuring;
use crate::view::{FRONT_END, Shown, object, shown};
use numpy::PyReadonlyArray1;
use pairity::examples::{Columns, Groups, PairWeight, PairsWhere};
use pairity::goals::parse_expression;
use pairity::metrics::{Measurement, Partial};
use pairity::run::AuditRequest;
use pairity_report::{AuditReport, Notes, audit_html, audit_json, audit_text, metric_json};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Everything about the rows that does not depend on scores, checked and sorted by query.
#[pyclass(frozen, module = "pairity._engine")]
pub struct Examples {
    pub inner: pairity::examples::Examples,
    /// The groups in the order of the rows.
    pub groups: Option<Groups>,
}

#[pymethods]
impl Examples {
    #[new]
    #[pyo3(signature = (labels, groups, protected, queries, within, weights, pair_weight, label_gap, side, higher))]
    #[allow(clippy::too_many_arguments)]
    fn new<'py>(
        py: Python<'py>,
        labels: Option<PyReadonlyArray1<'py, f64>>,
        groups: Vec<Category<'py>>,
        protected: Option<PyReadonlyArray1<'py, f64>>,
        queries: Option<PyReadonlyArray1<'py, u32>>,
        within: Option<PyReadonlyArray1<'py, u32>>,
        weights: Option<PyReadonlyArray1<'py, f64>>,
        pair_weight: Option<PyReadonlyArray1<'py, f64>>,
        label_gap: bool,
        side: Option<PyReadonlyArray1<'py, f64>>,
        higher: bool,
    ) -> PyResult<Examples> {
        let groups = groups_of(&groups)?;
        let columns = Columns {
            labels: slice(&labels)?,
            groups: groups.as_ref(),
            protected: slice(&protected)?,
            queries: slice(&queries)?,
            within: slice(&within)?,
            weights: slice(&weights)?,
            pair_weight: match slice(&pair_weight)? {
                Some(values) => PairWeight::Product(values),
                None if label_gap => PairWeight::LabelGap,
                None => PairWeight::One,
            },
            pairs_where: match slice(&side)? {
                None => PairsWhere::Any,
                Some(values) if higher => PairsWhere::Higher(values),
                Some(values) => PairsWhere::Lower(values),
            },
        };
        let inner = py.detach(|| pairity::examples::Examples::new(columns)).map_err(refuse)?;
        Ok(Examples { inner, groups })
    }

    /// Number of rows.
    fn __len__(&self) -> usize {
        self.inner.rows()
    }

    /// Names of the groups.
    #[getter]
    fn groups(&self) -> Vec<String> {
        self.inner.groups().to_vec()
    }

    /// The audit as a document `pairity.audit/1`, and as it is shown.
    fn audit<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray1<'py, f64>,
        checks: Vec<String>,
        settings: Bound<'py, PyDict>,
    ) -> PyResult<Shown<'py>> {
        let request = AuditRequest {
            examples: &self.inner,
            scores: scores.as_slice()?,
            checks: &checks,
            left_out: &[],
            measure: measuring(&settings)?,
            pictures: false,
            partial: false,
        };
        let audit = py.detach(|| pairity::run::audit(&request)).map_err(refuse)?.audit;
        let notes = Notes { rows_read: self.inner.rows(), ..Notes::default() };
        let html = |report: &_| audit_html(report, None, FRONT_END);
        shown(py, AuditReport { audit, notes }, audit_json, audit_text, "Audit", html)
    }

    /// What can be merged with audits of other queries, as a text.
    fn partial<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray1<'py, f64>,
        settings: Bound<'py, PyDict>,
    ) -> PyResult<String> {
        let (scores, settings) = (scores.as_slice()?, measuring(&settings)?);
        let partial = py.detach(|| Partial::new(&self.inner, scores, &settings)).map_err(refuse)?;
        Ok(partial.to_json())
    }

    /// One expression of rates as a metric.
    fn measure<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray1<'py, f64>,
        expression: &str,
        settings: Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let settings = measuring(&settings)?;
        let expression = parse_expression(expression, &self.inner.vocabulary()).map_err(refuse)?;
        let scores = scores.as_slice()?;
        let measured = py.detach(|| Measurement::new(&self.inner, scores, &settings)).map_err(refuse)?;
        object(py, &metric_json(&measured.expression(&expression)))
    }
}
