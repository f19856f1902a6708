//! What answers are fit to and rated on: all rows, all but those of a fold, and pairs across queries.

use super::ColumnGeneration;
use super::across::sample_across_queries;
use super::master::{Phase, Prices};
use super::moments::{MomentSums, Moments};
use super::response::{Fitting, Response, SampleShape};
use crate::goals::{Problem, TOLERANCE};
use crate::pairs::RateSums;
use crate::rates::Rate;
use crate::solvers::loss::{Sample, SurrogateWeights};
use crate::solvers::solver::SolverTask;
use crate::solvers::train::Select;
use crate::threads;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Parts of the rows for cross-fitting.
pub(super) const FOLDS: usize = 5;

/// Rows or queries for each parameter from which scorers fit hardly anything but what is there: then the rates of the rows
/// that they are fit to are as good as those of others.
const PLENTY: usize = 200;

/// How far apart a bound may be for a scorer that is fit to all rows and for those that are fit without each fold: where
/// they are farther, and by more than what is allowed anyway, rows that were not fit tell of other scorers than the one
/// that the model would have.
pub(super) const UNSTEADY: f64 = 0.1;

/// A scorer with its rates, and what it was an answer to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AnswerColumn {
    /// What the forms of the objective and the bounds weighed.
    pub(super) weights: Vec<f64>,
    pub(super) l2: f64,
    #[serde(with = "crate::numbers")]
    pub(super) parameters: Vec<f64>,
    /// Those fit to all rows but a fold.
    pub(super) folds: Vec<Vec<f64>>,
    pub(super) rates: Vec<f64>,
    /// Whether bounds are about the same for the scorer that is fit to all rows and for those of the folds.
    pub(super) steady: bool,
}

impl AnswerColumn {
    /// Its Lagrangian, if it may join the others.
    pub(super) fn improved(&self, problem: &Problem, prices: &Prices) -> f64 {
        if self.steady { prices.lagrangian(problem, &self.rates) } else { f64::INFINITY }
    }
}

/// What all iterations look at.
pub(crate) struct Rooms {
    whole: SampleShape,
    folds: Vec<Fold>,
    /// All rows as if they were of one query, where rates are of pairs across queries.
    pub(super) across: Option<Sample<'static>>,
}

/// All rows but those of a fold, and its own.
struct Fold {
    others: Sample<'static>,
    /// As if they were of one query, where queries are alike.
    own: Sample<'static>,
    shape: SampleShape,
}

impl Rooms {
    /// With what weight decay counts the square of each parameter for.
    pub(super) fn of(task: &SolverTask, decay: Vec<f64>) -> Rooms {
        let across = sample_across_queries(task);
        let (mut folds, mut moments) = (Vec::new(), None);
        if is_cross_fit(task) {
            (folds, moments) = parts(task, &decay, across.is_some()).unwrap_or_default();
        }
        let whole = SampleShape::of(task.training.architecture, task.sample, decay, moments);
        Rooms { whole, folds, across }
    }

    /// Whether rates are those of rows that scorers were not fit to.
    pub(super) fn is_cross_fit(&self) -> bool {
        !self.folds.is_empty()
    }
}

/// The folds of the rows that are fit, each with all other rows; and the moments of all.
fn parts(task: &SolverTask, decay: &[f64], across: bool) -> Option<(Vec<Fold>, Option<Moments>)> {
    let (training, examples) = (&task.training, task.sample.examples());
    let shares = [1.0 / FOLDS as f64; FOLDS];
    let folds = examples.split(&shares, training.settings.seed).ok()?;
    let mut samples = Vec::new();
    for fold in folds.into_iter().flatten() {
        let mut own = vec![false; examples.rows()];
        fold.example_rows().iter().for_each(|&row| own[row as usize] = true);
        let others = examples.part(&examples.units_where(|row| !own[row])).ok()?;
        let others = Sample::owning(training, others).ok()?;
        let fold = if across { fold.across_queries() } else { fold };
        samples.push((others, Sample::owning(training, fold).ok()?));
    }
    // The sums of the folds add up to those of all rows, and of all but one fold, unless blocks are parted.
    let parted = across || !examples.has_queries() && examples.blocks() > 1;
    let sums = |(_, own): &(Sample, Sample)| MomentSums::of(training.architecture, own);
    let sums: Option<Vec<MomentSums>> = if parted { None } else { samples.iter().map(sums).collect() };
    let moments = |without: Option<usize>| {
        let own = sums.iter().flatten().enumerate().filter(|(at, _)| Some(*at) != without);
        MomentSums::of_all(own.map(|(_, sums)| sums)).map(MomentSums::moments)
    };
    let fold = |(at, (others, own))| {
        let shape = SampleShape::of(training.architecture, &others, decay.to_vec(), moments(Some(at)));
        Fold { others, own, shape }
    };
    Some((samples.into_iter().enumerate().map(fold).collect(), moments(None)))
}

/// Where an answer is looked for from.
pub(super) enum Start {
    /// The scorer that answered the nearest question.
    Nearest,
    /// Somewhere around there, by a stream of random numbers.
    Random(u64),
}

/// What is to be answered.
pub(super) struct Question {
    /// What the forms of the objective and the bounds weigh.
    pub(super) weights: Vec<f64>,
    pub(super) l2: f64,
    pub(super) start: Start,
}

/// Whether rates are those of rows that scorers were not fit to.
pub(super) fn is_cross_fit(task: &SolverTask) -> bool {
    let units = task.sample.examples().units();
    task.training.settings.select == Select::CrossFit && units < PLENTY * task.training.architecture.len()
}

/// Scorers that are fit without each of the first folds, with a weight decay.
pub(super) struct FirstSteps {
    pub(super) l2: f64,
    folds: Vec<Vec<f64>>,
}

/// What answers are fit to.
pub(super) struct Generation<'a> {
    pub(super) task: &'a SolverTask<'a>,
    /// With constraints that leave room to spare.
    pub(super) problem: &'a Problem,
    pub(super) whole: Fitting<'a>,
    /// What rates are of, where that is not what is fit, nor folds.
    across: Option<&'a Sample<'static>>,
    /// For each fold, all other rows, and its own.
    pub(super) folds: Vec<(Fitting<'a>, &'a Sample<'static>)>,
    /// Whether answers are the best there are.
    pub(super) exact: bool,
}

impl<'a> Generation<'a> {
    pub(super) fn new(task: &'a SolverTask<'a>, problem: &'a Problem, rooms: &'a Rooms) -> Generation<'a> {
        let whole = Fitting::new(&task.training, task.sample, &rooms.whole);
        let fold = |fold: &'a Fold| (Fitting::new(&task.training, &fold.others, &fold.shape), &fold.own);
        let folds = rooms.folds.iter().map(fold).collect();
        Generation {
            task,
            problem,
            exact: whole.is_exact(),
            whole,
            across: rooms.across.as_ref().filter(|_| rooms.folds.is_empty()),
            folds,
        }
    }

    /// A column of given scorers, with its rates.
    pub(super) fn column(
        &self,
        weights: Vec<f64>,
        l2: f64,
        parameters: Vec<f64>,
        folds: Vec<Vec<f64>>,
    ) -> AnswerColumn {
        let rates = match folds.is_empty() {
            true => {
                let sample = self.across.unwrap_or(self.whole.sample);
                sample.true_rates_of(self.task.training.architecture, &parameters)
            }
            false => self.rates_of_folds(&folds),
        };
        let steady = folds.is_empty() || self.is_steady(&parameters, &rates);
        AnswerColumn { weights, l2, parameters, folds, rates, steady }
    }

    /// The rates of scorers that were fit without each of the first folds, on these.
    fn rates_of_folds(&self, folds: &[Vec<f64>]) -> Vec<f64> {
        let mut sums = RateSums::default();
        for (parameters, (_, own)) in folds.iter().zip(&self.folds) {
            let found = own.rate_sums_of(self.task.training.architecture, parameters);
            match sums.totals.is_empty() {
                true => sums = found,
                false => sums.add(&found, 1.0),
            }
        }
        sums.values()
    }

    /// Whether no bound is far apart for a scorer on the rows that it is fit to and for rates of those of the folds.
    fn is_steady(&self, parameters: &[f64], rates: &[f64]) -> bool {
        let problem = self.problem;
        // What has more parameters than rows fits any order of the rows, which tells nothing.
        if problem.bounds.is_empty() || self.whole.is_wide() {
            return true;
        }
        let most = problem.constraints.iter().map(|own| own.bound.abs()).fold(UNSTEADY, f64::max);
        let own = self.whole.sample.true_rates_of(self.task.training.architecture, parameters);
        let mut apart = problem.bound_misses(&own).zip(problem.bound_misses(rates));
        apart.all(|(own, others)| (own - others).abs() <= most)
    }

    /// A column on the way from one to another: weights of length 1 are averaged where only orders count. The next answers
    /// to these prices may start from there.
    pub(super) fn between(
        &self,
        [from, to]: [&AnswerColumn; 2],
        share: f64,
        prices: &Prices,
    ) -> AnswerColumn {
        let ranks_only = !self.problem.uses(Rate::Mse);
        let scaled = |parameters: &Vec<f64>| {
            let length = parameters.iter().map(|x| x * x).sum::<f64>().sqrt();
            let by = if ranks_only && length > 0.0 { length.recip() } else { 1.0 };
            parameters.iter().map(|x| x * by).collect::<Vec<f64>>()
        };
        let average = |from: &Vec<f64>, to: &Vec<f64>| -> Vec<f64> {
            scaled(from).iter().zip(scaled(to)).map(|(x, y)| (1.0 - share) * x + share * y).collect()
        };
        let mut folds: Vec<Vec<f64>> = from.folds.iter().zip(&to.folds).map(|(a, b)| average(a, b)).collect();
        folds.iter_mut().zip(&self.folds).for_each(|(own, (fitting, _))| fitting.calibrate(own));
        let mut parameters = average(&from.parameters, &to.parameters);
        self.whole.calibrate(&mut parameters);
        self.column(prices.weights.clone(), from.l2, parameters, folds)
    }

    /// The first steps of answers with each weight decay, all from the same start, that are fit without each of some folds.
    pub(super) fn first_steps(
        &self,
        prices: &Prices,
        decays: &[f64],
        start: &[f64],
        folds: Range<usize>,
    ) -> Vec<FirstSteps> {
        let weights = self.surrogate_weights(prices, &prices.weights);
        let each = |l2: &f64| folds.clone().map(|fold| (*l2, fold)).collect::<Vec<_>>();
        let fits: Vec<(f64, usize)> = decays.iter().flat_map(each).collect();
        let found = threads::map(&fits, &|&(l2, fold)| {
            self.folds[fold].0.respond(&weights, l2, start, 1, false, None).steps.remove(0)
        });
        let mut found = found.into_iter();
        let of_decay = |&l2: &f64| FirstSteps { l2, folds: found.by_ref().take(folds.len()).collect() };
        decays.iter().map(of_decay).collect()
    }

    /// What first steps cost on the folds that they were fit without.
    pub(super) fn cost(&self, steps: &FirstSteps) -> f64 {
        self.problem.cost(&self.rates_of_folds(&steps.folds))
    }

    /// The column of first steps, whose other scorers are fit now.
    pub(super) fn complete(&self, prices: &Prices, steps: FirstSteps, start: &[f64]) -> AnswerColumn {
        let FirstSteps { l2, mut folds } = steps;
        let weights = self.surrogate_weights(prices, &prices.weights);
        let others = self.folds[folds.len()..].iter().map(|(fitting, _)| fitting);
        let fits: Vec<&Fitting> = std::iter::once(&self.whole).chain(others).collect();
        let mut found = threads::map(&fits, &|fitting| {
            fitting.respond(&weights, l2, start, 1, false, None).steps.remove(0)
        });
        folds.extend(found.split_off(1));
        self.column(prices.weights.clone(), l2, found.remove(0), folds)
    }

    fn surrogate_weights(&self, prices: &Prices, asked: &[f64]) -> SurrogateWeights {
        let mut weights = SurrogateWeights::default();
        let prices = Prices { weights: asked.to_vec(), ..prices.clone() };
        weights.set(self.problem, prices.forms(self.problem));
        weights
    }

    /// Columns that answer a question. Where answers are exact, the bound on all mixtures rises to what they prove.
    pub(super) fn answer(
        &self,
        prices: &Prices,
        question: Question,
        depth: usize,
        columns: &mut ColumnGeneration,
    ) -> Vec<AnswerColumn> {
        let problem = self.problem;
        let weights = self.surrogate_weights(prices, &question.weights);
        let (parameters, folds) = columns.start(self, &question, prices);
        let l2 = question.l2;
        let fits: Vec<(&Fitting, &Vec<f64>)> = std::iter::once((&self.whole, &parameters))
            .chain(self.folds.iter().map(|(fitting, _)| fitting).zip(&folds))
            .collect();
        let mut found: Vec<Response> = threads::map(&fits, &|(fitting, start)| {
            fitting.respond(&weights, l2, start, depth, self.exact, self.across)
        });
        let whole = found.remove(0);
        let step = |(at, parameters): (usize, Vec<f64>)| {
            let folds = found.iter().map(|fold| fold.steps[at.min(fold.steps.len() - 1)].clone()).collect();
            self.column(question.weights.clone(), l2, parameters, folds)
        };
        let answers: Vec<AnswerColumn> = whole.steps.into_iter().enumerate().map(step).collect();
        if prices.value.is_finite() {
            let cost = |at: &usize| prices.lagrangian(problem, &answers[*at].rates);
            let best = (0..answers.len()).min_by(|a, b| cost(a).total_cmp(&cost(b)));
            columns.best_steps.extend(best);
        }
        if let (Some(missed), Some(last), true) = (whole.missed, answers.last(), self.folds.is_empty())
            && prices.phase == Phase::Objective
            && prices.violation <= TOLERANCE
        {
            let proved = prices.lagrangian(problem, &last.rates) - missed;
            columns.bound = Some(columns.bound.map_or(proved, |bound| bound.max(proved)));
        }
        answers
    }
}
