//! Column generation: best answers to the prices of a linear program, until none is better.
//!
//! A column is a scorer with its rates. In each iteration the [`master`] program finds the best mixture of all columns so
//! far and what its bounds cost; the learner answers these prices with scorers whose Lagrangian is small
//! ([`response`]), and those become columns. Where an answer is no better than the columns that are there, others are
//! tried from other starts, and then it is over: if answers are exact no mixture of any scorers is better, which is
//! certified by the largest Lagrangian bound seen; otherwise none was found.
//!
//! Rates may be those of the rows that scorers are fit to, or, with [`Select::CrossFit`], of others: every answer is fit
//! to all rows and again to all but one of five folds, in the same way and for the same prices, and its rates are those
//! that the five have on the folds they have not seen. Where queries are alike, rates are of pairs [`across`] them.

mod across;
mod attribute;
mod generation;
mod line;
mod master;
mod moments;
mod plane;
mod response;

use super::executor::Snapshot;
use super::loss::Sample;
use super::selection::Selector;
use super::shrink::{Mixture, shrink};
use super::solver::{Found, Search, Solver, SolverTask, Training};
use super::train::{Select, TrainSettings};
use crate::goals::Problem;
use crate::learners::{Architecture, Learner, Parametric};
use crate::rates::Rate;
use crate::threads;
use generation::{AnswerColumn, Generation, Question, Rooms, Start, is_cross_fit};
use master::{Phase, Prices};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use response::{Fitting, SampleShape, decay};
use serde::{Deserialize, Serialize};

/// The most iterations.
const ITERATIONS: usize = 40;

/// Weight decay that is tried, the largest first, where rows that were not fit tell which is best.
const DECAYS: [f64; 7] = [3.0, 1.0, 0.3, 0.1, 0.03, 0.005, 3e-4];

/// The same of scorers with more parameters than rows.
const WIDE_DECAYS: [f64; 6] = [0.3, 0.1, 0.03, 0.01, 0.003, 3e-4];

/// Weight decay where the rows that are fit are all there is: just enough that there is a minimum.
const LEAST_DECAY: f64 = 1e-4;

/// An answer is better if its Lagrangian is smaller by this share of the objective.
const BETTER: f64 = 1e-5;

/// The same where rates are those of rows that scorers were not fit to, which are noisy.
const BETTER_ELSEWHERE: f64 = 5e-4;

/// The share of a standard error that is room to spare where rates are of pairs across queries: of so many pairs what is
/// best is seldom so by chance.
const LESS_ROOM: f64 = 0.25;

/// Rounds of other answers before it is over; one less where rates are those of rows that scorers were not fit to.
const ATTEMPTS: usize = 3;

/// Folds that tell which weight decay is best of a network, which starts anew for each.
const DECAY_FOLDS: usize = 2;

/// Weight decays in a row that are no better, after which smaller ones are not tried.
const WORSE_DECAYS: usize = 2;

/// Answers in which a step was never the best, after which it is left out.
const JUDGED: usize = 2;

/// How much more the bounds weigh in some of them, as surrogates of rates follow prices less than rates do.
const MORE: f64 = 4.0;

/// Prices that are halved between those of two scorers, where one scorer is wanted.
const BISECTIONS: usize = 3;

/// Steps from one scorer of a mixture to another, where one scorer is wanted.
const STEPS: usize = 12;

/// Pairs of scorers that are combined.
const COMBINED: usize = 3;

/// All columns so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ColumnGeneration {
    columns: Vec<AnswerColumn>,
    /// How many of them the executor has.
    kept: usize,
    phase: Phase,
    /// Weight decay that is still tried.
    decays: Vec<f64>,
    /// The room that each constraint is to be met with.
    room: Vec<f64>,
    /// Whether rates are those of rows that scorers were not fit to.
    cross_fit: bool,
    /// Whether they are of pairs across queries.
    across_queries: bool,
    /// Rounds of answers since the last that was better.
    attempts: usize,
    /// Answers since then.
    tries: usize,
    /// No mixture that meets the bounds costs less.
    bound: Option<f64>,
    done: bool,
    /// Which step was the best of each answer to the prices of bounds.
    best_steps: Vec<usize>,
}

impl Solver for ColumnGeneration {
    type Buffers = Rooms;

    fn runs(_: &TrainSettings) -> Vec<f64> {
        vec![0.0]
    }

    fn iterations(settings: &TrainSettings) -> usize {
        settings.iterations.min(ITERATIONS)
    }

    fn start(task: &SolverTask, _: f64) -> ColumnGeneration {
        let settings = task.training.settings;
        let shape = SampleShape::default();
        let fitting = Fitting::new(&task.training, task.sample, &shape);
        let decays = match settings.l2 {
            Some(l2) => vec![l2],
            None if fitting.is_exact() => vec![0.0],
            None if !(is_cross_fit(task) || task.validated) => vec![LEAST_DECAY],
            None if fitting.is_wide() => WIDE_DECAYS.to_vec(),
            None => DECAYS.to_vec(),
        };
        let phase = Phase::Violation;
        let room = vec![0.0; task.training.problem.constraints.len()];
        let columns = Vec::new();
        ColumnGeneration {
            columns,
            kept: 0,
            phase,
            decays,
            room,
            cross_fit: false,
            across_queries: false,
            attempts: 0,
            tries: 0,
            bound: None,
            done: false,
            best_steps: Vec::new(),
        }
    }

    fn buffers(task: &SolverTask) -> Rooms {
        Rooms::of(task, decay(task.training.architecture, task.sample))
    }

    fn next_iteration(&mut self, task: &SolverTask, iteration: usize, rooms: &mut Rooms) -> Option<Found> {
        let tight = task.training.problem.tightened(&self.room);
        let problem = &tight;
        let generation = Generation::new(task, problem, rooms);
        let prices = match self.columns.is_empty() {
            true => Prices::unbound(problem),
            false => Prices::of(problem, &self.rates(), self.phase)?,
        };
        let one_scorer = !task.sample.examples().has_queries();
        let before = self.columns.len();
        if before > 0 && prices.phase == Phase::Objective {
            self.phase = Phase::Objective;
        }
        let mut least = f64::INFINITY;
        let linear = matches!(task.training.architecture, Architecture::Linear(_));
        let anew = before == 0 && self.decays.len() > 1 && !linear && rooms.is_cross_fit();
        match before == 0 && self.decays.len() > 1 {
            true if anew => self.try_decays_anew(&generation, &prices),
            true => self.try_decays(&generation, &prices),
            false => {}
        }
        // What more steps find of the objective alone, bounds undo.
        let answered = anew && !problem.constraints.is_empty();
        if answered {
            least = self.columns.iter().map(|column| column.improved(problem, &prices)).fold(least, f64::min);
        }
        let questions = if answered { Vec::new() } else { self.questions(&generation, &prices, iteration) };
        for question in questions {
            for column in generation.answer(&prices, question, self.depth(), self) {
                self.tries += 1;
                least = least.min(column.improved(problem, &prices));
                self.add(column);
            }
        }
        if self.attempts == 1 && one_scorer {
            least = least.min(self.combine(&generation, &prices));
        }
        if before == 0 {
            self.add_fair(&generation);
            self.add_less_attribute(&generation);
            (self.cross_fit, self.across_queries) = (rooms.is_cross_fit(), rooms.across.is_some());
            self.room = self.room_to_spare(task, rooms.across.as_ref());
        }
        let cost = self.columns.first().map_or(0.0, |column| problem.cost(&column.rates).abs());
        let share = if !rooms.is_cross_fit() { BETTER } else { BETTER_ELSEWHERE };
        let size = if prices.phase == Phase::Objective { cost } else { 1.0 };
        match least < prices.value - share * size {
            true => (self.attempts, self.tries) = (0, 0),
            false => self.attempts += 1,
        }
        if before > 0 {
            self.keep_decay_of_mixture(problem);
        }
        // One rate alone is then a convex loss, and its minimum needs no second answer.
        self.done |=
            generation.whole.is_wide() && problem.constraints.is_empty() && problem.objective.len() == 1;
        let attempts = match (generation.exact && rooms.across.is_none(), !rooms.is_cross_fit()) {
            (true, _) => 1,
            (false, false) => ATTEMPTS - 1,
            (false, true) => ATTEMPTS,
        };
        if self.attempts >= attempts {
            match (self.phase, prices.phase) {
                (Phase::Violation, Phase::Violation) => (self.phase, self.attempts) = (Phase::Objective, 0),
                _ => self.done = true,
            }
        }
        if self.done && one_scorer {
            self.bisect(&generation, &prices);
            self.combine(&generation, &prices);
            self.add_less_attribute_of_members(&generation);
        }
        let rates: Vec<Vec<f64>> = self.columns.iter().map(|column| column.rates.clone()).collect();
        let members = shrink(problem, &rates)?.members;
        let found = Mixture::new(task.training.problem, &rates, members).assessment;
        Some(Found { cost: found.cost, violation: found.violation })
    }

    fn kept(&mut self, task: &SolverTask, _: usize, _: Found, _: bool) -> Vec<Snapshot> {
        let problem = task.training.problem;
        let new = self.columns.iter().enumerate().skip(self.kept).map(|(at, column)| {
            let weights = game_weights(problem, &column.weights);
            let rates = (self.cross_fit || self.across_queries).then(|| column.rates.clone());
            let found = Found::of(problem, &column.rates);
            Snapshot { rates, ..Snapshot::new(at + 1, column.parameters.clone(), found, weights) }
        });
        let new = new.collect();
        self.kept = self.columns.len();
        new
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn search(&self) -> Option<Search> {
        Some(Search {
            tries: self.done.then_some(self.tries),
            bound: self.bound.filter(|_| self.done),
            room: self.room.clone(),
            cross_fit: self.cross_fit,
            across_queries: self.across_queries,
        })
    }
}

/// Prices as the game has them: of the objective, of its forms if they are several, and of the bounds.
fn game_weights(problem: &Problem, weights: &[f64]) -> Vec<f64> {
    let slack = problem.has_slack().then_some(0.0);
    slack.into_iter().chain(weights.iter().copied()).collect()
}

impl ColumnGeneration {
    fn rates(&self) -> Vec<&[f64]> {
        let finite = |rates: &&[f64]| rates.iter().all(|rate| rate.is_finite());
        self.columns.iter().map(|column| &column.rates[..]).filter(finite).collect()
    }

    /// Adds a column, unless there is one with the same rates, or it is not steady and not the first.
    fn add(&mut self, column: AnswerColumn) {
        let same =
            |own: &AnswerColumn| own.rates.iter().zip(&column.rates).all(|(a, b)| (a - b).abs() < 1e-12);
        let wanted = column.steady || self.columns.is_empty();
        if wanted && !self.columns.iter().any(same) {
            self.columns.push(column);
        }
    }

    /// What is asked for next. First the prices themselves, for each weight decay; where that led nowhere, prices in the
    /// middle between those that members of the mixture answered, then, where rates are those of the rows that are fit,
    /// prices at which the bounds weigh more, and directions at random.
    fn questions(&self, generation: &Generation, prices: &Prices, iteration: usize) -> Vec<Question> {
        let problem = generation.problem;
        let asked = |weights: Vec<f64>, l2: f64| Question { weights, l2, start: Start::Nearest };
        let at_prices = || self.decays.iter().map(|&l2| asked(prices.weights.clone(), l2));
        match self.attempts {
            0 => at_prices().collect(),
            1 => {
                let rates: Vec<Vec<f64>> = self.columns.iter().map(|column| column.rates.clone()).collect();
                let mixture = shrink(problem, &rates).map_or_else(Vec::new, |mixture| mixture.members);
                let members: Vec<&AnswerColumn> = mixture.iter().map(|&(at, _)| &self.columns[at]).collect();
                let middle = |a: &AnswerColumn, b: &AnswerColumn| {
                    let (a, b) = (share_of(&a.weights), share_of(&b.weights));
                    a.iter().zip(&b).map(|(x, y)| f64::midpoint(*x, *y)).collect::<Vec<f64>>()
                };
                let pairs = members
                    .iter()
                    .enumerate()
                    .flat_map(|(at, a)| members[at + 1..].iter().map(move |b| (a, b)));
                let answers = |column: &AnswerColumn| column.weights.iter().any(|weight| *weight != 0.0);
                let asks =
                    pairs.filter(|(a, b)| answers(a) && answers(b)).map(|(a, b)| asked(middle(a, b), a.l2));
                asks.take(3).collect()
            }
            _ => {
                let objective = problem.objective.len();
                let more = |question: Question| {
                    let by = |(at, weight): (usize, f64)| if at < objective { weight } else { MORE * weight };
                    Question {
                        weights: question.weights.into_iter().enumerate().map(by).collect(),
                        ..question
                    }
                };
                let mut all: Vec<Question> = at_prices().take(1).map(more).collect();
                // An answer that is the best there is does not depend on its start.
                if !problem.uses(Rate::Mse) && !generation.exact {
                    all.extend(
                        at_prices()
                            .take(1)
                            .map(|own| Question { start: Start::Random(iteration as u64), ..own }),
                    );
                }
                all
            }
        }
    }

    /// Where the answer to a question is looked for from: the scorer that answered the nearest one, or a direction at
    /// random.
    fn start(
        &self,
        generation: &Generation,
        question: &Question,
        prices: &Prices,
    ) -> (Vec<f64>, Vec<Vec<f64>>) {
        let settings = generation.task.training.settings;
        let fresh = |parameters: Vec<f64>| (parameters.clone(), vec![parameters; generation.folds.len()]);
        let initial = || first_parameters(generation);
        match question.start {
            Start::Nearest => {}
            Start::Random(stream) => {
                let mut random = ChaCha8Rng::seed_from_u64(settings.seed);
                random.set_stream(stream + 1);
                return fresh(initial().iter().map(|x| x + random.random_range(-2.0..2.0)).collect());
            }
        }
        let far = |column: &AnswerColumn| {
            let decay = (column.l2 + 1e-9).ln() - (question.l2 + 1e-9).ln();
            distance(&column.weights, &question.weights) + 1e-3 * decay * decay
        };
        // Of several, the best.
        let cost = |column: &AnswerColumn| prices.lagrangian(generation.problem, &column.rates);
        let order = |a: &&AnswerColumn, b: &&AnswerColumn| {
            far(a).total_cmp(&far(b)).then(cost(a).total_cmp(&cost(b)))
        };
        let nearest = self.columns.iter().min_by(order);
        nearest.map_or_else(|| fresh(initial()), |column| (column.parameters.clone(), column.folds.clone()))
    }

    /// Adds a scorer that makes a fair mixture: the first one turned around, as half of each is as good as no scorer at all;
    /// where scores are compared with labels, their mean.
    fn add_fair(&mut self, generation: &Generation) {
        let (problem, architecture) = (generation.problem, generation.task.training.architecture);
        let Some(first) = self.columns.first().filter(|_| !problem.constraints.is_empty()) else { return };
        let (weights, l2) = (vec![0.0; first.weights.len()], first.l2);
        if problem.uses(Rate::Mse) {
            if let Architecture::Linear(linear) = architecture {
                let labels = generation.task.sample.examples().labels.as_deref().unwrap_or_default();
                let mut mean = vec![0.0; architecture.len()];
                let label = labels.iter().sum::<f64>() / labels.len().max(1) as f64;
                response::intercepts(linear).for_each(|at| mean[at] = label);
                let folds = vec![mean.clone(); first.folds.len()];
                let column = generation.column(weights, l2, mean, folds);
                self.add(column);
            }
            return;
        }
        let turned = |parameters: &Vec<f64>| {
            let mut parameters = parameters.clone();
            architecture.scale(&mut parameters, -1.0);
            parameters
        };
        let parameters = turned(&first.parameters);
        let folds = first.folds.iter().map(turned).collect();
        let mirrored = generation.column(weights, l2, parameters, folds);
        self.add(mirrored);
    }

    /// The room that constraints are to be met with, where the rows that answers are selected on stand for new ones: the
    /// standard error of each at the best scorer whatever the constraints, and at most half of its bound.
    fn room_to_spare(&self, task: &SolverTask, across: Option<&Sample>) -> Vec<f64> {
        let Training { problem, architecture, settings, .. } = task.training;
        let none = vec![0.0; problem.constraints.len()];
        if settings.select != Select::CrossFit {
            return none;
        }
        let best =
            self.columns.iter().min_by(|a, b| problem.cost(&a.rates).total_cmp(&problem.cost(&b.rates)));
        let sample = across.unwrap_or(task.sample);
        let selector = Selector { problem, architecture, sample, measure: settings.measure() };
        let noise = best.and_then(|column| selector.noise(&column.parameters));
        let Some(noise) = noise else { return none };
        let share = if across.is_some() { LESS_ROOM } else { 1.0 };
        let sizes = problem.constraints.iter().map(|constraint| constraint.bound.abs() / 2.0);
        noise.constraints.iter().zip(sizes).map(|(error, size)| (share * error).min(size)).collect()
    }

    /// Keeps the weight decay with which the first step alone is best for the objective alone, and the next larger one, as
    /// bounds are overfitted more than an objective is. Where two in a row are no better than one before, smaller ones
    /// are not tried.
    fn try_decays(&mut self, generation: &Generation, prices: &Prices) {
        let (mut best, mut least) = (0, f64::INFINITY);
        for (at, l2) in self.decays.clone().into_iter().enumerate() {
            if at > best + WORSE_DECAYS {
                break;
            }
            let question = Question { weights: prices.weights.clone(), l2, start: Start::Nearest };
            for column in generation.answer(prices, question, 1, self) {
                let cost = generation.problem.cost(&column.rates);
                if cost < least {
                    (best, least) = (at, cost);
                }
                self.add(column);
            }
        }
        self.decays = self.decays[best.saturating_sub(1)..=best].to_vec();
    }

    /// The same of networks that are cross-fitted. They may be stuck under a large weight decay, and start anew for each; so
    /// that it costs less, a few of the folds tell which is best, and only what is kept is fit to all.
    fn try_decays_anew(&mut self, generation: &Generation, prices: &Prices) {
        let start = first_parameters(generation);
        let mut steps = Vec::new();
        let mut best = None;
        for folds in [DECAY_FOLDS, generation.folds.len()] {
            steps = generation.first_steps(prices, &self.decays, &start, 0..folds);
            let costs: Vec<f64> = steps.iter().map(|own| generation.cost(own)).collect();
            let finite = (0..costs.len()).filter(|&at| costs[at].is_finite());
            best = finite.min_by(|&a, &b| costs[a].total_cmp(&costs[b]));
            // A few folds may lack the pairs of a rate.
            if best.is_some() {
                break;
            }
        }
        let best = best.unwrap_or(0);
        self.decays = self.decays[best.saturating_sub(1)..=best].to_vec();
        steps.retain(|own| self.decays.contains(&own.l2));
        for steps in steps {
            self.add(generation.complete(prices, steps, &start));
        }
    }

    /// Steps that the next answer is to have: none after those that were best in one of the last answers.
    fn depth(&self) -> usize {
        match self.best_steps.len().checked_sub(JUDGED) {
            None => usize::MAX,
            Some(first) => self.best_steps[first..].iter().max().map_or(usize::MAX, |best| best + 1),
        }
    }

    /// Keeps the weight decay of the likeliest member of the best mixture.
    fn keep_decay_of_mixture(&mut self, problem: &Problem) {
        let rates: Vec<Vec<f64>> = self.columns.iter().map(|column| column.rates.clone()).collect();
        let members = shrink(problem, &rates).map_or_else(Vec::new, |mixture| mixture.members);
        let likeliest = members.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let l2 = likeliest.map(|&(at, _)| self.columns[at].l2).filter(|l2| self.decays.contains(l2));
        self.decays = l2.map_or_else(|| self.decays.clone(), |l2| vec![l2]);
    }

    /// Adds answers to prices between those of the two likeliest members of the best mixture, nearer and nearer to where a
    /// bound is just met: where one scorer is wanted, it lies there.
    fn bisect(&mut self, generation: &Generation, prices: &Prices) {
        let problem = generation.problem;
        let rates: Vec<Vec<f64>> = self.columns.iter().map(|column| column.rates.clone()).collect();
        let Some(mut members) = shrink(problem, &rates).map(|mixture| mixture.members) else { return };
        members.sort_by(|a, b| b.1.total_cmp(&a.1));
        let answers = |at: usize| self.columns[at].weights.iter().any(|weight| *weight != 0.0);
        let [(first, _), (second, _), ..] = members[..] else { return };
        if !(answers(first) && answers(second)) {
            return;
        }
        let worst = |rates: &[f64]| line::worst_bound(problem, rates);
        let [mut low, mut high] = [first, second].map(|at| share_of(&self.columns[at].weights));
        let at_low = worst(&self.columns[first].rates);
        let l2 = self.columns[first].l2;
        for _ in 0..BISECTIONS {
            let weights: Vec<f64> = low.iter().zip(&high).map(|(x, y)| f64::midpoint(*x, *y)).collect();
            let question = Question { weights: weights.clone(), l2, start: Start::Nearest };
            let found = generation.answer(prices, question, self.depth(), self);
            // The last step is the nearest to the rates themselves.
            match found.last().is_some_and(|column| worst(&column.rates) == at_low) {
                true => low = weights,
                false => high = weights,
            }
            found.into_iter().for_each(|column| self.add(column));
        }
    }

    /// Adds scorers on the way from one member of the best mixture to another, those above all that just meet a bound: where
    /// one scorer is wanted, it may lie between them, and squared errors of a mean are below the mean of squared errors.
    /// Returns the least Lagrangian among them.
    fn combine(&mut self, generation: &Generation, prices: &Prices) -> f64 {
        let (problem, architecture) = (generation.problem, generation.task.training.architecture);
        if !matches!(architecture, Architecture::Linear(_)) {
            return f64::INFINITY;
        }
        let rates: Vec<Vec<f64>> = self.columns.iter().map(|column| column.rates.clone()).collect();
        let members = shrink(problem, &rates).map_or_else(Vec::new, |mixture| mixture.members);
        let pairs: Vec<[usize; 2]> = members
            .iter()
            .enumerate()
            .flat_map(|(at, first)| members[at + 1..].iter().map(move |second| [first.0, second.0]))
            .take(COMBINED)
            .collect();
        let steps: Vec<f64> = (1..STEPS).map(|step| step as f64 / STEPS as f64).collect();
        let found = threads::map(&pairs, &|&[first, second]: &[usize; 2]| {
            let ends = [&self.columns[first], &self.columns[second]];
            line::columns_along(problem, &steps, &|share| generation.between(ends, share, prices))
        });
        let mut least = f64::INFINITY;
        for column in found.into_iter().flatten() {
            least = least.min(column.improved(problem, prices));
            self.add(column);
        }
        least
    }
}

/// Where scorers start.
fn first_parameters(generation: &Generation) -> Vec<f64> {
    let Training { architecture, settings, .. } = generation.task.training;
    settings.start.clone().unwrap_or_else(|| Parametric::new(architecture, settings.seed).snapshot())
}

/// Weights that add up to 1.
fn share_of(weights: &[f64]) -> Vec<f64> {
    let sum = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    weights.iter().map(|weight| weight / sum).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    share_of(a).iter().zip(share_of(b)).map(|(x, y)| (x - y).powi(2)).sum()
}

#[cfg(test)]
mod tests;
