//! The kind of scorer, and the shape that it has for given features.

use crate::learners::text::{TextCnn, TextLayout};
use crate::learners::{Architecture, GroupUse, Linear, Mlp};
use crate::names::names;

/// Words of a text that a text network reads: the first so many.
const TEXT_LENGTH: usize = 250;

/// The kind of scorer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScorerKind {
    /// A weighted sum of the features.
    #[default]
    Linear,
    /// A network with hidden layers.
    Mlp,
    /// A convolutional network for a text.
    TextCnn,
}

names! { ScorerKind:
    "linear" => Linear, "A weighted sum of the features";
    "mlp" => Mlp, "A network with hidden layers";
    "text-cnn" => TextCnn, "A convolutional network for a text";
}

/// How a scorer may use the protected attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupAware {
    /// Weights for each group.
    Weights,
    /// A constant for each group.
    Offsets,
}

names! { GroupAware:
    "weights" => Weights, "Weights for each group";
    "offsets" => Offsets, "A constant for each group";
}

impl GroupAware {
    pub(super) fn of(self, groups: usize) -> GroupUse {
        match self {
            GroupAware::Weights => GroupUse::Weights { groups },
            GroupAware::Offsets => GroupUse::Offsets { groups },
        }
    }
}

/// What the defaults of training are for a kind of scorer.
pub(super) struct Defaults {
    /// Scorers that are kept.
    pub snapshots: usize,
    /// Queries or rows that a step looks at.
    pub batch: Option<usize>,
    /// Step sizes that are tried, if they are not the usual ones.
    pub step_sizes: Option<[f64; 3]>,
}

impl ScorerKind {
    pub(super) fn defaults(self) -> Defaults {
        match self {
            ScorerKind::Linear | ScorerKind::Mlp => {
                Defaults { snapshots: 100, batch: None, step_sizes: None }
            }
            // Each snapshot has a million parameters.
            ScorerKind::TextCnn => {
                Defaults { snapshots: 20, batch: Some(100), step_sizes: Some([0.000_3, 0.001, 0.003]) }
            }
        }
    }

    /// What of a text is kept.
    pub(super) fn layout(self) -> TextLayout {
        match self {
            ScorerKind::TextCnn => TextLayout::Sequence { length: TEXT_LENGTH },
            ScorerKind::Linear | ScorerKind::Mlp => TextLayout::Bag,
        }
    }

    /// The shape for so many features. Regression needs an intercept. The weights of a linear scorer start at
    /// 1, unless they have to find a scale (regression) or are many (words): then at 0.
    pub(super) fn architecture(
        self,
        width: usize,
        groups: GroupUse,
        hidden: &[usize],
        regression: bool,
        has_text: bool,
    ) -> Architecture {
        match self {
            ScorerKind::Linear => {
                let start = if regression || has_text { 0.0 } else { 1.0 };
                Architecture::Linear(Linear { width, intercept: regression, start, groups })
            }
            ScorerKind::Mlp => Architecture::Mlp(Mlp { width, hidden: hidden.to_vec(), groups }),
            ScorerKind::TextCnn => {
                Architecture::TextCnn(TextCnn { words: width, groups, ..TextCnn::default() })
            }
        }
    }
}
