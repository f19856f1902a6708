//! Training a scorer to a goal: maximize or minimize an expression of rates subject to bounds on others.
//!
//! The result is a stochastic model: a few scorers and the probabilities they are drawn with, one draw a
//! query. Its rates are the expected rates of the draw.

mod adam;
mod game;
mod players;
mod problem;
mod shrink;
#[cfg(test)]
mod tests;
mod trainer;

pub use players::Player;
pub use problem::{Problem, ProblemError};
pub use trainer::{Status, TrainError, TrainSettings, Trained, train};
