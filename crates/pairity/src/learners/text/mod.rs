//! Texts: from a cell to words and n-grams of characters, and the network that reads words.
//!
//! A [`Linear`](super::Linear) scorer sees which [`Terms`] a text has, weighted by how much each tells. A [`TextCnn`] sees
//! words in their order, as codes in a vocabulary. Both are learned from the training rows.

mod cnn;
mod embeddings;
mod network;
mod product;
mod terms;
mod words;

pub use cnn::TextCnn;
pub use embeddings::{EmbeddingError, Embeddings};
pub use terms::{Ngrams, TermKind, Terms};
pub use words::{TextLayout, tokens};

pub(super) use network::Pass;
pub(super) use words::{codes, learn};
