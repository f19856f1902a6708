//! Training a scorer to a goal: maximize or minimize an expression of rates subject to bounds on others.
//!
//! A [`Problem`](crate::goals::Problem) says what is wanted, a [`Learner`](crate::learners::Learner) gives
//! scores and takes steps, a solver makes one iteration after the other, and the executor runs it: it owns
//! time, progress, interruption and checkpoints. [`SolverKind`] lists the solvers: the paper's game, and column
//! generation.
//!
//! The result is a stochastic model: a few scorers and the probabilities they are drawn with, one draw a
//! query. Its rates are the expected rates of the draw. Without queries one draw would serve the whole table, so
//! one scorer is given.

mod checkpoint;
mod columns;
mod curvature;
#[cfg(test)]
mod elsewhere_tests;
mod evaluation;
mod executor;
mod game;
mod lbfgs;
mod loss;
mod parts;
mod patience;
mod players;
mod score_player;
#[cfg(test)]
mod score_player_tests;
mod selection;
mod shrink;
mod solver;
#[cfg(test)]
mod tests;
mod train;
mod within;

pub use checkpoint::Checkpoint;
pub use evaluation::{Evaluation, MemberValue, evaluate, evaluate_members};
pub use executor::{RunEnd, RunEnding, RunProgress, Watch};
pub use loss::{LossTerm, ScoreTerm};
pub use parts::Parts;
pub use players::Player;
pub use score_player::{ScorePlayer, ScoreSettings, ScoreStatus, ScoreStep};
pub use selection::{Answer, PassedOver, Reach, reach};
pub use solver::SolverKind;
pub use train::{
    Certificate, Data, FarBelow, Select, Status, TracePoint, TrainError, TrainSettings, Trained, train,
    train_with,
};
pub use within::Within;
