//! Ways to a fair scorer, each in a file of its own: constrained training and what it is compared with.
//!
//! [`fit`] runs any [`Method`] of [`ALL`]. All work in score space. Some act while a scorer is trained:
//! [`constrained`], [`robust`], [`debiased`] weighs examples, [`beutel`] adds a correlation to the loss. The
//! others start from the scores of an [`unconstrained`] scorer. They are tuned on scored examples and leave
//! an [`Adjustment`](crate::model::Adjustment) of scores by group behind ([`kallus_zhou`], [`group_offset`],
//! [`quantile_match`], [`x_order`]), which they can also make of given scores ([`adjust`]); or they turn
//! scores into stochastic rankings ([`singh_joachims`]).
//!
//! A new method is a file with an implementation of the trait, and its line in [`ALL`]: command line, help
//! texts, comparisons and Python know methods from there alone.

#[cfg(test)]
mod adjust_tests;
pub mod beutel;
mod blocks;
pub mod constrained;
pub mod debiased;
mod error;
mod fit;
#[cfg(test)]
mod fixtures;
pub mod group_offset;
pub mod kallus_zhou;
mod line_search;
mod method;
pub mod quantile_match;
pub mod robust;
pub mod singh_joachims;
mod tuning;
pub mod unconstrained;
pub mod x_order;
#[cfg(test)]
mod x_order_tests;

pub use error::MethodError;
pub use fit::{Fitted, Task, adjust, fit, fit_from};
pub use method::{Adjuster, Method, MethodEntry, MethodOptions, Stage};
pub use tuning::{Adjusted, Tuning};

use crate::model::exposure::Exposure;
use method::ranks_only;

/// Every method, in the order that lists show.
pub static ALL: &[&dyn Method] = &[
    &constrained::Constrained,
    &unconstrained::Unconstrained,
    &robust::Robust,
    &debiased::Debiased,
    &beutel::Beutel,
    &kallus_zhou::KallusZhou,
    &singh_joachims::SinghJoachims(Exposure::Impact),
    &singh_joachims::SinghJoachims(Exposure::Treatment),
    &group_offset::GroupOffsets,
    &quantile_match::QuantileMatch,
    &x_order::XOrder,
];

/// One method for each name, in that order; of several kinds, the first.
///
/// ```
/// use pairity::methods;
/// assert_eq!(methods::by_name().map(|method| method.name()).last(), Some("x-order"));
/// assert_eq!(methods::by_name().filter(|method| method.adjuster().is_some()).count(), 4);
/// ```
pub fn by_name() -> impl Iterator<Item = &'static dyn Method> {
    let first = |at: usize| ALL[..at].iter().all(|before| before.name() != ALL[at].name());
    (0..ALL.len()).filter(move |&at| first(at)).map(|at| ALL[at])
}

/// The method of a name, or of a full name; of several kinds, the first.
///
/// ```
/// use pairity::methods::named;
/// let full_name = |name| named(name).map(|method| method.full_name());
/// assert_eq!(full_name("beutel"), Some("beutel"));
/// assert_eq!(full_name("singh-joachims"), Some("singh-joachims (impact)"));
/// assert_eq!(full_name("singh-joachims (treatment)"), Some("singh-joachims (treatment)"));
/// assert_eq!(full_name("magic"), None);
/// ```
pub fn named(name: &str) -> Option<&'static dyn Method> {
    ALL.iter().copied().find(|method| method.name() == name || method.full_name() == name)
}
