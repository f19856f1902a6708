//! Views of results: audits, training runs, comparisons and scored tables as text and pages for people and
//! as JSON for programs.
//!
//! All are made from one [`Report`], [`TrainingReport`], [`ComparisonReport`], [`FrontierReport`] or
//! [`ScoringReport`], and none measures anything anew.

mod comparison;
mod facts;
mod frontier;
mod html;
mod json;
mod outcome;
mod report;
mod scale;
mod scoring;
mod text;
mod training;

pub use comparison::{ComparisonReport, MethodResult, Outcome, Setup, comparison_json};
pub use frontier::{Curve, FrontierReport, Point, frontier_json};
pub use html::{
    Aside, DemoWords, Plane, PlaneLine, PlanePoint, Reproduced, Reproduction, audit_html, comparison_html,
    demo_html, frontier_html, reproduction_html, training_html,
};
pub use json::{audit_json, json_lines, metric_json};
pub use report::{Missing, Notes, Report, Role};
pub use scoring::{ScoringComponent, ScoringReport, scoring_json};
pub use text::{
    Look, audit_text, comparison_text, frontier_text, plain, scoring_text, training_text, wrapped,
};
pub use training::{TrainingPart, TrainingReport, training_json};
