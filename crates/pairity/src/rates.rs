//! The names of rates: each is "how often does the first example score higher" on one set of pairs.

use crate::names::names;
use serde::{Deserialize, Serialize};

/// Which examples may stand on one side of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
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
    /// `P[z > z']`: P( f(x) > f(x') given z > z' ), labels ignored.
    ParityGreater,
    /// `P[z < z']`: P( f(x) > f(x') given z < z' ), labels ignored.
    ParityLess,
    /// Mean squared error of the scores against the labels.
    Mse,
}

impl Rate {
    /// Pairwise accuracy over all pairs of unequal labels.
    pub const AUC: Rate = Rate::Accuracy { better: Side::Any, worse: Side::Any };

    /// `A[better > worse]` between two groups.
    pub const fn accuracy(better: usize, worse: usize) -> Rate {
        Rate::Accuracy { better: Side::Group(better), worse: Side::Group(worse) }
    }

    /// `A[group > *]`: the better example comes from the group.
    pub const fn row(group: usize) -> Rate {
        Rate::Accuracy { better: Side::Group(group), worse: Side::Any }
    }

    /// `A[* > group]`: the worse example comes from the group.
    pub const fn column(group: usize) -> Rate {
        Rate::Accuracy { better: Side::Any, worse: Side::Group(group) }
    }

    /// The groups that it compares.
    pub(crate) fn groups(&self) -> impl Iterator<Item = usize> + use<> {
        let sides = match *self {
            Rate::Accuracy { better, worse } => [better, worse],
            Rate::Parity { first, second } => [first, second].map(Side::Group),
            _ => [Side::Any; 2],
        };
        sides.into_iter().filter_map(|side| match side {
            Side::Group(group) => Some(group),
            Side::Any => None,
        })
    }

    /// The rate as a goal would write it.
    ///
    /// ```
    /// use pairity::rates::Rate;
    /// let groups = ["chain".to_string(), "non chain".to_string()];
    /// assert_eq!(Rate::row(0).name(&groups), "A[chain > *]");
    /// assert_eq!(Rate::accuracy(1, 0).name(&groups), "A[\"non chain\" > chain]");
    /// ```
    pub fn name(&self, groups: &[String]) -> String {
        self.written(groups, str::to_owned)
    }

    /// The rate in a sentence: names of groups that are very long are [cut](shortened).
    pub(crate) fn in_words(&self, groups: &[String]) -> String {
        self.written(groups, shortened)
    }

    fn written(&self, groups: &[String], cut: fn(&str) -> String) -> String {
        let group = |index: usize| {
            let name = cut(groups.get(index).map_or("?", String::as_str));
            let plain = |c: char| c.is_alphanumeric() || "_-.…".contains(c);
            if !name.is_empty() && name.chars().all(plain) { name } else { format!("{name:?}") }
        };
        let side = |side| match side {
            Side::Group(index) => group(index),
            Side::Any => "*".to_owned(),
        };
        match *self {
            Rate::AUC => "auc".to_owned(),
            Rate::Accuracy { better, worse } => format!("A[{} > {}]", side(better), side(worse)),
            Rate::Parity { first, second } => format!("P[{} > {}]", group(first), group(second)),
            Rate::Greater => "A[z > z']".to_owned(),
            Rate::Less => "A[z < z']".to_owned(),
            Rate::ParityGreater => "P[z > z']".to_owned(),
            Rate::ParityLess => "P[z < z']".to_owned(),
            Rate::Mse => "mse".to_owned(),
        }
    }
}

/// The most characters that sentences have of a name.
const LONGEST_NAME: usize = 60;

/// A name for a sentence: one of more than 60 characters loses its middle, since names often differ at either end.
pub(crate) fn shortened(name: &str) -> String {
    let Some((middle, _)) = name.char_indices().nth(LONGEST_NAME / 2) else { return name.to_owned() };
    let behind = name.char_indices().rev().nth(LONGEST_NAME / 2 - 1).map_or(0, |(at, _)| at);
    if behind <= middle { name.to_owned() } else { format!("{}…{}", &name[..middle], &name[behind..]) }
}

/// What a pair of equal scores earns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Ties {
    /// Half a win.
    #[default]
    Half,
    /// Nothing, as in the paper's formula.
    Strict,
}

names! { Ties:
    "half" => Half, "Half a win";
    "strict" => Strict, "Nothing";
}

impl Ties {
    pub(crate) fn credit(self) -> f64 {
        match self {
            Ties::Half => 0.5,
            Ties::Strict => 0.0,
        }
    }
}

/// How rates of queries become one rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Average {
    /// All pairs of all queries count alike.
    #[default]
    Pairs,
    /// All queries that have such pairs count alike.
    Queries,
}

names! { Average:
    "pairs" => Pairs, "All pairs count alike";
    "queries" => Queries, "All queries count alike";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_have_both_ends_of_a_long_name_and_all_of_a_short_one() {
        let long = format!("{}é{}", "a".repeat(500_000), "b".repeat(500_000));
        assert_eq!(shortened(&long), format!("{}…{}", "a".repeat(30), "b".repeat(30)));
        for name in ["", "é", &"é".repeat(60)] {
            assert_eq!(shortened(name), name);
        }
        assert_eq!(shortened(&"é".repeat(61)), format!("{0}…{0}", "é".repeat(30)));
        let rate = Rate::row(0);
        assert_eq!(rate.in_words(std::slice::from_ref(&long)), format!("A[{} > *]", shortened(&long)));
        assert_eq!(rate.name(std::slice::from_ref(&long)), format!("A[{long} > *]"));
    }
}
