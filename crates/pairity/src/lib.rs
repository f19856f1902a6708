//! Pairwise fairness for ranking and regression.
//!
//! *When the better of two candidates comes from group A and the worse from group B, how often does
//! the model get it right, and is that equal for all groups?*
//!
//! # The problem
//!
//! Examples (x, y, g, q) have features, a label, a group (or a continuous attribute z) and a query. A scorer f gives
//! each a score. A **rate** is how often the first of two examples scores higher, over a **set of pairs** of one query:
//!
//! ```text
//! A[i > j] = P( f(x) > f(x') | y > y', g = i, g' = j )      the better is of group i, the worse of group j
//! P[i > j] = P( f(x) > f(x') | g = i, g' = j )              whatever the labels
//! A[z > z'] = P( f(x) > f(x') | y > y', z > z' )            the better has the higher attribute
//! P[z > z'] = P( f(x) > f(x') | z > z' )                    whatever the labels
//! ```
//!
//! A **criterion** is the largest difference among rates that should be equal, such as `cross_group`, the largest
//! `|A[i > j] − A[k > l]|` over i ≠ j, k ≠ l. A **goal** is written in rates and criteria, and training solves
//!
//! ```text
//! maximize   r₀( f )      subject to   rₖ( f ) ≤ εₖ  for every constraint k
//! ```
//!
//! over distributions of scorers. Rates are exact: all pairs are counted in O(n log n), and in O(n log² n) by labels
//! and a continuous attribute.
//!
//! # The rooms
//!
//! | room | what is in it |
//! |---|---|
//! | [`examples`] | [`Examples`]: labels, groups, queries and weights, checked and sorted by query once |
//! | [`rates`] | the names of rates, ties and averages |
//! | [`pairs`] | an index of the pairs, made once for given examples, an order, made once for given scores, and on these the counts, placements and slopes |
//! | [`metrics`] | rates with intervals, gaps, checks: [`Audit`] |
//! | [`goals`] | from a goal's text to a [`Problem`], which judges what is met |
//! | [`learners`] | from features to scores, and a step along a gradient by the scores: linear scorers, networks, texts, scores from outside; encoders |
//! | [`solvers`] | the game, mixtures and their linear programs, and the executor: time, progress, checkpoints |
//! | [`model`] | what training leaves behind, and all that scoring needs: [`Model`] |
//! | [`methods`] | constrained training and what it is compared with, one file each |
//! | [`run`] | requests go in, outcomes come out: the door for every front end |
//!
//! A room uses those above it. Most users need [`run`] alone:
//!
//! ```
//! use pairity::{AuditRequest, Columns, Examples, Groups, Settings, audit};
//!
//! let groups = Groups::from_names(&["a", "a", "b", "b"]);
//! let labels = [0.0, 1.0, 0.0, 1.0];
//! let examples =
//!     Examples::new(Columns { labels: Some(&labels), groups: Some(&groups), ..Columns::default() })?;
//! let checks = ["auc >= 0.5".to_owned()];
//! let scores = [0.1, 0.9, 0.2, 0.15];
//! let measure = Settings::default();
//! let (checks, left_out) = (&checks, &[]);
//! let request = AuditRequest { examples: &examples, scores: &scores, checks, left_out, measure, pictures: false, partial: false };
//! let outcome = audit(&request)?;
//! assert_eq!(outcome.audit.accuracy[0][1].value, Some(1.0)); // A[a > b]
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod examples;
pub mod goals;
pub mod learners;
pub mod methods;
pub mod metrics;
pub mod model;
mod names;
mod numbers;
pub mod pairs;
pub mod rates;
mod rooms;
pub mod run;
pub mod similar;
pub mod solvers;
mod threads;
mod wide;

pub use examples::{Column, Columns, Examples, Groups, Values};
pub use goals::{Criterion, Goal, Problem};
pub use metrics::{Audit, Metric, Settings};
pub use model::Model;
pub use rates::{Average, Rate, Ties};
pub use run::{
    AdjustRequest, AuditRequest, CompareRequest, FitRequest, FrontierRequest, Rows, ScoreRequest,
    TrainRequest, adjust, audit, compare, frontier, score, train,
};
pub use solvers::{ScorePlayer, Status, Watch};
