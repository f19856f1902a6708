//! A model: what training leaves behind, and all that scoring new rows needs.
//!
//! A [`Model`] is an encoder of columns, scorers with the probabilities that they are drawn with, and what
//! is done [after](After) scoring: an [`Adjustment`] of each group's scores, or rankings of fair
//! [`exposure`]. There is one way to scores, and it includes all of these: columns become [`ScoreRows`]
//! ([`Model::rows`]), and these are scored ([`Model::score`], [`Model::expected`]). Examples are scored by
//! every member of a model ([`StochasticScorer::members`]), as the metrics take them.

mod adjustment;
mod after;
mod check;
mod curve;
mod draw;
mod error;
pub mod exposure;
mod saved;
mod score;
mod stochastic;

pub(crate) use adjustment::sigmoid;
pub use adjustment::{Adjustment, Applied, GroupCurve, GroupLogistic, GroupOffset};
pub use after::{After, Ranked};
pub use curve::Curve;
pub use draw::uniform;
pub use error::ModelError;
pub use saved::{Component, Model, ModelGroups, SCHEMA};
pub use score::{ComponentUse, ScoreRows};
pub use stochastic::{MemberScores, StochasticScorer};
