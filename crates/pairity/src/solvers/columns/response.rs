//! A linear scorer's answer to prices: of all scorers, one whose Lagrangian, a weighted sum of rates, is as small as can
//! be found.
//!
//! | step | what it finds |
//! |---|---|
//! | [`NetShape::Convex`] to convergence | the one minimum of a smooth bound, if no pair is to be held down |
//! | [`NetShape::Bounded`] with a margin that shrinks | a nearby minimum of something close to the rates themselves |
//! | sweeps of planes | no smaller value in any of the planes that were tried |
//!
//! With two parameters one plane holds every scorer, so that a single sweep finds the best there is. Where errors are
//! squared, scores have a scale, which margins are shares of, and there are no sweeps.

use super::plane::{BestAngle, WeightedPair, sweep};
use crate::goals::Problem;
use crate::learners::{Architecture, Features, GroupUse, Linear, Scorer, Trace};
use crate::pairs::{NetLoss, NetShape};
use crate::rates::Rate;
use crate::solvers::lbfgs::{DescentLimits, descend};
use crate::solvers::loss::{Sample, SurrogateWeights};
use crate::solvers::solver::Training;

/// Lists of pairs up to this length are swept; of longer ones, angles are tried.
const LISTED: u64 = 300_000;

/// The same where a single sweep finds the best there is.
const LISTED_EXACTLY: u64 = 20_000_000;

/// Margins of the bounded shape, as shares of the deviation of scores.
const MARGINS: [f64; 3] = [1.0, 0.4, 0.15];

/// The same where scores have a scale, as shares of the deviation of labels.
const NARROWER: [f64; 3] = [0.4, 0.15, 0.05];

/// Directions in which planes are swept, beside the gradient's.
const DIRECTIONS: usize = 12;

/// Steps of a descent that may start far away, and of one that starts near: of few parameters, which end at the same minimum
/// for all folds, and of more than [`POLISHED`], where more steps changed nothing.
const FAR: [usize; 2] = [150, 60];
const NEAR: [usize; 2] = [60, 15];

/// Scorers of more parameters are not swept: there are too many planes.
const POLISHED: usize = 30;

/// Rounds of sweeps.
const ROUNDS: usize = 2;

/// Angles to either side that are tried where pairs are not listed.
const ANGLES: [f64; 5] = [0.02, 0.06, 0.15, 0.4, 1.0];

/// A sample that linear scorers are fit to.
pub(super) struct Fitting<'a> {
    pub sample: &'a Sample<'a>,
    problem: &'a Problem,
    architecture: &'a Architecture,
    tie: f64,
    /// What weight decay counts the square of each parameter for.
    decay: &'a [f64],
    /// The deviation of the labels.
    spread: f64,
}

/// Scorers that answer prices, each step's one after the other.
pub(super) struct Response {
    pub steps: Vec<Vec<f64>>,
    /// How much the best scorer of all may earn more than the last of these, where that is known.
    pub missed: Option<f64>,
}

impl<'a> Fitting<'a> {
    /// With what [`decay`] says of the sample, where scorers are fit to it.
    pub(super) fn new(training: &Training<'a>, sample: &'a Sample<'a>, decay: &'a [f64]) -> Fitting<'a> {
        let Training { problem, architecture, settings, .. } = *training;
        let labels = sample.examples().labels.as_deref().unwrap_or_default();
        Fitting {
            sample,
            problem,
            architecture,
            tie: settings.ties.credit(),
            decay,
            spread: deviation(labels),
        }
    }

    /// Whether scores are compared with labels.
    fn regression(&self) -> bool {
        self.problem.uses(Rate::Mse)
    }

    /// Whether there are more parameters than rows, as words are, so that nearly every order of the rows can be had.
    pub(super) fn is_wide(&self) -> bool {
        self.architecture.len() > self.sample.examples().len()
    }

    /// Whether one plane holds every scorer.
    pub(super) fn is_exact(&self) -> bool {
        !self.regression()
            && self.architecture.len() <= 2
            && self.architecture.groups() == GroupUse::Blind
            && self.architecture.len() == self.architecture.width()
            && self.sample.index().pair_limit() <= LISTED_EXACTLY
    }

    /// The answer to weights, from a start, or if that is asked for the best of all.
    pub(super) fn respond(
        &self,
        weights: &SurrogateWeights,
        l2: f64,
        start: &[f64],
        exact: bool,
    ) -> Response {
        if exact {
            return self.sweep_all(weights);
        }
        let mut weights = weights.normalized();
        let mut steps = Vec::new();
        if self.regression() {
            weights.anchor(0.1 / (self.spread * self.spread).max(f64::MIN_POSITIVE));
            let weights = &weights;
            let margin = self.spread.max(f64::MIN_POSITIVE);
            steps.push(self.fit(NetShape::Convex, margin, weights, l2, start, FAR));
            if weights.has_pairs() {
                for share in NARROWER {
                    let from = steps.last().map_or(start, Vec::as_slice);
                    steps.push(self.fit(NetShape::Bounded, share * margin, weights, l2, from, NEAR));
                }
            }
            steps.iter_mut().for_each(|step| self.calibrate(step));
            return Response { steps, missed: None };
        }
        let weights = &weights;
        let convex = self.fit(NetShape::Convex, 1.0, weights, l2, start, FAR);
        // Where nearly every order can be had, a bounded shape finds none that the convex one does not.
        if self.is_wide() && weights.hold_up_only() {
            return Response { steps: vec![convex], missed: None };
        }
        let mut annealed = convex.clone();
        for margin in MARGINS {
            self.bring_to_scale(&mut annealed);
            annealed = self.fit(NetShape::Bounded, margin, weights, l2, &annealed, NEAR);
        }
        self.bring_to_scale(&mut annealed);
        steps.extend([convex, annealed]);
        if self.architecture.len() <= POLISHED {
            steps.push(self.polish(weights, steps[1].clone()));
        }
        Response { steps, missed: None }
    }

    /// Descends a loss with weight decay.
    fn fit(
        &self,
        shape: NetShape,
        margin: f64,
        weights: &SurrogateWeights,
        l2: f64,
        start: &[f64],
        iterations: [usize; 2],
    ) -> Vec<f64> {
        let loss = NetLoss { shape, margin };
        let iterations = iterations[usize::from(self.architecture.len() > POLISHED)];
        let limits = DescentLimits { iterations, gradient: 1e-6, decrease: 3e-6 };
        let mut slopes = vec![0.0; self.sample.examples().len()];
        let found = descend(start.to_vec(), limits, |parameters, gradient| {
            self.evaluate(&loss, weights, l2, parameters, gradient, &mut slopes)
        });
        found.parameters
    }

    fn evaluate(
        &self,
        loss: &NetLoss,
        weights: &SurrogateWeights,
        l2: f64,
        parameters: &[f64],
        gradient: &mut [f64],
        slopes: &mut [f64],
    ) -> f64 {
        let scores = self.scores(parameters);
        if !scores.iter().all(|score| score.is_finite()) {
            return f64::INFINITY;
        }
        let sample = self.sample;
        let mut value = loss.evaluate(sample.index(), &scores, weights.given(), slopes);
        let back = self.architecture.pull_back(parameters, &sample.features, &Trace::default(), slopes);
        gradient.copy_from_slice(&back);
        for ((g, x), decay) in gradient.iter_mut().zip(parameters).zip(self.decay) {
            *g += l2 * decay * x;
            value += 0.5 * l2 * decay * x * x;
        }
        value
    }

    fn scores(&self, parameters: &[f64]) -> Vec<f64> {
        let mut scores = vec![0.0; self.sample.examples().len()];
        self.architecture.score(parameters, &self.sample.features, &mut scores);
        scores
    }

    /// Gives the scores a deviation of 1, which changes no order.
    fn bring_to_scale(&self, parameters: &mut [f64]) {
        let spread = deviation(&self.scores(parameters));
        if spread > 0.0 && spread.is_finite() {
            self.architecture.scale(parameters, spread.recip());
        }
    }

    /// Gives linear scores the slope and the intercept of least squares by the labels, if that slope is above 0: no order
    /// changes, and the squared error is as small as it can be for this order.
    pub(super) fn calibrate(&self, parameters: &mut [f64]) {
        let examples = self.sample.examples();
        let (Architecture::Linear(linear), Some(labels), true) =
            (self.architecture, &examples.labels, self.regression())
        else {
            return;
        };
        let scores = self.scores(parameters);
        let [mut total, mut score, mut label, mut square, mut product] = [0.0; 5];
        for (i, (s, y)) in scores.iter().zip(labels).enumerate() {
            let weight = examples.weight(i);
            total += weight;
            score += weight * s;
            label += weight * y;
            square += weight * s * s;
            product += weight * s * y;
        }
        let (score, label) = (score / total, label / total);
        let slope = (product / total - score * label) / (square / total - score * score);
        if slope.is_finite() && slope > 0.0 && linear.intercept {
            self.architecture.scale(parameters, slope);
            intercepts(linear).for_each(|at| parameters[at] += label - slope * score);
        }
    }

    fn listed(&self, weights: &SurrogateWeights) -> Vec<WeightedPair> {
        let mut pairs = Vec::new();
        self.sample.index().each_pair(weights.given(), |first, second, worth| {
            pairs.push(WeightedPair { first: first as u32, second: second as u32, worth });
        });
        pairs
    }

    /// The best of all scorers of at most two parameters.
    fn sweep_all(&self, weights: &SurrogateWeights) -> Response {
        let len = self.architecture.len();
        let axis = |at: usize| -> Vec<f64> { (0..len).map(|own| f64::from(u8::from(own == at))).collect() };
        let pairs = self.listed(weights);
        let (a, b) = (self.scores(&axis(0)), self.scores(&axis(1)));
        let BestAngle { angle, value, top } = sweep(&pairs, &a, &b, self.tie);
        let (sin, cos) = angle.sin_cos();
        let best: Vec<f64> = [cos, sin].into_iter().take(len).collect();
        Response { steps: vec![best], missed: Some(top - value) }
    }

    /// Sweeps planes through a scorer until none has a better one.
    fn polish(&self, weights: &SurrogateWeights, mut best: Vec<f64>) -> Vec<f64> {
        let listed = self.sample.index().pair_limit() <= LISTED;
        let pairs = if listed { self.listed(weights) } else { Vec::new() };
        let earned = |scores: &[f64]| weights.earned(&self.sample.true_rates(&self.sample.order(scores)));
        let mut scores = self.scores(&best);
        let mut value = earned(&scores);
        // Where pairs are not listed each angle takes a count of all of them.
        let (rounds, directions) = if listed { (ROUNDS, DIRECTIONS) } else { (1, DIRECTIONS / 3) };
        for _ in 0..rounds {
            let before = value;
            for mut direction in self.directions(weights, &best, directions) {
                self.bring_to_scale(&mut direction);
                let other = self.scores(&direction);
                let at = |angle: f64| -> Vec<f64> {
                    let (sin, cos) = angle.sin_cos();
                    scores.iter().zip(&other).map(|(a, b)| a * cos + b * sin).collect()
                };
                let angle = match listed {
                    true => sweep(&pairs, &scores, &other, self.tie).angle,
                    false => search_angle(|angle| earned(&at(angle)), value),
                };
                let moved = at(angle);
                let found = earned(&moved);
                if found > value + 1e-9 {
                    let (sin, cos) = angle.sin_cos();
                    best.iter_mut().zip(&direction).for_each(|(x, d)| *x = *x * cos + d * sin);
                    (scores, value) = (moved, found);
                }
            }
            if value <= before + 1e-6 {
                break;
            }
            self.bring_to_scale(&mut best);
            scores = self.scores(&best);
        }
        best
    }

    /// The way down, then single parameters, those first that the loss falls along most.
    fn directions(&self, weights: &SurrogateWeights, parameters: &[f64], singles: usize) -> Vec<Vec<f64>> {
        let loss = NetLoss { shape: NetShape::Bounded, margin: MARGINS[2] };
        let (mut gradient, mut slopes) =
            (vec![0.0; parameters.len()], vec![0.0; self.sample.examples().len()]);
        self.evaluate(&loss, weights, 0.0, parameters, &mut gradient, &mut slopes);
        let mut order: Vec<usize> = (0..gradient.len()).filter(|&at| gradient[at] != 0.0).collect();
        order.sort_by(|&a, &b| gradient[b].abs().total_cmp(&gradient[a].abs()));
        let single = |&at: &usize| {
            let mut direction = vec![0.0; gradient.len()];
            direction[at] = -gradient[at].signum();
            direction
        };
        let down: Vec<f64> = gradient.iter().map(|g| -g).collect();
        std::iter::once(down).chain(order.iter().take(singles).map(single)).collect()
    }
}

/// The best angle found near 0, where the value is known: a few to both sides, then between the best and its neighbors.
fn search_angle(value: impl Fn(f64) -> f64, here: f64) -> f64 {
    let mut tried: Vec<(f64, f64)> =
        ANGLES.iter().flat_map(|&angle| [angle, -angle]).map(|x| (x, value(x))).collect();
    tried.push((0.0, here));
    for _ in 0..3 {
        tried.sort_by(|a, b| a.0.total_cmp(&b.0));
        let best = (0..tried.len()).max_by(|&a, &b| tried[a].1.total_cmp(&tried[b].1)).unwrap_or(0);
        let around =
            [best.checked_sub(1), Some(best + 1)].into_iter().flatten().filter_map(|at| tried.get(at));
        let new: Vec<f64> = around.map(|neighbor| f64::midpoint(neighbor.0, tried[best].0)).collect();
        tried.extend(new.into_iter().map(|x| (x, value(x))));
    }
    tried.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0.0, |best| best.0)
}

/// The places of intercepts among the parameters.
pub(super) fn intercepts(linear: &Linear) -> impl Iterator<Item = usize> + use<> {
    let sets = match linear.groups {
        GroupUse::Weights { groups } => groups + 1,
        GroupUse::Blind | GroupUse::Offsets { .. } => 1,
    };
    let (len, width) = (linear.set_len(), linear.width);
    (0..sets).filter(move |_| len > width).map(move |set| set * len + width)
}

fn deviation(values: &[f64]) -> f64 {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt()
}

/// What the squares of parameters count in weight decay: the variance of each number that they are multiplied with, so
/// that it does not matter in which unit a feature is; 1 for words, and nothing for an intercept.
pub(super) fn decay(architecture: &Architecture, sample: &Sample) -> Vec<f64> {
    if !matches!(architecture, Architecture::Linear(_)) {
        return vec![1.0; architecture.len()];
    }
    let mut set = variances(architecture, &sample.features);
    set.resize(architecture.width(), 1.0);
    match architecture.groups() {
        GroupUse::Blind => set.resize(architecture.len(), 0.0),
        GroupUse::Offsets { groups } => {
            set.resize(architecture.len() - groups, 0.0);
            set.resize(architecture.len(), 0.25);
        }
        GroupUse::Weights { groups } => {
            set.resize(architecture.set_len(), 0.25);
            set = set.repeat(groups + 1);
        }
    }
    set
}

/// The variance of each feature that is stored one by one.
fn variances(architecture: &Architecture, features: &Features) -> Vec<f64> {
    let (dense, rows) = (features.dense_width(), features.rows().max(1) as f64);
    let (mut sums, mut squares) = (vec![0.0; dense], vec![0.0; dense]);
    for tile in features.tiles().filter(|_| dense > 0) {
        for row in tile.chunks_exact(dense) {
            for ((sum, square), x) in sums.iter_mut().zip(&mut squares).zip(row) {
                *sum += x;
                *square += x * x;
            }
        }
    }
    // Of features elsewhere one after the other comes here: as the scores of the scorer that sees nothing else.
    let by_group = matches!(architecture.groups(), GroupUse::Weights { .. });
    let (len, set_len) = (architecture.len(), architecture.set_len());
    for at in (0..architecture.width()).filter(|_| features.is_elsewhere()) {
        let only = (0..len).map(|own| own % set_len == at && (own < set_len || by_group));
        let only: Vec<f64> = only.map(|own| f64::from(u8::from(own))).collect();
        let mut column = vec![0.0; features.rows()];
        architecture.score(&only, features, &mut column);
        sums.push(column.iter().sum());
        squares.push(column.iter().map(|x| x * x).sum());
    }
    let variance = |(sum, square): (&f64, &f64)| (square / rows - (sum / rows).powi(2)).max(1e-12);
    sums.iter().zip(&squares).map(variance).collect()
}
