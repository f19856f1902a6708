//! What is done with scores after scoring: an adjustment by group, or a stochastic ranking.

use super::draw::{member, uniform};
use super::exposure::{Exposure, Rankings, Utilities, policy};
use super::{Adjustment, ModelError};
use crate::examples::{Columns, Examples, Groups};
use serde::{Deserialize, Serialize};

/// What is done with scores after scoring.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum After {
    /// Each group's scores are mapped.
    Adjusted(Adjustment),
    /// The candidates of each query are ranked at random.
    Ranked(Ranked),
}

/// How candidates are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// What groups get for their utility.
    pub exposure: Exposure,
    /// How scores become utilities.
    pub utilities: Utilities,
}

impl Ranked {
    /// The stochastic rankings of all queries.
    pub(super) fn rankings(&self, examples: &Examples, scores: &[f64]) -> Result<Rankings, ModelError> {
        policy(examples, scores, self.exposure, self.utilities)
    }

    /// Minus the rank of each row in a ranking that its query's name and the seed draw.
    ///
    /// # Errors
    /// No groups or no queries; scores that are not finite.
    pub(super) fn draw(
        &self,
        scores: &[f64],
        groups: Option<&Groups>,
        queries: Option<(&[u32], &[String])>,
        seed: u64,
    ) -> Result<Vec<f64>, ModelError> {
        let (codes, names) = queries.unwrap_or_default();
        let groups = Some(groups.ok_or(ModelError::NoGroups)?);
        let columns = Columns { groups, queries: queries.map(|(codes, _)| codes), ..Columns::default() };
        let members = self.rankings(&Examples::new(columns)?, scores)?.members;
        let drawn = |row: usize| {
            let name = names.get(codes[row] as usize).map_or("", String::as_str);
            // Another draw than that of the scorer.
            let draw = uniform(!seed, name);
            members[member(members.iter().map(|m| m.probabilities[row]), draw)].scores[row]
        };
        Ok((0..scores.len()).map(drawn).collect())
    }
}
