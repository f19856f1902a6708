//! The network with hidden layers of rectified linear units.
//!
//! A few hundred rows go through the layers together, each layer one product of matrices that stay in the
//! cache. The units of a tile are computed anew for the backward pass, which is cheaper than keeping those
//! of all rows in memory.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::architecture::{LearnerDefaults, LearnerSpec};
use super::product::{Matrix, multiply};
use super::sweep::{self, Block, Kernel};
use super::{Features, GroupUse, Scorer, ScorerError, Trace};

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
}

impl Scorer for Mlp {
    fn len(&self) -> usize {
        self.groups.len(Layers::new(self).len())
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
        if features.words().is_some() { Err(ScorerError::Words) } else { Ok(()) }
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
        _trace: &Trace,
        score_gradient: &[f64],
        gradient: &mut [f64],
    ) {
        debug_assert_eq!(features.width(), self.width);
        sweep::pull_back(&Layers::new(self), self.groups, parameters, features, score_gradient, gradient);
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
    fn parts<'a>(&self, parameters: &'a [f64]) -> (Matrix<'a, f64>, &'a [f64]) {
        let (weights, biases) = parameters[self.parameters..self.end()].split_at(self.weights());
        (Matrix::new(weights, self.outputs, self.inputs), biases)
    }
}

/// One network.
struct Layers {
    width: usize,
    /// The hidden layers and the output.
    layers: Vec<Layer>,
}

/// The units of a tile of rows, layer by layer; in each row after row.
type Units = Vec<Vec<f64>>;

impl Layers {
    fn new(mlp: &Mlp) -> Layers {
        let mut layers: Vec<Layer> = Vec::with_capacity(mlp.hidden.len() + 1);
        let mut inputs = mlp.width;
        for &outputs in mlp.hidden.iter().chain(&[1]) {
            let parameters = layers.last().map_or(0, Layer::end);
            layers.push(Layer { inputs, outputs, parameters });
            inputs = outputs;
        }
        Layers { width: mlp.width, layers }
    }

    /// The value of every unit above the features.
    fn forward(&self, parameters: &[f64], values: &[f64], rows: usize, units: &mut Units) {
        units.resize(self.layers.len(), Vec::new());
        let last = self.layers.len() - 1;
        for (at, layer) in self.layers.iter().enumerate() {
            let (below, above) = units.split_at_mut(at);
            let (weights, biases) = layer.parts(parameters);
            let inputs = Matrix::new(below.last().map_or(values, Vec::as_slice), rows, layer.inputs);
            let outputs = &mut above[0];
            outputs.clear();
            (0..rows).for_each(|_| outputs.extend_from_slice(biases));
            multiply(inputs, weights.transposed(), 1.0, outputs);
            if at < last {
                // A NaN stays one, so that it can be seen.
                outputs.iter_mut().for_each(|t| *t = if *t < 0.0 { 0.0 } else { *t });
            }
        }
    }

    /// Adds the gradient of a tile, from that by the scores and the units on the way forward.
    fn backward(
        &self,
        parameters: &[f64],
        values: &[f64],
        units: &Units,
        by_score: &[f64],
        gradient: &mut [f64],
    ) {
        let rows = by_score.len();
        let mut by_output = by_score.to_vec();
        for (at, layer) in self.layers.iter().enumerate().rev() {
            let inputs = at.checked_sub(1).map_or(values, |below| &units[below]);
            let above = Matrix::new(&by_output, rows, layer.outputs);
            let (weights, biases) = gradient[layer.parameters..layer.end()].split_at_mut(layer.weights());
            multiply(above.transposed(), Matrix::new(inputs, rows, layer.inputs), 1.0, weights);
            for row in by_output.chunks_exact(layer.outputs) {
                biases.iter_mut().zip(row).for_each(|(bias, by_output)| *bias += by_output);
            }
            if at > 0 {
                let mut by_input = vec![0.0; inputs.len()];
                multiply(above, layer.parts(parameters).0, 0.0, &mut by_input);
                for (by_input, input) in by_input.iter_mut().zip(inputs) {
                    *by_input = if *input == 0.0 { 0.0 } else { *by_input };
                }
                by_output = by_input;
            }
        }
    }
}

impl Kernel for Layers {
    fn len(&self) -> usize {
        self.layers.last().map_or(0, Layer::end)
    }

    fn score(&self, parameters: &[f64], rows: Block, scores: &mut [f64]) {
        let mut units = Units::new();
        let values = &rows.values[..scores.len() * self.width];
        for (values, scores) in values.chunks(TILE * self.width).zip(scores.chunks_mut(TILE)) {
            self.forward(parameters, values, scores.len(), &mut units);
            if let Some(output) = units.last() {
                scores.copy_from_slice(output);
            }
        }
    }

    fn pull_back(&self, parameters: &[f64], rows: Block, score_gradient: &[f64], gradient: &mut [f64]) {
        let mut units = Units::new();
        let values = &rows.values[..score_gradient.len() * self.width];
        for (values, by_score) in values.chunks(TILE * self.width).zip(score_gradient.chunks(TILE)) {
            self.forward(parameters, values, by_score.len(), &mut units);
            self.backward(parameters, values, &units, by_score, gradient);
        }
    }
}
