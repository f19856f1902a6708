//! Views of results: text and pages for people, JSON for programs.
//!
//! Every kind of result has one type and one writer for each view: [`AuditReport`] (an audit), [`TrainingReport`],
//! [`CompareOutcome`](pairity::run::CompareOutcome), [`FrontierOutcome`](pairity::run::FrontierOutcome),
//! [`ScoringReport`], [`AdjustReport`], [`Reproduction`] and [`DemoReport`]. No writer measures anything anew.

mod adjust;
mod advice;
mod comparison;
mod demo;
mod facts;
mod frontier;
mod html;
mod json;
mod outcome;
mod report;
mod reproduction;
mod scale;
mod scoring;
mod text;
mod training;

pub use adjust::{AdjustReport, adjust_json};
pub use advice::FrontEnd;
pub use comparison::comparison_json;
pub use demo::{DemoReport, demo_json};
pub use frontier::frontier_json;
pub use html::{
    PageAside, adjust_html, audit_html, comparison_html, demo_html, frontier_html, notebook_html,
    reproduction_html, training_html,
};
pub use json::{audit_json, json_lines, metric_json};
pub use report::{AuditReport, Missing, Notes, Role};
pub use reproduction::{Reproduced, Reproduction, reproduction_json};
pub use scoring::{ScoringReport, scoring_json};
pub use text::{
    Look, adjust_text, audit_text, comparison_text, demo_text, frontier_text, plain, reproduction_text,
    scoring_text, training_text,
};
pub use training::{TrainingReport, training_json};
