//! Scorers with their probabilities and what is done with their scores: the part of a model that is there
//! as soon as it is trained.

use super::exposure::{Exposure, Utilities, policy};
use super::{Adjustment, Component, ModelError};
use crate::examples::Examples;
use crate::learners::{Architecture, Features};
use crate::metrics::{Chance, Member};
use serde::{Deserialize, Serialize};

/// What is done with scores after scoring.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum After {
    /// Scores are mapped by group, or by a continuous attribute.
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

/// A distribution over scorers of one shape, and what is done with their scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StochasticScorer<'a> {
    /// The shape of the scorers.
    pub architecture: &'a Architecture,
    /// The scorers.
    pub components: &'a [Component],
    /// What is done with scores afterwards, if anything.
    pub after: Option<&'a After>,
}

/// The scores of one member of a model, with the chance that it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberScores {
    /// How likely it is drawn; where that differs from query to query, a factor of `by_row`.
    pub probability: f64,
    /// How likely it is drawn for each row's query, if that differs.
    pub by_row: Option<Vec<f64>>,
    /// By row.
    pub scores: Vec<f64>,
}

impl MemberScores {
    /// As the metrics take it.
    pub fn member(&self) -> Member<'_> {
        let chance = match &self.by_row {
            None => Chance::Same(self.probability),
            Some(by_row) => Chance::ByRow(by_row),
        };
        Member { chance, scores: &self.scores }
    }
}

impl<'a> StochasticScorer<'a> {
    /// Scorers whose scores stay as they are.
    pub fn new(architecture: &'a Architecture, components: &'a [Component]) -> StochasticScorer<'a> {
        StochasticScorer { architecture, components, after: None }
    }

    /// The scores that each member gives to examples, which may be a part of the rows that the features
    /// are of; 0 in rows that are not among them.
    ///
    /// # Errors
    /// Features or examples that don't fit.
    pub fn members(&self, examples: &Examples, features: &Features) -> Result<Vec<MemberScores>, ModelError> {
        if features.rows() != examples.rows() {
            return Err(ModelError::Rows { features: features.rows(), rows: examples.rows() });
        }
        self.architecture.check(features)?;
        let features = features.select(&examples.row);
        let mut in_order = vec![0.0; examples.len()];
        let mut members = Vec::new();
        for &Component { probability, ref parameters, .. } in self.components {
            self.architecture.score(parameters, &features, &mut in_order);
            let mut scores = examples.by_row(&in_order);
            match self.after {
                Some(After::Ranked(Ranked { exposure, utilities })) => {
                    let rankings = policy(examples, &scores, *exposure, *utilities)?;
                    members.extend(rankings.members.into_iter().map(|ranking| {
                        let by_row = ranking.probabilities.iter().map(|chance| chance * probability);
                        let by_row = Some(by_row.collect());
                        MemberScores { probability, by_row, scores: ranking.scores }
                    }));
                    continue;
                }
                Some(After::Adjusted(adjustment)) => {
                    let attribute = examples.is_continuous().then(|| examples.continuous_by_row());
                    let groups = examples.groups_by_row();
                    scores = adjustment.apply_by(&scores, Some(&groups), attribute.as_deref())?.scores;
                }
                None => {}
            }
            members.push(MemberScores { probability, by_row: None, scores });
        }
        Ok(members)
    }
}
