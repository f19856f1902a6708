//! Reports as pages: one file each that loads nothing and runs nothing, readable on paper, on a phone, in the
//! dark and by ear.
//!
//! A page is a [`Page`](frame::Page) of sections; sections are made of tables, heat maps, whiskers and
//! charts. All markup is made by the templates, which escape what they are given.

mod audit;
mod chart;
mod frame;
mod heat;
mod markup;
mod table;
mod whiskers;

pub use audit::audit_html;
