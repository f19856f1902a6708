//! Views of results: an audit as text for people and as JSON for programs.
//!
//! Both are made from one [`Report`], and neither computes anything anew.

mod json;
mod report;
mod text;

pub use json::{audit_json, json_lines};
pub use report::{Missing, Notes, Report, Role};
pub use text::{audit_text, plain};
