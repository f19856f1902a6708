//! Texts: from a cell to words, from words to codes of a vocabulary, and the network that reads them.
//!
//! A text becomes the codes of its words in a vocabulary that was learned from the training rows. A
//! [`Linear`](super::Linear) scorer sees which words are there; a [`TextCnn`] also sees their order.

mod cnn;
mod embeddings;
mod network;
mod words;

pub use cnn::TextCnn;
pub use embeddings::{EmbeddingError, Embeddings};
pub use words::{TextLayout, VOCABULARY, tokens};

pub(super) use network::Pass;
pub(super) use words::{codes, learn};
