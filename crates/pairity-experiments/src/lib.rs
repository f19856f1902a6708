//! The paper's experiments: the data they run on, generated or published.

pub mod agreement;
pub mod business;
pub mod data;
pub mod dataset;
pub mod error;
pub mod experiments;
#[cfg(feature = "fetch")]
pub mod fetch;
mod limits;
pub mod loaders;
mod normal;
pub mod population;
mod registry;
pub mod reproduce;
pub mod simulated;
