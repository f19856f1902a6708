//! The network with hidden layers of rectified linear units.
//!
//! A few hundred rows go through the layers together, each layer one product of matrices that stay in the
//! cache. Their units are kept for the way back, unless there are too many of them: then those of a tile are computed
//! anew, which gives the same bits. Units are padded to whole vectors with some that are always 0.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::architecture::{LearnerDefaults, LearnerSpec};
use super::narrow::{LANES, add_product, add_transposed_product, padded};
use super::sweep::{self, FeatureBlock, Kernel};
use super::{Features, GroupUse, Scorer, ScorerError, Trace};
use crate::wide::wide;

/// Rows that go through the layers together.
const TILE: usize = 256;

/// A network of rectified linear units with one output: h₁ = r(W₁x + b₁), h₂ = r(W₂h₁ + b₂), …,
/// f(x) = v·h + c, with r(t) = max(t, 0), whose derivative at 0 is taken as 0.
///
/// Parameters, layer by layer from the features up to the output: the weights (for each unit, those of all
/// its inputs), then the biases; after all layers the offsets of groups. Where groups have weights of their
/// own there is one whole network for each, and one for rows without a group (see [`GroupUse`]).
///
/// Weights start uniform in ±√(6 / (inputs + outputs)) (Glorot and Bengio 2010), drawn from ChaCha8 with the
/// given seed; biases start at 0. The networks of all groups start alike: from a scorer that does not see
/// the group.
///
/// ```
/// use pairity::learners::{Features, GroupUse, Mlp, Scorer};
///
/// let scorer = Mlp { width: 1, hidden: vec![2], groups: GroupUse::Blind };
/// // |x| = max(x, 0) + max(−x, 0)
/// let parameters = [1.0, -1.0, /* biases */ 0.0, 0.0, /* output */ 1.0, 1.0, /* its bias */ 0.0];
/// let features = Features::new(3, 1, vec![-2.0, 0.0, 3.0])?;
/// let mut scores = [0.0; 3];
/// scorer.score(&parameters, &features, &mut scores);
/// assert_eq!(scores, [2.0, 0.0, 3.0]);
/// # Ok::<(), pairity::learners::FeaturesError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mlp {
    /// Number of features.
    pub width: usize,
    /// Units of each hidden layer, at least one layer.
    pub hidden: Vec<usize>,
    /// How groups are used.
    pub groups: GroupUse,
}

impl Mlp {
    pub(super) const DEFAULTS: LearnerDefaults = LearnerDefaults::NUMBERS;

    pub(super) fn build(spec: &LearnerSpec) -> Mlp {
        Mlp { width: spec.width, hidden: spec.hidden.to_vec(), groups: spec.groups }
    }

    /// The hidden layers and the output.
    fn layers(&self) -> Vec<Layer> {
        let mut layers: Vec<Layer> = Vec::with_capacity(self.hidden.len() + 1);
        let mut inputs = self.width;
        for &outputs in self.hidden.iter().chain(&[1]) {
            let parameters = layers.last().map_or(0, Layer::end);
            layers.push(Layer { inputs, outputs, parameters });
            inputs = outputs;
        }
        layers
    }
}

impl Scorer for Mlp {
    fn set_len(&self) -> usize {
        self.layers().last().map_or(0, Layer::end)
    }

    fn output(&self) -> usize {
        self.layers().last().map_or(0, |layer| layer.parameters)
    }

    fn width(&self) -> usize {
        self.width
    }

    fn groups(&self) -> GroupUse {
        self.groups
    }

    fn check_sizes(&self) -> Result<(), ScorerError> {
        if self.hidden.is_empty() {
            return Err(ScorerError::Zero {
                what: "number of hidden layers",
                advice: "give the units of one layer, such as 10, or use a linear scorer",
            });
        }
        if self.hidden.contains(&0) {
            return Err(ScorerError::Zero {
                what: "number of units in a hidden layer",
                advice: "leave the layer out, or give it units",
            });
        }
        Ok(())
    }

    fn check_kinds(&self, features: &Features) -> Result<(), ScorerError> {
        if features.sparse().is_some() { Err(ScorerError::Sparse) } else { Ok(()) }
    }

    fn start_set(&self, seed: u64) -> Vec<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut set = Vec::new();
        for layer in self.layers() {
            let limit = (6.0 / (layer.inputs + layer.outputs) as f64).sqrt();
            let draw = || (2.0 * random.random::<f64>() - 1.0) * limit;
            set.extend(std::iter::repeat_with(draw).take(layer.weights()));
            set.resize(layer.end(), 0.0);
        }
        set
    }

    fn score(&self, parameters: &[f64], features: &Features, scores: &mut [f64]) {
        sweep::score(self, parameters, features, scores);
    }

    fn pull_back(&self, parameters: &[f64], features: &Features, trace: &Trace, slopes: &[f64]) -> Vec<f64> {
        let mut gradient = Vec::new();
        self.put_back(parameters, features, trace, slopes, &mut gradient);
        gradient
    }

    fn put_back(
        &self,
        parameters: &[f64],
        features: &Features,
        trace: &Trace,
        slopes: &[f64],
        gradient: &mut Vec<f64>,
    ) {
        sweep::put_back(self, parameters, features, &trace.units, slopes, gradient);
    }

    fn trace(&self, parameters: &[f64], features: &Features, scores: &mut [f64]) -> Trace {
        Trace { units: sweep::trace(self, parameters, features, scores), ..Trace::default() }
    }

    fn forward(&self, parameters: &[f64], features: &Features, _: u64, scores: &mut [f64]) -> Trace {
        self.trace(parameters, features, scores)
    }
}

/// The sizes of one layer, and where it starts among the parameters.
struct Layer {
    inputs: usize,
    outputs: usize,
    parameters: usize,
}

impl Layer {
    fn weights(&self) -> usize {
        self.inputs.saturating_mul(self.outputs)
    }

    fn end(&self) -> usize {
        self.parameters.saturating_add(self.weights()).saturating_add(self.outputs)
    }

    /// Weights (outputs × inputs) and biases.
    fn parts<'a>(&self, parameters: &'a [f64]) -> (&'a [f64], &'a [f64]) {
        parameters[self.parameters..self.end()].split_at(self.weights())
    }
}

/// A hidden layer as products take it.
struct Packed {
    /// With their padding, but for features, which have none.
    inputs: usize,
    /// With their padding.
    outputs: usize,
    /// Weights (inputs × outputs).
    weights: Vec<f64>,
    biases: Vec<f64>,
    /// Weights (outputs × inputs), where inputs are units.
    back: Vec<f64>,
}

/// Hidden layers, and how their units make a score.
struct PackedLayers {
    hidden: Vec<Packed>,
    output: Vec<f64>,
    bias: f64,
}

impl Mlp {
    fn packed(&self, set: &[f64]) -> PackedLayers {
        let mut layers = self.layers();
        let last = layers.pop();
        let pack = |(at, layer): (usize, &Layer)| {
            let inputs = if at == 0 { layer.inputs } else { padded(layer.inputs) };
            let outputs = padded(layer.outputs);
            let (own, biases) = layer.parts(set);
            let mut weights = vec![0.0; inputs * outputs];
            let mut back = vec![0.0; if at == 0 { 0 } else { inputs * outputs }];
            for (unit, own) in own.chunks_exact(layer.inputs.max(1)).enumerate() {
                own.iter().enumerate().for_each(|(input, weight)| weights[input * outputs + unit] = *weight);
                if at > 0 {
                    back[unit * inputs..][..own.len()].copy_from_slice(own);
                }
            }
            let mut biases = biases.to_vec();
            biases.resize(outputs, 0.0);
            Packed { inputs, outputs, weights, biases, back }
        };
        let hidden: Vec<Packed> = layers.iter().enumerate().map(pack).collect();
        let (output, bias) = last.as_ref().map(|last| last.parts(set)).unwrap_or_default();
        let mut output = output.to_vec();
        output.resize(padded(output.len()), 0.0);
        PackedLayers { hidden, output, bias: bias.first().copied().unwrap_or(0.0) }
    }
}

impl PackedLayers {
    /// The units of a tile of rows, layer by layer, in each row after row; and the scores.
    fn forward(&self, values: &[f64], units: &mut [f64], scores: &mut [f64]) {
        let rows = scores.len();
        let mut rest = units;
        let mut inputs = values;
        for layer in &self.hidden {
            let (own, above) = rest.split_at_mut(rows * layer.outputs);
            own.chunks_exact_mut(layer.outputs).for_each(|row| row.copy_from_slice(&layer.biases));
            add_product(inputs, &layer.weights, layer.outputs, own);
            // A NaN stays one, so that it can be seen.
            own.iter_mut().for_each(|t| *t = if *t < 0.0 { 0.0 } else { *t });
            (inputs, rest) = (own, above);
        }
        wide(
            #[inline(always)]
            || weigh(inputs, &self.output, self.bias, scores),
        );
    }
}

/// What units make of scores.
#[inline(always)]
fn weigh(units: &[f64], weights: &[f64], bias: f64, scores: &mut [f64]) {
    let (weights, _) = weights.as_chunks::<LANES>();
    for (score, units) in scores.iter_mut().zip(units.chunks_exact(LANES * weights.len().max(1))) {
        let mut lanes = [0.0; LANES];
        for (units, weights) in units.as_chunks::<LANES>().0.iter().zip(weights) {
            for lane in 0..LANES {
                lanes[lane] += units[lane] * weights[lane];
            }
        }
        let [a, b, c, d] = lanes;
        *score = bias + ((a + c) + (b + d));
    }
}

/// The gradient by the weights of a score's units, which is added; and by the units themselves before they were rectified.
#[inline(always)]
fn weigh_back(units: &[f64], slopes: &[f64], weights: &[f64], gradient: &mut [f64], by_unit: &mut [f64]) {
    let columns = weights.len();
    for from in (0..columns).step_by(LANES) {
        let Some(weights) = weights[from..].first_chunk::<LANES>() else { return };
        let Some(gradient) = gradient[from..].first_chunk_mut::<LANES>() else { return };
        let mut sums = *gradient;
        let rows = units.chunks_exact(columns).zip(by_unit.chunks_exact_mut(columns));
        for ((units, by_unit), slope) in rows.zip(slopes) {
            let Some(units) = units[from..].first_chunk::<LANES>() else { return };
            let Some(by_unit) = by_unit[from..].first_chunk_mut::<LANES>() else { return };
            for lane in 0..LANES {
                sums[lane] += slope * units[lane];
                by_unit[lane] = if units[lane] == 0.0 { 0.0 } else { slope * weights[lane] };
            }
        }
        *gradient = sums;
    }
}

/// Σ over rows, which is added.
#[inline(always)]
fn add_rows(rows: &[f64], sums: &mut [f64]) {
    for row in rows.chunks_exact(sums.len().max(1)) {
        sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
}

impl Kernel for Mlp {
    fn kept(&self) -> usize {
        self.hidden.iter().map(|&units| padded(units)).sum()
    }

    fn score_rows(&self, set: &[f64], rows: FeatureBlock, scores: &mut [f64], units: &mut [f64]) {
        let (layers, kept) = (self.packed(set), self.kept());
        let mut room = vec![0.0; if units.is_empty() { TILE.min(scores.len()) * kept } else { 0 }];
        let mut tiles = units.chunks_mut(TILE * kept);
        for (values, scores) in rows.values.chunks(TILE * self.width).zip(scores.chunks_mut(TILE)) {
            let units = tiles.next().unwrap_or(&mut room);
            layers.forward(&values[..scores.len() * self.width], &mut units[..scores.len() * kept], scores);
        }
    }

    /// The units of a tile on its way forward, and from them and the gradient by the scores the way back.
    fn pull_back_rows(&self, set: &[f64], rows: FeatureBlock, slopes: &[f64], gradient: &mut [f64]) {
        let (layers, kept) = (self.packed(set), self.kept());
        let sums = |layer: &Packed| (vec![0.0; layer.weights.len()], vec![0.0; layer.outputs]);
        let mut found: Vec<(Vec<f64>, Vec<f64>)> = layers.hidden.iter().map(sums).collect();
        let (mut by_weight, mut by_bias) = (vec![0.0; layers.output.len()], 0.0);
        let mut room = vec![0.0; if rows.units.is_empty() { TILE.min(slopes.len()) * kept } else { 0 }];
        let (mut scores, mut by_output, mut by_input) =
            (vec![0.0; room.len().min(TILE)], Vec::new(), Vec::new());
        let mut tiles = rows.units.chunks(TILE * kept);
        for (values, slopes) in rows.values.chunks(TILE * self.width).zip(slopes.chunks(TILE)) {
            let rows = slopes.len();
            let values = &values[..rows * self.width];
            let mut units = match tiles.next() {
                Some(units) => units,
                None => {
                    layers.forward(values, &mut room[..rows * kept], &mut scores[..rows]);
                    &room[..rows * kept]
                }
            };
            by_bias += slopes.iter().sum::<f64>();
            for (at, layer) in layers.hidden.iter().enumerate().rev() {
                let (below, own) = units.split_at(units.len() - rows * layer.outputs);
                if at + 1 == layers.hidden.len() {
                    by_output.resize(own.len(), 0.0);
                    wide(
                        #[inline(always)]
                        || weigh_back(own, slopes, &layers.output, &mut by_weight, &mut by_output),
                    );
                }
                let (weights, biases) = &mut found[at];
                let inputs = if at == 0 { values } else { &below[below.len() - rows * layer.inputs..] };
                add_transposed_product(inputs, layer.inputs, &by_output, layer.outputs, weights);
                add_rows(&by_output, biases);
                if at > 0 {
                    by_input.clear();
                    by_input.resize(inputs.len(), 0.0);
                    add_product(&by_output, &layer.back, layer.inputs, &mut by_input);
                    for (by_input, input) in by_input.iter_mut().zip(inputs) {
                        *by_input = if *input == 0.0 { 0.0 } else { *by_input };
                    }
                    std::mem::swap(&mut by_output, &mut by_input);
                }
                units = below;
            }
        }
        let hidden = layers
            .hidden
            .iter()
            .zip(&found)
            .map(|(layer, (weights, biases))| (layer.outputs, weights, biases));
        for (layer, (outputs, weights, biases)) in self.layers().iter().zip(hidden) {
            let (to, to_biases) = gradient[layer.parameters..layer.end()].split_at_mut(layer.weights());
            for (unit, to) in to.chunks_exact_mut(layer.inputs.max(1)).enumerate() {
                to.iter_mut()
                    .zip(weights.iter().skip(unit).step_by(outputs))
                    .for_each(|(to, sum)| *to += sum);
            }
            to_biases.iter_mut().zip(biases).for_each(|(to, sum)| *to += sum);
        }
        let output = &mut gradient[self.output()..];
        if let Some((bias, weights)) = output.split_last_mut() {
            weights.iter_mut().zip(&by_weight).for_each(|(to, sum)| *to += sum);
            *bias += by_bias;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    fn bits(numbers: &[f64]) -> Vec<u64> {
        numbers.iter().map(|number| number.to_bits()).collect()
    }

    /// Rows of several parts and tiles, layers that are no multiple of a vector, and groups.
    #[test]
    fn a_way_back_has_the_same_bits_with_and_without_what_the_way_forward_kept() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let mut numbers =
            |count: usize| -> Vec<f64> { (0..count).map(|_| random.random_range(-1.0..1.0)).collect() };
        let (rows, width) = (9_000, 7);
        let codes = (0..rows).map(|row| (row % 3) as u16).collect();
        let features = Features::new(rows, width, numbers(rows * width)).unwrap().with_codes(codes).unwrap();
        for hidden in [vec![1], vec![10], vec![13, 6, 4]] {
            for groups in [GroupUse::Blind, GroupUse::Offsets { groups: 2 }, GroupUse::Weights { groups: 2 }]
            {
                let network = Mlp { width, hidden: hidden.clone(), groups };
                let (parameters, slopes) = (numbers(network.len()), numbers(rows));
                let (mut scores, mut again) = (vec![0.0; rows], vec![0.0; rows]);
                network.score(&parameters, &features, &mut scores);
                let trace = network.trace(&parameters, &features, &mut again);
                assert_eq!(bits(&scores), bits(&again));
                // Where groups have networks of their own, nothing is kept.
                let kept: usize = hidden.iter().map(|units| units.next_multiple_of(4)).sum();
                let kept = if let GroupUse::Weights { .. } = groups { 0 } else { kept };
                assert_eq!(trace.units.len(), rows * kept);
                let [anew, spared] = [Trace::default(), trace]
                    .map(|trace| network.pull_back(&parameters, &features, &trace, &slopes));
                assert_eq!(bits(&anew), bits(&spared), "{hidden:?} {groups:?}");
            }
        }
    }
}
