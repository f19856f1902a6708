//! The goal language: what to maximize or minimize, and what must hold meanwhile.
//!
//! A goal is a short text. Its atoms are rates (`auc`, `mse`, `A[x > y]`, `P[x > y]`, `S[x]`,
//! `A[z > z']`, `A[z < z']`) and named criteria (`cross_group`, `marginal`, ...; see [`Criterion`]);
//! they are combined by `+`, `-`, products with numbers, `abs`, `min` and `max`, and a constraint adds
//! one `<=` or `>=`.
//!
//! ```
//! use pairity::goals::{Sense, Vocabulary, parse_constraint};
//! let words = Vocabulary { groups: vec!["female".into(), "male".into()], continuous: false };
//! let goal = parse_constraint("A[female > male] >= 0.8 * A[male > female]", &words)?;
//! assert_eq!(goal.sense, Sense::AtLeast);
//! assert_eq!(goal.expression.rates().len(), 2);
//!
//! let error = parse_constraint("A[femal > male] >= 0.8", &words).unwrap_err();
//! assert_eq!(error.message, "unknown group \"femal\"");
//! assert_eq!(&error.text[error.span], "femal");
//! # Ok::<(), pairity::goals::GoalError>(())
//! ```
//!
//! A name is a bare word of letters, digits, `_`, `-` and `.`, or anything in single or double quotes.
//! What is read here can be trained for: a constraint or objective that isn't convex is refused, and
//! the error points at the part to blame.

mod build;
mod criterion;
mod error;
mod expression;
mod goal;
mod lexer;
mod names;
mod parser;
mod problem;
#[cfg(test)]
mod properties;
mod tree;

pub(crate) use criterion::symmetric;
pub use criterion::{Criterion, language_help};
pub use error::GoalError;
pub use expression::{Expression, LinearForm};
pub use goal::{
    Constraint, Goal, Objective, Sense, parse_check, parse_constraint, parse_expression, parse_maximize,
    parse_minimize,
};
pub use names::Vocabulary;
pub use problem::{Assessment, Problem, ProblemError, ViolationKind};
pub(crate) use problem::{Bound, TOLERANCE};
