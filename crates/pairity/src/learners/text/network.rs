//! A few texts through the network, forward and backward.
//!
//! The embedded texts lie behind each other, with zeros between them. Window after window of them is a matrix
//! whose rows overlap, so that the convolution is one product of matrices. Of its results only the largest
//! of each filter matters: the way back touches one window a filter.

use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::cnn::{CnnParameters, TextCnn};
use super::product::{DenseMatrix, multiply};
use crate::learners::Sparse;

/// No window of a text: the filter is below 0 everywhere.
const NOWHERE: u32 = u32::MAX;

/// The network with its weights.
pub(super) struct Net<'a> {
    shape: &'a TextCnn,
    parts: CnnParameters,
    weights: &'a [f32],
}

/// What a few texts left behind on their way forward.
pub(in crate::learners) struct Pass {
    rows: Range<usize>,
    pub(super) scores: Vec<f64>,
    /// For each text and filter, the window of the largest value.
    windows: Vec<u32>,
    /// That value, after dropout.
    pooled: Vec<f32>,
    /// What dropout multiplied it with; empty without dropout.
    factors: Vec<f32>,
    /// The hidden units of each text.
    hidden: Vec<f32>,
}

/// The gradient of a few texts.
pub(super) struct Pulled {
    /// By the embedded texts, in their layout.
    embedded: Vec<f32>,
    /// By all parameters behind the embeddings.
    rest: Vec<f32>,
}

impl<'a> Net<'a> {
    pub(super) fn new(shape: &'a TextCnn, weights: &'a [f32]) -> Net<'a> {
        Net { shape, parts: shape.parts(), weights }
    }

    /// The first word of each text in the layout, and the number of places.
    fn layout(&self, words: &Sparse, rows: Range<usize>) -> (Vec<usize>, usize) {
        let (before, after) = ((self.shape.window - 1) / 2, self.shape.window / 2);
        let mut place = before;
        let mut starts = Vec::with_capacity(rows.len());
        for row in rows {
            starts.push(place);
            place += words.row(row).len() + after;
        }
        (starts, place.max(self.shape.window))
    }

    /// The texts as numbers.
    fn embed(&self, words: &Sparse, rows: Range<usize>) -> (Vec<usize>, Vec<f32>) {
        let size = self.shape.embedding;
        let (starts, places) = self.layout(words, rows.clone());
        let mut embedded = vec![0.0; places * size];
        for (&start, row) in starts.iter().zip(rows) {
            let places = embedded[start * size..].chunks_exact_mut(size);
            for (place, &code) in places.zip(words.row(row)) {
                place.copy_from_slice(&self.weights[code as usize * size..][..size]);
            }
        }
        (starts, embedded)
    }

    pub(super) fn forward(&self, words: &Sparse, rows: Range<usize>, draw: Option<u64>) -> Pass {
        let (shape, parts) = (self.shape, &self.parts);
        let (filters, units) = (shape.filters, shape.hidden);
        let (starts, embedded) = self.embed(words, rows.clone());
        let places = embedded.len() / shape.embedding + 1 - shape.window;
        let mut found = vec![0.0; places * filters];
        let texts = DenseMatrix::new(&embedded, places, shape.seen()).with_stride(shape.embedding);
        let weights = DenseMatrix::new(&self.weights[parts.filters.clone()], filters, shape.seen());
        multiply(texts, weights.transposed(), 0.0, &mut found);

        let biases = &self.weights[parts.filter_biases.clone()];
        let before = (shape.window - 1) / 2;
        let mut windows = vec![NOWHERE; rows.len() * filters];
        let mut pooled = vec![0.0; rows.len() * filters];
        for (text, row) in rows.clone().enumerate() {
            let pooled = &mut pooled[text * filters..][..filters];
            let windows = &mut windows[text * filters..][..filters];
            let first = starts[text] - before;
            for place in first..first + words.row(row).len() {
                let found = &found[place * filters..][..filters];
                for filter in 0..filters {
                    let value = found[filter] + biases[filter];
                    // A NaN is taken too, so that it can be seen.
                    if value > pooled[filter] || value.is_nan() {
                        pooled[filter] = value;
                        windows[filter] = place as u32;
                    }
                }
            }
        }
        let factors = self.factors(&rows, draw);
        pooled.iter_mut().zip(&factors).for_each(|(value, factor)| *value *= factor);

        let mut hidden = vec![0.0; rows.len() * units];
        let weights = DenseMatrix::new(&self.weights[parts.hidden.clone()], units, filters);
        multiply(DenseMatrix::new(&pooled, rows.len(), filters), weights.transposed(), 0.0, &mut hidden);
        let (biases, output) =
            (&self.weights[parts.hidden_biases.clone()], &self.weights[parts.output.clone()]);
        let bias = f64::from(self.weights[parts.bias]);
        let scores = hidden.chunks_exact_mut(units).map(|hidden| {
            let mut score = bias;
            for ((unit, bias), weight) in hidden.iter_mut().zip(biases).zip(output) {
                *unit += bias;
                *unit = if *unit < 0.0 { 0.0 } else { *unit };
                score += f64::from(*weight) * f64::from(*unit);
            }
            score
        });
        let scores = scores.collect();
        Pass { rows, scores, windows, pooled, factors, hidden }
    }

    /// What dropout multiplies each filter of each text with: 0, or as much as keeps the mean. Each text has
    /// its own random numbers, by the draw and its place in the batch.
    fn factors(&self, rows: &Range<usize>, draw: Option<u64>) -> Vec<f32> {
        let dropout = self.shape.dropout;
        let Some(draw) = draw.filter(|_| dropout > 0.0) else { return Vec::new() };
        let kept = (1.0 / (1.0 - dropout)) as f32;
        let mut factors = Vec::with_capacity(rows.len() * self.shape.filters);
        for row in rows.clone() {
            let mut random = ChaCha8Rng::seed_from_u64(draw);
            random.set_stream(row as u64);
            let factor = || if random.random::<f64>() < dropout { 0.0 } else { kept };
            factors.extend(std::iter::repeat_with(factor).take(self.shape.filters));
        }
        factors
    }

    pub(super) fn backward(&self, words: &Sparse, pass: &Pass, by_score: &[f64]) -> Pulled {
        let (shape, parts) = (self.shape, &self.parts);
        let (size, seen, filters, units) = (shape.embedding, shape.seen(), shape.filters, shape.hidden);
        let (_, embedded) = self.embed(words, pass.rows.clone());
        let mut pulled = vec![0.0; embedded.len()];
        let first = parts.embeddings.end;
        let mut rest = vec![0.0_f32; parts.bias + 1 - first];
        let from = |part: &Range<usize>, at: usize, length: usize| {
            let start = part.start - first + at * length;
            start..start + length
        };
        let output = &self.weights[parts.output.clone()];
        let mut by_pooled = vec![0.0; filters];
        for (text, &by_score) in by_score.iter().enumerate() {
            let by_score = by_score as f32;
            if by_score == 0.0 {
                continue;
            }
            let pooled = &pass.pooled[text * filters..][..filters];
            let hidden = &pass.hidden[text * units..][..units];
            rest[parts.bias - first] += by_score;
            by_pooled.fill(0.0);
            for (unit, (&value, weight)) in hidden.iter().zip(output).enumerate() {
                if value == 0.0 {
                    continue;
                }
                rest[parts.output.start - first + unit] += by_score * value;
                let by_unit = by_score * weight;
                rest[parts.hidden_biases.start - first + unit] += by_unit;
                add(&mut rest[from(&parts.hidden, unit, filters)], by_unit, pooled);
                let weights = &self.weights[parts.hidden.start + unit * filters..][..filters];
                add(&mut by_pooled, by_unit, weights);
            }
            for (filter, &by_pooled) in by_pooled.iter().enumerate() {
                let at = text * filters + filter;
                let by_filter = by_pooled * pass.factors.get(at).unwrap_or(&1.0);
                let window = pass.windows[at];
                if window == NOWHERE || by_filter == 0.0 {
                    continue;
                }
                let window = window as usize * size..window as usize * size + seen;
                rest[parts.filter_biases.start - first + filter] += by_filter;
                add(&mut rest[from(&parts.filters, filter, seen)], by_filter, &embedded[window.clone()]);
                let weights = &self.weights[parts.filters.start + filter * seen..][..seen];
                add(&mut pulled[window], by_filter, weights);
            }
        }
        Pulled { embedded: pulled, rest }
    }

    /// Adds the gradient of a few texts to that of all.
    pub(super) fn add(&self, words: &Sparse, pass: &Pass, pulled: &Pulled, gradient: &mut [f64]) {
        let size = self.shape.embedding;
        let (starts, _) = self.layout(words, pass.rows.clone());
        let (embeddings, rest) = gradient.split_at_mut(self.parts.embeddings.end);
        for (&start, row) in starts.iter().zip(pass.rows.clone()) {
            let places = pulled.embedded[start * size..].chunks_exact(size);
            for (place, &code) in places.zip(words.row(row)) {
                let embedding = &mut embeddings[code as usize * size..][..size];
                embedding.iter_mut().zip(place).for_each(|(sum, &more)| *sum += f64::from(more));
            }
        }
        rest.iter_mut().zip(&pulled.rest).for_each(|(sum, &more)| *sum += f64::from(more));
    }
}

fn add(sums: &mut [f32], factor: f32, values: &[f32]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += factor * value;
    }
}
