//! Results for Python: values as Python objects, text and page when somebody asks for them.

use pairity_report::{FrontEnd, Look, notebook_html};
use pyo3::prelude::*;
use serde_json::Value;
use std::sync::Arc;

/// Columns of the texts.
const WIDTH: usize = 100;

/// Whose words reports are written in.
pub const FRONT_END: FrontEnd = FrontEnd::Python;

/// What notebooks and `print` show of a result, which is kept to be written.
#[pyclass(frozen, module = "pairity._engine")]
pub struct View {
    text: Box<dyn Fn() -> String + Send + Sync>,
    html: Box<dyn Fn() -> String + Send + Sync>,
}

/// A result's document and its view.
pub type Shown<'py> = (Bound<'py, PyAny>, View);

/// A report's document and its view.
pub fn shown<'py, R: Send + Sync + 'static>(
    py: Python<'py>,
    report: R,
    json: fn(&R) -> Value,
    text: fn(&R, &Look) -> String,
    title: &'static str,
    html: fn(&R) -> String,
) -> PyResult<Shown<'py>> {
    let document = object(py, &json(&report))?;
    let look = Look { color: false, pictures: false, width: WIDTH, front_end: FRONT_END };
    let report = Arc::new(report);
    let same = Arc::clone(&report);
    let text = Box::new(move || text(&same, &look));
    let html = Box::new(move || notebook_html(title, &html(&report)));
    Ok((document, View { text, html }))
}

#[pymethods]
impl View {
    /// The view of a result that was pickled.
    #[new]
    fn new(text: String, html: String) -> View {
        View { text: Box::new(move || text.clone()), html: Box::new(move || html.clone()) }
    }

    fn __getnewargs__(&self) -> (String, String) {
        (self.text(), self.html())
    }

    /// The result as text.
    fn text(&self) -> String {
        (self.text)()
    }

    /// The result as a page inside a frame.
    fn html(&self) -> String {
        (self.html)()
    }
}

/// A JSON document as dictionaries, lists, texts and numbers.
pub fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}
