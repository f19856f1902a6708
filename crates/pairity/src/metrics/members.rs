//! The scores of a stochastic model: those of each of its scorers, with the chance that it is drawn.

use crate::examples::{Examples, ExamplesError};

/// How far chances may be from adding up to 1.
const TOLERANCE: f64 = 1e-6;

/// How likely one scorer of a stochastic model is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Chance<'a> {
    /// The same for every query.
    Same(f64),
    /// By row; all rows of a query have the same.
    ByRow(&'a [f64]),
}

/// One scorer of a stochastic model, by the scores it gives to the rows of a table. One scorer is drawn
/// for each query, and a rate of the model is the expected rate of that draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Member<'a> {
    /// How likely it is drawn.
    pub chance: Chance<'a>,
    /// Its scores, in the order of the rows.
    pub scores: &'a [f64],
}

impl<'a> Member<'a> {
    /// The one scorer of a deterministic model.
    pub fn only(scores: &'a [f64]) -> Member<'a> {
        Member { chance: Chance::Same(1.0), scores }
    }
}

/// A member's scores in the order of the examples, and its chance in each query.
pub(crate) struct Arranged {
    pub scores: Vec<f64>,
    pub chances: Vec<f64>,
}

/// Checks the members and puts them in the order of the examples.
pub(crate) fn arrange(examples: &Examples, members: &[Member]) -> Result<Vec<Arranged>, ExamplesError> {
    let queries = examples.queries();
    let mut sums = vec![0.0; queries];
    let mut arranged = Vec::with_capacity(members.len());
    for member in members {
        let chances = match member.chance {
            Chance::Same(chance) => vec![chance; queries],
            Chance::ByRow(chances) => {
                let in_order = examples.arrange(chances)?;
                (0..queries).map(|query| in_order[examples.query(query).start]).collect()
            }
        };
        sums.iter_mut().zip(&chances).for_each(|(sum, chance)| *sum += chance);
        if let Some(&chance) = chances.iter().find(|chance| !(0.0..=1.0).contains(*chance)) {
            return Err(ExamplesError::Chances { found: chance });
        }
        arranged.push(Arranged { scores: examples.arrange(member.scores)?, chances });
    }
    match sums.iter().find(|sum| (**sum - 1.0).abs() > TOLERANCE) {
        Some(&found) => Err(ExamplesError::Chances { found }),
        None => Ok(arranged),
    }
}
