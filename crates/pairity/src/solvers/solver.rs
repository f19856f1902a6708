//! What a solver is given and has to do, and which there are: a new one is a file with its [`Solver`], and a line in
//! the list below.

use super::executor::{Executor, Snapshot, Watch};
use super::game::Game;
use super::loss::{LossTerm, Sample};
use super::train::{TrainError, TrainSettings};
use crate::goals::{Assessment, Problem};
use crate::learners::{Architecture, Features, Parametric};
use crate::names::names;
use serde::{Serialize, de::DeserializeOwned};

/// What is trained for what, and how.
#[derive(Clone, Copy)]
pub(crate) struct Training<'a> {
    pub problem: &'a Problem,
    pub architecture: &'a Architecture,
    /// The features of all rows, which samples are picked from.
    pub features: &'a Features,
    pub settings: &'a TrainSettings,
    /// What is added to the loss.
    pub term: Option<&'a dyn LossTerm>,
}

/// What a solver is given.
pub(crate) struct SolverTask<'a> {
    pub training: Training<'a>,
    /// What the scorer is fit to.
    pub sample: &'a Sample<'a>,
    /// What the multipliers look at, if that is something else.
    pub multipliers: Option<&'a Sample<'a>>,
}

/// A way to solve a problem, one iteration at a time: all that a later iteration depends on.
pub(crate) trait Solver: Send + Serialize + DeserializeOwned {
    /// Room that iterations use again.
    type Buffers;

    /// The state from which a run with a step size starts.
    fn start(task: &SolverTask, step_size: f64) -> Self;

    /// Room for iterations.
    fn buffers(task: &SolverTask) -> Self::Buffers;

    /// One iteration, counted from 0: how the scorer did before it. None if scores became infinite, after
    /// which there is nothing more to do.
    fn next_iteration(
        &mut self,
        task: &SolverTask,
        iteration: usize,
        buffers: &mut Self::Buffers,
    ) -> Option<Assessment>;

    /// The parameters of the scorer as it is now, and what objective and bounds weigh.
    fn snapshot(&self) -> (Vec<f64>, Vec<f64>);
}

macro_rules! solvers {
    ($($(#[$meta:meta])* $name:ident, $solver:ty, $word:literal, $about:literal;)*) => {
        /// Which solver moves the scorer toward the goal.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub enum SolverKind {
            $($(#[$meta])* $name,)*
        }

        names! { SolverKind: $($word => $name, $about;)* }

        impl SolverKind {
            /// The snapshots of its runs, by step size, and whether all iterations were made.
            pub(crate) fn run(self, executor: &Executor, watch: Watch) -> Result<Executed, TrainError> {
                match self {
                    $(SolverKind::$name => executor.run::<$solver>(watch),)*
                }
            }
        }
    };
}

/// The step size and the snapshots of each run, and whether all iterations were made.
pub(crate) type Executed = (Vec<(f64, Vec<Snapshot>)>, bool);

solvers! {
    /// The proxy-Lagrangian game of Cotter et al. (2019).
    #[default]
    Paper, Game<Parametric>, "paper", "The game of Narasimhan et al. (2020)";
}
