//! Runs experiments over several seeds, and sets the results beside the paper's.

use crate::data::SIMULATED_QUERIES;
use crate::error::DataError;
use crate::experiments::{Contender, Experiment, Published};
use crate::trial::TrialError;
use pairity::training::Evaluation;
use std::path::PathBuf;

/// How experiments are run.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Number of seeds; each is another split, and another draw of simulated data.
    pub seeds: u64,
    /// Shares of training, validation and test; without a test part the training part is reported.
    pub split: [f64; 3],
    /// Steps of each game.
    pub iterations: usize,
    /// Queries of a simulated task.
    pub queries: u32,
    /// Where published data is looked for first.
    pub folder: Option<PathBuf>,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            seeds: 5,
            split: [0.5, 0.25, 0.25],
            iterations: 2_500,
            queries: SIMULATED_QUERIES,
            folder: None,
        }
    }
}

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum ReproduceError {
    /// Its data.
    Data(#[from] DataError),
    /// A run.
    Trial(#[from] TrialError),
}

/// Mean and standard deviation over seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation, dividing by one less than the number of seeds; 0 for one seed.
    pub std: f64,
}

impl Spread {
    /// Of some values, at least one.
    pub fn of(values: &[f64]) -> Spread {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Spread { mean, std: if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 } }
    }
}

/// One line of the result.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The experiment.
    pub experiment: &'static str,
    /// What it is, in words.
    pub title: &'static str,
    /// How it was trained.
    pub method: &'static str,
    /// `auc` or `mse`.
    pub shown: &'static str,
    /// That, over seeds.
    pub objective: Spread,
    /// The violation, over seeds.
    pub violation: Spread,
    /// The matrix of accuracies, or A[z > z'] and A[z < z'], averaged over seeds.
    pub matrix: Vec<Vec<f64>>,
    /// Where a limit is known: the objective of the goal that was reached, and the best that any mixture
    /// of linear scorers reaches on the same rows.
    pub limit: Option<(Spread, Spread)>,
    /// The paper's values.
    pub published: Option<Published>,
    /// Number of seeds.
    pub seeds: u64,
    /// Time for all seeds.
    pub seconds: f64,
    /// Whether the rows were generated in place of ones that are not public.
    pub stand_in: bool,
}

/// Runs one contender of an experiment over all seeds; `seen` hears of each seed that is done.
///
/// # Errors
/// Data that is not there; a split that leaves a rate without pairs.
pub fn line(
    experiment: &Experiment,
    contender: &Contender,
    plan: &Plan,
    seen: &dyn Fn(u64),
) -> Result<Line, ReproduceError> {
    let (mut objectives, mut violations, mut seconds) = (Vec::new(), Vec::new(), 0.0);
    let mut matrix: Vec<Vec<f64>> = Vec::new();
    let (mut limits, mut reached) = (Vec::new(), Vec::new());
    for seed in 0..plan.seeds {
        let data = experiment.data(seed, plan.queries, plan.folder.as_deref())?;
        let mut trial = contender.trial.clone();
        trial.settings.seed = seed;
        trial.settings.iterations = plan.iterations;
        trial.settings.snapshots = trial.settings.snapshots.min(plan.iterations);
        trial.split = plan.split;
        let result = trial.run(&data)?;
        seconds += result.time.as_secs_f64();
        if plan.split == [1.0, 0.0, 0.0] && experiment.task().is_some() && !trial.group_aware {
            limits.push(trial.limit_of_directions(&data)?);
            reached.push(result.trained.objective);
        }
        if let Some(evaluation) = result.part("test").or_else(|| result.part("train")) {
            objectives.push(shown(experiment, evaluation));
            violations.push(violation(experiment, evaluation));
            add(&mut matrix, &rates(evaluation), 1.0 / plan.seeds as f64);
        }
        seen(seed);
    }
    Ok(Line {
        experiment: experiment.name,
        title: experiment.title,
        method: contender.method,
        shown: experiment.objective,
        objective: Spread::of(&objectives),
        violation: Spread::of(&violations),
        matrix,
        limit: (!limits.is_empty()).then(|| (Spread::of(&reached), Spread::of(&limits))),
        published: contender.published,
        seeds: plan.seeds,
        seconds,
        stand_in: experiment.name == "business",
    })
}

fn shown(experiment: &Experiment, evaluation: &Evaluation) -> f64 {
    let metric = match experiment.objective {
        "mse" => evaluation.audit.mse.as_ref().and_then(|mse| mse.value),
        _ => evaluation.audit.auc.value,
    };
    metric.unwrap_or(f64::NAN)
}

/// The largest of the criteria that the experiment looks at.
fn violation(experiment: &Experiment, evaluation: &Evaluation) -> f64 {
    let gaps = evaluation.audit.gaps.iter().filter(|(criterion, _)| experiment.violation.contains(criterion));
    gaps.map(|(_, gap)| gap.value.unwrap_or(f64::NAN))
        .fold(0.0, |a: f64, b| if b.is_nan() { b } else { a.max(b) })
}

fn rates(evaluation: &Evaluation) -> Vec<Vec<f64>> {
    let audit = &evaluation.audit;
    let value = |metric: &pairity::metrics::Metric| metric.value.unwrap_or(f64::NAN);
    match &audit.continuous {
        Some((greater, less)) => vec![vec![value(greater), value(less)]],
        None => audit.accuracy.iter().map(|row| row.iter().map(value).collect()).collect(),
    }
}

fn add(sums: &mut Vec<Vec<f64>>, rates: &[Vec<f64>], factor: f64) {
    if sums.is_empty() {
        *sums = rates.iter().map(|row| vec![0.0; row.len()]).collect();
    }
    for (sums, rates) in sums.iter_mut().zip(rates) {
        sums.iter_mut().zip(rates).for_each(|(sum, rate)| *sum += factor * rate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_are_those_of_a_sample() {
        assert_eq!(Spread::of(&[1.0, 3.0]), Spread { mean: 2.0, std: 2f64.sqrt() });
        assert_eq!(Spread::of(&[5.0]), Spread { mean: 5.0, std: 0.0 });
    }

    #[test]
    fn a_small_run_of_the_simulated_tasks_has_every_line() {
        let plan = Plan { seeds: 2, iterations: 20, ..Plan::default() };
        for name in ["simulated", "simulated-marginal"] {
            let experiment = Experiment::of(name).unwrap();
            for contender in &experiment.contenders {
                let mut contender = contender.clone();
                contender.trial.settings.step_sizes = vec![0.1];
                let line = line(&experiment, &contender, &plan, &|_| ()).unwrap();
                assert!(line.objective.mean > 0.6 && line.violation.mean.is_finite(), "{line:?}");
                assert_eq!(line.matrix.len(), if name == "simulated" { 2 } else { 3 });
            }
        }
    }
}
