//! Ways to a fair scorer, each told by its entry: constrained training and what it is compared with.
//!
//! [`fit`] runs any [`Method`] of [`ALL`]. All work in score space. Some act while a scorer is trained:
//! [`CONSTRAINED`], [`ROBUST`], [`debiased`] weighs examples, [`BEUTEL`] adds a correlation to the loss. The
//! others start from the scores of an [`UNCONSTRAINED`] scorer. They are tuned on scored examples and leave
//! an [`Adjustment`](crate::model::Adjustment) of scores by group behind ([`kallus_zhou`], [`group_offset`],
//! [`quantile_match`], [`x_order`], [`attribute_slope`], [`attribute_curve`], [`SCORE_MINUS_ATTRIBUTE_AWARE`]), which they can also make of given scores ([`adjust`]); or they turn
//! scores into stochastic rankings ([`SINGH_JOACHIMS_IMPACT`], [`SINGH_JOACHIMS_TREATMENT`]).
//!
//! A new method is a file with its [`Method`], and its line in [`ALL`]: command line, help texts, comparisons
//! and Python know methods from there alone.

#[cfg(test)]
mod adjust_tests;
pub mod attribute_curve;
pub mod attribute_slope;
mod blocks;
pub mod debiased;
mod entries;
mod fit;
#[cfg(test)]
mod fixtures;
pub mod group_offset;
pub mod kallus_zhou;
mod method;
pub mod quantile_match;
mod score_minus_attribute;
mod tuning;
pub mod x_order;
#[cfg(test)]
mod x_order_tests;

pub use attribute_curve::ATTRIBUTE_CURVE;
pub use attribute_slope::ATTRIBUTE_SLOPE;
pub use debiased::DEBIASED;
pub use entries::{
    BEUTEL, CONSTRAINED, ROBUST, SINGH_JOACHIMS_IMPACT, SINGH_JOACHIMS_TREATMENT, UNCONSTRAINED,
};
pub use fit::{Fitted, Task, adjust, fit};
pub(crate) use fit::{check, judge};
pub use group_offset::GROUP_OFFSET;
pub use kallus_zhou::KALLUS_ZHOU;
pub use method::{Adjuster, Method, MethodError, MethodOptions, Stage};
pub use quantile_match::QUANTILE_MATCH;
pub use score_minus_attribute::{SCORE_MINUS_ATTRIBUTE_AWARE, SCORE_MINUS_ATTRIBUTE_BLIND};
pub use tuning::{Adjusted, Tuning};
pub use x_order::X_ORDER;

/// Every method, in the order that lists show; the kinds of a method stand together.
pub static ALL: &[&Method] = &[
    &CONSTRAINED,
    &UNCONSTRAINED,
    &ROBUST,
    &DEBIASED,
    &BEUTEL,
    &KALLUS_ZHOU,
    &SINGH_JOACHIMS_IMPACT,
    &SINGH_JOACHIMS_TREATMENT,
    &GROUP_OFFSET,
    &QUANTILE_MATCH,
    &X_ORDER,
    &ATTRIBUTE_SLOPE,
    &ATTRIBUTE_CURVE,
    &SCORE_MINUS_ATTRIBUTE_BLIND,
    &SCORE_MINUS_ATTRIBUTE_AWARE,
];

/// One method for each name, in that order; of several kinds, the first.
///
/// ```
/// use pairity::methods;
/// assert_eq!(methods::by_name().map(|method| method.name).last(), Some("score-minus-attribute"));
/// assert_eq!(methods::by_name().filter(|method| method.adjuster.is_some()).count(), 6);
/// ```
pub fn by_name() -> impl Iterator<Item = &'static Method> {
    let kinds = ALL.chunk_by(|method, next| method.name == next.name);
    kinds.map(|kinds| kinds[0])
}

/// The method of a name, or of a full name; of several kinds, the first.
///
/// ```
/// use pairity::methods::named;
/// let full_name = |name| named(name).map(|method| method.full_name);
/// assert_eq!(full_name("beutel"), Some("beutel"));
/// assert_eq!(full_name("singh-joachims"), Some("singh-joachims (impact)"));
/// assert_eq!(full_name("singh-joachims (treatment)"), Some("singh-joachims (treatment)"));
/// assert_eq!(full_name("magic"), None);
/// ```
pub fn named(name: &str) -> Option<&'static Method> {
    ALL.iter().copied().find(|method| method.name == name || method.full_name == name)
}
