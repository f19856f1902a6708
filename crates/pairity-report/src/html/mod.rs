//! Reports as pages: one file each that loads nothing, readable on paper, on a phone, in the
//! dark and by ear.
//!
//! A page is a [`Page`](frame::Page) of sections; sections are made of tables, heat maps, whiskers and
//! charts. All markup is made by the templates, which escape what they are given.

mod audit;
mod chart;
mod chooser;
mod comparison;
mod demo;
mod frame;
mod heat;
mod markup;
mod plane;
mod reproduction;
mod scatter;
mod table;
mod training;
mod whiskers;

pub use audit::audit_html;
pub use comparison::{comparison_html, frontier_html};
pub use demo::demo_html;
pub use plane::{Plane, PlaneLine, PlanePoint};
pub use reproduction::reproduction_html;
pub use training::{Aside, training_html};
