//! The network with hidden layers of rectified linear units.
//!
//! A few hundred rows go through the layers together, each layer one product of matrices that stay in the
//! cache. The units of a tile are computed anew for the backward pass, which is cheaper than keeping those
//! of all rows in memory.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, LinalgScalar, ShapeBuilder};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::architecture::{LearnerDefaults, LearnerSpec};
use super::sweep::{self, FeatureBlock, Kernel};
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

    fn pull_back(&self, parameters: &[f64], features: &Features, _: &Trace, slopes: &[f64]) -> Vec<f64> {
        let mut gradient = Vec::new();
        sweep::put_back(self, parameters, features, slopes, &mut gradient);
        gradient
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
    fn parts<'a>(&self, parameters: &'a [f64]) -> (DenseMatrix<'a, f64>, &'a [f64]) {
        let (weights, biases) = parameters[self.parameters..self.end()].split_at(self.weights());
        (DenseMatrix::new(weights, self.outputs, self.inputs), biases)
    }
}

/// The units of a tile of rows, layer by layer; in each row after row.
type HiddenUnits = Vec<Vec<f64>>;

/// The value of every unit above the features.
fn forward(layers: &[Layer], set: &[f64], values: &[f64], rows: usize, units: &mut HiddenUnits) {
    units.resize(layers.len(), Vec::new());
    for (at, layer) in layers.iter().enumerate() {
        let (below, above) = units.split_at_mut(at);
        let (weights, biases) = layer.parts(set);
        let inputs = DenseMatrix::new(below.last().map_or(values, Vec::as_slice), rows, layer.inputs);
        let outputs = &mut above[0];
        outputs.clear();
        (0..rows).for_each(|_| outputs.extend_from_slice(biases));
        multiply(inputs, weights.transposed(), 1.0, outputs);
        if at + 1 < layers.len() {
            // A NaN stays one, so that it can be seen.
            outputs.iter_mut().for_each(|t| *t = if *t < 0.0 { 0.0 } else { *t });
        }
    }
}

impl Kernel for Mlp {
    fn score_rows(&self, set: &[f64], rows: FeatureBlock, scores: &mut [f64]) {
        let (layers, mut units) = (self.layers(), HiddenUnits::new());
        for (values, scores) in rows.values.chunks(TILE * self.width).zip(scores.chunks_mut(TILE)) {
            forward(&layers, set, &values[..scores.len() * self.width], scores.len(), &mut units);
            scores.copy_from_slice(&units[self.hidden.len()]);
        }
    }

    /// The units of a tile on its way forward, and from them and the gradient by the scores the way back.
    fn pull_back_rows(&self, set: &[f64], rows: FeatureBlock, slopes: &[f64], gradient: &mut [f64]) {
        let (layers, mut units) = (self.layers(), HiddenUnits::new());
        for (values, by_score) in rows.values.chunks(TILE * self.width).zip(slopes.chunks(TILE)) {
            let rows = by_score.len();
            let values = &values[..rows * self.width];
            forward(&layers, set, values, rows, &mut units);
            let mut by_output = by_score.to_vec();
            for (at, layer) in layers.iter().enumerate().rev() {
                let inputs = at.checked_sub(1).map_or(values, |below| &units[below]);
                let above = DenseMatrix::new(&by_output, rows, layer.outputs);
                let (weights, biases) = gradient[layer.parameters..layer.end()].split_at_mut(layer.weights());
                multiply(above.transposed(), DenseMatrix::new(inputs, rows, layer.inputs), 1.0, weights);
                for row in by_output.chunks_exact(layer.outputs) {
                    biases.iter_mut().zip(row).for_each(|(bias, by_output)| *bias += by_output);
                }
                if at > 0 {
                    let mut by_input = vec![0.0; inputs.len()];
                    multiply(above, layer.parts(set).0, 0.0, &mut by_input);
                    for (by_input, input) in by_input.iter_mut().zip(inputs) {
                        *by_input = if *input == 0.0 { 0.0 } else { *by_input };
                    }
                    by_output = by_input;
                }
            }
        }
    }
}

/// Numbers of a slice as a matrix.
#[derive(Clone, Copy)]
pub(super) struct DenseMatrix<'a, T> {
    values: &'a [T],
    shape: (usize, usize),
    strides: (usize, usize),
}

impl<'a, T> DenseMatrix<'a, T> {
    /// Row after row.
    pub(super) fn new(values: &'a [T], rows: usize, columns: usize) -> DenseMatrix<'a, T> {
        DenseMatrix { values, shape: (rows, columns), strides: (columns, 1) }
    }

    /// The same with rows that begin so many places apart, and overlap if that is less than a row.
    pub(super) fn with_stride(self, stride: usize) -> DenseMatrix<'a, T> {
        DenseMatrix { strides: (stride, 1), ..self }
    }

    pub(super) fn transposed(self) -> DenseMatrix<'a, T> {
        let ((rows, columns), (down, across)) = (self.shape, self.strides);
        DenseMatrix { shape: (columns, rows), strides: (across, down), ..self }
    }
}

/// C = XY + βC, with C row after row.
pub(super) fn multiply<T: LinalgScalar>(x: DenseMatrix<T>, y: DenseMatrix<T>, beta: T, c: &mut [T]) {
    let view = |m: DenseMatrix<'_, T>| m.shape.strides(m.strides);
    let shape = (x.shape.0, y.shape.1);
    let (x, y) = (ArrayView2::from_shape(view(x), x.values), ArrayView2::from_shape(view(y), y.values));
    let c = ArrayViewMut2::from_shape(shape, c);
    debug_assert!(x.is_ok() && y.is_ok() && c.is_ok());
    // The shapes always fit; the tests of the networks would show zeros otherwise.
    if let (Ok(x), Ok(y), Ok(mut c)) = (x, y, c) {
        general_mat_mul(T::one(), &x, &y, beta, &mut c);
    }
}
