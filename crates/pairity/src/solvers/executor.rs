//! The executor: runs of a solver side by side, with a time limit, progress, interruption and checkpoints.
//! None of these has an influence on what the solver does.

use super::checkpoint::Checkpoint;
use super::train::TrainError;
use crate::goals::{Assessment, Problem};
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Runs pause this often at least, for progress, checkpoints and whoever wants to stop them.
const PAUSE: Duration = Duration::from_millis(200);

/// A way to solve a problem, one iteration at a time.
pub(crate) trait Solver: Sync {
    /// All that a later iteration depends on.
    type State: Send + Serialize + DeserializeOwned;
    /// Room that iterations use again.
    type Buffers;

    /// The state from which a run with a step size starts.
    fn start(&self, step_size: f64) -> Self::State;

    /// Room for iterations.
    fn buffers(&self) -> Self::Buffers;

    /// One iteration, counted from 0: how the scorer did before it. None if scores became infinite, after
    /// which there is nothing more to do.
    fn next_iteration(
        &self,
        iteration: usize,
        state: &mut Self::State,
        buffers: &mut Self::Buffers,
    ) -> Option<Assessment>;

    /// The parameters of the scorer as it is now, and what objective and bounds weigh.
    fn snapshot(&self, state: &Self::State) -> (Vec<f64>, Vec<f64>);
}

/// A scorer on the way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Snapshot {
    /// Iterations made.
    pub iteration: usize,
    #[serde(with = "crate::learners::numbers")]
    pub parameters: Vec<f64>,
    /// The value to be minimized, in the last iteration.
    pub cost: f64,
    /// The largest violation, in the last iteration.
    pub violation: f64,
    /// What objective and bounds weigh.
    pub weights: Vec<f64>,
}

/// One run of a solver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SolverRun<S> {
    pub step_size: f64,
    /// Iterations made.
    pub iteration: usize,
    /// The value to be minimized, in the last iteration.
    cost: f64,
    /// The largest violation, in the last iteration.
    violation: f64,
    pub snapshots: Vec<Snapshot>,
    /// None once scores became infinite.
    pub state: Option<S>,
}

impl<S> SolverRun<S> {
    /// The same run with its state in another form.
    pub(crate) fn map<T, E>(&self, form: impl Fn(&S) -> Result<T, E>) -> Result<SolverRun<T>, E> {
        Ok(SolverRun {
            step_size: self.step_size,
            iteration: self.iteration,
            cost: self.cost,
            violation: self.violation,
            snapshots: self.snapshots.clone(),
            state: self.state.as_ref().map(form).transpose()?,
        })
    }
}

/// Why runs ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Termination {
    /// All iterations were made.
    Completed,
    /// Time ran out.
    TimeLimit,
    /// Somebody stopped them.
    Interrupted,
}

/// How far runs have come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunProgress {
    /// Iterations made, over all runs.
    pub done: usize,
    /// Iterations to make.
    pub iterations: usize,
    /// The stated objective of the best run so far.
    pub objective: f64,
    /// Its largest violation, at least 0.
    pub violation: f64,
}

/// What is told while training goes on; by default nothing.
pub struct Watch<'a> {
    /// Is told the progress several times a second; false stops the run with the best so far.
    pub progress: &'a dyn Fn(&RunProgress) -> bool,
    /// Is given checkpoints.
    pub save: &'a dyn Fn(&Checkpoint),
    /// Time from one checkpoint to the next; there is always one when the run is stopped.
    pub save_every: Duration,
    /// Where to go on from.
    pub resume: Option<Checkpoint>,
}

impl Default for Watch<'_> {
    fn default() -> Self {
        Watch { progress: &|_| true, save: &|_| (), save_every: Duration::MAX, resume: None }
    }
}

/// Runs a solver.
pub(crate) struct Executor<'a, S> {
    pub solver: &'a S,
    pub problem: &'a Problem,
    /// Of each run.
    pub iterations: usize,
    /// Iterations from one snapshot to the next.
    pub every: usize,
    pub time_limit: Option<Duration>,
    /// Of everything that the runs depend on.
    pub fingerprint: u64,
}

impl<S: Solver> Executor<'_, S> {
    /// Runs at their start, or where a checkpoint left them.
    pub(crate) fn runs(
        &self,
        step_sizes: &[f64],
        resume: Option<Checkpoint>,
    ) -> Result<Vec<SolverRun<S::State>>, TrainError> {
        if let Some(checkpoint) = resume {
            return checkpoint.resume(self.fingerprint);
        }
        let start = |&step_size: &f64| SolverRun {
            step_size,
            iteration: 0,
            cost: 0.0,
            violation: 0.0,
            snapshots: Vec::new(),
            state: Some(self.solver.start(step_size)),
        };
        Ok(step_sizes.iter().map(start).collect())
    }

    /// Makes the iterations of all runs side by side, pausing for progress and checkpoints.
    pub(crate) fn execute(&self, runs: &mut [SolverRun<S::State>], watch: &Watch) -> Termination {
        let start = Instant::now();
        let in_time = || self.time_limit.is_none_or(|limit| start.elapsed() < limit);
        let (mut saved, mut took) = (Instant::now(), Duration::ZERO);
        while runs.iter().any(|run| !self.is_over(run)) {
            let pause = Instant::now();
            // However little time there is, every run makes a step, so that there is a model. The scope makes
            // even a single run use one of the pool's own threads: from outside, each of its steps would
            // wait for another thread to wake up, several times.
            rayon::scope(|_| {
                runs.par_iter_mut().for_each(|run| {
                    let to = run.iteration + self.every;
                    self.iterate(run, &|done| done < to && pause.elapsed() < PAUSE && in_time());
                });
            });
            let over = runs.iter().all(|run| self.is_over(run));
            let interrupted = !(watch.progress)(&self.progress(runs));
            let stop = (interrupted || !in_time()) && !over;
            // Large states take long to write: no more than a tenth of the time goes there.
            if stop || saved.elapsed() >= watch.save_every.max(10 * took) {
                let started = Instant::now();
                if let Ok(checkpoint) = Checkpoint::new(self.fingerprint, runs) {
                    (watch.save)(&checkpoint);
                }
                took = started.elapsed();
                saved = Instant::now();
            }
            if stop {
                return if interrupted { Termination::Interrupted } else { Termination::TimeLimit };
            }
        }
        Termination::Completed
    }

    fn is_over(&self, run: &SolverRun<S::State>) -> bool {
        run.state.is_none() || run.iteration >= self.iterations
    }

    /// Makes iterations while `go_on` agrees, which is asked after each with their number.
    fn iterate(&self, run: &mut SolverRun<S::State>, go_on: &dyn Fn(usize) -> bool) {
        let mut buffers = self.solver.buffers();
        while run.iteration < self.iterations {
            let Some(state) = &mut run.state else { break };
            let Some(found) = self.solver.next_iteration(run.iteration, state, &mut buffers) else {
                run.state = None;
                break;
            };
            run.iteration += 1;
            // A batch may lack the pairs of the objective.
            run.cost = if found.cost.is_finite() { found.cost } else { 0.0 };
            run.violation = found.violation;
            if run.iteration.is_multiple_of(self.every) || run.iteration == self.iterations {
                run.snapshots.extend(self.current(run));
            }
            if !go_on(run.iteration) {
                break;
            }
        }
    }

    /// The snapshots of a run, and where it was stopped its last scorer.
    pub(crate) fn snapshots(&self, run: SolverRun<S::State>) -> Vec<Snapshot> {
        let last = if self.is_over(&run) { None } else { self.current(&run) };
        let mut snapshots = run.snapshots;
        snapshots.extend(last);
        snapshots
    }

    /// The scorer as it is now.
    fn current(&self, run: &SolverRun<S::State>) -> Option<Snapshot> {
        let (parameters, weights) = self.solver.snapshot(run.state.as_ref()?);
        let SolverRun { iteration, cost, violation, .. } = *run;
        Some(Snapshot { iteration, parameters, cost, violation, weights })
    }

    /// How far all runs have come, and the best among them.
    fn progress(&self, runs: &[SolverRun<S::State>]) -> RunProgress {
        let done = |run: &_| if self.is_over(run) { self.iterations } else { run.iteration };
        let best = runs
            .iter()
            .filter(|run| run.state.is_some())
            .map(|run| (run.violation, run.cost))
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (violation, cost) = best.unwrap_or_default();
        RunProgress {
            done: runs.iter().map(done).sum(),
            iterations: runs.len() * self.iterations,
            objective: self.problem.stated_objective(cost),
            violation,
        }
    }
}
