//! A penalty on the correlation between residuals and group membership (Beutel et al. 2019).
//!
//! The residual of a label-ordered pair, y > y' in the same query, is d = f(x) − f(x'). The penalty is
//!
//! ```text
//! | corr(d, g) | = | E[dg] − E[d] E[g] | / sqrt( Var[d] Var[g] )
//! ```
//!
//! where g = ±1 says which group the better example belongs to, by [`Membership`]; for a continuous
//! attribute it is the sign of z − z', over the pairs in which z and z' differ. More than two groups have
//! the sum over all pairs of groups. Means are pooled over all queries and weighted as the rates are.
//!
//! The residual is linear in the scores, so its moments need no list of pairs. With m the weight of a pair
//! in units of the sum of all, and over the partners p of an example k,
//!
//! ```text
//! E[d]  = Σ a_k s_k              a_k = Σ ±m,  + where k is better
//! E[dg] = Σ b_k s_k              b_k = Σ ±m g
//! E[d²] = Σ s_k (c_k s_k − h_k)  c_k = Σ m,   h_k = Σ m s_p
//! ```
//!
//! a, b and c are found once, and h by sums in label order at each evaluation: O(n), or O(n (K − 1)) for K
//! groups.

mod relation;
#[cfg(test)]
mod tests;

use super::SurrogateError;
use crate::examples::Examples;
use relation::{Relation, relations};

/// Which pairs the correlation is taken over; g always says which group the better example is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Membership {
    /// Pairs of two groups: g tells a better example of the one and a worse one of the other from the
    /// reverse, as in the formula of Beutel et al. On the simulated task of Narasimhan et al. this one
    /// comes near the numbers they report.
    #[default]
    Cross,
    /// All pairs of the two groups, those inside a group included. A continuous attribute has none of
    /// these, and is treated as by [`Membership::Cross`].
    Better,
}

/// The penalty, prepared for any number of evaluations.
#[derive(Debug, Clone)]
pub struct Correlation<'a> {
    examples: &'a Examples,
    relations: Vec<Relation>,
}

impl<'a> Correlation<'a> {
    /// Finds all that does not change with the scores.
    ///
    /// # Errors
    /// Examples without labels, without a protected attribute, or without pairs that differ in both.
    ///
    /// ```
    /// use pairity::examples::{Columns, Examples, Groups};
    /// use pairity::pairs::{Correlation, Membership};
    ///
    /// let groups = Groups::from_names(&["a", "b", "a", "b"]);
    /// let labels = [1.0, 1.0, 0.0, 0.0];
    /// let examples =
    ///     Examples::new(Columns { labels: Some(&labels), groups: Some(&groups), ..Columns::default() })?;
    /// let penalty = Correlation::new(&examples, Membership::Cross)?;
    /// // The better example of b is 2 above the worse one of a, that of a is 1 above: all of d is explained.
    /// let (value, gradient) = penalty.at_rows(&[1.0, 2.0, 0.0, 0.0])?;
    /// assert!((value - 1.0).abs() < 1e-12);
    /// assert!(gradient.iter().all(|slope| slope.abs() < 1e-12));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(examples: &'a Examples, membership: Membership) -> Result<Correlation<'a>, SurrogateError> {
        Ok(Correlation { examples, relations: relations(examples, membership)? })
    }

    /// The penalty and its gradient by the scores; both in the order of the rows. Rows that the examples
    /// leave out have gradient 0.
    ///
    /// # Errors
    /// Scores that are not finite, or not as many as rows.
    pub fn at_rows(&self, scores: &[f64]) -> Result<(f64, Vec<f64>), SurrogateError> {
        let scores = self.examples.arrange(scores)?;
        let mut in_order = vec![0.0; scores.len()];
        let value = self.value_and_gradient(&scores, &mut in_order);
        Ok((value, self.examples.by_row(&in_order)))
    }

    /// The same with scores and gradient in the order of the examples; the gradient is overwritten. Where
    /// a correlation is 0, or not defined because residuals do not vary, its gradient is 0.
    pub(crate) fn value_and_gradient(&self, scores: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        // A correlation does not change with the scale of all scores. A power of 2 rounds nothing.
        let largest = scores.iter().fold(0.0, |largest: f64, score| largest.max(score.abs()));
        if largest < f64::MIN_POSITIVE {
            return 0.0;
        }
        let scale = f64::from_bits(largest.to_bits() >> 52 << 52);
        let scaled: Vec<f64> = scores.iter().map(|score| score / scale).collect();
        let value = self.relations.iter().map(|relation| relation.add(&scaled, gradient)).sum();
        gradient.iter_mut().for_each(|slope| *slope /= scale);
        value
    }
}
