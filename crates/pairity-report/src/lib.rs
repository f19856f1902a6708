//! Views of results: text and pages for people, JSON for programs.
//!
//! Every kind of result has one type and one writer for each view: [`AuditReport`] (an audit), [`TrainingReport`],
//! [`CompareOutcome`](pairity::run::CompareOutcome), [`FrontierOutcome`](pairity::run::FrontierOutcome),
//! [`ScoringReport`], [`AdjustReport`], [`Reproduction`] and [`DemoReport`]. No writer measures anything anew.

mod facts;
mod html;
mod json;
mod outcome;
mod report;
mod scale;
mod text;
mod words;

pub use html::{
    PageAside, adjust_html, audit_html, comparison_html, demo_html, frontier_html, notebook_html,
    reproduction_html, training_html,
};
pub use json::{
    adjust_json, audit_json, comparison_json, demo_json, frontier_json, json_lines, metric_json,
    reproduction_json, scoring_json, training_json,
};
pub use report::{
    AdjustReport, AuditReport, DemoReport, Missing, Notes, Reproduced, Reproduction, Role, ScoringReport,
    TrainingReport,
};
pub use text::{
    Look, adjust_text, audit_text, comparison_text, demo_text, frontier_text, reproduction_text,
    scoring_text, training_text,
};
pub use words::{FrontEnd, plain};
