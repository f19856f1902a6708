//! What is done with scores after scoring: an adjustment by group, or a stochastic ranking.

use super::singh_joachims::{Exposure, Utilities, policy};
use super::{Adjustment, MethodError};
use crate::examples::{Columns, Examples, Groups};
use crate::metrics::{Chance, Member};
use crate::scorers::{member, uniform};
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

/// The scores of one member of a model, with the chance that it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// How likely it is drawn, in all queries.
    pub probability: f64,
    /// A factor of that for each row, which is the same in all rows of a query.
    pub by_row: Option<Vec<f64>>,
    /// By row.
    pub scores: Vec<f64>,
}

impl Scored {
    /// As the metrics take it; `chances` keeps the product of both chances.
    pub fn member<'a>(&'a self, chances: &'a mut Vec<f64>) -> Member<'a> {
        match &self.by_row {
            None => Member { chance: Chance::Same(self.probability), scores: &self.scores },
            Some(by_row) => {
                chances.extend(by_row.iter().map(|chance| chance * self.probability));
                Member { chance: Chance::ByRow(chances), scores: &self.scores }
            }
        }
    }
}

impl After {
    /// What becomes of the scores of some examples, by row.
    pub(crate) fn members(&self, examples: &Examples, scores: &[f64]) -> Result<Vec<Scored>, MethodError> {
        match self {
            After::Adjusted(adjustment) => {
                let groups = groups(examples);
                let scores = adjustment.apply(scores, Some(&groups))?.scores;
                Ok(vec![Scored { probability: 1.0, by_row: None, scores }])
            }
            After::Ranked(ranked) => {
                let rankings = policy(examples, scores, ranked.exposure, ranked.utilities)?;
                let scored = rankings.members.into_iter().map(|member| Scored {
                    probability: 1.0,
                    by_row: Some(member.probabilities),
                    scores: member.scores,
                });
                Ok(scored.collect())
            }
        }
    }

    /// What becomes of the scores of a table's rows. Where candidates are ranked, the new score is minus
    /// the rank in a ranking that the query's name and the seed draw. The second number is that of rows of
    /// groups that are not known.
    ///
    /// # Errors
    /// No groups, or for rankings no queries; scores that are not finite.
    pub fn apply(
        &self,
        scores: &[f64],
        groups: &Groups,
        queries: Option<(&[u32], &[String])>,
        seed: u64,
    ) -> Result<(Vec<f64>, usize), MethodError> {
        match self {
            After::Adjusted(adjustment) => {
                let applied = adjustment.apply(scores, Some(groups))?;
                Ok((applied.scores, applied.unknown))
            }
            After::Ranked(_) => {
                let (codes, names) = queries.unwrap_or_default();
                let columns = Columns {
                    groups: Some(groups),
                    queries: queries.map(|(codes, _)| codes),
                    ..Columns::default()
                };
                let members = self.members(&Examples::new(columns)?, scores)?;
                let chance = |m: &Scored, row: usize| m.by_row.as_ref().map_or(1.0, |chances| chances[row]);
                let drawn = |row: usize| {
                    let name = names.get(codes[row] as usize).map_or("", String::as_str);
                    // Another draw than that of the scorer.
                    let draw = uniform(!seed, name);
                    members[member(members.iter().map(|m| chance(m, row)), draw)].scores[row]
                };
                Ok(((0..scores.len()).map(drawn).collect(), 0))
            }
        }
    }
}

/// The groups of all rows; rows that the examples leave out have none.
fn groups(examples: &Examples) -> Groups {
    let codes = examples.codes_by_row().into_iter().map(u32::from).collect();
    Groups::in_order(examples.groups().to_vec(), codes)
}
