//! Rows for the engine, and their audit.

use crate::refuse;
use crate::view::{Shown, View, object};
use numpy::{Element, PyReadonlyArray1};
use pairity::examples::{Columns, Groups, PairWeight};
use pairity::goals::{Expression, parse_expression};
use pairity::metrics::{Measurement, Settings};
use pairity::rates::{Average, Ties};
use pairity::run::AuditRequest;
use pairity_report::{AuditReport, Notes, metric_json};
use pyo3::prelude::*;

/// A column of categories: a code for each row, and the texts that the codes stand for.
pub type Category<'py> = (PyReadonlyArray1<'py, u32>, Vec<String>);

/// Groups of one column, or the intersections of several; none without columns.
pub fn groups_of(columns: &[Category]) -> PyResult<Option<Groups>> {
    let mut groups: Option<Groups> = None;
    for (codes, names) in columns {
        let own = Groups::from_codes(names.clone(), codes.as_slice()?.to_vec());
        groups = Some(match groups {
            None => own,
            Some(before) => before.intersect(&own),
        });
    }
    Ok(groups)
}

/// The values of an array, if there is one.
pub fn slice<'a, T: Element>(array: &'a Option<PyReadonlyArray1<'_, T>>) -> PyResult<Option<&'a [T]>> {
    Ok(array.as_ref().map(|array| array.as_slice()).transpose()?)
}

/// Everything about the rows that does not depend on scores, checked and sorted by query.
#[pyclass(frozen, module = "pairity._engine")]
pub struct Examples {
    pub inner: pairity::examples::Examples,
    /// The groups in the order of the rows.
    pub groups: Option<Groups>,
}

/// How rates are measured.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Measuring {
    average: String,
    ties: String,
    confidence: f64,
    min_pairs: u64,
    seed: u64,
}

pub fn average(name: &str) -> PyResult<Average> {
    let wrong = || refuse(format!("average is {name:?}; it has to be \"pairs\" or \"queries\""));
    Average::named(name).ok_or_else(wrong)
}

impl Measuring {
    pub fn settings(&self) -> PyResult<Settings> {
        let wrong = || refuse(format!("ties is {:?}; it has to be \"half\" or \"strict\"", self.ties));
        let ties = Ties::named(&self.ties).ok_or_else(wrong)?;
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            return Err(refuse(format!(
                "confidence is {}; a number between 0 and 1 is needed, such as 0.95 (0 and 1 themselves don't \
                 make an interval)",
                self.confidence
            )));
        }
        Ok(Settings {
            average: average(&self.average)?,
            ties,
            confidence: self.confidence,
            min_pairs: self.min_pairs,
            seed: self.seed,
        })
    }
}

#[pymethods]
impl Examples {
    #[new]
    #[pyo3(signature = (labels, groups, protected, queries, weights, pair_weight, label_gap))]
    #[allow(clippy::too_many_arguments)]
    fn new<'py>(
        py: Python<'py>,
        labels: Option<PyReadonlyArray1<'py, f64>>,
        groups: Vec<Category<'py>>,
        protected: Option<PyReadonlyArray1<'py, f64>>,
        queries: Option<PyReadonlyArray1<'py, u32>>,
        weights: Option<PyReadonlyArray1<'py, f64>>,
        pair_weight: Option<PyReadonlyArray1<'py, f64>>,
        label_gap: bool,
    ) -> PyResult<Examples> {
        let groups = groups_of(&groups)?;
        let columns = Columns {
            labels: slice(&labels)?,
            groups: groups.as_ref(),
            protected: slice(&protected)?,
            queries: slice(&queries)?,
            weights: slice(&weights)?,
            pair_weight: match slice(&pair_weight)? {
                Some(values) => PairWeight::Product(values),
                None if label_gap => PairWeight::LabelGap,
                None => PairWeight::One,
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
        measuring: Measuring,
    ) -> PyResult<(Bound<'py, PyAny>, View)> {
        let request = AuditRequest {
            examples: &self.inner,
            scores: scores.as_slice()?,
            checks: &checks,
            measure: measuring.settings()?,
            pictures: false,
        };
        let audit = py.detach(|| pairity::run::audit(&request)).map_err(refuse)?.audit;
        let notes = Notes { rows_read: self.inner.rows(), ..Notes::default() };
        Shown::Audit(Box::new(AuditReport { audit, notes })).for_python(py)
    }

    /// One expression of rates as a metric.
    fn measure<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray1<'py, f64>,
        expression: &str,
        measuring: Measuring,
    ) -> PyResult<Bound<'py, PyAny>> {
        let settings = measuring.settings()?;
        let expression: Expression =
            parse_expression(expression, &self.inner.vocabulary()).map_err(refuse)?;
        let scores = scores.as_slice()?;
        let measured = py.detach(|| Measurement::new(&self.inner, scores, &settings)).map_err(refuse)?;
        object(py, &metric_json(&measured.expression(&expression)))
    }
}
