//! The executor: runs of a solver side by side, with a time limit, progress, interruption and checkpoints.
//! None of these has an influence on what the solver does.

use super::checkpoint::Checkpoint;
use super::patience::Patience;
use super::solver::{Executed, Found, Solver, SolverKind, SolverTask, Training};
use super::train::{TrainError, TrainSettings};
use crate::names::names;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Runs pause this often at least, for progress, checkpoints and whoever wants to stop them.
const PAUSE: Duration = Duration::from_millis(200);

/// A scorer on the way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Snapshot {
    /// Iterations made.
    pub iteration: usize,
    #[serde(with = "crate::numbers")]
    pub parameters: Vec<f64>,
    /// The value to be minimized, in the last iteration.
    pub cost: f64,
    /// The largest violation, in the last iteration.
    pub violation: f64,
    /// What objective and bounds weigh.
    pub weights: Vec<f64>,
    /// The rates that selection goes by, where they are those of scorers fit to other rows than they are measured on.
    pub rates: Option<Vec<f64>>,
}

impl Snapshot {
    pub(crate) fn new(iteration: usize, parameters: Vec<f64>, found: Found, weights: Vec<f64>) -> Snapshot {
        let Found { cost, violation } = found;
        Snapshot { iteration, parameters, cost, violation, weights, rates: None }
    }

    /// A scorer that was on no way.
    pub(crate) fn of(parameters: Vec<f64>) -> Snapshot {
        Snapshot::new(0, parameters, Found::default(), Vec::new())
    }
}

/// One run of a solver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SolverRun<S> {
    step_size: f64,
    /// Iterations made.
    pub iteration: usize,
    /// What the last iteration found.
    found: Found,
    snapshots: Vec<Snapshot>,
    /// How they do on what the answer is selected on, where that decides when the run ends.
    patience: Patience,
    /// None once scores became infinite.
    state: Option<S>,
}

impl<S: Solver> SolverRun<S> {
    /// Keeps scorers of the last iteration.
    fn keep(&mut self, task: &SolverTask, last: bool) {
        let kept = self.state.as_mut().map(|state| state.kept(task, self.iteration, self.found, last));
        let before = self.snapshots.len();
        self.snapshots.extend(kept.into_iter().flatten());
        if patience(task).is_some() {
            let Training { problem, architecture, .. } = task.training;
            for snapshot in &self.snapshots[before..] {
                let rates = task.selection.true_rates_of(architecture, &snapshot.parameters);
                self.patience.see(Found::of(problem, &rates));
            }
        }
    }
}

/// Snapshots in a row that may be no better before a run ends. What a term adds to the loss is no part of cost or
/// violation, and column generation knows by itself when it is done.
fn patience(task: &SolverTask) -> Option<usize> {
    let Training { settings, term, .. } = task.training;
    settings.patience.filter(|_| term.is_none() && settings.solver == SolverKind::Paper)
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// It made all its iterations, or its solver had nothing more to do.
    Done,
    /// Snapshots in a row were no better than earlier ones.
    NoBetter,
    /// Scores became infinite.
    Infinite,
    /// Time ran out, or somebody stopped it.
    Stopped,
}

names! { RunEnd:
    "done" => Done, "All iterations were made, or there was nothing more to do";
    "no_better" => NoBetter, "Snapshots in a row were no better";
    "infinite" => Infinite, "Scores became infinite";
    "stopped" => Stopped, "Time ran out, or somebody stopped it";
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunEnding {
    /// The step size of the run; 0 where it has none.
    pub step_size: f64,
    /// Iterations made.
    pub iterations: usize,
    /// Why it ended.
    pub end: RunEnd,
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
pub(crate) struct Executor<'a> {
    pub task: &'a SolverTask<'a>,
    /// Of everything that the runs depend on.
    pub fingerprint: u64,
}

impl Executor<'_> {
    /// Makes the runs of a solver, each from its start or from where a checkpoint left it.
    pub(crate) fn run<S: Solver>(&self, mut watch: Watch) -> Result<Executed, TrainError> {
        let start = |&step_size: &f64| SolverRun {
            step_size,
            iteration: 0,
            found: Found::default(),
            snapshots: Vec::new(),
            patience: Patience::default(),
            state: Some(S::start(self.task, step_size)),
        };
        let mut runs: Vec<SolverRun<S>> = match watch.resume.take() {
            Some(checkpoint) => checkpoint.resume(self.fingerprint)?,
            None => S::runs(self.settings()).iter().map(start).collect(),
        };
        let completed = self.execute(&mut runs, &watch);
        let endings = runs.iter().map(|run| self.ending(run)).collect();
        for run in &mut runs {
            // Where it was stopped, its last scorer too.
            if !self.is_over(run) {
                run.keep(self.task, true);
            }
        }
        let search = runs.last().and_then(|run| run.state.as_ref()?.search());
        let runs = runs.into_iter().map(|run| (run.step_size, run.snapshots)).collect();
        Ok(Executed { runs, endings, completed, search })
    }

    fn ending<S: Solver>(&self, run: &SolverRun<S>) -> RunEnding {
        let end = match &run.state {
            None => RunEnd::Infinite,
            Some(_) if !self.is_over(run) => RunEnd::Stopped,
            Some(state) if state.is_done() || run.iteration >= S::iterations(self.settings()) => RunEnd::Done,
            Some(_) => RunEnd::NoBetter,
        };
        RunEnding { step_size: run.step_size, iterations: run.iteration, end }
    }

    fn settings(&self) -> &TrainSettings {
        self.task.training.settings
    }

    /// Iterations from one pause to the next.
    fn every<S: Solver>(&self) -> usize {
        (S::iterations(self.settings()) / self.settings().snapshots).max(1)
    }

    /// Makes the iterations of all runs side by side, pausing for progress and checkpoints: whether all were
    /// made, before time ran out or somebody stopped them.
    fn execute<S: Solver>(&self, runs: &mut [SolverRun<S>], watch: &Watch) -> bool {
        let start = Instant::now();
        let in_time = || self.settings().time_limit.is_none_or(|limit| start.elapsed() < limit);
        let (mut saved, mut took) = (Instant::now(), Duration::ZERO);
        let mut rooms: Vec<Option<S::Buffers>> = runs.iter().map(|_| None).collect();
        while runs.iter().any(|run| !self.is_over(run)) {
            let pause = Instant::now();
            // However little time there is, every run makes a step, so that there is a model. The scope makes
            // even a single run use one of the pool's own threads: from outside, each of its steps would
            // wait for another thread to wake up, several times.
            rayon::scope(|_| {
                runs.par_iter_mut().zip(&mut rooms).for_each(|(run, room)| {
                    let to = run.iteration + self.every::<S>();
                    let go_on = |done| done < to && pause.elapsed() < PAUSE && in_time();
                    self.iterate(run, room.get_or_insert_with(|| S::buffers(self.task)), &go_on);
                    if self.is_over(run) {
                        *room = None;
                    }
                });
            });
            let over = runs.iter().all(|run| self.is_over(run));
            let go_on = (watch.progress)(&self.progress(runs)) && in_time();
            let stop = !go_on && !over;
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
                return false;
            }
        }
        true
    }

    fn is_over<S: Solver>(&self, run: &SolverRun<S>) -> bool {
        run.state.as_ref().is_none_or(S::is_done)
            || run.iteration >= S::iterations(self.settings())
            || patience(self.task).is_some_and(|most| run.patience.is_over(most))
    }

    /// Makes iterations while `go_on` agrees, which is asked after each with their number.
    fn iterate<S: Solver>(
        &self,
        run: &mut SolverRun<S>,
        buffers: &mut S::Buffers,
        go_on: &dyn Fn(usize) -> bool,
    ) {
        while !self.is_over(run) {
            let Some(state) = &mut run.state else { break };
            let Some(found) = state.next_iteration(self.task, run.iteration, buffers) else {
                run.state = None;
                break;
            };
            run.iteration += 1;
            // The first batches may lack the pairs of the objective; and a checkpoint holds finite numbers.
            let number = |x: f64| if x.is_nan() { 0.0 } else { x.clamp(f64::MIN, f64::MAX) };
            run.found = Found { cost: number(found.cost), violation: number(found.violation) };
            let last = self.is_over(run);
            run.keep(self.task, last);
            if !go_on(run.iteration) {
                break;
            }
        }
    }

    /// How far all runs have come, and the best among them.
    fn progress<S: Solver>(&self, runs: &[SolverRun<S>]) -> RunProgress {
        let iterations = S::iterations(self.settings());
        let done = |run: &_| if self.is_over(run) { iterations } else { run.iteration };
        let live =
            runs.iter().filter(|run| run.state.is_some()).map(|run| (run.found.violation, run.found.cost));
        let best = live.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (violation, cost) = best.unwrap_or_default();
        RunProgress {
            done: runs.iter().map(done).sum(),
            iterations: runs.len() * iterations,
            objective: self.task.training.problem.stated_objective(cost),
            violation,
        }
    }
}
