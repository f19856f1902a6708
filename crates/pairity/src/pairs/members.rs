//! A member of a mixture, as the counts need it.

/// The scores of one member in the order of the examples, and the chance that it is drawn.
pub(crate) struct Arranged {
    pub scores: Vec<f64>,
    /// By query; one where there are no queries.
    pub chances: Vec<f64>,
}

impl Arranged {
    /// The one scorer of a deterministic model, without queries.
    #[cfg(test)]
    pub(crate) fn only(scores: Vec<f64>) -> Arranged {
        Arranged { scores, chances: vec![1.0] }
    }

    /// The chance where all rows are one query.
    pub(crate) fn chance(&self) -> f64 {
        self.chances.first().copied().unwrap_or(0.0)
    }
}
