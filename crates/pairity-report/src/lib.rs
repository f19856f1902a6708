//! Views of results: audits, training runs and scored tables as text for people and as JSON for programs.
//!
//! Both are made from one [`Report`], [`TrainingReport`], [`ComparisonReport`], [`FrontierReport`] or
//! [`ScoringReport`], and neither measures anything anew.

mod comparison;
mod frontier;
mod json;
mod report;
mod scoring;
mod text;
mod training;

pub use comparison::{ComparisonReport, MethodResult, Outcome, comparison_json};
pub use frontier::{Curve, FrontierReport, Point, frontier_json};
pub use json::{audit_json, json_lines, metric_json};
pub use report::{Missing, Notes, Report, Role};
pub use scoring::{ScoringComponent, ScoringReport, scoring_json};
pub use text::{audit_text, comparison_text, frontier_text, plain, scoring_text, training_text};
pub use training::{TrainingPart, TrainingReport, training_json};
