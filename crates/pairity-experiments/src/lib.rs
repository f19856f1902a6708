//! The paper's experiments: the data they run on, generated or published.

#[cfg(feature = "published")]
pub mod agreement;
pub mod business;
#[cfg(feature = "published")]
pub mod data;
pub mod dataset;
#[cfg(feature = "published")]
pub mod experiments;
#[cfg(feature = "fetch")]
pub mod fetch;
#[cfg(feature = "published")]
pub mod guarantees;
#[cfg(feature = "published")]
pub mod loaders;
pub mod population;
#[cfg(feature = "published")]
mod registry;
#[cfg(feature = "published")]
pub mod reproduce;
pub mod simulated;
