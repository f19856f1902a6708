//! Reports as pages: one file each that loads nothing, readable on paper, on a phone, in the
//! dark and by ear.
//!
//! A page is a [`HtmlPage`](frame::HtmlPage) of sections; sections are made of tables, heat maps, whiskers and
//! charts. All markup is made by the templates, which escape what they are given.

mod adjust;
mod audit;
mod chart;
mod comparison;
mod experiments;
mod frame;
mod heat;
mod markup;
mod plane;
mod scatter;
mod table;
mod training;
mod whiskers;

pub use adjust::adjust_html;
pub use audit::audit_html;
pub use comparison::{comparison_html, frontier_html};
pub use experiments::{demo_html, reproduction_html};
pub use frame::notebook_html;
pub use training::{PageAside, training_html};
