//! The shape of the convolutional network for texts, its parameters and how they start.

use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Embeddings;
use super::TextLayout;
use super::network::{Net, Pass};
use crate::learners::architecture::{LearnerDefaults, LearnerSpec};
use crate::learners::{Features, GroupUse, Scorer, ScorerError, Trace};

/// Embeddings start uniform in ± this.
const EMBEDDING_START: f64 = 0.05;

/// Texts that go through the network together, whatever the number of threads.
const TEXTS: usize = 8;

/// The network of Dixon et al. (2018) with one layer of convolution:
///
/// ```text
/// eᵢ = embedding of word i                              text of n words, zeros beyond its ends
/// pₖ = max(0, maxᵢ wₖ·(eᵢ₋₂, …, eᵢ₊₂) + bₖ)             for each filter k; 0 for an empty text
/// h  = max(0, U d(p) + u)                               d: dropout, in training only
/// f  = v·h + c
/// ```
///
/// Parameters in order: embeddings (word by word), filters (filter by filter, each the window's words from
/// left to right), their biases, U (unit by unit), u, v, c, then the offsets of groups.
///
/// Embeddings start uniform in ±0.05, the weights of each layer uniform in ±√(6 / (inputs + outputs))
/// (Glorot and Bengio 2010; the window counts for both sides of a convolution), biases at 0. All arithmetic is
/// in single precision.
///
/// ```
/// use pairity::learners::{Features, Scorer};
/// use pairity::learners::{Sparse, text::TextCnn};
///
/// let scorer = TextCnn { words: 3, embedding: 2, window: 3, filters: 4, hidden: 5, ..TextCnn::default() };
/// let features = Features::of_sparse(Sparse::of_ones(3, [&[0, 2, 1][..], &[]])?);
/// let mut scores = [0.0; 2];
/// scorer.score(&scorer.start(7), &features, &mut scores);
/// assert!(scores[0] != 0.0 && scores[1] == 0.0);
/// # Ok::<(), pairity::learners::FeaturesError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextCnn {
    /// Words of the vocabulary.
    pub words: usize,
    /// Numbers that stand for a word.
    pub embedding: usize,
    /// Words that a filter sees.
    pub window: usize,
    /// Number of filters.
    pub filters: usize,
    /// Units of the hidden layer.
    pub hidden: usize,
    /// Share of the pooled filters that a training step leaves out, from 0 to below 1.
    pub dropout: f64,
    /// How groups are used: not at all, or by offsets.
    pub groups: GroupUse,
}

impl Default for TextCnn {
    /// 10,000 words of 100 numbers, 128 filters of 5 words, 128 hidden units, dropout of 0.3.
    fn default() -> TextCnn {
        TextCnn {
            words: Self::DEFAULTS.text.vocabulary(),
            embedding: 100,
            window: 5,
            filters: 128,
            hidden: 128,
            dropout: 0.3,
            groups: GroupUse::Blind,
        }
    }
}

/// Where the parts of the network are among its parameters.
pub(super) struct CnnParameters {
    pub(super) embeddings: Range<usize>,
    pub(super) filters: Range<usize>,
    pub(super) filter_biases: Range<usize>,
    pub(super) hidden: Range<usize>,
    pub(super) hidden_biases: Range<usize>,
    pub(super) output: Range<usize>,
    /// The place of the output's bias, the last.
    pub(super) bias: usize,
}

impl TextCnn {
    /// Numbers that a filter sees at once.
    pub(super) fn seen(&self) -> usize {
        self.window.saturating_mul(self.embedding)
    }

    pub(super) fn parts(&self) -> CnnParameters {
        let mut end = 0_usize;
        let mut next = |size: usize| {
            let start = end;
            end = end.saturating_add(size);
            start..end
        };
        CnnParameters {
            embeddings: next(self.words.saturating_mul(self.embedding)),
            filters: next(self.filters.saturating_mul(self.seen())),
            filter_biases: next(self.filters),
            hidden: next(self.hidden.saturating_mul(self.filters)),
            hidden_biases: next(self.hidden),
            output: next(self.hidden),
            bias: next(1).start,
        }
    }

    /// Parameters to start from, with word vectors that were learned elsewhere in place of random ones.
    /// Vectors of another size than the scorer's embeddings are left out, as are those of words beyond
    /// its vocabulary.
    pub fn start_from(&self, embeddings: &Embeddings, seed: u64) -> Vec<f64> {
        let mut parameters = self.start(seed);
        let rows = parameters.chunks_exact_mut(self.embedding).take(self.words);
        if embeddings.size() == self.embedding {
            for (row, vector) in rows.zip(embeddings.vectors()) {
                for (x, &known) in row.iter_mut().zip(vector.iter().flatten()) {
                    *x = f64::from(known);
                }
            }
        }
        parameters
    }

    /// The weights in single precision, and what is kept of the pass of each part of the texts.
    fn passes<R: Send>(
        &self,
        parameters: &[f64],
        features: &Features,
        draw: Option<u64>,
        keep: fn(Pass) -> R,
    ) -> (Vec<f32>, Vec<R>) {
        let weights: Vec<f32> = parameters[..self.set_len()].iter().map(|&x| x as f32).collect();
        let Some(words) = features.words() else { return (weights, Vec::new()) };
        let net = Net::new(self, &weights);
        let starts: Vec<usize> = (0..words.rows()).step_by(TEXTS).collect();
        let part = |&start: &usize| net.forward(words, start..(start + TEXTS).min(words.rows()), draw);
        let kept = starts.par_iter().map(|start| keep(part(start))).collect();
        (weights, kept)
    }

    /// Few snapshots, as each has a million parameters; texts are read up to so many words.
    pub(in crate::learners) const DEFAULTS: LearnerDefaults = LearnerDefaults {
        snapshots: 20,
        batch: Some(100),
        step_sizes: Some([0.000_3, 0.001, 0.003]),
        patience: Some(4),
        text: TextLayout::Sequence { length: 250 },
        sparse: false,
        needs_text: true,
    };

    pub(in crate::learners) fn build(spec: &LearnerSpec) -> TextCnn {
        TextCnn { words: spec.width, groups: spec.groups, ..TextCnn::default() }
    }
}

impl Scorer for TextCnn {
    fn set_len(&self) -> usize {
        self.parts().bias.saturating_add(1)
    }

    fn output(&self) -> usize {
        self.parts().output.start
    }

    fn width(&self) -> usize {
        self.words
    }

    fn groups(&self) -> GroupUse {
        self.groups
    }

    fn check_sizes(&self) -> Result<(), ScorerError> {
        if [self.embedding, self.window, self.filters, self.hidden].contains(&0) {
            return Err(ScorerError::Zero {
                what: "size of embeddings, windows, filters or hidden units",
                advice: "give each of them a size",
            });
        }
        if !(0.0..1.0).contains(&self.dropout) {
            return Err(ScorerError::Dropout(self.dropout));
        }
        let weights = matches!(self.groups, GroupUse::Weights { .. });
        if weights { Err(ScorerError::GroupWeights) } else { Ok(()) }
    }

    fn check_kinds(&self, features: &Features) -> Result<(), ScorerError> {
        match features.words().is_none() || features.dense_width() > 0 {
            true => Err(ScorerError::NoText(features.dense_width())),
            false => Ok(()),
        }
    }

    fn start_set(&self, seed: u64) -> Vec<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut set = Vec::with_capacity(self.set_len());
        let glorot = |inputs: usize, outputs: usize| (6.0 / (inputs + outputs) as f64).sqrt();
        let parts = self.parts();
        for (part, limit) in [
            (parts.embeddings, EMBEDDING_START),
            (parts.filters, glorot(self.seen(), self.window * self.filters)),
            (parts.hidden, glorot(self.filters, self.hidden)),
            (parts.output, glorot(self.hidden, 1)),
        ] {
            // The biases before it.
            set.resize(part.start, 0.0);
            set.extend(part.map(|_| f64::from(((2.0 * random.random::<f64>() - 1.0) * limit) as f32)));
        }
        set.push(0.0);
        set
    }

    fn score(&self, parameters: &[f64], features: &Features, scores: &mut [f64]) {
        let (_, found) = self.passes(parameters, features, None, |pass| pass.scores);
        scores.chunks_mut(TEXTS).zip(&found).for_each(|(scores, found)| scores.copy_from_slice(found));
        features.add_offsets(&parameters[self.set_len()..], scores);
    }

    fn forward(&self, parameters: &[f64], features: &Features, draw: u64, scores: &mut [f64]) -> Trace {
        let (weights, passes) = self.passes(parameters, features, Some(draw), |pass| pass);
        scores.chunks_mut(TEXTS).zip(&passes).for_each(|(scores, pass)| scores.copy_from_slice(&pass.scores));
        features.add_offsets(&parameters[self.set_len()..], scores);
        Trace { text: Some((weights, passes)), ..Trace::default() }
    }

    fn pull_back(&self, parameters: &[f64], features: &Features, trace: &Trace, slopes: &[f64]) -> Vec<f64> {
        let mut gradient = vec![0.0; parameters.len()];
        let Some(words) = features.words() else { return gradient };
        let Some((weights, passes)) = &trace.text else {
            let text = Some(self.passes(parameters, features, None, |pass| pass));
            let trace = Trace { text, ..Trace::default() };
            return self.pull_back(parameters, features, &trace, slopes);
        };
        let net = Net::new(self, weights);
        let parts: Vec<(&Pass, &[f64])> = passes.iter().zip(slopes.chunks(TEXTS)).collect();
        let found: Vec<_> =
            parts.par_iter().map(|(pass, by_score)| net.backward(words, pass, by_score)).collect();
        // In order, whichever was ready first.
        for (pass, found) in passes.iter().zip(found) {
            net.add(words, pass, &found, &mut gradient);
        }
        features.add_to_offsets(slopes, &mut gradient[self.set_len()..]);
        gradient
    }

    fn round(&self, parameters: &mut [f64]) {
        let network = parameters.iter_mut().take(self.set_len());
        network.for_each(|x| *x = f64::from(*x as f32));
    }
}
