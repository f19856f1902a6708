//! Methods that constrained training is compared with, each in a file of its own.
//!
//! [`fit`] runs any [`Method`]. All work in score space. Two act while a scorer is trained: [`debiased`]
//! weighs examples, and the method of Beutel et al. adds a [`Correlation`](crate::pairs::Correlation)
//! to the loss. The others are tuned on scored examples and leave an [`Adjustment`] of
//! scores by group behind: [`kallus_zhou`], [`group_offset`], [`quantile_match`], [`x_order`]; or they turn
//! scores into stochastic rankings: [`singh_joachims`].

#[cfg(test)]
mod adjust_tests;
mod adjustment;
mod after;
mod blocks;
mod curve;
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
pub mod singh_joachims;
mod tuning;
pub mod x_order;
#[cfg(test)]
mod x_order_tests;

pub use adjustment::{Adjustment, Applied, GroupCurve, GroupLogistic, GroupOffset};
pub use after::{After, Ranked, Scored};
pub use curve::Curve;
pub use error::MethodError;
pub use fit::{Fitted, Task, fit, fit_after, fit_from};
pub use method::Method;
pub use tuning::{Adjusted, Tuning};
