//! The shapes of scorers as plain data, so that a model can be saved, and how they use groups.

use serde::{Deserialize, Serialize};
use std::ops::Deref;

use super::text::{Ngrams, TextLayout};
use super::{Features, Linear, Mlp, Scorer, TextCnn, Trace};
use crate::examples::MAX_GROUPS;
use crate::names::names;
use crate::threads;

/// The most parameters of one scorer.
const MAX_PARAMETERS: usize = 100_000_000;

/// Why a shape of scorers is none, or does not fit some features.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ScorerError {
    /// A size of zero.
    #[error("the scorer's {what} is 0; at least 1 is needed: {advice}")]
    Zero {
        /// Which size.
        what: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// More groups than can be told apart.
    #[error("the scorer is to use {0} groups; 1 to {MAX_GROUPS} are allowed: join rare groups")]
    Groups(usize),
    /// Sizes whose product is out of all proportion.
    #[error("the scorer has more than {MAX_PARAMETERS} parameters: use fewer features or hidden units")]
    TooLarge,
    /// Weights that are to start at NaN or an infinity.
    #[error("linear weights are to start at {0}; give a finite number, such as 0 or 1")]
    Start(f64),
    /// Features of another width.
    #[error(
        "the scorer takes {expected} features a row, but these have {found}: \
         encode the table with the encoder that the scorer was trained with"
    )]
    Width {
        /// Features that the scorer takes.
        expected: usize,
        /// Features that there are.
        found: usize,
    },
    /// A share of units to leave out that is none.
    #[error("the dropout is {0}; a share from 0 to below 1 is needed, such as 0.3")]
    Dropout(f64),
    /// Weights of each group in a scorer that can't have them.
    #[error("a text network can't have weights for each group: use offsets, or a linear scorer")]
    GroupWeights,
    /// Words or sparse numbers for a scorer that can't read them.
    #[error(
        "the features have words or sparse numbers, which this scorer can't use: use a linear scorer or a text network"
    )]
    Sparse,
    /// No words for a scorer that reads nothing else.
    #[error(
        "a text network reads the words of one text column and nothing else, but there {}",
        if *.0 > 0 { "are other features: leave them out, or use a linear scorer" } else { "is no text" }
    )]
    NoText(usize),
    /// A group-aware scorer without groups.
    #[error("the scorer is group-aware, but the features come without groups: give the group of each row")]
    NoGroups,
}

/// How a scorer uses the protected attribute, given K groups.
///
/// Using it is a matter of policy, so that the default does not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "use", rename_all = "lowercase")]
pub enum GroupUse {
    /// Not at all.
    #[default]
    Blind,
    /// f(x, k) = f(x) + oₖ: one more parameter for each group, all starting at 0. A row without a group
    /// gets f(x).
    Offsets {
        /// K.
        groups: usize,
    },
    /// f(x, k) = fₖ(x): each group has a full set of parameters of its own, and rows without a group share
    /// one more, the last. All sets start alike.
    Weights {
        /// K.
        groups: usize,
    },
}

impl GroupUse {
    /// The number of groups that the scorer tells apart; none if it sees none.
    pub fn groups(self) -> Option<usize> {
        match self {
            GroupUse::Blind => None,
            GroupUse::Offsets { groups } | GroupUse::Weights { groups } => Some(groups),
        }
    }

    /// Number of parameters, if one set has `set` of them.
    pub(super) fn len(self, set: usize) -> usize {
        match self {
            GroupUse::Blind => set,
            GroupUse::Offsets { groups } => set.saturating_add(groups),
            GroupUse::Weights { groups } => set.saturating_mul(groups.saturating_add(1)),
        }
    }

    /// Parameters to start from, if one set starts from `set`.
    pub(super) fn start(self, mut set: Vec<f64>) -> Vec<f64> {
        if let GroupUse::Weights { groups } = self {
            return set.repeat(groups + 1);
        }
        set.resize(self.len(set.len()), 0.0);
        set
    }
}

macro_rules! architectures {
    ($($(#[$doc:meta])* $name:ident, $word:literal, $about:literal;)*) => {
        /// A shape of scorers.
        ///
        /// ```
        /// use pairity::learners::{Architecture, GroupUse, Mlp};
        ///
        /// let groups = GroupUse::Offsets { groups: 3 };
        /// let shape = Architecture::Mlp(Mlp { width: 41, hidden: vec![10], groups });
        /// assert_eq!(shape.len(), 41 * 10 + 10 + 10 + 1 + 3);
        /// assert_eq!(shape.start(7), shape.start(7));
        /// ```
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        pub enum Architecture {
            $($(#[$doc])* $name($name),)*
        }

        /// The kind of scorer.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum ScorerKind {
            $($(#[$doc])* $name,)*
        }

        names! { ScorerKind: $($word => $name, $about;)* }

        impl ScorerKind {
            /// How such scorers are trained if nothing else is said, and what they read.
            pub fn defaults(self) -> &'static LearnerDefaults {
                match self {
                    $(ScorerKind::$name => &$name::DEFAULTS,)*
                }
            }

            /// The shape for some features.
            pub(crate) fn build(self, spec: &LearnerSpec) -> Architecture {
                match self {
                    $(ScorerKind::$name => Architecture::$name($name::build(spec)),)*
                }
            }
        }

        impl Deref for Architecture {
            type Target = dyn Scorer;

            fn deref(&self) -> &(dyn Scorer + 'static) {
                match self {
                    $(Architecture::$name(scorer) => scorer,)*
                }
            }
        }
    };
}

architectures! {
    /// A weighted sum of the features.
    Linear, "linear", "A weighted sum of the features";
    /// A network with hidden layers.
    Mlp, "mlp", "A network with hidden layers";
    /// A convolutional network for texts.
    TextCnn, "text-cnn", "A convolutional network for a text";
}

/// How scorers of a kind are trained if nothing else is said, and what they read.
#[derive(Debug, Clone, PartialEq)]
pub struct LearnerDefaults {
    /// Scorers that are kept on the way.
    pub snapshots: usize,
    /// Queries or rows that a step looks at; all if none is given.
    pub batch: Option<usize>,
    /// Step sizes that are tried, if they are not the usual ones.
    pub step_sizes: Option<[f64; 3]>,
    /// Snapshots in a row that may be no better before a run ends; a run makes all its steps if none is given.
    pub patience: Option<usize>,
    /// What of a text is kept.
    pub text: TextLayout,
    /// Whether numbers may stay sparse.
    pub sparse: bool,
    /// Whether there has to be a text.
    pub needs_text: bool,
}

impl LearnerDefaults {
    /// Those of scorers of numbers, for which a text is the terms it has.
    pub(super) const NUMBERS: LearnerDefaults = LearnerDefaults {
        snapshots: 100,
        batch: None,
        step_sizes: None,
        patience: None,
        text: TextLayout::Terms(Ngrams::Both),
        sparse: false,
        needs_text: false,
    };
}

/// What a scorer is to be built for.
pub(crate) struct LearnerSpec<'a> {
    /// Features a row.
    pub width: usize,
    pub groups: GroupUse,
    /// Units of hidden layers.
    pub hidden: &'a [usize],
    /// Whether scores are compared with labels, which needs an intercept.
    pub regression: bool,
    /// Whether features are words.
    pub has_text: bool,
}

/// These ask whoever holds the features, where they are elsewhere.
impl Architecture {
    /// The score of every row, as [`Scorer::score`].
    pub fn score(&self, parameters: &[f64], features: &Features, scores: &mut [f64]) {
        match features.scores_elsewhere(self, &[parameters]) {
            Some(found) => found.iter().for_each(|found| scores.copy_from_slice(found)),
            None => (**self).score(parameters, features, scores),
        }
    }

    /// The scores of each of some scorers.
    pub(crate) fn scores(&self, all: &[&[f64]], features: &Features) -> Vec<Vec<f64>> {
        features.scores_elsewhere(self, all).unwrap_or_else(|| {
            threads::map(all, &|parameters: &&[f64]| {
                let mut scores = vec![0.0; features.rows()];
                (**self).score(parameters, features, &mut scores);
                scores
            })
        })
    }

    /// The scores as a step of training sees them, as [`Scorer::forward`]; without anything left out at random where
    /// features are elsewhere.
    pub fn forward(&self, parameters: &[f64], features: &Features, draw: u64, scores: &mut [f64]) -> Trace {
        if features.is_elsewhere() {
            self.score(parameters, features, scores);
            return Trace::default();
        }
        (**self).forward(parameters, features, draw, scores)
    }

    /// The scores with what spares a way back, as [`Scorer::trace`].
    pub(crate) fn trace(&self, parameters: &[f64], features: &Features, scores: &mut [f64]) -> Trace {
        if features.is_elsewhere() {
            self.score(parameters, features, scores);
            return Trace::default();
        }
        (**self).trace(parameters, features, scores)
    }

    /// The gradient by the parameters, as [`Scorer::pull_back`].
    pub fn pull_back(
        &self,
        parameters: &[f64],
        features: &Features,
        trace: &Trace,
        slopes: &[f64],
    ) -> Vec<f64> {
        let elsewhere = features.gradient_elsewhere(self, parameters, slopes);
        elsewhere.unwrap_or_else(|| (**self).pull_back(parameters, features, trace, slopes))
    }

    /// The same, as [`Scorer::put_back`].
    pub(crate) fn put_back(
        &self,
        parameters: &[f64],
        features: &Features,
        trace: &Trace,
        slopes: &[f64],
        gradient: &mut Vec<f64>,
    ) {
        match features.gradient_elsewhere(self, parameters, slopes) {
            Some(found) => *gradient = found,
            None => (**self).put_back(parameters, features, trace, slopes, gradient),
        }
    }

    /// Checks the shape itself.
    ///
    /// # Errors
    /// A size that is zero or far too large, a start that is not a number.
    pub fn check_shape(&self) -> Result<(), ScorerError> {
        if self.width() == 0 {
            return Err(ScorerError::Zero { what: "number of features", advice: "name a feature column" });
        }
        self.check_sizes()?;
        match self.groups().groups() {
            Some(found) if found == 0 || found > MAX_GROUPS => Err(ScorerError::Groups(found)),
            _ if self.len() > MAX_PARAMETERS => Err(ScorerError::TooLarge),
            _ => Ok(()),
        }
    }

    /// Checks that the shape is one, and that the features fit it.
    ///
    /// # Errors
    /// Those of [`check_shape`](Self::check_shape), features of another width, or no groups for a
    /// group-aware scorer.
    pub fn check(&self, features: &Features) -> Result<(), ScorerError> {
        self.check_shape()?;
        if features.width() != self.width() {
            return Err(ScorerError::Width { expected: self.width(), found: features.width() });
        }
        self.check_kinds(features)?;
        if self.groups() != GroupUse::Blind && features.codes().is_none() {
            return Err(ScorerError::NoGroups);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_without_a_size_or_of_any_size_is_refused() {
        let mlp =
            |width, hidden: &[usize], groups| Architecture::Mlp(Mlp { width, hidden: hidden.into(), groups });
        let blind = GroupUse::Blind;
        assert!(matches!(mlp(0, &[1], blind).check_shape(), Err(ScorerError::Zero { .. })));
        assert!(matches!(mlp(1, &[], blind).check_shape(), Err(ScorerError::Zero { .. })));
        assert!(matches!(mlp(1, &[2, 0], blind).check_shape(), Err(ScorerError::Zero { .. })));
        assert_eq!(mlp(usize::MAX, &[usize::MAX], blind).check_shape(), Err(ScorerError::TooLarge));
        let groups = GroupUse::Weights { groups: usize::MAX };
        assert_eq!(mlp(1, &[1], groups).check_shape(), Err(ScorerError::Groups(usize::MAX)));
        let groups = GroupUse::Offsets { groups: 0 };
        assert_eq!(mlp(1, &[1], groups).check_shape(), Err(ScorerError::Groups(0)));
        let linear = Linear { width: 1, intercept: true, start: f64::NAN, groups: blind };
        assert!(matches!(Architecture::Linear(linear).check_shape(), Err(ScorerError::Start(_))));
    }

    #[test]
    fn features_must_have_the_width_and_the_groups_that_the_scorer_takes() {
        let shape = |groups| Architecture::Linear(Linear { width: 2, intercept: true, start: 0.0, groups });
        let features = |width| Features::new(1, width, vec![0.0; width]).unwrap();
        let blind = shape(GroupUse::Blind);
        assert_eq!(blind.check(&features(2)), Ok(()));
        assert_eq!(blind.check(&features(3)), Err(ScorerError::Width { expected: 2, found: 3 }));
        let aware = shape(GroupUse::Offsets { groups: 2 });
        assert_eq!(aware.check(&features(2)), Err(ScorerError::NoGroups));
        assert_eq!(aware.check(&features(2).with_codes(vec![2]).unwrap()), Ok(()));
    }
}
