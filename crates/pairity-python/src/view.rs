//! Results for Python: values as Python objects, text and page when somebody asks for them.

use pairity::run::CompareOutcome;
use pairity_report::{
    AdjustReport, AuditReport, FrontEnd, Look, PageAside, TrainingReport, adjust_html, adjust_json,
    adjust_text, audit_html, audit_json, audit_text, comparison_html, comparison_json, comparison_text,
    notebook_html, training_html, training_json, training_text,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use serde_json::Value;

/// Columns of the texts.
const WIDTH: usize = 100;

/// A result that is kept to be written.
pub enum Shown {
    Audit(Box<AuditReport>),
    Training(Box<TrainingReport>),
    Comparison(Box<CompareOutcome>),
    Adjust(Box<AdjustReport>),
    /// Text and page of a result that was pickled.
    Written(String, String),
}

/// What notebooks and `print` show of a result.
#[pyclass(frozen, module = "pairity._engine")]
pub struct View {
    shown: Shown,
}

impl Shown {
    /// The result's document and its view.
    pub fn for_python(self, py: Python<'_>) -> PyResult<(Bound<'_, PyAny>, View)> {
        let document = match &self {
            Shown::Audit(report) => audit_json(report),
            Shown::Training(report) => training_json(report),
            Shown::Comparison(report) => comparison_json(report),
            Shown::Adjust(report) => adjust_json(report),
            Shown::Written(..) => Value::Null,
        };
        Ok((object(py, &document)?, View { shown: self }))
    }
}

#[pymethods]
impl View {
    #[new]
    fn new(text: String, html: String) -> View {
        View { shown: Shown::Written(text, html) }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let own = py.get_type::<View>().into_any();
        Ok((own, PyTuple::new(py, [self.text(), self.html()])?))
    }

    /// The result as text.
    fn text(&self) -> String {
        let look = Look { color: false, pictures: false, width: WIDTH, front_end: FrontEnd::Python };
        match &self.shown {
            Shown::Audit(report) => audit_text(report, &look),
            Shown::Training(report) => training_text(report, &look),
            Shown::Comparison(report) => comparison_text(report, &look),
            Shown::Adjust(report) => adjust_text(report, &look),
            Shown::Written(text, _) => text.clone(),
        }
    }

    /// The result as a page inside a frame.
    fn html(&self) -> String {
        let front_end = FrontEnd::Python;
        let (title, page) = match &self.shown {
            Shown::Audit(report) => ("Audit", audit_html(report, None, front_end)),
            Shown::Training(report) => {
                ("Training", training_html(report, &PageAside { front_end, ..PageAside::default() }))
            }
            Shown::Comparison(report) => ("Comparison", comparison_html(report, None)),
            Shown::Adjust(report) => ("Adjusted scores", adjust_html(report, front_end)),
            Shown::Written(_, html) => return html.clone(),
        };
        notebook_html(title, &page)
    }
}

/// A JSON document as dictionaries, lists, texts and numbers.
pub fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(own) => own.into_pyobject(py)?.to_owned().into_any(),
        Value::Number(own) => match (own.as_u64(), own.as_i64()) {
            (Some(whole), _) => whole.into_pyobject(py)?.into_any(),
            (_, Some(whole)) => whole.into_pyobject(py)?.into_any(),
            _ => own.as_f64().into_pyobject(py)?,
        },
        Value::String(own) => own.into_pyobject(py)?.into_any(),
        Value::Array(items) => {
            let items = items.iter().map(|item| object(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::Object(entries) => {
            let dictionary = PyDict::new(py);
            entries.iter().try_for_each(|(key, entry)| dictionary.set_item(key, object(py, entry)?))?;
            dictionary.into_any()
        }
    })
}
