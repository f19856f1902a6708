//! Runs experiments over several seeds, and sets the results beside the paper's.

use crate::data::{DataError, SIMULATED_QUERIES};
use crate::dataset::Dataset;
use crate::experiments::{Contender, Experiment, Published};
use crate::population;
use pairity::examples::ExamplesError;
use pairity::goals::{Criterion, Problem, Vocabulary, parse_expression};
use pairity::learners::Encoder;
use pairity::methods::{MethodOptions, Stage};
use pairity::metrics::Metric;
use pairity::rates::Rate;
use pairity::run::{FitRequest, RunError, TrainOutcome, TrainRequest, train_from};
use pairity::solvers::{Answer, Evaluation, Select, SolverKind, Trained, Watch, reach};
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
    /// How the goal is reached, and what answers are selected on, where that is not as in the paper.
    pub solver: Option<(SolverKind, Select)>,
    /// Whether simulated tasks have the means that the paper prints, which are not those it used.
    pub as_printed: bool,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            seeds: 5,
            split: [0.5, 0.25, 0.25],
            iterations: 2_500,
            queries: SIMULATED_QUERIES,
            folder: None,
            solver: None,
            as_printed: false,
        }
    }
}

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// Its data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Its rows.
    #[error(transparent)]
    Rows(#[from] ExamplesError),
    /// A run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A part whose rates have no pairs.
    #[error(
        "seed {seed}: {reason} in the rows that are reported: draw more queries, or give their part a larger share"
    )]
    NoPairs {
        /// The seed of the split.
        seed: u64,
        /// What can't be estimated.
        reason: String,
    },
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
    /// Objective and violation over all that a simulated task could draw, where linear scorers that don't
    /// see groups have them in closed form.
    pub population: Option<(Spread, Spread)>,
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
    /// Whether the rows are only a sample of those that the paper used.
    pub sample: bool,
    /// What a reader should know of the data and of how it was trained.
    pub notes: Vec<String>,
}

/// Runs all contenders of an experiment over all seeds; `seen` hears of each run that is done.
///
/// # Errors
/// Data that is not there; a split that leaves a rate without pairs.
pub fn lines(
    experiment: &Experiment,
    plan: &Plan,
    seen: &dyn Fn(&'static str),
) -> Result<Vec<Line>, ReproduceError> {
    let experiment = &Experiment { as_printed: plan.as_printed, ..experiment.clone() };
    let mut sums: Vec<SeedSums> = experiment.contenders.iter().map(|_| SeedSums::default()).collect();
    for seed in 0..plan.seeds {
        let data = experiment.data(seed, plan.queries, plan.folder.as_deref())?;
        // What post-processing starts from is trained once.
        let mut unconstrained: Option<(FitRequest, Trained, f64)> = None;
        for (contender, sums) in experiment.contenders.iter().zip(&mut sums) {
            let mut request = contender.request.clone();
            // The paper's values are those expected of a mixture, with queries or without.
            request.answer = Answer::Mixture;
            request.fit.seed = seed;
            request.fit.standardize = data.standardize;
            request.fit.iterations = plan.iterations.min(request.fit.iterations);
            request.fit.split = Some(plan.split);
            if let Some(way) = plan.solver.filter(|_| request.fit.solver == Some(SolverKind::Paper)) {
                (request.fit.solver, request.fit.select) = (Some(way.0), Some(way.1));
            }
            // A scorer that was trained in any other way is another one; what is set of methods is not its concern.
            let plain = FitRequest { options: MethodOptions::default(), ..request.fit.clone() };
            let base = unconstrained.as_ref().filter(|(fit, ..)| *fit == plain);
            let trained = base.map(|(_, trained, _)| trained);
            let result = train_from(data.training_rows()?, &request, trained, Watch::default())?;
            let mut seconds = result.seconds;
            if request.method.stage == Stage::Scores {
                seconds += base.map_or(0.0, |(.., seconds)| *seconds);
            }
            sums.seconds += seconds;
            sums.add(experiment, plan, &request, &data, &result)?;
            if request.method.stage == Stage::Unconstrained && base.is_none() {
                unconstrained = Some((plain, result.trained, seconds));
            }
            seen(contender.method);
        }
    }
    let lines = experiment.contenders.iter().zip(sums);
    Ok(lines.map(|(contender, sums)| sums.line(experiment, contender, plan.seeds)).collect())
}

/// The values of one contender, seed by seed.
#[derive(Default)]
struct SeedSums {
    /// Objectives and violations.
    shown: Vec<(f64, f64)>,
    matrix: Vec<Vec<f64>>,
    /// What was reached, and the limit of it.
    limits: Vec<(f64, f64)>,
    population: Vec<(f64, f64)>,
    seconds: f64,
    sample: bool,
    notes: Vec<String>,
}

impl SeedSums {
    fn add(
        &mut self,
        experiment: &Experiment,
        plan: &Plan,
        request: &TrainRequest,
        data: &Dataset,
        result: &TrainOutcome,
    ) -> Result<(), ReproduceError> {
        self.sample = data.sample;
        self.notes.clone_from(&data.notes);
        let stage = request.method.stage;
        if plan.split == [1.0, 0.0, 0.0]
            && experiment.task().is_some()
            && request.fit.group_aware.is_none()
            && matches!(stage, Stage::Constraints | Stage::Unconstrained)
        {
            let mut fit = request.fit.clone();
            if stage == Stage::Unconstrained {
                fit.goal.subject_to.clear();
            }
            self.limits.push((result.trained.objective, limit_of_directions(&fit, data)?));
        }
        if let Some(evaluation) = result.part("test").or_else(|| result.part("train")) {
            if let Some(reason) = not_estimable(experiment, evaluation) {
                return Err(ReproduceError::NoPairs { seed: request.fit.seed, reason });
            }
            self.shown.push((shown(experiment, evaluation), violation(experiment, evaluation)));
            let rates = rates(evaluation);
            self.matrix.resize_with(rates.len(), || vec![0.0; rates[0].len()]);
            for (sum, rate) in self.matrix.iter_mut().flatten().zip(rates.iter().flatten()) {
                *sum += 1.0 / plan.seeds as f64 * rate;
            }
        }
        self.population.extend(in_population(experiment, request, result));
        Ok(())
    }

    fn line(self, experiment: &Experiment, contender: &Contender, seeds: u64) -> Line {
        let both = |values: &[(f64, f64)]| {
            let (first, second): (Vec<f64>, Vec<f64>) = values.iter().copied().unzip();
            (Spread::of(&first), Spread::of(&second))
        };
        let (objective, violation) = both(&self.shown);
        Line {
            experiment: experiment.name,
            title: experiment.title,
            method: contender.method,
            shown: experiment.objective,
            objective,
            violation,
            population: (!self.population.is_empty()).then(|| both(&self.population)),
            matrix: self.matrix,
            limit: (!self.limits.is_empty()).then(|| both(&self.limits)),
            published: contender.published,
            seeds,
            seconds: self.seconds,
            stand_in: experiment.name == "business",
            sample: self.sample,
            notes: self.notes.into_iter().chain(experiment.notes.iter().cloned()).collect(),
        }
    }
}

/// Directions of weights that are tried.
const DIRECTIONS: u32 = 720;

/// The best that any mixture of linear scorers of two features reaches for the goal, with no more violation than
/// the least of any: all directions and a linear program.
///
/// # Errors
/// A goal that does not fit the data.
fn limit_of_directions(request: &FitRequest, data: &Dataset) -> Result<f64, RunError> {
    let examples = data.examples()?;
    let problem = Problem::of_goal(&request.goal, &examples.vocabulary())?;
    let columns: Vec<_> = data.columns.iter().collect();
    let features = Encoder::learn(&columns, None, false)?.encode(&data.columns)?.features;
    let scores = |step| {
        let (y, x) = (f64::from(step) * std::f64::consts::TAU / f64::from(DIRECTIONS)).sin_cos();
        features.values().chunks(2).map(|f| x * f[0] + y * f[f.len() - 1]).collect()
    };
    let scorers: Vec<Vec<f64>> = (0..DIRECTIONS).map(scores).collect();
    Ok(reach(&problem, &examples, &scorers, request.measure.average)?.objective)
}

/// Objective and violation of a mixture of linear scorers over all that the task could draw.
fn in_population(
    experiment: &Experiment,
    request: &TrainRequest,
    result: &TrainOutcome,
) -> Option<(f64, f64)> {
    let task = experiment.task()?;
    if request.fit.group_aware.is_some() || result.model.after.is_some() || experiment.objective != "auc" {
        return None;
    }
    let mut members = Vec::new();
    for component in &result.trained.components {
        let [x, y] = component.parameters[..] else { return None };
        members.push((component.probability, population::rates(&task, [x, y])));
    }
    let expected = |rate: Rate| {
        let values = members.iter().map(|(p, rates)| Some(p * rates.rate(rate)?));
        values.sum::<Option<f64>>().unwrap_or(f64::NAN)
    };
    let groups = (0..task.groups().len()).map(|group| group.to_string()).collect();
    let words = Vocabulary { groups, continuous: false };
    let gap = |criterion: &Criterion| {
        let expression = parse_expression(criterion.name(), &words).ok()?;
        Some(expression.value(&mut { expected }))
    };
    let gaps: Option<Vec<f64>> = experiment.violation.iter().map(gap).collect();
    Some((expected(Rate::AUC), gaps?.into_iter().fold(0.0, f64::max)))
}

/// Why a number of a line can't be estimated, if one can't.
fn not_estimable(experiment: &Experiment, evaluation: &Evaluation) -> Option<String> {
    let audit = &evaluation.audit;
    let gaps = audit.gaps.iter().filter(|(criterion, _)| experiment.violation.contains(criterion));
    let metrics =
        [&audit.auc].into_iter().chain(audit.accuracy.iter().flatten()).chain(gaps.map(|(_, gap)| gap));
    let mut missing = metrics.filter(|metric| metric.value.is_none());
    missing.find_map(|metric| metric.reason.clone())
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
    let value = |metric: &Metric| metric.value.unwrap_or(f64::NAN);
    match &audit.continuous {
        Some(rates) => vec![vec![value(&rates.greater), value(&rates.less)]],
        None => audit.accuracy.iter().map(|row| row.iter().map(value).collect()).collect(),
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
            let mut experiment = Experiment::of(name).unwrap();
            for contender in &mut experiment.contenders {
                contender.request.fit.step_sizes = vec![0.1];
            }
            for mut line in lines(&experiment, &plan, &|_| ()).unwrap() {
                let verdict = |line: &Line| crate::agreement::of_line(line).is_some();
                assert_eq!(verdict(&line), line.published.is_some(), "{line:?}");
                line.stand_in = true;
                assert!(!verdict(&line), "made-up data say nothing about the paper");
                assert!(line.objective.mean > 0.6 && line.violation.mean.is_finite(), "{line:?}");
                assert_eq!(line.matrix.len(), if name == "simulated" { 2 } else { 3 });
                if let Some((objective, _)) = line.population {
                    // Test parts of 1,250 queries have an AUC with a deviation of .005.
                    assert!((objective.mean - line.objective.mean).abs() < 0.015, "{line:?}");
                }
            }
        }
    }

    #[test]
    fn a_part_without_pairs_is_an_error_and_no_nan() {
        let plan = Plan { seeds: 1, iterations: 2, queries: 4, ..Plan::default() };
        let error = lines(&Experiment::of("simulated").unwrap(), &plan, &|_| ()).unwrap_err().to_string();
        assert!(error.starts_with("seed 0: A[") && error.contains("draw more queries"), "{error}");
    }

    #[test]
    fn a_scorer_is_used_again_only_by_what_asks_for_the_same_one() {
        let mut experiment = Experiment::of("simulated").unwrap();
        experiment
            .contenders
            .retain(|contender| ["unconstrained", "kallus-zhou"].contains(&contender.method));
        let mut batches = experiment.contenders[0].clone();
        (batches.method, batches.request.fit.batch) = ("unconstrained, batches", Some(5));
        experiment.contenders.insert(1, batches);
        for contender in &mut experiment.contenders {
            contender.request.fit.step_sizes = vec![0.1];
        }
        let plan = Plan { seeds: 1, iterations: 30, queries: 100, ..Plan::default() };
        let found = lines(&experiment, &plan, &|_| ()).unwrap();
        assert!(found.iter().all(|line| line.seconds > 0.0));
        // Over all that could be drawn, where no two scorers are equal.
        let values = |line: &Line| line.population.unwrap();
        assert_ne!(values(&found[0]), values(&found[1]));
        // By itself it is the same run.
        experiment.contenders = vec![experiment.contenders[1].clone()];
        let alone = lines(&experiment, &plan, &|_| ()).unwrap();
        assert_eq!(values(&alone[0]), values(&found[1]));
    }

    #[test]
    fn a_small_run_on_comments_has_networks_and_words_and_no_verdicts() {
        let folder = tempfile::tempdir().unwrap();
        let row = |row: usize| {
            let (word, term) = (
                if row.is_multiple_of(3) { "awful" } else { "fine" },
                if row.is_multiple_of(4) { "gay" } else { "" },
            );
            format!("\"you are {word} {term} number {}\",{}\n", row % 7, row.is_multiple_of(3))
        };
        let table = "comment,toxic\n".to_owned() + &(0..240).map(row).collect::<String>();
        std::fs::write(folder.path().join("toxicity_nonfuzzed_testset.csv"), table).unwrap();
        let plan =
            Plan { seeds: 2, iterations: 40, folder: Some(folder.path().to_owned()), ..Plan::default() };
        let found = lines(&Experiment::of("wiki").unwrap(), &plan, &|_| ()).unwrap();
        let methods: Vec<&str> = found.iter().map(|line| line.method).collect();
        assert_eq!(methods[..2], ["unconstrained", "debiased"]);
        assert_eq!(methods[7..], ["unconstrained, words", "constrained, words", "robust, words"]);
        for line in &found {
            assert!(line.sample && crate::agreement::of_line(line).is_none());
            assert!(line.objective.mean.is_finite() && line.matrix.len() == 2, "{line:?}");
            assert!(line.notes[0].starts_with("240 comments, a sample"), "{:?}", line.notes);
        }
        // One word decides: both kinds of scorer find it.
        assert_eq!((found[0].objective.mean, found[6].objective.mean), (1.0, 1.0));
    }
}
