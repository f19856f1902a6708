//! Pairwise fairness for ranking and regression.
//!
//! *When the better of two candidates comes from group A and the worse from group B, how often does
//! the model get it right, and is that equal for all groups?*

pub mod examples;
pub mod goals;
pub mod learners;
pub mod methods;
pub mod metrics;
pub mod model;
mod names;
pub mod pairs;
pub mod rates;
pub mod run;
pub mod similar;
pub mod solvers;
