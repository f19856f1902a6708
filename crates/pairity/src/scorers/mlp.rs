//! The network with hidden layers of rectified linear units.
//!
//! Sixteen rows go through the layers side by side: units are stored as arrays of sixteen numbers, so that
//! every inner loop runs over rows and turns into vector instructions. The activations of a tile are
//! computed anew for the backward pass, which is cheaper than keeping those of all rows in memory.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::sweep::{self, Block, Kernel};
use super::{Features, GroupUse, Scorer};

/// Rows that go through the layers together.
const TILE: usize = 16;

/// One unit's value in each row of a tile.
type Unit = [f64; TILE];

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
/// use pairity::scorers::{Features, GroupUse, Mlp, Scorer};
///
/// let scorer = Mlp { width: 1, hidden: vec![2], groups: GroupUse::Blind };
/// // |x| = max(x, 0) + max(−x, 0)
/// let parameters = [1.0, -1.0, /* biases */ 0.0, 0.0, /* output */ 1.0, 1.0, /* its bias */ 0.0];
/// let features = Features::new(3, 1, vec![-2.0, 0.0, 3.0])?;
/// let mut scores = [0.0; 3];
/// scorer.score(&parameters, &features, &mut scores);
/// assert_eq!(scores, [2.0, 0.0, 3.0]);
/// # Ok::<(), pairity::scorers::FeaturesError>(())
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

impl Scorer for Mlp {
    fn len(&self) -> usize {
        self.groups.len(Layers::new(self).len())
    }

    fn start(&self, seed: u64) -> Vec<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let layers = Layers::new(self);
        let mut set = Vec::with_capacity(layers.len());
        for layer in &layers.layers {
            let limit = (6.0 / (layer.inputs + layer.outputs) as f64).sqrt();
            let draw = || (2.0 * random.random::<f64>() - 1.0) * limit;
            set.extend(std::iter::repeat_with(draw).take(layer.weights()));
            set.resize(set.len() + layer.outputs, 0.0);
        }
        self.groups.start(set)
    }

    fn score(&self, parameters: &[f64], features: &Features, scores: &mut [f64]) {
        debug_assert_eq!(features.width(), self.width);
        sweep::score(&Layers::new(self), self.groups, parameters, features, scores);
    }

    fn pull_back(
        &self,
        parameters: &[f64],
        features: &Features,
        score_gradient: &[f64],
        gradient: &mut [f64],
    ) {
        debug_assert_eq!(features.width(), self.width);
        sweep::pull_back(&Layers::new(self), self.groups, parameters, features, score_gradient, gradient);
    }
}

/// The sizes of one layer, and where it starts among the parameters and among the units.
struct Layer {
    inputs: usize,
    outputs: usize,
    parameters: usize,
    units: usize,
}

impl Layer {
    fn weights(&self) -> usize {
        self.inputs.saturating_mul(self.outputs)
    }

    fn end(&self) -> usize {
        self.parameters.saturating_add(self.weights()).saturating_add(self.outputs)
    }
}

/// One network.
struct Layers {
    width: usize,
    /// The hidden layers and the output.
    layers: Vec<Layer>,
}

impl Layers {
    fn new(mlp: &Mlp) -> Layers {
        let mut layers: Vec<Layer> = Vec::with_capacity(mlp.hidden.len() + 1);
        let (mut inputs, mut units) = (mlp.width, 0_usize);
        for &outputs in mlp.hidden.iter().chain(&[1]) {
            let parameters = layers.last().map_or(0, Layer::end);
            layers.push(Layer { inputs, outputs, parameters, units });
            units = units.saturating_add(inputs);
            inputs = outputs;
        }
        Layers { width: mlp.width, layers }
    }

    /// Space for the features, every hidden unit and the output.
    fn units(&self) -> Vec<Unit> {
        vec![[0.0; TILE]; self.layers.iter().map(|layer| layer.inputs).sum::<usize>() + 1]
    }

    /// The value of every unit in a tile of rows; places beyond the last row are rows of zeros.
    fn forward(&self, parameters: &[f64], values: &[f64], units: &mut [Unit]) {
        units[..self.width].fill([0.0; TILE]);
        for (row, x) in values.chunks_exact(self.width).enumerate() {
            for (unit, x) in units.iter_mut().zip(x) {
                unit[row] = *x;
            }
        }
        let last = self.layers.len() - 1;
        for (at, layer) in self.layers.iter().enumerate() {
            let (weights, biases) = parameters[layer.parameters..].split_at(layer.weights());
            let (inputs, outputs) = units[layer.units..].split_at_mut(layer.inputs);
            let weights = weights.chunks_exact(layer.inputs);
            for ((output, weights), bias) in outputs.iter_mut().zip(weights).zip(&biases[..layer.outputs]) {
                let mut sum = [*bias; TILE];
                for (weight, input) in weights.iter().zip(inputs.iter()) {
                    add(&mut sum, *weight, input);
                }
                if at < last {
                    // A NaN stays one, so that it can be seen.
                    sum = sum.map(|t| if t < 0.0 { 0.0 } else { t });
                }
                *output = sum;
            }
        }
    }

    /// Adds the gradient of a tile. `above` holds the gradient by the output, and then by the units of
    /// layer after layer downward; `below` is scratch space.
    fn backward(
        &self,
        parameters: &[f64],
        units: &[Unit],
        above: &mut Vec<Unit>,
        below: &mut Vec<Unit>,
        gradient: &mut [f64],
    ) {
        for (at, layer) in self.layers.iter().enumerate().rev() {
            let inputs = &units[layer.units..][..layer.inputs];
            let (weights, biases) = gradient[layer.parameters..].split_at_mut(layer.weights());
            for (weights, by_output) in weights.chunks_exact_mut(layer.inputs).zip(above.iter()) {
                for (weight, input) in weights.iter_mut().zip(inputs) {
                    *weight += dot(by_output, input);
                }
            }
            for (bias, by_output) in biases.iter_mut().zip(above.iter()) {
                *bias += fold(*by_output);
            }
            if at == 0 {
                return;
            }
            below.clear();
            below.resize(layer.inputs, [0.0; TILE]);
            let weights = parameters[layer.parameters..].chunks_exact(layer.inputs);
            for (weights, by_output) in weights.zip(above.iter()) {
                for (by_input, weight) in below.iter_mut().zip(weights) {
                    add(by_input, *weight, by_output);
                }
            }
            for (by_input, input) in below.iter_mut().zip(inputs) {
                for (by_input, input) in by_input.iter_mut().zip(input) {
                    *by_input = if *input == 0.0 { 0.0 } else { *by_input };
                }
            }
            std::mem::swap(above, below);
        }
    }
}

impl Kernel for Layers {
    fn len(&self) -> usize {
        self.layers.last().map_or(0, Layer::end)
    }

    fn score(&self, parameters: &[f64], rows: Block, scores: &mut [f64]) {
        let mut units = self.units();
        let values = &rows.values[..scores.len() * self.width];
        for (values, scores) in values.chunks(TILE * self.width).zip(scores.chunks_mut(TILE)) {
            self.forward(parameters, values, &mut units);
            if let Some(output) = units.last() {
                scores.copy_from_slice(&output[..scores.len()]);
            }
        }
    }

    fn pull_back(&self, parameters: &[f64], rows: Block, score_gradient: &[f64], gradient: &mut [f64]) {
        let mut units = self.units();
        let values = &rows.values[..score_gradient.len() * self.width];
        let (mut above, mut below) = (Vec::new(), Vec::new());
        for (values, by_score) in values.chunks(TILE * self.width).zip(score_gradient.chunks(TILE)) {
            self.forward(parameters, values, &mut units);
            let mut by_output = [0.0; TILE];
            by_output[..by_score.len()].copy_from_slice(by_score);
            above.clear();
            above.push(by_output);
            self.backward(parameters, &units, &mut above, &mut below, gradient);
        }
    }
}

#[inline]
fn add(sum: &mut Unit, factor: f64, unit: &Unit) {
    for row in 0..TILE {
        sum[row] += factor * unit[row];
    }
}

#[inline]
fn dot(a: &Unit, b: &Unit) -> f64 {
    let mut products = [0.0; TILE];
    for row in 0..TILE {
        products[row] = a[row] * b[row];
    }
    fold(products)
}

/// The sum, by halves: first + ninth, and so on.
#[inline]
fn fold(mut unit: Unit) -> f64 {
    let mut half = TILE / 2;
    while half > 0 {
        for row in 0..half {
            unit[row] += unit[row + half];
        }
        half /= 2;
    }
    unit[0]
}
