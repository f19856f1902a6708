//! What a step of training keeps between its way forward and its way back.

use super::text::Pass;

/// What [`Scorer::forward`](super::Scorer::forward) leaves for
/// [`Scorer::pull_back`](super::Scorer::pull_back), so that nothing costly is done twice.
#[derive(Default)]
pub struct Trace {
    text: Option<(Vec<f32>, Vec<Pass>)>,
}

impl Trace {
    pub(super) fn of_text(weights: Vec<f32>, passes: Vec<Pass>) -> Trace {
        Trace { text: Some((weights, passes)) }
    }

    /// The weights of a text network in single precision, and its passes.
    pub(super) fn text(&self) -> Option<(&[f32], &[Pass])> {
        self.text.as_ref().map(|(weights, passes)| (&weights[..], &passes[..]))
    }
}
