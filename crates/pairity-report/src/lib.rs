//! Views of results: audits and training runs as text for people and as JSON for programs.
//!
//! Both are made from one [`Report`] or [`TrainingReport`], and neither computes anything anew.

mod json;
mod report;
mod text;
mod training;

pub use json::{audit_json, json_lines};
pub use report::{Missing, Notes, Report, Role};
pub use text::{audit_text, plain, training_text};
pub use training::{TrainingPart, TrainingReport, training_json};
