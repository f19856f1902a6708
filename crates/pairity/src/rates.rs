//! The names of rates: each is "how often does the first example score higher" on one set of pairs.

/// Which examples may stand on one side of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// Examples of one group, by its index in the list of groups.
    Group(usize),
    /// Any example, those of no group included.
    Any,
}

/// A rate on a set of pairs (or, for [`Rate::Mse`], a mean over examples).
///
/// ```
/// use pairity::rates::{Rate, Side};
/// let auc = Rate::Accuracy { better: Side::Any, worse: Side::Any };
/// assert_eq!(auc, Rate::AUC);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rate {
    /// `A[better > worse]`: P( f(x) > f(x') given y > y', x in `better`, x' in `worse` ).
    Accuracy {
        /// Where the example with the higher label comes from.
        better: Side,
        /// Where the example with the lower label comes from.
        worse: Side,
    },
    /// `P[first > second]`: P( f(x) > f(x') given x in `first`, x' in `second` ), labels ignored.
    Parity {
        /// Index of the group of x.
        first: usize,
        /// Index of the group of x'.
        second: usize,
    },
    /// `A[z > z']`: the better example has the higher continuous attribute.
    Greater,
    /// `A[z < z']`: the better example has the lower continuous attribute.
    Less,
    /// Mean squared error of the scores against the labels.
    Mse,
}

impl Rate {
    /// Pairwise accuracy over all pairs of unequal labels.
    pub const AUC: Rate = Rate::Accuracy { better: Side::Any, worse: Side::Any };
}

/// What a pair of equal scores earns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ties {
    /// Half a win.
    #[default]
    Half,
    /// Nothing, as in the paper's formula.
    Strict,
}

impl Ties {
    pub(crate) fn credit(self) -> f64 {
        match self {
            Ties::Half => 0.5,
            Ties::Strict => 0.0,
        }
    }
}
