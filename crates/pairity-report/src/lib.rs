//! Views of results: an audit as text and pages for people and as JSON for programs.
//!
//! All are made from one [`Report`], and none computes anything anew.

mod facts;
mod html;
mod json;
mod report;
mod scale;
mod text;

pub use html::audit_html;
pub use json::{audit_json, json_lines};
pub use report::{Missing, Notes, Report, Role};
pub use text::{Look, audit_text, plain};
