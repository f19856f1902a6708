//! Whether a scorer may use the protected attribute, and how.

use crate::learners::GroupUse;
use crate::names::names;

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
