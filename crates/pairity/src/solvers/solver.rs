//! What a solver is given and has to do, and which there are: a new one is a file with its [`Solver`], and a line in
//! the list below.

use super::columns::ColumnGeneration;
use super::executor::{Executor, RunEnding, Snapshot, Watch};
use super::game::Game;
use super::loss::{LossTerm, Sample};
use super::train::{TrainError, TrainSettings};
use crate::goals::Problem;
use crate::learners::{Architecture, Features, Parametric};
use crate::names::names;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

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
    /// What the answer is selected on.
    pub selection: &'a Sample<'a>,
    /// Whether the answer is selected on other examples than those that the scorer is fit to.
    pub validated: bool,
}

/// A way to solve a problem, one iteration at a time: all that a later iteration depends on.
pub(crate) trait Solver: Send + Serialize + DeserializeOwned {
    /// Room that iterations use again.
    type Buffers: Send;

    /// The step size of each run that it makes; 0 where it has none.
    fn runs(settings: &TrainSettings) -> Vec<f64>;

    /// The most iterations of a run.
    fn iterations(settings: &TrainSettings) -> usize;

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
    ) -> Option<Found>;

    /// The scorers to be kept after an iteration, which `found` tells of; it may be the last one.
    fn kept(&mut self, task: &SolverTask, iteration: usize, found: Found, last: bool) -> Vec<Snapshot>;

    /// Whether there is nothing more to do.
    fn is_done(&self) -> bool {
        false
    }

    /// What is known of the best there is on the examples that it looked at.
    fn search(&self) -> Option<Search> {
        None
    }
}

/// What an iteration found, as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Found {
    /// The value to be minimized.
    pub cost: f64,
    /// The largest violation.
    pub violation: f64,
}

impl Found {
    /// What rates come to that stand in the order of the problem's.
    pub(crate) fn of(problem: &Problem, rates: &[f64]) -> Found {
        Found::at(problem, rates, &problem.best_centers(rates))
    }

    /// The same with the centers that are best at these rates.
    pub(crate) fn at(problem: &Problem, rates: &[f64], centers: &[f64]) -> Found {
        Found { cost: problem.cost_at(rates, centers), violation: problem.largest_miss_at(rates, centers) }
    }
}

/// How thoroughly a better answer was looked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Search {
    /// Answers that were tried since the last one that was better, if none is any more.
    pub tries: Option<usize>,
    /// No mixture of scorers that meets the constraints costs less.
    pub bound: Option<f64>,
    /// The room that each constraint is to be met with.
    pub room: Vec<f64>,
    /// Whether rates are those of scorers on rows that they were not fit to.
    pub cross_fit: bool,
    /// Whether rates are of pairs across queries.
    pub across_queries: bool,
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

/// What came out of all runs.
pub(crate) struct Executed {
    /// The step size and the snapshots of each run.
    pub runs: Vec<(f64, Vec<Snapshot>)>,
    /// How each of them ended.
    pub endings: Vec<RunEnding>,
    /// Whether none was stopped.
    pub completed: bool,
    /// What the last run knows of the best there is.
    pub search: Option<Search>,
}

solvers! {
    /// The proxy-Lagrangian game of Cotter et al. (2019).
    #[default]
    Paper, Game<Parametric>, "paper", "The game of Narasimhan et al. (2020)";
    /// Column generation.
    Columns, ColumnGeneration, "columns", "Best answers to the prices of a linear program, until none is better";
}
