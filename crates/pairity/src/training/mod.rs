//! Training a scorer to a goal: maximize or minimize an expression of rates subject to bounds on others.
//!
//! The result is a stochastic model: a few scorers and the probabilities they are drawn with, one draw a
//! query. Its rates are the expected rates of the draw.

mod adam;
mod answer;
mod checkpoint;
mod evaluation;
mod game;
mod parts;
mod players;
mod sample;
mod score_player;
#[cfg(test)]
mod score_player_tests;
mod shrink;
#[cfg(test)]
mod tests;
mod trainer;
mod watch;

pub use answer::{Answer, Reach, reach};
pub use checkpoint::Checkpoint;
pub use evaluation::{Evaluation, MemberValue, evaluate, evaluate_members};
pub use parts::Parts;
pub use players::Player;
pub use score_player::{ScorePlayer, ScoreSettings, ScoreStatus, ScoreStep};
pub use trainer::{Data, Penalty, Status, TracePoint, TrainError, TrainSettings, Trained, train};
pub use watch::{Progress, Watch};
