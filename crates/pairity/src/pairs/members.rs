//! A member of a mixture, as the counts need it.

use super::order::ScoreOrder;

/// The scores of one member in their order, and the chance that it is drawn.
pub(crate) struct DrawnOrder<'s> {
    pub order: ScoreOrder<'s>,
    /// By query; one where there are no queries.
    pub chances: &'s [f64],
}

impl DrawnOrder<'_> {
    /// The chance where all rows are one query.
    pub(super) fn chance(&self) -> f64 {
        self.chances.first().copied().unwrap_or(0.0)
    }
}
