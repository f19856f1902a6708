//! The pair engine: exact sums over all pairs of examples, without ever listing them.
//!
//! A `PairIndex` holds what does not depend on scores, made once for given examples; a [`RateIndex`] adds what a
//! list of rates weighs in each pair. A `ScoreOrder` is made once for given scores. On these two stand
//!
//! - counts of cells (`Tally`), of which every rate is a sum: `groups`, `continuous`, `side`;
//! - the `placements` of each example, for intervals;
//! - values and slopes of a [`Surrogate`]: `slopes`.

mod attribute_blocks;
mod attribute_counts;
mod attribute_grid;
mod continuous;
mod correlation;
mod counted_placements;
mod flat;
mod groups;
mod index;
mod label_walk;
mod mass;
mod net;
#[cfg(test)]
mod net_tests;
#[cfg(test)]
pub(crate) mod oracle;
mod order;
mod placements;
mod rank_tree;
mod rate_index;
mod side;
mod slopes;
mod small_cells;
mod surrogate;
#[cfg(test)]
mod surrogate_tests;
mod tally;
#[cfg(test)]
mod tests;
mod two_labels;

pub use correlation::{Correlation, Membership};
pub(crate) use index::PairIndex;
pub(crate) use net::{NetLoss, NetShape};
pub(crate) use order::{DrawnOrder, ScoreOrder};
pub(crate) use placements::{PlacedRows, rows_and_stride, visit_placements};
pub use rate_index::RateIndex;
pub use slopes::SurrogateKind;
pub(crate) use surrogate::Wanted;
pub use surrogate::{Surrogate, SurrogateError, SurrogateValue, Weights};
pub(crate) use tally::{CellLayout, CellSum, Placement, RateSums, Tally, UnitSums};
