//! A scorer's answer to prices: of all scorers, one whose Lagrangian, a weighted sum of rates, is as small as can
//! be found.
//!
//! | step | what it finds |
//! |---|---|
//! | [`NetShape::Convex`] to convergence | the one minimum of a smooth bound, if no pair is to be held down |
//! | [`NetShape::Bounded`] with a margin that shrinks | a nearby minimum of something close to the rates themselves |
//! | sweeps of planes, linear scorers | no smaller value in any of the planes that were tried |
//!
//! With two parameters one plane holds every scorer, so that a single sweep finds the best there is. Where errors are
//! squared, scores have a scale, which margins are shares of, and there are no sweeps.

use super::attribute::{center, told_by_units};
use super::moments::Moments;
use super::plane::{BestAngle, WeightedPair, sweep};
use crate::goals::Problem;
use crate::learners::{Architecture, Features, GroupUse, Linear, Scorer, Trace};
use crate::pairs::{NetLoss, NetShape};
use crate::rates::Rate;
use crate::solvers::curvature::Curvature;
use crate::solvers::lbfgs::{DescentLimits, descend};
use crate::solvers::loss::{Sample, SurrogateWeights};
use crate::solvers::solver::Training;

/// Lists of pairs up to this length are swept; of longer ones, angles are tried.
const LISTED: u64 = 300_000;

/// The same where a single sweep finds the best there is.
const LISTED_EXACTLY: u64 = 20_000_000;

/// Margins of the bounded shape, as shares of the deviation of scores.
const MARGINS: [f64; 3] = [1.0, 0.4, 0.15];

/// The one of networks, which seldom gain by it, and whose steps cost much.
const MARGIN_OF_NETWORKS: [f64; 1] = [0.4];

/// The same where scores have a scale, as shares of the deviation of labels.
const NARROWER: [f64; 2] = [0.4, 0.15];

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

/// Angles to either side that are tried where pairs are not listed, or rates are of others than those that are listed.
const ANGLES: [f64; 5] = [0.02, 0.06, 0.15, 0.4, 1.0];

/// Weight decay of what features tell of the attribute.
pub(super) const ATTRIBUTE_DECAY: f64 = 0.01;

/// A sample that linear scorers are fit to.
pub(super) struct Fitting<'a> {
    pub sample: &'a Sample<'a>,
    problem: &'a Problem,
    pub architecture: &'a Architecture,
    tie: f64,
    shape: &'a SampleShape,
}

/// What is known of a sample before anything is fit to it.
#[derive(Default)]
pub(super) struct SampleShape {
    /// What weight decay counts the square of each parameter for: the variance of what it is multiplied with.
    decay: Vec<f64>,
    /// The deviation of the labels.
    spread: f64,
    moments: Option<Moments>,
}

impl SampleShape {
    /// Of a sample whose moments may be known. Weight decay is that of all rows, whatever part of them the sample is: what is
    /// constant in a part is not in the others, so that its weight has to be small there too.
    pub(super) fn of(
        architecture: &Architecture,
        sample: &Sample,
        decay: Vec<f64>,
        moments: Option<Moments>,
    ) -> SampleShape {
        let labels = sample.examples().labels.as_deref().unwrap_or_default();
        SampleShape {
            decay,
            spread: deviation(labels),
            moments: moments.or_else(|| Moments::of(architecture, sample)),
        }
    }
}

/// Scorers that answer prices, each step's one after the other.
pub(super) struct Response {
    pub steps: Vec<Vec<f64>>,
    /// How much the best scorer of all may earn more than the last of these, where that is known.
    pub missed: Option<f64>,
}

impl<'a> Fitting<'a> {
    pub(super) fn new(
        training: &Training<'a>,
        sample: &'a Sample<'a>,
        shape: &'a SampleShape,
    ) -> Fitting<'a> {
        let Training { problem, architecture, settings, .. } = *training;
        Fitting { sample, problem, architecture, tie: settings.ties.credit(), shape }
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

    /// The answer to weights, from a start, in so many steps at most, or if that is asked for the best of all.
    pub(super) fn respond(
        &self,
        weights: &SurrogateWeights,
        l2: f64,
        start: &[f64],
        depth: usize,
        exact: bool,
        judge: Option<&Sample>,
    ) -> Response {
        if exact {
            let best = self.sweep_all(weights);
            let Some(judge) = judge else { return best };
            let turned = |own: Vec<f64>| self.turned(judge, weights, own);
            return Response { steps: best.steps.into_iter().map(turned).collect(), missed: None };
        }
        let mut weights = weights.normalized();
        let mut steps = Vec::new();
        if self.regression() {
            weights.anchor(0.1 / (self.shape.spread * self.shape.spread).max(f64::MIN_POSITIVE));
            let weights = &weights;
            let margin = self.shape.spread.max(f64::MIN_POSITIVE);
            let known = self.curvature(weights, margin, l2);
            let fit = |shape, margin: f64, start: &[f64], steps| {
                self.fit(NetLoss { shape, margin }, weights, l2, known.as_ref(), start, steps)
            };
            steps.push(fit(NetShape::Convex, margin, start, FAR));
            // Of squared errors alone the minimum is the answer: the slope of least squares would undo its weight decay.
            if weights.has_pairs() {
                for share in NARROWER.iter().take(depth.saturating_sub(1)) {
                    let from = steps.last().map_or(start, Vec::as_slice);
                    steps.push(fit(NetShape::Bounded, share * margin, from, NEAR));
                }
                steps.iter_mut().for_each(|step| self.calibrate(step));
            }
            return Response { steps, missed: None };
        }
        let weights = &weights;
        let known = self.curvature(weights, 1.0, l2);
        let fit = |shape, margin: f64, start: &[f64], steps| {
            self.fit(NetLoss { shape, margin }, weights, l2, known.as_ref(), start, steps)
        };
        let convex = fit(NetShape::Convex, 1.0, start, FAR);
        // Where nearly every order can be had, a bounded shape finds none that the convex one does not.
        if depth < 2 || self.is_wide() && weights.hold_up_only() {
            return Response { steps: vec![convex], missed: None };
        }
        let mut annealed = convex.clone();
        let linear = matches!(self.architecture, Architecture::Linear(_));
        let margins = if linear { &MARGINS[..] } else { &MARGIN_OF_NETWORKS };
        for &margin in margins {
            self.bring_to_scale(&mut annealed);
            annealed = fit(NetShape::Bounded, margin, &annealed, NEAR);
        }
        self.bring_to_scale(&mut annealed);
        steps.extend([convex, annealed]);
        if depth > 2 && self.architecture.len() <= POLISHED {
            steps.push(self.polish(weights, steps[1].clone()));
        }
        Response { steps, missed: None }
    }

    /// What may be subtracted from a scorer to make it fair, for each group but the first or for the continuous attribute:
    /// what a group has of its own, or else the attribute as features tell it. Their scores deviate as much as the scorer's.
    pub(super) fn attribute_directions(&self, parameters: &[f64]) -> Vec<Vec<f64>> {
        let (architecture, len) = (self.architecture, self.architecture.len());
        let spread = deviation(&self.scores(parameters));
        let unit = |at: usize| (0..len).map(|own| if own == at { spread } else { 0.0 }).collect();
        match architecture.groups() {
            GroupUse::Offsets { groups } => {
                (1..groups).map(|group| unit(architecture.set_len() + group)).collect()
            }
            // The constant of each set is the last of its parameters.
            GroupUse::Weights { groups } => {
                (1..groups).map(|group| unit((group + 1) * architecture.set_len() - 1)).collect()
            }
            GroupUse::Blind => {
                let told = self.sample.examples().attribute_numbers().into_iter();
                if let Architecture::Mlp(network) = self.architecture {
                    return told
                        .filter_map(|numbers| told_by_units(self, network, parameters, numbers))
                        .collect();
                }
                let SampleShape { moments, decay, .. } = self.shape;
                let known = moments.as_ref().and_then(|own| own.curvature(0.0, 1.0, ATTRIBUTE_DECAY, decay));
                let Some(known) = known else { return Vec::new() };
                told.map(|numbers| self.told(numbers, &known, spread)).collect()
            }
        }
    }

    /// The direction whose scores are the nearest to some numbers within queries, with a deviation.
    fn told(&self, mut numbers: Vec<f64>, known: &Curvature, spread: f64) -> Vec<f64> {
        center(self.sample, &mut numbers);
        numbers.iter_mut().for_each(|number| *number /= self.sample.examples().len() as f64);
        let none = vec![0.0; self.architecture.len()];
        let mut direction =
            self.architecture.pull_back(&none, &self.sample.features, &Trace::default(), &numbers);
        known.solve(&mut direction);
        if let Architecture::Linear(linear) = self.architecture {
            intercepts(linear).for_each(|at| direction[at] = 0.0);
        }
        let size = spread / deviation(&self.scores(&direction));
        let size = if size.is_finite() { size } else { 0.0 };
        direction.iter_mut().for_each(|x| *x *= size);
        direction
    }

    /// Descends a loss with weight decay.
    fn fit(
        &self,
        loss: NetLoss,
        weights: &SurrogateWeights,
        l2: f64,
        known: Option<&Curvature>,
        start: &[f64],
        iterations: [usize; 2],
    ) -> Vec<f64> {
        let iterations = iterations[usize::from(self.architecture.len() > POLISHED)];
        let limits = DescentLimits { iterations, gradient: 1e-6, decrease: 3e-6 };
        let mut slopes = vec![0.0; self.sample.examples().len()];
        let found = descend(start.to_vec(), limits, known, |parameters, gradient| {
            self.evaluate(&loss, weights, l2, parameters, gradient, &mut slopes)
        });
        found.parameters
    }

    /// About how a loss with a margin curves.
    fn curvature(&self, weights: &SurrogateWeights, margin: f64, l2: f64) -> Option<Curvature> {
        let SampleShape { decay, moments, .. } = self.shape;
        let given = weights.given();
        let pairs: f64 = given.hold_up.iter().zip(given.hold_down).map(|(up, down)| (up - down).abs()).sum();
        moments.as_ref()?.curvature(given.mse, pairs / (margin * margin), l2, decay)
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
        let sample = self.sample;
        let mut scores = sample.index().rooms().list(sample.examples().len());
        let trace = self.architecture.trace(parameters, &sample.features, &mut scores);
        if !scores.iter().all(|score| score.is_finite()) {
            return f64::INFINITY;
        }
        let mut value = loss.evaluate(sample.index(), &scores, weights.given(), slopes);
        let back = self.architecture.pull_back(parameters, &sample.features, &trace, slopes);
        gradient.copy_from_slice(&back);
        for ((g, x), decay) in gradient.iter_mut().zip(parameters).zip(&self.shape.decay) {
            *g += l2 * decay * x;
            value += 0.5 * l2 * decay * x * x;
        }
        value
    }

    pub(super) fn scores(&self, parameters: &[f64]) -> Vec<f64> {
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

    /// A scorer of two parameters, turned by a small angle to where it is the best by the rates of another sample.
    fn turned(&self, judge: &Sample, weights: &SurrogateWeights, best: Vec<f64>) -> Vec<f64> {
        let at = |angle: f64| -> Vec<f64> {
            let (sin, cos) = angle.sin_cos();
            match best[..] {
                [x, y] => vec![x * cos - y * sin, x * sin + y * cos],
                _ => best.clone(),
            }
        };
        let earned = |angle: f64| weights.earned(&judge.true_rates_of(self.architecture, &at(angle)));
        at(walk_to_angle(earned, earned(0.0)))
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
        let [before, best, after] = around_best(&mut tried);
        let neighbors = [before, after].into_iter().flatten();
        let new: Vec<f64> =
            neighbors.map(|own| f64::midpoint(own.0, best.map_or(0.0, |best| best.0))).collect();
        tried.extend(new.into_iter().map(|x| (x, value(x))));
    }
    around_best(&mut tried)[1].map_or(0.0, |best| best.0)
}

/// The same where 0 is the best angle by other rates of much the same rows: angles farther away are worth a look only where
/// nearer ones are better, and the value is about a parabola.
fn walk_to_angle(value: impl Fn(f64) -> f64, here: f64) -> f64 {
    let mut tried = vec![(0.0, here)];
    for side in [1.0, -1.0] {
        let mut best = here;
        for angle in &ANGLES[1..] {
            let found = value(side * angle);
            tried.push((side * angle, found));
            if found <= best {
                break;
            }
            best = found;
        }
        if best > here {
            break;
        }
    }
    for _ in 0..2 {
        let [Some(before), Some(best), Some(after)] = around_best(&mut tried) else { break };
        let top = top_of_parabola(before, best, after);
        if !(top > before.0 && top < after.0) || tried.iter().any(|own| (own.0 - top).abs() < 1e-3) {
            break;
        }
        tried.push((top, value(top)));
    }
    around_best(&mut tried)[1].map_or(0.0, |best| best.0)
}

/// Of angles with their values, the best with those next to it.
fn around_best(tried: &mut [(f64, f64)]) -> [Option<(f64, f64)>; 3] {
    tried.sort_by(|a, b| a.0.total_cmp(&b.0));
    let best = (0..tried.len()).max_by(|&a, &b| tried[a].1.total_cmp(&tried[b].1)).unwrap_or(0);
    [best.checked_sub(1), Some(best), Some(best + 1)].map(|at| tried.get(at?).copied())
}

/// Where the parabola through three points has its top; no number where they are in line.
fn top_of_parabola(a: (f64, f64), b: (f64, f64), c: (f64, f64)) -> f64 {
    let (left, right) = ((b.0 - a.0) * (b.1 - c.1), (b.0 - c.0) * (b.1 - a.1));
    b.0 - 0.5 * ((b.0 - a.0) * left - (b.0 - c.0) * right) / (left - right)
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

pub(super) fn deviation(values: &[f64]) -> f64 {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt()
}

/// What the squares of parameters count in weight decay: the variance of each number that they are multiplied with, so
/// that it does not matter in which unit a feature is; 1 for words and for what is the same in all rows, and nothing for an
/// intercept.
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
    let variance = |(sum, square): (&f64, &f64)| {
        let (mean, square) = (sum / rows, square / rows);
        let variance = square - mean * mean;
        // Less is rounding.
        if variance > 1e-12 * square { variance } else { 1.0 }
    };
    sums.iter().zip(&squares).map(variance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn an_angle_is_found_where_the_value_has_its_top() {
        for top in [-0.5, -0.2, -0.03, 0.0, 0.01, 0.07, 0.5] {
            let calls = Cell::new(0);
            let value = |x: f64| {
                calls.set(calls.get() + 1);
                1.0 - (x - top).powi(2) + 0.05 * (x - top).powi(3)
            };
            let walked = walk_to_angle(value, value(0.0));
            assert!((walked - top).abs() < 0.01, "{walked} for {top}");
            assert!(calls.get() <= 9, "{top}: {}", calls.get());
            let searched = search_angle(value, value(0.0));
            assert!((searched - top).abs() < 0.1, "{searched} for {top}");
        }
        // Where nothing is better, nothing moves.
        assert_eq!(walk_to_angle(|x| -x.abs(), 0.0), 0.0);
    }

    #[test]
    fn a_parabola_has_its_top_where_three_points_of_it_say() {
        let of = |x: f64| (x, 3.0 - 2.0 * (x - 0.3).powi(2));
        assert!((top_of_parabola(of(-1.0), of(0.0), of(0.7)) - 0.3).abs() < 1e-12);
        assert!(!top_of_parabola((0.0, 1.0), (1.0, 2.0), (2.0, 3.0)).is_finite());
    }
}
