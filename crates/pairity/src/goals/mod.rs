//! The goal language.

mod build;
mod criterion;
mod curvature;
mod error;
mod expression;
mod forms;
mod linear;
mod names;

pub use criterion::Criterion;
pub use curvature::Curvature;
pub use error::GoalError;
pub use expression::Expression;
pub use linear::Linear;
pub use names::Vocabulary;
