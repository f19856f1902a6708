//! Views of results: audits, training runs and scored tables as text and pages for people and as JSON for programs.
//!
//! All are made from one [`Report`], [`TrainingReport`] or [`ScoringReport`], and none computes anything anew.

mod facts;
mod html;
mod json;
mod outcome;
mod report;
mod scale;
mod scoring;
mod text;
mod training;

pub use html::{Aside, DemoWords, Plane, PlaneLine, PlanePoint, audit_html, demo_html, training_html};
pub use json::{audit_json, json_lines, metric_json};
pub use report::{Missing, Notes, Report, Role};
pub use scoring::{ScoringComponent, ScoringReport, scoring_json};
pub use text::{Look, audit_text, plain, scoring_text, training_text, wrapped};
pub use training::{TrainingPart, TrainingReport, training_json};
